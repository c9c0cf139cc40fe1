#include "desk.h"

#include <string.h>

Desk desk_open(Evaluator *evaluator, Candidate *candidate) {
  const Problem *p = evaluator->problem;
  const Geometry *g = evaluator->geometry;
  Arena *arena = arena_new();
  int64_t *bytes = arena_alloc(arena, ((size_t)p->step_count + 1) * sizeof *bytes);
  memset(candidate->fates, FATE_KEEP, (size_t)g->gap_count);
  memset(candidate->variants, 0, (size_t)p->op_count * sizeof *candidate->variants);
  candidate->is_canonical = true;
  candidate->is_polished = false;
  candidate->policies = PREFETCH_ALL;
  for (int s = 0; s < p->step_count; s++)
    bytes[s] = g->retain_bytes[s] - g->max_work[s] + p->ops[p->steps[s].op].variants[0].work_bytes;
  return (Desk){.evaluator = evaluator, .problem = p, .geometry = g, .arena = arena, .fates = candidate->fates,
                .profile = skyline_new(arena, bytes, p->step_count), .host = skyline_new(arena, NULL, p->step_count + 1),
                .ssd = skyline_new(arena, NULL, p->step_count + 1)};
}

void desk_take_least_work(Desk *d, Candidate *candidate) {
  const Problem *p = d->problem;
  for (int op = 0; op < p->op_count; op++)
    for (int v = 1; v < p->ops[op].variant_count; v++)
      if (p->ops[op].variants[v].work_bytes < p->ops[op].variants[candidate->variants[op]].work_bytes) candidate->variants[op] = v;
  for (int s = 0; s < p->step_count; s++) {
    const ProblemOp *op = &p->ops[p->steps[s].op];
    const ProblemVariant *variant = &op->variants[candidate->variants[p->steps[s].op]];
    int end = d->geometry->join[s] > s ? d->geometry->join[s] : s;
    if (variant->host_work_bytes) skyline_raise(&d->host, s, end + 1, variant->host_work_bytes);
    if (variant->work_bytes != op->variants[0].work_bytes) skyline_raise(&d->profile, s, s + 1, variant->work_bytes - op->variants[0].work_bytes);
  }
}

void desk_close(Desk *d) { arena_free(d->arena); }

static bool fits(const Skyline *tier, const PlanGap *gap, int64_t bytes, int64_t limit) {
  return skyline_highest(tier, gap->u + 1, gap->v + 1) + bytes <= limit;
}

bool desk_assign(Desk *d, int i, Fate fate) {
  const PlanGap *gap = &d->geometry->gaps[i];
  int64_t bytes = d->problem->pieces[gap->piece].bytes;
  if (!desk_may(gap, fate)) return false;
  if (d->fates[i] == fate) return true;
  if (!gap->is_clean && fate == FATE_HOST) {
    if (!fits(&d->host, gap, bytes, d->problem->host_bytes)) return false;
    skyline_raise(&d->host, gap->u + 1, gap->v + 1, bytes);
  }
  if (!gap->is_clean && fate == FATE_SSD) {
    if (!fits(&d->ssd, gap, bytes, d->problem->ssd_bytes)) return false;
    skyline_raise(&d->ssd, gap->u + 1, gap->v + 1, bytes);
  }
  if (!gap->is_clean && d->fates[i] == FATE_HOST) skyline_raise(&d->host, gap->u + 1, gap->v + 1, -bytes);
  if (!gap->is_clean && d->fates[i] == FATE_SSD) skyline_raise(&d->ssd, gap->u + 1, gap->v + 1, -bytes);
  if (fate != FATE_KEEP && d->fates[i] == FATE_KEEP) skyline_raise(&d->profile, gap->u + 1, gap->v, -bytes);
  if (fate == FATE_KEEP && d->fates[i] != FATE_KEEP) skyline_raise(&d->profile, gap->u + 1, gap->v, bytes);
  d->fates[i] = (uint8_t)fate;
  return true;
}

bool desk_move_away(Desk *d, int i) { return desk_assign(d, i, FATE_HOST) || desk_assign(d, i, FATE_SSD); }

bool desk_has_room(const Desk *d, int i, int64_t limit) {
  const PlanGap *gap = &d->geometry->gaps[i];
  return gap->u + 1 >= gap->v || skyline_highest(&d->profile, gap->u + 1, gap->v) + d->problem->pieces[gap->piece].bytes <= limit;
}

void desk_obey_pins(Desk *d) {
  const Geometry *g = d->geometry;
  for (int k = 0; k < g->open_count; k++) {
    int i = g->open[k];
    if (!geometry_is_pinned(&g->gaps[i])) continue;
    if (desk_move_away(d, i) || desk_assign(d, i, FATE_RECOMPUTE)) continue;
    while (!desk_may(&g->gaps[i], (Fate)d->fates[i])) d->fates[i]++; /* no room: that plan will not fit */
  }
}
