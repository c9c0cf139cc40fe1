/* schedule: Plan -> Schedule, numbered steps on lanes with their times.
 *
 * The order, and who waits for whom, is that of the planner's timeline.
 */
#include <math.h>
#include <inttypes.h>
#include <string.h>

#include "plan.h"
#include "compiler/base/time_unit.h"
#include "compiler/planner/timeline.h"

typedef struct Scheduling {
  Arena *arena;
  const Machine *machine;
  Schedule *schedule;
  const PlanningProblem *problem;
  const Sequence *q;
  const Timeline *timeline;
  int first_boundary; /* of this plan in the whole schedule */
  int *copy_of_event; /* NO_INDEX for those that are none */
  int *slot;          /* per offload: index into slots */
} Scheduling;

static double seconds_of(int64_t ns) { return 1e-9 * (double)ns; }

static ValueId value_of_piece(const Scheduling *c, int piece) {
  return c->problem->value_of_datum[c->q->problem->pieces[piece].datum];
}

static int part_of_piece(const Scheduling *c, int piece) { return problem_part_of_piece(c->problem, piece); }

static Step *add_step(Scheduling *c, const TimelineEvent *event, Step step) {
  Schedule *s = c->schedule;
  step.number = s->count + 1;
  step.kernels = c->problem->kernels;
  step.parts = c->problem->parts;
  step.boundary = c->first_boundary + (event->boundary < c->q->count ? event->boundary : c->q->count - 1); /* the end of all copies belongs to the last */
  step.start_seconds = seconds_of(event->start_ns);
  step.cost.seconds = seconds_of(event->ns);
  ARENA_PUSH(c->arena, s->steps, s->count, step);
  return &s->steps[s->count - 1];
}

/* ---- copies ---- */

/* The last boundary at which the tier's copy of an offload is read: clean moves read it again (S12). */
static int last_read(const Scheduling *c, int offload) {
  int last = 0;
  for (int i = 0; i < c->q->move_count; i++)
    if (c->timeline->origin[i] == offload && c->q->moves[i].v > last) last = c->q->moves[i].v;
  return last;
}

/* Where data lie that stay away from the device, or end there. */
static int home_slot(Scheduling *c, ValueId value, int part) {
  const Residents *residents = c->problem->residents;
  const int away = resident_away(residents, c->problem->kernels->graph, value);
  Slot slot = {.tier = parts_home(c->problem->parts, residents, away, part), .bytes = parts_bytes(c->problem->parts, value, part), .kernels = c->problem->kernels, .value = value, .part = part,
               .is_home = true, .away = away};
  Schedule *s = c->schedule;
  for (int h = 0; h < s->slot_count; h++)
    if (s->slots[h].is_home && s->slots[h].away == away && s->slots[h].part == part) return h;
  ARENA_PUSH(c->arena, s->slots, s->slot_count, slot);
  return s->slot_count - 1;
}

static void add_slot(Scheduling *c, const TimelineEvent *out) {
  ValueId value = value_of_piece(c, out->piece);
  int part = part_of_piece(c, out->piece);
  if (c->q->offloads[out->offload].move < 0) {
    c->slot[out->offload] = home_slot(c, value, part);
    return;
  }
  Slot slot = {.tier = out->is_ssd ? TIER_SSD : TIER_HOST, .bytes = parts_bytes(c->problem->parts, value, part), .first = c->first_boundary + out->boundary,
               .last = c->first_boundary + last_read(c, out->offload), .kernels = c->problem->kernels, .value = value, .part = part};
  ARENA_PUSH(c->arena, c->schedule->slots, c->schedule->slot_count, slot);
  c->slot[out->offload] = c->schedule->slot_count - 1;
}

/* Where the SSD is the device's own, what the planner calls d2h and h2d are its lanes. */
static Lane lane_of(const Scheduling *c, const TimelineEvent *event) {
  if (!c->timeline->is_direct || !event->is_ssd) return (Lane)event->lane;
  return event->kind == EVENT_OUT ? LANE_SSD_WRITE : LANE_SSD_READ;
}

