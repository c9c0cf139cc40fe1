/* check_pairs: pairs links : label[1] = split_edges(negatives = uniform(1), resample = epoch): edges to predict, and pairs without one; stored(...): those that the data bring. */
#include <string.h>

#include "check.h"
#include "runtime/shares.h"

static const char form[] = "split_edges(valid = 0.05, test = 0.1, negatives = uniform(1), resample = epoch, seed = 0)", stored_form[] = "stored(negatives = uniform(1), resample = epoch, seed = 0)";

static bool is_word(const Expr *expr, const char *word) { return expr->kind == EXPR_NAME && strcmp(expr->text, word) == 0; }

/* uniform(3): any pairs; same_source(3): from the edge's source on. */
static bool read_negatives(Checker *checker, const Expr *value, PairsDecl *pairs) {
  const bool keeps_source = value->kind == EXPR_CALL && strcmp(value->text, "same_source") == 0, is_uniform = value->kind == EXPR_CALL && strcmp(value->text, "uniform") == 0;
  const Value count = (keeps_source || is_uniform) && value->arg_count == 1 && !value->args[0].name ? check_const_expr(checker, value->args[0].value) : (Value){.kind = VALUE_BOOL};
  if (count.kind == VALUE_NONE) return false;
  if (count.kind != VALUE_NUMBER || !check_is_whole(count.number) || count.number < 1 || count.number > 1000) {
    diags_error(checker->diags, "E0217", value->span.place, "negatives are uniform(1), so many of any pairs without an edge to each edge, or same_source(1), of those that begin where the edge does");
    return false;
  }
  pairs->keeps_source = keeps_source;
  pairs->negatives = (int64_t)count.number;
  return true;
}

static bool read_share(Checker *checker, const Arg *arg, double *share) {
  const Value value = check_const_expr(checker, arg->value);
  if (value.kind == VALUE_NONE) return false;
  *share = value.number;
  if (value.kind == VALUE_NUMBER && value.number >= 0 && value.number < 1) return true;
  diags_error(checker->diags, "E0217", arg->value->span.place, "%s is the share of the edges that are held out, a number of 0 to less than 1", arg->name);
  return false;
}

static bool read_argument(Checker *checker, const Arg *arg, PairsDecl *pairs) {
  static const char *const names[] = {"valid", "test", "negatives", "resample", "seed"};
  const char *name = arg->name ? arg->name : "";
  const int first = pairs->is_stored ? 2 : 0;
  if (!first && strcmp(name, "valid") == 0) return read_share(checker, arg, &pairs->valid);
  if (!first && strcmp(name, "test") == 0) return read_share(checker, arg, &pairs->test);
  if (strcmp(name, "negatives") == 0) return read_negatives(checker, arg->value, pairs);
  if (strcmp(name, "resample") == 0) {
    pairs->is_resampled = is_word(arg->value, "epoch");
    if (pairs->is_resampled || is_word(arg->value, "never")) return true;
    diags_error(checker->diags, "E0217", arg->value->span.place, "resample is epoch, other negatives to train with in every epoch, or never");
    return false;
  }
  if (strcmp(name, "seed") == 0) {
    const Value seed = check_const_expr(checker, arg->value);
    if (seed.kind == VALUE_NUMBER && check_is_whole(seed.number) && seed.number >= 0) return pairs->seed = (uint64_t)seed.number, true;
    if (seed.kind != VALUE_NONE) diags_error(checker->diags, "E0217", arg->value->span.place, "the seed is a whole number from 0");
    return false;
  }
  diags_error(checker->diags, "E0204", arg->place, "%s has no argument \"%s\"%s", first ? "stored" : "split_edges", *name ? name : "(without a name)", check_nearest(checker, name, names + first, 5 - first, "\""));
  check_fix_nearest(checker, arg->place, name, names + first, 5 - first);
  diags_note(checker->diags, "%s", first ? stored_form : form);
  return false;
}

