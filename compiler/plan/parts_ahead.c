/* parts_ahead: Problem of a rank whose values are in parts, expanded in the order of base_order.c -> an order of its steps in which exchanges have compute beside them.
 *
 * It is the order of the parts but for this. A table whose operands are all there is made, and leaves, before anything else, as long as there are two of them at most: so the next columns pass while the present ones
 * are summed. The last steps before an exchange that do not lead to it, as of gradients of weights, come behind it, as many as it would be waited for; and while something waits, later steps do that need not.
 * Writers stay before readers and the parts of a sum in their order, so all orders leave the same bits.
 */
#include <string.h>

#include "plan.h"

enum { MOST_TABLES = 2 };

typedef struct Passing {
  int step;        /* the exchange */
  int outside;     /* what steps that make the table wait for of others, not listed yet */
  int left;        /* steps with the table that are not listed yet */
  bool is_begun, is_sent, is_joined;
  int64_t wait_ns; /* for it, in the order so far */
} Passing;

typedef struct Ahead {
  Arena *arena;
  const Problem *problem;
  ExchangeOrder kind;
  int count, first;    /* first: of those not listed */
  int *waits;          /* per step: steps before it that are not listed yet */
  int **followers, *follower_count;
  bool *is_listed;
  int *table;          /* per step: the exchange whose table it makes, or that it is; NO_INDEX */
  int *held;           /* likewise: it comes behind that exchange; NO_INDEX */
  int64_t *needs_ns;   /* per step: before then it would wait */
  int *needs_of;       /* for this exchange */
  int exchange_count, next, alive; /* next: of those not sent */
  Passing *exchanges;
  int *exchange_of_piece;
  int64_t now_ns, net_ns;
  int *order, order_count;
} Ahead;

static const ProblemOp *op_of(const Ahead *a, int step) { return &a->problem->ops[a->problem->steps[step].op]; }
static bool is_exchange(const Ahead *a, int step) { return problem_is_communication(a->problem, a->problem->steps[step].op, 0); }
static int64_t compute_ns(const Ahead *a, int step) { return op_of(a, step)->variants[0].stages[0].lane == LANE_COMPUTE ? problem_stage_ns(a->problem, step, 0, 0) : 0; }

static bool is_written(const ProblemUse *use) { return use->flags & (PROBLEM_USE_CREATE | PROBLEM_USE_UPDATE); }

static void add_follower(Ahead *a, int before, int after) {
  ARENA_PUSH(a->arena, a->followers[before], a->follower_count[before], after);
  a->waits[after]++;
  if (a->table[after] != NO_INDEX && a->table[after] != a->table[before]) a->exchanges[a->table[after]].outside++;
}

/* Who reads comes after who writes, and who writes after who has read and written. */
static void find_followers(Ahead *a) {
  const Problem *p = a->problem;
  const size_t room = (size_t)p->piece_count + 1;
  int *writer = arena_alloc(a->arena, room * sizeof *writer), **readers = arena_alloc(a->arena, room * sizeof *readers), *reader_count = arena_alloc(a->arena, room * sizeof *reader_count);
  for (int x = 0; x < p->piece_count; x++) writer[x] = NO_INDEX;
  for (int s = 0; s < a->count; s++)
    for (int i = 0; i < p->steps[s].use_count; i++) {
      const ProblemUse *use = &p->uses[p->steps[s].first_use + i];
      const int x = use->piece;
      if (writer[x] != NO_INDEX) add_follower(a, writer[x], s);
      if (!is_written(use)) {
        ARENA_PUSH(a->arena, readers[x], reader_count[x], s);
        continue;
      }
      for (int r = 0; r < reader_count[x]; r++) add_follower(a, readers[x][r], s);
      writer[x] = s;
      reader_count[x] = 0;
    }
}

