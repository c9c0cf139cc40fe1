/* emit_calls: steps that differ only in where things lie share a function; an epoch is a list of calls.
 *
 * The order that keeps every value runs the same functions, each once, with places of its own. So nothing is compiled twice for it, and
 * no step asks which order it is in.
 */
#include "emit_calls.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/core/blocks.h"

static const char *subject_of(const Step *step) {
  const Value *anchor = &step->kernels->graph->values[step->kernels->kernels[step->kernel].anchor];
  return anchor->op == OP_UPDATE ? "update" : anchor->name;
}

static bool is_same_code(const StepText *a, const StepText *b) { return strcmp(a->text, b->text) == 0 && strcmp(a->host, b->host) == 0; }

static bool is_name_taken(const StepCalls *calls, const char *name) {
  for (int i = 0; i < calls->function_count; i++)
    if (strcmp(calls->functions[i]->name, name) == 0) return true;
  return false;
}

static const char *new_name(const Emission *m, const StepCalls *calls, const Step *step, const char *subject) {
  if (strcmp(subject, "update") != 0 || m->backend == BACKEND_CUDA) return arena_printf(m->arena, "step_%d", step->number);
  const char *name = "update_weight";
  for (int n = 2; is_name_taken(calls, name); n++) name = arena_printf(m->arena, "update_weight_%d", n);
  return name;
}

static StepCall call_of(const Emission *m, StepCalls *calls, const Step *step, StepPrinter *print) {
  const char *subject = subject_of(step);
  for (int i = 0; i < calls->function_count; i++) {
    StepFunction *function = calls->functions[i];
    if (strcmp(function->subject, subject) != 0) continue;
    StepText code = print(m, step, function->name);
    if (!is_same_code(&code, &function->code)) continue;
    function->steps = arena_printf(m->arena, "%s, %d", function->steps, step->number);
    return (StepCall){function, code.arguments};
  }
  const char *name = new_name(m, calls, step, subject);
  StepFunction *function = arena_alloc(m->arena, sizeof *function);
  *function = (StepFunction){name, subject, step->what, (int)step->place.line, arena_printf(m->arena, "%d", step->number), print(m, step, name)};
  ARENA_PUSH(m->arena, calls->functions, calls->function_count, function);
  return (StepCall){function, function->code.arguments};
}

StepCalls *step_calls(const Emission *m, StepPrinter *print) {
  const int count = schedule_step_count(m->schedule);
  StepCalls *calls = arena_alloc(m->arena, sizeof *calls);
  *calls = (StepCalls){.calls = arena_alloc(m->arena, (size_t)(count + 1) * sizeof *calls->calls)};
  for (int s = 0; s < count; s++) {
    const Step *step = &m->schedule->steps[s];
    calls->calls[s] = step->kind == STEP_KERNEL ? call_of(m, calls, step, print) : (StepCall){0};
  }
  return calls;
}

static void call(const Emission *m, const StepCalls *calls, int step, const char *behind, PieceLists *lists, FILE *out) {
  const StepCall *call = &calls->calls[step];
  const char *passed = arguments_passed(m, call->arguments, m->schedule, m->layout, &m->schedule->steps[step], lists, out);
  fprintf(out, "  %s%s(g%s);\n", call->function->name, behind, passed);
}

void emit_call(const Emission *m, const StepCalls *calls, int step, PieceLists *lists, FILE *out) { call(m, calls, step, "", lists, out); }
void emit_call_for_own(const Emission *m, const StepCalls *calls, int step, PieceLists *lists, FILE *out) { call(m, calls, step, "_own", lists, out); }

/* ---- loss and hits of each split, on a GPU ---- */

