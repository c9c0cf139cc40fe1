#include "geometry.h"

#include <stdlib.h>
#include <string.h>

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

static int64_t max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static void find_step_costs(const Problem *p, Geometry *g, Arena *arena) {
  int n = p->step_count;
  g->join = NEW(n, int);
  g->is_always_comm = NEW(n, bool);
  g->min_ns = NEW(n, int64_t);
  g->min_comm_ns = NEW(n, int64_t);
  g->min_work = NEW(n, int64_t);
  g->max_work = NEW(n, int64_t);
  int *next = NEW(p->piece_count, int);
  for (int x = 0; x < p->piece_count; x++) next[x] = n - 1;
  for (int s = n - 1; s >= 0; s--) {
    const ProblemStep *step = &p->steps[s];
    const ProblemOp *op = &p->ops[step->op];
    int64_t best = INT64_MAX;
    bool some = false;
    g->is_always_comm[s] = true;
    g->min_work[s] = INT64_MAX;
    for (int v = 0; v < op->variant_count; v++) {
      int64_t ns = problem_step_ns(p, s, v), work = op->variants[v].work_bytes;
      if (ns < best) best = ns;
      if (work < g->min_work[s]) g->min_work[s] = work;
      if (work > g->max_work[s]) g->max_work[s] = work;
      bool is_comm = problem_is_communication(p, step->op, v);
      some |= is_comm;
      g->is_always_comm[s] &= is_comm;
    }
    g->join[s] = -1;
    if (some) {
      g->min_comm_ns[s] = best;
      g->join[s] = n - 1;
      for (int i = 0; i < step->use_count; i++) {
        const ProblemUse *use = &p->uses[step->first_use + i];
        if ((use->flags & (PROBLEM_USE_CREATE | PROBLEM_USE_UPDATE)) && next[use->piece] < g->join[s]) g->join[s] = next[use->piece];
      }
    } else {
      g->min_ns[s] = best;
    }
    for (int i = 0; i < step->use_count; i++) next[p->uses[step->first_use + i].piece] = s;
  }
}

static int compare_ints(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return x < y ? -1 : x > y;
}

/* Direct uses and holds, merged and sorted by piece. */
static void find_accesses(const Problem *p, Geometry *g, Arena *arena) {
  int n = p->step_count;
  int *size = NEW(n + 1, int);
  for (int s = 0; s < n; s++) {
    size[s] += p->steps[s].use_count;
    if (g->join[s] > s) size[g->join[s]] += p->steps[s].use_count;
  }
  g->access_first = NEW(n + 1, int);
  for (int s = 0; s < n; s++) g->access_first[s + 1] = g->access_first[s] + size[s];
  int *all = NEW(g->access_first[n], int), *fill = NEW(n, int);
  for (int s = 0; s < n; s++)
    for (int i = 0; i < p->steps[s].use_count; i++) {
      int x = p->uses[p->steps[s].first_use + i].piece;
      all[g->access_first[s] + fill[s]++] = x;
      if (g->join[s] > s) all[g->access_first[g->join[s]] + fill[g->join[s]]++] = x;
    }
  int kept = 0;
  for (int s = 0; s < n; s++) {
    int *list = all + g->access_first[s], first = kept;
    if (fill[s] != p->steps[s].use_count) qsort(list, (size_t)fill[s], sizeof *list, compare_ints);
    for (int i = 0; i < fill[s]; i++)
      if (kept == first || all[kept - 1] != list[i]) all[kept++] = list[i];
    g->access_first[s] = first;
  }
  g->access_first[n] = kept;
  g->access = all;
}

/* Whether the creator of a piece may run again at any step up to v. */
static bool is_rerunnable(const Problem *p, const ProblemPiece *piece, int v) {
  if (piece->home != TIER_NONE || piece->creator < 0 || !(piece->fates & FATE_BIT(FATE_RECOMPUTE))) return false;
  const ProblemStep *creator = &p->steps[piece->creator];
  return creator->can_rerun && v <= creator->rerun_limit;
}

/* The last base step before which each piece can be made again whatever fates the others have, or -1: what its creator
 * reads is there until its own last access, and made again where it is dead. */
