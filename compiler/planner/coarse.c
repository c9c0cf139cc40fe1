#include "coarse.h"

#include <stdlib.h>
#include <string.h>

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

typedef struct Coarsening {
  Arena *arena, *scratch;
  const Problem *fine;
  Problem *coarse;
  int most;
  int *group_of; /* by piece of the fine problem: its chunk of the coarse datum */
} Coarsening;

/* ---- chunks ---- */

static int chunks_of(const Coarsening *c, int op) { return c->fine->ops[op].chunks < c->most ? c->fine->ops[op].chunks : c->most; }

static int chunk_of(const Coarsening *c, int op, int chunk) { return (int)((int64_t)chunk * chunks_of(c, op) / c->fine->ops[op].chunks); }

static const ProblemStep *step_of_chunk(const Problem *p, int op, int chunk) { return &p->steps[p->op_steps[p->ops[op].first_step + chunk]]; }

/* ---- pieces ---- */

static uint64_t mixed(uint64_t hash, uint64_t value) { /* splitmix64 of both */
  hash = (hash ^ value) + 0x9E3779B97F4A7C15u;
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9u;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBu;
  return hash ^ (hash >> 31);
}

/* By piece: where it lies before and after, and of each op that touches it the first and the last of its coarse chunks: parts of a hub, which most others read, are apart. */
static uint64_t *signatures(const Coarsening *c) {
  const Problem *p = c->fine;
  Arena *arena = c->scratch;
  uint64_t *signature = NEW(p->piece_count, uint64_t);
  int *touched_by = NEW(p->piece_count, int), *first = NEW(p->piece_count, int), *last = NEW(p->piece_count, int), *touched = NEW(p->piece_count, int);
  for (int x = 0; x < p->piece_count; x++) signature[x] = mixed(p->pieces[x].home, p->pieces[x].ends_on_ssd);
  for (int op = 0; op < p->op_count; op++) {
    int count = 0;
    for (int k = 0; k < p->ops[op].chunks; k++) {
      const ProblemStep *step = step_of_chunk(p, op, k);
      for (int i = 0; i < step->use_count; i++) {
        const int x = p->uses[step->first_use + i].piece;
        last[x] = chunk_of(c, op, k);
        if (touched_by[x] == op + 1) continue;
        touched_by[x] = op + 1;
        first[x] = last[x];
        touched[count++] = x;
      }
    }
    for (int i = 0; i < count; i++) signature[touched[i]] = mixed(mixed(signature[touched[i]], (uint64_t)op), ((uint64_t)first[touched[i]] << 32) + (uint64_t)last[touched[i]]);
  }
  return signature;
}

typedef struct Signed {
  uint64_t signature;
  int chunk;
} Signed;

static int compare_signed(const void *a, const void *b) {
  const Signed *x = a, *y = b;
  if (x->signature != y->signature) return x->signature < y->signature ? -1 : 1;
  return x->chunk - y->chunk;
}

/* Groups of pieces with one signature, numbered by their first. */
static int group_pieces(const Coarsening *c, int datum, const uint64_t *signature) {
  const ProblemDatum *d = &c->fine->data[datum];
  Arena *arena = arena_new();
  Signed *list = NEW(d->chunks, Signed);
  int *leader = NEW(d->chunks, int), *group_of = c->group_of + d->first_piece, count = 0;
  for (int k = 0; k < d->chunks; k++) list[k] = (Signed){signature[d->first_piece + k], k};
  qsort(list, (size_t)d->chunks, sizeof *list, compare_signed);
  for (int i = 0; i < d->chunks; i++) leader[list[i].chunk] = i > 0 && list[i].signature == list[i - 1].signature ? leader[list[i - 1].chunk] : list[i].chunk;
  for (int k = 0; k < d->chunks; k++) group_of[k] = leader[k] == k ? count++ : group_of[leader[k]];
  arena_free(arena);
  return count;
}

static void make_datum(const Coarsening *c, int datum, const uint64_t *signature) {
  Arena *arena = c->arena;
  const ProblemDatum *from = &c->fine->data[datum];
  ProblemDatum *to = &c->coarse->data[datum];
  *to = *from;
  to->chunks = group_pieces(c, datum, signature);
  int64_t *bytes = NEW(to->chunks, int64_t);
  Tier *home = NEW(to->chunks, Tier), *end = NEW(to->chunks, Tier);
  for (int k = 0; k < from->chunks; k++) {
    const int group = c->group_of[from->first_piece + k];
    bytes[group] += c->fine->pieces[from->first_piece + k].bytes;
    if (from->chunk_home) home[group] = from->chunk_home[k];
    if (from->chunk_end) end[group] = from->chunk_end[k];
  }
  to->chunk_bytes = bytes;
  if (from->chunk_home) to->chunk_home = home;
  if (from->chunk_end) to->chunk_end = end;
}

/* ---- ops ---- */

static bool has_same_groups(const Coarsening *c, int a, int b) {
  const ProblemDatum *x = &c->fine->data[a], *y = &c->fine->data[b];
  return x->chunks == y->chunks && memcmp(c->group_of + x->first_piece, c->group_of + y->first_piece, (size_t)x->chunks * sizeof *c->group_of) == 0;
}

