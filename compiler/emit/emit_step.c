#include "emit_step.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "runtime/core/blocks.h"

StepWriter step_writer(const Emission *emission, const Step *step, const char *name, FILE *out) {
  const Kernel *kernel = &step->kernels->kernels[step->kernel];
  const Graph *graph = step->kernels->graph;
  Arguments *arguments = arena_alloc(emission->arena, sizeof *arguments);
  *arguments = (Arguments){.emission = emission, .step = step};
  return (StepWriter){.emission = emission, .step = step, .kernels = step->kernels, .kernel = kernel, .graph = graph,
                      .anchor = &graph->values[kernel->anchor], .arena = emission->arena, .out = out, .name = name, .arguments = arguments};
}

void step_print_lines(FILE *out, const char *indent, const char *lines) {
  while (*lines) {
    const char *end = strchr(lines, '\n');
    fprintf(out, "%s%.*s\n", indent, (int)(end - lines), lines);
    lines = end + 1;
  }
}

const char *step_from(StepWriter *w, ValueId value) { return argument_at_value(w->arguments, value, false, &w->uses); }
const char *step_to(StepWriter *w, ValueId value) { return argument_at_value(w->arguments, value, true, &w->uses); }
const char *step_scratch(StepWriter *w) { return argument_at_scratch(w->arguments, ELEMENTS_REAL, &w->uses); }

const char *step_part(StepWriter *w) { return argument_number(w->arguments, "part", w->step->part, &w->uses); }

void step_edges_of_part(StepWriter *w) {
  const int64_t *edges = w->step->parts->edges[END_DST] + w->step->part - 1;
  argument_number(w->arguments, "first_edge", edges[0], &w->uses);
  argument_number(w->arguments, "end_edge", edges[1], &w->uses);
}

void step_columns(StepWriter *w, int32_t field) {
  const int64_t *column = w->step->parts->entries[field].column + w->step->part - 1;
  argument_number(w->arguments, "first_column", column[0], &w->uses);
  argument_number(w->arguments, "end_column", column[1], &w->uses);
}

const char *step_state(StepWriter *w, int state, const char *name) {
  const ValueId value = graph_update_state(w->graph, w->anchor, state);
  const int block = w->emission->layout->residents->state[state][w->anchor->as.index];
  if (value != NO_VALUE) return argument_named_value(w->arguments, name, value, true, &w->uses);
  return block == NO_INDEX ? NULL : argument_named_block(w->arguments, name, block, &w->uses);
}

StepRows step_train_rows(StepWriter *w) {
  const ValueId rows = w->graph->split_rows[SPLIT_TRAIN];
  if (rows == NO_VALUE) return (StepRows){"g->rows[GNN_TRAIN]", "g->row_count[GNN_TRAIN]"};
  const char *list = argument_at_labels(w->arguments, rows, &w->uses);
  if (w->step->part == 0) return (StepRows){list, "g->row_count[GNN_TRAIN]"};
  const int64_t *labelled = w->step->parts->labelled[SPLIT_TRAIN] + w->step->part - 1;
  const char *first = argument_number(w->arguments, "first_labelled", labelled[0], &w->uses), *end = argument_number(w->arguments, "end_labelled", labelled[1], &w->uses);
  return (StepRows){arena_printf(w->arena, "%s + %s", list, first), arena_printf(w->arena, "%s - %s", end, first)};
}

int64_t step_blocks_of_part(const StepWriter *w) { return INT64_C(1) << (gnn_block_levels(w->emission->program->info->nodes) - w->step->parts->levels); }

const char *step_part_row(const StepWriter *w, const char *part, Domain domain) {
  const char *row = emit_part_row(w->emission, part);
  if (domain != DOMAIN_EDGE) return row;
  if (w->graph->offsets[END_DST] != NO_VALUE) return arena_printf(w->arena, "part_in[%s]", part);
  return arena_printf(w->arena, "%s.in.ptr[%s]", emit_edge_set(w->arena, w->graph->program->info, domain), row);
}

const char *step_csr(const StepWriter *w) {
  const Domain own = w->anchor->shape.domain, operand = w->graph->values[w->anchor->operand[0]].shape.domain;
  return arena_printf(w->arena, "%s.%s", emit_edge_set(w->arena, w->graph->program->info, domain_is_edges(own) ? own : operand), graph_walk_end(w->anchor) == END_SRC ? "out" : "in");
}

RowKind step_row_kind(Domain domain) {
  return domain == DOMAIN_NONE ? ROWS_NONE : domain_is_edges(domain) ? ROWS_EDGE : ROWS_SELF;
}

