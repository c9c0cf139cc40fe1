/* verify_graph: is the graph well-formed and are its shapes those that the operators give?
 *
 * Shares nothing with the passes that build graphs but the declarations. Cost: one walk.
 */
#include "graph.h"

#include <inttypes.h>

static int64_t elements(const Shape *shape) {
  int64_t n = 1;
  for (int d = 0; d < shape->rank; d++) n *= shape->size[d];
  return n;
}

static bool same_extent(const Shape *a, const Shape *b) {
  return a->domain == b->domain && elements(a) == elements(b);
}

/* A weight that has a row for each node lives nowhere, or on the nodes. */
static bool same_numbers(const Graph *graph, const Shape *a, const Shape *b) {
  const bool is_of_nodes = a->domain != b->domain && (domain_is_nodes(a->domain) || domain_is_nodes(b->domain)) && (a->domain == DOMAIN_NONE || b->domain == DOMAIN_NONE);
  return (is_of_nodes || a->domain == b->domain) && graph_rows(graph, a->domain) * elements(a) == graph_rows(graph, b->domain) * elements(b);
}

static const char *check_broadcast(const Shape *small, const Shape *large, const int *map) {
  bool is_used[MAX_RANK] = {false};
  if (small->domain != large->domain && small->domain != DOMAIN_NONE) return "rows of another domain are repeated";
  for (int d = 0; d < large->rank; d++) {
    if (map[d] == NO_INDEX) continue;
    if (map[d] < 0 || map[d] >= small->rank) return "a dimension maps to none";
    if (small->size[map[d]] != large->size[d]) return "mapped dimensions differ in size";
    if (is_used[map[d]]) return "two dimensions map to the same one";
    is_used[map[d]] = true;
  }
  for (int d = 0; d < small->rank; d++)
    if (!is_used[d] && small->size[d] != 1) return "a dimension of the smaller side is lost";
  return NULL;
}

/* `small` is of `large` the numbers from `begin` on along `axis`. */
static bool check_part(const Shape *small, const Shape *large, int axis, int64_t begin) {
  if (small->domain != large->domain || small->rank != large->rank || small->element != large->element || axis < 0 || axis >= small->rank) return false;
  for (int d = 0; d < small->rank; d++)
    if (d != axis && small->size[d] != large->size[d]) return false;
  return begin >= 0 && begin + small->size[axis] <= large->size[axis];
}

static bool is_of_others(const Shape *others, const Shape *own) {
  Shape like = *own;
  like.domain = DOMAIN_OTHERS;
  return shape_equal(others, &like);
}

