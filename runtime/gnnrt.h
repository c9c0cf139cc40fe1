/* gnnrt.h: what emitted programs are built on.
 *
 * An emitted program consists of straight-line steps over one instance (gnn_run) and a constant description of itself
 * (gnn_program). The runtime brings the arenas, the threads, the data, the training loop and the command line; it
 * decides nothing that the compiler has decided. The kernels (kernels/cpu/) are header-only templates: an emitted
 * source instantiates them with the sizes known at compile time.
 *
 * Compiled with GNN_DOUBLE every number is a double and every arena twice as large; `gradcheck` is that build.
 */
#ifndef GNNRT_H
#define GNNRT_H

#include <stddef.h>
#include <stdint.h>

#include "instructions.h"
#include "measures.h"

#ifdef GNN_DOUBLE
typedef double gnn_real;
#else
typedef float gnn_real;
#endif
/* Offsets and sizes are planned in bytes for 4-byte numbers; a double build scales them all. */
enum { GNN_SCALE = sizeof(gnn_real) / 4, GNN_ALIGNMENT = 64 };

typedef enum gnn_status {
  GNN_OK = 0,
  GNN_EINVAL = 1,     /* bad argument, or calls in the wrong order */
  GNN_ENOMEM = 2,     /* an arena could not be obtained */
  GNN_EIO = 3,        /* a file could not be read or written */
  GNN_EDATA = 4,      /* data do not match the shapes the plan was made for */
  GNN_EDEVICE = 5,    /* device error */
  GNN_ENUMERIC = 6,   /* loss or gradient is not finite */
  GNN_ECANCELLED = 7, /* the progress callback asked to stop */
  GNN_EVERSION = 8,   /* header and object disagree */
} gnn_status;

/* ---- threads ---- */

/* A pool of threads that share loops. Tasks are of fixed extent, whatever the number of threads, and each runs exactly
 * once. */
typedef struct gnn_team gnn_team;
typedef void gnn_task(const void *context, int64_t begin, int64_t end, int64_t task);

gnn_team *gnn_team_create(int threads); /* 0: one for each processor this process may use. NULL: no memory */
/* The same with stacks no larger than tasks need that keep so many bytes of rows on them; -1: as large as the system has them. */
gnn_team *gnn_team_create_for(int threads, int64_t row_bytes);
void gnn_team_destroy(gnn_team *team);  /* NULL is fine */
int gnn_usable_processors(void); /* by this process */
int gnn_team_threads(const gnn_team *team);

/* Tasks 0 .. ceil(count / extent) - 1; task t covers [t * extent, min((t + 1) * extent, count)). Returns when all have
 * run. Allocates nothing. Not to be called from within a task. */
void gnn_parallel(gnn_team *team, int64_t count, int64_t extent, gnn_task *task, const void *context);
/* The same for [first, last). */
void gnn_parallel_part(gnn_team *team, int64_t first, int64_t last, int64_t extent, gnn_task *task, const void *context);
/* Task t covers [bounds[t], bounds[t + 1]), 0 <= t < tasks. */
void gnn_parallel_ranges(gnn_team *team, const int64_t *bounds, int64_t tasks, gnn_task *task, const void *context);
/* What of these ranges lies in [first, last), in tasks from 0 on. */
void gnn_parallel_ranges_of_part(gnn_team *team, const int64_t *bounds, int64_t tasks, int64_t first, int64_t last, gnn_task *task, const void *context);

/* ---- the graph ---- */

/* One direction of adjacency: row r has the entries ptr[r] .. ptr[r + 1] - 1. In `in` (rows are destinations) idx is
 * the source and the position of an entry is the edge's number; in `out` (rows are sources) idx is the destination and
 * edge[] the edge's number. Entries of a row are sorted by idx. */
enum { GNN_HUB_ENTRIES = 1024 };

typedef struct gnn_csr {
  int64_t rows, entries;
  const int64_t *ptr;  /* [rows + 1] */
  const int32_t *idx;  /* [entries] */
  const int64_t *edge; /* [entries], or NULL where no step reads edge values by source */
  const int64_t *bounds; /* [tasks + 1] row ranges of about equal work (entries + rows) */
  int64_t tasks;
  const int32_t *hub;    /* [hub_count] on a GPU: the rows of more than GNN_HUB_ENTRIES entries, the longest first */
  int64_t hub_count;
} gnn_csr;

/* Edges between two sets of rows, both ways: rows of `in` are destinations, of `out` sources. */
typedef struct gnn_edge_set {
  gnn_csr in, out;
  const int64_t *id; /* of a relation on ranks: what the data call each edge; NULL where no dropout is on them */
} gnn_edge_set;

/* All edges between the nodes (of the first type); from each node to its graph, its number that of the node; from GNN_RELATIONS on those of each relation. */
enum { GNN_EDGES, GNN_MEMBERS, GNN_RELATIONS, GNN_RELATIONS_MAX = 126, GNN_TYPES_MAX = 62 };

/* Where the sums over neighbours of the parts of the nodes find the rows that they gather: of its own nodes and of other parts', by what is there of each part. */
typedef struct gnn_halo_rows {
  const uint32_t *code; /* [entries of the CSR that the sums go over]: the part that has the row, and from bit `shift` of the program's halo down its number among the rows of that
                           part that the part of the sum gathers */
  const int32_t *row;   /* the rows of part q that part p gathers, ascending: from first[q * parts + p] on */
  const int64_t *first; /* [parts * parts + 1] */
  /* code and row NULL, too, where they are away from the device */
} gnn_halo_rows;

/* The third is of edges, rows of the part of their destination, for sums over the out-edges of their source. Between ranks the same of each relation's edges come after it, GNN_HALOS + k, and
 * behind these, of each further group of rows (nodes of another type; those that candidate pairs gather), those of sums over in-edges and over out-edges. */
