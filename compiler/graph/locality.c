/* locality: reuse distances of the rows that kernels gather.
 *
 * A row lies in a cache if fewer other rows than the cache holds were gathered since it was last (Mattson et al.,
 * "Evaluation techniques for storage hierarchies", 1970). Their number is not counted, which takes n log n: the gap, the number
 * of gathers between, is, and a gap of g is taken to pass as many rows as g gathers in a row do on average over the whole
 * trace, its footprint (Xiang et al., "HOTL: a higher order theory of locality", 2013). The trace is gone round, as epochs do, so a
 * row is missing in a window of g gathers at as many places as its gaps exceed g:
 *
 *     footprint(g) = rows - (sum over all gaps > g of (gap - g)) / gathers
 *
 * Gaps are counted by size, in quarters of powers of two.
 *
 * In a cache that others use, too, a row does not stay for ever, however few rows are gathered: so the gap that passes so many is told as well.
 * Gathers from anywhere in a table of r rows pass f of them in -r ln(1 - f / r).
 */
#include "locality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUARTERS = 4, CLASSES = QUARTERS * 64 };

typedef struct Gaps {
  int64_t rows, gathers;
  double count[CLASSES], sum[CLASSES];
  double unseen[CLASSES]; /* of those gaps, in a part of a graph, the ones that lead beyond it: how long they are is not known */
} Gaps;

/* Of gaps in ]2^e (4 + q) / 4, 2^e (5 + q) / 4]. */
static int class_of(int64_t gap) {
  if (gap <= 1) return 0;
  int e = 63 - __builtin_clzll((unsigned long long)gap - 1); /* log2, rounded down */
  int64_t above = gap - ((int64_t)1 << e); /* 1 .. 2^e */
  return 1 + QUARTERS * e + (int)((QUARTERS * above - 1) >> e);
}

static double class_end(int c) {
  return c == 0 ? 1 : ldexp(QUARTERS + 1 + (c - 1) % QUARTERS, (c - 1) / QUARTERS - 2);
}

static void count_gap(Gaps *gaps, int64_t gap) {
  int c = class_of(gap);
  gaps->count[c]++;
  gaps->sum[c] += (double)gap;
}

/* first, last: room for `nodes` numbers each. */
static void count_gaps(int64_t nodes, int64_t gathers, const int32_t *trace, bool is_part, int64_t *first, int64_t *last, Gaps *gaps) {
  *gaps = (Gaps){.gathers = gathers};
  for (int64_t i = 0; i < nodes; i++) last[i] = -1;
  for (int64_t t = 0; t < gathers; t++) {
    int32_t row = trace[t];
    if (last[row] >= 0) count_gap(gaps, t - last[row]);
    else first[row] = t, gaps->rows++;
    last[row] = t;
  }
  for (int64_t i = 0; i < nodes; i++) {
    if (last[i] < 0) continue;
    const int64_t gap = gathers - last[i] + first[i];
    count_gap(gaps, gap);
    gaps->unseen[class_of(gap)] += is_part;
  }
}

/* Between the ends of two classes footprint and share are taken to grow together, and from what was seen on to all rows. */
static Locality locality_of_gaps(const Gaps *gaps, int64_t nodes) {
  Locality result = {.is_known = true};
  double footprint[CLASSES], share[CLASSES], count = 0, sum = 0, unseen = 0, all = (double)gaps->gathers;
  for (int c = 0; c < CLASSES; c++) unseen += gaps->unseen[c];
  for (int c = CLASSES - 1; c >= 0; c--) { /* count and sum: of the gaps in classes behind c */
    footprint[c] = fmax(0, (double)gaps->rows - (sum - count * class_end(c)) / all);
    share[c] = 1 - (count + unseen) / all;
    count += gaps->count[c], sum += gaps->sum[c], unseen -= gaps->unseen[c];
  }
  for (int k = 0; k < LOCALITY_STEPS; k++) {
    double rows = (double)nodes * exp2(-k / 2.0);
    int c = 0;
    while (c < CLASSES && footprint[c] < rows) c++;
    double from = c > 0 ? footprint[c - 1] : 0, below = c > 0 ? share[c - 1] : 0, to = c < CLASSES ? footprint[c] : (double)nodes, then = c < CLASSES ? share[c] : 1;
    const double part = fmin(1, (rows - from) / fmax(to - from, 1e-9));
    result.within[k] = below + (then - below) * part;
    const double before = c > 0 ? class_end(c - 1) : 0, gap = c < CLASSES ? before + (class_end(c) - before) * part : all;
    const double anywhere = -(double)gaps->rows * log1p(-fmin(rows / (double)gaps->rows, 0.999));
    result.waited[k] = fmax(0, fmin(gap, all) - anywhere);
  }
  return result;
}

/* The destinations of each node's out-edges, ascending: [edges], or NULL. */
static int32_t *out_destinations(int64_t nodes, const int64_t *in_ptr, const int32_t *in_source, int64_t *room) {
  int32_t *result = malloc((size_t)in_ptr[nodes] * sizeof *result);
  if (!result) return NULL;
  memset(room, 0, (size_t)nodes * sizeof *room);
  for (int64_t e = 0; e < in_ptr[nodes]; e++) room[in_source[e]]++;
  int64_t begin = 0;
  for (int64_t i = 0; i < nodes; i++) {
    int64_t degree = room[i];
    room[i] = begin;
    begin += degree;
  }
  for (int64_t i = 0; i < nodes; i++)
    for (int64_t e = in_ptr[i]; e < in_ptr[i + 1]; e++) result[room[in_source[e]]++] = (int32_t)i;
  return result;
}

void locality_of_edges(int64_t nodes, const int64_t *in_ptr, const int32_t *in_source, bool is_symmetric, Locality locality[2]) {
  locality[END_SRC] = locality[END_DST] = (Locality){0};
  int64_t edges = nodes > 0 ? in_ptr[nodes] : 0;
  int64_t *times = edges > 0 ? malloc(2 * (size_t)nodes * sizeof *times) : NULL;
  if (!times) return;
  Gaps gaps;
  count_gaps(nodes, edges, in_source, false, times, times + nodes, &gaps);
  locality[END_SRC] = locality[END_DST] = locality_of_gaps(&gaps, nodes);
  int32_t *destinations = is_symmetric ? NULL : out_destinations(nodes, in_ptr, in_source, times);
  if (destinations) {
    count_gaps(nodes, edges, destinations, false, times, times + nodes, &gaps);
    locality[END_SRC] = locality_of_gaps(&gaps, nodes);
  }
  free(destinations);
  free(times);
}

Locality locality_of_sample(int64_t nodes, int64_t gathers, const int32_t *trace) {
  int64_t *times = gathers > 0 ? malloc(2 * (size_t)nodes * sizeof *times) : NULL;
  if (!times) return (Locality){0};
  Gaps gaps;
  count_gaps(nodes, gathers, trace, true, times, times + nodes, &gaps);
  free(times);
  return locality_of_gaps(&gaps, nodes);
}
