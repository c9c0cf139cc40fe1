/* residents: what stays on the device through the whole run: graph, features, weights, optimiser state. */
#include <string.h>

#include "plan.h"
#include "compiler/graph/learned.h"
#include "runtime/core/blocks.h"
#include "runtime/gnnrt.h"

const char *block_kind_name(BlockKind kind) {
  static const char *const names[BLOCK_KIND_COUNT] = {"graph", "features", "weights", "optimizer", "activation", "gradient", "scratch"};
  return names[kind];
}

const char *block_unique_name(Arena *arena, const NameTable *taken, const char *base) {
  int last = 1;
  return block_next_name(arena, taken, base, &last);
}

const char *block_next_name(Arena *arena, const NameTable *taken, const char *base, int *last) {
  const char *name = arena_identifier(arena, base), *result = name;
  while (name_table_find(taken, result) >= 0) result = arena_printf(arena, "%s_%d", name, ++*last);
  return result;
}

typedef struct Collecting {
  Arena *arena;
  Residents *residents;
  const TypedProgram *program;
  bool *is_field_used, is_for_gpu;
  DataHomes homes;
  bool is_graph_away, has_offsets_away, has_labels_away, has_halo_rows_away, has_edge_codes_away, has_out_edges_away, has_node_ids_away, has_edge_ids_away[2], has_split_rows_away;
  Padding *field_padding;
  bool *has_entry_offsets_away; /* per field */
  int window_count;
  int64_t window_bytes;
} Collecting;

static int add_block(Collecting *l, BlockKind kind, const char *name, int64_t bytes, bool is_early) {
  Residents *y = l->residents;
  Block block = {.kind = kind, .name = block_unique_name(l->arena, &y->names, name), .bytes = bytes > 0 ? bytes : 4,
                 .offset = y->bytes + y->early_bytes, .first = is_early ? BEFORE_STEPS : 0, .last = is_early ? BEFORE_STEPS : 0, .value = NO_VALUE};
  block.room = round_up(block.bytes, y->alignment);
  *(is_early ? &y->early_bytes : &y->bytes) += block.room;
  name_table_add(l->arena, &y->names, block.name, y->count);
  ARENA_PUSH(l->arena, y->blocks, y->count, block);
  return y->count - 1;
}

static int add_resident(Collecting *l, BlockKind kind, const char *name, int64_t bytes) { return add_block(l, kind, name, bytes, false); }

/* Of what is read as rows. */
static int add_rows(Collecting *l, const char *name, int64_t bytes, Padding padding, bool is_early) {
  int index = add_block(l, BLOCK_FEATURES, name, bytes, is_early);
  l->residents->blocks[index].padding = padding;
  return index;
}

static bool drops(const Kernels *training, Domain rows) {
  for (int i = 0; training && i < training->graph->value_count; i++)
    if (training->graph->values[i].op == OP_DROPOUT && training->graph->values[i].shape.domain == rows) return true;
  return false;
}

int64_t residents_hub_room(int64_t entries) { return entries / (GNN_HUB_ENTRIES + 1); }

static int add_part(Collecting *l, const char *set, const char *part, int64_t bytes) {
  return add_resident(l, BLOCK_GRAPH, arena_printf(l->arena, "graph_%s%s", set, part), bytes);
}

/* Its index. */
static int add_away(Collecting *l, const char *name, Away away) {
  Residents *y = l->residents;
  away.name = block_unique_name(l->arena, &y->names, name);
  away.at = away.tier == TIER_HOST ? y->away_bytes : away.file ? GNN_WINDOWS_AT + l->window_bytes : 0;
  if (away.file) l->window_bytes += round_up(away.bytes, SSD_BLOCK_BYTES), l->window_count++;
  if (away.tier == TIER_HOST) y->away_bytes += round_up(away.bytes, y->alignment);
  ARENA_PUSH(l->arena, y->away, y->away_count, away);
  return y->away_count - 1;
}

/* Of values on nodes: of ranks, those of each part behind the most that one of them has of the part before. */
static int64_t rows_away(const Collecting *l, int64_t rows) { return l->homes.rank_rows ? l->homes.rank_rows : rows; }

static int add_neighbours_away(Collecting *l, const char *name, int64_t edges, EdgeEnd end) {
  return add_away(l, name, (Away){.tier = l->homes.graph, .bytes = 4 * edges, .of = AWAY_NEIGHBOURS, .end = end});
}

static int add_degree_away(Collecting *l, const char *name, int64_t rows) { return add_away(l, name, (Away){.tier = l->homes.graph, .bytes = 4 * rows}); }

static int add_offsets_away(Collecting *l, const char *name, int64_t rows, EdgeEnd end) {
  return add_away(l, name, (Away){.tier = l->homes.graph, .bytes = 8 * (rows + 1), .of = AWAY_OFFSETS, .end = end});
}

