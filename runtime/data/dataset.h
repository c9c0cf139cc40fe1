/* dataset.h: graphs with fields and splits, from wherever they come.
 *
 * Opening reads headers and maps files; preparing applies the recipe of a data block, checks everything that can be
 * checked in one pass, and leaves the graph sorted by (destination, source). The compiler, gnndata and the emitted
 * programs share this file, so that they agree on what the data are.
 */
#ifndef GNN_DATASET_H
#define GNN_DATASET_H

#include "runtime/base/array.h"
#include "runtime/base/file.h"

/* Something changed (code "") or remarkable (a warning: code "W0703", name "one-way-edges"). */
typedef struct gnn_note {
  char code[8], name[24];
  char text[320], help[160];
  int is_advice; /* not of what was done to the data */
} gnn_note;

typedef struct gnn_data_field {
  char name[64];
  gnn_domain domain;
  int set;                 /* as gnn_field_desc.set */
  gnn_array raw;           /* as in the file; of a sparse one, the values (count 0: all are 1) */
  gnn_array raw_ptr, raw_column;
  int is_raw_sparse;
  int64_t raw_width;       /* of a sparse one */
  int64_t declared_classes; /* -1: not said */
  const char *file;        /* that it is read from alone, in quotes; NULL: from those of the data */
  const char *gap;         /* of a table, where its first number is that is not finite, and what stands there: "n.csv" line 18 column 5, where nothing stands; NULL: nobody says */

  /* From here on valid once prepared. */
  gnn_storage storage;     /* how it is held: GNN_DENSE, GNN_SPARSE or GNN_LABEL */
  int64_t rows, width;     /* edge fields: in the order of the prepared edges */
  int64_t all_rows;        /* of some rows of a field, which are found by node_id: of all of them; otherwise 0 */
  const float *dense;      /* [rows, width] */
  const int64_t *ptr;      /* [rows + 1] */
  const int32_t *column;   /* [nonzeros], ascending in a row */
  const float *value;      /* [nonzeros], or NULL: all are 1 */
  const int32_t *label;    /* [rows], -1 for none */
  const float *divisor;    /* [rows]: every number of the row is to be divided by it; NULL: by 1 */
  int64_t classes;         /* GNN_LABEL */
  int64_t labelled;        /* GNN_LABEL: rows with a label */
  int64_t nonzeros;        /* numbers stored that are not 0; GNN_LABEL: -1 */
  double least, greatest;  /* of the numbers before normalisation */
} gnn_data_field;

extern const char *const gnn_split_names[GNN_SPLIT_COUNT]; /* "train", "valid", "test" */

/* A type of nodes beside the first. */
typedef struct gnn_data_type {
  char name[64];
  char given[64]; /* as the data have it */
  int64_t nodes;
} gnn_data_type;

/* Edges of one kind; sets of rows as gnn_edge_set_desc has them. */
typedef struct gnn_data_relation {
  char name[64];
  char given[64]; /* as the data have it */
  int src, dst;
  gnn_array raw_source, raw_destination; /* rank 1, the same length */

  /* From here on valid once prepared. */
  int64_t edges;
  const int64_t *in_ptr;    /* [rows of dst + 1] */
  const int32_t *in_source; /* [edges], ascending in a row, none twice unless the recipe keeps duplicates */
  int is_symmetric;
} gnn_data_relation;

typedef struct gnn_pairs gnn_pairs;

/* Of a rank: the edges that arrive at its nodes, and those that leave them. */
typedef struct gnn_own_edges {
  int64_t begin, end;             /* the nodes */
  int64_t before;                 /* so many edges arrive at nodes before these */
  const int64_t *in_ptr, *out_ptr; /* [end - begin + 1] */
  const int32_t *in_source, *out_destination; /* among all nodes, ascending in a row */
  const int64_t *first;           /* as gnn_dataset_cut has it */
  int64_t read;                   /* a checksum of the edges of all as they were read */
} gnn_own_edges;

/* What prepares the data of a rank asks the others for; all of them call at once. */
typedef struct gnn_own_rows {
  int count, rank;
  int64_t nodes, begin, end;      /* of all, and its own */
  void *context;
  void (*add)(void *context, int64_t *numbers, int64_t count); /* what each has counted becomes what there is of all */
  void (*gather)(void *context, uint32_t *of_nodes);           /* [nodes], of which its own are there: all are */
} gnn_own_rows;

