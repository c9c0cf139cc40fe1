/* reduce.cuh: clearing, transposing, and sums over the threads of a block and over all rows in a fixed order. */
#ifndef GNN_CUDA_REDUCE_H
#define GNN_CUDA_REDUCE_H

#include "half.cuh"

/* x[begin .. end) = 0 */
template <class T> GNN_INLINE void gnn_zero(T *x, int64_t begin, int64_t end) {
  for (int64_t i = begin + gnn_group<1>(); i < end; i += gnn_groups<1>()) gnn_put(&x[i], 0);
}

/* y = x^T; x: [rows, cols], y: [cols, rows], row-major. One tile of 32 x 32 a block. */
GNN_INLINE void gnn_transpose(const gnn_real *x, int64_t rows, int64_t cols, gnn_real *y) {
  __shared__ gnn_real tile[32][33];
  const int64_t across = (cols + 31) / 32, row = blockIdx.x / across * 32, col = blockIdx.x % across * 32;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = warp; i < 32; i += GNN_THREADS / 32)
    if (row + i < rows && col + lane < cols) tile[i][lane] = x[(row + i) * cols + col + lane];
  __syncthreads();
  for (int i = warp; i < 32; i += GNN_THREADS / 32)
    if (col + i < cols && row + lane < rows) y[(col + i) * rows + row + lane] = tile[lane][i];
  __syncthreads();
}

/* Over the threads of the block with the same place modulo APART; those below APART get it. */
template <class Fold, int APART, class T> GNN_INLINE T gnn_block_fold(T x) {
  __shared__ T sums[GNN_THREADS];
  sums[threadIdx.x] = x;
  for (int half = GNN_THREADS / 2; half >= APART; half /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < half) sums[threadIdx.x] = Fold::join(sums[threadIdx.x], sums[threadIdx.x + half]);
  }
  x = sums[threadIdx.x];
  __syncthreads();
  return x;
}

template <int APART, class T> GNN_INLINE T gnn_block_sum(T x) { return gnn_block_fold<gnn_fold_sum, APART>(x); }

/* ---- sums over runs of rows, folded over their balanced binary tree: kernels/cpu/walk.h ---- */

/* The first row of a run, or where the last one ends. */
GNN_INLINE int64_t gnn_run_first(const gnn_view_blocks *blocks, int64_t run) {
  const int64_t below = blocks->run_levels - blocks->levels, block = run >> below, place = run - (block << below), first = blocks->first[block];
  return place == 0 ? first : first + ((blocks->first[block + 1] - first) * place >> below);
}

/* The same of `rows` rows of another set, which the runs share evenly. */
GNN_INLINE int64_t gnn_run_share(const gnn_view_blocks *blocks, int64_t run, int64_t rows) {
  const int64_t runs = (int64_t)1 << blocks->run_levels;
  return rows / runs * run + rows % runs * run / runs;
}

/* Of one of a rank's runs, in the numbers that rows have there. */
GNN_INLINE int64_t gnn_own_share(const gnn_view *g, int64_t own_run, int64_t rows) {
  const int64_t first = g->first_part << (g->blocks.run_levels - g->part_levels);
  return gnn_run_share(&g->blocks, first + own_run, rows) - gnn_run_share(&g->blocks, first, rows);
}

/* Of a rank whose rows are cut: how many of its finer parts are before the rows of `part`, from 0 on, and where these begin (runtime/core/ranks.c). */
GNN_INLINE int64_t gnn_parts_before(const gnn_view *g, int64_t part) { return (g->own_parts << g->finer_levels) * part >> g->cut_levels; }
GNN_INLINE int64_t gnn_part_row(const gnn_view *g, int64_t part) { return g->blocks.first[gnn_parts_before(g, part) << (g->blocks.levels - g->part_levels - g->finer_levels)]; }

/* Runs that are walked over: an aligned subtree of 2^levels. */
struct gnn_runs {
  int64_t first, levels;
};

GNN_INLINE gnn_runs gnn_all_runs(const gnn_view *g) { return {0, g->blocks.run_levels}; }

/* Of part `part`, from 1 on, of 2^part_levels. */
GNN_INLINE gnn_runs gnn_runs_of_part(const gnn_view *g, int64_t part, int64_t part_levels) {
  const int64_t levels = g->blocks.run_levels - part_levels;
  return {(part - 1) << levels, levels};
}

/* A walker is a block of threads, or as many as there are tiles of its sums. A thread adds the elements that are its own. */
struct gnn_walk {
  int64_t run, end, done, width;
  gnn_real *sums; /* [open][width] */
};

