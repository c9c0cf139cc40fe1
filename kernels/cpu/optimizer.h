/* optimizer.h: one step of an optimiser on elements [begin, end) of a weight, as torch.optim defines them.
 *
 * w: the weight, g: its gradient, not changed, which `clip` makes smaller. step counts from 1.
 */
#ifndef GNN_OPTIMIZER_H
#define GNN_OPTIMIZER_H

#include "math.h"

/* Every gradient is multiplied by `factor`, then brought between -limit and limit; NaN stays. */
typedef struct gnn_clip {
  gnn_real factor, limit;
} gnn_clip;

#define GNN_UNCLIPPED ((gnn_clip){1, INFINITY})

GNN_INLINE gnn_real gnn_clipped(gnn_clip clip, gnn_real gradient) {
  const gnn_real x = gradient * clip.factor, low = x < -clip.limit ? -clip.limit : x;
  return low > clip.limit ? clip.limit : low;
}

/* The mean of `count` gradients, one a call; true where it is complete. */
GNN_INLINE int gnn_accumulate(gnn_real *sum, const gnn_real *g, int64_t count, int64_t epoch, int64_t begin, int64_t end) {
  const gnn_real share = (gnn_real)(1 / (double)count);
  const int is_first = (epoch - 1) % count == 0;
  for (int64_t i = begin; i < end; i++) sum[i] = is_first ? share * g[i] : gnn_fma(share, g[i], sum[i]);
  return epoch % count == 0;
}

/* buffer: the momentum's, NULL without; its first value is the first gradient. No dampening. */
GNN_SHARED void gnn_sgd(gnn_real *restrict w, const gnn_real *restrict g, gnn_clip clip, gnn_real *restrict buffer,
                        double lr, double momentum, double weight_decay, int nesterov, int64_t step, int64_t begin, int64_t end) {
  const gnn_real rate = (gnn_real)lr, decay = (gnn_real)weight_decay, keep = (gnn_real)momentum;
  if (!buffer) {
    for (int64_t i = begin; i < end; i++) w[i] = gnn_fma(-rate, gnn_fma(decay, w[i], gnn_clipped(clip, g[i])), w[i]);
    return;
  }
  for (int64_t i = begin; i < end; i++) {
    const gnn_real slope = gnn_fma(decay, w[i], gnn_clipped(clip, g[i]));
    const gnn_real speed = step == 1 ? slope : gnn_fma(keep, buffer[i], slope);
    buffer[i] = speed;
    w[i] = gnn_fma(-rate, nesterov ? gnn_fma(keep, speed, slope) : speed, w[i]);
  }
}

/* The step both Adams share; shrink multiplies the weight first, decay * w is added to the gradient. */
GNN_SHARED void gnn_adam_step(gnn_real *restrict w, const gnn_real *restrict g, gnn_clip clip, gnn_real *restrict m,
                              gnn_real *restrict v, double lr, double beta1, double beta2, double epsilon,
                              gnn_real shrink, gnn_real decay, int64_t step, int64_t begin, int64_t end) {
  const gnn_real rate = (gnn_real)(lr / (1 - pow(beta1, (double)step)));
  const gnn_real root = (gnn_real)(1 / sqrt(1 - pow(beta2, (double)step)));
  const gnn_real take1 = (gnn_real)(1 - beta1), take2 = (gnn_real)(1 - beta2), eps = (gnn_real)epsilon;
  for (int64_t i = begin; i < end; i++) {
    const gnn_real x = w[i] * shrink, slope = gnn_fma(decay, x, gnn_clipped(clip, g[i]));
    const gnn_real mean = gnn_fma(take1, slope - m[i], m[i]);
    const gnn_real square = gnn_fma(take2, gnn_fma(slope, slope, -v[i]), v[i]);
    m[i] = mean;
    v[i] = square;
    w[i] = x - rate * mean / (gnn_sqrt(square) * root + eps);
  }
}

