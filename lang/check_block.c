/* check_block: statements: parameters, assignments, loops and conditions. */
#include <math.h>
#include <string.h>

#include "check.h"

/* ---- written types ---- */

static bool domain_named(Checker *checker, const AstType *type, Domain *domain, bool *is_any) {
  *is_any = strcmp(type->domain, "any") == 0;
  *domain = DOMAIN_NONE;
  if (!*type->domain || *is_any) return true;
  if (strcmp(type->domain, "node") == 0) *domain = DOMAIN_NODE;
  else if (strcmp(type->domain, "edge") == 0) *domain = DOMAIN_EDGE;
  else if (strcmp(type->domain, "graph") == 0) *domain = DOMAIN_GRAPH;
  else {
    static const char *const words[] = {"node", "edge", "graph", "any"};
    diags_error(checker->diags, "E0326", type->span.place, "values live on node, edge, graph or (parameters) nowhere, not on \"%s\"%s", type->domain,
                check_nearest(checker, type->domain, words, 4, ""));
    return false;
  }
  return true;
}

static bool is_new_name(Checker *checker, const Scope *scope, const Expr *dim) {
  if (dim->kind != EXPR_NAME || check_find_variable(scope, dim->text)) return false;
  if (!check_sees_program(checker, scope)) return true;
  return !check_find_constant(checker, dim->text) && check_find_option(checker, dim->text) == NO_INDEX;
}

/* What is declared on nodes lives on nodes of any type, what is declared on edges on those of any relation. */
static bool is_of_kind(Domain domain, Domain declared) {
  if (declared == DOMAIN_NODE) return domain_is_nodes(domain);
  return declared == DOMAIN_EDGE ? domain_is_relation(domain) : domain == declared;
}

static const char *where_text(Domain domain) {
  if (domain == DOMAIN_NONE) return "nowhere (a parameter)";
  return domain_is_nodes(domain) ? "on nodes" : domain == DOMAIN_GRAPH ? "on graphs" : "on edges";
}

bool check_against_type(Checker *checker, Scope *scope, const AstType *type, const char *name, Place place, Value *value) {
  Domain domain;
  bool is_any;
  if (!domain_named(checker, type, &domain, &is_any)) return false;
  if (value->kind != VALUE_TENSOR) {
    diags_error(checker->diags, "E0328", place, "\"%s\" must be a value on %s; this is a constant", name, domain == DOMAIN_NONE ? "nodes or edges" : domain == DOMAIN_NODE ? "nodes" : domain == DOMAIN_GRAPH ? "graphs" : "edges");
    return false;
  }
  Type *own = &value->type;
  if (!is_any && !is_of_kind(own->domain, domain)) {
    diags_error(checker->diags, "E0328", place, "\"%s\" must live %s; this value lives %s", name, where_text(domain), where_text(own->domain));
    return false;
  }
  if (!type->has_dims) return true;
  if (own->rank == 0 && type->dim_count == 1 && domain_is_relation(own->domain)) { /* a number for each edge is a row of one */
    const Expr *dim = type->dims[0];
    if (dim->kind == EXPR_NUMBER && dim->number == 1) return true;
    if (is_new_name(checker, scope, dim)) {
      TypedExpr e = {.kind = TYPED_RESHAPE, .type = *own, .operand_count = 1, .operand = {value->id}, .place = place};
      e.type.rank = 1;
      e.type.dim[0] = (Dim){1, "1"};
      *value = check_emit(checker, scope, e);
      if (value->kind != VALUE_TENSOR) return false;
    }
  }
  if (own->rank != type->dim_count) {
    diags_error(checker->diags, "E0328", place, "\"%s\" must have %d dimension%s; this value is %s", name, type->dim_count,
                type->dim_count == 1 ? "" : "s", check_type_text(checker, own));
    if (own->dtype == DTYPE_CLASS && type->dim_count == 1)
      diags_help(checker->diags, "a class is a number of which class; in the data block onehot[%lld] makes it a row of numbers, learned[16] beside it one that is learned", (long long)own->classes);
    else if (own->rank == 0 && type->dim_count == 1)
      diags_help(checker->diags, "reshape(value, 1) makes a row of one number of it; of a field of one column, f32[1] in the data block does");
    return false;
  }
  for (int d = 0; d < own->rank; d++) {
    const Expr *dim = type->dims[d];
    const char *outside = own->dim[d].name;
    if (is_new_name(checker, scope, dim)) {
      check_set_variable(checker, scope, dim->text, check_number((double)own->dim[d].size, dim->text), dim->place);
      ARENA_PUSH(checker->arena, scope->aliases, scope->alias_count, (DimAlias){dim->text, outside});
      own->dim[d].name = dim->text;
      continue;
    }
    Dim written;
    if (!check_size(checker, scope, dim, &written)) return false;
    if (written.size != own->dim[d].size) {
      diags_error(checker->diags, "E0328", place, "\"%s\" must be %lld wide%s; this value is %s", name, (long long)written.size,
                  check_is_anonymous(&written) ? "" : arena_printf(checker->arena, " (%s)", ast_expr_text(checker->arena, dim)), check_type_text(checker, own));
      return false;
    }
    own->dim[d].name = written.name;
  }
  return true;
}

