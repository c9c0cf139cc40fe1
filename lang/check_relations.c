/* check_relations: types of nodes and relations between them: what the data block declares, and which edges an expression is over. */
#include <string.h>

#include "check.h"

static const Value none = {.kind = VALUE_NONE};

/* ---- the data block ---- */

static bool is_word_of_rows(const char *word) { return strcmp(word, "node") == 0 || strcmp(word, "graph") == 0 || strcmp(word, "edge") == 0; }

bool check_is_declared_type(const DataSpec *spec, const char *name) {
  for (int i = 0; i < spec->type_count; i++)
    if (strcmp(spec->types[i].name, name) == 0) return true;
  return false;
}

/* nodes paper : count[736_389], or count without a number: as many as the data have. */
void check_declare_type(Checker *checker, DataSpec *spec, const DataStmt *stmt) {
  const AstType *type = &stmt->dtype;
  TypeDecl decl = {.name = stmt->name, .nodes = -1, .place = stmt->name_place};
  Dim dim;
  if (strcmp(type->domain, "count") != 0 || type->dim_count > 1 || stmt->value) {
    diags_error(checker->diags, "E0216", type->span.place, "a type of nodes is declared with how many there are: nodes %s : count[1000], or count, as the data say", stmt->name);
    return;
  }
  if (check_is_declared_type(spec, stmt->name) || is_word_of_rows(stmt->name)) {
    diags_error(checker->diags, "E0212", stmt->name_place, is_word_of_rows(stmt->name) ? "\"%s\" is a word of the language; call the type of nodes something else" : "\"%s\" is declared twice", stmt->name);
    return;
  }
  if (type->dim_count == 1) {
    if (!check_size(checker, NULL, type->dims[0], &dim)) return;
    decl.nodes = dim.size;
  }
  ARENA_PUSH(checker->arena, spec->types, spec->type_count, decl);
}

/* relation writes : author -> paper, and without files = 7_145_660: how many edges. */
void check_declare_relation(Checker *checker, DataSpec *spec, const DataStmt *stmt) {
  RelationDecl decl = {.name = stmt->name, .src = stmt->dtype.domain, .dst = stmt->target.domain, .edges = -1, .place = stmt->name_place};
  Dim dim;
  if (!stmt->target.is_given) {
    diags_error(checker->diags, "E0216", stmt->dtype.span.place, "a relation goes from a type of nodes to one: relation %s : author -> paper", stmt->name);
    return;
  }
  for (int i = 0; i < spec->relation_count; i++)
    if (strcmp(spec->relations[i].name, decl.name) == 0) {
      diags_error(checker->diags, "E0212", decl.place, "\"%s\" is declared twice (%s)", decl.name, check_where(checker, spec->relations[i].place));
      return;
    }
  if (stmt->value && stmt->value->kind == EXPR_CALL) {
    check_unsupported(checker, stmt->value->span.place, "a source of its own for a relation (%s = %s(...)) is", stmt->name, stmt->value->text);
    return;
  }
  if (stmt->value) {
    if (!check_size(checker, NULL, stmt->value, &dim)) return;
    decl.edges = dim.size;
  }
  ARENA_PUSH(checker->arena, spec->relations, spec->relation_count, decl);
}

/* reverse = all, or a list of relations. */
void check_reverse(Checker *checker, DataSpec *spec, const Expr *value) {
  if (value->kind == EXPR_LIST) {
    for (int i = 0; i < value->arg_count; i++) check_reverse(checker, spec, value->args[i].value);
    return;
  }
  if (value->kind != EXPR_NAME) {
    diags_error(checker->diags, "E0217", value->span.place, "reverse wants relations: reverse = [writes, cites], or all");
    return;
  }
  if (strcmp(value->text, "all") == 0) spec->recipe.reverses_all = true;
  else ARENA_PUSH(checker->arena, spec->recipe.reversed, spec->recipe.reversed_count, value->text);
}

static const char *list_text(Checker *checker, const DataInfo *info, bool is_types) {
  const char *text = is_types ? typed_domain_name(info, DOMAIN_NODE) : "";
  for (int i = 0; i < (is_types ? info->type_count : info->relation_count); i++)
    text = arena_printf(checker->arena, "%s%s%s", text, *text ? ", " : "", is_types ? info->types[i].name : info->relations[i].name);
  return text;
}

static const Relation *find_relation(const DataInfo *info, const char *name) {
  for (int i = 0; i < info->relation_count; i++)
    if (strcmp(info->relations[i].name, name) == 0) return &info->relations[i];
  return NULL;
}

