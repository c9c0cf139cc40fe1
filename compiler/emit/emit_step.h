/* emit_step.h: what a step computes, before it is printed as C (emit_kernel.c) or as CUDA (emit_cuda_kernel.c).
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
  int n;               /* the step's number */
  RowWriter *body;     /* NULL where there is none to compute row by row */
  RowWriter *operand;  /* of sums of expressions */
} StepWriter;

StepWriter step_writer(const Emission *emission, const Step *step, FILE *out);

const char *step_block_name(const StepWriter *w, ValueId value); /* where a value lies */
const char *step_at(const StepWriter *w, ValueId value);         /* and as a pointer to what it holds: "V(h)" */
const char *step_scratch(const StepWriter *w);
const char *step_sums(const StepWriter *w);                      /* to which the parts of a kernel add, where it has any */
int64_t step_first_block(const StepWriter *w, int part);         /* after so many parts */
RowKind step_row_kind(Domain domain);
const char *step_row_count(const StepWriter *w, Domain domain, int64_t lead); /* "g->nodes * 4" */
const char *step_run_first(const StepWriter *w, Domain domain, int64_t lead, const char *run); /* row: "gnn_run_first(&g->blocks, run) * 4" */

/* The body for each row. `acc`: the anchor's element there: what stands for it, or an array that `at` (NULL: the
 * element's number) indexes; NULL: there is no anchor. is_warp: the elements run in warps. */
RowWriter *step_write_body(const StepWriter *w, const char *acc, const char *at, bool is_warp);
/* What is left of it where a library has the result of the product in memory: perhaps that of a value which is stored here,
 * so that each element is read once, before it is overwritten. */
RowWriter *step_write_rest(const StepWriter *w);
void step_write_fold(const StepWriter *w, const char *acc, const char *text); /* of an element of the operand: "acc[j] += x;" */
/* "const int64_t src = .." of those variables of an edge that the text mentions. */
const char *step_edge_variables(const StepWriter *w, const char *text, bool is_out);

/* Members of the step's struct, one a line: of body, operand and what else there is. */
const char *step_fields(const StepWriter *w, const char *more);
const char *step_values(const StepWriter *w, const char *more); /* ".drop = gnn_dropout_make(..)," */

/* The dropout of sparse features, with member and value; false: there is none. */
bool step_sparse_dropout(const StepWriter *w, ValueId dropout, const char **field, const char **value);
int step_sparse_slot(const StepWriter *w, int32_t field); /* index into gnn_run.sparse */
const Hyper *step_hyper(const TypedProgram *program, const char *name); /* of the weight's group */

bool step_mentions(const char *text, const char *word);
void step_print_lines(FILE *out, const char *indent, const char *lines);

#endif