/* One direction: the entries of each of `rows` rows; what is NULL is away, or not needed. */
static void add_direction(Collecting *l, const char *set, const char *end, int64_t rows, int64_t entries, int *ptr, int *idx, int *bounds, int *hubs) {
  const int64_t hub_bytes = l->is_for_gpu ? 4 * residents_hub_room(entries) : 0;
  if (ptr) *ptr = add_part(l, set, arena_printf(l->arena, "%s_ptr", end), 8 * (rows + 1));
  if (idx) *idx = add_part(l, set, arena_printf(l->arena, "%s_idx", end), 4 * entries);
  *bounds = add_part(l, set, arena_printf(l->arena, "%s_bounds", end), 8 * (GNN_TASKS + 1));
  if (hub_bytes) *hubs = add_part(l, set, arena_printf(l->arena, "%s_hubs", end), hub_bytes);
}

/* Whose rows they are that leave. */
static const char *halo_name(const Collecting *l, HaloKind kind) {
  static const char *const names[HALO_KINDS] = {[HALO_FOR_SRC] = "out", [HALO_FOR_DST] = "in", [HALO_OF_EDGES] = "edge"};
  const DataInfo *info = l->program->info;
  const int relation = (int)kind - HALO_KINDS, group = 1 + (relation - info->relation_count) / 2;
  if (kind < HALO_KINDS) return names[kind];
  if (relation < info->relation_count) return typed_domain_name(info, info->relations[relation].domain);
  const char *rows = group > info->type_count ? "pairs" : info->types[group - 1].name;
  return arena_printf(l->arena, "%s_%s", rows, (relation - info->relation_count) % 2 ? "out" : "in");
}

static void add_halo(Collecting *l, HaloKind kind) {
  const DataInfo *info = l->program->info;
  if (info->is_of_rank && l->residents->halo[kind].row != NO_INDEX) return; /* that of another relation */
  if (info->has_all && (kind == typed_columns_halo(info) || kind == typed_back_halo(info))) return; /* all rows pass */
  if (info->is_of_rank) { /* what leaves for other ranks; ids are rows of a table */
    l->residents->halo[kind] = (struct HaloBlocks){.code = NO_INDEX, .row = add_part(l, halo_name(l, kind), "_sent_rows", 4 * info->ranks->sent[kind]), .first = NO_INDEX};
    return;
  }
  const int levels = l->homes.halo_levels;
  const int64_t rows = halo_rows(halo_pairs(l->arena, info, kind, levels), levels);
  l->residents->halo_levels = levels;
  /* Where neighbours stay away, codes do. */
  const bool are_codes_away = kind == HALO_OF_EDGES ? l->has_edge_codes_away : l->is_graph_away;
  l->residents->halo[kind] = (struct HaloBlocks){.code = are_codes_away ? NO_INDEX : add_part(l, halo_name(l, kind), "_codes", 4 * info->edges), .row = l->has_halo_rows_away ? NO_INDEX : add_part(l, halo_name(l, kind), "_halo_rows", 4 * rows),
                                                 .first = add_part(l, halo_name(l, kind), "_halo_first", 8 * ((INT64_C(1) << 2 * levels) + 1))};
  if (l->has_halo_rows_away) l->residents->halo_rows_away[kind] = add_away(l, arena_printf(l->arena, "graph_%s_halo_rows", halo_name(l, kind)), (Away){.tier = l->homes.graph, .bytes = 4 * rows, .of = AWAY_HALO_ROWS, .halo = kind});
  if (kind == HALO_OF_EDGES && are_codes_away) l->residents->edge_codes_away = add_neighbours_away(l, "graph_edge_codes", info->edges, END_SRC);
}

static bool is_set_symmetric(const DataInfo *info, Domain edges) {
  if (domain_set(edges) >= EDGES_OF_RELATIONS) return info->relations[domain_set(edges) - EDGES_OF_RELATIONS].is_symmetric;
  return edges == DOMAIN_EDGE && info->is_symmetric;
}

static HaloKind halo_at(const DataInfo *info, Domain edges, EdgeEnd sums_at) { return typed_group_halo(info, typed_row_group(info, edges, sums_at == END_DST ? END_SRC : END_DST), sums_at); }

