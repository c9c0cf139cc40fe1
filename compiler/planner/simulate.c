#include "simulate.h"

#include "skyline.h"

#include <string.h>

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

typedef struct RingEntry {
  int64_t bytes, done_ns;
} RingEntry;

typedef struct Ring {
  RingEntry *entries;
  int head, tail;
  int64_t held_bytes;
} Ring;

typedef struct SimulationScratch {
  int64_t *need; /* D(s) with the chosen g */
  int64_t *free_ns; /* by lane */
  int64_t *copied_ns, *written_ns; /* by piece: d2h and ssdw completion */
  int64_t *arrival_ns; /* by step: reloads and communication it waits for */
  int *by_g, *g_first; /* moves by (g, v, piece) */
  int *offload_of; /* by move: its offload, or -1 */
  int *due; /* by step: one past the last offload whose f is there */
  Ring write_ring, read_ring;
  bool chooses; /* what follows is of simulate_choosing */
  int64_t margin_bytes;
  Skyline sky; /* D(s) with what was chosen so far */
  bool *is_chosen; /* by move */
  int *blocked; /* by move: the last step known at which there is no room for it */
  int64_t *ends; /* by step: bytes of what was chosen that is needed there */
  int *issued, issued_count; /* at this boundary */
  int first_open; /* moves before it are chosen, or over */
} SimulationScratch;

Simulation *simulation_new(Arena *arena, const Sequence *q) {
  Simulation *m = arena_alloc(arena, sizeof *m);
  SimulationScratch *c = arena_alloc(arena, sizeof *c);
  int steps = q->step_limit, offloads = q->move_limit + q->problem->piece_count;
  m->scratch = c;
  m->busy_ns = NEW(q->problem->lane_count, int64_t);
  m->occupied_bytes = NEW(steps, int64_t);
  m->boundary_ns = NEW(steps, int64_t);
  m->start_ns = NEW(steps, int64_t);
  m->end_ns = NEW(steps, int64_t);
  m->out_start_ns = NEW(offloads, int64_t);
  m->out_done_ns = NEW(offloads, int64_t);
  m->release = NEW(offloads, int);
  m->in_start_ns = NEW(q->move_limit, int64_t);
  m->in_done_ns = NEW(q->move_limit, int64_t);
  m->read_start_ns = NEW(q->move_limit, int64_t);
  c->need = NEW(steps + 1, int64_t);
  c->free_ns = NEW(q->problem->lane_count, int64_t);
  c->copied_ns = NEW(q->problem->piece_count, int64_t);
  c->written_ns = NEW(q->problem->piece_count, int64_t);
  c->arrival_ns = NEW(steps + 1, int64_t);
  c->by_g = NEW(q->move_limit, int);
  c->offload_of = NEW(q->move_limit, int);
  c->g_first = NEW(steps + 2, int);
  c->due = NEW(steps + 1, int);
  c->ends = NEW(steps + 1, int64_t);
  c->is_chosen = NEW(q->move_limit, bool);
  c->blocked = NEW(q->move_limit, int);
  c->issued = NEW(q->move_limit, int);
  c->sky = skyline_new(arena, NULL, steps + 1);
  c->write_ring.entries = NEW(offloads, RingEntry);
  c->read_ring.entries = NEW(q->move_limit, RingEntry);
  return m;
}

static int64_t max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* S16: the earliest start at or after `start` at which `bytes` find room. */
static int64_t ring_wait(Ring *ring, int64_t capacity, int64_t bytes, int64_t start) {
  while (ring->head < ring->tail && ring->held_bytes + bytes > capacity) {
    const RingEntry *oldest = &ring->entries[ring->head++];
    start = max64(start, oldest->done_ns);
    ring->held_bytes -= oldest->bytes;
  }
  return start;
}

static void ring_push(Ring *ring, int64_t bytes, int64_t done_ns) {
  ring->entries[ring->tail++] = (RingEntry){bytes, done_ns};
  ring->held_bytes += bytes;
}

static void note_offload(SimulationScratch *c, const Sequence *q, int i) {
  const PlanMove *move = &q->moves[q->offloads[i].move];
  const int f = move->f > q->offloads[i].after ? move->f : q->offloads[i].after + 1;
  c->offload_of[q->offloads[i].move] = i;
  if (move->f >= 0 && f < q->count && c->due[f] <= i) c->due[f] = i + 1;
}

