/* typed.h: the typed program, what `check` gives and `lower` takes.
 *
 * Everything a user can get wrong has been reported before this exists: names are resolved, layers are expanded,
 * loops unrolled, constants folded, every size is a number and every value has a domain. Expressions are a dense
 * array in which operands come before their users; a variable that is used twice is the same TypedId twice, so the
 * "tree" is a DAG. All memory belongs to the compilation's arena.
 */
#ifndef GNNCC_TYPED_H
#define GNNCC_TYPED_H

#include <stdbool.h>
#include <stdint.h>

#include "cut_wish.h"
#include "optimizers.h"
#include "runtime/measures.h"
#include "vocabulary.h"

enum { MAX_RANK = 4, MAX_OPERANDS = 8, NO_INDEX = -1 };

typedef int32_t TypedId; /* index into TypedProgram.exprs; NO_INDEX for none */

/* A place in the text: file is an index into TypedProgram.files; lines and columns count from 1. */
typedef struct Place {
  int32_t file, line, column;
} Place;

/* Where values live: nowhere, on a set of rows (the nodes of a type, the graphs) or on a set of edges between two of them. A domain is a number
 * that says which, so that it is compared as one: two bits of its kind, eight of the set's index, and of edges the indices of the sets of rows at
 * both ends. */
typedef int32_t Domain;
enum { ROWS_OF_NODES, ROWS_OF_GRAPHS, ROWS_OF_TYPES, ROWS_OF_OTHERS = 255 }; /* sets of rows: the nodes, of several types those of the first; the graphs; other types of nodes; the nodes of other ranks that a rank gathers rows of */
enum { EDGES_OF_GRAPH, EDGES_OF_MEMBERS, EDGES_OF_RELATIONS }; /* sets of edges: all between the nodes; from each node to its graph, of which nobody speaks; relations */

#define DOMAIN_OF_ROWS(set) (1 | (set) << 2)
#define DOMAIN_OF_EDGES(set, src, dst) (2 | (set) << 2 | (src) << 10 | (dst) << 18)

enum {
  DOMAIN_NONE = 0,
  DOMAIN_NODE = DOMAIN_OF_ROWS(ROWS_OF_NODES),
  DOMAIN_GRAPH = DOMAIN_OF_ROWS(ROWS_OF_GRAPHS),
  DOMAIN_OTHERS = DOMAIN_OF_ROWS(ROWS_OF_OTHERS),
  DOMAIN_EDGE = DOMAIN_OF_EDGES(EDGES_OF_GRAPH, ROWS_OF_NODES, ROWS_OF_NODES),
  DOMAIN_MEMBER = DOMAIN_OF_EDGES(EDGES_OF_MEMBERS, ROWS_OF_NODES, ROWS_OF_GRAPHS),
};

static inline bool domain_is_rows(Domain domain) { return (domain & 3) == 1; }
static inline bool domain_is_edges(Domain domain) { return (domain & 3) == 2; }
static inline int domain_set(Domain domain) { return domain >> 2 & 255; }
static inline bool domain_is_nodes(Domain domain) { return domain_is_rows(domain) && domain != DOMAIN_GRAPH; }
static inline bool domain_is_relation(Domain domain) { return domain_is_edges(domain) && domain != DOMAIN_MEMBER; } /* the edges of the graph are one */

typedef enum DType {
  DTYPE_F32,
  DTYPE_CLASS, /* one label 0 .. classes-1 per row; -1 where there is none */
} DType;

typedef struct Dim {
  int64_t size;
  const char *name; /* the expression it was declared with ("hidden", "f", "8"); never NULL */
} Dim;

typedef struct Type {
  Domain domain;
  DType dtype;
  int rank;
  Dim dim[MAX_RANK];
  int64_t classes; /* DTYPE_CLASS */
} Type;

/* Element-wise functions. The operand count is in the table in typed.c (typed_map_arity). */
typedef enum MapOp {
  MAP_ADD, MAP_SUB, MAP_MUL, MAP_DIV, MAP_POW, MAP_MAX, MAP_MIN, /* two operands */
  MAP_LEAKY_RELU, MAP_ELU,                                       /* value, slope/alpha (a number) */
  MAP_NEG, MAP_RELU, MAP_GELU, MAP_SIGMOID, MAP_TANH, MAP_EXP, MAP_LOG, MAP_SQRT, MAP_RSQRT, MAP_ABS,
  MAP_SILU, MAP_SOFTPLUS,
  MAP_LESS, MAP_LESS_EQUAL, MAP_EQUAL,                           /* of two operands: 1 or 0, without a slope */
  MAP_SIGN,
  MAP_COUNT
} MapOp;

