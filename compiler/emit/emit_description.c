/* emit_description: a program as the runtime is told of it: gnn_program and the lists that it points to. */
#include "emit_source.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/base/escape.h"
#include "compiler/graph/learned.h"

static bool is_probability(const Emission *m, int option) {
  const Graph *graph = m->training ? m->training->graph : m->evaluation->graph;
  for (int i = 0; i < graph->value_count; i++) {
    if (graph->values[i].op != OP_DROPOUT) continue;
    const Value *p = &graph->values[graph->values[i].operand[1]];
    if (p->op == OP_OPTION && p->as.index == option) return true;
  }
  return false;
}

static void emit_options(const Emission *m, FILE *out) {
  const TypedProgram *p = m->program;
  if (!p->option_count) return;
  fprintf(out, "static const gnn_option_desc options[] = {\n");
  for (int i = 0; i < p->option_count; i++)
    fprintf(out, "  {%s, %s, %.17g, %d, %s, %.17g, %.17g},\n", escape_c(m->arena, p->options[i].name), escape_c(m->arena, p->options[i].help), p->options[i].value, is_probability(m, i),
            p->options[i].as ? escape_c(m->arena, p->options[i].as) : "NULL", p->options[i].least, p->options[i].most);
  fprintf(out, "};\n\n");
}

/* On the SSD. */
static const char *away_side(const Emission *m, int away) {
  const int *extent = m->layout->away_extent;
  return arena_printf(m->arena, "{GNN_SSD, %d, %d}", extent[away], extent[away + 1] - extent[away]);
}

/* On the device, or in the host arena. */
static const char *place_of(const Emission *m, int block, int away) {
  if (away == NO_INDEX) return emit_at(m, block);
  return m->layout->residents->away[away].tier == TIER_SSD ? "-1" : arena_printf(m->arena, "%" PRId64, m->layout->residents->away[away].at);
}

static void emit_home_of_weight(const Emission *m, int weight, int best, int state_count, const int *states, FILE *out) {
  if (weight == NO_INDEX) return;
  if (m->layout->residents->away[weight].tier == TIER_HOST) {
    fprintf(out, ",\n   .is_on_host = 1");
    if (best != NO_INDEX) fprintf(out, ", .at_best = %" PRId64, m->layout->residents->away[best].at);
    return;
  }
  fprintf(out, ",\n   .home = %s", away_side(m, weight));
  for (int s = 0; s < state_count; s++) fprintf(out, "%s%s", s ? ", " : ", .home_state = {", away_side(m, states[s]));
  if (state_count) fprintf(out, "}");
  if (best != NO_INDEX) fprintf(out, ", .home_best = %s", away_side(m, best));
}

static ValueId gradient_of(const Emission *m, int param) { return m->training && m->training->graph->gradients ? m->training->graph->gradients[param] : NO_VALUE; }

/* On the device, when the backward pass ends; NULL: it is not, or only by parts. */
static const Block *gradient_block(const Emission *m, ValueId gradient, int piece) {
  return gradient == NO_VALUE ? NULL : layout_at(m->layout, m->training, gradient, piece, m->schedule->backward_end - 1);
}

/* Of a gradient that is not whole on the device; 0: it is, or there is none. */
static int gradient_pieces(const Emission *m, int param) {
  const ValueId gradient = gradient_of(m, param);
  const bool is_elsewhere = gradient != NO_VALUE && m->program->params[param].is_trained && !gradient_block(m, gradient, 0);
  return is_elsewhere ? parts_piece_count(m->training_plan->problem->parts, gradient) : 0;
}

static const char *gradient_side(const Emission *m, ValueId gradient, int piece) {
  const Block *block = gradient_block(m, gradient, piece);
  if (block) return arena_printf(m->arena, "{GNN_DEVICE, AT_%s, 0}", block->name);
  return emit_slot(m, schedule_slot_at(m->schedule, m->training, gradient, piece, m->schedule->backward_end));
}

static void emit_gradient_parts(const Emission *m, FILE *out) {
  bool has_any = false;
  for (int i = 0; i < m->program->param_count; i++) {
    const int count = gradient_pieces(m, i);
    if (count && !has_any) fprintf(out, "/* Where the backward pass leaves gradients that are not whole on the device. */\nstatic const gnn_side gradient_parts[] = {\n");
    for (int k = 0; k < count; k++) fprintf(out, "%s%s,%s", k ? " " : "  ", gradient_side(m, gradient_of(m, i), count > 1 ? k + 1 : 0), k + 1 < count ? "" : "\n");
    has_any = has_any || count;
  }
  if (has_any) fprintf(out, "};\n");
}

static void emit_weights(const Emission *m, FILE *out) {
  static const char *const inits[] = {"GNN_INIT_CONSTANT", "GNN_INIT_UNIFORM", "GNN_INIT_NORMAL"};
  const TypedProgram *p = m->program;
  const Layout *y = m->layout;
  if (!p->param_count) return;
  emit_gradient_parts(m, out);
  fprintf(out, "static const gnn_weight_desc weights[] = {\n");
  int first_part = 0;
  for (int i = 0; i < p->param_count; i++) {
    const TypedParam *param = &p->params[i];
    int64_t count = 1;
    fprintf(out, "  {.name = %s, .rank = %d, .shape = {", escape_c(m->arena, param->name), param->type.rank);
    for (int d = 0; d < param->type.rank; d++) {
      const int64_t size = d == 0 && param->rows_of != DOMAIN_NONE ? typed_rows(p->info->of_all, param->rows_of) : param->type.dim[d].size;
      fprintf(out, "%s%" PRId64, d ? ", " : "", size);
      count *= size;
    }
    if (!param->type.rank) fprintf(out, "0");
    const Block *at_gradient = gradient_block(m, gradient_of(m, i), 0);
    const int parts = gradient_pieces(m, i);
    const char *states[MAX_STATES] = {"-1", "-1", "-1"}; /* those that there are, side by side */
    int state_count = 0, away[MAX_STATES];
    for (int s = 0; s < MAX_STATES; s++) {
      if (!weight_has_state(p, i, s)) continue;
      away[state_count] = y->residents->state_away[s][i];
      states[state_count++] = place_of(m, y->residents->state[s][i], y->residents->state_away[s][i]);
    }
    fprintf(out, "}, .count = %" PRId64 ", .init = %s, .a = %.17g, .is_trained = %d,\n   .at = %s, .at_gradient = %s, .state_count = %d, .at_state = {%s, %s, %s}",
            count, inits[param->init], param->a, param->is_trained, place_of(m, y->residents->weight[i], y->residents->weight_away[i]),
            at_gradient ? arena_printf(m->arena, "AT_%s", at_gradient->name) : "-1", state_count, states[0], states[1], states[2]);
    emit_home_of_weight(m, y->residents->weight_away[i], y->residents->best_away[i], state_count, away, out);
    if (param->rows_of != DOMAIN_NONE) fprintf(out, ", .has_own_rows = 1, .rows_of = %d", domain_set(param->rows_of));
    if (parts) fprintf(out, ", .gradient_parts = gradient_parts + %d, .gradient_part_count = %d", first_part, parts);
    first_part += parts;
    fprintf(out, "},\n");
  }
  fprintf(out, "};\n\n");
}

