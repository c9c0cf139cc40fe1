/* Pins: a datum that does not list "retain" leaves in every gap where another of its fates is legal, whether memory is
 * short or not, and that never makes the epoch shorter. */
#include "compiler/planner/judge.h"
#include "compiler/planner/geometry.h"
#include "suite.h"
#include "tap.h"

#include <string.h>

typedef struct Counts {
  int planned, gaps, kept, wrong_fate, shorter, invalid, infeasible, lost;
} Counts;

static PlannerPlan *plan_of(Arena *arena, const char *text, PlannerReport *report) {
  PlannerOptions options;
  planner_default_options(&options);
  return planner_plan(suite_read(arena, text), &options, arena, report);
}

/* The extended step at which base step t runs. */
static int position(const PlannerPlan *plan, int t) {
  int at = t;
  for (int i = 0; i < plan->rerun_count; i++) at += plan->reruns[i].before <= t;
  return at;
}

static const PlanMove *move_after(const PlannerPlan *plan, int piece, int u) {
  for (int i = 0; i < plan->move_count; i++)
    if (plan->moves[i].piece == piece && plan->moves[i].after == position(plan, u)) return &plan->moves[i];
  return NULL;
}

static bool is_made_again(const PlannerPlan *plan, int piece, int u, int v) {
  for (int i = 0; i < plan->rerun_count; i++)
    for (int k = 0; k < plan->reruns[i].out_count; k++)
      if (plan->outs[plan->reruns[i].out_first + k] == piece && plan->reruns[i].before > u && plan->reruns[i].before <= v) return true;
  return false;
}

static void judge_gap(Counts *c, const PlannerPlan *plan, unsigned fates, int piece, int u, int v) {
  const PlanMove *move = move_after(plan, piece, u);
  c->gaps++;
  if (move)
    c->wrong_fate += !(fates & FATE_BIT(move->to));
  else if (is_made_again(plan, piece, u, v))
    c->wrong_fate += !(fates & FATE_BIT(FATE_RECOMPUTE));
  else
    c->kept++;
}

/* Only what is beyond doubt: no communication is near, the last write is over, or the producer reads residents. */
static bool must_leave(const Problem *p, int x, int u, int v) {
  const ProblemPiece *piece = &p->pieces[x];
  for (int op = 0; op < p->op_count; op++)
    for (int k = 0; k < p->ops[op].variant_count; k++)
      if (problem_is_communication(p, op, k)) return false;
  if (v <= u + 1 || piece->home != TIER_NONE) return false;
  if (piece->fates & (FATE_BIT(FATE_HOST) | FATE_BIT(FATE_SSD))) return u >= piece->last_write;
  const ProblemStep *step = &p->steps[piece->creator];
  if (!step->can_rerun || v > step->rerun_limit) return false;
  for (int i = 0; i < step->use_count; i++) {
    const ProblemUse *use = &p->uses[step->first_use + i];
    if ((use->flags & PROBLEM_USE_READ) && p->pieces[use->piece].home == TIER_NONE) return false;
  }
  return true;
}

static void judge_pins(Counts *c, const PlannerPlan *plan) {
  const Problem *p = plan->problem;
  for (int x = 0; x < p->piece_count; x++) {
    if (p->pieces[x].fates & FATE_BIT(FATE_KEEP)) continue;
    int u = -1;
    for (int s = 0; s < p->step_count; s++)
      for (int i = 0; i < p->steps[s].use_count; i++) {
        if (p->uses[p->steps[s].first_use + i].piece != x) continue;
        if (u >= 0 && must_leave(p, x, u, s)) judge_gap(c, plan, p->pieces[x].fates, x, u, s);
        u = s;
      }
  }
  Arena *arena = arena_new();
  const Geometry *g = geometry_make(p, arena);
  for (int i = 0; i < g->gap_count; i++)
    if (geometry_is_pinned(&g->gaps[i]) && p->op_count) judge_gap(c, plan, g->gaps[i].options, g->gaps[i].piece, g->gaps[i].u, g->gaps[i].v);
  arena_free(arena);
}

static void try_instance(Counts *c, int i, bool is_tight) {
  static const char *const pins[] = {"\"recompute\"", "\"host\"", "\"ssd\"", "\"host\", \"ssd\"", "\"recompute\", \"host\""};
  Arena *arena = arena_new();
  GenerateOptions options = suite_small(i);
  options.has_host = 1;
  options.has_ssd = 1;
  if (options.family == FAMILY_GCN) options.family = FAMILY_GAT; /* the exchanges of a GCN communicate */
  char *text = generate_problem(arena, &options);
  if (!is_tight) text = generate_with_device(arena, text, (int64_t)1 << 40);
  Problem *problem = suite_read(arena, text);
  PlannerReport free_report, report;
  plan_of(arena, text, &free_report);
  for (int d = 0, pinned = 0; d < problem->datum_count && pinned < 2; d++) {
    const ProblemPiece *piece = &problem->pieces[problem->data[d].first_piece];
    if (piece->home != TIER_NONE || piece->creator < 0 || (d + i) % 3) continue;
    text = generate_with_fates(arena, text, problem->data[d].id, pins[(i + pinned++) % 5]);
  }
  PlannerPlan *plan = plan_of(arena, text, &report);
  if (plan) {
    size_t length;
    char *json = plan_write_json(plan, arena, &length);
    c->planned++;
    c->invalid += planner_check_json(text, strlen(text), json, length, NULL, NULL) != PLANNER_CHECK_VALID;
    c->shorter += free_report.is_feasible && free_report.is_optimal && report.makespan_ns < free_report.makespan_ns;
    for (int policy = 0; policy < POLICY_COUNT; policy++) c->lost += report.policy_ns[policy] < report.makespan_ns;
    judge_pins(c, plan);
  } else {
    c->infeasible++;
  }
  arena_free(arena);
}

