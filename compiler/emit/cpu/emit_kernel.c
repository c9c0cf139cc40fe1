/* emit_kernel: one step as C: what it does to a row, what a task does to a range of rows, and the step itself.
 *
 * The kernels of kernels/cpu are templates; what is printed here instantiates them with the sizes of the step, and
 * hands them the body as a function that is called for each finished row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emit_cpu.h"
#include "emit_flat.h"

/* ---- the body ---- */

/* The opening of a function over the step's struct: only what its text mentions is declared. */
static void print_opening(const StepWriter *w, unsigned uses) {
  if (uses & (USES_STEP | USES_RUN)) fprintf(w->out, "  const struct %s *s = context;\n", w->name);
  else fprintf(w->out, "  (void)context;\n");
  if (uses & USES_RUN) fprintf(w->out, "  const gnn_run *g = s->g;\n");
}

/* All of a body for one row that is an edge, in a scope of its own: what runs before it has names of the same values. */
static const char *scope_text(const RowWriter *rows, const char *indent) {
  const char *inner = arena_printf(rows->arena, "%s  ", indent);
  char *text;
  size_t size;
  FILE *memory = arena_open_text(rows->arena, &text, &size);
  fprintf(memory, "%s{\n", indent);
  step_print_lines(memory, inner, rows->text[LEVEL_ROW]);
  step_print_lines(memory, inner, rows->text[LEVEL_EDGE]);
  rows_print_loops(rows, memory, inner);
  fprintf(memory, "%s}\n", indent);
  fclose(memory);
  return text;
}

/* NAME_row, or NAME_row_beside: called for each finished row of a product or sum. */
static void print_row_function_as(const StepWriter *w, const char *behind) {
  fprintf(w->out, "static inline void %s_row%s(const void *context, int64_t r, const gnn_real *acc) {\n", w->name, behind);
  print_opening(w, w->body->uses);
  if (!(w->body->uses & USES_ROW)) fprintf(w->out, "  (void)r;\n");
  if (!(w->body->uses & USES_ACC)) fprintf(w->out, "  (void)acc;\n");
  step_print_lines(w->out, "  ", w->body->text[LEVEL_ROW]);
  fprintf(w->out, "%s}\n\n", rows_loops_text(w->body, "  "));
}

static void print_row_function(const StepWriter *w) { print_row_function_as(w, ""); }

static void open_task(const StepWriter *w, const char *name, unsigned uses) {
  fprintf(w->out, "static void %s_%s(const void *context, int64_t begin, int64_t end, int64_t task) {\n", w->name, name);
  print_opening(w, uses);
  fprintf(w->out, "  (void)task;\n");
}

/* A task whose whole text is one call, which mentions what has been asked for since the last one. */
static void print_task(StepWriter *w, const char *name, const char *statement) {
  open_task(w, name, w->uses);
  fprintf(w->out, "  %s\n}\n\n", statement);
  w->uses = 0;
}

/* ---- the step ---- */

/* What a step has beside its arguments: members of its struct, and their values. */
typedef struct Members {
  const char *fields, *values; /* one a line */
} Members;

/* ", const gnn_real *h, int64_t part", in lines. */
static const char *parameters(const Arguments *a) {
  enum { LINE = 100 };
  const char *text = "";
  size_t line = 0;
  for (int i = 0; i < a->count; i++) {
    const char *one = arena_printf(a->emission->arena, "%s%s", argument_type(&a->list[i]), a->list[i].name);
    line += strlen(one) + 2;
    text = arena_printf(a->emission->arena, "%s,%s%s", text, line > LINE ? "\n    " : " ", one);
    if (line > LINE) line = strlen(one);
  }
  return text;
}

static void open_step_as(StepWriter *w, const char *behind, Members members) {
  const char *indent = "    ";
  fprintf(w->out, "static void %s%s(gnn_run *g%s) {\n  const struct %s s = {\n    .g = g,\n", w->name, behind, parameters(w->arguments), w->name);
  for (int i = 0; i < w->arguments->count; i++) fprintf(w->out, "    .%s = %s,\n", w->arguments->list[i].name, w->arguments->list[i].name);
  step_print_lines(w->out, indent, step_dropout_values(w, ".", ","));
  step_print_lines(w->out, indent, members.values);
  fprintf(w->out, "  };\n");
  w->fields = arena_printf(w->arena, "%s%s", step_dropout_fields(w), members.fields);
  w->uses = 0;
}

static void open_step(StepWriter *w, Members members) { open_step_as(w, "", members); }

static const Members no_members = {"", ""};

static const char *number(const StepWriter *w, int64_t n) { return arena_printf(w->arena, "%" PRId64, n); }

static void run_over(const StepWriter *w, const char *task, const char *count, const char *extent) {
  fprintf(w->out, "  gnn_parallel(g->team, %s, %s, %s_%s, &s);\n", count, extent, w->name, task);
}

static void run_over_bounds(const StepWriter *w, const char *task, const char *csr) {
  fprintf(w->out, "  gnn_parallel_ranges(g->team, %s.bounds, %s.tasks, %s_%s, &s);\n", csr, csr, w->name, task);
}

/* The step is told its part. Call this before open_step. */
static void take_part(StepWriter *w) {
  if (w->step->part) step_part(w);
}

static const char *part_row(const StepWriter *w, const char *part, Domain domain, int64_t lead) {
  const char *row = step_part_row(w, part, domain);
  return lead == 1 ? row : arena_printf(w->arena, "%s * %" PRId64, row, lead);
}

/* The rows of all nodes, or of the step's part, in ranges that have about as many edges, or numbers of sparse features, each. */
static void run_over_edges_of_rows(const StepWriter *w, const char *task, const char *csr) {
  if (w->step->part == 0) run_over_bounds(w, task, csr);
  else
    fprintf(w->out, "  gnn_parallel_ranges_of_part(g->team, %s.bounds, %s.tasks, %s, %s, %s_%s, &s);\n", csr, csr, part_row(w, "(part - 1)", DOMAIN_NODE, 1), part_row(w, "part", DOMAIN_NODE, 1), w->name, task);
}

/* All of them, or those of the step's part. */
static void run_over_rows(const StepWriter *w, const char *task, Domain domain, int64_t lead) {
  if (w->step->part == 0) run_over(w, task, step_row_count(w, domain, lead), number(w, w->kernel->task_rows));
  else
    fprintf(w->out, "  gnn_parallel_part(g->team, %s, %s, %" PRId64 ", %s_%s, &s);\n", part_row(w, "(part - 1)", domain, lead), part_row(w, "part", domain, lead), w->kernel->task_rows,
            w->name, task);
}

/* Of one task, over all of its rows. */
static void write_step_over_rows(StepWriter *w, Domain domain) {
  open_step(w, no_members);
  run_over_rows(w, "rows", domain, 1);
  fprintf(w->out, "}\n\n");
}

enum { TRANSPOSED_ROWS_A_TASK = 16, PACK_ROWS = 64, SUM_NUMBERS = 4096, COLUMNS_A_TASK = 64, LOSS_TASKS = 64, SENT_ROWS = 256 };

/* The rank's parts, of which a step for a part of its rows has some, of finer ones. */
static const char *own_begin(const StepWriter *w) { return w->step->part > 0 ? "gnn_parts_before(g, part - 1)" : "0"; }
static const char *own_end(const StepWriter *w) { return w->step->part > 0 ? "gnn_parts_before(g, part)" : "gnn_own_parts(g)"; }

/* Each of them in turn: `of_part` in the loop is the step for part number own_part of the rank. */
static void open_own_parts(const StepWriter *w) {
  fprintf(w->out, "  for (int64_t own = %s; own < %s; own++) {\n    struct %s of_part = s;\n    of_part.own_part = own;\n", own_begin(w), own_end(w), w->name);
}

/* ---- operands of products that are slices side by side, or kept in bf16 ---- */

enum { JOINED_ROWS = 48 /* GNN_GEMM_ROWS */, JOINED_RUN = 128, JOINED_NUMBERS = 65536, JOINED_LEAST = 12 /* rows */ };

/* Rows [r, last) of the operand, put together in an array of `rows` of them; and what stands for the operand, from where row 0 would lie. */
typedef struct JoinedRows {
  const char *array, *copies, *at;
} JoinedRows;

static bool is_put_together(const Kernels *kernels, ValueId id) { return kernels_is_joined(kernels, id) || kernels_is_half(kernels, id); }

/* Of so many numbers, that few fit the second-level cache. */
static int rows_together(int most, int64_t width) {
  while (most * width > JOINED_NUMBERS && most / 2 >= JOINED_LEAST) most /= 2;
  return most;
}

/* `width`: numbers of a row of the product's operand, of which a row of the value may have several. */
static JoinedRows join_rows(StepWriter *w, ValueId id, const char *name, int rows, int64_t width) {
  const Value *value = &w->graph->values[id];
  if (!is_put_together(w->kernels, id)) return (JoinedRows){"", "", step_from(w, id)};
  JoinedRows joined = {.array = arena_printf(w->arena, "gnn_real %s[%" PRId64 "] __attribute__((aligned(64)));\n", name, rows * width), .at = arena_printf(w->arena, "%s - r * %" PRId64, name, width)};
  if (!kernels_is_joined(w->kernels, id)) {
    joined.copies = arena_printf(w->arena, "gnn_numbers(%s + r * %" PRId64 ", (last - r) * %" PRId64 ", %s);\n", step_from(w, id), width, width, name);
    return joined;
  }
  int64_t begin = 0;
  for (int k = 0; k < value->operand_count; k++) {
    const int64_t each = shape_width(&w->graph->values[value->operand[k]].shape);
    joined.copies = arena_printf(w->arena, "%s  for (int j = 0; j < %" PRId64 "; j++) %s[(i - r) * %" PRId64 " + %" PRId64 " + j] = %s[i * %" PRId64 " + j];\n", k ? joined.copies : "", each, name, width,
                                 begin, step_from(w, value->operand[k]), each);
    begin += each;
  }
  joined.copies = arena_printf(w->arena, "for (int64_t i = r; i < last; i++) {\n%s}\n", joined.copies);
  return joined;
}

/* Some rows after the others: `call` mentions r and last. */
static void print_joined_loop(const StepWriter *w, const JoinedRows *joined, int count, int rows, const char *call) {
  for (int k = 0; k < count; k++) step_print_lines(w->out, "  ", joined[k].array);
  fprintf(w->out, "  for (int64_t r = begin, last;; r = last) {\n    last = gnn_min(r + %d, end);\n", rows);
  for (int k = 0; k < count; k++) step_print_lines(w->out, "    ", joined[k].copies);
  fprintf(w->out, "    %s\n    if (last == end) break;\n  }\n}\n\n", call);
}

static bool has_joined_operand(const Kernels *kernels, const Value *anchor) {
  bool has = false;
  for (int k = 0; k < anchor->operand_count; k++) has = has || is_put_together(kernels, anchor->operand[k]);
  return has;
}

/* ---- kernels ---- */