void check_declare_pairs(Checker *checker, DataSpec *spec, const DataStmt *stmt) {
  PairsDecl pairs = {.name = stmt->name, .valid = 0.05, .test = 0.1, .negatives = 1, .place = stmt->name_place};
  const AstType *type = &stmt->dtype;
  Dim dim;
  if (strcmp(type->domain, "label") != 0 || type->dim_count > 1 || stmt->target.is_given) {
    diags_error(checker->diags, "E0216", type->span.place, "pairs have a label, 1 for an edge and 0 for none: pairs %s : label[1] = split_edges(...)", stmt->name);
    return;
  }
  if (type->dim_count == 1 && check_size(checker, NULL, type->dims[0], &dim) && dim.size != 1) {
    diags_error(checker->diags, "E0216", type->span.place, "pairs have one label: label[1]");
    return;
  }
  static const char *const taken[] = {"edges", "edge", "node", "graph", "relations", "rows"};
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (strcmp(stmt->name, taken[i]) == 0) {
      diags_error(checker->diags, "E0212", stmt->name_place, "\"%s\" is a word of the language; call the pairs something else", stmt->name);
      return;
    }
  if (spec->recipe.pairs.name) {
    diags_error(checker->diags, "E0212", stmt->name_place, "data \"%s\" has pairs already: %s (%s)", spec->name, spec->recipe.pairs.name, check_where(checker, spec->recipe.pairs.place));
    return;
  }
  const bool is_call = stmt->value && stmt->value->kind == EXPR_CALL;
  if (!is_call || (strcmp(stmt->value->text, "split_edges") != 0 && strcmp(stmt->value->text, "stored") != 0)) {
    diags_error(checker->diags, "E0216", stmt->value ? stmt->value->span.place : stmt->name_place, "pairs are made from the edges: pairs %s : label[1] = split_edges(negatives = uniform(1), resample = epoch)", stmt->name);
    diags_help(checker->diags, "stored(...) are those that the data bring, as those of RandomLinkSplit");
    return;
  }
  pairs.is_stored = strcmp(stmt->value->text, "stored") == 0;
  for (int i = 0; i < stmt->value->arg_count; i++)
    if (!read_argument(checker, &stmt->value->args[i], &pairs)) return;
  if (pairs.valid + pairs.test >= 1) {
    diags_error(checker->diags, "E0217", stmt->value->span.place, "valid and test hold out all edges; some must be left to train on");
    return;
  }
  spec->recipe.pairs = pairs;
}

bool check_is_pairs(const Checker *checker, Domain edges) {
  return edges != DOMAIN_NONE && edges == typed_pairs(checker->program->info);
}

/* Held-out edges are among the pairs: what nodes got of them would be told. */
bool check_tells_no_pairs(Checker *checker, Domain edges, Place place) {
  if (!check_is_pairs(checker, edges)) return true;
  diags_error(checker->diags, "E0712", place, "held-out edges are among the pairs %s, so nothing is summed or counted of them at nodes", checker->program->data->recipe.pairs.name);
  diags_help(checker->diags, "sums over the edges that are trained on come without \"over %s\"", checker->program->data->recipe.pairs.name);
  return false;
}

/* What cannot go with pairs, once the whole block was read. */
void check_pairs_fit(Checker *checker, const DataSpec *spec) {
  const PairsDecl *pairs = &spec->recipe.pairs;
  if (!pairs->name) return;
  if (spec->type_count || spec->relation_count) check_unsupported(checker, pairs->place, "pairs of data with types of nodes or relations are");
  else if (spec->recipe.order != ORDER_GIVEN) check_unsupported(checker, pairs->place, "pairs of data with an order are");
  else if (spec->recipe.has_random_split || spec->recipe.has_folds || spec->recipe.split_index)
    diags_error(checker->diags, "E0217", pairs->place, "pairs are split by %s, so the data block has no split of its own", pairs->is_stored ? "the data" : "split_edges");
}

/* Of data without files. */
void lang_describe_pairs(Arena *arena, const DataSpec *spec, DataInfo *info) {
  const PairsDecl *pairs = &spec->recipe.pairs;
  if (!pairs->name) return;
  const int ways = info->is_symmetric ? 2 : 1, set = EDGES_OF_RELATIONS + info->relation_count;
  int64_t count[SPLIT_COUNT];
  gnn_share_out(pairs->valid, pairs->test, info->edges / ways, count);
  info->held_edges = pairs->is_stored ? 0 : ways * (count[SPLIT_VALID] + count[SPLIT_TEST]);
  info->edges -= info->held_edges;
  const int64_t all = (count[SPLIT_TRAIN] + count[SPLIT_VALID] + count[SPLIT_TEST]) * (1 + pairs->negatives);
  Relation *relations = arena_alloc(arena, (size_t)(info->relation_count + 1) * sizeof *relations);
  if (info->relation_count) memcpy(relations, info->relations, (size_t)info->relation_count * sizeof *relations);
  const Domain domain = DOMAIN_OF_EDGES(set, ROWS_OF_NODES, ROWS_OF_NODES);
  relations[info->relation_count++] = (Relation){pairs->name, domain, all, false};
  info->relations = relations;
  info->has_pairs = true;
  ARENA_PUSH(arena, info->fields, info->field_count, ((FieldInfo){.name = arena_printf(arena, "%s.label", pairs->name), .domain = domain, .width = 1, .nonzeros = all / (1 + pairs->negatives)}));
  ARENA_PUSH(arena, info->fields, info->field_count, ((FieldInfo){.name = arena_printf(arena, "%s.ring", pairs->name), .domain = domain, .dtype = DTYPE_CLASS, .width = 1, .classes = all, .nonzeros = -1, .is_hidden = true}));
  for (int s = 0; s < SPLIT_COUNT; s++) {
    info->split_count[s] = count[s] * (1 + pairs->negatives);
    info->has_split[s] = count[s] > 0;
  }
}
