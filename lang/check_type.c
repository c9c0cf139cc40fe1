/* check_type: domains and dimensions: what can be combined, and what comes out. */
#include <ctype.h>
#include <string.h>

#include "check.h"

Type check_scalar_type(void) {
  return (Type){.domain = DOMAIN_NONE, .dtype = DTYPE_F32};
}

bool check_is_anonymous(const Dim *dim) {
  return !isalpha((unsigned char)dim->name[0]) && dim->name[0] != '_' && dim->name[0] != '(';
}

const char *check_domain_word(const Checker *checker, Domain domain) { return typed_domain_name(checker->program->info, domain); }

const char *check_type_text(Checker *checker, const Type *type) {
  if (type->dtype == DTYPE_CLASS) return arena_printf(checker->arena, "%s class[%lld]", check_domain_word(checker, type->domain), (long long)type->classes);
  const char *text = arena_printf(checker->arena, "%s[", check_domain_word(checker, type->domain));
  for (int d = 0; d < type->rank; d++)
    text = arena_printf(checker->arena, "%s%s%lld", text, d ? ", " : "", (long long)type->dim[d].size);
  return arena_printf(checker->arena, "%s]", text);
}

Value check_emit(Checker *checker, Scope *scope, TypedExpr expr) {
  if (!check_step(checker, expr.place)) return (Value){.kind = VALUE_NONE};
  TypedProgram *program = checker->program;
  expr.scope = scope ? scope->path : "";
  if (!expr.name) expr.name = "";
  ARENA_PUSH(checker->arena, program->exprs, program->expr_count, expr);
  return (Value){.kind = VALUE_TENSOR, .id = program->expr_count - 1, .type = expr.type};
}

Value check_lift(Checker *checker, Scope *scope, Value x, Domain edges, EdgeEnd end, Place place) {
  if (x.kind == VALUE_NONE) return x;
  TypedExpr e = {.kind = TYPED_LIFT, .type = x.type, .operand_count = 1, .operand = {x.id}, .end = end, .place = place};
  e.type.domain = edges;
  return check_emit(checker, scope, e);
}

Value check_reduce_edges(Checker *checker, Scope *scope, Value x, Reducer reducer, EdgeEnd end, Place place) {
  if (x.kind == VALUE_NONE) return x;
  if (!check_tells_no_pairs(checker, x.type.domain, place)) return (Value){.kind = VALUE_NONE};
  TypedExpr e = {.kind = TYPED_REDUCE_EDGES, .type = x.type, .operand_count = 1, .operand = {x.id}, .reducer = reducer, .end = end, .place = place};
  e.type.domain = domain_at(x.type.domain, end);
  return check_emit(checker, scope, e);
}

Value check_tensor(Checker *checker, Scope *scope, Value value, Place place) {
  if (value.kind == VALUE_TENSOR || value.kind == VALUE_NONE) return value;
  if (value.kind == VALUE_NUMBER) {
    TypedExpr e = {.kind = TYPED_NUMBER, .number = value.number, .place = place, .type = check_scalar_type()};
    return check_emit(checker, scope, e);
  }
  diags_error(checker->diags, "E0215", place, "%s is no value to compute with",
              value.kind == VALUE_STRING ? arena_printf(checker->arena, "the text \"%s\"", value.text) : value.kind == VALUE_BOOL ? value.text : "an initialiser");
  return (Value){.kind = VALUE_NONE};
}

/* ---- broadcasting by name ---- */

typedef struct Join {
  Type type;
  int from[2][MAX_RANK]; /* per dimension of the result: that of the operand, or NO_INDEX where it is spread */
} Join;

typedef enum JoinError { JOIN_OK, JOIN_SIZES, JOIN_NAMES, JOIN_DOMAINS } JoinError;

static bool is_spreadable(const Dim *dim) {
  return dim->size == 1 && check_is_anonymous(dim);
}

/* The partner in `large` of dimension `s` of `small` when names do not tell: the one at the same place from the right. */
static JoinError join_by_place(const Type *large, const Type *small, int s, const int *partner_of, int *d) {
  *d = large->rank - small->rank + s;
  const Dim *big = &large->dim[*d], *little = &small->dim[s];
  if (partner_of[*d] != NO_INDEX) return JOIN_SIZES;
  if (is_spreadable(big) || is_spreadable(little)) return JOIN_OK;
  if (big->size != little->size) return JOIN_SIZES;
  return check_is_anonymous(big) || check_is_anonymous(little) ? JOIN_OK : JOIN_NAMES;
}

