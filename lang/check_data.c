/* check_data: the data block: where the data comes from, what is to be done to it, and whether it keeps its promises. */
#include <math.h>
#include <string.h>

#include "check.h"

/* ---- sources ---- */

typedef struct SourceKind {
  const char *name;
  const char *signature, *help; /* NULL: not supported */
} SourceKind;

static const SourceKind source_kinds[] = {
    {"karate", "karate()", "Zachary's karate club, built in"},
    {"synth", "synth(kind, nodes = 1000, degree = 8, features = 32, classes = 4, seed = 0, sparse = false)", "made up: kind is \"sbm\", \"rmat\", \"er\", \"grid\" or \"molecules\""},
    {"safetensors", "safetensors(file)", "names of our own form (edge.src, node.x, ...) or PyG's (edge_index, x, y, train_mask, ...)"},
    {"npy", "npy(folder)", "a folder of NumPy arrays; of a field, npy(file)"},
    {"npz", "npz(file)", "NumPy arrays by the names of safetensors, or a matrix as SciPy saves it"},
    {"raw", "raw(file, f32[N, 1024])", "of a field alone: numbers without a header; N as many as there are"},
    {"edges", "edges(file, base = 0, nodes = N)", "a list of edges, as text or as a NumPy array"},
    {"csv", "csv(edges = file, nodes = file, src = name, dst = name, id = name, header = true, base = 0, separator = \",\")", "tables of the edges and the nodes, whose columns are the fields that are declared"},
    {"mtx", "mtx(file)", "a matrix as MatrixMarket text"},
    {"metis", "metis(file)", "a graph file of METIS"},
    {"ogb", "ogb(folder, split = name, inverse = true)", "raw and split of a set of the Open Graph Benchmark"},
    {"igb", "igb(folder, size, classes = 19)", "a set of the Illinois Graph Benchmark: size is \"tiny\", \"small\", \"medium\", \"large\" or \"full\""},
    {"dgl", "dgl(folder)", "meta.yaml of DGL's CSVDataset, or metadata.yaml of GraphBolt"},
    {"planetoid", "planetoid(folder)", "NAME.content and NAME.cites"},
    {"tu", "tu(folder)", "text of the TU collection of graph data sets"},
    {"coo", NULL, NULL},
    {"parquet", NULL, NULL},
};
enum { SOURCE_KINDS = sizeof source_kinds / sizeof *source_kinds };

void check_list_sources(FILE *out) {
  for (int i = 0; i < SOURCE_KINDS; i++)
    if (source_kinds[i].signature) fprintf(out, "%s\n    %s\n", source_kinds[i].signature, source_kinds[i].help);
}

static bool source_argument(Checker *checker, const Arg *arg, SourceArg *result) {
  *result = (SourceArg){.key = arg->name ? arg->name : ""};
  Value value = check_const_expr(checker, arg->value);
  if (value.kind == VALUE_NONE) return false;
  if (value.kind == VALUE_STRING) result->text = value.text;
  else if (value.kind == VALUE_NUMBER || value.kind == VALUE_BOOL) result->number = value.number;
  else {
    diags_error(checker->diags, "E0215", arg->value->span.place, "a source takes texts and numbers");
    return false;
  }
  return true;
}

/* raw("x.bin", f32[N, 128]): a size that is no constant is told from the length of the file. */
static void raw_shape(Checker *checker, const Expr *shape, DataSource *source) {
  static const char *const dtypes[] = {"f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"};
  int64_t sizes[2] = {-1, 1};
  bool is_known = false;
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) is_known = is_known || strcmp(dtypes[i], shape->text) == 0;
  if (!is_known) {
    diags_error(checker->diags, "E0216", shape->span.place, "raw numbers are f32, f16, bf16, f64, bool, or whole numbers as i64 and u8; \"%s\" is none%s", shape->text,
                check_nearest(checker, shape->text, dtypes, (int)(sizeof dtypes / sizeof *dtypes), ""));
    return;
  }
  if (shape->arg_count > 2) {
    diags_error(checker->diags, "E0216", shape->span.place, "raw numbers have one or two dimensions: f32[N, 128]");
    return;
  }
  for (int d = 0; d < shape->arg_count; d++) {
    const Expr *size = shape->args[d].value;
    Dim dim;
    if (size->kind == EXPR_NAME && !check_find_constant(checker, size->text)) {
      if (d == 1) diags_error(checker->diags, "E0216", size->place, "how many numbers a row has must be said: \"%s\" is no constant", size->text);
      continue;
    }
    if (!check_size(checker, NULL, size, &dim)) return;
    sizes[d] = dim.size;
  }
  ARENA_PUSH(checker->arena, source->args, source->arg_count, ((SourceArg){.key = "type", .text = shape->text}));
  ARENA_PUSH(checker->arena, source->args, source->arg_count, ((SourceArg){.key = "rows", .number = (double)sizes[0]}));
  ARENA_PUSH(checker->arena, source->args, source->arg_count, ((SourceArg){.key = "width", .number = (double)sizes[1]}));
}

static bool is_source_of_field(const char *kind) { return strcmp(kind, "npy") == 0 || strcmp(kind, "raw") == 0; }