static void emit_matmul(StepWriter *w) {
  const struct Contraction p = w->anchor->as.product;
  w->body = step_write_body(w, "acc", NULL, (Spread){0});
  if (p.lead > 1) { /* rows of the product are parts of rows of the value: they are stored as they come */
    w->body->text[LEVEL_ROW] = arena_printf(w->arena, "%s *restrict to = %s + r * %" PRId64 ";\n", rows_type(w->kernels, w->kernel->anchor), step_to(w, w->kernel->anchor), p.width);
    w->body->text[LEVEL_ELEMENT] = arena_printf(w->arena, "to[j] = %s;\n", rows_rounded(w->kernels, w->kernel->anchor, "acc[j]"));
    w->body->loop_count = 1;
    w->body->loop_size[0] = p.width;
    w->body->uses = w->uses | USES_ROW | USES_ACC;
  }
  w->uses = 0;
  print_row_function(w);
  const char *matrix = step_from(w, w->anchor->operand[1]), *packed = step_scratch(w);
  print_task(w, "pack", arena_printf(w->arena, "gnn_gemm_pack(%s, %" PRId64 ", %" PRId64 ", %d, %s, begin, end);", matrix, p.depth, p.width, p.transposed, packed));
  const int together = rows_together(JOINED_ROWS, p.depth);
  const JoinedRows left = join_rows(w, w->anchor->operand[0], "rows", together, p.depth);
  step_scratch(w);
  const char *call = arena_printf(w->arena, "matmul_%" PRId64 "x%" PRId64 "(%s, %s, ", p.depth, p.width, left.at, packed);
  if (*left.copies) {
    open_task(w, "rows", w->uses);
    print_joined_loop(w, &left, 1, together, arena_printf(w->arena, "%sr, last, %s_row, context);", call, w->name));
    w->uses = 0;
  } else print_task(w, "rows", arena_printf(w->arena, "%sbegin, end, %s_row, context);", call, w->name));
  take_part(w);
  open_step(w, no_members);
  run_over(w, "pack", number(w, p.depth), number(w, PACK_ROWS));
  run_over_rows(w, "rows", w->anchor->shape.domain, p.lead);
  fprintf(w->out, "}\n\n");
}

static int64_t declared_width(const Value *sum, int64_t width) { return sum->declared_width ? sum->declared_width : width; }

/* Of what is gathered and summed: numbers a row, and those of the whole where it is a slice of columns; "32", "16_of_64", "half_32". */
static const char *gathered_sizes(Arena *arena, const Value *sum, int64_t width, bool is_half) {
  const int64_t declared = declared_width(sum, width);
  const char *kind = is_half ? "half_" : "";
  return declared == width ? arena_printf(arena, "%s%" PRId64, kind, width) : arena_printf(arena, "%s%" PRId64 "_of_%" PRId64, kind, width, declared);
}

static ValueId summed_by_spmm(const Graph *graph, const Value *sum) { return graph->values[sum->operand[0]].operand[0]; }

static const char *spmm_sizes(const Emission *m, const Kernels *kernels, const Value *sum) {
  return gathered_sizes(m->arena, sum, shape_width(&sum->shape), kernels_is_half(kernels, summed_by_spmm(kernels->graph, sum)));
}

/* The member for the dropout of sparse features, where they have one. */
static Members sparse_members(StepWriter *w, ValueId dropout) {
  const char *drop = step_sparse_dropout(w, dropout);
  return drop ? (Members){"gnn_dropout drop;\n", arena_printf(w->arena, ".drop = %s,\n", drop)} : no_members;
}

/* Where what the data call each node lies apart; drawn: they are dropped. */
static const char *sparse_ids(StepWriter *w, bool is_drawn) {
  return is_drawn && w->graph->node_ids != NO_VALUE ? arena_printf(w->arena, "features.row_id = %s;\n  ", argument_at_node_ids(w->arguments, &w->uses)) : "";
}

/* The features in a task over their rows, or columns, begin .. end - 1: "&g->sparse[0]", or a copy whose entries are those that the step was brought. */
static const char *sparse_here(StepWriter *w, int slot, bool is_by_column, bool is_drawn, const char **declaration) {
  const ValueId idx = kernels_entries(w->kernels, w->kernel, false), value = kernels_entries(w->kernels, w->kernel, true);
  const char *ids = sparse_ids(w, is_drawn);
  w->uses |= USES_RUN;
  *declaration = "";
  if (idx == NO_VALUE && !*ids) return arena_printf(w->arena, "&g->sparse[%d]", slot);
  if (idx == NO_VALUE) {
    *declaration = arena_printf(w->arena, "gnn_sparse features = g->sparse[%d];\n  %s", slot, ids);
    return "&features";
  }
  const ValueId offsets = kernels_entry_offsets(w->kernels, w->kernel);
  const char *ptr = offsets == NO_VALUE ? arena_printf(w->arena, "g->sparse[%d].by_%s.ptr", slot, is_by_column ? "column" : "row") : argument_at_offsets(w->arguments, offsets, &w->uses);
  *declaration = arena_printf(w->arena, "%sgnn_sparse features = gnn_sparse_with_%s(&g->sparse[%d], %s, %s, %s, end);\n  %s", *ids ? "" : "const ", is_by_column ? "columns" : "rows", slot, ptr,
                              argument_at_labels(w->arguments, idx, &w->uses), step_from(w, value), ids);
  return "&features";
}

static void emit_sparse_matmul(StepWriter *w) {
  const struct Contraction p = w->anchor->as.product;
  ValueId dropout;
  int32_t field = graph_sparse_field(w->graph, w->emission->is_sparse_field, w->anchor->operand[0], &dropout);
  const Members members = sparse_members(w, dropout);
  const char *drop = *members.fields ? "&s->drop" : "NULL";
  int slot = step_sparse_slot(w, field);
  w->body = step_write_body(w, "acc", NULL, (Spread){0});
  print_row_function(w);
  if (p.transposed) {
    const char *matrix = step_from(w, w->anchor->operand[1]), *turned = step_scratch(w);
    print_task(w, "transpose", arena_printf(w->arena, "gnn_transpose(%s, %" PRId64 ", %" PRId64 ", %s, begin, end);", matrix, p.width, p.depth, turned));
  }
  const char *matrix = p.transposed ? step_scratch(w) : step_from(w, w->anchor->operand[1]);
  const char *declaration, *features = sparse_here(w, slot, false, *members.fields, &declaration);
  print_task(w, "rows", arena_printf(w->arena, "%ssparse_matmul_%" PRId64 "(%s, %s, %s, begin, end, %s_row, context);", declaration, p.width, features, matrix, drop, w->name));
  take_part(w);
  open_step(w, members);
  if (p.transposed) run_over(w, "transpose", number(w, p.depth), number(w, COLUMNS_A_TASK));
  run_over_edges_of_rows(w, "rows", arena_printf(w->arena, "g->sparse[%d].by_row", slot));
  fprintf(w->out, "}\n\n");
}

/* What elements are folded into, with what that begins with. _Alignas: gcc 12 stores whole vectors below the stack pointer of a function that calls none, and aligns them wrongly. */
static void print_acc(const StepWriter *w, Fold fold, int64_t width, const char *indent) {
  if (fold == FOLD_SUM) fprintf(w->out, "%sgnn_real acc[%" PRId64 "] = {0};\n", indent, width);
  else fprintf(w->out, "%s_Alignas(64) gnn_real acc[%" PRId64 "];\n%sfor (int j = 0; j < %" PRId64 "; j++) acc[j] = %s;\n", indent, width, indent, width, fold_info[fold].start);
}

/* How numbers of a step over all rows come together: a sum, also of products, or an extreme. */
static Fold fold_of(const StepWriter *w) {
  const Fold fold = kernel_info[w->kernel->kind].fold;
  return fold == FOLD_NONE ? FOLD_SUM : fold;
}

/* Sums, or extremes, of all parts of all ranks, `count` numbers each in the scratch, become one; is_result: that of the step. */
static void end_with_all_ranks(const StepWriter *w, int64_t count, bool is_result) {
  const char *sums = w->step->part ? "sums" : "scratch";
  fprintf(w->out, "  gnn_%s_ranks(g, %s, %" PRId64 ");\n", fold_info[fold_of(w)].name, sums, count);
  if (is_result) fprintf(w->out, "  memcpy(%s, %s, %" PRId64 " * sizeof(gnn_real));\n", argument_name_of_value(w->arguments, w->kernel->anchor, true), sums, count);
}

/* Column by column, of all rows or those of a part; of ranks, those of each part of the rank, after which the sums of all parts are added. */
static void emit_sparse_outer(StepWriter *w) {
  const struct Contraction p = w->anchor->as.product;
  const RankInfo *ranks = ranks_of(w->emission);
  const int side = graph_sparse_side(w->graph, w->emission->is_sparse_field, w->kernel->anchor), blocks = ranks ? blocks_of_part_of_rank(ranks) : 0;
  const bool is_left = side == 0;
  ValueId dropout;
  const int32_t field = graph_sparse_field(w->graph, w->emission->is_sparse_field, w->anchor->operand[side], &dropout);
  Members members = sparse_members(w, dropout);
  const char *drop = *members.fields ? "&s->drop" : "NULL";
  const int64_t columns = is_left ? p.depth : p.width, width = is_left ? p.width : p.depth;
  const int slot = step_sparse_slot(w, field);
  fprintf(w->out, "static inline void %s_row(const void *context, int64_t r, const gnn_real *acc) {\n", w->name);
  const char *turned = ranks || is_left ? NULL : w->step->part ? argument_at_sums(w->arguments, ELEMENTS_REAL, &w->uses) : step_scratch(w);
  const char *to = ranks ? step_scratch(w) : is_left ? step_to(w, w->kernel->anchor) : turned;
  const char *row = ranks ? arena_printf(w->arena, "((gnn_first_part(g) + s->own_part) * %" PRId64 " + r)", columns) : "r";
  print_opening(w, ranks ? USES_RUN : w->uses);
  w->uses = 0;
  fprintf(w->out, "  gnn_real *restrict to = %s + %s * %" PRId64 ";\n", to, row, width);
  fprintf(w->out, "  for (int j = 0; j < %" PRId64 "; j++) to[j] = acc[j];\n}\n\n", width);
  const ValueId gathered = w->anchor->operand[1 - side];
  const bool is_gathered = step_gathers(w->step, gathered);
  const char *dense = is_gathered ? arena_printf(w->arena, "gnn_at(g, 0), %s", argument_at_pieces(w->arguments, gathered, false, &w->uses)) : step_from(w, gathered);
  const char *declaration, *features = sparse_here(w, slot, true, *members.fields, &declaration);
  const char *of_part = ranks ? arena_printf(w->arena, "s->own_part * %d, (s->own_part + 1) * %d, ", blocks, blocks) : "";
  print_task(w, "columns", arena_printf(w->arena, "%ssparse_outer_%s%s(%s, &g->blocks, %s%s, %s, begin, end, %s_row, context);", declaration, ranks ? "part_" : is_gathered ? "pieces_" : "",
                                        gathered_sizes(w->arena, w->anchor, width, kernels_is_half(w->kernels, gathered)), features, of_part, dense, drop, w->name));
  const bool is_turning = !is_left && w->step->part == (w->step->part ? w->step->parts->count : 0);
  if (is_turning) {
    const char *from = w->step->part ? argument_at_sums(w->arguments, ELEMENTS_REAL, &w->uses) : step_scratch(w), *result = step_to(w, w->kernel->anchor);
    print_task(w, "transpose", arena_printf(w->arena, "gnn_transpose(%s, %" PRId64 ", %" PRId64 ", %s, begin, end);", from, columns, width, result));
  }
  const char *csr = arena_printf(w->arena, "g->sparse[%d].by_column", slot);
  if (w->step->part) step_columns(w, field);
  if (ranks) members.fields = arena_printf(w->arena, "%sint64_t own_part;\n", members.fields);
  if (ranks && is_left) step_to(w, w->kernel->anchor);
  open_step(w, members);
  if (ranks) {
    open_own_parts(w);
    fprintf(w->out, "    gnn_parallel_ranges(g->team, %s.bounds, %s.tasks, %s_columns, &of_part);\n  }\n", csr, csr, w->name);
    end_with_all_ranks(w, columns * width, is_left);
  } else if (w->step->part == 0) run_over_bounds(w, "columns", csr);
  else fprintf(w->out, "  gnn_parallel_ranges_of_part(g->team, %s.bounds, %s.tasks, first_column, end_column, %s_columns, &s);\n", csr, csr, w->name);
  if (is_turning) run_over(w, "transpose", number(w, width), number(w, TRANSPOSED_ROWS_A_TASK));
  fprintf(w->out, "}\n\n");
}

