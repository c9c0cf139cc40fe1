/* toy_main.c: a produced program for CUDA without a compiler: toy [%plain | %host | %ring] [command] [options] */
#include <stdio.h>
#include <string.h>

#include "toy_cuda.h"

int main(int argc, char **argv) {
  static toy_cuda it;
  gnn_dataset *dataset;
  gnn_error error;
  toy_mode mode = TOY_PLAIN;
  if (argc > 1 && argv[1][0] == '%') {
    for (int m = 0; m < TOY_MODE_COUNT; m++) mode = strcmp(argv[1] + 1, toy_mode_names[m]) == 0 ? (toy_mode)m : mode;
    memmove(argv + 1, argv + 2, (size_t)(argc - 1) * sizeof *argv);
    argc--;
  }
  if (gnn_dataset_open_path("karate", &dataset, &error) != GNN_OK || gnn_dataset_prepare(dataset, NULL, &error) != GNN_OK) return 99;
  toy_cuda_make(&it, dataset, mode);
  int code = gnn_main(argc, argv, &it.program);
  gnn_dataset_close(dataset);
  return code;
}
