/* emit_step.h: what a step computes, before it is printed as C (cpu/emit_kernel.c) or as CUDA (cuda/emit_cuda_kernel.c).
 *
 * The description is the text of the rows (emit_rows.h): of the body, which every kernel computes for each row, and of
 * the operand of a sum. The printers put loops around it.
 */
#ifndef GNNCC_EMIT_STEP_H
#define GNNCC_EMIT_STEP_H

#include "emit_rows.h"

typedef struct StepWriter {
  const Emission *emission;
  const Step *step;
  const Kernels *kernels;
  const Kernel *kernel;
  const Graph *graph;
  const Value *anchor;
  Arena *arena;
  FILE *out;
  const char *name;    /* of the function: "step_4" */
  Arguments *arguments;
  unsigned uses;       /* what the text of the function being written mentions */
  const char *fields;  /* of the step's struct beside its arguments, one a line */
  RowWriter *body;     /* NULL where there is none to compute row by row */
  RowWriter *operand;  /* of sums of expressions */
  int more_count;
  RowWriter **more;    /* those of other stages */
} StepWriter;

StepWriter step_writer(const Emission *emission, const Step *step, const char *name, FILE *out);

/* Where things lie, as pointers in a function of the step (emit_arguments.h). */
const char *step_from(StepWriter *w, ValueId value); /* what is read */
const char *step_to(StepWriter *w, ValueId value);   /* what is written */
const char *step_scratch(StepWriter *w);
void step_edges_of_part(StepWriter *w); /* it is told which edges arrive at its part: "first_edge", "end_edge" */
void step_columns(StepWriter *w, int32_t field); /* it is told the columns of its part of these sparse features: "first_column", "end_column" */
/* The training rows of the step, of its part or all: the list, and how many they are. */
typedef struct StepRows { const char *list, *count; } StepRows;
StepRows step_train_rows(StepWriter *w);
const char *step_part(StepWriter *w); /* the number of the part that the step is told, from 1 on */
int64_t step_blocks_of_part(const StepWriter *w);    /* canonical blocks a part */
const char *step_state(StepWriter *w, int state, const char *name); /* of the weight that is updated; NULL: there is none */
const char *step_part_row(const StepWriter *w, const char *part, Domain domain); /* where those of a part begin, which is a number of C from 0 on: nodes, or the edges that arrive at them */
const char *step_csr(const StepWriter *w); /* what a kernel over edges walks: "g->sets[GNN_EDGES].in" */
/* What declares `edges`, the csr of that, with the kernel's own offsets where these lie apart: "const gnn_csr *edges = &g->sets[GNN_EDGES].in;". */
const char *step_edges(const StepWriter *w);
/* Where the edges of each of its rows begin, where that lies apart: "s->in_ptr"; else NULL. */
const char *step_offsets(const StepWriter *w);
/* The ids at the other ends of its edges, where they lie apart from that: "s->in_idx"; else NULL. */
const char *step_neighbours(const StepWriter *w);
/* The rows that the parts of sums arriving at `end` gather of each other: "g->halo[0]"; which of its own a part copies out, and where each edge has its value, wherever these lie: "s->in_halo_rows"; and where each edge has its row of the kernel's sums there. */
const char *step_halo(const StepWriter *w, HaloKind kind);
const char *step_halo_rows(StepWriter *w);
const char *step_edge_codes(const StepWriter *w);
const char *step_codes(const StepWriter *w);
/* The part, from 0 on, of a row of the nodes: "gnn_part_of(row_parts, 9, src)". */
const char *step_part_of(const StepWriter *w, const char *row);
RowKind step_row_kind(Domain domain);
const char *step_row_count(const StepWriter *w, Domain domain, int64_t lead); /* "g->nodes * 4" */
const char *step_run_first(const StepWriter *w, Domain domain, int64_t lead, const char *run); /* row: "gnn_run_first(&g->blocks, run) * 4" */

/* The body for each row. `acc`: the anchor's element there: what stands for it, or an array that `at` (NULL: the
 * element's number) indexes; NULL: there is no anchor. */
RowWriter *step_write_body(StepWriter *w, const char *acc, const char *at, Spread spread);
void step_write_stage_body(StepWriter *w); /* to w->body, which is there */
/* What is left of it where a library has the result of the product in memory: perhaps that of a value which is stored here,
 * so that each element is read once, before it is overwritten. */
RowWriter *step_write_rest(StepWriter *w, Spread spread);
/* The body of a step that copies rows to halos: row r to `to`. And of one that takes rows to pieces: the same of a row of the operand. */
void step_write_halo(StepWriter *w, Spread spread);
RowWriter *step_write_table(StepWriter *w, int operand, Spread spread); /* rows of this operand of the anchor, into a row of it */
void step_write_columns(StepWriter *w, Spread spread);
void step_write_fold(const StepWriter *w, const char *acc, const char *text); /* of an element of the operand: "acc[j] += x;" */
/* "const int64_t src = .." of those variables of an edge that are mentioned. */
const char *step_edge_variables(const StepWriter *w, unsigned uses, bool is_out);

/* The dropouts of body and operand, computed once for the step: members of a struct, "gnn_dropout drop_1;", and their values,
 * ".drop_1 = gnn_dropout_make(..),", one a line. */
const char *step_dropout_fields(const StepWriter *w);
const char *step_dropout_values(const StepWriter *w, const char *before, const char *after);

/* The dropout of sparse features as an expression: "gnn_dropout_make(..)"; NULL: there is none. */
const char *step_sparse_dropout(StepWriter *w, ValueId dropout);
int step_sparse_slot(const StepWriter *w, int32_t field); /* index into gnn_run.sparse */
const Hyper *step_hyper(const TypedProgram *program, const char *name); /* of the weight's group */
const char *step_hyper_text(const Emission *emission, const Hyper *hyper, HyperKind kind); /* of a setting, in double */

void step_print_lines(FILE *out, const char *indent, const char *lines);

#endif
