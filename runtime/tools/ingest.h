/* ingest.h: a list of edges of any length into a container with the graph by destination and by source, in a fixed amount of memory. */
#ifndef INGEST_H
#define INGEST_H

#include "runtime/data/edge_list.h"

enum { INGEST_LEAST_BYTES = 1 << 20 };

typedef struct ingest_order {
  const char *input, *output;
  gnn_edge_rules rules;
  gnn_recipe recipe;      /* is_undirected and self_loops alone */
  const char *changes;    /* as gnndata_options.changes */
  int64_t memory_bytes;   /* of all buffers together, at least INGEST_LEAST_BYTES */
  int is_forced;          /* what an interrupted conversion left is thrown away */
} ingest_order;

/* What is half done lies in the folder "OUTPUT.convert", and the same order goes on from there. *dataset: name, sizes and notes of the graph; to be
 * closed. The bytes are those that gnn_write_container writes of the same list. */
gnn_status gnndata_ingest(const ingest_order *order, gnn_dataset **dataset, gnn_error *error);

/* The line that tells how far something is, on standard error: again and again on a terminal, now and then elsewhere. */
typedef struct ingest_progress {
  double begin, last;
  int is_live, is_shown;
} ingest_progress;
void ingest_progress_begin(ingest_progress *progress);
int ingest_progress_is_due(ingest_progress *progress); /* it is time for one */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void ingest_progress_say(ingest_progress *progress, int is_final, const char *format, ...);
double ingest_progress_seconds(const ingest_progress *progress);

/* "what was done", a line each: the options and the notes. */
void gnndata_changes(const gnn_dataset *dataset, const char *options, gnn_text *changes);

#endif