/* Of what may lie away from the device. */
static void emit_home(const Emission *m, const char *what, int away, FILE *out) {
  if (away != NO_INDEX && m->layout->residents->away[away].tier == TIER_SSD) fprintf(out, ", .%s_home = %s", what, away_side(m, away));
  else if (away != NO_INDEX) fprintf(out, ", .is_%s_on_host = 1", what);
}

static bool has_field(const Emission *m, int f) { return m->layout->residents->field[f] != NO_INDEX || m->layout->residents->field_away[f] != NO_INDEX; }

/* Some of its numbers that are not 0 are at home elsewhere than on the device, which all are then. */
static bool has_entries_away(const Emission *m, int32_t field) { return m->layout->residents->entries_away[field][0][0] != NO_INDEX; }

/* Of sparse features, in the order of gnn_field_desc.at, and where they are at home. */
static void emit_sparse_places(const Emission *m, int32_t f, FILE *out) {
  const Residents *y = m->layout->residents;
  const bool is_away = has_entries_away(m, f), is_on_ssd = is_away && y->away[y->entries_away[f][0][0]].tier == TIER_SSD;
  for (int k = 0; k < SPARSE_BLOCKS; k++) {
    const int at_home = k == 0 ? y->entry_offsets_away[f] : k % 4 == 1 || k % 4 == 2 ? y->entries_away[f][k / 4][k % 4 - 1] : NO_INDEX;
    fprintf(out, "%s%s", k ? ", " : "", place_of(m, y->sparse[f][k], at_home));
  }
  fprintf(out, "}");
  if (!is_away) return;
  if (is_on_ssd) fprintf(out, ", .entries_home = {%s, %s, %s, %s}", away_side(m, y->entries_away[f][0][0]), away_side(m, y->entries_away[f][0][1]), away_side(m, y->entries_away[f][1][0]), away_side(m, y->entries_away[f][1][1]));
  else fprintf(out, ", .is_on_host = 1");
  emit_home(m, "ptr", y->entry_offsets_away[f], out);
  const Parts *parts = m->evaluation_plan->problem->parts;
  if (parts->count == 1) return;
  fprintf(out, ",\n   .part_entries = {part_entries_%d", f);
  fprintf(out, parts->entries[f].column ? ", part_column_entries_%d}, .part_columns = part_columns_%d" : "}", f, f);
}

static int field_index(const Emission *m, int32_t field) {
  int index = 0;
  for (int f = 0; f < field; f++) index += has_field(m, f);
  return index;
}

static void emit_fields(const Emission *m, FILE *out) {
  const TypedProgram *p = m->program;
  int sparse = 0, used = 0;
  for (int f = 0; f < p->field_count; f++) used += has_field(m, f);
  if (!used) return;
  fprintf(out, "static const gnn_field_desc fields[] = {\n");
  for (int f = 0; f < p->field_count; f++) {
    if (!has_field(m, f)) continue;
    const int32_t away = m->layout->residents->field_away[f];
    const bool is_away = away != NO_INDEX;
    const TypedField *field = &p->fields[f];
    bool is_label = field->type.dtype == DTYPE_CLASS, is_sparse = m->is_sparse_field[f];
    int64_t width = 1;
    for (int d = 0; d < field->type.rank; d++) width *= field->type.dim[d].size;
    fprintf(out, "  {.name = %s, .domain = %s, .set = %d, .storage = %s, .width = %" PRId64 ", .classes = %" PRId64 ",\n", escape_c(m->arena, field->name),
            emit_domain_word(field->type.domain), emit_set_number(field->type.domain), is_label ? "GNN_LABEL" : is_sparse ? "GNN_SPARSE" : "GNN_DENSE",
            width, is_label ? field->type.classes : 0);
    fprintf(out, "   .nonzeros = %" PRId64 ", .sparse = %d, .is_row_normalised = %d, .is_half = %d, .at = {", is_sparse ? field->nonzeros : -1,
            is_sparse ? sparse++ : -1, field->is_row_normalised, m->layout->residents->is_field_half[f]);
    if (is_away && m->layout->residents->away[away].tier == TIER_SSD) {
      const Away *home = &m->layout->residents->away[away];
      fprintf(out, "-1}, .home = %s", away_side(m, away));
      if (home->file) fprintf(out, ", .window = INT64_C(%" PRId64 ")", home->at);
    } else if (is_away) {
      fprintf(out, "%" PRId64 "}, .is_on_host = 1", m->layout->residents->away[away].at);
    } else if (is_sparse) {
      emit_sparse_places(m, f, out);
    } else {
      fprintf(out, "%s}", emit_at(m, m->layout->residents->field[f]));
    }
    const int64_t stride = is_away ? m->layout->residents->away[away].padding.stride : m->layout->blocks[m->layout->residents->field[f]].padding.stride;
    fprintf(out, stride ? ", .stride = %" PRId64 "},\n" : "},\n", stride);
  }
  fprintf(out, "};\n\n");
}

static void emit_steps(const Emission *m, FILE *out) {
  fprintf(out, "static const gnn_step_desc steps[] = {\n");
  for (int s = 0; s < schedule_step_count(m->schedule); s++) {
    const Step *step = &m->schedule->steps[s];
    double seconds = step->kind == STEP_WAIT ? 0 : step->cost.seconds; /* a wait takes as long as it must */
    fprintf(out, "  {%d, \"%s\", \"%s\", %s, %d, %.9g, INT64_C(%" PRId64 "), %.9g},\n", step->number, lane_names[step->lane], schedule_phase(m->schedule, s),
            escape_c(m->arena, step->what), (int)step->place.line, seconds, step->cost.bytes, step->start_seconds);
  }
  fprintf(out, "};\n\n");
}

