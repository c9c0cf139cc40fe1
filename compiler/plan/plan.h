/* plan.h: the products after the kernels: Residents, Plan, Schedule, Layout.
 *
 * A plan is made for the training epoch and for the evaluation, each a sequence of kernels of its own; the planner
 * (planner/planner.h) decides, the schedule writes down what S13 of docs/planner.md does with the decisions, the
 * layout gives every byte its place. From there on nothing is decided any more.
 */
#ifndef GNNCC_PLAN_H
#define GNNCC_PLAN_H

#include "compiler/lowering/cost.h"
#include "compiler/planner/planner.h"
#include "compiler/planner/simulate.h"
#include "lang/name_table.h"

/* ---- halos.c ---- */

enum { HALO_LEVELS = 6 /* at most 64 parts have them */ };

/* How many rows of part q the rows of part p gather in such sums: [p << levels | q], counted in the data, or
 * estimated as if neighbours were anywhere, where none were read. 2^levels parts, levels from 1 to HALO_LEVELS. */
const int64_t *halo_pairs(Arena *arena, const DataInfo *info, HaloKind kind, int levels);
int64_t halo_rows(const int64_t *pairs, int levels); /* of all pairs together */

enum { CODE_BITS = 31 };
bool halos_have_codes(const DataInfo *info, int levels); /* a part and a row of it in one number (gnn_halo_rows) */
bool edge_halos_have_codes(const DataInfo *info, int levels); /* likewise an edge */

/* The pieces of a value with rows for each part (HALO), from 1 on: a pair (p, q) that has rows, and each (p, p). */
typedef struct HaloPieces {
  const int64_t *pairs; /* halo_pairs */
  int count;
  const int64_t *before; /* [parts + 1]: so many of their rows do the parts before copy out */
  int *of_pair;         /* per pair: its piece; 0: none */
  int *pair;            /* per piece */
  int *of_member[2];    /* the pieces by the first member of their pairs, then by the second; and the other way round */
  int *first[2];        /* per part, from 0 on, and one more: where those of the part begin in of_member */
} HaloPieces;

void halo_pieces(Arena *arena, const int64_t *pairs, int levels, HaloPieces *pieces);

/* ---- residents.c: what stays on the device through the whole run ---- */

typedef enum BlockKind {
  BLOCK_GRAPH, BLOCK_FEATURES, BLOCK_WEIGHTS, BLOCK_OPTIMIZER, BLOCK_ACTIVATION, BLOCK_GRADIENT, BLOCK_SCRATCH, BLOCK_KIND_COUNT
} BlockKind;

const char *block_kind_name(BlockKind kind);

/* One live range of memory in the device arena. */
typedef struct Block {
  BlockKind kind;
  const char *name;    /* fit for a C identifier */
  int64_t bytes, room, offset; /* room: bytes, rounded up to what the plan counts */
  int first, last;     /* indices of the first and last step that need it; all there are for what always stays; in Residents BEFORE_STEPS for
                          what only the steps before the first epoch read, which in a Layout needs them alone: its place is used again */
  int until;           /* index of the last step at which the memory is its own: `last`, or the step before the first of the block that takes
                          its place (S17) */
  const Kernels *kernels; /* whose value it is, with .value; NULL for others */
  ValueId value;
  int part;            /* of the value, from 1; 0: all of it. Of scratch: of the step that it is for */
  bool is_sums;        /* scratch that a kernel's sums lie in from its first part to its last */
  Padding padding;     /* of its rows, where they are padded */
  bool is_made_before; /* of Residents: steps before the first epoch write it */
  int away;            /* what stays away, kept on the device in the order that keeps everything: its index in Residents.away plus one; else 0 */
} Block;

enum { BEFORE_STEPS = -1 };
enum { SPARSE_BLOCKS = 8, SPARSE_ROW_SHARES = 3 /* bounds, or hubs */, ACCUMULATED = ACCUMULATED_STATE, CPU_ALIGNMENT = 64, CUDA_ALIGNMENT = 256 /* cuBLASLt's */, SSD_BLOCK_BYTES = 4096 };