/* What the walkers have goes to where the parts before it have left theirs, after the last part from there to the result. */
static const char *sum_of_part(StepWriter *w, const char *scratch, int64_t count) {
  const char *part = step_part(w), *sums = argument_at_sums(w->arguments, ELEMENTS_REAL, &w->uses);
  const char *sum = arena_printf(w->arena, "gnn_sum_part(%s, s->walkers, %" PRId64 ", (int)%s - 1, %s, begin, end);", scratch, count, part, sums);
  if (w->step->part < w->step->parts->count) return sum;
  return arena_printf(w->arena, "%s\n  memcpy(%s + begin, %s + begin, (size_t)(end - begin) * sizeof(gnn_real));", sum, step_to(w, w->kernel->anchor), sums);
}

/* Of a rank: what its walkers have, part by part of those that the step walks over. The sum of a part of the nodes is there after its last finer part; those of all ranks become one
 * after the last part of the rows. */
static const char *sum_of_own_parts(StepWriter *w, const char *walks, const char *scratch, int64_t count) {
  const char *own = arena_printf(w->arena, "gnn_real *walks = %s;\n  for (int64_t own = s->own_first; own < s->own_end; own++, walks += s->walkers.runs / s->walkers.each * s->walkers.open * %" PRId64 ")", walks, count);
  w->uses |= USES_RUN;
  if (!w->step->part) return arena_printf(w->arena, "%s\n    gnn_sum_walkers(walks, s->walkers, %" PRId64 ", %s + (gnn_first_part(g) + own) * %" PRId64 ", begin, end);", own, count, scratch, count);
  const int parts = 1 << w->step->parts->finer;
  const char *sums = argument_at_sums(w->arguments, ELEMENTS_REAL, &w->uses);
  return arena_printf(w->arena, "gnn_real *open = %s + %" PRId64 ";\n  %s {\n    gnn_sum_part(walks, s->walkers, %" PRId64 ", (int)(own %% %d), open, begin, end);\n"
                                "    if (own %% %d == %d) memcpy(%s + (gnn_first_part(g) + own / %d) * %" PRId64 " + begin, open + begin, (size_t)(end - begin) * sizeof(gnn_real));\n  }",
                      sums, count << w->step->parts->ranks->part_levels, own, count, parts, parts, parts - 1, sums, parts, count);
}

/* Sums or extremes over all rows, `count` numbers: `call` is a function's name and its arguments but the last three, which are the rows of a run
 * and where their sum goes; it mentions what has been asked for. Of ranks, over those of all parts of the rank at once, after which the sums of all parts are added. */
static void emit_walk(StepWriter *w, const char *call, const char *from, const char *to, int64_t count) {
  const RankInfo *ranks = ranks_of(w->emission);
  const int part = w->step->part, of_part = !part ? 0 : ranks ? w->step->parts->finer : w->step->parts->levels, levels = (ranks ? ranks->part_levels : 0) + of_part;
  const char *scratch = step_scratch(w), *walks = ranks && !part ? arena_printf(w->arena, "%s + %" PRId64, scratch, count << levels) : scratch;
  const char *before = ranks ? "s->own_first * s->walkers.runs + " : part ? arena_printf(w->arena, "(%s - 1) * s->walkers.runs + ", step_part(w)) : "";
  fprintf(w->out, "static void %s_walk(const void *context, int64_t begin, int64_t end, int64_t walker) {\n", w->name);
  print_opening(w, USES_RUN);
  w->uses = 0;
  fprintf(w->out, "  for (gnn_walk walk = gnn_walk_begin(%sbegin, %send, %s + walker * s->walkers.open * %" PRId64 ", %" PRId64 ", s->walkers.fold); walk.left > 0; gnn_walk_on(&walk))\n",
          before, before, walks, count, count);
  fprintf(w->out, "    %s, %s, %s, gnn_walk_place(&walk));\n}\n\n", call, from, to);
  step_scratch(w);
  if (ranks) w->uses |= USES_RUN;
  if (ranks) print_task(w, "sum", sum_of_own_parts(w, walks, scratch, count));
  else if (part) print_task(w, "sum", sum_of_part(w, scratch, count));
  else print_task(w, "sum", arena_printf(w->arena, "gnn_sum_walkers(%s, s->walkers, %" PRId64 ", %s, begin, end);", walks, count, step_to(w, w->kernel->anchor)));
  const bool is_last = part == (part ? w->step->parts->count : 0);
  if (ranks && is_last) step_to(w, w->kernel->anchor);
  if (ranks) take_part(w);
  const char *fewer = levels || ranks ? arena_printf(w->arena, " - %d", levels) : "";
  static const char *const folds[FOLD_COUNT] = {[FOLD_SUM] = "GNN_FOLD_SUM", [FOLD_MAX] = "GNN_FOLD_MAX", [FOLD_MIN] = "GNN_FOLD_MIN"};
  const char *walkers = arena_printf(w->arena, ".walkers = gnn_walkers_of(g->blocks.run_levels%s, %d, %s),\n", fewer, w->kernel->walker_levels, folds[fold_of(w)]);
  open_step(w, ranks ? (Members){"gnn_walkers walkers;\nint64_t own_first, own_end;\n", arena_printf(w->arena, "%s.own_first = %s,\n.own_end = %s,\n", walkers, own_begin(w), own_end(w))} : (Members){"gnn_walkers walkers;\n", walkers});
  if (ranks) {
    run_over(w, "walk", "(s.own_end - s.own_first) * s.walkers.runs", "s.walkers.each");
    run_over(w, "sum", number(w, count), number(w, SUM_NUMBERS));
    if (is_last) end_with_all_ranks(w, count, true);
  } else {
    run_over(w, "walk", "s.walkers.runs", "s.walkers.each");
    run_over(w, "sum", number(w, count), number(w, SUM_NUMBERS));
  }
  fprintf(w->out, "}\n\n");
}

/* A product over edges or over parts of rows: each run has those of its nodes. */
static void emit_outer(StepWriter *w) {
  const struct Contraction p = w->anchor->as.product;
  Domain domain = w->graph->values[w->anchor->operand[0]].shape.domain;
  const int together = rows_together(JOINED_RUN, p.depth > p.width ? p.depth : p.width);
  const JoinedRows sides[] = {join_rows(w, w->anchor->operand[0], "left", together, p.depth), join_rows(w, w->anchor->operand[1], "right", together, p.width)};
  const bool is_joined = has_joined_operand(w->kernels, w->anchor);
  const char *outer = arena_printf(w->arena, "outer_%s%" PRId64 "x%" PRId64 "(%s, %s", is_joined ? "on_" : "", p.depth, p.width, sides[0].at, sides[1].at);
  if (is_joined) {
    fprintf(w->out, "static inline void %s_run(const void *context, int64_t begin, int64_t end, gnn_real *sum) {\n", w->name);
    print_opening(w, w->uses);
    w->uses = 0;
    print_joined_loop(w, sides, 2, together, arena_printf(w->arena, "%s, r, last, r == begin, sum);", outer));
    outer = arena_printf(w->arena, "%s_run(context", w->name);
  }
  if (domain == DOMAIN_NONE) {
    const char *result = step_to(w, w->kernel->anchor);
    print_task(w, "all", arena_printf(w->arena, "(void)begin, (void)end;\n  %s, 0, %" PRId64 ", %s);", outer, p.lead, result));
    open_step(w, no_members);
    run_over(w, "all", "1", "1");
    fprintf(w->out, "}\n\n");
    return;
  }
  emit_walk(w, outer, step_run_first(w, domain, p.lead, "walk.run"), step_run_first(w, domain, p.lead, "walk.run + 1"), p.depth * p.width);
}

static void emit_spmm(StepWriter *w) {
  const Value *lifted = &w->graph->values[w->anchor->operand[0]];
  const char *csr = step_csr(w);
  w->body = step_write_body(w, "acc", NULL, (Spread){0});
  print_row_function(w);
  if (parts_is_halo(w->step->parts, lifted->operand[0])) {
    const char *pieces = argument_at_pieces(w->arguments, lifted->operand[0], false, &w->uses);
    w->uses |= USES_RUN;
    print_task(w, "rows", arena_printf(w->arena, "%s\n  spmm_halo_%s(edges, %s, gnn_at(g, 0), %s, begin, end, %s_row, context);", step_edges(w), spmm_sizes(w->emission, w->kernels, w->anchor), step_codes(w), pieces, w->name));
    take_part(w);
    open_step(w, no_members);
    run_over_edges_of_rows(w, "rows", csr);
    fprintf(w->out, "}\n\n");
    return;
  }
  const bool is_gathered = step_gathers(w->step, lifted->operand[0]);
  const char *from = is_gathered ? arena_printf(w->arena, "gnn_at(g, 0), %s", argument_at_pieces(w->arguments, lifted->operand[0], false, &w->uses)) : step_from(w, lifted->operand[0]);
  const char *neighbours = step_neighbours(w);
  const char *own = neighbours ? arena_printf(w->arena, "%s\n  const gnn_csr own = gnn_csr_with(edges, %s);\n  ", step_edges(w), neighbours) : "";
  w->uses |= USES_RUN;
  print_task(w, "rows", arena_printf(w->arena, "%sspmm_%s%s(&%s, %s, begin, end, %s_row, context);", own, is_gathered ? "pieces_" : "", spmm_sizes(w->emission, w->kernels, w->anchor), neighbours ? "own" : csr, from, w->name));
  take_part(w);
  open_step(w, no_members);
  const bool is_of_all = typed_are_all_nodes(w->graph->program->info, w->anchor->shape.domain);
  const int64_t columns = shape_width(&w->anchor->shape);
  if (is_of_all) fprintf(w->out, "  if (!gnn_has_columns(g, %d)) return;\n", (int)((w->anchor->declared_width + columns - 1) / columns));
  run_over_edges_of_rows(w, "rows", csr);
  fprintf(w->out, "}\n\n");
}

/* Rows of a table into `to`: those of the rank, or if `lines` say which row r the i-th is, these. */
static void print_table_rows(const StepWriter *w, const char *task, unsigned uses, const char *index, const char *lines, const char *row, const char *to) {
  const char *type = rows_type(w->kernels, w->kernel->anchor);
  const int64_t stride = kernels_row_stride(w->kernels, w->kernel->anchor);
  open_task(w, task, w->body->uses | uses | USES_STEP);
  fprintf(w->out, "%s  for (int64_t %s = begin; %s < end; %s++) {\n%s    %s *restrict to = (%s *)(void *)%s + %s * %" PRId64 ";\n", lines, index, index, index, row, type, type, to, index, stride);
  step_print_lines(w->out, "    ", w->body->text[LEVEL_ROW]);
  fprintf(w->out, "%s  }\n}\n\n", rows_loops_text(w->body, "    "));
}

static void emit_table_of_part(StepWriter *w) {
  const char *own = step_to(w, w->kernel->anchor);
  step_write_halo(w, (Spread){0});
  print_table_rows(w, "rows", 0, "r", "", "", own);
  take_part(w);
  write_step_over_rows(w, w->anchor->shape.domain);
}

/* Of a table whose own rows are there: those that others gather, side by side. */
static void emit_sending(StepWriter *w) {
  const char *sent = step_scratch(w), *own = step_to(w, w->kernel->anchor), *type = rows_type(w->kernels, w->kernel->anchor);
  const int64_t stride = kernels_row_stride(w->kernels, w->kernel->anchor);
  const int halo = halo_of_ranks(w->graph, w->kernel);
  w->uses |= USES_RUN;
  print_task(w, "sent", arena_printf(w->arena, "const int32_t *row = gnn_rows_to_send(g, %d);\n  for (int64_t i = begin; i < end; i++) memcpy((%s *)(void *)%s + i * %" PRId64 ", (const %s *)(const void *)%s + row[i] * INT64_C(%" PRId64 "), %" PRId64 " * sizeof(%s));",
                                               halo, type, sent, stride, type, own, stride, stride, type));
  open_step(w, no_members);
  fprintf(w->out, "  gnn_parallel(g->team, gnn_sent_rows(g, %d), %d, %s_sent, &s);\n}\n\n", halo, SENT_ROWS, w->name);
}

