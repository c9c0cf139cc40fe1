#include "sequence.h"

#include <stdlib.h>
#include <string.h>

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

enum { MANY_STEPS = 2000 };

typedef enum PieceState { STATE_NONE, STATE_PRESENT, STATE_MOVED, STATE_DROPPED, STATE_DEAD } PieceState;

typedef struct Frame {
  int step, cursor, target;
} Frame;

typedef struct Own { /* a piece that a step reads or makes, when it runs for the first time */
  int piece;
  bool makes;
  int under; /* whose place it may take, or -1 */
} Own;

typedef struct SequenceScratch {
  Own *own; /* own[own_first[t]] .. before own[own_first[t + 1]]: of base step t */
  int *own_first;
  bool has_communication, has_host_work; /* of any variant of any op */
  uint8_t *state, *pending, *copied; /* by piece */
  int *from, *last, *stay_move; /* by piece: the open residency */
  int *taken_at, *taken_by; /* by piece: the last step that made another in its place, and that one */
  bool *has_places; /* by base step: something it makes may take a place */
  int *tier_first, *tier_last; /* by 2 * piece + (is SSD) */
  int *gap; /* by piece: the gap it is in, or -1 */
  int *temps, *lent; /* pieces that are there for one base step only: made again, or brought back for a re-run */
  int *dropped_at; /* by piece: the base step that it was made again for on the way and dropped after, since its own last one; FAR_BACK where it was not */
  int lent_count;
  int *returned; /* those brought back, while the steps are gone over */
  bool *is_returned;
  int temp_count, returned_count;
  Frame *frames;
  int frame_count;
  int *join_head, *join_next; /* communication steps that join at a step */
  int *accessed, *stamp;
  bool *produced;
  int stamp_now;
  int64_t *host, *ssd;
  int *count_a, *order_a;
  PlanOffload *unsorted;
  const PlanMove *given; /* explicit moves by (piece, after) */
  int *given_next, *given_end;
  int given_used;
} SequenceScratch;

/* What is the same in each sequence. */
static void find_own(SequenceScratch *c, const Problem *p, Arena *arena) {
  int count = 0;
  c->own = NEW(p->use_count, Own);
  c->own_first = NEW(p->step_count + 1, int);
  for (int t = 0; t < p->step_count; t++) {
    const ProblemStep *step = &p->steps[t];
    c->own_first[t] = count;
    c->stamp_now++;
    for (int i = 0; i < step->use_count; i++) {
      const ProblemUse *use = &p->uses[step->first_use + i];
      if (c->stamp[use->piece] == c->stamp_now) continue;
      c->stamp[use->piece] = c->stamp_now;
      c->own[count++] = (Own){use->piece, (use->flags & PROBLEM_USE_CREATE) != 0, use->under};
      if (use->under >= 0) c->has_places[t] = true;
    }
  }
  c->own_first[p->step_count] = count;
  for (int op = 0; op < p->op_count; op++)
    for (int v = 0; v < p->ops[op].variant_count; v++) {
      if (problem_is_communication(p, op, v)) c->has_communication = true;
      if (p->ops[op].variants[v].host_work_bytes) c->has_host_work = true;
    }
}