/* What the steps of each chunk use of the datum. */
static ProblemAccess accessed(const Coarsening *c, int op, const ProblemAccess *from, unsigned flags) {
  Arena *arena = c->arena;
  const Problem *p = c->fine;
  const int chunks = chunks_of(c, op), fine_chunks = p->ops[op].chunks;
  ProblemAccess to = {.datum = from->datum, .kind = PROBLEM_ACCESS_LIST, .list_start = NEW(chunks + 1, int)};
  int *taken_by = arena_alloc(c->scratch, (size_t)c->coarse->data[from->datum].chunks * sizeof *taken_by + 1), count = 0;
  for (int k = 0; k < fine_chunks; k++) {
    const ProblemStep *step = step_of_chunk(p, op, k);
    const int chunk = chunk_of(c, op, k);
    for (int i = 0; i < step->use_count; i++) {
      const ProblemUse *use = &p->uses[step->first_use + i];
      if (!(use->flags & flags) || p->pieces[use->piece].datum != from->datum || taken_by[c->group_of[use->piece]] == chunk + 1) continue;
      taken_by[c->group_of[use->piece]] = chunk + 1;
      ARENA_PUSH(arena, to.list, count, c->group_of[use->piece]);
    }
    to.list_start[chunk + 1] = count;
  }
  if (from->over && has_same_groups(c, from->datum, from->over - 1)) to.over = from->over;
  return to;
}

/* The times of its steps, in nanoseconds, whatever their stages are given in. */
static void make_variants(const Coarsening *c, int op) {
  Arena *arena = c->arena;
  const Problem *p = c->fine;
  ProblemOp *to = &c->coarse->ops[op];
  to->variants = NEW(to->variant_count, ProblemVariant);
  for (int v = 0; v < to->variant_count; v++) {
    const ProblemVariant *from = &p->ops[op].variants[v];
    to->variants[v] = *from;
    to->variants[v].stages = NEW(from->stage_count, ProblemStage);
    for (int i = 0; i < from->stage_count; i++) {
      int64_t *ns = NEW(to->chunks, int64_t), all = 0;
      for (int k = 0; k < p->ops[op].chunks; k++) {
        const int64_t of_step = problem_stage_ns(p, p->op_steps[p->ops[op].first_step + k], v, i);
        ns[chunk_of(c, op, k)] += of_step;
        all += of_step;
      }
      to->variants[v].stages[i] = (ProblemStage){.lane = from->stages[i].lane, .amount = all, .chunk_amounts = ns};
    }
  }
}

static void make_op(const Coarsening *c, int op) {
  Arena *arena = c->arena;
  const ProblemOp *from = &c->fine->ops[op];
  ProblemOp *to = &c->coarse->ops[op];
  *to = *from;
  to->chunks = chunks_of(c, op);
  to->reads = NEW(from->read_count, ProblemAccess);
  to->writes = NEW(from->write_count, ProblemAccess);
  for (int i = 0; i < from->read_count; i++) to->reads[i] = accessed(c, op, &from->reads[i], PROBLEM_USE_READ);
  for (int i = 0; i < from->write_count; i++) to->writes[i] = accessed(c, op, &from->writes[i], PROBLEM_USE_CREATE | PROBLEM_USE_UPDATE);
  make_variants(c, op);
}

/* Each run of steps where its first one is. */
static int *make_order(const Coarsening *c) {
  Arena *arena = c->arena;
  const Problem *p = c->fine;
  int *first_of = NEW(p->step_count, int), *is_seen = arena_alloc(c->scratch, (size_t)(p->op_count * c->most) * sizeof *is_seen + 1), count = 0;
  c->coarse->order = NEW(2 * p->step_count, int);
  for (int s = 0; s < p->step_count; s++) {
    const int op = p->steps[s].op, chunk = chunk_of(c, op, p->steps[s].chunk);
    if (is_seen[op * c->most + chunk]++) continue;
    c->coarse->order[2 * count] = op;
    c->coarse->order[2 * count + 1] = chunk;
    first_of[count++] = s;
  }
  c->coarse->order_count = count;
  return first_of;
}

/* ---- the problem ---- */

/* As fast as the pieces of the fine problem pass, each with the latency of its copy. */
static void slow_lanes(const Coarsening *c) {
  Arena *arena = c->arena;
  ProblemLane *lanes = NEW(c->fine->lane_count, ProblemLane);
  memcpy(lanes, c->fine->lanes, (size_t)c->fine->lane_count * sizeof *lanes);
  c->coarse->lanes = lanes;
  double bytes = 0, ns[LANE_COUNT] = {0};
  for (int x = 0; x < c->fine->piece_count; x++) {
    const ProblemPiece *piece = &c->fine->pieces[x];
    bytes += (double)piece->bytes;
    ns[LANE_D2H] += (double)piece->d2h_ns, ns[LANE_H2D] += (double)piece->h2d_ns;
    ns[LANE_SSD_WRITE] += (double)piece->ssdw_ns, ns[LANE_SSD_READ] += (double)piece->ssdr_ns;
  }
  for (int l = LANE_D2H; l <= LANE_SSD_READ; l++)
    if (lanes[l].is_present && ns[l] > 0) lanes[l].bandwidth = (int64_t)(1e9 * bytes / ns[l]) + 1, lanes[l].latency_ns = 0;
}

