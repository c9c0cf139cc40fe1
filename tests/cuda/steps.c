/* Every step of a program once more by its CUDA kernels, in the emulation or (ON_GPU) on a GPU, from the same memory; then what it
 * left is compared with what the CPU left.
 *
 * The program of the CPU runs as usual and is watched. The two layouts differ in their scratch; blocks.inc lists the
 * blocks by name with their offsets in both, device.c is the host's side of the CUDA program. Each step runs under
 * three orders of threads and blocks, which have to leave the same bits.
 *
 * Tolerance: kernels sum in other orders and use other elementary functions, from equal inputs. An addition errs by at most
 * u = 2^-24 of the partial sum it leaves. Partial sums are no larger than the block's largest element L or, where terms
 * cancel, than the root of the sum of their squares; that is measured: with every input moved to a neighbouring number the
 * step leaves something else by at most d, and d is u times that root, or whatever else the step makes of errors. Of n
 * additions the errors are independent, and add up to l sqrt(n) times one of them, but for a chance of 2 exp(-l^2 / 2)
 * (Higham and Mary, A new approach to probabilistic rounding error analysis, 2019; with n for sqrt(n) it is the gamma_n
 * of Higham, Accuracy and Stability of Numerical Algorithms, chapter 3). Two orders, l = 4 for both together:
 *     |got - wanted| <= 4 sqrt(n) max(d, u L),    n = the longest sum of the program: over edges or nodes.
 * Of sums of up to 26000 terms one that is left out, or comes twice, makes more, as 4 sqrt(n) u < 1 / n. A loss is summed
 * in double, and n are the classes. A bit is the sign of an element, and may differ where that is so close to 0: one in 256.
 *
 * What the CUDA program keeps in bf16 (HALVES), and weights where there is such a thing, are rounded in the CPU's memory before each
 * step: both start from the same numbers, and a library that wants the weights in bf16 has them as they are. Neighbouring inputs
 * are then those in bf16, 2^16 times as far away, and d is 2^-16 of what they change. A bf16 that is left is off by half a unit in
 * its last place more, 2^-8 of itself; where a library leaves a product in the place of a multiple of it, by that of the product,
 * too (TWICE).
 *
 * Rows of odd widths are padded on the device: what lies between them is no number before a step, and must not count.
 */
#include "device.c"

#include "../../kernels/cuda/view.h"

void gnn_cuda_tap(gnn_run *run, const char *name, int64_t at, int64_t rows, int64_t width, int64_t stride) {
  (void)run, (void)name, (void)at, (void)rows, (void)width, (void)stride;
}

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind { REALS, HALVES, BITS, OTHERS } Kind;

typedef struct Block {
  const char *name;
  Kind kind;
  int64_t at, at_device, bytes; /* bytes: of the CPU's */
  int first, last; /* numbers of steps */
  int width, stride; /* of rows that are padded on the device, else 0 */
} Block;

static const Block blocks[] = {
#include "blocks.inc"
};
#ifndef TWICE
#define TWICE 0
#endif
enum { BLOCK_COUNT = sizeof blocks / sizeof blocks[0], ORDERS = 3 };

#ifdef ON_GPU /* tests/gpu/launch.c */
int64_t arena_bytes(void);
int64_t arena_bytes(void) { return device_program.device_bytes; }
int emulated_kernel_launch(const char *name, void *view, const gnn_places *at, int64_t block_count, int threads);
#define emulated_launch(name, view, at, block_count, threads, order) emulated_kernel_launch(name, view, at, block_count, threads)
#else
int emulated_launch(const char *name, void *view, const gnn_places *at, int64_t block_count, int threads, int order);
#endif

#include "runs.inc"

typedef void StepFunction(gnn_run *g);
static StepFunction *const step_functions[] = {
#include "steps.inc"
};
enum { STEP_COUNT = sizeof step_functions / sizeof step_functions[0] };

static unsigned char *arena, *first_arena;
static gnn_view view;
static int order, failures, checked[STEP_COUNT];
struct gnn_backend { int nothing; };
const gnn_backend gnn_cuda_backend = {0};

void gnn_launch(gnn_run *g, int kernel, int64_t block_count, int threads, int shared_bytes, const gnn_places *at) {
  (void)g;
  if (shared_bytes != 0 || !emulated_launch(kernel_names[kernel], &view, at, block_count, threads, order)) abort();
}

