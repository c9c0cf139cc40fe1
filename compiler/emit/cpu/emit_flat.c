#include "emit_flat.h"

#include <inttypes.h>
#include <string.h>

static bool is_local(const RowWriter *rows, ValueId id) {
  for (int i = 0; i < rows->local_count; i++)
    if (rows->locals[i].value == id) return true;
  return false;
}

/* Marks what is computed for `id` where it is used. */
static void mark_computed(const StepWriter *w, const RowWriter *rows, ValueId id, bool *is_computed) {
  if (is_computed[id] || !kernels_is_virtual(w->kernels, id) || is_local(rows, id)) return;
  is_computed[id] = true;
  for (int k = 0; k < w->graph->values[id].operand_count; k++) mark_computed(w, rows, w->graph->values[id].operand[k], is_computed);
}

static bool may_be_flat(const StepWriter *w, ValueId id) {
  const Value *value = &w->graph->values[id];
  return value->op == OP_MAP && value->operand_count == 1 && rows_is_long(value->as.function) && domain_is_edges(value->shape.domain) && shape_width(&value->shape) <= FLAT_WIDEST;
}

static RowWriter *write_flat(StepWriter *w, const RowWriter *rows, const EdgeArray *flat) {
  const Value *value = &w->graph->values[flat->value];
  const Kernel *stage = w->arguments->stage;
  Kernel *alone = arena_alloc(w->arena, sizeof *alone);
  *alone = *w->kernel;
  alone->kind = KERNEL_MAP;
  alone->body = arena_alloc(w->arena, sizeof *alone->body);
  alone->body[0] = value->operand[0];
  alone->body_count = 1;
  w->arguments->stage = alone;
  RowWriter *of = rows_new(w->arguments, &value->shape);
  for (int i = 0; i < rows->local_count; i++) rows_name_local(of, rows->locals[i].value, rows->locals[i].array);
  const Index index = rows_full_index(of, ROWS_EDGE);
  const char *number = rows_value(of, value->operand[0], index);
  rows_write(of, of->loop_count ? LEVEL_ELEMENT : LEVEL_EDGE, "to[%s] = %s;", of->loop_count ? rows_offset(of, &value->shape, index) : "0", number);
  w->arguments->stage = stage;
  ARENA_PUSH(w->arena, w->more, w->more_count, of);
  return of;
}

Flats flats_write(StepWriter *w, RowWriter *rows, ValueId operand, ValueId beside) {
  Flats flats = {.count = 0};
  bool *is_computed = arena_alloc(w->arena, (size_t)w->graph->value_count + 1);
  mark_computed(w, rows, operand, is_computed);
  if (beside != NO_VALUE) mark_computed(w, rows, beside, is_computed);
  for (ValueId id = 0; id < w->graph->value_count && flats.count < FLAT_MOST; id++) {
    if (!is_computed[id] || !may_be_flat(w, id)) continue;
    const Value *value = &w->graph->values[id];
    EdgeArray *flat = &flats.of[flats.count];
    *flat = (EdgeArray){id, shape_width(&value->shape), arena_printf(w->arena, "flat_%s", value->name), arena_printf(w->arena, "at_flat_%s", value->name), "from"};
    flats.rows[flats.count] = write_flat(w, rows, flat);
    flats.uses |= flats.rows[flats.count++]->uses;
    rows_name_local(rows, id, flat->at);
  }
  return flats;
}

void print_edge_arrays(const StepWriter *w, const EdgeArray *arrays, int count, const char *text, const char *indent) {
  for (int k = 0; k < count; k++)
    if (rows_mention(text, arrays[k].at)) fprintf(w->out, "%sconst gnn_real *restrict %s = %s + (i - %s) * %" PRId64 ";\n", indent, arrays[k].at, arrays[k].name, arrays[k].first, arrays[k].width);
}

/* Whole vectors of 16: what is behind the last edge is a function of 0. */
void flats_print(const StepWriter *w, const Flats *flats, int64_t edges, bool is_out, const EdgeArray *arrays, int count, const char *indent) {
  const char *inner = arena_printf(w->arena, "%s  ", indent), *innermost = arena_printf(w->arena, "%s    ", indent);
  for (int k = 0; k < flats->count; k++) {
    const EdgeArray *flat = &flats->of[k];
    const RowWriter *rows = flats->rows[k];
    const char *loops = rows_loops_text(rows, innermost), *text = arena_printf(w->arena, "%s%s", rows->text[LEVEL_EDGE], loops);
    fprintf(w->out, "%s_Alignas(64) gnn_real %s[%" PRId64 "];\n%s{\n", indent, flat->name, (edges * flat->width + 15) / 16 * 16, indent);
    step_print_lines(w->out, inner, rows->text[LEVEL_ROW]);
    fprintf(w->out, "%sgnn_real *restrict to = %s;\n%sfor (int64_t i = from; i < until; i++, to += %" PRId64 ") {\n", inner, flat->name, inner, flat->width);
    step_print_lines(w->out, innermost, step_edge_variables(w, rows->uses, is_out));
    print_edge_arrays(w, arrays, count, text, innermost);
    print_edge_arrays(w, flats->of, k, text, innermost);
    step_print_lines(w->out, innermost, rows->text[LEVEL_EDGE]);
    fprintf(w->out, "%s%s}\n", loops, inner);
    const char *number = rows_function(rows, w->graph->values[flat->value].as.function, arena_printf(w->arena, "%s[at + t]", flat->name), "");
    fprintf(w->out, "%sconst int64_t count = (until - from) * %" PRId64 ";\n%sfor (int64_t at = count; at %% 16 != 0; at++) %s[at] = 0;\n", inner, flat->width, inner, flat->name);
    fprintf(w->out, "%sfor (int64_t at = 0; at < count; at += 16)\n%s  GNN_ROLLED for (int t = 0; t < 16; t++) %s[at + t] = %s;\n%s}\n", inner, inner, flat->name, number, indent);
  }
}
