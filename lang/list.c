/* list: what gnncc --list prints. */
#include <stdlib.h>
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

/* The description of a machine begins with the group it is of: "card: one RTX 4090". */
typedef struct Group {
  const char *prefix, *title;
} Group;

static const Group groups[] = {{"laptop: ", "laptops"}, {"card: ", "cards of workstations"}, {"data centre: ", "cards of data centres"}, {"server: ", "servers without a GPU"}, {"cluster: ", "clusters"}, {"cloud: ", "machines of clouds"}, {"", "others"}};

enum { GROUP_COUNT = sizeof groups / sizeof *groups };

static int group_of(const char *description) {
  int g = 0;
  while (strncmp(description, groups[g].prefix, strlen(groups[g].prefix)) != 0) g++;
  return g;
}

typedef struct Targets {
  int count;
  TargetSpec *list;
} Targets;

static void add_target_file(Arena *arena, const LangOptions *options, const char *path, void *user) {
  Targets *targets = user;
  TargetSpec target;
  size_t length;
  const char *text = arena_read_file(arena, arena_printf(arena, "%s/%s", options->share_dir, path), &length);
  if (text && lang_target(arena, diags_new(arena), path, text, length, options, &target)) ARENA_PUSH(arena, targets->list, targets->count, target);
}

/* By group, then by the memory of the device; files come in the order of their names. */
static int compare_targets(const void *left, const void *right) {
  const TargetSpec *a = left, *b = right;
  const int of_a = group_of(a->description), of_b = group_of(b->description);
  if (of_a != of_b) return of_a - of_b;
  if (a->device_bytes != b->device_bytes) return a->device_bytes < b->device_bytes ? -1 : 1;
  return strcmp(a->name, b->name);
}

static void list_targets(Arena *arena, const LangOptions *options, FILE *out) {
  Targets targets = {0};
  int last = -1;
  syntax_each_shared(arena, options, "targets", add_target_file, &targets);
  if (targets.count) qsort(targets.list, (size_t)targets.count, sizeof *targets.list, compare_targets);
  for (int i = 0; i < targets.count; i++) {
    const TargetSpec *target = &targets.list[i];
    const int group = group_of(target->description);
    if (group != last) fprintf(out, "%s%s\n", last < 0 ? "" : "\n", groups[group].title);
    fprintf(out, "  %-16s %s\n", target->name, target->description + strlen(groups[group].prefix));
    last = group;
  }
  fprintf(out, "\nthis machine\n  %-16s %s\n", "native", "as modelled, or as --calibrate measured it");
}

/* What plan { policy = NAME } and --policy=NAME take; docs/planner.md has their papers. */
static void list_policies(FILE *out) {
  static const char *const helps[POLICY_COUNT] = {
      [POLICY_KEEP] = "everything stays until its last use, as in a framework", [POLICY_RECOMPUTE] = "all that can be is made again",
      [POLICY_OFFLOAD] = "everything goes to the host, then to the SSD (vDNN)", [POLICY_CHECKPOINT] = "every k-th value stays, the others are made again, with the best k",
      [POLICY_ROC] = "what saves most bytes of transfer stays, the rest is moved (ROC)", [POLICY_FLEXGNN] = "from the last value to the first: device, else host, else SSD (FlexGNN)",
      [POLICY_TORCH_BUDGET] = "what is dearest to make again, by its bytes, stays (PyTorch's activation memory budget)",
      [POLICY_DTR] = "where a step does not fit, what is cheap, large and stale is dropped (DTR)", [POLICY_CAPUCHIN] = "moved while transfers hide, then made again (Capuchin)",
      [POLICY_HONGTU] = "inputs of layers and their sums go to the host, all else is made again (HongTu)", [POLICY_GRINNDER] = "inputs of layers go to the host, all else is made again (GriNNder)"};
  static const char *const of_ranks[EXCHANGE_COUNT] = {[EXCHANGE_HALO] = "of ranks: sums over neighbours get rows of others", [EXCHANGE_TRANSPOSE] = "of ranks: sums go over columns of all rows (RDM)",
                                                       [EXCHANGE_RECOMPUTE] = "of ranks: rows of others are made again where that can be, else halo (NeutronStar)", [EXCHANGE_HALO_HOST] = "of ranks on GPUs: rows of others come through the host, without NCCL",
                                                       [EXCHANGE_DEDUP] = "of ranks: rows that never change are on one rank each, and come in every epoch (HongTu)"};
  for (int i = 0; i < POLICY_COUNT; i++) fprintf(out, "%-14s %s\n", policy_names[i], helps[i]);
  for (int i = 0; i < EXCHANGE_COUNT; i++) fprintf(out, "%-14s %s\n", exchange_names[i], of_ranks[i]);
}

bool lang_list(Arena *arena, const char *kind, const LangOptions *options, FILE *out) {
  Listing listing = {out};
  if (strcmp(kind, "layers") == 0) {
    syntax_each_shared(arena, options, "std", list_layer_file, &listing);
  } else if (strcmp(kind, "targets") == 0) {
    list_targets(arena, options, out);
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
  } else if (strcmp(kind, "policies") == 0) {
    list_policies(out);
  } else if (strcmp(kind, "sources") == 0) {
    check_list_sources(out);
  } else {
    return false;
  }
  return true;
}
