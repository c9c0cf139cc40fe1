#include "timeline.h"

enum { NONE = -1 };

typedef struct Lists { /* items of a key in rising order: items[first[key]] .. items[first[key + 1] - 1] */
  int *first, *items;
} Lists;

typedef struct Queueing {
  Arena *arena;
  Timeline *t;
  const Sequence *q;
  const Simulation *m;
  int boundary;
  Lists returns, arrivals, releases, joins; /* by boundary: moves by g and by v, offloads, steps that join */
  Lists leaving; /* by piece: offloads */
  int *out, *stored;   /* per offload: the event that leaves the device, the one that ends in the tier */
  int *in, *read;      /* per move: the event that arrives on the device, the one that reads into the ring */
  int *reads;          /* moves that read the SSD by the ring, in queue order */
  int read_count, next_read;
  int oldest_read, oldest_write; /* what still holds room in the rings */
  int64_t read_held, write_held;
  int64_t *free_ns;    /* per lane: of stages, and of writes to the SSD */
} Queueing;

static int *nones(Arena *arena, int count) {
  int *list = arena_alloc(arena, (size_t)(count + 1) * sizeof *list);
  for (int i = 0; i <= count; i++) list[i] = NONE;
  return list;
}

/* Items whose key is none of 0 .. keys - 1 are in no list. */
static Lists lists_new(Arena *arena, const int *key_of, int count, int keys) {
  Lists l = {arena_alloc(arena, (size_t)(keys + 2) * sizeof(int)), arena_alloc(arena, (size_t)(count + 1) * sizeof(int))};
  for (int i = 0; i < count; i++)
    if (key_of[i] >= 0 && key_of[i] < keys) l.first[key_of[i] + 2]++;
  for (int k = 0; k < keys; k++) l.first[k + 2] += l.first[k + 1];
  for (int i = 0; i < count; i++)
    if (key_of[i] >= 0 && key_of[i] < keys) l.items[l.first[key_of[i] + 1]++] = i;
  return l;
}

static void make_lists(Queueing *w) {
  const Sequence *q = w->q;
  Arena *arena = w->arena, *scratch = arena_new();
  int *keys = arena_alloc(scratch, (size_t)(q->move_count + q->offload_count + 1) * sizeof *keys);
  for (int i = 0; i < q->move_count; i++) keys[i] = q->moves[i].g;
  w->returns = lists_new(arena, keys, q->move_count, q->count);
  for (int i = 0; i < q->move_count; i++) keys[i] = q->moves[i].v;
  w->arrivals = lists_new(arena, keys, q->move_count, q->count);
  for (int i = 0; i < q->offload_count; i++) keys[i] = q->offloads[i].piece;
  w->leaving = lists_new(arena, keys, q->offload_count, q->problem->piece_count);
  w->releases = lists_new(arena, w->m->release, q->offload_count, q->count);
  w->joins = lists_new(arena, q->join, q->count, q->count);
  arena_free(scratch);
}

static int add(Queueing *w, TimelineEvent event) {
  event.boundary = w->boundary;
  ARENA_PUSH(w->arena, w->t->events, w->t->count, event);
  return w->t->count - 1;
}

static int64_t end_of(const Queueing *w, int event) { return w->t->events[event].start_ns + w->t->events[event].ns; }
static int64_t bytes_of(const Queueing *w, int piece) { return w->q->problem->pieces[piece].bytes; }

static TimelineEvent copy_of(EventKind kind, int lane, int piece) {
  return (TimelineEvent){.kind = kind, .lane = lane, .piece = piece, .offload = NONE, .move = NONE, .after = {NONE, NONE}, .waits_for = NONE};
}

/* ---- out ---- */

/* What is final goes where it ends, or where the d2h lane goes: to the host, or to an SSD that is the device's own. */
static bool goes_to_ssd(const Queueing *w, const PlanOffload *o) {
  return sequence_goes_to_ssd(w->q, o) || (o->move < 0 && w->t->is_direct);
}