/* D(s), and the moves in the order in which S13.3 takes them. False when some D(s) exceeds the device. */
static bool prepare(Simulation *m, const Sequence *q) {
  const Problem *p = q->problem;
  SimulationScratch *c = m->scratch;
  int n = q->count;
  int64_t *diff = c->arrival_ns; /* borrowed until the pass starts */
  memset(diff, 0, ((size_t)n + 1) * sizeof *diff);
  memset(c->g_first, 0, ((size_t)n + 2) * sizeof *c->g_first);
  memset(c->due, 0, ((size_t)n + 1) * sizeof *c->due);
  for (int i = 0; i < q->move_count; i++) {
    const PlanMove *move = &q->moves[i];
    c->offload_of[i] = -1;
    diff[move->g] += p->pieces[move->piece].bytes;
    diff[move->v] -= p->pieces[move->piece].bytes;
    c->g_first[move->g + 1]++;
  }
  for (int s = 0; s < n; s++) c->g_first[s + 1] += c->g_first[s];
  for (int i = 0; i < q->move_count; i++) c->by_g[c->g_first[q->moves[i].g]++] = i;
  for (int s = n; s > 0; s--) c->g_first[s] = c->g_first[s - 1];
  c->g_first[0] = 0;
  for (int i = 0; i < q->offload_count; i++)
    if (q->offloads[i].move >= 0) note_offload(c, q, i);
  int64_t extra = 0;
  m->over_bytes = q->over_bytes;
  m->fail_step = -1;
  for (int s = 0; s < n; s++) {
    extra += diff[s];
    c->need[s] = q->need_bytes[s] + extra;
    if (c->need[s] <= p->device_bytes) continue;
    if (m->fail_step < 0) m->fail_step = s;
    if (__builtin_add_overflow(m->over_bytes, c->need[s] - p->device_bytes, &m->over_bytes))
      m->over_bytes = INT64_MAX / 2;
  }
  return m->over_bytes == 0;
}

static void queue_offload(Simulation *m, const Sequence *q, int i, int64_t now) {
  const PlanOffload *offload = &q->offloads[i];
  const ProblemPiece *piece = &q->problem->pieces[offload->piece];
  SimulationScratch *c = m->scratch;
  bool is_ssd = sequence_goes_to_ssd(q, offload);
  int64_t start = max64(now, c->free_ns[LANE_D2H]);
  if (is_ssd) start = ring_wait(&c->write_ring, q->problem->ring_bytes, piece->bytes, start);
  int64_t done = start + piece->d2h_ns;
  c->free_ns[LANE_D2H] = done;
  m->busy_ns[LANE_D2H] += piece->d2h_ns;
  if (is_ssd) {
    int64_t written = max64(c->free_ns[LANE_SSD_WRITE], done) + piece->ssdw_ns;
    c->free_ns[LANE_SSD_WRITE] = c->written_ns[offload->piece] = written;
    m->busy_ns[LANE_SSD_WRITE] += piece->ssdw_ns;
    ring_push(&c->write_ring, piece->bytes, written);
  } else {
    c->copied_ns[offload->piece] = done;
  }
  m->out_start_ns[i] = start;
  m->out_done_ns[i] = done;
}

static void queue_reload(Simulation *m, const Sequence *q, int i, int64_t boundary) {
  const PlanMove *move = &q->moves[i];
  const ProblemPiece *piece = &q->problem->pieces[move->piece];
  SimulationScratch *c = m->scratch;
  int64_t ready = c->copied_ns[move->piece];
  m->read_start_ns[i] = -1;
  if (move->to == TIER_SSD) {
    int64_t start = max64(c->free_ns[LANE_SSD_READ], c->written_ns[move->piece]);
    start = ring_wait(&c->read_ring, q->problem->ring_bytes, piece->bytes, start);
    ready = c->free_ns[LANE_SSD_READ] = start + piece->ssdr_ns;
    m->busy_ns[LANE_SSD_READ] += piece->ssdr_ns;
    m->read_start_ns[i] = start;
  }
  int64_t start = max64(max64(boundary, c->free_ns[LANE_H2D]), ready);
  int64_t done = start + piece->h2d_ns;
  c->free_ns[LANE_H2D] = done;
  m->busy_ns[LANE_H2D] += piece->h2d_ns;
  if (move->to == TIER_SSD) ring_push(&c->read_ring, piece->bytes, done);
  m->in_start_ns[i] = start;
  m->in_done_ns[i] = done;
  c->arrival_ns[move->v] = max64(c->arrival_ns[move->v], done);
}