typedef struct gnn_dataset {
  char *name;              /* of the set: "cora" */
  const char *kind;              /* what it was read as, in words: "a folder of NumPy arrays" */
  int is_ours;             /* a file that gnndata wrote: edges that are there more than once were kept on purpose */
  char *title;             /* how messages call it: its path, or "karate()" */

  /* What the reader found. */
  int64_t declared_nodes, declared_graphs; /* -1: not said */
  gnn_array raw_source, raw_destination; /* rank 1, the same length */
  gnn_array raw_row_ptr;                 /* whole numbers [rows + 1]: the edges stand by destination, and raw_destination has no data; data NULL: they do not */
  gnn_array raw_graph_ptr;               /* [graphs + 1]: where the nodes of each graph begin; data NULL: one graph */
  int has_edges;
  gnn_array raw_split[GNN_SPLIT_COUNT];  /* a mask [R] or ids [n]; rank 0 with data NULL: absent */
  int is_split_ids[GNN_SPLIT_COUNT];
  gnn_array raw_splits[GNN_SPLIT_COUNT]; /* masks [S, R]; data NULL: absent */
  gnn_array raw_pairs[GNN_SPLIT_COUNT];  /* [2, P]: pairs of nodes to tell edges among; data NULL: absent */
  gnn_array raw_pair_label[GNN_SPLIT_COUNT]; /* [P]: 0 where no edge joins them; data NULL: one joins all of them */
  gnn_array raw_fold;                    /* [R]: in which fold each row is tested, 255 or -1: in none; data NULL: absent */

  const char *node_name;                 /* what the data call their nodes, where that is not 0, 1, ...: that of node v begins at node_name_at[v]; NULL: they do not */
  const int64_t *node_name_at;           /* [nodes] */

  const char *layout;                    /* what the YAML file of a folder says, as dgl.h has it; NULL: there is none */

  int type_count, relation_count;
  gnn_data_type *types;    /* once prepared those beside the first; before, all: fields are of GNN_TYPE `set`, ends of relations types, too */
  int split_type;          /* of the nodes that the splits are of; -1: none */
  gnn_data_relation *relations;

  int field_count;
  gnn_data_field *fields;

  /* From here on valid once prepared. */
  int is_prepared;
  char node_type[64];      /* what the first type of nodes is called; "": there is but one */
  int64_t nodes, edges;    /* edges as stored: directed */
  int64_t graphs;          /* 1 where the data do not say */
  const int64_t *graph_ptr; /* [graphs + 1] */
  const int32_t *node_id;  /* [nodes]: what the data call each node of the graph, where the recipe orders them; NULL: the same. The
                              graph and the splits are in the graph's numbers, node fields in those of the data */
  const int64_t *edge_id;  /* [edges]: the number that each edge has without an order; NULL with node_id */
  uint64_t graph_fingerprint, order_fingerprint; /* order_file.h: of the graph as the data number it, of node_id; 0 without an order */
  const int64_t *in_ptr;   /* [nodes + 1] */
  const int32_t *in_source; /* [edges], ascending in a row, none twice unless the recipe keeps duplicates */
  const gnn_own_edges *own; /* of a rank, in place of these two, which are NULL then; otherwise NULL */
  int is_symmetric, has_undirected_recipe, keeps_duplicates;
  int64_t dropped_duplicates; /* of the graph and of all relations */
  int64_t mutual_edges, self_loops, silent_nodes; /* edges with their reverse (loops apart), loops, rows without in-edge */
  gnn_domain split_domain;
  int has_split[GNN_SPLIT_COUNT];
  int64_t split_count[GNN_SPLIT_COUNT];
  const int32_t *split_rows[GNN_SPLIT_COUNT]; /* ascending; labelled rows only where there is a label field */
  int64_t split_choices;   /* splits the files hold: 1, or the rows of train_masks */
  int64_t fold_count, fold; /* of a recipe with folds: how many there are, and the one whose rows are in split test; otherwise 0 */
  const int32_t *row_fold; /* [labels] in the data's order, -1: in none, always trained on; NULL: there are no folds */
  int fold_has_valid;
  int is_fold_fixed;       /* it was asked for, and is the one of all runs */
  int32_t *split_room[GNN_SPLIT_COUNT]; /* of split_rows where they change from fold to fold, or from epoch to epoch */
  gnn_pairs *pairs;        /* pairs.h; NULL: the recipe asks for none */
  int label_field;         /* index into fields: "y", or the only label field; -1: none */
  uint64_t fingerprint;    /* of shapes and transformations, not of the contents */

  int note_count, is_note_lost; /* is_note_lost: there was no memory for one */
  gnn_note *notes;

  int owned_count, owned_capacity;
  struct gnn_owned { void *memory; int64_t bytes; } *owned; /* bytes -1: unknown */
  int file_count, file_capacity;
  gnn_file *files;
} gnn_dataset;