static bool passes_ring(const Queueing *w, const PlanOffload *o) { return goes_to_ssd(w, o) && !w->t->is_direct; }

/* The write to the SSD whose end leaves room in the ring; NONE where there is room. */
static int wait_for_write_ring(Queueing *w, int i) {
  int64_t bytes = bytes_of(w, w->q->offloads[i].piece);
  int wait = NONE;
  for (; w->oldest_write < i && w->write_held + bytes > w->q->problem->ring_bytes; w->oldest_write++) {
    const PlanOffload *older = &w->q->offloads[w->oldest_write];
    if (!passes_ring(w, older)) continue;
    wait = w->stored[w->oldest_write];
    w->write_held -= bytes_of(w, older->piece);
  }
  w->write_held += bytes;
  return wait;
}

static void queue_out(Queueing *w, int i) {
  const PlanOffload *o = &w->q->offloads[i];
  const int64_t start = w->m->out_start_ns[i], done = w->m->out_done_ns[i];
  TimelineEvent out = copy_of(EVENT_OUT, LANE_D2H, o->piece);
  out.offload = i;
  out.is_ssd = goes_to_ssd(w, o);
  out.is_by_ring = passes_ring(w, o);
  out.start_ns = start;
  out.ns = done - start;
  if (out.is_by_ring) out.after[0] = wait_for_write_ring(w, i);
  w->free_ns[LANE_D2H] = done;
  w->out[i] = w->stored[i] = add(w, out);
  if (!out.is_by_ring) return;
  TimelineEvent write = out;
  int64_t *free_ns = &w->free_ns[LANE_SSD_WRITE];
  write.kind = EVENT_WRITE;
  write.lane = LANE_SSD_WRITE;
  write.after[0] = w->out[i];
  write.start_ns = *free_ns > done ? *free_ns : done;
  write.ns = w->q->problem->pieces[o->piece].ssdw_ns;
  *free_ns = write.start_ns + write.ns;
  w->stored[i] = add(w, write);
}

/* ---- in ---- */

static int origin_of(const Queueing *w, const PlanMove *move) {
  int origin = NONE;
  for (int k = w->leaving.first[move->piece]; k < w->leaving.first[move->piece + 1]; k++) {
    const PlanOffload *o = &w->q->offloads[w->leaving.items[k]];
    bool is_same_tier = goes_to_ssd(w, o) == (move->to == TIER_SSD);
    if (is_same_tier && o->after < move->v) origin = w->leaving.items[k];
  }
  return origin;
}

static int stored_of(const Queueing *w, int move) { return w->t->origin[move] == NONE ? NONE : w->stored[w->t->origin[move]]; }

/* A read may be queued when its piece is on its way to the SSD and the return that it takes its room from is queued. */
static bool can_queue_read(const Queueing *w, int k) {
  int move = w->reads[k], origin = w->t->origin[move], oldest = w->oldest_read;
  int64_t held = w->read_held, bytes = bytes_of(w, w->q->moves[move].piece);
  if (origin != NONE && w->q->offloads[origin].after >= w->boundary) return false;
  for (; oldest < k && held + bytes > w->q->problem->ring_bytes; oldest++) {
    if (w->in[w->reads[oldest]] == NONE) return false;
    held -= bytes_of(w, w->q->moves[w->reads[oldest]].piece);
  }
  return true;
}

static void queue_read(Queueing *w, int k) {
  int move = w->reads[k], piece = w->q->moves[move].piece;
  int64_t bytes = bytes_of(w, piece);
  TimelineEvent read = copy_of(EVENT_READ, LANE_SSD_READ, piece);
  read.move = move;
  read.is_ssd = read.is_by_ring = true;
  read.after[0] = stored_of(w, move);
  read.start_ns = w->m->read_start_ns[move];
  read.ns = w->q->problem->pieces[piece].ssdr_ns;
  for (; w->oldest_read < k && w->read_held + bytes > w->q->problem->ring_bytes; w->oldest_read++) {
    read.after[1] = w->in[w->reads[w->oldest_read]];
    w->read_held -= bytes_of(w, w->q->moves[w->reads[w->oldest_read]].piece);
  }
  w->read_held += bytes;
  w->free_ns[LANE_SSD_READ] = read.start_ns + read.ns;
  w->read[move] = add(w, read);
}

