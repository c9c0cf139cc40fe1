/* check_batch: batch = graphs(32, shuffle = true): training goes over batches of whole graphs. From here on the data are as large as the largest
 * batch there can be: as many nodes, edges and numbers as so many graphs can have. */
#include <string.h>

#include "check_train.h"

static const char form[] = "batch = graphs(32, shuffle = true): so many graphs a batch, in a new order in every epoch";

static bool read_batch(Training *t) {
  const Expr *value = t->batch->value;
  Checker *checker = t->checker;
  static const char *const later[] = {"neighbors", "layers", "clusters", "saint_walks", "saint_edges", "saint_nodes", "shadow", "history"};
  const char *word = train_word_of(value);
  if (train_is_in(word, later, sizeof later / sizeof *later)) {
    check_unsupported(checker, value->span.place, "batch = %s(...) is", word);
    diags_help(checker->diags, "batch = graphs(32) takes whole graphs; without batch an epoch is one step over all nodes, planned for the memory there is: --budget device=8GiB");
    return false;
  }
  bool has_count = false;
  for (int i = 0; value->kind == EXPR_CALL && strcmp(word, "graphs") == 0 && i < value->arg_count; i++) {
    const Arg *arg = &value->args[i];
    if (!arg->name && i == 0) {
      if (!train_whole(t, arg->value, "the graphs of a batch", 1, &t->train->batch_graphs)) return false;
      has_count = true;
    } else if (arg->name && strcmp(arg->name, "shuffle") == 0) {
      Value shuffles = check_const_expr(checker, arg->value);
      if (shuffles.kind == VALUE_NONE) return false;
      if (shuffles.kind != VALUE_BOOL) has_count = false;
      t->train->batch_shuffles = shuffles.number != 0;
    } else {
      has_count = false;
      break;
    }
  }
  if (!has_count) diags_error(checker->diags, "E0412", value->span.place, "%s; %s is not known", form, ast_expr_text(checker->arena, value));
  return has_count;
}

/* What a batch of n graphs has at most; where only sizes are declared the graphs are taken to be alike. */
static int64_t most(const int64_t *of_largest, int64_t all, int64_t graphs, int64_t n) {
  if (of_largest) return of_largest[n];
  return all < 0 ? all : (all / graphs + (all % graphs != 0)) * n;
}

/* The largest batch in the place of the data. */
static DataInfo *bounded(Training *t, int64_t n) {
  TypedProgram *program = t->checker->program;
  const DataInfo *all = program->info;
  DataInfo *info = arena_alloc(t->checker->arena, sizeof *info);
  *info = *all;
  info->nodes = most(all->most_nodes, all->nodes, all->graphs, n);
  info->edges = most(all->most_edges, all->edges, all->graphs, n);
  info->graphs = n;
  info->block_split[0] = info->block_split[1] = info->block_split[2] = NULL;
  info->block_first = info->block_edges[END_SRC] = info->block_edges[END_DST] = info->part_pairs[END_SRC] = info->part_pairs[END_DST] = info->edge_pairs = NULL;
  info->fields = arena_alloc(t->checker->arena, (size_t)(all->field_count + 1) * sizeof *info->fields);
  for (int f = 0; f < all->field_count; f++) {
    info->fields[f] = all->fields[f];
    info->fields[f].nonzeros = most(all->fields[f].most_nonzeros, all->fields[f].nonzeros, all->graphs, n);
  }
  for (int f = 0; f < program->field_count; f++)
    for (int k = 0; k < all->field_count; k++)
      if (strcmp(program->fields[f].name, info->fields[k].name) == 0) program->fields[f].nonzeros = info->fields[k].nonzeros;
  const Domain scored = program->exprs[t->train->scores].type.domain;
  info->split_count[SPLIT_TRAIN] = scored == DOMAIN_GRAPH ? n : scored == DOMAIN_EDGE ? info->edges : info->nodes;
  info->split_count[SPLIT_VALID] = info->split_count[SPLIT_TEST] = 0;
  return info;
}

void train_check_batch(Training *t) {
  Checker *checker = t->checker;
  TypedProgram *program = checker->program;
  const DataInfo *info = program->info;
  int errors = diags_error_count(checker->diags);
  if (!read_batch(t)) return;
  if (info->graphs <= 1) {
    diags_error(checker->diags, "E0412", t->batch->value->span.place, "data \"%s\" is one graph, and batches are of whole graphs", program->data->name);
    diags_help(checker->diags, "a folder with graph_ptr.npy is a set of graphs; without batch an epoch is one step over all data");
  } else if (info->relation_count) {
    check_unsupported(checker, t->batch->key_place, "batches of graphs with relations are");
  } else if (program->has_weights_of_nodes) {
    check_unsupported(checker, t->batch->key_place, "learned values of nodes in batches of graphs are");
  } else if (info->most_nodes && info->most_nodes[info->graphs] == info->most_nodes[info->graphs - 1]) {
    diags_error(checker->diags, "E0412", t->batch->value->span.place, "a graph of data \"%s\" has no nodes; a batch needs some", program->data->name);
  }
  if (diags_error_count(checker->diags) > errors || t->is_model_wrong) return;
  const int64_t n = t->train->batch_graphs < info->graphs ? t->train->batch_graphs : info->graphs;
  const int64_t trained = program->exprs[t->train->scores].type.domain == DOMAIN_GRAPH && !info->is_shapes_only ? info->split_count[SPLIT_TRAIN] : info->graphs;
  t->train->batch_count = (trained + n - 1) / n;
  program->info = bounded(t, n);
}