static JoinError join_types(const Type *a, const Type *b, Join *join) {
  bool is_swapped = b->rank > a->rank;
  const Type *large = is_swapped ? b : a, *small = is_swapped ? a : b;
  int partner[MAX_RANK], own[MAX_RANK];
  bool is_matched[MAX_RANK] = {false};
  for (int d = 0; d < MAX_RANK; d++) partner[d] = NO_INDEX;
  if (a->domain != DOMAIN_NONE && b->domain != DOMAIN_NONE && a->domain != b->domain) return JOIN_DOMAINS;
  for (int d = large->rank - 1; d >= 0; d--)
    for (int s = small->rank - 1; s >= 0 && partner[d] == NO_INDEX; s--)
      if (!is_matched[s] && !check_is_anonymous(&small->dim[s]) && strcmp(small->dim[s].name, large->dim[d].name) == 0) {
        if (small->dim[s].size != large->dim[d].size) return JOIN_SIZES;
        partner[d] = s;
        is_matched[s] = true;
      }
  for (int s = small->rank - 1; s >= 0; s--) {
    int d;
    if (is_matched[s]) continue;
    JoinError error = join_by_place(large, small, s, partner, &d);
    if (error != JOIN_OK) return error;
    partner[d] = s;
  }
  join->type = *large;
  join->type.domain = a->domain != DOMAIN_NONE ? a->domain : b->domain;
  for (int d = 0; d < large->rank; d++) {
    int s = partner[d];
    own[d] = d;
    if (s == NO_INDEX) continue;
    const Dim *big = &large->dim[d], *little = &small->dim[s];
    bool is_big_spread = is_spreadable(big) && little->size != 1, is_little_spread = is_spreadable(little) && big->size != 1;
    if (is_big_spread || (check_is_anonymous(big) && !is_little_spread)) join->type.dim[d] = *little;
    if (is_big_spread) own[d] = NO_INDEX;
    if (is_little_spread) partner[d] = NO_INDEX;
  }
  memcpy(join->from[is_swapped ? 1 : 0], own, sizeof own);
  memcpy(join->from[is_swapped ? 0 : 1], partner, sizeof partner);
  return JOIN_OK;
}

/* Two dimensions of one size, neither of them meant by name: right-aligned may not be what was meant. */
static bool is_ambiguous(const Type *a, const Type *b) {
  const Type *large = a->rank >= b->rank ? a : b, *small = a->rank >= b->rank ? b : a;
  if (small->rank != 1 || large->rank < 2 || !check_is_anonymous(&small->dim[0]) || small->dim[0].size == 1) return false;
  int count = 0;
  for (int d = 0; d < large->rank; d++) count += large->dim[d].size == small->dim[0].size;
  return count > 1;
}

/* Two types of nodes, or the edges of two relations. */
static void report_types(Checker *checker, Place place, const Operand *a, const Operand *b) {
  const DataInfo *info = checker->program->info;
  diags_error(checker->diags, "E0302", place, "\"%s\" lives on %s and \"%s\" on %s", ast_expr_text(checker->arena, a->expr), typed_domain_name(info, a->value.type.domain),
              ast_expr_text(checker->arena, b->expr), typed_domain_name(info, b->value.type.domain));
  if (domain_is_nodes(a->value.type.domain)) diags_help(checker->diags, "values of two types of nodes meet on the edges between them: src.u * dst.v over a relation");
  else diags_help(checker->diags, "values of two relations meet on the nodes where both end: sum(m) + sum(n)");
}

