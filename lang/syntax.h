/* syntax.h: what the rest of the front end needs of reading and parsing, beyond lang_parse. */
#ifndef GNNCC_SYNTAX_H
#define GNNCC_SYNTAX_H

#include "ast.h"
#include "lang.h"
#include "suggest.h"

/* The value of -D name=text; NULL after errors, which point into a text called `label`. */
const Expr *syntax_parse_value(Arena *arena, Diags *diags, const char *label, const char *text);

/* Is there no error of syntax in a text? Imports are not followed, no standard layer is read. */
bool syntax_parses(Arena *arena, Diags *diags, const char *path, const char *text, size_t length);

/* From a file of share_dir/std that was read for a layer or imported, not compiled itself. */
bool syntax_is_standard(const Diags *diags, const char *share_dir, const Ast *ast, const Item *item);

/* Parses one file of share_dir on its own, without a word about anything that is wrong in it. */
const Ast *syntax_parse_quietly(Arena *arena, const LangOptions *options, const char *path);

/* Calls `visit` with each .gnn file of share_dir/folder, in the order of their names ("std/gcn.gnn"). */
typedef void SyntaxVisit(Arena *arena, const LangOptions *options, const char *path, void *user);
void syntax_each_shared(Arena *arena, const LangOptions *options, const char *folder, SyntaxVisit *visit, void *user);
void syntax_offer_path(Arena *arena, const LangOptions *options, const char *path, void *suggest);

#endif