/* of_field: of one field, not of whole data, and the sources known are others. */
static void check_source(Checker *checker, const Expr *expr, bool of_field, DataSource *source) {
  source->place = expr->span.place;
  if (expr->kind == EXPR_STRING) {
    source->kind = "file";
    ARENA_PUSH(checker->arena, source->args, source->arg_count, (SourceArg){.key = "", .text = expr->text});
    return;
  }
  const char *known[SOURCE_KINDS];
  const SourceKind *kind = NULL;
  int count = 0;
  for (int i = 0; i < SOURCE_KINDS; i++) {
    if (of_field ? is_source_of_field(source_kinds[i].name) : source_kinds[i].signature && strcmp(source_kinds[i].name, "raw") != 0) known[count++] = source_kinds[i].name;
    if (expr->kind == EXPR_CALL && strcmp(expr->text, source_kinds[i].name) == 0) kind = &source_kinds[i];
  }
  if (!kind) {
    const char *name = expr->kind == EXPR_CALL ? expr->text : ast_expr_text(checker->arena, expr);
    const char *known_elsewhere = known_instead_of_source(name);
    const char *list = "";
    for (int i = 0; i < count; i++) list = arena_printf(checker->arena, "%s%s, ", list, known[i]);
    diags_error(checker->diags, "E0216", expr->span.place, "unknown data source \"%s\"%s (known: %sor a file's name)", name, check_nearest(checker, name, known, count, ""), list);
    check_fix_nearest(checker, expr->span.place, name, known, count);
    if (known_elsewhere) diags_help(checker->diags, "%s", known_elsewhere);
    return;
  }
  if (!kind->signature) {
    check_unsupported(checker, expr->place, "the data source %s is", kind->name);
    const char *instead = known_instead_of_source(kind->name);
    if (instead) diags_help(checker->diags, "%s", instead);
    return;
  }
  source->kind = kind->name;
  const bool is_raw = strcmp(kind->name, "raw") == 0;
  if (is_raw && (expr->arg_count != 2 || expr->args[0].value->kind != EXPR_STRING || (expr->args[1].value->kind != EXPR_SHAPE && expr->args[1].value->kind != EXPR_NAME))) {
    diags_error(checker->diags, "E0216", expr->place, "raw numbers need a file and what they are: raw(\"x.bin\", f32[N, 128])");
    source->kind = NULL;
    return;
  }
  for (int i = 0; i < expr->arg_count; i++) {
    SourceArg arg;
    if (is_raw && i == 1) raw_shape(checker, expr->args[i].value, source);
    else
    if (source_argument(checker, &expr->args[i], &arg)) ARENA_PUSH(checker->arena, source->args, source->arg_count, arg);
  }
}

/* ---- declarations ---- */

static bool declared_size(Checker *checker, const Expr *expr, int64_t *size) {
  bool is_unknown_name = expr->kind == EXPR_NAME && !check_find_constant(checker, expr->text) && check_find_option(checker, expr->text) == NO_INDEX;
  *size = -1;
  if (is_unknown_name) return true; /* the data tells */
  Dim dim;
  if (!check_size(checker, NULL, expr, &dim)) return false;
  *size = dim.size;
  return true;
}

/* node e : learned[64]: no field of the data, but a weight with a row for each node. */
static void declare_learned(Checker *checker, const DataStmt *stmt, const char *name, const char *node_type) {
  const AstType *type = &stmt->dtype;
  Type shape = check_scalar_type();
  if (stmt->value) {
    diags_error(checker->diags, "E0216", type->span.place, "\"%s\" is learned, so it is read from nowhere", stmt->name);
    return;
  }
  if (type->dim_count == 0 || type->dim_count > MAX_RANK - 1) {
    diags_error(checker->diags, "E0216", type->span.place, "learned values need their size: node %s : learned[64]", stmt->name);
    return;
  }
  for (int d = 0; d < type->dim_count; d++)
    if (!check_size(checker, NULL, type->dims[d], &shape.dim[shape.rank++])) return;
  ARENA_PUSH(checker->arena, checker->learned, checker->learned_count, ((Variable){name, {.kind = VALUE_NONE, .text = node_type, .type = shape}, stmt->name_place}));
}

static bool is_declared(Checker *checker, const DataSpec *spec, const char *name, Place *place) {
  for (int i = 0; i < spec->decl_count; i++)
    if (strcmp(spec->decls[i].name, name) == 0) return *place = spec->decls[i].place, true;
  for (int i = 0; i < checker->learned_count; i++)
    if (strcmp(checker->learned[i].name, name) == 0) return *place = checker->learned[i].place, true;
  return false;
}

