#include "certificate.h"

#include "simplex.h"
#include "wide.h"

#include <stdlib.h>
#include <string.h>

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

/* The rows of the bound; also the order of the weights. */
enum { ROW_A1, ROW_A2, ROW_B1, ROW_B2, ROW_B3, ROW_CW, ROW_CR, ROW_LAM, ROW_MU, ROW_COUNT };
typedef enum Choice { CHOICE_KEEP, CHOICE_HOST, CHOICE_SSD, CHOICE_RERUN, CHOICE_CLEAN, CHOICE_COUNT } Choice;
enum { MAX_CUTS = SIMPLEX_MAX_ROWS - 6 };

#define UNIT ((Wide)1 << 40)

typedef struct BoundItem {
  int piece, gap_v;
  int64_t bytes, out_ns, in_ns, write_ns, read_ns, rerun_ns, rel_ns, tail_ns;
  unsigned choices; /* bit mask of CHOICE_* */
  bool is_clean_ssd;
} BoundItem;

typedef struct Split {
  const Problem *problem;
  int step;
  int64_t head_ns, rest_compute_ns, rest_ns, duration_ns, both_ns; /* P, Qc, Qs, dur, t0 */
  int64_t base_bytes;
  int64_t rho_ns, theta_ns;
  BoundItem *items;
  int count;
} Split;

static unsigned choices_of(const Problem *p, const ProblemPiece *piece, int u) {
  bool has_host = problem_reaches_host(p), has_ssd = problem_reaches_ssd(p);
  unsigned choices = 1u << CHOICE_KEEP;
  if (problem_is_home_away(piece)) {
    if (piece->first_write < 0 || piece->first_write > u) choices |= 1u << CHOICE_CLEAN;
    return choices;
  }
  bool is_settled = piece->last_write <= u;
  if (is_settled && (piece->fates & FATE_BIT(FATE_HOST)) && has_host && piece->bytes <= p->host_bytes)
    choices |= 1u << CHOICE_HOST;
  if (is_settled && (piece->fates & FATE_BIT(FATE_SSD)) && has_ssd && piece->bytes <= p->ssd_bytes &&
      piece->bytes <= p->ring_bytes)
    choices |= 1u << CHOICE_SSD;
  if ((piece->fates & FATE_BIT(FATE_RECOMPUTE)) && p->steps[piece->creator].can_rerun) choices |= 1u << CHOICE_RERUN;
  return choices;
}

/* Accesses around a step, with the holds of steps that communicate under every choice of variants. */
static void make_split(const Problem *p, const Geometry *g, Arena *arena, int s, Split *split) {
  int pieces = p->piece_count, n = p->step_count;
  int *before = NEW(pieces, int), *after = NEW(pieces, int), *sharers = NEW(n, int);
  bool *is_pinned = NEW(pieces, bool), *is_under = NEW(pieces, bool);
  for (int x = 0; x < pieces; x++) before[x] = after[x] = -1;
  *split = (Split){.problem = p, .step = s, .head_ns = g->end_ns[s], .rest_ns = g->tail_ns[s + 1],
                   .duration_ns = g->min_ns[s]};
  for (int t = 0; t < n; t++) {
    int end = g->is_always_comm[t] ? g->join[t] : t;
    if (t > s) split->rest_compute_ns += g->min_ns[t];
    if (t <= s && end >= s) split->base_bytes += g->min_work[t];
    for (int i = 0; i < p->steps[t].use_count; i++) {
      int x = p->uses[p->steps[t].first_use + i].piece;
      if (t <= s && end >= s) is_pinned[x] = true;
      if (t == s && p->uses[p->steps[t].first_use + i].under >= 0) is_under[p->uses[p->steps[t].first_use + i].under] = true;
      if (t < s && end < s && before[x] < end) before[x] = end;
      if (t < s && end >= s && before[x] < t) before[x] = t;
      if (t > s && after[x] < 0) after[x] = t;
    }
  }
  split->items = NEW(pieces, BoundItem);
  int64_t rel_min = INT64_MAX, tail_min = INT64_MAX;
  for (int x = 0; x < pieces; x++) {
    const ProblemPiece *piece = &p->pieces[x];
    if (piece->home == TIER_DEVICE || is_pinned[x]) {
      if (!is_under[x]) split->base_bytes += piece->bytes;
      continue;
    }
    if (before[x] < 0 || after[x] < 0) continue;
    BoundItem item = {.piece = x, .gap_v = after[x], .bytes = piece->bytes, .out_ns = piece->d2h_ns,
                      .in_ns = piece->h2d_ns, .write_ns = piece->ssdw_ns, .read_ns = piece->ssdr_ns};
    item.choices = choices_of(p, piece, before[x]);
    if (item.choices == 1u << CHOICE_KEEP) {
      split->base_bytes += piece->bytes;
      continue;
    }
    item.is_clean_ssd = piece->home == TIER_SSD;
    item.tail_ns = g->tail_ns[after[x]];
    if (piece->home == TIER_NONE) {
      int w = piece->last_write;
      item.rel_ns = g->join[w] >= 0 ? g->start_ns[w] + g->min_comm_ns[w] : g->end_ns[w];
      item.rerun_ns = g->min_ns[piece->creator];
      if (item.choices & 1u << CHOICE_RERUN) sharers[piece->creator]++;
    }
    if (item.rel_ns < rel_min) rel_min = item.rel_ns;
    if (item.tail_ns < tail_min) tail_min = item.tail_ns;
    split->items[split->count++] = item;
  }
  for (int i = 0; i < split->count; i++) {
    BoundItem *item = &split->items[i];
    if (item->choices & 1u << CHOICE_RERUN) item->rerun_ns /= sharers[p->pieces[item->piece].creator];
  }
  split->both_ns = split->count ? rel_min + tail_min : 0;
}

