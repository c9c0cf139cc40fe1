/* optimizer.cuh: one step of SGD, Adam or AdamW on elements [begin, end) of a weight, by a whole block; see
 * kernels/cpu/optimizer.h. All weights of a model share one launch, by a table of where they lie. */
#ifndef GNN_CUDA_OPTIMIZER_H
#define GNN_CUDA_OPTIMIZER_H

#include "math.cuh"

enum { GNN_UPDATE_EACH = 1024 }; /* elements a block */

/* Offsets in the arena; a state that the optimiser has not is at -1. Its blocks begin with number `block`. */
struct gnn_weight {
  int64_t at, at_gradient[2], at_state[2], count; /* the gradient in the plan, and where everything is kept */
  int block, group;
};

/* Whose elements this block has. */
template <int COUNT> GNN_INLINE const gnn_weight &gnn_weight_of_block(const gnn_weight (&weights)[COUNT]) {
  int first = 0, end = COUNT; /* it is of these, and there are no empty weights */
  while (end - first > 1) {
    const int middle = (first + end) / 2;
    (weights[middle].block <= (int)blockIdx.x ? first : end) = middle;
  }
  return weights[first];
}

GNN_INLINE gnn_real *gnn_state(const gnn_view *g, const gnn_weight &weight, int state) {
  return weight.at_state[state] < 0 ? nullptr : gnn_at(g, weight.at_state[state]);
}

GNN_INLINE void gnn_sgd(gnn_real *w, const gnn_real *g, gnn_real *buffer, double lr, double momentum, double weight_decay,
                        int nesterov, int64_t step, int64_t begin, int64_t end) {
  const gnn_real rate = (gnn_real)lr, decay = (gnn_real)weight_decay, keep = (gnn_real)momentum;
  for (int64_t i = begin + threadIdx.x; i < end; i += GNN_THREADS) {
    const gnn_real slope = gnn_fma(decay, w[i], g[i]);
    gnn_real speed = slope;
    if (buffer) {
      speed = step == 1 ? slope : gnn_fma(keep, buffer[i], slope);
      buffer[i] = speed;
    }
    w[i] = gnn_fma(-rate, buffer && nesterov ? gnn_fma(keep, speed, slope) : speed, w[i]);
  }
}

/* The powers in double are computed once a block. */
GNN_INLINE void gnn_adam_step(gnn_real *w, const gnn_real *g, gnn_real *m, gnn_real *v, double lr, double beta1, double beta2,
                              double epsilon, gnn_real shrink, gnn_real decay, int64_t step, int64_t begin, int64_t end) {
  __shared__ gnn_real rate, root;
  if (threadIdx.x == 0) {
    rate = (gnn_real)(lr / (1 - pow(beta1, (double)step)));
    root = (gnn_real)(1 / sqrt(1 - pow(beta2, (double)step)));
  }
  __syncthreads();
  const gnn_real take1 = (gnn_real)(1 - beta1), take2 = (gnn_real)(1 - beta2), eps = (gnn_real)epsilon;
  for (int64_t i = begin + threadIdx.x; i < end; i += GNN_THREADS) {
    const gnn_real x = w[i] * shrink, slope = gnn_fma(decay, x, g[i]);
    const gnn_real mean = gnn_fma(take1, slope - m[i], m[i]);
    const gnn_real square = gnn_fma(take2, gnn_fma(slope, slope, -v[i]), v[i]);
    m[i] = mean;
    v[i] = square;
    w[i] = x - rate * mean / (gnn_sqrt(square) * root + eps);
  }
}

/* Weight decay is part of the gradient. */
GNN_INLINE void gnn_adam(gnn_real *w, const gnn_real *g, gnn_real *m, gnn_real *v, double lr, double beta1, double beta2,
                         double epsilon, double weight_decay, int64_t step, int64_t begin, int64_t end) {
  gnn_adam_step(w, g, m, v, lr, beta1, beta2, epsilon, 1, (gnn_real)weight_decay, step, begin, end);
}

/* Weight decay shrinks the weight beside the gradient. */
GNN_INLINE void gnn_adamw(gnn_real *w, const gnn_real *g, gnn_real *m, gnn_real *v, double lr, double beta1, double beta2,
                          double epsilon, double weight_decay, int64_t step, int64_t begin, int64_t end) {
  gnn_adam_step(w, g, m, v, lr, beta1, beta2, epsilon, (gnn_real)(1 - lr * weight_decay), 0, step, begin, end);
}

#endif
