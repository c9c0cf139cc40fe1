/* ids.h: names of nodes as a file has them, and the numbers that stand for them. */
#ifndef GNN_IDS_H
#define GNN_IDS_H

#include "dataset.h"

/* Zeroed: none yet. As long as names are the numbers 0, 1, 2, ... in their order nothing is held. */
typedef struct gnn_ids {
  int64_t count;
  int is_mapped;       /* names are not their numbers */
  int64_t *at;         /* [count]: where each begins in pool; its end is a 0 */
  char *pool;
  int64_t pool_used, pool_room, at_room;
  int64_t *slots;      /* numbers + 1 by hash; 0: free */
  int64_t slot_count;
} gnn_ids;

/* The number of a name, -1: there is none. */
int64_t gnn_ids_find(const gnn_ids *ids, const char *name);
/* *number: of a name that is new the next, *is_new; of another its own. */
gnn_status gnn_ids_add(gnn_ids *ids, const char *name, int64_t *number, int *is_new, gnn_error *error);
/* Names that are not their numbers stay with the data set (node_name); frees the rest. */
gnn_status gnn_ids_keep(gnn_ids *ids, gnn_dataset *dataset, gnn_error *error);
void gnn_ids_free(gnn_ids *ids);

#endif
