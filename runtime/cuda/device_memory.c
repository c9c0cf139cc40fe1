/* device_memory.c: one block of the device's memory (arena and view), pinned memory of the host, and the host's image of the arena. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda.h"
#include "runtime/core/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MEMORY_PAGE_BYTES = 4096, MEMORY_HUGE_BYTES = 1 << 21 };

_Static_assert(sizeof(((gnn_view *)0)->sets) / sizeof(gnn_view_edge_set) == GNN_RELATIONS + GNN_RELATIONS_MAX, "a view has room for all sets of edges");
_Static_assert(sizeof(((gnn_view *)0)->type_nodes) == sizeof(((gnn_run *)0)->type_nodes), "a view has room for all types of nodes");
_Static_assert(sizeof(((gnn_view *)0)->halo) / sizeof(gnn_view_halo) >= GNN_HALOS + GNN_RELATIONS_MAX + 2 * (GNN_TYPES_MAX + 1), "a view has room for what passes between ranks");
_Static_assert(sizeof(((gnn_view *)0)->sparse) / sizeof(gnn_view_sparse) == GNN_SPARSE_MAX, "a view has room for all sparse fields");

static int64_t memory_aligned(int64_t bytes) { return (bytes + GNN_CUDA_ALIGNMENT - 1) / GNN_CUDA_ALIGNMENT * GNN_CUDA_ALIGNMENT; }

/* Addresses only: pages come when they are touched, and go once the device has their contents. */
static gnn_status memory_image(gnn_instance *instance, int64_t bytes, gnn_error *error) {
  void *image = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (image == MAP_FAILED)
    return gnn_fail(error, GNN_ENOMEM, "R0801", "the machine gives no %s of addresses for the image of the device arena", gnn_bytes_text(bytes).text);
  instance->mapping[GNN_DEVICE] = (gnn_mapping){image, (size_t)bytes};
  instance->run.device = image;
  return GNN_OK;
}

static gnn_status memory_own(gnn_cuda *cuda, int64_t block, void **memory, gnn_error *error) {
  cudaError_t code = cudaMalloc(memory, (size_t)block);
  if (code == cudaSuccess) return GNN_OK;
  gnn_cuda_fail(cuda, GNN_ENOMEM, error, "obtaining the device arena", code);
  gnn_fail_help(error, "%s were asked for at once", gnn_bytes_text(block).text);
  return GNN_ENOMEM;
}

static gnn_status memory_device(gnn_instance *instance, int64_t bytes, int populate, gnn_error *error) {
  gnn_cuda *cuda = instance->run.cuda;
  int64_t block = gnn_cuda_block_bytes(cuda);
  void *memory = NULL;
  gnn_status status = instance->memory.alloc ? gnn_instance_ask(instance, GNN_DEVICE, block, GNN_CUDA_ALIGNMENT, &memory, error) : memory_own(cuda, block, &memory, error);
  if (status != GNN_OK) return status;
  cuda->arena = memory;
  if ((uintptr_t)memory % GNN_CUDA_ALIGNMENT != 0)
    return gnn_fail(error, GNN_EINVAL, "", "the host program's device memory is not aligned to %d bytes", GNN_CUDA_ALIGNMENT);
  cuda->view = (gnn_view *)(void *)(cuda->arena + memory_aligned(gnn_tier_bytes(cuda->program, GNN_DEVICE)));
  instance->tiers.base[GNN_DEVICE] = cuda->arena;
  cudaError_t code = cudaMemset(cuda->arena, populate ? 0 : GNN_CUDA_UNTOUCHED, (size_t)block);
  if (code != cudaSuccess) return gnn_cuda_fail(cuda, GNN_EDEVICE, error, "clearing the device arena", code);
  return memory_image(instance, bytes, error);
}

static gnn_status memory_not_pinned(int64_t bytes, const char *what, cudaError_t code, gnn_error *error) {
  return gnn_fail(error, GNN_ENOMEM, "R0801", "the machine would not pin %s for the %s: %s: %s", gnn_bytes_text(bytes).text, what, cudaGetErrorName(code),
                  cudaGetErrorString(code));
}

gnn_status gnn_cuda_pin(void **memory, int64_t bytes, const char *what, gnn_error *error) {
  cudaError_t code = cudaHostAlloc(memory, (size_t)bytes, cudaHostAllocDefault);
  return code == cudaSuccess ? GNN_OK : memory_not_pinned(bytes, what, code, error);
}