/* The parts of the rows a choice pays for, for one item. */
static void row_parts(const Split *split, const BoundItem *item, Choice choice, int64_t *parts) {
  memset(parts, 0, ROW_COUNT * sizeof *parts);
  int64_t out = item->rel_ns >= split->rho_ns ? item->out_ns : 0, in = item->tail_ns >= split->theta_ns ? item->in_ns : 0;
  switch (choice) {
    case CHOICE_KEEP: parts[ROW_LAM] = item->bytes; break;
    case CHOICE_HOST: parts[ROW_A2] = out; parts[ROW_B3] = in; parts[ROW_MU] = item->bytes; break;
    case CHOICE_SSD:
      parts[ROW_A2] = out;
      parts[ROW_B3] = in;
      parts[ROW_CW] = item->write_ns;
      parts[ROW_CR] = item->read_ns;
      break;
    case CHOICE_RERUN: parts[ROW_B1] = item->rerun_ns; break;
    case CHOICE_CLEAN:
      parts[ROW_B3] = in;
      parts[ROW_CR] = item->is_clean_ssd ? item->read_ns : 0;
      break;
    case CHOICE_COUNT: break;
  }
}

static void constant_parts(const Split *split, double *row) {
  row[ROW_A1] = (double)split->head_ns;
  row[ROW_A2] = (double)split->rho_ns + (double)split->duration_ns;
  row[ROW_B1] = (double)split->rest_compute_ns;
  row[ROW_B2] = (double)split->rest_ns;
  row[ROW_B3] = (double)split->theta_ns;
  row[ROW_CW] = row[ROW_CR] = (double)split->both_ns;
  row[ROW_LAM] = -(double)(split->problem->device_bytes - split->base_bytes);
  row[ROW_MU] = -(double)split->problem->host_bytes;
}

static int best_choice(const Split *split, const BoundItem *item, const double *weights) {
  int best = CHOICE_KEEP;
  double least = 0;
  for (int choice = 0; choice < CHOICE_COUNT; choice++) {
    if (!(item->choices & 1u << choice)) continue;
    int64_t parts[ROW_COUNT];
    row_parts(split, item, choice, parts);
    double cost = 0;
    for (int r = 0; r < ROW_COUNT; r++) cost += weights[r] * (double)parts[r];
    if (choice == CHOICE_KEEP || cost < least) {
      least = cost;
      best = choice;
    }
  }
  return best;
}

/* The bound at these weights, and the row it is linear in around them. */
static double value_at(const Split *split, const double *weights, double *row) {
  constant_parts(split, row);
  for (int i = 0; i < split->count; i++) {
    int64_t parts[ROW_COUNT];
    row_parts(split, &split->items[i], best_choice(split, &split->items[i], weights), parts);
    for (int r = 0; r < ROW_COUNT; r++) row[r] += (double)parts[r];
  }
  double value = 0;
  for (int r = 0; r < ROW_COUNT; r++) value += weights[r] * row[r];
  return value;
}

