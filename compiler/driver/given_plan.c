/* given_plan: --plan-from. The plan is of one form of the program under one cut; of which forms is found by trying, and where it is of none, which other
 * cut it is of. */
#include "given_plan.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "cut_forms.h"
#include "exchanges.h"
#include "compiler/plan/pins.h"
#include "runtime/base/open.h"

/* NULL with `error` set: of no order of the steps of ranks. */
static const Plan *plan_in_some_order(const PlanRequest *request, const PlanningProblem *problem, const char *text, size_t length, ProblemError *error) {
  const Plan *plan = NULL;
  for (int order = 0; order < EXCHANGE_ORDER_COUNT && !plan; order++)
    if (planning_has_order(problem, (ExchangeOrder)order)) plan = plan_from_text(request->arena, planning_problem_in_order(request->arena, problem, (ExchangeOrder)order), text, length, error);
  return plan;
}

/* NULL with `error` set: of no form of the request, in no order. */
static const Plan *plan_of_form(const PlanRequest *request, const char *text, size_t length, FormKind *kind, ProblemError *error) {
  const Plan *plan = NULL;
  for (int form = FORM_HOISTED; form >= FORM_PLAIN && !plan; form--) {
    if (!request->forms[form].training_kernels) continue;
    *kind = (FormKind)form;
    const PlanningProblem *problem = plan_problem_of(request, (FormKind)form, error);
    plan = problem ? plan_in_some_order(request, problem, text, length, error) : NULL;
    if (plan || !problem || problem->staging_bytes == 0) continue;
    const PlanRequest without = plan_request_without_ssd(*request); /* of a plan for which nothing passes to the SSD */
    ProblemError unused;
    const PlanningProblem *other = plan_problem_of(&without, (FormKind)form, &unused);
    plan = other ? plan_in_some_order(request, other, text, length, &unused) : NULL;
  }
  return plan;
}

/* ---- of another cut ---- */

/* Of a report. */
static bool cut_of_report(const Compilation *c, const char *text, size_t length, Cut *cut) {
  json_t *root = json_loadb(text, length, 0, NULL);
  const char *fields = "", *graph = "", *learned = "", *scores = tier_names[TIER_DEVICE];
  int has_halos = 0;
  bool is_there = json_unpack(json_object_get(root, "cut"), "{s:i, s:i, s?b, s:s, s:s, s:s, s?s}", "parts", &cut->parts, "slices", &cut->slices, "halos", &has_halos, "fields_home", &fields, "graph_home", &graph,
                              "learned_home", &learned, "scores_home", &scores) == 0;
  cut->has_halos = has_halos;
  const int fields_home = vocabulary_find(tier_names, fields), graph_home = vocabulary_find(tier_names, graph), learned_home = vocabulary_find(tier_names, learned);
  is_there = is_there && fields_home >= 0 && graph_home >= 0 && learned_home >= 0;
  cut->ranks = c->request.cut.ranks;
  if (is_there) *cut = cut_with_homes(&c->machine, scores_bytes(c), *cut, (Tier)fields_home, (Tier)graph_home, (Tier)learned_home);
  if (is_there && strcmp(scores, tier_names[TIER_DEVICE]) != 0) *cut = cut_with_scores_away(&c->machine, scores_bytes(c), *cut);
  const char *layers = json_string_value(json_object_get(json_object_get(root, "cut"), "layers"));
  const CutWish wish = {.mode = cut->slices > 1 ? CUT_SLICES : CUT_ROWS, .count = cut->slices > 1 ? cut->slices : cut->parts, .layers = layers};
  if (is_there && layers) cut->layers = cut_layers(c, wish);
  int of_fields, of_graph, of_learned;
  json_int_t cached;
  if (json_unpack(json_object_get(json_object_get(root, "cut"), "cached"), "{s:I, s:b, s:b, s:b}", "bytes", &cached, "fields", &of_fields, "graph", &of_graph, "learned", &of_learned) == 0)
    cut->cached = (CachedData){cached, of_fields, of_graph, of_learned};
  json_decref(root);
  return is_there && cut->parts >= 1 && cut->slices >= 1;
}