static void memory_touch(const void *context, int64_t begin, int64_t end, int64_t task) {
  (void)task;
  memset(*(unsigned char *const *)context + begin, 0, (size_t)(end - begin));
}

/* Pages come when they are touched, which one thread does at a few GiB a second; the team has many. */
static void memory_clear(gnn_instance *instance, unsigned char *memory, int64_t bytes) {
  gnn_parallel(instance->run.team, bytes, MEMORY_HUGE_BYTES, memory_touch, &memory);
}

/* Our own pages, pinned once they are there: to come by them while they are pinned is left to one thread. */
static gnn_status memory_own_pinned(gnn_instance *instance, gnn_tier tier, int64_t bytes, gnn_error *error) {
  const size_t slack = bytes >= MEMORY_HUGE_BYTES ? MEMORY_HUGE_BYTES : 0;
  void *mapped = mmap(NULL, (size_t)bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return gnn_fail(error, GNN_ENOMEM, "R0801", "the machine would not map %s of memory for the %s", gnn_bytes_text(bytes).text, gnn_tier_names[tier]);
  unsigned char *memory = (unsigned char *)mapped + (slack ? (slack - (uintptr_t)mapped % slack) % slack : 0);
#ifdef MADV_HUGEPAGE
  int is_advice_only = slack ? madvise(memory, (size_t)bytes, MADV_HUGEPAGE) : 0;
  (void)is_advice_only;
#endif
  memory_clear(instance, memory, bytes);
  cudaError_t code = cudaHostRegister(memory, (size_t)bytes, cudaHostRegisterDefault);
  if (code != cudaSuccess) {
    munmap(mapped, (size_t)bytes + slack);
    memory_not_pinned(bytes, gnn_tier_names[tier], code, error);
    gnn_fail_help(error, "a plan that keeps less in the host's memory: gnncc --budget host=…");
    return GNN_ENOMEM;
  }
  instance->mapping[tier] = (gnn_mapping){mapped, (size_t)bytes + slack};
  instance->tiers.base[tier] = memory;
  return GNN_OK;
}

static gnn_status memory_pinned(gnn_instance *instance, gnn_tier tier, int64_t bytes, gnn_error *error) {
  void *memory = NULL;
  if (!instance->memory.alloc) return memory_own_pinned(instance, tier, bytes, error);
  gnn_status status = gnn_instance_ask(instance, tier, bytes, MEMORY_PAGE_BYTES, &memory, error);
  if (status != GNN_OK) return status;
  memory_clear(instance, memory, bytes);
  instance->mapping[tier] = (gnn_mapping){memory, (size_t)bytes};
  instance->tiers.base[tier] = memory;
  return GNN_OK;
}

gnn_status gnn_cuda_obtain(gnn_instance *instance, gnn_tier tier, int64_t bytes, int populate, gnn_error *error) {
  return tier == GNN_DEVICE ? memory_device(instance, bytes, populate, error) : memory_pinned(instance, tier, bytes, error);
}

/* Nobody is left to tell of what fails here. */
void gnn_cuda_release(gnn_instance *instance, gnn_tier tier) {
  const gnn_mapping *mapping = &instance->mapping[tier];
  if (tier == GNN_DEVICE) munmap(mapping->memory, mapping->bytes);
  else if (instance->memory.alloc) gnn_instance_give_back(instance, tier, mapping->memory, (int64_t)mapping->bytes);
  else {
    cudaHostUnregister(instance->tiers.base[tier]);
    munmap(mapping->memory, mapping->bytes);
  }
}

void gnn_cuda_release_arena(gnn_instance *instance) {
  gnn_cuda *cuda = instance->run.cuda;
  if (cuda->arena == NULL) return;
  if (instance->memory.alloc) gnn_instance_give_back(instance, GNN_DEVICE, cuda->arena, gnn_cuda_block_bytes(cuda));
  else cudaFree(cuda->arena);
}

/* ---- between the image and the arena; no work is under way ---- */

static gnn_status memory_move(gnn_cuda *cuda, void *to, const void *from, int64_t bytes, enum cudaMemcpyKind kind) {
  const char *what = kind == cudaMemcpyHostToDevice ? "copying to the device" : "copying from the device";
  if (gnn_cuda_is_failed(cuda) || !gnn_cuda_check(cuda, 0, what, cudaSetDevice(cuda->device))) return GNN_EDEVICE;
  cudaError_t code = cudaMemcpy(to, from, (size_t)bytes, kind);
  if (code == cudaSuccess && kind == cudaMemcpyHostToDevice) code = cudaDeviceSynchronize(); /* it may return before all is there */
  return gnn_cuda_check(cuda, 0, what, code) ? GNN_OK : GNN_EDEVICE;
}

gnn_status gnn_cuda_upload(const gnn_instance *instance, int64_t at, int64_t bytes) {
  gnn_cuda *cuda = instance->run.cuda;
  return memory_move(cuda, cuda->arena + at, instance->run.device + at, bytes, cudaMemcpyHostToDevice);
}

gnn_status gnn_cuda_download(const gnn_instance *instance, int64_t at, int64_t bytes) {
  gnn_cuda *cuda = instance->run.cuda;
  return memory_move(cuda, instance->run.device + at, cuda->arena + at, bytes, cudaMemcpyDeviceToHost);
}

int64_t gnn_cuda_peak(const gnn_instance *instance) {
  enum { PIECE = 1 << 20 };
  gnn_cuda *cuda = instance->run.cuda;
  int64_t bytes = gnn_tier_bytes(cuda->program, GNN_DEVICE), touched = 0, at = 0;
  unsigned char *piece = malloc(PIECE), untouched[MEMORY_PAGE_BYTES];
  memset(untouched, GNN_CUDA_UNTOUCHED, sizeof untouched);
  for (; piece && at < bytes; at += PIECE) {
    int64_t length = bytes - at < PIECE ? bytes - at : PIECE;
    if (memory_move(cuda, piece, cuda->arena + at, length, cudaMemcpyDeviceToHost) != GNN_OK) break;
    for (int64_t page = 0; page < length; page += MEMORY_PAGE_BYTES) {
      int64_t own = length - page < MEMORY_PAGE_BYTES ? length - page : MEMORY_PAGE_BYTES;
      if (memcmp(piece + page, untouched, (size_t)own) != 0) touched += own;
    }
  }
  free(piece);
  return at < bytes ? -1 : touched;
}

/* ---- the data ---- */

/* What lies at an address of the image goes up; returns where to, NULL for NULL. */
static void *memory_put(gnn_instance *instance, const void *image, int64_t bytes, gnn_status *status) {
  gnn_cuda *cuda = instance->run.cuda;
  if (image == NULL) return NULL;
  int64_t at = (const unsigned char *)image - instance->run.device;
  if (*status == GNN_OK && bytes > 0) *status = gnn_cuda_upload(instance, at, bytes);
  return cuda->arena + at;
}

/* What the host needs no more gives its whole pages back. */
static void memory_forget(const void *image, int64_t bytes) {
  uintptr_t begin = ((uintptr_t)image + MEMORY_PAGE_BYTES - 1) / MEMORY_PAGE_BYTES * MEMORY_PAGE_BYTES;
  uintptr_t end = ((uintptr_t)image + (uintptr_t)bytes) / MEMORY_PAGE_BYTES * MEMORY_PAGE_BYTES;
  if (image == NULL || end <= begin) return;
  int is_advice_only = madvise((void *)begin, end - begin, MADV_DONTNEED);
  (void)is_advice_only;
}

static void *memory_hand_over(gnn_instance *instance, const void *image, int64_t bytes, gnn_status *status) {
  void *there = memory_put(instance, image, bytes, status);
  memory_forget(image, bytes);
  return there;
}

static gnn_view_csr memory_csr(gnn_instance *instance, const gnn_csr *csr, gnn_status *status) {
  return (gnn_view_csr){.rows = csr->rows, .entries = csr->entries,
                        .ptr = memory_hand_over(instance, csr->ptr, (csr->rows + 1) * (int64_t)sizeof *csr->ptr, status),
                        .idx = memory_hand_over(instance, csr->idx, csr->entries * (int64_t)sizeof *csr->idx, status),
                        .edge = memory_hand_over(instance, csr->edge, csr->entries * (int64_t)sizeof *csr->edge, status),
                        .hub = memory_put(instance, csr->hub, csr->hub_count * (int64_t)sizeof *csr->hub, status),
                        .hub_count = csr->hub_count, .hub_entries = GNN_HUB_ENTRIES};
}

static void memory_degrees(gnn_instance *instance, int64_t at, int64_t rows, gnn_status *status) {
  if (at >= 0) memory_hand_over(instance, gnn_instance_at(instance, at), rows * instance->run.program->real_bytes, status);
}

static gnn_view_edge_set memory_edge_set(gnn_instance *instance, const gnn_edge_set *set, const gnn_edge_set_desc *plan, gnn_status *status) {
  gnn_csr in = set->in, out = set->out;
  const int is_shared = out.ptr != NULL && out.ptr == set->in.ptr;
  if (is_shared) out.ptr = NULL, out.idx = NULL, out.hub = NULL;
  if (plan->is_ptr_on_host) in.ptr = out.ptr = NULL;
  if (plan->is_idx_on_host) in.idx = out.idx = NULL, out.edge = NULL;
  gnn_view_edge_set view = {.in = memory_csr(instance, &in, status)};
  view.out = memory_csr(instance, &out, status);
  view.id = memory_put(instance, set->id, plan->table * (int64_t)sizeof *set->id, status);
  if (is_shared) view.out.ptr = view.in.ptr, view.out.idx = view.in.idx, view.out.hub = view.in.hub;
  if (!plan->is_idx_on_host) memory_degrees(instance, plan->at_in_degree, set->in.rows, status);
  if (!plan->is_idx_on_host) memory_degrees(instance, plan->at_out_degree, set->out.rows, status);
  return view;
}

/* How many rows each part gathers is what the host goes on asking for. */
static gnn_view_halo memory_halo(gnn_instance *instance, int direction, gnn_status *status) {
  const gnn_run *run = &instance->run;
  const int64_t sent = run->ranks ? gnn_sent_rows(run, direction) : 0;
  if (run->ranks) return (gnn_view_halo){.row = memory_put(instance, run->ranks->send_row[direction], sent * (int64_t)sizeof(int32_t), status), .sent = sent};
  const gnn_halo_rows *halo = &run->halo[direction];
  const int64_t pairs = INT64_C(1) << 2 * run->program->graph.part_levels, rows = halo->first ? halo->first[pairs] : 0;
  return (gnn_view_halo){.code = memory_hand_over(instance, halo->code, run->edges * (int64_t)sizeof *halo->code, status),
                         .row = memory_hand_over(instance, halo->row, rows * (int64_t)sizeof *halo->row, status),
                         .first = memory_put(instance, halo->first, (pairs + 1) * (int64_t)sizeof *halo->first, status)};
}

/* Dense fields and labels; what the labels are, the host measures with. */
static void memory_put_rows(gnn_instance *instance, int f, gnn_status *status) {
  const gnn_program *program = instance->run.program;
  const gnn_field_desc *field = &program->fields[f];
  const void *image = gnn_instance_at(instance, field->at[0]);
  const int64_t rows = gnn_rows_of(&instance->run, field->domain, field->set), number_bytes = field->is_half ? 2 : program->real_bytes;
  const int64_t row_bytes = field->storage == GNN_LABEL ? (int64_t)sizeof(int32_t) : gnn_row_stride(field->stride, field->width) * number_bytes;
  memory_put(instance, image, rows * row_bytes, status);
  if (field->storage == GNN_DENSE && f != program->label_field) memory_forget(image, rows * row_bytes);
}

static void memory_put_fields(gnn_instance *instance, gnn_view *view, gnn_status *status) {
  const gnn_run *run = &instance->run;
  const gnn_program *program = run->program;
  const int64_t real_bytes = program->real_bytes;
  for (int f = 0; f < program->field_count; f++) {
    const gnn_field_desc *field = &program->fields[f];
    if (field->storage != GNN_SPARSE) {
      if (!field->is_on_host && field->home.extent_count == 0) memory_put_rows(instance, f, status);
      continue;
    }
    const int is_away = field->is_on_host || field->entries_home[0].extent_count > 0; /* the entries; where rows and columns begin among them is on the device */
    gnn_sparse own = run->sparse[field->sparse];
    if (is_away) own.by_row.idx = own.by_column.idx = NULL, own.row_value = own.column_value = NULL;
    const gnn_sparse *sparse = &own;
    view->sparse[field->sparse] = (gnn_view_sparse){
      memory_csr(instance, &sparse->by_row, status), memory_hand_over(instance, sparse->row_value, sparse->by_row.entries * real_bytes, status),
      memory_csr(instance, &sparse->by_column, status), memory_hand_over(instance, sparse->column_value, sparse->by_column.entries * real_bytes, status)};
  }
}

/* Of a rank that sums over out-edges, those of others, too. */
static int64_t memory_edge_ids(const gnn_run *run) {
  const int has_foreign = run->ranks && run->program->graph.sets[GNN_EDGES].at_out_edge >= 0;
  return run->edges + (has_foreign ? run->ranks->receive_first[GNN_HALO_EDGES][run->ranks->count] : 0);
}

/* Labels, rows and the numbers that nodes and edges have in the data stay in the image: the host measures with them, and answers in them. */
gnn_status gnn_cuda_load(gnn_instance *instance) {
  gnn_run *run = &instance->run;
  gnn_cuda *cuda = run->cuda;
  const gnn_graph_desc *graph = &run->program->graph;
  gnn_view view = {.device = cuda->arena, .nodes = run->nodes, .edges = run->edges, .graphs = run->graphs, .others = run->others};
  memcpy(view.type_nodes, run->type_nodes, sizeof view.type_nodes);
  memcpy(view.type_first, run->type_first, sizeof view.type_first);
  gnn_status status = GNN_OK;
  gnn_cuda_forget_graphs(cuda);
  gnn_cuda_drop_plans(cuda);
  for (int set = 0; set < graph->set_count; set++) view.sets[set] = memory_edge_set(instance, &run->sets[set], &graph->sets[set], &status);
  view.blocks = (gnn_view_blocks){run->blocks.levels, run->blocks.run_levels,
                                  memory_put(instance, run->blocks.first, ((INT64_C(1) << run->blocks.levels) + 1) * (int64_t)sizeof(int64_t), &status)};
  if (run->ranks) view.part_levels = run->ranks->desc->part_levels, view.first_part = gnn_first_part(run), view.own_parts = gnn_own_parts(run), view.rank = run->ranks->rank, view.first_row = run->ranks->desc->first[view.rank];
  if (run->ranks) view.finer_levels = run->ranks->desc->finer_levels, view.cut_levels = graph->part_levels;
  for (int d = 0; d < (run->ranks ? run->ranks->desc->halos : GNN_HALOS); d++) view.halo[d] = memory_halo(instance, d, &status);
  view.node_id = memory_put(instance, graph->is_node_id_on_host ? NULL : run->node_id, (run->nodes + (graph->has_ids_of_others ? run->others : 0)) * (int64_t)sizeof *run->node_id, &status);
  view.edge_id = memory_put(instance, graph->is_edge_id_on_host ? NULL : run->edge_id, memory_edge_ids(run) * (int64_t)sizeof *run->edge_id, &status);
  memory_put(instance, graph->is_out_edge_id_on_host ? NULL : run->out_edge_id, run->edges * (int64_t)sizeof *run->out_edge_id, &status);
  memory_put_fields(instance, &view, &status);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    view.rows[s] = memory_put(instance, graph->are_rows_on_host ? NULL : run->rows[s], run->row_count[s] * (int64_t)sizeof *run->rows[s], &status);
    view.row_count[s] = run->row_count[s];
    view.row_weight[s] = run->row_weight[s];
  }
  if (status == GNN_OK) status = memory_move(cuda, cuda->view, &view, (int64_t)sizeof view, cudaMemcpyHostToDevice);
  if (status != GNN_OK || !cuda->code->prepare) return status;
  run->step = 0;
  cuda->code->prepare(run);
  return gnn_cuda_is_failed(cuda) ? cuda->failure_status : GNN_OK;
}