static const char *copy_text(const Scheduling *c, const TimelineEvent *event, const char *name) {
  const char *tier = tier_names[event->is_ssd ? TIER_SSD : TIER_HOST], *end = event->is_by_ring ? "ring" : tier;
  if (event->kind == EVENT_OUT) return arena_printf(c->arena, "out %s -> %s", name, end);
  if (event->kind == EVENT_WRITE) return arena_printf(c->arena, "out %s ring -> ssd", name);
  if (event->kind == EVENT_READ) return arena_printf(c->arena, "in %s ssd -> ring", name);
  return arena_printf(c->arena, "in %s <- %s", name, end);
}

static const char *said_piece(const Scheduling *c, ValueId value, int part) {
  return parts_name(c->problem->parts, value, c->problem->kernels->graph->values[value].said, part);
}

static void add_copy(Scheduling *c, int index) {
  const TimelineEvent *event = &c->timeline->events[index];
  Schedule *s = c->schedule;
  ValueId value = value_of_piece(c, event->piece);
  int part = part_of_piece(c, event->piece);
  bool is_out = event->kind == EVENT_OUT || event->kind == EVENT_WRITE;
  if (event->kind == EVENT_OUT) add_slot(c, event);
  /* The block of the device holds the value at the step before what leaves, and at the boundary of what comes. */
  int held = is_out ? c->q->offloads[event->offload].after : c->q->moves[event->move].g;
  Copy copy = {.lane = lane_of(c, event), .kernels = c->problem->kernels, .value = value, .part = part, .bytes = parts_bytes(c->problem->parts, value, part),
               .room = c->q->problem->pieces[event->piece].bytes, .tier = event->is_ssd ? TIER_SSD : TIER_HOST, .is_out = is_out, .is_by_ring = event->is_by_ring,
               .boundary = c->first_boundary + held, .step = s->count};
  const int stored = is_out ? event->offload : c->timeline->origin[event->move];
  copy.slot = stored >= 0 ? c->slot[stored] : home_slot(c, value, part);
  for (int k = 0; k < 2; k++) copy.after[k] = event->after[k] < 0 ? NO_INDEX : c->copy_of_event[event->after[k]];
  ARENA_PUSH(c->arena, s->copies, s->copy_count, copy);
  c->copy_of_event[index] = s->copy_count - 1;
  add_step(c, event, (Step){.kind = STEP_COPY, .lane = copy.lane, .kernel = NO_INDEX, .copy = s->copy_count - 1, .cost = {.bytes = copy.bytes},
                            .place = copy.kernels->graph->values[value].place, .what = copy_text(c, event, problem_piece_name(c->problem, value, part)),
                            .said = copy_text(c, event, said_piece(c, value, part))});
}

/* ---- exchanges ---- */

/* What the kernel has packed leaves, and its table is whole. The block of the table is that of the kernel's boundary, the step comes before the next one. */
static void add_exchange(Scheduling *c, int index) {
  const TimelineEvent *event = &c->timeline->events[index];
  Schedule *s = c->schedule;
  const Kernels *kernels = c->problem->kernels;
  const Kernel *kernel = &kernels->kernels[c->problem->kernel_of_op[c->q->problem->steps[c->q->base[event->boundary]].op]];
  const ExchangeCost cost = exchange_of_kernel(c->machine, kernels, kernel);
  const char *name = kernels->graph->values[kernel->anchor].name, *said = kernels->graph->values[kernel->anchor].said;
  static const char format[] = "exchange %s%s: %" PRId64 " bytes in all, at most %" PRId64 " of one rank";
  const char *exchange = exchange_variant(kernel, cost.passes_host), *variant = strcmp(exchange, "halo") == 0 ? "" : arena_printf(c->arena, " (%s)", exchange);
  Copy copy = {.lane = LANE_NET, .kernels = kernels, .value = kernel->anchor, .bytes = exchange_most_rows(kernels, kernel) * kernel_exchange_row_bytes(kernels, kernel), .tier = TIER_NONE, .boundary = c->first_boundary + event->boundary, .step = s->count, .slot = NO_INDEX,
               .after = {NO_INDEX, NO_INDEX}, .exchange = cost};
  TimelineEvent next = *event;
  next.boundary++;
  ARENA_PUSH(c->arena, s->copies, s->copy_count, copy);
  c->copy_of_event[index] = s->copy_count - 1;
  add_step(c, &next, (Step){.kind = STEP_COPY, .lane = LANE_NET, .kernel = NO_INDEX, .copy = s->copy_count - 1, .cost = {.bytes = cost.most_bytes}, .place = kernels->graph->values[kernel->anchor].place,
                            .what = arena_printf(c->arena, format, name, variant, cost.bytes, cost.most_bytes), .said = arena_printf(c->arena, format, said, variant, cost.bytes, cost.most_bytes)});
}