static void declare(Checker *checker, DataSpec *spec, const DataStmt *stmt) {
  static const char *const dtypes[] = {"f32", "class", "multilabel", "onehot"}, *const numbers[] = {"f32", "f16", "bf16", "f64", "i32", "i64", "multilabel", "onehot"};
  FieldDecl decl = {.name = stmt->name, .place = stmt->name_place, .classes = -1};
  const AstType *type = &stmt->dtype;
  bool is_node = strcmp(stmt->kind, "node") == 0, is_edge = strcmp(stmt->kind, "edge") == 0;
  bool is_class = strcmp(type->domain, "class") == 0;
  bool is_graph = strcmp(stmt->kind, "graph") == 0;
  const bool is_of_type = check_is_declared_type(spec, stmt->kind);
  if (strcmp(stmt->kind, "nodes") == 0) {
    check_declare_type(checker, spec, stmt);
    return;
  }
  if (strcmp(stmt->kind, "relation") == 0) {
    check_declare_relation(checker, spec, stmt);
    return;
  }
  if (strcmp(stmt->kind, "pairs") == 0) {
    check_declare_pairs(checker, spec, stmt);
    return;
  }
  if (!is_node && !is_edge && !is_graph && !is_of_type) {
    const char *words[64] = {"node", "edge", "graph", "nodes", "relation", "pairs"};
    int count = 6;
    for (int i = 0; i < spec->type_count && count < 64; i++) words[count++] = spec->types[i].name;
    diags_error(checker->diags, "E0216", stmt->kind_place, "fields are of node, edge, graph or a type of nodes that is declared above; \"%s\" is none%s", stmt->kind,
                check_nearest(checker, stmt->kind, words, count, ""));
    check_fix_nearest(checker, stmt->kind_place, stmt->kind, words, count);
    diags_help(checker->diags, "nodes %s : count declares it a type of nodes", stmt->kind);
    return;
  }
  if (stmt->target.is_given) {
    diags_error(checker->diags, "E0216", stmt->target.span.place, "only relations go from one type of nodes to another: relation %s : author -> paper", stmt->name);
    return;
  }
  if (is_of_type) {
    decl.node_type = stmt->kind;
    decl.name = arena_printf(checker->arena, "%s.%s", stmt->kind, stmt->name);
    is_node = true;
  }
  Place before;
  if (is_declared(checker, spec, decl.name, &before)) {
    diags_error(checker->diags, "E0212", decl.place, "\"%s\" is declared twice (%s)", decl.name, check_where(checker, before));
    return;
  }
  if (is_node && strcmp(type->domain, "learned") == 0) {
    declare_learned(checker, stmt, decl.name, decl.node_type);
    return;
  }
  decl.domain = is_node ? DOMAIN_NODE : is_graph ? DOMAIN_GRAPH : DOMAIN_EDGE;
  decl.dtype = is_class ? DTYPE_CLASS : DTYPE_F32;
  bool is_number = false, is_onehot = strcmp(type->domain, "onehot") == 0;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) is_number = is_number || strcmp(numbers[i], type->domain) == 0;
  if (!is_class && !is_number) {
    static const char *const later[] = {"label", "count", "learned", "labels"};
    bool is_later = false;
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) is_later = is_later || strcmp(later[i], type->domain) == 0;
    if (is_later) {
      check_unsupported(checker, type->span.place, "fields of type %s are", type->domain);
      if (strcmp(type->domain, "learned") == 0) diags_help(checker->diags, "node %s : learned[64] is a weight with a row for each node", stmt->name);
      else if (strcmp(type->domain, "count") == 0) diags_help(checker->diags, "nodes %s : count declares a type of nodes", stmt->name);
      else diags_help(checker->diags, "class[7] is one of 7 classes, multilabel[40] any of 40; pairs links : label[1] = split_edges(...) are edges to predict");
    } else {
      diags_error(checker->diags, "E0216", type->span.place, "unknown field type \"%s\"%s (known: f32[...], f16[...], onehot[...], class[...], multilabel[...])", type->domain,
                  check_nearest(checker, type->domain, dtypes, 4, ""));
      check_fix_nearest(checker, type->span.place, type->domain, dtypes, 4);
    }
    return;
  }
  if (is_onehot && type->dim_count != 1) {
    diags_error(checker->diags, "E0216", type->span.place, "onehot needs the number of its columns: %s %s : onehot[7]", stmt->kind, stmt->name);
    return;
  }
  if (is_class && type->dim_count > 1) {
    check_unsupported(checker, type->span.place, "several class labels a row are");
    return;
  }
  if (is_class) {
    if (type->dim_count == 1 && !declared_size(checker, type->dims[0], &decl.classes)) return;
  } else {
    if (type->dim_count > MAX_RANK - 1) {
      diags_error(checker->diags, "E0323", type->span.place, "a field has at most %d dimensions", MAX_RANK - 1);
      return;
    }
    for (int d = 0; d < type->dim_count; d++)
      if (!declared_size(checker, type->dims[d], &decl.size[decl.rank++])) return;
  }
  if (is_number) {
    struct NumberField number = {decl.name, is_onehot, is_onehot && decl.size[0] > 0 ? decl.size[0] : 0};
    ARENA_PUSH(checker->arena, spec->recipe.numbers, spec->recipe.number_count, number);
  }
  if (is_class && strcmp(decl.name, "y") != 0) ARENA_PUSH(checker->arena, spec->recipe.class_fields, spec->recipe.class_field_count, decl.name);
  if (stmt->value) {
    decl.source = arena_alloc(checker->arena, sizeof *decl.source);
    check_source(checker, stmt->value, true, decl.source);
    if (!decl.source->kind) return;
    if (!is_source_of_field(decl.source->kind) && strcmp(decl.source->kind, "file") != 0) {
      diags_error(checker->diags, "E0216", stmt->value->span.place, "a field is read from npy(\"x.npy\") or raw(\"x.bin\", f32[N, 128]); %s is a source of whole graphs", decl.source->kind);
      return;
    }
    if (decl.source->arg_count == 0 || !decl.source->args[0].text || *decl.source->args[0].key) {
      diags_error(checker->diags, "E0216", stmt->value->span.place, "%s needs a file: npy(\"x.npy\")", decl.source->kind);
      return;
    }
  }
  ARENA_PUSH(checker->arena, spec->decls, spec->decl_count, decl);
}

/* ---- settings ---- */

static const Expr *call_argument(const Expr *call, int index) {
  return call->kind == EXPR_CALL && index < call->arg_count ? call->args[index].value : NULL;
}

static void normalise(Checker *checker, DataSpec *spec, const Expr *value) {
  if (value->kind == EXPR_LIST) {
    for (int i = 0; i < value->arg_count; i++) normalise(checker, spec, value->args[i].value);
    return;
  }
  const Expr *field = call_argument(value, 0);
  if (value->kind != EXPR_CALL || strcmp(value->text, "rows") != 0 || !field || field->kind != EXPR_NAME || value->arg_count != 1) {
    diags_error(checker->diags, "E0217", value->span.place, "normalize = rows(x) scales the rows of a field to sum 1; %s is not known", ast_expr_text(checker->arena, value));
    return;
  }
  ARENA_PUSH(checker->arena, spec->recipe.normalised, spec->recipe.normalised_count, field->text);
}