static const char *check_value(const Graph *graph, const Value *value) {
  const Shape *s = &value->shape;
  const Shape *o[MAX_VALUE_OPERANDS] = {NULL};
  for (int k = 0; k < value->operand_count; k++) o[k] = &graph->values[value->operand[k]].shape;
  const TypedProgram *program = graph->program;
  switch (op_info[value->op].shape) {
  case SHAPE_FIELD: return value->as.index < 0 || value->as.index >= program->field_count ? "no such field" : NULL;
  case SHAPE_HOISTED: return value->as.once.index < 0 || (s->domain != DOMAIN_NODE && s->domain != DOMAIN_OTHERS && !(s->domain == DOMAIN_EDGE && value_table(value))) || s->element != ELEMENT_REAL ? "not what can be computed once" : NULL;
  case SHAPE_WEIGHT: return value->as.index < 0 || value->as.index >= program->param_count ? "no such weight" : NULL;
  case SHAPE_OPTION:
    if (value->as.index < 0 || value->as.index >= program->option_count) return "no such option";
    return elements(s) == 1 && s->domain == DOMAIN_NONE ? NULL : "an option is a scalar";
  case SHAPE_SCALAR: return elements(s) == 1 && s->domain == DOMAIN_NONE ? NULL : "a number or a loss is a scalar";
  case SHAPE_DEGREE: return s->domain == domain_at(value->as.degree.edges, value->as.degree.end) && s->rank == 0 ? NULL : "a degree is one number a node";
  case SHAPE_NEIGHBOURS: return s->domain == DOMAIN_NODE && s->rank == 0 && s->element == ELEMENT_LABEL ? NULL : "neighbours and entries lie with nodes";
  case SHAPE_EACH:
    for (int k = 0; k < value->operand_count; k++)
      if (!shape_equal(s, o[k])) return "operands of an element-wise function differ in shape";
    return value->operand_count == point_arity(value->as.function) ? NULL : "wrong number of operands";
  case SHAPE_REPEAT: return check_broadcast(o[0], s, value->as.map);
  case SHAPE_SUM: return check_broadcast(s, o[0], value->as.map);
  case SHAPE_EXTENT: return same_numbers(graph, s, o[0]) ? NULL : "a reshape changes the number of elements";
  case SHAPE_TO_EDGES:
    if (!domain_is_edges(s->domain) || o[0]->domain != domain_at(s->domain, value->as.end)) return "lift goes from nodes to edges";
    return elements(s) == elements(o[0]) ? NULL : "lift changes the width";
  case SHAPE_TO_NODES:
    if (!domain_is_edges(o[0]->domain) || s->domain != domain_at(o[0]->domain, value->as.end)) return "gather goes from edges to nodes";
    return elements(s) == elements(o[0]) ? NULL : "gather changes the width";
  case SHAPE_DROPOUT:
    return shape_equal(s, o[0]) && graph_is_scalar(graph, value->operand[1]) ? NULL : "dropout keeps the shape";
  case SHAPE_BITS: return same_extent(s, o[0]) && s->element == ELEMENT_BIT ? NULL : "one bit for each element";
  case SHAPE_SELECT:
    if (o[0]->element != ELEMENT_BIT) return "select wants bits";
    return same_extent(s, o[0]) && shape_equal(s, o[1]) && shape_equal(s, o[2]) ? NULL : "select keeps the shape";
  case SHAPE_PRODUCT: {
    const struct Contraction *p = &value->as.product;
    if (o[1]->domain != DOMAIN_NONE) return "the matrix lives somewhere";
    if (elements(o[0]) != p->lead * p->depth || elements(o[1]) != p->depth * p->width) return "sizes do not multiply";
    return s->domain == o[0]->domain && elements(s) == p->lead * p->width ? NULL : "the product has another size";
  }
  case SHAPE_OUTER_PRODUCT: {
    const struct Contraction *p = &value->as.product;
    if (o[0]->domain != o[1]->domain || s->domain != DOMAIN_NONE) return "both operands have the same rows";
    if (elements(o[0]) != p->lead * p->depth || elements(o[1]) != p->lead * p->width) return "sizes do not multiply";
    return elements(s) == p->depth * p->width ? NULL : "the product has another size";
  }
  case SHAPE_RUNNING: return shape_equal(s, o[0]) && shape_equal(s, o[1]) && shape_equal(s, o[2]) ? NULL : "a buffer follows values of its own shape";
  case SHAPE_ALIKE: return shape_equal(s, o[0]) ? NULL : "the operand has another shape";
  case SHAPE_HALO: return shape_equal(s, o[0]) || (o[0]->domain == DOMAIN_NODE && is_of_others(s, o[0])) ? NULL : "the operand has another shape";
  case SHAPE_BEHIND: return shape_equal(s, o[0]) && s->domain == DOMAIN_NODE && is_of_others(o[1], s) ? NULL : "rows of others are not like the rank's own";
  case SHAPE_PART: return check_part(s, o[0], value->as.part.axis, value->as.part.begin) ? NULL : "a slice goes beyond its operand";
  case SHAPE_CONCAT: {
    int64_t begin = 0;
    for (int k = 0; k < value->operand_count; begin += o[k++]->size[value->as.part.axis])
      if (o[k]->rank != s->rank || !check_part(o[k], s, value->as.part.axis, begin)) return "the parts do not fit side by side";
    return begin == s->size[value->as.part.axis] ? NULL : "the parts do not fill the result";
  }
  case SHAPE_COLUMNS:
    if (!typed_are_all_nodes(graph->program->info, s->domain) || !domain_is_nodes(o[0]->domain)) return "columns are of all nodes";
    return s->rank == 1 && elements(s) * graph->program->info->ranks->count >= elements(o[0]) ? NULL : "the ranks have not all columns";
  case SHAPE_BACK:
    if (s->domain != DOMAIN_NODE || !typed_are_all_nodes(graph->program->info, o[0]->domain)) return "what comes back are sums of all nodes";
    return s->rank == 1 && elements(s) % elements(o[0]) == 0 && elements(s) <= elements(o[0]) * graph->program->info->ranks->count ? NULL : "other columns come back than there are";
  case SHAPE_BESIDE: return s->domain == o[0]->domain && elements(s) <= elements(o[0]) ? NULL : "there are not as many columns";
  case SHAPE_GRADIENT: return shape_equal(s, o[0]) ? NULL : "a gradient has the shape of its value";
  case SHAPE_UPDATE:
    if (value->operand_count < 2 || value->operand_count > 3 + MAX_STATES) return "wrong number of operands";
    for (int k = 2; k < value->operand_count; k++) {
      const Value *further = &graph->values[value->operand[k]];
      const bool is_of_weight = further->op == OP_STATE && further->as.state.index == value->as.index && shape_equal(o[0], &further->shape);
      if (!is_of_weight && (k > 2 || !graph_is_scalar(graph, value->operand[2]))) return "gradients are multiplied by one number";
    }
    return shape_equal(o[0], o[1]) ? NULL : "a gradient has the shape of its weight";
  }
  return "unknown operator";
}

const char *verify_graph(const Graph *graph) {
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    const char *fault = NULL;
    if (value->shape.rank < 0 || value->shape.rank > MAX_RANK) fault = "rank out of range";
    int arity = op_info[value->op].operand_count;
    if (!fault && arity >= 0 && value->operand_count != arity) fault = "wrong number of operands";
    for (int k = 0; !fault && k < value->operand_count; k++)
      if (value->operand[k] < 0 || value->operand[k] >= i) fault = "an operand does not come first";
    if (!fault) fault = check_value(graph, value);
    if (fault) return arena_printf(graph->arena, "%%%d (%s): %s", i, op_info[value->op].name, fault);
  }
  if (graph->scores != NO_VALUE && graph->scores >= graph->value_count) return "the scores are not a value";
  for (int i = 0; i < graph->once_count; i++)
    if (graph->once[i] < 0 || graph->once[i] >= graph->value_count) return "what is computed once is not a value";
  if (graph->is_training && graph->loss == NO_VALUE) return "a training graph without a loss";
  return NULL;
}
