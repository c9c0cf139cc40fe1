/* optimizer.cuh: one step of an optimiser on elements [begin, end) of a weight, by a whole block; see
 * kernels/cpu/optimizer.h. All weights of a model share one launch, by a table of where they lie. */
#ifndef GNN_CUDA_OPTIMIZER_H
#define GNN_CUDA_OPTIMIZER_H

#include "math.cuh"

enum { GNN_UPDATE_EACH = 1024 }; /* elements a block */

/* Offsets in the arena; a state that the optimiser has not is at -1. Its blocks begin with number `block`. */
struct gnn_weight {
  int64_t at, at_gradient[2], at_state[3], count; /* the gradient in the plan, and where everything is kept */
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

struct gnn_clip {
  gnn_real factor, limit;
};

GNN_INLINE gnn_real gnn_clipped(gnn_clip clip, gnn_real gradient) {
  const gnn_real x = gradient * clip.factor, low = x < -clip.limit ? -clip.limit : x;
  return low > clip.limit ? clip.limit : low;
}

/* The mean of `count` gradients, one a call; true where it is complete. */
GNN_INLINE int gnn_accumulate(gnn_real *sum, const gnn_real *g, int64_t count, int64_t epoch, int64_t begin, int64_t end) {
  const gnn_real share = (gnn_real)(1 / (double)count);
  const int is_first = (epoch - 1) % count == 0;
  for (int64_t i = begin + threadIdx.x; i < end; i += GNN_THREADS) sum[i] = is_first ? share * g[i] : gnn_fma(share, g[i], sum[i]);
  return epoch % count == 0;
}

GNN_INLINE void gnn_sgd(gnn_real *w, const gnn_real *g, gnn_clip clip, gnn_real *buffer, double lr, double momentum, double weight_decay,
                        int nesterov, int64_t step, int64_t begin, int64_t end) {
  const gnn_real rate = (gnn_real)lr, decay = (gnn_real)weight_decay, keep = (gnn_real)momentum;
  for (int64_t i = begin + threadIdx.x; i < end; i += GNN_THREADS) {
    const gnn_real slope = gnn_fma(decay, w[i], gnn_clipped(clip, g[i]));
    gnn_real speed = slope;
    if (buffer) {
      speed = step == 1 ? slope : gnn_fma(keep, buffer[i], slope);
      buffer[i] = speed;
    }
    w[i] = gnn_fma(-rate, buffer && nesterov ? gnn_fma(keep, speed, slope) : speed, w[i]);
  }
}

/* The powers in double are computed once a block. */
GNN_INLINE void gnn_adam_step(gnn_real *w, const gnn_real *g, gnn_clip clip, gnn_real *m, gnn_real *v, double lr, double beta1, double beta2,
                              double epsilon, gnn_real shrink, gnn_real decay, int64_t step, int64_t begin, int64_t end) {
  __shared__ gnn_real rate, root;
  if (threadIdx.x == 0) {
    rate = (gnn_real)(lr / (1 - pow(beta1, (double)step)));
    root = (gnn_real)(1 / sqrt(1 - pow(beta2, (double)step)));
  }
  __syncthreads();
  const gnn_real take1 = (gnn_real)(1 - beta1), take2 = (gnn_real)(1 - beta2), eps = (gnn_real)epsilon;
  for (int64_t i = begin + threadIdx.x; i < end; i += GNN_THREADS) {
    const gnn_real x = w[i] * shrink, slope = gnn_fma(decay, x, gnn_clipped(clip, g[i]));
    const gnn_real mean = gnn_fma(take1, slope - m[i], m[i]);
    const gnn_real square = gnn_fma(take2, gnn_fma(slope, slope, -v[i]), v[i]);
    m[i] = mean;
    v[i] = square;
    w[i] = x - rate * mean / (gnn_sqrt(square) * root + eps);
  }
}

/* Weight decay is part of the gradient. */
GNN_INLINE void gnn_adam(gnn_real *w, const gnn_real *g, gnn_clip clip, gnn_real *m, gnn_real *v, double lr, double beta1, double beta2,
                         double epsilon, double weight_decay, int64_t step, int64_t begin, int64_t end) {
  gnn_adam_step(w, g, clip, m, v, lr, beta1, beta2, epsilon, 1, (gnn_real)weight_decay, step, begin, end);
}

/* Weight decay shrinks the weight beside the gradient. */
GNN_INLINE void gnn_adamw(gnn_real *w, const gnn_real *g, gnn_clip clip, gnn_real *m, gnn_real *v, double lr, double beta1, double beta2,
                          double epsilon, double weight_decay, int64_t step, int64_t begin, int64_t end) {
  gnn_adam_step(w, g, clip, m, v, lr, beta1, beta2, epsilon, (gnn_real)(1 - lr * weight_decay), 0, step, begin, end);
}

GNN_INLINE void gnn_rmsprop(gnn_real *w, const gnn_real *g, gnn_clip clip, gnn_real *square, gnn_real *other, double lr, double alpha,
                            double epsilon, double weight_decay, double momentum, int centered, int64_t, int64_t begin, int64_t end) {
  const gnn_real rate = (gnn_real)lr, take = (gnn_real)(1 - alpha), eps = (gnn_real)epsilon, decay = (gnn_real)weight_decay;
  const gnn_real keep = (gnn_real)momentum;
  for (int64_t i = begin + threadIdx.x; i < end; i += GNN_THREADS) {
    const gnn_real slope = gnn_fma(decay, w[i], gnn_clipped(clip, g[i]));
    const gnn_real mean_square = gnn_fma(take, gnn_fma(slope, slope, -square[i]), square[i]);
    gnn_real variance = mean_square;
    square[i] = mean_square;
    if (centered) {
      const gnn_real mean = gnn_fma(take, slope - other[i], other[i]);
      other[i] = mean;
      variance = gnn_fma(-mean, mean, mean_square);
      variance = variance < 0 ? 0 : variance;
    }
    gnn_real move = slope / (gnn_sqrt(variance) + eps);
    if (!centered && other) {
      move = gnn_fma(keep, other[i], move);
      other[i] = move;
    }
    w[i] = gnn_fma(-rate, move, w[i]);
  }
}

GNN_INLINE void gnn_adagrad(gnn_real *w, const gnn_real *g, gnn_clip clip, gnn_real *sum, double lr, double lr_decay, double weight_decay,
                            double initial, double epsilon, int64_t step, int64_t begin, int64_t end) {
  const gnn_real rate = (gnn_real)(lr / (1 + (double)(step - 1) * lr_decay)), decay = (gnn_real)weight_decay, eps = (gnn_real)epsilon;
  for (int64_t i = begin + threadIdx.x; i < end; i += GNN_THREADS) {
    const gnn_real slope = gnn_fma(decay, w[i], gnn_clipped(clip, g[i]));
    const gnn_real total = gnn_fma(slope, slope, step == 1 ? (gnn_real)initial : sum[i]);
    sum[i] = total;
    w[i] = gnn_fma(-rate, slope / (gnn_sqrt(total) + eps), w[i]);
  }
}

/* A running statistic: `share` of the way to what was seen. */
GNN_INLINE void gnn_follow(float *buffer, const float *value, float share, int64_t count) {
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x) buffer[i] = gnn_fma(share, value[i] - buffer[i], buffer[i]);
}

#endif