static bool step_is_output(const Kernel *kernel, ValueId id) {
  for (int k = 0; k < kernel->output_count; k++)
    if (kernel->outputs[k] == id) return true;
  return false;
}

/* A product goes over edges by their number alone. */
static RowKind body_row(const StepWriter *w) {
  return w->anchor->op == OP_MATMUL && domain_is_relation(w->anchor->shape.domain) ? ROWS_SELF : step_row_kind(w->anchor->shape.domain);
}

static void write_values(const StepWriter *w, RowWriter *body, int first, Index index, RowKind row) {
  for (int b = first; b < w->kernel->body_count; b++) {
    ValueId id = w->kernel->body[b];
    if (kernel_copies_tile(w->kernels, w->kernel, id)) {
      rows_store_tile(body, id, rows_value(body, w->graph->values[id].operand[0], index), row);
      continue;
    }
    const char *text = rows_value(body, id, index);
    if (step_is_output(w->kernel, id)) rows_store(body, id, text, row);
  }
}

/* The operands in whose places results may lie, before anything is stored. */
static void load_operands_under(const StepWriter *w, RowWriter *body, Index index) {
  for (int k = 0; k < w->kernel->output_count; k++)
    if (w->kernel->over[k] != NO_VALUE && !(w->kernel->library && w->kernel->over[k] == w->kernel->epilogue.addend)) rows_value(body, w->kernel->over[k], index);
}

static void write_body(StepWriter *w, RowWriter *body, const char *acc, const char *at) {
  RowKind row = body_row(w);
  Index index = rows_full_index(body, row);
  load_operands_under(w, body, index);
  if (acc) {
    if (body->loop_count == 0) at = "0";
    rows_name_acc(body, w->kernel->anchor, index, arena_printf(w->arena, "%s[%s]", acc, at ? at : rows_offset(body, &w->anchor->shape, index)));
    if (step_is_output(w->kernel, w->kernel->anchor))
      rows_store(body, w->kernel->anchor, rows_value(body, w->kernel->anchor, index), row);
  }
  write_values(w, body, 0, index, row);
}

RowWriter *step_write_body(StepWriter *w, const char *acc, const char *at, Spread spread) {
  RowWriter *body = rows_new(w->arguments, &w->anchor->shape);
  body->spread = spread;
  write_body(w, body, acc, at);
  return body;
}

void step_write_stage_body(StepWriter *w) { write_body(w, w->body, "acc", NULL); }

RowWriter *step_write_rest(StepWriter *w, Spread spread) {
  const Epilogue *epilogue = &w->kernel->epilogue;
  RowWriter *body = rows_new(w->arguments, &w->anchor->shape);
  body->spread = spread;
  body->is_in_place = epilogue->place != epilogue->result;
  RowKind row = body_row(w);
  Index index = rows_full_index(body, row);
  load_operands_under(w, body, index);
  rows_write(body, body->loop_count ? LEVEL_ELEMENT : LEVEL_ROW, "const gnn_real product = %s;", rows_load(body, epilogue->place, index));
  rows_name(body, epilogue->result, index, "product");
  write_values(w, body, epilogue->body_count, index, row);
  return body;
}

RowWriter *step_write_table(StepWriter *w, int operand, Spread spread) {
  const ValueId table = w->kernel->anchor;
  RowWriter *rows = rows_new(w->arguments, &w->anchor->shape);
  rows->spread = spread;
  const Index index = rows_full_index(rows, ROWS_SELF);
  const char *text = rows_rounded(w->kernels, table, rows_value(rows, w->anchor->operand[operand], index));
  rows_write(rows, LEVEL_ELEMENT, "to[%s] = %s;", rows->loop_count ? rows_offset(rows, &w->anchor->shape, index) : "0", text);
  return rows;
}

void step_write_halo(StepWriter *w, Spread spread) { w->body = step_write_table(w, 0, spread); }

void step_write_columns(StepWriter *w, Spread spread) {
  const Shape *shape = &w->graph->values[w->anchor->operand[0]].shape;
  w->body = rows_new(w->arguments, shape);
  w->body->spread = spread;
  const Index index = rows_full_index(w->body, ROWS_SELF);
  const char *text = rows_value(w->body, w->anchor->operand[0], index);
  rows_write(w->body, LEVEL_ELEMENT, "to[%s] = %s;", w->body->loop_count ? rows_offset(w->body, shape, index) : "0", text);
}

void step_write_fold(const StepWriter *w, const char *acc, const char *text) {
  rows_write(w->operand, LEVEL_ELEMENT, fold_info[kernel_info[w->kernel->kind].fold].code, acc, text);
}