GNN_INLINE gnn_walk gnn_walk_begin(gnn_runs runs, int64_t walker, int64_t most_levels, gnn_real *sums, int64_t width) {
  const int64_t below = runs.levels - gnn_min(runs.levels, most_levels);
  return {runs.first + (walker << below), runs.first + ((walker + 1) << below), 0, width, sums + walker * (below + 1) * width};
}

/* Number i of a sum, behind `done` others: with the open ones, open[][width], that it completes; gives what it has become. */
template <class Fold = gnn_fold_sum> GNN_INLINE gnn_real gnn_add_open(gnn_real *open, int64_t done, int64_t width, int64_t i, gnn_real number) {
  gnn_real *place = open + __popcll((unsigned long long)done) * width + i;
  for (; done & 1; done >>= 1) {
    place -= width;
    number = Fold::join(*place, number);
  }
  *place = number;
  return number;
}

/* Number i of the sum of this run. */
template <class Fold = gnn_fold_sum> GNN_INLINE void gnn_walk_add(const gnn_walk *walk, int64_t i, gnn_real number) { gnn_add_open<Fold>(walk->sums, walk->done, walk->width, i, Fold::settle(number, false)); }

GNN_INLINE void gnn_walk_on(gnn_walk *walk) {
  walk->run++;
  walk->done++;
}

enum { GNN_SUM_NUMBERS = 8, GNN_SUM_SHARES = GNN_THREADS / GNN_SUM_NUMBERS, GNN_SUM_EACH = 16 /* at most GNN_SUM_SHARES times as many walkers */ };

/* done(i, sum) with the top of the tree over the sums of all walkers for each number i < width: a block for GNN_SUM_NUMBERS of them, its
 * threads sharing the walkers; this one is number `block` of these. */
template <class Fold, class Done> GNN_INLINE void gnn_fold_walkers(gnn_runs runs, int64_t most_levels, const gnn_real *sums, int64_t width, int64_t block, const Done &done) {
  __shared__ gnn_real top[GNN_SUM_SHARES][GNN_SUM_NUMBERS];
  const int64_t shared = gnn_min(runs.levels, most_levels), stride = (runs.levels - shared + 1) * width;
  const int64_t shares = gnn_min(INT64_C(1) << shared, GNN_SUM_SHARES), each = (INT64_C(1) << shared) / shares;
  const int place = (int)threadIdx.x % GNN_SUM_NUMBERS, share = (int)threadIdx.x / GNN_SUM_NUMBERS;
  const int64_t i = block * GNN_SUM_NUMBERS + place;
  gnn_real number[GNN_SUM_EACH] = {};
  if (share < shares && i < width) {
    GNN_UNROLL for (int w = 0; w < GNN_SUM_EACH; w++)
      if (w < each) number[w] = sums[(share * each + w) * stride + i];
    GNN_UNROLL for (int half = 1; half < GNN_SUM_EACH; half *= 2)
      GNN_UNROLL for (int w = 0; w < GNN_SUM_EACH; w += 2 * half)
        if (w + half < each) number[w] = Fold::join(number[w], number[w + half]);
  }
  top[share][place] = number[0];
  for (int half = 1; half < shares; half *= 2) {
    __syncthreads();
    if (share % (2 * half) == 0 && share + half < shares) top[share][place] = Fold::join(top[share][place], top[share + half][place]);
  }
  if (share == 0 && i < width) done(i, top[0][place]);
}

/* to[0 .. width) = the sum of all runs. */
template <class Fold = gnn_fold_sum> GNN_INLINE void gnn_sum_walkers(gnn_runs runs, int64_t most_levels, const gnn_real *sums, int64_t width, gnn_real *to) {
  gnn_fold_walkers<Fold>(runs, most_levels, sums, width, blockIdx.x, [=](int64_t i, gnn_real sum) { to[i] = sum; });
}

/* The runs were those of a part, of which `part` are done before it: open[][width] are the sums of those, as a walker has them of runs.
 * to, if not NULL: after the last part, the sum of all. */
template <class Fold = gnn_fold_sum> GNN_INLINE void gnn_sum_part(gnn_runs runs, int64_t most_levels, const gnn_real *sums, int64_t width, int64_t part, gnn_real *open, gnn_real *to) {
  gnn_fold_walkers<Fold>(runs, most_levels, sums, width, blockIdx.x, [=](int64_t i, gnn_real sum) {
    sum = gnn_add_open<Fold>(open, part, width, i, sum);
    if (to) to[i] = sum;
  });
}

