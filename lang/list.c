/* list: what gnncc --list prints. */
#include <string.h>

#include "check.h"
#include "syntax.h"

typedef struct Listing {
  FILE *out;
} Listing;

static const char *doc_of(const Item *layer) {
  for (int i = 0; i < layer->block->count; i++)
    if (layer->block->stmts[i]->kind == STMT_DOC) return layer->block->stmts[i]->name;
  return "";
}

static void list_layer_file(Arena *arena, const LangOptions *options, const char *path, void *user) {
  const Listing *listing = user;
  const Ast *ast = syntax_parse_quietly(arena, options, path);
  Checker checker = {.arena = arena};
  for (int i = 0; i < ast->item_count; i++)
    if (ast->items[i]->kind == ITEM_LAYER)
      fprintf(listing->out, "%s\n    %s\n", check_signature(&checker, ast->items[i]), doc_of(ast->items[i]));
}

static void list_target_file(Arena *arena, const LangOptions *options, const char *path, void *user) {
  const Listing *listing = user;
  const Ast *ast = syntax_parse_quietly(arena, options, path);
  for (int i = 0; i < ast->item_count; i++)
    if (ast->items[i]->kind == ITEM_TARGET)
      fprintf(listing->out, "%-12s %s\n", ast->items[i]->name, ast->items[i]->text ? ast->items[i]->text : "");
}

bool lang_list(Arena *arena, const char *kind, const LangOptions *options, FILE *out) {
  Listing listing = {out};
  if (strcmp(kind, "layers") == 0) {
    syntax_each_shared(arena, options, "std", list_layer_file, &listing);
  } else if (strcmp(kind, "targets") == 0) {
    syntax_each_shared(arena, options, "targets", list_target_file, &listing);
    fprintf(out, "%-12s %s\n", "native", "this machine, as modelled");
  } else if (strcmp(kind, "functions") == 0) {
    for (int i = 0; check_function_name(i); i++) fprintf(out, "%-12s %s\n", check_function_name(i), check_function_help(i));
  } else if (strcmp(kind, "losses") == 0) {
    for (int i = 0; i < GNN_LOSS_COUNT; i++) fprintf(out, "%-14s %s\n", loss_names[i], loss_helps[i]);
  } else if (strcmp(kind, "metrics") == 0) {
    for (int i = 0; i < GNN_METRIC_COUNT; i++) fprintf(out, "%-18s %s\n", metric_names[i], metric_helps[i]);
    fprintf(out, "%-18s %s\n", "confusion", "a table that eval prints: how many rows of each class were taken for which");
  } else if (strcmp(kind, "optimizers") == 0) {
    for (int i = 0; i < OPTIMIZER_COUNT; i++) fprintf(out, "%s\n", optimizer_info[i].signature);
  } else if (strcmp(kind, "schedules") == 0) {
    for (int i = 0; i < SCHEDULE_COUNT; i++) fprintf(out, "%s\n    lr = %s\n", schedule_info[i].signature, schedule_info[i].help);
    fputs("warmup(epochs, schedule)\n    lr = a line up to what the schedule begins with, then the schedule\n", out);
  } else if (strcmp(kind, "sources") == 0) {
    check_list_sources(out);
  } else {
    return false;
  }
  return true;
}