/* The table of a rank: its own rows, of which those that others gather are made first, side by side. An exchange, a step of its own, takes them and brings those of others, while NAME_own makes the
 * rank's rows. */
static void emit_exchange(StepWriter *w) {
  if (parts_make_table(w->step->parts, w->kernel)) {
    if (w->step->part) emit_table_of_part(w);
    else emit_sending(w);
    return;
  }
  const bool has_own = value_table(w->anchor);
  const char *sent = step_scratch(w), *own = has_own ? step_to(w, w->kernel->anchor) : NULL;
  const int halo = halo_of_ranks(w->graph, w->kernel);
  step_write_halo(w, (Spread){0});
  print_table_rows(w, "sent", USES_RUN, "i", arena_printf(w->arena, "  const int32_t *row = gnn_rows_to_send(g, %d);\n", halo), "    const int64_t r = row[i];\n", sent);
  if (has_own) {
    print_table_rows(w, "rows", 0, "r", "", "", own);
    open_step_as(w, "_own", no_members);
    run_over_rows(w, "rows", w->anchor->shape.domain, 1);
    fprintf(w->out, "}\n\n");
  }
  open_step(w, no_members);
  fprintf(w->out, "  gnn_parallel(g->team, gnn_sent_rows(g, %d), %d, %s_sent, &s);\n}\n\n", halo, SENT_ROWS, w->name);
}

/* A table that needs no exchange. */
static void emit_behind(StepWriter *w) {
  const char *to = step_to(w, w->kernel->anchor);
  RowWriter *own = step_write_table(w, 0, (Spread){0}), *others = w->operand = step_write_table(w, 1, (Spread){0});
  w->body = own;
  print_table_rows(w, "rows", 0, "r", "", "", to);
  w->body = others;
  print_table_rows(w, "others", USES_RUN, "r", "", "", arena_printf(w->arena, "%s + g->nodes * %" PRId64, to, kernels_row_stride(w->kernels, w->kernel->anchor)));
  w->body = own;
  open_step(w, no_members);
  run_over_rows(w, "rows", DOMAIN_NODE, 1);
  run_over_rows(w, "others", DOMAIN_OTHERS, 1);
  fprintf(w->out, "}\n\n");
}

/* Row by row: the columns of others are put where they leave from, the rank's own into the table of all rows, which an exchange completes. */
static void emit_columns(StepWriter *w) {
  const char *sent = step_scratch(w), *own = step_to(w, w->kernel->anchor);
  const int holders = exchange_holders(w->kernels, w->kernel);
  const int64_t columns = shape_width(&w->anchor->shape), all = columns * holders, width = shape_width(&w->graph->values[w->anchor->operand[0]].shape);
  step_write_columns(w, (Spread){0});
  open_task(w, "rows", w->body->uses | USES_RUN | USES_STEP);
  fprintf(w->out, "  gnn_real to[%" PRId64 "];\n", all);
  if (all > width) fprintf(w->out, "  memset(to + %" PRId64 ", 0, %" PRId64 " * sizeof *to);\n", width, all - width);
  fprintf(w->out, "  for (int64_t r = begin; r < end; r++) {\n");
  step_print_lines(w->out, "    ", w->body->text[LEVEL_ROW]);
  fprintf(w->out, "%s    gnn_columns_part(g, r, to, %d, %" PRId64 ", %s, %s);\n  }\n}\n\n", rows_loops_text(w->body, "    "), holders, columns, sent, own);
  write_step_over_rows(w, DOMAIN_NODE);
}

/* The rank's own rows, of its own columns; those of others leave from where they were made. */
static void emit_back(StepWriter *w) {
  const char *sums = step_from(w, w->anchor->operand[0]), *to = step_to(w, w->kernel->anchor);
  w->uses |= USES_RUN;
  print_task(w, "rows", arena_printf(w->arena, "gnn_columns_stay(g, begin, end, %s, %d, %" PRId64 ", %s);", sums, exchange_holders(w->kernels, w->kernel), shape_width(&w->graph->values[w->anchor->operand[0]].shape), to));
  write_step_over_rows(w, DOMAIN_NODE);
}

static void emit_beside(StepWriter *w) {
  const char *back = step_from(w, w->anchor->operand[0]), *to = step_to(w, w->kernel->anchor);
  const Value *sums = &w->graph->values[w->graph->values[w->anchor->operand[0]].operand[0]];
  const int64_t columns = shape_width(&sums->shape), width = shape_width(&w->anchor->shape);
  w->uses |= USES_RUN;
  print_task(w, "rows", arena_printf(w->arena, "gnn_columns_join(g, begin, end, %s, %" PRId64 ", %" PRId64 ", %s);", back, columns, width, to));
  write_step_over_rows(w, DOMAIN_NODE);
}

/* Rows of the part go to all parts that gather some, those for one after those for another. */
static void emit_halo(StepWriter *w) {
  if (ranks_of(w->emission)) {
    emit_exchange(w);
    return;
  }
  const int parts = w->step->parts->count;
  const char *part = step_part(w), *pieces = argument_at_pieces(w->arguments, w->kernel->anchor, true, &w->uses), *type = rows_type(w->kernels, w->kernel->anchor), *rows = step_halo_rows(w);
  step_write_halo(w, (Spread){0});
  open_task(w, "rows", w->body->uses | USES_RUN | USES_STEP);
  fprintf(w->out, "  const int64_t *first = %s.first + (%s - 1) * %d;\n  int to_part = 0;\n  for (int64_t i = begin; i < end; i++) {\n", step_halo(w, halo_kind(w->anchor)), part, parts);
  fprintf(w->out, "    while (i >= first[to_part + 1]) to_part++;\n    const int64_t r = %s[i];\n    %s *restrict to = (%s *)(void *)gnn_at(g, %s[to_part]) + (i - first[to_part]) * %" PRId64 ";\n", rows, type, type, pieces,
          kernels_row_stride(w->kernels, w->kernel->anchor));
  step_print_lines(w->out, "    ", w->body->text[LEVEL_ROW]);
  fprintf(w->out, "%s  }\n}\n\n", rows_loops_text(w->body, "    "));
  open_step(w, no_members);
  const char *first = arena_printf(w->arena, "%s.first", step_halo(w, halo_kind(w->anchor)));
  fprintf(w->out, "  gnn_parallel_part(g->team, %s[(part - 1) * %d], %s[part * %d], %" PRId64 ", %s_rows, &s);\n}\n\n", first, parts, first, parts, w->kernel->task_rows, w->name);
}

/* ---- sums of expressions ---- */

/* The operand of a sum or an aggregation, written so that each element is folded into acc. */
static void write_operand_in(StepWriter *w, RowKind row) {
  Index index = rows_full_index(w->operand, row);
  const char *text = rows_value(w->operand, w->anchor->operand[0], index);
  Index into = w->anchor->op == OP_REDUCE ? rows_reduced_index(w->operand, w->kernel->anchor, index) : index;
  RowWriter *rows = w->operand;
  rows->has_lanes = rows->is_flat && rows->loop_count == 1 && rows->loop_size[0] >= 16 && !rows->has_bits && shape_width(&w->anchor->shape) == 1;
  if (rows->has_lanes) rows_write(rows, LEVEL_ELEMENT, "lanes[t] += %s;", text);
  else step_write_fold(w, arena_printf(w->arena, "acc[%s]", rows_offset(rows, &w->anchor->shape, into)), text);
}

static void write_operand(StepWriter *w, const Shape *loops, RowKind row) {
  w->operand = rows_new(w->arguments, loops);
  write_operand_in(w, row);
}

static Flats write_edge_operand(StepWriter *w, const Shape *loops, ValueId beside) {
  w->operand = rows_new(w->arguments, loops);
  const Flats flats = flats_write(w, w->operand, w->anchor->operand[0], beside);
  write_operand_in(w, ROWS_EDGE);
  return flats;
}

/* What runs for each edge of row r after the operand. */
typedef struct AfterEdge {
  const char *text;
  unsigned uses;
} AfterEdge;

/* The edges of row r are folded into acc, inside a loop over r. */
static void print_edge_loop(const StepWriter *w, const Flats *flats, bool is_out, bool has_own_acc, AfterEdge after) {
  const unsigned uses = w->operand->uses | after.uses;
  const char *indent = flats->count ? "      " : "    ", *inner = flats->count ? "        " : "      ", *loops = rows_loops_text(w->operand, inner);
  if ((uses | flats->uses) & (is_out ? USES_SRC : USES_DST)) fprintf(w->out, "    const int64_t %s = r;\n", is_out ? "src" : "dst");
  step_print_lines(w->out, "    ", w->operand->text[LEVEL_ROW]);
  if (flats->count) {
    fprintf(w->out, "    for (int64_t from = edges->ptr[r], until; from < edges->ptr[r + 1]; from = until) {\n      until = gnn_min(from + %d, edges->ptr[r + 1]);\n", FLAT_EDGES);
    flats_print(w, flats, FLAT_EDGES, is_out, NULL, 0, "      ");
  }
  fprintf(w->out, flats->count ? "%sfor (int64_t i = from; i < until; i++) {\n" : "%sfor (int64_t i = edges->ptr[r]; i < edges->ptr[r + 1]; i++) {\n", indent);
  step_print_lines(w->out, inner, step_edge_variables(w, uses, is_out));
  print_edge_arrays(w, flats->of, flats->count, arena_printf(w->arena, "%s%s", w->operand->text[LEVEL_EDGE], loops), inner);
  if (has_own_acc) fprintf(w->out, "      gnn_real acc[%" PRId64 "] = {0};\n", shape_width(&w->anchor->shape));
  step_print_lines(w->out, inner, w->operand->text[LEVEL_EDGE]);
  fprintf(w->out, "%s%s%s}\n", loops, after.text, indent);
  if (flats->count) fprintf(w->out, "    }\n");
}

/* ---- several sums over the edges of a row, one after the other ---- */

/* What the emitter knows of a stage: a kernel of its own, as far as rows are written. */
typedef struct StageText {
  Kernel kernel;
  RowWriter *body, *operand;
  Flats flats;
} StageText;

/* A value of edges that several stages want and that takes long, kept for the edges of the row after it was computed in the first of them, some edges after
 * the others, whose rows are in the nearest cache then: rows with more edges than there is room for in a stack compute it again in each. */
enum { KEPT_NUMBERS = 1 << 15, KEPT_AT_ONCE = 2048, KEPT_WIDEST = 32, KEPT_MOST = 4 };

typedef struct Stages {
  int count, kept_count;
  Stage of[MOST_STAGES];
  StageText text[MOST_STAGES];
  EdgeArray kept[KEPT_MOST];
  RowWriter *kept_rows[KEPT_MOST];
} Stages;

static bool is_of_stage(const StepWriter *w, const Stage *stage, ValueId id) {
  for (int b = stage->begin; b < stage->end; b++)
    if (w->kernel->body[b] == id) return true;
  return stage->anchor == id;
}

/* Marks what is read for `id`, through what is computed where it is used. */
static void mark_reads(const StepWriter *w, ValueId id, bool *is_read) {
  if (is_read[id]) return;
  is_read[id] = true;
  is_read[w->kernels->storage[id]] = true;
  for (int k = 0; k < w->graph->values[id].operand_count && kernels_is_virtual(w->kernels, id); k++) mark_reads(w, w->graph->values[id].operand[k], is_read);
}

static void mark_stage(const StepWriter *w, const Stage *stage, bool *is_read) {
  mark_reads(w, w->graph->values[stage->anchor].operand[0], is_read);
  for (int b = stage->begin; b < stage->end; b++)
    for (int k = 0; k < w->graph->values[w->kernel->body[b]].operand_count; k++) mark_reads(w, w->graph->values[w->kernel->body[b]].operand[k], is_read);
}

