/* file.h: whole files in memory, and files written so that there are never half ones. */
#ifndef GNN_FILE_H
#define GNN_FILE_H

#include "guard.h"
#include "text.h"

typedef struct gnn_file {
  unsigned char *data; /* read only; never NULL after success, even of an empty file */
  size_t size;
  gnn_guard *guard; /* of a file that is mapped; NULL: data is of malloc */
  int is_made;      /* these are not the bytes of `path`, but were made of them (made.h) */
  char *path;
} gnn_file;

/* How many bytes the whole of a file has, as far as its first `size` bytes tell: more than `size` where there must be more, or where
 * more are needed to tell; -1 where it is not of the form. What is compressed is unpacked so far and no further. */
typedef int64_t (*gnn_file_promise)(const unsigned char *head, size_t size);

/* Maps a plain file; unpacks one in gzip form (told from its first bytes; made.h). Directories, pipes and devices are refused. */
gnn_status gnn_file_open(const char *path, gnn_file_promise promise, gnn_file *file, gnn_error *error);
/* Texts promise nothing: they are unpacked up to a size that texts of graphs do not have. */
enum { GNN_FILE_TEXT_MOST = 256 << 20 };
int64_t gnn_file_text(const unsigned char *head, size_t size);
/* Others may change a file, or cut it short, while it is mapped. To be asked once its bytes were read: `status`, or the error that
 * they cannot be believed. */
gnn_status gnn_file_check(const gnn_file *file, gnn_status status, gnn_error *error);
/* Of memory that is read from its beginning to its end, in steps: of a mapped file a window at a time is in memory, and the next on its way (gnn_guard_pass, gnn_guard_expect). */
typedef struct gnn_reading {
  const void *from;
} gnn_reading;
enum { GNN_READING_BYTES = 1 << 18 };
static inline gnn_reading gnn_reading_begin(const void *from) {
  gnn_guard_expect(from, 2 * GNN_READING_BYTES);
  return (gnn_reading){from};
}
static inline void gnn_reading_pass(gnn_reading *window, const void *read_up_to) {
  const size_t bytes = (uintptr_t)read_up_to - (uintptr_t)window->from;
  if (bytes < GNN_READING_BYTES) return;
  gnn_guard_pass(window->from, read_up_to);
  window->from = read_up_to;
  gnn_guard_expect(read_up_to, GNN_READING_BYTES + bytes); /* the window under way, too: pages of its first piece were let go */
}
static inline void gnn_reading_end(const gnn_reading *window, const void *end) { gnn_guard_pass(window->from, end); }
/* CRC-32 of bytes that may lie in a mapped file, a window of which is in memory at a time. */
uint32_t gnn_file_sum(const void *bytes, size_t count);
/* Its bytes are these from now on, of malloc. */
void gnn_file_hold(gnn_file *file, unsigned char *data, size_t size);
void gnn_file_close(gnn_file *file); /* zeroed or closed is fine */

/* A writer to a file of a name that nobody can guess beside PATH, which becomes PATH on success and disappears otherwise; devices
 * and pipes, and "-", standard output, are written into. */
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

/* The text is the file, and freed. */
gnn_status gnn_text_write(gnn_text *text, const char *path, gnn_error *error);

int gnn_path_exists(const char *path);
int gnn_path_is_directory(const char *path);
/* malloc'ed "folder/name"; name alone where folder is NULL or "" or name is absolute. NULL: no memory. */
char *gnn_path_join(const char *folder, const char *name);
gnn_status gnn_make_directories(const char *path, gnn_error *error);
/* Appends the folder for what is made once and can be made again; 0: there is no HOME. */
int gnn_cache_folder(gnn_text *path);

#endif