/* Steps that were recorded launch for as many hubs as there were. */
static int memory_has_as_many_hubs(const gnn_view_edge_set *view, const gnn_edge_set *set) {
  return view->in.hub_count == set->in.hub_count && view->out.hub_count == set->out.hub_count;
}

gnn_status gnn_cuda_reload(gnn_instance *instance, int set) {
  gnn_run *run = &instance->run;
  gnn_cuda *cuda = run->cuda;
  const gnn_program *program = run->program;
  gnn_view_edge_set view, *there = &cuda->view->sets[set];
  gnn_status status = memory_move(cuda, &view, there, (int64_t)sizeof view, cudaMemcpyDeviceToHost);
  if (status == GNN_OK && !memory_has_as_many_hubs(&view, &run->sets[set])) gnn_cuda_forget_graphs(cuda);
  view = memory_edge_set(instance, &run->sets[set], &program->graph.sets[set], &status);
  for (int f = 0; f < program->field_count; f++)
    if (program->fields[f].domain == GNN_RELATION && program->fields[f].set == set) memory_put_rows(instance, f, &status);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) memory_put(instance, run->rows[s], run->row_count[s] * (int64_t)sizeof *run->rows[s], &status);
  return status == GNN_OK ? memory_move(cuda, there, &view, (int64_t)sizeof view, cudaMemcpyHostToDevice) : status;
}