static bool is_plan_of_cut(const Compilation *c, Cut cut, const char *text, size_t length) {
  const PlanRequest request = plan_request_cut(&c->request, cut);
  ProblemError error = {"", ""};
  FormKind form;
  return cut_is(request.cut, cut) && plan_of_form(&request, text, length, &form, &error);
}

/* What was to be at home on the host, where it had room. */
static const char *home_word(Tier home, bool is_cached) { return tier_names[is_cached ? TIER_HOST : home]; }

/* What a user says for it; NULL: there are no words for it. */
static const char *words_of_cut(const Compilation *c, Cut cut) {
  const int usual = parts_at_most(c->program->info, PARTS_USUALLY);
  const char *words, *layers = layer_cuts_text(c->arena, cut.layers, cut.parts);
  if (cut.slices > 1 && cut.parts != usual && !strstr(layers, "rows(")) return NULL;
  if (cut.slices > 1) words = arena_printf(c->arena, "--cut='slices(%d)%s'", cut.slices, layers);
  else words = cut.parts > 1 ? arena_printf(c->arena, "--cut='%s(%d)%s'", cut.has_halos ? "halos" : "rows", cut.parts, layers) : "--cut=whole";
  const char *fates = "";
  const Cut asked = cut_asked(c);
  if (cut.fields_home != asked.fields_home) fates = arena_printf(c->arena, "fate \"%s\" = %s", cut_field_away(c), home_word(cut.fields_home, cut.cached.fields));
  if (cut.graph_home != asked.graph_home) fates = arena_printf(c->arena, "%s%sfate \"graph_in_idx\" = %s", fates, *fates ? "; " : "", home_word(cut.graph_home, cut.cached.graph));
  if (cut.learned_home != asked.learned_home) fates = arena_printf(c->arena, "%s%sfate \"%s\" = %s", fates, *fates ? "; " : "", cut_learned_away(c), home_word(cut.learned_home, cut.cached.learned));
  return *fates ? arena_printf(c->arena, "%s and plan { %s }", words, fates) : words;
}

/* A report says of which it is; a plan alone is tried under those that can be asked for. Pins of data that stay away are of no other cut. */
static void say_other_cut(const Compilation *c, const char *text, size_t length) {
  static const Cut known[] = {{.parts = 1, .slices = 1}, {.parts = 2, .slices = 1}, {.parts = 4, .slices = 1}, {.parts = 8, .slices = 1}, {.parts = 16, .slices = 1}, {.parts = 32, .slices = 1},
                              {.parts = 64, .slices = 1}, {.parts = PARTS_USUALLY, .slices = 2}, {.parts = PARTS_USUALLY, .slices = 4}, {.parts = PARTS_USUALLY, .slices = 8},
                              {.parts = PARTS_USUALLY, .slices = 16}};
  const Cut asked = c->request.cut;
  Cut cut = {.parts = 1, .slices = 1};
  bool is_found = false;
  if (cut_of_report(c, text, length, &cut)) {
    const bool is_of_pins = (asked.fields_home == TIER_DEVICE || cut.fields_home == asked.fields_home) && (asked.graph_home == TIER_DEVICE || cut.graph_home == asked.graph_home) &&
                            (asked.learned_home == TIER_DEVICE || cut.learned_home == asked.learned_home);
    is_found = is_of_pins && !cut_is(cut, asked) && is_plan_of_cut(c, cut, text, length);
  } else {
    for (size_t k = 0; k < sizeof known / sizeof *known && !is_found; k++) {
      cut = cut_with_homes(&c->machine, scores_bytes(c), (Cut){.ranks = asked.ranks, .parts = parts_at_most(c->program->info, known[k].parts), .slices = known[k].slices}, asked.fields_home, asked.graph_home, asked.learned_home);
      is_found = cut.parts == known[k].parts || known[k].slices > 1;
      is_found = is_found && !cut_is(cut, asked) && is_plan_of_cut(c, cut, text, length);
    }
  }
  const char *words = is_found ? words_of_cut(c, cut) : NULL;
  if (words) diags_help(c->diags, "it is one with %s", words);
  else if (is_found) diags_help(c->diags, "it is one of values in %d parts and %d slices%s%s, which gnncc found by itself and --cut cannot ask for", cut.parts, cut.slices, layer_cuts_text(c->arena, cut.layers, cut.parts), cut_data_text(c->arena, cut));
}

