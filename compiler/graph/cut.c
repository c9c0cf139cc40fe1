/* cut: training or evaluation graph -> the same with what sums over neighbours gather from in memory of its own, by slices of columns or as halos.
 *
 * A sum over neighbours reads any row of what it gathers from, so that has to be there whole. With slices, TILE copies neighbouring columns out as soon as
 * they are made, and the sum becomes one for each slice, side by side afterwards (CONCAT): at one moment one slice of the table is there, and
 * in all each number moves once. What follows a sum element by element is computed of its slices, too, so that these are side by side only where somebody reads rows. A sum keeps the order in which the whole width would be added (declared_width), so no bit
 * changes. The gradient of a matrix by sparse features is such a sum, too: a column of features gathers the rows where it is not 0. Copies are values as any other, with fates of their own. Needs the graphs that kernels are made of; linear.
 */
#include <inttypes.h>
#include <limits.h>

#include "cut.h"
#include "learned.h"
#include "recompute.h"
#include "transpose.h"

enum { BIT_WORD = 32 };

typedef struct Tile {
  int64_t begin, size;
  ValueId tile; /* NO_VALUE: not yet */
  ValueId halo[2][PHASE_UPDATE]; /* of ranks: its table, by the end at which sums arrive, and by phase; NO_VALUE: not yet */
} Tile;

/* By the end at which sums arrive, and by phase; NO_VALUE: not yet. */
typedef struct Halos {
  ValueId of[2][2][PHASE_UPDATE], expression[2][PHASE_UPDATE]; /* of a node value its halo, for edges and for candidate pairs; of an edge value what it is in sums of halos */
} Halos;

typedef struct Tiles {
  int count;
  Tile *list;
} Tiles;

typedef struct Cutting {
  const Graph *from;
  Graph *to;
  CutOptions options;
  ValueId *image;    /* per value of `from` */
  bool *is_near;     /* per value: somebody reads it other than from afar */
  bool *reads_far[2]; /* per value, by the end at which sums arrive: the edge expression has a table in it */
  Halos *halos;      /* per value, as this: */
  bool *is_made_on_edges;
  bool *reads_data;  /* per value: of ranks, data of edges are in the edge expression; they have halos of their own, and not what is computed of them, which is wider and may read either end */
  Tiles *tiles;      /* per value: slices that sums will ask for */
  int64_t *slice;    /* per value: of a sum that is sliced, or of what follows one by columns, what a slice has of dimension 0; 0: whole rows */
  ValueId **slice_of; /* per value: those slices, in order */
  ValueId *latest_sum; /* per value: the last sliced sum that it follows by columns, or that what it reads of whole rows does; NO_VALUE: none */
  int *use_count;
  bool *is_seen;     /* of one walk over an expression */
  ValueId *rows_of_weight; /* per param: where its rows are data of their own */
  Recomputing *recomputing; /* NULL: rows of others come */
  ValueId *slice_image; /* per value: what it is in the slice under way of such a walk, or NO_VALUE */
} Cutting;

/* Where tables are halos, narrow ones are, too: their rows have other numbers there. */
static bool can_have_table(const Cutting *c, ValueId id) {
  const Value *value = &c->from->values[id];
  const bool *is_away = c->options.is_away;
  if (c->options.rank) return domain_is_nodes(value->shape.domain) && value->shape.element == ELEMENT_REAL;
  const bool is_made = op_info[value->op].kind != OP_KIND_LEAF || (is_away && (value->op == OP_INPUT ? is_away[value->as.index] : value->op == OP_HOISTED));
  const bool is_virtual = value->op == OP_BROADCAST || value->op == OP_LIFT || value->op == OP_SLICE;
  return value->shape.domain == DOMAIN_NODE && value->shape.element == ELEMENT_REAL && is_made && !is_virtual &&
         (c->options.has_halos || shape_width(&value->shape) >= LEAST_TABLE_WIDTH);
}

/* Of ranks, those of relations are, too: the rows that they gather are in the same tables. */
static bool is_of_edges(const Cutting *c, Domain domain) { return domain == DOMAIN_EDGE || (c->options.rank && domain_is_relation(domain)); }

static bool is_far(const Cutting *c, ValueId lift, EdgeEnd sums_at) {
  const Value *value = &c->from->values[lift];
  return value->op == OP_LIFT && is_of_edges(c, value->shape.domain) && value->as.end != sums_at && can_have_table(c, value->operand[0]);
}

/* Which operand of a gradient by sparse features they gather rows of; NO_INDEX: it is none. */
static int gathered_by_features(const Cutting *c, ValueId id) {
  const Value *value = &c->from->values[id];
  const int side = c->options.is_sparse && value->op == OP_OUTER ? graph_sparse_side(c->from, c->options.is_sparse, id) : NO_INDEX;
  return side != NO_INDEX && can_have_table(c, value->operand[1 - side]) ? 1 - side : NO_INDEX;
}

/* At nodes, or of all edges, which are those of the rows where they arrive. */
static bool is_sum_over_edges(const Cutting *c, const Value *value) {
  if (op_is_aggregation(value->op)) return value->shape.domain == DOMAIN_NODE || (c->options.rank && domain_is_nodes(value->shape.domain));
  return value->op == OP_REDUCE && value->shape.domain == DOMAIN_NONE && is_of_edges(c, c->from->values[value->operand[0]].shape.domain);
}

/* ---- which sums can be sliced ---- */

static void find_reads_far(const Cutting *c) {
  for (int i = 0; i < c->from->value_count; i++) {
    const Value *value = &c->from->values[i];
    for (int end = 0; end < 2 && is_of_edges(c, value->shape.domain); end++) {
      c->reads_far[end][i] = is_far(c, i, (EdgeEnd)end);
      for (int k = 0; k < value->operand_count; k++) c->reads_far[end][i] = c->reads_far[end][i] || c->reads_far[end][value->operand[k]];
    }
  }
}

static void begin_walk(const Cutting *c) {
  for (int i = 0; i < c->from->value_count; i++) {
    c->is_seen[i] = false;
    c->slice_image[i] = NO_VALUE;
  }
}

/* Along dimension 0 of the result: the edge expression of a slice is that of slices. */
static bool can_slice(const Cutting *c, ValueId id, EdgeEnd end, int64_t length) {
  const Value *value = &c->from->values[id];
  if (!c->reads_far[end][id] || c->is_seen[id]) return true; /* of what has no table in it a slice is taken */
  c->is_seen[id] = true;
  if (value->shape.rank == 0 || value->shape.size[0] != length) return false;
  if (is_far(c, id, end)) return true;
  bool is_along = value->op == OP_MAP || value->op == OP_SELECT || value->op == OP_POSITIVE;
  if (value->op == OP_BROADCAST || op_is_reduction(value->op)) is_along = value->as.map[0] == 0;
  for (int k = 0; k < value->operand_count && is_along; k++) is_along = can_slice(c, value->operand[k], end, length);
  return is_along;
}

