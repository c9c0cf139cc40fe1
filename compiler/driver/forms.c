/* forms: the program with what never changes computed once, and the evaluation without the results of layers. */
#include "forms.h"

static const char *names_of_hoisted(Arena *arena, const Hoisting *p) {
  const char *text = "";
  for (int v = 0; v < p->graph->once_count; v++) {
    const Value *value = &p->graph->values[p->graph->once[v]];
    text = arena_printf(arena, "%s%s%s", text, v ? ", " : "", value->said ? value->said : value->name);
  }
  return text;
}

/* What is noted of the one evaluation holds of the other, too. */
static void note_hoisted(Compilation *c, const Hoisting *p) {
  Graph *graph = p->evaluation;
  graph->notes = NULL;
  graph->note_count = 0;
  for (int n = 0; n < c->evaluation->note_count; n++) ARENA_PUSH(c->arena, graph->notes, graph->note_count, c->evaluation->notes[n]);
  ARENA_PUSH(c->arena, graph->notes, graph->note_count, arena_printf(c->arena, "computed once, before the first epoch: %s", names_of_hoisted(c->arena, p)));
}

/* In bf16: what the epoch's kernels have as it was computed must not be rounded because it is kept. */
static void keep_exact(Compilation *c, const Hoisting *p) {
  for (int v = 0; v < p->graph->once_count; v++) {
    const ValueId root = p->graph->once[v];
    const bool is_exact = !kernels_read_rounded(c->training_kernels, p->origin[0][root]);
    Graph *forms[] = {p->training, p->evaluation};
    p->graph->values[root].is_exact = is_exact;
    for (int g = 0; g < 2; g++)
      for (int i = 0; i < forms[g]->value_count; i++)
        if (forms[g]->values[i].op == OP_HOISTED && forms[g]->values[i].as.index == v) forms[g]->values[i].is_exact = is_exact;
  }
}

Kernels *fuse_alike(Compilation *c, Graph *graph, const ValueId *const origin[], const Kernels *const before[], int count) {
  const bool has_choice = c->backend == BACKEND_CUDA || c->options->precision == PRECISION_BF16; /* of libraries, or where numbers are rounded */
  for (;;) {
    Kernels *kernels = fuse(graph, c->is_sparse_field, &c->fuse_options);
    RoundAlike worst = ROUND_ALIKE;
    for (int i = 0; i < count && has_choice; i++) {
      if (c->backend == BACKEND_CUDA && !kernels_add_alike(kernels, before[i])) return NULL;
      RoundAlike is = kernels_round_alike(kernels, origin ? origin[i] : NULL, before[i], graph);
      if (is > worst) worst = is;
    }
    if (worst != ROUND_MARKED) return worst == ROUND_ALIKE ? kernels : NULL;
  }
}

/* No plan may change a bit, so these kernels leave those of the others. */
void make_hoisted_form(Compilation *c) {
  const Hoisting *p = c->hoisting;
  if (!p || c->options->trial) return; /* a trial is of all kernels there are */
  if (c->options->precision == PRECISION_BF16) keep_exact(c, p);
  const Kernels *plain[] = {c->training_kernels, c->evaluation_kernels};
  Kernels *once = fuse_alike(c, p->graph, (const ValueId *const[]){p->origin[0], p->origin[1]}, plain, 2);
  Kernels *training = fuse_alike(c, p->training, NULL, &plain[0], 1), *evaluation = fuse_alike(c, p->evaluation, NULL, &plain[1], 1);
  if (!once || !training || !evaluation) return;
  for (int k = 0; k < once->kernel_count; k++)
    if (once->kernels[k].work_bytes > 0) return;
  Form form = {.training = p->training, .training_kernels = training, .evaluation_count = 1, .evaluations = {{p->evaluation, evaluation}}, .once_graph = p->graph, .once = once};
  note_hoisted(c, p);
  c->forms[FORM_HOISTED] = form;
}

static bool has_taps(const Graph *graph) {
  for (int v = 0; v < graph->value_count; v++)
    if (graph->values[v].tap) return true;
  return false;
}

/* The evaluation without the results of layers that somebody may ask for (predict --layer). */
void add_evaluation_without_taps(Compilation *c, Form *form) {
  if (form->evaluation_count == 0 || !has_taps(form->evaluations[0].graph)) return;
  Graph *graph = graph_copy(form->evaluations[0].graph);
  ARENA_PUSH(c->arena, graph->notes, graph->note_count, "results of layers are not kept for predict --layer: there is no room");
  if (c->backend == BACKEND_CUDA) graph_hide_taps(graph);
  else graph_drop_taps(graph);
  form->evaluations[form->evaluation_count++] = (EvaluationForm){graph, fuse(graph, c->is_sparse_field, &c->fuse_options)};
}