static void add_edge_set(Collecting *l, Domain edges, const struct EdgeNeeds *needs) {
  const DataInfo *info = l->program->info;
  struct EdgeSetBlocks *blocks = &l->residents->sets[domain_set(edges)];
  const int64_t count = typed_rows(info, edges), sources = typed_rows(info, domain_at(edges, END_SRC)), destinations = typed_rows(info, domain_at(edges, END_DST));
  const char *name = edges == DOMAIN_EDGE ? "" : arena_printf(l->arena, "%s_", edges == DOMAIN_MEMBER ? "members" : typed_domain_name(info, edges));
  blocks->is_symmetric = is_set_symmetric(info, edges);
  blocks->has_out = needs->out;
  const bool shares = needs->out && blocks->is_symmetric;
  const bool is_away = edges == DOMAIN_EDGE && l->is_graph_away, has_offsets_away = is_away && l->has_offsets_away;
  const bool has_ids[] = {needs->ids[END_SRC], needs->ids[END_DST] || (shares && needs->ids[END_SRC])};
  if (needs->in || shares) add_direction(l, name, "in", destinations, count, has_offsets_away ? NULL : &blocks->in_ptr, is_away || !has_ids[END_DST] ? NULL : &blocks->in_idx, &blocks->in_bounds, &blocks->in_hubs);
  if (needs->out && !shares) add_direction(l, name, "out", sources, count, has_offsets_away ? NULL : &blocks->out_ptr, is_away || !has_ids[END_SRC] ? NULL : &blocks->out_idx, &blocks->out_bounds, &blocks->out_hubs);
  const bool has_halos = edges == DOMAIN_EDGE || info->is_of_rank;
  if (has_halos && (needs->halo[END_DST] || (shares && needs->halo[END_SRC]))) add_halo(l, halo_at(info, edges, END_DST));
  if (has_halos && needs->halo[END_SRC] && !shares) add_halo(l, halo_at(info, edges, END_SRC));
  if (has_halos && needs->has_edge_halo) add_halo(l, typed_edge_halo(edges));
  if (is_away && (needs->in || shares)) l->residents->neighbours_away[END_DST] = add_neighbours_away(l, "graph_in_idx", count, END_DST);
  if (is_away && needs->out && !shares) l->residents->neighbours_away[END_SRC] = add_neighbours_away(l, "graph_out_idx", count, END_SRC);
  if (has_offsets_away && (needs->in || shares)) l->residents->offsets_away[END_DST] = add_offsets_away(l, "graph_in_ptr", destinations, END_DST);
  if (has_offsets_away && needs->out && !shares) l->residents->offsets_away[END_SRC] = add_offsets_away(l, "graph_out_ptr", sources, END_SRC);
  if (needs->out_edge && is_away && l->has_out_edges_away) l->residents->out_edges_away = add_away(l, "graph_out_edge", (Away){.tier = l->homes.graph, .bytes = 8 * count, .of = AWAY_EDGE_NUMBERS, .end = END_SRC});
  else if (needs->out_edge) blocks->out_edge = add_part(l, name, "out_edge", 8 * count);
  if (is_away && needs->degree[END_DST]) l->residents->degree_away[END_DST] = add_degree_away(l, "graph_in_degree", destinations);
  else if (needs->degree[END_DST]) blocks->degree[END_DST] = add_part(l, name, "in_degree", 4 * destinations);
  if (is_away && needs->degree[END_SRC]) l->residents->degree_away[END_SRC] = add_degree_away(l, "graph_out_degree", sources);
  else if (needs->degree[END_SRC]) blocks->degree[END_SRC] = add_part(l, name, "out_degree", 4 * sources);
}

static void add_graph(Collecting *l, const Kernels *kernels[3]) {
  Residents *y = l->residents;
  const DataInfo *info = l->program->info;
  for (int set = 0; set < typed_edge_sets(info); set++) {
    struct EdgeNeeds all = {0};
    for (int k = 0; k < 3; k++) {
      const struct EdgeNeeds *needs = kernels[k] ? &kernels[k]->needs[set] : &all;
      all = (struct EdgeNeeds){all.in || needs->in, all.out || needs->out, all.out_edge || needs->out_edge, {all.degree[0] || needs->degree[0], all.degree[1] || needs->degree[1]},
                               {all.ids[0] || needs->ids[0], all.ids[1] || needs->ids[1]}, {all.halo[0] || needs->halo[0], all.halo[1] || needs->halo[1]},
                               all.has_edge_halo || needs->has_edge_halo};
    }
    add_edge_set(l, typed_edge_set(info, set), &all);
    if (info->is_of_rank && set >= EDGES_OF_RELATIONS && drops(kernels[0], typed_edge_set(info, set)))
      y->sets[set].id = add_part(l, arena_printf(l->arena, "%s_", typed_domain_name(info, typed_edge_set(info, set))), "id", 8 * info->ranks->related_table[set - EDGES_OF_RELATIONS]);
  }
  y->node_blocks = add_resident(l, BLOCK_GRAPH, "graph_blocks", 8 * ((INT64_C(1) << gnn_block_levels(info->is_of_rank ? info->ranks->nodes : info->nodes)) + 1));
  const bool is_ordered = l->program->data->recipe.order != ORDER_GIVEN || info->is_of_rank;
  y->has_ids_of_others = is_ordered && drops(kernels[0], DOMAIN_OTHERS);
  if (l->has_node_ids_away) y->node_ids_away = add_away(l, "graph_node_id", (Away){.tier = l->homes.graph, .bytes = 4 * info->nodes});
  else if (is_ordered) y->node_id = add_resident(l, BLOCK_GRAPH, "graph_node_id", 4 * (y->has_ids_of_others ? info->ranks->table[HALO_FOR_DST] : info->nodes));
  for (int end = 0; end < 2; end++)
    if (l->has_edge_ids_away[end])
      y->edge_ids_away[end] = add_away(l, end == END_DST ? "graph_edge_id" : "graph_out_edge_id", (Away){.tier = l->homes.graph, .bytes = 8 * info->edges, .of = AWAY_EDGE_NUMBERS, .end = (EdgeEnd)end});
  const bool are_edge_ids_away = l->has_edge_ids_away[END_SRC] || l->has_edge_ids_away[END_DST];
  if (is_ordered && drops(kernels[0], DOMAIN_EDGE) && !are_edge_ids_away) y->edge_id = add_resident(l, BLOCK_GRAPH, "graph_edge_id", 8 * (info->is_of_rank ? info->ranks->table[HALO_OF_EDGES] : info->edges));
  static const char *const rows[SPLIT_COUNT] = {"rows_train", "rows_valid", "rows_test"};
  for (int s = 0; s < SPLIT_COUNT; s++)
    if (l->program->has_train && info->split_count[s] > 0) {
      if (l->has_split_rows_away) y->rows_away[s] = add_away(l, rows[s], (Away){.tier = TIER_HOST, .bytes = 4 * info->split_count[s], .of = AWAY_SPLIT_ROWS, .split = s});
      else y->rows[s] = add_resident(l, BLOCK_GRAPH, rows[s], 4 * info->split_count[s]);
    }
}

