#include "graph.h"

#include <inttypes.h>
#include <string.h>

#include "lang/name_table.h"

const OpInfo op_info[OP_COUNT] = {
#define OP(name, what, operands, kind, attribute, shape, simpler, derivative, is_linear, code, work, bytes) \
  {#name, operands, OP_KIND_##kind, ATTRIBUTE_##attribute, SHAPE_##shape, is_linear, WORK_##work, BYTES_##bytes},
#include "ops.h"
#undef OP
};

EdgeEnd graph_walk_end(const Value *value) { return op_is_aggregation(value->op) ? value->as.end : END_DST; }
bool op_is_aggregation(Op op) { return op_info[op].kind == OP_KIND_ANCHOR && op_info[op].attribute == ATTRIBUTE_END; }

bool op_is_reduction(Op op) { return op == OP_REDUCE || op == OP_REDUCE_MAX || op == OP_REDUCE_MIN; }

bool op_moves(Op op) {
  return op == OP_BROADCAST || op == OP_LIFT || op == OP_SLICE || op == OP_TILE || op_is_reduction(op) || op_info[op].kind == OP_KIND_ANCHOR;
}

int point_arity(int function) {
  return function < MAP_COUNT ? typed_map_arity((MapOp)function) : 1;
}

const char *point_name(int function) {
  if (function < MAP_COUNT) return typed_map_name((MapOp)function);
  static const char *const internal[] = {"gelu_slope"};
  return internal[function - POINT_FIRST_INTERNAL];
}

Graph *graph_new(Arena *arena, const TypedProgram *program) {
  Graph *graph = arena_alloc(arena, sizeof *graph);
  graph->arena = arena;
  graph->program = program;
  for (int kind = 0; kind < HALO_KINDS; kind++) graph->halo_rows[kind] = NO_VALUE;
  for (int s = 0; s < SPLIT_COUNT; s++) graph->split_rows[s] = NO_VALUE;
  graph->scores = graph->loss = graph->labels = graph->out_edges = graph->edge_codes = graph->node_ids = graph->edge_ids[END_SRC] = graph->edge_ids[END_DST] = graph->neighbours[END_SRC] = graph->neighbours[END_DST] = graph->offsets[END_SRC] = graph->offsets[END_DST] = NO_VALUE;
  return graph;
}

void graph_call(Graph *graph, ValueId id, const Called *names) {
  for (; names; names = names->next) {
    const Called *own = graph->values[id].called, *known = own;
    while (known && known->naming != names->naming) known = known->next;
    if (known) continue;
    Called *called = arena_alloc(graph->arena, sizeof *called);
    *called = (Called){names->naming, own};
    graph->values[id].called = called;
  }
}

void graph_drop_taps(Graph *graph) {
  for (int i = 0; i < graph->value_count; i++) graph->values[i].tap = NULL;
}

void graph_hide_taps(Graph *graph) {
  for (int i = 0; i < graph->value_count; i++) graph->values[i].was_tap = graph->values[i].was_tap || graph->values[i].tap;
  graph_drop_taps(graph);
}

int graph_once_index(const Graph *graph, ValueId value) {
  for (int i = 0; i < graph->once_count; i++)
    if (graph->once[i] == value) return i;
  return NO_INDEX;
}

bool graph_is_result(const Graph *graph, ValueId value) { return value == graph->scores || graph_once_index(graph, value) != NO_INDEX; }

Graph *graph_copy(const Graph *graph) {
  Graph *copy = graph_new(graph->arena, graph->program);
  for (int i = 0; i < graph->value_count; i++) graph_add(copy, graph->values[i]);
  copy->scores = graph->scores;
  copy->loss = graph->loss;
  for (int end = 0; end < 2; end++) copy->neighbours[end] = graph->neighbours[end], copy->offsets[end] = graph->offsets[end], copy->edge_ids[end] = graph->edge_ids[end];
  for (int kind = 0; kind < HALO_KINDS; kind++) copy->halo_rows[kind] = graph->halo_rows[kind];
  for (int s = 0; s < SPLIT_COUNT; s++) copy->split_rows[s] = graph->split_rows[s];
  copy->out_edges = graph->out_edges;
  copy->edge_codes = graph->edge_codes;
  copy->node_ids = graph->node_ids;
  copy->labels = graph->labels;
  copy->entries = graph->entries;
  copy->entry_offsets = graph->entry_offsets;
  copy->gradients = graph->gradients; /* lists that a rebuild makes anew */
  copy->updates = graph->updates;
  copy->update_count = graph->update_count;
  copy->once = graph->once;
  copy->once_count = graph->once_count;
  copy->is_training = graph->is_training;
  for (int n = 0; n < graph->note_count; n++) ARENA_PUSH(graph->arena, copy->notes, copy->note_count, graph->notes[n]);
  return copy;
}

int64_t shape_width(const Shape *shape) {
  int64_t width = 1;
  for (int d = 0; d < shape->rank; d++) width *= shape->size[d];
  return width;
}

bool shape_equal(const Shape *a, const Shape *b) {
  if (a->domain != b->domain || a->element != b->element || a->rank != b->rank) return false;
  for (int d = 0; d < a->rank; d++)
    if (a->size[d] != b->size[d]) return false;
  return true;
}

int64_t graph_rows(const Graph *graph, Domain domain) {
  return typed_rows(graph->program->info, domain);
}

HaloKind halo_kind(const Value *halo) { return halo->as.degree.halo; }

int value_table(const Value *value) {
  if (value->op == OP_HOISTED) return value->as.once.table;
  const bool is_table = value->op == OP_HALO || value->op == OP_BEHIND || value->op == OP_COLUMNS;
  return is_table && value->shape.domain != DOMAIN_OTHERS ? (int)halo_kind(value) + 1 : 0;
}

int64_t graph_value_rows(const Graph *graph, ValueId id) {
  const Value *value = &graph->values[id];
  const DataInfo *info = graph->program->info;
  if (info->is_of_rank && value_table(value)) return info->ranks->table[value_table(value) - 1];
  return graph_rows(graph, value->shape.domain);
}

int32_t graph_sparse_field(const Graph *graph, const bool *is_sparse_field, ValueId id, ValueId *dropout) {
  *dropout = NO_VALUE;
  if (graph->values[id].op == OP_DROPOUT) {
    *dropout = id;
    id = graph->values[id].operand[0];
  }
  const Value *value = &graph->values[id];
  return value->op == OP_INPUT && is_sparse_field[value->as.index] ? value->as.index : NO_INDEX;
}

int graph_sparse_side(const Graph *graph, const bool *is_sparse_field, ValueId outer) {
  ValueId dropout;
  for (int side = 0; side < 2; side++)
    if (graph_sparse_field(graph, is_sparse_field, graph->values[outer].operand[side], &dropout) != NO_INDEX) return side;
  return NO_INDEX;
}

int64_t graph_bytes(const Graph *graph, ValueId id) {
  const Shape *shape = &graph->values[id].shape;
  int64_t width = shape_width(shape);
  if (shape->element == ELEMENT_BIT) width = (width + 31) / 32;
  return 4 * width * graph_value_rows(graph, id);
}

bool graph_is_scalar(const Graph *graph, ValueId id) {
  const Shape *shape = &graph->values[id].shape;
  return shape->domain == DOMAIN_NONE && shape_width(shape) == 1;
}

ValueId graph_add(Graph *graph, Value value) {
  ValueId id = graph->value_count;
  if (!value.name) value.name = "";
  ARENA_PUSH(graph->arena, graph->values, graph->value_count, value);
  return id;
}

/* A value that continues `source`: same place, phase and base name. */
static Value like(const Graph *graph, ValueId source, Op op) {
  Value value = {.op = op};
  if (source != NO_VALUE) {
    value.place = graph->values[source].place;
    value.layer = graph->values[source].layer;
    value.phase = graph->values[source].phase;
    value.name = graph->values[source].name;
    value.shape = graph->values[source].shape;
  }
  return value;
}

ValueId graph_number(Graph *graph, double number) {
  Value value = like(graph, NO_VALUE, OP_NUMBER);
  value.as.number = number;
  return graph_add(graph, value);
}

ValueId graph_map(Graph *graph, int function, ValueId a, ValueId b) {
  Value value = like(graph, a, OP_MAP);
  value.as.function = function;
  value.operand_count = b == NO_VALUE ? 1 : 2;
  value.operand[0] = a;
  value.operand[1] = b == NO_VALUE ? 0 : b;
  return graph_add(graph, value);
}

ValueId graph_broadcast(Graph *graph, ValueId a, Shape shape, const int map[MAX_RANK]) {
  Value value = like(graph, a, OP_BROADCAST);
  shape.element = graph->values[a].shape.element;
  value.shape = shape;
  value.operand_count = 1;
  value.operand[0] = a;
  memcpy(value.as.map, map, sizeof value.as.map);
  return graph_add(graph, value);
}

ValueId graph_spread(Graph *graph, ValueId a, Shape shape) {
  const int none[MAX_RANK] = {NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX};
  return shape_equal(&graph->values[a].shape, &shape) ? a : graph_broadcast(graph, a, shape, none);
}

ValueId graph_reduce(Graph *graph, ValueId a, Shape shape, const int map[MAX_RANK]) { return graph_reduce_by(graph, OP_REDUCE, a, shape, map); }

ValueId graph_reduce_by(Graph *graph, Op op, ValueId a, Shape shape, const int map[MAX_RANK]) {
  Value value = like(graph, a, op);
  value.shape = shape;
  value.operand_count = 1;
  value.operand[0] = a;
  memcpy(value.as.map, map, sizeof value.as.map);
  return graph_add(graph, value);
}

static ValueId move_between_nodes_and_edges(Graph *graph, Op op, Domain domain, ValueId a, EdgeEnd end) {
  Value value = like(graph, a, op);
  value.shape.domain = domain;
  value.operand_count = 1;
  value.operand[0] = a;
  value.as.end = end;
  return graph_add(graph, value);
}

ValueId graph_aggregate(Graph *graph, Op op, ValueId a, EdgeEnd end) {
  return move_between_nodes_and_edges(graph, op, domain_at(graph->values[a].shape.domain, end), a, end);
}

ValueId graph_gather(Graph *graph, ValueId a, EdgeEnd end) { return graph_aggregate(graph, OP_GATHER, a, end); }

ValueId graph_lift(Graph *graph, ValueId a, Domain edges, EdgeEnd end) {
  return move_between_nodes_and_edges(graph, OP_LIFT, edges, a, end);
}

ValueId graph_degree(Graph *graph, Domain edges, EdgeEnd end) {
  if (edges == DOMAIN_MEMBER && end == END_SRC) return graph_spread(graph, graph_number(graph, 1), (Shape){.domain = DOMAIN_NODE});
  Value value = like(graph, NO_VALUE, OP_DEGREE);
  value.shape.domain = domain_at(edges, end);
  value.as.degree = (struct Degree){.end = end, .edges = edges};
  return graph_add(graph, value);
}

bool graph_constant(const Graph *graph, ValueId id, double *number) {
  while (graph->values[id].op == OP_BROADCAST) id = graph->values[id].operand[0];
  if (graph->values[id].op != OP_NUMBER) return false;
  *number = graph->values[id].as.number;
  return true;
}

ValueId graph_row_scalar(const Graph *graph, ValueId id) {
  if (graph->values[id].op == OP_BROADCAST) id = graph->values[id].operand[0];
  return shape_width(&graph->values[id].shape) == 1 ? id : NO_VALUE;
}

bool *graph_depends_on_weights(const Graph *graph) {
  bool *depends = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    depends[i] = value->op == OP_PARAM && graph->program->params[value->as.index].is_trained;
    for (int k = 0; k < value->operand_count; k++) depends[i] = depends[i] || depends[value->operand[k]];
    if (value->op == OP_POSITIVE || value->op == OP_STOP) depends[i] = false;
  }
  return depends;
}

