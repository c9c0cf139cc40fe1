/* loss.h: losses over a list of labelled rows, as torch.nn.functional defines them.
 *
 * scores: [nodes, classes] row-major; labels: [nodes]; rows: node numbers, ascending, each with a label that is not
 * negative. [begin, end) are positions in the list unless said otherwise.
 */
#ifndef GNN_LOSS_H
#define GNN_LOSS_H

#include "math.h"

/* Of a row with a NaN any number. */
GNN_INLINE gnn_real gnn_row_maximum(const gnn_real *row, int64_t classes) {
  enum { LANES = 16 };
  gnn_real maximum = row[0];
  int64_t c = 0;
  if (classes >= 2 * LANES) {
    gnn_real most[LANES];
    GNN_ROLLED for (int t = 0; t < LANES; t++) most[t] = row[t];
    for (c = LANES; c + LANES <= classes; c += LANES)
      GNN_ROLLED for (int t = 0; t < LANES; t++) most[t] = row[c + t] > most[t] ? row[c + t] : most[t];
    for (int t = 0; t < LANES; t++) maximum = most[t] > maximum ? most[t] : maximum;
  }
  for (; c < classes; c++) maximum = row[c] > maximum ? row[c] : maximum;
  return maximum;
}

/* The sum of exp(row[c] - maximum) in the order of the classes: the exponentials in vectors, then one after the other. exps: [classes], or NULL. */
GNN_INLINE double gnn_row_exp_sum(const gnn_real *row, int64_t classes, gnn_real maximum, gnn_real *exps) {
  enum { BLOCK = 64 };
  gnn_real block[BLOCK];
  double sum = 0;
  for (int64_t first = 0; first < classes; first += BLOCK) {
    const int64_t count = gnn_min(classes - first, BLOCK);
    gnn_real *to = exps ? exps + first : block;
    GNN_INDEPENDENT for (int64_t c = 0; c < count; c++) to[c] = gnn_exp(row[first + c] - maximum);
    for (int64_t c = 0; c < count; c++) sum += (double)to[c];
  }
  return sum;
}

/* log of the sum of exp. */
GNN_INLINE double gnn_row_log_sum(const gnn_real *row, int64_t classes, gnn_real maximum) {
  return log(gnn_row_exp_sum(row, classes, maximum, NULL)) + (double)maximum;
}

/* The sum of -log p(label); the caller divides by the number of rows. */
GNN_INLINE double gnn_cross_entropy_part(const gnn_real *scores, int64_t classes, const int32_t *labels,
                                         const int32_t *rows, int64_t begin, int64_t end) {
  double loss = 0;
  for (int64_t i = begin; i < end; i++) {
    const gnn_real *row = scores + rows[i] * classes;
    loss += gnn_row_log_sum(row, classes, gnn_row_maximum(row, classes)) - (double)row[labels[rows[i]]];
  }
  return loss;
}

/* Where the entries of block b of a list of rows begin: those of its rows, or, without `first`, where the list is cut evenly. */
GNN_INLINE int64_t gnn_block_entry(const int32_t *rows, int64_t row_count, const gnn_blocks *blocks, int64_t b) {
  return blocks->first ? gnn_entry_of(rows, 0, row_count, blocks->first[b]) : row_count * b >> blocks->levels;
}

/* sums[b] for the blocks [begin, end): that of their labelled rows. */
GNN_INLINE void gnn_cross_entropy_blocks(const gnn_real *scores, int64_t classes, const int32_t *labels, const int32_t *rows,
                                         int64_t row_count, const gnn_blocks *blocks, int64_t begin, int64_t end, double *sums) {
  for (int64_t b = begin; b < end; b++)
    sums[b] = gnn_cross_entropy_part(scores, classes, labels, rows, gnn_block_entry(rows, row_count, blocks, b),
                                     gnn_block_entry(rows, row_count, blocks, b + 1));
}

GNN_INLINE void gnn_cross_entropy_gradient_row(const gnn_real *row, int64_t classes, int32_t label, double count,
                                               gnn_real *gradient) {
  const double sum = gnn_row_exp_sum(row, classes, gnn_row_maximum(row, classes), gradient);
  const gnn_real scale = (gnn_real)(1 / (sum * count));
  for (int64_t c = 0; c < classes; c++) gradient[c] *= scale;
  gradient[label] -= (gnn_real)(1 / count);
}

/* gradient[row] = (softmax - onehot) / row_count for the rows listed; all others have to be zero already. */
GNN_INLINE void gnn_cross_entropy_gradient(const gnn_real *scores, int64_t classes, const int32_t *labels,
                                           const int32_t *rows, int64_t row_count, int64_t begin, int64_t end,
                                           gnn_real *gradient) {
  for (int64_t i = begin; i < end; i++)
    gnn_cross_entropy_gradient_row(scores + rows[i] * classes, classes, labels[rows[i]], (double)row_count,
                                   gradient + rows[i] * classes);
}