static void queue_reads(Queueing *w) {
  while (w->next_read < w->read_count && can_queue_read(w, w->next_read)) queue_read(w, w->next_read++);
}

static void queue_in(Queueing *w, int i) {
  const PlanMove *move = &w->q->moves[i];
  TimelineEvent in = copy_of(EVENT_IN, LANE_H2D, move->piece);
  in.move = i;
  in.is_ssd = move->to == TIER_SSD;
  in.is_by_ring = in.is_ssd && !w->t->is_direct;
  in.after[0] = in.is_by_ring ? w->read[i] : stored_of(w, i);
  in.start_ns = w->m->in_start_ns[i];
  in.ns = w->m->in_done_ns[i] - in.start_ns;
  w->free_ns[LANE_H2D] = w->m->in_done_ns[i];
  w->in[i] = add(w, in);
}

/* ---- waits and steps ---- */

static void add_wait(Queueing *w, WaitReason reason, int64_t from, int64_t to, int event) {
  if (event == NONE || to < from) return;
  TimelineEvent wait = copy_of(EVENT_WAIT, LANE_COMPUTE, w->t->events[event].piece);
  wait.waits_for = event;
  wait.reason = reason;
  wait.start_ns = from;
  wait.ns = to - from;
  add(w, wait);
}

static int last_release(const Queueing *w) {
  int last = NONE;
  for (int k = w->releases.first[w->boundary]; k < w->releases.first[w->boundary + 1]; k++) {
    int i = w->releases.items[k];
    if (last == NONE || w->m->out_done_ns[i] >= w->m->out_done_ns[last]) last = i;
  }
  return last == NONE ? NONE : w->out[last];
}

/* The last return that the step needs. */
static int last_arrival(const Queueing *w) {
  int last = NONE, s = w->boundary;
  for (int k = w->arrivals.first[s]; k < w->arrivals.first[s + 1]; k++)
    if (w->in[w->arrivals.items[k]] > last) last = w->in[w->arrivals.items[k]];
  return last;
}

/* For what the step needs: returns, the last of which is the last of its lane, and every communication. */
static void wait_for_arrivals(Queueing *w, int64_t from, int64_t to) {
  const int s = w->boundary, arrival = last_arrival(w);
  int64_t now = from;
  for (int k = w->joins.first[s]; k < w->joins.first[s + 1] && w->joins.items[k] < s; k++) {
    const int event = w->t->last_event[w->joins.items[k]];
    const int64_t end = end_of(w, event) > now ? end_of(w, event) : now;
    add_wait(w, WAIT_ARRIVAL, now, end, event);
    now = end;
  }
  add_wait(w, WAIT_ARRIVAL, now, to, arrival);
}

static void add_kernel(Queueing *w) {
  TimelineEvent kernel = copy_of(EVENT_KERNEL, LANE_COMPUTE, NONE);
  kernel.start_ns = w->m->start_ns[w->boundary];
  kernel.ns = w->m->end_ns[w->boundary] - kernel.start_ns;
  w->t->last_event[w->boundary] = add(w, kernel);
}

static void add_stages(Queueing *w) {
  int s = w->boundary, base = w->q->base[s], op = w->q->problem->steps[base].op, v = w->q->variant[op];
  const ProblemVariant *variant = &w->q->problem->ops[op].variants[v];
  int64_t now = w->m->end_ns[s];
  if (problem_is_led(variant)) add_kernel(w);
  for (int i = problem_is_led(variant); i < variant->stage_count; i++) {
    int lane = variant->stages[i].lane;
    TimelineEvent stage = copy_of(EVENT_STAGE, lane, NONE);
    if (w->free_ns[lane] > now) now = w->free_ns[lane];
    stage.stage = i;
    stage.after[0] = w->t->last_event[s];
    stage.start_ns = now;
    stage.ns = problem_stage_ns(w->q->problem, base, v, i);
    now += stage.ns;
    w->free_ns[lane] = now;
    w->t->last_event[s] = add(w, stage);
  }
}

