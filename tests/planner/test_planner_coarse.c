/* Runs of pieces as one: the coarse problem holds and takes what the fine one does, its decisions are those of its pieces, and what is found there is faster. */
#include "compiler/planner/coarse.h"
#include "compiler/planner/multilevel.h"
#include "compiler/planner/wishes.h"
#include "generate_parts.h"
#include "suite.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const PartsOptions rows = {"192 rows, 8 layers", 111059956, 1615685872, 128, 256, 172, 8, PARTS_ROWS, 192, 1, true, true, true, 0.25};
static const PartsOptions slices = {"64 x 8 slices", 2449029, 123718280, 100, 256, 47, 3, PARTS_SLICES, 64, 8, true, true, false, 0.25};

static int64_t op_ns(const Problem *p, int op) {
  int64_t ns = 0;
  for (int k = 0; k < p->ops[op].chunks; k++) ns += problem_step_ns(p, p->op_steps[p->ops[op].first_step + k], 0);
  return ns;
}

static int64_t lane_ns(const Problem *p) {
  int64_t ns = 0;
  for (int x = 0; x < p->piece_count; x++) ns += p->pieces[x].h2d_ns;
  return ns;
}

/* Everything is there, in fewer pieces and steps. */
static void judge_problem(Tap *tap, const PartsOptions *instance, int chunks) {
  Arena *arena = arena_new();
  const Problem *fine = suite_read(arena, generate_parts(arena, instance));
  const Coarse *coarse = coarse_problem(arena, fine, chunks);
  if (tap_ok(tap, coarse != NULL, "%s in %d: made", instance->name, chunks)) {
    const Problem *p = coarse->problem;
    bool is_same = true, is_in_order = true;
    int most = 0;
    for (int x = 0; x < fine->piece_count; x++) is_same = is_same && p->pieces[coarse->piece_of[x]].datum == fine->pieces[x].datum;
    for (int d = 0; d < fine->datum_count; d++) {
      int64_t bytes = 0;
      for (int k = 0; k < p->data[d].chunks; k++) bytes += p->pieces[p->data[d].first_piece + k].bytes;
      is_same = is_same && bytes == fine->data[d].bytes;
    }
    for (int op = 0; op < fine->op_count; op++) is_same = is_same && op_ns(p, op) == op_ns(fine, op);
    for (int op = 0; op < fine->op_count; op++) most = p->ops[op].chunks > most ? p->ops[op].chunks : most;
    for (int s = 0; s < p->step_count; s++) is_in_order = is_in_order && coarse->step_of[coarse->first_of[s]] == s;
    tap_ok(tap, is_same, "%s in %d: the same bytes of each datum and time of each op", instance->name, chunks);
    tap_ok(tap, is_in_order && most == chunks && 2 * p->piece_count <= fine->piece_count, "%s in %d: %d pieces of %d", instance->name, chunks, p->piece_count, fine->piece_count);
    const double ratio = (double)lane_ns(p) / (double)lane_ns(fine);
    tap_ok(tap, ratio > 0.99 && ratio < 1.01, "%s in %d: copies take as long, with the latencies of the small ones (%.4f)", instance->name, chunks, ratio);
    tap_ok(tap, coarse_problem(arena, p, chunks) == NULL, "%s in %d: not once more", instance->name, chunks);
  }
  arena_free(arena);
}

/* What most others read is a piece of its own: a hub in a run of parts would keep all of them there. */
static void judge_hub(Tap *tap) {
  Arena *arena = arena_new();
  const Problem *fine = suite_read(arena, generate_parts(arena, &rows));
  const Coarse *coarse = coarse_problem(arena, fine, 16);
  bool is_apart = coarse != NULL;
  for (int d = 0; coarse && d < fine->datum_count; d++)
    if (!strncmp(fine->data[d].id, "z", 1) && fine->data[d].chunks == rows.parts)
      for (int k = 1; k < rows.parts; k++) is_apart = is_apart && coarse->piece_of[fine->data[d].first_piece + k] != coarse->piece_of[fine->data[d].first_piece];
  tap_ok(tap, is_apart, "the part of the hubs is apart");
  arena_free(arena);
}

/* A plan of the coarse problem is one of the fine, which is no slower: smaller pieces overlap better. */
static void judge_refined(Tap *tap) {
  Arena *arena = arena_new();
  const Problem *fine = suite_read(arena, generate_parts(arena, &rows));
  const Coarse *coarse = coarse_problem(arena, fine, 16);
  Session *above = session_new(fine, arena, 0), *below = session_new(coarse->problem, arena, 0);
  Candidate *decided = candidate_new(arena, below->evaluator), *refined = candidate_new(arena, above->evaluator);
  session_try_fillings(below, NULL);
  candidate_copy(below->evaluator, decided, below->search->best);
  coarse_refine(coarse, below->evaluator, decided, above->evaluator, refined);
  int away = 0, away_below = 0;
  for (int i = 0; i < above->geometry->gap_count; i++) away += refined->fates[i] != FATE_KEEP;
  for (int i = 0; i < below->geometry->gap_count; i++) away_below += decided->fates[i] != FATE_KEEP;
  const int64_t cost = evaluate_candidate(above->evaluator, refined);
  tap_ok(tap, decided->cost < COST_INVALID && cost < COST_INVALID && (double)cost < 1.02 * (double)decided->cost, "a coarse plan of %.2f s is a fine one of %.2f s", 1e-9 * (double)decided->cost, 1e-9 * (double)cost);
  tap_ok(tap, away_below > 0 && away > 8 * away_below, "%d pieces away for %d", away, away_below);

  Wishes wishes = wishes_of(arena, below->evaluator, decided);
  below->search->policies = PREFETCH_FEW;
  wishes_search(below->search, &wishes, 2000000);
  tap_ok(tap, (double)below->search->best->cost < 0.97 * (double)decided->cost, "wishes find a plan of %.2f s", 1e-9 * (double)below->search->best->cost);
  arena_free(arena);
}

/* Of fillings alone more would be left to find. */
static void judge_session(Tap *tap) {
  Arena *arena = arena_new();
  Session *s = session_new(suite_read(arena, generate_parts(arena, &rows)), arena, 0);
  session_try_fillings(s, NULL);
  const int64_t before = s->search->best->cost;
  multilevel_search(s, &(Budget){.units = 4000000, .coarse_units = 2000000});
  tap_ok(tap, (double)s->search->best->cost < 0.95 * (double)before && s->second && s->second->cost == before, "from %.2f s to %.2f s, and the plan before is known", 1e-9 * (double)before, 1e-9 * (double)s->search->best->cost);
  arena_free(arena);
}

int main(void) {
  Tap tap = {0};
  judge_problem(&tap, &rows, 16);
  judge_problem(&tap, &slices, 16);
  judge_hub(&tap);
  judge_refined(&tap);
  judge_session(&tap);
  return tap_end(&tap);
}
