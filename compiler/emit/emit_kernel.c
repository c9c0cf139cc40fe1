/* emit_kernel: one step as C: what it does to a row, what a task does to a range of rows, and the step itself.
 *
 * The kernels of kernels/cpu are templates; what is printed here instantiates them with the sizes of the step, and
 * hands them the body as a function that is called for each finished row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emit_step.h"

/* ---- the body ---- */

/* The opening of a function over the step's struct: only what its text uses is declared. */
static void print_opening(const StepWriter *w, const char *text) {
  bool needs_g = strstr(text, "V(") || strstr(text, "V_BITS(") || step_mentions(text, "g");
  bool needs_s = needs_g || step_mentions(text, "s");
  if (needs_s) fprintf(w->out, "  const struct step_%d *s = context;\n", w->n);
  else fprintf(w->out, "  (void)context;\n");
  if (needs_g) fprintf(w->out, "  const gnn_run *g = s->g;\n");
}

static char *loops_text(const RowWriter *rows, const char *indent) {
  char *text;
  size_t size;
  FILE *memory = arena_open_text(rows->arena, &text, &size);
  rows_print_loops(rows, memory, indent);
  fclose(memory);
  return text;
}

static void print_struct(const StepWriter *w, const char *more_fields) {
  fprintf(w->out, "struct step_%d {\n  const gnn_run *g;\n", w->n);
  step_print_lines(w->out, "  ", step_fields(w, more_fields));
  fprintf(w->out, "};\n\n");
}

/* step_N_row: called for each finished row of a product or sum. */
static void print_row_function(const StepWriter *w) {
  char *loops = loops_text(w->body, "  ");
  const char *text = arena_printf(w->arena, "%s%s", w->body->text[LEVEL_ROW], loops);
  fprintf(w->out, "static inline void step_%d_row(const void *context, int64_t r, const gnn_real *acc) {\n", w->n);
  print_opening(w, text);
  if (!step_mentions(text, "r")) fprintf(w->out, "  (void)r;\n");
  if (!step_mentions(text, "acc")) fprintf(w->out, "  (void)acc;\n");
  step_print_lines(w->out, "  ", w->body->text[LEVEL_ROW]);
  fprintf(w->out, "%s}\n\n", loops);
}

static void open_task(const StepWriter *w, const char *name, const char *text) {
  fprintf(w->out, "static void step_%d_%s(const void *context, int64_t begin, int64_t end, int64_t task) {\n", w->n, name);
  print_opening(w, text);
  if (!step_mentions(text, "task")) fprintf(w->out, "  (void)task;\n");
}

/* A task whose whole text is one call. */
static void print_task(const StepWriter *w, const char *name, const char *statement) {
  open_task(w, name, statement);
  fprintf(w->out, "  %s\n}\n\n", statement);
}

/* ---- the step ---- */

static void open_step(const StepWriter *w, const char *more_values) {
  fprintf(w->out, "static void step_%d(gnn_run *g) {\n  const struct step_%d s = {\n    .g = g,\n", w->n, w->n);
  step_print_lines(w->out, "    ", step_values(w, more_values));
  fprintf(w->out, "  };\n");
}

static const char *number(const StepWriter *w, int64_t n) { return arena_printf(w->arena, "%" PRId64, n); }

static void run_over(const StepWriter *w, const char *task, const char *count, const char *extent) {
  fprintf(w->out, "  gnn_parallel(g->team, %s, %s, step_%d_%s, &s);\n", count, extent, w->n, task);
}

static void run_over_bounds(const StepWriter *w, const char *task, const char *csr) {
  fprintf(w->out, "  gnn_parallel_ranges(g->team, %s.bounds, %s.tasks, step_%d_%s, &s);\n", csr, csr, w->n, task);
}

static const char *part_row(const StepWriter *w, int part, int64_t lead) {
  const char *row = arena_printf(w->arena, "g->blocks.first[%" PRId64 "]", step_first_block(w, part));
  return lead == 1 ? row : arena_printf(w->arena, "%s * %" PRId64, row, lead);
}