static bool *new_marks(const StepWriter *w) { return arena_alloc(w->arena, (size_t)w->graph->value_count + 1); }

/* Without anything that the kernel makes, and more than a few instructions. */
static bool is_worth_keeping(const StepWriter *w, ValueId id) {
  bool *is_read = new_marks(w), takes_long = false;
  mark_reads(w, id, is_read);
  for (int i = 0; i < w->graph->value_count; i++) {
    if (!is_read[i]) continue;
    const Value *value = &w->graph->values[i];
    if (w->kernels->made_by[i] == w->step->kernel) return false;
    takes_long = takes_long || (kernels_is_virtual(w->kernels, i) && domain_is_edges(value->shape.domain) && (op_is_reduction(value->op) || value->op == OP_DROPOUT || (value->op == OP_MAP && rows_is_long(value->as.function))));
  }
  return takes_long;
}

static bool may_be_kept(const StepWriter *w, ValueId id) {
  const Value *value = &w->graph->values[id];
  return kernels_is_virtual(w->kernels, id) && domain_is_edges(value->shape.domain) && value->shape.element == ELEMENT_REAL && value->op != OP_LIFT && value->op != OP_BROADCAST && shape_width(&value->shape) <= KEPT_WIDEST && is_worth_keeping(w, id);
}

static void find_kept(StepWriter *w, Stages *stages) {
  bool *reads[MOST_STAGES], *is_covered = new_marks(w);
  for (int s = 0; s < stages->count; s++) {
    reads[s] = new_marks(w);
    mark_reads(w, w->graph->values[stages->of[s].anchor].operand[0], reads[s]);
  }
  for (ValueId id = w->graph->value_count - 1; id >= 0 && stages->kept_count < KEPT_MOST; id--) {
    int readers = 0;
    for (int s = 0; s < stages->count; s++) readers += reads[s][id];
    if (readers < 2 || is_covered[id] || !may_be_kept(w, id)) continue;
    mark_reads(w, id, is_covered);
    const Value *value = &w->graph->values[id];
    const char *name = arena_printf(w->arena, "kept_%s", value->name);
    stages->kept[stages->kept_count++] = (EdgeArray){id, shape_width(&value->shape), name, arena_printf(w->arena, "at_%s", name), "kept_from"};
  }
}

static void add_writer(StepWriter *w, RowWriter *rows) { ARENA_PUSH(w->arena, w->more, w->more_count, rows); }

static void name_locals(StepWriter *w, const Stages *stages, int before, RowWriter *rows, const bool *is_left) {
  for (int s = 0; s < before; s++)
    for (int b = stages->of[s].begin - 1; b < stages->of[s].end; b++) {
      const ValueId id = b < stages->of[s].begin ? stages->of[s].anchor : w->kernel->body[b];
      if (is_left[id]) rows_name_local(rows, id, arena_printf(w->arena, "row_of_%s", w->graph->values[id].name));
    }
}

/* The values of earlier stages that later ones read. */
static bool *find_left(const StepWriter *w, const Stages *stages) {
  bool *is_left = new_marks(w);
  for (int s = 1; s < stages->count; s++) {
    bool *is_read = new_marks(w);
    mark_stage(w, &stages->of[s], is_read);
    for (int i = 0; i < w->graph->value_count; i++) is_left[i] = is_left[i] || (is_read[i] && w->kernels->made_by[i] == w->step->kernel && !is_of_stage(w, &stages->of[s], i));
  }
  return is_left;
}

static void leave_row(StepWriter *w, RowWriter *body, ValueId id, Index index) {
  rows_write(body, body->loop_count ? LEVEL_ELEMENT : LEVEL_ROW, "row_of_%s[%s] = %s;", w->graph->values[id].name, rows_offset(body, &w->graph->values[id].shape, index), rows_value(body, id, index));
}

static void write_stage(StepWriter *w, Stages *stages, int s, const bool *is_left) {
  const Stage *stage = &stages->of[s];
  StageText *text = &stages->text[s];
  text->kernel = *w->kernel;
  text->kernel.kind = stage_kind(w->kernels, w->kernel, stage);
  text->kernel.anchor = stage->anchor;
  text->kernel.body = w->kernel->body + stage->begin;
  text->kernel.body_count = stage->end - stage->begin;
  StepWriter of = *w;
  of.kernel = w->arguments->stage = &text->kernel;
  of.anchor = &w->graph->values[stage->anchor];
  text->body = of.body = rows_new(w->arguments, &of.anchor->shape);
  name_locals(w, stages, s, text->body, is_left);
  step_write_stage_body(&of);
  const Index index = rows_full_index(text->body, ROWS_SELF);
  for (int b = stage->begin - 1; b < stage->end; b++) {
    const ValueId id = b < stage->begin ? stage->anchor : w->kernel->body[b];
    if (is_left[id]) leave_row(w, text->body, id, index);
  }
  of.operand = rows_new(w->arguments, &of.anchor->shape);
  name_locals(w, stages, s, of.operand, is_left);
  for (int k = 0; k < stages->kept_count; k++) rows_name_local(of.operand, stages->kept[k].value, stages->kept[k].at);
  text->flats = flats_write(w, of.operand, of.anchor->operand[0], NO_VALUE);
  write_operand_in(&of, ROWS_EDGE);
  text->operand = of.operand;
  add_writer(w, text->body);
  add_writer(w, text->operand);
}

static RowWriter *write_kept(StepWriter *w, const EdgeArray *kept) {
  Kernel alone = *w->kernel;
  alone.kind = KERNEL_MAP;
  alone.body = memcpy(arena_alloc(w->arena, sizeof *alone.body), &kept->value, sizeof *alone.body);
  alone.body_count = 1;
  w->arguments->stage = memcpy(arena_alloc(w->arena, sizeof alone), &alone, sizeof alone);
  RowWriter *rows = rows_new(w->arguments, &w->graph->values[kept->value].shape);
  const Index index = rows_full_index(rows, ROWS_EDGE);
  const char *number = rows_value(rows, kept->value, index);
  rows_write(rows, rows->loop_count ? LEVEL_ELEMENT : LEVEL_EDGE, "to[%s] = %s;", rows->loop_count ? rows_offset(rows, &w->graph->values[kept->value].shape, index) : "0", number);
  add_writer(w, rows);
  return rows;
}

/* Of a row. */
static int64_t kept_edges(const Stages *stages) {
  int64_t width = 0;
  for (int k = 0; k < stages->kept_count; k++) width += stages->kept[k].width;
  return KEPT_NUMBERS / width;
}

static int64_t edges_at_once(const Stages *stages) {
  int64_t widest = 1;
  for (int k = 0; k < stages->kept_count; k++) widest = stages->kept[k].width > widest ? stages->kept[k].width : widest;
  return KEPT_AT_ONCE / widest;
}

static void print_kept(StepWriter *w, const EdgeArray *kept, const RowWriter *rows, bool is_out) {
  const unsigned uses = rows->uses;
  fprintf(w->out, "static void %s_%s(const void *context, int64_t r, int64_t end, int64_t from, int64_t until, gnn_real *restrict to) {\n", w->name, kept->name);
  print_opening(w, USES_RUN);
  fprintf(w->out, "  %s\n", step_edges(w));
  if (uses & (is_out ? USES_SRC : USES_DST)) fprintf(w->out, "  const int64_t %s = r;\n", is_out ? "src" : "dst");
  else fprintf(w->out, "  (void)r;\n");
  if (!(uses & (is_out ? USES_DST : USES_SRC))) fprintf(w->out, "  (void)edges;\n");
  if (!(uses & USES_AHEAD)) fprintf(w->out, "  (void)end;\n");
  step_print_lines(w->out, "  ", rows->text[LEVEL_ROW]);
  fprintf(w->out, "  for (int64_t i = from; i < until; i++, to += %" PRId64 ") {\n", kept->width);
  step_print_lines(w->out, "    ", step_edge_variables(w, uses, is_out));
  step_print_lines(w->out, "    ", rows->text[LEVEL_EDGE]);
  fprintf(w->out, "%s  }\n}\n\n", rows_loops_text(rows, "    "));
}

/* A value that is kept is read at an edge of the stage, there or by what it computes of many edges. */
static bool mentions_kept(const StageText *text, const EdgeArray *kept) {
  bool does = rows_mention(text->operand->text[LEVEL_EDGE], kept->at) || rows_mention(rows_loops_text(text->operand, ""), kept->at);
  for (int k = 0; k < text->flats.count; k++) does = does || rows_mention(text->flats.rows[k]->text[LEVEL_EDGE], kept->at) || rows_mention(rows_loops_text(text->flats.rows[k], ""), kept->at);
  return does;
}

static void print_stage(StepWriter *w, const Stages *stages, int s, bool is_out) {
  const StageText *text = &stages->text[s];
  const Value *anchor = &w->graph->values[text->kernel.anchor];
  const Fold fold = kernel_info[text->kernel.kind].fold;
  const bool is_sum = fold == FOLD_SUM;
  const int64_t width = shape_width(&anchor->shape);
  const unsigned uses = text->operand->uses;
  bool has_kept = false;
  for (int k = 0; k < stages->kept_count; k++) has_kept = has_kept || mentions_kept(text, &stages->kept[k]);
  const bool has_chunks = has_kept || text->flats.count > 0;
  const int64_t edges = has_kept ? edges_at_once(stages) : FLAT_EDGES;
  fprintf(w->out, "    { /* %s */\n", anchor->name);
  print_acc(w, fold, width, "      ");
  if ((uses | text->flats.uses) & (is_out ? USES_SRC : USES_DST)) fprintf(w->out, "      const int64_t %s = r;\n", is_out ? "src" : "dst");
  step_print_lines(w->out, "      ", text->operand->text[LEVEL_ROW]);
  const char *indent = has_chunks ? "        " : "      ", *inner = has_chunks ? "          " : "        ", *loops = rows_loops_text(text->operand, inner);
  if (has_chunks) {
    fprintf(w->out, "      for (int64_t from = first, until; from < last; from = until) {\n        until = gnn_min(from + %" PRId64 ", last);\n", edges);
    if (has_kept) fprintf(w->out, "        const int64_t kept_from = last - first > %" PRId64 " ? from : first;\n", kept_edges(stages));
    for (int k = 0; k < stages->kept_count; k++) {
      const EdgeArray *kept = &stages->kept[k];
      if (!mentions_kept(text, kept)) continue;
      bool is_first = true;
      for (int before = 0; before < s; before++) is_first = is_first && !mentions_kept(&stages->text[before], kept);
      fprintf(w->out, "        %s%s_%s(context, r, end, from, until, %s + (from - kept_from) * %" PRId64 ");\n", is_first ? "" : arena_printf(w->arena, "if (last - first > %" PRId64 ") ", kept_edges(stages)), w->name, kept->name, kept->name, kept->width);
    }
    flats_print(w, &text->flats, edges, is_out, stages->kept, stages->kept_count, indent);
  }
  fprintf(w->out, has_chunks ? "%sfor (int64_t i = from; i < until; i++) {\n" : "%sfor (int64_t i = first; i < last; i++) {\n", indent);
  step_print_lines(w->out, inner, step_edge_variables(w, uses, is_out));
  const char *mentioned = arena_printf(w->arena, "%s%s", text->operand->text[LEVEL_EDGE], loops);
  print_edge_arrays(w, stages->kept, stages->kept_count, mentioned, inner);
  print_edge_arrays(w, text->flats.of, text->flats.count, mentioned, inner);
  step_print_lines(w->out, inner, text->operand->text[LEVEL_EDGE]);
  fprintf(w->out, "%s%s}\n", loops, indent);
  if (has_chunks) fprintf(w->out, "      }\n");
  if (!is_sum) fprintf(w->out, "      gnn_settle(acc, %" PRId64 ", first == last);\n", width);
  step_print_lines(w->out, "      ", text->body->text[LEVEL_ROW]);
  fprintf(w->out, "%s    }\n", rows_loops_text(text->body, "      "));
}

