/* Tables of nodes and edges and what else is text, as sources of a data block: runtime/data/table.c, columns.c, csv.c, ... */
#include "fuzz_source.h"

static const char *const names[] = {"e.csv", "n.csv", "a.mtx", "a.graph", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const gnn_source_arg both[] = {{"edges", "e.csv", 0}, {"nodes", "n.csv", 0}, {"separator", ";", 0}, {"base", NULL, 1}}, matrix[] = {{"", "a.mtx", 0}}, metis[] = {{"", "a.graph", 0}}, declared[] = {{"edges", "e.csv", 0}, {"nodes", "n.csv", 0}, {"node", "x", 0}, {"edge", "w", 0}};
  static const gnn_source sources[] = {{"csv", 1, both}, {"csv", 2, both}, {"csv", 4, both}, {"csv", 4, declared}, {"mtx", 1, matrix}, {"metis", 1, metis}};
  fuzz_files(names, data, size);
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) fuzz_source(&sources[i]);
  return 0;
}