/* Where to look for the first number that is not finite. */
static int emit_values(const Emission *m, FILE *out) {
  int count = 0;
  for (int s = 0; s < m->schedule->count && m->backend == BACKEND_CPU; s++) {
    const Step *step = &m->schedule->steps[s];
    bool is_update = s >= m->schedule->backward_end && s < m->schedule->training_count;
    const Kernel *kernel = step->kind == STEP_KERNEL && !is_update ? &step->kernels->kernels[step->kernel] : NULL;
    for (int k = 0; kernel && !kernel_exchanges(kernel) && k < kernel->output_count; k++) { /* copies have what was seen before */
      const Value *value = &step->kernels->graph->values[kernel->outputs[k]];
      const Block *block = layout_at(m->layout, step->kernels, kernel->outputs[k], step->part, s);
      const bool is_of_some = typed_are_all_nodes(m->program->info, value->shape.domain); /* ranks without columns have numbers that mean nothing there */
      if (value->shape.element != ELEMENT_REAL || !block || kernel->kind == KERNEL_CROSS_ENTROPY || is_of_some) continue;
      bool is_later = step->part && step->part < step->parts->count && block->part == 0; /* the last part has all its rows */
      if (is_later) continue;
      if (count++ == 0) fprintf(out, "static const gnn_value_desc values[] = {\n");
      bool is_matrix = value->shape.domain == DOMAIN_NONE && value->shape.rank > 1;
      int64_t numbers = shape_width(&value->shape), width = is_matrix ? value->shape.size[value->shape.rank - 1] : numbers;
      const char *name = block->part ? parts_name(step->parts, block->value, value->name, block->part) : block->name;
      fprintf(out, "  {%d, %d, %s, %s, %" PRId64 ", %" PRId64 ", AT_%s, %d},\n", step->number, (int)value->place.line, escape_c(m->arena, name),
              block->part ? value->shape.domain == DOMAIN_EDGE ? "GNN_ROWS_EDGES_OF_PART" : "GNN_ROWS_PART" : emit_rows_word(value->shape.domain), value->shape.domain == DOMAIN_NONE ? numbers / width : block->part ? block->part : domain_set(value->shape.domain), width, block->name,
              kernels_is_half(step->kernels, kernel->outputs[k]));
    }
  }
  if (count) fprintf(out, "};\n\n");
  return count;
}

static void emit_numbers(const char *name, const int64_t *numbers, int last, FILE *out) {
  fprintf(out, "static const int64_t %s[] = {", name);
  for (int i = 0; i <= last; i++) fprintf(out, "%s%" PRId64, i ? ", " : "", numbers[i]);
  fprintf(out, "};\n");
}

static bool has_graph_away(const Residents *y) { return y->neighbours_away[END_SRC] != NO_INDEX || y->neighbours_away[END_DST] != NO_INDEX; }

static const char *const pairs_names[] = {[HALO_FOR_SRC] = "pairs_out", [HALO_FOR_DST] = "pairs_in", [HALO_OF_EDGES] = "pairs_of_edges"};

/* Those that stay away, or values on edges. */
static bool has_parts_of_edges(const Emission *m) {
  return has_graph_away(m->layout->residents) || parts_cut_edges(m->evaluation_plan->problem->parts) || (m->training_plan && parts_cut_edges(m->training_plan->problem->parts)) ||
         (m->schedule->once_plan && parts_cut_edges(m->schedule->once_plan->problem->parts));
}

void emit_parts(const Emission *m, FILE *out) {
  const Parts *parts = m->evaluation_plan->problem->parts;
  if (parts->ranks && parts->count > 1 && m->layout->residents->away_count) {
    fprintf(out, "/* The rows at which the parts of what is away begin, each with room for the most that a rank has. */\n");
    emit_numbers("part_first", parts->first, parts->count, out);
  }
  if (parts->count == 1 || parts->ranks) return;
  fprintf(out, "/* The rows at which the parts of the nodes begin. */\n");
  emit_numbers("part_first", parts->first, parts->count, out);
  if (m->backend == BACKEND_CPU) emit_row_parts(m, "", out);
  for (int kind = 0; kind < HALO_KINDS; kind++) {
    if (m->layout->residents->halo[kind].first == NO_INDEX) continue;
    if (kind == HALO_OF_EDGES) fprintf(out, "/* How many edges go from each part to each. */\n");
    else fprintf(out, "/* How many rows of each part the rows of each gather over %s-edges. */\n", kind == HALO_FOR_DST ? "in" : "out");
    emit_numbers(pairs_names[kind], parts->halo[kind].pairs, (1 << 2 * parts->levels) - 1, out);
  }
  if (has_parts_of_edges(m)) {
    fprintf(out, "/* How many edges go to the parts before, and come from them. */\n");
    emit_numbers("part_in", parts->edges[END_DST], parts->count, out);
    emit_numbers("part_out", parts->edges[END_SRC], parts->count, out);
  }
  if (are_rows_away(m)) fprintf(out, "/* How many labelled rows of each split the parts before have. */\n");
  for (int s = 0; s < SPLIT_COUNT && are_rows_away(m); s++) emit_numbers(arena_printf(m->arena, "part_rows_%d", s), parts->labelled[s], parts->count, out);
  for (int f = 0; f < m->program->field_count; f++) {
    if (!has_entries_away(m, f)) continue;
    fprintf(out, "/* How many numbers of %s that are not 0 lie in the parts before; and of parts of its columns, where these begin. */\n", escape_comment(m->arena, m->program->fields[f].name));
    emit_numbers(arena_printf(m->arena, "part_entries_%d", f), parts->entries[f].before[0], parts->count, out);
    if (!parts->entries[f].column) continue;
    emit_numbers(arena_printf(m->arena, "part_column_entries_%d", f), parts->entries[f].before[1], parts->count, out);
    emit_numbers(arena_printf(m->arena, "part_columns_%d", f), parts->entries[f].column, parts->count, out);
  }
  fprintf(out, "\n");
}

