/* scratch.h: the SSD tier: one file without a name, read and written past the page cache, by io_uring where that is allowed. */
#ifndef GNN_SCRATCH_H
#define GNN_SCRATCH_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "spans.h"
#include "runtime/base/text.h"

enum {
  GNN_SCRATCH_BLOCK_BYTES = 1 << 20, GNN_SCRATCH_DEPTH = 8, /* blocks on their way at a time */
  GNN_SCRATCH_UNIT_BYTES = 4096 /* what O_DIRECT needs offsets and lengths to be multiples of, on any disk */
};

/* Offsets from GNN_WINDOWS_AT on that stand for bytes of another file, only to be read (window.h). */
typedef struct gnn_window {
  int64_t first, bytes, at; /* `first` is where `at` of the file is */
  int file, is_direct;
  char *path;             /* NULL: of the scratch file itself */
  int64_t file_bytes;     /* of the whole file when it was opened, */
  struct timespec changed; /* which was last changed then */
} gnn_window;

typedef struct gnn_scratch {
  int file;
  int64_t bytes;          /* reserved */
  int64_t reserved_blocks; /* of the file once reserved; 0: this file system does not say */
  int is_direct, is_in_memory;
  int64_t memory_align;   /* of memory that the disk reads and writes itself */
  _Atomic int64_t peak;   /* end of the furthest block written */
  char folder[512];
  char why_folder[160], why_buffered[160]; /* what was tried in vain; "" where nothing was */
  int window_count;
  gnn_window window[GNN_WINDOWS_MOST];
} gnn_scratch;

/* Where the file may lie, best first, NULL: not given. Only `wanted` must work. */
typedef struct gnn_scratch_folders {
  const char *wanted, *planned, *temporary;
} gnn_scratch_folders;

/* A file without a name. */
gnn_status gnn_scratch_open(gnn_scratch *scratch, const gnn_scratch_folders *folders, gnn_error *error);
/* Takes the room on the disk now, from the beginning to so many bytes. R0805 (GNN_EIO) where there is less. */
gnn_status gnn_scratch_reserve(gnn_scratch *scratch, int64_t bytes, gnn_error *error);
void gnn_scratch_close(gnn_scratch *scratch);

/* To whole units. */
static inline int64_t gnn_scratch_round(int64_t bytes) {
  return (bytes + GNN_SCRATCH_UNIT_BYTES - 1) / GNN_SCRATCH_UNIT_BYTES * GNN_SCRATCH_UNIT_BYTES;
}

/* Of the blocks in which so many bytes move: a short move goes in shorter ones, so that several still travel at a time. */
static inline int64_t gnn_scratch_block_bytes(int64_t bytes) {
  enum { LEAST = GNN_SCRATCH_BLOCK_BYTES / 4 };
  int64_t share = gnn_scratch_round(bytes / GNN_SCRATCH_DEPTH);
  return share < LEAST ? LEAST : share < GNN_SCRATCH_BLOCK_BYTES ? share : GNN_SCRATCH_BLOCK_BYTES;
}

/* Each of the buffers of a port that moves no more than `most` bytes at once: no larger than these, which may begin within a unit. */
static inline int64_t gnn_scratch_port_block_bytes(int64_t most) {
  const int64_t block = gnn_scratch_block_bytes(most), all = gnn_scratch_round(most) + GNN_SCRATCH_UNIT_BYTES;
  return block < all ? block : all;
}

/* How many it has, as many as those bytes fill. */
static inline int gnn_scratch_port_blocks(int64_t most) {
  const int64_t block = gnn_scratch_port_block_bytes(most), blocks = (gnn_scratch_round(most) + block - 1) / block;
  return blocks < 1 ? 1 : blocks < GNN_SCRATCH_DEPTH ? (int)blocks : GNN_SCRATCH_DEPTH;
}

static inline int64_t gnn_scratch_buffer_bytes(int64_t most) { return gnn_scratch_port_blocks(most) * gnn_scratch_port_block_bytes(most); }

/* One direction's way to the file, used by one thread. */
typedef struct gnn_scratch_port gnn_scratch_port;

/* By io_uring where that is allowed, else by pread and pwrite. */
gnn_status gnn_scratch_port_create(gnn_scratch *scratch, int is_write, int64_t most, gnn_scratch_port **port, gnn_error *error);
void gnn_scratch_port_destroy(gnn_scratch_port *port); /* NULL is fine */
int gnn_scratch_port_lacks(const gnn_scratch_port *port); /* io_uring, or registered buffers */
/* Where the file is and how it is reached, with what was tried in vain. */
void gnn_scratch_text(const gnn_scratch_port *port, gnn_text *text);
/* The same of a file and a port opened for that and closed again. */
gnn_status gnn_scratch_try(const gnn_scratch_folders *folders, gnn_text *text, gnn_error *error);

/* Bytes between memory and file, or a window; both walks cover that many. On failure *error says which bytes and why. */
gnn_status gnn_scratch_move(gnn_scratch_port *port, gnn_spans memory, gnn_spans file, int64_t bytes, gnn_error *error);

/* The system's calls, for tests to replace. */
typedef struct gnn_scratch_calls {
  ssize_t (*pread)(int file, void *to, size_t bytes, off_t at);
  ssize_t (*pwrite)(int file, const void *from, size_t bytes, off_t at);
  int (*completed)(int is_write, int result); /* what io_uring answered: a count of bytes, or minus errno */
  int has_uring;
} gnn_scratch_calls;
extern gnn_scratch_calls gnn_scratch_system;

#endif