/* All of them, or those of the step's part. */
static void run_over_rows(const StepWriter *w, const char *task, Domain domain, int64_t lead) {
  const int part = w->step->part;
  if (part == 0) run_over(w, task, step_row_count(w, domain, lead), number(w, w->kernel->task_rows));
  else
    fprintf(w->out, "  gnn_parallel_part(g->team, %s, %s, %" PRId64 ", step_%d_%s, &s);\n", part_row(w, part - 1, lead), part_row(w, part, lead), w->kernel->task_rows,
            w->n, task);
}

enum { TRANSPOSED_ROWS_A_TASK = 16, PACK_ROWS = 64, SUM_NUMBERS = 4096, COLUMNS_A_TASK = 64, LOSS_TASKS = 64 };

/* ---- kernels ---- */

static void emit_matmul(StepWriter *w) {
  const struct Contraction p = w->anchor->as.product;
  w->body = step_write_body(w, "acc", NULL, false);
  if (p.lead > 1) { /* rows of the product are parts of rows of the value: they are stored as they come */
    w->body->text[LEVEL_ROW] = arena_printf(w->arena, "gnn_real *restrict to = V(%s) + r * %" PRId64 ";\n", step_block_name(w, w->kernel->anchor), p.width);
    w->body->text[LEVEL_ELEMENT] = "to[j] = acc[j];\n";
    w->body->loop_count = 1;
    w->body->loop_size[0] = p.width;
  }
  print_struct(w, "");
  print_row_function(w);
  print_task(w, "pack", arena_printf(w->arena, "gnn_gemm_pack(V(%s), %" PRId64 ", %" PRId64 ", %d, V(%s), begin, end);",
                                     step_block_name(w, w->anchor->operand[1]), p.depth, p.width, p.transposed, step_scratch(w)));
  print_task(w, "rows", arena_printf(w->arena, "matmul_%" PRId64 "x%" PRId64 "(V(%s), V(%s), begin, end, step_%d_row, context);", p.depth, p.width,
                                     step_block_name(w, w->anchor->operand[0]), step_scratch(w), w->n));
  open_step(w, "");
  run_over(w, "pack", number(w, p.depth), number(w, PACK_ROWS));
  run_over_rows(w, "rows", w->anchor->shape.domain, p.lead);
  fprintf(w->out, "}\n\n");
}

static void emit_sparse_matmul(StepWriter *w) {
  const struct Contraction p = w->anchor->as.product;
  ValueId dropout;
  int32_t field = kernel_sparse_field(w->graph, w->emission->is_sparse_field, w->anchor->operand[0], &dropout);
  const char *drop_field, *drop_value, *drop = step_sparse_dropout(w, dropout, &drop_field, &drop_value) ? "&s->drop" : "NULL";
  int slot = step_sparse_slot(w, field);
  const char *matrix = step_block_name(w, w->anchor->operand[1]);
  w->body = step_write_body(w, "acc", NULL, false);
  print_struct(w, drop_field);
  print_row_function(w);
  if (p.transposed)
    print_task(w, "transpose", arena_printf(w->arena, "gnn_transpose(V(%s), %" PRId64 ", %" PRId64 ", V(%s), begin, end);", matrix, p.width,
                                            p.depth, step_scratch(w)));
  print_task(w, "rows", arena_printf(w->arena, "sparse_matmul_%" PRId64 "(&g->sparse[%d], V(%s), %s, begin, end, step_%d_row, context);", p.width,
                                     slot, p.transposed ? step_scratch(w) : matrix, drop, w->n));
  open_step(w, drop_value);
  if (p.transposed) run_over(w, "transpose", number(w, p.depth), number(w, COLUMNS_A_TASK));
  run_over_bounds(w, "rows", arena_printf(w->arena, "g->sparse[%d].by_row", slot));
  fprintf(w->out, "}\n\n");
}