enum { GNN_HALO_IN, GNN_HALO_OUT, GNN_HALO_EDGES, GNN_HALOS };

/* The canonical blocks of the nodes' rows, the unit of every sum over rows (blocks.h); entries of edges belong to the block of
 * their destination, labelled rows to that of their node. */
typedef struct gnn_blocks {
  int levels;           /* there are 2^levels */
  int run_levels;       /* and 2^run_levels runs of rows, as many in each block */
  const int64_t *first; /* [2^levels + 1]: block b has the rows first[b] .. first[b + 1] - 1 */
} gnn_blocks;

/* The first row of a run, or where the last one ends. */
static inline int64_t gnn_run_first(const gnn_blocks *blocks, int64_t run) {
  const int below = blocks->run_levels - blocks->levels;
  const int64_t block = run >> below, place = run - (block << below), first = blocks->first[block];
  return place == 0 ? first : first + ((blocks->first[block + 1] - first) * place >> below);
}

/* The same of `rows` rows of another set, which 2^levels blocks, or runs, share evenly. */
static inline int64_t gnn_block_share(int levels, int64_t block, int64_t rows) {
  const int64_t blocks = INT64_C(1) << levels;
  return rows / blocks * block + rows % blocks * block / blocks;
}
static inline int64_t gnn_run_share(const gnn_blocks *blocks, int64_t run, int64_t rows) { return gnn_block_share(blocks->run_levels, run, rows); }

/* A constant matrix stored by its non-zeros, both ways. */
typedef struct gnn_sparse {
  gnn_csr by_row;            /* idx: column */
  const gnn_real *row_value; /* [entries] in by_row order */
  gnn_csr by_column;         /* rows are columns of the matrix; idx: row */
  const gnn_real *column_value;
  const int32_t *row_id;     /* gnn_run.node_id */
} gnn_sparse;

enum { GNN_SPARSE_MAX = 8, GNN_FIELD_MAX = 32, GNN_OPTION_MAX = 64, GNN_RATE_MAX = 32, GNN_TASKS = 256 };
typedef enum gnn_split { GNN_TRAIN, GNN_VALID, GNN_TEST, GNN_SPLIT_COUNT } gnn_split;

/* ---- tiers and lanes ---- */

/* A lane carries out its copies one after another, beside the compute and the other lanes. */
typedef enum gnn_lane { GNN_LANE_COMPUTE, GNN_LANE_D2H, GNN_LANE_H2D, GNN_LANE_SSD_WRITE, GNN_LANE_SSD_READ, GNN_LANE_NET, GNN_LANE_COUNT } gnn_lane;
typedef enum gnn_tier { GNN_DEVICE, GNN_HOST, GNN_SSD, GNN_WRITE_RING, GNN_READ_RING } gnn_tier;

/* A run of bytes in the host arena or in the scratch file; there `at` is a multiple of 4096. */
/* Offsets of the scratch file from here on are those of windows, which show data where they lie in files of the user's. */
#define GNN_WINDOWS_AT (INT64_C(1) << 56)
enum { GNN_WINDOWS_MOST = 8 };

typedef struct gnn_extent {
  int64_t at, bytes;
  int is_on_host; /* among extents of the scratch file: a part that lies in the host arena instead, where copies find it by extents of their own */
} gnn_extent;

/* Device and rings: contiguous at offset `at` (a ring wraps around at ring_bytes), extent_count 0. Host and SSD:
 * program->extents[at .. at + extent_count). */
typedef struct gnn_side {
  gnn_tier tier;
  int64_t at;
  int extent_count;
} gnn_side;

/* Between the devices of ranks: from one to the other (NCCL), or through the memory of the host. */
typedef enum gnn_way { GNN_DIRECTLY, GNN_BY_HOST, GNN_WAYS } gnn_way;

typedef struct gnn_copy_desc {
  int step; /* its number in the plan; 0: it is none, but brings back the scores */
  gnn_lane lane;
  int64_t bytes;
  gnn_side from, to;
  int after[2]; /* copies, on other lanes, that must be complete before it starts; -1: none */
  /* GNN_LANE_NET: rows of `from`, in which those that leave lie side by side, become those of others in the tables `to`. `bytes` is the most that leaves one rank. */
  int halo;          /* GNN_HALO_* */
  int64_t row_bytes;
  int64_t volume;    /* bytes that leave all ranks, as planned */
  int is_approximate; /* as gnn_ranks_desc.boundary says; exact otherwise */
  int is_of_others;  /* what comes is all of the table; else the rank's own rows are before it */
  int holders;       /* of columns of all rows, or of sums that go back: so many ranks have some, the first ones; 0: it is of other rows */
  int64_t at_kept;   /* GNN_BOUNDARY_STALE: in the arena, rows on their way, one way and the other, and the averages of those that came */
  gnn_way way;       /* of ranks on GPUs */
} gnn_copy_desc;

typedef struct gnn_run gnn_run;

/* ---- ranks: processes that own rows of one graph each (core/ranks.h) ---- */

enum { GNN_RANKS_MOST = 64 };
typedef struct gnn_ranks gnn_ranks;
typedef struct gnn_net gnn_net;

/* What a training does with rows of other ranks, where it was asked by name to do something else than to gather them: train { approximate }. Evaluations, and what is computed before the
 * first epoch, are exact. */
typedef enum gnn_boundary { GNN_BOUNDARY_EXACT, GNN_BOUNDARY_STALE, GNN_BOUNDARY_SAMPLE } gnn_boundary;