/* Of dimension 0: whole units of columns, and at least two slices. 0: not at all. */
static int64_t slice_length(const Shape *shape, int slices) {
  const int64_t width = shape_width(shape), length = shape->rank ? shape->size[0] : 1, each = width / (length > 0 ? length : 1);
  if (slices < 2 || length < 2) return 0;
  int64_t columns = (width + slices - 1) / slices, unit = each >= SLICE_UNIT ? each : SLICE_UNIT;
  columns = (columns + unit - 1) / unit * unit;
  const int64_t size = columns / each > 0 ? columns / each : 1;
  return size < length && columns % each == 0 ? size : 0;
}

int slices_at_most(const Graph *graph) {
  int64_t most = 1;
  for (int i = 0; i < graph->value_count; i++) {
    const Value *sum = &graph->values[i];
    const int64_t width = shape_width(&sum->shape);
    if (op_is_aggregation(sum->op) && sum->shape.domain == DOMAIN_NODE && width / SLICE_UNIT > most) most = width / SLICE_UNIT;
  }
  return most < INT_MAX ? (int)most : INT_MAX;
}

/* At most, of what a sum gathers from. */
static int slices_of(const Cutting *c, const Value *sum) {
  const LayerCut *own = layer_cut_of(c->options.layers, sum->layer.name, sum->phase);
  return own ? own->slices : c->options.slices;
}

/* Along the dimension of the matrix that has the columns of what is gathered. */
static int64_t gradient_slice(const Cutting *c, const Value *gradient, int gathered) {
  const Shape *shape = &gradient->shape;
  const bool is_matrix = shape->rank == 2 && shape->size[0] == gradient->as.product.depth && shape->size[1] == gradient->as.product.width;
  return is_matrix ? slice_length(&c->from->values[gradient->operand[gathered]].shape, slices_of(c, gradient)) : 0;
}

/* Of ranks: all that the sum reads of other nodes are tables; values and data of edges have rows of their own there. */
static bool is_of_tables(const Cutting *c, const Value *sum) { return op_is_aggregation(sum->op) && !c->is_made_on_edges[sum->operand[0]] && !(sum->as.end == END_SRC && c->reads_data[sum->operand[0]]); }

static int64_t sum_slice(const Cutting *c, ValueId id) {
  const Value *value = &c->from->values[id];
  const int gathered = gathered_by_features(c, id);
  if (c->options.rank && !is_of_tables(c, value)) return 0;
  if (gathered != NO_INDEX) return gradient_slice(c, value, gathered);
  if (c->options.has_halos && !c->options.rank) return 0;
  if (!op_is_aggregation(value->op) || value->op == OP_GATHER_LOGSUMEXP || value->shape.domain != DOMAIN_NODE) return 0;
  if (c->from->values[value->operand[0]].shape.domain != DOMAIN_EDGE) return 0;
  const int64_t size = slice_length(&value->shape, slices_of(c, value));
  if (!size || !c->reads_far[value->as.end][value->operand[0]]) return 0;
  begin_walk(c);
  return can_slice(c, value->operand[0], value->as.end, value->shape.size[0]) ? size : 0;
}