static void emit_sparse_outer(StepWriter *w) {
  const struct Contraction p = w->anchor->as.product;
  ValueId dropout;
  int32_t field = kernel_sparse_field(w->graph, w->emission->is_sparse_field, w->anchor->operand[0], &dropout);
  bool is_left = field != NO_INDEX;
  if (!is_left) field = kernel_sparse_field(w->graph, w->emission->is_sparse_field, w->anchor->operand[1], &dropout);
  const char *drop_field, *drop_value, *drop = step_sparse_dropout(w, dropout, &drop_field, &drop_value) ? "&s->drop" : "NULL";
  int64_t columns = is_left ? p.depth : p.width, width = is_left ? p.width : p.depth;
  int slot = step_sparse_slot(w, field);
  const char *result = step_block_name(w, w->kernel->anchor);
  print_struct(w, drop_field);
  fprintf(w->out, "static inline void step_%d_row(const void *context, int64_t r, const gnn_real *acc) {\n", w->n);
  fprintf(w->out, "  const gnn_run *g = ((const struct step_%d *)context)->g;\n", w->n);
  fprintf(w->out, "  gnn_real *restrict to = V(%s) + r * %" PRId64 ";\n", is_left ? result : step_scratch(w), width);
  fprintf(w->out, "  for (int j = 0; j < %" PRId64 "; j++) to[j] = acc[j];\n}\n\n", width);
  print_task(w, "columns", arena_printf(w->arena, "sparse_outer_%" PRId64 "(&g->sparse[%d], &g->blocks, V(%s), %s, begin, end, step_%d_row, context);", width,
                                        slot, step_block_name(w, w->anchor->operand[is_left ? 1 : 0]), drop, w->n));
  if (!is_left)
    print_task(w, "transpose", arena_printf(w->arena, "gnn_transpose(V(%s), %" PRId64 ", %" PRId64 ", V(%s), begin, end);", step_scratch(w), columns,
                                            width, result));
  open_step(w, drop_value);
  run_over_bounds(w, "columns", arena_printf(w->arena, "g->sparse[%d].by_column", slot));
  if (!is_left) run_over(w, "transpose", number(w, width), number(w, TRANSPOSED_ROWS_A_TASK));
  fprintf(w->out, "}\n\n");
}

/* What the walkers have goes to where the parts before it have left theirs, after the last part from there to the result. */
static const char *sum_of_part(const StepWriter *w, int64_t count) {
  const Parts *parts = w->step->parts;
  const char *sum = arena_printf(w->arena, "gnn_sum_part(V(%s), s->walkers, %" PRId64 ", %d, V(%s), begin, end);", step_scratch(w), count, w->step->part - 1, step_sums(w));
  if (w->step->part < parts->count) return sum;
  return arena_printf(w->arena, "%s\n  memcpy(V(%s) + begin, V(%s) + begin, (size_t)(end - begin) * sizeof(gnn_real));", sum, step_block_name(w, w->kernel->anchor), step_sums(w));
}

/* Sums over all rows, `count` numbers: `call` is a function's name and its arguments but the last three, which are the rows of a run
 * and where their sum goes. */
static void emit_walk(StepWriter *w, const char *call, const char *from, const char *to, int64_t count) {
  const int part = w->step->part;
  const char *sums = arena_printf(w->arena, "V(%s) + walker * s->walkers.open * %" PRId64, step_scratch(w), count);
  const char *before = part > 1 ? arena_printf(w->arena, "%d * s->walkers.runs + ", part - 1) : "", *levels = part ? arena_printf(w->arena, " - %d", w->step->parts->levels) : "";
  fprintf(w->out, "static void step_%d_walk(const void *context, int64_t begin, int64_t end, int64_t walker) {\n", w->n);
  print_opening(w, "s g");
  fprintf(w->out, "  for (gnn_walk walk = gnn_walk_begin(%sbegin, %send, %s, %" PRId64 "); walk.left > 0; gnn_walk_on(&walk))\n", before, before, sums, count);
  fprintf(w->out, "    %s, %s, %s, gnn_walk_place(&walk));\n}\n\n", call, from, to);
  print_task(w, "sum", part ? sum_of_part(w, count)
                            : arena_printf(w->arena, "gnn_sum_walkers(V(%s), s->walkers, %" PRId64 ", V(%s), begin, end);", step_scratch(w), count,
                                           step_block_name(w, w->kernel->anchor)));
  open_step(w, arena_printf(w->arena, ".walkers = gnn_walkers_of(g->blocks.run_levels%s, %d),\n", levels, w->kernel->walker_levels));
  run_over(w, "walk", "s.walkers.runs", "s.walkers.each");
  run_over(w, "sum", number(w, count), number(w, SUM_NUMBERS));
  fprintf(w->out, "}\n\n");
}