static void find_exchanges(Ahead *a) {
  const Problem *p = a->problem;
  for (int x = 0; x < p->piece_count; x++) a->exchange_of_piece[x] = NO_INDEX;
  for (int s = 0; s < a->count; s++) {
    a->table[s] = NO_INDEX;
    if (!is_exchange(a, s)) continue;
    for (int i = 0; i < p->steps[s].use_count; i++) {
      const ProblemUse *use = &p->uses[p->steps[s].first_use + i];
      if (is_written(use)) a->exchange_of_piece[use->piece] = a->exchange_count;
    }
    ARENA_PUSH(a->arena, a->exchanges, a->exchange_count, ((Passing){.step = s}));
  }
  for (int s = 0; s < a->count; s++)
    for (int i = 0; i < p->steps[s].use_count; i++) {
      const ProblemUse *use = &p->uses[p->steps[s].first_use + i];
      const int e = a->exchange_of_piece[use->piece];
      if (e == NO_INDEX) continue;
      a->exchanges[e].left += op_of(a, s)->phase == op_of(a, a->exchanges[e].step)->phase;
      if (is_written(use)) a->table[s] = e;
    }
}

static bool is_held(const Ahead *a, int step) { return a->held[step] != NO_INDEX && !a->exchanges[a->held[step]].is_sent; }

/* A step of the next table, if all it is made of is there, and there is room for one more. */
static int next_of_table(const Ahead *a) {
  if (a->next == a->exchange_count) return NO_INDEX;
  const Passing *e = &a->exchanges[a->next];
  if (e->outside > 0 || (!e->is_begun && a->alive >= MOST_TABLES)) return NO_INDEX;
  int step = e->step;
  for (int s = a->first; s < e->step; s++)
    if (!a->is_listed[s] && a->table[s] == a->next) {
      step = s;
      break;
    }
  const bool waits_for_place = step == e->step && a->kind != ORDER_BOTH && a->next > 0 && !a->exchanges[a->next - 1].is_joined;
  return a->waits[step] > 0 || a->needs_ns[step] > a->now_ns || waits_for_place || op_of(a, step)->phase != op_of(a, a->first)->phase ? NO_INDEX : step;
}

/* What passes while `waiting` waits: at least half of it does. */
static int next_beside(const Ahead *a, int waiting) {
  const ProblemPhase phase = op_of(a, waiting)->phase;
  for (int s = a->first; s < a->count; s++) {
    if (a->is_listed[s] || a->waits[s] > 0 || is_held(a, s) || a->table[s] != NO_INDEX || op_of(a, s)->phase != phase || a->needs_ns[s] > a->now_ns) continue;
    if (a->now_ns + compute_ns(a, s) / 2 <= a->needs_ns[waiting]) return s;
  }
  return waiting;
}

static int next_step(Ahead *a, bool is_filled) {
  while (a->first < a->count && a->is_listed[a->first]) a->first++;
  if (a->first == a->count) return NO_INDEX;
  const int of_table = next_of_table(a);
  if (of_table != NO_INDEX) return of_table;
  int step = a->first;
  while (a->is_listed[step] || is_held(a, step)) step++;
  return is_filled && a->needs_ns[step] > a->now_ns ? next_beside(a, step) : step;
}

static void list_step(Ahead *a, int step) {
  const ProblemStep *s = &a->problem->steps[step];
  if (a->needs_ns[step] > a->now_ns) {
    a->exchanges[a->needs_of[step]].wait_ns += a->needs_ns[step] - a->now_ns;
    a->now_ns = a->needs_ns[step];
  }
  a->is_listed[step] = true;
  a->order[a->order_count++] = step;
  a->now_ns += compute_ns(a, step);
  for (int i = 0; i < s->use_count; i++) {
    const int e = a->exchange_of_piece[a->problem->uses[s->first_use + i].piece];
    if (e == NO_INDEX) continue;
    Passing *of = &a->exchanges[e];
    a->alive += !of->is_begun;
    of->is_begun = true;
    of->is_joined = of->is_sent;
    if (op_of(a, step)->phase == op_of(a, of->step)->phase) a->alive -= --of->left == 0;
  }
  const bool leaves = is_exchange(a, step);
  if (leaves) {
    const ProblemOp *op = op_of(a, step);
    a->net_ns = a->net_ns > a->now_ns ? a->net_ns : a->now_ns;
    a->net_ns += problem_stage_ns(a->problem, step, 0, op->variants[0].stage_count - 1);
    a->exchanges[a->table[step]].is_sent = true;
    while (a->next < a->exchange_count && a->exchanges[a->next].is_sent) a->next++;
  }
  for (int k = 0; k < a->follower_count[step]; k++) {
    const int after = a->followers[step][k];
    a->waits[after]--;
    if (a->table[after] != NO_INDEX && a->table[after] != a->table[step]) a->exchanges[a->table[after]].outside--;
    if (leaves && a->net_ns > a->needs_ns[after]) a->needs_ns[after] = a->net_ns, a->needs_of[after] = a->table[step];
  }
}