static Tile *tile_of(const Cutting *c, ValueId far, int64_t begin, int64_t size) {
  Tiles *tiles = &c->tiles[far];
  for (int i = 0; i < tiles->count; i++)
    if (tiles->list[i].begin == begin && tiles->list[i].size == size) return &tiles->list[i];
  Tile tile = {begin, size, NO_VALUE, {{0}}};
  for (int k = 0; k < 2 * PHASE_UPDATE; k++) tile.halo[k / PHASE_UPDATE][k % PHASE_UPDATE] = NO_VALUE;
  ARENA_PUSH(c->to->arena, tiles->list, tiles->count, tile);
  return &tiles->list[tiles->count - 1];
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void want_tiles_of(const Cutting *c, ValueId far, int64_t size) {
  for (int64_t begin = 0, all = c->from->values[far].shape.size[0]; begin < all; begin += size) tile_of(c, far, begin, least(size, all - begin));
}

static void want_tiles(const Cutting *c, ValueId id, EdgeEnd end, int64_t size) {
  const Value *value = &c->from->values[id];
  if (!c->reads_far[end][id] || c->is_seen[id]) return;
  c->is_seen[id] = true;
  if (is_far(c, id, end)) {
    want_tiles_of(c, value->operand[0], size);
    return;
  }
  for (int k = 0; k < value->operand_count; k++) want_tiles(c, value->operand[k], end, size);
}

/* ---- what follows sums by columns ---- */

static bool is_number_a_row(const Value *value) { return value->op == OP_BROADCAST && value->as.map[0] == NO_INDEX; }

/* Operands of other shapes (the probability of a dropout) have no columns. */
static int element_operands(const Value *value) { return value->op == OP_DROPOUT ? 1 : value->operand_count; }

static bool has_slices(const Cutting *c, ValueId id) { return c->slice[id] > 0 && c->from->values[id].shape.domain == DOMAIN_NODE; }

static bool is_tiled(const Cutting *c, ValueId id, int64_t size) {
  bool is = false;
  for (int t = 0; t < c->tiles[id].count; t++) is = is || c->tiles[id].list[t].size == size;
  return is;
}

/* The operand's columns are there where those of a sum are: they are those of the same sum, or of one that nobody else reads, or repeated, or of rows
 * made before the sum that are copied out by columns for a sum or for nobody else. */
static bool can_follow(const Cutting *c, ValueId operand, ValueId sum, int64_t size) {
  const Value *value = &c->from->values[operand];
  if (has_slices(c, operand)) return c->slice[operand] == size && (c->latest_sum[operand] == sum || c->use_count[operand] == 1);
  if (c->latest_sum[operand] >= sum) return false;
  if (value->op == OP_BROADCAST) return true;
  if (operand > sum || op_info[value->op].kind == OP_KIND_LEAF) return false;
  return is_tiled(c, operand, size) || (c->use_count[operand] == 1 && can_have_table(c, operand));
}

/* What a slice of a value has that is computed element by element of a sum in slices, 0 where it is not computed so. */
static int64_t follower_slice(const Cutting *c, ValueId id) {
  const Value *value = &c->from->values[id];
  const bool is_by_element = value->op == OP_MAP || value->op == OP_DROPOUT || value->op == OP_POSITIVE || value->op == OP_SELECT;
  int64_t size = 0, length = value->shape.rank ? value->shape.size[0] : 1;
  ValueId sum = NO_VALUE;
  for (int k = 0; k < element_operands(value) && is_by_element; k++) {
    const ValueId operand = value->operand[k];
    if (has_slices(c, operand) && c->latest_sum[operand] > sum) sum = c->latest_sum[operand], size = c->slice[operand];
  }
  if (size == 0 || (value->op == OP_POSITIVE && shape_width(&value->shape) / length * size % BIT_WORD != 0)) return 0;
  for (int k = 0; k < element_operands(value); k++)
    if (!can_follow(c, value->operand[k], sum, size)) return 0;
  return size;
}

static void note_latest_sum(const Cutting *c, ValueId id) {
  const Value *value = &c->from->values[id];
  if (c->slice[id] && op_is_aggregation(value->op)) c->latest_sum[id] = id;
  else
    for (int k = 0; k < value->operand_count; k++)
      if (c->latest_sum[value->operand[k]] > c->latest_sum[id]) c->latest_sum[id] = c->latest_sum[value->operand[k]];
}

/* ---- the sums of slices ---- */

static Shape sliced_shape(Shape shape, int64_t size) {
  shape.size[0] = size;
  return shape;
}

/* The columns from `begin` on of value `of`, `size` of its dimension 0. */
static Slice slice_at(const Cutting *c, ValueId of, int64_t begin, int64_t size) {
  const int64_t length = c->from->values[of].shape.size[0];
  return (Slice){of, (int)(begin / size) + 1, (int)((length + size - 1) / size)};
}

static ValueId add_like(const Cutting *c, const Value *source, Value value, const char *what) {
  value.place = source->place;
  value.layer = source->layer;
  value.phase = source->phase;
  if (value.declared_width == 0) value.origin = NO_VALUE;
  value.name = *what ? arena_printf(c->to->arena, "%s_%s", source->name, what) : source->name;
  value.said = *what && source->said ? arena_printf(c->to->arena, "%s_%s", source->said, what) : source->said;
  return graph_add(c->to, value);
}

static ValueId add_columns(const Cutting *c, ValueId id, int64_t begin, int64_t size) {
  const Value *value = &c->from->values[id];
  Value slice = {.op = OP_SLICE, .shape = sliced_shape(value->shape, size), .operand_count = 1, .operand = {c->image[id]}, .as.part = {0, begin}};
  return add_like(c, value, slice, "slice");
}

static ValueId halo_of_tile(const Cutting *c, ValueId far, Tile *tile, Domain edges, EdgeEnd end, Phase phase);

static ValueId slice_expression(const Cutting *c, ValueId id, EdgeEnd end, Phase phase, int64_t begin, int64_t size) {
  const Value value = c->from->values[id];
  if (c->slice_image[id] != NO_VALUE) return c->slice_image[id];
  if (!c->reads_far[end][id]) {
    if (value.shape.rank == 0 || value.shape.domain == DOMAIN_NONE) return c->image[id];
    return c->slice_image[id] = add_columns(c, id, begin, size);
  }
  Value copy = value;
  copy.origin = id;
  copy.shape = sliced_shape(value.shape, size);
  Tile *tile = is_far(c, id, end) ? tile_of(c, value.operand[0], begin, size) : NULL;
  if (tile) copy.operand[0] = c->options.rank ? halo_of_tile(c, value.operand[0], tile, value.shape.domain, end, phase) : tile->tile;
  else
    for (int k = 0; k < value.operand_count; k++) copy.operand[k] = slice_expression(c, value.operand[k], end, phase, begin, size);
  return c->slice_image[id] = graph_add(c->to, copy);
}

static ValueId slice_sum(const Cutting *c, ValueId id, int64_t size) {
  const Value sum = c->from->values[id];
  Value all = {.op = OP_CONCAT, .shape = sum.shape, .operand_count = 0, .as.part = {.axis = 0}};
  const int64_t length = sum.shape.size[0];
  c->slice_of[id] = arena_alloc(c->to->arena, (size_t)(length / size + 1) * sizeof(ValueId));
  for (int64_t begin = 0; begin < length; begin += size) {
    const int64_t count = least(size, length - begin);
    Value part = sum;
    part.shape = sliced_shape(sum.shape, count);
    part.tap = NULL;
    part.declared_width = shape_width(&sum.shape);
    part.slice = slice_at(c, id, begin, size);
    part.origin = id;
    part.is_exact = true; /* CONCAT rounds, if anybody does */
    begin_walk(c);
    part.operand[0] = slice_expression(c, sum.operand[0], sum.as.end, sum.phase, begin, count);
    c->slice_of[id][begin / size] = all.operand[all.operand_count++] = add_like(c, &sum, part, "slice");
  }
  const ValueId result = add_like(c, &sum, all, "");
  c->to->values[result].tap = sum.tap;
  c->to->values[result].called = sum.called;
  c->to->values[result].was_tap = sum.was_tap;
  return result;
}

/* dW, or its transpose, by columns of what the features gather. */
static ValueId slice_gradient(const Cutting *c, ValueId id, int64_t size) {
  const Value gradient = c->from->values[id];
  const int gathered = gathered_by_features(c, id), axis = gathered == 0 ? 0 : 1;
  const ValueId far = gradient.operand[gathered];
  const Value *rows = &c->from->values[far];
  const int64_t length = rows->shape.size[0], each = shape_width(&rows->shape) / length;
  Value all = {.op = OP_CONCAT, .shape = gradient.shape, .operand_count = 0, .as.part = {.axis = axis}};
  for (int64_t begin = 0; begin < length; begin += size) {
    const Tile *tile = tile_of(c, far, begin, least(size, length - begin));
    Value part = gradient;
    *(axis == 0 ? &part.as.product.depth : &part.as.product.width) = part.shape.size[axis] = tile->size * each;
    part.declared_width = length * each;
    part.slice = slice_at(c, far, begin, size);
    part.slice.of = id;
    part.origin = id;
    part.is_exact = true;
    part.operand[gathered] = tile->tile;
    part.operand[1 - gathered] = c->image[gradient.operand[1 - gathered]];
    all.operand[all.operand_count++] = add_like(c, &gradient, part, "slice");
  }
  return add_like(c, &gradient, all, "");
}

/* ---- the graph ---- */

static ValueId copy_value(const Cutting *c, ValueId id, const ValueId *instead) {
  Value value = c->from->values[id];
  value.origin = id;
  for (int k = 0; k < value.operand_count; k++) value.operand[k] = instead && instead[k] != NO_VALUE ? instead[k] : c->image[value.operand[k]];
  return graph_add(c->to, value);
}

/* ---- weights whose rows lie with the nodes' ---- */

static bool is_learned(const Cutting *c, int32_t param) { return c->options.is_learned && c->options.is_learned[param]; }

static bool is_rows_of_learned(const Cutting *c, const Value *value) {
  const Value *operand = value->op == OP_RESHAPE ? &c->from->values[value->operand[0]] : NULL;
  return operand && operand->op == OP_PARAM && is_learned(c, operand->as.index);
}

/* A leaf on nodes takes the place of the weight that lives nowhere. */
static ValueId rows_of_weight(const Cutting *c, ValueId id) {
  const Value *rows = &c->from->values[id];
  const int32_t param = c->from->values[rows->operand[0]].as.index;
  ValueId *made = &c->rows_of_weight[param];
  Value weight = c->from->values[rows->operand[0]];
  weight.shape = rows->shape;
  weight.origin = id;
  if (*made == NO_VALUE) *made = graph_add(c->to, weight);
  return *made;
}

static ValueId gradient_of_rows(const Cutting *c, int32_t param) { return c->image[c->from->values[c->from->gradients[param]].operand[0]]; }

/* It reads the gradient as it is made, on nodes, in the numbers that it is computed in, and the states beside it. */
static ValueId update_of_rows(const Cutting *c, ValueId id) {
  Value update = c->from->values[id];
  const int32_t param = update.as.index;
  const ValueId factor = graph_update_factor(c->from, &update), gradient = gradient_of_rows(c, param), weight = c->rows_of_weight[param];
  update.shape = c->to->values[weight].shape;
  update.origin = NO_VALUE;
  update.operand_count = 0;
  update.operand[update.operand_count++] = weight;
  update.operand[update.operand_count++] = gradient;
  c->to->values[gradient].is_exact = true;
  if (factor != NO_VALUE) update.operand[update.operand_count++] = c->image[factor];
  for (int s = 0; s < MAX_STATES; s++)
    if (weight_has_state(c->from->program, param, s))
      update.operand[update.operand_count++] = graph_add(c->to, (Value){.op = OP_STATE, .shape = update.shape, .as.state = {param, s}, .place = update.place, .phase = PHASE_UPDATE, .origin = NO_VALUE, .name = "state"});
  return graph_add(c->to, update);
}

/* ---- halos ---- */

static HaloKind kind_of_halo(const Cutting *c, const Value *far, Domain edges, EdgeEnd end) {
  const DataInfo *info = c->to->program->info;
  return domain_is_edges(far->shape.domain) ? typed_edge_halo(edges) : typed_group_halo(info, typed_row_group(info, edges, end == END_SRC ? END_DST : END_SRC), end);
}

/* Of a value at the far end of `edges`, or on them, which a sum of the layer gathers. */
static ValueId halo_of(const Cutting *c, ValueId far, Domain edges, EdgeEnd end, Phase phase, const char *layer) {
  const Value *value = &c->from->values[far];
  const DataInfo *info = c->to->program->info;
  const bool is_of_pairs = info->has_pairs && edges == typed_pairs(info);
  const HaloKind kind = kind_of_halo(c, value, edges, end);
  ValueId *halo = &c->halos[far].of[is_of_pairs][end][phase];
  if (*halo == NO_VALUE && end == END_DST && edges == DOMAIN_EDGE && layers_have(c->options.recomputed, layer, phase)) *halo = recomputed_table(c->recomputing, far, phase);
  if (*halo == NO_VALUE) {
    *halo = add_like(c, value, (Value){.op = OP_HALO, .shape = value->shape, .operand_count = 1, .operand = {c->image[far]}, .as.degree = {end, DOMAIN_EDGE, kind}}, "halo");
    c->to->values[*halo].phase = phase;
  }
  return *halo;
}

/* The table of some of its columns. */
static ValueId halo_of_tile(const Cutting *c, ValueId far, Tile *tile, Domain edges, EdgeEnd end, Phase phase) {
  const Value *value = &c->from->values[far];
  ValueId *halo = &tile->halo[end][phase];
  if (*halo != NO_VALUE) return *halo;
  const Value table = {.op = OP_HALO, .shape = sliced_shape(value->shape, tile->size), .operand_count = 1, .operand = {tile->tile}, .as.degree = {end, DOMAIN_EDGE, kind_of_halo(c, value, edges, end)}, .slice = slice_at(c, far, tile->begin, tile->size)};
  *halo = add_like(c, value, table, "slice_halo");
  c->to->values[*halo].phase = phase;
  return *halo;
}

/* The edge expression of a sum, of halos. Others may read the same ends of edges near: each sum has an expression of its own, which exists only inside its kernel. */
static ValueId halo_expression(const Cutting *c, ValueId id, EdgeEnd end, Phase phase, const char *layer) {
  const Value value = c->from->values[id];
  const bool has_data_of_others = end == END_SRC && c->reads_data[id];
  if (c->is_made_on_edges[id] || (has_data_of_others && value.op == OP_INPUT)) return end == END_SRC && c->options.has_edge_halos && is_of_edges(c, value.shape.domain) ? halo_of(c, id, value.shape.domain, end, phase, layer) : c->image[id];
  if (!c->reads_far[end][id] && !has_data_of_others) return c->image[id];
  ValueId *image = &c->halos[id].expression[end][phase];
  if (*image != NO_VALUE) return *image;
  Value copy = value;
  copy.origin = id;
  if (is_far(c, id, end)) copy.operand[0] = halo_of(c, value.operand[0], value.shape.domain, end, phase, layer);
  else
    for (int k = 0; k < value.operand_count; k++) copy.operand[k] = halo_expression(c, value.operand[k], end, phase, layer);
  return *image = graph_add(c->to, copy);
}

static ValueId sum_of_halos(const Cutting *c, ValueId id) {
  const Value *sum = &c->from->values[id];
  const ValueId operand = halo_expression(c, sum->operand[0], graph_walk_end(sum), sum->phase, sum->layer.name);
  return copy_value(c, id, &operand);
}

/* For kernels whose results are edges. */
static ValueId lift_of_halo(const Cutting *c, ValueId id, EdgeEnd end) {
  const Value *lift = &c->from->values[id];
  const ValueId halo = halo_of(c, lift->operand[0], lift->shape.domain, end, lift->phase, lift->layer.name);
  return copy_value(c, id, &halo);
}

/* What lives on edges and is stored, as it is made by kernels of its own, or of such values. */
static void find_made_on_edges(const Cutting *c) {
  for (int i = 0; i < c->from->value_count; i++) {
    const Value *value = &c->from->values[i];
    if (!domain_is_edges(value->shape.domain)) continue;
    c->is_made_on_edges[i] = op_info[value->op].kind == OP_KIND_ANCHOR && value->op != OP_REDUCE;
    c->reads_data[i] = c->options.rank && value->op == OP_INPUT;
    for (int k = 0; k < value->operand_count; k++) {
      c->is_made_on_edges[i] = c->is_made_on_edges[i] || c->is_made_on_edges[value->operand[k]];
      c->reads_data[i] = c->reads_data[i] || c->reads_data[value->operand[k]];
    }
  }
}

/* Per value: a sum gathers from its end of edges, so that it is far there. A lift may be near in one sum and far in another: each has a copy. */
static void find_near(Cutting *c) {
  const Graph *graph = c->from;
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    const int gathered = gathered_by_features(c, i);
    for (int k = 0; k < value->operand_count; k++)
      if (value->op != OP_LIFT && k != gathered) c->is_near[value->operand[k]] = true;
  }
  if (graph->scores != NO_VALUE) c->is_near[graph->scores] = true;
  for (int i = 0; i < graph->once_count; i++) c->is_near[graph->once[i]] = true;
}

