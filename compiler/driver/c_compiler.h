/* c_compiler.h: the C compiler that makes the programs, and the processors that it makes them for. */
#ifndef GNNCC_C_COMPILER_H
#define GNNCC_C_COMPILER_H

#include "options.h"
#include "compiler/emit/emit.h"

typedef struct CCompiler {
  const char *command;  /* as it is called, perhaps with words: "ccache gcc" */
  const char *machine;  /* "x86_64": of what machines its programs are */
  bool is_foreign;      /* not of this one: neither "native" nor the library that was built with gnncc is for them */
  const char *archiver; /* "ar" */
  int processor_count;  /* 1 or more */
  const Processor *processors;
} CCompiler;

#define C_COMPILER "cc" /* where none is named */

const char *c_compiler_named(const Options *options); /* by --cc or CC; NULL: none is */
/* Where another compiler than cc is named it is asked what it compiles for; what cannot be run is taken to compile for this machine. */
CCompiler c_compiler_find(Arena *arena, const Options *options);

#endif
