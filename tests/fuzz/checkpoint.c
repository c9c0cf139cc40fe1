/* Weights and checkpoints of a small program: runtime/job/checkpoint.c. */
#include "fuzz.h"

#include "runtime/data/fill.h"
#include "runtime/data/readers.h"
#include "runtime/job/checkpoint.h"
#include "tests/runtime/toy.h"

static gnn_instance *instance;
static gnn_snapshot best;

static void create(void) {
  static toy_model toy;
  gnn_synth synth = {.kind = GNN_SYNTH_RMAT, .nodes = 12, .features = 3, .classes = 2, .degree = 2, .seed = 5};
  static gnn_dataset *dataset; /* until the end, as the instance is */
  dataset = gnn_dataset_new("synth");
  HOLDS(dataset && gnn_read_synth(dataset, &synth, NULL) == GNN_OK && gnn_dataset_prepare(dataset, NULL, NULL) == GNN_OK);
  toy_make(&toy, dataset, "synth", 0);
  HOLDS(gnn_instance_create(&toy.program, &(gnn_instance_options){.threads = 1}, &instance, NULL) == GNN_OK);
  HOLDS(gnn_instance_load(instance, dataset, NULL) == GNN_OK && gnn_snapshot_create(&toy.program, &best, NULL) == GNN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static double finished[GNN_FINISHED_MAX][GNN_SPLIT_COUNT];
  gnn_progress progress = {.finished = finished};
  gnn_error error = {"", "", ""};
  if (!instance) create();
  uint8_t *repaired = malloc(size + 1);
  HOLDS(repaired);
  memcpy(repaired, data, size);
  fuzz_repair_sums(repaired, size);
  const char *path = fuzz_file("a.safetensors", repaired, size);
  free(repaired);
  gnn_status inspected = gnn_checkpoint_inspect(instance, &progress, path, &error);
  gnn_status status = gnn_checkpoint_load(instance, &best, &progress, path, &error);
  HOLDS(status == inspected && (status == GNN_OK || error.message[0]));
  HOLDS(status != GNN_OK || progress.finished_count <= GNN_FINISHED_MAX);
  status = gnn_weights_load(instance, path, &error);
  HOLDS(status == GNN_OK || error.message[0]);
  return 0;
}