int typed_map_arity(MapOp op);
const char *typed_map_name(MapOp op); /* as written in the language; "+" for MAP_ADD */

/* Which dimension of an operand stands at each dimension of the result it is broadcast to: the one of the same name and
 * size, else the one of the same size at the same place from the right, else none (NO_INDEX). Check makes sure that this
 * rule gives what the program means. */
void typed_match_dims(const Type *operand, const Type *result, int map[MAX_RANK]);

typedef enum Reducer {
#define REDUCER(name, text, verb, is_primitive) REDUCE_##name,
#include "reducers.h"
#undef REDUCER
  REDUCE_COUNT
} Reducer;
const char *typed_reducer_name(Reducer reducer); /* as written in the language */

typedef enum EdgeEnd { END_SRC, END_DST } EdgeEnd;
/* Rows of nodes for sums that arrive at this end of their edges (by EdgeEnd); of edges, which lie with their destinations, for sums that arrive at the sources. Ranks have more: from HALO_KINDS on those of the
 * edges of each relation, and behind them two for each further group of rows, for sums at the destinations and at the sources. */
typedef enum HaloKind { HALO_FOR_SRC = END_SRC, HALO_FOR_DST = END_DST, HALO_OF_EDGES = 2, HALO_KINDS = 3 } HaloKind;

/* Where the ends of such rows live. */
static inline Domain domain_at(Domain edges, EdgeEnd end) { return DOMAIN_OF_ROWS(edges >> (end == END_SRC ? 10 : 18) & 255); }

typedef enum TypedKind {
  TYPED_NUMBER,       /* .number */
  TYPED_OPTION,       /* .index into options: a scalar known when the program runs */
  TYPED_FIELD,        /* .index into the data's fields */
  TYPED_PARAM,        /* .index into params */
  TYPED_DEGREE,       /* node[]: number of in-edges (end == END_DST) or out-edges (END_SRC) among .edges */
  TYPED_ZEROS,        /* a value of .type, all zero */
  TYPED_LIFT,         /* node -> edge: operand[0] at .end of the edge */
  TYPED_REDUCE_EDGES, /* edge -> node: operand[0] by .reducer over the edges that have the node at .end;
                         0 where there are none. A primitive or logsumexp */
  TYPED_REDUCE_AXIS,  /* operand[0] by .reducer, a primitive, over dimension .axis, which disappears */
  TYPED_REDUCE_ROWS,  /* operand[0] by .reducer, sum or mean, over all rows of its domain */
  TYPED_MATMUL,       /* x @ W: last dimension of x with the first of W; W lives nowhere */
  TYPED_DOT,          /* product of two values broadcast by name, summed over the last dimension of both */
  TYPED_MAP,          /* .map of the operands, broadcast by name */
  TYPED_SPREAD,       /* operand[0] repeated: its dimension .dims[d] stands at dimension d of .type, NO_INDEX: none does */
  TYPED_WHERE,        /* operand[1] where operand[0] is not 0, else operand[2]; all of .type */
  TYPED_STOP,         /* operand[0], through which no gradient goes */
  TYPED_CONCAT,       /* the operands side by side along .axis */
  TYPED_SLICE,        /* of dimension .axis the numbers from .begin on, as many as .type has */
  TYPED_DROPOUT,      /* operand[0], probability operand[1] (a number or an expression over options) */
  TYPED_RESHAPE,      /* operand[0] with the dimensions of .type: flatten, squeeze, reshape; of a weight with a row for each node, its rows */
  TYPED_ROW_COUNT,    /* how many rows operand[0] has */
  TYPED_RUNNING,      /* operand[0] in training, when operand[1], a buffer, moves by .number of the way to operand[2]; otherwise the buffer */
} TypedKind;