/* Data that stay on the host or on the SSD, from where steps bring them, or the parts of them that they read; or whereto steps bring them. */
typedef struct Away {
  const char *name;    /* fit for a C identifier */
  Tier tier;
  int64_t at, bytes;   /* at: in the host arena; parts on the SSD, and scores, lie elsewhere (parts_away_at) */
  Padding padding;     /* of its rows */
  enum { AWAY_ROWS, AWAY_NEIGHBOURS, AWAY_EDGE_NUMBERS, AWAY_OFFSETS, AWAY_HALO_ROWS, AWAY_SPLIT_ROWS, AWAY_ENTRIES } of; /* rows of nodes; a number for each edge, in the order of the rows at `end`, or one of 8 bytes, and where those of each row begin, or of features;
                                                                                         for each row of a part that another gathers; for each labelled row of a `split`; for each of a field's `entries` */
  EdgeEnd end;
  HaloKind halo;
  int split;
  struct Entries entries;
  bool is_learned;     /* a weight, or what its optimiser keeps: an epoch changes it */
  bool is_copy;        /* of a weight, as it was at the best epoch: between epochs the runtime writes and reads it, no step does */
  const char *file;    /* of the user's, where it is read where it lies: `at` is where its window of the scratch file's offsets begins (runtime/core/window.h); else NULL */
  bool may_be_cached;  /* parts of it that are at home on the SSD may lie on the host instead (Residents.cache) */
} Away;

/* Data of which parts may lie on the host, in so many bytes of it, though they are at home on the SSD. */
typedef struct CachedData {
  int64_t bytes; /* 0: none does */
  bool fields, graph, learned;
} CachedData;

/* caching.c: parts of what is at home on the SSD that lie on the host instead. */
typedef struct Cached {
  bool **is_on_host;   /* per index of Residents.away, per part from 1; NULL: none of it is */
  int64_t **at;        /* likewise: in the host arena, from Residents.away_bytes on */
  int64_t bytes;       /* there */
} Cached;

typedef struct Residents {
  int64_t alignment; /* of every block, and of everything that lies in the arenas after them */
  /* Indices into blocks, NO_INDEX where no step needs the thing. */
  struct EdgeSetBlocks {
    int in_ptr, in_idx, in_bounds, out_ptr, out_idx, out_edge, out_bounds;
    int in_hubs, out_hubs; /* for a GPU, where there may be such rows */
    int degree[2];         /* by EdgeEnd */
    int id;                /* of a relation on ranks, where dropout is on its edges */
    bool has_out, is_symmetric; /* has_out with out_ptr NO_INDEX: the same arrays as in */
  } *sets;                /* per set of edges */
  struct HaloBlocks {
    int code, row, first; /* gnn_halo_rows; code NO_INDEX: codes are the neighbours that stay away, or stay away beside these, as rows do where row is NO_INDEX */
  } *halo;                /* per HaloKind */
  int halo_levels;        /* of the parts that they are for; 0: there are none */
  int node_blocks;        /* where the rows of the nodes are cut (runtime/core/blocks.h) */
  int node_id, edge_id;   /* what the data call each node and edge, where the data are ordered; edge_id only for dropout on edges */
  bool has_ids_of_others; /* node_id: of a rank, whose dropout is on rows of others, too */
  int rows[SPLIT_COUNT];  /* labelled nodes of each split */
  int *field;             /* per field: its numbers; for sparse ones the first, of those that are on the device, of */
  int (*sparse)[SPARSE_BLOCKS]; /* by row ptr, idx, value, bounds (for a GPU hubs), by column the same; NO_INDEX for what is away */
  bool *is_field_half;    /* its numbers are kept in bf16 */
  int away_count;
  Away *away;             /* those on the host one after the other from offset 0 of its arena, */
  int64_t away_bytes;     /* so many bytes */
  int64_t scores_host_bytes; /* and above them in an evaluation, where scores end there */
  const Kernels *const *readers; /* all that share the memory: the epoch, each evaluation, and what runs before; */
  int reader_count;       /* the first of them says what is best on the host */
  struct Cache {
    int64_t bytes;        /* of the host arena, above those, for parts of what is at home on the SSD; 0: none */
    const Cached **of_parts; /* per levels of parts; NULL: not yet asked for */
  } cache;
  int *field_away, neighbours_away[2], offsets_away[2], degree_away[2]; /* per field, and by EdgeEnd: index into away, NO_INDEX for what is on the device */
  int halo_rows_away[HALO_KINDS], edge_codes_away, out_edges_away, node_ids_away, edge_ids_away[2], rows_away[SPLIT_COUNT]; /* likewise, by HaloKind; by EdgeEnd; by split */
  int (*entries_away)[2][2]; /* likewise, per field, by [is_by_column][is_number] */
  int *entry_offsets_away;
  int scores_away;        /* where an evaluation leaves the scores, likewise */
  const Kernels *once_kernels; /* which run before the first epoch; NULL: nothing is computed once */
  int *once, *once_away;  /* by the index of HOISTED: the block, or the index into away; NO_INDEX: it is the other of these */
  int *before;            /* per value of the graph of once_kernels: the block where only they store it; NO_INDEX: it is planned for, or none of theirs */
  int *weight;            /* per param */
  int *state[MAX_STATES]; /* per param: momentum, or Adam's m and v; ACCUMULATED */
  int *weight_away, *state_away[MAX_STATES]; /* likewise: index into away, of weights whose rows lie with the nodes' */
  int *best_away;         /* and of their copies, where the program keeps the best */
  int spmm_ones, spmm_offsets[2]; /* what sums by cuSPARSE take beside the graph: a number for each edge; offsets of 32 bits of in, of out */
  int spmm_buffer_count;
  struct SpmmBuffer { bool is_out; int64_t width, stride; int block; } *spmm_buffers;
  const Kernels *kept_kernels; /* a training whose exchanges are those of the epoch before: per value of its graph */
  int *kept;              /* the block with its rows on their way; NO_INDEX: it has none */
  int results;            /* what an evaluation on a GPU leaves: loss and hits of each split, those of its blocks, those of its rows */
  int count;
  Block *blocks;          /* one after the other from offset 0; after them, from `bytes` on, those of BEFORE_STEPS */
  NameTable names;        /* of the blocks */
  int64_t bytes, early_bytes; /* of what stays, and of what does not */
} Residents;