/* The end at which the rows of all kernels are that compute or sum the edge value; NO_INDEX: at both, or there are none. */
static int *find_ends(const Cutting *c) {
  enum { BOTH = -2 };
  const Graph *graph = c->from;
  int *end = arena_alloc(graph->arena, (size_t)(graph->value_count + 1) * sizeof *end);
  for (int i = 0; i < graph->value_count; i++) end[i] = NO_INDEX;
  if (graph->scores != NO_VALUE && is_of_edges(c, graph->values[graph->scores].shape.domain)) end[graph->scores] = END_DST; /* where edges lie */
  for (int i = graph->value_count - 1; i >= 0; i--) {
    const Value *value = &graph->values[i];
    for (int k = 0; k < value->operand_count; k++) {
      const ValueId operand = value->operand[k];
      if (!is_of_edges(c, graph->values[operand].shape.domain)) continue;
      const bool is_kernel = c->is_made_on_edges[i] || (op_info[value->op].kind == OP_KIND_ANCHOR && !(value->op == OP_REDUCE && is_of_edges(c, value->shape.domain)));
      const int by = is_kernel ? (int)graph_walk_end(value) : is_of_edges(c, value->shape.domain) ? end[i] : BOTH;
      end[operand] = end[operand] == NO_INDEX || end[operand] == by ? by : BOTH;
    }
  }
  for (int i = 0; i < graph->value_count; i++)
    if (end[i] == BOTH) end[i] = NO_INDEX;
  return end;
}