/* A product over edges or over parts of rows: each run has those of its nodes. */
static void emit_outer(StepWriter *w) {
  const struct Contraction p = w->anchor->as.product;
  Domain domain = w->graph->values[w->anchor->operand[0]].shape.domain;
  const char *outer = arena_printf(w->arena, "outer_%" PRId64 "x%" PRId64 "(V(%s), V(%s)", p.depth, p.width, step_block_name(w, w->anchor->operand[0]),
                                   step_block_name(w, w->anchor->operand[1]));
  if (domain == DOMAIN_NONE) {
    fprintf(w->out, "static void step_%d(gnn_run *g) {\n  %s, 0, %" PRId64 ", V(%s));\n}\n\n", w->n, outer, p.lead, step_block_name(w, w->kernel->anchor));
    return;
  }
  print_struct(w, "gnn_walkers walkers;\n");
  emit_walk(w, outer, step_run_first(w, domain, p.lead, "walk.run"), step_run_first(w, domain, p.lead, "walk.run + 1"), p.depth * p.width);
}

static void emit_spmm(StepWriter *w) {
  const Value *lifted = &w->graph->values[w->anchor->operand[0]];
  const char *csr = w->anchor->as.end == END_DST ? "g->in" : "g->out";
  w->body = step_write_body(w, "acc", NULL, false);
  print_struct(w, "");
  print_row_function(w);
  print_task(w, "rows", arena_printf(w->arena, "spmm_%" PRId64 "(&%s, V(%s), begin, end, step_%d_row, context);", shape_width(&w->anchor->shape), csr,
                                     step_block_name(w, lifted->operand[0]), w->n));
  open_step(w, "");
  run_over_bounds(w, "rows", csr);
  fprintf(w->out, "}\n\n");
}

/* ---- sums of expressions ---- */

/* The operand of a sum or an aggregation, written so that each element is folded into acc. */
static void write_operand(StepWriter *w, const Shape *loops, RowKind row) {
  w->operand = rows_new(w->emission, w->step, loops);
  Index index = rows_full_index(w->operand, row);
  const char *text = rows_value(w->operand, w->anchor->operand[0], index);
  Index into = w->anchor->op == OP_REDUCE ? rows_reduced_index(w->operand, w->kernel->anchor, index) : index;
  RowWriter *rows = w->operand;
  rows->has_lanes = rows->is_flat && rows->loop_count == 1 && rows->loop_size[0] >= 16 && !rows->has_bits && shape_width(&w->anchor->shape) == 1;
  if (rows->has_lanes) rows_write(rows, LEVEL_ELEMENT, "lanes[t] += %s;", text);
  else step_write_fold(w, arena_printf(w->arena, "acc[%s]", rows_offset(rows, &w->anchor->shape, into)), text);
}

/* The edges of row r are folded into acc, inside a loop over r. */
static void print_edge_loop(const StepWriter *w, bool is_out, bool has_own_acc, const char *after_edge) {
  char *loops = loops_text(w->operand, "      ");
  const char *text = arena_printf(w->arena, "%s%s%s%s", w->operand->text[LEVEL_ROW], w->operand->text[LEVEL_EDGE], loops, after_edge);
  const char *fixed = is_out ? "src" : "dst";
  if (step_mentions(text, fixed)) fprintf(w->out, "    const int64_t %s = r;\n", fixed);
  step_print_lines(w->out, "    ", w->operand->text[LEVEL_ROW]);
  fprintf(w->out, "    for (int64_t i = edges->ptr[r]; i < edges->ptr[r + 1]; i++) {\n");
  step_print_lines(w->out, "      ", step_edge_variables(w, text, is_out));
  if (has_own_acc) fprintf(w->out, "      gnn_real acc[%" PRId64 "] = {0};\n", shape_width(&w->anchor->shape));
  step_print_lines(w->out, "      ", w->operand->text[LEVEL_EDGE]);
  fprintf(w->out, "%s%s    }\n", loops, after_edge);
}

