/* fill_halo.h: what parts gather of each other, into the arena. */
#ifndef GNN_FILL_HALO_H
#define GNN_FILL_HALO_H

#include "runtime/core/device.h"

/* gnn_run.halo[direction], in the places of the program: `ptr` and `idx` as a CSR has them, idx with the ids of rows that gnn_halo_rows.code may lie over. Fails (GNN_EDATA) where
 * parts gather other numbers of rows than those that the program was made for. */
gnn_status gnn_fill_halo(gnn_instance *instance, int direction, const int64_t *ptr, const int32_t *idx, const char *title, gnn_error *error);

#endif
