/* Policies that decide by what a value is to its layer: what each makes of layer inputs, sums over neighbours and the rest; where it cannot; and the
 * roles in the file of a problem. */
#include "compiler/planner/planner.h"
#include "suite.h"
#include "tap.h"

#include <string.h>

typedef struct Machine {
  int64_t device_bytes, host_bytes, ssd_bytes;
} Machine;

/* Two layers, each a sum (A), what is computed of it (U), and their gradients; more members of a1 and of U1. */
static char *problem_of(Arena *arena, const Machine *m, bool has_roles, const char *more_of_a1, const char *more_of_u1) {
  const char *input = has_roles ? ", \"role\": \"input\"" : "", *aggregate = has_roles ? ", \"role\": \"aggregate\"" : "";
  return arena_printf(arena, "{\"format\": \"gnncc-problem/1\", \"name\": \"layers\", \"hardware\": {\"device_bytes\": %lld, \"host_bytes\": %lld, \"ssd_bytes\": %lld, \"ring_bytes\": 4000,"
    " \"channels\": {\"d2h\": {\"bw\": 1000000000}, \"h2d\": {\"bw\": 1000000000}, \"ssdw\": {\"bw\": 1000000000}, \"ssdr\": {\"bw\": 1000000000}}},\n"
    "\"data\": [{\"id\": \"h0\", \"bytes\": 100, \"home\": \"device\"}, {\"id\": \"a1\", \"bytes\": 1000%s%s}, {\"id\": \"h1\", \"bytes\": 1000%s}, {\"id\": \"m1\", \"bytes\": 1000},"
    " {\"id\": \"a2\", \"bytes\": 1000%s}, {\"id\": \"h2\", \"bytes\": 1000%s}, {\"id\": \"m2\", \"bytes\": 1000}, {\"id\": \"g2\", \"bytes\": 1000}, {\"id\": \"d2\", \"bytes\": 1000},"
    " {\"id\": \"g1\", \"bytes\": 1000}, {\"id\": \"d1\", \"bytes\": 1000}],\n"
    "\"ops\": [{\"id\": \"A1\", \"phase\": \"fwd\", \"reads\": [\"h0\"], \"writes\": [\"a1\"], \"ns\": 500},"
    " {\"id\": \"U1\", \"phase\": \"fwd\", \"reads\": [\"a1\"], \"writes\": [\"h1\", \"m1\"], \"ns\": 500%s},"
    " {\"id\": \"A2\", \"phase\": \"fwd\", \"reads\": [\"h1\"], \"writes\": [\"a2\"], \"ns\": 500},"
    " {\"id\": \"U2\", \"phase\": \"fwd\", \"reads\": [\"a2\"], \"writes\": [\"h2\", \"m2\"], \"ns\": 500},"
    " {\"id\": \"L\", \"phase\": \"bwd\", \"reads\": [\"h2\"], \"writes\": [\"g2\"], \"ns\": 500},"
    " {\"id\": \"B2\", \"phase\": \"bwd\", \"reads\": [\"g2\", \"a2\", \"m2\"], \"writes\": [\"d2\"], \"ns\": 500},"
    " {\"id\": \"C2\", \"phase\": \"bwd\", \"reads\": [\"d2\", \"h1\"], \"writes\": [\"g1\"], \"ns\": 500},"
    " {\"id\": \"B1\", \"phase\": \"bwd\", \"reads\": [\"g1\", \"a1\", \"m1\"], \"writes\": [\"d1\"], \"ns\": 500},"
    " {\"id\": \"C1\", \"phase\": \"bwd\", \"reads\": [\"d1\", \"h0\"], \"ns\": 500}]}\n",
    (long long)m->device_bytes, (long long)m->host_bytes, (long long)m->ssd_bytes, aggregate, more_of_a1, input, aggregate, input, more_of_u1);
}

/* h, s, r or k: whether the piece goes to the host or the SSD, is made again or stays. */
static char fate_of(const PlannerPlan *plan, const char *id) {
  const Problem *p = plan->problem;
  for (int i = 0; i < plan->move_count; i++)
    if (strcmp(p->data[p->pieces[plan->moves[i].piece].datum].id, id) == 0) return plan->moves[i].to == TIER_HOST ? 'h' : 's';
  for (int i = 0; i < plan->out_count; i++)
    if (strcmp(p->data[p->pieces[plan->outs[i]].datum].id, id) == 0) return 'r';
  return 'k';
}

