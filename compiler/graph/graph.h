/* graph.h: the operator graph, the one representation between `lower` and `fuse`.
 *
 * Values are a dense array in which operands come before their users; a value is the result of one operator. Rows are
 * the elements of a value's domain (nodes or edges; one row where it lives nowhere); each row has the same dimensions.
 * Passes up to `fuse` append values and redirect operands; from then on the graph is frozen and later passes write
 * products of their own (Kernels, Plan, Schedule, Layout).
 */
#ifndef GNNCC_GRAPH_H
#define GNNCC_GRAPH_H

#include <stdio.h>

#include "lang/arena.h"
#include "lang/typed.h"

typedef int32_t ValueId; /* index into Graph.values; NO_VALUE for none */
enum { MAX_VALUE_OPERANDS = 16 }; /* of a value in the graph: more than an expression of the language has, where a sum is cut in slices */
enum { NO_VALUE = -1 };
enum { SPARSE_BELOW_ONE_IN = 8 /* fewer numbers of a field than one in so many are not 0: products go over those alone */ };

typedef enum Op {
#define OP(name, what, operands, kind, attribute, shape, simpler, derivative, is_linear, code, work, bytes) OP_##name,
#include "ops.h"
#undef OP
  OP_COUNT
} Op;

enum { MAX_STATES = 3, ACCUMULATED_STATE = 2 }; /* of a weight */

typedef enum OpKind { OP_KIND_LEAF, OP_KIND_POINT, OP_KIND_ANCHOR } OpKind;

/* Which member of Value.as an operator has. */
typedef enum Attribute {
  ATTRIBUTE_NONE, ATTRIBUTE_INDEX, ATTRIBUTE_NUMBER, ATTRIBUTE_END, ATTRIBUTE_FUNCTION, ATTRIBUTE_SITE, ATTRIBUTE_PRODUCT, ATTRIBUTE_MAP,
  ATTRIBUTE_PART, ATTRIBUTE_DOMAIN, ATTRIBUTE_DEGREE, ATTRIBUTE_ENTRIES, ATTRIBUTE_STATE
} Attribute;

typedef enum ShapeRule {
  SHAPE_FIELD, SHAPE_WEIGHT, SHAPE_OPTION, SHAPE_SCALAR, SHAPE_HOISTED, SHAPE_DEGREE, SHAPE_NEIGHBOURS, SHAPE_EACH, SHAPE_REPEAT, SHAPE_SUM, SHAPE_EXTENT, SHAPE_TO_EDGES,
  SHAPE_TO_NODES, SHAPE_DROPOUT, SHAPE_BITS, SHAPE_SELECT, SHAPE_PRODUCT, SHAPE_OUTER_PRODUCT, SHAPE_GRADIENT, SHAPE_UPDATE, SHAPE_ALIKE, SHAPE_PART, SHAPE_CONCAT, SHAPE_RUNNING, SHAPE_COLUMNS, SHAPE_BACK, SHAPE_BESIDE, SHAPE_HALO, SHAPE_BEHIND
} ShapeRule;
typedef enum Work { WORK_NOTHING, WORK_FUNCTION, WORK_RANDOM, WORK_BITS, WORK_ADDS, WORK_PRODUCT } Work;
typedef enum Bytes { BYTES_ROWS, BYTES_EDGES } Bytes;

typedef struct OpInfo {
  const char *name;
  int operand_count; /* -1: as the attribute says */
  OpKind kind;
  Attribute attribute;
  ShapeRule shape;
  bool is_linear;
  Work work;
  Bytes bytes;
} OpInfo;

extern const OpInfo op_info[OP_COUNT];
bool op_is_aggregation(Op op); /* over the edges of each node */
bool op_is_reduction(Op op);   /* a sum or an extreme over dimensions */
bool op_moves(Op op);          /* an element of its result is made of other elements of the operand than the one at the same place */

/* Element-wise functions of the graph: those of the language (POINT_ADD is MAP_ADD), then those that only derivatives need. */
typedef enum PointFunction {
#define FUNCTION(name, exps, code) POINT_##name,
#include "functions.h"
#undef FUNCTION
  POINT_COUNT,
  POINT_FIRST_INTERNAL = POINT_GELU_SLOPE
} PointFunction;
_Static_assert((int)POINT_FIRST_INTERNAL == (int)MAP_COUNT, "the functions of the language come first, in its order");

int point_arity(int function);
const char *point_name(int function);