static int64_t run_stages(Simulation *m, const Sequence *q, int s, int64_t now) {
  const Problem *p = q->problem;
  SimulationScratch *c = m->scratch;
  int base = q->base[s], op = p->steps[base].op, v = q->variant[op];
  const ProblemVariant *variant = &p->ops[op].variants[v];
  for (int i = problem_is_led(variant); i < variant->stage_count; i++) {
    int lane = variant->stages[i].lane;
    int64_t ns = problem_stage_ns(p, base, v, i);
    now = max64(now, c->free_ns[lane]) + ns;
    c->free_ns[lane] = now;
    m->busy_ns[lane] += ns;
  }
  if (q->join[s] > s) c->arrival_ns[q->join[s]] = max64(c->arrival_ns[q->join[s]], now);
  return now;
}

/* One past the last pending offload that has to be released at s: its reload starts here, or its f has come. */
static int max_due(const Simulation *m, int s, int must) {
  const SimulationScratch *c = m->scratch;
  for (int i = c->g_first[s]; i < c->g_first[s + 1]; i++)
    if (c->offload_of[c->by_g[i]] >= must) must = c->offload_of[c->by_g[i]] + 1;
  return must > c->due[s] ? must : c->due[s];
}

/* ---- choosing ---- */

enum { WINDOW = 16 }; /* what cannot come back yet is overtaken by as many */

static bool may_return(Simulation *m, const Sequence *q, int i, int s, int head, int64_t taken_bytes) {
  SimulationScratch *c = m->scratch;
  const PlanMove *move = &q->moves[i];
  const int64_t bytes = q->problem->pieces[move->piece].bytes, device = q->problem->device_bytes - c->margin_bytes;
  if (move->after >= s || c->offload_of[i] >= head) return false;
  if (taken_bytes + bytes > device || s <= c->blocked[i]) return false;
  c->blocked[i] = skyline_last_above(&c->sky, s, move->v, device - bytes); /* there will be less room, not more */
  return c->blocked[i] < 0;
}

/* The returns that begin at boundary s, while the lane would be free for them during the step; those that have to are among them already. */
static void choose(Simulation *m, Sequence *q, int s, int head, int64_t boundary, int64_t pending_bytes) {
  SimulationScratch *c = m->scratch;
  int64_t lane = c->free_ns[LANE_H2D], end = max64(boundary, c->arrival_ns[s]) + q->compute_ns[s];
  while (c->first_open < q->move_count && (c->is_chosen[c->first_open] || q->moves[c->first_open].v <= s)) c->first_open++;
  for (int i = c->first_open; i < q->move_count && q->moves[i].v == s; i++) { /* the step waits for these */
    if (c->is_chosen[i]) continue;
    lane = max64(lane, boundary) + q->problem->pieces[q->moves[i].piece].h2d_ns;
    end = max64(end, lane + q->compute_ns[s]);
  }
  for (int i = c->first_open, passed = 0; i < q->move_count && passed < WINDOW && lane <= end; i++) {
    if (c->is_chosen[i] || q->moves[i].v <= s) continue;
    if (!may_return(m, q, i, s, head, c->need[s] + pending_bytes)) {
      passed++;
      continue;
    }
    const ProblemPiece *piece = &q->problem->pieces[q->moves[i].piece];
    c->is_chosen[i] = true;
    c->issued[c->issued_count++] = i;
    q->moves[i].g = s;
    skyline_raise(&c->sky, s, q->moves[i].v, piece->bytes);
    c->need[s] += piece->bytes;
    c->ends[q->moves[i].v] += piece->bytes;
    lane = max64(lane, boundary) + piece->h2d_ns;
  }
}

static bool pass(Simulation *m, const Sequence *q, Sequence *chosen);

bool simulate(Simulation *m, const Sequence *q) { return pass(m, q, NULL); }

