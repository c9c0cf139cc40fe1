/* test_memory.c: every allocation fails once. Linked with --wrap for malloc, calloc, realloc; each operation is repeated with
 * the first, the second, ... allocation refused until it goes through, and must fail with a status meanwhile and leak
 * nothing (the leak sanitizer looks when the program ends). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../../../runtime/job/checkpoint.h"
#include "../../../runtime/job/job.h"
#include "../../../runtime/data/npy.h"
#include "../../../runtime/data/readers.h"
#include "../../../runtime/data/subgraph.h"
#include "../../../runtime/data/fill.h"
#include "../../../runtime/core/device.h"
#include "../tap.h"
#include "../tiered.c"
#include "../toy.c"
#include "../../../runtime/app/train.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

static _Atomic int64_t allocations_left = -1, allocations; /* negative: no limit; all of them */

static int refused(void) {
  allocations++;
  if (allocations_left < 0) return 0;
  return allocations_left-- == 0;
}

void *__wrap_malloc(size_t bytes) { return refused() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) { return refused() ? NULL : __real_calloc(count, bytes); }
void *__wrap_realloc(void *memory, size_t bytes) { return refused() ? NULL : __real_realloc(memory, bytes); }

static toy_model toy;

static gnn_status open_all(const char *path, const gnn_recipe *recipe) {
  gnn_dataset *d;
  gnn_error error;
  gnn_status status = gnn_dataset_open_path(path, &d, &error);
  if (status != GNN_OK) return status;
  status = gnn_dataset_prepare(d, recipe, &error);
  gnn_dataset_close(d);
  return status;
}

static gnn_status do_karate(void) {
  static const char *const names[] = {"x"};
  gnn_recipe recipe = {.is_undirected = 1, .self_loops = GNN_LOOPS_ADD, .normalised_count = 1, .normalised = names,
                       .has_random_split = 1, .split_fraction = {0.6, 0.2, 0.2}};
  return open_all("karate", &recipe);
}
static gnn_status do_container(void) { return open_all(tap_path("m.safetensors"), NULL); }
static gnn_status do_folder(void) { return open_all(tap_path("folder"), NULL); }
static gnn_status do_planetoid(void) { return open_all(tap_path("raw"), NULL); }

/* Into a cache of its own, and out of it. */
static gnn_status do_nested(void) {
  static char cache[32];
  static int count;
  const gnn_recipe recipe = {.order = GNN_ORDER_NESTED};
  snprintf(cache, sizeof cache, "cache%d", count++);
  setenv("XDG_CACHE_HOME", tap_path(cache), 1);
  gnn_status status = open_all("karate", &recipe);
  return status == GNN_OK ? open_all("karate", &recipe) : status;
}
static gnn_status do_order(void) {
  const gnn_recipe recipe = {.order = GNN_ORDER_FILE, .order_path = tap_path("order.npy")};
  return open_all(tap_path("folder"), &recipe);
}

static gnn_status do_write(void) {
  gnn_dataset *d;
  gnn_status status = gnn_dataset_open_path("karate", &d, NULL);
  if (status != GNN_OK) return status;
  status = gnn_dataset_prepare(d, NULL, NULL);
  if (status == GNN_OK) status = gnn_write_container(d, tap_path("again.safetensors"), 1, "x", NULL);
  gnn_dataset *part = NULL;
  if (status == GNN_OK) status = gnn_subgraph(d, 20, &part, NULL);
  gnn_dataset_close(part);
  gnn_dataset_close(d);
  return status;
}

static gnn_status do_instance(void) {
  gnn_dataset *d;
  gnn_instance *instance = NULL;
  gnn_snapshot best = {0};
  gnn_progress progress = {0};
  gnn_status status = gnn_dataset_open_path("karate", &d, NULL);
  if (status != GNN_OK) return status;
  status = gnn_dataset_prepare(d, NULL, NULL);
  if (status == GNN_OK) status = gnn_instance_create(&toy.program, &(gnn_instance_options){.threads = 1}, &instance, NULL);
  if (status == GNN_OK) status = gnn_instance_load(instance, d, NULL);
  if (status == GNN_OK) status = gnn_snapshot_create(&toy.program, &best, NULL);
  if (status == GNN_OK) status = gnn_checkpoint_save(instance, &best, &progress, tap_path("c.safetensors"), NULL);
  if (status == GNN_OK) status = gnn_checkpoint_load(instance, &best, &progress, tap_path("c.safetensors"), NULL);
  gnn_snapshot_destroy(&best);
  gnn_instance_destroy(instance);
  gnn_dataset_close(d);
  return status;
}

static tiered_model tiered;

static gnn_status do_tiers(void) {
  gnn_dataset *d;
  gnn_instance *instance = NULL;
  gnn_status status = gnn_dataset_open_path("karate", &d, NULL);
  if (status != GNN_OK) return status;
  status = gnn_dataset_prepare(d, NULL, NULL);
  if (status == GNN_OK)
    status = gnn_instance_create(&tiered.program, &(gnn_instance_options){.threads = 1, .is_traced = 1}, &instance, NULL);
  if (status == GNN_OK) status = gnn_instance_load(instance, d, NULL);
  gnn_dataset_close(d);
  if (status == GNN_OK) gnn_instance_reset(instance, 1, NULL);
  for (int e = 0; e < 3 && status == GNN_OK; e++) status = gnn_step_epoch(instance);
  gnn_instance_destroy(instance);
  return status;
}

