/* file.h: whole files in memory, and files written so that there are never half ones. */
#ifndef GNN_FILE_H
#define GNN_FILE_H

#include "text.h"

typedef struct gnn_file {
  unsigned char *data; /* read only; never NULL after success, even of an empty file */
  size_t size;
  int is_mapped;
} gnn_file;

/* Maps a plain file; reads one in gzip form into memory (told from its first bytes). */
gnn_status gnn_file_open(const char *path, gnn_file *file, gnn_error *error);
void gnn_file_close(gnn_file *file); /* zeroed or closed is fine */

/* A writer to PATH.tmp-PID, which becomes PATH on success and disappears otherwise; devices and pipes, and "-", standard
 * output, are written into. */
typedef struct gnn_writer {
  int descriptor, is_node;
  char *path, *temporary;
  unsigned char *buffer;
  size_t used;
  int errno_value; /* of the first failure */
} gnn_writer;

gnn_status gnn_writer_open(gnn_writer *writer, const char *path, gnn_error *error);
void gnn_writer_put(gnn_writer *writer, const void *bytes, size_t count);
/* Writes what is buffered, fsyncs file and folder, renames. On any failure the temporary file is removed. */
gnn_status gnn_writer_close(gnn_writer *writer, gnn_error *error);
void gnn_writer_abandon(gnn_writer *writer);

int gnn_path_exists(const char *path);
int gnn_path_is_directory(const char *path);
/* malloc'ed "folder/name"; name alone where folder is NULL or "" or name is absolute. NULL: no memory. */
char *gnn_path_join(const char *folder, const char *name);
gnn_status gnn_make_directories(const char *path, gnn_error *error);

#endif