/* folds(10, seed = 0): drawn; folds: as the data say. In both valid = true. */
static void folds(Checker *checker, DataSpec *spec, const Expr *value) {
  DataRecipe *recipe = &spec->recipe;
  for (int i = 0; value->kind == EXPR_CALL && i < value->arg_count; i++) {
    const Arg *arg = &value->args[i];
    Value given = check_const_expr(checker, arg->value);
    if (given.kind == VALUE_NONE) return;
    const bool is_seed = arg->name && strcmp(arg->name, "seed") == 0, is_valid = arg->name && strcmp(arg->name, "valid") == 0, is_count = !arg->name && i == 0;
    const bool is_whole = given.kind == VALUE_NUMBER && check_is_whole(given.number) && given.number >= (is_count ? 2 : 0);
    if (is_valid ? given.kind != VALUE_BOOL : !is_whole || !(is_seed || is_count)) {
      diags_error(checker->diags, "E0217", arg->place, "split = folds(10, seed = 0, valid = true) wants a whole number of at least 2, a whole seed, and whether a fold validates");
      return;
    }
    if (is_valid) recipe->fold_has_valid = given.number != 0;
    else if (is_seed) recipe->split_seed = (uint64_t)given.number;
    else recipe->fold_count = (int64_t)given.number;
  }
  recipe->has_folds = true;
}

static void split(Checker *checker, DataSpec *spec, const Expr *value) {
  const char *kind = value->kind == EXPR_CALL || value->kind == EXPR_NAME ? value->text : "";
  if (strcmp(kind, "public") == 0) return;
  if (strcmp(kind, "folds") == 0) {
    folds(checker, spec, value);
    return;
  }
  if (strcmp(kind, "split_edges") == 0) {
    diags_error(checker->diags, "E0217", value->span.place, "split_edges makes pairs of nodes to predict edges of");
    diags_help(checker->diags, "pairs links : label[1] = split_edges(negatives = uniform(1), resample = epoch)");
    return;
  }
  if (strcmp(kind, "index") == 0 && value->kind == EXPR_CALL && value->arg_count == 1) {
    Value k = check_const_expr(checker, value->args[0].value);
    if (k.kind == VALUE_NUMBER && check_is_whole(k.number) && k.number >= 0 && k.number < 1e6) spec->recipe.split_index = (int)k.number;
    else if (k.kind != VALUE_NONE) diags_error(checker->diags, "E0217", value->span.place, "split = index(k) wants a whole number from 0");
    return;
  }
  if (strcmp(kind, "random") != 0 || value->kind != EXPR_CALL) {
    diags_error(checker->diags, "E0217", value->span.place, "unknown split %s (known: random(0.6, 0.2, 0.2, seed = 0), folds(10, seed = 0), folds, index(0), public)", ast_expr_text(checker->arena, value));
    return;
  }
  int count = 0;
  double sum = 0;
  for (int i = 0; i < value->arg_count; i++) {
    const Arg *arg = &value->args[i];
    Value number = check_const_expr(checker, arg->value);
    if (number.kind == VALUE_NONE) return;
    bool is_seed = arg->name && strcmp(arg->name, "seed") == 0;
    bool is_good = number.kind == VALUE_NUMBER && number.number >= 0 && (is_seed ? check_is_whole(number.number) : number.number <= 1);
    if (!is_good || (arg->name && !is_seed) || (!arg->name && count == SPLIT_COUNT)) {
      diags_error(checker->diags, "E0217", arg->place, "split = random(train, valid, test, seed = s) wants three shares between 0 and 1 and a whole seed");
      return;
    }
    if (is_seed) spec->recipe.split_seed = (uint64_t)number.number;
    else {
      spec->recipe.split_fraction[count++] = number.number;
      sum += number.number;
    }
  }
  if (count < 2 || sum > 1 + 1e-9) {
    diags_error(checker->diags, "E0217", value->span.place, count < 2 ? "split = random(...) wants the shares of train, valid and test" : "the shares of the split add up to more than 1");
    return;
  }
  spec->recipe.has_random_split = true;
}

static void order(Checker *checker, DataSpec *spec, const Expr *value) {
  static const char *const known[] = {"given", "nested"};
  const char *word = value->kind == EXPR_NAME && !check_find_constant(checker, value->text) ? value->text : "";
  DataRecipe *recipe = &spec->recipe;
  recipe->order_place = value->span.place;
  if (strcmp(word, "given") == 0 || strcmp(word, "nested") == 0) {
    recipe->order = strcmp(word, "nested") == 0 ? ORDER_NESTED : ORDER_GIVEN;
    return;
  }
  if (strcmp(word, "metis") == 0) {
    check_unsupported(checker, value->span.place, "order = metis is");
    return;
  }
  Value path = *word ? check_bool(false) : check_const_expr(checker, value);
  if (path.kind == VALUE_STRING && *path.text) {
    recipe->order = ORDER_FILE;
    recipe->order_path = path.text;
  } else if (path.kind != VALUE_NONE) {
    diags_error(checker->diags, "E0217", value->span.place, "order must be given, nested or the name of a file in quotes%s", check_nearest(checker, word, known, 2, ""));
  }
}

static void declared_count(Checker *checker, const Expr *value, int64_t *count) {
  Dim dim;
  if (check_size(checker, NULL, value, &dim)) *count = dim.size;
}

