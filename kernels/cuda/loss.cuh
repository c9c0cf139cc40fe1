/* loss.cuh: softmax cross entropy over a list of labelled rows; see kernels/cpu/loss.h.
 *
 * Three kernels. The first finds the loss of every row of the list, by as many threads as fill the GPU, wherever the rows lie; the second adds
 * them up within each canonical block of the nodes, the third over the tree of blocks. So the bits follow from the rows of a block and their
 * order; how rows are shared out in the first kernel is free. A stride is how many numbers lie from a row to the next.
 */
#ifndef GNN_CUDA_LOSS_H
#define GNN_CUDA_LOSS_H

#include "math.cuh"
#include "reduce.cuh"

/* ---- a row by LANES threads ---- */

template <int LANES> GNN_INLINE gnn_real gnn_row_maximum(const gnn_real *row, int64_t classes) {
  gnn_real maximum = -INFINITY;
  for (int64_t c = threadIdx.x % LANES; c < classes; c += LANES) maximum = row[c] > maximum ? row[c] : maximum;
  return gnn_group_maximum<LANES>(maximum);
}

template <int LANES> GNN_INLINE double gnn_row_exp_sum(const gnn_real *row, int64_t classes, gnn_real maximum) {
  double sum = 0;
  for (int64_t c = threadIdx.x % LANES; c < classes; c += LANES) sum += (double)gnn_exp(row[c] - maximum);
  return gnn_group_sum<LANES, 1>(sum);
}

/* Of the row's largest scores the first; -1 where one is no number. */
template <int LANES> GNN_INLINE int64_t gnn_row_best(const gnn_real *row, int64_t classes) {
  gnn_real largest = -INFINITY;
  int64_t best = classes;
  bool is_nan = false;
  for (int64_t c = threadIdx.x % LANES; c < classes; c += LANES) {
    is_nan = is_nan || row[c] != row[c];
    if (best == classes || row[c] > largest) {
      largest = row[c];
      best = c;
    }
  }
  GNN_UNROLL for (int bits = 1; bits < LANES; bits *= 2) {
    const gnn_real other = __shfl_xor_sync(gnn_group_mask<LANES>(), largest, bits);
    const int64_t place = __shfl_xor_sync(gnn_group_mask<LANES>(), best, bits);
    const bool is_better = other > largest || (other == largest && place < best);
    largest = is_better ? other : largest;
    best = is_better ? place : best;
  }
  return __ballot_sync(gnn_group_mask<LANES>(), is_nan) ? -1 : best;
}

/* ---- the loss of every row ---- */

/* A loss is never less than 0: where hits are wanted, too, its sign says that the label is the row's best class. */
GNN_INLINE double gnn_loss_with_hit(double loss, bool is_hit) {
  const int64_t bits = __double_as_longlong(loss) & INT64_MAX;
  return __longlong_as_double(is_hit ? bits | INT64_MIN : bits);
}
GNN_INLINE double gnn_loss_alone(double loss) { return fabs(loss); }
GNN_INLINE bool gnn_loss_is_hit(double loss) { return __double_as_longlong(loss) < 0; }

/* losses[i] = -log p(label) of row row_of(i), for i < count. LANES threads go through EACH rows, one after the other; then each of them takes the
 * logarithm of one of these: in double it would cost as much for one thread as it does for all. */
template <int LANES, int EACH, bool HAS_HITS, class RowOf>
GNN_INLINE void gnn_losses(const gnn_real *scores, int64_t stride, int64_t classes, const int32_t *labels, const RowOf &row_of, int64_t count, double *losses) {
  const int lane = (int)threadIdx.x % LANES;
  for (int64_t warp = gnn_group<32>(); warp * (32 / LANES * EACH) < count; warp += gnn_groups<32>()) {
    const int64_t first = warp * (32 / LANES * EACH) + (int)threadIdx.x % 32 / LANES * EACH;
    double sum = 1, below = 0;
    bool is_hit = false;
    GNN_UNROLL_4 for (int k = 0; k < EACH; k++) {
      const int64_t r = row_of(gnn_min(first + k, count - 1));
      const gnn_real *row = scores + r * stride;
      const int32_t label = labels[r];
      const gnn_real maximum = gnn_row_maximum<LANES>(row, classes);
      const double exps = gnn_row_exp_sum<LANES>(row, classes, maximum);
      const bool is_best = HAS_HITS && gnn_row_best<LANES>(row, classes) == label;
      if (lane != k) continue;
      sum = exps;
      below = (double)maximum - (double)row[label];
      is_hit = is_best;
    }
    const double loss = log(sum) + below;
    if (lane < EACH && first + lane < count) losses[first + lane] = HAS_HITS ? gnn_loss_with_hit(loss, is_hit) : loss;
  }
}