static void emit_edges(StepWriter *w) {
  const FoldInfo *fold = &fold_info[kernel_info[w->kernel->kind].fold];
  bool is_out = w->anchor->as.end == END_SRC, is_sum = strcmp(fold->start, "0") == 0;
  int64_t width = shape_width(&w->anchor->shape);
  w->body = step_write_body(w, "acc", NULL, false);
  write_operand(w, &w->anchor->shape, ROWS_EDGE);
  print_struct(w, "");
  print_row_function(w);
  open_task(w, "rows", "g");
  fprintf(w->out, "  const gnn_csr *edges = &g->%s;\n", is_out ? "out" : "in");
  fprintf(w->out, "  for (int64_t r = begin; r < end; r++) {\n    %sgnn_real acc[%" PRId64 "]%s;\n", is_sum ? "" : "_Alignas(64) ", width, is_sum ? " = {0}" : "");
  /* _Alignas: gcc 12 stores whole vectors below the stack pointer of a function that calls none, and aligns them wrongly. */
  if (!is_sum) fprintf(w->out, "    for (int j = 0; j < %" PRId64 "; j++) acc[j] = %s;\n", width, fold->start);
  print_edge_loop(w, is_out, false, "");
  if (!is_sum) fprintf(w->out, "    gnn_settle(acc, %" PRId64 ", edges->ptr[r] == edges->ptr[r + 1]);\n", width);
  fprintf(w->out, "    step_%d_row(context, r, acc);\n  }\n}\n\n", w->n);
  open_step(w, "");
  run_over_bounds(w, "rows", is_out ? "g->out" : "g->in");
  fprintf(w->out, "}\n\n");
}

/* A map or a sum within a row whose rows are edges: walked by destination, so that both ends are at hand. */
static void emit_edge_rows(StepWriter *w) {
  bool is_sum = w->anchor->op == OP_REDUCE;
  w->body = step_write_body(w, is_sum ? "acc" : NULL, NULL, false);
  if (is_sum) write_operand(w, &w->graph->values[w->anchor->operand[0]].shape, ROWS_EDGE);
  print_struct(w, "");
  open_task(w, "rows", "g");
  fprintf(w->out, "  const gnn_csr *edges = &g->in;\n  for (int64_t r = begin; r < end; r++) {\n");
  char *body_loops = loops_text(w->body, "      ");
  const char *body_edge = "";
  for (const char *line = w->body->text[LEVEL_EDGE]; *line; line = strchr(line, '\n') + 1)
    body_edge = arena_printf(w->arena, "%s      %.*s\n", body_edge, (int)(strchr(line, '\n') - line), line);
  const char *after = arena_printf(w->arena, "%s%s", body_edge, body_loops);
  if (!is_sum) w->operand = rows_new(w->emission, w->step, &(Shape){.domain = DOMAIN_EDGE});
  w->operand->text[LEVEL_ROW] = arena_printf(w->arena, "%s%s", w->operand->text[LEVEL_ROW], w->body->text[LEVEL_ROW]);
  print_edge_loop(w, false, is_sum, after);
  fprintf(w->out, "  }\n}\n\n");
  open_step(w, "");
  run_over_bounds(w, "rows", "g->in");
  fprintf(w->out, "}\n\n");
}

static void emit_map(StepWriter *w) {
  if (w->anchor->shape.domain == DOMAIN_EDGE) {
    emit_edge_rows(w);
    return;
  }
  w->body = step_write_body(w, NULL, NULL, false);
  print_struct(w, "");
  char *loops = loops_text(w->body, "    ");
  const char *text = arena_printf(w->arena, "%s%s", w->body->text[LEVEL_ROW], loops);
  open_task(w, "rows", text);
  fprintf(w->out, "  for (int64_t r = begin; r < end; r++) {\n");
  if (!step_mentions(text, "r")) fprintf(w->out, "    (void)r;\n");
  step_print_lines(w->out, "    ", w->body->text[LEVEL_ROW]);
  fprintf(w->out, "%s  }\n}\n\n", loops);
  open_step(w, "");
  run_over_rows(w, "rows", w->anchor->shape.domain, 1);
  fprintf(w->out, "}\n\n");
}

