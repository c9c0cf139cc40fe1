/* fuse.h: the frozen graph as kernels.
 *
 * A kernel is one loop nest: an anchor (a product, a sum over edges, a reduction, or nothing) and a body of point values
 * computed for each row as soon as the anchor has it. Values are either stored (written by the kernel that makes them,
 * read by others), or exist only inside kernels; the latter are computed again wherever they are needed, so that no
 * value of the size of the edges times a width is stored unless a matrix product wants it.
 */
#ifndef GNNCC_FUSE_H
#define GNNCC_FUSE_H

#include "compiler/graph/graph.h"

/* What the kernels are printed for: how loops are divided and what scratch they need. */
typedef enum Backend { BACKEND_CPU, BACKEND_CUDA } Backend;

/* Of the factors of dense products; in bf16, of large stored values too (choose_half.c). Every sum is fp32. */
typedef enum Precision { PRECISION_FP32, PRECISION_TF32, PRECISION_BF16, PRECISION_COUNT } Precision;

/* Who computes a product or a sum on a GPU. */
typedef enum Library { LIBRARY_NONE, LIBRARY_CUBLASLT, LIBRARY_CUSPARSE, LIBRARY_COUNT } Library;

typedef struct FuseOptions {
  bool is_fusing;
  bool is_placing; /* results may lie where operands do: places.c */
  bool is_staging; /* sums over the edges of a row follow each other in one kernel, on a processor */
  bool is_padding; /* rows_are_padded */
  Backend backend;
  /* Of BACKEND_CUDA: */
  Precision precision;
  bool is_gemm_own, is_spmm_by_library;
  bool is_gemm_said, is_spmm_said; /* by the command line: no tuning changes it */
  struct Tuning *tuning;           /* NULL: every kernel is the usual variant */
  int trial;                       /* every kernel that has so many is variant number `trial`; without a tuning */
} FuseOptions;

typedef enum KernelKind {
#define KERNEL(name, text, what, body, fold, loops, cost, says, variants, cpu, shared, cuda) KERNEL_##name,
#include "kernel_kinds.h"
#undef KERNEL
  KERNEL_KIND_COUNT
} KernelKind;

/* Where point values join a kernel. */
typedef enum BodyPlace { BODY_NOWHERE, BODY_ON_NODES, BODY_EVERYWHERE } BodyPlace;

typedef enum Fold {
#define FOLD(name, text, code, start) FOLD_##name,
#include "folds.h"
#undef FOLD
  FOLD_COUNT
} Fold;

typedef struct FoldInfo {
  const char *name, *code, *start;
} FoldInfo;

extern const FoldInfo fold_info[FOLD_COUNT];

typedef struct KernelInfo {
  const char *name;
  BodyPlace body;
  Fold fold;
} KernelInfo;

extern const KernelInfo kernel_info[KERNEL_KIND_COUNT];

/* What of a kernel's body a library computes with the product or the sum; the rest is a kernel of our own over its rows. */
typedef struct Epilogue {
  ValueId result, place; /* what it leaves, and the output in whose memory */
  ValueId bias;          /* a weight, or NO_VALUE */
  ValueId addend;        /* a stored value of the product's shape, or NO_VALUE */
  bool is_relu;
  int body_count;        /* so many values of the body are done */
} Epilogue;

/* Who computes a kernel on a GPU, or how ours divides its work. Names are unique among those of a kernel. */
typedef struct Variant {
  const char *name;            /* "by cuBLASLt", "in tiles of 64 x 64", "by 16 lanes" */
  Library library;
  int tile_rows, tile_columns; /* of our own KERNEL_MATMUL and KERNEL_OUTER */
  int lanes;                   /* of a row; 0: as many as it has elements, up to a warp */
} Variant;

typedef struct Kernel {
  KernelKind kind;
  ValueId anchor;     /* KERNEL_MAP: the first value of the body */
  int body_count;
  ValueId *body;      /* point values in order; for KERNEL_MAP the anchor is the first of them. KERNEL_UPDATE: more updates. Of sums over
                       * edges: further ones over the same edges, each before the point values made of it (Stage); of a sum over all
                       * edges one over those of each row, which the same walk computes */
  int output_count;
  ValueId *outputs;   /* what is stored, of the anchor and the body */
  ValueId *over;      /* per output: the input in whose memory it may lie, or NO_VALUE (places.c) */
  int input_count;
  ValueId *inputs;    /* stored values and leaves with storage that it reads, each once */
  int64_t work_bytes; /* scratch: packed matrices, open sums */
  int64_t task_rows;  /* rows a task, for loops over rows that are not split by the graph's bounds */
  int walker_levels;  /* of a sum over all rows: at most 2^walker_levels walkers share the runs of them (runtime/core/blocks.h) */
  int64_t walkers;    /* of all parts of a rank, so many in all */
  bool draws_by_node; /* it drops rows of nodes, its own or, too, */
  bool draws_far;     /* others: at far ends of edges, or where sparse features of a column are not 0 */
  bool draws_by_edge; /* it drops rows of edges */
  Phase phase;
  Variant variant;    /* BACKEND_CUDA */
  int variant_count;
  const Variant *variants; /* that there are, the usual one first */
  bool is_tuned;      /* it is not the usual one */
  bool is_of_two;     /* of a sum over the edges of each row: its second stage is computed in the same walk, and reads nothing of the first */
  Library library;    /* the variant's */
  bool comes_again;   /* KERNEL_HALO of ranks: rows of others that never change, in every epoch or evaluation */
  Epilogue epilogue;  /* where a library computes a KERNEL_MATMUL or a KERNEL_SPMM */
} Kernel;

