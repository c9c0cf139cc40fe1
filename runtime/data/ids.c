/* ids.c: a hash table of texts that lie one behind the other. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t ids_hash(const char *name) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3); /* FNV-1a */
  return hash ^ hash >> 29;
}

/* The name is the number as one writes it. */
static int ids_is_number(const char *name, int64_t *number) {
  char written[24];
  if (!gnn_parse_integer(name, number) || *number < 0) return 0;
  snprintf(written, sizeof written, "%lld", (long long)*number);
  return strcmp(written, name) == 0;
}

static int64_t ids_slot(const gnn_ids *ids, const char *name) {
  int64_t slot = (int64_t)(ids_hash(name) & (uint64_t)(ids->slot_count - 1));
  while (ids->slots[slot] && strcmp(ids->pool + ids->at[ids->slots[slot] - 1], name) != 0) slot = (slot + 1) & (ids->slot_count - 1);
  return slot;
}

int64_t gnn_ids_find(const gnn_ids *ids, const char *name) {
  int64_t number;
  if (!ids->is_mapped) return ids_is_number(name, &number) && number < ids->count ? number : -1;
  return ids->slots[ids_slot(ids, name)] - 1;
}

static gnn_status ids_widen(gnn_ids *ids, gnn_error *error) {
  const int64_t wanted = ids->slot_count ? 2 * ids->slot_count : 1024;
  int64_t *slots = calloc((size_t)wanted, sizeof *slots);
  if (slots == NULL) return gnn_fail_memory(error, wanted * (int64_t)sizeof *slots);
  free(ids->slots);
  ids->slots = slots;
  ids->slot_count = wanted;
  for (int64_t i = 0; i < ids->count && ids->at; i++) ids->slots[ids_slot(ids, ids->pool + ids->at[i])] = i + 1;
  return GNN_OK;
}

static gnn_status ids_room(void **memory, int64_t need, int64_t *room, int64_t bytes, gnn_error *error) {
  if (need <= *room) return GNN_OK;
  const int64_t wanted = 2 * need + 64;
  void *more = realloc(*memory, (size_t)(wanted * bytes));
  if (more == NULL) return gnn_fail_memory(error, wanted * bytes);
  *memory = more;
  *room = wanted;
  return GNN_OK;
}

/* It is not there yet. */
static gnn_status ids_put(gnn_ids *ids, const char *name, int64_t number, gnn_error *error) {
  const int64_t length = (int64_t)strlen(name) + 1;
  void *at = ids->at, *pool = ids->pool;
  gnn_status status = ids_room(&at, number + 1, &ids->at_room, sizeof *ids->at, error);
  ids->at = at;
  if (status == GNN_OK) status = ids_room(&pool, ids->pool_used + length, &ids->pool_room, 1, error);
  ids->pool = pool;
  if (status != GNN_OK) return status;
  memcpy(ids->pool + ids->pool_used, name, (size_t)length);
  ids->at[number] = ids->pool_used;
  ids->pool_used += length;
  ids->slots[ids_slot(ids, name)] = number + 1;
  return GNN_OK;
}

static gnn_status ids_map(gnn_ids *ids, gnn_error *error) {
  const int64_t count = ids->count;
  gnn_status status = GNN_OK;
  ids->is_mapped = 1;
  ids->count = 0;
  while (status == GNN_OK && ids->slot_count < 2 * count + 2) status = ids_widen(ids, error);
  for (int64_t i = 0; status == GNN_OK && i < count; i++) {
    char written[24];
    snprintf(written, sizeof written, "%lld", (long long)i);
    status = ids_put(ids, written, i, error);
  }
  ids->count = count;
  return status;
}

gnn_status gnn_ids_add(gnn_ids *ids, const char *name, int64_t *number, int *is_new, gnn_error *error) {
  gnn_status status = GNN_OK;
  *number = gnn_ids_find(ids, name);
  if ((*is_new = *number < 0) == 0) return GNN_OK;
  int64_t own;
  if (!ids->is_mapped && !(ids_is_number(name, &own) && own == ids->count)) status = ids_map(ids, error);
  if (status == GNN_OK && ids->is_mapped && 2 * (ids->count + 1) > ids->slot_count) status = ids_widen(ids, error);
  if (status == GNN_OK && ids->is_mapped) status = ids_put(ids, name, ids->count, error);
  if (status == GNN_OK) *number = ids->count++;
  return status;
}

void gnn_ids_free(gnn_ids *ids) {
  free(ids->at);
  free(ids->pool);
  free(ids->slots);
  memset(ids, 0, sizeof *ids);
}

gnn_status gnn_ids_keep(gnn_ids *ids, gnn_dataset *dataset, gnn_error *error) {
  gnn_status status = GNN_OK;
  if (ids->is_mapped && ids->count > 0) {
    dataset->node_name = ids->pool;
    dataset->node_name_at = ids->at;
    status = gnn_dataset_own(dataset, ids->pool, error);
    const gnn_status other = gnn_dataset_own(dataset, ids->at, error);
    if (status == GNN_OK) status = other;
    ids->pool = NULL;
    ids->at = NULL;
    if (status != GNN_OK) dataset->node_name = NULL;
  }
  gnn_ids_free(ids);
  return status;
}