/* Kelley's cutting planes: the bound is concave in the weights. */
static double maximise(const Split *split, int rounds, double *best_weights) {
  static const double starts[][ROW_COUNT] = {{1, 0, 0, 1}, {0, 1, 0, 0, 1}, {0.5, 0.5, 0.4, 0.2, 0.4}};
  const Problem *p = split->problem;
  double scale[ROW_COUNT], time = (double)(split->head_ns + split->rest_ns) + 1;
  for (int r = 0; r < ROW_COUNT; r++) scale[r] = 1;
  scale[ROW_LAM] = time / ((double)p->device_bytes + 1);
  scale[ROW_MU] = time / ((double)p->host_bytes + 1);
  double cuts[SIMPLEX_MAX_ROWS][SIMPLEX_MAX_COLUMNS], bounds[SIMPLEX_MAX_ROWS], solution[SIMPLEX_MAX_COLUMNS];
  double objective[SIMPLEX_MAX_COLUMNS] = {0}, best = 0, weights[ROW_COUNT];
  memset(cuts, 0, sizeof cuts);
  objective[ROW_COUNT] = 1;
  int rows = 0;
  static const int first[] = {ROW_A1, ROW_A2, ROW_CW, ROW_CR}, second[] = {ROW_B1, ROW_B2, ROW_B3, ROW_CW, ROW_CR};
  for (int i = 0; i < 4; i++) cuts[0][first[i]] = 1;
  for (int i = 0; i < 5; i++) cuts[1][second[i]] = 1;
  cuts[2][ROW_LAM] = 1;
  cuts[3][ROW_MU] = 1;
  bounds[0] = bounds[1] = 1;
  bounds[2] = bounds[3] = 1000;
  rows = 4;
  memset(best_weights, 0, ROW_COUNT * sizeof *best_weights);
  for (int round = 0; round < rounds && rows < MAX_CUTS; round++) {
    double row[ROW_COUNT];
    if (round < 3) {
      memcpy(weights, starts[round], sizeof weights);
      if (round) weights[ROW_LAM] = scale[ROW_LAM] * 0.2;
    } else {
      if (!simplex_maximise(rows, ROW_COUNT + 1, cuts, bounds, objective, solution)) break;
      for (int r = 0; r < ROW_COUNT; r++) weights[r] = solution[r] * scale[r];
      if (solution[ROW_COUNT] * time <= best * (1 + 1e-5)) break;
    }
    double value = value_at(split, weights, row);
    if (value > best) {
      best = value;
      memcpy(best_weights, weights, sizeof weights);
    }
    for (int r = 0; r < ROW_COUNT; r++) cuts[rows][r] = -row[r] * scale[r] / time;
    cuts[rows][ROW_COUNT] = 1;
    bounds[rows++] = 0;
  }
  return best;
}

static Wide quantise(double weight) {
  return weight > 0 ? (Wide)(weight * 1099511627776.0) : 0;
}

static int64_t exact_value(const Split *split, const double *weights) {
  Wide w[ROW_COUNT], sum = 0;
  for (int r = 0; r < ROW_COUNT; r++) w[r] = quantise(weights[r]);
  Wide both = w[ROW_CW] + w[ROW_CR];
  if (w[ROW_A1] + w[ROW_A2] + both > UNIT || w[ROW_B1] + w[ROW_B2] + w[ROW_B3] + both > UNIT) return 0;
  const Problem *p = split->problem;
  sum += w[ROW_A1] * split->head_ns + w[ROW_A2] * ((Wide)split->rho_ns + split->duration_ns);
  sum += w[ROW_B1] * split->rest_compute_ns + w[ROW_B2] * split->rest_ns + w[ROW_B3] * split->theta_ns;
  sum += both * split->both_ns - w[ROW_LAM] * ((Wide)p->device_bytes - split->base_bytes) - w[ROW_MU] * p->host_bytes;
  for (int i = 0; i < split->count; i++) {
    Wide least = 0;
    for (int choice = 0; choice < CHOICE_COUNT; choice++) {
      if (!(split->items[i].choices & 1u << choice)) continue;
      int64_t parts[ROW_COUNT];
      row_parts(split, &split->items[i], choice, parts);
      Wide cost = 0;
      for (int r = 0; r < ROW_COUNT; r++) cost += w[r] * parts[r];
      if (choice == CHOICE_KEEP || cost < least) least = cost;
    }
    sum += least;
  }
  return sum > 0 ? (int64_t)((sum + UNIT - 1) >> 40) : 0;
}

static void get_weights(const PlanCertificate *c, double *weights) {
  const double all[ROW_COUNT] = {c->a1, c->a2, c->b1, c->b2, c->b3, c->cw, c->cr, c->lam, c->mu};
  memcpy(weights, all, sizeof all);
}