/* Where on the device number i of the CPU's is. */
static int64_t place_of(const Block *b, int64_t i) { return b->stride ? i / b->width * b->stride + i % b->width : i; }

static uint16_t rounded(float x) {
  uint32_t word;
  memcpy(&word, &x, sizeof word);
  return (uint16_t)(x != x ? 0x7fff : (word + 0x7fff + (word >> 16 & 1)) >> 16);
}

static float widened(uint16_t half) {
  const uint32_t word = (uint32_t)half << 16;
  float x;
  memcpy(&x, &word, sizeof x);
  return x;
}

/* Number i of those that begin at `at`; nothing is there: 0. */
static double number_at(int64_t at, int64_t i, int is_half) {
  if (at < 0) return 0;
  return (double)(is_half ? widened(((const uint16_t *)(const void *)(arena + at))[i]) : ((const float *)(const void *)(arena + at))[i]);
}

/* The libraries are not here to be tested: what they are asked for, in double. */
int gnn_cuda_gemm(gnn_run *g, const gnn_gemm_desc *d) {
  const int is_half = d->precision == GNN_OF_BF16;
  const int64_t across_a = gnn_row_stride(d->stride_a, d->transpose_a ? d->m : d->k), across_b = gnn_row_stride(d->stride_b, d->transpose_b ? d->k : d->n);
  const int64_t across_c = gnn_row_stride(d->stride_c, d->n);
  (void)g;
  if (getenv("NO_ALGORITHM")) return 0;
  for (int64_t i = 0; i < d->m; i++)
    for (int64_t j = 0; j < d->n; j++) {
      double sum = number_at(d->at_bias, j, d->is_half) + number_at(d->at_addend, i * across_c + j, d->is_half);
      for (int64_t k = 0; k < d->k; k++)
        sum += number_at(d->at_a, d->transpose_a ? k * across_a + i : i * across_a + k, is_half) * number_at(d->at_b, d->transpose_b ? j * across_b + k : k * across_b + j, is_half);
      const float c = (float)(d->is_relu && !(sum > 0) ? 0 : sum);
      if (d->is_half) ((uint16_t *)(void *)(arena + d->at_c))[i * across_c + j] = rounded(c);
      else ((float *)(void *)(arena + d->at_c))[i * across_c + j] = c;
    }
  memset(arena + d->at_workspace, 0xff, (size_t)d->workspace_bytes);
  return 1;
}

void gnn_cuda_prepare_gemm(gnn_run *g, const gnn_gemm_desc *d) { (void)g, (void)d; }

void gnn_cuda_spmm(gnn_run *g, const gnn_spmm_desc *d) {
  const gnn_view_csr *csr = d->is_out ? &view.sets[GNN_EDGES].out : &view.sets[GNN_EDGES].in;
  const float *x = (const void *)(arena + d->at_x);
  float *y = (void *)(arena + d->at_y);
  const int64_t stride = gnn_row_stride(d->stride, d->width);
  (void)g;
  for (int64_t r = 0; r < csr->rows; r++)
    for (int64_t f = 0; f < d->width; f++) {
      double sum = 0;
      for (int64_t e = csr->ptr[r]; e < csr->ptr[r + 1]; e++) sum += (double)x[csr->idx[e] * stride + f];
      y[r * stride + f] = (float)sum;
    }
}

void gnn_cuda_prepare_spmm(gnn_run *g, const gnn_spmm_desc *d) { (void)g, (void)d; }

extern const gnn_program MODEL;

/* Steps before the first epoch have the numbers after the others. */
static int is_alive(const Block *b, int step) { return b->first <= step && step <= b->last; }

/* The step is the first that writes the block: before, there is nothing of its own in it. What always stays, and data that only steps before the first
 * epoch read, are there. */
static int begins(const Block *b, int step) {
  const int is_there = (b->first == 1 && b->last >= MODEL.step_count) || (b->first > MODEL.step_count && strncmp(b->name, "data_", 5) == 0);
  return b->first == step && !is_there;
}

static int overlap(int64_t a, int64_t b, int64_t bytes) { return a < b + bytes && b < a + bytes; }

/* The step makes another block in the place of this one, on either side. */
static int is_taken(const Block *b, int step) {
  for (int i = 0; i < BLOCK_COUNT; i++) {
    const Block *other = &blocks[i];
    if (other != b && b->last == step && begins(other, step) && (overlap(b->at, other->at, b->bytes) || overlap(b->at_device, other->at_device, b->bytes / 2))) return 1;
  }
  return 0;
}