template <int LANES, int EACH>
GNN_INLINE void gnn_cross_entropy_rows(const gnn_real *scores, int64_t stride, int64_t classes, const int32_t *labels, const int32_t *rows, int64_t count, double *losses) {
  gnn_losses<LANES, EACH, false>(scores, stride, classes, labels, [=](int64_t place) { return (int64_t)rows[place]; }, count, losses);
}

/* Of all splits, one after the other. */
template <int LANES, int EACH>
GNN_INLINE void gnn_measure_rows(const gnn_real *scores, int64_t stride, int64_t classes, const int32_t *labels, const gnn_view *g, double *losses) {
  const int64_t count = g->row_count[GNN_TRAIN] + g->row_count[GNN_VALID] + g->row_count[GNN_TEST];
  const auto row_of = [=](int64_t place) {
    int split = 0;
    while (place >= g->row_count[split]) place -= g->row_count[split++];
    return (int64_t)g->rows[split][place];
  };
  gnn_losses<LANES, EACH, true>(scores, stride, classes, labels, row_of, count, losses);
}

/* The same of those rows alone that lie from `begin` to `end`; each split's are in ascending order. */
template <int LANES, int EACH>
GNN_INLINE void gnn_measure_rows_of(const gnn_real *scores, int64_t stride, int64_t classes, const int32_t *labels, const gnn_view *g, int64_t begin, int64_t end, double *losses) {
  for (int split = GNN_TRAIN; split <= GNN_TEST; split++) {
    const int32_t *rows = g->rows[split];
    const int64_t first = gnn_entry_of(rows, 0, g->row_count[split], begin), last = gnn_entry_of(rows, 0, g->row_count[split], end);
    gnn_losses<LANES, EACH, true>(scores, stride, classes, labels, [=](int64_t place) { return (int64_t)rows[first + place]; }, last - first, losses + first);
    losses += g->row_count[split];
  }
}

/* Labelled rows of a part: of each split where its list is (or the whole list would be), and which of it they are. */
struct gnn_labelled {
  int64_t at, first, end;
};

/* The same of these, one split after the other. */
template <int LANES, int EACH>
GNN_INLINE void gnn_measure_labelled(const gnn_real *scores, int64_t stride, int64_t classes, const int32_t *labels, const gnn_view *g, const gnn_labelled *splits, double *losses) {
  for (int split = GNN_TRAIN; split <= GNN_TEST; split++) {
    const int32_t *rows = (const int32_t *)(const void *)gnn_at(g, splits[split].at) + splits[split].first;
    const int64_t count = splits[split].end - splits[split].first;
    gnn_losses<LANES, EACH, true>(scores, stride, classes, labels, [=](int64_t place) { return (int64_t)rows[place]; }, count, losses);
    losses += count;
  }
}

/* ---- other losses: see kernels/cpu/loss.h ---- */

#ifndef GNNRT_H
enum gnn_loss_kind { GNN_LOSS_CROSS_ENTROPY, GNN_LOSS_BCE, GNN_LOSS_MSE, GNN_LOSS_L1, GNN_LOSS_HUBER, GNN_LOSS_BPR };
#endif

/* As a type, so that nothing of it is left in the code of another loss. weights: of the classes, or NULL. */
template <int KIND, bool HAS_CLASSES> struct gnn_loss_of {
  double smoothing, delta, pos_weight;
  const double *weights;
};

template <int KIND, bool HAS_CLASSES> GNN_INLINE double gnn_element_loss(const gnn_loss_of<KIND, HAS_CLASSES> &loss, double score, double target) {
  const double off = score - target, size = fabs(off);
  if (KIND == GNN_LOSS_MSE) return off * off;
  if (KIND == GNN_LOSS_L1) return size;
  if (KIND == GNN_LOSS_HUBER) return size <= loss.delta ? off * off / 2 : loss.delta * (size - loss.delta / 2);
  const double softplus = log1p(exp(-fabs(score))) + (score < 0 ? -score : 0);
  return (1 - target) * score + (1 + (loss.pos_weight - 1) * target) * softplus;
}

