#include "timing.h"

#include <string.h>

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

enum { MAX_MOVES = 24, MAX_OUT = 32, MAX_COMM = 16, MAX_LANES = 9, MAX_STATES = 1500, PLACES = 2 * MAX_STATES, CHAIN_BITS = 10, CHAINS = 1 << CHAIN_BITS, MAX_EFFORT = 2000000 };

enum { NOWHERE = -1 };

typedef struct Reload {
  int64_t ready_ns, ns;
} Reload;

/* Everything S13 carries from one step to the next. */
typedef struct TimingState {
  uint32_t issued; /* moves */
  int head; /* offloads released */
  int write_head, read_head, read_count; /* rings */
  int64_t now, last;
  int64_t free_ns[MAX_LANES];
  int64_t out_done[MAX_OUT], written[MAX_OUT];
  int64_t in_done[MAX_MOVES];
  int64_t comm_done[MAX_COMM];
  int8_t read_order[MAX_MOVES];
  int g[MAX_MOVES];
} TimingState;

struct Timing {
  int64_t *boundary, *copied, *written, *arrival, *free_ns, *rest;
  Reload *reloads;
  int64_t *ring_done, *ring_bytes;
  /* The states of this step and of the next, each in a place of its own: places in the order in which they came, NOWHERE where one was dominated since.
   * Those of the next step that issued the same moves, which alone can dominate each other, are in one chain. */
  TimingState *states;
  int *these, *next, next_count, live_count;
  int *rank, *chained, chains[CHAINS]; /* rank: by place, where in next[] */
  int *free_places, free_count;
  /* of the sequence being searched */
  int64_t bytes[MAX_MOVES], room[MAX_MOVES];
  int origin[MAX_MOVES], ring_of[MAX_OUT], ring_count, comm_of_count;
  int *comm_index; /* by extended step */
  bool is_cut;
  int64_t effort_limit;
};

Timing *timing_new(Arena *arena, const Evaluator *e) {
  Timing *t = arena_alloc(arena, sizeof *t);
  int steps = e->sequence->step_limit + 2, moves = e->sequence->move_limit, pieces = e->problem->piece_count;
  t->boundary = NEW(steps, int64_t);
  t->arrival = NEW(steps, int64_t);
  t->rest = NEW(steps, int64_t);
  t->comm_index = NEW(steps, int);
  t->copied = NEW(pieces, int64_t);
  t->written = NEW(pieces, int64_t);
  t->free_ns = NEW(e->problem->lane_count, int64_t);
  t->reloads = NEW(moves, Reload);
  t->ring_done = NEW(moves + pieces, int64_t);
  t->ring_bytes = NEW(moves + pieces, int64_t);
  t->states = NEW(PLACES, TimingState);
  t->these = NEW(PLACES, int);
  t->next = NEW(PLACES, int);
  t->rank = NEW(PLACES, int);
  t->chained = NEW(PLACES, int);
  t->free_places = NEW(PLACES, int);
  return t;
}

static int64_t max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static int64_t piece_pending(const Problem *p, int piece) {
  return p->pieces[piece].home == TIER_DEVICE ? 0 : p->pieces[piece].bytes;
}

/* Insert by readiness; the completion of all so far on one lane that may preempt. */
static int64_t add_reload(Reload *list, int count, Reload reload) {
  int at = count;
  for (; at > 0 && list[at - 1].ready_ns > reload.ready_ns; at--) list[at] = list[at - 1];
  list[at] = reload;
  int64_t sum = 0, latest = 0;
  for (int i = count; i >= 0; i--) {
    sum += list[i].ns;
    latest = max64(latest, list[i].ready_ns + sum);
  }
  return latest;
}

