/* compilation.h: one compilation, from text to product: the products of the passes, in their order. */
#ifndef GNNCC_COMPILATION_H
#define GNNCC_COMPILATION_H

#include "options.h"
#include "compiler/explain/explanation.h"
#include "compiler/graph/data.h"
#include "compiler/graph/hoist.h"

typedef struct Compilation {
  Arena *arena;
  const Options *options;
  const char *share_dir; /* holds std/, targets/, examples/, gnnrt.h, gnnrt.c, libgnnrt.a */
  Diags *diags;
  LangOptions lang;
  DataReader reader;
  const char *model_path, *stem;
  char *text;
  size_t length;

  /* The products, in the order of the passes. */
  Ast *ast;
  TypedProgram *program;
  int ranks;             /* among which the nodes are shared out; 1: there is one process */
  const TypedProgram *rank; /* the same with the sizes of one of several ranks; NULL: there is one process */
  const TypedProgram *rank_with_all; /* and with the whole graph beside its rows, for sums over columns of all; made when first asked for (program_of_cut) */
  Graph *forward;
  Graph *training;       /* NULL without a train block */
  Graph *evaluation;
  bool is_hoisting;      /* what never changes may be computed once */
  Hoisting *hoisting;    /* NULL: there is nothing to compute once */
  bool *is_sparse_field;
  Backend backend;
  const char *tuning_path; /* where a tuning is looked for, or NULL */
  FuseOptions fuse_options;
  Kernels *training_kernels, *evaluation_kernels; /* of the plain form, the latter with the results of layers */
  Form forms[FORM_COUNT];
  Machine machine;
  int64_t machine_bytes[TIER_COUNT]; /* of its tiers before any budget was said */
  Machine unswept;       /* before --sweep gave its tiers the largest budget */
  const char *fingerprint;
  const char *model_fingerprint; /* without the machine: what a checkpoint must agree with */
  const DataInfo *known_info; /* of the data, which are not read then; or NULL */
  int64_t planning_work; /* as of PlanRequest */
  bool is_trying;        /* only whether it fits is asked, nothing is said */
  PlanRequest request, asked; /* of the plan; the same before a cut was chosen */
  int cut_count;         /* cuts whose forms were made (cut_forms.c) */
  struct CutKept {
    Cut cut;
    const CutForms *forms;
  } *cuts;
  const PlanAnswer *answer;
  Emission emission;
  Explanation explanation;
  struct Workplace *workplace; /* where emit writes and build compiles; NULL before */
  const char *double_source; /* the double-precision twin that gradcheck runs; NULL: none */
  const char *made;      /* what build wrote, for the closing line */
  const char *delivered; /* its name */
  int status;            /* of a pass that failed otherwise than by a diagnostic; 0: none */
} Compilation;

#endif
