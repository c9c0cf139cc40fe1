/* The smallest device, host and SSD that an infeasible answer names: planning succeeds there and one byte below it does
 * not. What is on the device where it binds, and how people are told. */
#include "compiler/planner/plan_report.h"
#include "suite.h"
#include "tap.h"

#include <string.h>



typedef struct Tally {
  int asked, unnamed, too_small, too_large;
} Tally;

static int64_t *size_of(Problem *problem, Tier tier) {
  return tier == TIER_DEVICE ? &problem->device_bytes : tier == TIER_HOST ? &problem->host_bytes : &problem->ssd_bytes;
}

static int64_t named(const PlannerReport *report, Tier tier) {
  return tier == TIER_DEVICE ? report->least_device_bytes : tier == TIER_HOST ? report->least_host_bytes : report->least_ssd_bytes;
}

static bool is_planned(const Problem *problem, Tier tier, int64_t bytes, PlannerReport *report) {
  Arena *arena = arena_new();
  PlannerOptions options;
  Problem changed = *problem;
  *size_of(&changed, tier) = bytes;
  planner_default_options(&options);
  bool ok = planner_plan(&changed, &options, arena, report) != NULL;
  arena_free(arena);
  return ok;
}

static void ask(Tally *tally, Problem *problem, Tier tier) {
  PlannerReport report, other;
  if (is_planned(problem, tier, *size_of(problem, tier), &report)) return;
  int64_t least = named(&report, tier);
  if (least < 0) {
    tally->unnamed++;
    return;
  }
  tally->asked++;
  tally->too_small += !is_planned(problem, tier, least, &other);
  tally->too_large += least > 0 && is_planned(problem, tier, least - 1, &other);
}

/* Too little device; or a device that would do with more host or SSD than there is, nothing being recomputable. */
static void make_tight(Problem *problem, Tier tier, int i) {
  if (tier == TIER_DEVICE) {
    if (i % 3 == 2) problem->ring_bytes = 1; /* nothing goes to the SSD */
    problem->device_bytes /= 3;
    return;
  }
  for (int x = 0; x < problem->piece_count; x++) problem->pieces[x].fates &= ~FATE_BIT(FATE_RECOMPUTE);
  problem->host_bytes = tier == TIER_HOST ? 1000 : 0;
  problem->ssd_bytes = tier == TIER_SSD ? 1000 : 0;
}

static bool is_planned_by(const Problem *problem, Policy policy, Tier tier, int64_t bytes) {
  Arena *arena = arena_new();
  Problem changed = *problem;
  *size_of(&changed, tier) = bytes;
  Evaluator *evaluator = evaluator_new(arena, &changed, geometry_make(&changed, arena));
  Candidate *candidate = candidate_new(arena, evaluator);
  policy_plan(evaluator, policy, candidate);
  bool ok = candidate->cost < COST_INVALID;
  arena_free(arena);
  return ok;
}

/* The same of each policy that does not fit. */
static void ask_policies(Tally *tally, Problem *problem) {
  for (Policy policy = 0; policy < POLICY_COUNT; policy++) {
    if (is_planned_by(problem, policy, TIER_DEVICE, problem->device_bytes)) continue;
    Arena *arena = arena_new();
    PlannerOptions asked;
    PlannerReport report;
    planner_default_options(&asked);
    asked.policy = (int)policy;
    tally->unnamed += planner_plan(problem, &asked, arena, &report) != NULL;
    arena_free(arena);
    tally->unnamed += report.least_device_bytes < 0;
    for (Tier tier = TIER_DEVICE; tier < TIER_COUNT; tier++) {
      int64_t least = named(&report, tier);
      if (least < 0) continue;
      tally->asked++;
      tally->too_small += !is_planned_by(problem, policy, tier, least);
      tally->too_large += is_planned_by(problem, policy, tier, least - 1);
    }
  }
}

/* Where nothing is made again and nothing takes workspace, the pieces are all that binds. */
static void judge_bind(Tally *tally, Problem *problem) {
  Arena *arena = arena_new();
  PlannerOptions options;
  PlannerReport report;
  for (int x = 0; x < problem->piece_count; x++) problem->pieces[x].fates &= ~FATE_BIT(FATE_RECOMPUTE);
  for (int op = 0; op < problem->op_count; op++)
    for (int v = 0; v < problem->ops[op].variant_count; v++) problem->ops[op].variants[v].work_bytes = 0;
  planner_default_options(&options);
  options.least = PLANNER_LEAST_NONE;
  if (!planner_plan(problem, &options, arena, &report)) {
    int64_t bytes = 0;
    for (int i = 0; i < report.bind_piece_count; i++) bytes += problem->pieces[report.bind_pieces[i]].bytes;
    tally->asked++;
    tally->too_small += bytes < report.bind_bytes;
    tally->too_large += bytes > report.bind_bytes;
  }
  arena_free(arena);
}