int residents_spmm_buffer(const Residents *residents, bool is_out, int64_t width) {
  for (int i = 0; i < residents->spmm_buffer_count; i++)
    if (residents->spmm_buffers[i].is_out == is_out && residents->spmm_buffers[i].width == width) return residents->spmm_buffers[i].block;
  return NO_INDEX;
}

/* Where both directions are the same, so are their sums. */
static void add_spmm(Collecting *l, const Kernels *kernels) {
  Residents *y = l->residents;
  const DataInfo *info = l->program->info;
  for (int i = 0; kernels && i < kernels->kernel_count; i++) {
    if (kernels->kernels[i].library != LIBRARY_CUSPARSE) continue;
    const Value *sum = &kernels->graph->values[kernels->kernels[i].anchor];
    bool is_out = sum->as.end == END_SRC && !info->is_symmetric;
    int64_t width = shape_width(&sum->shape);
    if (y->spmm_ones == NO_INDEX) y->spmm_ones = add_resident(l, BLOCK_GRAPH, "spmm_ones", 4 * info->edges);
    if (y->spmm_offsets[is_out] == NO_INDEX)
      y->spmm_offsets[is_out] = add_resident(l, BLOCK_GRAPH, is_out ? "spmm_out_offsets" : "spmm_in_offsets", 4 * (info->nodes + 1));
    if (residents_spmm_buffer(y, is_out, width) != NO_INDEX) continue;
    const char *name = arena_printf(l->arena, "spmm_%s_buffer_%lld", is_out ? "out" : "in", (long long)width);
    struct SpmmBuffer buffer = {is_out, width, kernels_row_stride(kernels, kernels->kernels[i].epilogue.place), add_resident(l, BLOCK_SCRATCH, name, library_buffer_bytes(kernels))};
    ARENA_PUSH(l->arena, y->spmm_buffers, y->spmm_buffer_count, buffer);
  }
}

static bool is_field_away(const Collecting *l, int f) {
  const TypedProgram *program = l->program;
  const bool is_label = l->has_labels_away && program->has_train && f == program->train.label_field && program->fields[f].type.dtype == DTYPE_CLASS && program->fields[f].type.domain == DOMAIN_NODE;
  return l->homes.is_away && (l->homes.is_away[f] || is_label);
}

static void add_field(Collecting *l, int f, bool is_sparse, bool is_early) {
  const TypedField *field = &l->program->fields[f];
  int64_t rows = typed_rows(l->program->info, field->type.domain), width = 1, number_bytes = l->residents->is_field_half[f] ? 2 : 4;
  for (int d = 0; d < field->type.rank; d++) width *= field->type.dim[d].size;
  if (!is_sparse) {
    const Padding padding = l->field_padding[f];
    const int64_t stride = padding.stride ? padding.stride : width;
    if (is_field_away(l, f)) {
      const bool is_as_in_file = l->homes.fields == TIER_SSD && number_bytes == 4 && stride == width && l->window_count < GNN_WINDOWS_MOST;
      l->residents->field_away[f] = add_away(l, arena_printf(l->arena, "data_%s", field->name), (Away){.tier = l->homes.fields, .bytes = number_bytes * rows_away(l, rows) * stride, .padding = padding, .file = is_as_in_file ? field->file : NULL});
      return;
    }
    l->residents->field[f] = add_rows(l, arena_printf(l->arena, "data_%s", field->name), number_bytes * rows * stride, padding, is_early);
    return;
  }
  static const char *const parts[SPARSE_BLOCKS] = {"row_ptr", "row_idx", "row_value", "row_bounds",
                                                   "column_ptr", "column_idx", "column_value", "column_bounds"};
  int64_t bytes[SPARSE_BLOCKS] = {8 * (rows + 1), 4 * field->nonzeros, 4 * field->nonzeros, 8 * (GNN_TASKS + 1),
                                  8 * (width + 1), 4 * field->nonzeros, 4 * field->nonzeros, 8 * (GNN_TASKS + 1)};
  if (l->is_for_gpu) bytes[SPARSE_ROW_SHARES] = 4 * residents_hub_room(field->nonzeros);
  for (int p = 0; p < SPARSE_BLOCKS; p++) {
    const char *part = p == SPARSE_ROW_SHARES && l->is_for_gpu ? "row_hubs" : parts[p], *name = arena_printf(l->arena, "data_%s_%s", field->name, part);
    const struct Entries entries = {f, p >= SPARSE_BLOCKS / 2, p % (SPARSE_BLOCKS / 2) == 2};
    const bool is_of_entries = entries.is_number || p % (SPARSE_BLOCKS / 2) == 1;
    if (p == 0 && l->has_entry_offsets_away[f]) l->residents->entry_offsets_away[f] = add_away(l, name, (Away){.tier = l->homes.fields, .bytes = bytes[p], .of = AWAY_OFFSETS});
    else if (is_of_entries && l->homes.is_away && l->homes.is_away[f])
      l->residents->entries_away[f][entries.is_by_column][entries.is_number] = add_away(l, name, (Away){.tier = l->homes.fields, .bytes = bytes[p], .of = AWAY_ENTRIES, .entries = entries});
    else l->residents->sparse[f][p] = add_resident(l, BLOCK_FEATURES, name, bytes[p]);
  }
  l->residents->field[f] = l->residents->sparse[f][l->has_entry_offsets_away[f] ? SPARSE_ROW_SHARES : 0];
}

