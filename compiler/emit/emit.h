/* emit.h: the products as C. The emitter decides nothing: steps, offsets, loops and scratch are given. */
#ifndef GNNCC_EMIT_H
#define GNNCC_EMIT_H

#include "compiler/plan/answer.h"
#include "compiler/plan/process.h"
#include "compiler/version.h"
#include "runtime/core/blocks.h"
#include "runtime/gnnrt.h"

/* What the source is compiled for. */
typedef struct Processor {
  const char *name;       /* "x86-64-v3" */
  const char *option;     /* "-march=", "-mcpu=": with it the name is said to the C compiler; NULL: the compiler knows */
  const char *identifier; /* "x86_64_v3" */
} Processor;

typedef struct Emission {
  Arena *arena;
  const TypedProgram *program;
  const Machine *machine;
  const Plan *training_plan; /* NULL without a train block */
  const Plan *evaluation_plan;
  const Schedule *schedule;
  const Layout *layout;
  Process process;
  const KeepOrder *keep_order; /* which the program checks its plan against; NULL: none */
  int values_by_fate[FATE_COUNT]; /* of the epoch */
  const Kernels *training;   /* NULL without a train block */
  const Kernels *evaluation;
  const bool *is_sparse_field;
  Backend backend;
  const char *architecture;  /* BACKEND_CUDA: "sm_80", or "compute_75": for all from that on */
  bool has_lines;            /* with #line of the model, for debuggers */
  bool has_double;           /* it comes with a double-precision twin */
  double slowdown;           /* 0: the program is for the machine it runs on; else the other machine's times, times this */
  const char *prefix;        /* of the embedding API's symbols: an identifier */
  const char *fingerprint;   /* 12 hexadecimal digits */
  const char *model_fingerprint; /* the same without the machine: what a checkpoint must agree with */
  const char *plan_json;
  const char *model_path;    /* as shown in comments and messages */
  const char *source_text;   /* of the model */
  const char *cc;            /* the C compiler that the user named, or NULL */
  const char *cc_options, *nvcc_options; /* -Xcc and -Xnvcc, each with a blank before it; NULL: none */
  int processor_count;       /* builds of the program; the first is its library, too */
  const Processor *processors;
} Emission;

/* The scores of an evaluation end on the host or the SSD. */
/* Loss and hits are of parts, with their labelled rows, which lie on the host. */
static inline bool are_rows_away(const Emission *m) {
  const int *rows = m->layout->residents->rows_away;
  return rows[SPLIT_TRAIN] != NO_INDEX || rows[SPLIT_VALID] != NO_INDEX || rows[SPLIT_TEST] != NO_INDEX;
}
static inline bool are_scores_away(const Emission *m) { return m->layout->residents->scores_away != NO_INDEX; }
/* Of a program of ranks: how its nodes are shared out; NULL: it is none. */
static inline const RankInfo *ranks_of(const Emission *m) { return m->program->info->is_of_rank ? m->program->info->ranks : NULL; }
static inline int blocks_of_part_of_rank(const RankInfo *ranks) { return 1 << (gnn_block_levels(ranks->nodes) - ranks->part_levels); }

/* Of a program of ranks: by which lists (GNN_HALO_*) the rows of a halo kernel leave. */
static inline int halo_of_ranks(const Graph *graph, const Kernel *kernel) {
  const HaloKind kind = kernel_exchange_kind(kernel, graph);
  if (kind >= HALO_OF_EDGES) return (int)kind;
  return kind == HALO_FOR_SRC && !graph->program->info->is_symmetric ? GNN_HALO_OUT : GNN_HALO_IN;
}
/* What is exchanged so. */
static inline HaloKind kind_of_halo(int halo) { return halo >= GNN_HALO_EDGES ? (HaloKind)halo : halo == GNN_HALO_OUT ? HALO_FOR_SRC : HALO_FOR_DST; }

void emit_source(const Emission *emission, FILE *out); /* PREFIX.c */
bool emit_is_own_twin(const Emission *emission); /* the twin is the same source, compiled another time */
void emit_header(const Emission *emission, FILE *out); /* PREFIX.h */
void emit_main(const Emission *emission, FILE *out);   /* main.c */
void emit_plan_text(const Emission *emission, FILE *out); /* PREFIX_plan.inc */
/* emit_makefile.c */
void emit_makefile(const Emission *emission, FILE *out);
bool emit_has_nccl(const Emission *emission); /* ranks that exchange some rows from GPU to GPU */
/* emit_folder.c: what else lies beside the sources. */
void emit_cmake(const Emission *emission, FILE *out);    /* CMakeLists.txt */
void emit_manifest(const Emission *emission, FILE *out); /* manifest.json: the header for other languages */
void emit_example(const Emission *emission, FILE *out);  /* example.py */

/* emit_domain.c: sets of rows and of edges, in words of emitted code. */
const char *emit_set_name(Arena *arena, const DataInfo *info, Domain domain); /* enumerator of a relation or of a type of nodes: "EDGES_cites" */
void emit_sets(Arena *arena, const DataInfo *info, FILE *out);               /* the enumerators */
const char *emit_edge_set(Arena *arena, const DataInfo *info, Domain edges); /* "g->sets[EDGES_cites]" */
const char *emit_row_count(Arena *arena, const DataInfo *info, Domain domain, int64_t lead); /* "g->nodes * 4" */
const char *emit_domain_word(Domain domain); /* "GNN_NODE" */
const char *emit_rows_word(Domain domain);   /* "GNN_ROWS_NODE" */
int emit_set_number(Domain domain);          /* gnn_field_desc.set */

/* emit_names.c */
bool emit_is_keyword(const char *name);  /* of C or C++ */
bool emit_is_reserved(const char *name); /* the same, or the functions of steps have a variable of that name */
bool cpu_name_is_right(const char *name); /* --cpu=NAME: a word that C, make and shells take as it is */
const char *emit_prefix(Arena *arena, const char *text); /* an identifier that collides with nothing in the emitted C */

/* emit_api.c: the embedding API, one function of the runtime's job behind each. */
void emit_api(const Emission *emission, FILE *out);

/* "DECLARATION = {1, 2};": what the classes weigh in the loss. */
void emit_class_weights(const Emission *emission, const char *declaration, FILE *out);

/* emit_arguments.c: what gnn_part_of looks rows up in, where something is gathered from pieces. */
const char *emit_part_row(const Emission *emission, const char *part); /* "g->blocks.first[1 * 4]": where the rows of a part begin, which is a number of C from 0 on */
void emit_row_parts(const Emission *emission, const char *qualifier, FILE *out);

/* emit_expr.c: a scalar expression over numbers and options, in double, as C. */
const char *emit_scalar(const Emission *emission, TypedId id);
/* Text in which ` stands for the prefix and ~ for the prefix in capitals. */
void emit_put(const Emission *emission, FILE *out, const char *text);
/* A number as a literal that keeps it exactly in float and in double builds. */
const char *emit_real(Arena *arena, double number);

#endif
