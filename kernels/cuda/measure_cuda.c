/* measure_cuda.c: how fast a GPU runs the kernels and moves bytes to and from the host; for gnncc --calibrate --backend=cuda.
 *
 *   measure [--device N] name              the architecture and the name of the GPU, its memory, and what of it is free
 *   measure [--device N] rates IMAGE       measure.cu compiled for it; one line a rate, as docs/calibration.md defines them
 *
 * Every measurement begins small and is doubled until it takes long enough to be told from the noise, or until memory is full. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../rate_lines.h"
#include "algorithm.h"
#include "measure_cuda.h"
#include "module.h"

enum { SIZES = 7, WIDTHS = 3, DEGREE = 16, FEW = 3, ROUNDS = 5, THREADS = 256, MOST_BLOCKS = 4096, LEAST_ROWS = 128, NO_DEVICE = 3 };

#define KIB ((int64_t)1 << 10)
#define MIB ((int64_t)1 << 20)
#define LONG_ENOUGH 2e-3 /* seconds of one measurement */
#define TOO_LONG 0.5     /* one run of it: larger sizes are left out */
static const int64_t sizes[SIZES] = {256 * KIB, 2 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB, 4096 * MIB};
static int size_count = SIZES;

static cudaStream_t stream, other, another;
static cudaEvent_t begin, end;
static gnn_driver driver;
static gnn_module module;
static unsigned char *memory; /* of the device */
static int64_t memory_bytes, memory_used;
static measure_job *job; /* on the device */
static double start_seconds; /* of a kernel in a graph that does nothing */

static void check(cudaError_t code, const char *what) {
  if (code == cudaSuccess) return;
  fprintf(stderr, "%s: %s: %s\n", what, cudaGetErrorName(code), cudaGetErrorString(code));
  exit(1);
}
#define CHECK(call) check(call, #call)

static cublasLtHandle_t cublas;

static void check_cublas(cublasStatus_t status, const char *what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", what, cublasLtGetStatusName(status));
  exit(1);
}
#define CHECK_CUBLAS(call) check_cublas(call, #call)

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- memory ---- */

static void *take(int64_t bytes) {
  void *at = memory + memory_used;
  memory_used += (bytes + 255) / 256 * 256;
  if (memory_used <= memory_bytes) return at;
  fprintf(stderr, "there is too little memory on the device\n");
  exit(1);
}

static void tell(const measure_job *now) {
  CHECK(cudaMemcpy(job, now, sizeof *now, cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSynchronize()); /* it may return before all is there */
}

/* ---- launching ---- */

/* A product by cuBLASLt, which counts columns first: see runtime/cuda/cublaslt.c. */
typedef struct Product {
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t a, b, c;
  cublasLtMatmulAlgo_t algorithm;
  const gnn_real *left, *right;
  gnn_real *to;
} Product;

typedef struct Launch {
  const char *name; /* of a kernel */
  int64_t blocks;
  const Product *product;    /* instead of it, or NULL */
  const struct Launch *next; /* after it, or NULL */
} Launch;

static int64_t blocks_for(int64_t count, int64_t each) { return most(1, least((count + each - 1) / each, MOST_BLOCKS)); }

static void launch_one(const char *name, int64_t blocks) {
  gnn_kernel kernel;
  check((cudaError_t)driver.kernel(&kernel, module, name), name);
  check(gnn_kernel_launch(&driver, kernel, (unsigned)blocks, THREADS, 0, &job, &(gnn_places){{0}}, stream), name);
}

static void launch_product(const Product *p) {
  const float one = 1, zero = 0;
  CHECK_CUBLAS(cublasLtMatmul(cublas, p->product, &one, p->right, p->a, p->left, p->b, &zero, p->to, p->c, p->to, p->c, &p->algorithm, NULL, 0, stream));
}

static void launch(const Launch *l) {
  for (; l; l = l->next)
    if (l->product) launch_product(l->product);
    else launch_one(l->name, l->blocks);
}

static int starts_of(const Launch *l) { return l ? 1 + starts_of(l->next) : 0; }

static double seconds_between(cudaEvent_t from, cudaEvent_t to) {
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, from, to));
  return (double)milliseconds * 1e-3;
}