/* Rank r owns the parts first_part[r] .. first_part[r + 1] - 1 of the 2^part_levels of the nodes, which are runs of canonical blocks, and with their rows the edges that arrive there. */
typedef struct gnn_ranks_desc {
  int count, part_levels;
  int64_t nodes, edges;          /* of all */
  const int *first_part;         /* [count + 1] */
  const int64_t *first;          /* [count + 1]: the rows at which those of the ranks begin */
  int halos;
  const int64_t *const *pairs;   /* [halos], by GNN_HALO_*: [count, count], so many rows, or edges, of rank q the sums of rank p gather, by p and q; its own are not counted. NULL: none are exchanged */
  const int64_t *at_send;        /* [halos]: in the arena: int32, the rows that a rank sends, for one rank after the other; -1: none are exchanged */
  const gnn_net *net;
  gnn_boundary boundary;
  double boundary_number;        /* stale: the share of what came before in averages, 0: there are none; sample: the share of rows */
  int finer_levels;              /* of steps that run over some of a rank's rows at a time: a part of the nodes is 2^finer_levels runs there */
  int64_t passing_bytes;         /* between devices: pinned memory for the most that passes through the host at once; 0: nothing does */
  int whole_set;                 /* of the sets of edges the last, which is the whole graph on every rank, between the last type of nodes, which are all; of the halos the last but one passes columns
                                  * of the rows of all, the last the rows of all columns (core/rank_columns.c). 0: there is none */
  int64_t all_nodes, all_edges, all_rows[GNN_SPLIT_COUNT]; /* what the data have: of all types and relations, and with labels in each split */
} gnn_ranks_desc;

/* How many of the rank's rows others gather, by GNN_HALO_*, and which, for one rank after the other, as they lie side by side where a copy on the lane of the net takes them. */
int64_t gnn_sent_rows(const gnn_run *run, int halo);
const int32_t *gnn_rows_to_send(const gnn_run *run, int halo);
/* Sums over the whole graph by columns: row[0 .. ) has those of the rank's row r, so many for each of the first `holders` ranks. Those of others go to `sending`, for one rank after the other, those of
 * this one to their row in `table`, of all nodes. */
void gnn_columns_part(const gnn_run *run, int64_t r, const gnn_real *row, int holders, int64_t columns, gnn_real *sending, gnn_real *table);
int gnn_has_columns(const gnn_run *run, int holders);
/* The rank's rows begin .. end - 1 of sums over all rows stay, among what comes back, where it has columns. */
void gnn_columns_stay(const gnn_run *run, int64_t begin, int64_t end, const gnn_real *sums, int holders, int64_t columns, gnn_real *back);
/* And of what came back, columns of one rank behind those of another, rows of `width`. */
void gnn_columns_join(const gnn_run *run, int64_t begin, int64_t end, const gnn_real *back, int64_t columns, int64_t width, gnn_real *to);
/* Parts that each rank has, so many bytes of each, become those of all ranks: `parts` has room for all, and its own are there. */
void gnn_gather_parts(gnn_run *run, void *parts, int64_t part_bytes);
/* sums[0 .. count) = the top of the tree over the sums of all parts, [parts][count], of which the rank's own are there. */
void gnn_sum_ranks(gnn_run *run, gnn_real *sums, int64_t count);
void gnn_max_ranks(gnn_run *run, gnn_real *numbers, int64_t count); /* the same of the largest of each part, */
void gnn_min_ranks(gnn_run *run, gnn_real *numbers, int64_t count); /* and of the smallest */
int64_t gnn_own_share(const gnn_run *run, int64_t own_run, int64_t rows); /* gnn_run_share of one of the rank's runs, in the numbers that rows have there */
int gnn_first_part(const gnn_run *run); /* of this rank, and how many it has: */
int gnn_own_parts(const gnn_run *run);
/* Where steps run over some of a rank's rows at a time: so many of those finer parts are before the rows of `part` (from 0 on), which begin at this row of the rank. */
int64_t gnn_parts_before(const gnn_run *run, int64_t part);
int64_t gnn_part_row(const gnn_run *run, int64_t part);
int64_t gnn_part_edge(const gnn_run *run, int64_t part); /* and the edges that arrive there at this one */

/* Queues a copy on its lane; never blocks. A copy is queued at most once between two returns of forward_backward, update
 * or evaluate, and awaited before they return; or, of those that forward_backward queues, by update. Both fail (GNN_EIO, GNN_EDEVICE) only once a lane or the device has failed. */
gnn_status gnn_copy(gnn_run *run, int copy);
gnn_status gnn_await(gnn_run *run, int copy); /* what follows comes after it */

/* ---- one training job ---- */

typedef struct gnn_program gnn_program;
typedef struct gnn_backend gnn_backend;