static bool take_plan_of_cut(Compilation *c, Cut cut, const char *text, size_t length) {
  PlanRequest request = plan_request_cut(&c->request, cut);
  ProblemError error = {"", ""};
  request.given = cut_is(request.cut, cut) ? plan_of_form(&request, text, length, &request.form, &error) : NULL;
  if (request.given) c->request = request;
  return request.given != NULL;
}

/* Parts that were asked for gather from tables or from halos, and data that were asked to be on the host lie there as far as it has room or less: which, the plan knows. */
static bool take_plan_of_choice(Compilation *c, const char *text, size_t length) {
  const Cut asked = c->request.cut;
  const bool may_have_halos = asked.parts > 1 && asked.slices == 1 && !asked.has_halos && !asked.layers;
  for (int has_halos = 0; has_halos <= may_have_halos; has_halos++)
    for (int quarters = ALL_ROOM; quarters >= 0; quarters--) {
      Cut cut = cut_cached(&c->request, asked, quarters);
      const bool is_new = has_halos ? quarters == ALL_ROOM || !cut_is(cut, asked) : !cut_is(cut, asked);
      if (has_halos) cut.has_halos = true;
      if (is_new && take_plan_of_cut(c, cut, text, length)) return true;
    }
  return false;
}

/* Whether scores leave a device that has all data, nothing on the command line says: a report does. */
static void take_home_of_scores(Compilation *c, const char *text, size_t length) {
  const Cut asked = c->request.cut;
  Cut cut = asked;
  if (cut_has_data_away(asked) || !cut_of_report(c, text, length, &cut) || cut_has_data_away(cut) || cut.scores_home == asked.scores_home) return;
  c->request = plan_request_cut(&c->request, cut_with_scores_away(&c->machine, scores_bytes(c), asked));
}

/* NULL: a report says of no rows that their tables are not kept. */
static const RowsAgain *rows_again_of(const Compilation *c, const json_t *report) {
  const json_t *list = json_object_get(json_object_get(report, "cut"), "dedup"), *rows;
  RowsAgain *again = arena_alloc(c->arena, sizeof *again);
  size_t i;
  json_array_foreach(list, i, rows)
    if (json_is_string(rows)) ARENA_PUSH(c->arena, again->rows, again->count, arena_strdup(c->arena, json_string_value(rows)));
  return again->count > 0 ? again : NULL;
}

/* Nor which layers' sums the ranks have columns for, or which tables they do not keep, where the planner chose them. */
static void take_exchanges(Compilation *c, const char *text, size_t length) {
  if (c->ranks < 2 || exchange_asked(c) != EXCHANGE_COUNT) return;
  json_t *root = json_loadb(text, length, 0, NULL), *runs = json_object_get(root, "layers"), *run;
  LayersOfSums *layers = arena_alloc(c->arena, sizeof *layers), *recomputed = arena_alloc(c->arena, sizeof *recomputed);
  size_t i;
  json_array_foreach(runs, i, run) {
    const char *layer = json_string_value(json_object_get(run, "layer")), *pass = json_string_value(json_object_get(run, "pass")), *mode = json_string_value(json_object_get(run, "mode"));
    if (!layer || !pass || !mode) continue;
    const LayerSums sums = {arena_strdup(c->arena, layer), strcmp(pass, "backward") == 0 ? PHASE_BACKWARD : PHASE_FORWARD};
    if (strstr(mode, exchange_names[EXCHANGE_TRANSPOSE])) ARENA_PUSH(c->arena, layers->list, layers->count, sums);
    if (strstr(mode, exchange_names[EXCHANGE_RECOMPUTE])) ARENA_PUSH(c->arena, recomputed->list, recomputed->count, sums);
  }
  Cut cut = c->request.cut;
  if (layers->count > 0) cut.transposed = layers;
  if (recomputed->count > 0) cut.recomputed = recomputed;
  if (!cut_has_data_away(cut)) cut.again = rows_again_of(c, root);
  json_decref(root);
  c->request = plan_request_cut(&c->request, cut);
}