/* ---- parameters ---- */

static bool param_type(Checker *checker, Scope *scope, const AstType *written, Type *type) {
  const bool is_on_nodes = strcmp(written->domain, "node") == 0;
  *type = check_scalar_type();
  if (*written->domain && !is_on_nodes) {
    check_unsupported(checker, written->span.place, "parameters that live on %ss are", written->domain);
    return false;
  }
  if (is_on_nodes && checker->program->data->recipe.order != ORDER_GIVEN) {
    check_unsupported(checker, written->span.place, "parameters on nodes in another order than the data's are");
    return false;
  }
  if (written->dim_count + is_on_nodes > MAX_RANK) {
    diags_error(checker->diags, "E0323", written->span.place, "a parameter has at most %d dimensions%s", MAX_RANK, is_on_nodes ? ", the nodes among them" : "");
    return false;
  }
  if (is_on_nodes) type->dim[type->rank++] = (Dim){checker->program->info->nodes, "nodes"};
  for (int d = 0; d < written->dim_count; d++)
    if (!check_size(checker, scope, written->dims[d], &type->dim[type->rank++])) return false;
  return true;
}

/* Glorot & Bengio 2010 and He et al. 2015, with fans as PyTorch Geometric counts them: the last two dimensions for
 * glorot, the last one for kaiming_uniform. */
static void initialise(TypedParam *param, Value rule) {
  const Type *type = &param->type;
  double last = type->rank > 0 ? (double)type->dim[type->rank - 1].size : 1;
  double before = type->rank > 1 ? (double)type->dim[type->rank - 2].size : last;
  param->is_trained = rule.rule != RULE_FIXED;
  param->init = rule.rule == RULE_NORMAL ? INIT_NORMAL : rule.rule == RULE_CONSTANT || rule.rule == RULE_FIXED ? INIT_CONSTANT : INIT_UNIFORM;
  param->a = rule.number;
  if (rule.rule == RULE_GLOROT) param->a = sqrt(6.0 / (before + last));
  if (rule.rule == RULE_KAIMING_UNIFORM) param->a = 1 / sqrt(last);
}

Value check_rows_of_weight(Checker *checker, Scope *scope, Value weight, Domain rows, const char *name) {
  if (weight.kind != VALUE_TENSOR) return weight;
  TypedExpr e = {.kind = TYPED_RESHAPE, .type = weight.type, .operand_count = 1, .operand = {weight.id}, .place = checker->program->exprs[weight.id].place, .name = name};
  e.type.domain = rows;
  e.type.rank--;
  for (int d = 0; d < e.type.rank; d++) e.type.dim[d] = e.type.dim[d + 1];
  return check_emit(checker, scope, e);
}