/* Pairs that are drawn anew in every epoch, and what is counted of them. */
static bool is_of_new_pairs(const Graph *graph, const Value *value) {
  const Domain edges = value->op == OP_DEGREE ? value->as.degree.edges : value->shape.domain;
  return graph->program->data->recipe.pairs.is_resampled && edges != DOMAIN_NONE && edges == typed_pairs(graph->program->info);
}

bool *graph_changes(const Graph *graph) {
  bool *changes = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    changes[i] = value->op == OP_PARAM || value->op == OP_STATE || value->op == OP_OPTION || value->op == OP_DROPOUT || value->op == OP_UPDATE || value->op == OP_FOLLOW;
    changes[i] = changes[i] || is_of_new_pairs(graph, value);
    for (int k = 0; k < value->operand_count; k++) changes[i] = changes[i] || changes[value->operand[k]];
  }
  return changes;
}

ValueId graph_update_factor(const Graph *graph, const Value *update) {
  return update->operand_count > 2 && graph->values[update->operand[2]].op != OP_STATE ? update->operand[2] : NO_VALUE;
}

ValueId graph_update_state(const Graph *graph, const Value *update, int number) {
  for (int k = 2; k < update->operand_count; k++)
    if (graph->values[update->operand[k]].op == OP_STATE && graph->values[update->operand[k]].as.state.number == number) return update->operand[k];
  return NO_VALUE;
}

