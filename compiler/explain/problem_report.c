/* problem_report: a planner's problem and plan -> gnncc-report/1, so that the views serve plans without a program.
 *
 * Steps are those of the planner's timeline, as a program's are. A communication is a step on the lane of each of its stages.
 */
#include "problem_report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "decided_by.h"
#include "compiler/planner/replay.h"
#include "compiler/planner/timeline.h"

enum { NONE = -1 };

typedef struct Drawn {
  const char *lane, *phase, *kernel, *what, *to, *from;
  int piece, boundary, waits_for, after[2], decided_by; /* indices into steps, or NONE */
  int64_t start_ns, ns, bytes;
  int step; /* extended step, or NONE */
} Drawn;

typedef struct Drawing {
  Arena *arena;
  const Problem *problem;
  const PlannerPlan *plan;
  const PlannerReport *report;
  const Sequence *q;
  const Simulation *m;
  int count;
  Drawn *steps;
  const int *kernel_step;         /* per extended step: its last step */
  bool is_direct;                 /* the device reaches the SSD itself: what the problem calls d2h and h2d is that */
  int64_t *adds_ns;               /* per piece */
  int64_t *away[TIER_COUNT], *gaps; /* bytes on host and SSD, and in gaps on the device, per extended step */
  int64_t compute_ns, rerun_ns, wait_ns, transfer_ns;
} Drawing;

static const char *lane_of(const Problem *p, int lane) { return lane < LANE_COUNT ? lane_names[lane] : p->lanes[lane].name; }

static double seconds_of(int64_t ns) { return 1e-9 * (double)ns; }
static int64_t ends(const Drawn *s) { return s->start_ns + s->ns; }

static const char *piece_name(const Drawing *w, int piece) {
  const ProblemPiece *p = &w->problem->pieces[piece];
  const ProblemDatum *d = &w->problem->data[p->datum];
  return d->chunks > 1 ? arena_printf(w->arena, "%s[%d]", d->id, p->chunk) : d->id;
}

static const char *step_name(const Drawing *w, int base) {
  const ProblemStep *s = &w->problem->steps[base];
  const ProblemOp *op = &w->problem->ops[s->op];
  return op->chunks > 1 ? arena_printf(w->arena, "%s[%d]", op->id, s->chunk) : op->id;
}

/* Of a piece, what it is a piece of, and which. */
static void add_piece(json_t *item, const char *group, int chunks, int chunk) {
  if (chunks <= 1) return;
  json_object_set_new(item, "group", json_string(group));
  json_object_set_new(item, "part", json_integer(chunk + 1));
}

static json_t *of_piece(const Drawing *w, json_t *item, int piece) {
  const ProblemDatum *d = &w->problem->data[w->problem->pieces[piece].datum];
  add_piece(item, d->id, d->chunks, w->problem->pieces[piece].chunk);
  return item;
}

/* ---- steps ---- */

static int before_on_lane(const Drawing *w, const char *lane) {
  for (int i = w->count - 1; i >= 0; i--)
    if (strcmp(w->steps[i].lane, lane) == 0) return i;
  return NONE;
}

static void add(Drawing *w, Drawn step) {
  int steps[] = {before_on_lane(w, step.lane), step.after[0], step.after[1], step.boundary > 0 ? w->kernel_step[step.boundary - 1] : NONE, before_on_lane(w, lane_names[LANE_COMPUTE])};
  enum { COUNT = sizeof steps / sizeof steps[0] };
  Decider followed[COUNT];
  for (int i = 0; i < COUNT; i++) followed[i] = (Decider){steps[i], steps[i] == NONE ? 0 : ends(&w->steps[steps[i]])};
  step.decided_by = step.start_ns > 0 ? decided_by(step.start_ns, followed, COUNT) : NONE;
  ARENA_PUSH(w->arena, w->steps, w->count, step);
}