static void set(Checker *checker, DataSpec *spec, const DataStmt *stmt) {
  static const char *const known[] = {"normalize", "self_loops", "undirected", "duplicates", "split", "order", "nodes", "edges", "graphs", "reverse"};
  static const struct { const char *name, *instead; } later[] = {
      {"reorder", "order = nested puts nodes that have to do with each other side by side"},
      {"transform", "normalize, undirected, self_loops and split are what is done to data here; the rest is gnndata convert's"},
      {"dedup", "nothing to do: edges that are there twice count once, unless duplicates = keep says that they are two"},
      {"batch", "batch = graphs(32) stands in the train block"},
      {"base", "edges(\"edges.txt\", base = 1) says where ids begin"},
      {"features", "node x : f32[16] declares them"},
  };
  const char *name = stmt->name;
  const char *word = stmt->value->kind == EXPR_NAME ? stmt->value->text : "";
  if (strcmp(name, "normalize") == 0) normalise(checker, spec, stmt->value);
  else if (strcmp(name, "split") == 0) split(checker, spec, stmt->value);
  else if (strcmp(name, "reverse") == 0) check_reverse(checker, spec, stmt->value);
  else if (strcmp(name, "order") == 0) order(checker, spec, stmt->value);
  else if (strcmp(name, "nodes") == 0) declared_count(checker, stmt->value, &spec->declared_nodes);
  else if (strcmp(name, "edges") == 0) declared_count(checker, stmt->value, &spec->declared_edges);
  else if (strcmp(name, "graphs") == 0) declared_count(checker, stmt->value, &spec->declared_graphs);
  else if (strcmp(name, "undirected") == 0) {
    Value value = check_const_expr(checker, stmt->value);
    if (value.kind == VALUE_BOOL) spec->recipe.is_undirected = value.number != 0;
    else if (value.kind != VALUE_NONE) diags_error(checker->diags, "E0217", stmt->value->span.place, "undirected must be true or false");
  } else if (strcmp(name, "self_loops") == 0) {
    if (strcmp(word, "add") == 0) spec->recipe.self_loops = SELF_LOOPS_ADD;
    else if (strcmp(word, "remove") == 0) spec->recipe.self_loops = SELF_LOOPS_REMOVE;
    else if (strcmp(word, "keep") != 0) diags_error(checker->diags, "E0217", stmt->value->span.place, "self_loops must be add, remove or keep");
  } else if (strcmp(name, "duplicates") == 0) {
    spec->recipe.keeps_duplicates = strcmp(word, "keep") == 0;
    if (!spec->recipe.keeps_duplicates && strcmp(word, "drop") != 0) diags_error(checker->diags, "E0217", stmt->value->span.place, "duplicates must be keep or drop");
  } else {
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
      if (strcmp(later[i].name, name) == 0) {
        check_unsupported(checker, stmt->name_place, "%s in a data block is", name);
        diags_help(checker->diags, "%s", later[i].instead);
        return;
      }
    const char *instead = known_instead_of_setting(name);
    diags_error(checker->diags, "E0217", stmt->name_place, "unknown data setting \"%s\"%s", name, instead ? "" : check_nearest_or_all(checker, name, known, sizeof known / sizeof *known, "\""));
    if (instead) diags_help(checker->diags, "%s", instead);
    else check_fix_nearest(checker, stmt->name_place, name, known, sizeof known / sizeof *known);
  }
}

static void check_normalised_names(Checker *checker, const DataSpec *spec, const DataInfo *info) {
  for (int i = 0; i < spec->recipe.normalised_count; i++) {
    bool is_known = false;
    for (int k = 0; k < info->field_count; k++) {
      if (strcmp(info->fields[k].name, spec->recipe.normalised[i]) != 0) continue;
      is_known = true;
      if (info->fields[k].dtype == DTYPE_CLASS)
        diags_error(checker->diags, "E0322", spec->place, "\"%s\" holds classes, which cannot be normalized", spec->recipe.normalised[i]);
    }
    if (!is_known)
      diags_error(checker->diags, "E0203", spec->place, "data \"%s\" has no field \"%s\" to normalize; it has %s", spec->name,
                  spec->recipe.normalised[i], check_field_list(checker));
  }
}

/* ---- what the data says ---- */

static int64_t declared_width(const FieldDecl *decl) {
  double width = 1;
  for (int d = 0; d < decl->rank; d++) {
    if (decl->size[d] < 0) return -1;
    width *= (double)decl->size[d];
  }
  return width <= 9007199254740992.0 ? (int64_t)width : -1;
}

/* Without files a plan can be made when every size is declared. */
static bool declares_all_sizes(Checker *checker, const DataSpec *spec) {
  if (spec->type_count == 0 && (spec->declared_nodes < 0 || spec->declared_edges < 0)) {
    diags_error(checker->diags, "E0709", spec->place, "without files, data \"%s\" must say how large it is: nodes = ... and edges = ...", spec->name);
    return false;
  }
  for (int i = 0; i < spec->decl_count; i++) {
    const FieldDecl *decl = &spec->decls[i];
    if (declared_width(decl) >= 0 && (decl->dtype != DTYPE_CLASS || decl->classes >= 0)) continue;
    diags_error(checker->diags, "E0709", decl->place, "without files, \"%s\" needs its size: f32[128], class[7]", decl->name);
    return false;
  }
  return true;
}