struct gnn_run {
  const gnn_program *program;
  gnn_team *team;
  unsigned char *device;         /* the device arena: program->device_bytes * GNN_SCALE; where the device has memory of its
                                    own, the host's image of it */
  int64_t nodes, edges, graphs;  /* of the loaded data; at most those planned for */
  gnn_edge_set sets[GNN_RELATIONS + GNN_RELATIONS_MAX]; /* empty where nothing needs them */
  int64_t others;                /* of a rank: rows of other ranks that its sums over in-edges gather */
  int64_t type_nodes[GNN_TYPES_MAX];                    /* of each type of nodes beside the first */
  int64_t type_first[GNN_TYPES_MAX];                    /* of a rank: which of all of them its first is */
  gnn_blocks blocks;
  const int64_t *score_first;    /* [2^levels + 1]: the first row of each block, where rows with scores are candidate pairs, which belong to the block of their destination; NULL: they are nodes, or share the blocks evenly */
  gnn_halo_rows halo[GNN_HALOS]; /* of sums over in-edges, over out-edges; of values on edges; NULL where nothing gathers so */
  const int32_t *node_id;        /* what the data call each node, and behind the rank's own the others where there is room, by which dropout draws; NULL: what the graph does, or it is on the SSD (gnn_home_bring_ids) */
  const int64_t *edge_id;        /* the same of edges; NULL, too, where no dropout is on edges */
  const int64_t *out_edge_id;    /* likewise, in the order of the edges that leave each node; NULL, too, where kernels find these by the edges' numbers */
  gnn_sparse sparse[GNN_SPARSE_MAX];
  const int32_t *rows[GNN_SPLIT_COUNT]; /* labelled nodes of each split, ascending, in the arena */
  int64_t row_count[GNN_SPLIT_COUNT];
  double row_weight[GNN_SPLIT_COUNT]; /* by which the losses of the rows are divided: their number, or what their classes weigh */
  double option[GNN_OPTION_MAX]; /* values of the program's options, in its order */
  double rate[GNN_RATE_MAX];     /* of learning, in this epoch: the optimiser's, then those of groups that have schedules */
  uint64_t seed;                 /* of this run */
  int64_t epoch;                 /* being run, from 1 */
  int64_t update;                /* of the weights being worked on, from 1: dropout and the optimisers count with it. One an epoch, or one a batch */
  int64_t reductions;            /* how often a plateau has made a rate smaller */
  double loss;                   /* left by the last forward_backward */
  /* Called by the evaluation forward for values that somebody may ask for by name; NULL unless predict --layer. */
  void (*tap)(void *user, const char *name, const gnn_real *value, int64_t rows, int64_t width);
  void *tap_user;
  int step;                      /* number of the compute step being run */
  struct gnn_lanes *lanes;       /* NULL: the program copies nothing */
  struct gnn_bad_value *search;  /* for the first value that is not finite; NULL: nobody searches */
  struct gnn_watch *watch;       /* of the steps' times, for a trace or a simulation; NULL: nobody watches */
  struct gnn_cuda *cuda;         /* NULL: the processor works */
  gnn_ranks *ranks;              /* NULL: this process has all rows. Otherwise `nodes`, `edges` and all that lies here are this rank's */
};

void gnn_watch_enter(gnn_run *run, int step);
void gnn_watch_leave(gnn_run *run, int step);
void gnn_bad_value_search(gnn_run *run, int step);

/* Around every compute step. */
static inline void gnn_enter(gnn_run *run, int step) {
  run->step = step;
  if (run->watch) gnn_watch_enter(run, step);
}
static inline void gnn_leave(gnn_run *run, int step) {
  if (run->watch) gnn_watch_leave(run, step);
  if (run->search) gnn_bad_value_search(run, step);
}

/* The arena at a planned offset. */
static inline gnn_real *gnn_at(const gnn_run *run, int64_t offset) {
  return (gnn_real *)(void *)(run->device + offset * GNN_SCALE);
}

/* ---- the program's description of itself ---- */

/* What the description of PREFIX is called. Of a source that is compiled for several processors one build, PREFIX_program, has all else that the source
 * has; the others are compiled with -DGNN_FOR=NAME, PREFIX_program_NAME. -DGNN_ALSO=NAME: such a build is linked with this one, which names it. */
#define GNN_JOIN_(first, second) first##second
#define GNN_JOIN(first, second) GNN_JOIN_(first, second)
#if defined GNN_DOUBLE
#define GNN_PROGRAM(prefix) prefix##_program_in_double
#elif defined GNN_FOR
#define GNN_PROGRAM(prefix) GNN_JOIN(prefix##_program_, GNN_FOR)
#else
#define GNN_PROGRAM(prefix) prefix##_program
#endif
#ifdef GNN_ALSO
#define GNN_OTHER(prefix) GNN_JOIN(prefix##_program_, GNN_ALSO)
#endif

/* Around functions that a processor runs before it is known to have what the source is compiled for. */
#if defined __x86_64__ && defined __clang__
#define GNN_BEFORE_CHOICE _Pragma("clang attribute push(__attribute__((target(\"arch=x86-64\"))), apply_to = function)")
#define GNN_AFTER_CHOICE _Pragma("clang attribute pop")
#elif defined __x86_64__
#define GNN_BEFORE_CHOICE _Pragma("GCC push_options") _Pragma("GCC target(\"arch=x86-64\")")
#define GNN_AFTER_CHOICE _Pragma("GCC pop_options")
#else
#define GNN_BEFORE_CHOICE
#define GNN_AFTER_CHOICE
#endif

typedef struct gnn_option_desc {
  const char *name, *help;
  double value;          /* as compiled in */
  int is_probability;    /* 1: it must lie in 0 ... 1 */
  const char *as;        /* "weight_decay", which is from `least` to `most`, or below 1 where that is less than 1; NULL: any number will do */
  double least, most;
} gnn_option_desc;

typedef enum gnn_init { GNN_INIT_CONSTANT, GNN_INIT_UNIFORM, GNN_INIT_NORMAL } gnn_init;

typedef struct gnn_weight_desc {
  const char *name;     /* "conv1.lin.weight" */
  int rank;
  int64_t shape[4], count;
  gnn_init init;
  double a;             /* the constant; the bound of uniform(-a, a); the standard deviation */
  int is_trained;       /* 0: a buffer */
  int64_t at;           /* arena offset of the value */
  int64_t at_gradient;  /* where forward_backward leaves the gradient; -1: not as a whole on the device, or there is none */
  int state_count;      /* optimiser state arrays of the same shape: up to 3 */
  int64_t at_state[3];
  int is_on_host;       /* at and at_state are offsets of the host arena, from where copies bring the rows of parts, and whereto they go back once updated */
  gnn_side home, home_state[3]; /* where they have extents, these have the numbers on the SSD, likewise, and at and at_state are nothing */
  int64_t at_best;      /* and those of the best epoch, where the program keeps them, are there likewise: in the host arena, */
  int has_own_rows;     /* a rank has those of its own rows alone, of this set of rows (gnn_edge_set_desc); shape and count are those of all ranks */
  int rows_of;
  gnn_side home_best;   /* or on the SSD. Those of weights on the device are a copy in memory (runtime/job/checkpoint.h) */
  const gnn_side *gradient_parts; /* where at_gradient is -1: where the gradients of the rows of each part are instead, or of all where there is one; NULL: there is no gradient */
  int gradient_part_count;
} gnn_weight_desc;