int64_t timing_bound(Timing *t, Evaluator *e) {
  const Sequence *q = e->sequence;
  const Problem *p = e->problem;
  int n = q->count;
  e->evaluations++;
  e->effort += n + 2 * q->move_count;
  if (q->over_bytes) return COST_INVALID;
  memset(t->arrival, 0, ((size_t)n + 1) * sizeof *t->arrival);
  memset(t->free_ns, 0, (size_t)p->lane_count * sizeof *t->free_ns);
  memset(t->copied, 0, (size_t)p->piece_count * sizeof *t->copied);
  memset(t->written, 0, (size_t)p->piece_count * sizeof *t->written);
  int64_t now = 0, last = 0, pending = 0, held = 0, loaded = 0;
  int head = 0, tail = 0, must = 0, move = 0, ring_head = 0, ring_tail = 0;
  for (int s = 0; s <= n; s++) {
    for (; tail < q->offload_count && q->offloads[tail].after == s - 1; tail++) {
      const PlanOffload *offload = &q->offloads[tail];
      const ProblemPiece *piece = &p->pieces[offload->piece];
      bool is_ssd = sequence_goes_to_ssd(q, offload);
      int64_t begin = max64(now, t->free_ns[LANE_D2H]);
      while (is_ssd && ring_head < ring_tail && held + piece->bytes > p->ring_bytes) {
        begin = max64(begin, t->ring_done[ring_head]);
        held -= t->ring_bytes[ring_head++];
      }
      int64_t done = t->free_ns[LANE_D2H] = begin + piece->d2h_ns;
      t->copied[offload->piece] = done;
      if (is_ssd) {
        done = t->free_ns[LANE_SSD_WRITE] = max64(t->free_ns[LANE_SSD_WRITE], done) + piece->ssdw_ns;
        t->written[offload->piece] = done;
        t->ring_done[ring_tail] = done;
        t->ring_bytes[ring_tail++] = piece->bytes;
        held += piece->bytes;
      }
      e->simulation->out_done_ns[tail] = t->copied[offload->piece];
      pending += piece_pending(p, offload->piece);
    }
    if (s == n) break;
    if (q->need_bytes[s] > p->device_bytes) return COST_INVALID;
    for (int m = move; m < q->move_count && q->moves[m].v == s; m++)
      for (int i = must; i < tail && !q->moves[m].is_clean; i++)
        if (q->offloads[i].move == m) must = i + 1;
    int64_t boundary = now;
    while (head < must || q->need_bytes[s] + pending > p->device_bytes) {
      boundary = max64(boundary, e->simulation->out_done_ns[head]);
      pending -= piece_pending(p, q->offloads[head++].piece);
    }
    t->boundary[s] = boundary;
    for (; move < q->move_count && q->moves[move].v == s; move++) {
      const PlanMove *m = &q->moves[move];
      const ProblemPiece *piece = &p->pieces[m->piece];
      int64_t ready = m->to == TIER_SSD ? t->written[m->piece] + piece->ssdr_ns : t->copied[m->piece];
      ready = max64(ready, t->boundary[m->after + 1]);
      loaded = add_reload(t->reloads, move, (Reload){ready, piece->h2d_ns});
    }
    now = max64(max64(boundary, t->arrival[s]), loaded);
    if (q->join[s] < 0) {
      now += q->compute_ns[s];
      continue;
    }
    int op = p->steps[q->base[s]].op, v = q->variant[op];
    int64_t stage_end = now;
    for (int i = 0; i < p->ops[op].variants[v].stage_count; i++) {
      int lane = p->ops[op].variants[v].stages[i].lane;
      int64_t ns = problem_stage_ns(p, q->base[s], v, i);
      /* The order of h2d and ssdr depends on g; only the other queues are certain. */
      bool is_certain = lane != LANE_H2D && lane != LANE_SSD_READ;
      stage_end = (is_certain ? max64(stage_end, t->free_ns[lane]) : stage_end) + ns;
      if (is_certain) t->free_ns[lane] = stage_end;
    }
    if (q->join[s] > s) t->arrival[q->join[s]] = max64(t->arrival[q->join[s]], stage_end);
    last = max64(last, stage_end);
  }
  now = max64(now, last);
  for (int c = 0; c < p->lane_count; c++) now = max64(now, t->free_ns[c]);
  return now;
}

