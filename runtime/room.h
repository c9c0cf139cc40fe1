/* room.h: does the machine have the memory a plan needs? Asked before anything is started. */
#ifndef GNN_ROOM_H
#define GNN_ROOM_H

#include "text.h"

/* The least of: memory available, address space and data limits, what is left of the control group. INT64_MAX: unknown. */
int64_t gnn_available_bytes(void);
gnn_status gnn_check_room(int64_t bytes, gnn_error *error); /* R0801, GNN_ENOMEM */

#endif