static void emit_names_list(const Emission *m, const char *list, const char *const *names, int count, FILE *out) {
  if (!count) return;
  fprintf(out, "static const char *const %s[] = {", list);
  for (int i = 0; i < count; i++) fprintf(out, "%s%s", i ? ", " : "", escape_c(m->arena, names[i]));
  fprintf(out, "};\n\n");
}

static void emit_source_description(const Emission *m, FILE *out) {
  const DataSource *source = &m->program->data->source;
  const DataRecipe *recipe = &m->program->data->recipe;
  if (m->program->info->layout) { /* programs read no YAML */
    fprintf(out, "static const gnn_source_arg source_args[] = {\n  {\"\", %s, 0},\n  {\"layout\", %s, 0},\n};\n\n", escape_c(m->arena, m->program->info->layout_path), escape_c(m->arena, m->program->info->layout));
  } else if (source->arg_count) {
    fprintf(out, "static const gnn_source_arg source_args[] = {\n");
    for (int i = 0; i < source->arg_count; i++)
      fprintf(out, "  {%s, %s, %.17g},\n", escape_c(m->arena, source->args[i].key), escape_c(m->arena, source->args[i].text), source->args[i].number);
    fprintf(out, "};\n\n");
  }
  int file_fields = 0;
  for (int i = 0; i < m->program->data->decl_count; i++) {
    const FieldDecl *decl = &m->program->data->decls[i];
    if (!decl->source) continue;
    if (file_fields++ == 0) fprintf(out, "static const gnn_file_field file_fields[] = {\n");
    const SourceArg *args = decl->source->args;
    const bool is_raw = decl->source->arg_count == 4;
    fprintf(out, "  {%s, %s, %s, %s, %" PRId64 ", %" PRId64 "},\n", escape_c(m->arena, decl->name), escape_c(m->arena, args[0].text), emit_domain_word(decl->domain), is_raw ? escape_c(m->arena, args[1].text) : "0",
            is_raw ? (int64_t)args[2].number : 0, is_raw ? (int64_t)args[3].number : 0);
  }
  if (file_fields) fprintf(out, "};\n\n");
  if (recipe->number_count) {
    fprintf(out, "static const gnn_number_field numbers[] = {\n");
    for (int i = 0; i < recipe->number_count; i++) {
      const struct NumberField *number = &recipe->numbers[i];
      int64_t width = number->width;
      for (int f = 0; number->is_onehot && f < m->program->info->field_count; f++)
        if (strcmp(m->program->info->fields[f].name, number->name) == 0) width = m->program->info->fields[f].width;
      fprintf(out, "  {%s, %d, %" PRId64 "},\n", escape_c(m->arena, number->name), number->is_onehot, width);
    }
    fprintf(out, "};\n\n");
  }
  emit_names_list(m, "normalised", recipe->normalised, recipe->normalised_count, out);
  emit_names_list(m, "reversed", recipe->reversed, recipe->reversed_count, out);
  emit_names_list(m, "class_fields", recipe->class_fields, recipe->class_field_count, out);
}

/* What the steps and the runtime are told of the loss, and the metrics. */
void emit_measures(const Emission *m, FILE *out) {
  const TypedProgram *p = m->program;
  const TrainSpec *t = &p->train;
  if (!loss_is_plain(t)) {
    if (t->class_weights) emit_class_weights(m, "static const double class_weights[]", out);
    fprintf(out, "static const gnn_loss LOSS_SETTINGS = {GNN_LOSS_%s, %d, %.17g, %.17g, %.17g, %s};\n\n", loss_enumerators[t->loss],
            p->fields[t->label_field].type.dtype == DTYPE_CLASS, t->smoothing, t->delta, t->pos_weight, t->class_weights ? "class_weights" : "NULL");
  }
  if (!t->metric_count) return;
  fprintf(out, "static const gnn_metric metrics[] = {");
  for (int i = 0; i < t->metric_count; i++)
    fprintf(out, "%s{GNN_METRIC_%s, %" PRId64 ", \"%s\"}", i ? ", " : "", metric_enumerators[t->metrics[i].kind], t->metrics[i].argument, t->metrics[i].name);
  fprintf(out, "};\n\n");
}

/* gnn_rate_cosine(g->option[0], 200, 0, done) */
static const char *rate_text(const Emission *m, const RateSchedule *schedule) {
  const ScheduleInfo *info = &schedule_info[schedule->kind];
  const char *warmup = schedule->warmup == NO_INDEX ? NULL : emit_scalar(m, schedule->warmup);
  const char *done = warmup ? arena_printf(m->arena, "done - %s", warmup) : "done";
  const char *text = arena_printf(m->arena, "gnn_rate_%s(", info->name);
  for (int a = 0; a < info->argument_count; a++) text = arena_printf(m->arena, "%s%s, ", text, emit_scalar(m, schedule->argument[a]));
  text = arena_printf(m->arena, "%s%s)", text, schedule->kind == SCHEDULE_PLATEAU ? "(double)g->reductions" : done);
  return warmup ? arena_printf(m->arena, "gnn_rate_warmup(%s, %s, done)", warmup, text) : text;
}

void emit_rates(const Emission *m, FILE *out) {
  const TrainSpec *train = &m->program->train;
  fprintf(out, "/* The learning rates of an epoch. */\nstatic void rates(gnn_run *g) {\n  const double done = (double)(g->epoch - 1);\n  (void)done;\n");
  for (int i = 0; i < train->schedule_count; i++) fprintf(out, "  g->rate[%d] = %s;\n", i, rate_text(m, &train->schedules[i]));
  fprintf(out, "}\n\n");
}

/* Of the states of a trained weight, in the order of emit_weights. */
static void emit_state_names(const Emission *m, FILE *out) {
  const char *names[MAX_STATES] = {optimizer_info[m->program->train.optimizer].state_names[0], optimizer_info[m->program->train.optimizer].state_names[1], "opt.accumulated."};
  int p = 0;
  while (p < m->program->param_count && !m->program->params[p].is_trained) p++;
  int count = 0;
  for (int s = 0; s < MAX_STATES && p < m->program->param_count; s++)
    if (weight_has_state(m->program, p, s)) fprintf(out, count++ ? ", \"%s\"" : "  .state_names = {\"%s\"", names[s]);
  if (count) fprintf(out, "},\n");
}