/* Launches as one graph, as epochs are: one by one, short kernels would wait for the host, and what they take would not show. The first is
 * launched alone: what it needs of a library is loaded by that, which no capture bears. */
static cudaGraphExec_t graph_of(const Launch *l, int repeats) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  launch(l);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < repeats; i++) launch(l);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphLaunch(exec, stream)); /* the first time it is sent to the device, too */
  CHECK(cudaStreamSynchronize(stream));
  return exec;
}

static double seconds_once(cudaGraphExec_t exec, int repeats) {
  CHECK(cudaEventRecord(begin, stream));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaEventRecord(end, stream));
  CHECK(cudaEventSynchronize(end));
  return seconds_between(begin, end) / repeats;
}

/* Seconds of a run without what starting it costs: the median of some, short ones repeated. */
static double seconds_of(const Launch *l) {
  double times[ROUNDS];
  cudaGraphExec_t exec = graph_of(l, 1);
  const double once = seconds_once(exec, 1);
  const int repeats = once > LONG_ENOUGH ? 1 : (int)fmin(LONG_ENOUGH / (once + 1e-7), 200) + 1, rounds = once > TOO_LONG ? 1 : ROUNDS;
  CHECK(cudaGraphExecDestroy(exec));
  exec = graph_of(l, repeats);
  for (int i = 0; i < rounds; i++) times[i] = seconds_once(exec, repeats);
  CHECK(cudaGraphExecDestroy(exec));
  return beyond(median(times, rounds), starts_of(l) * start_seconds);
}

/* Rows, doubled from `rows` until a run takes long enough; `set` prepares so many and says how they are launched. */
typedef Launch set_fn(measure_job *now, int64_t rows, int which);

static double seconds_a_row(set_fn *set, measure_job *now, int64_t rows, int64_t most_rows, int which, int64_t *taken) {
  for (;; rows *= 2) {
    const Launch l = set(now, rows, which);
    tell(now);
    const double seconds = seconds_of(&l);
    if (taken) *taken = rows;
    if (seconds > LONG_ENOUGH || 2 * rows > most_rows) return seconds / (double)rows;
  }
}

static void fill(gnn_real *x, int64_t count) {
  const measure_job now = {.x = x, .rows = count};
  tell(&now);
  launch_one("measure_fill", blocks_for(count, THREADS));
  CHECK(cudaStreamSynchronize(stream));
}

static void measure_step(void) {
  const Launch nothing = {.name = "measure_nothing", .blocks = 1};
  const measure_job now = {0};
  tell(&now);
  start_seconds = fmax(seconds_of(&nothing), 1e-9);
  print_rate("step", start_seconds);
}

/* ---- elements ---- */

static Launch set_rows(measure_job *now, int64_t rows, int which) {
  static const char *const names[] = {"measure_relu", "measure_dropout", "measure_exp", "measure_update"};
  now->rows = rows;
  return (Launch){.name = names[which], .blocks = which == 3 ? (rows * MEASURE_COLUMNS + MEASURE_UPDATED - 1) / MEASURE_UPDATED : blocks_for(rows, THREADS / 32)};
}

/* Arrays of this size are the nearest cache's; their time is the instructions'. */
static int64_t element_rows(int64_t bytes) { return most(32, bytes / 2 / (MEASURE_COLUMNS * (int64_t)sizeof(gnn_real))); }

static double measure_elements(void) {
  const int64_t rows = element_rows(sizes[1]), count = rows * MEASURE_COLUMNS;
  gnn_real *array[4];
  for (int i = 0; i < 4; i++) fill(array[i] = take(count * (int64_t)sizeof(gnn_real)), count);
  measure_job now = {.x = array[0], .y = array[1], .m = array[2], .v = array[3]};
  double seconds[4];
  for (int i = 0; i < 4; i++) seconds[i] = seconds_a_row(set_rows, &now, rows, rows, i, NULL) / MEASURE_COLUMNS;
  print_rate("element", seconds[0]);
  print_rate("random", beyond(seconds[1], seconds[0]));
  print_rate("exp", beyond(seconds[2], seconds[0]));
  print_rate("update", seconds[3]);
  memory_used = 0;
  return seconds[0];
}