Sequence *sequence_new(Arena *arena, const Problem *p, const Geometry *geometry, int step_limit) {
  Sequence *q = arena_alloc(arena, sizeof *q);
  SequenceScratch *c = arena_alloc(arena, sizeof *c);
  int pieces = p->piece_count, n = p->step_count;
  if (step_limit < n) step_limit = (n < MANY_STEPS ? 8 : 3) * n + 64;
  *q = (Sequence){.problem = p, .geometry = geometry, .step_limit = step_limit, .scratch = c};
  int longest = 0; /* most uses of one step */
  for (int s = 0; s < n; s++)
    if (p->steps[s].use_count > longest) longest = p->steps[s].use_count;
  q->out_limit = 2 * (step_limit - n) + p->use_count + 64;
  q->move_limit = geometry->gap_count + 4 * (step_limit - n) + pieces + 64;
  q->stay_limit = q->move_limit + q->out_limit + pieces;
  q->variant = NEW(p->op_count, int);
  q->base = NEW(step_limit, int);
  q->rerun = NEW(step_limit, int);
  q->position = NEW(n, int);
  q->reruns = NEW(step_limit - n + 1, PlanRerun);
  q->outs = NEW(q->out_limit, int);
  q->join = NEW(step_limit, int);
  q->compute_ns = NEW(step_limit, int64_t);
  q->need_bytes = NEW(step_limit + 1, int64_t);
  q->scratch_bytes = NEW(step_limit, int64_t);
  q->moves = NEW(q->move_limit, PlanMove);
  q->offloads = NEW(q->move_limit + pieces, PlanOffload);
  q->stays = NEW(q->stay_limit, PlanStay);
  c->state = NEW(pieces, uint8_t);
  c->pending = NEW(pieces, uint8_t);
  c->copied = NEW(pieces, uint8_t);
  c->from = NEW(pieces, int);
  c->last = NEW(pieces, int);
  c->stay_move = NEW(pieces, int);
  c->taken_at = NEW(pieces, int);
  c->taken_by = NEW(pieces, int);
  c->has_places = NEW(n, bool);
  c->tier_first = NEW(2 * pieces, int);
  c->tier_last = NEW(2 * pieces, int);
  c->gap = NEW(pieces, int);
  c->temps = NEW(pieces, int);
  c->lent = NEW(pieces, int);
  c->dropped_at = NEW(pieces, int);
  c->returned = NEW(pieces, int);
  c->is_returned = NEW(pieces, bool);
  c->frames = NEW(n + 1, Frame);
  c->join_head = NEW(step_limit + 1, int);
  c->join_next = NEW(step_limit, int);
  c->accessed = NEW(pieces + longest, int);
  c->stamp = NEW(pieces, int);
  c->produced = NEW(pieces, bool);
  c->host = NEW(step_limit + 2, int64_t);
  c->ssd = NEW(step_limit + 2, int64_t);
  int keys = (pieces > step_limit ? pieces : step_limit) + 2;
  c->count_a = NEW(keys, int);
  c->order_a = NEW(q->move_limit + pieces, int);
  c->unsorted = NEW(q->move_limit + pieces, PlanOffload);
  c->given_next = NEW(pieces, int);
  c->given_end = NEW(pieces, int);
  find_own(c, p, arena);
  return q;
}

static bool emit(Sequence *q, int base, int rerun) {
  if (q->count >= q->step_limit) return false;
  if (rerun < 0) q->position[base] = q->count;
  q->base[q->count] = base;
  q->rerun[q->count++] = rerun;
  return true;
}

enum { FAR_BACK = -(1 << 30) };

static void stay_for(SequenceScratch *c, int x, int t) {
  c->temps[c->temp_count++] = x;
  c->dropped_at[x] = t;
}

/* What is made again before base step t, or came back for a re-run and has its copy still. */
static bool leaves_again(const SequenceScratch *c, RemadeStays stays, int x, int t) { return stays.keep_from && stays.keep_from[c->gap[x]] > t; }

/* Insert a re-run of base step b before base step t, producing `target` and every other dropped output that is to stay. */
static bool emit_rerun(Sequence *q, RemadeStays stays, int b, int t, int target) {
  const Problem *p = q->problem;
  SequenceScratch *c = q->scratch;
  const ProblemStep *step = &p->steps[b];
  if (!step->can_rerun || t > step->rerun_limit) return false;
  if (q->rerun_count >= q->step_limit - p->step_count || q->out_count + step->use_count > q->out_limit) return false;
  PlanRerun *rerun = &q->reruns[q->rerun_count];
  *rerun = (PlanRerun){.before = t, .step = b, .out_first = q->out_count};
  for (int i = 0; i < step->use_count; i++) {
    const ProblemUse *use = &p->uses[step->first_use + i];
    int x = use->piece;
    if (!(use->flags & PROBLEM_USE_CREATE) || (c->state[x] != STATE_DROPPED && x != target)) continue;
    bool leaves = c->state[x] == STATE_DEAD || leaves_again(c, stays, x, t);
    if (leaves && x != target) continue;
    if (leaves) stay_for(c, x, t);
    c->state[x] = STATE_PRESENT;
    q->outs[q->out_count++] = x;
    rerun->out_count++;
  }
  return emit(q, b, q->rerun_count++);
}

