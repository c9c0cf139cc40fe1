/* schedule: Plan -> Schedule, numbered steps on lanes with their times.
 *
 * The order is that in which S13 of docs/planner.md queues tasks; at the boundary before a kernel: what leaves, the wait
 * for the places that are needed, what comes back, the wait for what the kernel reads, the kernel. A wait names the
 * last copy of a lane, whose queue is first in, first out. Reads from the SSD through the staging ring are queued as
 * soon as those before them are: the ring alone holds them back (S16).
 */
#include <string.h>

#include "plan.h"

const char *lane_name(Lane lane) {
  static const char *const names[LANE_COUNT] = {"compute", "d2h", "h2d", "ssd write", "ssd read"};
  return names[lane];
}

typedef struct Scheduling {
  Arena *arena;
  const Machine *machine;
  Schedule *schedule;
  const Plan *plan;
  const PlanningProblem *problem;
  const Sequence *q;
  const Simulation *m;
  bool is_direct;     /* the SSD is reached from the device itself */
  int first_boundary; /* of this plan in the whole schedule */
  int boundary;       /* extended step of the plan */
  int *out_copy;      /* per offload: the copy that leaves the device */
  int *stored_copy;   /* per offload: the copy that ends in the tier */
  int *in_copy;       /* per move: the copy that arrives on the device */
  int *read_copy;     /* per move: the read into the ring, or NO_INDEX */
  int *home;          /* per offload: index into homes */
  int written, read;  /* ring entries let go of so far: offloads, returns in queue order */
  int64_t written_held, read_held;
  int *reads;         /* SSD returns by the ring in queue order */
  int read_count, next_read;
  int64_t ssdw_free_ns;
} Scheduling;

static double seconds_of(int64_t ns) { return 1e-9 * (double)ns; }

static ValueId value_of_piece(const Scheduling *c, int piece) {
  return c->problem->value_of_datum[c->q->problem->pieces[piece].datum];
}

static const char *name_of_piece(const Scheduling *c, int piece) { return c->problem->name_of_value[value_of_piece(c, piece)]; }

static Step *add_step(Scheduling *c, Step step) {
  Schedule *s = c->schedule;
  step.number = s->count + 1;
  step.kernels = c->problem->kernels;
  step.boundary = c->first_boundary + c->boundary;
  ARENA_PUSH(c->arena, s->steps, s->count, step);
  return &s->steps[s->count - 1];
}

static int add_copy(Scheduling *c, Copy copy, int64_t start_ns, int64_t took_ns, const char *what) {
  Schedule *s = c->schedule;
  copy.kernels = c->problem->kernels;
  copy.step = s->count;
  ARENA_PUSH(c->arena, s->copies, s->copy_count, copy);
  add_step(c, (Step){.kind = STEP_COPY, .lane = copy.lane, .kernel = NO_INDEX, .copy = s->copy_count - 1, .start_seconds = seconds_of(start_ns),
                     .cost = {.seconds = seconds_of(took_ns), .bytes = copy.bytes}, .place = copy.kernels->graph->values[copy.value].place,
                     .what = what});
  return s->copy_count - 1;
}

static const char *tier_name(PlanFate tier) { return tier == PLAN_FATE_HOST ? "host" : "ssd"; }

/* ---- out ---- */

/* The last boundary at which the tier's copy of an offload is read: clean moves read it again (S12). */
static int last_read(const Scheduling *c, int offload) {
  const PlanOffload *o = &c->q->offloads[offload];
  int last = 0;
  for (int i = 0; i < c->q->move_count; i++) {
    const PlanMove *move = &c->q->moves[i];
    if (move->piece == o->piece && move->to == c->q->moves[o->move].to && move->v > last) last = move->v;
  }
  return last;
}

/* S16: the write whose end leaves room in the ring, NO_INDEX if there is room. */
static int wait_for_write_ring(Scheduling *c, int offload) {
  int wait = NO_INDEX;
  int64_t bytes = c->q->problem->pieces[c->q->offloads[offload].piece].bytes;
  for (; c->written < offload && c->written_held + bytes > c->q->problem->ring_bytes; c->written++) {
    const PlanOffload *older = &c->q->offloads[c->written];
    if (c->q->moves[older->move].to != PLAN_FATE_SSD) continue;
    wait = c->stored_copy[c->written];
    c->written_held -= c->q->problem->pieces[older->piece].bytes;
  }
  c->written_held += bytes;
  return wait;
}

