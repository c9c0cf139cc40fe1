/* toy_main.c: a produced program without a compiler: toy [@PATH] [%sparse] [command] [options] */
#include <stdio.h>
#include <string.h>

#include "toy.h"

int main(int argc, char **argv) {
  gnn_dataset *dataset;
  gnn_error error;
  const char *path = NULL;
  int is_sparse = 0;
  while (argc > 1 && (argv[1][0] == '@' || argv[1][0] == '%')) {
    if (argv[1][0] == '@') path = argv[1] + 1;
    else is_sparse = strcmp(argv[1], "%sparse") == 0;
    memmove(argv + 1, argv + 2, (size_t)(argc - 1) * sizeof *argv);
    argc--;
  }
  gnn_status status = gnn_dataset_open_path(path ? path : "karate", &dataset, &error);
  if (status == GNN_OK) status = gnn_dataset_prepare(dataset, NULL, &error);
  if (status != GNN_OK) {
    fprintf(stderr, "toy: %s\n", error.message);
    return 99;
  }
  toy_model toy;
  toy_make(&toy, dataset, path, is_sparse);
  int code = gnn_main(argc, argv, &toy.program);
  gnn_dataset_close(dataset);
  return code;
}