/* base_dir: what relative paths are relative to; NULL: the working directory. */
gnn_status gnn_dataset_open(const gnn_source *source, const char *base_dir, gnn_dataset **dataset, gnn_error *error);
/* Whatever PATH is, told from its content; also "karate", and where there is no such file a source as a data block has it: csv(edges = "e.csv"). */
gnn_status gnn_dataset_open_path(const char *path, gnn_dataset **dataset, gnn_error *error);
/* Once per data set. recipe NULL: nothing but dropping duplicates. */
gnn_status gnn_dataset_prepare(gnn_dataset *dataset, const gnn_recipe *recipe, gnn_error *error);
/* The same of a rank, which keeps edges of its nodes alone (dataset->own) where all ranks find that to do: data with one type of nodes and without numbers on edges, from which no pairs are drawn,
 * in the order they are given or in one that was made before. Others are prepared as a whole. rows NULL: as a whole. */
int gnn_dataset_can_be_own(const gnn_dataset *dataset, const gnn_recipe *recipe);
gnn_status gnn_dataset_prepare_own(gnn_dataset *dataset, const gnn_recipe *recipe, const gnn_own_rows *rows, gnn_error *error);
/* The splits of this fold; prepared data have those of fold 0. Its rows are in split test; those of the next, after the last comes the
 * first, in valid where the recipe says so; all others in train. GNN_EINVAL: there is no such fold. */
gnn_status gnn_dataset_choose_fold(gnn_dataset *dataset, int64_t fold, gnn_error *error);
/* Fields may lie in files that are mapped. To be asked when they were read: `status`, or the error that such a file was cut short. */
gnn_status gnn_dataset_check_files(const gnn_dataset *dataset, gnn_status status, gnn_error *error);
void gnn_dataset_close(gnn_dataset *dataset); /* NULL is fine */

/* Where the canonical blocks of prepared data are cut: first[0 .. 2^gnn_block_levels(nodes)] (runtime/core/blocks.h); and how many edges come
 * before each of them by destination, and by source, in as many numbers each (both NULL: nobody asks). */
gnn_status gnn_dataset_cut(const gnn_dataset *dataset, int64_t *first, int64_t *in_before, int64_t *out_before, gnn_error *error);
/* most[k], k = 0 .. graphs: so many rows do the k graphs with the most of them have together. GNN_NODE or GNN_EDGE; prepared. */
void gnn_dataset_largest(const gnn_dataset *dataset, gnn_domain domain, int64_t *most);
/* The same of any numbers: sizes[0 .. count) become their greatest sums, sizes[count] is there for the last. */
void gnn_largest_sums(int64_t *sizes, int64_t count);
/* Of a set of graphs: where the rows of one begin. */
static inline int64_t gnn_dataset_first(const gnn_dataset *dataset, gnn_domain domain, int64_t graph) {
  const int64_t node = domain == GNN_GRAPH ? 0 : dataset->graph_ptr[graph];
  return domain == GNN_GRAPH ? graph : domain == GNN_NODE ? node : dataset->in_ptr[node];
}

/* The rows lie in the order in which gnn_dataset_row finds them. */
static inline int gnn_dataset_is_in_turn(const gnn_dataset *dataset, const gnn_data_field *field) { return !dataset->node_id || field->domain != GNN_NODE; }
/* Rows of a dense field that lie in a mapped file are read one after the other, from the first on. */
static inline gnn_reading gnn_dataset_begin(const gnn_dataset *dataset, const gnn_data_field *field) {
  return gnn_reading_begin(field->storage == GNN_DENSE && gnn_dataset_is_in_turn(dataset, field) ? field->dense : NULL);
}
static inline void gnn_dataset_pass(const gnn_dataset *dataset, const gnn_data_field *field, int64_t r, gnn_reading *window) {
  enum { ROWS_ANYWHERE = 64 }; /* each may bring some more pages with it */
  if (field->storage != GNN_DENSE) return;
  const int is_last = r == field->rows - 1;
  if (gnn_dataset_is_in_turn(dataset, field)) {
    gnn_reading_pass(window, field->dense + (r + 1) * field->width);
    if (is_last) gnn_reading_end(window, field->dense + (r + 1) * field->width);
  } else if (is_last || r % ROWS_ANYWHERE == ROWS_ANYWHERE - 1) gnn_guard_pass(field->dense, field->dense + (field->all_rows ? field->all_rows : field->rows) * field->width);
}

