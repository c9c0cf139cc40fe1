/* choose_exchanges: PlanRequest of ranks, a plan in which they exchange rows -> the fastest of it and of those in which sums over neighbours go over columns of all rows, or ranks make rows of others
 * themselves; or keep not all tables of rows that never change.
 *
 * First all layers that can do so in both passes, then each of them otherwise: what a layer's exchange takes depends little on those of others. Columns are not tried where the rows of others are so few that
 * these could not pass in less time, nor rows made where next to nothing is waited for, nor tables dropped where all has room. */
#include "answer.h"
#include "compiler/graph/transpose.h"

#include <math.h>
#include <string.h>

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

static const PlanAnswer *answer_with(const PlanRequest *request, Cut cut, const PlanAnswer *best) {
  PlanRequest r = plan_request_cut(request, cut);
  if (!cut_is(r.cut, cut)) return best;
  if (best->fits) r.worth_seconds = answer_seconds(best);
  return better(best, plan_answer_uncut(&r));
}

static const LayersOfSums **layers_of(Cut *cut, Exchange exchange) { return exchange == EXCHANGE_TRANSPOSE ? &cut->transposed : &cut->recomputed; }

/* Without the one of `all` if it is there, with it if not. */
static const LayersOfSums *flipped(Arena *arena, const LayersOfSums *all, const LayersOfSums *now, int which) {
  LayersOfSums *layers = arena_alloc(arena, sizeof *layers);
  for (int i = 0; i < all->count; i++)
    if (layers_have(now, all->list[i].layer, all->list[i].pass) != (i == which)) ARENA_PUSH(arena, layers->list, layers->count, all->list[i]);
  return layers;
}

/* `cut` with all of these layers so, then with each of them otherwise. */
static const PlanAnswer *with_layers(const PlanRequest *request, Cut cut, Exchange exchange, const LayersOfSums *all, const PlanAnswer *best) {
  const int flips = all->count > 1 && all->count <= MOST_FLIPPED ? all->count : 0;
  for (int i = -1; i < flips; i++) {
    Cut fastest = best->cut;
    const LayersOfSums *layers = i < 0 ? all : flipped(request->arena, all, *layers_of(&fastest, exchange), i);
    *layers_of(&cut, exchange) = layers->count > 0 ? layers : NULL;
    best = answer_with(request, cut, best);
  }
  return best;
}

static const PlanAnswer *with_transposed_sums(const PlanRequest *request, const PlanAnswer *halos) {
  const LayersOfSums *all = request->may_transpose;
  return all && (!halos->fits || is_worth_trying(request)) ? with_layers(request, request->cut, EXCHANGE_TRANSPOSE, all, halos) : halos;
}

enum { LEAST_GAIN = 50 /* one part in so many: less is within what estimates are wrong by, and values in parts hide more than they are planned to */ };

/* What has no room has none for rows that come once, either. */
static bool waits_for_rows(const PlanAnswer *answer) { return answer->fits && LEAST_GAIN * answer->schedule->net.wait_seconds > answer_seconds(answer); }

/* Beside columns, where some layers have these. */
static const PlanAnswer *with_recomputed_rows(const PlanRequest *request, const PlanAnswer *received) {
  const LayersOfSums *all = request->may_recompute;
  if (!all || !waits_for_rows(received)) return received;
  Cut cut = request->cut;
  cut.transposed = received->cut.transposed;
  const PlanAnswer *best = with_layers(request, cut, EXCHANGE_RECOMPUTE, all, received);
  return LEAST_GAIN * answer_seconds(best) < (LEAST_GAIN - 1) * answer_seconds(received) || best->fault ? best : received;
}

static int64_t bytes_of(const OnceTables *tables) {
  int64_t bytes = 0;
  for (int i = 0; i < tables->count; i++) bytes += tables->list[i].bytes;
  return bytes;
}

/* Values move or are made again; or exchanges are waited for, and there is less room left for what would run beside them than tables take. */
static bool lacks_room(const PlanRequest *request, const OnceTables *tables, const PlanAnswer *answer) {
  bool is_short = !answer->fits || (waits_for_rows(answer) && request->machine.tier_bytes[TIER_DEVICE] - answer->layout->bytes < bytes_of(tables));
  for (int i = 0; !is_short && i < answer->schedule->copy_count; i++) is_short = answer->schedule->copies[i].lane != LANE_NET;
  for (int i = 0; !is_short && i < answer->schedule->count; i++) is_short = answer->schedule->steps[i].is_rerun;
  return is_short;
}

static bool keeps_tables(const Form *form) {
  for (int i = 0; form->evaluation_count > 0 && form->once && i < form->once_graph->once_count; i++)
    if (form->once_graph->values[form->once_graph->once[i]].op == OP_HALO) return true;
  return false;
}

