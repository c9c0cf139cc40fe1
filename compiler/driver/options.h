/* options.h: the command line of gnncc. */
#ifndef GNNCC_OPTIONS_H
#define GNNCC_OPTIONS_H

#include "compiler/lowering/fuse.h"
#include "lang/lang.h"

typedef enum Product {
  PRODUCT_PROGRAM,  /* an executable */
  PRODUCT_SOURCES,  /* -S: a directory */
  PRODUCT_OBJECT,   /* -c: an object and its header */
  PRODUCT_LIBRARY,  /* --lib: a static library and its header */
  PRODUCT_SHARED,   /* --shared */
  PRODUCT_PLAN,     /* --plan: the explanation on stdout */
  PRODUCT_CHECK,    /* --check: diagnostics only */
  PRODUCT_EMIT,     /* --emit=...: text kinds only */
} Product;

typedef enum Formatting {
  FORMATTING_NONE,
  FORMATTING_PRINT, /* --format: to stdout, or -o FILE */
  FORMATTING_CHECK, /* --format=check: the names of files that are laid out otherwise */
  FORMATTING_WRITE, /* --format=write: each file over itself */
} Formatting;

typedef struct EmitRequest {
  const char *kind, *path; /* path NULL: stem.kind.ext; "-": stdout */
} EmitRequest;

typedef struct BudgetRequest {
  const char *tier, *size; /* as written: "device", "24GiB" */
} BudgetRequest;

typedef struct Options {
  Product product;
  const char *input, *output; /* input "-": stdin */
  Formatting formatting;
  bool is_plan_json;
  int emit_count;
  EmitRequest *emits;
  const char *target;  /* NULL: the file's own, if it has one */
  bool takes_first;    /* the first plan that fits will do: a change that is tried for a refusal */
  bool is_native;      /* this computer, whatever the file says */
  const char *calibrate; /* --calibrate: the name of the target, "" without one; NULL: not asked for */
  const char *tune;      /* --tune: the file to write, "" for the cache; NULL: not asked for */
  const char *tuning;    /* a file, or "none"; NULL: the cache's */
  struct Trial *trial;   /* of tune.c; NULL: an ordinary compilation */
  const char *profile;   /* what ./train profile wrote, or NULL */
  int budget_count;
  BudgetRequest *budgets;
  int ranks;                  /* --ranks; 0: as many as the target has devices */
  double halos;               /* --halos, where has_halos */
  bool has_halos;
  CutWish cut;                /* --cut; CUT_UNSAID: not said */
  const char *plan_effort, *policy, *plan_from; /* NULL: not said */
  const char *sweep;          /* --sweep TIER=LOW:HIGH[:STEP][,TIER=...] */
  const char *measured;       /* --measured=RUN.json */
  const char *compare;        /* --compare A B: A; B is the input */
  int more_count;             /* models after the first, for --sweep and --format */
  const char **more;
  struct json_t *sweeps;      /* where those of several models are collected; NULL: one model */
  double plan_seconds;        /* 0: no limit */
  const char *backend;        /* NULL: the target's */
  const char *architecture, *cuda_compiler; /* "sm_80"; "nvcc", "nvrtc"; NULL: not said */
  Precision precision;
  const char *gemm, *spmm;    /* "own", "cublas"; "own", "cusparse"; NULL: not said */
  bool is_simulated;          /* --backend=sim */
  int define_count;
  LangDefine *defines;
  const char *data_name, *data_path; /* --data [NAME=]PATH */
  bool is_shapes_only;
  int import_dir_count;
  const char **import_dirs;
  char optimisation;          /* '0' to '3', or 'g': with the kernels of -O2, the default, compiled for a debugger */
  bool is_fusing, is_reassociating, is_hoisting, is_placing, is_staging, is_debugging;
  bool is_slicing;            /* sums may run by slices of their columns */
  bool has_double;            /* -fgradcheck: with the double-precision twin that ./PROGRAM gradcheck runs */
  const char *prefix, *name;
  const char *dump, *stop_after; /* pass names */
  bool is_verifying, is_timing, is_verbose, is_quiet, is_dry_run, is_forced;
  int cpu_count;
  const char **cpus;          /* --cpu: processors that the program is compiled for; none: this one */
  const char *cc;
  int cc_option_count;
  const char **cc_options;
  bool is_saving_temps;
  const char *temps_dir;      /* --save-temps=DIR; NULL: under a name of their own */
  bool is_expanding;          /* -E: the program after imports, constants, unrolling; nothing is compiled */
  bool is_serving;            /* --lsp */
  bool is_single_file;        /* --single-file: the sources of -S as one .c and one .h */
  const char *nvcc;           /* --nvcc, NVCC; NULL: the toolkit's */
  int nvcc_option_count;
  const char **nvcc_options;
  bool is_listing_dependencies, has_dependency_file; /* -M: a rule of make, and no compilation; -MD: beside it */
  bool has_phony_dependencies; /* -MP */
  const char *dependency_file; /* -MF */
  int dependency_target_count;
  const char **dependency_targets; /* -MT */
  DiagFormat format;
  DiagColor color;
  int error_limit;
  int warning_count;
  const char **warnings;      /* -W options without the -W; "" for -w */
} Options;

/* Fills *options. Returns -1 to go on, or the status to exit with when the command line was a question that is answered
 * (--help, --version, --list, ...) or wrong (2; said on stderr). passes: their names, NULL after the last. */
int options_parse(Arena *arena, int argc, char **argv, const char *share_dir, const char *const *passes, Options *options);

enum { STEM_MAX = 200 }; /* bytes of the name that products begin with: a file's name has 255, and endings follow */

/* false after a message: a word has control characters or is not UTF-8 */
bool options_are_text(int count, char **words);

/* --emit, or an option that stands for it, asks for this kind. */
bool options_emitted_product(const char *kind, Product *product); /* obj, lib, shared and exe; false: the kind is a text */
bool options_emits(const Options *options, const char *kind);

#endif