static const char *phase_of(const Drawing *w, int s) {
  static const char *const phases[] = {"forward", "backward", "update"};
  return w->q->rerun[s] >= 0 ? "recompute" : phases[w->problem->ops[w->problem->steps[w->q->base[s]].op].phase];
}

/* The first piece that a step makes, or touches. */
static int piece_of(const Drawing *w, int s) {
  const ProblemStep *base = &w->problem->steps[w->q->base[s]];
  if (w->q->rerun[s] >= 0 && w->q->reruns[w->q->rerun[s]].out_count) return w->q->outs[w->q->reruns[w->q->rerun[s]].out_first];
  for (int i = 0; i < base->use_count; i++)
    if (w->problem->uses[base->first_use + i].flags & PROBLEM_USE_CREATE) return w->problem->uses[base->first_use + i].piece;
  return base->use_count ? w->problem->uses[base->first_use].piece : 0;
}

static const char *lane_of_copy(const Drawing *w, const TimelineEvent *event) {
  bool is_own = w->is_direct && event->is_ssd && (event->kind == EVENT_IN || w->q->offloads[event->offload].move >= 0);
  return !is_own ? lane_of(w->problem, event->lane) : lane_names[event->kind == EVENT_OUT ? LANE_SSD_WRITE : LANE_SSD_READ];
}

static Drawn draw_copy(Drawing *w, const TimelineEvent *event) {
  bool is_out = event->kind == EVENT_OUT || event->kind == EVENT_WRITE;
  const char *tier = tier_names[event->is_ssd ? TIER_SSD : TIER_HOST], *device = tier_names[TIER_DEVICE], *end = event->is_by_ring ? "ring" : tier, *name = piece_name(w, event->piece);
  const char *what = event->kind == EVENT_OUT     ? arena_printf(w->arena, "out %s -> %s", name, end)
                     : event->kind == EVENT_WRITE ? arena_printf(w->arena, "out %s ring -> ssd", name)
                     : event->kind == EVENT_READ  ? arena_printf(w->arena, "in %s ssd -> ring", name)
                                                  : arena_printf(w->arena, "in %s <- %s", name, end);
  w->transfer_ns += event->ns;
  return (Drawn){.lane = lane_of_copy(w, event), .phase = "move", .kernel = "copy", .what = what, .from = is_out ? device : tier, .to = is_out ? tier : device,
                 .piece = event->piece, .bytes = w->problem->pieces[event->piece].bytes, .step = NONE};
}

static Drawn draw_wait(Drawing *w, const TimelineEvent *event) {
  static const char *const reasons[] = {[WAIT_PLACE] = "the place of %s is needed", [WAIT_ARRIVAL] = "%s is read", [WAIT_END] = "the epoch ends with %s"};
  int piece = w->steps[event->waits_for].piece;
  w->wait_ns += event->ns;
  w->adds_ns[piece] += event->ns;
  return (Drawn){.lane = lane_names[LANE_COMPUTE], .phase = "wait", .kernel = "wait", .piece = piece, .step = NONE,
                 .what = arena_printf(w->arena, "wait for step %d: %s", event->waits_for + 1, arena_printf(w->arena, reasons[event->reason], piece_name(w, piece)))};
}

static Drawn draw_stage(const Drawing *w, const TimelineEvent *event) {
  int s = event->boundary, base = w->q->base[s], op = w->problem->steps[base].op;
  const ProblemStage *stage = &w->problem->ops[op].variants[w->q->variant[op]].stages[event->stage];
  return (Drawn){.lane = lane_of(w->problem, event->lane), .phase = "exchange", .kernel = "exchange", .what = step_name(w, base), .piece = piece_of(w, s),
                 .bytes = stage->is_bytes ? stage->amount : 0, .step = s};
}