static void test_epochs_allocate_nothing(void) {
  gnn_dataset *d;
  gnn_instance *instance = NULL;
  gnn_result result[GNN_SPLIT_COUNT];
  if (gnn_dataset_open_path("karate", &d, NULL) != GNN_OK || gnn_dataset_prepare(d, NULL, NULL) != GNN_OK ||
      gnn_instance_create(&tiered.program, NULL, &instance, NULL) != GNN_OK || gnn_instance_load(instance, d, NULL) != GNN_OK)
    exit(98);
  gnn_instance_reset(instance, 1, NULL);
  int64_t before = allocations, failed = 0;
  for (int e = 0; e < 5; e++) failed += gnn_step_epoch(instance) != GNN_OK || gnn_evaluate(instance, result) != GNN_OK;
  tap_ok(failed == 0 && allocations == before, "epochs and evaluations with copies on every lane allocate nothing");
  gnn_instance_destroy(instance);
  gnn_dataset_close(d);
}

static gnn_status do_job(void) {
  gnn_job *job;
  gnn_job_options options;
  gnn_job_options_init(&options, &toy.program);
  options.threads = 1;
  struct DLManagedTensorVersioned *tensor = NULL;
  gnn_status status = gnn_job_create(&toy.program, &options, &job);
  if (status == GNN_OK) status = gnn_job_load(job, "karate");
  if (status == GNN_OK) status = gnn_job_train(job, 3, NULL);
  if (status == GNN_OK) status = gnn_job_save(job, tap_path("j.safetensors"));
  if (status == GNN_OK) status = gnn_job_weight_dlpack(job, "lin.bias", &tensor);
  if (status == GNN_OK) { /* its deleter is the third member, after two numbers and a pointer */
    void (*deleter)(struct DLManagedTensorVersioned *);
    memcpy(&deleter, (char *)tensor + 16, sizeof deleter);
    deleter(tensor);
  }
  gnn_job_destroy(job);
  return status;
}

static void each(const char *name, gnn_status (*operation)(void)) {
  int wrong = 0, n = 0;
  for (; n < 2000; n++) {
    allocations_left = n;
    gnn_status status = operation();
    int is_through = allocations_left >= 0;
    allocations_left = -1;
    if (is_through) {
      wrong += status != GNN_OK;
      break;
    }
    wrong += status != GNN_ENOMEM && status != GNN_OK; /* a note or a name that is missing is no failure */
    if (status != GNN_ENOMEM && status != GNN_OK) printf("# %s: allocation %d gave status %d\n", name, n, status);
  }
  tap_ok(wrong == 0 && n > 0 && n < 2000, "%s: each of %d allocations refused once", name, n);
}

int main(void) {
  static const char content[] = "a 1 0 x\nb 0 1 y\nc 1 1 x\n", cites[] = "a b\nc a\n";
  gnn_dataset *d;
  gnn_error error;
  gnn_make_directories(tap_path("raw"), &error);
  tap_write(tap_path("raw/t.content"), content, sizeof content - 1);
  tap_write(tap_path("raw/t.cites"), cites, sizeof cites - 1);
  static const int32_t arcs[6] = {0, 1, 2, 1, 2, 0};
  static const float x[6] = {1, 2, 3, 4, 5, 6};
  gnn_make_directories(tap_path("folder"), &error);
  gnn_array array = {.dtype = GNN_I32, .rank = 2, .shape = {2, 3}, .count = 6, .data = (const unsigned char *)arcs};
  gnn_npy_write(tap_path("folder/edge_index.npy"), &array, &error);
  array = (gnn_array){.dtype = GNN_F32, .rank = 2, .shape = {3, 2}, .count = 6, .data = (const unsigned char *)x};
  gnn_npy_write(tap_path("folder/x.npy"), &array, &error);
  static const char about[] = "{\"name\": \"f\", \"num_nodes\": 3}";
  tap_write(tap_path("folder/graph.json"), about, sizeof about - 1);
  gnn_dataset_open_path("karate", &d, &error);
  gnn_dataset_prepare(d, NULL, &error);
  gnn_write_container(d, tap_path("m.safetensors"), 1, "", &error);
  toy_make(&toy, d, NULL, 0);
  tiered_make(&tiered, &toy, TIERED_MIXED);
  gnn_dataset_close(d);
  toy.program.data_name = "karate";
  each("karate", do_karate);
  each("safetensors", do_container);
  each("folder", do_folder);
  each("planetoid", do_planetoid);
  each("nested order", do_nested);
  array = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {3}, .count = 3, .data = (const unsigned char *)arcs};
  gnn_npy_write(tap_path("order.npy"), &array, &error);
  each("order from a file", do_order);
  each("writing", do_write);
  each("instance and checkpoint", do_instance);
  each("tiers", do_tiers);
  each("job", do_job);
  test_epochs_allocate_nothing();
  if (tap_remove_folder() != 0) return 99;
  return tap_done();
}
