/* Hand-edited plans: every edit that makes a plan illegal or its claims false is rejected. */
#include "compiler/planner/judge.h"
#include "random_plan.h"
#include "suite.h"
#include "tap.h"

#include <string.h>

typedef struct Edited {
  int tried, accepted;
  const char *kind;
} Edited;

static int judge(Arena *arena, const char *text, const PlannerPlan *plan) {
  size_t length;
  char *json = plan_write_json(plan, arena, &length);
  return planner_check_json(text, strlen(text), json, length, NULL, NULL);
}

static void expect_rejection(Edited *edited, Arena *arena, const char *text, const PlannerPlan *plan) {
  edited->tried++;
  if (judge(arena, text, plan) == PLANNER_CHECK_INVALID) return;
  edited->accepted++;
  tap_note("%s: accepted on %s", edited->kind, plan->problem->name);
}

static PlannerPlan copy_of(Arena *arena, const PlannerPlan *plan) {
  PlannerPlan copy = *plan;
  copy.moves = arena_alloc(arena, (size_t)plan->move_count * sizeof(PlanMove) + 1);
  copy.reruns = arena_alloc(arena, (size_t)plan->rerun_count * sizeof(PlanRerun) + 1);
  if (plan->move_count) memcpy(copy.moves, plan->moves, (size_t)plan->move_count * sizeof(PlanMove));
  if (plan->rerun_count) memcpy(copy.reruns, plan->reruns, (size_t)plan->rerun_count * sizeof(PlanRerun));
  return copy;
}

enum { SHIFT_G, G_TOO_LATE, DROP_MOVE, DOUBLE_MOVE, MOVE_NOWHERE, OTHER_TIER, DROP_RERUN, EARLY_RERUN, CLAIM_TIME,
       CLAIM_PEAK, CLAIM_BOUND, SHIFT_OFFSET, DROP_OFFSET, OTHER_PLACE, OTHER_PROBLEM, KINDS };

static void edit_moves(Edited *edited, Arena *arena, const char *text, const PlannerPlan *plan) {
  for (int m = 0; m < plan->move_count; m++) {
    PlannerPlan edit = copy_of(arena, plan);
    PlanMove *move = &edit.moves[m];
    move->g += move->g > move->after + 1 ? -1 : 1;
    move->f = -1;
    if (move->g <= move->v) expect_rejection(&edited[SHIFT_G], arena, text, &edit);
    edit = copy_of(arena, plan);
    edit.moves[m].g = edit.moves[m].v + 1;
    expect_rejection(&edited[G_TOO_LATE], arena, text, &edit);
    edit = copy_of(arena, plan);
    edit.moves[m] = edit.moves[--edit.move_count];
    expect_rejection(&edited[DROP_MOVE], arena, text, &edit);
    edit = copy_of(arena, plan);
    if (plan->move_count > 1) {
      edit.moves[m] = edit.moves[(m + 1) % plan->move_count];
      expect_rejection(&edited[DOUBLE_MOVE], arena, text, &edit);
    }
    edit = copy_of(arena, plan);
    edit.moves[m].after++;
    expect_rejection(&edited[MOVE_NOWHERE], arena, text, &edit);
    if (plan->problem->ssd_bytes == 0 || plan->problem->pieces[plan->moves[m].piece].home != TIER_NONE) {
      edit = copy_of(arena, plan);
      edit.moves[m].to = edit.moves[m].to == TIER_HOST ? TIER_SSD : TIER_HOST;
      expect_rejection(&edited[OTHER_TIER], arena, text, &edit);
    }
  }
  for (int i = 0; i < plan->rerun_count; i++) {
    PlannerPlan edit = copy_of(arena, plan);
    memmove(edit.reruns + i, edit.reruns + i + 1, (size_t)(edit.rerun_count - i - 1) * sizeof(PlanRerun));
    edit.rerun_count--;
    expect_rejection(&edited[DROP_RERUN], arena, text, &edit);
    edit = copy_of(arena, plan);
    edit.reruns[i].before = edit.reruns[i].step;
    expect_rejection(&edited[EARLY_RERUN], arena, text, &edit);
  }
}