/* ---- waits and kernels ---- */

static void add_wait(Scheduling *c, const TimelineEvent *event) {
  int copy = c->copy_of_event[event->waits_for];
  const Copy *waited = &c->schedule->copies[copy];
  const bool is_resident = resident_of_value(c->problem->residents, c->problem->kernels->graph, waited->value) != NULL; /* a table that is there from then on */
  const char *name = is_resident ? c->problem->kernels->graph->values[waited->value].name : problem_piece_name(c->problem, waited->value, waited->part);
  bool is_arrival = event->reason == WAIT_ARRIVAL;
  static const char *const reasons[] = {[WAIT_PLACE] = "wait for step %d: the place of %s is needed", [WAIT_ARRIVAL] = "wait for step %d: %s is read", [WAIT_END] = "wait for step %d: all is over when %s is there"};
  const char *what = arena_printf(c->arena, reasons[event->reason], waited->step + 1, name);
  const char *said = arena_printf(c->arena, reasons[event->reason], waited->step + 1, said_piece(c, waited->value, waited->part));
  add_step(c, event, (Step){.kind = STEP_WAIT, .lane = LANE_COMPUTE, .kernel = NO_INDEX, .copy = copy, .is_arrival = is_arrival,
                            .place = waited->kernels->graph->values[waited->value].place, .what = what, .said = said});
}

static const char *kernel_text(const Scheduling *c, const char *what, int part) {
  return part ? arena_printf(c->arena, "%s [%d/%d]", what, part, c->problem->parts->count) : what;
}

static const char *sending_text(const Scheduling *c, const char *name) { return arena_printf(c->arena, "what other ranks gather of %s", name); }

static void add_kernel(Scheduling *c, const TimelineEvent *event) {
  int t = event->boundary;
  Schedule *s = c->schedule;
  const ProblemStep *base = &c->q->problem->steps[c->q->base[t]];
  int32_t index = c->problem->kernel_of_op[base->op];
  if (c->q->problem->ops[base->op].phase == PROBLEM_PHASE_OPTIMISER && s->backward_end == 0) s->backward_end = s->count;
  ARENA_PUSH(c->arena, s->kernel_step, s->boundary_count, s->count);
  if (index == NO_INDEX) { /* the reader of the scores is no step; its boundary ends with what comes before */
    s->kernel_step[s->boundary_count - 1] = s->count - 1;
    return;
  }
  const Kernel *kernel = &c->problem->kernels->kernels[index];
  const Parts *parts = c->problem->parts;
  const bool is_sending = parts_make_table(parts, kernel) && c->q->problem->ops[base->op].chunks == 1;
  int part = parts->is_by_parts[index] && !is_sending ? base->chunk + 1 : 0;
  const Cost cost = is_sending ? cost_of_sending(c->machine, kernel) : cost_of_part(parts, kernel, cost_of_kernel(c->machine, c->problem->kernels, kernel, NULL), part);
  const ValueId anchor = kernel->anchor;
  const Graph *graph = c->problem->kernels->graph;
  add_step(c, event, (Step){.kind = STEP_KERNEL, .lane = LANE_COMPUTE, .kernel = index, .part = part, .is_rerun = c->q->rerun[t] >= 0, .copy = NO_INDEX,
                            .cost = cost, .place = graph->values[anchor].place, .what = is_sending ? sending_text(c, graph->values[anchor].name) : kernel_text(c, kernel_what(c->problem->kernels, kernel), part),
                            .said = is_sending ? sending_text(c, graph->values[anchor].said) : kernel_text(c, kernel_said(c->problem->kernels, kernel), part)});
}