template <int KIND, bool HAS_CLASSES> GNN_INLINE double gnn_element_slope(const gnn_loss_of<KIND, HAS_CLASSES> &loss, double score, double target) {
  const double off = score - target;
  if (KIND == GNN_LOSS_MSE) return 2 * off;
  if (KIND == GNN_LOSS_L1) return off > 0 ? 1 : off < 0 ? -1 : off;
  if (KIND == GNN_LOSS_HUBER) return off > loss.delta ? loss.delta : off < -loss.delta ? -loss.delta : off;
  return 1 - target - (1 + (loss.pos_weight - 1) * target) / (1 + exp(score));
}

template <int KIND, bool HAS_CLASSES> GNN_INLINE double gnn_class_share(const gnn_loss_of<KIND, HAS_CLASSES> &loss, int64_t classes, int64_t c, int64_t label) {
  return (loss.weights ? loss.weights[c] : 1) * (loss.smoothing / (double)classes + (c == label ? 1 - loss.smoothing : 0));
}

/* The target of one score: that of its class, or the number beside it. */
template <bool HAS_CLASSES> GNN_INLINE double gnn_target(const void *labels, int64_t stride, int64_t r, int64_t c) {
  return HAS_CLASSES ? (double)((const int32_t *)labels)[r] : (double)((const gnn_real *)labels)[r * stride + c];
}

/* Pairs, one score a row, by a single thread each: kernels/cpu/loss.h. */
GNN_INLINE bool gnn_ring_is_edge(const void *ring, int64_t r) { return ((const int32_t *)ring)[r] >= 0; }
GNN_INLINE int64_t gnn_ring_next(const void *ring, int64_t r) {
  const int64_t next = ((const int32_t *)ring)[r];
  return next < 0 ? -1 - next : next;
}

GNN_INLINE double gnn_bpr_row(const gnn_real *scores, int64_t stride, const void *ring, int64_t r) {
  double sum = 0, count = 0;
  if (!gnn_ring_is_edge(ring, r)) return 0;
  for (int64_t n = gnn_ring_next(ring, r); n != r; n = gnn_ring_next(ring, n), count++) {
    const double less = (double)scores[n * stride] - (double)scores[r * stride];
    sum += log1p(exp(-fabs(less))) + (less > 0 ? less : 0);
  }
  return count > 0 ? sum / count : 0;
}

GNN_INLINE double gnn_bpr_slope(const gnn_real *scores, int64_t stride, const void *ring, int64_t r) {
  double sum = 0, count = 0;
  int64_t edge = r;
  for (int64_t n = gnn_ring_next(ring, r); n != r; n = gnn_ring_next(ring, n), count++) {
    if (gnn_ring_is_edge(ring, n)) edge = n;
    sum += 1 / (1 + exp((double)scores[r * stride] - (double)scores[n * stride]));
  }
  return edge == r ? -sum / count : 1 / (1 + exp((double)scores[edge * stride] - (double)scores[r * stride])) / count;
}

/* losses[i] of row rows[i]; LANES threads a row. */
template <int LANES, int KIND, bool HAS_CLASSES>
GNN_INLINE void gnn_loss_rows(const gnn_loss_of<KIND, HAS_CLASSES> &loss, const gnn_real *scores, int64_t stride, int64_t width, const void *labels,
                              int64_t label_stride, const int32_t *rows, int64_t count, double *losses) {
  const int lane = (int)threadIdx.x % LANES;
  for (int64_t i = gnn_group<LANES>(); i < count; i += gnn_groups<LANES>()) {
    const int64_t r = rows[i];
    const gnn_real *row = scores + r * stride;
    double sum = 0;
    if (KIND == GNN_LOSS_BPR) {
      if (lane == 0) sum = gnn_bpr_row(scores, stride, labels, r);
    } else if (KIND == GNN_LOSS_CROSS_ENTROPY) {
      const gnn_real maximum = gnn_row_maximum<LANES>(row, width);
      const double log_sum = log(gnn_row_exp_sum<LANES>(row, width, maximum)) + (double)maximum;
      const int64_t label = ((const int32_t *)labels)[r];
      for (int64_t c = lane; c < width; c += LANES) {
        const double share = gnn_class_share(loss, width, c, label);
        sum += share == 0 ? 0 : share * (log_sum - (double)row[c]);
      }
    } else {
      for (int64_t c = lane; c < width; c += LANES) sum += gnn_element_loss(loss, (double)row[c], gnn_target<HAS_CLASSES>(labels, label_stride, r, c)) / (double)width;
    }
    sum = gnn_group_sum<LANES, 1>(sum);
    if (lane == 0) losses[i] = sum;
  }
}