static bool push_frame(Sequence *q, int x) {
  const ProblemPiece *piece = &q->problem->pieces[x];
  if (piece->creator < 0 || !(piece->fates & FATE_BIT(FATE_RECOMPUTE))) return false;
  q->scratch->frames[q->scratch->frame_count++] = (Frame){.step = piece->creator, .target = x};
  return true;
}

/* Dropped so lately that this re-run before base step t has it still: it stays until then. */
static bool is_shared(const SequenceScratch *c, RemadeStays stays, int y, int t) {
  return stays.shared_steps && (c->state[y] == STATE_DEAD || c->state[y] == STATE_DROPPED) && c->dropped_at[y] >= t - stays.shared_steps;
}

/* Everything piece x needs to be there again before base step t. */
static bool materialise(Sequence *q, RemadeStays stays, int x, int t) {
  const Problem *p = q->problem;
  SequenceScratch *c = q->scratch;
  c->frame_count = 0;
  if (!push_frame(q, x)) return false;
  while (c->frame_count) {
    Frame *frame = &c->frames[c->frame_count - 1];
    const ProblemStep *step = &p->steps[frame->step];
    bool is_waiting = false;
    for (; frame->cursor < step->use_count && !is_waiting; frame->cursor++) {
      const ProblemUse *use = &p->uses[step->first_use + frame->cursor];
      int y = use->piece;
      if (!(use->flags & PROBLEM_USE_READ) || p->pieces[y].home != TIER_NONE) continue;
      if (c->state[y] == STATE_MOVED) {
        c->state[y] = STATE_PRESENT;
        if (leaves_again(c, stays, y, t)) c->lent[c->lent_count++] = y;
      } else if (is_shared(c, stays, y, t)) {
        c->state[y] = STATE_PRESENT;
        stay_for(c, y, t);
      }
      if (c->state[y] == STATE_PRESENT) continue;
      if (!push_frame(q, y)) return false;
      is_waiting = true;
    }
    if (is_waiting) continue;
    Frame done = c->frames[--c->frame_count];
    if (c->state[done.target] == STATE_PRESENT) continue;
    if (!emit_rerun(q, stays, done.step, t, done.target)) return false;
  }
  return true;
}

static bool insert_reruns(Sequence *q, const uint8_t *fates, RemadeStays stays) {
  static const uint8_t state_of[FATE_COUNT + 1] = {STATE_PRESENT, STATE_MOVED, STATE_MOVED, STATE_DROPPED,
                                                    STATE_PRESENT};
  const Geometry *g = q->geometry;
  SequenceScratch *c = q->scratch;
  memset(c->state, STATE_NONE, (size_t)q->problem->piece_count);
  for (int x = 0; x < q->problem->piece_count && stays.shared_steps; x++) c->dropped_at[x] = FAR_BACK;
  for (int t = 0; t < q->problem->step_count; t++) {
    c->temp_count = c->lent_count = 0;
    for (int i = g->access_first[t]; i < g->access_first[t + 1]; i++) {
      int x = g->access[i];
      if (c->state[x] == STATE_MOVED || is_shared(c, stays, x, t)) c->state[x] = STATE_PRESENT;
      if (c->state[x] == STATE_DROPPED && !materialise(q, stays, x, t)) return false;
    }
    if (!emit(q, t, -1)) return false;
    for (int i = 0; i < c->temp_count; i++) c->state[c->temps[i]] = c->gap[c->temps[i]] < 0 ? STATE_DEAD : STATE_DROPPED;
    for (int i = 0; i < c->lent_count; i++) c->state[c->lent[i]] = STATE_MOVED;
    for (int i = g->access_first[t]; i < g->access_first[t + 1]; i++) {
      int x = g->access[i], gap = c->gap[x] = g->gap_after[i];
      c->state[x] = gap < 0 ? STATE_DEAD : state_of[fates[gap]];
      c->dropped_at[x] = FAR_BACK; /* what becomes of it from here on its fate says */
    }
  }
  return true;
}