/* In the host arena. */
static const char *away_at(const Emission *m, int index) {
  return index == NO_INDEX || m->layout->residents->away[index].tier == TIER_SSD ? "-1" : arena_printf(m->arena, "%" PRId64, m->layout->residents->away[index].at);
}

/* The sets of edges, and where their arrays lie. */
static void emit_edge_sets(const Emission *m, FILE *out) {
  const DataInfo *info = m->program->info;
  fprintf(out, "static const gnn_edge_set_desc edge_sets[] = {\n");
  for (int set = 0; set < typed_edge_sets(info); set++) {
    const struct EdgeSetBlocks *b = &m->layout->residents->sets[set];
    const Domain edges = typed_edge_set(info, set), src = domain_at(edges, END_SRC), dst = domain_at(edges, END_DST);
    const int64_t count = typed_rows(info, edges);
    fprintf(out, "  {.name = %s, .src = %d, .dst = %d, .edges = %" PRId64 ", .has_out = %d, .is_symmetric = %d,\n", escape_c(m->arena, typed_domain_name(info, edges)), domain_set(src), domain_set(dst),
            count, b->has_out, b->is_symmetric);
    const bool is_away = edges == DOMAIN_EDGE && has_graph_away(m->layout->residents);
    const int *offsets = m->layout->residents->offsets_away;
    const bool has_offsets_away = edges == DOMAIN_EDGE && (offsets[END_DST] != NO_INDEX || offsets[END_SRC] != NO_INDEX);
    const int out_edges = edges == DOMAIN_EDGE ? m->layout->residents->out_edges_away : NO_INDEX;
    const int *away = m->layout->residents->neighbours_away, *degree = m->layout->residents->degree_away, first = away[END_DST] != NO_INDEX ? away[END_DST] : away[END_SRC];
    fprintf(out, "   .at_in_ptr = %s, .at_in_idx = %s, .at_in_bounds = %s, .at_out_ptr = %s, .at_out_idx = %s, .at_out_edge = %s, .at_out_bounds = %s,\n", has_offsets_away ? away_at(m, offsets[END_DST]) : emit_at(m, b->in_ptr),
            is_away ? away_at(m, away[END_DST]) : emit_at(m, b->in_idx), emit_at(m, b->in_bounds), has_offsets_away ? away_at(m, offsets[END_SRC]) : emit_at(m, b->out_ptr), is_away ? away_at(m, away[END_SRC]) : emit_at(m, b->out_idx), place_of(m, b->out_edge, out_edges), emit_at(m, b->out_bounds));
    const bool is_on_ssd = is_away && m->layout->residents->away[first].tier == TIER_SSD;
    if (out_edges != NO_INDEX && is_on_ssd) fprintf(out, "   .out_edge_home = %s,\n", away_side(m, out_edges));
    if (is_away && !is_on_ssd) fprintf(out, "   .is_idx_on_host = 1,%s\n", has_offsets_away ? " .is_ptr_on_host = 1," : "");
    if (is_on_ssd && offsets[END_DST] != NO_INDEX) fprintf(out, "   .in_ptr_home = %s,\n", away_side(m, offsets[END_DST]));
    if (is_on_ssd && offsets[END_SRC] != NO_INDEX) fprintf(out, "   .out_ptr_home = %s,\n", away_side(m, offsets[END_SRC]));
    if (is_on_ssd && degree[END_DST] != NO_INDEX) fprintf(out, "   .in_degree_home = %s,\n", away_side(m, degree[END_DST]));
    if (is_on_ssd && degree[END_SRC] != NO_INDEX) fprintf(out, "   .out_degree_home = %s,\n", away_side(m, degree[END_SRC]));
    if (is_on_ssd && away[END_DST] != NO_INDEX) fprintf(out, "   .in_home = %s,\n", away_side(m, away[END_DST]));
    if (is_on_ssd && away[END_SRC] != NO_INDEX) fprintf(out, "   .out_home = %s,\n", away_side(m, away[END_SRC]));
    if (m->backend == BACKEND_CUDA && residents_hub_room(count))
      fprintf(out, "   .hub_room = %" PRId64 ", .at_in_hubs = %s, .at_out_hubs = %s,\n", residents_hub_room(count), emit_at(m, b->in_hubs), emit_at(m, b->out_hubs));
    if (info->is_of_rank && set >= EDGES_OF_RELATIONS) fprintf(out, "   .table = %" PRId64 ", .at_id = %s,\n", info->ranks->related_table[set - EDGES_OF_RELATIONS], emit_at(m, b->id));
    fprintf(out, "   .at_in_degree = %s, .at_out_degree = %s},\n", is_away ? away_at(m, degree[END_DST]) : emit_at(m, b->degree[END_DST]), is_away ? away_at(m, degree[END_SRC]) : emit_at(m, b->degree[END_SRC]));
  }
  fprintf(out, "};\n\n");
  if (info->type_count) fprintf(out, "static const gnn_node_type_desc node_types[] = {\n");
  for (int i = 0; i < info->type_count; i++) fprintf(out, "  {.name = %s, .nodes = %" PRId64 "},\n", escape_c(m->arena, info->types[i].name), info->types[i].nodes);
  if (info->type_count) fprintf(out, "};\n\n");
}

/* Those of the graph say whether it is shared out as it was; of relations, those that are exchanged. */
static bool has_pairs(const Emission *m, int halo) { return halo < GNN_HALOS || m->layout->residents->halo[kind_of_halo(halo)].row != NO_INDEX; }

static const char *pairs_of_halo(const Emission *m, int halo) {
  static const char *const names[] = {"pairs_in", "pairs_out", "pairs_of_edges"};
  return halo < GNN_HALOS ? names[halo] : arena_printf(m->arena, "pairs_%d", halo);
}