typedef struct Kernels {
  const Graph *graph;
  Backend backend;
  Precision precision;
  bool is_padded;    /* rows of odd widths are */
  int kernel_count;
  Kernel *kernels;
  int32_t *made_by;  /* per value: its kernel, NO_INDEX for leaves and values that exist only inside kernels */
  bool *is_stored;   /* per value: has memory of its own for some steps */
  bool *is_half;     /* per value that has storage: it is kept in bf16 */
  bool asks_others;  /* of a rank: some kernel would read rows of other ranks that are in no table */
  ValueId *storage;  /* per value: the value in whose memory it lies (a reshape lies in its operand's); else itself */
  struct EdgeNeeds {
    bool in, out, out_edge; /* directions that kernels walk */
    bool degree[2];         /* by EdgeEnd, as these: */
    bool ids[2];            /* kernels that sum there, or that go over edges alone, ask who is at the other end */
    bool halo[2];           /* others gather from halos */
    bool has_edge_halo;     /* some from those of edges */
  } *needs;                 /* per set of edges */
} Kernels;

/* Which fields are kept by their non-zeros: mostly zero, and used as nothing but the left side of products. */
bool *sparse_fields(const Graph *graph);

/* The ids at the other ends of the edges that a kernel goes over, where they are a value of the graph (Graph.neighbours); else NO_VALUE. */
ValueId kernels_neighbours(const Kernels *kernels, const Kernel *kernel);

/* Likewise where the edges of each of its rows begin (Graph.offsets). */
ValueId kernels_offsets(const Kernels *kernels, const Kernel *kernel);

/* Which rows a kernel copies to halos, and where one that goes over out-edges finds the values on these in halos, likewise (Graph.halo_rows, .edge_codes). */
ValueId kernels_out_edges(const Kernels *kernels, const Kernel *kernel); /* the numbers of the edges that it goes over from their sources, likewise, where it asks for them (Graph.out_edges) */
ValueId kernels_edge_ids(const Kernels *kernels, const Kernel *kernel); /* what the data call the edges that it drops, in the order in which it goes over them, likewise (Graph.edge_ids) */
ValueId kernels_halo_rows(const Kernels *kernels, const Kernel *kernel);
ValueId kernels_edge_codes(const Kernels *kernels, const Kernel *kernel);

/* What a product with sparse features goes over, where that is values of the graph (Graph.entries): where their numbers stand, and the numbers; else NO_VALUE. */
ValueId kernels_entries(const Kernels *kernels, const Kernel *kernel, bool is_number);
ValueId kernels_entry_offsets(const Kernels *kernels, const Kernel *kernel); /* and where those of each row begin (Graph.entry_offsets) */

Kernels *fuse(Graph *graph, const bool *is_sparse_field, const FuseOptions *options);
const char *verify_kernels(const Kernels *kernels);
void kernels_dump(const Kernels *kernels, FILE *out);
/* describe.c: "conv1.lin = dropout(x) @ conv1.lin.weight" */
const char *kernel_what(const Kernels *kernels, const Kernel *kernel);
const char *kernel_said(const Kernels *kernels, const Kernel *kernel); /* with the names that are for users */

/* places.c */
void choose_places(Kernels *kernels, bool is_placing);
bool kernel_shares_place(const Kernel *kernel, ValueId value); /* it may lie where another value of the kernel does */

/* A sum or an extreme over the edges of each row, and the point values that follow it before the next one of the kernel: a softmax over edges and the sum
 * that it weighs are three, done for a row before the next row is begun. What a stage leaves for later ones is a row. */
typedef struct Stage {
  ValueId anchor;
  int begin, end; /* of the kernel's body */
} Stage;

enum { MOST_STAGES = 8 };

