/* cut_forms: the forms of a program again, of graphs that are cut (compiler/graph/cut.h). */
#include "cut_forms.h"

#include <fnmatch.h>

#include "forms.h"
#include "compiler/graph/cut.h"
#include "compiler/plan/pins.h"

CutWish cut_wish(const Compilation *c) {
  const CutWish said = c->options->cut.mode != CUT_UNSAID ? c->options->cut : c->program->plan_cut;
  return said.mode == CUT_UNSAID ? (CutWish){CUT_AUTO, 1} : said;
}

bool refuse_cut(Compilation *c, const char *why) {
  const CutWish wish = cut_wish(c);
  diags_error(c->diags, "E0110", diags_no_place(), "a cut in %d %s is for programs %s", wish.count, wish.mode == CUT_ROWS ? "parts" : "slices", why);
  return false;
}

bool check_cut(Compilation *c) {
  const CutWish wish = cut_wish(c);
  if (!cut_wish_is_fixed(wish)) return true;
  if (c->program->train.batch_graphs) return refuse_cut(c, "that work on all data at once, and this one works in batches of graphs");
  const int most = parts_at_most(c->program->info, wish.count);
  if (wish.mode == CUT_SLICES || most == wish.count) return true;
  diags_error(c->diags, "E0512", diags_no_place(), "rows(%d): these data have %d canonical block%s of nodes, so there are at most %d part%s", wish.count, most, most == 1 ? "" : "s", most,
              most == 1 ? "" : "s");
  return false;
}

/* Dense numbers on nodes that only kernels read. */
static bool *fields_away(const Compilation *c) {
  const TypedProgram *p = c->program;
  bool *is_away = arena_alloc(c->arena, (size_t)p->field_count + 1);
  for (int f = 0; f < p->field_count; f++) {
    const bool is_measured = p->has_train && (f == p->train.label_field || f == p->train.ring_field);
    is_away[f] = p->fields[f].type.domain == DOMAIN_NODE && p->fields[f].type.dtype != DTYPE_CLASS && !c->is_sparse_field[f] && !is_measured;
  }
  return is_away;
}

/* `fate "x" = host` of a field that can stay there. */
static bool wants_data_away(const Compilation *c) {
  const TypedProgram *p = c->program;
  if (p->train.batch_graphs || c->options->has_double) return false;
  const bool *can_be_away = fields_away(c);
  for (int i = 0; i < p->fate_count; i++)
    for (int f = 0; f < p->field_count; f++)
      if (p->fates[i].fate == FATE_HOST && can_be_away[f] && fnmatch(p->fates[i].pattern, p->fields[f].name, 0) == 0) return true;
  return false;
}

Cut cut_asked(const Compilation *c) {
  const CutWish wish = cut_wish(c);
  const bool has_data_away = wants_data_away(c);
  const int parts = parts_at_most(c->program->info, PARTS_AT_MOST);
  if (wish.mode == CUT_ROWS) return (Cut){wish.count, 1, has_data_away};
  if (wish.mode == CUT_SLICES) return (Cut){parts, wish.count, has_data_away};
  return (Cut){has_data_away && wish.mode != CUT_WHOLE ? parts : 1, 1, has_data_away};
}

/* ---- forms ---- */

static Kernels *fuse_cut(Compilation *c, Graph *graph, const Kernels *whole) { return fuse_alike(c, graph, NULL, &whole, 1); }

/* False: not all of its kernels leave the bits of those of `from`. */
static bool cut_form(Compilation *c, const Form *from, Cut cut, Form *form) {
  const bool *is_away = cut.has_data_away ? fields_away(c) : NULL;
  const CutOptions options = {.slices = cut.slices, .is_away = is_away, .has_tables = cut.parts > 1};
  *form = *from;
  if (from->evaluation_count == 0) return true;
  if (from->training) form->training = cut_graph(from->training, options);
  if (form->training) form->training_kernels = fuse_cut(c, form->training, from->training_kernels);
  bool is_alike = !form->training || form->training_kernels;
  for (int e = 0; e < form->evaluation_count && is_alike; e++) {
    Graph *graph = cut_graph(from->evaluations[e].graph, options);
    form->evaluations[e] = (EvaluationForm){graph, fuse_cut(c, graph, from->evaluations[e].kernels)};
    is_alike = form->evaluations[e].kernels != NULL;
  }
  if (is_alike) form->residents = residents(c->arena, form->training_kernels, form->evaluations[0].kernels, form->hoisted, c->is_sparse_field, is_away);
  return is_alike;
}

/* A hoisted form that would have other bits is left out. NULL: the plain one would. */
static CutForms *make_cut_forms(Compilation *c, Cut cut) {
  Form *forms = arena_alloc(c->arena, FORM_COUNT * sizeof *forms);
  if (!cut_form(c, &c->forms[FORM_PLAIN], cut, &forms[FORM_PLAIN])) return NULL;
  if (cut.has_data_away || !cut_form(c, &c->forms[FORM_HOISTED], cut, &forms[FORM_HOISTED])) forms[FORM_HOISTED] = (Form){.evaluation_count = 0};
  CutForms *made = arena_alloc(c->arena, sizeof *made);
  *made = (CutForms){forms, pins_read(c->arena, c->program, forms[FORM_PLAIN].training_kernels, &c->machine, cut.has_data_away, c->diags)};
  return made;
}

static CutForms *whole_forms(Compilation *c) {
  CutForms *forms = arena_alloc(c->arena, sizeof *forms);
  *forms = (CutForms){c->forms, c->request.pins};
  return forms;
}

const CutForms *cut_forms(void *compilation, Cut cut) {
  Compilation *c = compilation;
  for (int i = 0; i < c->cut_count; i++)
    if ((c->cuts[i].cut.parts > 1) == (cut.parts > 1) && c->cuts[i].cut.slices == cut.slices && c->cuts[i].cut.has_data_away == cut.has_data_away) return c->cuts[i].forms;
  CutForms *made = cut.parts > 1 || cut.slices > 1 || cut.has_data_away ? make_cut_forms(c, cut) : whole_forms(c);
  ARENA_PUSH(c->arena, c->cuts, c->cut_count, ((struct CutKept){cut, made}));
  return made;
}