static void emit_row_sum(StepWriter *w) {
  if (w->anchor->shape.domain == DOMAIN_EDGE) {
    emit_edge_rows(w);
    return;
  }
  w->body = step_write_body(w, "acc", NULL, false);
  write_operand(w, &w->graph->values[w->anchor->operand[0]].shape, step_row_kind(w->anchor->shape.domain));
  print_struct(w, "");
  print_row_function(w);
  char *loops = loops_text(w->operand, "    ");
  open_task(w, "rows", arena_printf(w->arena, "%s%s", w->operand->text[LEVEL_ROW], loops));
  fprintf(w->out, "  for (int64_t r = begin; r < end; r++) {\n    gnn_real acc[%" PRId64 "] = {0};\n", shape_width(&w->anchor->shape));
  step_print_lines(w->out, "    ", w->operand->text[LEVEL_ROW]);
  fprintf(w->out, "%s    step_%d_row(context, r, acc);\n  }\n}\n\n", loops, w->n);
  open_step(w, "");
  run_over_rows(w, "rows", w->anchor->shape.domain, 1);
  fprintf(w->out, "}\n\n");
}

static void emit_column_sum(StepWriter *w) {
  const Value *from = &w->graph->values[w->anchor->operand[0]];
  bool is_edge = from->shape.domain == DOMAIN_EDGE;
  int64_t width = shape_width(&w->anchor->shape);
  write_operand(w, &from->shape, step_row_kind(from->shape.domain));
  print_struct(w, "gnn_walkers walkers;\n");
  char *loops = loops_text(w->operand, "    ");
  fprintf(w->out, "static inline void step_%d_run(const void *context, int64_t begin, int64_t end, gnn_real *sum) {\n", w->n);
  print_opening(w, is_edge ? "g" : arena_printf(w->arena, "%s%s", w->operand->text[LEVEL_ROW], loops));
  fprintf(w->out, "  gnn_real acc[%" PRId64 "] = {0};\n", width);
  if (is_edge) fprintf(w->out, "  const gnn_csr *edges = &g->in;\n");
  fprintf(w->out, "  for (int64_t r = begin; r < end; r++) {\n");
  if (is_edge) {
    print_edge_loop(w, false, false, "");
  } else {
    step_print_lines(w->out, "    ", w->operand->text[LEVEL_ROW]);
    fprintf(w->out, "%s", loops);
  }
  fprintf(w->out, "  }\n  for (int j = 0; j < %" PRId64 "; j++) sum[j] = acc[j];\n}\n\n", width);
  emit_walk(w, arena_printf(w->arena, "step_%d_run(context", w->n), step_run_first(w, DOMAIN_NODE, 1, "walk.run"),
            step_run_first(w, DOMAIN_NODE, 1, "walk.run + 1"), width);
}

/* ---- loss and update ---- */

static void emit_cross_entropy(StepWriter *w) {
  int64_t classes = shape_width(&w->graph->values[w->anchor->operand[0]].shape);
  const int part = w->step->part;
  const char *sums = arena_printf(w->arena, "V_DOUBLES(%s)", part ? step_sums(w) : step_scratch(w));
  print_struct(w, "");
  print_task(w, "blocks", arena_printf(w->arena, "gnn_cross_entropy_blocks(V(%s), %" PRId64 ", V_LABELS(%s), g->rows[GNN_TRAIN], g->row_count[GNN_TRAIN], "
                                       "g->blocks.first, begin, end, %s);",
                                       step_block_name(w, w->anchor->operand[0]), classes, step_block_name(w, w->anchor->operand[1]), sums));
  open_step(w, "");
  fprintf(w->out, "  const int64_t blocks = INT64_C(1) << g->blocks.levels;\n");
  if (part == 0) run_over(w, "blocks", "blocks", arena_printf(w->arena, "blocks / %d + 1", LOSS_TASKS));
  else
    fprintf(w->out, "  gnn_parallel_part(g->team, %" PRId64 ", %" PRId64 ", blocks / %d + 1, step_%d_blocks, &s);\n", step_first_block(w, part - 1),
            step_first_block(w, part), LOSS_TASKS, w->n);
  if (part == 0 || part == w->step->parts->count) fprintf(w->out, "  g->loss = gnn_sum_tree(%s, blocks) / (double)g->row_count[GNN_TRAIN];\n", sums);
  fprintf(w->out, "}\n\n");
}

