/* home.c: data into the scratch file before the first epoch. Blocks of it are filled one after the other, each in one extent, so that no more than one of
 * them is in memory beside what is read. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "home.h"

#include <stdlib.h>
#include <string.h>

gnn_status gnn_home_open(gnn_home *home, gnn_instance *instance, const gnn_side *side, gnn_error *error) {
  return gnn_home_open_extents(home, instance, &instance->run.program->extents[side->at], side->extent_count, error);
}

gnn_status gnn_home_open_extents(gnn_home *home, gnn_instance *instance, const gnn_extent *extents, int count, gnn_error *error) {
  *home = (gnn_home){.host = instance->tiers.base[GNN_HOST], .extent = extents, .end = extents + count};
  gnn_status status = gnn_scratch_port_create(&instance->scratch, 1, GNN_SCRATCH_BLOCK_BYTES, &home->port, error);
  if (status != GNN_OK) return status;
  home->buffer = malloc(GNN_SCRATCH_BLOCK_BYTES);
  if (home->buffer) return GNN_OK;
  gnn_scratch_port_destroy(home->port);
  return gnn_fail_memory(error, GNN_SCRATCH_BLOCK_BYTES);
}

static gnn_spans home_run(unsigned char *base, int64_t at, int64_t bytes) { return (gnn_spans){.base = base, .scale = 1, .wrap = INT64_MAX, .at = at, .left = bytes}; }

static gnn_status home_flush(gnn_home *home, gnn_error *error) {
  if (home->used == 0) return GNN_OK;
  gnn_status status = GNN_OK;
  if (home->extent->is_on_host) memcpy(home->host + home->extent->at + home->done, home->buffer, (size_t)home->used);
  else status = gnn_scratch_move(home->port, home_run(home->buffer, 0, home->used), home_run(NULL, home->extent->at + home->done, home->used), home->used, error);
  home->done += home->used;
  home->used = 0;
  if (home->done == home->extent->bytes) home->extent++, home->done = 0;
  return status;
}

gnn_status gnn_home_put(gnn_home *home, const void *bytes, int64_t count, gnn_error *error) {
  const unsigned char *from = bytes;
  gnn_status status = GNN_OK;
  while (count > 0 && status == GNN_OK) {
    if (home->extent == home->end) return gnn_fail(error, GNN_EINVAL, "", "internal: more data than there is room for on the SSD");
    int64_t room = home->extent->bytes - home->done - home->used, length = GNN_SCRATCH_BLOCK_BYTES - home->used;
    if (length > room) length = room;
    if (length > count) length = count;
    memcpy(home->buffer + home->used, from, (size_t)length);
    from += length;
    count -= length;
    home->used += length;
    if (home->used == GNN_SCRATCH_BLOCK_BYTES || length == room) status = home_flush(home, error);
  }
  return status;
}

gnn_status gnn_home_go(gnn_home *home, const gnn_extent *extent, gnn_error *error) {
  const gnn_status status = home_flush(home, error);
  home->extent = extent;
  home->done = 0;
  return status;
}

gnn_status gnn_home_close(gnn_home *home, gnn_status status, gnn_error *error) {
  if (status == GNN_OK) status = home_flush(home, error);
  gnn_scratch_port_destroy(home->port);
  free(home->buffer);
  return status;
}

gnn_status gnn_home_read(gnn_instance *instance, const gnn_side *side, void *to, int64_t bytes, gnn_error *error) {
  const gnn_extent *extent = &instance->run.program->extents[side->at], *end = extent + side->extent_count;
  gnn_scratch_port *port;
  gnn_status status = gnn_scratch_port_create(&instance->scratch, 0, GNN_SCRATCH_BLOCK_BYTES, &port, error);
  for (int64_t done = 0; extent < end && done < bytes && status == GNN_OK; done += extent++->bytes) {
    const int64_t length = extent->bytes < bytes - done ? extent->bytes : bytes - done;
    if (extent->is_on_host) memcpy((unsigned char *)to + done, instance->tiers.base[GNN_HOST] + extent->at, (size_t)length);
    else status = gnn_scratch_move(port, home_run(to, done, length), home_run(NULL, extent->at, length), length, error);
  }
  gnn_scratch_port_destroy(port);
  return status;
}

gnn_status gnn_home_bring_ids(gnn_instance *instance, gnn_error *error) {
  gnn_run *run = &instance->run;
  const gnn_side *side = &run->program->graph.node_id_home;
  const int64_t bytes = run->nodes * (int64_t)sizeof *instance->node_id;
  if (side->extent_count == 0 || run->node_id) return GNN_OK;
  int32_t *ids = realloc(instance->node_id, (size_t)bytes + 1);
  if (ids == NULL) return gnn_fail_memory(error, bytes);
  instance->node_id = ids;
  const gnn_status status = gnn_home_read(instance, side, ids, bytes, error);
  if (status == GNN_OK) run->node_id = ids;
  return status;
}