static bool set_up(Timing *t, const Evaluator *e) {
  const Sequence *q = e->sequence;
  const Problem *p = e->problem;
  if (q->move_count > MAX_MOVES || q->offload_count > MAX_OUT || p->lane_count > MAX_LANES) return false;
  t->comm_of_count = t->ring_count = 0;
  for (int s = 0; s < q->count; s++)
    if (q->join[s] >= 0) t->comm_index[s] = t->comm_of_count++;
  if (t->comm_of_count > MAX_COMM) return false;
  for (int m = 0; m < q->move_count; m++) {
    t->bytes[m] = p->pieces[q->moves[m].piece].bytes;
    t->origin[m] = -1;
    for (int i = 0; i < q->offload_count; i++) {
      const PlanOffload *offload = &q->offloads[i];
      if (offload->move >= 0 && offload->piece == q->moves[m].piece && q->moves[offload->move].to == q->moves[m].to)
        t->origin[m] = i;
    }
  }
  for (int i = 0; i < q->offload_count; i++)
    if (sequence_goes_to_ssd(q, &q->offloads[i])) t->ring_of[t->ring_count++] = i;
  t->rest[q->count] = 0;
  for (int s = q->count - 1; s >= 0; s--) t->rest[s] = t->rest[s + 1] + q->compute_ns[s];
  return true;
}

static int64_t pending_bytes(const Evaluator *e, const TimingState *state, int tail) {
  int64_t sum = 0;
  for (int i = state->head; i < tail; i++) sum += piece_pending(e->problem, e->sequence->offloads[i].piece);
  return sum;
}

/* Bytes of the write ring in use by its entries write_head .. before offload i. */
static int64_t write_ring_bytes(const Timing *t, const Evaluator *e, const TimingState *state, int i) {
  int64_t sum = 0;
  for (int k = state->write_head; k < t->ring_count && t->ring_of[k] < i; k++)
    sum += e->problem->pieces[e->sequence->offloads[t->ring_of[k]].piece].bytes;
  return sum;
}

static void queue_out(const Timing *t, const Evaluator *e, TimingState *state, int i) {
  const Sequence *q = e->sequence;
  const PlanOffload *offload = &q->offloads[i];
  const ProblemPiece *piece = &e->problem->pieces[offload->piece];
  bool is_ssd = sequence_goes_to_ssd(q, offload);
  int64_t begin = max64(state->now, state->free_ns[LANE_D2H]);
  while (is_ssd && state->write_head < t->ring_count && t->ring_of[state->write_head] < i &&
         write_ring_bytes(t, e, state, i) + piece->bytes > e->problem->ring_bytes)
    begin = max64(begin, state->written[t->ring_of[state->write_head++]]);
  state->out_done[i] = state->free_ns[LANE_D2H] = begin + piece->d2h_ns;
  if (is_ssd)
    state->written[i] = state->free_ns[LANE_SSD_WRITE] =
        max64(state->free_ns[LANE_SSD_WRITE], state->out_done[i]) + piece->ssdw_ns;
}