static Drawn draw_kernel(Drawing *w, const TimelineEvent *event) {
  int s = event->boundary, piece = piece_of(w, s);
  bool is_rerun = w->q->rerun[s] >= 0;
  *(is_rerun ? &w->rerun_ns : &w->compute_ns) += event->ns;
  if (is_rerun) w->adds_ns[piece] += event->ns;
  return (Drawn){.lane = lane_names[LANE_COMPUTE], .phase = phase_of(w, s), .kernel = "op", .what = step_name(w, w->q->base[s]), .piece = piece, .step = s};
}

static void draw_steps(Drawing *w) {
  const Timeline *t = timeline(w->arena, w->q, w->m, w->is_direct);
  w->kernel_step = t->last_event;
  for (int i = 0; i < t->count; i++) {
    const TimelineEvent *event = &t->events[i];
    Drawn step = {0};
    switch (event->kind) {
    case EVENT_KERNEL: step = draw_kernel(w, event); break;
    case EVENT_STAGE: step = draw_stage(w, event); break;
    case EVENT_OUT:
    case EVENT_WRITE:
    case EVENT_READ:
    case EVENT_IN: step = draw_copy(w, event); break;
    case EVENT_WAIT: step = draw_wait(w, event); break;
    }
    step.boundary = event->boundary;
    step.waits_for = event->waits_for;
    memcpy(step.after, event->after, sizeof step.after);
    step.start_ns = event->start_ns;
    step.ns = event->ns;
    add(w, step);
  }
}

/* ---- JSON ---- */

static int shown_kernel(const Drawing *w, int s) { return w->kernel_step[s < w->q->count ? s : w->q->count - 1]; }
static int first_step_of(const Drawing *w, int s) { return s > 0 ? w->kernel_step[s - 1] + 2 : 1; }

static json_t *names(const Drawing *w, int base, unsigned flags) {
  json_t *list = json_array();
  const ProblemStep *s = &w->problem->steps[base];
  for (int i = 0; i < s->use_count; i++)
    if (w->problem->uses[s->first_use + i].flags & flags) json_array_append_new(list, json_string(piece_name(w, w->problem->uses[s->first_use + i].piece)));
  return list;
}

/* A copy in a tier is there from the move out to the last return that reads it. */
static void sum_away(Drawing *w) {
  for (Tier tier = TIER_HOST; tier < TIER_COUNT; tier++) {
    w->away[tier] = arena_alloc(w->arena, (size_t)(w->q->count + 1) * sizeof *w->away[tier]);
    for (int piece = 0; piece < w->problem->piece_count; piece++) {
      int first = w->q->count, last = NONE;
      for (int i = 0; i < w->q->move_count; i++) {
        const PlanMove *move = &w->q->moves[i];
        if (move->piece != piece || move->to != tier) continue;
        if (move->after + 1 < first) first = move->after + 1;
        if (move->v > last) last = move->v;
      }
      for (int s = first; s <= last; s++) w->away[tier][s] += w->problem->pieces[piece].bytes;
    }
  }
}

/* From where a stay begins to the last extended step that has its bytes. */
static int stay_start(const Drawing *w, const PlanStay *stay) { return stay->in_move >= 0 ? w->q->moves[stay->in_move].g : stay->from; }

static int stay_end(const Drawing *w, const PlanStay *stay) {
  int until = stay->until - (stay->taken_by >= 0);
  for (int i = 0; i < w->q->offload_count; i++) {
    const PlanOffload *o = &w->q->offloads[i];
    bool is_its = stay->out_move >= 0 ? o->move == stay->out_move : stay->is_final && o->move < 0 && o->piece == stay->piece;
    if (is_its && w->m->release[i] - 1 > until) until = w->m->release[i] - 1;
  }
  return until < w->q->count ? until : w->q->count - 1;
}

static const char *kind_of(const Drawing *w, int piece) {
  const ProblemPiece *p = &w->problem->pieces[piece];
  if (p->creator < 0) return "weights";
  ProblemPhase phase = w->problem->ops[w->problem->steps[p->creator].op].phase;
  return phase == PROBLEM_PHASE_FORWARD ? "activation" : phase == PROBLEM_PHASE_BACKWARD ? "gradient" : "optimizer";
}

