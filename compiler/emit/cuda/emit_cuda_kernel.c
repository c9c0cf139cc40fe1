/* emit_cuda_kernel: the kernels of one step.
 *
 * The rows of a kernel go round its groups of threads; a group's lanes run over the elements of the row. A sum over the
 * edges of a row is kept in registers, in the order of the edges; where rows are narrow, slots of lanes share the edges.
 * Whatever has the sums then computes the body. Products of matrices leave a tile in shared memory, whose rows the
 * block's warps take.
 */
#include "emit_cuda.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TRANSPOSE_TILE = 32, SUM_NUMBERS = 8 /* GNN_SUM_NUMBERS */, MANY_SUMS = 4, UPDATE_EACH = 1024 /* GNN_UPDATE_EACH */, OWN_ROWS = 128, OWN_COLUMNS = 64, OWN_NARROW = 32, CONSTANT_WEIGHTS = 1000 /* of 56 bytes; constant memory is 64 KiB */ };

/* kernel<<<blocks, CUDA_THREADS>>>; blocks: an expression of C over g. Or a call of a library: the statement. */
typedef struct Launch {
  const char *kernel, *blocks, *call;
  bool is_own; /* of a table of ranks: it makes the rank's own rows, once those that leave are there */
} Launch;

typedef struct DeviceKernel {
  const char *name, *parameter;
  char *body;
  size_t size;
} DeviceKernel;

typedef struct CudaWriter {
  StepWriter w;
  int launch_count, kernel_count;
  Launch *launches;
  DeviceKernel *kernels; /* the last one is open while w.out is its body */
  int lanes, slots;      /* of a row */
  int vector;            /* neighbouring elements that a lane takes together */
  const char *drop;      /* the dropout of sparse features, or NULL */
  bool is_own;           /* launches are so from now on */
  const char *idx;       /* where their entries stand that the step was brought; NULL: those that always stay */
  const char *ptr;       /* likewise where rows begin among them */
} CudaWriter;

static const char *number(const CudaWriter *c, int64_t n) { return arena_printf(c->w.arena, "%" PRId64, n); }

static const TypedProgram *program_of(const CudaWriter *c) { return c->w.emission->program; }

/* ---- ranks ---- */

static const RankInfo *ranks(const CudaWriter *c) { return ranks_of(c->w.emission); }

/* How threads share the rows of a sum shows in its bits: it follows from the sizes of all ranks. */
static int64_t rows_of_all(const CudaWriter *c, Domain domain) {
  const DataInfo *info = program_of(c)->info;
  if (typed_are_all_nodes(info, domain)) domain = DOMAIN_NODE;
  if (typed_are_all_edges(info, domain)) domain = DOMAIN_EDGE;
  return typed_rows(ranks(c) ? info->of_all : info, domain);
}

static int64_t nonzeros_of_all(const CudaWriter *c, int32_t field) {
  const TypedField *f = &program_of(c)->fields[field];
  return ranks(c) ? f->all_nonzeros : f->nonzeros;
}

/* ---- a kernel's frame ---- */

static const char plain_parameter[] = "const gnn_view *__restrict__ g";

static const char *open_text(CudaWriter *c, const char *suffix, const char *parameter) {
  const char *name = arena_printf(c->w.arena, "%s_%s", c->w.name, suffix);
  ARENA_PUSH(c->w.arena, c->kernels, c->kernel_count, ((DeviceKernel){.name = name, .parameter = parameter}));
  DeviceKernel *kernel = &c->kernels[c->kernel_count - 1];
  c->w.out = arena_open_text(c->w.arena, &kernel->body, &kernel->size);
  return name;
}

static void open_kernel(CudaWriter *c, const char *suffix, const char *blocks, const char *parameter) {
  const char *name = open_text(c, suffix, parameter);
  ARENA_PUSH(c->w.arena, c->launches, c->launch_count, ((Launch){.kernel = name, .blocks = blocks, .is_own = c->is_own}));
}

static void open_plain(CudaWriter *c, const char *suffix, const char *blocks) { open_kernel(c, suffix, blocks, plain_parameter); }

/* Who launches it is written elsewhere; gives its name. */
static const char *open_uncalled(CudaWriter *c, const char *suffix) { return open_text(c, suffix, plain_parameter); }

static void close_kernel(CudaWriter *c) { fclose(c->w.out); }

/* What the host does between kernels. */
static void add_call(CudaWriter *c, const char *call) { ARENA_PUSH(c->w.arena, c->launches, c->launch_count, (Launch){.call = call}); }

/* A kernel whose whole text is one call. */
static void print_call(CudaWriter *c, const char *suffix, const char *blocks, const char *statement) {
  open_plain(c, suffix, blocks);
  fprintf(c->w.out, "  %s\n", statement);
  close_kernel(c);
}

/* ---- the rows of a step: all, or those of its part of the nodes ---- */

/* As expressions of C; `begin` is "0" where it is that of all rows. */
typedef struct RowRange {
  const char *begin, *end;
} RowRange;

/* For the host, where the rows of a part begin, or the edges that arrive at them. */
static const char *host_part_row(const Emission *m, Domain domain, const char *part) {
  if (ranks_of(m)) return arena_printf(m->arena, "gnn_part_%s(g, %s)", domain == DOMAIN_EDGE ? "edge" : "row", part);
  return arena_printf(m->arena, "%s[%s]", domain == DOMAIN_EDGE ? "part_in" : "part_first", part);
}

/* For the host, times the rows of a product that a row of the value has. */
static RowRange host_range_of(CudaWriter *c, Domain domain, int64_t lead) {
  StepWriter *w = &c->w;
  if (w->step->part == 0) return (RowRange){"0", step_row_count(w, domain, lead)};
  const char *part = step_part(w), *times = lead == 1 ? "" : arena_printf(w->arena, " * %" PRId64, lead);
  return (RowRange){arena_printf(w->arena, "%s%s", host_part_row(w->emission, domain, arena_printf(w->arena, "%s - 1", part)), times), arena_printf(w->arena, "%s%s", host_part_row(w->emission, domain, part), times)};
}

static RowRange host_range(CudaWriter *c, int64_t lead) { return host_range_of(c, c->w.anchor->shape.domain, lead); }

/* How many they are, for the host. */
static const char *rows_text_of(CudaWriter *c, Domain domain, int64_t lead) {
  const RowRange range = host_range_of(c, domain, lead);
  return c->w.step->part ? arena_printf(c->w.arena, "(%s - %s)", range.end, range.begin) : range.end;
}

static const char *rows_text(CudaWriter *c, int64_t lead) { return rows_text_of(c, c->w.anchor->shape.domain, lead); }

/* For the device, in a kernel whose text has begun: a part's are looked up there once. */
static RowRange device_range_of(CudaWriter *c, Domain domain, int64_t lead) {
  StepWriter *w = &c->w;
  if (w->step->part == 0) return (RowRange){"0", step_row_count(w, domain, lead)};
  const char *times = lead == 1 ? "" : arena_printf(w->arena, " * %" PRId64, lead);
  if (domain == DOMAIN_EDGE && w->graph->offsets[END_DST] != NO_VALUE) {
    step_edges_of_part(w);
    fprintf(w->out, "  const int64_t first_row = first_edge%s, end_row = end_edge%s;\n", times, times);
    return (RowRange){"first_row", "end_row"};
  }
  const char *part = step_part(w);
  const char *first = step_part_row(w, arena_printf(w->arena, "(%s - 1)", part), domain), *end = step_part_row(w, part, domain);
  fprintf(w->out, "  const int64_t first_row = %s%s, end_row = %s%s;\n", first, times, end, times);
  return (RowRange){"first_row", "end_row"};
}

static RowRange device_range(CudaWriter *c, int64_t lead) { return device_range_of(c, c->w.anchor->shape.domain, lead); }

/* "first_row + ", or nothing */
static const char *from_begin(const CudaWriter *c, RowRange range) { return strcmp(range.begin, "0") == 0 ? "" : arena_printf(c->w.arena, "%s + ", range.begin); }

/* ---- groups of threads ---- */

/* What is computed once for the step. */
static void print_step_struct(const CudaWriter *c) {
  const char *fields = step_dropout_fields(&c->w);
  if (!*fields && !c->drop) return;
  fprintf(c->w.out, "  struct {\n");
  step_print_lines(c->w.out, "    ", fields);
  if (c->drop) fprintf(c->w.out, "    gnn_dropout drop;\n");
  fprintf(c->w.out, "  } step;\n");
  step_print_lines(c->w.out, "  ", step_dropout_values(&c->w, "step.", ";"));
  if (c->drop) fprintf(c->w.out, "  step.drop = %s;\n", c->drop);
  fprintf(c->w.out, "  const auto *const s = &step;\n");
}

/* Before anything is known of a step's rows. */
static const Spread any_spread = {CUDA_WARP, 1};

static Spread spread_of(const CudaWriter *c) { return (Spread){c->lanes, c->vector}; }

/* The number of a lane's element among its own. */
static const char *own_number(const CudaWriter *c) { return c->vector > 1 ? arena_printf(c->w.arena, "%d * block + n", c->vector) : "block"; }

static void print_lane(const CudaWriter *c) {
  if (c->lanes > 1) fprintf(c->w.out, "  const int lane = (int)threadIdx.x %% %d;\n", c->lanes);
}

/* The first of a lane's elements. */
static const char *own_text(const CudaWriter *c) { return c->lanes == 1 ? "0" : c->vector == 1 ? "lane" : arena_printf(c->w.arena, "%d * lane", c->vector); }

static void print_own(const CudaWriter *c) {
  print_lane(c);
  fprintf(c->w.out, "  [[maybe_unused]] const int own = %s;\n", own_text(c));
}

static void print_slot(const CudaWriter *c) {
  if (c->slots > 1) fprintf(c->w.out, "  const int slot = (int)threadIdx.x %% %d / %d;\n", c->lanes * c->slots, c->lanes);
}

static const char *blocks_of(const CudaWriter *c, const char *rows) {
  return arena_printf(c->w.arena, "blocks_for(%s, %d)", rows, CUDA_THREADS / (c->lanes * c->slots));
}

static void open_rows(CudaWriter *c) {
  const int group = c->lanes * c->slots;
  open_plain(c, "rows", blocks_of(c, rows_text(c, 1)));
  print_step_struct(c);
  print_own(c);
  print_slot(c);
  const RowRange rows = device_range(c, 1);
  fprintf(c->w.out, "  for (int64_t r = %sgnn_group<%d>(); r < %s; r += gnn_groups<%d>()) {\n", from_begin(c, rows), group, rows.end, group);
}

static int64_t body_width(const CudaWriter *c) { return shape_width(&c->w.anchor->shape); }

/* The body in a scope of its own: once for each element, and for a row of one number once. */
static void print_body(const CudaWriter *c, RowPart extent, int tile, const char *indent) {
  const RowWriter *body = c->w.body;
  const char *once = c->slots > 1 && body->loop_count == 0 && c->lanes > 1 ? "if (slot == 0 && lane == 0) "
                     : c->slots > 1                                          ? "if (slot == 0) "
                     : c->lanes > 1 && body->loop_count == 0                 ? "if (lane == 0) "
                                                                             : "";
  fprintf(c->w.out, "%s%s{\n", indent, once);
  const char *inner = arena_printf(c->w.arena, "%s  ", indent);
  step_print_lines(c->w.out, inner, body->text[LEVEL_ROW]);
  step_print_lines(c->w.out, inner, body->text[LEVEL_EDGE]);
  cuda_print_elements(body, spread_of(c), extent, tile, c->w.out, inner);
  fprintf(c->w.out, "%s}\n", indent);
}