static void append(Arena *arena, const Machine *machine, Schedule *schedule, const Plan *plan) {
  const Timeline *t = timeline(arena, plan->sequence, plan->simulation, machine_reaches_ssd(machine));
  Scheduling c = {.arena = arena, .machine = machine, .schedule = schedule, .problem = plan->problem, .q = plan->sequence, .timeline = t,
                  .first_boundary = schedule->boundary_count};
  c.copy_of_event = arena_alloc(arena, (size_t)(t->count + 1) * sizeof *c.copy_of_event);
  c.slot = arena_alloc(arena, (size_t)(c.q->offload_count + 1) * sizeof *c.slot);
  for (int i = 0; i < t->count; i++) {
    c.copy_of_event[i] = NO_INDEX;
    switch (t->events[i].kind) {
    case EVENT_KERNEL: add_kernel(&c, &t->events[i]); break;
    case EVENT_OUT:
    case EVENT_WRITE:
    case EVENT_READ:
    case EVENT_IN: add_copy(&c, i); break;
    case EVENT_WAIT: add_wait(&c, &t->events[i]); break;
    case EVENT_STAGE: add_exchange(&c, i); break;
    }
  }
}

static struct NetTotals sum_exchanges(const Schedule *s, int first, int last) {
  struct NetTotals t = {0};
  for (int i = first; i < last; i++) {
    const Step *step = &s->steps[i];
    if (step->kind == STEP_KERNEL || !copy_is_exchange(&s->copies[step->copy])) continue;
    const ExchangeCost *cost = &s->copies[step->copy].exchange;
    if (step->kind == STEP_WAIT) t.wait_seconds += step->cost.seconds;
    else t.exchanges++, t.transposed += copy_kernel(&s->copies[step->copy])->kind != KERNEL_HALO, t.by_host += cost->passes_host, t.bytes += cost->bytes, t.most_bytes += cost->most_bytes, t.seconds += step->cost.seconds;
  }
  return t;
}

static void sum_times(Schedule *s) {
  for (int i = 0; i < s->training_count; i++) {
    const Step *step = &s->steps[i];
    if (step->kind == STEP_WAIT) s->wait_seconds += step->cost.seconds;
    if (step->kind == STEP_KERNEL && step->is_rerun) s->rerun_seconds += step->cost.seconds - step->slowed_seconds;
    s->slowed_seconds += step->slowed_seconds;
  }
  s->net = sum_exchanges(s, 0, s->training_count > 0 ? s->training_count : s->count);
  s->net_once = sum_exchanges(s, s->count, schedule_step_count(s));
}

/* They go on behind all others, and are none of `count`. */
static void append_once(Arena *arena, const Machine *machine, Schedule *s, const Plan *once) {
  const int first = s->count;
  append(arena, machine, s, once);
  s->once_seconds = slow_compute(arena, machine, s, first, seconds_of(once->simulation->makespan_ns));
  s->once_count = s->count - first;
  s->count = first;
}