static void queue_in(const Timing *t, const Evaluator *e, TimingState *state, int m, int64_t boundary) {
  const PlanMove *move = &e->sequence->moves[m];
  const ProblemPiece *piece = &e->problem->pieces[move->piece];
  int origin = t->origin[m];
  int64_t ready = origin >= 0 ? state->out_done[origin] : 0;
  if (move->to == TIER_SSD) {
    int64_t begin = max64(state->free_ns[LANE_SSD_READ], origin >= 0 ? state->written[origin] : 0), held = 0;
    for (int k = state->read_head; k < state->read_count; k++)
      held += e->problem->pieces[e->sequence->moves[state->read_order[k]].piece].bytes;
    while (state->read_head < state->read_count && held + piece->bytes > e->problem->ring_bytes) {
      int oldest = state->read_order[state->read_head++];
      begin = max64(begin, state->in_done[oldest]);
      held -= e->problem->pieces[e->sequence->moves[oldest].piece].bytes;
    }
    ready = state->free_ns[LANE_SSD_READ] = begin + piece->ssdr_ns;
    state->read_order[state->read_count++] = (int8_t)m;
  }
  int64_t begin = max64(max64(boundary, state->free_ns[LANE_H2D]), ready);
  state->in_done[m] = state->free_ns[LANE_H2D] = begin + piece->h2d_ns;
}

/* What is free, beside what was issued before, for moves that are issued at the boundary of step s and lie on the device until they are read: of each of `optional`, which are
 * in the order of v, the least from the v of the one before it on. */
static void find_room(Timing *t, const Evaluator *e, uint32_t before, uint32_t optional, int s) {
  const Sequence *q = e->sequence;
  int64_t issued = 0;
  for (uint32_t left = before; left; left &= left - 1)
    if (q->moves[__builtin_ctz(left)].v > s) issued += t->bytes[__builtin_ctz(left)];
  uint32_t alive = before;
  for (int k = s; optional; optional &= optional - 1) {
    const int m = __builtin_ctz(optional);
    t->room[m] = INT64_MAX;
    for (; k < q->moves[m].v; k++) {
      for (; alive && q->moves[__builtin_ctz(alive)].v <= k; alive &= alive - 1)
        if (q->moves[__builtin_ctz(alive)].v > s) issued -= t->bytes[__builtin_ctz(alive)];
      const int64_t room = e->problem->device_bytes - q->need_bytes[k] - issued;
      if (room < t->room[m]) t->room[m] = room;
    }
  }
}

/* Some of the optional moves together. */
static bool fits(const Timing *t, uint32_t optional, uint32_t now) {
  int64_t bytes = 0;
  for (uint32_t left = optional; left && now;) {
    const int m = 31 - __builtin_clz(left);
    left ^= 1u << m;
    if (now >> m & 1) bytes += t->bytes[m];
    if (bytes > 0 && bytes > t->room[m]) return false;
  }
  return true;
}

static bool dominates(const Timing *t, const Evaluator *e, const TimingState *a, const TimingState *b, int s, int tail) {
  const Sequence *q = e->sequence;
  if (a->issued != b->issued || a->head < b->head || a->now > b->now || a->last > b->last) return false;
  if (a->write_head < b->write_head || a->read_head < b->read_head || a->read_count != b->read_count) return false;
  if (memcmp(a->read_order + b->read_head, b->read_order + b->read_head, (size_t)(a->read_count - b->read_head)))
    return false;
  for (int c = 0; c < e->problem->lane_count; c++)
    if (a->free_ns[c] > b->free_ns[c]) return false;
  for (int i = 0; i < tail; i++)
    if (a->out_done[i] > b->out_done[i] || a->written[i] > b->written[i]) return false;
  for (int m = 0; m < q->move_count; m++)
    if ((a->issued >> m & 1) && q->moves[m].v > s && a->in_done[m] > b->in_done[m]) return false;
  for (int c = 0; c < t->comm_of_count; c++)
    if (a->comm_done[c] > b->comm_done[c]) return false;
  for (int k = b->read_head; k < b->read_count; k++)
    if (a->in_done[a->read_order[k]] > b->in_done[b->read_order[k]]) return false;
  return true;
}

/* Without what was dominated. */
static void close_ranks(Timing *t) {
  int count = 0;
  for (int i = 0; i < t->next_count; i++) {
    if (t->next[i] == NOWHERE) continue;
    t->rank[t->next[i]] = count;
    t->next[count++] = t->next[i];
  }
  t->next_count = count;
}