static void queue_out(Scheduling *c, int i) {
  const PlanOffload *offload = &c->q->offloads[i];
  const ProblemPiece *piece = &c->q->problem->pieces[offload->piece];
  PlanFate tier = c->q->moves[offload->move].to;
  bool is_ssd = tier == PLAN_FATE_SSD, is_by_ring = is_ssd && !c->is_direct;
  ValueId value = value_of_piece(c, offload->piece);
  int64_t bytes = kernels_bytes(c->problem->kernels, value);
  Home home = {.tier = tier, .bytes = bytes, .first = c->first_boundary + offload->after + 1, .last = c->first_boundary + last_read(c, i),
               .kernels = c->problem->kernels, .value = value};
  ARENA_PUSH(c->arena, c->schedule->homes, c->schedule->home_count, home);
  c->home[i] = c->schedule->home_count - 1;
  Copy copy = {.lane = is_ssd && c->is_direct ? LANE_SSD_WRITE : LANE_D2H, .value = value, .bytes = bytes, .room = piece->bytes, .tier = tier, .is_out = true,
               .is_by_ring = is_by_ring, .boundary = c->first_boundary + offload->after, .home = c->home[i],
               .after = {is_by_ring ? wait_for_write_ring(c, i) : NO_INDEX, NO_INDEX}};
  const char *name = name_of_piece(c, offload->piece);
  int64_t done = c->m->out_done_ns[i];
  c->out_copy[i] = c->stored_copy[i] =
      add_copy(c, copy, c->m->out_start_ns[i], done - c->m->out_start_ns[i], arena_printf(c->arena, "out %s -> %s", name, is_by_ring ? "ring" : tier_name(tier)));
  if (!is_by_ring) return;
  copy.lane = LANE_SSD_WRITE;
  copy.after[0] = c->out_copy[i];
  int64_t start = c->ssdw_free_ns > done ? c->ssdw_free_ns : done;
  c->ssdw_free_ns = start + piece->ssdw_ns;
  c->stored_copy[i] = add_copy(c, copy, start, piece->ssdw_ns, arena_printf(c->arena, "out %s ring -> ssd", name));
}

/* ---- in ---- */

/* The offload that made the copy in the tier which a return reads. */
static int origin_of(const Scheduling *c, int move) {
  int origin = NO_INDEX;
  for (int i = 0; i < c->q->offload_count; i++) {
    const PlanOffload *o = &c->q->offloads[i];
    if (o->piece == c->q->moves[move].piece && c->q->moves[o->move].to == c->q->moves[move].to) origin = i;
  }
  return origin;
}

static Copy return_of(const Scheduling *c, int move) {
  const PlanMove *m = &c->q->moves[move];
  ValueId value = value_of_piece(c, m->piece);
  return (Copy){.value = value, .bytes = kernels_bytes(c->problem->kernels, value),
                .room = c->q->problem->pieces[m->piece].bytes, .tier = m->to, .boundary = c->first_boundary + m->g,
                .home = c->home[origin_of(c, move)], .after = {NO_INDEX, NO_INDEX}};
}

static void queue_read(Scheduling *c, int k) {
  int move = c->reads[k];
  const ProblemPiece *piece = &c->q->problem->pieces[c->q->moves[move].piece];
  Copy copy = return_of(c, move);
  copy.lane = LANE_SSD_READ;
  copy.is_by_ring = true;
  copy.after[0] = c->stored_copy[origin_of(c, move)];
  for (; c->read < k && c->read_held + piece->bytes > c->q->problem->ring_bytes; c->read++) {
    copy.after[1] = c->in_copy[c->reads[c->read]];
    c->read_held -= c->q->problem->pieces[c->q->moves[c->reads[c->read]].piece].bytes;
  }
  c->read_held += piece->bytes;
  c->read_copy[move] = add_copy(c, copy, c->m->read_start_ns[move], piece->ssdr_ns,
                                arena_printf(c->arena, "in %s ssd -> ring", name_of_piece(c, c->q->moves[move].piece)));
}

/* A read may be queued when its value is on its way to the SSD and the return it takes its room from is queued. */
static bool can_queue_read(const Scheduling *c, int k) {
  int move = c->reads[k], oldest = c->read;
  const ProblemPiece *pieces = c->q->problem->pieces;
  if (c->q->offloads[origin_of(c, move)].after >= c->boundary) return false;
  int64_t held = c->read_held;
  for (; oldest < k && held + pieces[c->q->moves[move].piece].bytes > c->q->problem->ring_bytes; oldest++) {
    if (c->in_copy[c->reads[oldest]] == NO_INDEX) return false;
    held -= pieces[c->q->moves[c->reads[oldest]].piece].bytes;
  }
  return true;
}

static void queue_reads(Scheduling *c) {
  while (c->next_read < c->read_count && can_queue_read(c, c->next_read)) queue_read(c, c->next_read++);
}