static bool same_attribute(const Value *a, const Value *b) {
  switch (op_info[a->op].attribute) {
  case ATTRIBUTE_NONE: return true;
  case ATTRIBUTE_INDEX: return a->as.index == b->as.index && a->op != OP_UPDATE; /* no two updates are one */
  case ATTRIBUTE_NUMBER: return a->op != OP_FOLLOW && memcmp(&a->as.number, &b->as.number, sizeof a->as.number) == 0;
  case ATTRIBUTE_END: return a->as.end == b->as.end;
  case ATTRIBUTE_FUNCTION: return a->as.function == b->as.function;
  case ATTRIBUTE_SITE: return a->as.site == b->as.site;
  case ATTRIBUTE_PRODUCT: return a->as.product.transposed == b->as.product.transposed && a->as.product.lead == b->as.product.lead;
  case ATTRIBUTE_MAP: return memcmp(a->as.map, b->as.map, sizeof a->as.map) == 0;
  case ATTRIBUTE_PART: return a->as.part.axis == b->as.part.axis && a->as.part.begin == b->as.part.begin;
  case ATTRIBUTE_DOMAIN: return a->as.domain == b->as.domain;
  case ATTRIBUTE_STATE: return a->as.state.index == b->as.state.index && a->as.state.number == b->as.state.number;
  case ATTRIBUTE_DEGREE: return a->as.degree.end == b->as.degree.end && a->as.degree.edges == b->as.degree.edges && (a->op == OP_DEGREE || a->as.degree.halo == b->as.degree.halo);
  case ATTRIBUTE_ENTRIES: return a->as.entries.field == b->as.entries.field && a->as.entries.is_by_column == b->as.entries.is_by_column && a->as.entries.is_number == b->as.entries.is_number;
  }
  return false;
}