/* gradient[row] of the loss divided by `total`, for the rows listed; all others have to be zero already. */
template <int LANES, int KIND, bool HAS_CLASSES, class T>
GNN_INLINE void gnn_loss_gradient(const gnn_loss_of<KIND, HAS_CLASSES> &loss, const gnn_real *scores, int64_t stride, int64_t width, const void *labels,
                                  int64_t label_stride, const int32_t *rows, int64_t count, double total, T *gradient, int64_t gradient_stride) {
  const int lane = (int)threadIdx.x % LANES;
  for (int64_t i = gnn_group<LANES>(); i < count; i += gnn_groups<LANES>()) {
    const int64_t r = rows[i];
    const gnn_real *row = scores + r * stride;
    T *to = gradient + r * gradient_stride;
    if (KIND == GNN_LOSS_BPR) {
      if (lane == 0) gnn_put(to, (gnn_real)(gnn_bpr_slope(scores, stride, labels, r) / total));
    } else if (KIND == GNN_LOSS_CROSS_ENTROPY) {
      const gnn_real maximum = gnn_row_maximum<LANES>(row, width);
      const double log_sum = log(gnn_row_exp_sum<LANES>(row, width, maximum)) + (double)maximum;
      const int64_t label = ((const int32_t *)labels)[r];
      double shares = 0;
      for (int64_t c = lane; c < width; c += LANES) shares += gnn_class_share(loss, width, c, label);
      shares = gnn_group_sum<LANES, 1>(shares);
      for (int64_t c = lane; c < width; c += LANES)
        gnn_put(&to[c], (gnn_real)((shares * exp((double)row[c] - log_sum) - gnn_class_share(loss, width, c, label)) / total));
    } else {
      for (int64_t c = lane; c < width; c += LANES)
        gnn_put(&to[c], (gnn_real)(gnn_element_slope(loss, (double)row[c], gnn_target<HAS_CLASSES>(labels, label_stride, r, c)) / ((double)width * total)));
    }
  }
}

/* ---- sums ---- */

/* Where the rows of a canonical block begin and end in the list: half of each warp looks for either. */
struct gnn_places_of_block {
  int64_t begin, end;
};
template <bool IS_OF_NODES> GNN_INLINE gnn_places_of_block gnn_block_places(const int32_t *rows, int64_t count, const gnn_view_blocks *blocks, int64_t block) {
  const int64_t wanted = block + (threadIdx.x % 32 >= 16);
  const int64_t place = IS_OF_NODES ? gnn_entry_of(rows, 0, count, blocks->first[wanted]) : count * wanted >> blocks->levels;
  return {__shfl_sync(~0u, place, 0), __shfl_sync(~0u, place, 16)};
}

/* sums[block]: over the labelled rows of a canonical block, which its threads share by their place in the list. Blocks from `first` on. */
template <bool IS_OF_NODES = true>
GNN_INLINE void gnn_cross_entropy_block(const double *losses, const int32_t *rows, int64_t count, const gnn_view_blocks *blocks, int64_t first, double *sums) {
  const int64_t block = first + blockIdx.x;
  const gnn_places_of_block places = gnn_block_places<IS_OF_NODES>(rows, count, blocks, block);
  double loss = 0;
  GNN_UNROLL_4 for (int64_t i = places.begin + threadIdx.x; i < places.end; i += GNN_THREADS) loss += losses[i];
  loss = gnn_block_sum<1>(loss);
  if (threadIdx.x == 0) sums[block] = loss;
}

/* By one block. */
GNN_INLINE void gnn_cross_entropy_mean(const double *sums, const gnn_view_blocks *blocks, double total, double *loss) {
  const double sum = gnn_sum_tree(sums, INT64_C(1) << blocks->levels, 1);
  if (threadIdx.x == 0) *loss = sum / total;
}