static void queue_in(Scheduling *c, int move) {
  const PlanMove *m = &c->q->moves[move];
  bool is_ssd = m->to == PLAN_FATE_SSD, is_by_ring = is_ssd && !c->is_direct;
  Copy copy = return_of(c, move);
  copy.lane = is_ssd && c->is_direct ? LANE_SSD_READ : LANE_H2D;
  copy.is_by_ring = is_by_ring;
  copy.after[0] = is_by_ring ? c->read_copy[move] : c->stored_copy[origin_of(c, move)];
  c->in_copy[move] = add_copy(c, copy, c->m->in_start_ns[move], c->m->in_done_ns[move] - c->m->in_start_ns[move],
                              arena_printf(c->arena, "in %s <- %s", name_of_piece(c, m->piece), is_by_ring ? "ring" : tier_name(m->to)));
}

/* ---- waits and kernels ---- */

static void add_wait(Scheduling *c, int copy, bool is_arrival, int64_t from_ns, int64_t to_ns) {
  const Copy *waited = &c->schedule->copies[copy];
  const char *name = c->problem->name_of_value[waited->value];
  const char *what = is_arrival ? arena_printf(c->arena, "wait for step %d: %s is read", waited->step + 1, name)
                                : arena_printf(c->arena, "wait for step %d: the place of %s is needed", waited->step + 1, name);
  add_step(c, (Step){.kind = STEP_WAIT, .lane = LANE_COMPUTE, .kernel = NO_INDEX, .copy = copy, .is_arrival = is_arrival,
                     .start_seconds = seconds_of(from_ns), .cost = {.seconds = seconds_of(to_ns - from_ns)}, .place = waited->kernels->graph->values[waited->value].place,
                     .what = what});
}

static void wait_for_places(Scheduling *c, int64_t now_ns) {
  int copy = NO_INDEX;
  for (int i = 0; i < c->q->offload_count; i++)
    if (c->m->release[i] == c->boundary) copy = c->out_copy[i];
  if (copy != NO_INDEX) add_wait(c, copy, false, now_ns, c->m->boundary_ns[c->boundary]);
}

/* Each lane's last arrival: host and SSD come by one lane, except where the SSD is reached directly. */
static void wait_for_arrivals(Scheduling *c) {
  int last = NO_INDEX;
  for (int i = 0; i < c->q->move_count; i++)
    if (c->q->moves[i].v == c->boundary && c->in_copy[i] > last) last = c->in_copy[i];
  if (last != NO_INDEX) add_wait(c, last, true, c->m->boundary_ns[c->boundary], c->m->start_ns[c->boundary]);
}

static void add_kernel(Scheduling *c) {
  int t = c->boundary;
  int32_t index = c->problem->kernel_of_op[c->q->problem->steps[c->q->base[t]].op];
  Schedule *s = c->schedule;
  ARENA_PUSH(c->arena, s->kernel_step, s->boundary_count, s->count);
  if (index == NO_INDEX) { /* the reader of the scores is no step; its boundary ends with what comes before */
    s->kernel_step[s->boundary_count - 1] = s->count - 1;
    return;
  }
  const Kernel *kernel = &c->problem->kernels->kernels[index];
  Step step = {.kind = STEP_KERNEL, .lane = LANE_COMPUTE, .kernel = index, .is_rerun = c->q->rerun[t] >= 0, .copy = NO_INDEX,
               .start_seconds = seconds_of(c->m->start_ns[t]), .cost = cost_of_kernel(c->machine, c->problem->kernels, kernel, NULL)};
  step.place = c->problem->kernels->graph->values[kernel->anchor].place;
  step.what = kernel_what(c->problem->kernels, kernel);
  step.cost.seconds = seconds_of(c->m->end_ns[t] - c->m->start_ns[t]);
  add_step(c, step);
}

static int *no_indices(Arena *arena, int count) {
  int *list = arena_alloc(arena, (size_t)(count + 1) * sizeof *list);
  for (int i = 0; i < count; i++) list[i] = NO_INDEX;
  return list;
}

static void find_reads(Scheduling *c) {
  for (int g = 0; g < c->q->count && !c->is_direct; g++)
    for (int i = 0; i < c->q->move_count; i++)
      if (c->q->moves[i].g == g && c->q->moves[i].to == PLAN_FATE_SSD) ARENA_PUSH(c->arena, c->reads, c->read_count, i);
}