static const char *state_name(Collecting *l, int32_t param, int state) {
  const char *name = l->program->params[param].name;
  return state == ACCUMULATED ? arena_printf(l->arena, "accumulated_%s", name) : arena_printf(l->arena, "state%d_%s", state + 1, name);
}

/* Whether kernels have the weight by rows of nodes, as data of its own; where it stays on the device these lie as others. */
static bool is_weight_away(const Kernels *kernels, int32_t param) {
  bool is_away = false;
  for (int i = 0; kernels && i < kernels->graph->value_count; i++) {
    const Value *value = &kernels->graph->values[i];
    is_away = is_away || (value->op == OP_PARAM && value->as.index == param && value->shape.domain == DOMAIN_NODE);
  }
  return is_away;
}

static void add_weights(Collecting *l, const Kernels *evaluation) {
  const TypedProgram *program = l->program;
  Residents *y = l->residents;
  for (int p = 0; p < program->param_count; p++) {
    const bool is_away = is_weight_away(evaluation, p) && l->homes.learned != TIER_DEVICE;
    const char *name = arena_printf(l->arena, "weight_%s", program->params[p].name);
    int64_t bytes = 4;
    for (int d = 0; d < program->params[p].type.rank; d++) bytes *= program->params[p].type.dim[d].size;
    const Away away = {.tier = l->homes.learned, .bytes = bytes, .is_learned = true};
    if (is_away) y->weight_away[p] = add_away(l, name, away);
    else y->weight[p] = add_resident(l, BLOCK_WEIGHTS, name, bytes);
    if (is_away && program->has_train && program->train.has_keep) {
      Away copy = away;
      copy.is_copy = true;
      y->best_away[p] = add_away(l, arena_printf(l->arena, "best_%s", program->params[p].name), copy);
    }
    for (int s = 0; s < MAX_STATES; s++) {
      if (!weight_has_state(program, p, s)) continue;
      if (is_away) y->state_away[s][p] = add_away(l, state_name(l, p, s), away);
      else y->state[s][p] = add_resident(l, BLOCK_OPTIMIZER, state_name(l, p, s), bytes);
    }
  }
}

static int *no_blocks(Arena *arena, int count) {
  int *list = arena_alloc(arena, (size_t)(count + 1) * sizeof *list);
  for (int i = 0; i < count; i++) list[i] = NO_INDEX;
  return list;
}

static void find_used_fields(Collecting *l, const Kernels *kernels) {
  for (int i = 0; kernels && i < kernels->graph->value_count; i++) {
    if (kernels->graph->values[i].op != OP_INPUT) continue;
    const int32_t f = kernels->graph->values[i].as.index;
    l->is_field_used[f] = true;
    l->residents->is_field_half[f] = kernels->is_half[i];
    l->field_padding[f] = kernels_padding(kernels, i);
  }
}

/* Rows that steps before the first epoch write; is_early: that they alone read, too. */
static int add_made_before(Collecting *l, const char *name, const Kernels *once, ValueId v, bool is_early) {
  const int block = add_rows(l, name, kernels_bytes(once, v), kernels_padding(once, v), is_early);
  l->residents->blocks[block].is_made_before = true;
  return block;
}

/* What the epoch reads of what is computed once: at home where fields are. */
static void add_once(Collecting *l, const Kernels *once) {
  Residents *y = l->residents;
  const Graph *graph = once->graph;
  y->once_kernels = once;
  y->before = no_blocks(l->arena, graph->value_count);
  y->once = no_blocks(l->arena, graph->once_count);
  y->once_away = no_blocks(l->arena, graph->once_count);
  for (int i = 0; i < graph->once_count; i++) {
    const ValueId v = graph->once[i];
    const char *name = arena_printf(l->arena, "once_%s", graph->values[v].name);
    if (l->homes.is_away) y->once_away[i] = add_away(l, name, (Away){.tier = l->homes.fields, .bytes = kernels_bytes(once, v) / graph_value_rows(graph, v) * rows_away(l, graph_value_rows(graph, v)), .padding = kernels_padding(once, v)});
    else y->once[i] = add_made_before(l, name, once, v, false);
  }
}