static void report_domains(Checker *checker, Place place, const Operand *a, const Operand *b) {
  if (a->value.type.domain == DOMAIN_GRAPH || b->value.type.domain == DOMAIN_GRAPH) {
    const Operand *on_graph = a->value.type.domain == DOMAIN_GRAPH ? a : b, *other = on_graph == a ? b : a;
    const char *graph = ast_expr_text(checker->arena, on_graph->expr), *text = ast_expr_text(checker->arena, other->expr);
    diags_error(checker->diags, "E0302", place, "\"%s\" lives on graphs and \"%s\" on %ss", graph, text, check_domain_word(checker, other->value.type.domain));
    diags_help(checker->diags, "graph.g is the value of each node's graph; sum(h, to = graph) pools the nodes of each graph");
    return;
  }
  if (domain_is_nodes(a->value.type.domain) == domain_is_nodes(b->value.type.domain)) {
    report_types(checker, place, a, b);
    return;
  }
  const Operand *on_node = domain_is_nodes(a->value.type.domain) ? a : b, *on_edge = on_node == a ? b : a;
  const char *node = ast_expr_text(checker->arena, on_node->expr), *edge = ast_expr_text(checker->arena, on_edge->expr);
  bool is_name = on_node->expr->kind == EXPR_NAME; /* src. stands before names alone */
  if (is_name) diags_error(checker->diags, "E0302", place, "\"%s\" lives on nodes and \"%s\" on edges; say which end: src.%s or dst.%s", node, edge, node, node);
  else diags_error(checker->diags, "E0302", place, "\"%s\" lives on nodes and \"%s\" on edges; give it a name, m = %s, and say which end: src.m or dst.m", node, edge, node);
  diags_label(checker->diags, on_node->expr->span.place, span_width(on_node->expr->span), "%s", check_type_text(checker, &on_node->value.type));
  diags_label(checker->diags, on_edge->expr->span.place, span_width(on_edge->expr->span), "%s", check_type_text(checker, &on_edge->value.type));
}

static const Dim *unmatched_dim(const Type *type, const Type *other) {
  for (int d = type->rank - 1; d >= 0; d--) {
    bool is_known = false;
    for (int k = 0; k < other->rank; k++) is_known = is_known || strcmp(other->dim[k].name, type->dim[d].name) == 0;
    if (!is_known) return &type->dim[d];
  }
  return &type->dim[type->rank - 1];
}

static const char *names_text(Checker *checker, const Type *type) {
  const char *text = arena_printf(checker->arena, "%s[", check_domain_word(checker, type->domain));
  for (int d = 0; d < type->rank; d++) text = arena_printf(checker->arena, "%s%s%s", text, d ? ", " : "", type->dim[d].name);
  return arena_printf(checker->arena, "%s]", text);
}

static void label_operand(Checker *checker, const Operand *operand, bool has_names) {
  const Type *type = &operand->value.type;
  diags_label(checker->diags, operand->expr->span.place, span_width(operand->expr->span), "%s",
              has_names ? names_text(checker, type) : check_type_text(checker, type));
}

static void report_join(Checker *checker, JoinError error, const char *verb, Place place, const Operand *a, const Operand *b) {
  const Type *x = &a->value.type, *y = &b->value.type;
  if (error == JOIN_DOMAINS) {
    report_domains(checker, place, a, b);
    return;
  }
  if (error == JOIN_NAMES) {
    const Dim *p = unmatched_dim(x, y), *q = unmatched_dim(y, x);
    diags_error(checker->diags, "E0305", place,
                "no dimension in common: \"%s\" (%lld) and \"%s\" (%lld) have the same size but different names; if they are meant to match, "
                "declare them with the same constant", p->name, (long long)p->size, q->name, (long long)q->size);
  } else {
    const char *joint = strcmp(verb, "add") == 0 ? "and" : strcmp(verb, "subtract") == 0 ? "and" : strcmp(verb, "divide") == 0 ? "by" : "and";
    diags_error(checker->diags, "E0306", place, "cannot %s %s %s %s", verb, check_type_text(checker, x), joint, check_type_text(checker, y));
    bool is_flat = x->rank == 1 && y->rank == 1 && domain_is_nodes(x->domain) && domain_is_nodes(y->domain);
    if (is_flat && strcmp(verb, "add") == 0) {
      const char *width = check_is_anonymous(&x->dim[0]) ? arena_printf(checker->arena, "%lld", (long long)x->dim[0].size) : x->dim[0].name;
      diags_help(checker->diags, "project first: %s + Linear(%s, %s) as skip", ast_expr_text(checker->arena, a->expr),
                 ast_expr_text(checker->arena, b->expr), width);
    }
  }
  label_operand(checker, a, error == JOIN_NAMES);
  label_operand(checker, b, error == JOIN_NAMES);
}

/* ---- what lower will do with it ---- */