bool simulate_choosing(Simulation *m, Sequence *q, int64_t margin_bytes) {
  SimulationScratch *c = m->scratch;
  for (int i = 0; i < q->move_count; i++) q->moves[i].g = q->moves[i].v;
  memset(c->is_chosen, 0, (size_t)q->move_count * sizeof *c->is_chosen);
  memset(c->blocked, -1, (size_t)q->move_count * sizeof *c->blocked);
  c->first_open = 0;
  c->margin_bytes = margin_bytes;
  return pass(m, q, q);
}

/* ---- the pass ---- */

static bool pass(Simulation *m, const Sequence *q, Sequence *chosen) {
  const Problem *p = q->problem;
  SimulationScratch *c = m->scratch;
  if (!prepare(m, q)) return false;
  if (chosen) {
    skyline_reset(&c->sky, c->need, q->count);
    memset(c->ends, 0, ((size_t)q->count + 1) * sizeof *c->ends);
  }
  int n = q->count, lanes = p->lane_count;
  memset(c->arrival_ns, 0, ((size_t)n + 1) * sizeof *c->arrival_ns);
  memset(c->free_ns, 0, (size_t)lanes * sizeof *c->free_ns);
  memset(m->busy_ns, 0, (size_t)lanes * sizeof *m->busy_ns);
  memset(c->copied_ns, 0, (size_t)p->piece_count * sizeof *c->copied_ns);
  memset(c->written_ns, 0, (size_t)p->piece_count * sizeof *c->written_ns);
  c->write_ring.head = c->write_ring.tail = c->read_ring.head = c->read_ring.tail = 0;
  c->write_ring.held_bytes = c->read_ring.held_bytes = 0;
  m->peak_bytes = m->compute_ns = 0;
  int64_t now = 0, pending_bytes = 0, last = 0, chosen_bytes = 0; /* chosen_bytes: of what was, and is still on its way */
  int head = 0, tail = 0, must = 0; /* offloads [head, tail) are pending; those before `must` have a release due */
  for (int s = 0; s < n; s++) {
    for (; tail < q->offload_count && q->offloads[tail].after == s - 1; tail++) {
      queue_offload(m, q, tail, now);
      m->release[tail] = n;
      if (p->pieces[q->offloads[tail].piece].home != TIER_DEVICE)
        pending_bytes += p->pieces[q->offloads[tail].piece].bytes;
    }
    must = max_due(m, s, must);
    int64_t boundary = now;
    for (int i = head; chosen && i < tail && m->out_done_ns[i] <= now; i++) must = must > i ? must : i + 1; /* nobody waits for them */
    if (chosen) c->need[s] += chosen_bytes -= c->ends[s];
    while (head < must || c->need[s] + pending_bytes > p->device_bytes) {
      boundary = max64(boundary, m->out_done_ns[head]);
      m->release[head] = s;
      if (p->pieces[q->offloads[head].piece].home != TIER_DEVICE)
        pending_bytes -= p->pieces[q->offloads[head].piece].bytes;
      head++;
    }
    c->issued_count = 0;
    if (chosen) {
      const int64_t before = c->need[s];
      choose(m, chosen, s, head, boundary, pending_bytes);
      chosen_bytes += c->need[s] - before;
    }
    m->boundary_ns[s] = boundary;
    m->occupied_bytes[s] = c->need[s] + pending_bytes;
    m->peak_bytes = max64(m->peak_bytes, m->occupied_bytes[s]);
    for (int i = c->g_first[s]; i < c->g_first[s + 1]; i++) /* of a choosing pass: what has to come back now */
      if (q->moves[c->by_g[i]].g == s) queue_reload(m, q, c->by_g[i], boundary);
    for (int i = 0; i < c->issued_count; i++) queue_reload(m, q, c->issued[i], boundary);
    now = max64(boundary, c->arrival_ns[s]);
    m->start_ns[s] = now;
    now += q->compute_ns[s];
    m->compute_ns += q->compute_ns[s];
    if (q->join[s] >= 0) last = max64(last, run_stages(m, q, s, now));
    m->end_ns[s] = now;
  }
  for (; tail < q->offload_count; tail++) {
    queue_offload(m, q, tail, now);
    m->release[tail] = n;
  }
  m->makespan_ns = max64(now, last);
  for (int i = 0; i < lanes; i++) m->makespan_ns = max64(m->makespan_ns, c->free_ns[i]);
  return true;
}