/* Columns that are there: those of a sum that is sliced alike, or what was copied out. NO_VALUE: neither. */
static ValueId columns_there(const Cutting *c, ValueId id, int64_t begin, int64_t size) {
  for (int t = 0; t < c->tiles[id].count; t++) {
    const Tile *tile = &c->tiles[id].list[t];
    if (tile->begin == begin && tile->size == size && tile->tile != NO_VALUE) return tile->tile;
  }
  if (!c->slice_of[id] || begin % c->slice[id] != 0) return NO_VALUE;
  return least(c->slice[id], c->from->values[id].shape.size[0] - begin) == size ? c->slice_of[id][begin / c->slice[id]] : NO_VALUE;
}

/* Computed element by element of columns that are there and of a number a row. */
static bool has_columns(const Cutting *c, ValueId id, int64_t begin, int64_t size) {
  const Value *value = &c->from->values[id];
  if (c->is_seen[id]) return true;
  c->is_seen[id] = true;
  if (value->shape.domain != DOMAIN_NODE || value->shape.rank == 0) return false;
  if (is_number_a_row(value) || columns_there(c, id, begin, size) != NO_VALUE) return true;
  bool has = value->op == OP_MAP;
  for (int k = 0; k < value->operand_count && has; k++) has = has_columns(c, value->operand[k], begin, size);
  return has;
}

static ValueId columns_of(const Cutting *c, ValueId id, int64_t begin, int64_t size) {
  const Value *value = &c->from->values[id];
  const ValueId there = columns_there(c, id, begin, size);
  if (there != NO_VALUE) return there;
  if (c->slice_image[id] != NO_VALUE) return c->slice_image[id];
  if (value->op == OP_BROADCAST && !is_number_a_row(value)) return c->slice_image[id] = add_columns(c, id, begin, size);
  Value columns = *value;
  columns.shape = sliced_shape(value->shape, size);
  columns.slice = slice_at(c, id, begin, size);
  columns.tap = NULL;
  columns.was_tap = false;
  if (value->op == OP_DROPOUT) columns.first_drawn = begin * (shape_width(&value->shape) / value->shape.size[0]);
  for (int k = 0; k < value->operand_count; k++) {
    const bool has_columns = value->op != OP_BROADCAST && k < element_operands(value);
    columns.operand[k] = has_columns ? columns_of(c, value->operand[k], begin, size) : c->image[value->operand[k]];
  }
  return c->slice_image[id] = add_like(c, value, columns, "slice");
}

/* What follows a sum, of each of its slices, and side by side for whoever reads rows of it. */
static ValueId follow_slices(const Cutting *c, ValueId id, int64_t size) {
  const Value value = c->from->values[id];
  const int64_t length = value.shape.size[0];
  Value all = {.op = OP_CONCAT, .shape = value.shape, .operand_count = 0, .as.part = {.axis = 0}};
  ValueId *slices = arena_alloc(c->to->arena, (size_t)(length / size + 1) * sizeof(ValueId));
  for (int64_t begin = 0; begin < length; begin += size) {
    begin_walk(c);
    const ValueId slice = columns_of(c, id, begin, least(size, length - begin));
    c->to->values[slice].is_exact = true; /* CONCAT rounds, if anybody does */
    c->to->values[slice].origin = id;
    slices[begin / size] = all.operand[all.operand_count++] = slice;
  }
  c->slice_of[id] = slices;
  const ValueId result = add_like(c, &value, all, "");
  c->to->values[result].tap = value.tap;
  c->to->values[result].called = value.called;
  c->to->values[result].was_tap = value.was_tap;
  return result;
}

/* Where nobody reads the whole, its tiles need not be copied out of it. */
static bool has_tiles_of_columns(const Cutting *c, ValueId id) {
  const Value *value = &c->from->values[id];
  bool has = !c->is_near[id] && !value->tap && !value->was_tap && value->op == OP_MAP;
  for (int t = 0; t < c->tiles[id].count && has; t++) {
    const Tile *tile = &c->tiles[id].list[t];
    begin_walk(c);
    has = has_columns(c, id, tile->begin, tile->size);
  }
  return has;
}