bool graph_is_same(const Value *a, const ValueId *operands_of_a, const Value *b, const ValueId *operands_of_b) {
  if (a->op != b->op || a->operand_count != b->operand_count || !shape_equal(&a->shape, &b->shape) || !same_attribute(a, b)) return false;
  return memcmp(operands_of_a, operands_of_b, (size_t)a->operand_count * sizeof *operands_of_a) == 0;
}

/* ---- rebuild ---- */

ValueId *graph_no_redirections(Graph *graph) {
  ValueId *forward = arena_alloc(graph->arena, (size_t)(graph->value_count + 1) * sizeof *forward);
  for (int i = 0; i < graph->value_count; i++) forward[i] = NO_VALUE;
  return forward;
}

static ValueId final_target(const ValueId *forward, ValueId id) {
  while (forward && forward[id] != NO_VALUE) id = forward[id];
  return id;
}

/* Operands may point forward after a redirection, so values are laid out again in depth-first order of need; among
 * themselves roots keep their order. */
typedef struct Rebuild {
  const Graph *old;
  Graph *new;
  const ValueId *forward;
  ValueId *placed;
} Rebuild;

static ValueId place_value(Rebuild *r, ValueId id) {
  id = final_target(r->forward, id);
  if (r->placed[id] != NO_VALUE) return r->placed[id];
  Value value = r->old->values[id];
  for (int i = 0; i < value.operand_count; i++) value.operand[i] = place_value(r, value.operand[i]);
  return r->placed[id] = graph_add(r->new, value);
}