static void append(Arena *arena, const Machine *machine, Schedule *schedule, const Plan *plan) {
  const Sequence *q = plan->sequence;
  Scheduling c = {.arena = arena, .machine = machine, .schedule = schedule, .plan = plan, .problem = plan->problem, .q = q, .m = plan->simulation,
                  .is_direct = machine_reaches_ssd(machine), .first_boundary = schedule->boundary_count};
  c.out_copy = no_indices(arena, q->offload_count);
  c.stored_copy = no_indices(arena, q->offload_count);
  c.home = no_indices(arena, q->offload_count);
  c.in_copy = no_indices(arena, q->move_count);
  c.read_copy = no_indices(arena, q->move_count);
  find_reads(&c);
  int next_out = 0;
  int64_t now_ns = 0;
  for (c.boundary = 0; c.boundary < q->count; c.boundary++) {
    for (; next_out < q->offload_count && q->offloads[next_out].after == c.boundary - 1; next_out++) queue_out(&c, next_out);
    wait_for_places(&c, now_ns);
    queue_reads(&c);
    for (int i = 0; i < q->move_count; i++)
      if (q->moves[i].g == c.boundary) {
        queue_in(&c, i);
        queue_reads(&c);
      }
    wait_for_arrivals(&c);
    bool is_update = q->problem->ops[q->problem->steps[q->base[c.boundary]].op].phase == PROBLEM_PHASE_OPTIMISER;
    if (is_update && schedule->backward_end == 0) schedule->backward_end = schedule->count;
    add_kernel(&c);
    now_ns = c.m->end_ns[c.boundary];
  }
}

static void sum_times(Schedule *s) {
  for (int i = 0; i < s->training_count; i++) {
    const Step *step = &s->steps[i];
    if (step->kind == STEP_WAIT) s->wait_seconds += step->cost.seconds;
    if (step->kind == STEP_KERNEL && step->is_rerun) s->rerun_seconds += step->cost.seconds - step->slowed_seconds;
    s->slowed_seconds += step->slowed_seconds;
  }
}

Schedule *schedule(Arena *arena, const Machine *machine, const Plan *training, const Plan *evaluation) {
  Schedule *s = arena_alloc(arena, sizeof *s);
  s->training_plan = training;
  s->evaluation_plan = evaluation;
  if (training) {
    append(arena, machine, s, training);
    s->training_seconds = slow_compute(arena, machine, s, 0, seconds_of(training->simulation->makespan_ns));
    if (s->backward_end == 0) s->backward_end = s->count;
  }
  s->training_count = s->count;
  s->training_boundaries = s->boundary_count;
  append(arena, machine, s, evaluation);
  s->evaluation_seconds = slow_compute(arena, machine, s, s->training_count, seconds_of(evaluation->simulation->makespan_ns));
  sum_times(s);
  return s;
}

void schedule_hoisted(Arena *arena, const Machine *machine, Schedule *s, const Kernels *kernels) {
  double seconds = 0;
  for (int k = 0; k < kernels->kernel_count; k++) {
    const Kernel *kernel = &kernels->kernels[k];
    Step step = {.number = s->count + k + 1, .kind = STEP_KERNEL, .lane = LANE_COMPUTE, .kernels = kernels, .kernel = k, .copy = NO_INDEX, .start_seconds = seconds,
                 .cost = cost_of_kernel(machine, kernels, kernel, NULL), .place = kernels->graph->values[kernel->anchor].place, .what = kernel_what(kernels, kernel)};
    seconds += step.cost.seconds;
    ARENA_PUSH(arena, s->hoisted, s->hoisted_count, step);
  }
}

const Step *schedule_step(const Schedule *s, int index) { return index < s->count ? &s->steps[index] : &s->hoisted[index - s->count]; }

bool schedule_keeps_all(const Schedule *s) {
  for (int i = 0; i < s->count; i++)
    if (s->steps[i].kind != STEP_KERNEL || s->steps[i].is_rerun) return false;
  return true;
}

const char *schedule_phase(const Schedule *schedule, int step) {
  static const char *const phases[] = {"forward", "backward", "update"};
  const Step *s = schedule_step(schedule, step);
  if (step >= schedule->count) return "once";
  if (s->kind != STEP_KERNEL) return s->kind == STEP_COPY ? "move" : "wait";
  if (s->is_rerun) return "recompute";
  return step < schedule->training_count ? phases[s->kernels->kernels[s->kernel].phase] : "eval";
}

void schedule_print(const Schedule *schedule, FILE *out) {
  fprintf(out, " step  lane       start ms   took ms  phase       src  what\n");
  for (int s = 0; s < schedule->count; s++) {
    const Step *step = &schedule->steps[s];
    fprintf(out, "%5d  %-9s %10.4f %9.4f  %-9s %5d  %s\n", step->number, lane_name(step->lane), 1e3 * step->start_seconds, 1e3 * step->cost.seconds,
            schedule_phase(schedule, s), (int)step->place.line, step->what);
  }
}