/* The pieces extended step s reads, or produces when `produced` says so; holds are not among them. */
static int own_accesses(Sequence *q, int s, int *list, bool *produced, int count) {
  const Problem *p = q->problem;
  SequenceScratch *c = q->scratch;
  const ProblemStep *step = &p->steps[q->base[s]];
  const PlanRerun *rerun = q->rerun[s] >= 0 ? &q->reruns[q->rerun[s]] : NULL;
  for (int i = 0; i < step->use_count; i++) {
    const ProblemUse *use = &p->uses[step->first_use + i];
    bool makes = (use->flags & PROBLEM_USE_CREATE) != 0;
    if (rerun) {
      bool is_out = false;
      for (int k = 0; k < rerun->out_count && makes && !is_out; k++)
        is_out = q->outs[rerun->out_first + k] == use->piece;
      if (!is_out && !(use->flags & PROBLEM_USE_READ)) continue;
      makes = is_out;
    }
    if (c->stamp[use->piece] == c->stamp_now) continue;
    c->stamp[use->piece] = c->stamp_now;
    if (produced) produced[count] = makes;
    list[count++] = use->piece;
  }
  return count;
}

/* S7: J of the communication steps of the extended sequence, and who joins where. */
static void find_joins(Sequence *q) {
  const Problem *p = q->problem;
  SequenceScratch *c = q->scratch;
  for (int s = 0; s < q->count; s++) c->join_head[s] = -1;
  for (int s = 0; s < q->count && !c->has_communication; s++) {
    q->join[s] = -1;
    q->compute_ns[s] = problem_stage_ns(p, q->base[s], q->variant[p->steps[q->base[s]].op], 0);
  }
  for (int s = q->count - 1; s >= 0 && c->has_communication; s--) {
    int op = p->steps[q->base[s]].op, variant = q->variant[op];
    bool is_comm = problem_is_communication(p, op, variant);
    q->join[s] = -1;
    q->compute_ns[s] = is_comm && !problem_is_led(&p->ops[op].variants[variant]) ? 0 : problem_stage_ns(p, q->base[s], variant, 0);
    if (!is_comm) continue;
    if (q->rerun[s] < 0) {
      q->join[s] = q->position[q->geometry->join[q->base[s]]];
    } else {
      const PlanRerun *rerun = &q->reruns[q->rerun[s]];
      int join = s + 1;
      bool is_found = rerun->out_count == 0;
      if (is_found) join = q->count - 1;
      for (; !is_found && join < q->count; join++) {
        c->stamp_now++;
        own_accesses(q, join, c->accessed, NULL, 0);
        for (int i = 0; i < rerun->out_count && !is_found; i++)
          is_found = c->stamp[q->outs[rerun->out_first + i]] == c->stamp_now;
        if (is_found) break;
      }
      q->join[s] = join < q->count ? join : q->count - 1;
    }
    if (q->join[s] > s) {
      c->join_next[s] = c->join_head[q->join[s]];
      c->join_head[q->join[s]] = s;
    }
  }
}

static void count_bytes(int64_t *diff, int from, int to, int64_t bytes) {
  diff[from] += bytes;
  diff[to + 1] -= bytes;
}

