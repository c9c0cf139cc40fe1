/* host.c FOLDER: a host program that lends the arrays of a data set, trains two epochs and prints the scores of every node in its own order. */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"
#include "../../runtime/data/npy.h"

static gnn_array taken(const char *folder, const char *name) {
  char path[512];
  gnn_file file;
  gnn_array array;
  gnn_error error;
  int is_transposed;
  snprintf(path, sizeof path, "%s/%s.npy", folder, name);
  if (gnn_npy_open(path, &file, &array, &is_transposed, &error) != GNN_OK) exit(1);
  return array; /* the file stays open */
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const gnn_array edges = taken(argv[1], "edge_index"), x = taken(argv[1], "x"), y = taken(argv[1], "y"), mask = taken(argv[1], "train_mask");
  const int64_t nodes = y.count, count = edges.count / 2, *ends = (const int64_t *)(const void *)edges.data;
  int64_t *ids = malloc((size_t)nodes * sizeof *ids), chosen = 0;
  for (int64_t v = 0; v < nodes; v++)
    if (mask.data[v]) ids[chosen++] = v;
  model_options options;
  model *job;
  model_options_init(&options);
  int is_well = model_create(&options, &job) == MODEL_OK && model_set_edges(job, ends, ends + count, count) == MODEL_OK &&
                model_set_x(job, (const float *)(const void *)x.data, nodes, x.shape[1]) == MODEL_OK &&
                model_set_y(job, (const int64_t *)(const void *)y.data, nodes) == MODEL_OK && model_set_split(job, MODEL_TRAIN, ids, chosen) == MODEL_OK;
  for (int epoch = 0; is_well && epoch < 2; epoch++) is_well = model_epoch(job, NULL) == MODEL_OK;
  enum { CLASSES = 6 };
  float *scores = malloc((size_t)(nodes * CLASSES) * sizeof *scores);
  is_well = is_well && model_predict(job, scores, nodes, CLASSES) == MODEL_OK;
  if (!is_well) fprintf(stderr, "%s\n", model_error(job));
  for (int64_t i = 0; is_well && i < nodes * CLASSES; i++) printf("%.9g%c", (double)scores[i], i % CLASSES == CLASSES - 1 ? '\n' : ',');
  return !is_well;
}