typedef enum gnn_domain { GNN_NODE, GNN_EDGE, GNN_GRAPH, GNN_TYPE, GNN_RELATION } gnn_domain; /* the last two: of the type, of the relation that `set` says */
typedef enum gnn_storage { GNN_DENSE, GNN_SPARSE, GNN_LABEL } gnn_storage;

/* From a row of `width` numbers to the next, where a program says how many numbers lie between: those of padded rows; 0: their width. */
static inline int64_t gnn_row_stride(int64_t stride, int64_t width) { return stride ? stride : width; }

/* A field of the data as the plan wants it in the arena. Rows x width numbers; labels are int32, -1 for none. */
typedef struct gnn_field_desc {
  const char *name;
  gnn_domain domain;
  int set;              /* GNN_TYPE: index into gnn_run.type_nodes; GNN_RELATION: into gnn_run.sets */
  gnn_storage storage;
  int64_t width, classes;
  int64_t nonzeros;     /* GNN_SPARSE: room that was planned */
  int sparse;           /* GNN_SPARSE: index into gnn_run.sparse */
  int is_row_normalised;
  int is_half;          /* GNN_DENSE: kept in bf16, 2 bytes a number */
  int is_on_host;       /* GNN_DENSE, GNN_LABEL: at[0] is an offset of the host arena, from where copies bring the rows; GNN_SPARSE: idx and value are such */
  gnn_side home;        /* GNN_DENSE: where it has extents, these have the rows on the SSD, from where copies bring them, and at[0] is nothing */
  int64_t window;       /* where that window begins whose offsets they are: the rows are read where they lie in a file; 0: they are in the scratch file */
  gnn_side entries_home[4]; /* GNN_SPARSE: likewise, of by_row idx and value, by_column idx and value, whose at is nothing then */
  int is_ptr_on_host;   /* GNN_SPARSE: by_row ptr is an offset of the host arena, too, */
  gnn_side ptr_home;    /* or where it has extents on the SSD, as gnn_edge_set_desc.in_ptr_home */
  const int64_t *part_entries[2]; /* GNN_SPARSE, idx and value away from the device: so many entries lie in the parts of the nodes before, and in the parts of the */
  const int64_t *part_columns;    /* columns before, which begin at these; NULL: any number, or they have no parts */
  int64_t stride;       /* GNN_DENSE: gnn_row_stride */
  /* GNN_DENSE, GNN_LABEL: at[0]. GNN_SPARSE: by_row ptr, idx, value, bounds (on a GPU hubs); by_column ptr, idx, value, bounds. */
  int64_t at[8];
} gnn_field_desc;

static const int gnn_entries_at[4] = {1, 2, 5, 6}; /* in gnn_field_desc.at, what entries_home are of */

/* Arena offsets of a set of edges; -1 for what no step reads (then the pointer in gnn_csr is NULL). Where at_out_ptr is -1 and out_ptr_home has nothing but has_out is set
 * the set is symmetric and `out` shares the arrays of `in`. */
typedef struct gnn_edge_set_desc {
  const char *name;      /* "edge", "member", "cites" */
  int src, dst;          /* sets of rows at its ends: 0 nodes, 1 graphs, 2 + t type t of nodes */
  int64_t edges;         /* room that was planned */
  int has_out, is_symmetric;
  int64_t at_in_ptr, at_in_idx, at_in_bounds;
  int64_t at_out_ptr, at_out_idx, at_out_edge, at_out_bounds;
  int is_ptr_on_host;    /* at_in_ptr and at_out_ptr are offsets of the host arena, from where copies bring those of the rows of parts */
  gnn_side in_ptr_home, out_ptr_home; /* where they have extents, these have them on the SSD: of each part where its rows begin, and where the last one ends */
  int is_idx_on_host;    /* at_in_idx, at_out_idx, at_out_edge and those of the degrees are offsets of the host arena, from where copies bring the rows of parts */
  gnn_side in_home, out_home, out_edge_home, in_degree_home, out_degree_home; /* where they have extents, these have the idx, the edges, the degrees on the SSD, from where copies bring them */
  int64_t hub_room, at_in_hubs, at_out_hubs; /* of how many hubs `edges` can be, and their rows; 0: of none */
  int64_t at_in_degree, at_out_degree;       /* gnn_real per row; of members in: the nodes of each graph */
  int64_t table, at_id;  /* of a relation on ranks: edges that arrive at a rank's rows or leave them, room that was planned; gnn_edge_set.id */
} gnn_edge_set_desc;

typedef struct gnn_node_type_desc {
  const char *name;
  int64_t nodes;         /* as planned */
} gnn_node_type_desc;