static bool has_data_away(DataHomes homes) { return homes.fields != TIER_DEVICE || homes.graph != TIER_DEVICE || homes.learned != TIER_DEVICE; }

/* What only that is computed from. With all data on the device, so is what its kernels leave for each other. */
static void add_early(Collecting *l, const Kernels *once) {
  const Graph *graph = once->graph;
  for (int v = 0; v < graph->value_count; v++) {
    const int32_t f = graph->values[v].op == OP_INPUT ? graph->values[v].as.index : NO_INDEX;
    if (f != NO_INDEX) l->residents->is_field_half[f] = once->is_half[v];
    if (f != NO_INDEX && l->residents->field[f] == NO_INDEX && l->residents->field_away[f] == NO_INDEX) {
      l->field_padding[f] = kernels_padding(once, v);
      add_field(l, f, false, true);
    }
    if (once->is_stored[v] && !graph_is_result(graph, v) && !has_data_away(l->homes) && !l->homes.rank_rows)
      l->residents->before[v] = add_made_before(l, arena_printf(l->arena, "before_%s", graph->values[v].name), once, v, true);
  }
}

/* Loss and hits of each split and of its canonical blocks, and a number for each row. */
static int64_t results_bytes(const DataInfo *info) {
  int64_t rows = 0;
  for (int s = 0; s < SPLIT_COUNT; s++) rows += info->split_count[s];
  return 16 * SPLIT_COUNT * ((INT64_C(1) << gnn_block_levels(info->is_of_rank ? info->ranks->nodes : info->nodes)) + 1) + 8 * rows;
}

/* What its graph has as values of their own. */
static void find_away(Collecting *l, const Kernels *kernels) {
  if (!kernels) return;
  const Graph *graph = kernels->graph;
  for (int end = 0; end < 2; end++) {
    l->is_graph_away |= graph->neighbours[end] != NO_VALUE;
    l->has_offsets_away |= graph->offsets[end] != NO_VALUE;
  }
  for (int kind = 0; kind < HALO_KINDS; kind++) l->has_halo_rows_away |= graph->halo_rows[kind] != NO_VALUE;
  l->has_edge_codes_away |= graph->edge_codes != NO_VALUE;
  l->has_out_edges_away |= graph->out_edges != NO_VALUE;
  l->has_node_ids_away |= graph->node_ids != NO_VALUE;
  for (int i = 0; i < kernels->kernel_count; i++) {
    const ValueId ids = kernels_edge_ids(kernels, &kernels->kernels[i]);
    if (ids != NO_VALUE) l->has_edge_ids_away[graph->values[ids].as.end] = true;
  }
  for (int s = 0; s < SPLIT_COUNT; s++) l->has_split_rows_away |= l->has_labels_away && graph->split_rows[s] != NO_VALUE;
  for (int f = 0; graph->entry_offsets && f < l->program->field_count; f++) l->has_entry_offsets_away[f] |= graph->entry_offsets[f] != NO_VALUE;
}

/* Rows of nodes that kernels make. */
static bool scores_can_be_away(const Kernels *evaluation) {
  const Graph *graph = evaluation->graph;
  return graph->values[graph->scores].shape.domain == DOMAIN_NODE && evaluation->is_stored[graph->scores] && evaluation->storage[graph->scores] == graph->scores;
}

/* Of one rank, the most rows that it gathers of others. */
static int64_t others_most(const RankInfo *ranks, HaloKind kind) {
  int64_t most = 0;
  for (int r = 0; r < ranks->count; r++) {
    int64_t rows = 0;
    for (int q = 0; q < ranks->count; q++) rows += q == r ? 0 : ranks->pairs[kind][r * ranks->count + q];
    if (rows > most) most = rows;
  }
  return most;
}

/* Rows of others that come for the next epoch, and those that left for it; with averages of what came. */
static void add_kept(Collecting *l, const Kernels *training) {
  Residents *y = l->residents;
  const RankInfo *ranks = l->program->info->ranks;
  if (!training || !l->program->info->is_of_rank || l->program->train.boundary != BOUNDARY_STALE) return;
  y->kept_kernels = training;
  y->kept = no_blocks(l->arena, training->graph->value_count);
  for (int k = 0; k < training->kernel_count; k++) {
    const Kernel *kernel = &training->kernels[k];
    if (kernel->kind != KERNEL_HALO) continue;
    const HaloKind kind = kernel_exchange_kind(kernel, training->graph);
    const int64_t rows = ranks->sent[kind] + others_most(ranks, kind) * (l->program->train.boundary_number > 0 ? 2 : 1);
    y->kept[kernel->anchor] = add_resident(l, BLOCK_SCRATCH, arena_printf(l->arena, "on_way_%s", training->graph->values[kernel->anchor].name), rows * kernel_exchange_row_bytes(training, kernel));
  }
}

int resident_kept(const Residents *y, const Kernels *kernels, ValueId value) { return y->kept && kernels == y->kept_kernels ? y->kept[value] : NO_INDEX; }