/* Of the rows of the step's part, which have come with it; `read`: where scores and labels lie. */
static void measure_labelled(const Emission *m, const Layout *layout, const Step *step, const char *read, const char *places, FILE *out) {
  const Parts *parts = step->parts;
  const int first = step->part ? step->part - 1 : 0, end = step->part ? step->part : parts->count;
  const int64_t blocks = INT64_C(1) << (gnn_block_levels(m->program->info->nodes) - parts->levels);
  int64_t rows = 0;
  fprintf(out, "  measure_rows(g, &(gnn_places){{%s, %" PRId64 ", %" PRId64, read, first * blocks, (end - first) * blocks);
  for (int s = 0; s < SPLIT_COUNT; s++) {
    const ValueId list = m->evaluation->graph->split_rows[s];
    const Block *block = list == NO_VALUE ? NULL : layout_at(layout, m->evaluation, list, step->part, step->number - 1);
    const int64_t *labelled = parts->labelled[s];
    if (block) fprintf(out, ", %s_%s%s, %" PRId64 ", %" PRId64, places, block->name, argument_before_rows(m, block), labelled[first], labelled[end]);
    else fprintf(out, ", 0, 0, 0");
    rows += labelled[end] - labelled[first];
  }
  fprintf(out, "}}, %" PRId64 ");\n", rows);
}

void emit_measure_of_step(const Emission *m, const Layout *layout, const Step *step, const char *places, FILE *out) {
  const ValueId scores = m->evaluation->graph->scores;
  if (m->layout->residents->results == NO_INDEX || !are_scores_away(m) || step->kernels != m->evaluation || m->evaluation->made_by[scores] != step->kernel) return;
  const Block *block = layout_at(layout, m->evaluation, scores, step->part, step->number - 1);
  const int32_t field = m->program->train.label_field;
  const bool is_away = m->layout->residents->field_away[field] != NO_INDEX;
  const Block *labels = is_away ? layout_at(layout, m->evaluation, m->evaluation->graph->labels, step->part, step->number - 1) : &m->layout->blocks[m->layout->residents->field[field]];
  const int64_t first = step->part ? step->parts->first[step->part - 1] : 0, end = step->part ? step->parts->first[step->part] : step->parts->first[step->parts->count];
  if (are_rows_away(m)) {
    measure_labelled(m, layout, step, arena_printf(m->arena, "%s_%s%s, %s_%s%s", places, block->name, argument_before_rows(m, block), is_away ? places : "AT", labels->name, argument_before_rows(m, labels)), places, out);
    return;
  }
  fprintf(out, "  measure_rows(g, %s_%s%s, %s_%s%s, %" PRId64 ", %" PRId64 ");\n", places, block->name, argument_before_rows(m, block), is_away ? places : "AT", labels->name, argument_before_rows(m, labels), first, end);
}

void emit_measure(const Emission *m, const Layout *layout, int last, const char *places, FILE *out) {
  if (m->layout->residents->results == NO_INDEX) return;
  if (are_scores_away(m)) fprintf(out, "  measure(g);\n");
  else fprintf(out, "  measure(g, %s_%s);\n", places, layout_at(layout, m->evaluation, m->evaluation->graph->scores, 0, last)->name);
}

/* ---- the order that keeps every value ---- */

/* The index of the step of the plan that runs the same kernel for the first time. */
static int step_in_plan(const Emission *m, const Step *kept) {
  for (int s = 0; s < schedule_step_count(m->schedule); s++) {
    const Step *step = &m->schedule->steps[s];
    if (step->kind == STEP_KERNEL && !step->is_rerun && step->kernels == kept->kernels && step->kernel == kept->kernel && step->part == kept->part) return s;
  }
  return NO_INDEX;
}

void emit_keep_places(const Emission *m, FILE *out) {
  const Layout *y = m->keep_order->layout;
  fprintf(out, "\n/* Where things lie when every value is kept until its last use, which takes %" PRId64 " bytes; what always stays lies where it does. */\n", y->bytes);
  for (int i = y->resident_count; i < y->count; i++) {
    emit_place("KEEP", &y->blocks[i], out);
    fprintf(out, "\n");
  }
}