static void measure_stream(void) {
  double rates[SIZES];
  for (int i = 0; i < size_count; i++) {
    const int64_t rows = element_rows(sizes[i]);
    measure_job now = {.x = (gnn_real *)(void *)memory, .y = (gnn_real *)(void *)(memory + sizes[i] / 2)};
    const double seconds = seconds_a_row(set_rows, &now, rows, rows, 0, NULL) * (double)rows;
    rates[i] = (double)sizes[i] / seconds;
    if (seconds > TOO_LONG / 8) size_count = i + 1;
  }
  double measured[SIZES];
  for (int i = 0; i < size_count; i++) measured[i] = (double)sizes[i];
  print_rates("sizes", measured, size_count);
  print_rates("stream", rates, size_count);
  print_rate("exchange", rates[0]); /* everything passes through the cache that all share */
}

/* ---- losses ---- */

/* The three kernels of a program's loss (kernels/cuda/loss.cuh), in the grids in which programs launch them. */
static Launch set_loss(measure_job *now, int64_t rows, int which) {
  static const char *const names[] = {"measure_loss_4", "measure_loss_64"};
  static const Launch mean = {.name = "measure_loss_mean", .blocks = 1};
  static Launch blocks = {.name = "measure_loss_blocks", .next = &mean};
  now->rows = rows;
  for (now->levels = 0; rows >> (now->levels + 1) >= MEASURE_BLOCK_ROWS; now->levels++) {}
  blocks.blocks = INT64_C(1) << now->levels;
  tell(now);
  launch_one("measure_labels", blocks_for(rows, THREADS));
  CHECK(cudaStreamSynchronize(stream));
  return (Launch){.name = names[which], .blocks = blocks_for(rows, MEASURE_LOSSES), .next = &blocks};
}

/* Of lists that are long enough for the grid of long ones. */
static void measure_loss(void) {
  const int64_t rows = least(1 << 20, memory_bytes / 2 / (64 * 4 + 16)), first = least(rows, 1 << 17);
  measure_job now = {.x = take(rows * 64 * (int64_t)sizeof(gnn_real)), .labels = take(4 * rows), .list = take(4 * rows),
                     .parts = take(8 * (rows + rows / MEASURE_BLOCK_ROWS + 1)), .ptr = take(8 * (rows / MEASURE_BLOCK_ROWS + 2))};
  fill(now.x, rows * 64);
  const double few = seconds_a_row(set_loss, &now, first, rows, 0, NULL), many = seconds_a_row(set_loss, &now, first, rows, 1, NULL);
  const double each = beyond(many, few) / 60;
  print_rate("loss", beyond(few, 4 * each));
  print_rate("loss_class", each);
  memory_used = 0;
}

/* ---- dense products ---- */

/* type: of what lies in memory. outer: a kernel of ours. */
static const struct { const char *name; int width; const char *outer; cublasComputeType_t compute; cudaDataType_t type; } products[] = {
    {"fp32", MEASURE_WIDE, NULL, CUBLAS_COMPUTE_32F, CUDA_R_32F}, {"narrow", MEASURE_NARROW, NULL, CUBLAS_COMPUTE_32F, CUDA_R_32F},
    {"outer", MEASURE_WIDE, "measure_outer", CUBLAS_COMPUTE_32F, CUDA_R_32F}, {"outer_narrow", MEASURE_NARROW, "measure_outer_narrow", CUBLAS_COMPUTE_32F, CUDA_R_32F},
    {"tf32", MEASURE_WIDE, NULL, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F}, {"bf16", MEASURE_WIDE, NULL, CUBLAS_COMPUTE_32F, CUDA_R_16BF}};
enum { PRODUCTS = sizeof products / sizeof *products };

static void forget_product(Product *p) {
  if (p->product == NULL) return;
  CHECK_CUBLAS(cublasLtMatmulDescDestroy(p->product));
  CHECK_CUBLAS(cublasLtMatrixLayoutDestroy(p->a));
  CHECK_CUBLAS(cublasLtMatrixLayoutDestroy(p->b));
  CHECK_CUBLAS(cublasLtMatrixLayoutDestroy(p->c));
  p->product = NULL;
}