static const PlanInterval *interval_of(const Drawing *w, int piece, int from) {
  for (int i = 0; i < w->plan->interval_count; i++)
    if (w->plan->intervals[i].piece == piece && w->plan->intervals[i].from == from) return &w->plan->intervals[i];
  return NULL;
}

static void add_block(const Drawing *w, json_t *list, const PlanStay *stay, int from, int until, int64_t offset, int64_t bytes) {
  const char *name = piece_name(w, stay->piece), *how = stay->in_move >= 0 ? "returned" : w->q->rerun[from] >= 0 ? "recomputed" : "made";
  json_array_append_new(list, of_piece(w, json_pack("{s:s, s:s, s:s, s:I, s:I, s:i, s:i, s:s, s:i, s:s}", "name", name, "kind", kind_of(w, stay->piece), "tier", "device", "offset", (json_int_t)offset, "bytes",
                                        (json_int_t)bytes, "first_step", first_step_of(w, from), "last_step", w->kernel_step[until] + 1, "value", name, "line", 0, "how", how), stay->piece));
}

static json_t *json_blocks(const Drawing *w) {
  json_t *list = json_array();
  for (int i = 0; i < w->q->stay_count; i++) {
    const PlanStay *stay = &w->q->stays[i];
    int from = stay_start(w, stay), until = stay_end(w, stay);
    const PlanInterval *v = until < from ? NULL : interval_of(w, stay->piece, from);
    if (v) add_block(w, list, stay, from, until, v->offset, w->problem->pieces[stay->piece].bytes);
  }
  return list;
}

static json_t *json_slots(const Drawing *w) {
  json_t *list = json_array();
  for (int i = 0; i < w->q->move_count; i++) {
    const PlanMove *move = &w->q->moves[i];
    int first = move->after >= 0 ? first_step_of(w, move->after + 1) : 1;
    json_array_append_new(list, of_piece(w, json_pack("{s:s, s:s, s:I, s:i, s:i, s:[]}", "value", piece_name(w, move->piece), "tier", tier_names[move->to], "bytes",
                                          (json_int_t)w->problem->pieces[move->piece].bytes, "first_step", first, "last_step", w->kernel_step[move->v] + 1, "extents"), move->piece));
  }
  return list;
}

/* Below the highest place in use, what is not alive. */
static int64_t *gaps_of(const Drawing *w) {
  int64_t *gaps = arena_alloc(w->arena, (size_t)(w->q->count + 1) * sizeof *gaps);
  for (int i = 0; i < w->plan->interval_count; i++) {
    const PlanInterval *v = &w->plan->intervals[i];
    int64_t end = v->offset + v->bytes;
    for (int s = v->from < 0 ? 0 : v->from; s <= v->until && s < w->q->count; s++)
      if (end - w->m->occupied_bytes[s] > gaps[s]) gaps[s] = end - w->m->occupied_bytes[s];
  }
  return gaps;
}

