/* walk.h: sums, or extremes, over the runs of rows that canonical blocks consist of (runtime/core/blocks.h), folded over their balanced binary tree.
 *
 * The runs are shared among walkers, an aligned subtree each. A walker goes from run to run and adds two sums as soon as they are
 * the halves of a larger subtree, so that few are open at a time: like the ones of a binary number, one for each level at most and
 * the sum of the run it is at. The sums of the walkers are folded last. How many walkers there are, and in which direction they
 * go, changes no bit.
 */
#ifndef GNN_WALK_H
#define GNN_WALK_H

#include "vector.h"

/* Tests have fewer walkers, and such as begin with the last run. */
#ifndef GNN_WALKER_LEVELS
#define GNN_WALKER_LEVELS 5
#endif
#ifndef GNN_WALK_STEP
#define GNN_WALK_STEP 1
#endif

/* How two sums become one, or two extremes. */
typedef enum gnn_fold { GNN_FOLD_SUM, GNN_FOLD_MAX, GNN_FOLD_MIN } gnn_fold;

GNN_INLINE void gnn_fold_numbers(gnn_fold fold, gnn_real *restrict to, const gnn_real *restrict from, int64_t begin, int64_t end) {
  if (fold == GNN_FOLD_SUM)
    for (int64_t i = begin; i < end; i++) to[i] += from[i];
  else if (fold == GNN_FOLD_MAX)
    for (int64_t i = begin; i < end; i++) to[i] = GNN_MAX(to[i], from[i]);
  else
    for (int64_t i = begin; i < end; i++) to[i] = GNN_MIN(to[i], from[i]);
}

typedef struct gnn_walkers {
  int64_t runs, each; /* in all; of a walker */
  int64_t open;       /* sums that a walker has open at most */
  gnn_fold fold;
} gnn_walkers;

/* At most 2^most_levels of them. */
GNN_INLINE gnn_walkers gnn_walkers_of(int levels, int most_levels, gnn_fold fold) {
  const int shared = (int)gnn_min(levels, gnn_min(most_levels, GNN_WALKER_LEVELS));
  return (gnn_walkers){INT64_C(1) << levels, INT64_C(1) << (levels - shared), levels - shared + 1, fold};
}

typedef struct gnn_walk {
  int64_t run, step; /* where the walker is, and where it goes from there: 1 or -1 */
  int64_t left;      /* runs to go, this one included */
  int64_t done;      /* runs: there is an open sum for each of the number's ones */
  gnn_real *sums;    /* [open][width] */
  int64_t width;
  gnn_fold fold;
} gnn_walk;

/* Over the runs [begin, end) of a walker. */
GNN_INLINE gnn_walk gnn_walk_begin(int64_t begin, int64_t end, gnn_real *sums, int64_t width, gnn_fold fold) {
  return (gnn_walk){GNN_WALK_STEP > 0 ? begin : end - 1, GNN_WALK_STEP, end - begin, 0, sums, width, fold};
}

/* Where the sum of this run goes. */
GNN_INLINE gnn_real *gnn_walk_place(const gnn_walk *walk) { return walk->sums + __builtin_popcountll((unsigned long long)walk->done) * walk->width; }

/* The sum of this run is there: on to the next. After the last, sums[0 .. width) is that of all. */
GNN_SHARED void gnn_walk_on(gnn_walk *walk) {
  gnn_real *last = gnn_walk_place(walk);
  for (int64_t done = walk->done; done & 1; done >>= 1) {
    gnn_real *before = last - walk->width;
    gnn_fold_numbers(walk->fold, before, last, 0, walk->width);
    last = before;
  }
  walk->done++;
  walk->left--;
  walk->run += walk->step;
}

/* out[begin .. end) = the top of the tree over the sums of all walkers, each the first of the `open` ones that it had room for. */
GNN_SHARED void gnn_sum_walkers(gnn_real *sums, gnn_walkers walkers, int64_t width, gnn_real *out, int64_t begin, int64_t end) {
  const int64_t count = walkers.runs / walkers.each, stride = walkers.open * width;
  for (int64_t half = 1; half < count; half *= 2)
    for (int64_t w = 0; w < count; w += 2 * half) {
      gnn_real *to = sums + w * stride;
      gnn_fold_numbers(walkers.fold, to, to + half * stride, begin, end);
    }
  for (int64_t i = begin; i < end; i++) out[i] = sums[i];
}

/* The same where the walkers have walked one of several parts of the runs, an aligned subtree each, of which `part` are done before it:
 * open[][width] are the sums of those, as a walker has them of runs. After the last part, open[0 .. width) is that of all. */
GNN_SHARED void gnn_sum_part(gnn_real *sums, gnn_walkers walkers, int64_t width, int64_t part, gnn_real *open, int64_t begin, int64_t end) {
  gnn_real *last = open + __builtin_popcountll((unsigned long long)part) * width;
  gnn_sum_walkers(sums, walkers, width, last, begin, end);
  for (int64_t done = part; done & 1; done >>= 1) {
    gnn_real *before = last - width;
    gnn_fold_numbers(walkers.fold, before, last, begin, end);
    last = before;
  }
}

#endif