static bool close_stay(Sequence *q, int x, int out_move, bool is_final) {
  SequenceScratch *c = q->scratch;
  if (q->stay_count >= q->stay_limit) return false;
  bool is_taken = out_move < 0 && !is_final && c->taken_at[x] == c->last[x];
  q->stays[q->stay_count++] = (PlanStay){.piece = x, .from = c->from[x], .until = c->last[x], .in_move = c->stay_move[x],
                                     .out_move = out_move, .taken_by = is_taken ? c->taken_by[x] : -1, .is_final = is_final};
  count_bytes(q->need_bytes, c->from[x], c->last[x] - is_taken, q->problem->pieces[x].bytes);
  return true;
}

/* What becomes of x after its last access: the tier of the move of a given plan, FATE_KEEP without one. */
static Fate leaving(Sequence *q, int x, const PlanMove **given) {
  SequenceScratch *c = q->scratch;
  *given = NULL;
  if (!c->given) return (Fate)c->pending[x];
  int i = c->given_next[x];
  if (i >= c->given_end[x] || c->given[i].after != c->last[x]) return FATE_KEEP;
  *given = &c->given[i];
  c->given_next[x]++;
  c->given_used++;
  return tier_fate((*given)->to);
}

static bool add_move(Sequence *q, int x, int after, int v, Tier to, const PlanMove *given) {
  SequenceScratch *c = q->scratch;
  if (q->move_count >= q->move_limit) return false;
  bool is_ssd = to == TIER_SSD;
  const ProblemPiece *piece = &q->problem->pieces[x];
  bool is_clean = piece->home != TIER_NONE || (c->copied[x] & (1u << is_ssd));
  q->moves[q->move_count++] = (PlanMove){.piece = x, .after = after, .v = v, .g = given ? given->g : v,
                                     .f = given ? given->f : -1, .to = to, .is_clean = is_clean};
  if (piece->home != TIER_NONE) return true;
  if (!is_clean) c->tier_first[2 * x + is_ssd] = after + 1;
  c->tier_last[2 * x + is_ssd] = v;
  c->copied[x] |= (uint8_t)(1u << is_ssd);
  return true;
}

static bool access_piece(Sequence *q, int s, int x, bool makes) {
  SequenceScratch *c = q->scratch;
  if (!makes && c->from[x] >= 0 && c->pending[x] == FATE_KEEP && !c->given) { /* it is there: the usual case */
    c->last[x] = s;
    return true;
  }
  const ProblemPiece *piece = &q->problem->pieces[x];
  const PlanMove *given;
  if (piece->home == TIER_DEVICE) {
    c->last[x] = s;
    return true;
  }
  if (makes) {
    if (c->from[x] >= 0 && !close_stay(q, x, -1, false)) return false;
    c->from[x] = s;
    c->stay_move[x] = -1;
  } else if (c->from[x] < 0) {
    if (piece->home == TIER_NONE) return false; /* an insertion reads what was never made */
    if (c->given && leaving(q, x, &given) != tier_fate(piece->home)) return false;
    if (!c->given) given = NULL;
    c->from[x] = s;
    c->stay_move[x] = q->move_count;
    if (!add_move(q, x, -1, s, piece->home, given)) return false;
  } else {
    Fate fate = leaving(q, x, &given);
    if (fate == FATE_HOST || fate == FATE_SSD) {
      int move = q->move_count;
      if (!add_move(q, x, c->last[x], s, fate_tier(fate), given)) return false;
      if (!close_stay(q, x, q->moves[move].is_clean ? -1 : move, false)) return false;
      c->from[x] = s;
      c->stay_move[x] = move;
    } else if ((int)fate == FATE_FREE) {
      if (!close_stay(q, x, -1, false)) return false;
      c->from[x] = s;
      c->stay_move[x] = -1;
    }
  }
  c->pending[x] = FATE_KEEP;
  c->last[x] = s;
  return true;
}

static int compare_ints(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return x < y ? -1 : x > y;
}