void check_relation_promises(Checker *checker, const DataSpec *spec, const DataInfo *info) {
  if (spec->recipe.reverses_all && info->relation_count == info->has_pairs) {
    diags_error(checker->diags, "E0217", spec->place, "reverse = all, but data \"%s\" has no relations", spec->name);
    diags_help(checker->diags, "undirected = true adds the reverse of every edge");
  }
  for (int i = 0; i < spec->type_count; i++) {
    const TypeDecl *decl = &spec->types[i];
    const Domain type = typed_type_named(info, decl->name);
    if (type == DOMAIN_NONE) diags_error(checker->diags, "E0203", decl->place, "data \"%s\" has no nodes of the type \"%s\"; it has %s", spec->name, decl->name, list_text(checker, info, true));
    else if (decl->nodes >= 0 && decl->nodes != typed_rows(info, type))
      diags_error(checker->diags, "E0708", decl->place, "%lld nodes of the type \"%s\" are declared, but the data has %lld", (long long)decl->nodes, decl->name, (long long)typed_rows(info, type));
  }
  for (int i = 0; i < spec->relation_count; i++) {
    const RelationDecl *decl = &spec->relations[i];
    const Relation *relation = find_relation(info, decl->name);
    if (!relation) {
      const char *text = list_text(checker, info, false);
      diags_error(checker->diags, "E0203", decl->place, "data \"%s\" has no relation \"%s\"; it has %s", spec->name, decl->name, *text ? text : "none");
      continue;
    }
    const char *src = typed_domain_name(info, domain_at(relation->domain, END_SRC)), *dst = typed_domain_name(info, domain_at(relation->domain, END_DST));
    if (strcmp(src, decl->src) != 0 || strcmp(dst, decl->dst) != 0)
      diags_error(checker->diags, "E0708", decl->place, "relation \"%s\" is declared %s -> %s, but the data has it %s -> %s", decl->name, decl->src, decl->dst, src, dst);
    else if (decl->edges >= 0 && decl->edges != relation->edges)
      diags_error(checker->diags, "E0708", decl->place, "relation \"%s\" is declared with %lld edges, but the data has %lld", decl->name, (long long)decl->edges, (long long)relation->edges);
  }
}

/* Of data without files: the types and relations as they are declared, the type of the labels first. */
bool lang_describe_relations(Arena *arena, Diags *diags, const DataSpec *spec, DataInfo *info) {
  const char *dot = spec->recipe.target ? strchr(spec->recipe.target, '.') : NULL;
  int first = 0;
  for (int i = 0; dot && i < spec->type_count; i++)
    if (strncmp(spec->types[i].name, spec->recipe.target, (size_t)(dot - spec->recipe.target)) == 0 && !spec->types[i].name[dot - spec->recipe.target]) first = i;
  NodeType *types = arena_alloc(arena, (size_t)(spec->type_count + 1) * sizeof *types);
  for (int i = 0; i < spec->type_count; i++) {
    if (spec->types[i].nodes < 0) {
      diags_error(diags, "E0709", spec->types[i].place, "without files, nodes %s need their number: count[1000]", spec->types[i].name);
      return false;
    }
    if (i != first) types[info->type_count++] = (NodeType){spec->types[i].name, spec->types[i].nodes};
  }
  info->types = types;
  if (spec->type_count) info->nodes = spec->types[first].nodes, info->node_type = spec->types[first].name;
  Relation *relations = arena_alloc(arena, (size_t)(2 * spec->relation_count + 1) * sizeof *relations);
  for (int i = 0; i < spec->relation_count; i++) {
    const RelationDecl *decl = &spec->relations[i];
    const Domain src = typed_type_named(info, decl->src), dst = typed_type_named(info, decl->dst);
    if (src == DOMAIN_NONE || dst == DOMAIN_NONE || decl->edges < 0) {
      if (decl->edges < 0) diags_error(diags, "E0709", decl->place, "without files, relation %s needs the number of its edges: relation %s : %s -> %s = 1000", decl->name, decl->name, decl->src, decl->dst);
      else diags_error(diags, "E0203", decl->place, "there are no nodes of the type \"%s\"", src == DOMAIN_NONE ? decl->src : decl->dst);
      return false;
    }
    const int set = EDGES_OF_RELATIONS + info->relation_count;
    relations[info->relation_count++] = (Relation){decl->name, DOMAIN_OF_EDGES(set, domain_set(src), domain_set(dst)), decl->edges, false};
  }
  const int forward = info->relation_count;
  for (int i = 0; i < forward; i++) {
    bool is_reversed = spec->recipe.reverses_all;
    for (int k = 0; k < spec->recipe.reversed_count; k++) is_reversed = is_reversed || strcmp(spec->recipe.reversed[k], relations[i].name) == 0;
    if (!is_reversed) continue;
    const int set = EDGES_OF_RELATIONS + info->relation_count;
    const Domain there = relations[i].domain;
    relations[info->relation_count++] = (Relation){arena_printf(arena, "rev_%s", relations[i].name),
                                                   DOMAIN_OF_EDGES(set, domain_set(domain_at(there, END_DST)), domain_set(domain_at(there, END_SRC))), relations[i].edges, false};
  }
  info->relations = relations;
  return true;
}

/* ---- expressions ---- */