const char *step_neighbours(const StepWriter *w) {
  const ValueId neighbours = kernels_neighbours(w->kernels, w->kernel);
  unsigned uses = 0; /* whoever goes over edges mentions the run, and with it the step */
  return neighbours == NO_VALUE ? NULL : argument_at_labels(w->arguments, neighbours, &uses);
}

const char *step_offsets(const StepWriter *w) {
  const ValueId offsets = kernels_offsets(w->kernels, w->kernel);
  unsigned uses = 0; /* likewise */
  return offsets == NO_VALUE ? NULL : argument_at_offsets(w->arguments, offsets, &uses);
}

/* The numbers of the edges that it goes over from their sources. */
static const char *step_out_edges(const StepWriter *w) {
  const ValueId edges = kernels_out_edges(w->kernels, w->kernel);
  unsigned uses = 0; /* likewise */
  return edges == NO_VALUE ? "edges->edge" : argument_at_offsets(w->arguments, edges, &uses);
}

const char *step_edges(const StepWriter *w) {
  const char *offsets = step_offsets(w), *type = w->kernels->backend == BACKEND_CUDA ? "gnn_view_csr" : "gnn_csr", *csr = step_csr(w);
  return offsets ? arena_printf(w->arena, "const %s here = gnn_csr_at(&%s, %s), *edges = &here;", type, csr, offsets) : arena_printf(w->arena, "const %s *edges = &%s;", type, csr);
}

/* As gnn_run has them. */
const char *step_halo(const StepWriter *w, HaloKind kind) {
  const int number = kind == HALO_OF_EDGES ? 2 : w->graph->program->info->is_symmetric || kind == HALO_FOR_DST ? 0 : 1;
  return arena_printf(w->arena, "g->halo[%d]", number);
}

const char *step_halo_rows(StepWriter *w) {
  const ValueId rows = kernels_halo_rows(w->kernels, w->kernel);
  return rows == NO_VALUE ? arena_printf(w->arena, "%s.row", step_halo(w, halo_kind(w->anchor))) : argument_at_labels(w->arguments, rows, &w->uses);
}

const char *step_edge_codes(const StepWriter *w) {
  const ValueId codes = kernels_edge_codes(w->kernels, w->kernel);
  unsigned uses = 0; /* likewise */
  return codes == NO_VALUE ? arena_printf(w->arena, "%s.code", step_halo(w, HALO_OF_EDGES)) : arena_printf(w->arena, "((const uint32_t *)%s)", argument_at_labels(w->arguments, codes, &uses));
}

const char *step_codes(const StepWriter *w) {
  const char *neighbours = step_neighbours(w);
  return neighbours ? arena_printf(w->arena, "((const uint32_t *)%s)", neighbours) : arena_printf(w->arena, "%s.code", step_halo(w, (HaloKind)graph_walk_end(w->anchor)));
}

const char *step_part_of(const StepWriter *w, const char *row) { return arena_printf(w->arena, "gnn_part_of(row_parts, %d, %s)", parts_row_shift(w->step->parts), row); }

const char *step_edge_variables(const StepWriter *w, unsigned uses, bool is_out) {
  const char *lines = "";
  const bool is_member = w->anchor->operand_count && w->graph->values[w->anchor->operand[0]].shape.domain == DOMAIN_MEMBER; /* a node is one */
  const char *neighbours = step_neighbours(w);
  if (uses & (is_out ? USES_DST : USES_SRC)) lines = arena_printf(w->arena, "const int64_t %s = %s[i];\n", is_out ? "dst" : "src", neighbours ? neighbours : "edges->idx");
  if (uses & USES_AHEAD) {
    const int64_t bytes = w->arguments->fetched_bytes;
    lines = arena_printf(w->arena, "%sconst int64_t ahead = %s[gnn_min(i + %d, edges->ptr[end] - 1)];\n", lines, neighbours ? neighbours : "edges->idx", bytes <= 512 ? 16 : bytes <= 1024 ? 6 : 4);
  }
  if (uses & USES_FAR_PART) lines = arena_printf(w->arena, "%sconst int far_part = %s;\n", lines, step_part_of(w, is_out ? "dst" : "src"));
  if (uses & USES_CODE) lines = arena_printf(w->arena, "%sconst uint32_t code = %s[i];\n", lines, step_codes(w));
  if (uses & USES_EDGE_CODE) lines = arena_printf(w->arena, "%sconst uint32_t edge_code = %s[i];\n", lines, step_edge_codes(w));
  if (uses & USES_EDGE) lines = arena_printf(w->arena, "%sconst int64_t e = %s;\n", lines, is_out && !is_member ? arena_printf(w->arena, "%s[i]", step_out_edges(w)) : "i");
  return lines;
}

