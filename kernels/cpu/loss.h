/* loss.h: softmax cross entropy and accuracy over a list of labelled rows.
 *
 * scores: [nodes, classes] row-major; labels: [nodes]; rows: node numbers, ascending, each with a label that is not
 * negative. [begin, end) are positions in the list unless said otherwise.
 */
#ifndef GNN_LOSS_H
#define GNN_LOSS_H

#include "math.h"

GNN_INLINE gnn_real gnn_row_maximum(const gnn_real *row, int64_t classes) {
  gnn_real maximum = row[0];
  for (int64_t c = 1; c < classes; c++) maximum = row[c] > maximum ? row[c] : maximum;
  return maximum;
}

/* The sum of -log p(label); the caller divides by the number of rows. */
GNN_INLINE double gnn_cross_entropy_part(const gnn_real *scores, int64_t classes, const int32_t *labels,
                                         const int32_t *rows, int64_t begin, int64_t end) {
  double loss = 0;
  for (int64_t i = begin; i < end; i++) {
    const gnn_real *row = scores + rows[i] * classes;
    const gnn_real maximum = gnn_row_maximum(row, classes);
    double sum = 0;
    for (int64_t c = 0; c < classes; c++) sum += (double)gnn_exp(row[c] - maximum);
    loss += log(sum) + (double)maximum - (double)row[labels[rows[i]]];
  }
  return loss;
}

/* sums[b] for the blocks [begin, end): that of the labelled rows among first[b] .. first[b + 1] - 1. */
GNN_INLINE void gnn_cross_entropy_blocks(const gnn_real *scores, int64_t classes, const int32_t *labels, const int32_t *rows,
                                         int64_t row_count, const int64_t *first, int64_t begin, int64_t end, double *sums) {
  for (int64_t b = begin; b < end; b++)
    sums[b] = gnn_cross_entropy_part(scores, classes, labels, rows, gnn_entry_of(rows, 0, row_count, first[b]),
                                     gnn_entry_of(rows, 0, row_count, first[b + 1]));
}

GNN_INLINE void gnn_cross_entropy_gradient_row(const gnn_real *row, int64_t classes, int32_t label, double count,
                                               gnn_real *gradient) {
  const gnn_real maximum = gnn_row_maximum(row, classes);
  double sum = 0;
  for (int64_t c = 0; c < classes; c++) {
    gradient[c] = gnn_exp(row[c] - maximum);
    sum += (double)gradient[c];
  }
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

/* The same with [begin, end) being nodes; writes every row, zeros where a node is not listed. */
GNN_INLINE void gnn_cross_entropy_gradient_nodes(const gnn_real *scores, int64_t classes, const int32_t *labels,
                                                 const int32_t *rows, int64_t row_count, int64_t begin, int64_t end,
                                                 gnn_real *gradient) {
  int64_t low = gnn_entry_of(rows, 0, row_count, begin);
  for (int64_t r = begin; r < end; r++) {
    gnn_real *to = gradient + r * classes;
    if (low < row_count && rows[low] == r) {
      gnn_cross_entropy_gradient_row(scores + r * classes, classes, labels[r], (double)row_count, to);
      low++;
    } else {
      for (int64_t c = 0; c < classes; c++) to[c] = 0;
    }
  }
}

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