bool check_is_type(const Checker *checker, const char *name) {
  const DataInfo *info = checker->program->info;
  return info && info->node_type && typed_type_named(info, name) != DOMAIN_NONE;
}

/* Edges, where types of nodes leave open which. */
bool check_has_edges(Checker *checker, const Scope *scope, Place place, const char *what) {
  const DataInfo *info = checker->program->info;
  if (checker->edges != DOMAIN_EDGE || info->type_count == 0) return true;
  const Scope *call = check_standard_call(checker, scope);
  const char *relation = info->relation_count ? info->relations[0].name : "cites";
  diags_error(checker->diags, "E0310", call ? call->call_at : place, "%s of which edges? data \"%s\" has the relations %s", call ? call->item->name : what, checker->program->data->name, list_text(checker, info, false));
  if (call) diags_help(checker->diags, "say it behind the call: %s(...) over %s", call->item->name, relation);
  else diags_help(checker->diags, "say it behind the call: SAGE(a, p, 64) over %s", relation);
  return false;
}

bool check_is_at_end(Checker *checker, const Scope *scope, const Value *value, EdgeEnd end, const Expr *expr) {
  const DataInfo *info = checker->program->info;
  const char *word = end == END_SRC ? "src" : "dst";
  if (!check_has_edges(checker, scope, expr->span.place, arena_printf(checker->arena, "%s.%s", word, expr->text))) return false;
  const Domain wanted = domain_at(checker->edges, end);
  if (value->type.domain == wanted) return true;
  const char *name = typed_domain_name(info, checker->edges), *src = typed_domain_name(info, domain_at(checker->edges, END_SRC)), *dst = typed_domain_name(info, domain_at(checker->edges, END_DST));
  const Scope *call = check_standard_call(checker, scope);
  if (call && call->edges != checker->edges) {
    diags_error(checker->diags, "E0310", call->call_at, "%s goes over all relations, which have to be between nodes of one type; %s goes %s \xE2\x86\x92 %s", call->item->name, name, src, dst);
    diags_help(checker->diags, "one call for each relation, and their sum: SAGE(a, p, 64) over %s", name);
    return false;
  }
  Expr bare = *expr;
  bare.kind = EXPR_NAME; /* src.a is about a */
  const Written written = check_as_written(checker, scope, &bare, *value);
  diags_error(checker->diags, "E0310", call ? written.place : expr->span.place, "relation %s goes %s \xE2\x86\x92 %s, so %s. must be on %s; \"%s\" is on %s", name, src, dst,
              word, typed_domain_name(info, wanted), written.text, typed_domain_name(info, value->type.domain));
  return false;
}

/* `over cites`, or over r: the relation of that number, from 1. */
static bool find_edges(Checker *checker, Scope *scope, const Expr *over, Domain *edges) {
  const DataInfo *info = checker->program->info;
  const Relation *relation = find_relation(info, over->text);
  if (strcmp(over->text, "edges") == 0) {
    *edges = DOMAIN_EDGE;
    return true;
  }
  if (relation) {
    *edges = relation->domain;
    return true;
  }
  const Variable *variable = check_find_variable(scope, over->text);
  Constant *constant = variable || !check_sees_program(checker, scope) ? NULL : check_find_constant(checker, over->text);
  const Value number = variable ? variable->value : constant ? check_constant_value(checker, constant) : none;
  if (number.kind == VALUE_NUMBER && check_is_whole(number.number) && number.number >= 1 && number.number <= info->relation_count - info->has_pairs) {
    *edges = info->relations[(int)number.number - 1].domain;
    return true;
  }
  if (number.kind == VALUE_NUMBER) {
    diags_error(checker->diags, "E0310", over->place, "data \"%s\" has %d relations, from 1 on; \"%s\" is %.9g", checker->program->data->name, info->relation_count - info->has_pairs, over->text, number.number);
    return false;
  }
  const char **names = arena_alloc(checker->arena, (size_t)(info->relation_count + 1) * sizeof *names);
  names[0] = "edges";
  for (int i = 0; i < info->relation_count; i++) names[i + 1] = info->relations[i].name;
  if (info->relation_count == 0) diags_error(checker->diags, "E0203", over->place, "data \"%s\" has no relation \"%s\"; there is one set of edges, and no need to name it", checker->program->data->name, over->text);
  else {
    diags_error(checker->diags, "E0203", over->place, "data \"%s\" has no relation \"%s\"%s; it has %s", checker->program->data->name, over->text, check_nearest(checker, over->text, names, info->relation_count + 1, ""),
                list_text(checker, info, false));
    check_fix_nearest(checker, over->place, over->text, names, info->relation_count + 1);
  }
  return false;
}

bool check_enter_edges(Checker *checker, Scope *scope, const Expr *over, Domain *outside) {
  Domain edges;
  if (!find_edges(checker, scope, over, &edges)) return false;
  *outside = checker->edges;
  checker->edges = edges;
  return true;
}