/* ---- sums of expressions ---- */

/* The operand of the anchor's sum or aggregation; gives the index of what it adds to. lanes 0: it is that of a sum within a row. */
static Index write_operand(CudaWriter *c, const Shape *loops, RowKind row, Spread spread) {
  StepWriter *w = &c->w;
  w->operand = rows_new(w->arguments, loops);
  w->operand->spread = spread;
  Index index = rows_full_index(w->operand, row);
  const char *text = rows_value(w->operand, w->anchor->operand[0], index);
  Index into = w->anchor->op == OP_REDUCE ? rows_reduced_index(w->operand, w->kernel->anchor, index) : index;
  bool is_one = body_width(c) == 1;
  step_write_fold(w, is_one ? "acc[0]" : arena_printf(w->arena, "acc[%s]", own_number(c)), text);
  return into;
}

static int64_t summand_width(const CudaWriter *c) {
  const Value *from = &c->w.graph->values[c->w.anchor->operand[0]];
  return body_width(c) == 1 ? shape_width(&from->shape) : body_width(c);
}

static bool has_bits(const CudaWriter *c) { return (c->w.body && c->w.body->has_bits) || (c->w.operand && c->w.operand->has_bits); }

static void set_group(CudaWriter *c, int64_t width, int64_t rows, int64_t entries) {
  int tuned = has_bits(c) ? 0 : c->w.kernel->variant.lanes;
  const int64_t declared = c->w.anchor->declared_width; /* whose slots a slice of columns has */
  c->lanes = cuda_lanes(width, has_bits(c));
  if (tuned && tuned < c->lanes) c->lanes = tuned;
  c->slots = entries ? cuda_slots(declared ? cuda_lanes(declared, false) : c->lanes, rows, entries) : 1;
  c->vector = 1;
}

static void print_acc(const CudaWriter *c, const char *indent) {
  fprintf(c->w.out, "%sgnn_real acc[%" PRId64 "] = {};\n", indent, cuda_sums(body_width(c), c->lanes));
}

/* A function over the entries of a row, all of them or a piece, for gnn_walk_edges and gnn_walk_run. */
typedef struct EdgeWalk {
  const char *row_lines;
  unsigned uses; /* of all that runs in it */
} EdgeWalk;

static void open_edge_walk(const CudaWriter *c, const EdgeWalk *walk) {
  FILE *out = c->w.out;
  fprintf(out, "  %s\n  const auto edge_walk = [&](int64_t r, int64_t begin, int64_t end) {\n", step_edges(&c->w));
  if (walk->uses & USES_DST) fprintf(out, "    const int64_t dst = r;\n");
  step_print_lines(out, "    ", walk->row_lines);
  const char *next = c->slots > 1 ? arena_printf(c->w.arena, "i += %d", c->slots) : "i++";
  fprintf(out, "    for (int64_t i = begin; i < end; %s) {\n", next);
  step_print_lines(out, "      ", step_edge_variables(&c->w, walk->uses, false));
}

static void close_edge_walk(const CudaWriter *c, const char *function, const char *rows) {
  fprintf(c->w.out, "    }\n  };\n  %s<%d, %d>(%s, edge_walk);\n", function, c->lanes, c->slots, rows);
}

/* Where each lane has summed its elements, the sum of all becomes everybody's. */
static void print_sum_of_lanes(const CudaWriter *c, const char *indent) {
  if (body_width(c) == 1 && c->lanes > 1) fprintf(c->w.out, "%sacc[0] = gnn_group_sum<%d, 1>(acc[0]);\n", indent, c->lanes);
}

/* The start of a function over the elements of a row, or over a slice of them. */
static void print_slice(const CudaWriter *c) {
  const int each = c->lanes * c->vector;
  fprintf(c->w.out, "    [[maybe_unused]] const int own = %s%s;\n", each == 1 ? "" : arena_printf(c->w.arena, "%s + %d * ", own_text(c), each), "first");
}

/* The kernel that sums over the entries of each row, NULL: its edges, then computes the body; columns: those of sparse features, whose
 * entries are rows of nodes and which take the rows' place; else NULL. */
static void print_row_sums(CudaWriter *c, const char *csr, const RowRange *columns, int64_t width, const RowWriter *operand, bool is_out) {
  const bool is_by_column = columns != NULL;
  int64_t sums = c->vector * cuda_sums(width, c->lanes * c->vector);
  const char *next = c->slots > 1 ? arena_printf(c->w.arena, "i += %d", c->slots) : "i++";
  open_plain(c, "rows", is_by_column ? arena_printf(c->w.arena, "blocks_for(%s%s%s, 1)", columns->end, strcmp(columns->begin, "0") ? " - " : "", strcmp(columns->begin, "0") ? columns->begin : "") : blocks_of(c, rows_text(c, 1)));
  FILE *out = c->w.out;
  if (typed_are_all_nodes(program_of(c)->info, c->w.anchor->shape.domain)) fprintf(out, "  if (g->rank * %" PRId64 " >= %" PRId64 ") return; /* other ranks have the columns */\n", body_width(c), c->w.anchor->declared_width);
  print_step_struct(c);
  print_lane(c);
  print_slot(c);
  const RowRange rows = is_by_column ? *columns : device_range(c, 1);
  if (c->ptr) fprintf(out, "  const gnn_view_csr own_rows = gnn_csr_at(&%s, %s), here = gnn_csr_with(&own_rows, %s), *edges = &here;\n", csr, c->ptr, c->idx);
  else if (c->idx) fprintf(out, "  const gnn_view_csr here = gnn_csr_with(&%s, %s), *edges = &here;\n", csr, c->idx);
  else if (csr) fprintf(out, "  const gnn_view_csr *edges = &%s;\n", csr);
  else fprintf(out, "  %s\n", step_edges(&c->w));
  const RankInfo *by_parts = is_by_column ? ranks(c) : NULL; /* those of the rank one after the other */
  if (by_parts) fprintf(out, "  int64_t part = 0;\n");
  fprintf(out, "  const auto row_sum = [&](int64_t r, int64_t begin, int64_t end, int first, int blocks, gnn_real *acc) {\n");
  print_slice(c);
  if (operand->uses & (is_out ? USES_SRC : USES_DST)) fprintf(out, "    const int64_t %s = r;\n", is_out ? "src" : "dst");
  step_print_lines(out, "    ", operand->text[LEVEL_ROW]);
  fprintf(out, "    %s for (int64_t i = begin; i < end; %s) {\n", sums <= MANY_SUMS ? "GNN_UNROLL_4" : "GNN_UNROLL_2", next);
  step_print_lines(out, "      ", step_edge_variables(&c->w, operand->uses, is_out));
  step_print_lines(out, "      ", operand->text[LEVEL_EDGE]);
  cuda_print_elements(operand, spread_of(c), ROW_SLICE, 0, out, "      ");
  fprintf(out, "    }\n  };\n  const auto row_done = [&](int64_t r, int first, int blocks, const gnn_real *acc) {\n");
  print_slice(c);
  print_body(c, ROW_SLICE, 0, "    ");
  Fold fold = kernel_info[c->w.kernel->kind].fold;
  const char *function = is_by_column ? "gnn_sum_columns<" : fold == FOLD_NONE || fold == FOLD_SUM ? "gnn_sum_rows<" : arena_printf(c->w.arena, "gnn_fold_rows<gnn_fold_%s, ", fold_info[fold].name);
  fprintf(out, "  };\n");
  if (by_parts)
    fprintf(out, "  for (; part < g->own_parts; part++) {\n  const gnn_view_blocks blocks = {g->blocks.levels - %d, g->blocks.run_levels - %d, g->blocks.first + part * %d};\n", by_parts->part_levels, by_parts->part_levels,
            blocks_of_part_of_rank(by_parts));
  fprintf(out, "  %s%d, %d, %" PRId64, function, c->lanes, c->slots, sums);
  const int64_t declared = c->w.anchor->declared_width;
  if (c->vector > 1 || declared) fprintf(out, ", %d", c->vector);
  if (declared && !is_by_column) fprintf(out, ", %d", CUDA_THREADS / (cuda_lanes(declared, false) * c->slots));
  if (is_by_column) fprintf(out, ">(edges, %s, %s, &%s, row_sum, row_done);\n%s", columns->begin, columns->end, by_parts ? "blocks" : "g->blocks", by_parts ? "  }\n" : "");
  else fprintf(out, ">(edges, %s, %s, row_sum, row_done);\n", rows.begin, rows.end);
  close_kernel(c);
}

/* What the edges of a row add up to, or their extreme, then the body. */
static void emit_edges(CudaWriter *c) {
  bool is_out = c->w.anchor->as.end == END_SRC;
  c->w.body = step_write_body(&c->w, "acc", "block", any_spread);
  write_operand(c, &c->w.anchor->shape, ROWS_EDGE, any_spread);
  const Domain edges = c->w.graph->values[c->w.anchor->operand[0]].shape.domain;
  set_group(c, body_width(c), rows_of_all(c, c->w.anchor->shape.domain), rows_of_all(c, edges));
  c->vector = cuda_vector(body_width(c), c->lanes, cuda_most_together(c->w.operand, true));
  c->w.body = step_write_body(&c->w, "acc", own_number(c), spread_of(c));
  write_operand(c, &c->w.anchor->shape, ROWS_EDGE, spread_of(c));
  print_row_sums(c, NULL, NULL, body_width(c), c->w.operand, is_out);
}

/* A map or a sum within a row whose rows are edges: walked by destination, so that both ends are at hand. */
static void emit_edge_rows(CudaWriter *c) {
  StepWriter *w = &c->w;
  bool is_sum = w->anchor->op == OP_REDUCE;
  Index into = {0};
  w->body = step_write_body(w, is_sum ? "acc" : NULL, "block", any_spread);
  if (is_sum) into = write_operand(c, &w->graph->values[w->anchor->operand[0]].shape, ROWS_EDGE, (Spread){0});
  const Domain edges = w->anchor->shape.domain, ends = domain_at(edges, END_DST);
  set_group(c, is_sum ? summand_width(c) : body_width(c), rows_of_all(c, ends), rows_of_all(c, edges));
  if (!is_sum) c->vector = cuda_vector(body_width(c), c->lanes, cuda_most_together(w->body, false));
  w->body = step_write_body(w, is_sum ? "acc" : NULL, "block", spread_of(c));
  open_plain(c, "rows", blocks_of(c, rows_text_of(c, ends, 1)));
  print_step_struct(c);
  print_own(c);
  const RowRange rows = device_range_of(c, ends, 1);
  const RowWriter *sum = w->operand;
  open_edge_walk(c, &(EdgeWalk){sum ? sum->text[LEVEL_ROW] : "", w->body->uses | (sum ? sum->uses : 0)});
  if (sum) {
    print_acc(c, "      ");
    step_print_lines(w->out, "      ", sum->text[LEVEL_EDGE]);
    cuda_print_summands(sum, w->kernel->anchor, into, c->lanes, w->out, "      ");
    print_sum_of_lanes(c, "      ");
  }
  int slots = c->slots; /* each has edges of its own */
  c->slots = 1;
  print_body(c, ROW_WHOLE, 0, "      ");
  c->slots = slots;
  close_edge_walk(c, "gnn_walk_edges", arena_printf(w->arena, "edges, %s, %s", rows.begin, rows.end));
  close_kernel(c);
}

