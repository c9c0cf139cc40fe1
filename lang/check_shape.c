/* check_shape: the same numbers under other dimensions, some of them, or several values side by side. */
#include <string.h>

#include "check_function.h"

static const Value none = {.kind = VALUE_NONE};

Value check_flatten(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  (void)function;
  if (!check_argument(checker, scope, bound, 0, call)) return none;
  Value x = bound->operand[0].value;
  if (x.type.rank == 1) return x;
  TypedExpr e = {.kind = TYPED_RESHAPE, .type = x.type, .operand_count = 1, .operand = {x.id}, .place = call->place};
  e.type.rank = 1;
  Value size = check_number_named(checker, 1);
  for (int d = 0; d < x.type.rank; d++) {
    Expr times = {.kind = EXPR_BINARY, .text = "*", .place = call->place};
    Value next = check_number((double)x.type.dim[d].size, x.type.dim[d].name);
    size = d == 0 ? next : check_fold(checker, &times, size, next);
  }
  e.type.dim[0] = (Dim){(int64_t)size.number, size.text};
  return check_emit(checker, scope, e);
}

Value check_squeeze(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  (void)function;
  if (!check_argument(checker, scope, bound, 0, call)) return none;
  Value x = bound->operand[0].value;
  TypedExpr e = {.kind = TYPED_RESHAPE, .type = x.type, .operand_count = 1, .operand = {x.id}, .place = call->place};
  e.type.rank = 0;
  for (int d = 0; d < x.type.rank; d++)
    if (x.type.dim[d].size != 1) e.type.dim[e.type.rank++] = x.type.dim[d];
  return e.type.rank == x.type.rank ? x : check_emit(checker, scope, e);
}

/* Where zeros(word) lives; a type of nodes by its name. */
static bool find_domain(const Checker *checker, const char *word, Domain *domain) {
  const DataInfo *info = checker->program->info;
  *domain = strcmp(word, "edge") == 0 ? checker->edges : strcmp(word, "graph") == 0 ? DOMAIN_GRAPH : DOMAIN_NONE;
  if (*domain != DOMAIN_NONE || strcmp(word, "none") == 0) return true;
  if (check_is_type(checker, word)) *domain = typed_type_named(info, word);
  else if (strcmp(word, "node") == 0 && (!info || info->type_count == 0)) *domain = DOMAIN_NODE;
  return *domain != DOMAIN_NONE;
}

Value check_zeros(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  (void)function;
  const Expr *domain = bound->expr[0];
  TypedExpr e = {.kind = TYPED_ZEROS, .type = check_scalar_type(), .place = call->place};
  const Scope *layer = check_standard_call(checker, scope);
  if (layer && domain && domain->kind == EXPR_NAME && strcmp(domain->text, "node") == 0 && checker->program->info->type_count > 0) {
    diags_error(checker->diags, "E0310", layer->call_at, "%s is for nodes of one type, and those of data \"%s\" have several", layer->item->name, checker->program->data->name);
    diags_help(checker->diags, "one call for each relation, and their sum: (SAGE(a, p, 64) over writes) + (SAGE(p, 64) over cites)");
    return none;
  }
  const bool is_variable = domain && domain->kind == EXPR_NAME && check_find_variable(scope, domain->text);
  const bool is_word = domain && domain->kind == EXPR_NAME && !is_variable && find_domain(checker, domain->text, &e.type.domain);
  const Value like = domain && !is_word && (domain->kind != EXPR_NAME || is_variable || check_field_index(checker, domain->text) != NO_INDEX) ? check_expr(checker, scope, domain) : none;
  if (like.kind == VALUE_TENSOR) e.type.domain = like.type.domain;
  if (!is_word && like.kind != VALUE_TENSOR) {
    diags_error(checker->diags, "E0326", call->place,
                "zeros(...) begins with where the value lives: zeros(node, 16), or a type of nodes that the data declares, zeros(edge, 16), zeros(graph, 16) or zeros(none, 16); or with a value that lives there: zeros(x, 16)");
    return none;
  }
  if (e.type.domain == DOMAIN_EDGE && !check_has_edges(checker, scope, call->place, "zeros(edge)")) return none;
  for (int i = 1; i <= MAX_RANK && bound->expr[i]; i++)
    if (!check_size(checker, scope, bound->expr[i], &e.type.dim[e.type.rank++])) return none;
  return check_emit(checker, scope, e);
}