static json_t *json_memory(const Drawing *w) {
  static const char *const kinds[] = {"graph", "features", "weights", "optimizer", "activation", "gradient", "scratch"};
  int64_t(*sums)[7] = arena_alloc(w->arena, (size_t)(w->q->count + 1) * sizeof *sums);
  for (int i = 0; i < w->q->stay_count; i++)
    for (int s = stay_start(w, &w->q->stays[i]); s <= stay_end(w, &w->q->stays[i]); s++)
      for (int k = 0; k < 7; k++)
        if (strcmp(kinds[k], kind_of(w, w->q->stays[i].piece)) == 0) sums[s][k] += w->problem->pieces[w->q->stays[i].piece].bytes;
  json_t *list = json_array();
  for (int s = 0; s < w->q->count; s++) {
    int64_t rest = w->m->occupied_bytes[s];
    json_t *row = json_pack("{s:I, s:i, s:i, s:f, s:f, s:I, s:I, s:I}", "gaps", (json_int_t)w->gaps[s], "first_step", first_step_of(w, s), "step", w->kernel_step[s] + 1, "start_seconds", s ? seconds_of(w->m->end_ns[s - 1]) : 0.0,
                            "end_seconds", seconds_of(w->m->end_ns[s]), "device_bytes", (json_int_t)rest, "host_bytes", (json_int_t)w->away[TIER_HOST][s], "ssd_bytes", (json_int_t)w->away[TIER_SSD][s]);
    for (int k = 0; k < 7; k++) {
      int64_t bytes = k == 6 ? rest : sums[s][k] < rest ? sums[s][k] : rest;
      rest -= bytes;
      json_object_set_new(row, kinds[k], json_integer((json_int_t)bytes));
    }
    json_array_append_new(list, row);
  }
  return list;
}

static json_t *json_steps(const Drawing *w) {
  json_t *list = json_array();
  for (int i = 0; i < w->count; i++) {
    const Drawn *s = &w->steps[i];
    int b = s->boundary < w->q->count ? s->boundary : w->q->count - 1;
    json_t *item = json_pack("{s:i, s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:I, s:I, s:I, s:I, s:i}", "step", i + 1, "lane", s->lane, "phase", s->phase, "kernel", s->kernel, "what", s->what, "line", 0,
                             "start_seconds", seconds_of(s->start_ns), "seconds", seconds_of(s->ns), "bytes", (json_int_t)s->bytes, "device_bytes", (json_int_t)w->m->occupied_bytes[b], "host_bytes",
                             (json_int_t)w->away[TIER_HOST][b], "ssd_bytes", (json_int_t)w->away[TIER_SSD][b], "decided_by", s->decided_by + 1);
    if (s->step != NONE) {
      json_object_set_new(item, "flops", json_real(0));
      json_object_set_new(item, "reads", names(w, w->q->base[s->step], PROBLEM_USE_READ | PROBLEM_USE_UPDATE));
      json_object_set_new(item, "writes", names(w, w->q->base[s->step], PROBLEM_USE_CREATE | PROBLEM_USE_UPDATE));
      json_object_set_new(item, "frees", json_array());
      const ProblemStep *base = &w->problem->steps[w->q->base[s->step]];
      add_piece(item, w->problem->ops[base->op].id, w->problem->ops[base->op].chunks, base->chunk);
    } else {
      json_object_set_new(item, "value", json_string(piece_name(w, s->piece)));
      of_piece(w, item, s->piece);
    }
    if (s->waits_for != NONE) json_object_set_new(item, "waits_for", json_integer(s->waits_for + 1));
    if (s->to) json_object_update_new(item, json_pack("{s:s, s:s, s:[]}", "to", s->to, "from", s->from, "after"));
    for (int k = 0; s->to && k < 2; k++)
      if (s->after[k] != NONE) json_array_append_new(json_object_get(item, "after"), json_integer(s->after[k] + 1));
    json_array_append_new(list, item);
  }
  return list;
}

static Fate fate_in(const Sequence *q, int piece) {
  for (int i = 0; i < q->move_count; i++)
    if (q->moves[i].piece == piece) return tier_fate(q->moves[i].to);
  for (int i = 0; i < q->out_count; i++)
    if (q->outs[i] == piece) return FATE_RECOMPUTE;
  return FATE_KEEP;
}

bool problem_fates(Arena *arena, const Problem *problem, const PlannerPlan *plan, int fates[FATE_COUNT]) {
  const Sequence *q;
  const Simulation *m;
  if (!replay(plan, arena, &q, &m)) return false;
  for (int i = 0; i < problem->piece_count; i++)
    if (problem->pieces[i].creator >= 0 || fate_in(q, i) != FATE_KEEP) fates[fate_in(q, i)]++;
  return true;
}