static int *find_remake_limits(const Problem *p, const Geometry *g, Arena *arena) {
  int *limit = NEW(p->piece_count, int);
  for (int x = 0; x < p->piece_count; x++) limit[x] = -1;
  for (int s = 0; s < p->step_count; s++) {
    const ProblemStep *step = &p->steps[s];
    int last = step->can_rerun ? step->rerun_limit : -1;
    for (int i = 0; i < step->use_count; i++) {
      const ProblemUse *use = &p->uses[step->first_use + i];
      int y = use->piece;
      if (!(use->flags & PROBLEM_USE_READ) || p->pieces[y].home != TIER_NONE) continue;
      int there = limit[y] > g->last_access[y] ? limit[y] : g->last_access[y];
      if (last > there) last = there;
    }
    for (int i = 0; i < step->use_count; i++) {
      const ProblemUse *use = &p->uses[step->first_use + i];
      bool may_drop = (p->pieces[use->piece].fates & FATE_BIT(FATE_RECOMPUTE)) != 0;
      if ((use->flags & PROBLEM_USE_CREATE) && may_drop) limit[use->piece] = last;
    }
  }
  return limit;
}

/* A piece that does not list "retain" leaves in every gap that covers a step and has another of its fates. */
static void pin(const Problem *p, PlanGap *gap, int remake_limit) {
  unsigned fates = p->pieces[gap->piece].fates, legal = gap->options & fates;
  if (gap->v > remake_limit) legal &= ~FATE_BIT(FATE_RECOMPUTE);
  if (fates & FATE_BIT(FATE_KEEP)) return;
  if (legal && gap->v > gap->u + 1) gap->options = legal;
}

static void find_options(const Problem *p, PlanGap *gap) {
  const ProblemPiece *piece = &p->pieces[gap->piece];
  gap->options = FATE_BIT(FATE_KEEP);
  if (gap->is_held || piece->home == TIER_DEVICE || piece->bytes == 0) return;
  bool has_host = problem_reaches_host(p), has_ssd = problem_reaches_ssd(p);
  if (piece->home != TIER_NONE) {
    gap->is_clean = piece->first_write < 0 || piece->first_write > gap->u;
    if (gap->is_clean) gap->options |= FATE_BIT(tier_fate(piece->home));
    return;
  }
  if (gap->u >= piece->last_write) {
    if ((piece->fates & FATE_BIT(FATE_HOST)) && has_host && piece->bytes <= p->host_bytes)
      gap->options |= FATE_BIT(FATE_HOST);
    if ((piece->fates & FATE_BIT(FATE_SSD)) && has_ssd && piece->bytes <= p->ssd_bytes &&
        piece->bytes <= p->ring_bytes)
      gap->options |= FATE_BIT(FATE_SSD);
  }
  if (is_rerunnable(p, piece, gap->v)) gap->options |= FATE_BIT(FATE_RECOMPUTE);
}

static void find_gaps(const Problem *p, Geometry *g, Arena *arena) {
  int n = p->step_count, pieces = p->piece_count, accesses = g->access_first[n];
  g->first_access = NEW(pieces, int);
  g->last_access = NEW(pieces, int);
  g->gap_first = NEW(pieces + 1, int);
  int *count = NEW(pieces, int);
  for (int x = 0; x < pieces; x++) g->first_access[x] = g->last_access[x] = -1;
  for (int i = 0; i < accesses; i++) count[g->access[i]]++;
  for (int x = 0; x < pieces; x++) g->gap_first[x + 1] = g->gap_first[x] + (count[x] > 1 ? count[x] - 1 : 0);
  g->gap_count = g->gap_first[pieces];
  g->gaps = NEW(g->gap_count, PlanGap);
  g->gap_before = NEW(accesses, int);
  g->gap_after = NEW(accesses, int);
  memset(count, 0, (size_t)pieces * sizeof *count);
  int *held_until = NEW(pieces, int), *under_at = NEW(pieces, int);
  g->is_last_under = NEW(pieces, bool);
  for (int x = 0; x < pieces; x++) held_until[x] = under_at[x] = -1;
  for (int s = 0; s < n; s++) {
    for (int i = 0; i < p->steps[s].use_count; i++) {
      int under = p->uses[p->steps[s].first_use + i].under;
      if (under >= 0) under_at[under] = s;
    }
    if (g->join[s] > s)
      for (int i = 0; i < p->steps[s].use_count; i++) {
        int x = p->uses[p->steps[s].first_use + i].piece;
        if (held_until[x] < g->join[s]) held_until[x] = g->join[s];
      }
    for (int i = g->access_first[s]; i < g->access_first[s + 1]; i++) {
      int x = g->access[i];
      g->gap_before[i] = g->gap_after[i] = -1;
      if (g->first_access[x] < 0) {
        g->first_access[x] = s;
      } else {
        PlanGap *gap = &g->gaps[g->gap_first[x] + count[x] - 1];
        gap->v = s;
        g->gap_before[i] = g->gap_first[x] + count[x] - 1;
      }
      g->last_access[x] = s;
      if (count[x] < g->gap_first[x + 1] - g->gap_first[x]) {
        g->gap_after[i] = g->gap_first[x] + count[x];
        g->gaps[g->gap_after[i]] = (PlanGap){.piece = x, .u = s, .is_held = held_until[x] > s, .is_under = under_at[x] == s};
      }
      g->is_last_under[x] = under_at[x] == s;
      count[x]++;
    }
  }
  g->remake_limit = find_remake_limits(p, g, arena);
  for (int i = 0; i < g->gap_count; i++) {
    find_options(p, &g->gaps[i]);
    pin(p, &g->gaps[i], g->remake_limit[g->gaps[i].piece]);
  }
}

