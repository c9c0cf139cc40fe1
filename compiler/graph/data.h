/* data.h: the compiler's look at data sets, through the runtime's readers. */
#ifndef GNNCC_DATA_H
#define GNNCC_DATA_H

#include "lang/lang.h"

typedef struct DataReader {
  Arena *arena;
  const char *base_dir;   /* relative paths in the program start here; NULL: the working directory */
  bool wants_blocks;      /* where the canonical blocks begin */
  int ranks;              /* processes that the nodes are shared out among; 1: they are not; 0: as the target has devices */
  bool has_halos;         /* of data that are not read a rank gathers so many rows of others for each of its own: */
  double halos;
  bool wants_nested;      /* what an order of the nodes would be worth */
  bool is_overridden;     /* --data: the path starts in the working directory */
  int warning_count;
  struct DataWarning *warnings; /* that are said only of models they matter to */
} DataReader;

/* A DescribeData of lang.h; `user` is a DataReader. Paths in spec->source become relative to the working directory. */
int data_ranks(const DataReader *reader, const DataSpec *spec); /* that are asked for, or as many as the target has devices */
bool data_describe(void *user, const DataSpec *spec, Diags *diags, DataInfo *info);

/* The warnings about edges, where the checked model makes one matter. */
void data_warn(const DataReader *reader, const TypedProgram *program, Diags *diags);

/* Argument `index` of a source is a path: it has no name, and the source is read from files. */
bool data_is_path(const DataSource *source, int index);
/* The path as the emitted program will open it. */
const char *data_path(const DataReader *reader, const char *path);
const char *data_order_path(const DataReader *reader, const char *path);

#endif