typedef enum Element { ELEMENT_REAL, ELEMENT_BIT, ELEMENT_LABEL } Element;

typedef struct Shape {
  Domain domain;
  Element element;
  int rank;
  int64_t size[MAX_RANK];
} Shape;

/* What a value is needed for. */
typedef enum Phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_UPDATE } Phase;

/* Which of several neighbouring runs of columns a value is (compiler/graph/cut.h): those of one value have the same `of` and `count`. */
typedef struct Slice {
  ValueId of;
  int index, count; /* from 1; count 0: it is no slice */
} Slice;

/* What the program calls a value, the latest name first. Passes hand names over to whatever computes the same (graph_rebuild). */
typedef struct Called {
  const Naming *naming;
  const struct Called *next;
} Called;

/* What a value stems from. */
typedef struct Layer {
  const char *name; /* the call ("conv1"), or a sum over neighbours that the model itself has; NULL: none is before it */
  int turn;         /* of the loop in there whose turns sum over edges, from 1; 0: there is none, or it is outside of it */
} Layer;

typedef struct Value {
  Op op;
  Shape shape;
  int operand_count;
  ValueId operand[MAX_VALUE_OPERANDS];
  union {
    int32_t index;    /* INPUT: field; PARAM, UPDATE: param; OPTION: option; SPLIT_ROWS: split */
    struct Once {
      int32_t index;  /* into `once` of the graph that computes it */
      int table;      /* of ranks: it has the rows of this one, as value_table says */
    } once;           /* HOISTED */
    struct WeightState {
      int32_t index;  /* param */
      int number;     /* from 0, as the optimiser counts them; ACCUMULATED_STATE: the sum of gradients */
    } state;
    double number;    /* NUMBER; RUNNING, FOLLOW: the share */
    EdgeEnd end;      /* LIFT; GATHER: the end at which the sums arrive; NEIGHBOURS, OFFSETS, OUT_EDGES, EDGE_CODES: that of the nodes whose they are */
    struct Degree {
      EdgeEnd end;
      Domain edges;
        HaloKind halo;  /* HALO, HALO_ROWS, BEHIND */
      } degree;         /* DEGREE; HALO, HALO_ROWS, BEHIND: of the sums that gather from it, the end at which they arrive */
      /* ENTRIES: of which field, in which order, and what of them: its numbers, or where they stand, the column or the row. ENTRY_OFFSETS: of which field. */
    struct Entries {
      int32_t field;
      bool is_by_column, is_number;
    } entries;
    int function;     /* MAP: MapOp or PointFunction */
    int32_t site;     /* DROPOUT: which draw of the generator */
    /* MATMUL: lead * rows of the first operand, depth numbers each, times a depth x width matrix, stored
       [width, depth] if transposed (as torch stores Linear.weight).
       OUTER: the depth x width sum over lead * rows of first^T second. */
    struct Contraction {
      bool transposed;
      int64_t lead, depth, width;
    } product;
    Domain domain;     /* ROW_COUNT: of which rows */
    struct Part {
      int axis;
      int64_t begin;
    } part;            /* SLICE, CONCAT */
    int map[MAX_RANK]; /* BROADCAST: operand's dimension for each of the result, NO_INDEX: repeated.
                          REDUCE, REDUCE_MAX, REDUCE_MIN: result's dimension for each of the operand, NO_INDEX: summed over.
                          Rows are repeated (summed) where the domains differ. Dimensions of size 1 on the smaller
                          side need not be mapped. */
  } as;
  int64_t declared_width; /* of an aggregation, or a gradient by sparse features, of some columns: numbers a row of the whole, whose order of sums it keeps; 0: it is whole */
  bool is_by_all_rows;    /* of an aggregation: it does not run part by part, though values on nodes are cut (layer_cuts.h) */
  int64_t first_drawn;    /* of a dropout of some columns: the number of the first in a row of the whole, at whose places it draws */
  Phase phase;
  Place place;
  const char *name; /* in dumps, listings and emitted code; made unique by graph_name_values */
  const Called *called; /* NULL: nothing that it has a name for */
  const char *said; /* the name in tables for users, after graph_name_values: that of the program with its layer where needed, else one with points */
  const char *tap;  /* the layer whose result this is, or NULL */
  Layer layer;
  Slice slice;
  bool was_tap;     /* it is one, but is not kept: kernels are cut as if it were */
  bool is_once;     /* it may be computed once (hoist.h): its kernel is no matter of tuning, for the bits are to be those of each time */
  bool is_exact;    /* where something was hoisted out of the graph, for whoever reads it to have the bits of before: it is not kept in bf16; */
  bool is_loaded;   /* nobody reads it but from memory */
  int same_rows;    /* of ranks: values of one number are made by the same steps, of a rank's own rows and of rows of others (recompute.h); 0: there is none */
  ValueId origin;   /* in a graph that something was hoisted out of, or that was cut: which value it was before, or NO_VALUE */
} Value;