void graph_rebuild(Graph *graph, const ValueId *forward) {
  Graph *new = graph_new(graph->arena, graph->program);
  Rebuild r = {graph, new, forward, arena_alloc(graph->arena, (size_t)graph->value_count * sizeof(ValueId))};
  for (int i = 0; i < graph->value_count; i++) {
    r.placed[i] = NO_VALUE;
    if (forward[i] != NO_VALUE) graph_call(graph, final_target(forward, i), graph->values[i].called);
  }

  /* Values stay in their order as far as redirections allow: walk all that are needed, in order. */
  bool *needed = arena_alloc(graph->arena, (size_t)graph->value_count);
  if (graph->scores != NO_VALUE) needed[final_target(forward, graph->scores)] = true;
  if (graph->loss != NO_VALUE) needed[final_target(forward, graph->loss)] = true;
  for (int i = 0; i < graph->update_count; i++) needed[final_target(forward, graph->updates[i])] = true;
  for (int i = 0; i < graph->once_count; i++) needed[final_target(forward, graph->once[i])] = true;
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (int i = graph->value_count - 1; i >= 0; i--) {
      if (!needed[i]) continue;
      for (int k = 0; k < graph->values[i].operand_count; k++) {
        ValueId operand = final_target(forward, graph->values[i].operand[k]);
        if (!needed[operand]) needed[operand] = is_changed = true;
      }
    }
  }
  for (int i = 0; i < graph->value_count; i++)
    if (needed[i]) place_value(&r, i);

  if (graph->scores != NO_VALUE) new->scores = place_value(&r, graph->scores);
  if (graph->loss != NO_VALUE) new->loss = place_value(&r, graph->loss);
  if (graph->gradients) {
    int params = graph->program->param_count;
    new->gradients = arena_alloc(graph->arena, (size_t)params * sizeof(ValueId));
    for (int p = 0; p < params; p++)
      new->gradients[p] = graph->gradients[p] == NO_VALUE ? NO_VALUE : place_value(&r, graph->gradients[p]);
  }
  for (int i = 0; i < graph->update_count; i++)
    ARENA_PUSH(graph->arena, new->updates, new->update_count, place_value(&r, graph->updates[i]));
  for (int i = 0; i < graph->once_count; i++) ARENA_PUSH(graph->arena, new->once, new->once_count, place_value(&r, graph->once[i]));
  new->is_training = graph->is_training;
  new->note_count = graph->note_count;
  new->notes = graph->notes;
  *graph = *new;
}

/* ---- names and dumps ---- */