static void emit_list(const Emission *m, const StepCalls *calls, const char *name, int first, int last, FILE *out) {
  const KeepOrder *keep = m->keep_order;
  fprintf(out, "static gnn_status keep_%s(gnn_run *g) {\n", name);
  PieceLists lists = {0};
  if (first == last) fprintf(out, "  (void)g;\n");
  for (int s = first; s < last; s++) {
    const Step *step = &keep->schedule->steps[s];
    const StepCall *call = &calls->calls[step_in_plan(m, step)];
    const char *passed = arguments_passed(m, call->arguments, keep->schedule, keep->layout, step, &lists, out);
    fprintf(out, "  %s(g%s);\n", call->function->name, passed);
    emit_measure_of_step(m, keep->layout, step, "KEEP", out);
  }
  if (last == keep->schedule->count) emit_measure(m, keep->layout, last - 1, "KEEP", out);
  fprintf(out, "  return GNN_OK;\n}\n\n");
}

/* Of what stays on the host in the plan; NULL: there is none. */
static const Block *kept_block(const Layout *y, int away) {
  for (int i = y->resident_count; i < y->count && away != NO_INDEX; i++)
    if (y->blocks[i].away == away + 1) return &y->blocks[i];
  return NULL;
}

static const char *kept_place(const Emission *m, const Block *block) { return block ? arena_printf(m->arena, "KEEP_%s", block->name) : "-1"; }

/* Weights that the plan has away, with their states. True: there are any. */
static bool emit_moved_weights(const Emission *m, FILE *out) {
  const Residents *y = m->layout->residents;
  bool has_moved = false;
  for (int p = 0; p < m->program->param_count; p++) {
    const Block *weight = kept_block(m->keep_order->layout, y->weight_away[p]);
    const char *states[MAX_STATES] = {"-1", "-1", "-1"}; /* those that there are, side by side */
    int count = 0;
    for (int s = 0; s < MAX_STATES && weight; s++)
      if (y->state_away[s][p] != NO_INDEX) states[count++] = kept_place(m, kept_block(m->keep_order->layout, y->state_away[s][p]));
    if (weight) fprintf(out, "%s{%d, KEEP_%s, {%s, %s, %s}}", has_moved ? ", " : "static const gnn_moved_weight moved_weights[] = {", p, weight->name, states[0], states[1], states[2]);
    has_moved = has_moved || weight;
  }
  if (has_moved) fprintf(out, "};\n");
  return has_moved;
}