typedef struct TypedExpr {
  TypedKind kind;
  Type type;
  int operand_count;
  TypedId operand[MAX_OPERANDS];
  Place place;
  const char *name;  /* the variable it was bound to first ("h"), or "" */
  const char *scope; /* the layer call it stems from ("conv1.lin"), or "" in the model itself */
  int turn;          /* of the outermost loop whose turns sum over edges, within the model's call ("conv1"), or within the model: from 1; 0: there is none */
  bool is_standard;  /* it stems from a layer of std */
  bool is_softmax;   /* probabilities, of softmax */
  bool is_layer_result; /* the value that the call named `scope` returns; `predict --layer scope` asks for it */
  double number;
  int32_t index;
  EdgeEnd end;
  Domain edges;
  Reducer reducer;
  int axis;
  int64_t begin;
  int dims[MAX_RANK];
  MapOp map;
} TypedExpr;

typedef enum Init {
  INIT_CONSTANT, /* .a: the value (zeros: 0, ones: 1) */
  INIT_UNIFORM,  /* in [-a, a]; glorot and kaiming_uniform are this, with the bound worked out by check */
  INIT_NORMAL,   /* mean 0, standard deviation a */
} Init;

typedef struct TypedParam {
  const char *name; /* its key in a checkpoint: "conv1.lin.weight" */
  Type type;        /* DOMAIN_NONE, DTYPE_F32; the layout in the checkpoint is that of the type, row-major */
  Init init;
  double a;
  bool is_trained;  /* false: a buffer (`= fixed(v)`), saved and loaded but never updated */
  Domain rows_of;   /* of a rank, which has those of its own rows of these alone; DOMAIN_NONE: all have all of it */
  Place place;
} TypedParam;

typedef struct TypedOption {
  const char *name, *help; /* help may be "" */
  double value;
  const char *as;          /* "weight_decay", which is from `least` to `most`; NULL: any number will do */
  double least, most;
  Place place;
} TypedOption;

typedef struct TypedField {
  const char *name;
  Type type;
  int64_t nonzeros;   /* f32 node fields with data: stored numbers that are not 0; otherwise NO_INDEX */
  const int64_t *block_nonzeros, *column_nonzeros; /* FieldInfo's */
  int64_t all_nonzeros; /* of the program of a rank, whose `nonzeros` are the most that one has */
  const char *file;   /* FieldInfo's */
  bool is_row_normalised;
  Place place;
} TypedField;

/* ---- the data block ---- */

typedef struct SourceArg {
  const char *key;  /* "" for a positional argument */
  const char *text; /* a string argument, or NULL */
  double number;    /* a numeric argument; true is 1 */
} SourceArg;

/* Where the data comes from. kind: "npy", "planetoid", "safetensors", "karate", "synth", "file" (a bare string: the
 * kind is told from the content), or "shapes" (nothing but declared sizes: only a plan can be made). */
typedef struct DataSource {
  const char *kind;
  int arg_count;
  SourceArg *args;
  Place place;
} DataSource;

typedef enum SelfLoops { SELF_LOOPS_KEEP, SELF_LOOPS_ADD, SELF_LOOPS_REMOVE } SelfLoops;

typedef enum NodeOrder { ORDER_GIVEN, ORDER_NESTED, ORDER_FILE } NodeOrder;

/* pairs links : label[1] = split_edges(...), or stored(...): runtime/data/pairs.h. */
typedef struct PairsDecl {
  const char *name;        /* NULL: there are none */
  double valid, test;
  int64_t negatives;
  bool keeps_source, is_resampled, is_stored;
  uint64_t seed;
  Place place;
} PairsDecl;