static int64_t extent(const Type *type) {
  int64_t n = 1;
  for (int d = 0; d < type->rank; d++) n *= type->dim[d].size;
  return n;
}

Value check_reshape(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  if (!check_argument_of_numbers(checker, scope, bound, 0, call)) return none;
  const Value x = bound->operand[0].value;
  if (!bound->is_given[1]) {
    check_needs_arguments(checker, function, call, "a value and its new dimensions");
    return none;
  }
  TypedExpr e = {.kind = TYPED_RESHAPE, .type = x.type, .operand_count = 1, .operand = {x.id}, .place = call->place};
  e.type.rank = 0;
  for (int i = 1; i <= MAX_RANK && bound->is_given[i]; i++)
    if (!check_size(checker, scope, bound->expr[i], &e.type.dim[e.type.rank++])) return none;
  if (extent(&e.type) != extent(&x.type)) {
    const Scope *layer = check_standard_call(checker, scope);
    const Written written = check_as_written(checker, scope, bound->operand[0].expr, x);
    const Place place = layer ? check_place_of(checker, scope, bound->operand[0].expr, call->place) : call->place;
    diags_error(checker->diags, "E0326", place, "\"%s\" has %lld numbers a row, %s has %lld", written.text, (long long)extent(&x.type), check_type_text(checker, &e.type), (long long)extent(&e.type));
    for (int i = 0; layer && i < layer->item->formal_count; i++)
      if (strcmp(layer->item->formals[i].name, "project") == 0) diags_help(checker->diags, "%s(..., project = true) brings it to that width", layer->item->name);
    return none;
  }
  return check_emit(checker, scope, e);
}

/* `axis = ` or the last one; NO_INDEX after a message. */
static int axis_or_last(Checker *checker, Scope *scope, const Function *function, const Call *call, const Operand *x, const Expr *axis) {
  if (axis) return check_axis(checker, scope, x, axis, false);
  if (x->value.type.rank > 0) return x->value.type.rank - 1;
  diags_error(checker->diags, "E0326", call->place, "\"%s\" has no dimension for %s to go along", ast_expr_text(checker->arena, x->expr), function->name);
  diags_help(checker->diags, "reshape(%s, 1) has one; a field has one where it is declared so, as f32[1]", ast_expr_text(checker->arena, x->expr));
  return NO_INDEX;
}

static Dim folded(Checker *checker, const char *op, const Call *call, Dim a, Dim b) {
  const Expr expr = {.kind = EXPR_BINARY, .text = op, .place = call->place};
  const Value size = check_fold(checker, &expr, check_number((double)a.size, a.name), check_number((double)b.size, b.name));
  return (Dim){(int64_t)size.number, size.text};
}

static bool is_alike(const Type *a, const Type *b, int axis) {
  if (a->domain != b->domain || a->rank != b->rank) return false;
  for (int d = 0; d < a->rank; d++) {
    const Dim *p = &a->dim[d], *q = &b->dim[d];
    const bool has_names = !check_is_anonymous(p) && !check_is_anonymous(q);
    if (d != axis && (p->size != q->size || (has_names && strcmp(p->name, q->name) != 0))) return false;
  }
  return true;
}

Value check_concat(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  int count = 0;
  for (; count < MAX_OPERANDS && bound->is_given[count]; count++)
    if (!check_argument_of_numbers(checker, scope, bound, count, call)) return none;
  const Operand *first = &bound->operand[0];
  const int axis = axis_or_last(checker, scope, function, call, first, bound->expr[MAX_OPERANDS]);
  if (axis == NO_INDEX) return none;
  if (count == 1) return first->value;
  TypedExpr e = {.kind = TYPED_CONCAT, .type = first->value.type, .axis = axis, .place = call->place};
  for (int k = 0; k < count; k++) {
    const Operand *part = &bound->operand[k];
    if (!is_alike(&part->value.type, &first->value.type, axis)) {
      diags_error(checker->diags, "E0326", call->place, "concat puts values side by side that differ in one dimension only; \"%s\" is %s, \"%s\" is %s",
                  ast_expr_text(checker->arena, first->expr), check_type_text(checker, &first->value.type), ast_expr_text(checker->arena, part->expr),
                  check_type_text(checker, &part->value.type));
      const Operand *number = part->value.type.rank == 0 ? part : first; /* of each row one, as a degree is */
      if (part->value.type.domain == first->value.type.domain && part->value.type.rank != first->value.type.rank && number->value.type.rank == 0)
        diags_help(checker->diags, "reshape(%s, 1) has a dimension", ast_expr_text(checker->arena, number->expr));
      return none;
    }
    e.operand[e.operand_count++] = part->value.id;
    if (k > 0) e.type.dim[axis] = folded(checker, "+", call, e.type.dim[axis], part->value.type.dim[axis]);
  }
  return check_emit(checker, scope, e);
}