static void emit_stages(StepWriter *w, Stages *stages) {
  const bool is_out = w->anchor->as.end == END_SRC;
  const bool *is_left = find_left(w, stages);
  find_kept(w, stages);
  for (int k = 0; k < stages->kept_count; k++) stages->kept_rows[k] = write_kept(w, &stages->kept[k]);
  for (int s = 0; s < stages->count; s++) write_stage(w, stages, s, is_left);
  for (int k = 0; k < stages->kept_count; k++) print_kept(w, &stages->kept[k], stages->kept_rows[k], is_out);
  open_task(w, "rows", USES_RUN);
  fprintf(w->out, "  %s\n", step_edges(w));
  for (int k = 0; k < stages->kept_count; k++) fprintf(w->out, "  gnn_real %s[%" PRId64 "];\n", stages->kept[k].name, kept_edges(stages) * stages->kept[k].width);
  fprintf(w->out, "  for (int64_t r = begin; r < end; r++) {\n    const int64_t first = edges->ptr[r], last = edges->ptr[r + 1];\n");
  for (int i = 0; i < w->graph->value_count; i++)
    if (is_left[i]) fprintf(w->out, "    %s row_of_%s[%" PRId64 "];\n", w->graph->values[i].shape.element == ELEMENT_BIT ? "uint32_t" : "gnn_real", w->graph->values[i].name, shape_width(&w->graph->values[i].shape));
  for (int s = 0; s < stages->count; s++) print_stage(w, stages, s, is_out);
  fprintf(w->out, "  }\n}\n\n");
  w->arguments->stage = NULL;
  take_part(w);
  open_step(w, no_members);
  run_over_edges_of_rows(w, "rows", step_csr(w));
  fprintf(w->out, "}\n\n");
}

/* The rows of one of two sums in a walk: a function is called for each finished one. */
static RowWriter *write_rows_of(StepWriter *w, Stage stage, const char *behind) {
  Kernel *rows = arena_alloc(w->arena, sizeof *rows);
  *rows = *w->kernel;
  rows->kind = KERNEL_EDGE_SUM;
  rows->anchor = stage.anchor;
  rows->body = w->kernel->body + stage.begin;
  rows->body_count = stage.end - stage.begin;
  StepWriter of = *w;
  of.kernel = w->arguments->stage = rows;
  of.anchor = &w->graph->values[rows->anchor];
  of.body = rows_new(w->arguments, &of.anchor->shape);
  step_write_stage_body(&of);
  w->arguments->stage = NULL;
  print_row_function_as(&of, behind);
  return of.body;
}

/* What is added to row[] for an edge, beside what is added to acc[]: a number for each of these, or for each turn of the outer loops. */
static void write_beside(StepWriter *w, ValueId beside) {
  const Shape *loops = &w->graph->values[beside].shape;
  const Index index = rows_outer_index(w->operand, loops, ROWS_EDGE);
  const char *number = rows_value(w->operand, beside, index);
  rows_write(w->operand, rows_level(w->operand, loops, index), fold_info[FOLD_SUM].code, arena_printf(w->arena, "row[%s]", rows_offset(w->operand, loops, index)), number);
}

static void emit_two_sums(StepWriter *w, const Stages *stages) {
  const ValueId beside = w->graph->values[stages->of[1].anchor].operand[0];
  w->body = write_rows_of(w, stages->of[0], "");
  add_writer(w, write_rows_of(w, stages->of[1], "_beside"));
  const Flats flats = write_edge_operand(w, &w->anchor->shape, beside);
  write_beside(w, beside);
  open_task(w, "rows", USES_RUN);
  fprintf(w->out, "  %s\n  for (int64_t r = begin; r < end; r++) {\n    gnn_real acc[%" PRId64 "] = {0}, row[%" PRId64 "] = {0};\n", step_edges(w), shape_width(&w->anchor->shape), shape_width(&w->graph->values[beside].shape));
  print_edge_loop(w, &flats, w->anchor->as.end == END_SRC, false, (AfterEdge){"", 0});
  fprintf(w->out, "    %s_row(context, r, acc);\n    %s_row_beside(context, r, row);\n  }\n}\n\n", w->name, w->name);
  take_part(w);
  open_step(w, no_members);
  run_over_edges_of_rows(w, "rows", step_csr(w));
  fprintf(w->out, "}\n\n");
}

static void emit_edges(StepWriter *w) {
  Stages stages = {.count = 0};
  stages.count = kernel_stages(w->kernels, w->kernel, stages.of);
  if (w->kernel->is_of_two || stages.count > 1) {
    if (w->kernel->is_of_two) emit_two_sums(w, &stages);
    else emit_stages(w, &stages);
    return;
  }
  const Fold fold = fold_of(w);
  const bool is_out = w->anchor->as.end == END_SRC;
  int64_t width = shape_width(&w->anchor->shape);
  w->body = step_write_body(w, "acc", NULL, (Spread){0});
  const Flats flats = write_edge_operand(w, &w->anchor->shape, NO_VALUE);
  print_row_function(w);
  open_task(w, "rows", USES_RUN);
  fprintf(w->out, "  %s\n", step_edges(w));
  fprintf(w->out, "  for (int64_t r = begin; r < end; r++) {\n");
  print_acc(w, fold, width, "    ");
  print_edge_loop(w, &flats, is_out, false, (AfterEdge){"", 0});
  if (fold != FOLD_SUM) fprintf(w->out, "    gnn_settle(acc, %" PRId64 ", edges->ptr[r] == edges->ptr[r + 1]);\n", width);
  fprintf(w->out, "    %s_row(context, r, acc);\n  }\n}\n\n", w->name);
  take_part(w);
  open_step(w, no_members);
  run_over_edges_of_rows(w, "rows", step_csr(w));
  fprintf(w->out, "}\n\n");
}

/* A map or a sum within a row whose rows are edges: walked by destination, so that both ends are at hand. */
static void emit_edge_rows(StepWriter *w) {
  bool is_sum = w->anchor->op == OP_REDUCE;
  w->body = step_write_body(w, is_sum ? "acc" : NULL, NULL, (Spread){0});
  if (is_sum) write_operand(w, &w->graph->values[w->anchor->operand[0]].shape, ROWS_EDGE);
  open_task(w, "rows", USES_RUN);
  fprintf(w->out, "  %s\n  for (int64_t r = begin; r < end; r++) {\n", step_edges(w));
  if (!is_sum) w->operand = rows_new(w->arguments, &(Shape){.domain = w->anchor->shape.domain});
  print_edge_loop(w, &(Flats){.count = 0}, false, is_sum, (AfterEdge){scope_text(w->body, "      "), w->body->uses});
  fprintf(w->out, "  }\n}\n\n");
  take_part(w);
  open_step(w, no_members);
  run_over_edges_of_rows(w, "rows", step_csr(w));
  fprintf(w->out, "}\n\n");
}

static void emit_map(StepWriter *w) {
  if (domain_is_relation(w->anchor->shape.domain)) {
    emit_edge_rows(w);
    return;
  }
  w->body = step_write_body(w, NULL, NULL, (Spread){0});
  open_task(w, "rows", w->body->uses);
  fprintf(w->out, "  for (int64_t r = begin; r < end; r++) {\n");
  if (!(w->body->uses & USES_ROW)) fprintf(w->out, "    (void)r;\n");
  step_print_lines(w->out, "    ", w->body->text[LEVEL_ROW]);
  fprintf(w->out, "%s  }\n}\n\n", rows_loops_text(w->body, "    "));
  take_part(w);
  write_step_over_rows(w, w->anchor->shape.domain);
}

/* Sums of so many numbers each that lie side by side, several a row: those of heads. They have lanes, as at edges. */
static bool sums_heads(const StepWriter *w) {
  const Shape *from = &w->graph->values[w->anchor->operand[0]].shape;
  if (from->rank < 2 || w->anchor->as.map[from->rank - 1] != NO_INDEX || from->size[from->rank - 1] < 16) return false;
  for (int d = 0; d < from->rank - 1; d++)
    if (w->anchor->as.map[d] != d) return false;
  return shape_width(&w->anchor->shape) > 1;
}

static void write_head_sums(StepWriter *w) {
  w->operand = rows_new(w->arguments, &w->anchor->shape);
  const Index index = rows_full_index(w->operand, step_row_kind(w->anchor->shape.domain));
  const char *sum = rows_inner_sum(w->operand, w->kernel->anchor, index);
  rows_write(w->operand, LEVEL_ELEMENT, "acc[%s] = %s;", rows_offset(w->operand, &w->anchor->shape, index), sum);
}

static void emit_row_sum(StepWriter *w) {
  if (domain_is_relation(w->anchor->shape.domain)) {
    emit_edge_rows(w);
    return;
  }
  w->body = step_write_body(w, "acc", NULL, (Spread){0});
  if (sums_heads(w)) write_head_sums(w);
  else write_operand(w, &w->graph->values[w->anchor->operand[0]].shape, step_row_kind(w->anchor->shape.domain));
  print_row_function(w);
  open_task(w, "rows", w->operand->uses);
  fprintf(w->out, "  for (int64_t r = begin; r < end; r++) {\n    gnn_real acc[%" PRId64 "] = {0};\n", shape_width(&w->anchor->shape));
  step_print_lines(w->out, "    ", w->operand->text[LEVEL_ROW]);
  fprintf(w->out, "%s    %s_row(context, r, acc);\n  }\n}\n\n", rows_loops_text(w->operand, "    "), w->name);
  take_part(w);
  write_step_over_rows(w, w->anchor->shape.domain);
}

static void emit_column_sum(StepWriter *w) {
  const Value *from = &w->graph->values[w->anchor->operand[0]];
  bool is_edge = domain_is_relation(from->shape.domain);
  int64_t width = shape_width(&w->anchor->shape);
  Flats flats = {.count = 0};
  const ValueId beside = kernel_sums_rows_too(w->kernel) ? w->graph->values[w->kernel->body[0]].operand[0] : NO_VALUE;
  if (beside != NO_VALUE) w->body = write_rows_of(w, (Stage){w->kernel->body[0], 1, w->kernel->body_count}, "");
  if (is_edge) flats = write_edge_operand(w, &from->shape, beside);
  else write_operand(w, &from->shape, step_row_kind(from->shape.domain));
  if (beside != NO_VALUE) write_beside(w, beside);
  fprintf(w->out, "static inline void %s_run(const void *context, int64_t begin, int64_t end, gnn_real *sum) {\n", w->name);
  print_opening(w, is_edge ? USES_RUN : w->operand->uses);
  const Fold fold = fold_of(w);
  print_acc(w, fold, width, "  ");
  if (is_edge) fprintf(w->out, "  %s\n", step_edges(w));
  fprintf(w->out, "  for (int64_t r = begin; r < end; r++) {\n");
  if (is_edge) {
    if (beside != NO_VALUE) fprintf(w->out, "    gnn_real row[%" PRId64 "] = {0};\n", width);
    print_edge_loop(w, &flats, false, false, (AfterEdge){"", 0});
    if (beside != NO_VALUE) fprintf(w->out, "    %s_row(context, r, row);\n", w->name);
  } else {
    step_print_lines(w->out, "    ", w->operand->text[LEVEL_ROW]);
    fprintf(w->out, "%s", rows_loops_text(w->operand, "    "));
  }
  fprintf(w->out, "  }\n");
  if (fold != FOLD_SUM) fprintf(w->out, "  gnn_settle(acc, %" PRId64 ", 0);\n", width); /* no rows stay below all others */
  fprintf(w->out, "  for (int j = 0; j < %" PRId64 "; j++) sum[j] = acc[j];\n}\n\n", width);
  const Domain rows = is_edge ? domain_at(from->shape.domain, END_DST) : from->shape.domain;
  emit_walk(w, arena_printf(w->arena, "%s_run(context", w->name), step_run_first(w, rows, 1, "walk.run"), step_run_first(w, rows, 1, "walk.run + 1"), width);
}