static void edit_claims(Edited *edited, Arena *arena, const char *text, const PlannerPlan *plan) {
  for (int sign = -1; sign <= 1; sign += 2) {
    PlannerPlan edit = *plan;
    edit.makespan_ns += sign;
    expect_rejection(&edited[CLAIM_TIME], arena, text, &edit);
    edit = *plan;
    edit.peak_bytes += sign;
    expect_rejection(&edited[CLAIM_PEAK], arena, text, &edit);
  }
  PlannerPlan edit = *plan;
  edit.lower_bound_ns++;
  expect_rejection(&edited[CLAIM_BOUND], arena, text, &edit);
  edit = *plan;
  edit.certificate.kind = CERTIFICATE_NONE;
  expect_rejection(&edited[CLAIM_BOUND], arena, text, &edit);
  edit = *plan;
  edit.problem = arena_alloc(arena, sizeof *plan->problem);
  Problem renamed = *plan->problem;
  renamed.name = "another";
  edit.problem = &renamed;
  expect_rejection(&edited[OTHER_PROBLEM], arena, text, &edit);
}

/* What takes the place of another lies where it lay. */
static void edit_places(Edited *edited, Arena *arena, const char *text, const PlannerPlan *plan) {
  for (int i = 0; i < plan->interval_count; i++) {
    if (plan->intervals[i].taken_by < 0 || !plan->intervals[i].bytes) continue;
    PlannerPlan edit = *plan;
    edit.intervals = arena_alloc(arena, (size_t)plan->interval_count * sizeof *edit.intervals);
    memcpy(edit.intervals, plan->intervals, (size_t)plan->interval_count * sizeof *edit.intervals);
    edit.intervals[i].offset += edit.intervals[i].offset > 0 ? -1 : 1;
    expect_rejection(&edited[OTHER_PLACE], arena, text, &edit);
  }
}

static void edit_addresses(Edited *edited, Arena *arena, const char *text, const PlannerPlan *plan) {
  for (int i = 0; i < plan->interval_count; i++) {
    /* On top of another interval that is live at the same time. */
    for (int k = 0; k < plan->interval_count; k++) {
      const PlanInterval *a = &plan->intervals[i], *b = &plan->intervals[k];
      if (i == k || a->until < b->from || b->until < a->from || !a->bytes || !b->bytes) continue;
      PlannerPlan edit = *plan;
      edit.intervals = arena_alloc(arena, (size_t)plan->interval_count * sizeof *edit.intervals);
      memcpy(edit.intervals, plan->intervals, (size_t)plan->interval_count * sizeof *edit.intervals);
      edit.intervals[i].offset = b->offset;
      expect_rejection(&edited[SHIFT_OFFSET], arena, text, &edit);
      break;
    }
    PlannerPlan edit = *plan;
    edit.intervals = arena_alloc(arena, (size_t)plan->interval_count * sizeof *edit.intervals);
    memcpy(edit.intervals, plan->intervals, (size_t)plan->interval_count * sizeof *edit.intervals);
    edit.intervals[i] = edit.intervals[--edit.interval_count];
    if (plan->intervals[i].bytes) expect_rejection(&edited[DROP_OFFSET], arena, text, &edit);
  }
}

int main(void) {
  static const char *const kinds[KINDS] = {
      "g one step off", "g after the access", "a move dropped", "a move twice", "a move of no gap", "another tier",
      "a re-run dropped", "a re-run before the first run", "makespan off by one", "peak off by one", "bound too high",
      "two pieces at one address", "no address", "a place taken that is another", "a plan of another problem"};
  Tap tap = {0};
  Edited edited[KINDS] = {{0}};
  for (int k = 0; k < KINDS; k++) edited[k].kind = kinds[k];
  int instances = tap_scale(40), planned = 0;
  for (int i = 0; i < instances; i++) {
    Arena *arena = arena_new();
    GenerateOptions options = suite_small(3 * i + 1);
    char *text = generate_problem(arena, &options);
    int places;
    if (i % 2) text = generate_with_places(arena, text, (uint64_t)i, &places);
    Problem *problem = suite_read(arena, text);
    PlannerOptions how;
    planner_default_options(&how);
    how.effort = PLANNER_FAST;
    how.policy = i % 4 == 0 ? POLICY_OFFLOAD : i % 4 == 1 ? POLICY_RECOMPUTE : -1;
    PlannerReport report;
    PlannerPlan *plan = planner_plan(problem, &how, arena, &report);
    if (plan) {
      planned++;
      if (judge(arena, text, plan) != PLANNER_CHECK_VALID) tap_ok(&tap, false, "the plan of %s is valid", problem->name);
      edit_moves(edited, arena, text, plan);
      edit_claims(edited, arena, text, plan);
      edit_addresses(edited, arena, text, plan);
      edit_places(edited, arena, text, plan);
    }
    arena_free(arena);
  }
  tap_ok(&tap, planned * 2 > instances, "%d plans to edit", planned);
  for (int k = 0; k < KINDS; k++)
    tap_ok(&tap, edited[k].accepted == 0 && (edited[k].tried > 0 || instances < 10), "%s: %d rejected", kinds[k], edited[k].tried);
  return tap_end(&tap);
}