Value check_slice(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  if (!check_argument_of_numbers(checker, scope, bound, 0, call)) return none;
  if (!bound->is_given[1] || !bound->is_given[2]) {
    check_needs_arguments(checker, function, call, "a value, where the slice begins and where it ends");
    return none;
  }
  const Operand *x = &bound->operand[0];
  const Value begin = bound->operand[1].value, end = bound->operand[2].value;
  const int axis = axis_or_last(checker, scope, function, call, x, bound->expr[3]);
  if (axis == NO_INDEX) return none;
  const Dim *dim = &x->value.type.dim[axis];
  const bool has_numbers = begin.kind == VALUE_NUMBER && end.kind == VALUE_NUMBER && check_is_whole(begin.number) && check_is_whole(end.number);
  if (!has_numbers || begin.number < 0 || begin.number >= end.number || end.number > (double)dim->size) {
    if (has_numbers)
      diags_error(checker->diags, "E0326", call->place, "the slice %.9g to %.9g is not within the %lld numbers of \"%s\"; slice(x, 0, 2) has the numbers 0 and 1", begin.number,
                  end.number, (long long)dim->size, dim->name);
    else diags_error(checker->diags, "E0215", call->place, "a slice begins and ends at constant whole numbers");
    return none;
  }
  TypedExpr e = {.kind = TYPED_SLICE, .type = x->value.type, .operand_count = 1, .operand = {x->value.id}, .axis = axis, .begin = (int64_t)begin.number, .place = call->place};
  const Dim last = {(int64_t)end.number, end.text}, before = {(int64_t)begin.number, begin.text};
  e.type.dim[axis] = before.size == 0 ? last : folded(checker, "-", call, last, before);
  return check_emit(checker, scope, e);
}

/* Every number of a row of one with every number of that row of the other. */
Value check_outer(Checker *checker, Scope *scope, const Function *function, const Call *call, Bound *bound) {
  if (!bound->is_given[1]) {
    check_needs_arguments(checker, function, call, "two values");
    return none;
  }
  if (!check_argument_of_numbers(checker, scope, bound, 0, call) || !check_argument_of_numbers(checker, scope, bound, 1, call)) return none;
  const Value a = bound->operand[0].value, b = bound->operand[1].value;
  if (a.type.domain != b.type.domain && a.type.domain != DOMAIN_NONE && b.type.domain != DOMAIN_NONE)
    return check_map(checker, scope, MAP_MUL, "multiply", call->place, 2, bound->operand); /* says so */
  if (a.type.rank + b.type.rank > MAX_RANK) {
    diags_error(checker->diags, "E0323", call->place, "the result would have %d dimensions; at most %d are supported", a.type.rank + b.type.rank, MAX_RANK);
    return none;
  }
  TypedExpr rows = {.kind = TYPED_SPREAD, .type = a.type, .operand_count = 1, .operand = {a.id}, .place = call->place}, columns = rows;
  if (a.type.domain == DOMAIN_NONE) rows.type.domain = b.type.domain;
  for (int d = 0; d < b.type.rank; d++) {
    Dim *dim = &rows.type.dim[rows.type.rank++];
    *dim = b.type.dim[d];
    for (int k = 0; k < a.type.rank; k++)
      if (strcmp(dim->name, a.type.dim[k].name) == 0) dim->name = arena_printf(checker->arena, "(%s)", dim->name);
  }
  columns.type = rows.type;
  columns.operand[0] = b.id;
  for (int d = 0; d < MAX_RANK; d++) {
    rows.dims[d] = d < a.type.rank ? d : NO_INDEX;
    columns.dims[d] = d >= a.type.rank && d < rows.type.rank ? d - a.type.rank : NO_INDEX;
  }
  const Value left = check_emit(checker, scope, rows), right = check_emit(checker, scope, columns);
  if (left.kind == VALUE_NONE || right.kind == VALUE_NONE) return none;
  return check_emit(checker, scope, (TypedExpr){.kind = TYPED_MAP, .map = MAP_MUL, .type = rows.type, .operand_count = 2, .operand = {left.id, right.id}, .place = call->place});
}