/* What the next gap does to the pieces a base step has just used. */
static void decide_after(Sequence *q, int t, const uint8_t *fates, RemadeStays stays) {
  const Geometry *g = q->geometry;
  SequenceScratch *c = q->scratch;
  for (int i = g->access_first[t]; i < g->access_first[t + 1]; i++) {
    int x = g->access[i], gap = g->gap_after[i];
    const ProblemPiece *piece = &q->problem->pieces[x];
    c->gap[x] = gap;
    if (gap >= 0)
      c->pending[x] = fates[gap] == FATE_RECOMPUTE ? FATE_KEEP : fates[gap];
    else if (piece->first_write < 0 && problem_is_home_away(piece))
      c->pending[x] = (uint8_t)tier_fate(piece->home);
  }
  for (int i = 0; i < c->returned_count; i++) {
    int x = c->returned[i];
    c->is_returned[x] = false;
    if (c->pending[x] != FATE_KEEP || c->last[x] == q->position[t]) continue;
    if (g->last_access[x] <= t) c->pending[x] = (uint8_t)tier_fate(q->problem->pieces[x].home);
    else if (leaves_again(c, stays, x, t)) c->pending[x] = fates[c->gap[x]];
  }
  c->returned_count = 0;
}

/* The pieces in whose place extended step s makes others, if they end here. */
static void take_places(Sequence *q, int s) {
  SequenceScratch *c = q->scratch;
  const PlanRerun *rerun = q->rerun[s] >= 0 ? &q->reruns[q->rerun[s]] : NULL;
  for (int i = c->own_first[q->base[s]]; i < c->own_first[q->base[s] + 1]; i++) {
    const Own *own = &c->own[i];
    bool makes = own->under >= 0 && !rerun;
    for (int k = 0; own->under >= 0 && rerun && k < rerun->out_count && !makes; k++) makes = q->outs[rerun->out_first + k] == own->piece;
    if (!makes) continue;
    c->taken_at[own->under] = s;
    c->taken_by[own->under] = own->piece;
  }
}

/* Is x, which a re-run reads, on the device for its sake alone, so that it may leave after the step? */
static bool is_lent(const SequenceScratch *c, const ProblemPiece *piece, int x, const uint8_t *fates, RemadeStays stays) {
  if (problem_is_home_away(piece) && piece->first_write < 0) return true;
  return stays.keep_from && c->gap[x] >= 0 && (fates[c->gap[x]] == FATE_HOST || fates[c->gap[x]] == FATE_SSD);
}

static bool walk(Sequence *q, const uint8_t *fates, RemadeStays stays) {
  const Problem *p = q->problem;
  SequenceScratch *c = q->scratch;
  for (int s = 0; s < q->count; s++) {
    int count = 0;
    bool is_plain = q->rerun[s] < 0 && c->join_head[s] < 0;
    for (int i = c->own_first[q->base[s]]; is_plain && i < c->own_first[q->base[s] + 1]; i++)
      if (!access_piece(q, s, c->own[i].piece, c->own[i].makes)) return false;
    c->stamp_now++;
    if (!is_plain) count = own_accesses(q, s, c->accessed, c->produced, 0);
    bool has_holds = false;
    for (int e = c->join_head[s]; e >= 0; e = c->join_next[e]) {
      has_holds = true;
      int before = count;
      count = own_accesses(q, e, c->accessed, NULL, count);
      for (int i = before; i < count; i++) c->produced[i] = false;
    }
    if (has_holds) {
      /* Production comes from the step's own accesses; holds never produce, so sort by piece and look it up. */
      for (int i = 0; i < count; i++) c->accessed[i] = 2 * c->accessed[i] + (c->produced[i] ? 1 : 0);
      qsort(c->accessed, (size_t)count, sizeof *c->accessed, compare_ints);
      for (int i = 0; i < count; i++) {
        c->produced[i] = c->accessed[i] & 1;
        c->accessed[i] /= 2;
      }
    }
    for (int i = 0; i < count; i++) {
      int x = c->accessed[i];
      if (!access_piece(q, s, x, c->produced[i])) return false;
      if (!fates || q->rerun[s] < 0 || !is_lent(c, &p->pieces[x], x, fates, stays)) continue;
      if (!c->is_returned[x]) c->returned[c->returned_count++] = x;
      c->is_returned[x] = true;
    }
    if (c->has_places[q->base[s]]) take_places(q, s);
    if (q->rerun[s] < 0 && fates) decide_after(q, q->base[s], fates, stays);
    const ProblemStep *step = &p->steps[q->base[s]];
    const ProblemVariant *variant = &p->ops[step->op].variants[q->variant[step->op]];
    q->scratch_bytes[s] = 0;
    if (q->rerun[s] >= 0) {
      for (int i = 0; i < step->use_count; i++) {
        const ProblemUse *use = &p->uses[step->first_use + i];
        if (use->flags & PROBLEM_USE_CREATE) q->scratch_bytes[s] += p->pieces[use->piece].bytes;
      }
      const PlanRerun *rerun = &q->reruns[q->rerun[s]];
      for (int i = 0; i < rerun->out_count; i++)
        q->scratch_bytes[s] -= p->pieces[q->outs[rerun->out_first + i]].bytes;
    }
    int end = q->join[s] > s ? q->join[s] : s;
    count_bytes(q->need_bytes, s, end, variant->work_bytes + q->scratch_bytes[s]);
    if (variant->host_work_bytes) count_bytes(c->host, s, end, variant->host_work_bytes);
  }
  for (int x = 0; x < p->piece_count; x++)
    if (p->pieces[x].home == TIER_DEVICE)
      count_bytes(q->need_bytes, 0, q->count - 1, p->pieces[x].bytes);
    else if (c->from[x] >= 0 && !close_stay(q, x, -1, p->pieces[x].is_final))
      return false;
  return true;
}