/* The graph, and where its arrays lie. */
typedef struct gnn_graph_desc {
  int64_t nodes, edges;  /* room that was planned */
  int64_t graphs;        /* that the nodes are of; 0 or 1: one */
  int set_count, type_count;
  const gnn_edge_set_desc *sets;   /* [set_count], by the indices of gnn_run.sets */
  const gnn_node_type_desc *types; /* [type_count] */
  int has_weights_of_nodes; /* rows of weights belong to nodes: the data have as many as were planned */
  int64_t at_blocks;     /* gnn_blocks.first, with room for as many as `nodes` rows have */
  int is_ordered;                      /* otherwise these are nowhere */
  int64_t at_node_id, at_edge_id;      /* int32 per node, int64 per edge */
  int64_t at_out_edge_id;              /* likewise, in the order of the edges that leave each node; read only where edges have their numbers away from the device */
  int is_node_id_on_host;              /* at_node_id is an offset of the host arena, from where copies bring those of parts */
  gnn_side node_id_home;               /* where it has extents, these have them on the SSD; likewise */
  int is_edge_id_on_host, is_out_edge_id_on_host; /* likewise at_edge_id and at_out_edge_id */
  gnn_side edge_id_home, out_edge_id_home;
  int has_ids_of_others;               /* of a rank: at_node_id has room for those of gnn_run.others */
  int64_t at_rows[GNN_SPLIT_COUNT];
  int64_t row_count[GNN_SPLIT_COUNT];
  int are_rows_on_host;      /* at_rows are offsets of the host arena, from where copies bring those of parts */
  const int64_t *part_rows[GNN_SPLIT_COUNT]; /* where these are: so many of each are in the parts before. NULL: any number */
  int part_levels;           /* steps are for 2^part_levels parts of the nodes (of ranks, of those of each), which */
  const int64_t *part_first; /* begin at these rows; the last entry is where the last one ends. NULL: for all */
  struct gnn_halo_desc {     /* gnn_run.halo: offsets of its arrays in the arena, -1 where there are none; and in a program whose values are cut */
    int64_t at_code, at_row, at_first;
    const int64_t *pairs;    /* [2^part_levels, 2^part_levels]: so many rows of part q the rows of part p gather, by p and q */
    int shift;               /* of the part in a code */
    int is_row_on_host, is_code_on_host; /* at_row, at_code are offsets of the host arena, from where copies bring those of parts */
    gnn_side row_home, code_home; /* where they have extents, these have them on the SSD; likewise */
  } halo[GNN_HALOS];
  const int64_t *part_in, *part_out; /* likewise, where idx is on the host or values on edges are cut: so many edges go to the parts before, come from them. NULL: any number */
} gnn_graph_desc;

typedef struct gnn_source_arg {
  const char *key, *text; /* text NULL: a number */
  double number;
} gnn_source_arg;

typedef struct gnn_source {
  const char *kind; /* "npy", "planetoid", "safetensors", "karate", "synth", "file", "shapes" */
  int arg_count;
  const gnn_source_arg *args;
} gnn_source;

typedef enum gnn_self_loops { GNN_LOOPS_KEEP, GNN_LOOPS_ADD, GNN_LOOPS_REMOVE } gnn_self_loops;

/* Of the nodes: as the data have them; by nested bisection (order.h); as a file says. */
typedef enum gnn_order { GNN_ORDER_GIVEN, GNN_ORDER_NESTED, GNN_ORDER_FILE } gnn_order;

/* A field that is declared as numbers, whatever the data hold it as. */
typedef struct gnn_number_field {
  const char *name;
  int is_onehot;  /* a whole number c a row is a row of `width` numbers, 1 in column c and 0 elsewhere */
  int64_t width;  /* 0: as large as the largest number wants it */
} gnn_number_field;

/* A field that is read from a file of its own, instead of what the data have under its name. */
typedef struct gnn_file_field {
  const char *name, *path;
  gnn_domain domain;
  const char *type;    /* numbers without a header: "f32", "i64", ...; NULL: a .npy file */
  int64_t rows, width; /* of those; rows -1: as many as there are */
} gnn_file_field;

/* Pairs of nodes to tell edges among: data/pairs.h. */
typedef struct gnn_pairs_recipe {
  const char *name;          /* NULL: there are none */
  double valid, test;        /* shares of the edges that are held out */
  int64_t negatives;         /* pairs without an edge to each with one */
  int keeps_source;          /* they begin where the edge does */
  int is_resampled;          /* those of split train are drawn anew for every epoch */
  uint64_t seed;
  int is_stored;             /* the data bring edges and pairs, and nothing is held out; of split train pairs without an edge are drawn where they bring none */
} gnn_pairs_recipe;

typedef struct gnn_recipe {
  int is_undirected;
  int keeps_duplicates;      /* edges between the same two nodes are several */
  gnn_self_loops self_loops;
  int normalised_count;
  const char *const *normalised;
  int reverses_all;          /* relations are there the other way round, too, as rev_NAME; or these: */
  int reversed_count;
  const char *const *reversed;
  const char *target;        /* the field that the loss is of: a row of it that has a NaN has no label; NULL: not said */
  int is_target_number;      /* its whole numbers are numbers all the same, not classes */
  int file_field_count;
  const gnn_file_field *file_fields;
  int number_count;
  const gnn_number_field *numbers;
  int class_field_count;     /* fields that are classes where all their numbers are whole; y is one without being among them */
  const char *const *class_fields;
  int has_random_split;
  double split_fraction[3];
  uint64_t split_seed;
  int split_index;
  gnn_pairs_recipe pairs;    /* the splits are theirs */
  int has_folds;             /* split_seed draws them: */
  int64_t fold_count;        /* so many; 0: the data bring theirs */
  int fold_has_valid;        /* the fold after the one that is tested validates */
  gnn_order order;
  const char *order_path;
  uint64_t order_fingerprint; /* what gnn_order_fingerprint must say of the file's; 0: anything */
  uint64_t graph_fingerprint; /* of an order: of the graph that it is of, where ranks have edges of their own nodes alone; 0: nobody knows */
  int64_t edges_read;         /* and the checksum of the edges that make it (gnn_own_edges); 0: any */
} gnn_recipe;

/* What is watched: the loss, or GNN_MEASURE_METRIC + i: the program's metric i. */
typedef enum gnn_measure { GNN_MEASURE_LOSS, GNN_MEASURE_METRIC } gnn_measure;

typedef struct gnn_loss {
  gnn_loss_kind kind;
  int has_classes;         /* labels are int32, one a row; otherwise numbers, as many as scores */
  double smoothing, delta, pos_weight;
  const double *weights;   /* of the classes, or NULL */
} gnn_loss;

typedef struct gnn_metric {
  gnn_metric_kind kind;
  int64_t argument;        /* of hits */
  const char *name;        /* "hits50" */
} gnn_metric;

