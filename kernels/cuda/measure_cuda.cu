/* measure_cuda.cu: the kernels of emitted programs, one by one, for gnncc --calibrate --backend=cuda; measure.c launches them. */
#include "gemm.cuh"
#include "loss.cuh"
#include "measure_cuda.h"
#include "optimizer.cuh"
#include "random.cuh"
#include "rows.cuh"

#define MEASURE(name) GNN_KERNEL name(const measure_job *__restrict__ g, const gnn_places)

MEASURE(measure_nothing) { (void)g; }

/* ---- before ---- */

MEASURE(measure_fill) {
  for (int64_t i = gnn_group<1>(); i < g->rows; i += gnn_groups<1>()) g->x[i] = (gnn_real)(i % 13) * 0.125f + 0.5f;
}

/* Every row has the same number of entries, from anywhere in the table. */
MEASURE(measure_graph) {
  int64_t *ptr = (int64_t *)g->ptr;
  for (int64_t r = gnn_group<1>(); r <= g->rows; r += gnn_groups<1>()) ptr[r] = r * g->degree;
  for (int64_t e = gnn_group<1>(); e < g->rows * g->degree; e += gnn_groups<1>()) g->idx[e] = (int32_t)(gnn_mix64((uint64_t)e) % (uint64_t)g->table_rows);
}

MEASURE(measure_labels) {
  for (int64_t r = gnn_group<1>(); r < g->rows; r += gnn_groups<1>()) g->labels[r] = (int32_t)(r % 4), g->list[r] = (int32_t)r;
  for (int64_t b = gnn_group<1>(); b <= INT64_C(1) << g->levels; b += gnn_groups<1>()) ((int64_t *)g->ptr)[b] = g->rows * b >> g->levels;
}

/* ---- elements ---- */

template <class Function> GNN_INLINE void measure_rows(const measure_job *g, const Function &function) {
  const int lane = (int)threadIdx.x % 32;
  for (int64_t r = gnn_group<32>(); r < g->rows; r += gnn_groups<32>()) {
    const gnn_real *restrict from = g->x + r * MEASURE_COLUMNS;
    gnn_real *restrict to = g->y + r * MEASURE_COLUMNS;
    GNN_UNROLL for (int block = 0; block < MEASURE_COLUMNS / 32; block++) {
      const int j = 32 * block + lane;
      to[j] = function(r, j, from[j]);
    }
  }
}

MEASURE(measure_relu) {
  measure_rows(g, [](int64_t, int, gnn_real x) { return x > 0 ? x : 0; });
}

MEASURE(measure_dropout) {
  const gnn_dropout drop = gnn_dropout_make(1, 1, 0, 0.5);
  measure_rows(g, [&](int64_t r, int j, gnn_real x) { return x * gnn_dropout_factor(&drop, gnn_random_row(drop.key, (uint64_t)r), (uint32_t)j); });
}

MEASURE(measure_exp) {
  measure_rows(g, [](int64_t, int, gnn_real x) { return gnn_exp(x); });
}

MEASURE(measure_update) {
  const int64_t begin = (int64_t)blockIdx.x * MEASURE_UPDATED, end = gnn_min(begin + MEASURE_UPDATED, g->rows * MEASURE_COLUMNS);
  gnn_adam(g->y, g->x, {1, INFINITY}, g->m, g->v, 1e-3, 0.9, 0.999, 1e-8, 5e-4, 10, begin, end);
}

/* ---- gathers ---- */

template <int WIDTH> GNN_INLINE void measure_gather(const measure_job *g) {
  enum { LANES = WIDTH < 32 ? WIDTH : 32, SLOTS = 32 / LANES, SUMS = WIDTH / LANES, BYTES = SUMS * 4 };
  const int own = (int)threadIdx.x % LANES * SUMS;
  const gnn_view_csr edges = {g->rows, g->rows * g->degree, g->ptr, g->idx, nullptr, nullptr, 0, g->degree};
  const auto row_sum = [&](int64_t, int64_t begin, int64_t end, int, int, gnn_real *acc) {
    GNN_UNROLL_4 for (int64_t i = begin; i < end; i += SLOTS) {
      const gnn_real *restrict from = g->x + own + (int64_t)g->idx[i] * WIDTH;
      gnn_real x[SUMS];
      gnn_load<BYTES>(from, x);
      GNN_UNROLL for (int n = 0; n < SUMS; n++) acc[n] += x[n];
    }
  };
  const auto row_done = [&](int64_t r, int, int, const gnn_real *acc) {
    gnn_real sum[SUMS];
    GNN_UNROLL for (int n = 0; n < SUMS; n++) sum[n] = acc[n];
    if (threadIdx.x % 32 < LANES) gnn_store<BYTES>(g->y + own + r * WIDTH, sum);
  };
  gnn_sum_rows<LANES, SLOTS, SUMS, SUMS>(&edges, 0, g->rows, row_sum, row_done);
}
MEASURE(measure_gather_16) { measure_gather<16>(g); }
MEASURE(measure_gather_64) { measure_gather<64>(g); }
MEASURE(measure_gather_128) { measure_gather<128>(g); }

/* ---- losses ---- */

/* As programs find the loss of a long list: its rows, canonical blocks of them, the tree. */
MEASURE(measure_loss_4) { gnn_cross_entropy_rows<MEASURE_FEW_LANES, MEASURE_FEW_LANES>(g->x, 4, 4, g->labels, g->list, g->rows, g->parts); }
MEASURE(measure_loss_64) { gnn_cross_entropy_rows<MEASURE_LANES, MEASURE_LANES>(g->x, 64, 64, g->labels, g->list, g->rows, g->parts); }

GNN_INLINE gnn_view_blocks measure_blocks(const measure_job *g) { return {g->levels, g->levels, g->ptr}; }

MEASURE(measure_loss_blocks) {
  const gnn_view_blocks blocks = measure_blocks(g);
  gnn_cross_entropy_block(g->parts, g->list, g->rows, &blocks, 0, g->parts + g->rows);
}
MEASURE(measure_loss_mean) {
  const gnn_view_blocks blocks = measure_blocks(g);
  gnn_cross_entropy_mean(g->parts + g->rows, &blocks, g->rows, g->parts);
}

/* ---- gradients of matrices ---- */

template <int WIDTH> GNN_INLINE void measure_outer(const measure_job *g) {
  enum { DOWN = MEASURE_DEPTH / MEASURE_TILE, ACROSS = (WIDTH + MEASURE_TILE - 1) / MEASURE_TILE, COUNT = MEASURE_DEPTH * WIDTH };
  const int64_t run = blockIdx.x / (DOWN * ACROSS), begin = run * MEASURE_RUN_ROWS;
  const gnn_walk walk = {0, 1, 0, COUNT, g->v + run * COUNT};
  gnn_outer_run<MEASURE_TILE>(g->x, MEASURE_DEPTH, g->y, WIDTH, MEASURE_DEPTH, WIDTH, blockIdx.x / ACROSS % DOWN * MEASURE_TILE, blockIdx.x % ACROSS * MEASURE_TILE, begin,
                              gnn_min(begin + MEASURE_RUN_ROWS, g->rows), &walk);
}
MEASURE(measure_outer) { measure_outer<MEASURE_WIDE>(g); }
MEASURE(measure_outer_narrow) { measure_outer<MEASURE_NARROW>(g); }