/* The writers of the step, one by one; NULL where there is none. */
static const RowWriter *writer_of(const StepWriter *w, int k) { return k == 0 ? w->body : k == 1 ? w->operand : k < w->more_count + 2 ? w->more[k - 2] : NULL; }

static bool has_dropout(const StepWriter *w, int before, int site) {
  for (int k = 0; k < before; k++)
    for (int i = 0; writer_of(w, k) && i < writer_of(w, k)->dropout_count; i++)
      if (writer_of(w, k)->dropouts[i].site == site) return true;
  return false;
}

const char *step_dropout_fields(const StepWriter *w) {
  const char *text = "";
  for (int k = 0; k < w->more_count + 2; k++)
    for (int i = 0; writer_of(w, k) && i < writer_of(w, k)->dropout_count; i++)
      if (!has_dropout(w, k, writer_of(w, k)->dropouts[i].site)) text = arena_printf(w->arena, "%sgnn_dropout drop_%d;\n", text, writer_of(w, k)->dropouts[i].site);
  return text;
}

const char *step_dropout_values(const StepWriter *w, const char *before, const char *after) {
  const char *text = "";
  for (int k = 0; k < w->more_count + 2; k++)
    for (int i = 0; writer_of(w, k) && i < writer_of(w, k)->dropout_count; i++) {
      const RowDropout *dropout = &writer_of(w, k)->dropouts[i];
      if (!has_dropout(w, k, dropout->site))
        text = arena_printf(w->arena, "%s%sdrop_%d = gnn_dropout_make(g->seed, g->update, %d, %s)%s\n", text, before, dropout->site, dropout->site, dropout->probability, after);
    }
  return text;
}

const char *step_row_count(const StepWriter *w, Domain domain, int64_t lead) { return emit_row_count(w->arena, w->graph->program->info, domain, lead); }

const char *step_run_first(const StepWriter *w, Domain domain, int64_t lead, const char *run) {
  const char *row = arena_printf(w->arena, "gnn_run_first(&g->blocks, %s)", run), *offsets = domain == DOMAIN_EDGE ? step_offsets(w) : NULL;
  if (domain_is_relation(domain)) /* edges are in the run of their destination */
    row = arena_printf(w->arena, "%s[%s]", offsets ? offsets : arena_printf(w->arena, "%s.in.ptr", emit_edge_set(w->arena, w->graph->program->info, domain)), step_run_first(w, domain_at(domain, END_DST), 1, run));
  else if (domain == DOMAIN_GRAPH) /* graphs are in the runs of the nodes that have their numbers */
    row = arena_printf(w->arena, "gnn_min(%s, g->graphs)", row);
  else if (domain != DOMAIN_NODE && w->graph->program->info->is_of_rank)
    row = arena_printf(w->arena, "gnn_own_share(g, %s, INT64_C(%" PRId64 "))", run, typed_rows(w->graph->program->info->of_all, domain));
  else if (domain != DOMAIN_NODE) /* nodes of other types are shared evenly */
    row = arena_printf(w->arena, "gnn_run_share(&g->blocks, %s, %s)", run, step_row_count(w, domain, 1));
  return lead == 1 ? row : arena_printf(w->arena, "%s * %" PRId64, row, lead);
}

const char *step_sparse_dropout(StepWriter *w, ValueId dropout) {
  if (dropout == NO_VALUE) return NULL;
  RowWriter *rows = rows_new(w->arguments, &w->anchor->shape);
  const char *p = rows_value(rows, w->graph->values[dropout].operand[1], (Index){.row = ROWS_NONE});
  return arena_printf(w->arena, "gnn_dropout_make(g->seed, g->update, %d, (double)(%s))", (int)w->graph->values[dropout].as.site, p);
}

int step_sparse_slot(const StepWriter *w, int32_t field) {
  int slot = 0;
  for (int f = 0; f < field; f++) slot += w->emission->is_sparse_field[f];
  return slot;
}

/* The last group whose pattern matches the weight's name, else the optimiser's own values. */
const Hyper *step_hyper(const TypedProgram *program, const char *name) {
  const Hyper *hyper = &program->train.hyper;
  for (int i = 0; i < program->train.group_count; i++)
    if (fnmatch(program->train.groups[i].pattern, name, 0) == 0) hyper = &program->train.groups[i].hyper;
  return hyper;
}

const char *step_hyper_text(const Emission *m, const Hyper *hyper, HyperKind kind) {
  const bool is_scheduled = kind == HYPER_LR && hyper->rate != NO_INDEX;
  return is_scheduled ? arena_printf(m->arena, "g->rate[%d]", hyper->rate) : emit_scalar(m, hyper->value[kind]);
}
