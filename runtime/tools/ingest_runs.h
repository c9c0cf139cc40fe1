/* ingest_runs.h: sorted runs of edges in files, and the merging of many into one (external merge sort: Knuth, vol. 3, 5.4).
 *
 * A key is an edge, and whether it is one of the data's or was added: ((major << 32 | minor) << 1 | is_added). The pair of a key is what is left without the
 * last bit. In a run no pair comes twice, and of several keys of a pair that of the data is left. */
#ifndef INGEST_RUNS_H
#define INGEST_RUNS_H

#include "runtime/base/text.h"

static inline uint64_t ingest_key(int64_t major, int64_t minor, int is_added) {
  return ((uint64_t)major << 32 | (uint64_t)minor) << 1 | (uint64_t)is_added;
}
static inline int64_t ingest_major(uint64_t pair) { return (int64_t)(pair >> 32); }
static inline int64_t ingest_minor(uint64_t pair) { return (int64_t)(pair & UINT32_MAX); }

typedef struct ingest_run {
  int64_t number, entries;
} ingest_run;

/* A file that grows. Errors are kept until it is asked for them. */
typedef struct ingest_file {
  char *path;
  int descriptor;
  unsigned char *buffer;
  size_t room, used;
  int64_t bytes; /* of the file and the buffer */
  uint32_t sum;  /* CRC-32 of them */
  int is_summed;
  int errno_value;
} ingest_file;

/* Goes on behind the first `bytes` of the file, whose sum is `sum`; what else it had is cut off. */
gnn_status ingest_file_open(ingest_file *file, const char *folder, const char *name, int64_t bytes, int is_summed, uint32_t sum, size_t room, gnn_error *error);
void ingest_file_put(ingest_file *file, const void *bytes, size_t count);
gnn_status ingest_file_sync(ingest_file *file, gnn_error *error); /* all of it is on the disk */
void ingest_file_close(ingest_file *file);

char *ingest_path(const char *folder, const char *name); /* malloc'ed */
char *ingest_run_path(const char *folder, int64_t number);

/* Sorts keys[0 .. count), leaves one a pair and writes them as a run. `room` is for as many keys. *duplicates grows by the data's keys that were dropped. */
gnn_status ingest_run_write(const char *folder, uint64_t *keys, uint64_t *room, int64_t count, size_t block, ingest_run *run, int64_t *duplicates, gnn_error *error);

typedef struct ingest_cursor {
  int descriptor;
  int64_t at, entries; /* in keys: how many are in the buffer or before it, and all */
  uint64_t *buffer;
  int64_t next, have;
  uint64_t key;        /* the smallest that was not taken */
} ingest_cursor;

typedef struct ingest_merge {
  const char *folder;
  const ingest_run *runs;
  int count, heap_count;
  int64_t block_keys;
  ingest_cursor *cursors;
  uint64_t *buffers;
  int *heap; /* of cursors, that with the smallest key first */
  int64_t loop, loops; /* beside the runs: added pairs (v, v), v from loop to loops - 1 */
} ingest_merge;

/* Of count runs, behind the pair `after` (-1: from the beginning); `block` bytes of each are in memory. */
gnn_status ingest_merge_open(ingest_merge *merge, const char *folder, const ingest_run *runs, int count, int64_t loops, int64_t after, size_t block, gnn_error *error);
/* The next pair, and how many keys of the data it had. *is_there 0: that was all. */
gnn_status ingest_merge_next(ingest_merge *merge, uint64_t *pair, int64_t *of_data, int *is_there, gnn_error *error);
void ingest_merge_close(ingest_merge *merge);

#endif
