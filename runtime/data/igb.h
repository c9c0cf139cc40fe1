/* igb.h: folders of the Illinois Graph Benchmark. */
#ifndef GNN_IGB_H
#define GNN_IGB_H

#include "dataset.h"

int gnn_is_igb(const char *path);
/* size: "tiny", "small", ..., a folder in `path`; NULL: path itself. classes: 19 or 2983. */
gnn_status gnn_read_igb(gnn_dataset *dataset, const char *path, const char *size, int classes, gnn_error *error);

#endif