typedef struct Load {
  int64_t ready_ns, ns;
} Load;

static void find_loads(const Problem *p, Geometry *g, Arena *arena) {
  g->load_ns = NEW(p->step_count, int64_t);
  Arena *scratch = arena_new();
  Load *loads = NULL;
  int count = 0;
  int64_t now = 0;
  for (int s = 0; s < p->step_count; s++) {
    bool has_changed = false;
    for (int i = 0; i < p->steps[s].use_count; i++) {
      int x = p->uses[p->steps[s].first_use + i].piece;
      const ProblemPiece *piece = &p->pieces[x];
      if (!problem_is_home_away(piece) || g->first_access[x] != s) continue;
      Load load = {piece->home == TIER_SSD ? piece->ssdr_ns : 0, piece->h2d_ns};
      ARENA_PUSH(scratch, loads, count, load);
      int at = count - 1;
      for (; at > 0 && loads[at - 1].ready_ns > load.ready_ns; at--) loads[at] = loads[at - 1];
      loads[at] = load;
      has_changed = true;
    }
    if (has_changed) {
      now = 0;
      for (int i = 0; i < count; i++) now = max64(now, loads[i].ready_ns) + loads[i].ns;
    }
    g->load_ns[s] = now;
  }
  arena_free(scratch);
}

static void find_timeline(const Problem *p, Geometry *g, Arena *arena) {
  int n = p->step_count;
  g->start_ns = NEW(n, int64_t);
  g->end_ns = NEW(n, int64_t);
  g->tail_ns = NEW(n + 1, int64_t);
  int64_t *arrival = NEW(n + 1, int64_t), *writeback = NEW(n, int64_t), *chain = NEW(n + 1, int64_t);
  int *last_sure = NEW(p->piece_count, int); /* without the holds of steps that need not communicate */
  for (int x = 0; x < p->piece_count; x++) last_sure[x] = -1;
  for (int s = 0; s < n; s++)
    for (int i = 0; i < p->steps[s].use_count; i++) {
      int *last = &last_sure[p->uses[p->steps[s].first_use + i].piece];
      int end = g->is_always_comm[s] ? g->join[s] : s;
      if (*last < end) *last = end;
    }
  for (int x = 0; x < p->piece_count; x++)
    if (p->pieces[x].is_final && last_sure[x] >= 0) writeback[last_sure[x]] += p->pieces[x].d2h_ns;
  int64_t now = 0, written = 0, latest = 0;
  for (int s = 0; s < n; s++) {
    now = max64(max64(now, arrival[s]), g->load_ns[s]);
    g->start_ns[s] = now;
    if (g->join[s] >= 0) {
      arrival[g->join[s]] = max64(arrival[g->join[s]], now + g->min_comm_ns[s]);
      latest = max64(latest, now + g->min_comm_ns[s]);
    }
    now += g->min_ns[s];
    g->end_ns[s] = now;
    if (writeback[s]) written = max64(written, now) + writeback[s];
    latest = max64(latest, max64(now, written));
  }
  g->stall_free_ns = latest;
  for (int s = n - 1; s >= 0; s--) {
    chain[s] = chain[s + 1] + writeback[s];
    int64_t rest = g->tail_ns[s + 1];
    if (writeback[s]) rest = max64(rest, chain[s]);
    int64_t tail = g->min_ns[s] + rest;
    if (g->join[s] > s) tail = max64(tail, g->min_comm_ns[s] + g->tail_ns[g->join[s]]);
    if (g->join[s] >= 0) tail = max64(tail, g->min_comm_ns[s]);
    g->tail_ns[s] = tail;
  }
}