static void emit_cross_entropy_gradient(StepWriter *w) {
  int64_t classes = shape_width(&w->anchor->shape);
  print_struct(w, "");
  print_task(w, "rows", arena_printf(w->arena,
                                     "gnn_cross_entropy_gradient_nodes(V(%s), %" PRId64 ", V_LABELS(%s), g->rows[GNN_TRAIN], "
                                     "g->row_count[GNN_TRAIN], begin, end, V(%s));",
                                     step_block_name(w, w->anchor->operand[0]), classes, step_block_name(w, w->anchor->operand[1]),
                                     step_block_name(w, w->kernel->anchor)));
  open_step(w, "");
  run_over_rows(w, "rows", DOMAIN_NODE, 1);
  fprintf(w->out, "}\n\n");
}

static void emit_update(StepWriter *w) {
  const TypedProgram *program = w->emission->program;
  const Layout *layout = w->emission->layout;
  int32_t p = w->anchor->as.index;
  const Hyper *h = step_hyper(program, program->params[p].name);
  const char *weight = step_block_name(w, w->anchor->operand[0]), *gradient = step_block_name(w, w->anchor->operand[1]);
  const char *state[MAX_STATES] = {"NULL", "NULL"};
  for (int s = 0; s < MAX_STATES; s++)
    if (layout->residents->state[s][p] != NO_INDEX) state[s] = arena_printf(w->arena, "V(%s)", layout->blocks[layout->residents->state[s][p]].name);
  const char *call;
  if (program->train.optimizer == OPTIMIZER_SGD)
    call = arena_printf(w->arena, "gnn_sgd(V(%s), V(%s), %s, s->lr, s->momentum, s->weight_decay, %d, g->epoch, begin, end);", weight,
                        gradient, state[0], h->is_nesterov);
  else
    call = arena_printf(w->arena, "gnn_%s(V(%s), V(%s), %s, %s, s->lr, s->beta1, s->beta2, s->epsilon, s->weight_decay, g->epoch, begin, end);",
                        program->train.optimizer == OPTIMIZER_ADAM ? "adam" : "adamw", weight, gradient, state[0], state[1]);
  const char *values = arena_printf(w->arena, ".lr = %s,\n.weight_decay = %s,\n", emit_scalar(w->emission, h->lr), emit_scalar(w->emission, h->weight_decay));
  if (program->train.optimizer == OPTIMIZER_SGD) {
    print_struct(w, "double lr, weight_decay, momentum;\n");
    values = arena_printf(w->arena, "%s.momentum = %s,\n", values, emit_scalar(w->emission, h->momentum));
  } else {
    print_struct(w, "double lr, weight_decay, beta1, beta2, epsilon;\n");
    values = arena_printf(w->arena, "%s.beta1 = %s,\n.beta2 = %s,\n.epsilon = %s,\n", values, emit_scalar(w->emission, h->beta1),
                          emit_scalar(w->emission, h->beta2), emit_scalar(w->emission, h->epsilon));
  }
  print_task(w, "elements", call);
  open_step(w, values);
  run_over(w, "elements", number(w, shape_width(&w->graph->values[w->anchor->operand[0]].shape)), number(w, SUM_NUMBERS));
  fprintf(w->out, "}\n\n");
}

/* ---- the kernels that steps share ---- */

/* The template of kernels/cpu behind a step, with its sizes filled in: a function of its own, because several steps of a
 * model have the same sizes and each instance takes the C compiler a tenth of a second. */
static const char *shared_matmul(const Emission *m, const Kernels *kernels, const Value *anchor) {
  (void)kernels;
  const struct Contraction p = anchor->as.product;
  return arena_printf(m->arena,
                      "SHARED void matmul_%" PRId64 "x%" PRId64 "(const gnn_real *a, const gnn_real *packed, int64_t begin, int64_t end,\n"
                      "    gnn_row_done *done, const void *context) {\n"
                      "  gnn_gemm_rows(a, packed, %" PRId64 ", %" PRId64 ", begin, end, done, context);\n}\n",
                      p.depth, p.width, p.depth, p.width);
}