/* As in a linear layer: x times m transposed to y. */
static void describe_product(Product *p, const measure_job *now, int64_t rows, int which) {
  const uint64_t n = (uint64_t)products[which].width, m = (uint64_t)rows, k = MEASURE_DEPTH;
  const cublasOperation_t transposed = CUBLAS_OP_T;
  forget_product(p);
  p->left = now->x, p->right = now->m, p->to = now->y;
  CHECK_CUBLAS(cublasLtMatmulDescCreate(&p->product, products[which].compute, CUDA_R_32F));
  CHECK_CUBLAS(cublasLtMatmulDescSetAttribute(p->product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed));
  CHECK_CUBLAS(cublasLtMatrixLayoutCreate(&p->a, products[which].type, k, n, (int64_t)k));
  CHECK_CUBLAS(cublasLtMatrixLayoutCreate(&p->b, products[which].type, k, m, MEASURE_DEPTH));
  CHECK_CUBLAS(cublasLtMatrixLayoutCreate(&p->c, products[which].type, n, m, (int64_t)n));
}

/* As programs choose it, which give it no workspace; false: cuBLASLt has none here. */
static int choose_algorithm(Product *p) {
  int is_found;
  CHECK_CUBLAS(gnn_algorithm_choose(cublas, p->product, p->a, p->b, p->c, 0, &p->algorithm, &is_found));
  return is_found;
}

static Product product;

/* Of a gradient: x transposed times y, in runs of rows whose sums stay in v. */
static Launch set_outer(measure_job *now, int64_t rows, int which) {
  const int64_t runs = (rows + MEASURE_RUN_ROWS - 1) / MEASURE_RUN_ROWS, across = (products[which].width + MEASURE_TILE - 1) / MEASURE_TILE;
  now->rows = rows;
  tell(now);
  return (Launch){.name = products[which].outer, .blocks = most(1, runs * (MEASURE_DEPTH / MEASURE_TILE) * across)};
}

static Launch set_product(measure_job *now, int64_t rows, int which) {
  if (products[which].outer) return set_outer(now, rows, which);
  describe_product(&product, now, rows, which);
  if (!choose_algorithm(&product)) check_cublas(CUBLAS_STATUS_NOT_SUPPORTED, products[which].name);
  return (Launch){.product = &product};
}

static int has_product(const measure_job *now, int which) {
  describe_product(&product, now, LEAST_ROWS, which);
  return choose_algorithm(&product);
}

/* What a GPU has none of, its target does not say: the precisions after fp32. */
static void measure_dense(double element) {
  const int64_t rows = least(1 << 18, memory_bytes / 4 / (2 * MEASURE_DEPTH * 4)), runs = (rows + MEASURE_RUN_ROWS - 1) / MEASURE_RUN_ROWS;
  measure_job now = {.x = take(rows * MEASURE_DEPTH * 4), .y = take(rows * MEASURE_WIDE * 4), .m = take(MEASURE_DEPTH * MEASURE_WIDE * 4),
                     .v = take(runs * MEASURE_DEPTH * MEASURE_WIDE * 4)};
  fill(now.x, rows * MEASURE_DEPTH);
  fill(now.y, rows * MEASURE_WIDE);
  fill(now.m, MEASURE_DEPTH * MEASURE_WIDE);
  for (int i = 0; i < PRODUCTS; i++) {
    const int is_fp32 = products[i].compute == CUBLAS_COMPUTE_32F && products[i].type == CUDA_R_32F;
    if (!is_fp32 && !has_product(&now, i)) continue;
    const double width = products[i].width, seconds = seconds_a_row(set_product, &now, LEAST_ROWS, rows, i, NULL);
    print_rate(products[i].name, 2.0 * MEASURE_DEPTH * width / (products[i].outer ? seconds : beyond(seconds, width * element)));
  }
  forget_product(&product);
  memory_used = 0;
}

/* ---- gathers ---- */

enum { GATHER_ROW_BYTES = 8 + DEGREE * 4 + 512 }; /* a row: its place, its entries, its sum */

static Launch set_gather(measure_job *now, int64_t rows, int which) {
  static const char *const names[] = {"measure_gather_16", "measure_gather_64", "measure_gather_128"};
  now->rows = rows;
  tell(now);
  launch_one("measure_graph", blocks_for(rows * now->degree, THREADS));
  CHECK(cudaStreamSynchronize(stream));
  return (Launch){.name = names[which], .blocks = blocks_for(rows, THREADS / 32)};
}

