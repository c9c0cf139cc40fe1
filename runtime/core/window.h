/* window.h: data at home on the SSD that are read where they lie in a file of the user's: a window of the scratch file's offsets, beyond all of its own. */
#ifndef GNN_WINDOW_H
#define GNN_WINDOW_H

#include "runtime/base/file.h"
#include "scratch.h"

/* The window at `first` shows `bytes` of a mapped file from `at` on. GNN_EIO where it cannot be opened again, or is another by now. */
gnn_status gnn_window_open(gnn_scratch *scratch, int64_t first, int64_t bytes, const gnn_file *file, int64_t at, gnn_error *error);
/* It shows bytes at the end of the scratch file, which grows by them, from *at on, where they are to be written: of data that lie in no file as they are read. */
gnn_status gnn_window_grow(gnn_scratch *scratch, int64_t first, int64_t bytes, int64_t *at, gnn_error *error);

#endif