static void add_tiles(const Cutting *c, ValueId id) {
  const Value *value = &c->from->values[id];
  const bool is_of_columns = has_tiles_of_columns(c, id);
  for (int t = 0; t < c->tiles[id].count; t++) {
    Tile *tile = &c->tiles[id].list[t];
    if (has_slices(c, id)) tile->tile = columns_there(c, id, tile->begin, tile->size);
    if (is_of_columns && tile->tile == NO_VALUE) {
      begin_walk(c);
      tile->tile = columns_of(c, id, tile->begin, tile->size);
      continue;
    }
    const bool is_brought = c->options.is_away && (value->op == OP_INPUT ? c->options.is_away[value->as.index] : value->op == OP_HOISTED);
    const bool is_there = c->options.rank && op_info[value->op].kind == OP_KIND_LEAF && !is_brought; /* tables take columns of what stays where it lies */
    if (is_there && tile->tile == NO_VALUE) tile->tile = add_columns(c, id, tile->begin, tile->size);
    Value slice = {.op = OP_TILE, .shape = sliced_shape(value->shape, tile->size), .operand_count = 1, .operand = {c->image[id]}, .as.part = {0, tile->begin}};
    slice.slice = slice_at(c, id, tile->begin, tile->size);
    if (tile->tile == NO_VALUE) tile->tile = add_like(c, value, slice, "slice");
  }
}

static ValueId image_of(const Cutting *c, ValueId id) { return id == NO_VALUE ? NO_VALUE : c->image[id]; }

static void take_roots(const Cutting *c) {
  const Graph *from = c->from;
  Graph *to = c->to;
  to->scores = image_of(c, from->scores);
  to->loss = image_of(c, from->loss);
  to->is_training = from->is_training;
  to->update_count = from->update_count;
  to->updates = arena_alloc(to->arena, (size_t)(from->update_count + 1) * sizeof *to->updates);
  for (int i = 0; i < from->update_count; i++) to->updates[i] = image_of(c, from->updates[i]);
  for (int i = 0; i < from->once_count; i++) ARENA_PUSH(to->arena, to->once, to->once_count, image_of(c, from->once[i]));
  const int params = from->program->param_count;
  if (from->gradients) to->gradients = arena_alloc(to->arena, (size_t)(params + 1) * sizeof *to->gradients);
  for (int p = 0; from->gradients && p < params; p++) to->gradients[p] = is_learned(c, p) && from->gradients[p] != NO_VALUE ? gradient_of_rows(c, p) : image_of(c, from->gradients[p]);
  for (int n = 0; n < from->note_count; n++) ARENA_PUSH(to->arena, to->notes, to->note_count, from->notes[n]);
}

static bool is_wide_sum(const Cutting *c, const Value *value) { return is_sum_over_edges(c, value) && c->reads_far[graph_walk_end(value)][value->operand[0]]; }

/* Of values on edges, which lie where the edges arrive. */
static bool is_sum_of_made(const Cutting *c, const Value *value) {
  return c->options.has_edge_halos && is_sum_over_edges(c, value) && graph_walk_end(value) == END_SRC && (c->is_made_on_edges[value->operand[0]] || c->reads_data[value->operand[0]]);
}

/* ---- sums over all rows ---- */

static int64_t transposed_columns(const Cutting *c, ValueId id) {
  const Value *sum = &c->from->values[id];
  if (!c->options.transposed || !layers_have(c->options.transposed, sum->layer.name, sum->phase)) return 0;
  const ValueId far = transposable(c->from, id);
  return far != NO_VALUE && can_have_table(c, far) ? columns_of_ranks(shape_width(&sum->shape), c->options.rank->info->ranks->count) : 0;
}

static ValueId transpose_sum(const Cutting *c, ValueId id) {
  return transposed_sum(c->to, c->from, id, c->image[transposable(c->from, id)], transposed_columns(c, id));
}

static const char *listed(Arena *arena, const char *list, const char *item) { return arena_printf(arena, "%s%s%s", list, *list ? ", " : "", item); }

/* Of a training, or of an evaluation alone. */
static void note_transposed(Cutting *c) {
  const char *transposed = "", *others = "";
  Arena *arena = c->to->arena;
  for (int i = 0; i < c->from->value_count; i++) {
    const Value *sum = &c->from->values[i];
    const int ranks = c->options.rank->info->ranks->count;
    const int64_t columns = transposed_columns(c, i);
    if (!is_wide_sum(c, sum)) continue;
    const char *name = arena_printf(arena, "%s%s", sum->said, sum->phase == PHASE_BACKWARD ? " backward" : "");
    const char *why = transposable(c->from, i) == NO_VALUE ? "no plain sum of rows" : !columns_of_ranks(shape_width(&sum->shape), ranks) ? "too narrow" : "which take less";
    if (columns) transposed = listed(arena, transposed, arena_printf(arena, "%s, %" PRId64 " columns a rank", name, columns));
    else others = listed(arena, others, arena_printf(arena, "%s (%s)", name, why));
  }
  if (*transposed) ARENA_PUSH(arena, c->to->notes, c->to->note_count, arena_printf(arena, "sums over neighbours of columns of all rows (transpose): %s", transposed));
  if (*transposed && *others) ARENA_PUSH(arena, c->to->notes, c->to->note_count, arena_printf(arena, "of halos: %s", others));
}

static void note_slices(Cutting *c) {
  const char *sliced = "", *whole = "";
  Arena *arena = c->to->arena;
  for (int i = 0; i < c->from->value_count; i++) {
    const Value *sum = &c->from->values[i];
    const int64_t size = c->slice[i], length = sum->shape.rank ? sum->shape.size[0] : 1, width = shape_width(&sum->shape);
    if (size && op_is_aggregation(sum->op)) sliced = listed(arena, sliced, arena_printf(arena, "%s in %" PRId64 " slices of %" PRId64 " columns", sum->said, (length + size - 1) / size, size * (width / length)));
    else if (is_wide_sum(c, sum) && slices_of(c, sum) > 1) whole = listed(arena, whole, sum->said);
  }
  if (*sliced) ARENA_PUSH(arena, c->to->notes, c->to->note_count, arena_printf(arena, "sums over neighbours by columns: %s", sliced));
  if (*whole) ARENA_PUSH(arena, c->to->notes, c->to->note_count, arena_printf(arena, "of whole rows, too narrow for %s slices or no sum of columns: %s", c->options.layers ? "as many" : arena_printf(arena, "%d", c->options.slices), whole));
}