typedef struct Rank {
  int piece;
  int64_t adds_ns, bytes;
} Rank;

static int compare_ranks(const void *a, const void *b) {
  const Rank *x = a, *y = b;
  if (x->adds_ns != y->adds_ns) return x->adds_ns < y->adds_ns ? 1 : -1;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->piece - y->piece;
}

static json_t *json_values(const Drawing *w) {
  Rank *ranks = arena_alloc(w->arena, (size_t)(w->problem->piece_count + 1) * sizeof *ranks);
  for (int i = 0; i < w->problem->piece_count; i++) ranks[i] = (Rank){i, w->adds_ns[i], w->problem->pieces[i].bytes};
  qsort(ranks, (size_t)w->problem->piece_count, sizeof *ranks, compare_ranks);
  json_t *list = json_array();
  for (int i = 0; i < w->problem->piece_count; i++) {
    int piece = ranks[i].piece, creator = w->problem->pieces[piece].creator;
    Fate fate = fate_in(w->q, piece);
    if (creator < 0 && fate == FATE_KEEP && ranks[i].adds_ns == 0) continue;
    json_array_append_new(list, of_piece(w, json_pack("{s:s, s:s, s:i, s:I, s:s, s:f, s:b, s:[]}", "value", piece_name(w, piece), "what", creator >= 0 ? step_name(w, creator) : "given", "line", 0, "bytes",
                                          (json_int_t)ranks[i].bytes, "fate", fate_names[fate], "adds_seconds", seconds_of(ranks[i].adds_ns), "pinned", 0, "alternatives"), piece));
  }
  return list;
}

static void add_lane(const Drawing *w, const char *lane, json_t *list) {
  int64_t busy = 0, waiting = 0;
  int count = 0;
  for (int k = 0; k < w->count; k++)
    if (strcmp(w->steps[k].lane, lane) == 0) *(w->steps[k].waits_for != NONE ? &waiting : &busy) += w->steps[k].ns, count++;
  if (count)
    json_array_append_new(list, json_pack("{s:s, s:i, s:f, s:f, s:f}", "lane", lane, "steps", count, "busy_seconds", seconds_of(busy), "wait_seconds", seconds_of(waiting), "idle_seconds",
                                          seconds_of(w->m->makespan_ns - busy - waiting)));
}

/* In the order that a program's have. */
static json_t *json_lanes(const Drawing *w) {
  json_t *list = json_array();
  for (int l = 0; l < w->problem->lane_count; l++) add_lane(w, lane_of(w->problem, l), list);
  return list;
}

static json_t *json_links(const Drawing *w) {
  const Problem *p = w->problem;
  json_t *list = json_array();
  for (int l = 0; l < p->lane_count; l++) {
    if (!p->lanes[l].is_present || (w->is_direct && l > LANE_H2D && l < LANE_COUNT)) continue;
    const char *lane = lane_of(p, !w->is_direct || l > LANE_H2D ? l : l == LANE_D2H ? LANE_SSD_WRITE : LANE_SSD_READ);
    json_array_append_new(list, json_pack("{s:s, s:f, s:f}", "lane", lane, "bandwidth", (double)p->lanes[l].bandwidth, "latency_seconds", seconds_of(p->lanes[l].latency_ns)));
  }
  return list;
}

static json_t *json_epoch(const Drawing *w) {
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "seconds", seconds_of(w->m->makespan_ns), "compute_seconds", seconds_of(w->compute_ns), "recompute_seconds", seconds_of(w->rerun_ns),
                   "wait_seconds", seconds_of(w->wait_ns), "transfer_seconds", seconds_of(w->transfer_ns), "evaluation_seconds", 0.0, "lower_bound_seconds", seconds_of(w->report->lower_bound_ns),
                   "is_optimal", w->report->is_optimal);
}

