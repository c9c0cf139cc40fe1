/* Folders with folders in them: those of the Open Graph Benchmark and of the Illinois one: runtime/data/ogb.c, igb.c. */
#include "fuzz_source.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *const folders[] = {"raw", "raw/relations", "raw/relations/a___w___p", "raw/node-feat", "raw/node-feat/p", "raw/node-label", "raw/node-label/p", "split", "split/t", "split/t/p", "processed", "processed/paper", "processed/author", "processed/paper__cites__paper", "processed/paper__w__author", NULL};
static const char *const names[] = {"raw/edge.csv.gz", "raw/num-node-list.csv.gz", "raw/num-edge-list.csv.gz", "raw/node-feat.csv.gz", "raw/edge-feat.csv.gz", "raw/node-label.csv.gz", "raw/graph-label.csv.gz",
                                    "raw/data.npz", "raw/node-label.npz", "raw/num-node-dict.csv.gz", "raw/triplet-type-list.csv.gz", "raw/relations/a___w___p/edge.csv.gz",
                                    "raw/relations/a___w___p/num-edge-list.csv.gz", "raw/node-feat/p/node-feat.csv.gz", "raw/node-feat/p/node_year.csv.gz", "raw/node-label/p/node-label.csv.gz",
                                    "split/t/train.csv.gz", "split/t/valid.csv.gz", "split/t/test.npz", "split/t/p/train.csv.gz", "processed/paper/node_feat.npy", "processed/paper/node_label_19.npy",
                                    "processed/author/node_feat.npy", "processed/paper__cites__paper/edge_index.npy", "processed/paper__w__author/edge_index.npy", NULL};

static void remove_folders(void) {
  char path[256];
  for (int i = 0; names[i]; i++) fuzz_remove(names[i]);
  for (int i = (int)(sizeof folders / sizeof *folders) - 2; i >= 0; i--) {
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), folders[i]);
    rmdir(path);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const gnn_source_arg plain[] = {{"", ".", 0}}, both[] = {{"", ".", 0}, {"inverse", NULL, 1}};
  static const gnn_source sources[] = {{"ogb", 1, plain}, {"ogb", 2, both}, {"igb", 1, plain}};
  static int is_made;
  char path[256];
  for (int i = 0; !is_made && folders[i]; i++) {
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), folders[i]);
    HOLDS(mkdir(path, 0700) == 0);
  }
  if (!is_made) atexit(remove_folders);
  is_made = 1;
  fuzz_files(names, data, size);
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) fuzz_source(&sources[i]);
  return 0;
}
