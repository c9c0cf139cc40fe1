/* emit_cuda.h: steps as CUDA: kernels over a gnn_view (kernels/cuda/view.h), and the C that launches them. */
#ifndef GNNCC_EMIT_CUDA_H
#define GNNCC_EMIT_CUDA_H

#include "compiler/emit/emit_calls.h"
#include "compiler/emit/emit_step.h"

enum { CUDA_WARP = 32, CUDA_THREADS = 256, CUDA_MOST_BLOCKS = 4096 };

/* ---- emit_cuda_rows.c: loops over the elements of a row by the lanes of a group ---- */

int cuda_lanes(int64_t width, bool has_bits);      /* a power of two, at most a warp; a warp where there are bits */
int cuda_slots(int lanes, int64_t rows, int64_t entries); /* groups of lanes that share the entries of a row */
int64_t cuda_sums(int64_t width, int lanes);       /* elements a lane */

/* How many neighbouring elements a lane takes together: the fewest that need the fewest loads. At most `most`. */
int cuda_vector(int64_t width, int lanes, int64_t most);
/* And how many the places of the rows allow: of those that are read anew for each edge, or of all. 0: there are none. */
int64_t cuda_most_together(const RowWriter *w, bool is_for_edges);

typedef enum RowPart { ROW_WHOLE, ROW_SLICE, ROW_TILE } RowPart;
/* Loops over the elements of a row that `spread` gives a lane: all; those of `blocks` blocks of them from `first` on; or those of
 * columns [column, column + tile). `own` is the lane's first. */
void cuda_print_elements(const RowWriter *w, Spread spread, RowPart extent, int tile, FILE *out, const char *indent);
/* The operand of a sum within a row: to acc[block] in the lane that has the element of the sum; where the sum is one
 * number, to acc[0] of every lane. */
void cuda_print_summands(const RowWriter *w, ValueId sum, Index into, int lanes, FILE *out, const char *indent);

/* ---- emit_cuda_kernel.c ---- */

/* How the rows of a loss are shared out (kernels/cuda/loss.cuh): none of that shows in its bits, except for `lanes`, which follow from the classes. */
typedef struct LossRows {
  int lanes, each; /* threads a row, and rows that they take one after the other */
  int a_block;     /* rows of a block of threads */
} LossRows;
LossRows cuda_loss_rows(int64_t classes, int64_t rows);

/* The kernels of a step, and the function `name` of the host that launches them, with what libraries do in between. */
StepText cuda_step_text(const Emission *emission, const Step *step, const char *name);

/* The calls that choose the algorithms of cuBLASLt, of kinds of products that are not among `known` yet. */
void cuda_print_products(const Emission *emission, const Plan *plan, NameTable *known, FILE *out);

/* ---- emit_cuda.c ---- */

void emit_cuda(const Emission *emission, FILE *out);       /* PREFIX_kernels.cu */
void emit_cuda_host(const Emission *emission, const StepCalls *calls, FILE *out); /* the steps of PREFIX.c */
void emit_cuda_places(const StepCalls *calls, FILE *out);  /* a line before the includes, where a step has many arguments */
bool emit_cuda_calls(const Emission *emission, Library library); /* some step does */

#endif
