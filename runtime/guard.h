/* guard.h: files in memory by mapping, which others may cut short at any time. */
#ifndef GNN_GUARD_H
#define GNN_GUARD_H

#include <stddef.h>

typedef struct gnn_guard gnn_guard;

/* Maps the first `size` bytes (more than 0), to be read. NULL with errno. */
gnn_guard *gnn_guard_map(int descriptor, size_t size);
unsigned char *gnn_guard_data(const gnn_guard *guard);
/* Bytes that were read had been lost, or could not be brought, and zeros stood in for them. */
int gnn_guard_is_torn(const gnn_guard *guard);
void gnn_guard_unmap(gnn_guard *guard);

#endif