static const char *degree_name(const Graph *graph, const Value *value) {
  const char *name = value->as.degree.end == END_DST ? "in_degree" : "out_degree";
  if (value->as.degree.edges == DOMAIN_MEMBER) return "graph_size";
  if (value->as.degree.edges == DOMAIN_EDGE) return name;
  return arena_printf(graph->arena, "%s_%s", typed_domain_name(graph->program->info, value->as.degree.edges), name);
}

const char *graph_entries_name(const Graph *graph, const Value *value) {
  return arena_printf(graph->arena, "%s_%s_%s", graph->program->fields[value->as.entries.field].name, value->as.entries.is_by_column ? "column" : "row", value->as.entries.is_number ? "value" : "idx");
}

static const char *halo_rows_name(const Value *value) {
  static const char *const names[HALO_KINDS] = {[HALO_FOR_SRC] = "out_halo_rows", [HALO_FOR_DST] = "in_halo_rows", [HALO_OF_EDGES] = "edge_halo_rows"};
  return names[value->as.degree.halo];
}

void graph_name_values(Graph *graph) {
  const TypedProgram *program = graph->program;
  NameTable taken = {0}; /* to the value that has the name */
  const char **written = arena_alloc(graph->arena, (size_t)(graph->value_count + 1) * sizeof *written);
  int *last = arena_alloc(graph->arena, (size_t)(graph->value_count + 1) * sizeof *last); /* the name of that value and name_2 .. name_last are taken */
  for (int i = 0; i < graph->value_count; i++) {
    Value *value = &graph->values[i];
    const char *base = value->name;
    if (value->op == OP_PARAM) base = program->params[value->as.index].name;
    else if (value->op == OP_STATE) base = arena_printf(graph->arena, "%s_state%d", program->params[value->as.state.index].name, value->as.state.number + 1);
    else if (value->op == OP_INPUT) base = program->fields[value->as.index].name;
    else if (value->op == OP_OPTION) base = program->options[value->as.index].name;
    else if (value->op == OP_DEGREE) base = degree_name(graph, value);
    else if (value->op == OP_NEIGHBOURS) base = value->as.end == END_DST ? "in_idx" : "out_idx";
    else if (value->op == OP_OFFSETS) base = value->as.end == END_DST ? "in_ptr" : "out_ptr";
    else if (value->op == OP_HALO_ROWS) base = halo_rows_name(value);
    else if (value->op == OP_OUT_EDGES) base = "out_edges";
    else if (value->op == OP_EDGE_CODES) base = "edge_codes";
    else if (value->op == OP_NODE_IDS) base = "node_ids";
    else if (value->op == OP_EDGE_IDS) base = value->as.end == END_DST ? "edge_ids" : "out_edge_ids";
    else if (value->op == OP_SPLIT_ROWS) base = value->as.index == SPLIT_TRAIN ? "rows_train" : value->as.index == SPLIT_VALID ? "rows_valid" : "rows_test";
    else if (value->op == OP_ENTRIES) base = graph_entries_name(graph, value);
    else if (value->op == OP_ENTRY_OFFSETS) base = arena_printf(graph->arena, "%s_row_ptr", program->fields[value->as.entries.field].name);
    else if (!*base) base = "t";
    written[i] = base;
    base = arena_identifier(graph->arena, base);
    const char *name = base;
    int owner = name_table_find(&taken, base);
    while (name_table_find(&taken, name) >= 0) name = arena_printf(graph->arena, "%s_%d", base, ++last[owner]);
    name_table_add(graph->arena, &taken, name, i);
    last[i] = 1;
    value->name = name;
  }
  graph_say_values(graph, written);
}

ValueId graph_first_slice(const Graph *graph, ValueId id) {
  const Value *value = &graph->values[id];
  for (ValueId i = 0; i < id && value->slice.count; i++) {
    const Value *other = &graph->values[i];
    if (other->op == value->op && other->phase == value->phase && other->slice.of == value->slice.of && other->slice.count == value->slice.count) return i;
  }
  return id;
}