/* Rows of a table: those of the rank, of a kernel whose text has begun with a loop over them. */
static void print_table_row(CudaWriter *c, const char *to, const char *index) {
  fprintf(c->w.out, "    %s *const to = %s + %s * %" PRId64 ";\n", rows_type(c->w.kernels, c->w.kernel->anchor), to, index, kernels_row_stride(c->w.kernels, c->w.kernel->anchor));
  print_body(c, ROW_WHOLE, 0, "    ");
  fprintf(c->w.out, "  }\n");
  close_kernel(c);
}

static void emit_table_of_part(CudaWriter *c) {
  StepWriter *w = &c->w;
  const char *own = step_to(w, w->kernel->anchor);
  step_write_halo(w, any_spread);
  set_group(c, body_width(c), 1, 0);
  step_write_halo(w, spread_of(c));
  open_rows(c);
  print_table_row(c, own, "r");
}

/* Of a table whose own rows are there: those that others gather, side by side. */
static void emit_sending(CudaWriter *c) {
  StepWriter *w = &c->w;
  const int halo = halo_of_ranks(w->graph, w->kernel);
  const char *sent = argument_at_scratch(w->arguments, kernels_is_half(w->kernels, w->kernel->anchor) ? ELEMENTS_HALF : ELEMENTS_REAL, &w->uses), *own = step_to(w, w->kernel->anchor);
  set_group(c, body_width(c), 1, 0);
  print_call(c, "sent", blocks_of(c, arena_printf(w->arena, "gnn_sent_rows(g, %d)", halo)),
             arena_printf(w->arena, "gnn_pick_rows<%d>(%s, g->halo[%d].row, g->halo[%d].sent, %" PRId64 ", %s);", c->lanes, own, halo, halo, kernels_row_stride(w->kernels, w->kernel->anchor), sent));
}

/* The table of a rank: its own rows, of which those that others gather are made first, side by side. An exchange, a step of its own, takes them and brings those of others, while NAME_own makes the
 * rank's rows. */
static void emit_exchange(CudaWriter *c) {
  StepWriter *w = &c->w;
  if (parts_make_table(w->step->parts, w->kernel)) {
    if (w->step->part) emit_table_of_part(c);
    else emit_sending(c);
    return;
  }
  const int halo = halo_of_ranks(w->graph, w->kernel);
  const bool has_own = value_table(w->anchor);
  const char *sent = argument_at_scratch(w->arguments, kernels_is_half(w->kernels, w->kernel->anchor) ? ELEMENTS_HALF : ELEMENTS_REAL, &w->uses), *own = has_own ? step_to(w, w->kernel->anchor) : NULL;
  step_write_halo(w, any_spread);
  set_group(c, body_width(c), 1, 0);
  step_write_halo(w, spread_of(c));
  open_plain(c, "sent", blocks_of(c, arena_printf(w->arena, "gnn_sent_rows(g, %d)", halo)));
  print_step_struct(c);
  print_own(c);
  fprintf(w->out, "  for (int64_t i = gnn_group<%d>(); i < g->halo[%d].sent; i += gnn_groups<%d>()) {\n    const int64_t r = g->halo[%d].row[i];\n", c->lanes, halo, c->lanes, halo);
  print_table_row(c, sent, "i");
  c->is_own = has_own;
  if (!has_own) return;
  open_rows(c);
  print_table_row(c, own, "r");
}

/* A table that needs no exchange: rows of one operand, of a kernel of their own. */
static void print_behind(CudaWriter *c, int operand, const char *suffix, Domain domain, const char *to) {
  StepWriter *w = &c->w;
  w->body = step_write_table(w, operand, any_spread);
  set_group(c, body_width(c), 1, 0);
  w->body = step_write_table(w, operand, spread_of(c));
  open_plain(c, suffix, blocks_of(c, rows_text_of(c, domain, 1)));
  print_step_struct(c);
  print_own(c);
  fprintf(w->out, "  for (int64_t r = gnn_group<%d>(); r < %s; r += gnn_groups<%d>()) {\n", c->lanes, step_row_count(w, domain, 1), c->lanes);
  print_table_row(c, to, "r");
}

static void emit_behind(CudaWriter *c) {
  const char *to = step_to(&c->w, c->w.kernel->anchor);
  print_behind(c, 0, "rows", DOMAIN_NODE, to);
  print_behind(c, 1, "others", DOMAIN_OTHERS, arena_printf(c->w.arena, "%s + g->nodes * %" PRId64, to, kernels_row_stride(c->w.kernels, c->w.kernel->anchor)));
}

/* Rows of the part go to all parts that gather some, those for one after those for another. */
static void emit_halo(CudaWriter *c) {
  if (ranks(c)) {
    emit_exchange(c);
    return;
  }
  StepWriter *w = &c->w;
  const int parts = w->step->parts->count;
  const char *halo = step_halo(w, halo_kind(w->anchor)), *part = step_part(w);
  const char *first = arena_printf(w->arena, "%s.first[(%s - 1) * %d]", halo, part, parts), *end = arena_printf(w->arena, "%s.first[%s * %d]", halo, part, parts);
  const char *pieces = argument_at_pieces(w->arguments, w->kernel->anchor, true, &w->uses), *type = rows_type(w->kernels, w->kernel->anchor), *rows = step_halo_rows(w);
  step_write_halo(w, any_spread);
  set_group(c, body_width(c), 1, 0);
  step_write_halo(w, spread_of(c));
  open_plain(c, "rows", blocks_of(c, arena_printf(w->arena, "%s - %s", end, first)));
  print_step_struct(c);
  print_own(c);
  fprintf(w->out, "  const int64_t *const first = &%s;\n  for (int64_t i = first[0] + gnn_group<%d>(); i < first[%d]; i += gnn_groups<%d>()) {\n", first, c->lanes, parts, c->lanes);
  fprintf(w->out, "    int to_part = 0;\n    while (i >= first[to_part + 1]) to_part++;\n    const int64_t r = %s[i];\n", rows);
  fprintf(w->out, "    %s *const to = (%s *)(void *)gnn_at(g, %s[to_part]) + (i - first[to_part]) * %" PRId64 ";\n", type, type, pieces, kernels_row_stride(w->kernels, w->kernel->anchor));
  print_body(c, ROW_WHOLE, 0, "    ");
  fprintf(w->out, "  }\n");
  close_kernel(c);
}

static void emit_row_sum(CudaWriter *c) {
  StepWriter *w = &c->w;
  if (domain_is_relation(w->anchor->shape.domain)) {
    emit_edge_rows(c);
    return;
  }
  w->body = step_write_body(w, "acc", "block", any_spread);
  Index into = write_operand(c, &w->graph->values[w->anchor->operand[0]].shape, step_row_kind(w->anchor->shape.domain), (Spread){0});
  set_group(c, summand_width(c), 1, 0);
  w->body = step_write_body(w, "acc", "block", spread_of(c));
  open_rows(c);
  print_acc(c, "    ");
  step_print_lines(w->out, "    ", w->operand->text[LEVEL_ROW]);
  cuda_print_summands(w->operand, w->kernel->anchor, into, c->lanes, w->out, "    ");
  print_sum_of_lanes(c, "    ");
  print_body(c, ROW_WHOLE, 0, "    ");
  fprintf(w->out, "  }\n");
  close_kernel(c);
}

/* For the host: how many of a rank's parts the step walks over, of its rows' part finer ones. */
static const char *own_parts_text(CudaWriter *c) {
  if (c->w.step->part == 0) return "gnn_own_parts(g)";
  const char *part = step_part(&c->w);
  return arena_printf(c->w.arena, "(gnn_parts_before(g, %s) - gnn_parts_before(g, %s - 1))", part, part);
}

/* A kernel whose blocks are walkers over the runs of all rows, `tiles` of them each. */
static void open_walk(CudaWriter *c, int64_t tiles) {
  const int part = c->w.step->part;
  const int above = ranks(c) ? ranks(c)->part_levels + (part ? c->w.step->parts->finer : 0) : part ? c->w.step->parts->levels : 0;
  const char *walkers = arena_printf(c->w.arena, "%swalkers_of(g->blocks.run_levels%s, %d)", ranks(c) ? arena_printf(c->w.arena, "%s * ", own_parts_text(c)) : "", above ? arena_printf(c->w.arena, " - %d", above) : "", c->w.kernel->walker_levels);
  open_plain(c, "walk", tiles > 1 ? arena_printf(c->w.arena, "%s * %" PRId64, walkers, tiles) : walkers);
  print_step_struct(c);
}

/* The runs that the step walks over; of a rank those of its first part, whose walkers the ones of the others follow. */
static const char *runs_text(CudaWriter *c) {
  StepWriter *w = &c->w;
  if (ranks(c)) return w->step->part ? arena_printf(w->arena, "gnn_runs_of_finer(g, %s)", step_part(w)) : arena_printf(w->arena, "gnn_runs_of_part(g, 1, %d)", ranks(c)->part_levels);
  if (w->step->part == 0) return "gnn_all_runs(g)";
  return arena_printf(w->arena, "gnn_runs_of_part(g, %s, %d)", step_part(w), w->step->parts->levels);
}

/* Where the walkers have their sums: of a rank behind those of all parts, unless these wait for further parts of the rows. */
static const char *walks_text(CudaWriter *c) {
  return ranks(c) && c->w.step->part == 0 ? arena_printf(c->w.arena, "%s + %" PRId64, step_scratch(&c->w), body_width(c) << ranks(c)->part_levels) : step_scratch(&c->w);
}

static void print_walk(CudaWriter *c, const char *walker) {
  fprintf(c->w.out, "  for (gnn_walk walk = gnn_walk_begin(%s, %s, %d, %s, %" PRId64 "); walk.run < walk.end; gnn_walk_on(&walk))", runs_text(c), walker, c->w.kernel->walker_levels,
          walks_text(c), body_width(c));
}

static bool is_extreme(const CudaWriter *c) {
  const Fold fold = kernel_info[c->w.kernel->kind].fold;
  return fold != FOLD_NONE && fold != FOLD_SUM;
}

static const char *fold_name(const CudaWriter *c) { return fold_info[is_extreme(c) ? kernel_info[c->w.kernel->kind].fold : FOLD_SUM].name; }

/* "<gnn_fold_max>", behind the name of a function that folds; "" of sums, which are usual. */
static const char *fold_text(const CudaWriter *c) { return is_extreme(c) ? arena_printf(c->w.arena, "<gnn_fold_%s>", fold_name(c)) : ""; }

/* So many bytes of each part of the nodes lie side by side from `at` on, and are there of the rank's own: now of all. */
static void print_gathering(CudaWriter *c, const char *at, int64_t part_bytes) { add_call(c, arena_printf(c->w.arena, "gnn_cuda_gather_parts(g, %s, %" PRId64 ");\n", at, part_bytes)); }

/* The sums of all parts, in the scratch or where they waited, by their tree. */
static void print_sum_of_ranks(CudaWriter *c, int64_t width, const char *to) {
  StepWriter *w = &c->w;
  const char *sums = w->step->part ? argument_at_sums(w->arguments, ELEMENTS_REAL, &w->uses) : step_scratch(w);
  print_gathering(c, w->step->part ? argument_offset_of_sums(w->arguments) : argument_offset_of_scratch(w->arguments), 4 * width);
  print_call(c, "ranks", arena_printf(w->arena, "blocks_for(%" PRId64 ", %d)", width, CUDA_THREADS), arena_printf(w->arena, "gnn_sum_parts%s(%s, %d, %" PRId64 ", %s);", fold_text(c), sums, ranks(c)->part_levels, width, to));
}