static void find_reads(Queueing *w) {
  for (int k = 0; k < w->returns.first[w->q->count] && !w->t->is_direct; k++)
    if (w->q->moves[w->returns.items[k]].to == TIER_SSD) ARENA_PUSH(w->arena, w->reads, w->read_count, w->returns.items[k]);
}

/* Whether somebody waits for the event, or for a later one of its lane. */
static bool is_waited_for(const Queueing *w, int event) {
  for (int i = event + 1; i < w->t->count; i++) {
    const TimelineEvent *wait = &w->t->events[i];
    if (wait->kind == EVENT_WAIT && wait->waits_for >= event && w->t->events[wait->waits_for].lane == w->t->events[event].lane) return true;
  }
  return false;
}

/* Copies that nobody waits for may end after the last step; then the epoch ends with the last of them. What is to be at home in the end is
 * waited for whenever it is expected: it may be late. */
static void end_with_copies(Queueing *w, int64_t now) {
  int last = NONE, home[LANE_COUNT];
  for (int i = 0; i < w->t->count; i++)
    if (end_of(w, i) == w->m->makespan_ns) last = i;
  if (w->m->makespan_ns > now) add_wait(w, WAIT_END, now, w->m->makespan_ns, last);
  for (int l = 0; l < LANE_COUNT; l++) home[l] = NONE;
  for (int i = 0; i < w->q->offload_count; i++)
    if (w->q->offloads[i].move < 0) home[w->t->events[w->stored[i]].lane] = w->stored[i];
  for (int l = 0; l < LANE_COUNT; l++)
    if (home[l] != NONE && !is_waited_for(w, home[l])) add_wait(w, WAIT_END, w->m->makespan_ns, w->m->makespan_ns, home[l]);
}

const Timeline *timeline(Arena *arena, const Sequence *q, const Simulation *m, bool is_direct) {
  Timeline *t = arena_alloc(arena, sizeof *t);
  Queueing w = {.arena = arena, .t = t, .q = q, .m = m};
  t->is_direct = is_direct;
  t->last_event = nones(arena, q->count);
  t->origin = nones(arena, q->move_count);
  w.out = nones(arena, q->offload_count);
  w.stored = nones(arena, q->offload_count);
  w.in = nones(arena, q->move_count);
  w.read = nones(arena, q->move_count);
  w.free_ns = arena_alloc(arena, (size_t)(q->problem->lane_count + 1) * sizeof *w.free_ns);
  make_lists(&w);
  for (int i = 0; i < q->move_count; i++) t->origin[i] = origin_of(&w, &q->moves[i]);
  find_reads(&w);
  int next_out = 0;
  int64_t now = 0;
  for (w.boundary = 0; w.boundary < q->count; w.boundary++) {
    const int s = w.boundary;
    for (; next_out < q->offload_count && q->offloads[next_out].after == s - 1; next_out++) queue_out(&w, next_out);
    add_wait(&w, WAIT_PLACE, now, m->boundary_ns[s], last_release(&w));
    queue_reads(&w);
    for (int k = w.returns.first[s]; k < w.returns.first[s + 1]; k++) {
      queue_in(&w, w.returns.items[k]);
      queue_reads(&w);
    }
    wait_for_arrivals(&w, m->boundary_ns[s], m->start_ns[s]);
    if (q->join[s] >= 0) add_stages(&w);
    else add_kernel(&w);
    now = m->end_ns[s];
  }
  for (; next_out < q->offload_count; next_out++) queue_out(&w, next_out);
  end_with_copies(&w, now);
  return t;
}