/* What is to be done to the data as it is read. */
typedef struct DataRecipe {
  bool is_undirected; /* store the reverse of every edge too */
  bool keeps_duplicates; /* edges between the same two nodes are several, not one */
  SelfLoops self_loops;
  int normalised_count;
  const char **normalised; /* names of fields whose rows are scaled to sum 1 */
  int number_count;        /* fields that are declared as numbers */
  struct NumberField { const char *name; bool is_onehot; int64_t width; } *numbers; /* width: of onehot; 0: the data tell */
  int class_field_count;   /* fields that are declared as classes, but for y, which is one without being declared */
  const char **class_fields;
  bool has_random_split;   /* split = random(train, valid, test, seed = s) */
  double split_fraction[3];
  uint64_t split_seed;
  int split_index;         /* split = index(k): row k of train_masks.npy and so on; 0 otherwise */
  bool has_folds, fold_has_valid; /* split = folds(n, seed = s, valid = true): */
  int64_t fold_count;      /* n, drawn with split_seed; 0: those that the data bring */
  PairsDecl pairs;
  NodeOrder order;
  const char *order_path;  /* ORDER_FILE: order = "path" */
  Place order_place;       /* of what stands after order = */
  bool reverses_all;       /* reverse = all, or [writes, cites]: relations that there are the other way round, too, as rev_writes */
  int reversed_count;
  const char **reversed;
  const char *target;      /* the field that the loss of the train block names, or NULL */
  bool is_target_number;   /* it is declared f32: whole numbers are no classes */
} DataRecipe;

typedef struct FieldDecl { /* node x : f32[1433]; edge w : f32; paper x : f32[128] */
  const char *name;      /* "x", "paper.x" */
  const char *node_type; /* "paper"; NULL: node, edge or graph */
  Domain domain;
  DType dtype;
  int rank;               /* 0: one number a row; sizes -1 where the size is not a number known yet */
  int64_t size[MAX_RANK];
  int64_t classes;        /* DTYPE_CLASS; -1: as the data says */
  DataSource *source;     /* = npy("x.npy"), or NULL */
  Place place;
} FieldDecl;

typedef struct TypeDecl { /* nodes paper : count[736_389] */
  const char *name;
  int64_t nodes; /* -1: as the data say */
  Place place;
} TypeDecl;

typedef struct RelationDecl { /* relation writes : author -> paper */
  const char *name, *src, *dst;
  int64_t edges; /* -1: as the data say */
  Place place;
} RelationDecl;

typedef struct DataSpec {
  const char *name;
  DataSource source;
  DataRecipe recipe;
  int64_t declared_nodes, declared_edges, declared_graphs; /* nodes = ..., edges = ..., graphs = ...; -1 where absent */
  int decl_count, type_count, relation_count;
  FieldDecl *decls;
  TypeDecl *types;
  RelationDecl *relations;
  int devices; /* of the target: as many ranks have the nodes where no number of them is said */
  Place place;
} DataSpec;

/* What the data reader tells about prepared data (transformations of the recipe applied). */
typedef struct FieldInfo {
  const char *name;
  Domain domain;
  DType dtype;
  int64_t width;    /* numbers a row */
  int64_t classes;  /* DTYPE_CLASS */
  int64_t nonzeros; /* f32; -1 where unknown (shapes only) */
  int64_t frequent; /* DTYPE_CLASS: which is the most frequent */
  double share;     /* and its share of the labelled rows; 0: not known */
  bool is_hidden;   /* from programs: the compiler's own */
  const int64_t *block_nonzeros, *column_nonzeros; /* of a field of nodes that is mostly 0, where DataInfo.block_first is there: [2^levels + 1], [width + 1], how many numbers that
                                                      are not 0 lie in the blocks before each, in the columns before each; else NULL */
  const char *file; /* in which the rows of a field on nodes lie one after the other as a program has them (gnn_dataset_file_of); NULL: in none */
  const int64_t *most_nonzeros; /* [graphs + 1] of numbers in a set of graphs, of the k graphs that have the most of them together; or NULL */
} FieldInfo;

/* How soon gathers along all edges, in the order of kernels, come back to the same row of a table of nodes. */
enum { LOCALITY_STEPS = 24 };
typedef struct Locality {
  bool is_known;
  double within[LOCALITY_STEPS]; /* share of the gathers before which at most nodes / 2^(k/2) other rows were gathered since theirs was */
  double waited[LOCALITY_STEPS]; /* gathers that pass meanwhile, beyond those in which a table of as many rows as are gathered at all, from anywhere, would have so many gathered: others of hubs again and again */
} Locality;

/* A type of nodes beside the first, and edges of one kind between two types. */
typedef struct NodeType {
  const char *name;
  int64_t nodes;
} NodeType;

typedef struct Relation {
  const char *name;
  Domain domain;
  int64_t edges;
  bool is_symmetric;
} Relation;