static bool is_as_wanted(const Type *stored, const Type *result, const int *wanted) {
  int map[MAX_RANK];
  typed_match_dims(stored, result, map);
  for (int d = 0; d < result->rank; d++) {
    bool is_single = result->dim[d].size == 1;
    if (map[d] != wanted[d] && !(is_single && (map[d] == NO_INDEX || wanted[d] == NO_INDEX))) return false;
  }
  return true;
}

/* The operand with its dimensions named as in the result, when the names it was made with would lead astray. */
static TypedId renamed_operand(Checker *checker, Scope *scope, TypedId id, Type *result, const int *wanted, Place place) {
  const TypedExpr *stored = &checker->program->exprs[id];
  if (is_as_wanted(&stored->type, result, wanted)) return id;
  TypedExpr renamed = {.kind = TYPED_RESHAPE, .type = stored->type, .operand_count = 1, .operand = {id}, .place = place};
  for (int d = 0; d < result->rank; d++)
    if (wanted[d] != NO_INDEX) {
      result->dim[d].name = check_is_anonymous(&result->dim[d]) ? arena_printf(checker->arena, "%s.%d", result->dim[d].name, d) : result->dim[d].name;
      renamed.type.dim[wanted[d]].name = result->dim[d].name;
    }
  Value value = check_emit(checker, scope, renamed);
  return value.kind == VALUE_TENSOR ? value.id : id;
}

static bool settle(Checker *checker, Scope *scope, Join *join, Operand *a, Operand *b, Place place) {
  for (int round = 0; round < 3; round++) {
    a->value.id = renamed_operand(checker, scope, a->value.id, &join->type, join->from[0], place);
    b->value.id = renamed_operand(checker, scope, b->value.id, &join->type, join->from[1], place);
    if (is_as_wanted(&checker->program->exprs[a->value.id].type, &join->type, join->from[0]) &&
        is_as_wanted(&checker->program->exprs[b->value.id].type, &join->type, join->from[1]))
      return true;
  }
  diags_error(checker->diags, "E0317", place, "these dimensions cannot be told apart; declare their sizes as constants with names of their own");
  return false;
}

/* ---- operators ---- */

static Value map_two(Checker *checker, Scope *scope, MapOp op, const char *verb, Place place, Operand a, Operand b) {
  Join join;
  JoinError error = join_types(&a.value.type, &b.value.type, &join);
  if (error != JOIN_OK) {
    report_join(checker, error, verb, place, &a, &b);
    return (Value){.kind = VALUE_NONE};
  }
  if (is_ambiguous(&a.value.type, &b.value.type)) {
    diags_warning(checker->diags, "W0318", "ambiguous-dims", place, "%s fits more than one dimension of %s; the last one is taken",
                  check_type_text(checker, a.value.type.rank == 1 ? &a.value.type : &b.value.type),
                  check_type_text(checker, a.value.type.rank == 1 ? &b.value.type : &a.value.type));
    diags_help(checker->diags, "give the sizes names: const heads = 8");
  }
  if (!settle(checker, scope, &join, &a, &b, place)) return (Value){.kind = VALUE_NONE};
  TypedExpr e = {.kind = TYPED_MAP, .map = op, .type = join.type, .operand_count = 2, .operand = {a.value.id, b.value.id}, .place = place};
  return check_emit(checker, scope, e);
}

static bool is_number_type(Checker *checker, const Operand *operand) {
  if (operand->value.type.dtype == DTYPE_F32) return true;
  diags_error(checker->diags, "E0322", operand->expr->span.place, "\"%s\" holds classes, which are not numbers to compute with",
              ast_expr_text(checker->arena, operand->expr));
  return false;
}

Value check_map(Checker *checker, Scope *scope, MapOp op, const char *verb, Place place, int count, const Operand *operands) {
  for (int i = 0; i < count; i++) {
    if (operands[i].value.kind != VALUE_TENSOR) return (Value){.kind = VALUE_NONE};
    if (!is_number_type(checker, &operands[i])) return (Value){.kind = VALUE_NONE};
  }
  if (count == 2) return map_two(checker, scope, op, verb, place, operands[0], operands[1]);
  TypedExpr e = {.kind = TYPED_MAP, .map = op, .type = operands[0].value.type, .operand_count = 1, .operand = {operands[0].value.id}, .place = place};
  return check_emit(checker, scope, e);
}