/* For callers without a reader of data. */
static bool describe_shapes(Checker *checker, const DataSpec *spec, DataInfo *info) {
  *info = (DataInfo){.nodes = spec->declared_nodes, .edges = spec->declared_edges > 0 ? spec->declared_edges : 0, .is_symmetric = spec->recipe.is_undirected, .is_shapes_only = true, .notes = ""};
  if (!lang_describe_relations(checker->arena, checker->diags, spec, info)) return false;
  for (int i = 0; i < spec->decl_count; i++) {
    const FieldDecl *decl = &spec->decls[i];
    ARENA_PUSH(checker->arena, info->fields, info->field_count,
               (FieldInfo){.name = decl->name, .domain = typed_declared_domain(info, decl), .dtype = decl->dtype, .width = declared_width(decl), .classes = decl->classes, .nonzeros = -1});
  }
  for (int i = 0; i < SPLIT_COUNT; i++) info->has_split[i] = true;
  lang_describe_pairs(checker->arena, spec, info);
  info->fingerprint = (uint64_t)info->nodes * 0x9E3779B97F4A7C15u ^ (uint64_t)info->edges;
  return true;
}

/* Which field the labels are decides how the data are read, before the train block is checked. */
static void find_target(const Checker *checker, DataSpec *spec) {
  const Conf *conf = checker->train ? checker->train->conf : NULL;
  for (int i = 0; conf && i < conf->count; i++) {
    const Expr *loss = strcmp(conf->stmts[i]->key, "loss") == 0 ? conf->stmts[i]->value : NULL;
    const Expr *label = loss && loss->kind == EXPR_CALL && loss->arg_count >= 2 ? loss->args[1].value : NULL;
    if (label && (label->kind == EXPR_NAME || label->kind == EXPR_MEMBER)) spec->recipe.target = ast_expr_text(checker->arena, label);
  }
  for (int i = 0; spec->recipe.target && i < spec->decl_count; i++)
    if (strcmp(spec->decls[i].name, spec->recipe.target) == 0) spec->recipe.is_target_number = spec->decls[i].dtype == DTYPE_F32;
}

static bool describe(Checker *checker, DataSpec *spec, DataInfo *info) {
  const LangOptions *options = checker->options;
  bool has_files = strcmp(spec->source.kind, "shapes") != 0;
  for (int i = 0; i < spec->decl_count; i++) has_files = has_files || spec->decls[i].source;
  if (has_files && options->describe && !options->is_shapes_only) return options->describe(options->describe_user, spec, checker->diags, info);
  spec->source = (DataSource){.kind = "shapes", .place = spec->source.place};
  if (!declares_all_sizes(checker, spec)) return false;
  return options->describe ? options->describe(options->describe_user, spec, checker->diags, info) : describe_shapes(checker, spec, info);
}

static const FieldInfo *find_info(const Checker *checker, const char *name) {
  const DataInfo *info = checker->program->info;
  for (int i = 0; info && i < info->field_count; i++)
    if (strcmp(info->fields[i].name, name) == 0 && !info->fields[i].is_hidden) return &info->fields[i];
  return NULL;
}

static const FieldDecl *find_decl(const Checker *checker, const char *name) {
  const DataSpec *spec = checker->program->data;
  for (int i = 0; spec && i < spec->decl_count; i++)
    if (strcmp(spec->decls[i].name, name) == 0) return &spec->decls[i];
  return NULL;
}

static const char *info_text(Checker *checker, const FieldInfo *info) {
  const char *domain = check_domain_word(checker, info->domain);
  if (info->dtype == DTYPE_CLASS) return arena_printf(checker->arena, "%s class[%lld]", domain, (long long)info->classes);
  return arena_printf(checker->arena, "%s f32[%lld]", domain, (long long)info->width);
}

const char *check_field_list(Checker *checker) {
  const DataInfo *info = checker->program->info;
  const char *text = "";
  int count = 0, shown = 0;
  for (int i = 0; i < info->field_count; i++) count += !info->fields[i].is_hidden;
  for (int i = 0; i < info->field_count; i++) {
    if (info->fields[i].is_hidden) continue;
    const char *joint = shown == 0 ? "" : shown + 1 == count ? " and " : ", ";
    shown++;
    text = arena_printf(checker->arena, "%s%s%s (%s)", text, joint, info->fields[i].name, info_text(checker, &info->fields[i]));
  }
  return *text ? text : "no fields";
}

static const DataStmt *stmt_of(const Checker *checker, const char *name) {
  const FieldDecl *decl = find_decl(checker, name);
  const char *own = decl && decl->node_type ? strchr(name, '.') + 1 : name;
  for (int i = 0; i < checker->data->data_count; i++) {
    const DataStmt *stmt = checker->data->data[i];
    if (stmt->kind && strcmp(stmt->name, own) == 0 && (!decl || !decl->node_type || strcmp(stmt->kind, decl->node_type) == 0)) return stmt;
  }
  return NULL;
}

/* Of more classes than are seen some have no row: what is declared holds. */
static void take_declared_classes(const DataSpec *spec, DataInfo *info) {
  for (int i = 0; i < spec->decl_count; i++)
    for (int f = 0; f < info->field_count; f++) {
      FieldInfo *field = &info->fields[f];
      const bool is_more = field->dtype == DTYPE_CLASS && spec->decls[i].dtype == DTYPE_CLASS && spec->decls[i].classes > field->classes;
      if (is_more && strcmp(field->name, spec->decls[i].name) == 0) field->classes = spec->decls[i].classes;
    }
}