static int has_halves(void) {
  static int known = -1; /* asked of every number */
  for (int i = 0; known < 0 && i < BLOCK_COUNT; i++)
    if (blocks[i].kind == HALVES) known = 1;
  if (known < 0) known = 0;
  return known;
}

/* The CPU's numbers are rounded; where the device keeps them so, it gets them. */
static void round_block(const gnn_run *g, const Block *b) {
  float *x = (void *)(g->device + b->at);
  uint16_t *halves = (void *)(arena + b->at_device);
  for (int64_t i = 0; i < b->bytes / 4; i++) {
    x[i] = widened(rounded(x[i]));
    if (b->kind == HALVES) halves[place_of(b, i)] = rounded(x[i]);
  }
}

static void snapshot(const gnn_run *g, int step) {
  for (int i = 0; i < BLOCK_COUNT; i++) {
    const Block *b = &blocks[i];
    if (!is_alive(b, step) || begins(b, step)) continue;
    if (b->kind == HALVES || (has_halves() && strncmp(b->name, "weight_", 7) == 0)) round_block(g, b);
    float *to = (void *)(arena + b->at_device);
    const float *from = (const void *)(g->device + b->at);
    for (int64_t n = 0; b->stride && b->kind == REALS && n < b->bytes / 4; n++) to[place_of(b, n)] = from[n];
    if (b->kind != HALVES && !b->stride) memcpy(to, from, (size_t)b->bytes);
  }
}

/* The CPU updates weight after weight, what is CUDA several at once: the step that has the number `step` there. */
static int device_step(int step) {
  int number = 0;
  for (int done = 0; done < step && number < STEP_COUNT; number++) {
    int together = 1;
    if (number < device_program.step_count && sscanf(device_program.steps[number].what, "update of %d weights", &together) != 1) together = 1;
    done += together;
  }
  return number;
}

void watched_enter(gnn_run *g, int step) {
  g->step = step;
  if (!arena) {
    const size_t bytes = (size_t)device_program.device_bytes;
    arena = malloc(bytes), first_arena = malloc(bytes);
    if (!arena || !first_arena) abort();
    memset(arena, 0xff, bytes); /* NaN */
  }
  if (step == 1 || device_step(step) != device_step(step - 1)) snapshot(g, step);
}

enum { HUB_ENTRIES = 16 /* so few, so that small graphs have hubs */, MOST_GRAPHS = 2 * (GNN_RELATIONS + GNN_RELATIONS_MAX + GNN_SPARSE_MAX) };

static gnn_view_csr view_of_csr(const gnn_csr *from) {
  static struct { const int64_t *ptr; int32_t *hub; int64_t count; } known[MOST_GRAPHS], *at;
  for (at = known; at->hub && at->ptr != from->ptr; at++) {}
  if (!at->hub) {
    at->ptr = from->ptr;
    at->hub = malloc((size_t)(from->rows + 1) * sizeof *at->hub);
    if (!at->hub) abort();
  }
  at->count = 0; /* pairs that are drawn anew lie elsewhere */
  for (int64_t r = from->rows - 1; from->ptr && r >= 0; r--)
    if (from->ptr[r + 1] - from->ptr[r] > HUB_ENTRIES) at->hub[at->count++] = (int32_t)r;
  return (gnn_view_csr){from->rows, from->entries, from->ptr, from->idx, from->edge, at->hub, at->count, HUB_ENTRIES};
}

/* The graph and the labels are read where the CPU has them. */
static gnn_view view_of(const gnn_run *g) {
  gnn_view v = {.device = arena, .nodes = g->nodes, .edges = g->edges, .graphs = g->graphs, .node_id = g->node_id, .edge_id = g->edge_id,
                .blocks = {g->blocks.levels, g->blocks.run_levels, g->blocks.first}, .seed = g->seed, .update = g->update, .loss = g->loss};
  for (int i = 0; i < g->program->graph.set_count; i++) v.sets[i] = (gnn_view_edge_set){.in = view_of_csr(&g->sets[i].in), .out = view_of_csr(&g->sets[i].out)};
  memcpy(v.type_nodes, g->type_nodes, sizeof v.type_nodes);
  for (int i = 0; i < GNN_SPARSE_MAX; i++)
    v.sparse[i] = (gnn_view_sparse){view_of_csr(&g->sparse[i].by_row), g->sparse[i].row_value, view_of_csr(&g->sparse[i].by_column),
                                    g->sparse[i].column_value};
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    v.rows[s] = g->rows[s];
    v.row_count[s] = g->row_count[s];
    v.row_weight[s] = g->row_weight[s];
  }
  memcpy(v.option, g->option, sizeof v.option);
  memcpy(v.rate, g->rate, sizeof v.rate);
  return v;
}

