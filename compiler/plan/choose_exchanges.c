/* choose_exchanges: PlanRequest of ranks, a plan in which they exchange rows -> the faster of it and of those in which sums over neighbours go over columns of all rows.
 *
 * First all layers that can do so in both passes, then each of them otherwise: what a layer's exchange takes depends little on those of others. Nothing is tried where the rows of others are so few that
 * columns could not pass in less time. */
#include "answer.h"
#include "compiler/graph/transpose.h"

enum { MOST_FLIPPED = 16 };

static const Graph *graph_of(const PlanRequest *r) { return r->forms[FORM_PLAIN].evaluations[0].graph; }

/* Of rows of some width: about, as what is computed counts, too. */
static bool is_worth_trying(const PlanRequest *r) {
  enum { WIDTH = 128 };
  const RankInfo *ranks = graph_of(r)->program->info->ranks;
  const double columns = 2 * seconds_of_columns(&r->machine, ranks, 4 * columns_of_ranks(WIDTH, ranks->count));
  return columns < seconds_of_rows(&r->machine, ranks, END_DST, 4 * WIDTH) || columns < seconds_of_rows(&r->machine, ranks, END_SRC, 4 * WIDTH);
}

static const PlanAnswer *better(const PlanAnswer *a, const PlanAnswer *b) {
  if (!b->fits || b->fault) return a;
  return !a->fits || answer_seconds(b) < answer_seconds(a) ? b : a;
}

static const PlanAnswer *answer_with(const PlanRequest *request, const LayersOfSums *layers, const PlanAnswer *best) {
  Cut cut = request->cut;
  cut.transposed = layers->count > 0 ? layers : NULL;
  PlanRequest r = plan_request_cut(request, cut);
  if (!cut_is(r.cut, cut)) return best;
  if (best->fits) r.worth_seconds = answer_seconds(best);
  return better(best, plan_answer_uncut(&r));
}

/* Without the one of `all` if it is there, with it if not. */
static const LayersOfSums *flipped(Arena *arena, const LayersOfSums *all, const LayersOfSums *now, int which) {
  LayersOfSums *layers = arena_alloc(arena, sizeof *layers);
  for (int i = 0; i < all->count; i++)
    if (layers_have(now, all->list[i].layer, all->list[i].pass) != (i == which)) ARENA_PUSH(arena, layers->list, layers->count, all->list[i]);
  return layers;
}

const PlanAnswer *with_transposed_sums(const PlanRequest *request, const PlanAnswer *halos) {
  const LayersOfSums *all = request->may_transpose;
  if (!all || halos->fault || request->is_quick || request->given || (halos->fits && !is_worth_trying(request))) return halos;
  const PlanAnswer *best = answer_with(request, all, halos);
  for (int i = 0; i < all->count && all->count > 1 && all->count <= MOST_FLIPPED; i++) best = answer_with(request, flipped(request->arena, all, best->cut.transposed, i), best);
  return best;
}
