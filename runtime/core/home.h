/* home.h: data that are at home on the SSD, parts of them perhaps in the host arena, from where copies bring their parts: written once, while they are loaded. */
#ifndef GNN_HOME_H
#define GNN_HOME_H

#include "instance.h"

/* Bytes one after the other into the extents of a side, by way of a buffer of one block. */
typedef struct gnn_home {
  gnn_scratch_port *port;
  unsigned char *host; /* the host arena */
  const gnn_extent *extent, *end;
  int64_t done; /* of the extent, in the file */
  unsigned char *buffer;
  int64_t used;
} gnn_home;

gnn_status gnn_home_open(gnn_home *home, gnn_instance *instance, const gnn_side *side, gnn_error *error);
gnn_status gnn_home_open_extents(gnn_home *home, gnn_instance *instance, const gnn_extent *extents, int count, gnn_error *error);
gnn_status gnn_home_put(gnn_home *home, const void *bytes, int64_t count, gnn_error *error);
gnn_status gnn_home_go(gnn_home *home, const gnn_extent *extent, gnn_error *error); /* what follows goes there */
/* What the buffer still holds, unless `status` says that it failed before; returns what came first. */
gnn_status gnn_home_close(gnn_home *home, gnn_status status, gnn_error *error);

/* Bytes from the beginning of a side. */
gnn_status gnn_home_read(gnn_instance *instance, const gnn_side *side, void *to, int64_t bytes, gnn_error *error);

/* What the data call each node (run.node_id) is in memory from now on, for whoever answers in these numbers; it may be there in any case. */
gnn_status gnn_home_bring_ids(gnn_instance *instance, gnn_error *error);

#endif