/* x1 -> x2 -> x3 and back; the loss is not recomputable. */
static const char chain_head[] =
    "{\"format\": \"gnncc-problem/1\", \"name\": \"chain\", \"hardware\": {\"device_bytes\": 1000, \"host_bytes\": 150, "
    "\"ssd_bytes\": 0, \"ring_bytes\": 0, \"channels\": {\"d2h\": {\"bw\": 4000000000, \"lat_ns\": 0}, "
    "\"h2d\": {\"bw\": 5000000000, \"lat_ns\": 0}}}, \"data\": [{\"id\": \"x0\", \"bytes\": 20, \"home\": \"device\"}, "
    "{\"id\": \"x1\", \"bytes\": 100}, {\"id\": \"x2\", \"bytes\": 100}, {\"id\": \"g2\", \"bytes\": 20}, "
    "{\"id\": \"g1\", \"bytes\": 20}], \"ops\": ["
    "{\"id\": \"F1\", \"phase\": \"fwd\", \"reads\": [\"x0\"], \"writes\": [\"x1\"], \"ns\": 10}, "
    "{\"id\": \"F2\", \"phase\": \"fwd\", \"reads\": [\"x1\"], \"writes\": [\"x2\"], \"ns\": 10}, "
    "{\"id\": \"L\", \"phase\": \"fwd\", \"reads\": [\"x2\"], \"writes\": [\"g2\"], \"ns\": 10, \"recompute\": false}, "
    "{\"id\": \"B2\", \"phase\": \"bwd\", \"reads\": [\"g2\", \"x1\"], \"writes\": [\"g1\"], \"ns\": 10}, "
    "{\"id\": \"B1\", \"phase\": \"bwd\", \"reads\": [\"g1\", \"x2\"], \"writes\": [], \"ns\": 10}]}";

/* The makespan with x1 and x2 pinned (NULL: not); -1: infeasible. */
static int64_t chain_ns(const char *x1, const char *x2) {
  Arena *arena = arena_new();
  PlannerReport report;
  char *text = arena_strdup(arena, chain_head);
  if (x1) text = generate_with_fates(arena, text, "x1", x1);
  if (x2) text = generate_with_fates(arena, text, "x2", x2);
  bool ok = plan_of(arena, text, &report) != NULL;
  arena_free(arena);
  return ok ? report.makespan_ns : -1;
}

/* The checker on the plan made without pins, where x1 stays. */
static int check_kept(const char *x1) {
  Arena *arena = arena_new();
  PlannerReport report;
  size_t length;
  char *json = plan_write_json(plan_of(arena, chain_head, &report), arena, &length);
  const char *text = generate_with_fates(arena, chain_head, "x1", x1);
  int verdict = planner_check_json(text, strlen(text), json, length, NULL, NULL);
  arena_free(arena);
  return verdict;
}

int main(void) {
  Tap tap = {0};
  tap_ok(&tap, chain_ns(NULL, NULL) == 50, "with room for all nothing leaves");
  tap_ok(&tap, chain_ns("\"recompute\"", NULL) == 60, "pinned to recompute: one re-run, though there is room");
  tap_ok(&tap, chain_ns("\"recompute\"", "\"recompute\"") == 80, "both of a chain: the first again for the second");
  tap_ok(&tap, chain_ns("\"host\"", NULL) == 85, "pinned to the host: out from 20 to 45, in from 45 to 65");
  tap_ok(&tap, chain_ns("\"host\"", "\"host\"") == -1, "the host has no room for both: infeasible");
  tap_ok(&tap, chain_ns("\"ssd\"", NULL) == 50, "no SSD: no fate is legal, it stays");
  tap_ok(&tap, check_kept("\"host\"") == PLANNER_CHECK_INVALID, "the checker: x1 is kept and could leave");
  tap_ok(&tap, check_kept("\"recompute\"") == PLANNER_CHECK_INVALID, "the checker: x1 is kept and could be recomputed");
  tap_ok(&tap, check_kept("\"retain\", \"host\"") == PLANNER_CHECK_VALID, "the checker: x1 may stay");
  tap_ok(&tap, check_kept("\"ssd\"") == PLANNER_CHECK_VALID, "the checker: no other fate of x1 is legal");
  for (int tight = 0; tight < 2; tight++) {
    Counts c = {0};
    int count = tap_scale(48);
    for (int i = 0; i < count; i++) try_instance(&c, i, tight);
    tap_note("%s: %d planned, %d infeasible, %d pinned gaps", tight ? "tight" : "ample", c.planned, c.infeasible, c.gaps);
    tap_ok(&tap, c.planned * 10 >= count * (tight ? 7 : 10) && c.gaps >= c.planned, "most instances have a plan");
    tap_ok(&tap, c.kept == 0, "no pinned gap is kept");
    tap_ok(&tap, c.wrong_fate == 0, "every pinned gap has one of its fates");
    tap_ok(&tap, c.shorter == 0, "pins never make it shorter than the optimum without them");
    tap_ok(&tap, c.lost == 0, "no policy is better");
    tap_ok(&tap, c.invalid == 0, "the checker accepts every plan");
  }
  return tap_end(&tap);
}
