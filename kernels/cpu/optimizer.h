/* optimizer.h: one step of SGD, Adam or AdamW on elements [begin, end) of a weight, as torch.optim defines them.
 *
 * w: the weight, g: its gradient, not changed. step counts from 1.
 */
#ifndef GNN_OPTIMIZER_H
#define GNN_OPTIMIZER_H

#include "math.h"

/* buffer: the momentum's, NULL without; its first value is the first gradient. No dampening. */
GNN_SHARED void gnn_sgd(gnn_real *restrict w, const gnn_real *restrict g, gnn_real *restrict buffer, double lr,
                        double momentum, double weight_decay, int nesterov, int64_t step, int64_t begin, int64_t end) {
  const gnn_real rate = (gnn_real)lr, decay = (gnn_real)weight_decay, keep = (gnn_real)momentum;
  if (!buffer) {
    for (int64_t i = begin; i < end; i++) w[i] = gnn_fma(-rate, gnn_fma(decay, w[i], g[i]), w[i]);
    return;
  }
  for (int64_t i = begin; i < end; i++) {
    const gnn_real slope = gnn_fma(decay, w[i], g[i]);
    const gnn_real speed = step == 1 ? slope : gnn_fma(keep, buffer[i], slope);
    buffer[i] = speed;
    w[i] = gnn_fma(-rate, nesterov ? gnn_fma(keep, speed, slope) : speed, w[i]);
  }
}

/* The step both Adams share; shrink multiplies the weight first, decay * w is added to the gradient. */
GNN_SHARED void gnn_adam_step(gnn_real *restrict w, const gnn_real *restrict g, gnn_real *restrict m,
                              gnn_real *restrict v, double lr, double beta1, double beta2, double epsilon,
                              gnn_real shrink, gnn_real decay, int64_t step, int64_t begin, int64_t end) {
  const gnn_real rate = (gnn_real)(lr / (1 - pow(beta1, (double)step)));
  const gnn_real root = (gnn_real)(1 / sqrt(1 - pow(beta2, (double)step)));
  const gnn_real take1 = (gnn_real)(1 - beta1), take2 = (gnn_real)(1 - beta2), eps = (gnn_real)epsilon;
  for (int64_t i = begin; i < end; i++) {
    const gnn_real x = w[i] * shrink, slope = gnn_fma(decay, x, g[i]);
    const gnn_real mean = gnn_fma(take1, slope - m[i], m[i]);
    const gnn_real square = gnn_fma(take2, gnn_fma(slope, slope, -v[i]), v[i]);
    m[i] = mean;
    v[i] = square;
    w[i] = x - rate * mean / (gnn_sqrt(square) * root + eps);
  }
}

/* Weight decay is part of the gradient. */
GNN_INLINE void gnn_adam(gnn_real *w, const gnn_real *g, gnn_real *m, gnn_real *v, double lr, double beta1,
                         double beta2, double epsilon, double weight_decay, int64_t step, int64_t begin, int64_t end) {
  gnn_adam_step(w, g, m, v, lr, beta1, beta2, epsilon, 1, (gnn_real)weight_decay, step, begin, end);
}

/* Weight decay shrinks the weight beside the gradient. */
GNN_INLINE void gnn_adamw(gnn_real *w, const gnn_real *g, gnn_real *m, gnn_real *v, double lr, double beta1,
                          double beta2, double epsilon, double weight_decay, int64_t step, int64_t begin, int64_t end) {
  gnn_adam_step(w, g, m, v, lr, beta1, beta2, epsilon, (gnn_real)(1 - lr * weight_decay), 0, step, begin, end);
}

#endif