/* The operand under the dimensions of `type`, `from` saying which of its own stands at each. */
static bool spread_operand(Checker *checker, Scope *scope, Operand *operand, const Type *type, const int *from, Place place) {
  bool is_same = operand->value.type.domain == type->domain && operand->value.type.rank == type->rank;
  for (int d = 0; d < type->rank; d++) is_same = is_same && from[d] == d;
  if (is_same) {
    operand->value.type = *type;
    return true;
  }
  TypedExpr e = {.kind = TYPED_SPREAD, .type = *type, .operand_count = 1, .operand = {operand->value.id}, .place = place};
  memcpy(e.dims, from, sizeof e.dims);
  operand->value = check_emit(checker, scope, e);
  return operand->value.kind == VALUE_TENSOR;
}

bool check_spread_together(Checker *checker, Scope *scope, const char *verb, Place place, int count, Operand *operands, Type *type) {
  *type = operands[0].value.type;
  for (int round = 0; round < 2; round++) /* the second takes the first operands to what the last ones have added */
    for (int i = 0; i < count; i++) {
      Join join;
      Operand whole = {{.kind = VALUE_TENSOR, .type = *type}, operands[0].expr};
      const JoinError error = join_types(type, &operands[i].value.type, &join);
      if (error != JOIN_OK) {
        report_join(checker, error, verb, place, &whole, &operands[i]);
        return false;
      }
      *type = join.type;
      if (round == 1 && !spread_operand(checker, scope, &operands[i], type, join.from[1], place)) return false;
    }
  return true;
}

static bool is_rank_allowed(Checker *checker, Place place, int rank) {
  if (rank <= MAX_RANK) return true;
  diags_error(checker->diags, "E0323", place, "the result would have %d dimensions; at most %d are supported", rank, MAX_RANK);
  return false;
}

static const char *source_of(Checker *checker, const Operand *operand) {
  const TypedExpr *e = &checker->program->exprs[operand->value.id];
  if (e->kind == TYPED_PARAM) return arena_printf(checker->arena, ", declared on %s", check_where(checker, checker->program->params[e->index].place));
  if (e->kind == TYPED_FIELD) return arena_printf(checker->arena, ", from %s.%s", checker->program->data->name, checker->program->fields[e->index].name);
  return "";
}

static void report_product(Checker *checker, Place place, const Operand *x, const Operand *w, int64_t x_size, int64_t w_size) {
  const char *x_text = ast_expr_text(checker->arena, x->expr), *w_text = ast_expr_text(checker->arena, w->expr);
  diags_error(checker->diags, "E0301", place, "cannot multiply: `%s` has %lld features, `%s` expects %lld", x_text, (long long)x_size, w_text, (long long)w_size);
  diags_label(checker->diags, x->expr->span.place, span_width(x->expr->span), "%s%s", check_type_text(checker, &x->value.type), source_of(checker, x));
  diags_label(checker->diags, w->expr->span.place, span_width(w->expr->span), "`%s` is %s%s", w_text, check_type_text(checker, &w->value.type), source_of(checker, w));
  const TypedExpr *e = &checker->program->exprs[w->value.id];
  if (e->kind == TYPED_PARAM && w->value.type.rank == 2 && x->value.type.rank == 1)
    diags_help(checker->diags, "declare `param %s : [f, %lld]` and let the size follow the data", w_text, (long long)w->value.type.dim[1].size);
}

Value check_matmul(Checker *checker, Scope *scope, Place place, Operand x, Operand w) {
  if (x.value.kind != VALUE_TENSOR || w.value.kind != VALUE_TENSOR) return (Value){.kind = VALUE_NONE};
  if (!is_number_type(checker, &x) || !is_number_type(checker, &w)) return (Value){.kind = VALUE_NONE};
  const Type *a = &x.value.type, *b = &w.value.type;
  if (b->domain != DOMAIN_NONE || a->rank == 0 || b->rank == 0) {
    diags_error(checker->diags, "E0324", place, "\"@\" multiplies rows by a matrix of parameters; the right side is %s", check_type_text(checker, b));
    if (a->rank > 0 && b->rank > 0) diags_help(checker->diags, "dot(a, b) multiplies row by row");
    return (Value){.kind = VALUE_NONE};
  }
  if (a->dim[a->rank - 1].size != b->dim[0].size) {
    report_product(checker, place, &x, &w, a->dim[a->rank - 1].size, b->dim[0].size);
    return (Value){.kind = VALUE_NONE};
  }
  if (!is_rank_allowed(checker, place, a->rank + b->rank - 2)) return (Value){.kind = VALUE_NONE};
  TypedExpr e = {.kind = TYPED_MATMUL, .type = *a, .operand_count = 2, .operand = {x.value.id, w.value.id}, .place = place};
  e.type.rank = a->rank - 1;
  for (int d = 1; d < b->rank; d++) e.type.dim[e.type.rank++] = b->dim[d];
  return check_emit(checker, scope, e);
}