/* The same with [begin, end) being nodes, and `total` rows, which may be more than are listed; writes every row, zeros where a node is not listed. */
GNN_INLINE void gnn_cross_entropy_gradient_of(const gnn_real *scores, int64_t classes, const int32_t *labels,
                                              const int32_t *rows, int64_t row_count, double total, int64_t begin, int64_t end,
                                              gnn_real *gradient) {
  int64_t low = gnn_entry_of(rows, 0, row_count, begin);
  for (int64_t r = begin; r < end; r++) {
    gnn_real *to = gradient + r * classes;
    if (low < row_count && rows[low] == r) {
      gnn_cross_entropy_gradient_row(scores + r * classes, classes, labels[r], total, to);
      low++;
    } else {
      for (int64_t c = 0; c < classes; c++) to[c] = 0;
    }
  }
}

GNN_INLINE void gnn_cross_entropy_gradient_nodes(const gnn_real *scores, int64_t classes, const int32_t *labels,
                                                 const int32_t *rows, int64_t row_count, int64_t begin, int64_t end,
                                                 gnn_real *gradient) {
  gnn_cross_entropy_gradient_of(scores, classes, labels, rows, row_count, (double)row_count, begin, end, gradient);
}

/* ---- all losses: `labels` are int32, one a row, the ring for bpr, or numbers, as many as scores, `stride` apart from row to row ---- */

/* Of one score and its target. Of squares and the like: of the difference. */
GNN_INLINE double gnn_element_loss(const gnn_loss *loss, double score, double target) {
  const double off = score - target, size = fabs(off);
  switch (loss->kind) {
  case GNN_LOSS_MSE: return off * off;
  case GNN_LOSS_L1: return size;
  case GNN_LOSS_HUBER: return size <= loss->delta ? off * off / 2 : loss->delta * (size - loss->delta / 2);
  case GNN_LOSS_BCE: { /* softplus(-score), without overflow */
    const double softplus = log1p(exp(-fabs(score))) + (score < 0 ? -score : 0);
    return (1 - target) * score + (1 + (loss->pos_weight - 1) * target) * softplus;
  }
  case GNN_LOSS_CROSS_ENTROPY: case GNN_LOSS_BPR: case GNN_LOSS_COUNT: break;
  }
  return NAN;
}

/* Its derivative by the score. */
GNN_INLINE double gnn_element_slope(const gnn_loss *loss, double score, double target) {
  const double off = score - target;
  switch (loss->kind) {
  case GNN_LOSS_MSE: return 2 * off;
  case GNN_LOSS_L1: return off > 0 ? 1 : off < 0 ? -1 : off;
  case GNN_LOSS_HUBER: return off > loss->delta ? loss->delta : off < -loss->delta ? -loss->delta : off;
  case GNN_LOSS_BCE: return 1 - target - (1 + (loss->pos_weight - 1) * target) / (1 + exp(score));
  case GNN_LOSS_CROSS_ENTROPY: case GNN_LOSS_BPR: case GNN_LOSS_COUNT: break;
  }
  return NAN;
}

/* ---- pairs: ring[r] leads from an edge to its negatives and back, from a negative by -1 - ring[r] (runtime/data/pairs.h) ---- */

GNN_INLINE int64_t gnn_ring_next(const int32_t *ring, int64_t r) { return ring[r] < 0 ? -1 - (int64_t)ring[r] : ring[r]; }

GNN_INLINE double gnn_rank_loss(double x) { return log1p(exp(-fabs(x))) + (x > 0 ? x : 0); }

/* Of an edge, the mean over its negatives of -log sigmoid of what its score is larger; of a negative 0. scores: one a row. */
GNN_INLINE double gnn_bpr_row(const gnn_real *scores, const int32_t *ring, int64_t r) {
  double sum = 0, count = 0;
  if (ring[r] < 0) return 0;
  for (int64_t n = ring[r]; n != r; n = gnn_ring_next(ring, n), count++) sum += gnn_rank_loss((double)scores[n] - (double)scores[r]);
  return count > 0 ? sum / count : 0; /* of a split whose pairs without an edge are fewer than its edges some have none */
}

/* Of the sum over all edges, by the score of row r. */
GNN_INLINE double gnn_bpr_slope(const gnn_real *scores, const int32_t *ring, int64_t r) {
  double sum = 0, count = 0;
  int64_t edge = r;
  for (int64_t n = gnn_ring_next(ring, r); n != r; n = gnn_ring_next(ring, n), count++) {
    if (ring[n] >= 0) edge = n;
    sum += 1 / (1 + exp((double)scores[r] - (double)scores[n]));
  }
  return edge == r ? -sum / count : 1 / (1 + exp((double)scores[edge] - (double)scores[r])) / count;
}

GNN_INLINE double gnn_class_weight(const gnn_loss *loss, int64_t class_) { return loss->weights ? loss->weights[class_] : 1; }