/* Bytes of memory that reading data takes. */
typedef struct Loading {
  int64_t most;    /* at once, until all is read and sorted */
  int64_t held;    /* from then on, until all is where the program wants it */
  int64_t mapped;  /* of plain files, at most: addresses, of which some pages at a time are in memory */
  int64_t stays;   /* of these, until the data are closed */
  bool is_known;   /* files were read, or a graph was generated */
} Loading;

/* Rows of a group, of which each rank has a run. */
typedef struct RankRows {
  int64_t rows, most;        /* of all, and of the rank that has the most */
  const int64_t *first;      /* [count + 1] */
} RankRows;

/* The nodes shared out among processes: runs of canonical blocks each, with the edges that arrive there (runtime/core/ranks.h). */
typedef struct RankInfo {
  int count, part_levels;    /* ranks; they own runs of 2^part_levels parts */
  int64_t nodes, edges;      /* of all */
  const int *first_part;     /* [count + 1] */
  const int64_t *first;      /* [count + 1]: rows */
  int64_t *arriving;         /* [count]: edges that arrive there */
  int halos;                 /* typed_halos, or HALO_KINDS where nothing was read */
  int64_t **pairs;           /* [halos]: gnn_ranks_desc's, by HaloKind */
  int64_t *table, *sent;     /* likewise, the most that a rank has: rows of its own with those it gathers of others; rows that leave it */
  int64_t most_nodes, most_edges, most_split[3]; /* edges: that arrive at its rows, or leave them */
  int64_t most_others;       /* rows of others in a table for sums over in-edges */
  const int64_t *most_related; /* per relation, likewise; NULL: there are none */
  const int64_t *related_table; /* per relation: that arrive at its rows or leave them */
  const RankRows *groups;    /* [typed_row_groups]; NULL: nothing was read */
  bool is_stated;            /* but for how many of them are in other ranks */
  const struct RankInfo *sampled; /* the same with the rows that a training gathers in the mean; NULL: all of them */
  bool is_estimated;         /* nothing was read: edges are shared out as rows are, and neighbours anywhere */
} RankInfo;

typedef struct DataInfo {
  int64_t nodes, edges; /* edges as stored: directed */
  const char *node_type; /* what the first type of nodes is called: "node" */
  int type_count, relation_count;
  const NodeType *types;     /* set of rows ROWS_OF_TYPES + i */
  const Relation *relations; /* set of edges EDGES_OF_RELATIONS + i */
  bool has_pairs;       /* the last of them are candidate pairs, no edges; */
  int64_t held_edges;   /* for them so many edges left the graph */
  int64_t graphs;       /* that the nodes are of, one after the other; 1 where nothing else is said */
  const int64_t *most_nodes, *most_edges; /* [graphs + 1] of a set of graphs: of the k largest together; NULL: of one graph, or not read */
  const int64_t *block_first; /* [2^levels + 1] of the canonical blocks (runtime/core/blocks.h); NULL: not asked for, or no files were read */
  const int64_t *block_split[3]; /* likewise, how many labelled rows of each split the blocks before have, where these are nodes and no folds; NULL: not counted */
  const int64_t *block_edges[2]; /* likewise, by EdgeEnd: how many edges have this end in the blocks before each */
  const int64_t *part_pairs[2];  /* likewise, by EdgeEnd: how many rows of each part the rows of each gather in sums that arrive at this end (gnn_halo_pairs); NULL: not counted */
  const int64_t *edge_pairs;     /* and how many edges go from each to each (gnn_edge_pairs) */
  const RankInfo *ranks; /* NULL: there is one process */
  bool is_of_rank;       /* the numbers here are the most that one of them has */
  const struct DataInfo *of_all; /* then: those of all of them */
  bool has_all;         /* then: behind what the data have there are a type of nodes and a relation that are the whole graph, which every rank has (typed_all_nodes, typed_all_edges) */
  Locality locality[2]; /* by EdgeEnd: that at which the sums arrive; of rows from anywhere where not known */
  Locality nested_locality[2]; /* the same were the nodes in a nested order; not known where that was not asked for, or they cannot be */
  bool is_symmetric;    /* every edge has its reverse */
  bool is_shapes_only;  /* no files were read */
  int field_count;
  FieldInfo *fields;
  bool has_split[3];       /* train, valid, test */
  int64_t split_count[3];  /* labelled rows in each; with folds the most that one has */
  int64_t fold_count;      /* 0: the split is the same for all runs */
  const char *notes;       /* what was changed or is remarkable, a line each; may be "" */
  const char *layout, *layout_path; /* of a folder of DGL (runtime/data/dgl.h), and where that is; NULL: it is none */
  Loading loading;
  Loading loading_of_rank; /* of one that keeps the edges of its nodes alone, where ranks can do with these; otherwise it is not known */
  uint64_t fingerprint;    /* of shapes and transformations, not of the contents; of an order that is a file, its contents, too */
  uint64_t graph_fingerprint; /* gnn_recipe has these two */
  int64_t edges_read;
  uint64_t order_fingerprint; /* of those; 0 where there is no such file, or it was not read */
} DataInfo;