/* What the walkers have goes to where the parts before it have left theirs, with the last part to the result. */
static void print_sum_of_walkers(CudaWriter *c) {
  StepWriter *w = &c->w;
  const int64_t width = body_width(c);
  const char *blocks = number(c, (width + SUM_NUMBERS - 1) / SUM_NUMBERS), *runs = runs_text(c), *scratch = walks_text(c);
  if (ranks(c) && w->step->part) {
    print_call(c, "sum", blocks, arena_printf(w->arena, "gnn_sum_finer_parts%s(g, %s, %d, %s, %" PRId64 ", %s);", fold_text(c), step_part(w), w->kernel->walker_levels, scratch, width, argument_at_sums(w->arguments, ELEMENTS_REAL, &w->uses)));
    if (w->step->part == w->step->parts->count) print_sum_of_ranks(c, width, step_to(w, w->kernel->anchor));
    return;
  }
  if (ranks(c)) {
    print_call(c, "sum", arena_printf(w->arena, "gnn_own_parts(g) * %s", blocks), arena_printf(w->arena, "gnn_sum_walkers_of_parts%s(%s, %d, %s, %" PRId64 ", %s + g->first_part * %" PRId64 ");", fold_text(c), runs, w->kernel->walker_levels, scratch, width, step_scratch(w), width));
    print_sum_of_ranks(c, width, step_to(w, w->kernel->anchor));
    return;
  }
  if (w->step->part == 0) {
    print_call(c, "sum", blocks, arena_printf(w->arena, "gnn_sum_walkers%s(%s, %d, %s, %" PRId64 ", %s);", fold_text(c), runs, w->kernel->walker_levels, scratch, width, step_to(w, w->kernel->anchor)));
    return;
  }
  const char *part = step_part(w), *sums = argument_at_sums(w->arguments, ELEMENTS_REAL, &w->uses);
  const char *to = w->step->part < w->step->parts->count ? "nullptr" : step_to(w, w->kernel->anchor);
  print_call(c, "sum", blocks, arena_printf(w->arena, "gnn_sum_part%s(%s, %d, %s, %" PRId64 ", %s - 1, %s, %s);", fold_text(c), runs, w->kernel->walker_levels, scratch, width, part, sums, to));
}

/* The threads of a block share the rows of a run by their place in it; their sums are added up by halving. */
static void emit_column_sum(CudaWriter *c) {
  StepWriter *w = &c->w;
  const Value *from = &w->graph->values[w->anchor->operand[0]];
  bool is_edge = domain_is_relation(from->shape.domain), is_one = body_width(c) == 1;
  Index into = write_operand(c, &from->shape, step_row_kind(from->shape.domain), (Spread){0});
  const Domain rows = is_edge ? domain_at(from->shape.domain, END_DST) : from->shape.domain;
  set_group(c, summand_width(c), rows_of_all(c, rows), is_edge ? rows_of_all(c, from->shape.domain) : 0);
  int group = c->lanes * c->slots;
  open_walk(c, 1);
  print_own(c);
  print_walk(c, "blockIdx.x");
  fprintf(w->out, " {\n");
  print_acc(c, "  ");
  if (is_extreme(c)) fprintf(w->out, "  for (gnn_real &one : acc) one = gnn_fold_%s::start();\n", fold_name(c));
  fprintf(w->out, "  const int64_t begin = %s, end = %s;\n", step_run_first(w, rows, 1, "walk.run"),
          step_run_first(w, rows, 1, "walk.run + 1"));
  if (is_edge) {
    open_edge_walk(c, &(EdgeWalk){w->operand->text[LEVEL_ROW], w->operand->uses});
    step_print_lines(w->out, "      ", w->operand->text[LEVEL_EDGE]);
    cuda_print_summands(w->operand, w->kernel->anchor, into, c->lanes, w->out, "      ");
    close_edge_walk(c, "gnn_walk_run", "edges->ptr, begin, end");
  } else {
    fprintf(w->out, "  for (int64_t r = begin + threadIdx.x / %d; r < end; r += %d) {\n", group, CUDA_THREADS / group);
    step_print_lines(w->out, "    ", w->operand->text[LEVEL_ROW]);
    cuda_print_summands(w->operand, w->kernel->anchor, into, c->lanes, w->out, "    ");
    fprintf(w->out, "  }\n");
  }
  if (is_one) {
    fprintf(w->out, "  acc[0] = gnn_block_fold<gnn_fold_%s, 1>(acc[0]);\n  if (threadIdx.x == 0) gnn_walk_add%s(&walk, 0, acc[0]);\n", fold_name(c), fold_text(c));
  } else {
    fprintf(w->out, "  GNN_UNROLL for (int block = 0; block < %" PRId64 "; block++) {\n    const int j = %d * block + lane;\n", cuda_sums(body_width(c), c->lanes), c->lanes);
    fprintf(w->out, "    acc[block] = gnn_block_fold<gnn_fold_%s, %d>(acc[block]);\n    if (threadIdx.x < %d && j < %" PRId64 ") gnn_walk_add%s(&walk, j, acc[block]);\n  }\n", fold_name(c), c->lanes, c->lanes,
            body_width(c), fold_text(c));
  }
  fprintf(w->out, "  }\n");
  close_kernel(c);
  print_sum_of_walkers(c);
}

static void emit_map(CudaWriter *c) {
  if (domain_is_relation(c->w.anchor->shape.domain)) {
    emit_edge_rows(c);
    return;
  }
  c->w.body = step_write_body(&c->w, NULL, NULL, any_spread);
  set_group(c, body_width(c), 1, 0);
  c->vector = cuda_vector(body_width(c), c->lanes, cuda_most_together(c->w.body, false));
  c->w.body = step_write_body(&c->w, NULL, NULL, spread_of(c));
  open_rows(c);
  print_body(c, ROW_WHOLE, 0, "    ");
  fprintf(c->w.out, "  }\n");
  close_kernel(c);
}

/* Rows of the rank, element by element. */
static void emit_columns(CudaWriter *c) {
  StepWriter *w = &c->w;
  const int columns = (int)body_width(c);
  const char *sent = argument_at_scratch(w->arguments, ELEMENTS_REAL, &w->uses), *own = step_to(w, w->kernel->anchor);
  step_write_columns(w, any_spread);
  set_group(c, shape_width(&w->graph->values[w->anchor->operand[0]].shape), 1, 0);
  step_write_columns(w, spread_of(c));
  open_plain(c, "rows", blocks_of(c, rows_text_of(c, DOMAIN_NODE, 1)));
  print_step_struct(c);
  print_own(c);
  const char *rows = device_range_of(c, DOMAIN_NODE, 1).end;
  fprintf(w->out, "  for (int64_t r = gnn_group<%d>(); r < %s; r += gnn_groups<%d>()) {\n    const gnn_columns_to<%d> to(g, r, %s, %s);\n", c->lanes, rows, c->lanes, columns, sent, own);
  print_body(c, ROW_WHOLE, 0, "    ");
  fprintf(w->out, "  }\n");
  close_kernel(c);
}

static void emit_back(CudaWriter *c) {
  StepWriter *w = &c->w;
  const int columns = (int)shape_width(&w->graph->values[w->anchor->operand[0]].shape);
  const char *sums = step_from(w, w->anchor->operand[0]), *to = step_to(w, w->kernel->anchor);
  print_call(c, "rows", arena_printf(w->arena, "blocks_for(%s, %d)", rows_text_of(c, DOMAIN_NODE, columns), CUDA_THREADS), arena_printf(w->arena, "gnn_columns_stay<%d>(g, %s, %d, %s);", columns, sums, exchange_holders(w->kernels, w->kernel), to));
}

static void emit_beside(CudaWriter *c) {
  StepWriter *w = &c->w;
  const Value *sums = &w->graph->values[w->graph->values[w->anchor->operand[0]].operand[0]];
  const char *back = step_from(w, w->anchor->operand[0]), *to = step_to(w, w->kernel->anchor);
  print_call(c, "rows", arena_printf(w->arena, "blocks_for(%s, %d)", rows_text_of(c, DOMAIN_NODE, body_width(c)), CUDA_THREADS),
             arena_printf(w->arena, "gnn_columns_join<%d>(g, %s, %" PRId64 ", %" PRId64 ", %s);", (int)shape_width(&sums->shape), back, body_width(c), kernels_row_stride(w->kernels, w->kernel->anchor), to));
}

/* Each lane has elements of the row, and finds whose they are. */
static void emit_concat(CudaWriter *c) {
  StepWriter *w = &c->w;
  const Shape *shape = &w->anchor->shape;
  const int axis = w->anchor->as.part.axis;
  int64_t lead = 1, within = 1, end = 0;
  for (int d = 0; d < shape->rank; d++) *(d < axis ? &lead : &within) *= d == axis ? 1 : shape->size[d];
  const int64_t word = shape->element == ELEMENT_BIT ? 32 : 1, width = (body_width(c) + word - 1) / word; /* all but the last have whole words of bits (cut.c) */
  const char *choice = "";
  for (int k = 0; k < w->anchor->operand_count; k++) {
    const ValueId id = w->anchor->operand[k];
    const int64_t size = (w->graph->values[id].shape.size[axis] * within + word - 1) / word, begin = end;
    end += size;
    double constant;
    const char *number;
    if (graph_constant(w->graph, id, &constant)) number = emit_real(w->arena, constant);
    else {
      const char *from = step_from(w, id);
      number = rows_loaded(w->kernels, id, arena_printf(w->arena, "%s[r * %" PRId64 " + turn * %" PRId64 " + k - %" PRId64 "]", from, kernels_row_stride(w->kernels, id), size, begin));
    }
    choice = k + 1 < w->anchor->operand_count ? arena_printf(w->arena, "%sk < %" PRId64 " ? %s : ", choice, end, number) : arena_printf(w->arena, "%s%s", choice, number);
  }
  set_group(c, width, 1, 0);
  open_rows(c);
  const char *to = step_to(w, w->kernel->anchor);
  fprintf(w->out, "    for (int j = own; j < %" PRId64 "; j += %d) {\n      [[maybe_unused]] const int turn = j / %" PRId64 ", k = j %% %" PRId64 ";\n", width, c->lanes, width / lead, width / lead);
  fprintf(w->out, "      %s[r * %" PRId64 " + j] = %s;\n    }\n  }\n", to, kernels_row_stride(w->kernels, w->kernel->anchor), rows_rounded(w->kernels, w->kernel->anchor, choice));
  close_kernel(c);
}

/* ---- products ---- */

static const char *transpose_blocks(const CudaWriter *c, int64_t rows, int64_t cols) {
  int64_t down = (rows + TRANSPOSE_TILE - 1) / TRANSPOSE_TILE, across = (cols + TRANSPOSE_TILE - 1) / TRANSPOSE_TILE;
  return number(c, down * across);
}

static void print_transpose(CudaWriter *c, const char *from, int64_t rows, int64_t cols, const char *to) {
  print_call(c, "transpose", transpose_blocks(c, rows, cols),
             arena_printf(c->w.arena, "gnn_transpose(%s, %" PRId64 ", %" PRId64 ", %s);", from, rows, cols, to));
}