static void keep_state(Timing *t, const Evaluator *e, const TimingState *state, int s, int tail) {
  int *chain = &t->chains[state->issued * UINT32_C(2654435761) >> (32 - CHAIN_BITS)];
  for (int place = *chain; place != NOWHERE; place = t->chained[place])
    if (dominates(t, e, &t->states[place], state, s, tail)) return;
  for (int *link = chain; *link != NOWHERE;) {
    const int place = *link;
    if (!dominates(t, e, state, &t->states[place], s, tail)) {
      link = &t->chained[place];
      continue;
    }
    *link = t->chained[place];
    t->next[t->rank[place]] = NOWHERE;
    t->free_places[t->free_count++] = place;
    t->live_count--;
  }
  if (t->live_count == MAX_STATES) {
    t->is_cut = true;
    return;
  }
  if (t->next_count == PLACES) close_ranks(t);
  const int place = t->free_places[--t->free_count];
  t->states[place] = *state;
  t->chained[place] = *chain;
  *chain = place;
  t->rank[place] = t->next_count;
  t->next[t->next_count++] = place;
  t->live_count++;
}

/* Run step s of a state that also issues `now_issued` at its boundary. False when it cannot beat the limit. */
static bool run_step(Timing *t, Evaluator *e, TimingState *state, int s, int tail, uint32_t now_issued, int64_t limit) {
  const Sequence *q = e->sequence;
  const Problem *p = e->problem;
  state->issued |= now_issued;
  int64_t need = q->need_bytes[s], pending = pending_bytes(e, state, tail), boundary = state->now;
  int must = 0;
  for (int m = 0; m < q->move_count; m++) {
    if ((state->issued >> m & 1) && q->moves[m].v > s) need += t->bytes[m];
    if ((now_issued >> m & 1) && !q->moves[m].is_clean && t->origin[m] >= must) must = t->origin[m] + 1;
  }
  while (state->head < must || need + pending > p->device_bytes) {
    boundary = max64(boundary, state->out_done[state->head]);
    pending -= piece_pending(p, q->offloads[state->head++].piece);
  }
  for (int m = 0; m < q->move_count; m++)
    if (now_issued >> m & 1) {
      queue_in(t, e, state, m, boundary);
      state->g[m] = s;
    }
  int64_t now = boundary;
  for (int m = 0; m < q->move_count; m++)
    if (q->moves[m].v == s) now = max64(now, state->in_done[m]);
  for (int c = 0; c < s && t->comm_of_count; c++)
    if (q->join[c] == s) now = max64(now, state->comm_done[t->comm_index[c]]);
  if (q->join[s] < 0) {
    now += q->compute_ns[s];
  } else {
    int op = p->steps[q->base[s]].op, v = q->variant[op];
    int64_t end = now;
    for (int i = 0; i < p->ops[op].variants[v].stage_count; i++) {
      int lane = p->ops[op].variants[v].stages[i].lane;
      end = state->free_ns[lane] = max64(end, state->free_ns[lane]) + problem_stage_ns(p, q->base[s], v, i);
    }
    state->comm_done[t->comm_index[s]] = end;
    state->last = max64(state->last, end);
  }
  state->now = now;
  int64_t bound = max64(now + t->rest[s + 1], state->last), unissued = 0;
  for (int c = 0; c < p->lane_count; c++) bound = max64(bound, state->free_ns[c]);
  int latest = -1;
  for (int m = 0; m < q->move_count; m++)
    if (!(state->issued >> m & 1)) {
      unissued += p->pieces[q->moves[m].piece].h2d_ns;
      latest = q->moves[m].v > latest ? q->moves[m].v : latest;
    }
  if (latest >= 0) bound = max64(bound, state->free_ns[LANE_H2D] + unissued + t->rest[latest]);
  return bound < limit;
}