/* The row of the field that belongs to a node of the graph, or to an edge. */
static inline int64_t gnn_dataset_row(const gnn_dataset *dataset, const gnn_data_field *field, int64_t r) {
  return gnn_dataset_is_in_turn(dataset, field) ? r : dataset->node_id[r];
}
int gnn_dataset_has_plain_edges(const gnn_dataset *dataset); /* 0 where types of nodes have edges of relations alone; prepared */
/* The mapped file in which the rows of a prepared field on nodes lie one after the other as they are, in the order of the graph, from `at` on; NULL: they lie so in none. */
const gnn_file *gnn_dataset_file_of(const gnn_dataset *dataset, const gnn_data_field *field, int64_t *at);
const gnn_data_relation *gnn_dataset_relation(const gnn_dataset *dataset, const char *name); /* NULL: absent */
int64_t gnn_dataset_rows(const gnn_dataset *dataset, int set); /* of a set of rows as gnn_edge_set_desc has them */
const gnn_data_field *gnn_dataset_field(const gnn_dataset *dataset, const char *name); /* NULL: absent */
/* E0702 where a label of the field is not below `classes`. */
gnn_status gnn_field_check_labels(const gnn_data_field *field, int64_t classes, gnn_error *error);
/* out[0 .. width) = row of a dense or sparse field, normalised where the recipe said so. */
void gnn_field_row(const gnn_data_field *field, int64_t row, float *out);
/* The non-zeros of a row into column[] and value[] (room for width); returns their number. */
int64_t gnn_field_row_nonzeros(const gnn_data_field *field, int64_t row, int32_t *column, float *value);

/* ---- for readers, and for data that a host program holds ---- */

gnn_dataset *gnn_dataset_new(const char *title); /* NULL: no memory */
gnn_status gnn_dataset_set_name(gnn_dataset *dataset, const char *name, gnn_error *error);
/* Memory that lives as long as the data set; not cleared. */
void *gnn_dataset_alloc(gnn_dataset *dataset, int64_t count, int64_t item_bytes, gnn_error *error);
/* Takes over memory of malloc, in any case. */
gnn_status gnn_dataset_own(gnn_dataset *dataset, void *memory, gnn_error *error);
gnn_status gnn_dataset_own_file(gnn_dataset *dataset, gnn_file *file, gnn_error *error); /* takes it over in any case */
/* The raw edges were read and are not needed any more, but for their number: what holds them and nothing else is given back. `status`, or the error that a
 * file was changed meanwhile. */
gnn_status gnn_dataset_drop_edges(gnn_dataset *dataset, gnn_status status, gnn_error *error);
/* Names of fields, types and relations become names of the language (names.h), which is said. Of a field "paper.x" the parts do. */
gnn_status gnn_dataset_add_field(gnn_dataset *dataset, const char *name, gnn_domain domain, const gnn_array *array,
                                 gnn_error *error);
/* The place of a type of nodes among dataset->types; -1: there is none. `length` characters of the name count, as the data have it or as it has become. */
int gnn_dataset_find_type(const gnn_dataset *dataset, const char *name, size_t length);
/* A type behind the others; NULL after an error. */
gnn_data_type *gnn_dataset_add_type(gnn_dataset *dataset, const char *name, int64_t nodes, gnn_error *error);
/* A relation without edges; NULL after an error. Where types of nodes have one of this name already it is called SOURCE_name_DESTINATION. */
gnn_data_relation *gnn_dataset_add_relation(gnn_dataset *dataset, const char *name, int src, int dst, gnn_error *error);
gnn_status gnn_dataset_add_sparse(gnn_dataset *dataset, const char *name, int64_t width, const gnn_array *ptr,
                                  const gnn_array *column, const gnn_array *value, gnn_error *error);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void gnn_dataset_note(gnn_dataset *dataset, const char *format, ...);
void gnn_dataset_advise(gnn_dataset *dataset, const char *text); /* a note that is advice */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
void gnn_dataset_warn(gnn_dataset *dataset, const char *code, const char *name, const char *help, const char *format, ...);

#endif