/* `fates`: of h1, a1, a2, m1, m2. */
static void expect(Tap *tap, const char *text, Policy policy, const char *fates, const char *what) {
  static const char *const ids[] = {"h1", "a1", "a2", "m1", "m2"};
  Arena *arena = arena_new();
  const Problem *problem = suite_read(arena, text);
  PlannerOptions options;
  PlannerReport report;
  PlannerText made;
  char found[6] = "-----";
  planner_default_options(&options);
  options.policy = (int)policy;
  const PlannerPlan *plan = planner_plan_checked(text, strlen(text), problem, &options, arena, &report, &made);
  for (int i = 0; i < 5 && plan; i++) found[i] = fate_of(plan, ids[i]);
  if (!tap_ok(tap, plan && strcmp(found, fates) == 0, "%s: %s", policy_names[policy], what)) tap_note("found %s, expected %s", found, fates);
  arena_free(arena);
}

static void test_fates(Tap *tap, Arena *arena) {
  const Machine host = {5500, 100000, 100000}, ssd = {5500, 0, 100000}, none = {5500, 0, 0}, small_host = {5500, 1000, 0}, ample = {20000, 100000, 0};
  const char *text = problem_of(arena, &host, true, "", "");
  expect(tap, text, POLICY_GRINNDER, "hrrrr", "layer inputs go to the host, the rest is made again");
  expect(tap, text, POLICY_HONGTU, "hhhrr", "so do sums over neighbours");
  text = problem_of(arena, &ssd, true, "", "");
  expect(tap, text, POLICY_GRINNDER, "srrrr", "without a host they go to the SSD");
  expect(tap, text, POLICY_HONGTU, "sssrr", "without a host they go to the SSD");
  text = problem_of(arena, &none, true, "", "");
  expect(tap, text, POLICY_GRINNDER, "rrrrr", "without either they are made again");
  text = problem_of(arena, &small_host, true, "", "");
  expect(tap, text, POLICY_HONGTU, "rhrrr", "what the host has no room for is made again");
  text = problem_of(arena, &host, true, "", ", \"recompute\": false");
  expect(tap, text, POLICY_GRINNDER, "hrrhr", "what cannot be made again goes to the host");
  text = problem_of(arena, &host, true, ", \"fates\": [\"host\"]", "");
  expect(tap, text, POLICY_GRINNDER, "hhrrr", "a pin wins");
  text = problem_of(arena, &host, true, ", \"fates\": [\"retain\"]", "");
  expect(tap, text, POLICY_HONGTU, "hkhrr", "what may only stay stays");
  text = problem_of(arena, &host, false, "", "");
  expect(tap, text, POLICY_GRINNDER, "rrrrr", "without roles all is made again");
  expect(tap, text, POLICY_HONGTU, "rrrrr", "without roles all is made again");
  text = problem_of(arena, &ample, true, "", "");
  expect(tap, text, POLICY_HONGTU, "kkkkk", "where everything fits everything stays");
}

/* Written and read again, the roles are the same, and so is the file; those of a problem without are not written. */
static void test_file(Tap *tap, Arena *arena) {
  const Machine host = {5500, 100000, 100000};
  for (int has_roles = 0; has_roles < 2; has_roles++) {
    const Problem *problem = suite_read(arena, problem_of(arena, &host, has_roles, "", ""));
    size_t length, again;
    const ProblemMeta meta = {0};
    const char *text = problem_write_json(problem, &meta, arena, &length);
    const Problem *read = suite_read(arena, text);
    bool is_alike = true;
    for (int i = 0; i < problem->datum_count; i++) is_alike = is_alike && read->data[i].role == problem->data[i].role;
    tap_ok(tap, is_alike && strcmp(problem_write_json(read, &meta, arena, &again), text) == 0, "the file of a problem %s roles is read as it was written", has_roles ? "with" : "without");
    tap_ok(tap, (strstr(text, "\"role\"") != NULL) == has_roles, "it has %s", has_roles ? "them" : "none");
    tap_ok(tap, problem->data[2].role == (has_roles ? ROLE_INPUT : ROLE_OTHER) && problem->data[1].role == (has_roles ? ROLE_AGGREGATE : ROLE_OTHER), "they are those of the data");
  }
}

/* Where a step needs more than there is, no policy fits: none is said to take no time. */
static void test_hopeless(Tap *tap, Arena *arena) {
  const Machine tiny = {1500, 100000, 0};
  PlannerOptions options;
  PlannerReport report;
  planner_default_options(&options);
  bool is_said = !planner_plan(suite_read(arena, problem_of(arena, &tiny, true, "", "")), &options, arena, &report);
  for (int policy = 0; policy < POLICY_COUNT; policy++) is_said = is_said && report.policy_ns[policy] >= COST_INVALID;
  tap_ok(tap, is_said, "no policy fits where nothing can");
}

int main(void) {
  Tap tap = {0};
  Arena *arena = arena_new();
  test_fates(&tap, arena);
  test_file(&tap, arena);
  test_hopeless(&tap, arena);
  arena_free(arena);
  return tap_end(&tap);
}
