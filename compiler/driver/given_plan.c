/* given_plan: --plan-from. The plan is of one form of the program under one cut; of which forms is found by trying, and where it is of none, which other
 * cut it is of. */
#include "given_plan.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "cut_forms.h"
#include "compiler/plan/pins.h"
#include "runtime/base/open.h"

/* NULL with `error` set: of no form of the request. */
static const Plan *plan_of_form(const PlanRequest *request, const char *text, size_t length, FormKind *kind, ProblemError *error) {
  const Plan *plan = NULL;
  for (int form = FORM_HOISTED; form >= FORM_PLAIN && !plan; form--) {
    if (!request->forms[form].training_kernels) continue;
    const PlanningProblem *problem = plan_problem_of(request, (FormKind)form, error);
    *kind = (FormKind)form;
    plan = problem ? plan_from_text(request->arena, problem, text, length, error) : NULL;
  }
  return plan;
}

/* ---- of another cut ---- */

/* Of a report. */
static bool cut_of_report(const char *text, size_t length, Cut *cut) {
  json_t *root = json_loadb(text, length, 0, NULL);
  int fields = 0, graph = 0;
  const bool is_there = json_unpack(json_object_get(root, "cut"), "{s:i, s:i, s:b, s:b}", "parts", &cut->parts, "slices", &cut->slices, "fields_on_host", &fields, "graph_on_host", &graph) == 0;
  cut->has_fields_away = fields;
  cut->has_graph_away = graph;
  json_decref(root);
  return is_there && cut->parts >= 1 && cut->slices >= 1;
}

static bool is_plan_of_cut(const Compilation *c, Cut cut, const char *text, size_t length) {
  const PlanRequest request = plan_request_cut(&c->request, cut);
  ProblemError error = {"", ""};
  FormKind form;
  return cut_is(request.cut, cut) && plan_of_form(&request, text, length, &form, &error);
}

/* What a user says for it; NULL: there are no words for it. */
static const char *words_of_cut(const Compilation *c, Cut cut) {
  const int usual = parts_at_most(c->program->info, PARTS_USUALLY);
  const char *words;
  if (cut.slices > 1 && cut.parts != usual) return NULL;
  if (cut.slices > 1) words = arena_printf(c->arena, "--cut='slices(%d)'", cut.slices);
  else words = cut.parts > 1 ? arena_printf(c->arena, "--cut='rows(%d)'", cut.parts) : "--cut=whole";
  const char *fates = "";
  if (cut.has_fields_away && !cut_asked(c).has_fields_away) fates = arena_printf(c->arena, "fate \"%s\" = host", cut_field_away(c));
  if (cut.has_graph_away && !cut_asked(c).has_graph_away) fates = arena_printf(c->arena, "%s%sfate \"graph_in_idx\" = host", fates, *fates ? "; " : "");
  return *fates ? arena_printf(c->arena, "%s and plan { %s }", words, fates) : words;
}

/* A report says of which it is; a plan alone is tried under those that can be asked for. Pins of data that stay on the host are of no other cut. */
static void say_other_cut(const Compilation *c, const char *text, size_t length) {
  static const Cut known[] = {{1, 1, false, false}, {2, 1, false, false}, {4, 1, false, false}, {8, 1, false, false}, {16, 1, false, false}, {32, 1, false, false}, {64, 1, false, false},
                              {PARTS_USUALLY, 2, false, false}, {PARTS_USUALLY, 4, false, false}, {PARTS_USUALLY, 8, false, false}, {PARTS_USUALLY, 16, false, false}};
  const Cut asked = c->request.cut;
  Cut cut;
  bool is_found = false;
  if (cut_of_report(text, length, &cut)) {
    const bool is_of_pins = cut.has_fields_away >= asked.has_fields_away && cut.has_graph_away >= asked.has_graph_away;
    is_found = is_of_pins && !cut_is(cut, asked) && is_plan_of_cut(c, cut, text, length);
  } else {
    for (size_t k = 0; k < sizeof known / sizeof *known && !is_found; k++) {
      cut = (Cut){parts_at_most(c->program->info, known[k].parts), known[k].slices, asked.has_fields_away, asked.has_graph_away};
      is_found = cut.parts == known[k].parts || known[k].slices > 1;
      is_found = is_found && !cut_is(cut, asked) && is_plan_of_cut(c, cut, text, length);
    }
  }
  const char *words = is_found ? words_of_cut(c, cut) : NULL;
  if (words) diags_help(c->diags, "it is one with %s", words);
  else if (is_found) diags_help(c->diags, "it is one of values in %d parts and %d slices%s, which gnncc found by itself and --cut cannot ask for", cut.parts, cut.slices, cut_data_text(cut));
}

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
  c->request.given = plan_of_form(&c->request, text, length, &c->request.form, &error);
  if (c->request.given) return true;
  diags_error(c->diags, "E0510", diags_no_place(), "%s is not a plan for this program on this machine: %s%s%s", path, error.place, *error.place ? ": " : "", error.text);
  say_other_cut(c, text, length);
  return false;
}