static bool are_offsets_away(const DataInfo *info) { return 8 * (info->nodes + 1) >= LEAST_AWAY_BYTES; }

/* Where both directions are the same, so are their arrays. */
static void add_neighbours(Graph *graph) {
  const bool is_symmetric = graph->program->info->is_symmetric, has_offsets = are_offsets_away(graph->program->info);
  for (int i = 0, count = graph->value_count; i < count; i++) {
    const Value *sum = &graph->values[i];
    const bool has_edges = sum->shape.domain == DOMAIN_EDGE || (op_is_aggregation(sum->op) && graph->values[sum->operand[0]].shape.domain == DOMAIN_EDGE);
    const EdgeEnd end = is_symmetric || !op_is_aggregation(sum->op) ? END_DST : sum->as.end;
    if (!has_edges || graph->neighbours[end] != NO_VALUE) continue;
    Value of_nodes = {.op = OP_NEIGHBOURS, .shape = {.domain = DOMAIN_NODE, .element = ELEMENT_LABEL}, .as.end = end, .place = sum->place, .origin = NO_VALUE};
    graph->neighbours[end] = graph_add(graph, of_nodes);
    of_nodes.op = OP_OFFSETS;
    if (has_offsets) graph->offsets[end] = graph_add(graph, of_nodes);
  }
  if (is_symmetric) graph->neighbours[END_SRC] = graph->neighbours[END_DST], graph->offsets[END_SRC] = graph->offsets[END_DST];
}

/* Those of sums at either end are the same, too, where both directions are. */
static void add_halo_rows(Graph *graph) {
  const DataInfo *info = graph->program->info;
  const Value lies_with_nodes = {.shape = {.domain = DOMAIN_NODE, .element = ELEMENT_LABEL}, .origin = NO_VALUE};
  for (int i = 0, count = graph->value_count; i < count; i++) {
    const Value *halo = &graph->values[i];
    if (halo->op != OP_HALO) continue;
    const bool is_of_edges = halo_kind(halo) == HALO_OF_EDGES;
    const HaloKind kind = info->is_symmetric && !is_of_edges ? HALO_FOR_DST : halo_kind(halo);
    Value table = lies_with_nodes;
    table.place = halo->place;
    table.op = OP_HALO_ROWS;
    table.as.degree = (struct Degree){halo->as.degree.end, DOMAIN_EDGE, kind};
    if (graph->halo_rows[kind] == NO_VALUE && are_offsets_away(info)) graph->halo_rows[kind] = graph_add(graph, table);
    table.op = OP_EDGE_CODES;
    table.as.end = END_SRC;
    if (is_of_edges && graph->edge_codes == NO_VALUE) graph->edge_codes = graph_add(graph, table);
  }
  if (info->is_symmetric) graph->halo_rows[HALO_FOR_SRC] = graph->halo_rows[HALO_FOR_DST];
}

/* Whether a kernel asks for them is known once there are kernels. */
static void add_out_edges(Graph *graph) {
  graph->out_edges = graph_add(graph, (Value){.op = OP_OUT_EDGES, .shape = {.domain = DOMAIN_NODE, .element = ELEMENT_LABEL}, .as.end = END_SRC, .origin = NO_VALUE});
}

static void add_node_ids(Graph *graph) {
  if (graph->program->data->recipe.order == ORDER_GIVEN || !are_offsets_away(graph->program->info)) return;
  graph->node_ids = graph_add(graph, (Value){.op = OP_NODE_IDS, .shape = {.domain = DOMAIN_NODE, .element = ELEMENT_LABEL}, .origin = NO_VALUE});
}

/* Of edges that scores are of, the host asks, too. */
static void add_edge_ids(Graph *graph) {
  if (graph->program->data->recipe.order == ORDER_GIVEN || graph->values[graph->scores].shape.domain == DOMAIN_EDGE) return;
  for (int end = 0; end < 2; end++)
    graph->edge_ids[end] = graph_add(graph, (Value){.op = OP_EDGE_IDS, .shape = {.domain = DOMAIN_NODE, .element = ELEMENT_LABEL}, .as.end = (EdgeEnd)end, .origin = NO_VALUE});
}

static void add_entries_of(const Cutting *c, int32_t field, bool is_by_column, Place place) {
  Graph *graph = c->to;
  if (!c->options.is_away[field] || graph->entries[field][is_by_column][0] != NO_VALUE) return;
  for (int is_number = 0; is_number < 2; is_number++)
    graph->entries[field][is_by_column][is_number] = graph_add(graph, (Value){.op = OP_ENTRIES, .shape = {.domain = DOMAIN_NODE, .element = ELEMENT_LABEL},
                                                                              .as.entries = {field, is_by_column, is_number}, .place = place, .origin = NO_VALUE});
  if (is_by_column || !are_offsets_away(graph->program->info)) return;
  graph->entry_offsets[field] = graph_add(graph, (Value){.op = OP_ENTRY_OFFSETS, .shape = {.domain = DOMAIN_NODE, .element = ELEMENT_LABEL}, .as.entries = {.field = field}, .place = place, .origin = NO_VALUE});
}

/* Products go over them row by row, their gradients column by column. */
static void add_entries(const Cutting *c) {
  Graph *graph = c->to;
  const int fields = graph->program->field_count, all = graph->value_count;
  if (!c->options.is_away || !c->options.is_sparse) return;
  graph->entries = arena_alloc(graph->arena, (size_t)(fields + 1) * sizeof *graph->entries);
  graph->entry_offsets = arena_alloc(graph->arena, (size_t)(fields + 1) * sizeof *graph->entry_offsets);
  for (int f = 0; f < fields; f++) {
    graph->entry_offsets[f] = NO_VALUE;
    for (int k = 0; k < 4; k++) graph->entries[f][k / 2][k % 2] = NO_VALUE;
  }
  for (int i = 0; i < all; i++) {
    const Value *value = &graph->values[i];
    const int side = value->op == OP_OUTER ? graph_sparse_side(graph, c->options.is_sparse, i) : value->op == OP_MATMUL ? 0 : NO_INDEX;
    ValueId dropout;
    const int32_t field = side == NO_INDEX ? NO_INDEX : graph_sparse_field(graph, c->options.is_sparse, value->operand[side], &dropout);
    if (field != NO_INDEX) add_entries_of(c, field, value->op == OP_OUTER, value->place);
  }
}

static void add_labels(Graph *graph) {
  graph->labels = graph_add(graph, (Value){.op = OP_INPUT, .shape = {.domain = DOMAIN_NODE, .element = ELEMENT_LABEL}, .as.index = graph->program->train.label_field, .place = graph->values[graph->scores].place,
                                           .origin = NO_VALUE});
}