/* As many of its pieces as pass there of the fine problem. */
static void widen_ring(const Coarsening *c) {
  int64_t fine = 1, coarse = 1;
  for (int x = 0; x < c->fine->piece_count; x++) fine = c->fine->pieces[x].bytes > fine ? c->fine->pieces[x].bytes : fine;
  for (int x = 0; x < c->coarse->piece_count; x++) coarse = c->coarse->pieces[x].bytes > coarse ? c->coarse->pieces[x].bytes : coarse;
  if (c->fine->ring_bytes > 0) c->coarse->ring_bytes += (coarse - fine) * (c->fine->ring_bytes / fine);
}

const Coarse *coarse_problem(Arena *arena, const Problem *fine, int chunks) {
  Problem *p = NEW(1, Problem);
  *p = *fine;
  Coarsening c = {.arena = arena, .scratch = arena_new(), .fine = fine, .coarse = p, .most = chunks};
  c.group_of = NEW(fine->piece_count, int);
  p->data = NEW(fine->datum_count, ProblemDatum);
  p->ops = NEW(fine->op_count, ProblemOp);
  p->uses = NULL;
  p->use_count = 0;
  p->reserve_bytes = NULL;
  slow_lanes(&c);
  const uint64_t *signature = signatures(&c);
  int pieces = 0;
  for (int d = 0; d < fine->datum_count; d++) make_datum(&c, d, signature), pieces += p->data[d].chunks;
  ProblemError error;
  int *first_of = NULL;
  const bool is_smaller = pieces <= fine->piece_count / 2;
  for (int op = 0; op < fine->op_count && is_smaller; op++) make_op(&c, op);
  if (is_smaller) first_of = make_order(&c);
  const bool is_made = is_smaller && problem_expand(p, arena, &error);
  arena_free(c.scratch);
  if (!is_made) return NULL;
  widen_ring(&c);
  int *step_of = NEW(fine->step_count, int), *piece_of = c.group_of;
  for (int s = 0; s < fine->step_count; s++) step_of[s] = p->op_steps[p->ops[fine->steps[s].op].first_step + chunk_of(&c, fine->steps[s].op, fine->steps[s].chunk)];
  for (int x = 0; x < fine->piece_count; x++) piece_of[x] += p->data[fine->pieces[x].datum].first_piece;
  Coarse *coarse = NEW(1, Coarse);
  *coarse = (Coarse){.problem = p, .step_of = step_of, .first_of = first_of, .piece_of = piece_of};
  return coarse;
}

/* ---- its decisions ---- */

/* Of the coarse gaps between the two accesses the longest; NO_GAP: both are of one step, or it has none. */
enum { NO_GAP = -1 };

static int gap_of(const Coarse *c, const Geometry *g, const PlanGap *fine) {
  const int x = c->piece_of[fine->piece], u = c->step_of[fine->u], v = c->step_of[fine->v];
  int low = g->gap_first[x], high = g->gap_first[x + 1], longest = NO_GAP;
  while (low < high) { /* the first that begins at u or later */
    const int middle = (low + high) / 2;
    if (g->gaps[middle].u < u) low = middle + 1;
    else high = middle;
  }
  for (int i = low; i < g->gap_first[x + 1] && g->gaps[i].v <= v; i++)
    if (longest == NO_GAP || g->start_ns[g->gaps[i].v] - g->end_ns[g->gaps[i].u] > g->start_ns[g->gaps[longest].v] - g->end_ns[g->gaps[longest].u]) longest = i;
  return longest;
}

void coarse_refine(const Coarse *c, const Evaluator *from, const Candidate *decided, const Evaluator *to, Candidate *refined) {
  const Geometry *g = to->geometry;
  geometry_stay(g, refined->fates);
  memcpy(refined->variants, decided->variants, (size_t)to->problem->op_count * sizeof *refined->variants);
  refined->is_canonical = decided->is_canonical;
  refined->shared_steps = decided->shared_steps * (to->problem->step_count / from->problem->step_count);
  refined->is_polished = false;
  refined->cost = COST_ILLEGAL;
  for (int i = 0; i < g->gap_count; i++) {
    const int gap = gap_of(c, from->geometry, &g->gaps[i]);
    if (!decided->is_canonical) refined->keep_from[i] = g->gaps[i].v;
    if (gap == NO_GAP) continue;
    if (g->gaps[i].options & FATE_BIT(decided->fates[gap])) refined->fates[i] = decided->fates[gap];
    if (!decided->is_canonical) refined->keep_from[i] = decided->keep_from[gap] < from->problem->step_count ? c->first_of[decided->keep_from[gap]] : to->problem->step_count;
  }
}
