/* lang.h: text to typed program. The whole front end behind one call per pass. */
#ifndef GNNCC_LANG_H
#define GNNCC_LANG_H

#include <stdio.h>

#include "arena.h"
#include "diag.h"
#include "suggest.h"
#include "typed.h"

typedef struct Ast Ast; /* ast.h */

typedef struct LangDefine {
  const char *name, *value; /* -D name=value; value is parsed as an expression */
} LangDefine;

/* Reads the data that a spec names, applies its recipe and describes the result. Messages go to `diags` (E07xx, W07xx)
 * at the places of the spec; false after an error. The reader is the runtime's; lang never opens a data file. */
typedef bool DescribeData(void *user, const DataSpec *spec, Diags *diags, DataInfo *info);

/* Of data without files: types of nodes and relations as they are declared, the type of the labels first. False after a message. */
bool lang_describe_relations(Arena *arena, Diags *diags, const DataSpec *spec, DataInfo *info);
/* Candidate pairs, and with them the splits; once fields and edges are known. */
void lang_describe_pairs(Arena *arena, const DataSpec *spec, DataInfo *info);

typedef struct LangOptions {
  int define_count;
  const LangDefine *defines;
  int import_dir_count;
  const char **import_dirs;  /* -I, then GNNCC_PATH, in order */
  const char *share_dir;     /* holds std/ and targets/ */
  const char *target;        /* --target, or NULL */
  const char *data_override; /* --data PATH (any readable kind) or NULL */
  const char *data_name;     /* --data NAME=PATH: what the data must be called, or NULL */
  bool is_shapes_only;       /* --shapes */
  DescribeData *describe;
  void *describe_user;
  struct LangUses *uses;     /* what values came of the main file is added here, also where the program has errors; NULL: nobody wants to know */
} LangOptions;

/* scan and parse `text` (length bytes) named `path` in messages; imports are followed. NULL after errors in `diags`. */
Ast *lang_parse(Arena *arena, Diags *diags, const char *path, const char *text, size_t length, const LangOptions *options);

/* What a place of the main file came to: a value with its type, its dimensions named as they are there. In a layer that is called more than once, or in a
 * loop, one place comes to several. */
typedef struct LangUse {
  Place place; /* of a name, the name of a call, an operator */
  Type type;
} LangUse;

typedef struct LangUses {
  Arena *arena;
  int count;
  LangUse *uses;
} LangUses;

/* ---- outline.c: names, as an editor asks for them ---- */

typedef enum LangSymbolKind { LANG_CONSTANT, LANG_OPTION, LANG_DATA, LANG_FIELD, LANG_LAYER, LANG_MODEL, LANG_TARGET, LANG_VARIABLE, LANG_WEIGHTS } LangSymbolKind;

typedef struct LangSymbol {
  const char *name;
  LangSymbolKind kind;
  Place place;        /* of the name where it is defined, in any of the files */
  const char *detail; /* as it is written, and what its documentation says */
  Place known_from;   /* behind the statement that sets it */
} LangSymbol;

/* All that can be named at a line of the main file; line 0: anywhere in it. */
LangSymbol *lang_symbols(Arena *arena, const Ast *ast, int line, int *count);
/* The one that the name at this place means; NULL: none of the program. */
const LangSymbol *lang_definition(Arena *arena, const Ast *ast, const char *name, int line, int column);

/* Files and folders that the data blocks name, as they are written; is_source: of a whole block, which --data would replace. */
typedef struct LangDataPath {
  const char *path;
  bool is_source;
} LangDataPath;
LangDataPath *lang_data_paths(Arena *arena, const Ast *ast, int *count);
/* A line of a data block has the word, in whatever meaning. */
bool lang_data_mention(const Ast *ast, const Diags *diags, const char *word);

/* The program in canonical layout after imports, -D, unrolling and conditions on constants: the same program. NULL after errors in `diags`. */
const char *lang_expand(Arena *arena, Diags *diags, const Ast *ast, const LangOptions *options);

/* check, expand, unroll, type. NULL after errors in `diags`. */
TypedProgram *lang_check(Arena *arena, Diags *diags, const Ast *ast, const LangOptions *options);

/* The one target of a text; false after errors in `diags`. */
bool lang_target(Arena *arena, Diags *diags, const char *path, const char *text, size_t length, const LangOptions *options, TargetSpec *target);

/* How a machine of share_dir/targets is called there: without capitals, "-" and "." ("a2-highgpu-1g", "g5.xlarge"), by its new name. */
const char *lang_target_name(Arena *arena, const char *name);

/* E0503: no link leads to the tier; `from`: where the one that is missing should begin. */
void lang_unreachable(Diags *diags, Place place, const char *from, Tier tier);

/* The tokens as the scanner sees them, a line each. */
void lang_dump_tokens(Arena *arena, const char *text, size_t length, FILE *out);

void ast_dump(const Ast *ast, FILE *out);
void typed_dump(const TypedProgram *program, FILE *out);

/* gnncc --list KIND: layers, losses, metrics, optimizers, schedules, sources, targets, policies, functions; false for an unknown kind. */
bool lang_list(Arena *arena, const char *kind, const LangOptions *options, FILE *out);

/* gnncc --help=NAME: what the language knows of a name that is no layer; false when it knows nothing. out NULL: only that. */
bool lang_help(Arena *arena, const char *name, FILE *out);
/* All names that there is help for, layers too. */
void lang_help_offer(Arena *arena, const LangOptions *options, Suggest *suggest);
/* What another library's name is called here; NULL: no such name is known. */
const char *lang_alias(const char *name);

#endif