static void find_profile(const Problem *p, Geometry *g, Arena *arena) {
  int n = p->step_count;
  int64_t *retain = NEW(n + 1, int64_t), *base = NEW(n + 1, int64_t);
  for (int x = 0; x < p->piece_count; x++) {
    const ProblemPiece *piece = &p->pieces[x];
    if (piece->home == TIER_DEVICE) {
      retain[0] += piece->bytes;
      base[0] += piece->bytes;
      continue;
    }
    if (g->first_access[x] < 0) continue;
    int end = g->last_access[x] + !g->is_last_under[x];
    retain[g->first_access[x]] += piece->bytes;
    retain[end] -= piece->bytes;
    base[g->first_access[x]] += piece->bytes;
    base[end] -= piece->bytes;
    for (int i = g->gap_first[x]; i < g->gap_first[x + 1]; i++)
      if (g->gaps[i].options != FATE_BIT(FATE_KEEP)) {
        base[g->gaps[i].u + !g->gaps[i].is_under] -= piece->bytes;
        base[g->gaps[i].v] += piece->bytes;
      }
  }
  for (int s = 0; s < n; s++) {
    int end = g->join[s] > s ? g->join[s] : s;
    retain[s] += g->max_work[s];
    retain[end + 1] -= g->max_work[s];
    end = g->is_always_comm[s] && g->join[s] > s ? g->join[s] : s;
    base[s] += g->min_work[s];
    base[end + 1] -= g->min_work[s];
  }
  for (int s = 1; s < n; s++) {
    retain[s] += retain[s - 1];
    base[s] += base[s - 1];
  }
  for (int s = 0; s < n && p->reserve_bytes; s++) {
    retain[s] += p->reserve_bytes[s];
    base[s] += p->reserve_bytes[s];
  }
  g->retain_bytes = retain;
  g->base_bytes = base;
  g->peak_step = -1;
  for (int s = 0; s < n; s++) {
    g->is_over_budget |= retain[s] > p->device_bytes;
    if (g->join[s] < 0 && (g->peak_step < 0 || retain[s] > retain[g->peak_step])) g->peak_step = s;
  }
}


typedef struct OpenKey {
  int gap, u, v;
  bool is_wide;
} OpenKey;

static int compare_open(const void *a, const void *b) {
  const OpenKey *x = a, *y = b;
  if (x->is_wide != y->is_wide) return x->is_wide ? 1 : -1;
  if (x->u != y->u) return x->u < y->u ? -1 : 1;
  if (x->v != y->v) return x->v > y->v ? -1 : 1;
  return x->gap < y->gap ? -1 : x->gap > y->gap;
}

static void find_open(const Problem *p, Geometry *g, Arena *arena) {
  int n = p->step_count;
  int *over = NEW(n + 1, int); /* over-budget steps before s */
  for (int s = 0; s < n; s++) over[s + 1] = over[s] + (g->retain_bytes[s] > p->device_bytes);
  OpenKey *keys = NEW(g->gap_count, OpenKey);
  for (int i = 0; i < g->gap_count; i++) {
    PlanGap *gap = &g->gaps[i];
    if (gap->options == FATE_BIT(FATE_KEEP) || gap->v == gap->u + 1) continue;
    gap->is_open = geometry_is_pinned(gap) || over[gap->v] > over[gap->u + !gap->is_under];
    g->open_count += gap->is_open;
    keys[g->wide_count++] = (OpenKey){i, gap->u, gap->v, !gap->is_open};
  }
  qsort(keys, (size_t)g->wide_count, sizeof *keys, compare_open);
  g->open = NEW(g->wide_count, int);
  for (int i = 0; i < g->wide_count; i++) g->open[i] = keys[i].gap;
}

void geometry_stay(const Geometry *g, uint8_t *fates) {
  memset(fates, FATE_KEEP, (size_t)g->gap_count);
  for (int k = 0; k < g->open_count; k++)
    while (!(g->gaps[g->open[k]].options & FATE_BIT(fates[g->open[k]]))) fates[g->open[k]]++;
}

Geometry *geometry_make(const Problem *problem, Arena *arena) {
  Geometry *g = arena_alloc(arena, sizeof *g);
  find_step_costs(problem, g, arena);
  find_accesses(problem, g, arena);
  find_gaps(problem, g, arena);
  find_loads(problem, g, arena);
  find_timeline(problem, g, arena);
  find_profile(problem, g, arena);
  find_open(problem, g, arena);
  return g;
}