/* By (after, piece): two stable counting sorts. */
static void sort_offloads(Sequence *q) {
  const Problem *p = q->problem;
  SequenceScratch *c = q->scratch;
  int *count = c->count_a, *order = c->order_a, n = 0;
  for (int m = 0; m < q->move_count; m++)
    if (!q->moves[m].is_clean) c->unsorted[n++] = (PlanOffload){q->moves[m].after, q->moves[m].piece, m};
  for (int x = 0; x < p->piece_count; x++)
    if (p->pieces[x].is_final && c->last[x] >= 0) c->unsorted[n++] = (PlanOffload){c->last[x], x, -1};
  q->offload_count = n;
  if (n == 0) return;
  memset(count, 0, ((size_t)p->piece_count + 1) * sizeof *count);
  for (int i = 0; i < n; i++) count[c->unsorted[i].piece + 1]++;
  for (int x = 0; x < p->piece_count; x++) count[x + 1] += count[x];
  for (int i = 0; i < n; i++) order[count[c->unsorted[i].piece]++] = i;
  memset(count, 0, ((size_t)q->count + 1) * sizeof *count);
  for (int i = 0; i < n; i++) count[c->unsorted[i].after + 1]++;
  for (int s = 0; s < q->count; s++) count[s + 1] += count[s];
  for (int i = 0; i < n; i++) q->offloads[count[c->unsorted[order[i]].after]++] = c->unsorted[order[i]];
}

static void finish_tiers(Sequence *q) {
  const Problem *p = q->problem;
  SequenceScratch *c = q->scratch;
  for (int x = 0; x < p->piece_count; x++) {
    if (c->copied[x] & 1) count_bytes(c->host, c->tier_first[2 * x], c->tier_last[2 * x], p->pieces[x].bytes);
    if (c->copied[x] & 2) count_bytes(c->ssd, c->tier_first[2 * x + 1], c->tier_last[2 * x + 1], p->pieces[x].bytes);
  }
  for (int s = 1; s < q->count; s++) q->need_bytes[s] += q->need_bytes[s - 1];
  for (int s = q->count - 1, step = 0; s >= 0 && p->reserve_bytes; s--) {
    if (q->rerun[s] < 0) step = q->base[s];
    q->need_bytes[s] += p->reserve_bytes[step];
  }
  for (int s = 0; s < q->count && (q->move_count || c->has_host_work); s++) {
    if (s) {
      c->host[s] += c->host[s - 1];
      c->ssd[s] += c->ssd[s - 1];
    }
    if (c->host[s] > q->host_peak_bytes) q->host_peak_bytes = c->host[s];
    if (c->ssd[s] > q->ssd_peak_bytes) q->ssd_peak_bytes = c->ssd[s];
    int64_t over = (c->host[s] > p->host_bytes ? c->host[s] - p->host_bytes : 0) +
                   (c->ssd[s] > p->ssd_bytes ? c->ssd[s] - p->ssd_bytes : 0);
    if (__builtin_add_overflow(q->over_bytes, over, &q->over_bytes)) q->over_bytes = INT64_MAX / 2;
  }
}

