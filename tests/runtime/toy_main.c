/* toy_main.c: a produced program without a compiler:
 * toy [@PATH] [%sparse] [%host | %ssd | %ring | %mixed] [%sim] [command] [options] */
#include <stdio.h>
#include <string.h>

#include "tiered.h"

int main(int argc, char **argv) {
  gnn_dataset *dataset;
  gnn_error error;
  const char *path = NULL;
  int is_sparse = 0, is_simulated = 0, mode = TIERED_MODE_COUNT;
  while (argc > 1 && (argv[1][0] == '@' || argv[1][0] == '%')) {
    const char *word = argv[1] + 1;
    if (argv[1][0] == '@') path = word;
    is_sparse |= strcmp(word, "sparse") == 0;
    is_simulated |= strcmp(word, "sim") == 0;
    for (int m = 0; m < TIERED_MODE_COUNT; m++) mode = strcmp(word, tiered_names[m]) == 0 ? m : mode;
    memmove(argv + 1, argv + 2, (size_t)(argc - 1) * sizeof *argv);
    argc--;
  }
  gnn_status status = gnn_dataset_open_path(path ? path : "karate", &dataset, &error);
  if (status == GNN_OK) status = gnn_dataset_prepare(dataset, NULL, &error);
  if (status != GNN_OK) {
    fprintf(stderr, "toy: %s\n", error.message);
    return 99;
  }
  static toy_model toy;
  static tiered_model tiered;
  toy_make(&toy, dataset, path, is_sparse);
  if (mode < TIERED_MODE_COUNT) tiered_make(&tiered, &toy, (tiered_mode)mode);
  gnn_program *program = mode < TIERED_MODE_COUNT ? &tiered.program : &toy.program;
  program->is_simulated = is_simulated;
  program->slowdown = 1;
  int code = gnn_main(argc, argv, program);
  gnn_dataset_close(dataset);
  return code;
}