/* How the nodes are shared out. */
static void emit_ranks(const Emission *m, FILE *out) {
  const RankInfo *ranks = m->program->info->is_of_rank ? m->program->info->ranks : NULL;
  if (!ranks) return;
  fprintf(out, "/* Which parts, and rows, the ranks own; how many rows each gathers of each over in-edges and out-edges, and how many edges it gets. */\nextern const gnn_net gnn_mpi;\nstatic const int first_part[] = {");
  for (int r = 0; r <= ranks->count; r++) fprintf(out, "%s%d", r ? ", " : "", ranks->first_part[r]);
  fprintf(out, "};\n");
  emit_numbers("first_row", ranks->first, ranks->count, out);
  const struct HaloBlocks *blocks = m->layout->residents->halo;
  for (int h = 0; h < ranks->halos; h++)
    if (has_pairs(m, h)) emit_numbers(pairs_of_halo(m, h), ranks->pairs[kind_of_halo(h)], ranks->count * ranks->count - 1, out);
  fprintf(out, "static const int64_t *const gathered[] = {");
  for (int h = 0; h < ranks->halos; h++) fprintf(out, "%s%s", h ? ", " : "", has_pairs(m, h) ? pairs_of_halo(m, h) : "NULL");
  fprintf(out, "};\nstatic const int64_t at_send[] = {");
  for (int h = 0; h < ranks->halos; h++) fprintf(out, "%s%s", h ? ", " : "", emit_at(m, blocks[kind_of_halo(h)].row));
  fprintf(out, "};\nstatic const gnn_ranks_desc ranks = {%d, %d, INT64_C(%" PRId64 "), INT64_C(%" PRId64 "), first_part, first_row, %d, gathered, at_send", ranks->count, ranks->part_levels, ranks->nodes, ranks->edges, ranks->halos);
  static const char *const boundaries[] = {"GNN_BOUNDARY_EXACT", "GNN_BOUNDARY_STALE", "GNN_BOUNDARY_SAMPLE"};
  fprintf(out, ", &gnn_mpi, %s, %.17g, %d, INT64_C(%" PRId64 "), %d", boundaries[m->program->train.boundary], m->program->train.boundary_number, m->evaluation_plan->problem->parts->finer, passing_bytes(m->program, m->schedule, m->machine),
          m->program->info->has_all ? domain_set(typed_all_edges(m->program->info)) : 0);
  const DataInfo *all = m->program->info->of_all;
  int64_t nodes = all->nodes, edges = all->edges;
  for (int t = 0; t < all->type_count; t++) nodes += all->types[t].nodes;
  for (int i = 0; i < all->relation_count && all->type_count > 0; i++) edges += all->relations[i].edges;
  fprintf(out, ", .all_nodes = INT64_C(%" PRId64 "), .all_edges = INT64_C(%" PRId64 "), .all_rows = {INT64_C(%" PRId64 "), INT64_C(%" PRId64 "), INT64_C(%" PRId64 ")}};\n\n", nodes, edges, all->split_count[0], all->split_count[1], all->split_count[2]);
}