/* Seconds an edge of rows of such a width, in a table of so many bytes. */
static double gather_seconds(int64_t table_bytes, int which, int64_t degree) {
  static const int64_t row_bytes[WIDTHS] = {64, 256, 512};
  const int64_t rows = least(1 << 18, (memory_bytes - table_bytes - 4 * KIB) / GATHER_ROW_BYTES);
  measure_job now = {.table_rows = table_bytes / row_bytes[which], .degree = degree, .x = take(table_bytes), .ptr = take(8 * (rows + 1)),
                     .idx = take(4 * rows * degree), .y = take(rows * 512)};
  const double seconds = seconds_a_row(set_gather, &now, 256, rows, which, NULL) / (double)degree;
  memory_used = 0;
  return seconds;
}

static void measure_gather(void) {
  static const char *const names[WIDTHS] = {"gather_64B", "gather_256B", "gather_512B"};
  static const int64_t row_bytes[WIDTHS] = {64, 256, 512};
  const double few = gather_seconds(sizes[0], 0, FEW), many = gather_seconds(sizes[0], 0, DEGREE);
  const double row = beyond(few, many) / (1.0 / FEW - 1.0 / DEGREE);
  print_rate("gather_row", row);
  for (int w = 0; w < WIDTHS; w++) {
    double rates[SIZES];
    for (int i = 0; i < size_count; i++) rates[i] = (double)row_bytes[w] / beyond(gather_seconds(sizes[i], w, DEGREE), row / DEGREE);
    print_rates(names[w], rates, size_count);
  }
}

/* ---- copies ---- */

enum { OUT = 1, IN = 2 };
static int64_t most_copied; /* each way */

static void copy(int ways, unsigned char *host, int64_t bytes, cudaStream_t out, cudaStream_t in) {
  if (ways & OUT) CHECK(cudaMemcpyAsync(host, memory, (size_t)bytes, cudaMemcpyDeviceToHost, out));
  if (ways & IN) CHECK(cudaMemcpyAsync(memory + most_copied, host + most_copied, (size_t)bytes, cudaMemcpyHostToDevice, in));
}

/* Bytes a second, of both ways together. */
static double copy_rate(int ways, unsigned char *host, int64_t *taken) {
  cudaEvent_t joined;
  double seconds = 0;
  int64_t bytes = MIB / 4;
  CHECK(cudaEventCreate(&joined));
  for (;; bytes *= 2) {
    for (int i = 0; i < 3; i++) {
      CHECK(cudaEventRecord(begin, stream));
      CHECK(cudaStreamWaitEvent(other, begin, 0));
      copy(ways, host, bytes, stream, other);
      CHECK(cudaEventRecord(joined, other));
      CHECK(cudaStreamWaitEvent(stream, joined, 0));
      CHECK(cudaEventRecord(end, stream));
      CHECK(cudaEventSynchronize(end));
      const double once = fmax(seconds_between(begin, end), 1e-9);
      seconds = i == 0 ? once : fmin(seconds, once);
    }
    if (seconds > LONG_ENOUGH || 2 * bytes > most_copied) break;
  }
  CHECK(cudaEventDestroy(joined));
  *taken = bytes;
  return (double)(ways == (OUT | IN) ? 2 * bytes : bytes) / seconds;
}