static void complain(int step, const Block *b, int64_t i, double got, double want) {
  if (failures++ < 20) fprintf(stderr, "step %d: %s[%lld]: %.9g, the CPU has %.9g\n", step, b->name, (long long)i, got, want);
}

static double tolerance(double terms, double moved, double largest) { return 4 * sqrt(terms) * fmax(moved, 0x1p-24 * largest); }

static double longest_sum(const gnn_run *g) {
  int64_t most = g->nodes;
  for (int i = 0; i < g->program->graph.set_count; i++) most = g->sets[i].in.entries > most ? g->sets[i].in.entries : most;
  return (double)most;
}

/* u of where the neighbour of a number is. */
static double per_neighbour(void) { return has_halves() ? 0x1p-16 : 1; }

/* moved: what the step makes of neighbouring inputs. */
static void compare_reals(const gnn_run *g, int step, const Block *b, const float *got, const float *want, const float *moved) {
  const int64_t count = b->bytes / 4;
  double largest = 0, most_moved = 0;
  for (int64_t i = 0; i < count; i++) {
    largest = fmax(largest, fabs((double)want[i]));
    most_moved = fmax(most_moved, fabs((double)moved[place_of(b, i)] - (double)got[place_of(b, i)]));
  }
  const double allowed = tolerance(longest_sum(g), most_moved * per_neighbour(), largest);
  for (int64_t i = 0; i < count; i++) {
    const double found = (double)got[place_of(b, i)];
    if (fabs(found - (double)want[i]) <= allowed) continue;
    complain(step, b, i, found, (double)want[i]);
    return;
  }
}

static void compare_halves(const gnn_run *g, int step, const Block *b, const uint16_t *got, const float *want, const uint16_t *moved) {
  const int64_t count = b->bytes / 4;
  const double roundings = TWICE ? 2 : 1;
  double largest = 0, most_moved = 0;
  for (int64_t i = 0; i < count; i++) {
    largest = fmax(largest, fabs((double)want[i]));
    most_moved = fmax(most_moved, fabs((double)widened(moved[place_of(b, i)]) - (double)widened(got[place_of(b, i)])));
  }
  const double allowed = tolerance(longest_sum(g), most_moved * per_neighbour(), largest);
  for (int64_t i = 0; i < count; i++) {
    const double found = (double)widened(got[place_of(b, i)]);
    if (fabs(found - (double)want[i]) <= roundings * 0x1p-8 * (fabs((double)want[i]) + allowed) + allowed) continue;
    complain(step, b, i, found, (double)want[i]);
    return;
  }
}

static void compare_bits(int step, const Block *b, const uint32_t *got, const uint32_t *want) {
  int64_t differing = 0;
  for (int64_t i = 0; i < b->bytes / 4; i++) differing += __builtin_popcount(got[i] ^ want[i]);
  if (differing > b->bytes * 8 / 256) complain(step, b, -1, (double)differing, 0);
}

static float neighbour(float x, int is_up) {
  if (x == 0 || !isfinite(x)) return x;
  return has_halves() ? x * (is_up ? 1 + 0x1p-7f : 1 - 0x1p-7f) : nextafterf(x, is_up ? INFINITY : -INFINITY);
}

/* Every number that is there before the step becomes one of its neighbours. */
static void nudge(int step) {
  static uint64_t state = 1;
  for (int i = 0; i < BLOCK_COUNT; i++) {
    const Block *b = &blocks[i];
    float *reals = (void *)(arena + b->at_device);
    uint16_t *halves = (void *)(arena + b->at_device);
    for (int64_t k = 0; (b->kind == REALS || b->kind == HALVES) && is_alive(b, step) && !begins(b, step) && k < b->bytes / 4; k++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const int is_up = state >> 63;
      const int64_t n = place_of(b, k);
      if (b->kind == REALS) reals[n] = neighbour(reals[n], is_up);
      else halves[n] = rounded(neighbour(widened(halves[n]), is_up));
    }
  }
}

