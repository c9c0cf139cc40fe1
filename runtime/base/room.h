/* room.h: does the machine have the memory a plan needs? Asked before anything is started. */
#ifndef GNN_ROOM_H
#define GNN_ROOM_H

#include "text.h"

/* The least of: memory available, address space and data limits, what is left of the control group. INT64_MAX: unknown. */
int64_t gnn_available_bytes(void);
/* The most of memory that this process has had so far, files that are mapped into it included; -1: unknown. */
int64_t gnn_process_most_bytes(void);
/* R0801 (GNN_ENOMEM) where there are fewer bytes than that; `beside` are those of them that a smaller device does not save. */
gnn_status gnn_check_room(int64_t bytes, int64_t beside, gnn_error *error);

#endif