/* All but the last dimension. Dimensions of `b` that `a` lacks come behind those of `a`. */
static bool join_dot(Checker *checker, const Type *a, const Type *b, Join *join, Place place) {
  Type left = *a, right = *b;
  left.rank--;
  right.rank--;
  bool is_outer = true;
  for (int d = 0; d < left.rank; d++)
    for (int k = 0; k < right.rank; k++) {
      const Dim *p = &left.dim[d], *q = &right.dim[k];
      bool may_match = p->size == q->size && (check_is_anonymous(p) || check_is_anonymous(q));
      is_outer = is_outer && !may_match && strcmp(p->name, q->name) != 0;
    }
  bool is_map = right.domain == DOMAIN_NONE && left.domain != DOMAIN_NONE;
  if (!is_outer || !is_map || left.rank == 0 || right.rank == 0)
    if (join_types(&left, &right, join) == JOIN_OK) return true;
  if (!is_outer || !is_rank_allowed(checker, place, left.rank + right.rank)) return false;
  join->type = left;
  for (int d = 0; d < MAX_RANK; d++) join->from[0][d] = join->from[1][d] = NO_INDEX;
  for (int d = 0; d < left.rank; d++) join->from[0][d] = d;
  for (int k = 0; k < right.rank; k++) {
    join->from[1][join->type.rank] = k;
    join->type.dim[join->type.rank++] = right.dim[k];
  }
  return true;
}

Value check_dot(Checker *checker, Scope *scope, Place place, Operand a, Operand b) {
  if (a.value.kind != VALUE_TENSOR || b.value.kind != VALUE_TENSOR) return (Value){.kind = VALUE_NONE};
  if (!is_number_type(checker, &a) || !is_number_type(checker, &b)) return (Value){.kind = VALUE_NONE};
  const Type *x = &a.value.type, *y = &b.value.type;
  if (x->domain != DOMAIN_NONE && y->domain != DOMAIN_NONE && x->domain != y->domain) {
    report_domains(checker, place, &a, &b);
    return (Value){.kind = VALUE_NONE};
  }
  if (x->rank == 0 || y->rank == 0) {
    diags_error(checker->diags, "E0324", place, "dot needs a last dimension on both sides; it was given %s and %s", check_type_text(checker, x), check_type_text(checker, y));
    return (Value){.kind = VALUE_NONE};
  }
  if (x->dim[x->rank - 1].size != y->dim[y->rank - 1].size) {
    report_product(checker, place, &a, &b, x->dim[x->rank - 1].size, y->dim[y->rank - 1].size);
    return (Value){.kind = VALUE_NONE};
  }
  Join join;
  if (!join_dot(checker, x, y, &join, place)) {
    report_join(checker, JOIN_SIZES, "combine", place, &a, &b);
    return (Value){.kind = VALUE_NONE};
  }
  join.type.domain = x->domain != DOMAIN_NONE ? x->domain : y->domain;
  if (!is_rank_allowed(checker, place, join.type.rank + 1)) return (Value){.kind = VALUE_NONE};
  int last = join.type.rank++;
  join.type.dim[last] = x->dim[x->rank - 1];
  join.from[0][last] = x->rank - 1;
  join.from[1][last] = y->rank - 1;
  bool is_linear_map = x->domain != DOMAIN_NONE && y->domain == DOMAIN_NONE && y->rank >= 2 && last == x->rank + y->rank - 2;
  if (!is_linear_map && !settle(checker, scope, &join, &a, &b, place)) return (Value){.kind = VALUE_NONE};
  join.type.rank--;
  TypedExpr e = {.kind = TYPED_DOT, .type = join.type, .operand_count = 2, .operand = {a.value.id, b.value.id}, .place = place};
  return check_emit(checker, scope, e);
}