/* ---- values side by side ---- */

/* Of bits, 32 of which are a word: all but the last value have whole words (cut.c). */
static int64_t words_of(const Shape *shape, int64_t numbers) { return shape->element == ELEMENT_BIT ? (numbers + 31) / 32 : numbers; }

static void emit_concat(StepWriter *w) {
  const Shape *shape = &w->anchor->shape;
  const int axis = w->anchor->as.part.axis;
  int64_t lead = 1, within = 1, begin = 0;
  for (int d = 0; d < shape->rank; d++) *(d < axis ? &lead : &within) *= d == axis ? 1 : shape->size[d];
  const int64_t width = words_of(shape, shape_width(shape)), turn = width / lead;
  const char *to = step_to(w, w->kernel->anchor), *copies = arena_printf(w->arena, "%s *row = %s + r * %" PRId64 ";\n", rows_type(w->kernels, w->kernel->anchor), to, width);
  if (lead > 1) copies = arena_printf(w->arena, "%sfor (int j = 0; j < %" PRId64 "; j++) {\n", copies, lead);
  const char *turns = lead > 1 ? arena_printf(w->arena, "j * %" PRId64 " + ", turn) : "", *indent = lead > 1 ? "  " : "";
  for (int k = 0; k < w->anchor->operand_count; k++) {
    const int64_t size = words_of(shape, w->graph->values[w->anchor->operand[k]].shape.size[axis] * within);
    double number;
    const char *from = "";
    if (graph_constant(w->graph, w->anchor->operand[k], &number)) from = emit_real(w->arena, number);
    else {
      const char *at = step_from(w, w->anchor->operand[k]);
      from = rows_loaded(w->kernels, w->anchor->operand[k], arena_printf(w->arena, "%s[r * %" PRId64 " + %sk]", at, lead * size, lead > 1 ? arena_printf(w->arena, "j * %" PRId64 " + ", size) : ""));
    }
    copies = arena_printf(w->arena, "%s%sfor (int k = 0; k < %" PRId64 "; k++) row[%s%sk] = %s;\n", copies, indent, size, turns, begin ? arena_printf(w->arena, "%" PRId64 " + ", begin) : "", rows_rounded(w->kernels, w->kernel->anchor, from));
    begin += size;
  }
  if (lead > 1) copies = arena_printf(w->arena, "%s}\n", copies);
  open_task(w, "rows", w->uses);
  w->uses = 0;
  fprintf(w->out, "  for (int64_t r = begin; r < end; r++) {\n");
  step_print_lines(w->out, "    ", copies);
  fprintf(w->out, "  }\n}\n\n");
  take_part(w);
  open_step(w, no_members);
  run_over_rows(w, "rows", shape->domain, 1);
  fprintf(w->out, "}\n\n");
}

/* ---- loss and update ---- */

static const char *labels_of(StepWriter *w) {
  const ValueId labels = w->anchor->operand[1];
  return w->graph->values[labels].shape.element == ELEMENT_LABEL ? argument_at_labels(w->arguments, labels, &w->uses) : argument_at_value(w->arguments, labels, false, &w->uses);
}

static int64_t label_stride(const StepWriter *w) { return shape_width(&w->graph->values[w->anchor->operand[1]].shape); }

static void emit_cross_entropy(StepWriter *w) {
  int64_t classes = shape_width(&w->graph->values[w->anchor->operand[0]].shape);
  const int part = w->step->part;
  const char *scores = step_from(w, w->anchor->operand[0]), *labels = labels_of(w);
  const char *sums = part ? argument_at_sums(w->arguments, ELEMENTS_DOUBLE, &w->uses) : argument_at_scratch(w->arguments, ELEMENTS_DOUBLE, &w->uses);
  const bool is_of_nodes = w->graph->values[w->anchor->operand[0]].shape.domain == DOMAIN_NODE;
  const char *blocks = is_of_nodes ? "&g->blocks" : "&(gnn_blocks){.levels = g->blocks.levels, .first = g->score_first}";
  const StepRows rows = step_train_rows(w);
  w->uses |= USES_RUN;
  const RankInfo *ranks = ranks_of(w->emission);
  const int each = ranks ? blocks_of_part_of_rank(ranks) : 0;
  if (ranks) sums = arena_printf(w->arena, "%s + (int64_t)gnn_first_part(g) * %d", sums, each);
  if (loss_is_plain(&w->emission->program->train))
    print_task(w, "blocks", arena_printf(w->arena, "gnn_cross_entropy_blocks(%s, %" PRId64 ", %s, %s, %s, "
                                         "%s, begin, end, %s);", scores, classes, labels, rows.list, rows.count, blocks, sums));
  else
    print_task(w, "blocks", arena_printf(w->arena, "gnn_loss_blocks(&LOSS_SETTINGS, %s, %" PRId64 ", %s, %" PRId64 ", %s, %s, "
                                         "%s, begin, end, %s);", scores, classes, labels, label_stride(w), rows.list, rows.count, blocks, sums));
  take_part(w);
  open_step(w, no_members);
  fprintf(w->out, "  const int64_t blocks = INT64_C(1) << g->blocks.levels;\n");
  if (ranks && !part) run_over(w, "blocks", arena_printf(w->arena, "(int64_t)gnn_own_parts(g) * %d", each), arena_printf(w->arena, "blocks / %d + 1", LOSS_TASKS));
  else if (ranks) {
    const int of_finer = each >> w->step->parts->finer;
    fprintf(w->out, "  gnn_parallel_part(g->team, gnn_parts_before(g, part - 1) * %d, gnn_parts_before(g, part) * %d, blocks / %d + 1, %s_blocks, &s);\n", of_finer, of_finer, LOSS_TASKS, w->name);
  } else if (part == 0) run_over(w, "blocks", "blocks", arena_printf(w->arena, "blocks / %d + 1", LOSS_TASKS));
  else
    fprintf(w->out, "  gnn_parallel_part(g->team, (part - 1) * %" PRId64 ", part * %" PRId64 ", blocks / %d + 1, %s_blocks, &s);\n", step_blocks_of_part(w),
            step_blocks_of_part(w), LOSS_TASKS, w->name);
  const bool is_last = part == 0 || part == w->step->parts->count;
  if (ranks && is_last) fprintf(w->out, "  gnn_gather_parts(g, %s, %d * (int64_t)sizeof(double));\n", part ? "sums" : "scratch", each);
  if (is_last)
    fprintf(w->out, "  g->loss = gnn_sum_tree(%s, blocks) / g->row_weight[GNN_TRAIN];\n", part ? "sums" : "scratch");
  fprintf(w->out, "}\n\n");
}

/* The rows of some nodes at a time, `call` up to its last arguments: these rows and where they are written. In bf16 they are rounded from where they were made. */
static const char *loss_gradient_rows(const StepWriter *w, const char *call, const char *gradient) {
  enum { ROWS = 16 };
  const int64_t classes = shape_width(&w->anchor->shape);
  if (!kernels_is_half(w->kernels, w->kernel->anchor)) return arena_printf(w->arena, "%s, begin, end, %s);", call, gradient);
  return arena_printf(w->arena, "for (int64_t first = begin; first < end; first += %d) {\n    const int64_t last = gnn_min(first + %d, end);\n    gnn_real made[%" PRId64 "];\n"
                      "    %s, first, last, made - first * %" PRId64 ");\n    for (int64_t i = 0; i < (last - first) * %" PRId64 "; i++) %s[first * %" PRId64 " + i] = gnn_rounded(made[i]);\n  }",
                      ROWS, ROWS, ROWS * classes, call, classes, classes, gradient, classes);
}

static void emit_cross_entropy_gradient(StepWriter *w) {
  int64_t classes = shape_width(&w->anchor->shape);
  const char *scores = step_from(w, w->anchor->operand[0]), *labels = labels_of(w), *gradient = step_to(w, w->kernel->anchor), *call;
  const StepRows rows = step_train_rows(w);
  const bool is_of_some = ranks_of(w->emission) || w->graph->split_rows[SPLIT_TRAIN] != NO_VALUE; /* of all training rows */
  w->uses |= USES_RUN;
  if (loss_is_plain(&w->emission->program->train) && is_of_some)
    call = arena_printf(w->arena, "gnn_cross_entropy_gradient_of(%s, %" PRId64 ", %s, %s, %s, g->row_weight[GNN_TRAIN]", scores, classes, labels, rows.list, rows.count);
  else if (loss_is_plain(&w->emission->program->train))
    call = arena_printf(w->arena, "gnn_cross_entropy_gradient_nodes(%s, %" PRId64 ", %s, g->rows[GNN_TRAIN], g->row_count[GNN_TRAIN]", scores, classes, labels);
  else
    call = arena_printf(w->arena, "gnn_loss_gradient_rows(&LOSS_SETTINGS, %s, %" PRId64 ", %s, %" PRId64 ", %s, %s, g->row_weight[GNN_TRAIN]", scores, classes, labels,
                        label_stride(w), rows.list, rows.count);
  print_task(w, "rows", loss_gradient_rows(w, call, gradient));
  take_part(w);
  write_step_over_rows(w, w->anchor->shape.domain);
}

/* How the gradients are clipped, as an argument of the optimiser. */
static const char *clip_text(StepWriter *w) {
  const TrainSpec *train = &w->emission->program->train;
  if (train->clip_kind == CLIP_VALUE) return "(gnn_clip){1, (gnn_real)s->limit}";
  const ValueId factor = graph_update_factor(w->graph, w->anchor);
  if (factor == NO_VALUE) return "GNN_UNCLIPPED";
  return arena_printf(w->arena, "(gnn_clip){*%s, INFINITY}", argument_named_value(w->arguments, "factor", factor, false, &w->uses));
}

/* All numbers of the weight, or those of the rows of the step's part. */
static void run_over_weight(StepWriter *w) {
  const int64_t width = shape_width(&w->anchor->shape);
  if (!value_is_update_of_nodes(w->anchor)) run_over(w, "elements", "count", number(w, SUM_NUMBERS));
  else if (w->step->part == 0) run_over(w, "elements", step_row_count(w, w->anchor->shape.domain, width), number(w, SUM_NUMBERS));
  else
    fprintf(w->out, "  gnn_parallel_part(g->team, %s, %s, %d, %s_elements, &s);\n", part_row(w, "(part - 1)", DOMAIN_NODE, width), part_row(w, "part", DOMAIN_NODE, width), SUM_NUMBERS, w->name);
}