static bool is_told(const Share *shares, int count, int64_t workspace, const char *wanted) {
  Arena *arena = arena_new();
  Share *list = NULL;
  int length = 0;
  int64_t bytes = workspace;
  for (int i = 0; i < count; i++) {
    ARENA_PUSH(arena, list, length, shares[i]);
    bytes += shares[i].bytes;
  }
  const char *text = plan_report_shares(arena, list, length, bytes);
  bool is_right = strcmp(text, wanted) == 0;
  if (!is_right) printf("# %s\n", text);
  arena_free(arena);
  return is_right;
}

static void judge_shares(Tap *tap) {
  Share few[] = {{"b", 100}, {"c", 52428800}, {"a", 100}};
  Share seven[] = {{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}, {"e", 5}, {"f", 6}, {"g", 7}};
  Share many[] = {{"a", 1000}, {"b", 2048}, {"c", 3072}, {"d", 4096}, {"e", 5120}, {"f", 6144}, {"g", 7168}, {"h", 536}};
  tap_ok(tap, is_told(few, 3, 0, "50.0 MiB c + 100 B a + 100 B b"), "shares: the largest first, with units");
  tap_ok(tap, is_told(few, 3, 2048, "50.0 MiB c + 2.0 KiB workspace + 100 B a + 100 B b"), "shares: what is no piece is workspace");
  tap_ok(tap, is_told(seven, 7, 0, "7 B g + 6 B f + 5 B e + 4 B d + 3 B c + 2 B b + 1 B a"), "shares: seven are told");
  tap_ok(tap, is_told(many, 8, 0,
                      "7.0 KiB g + 6.0 KiB f + 5.0 KiB e + 4.0 KiB d + 3.0 KiB c + 2.0 KiB b, and 2 smaller, 1.5 KiB in all"), "shares: of more the smallest are summed");
}

int main(void) {
  static const char *const names[] = {"device", "host", "SSD"};
  Tap tap = {0};
  int wanted = tap_scale(36);
  for (Tier tier = TIER_DEVICE; tier < TIER_COUNT; tier++) {
    Tally tally = {0};
    for (int i = 0; i < wanted; i++) {
      Arena *arena = arena_new();
      GenerateOptions options = suite_small(i);
      if (tier == TIER_DEVICE && i % 3 == 1) options.has_host = 0;
      if (tier != TIER_DEVICE) {
        options.has_host = options.has_ssd = 1;
        if (options.budget > 0.5) options.budget = 0.5;
      }
      char *text = generate_problem(arena, &options);
      int places;
      if (i % 2) text = generate_with_places(arena, text, (uint64_t)i, &places);
      Problem *problem = suite_read(arena, text);
      make_tight(problem, tier, i);
      ask(&tally, problem, tier);
      arena_free(arena);
    }
    tap_ok(&tap, tally.asked * 2 > wanted, "%s: %d problems are infeasible", names[tier], tally.asked);
    tap_ok(&tap, tier != TIER_DEVICE || tally.unnamed == 0, "%s: a size that would do is named (%d are told that none helps)", names[tier], tally.unnamed);
    tap_ok(&tap, tally.too_small == 0, "%s: with it a plan is found (%d without)", names[tier], tally.too_small);
    tap_ok(&tap, tally.too_large == 0, "%s: with one byte less none is (%d with)", names[tier], tally.too_large);
  }
  Tally tally = {0};
  for (int i = 0; i < wanted / 3; i++) {
    Arena *arena = arena_new();
    GenerateOptions options = suite_small(i);
    ask_policies(&tally, suite_read(arena, generate_problem(arena, &options)));
    arena_free(arena);
  }
  tap_ok(&tap, tally.asked > wanted / 3 && tally.unnamed == 0, "policies: %d sizes are named, always one of the device", tally.asked);
  tap_ok(&tap, tally.too_small == 0, "policies: with it the policy fits (%d without)", tally.too_small);
  tap_ok(&tap, tally.too_large == 0, "policies: with one byte less it does not (%d with)", tally.too_large);
  Tally bind = {0};
  for (int i = 0; i < wanted; i++) {
    Arena *arena = arena_new();
    GenerateOptions options = suite_small(i);
    char *text = generate_problem(arena, &options);
    int places;
    if (i % 2) text = generate_with_places(arena, text, (uint64_t)i, &places);
    Problem *problem = suite_read(arena, text);
    make_tight(problem, TIER_DEVICE, i);
    judge_bind(&bind, problem);
    arena_free(arena);
  }
  tap_ok(&tap, bind.asked * 2 > wanted && bind.too_small == 0 && bind.too_large == 0,
         "of %d problems all that is on the device where they bind is told (%d less, %d more)", bind.asked, bind.too_small, bind.too_large);
  judge_shares(&tap);
  return tap_end(&tap);
}