/* Rows whose table is the largest of those that were not gone over; NULL: none is left. */
static const char *next_largest(const OnceTables *tables, bool *is_done) {
  int largest = NO_INDEX;
  for (int i = 0; i < tables->count; i++)
    if (!is_done[i] && (largest == NO_INDEX || tables->list[i].bytes > tables->list[largest].bytes)) largest = i;
  if (largest != NO_INDEX) is_done[largest] = true;
  return largest == NO_INDEX ? NULL : tables->list[largest].rows;
}

/* Without these rows if they are there, with them if not. NULL: then all would be there, or none. */
static const RowsAgain *rows_flipped(Arena *arena, const OnceTables *all, const RowsAgain *now, const char *rows) {
  RowsAgain *again = arena_alloc(arena, sizeof *again);
  for (int i = 0; i < all->count; i++)
    if (come_again(now, all->list[i].rows) != (strcmp(all->list[i].rows, rows) == 0)) ARENA_PUSH(arena, again->rows, again->count, all->list[i].rows);
  return again->count > 0 && again->count < all->count ? again : NULL;
}

/* The plain form keeps no table. */
static const RowsAgain *rows_again(const PlanAnswer *answer) { return answer->form == FORM_PLAIN ? &all_rows_again : answer->cut.again; }

static PlanRequest request_with(const PlanRequest *request, Cut cut, const RowsAgain *again) {
  cut.again = again;
  return plan_request_cut(request, cut);
}

/* About, of a form of the request's cut; INFINITY: it does not fit, or takes as long as `worth`. */
static double sketched_seconds(PlanRequest r, FormKind form, double worth) {
  r.effort = PLANNER_FAST;
  r.least = PLANNER_LEAST_NONE;
  r.worth_seconds = isfinite(worth) ? worth : 0;
  const Plan *plan = plan_sketch(&r, form);
  const double seconds = plan ? plan_announced_seconds(&r, plan) : INFINITY;
  return seconds < worth ? seconds : INFINITY;
}

/* Each table otherwise than is sketched the fastest so far, the largest first: what a table costs depends little on the others. What that comes to is planned. */
static const PlanAnswer *with_some_tables(const PlanRequest *request, const OnceTables *tables, const PlanAnswer *best) {
  enum { MOST_TABLES = 8 };
  bool *is_done = arena_alloc(request->arena, (size_t)tables->count * sizeof *is_done);
  const RowsAgain *before = rows_again(best), *now = before;
  const bool is_short = lacks_room(request, tables, best);
  double seconds = best->fits ? sketched_seconds(plan_request_cut(request, best->cut), best->form, INFINITY) : INFINITY;
  const char *rows;
  for (int i = 0; i < MOST_TABLES && (rows = next_largest(tables, is_done)); i++) {
    const RowsAgain *again = rows_flipped(request->arena, tables, now, rows);
    if (!again || (!is_short && !come_again(now, rows))) continue;
    const double otherwise = sketched_seconds(request_with(request, best->cut, again), FORM_HOISTED, seconds);
    if (otherwise < seconds) seconds = otherwise, now = again;
  }
  if (now == before) return best;
  PlanRequest r = request_with(request, best->cut, now);
  if (best->fits) r.worth_seconds = answer_seconds(best);
  return better(best, plan_answer_in_form(&r, FORM_HOISTED));
}

/* Without tables of rows that never change, which would take the room of what moves: without any, then with some of them. Where sums have no room that are computed once, tables beside them have none. */
static const PlanAnswer *without_tables(const PlanRequest *request, const PlanAnswer *best) {
  Cut cut = best->cut;
  if (!request->may_dedup || cut.again || cut_has_data_away(cut)) return best;
  const Form *kept = &plan_request_cut(request, cut).forms[FORM_HOISTED];
  if (!keeps_tables(kept) || !lacks_room(request, kept->tables, best)) return best;
  cut.again = &all_rows_again;
  const bool has_sums = plan_request_cut(request, cut).forms[FORM_HOISTED].evaluation_count > 0;
  if (has_sums || best->form == FORM_HOISTED) best = answer_with(request, cut, best);
  return request->effort == PLANNER_FAST || (has_sums && best->form == FORM_PLAIN) ? best : with_some_tables(request, kept->tables, best);
}

const PlanAnswer *with_other_exchanges(const PlanRequest *request, const PlanAnswer *halos) {
  if (halos->fault || request->is_quick || request->given) return halos;
  const PlanAnswer *best = with_transposed_sums(request, halos);
  if (!best->fault) best = without_tables(request, best);
  return best->fault ? best : with_recomputed_rows(request, best);
}