static int64_t tiles_of(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

/* ---- libraries ---- */

static const char *place_of(const StepWriter *w, ValueId value) { return argument_offset_of_value(w->arguments, value, false); }

/* Where the rows of the step begin, of a value with `lead` rows of a product in each of its own. */
static const char *place_of_rows(CudaWriter *c, ValueId value) {
  const StepWriter *w = &c->w;
  const int64_t row_bytes = kernels_row_stride(w->kernels, value) * (kernels_is_half(w->kernels, value) ? 2 : 4);
  if (w->step->part == 0) return place_of(w, value);
  return arena_printf(w->arena, "%s + %s * %" PRId64, place_of(w, value), host_range(c, 1).begin, row_bytes);
}

/* From a row of a product's operand to the next; where a row of the value has several of them they lie side by side. */
static int64_t stride_of_factor(const StepWriter *w, int operand, int64_t width) {
  return w->anchor->as.product.lead > 1 ? width : kernels_row_stride(w->kernels, w->anchor->operand[operand]);
}

/* What a library is told of padded rows: ".stride_a = 48, "; of others nothing. */
static const char *stride_text(Arena *arena, const Kernels *kernels, const char *member, ValueId value) {
  const int64_t stride = kernels_row_stride(kernels, value);
  return stride == shape_width(&kernels->graph->values[value].shape) ? "" : arena_printf(arena, ".%s = %" PRId64 ", ", member, stride);
}

/* What of a call of cuBLASLt its algorithm follows from. */
static const char *gemm_sizes(Arena *arena, const Kernels *kernels, const Kernel *kernel) {
  static const char *const precisions[PRECISION_COUNT] = {"GNN_IN_FP32", "GNN_IN_TF32", "GNN_IN_BF16"};
  const Value *anchor = &kernels->graph->values[kernel->anchor];
  const struct Contraction p = anchor->as.product;
  const char *precision = kernels_is_half(kernels, anchor->operand[0]) ? "GNN_OF_BF16" : precisions[kernels->precision];
  const int64_t stride = library_matrix_stride(kernels, kernel);
  const char *strides = arena_printf(arena, "%s%s%s", stride_text(arena, kernels, "stride_a", anchor->operand[0]),
                                     stride == (p.transposed ? p.depth : p.width) ? "" : arena_printf(arena, ".stride_b = %" PRId64 ", ", stride),
                                     stride_text(arena, kernels, "stride_c", kernel->epilogue.place));
  const DataInfo *info = kernels->graph->program->info;
  const char *rows = emit_row_count(arena, info, anchor->shape.domain, p.lead);
  if (info->is_of_rank) rows = arena_printf(arena, "INT64_C(%" PRId64 ")", p.lead * typed_rows(info->of_all, anchor->shape.domain == DOMAIN_OTHERS ? DOMAIN_NODE : anchor->shape.domain)); /* as in one process */
  return arena_printf(arena, ".m = %s, .n = %" PRId64 ", .k = %" PRId64 ", %s.transpose_b = %d, .is_relu = %d, .is_half = %d, .precision = %s",
                      rows, p.width, p.depth, strides, p.transposed, kernel->epilogue.is_relu, kernels_is_half(kernels, kernel->epilogue.place), precision);
}

/* What is left of the body, row by row. */
static void print_rest(CudaWriter *c) {
  StepWriter *w = &c->w;
  if (w->kernel->epilogue.body_count == w->kernel->body_count) return;
  w->body = step_write_rest(w, any_spread);
  set_group(c, body_width(c), 1, 0);
  c->vector = cuda_vector(body_width(c), c->lanes, cuda_most_together(w->body, false));
  w->body = step_write_rest(w, spread_of(c));
  open_rows(c);
  print_body(c, ROW_WHOLE, 0, "    ");
  fprintf(w->out, "  }\n");
  close_kernel(c);
}

/* `at` bytes into the scratch, as the factors of the product are kept. */
static const char *factor_at(CudaWriter *c, int64_t at) {
  const bool is_half = kernels_is_half(c->w.kernels, c->w.anchor->operand[0]);
  return arena_printf(c->w.arena, "%s + %" PRId64, argument_at_scratch(c->w.arguments, is_half ? ELEMENTS_HALF : ELEMENTS_REAL, &c->w.uses), at / (is_half ? 2 : 4));
}

/* A weight as the factors of the product are kept, in rows of `width` numbers `stride` apart, `at` bytes into the scratch; where it is then. */
static const char *print_copy(CudaWriter *c, const char *suffix, ValueId weight, int64_t width, int64_t stride, int64_t at) {
  StepWriter *w = &c->w;
  int64_t count = shape_width(&w->graph->values[weight].shape);
  const char *from = step_from(w, weight);
  print_call(c, suffix, arena_printf(w->arena, "blocks_for(%" PRId64 ", %d)", count, CUDA_THREADS),
             arena_printf(w->arena, "gnn_put_rows(%s, %" PRId64 ", %" PRId64 ", %s, %" PRId64 ");", from, count / width, width, factor_at(c, at), stride));
  return arena_printf(w->arena, "%s + %" PRId64, argument_offset_of_scratch(w->arguments), at);
}

static const char *or_null(const CudaWriter *c, ValueId id, const char *at) {
  return id == NO_VALUE ? arena_printf(c->w.arena, "(const %s *)nullptr", rows_type(c->w.kernels, c->w.kernel->epilogue.place)) : at;
}

/* Where cuBLASLt has no algorithm, a kernel of our own does what it was asked for (kernels/cuda/gemm.cuh). */
static const char *print_own_product(CudaWriter *c, const char *matrix, const char *bias) {
  StepWriter *w = &c->w;
  const struct Contraction p = w->anchor->as.product;
  const Epilogue *e = &w->kernel->epilogue;
  const int high = OWN_ROWS, columns = p.width <= OWN_NARROW ? OWN_NARROW : OWN_COLUMNS;
  const char *kernel = open_uncalled(c, "product");
  const RowRange rows = device_range(c, p.lead);
  const char *left = step_from(w, w->anchor->operand[0]), *addend = or_null(c, e->addend, e->addend == NO_VALUE ? NULL : step_from(w, e->addend));
  const int64_t left_stride = stride_of_factor(w, 0, p.depth), stride = p.lead > 1 ? p.width : kernels_row_stride(w->kernels, e->place);
  fprintf(w->out, "  gnn_product<%d, %d, %s>(%s, %" PRId64 ", %s, %" PRId64 ", %s, %s, %s, %s, %" PRId64 ", %s, %s, %" PRId64 ", %" PRId64 ");\n", high, columns, p.transposed ? "true" : "false",
          left, left_stride, matrix, library_matrix_stride(w->kernels, w->kernel), or_null(c, e->bias, bias), addend, e->is_relu ? "true" : "false", step_to(w, e->place), stride, rows.begin, rows.end, p.depth, p.width);
  close_kernel(c);
  return arena_printf(w->arena, "  gnn_launch(g, KERNEL_%s, parts_of(%s, %d) * %" PRId64 ", %d, 0, &at);", kernel, rows_text(c, p.lead), high, tiles_of(p.width, columns), CUDA_THREADS);
}

static void emit_library_matmul(CudaWriter *c) {
  StepWriter *w = &c->w;
  const Epilogue *e = &w->kernel->epilogue;
  const struct Contraction p = w->anchor->as.product;
  const ValueId weight = w->anchor->operand[1];
  const int64_t matrix_bytes = library_matrix_bytes(w->kernels, w->kernel), bias_bytes = library_bias_bytes(w->kernels, w->kernel);
  const int64_t stride = library_matrix_stride(w->kernels, w->kernel), matrix_width = p.transposed ? p.depth : p.width;
  const char *matrix = matrix_bytes ? print_copy(c, "matrix", weight, matrix_width, stride, 0) : place_of(w, weight);
  const char *bias = e->bias == NO_VALUE ? "-1" : bias_bytes ? print_copy(c, "bias", e->bias, p.width, p.width, matrix_bytes) : place_of(w, e->bias);
  const char *addend = e->addend == NO_VALUE ? "-1" : place_of_rows(c, e->addend);
  const char *left = place_of_rows(c, w->anchor->operand[0]), *to = place_of_rows(c, e->place);
  const char *rows = w->step->part || ranks(c) ? arena_printf(w->arena, ".rows = %s, ", rows_text(c, p.lead)) : "";
  const char *has_rows = ranks(c) ? arena_printf(w->arena, "%s > 0 && ", rows_text(c, 1)) : "";
  const char *own_matrix = matrix_bytes ? factor_at(c, 0) : step_from(w, weight);
  const char *own = print_own_product(c, own_matrix, e->bias == NO_VALUE ? NULL : bias_bytes ? factor_at(c, matrix_bytes) : step_from(w, e->bias));
  add_call(c, arena_printf(w->arena, "if (%s!gnn_cuda_gemm(g, &(gnn_gemm_desc){%s,\n                                  %s.at_a = %s, .at_b = %s, .at_c = %s,\n"
                                     "                                  .at_bias = %s, .at_addend = %s}))\n%s\n",
                           has_rows, gemm_sizes(w->arena, w->kernels, w->kernel), rows, left, matrix, to, bias, addend, own));
  print_rest(c);
}

static void print_preparation(Arena *arena, const char *desc, const char *loop, NameTable *known, FILE *out) {
  if (name_table_find(known, desc) >= 0) return;
  name_table_add(arena, known, desc, 0);
  fprintf(out, "  %sgnn_cuda_prepare_gemm(g, &(gnn_gemm_desc){%s});\n", loop, desc);
}

/* Once for each kind of product; its algorithm is looked for, and where there is none, or it is none for the rows of a part, that is said. */
void cuda_print_products(const Emission *m, const Plan *plan, NameTable *known, FILE *out) {
  Arena *arena = m->arena;
  const Kernels *kernels = plan ? plan->problem->kernels : NULL;
  for (int i = 0; kernels && i < kernels->kernel_count; i++) {
    const Kernel *kernel = &kernels->kernels[i];
    const Parts *parts = plan->problem->parts;
    if (kernel->library != LIBRARY_CUBLASLT) continue;
    const char *desc = arena_printf(arena, "%s, .at_bias = %d", gemm_sizes(arena, kernels, kernel), kernel->epilogue.bias == NO_VALUE ? -1 : 0);
    print_preparation(arena, desc, "", known, out);
    const Value *product = &kernels->graph->values[kernel->anchor];
    const bool is_of_rank = kernels->graph->program->info->is_of_rank, is_by_parts = parts->is_by_parts[i];
    if (is_of_rank && !is_by_parts) {
      const char *own = emit_row_count(arena, kernels->graph->program->info, product->shape.domain, product->as.product.lead);
      print_preparation(arena, arena_printf(arena, "%s, .rows = %s", desc, own), arena_printf(arena, "if (%s > 0) ", own), known, out);
    }
    if (!is_by_parts) continue;
    const int64_t lead = product->as.product.lead;
    const char *one = arena_printf(arena, "%s - %s", host_part_row(m, product->shape.domain, "part"), host_part_row(m, product->shape.domain, "part - 1"));
    const char *rows = lead == 1 ? one : arena_printf(arena, "(%s) * %" PRId64, one, lead);
    print_preparation(arena, arena_printf(arena, "%s, .rows = %s", desc, rows),
                      arena_printf(arena, "for (int part = 1; part <= %d; part++)\n    %s", parts->count, is_of_rank ? arena_printf(arena, "if (%s > 0) ", one) : ""), known, out);
  }
}

static void emit_library_spmm(CudaWriter *c) {
  const StepWriter *w = &c->w;
  const Layout *y = w->emission->layout;
  const Residents *residents = y->residents;
  int is_out = w->anchor->as.end == END_SRC && !residents->sets[EDGES_OF_GRAPH].is_symmetric;
  int64_t width = body_width(c);
  int buffer = residents_spmm_buffer(residents, is_out, width);
  const ValueId gathered = w->graph->values[w->anchor->operand[0]].operand[0], place = w->kernel->epilogue.place;
  add_call(c, arena_printf(w->arena, "gnn_cuda_spmm(g, &(gnn_spmm_desc){.is_out = %d, .width = %" PRId64 ", %s.at_x = %s, .at_y = %s,\n"
                                     "                                  .at_ones = AT_%s, .at_offsets = AT_%s,\n"
                                     "                                  .at_buffer = AT_%s, .buffer_bytes = %" PRId64 "});\n",
                           is_out, width, stride_text(w->arena, w->kernels, "stride", gathered), place_of(w, gathered), place_of(w, place),
                           y->blocks[residents->spmm_ones].name, y->blocks[residents->spmm_offsets[is_out]].name, y->blocks[buffer].name, y->blocks[buffer].bytes));
  print_rest(c);
}

/* A tile of the product a block; its rows go round the warps for the body. Rows of a product with more than one row to a
 * row of the value are stored as they come. */
static void emit_matmul(CudaWriter *c) {
  StepWriter *w = &c->w;
  const struct Contraction p = w->anchor->as.product;
  int high = w->kernel->variant.tile_rows, columns = w->kernel->variant.tile_columns;
  int64_t across = tiles_of(p.width, columns);
  c->lanes = CUDA_WARP;
  w->body = step_write_body(w, "acc", NULL, any_spread);
  if (w->body->loop_count > 0)
    w->body = step_write_body(w, "acc", w->body->loop_count == 1 ? "j - column" : "element - column", any_spread);
  if (p.lead > 1) {
    w->body->text[LEVEL_ROW] = arena_printf(w->arena, "%s *restrict to = %s + r * %" PRId64 ";\n", rows_type(w->kernels, w->kernel->anchor),
                                            step_to(w, w->kernel->anchor), p.width);
    w->body->text[LEVEL_ELEMENT] = arena_printf(w->arena, "to[j] = %s;\n", rows_rounded(w->kernels, w->kernel->anchor, "acc[j - column]"));
    w->body->loop_count = 1;
    w->body->loop_size[0] = p.width;
  }
  open_plain(c, "rows", arena_printf(w->arena, "parts_of(%s, %d) * %" PRId64, rows_text(c, p.lead), high, across));
  print_step_struct(c);
  print_own(c);
  const RowRange rows = device_range(c, p.lead);
  fprintf(w->out, "  __shared__ gnn_gemm_tile<%d, %d> tile;\n", high, columns);
  fprintf(w->out, "  const int64_t row = %s(int64_t)blockIdx.x / %" PRId64 " * %d;\n", from_begin(c, rows), across, high);
  fprintf(w->out, "  const int column = (int)(blockIdx.x %% %" PRId64 ") * %d;\n", across, columns);
  const char *left = step_from(w, w->anchor->operand[0]), *right = step_from(w, w->anchor->operand[1]);
  fprintf(w->out, "  gnn_gemm<%d, %d, false, %s>(%s, %" PRId64 ", %s, %" PRId64 ", %s, %" PRId64 ", row, column, 0, %" PRId64 ", &tile);\n", high,
          columns, p.transposed ? "true" : "false", left, stride_of_factor(w, 0, p.depth), right,
          p.transposed ? p.depth : p.width, rows.end, p.width, p.depth);
  fprintf(w->out, "  for (int64_t r = row + threadIdx.x / %d; r < gnn_min(row + %d, %s); r += %d) {\n", CUDA_WARP, high, rows.end, CUDA_THREADS / CUDA_WARP);
  fprintf(w->out, "    const gnn_real *acc = tile.c[r - row];\n");
  print_body(c, ROW_TILE, columns, "    ");
  fprintf(w->out, "  }\n");
  close_kernel(c);
}

/* A tile of the gradient a block. A product over edges or over parts of rows: each run has those of its nodes. One without rows of the
 * data is a single run. */
static void emit_outer(CudaWriter *c) {
  StepWriter *w = &c->w;
  const struct Contraction p = w->anchor->as.product;
  Domain domain = w->graph->values[w->anchor->operand[0]].shape.domain;
  int tile = w->kernel->variant.tile_rows;
  int64_t down = tiles_of(p.depth, tile), across = tiles_of(p.width, tile);
  bool has_rows = domain != DOMAIN_NONE;
  const char *begin = has_rows ? step_run_first(w, domain, p.lead, "walk.run") : "0", *end = has_rows ? step_run_first(w, domain, p.lead, "walk.run + 1") : number(c, p.lead);
  if (has_rows) open_walk(c, down * across);
  else open_plain(c, "walk", number(c, down * across));
  fprintf(w->out, "  const int64_t row = (int64_t)blockIdx.x / %" PRId64 " %% %" PRId64 " * %d, column = (int64_t)blockIdx.x %% %" PRId64 " * %d;\n", across, down,
          tile, across, tile);
  if (has_rows) print_walk(c, arena_printf(w->arena, "blockIdx.x / %" PRId64, down * across));
  else fprintf(w->out, "  const gnn_walk walk = {0, 1, 0, %" PRId64 ", %s};", p.depth * p.width, step_to(w, w->kernel->anchor));
  const char *left = step_from(w, w->anchor->operand[0]), *right = step_from(w, w->anchor->operand[1]);
  fprintf(w->out, "\n%s  gnn_outer_run<%d>(%s, %" PRId64 ", %s, %" PRId64 ", %" PRId64 ", %" PRId64 ", row, column, %s, %s, &walk);\n", has_rows ? "  " : "", tile, left,
          stride_of_factor(w, 0, p.depth), right, stride_of_factor(w, 1, p.width), p.depth, p.width, begin, end);
  close_kernel(c);
  if (has_rows) print_sum_of_walkers(c);
}

/* Rows of a constant sparse matrix, or of its transpose, times a dense one; each entry is its value times the factor
 * that a dense dropout gives the element. */
typedef struct SparseProduct {
  int slot;               /* of the field */
  const RowRange *columns;  /* where the loop goes over them; else NULL */
  const char *dense;        /* where the dense matrix lies */
  int64_t stride;           /* of its rows */
  bool is_half;             /* it is bf16 */
  int64_t width, row_count; /* of the dense matrix; of the loop, as planned */
  int64_t entries;
} SparseProduct;

/* Before anything of it is written; the body is as for any spread. */
static void set_sparse_group(CudaWriter *c, const SparseProduct *p) {
  set_group(c, p->width, p->row_count, p->entries);
  c->vector = cuda_vector(p->width, c->lanes, rows_alignment(p->stride, p->is_half) / (p->is_half ? 2 : 4));
}

static void print_sparse_product(CudaWriter *c, const SparseProduct *p) {
  const char *axis = p->columns ? "column" : "row", *factor = "";
  RowWriter *operand = rows_new(c->w.arguments, &c->w.anchor->shape);
  Arena *arena = c->w.arena;
  if (c->drop) {
    const bool is_ordered = program_of(c)->data->recipe.order != ORDER_GIVEN || ranks(c);
    const char *row = p->columns ? "edges->idx[i]" : "r", *drawn = is_ordered ? arena_printf(arena, "%s[%s]", argument_at_node_ids(c->w.arguments, &c->w.uses), row) : row;
    if (!p->columns) operand->text[LEVEL_ROW] = arena_printf(arena, "const gnn_row_bits bits = gnn_random_row(s->drop.key, (uint64_t)%s);\n", drawn);
    factor = p->columns ? arena_printf(arena, " * gnn_dropout_factor(&s->drop, gnn_random_row(s->drop.key, (uint32_t)%s), (uint32_t)r)", drawn)
                             : " * gnn_dropout_factor(&s->drop, bits, (uint32_t)edges->idx[i])";
  }
  const bool is_one = p->width == 1;
  unsigned uses = 0; /* the step is mentioned in any case */
  const ValueId idx = kernels_entries(c->w.kernels, c->w.kernel, false), numbers = kernels_entries(c->w.kernels, c->w.kernel, true);
  const ValueId offsets = kernels_entry_offsets(c->w.kernels, c->w.kernel);
  c->idx = idx == NO_VALUE ? NULL : argument_at_labels(c->w.arguments, idx, &uses);
  c->ptr = offsets == NO_VALUE ? NULL : argument_at_offsets(c->w.arguments, offsets, &uses);
  const char *values = numbers == NO_VALUE ? arena_printf(arena, "g->sparse[%d].%s_value", p->slot, axis) : step_from(&c->w, numbers);
  operand->text[LEVEL_EDGE] = arena_printf(arena, "const %s *restrict x = %s%s + edges->idx[i] * INT64_C(%" PRId64 ");\n"
                                                  "const gnn_real value = %s[i]%s;\n",
                                           p->is_half ? "gnn_half" : "gnn_real", p->dense, is_one ? "" : " + own", p->stride, values, factor);
  operand->loop_count = !is_one;
  operand->loop_size[0] = p->width;
  operand->spread = spread_of(c);
  const char *sum = is_one ? "acc[0]" : arena_printf(arena, "acc[%s]", own_number(c));
  const char *element = is_one ? (p->is_half ? "gnn_number(x[0])" : "x[0]") : rows_own_number(operand, &(OwnElements){"x", "own_x", p->stride, p->is_half}, true);
  operand->text[LEVEL_ELEMENT] = arena_printf(arena, "%s = gnn_fma(value, %s, %s);\n", sum, element, sum);
  print_row_sums(c, arena_printf(arena, "g->sparse[%d].by_%s", p->slot, axis), p->columns, p->width, operand, false);
}

static void emit_sparse_matmul(CudaWriter *c) {
  StepWriter *w = &c->w;
  const struct Contraction p = w->anchor->as.product;
  ValueId dropout;
  int32_t field = graph_sparse_field(w->graph, w->emission->is_sparse_field, w->anchor->operand[0], &dropout);
  const char *matrix = step_from(w, w->anchor->operand[1]), *dense = p.transposed ? step_scratch(w) : matrix;
  c->drop = step_sparse_dropout(w, dropout);
  if (p.transposed) print_transpose(c, matrix, p.width, p.depth, dense);
  const SparseProduct product = {step_sparse_slot(w, field), NULL, dense, p.width, false, p.width, rows_of_all(c, DOMAIN_NODE), nonzeros_of_all(c, field)};
  w->body = step_write_body(w, "acc", "block", any_spread);
  set_sparse_group(c, &product);
  w->body = step_write_body(w, "acc", own_number(c), spread_of(c));
  print_sparse_product(c, &product);
}

static void emit_sparse_outer(CudaWriter *c) {
  StepWriter *w = &c->w;
  const struct Contraction p = w->anchor->as.product;
  const int side = graph_sparse_side(w->graph, w->emission->is_sparse_field, w->kernel->anchor);
  const bool is_left = side == 0;
  ValueId dropout;
  const int32_t field = graph_sparse_field(w->graph, w->emission->is_sparse_field, w->anchor->operand[side], &dropout);
  int64_t columns = is_left ? p.depth : p.width, width = is_left ? p.width : p.depth;
  const bool is_turning = !is_left && w->step->part == (w->step->part ? w->step->parts->count : 0);
  const char *result = is_left || is_turning ? step_to(w, w->kernel->anchor) : NULL;
  const char *to = ranks(c) ? arena_printf(w->arena, "%s + (g->first_part + part) * %" PRId64, step_scratch(w), columns * width) : is_left ? result : w->step->part ? argument_at_sums(w->arguments, ELEMENTS_REAL, &w->uses) : step_scratch(w);
  const RowRange range = w->step->part ? (RowRange){"first_column", "end_column"} : (RowRange){"0", number(c, columns)};
  if (w->step->part) step_columns(w, field);
  c->drop = step_sparse_dropout(w, dropout);
  ValueId dense = w->anchor->operand[is_left ? 1 : 0];
  const bool is_half = kernels_is_half(w->kernels, dense);
  const char *piece = !step_gathers(w->step, dense) ? NULL : arena_printf(w->arena, "gnn_at(g, %s[%s])", argument_at_pieces(w->arguments, dense, false, &w->uses), step_part_of(w, "edges->idx[i]"));
  const char *from = !piece ? step_from(w, dense) : is_half ? arena_printf(w->arena, "(const gnn_half *)(const void *)%s", piece) : piece;
  const SparseProduct product = {step_sparse_slot(w, field), &range, from, kernels_row_stride(w->kernels, dense), is_half,
                                 width, columns, nonzeros_of_all(c, field)};
  set_sparse_group(c, &product);
  RowWriter *store = rows_new(w->arguments, &w->anchor->shape);
  store->text[LEVEL_ROW] = arena_printf(w->arena, "gnn_real *restrict to = %s + %sr * %" PRId64 ";\n%s", to, width == 1 ? "" : "own + ", width, width == 1 ? "to[0] = acc[0];\n" : "");
  store->loop_count = width > 1;
  store->loop_size[0] = width;
  store->spread = spread_of(c);
  if (width > 1) rows_own_store(store, &(OwnElements){"to", "own_to", width, false}, arena_printf(w->arena, "acc[%s]", own_number(c)));
  w->body = store;
  print_sparse_product(c, &product);
  if (ranks(c)) print_sum_of_ranks(c, columns * width, is_left ? result : step_scratch(w));
  if (is_turning) print_transpose(c, ranks(c) ? step_scratch(w) : to, columns, width, result);
}

/* ---- loss and update ---- */

enum { LOSS_WARPS = 4096 /* that a long list has work for at least: half of what a large GPU has room for */ };

LossRows cuda_loss_rows(int64_t classes, int64_t rows) {
  LossRows l = {.lanes = classes <= 8 ? 8 : classes <= 64 ? 16 : CUDA_WARP, .each = 1};
  while (l.each < l.lanes && rows / (CUDA_WARP / l.lanes * l.each * 2) >= LOSS_WARPS) l.each *= 2;
  l.a_block = CUDA_THREADS / l.lanes * l.each;
  return l;
}

static int64_t train_rows(const CudaWriter *c) { return program_of(c)->info->split_count[SPLIT_TRAIN]; }

static const char *labels_of(StepWriter *w) {
  const ValueId labels = w->anchor->operand[1];
  return w->graph->values[labels].shape.element == ELEMENT_LABEL ? argument_at_labels(w->arguments, labels, &w->uses) : argument_at_value(w->arguments, labels, false, &w->uses);
}

/* The loss as an argument, and what lies where. */
static const char *loss_text(const StepWriter *w) {
  const TrainSpec *t = &w->emission->program->train;
  return arena_printf(w->arena, "gnn_loss_of<GNN_LOSS_%s, %s>{%.17g, %.17g, %.17g, %s}", loss_enumerators[t->loss],
                      w->graph->values[w->anchor->operand[1]].shape.element == ELEMENT_LABEL ? "true" : "false", t->smoothing, t->delta, t->pos_weight,
                      t->class_weights ? "class_weights" : "nullptr");
}

static int64_t label_stride(const StepWriter *w) {
  const ValueId labels = w->anchor->operand[1];
  return w->graph->values[labels].shape.element == ELEMENT_LABEL ? 1 : kernels_row_stride(w->kernels, labels);
}

/* The training rows of the step: of the list, where it begins and how many they are. */
typedef struct TrainRows {
  const char *lines; /* before that, of a kernel */
  const char *list, *count;
  const char *first, *sought, *sought_count, *before; /* in which the places of a block are sought, with lines before that; the first of these is so much behind the step's */
} TrainRows;

static TrainRows train_rows_of_step(CudaWriter *c) {
  StepWriter *w = &c->w;
  const StepRows rows = step_train_rows(w);
  if (w->step->part == 0 || w->graph->split_rows[SPLIT_TRAIN] != NO_VALUE) return (TrainRows){"", rows.list, rows.count, "", rows.list, rows.count, ""};
  const char *part = step_part(w), *entry = "gnn_entry_of(g->rows[GNN_TRAIN], 0, g->row_count[GNN_TRAIN], ";
  const char *begin = emit_part_row(w->emission, arena_printf(w->arena, "(%s - 1)", part)), *end = emit_part_row(w->emission, part);
  return (TrainRows){arena_printf(w->arena, "const int64_t first = %s%s), count = %s%s) - first;\n  ", entry, begin, entry, end),
                     "g->rows[GNN_TRAIN] + first", "count", arena_printf(w->arena, "const int64_t first = %s%s);\n  ", entry, begin), rows.list, rows.count, " - first"};
}

/* Of a list of at most so many rows, `each` to a block of threads. */
static const char *blocks_of_train_rows(CudaWriter *c, int each) {
  const char *count = c->w.step->part ? arena_printf(c->w.arena, "gnn_min(g->row_count[GNN_TRAIN], %s)", rows_text(c, 1)) : "g->row_count[GNN_TRAIN]";
  return arena_printf(c->w.arena, "blocks_for(%s, %d)", count, each);
}

/* The loss of each row lies in the scratch, behind them those of the canonical blocks, which the parts of the nodes leave to the last of them. */
static void emit_cross_entropy(CudaWriter *c) {
  StepWriter *w = &c->w;
  const int part = w->step->part;
  int64_t classes = shape_width(&w->graph->values[w->anchor->operand[0]].shape);
  const LossRows l = cuda_loss_rows(classes, train_rows(c));
  const char *scores = step_from(w, w->anchor->operand[0]), *labels = labels_of(w);
  const char *losses = argument_at_scratch(w->arguments, ELEMENTS_DOUBLE, &w->uses);
  const char *sums = part ? argument_at_sums(w->arguments, ELEMENTS_DOUBLE, &w->uses) : arena_printf(w->arena, "%s + g->row_count[GNN_TRAIN]", losses);
  const int64_t stride = kernels_row_stride(w->kernels, w->anchor->operand[0]);
  const TrainRows rows = train_rows_of_step(c);
  if (!loss_is_plain(&w->emission->program->train))
    print_call(c, "rows", blocks_of_train_rows(c, CUDA_THREADS / l.lanes),
               arena_printf(w->arena, "%sgnn_loss_rows<%d>(%s, %s, %" PRId64 ", %" PRId64 ", %s, %" PRId64 ", %s, %s, %s);", rows.lines, l.lanes,
                            loss_text(w), scores, stride, classes, labels, label_stride(w), rows.list, rows.count, losses));
  else
    print_call(c, "rows", blocks_of_train_rows(c, l.a_block),
               arena_printf(w->arena, "%sgnn_cross_entropy_rows<%d, %d>(%s, %" PRId64 ", %" PRId64 ", %s, %s, %s, %s);", rows.lines, l.lanes, l.each, scores,
                            stride, classes, labels, rows.list, rows.count, losses));
  const bool is_of_nodes = w->graph->values[w->anchor->operand[0]].shape.domain == DOMAIN_NODE;
  const int each = ranks(c) ? blocks_of_part_of_rank(ranks(c)) : 0;
  const char *own_sums = ranks(c) ? arena_printf(w->arena, "%s + g->first_part * %d", sums, each) : sums;
  const int of_own = part && ranks(c) ? each >> w->step->parts->finer : each; /* blocks */
  const char *first = !part ? "0" : ranks(c) ? arena_printf(w->arena, "gnn_parts_before(g, %s - 1) * %d", step_part(w), of_own) : arena_printf(w->arena, "(%s - 1) * %" PRId64, step_part(w), step_blocks_of_part(w));
  print_call(c, "blocks", ranks(c) ? arena_printf(w->arena, "%s * %d", own_parts_text(c), of_own) : part ? number(c, step_blocks_of_part(w)) : "INT64_C(1) << g->blocks.levels",
             arena_printf(w->arena, "%sgnn_cross_entropy_block%s(%s%s, %s, %s, &g->blocks, %s, %s);", rows.first, is_of_nodes ? "" : "<false>", losses, rows.before, rows.sought, rows.sought_count, first, own_sums));
  if (part && part < w->step->parts->count) return;
  if (ranks(c)) print_gathering(c, part ? argument_offset_of_sums(w->arguments) : arena_printf(w->arena, "%s + g->row_count[GNN_TRAIN] * 8", argument_offset_of_scratch(w->arguments)), 8 * each);
  open_kernel(c, "mean", "1", "gnn_view *g");
  fprintf(w->out, "  gnn_cross_entropy_mean(%s, &g->blocks, g->row_weight[GNN_TRAIN], &g->loss);\n", sums);
  close_kernel(c);
}

static void emit_cross_entropy_gradient(CudaWriter *c) {
  StepWriter *w = &c->w;
  const int64_t classes = body_width(c), stride = kernels_row_stride(w->kernels, w->kernel->anchor), scores_stride = kernels_row_stride(w->kernels, w->anchor->operand[0]);
  const int lanes = cuda_loss_rows(classes, train_rows(c)).lanes;
  const char *scores = step_from(w, w->anchor->operand[0]), *labels = labels_of(w);
  const char *gradient = step_to(w, w->kernel->anchor);
  open_plain(c, "zero", arena_printf(w->arena, "blocks_for(%s * %" PRId64 ", %d)", rows_text(c, 1), stride, CUDA_THREADS));
  const RowRange range = device_range(c, 1);
  fprintf(w->out, "  gnn_zero(%s, %s * %" PRId64 ", %s * %" PRId64 ");\n", gradient, range.begin, stride, range.end, stride);
  close_kernel(c);
  const TrainRows rows = train_rows_of_step(c);
  if (!loss_is_plain(&w->emission->program->train))
    print_call(c, "rows", blocks_of_train_rows(c, CUDA_THREADS / lanes),
               arena_printf(w->arena, "%sgnn_loss_gradient<%d>(%s, %s, %" PRId64 ", %" PRId64 ", %s, %" PRId64 ", %s, %s, g->row_weight[GNN_TRAIN], %s, %" PRId64 ");",
                            rows.lines, lanes, loss_text(w), scores, scores_stride, classes, labels, label_stride(w), rows.list, rows.count, gradient, stride));
  else
    print_call(c, "rows", blocks_of_train_rows(c, CUDA_THREADS / lanes),
               arena_printf(w->arena, "%sgnn_cross_entropy_gradient<%d>(%s, %" PRId64 ", %" PRId64 ", %s, %s, %s, %s, %s, %" PRId64 ");", rows.lines, lanes,
                            scores, scores_stride, classes, labels, rows.list, rows.count, ranks(c) ? "(int64_t)g->row_weight[GNN_TRAIN]" : "g->row_count[GNN_TRAIN]", gradient, stride));
}

static const char *weight_place(const CudaWriter *c, ValueId weight) {
  return arena_printf(c->w.arena, "AT_%s", layout_at(c->w.emission->layout, c->w.kernels, weight, 0, c->w.step->number - 1)->name);
}

static const char *state_of(const CudaWriter *c, int state, int32_t param) {
  const Layout *layout = c->w.emission->layout;
  int block = layout->residents->state[state][param];
  return block == NO_INDEX ? "-1" : arena_printf(c->w.arena, "AT_%s", layout->blocks[block].name);
}

/* Where the gradient lies in the plan and in the order that keeps everything. */
static const char *gradient_places(const CudaWriter *c, ValueId gradient) {
  const Emission *m = c->w.emission;
  const int64_t planned = layout_at(m->layout, c->w.kernels, gradient, 0, c->w.step->number - 1)->offset;
  const KeepOrder *keep = m->keep_order;
  const int64_t kept = keep ? layout_at(keep->layout, c->w.kernels, gradient, 0, keep->schedule->backward_end)->offset : planned;
  return arena_printf(c->w.arena, "{%" PRId64 ", %" PRId64 "}", planned, kept);
}

/* One launch for all weights: a table says where they lie, and of which group of settings they are; in constant memory, while it has room. */
static const Hyper **print_weights(CudaWriter *c, int *group_count, int64_t *blocks) {
  StepWriter *w = &c->w;
  const Hyper **groups = arena_alloc(w->arena, (size_t)(w->kernel->body_count + 1) * sizeof *groups);
  *group_count = 0;
  *blocks = 0;
  fprintf(w->out, "static %s const gnn_weight %s_table[] = {\n", w->kernel->body_count < CONSTANT_WEIGHTS ? "__constant__" : "__device__", w->name);
  for (int b = -1; b < w->kernel->body_count; b++) {
    const Value *update = &w->graph->values[b < 0 ? w->kernel->anchor : w->kernel->body[b]];
    int32_t p = update->as.index;
    const Hyper *hyper = step_hyper(w->emission->program, w->emission->program->params[p].name);
    int group = 0;
    while (group < *group_count && groups[group] != hyper) group++;
    if (group == *group_count) groups[(*group_count)++] = hyper;
    int64_t count = shape_width(&w->graph->values[update->operand[0]].shape);
    fprintf(w->out, "  {%s, %s, {%s, %s, %s}, %" PRId64 ", %" PRId64 ", %d},\n", weight_place(c, update->operand[0]), gradient_places(c, update->operand[1]),
            state_of(c, 0, p), state_of(c, 1, p), state_of(c, ACCUMULATED, p), count, *blocks, group);
    *blocks += tiles_of(count, UPDATE_EACH);
  }
  fprintf(w->out, "};\n\n");
  return groups;
}

static const char *clip_text(CudaWriter *c) {
  StepWriter *w = &c->w;
  const TrainSpec *train = &w->emission->program->train;
  if (train->clip_kind == CLIP_VALUE) return arena_printf(w->arena, "{1, (gnn_real)(%s)}", emit_scalar(w->emission, train->clip));
  const ValueId factor = graph_update_factor(w->graph, w->anchor);
  return factor == NO_VALUE ? "{1, INFINITY}" : arena_printf(w->arena, "{*%s, INFINITY}", step_from(w, factor));
}

static const char *update_call(CudaWriter *c, const Hyper *h, const char *clip, const char *const *states) {
  const Emission *m = c->w.emission;
  const OptimizerInfo *info = &optimizer_info[m->program->train.optimizer];
  const char *call = arena_printf(c->w.arena, "gnn_%s(w, slope, %s", info->name, clip);
  for (int s = 0; s < info->states; s++) call = arena_printf(c->w.arena, "%s, %s", call, states[s]);
  for (int i = 0; i < info->setting_count; i++) call = arena_printf(c->w.arena, "%s, %s", call, step_hyper_text(m, h, info->settings[i].kind));
  if (m->program->train.accumulate == 1) return arena_printf(c->w.arena, "%s, g->update, begin, end);", call);
  return arena_printf(c->w.arena, "%s, g->update / %" PRId64 ", begin, end);", call, m->program->train.accumulate);
}

/* Each thread reads of the sum what it has written itself. */
static void print_accumulation(CudaWriter *c, const char *sum) {
  const int64_t accumulate = c->w.emission->program->train.accumulate;
  if (accumulate > 1) fprintf(c->w.out, "  if (!gnn_accumulate(%s, slope, %" PRId64 ", g->update, begin, end)) return;\n  slope = %s;\n", sum, accumulate, sum);
}

/* Of a weight by rows of nodes: all of them, or those of the step's part. */
static void emit_update_of_rows(CudaWriter *c) {
  StepWriter *w = &c->w;
  static const char *const names[MAX_STATES] = {"state1", "state2", "accumulated"};
  const int64_t width = shape_width(&w->anchor->shape);
  const char *states[MAX_STATES];
  open_plain(c, "rows", arena_printf(w->arena, "parts_of(%s, %d)", rows_text(c, width), UPDATE_EACH));
  const RowRange range = device_range(c, width);
  fprintf(w->out, "  const int64_t begin = %s(int64_t)blockIdx.x * GNN_UPDATE_EACH, end = gnn_min(begin + GNN_UPDATE_EACH, %s);\n", from_begin(c, range), range.end);
  fprintf(w->out, "  gnn_real *w = %s;\n", argument_named_value(w->arguments, "weight", w->anchor->operand[0], true, &w->uses));
  fprintf(w->out, "  const gnn_real *slope = %s;\n", argument_named_value(w->arguments, "gradient", w->anchor->operand[1], false, &w->uses));
  for (int s = 0; s < MAX_STATES; s++) {
    const char *state = step_state(w, s, names[s]);
    states[s] = state ? state : "nullptr";
  }
  print_accumulation(c, states[ACCUMULATED]);
  fprintf(w->out, "  %s\n", update_call(c, step_hyper(w->emission->program, w->emission->program->params[w->anchor->as.index].name), clip_text(c), states));
  close_kernel(c);
}

static void emit_update(CudaWriter *c) {
  StepWriter *w = &c->w;
  static const char *const states[MAX_STATES] = {"gnn_state(g, weight, 0)", "gnn_state(g, weight, 1)", "gnn_state(g, weight, 2)"};
  if (value_is_update_of_nodes(w->anchor)) {
    emit_update_of_rows(c);
    return;
  }
  int group_count;
  int64_t blocks;
  const Hyper **groups = print_weights(c, &group_count, &blocks);
  open_plain(c, "weights", number(c, blocks));
  fprintf(w->out, "  const gnn_weight &weight = gnn_weight_of_block(%s_table);\n", w->name);
  fprintf(w->out, "  const int64_t begin = (int64_t)((int)blockIdx.x - weight.block) * GNN_UPDATE_EACH, end = gnn_min(begin + GNN_UPDATE_EACH, weight.count);\n");
  fprintf(w->out, "  gnn_real *w = gnn_at(g, weight.at);\n  const gnn_real *slope = gnn_at(g, weight.at_gradient[%s]);\n", w->emission->keep_order ? argument_order(w->arguments, &w->uses) : "0");
  const char *clip = clip_text(c);
  print_accumulation(c, states[ACCUMULATED]);
  for (int i = 0; i < group_count; i++) {
    const char *condition = group_count > 1 ? arena_printf(w->arena, "if (weight.group == %d) ", i) : "";
    fprintf(w->out, "  %s%s\n", condition, update_call(c, groups[i], clip, states));
  }
  close_kernel(c);
}

static void emit_follow(CudaWriter *c) {
  StepWriter *w = &c->w;
  const int64_t count = shape_width(&w->graph->values[w->anchor->operand[0]].shape);
  const char *buffer = argument_named_value(w->arguments, "buffer", w->anchor->operand[0], true, &w->uses);
  const char *value = argument_named_value(w->arguments, "value", w->anchor->operand[1], false, &w->uses);
  print_call(c, "elements", number(c, tiles_of(count, CUDA_THREADS)),
             arena_printf(w->arena, "gnn_follow(%s, %s, %s, %" PRId64 ");", buffer, value, emit_real(w->arena, w->anchor->as.number), count));
}

/* ---- one step ---- */

static const char *argument_variable(const CudaWriter *c, int i) {
  const Argument *argument = &c->w.arguments->list[i];
  return argument_is_place(argument) ? arena_printf(c->w.arena, "place_%s", argument->name) : argument->name;
}

/* Every kernel of a step is told all of its arguments. */
static char *device_text(const CudaWriter *c, const char *tables) {
  char *text;
  size_t size;
  FILE *out = arena_open_text(c->w.arena, &text, &size);
  fprintf(out, "%s", tables);
  for (int k = 0; k < c->kernel_count; k++) {
    fprintf(out, "GNN_KERNEL %s(%s, const gnn_places at) {\n", c->kernels[k].name, c->kernels[k].parameter);
    for (int i = 0, place = 0; i < c->w.arguments->count; place += argument_count(c->w.emission, &c->w.arguments->list[i]), i++)
      fprintf(out, c->w.arguments->list[i].kind == ARGUMENT_PIECES ? "  [[maybe_unused]] const int64_t *const %s = at.at + %d;\n" : "  [[maybe_unused]] const int64_t %s = at.at[%d];\n", argument_variable(c, i), place);
    fprintf(out, "%s}\n\n", c->kernels[k].body);
  }
  fclose(out);
  return text;
}

static bool is_list(const CudaWriter *c, int i) { return c->w.arguments->list[i].kind == ARGUMENT_PIECES; }

/* The places of an argument, one after the other. */
static void print_places(const CudaWriter *c, int i, FILE *out) {
  const int count = argument_count(c->w.emission, &c->w.arguments->list[i]);
  for (int k = 0; k < count; k++) fprintf(out, is_list(c, i) ? "%s%s[%d]" : "%s%s", i || k ? ", " : "", argument_variable(c, i), k);
}

static void print_host_function(const CudaWriter *c, bool is_own, FILE *out) {
  const int arguments = c->w.arguments->count;
  fprintf(out, "static void %s%s(gnn_run *g", c->w.name, is_own ? "_own" : "");
  for (int i = 0; i < arguments; i++) fprintf(out, ", %s%s", is_list(c, i) ? "const int64_t *" : "int64_t ", argument_variable(c, i));
  fprintf(out, ") {\n");
  if (c->kernel_count) fprintf(out, "  const gnn_places at = {{%s", arguments ? "" : "0");
  for (int i = 0; c->kernel_count && i < arguments; i++) print_places(c, i, out);
  if (c->kernel_count) fprintf(out, "}};\n");
  for (int i = 0; i < c->launch_count; i++) {
    const Launch *launch = &c->launches[i];
    if (launch->is_own != is_own) continue;
    if (launch->call) step_print_lines(out, "  ", launch->call);
    else fprintf(out, "  gnn_launch(g, KERNEL_%s, %s, %d, 0, &at);\n", launch->kernel, launch->blocks, CUDA_THREADS);
  }
  fprintf(out, "}\n\n");
}

static char *host_text(const CudaWriter *c) {
  char *text;
  size_t size;
  FILE *out = arena_open_text(c->w.arena, &text, &size);
  print_host_function(c, false, out);
  if (c->is_own) print_host_function(c, true, out);
  fclose(out);
  return text;
}

StepText cuda_step_text(const Emission *m, const Step *step, const char *name) {
  static void (*const emit[KERNEL_KIND_COUNT])(CudaWriter *) = {
#define KERNEL(name, text, what, body, fold, loops, cost, says, variants, cpu, shared, cuda) emit_##cuda,
#include "compiler/lowering/kernel_kinds.h"
#undef KERNEL
  };
  char *tables;
  size_t size;
  FILE *out = arena_open_text(m->arena, &tables, &size);
  CudaWriter c = {.w = step_writer(m, step, name, out), .lanes = 1, .slots = 1, .vector = 1};
  switch (c.w.kernel->library) {
  case LIBRARY_CUBLASLT: emit_library_matmul(&c); break;
  case LIBRARY_CUSPARSE: emit_library_spmm(&c); break;
  case LIBRARY_NONE: case LIBRARY_COUNT: emit[c.w.kernel->kind](&c); break;
  }
  fclose(out);
  StepText result = {.text = device_text(&c, tables), .host = host_text(&c), .arguments = c.w.arguments};
  for (int k = 0; k < c.kernel_count; k++) ARENA_PUSH(m->arena, result.kernels, result.kernel_count, c.kernels[k].name);
  return result;
}