static int compare_int64(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* rho and theta worth trying: from none of the transfers counted on that side to half of them. */
static int thresholds(const Split *split, int64_t *sorted, bool is_rho, int64_t limit, int64_t *values) {
  static const double quantiles[] = {0, 0.15, 0.4, 0.7};
  int count = 0;
  for (int i = 0; i < split->count; i++) sorted[i] = is_rho ? split->items[i].rel_ns : split->items[i].tail_ns;
  qsort(sorted, (size_t)split->count, sizeof *sorted, compare_int64);
  for (int k = 0; k < 4; k++) {
    int64_t value = split->count ? sorted[(int)(quantiles[k] * (split->count - 1))] : 0;
    if (value > limit) value = limit;
    if (count && values[count - 1] == value) continue;
    values[count++] = value;
  }
  return count;
}

static int64_t try_split(const Problem *p, const Geometry *g, int s, int rounds, int64_t best, PlanCertificate *c) {
  Arena *arena = arena_new();
  Split split;
  make_split(p, g, arena, s, &split);
  int64_t *sorted = NEW(split.count, int64_t), rhos[4], thetas[4];
  int rho_count = thresholds(&split, sorted, true, g->start_ns[s], rhos);
  int theta_count = thresholds(&split, sorted, false, split.rest_ns, thetas);
  for (int i = 0; i < rho_count; i++)
    for (int k = 0; k < theta_count; k++) {
      if ((rounds < 40 || split.count > 2000) && i != k) continue;
      double w[ROW_COUNT];
      split.rho_ns = rhos[i];
      split.theta_ns = thetas[k];
      maximise(&split, rounds, w);
      for (int r = 0; r < ROW_LAM; r++) w[r] *= 1 - 1e-9;
      int64_t value = exact_value(&split, w);
      if (value <= best) continue;
      best = value;
      *c = (PlanCertificate){CERTIFICATE_DUAL, s, rhos[i], thetas[k], w[ROW_A1], w[ROW_A2], w[ROW_B1], w[ROW_B2],
                             w[ROW_B3], w[ROW_CW], w[ROW_CR], w[ROW_LAM], w[ROW_MU], {0}};
    }
  arena_free(arena);
  return best;
}

int64_t certificate_find(const Problem *problem, const Geometry *geometry, int splits, int rounds,
                         PlanCertificate *certificate) {
  int64_t best = geometry->stall_free_ns;
  *certificate = (PlanCertificate){.kind = CERTIFICATE_STALL_FREE};
  if (!geometry->is_over_budget || geometry->peak_step < 0) return best;
  Arena *arena = arena_new();
  bool *is_tried = NEW(problem->step_count, bool);
  for (int k = 0; k < splits; k++) {
    /* The fullest step not tried yet, away from those that were. */
    int s = -1;
    for (int t = 0; t < problem->step_count; t++)
      if (geometry->join[t] < 0 && !is_tried[t] && geometry->retain_bytes[t] > problem->device_bytes &&
          (s < 0 || geometry->retain_bytes[t] > geometry->retain_bytes[s]))
        s = t;
    if (s < 0) break;
    int around = problem->step_count / 40;
    for (int t = s - around; t <= s + around; t++)
      if (t >= 0 && t < problem->step_count) is_tried[t] = true;
    best = try_split(problem, geometry, s, rounds, best, certificate);
  }
  arena_free(arena);
  return best;
}

void certificate_round(const Problem *problem, const Geometry *geometry, const PlanCertificate *c, uint8_t *fates) {
  static const uint8_t fate_of[] = {FATE_KEEP, FATE_HOST, FATE_SSD, FATE_RECOMPUTE};
  if (c->kind != CERTIFICATE_DUAL) return;
  Arena *arena = arena_new();
  Split split;
  make_split(problem, geometry, arena, c->split, &split);
  split.rho_ns = c->rho_ns;
  split.theta_ns = c->theta_ns;
  double weights[ROW_COUNT];
  get_weights(c, weights);
  for (int i = 0; i < split.count; i++) {
    const BoundItem *item = &split.items[i];
    int choice = best_choice(&split, item, weights);
    int fate = choice == CHOICE_CLEAN ? (item->is_clean_ssd ? FATE_SSD : FATE_HOST) : fate_of[choice];
    for (int k = geometry->gap_first[item->piece]; k < geometry->gap_first[item->piece + 1]; k++) {
      const PlanGap *gap = &geometry->gaps[k];
      if (gap->u < c->split && c->split < gap->v && gap->is_open && (gap->options & FATE_BIT(fate)))
        fates[k] = (uint8_t)fate;
    }
  }
  arena_free(arena);
}