static void dump_shape(const Graph *graph, const Shape *shape, FILE *out) {
  static const char *const elements[] = {"", " bits", " labels"};
  fprintf(out, "%s[", typed_domain_name(graph->program->info, shape->domain));
  for (int d = 0; d < shape->rank; d++) fprintf(out, "%s%" PRId64, d ? ", " : "", shape->size[d]);
  fprintf(out, "]%s", elements[shape->element]);
}

static void dump_index(const Graph *graph, const Value *value, FILE *out) {
  const TypedProgram *program = graph->program;
  int32_t index = value->as.index;
  if (value->op == OP_INPUT) fprintf(out, " %s", program->fields[index].name);
  if (value->op == OP_PARAM || value->op == OP_UPDATE) fprintf(out, " %s", program->params[index].name);
  if (value->op == OP_OPTION) fprintf(out, " %s", program->options[index].name);
}

static void dump_attribute(const Graph *graph, const Value *value, FILE *out) {
  const struct Contraction *product = &value->as.product;
  int rank = value->op == OP_BROADCAST ? value->shape.rank : value->operand_count ? graph->values[value->operand[0]].shape.rank : 0;
  switch (op_info[value->op].attribute) {
  case ATTRIBUTE_NONE: break;
  case ATTRIBUTE_INDEX: dump_index(graph, value, out); break;
  case ATTRIBUTE_NUMBER: fprintf(out, " %.9g", value->as.number); break;
  case ATTRIBUTE_END: fprintf(out, " %s", value->as.end == END_SRC ? "src" : "dst"); break;
  case ATTRIBUTE_FUNCTION: fprintf(out, " %s", point_name(value->as.function)); break;
  case ATTRIBUTE_SITE: fprintf(out, " site %" PRId32, value->as.site); break;
  case ATTRIBUTE_PRODUCT:
    fprintf(out, " %" PRId64 " x %" PRId64 "%s", product->depth, product->width, product->transposed ? " transposed" : "");
    if (product->lead > 1) fprintf(out, " lead %" PRId64, product->lead);
    break;
  case ATTRIBUTE_PART: fprintf(out, " axis %d from %" PRId64, value->as.part.axis, value->as.part.begin); break;
  case ATTRIBUTE_STATE: fprintf(out, " %d of %s", value->as.state.number + 1, graph->program->params[value->as.state.index].name); break;
  case ATTRIBUTE_DOMAIN: fprintf(out, " %ss", typed_domain_name(graph->program->info, value->as.domain)); break;
  case ATTRIBUTE_DEGREE: fprintf(out, " %s of %ss", value->as.degree.end == END_SRC ? "src" : "dst", typed_domain_name(graph->program->info, value->as.degree.edges)); break;
  case ATTRIBUTE_ENTRIES: fprintf(out, " of %s", graph_entries_name(graph, value)); break;
  case ATTRIBUTE_MAP:
    fprintf(out, " (");
    for (int d = 0; d < rank; d++)
      value->as.map[d] == NO_INDEX ? fprintf(out, "%s-", d ? " " : "") : fprintf(out, "%s%d", d ? " " : "", value->as.map[d]);
    fprintf(out, ")");
    break;
  }
}

void graph_dump(const Graph *graph, FILE *out) {
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    fprintf(out, "%%%d = %s", i, op_info[value->op].name);
    dump_attribute(graph, value, out);
    for (int k = 0; k < value->operand_count; k++) fprintf(out, " %%%" PRId32, value->operand[k]);
    fprintf(out, " : ");
    dump_shape(graph, &value->shape, out);
    if (*value->name) fprintf(out, "   # %s, line %" PRId32, value->name, value->place.line);
    fprintf(out, "\n");
  }
  if (graph->scores != NO_VALUE) fprintf(out, "scores %%%" PRId32 "\n", graph->scores);
  if (graph->loss != NO_VALUE) fprintf(out, "loss %%%" PRId32 "\n", graph->loss);
}