/* What the step left is in first_arena; in arena, what it makes of neighbouring inputs. */
static void compare(const gnn_run *g, int step) {
  for (int i = 0; i < BLOCK_COUNT; i++) {
    const Block *b = &blocks[i];
    if (!is_alive(b, step) || is_taken(b, step)) continue;
    const void *got = first_arena + b->at_device, *want = g->device + b->at, *moved = arena + b->at_device;
    if (b->kind == REALS) compare_reals(g, step, b, got, want, moved);
    else if (b->kind == HALVES) compare_halves(g, step, b, got, want, moved);
    else if (b->kind == BITS) compare_bits(step, b, got, want);
    else if (memcmp(got, want, (size_t)b->bytes) != 0) complain(step, b, -1, 0, 0);
  }
}

#ifdef HAS_RESULTS
/* The splits as measured on the device, from the scores that the last step left. */
static void compare_results(gnn_run *g) {
  const gnn_field_desc *label = &device_program.fields[device_program.label_field];
  const int64_t classes = device_program.classes, stride = gnn_row_stride(device_program.scores_stride, classes);
  float *scores = malloc((size_t)(g->nodes * classes) * sizeof *scores);
  const int32_t *labels = (const void *)(arena + label->at[0]);
  const double *sums = (const void *)(arena + device_program.at_results);
  if (!scores) abort();
  for (int64_t i = 0; i < g->nodes * classes; i++) scores[i] = ((const float *)(const void *)(arena + device_program.at_scores))[i / classes * stride + i % classes];
  measure(g, device_program.at_scores);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    const double loss = gnn_cross_entropy_part(scores, classes, labels, g->rows[s], 0, g->row_count[s]);
    const double hits = (double)gnn_accuracy_part(scores, classes, labels, g->rows[s], 0, g->row_count[s]);
    if (fabs(loss - sums[2 * s]) > tolerance((double)classes, 0, loss) || hits != sums[2 * s + 1]) complain(s, &(Block){.name = "measure"}, 0, sums[2 * s], loss);
  }
  free(scores);
}
#else
static void compare_results(gnn_run *g) { (void)g; }
#endif

void watched_leave(gnn_run *g, int host_step) {
  const int step = device_step(host_step), is_last = host_step == MODEL.step_count + MODEL.once_count || device_step(host_step + 1) != step;
  if (step >= STEP_COUNT || !step_functions[step] || checked[step] >= CHECKS || !is_last) return;
  checked[step]++;
  const size_t bytes = (size_t)device_program.device_bytes;
  unsigned char *before = malloc(bytes);
  if (!before) abort();
  memcpy(before, arena, bytes);
  const int run_levels = g->blocks.run_levels;
  g->blocks.run_levels = g->blocks.levels + GNN_DEVICE_RUN_LEVELS;
  for (order = 0; order < ORDERS; order++) {
    memcpy(arena, before, bytes);
    view = view_of(g);
    step_functions[step](g);
    if (order == 0) memcpy(first_arena, arena, bytes);
    else if (memcmp(first_arena, arena, bytes) != 0) complain(step, &(Block){.name = "other bits in another order of threads"}, order, 0, 0);
  }
  const double loss = view.loss;
  if (step == device_program.step_count && device_program.has_results) compare_results(g);
  memcpy(arena, before, bytes);
  free(before);
  nudge(host_step);
  order = 0;
  step_functions[step](g);
  compare(g, host_step);
  g->blocks.run_levels = run_levels;
  memcpy(arena, first_arena, bytes);
  if (fabs(loss - g->loss) > tolerance((double)device_program.classes, 0, fabs(g->loss))) complain(step, &(Block){.name = "loss"}, 0, loss, g->loss);
}

int main(int argc, char **argv) {
  const int status = gnn_main(argc, argv, &MODEL);
  int steps = 0;
  for (int s = 0; s < STEP_COUNT; s++) {
    if (step_functions[s] && !checked[s]) complain(s, &(Block){.name = "never ran"}, 0, 0, 0);
    steps += checked[s] > 0;
  }
  fprintf(stderr, "%d steps compared, %d differences\n", steps, failures);
  return status ? status : failures != 0;
}