/* It is computed from the rows in the order of their scores, which takes room. */
static inline int gnn_metric_sorts(gnn_metric_kind kind) {
  return kind == GNN_METRIC_ROC_AUC || kind == GNN_METRIC_AVERAGE_PRECISION || kind == GNN_METRIC_HITS || kind == GNN_METRIC_MRR;
}
/* Of nodes it is computed from how many of them there are of each kind, whatever their order: ranks count their own, and add. */
static inline int gnn_metric_counts(gnn_metric_kind kind) { return kind <= GNN_METRIC_MACRO_F1 || kind == GNN_METRIC_HITS; }

/* What a step stores: numbers, and where they are when it has ended. GNN_ROWS_PART: the rows of nodes of one part, GNN_ROWS_EDGES_OF_PART: the edges that
 * arrive at them; `count` says which. */
typedef enum gnn_rows { GNN_ROWS_NODE, GNN_ROWS_EDGE, GNN_ROWS_NONE, GNN_ROWS_PART, GNN_ROWS_EDGES_OF_PART, GNN_ROWS_GRAPH, GNN_ROWS_TYPE, GNN_ROWS_OTHERS } gnn_rows;
typedef struct gnn_value_desc {
  int step, line;  /* of the model's source */
  const char *name;
  gnn_rows rows;   /* what its rows are */
  int64_t count;   /* of rows; those of nodes and edges are known when the data are: edges of which set, nodes of which type */
  int64_t width;   /* numbers in each */
  int64_t at;
  int is_half;     /* they are kept in bf16 */
} gnn_value_desc;

typedef struct gnn_step_desc {
  int number;
  const char *lane, *phase, *what; /* "compute", "d2h", "h2d", "ssd write" or "ssd read"; "forward", "backward",
                                      "update" or "eval"; description */
  int line;                        /* of the model's source */
  double estimated_seconds;
  int64_t bytes;                   /* read and written */
  double estimated_start_seconds;  /* after the beginning of the epoch, or of the evaluation */
} gnn_step_desc;

/* The program's steps in the order that keeps every value until its last use, with a device arena of its own. */
/* A weight that the plan has on the host or on the SSD, and its states. */
typedef struct gnn_moved_weight {
  int weight; /* index into gnn_program.weights */
  int64_t at, at_state[3];
} gnn_moved_weight;

/* A field that the plan has away from the device lies at at[0] of the device arena here, what is away of a sparse one as in entries_home. */
typedef struct gnn_moved_field {
  int field; /* index into gnn_program.fields */
  int64_t at[4], at_ptr; /* at_ptr: where rows of a sparse one begin; -1: that is where it is in the plan */
} gnn_moved_field;

typedef struct gnn_keep_order {
  int64_t device_bytes, at_scores;
  int moved_count;
  const gnn_moved_field *moved;
  int moved_weight_count;
  const gnn_moved_weight *moved_weights;
  int has_moved_graph;             /* so do the idx of the edges between nodes, which the plan has on the host: */
  int64_t at_in_idx, at_out_idx;   /* -1: there is none */
  int64_t at_in_degree, at_out_degree;
  int has_moved_edges;             /* and the numbers of the edges that leave nodes */
  int64_t at_out_edge;
  int has_moved_rows;              /* and which nodes have labels */
  int64_t at_rows[GNN_SPLIT_COUNT];
  int has_moved_ids;               /* and what the data call each node */
  int64_t at_node_id;
  int has_moved_edge_ids;          /* and each edge; -1: there are none */
  int64_t at_edge_id, at_out_edge_id;
  int has_moved_halos;             /* and which rows parts gather of each other, with the codes of edges */
  int64_t at_halo_rows[GNN_HALOS], at_edge_codes; /* -1: these are where they are in the plan */
  int has_moved_offsets;           /* and where the edges of each node begin */
  int64_t at_in_ptr, at_out_ptr;
  gnn_status (*forward_backward)(gnn_run *run);
  gnn_status (*update)(gnn_run *run);
  gnn_status (*evaluate)(gnn_run *run);
  gnn_status (*once)(gnn_run *run); /* or NULL */
} gnn_keep_order;

struct gnn_program {
  int abi;                  /* GNN_ABI */
  int real_bytes;           /* sizeof(gnn_real) of this build: 4, or 8 and every offset and arena counts double */
  const char *generator;    /* "generated by gnncc 0.1.0": how gnncc knows a program that it may overwrite */
  const char *name, *data_name, *source_name, *fingerprint, *plan_json;
  const char *model_fingerprint; /* the part of the fingerprint that no plan changes: checkpoints go from plan to plan.
                                    NULL: fingerprint */
  int64_t device_bytes, host_bytes, ssd_bytes; /* of the arenas */
  const char *device_name;  /* as the target calls it; NULL: "device" */
  int64_t device_budget;    /* what the device's arena may take; 0: not known */
  int64_t reserve_bytes;    /* announced for what lies outside them */
  int64_t data_bytes;       /* of the device arena from its beginning on, which loaded data go into; 0: all of it */
  int64_t loading_bytes;    /* of the host's memory while the data it was compiled for are loaded, code and the like apart; 0: nobody has seen them */
  int64_t process_bytes;    /* of the host's memory, all that the process takes (docs/design.md, "the process"); 0: not announced */
  int64_t address_bytes;    /* the same in addresses, of which the plain files that are read are more */
  double estimated_epoch_seconds;

  gnn_source source;
  gnn_recipe recipe;
  gnn_graph_desc graph;
  int field_count;
  const gnn_field_desc *fields;
  int label_field;          /* index into fields */
  int ring_field;           /* GNN_LOSS_BPR: of the pairs that it ranks (data/pairs.h) */
  int64_t classes;
  gnn_domain scores_domain; /* whose rows the scores are */
  int scores_set;           /* as gnn_field_desc.set */
  int option_count;
  const gnn_option_desc *options;
  int weight_count;
  const gnn_weight_desc *weights;
  const char *state_names[3]; /* "opt.rmsprop.square.": what the states of a weight begin with in a checkpoint; NULL: as sgd's or adam's */
  int step_count, once_count;
  const gnn_step_desc *steps; /* those of an epoch and an evaluation, then those of `once` */
  int value_count;
  const gnn_value_desc *values; /* in the order of their steps; none in programs for a GPU */