/* The step at which the arena is highest; of those the one where most is alive. */
static int peak_of(const Drawing *w) {
  const int64_t *alive = w->m->occupied_bytes;
  int peak = 0;
  for (int s = 0; s < w->q->count; s++) {
    int64_t above = alive[s] + w->gaps[s] - alive[peak] - w->gaps[peak];
    if (above > 0 || (above == 0 && alive[s] > alive[peak])) peak = s;
  }
  return peak;
}

/* The host and the SSD with what is at home there: the problem's budgets are for what comes besides. */
static void add_tier(const Drawing *w, json_t *tiers, Tier tier, int64_t budget) {
  int64_t peak = 0, room = budget;
  for (int s = 0; s < w->q->count; s++)
    if (w->away[tier][s] > peak) peak = w->away[tier][s];
  for (int i = 0; i < w->problem->piece_count; i++)
    if (w->problem->pieces[i].home == tier && __builtin_add_overflow(room, w->problem->pieces[i].bytes, &room)) room = INT64_MAX;
  json_object_set_new(tiers, tier_names[tier], json_pack("{s:I, s:I}", "peak_bytes", (json_int_t)peak, "budget_bytes", (json_int_t)room));
}

static json_t *json_tiers(const Drawing *w) {
  int peak = peak_of(w);
  json_t *tiers = json_pack("{s:{s:I, s:I, s:I}, s:I}", "device", "peak_bytes", (json_int_t)(w->m->occupied_bytes[peak] + w->gaps[peak]), "budget_bytes", (json_int_t)w->problem->device_bytes,
                            "lower_bound_bytes", (json_int_t)w->report->peak_bytes, "ring_bytes", (json_int_t)w->problem->ring_bytes);
  add_tier(w, tiers, TIER_HOST, w->problem->host_bytes);
  add_tier(w, tiers, TIER_SSD, w->problem->ssd_bytes);
  return tiers;
}

static json_t *json_whole(const Drawing *w, const char *plan_text, size_t length) {
  const Problem *p = w->problem;
  json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:{s:s, s:f, s:f, s:f, s:b, s:o}, s:o}", "format", "gnncc-report/1", "generator", "generated by gnncc", "model", p->name,
                           "data", "a planning problem", "target", "as given", "fingerprint", "", "figures", "estimated", "fits", 1, "tiers", json_tiers(w), "machine", "device", "device",
                           "bandwidth", 0.0, "flops", 0.0, "step_seconds", 0.0, "is_measured", 0, "links", json_links(w), "epoch",
                           json_epoch(w));
  json_object_update_new(root, json_pack("{s:i, s:i, s:o, s:[], s:{s:s, s:[]}, s:o, s:o, s:o, s:o, s:o, s:o}", "training_steps", w->count, "peak_step", shown_kernel(w, peak_of(w)) + 1, "lanes",
                                         json_lanes(w), "notes", "source", "file", p->name, "lines", "values", json_values(w), "blocks", json_blocks(w), "homes", json_slots(w), "memory", json_memory(w),
                                         "steps", json_steps(w), "plan", json_loadb(plan_text, length, 0, NULL)));
  return root;
}

char *problem_report_text(Arena *arena, const Problem *problem, bool is_direct, const PlannerPlan *plan, const PlannerReport *report, const Sweep *sweep) {
  const Sequence *q;
  const Simulation *m;
  if (!replay(plan, arena, &q, &m)) return NULL;
  Drawing w = {.arena = arena, .problem = problem, .is_direct = is_direct, .plan = plan, .report = report, .q = q, .m = m};
  w.adds_ns = arena_alloc(arena, (size_t)(problem->piece_count + 1) * sizeof *w.adds_ns);
  draw_steps(&w);
  sum_away(&w);
  w.gaps = gaps_of(&w);
  size_t length;
  const char *plan_text = plan_write_json(plan, arena, &length);
  json_t *root = json_whole(&w, plan_text, length);
  if (sweep) json_object_set_new(root, "sweep", sweep_json(sweep));
  char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
  json_decref(root);
  return text;
}