/* A declaration is a promise. A size that it leaves open by a name gives that name its value. */
static void check_promise(Checker *checker, const FieldDecl *decl) {
  const FieldInfo *info = find_info(checker, decl->name);
  const DataStmt *stmt = stmt_of(checker, decl->name);
  if (!info) {
    diags_error(checker->diags, "E0203", decl->place, "data \"%s\" has no field \"%s\"; it has %s", checker->program->data->name, decl->name, check_field_list(checker));
    return;
  }
  int64_t width = declared_width(decl);
  bool is_same_kind = info->domain == typed_declared_domain(checker->program->info, decl) && info->dtype == decl->dtype;
  bool is_width_right = decl->dtype == DTYPE_CLASS ? decl->classes < 0 || decl->classes == info->classes : width < 0 || width == info->width;
  if (!is_same_kind || !is_width_right) {
    diags_error(checker->diags, "E0708", stmt->dtype.span.place, "\"%s\" is declared %s %s, but the data holds %s", decl->name, stmt->kind,
                decl->dtype == DTYPE_CLASS ? arena_printf(checker->arena, decl->classes < 0 ? "class" : "class[%lld]", (long long)decl->classes)
                : width < 0 ? "f32" : arena_printf(checker->arena, decl->rank ? "f32[%lld]" : "f32", (long long)width),
                info_text(checker, info));
    if (decl->dtype == DTYPE_CLASS && info->dtype == DTYPE_F32 && info->width == 1) diags_help(checker->diags, "classes are whole numbers from 0 on, -1 for none; some of these are not");
    diags_span(checker->diags, span_width(stmt->dtype.span));
    return;
  }
  int open = 0;
  int64_t rest = info->width;
  for (int d = 0; d < decl->rank; d++)
    if (decl->size[d] < 0) open++;
    else rest = decl->size[d] > 0 ? rest / decl->size[d] : rest;
  bool is_class_name = decl->dtype == DTYPE_CLASS && decl->classes < 0 && stmt->dtype.dim_count == 1;
  if (open > 1) {
    diags_error(checker->diags, "E0708", stmt->dtype.span.place, "only one size of \"%s\" can be left to the data", decl->name);
    return;
  }
  for (int d = 0; d < stmt->dtype.dim_count; d++) {
    const Expr *dim = stmt->dtype.dims[d];
    if (is_class_name || (decl->dtype == DTYPE_F32 && decl->size[d] < 0)) {
      Value value = check_number((double)(is_class_name ? info->classes : rest), dim->text);
      ARENA_PUSH(checker->arena, checker->size_names, checker->size_name_count, (Variable){dim->text, value, dim->place});
    }
  }
}

static Type field_type(Checker *checker, const FieldInfo *info) {
  Type type = {.domain = info->domain, .dtype = info->dtype, .classes = info->classes};
  const DataStmt *stmt = stmt_of(checker, info->name);
  const FieldDecl *decl = find_decl(checker, info->name);
  if (info->dtype == DTYPE_CLASS) return type;
  if (!decl) {
    if (info->width != 1) type.dim[type.rank++] = (Dim){info->width, check_number_named(checker, (double)info->width).text};
    return type;
  }
  for (int d = 0; d < decl->rank; d++)
    if (!check_size(checker, NULL, stmt->dtype.dims[d], &type.dim[type.rank])) return type;
    else type.rank++;
  return type;
}

static int field_index_of(Checker *checker, const FieldInfo *info) {
  TypedProgram *program = checker->program;
  const char *name = info->name;
  int at = (int)(info - program->info->fields);
  if (checker->field_index[at] == NO_INDEX) {
    const FieldDecl *decl = find_decl(checker, name);
    TypedField field = {.name = name, .type = field_type(checker, info), .nonzeros = info->nonzeros, .block_nonzeros = info->block_nonzeros, .column_nonzeros = info->column_nonzeros, .file = info->file, .place = decl ? decl->place : program->data->place};
    for (int i = 0; i < program->data->recipe.normalised_count; i++)
      field.is_row_normalised = field.is_row_normalised || strcmp(program->data->recipe.normalised[i], name) == 0;
    ARENA_PUSH(checker->arena, program->fields, program->field_count, field);
    checker->field_index[at] = program->field_count - 1;
  }
  return checker->field_index[at];
}

int check_field_index(Checker *checker, const char *name) {
  const FieldInfo *info = find_info(checker, name);
  return info ? field_index_of(checker, info) : NO_INDEX;
}

int check_ring_index(Checker *checker) {
  const DataInfo *info = checker->program->info;
  for (int i = 0; i < info->field_count; i++)
    if (info->fields[i].is_hidden) return field_index_of(checker, &info->fields[i]);
  return NO_INDEX;
}

static bool check_learned(Checker *checker, const char *name, Value *value) {
  TypedProgram *program = checker->program;
  for (int i = 0; i < checker->learned_count; i++) {
    Variable *learned = &checker->learned[i];
    if (strcmp(learned->name, name) != 0) continue;
    if (learned->value.kind == VALUE_NONE) {
      TypedParam param = {.name = name, .type = learned->value.type, .init = INIT_NORMAL, .a = 1, .is_trained = true, .place = learned->place};
      param.type.rank++;
      for (int d = param.type.rank - 1; d > 0; d--) param.type.dim[d] = param.type.dim[d - 1];
      const Domain rows = learned->value.text ? typed_type_named(program->info, learned->value.text) : DOMAIN_NODE;
      param.type.dim[0] = (Dim){typed_rows(program->info, rows), "nodes"};
      ARENA_PUSH(checker->arena, program->params, program->param_count, param);
      name_table_add(checker->arena, &checker->param_of, name, program->param_count - 1);
      program->has_weights_of_nodes = true;
      const TypedExpr e = {.kind = TYPED_PARAM, .index = program->param_count - 1, .type = param.type, .place = learned->place, .name = name};
      learned->value = check_rows_of_weight(checker, NULL, check_emit(checker, NULL, e), rows, name);
    }
    *value = learned->value;
    return true;
  }
  return false;
}

