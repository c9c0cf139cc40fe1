/* driver.h: one compilation, from text to product. */
#ifndef GNNCC_DRIVER_H
#define GNNCC_DRIVER_H

#include "cuda_compiler.h"
#include "data.h"
#include "emit.h"
#include "options.h"
#include "hoist.h"

typedef struct EvaluationChoice {
  Graph *graph;
  Kernels *kernels;
} EvaluationChoice;

typedef enum FormKind { FORM_PLAIN, FORM_HOISTED } FormKind;

/* The epoch and the evaluation as kernels: each computing all it needs, or with what never changes computed once before. */
typedef struct Form {
  Graph *training, *evaluation; /* training: NULL without a train block */
  Kernels *training_kernels, *evaluation_kernels;
  const Hoisted *hoisted;       /* NULL: nothing is computed once */
  Residents *residents;         /* from the pass `plan` on */
} Form;

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
  Graph *forward;
  Graph *training;       /* NULL without a train block */
  Graph *evaluation;
  Hoisting *hoisting;    /* NULL: there is nothing to compute once */
  bool *is_sparse_field;
  Backend backend;
  const char *tuning_path; /* where a tuning is looked for, or NULL */
  FuseOptions fuse_options;
  Kernels *training_kernels, *evaluation_kernels;
  Form forms[2];         /* by FormKind; the graphs, kernels and residents above and below are those of the one that is chosen */
  FormKind form;
  Machine machine;
  Machine unswept;       /* before --sweep gave its tiers the largest budget */
  const char *fingerprint;
  const char *model_fingerprint; /* without the machine: what a checkpoint must agree with */
  bool is_trying;        /* only whether it fits is asked, nothing is said */
  bool is_probing;       /* fit looks for a size that works: of one that does not, nothing more is asked */
  const char *effort;    /* of the planner while several plans are tried; NULL: as asked for */
  Residents *residents;
  const Pins *pins;      /* NULL: none */
  EvaluationChoice evaluations[2]; /* without and with the results of layers; filled when they are tried */
  bool is_plan_given;    /* by --plan-from */
  Plan *training_plan, *evaluation_plan; /* training_plan: NULL without a train block */
  Schedule *schedule;
  Layout *layout;
  Emission emission;
  struct Workplace *workplace; /* where emit writes and build compiles; NULL before */
  const char *made;      /* what build wrote, for the closing line */
  int status;            /* of a pass that failed otherwise than by a diagnostic; 0: none */
} Compilation;

/* The exit status of the whole compilation. */
int driver_compile(const Options *options, const char *share_dir);

/* Seconds of an epoch were `name` defined so; -1: it does not fit then either. */
double driver_try(const Compilation *compilation, const char *name, const char *value);

/* The same program for the processor, everything kept: the half that checks gradients in double. false: there is none. */
bool driver_emit_for_processor(const Compilation *compilation, FILE *out);

/* build.c. The last two passes, each false after an error: the sources into a directory of their own, and the product
 * out of them by the system's C compiler. Warnings are printed before the C compiler is called. */
bool build_emit(Compilation *c);
bool build_product(Compilation *c);
/* Ends the workplace, unless it is to be kept. */
void build_clean(Compilation *c, int status);
/* Stops the compilers that run. In a handler of signals, too. */
void build_stop(void);

/* A source of gnncc's own to a program, with the compiler and the options that programs are made with; linked with the CUDA runtime
 * and cuBLASLt where `cuda` is not NULL. An exit status, as of build_device_tool: device code of gnncc's own to an image. */
int build_tool(Arena *arena, const Options *options, const char *share_dir, const CudaCompiler *cuda, const char *source, const char *program);
int build_device_tool(Arena *arena, const Options *options, const char *share_dir, const CudaCompiler *cuda, const char *source,
                      const char *architecture, const char *image);
/* What programs for a GPU cannot be compiled and linked without, and is not here; NULL: nothing. */
const char *build_missing_for_cuda(Arena *arena, const Options *options, const char *share_dir, CudaCompiler *found);

/* The names of the passes, for --help=passes; NULL after the last. */
const char *driver_pass_name(int index);

#endif