/* One function for all weights with the same settings. */
static void emit_update(StepWriter *w) {
  const TypedProgram *program = w->emission->program;
  const OptimizerInfo *info = &optimizer_info[program->train.optimizer];
  int32_t p = w->anchor->as.index;
  const Hyper *h = step_hyper(program, program->params[p].name);
  const char *call = arena_printf(w->arena, "gnn_%s(%s, ", info->name, argument_named_value(w->arguments, "weight", w->anchor->operand[0], true, &w->uses));
  const char *gradient = argument_named_value(w->arguments, "gradient", w->anchor->operand[1], false, &w->uses);
  const char *sum = step_state(w, ACCUMULATED, "accumulated"), *accumulated = sum ? sum : gradient;
  call = arena_printf(w->arena, "%s%s, ", call, accumulated);
  call = arena_printf(w->arena, "%s%s", call, clip_text(w));
  static const char *const names[] = {"state1", "state2"};
  for (int s = 0; s < info->states; s++) {
    const char *state = step_state(w, s, names[s]);
    call = arena_printf(w->arena, "%s, %s", call, state ? state : "NULL");
  }
  const char *fields = "double", *values = "";
  for (int i = 0; i < info->setting_count; i++) {
    const char *name = hyper_names[info->settings[i].kind];
    call = arena_printf(w->arena, "%s, s->%s", call, name);
    fields = arena_printf(w->arena, "%s%s %s", fields, i ? "," : "", name);
    values = arena_printf(w->arena, "%s.%s = %s,\n", values, name, step_hyper_text(w->emission, h, info->settings[i].kind));
  }
  if (program->train.clip_kind == CLIP_VALUE) {
    fields = arena_printf(w->arena, "%s, limit", fields);
    values = arena_printf(w->arena, "%s.limit = %s,\n", values, emit_scalar(w->emission, program->train.clip));
  }
  w->uses |= USES_RUN;
  print_task(w, "elements", sum ? arena_printf(w->arena, "if (gnn_accumulate(%s, %s, %" PRId64 ", g->update, begin, end))\n    %s, g->update / %" PRId64 ", begin, end);", accumulated,
                                                           gradient, program->train.accumulate, call, program->train.accumulate)
                                            : arena_printf(w->arena, "%s, g->update, begin, end);", call));
  if (!value_is_update_of_nodes(w->anchor)) argument_number(w->arguments, "count", shape_width(&w->graph->values[w->anchor->operand[0]].shape), &w->uses);
  take_part(w);
  open_step(w, (Members){arena_printf(w->arena, "%s;\n", fields), values});
  run_over_weight(w);
  fprintf(w->out, "}\n\n");
}

static void emit_follow(StepWriter *w) {
  const char *buffer = argument_named_value(w->arguments, "buffer", w->anchor->operand[0], true, &w->uses);
  const char *value = argument_named_value(w->arguments, "value", w->anchor->operand[1], false, &w->uses);
  print_task(w, "elements", arena_printf(w->arena, "gnn_follow(%s, %s, %s, begin, end);", buffer, value, emit_real(w->arena, w->anchor->as.number)));
  open_step(w, no_members);
  run_over(w, "elements", number(w, shape_width(&w->graph->values[w->anchor->operand[0]].shape)), number(w, SUM_NUMBERS));
  fprintf(w->out, "}\n\n");
}

/* ---- the kernels that steps share ---- */

/* The template of kernels/cpu behind a step, with its sizes filled in: a function of its own, because several steps of a
 * model have the same sizes and each instance takes the C compiler a tenth of a second. */
static const char *shared_matmul(const Emission *m, const Step *step, const Value *anchor) {
  (void)step;
  const struct Contraction p = anchor->as.product;
  return arena_printf(m->arena,
                      "SHARED void matmul_%" PRId64 "x%" PRId64 "(const gnn_real *a, const gnn_real *packed, int64_t begin, int64_t end,\n"
                      "    gnn_row_done *done, const void *context) {\n"
                      "  gnn_gemm_rows(a, packed, %" PRId64 ", %" PRId64 ", begin, end, done, context);\n}\n",
                      p.depth, p.width, p.depth, p.width);
}

static const char *shared_outer(const Emission *m, const Step *step, const Value *anchor) {
  const struct Contraction p = anchor->as.product;
  if (has_joined_operand(step->kernels, anchor))
    return arena_printf(m->arena,
                        "SHARED void outer_on_%" PRId64 "x%" PRId64 "(const gnn_real *a, const gnn_real *b, int64_t begin, int64_t end, int is_first, gnn_real *sum) {\n"
                        "  gnn_gemm_tn_on(a, b, %" PRId64 ", %" PRId64 ", begin, end, is_first, sum);\n}\n",
                        p.depth, p.width, p.depth, p.width);
  return arena_printf(m->arena,
                      "SHARED void outer_%" PRId64 "x%" PRId64 "(const gnn_real *a, const gnn_real *b, int64_t begin, int64_t end, gnn_real *sum) {\n"
                      "  gnn_gemm_tn(a, b, %" PRId64 ", %" PRId64 ", begin, end, sum);\n}\n",
                      p.depth, p.width, p.depth, p.width);
}

/* Of pieces where they lie in the arena; those of halos are picked by codes. */
static const char *table_of_pieces(Arena *arena, const Kernels *kernels, ValueId value, const char *row_parts, int shift) {
  return arena_printf(arena, "(gnn_table){arena, pieces, %s, %d, %d}", row_parts, shift, kernels_is_half(kernels, value));
}

static const char *shared_spmm(const Emission *m, const Step *step, const Value *anchor) {
  const Graph *graph = step->kernels->graph;
  const ValueId from = summed_by_spmm(graph, anchor);
  const bool is_half = kernels_is_half(step->kernels, from);
  const char *sizes = spmm_sizes(m, step->kernels, anchor), *rest = arena_printf(m->arena, "%" PRId64 ", gnn_gather_chains(%" PRId64 "), begin, end, done, context);\n}\n", shape_width(&anchor->shape), declared_width(anchor, shape_width(&anchor->shape)));
  if (parts_is_halo(step->parts, from))
    return arena_printf(m->arena,
                        "SHARED void spmm_halo_%s(const gnn_csr *graph, const uint32_t *codes, const gnn_real *arena, const int64_t *pieces, int64_t begin, int64_t end,\n"
                        "    gnn_row_done *done, const void *context) {\n  gnn_spmm_table_rows(graph, (const int32_t *)codes, %s, %s",
                        sizes, table_of_pieces(m->arena, step->kernels, from, "NULL", parts_halo_shift(m->evaluation_plan->problem->parts, HALO_FOR_DST)), rest);
  if (step_gathers(step, from))
    return arena_printf(m->arena,
                        "SHARED void spmm_pieces_%s(const gnn_csr *graph, const gnn_real *arena, const int64_t *pieces, int64_t begin, int64_t end, gnn_row_done *done,\n"
                        "    const void *context) {\n  gnn_spmm_table_rows(graph, graph->idx, %s, %s", sizes, table_of_pieces(m->arena, step->kernels, from, "row_parts", parts_row_shift(step->parts)), rest);
  return arena_printf(m->arena,
                      "SHARED void spmm_%s(const gnn_csr *graph, const %s *x, int64_t begin, int64_t end, gnn_row_done *done,\n"
                      "    const void *context) {\n  %s, %s", sizes, rows_type(step->kernels, from), is_half ? "gnn_spmm_table_rows(graph, graph->idx, gnn_half_matrix(x)" : "gnn_spmm_rows(graph, x", rest);
}

static const char *shared_sparse_matmul(const Emission *m, const Step *step, const Value *anchor) {
  (void)step;
  int64_t width = anchor->as.product.width;
  return arena_printf(m->arena,
                      "SHARED void sparse_matmul_%" PRId64 "(const gnn_sparse *x, const gnn_real *b, const gnn_dropout *drop, int64_t begin,\n"
                      "    int64_t end, gnn_row_done *done, const void *context) {\n"
                      "  gnn_sparse_rows(x, b, %" PRId64 ", gnn_gather_chains(%" PRId64 "), drop, begin, end, done, context);\n}\n", width, width, width);
}

static const char *shared_sparse_outer(const Emission *m, const Step *step, const Value *anchor) {
  ValueId dropout;
  bool is_left = graph_sparse_field(step->kernels->graph, m->is_sparse_field, anchor->operand[0], &dropout) != NO_INDEX;
  int64_t width = is_left ? anchor->as.product.width : anchor->as.product.depth;
  const ValueId gathered = anchor->operand[is_left ? 1 : 0];
  const bool is_gathered = step_gathers(step, gathered), is_half = kernels_is_half(step->kernels, gathered);
  if (ranks_of(m))
    return arena_printf(m->arena,
                        "SHARED void sparse_outer_part_%s(const gnn_sparse *x, const gnn_blocks *blocks, int64_t first_block, int64_t end_block, const gnn_real *g,\n"
                        "    const gnn_dropout *drop, int64_t begin, int64_t end, gnn_row_done *done, const void *context) {\n"
                        "  gnn_sparse_tn_blocks(x, blocks, first_block, end_block, gnn_matrix(g), %" PRId64 ", gnn_gather_chains(%" PRId64 "), drop, begin, end, done, context);\n}\n",
                        gathered_sizes(m->arena, anchor, width, false), width, declared_width(anchor, width));
  return arena_printf(m->arena,
                      "SHARED void sparse_outer_%s%s(const gnn_sparse *x, const gnn_blocks *blocks, const %s *%s, const gnn_dropout *drop,\n"
                      "    int64_t begin, int64_t end, gnn_row_done *done, const void *context) {\n"
                      "  gnn_sparse_tn_rows(x, blocks, %s, %" PRId64 ", gnn_gather_chains(%" PRId64 "), drop, begin, end, done, context);\n}\n",
                      is_gathered ? "pieces_" : "", gathered_sizes(m->arena, anchor, width, is_half), is_half && !is_gathered ? "gnn_half" : "gnn_real", is_gathered ? "arena, const int64_t *pieces" : "g",
                      is_gathered ? table_of_pieces(m->arena, step->kernels, gathered, "row_parts", parts_row_shift(step->parts)) : is_half ? "gnn_half_matrix(g)" : "gnn_matrix(g)",
                      width, declared_width(anchor, width));
}

static const char *shared_nothing(const Emission *m, const Step *step, const Value *anchor) {
  (void)m, (void)step, (void)anchor;
  return "";
}

/* ---- one step ---- */

typedef struct KernelCode {
  void (*emit)(StepWriter *);
  const char *(*shared)(const Emission *, const Step *, const Value *anchor);
} KernelCode;

static const KernelCode code_of[KERNEL_KIND_COUNT] = {
#define KERNEL(name, text, what, body, fold, loops, cost, says, variants, cpu, shared, cuda) {emit_##cpu, shared_##shared},
#include "compiler/lowering/kernel_kinds.h"
#undef KERNEL
};

static const char *shared_by(const Emission *m, const Step *step) {
  if (step->kind != STEP_KERNEL) return "";
  const Kernel *kernel = &step->kernels->kernels[step->kernel];
  return code_of[kernel->kind].shared(m, step, &step->kernels->graph->values[kernel->anchor]);
}

void cpu_emit_shared(const Emission *m, FILE *out) {
  fprintf(out, "/* The kernels at the sizes of this model. Each is compiled once, however many steps call it. */\n"
               "#ifdef __clang__\n#define SHARED static __attribute__((noinline))\n#else\n#define SHARED static __attribute__((noinline, noclone))\n#endif\n\n");
  const char **printed = arena_alloc(m->arena, (size_t)(schedule_step_count(m->schedule) + 1) * sizeof *printed);
  int count = 0;
  for (int s = 0; s < schedule_step_count(m->schedule); s++) {
    const char *text = shared_by(m, &m->schedule->steps[s]);
    bool is_new = *text != 0;
    for (int i = 0; i < count && is_new; i++) is_new = strcmp(printed[i], text) != 0;
    if (!is_new) continue;
    printed[count++] = text;
    fprintf(out, "%s\n", text);
  }
}

StepText cpu_step_text(const Emission *m, const Step *step, const char *name) {
  StepText result = {.host = ""};
  char *functions, *whole;
  size_t size;
  FILE *out = arena_open_text(m->arena, &functions, &size);
  StepWriter w = step_writer(m, step, name, out);
  code_of[w.kernel->kind].emit(&w);
  fclose(out);
  out = arena_open_text(m->arena, &whole, &size);
  fprintf(out, "struct %s {\n  const gnn_run *g;\n", name);
  for (int i = 0; i < w.arguments->count; i++) fprintf(out, "  %s%s;\n", argument_type(&w.arguments->list[i]), w.arguments->list[i].name);
  step_print_lines(out, "  ", w.fields);
  fprintf(out, "};\n\n%s", functions);
  fclose(out);
  result.text = whole;
  result.arguments = w.arguments;
  return result;
}