/* As the language calls it: "node", "graph", "paper", "cites"; "" for nowhere. info NULL: not known yet. */
const char *typed_domain_name(const DataInfo *info, Domain domain);
Domain typed_type_named(const DataInfo *info, const char *name); /* DOMAIN_NONE: there are no such nodes */
Domain typed_declared_domain(const DataInfo *info, const FieldDecl *decl); /* where a declared field lives; DOMAIN_NONE: on nodes of a type that there is not */
int64_t typed_rows(const DataInfo *info, Domain domain); /* how many rows, or edges, it has; 1 for nowhere */
int typed_edge_sets(const DataInfo *info);
Domain typed_pairs(const DataInfo *info); /* of candidate pairs; DOMAIN_NONE: there are none */
Domain typed_edge_set(const DataInfo *info, int set);
/* Rows that sums gather from one table: the nodes of a type, by all relations; beside them those that candidate pairs gather. */
int typed_row_groups(const DataInfo *info);
int typed_row_group(const DataInfo *info, Domain edges, EdgeEnd end); /* of the rows at this end of such edges */
int typed_halos(const DataInfo *info); /* how many HaloKinds ranks have */
HaloKind typed_edge_halo(Domain edges);
/* Of a rank with has_all: all nodes, the edges between them, and the exchanges of columns for their rows, and of rows for their columns (compiler/graph/transpose.c). */
Domain typed_all_nodes(const DataInfo *info);
Domain typed_all_edges(const DataInfo *info);
bool typed_are_all_nodes(const DataInfo *info, Domain domain); /* false without has_all, as the next */
bool typed_are_all_edges(const DataInfo *info, Domain domain);
HaloKind typed_columns_halo(const DataInfo *info);
HaloKind typed_back_halo(const DataInfo *info);
HaloKind typed_group_halo(const DataInfo *info, int group, EdgeEnd sums_at);

/* ---- the train block ---- */

typedef enum Split { SPLIT_TRAIN, SPLIT_VALID, SPLIT_TEST, SPLIT_COUNT } Split;
typedef int Measure; /* what is watched: the loss, or MEASURE_METRIC + i: metric i of the train block */
enum { MEASURE_LOSS, MEASURE_METRIC };

typedef struct Metric {
  gnn_metric_kind kind;
  int64_t argument; /* of hits */
  const char *name; /* "hits50" */
} Metric;

typedef enum ClipKind { CLIP_NONE, CLIP_VALUE, CLIP_NORM } ClipKind;

/* The learning rate of an epoch: `kind` of the arguments, the first `warmup` (NO_INDEX: no) epochs on the way there. */
typedef struct RateSchedule {
  ScheduleKind kind;
  TypedId argument[SCHEDULE_ARGUMENTS], warmup;
} RateSchedule;

/* Hyper-parameters are scalar expressions over numbers and options, so that ./train --lr works; flags are the numbers 0 and 1. */
typedef struct Hyper {
  TypedId value[HYPER_COUNT]; /* NO_INDEX: the optimiser has it not */
  int rate;                   /* index into TrainSpec.schedules where lr has a schedule, else NO_INDEX */
} Hyper;

typedef struct ParamGroup {
  const char *pattern; /* shell pattern over parameter names: "conv2.*" */
  Hyper hyper;         /* complete: what the group does not say is the optimiser's */
  Place place;
} ParamGroup;