static bool finish(Sequence *q, const uint8_t *fates, RemadeStays stays) {
  const Problem *p = q->problem;
  SequenceScratch *c = q->scratch;
  size_t pieces = (size_t)p->piece_count, n = (size_t)q->count;
  find_joins(q);
  memset(q->need_bytes, 0, (n + 1) * sizeof *q->need_bytes);
  memset(c->host, 0, (n + 1) * sizeof *c->host);
  memset(c->ssd, 0, (n + 1) * sizeof *c->ssd);
  memset(c->pending, FATE_KEEP, pieces);
  memset(c->copied, 0, pieces);
  memset(c->from, -1, pieces * sizeof *c->from);
  memset(c->last, -1, pieces * sizeof *c->last);
  memset(c->taken_at, -1, pieces * sizeof *c->taken_at);
  memset(c->stay_move, -1, pieces * sizeof *c->stay_move);
  q->move_count = q->stay_count = q->offload_count = 0;
  q->over_bytes = q->host_peak_bytes = q->ssd_peak_bytes = 0;
  for (int i = 0; i < c->returned_count; i++) c->is_returned[c->returned[i]] = false;
  c->returned_count = 0;
  if (!walk(q, fates, stays)) return false;
  finish_tiers(q);
  sort_offloads(q);
  return true;
}

static void start(Sequence *q, const int *variants) {
  memcpy(q->variant, variants, (size_t)q->problem->op_count * sizeof *variants);
  q->count = q->rerun_count = q->out_count = 0;
  q->scratch->given = NULL;
}

bool sequence_build(Sequence *q, const uint8_t *fates, RemadeStays stays, const int *variants) {
  start(q, variants);
  return insert_reruns(q, fates, stays) && finish(q, fates, stays);
}

bool sequence_build_explicit(Sequence *q, const int *variants, const PlanRerun *reruns, int rerun_count, const int *outs,
                             const PlanMove *moves, int move_count) {
  SequenceScratch *c = q->scratch;
  start(q, variants);
  int next = 0;
  for (int t = 0; t < q->problem->step_count; t++) {
    for (; next < rerun_count && reruns[next].before == t; next++) {
      if (q->rerun_count >= q->step_limit - q->problem->step_count) return false;
      q->reruns[q->rerun_count] = reruns[next];
      q->reruns[q->rerun_count].out_first = q->out_count;
      for (int i = 0; i < reruns[next].out_count; i++) {
        if (q->out_count >= q->out_limit) return false;
        q->outs[q->out_count++] = outs[reruns[next].out_first + i];
      }
      if (!emit(q, reruns[next].step, q->rerun_count++)) return false;
    }
    if (!emit(q, t, -1)) return false;
  }
  memset(c->given_next, 0, (size_t)q->problem->piece_count * sizeof(int));
  memset(c->given_end, 0, (size_t)q->problem->piece_count * sizeof(int));
  for (int m = move_count - 1; m >= 0; m--) {
    int x = moves[m].piece;
    if (c->given_end[x] == 0) c->given_end[x] = m + 1;
    c->given_next[x] = m;
  }
  static const PlanMove none;
  c->given = move_count ? moves : &none;
  c->given_used = 0;
  return finish(q, NULL, (RemadeStays){0}) && c->given_used == move_count;
}