static void emit_program(const Emission *m, int value_count, const Taps *taps, FILE *out) {
  const TypedProgram *p = m->program;
  const Layout *y = m->layout;
  const DataRecipe *r = &p->data->recipe;
  const TrainSpec *t = &p->train;
  static const char *const loops[] = {"GNN_LOOPS_KEEP", "GNN_LOOPS_ADD", "GNN_LOOPS_REMOVE"};
  int used_fields = 0;
  for (int f = 0; f < p->field_count; f++) used_fields += has_field(m, f);
  fprintf(out, "const gnn_program PROGRAM = {\n  .abi = GNN_ABI,\n  .real_bytes = sizeof(gnn_real),\n");
  fprintf(out, "  .generator = \"generated by gnncc " GNNCC_VERSION "\",\n  .name = %s,\n  .data_name = %s,\n  .source_name = %s,\n  .fingerprint = \"%s\",\n  .model_fingerprint = \"%s\",\n  .plan_json = PLAN,\n", escape_c(m->arena, p->name),
          escape_c(m->arena, p->data->name), escape_c(m->arena, m->model_path), m->fingerprint, m->model_fingerprint);
  fprintf(out, "  .device_bytes = %" PRId64 ",\n  .reserve_bytes = %" PRId64 ",\n  .data_bytes = %" PRId64 ",\n  .loading_bytes = %" PRId64 ",\n  .process_bytes = %" PRId64 ",\n  .address_bytes = %" PRId64 ",\n  .estimated_epoch_seconds = %.9g,\n", y->bytes,
          m->machine->reserve_bytes, m->process.data, m->process.loading, m->process.resident, m->process.addresses, m->schedule->training_seconds * (double)(t->batch_graphs ? t->batch_count : 1));
  if (p->has_target && p->target.device) fprintf(out, "  .device_name = %s,\n", escape_c(m->arena, p->target.device));
  fprintf(out, "  .device_budget = %" PRId64 ",\n", m->machine->tier_bytes[TIER_DEVICE]);
  fprintf(out, "  .host_bytes = %" PRId64 ",\n  .ssd_bytes = %" PRId64 ",\n  .ring_bytes = %" PRId64 ",\n", y->host_bytes, y->ssd_bytes, y->ring_bytes);
  if (m->schedule->copy_count)
    fprintf(out, "  .copy_count = %d,\n  .copies = copies,\n  .extent_count = %d,\n%s", m->schedule->copy_count + emit_scores_copies(m), y->extent_count, m->schedule->slot_count ? "  .extents = extents,\n" : "");
  if (m->slowdown > 0) fprintf(out, "  .is_simulated = 1,\n  .slowdown = %.9g,\n", m->slowdown);
  if (m->machine->scratch_dir) fprintf(out, "  .scratch_dir = %s,\n", escape_c(m->arena, m->machine->scratch_dir));
  if (p->info->layout) fprintf(out, "  .source = {.kind = \"dgl\", .arg_count = 2, .args = source_args},\n");
  else fprintf(out, "  .source = {.kind = %s, .arg_count = %d%s},\n", escape_c(m->arena, p->data->source.kind), p->data->source.arg_count,
          p->data->source.arg_count ? ", .args = source_args" : "");
  fprintf(out, "  .recipe = {.is_undirected = %d%s, .self_loops = %s, .normalised_count = %d%s,\n             .has_random_split = %d, .split_fraction = {%.17g, %.17g, %.17g}, .split_seed = %" PRIu64 "u, .split_index = %d",
          r->is_undirected, r->keeps_duplicates ? ", .keeps_duplicates = 1" : "", loops[r->self_loops], r->normalised_count, r->normalised_count ? ", .normalised = normalised" : "",
          r->has_random_split, r->split_fraction[0], r->split_fraction[1], r->split_fraction[2], r->split_seed, r->split_index);
  int file_fields = 0;
  for (int i = 0; i < p->data->decl_count; i++) file_fields += p->data->decls[i].source != NULL;
  if (file_fields) fprintf(out, ",\n             .file_field_count = %d, .file_fields = file_fields", file_fields);
  if (r->number_count) fprintf(out, ",\n             .number_count = %d, .numbers = numbers", r->number_count);
  if (r->class_field_count) fprintf(out, ",\n             .class_field_count = %d, .class_fields = class_fields", r->class_field_count);
  if (r->pairs.name)
    fprintf(out, ",\n             .pairs = {.name = %s, .valid = %.17g, .test = %.17g, .negatives = %" PRId64 ", .keeps_source = %d, .is_resampled = %d, .seed = %" PRIu64 "u, .is_stored = %d}", escape_c(m->arena, r->pairs.name),
            r->pairs.valid, r->pairs.test, r->pairs.negatives, r->pairs.keeps_source, r->pairs.is_resampled, r->pairs.seed, r->pairs.is_stored);
  if (r->has_folds) fprintf(out, ", .has_folds = 1, .fold_count = %" PRId64 ", .fold_has_valid = %d", r->fold_count, r->fold_has_valid);
  if (r->reverses_all) fprintf(out, ",\n             .reverses_all = 1");
  if (r->reversed_count) fprintf(out, ",\n             .reversed_count = %d, .reversed = reversed", r->reversed_count);
  if (r->target) fprintf(out, ",\n             .target = %s, .is_target_number = %d", escape_c(m->arena, r->target), r->is_target_number);
  if (r->order == ORDER_NESTED) fprintf(out, ",\n             .order = GNN_ORDER_NESTED");
  if (r->order == ORDER_FILE)
    fprintf(out, ",\n             .order = GNN_ORDER_FILE, .order_path = %s, .order_fingerprint = %" PRIu64 "u", escape_c(m->arena, r->order_path), p->info->order_fingerprint);
  if (p->info->is_of_rank && p->info->graph_fingerprint) fprintf(out, ",\n             .graph_fingerprint = %" PRIu64 "u, .edges_read = (int64_t)%" PRIu64 "u", p->info->graph_fingerprint, (uint64_t)p->info->edges_read);
  fprintf(out, "},\n");
  fprintf(out, "  .graph = {.nodes = %" PRId64 ", .edges = %" PRId64 ", .graphs = %" PRId64 ", .has_weights_of_nodes = %d, .at_blocks = %s,\n", p->info->nodes, p->info->edges, p->info->graphs, p->has_weights_of_nodes,
          emit_at(m, y->residents->node_blocks));
  fprintf(out, "            .set_count = %d, .sets = edge_sets,\n", typed_edge_sets(p->info));
  if (p->info->type_count) fprintf(out, "            .type_count = %d, .types = node_types,\n", p->info->type_count);
  if (r->order != ORDER_GIVEN || p->info->is_of_rank) {
    const int *edge_ids = y->residents->edge_ids_away;
    fprintf(out, "            .is_ordered = 1, .at_node_id = %s, .at_edge_id = %s, .at_out_edge_id = %s%s", place_of(m, y->residents->node_id, y->residents->node_ids_away), place_of(m, y->residents->edge_id, edge_ids[END_DST]),
            place_of(m, NO_INDEX, edge_ids[END_SRC]), y->residents->has_ids_of_others ? ", .has_ids_of_others = 1" : "");
    emit_home(m, "node_id", y->residents->node_ids_away, out);
    emit_home(m, "edge_id", edge_ids[END_DST], out);
    emit_home(m, "out_edge_id", edge_ids[END_SRC], out);
    fprintf(out, ",\n");
  }
  const Parts *parts = m->evaluation_plan->problem->parts;
  if (parts->count > 1 && parts->ranks) fprintf(out, "            .part_levels = %d,%s\n", parts->levels, y->residents->away_count ? " .part_first = part_first," : "");
  else if (parts->count > 1) fprintf(out, "            .part_levels = %d, .part_first = part_first,%s\n", parts->levels, has_parts_of_edges(m) ? " .part_in = part_in, .part_out = part_out," : "");
  for (int direction = 0; direction < HALO_KINDS && y->residents->halo_levels; direction++) {
    static const HaloKind kinds[] = {HALO_FOR_DST, HALO_FOR_SRC, HALO_OF_EDGES};
    const struct HaloBlocks *b = &y->residents->halo[kinds[direction]];
    const int rows = y->residents->halo_rows_away[kinds[direction]], codes = kinds[direction] == HALO_OF_EDGES ? y->residents->edge_codes_away : NO_INDEX;
    fprintf(out, "            .halo[%d] = {.at_code = %s, .at_row = %s, .at_first = %s, .pairs = %s, .shift = %d", direction, place_of(m, b->code, codes), place_of(m, b->row, rows), emit_at(m, b->first),
            b->first == NO_INDEX ? "NULL" : pairs_names[kinds[direction]], parts_halo_shift(parts, kinds[direction]));
    emit_home(m, "row", rows, out);
    emit_home(m, "code", codes, out);
    fprintf(out, "},\n");
  }
  const int *stay = y->residents->rows, *leave = y->residents->rows_away;
  if (are_rows_away(m)) fprintf(out, "            .are_rows_on_host = 1,%s\n", parts->count > 1 ? " .part_rows = {part_rows_0, part_rows_1, part_rows_2}," : "");
  fprintf(out, "            .at_rows = {%s, %s, %s}, .row_count = {%" PRId64 ", %" PRId64 ", %" PRId64 "}},\n", place_of(m, stay[0], leave[0]), place_of(m, stay[1], leave[1]),
          place_of(m, stay[2], leave[2]), p->info->split_count[0], p->info->split_count[1], p->info->split_count[2]);
  fprintf(out, "  .field_count = %d,\n%s", used_fields, used_fields ? "  .fields = fields,\n" : "");
  int label = p->has_train && has_field(m, t->label_field) ? field_index(m, t->label_field) : -1;
  const Domain scored = m->evaluation->graph->values[m->evaluation->graph->scores].shape.domain;
  fprintf(out, "  .label_field = %d,\n  .scores_domain = %s,\n  .scores_set = %d,\n  .classes = %" PRId64 ",\n", label, emit_domain_word(scored), emit_set_number(scored), shape_width(&m->evaluation->graph->values[m->evaluation->graph->scores].shape));
  if (p->has_train && t->ring_field != NO_INDEX) fprintf(out, "  .ring_field = %d,\n", field_index(m, t->ring_field));
  fprintf(out, "  .option_count = %d,\n%s  .weight_count = %d,\n%s  .step_count = %d,\n  .steps = steps,\n", p->option_count,
          p->option_count ? "  .options = options,\n" : "", p->param_count, p->param_count ? "  .weights = weights,\n" : "", m->schedule->count);
  if (value_count) fprintf(out, "  .value_count = %d,\n  .values = values,\n", value_count);
  if (p->has_train) {
    fprintf(out, "  .epochs = %" PRId64 ",\n  .runs = %" PRId64 ",\n  .seed = %" PRId64 ",\n  .evaluate_every = %" PRId64 ",\n  .checkpoint_every = %" PRId64 ",\n",
            t->epochs, t->runs, t->seed, t->evaluate_every, t->checkpoint_every);
    fprintf(out, "  .has_keep = %d,\n  .has_stop = %d,\n  .keep_split = %d,\n  .stop_split = %d,\n  .keep_measure = %d,\n  .stop_measure = %d,\n",
            t->has_keep, t->has_stop, (int)t->keep_split, (int)t->stop_split, (int)t->keep_measure, (int)t->stop_measure);
    fprintf(out, "  .patience = %" PRId64 ",\n  .shows = {%d, %d, %d},\n", t->patience, t->shows[0], t->shows[1], t->shows[2]);
    if (!loss_is_plain(t)) fprintf(out, "  .loss = &LOSS_SETTINGS,\n");
    if (t->metric_count) fprintf(out, "  .metric_count = %d,\n  .metrics = metrics,\n", t->metric_count);
    if (t->has_confusion) fprintf(out, "  .has_confusion = 1,\n");
    if (t->batch_graphs) fprintf(out, "  .batch_graphs = %" PRId64 ",\n  .batch_shuffles = %d,\n", p->info->graphs, t->batch_shuffles);
    if (p->info->fold_count) fprintf(out, "  .fold_count = %" PRId64 ",\n", p->info->fold_count);
    if (t->reports_folds) fprintf(out, "  .reports_folds = 1,\n");
    const TypedExpr *rate = &p->exprs[t->schedules[0].argument[0]];
    if (rate->kind == TYPED_OPTION) fprintf(out, "  .rate_option = \"%s\",\n", p->options[rate->index].name);
    if (t->has_plateau)
      fprintf(out, "  .has_plateau = 1,\n  .plateau_split = %d,\n  .plateau_measure = %d,\n  .plateau_patience = %" PRId64 ",\n", (int)t->plateau_split,
              (int)t->plateau_measure, t->plateau_patience);
    emit_state_names(m, out);
    fprintf(out, "  .forward_backward = forward_backward,\n  .rates = rates,\n  .update = update,\n");
  }
  fprintf(out, "  .tap_count = %d,\n%s", taps->count, taps->count ? "  .taps = taps,\n" : "");
  if (taps->scores_count) fprintf(out, "  .scores_tap_count = %d,\n", taps->scores_count);
  if (taps->untold_count) fprintf(out, "  .untold_count = %d,\n  .untold = untold,\n", taps->untold_count);
  const Away *away = y->residents->scores_away == NO_INDEX ? NULL : &y->residents->away[y->residents->scores_away];
  const Block *scores = away ? NULL : layout_at(y, m->evaluation, m->evaluation->graph->scores, 0, m->schedule->count - 1);
  const Padding padding = away ? away->padding : scores->padding;
  if (away) fprintf(out, "  .scores_tier = %s,\n", emit_scores_tier(y));
  if (y->scores_together)
    fprintf(out, "  .at_scores = %" PRId64 ",\n  .scores_copy = %d,\n  .scores_copies = %d,\n  .scores_together = %d,\n  .evaluate = evaluate,\n", y->scores_at, m->schedule->copy_count, emit_scores_copies(m), y->scores_together);
  else if (away) fprintf(out, "  .at_scores = %" PRId64 ",\n  .evaluate = evaluate,\n", y->scores_at);
  else fprintf(out, "  .at_scores = AT_%s,\n  .evaluate = evaluate,\n", scores->name);
  if (padding.stride) fprintf(out, "  .scores_stride = %" PRId64 ",\n", padding.stride);
  if (y->residents->results != NO_INDEX) fprintf(out, "  .has_results = 1,\n  .at_results = AT_results,\n");
  if (t->approximation) fprintf(out, "  .approximation = \"%s\",\n", t->approximation);
  if (p->info->is_of_rank) fprintf(out, "  .ranks = &ranks,\n");
  if (m->backend == BACKEND_CUDA) fprintf(out, "  .backend = &gnn_cuda_backend,\n  .code = &code,\n");
  if (m->keep_order) fprintf(out, "  .keep_order = &keep_order,\n");
  if (m->schedule->once_count) fprintf(out, "  .once_count = %d,\n  .once = once,\n", m->schedule->once_count);
  if (m->has_double) fprintf(out, "#ifndef GNN_DOUBLE\n  .in_double = IN_DOUBLE,\n#endif\n");
  fprintf(out, "  .cpu = GNN_CPU_NAME,\n  .instructions = GNN_INSTRUCTIONS,\n  .sve_bits = GNN_SVE_BITS,\n  .also = OTHER,\n");
  fprintf(out, "};\n");
}

/* plan.json as a literal of C, which PREFIX.c includes. It goes over many lines: C compilers take ten times as long for as many numbers, and longer still for a literal a line. */

void emit_description(const Emission *m, FILE *out) {
  emit_options(m, out);
  emit_weights(m, out);
  emit_fields(m, out);
  emit_steps(m, out);
  const int value_count = emit_values(m, out);
  emit_source_description(m, out);
  emit_edge_sets(m, out);
  const Taps taps = emit_taps(m, out);
  fprintf(out,
          "/* plan.json, which lies beside this file. */\n"
          "#ifdef __GNUC__\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n"
          "static const char PLAN[] =\n#if defined GNN_SINGLE_FILE || __has_include(\"%s_plan.inc\")\n#include \"%s_plan.inc\"\n#else\n\"\"\n#endif\n;\n\n",
          m->prefix, m->prefix);
  emit_ranks(m, out);
  emit_program(m, value_count, &taps, out);
}
