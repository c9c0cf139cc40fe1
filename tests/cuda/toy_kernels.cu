/* toy_kernels.cu: the steps of tests/runtime/toy_steps.h as kernels that add in the same order, so that the bits are the
 * same. For nvcc, and for what emulates it on the processor. */
#include "../../kernels/cuda/view.h"
#include "toy_layout.h"

static __device__ int64_t toy_thread(void) { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ int64_t toy_number(const gnn_view *g, toy_slot slot) { return (int64_t)g->option[slot]; }
static __device__ float *toy_at(const gnn_view *g, toy_slot slot) { return (float *)(g->device + toy_number(g, slot)); }

static __device__ uint64_t toy_mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static __device__ int toy_keeps(const gnn_view *g, int64_t feature) {
  uint64_t key = toy_mix(toy_mix(g->seed) ^ (uint64_t)g->update);
  return (double)(toy_mix(key + (uint64_t)feature * 0x9e3779b97f4a7c15u) >> 11) * (1.0 / 9007199254740992.0) >= g->option[1];
}

/* A place that leaves the device, made unfit before and fit again after. */
static __device__ void toy_mask(uint32_t *memory, int64_t bytes) {
  int64_t i = toy_thread();
  if (i < bytes / 4) memory[i] ^= 0x5a5a5a5au;
}
extern "C" __global__ void toy_mask_state(const gnn_view *g, gnn_places) { toy_mask((uint32_t *)toy_at(g, TOY_STATE), toy_number(g, TOY_STATE_BYTES)); }
extern "C" __global__ void toy_mask_x(const gnn_view *g, gnn_places) { toy_mask((uint32_t *)toy_at(g, TOY_X), toy_number(g, TOY_X_BYTES)); }

static __device__ void toy_poison(unsigned char *memory, int64_t bytes) {
  int64_t i = toy_thread();
  if (i < bytes) memory[i] = 0xff;
}
extern "C" __global__ void toy_poison_state(const gnn_view *g, gnn_places) { toy_poison((unsigned char *)toy_at(g, TOY_STATE), toy_number(g, TOY_STATE_BYTES)); }
extern "C" __global__ void toy_poison_x(const gnn_view *g, gnn_places) { toy_poison((unsigned char *)toy_at(g, TOY_X), toy_number(g, TOY_X_BYTES)); }

/* projected = x W, without the features that dropout takes away; one thread a number. */
static __device__ void toy_project(const gnn_view *g, int is_training) {
  int64_t classes = toy_number(g, TOY_CLASSES), width = toy_number(g, TOY_WIDTH), i = toy_thread(), v = i / classes, c = i % classes;
  if (v >= g->nodes) return;
  const float *row = toy_at(g, TOY_X) + v * width, *weight = toy_at(g, TOY_WEIGHT) + c * width;
  float sum = 0;
  for (int64_t f = 0; f < width; f++)
    if (!is_training || toy_keeps(g, f)) sum += row[f] * weight[f];
  toy_at(g, TOY_PROJECTED)[i] = sum;
}
extern "C" __global__ void toy_project_training(const gnn_view *g, gnn_places) { toy_project(g, 1); }
extern "C" __global__ void toy_project_evaluation(const gnn_view *g, gnn_places) { toy_project(g, 0); }

extern "C" __global__ void toy_forward(const gnn_view *g, gnn_places) {
  int64_t classes = toy_number(g, TOY_CLASSES), i = toy_thread(), v = i / classes, c = i % classes;
  if (v >= g->nodes) return;
  const float *projected = toy_at(g, TOY_PROJECTED);
  float sum = projected[i];
  for (int64_t e = g->sets[GNN_EDGES].in.ptr[v]; e < g->sets[GNN_EDGES].in.ptr[v + 1]; e++) sum += projected[g->sets[GNN_EDGES].in.idx[e] * classes + c];
  toy_at(g, TOY_SCORES)[i] = sum / (toy_at(g, TOY_DEGREE)[v] + 1) + toy_at(g, TOY_BIAS)[c];
}

/* One thread. */
extern "C" __global__ void toy_loss(const gnn_view *g, gnn_places) {
  int64_t classes = toy_number(g, TOY_CLASSES);
  const float *scores = toy_at(g, TOY_LOSS_SCORES);
  const int32_t *label = (const int32_t *)toy_at(g, TOY_Y);
  float *back = toy_at(g, TOY_BACK);
  double loss = 0, count = (double)g->row_count[GNN_TRAIN];
  if (toy_thread() != 0) return;
  for (int64_t i = 0; i < g->nodes * classes; i++) back[i] = 0;
  for (int64_t k = 0; k < g->row_count[GNN_TRAIN]; k++) {
    int32_t v = g->rows[GNN_TRAIN][k];
    const float *row = scores + v * classes;
    double greatest = (double)row[0], sum = 0;
    for (int64_t c = 1; c < classes; c++) greatest = (double)row[c] > greatest ? (double)row[c] : greatest;
    for (int64_t c = 0; c < classes; c++) sum += exp((double)row[c] - greatest);
    loss += log(sum) + greatest - (double)row[label[v]];
    for (int64_t c = 0; c < classes; c++) back[v * classes + c] = (float)((exp((double)row[c] - greatest) / sum - (c == label[v])) / count);
  }
  ((gnn_view *)g)->loss = loss / count;
}

/* One thread. Sums of the losses and how many are right, of each split. */
extern "C" __global__ void toy_measure(const gnn_view *g, gnn_places) {
  int64_t classes = toy_number(g, TOY_CLASSES);
  const int32_t *label = (const int32_t *)toy_at(g, TOY_Y);
  double *results = (double *)toy_at(g, TOY_RESULTS);
  if (toy_thread() != 0) return;
  for (int s = 0; s < 3; s++) {
    results[2 * s] = results[2 * s + 1] = 0;
    for (int64_t k = 0; k < g->row_count[s]; k++) {
      int32_t v = g->rows[s][k];
      const float *row = toy_at(g, TOY_SCORES) + v * classes;
      int64_t best = 0;
      double sum = 0;
      for (int64_t c = 1; c < classes; c++) best = row[c] > row[best] ? c : best;
      for (int64_t c = 0; c < classes; c++) sum += exp((double)row[c] - (double)row[best]);
      results[2 * s] += log(sum) + (double)row[best] - (double)row[label[v]];
      results[2 * s + 1] += best == label[v];
    }
  }
}

extern "C" __global__ void toy_back_bias(const gnn_view *g, gnn_places) {
  int64_t classes = toy_number(g, TOY_CLASSES), c = toy_thread();
  if (c >= classes) return;
  float sum = 0;
  for (int64_t v = 0; v < g->nodes; v++) sum += toy_at(g, TOY_BACK)[v * classes + c];
  *(float *)((unsigned char *)(toy_at(g, TOY_BIAS) + c) + toy_number(g, TOY_BIAS_BYTES)) = sum;
}

extern "C" __global__ void toy_back_forward(const gnn_view *g, gnn_places) {
  int64_t classes = toy_number(g, TOY_CLASSES), i = toy_thread(), v = i / classes, c = i % classes;
  const float *back = toy_at(g, TOY_BACK), *degree = toy_at(g, TOY_DEGREE);
  if (v >= g->nodes) return;
  float sum = back[i] / (degree[v] + 1);
  for (int64_t e = g->sets[GNN_EDGES].out.ptr[v]; e < g->sets[GNN_EDGES].out.ptr[v + 1]; e++) {
    int64_t u = g->sets[GNN_EDGES].out.idx[e];
    sum += back[u * classes + c] / (degree[u] + 1);
  }
  toy_at(g, TOY_BACK_PROJECTED)[i] = sum;
}

extern "C" __global__ void toy_back_weight(const gnn_view *g, gnn_places) {
  int64_t classes = toy_number(g, TOY_CLASSES), width = toy_number(g, TOY_WIDTH), i = toy_thread(), c = i / width, f = i % width;
  if (c >= classes) return;
  float sum = 0;
  for (int64_t v = 0; v < g->nodes && toy_keeps(g, f); v++) sum += toy_at(g, TOY_X)[v * width + f] * toy_at(g, TOY_BACK_PROJECTED)[v * classes + c];
  *(float *)((unsigned char *)(toy_at(g, TOY_WEIGHT) + i) + toy_number(g, TOY_WEIGHT_BYTES)) = sum;
}

/* Value, gradient, m and s lie one after another, each in so many bytes. */
static __device__ void toy_adam(const gnn_view *g, toy_slot at, toy_slot bytes, int64_t count, double decay) {
  int64_t i = toy_thread(), stride = toy_number(g, bytes) / 4;
  float *value = toy_at(g, at) + i, *gradient = value + stride, *m = gradient + stride, *s = m + stride;
  if (i >= count) return;
  double b1 = 1 - pow(0.9, (double)g->update), b2 = 1 - pow(0.999, (double)g->update), d = (double)*gradient + decay * (double)*value;
  *m = (float)(0.9 * (double)*m + 0.1 * d);
  *s = (float)(0.999 * (double)*s + 0.001 * d * d);
  *value -= (float)(g->option[0] * ((double)*m / b1) / (sqrt((double)*s / b2) + 1e-8));
}
extern "C" __global__ void toy_update_weight(const gnn_view *g, gnn_places) {
  toy_adam(g, TOY_WEIGHT, TOY_WEIGHT_BYTES, toy_number(g, TOY_CLASSES) * toy_number(g, TOY_WIDTH), 5e-4);
}
extern "C" __global__ void toy_update_bias(const gnn_view *g, gnn_places) { toy_adam(g, TOY_BIAS, TOY_BIAS_BYTES, toy_number(g, TOY_CLASSES), 0); }