static void *of_steps(const Ahead *a, size_t size) { return arena_alloc(a->arena, ((size_t)a->count + 1) * size); }

static Ahead ahead_of(Arena *arena, const Problem *problem, ExchangeOrder kind) {
  Ahead a = {.arena = arena, .problem = problem, .kind = kind, .count = problem->step_count};
  a.waits = of_steps(&a, sizeof *a.waits);
  a.followers = of_steps(&a, sizeof *a.followers);
  a.follower_count = of_steps(&a, sizeof *a.follower_count);
  a.is_listed = of_steps(&a, sizeof *a.is_listed);
  a.table = of_steps(&a, sizeof *a.table);
  a.held = of_steps(&a, sizeof *a.held);
  a.needs_ns = of_steps(&a, sizeof *a.needs_ns);
  a.needs_of = of_steps(&a, sizeof *a.needs_of);
  a.order = of_steps(&a, sizeof *a.order);
  a.exchange_of_piece = arena_alloc(arena, ((size_t)problem->piece_count + 1) * sizeof(int));
  for (int s = 0; s < a.count; s++) a.held[s] = NO_INDEX;
  find_exchanges(&a);
  find_followers(&a);
  return a;
}

static void list_all(Ahead *a, bool is_filled) {
  for (int step; (step = next_step(a, is_filled)) != NO_INDEX;) list_step(a, step);
}

/* Before each exchange that is waited for: the last steps of its phase that lead to no exchange up to it come behind it, as many as take that long. What comes behind a later one is nearer to it. */
static void hold(Ahead *a, const Ahead *listed) {
  bool *leads = of_steps(a, sizeof *leads);
  for (int e = a->exchange_count - 1; e >= 0; e--) {
    const int at = a->exchanges[e].step;
    int64_t room = listed->exchanges[e].wait_ns;
    memset(leads, 0, (size_t)at);
    leads[at] = true;
    for (int s = at - 1; s >= 0 && room > 0 && op_of(a, s)->phase == op_of(a, at)->phase; s--) {
      leads[s] = is_exchange(a, s);
      for (int k = 0; k < a->follower_count[s] && !leads[s]; k++) leads[s] = a->followers[s][k] <= at && leads[a->followers[s][k]];
      if (leads[s] || a->held[s] != NO_INDEX) continue;
      a->held[s] = e;
      room -= compute_ns(a, s);
    }
  }
}

void order_ahead(Arena *arena, Problem *problem, ExchangeOrder kind) {
  Arena *scratch = arena_new();
  Ahead waiting = ahead_of(scratch, problem, kind), a = ahead_of(scratch, problem, kind);
  list_all(&waiting, false);
  if (kind != ORDER_NEXT) hold(&a, &waiting);
  list_all(&a, true);
  problem->order = arena_alloc(arena, (size_t)(2 * a.count + 1) * sizeof *problem->order);
  for (int i = 0; i < a.count; i++) {
    problem->order[2 * i] = problem->steps[a.order[i]].op;
    problem->order[2 * i + 1] = problem->steps[a.order[i]].chunk;
  }
  problem->order_count = a.count;
  arena_free(scratch);
}