/* Weight decay is part of the gradient. */
GNN_INLINE void gnn_adam(gnn_real *w, const gnn_real *g, gnn_clip clip, gnn_real *m, gnn_real *v, double lr, double beta1,
                         double beta2, double epsilon, double weight_decay, int64_t step, int64_t begin, int64_t end) {
  gnn_adam_step(w, g, clip, m, v, lr, beta1, beta2, epsilon, 1, (gnn_real)weight_decay, step, begin, end);
}

/* Weight decay shrinks the weight beside the gradient. */
GNN_INLINE void gnn_adamw(gnn_real *w, const gnn_real *g, gnn_clip clip, gnn_real *m, gnn_real *v, double lr, double beta1,
                          double beta2, double epsilon, double weight_decay, int64_t step, int64_t begin, int64_t end) {
  gnn_adam_step(w, g, clip, m, v, lr, beta1, beta2, epsilon, (gnn_real)(1 - lr * weight_decay), 0, step, begin, end);
}

/* One element; `other` is the mean of the gradients where it is centered, else the momentum's buffer, NULL without. */
GNN_INLINE void gnn_rmsprop_element(gnn_real *w, gnn_real slope, gnn_real *square, gnn_real *other, gnn_real rate, gnn_real take,
                                    gnn_real eps, gnn_real keep, int centered) {
  const gnn_real mean_square = gnn_fma(take, gnn_fma(slope, slope, -*square), *square);
  gnn_real variance = mean_square;
  *square = mean_square;
  if (centered) {
    const gnn_real mean = gnn_fma(take, slope - *other, *other);
    *other = mean;
    variance = gnn_fma(-mean, mean, mean_square);
    variance = variance < 0 ? 0 : variance; /* by rounding */
  }
  const gnn_real move = slope / (gnn_sqrt(variance) + eps);
  if (centered || !other) *w = gnn_fma(-rate, move, *w);
  else *w = gnn_fma(-rate, *other = gnn_fma(keep, *other, move), *w);
}

/* centered: there is no momentum. */
GNN_SHARED void gnn_rmsprop(gnn_real *restrict w, const gnn_real *restrict g, gnn_clip clip, gnn_real *restrict square,
                            gnn_real *restrict other, double lr, double alpha, double epsilon, double weight_decay, double momentum,
                            int centered, int64_t step, int64_t begin, int64_t end) {
  const gnn_real rate = (gnn_real)lr, take = (gnn_real)(1 - alpha), eps = (gnn_real)epsilon, decay = (gnn_real)weight_decay;
  const gnn_real keep = (gnn_real)momentum;
  (void)step;
  for (int64_t i = begin; i < end; i++)
    gnn_rmsprop_element(&w[i], gnn_fma(decay, w[i], gnn_clipped(clip, g[i])), &square[i], other ? &other[i] : NULL, rate, take, eps, keep, centered);
}

/* sum: of the squares, which begins with `initial`. */
GNN_SHARED void gnn_adagrad(gnn_real *restrict w, const gnn_real *restrict g, gnn_clip clip, gnn_real *restrict sum, double lr,
                            double lr_decay, double weight_decay, double initial, double epsilon, int64_t step, int64_t begin, int64_t end) {
  const gnn_real rate = (gnn_real)(lr / (1 + (double)(step - 1) * lr_decay)), decay = (gnn_real)weight_decay, eps = (gnn_real)epsilon;
  for (int64_t i = begin; i < end; i++) {
    const gnn_real slope = gnn_fma(decay, w[i], gnn_clipped(clip, g[i]));
    const gnn_real total = gnn_fma(slope, slope, step == 1 ? (gnn_real)initial : sum[i]);
    sum[i] = total;
    w[i] = gnn_fma(-rate, slope / (gnn_sqrt(total) + eps), w[i]);
  }
}

/* A running statistic: `share` of the way to what was seen. */
GNN_INLINE void gnn_follow(gnn_real *buffer, const gnn_real *value, gnn_real share, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) buffer[i] += share * (value[i] - buffer[i]);
}

#endif