Residents *residents(Arena *arena, const Kernels *training, const Kernels *evaluation, const Kernels *once, const bool *is_sparse_field, DataHomes homes) {
  const TypedProgram *program = evaluation->graph->program;
  Residents *y = arena_alloc(arena, sizeof *y);
  y->alignment = evaluation->backend == BACKEND_CUDA ? CUDA_ALIGNMENT : CPU_ALIGNMENT;
  const size_t fields = (size_t)program->field_count + 1;
  Collecting l = {.arena = arena, .residents = y, .program = program, .is_field_used = arena_alloc(arena, fields), .is_for_gpu = evaluation->backend == BACKEND_CUDA, .homes = homes,
                  .has_labels_away = homes.has_labels && homes.fields == TIER_HOST && homes.scores == TIER_HOST && scores_can_be_away(evaluation),
                  .field_padding = arena_alloc(arena, fields * sizeof(Padding)), .has_entry_offsets_away = arena_alloc(arena, fields)};
  find_away(&l, training);
  find_away(&l, evaluation);
  find_away(&l, once);
  y->field_away = no_blocks(arena, program->field_count);
  y->entry_offsets_away = no_blocks(arena, program->field_count);
  y->sparse = arena_alloc(arena, (size_t)(program->field_count + 1) * sizeof *y->sparse);
  y->entries_away = arena_alloc(arena, (size_t)(program->field_count + 1) * sizeof *y->entries_away);
  for (int f = 0; f < program->field_count; f++) {
    for (int k = 0; k < 4; k++) y->entries_away[f][k / 2][k % 2] = NO_INDEX;
    for (int p = 0; p < SPARSE_BLOCKS; p++) y->sparse[f][p] = NO_INDEX;
  }
  y->neighbours_away[END_SRC] = y->neighbours_away[END_DST] = y->offsets_away[END_SRC] = y->offsets_away[END_DST] = y->degree_away[END_SRC] = y->degree_away[END_DST] = y->scores_away = NO_INDEX;
  for (int kind = 0; kind < HALO_KINDS; kind++) y->halo_rows_away[kind] = NO_INDEX;
  y->node_id = y->edge_id = y->edge_codes_away = y->out_edges_away = y->node_ids_away = y->edge_ids_away[END_SRC] = y->edge_ids_away[END_DST] = NO_INDEX;
  y->halo = arena_alloc(arena, (size_t)typed_halos(program->info) * sizeof *y->halo);
  for (int kind = 0; kind < typed_halos(program->info); kind++) y->halo[kind] = (struct HaloBlocks){NO_INDEX, NO_INDEX, NO_INDEX};
  const int sets = typed_edge_sets(program->info);
  y->sets = arena_alloc(arena, (size_t)sets * sizeof *y->sets);
  for (int set = 0; set < sets; set++)
    y->sets[set] = (struct EdgeSetBlocks){.in_ptr = NO_INDEX, .in_idx = NO_INDEX, .in_bounds = NO_INDEX, .out_ptr = NO_INDEX, .out_idx = NO_INDEX, .out_edge = NO_INDEX,
                                          .out_bounds = NO_INDEX, .in_hubs = NO_INDEX, .out_hubs = NO_INDEX, .degree = {NO_INDEX, NO_INDEX}, .id = NO_INDEX};
  y->spmm_ones = y->spmm_offsets[0] = y->spmm_offsets[1] = NO_INDEX;
  for (int s = 0; s < SPLIT_COUNT; s++) y->rows[s] = y->rows_away[s] = NO_INDEX;
  y->field = no_blocks(arena, program->field_count);
  y->is_field_half = arena_alloc(arena, (size_t)program->field_count + 1);
  y->weight = no_blocks(arena, program->param_count);
  y->weight_away = no_blocks(arena, program->param_count);
  y->best_away = no_blocks(arena, program->param_count);
  for (int s = 0; s < MAX_STATES; s++) y->state[s] = no_blocks(arena, program->param_count), y->state_away[s] = no_blocks(arena, program->param_count);
  add_graph(&l, (const Kernels *[3]){training, evaluation, once});
  add_spmm(&l, training);
  add_spmm(&l, evaluation);
  find_used_fields(&l, training);
  find_used_fields(&l, evaluation);
  if (program->has_train && program->train.ring_field != NO_INDEX) l.is_field_used[program->train.label_field] = true; /* by metrics */
  for (int f = 0; f < program->field_count; f++)
    if (l.is_field_used[f]) add_field(&l, f, is_sparse_field[f], false);
  add_kept(&l, training);
  if (once) add_once(&l, once);
  add_weights(&l, evaluation);
  if (homes.scores != TIER_DEVICE && scores_can_be_away(evaluation)) {
    const ValueId scores = evaluation->graph->scores;
    const int64_t before = y->away_bytes;
    y->scores_away = add_away(&l, "scores", (Away){.tier = homes.scores, .bytes = kernels_bytes(evaluation, scores), .padding = kernels_padding(evaluation, scores)});
    y->scores_host_bytes = y->away_bytes - before; /* which are not there all the time */
    y->away_bytes = before;
  }
  /* Scores stay on a device with memory of its own, where it measures them itself. */
  bool has_results = evaluation->backend == BACKEND_CUDA && program->has_train && program->train.batch_graphs == 0 && (y->field[program->train.label_field] != NO_INDEX || y->field_away[program->train.label_field] != NO_INDEX) && measures_are_plain(&program->train);
  y->results = has_results ? add_resident(&l, BLOCK_SCRATCH, "results", results_bytes(program->info)) : NO_INDEX;
  if (once) add_early(&l, once);
  return y;
}

