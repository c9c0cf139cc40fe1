/* stream.h: the bytes of a file one after the other, unpacked where it is in gzip form (told from its first bytes). */
#ifndef GNN_STREAM_H
#define GNN_STREAM_H

#include "text.h"

typedef struct gnn_stream gnn_stream;

/* Directories, pipes and devices are refused. */
gnn_status gnn_stream_open(const char *path, gnn_stream **stream, gnn_error *error);
/* The same of a file that is open; the descriptor is the stream's from now on, in any case. `path` is copied. */
gnn_status gnn_stream_take(const char *path, int descriptor, gnn_stream **stream, gnn_error *error);
/* The next bytes, *got < wanted at the end only. */
gnn_status gnn_stream_read(gnn_stream *stream, void *to, size_t wanted, size_t *got, gnn_error *error);
/* Goes on behind so many bytes, counted unpacked from the beginning; what is packed is unpacked as far as that, which takes its time. */
gnn_status gnn_stream_seek(gnn_stream *stream, int64_t place, gnn_error *error);
int gnn_stream_is_packed(const gnn_stream *stream);
/* Bytes of the file as it lies that were taken, and all of them. */
void gnn_stream_progress(const gnn_stream *stream, int64_t *taken, int64_t *all);
void gnn_stream_close(gnn_stream *stream); /* NULL is fine */

#endif