/* `end`: of find_ends. */
static ValueId cut_value(const Cutting *c, ValueId id, int end) {
  const Value *value = &c->from->values[id];
  const int gathered = gathered_by_features(c, id);
  const bool is_far_lift = value->op == OP_LIFT && end != NO_INDEX && is_far(c, id, (EdgeEnd)end);
  if (is_rows_of_learned(c, value)) return rows_of_weight(c, id);
  if (value->op == OP_UPDATE && is_learned(c, value->as.index)) return update_of_rows(c, id);
  if (transposed_columns(c, id)) return transpose_sum(c, id);
  if (c->slice[id] && op_is_aggregation(value->op)) return slice_sum(c, id, c->slice[id]);
  if (c->slice[id]) return gathered != NO_INDEX ? slice_gradient(c, id, c->slice[id]) : follow_slices(c, id, c->slice[id]);
  if (c->options.has_halos && (is_wide_sum(c, value) || is_sum_of_made(c, value))) return sum_of_halos(c, id);
  if (c->options.has_halos && is_far_lift) return lift_of_halo(c, id, (EdgeEnd)end);
  const ValueId copy = copy_value(c, id, NULL);
  const LayerCut *own = op_is_aggregation(value->op) ? layer_cut_of(c->options.layers, value->layer.name, value->phase) : NULL;
  c->to->values[copy].is_by_all_rows = own && own->is_whole;
  return copy;
}

/* What is not of the forward pass comes after all that is: bits of slices are side by side before the product whose body reads them. */
static bool *find_late(const Graph *graph) {
  bool *is_late = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    is_late[i] = value->phase != PHASE_FORWARD;
    for (int k = 0; k < value->operand_count; k++) is_late[i] = is_late[i] || is_late[value->operand[k]];
  }
  return is_late;
}

static void choose_slices(Cutting *c, ValueId id) {
  const Value *value = &c->from->values[id];
  const int gathered = gathered_by_features(c, id);
  c->slice[id] = sum_slice(c, id);
  const bool is_sum = c->slice[id] > 0;
  if (!is_sum && c->options.is_following) c->slice[id] = follower_slice(c, id);
  note_latest_sum(c, id);
  begin_walk(c);
  if (is_sum && gathered != NO_INDEX) want_tiles_of(c, value->operand[gathered], c->slice[id]);
  else if (is_sum) want_tiles(c, value->operand[0], value->as.end, c->slice[id]);
  for (int k = 0; k < element_operands(value) && c->slice[id] && !is_sum; k++)
    if (!has_slices(c, value->operand[k]) && c->from->values[value->operand[k]].op != OP_BROADCAST) want_tiles_of(c, value->operand[k], c->slice[id]);
}

Graph *cut_graph(const Graph *graph, CutOptions options) {
  const size_t count = (size_t)graph->value_count + 1;
  Cutting c = {.from = graph, .to = graph_new(graph->arena, options.rank ? options.rank : graph->program), .options = options, .image = arena_alloc(graph->arena, count * sizeof(ValueId)),
               .is_near = arena_alloc(graph->arena, count), .reads_far = {arena_alloc(graph->arena, count), arena_alloc(graph->arena, count)},
               .tiles = arena_alloc(graph->arena, count * sizeof(Tiles)), .slice = arena_alloc(graph->arena, count * sizeof(int64_t)),
               .slice_of = arena_alloc(graph->arena, count * sizeof(ValueId *)), .latest_sum = arena_alloc(graph->arena, count * sizeof(ValueId)), .use_count = arena_alloc(graph->arena, count * sizeof(int)),
               .is_seen = arena_alloc(graph->arena, count), .slice_image = arena_alloc(graph->arena, count * sizeof(ValueId)),
               .rows_of_weight = arena_alloc(graph->arena, ((size_t)graph->program->param_count + 1) * sizeof(ValueId))};
  for (int p = 0; p < graph->program->param_count; p++) c.rows_of_weight[p] = NO_VALUE;
  c.halos = arena_alloc(graph->arena, count * sizeof *c.halos);
  for (int i = 0; i < graph->value_count; i++)
    for (int k = 0; k < 2 * PHASE_UPDATE; k++) c.halos[i].of[0][k / PHASE_UPDATE][k % PHASE_UPDATE] = c.halos[i].of[1][k / PHASE_UPDATE][k % PHASE_UPDATE] = c.halos[i].expression[k / PHASE_UPDATE][k % PHASE_UPDATE] = NO_VALUE;
  c.is_made_on_edges = arena_alloc(graph->arena, count);
  c.reads_data = arena_alloc(graph->arena, count);
  if (options.recomputed) c.recomputing = recomputing_new(graph, c.to, c.image, options.is_sparse);
  find_made_on_edges(&c);
  const int *end = find_ends(&c);
  find_near(&c);
  find_reads_far(&c);
  for (int i = 0; i < graph->value_count; i++) {
    c.latest_sum[i] = NO_VALUE;
    for (int k = 0; k < graph->values[i].operand_count; k++) c.use_count[graph->values[i].operand[k]]++;
  }
  for (int i = 0; i < graph->value_count; i++) choose_slices(&c, i);
  const bool *is_late = find_late(graph);
  for (int late = 0; late < 2; late++)
    for (int i = 0; i < graph->value_count; i++) {
      if (is_late[i] != late) continue;
      c.image[i] = cut_value(&c, i, end[i]);
      add_tiles(&c, i);
    }
  take_roots(&c);
  if ((options.slices > 1 || options.layers) && (!options.has_halos || options.rank)) note_slices(&c);
  if (options.transposed && (graph->is_training || !graph->program->has_train)) note_transposed(&c);
  if (options.recomputed && (graph->is_training || !graph->program->has_train)) note_recomputed(c.recomputing);
  graph_rebuild(c.to, graph_no_redirections(c.to));
  if (options.is_graph_away) add_neighbours(c.to);
  if (options.is_graph_away && options.has_halos && !options.rank) add_halo_rows(c.to);
  if (options.is_graph_away && !options.rank) add_out_edges(c.to), add_node_ids(c.to), add_edge_ids(c.to);
  add_entries(&c);
  if (options.has_labels) add_labels(c.to);
  for (int s = 0; s < SPLIT_COUNT && options.has_split_rows; s++)
    if (c.to->program->info->split_count[s] > 0) c.to->split_rows[s] = graph_add(c.to, (Value){.op = OP_SPLIT_ROWS, .shape = {.domain = DOMAIN_NODE, .element = ELEMENT_LABEL}, .as.index = s, .origin = NO_VALUE});
  return c.to;
}