typedef enum BoundaryKind { BOUNDARY_EXACT, BOUNDARY_STALE, BOUNDARY_SAMPLE } BoundaryKind;

typedef struct TrainSpec {
  int32_t label_field;  /* index into fields */
  int32_t ring_field;   /* of the pairs that bpr ranks, which it reads instead of labels (runtime/data/pairs.h); NO_INDEX */
  gnn_loss_kind loss;
  double smoothing, delta, pos_weight;
  int class_weight_count;
  double *class_weights; /* NULL: all 1 */
  TypedId scores;       /* node[classes], what the model returns */
  OptimizerKind optimizer;
  Hyper hyper;
  int group_count;
  ParamGroup *groups;   /* the last one that matches a parameter wins */
  int schedule_count;
  RateSchedule *schedules; /* the first is that of the optimiser's lr, which may be constant */
  bool has_plateau;     /* one of them watches a measure: */
  Split plateau_split;
  Measure plateau_measure;
  int64_t plateau_patience;
  int64_t batch_graphs; /* batch = graphs(32): of so many graphs; the program's info is of the largest such batch. 0: of all data */
  int64_t batch_count;  /* of an epoch */
  bool batch_shuffles;
  int64_t accumulate;   /* epochs, or batches, whose gradients are averaged for one step; 1 by default */
  ClipKind clip_kind;   /* clip = norm(1.0), value(0.5) */
  TypedId clip;
  int64_t epochs, runs, seed; /* runs: as many as there are folds, 1 without them, where nothing is said */
  bool reports_folds;       /* report = mean_over_folds */
  int64_t evaluate_every;   /* 1 by default */
  int64_t checkpoint_every; /* 0: none */
  int metric_count;         /* metric = [accuracy, hits(3)]; the first is shown */
  Metric *metrics;
  bool has_confusion;       /* confusion is among them: a table, no number */
  bool has_keep;            /* keep = best(valid.accuracy) */
  Split keep_split;
  Measure keep_measure;
  bool has_stop;            /* stop = patience(valid.loss, 100) */
  Split stop_split;
  Measure stop_measure;
  int64_t patience;         /* evaluations without improvement */
  BoundaryKind boundary;    /* of ranks: rows of others; approximate { boundary = stale(1) } */
  double boundary_number;   /* stale: the share of what came before; sample: the share of rows */
  const char *approximation; /* "boundary = stale(1)", or NULL */
  bool shows[SPLIT_COUNT];  /* show = [train, valid]; default train and valid, and test when asked for */
  Place place;
} TrainSpec;

/* ---- target and plan blocks ---- */

typedef struct TargetLink {
  Tier from, to;         /* one direction of one link */
  double bandwidth;      /* bytes per second */
  double latency;        /* seconds */
  double slowdown;       /* how much longer compute takes beside it: 0.1 for a tenth */
} TargetLink;

/* Between two devices of a machine, or two machines; either way at once. */
typedef struct PeerLink {
  double bandwidth;      /* bytes per second; 0: none was said */
  double latency;        /* seconds, of a message */
} PeerLink;

/* `device cpu { rates { ... } }`, as gnncc --calibrate writes it; docs/calibration.md says what each number is. Of all
 * threads together; 0: not said. */
enum { RATE_SIZES_MAX = 8, GATHER_WIDTHS = 3 };

typedef struct DeviceRates {
  int size_count;
  double sizes[RATE_SIZES_MAX];                 /* bytes, ascending, at which the next lists were measured */
  double stream[RATE_SIZES_MAX];                /* bytes per second read and written, by the bytes of all arrays */
  double gather[GATHER_WIDTHS][RATE_SIZES_MAX]; /* bytes of rows per second, by the bytes of the table */
  double exchange;                              /* bytes per second that one thread wrote and another reads, in the caches */
  double others;                                /* bytes per second that other systems move through the caches that are shared with them */
  double narrow, outer, outer_narrow;           /* flop per second of other products than fp32's */
  double step, gather_row, element, random, exp, update, loss, loss_class; /* seconds */
} DeviceRates;

extern const int gather_row_bytes[GATHER_WIDTHS]; /* rates.c */