bool kernel_folds_edges(KernelKind kind); /* a sum or an extreme over the edges of each row */
bool kernel_folds_rows(KernelKind kind);  /* over all rows */
int kernel_stages(const Kernels *kernels, const Kernel *kernel, Stage *stages); /* at most MOST_STAGES; 1 where there is one anchor or none */
KernelKind stage_kind(const Kernels *kernels, const Kernel *kernel, const Stage *stage);
bool kernel_sums_rows_too(const Kernel *kernel); /* a sum over all edges and, in the same walk, one over those of each row, its second stage */

/* choose_half.c */
void choose_half(Kernels *kernels, const bool *is_sparse_field);
bool kernels_is_half(const Kernels *kernels, ValueId id);   /* what is read where it lies is bf16 */
bool kernels_read_rounded(const Kernels *kernels, ValueId id); /* it is kept in bf16, and every kernel has it so; false: some have it as it was computed */
/* Whether whatever `after` computes has each operand as `before` has it, rounded or as it was computed. Where not, `graph`, of which `after` are the
 * kernels, is marked (is_exact, is_loaded) for kernels that may be made of it instead, if there are such marks. What a value was in `before`, `origin`
 * says, NO_VALUE of what was not there; where that is NULL, the values' own. */
typedef enum RoundAlike { ROUND_ALIKE, ROUND_MARKED, ROUND_OTHERWISE } RoundAlike;
RoundAlike kernels_round_alike(const Kernels *after, const ValueId *origin, const Kernels *before, Graph *graph);

/* row_stride.c */
typedef struct Padding {
  int64_t width, stride; /* numbers of a row, and from a row to the next; both 0 where rows are not padded */
} Padding;

/* Whether rows of odd widths are padded in a program of these graphs; training may be NULL. */
bool rows_are_padded(const Graph *training, const Graph *evaluation, Backend backend);
int64_t row_padded(int64_t width, int64_t number_bytes); /* numbers, to the next multiple of 16 bytes */
bool kernels_has_aligned_rows(const Kernels *kernels, ValueId id); /* of whole multiples of 16 bytes */
int64_t kernels_row_stride(const Kernels *kernels, ValueId id); /* from a row of its storage to the next: numbers; of packed bits words */
int64_t kernels_row_bytes(const Kernels *kernels, ValueId id);
Padding kernels_padding(const Kernels *kernels, ValueId id);
int64_t kernels_bytes(const Kernels *kernels, ValueId id);      /* of its storage, were it stored */

/* choose_library.c */
void choose_libraries(Kernels *kernels, const FuseOptions *options);
/* Whether whatever both compute adds up in the same order; not where a library computes more of a body in one of them, or a row
 * has other lanes. By names, which both graphs share. */
bool kernels_add_alike(const Kernels *a, const Kernels *b);
const char *library_name(Library library);
const char *precision_name(Precision precision);
bool kernels_use(const Kernels *kernels, Library library); /* NULL uses none */
/* Of scratch for the matrix and the bias of a product: what is multiplied with bf16 is rounded, and rows of a matrix that are no whole number
 * of 16 bytes are padded where those of the other operands are, unless all is fp32. 0: they are taken as they are. */
int64_t library_matrix_bytes(const Kernels *kernels, const Kernel *kernel);
int64_t library_bias_bytes(const Kernels *kernels, const Kernel *kernel);
int64_t library_matrix_stride(const Kernels *kernels, const Kernel *kernel); /* of its rows there */
int64_t library_buffer_bytes(const Kernels *kernels);      /* that the plan has for each direction and width of sums by cuSPARSE */
/* What kernels have in common whose variants take as long: kind and sizes. */
const char *variant_key(const Kernels *kernels, const Kernel *kernel);

/* tuning.c */
const char *tuning_choice(const struct Tuning *tuning, const char *key); /* the name of the best variant, or NULL */
void tuning_refuse(struct Tuning *tuning, const char *key, const char *name); /* there is no such variant */

/* Some columns of the rows that the kernel, or a stage of one, computes, copied out there. */
static inline bool kernel_copies_tile(const Kernels *kernels, const Kernel *kernel, ValueId id) {
  bool is_in_body = false;
  for (int b = 0; b < kernel->body_count && !is_in_body; b++) is_in_body = kernel->body[b] == id;
  return is_in_body && kernel->anchor != id && kernels->graph->values[id].op == OP_TILE;
}

/* A value that no kernel makes: it is computed where it is used. */
static inline bool kernels_is_virtual(const Kernels *kernels, ValueId id) {
  OpKind kind = op_info[kernels->graph->values[id].op].kind;
  return kind != OP_KIND_LEAF && kernels->made_by[id] == NO_INDEX && kernels->storage[id] == id;
}

/* Slices side by side that no kernel makes: whoever reads rows puts them together (cut.c). */
static inline bool kernels_is_joined(const Kernels *kernels, ValueId id) { return kernels->graph->values[id].op == OP_CONCAT && kernels_is_virtual(kernels, id); }

#endif