typedef struct Graph {
  Arena *arena;
  const TypedProgram *program; /* fields, params, options: the graph's leaves index into them */
  int value_count;
  Value *values;
  ValueId scores;           /* what the model returns */
  ValueId loss;             /* NO_VALUE in an evaluation graph */
  ValueId neighbours[2];    /* by EdgeEnd: what kernels that go over the edges of nodes read besides, where it moves as other values do (cut.h); else NO_VALUE */
  ValueId offsets[2];       /* likewise where the edges of each node begin, one more than nodes; NO_VALUE, too, where these are few enough to stay */
  ValueId out_edges;        /* likewise the numbers of the edges that leave each node */
  ValueId halo_rows[HALO_KINDS], edge_codes; /* likewise which rows parts gather, by HaloKind, and where out-edges have theirs; NO_VALUE, too, where there are no halos, or the rows are few enough to stay */
  ValueId node_ids;         /* likewise what the data call each node, where that is another number than its own; read where rows of nodes are dropped */
  ValueId edge_ids[2];      /* likewise what they call each edge, by EdgeEnd in the order of the rows there; read where rows of edges are dropped */
  ValueId split_rows[SPLIT_COUNT]; /* likewise which nodes have labels, with these */
  ValueId labels;           /* of an evaluation that a GPU measures, where they move, too: read with what makes the scores; else NO_VALUE */
  ValueId (*entries)[2][2]; /* per field, by [is_by_column][is_number]: likewise, of products with sparse features that move as other values do; NULL: none of any field, or NO_VALUE */
  ValueId *entry_offsets;   /* likewise, per field, where those of each row begin; NO_VALUE, too, where these are few enough to stay */
  ValueId *gradients;       /* per param after autodiff: dloss/dparam or NO_VALUE; NULL before */
  int update_count;
  ValueId *updates;         /* the roots of a training graph */
  int once_count;
  ValueId *once;            /* those of a graph that runs before the first epoch: what others have as HOISTED, by its index; such a graph has no scores */
  bool is_training;
  int note_count;
  const char **notes;       /* what a pass did that changes the order of sums, a line each, for --plan */
} Graph;

HaloKind halo_kind(const Value *halo);
/* Which rows a rank's table has, from 1 on: by HaloKind its own of these and those of others that its sums gather; 0: the value is no such table, or has those of others alone. Where halos are of parts, HALO is one, too. */
int value_table(const Value *value);

/* The end of edges that the rows of a kernel over them are at: an aggregation's own; everything else goes from destination to destination. */
EdgeEnd graph_walk_end(const Value *value);

Graph *graph_new(Arena *arena, const TypedProgram *program);
Graph *graph_copy(const Graph *graph);

int graph_once_index(const Graph *graph, ValueId value); /* into `once`; NO_INDEX: it is none of those */
bool graph_is_result(const Graph *graph, ValueId value); /* the scores, or one of `once`: what the graph is run for, but for updates */

void graph_call(Graph *graph, ValueId value, const Called *names); /* by those that it has not yet */

/* From here on no value is a layer's result that somebody may ask for. */
void graph_drop_taps(Graph *graph);
/* The same, but what a library computes with a product stays what it is with them: its sums may depend on that. */
void graph_hide_taps(Graph *graph);

/* Append a value. `like` gives place, phase and a base for the name (NULL: none). */
ValueId graph_add(Graph *graph, Value value);
ValueId graph_number(Graph *graph, double number);
ValueId graph_map(Graph *graph, int function, ValueId a, ValueId b); /* b: NO_VALUE for unary; same shapes */
ValueId graph_broadcast(Graph *graph, ValueId a, Shape shape, const int map[MAX_RANK]);
/* `a` repeated to `shape` where it is a scalar or has one number a row; itself where the shapes are equal. */
ValueId graph_spread(Graph *graph, ValueId a, Shape shape);
ValueId graph_reduce(Graph *graph, ValueId a, Shape shape, const int map[MAX_RANK]);
ValueId graph_reduce_by(Graph *graph, Op op, ValueId a, Shape shape, const int map[MAX_RANK]); /* REDUCE, REDUCE_MAX, REDUCE_MIN */
ValueId graph_aggregate(Graph *graph, Op op, ValueId a, EdgeEnd end);
ValueId graph_gather(Graph *graph, ValueId a, EdgeEnd end); /* the sum */
ValueId graph_lift(Graph *graph, ValueId a, Domain edges, EdgeEnd end);
ValueId graph_degree(Graph *graph, Domain edges, EdgeEnd end); /* how many such rows there are at each */