typedef struct TargetSpec {
  const char *name, *description;
  const char *device;         /* what the target calls its device: "gpu", "cpu" */
  const char *kind;           /* "cpu" or "cuda(sm_80)" */
  int64_t device_bytes;       /* -1: not said */
  int64_t reserve_bytes;
  int64_t host_bytes, ssd_bytes; /* budgets; 0: there is no such tier */
  int64_t host_capacity, ssd_capacity; /* 0: not said */
  const char *ssd_path;       /* or NULL */
  double device_bandwidth;    /* bytes per second; 0: not said */
  double fp32_flops;          /* per second; 0: not said */
  double tf32_flops, bf16_flops; /* of products whose factors are rounded so; 0: not said */
  int threads;                /* 0: not said */
  DeviceRates rates;
  int count, nodes;           /* devices of a machine; machines alike. A rank has one device and its share of the machine's tiers */
  PeerLink device_link, node_link;
  int link_count;
  TargetLink *links;
  Place place;
} TargetSpec;

enum { TARGET_DEVICES_MOST = 1024 };
static inline int target_devices(const TargetSpec *target) { return target->count * target->nodes; }

typedef struct TierBudget {
  Tier tier;
  int64_t bytes;   /* or -1 when given as a share */
  double share;    /* of what the target has */
  Place place;
} TierBudget;

/* `fate "norms.*" = recompute`. Patterns are matched with the values of the graph later; the last match wins. */
typedef struct FatePin {
  const char *pattern; /* a shell pattern: * and ? */
  Fate fate;
  Place place;
} FatePin;

typedef struct TypedConst { /* a constant of the program that is a number */
  const char *name;
  double value;
} TypedConst;

typedef struct Naming { /* h = ..., GCN(16) as conv1 */
  TypedId value;
  const char *path;  /* "h", "conv1.h", "conv1": with the calls that it is in */
  const char *name;  /* "h" where a user wrote it; NULL: a layer of std */
  Place place;
} Naming;

typedef struct TypedProgram {
  const char *name;         /* of the model */
  int file_count;
  const char **files;       /* as given or found; files[0] is the main one */
  DataSpec *data;
  DataInfo *info;
  int const_count;
  TypedConst *consts;
  int option_count;
  TypedOption *options;
  int field_count;
  TypedField *fields;       /* declared or found in the data and used by the model or the loss */
  int param_count;
  TypedParam *params;
  int expr_count;
  TypedExpr *exprs;
  TypedId result;           /* what the model returns */
  int naming_count;
  Naming *namings;          /* in the order of the expanded text: a name in a loop, or in a layer, has one for each turn or call */
  bool wants_reverse_edges; /* it has a GCN */
  bool adds_self_loops;     /* a layer asks for has_self_loops, to count each node itself where the data do not */
  bool has_weights_of_nodes; /* rows of some weights belong to the nodes of the data: [nodes, ..] */
  bool has_train;
  TrainSpec train;
  bool has_target;
  TargetSpec target;        /* the one chosen, or the only one of the file */
  int budget_count;
  TierBudget *budgets;      /* of `plan { budget ... }` */
  int fate_count;
  FatePin *fates;           /* in the order of the text */
  const char *plan_effort;  /* "fast", "normal", "best"; NULL: not said */
  CutWish plan_cut;         /* cut = ; CUT_UNSAID: not said */
  const char *plan_policy;  /* among program_policies; NULL: not said */
  uint64_t source_fingerprint; /* of all texts read and all -D */
  uint64_t model_fingerprint;  /* without comments, targets and plan */
} TypedProgram;

/* ---- measures.c ---- */

extern const char *const split_names[SPLIT_COUNT]; /* "train", "valid", "test" */
extern const char *const loss_enumerators[GNN_LOSS_COUNT], *const loss_names[GNN_LOSS_COUNT], *const loss_helps[GNN_LOSS_COUNT];
extern const char *const metric_enumerators[GNN_METRIC_COUNT], *const metric_names[GNN_METRIC_COUNT], *const metric_helps[GNN_METRIC_COUNT];
extern const int loss_for[GNN_LOSS_COUNT], metric_for[GNN_METRIC_COUNT]; /* GNN_FOR_... */
bool loss_is_plain(const TrainSpec *train);      /* cross entropy of classes that weigh the same */
bool measures_are_plain(const TrainSpec *train); /* that, and nothing but accuracy besides */

#endif
