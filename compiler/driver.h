/* driver.h: one compilation, from text to product. */
#ifndef GNNCC_DRIVER_H
#define GNNCC_DRIVER_H

#include "data.h"
#include "emit.h"
#include "options.h"

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
  bool *is_sparse_field;
  Kernels *training_kernels, *evaluation_kernels;
  Machine machine;
  Plan *plan;
  Schedule *schedule;
  Layout *layout;
  Emission emission;
  const char *made;      /* what build wrote, for the closing line */
} Compilation;

/* The exit status of the whole compilation. */
int driver_compile(const Options *options, const char *share_dir);

/* build.c: writes the sources and calls the C compiler. 0, or the exit status after saying why. */
int build(Compilation *c);

/* The names of the passes, for --help=passes; NULL after the last. */
const char *driver_pass_name(int index);

#endif