/* Where data are at home that steps bring: fields whose rows are, and with any of them what is computed once, the neighbours of nodes where graphs have them as values (Graph.neighbours), and the
 * scores of an evaluation in the end where any of these are away and the device is not the tier. */
typedef struct DataHomes {
  const bool *is_away; /* per field; NULL: none is */
  Tier fields, graph, scores, learned; /* learned: weights that kernels have by rows of nodes, and their optimiser's state */
  int halo_levels; /* for which parts halos are */
  int64_t rank_rows; /* of ranks whose values are cut: of all parts, as which lies what is away (parts_rows_of_rank); what leads to what is computed once moves as in an epoch. Else 0 */
  bool has_labels; /* what is learned is at home with the fields where that, and where scores end, is the host */
} DataHomes;

/* `training` and `once` may be NULL. */
Residents *residents(Arena *arena, const Kernels *training, const Kernels *evaluation, const Kernels *once, const bool *is_sparse_field, DataHomes homes);
int64_t residents_hub_room(int64_t entries); /* how many rows can have more than GNN_HUB_ENTRIES of these */
bool resident_is_of(const Residents *residents, int away, CachedData data); /* of the kinds of data there */
bool resident_is_once(const Residents *residents, int away); /* computed before the first epoch */
/* All that share the memory: `training`, which may be NULL, evaluations, and what runs before. */
void residents_readers(Arena *arena, Residents *residents, const Kernels *training, const Kernels *const *evaluations, int evaluation_count);
/* What there is of these may take so many bytes on the host; after residents_readers. */
void residents_cache(Arena *arena, Residents *residents, CachedData data);
int residents_spmm_buffer(const Residents *residents, bool is_out, int64_t width); /* index of its block, or NO_INDEX */
/* The block of a field, a weight, the degrees or what is computed once; NULL for other values. */
const Block *resident_of_value(const Residents *residents, const Graph *graph, ValueId value);
int resident_kept(const Residents *residents, const Kernels *kernels, ValueId value); /* of an exchange, index of the block of rows on their way, or NO_INDEX */
/* Of a value that stays away from the device, or ends there, its index in away; else NO_INDEX. */
int resident_away(const Residents *residents, const Graph *graph, ValueId value);
/* `base` as an identifier that none of the blocks has. */
const char *block_unique_name(Arena *arena, const NameTable *taken, const char *base);
/* The same of a base that comes again: *last, at first 1, is the number that it had last. */
const char *block_next_name(Arena *arena, const NameTable *taken, const char *base, int *last);
static inline int64_t round_up(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

/* The SSD is the device's own: nothing passes a staging ring. With a host tier everything goes by the host. */
static inline bool machine_reaches_ssd(const Machine *machine) {
  return machine->is_ssd_direct && machine->tier_bytes[TIER_SSD] > 0 && machine->tier_bytes[TIER_HOST] == 0;
}

/* ---- pieces.c: which values are cut ---- */

/* The rows of the nodes as parts, aligned runs of canonical blocks (runtime/core/blocks.h). A value on nodes is a piece for each part where
 * every kernel that writes or reads it can be run over the rows of one part; others are one piece. Parts count from 1, and 0 stands for
 * all rows. */
typedef struct Parts {
  const Kernels *kernels;
  const RankInfo *ranks; /* of a program of ranks: parts are those of each rank, with the rows of the rank that has most there; NULL: there is one process. */
  int finer;             /* A part of the nodes is 2^finer runs of blocks there, of which a rank's part has some: gnn_part_row */
  int levels, count;    /* 2^levels of them */
  const int64_t *first; /* [count + 1]: part p has the rows first[p - 1] .. first[p] - 1 */
  const int64_t *labelled[SPLIT_COUNT]; /* [count + 1]: so many rows of the split are in the parts before; ranks have none */
  const int64_t *edges[2]; /* by EdgeEnd, [count + 1]: so many edges have this end in the parts before */
  struct PartEntries {
    const int64_t *column;    /* [count + 1]: part p of a gradient by these features is that of the columns column[p - 1] .. column[p] - 1; NULL: it has no parts */
    const int64_t *before[2]; /* [count + 1]: so many of its numbers that are not 0 lie in the parts before, of rows, of columns */
  } *entries; /* per field */
  bool *is_cut;         /* per value */
  HaloPieces halo[HALO_KINDS]; /* of the values that sums gather from, where the graph has such (HALO) */
  bool *is_by_parts;    /* per kernel: it has a step for each part */
  struct Gathered {
    int count;
    ValueId *list;
  } *gathered;          /* per kernel: of which values it reads any rows */
  const Cached *cached; /* NULL: nothing is */
} Parts;

/* Of ranks: what a step of `part` of the kernel is; the rows of a table are made part by part, and leave by a step of its own behind the last (part 0). */
bool parts_make_table(const Parts *parts, const Kernel *kernel);

/* Whoever reads halos can run by parts, and where there are codes alone nobody asks for the ids of neighbours; NULL takes them. */
bool kernels_take_halos(const Kernels *kernels, bool has_codes_alone);
/* part_costs.c: of a kernel's cost, that of its step over the rows of one part (0: of all). Counted: the data were read, so that it is known which rows and edges each part has; else all have about as many. */
Cost cost_of_part(const Parts *parts, const Kernel *kernel, Cost whole, int part);
bool parts_are_counted(const Parts *parts);
/* At most `most` parts, a power of two; so many as there are blocks. */
Parts *parts_of(Arena *arena, const Kernels *kernels, const Residents *residents, int most);
int parts_at_most(const DataInfo *info, int most); /* so many there are */
int64_t parts_rows_of_rank(Arena *arena, const DataInfo *info, int most); /* of all parts, each with the most that a rank has there */
int64_t parts_rows(const Parts *parts, int part);
int parts_row_shift(const Parts *parts); /* no part has fewer than so many powers of two of rows: what gnn_part_of looks up (kernels/cpu/gather.h) */
int64_t parts_bytes(const Parts *parts, ValueId value, int piece);
int64_t parts_bytes_before(const Parts *parts, ValueId value, int part); /* where its rows begin in the whole value */
/* How many pieces a value is. They count from 1: by part, and as HaloPieces. One that is not cut is piece 0. */
int parts_piece_count(const Parts *parts, ValueId value);
bool parts_cut_edges(const Parts *parts); /* some values are of edges */
/* The k-th piece (k from 0) of a value that a step of `part` of the kernel reads, or writes: for values by part that of the part, or all where the kernel gathers from them; for
 * halos all that the part's sums gather, or all that have rows of the part. NO_INDEX: there are no more. */
int parts_piece_read(const Parts *parts, const Kernel *kernel, ValueId value, int part, int k);
int parts_piece_written(const Parts *parts, ValueId value, int part, int k);
bool parts_gathers(const Parts *parts, const Kernel *kernel, ValueId value); /* the kernel reads any rows of it, and it is cut */
bool parts_is_halo(const Parts *parts, ValueId value);
int parts_halo_piece(const Parts *parts, ValueId value, int to, int from); /* rows of part `from` for part `to`; 0: there are none */
int parts_halo_shift(const Parts *parts, HaloKind kind); /* of the number of a part in the code of a row in halos (gnn_halo_rows), of nodes the same for both ends */
/* Of a kernel that sums over the rows of all parts one after the other: of what is open between them, 0 for others. */
int64_t parts_sums_bytes(const Parts *parts, const Kernel *kernel);
int64_t parts_work_bytes(const Parts *parts, const Kernel *kernel, int part); /* scratch of each of its steps */
/* "h", "h[2/4]"; of halos "h_halo[2>3/4]", rows of part 2 for part 3. `name` is the value's. */
const char *parts_name(const Parts *parts, ValueId value, const char *name, int piece);
const char *parts_part_name(const Parts *parts, const char *name, int part); /* of what is no value */
/* A step of this part stores so much of the value; what has no rows is there after the last part. */
bool parts_stores(const Parts *parts, ValueId value, int part);
/* What is away as its parts: into so many runs its bytes are cut, 1 where a part has none; those of one (from 1), or of all (0). On the SSD each begins at a
 * block. */
int parts_of_away(const Parts *parts, const Away *away);
int64_t parts_bytes_of_away(const Parts *parts, const Away *away, int part);
int64_t parts_shared_bytes(const Away *away); /* at the end of each part, that are the first of the next one, too */
/* Where a part, or all, is at home; where it begins there; all that is at home on the SSD, and of what is cached on the host. */
Tier parts_home(const Parts *parts, const Residents *residents, int away, int part);
int64_t parts_away_at(const Parts *parts, const Residents *residents, int away, int part);
int64_t parts_away_ssd_bytes(const Parts *parts, const Residents *residents);
int64_t parts_away_host_bytes(const Parts *parts, const Residents *residents); /* with what stays there as a whole */

/* ---- roles.c ---- */

ValueRole *roles_of(Arena *arena, const Kernels *kernels); /* per value: what it is to its layer */

/* ---- pose_problem.c: Kernels -> Problem ---- */

typedef struct PlanningProblem {
  const Kernels *kernels;
  int32_t *kernel_of_op;     /* NO_INDEX: the reader of the scores, after the last kernel of an evaluation. Of ranks, that of a table made by parts comes twice (parts_make_table) */
  ValueId *value_of_datum;   /* NO_VALUE: a resident block, or sums */
  int32_t *sums_of_datum;    /* a kernel whose sums lie there from its first part to its last, or NO_INDEX */
  const Residents *residents;
  const Parts *parts;        /* a part is a chunk: of the datum of a value that is cut, of the op of a kernel that runs by parts */
  const char **name_of_value; /* per value: the identifier of its datum, or NULL */
  int64_t unit;              /* sizes are multiples of it: what the SSD reads and writes, where there is one */
  int64_t staging_bytes;     /* of the host's budget, for the way to the SSD; what else it has for values is the problem's */
  const Problem *problem;
  ProblemMeta meta;          /* for its file */
} PlanningProblem;

/* A decision taken by the user: only these fates for values whose name matches. */
typedef struct Pins {
  unsigned *fates; /* per value of the training graph: FATE_BIT mask */
} Pins;

/* ---- caching.c ---- */

/* Of the problem of the first reader, with the parts of each. */
const Cached *cached_parts(Arena *arena, const PlanningProblem *problem, const Parts *const *parts);

/* As a file: gnncc-problem/1. */
const char *planning_problem_text(Arena *arena, const PlanningProblem *problem, size_t *length);
/* `pins` may be NULL; parts: at most so many; `fingerprint` goes into the meta of the problem. NULL with `error` set: the planner cannot take it. */
PlanningProblem *planning_problem(Arena *arena, const Machine *machine, const Residents *residents, const Kernels *kernels,
                                  const Pins *pins, int parts, const char *fingerprint, ProblemError *error);
/* Of the host's memory, for the way of what is at home on the SSD, or would be of `data`: the least. */
int64_t planning_home_staging(const Machine *machine, const Residents *residents, const Parts *parts, CachedData data);
/* In which order ranks go over values in parts: as the parts are made, so that an exchange is waited for where it begins; with the next table made meanwhile, which leaves once the present one has come;
 * besides, with what leads to no exchange behind it; with both tables on their way. Each wants more room on the device than the one before it. And over whole values: as the graph has its steps, which wants less than steps beside exchanges do. */
typedef enum ExchangeOrder { ORDER_AS_MADE, ORDER_NEXT, ORDER_BESIDE, ORDER_BOTH, ORDER_OF_GRAPH, EXCHANGE_ORDER_COUNT } ExchangeOrder;
bool planning_has_order(const PlanningProblem *problem, ExchangeOrder order);
const PlanningProblem *planning_problem_in_order(Arena *arena, const PlanningProblem *problem, ExchangeOrder order); /* `problem` is in the order as made */
/* The parts of such a problem, with what of them is cached on the host. */
const Parts *planning_parts(Arena *arena, const Machine *machine, const Residents *residents, const Kernels *kernels, int parts, const char *fingerprint);
int problem_part_of_piece(const PlanningProblem *problem, int piece);
const char *problem_piece_name(const PlanningProblem *problem, ValueId value, int part); /* "h[2/4]" */

/* base_order.c: sets the order of the steps where ops have chunks, all of them equally many; sums_of_datum as in PlanningProblem. */
void order_by_parts(Arena *arena, Problem *problem, const PlanningProblem *planning);

/* exchange_order.c: the same where ranks exchange rows, so that there is compute beside that. */
void order_by_exchanges(Arena *arena, Problem *problem);
/* parts_ahead.c: another order of an expanded problem's steps, likewise; it is to be expanded again. */
void order_ahead(Arena *arena, Problem *problem, ExchangeOrder kind);

/* ---- plan.c ---- */

typedef struct Plan {
  const PlanningProblem *problem;
  const PlannerPlan *planned; /* NULL: nothing fits, the report says what would */
  PlannerReport report;
  bool is_valid;              /* it can be run */
  bool is_early;              /* not planned, or as large as it is, for what is there before the first epoch (Residents.early_bytes) */
  /* The plan run through S13. */
  const Sequence *sequence;
  const Simulation *simulation;
} Plan;

Plan *plan(Arena *arena, const PlanningProblem *problem, const PlannerOptions *options);
/* The best plan found whose copies do not go where these fates would bring them (FATE_BIT mask), with the claims of `found`, a plan
 * of the same problem without that. NULL: there is none. */
Plan *plan_avoiding(Arena *arena, const PlanningProblem *problem, const PlannerOptions *options, unsigned fates, const Plan *found);
/* The same plan with the bound that more work proves. */
const Plan *plan_with_bound(Arena *arena, const Plan *plan, PlannerEffort effort);
/* The same decisions as the text of a gnncc-plan/1. NULL with `error` set: it is not a plan for this problem. */
Plan *plan_from_text(Arena *arena, const PlanningProblem *problem, const char *text, size_t length, ProblemError *error);
/* The bytes of a tier that a plan fits. */
int64_t plan_needs(const PlannerReport *report, Tier tier);
const char *verify_plan(const Plan *plan);
/* Where nothing fits: what is on the device together at the step that binds, as the model names it, the residents as one. */
const char *plan_bind(Arena *arena, const Plan *plan);

/* ---- schedule.c ---- */

typedef enum StepKind { STEP_KERNEL, STEP_COPY, STEP_WAIT } StepKind;

typedef struct Step {
  int number;       /* from 1, its index plus 1; the same in listings, reports, emitted code and errors */
  StepKind kind;
  Lane lane;
  const Kernels *kernels;
  int32_t kernel;   /* STEP_KERNEL: index into kernels->kernels */
  const Parts *parts;
  int part;         /* STEP_KERNEL: whose rows it is run over */
  bool is_rerun;
  int copy;         /* STEP_COPY, STEP_WAIT: index into copies; else NO_INDEX */
  bool is_arrival;  /* STEP_WAIT: what comes is needed; else the place of what leaves */
  int boundary;     /* the steps between one kernel and the next have the latter's; counted from 0 over the whole schedule */
  double start_seconds;
  Cost cost;
  double slowed_seconds; /* STEP_KERNEL: of .cost.seconds, what the copies beside it take */
  Place place;
  const char *what; /* "conv1_lin = dropout(x) @ conv1.lin.weight" */
  const char *said; /* the same with the names that are for users: "conv1.lin = ..." */
} Step;

/* A transfer between the device and another tier; through the host to the SSD it is two of them. On LANE_NET: rows of a table from other ranks, for which others are sent. */
typedef struct Copy {
  int step;            /* index */
  Lane lane;
  const Kernels *kernels;
  ValueId value;
  int part;
  int64_t bytes, room; /* room: what the plan counts */
  Tier tier;           /* TIER_HOST or TIER_SSD: where the value goes or comes from */
  bool is_out, is_by_ring; /* by the ring: between it and the device, or (lanes of the SSD) between it and the SSD */
  int boundary;        /* at which the block of the device holds the value; for STEP_COPY of the SSD lanes too */
  int slot;            /* which copy in the other tier: index into Schedule.slots */
  int after[2];        /* copies on other lanes that must be complete, or NO_INDEX */
  double slows_seconds; /* how much longer compute takes beside it */
  ExchangeCost exchange; /* on LANE_NET; `tier` and `slot` are none then, and `bytes` is the most that leaves one rank */
} Copy;

static inline bool copy_is_exchange(const Copy *copy) { return copy->lane == LANE_NET; }

/* Of an exchange, which leaves what it has packed. */
static inline const Kernel *copy_kernel(const Copy *copy) { return &copy->kernels->kernels[copy->kernels->made_by[copy->value]]; }

/* One of its ends is the device: all but the hops between the ring and the SSD. */
static inline bool copy_touches_device(const Copy *copy) {
  return copy->lane == LANE_D2H || copy->lane == LANE_H2D || !copy->is_by_ring;
}

/* The room of one piece in the host arena or on the SSD. */
typedef struct Slot {
  Tier tier;
  int64_t bytes;
  int first, last;  /* boundaries */
  const Kernels *kernels;
  ValueId value;
  int part;
  bool is_home;     /* where data that stay away lie, or what is to be there in the end: the whole run, but for scores on the host */
  int away;         /* is_home: index into Residents.away */
} Slot;

/* The steps of one training epoch, then those of one evaluation, then those before the first epoch; the numbers go on, as do the boundaries. */
typedef struct Schedule {
  int count, training_count, backward_end; /* steps [0, training_count) train, the update starts at backward_end; those up to `count` evaluate */
  int once_count;      /* behind these: what is computed once */
  Step *steps;
  int copy_count;
  Copy *copies;
  int slot_count;
  Slot *slots;
  int boundary_count, training_boundaries, once_boundary; /* once_boundary: the first of what is computed once, or boundary_count */
  int *kernel_step;    /* per boundary: the index of its kernel's step */
  const Plan *training_plan, *evaluation_plan, *once_plan; /* training_plan: NULL without a train block; once_plan: where nothing is computed once */
  double training_seconds, evaluation_seconds, once_seconds;
  double rerun_seconds, wait_seconds, slowed_seconds; /* of training_seconds */
  struct NetTotals {
    int exchanges, transposed, by_host; /* transposed: of columns, for sums over all rows, or back */
    int64_t bytes, most_bytes; /* of all ranks; of the most that leave or reach one in each */
    double seconds, wait_seconds;
  } net, net_once;   /* of an epoch, or where nothing trains of an evaluation; of what comes before the first */
} Schedule;

/* `once`: before the first epoch; NULL: nothing is. */
Schedule *schedule(Arena *arena, const Machine *machine, const Plan *training, const Plan *evaluation, const Plan *once);
static inline int schedule_step_count(const Schedule *schedule) { return schedule->count + schedule->once_count; }
const PlanningProblem *schedule_problem(const Schedule *schedule, const Kernels *kernels); /* of the plan whose kernels they are */
/* Of ranks: whether something passes from device to device, or through the host. Sums over all rows pass directly where anything does. */
bool schedule_passes_directly(const Schedule *schedule, const Machine *machine);
bool schedule_passes_host(const Schedule *schedule, const Machine *machine);
/* Where a piece waits that is not on the device at a step (an index): index into slots, or NO_INDEX. */
int schedule_slot_at(const Schedule *schedule, const Kernels *kernels, ValueId value, int part, int step);
bool schedule_keeps_all(const Schedule *schedule); /* nothing moves, nothing is made again */
const char *verify_schedule(const Schedule *schedule);
const char *schedule_phase(const Schedule *schedule, int step); /* "forward", "backward", "recompute", "move", "wait", "update", "eval", "once" */
void schedule_print(const Schedule *schedule, bool is_said, FILE *out);

/* slowing.c: the steps from `first` on take the time that a run takes, with compute slowed down by the copies beside it as
 * the links of the machine say; returns their end. Where no link does, `planned_seconds`, and nothing is changed. */
double slow_compute(Arena *arena, const Machine *machine, Schedule *schedule, int first, double planned_seconds);

/* ---- layout.c ---- */

/* A run of bytes in the host arena or in the SSD's file. */
typedef struct Extent {
  int64_t at, bytes;
  bool is_cached; /* of what is at home on the SSD: a part that lies on the host */
} Extent;

typedef struct Layout {
  const Residents *residents;
  int count;
  Block *blocks;         /* the residents first: blocks [0, resident_count) */
  int resident_count;
  int *by_value;         /* indices of those that are no residents, by kernels and value, each value's in the order of `blocks` */
  int64_t bytes;         /* height of the device arena */
  int64_t lower_bound;   /* most bytes alive at any step of the epoch and the evaluation */
  int64_t *live_bytes;   /* per step */
  int64_t *top_bytes;    /* per step: the end of the highest block; what is not alive below it lies in gaps */
  int64_t epoch_bytes;   /* of `bytes`, what the steps take; more is there before them */
  int peak_step;         /* index of a step of these where the top is that of the arena: of those the one where most is alive */
  int once_peak_step;    /* likewise of those before */
  int64_t host_bytes, ssd_bytes, ring_bytes; /* of the host arena, the file, each of the two rings */
  int64_t staging_bytes; /* of the host's memory beside its arena: the rings, and what lanes of the SSD keep for blocks on their way; where there is a host tier, of its budget */
  int extent_count;
  Extent *extents;
  int64_t scores_at;     /* of scores that end on the host: where; on the SSD: where in the device arena, or in the ring where there is one, they are read, so many parts at a time; */
  int scores_together;   /* 0: they do not end on the SSD */
  int *away_extent;      /* per index of Residents.away: the first extent of its parts where they lie on the SSD; away_extent[away_count] is the end */
  int *slot_extent;      /* per slot: its first extent; slot_extent[slot_count] is the end */
  int64_t *ring_at;      /* per copy that passes the ring: its place there */
  int64_t *host_live, *ssd_live; /* per boundary */
} Layout;

/* `is_low`: as low on the device as it can be found; else, where there is one within the budget, any: one size of several that are tried. */
Layout *layout(Arena *arena, const Machine *machine, const Schedule *schedule, const Residents *residents, bool is_low);
const char *verify_layout(const Layout *layout, const Schedule *schedule);
/* Of the host's budget: its arena, and what passes it on the way to the SSD. */
static inline int64_t layout_host_bytes(const Layout *layout) { return layout->host_bytes + layout->staging_bytes; }
/* verify_memory.c: a training epoch, an evaluation, and both again. NULL, or what goes wrong. */
const char *verify_memory(Arena *arena, const Schedule *schedule, const Layout *layout);
/* Where a stored value, or the part of it where it is cut, or a leaf lies at a step (an index); NULL if it has no memory there. */
const Block *layout_at(const Layout *layout, const Kernels *kernels, ValueId value, int part, int step);
const Block *layout_of_sums(const Layout *layout, const Schedule *schedule, int step); /* to which a part of a kernel adds; NULL: nowhere */
const Block *layout_of_sending(const Layout *layout, const Schedule *schedule, const Copy *copy); /* of an exchange: what leaves */
const Block *layout_of_copy(const Layout *layout, const Schedule *schedule, const Copy *copy);

#endif