int64_t shape_width(const Shape *shape);   /* numbers a row */
bool shape_equal(const Shape *a, const Shape *b);
int64_t graph_value_rows(const Graph *graph, ValueId id); /* of its domain; of a table that ranks gather from, with those of others */
int64_t graph_rows(const Graph *graph, Domain domain); /* as planned; 1 where it is nowhere */

/* The field of sparse features that `id` is, or that it is with dropout: *dropout gets the DROPOUT value or NO_VALUE. NO_INDEX: it is none. */
int32_t graph_sparse_field(const Graph *graph, const bool *is_sparse_field, ValueId id, ValueId *dropout);
/* Which operand of the OUTER value is such features; NO_INDEX: neither. */
int graph_sparse_side(const Graph *graph, const bool *is_sparse_field, ValueId outer);
int64_t graph_bytes(const Graph *graph, ValueId id);   /* of its storage, were it stored; bits are padded to 32 a row */
bool graph_is_scalar(const Graph *graph, ValueId id);  /* one number in all */

/* Redirect every use of value i to forward[i] (NO_VALUE: keep), then drop what no root needs. Ids change. */
ValueId *graph_no_redirections(Graph *graph);
void graph_rebuild(Graph *graph, const ValueId *forward);

const char *graph_entries_name(const Graph *graph, const Value *entries); /* "x_row_idx" */
/* Short unique names fit for C identifiers, and names for users. */
void graph_name_values(Graph *graph);
void graph_say_values(Graph *graph, const char *const *written); /* say.c: names for users; written: per value, as passes gave them */
/* Of the slices that the value is one of, the first in the graph; of what is no slice, itself. */
ValueId graph_first_slice(const Graph *graph, ValueId id);

void graph_dump(const Graph *graph, FILE *out);

/* verify_graph.c: the first violation as text, or NULL. */
const char *verify_graph(const Graph *graph);

/* The value is a number known at compile time, everywhere the same. */
bool graph_constant(const Graph *graph, ValueId id, double *number);
/* The value is one number for each row (or one in all), repeated along the dimensions: which value holds it. */
ValueId graph_row_scalar(const Graph *graph, ValueId id);
/* Per value: a trained weight has influence on it. */
bool *graph_depends_on_weights(const Graph *graph);
/* Per value: weights, options or dropout have influence on it; others are the same in every epoch. */
bool *graph_changes(const Graph *graph);
/* Two values compute the same: operator, attribute, shape and the operands given for them, perhaps in two graphs. */
bool graph_is_same(const Value *a, const ValueId *operands_of_a, const Value *b, const ValueId *operands_of_b);

/* What only autodiff asks about becomes what kernels compute: no gradient stops any more, statistics are those of the training or the buffers, and sums of exponentials are made of other sums. */
void graph_settle(Graph *graph);

/* Of an UPDATE: what its gradient is multiplied by, and a state of its weight that is a value of the graph; NO_VALUE: there is none. */
ValueId graph_update_factor(const Graph *graph, const Value *update);
ValueId graph_update_state(const Graph *graph, const Value *update, int number);
/* Rows of the weight lie with those of the nodes: of an UPDATE. */
static inline bool value_is_update_of_nodes(const Value *value) { return value->op == OP_UPDATE && domain_is_nodes(value->shape.domain); }

/* The passes. */
Graph *lower(Arena *arena, const TypedProgram *program);
void reassociate(Graph *graph);
void factor(Graph *graph);
typedef struct Association Association; /* associate.h */
void autodiff(Graph *graph, const Association *association);      /* NULL: products as they are written */
void differentiate(Graph *graph, const Association *association); /* its first half: values keep their ids, and what stops gradients is still there */
ValueId clip_factor(Graph *graph); /* of the gradients that autodiff has found; NO_VALUE: they stay as they are */
void simplify(Graph *graph);
/* The forward graph as it is run to measure: no dropout, no loss. */
Graph *evaluation_graph(const Graph *forward);

#endif
