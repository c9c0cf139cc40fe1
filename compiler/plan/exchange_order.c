/* exchange_order: Problem of a rank, filled in -> an order of its ops in which exchanges have compute beside them.
 *
 * Within a phase, what leads to an exchange comes before what does not, and what reads the rows of others as late as something else can be done that long:
 * products for gradients of weights, which nothing waits for, pass beside the exchange of the gradients of a layer. Where an order says nothing, the
 * kernels stay as they are. Any order that keeps writers before readers leaves the same bits.
 */
#include "plan.h"

typedef struct Listing {
  Arena *arena;
  const Problem *problem;
  int count;
  int *waits;           /* per op: ops before it that are not listed yet */
  int **followers, *follower_count; /* ops that come after it */
  bool *leads;          /* to an exchange */
  bool *is_listed;
  int64_t *arrives_ns;  /* per op: of an exchange, where its rows are there in the order so far */
  int64_t *needs_ns;    /* per op: before then it would wait */
  int64_t now_ns, net_ns;
} Listing;

static bool exchanges(const Listing *l, int op) { return problem_is_communication(l->problem, op, 0); }
static int64_t compute_ns(const Listing *l, int op) {
  const ProblemStage *first = &l->problem->ops[op].variants[0].stages[0];
  return first->lane == LANE_COMPUTE ? first->amount : 0;
}

static void add_follower(Listing *l, int before, int after) {
  for (int i = 0; i < l->follower_count[before]; i++)
    if (l->followers[before][i] == after) return;
  ARENA_PUSH(l->arena, l->followers[before], l->follower_count[before], after);
  l->waits[after]++;
}

/* Who reads comes after who writes, and who writes after who has read. */
static void find_followers(Listing *l) {
  const Problem *p = l->problem;
  int *writer = arena_alloc(l->arena, (size_t)(p->datum_count + 1) * sizeof *writer);
  int **readers = arena_alloc(l->arena, (size_t)(p->datum_count + 1) * sizeof *readers), *reader_count = arena_alloc(l->arena, (size_t)(p->datum_count + 1) * sizeof *reader_count);
  for (int d = 0; d < p->datum_count; d++) writer[d] = NO_INDEX;
  for (int o = 0; o < l->count; o++) {
    const ProblemOp *op = &p->ops[o];
    for (int k = 0; k < op->read_count; k++) {
      const int d = op->reads[k].datum;
      if (writer[d] != NO_INDEX && writer[d] != o) add_follower(l, writer[d], o);
      ARENA_PUSH(l->arena, readers[d], reader_count[d], o);
    }
    for (int k = 0; k < op->write_count; k++) {
      const int d = op->writes[k].datum;
      if (writer[d] != NO_INDEX && writer[d] != o) add_follower(l, writer[d], o);
      for (int r = 0; r < reader_count[d]; r++)
        if (readers[d][r] != o) add_follower(l, readers[d][r], o);
      writer[d] = o;
      reader_count[d] = 0;
    }
  }
}

static void find_leaders(Listing *l) {
  for (int o = l->count - 1; o >= 0; o--) {
    l->leads[o] = exchanges(l, o);
    for (int k = 0; k < l->follower_count[o]; k++) {
      const int after = l->followers[o][k];
      l->leads[o] |= l->leads[after] && l->problem->ops[after].phase == l->problem->ops[o].phase;
    }
  }
}

/* The lesser is taken first. An exchange; what leads to one and need not wait; while one is under way, other things that need not wait; what waits least. */
static int64_t rank_of(const Listing *l, int op, bool is_under_way) {
  const bool waits = l->needs_ns[op] > l->now_ns;
  if (exchanges(l, op) && !waits) return 0;
  if (!waits && l->leads[op]) return 1;
  if (!waits && is_under_way) return 2;
  return waits ? 4 + l->needs_ns[op] - l->now_ns : 3;
}

static int next_op(const Listing *l, ProblemPhase phase) {
  int best = NO_INDEX;
  int64_t least = INT64_MAX;
  for (int o = 0; o < l->count; o++) {
    if (l->is_listed[o] || l->waits[o] > 0 || l->problem->ops[o].phase != phase) continue;
    const int64_t rank = rank_of(l, o, l->net_ns > l->now_ns);
    if (rank < least) best = o, least = rank;
  }
  return best;
}

static void list_op(Listing *l, int op) {
  const ProblemOp *o = &l->problem->ops[op];
  if (l->needs_ns[op] > l->now_ns) l->now_ns = l->needs_ns[op];
  l->is_listed[op] = true;
  l->now_ns += compute_ns(l, op);
  l->arrives_ns[op] = 0;
  if (exchanges(l, op)) {
    l->net_ns = l->net_ns > l->now_ns ? l->net_ns : l->now_ns;
    l->net_ns += o->variants[0].stages[o->variants[0].stage_count - 1].amount;
    l->arrives_ns[op] = l->net_ns;
  }
  for (int k = 0; k < l->follower_count[op]; k++) {
    const int after = l->followers[op][k];
    l->waits[after]--;
    if (l->arrives_ns[op] > l->needs_ns[after]) l->needs_ns[after] = l->arrives_ns[op];
  }
}

static void list_phase(Listing *l, Problem *problem, ProblemPhase phase) {
  for (int op; (op = next_op(l, phase)) != NO_INDEX; list_op(l, op)) problem->order[2 * problem->order_count++] = op;
}

void order_by_exchanges(Arena *arena, Problem *problem) {
  const int count = problem->op_count;
  bool has_exchanges = false;
  for (int o = 0; o < count; o++) {
    has_exchanges |= problem_is_communication(problem, o, 0);
    if (problem->ops[o].chunks > 1) return;
  }
  if (!has_exchanges || problem->order) return;
  Listing l = {.arena = arena, .problem = problem, .count = count};
  l.waits = arena_alloc(arena, (size_t)(count + 1) * sizeof *l.waits);
  l.followers = arena_alloc(arena, (size_t)(count + 1) * sizeof *l.followers);
  l.follower_count = arena_alloc(arena, (size_t)(count + 1) * sizeof *l.follower_count);
  l.leads = arena_alloc(arena, (size_t)(count + 1) * sizeof *l.leads);
  l.is_listed = arena_alloc(arena, (size_t)(count + 1) * sizeof *l.is_listed);
  l.arrives_ns = arena_alloc(arena, (size_t)(count + 1) * sizeof *l.arrives_ns);
  l.needs_ns = arena_alloc(arena, (size_t)(count + 1) * sizeof *l.needs_ns);
  problem->order = arena_alloc(arena, (size_t)(2 * count + 1) * sizeof *problem->order);
  find_followers(&l);
  find_leaders(&l);
  for (int before = -1; before < problem->order_count;) { /* a part of the forward pass that only the backward one asks for may come after some of that */
    before = problem->order_count;
    list_phase(&l, problem, PROBLEM_PHASE_FORWARD);
    list_phase(&l, problem, PROBLEM_PHASE_BACKWARD);
  }
  list_phase(&l, problem, PROBLEM_PHASE_OPTIMISER); /* when all gradients are there */
}
