/* ogb.h: folders of the Open Graph Benchmark. */
#ifndef GNN_OGB_H
#define GNN_OGB_H

#include "dataset.h"

int gnn_is_ogb(const char *path);
int gnn_is_part_of_ogb(const char *path); /* it is meant to be one, and something is missing */
/* split: which of several; NULL: the first. inverse: whether each edge is read both ways; -1: as OGB's own loader does, told from the name of the folder. */
gnn_status gnn_read_ogb(gnn_dataset *dataset, const char *path, const char *split, int inverse, gnn_error *error);

#endif
