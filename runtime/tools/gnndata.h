/* gnndata.h: the data tool; a function a command, each returning the exit code. */
#ifndef GNNDATA_H
#define GNNDATA_H

#include "runtime/data/dataset.h"

typedef struct gnndata_options {
  const char *words[4]; /* what is not an option, after the command */
  int word_count;
  gnn_recipe recipe;
  const char *normalised[8];
  int normalised_count;
  const char *changes;  /* the options as given, for the file that is written */
  double nodes, degree, edges, features, classes, seed;
  const char *order, *output, *method; /* of info; of order; NULL: not given */
  const char *reorder;  /* of convert: "degree", "rcm" or NULL */
  int is_sparse, is_forced, has_nodes, has_split;
  int drops_duplicates; /* asked for */
  int base;             /* of a list of edges */
  int64_t memory_bytes; /* 0: as much as it takes */
} gnndata_options;

int gnndata_fail(gnn_status status, const gnn_error *error);
/* Opens and prepares with the recipe; edges that a file of ours was made to have more than once stay, unless they are to be dropped (*dataset then says that it keeps them). */
gnn_status gnndata_read(const char *path, const gnn_recipe *recipe, int drops_duplicates, gnn_dataset **dataset, gnn_error *error);
gnn_status gnndata_open(const char *path, const gnndata_options *options, gnn_dataset **dataset); /* the same with what was asked for; errors are printed */
/* Nothing is overwritten that this tool did not write: a safetensors file with the mark among its metadata. */
gnn_status gnndata_may_write(const char *path, const char *mark, int is_forced, gnn_error *error);
/* The halos of a prepared data set, and those in the order asked for by --order. */
gnn_status gnndata_print_parts(const gnn_dataset *dataset, const gnndata_options *options);
/* Writes an order of a prepared graph to the file `path`, by "degree", "rcm", "metis" or a file of part numbers. */
gnn_status gnndata_write_order(const gnn_dataset *dataset, const char *path, const char *method, gnn_error *error);
void gnndata_print_notes(const gnn_dataset *dataset, const char *indent);

int gnndata_info(const gnndata_options *options);
int gnndata_check(const gnndata_options *options);
int gnndata_convert(const gnndata_options *options);
int gnndata_synth(const gnndata_options *options);
int gnndata_head(const gnndata_options *options);
int gnndata_diff(const gnndata_options *options);
int gnndata_order(const gnndata_options *options);
int gnndata_list(const gnndata_options *options);

#endif