/* Of the exchanges among the steps, of which there are so many. */
static int add_tables_by_host(Arena *arena, json_t *steps, TablesByHost *tables) {
  int exchanges = 0;
  size_t i;
  json_t *step;
  json_array_foreach(steps, i, step) {
    const char *table = json_string_value(json_object_get(step, "value")), *variant = json_string_value(json_object_get(step, "variant"));
    exchanges += table && variant;
    if (table && variant && exchange_is_by_host(variant)) ARENA_PUSH(arena, tables->said, tables->count, arena_strdup(arena, table));
  }
  return exchanges;
}

/* Nor which exchanges between GPUs pass through the host. Whether all do: then the same may have been asked for, which plans sums over ranks to pass so. */
static bool take_ways(Compilation *c, const char *text, size_t length) {
  const Exchange asked = exchange_asked(c);
  if (c->ranks < 2 || c->backend != BACKEND_CUDA || asked == EXCHANGE_HALO || asked == EXCHANGE_HALO_HOST) return false;
  json_t *root = json_loadb(text, length, 0, NULL), *steps = json_object_get(root, "steps");
  TablesByHost *tables = arena_alloc(c->arena, sizeof *tables);
  const int exchanges = add_tables_by_host(c->arena, steps, tables) + add_tables_by_host(c->arena, json_object_get(root, "once"), tables);
  if (steps) c->machine.by_host = c->request.machine.by_host = tables;
  json_decref(root);
  return exchanges > 0 && tables->count == exchanges;
}

static bool take_plan(Compilation *c, const char *text, size_t length, ProblemError *error) {
  c->request.given = plan_of_form(&c->request, text, length, &c->request.form, error);
  return c->request.given || take_plan_of_choice(c, text, length);
}

/* Of a report that is for another number of ranks: how many; 0: it is for as many, or does not say. */
static int other_ranks_of(const Compilation *c, const char *text, size_t length) {
  json_t *root = json_loadb(text, length, 0, NULL);
  const json_t *count = json_object_get(json_object_get(root, "ranks"), "count");
  const int ranks = json_is_integer(count) ? (int)json_integer_value(count) : 1;
  const bool is_report = json_is_object(json_object_get(root, "cut"));
  json_decref(root);
  return is_report && ranks > 0 && ranks != c->ranks ? ranks : 0;
}

static const char *ranks_text(Arena *arena, int ranks) { return ranks == 1 ? "one process" : arena_printf(arena, "%d ranks", ranks); }

bool take_given_plan(Compilation *c) {
  const char *path = c->options->plan_from;
  size_t length = 0;
  ProblemError error = {"", ""};
  if (!c->training_kernels) {
    diags_error(c->diags, "E0001", diags_no_place(), "--plan-from %s: there is no train block to plan for", path);
    return false;
  }
  const char *text = arena_read_file(c->arena, path, &length);
  if (!text) {
    diags_error(c->diags, "E0001", diags_no_place(), "cannot read %s: %s", path, gnn_open_reason(errno));
    return false;
  }
  take_home_of_scores(c, text, length);
  take_exchanges(c, text, length);
  const bool all_pass_host = take_ways(c, text, length);
  if (take_plan(c, text, length, &error)) return true;
  if (all_pass_host) c->machine.way = c->request.machine.way = WAY_BY_HOST;
  if (all_pass_host && take_plan(c, text, length, &error)) return true;
  const int ranks = other_ranks_of(c, text, length);
  if (ranks) {
    diags_error(c->diags, "E0510", diags_no_place(), "%s is not a plan for this program on this machine: it is for %s, and the program is for %s", path, ranks_text(c->arena, ranks), ranks_text(c->arena, c->ranks));
    diags_help(c->diags, "--ranks=%d is for as many", ranks);
    return false;
  }
  diags_error(c->diags, "E0510", diags_no_place(), "%s is not a plan for this program on this machine: %s%s%s", path, error.place, *error.place ? ": " : "", error.text);
  say_other_cut(c, text, length);
  return false;
}