bool check_field(Checker *checker, const char *name, Place place, Value *value) {
  if (check_learned(checker, name, value)) return true;
  int index = check_field_index(checker, name);
  if (index == NO_INDEX) return false;
  TypedId *known = &checker->field_expr[find_info(checker, name) - checker->program->info->fields];
  *value = (Value){.kind = VALUE_TENSOR, .id = *known, .type = checker->program->fields[index].type};
  if (*known != NO_INDEX) return true;
  TypedExpr e = {.kind = TYPED_FIELD, .index = index, .type = checker->program->fields[index].type, .place = place, .name = name};
  *value = check_emit(checker, NULL, e);
  if (value->kind == VALUE_TENSOR) *known = value->id;
  return true;
}

bool check_field_classes(Checker *checker, const char *name, int64_t *classes) {
  const FieldInfo *info = find_info(checker, name);
  if (!info) return false;
  *classes = info->dtype == DTYPE_CLASS ? info->classes : 0;
  return true;
}

/* ---- all of it ---- */

static void override_source(Checker *checker, DataSpec *spec) {
  const char *path = checker->options->data_override;
  if (!path) return;
  const char *name = checker->options->data_name;
  if (name && strcmp(name, spec->name) != 0) {
    diags_error(checker->diags, "E0218", diags_no_place(), "--data %s=%s: the model's data is called \"%s\", not \"%s\"", name, path, spec->name, name);
    return;
  }
  spec->source.kind = "file";
  spec->source.arg_count = 0;
  spec->source.args = NULL;
  ARENA_PUSH(checker->arena, spec->source.args, spec->source.arg_count, (SourceArg){.key = "", .text = path});
}

/* Of tables those columns are read that are declared as fields. */
static void ask_for_columns(Checker *checker, DataSpec *spec) {
  DataSource *source = &spec->source;
  if (strcmp(source->kind, "csv") != 0) return;
  ARENA_PUSH(checker->arena, source->args, source->arg_count, ((SourceArg){.key = "node", .text = ""}));
  for (int i = 0; i < spec->decl_count; i++) {
    const FieldDecl *decl = &spec->decls[i];
    if (!decl->source && (decl->domain == DOMAIN_NODE || decl->domain == DOMAIN_EDGE))
      ARENA_PUSH(checker->arena, source->args, source->arg_count, ((SourceArg){.key = decl->domain == DOMAIN_NODE ? "node" : "edge", .text = decl->name}));
  }
}

void check_data(Checker *checker) {
  const Item *item = checker->data;
  int errors = diags_error_count(checker->diags);
  DataSpec *spec = arena_alloc(checker->arena, sizeof *spec);
  *spec = (DataSpec){.name = item->name, .declared_nodes = -1, .declared_edges = -1, .declared_graphs = -1, .place = item->name_place};
  spec->devices = checker->program->has_target ? target_devices(&checker->program->target) : 1;
  spec->source = (DataSource){.kind = "shapes", .place = item->name_place};
  if (item->value) check_source(checker, item->value, false, &spec->source);
  if (item->value && spec->source.kind && strcmp(spec->source.kind, "raw") == 0) {
    diags_error(checker->diags, "E0216", item->value->span.place, "raw numbers are those of a field: node x : f32[128] = raw(\"x.bin\", f32[N, 128])");
    return;
  }
  override_source(checker, spec);
  for (int i = 0; i < item->data_count; i++) {
    const DataStmt *stmt = item->data[i];
    if (stmt->kind) declare(checker, spec, stmt);
    else if (stmt->value) set(checker, spec, stmt);
  }
  check_pairs_fit(checker, spec);
  ask_for_columns(checker, spec);
  checker->program->data = spec;
  if (diags_error_count(checker->diags) > errors) return;

  DataInfo *info = arena_alloc(checker->arena, sizeof *info);
  find_target(checker, spec);
  if (!describe(checker, spec, info)) return;
  if (diags_error_count(checker->diags) > errors) return;
  checker->program->info = info;
  checker->field_index = arena_alloc(checker->arena, (size_t)(info->field_count + 1) * sizeof *checker->field_index);
  checker->field_expr = arena_alloc(checker->arena, (size_t)(info->field_count + 1) * sizeof *checker->field_expr);
  for (int i = 0; i < info->field_count; i++) checker->field_index[i] = checker->field_expr[i] = NO_INDEX;
  take_declared_classes(spec, info);
  for (int i = 0; i < spec->decl_count; i++) check_promise(checker, &spec->decls[i]);
  for (int i = 0; i < checker->learned_count; i++) {
    const Variable *learned = &checker->learned[i];
    if (find_info(checker, learned->name)) diags_error(checker->diags, "E0212", learned->place, "\"%s\" is a field of the data already", learned->name);
    else if (spec->recipe.order != ORDER_GIVEN) check_unsupported(checker, learned->place, "learned values of nodes in another order than the data's are");
  }
  check_relation_promises(checker, spec, info);
  check_normalised_names(checker, spec, info);
  if (spec->declared_nodes >= 0 && spec->declared_nodes != info->nodes)
    diags_error(checker->diags, "E0708", spec->place, "nodes = %lld is declared, but the data has %lld", (long long)spec->declared_nodes, (long long)info->nodes);
  if (spec->declared_graphs >= 0 && spec->declared_graphs != info->graphs)
    diags_error(checker->diags, "E0708", spec->place, "graphs = %lld is declared, but the data has %lld", (long long)spec->declared_graphs, (long long)info->graphs);
  if (spec->declared_edges >= 0 && spec->declared_edges != info->edges + info->held_edges)
    diags_error(checker->diags, "E0708", spec->place, "edges = %lld is declared, but the data has %lld", (long long)spec->declared_edges, (long long)(info->edges + info->held_edges));
}