/* Of some rows the sum of -log p(label), and how many have their label as best. */
GNN_INLINE void gnn_measure_places(const double *losses, gnn_places_of_block places, double *result) {
  double loss = 0, hits = 0;
  GNN_UNROLL_4 for (int64_t i = places.begin + threadIdx.x; i < places.end; i += GNN_THREADS) {
    loss += gnn_loss_alone(losses[i]);
    hits += gnn_loss_is_hit(losses[i]);
  }
  loss = gnn_block_sum<1>(loss);
  hits = gnn_block_sum<1>(hits);
  if (threadIdx.x == 0) result[0] = loss, result[1] = hits;
}

/* Of a canonical block, over rows of the split. */
template <bool IS_OF_NODES> GNN_INLINE void gnn_measure_rows_of_block(const double *losses, const gnn_view *g, int64_t split, int64_t block, double *result) {
  for (int64_t s = 0; s < split; s++) losses += g->row_count[s];
  gnn_measure_places(losses, gnn_block_places<IS_OF_NODES>(g->rows[split], g->row_count[split], &g->blocks, block), result);
}

/* results[split][block], of `count` blocks from `first` on whose rows gnn_measure_labelled had. A block of threads for each of them and each split. */
GNN_INLINE void gnn_measure_blocks_of(const double *losses, const gnn_view *g, const gnn_labelled *splits, int64_t first, int64_t count, double *results) {
  const int64_t split = blockIdx.x / count, block = first + blockIdx.x % count;
  for (int64_t s = 0; s < split; s++) losses += splits[s].end - splits[s].first;
  const int32_t *rows = (const int32_t *)(const void *)gnn_at(g, splits[split].at) + splits[split].first;
  gnn_measure_places(losses, gnn_block_places<true>(rows, splits[split].end - splits[split].first, &g->blocks, block), results + 2 * ((split << g->blocks.levels) + block));
}

/* results[split][block]. A block of threads for each canonical block of each split. */
template <bool IS_OF_NODES = true> GNN_INLINE void gnn_measure_block(const double *losses, const gnn_view *g, double *results) {
  const int64_t split = blockIdx.x >> g->blocks.levels;
  gnn_measure_rows_of_block<IS_OF_NODES>(losses, g, split, blockIdx.x - (split << g->blocks.levels), results + 2 * blockIdx.x);
}

/* Of a rank: a block of threads for each of its own, of which EACH are a part. */
template <int EACH> GNN_INLINE void gnn_measure_block_of_rank(const double *losses, const gnn_view *g, double *results) {
  const int64_t own = g->own_parts * EACH, split = blockIdx.x / own, block = blockIdx.x % own;
  gnn_measure_rows_of_block<true>(losses, g, split, block, results + 2 * ((split << g->blocks.levels) + g->first_part * EACH + block));
}

/* sums[split] = the sum of its blocks; a block of threads for each split. */
GNN_INLINE void gnn_measure_split(const double *results, const gnn_view_blocks *blocks, double *sums) {
  const int64_t count = INT64_C(1) << blocks->levels;
  const double *own = results + 2 * (blockIdx.x * count);
  const double loss = gnn_sum_tree(own, count, 2), hits = gnn_sum_tree(own + 1, count, 2);
  if (threadIdx.x == 0) sums[2 * blockIdx.x] = loss, sums[2 * blockIdx.x + 1] = hits;
}

/* ---- the gradient ---- */

/* gradient[row] = (softmax - onehot) / total for the rows listed; all others have to be zero already. */
template <int LANES, class T>
GNN_INLINE void gnn_cross_entropy_gradient(const gnn_real *scores, int64_t stride, int64_t classes, const int32_t *labels, const int32_t *rows,
                                           int64_t row_count, int64_t total, T *gradient, int64_t gradient_stride) {
  const double count = (double)total;
  const gnn_real share = (gnn_real)(1 / count);
  const int64_t groups = gnn_groups<LANES>();
  for (int64_t i = gnn_group<LANES>(); i < row_count; i += groups) {
    const gnn_real *row = scores + rows[i] * stride, maximum = gnn_row_maximum<LANES>(row, classes);
    const gnn_real scale = (gnn_real)(1 / (gnn_row_exp_sum<LANES>(row, classes, maximum) * count));
    T *to = gradient + rows[i] * gradient_stride;
    for (int64_t c = threadIdx.x % LANES; c < classes; c += LANES) gnn_put(&to[c], gnn_exp(row[c] - maximum) * scale - (c == labels[rows[i]] ? share : 0));
  }
}

#endif