static bool same_shape(const Type *a, const Type *b) {
  if (a->rank != b->rank) return false;
  for (int d = 0; d < a->rank; d++)
    if (a->dim[d].size != b->dim[d].size) return false;
  return true;
}

static bool same_place(Place a, Place b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

static const char *width_text(Checker *checker, const Instance *instance) {
  if (instance->width_in < 0 || instance->width_out < 0) return "";
  return arena_printf(checker->arena, " %lld\xE2\x86\x92%lld", (long long)instance->width_in, (long long)instance->width_out);
}

/* The outermost layer whose weights are used again with another shape is the one that the user named. */
static void report_reuse(Checker *checker, const Scope *scope, const TypedParam *param, Place place) {
  const Instance *instance = NULL;
  for (const char *dot = strchr(param->name, '.'); dot && !instance; dot = strchr(dot + 1, '.'))
    instance = check_find_path(checker, arena_strndup(checker->arena, param->name, (size_t)(dot - param->name)));
  if (instance) {
    Place at = place;
    for (const Scope *s = scope; s && s->caller; s = s->caller) at = s->call_place;
    diags_error(checker->diags, "E0206", at, "\"%s\" already names a %s%s (%s); reusing weights needs the same shape; name this one differently",
                instance->path, instance->layer->name, width_text(checker, instance), check_where(checker, instance->place));
    return;
  }
  diags_error(checker->diags, "E0206", place, "\"%s\" is already a parameter (%s)", param->name, check_where(checker, param->place));
}

static void check_param(Checker *checker, Scope *scope, const Stmt *stmt) {
  TypedProgram *program = checker->program;
  const Value none = {.kind = VALUE_NONE};
  Type type;
  if (scope->loop_depth > 0) {
    check_unsupported(checker, stmt->name_place, "a parameter inside a loop is");
    diags_help(checker->diags, "make a layer of the loop's body and call it \"as\" a name: each round gets weights of its own");
  }
  if (scope->loop_depth > 0 || !param_type(checker, scope, &stmt->type, &type)) {
    check_set_variable(checker, scope, stmt->name, none, stmt->name_place);
    return;
  }
  const bool is_on_nodes = *stmt->type.domain;
  Value rule = {.kind = VALUE_INIT, .rule = is_on_nodes ? RULE_NORMAL : type.rank >= 2 ? RULE_GLOROT : RULE_CONSTANT, .number = is_on_nodes};
  if (stmt->value) rule = check_expr(checker, scope, stmt->value);
  if (rule.kind == VALUE_NUMBER) rule = (Value){.kind = VALUE_INIT, .rule = RULE_CONSTANT, .number = rule.number};
  if (rule.kind != VALUE_INIT) {
    if (rule.kind == VALUE_TENSOR) check_option_as_constant(checker, rule.id, stmt->value->span.place, "initial values are");
    else if (rule.kind != VALUE_NONE)
      diags_error(checker->diags, "E0329", check_place_of(checker, scope, stmt->value, stmt->value->span.place),
                  "a parameter begins as zeros, ones, glorot, kaiming_uniform, constant(v), uniform(b), normal(s) or fixed(v)");
    check_set_variable(checker, scope, stmt->name, none, stmt->name_place);
    return;
  }
  const char *name = *scope->path ? arena_printf(checker->arena, "%s.%s", scope->path, stmt->name) : stmt->name;
  if (!name_is_short(checker->diags, stmt->name_place, name)) return;
  TypedParam param = {.name = name, .type = type, .place = stmt->name_place};
  initialise(&param, rule);
  int index = name_table_find(&checker->param_of, name);
  if (index == NO_INDEX) {
    ARENA_PUSH(checker->arena, program->params, program->param_count, param);
    index = program->param_count - 1;
    name_table_add(checker->arena, &checker->param_of, name, index);
  } else if (!*scope->path || !same_shape(&program->params[index].type, &type) || !same_place(program->params[index].place, param.place)) {
    report_reuse(checker, scope, &program->params[index], stmt->name_place);
    check_set_variable(checker, scope, stmt->name, none, stmt->name_place);
    return;
  }
  TypedExpr e = {.kind = TYPED_PARAM, .index = index, .type = type, .place = stmt->name_place, .name = stmt->name};
  const Value weight = check_emit(checker, scope, e);
  check_note_use(checker, stmt->name_place, weight);
  program->has_weights_of_nodes = program->has_weights_of_nodes || is_on_nodes;
  check_set_variable(checker, scope, stmt->name, is_on_nodes ? check_rows_of_weight(checker, scope, weight, DOMAIN_NODE, stmt->name) : weight, stmt->name_place);
}

/* ---- the other statements ---- */

static void assign(Checker *checker, Scope *scope, const Stmt *stmt) {
  Value value = check_expr(checker, scope, stmt->value);
  if (value.kind != VALUE_NONE && stmt->type.is_given) {
    const Written written = check_as_written(checker, scope, stmt->value, value);
    const bool is_users = check_standard_call(checker, scope) && written.place.file == checker->ast->main_file;
    if (!check_against_type(checker, scope, &stmt->type, is_users ? written.text : stmt->name, is_users ? written.place : stmt->value->span.place, &value)) value = (Value){.kind = VALUE_NONE};
  }
  Dim dim = {0, value.text};
  if (value.kind == VALUE_NUMBER && check_is_anonymous(&dim)) value.text = stmt->name;
  if (value.kind == VALUE_TENSOR) {
    TypedExpr *e = &checker->program->exprs[value.id];
    if (!*e->name && e->kind != TYPED_NUMBER && strcmp(e->scope, scope->path) == 0) e->name = stmt->name;
    const char *path = *scope->path ? arena_printf(checker->arena, "%s.%s", scope->path, stmt->name) : stmt->name;
    check_call_value(checker, path, check_sees_program(checker, scope) ? stmt->name : NULL, value.id, stmt->name_place);
  }
  check_set_variable(checker, scope, stmt->name, value, stmt->name_place);
  check_note_use(checker, stmt->name_place, value);
}

static bool loop_bound(Checker *checker, Scope *scope, const Expr *expr, double *bound) {
  Value value = check_expr(checker, scope, expr);
  if (value.kind == VALUE_NUMBER && check_is_whole(value.number)) {
    *bound = value.number;
    return true;
  }
  const Place place = check_place_of(checker, scope, expr, expr->span.place);
  if (value.kind == VALUE_TENSOR) check_option_as_constant(checker, value.id, place, "loops are");
  else if (value.kind != VALUE_NONE)
    diags_error(checker->diags, "E0321", place, "a loop counts in whole numbers; %s is none", ast_expr_text(checker->arena, expr));
  return false;
}

/* Where turns of a loop sum over edges, values say in which they are made; loops around it come later and say theirs. Those of the model say it of what stems from no
 * call: calls have names of their own. `first`: of each turn the first value, and the next after the last turn. */
static void give_turns(Checker *checker, const Scope *scope, const TypedId *first, int turns) {
  TypedExpr *exprs = checker->program->exprs;
  bool has_sums = false;
  for (TypedId i = first[0]; i < first[turns]; i++) has_sums = has_sums || (exprs[i].kind == TYPED_REDUCE_EDGES && (*scope->path || !*exprs[i].scope));
  for (int turn = 0; has_sums && turns > 1 && turn < turns; turn++)
    for (TypedId i = first[turn]; i < first[turn + 1]; i++)
      if (*scope->path || !*exprs[i].scope) exprs[i].turn = turn + 1;
}

static void loop(Checker *checker, Scope *scope, const Stmt *stmt) {
  double first, last;
  if (!loop_bound(checker, scope, stmt->value, &first) || !loop_bound(checker, scope, stmt->to, &last)) return;
  if (last < first - 1) { /* 1 .. n - 1 with n = 1 is empty and may be meant */
    diags_error(checker->diags, "E0116", stmt->to->span.place, "this loop runs backward, from %.0f to %.0f; loops count up", first, last);
    return;
  }
  if (last - first >= LOOP_MAX) {
    diags_error(checker->diags, "E0112", stmt->span.place, "this loop would be unrolled %.0f times; the limit is %d", last - first + 1, LOOP_MAX);
    return;
  }
  int errors = diags_error_count(checker->diags), turns = 0;
  TypedId *first_value = arena_alloc(checker->arena, (size_t)(last - first + 2) * sizeof *first_value);
  scope->loop_depth++;
  for (double i = first; i <= last && !scope->has_returned && !checker->is_stopped; i++) {
    first_value[turns++] = checker->program->expr_count;
    check_set_variable(checker, scope, stmt->name, check_number(i, stmt->name), stmt->name_place);
    check_block(checker, scope, stmt->body);
    if (diags_error_count(checker->diags) > errors) break;
  }
  scope->loop_depth--;
  first_value[turns] = checker->program->expr_count;
  give_turns(checker, scope, first_value, turns);
}

static void give_back(Checker *checker, Scope *scope, const Stmt *stmt) {
  if (stmt->result_count > 1) {
    check_unsupported(checker, stmt->results[1]->span.place, "returning several values is");
    scope->result = (Value){.kind = VALUE_NONE};
  } else {
    scope->result = check_expr(checker, scope, stmt->results[0]);
  }
  scope->has_returned = true;
}

/* Of a branch that nobody knows whether it is taken: what it would set is known by name, and nothing is said of its uses. */
static void set_unknown(Checker *checker, Scope *scope, const Block *block) {
  for (int i = 0; block && i < block->count; i++)
    if (block->stmts[i]->kind == STMT_ASSIGN) check_set_variable(checker, scope, block->stmts[i]->name, (Value){.kind = VALUE_NONE}, block->stmts[i]->name_place);
}

static void check_stmt(Checker *checker, Scope *scope, const Stmt *stmt) {
  bool is_true;
  switch (stmt->kind) {
  case STMT_DOC: case STMT_ERROR: break;
  case STMT_PARAM: check_param(checker, scope, stmt); break;
  case STMT_ASSIGN: assign(checker, scope, stmt); break;
  case STMT_FOR: loop(checker, scope, stmt); break;
  case STMT_RETURN: give_back(checker, scope, stmt); break;
  case STMT_IF:
    if (check_condition(checker, scope, stmt->value, &is_true)) {
      if (is_true) check_block(checker, scope, stmt->body);
      else if (stmt->other) check_block(checker, scope, stmt->other);
    } else {
      set_unknown(checker, scope, stmt->body);
      set_unknown(checker, scope, stmt->other);
    }
    break;
  }
}

void check_block(Checker *checker, Scope *scope, const Block *block) {
  for (int i = 0; i < block->count; i++) {
    const Stmt *stmt = block->stmts[i];
    if (scope->has_returned) {
      diags_error(checker->diags, "E0330", stmt->span.place, "nothing after \"return\" is ever reached");
      return;
    }
    checker->is_stopped = checker->is_stopped || diags_is_full(checker->diags);
    if (checker->is_stopped || !check_step(checker, stmt->span.place)) return;
    if (checker->depth >= CHECK_DEPTH_MAX) {
      diags_error(checker->diags, "E0111", stmt->span.place, "blocks are nested too deeply here");
      checker->is_stopped = true;
      return;
    }
    checker->depth++;
    check_stmt(checker, scope, stmt);
    checker->depth--;
  }
}