/* What cross entropy wants of the probability of a class: all of it at the label, or some of it everywhere. */
GNN_INLINE double gnn_class_share(const gnn_loss *loss, int64_t classes, int64_t class_, int64_t label) {
  return gnn_class_weight(loss, class_) * (loss->smoothing / (double)classes + (class_ == label ? 1 - loss->smoothing : 0));
}

GNN_INLINE double gnn_loss_row(const gnn_loss *loss, const gnn_real *row, int64_t width, const void *labels, int64_t stride, int64_t r) {
  const int64_t label = loss->has_classes ? ((const int32_t *)labels)[r] : 0;
  const gnn_real *targets = (const gnn_real *)labels + r * stride;
  double sum = 0;
  if (loss->kind == GNN_LOSS_BPR) return gnn_bpr_row(row - r, labels, r);
  if (loss->kind == GNN_LOSS_CROSS_ENTROPY) {
    const double log_sum = gnn_row_log_sum(row, width, gnn_row_maximum(row, width));
    if (loss->smoothing == 0) return gnn_class_weight(loss, label) * (log_sum - (double)row[label]);
    for (int64_t c = 0; c < width; c++) sum += gnn_class_share(loss, width, c, label) * (log_sum - (double)row[c]);
    return sum;
  }
  for (int64_t c = 0; c < width; c++) sum += gnn_element_loss(loss, (double)row[c], loss->has_classes ? (double)label : (double)targets[c]);
  return sum / (double)width;
}

/* sums[b] for the blocks [begin, end): that of their labelled rows. */
GNN_INLINE void gnn_loss_blocks(const gnn_loss *loss, const gnn_real *scores, int64_t width, const void *labels, int64_t stride,
                                const int32_t *rows, int64_t row_count, const gnn_blocks *blocks, int64_t begin, int64_t end, double *sums) {
  for (int64_t b = begin; b < end; b++) {
    const int64_t last = gnn_block_entry(rows, row_count, blocks, b + 1);
    double sum = 0;
    for (int64_t i = gnn_block_entry(rows, row_count, blocks, b); i < last; i++)
      sum += gnn_loss_row(loss, scores + rows[i] * width, width, labels, stride, rows[i]);
    sums[b] = sum;
  }
}

/* Of the loss divided by `total`. */
GNN_INLINE void gnn_loss_gradient_row(const gnn_loss *loss, const gnn_real *row, int64_t width, const void *labels, int64_t stride, int64_t r,
                                      double total, gnn_real *gradient) {
  const int64_t label = loss->has_classes ? ((const int32_t *)labels)[r] : 0;
  const gnn_real *targets = (const gnn_real *)labels + r * stride;
  if (loss->kind == GNN_LOSS_BPR) {
    gradient[0] = (gnn_real)(gnn_bpr_slope(row - r, labels, r) / total);
    return;
  }
  if (loss->kind == GNN_LOSS_CROSS_ENTROPY) {
    const double log_sum = gnn_row_log_sum(row, width, gnn_row_maximum(row, width));
    double shares = 0;
    for (int64_t c = 0; c < width; c++) shares += gnn_class_share(loss, width, c, label);
    for (int64_t c = 0; c < width; c++)
      gradient[c] = (gnn_real)((shares * exp((double)row[c] - log_sum) - gnn_class_share(loss, width, c, label)) / total);
    return;
  }
  for (int64_t c = 0; c < width; c++)
    gradient[c] = (gnn_real)(gnn_element_slope(loss, (double)row[c], loss->has_classes ? (double)label : (double)targets[c]) / ((double)width * total));
}

/* [begin, end) are rows; writes each of them, zeros where it is not listed. */
GNN_INLINE void gnn_loss_gradient_rows(const gnn_loss *loss, const gnn_real *scores, int64_t width, const void *labels, int64_t stride,
                                       const int32_t *rows, int64_t row_count, double total, int64_t begin, int64_t end, gnn_real *gradient) {
  int64_t low = gnn_entry_of(rows, 0, row_count, begin);
  for (int64_t r = begin; r < end; r++) {
    gnn_real *to = gradient + r * width;
    if (low < row_count && rows[low] == r) {
      gnn_loss_gradient_row(loss, scores + r * width, width, labels, stride, r, total, to);
      low++;
    } else {
      for (int64_t c = 0; c < width; c++) to[c] = 0;
    }
  }
}

/* ---- accuracy ---- */

/* How many rows have their largest score, the first of equals, at the label. A row with a NaN never counts. */
GNN_INLINE int64_t gnn_accuracy_part(const gnn_real *scores, int64_t classes, const int32_t *labels,
                                     const int32_t *rows, int64_t begin, int64_t end) {
  int64_t correct = 0;
  for (int64_t i = begin; i < end; i++) {
    const gnn_real *row = scores + rows[i] * classes;
    int64_t best = 0;
    int has_nan = 0;
    for (int64_t c = 0; c < classes; c++) {
      best = row[c] > row[best] ? c : best;
      has_nan |= isnan(row[c]);
    }
    correct += best == labels[rows[i]] && !has_nan;
  }
  return correct;
}

#endif