  int copy_count;
  const gnn_copy_desc *copies;
  int extent_count;
  const gnn_extent *extents;
  int64_t ring_bytes;       /* of each of the two staging areas between device and SSD; 0: none */
  const char *scratch_dir;  /* of the target's SSD tier, or NULL */
  int is_simulated;         /* steps take no less than their estimated_seconds, */
  double slowdown;          /* times this */

  int64_t epochs, runs, seed, evaluate_every, checkpoint_every;
  int64_t batch_graphs;     /* graphs of a batch, of which `graph` tells the largest; 0: all data are worked on at once */
  int batch_shuffles;       /* in another order in every epoch */
  int64_t fold_count;       /* run r tests on fold r modulo this; 0: the splits of all runs are the same */
  int reports_folds;        /* in the end, the epoch that is best in the mean over the folds' test curves */
  int has_keep, has_stop;
  const gnn_loss *loss;     /* NULL: plain cross entropy */
  int metric_count;
  const gnn_metric *metrics; /* the first is what the columns train, valid and test show; without one they show the loss */
  int has_confusion;        /* eval prints how often which class was taken for which */
  gnn_split keep_split, stop_split;
  gnn_measure keep_measure, stop_measure;
  int64_t patience;
  const char *rate_option;  /* the option that is the learning rate, or what its schedule begins with; NULL: none is */
  int has_plateau;          /* a schedule multiplies its rate when more than plateau_patience evaluations bring nothing better */
  gnn_split plateau_split;
  gnn_measure plateau_measure;
  int64_t plateau_patience;
  int shows[GNN_SPLIT_COUNT];
  int tap_count;
  const char *const *taps;  /* names that predict --layer takes */
  int scores_tap_count;     /* the first of them, which are names of scores that end away from the device */
  int untold_count;
  const char *const *untold; /* names of values of the program that `evaluate` stores nowhere */

  const char *approximation;   /* "boundary = stale(1)"; NULL: nothing was asked for that is not exact */
  const gnn_ranks_desc *ranks; /* NULL: one process does all of it. Otherwise `graph` tells the most that a rank has */
  const gnn_backend *backend; /* NULL: the processor; &gnn_cuda_backend */
  const void *code;           /* for the backend: gnn_cuda_code */

  int64_t at_scores;        /* nodes x classes, left by `evaluate` */
  gnn_tier scores_tier;     /* of which at_scores is an offset: a device's, the host arena, or the ring by which they come back from the SSD */
  int scores_copy, scores_copies, scores_together; /* scores_copies: they end on the SSD, so many parts of the nodes; copies from `scores_copy` on bring them back,
                               so many at a time to at_scores */
  int64_t scores_stride;    /* gnn_row_stride; the host has the rows of gnn_download_scores side by side */
  int has_results;          /* `evaluate` leaves double [GNN_SPLIT_COUNT][2] at at_results: sum of the losses of the split's */
  int64_t at_results;       /* rows, and how many are right. 0: the host finds them from the scores */
  gnn_status (*once)(gnn_run *run);             /* once the data are there: what does not change; or NULL */
  gnn_status (*forward_backward)(gnn_run *run); /* training forward, loss, gradients of every weight */
  void (*rates)(gnn_run *run);                  /* sets run->rate for run->epoch; NULL: there are none */
  gnn_status (*update)(gnn_run *run);           /* one optimiser step from those gradients */
  gnn_status (*evaluate)(gnn_run *run);         /* forward with dropout off; leaves the scores */
  const gnn_program *in_double;                 /* the same program built with GNN_DOUBLE, or NULL */
  const char *cpu;          /* what this build was compiled for: "x86-64-v3"; "": not said */
  uint64_t instructions;    /* GNN_INSTRUCTIONS, */
  int sve_bits;             /* GNN_SVE_BITS of it */
  const gnn_program *also;  /* the same program compiled for another processor, which may have another; NULL (core/builds.h) */
  const gnn_keep_order *keep_order;             /* NULL: there is none beside the plan */
};

/* Learning rates by schedule, as torch.optim.lr_scheduler defines them: of the epoch before which `done` others have run. */
double gnn_rate_constant(double lr, double done);
double gnn_rate_step(double lr, double every, double factor, double done);
double gnn_rate_exponential(double lr, double factor, double done);
double gnn_rate_cosine(double lr, double epochs, double end, double done);
double gnn_rate_restarts(double lr, double epochs, double growth, double end, double done);
double gnn_rate_linear(double lr, double epochs, double end, double done);
double gnn_rate_polynomial(double lr, double epochs, double power, double end, double done);
double gnn_rate_one_cycle(double lr, double epochs, double rise, double done);
double gnn_rate_plateau(double lr, double factor, double reductions);
/* `rate` is that of done - warmup; during the warm-up that of its begin, and this is a line up to it. */
double gnn_rate_warmup(double warmup, double rate, double done);

enum { GNN_ABI = 30 };

/* Rows of the loaded data. */
static inline int64_t gnn_rows_of(const gnn_run *run, gnn_domain domain, int set) {
  switch (domain) {
  case GNN_NODE: return run->nodes;
  case GNN_EDGE: return run->edges;
  case GNN_GRAPH: return run->graphs;
  case GNN_TYPE: return run->type_nodes[set];
  case GNN_RELATION: return run->sets[set].in.entries;
  }
  return 0;
}

static inline int64_t gnn_rows_of_scores(const gnn_run *run) { return gnn_rows_of(run, run->program->scores_domain, run->program->scores_set); }

/* The produced program: command line, training loop, exit code (see `--help`). */
int gnn_main(int argc, char **argv, const gnn_program *program);

#endif