void emit_keep_order(const Emission *m, const StepCalls *calls, FILE *out) {
  const Schedule *s = m->keep_order->schedule;
  const Layout *y = m->keep_order->layout;
  fprintf(out, "/* ---- every value kept until its last use: `check` compares the bits of the plan with those of this order ---- */\n\n");
  if (m->program->has_train) {
    emit_list(m, calls, "forward_backward", 0, s->backward_end, out);
    emit_list(m, calls, "update", s->backward_end, s->training_count, out);
  }
  emit_list(m, calls, "evaluate", s->training_count, s->count, out);
  if (s->once_count) emit_list(m, calls, "once", s->count, schedule_step_count(s), out);
  const Residents *residents = m->layout->residents;
  bool has_moved = false;
  for (int f = 0, index = 0; f < m->program->field_count; f++) {
    const Block *kept = kept_block(y, residents->field_away[f]), *entries[4];
    for (int k = 0; k < 4; k++) entries[k] = kept_block(y, residents->entries_away[f][k / 2][k % 2]);
    if (kept || entries[0]) fprintf(out, "%s{%d, {", has_moved ? ", " : "static const gnn_moved_field moved_fields[] = {", index);
    if (kept) fprintf(out, "KEEP_%s}, -1}", kept->name);
    if (entries[0]) fprintf(out, "%s, %s, %s, %s}, %s}", kept_place(m, entries[0]), kept_place(m, entries[1]), kept_place(m, entries[2]), kept_place(m, entries[3]), kept_place(m, kept_block(y, residents->entry_offsets_away[f])));
    has_moved = has_moved || kept || entries[0];
    index += residents->field_away[f] != NO_INDEX || residents->field[f] != NO_INDEX;
  }
  if (has_moved) fprintf(out, "};\n");
  const bool has_moved_weights = emit_moved_weights(m, out);
  const Block *in = kept_block(y, residents->neighbours_away[END_DST]), *from = kept_block(y, residents->neighbours_away[END_SRC]);
  fprintf(out, "static const gnn_keep_order keep_order = {\n  .device_bytes = %" PRId64 ",\n  .at_scores = %" PRId64 ",\n", y->bytes,
          layout_at(y, m->evaluation, m->evaluation->graph->scores, 0, s->count - 1)->offset);
  if (m->program->has_train) fprintf(out, "  .forward_backward = keep_forward_backward,\n  .update = keep_update,\n");
  if (has_moved) fprintf(out, "  .moved_count = sizeof moved_fields / sizeof *moved_fields,\n  .moved = moved_fields,\n");
  if (has_moved_weights) fprintf(out, "  .moved_weight_count = sizeof moved_weights / sizeof *moved_weights,\n  .moved_weights = moved_weights,\n");
  if (in || from)
    fprintf(out, "  .at_in_idx = %s, .at_out_idx = %s, .at_in_degree = %s, .at_out_degree = %s, .has_moved_graph = 1,\n", kept_place(m, in), kept_place(m, from),
            kept_place(m, kept_block(y, residents->degree_away[END_DST])), kept_place(m, kept_block(y, residents->degree_away[END_SRC])));
  if (s->once_count) fprintf(out, "  .once = keep_once,\n");
  const Block *in_offsets = kept_block(y, residents->offsets_away[END_DST]), *out_offsets = kept_block(y, residents->offsets_away[END_SRC]);
  if (in_offsets || out_offsets) fprintf(out, "  .at_in_ptr = %s, .at_out_ptr = %s, .has_moved_offsets = 1,\n", kept_place(m, in_offsets), kept_place(m, out_offsets));
  const Block *edges = kept_block(y, residents->out_edges_away);
  if (edges) fprintf(out, "  .at_out_edge = %s, .has_moved_edges = 1,\n", kept_place(m, edges));
  const int *rows = residents->rows_away;
  if (are_rows_away(m)) fprintf(out, "  .at_rows = {%s, %s, %s}, .has_moved_rows = 1,\n", kept_place(m, kept_block(y, rows[0])), kept_place(m, kept_block(y, rows[1])), kept_place(m, kept_block(y, rows[2])));
  const Block *ids = kept_block(y, residents->node_ids_away);
  if (ids) fprintf(out, "  .at_node_id = %s, .has_moved_ids = 1,\n", kept_place(m, ids));
  const Block *edge_ids[] = {kept_block(y, residents->edge_ids_away[END_SRC]), kept_block(y, residents->edge_ids_away[END_DST])};
  if (edge_ids[END_SRC] || edge_ids[END_DST]) fprintf(out, "  .at_edge_id = %s, .at_out_edge_id = %s, .has_moved_edge_ids = 1,\n", kept_place(m, edge_ids[END_DST]), kept_place(m, edge_ids[END_SRC]));
  const int *halo_rows = residents->halo_rows_away, codes = residents->edge_codes_away;
  if (halo_rows[HALO_FOR_DST] != NO_INDEX || halo_rows[HALO_FOR_SRC] != NO_INDEX || codes != NO_INDEX)
    fprintf(out, "  .at_halo_rows = {%s, %s, %s}, .at_edge_codes = %s, .has_moved_halos = 1,\n", kept_place(m, kept_block(y, halo_rows[HALO_FOR_DST])), kept_place(m, kept_block(y, halo_rows[HALO_FOR_SRC])),
            kept_place(m, kept_block(y, halo_rows[HALO_OF_EDGES])), kept_place(m, kept_block(y, codes)));
  fprintf(out, "  .evaluate = keep_evaluate,\n};\n\n");
}