Schedule *schedule(Arena *arena, const Machine *machine, const Plan *training, const Plan *evaluation, const Plan *once) {
  Schedule *s = arena_alloc(arena, sizeof *s);
  s->training_plan = training;
  s->evaluation_plan = evaluation;
  s->once_plan = once;
  if (training) {
    append(arena, machine, s, training);
    s->training_seconds = slow_compute(arena, machine, s, 0, seconds_of(training->simulation->makespan_ns));
    if (s->backward_end == 0) s->backward_end = s->count;
    double later = 0; /* the next epoch begins it, and waits where it is longer than an epoch */
    for (int c = 0; c < s->copy_count; c++) later += s->copies[c].exchange.later_seconds;
    s->training_seconds = fmax(s->training_seconds, later);
  }
  s->training_count = s->count;
  s->training_boundaries = s->boundary_count;
  append(arena, machine, s, evaluation);
  s->evaluation_seconds = slow_compute(arena, machine, s, s->training_count, seconds_of(evaluation->simulation->makespan_ns));
  s->once_boundary = s->boundary_count;
  if (once) append_once(arena, machine, s, once);
  for (int h = 0; h < s->slot_count; h++) {
    Slot *slot = &s->slots[h];
    const bool are_scores = slot->is_home && slot->tier == TIER_HOST && slot->away == evaluation->problem->residents->scores_away; /* there in an evaluation alone */
    if (are_scores) slot->first = s->training_boundaries, slot->last = s->once_boundary - 1;
    else if (slot->is_home) slot->last = s->boundary_count - 1;
  }
  sum_times(s);
  return s;
}

const PlanningProblem *schedule_problem(const Schedule *s, const Kernels *kernels) {
  const Plan *const plans[] = {s->training_plan, s->evaluation_plan, s->once_plan};
  for (int i = 0; i < 3; i++)
    if (plans[i] && plans[i]->problem->kernels == kernels) return plans[i]->problem;
  return NULL;
}

int schedule_slot_at(const Schedule *s, const Kernels *kernels, ValueId value, int part, int step) {
  const int boundary = s->steps[step].boundary;
  for (int h = 0; h < s->slot_count; h++) {
    const Slot *slot = &s->slots[h];
    const bool is_of_piece = !slot->is_home && slot->kernels == kernels && slot->part == part && kernels->storage[slot->value] == kernels->storage[value];
    if (is_of_piece && slot->first <= boundary && boundary <= slot->last) return h;
  }
  return NO_INDEX;
}

static int exchanges_by(const Schedule *s, bool passes_host) {
  int count = 0;
  for (int c = 0; c < s->copy_count; c++) count += copy_is_exchange(&s->copies[c]) && s->copies[c].exchange.passes_host == passes_host;
  return count;
}

/* Sums have no other to go with where there is no exchange. */
bool schedule_passes_directly(const Schedule *s, const Machine *machine) {
  return exchanges_by(s, false) > 0 || (exchanges_by(s, true) == 0 && machine->way != WAY_BY_HOST);
}

bool schedule_passes_host(const Schedule *s, const Machine *machine) { return exchanges_by(s, true) > 0 || !schedule_passes_directly(s, machine); }

bool schedule_keeps_all(const Schedule *s) {
  for (int i = 0; i < schedule_step_count(s); i++)
    if (s->steps[i].kind == STEP_KERNEL ? s->steps[i].is_rerun : !copy_is_exchange(&s->copies[s->steps[i].copy])) return false;
  return true;
}

const char *schedule_phase(const Schedule *schedule, int step) {
  static const char *const phases[] = {"forward", "backward", "update"};
  const Step *s = &schedule->steps[step];
  if (s->kind == STEP_COPY && s->lane == LANE_NET) return "exchange";
  if (s->kind != STEP_KERNEL) return s->kind == STEP_COPY ? "move" : "wait";
  if (s->is_rerun) return "recompute";
  if (step >= schedule->count) return "once";
  return step < schedule->training_count ? phases[s->kernels->kernels[s->kernel].phase] : "eval";
}

void schedule_print(const Schedule *schedule, bool is_said, FILE *out) {
  const TimeUnit unit = time_unit(schedule->training_count ? schedule->training_seconds : schedule->evaluation_seconds);
  fprintf(out, " step  %-9s %7s %2s %6s %2s  %-9s %5s  what\n", "lane", "start", unit.name, "took", unit.name, "phase", "src");
  for (int s = 0; s < schedule_step_count(schedule); s++) {
    const Step *step = &schedule->steps[s];
    fprintf(out, "%5d  %-9s %10.3f %9.3f  %-9s %5d  %s\n", step->number, lane_names[step->lane], unit.per_second * step->start_seconds, unit.per_second * step->cost.seconds,
            schedule_phase(schedule, s), (int)step->place.line, is_said ? step->said : step->what);
  }
}
