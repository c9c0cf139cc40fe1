/* made.h: bytes that are made of files while they are read, unpacked or turned round: some in memory; many in a file without a name, which is mapped
 * then as plain files are, so that a window of it is in memory at a time. Where no disk has room for it they stay in memory. */
#ifndef GNN_MADE_H
#define GNN_MADE_H

#include "file.h"

enum { GNN_MADE_HELD_BYTES = 1 << 20 }; /* more are not in memory */

typedef struct gnn_made {
  unsigned char *data;  /* in memory, of malloc */
  size_t room, size;    /* room of data; of all */
  int descriptor;       /* of the file that has them; -1: there is none */
  int is_without_disk;
} gnn_made;

void gnn_made_begin(gnn_made *made);
gnn_status gnn_made_put(gnn_made *made, const void *bytes, size_t count, gnn_error *error);
/* They are the bytes of *file from now on, in place of those that it has; nothing is left of *made, after an error either. */
gnn_status gnn_made_end(gnn_made *made, gnn_file *file, gnn_error *error);
void gnn_made_drop(gnn_made *made);

#endif
