/* launch.c: for tests/cuda/steps.c, kernels on a GPU in place of the emulation: what they read is copied there, the arena back.
 * GNN_IMAGE names the file of the compiled kernels. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernels/cuda/module.h"
#include "../../kernels/cuda/view.h"

enum { ARRAYS = 256, IMAGE_BYTES = 64 << 20 };

static void check(cudaError_t code, const char *what) {
  if (code == cudaSuccess) return;
  fprintf(stderr, "%s: %s: %s\n", what, cudaGetErrorName(code), cudaGetErrorString(code));
  exit(1);
}
#define CHECK(call) check(call, #call)

/* The graph and the labels do not change: they are sent once. */
static void *sent(const void *array, int64_t bytes) {
  static struct { const void *here; void *there; } known[ARRAYS];
  static int count;
  if (array == NULL || bytes <= 0) return NULL;
  for (int i = 0; i < count; i++)
    if (known[i].here == array) return known[i].there;
  if (count == ARRAYS) abort();
  known[count].here = array;
  CHECK(cudaMalloc(&known[count].there, (size_t)bytes));
  CHECK(cudaMemcpy(known[count].there, array, (size_t)bytes, cudaMemcpyHostToDevice));
  return known[count++].there;
}

static gnn_view_csr sent_csr(gnn_view_csr csr) {
  csr.ptr = sent(csr.ptr, 8 * (csr.rows + 1));
  csr.idx = sent(csr.idx, 4 * csr.entries);
  csr.edge = sent(csr.edge, 8 * csr.entries);
  csr.hub = sent(csr.hub, 4 * csr.hub_count);
  return csr;
}

static gnn_view sent_view(const gnn_view *here, unsigned char *arena) {
  gnn_view v = *here;
  v.device = arena;
  for (size_t i = 0; i < sizeof v.sets / sizeof *v.sets; i++) v.sets[i] = (gnn_view_edge_set){.in = sent_csr(v.sets[i].in), .out = sent_csr(v.sets[i].out)};
  v.blocks.first = sent(v.blocks.first, 8 * ((INT64_C(1) << v.blocks.levels) + 1));
  v.node_id = sent(v.node_id, 4 * v.nodes);
  v.edge_id = sent(v.edge_id, 8 * v.edges);
  for (size_t i = 0; i < sizeof v.sparse / sizeof *v.sparse; i++) {
    v.sparse[i].row_value = sent(v.sparse[i].row_value, 4 * v.sparse[i].by_row.entries);
    v.sparse[i].column_value = sent(v.sparse[i].column_value, 4 * v.sparse[i].by_column.entries);
    v.sparse[i].by_row = sent_csr(v.sparse[i].by_row);
    v.sparse[i].by_column = sent_csr(v.sparse[i].by_column);
  }
  for (int s = 0; s < 3; s++) v.rows[s] = sent(v.rows[s], 4 * v.row_count[s]);
  return v;
}

static gnn_driver driver;

static gnn_module module(void) {
  static gnn_module loaded;
  static unsigned char image[IMAGE_BYTES] __attribute__((aligned(64)));
  if (loaded) return loaded;
  FILE *in = fopen(getenv("GNN_IMAGE") ? getenv("GNN_IMAGE") : "device_kernels.image", "rb");
  if (in == NULL || fread(image, 1, sizeof image - 1, in) == 0) check(cudaErrorInvalidValue, "GNN_IMAGE");
  fclose(in);
  CHECK(gnn_driver_find(&driver));
  check((cudaError_t)driver.load(&loaded, image), "GNN_IMAGE");
  return loaded;
}

int64_t arena_bytes(void); /* of the program whose steps are compared */

int emulated_kernel_launch(const char *name, void *view, const gnn_places *at, int64_t blocks, int threads) {
  static unsigned char *arena;
  static gnn_view *there;
  static cudaStream_t stream;
  gnn_view *here = view;
  gnn_kernel kernel;
  if (arena == NULL) {
    CHECK(cudaMalloc((void **)&arena, (size_t)arena_bytes()));
    CHECK(cudaMalloc((void **)&there, sizeof *there));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  const gnn_module code = module();
  if (driver.kernel(&kernel, code, name) != 0) return 0;
  const gnn_view now = sent_view(here, arena);
  CHECK(cudaMemcpy(arena, here->device, (size_t)arena_bytes(), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(there, &now, sizeof now, cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSynchronize()); /* it may return before all is there */
  if (blocks > 0) check(gnn_kernel_launch(&driver, kernel, (unsigned)blocks, (unsigned)threads, 0, &there, at, stream), name);
  check(cudaStreamSynchronize(stream), name);
  CHECK(cudaMemcpy(here->device, arena, (size_t)arena_bytes(), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&here->loss, &there->loss, sizeof here->loss, cudaMemcpyDeviceToHost));
  return 1;
}