static const char *shared_outer(const Emission *m, const Kernels *kernels, const Value *anchor) {
  (void)kernels;
  const struct Contraction p = anchor->as.product;
  return arena_printf(m->arena,
                      "SHARED void outer_%" PRId64 "x%" PRId64 "(const gnn_real *a, const gnn_real *b, int64_t begin, int64_t end, gnn_real *sum) {\n"
                      "  gnn_gemm_tn(a, b, %" PRId64 ", %" PRId64 ", begin, end, sum);\n}\n",
                      p.depth, p.width, p.depth, p.width);
}

static const char *shared_spmm(const Emission *m, const Kernels *kernels, const Value *anchor) {
  (void)kernels;
  int64_t width = shape_width(&anchor->shape);
  return arena_printf(m->arena,
                      "SHARED void spmm_%" PRId64 "(const gnn_csr *graph, const gnn_real *x, int64_t begin, int64_t end, gnn_row_done *done,\n"
                      "    const void *context) {\n  gnn_spmm_rows(graph, x, %" PRId64 ", gnn_gather_chains(%" PRId64 "), begin, end, done, context);\n}\n", width, width, width);
}

static const char *shared_sparse_matmul(const Emission *m, const Kernels *kernels, const Value *anchor) {
  (void)kernels;
  int64_t width = anchor->as.product.width;
  return arena_printf(m->arena,
                      "SHARED void sparse_matmul_%" PRId64 "(const gnn_sparse *x, const gnn_real *b, const gnn_dropout *drop, int64_t begin,\n"
                      "    int64_t end, gnn_row_done *done, const void *context) {\n"
                      "  gnn_sparse_rows(x, b, %" PRId64 ", gnn_gather_chains(%" PRId64 "), drop, begin, end, done, context);\n}\n", width, width, width);
}

static const char *shared_sparse_outer(const Emission *m, const Kernels *kernels, const Value *anchor) {
  ValueId dropout;
  bool is_left = kernel_sparse_field(kernels->graph, m->is_sparse_field, anchor->operand[0], &dropout) != NO_INDEX;
  int64_t width = is_left ? anchor->as.product.width : anchor->as.product.depth;
  return arena_printf(m->arena,
                      "SHARED void sparse_outer_%" PRId64 "(const gnn_sparse *x, const gnn_blocks *blocks, const gnn_real *g, const gnn_dropout *drop,\n"
                      "    int64_t begin, int64_t end, gnn_row_done *done, const void *context) {\n"
                      "  gnn_sparse_tn_rows(x, blocks, g, %" PRId64 ", gnn_gather_chains(%" PRId64 "), drop, begin, end, done, context);\n}\n", width, width, width);
}

static const char *shared_nothing(const Emission *m, const Kernels *kernels, const Value *anchor) {
  (void)m, (void)kernels, (void)anchor;
  return "";
}

/* ---- one step ---- */

typedef struct KernelCode {
  void (*emit)(StepWriter *);
  const char *(*shared)(const Emission *, const Kernels *, const Value *anchor);
} KernelCode;

static const KernelCode code_of[KERNEL_KIND_COUNT] = {
#define KERNEL(name, text, what, body, fold, loops, cost, says, variants, cpu, shared, cuda) {emit_##cpu, shared_##shared},
#include "compiler/lowering/kernel_kinds.h"
#undef KERNEL
};

const char *emit_instance(const Emission *m, const Step *step) {
  if (step->kind != STEP_KERNEL) return "";
  const Kernel *kernel = &step->kernels->kernels[step->kernel];
  return code_of[kernel->kind].shared(m, step->kernels, &step->kernels->graph->values[kernel->anchor]);
}

void emit_step_functions(const Emission *emission, const Step *step, FILE *out) {
  if (step->kind != STEP_KERNEL) return;
  StepWriter w = step_writer(emission, step, out);
  code_of[w.kernel->kind].emit(&w);
}