bool resident_is_of(const Residents *y, int away, CachedData data) {
  bool is_graph = away == y->edge_codes_away || away == y->out_edges_away || away == y->node_ids_away;
  for (int kind = 0; kind < HALO_KINDS; kind++) is_graph = is_graph || away == y->halo_rows_away[kind];
  for (int end = 0; end < 2; end++) is_graph = is_graph || away == y->neighbours_away[end] || away == y->offsets_away[end] || away == y->degree_away[end] || away == y->edge_ids_away[end];
  return away != y->scores_away && (y->away[away].is_learned ? data.learned : is_graph ? data.graph : data.fields);
}

void residents_readers(Arena *arena, Residents *y, const Kernels *training, const Kernels *const *evaluations, int evaluation_count) {
  const Kernels **readers = NULL;
  int count = 0;
  if (training) ARENA_PUSH(arena, readers, count, training);
  for (int e = 0; e < evaluation_count; e++) ARENA_PUSH(arena, readers, count, evaluations[e]);
  if (y->once_kernels) ARENA_PUSH(arena, readers, count, y->once_kernels);
  y->readers = readers;
  y->reader_count = count;
}

void residents_cache(Arena *arena, Residents *y, CachedData data) {
  for (int i = 0; i < y->away_count; i++) y->away[i].may_be_cached = !y->away[i].is_copy && resident_is_of(y, i, data);
  y->cache = (struct Cache){data.bytes, arena_alloc(arena, (GNN_BLOCK_MOST_LEVELS + 1) * sizeof *y->cache.of_parts)};
}

bool resident_is_once(const Residents *y, int away) {
  bool is = false;
  for (int i = 0; y->once_kernels && i < y->once_kernels->graph->once_count; i++) is = is || y->once_away[i] == away;
  return is;
}

int resident_away(const Residents *residents, const Graph *graph, ValueId value) {
  const Value *v = &graph->values[value];
  if (v->op == OP_NEIGHBOURS) return residents->neighbours_away[v->as.end];
  if (v->op == OP_OFFSETS) return residents->offsets_away[v->as.end];
  if (v->op == OP_HALO_ROWS) return residents->halo_rows_away[v->as.degree.halo];
  if (v->op == OP_EDGE_CODES) return residents->edge_codes_away;
  if (v->op == OP_OUT_EDGES) return residents->out_edges_away;
  if (v->op == OP_NODE_IDS) return residents->node_ids_away;
  if (v->op == OP_EDGE_IDS) return residents->edge_ids_away[v->as.end];
  if (v->op == OP_SPLIT_ROWS) return residents->rows_away[v->as.index];
  if (v->op == OP_DEGREE && v->as.degree.edges == DOMAIN_EDGE) return residents->degree_away[v->as.degree.end];
  if (v->op == OP_ENTRIES) return residents->entries_away[v->as.entries.field][v->as.entries.is_by_column][v->as.entries.is_number];
  if (v->op == OP_ENTRY_OFFSETS) return residents->entry_offsets_away[v->as.entries.field];
  if (v->op == OP_PARAM) return residents->weight_away[v->as.index];
  if (v->op == OP_STATE) return residents->state_away[v->as.state.number][v->as.state.index];
  if (v->op == OP_HOISTED) return residents->once_away[v->as.index];
  if (!graph->is_training && value == graph->scores) return residents->scores_away;
  if (graph_once_index(graph, value) != NO_INDEX) return residents->once_away[graph_once_index(graph, value)];
  return v->op == OP_INPUT ? residents->field_away[v->as.index] : NO_INDEX;
}

const Block *resident_of_value(const Residents *residents, const Graph *graph, ValueId value) {
  const Value *v = &graph->values[value];
  int index = NO_INDEX;
  if (v->op == OP_INPUT) index = residents->field[v->as.index];
  else if (v->op == OP_PARAM) index = residents->weight[v->as.index];
  else if (v->op == OP_STATE) index = residents->state[v->as.state.number][v->as.state.index];
  else if (v->op == OP_DEGREE) index = residents->sets[domain_set(v->as.degree.edges)].degree[v->as.degree.end];
  else if (v->op == OP_SPLIT_ROWS) index = residents->rows[v->as.index];
  else if (v->op == OP_HOISTED) index = residents->once[v->as.index];
  else if (graph_once_index(graph, value) != NO_INDEX) index = residents->once[graph_once_index(graph, value)];
  else if (graph->once_count) index = residents->before[value];
  return index == NO_INDEX ? NULL : &residents->blocks[index];
}