/* Of the subsets of `set`, from all of it down to none, those that come after `subset`. */
static int64_t subsets_after(uint32_t set, uint32_t subset) {
  int64_t count = 0;
  for (int64_t weight = 1; set; set &= set - 1, weight *= 2)
    if (subset & set & -set) count += weight;
  return count;
}

/* Each way to issue some of the moves is effort, whether it fits or not. */
static void expand_state(Timing *t, Evaluator *e, const TimingState *from, int s, int tail, int64_t limit) {
  const Sequence *q = e->sequence;
  const int64_t effort = 8 + q->move_count;
  uint32_t must = 0, optional = 0, fitting = 0;
  for (int m = 0; m < q->move_count; m++) {
    const PlanMove *move = &q->moves[m];
    if ((from->issued >> m & 1) || move->after >= s || move->v < s) continue;
    if (move->v == s) {
      must |= 1u << m;
      continue;
    }
    optional |= 1u << m;
  }
  const int64_t ways = 1 + subsets_after(optional, optional), affordable = (t->effort_limit - e->effort) / effort + 1;
  if (ways >= affordable) {
    e->effort += affordable * effort;
    t->is_cut = true;
    return;
  }
  e->effort += ways * effort;
  find_room(t, e, from->issued, optional, s);
  for (uint32_t left = optional; left; left &= left - 1)
    if (fits(t, optional, left & -left)) fitting |= left & -left;
  for (uint32_t subset = fitting;; subset = (subset - 1) & fitting) {
    if (fits(t, optional, subset)) {
      TimingState state = *from;
      if (run_step(t, e, &state, s, tail, must | subset, limit)) keep_state(t, e, &state, s, tail);
    }
    if (t->is_cut) e->effort -= effort * subsets_after(optional, subset);
    if (subset == 0 || t->is_cut) return;
  }
}

/* One state, which has issued nothing. */
static void begin(Timing *t) {
  t->is_cut = false;
  t->free_count = 0;
  for (int place = PLACES - 1; place > 0; place--) t->free_places[t->free_count++] = place;
  t->these[0] = 0;
  memset(&t->states[0], 0, sizeof t->states[0]);
}

/* The next step is this one. The number of its states. */
static int advance(Timing *t) {
  close_ranks(t);
  int *these = t->these;
  t->these = t->next;
  t->next = these;
  return t->next_count;
}

int64_t timing_search(Timing *t, Evaluator *e, int64_t limit, bool *is_exact) {
  Sequence *q = e->sequence;
  *is_exact = false;
  if (!set_up(t, e)) return limit;
  begin(t);
  t->effort_limit = e->effort + MAX_EFFORT;
  int count = 1, tail = 0;
  for (int s = 0; s < q->count && count; s++) {
    int first = tail;
    while (tail < q->offload_count && q->offloads[tail].after == s - 1) tail++;
    t->next_count = t->live_count = 0;
    for (int i = 0; i < CHAINS; i++) t->chains[i] = NOWHERE;
    for (int k = 0; k < count && !t->is_cut; k++) {
      TimingState *state = &t->states[t->these[k]];
      for (int i = first; i < tail; i++) queue_out(t, e, state, i);
      expand_state(t, e, state, s, tail, limit);
      t->free_places[t->free_count++] = t->these[k];
    }
    if (t->is_cut) return limit;
    count = advance(t);
  }
  const TimingState *best = NULL;
  int64_t least = limit;
  for (int k = 0; k < count; k++) {
    TimingState *state = &t->states[t->these[k]];
    for (int i = tail; i < q->offload_count; i++) queue_out(t, e, state, i);
    int64_t makespan = max64(state->now, state->last);
    for (int c = 0; c < e->problem->lane_count; c++) makespan = max64(makespan, state->free_ns[c]);
    if (makespan >= least) continue;
    least = makespan;
    best = state;
  }
  for (int m = 0; m < q->move_count && best; m++) q->moves[m].g = best->g[m];
  *is_exact = true;
  return least;
}