static double latency(unsigned char *host) {
  double times[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) {
    CHECK(cudaEventRecord(begin, stream));
    CHECK(cudaMemcpyAsync(memory, host, 4, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    times[i] = seconds_between(begin, end);
  }
  return fmax(median(times, ROUNDS), 1e-9);
}

/* How much longer a stream of the device's memory takes while copies go both ways: they take from it, too. */
static double slowdown(unsigned char *host, int64_t bytes) {
  const int64_t half = (memory_bytes - 2 * most_copied) / 2, rows = most(32, least(half, 4 * bytes) / (MEASURE_COLUMNS * 4));
  measure_job now = {.x = (gnn_real *)(void *)(memory + 2 * most_copied), .y = (gnn_real *)(void *)(memory + 2 * most_copied + half)};
  const Launch l = set_rows(&now, rows, 0);
  double ratios[ROUNDS];
  tell(&now);
  cudaGraphExec_t exec = graph_of(&l, 4);
  for (int i = 0; i < ROUNDS; i++) {
    const double alone = seconds_once(exec, 4);
    for (int k = 0; k < 4; k++) copy(OUT | IN, host, bytes, other, another);
    ratios[i] = fmax(seconds_once(exec, 4), 1e-9) / fmax(alone, 1e-9);
    CHECK(cudaStreamSynchronize(other));
    CHECK(cudaStreamSynchronize(another));
  }
  CHECK(cudaGraphExecDestroy(exec));
  return fmin(fmax(median(ratios, ROUNDS), 1), 10);
}

static void measure_copies(void) {
  void *host = NULL;
  int64_t bytes;
  most_copied = least(256 * MIB, memory_bytes / 4);
  check(cudaHostAlloc(&host, (size_t)(2 * most_copied), cudaHostAllocDefault), "pinning memory of the host");
  print_rate("host_write", copy_rate(OUT, host, &bytes));
  print_rate("host_read", copy_rate(IN, host, &bytes));
  print_rate("host_both", copy_rate(OUT | IN, host, &bytes));
  print_rate("host_latency", latency(host));
  print_rate("host_slowdown", slowdown(host, bytes));
  CHECK(cudaFreeHost(host));
}

/* ---- the device ---- */

static int no_device(const char *what) {
  fprintf(stderr, "%s\n", what);
  return NO_DEVICE;
}

static int open_device(int device, struct cudaDeviceProp *properties) {
  int driver = 0, count = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) return no_device("there is no CUDA driver here");
  if (driver / 1000 < CUDART_VERSION / 1000) return no_device("the driver here is older than the CUDA toolkit");
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return no_device("there is no CUDA device here");
  if (device >= count) return no_device("there is no such CUDA device here");
  CHECK(cudaSetDevice(device));
  CHECK(cudaGetDeviceProperties(properties, device));
  return 0;
}

static void print_name(const struct cudaDeviceProp *properties) {
  size_t room = 0, total = 0;
  CHECK(cudaMemGetInfo(&room, &total));
  printf("sm_%d%d %zu %zu %s\n", properties->major, properties->minor, total, room, properties->name);
}

static void load_image(const char *path) {
  FILE *in = fopen(path, "rb");
  static unsigned char image[64 << 20] __attribute__((aligned(64)));
  size_t length = in ? fread(image, 1, sizeof image - 1, in) : 0;
  if (in) fclose(in);
  if (length == 0) check(cudaErrorInvalidValue, path);
  CHECK(gnn_driver_find(&driver));
  check((cudaError_t)driver.load(&module, image), path);
}

/* Half of what is free, beginning with what the largest of the sizes takes. */
static void obtain_memory(void) {
  size_t room = 0, total = 0;
  CHECK(cudaMemGetInfo(&room, &total));
  memory_bytes = least((int64_t)room / 2, 2 * sizes[SIZES - 1]);
  void *at = NULL;
  CHECK(cudaMalloc(&at, (size_t)memory_bytes));
  memory = at;
  while (size_count > 1 && sizes[size_count - 1] > memory_bytes / 2) size_count--;
  CHECK(cudaMalloc(&at, sizeof *job));
  job = at;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&another, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
}

int main(int argc, char **argv) {
  int device = 0;
  if (argc > 2 && strcmp(argv[1], "--device") == 0) device = atoi(argv[2]), argc -= 2, argv += 2;
  const int is_name = argc == 2 && strcmp(argv[1], "name") == 0, is_rates = argc == 3 && strcmp(argv[1], "rates") == 0;
  struct cudaDeviceProp properties;
  if (!is_name && !is_rates) return 2;
  const int status = open_device(device, &properties);
  if (status != 0 || is_name) {
    if (status == 0) print_name(&properties);
    return status;
  }
  load_image(argv[2]);
  obtain_memory();
  measure_step();
  const double element = measure_elements();
  measure_stream();
  measure_loss();
  CHECK_CUBLAS(cublasLtCreate(&cublas));
  measure_dense(element);
  CHECK_CUBLAS(cublasLtDestroy(cublas));
  measure_gather();
  measure_copies();
  return 0;
}