/* Of a rank, whose parts are walked over one after the other, each as `runs` of them: parts[own part][0 .. width). */
template <class Fold = gnn_fold_sum> GNN_INLINE void gnn_sum_walkers_of_parts(gnn_runs runs, int64_t most_levels, const gnn_real *sums, int64_t width, gnn_real *parts) {
  const int64_t shared = gnn_min(runs.levels, most_levels), blocks = (width + GNN_SUM_NUMBERS - 1) / GNN_SUM_NUMBERS, part = blockIdx.x / blocks;
  gnn_real *to = parts + part * width;
  gnn_fold_walkers<Fold>(runs, most_levels, sums + (part << shared) * (runs.levels - shared + 1) * width, width, blockIdx.x % blocks, [=](int64_t i, gnn_real sum) { to[i] = sum; });
}

/* Of a part of a rank's rows, from 1 on: the runs of its first finer part, whose walkers those of the others follow. */
GNN_INLINE gnn_runs gnn_runs_of_finer(const gnn_view *g, int64_t part) { return gnn_runs_of_part(g, gnn_parts_before(g, part - 1) + 1, g->part_levels + g->finer_levels); }

/* The walkers were those of all finer parts of the part. sums: of the parts of all ranks, [2^part_levels][width], of which one is there behind its last finer part; behind them those that are open. */
template <class Fold = gnn_fold_sum> GNN_INLINE void gnn_sum_finer_parts(const gnn_view *g, int64_t part, int64_t most_levels, const gnn_real *walks, int64_t width, gnn_real *sums) {
  const int64_t begin = gnn_parts_before(g, part - 1), end = gnn_parts_before(g, part), finer = INT64_C(1) << g->finer_levels;
  const gnn_runs runs = gnn_runs_of_finer(g, part);
  const int64_t shared = gnn_min(runs.levels, most_levels), stride = (runs.levels - shared + 1) * width << shared;
  gnn_real *open = sums + (width << g->part_levels);
  for (int64_t own = begin; own < end; own++) {
    gnn_real *to = own % finer == finer - 1 ? sums + (g->first_part + own / finer) * width : nullptr;
    gnn_fold_walkers<Fold>(runs, most_levels, walks + (own - begin) * stride, width, blockIdx.x, [=](int64_t i, gnn_real sum) {
      sum = gnn_add_open<Fold>(open, own % finer, width, i, sum);
      if (to) to[i] = sum;
    });
    __syncthreads();
  }
}

/* to[0 .. width) = the top of the tree over the sums of the 2^levels parts of all ranks, which are overwritten. */
template <class Fold = gnn_fold_sum> GNN_INLINE void gnn_sum_parts(gnn_real *parts, int64_t levels, int64_t width, gnn_real *to) {
  const int64_t count = INT64_C(1) << levels;
  for (int64_t i = gnn_group<1>(); i < width; i += gnn_groups<1>()) {
    for (int64_t half = 1; half < count; half *= 2)
      for (int64_t p = 0; p < count; p += 2 * half) parts[p * width + i] = Fold::join(parts[p * width + i], parts[(p + half) * width + i]);
    to[i] = parts[i];
  }
}

enum { GNN_TREE_EACH = 16 /* GNN_THREADS times as many numbers at most: those of 2^12 canonical blocks */ };

/* The tree over `count` numbers, a power of two, `stride` apart: by a block, whose first thread gets it. */
GNN_INLINE double gnn_sum_tree(const double *numbers, int64_t count, int64_t stride) {
  __shared__ double top[GNN_THREADS];
  const int64_t shares = gnn_min(count, GNN_THREADS), each = count / shares, share = threadIdx.x;
  double number[GNN_TREE_EACH] = {};
  if (share < shares) {
    GNN_UNROLL for (int i = 0; i < GNN_TREE_EACH; i++)
      if (i < each) number[i] = numbers[(share * each + i) * stride];
    GNN_UNROLL for (int half = 1; half < GNN_TREE_EACH; half *= 2)
      GNN_UNROLL for (int i = 0; i < GNN_TREE_EACH; i += 2 * half)
        if (i + half < each) number[i] += number[i + half];
  }
  top[share] = number[0];
  for (int64_t half = 1; half < shares; half *= 2) {
    __syncthreads();
    if (share % (2 * half) == 0 && share + half < shares) top[share] += top[share + half];
  }
  const double sum = top[share];
  __syncthreads();
  return sum;
}

/* The sum of 16 numbers by halving, as on a processor. They are overwritten. */
GNN_INLINE gnn_real gnn_sum_lanes(gnn_real *lanes) {
  GNN_UNROLL for (int half = 8; half > 0; half /= 2)
    GNN_UNROLL for (int t = 0; t < half; t++) lanes[t] += lanes[t + half];
  return lanes[0];
}

#endif
