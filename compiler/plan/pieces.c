/* pieces: Kernels -> Parts, which values are cut and which kernels run part by part. */
#include "plan.h"
#include "compiler/graph/cut.h"
#include "runtime/core/blocks.h"

static bool is_on_nodes(const Kernels *kernels, ValueId value) { return kernels->graph->values[value].shape.domain == DOMAIN_NODE; }

static bool is_on_edges(const Kernels *kernels, ValueId value) { return kernels->graph->values[value].shape.domain == DOMAIN_EDGE; }

/* Edges are in the part of their destination, as they lie in its row. */
static bool has_parts(const Kernels *kernels, ValueId value) { return is_on_nodes(kernels, value) || is_on_edges(kernels, value); }

/* It writes nothing of other rows than the part's, or sums over rows. What goes over edges reads rows of others, at the far end of them. A gradient by sparse
 * features goes over columns of these, so its parts are of columns, and it reads all rows of what they gather. */
static bool can_run_by_parts(const Kernels *kernels, const Kernel *kernel) {
  const Value *anchor = &kernels->graph->values[kernel->anchor];
  if (anchor->is_by_all_rows) return false;
  switch (kernel->kind) {
  case KERNEL_MAP: case KERNEL_MATMUL: case KERNEL_ROW_SUM: case KERNEL_CONCAT: case KERNEL_HALO: return has_parts(kernels, kernel->anchor);
  case KERNEL_SPARSE_MATMUL: return kernel->library == LIBRARY_NONE;
  case KERNEL_OUTER: case KERNEL_COLUMN_SUM: case KERNEL_COLUMN_MAX: case KERNEL_COLUMN_MIN: return has_parts(kernels, anchor->operand[0]);
  case KERNEL_CROSS_ENTROPY: case KERNEL_CROSS_ENTROPY_GRADIENT: return is_on_nodes(kernels, anchor->operand[0]);
  case KERNEL_SPMM: case KERNEL_EDGE_SUM: case KERNEL_EDGE_MAX: case KERNEL_EDGE_MIN:
    return kernel->library == LIBRARY_NONE && anchor->shape.domain == DOMAIN_NODE && kernels->graph->values[anchor->operand[0]].shape.domain == DOMAIN_EDGE;
  case KERNEL_SPARSE_OUTER: return kernels_entries(kernels, kernel, false) != NO_VALUE;
  case KERNEL_UPDATE: return value_is_update_of_nodes(anchor);
  case KERNEL_BEHIND: case KERNEL_COLUMNS: case KERNEL_BACK: case KERNEL_BESIDE: case KERNEL_FOLLOW: case KERNEL_KIND_COUNT: break;
  }
  return false;
}

bool kernels_take_halos(const Kernels *kernels, bool has_codes_alone) {
  const bool asks = kernels && (kernels->needs[domain_set(DOMAIN_EDGE)].ids[END_SRC] || kernels->needs[domain_set(DOMAIN_EDGE)].ids[END_DST]);
  if (has_codes_alone && asks) return false;
  for (int i = 0; kernels && i < kernels->kernel_count; i++)
    for (int k = 0; k < kernels->kernels[i].input_count; k++)
      if (kernels->graph->values[kernels->kernels[i].inputs[k]].op == OP_HALO && !can_run_by_parts(kernels, &kernels->kernels[i])) return false;
  return true;
}

/* How kernels read a value: rows of their part; or any, at the far end of edges, or where sparse features of a column are not 0. */
typedef struct Reads {
  bool *is_near, *is_far; /* per value, of its storage */
} Reads;

/* Values on edges, too, are read whole by kernels that go over those that leave a row. */
static void find_reads_of(Parts *p, const Reads *reads, int kernel, ValueId id, bool is_far, bool *is_seen) {
  const Graph *graph = p->kernels->graph;
  const Value *value = &graph->values[id];
  const EdgeEnd end = graph_walk_end(&graph->values[p->kernels->kernels[kernel].anchor]);
  if (is_seen[2 * id + is_far]) return;
  is_seen[2 * id + is_far] = true;
  if (kernels_is_virtual(p->kernels, id)) {
    for (int k = 0; k < value->operand_count; k++) find_reads_of(p, reads, kernel, value->operand[k], value->op == OP_LIFT ? value->as.end != end : is_far, is_seen);
    return;
  }
  const ValueId stored = p->kernels->storage[id];
  if (value->op == OP_HALO) return;
  if (is_on_edges(p->kernels, id) && (is_far || end == END_SRC)) p->is_cut[stored] = false;
  *(is_far ? &reads->is_far[stored] : &reads->is_near[stored]) = true;
  if (is_far) ARENA_PUSH(graph->arena, p->gathered[kernel].list, p->gathered[kernel].count, stored);
}

static void find_reads(Parts *p, const Reads *reads, int index) {
  const Graph *graph = p->kernels->graph;
  const Kernel *kernel = &p->kernels->kernels[index];
  const Value *anchor = &graph->values[kernel->anchor];
  bool *is_seen = arena_alloc(graph->arena, 2 * (size_t)graph->value_count + 2);
  for (int b = -1; b < kernel->body_count; b++) {
    const Value *value = &graph->values[b < 0 ? kernel->anchor : kernel->body[b]];
    for (int k = 0; k < value->operand_count; k++)
      find_reads_of(p, reads, index, value->operand[k], kernel->kind == KERNEL_SPARSE_OUTER || (value->op == OP_LIFT && value->as.end != graph_walk_end(anchor)), is_seen);
  }
}

enum { MOST_GATHERED = 64 /* pieces: each part reads all of them */ };

/* What is gathered alone is one piece, made when it is wanted: its rows lie side by side, and nobody asks for some of them. Of what others read by rows, of a result,
 * which leaves by rows, and of a slice of columns, which waits for its sum, the pieces are gathered from where they lie. */
static bool is_gathered_from_pieces(const Parts *p, const Reads *reads, ValueId v) {
  const Graph *graph = p->kernels->graph;
  const Value *value = &graph->values[v];
  return p->count <= MOST_GATHERED && value->shape.element == ELEMENT_REAL && shape_width(&value->shape) >= LEAST_TABLE_WIDTH && (reads->is_near[v] || graph_is_result(graph, v) || value->slice.count > 0);
}

static void choose_gathered(Parts *p) {
  const int count = p->kernels->graph->value_count;
  Arena *arena = p->kernels->graph->arena;
  const Reads reads = {arena_alloc(arena, (size_t)count + 1), arena_alloc(arena, (size_t)count + 1)};
  for (int i = 0; i < p->kernels->kernel_count; i++) find_reads(p, &reads, i);
  for (int v = 0; v < count; v++) p->is_cut[v] = p->is_cut[v] && (!reads.is_far[v] || is_gathered_from_pieces(p, &reads, v));
}

bool parts_gathers(const Parts *p, const Kernel *kernel, ValueId value) {
  const struct Gathered *gathered = &p->gathered[kernel - p->kernels->kernels];
  const ValueId stored = p->kernels->storage[value];
  for (int i = 0; i < gathered->count && p->is_cut[stored]; i++)
    if (gathered->list[i] == stored) return true;
  return false;
}

/* before: [count + 1]. A piece of nothing cannot be moved. */
static bool every_part_has_some(const Parts *p, const int64_t *before) {
  for (int part = 0; part < p->count; part++)
    if (before[part] == before[part + 1]) return false;
  return true;
}

/* The entries of parts are runs of them, and as many runs of columns have entries. */
static bool every_part_has_entries(const Parts *p, const struct Entries *entries) {
  const struct PartEntries *of = &p->entries[entries->field];
  return !(entries->is_by_column && !of->column) && every_part_has_some(p, of->before[entries->is_by_column]);
}

/* Whoever asks for the results of an evaluation wants all rows; scores that end away from the device are asked for there. */
static bool is_asked_for(const Graph *graph, const Residents *residents, ValueId value) {
  if (graph->is_training) return false;
  return value == graph->scores ? residents->scores_away == NO_INDEX : graph->values[value].tap != NULL;
}

static void keep_whole(Parts *p, const Kernel *kernel) {
  const Kernels *k = p->kernels;
  for (int n = 0; n < kernel->input_count; n++) p->is_cut[k->storage[kernel->inputs[n]]] = false;
  for (int n = 0; n < kernel->output_count; n++) p->is_cut[kernel->outputs[n]] = false;
}

/* cuBLASLt is promised where matrices begin (kernels/cuda/algorithm.h). A piece does as everything in memory; the rows of a part within a whole value only
 * where they are of that length. */
static bool is_aligned_for_library(const Parts *p, const Kernel *kernel) {
  const Kernels *k = p->kernels;
  const ValueId rows[] = {k->graph->values[kernel->anchor].operand[0], kernel->epilogue.place, kernel->epilogue.addend};
  for (int i = 0; kernel->library != LIBRARY_NONE && i < 3; i++) {
    const bool is_whole = rows[i] != NO_VALUE && !p->is_cut[k->storage[rows[i]]];
    if (is_whole && !kernels_has_aligned_rows(k, rows[i])) return false;
  }
  return true;
}

/* Tables of ranks are made by parts whatever they are made of: so each takes its turn (base_order.c). */
static bool runs_by_parts(const Parts *p, const Kernel *kernel) {
  const Kernels *k = p->kernels;
  if (p->ranks && kernel->kind == KERNEL_HALO && can_run_by_parts(k, kernel)) return true;
  for (int n = 0; n < kernel->input_count; n++)
    if (p->is_cut[k->storage[kernel->inputs[n]]]) return true;
  for (int n = 0; n < kernel->output_count; n++)
    if (p->is_cut[kernel->outputs[n]]) return true;
  return false;
}

static bool every_part_has_edges(const Parts *p, EdgeEnd end) { return every_part_has_some(p, p->edges[end]); }

static void find_cut(Parts *p, const Residents *residents) {
  const Kernels *k = p->kernels;
  const bool can_cut_edges = every_part_has_edges(p, END_DST);
  for (int v = 0; v < k->graph->value_count; v++)
    p->is_cut[v] = !(p->ranks && k->graph->values[v].op == OP_HALO) && (k->is_stored[v] || resident_away(residents, k->graph, v) >= 0) && !resident_of_value(residents, k->graph, v) && (is_on_nodes(k, v) || (is_on_edges(k, v) && can_cut_edges));
  for (int v = 0; v < k->graph->value_count; v++)
    if (is_asked_for(k->graph, residents, v)) p->is_cut[k->storage[v]] = false;
  for (int end = 0; end < 2; end++) {
    if (k->graph->neighbours[end] != NO_VALUE && !every_part_has_edges(p, k->graph->values[k->graph->neighbours[end]].as.end)) p->is_cut[k->graph->neighbours[end]] = false;
    if (k->graph->edge_ids[end] != NO_VALUE && !every_part_has_edges(p, (EdgeEnd)end)) p->is_cut[k->graph->edge_ids[end]] = false;
  }
  if (k->graph->out_edges != NO_VALUE && !every_part_has_edges(p, END_SRC)) p->is_cut[k->graph->out_edges] = false;
  if (k->graph->edge_codes != NO_VALUE && !every_part_has_edges(p, END_SRC)) p->is_cut[k->graph->edge_codes] = false;
  for (int s = 0; s < SPLIT_COUNT; s++)
    if (k->graph->split_rows[s] != NO_VALUE && !every_part_has_some(p, p->labelled[s])) p->is_cut[k->graph->split_rows[s]] = false;
  for (int i = 0; i < k->kernel_count; i++)
    if (k->kernels[i].draws_far) p->is_cut[k->graph->node_ids] = false;
  for (int kind = 0; kind < HALO_KINDS; kind++)
    if (k->graph->halo_rows[kind] != NO_VALUE && !every_part_has_some(p, p->halo[kind].before)) p->is_cut[k->graph->halo_rows[kind]] = false;
  for (int v = 0; v < k->graph->value_count; v++)
    if (k->graph->values[v].op == OP_ENTRIES) p->is_cut[v] = p->is_cut[v] && every_part_has_entries(p, &k->graph->values[v].as.entries);
  choose_gathered(p);
  for (int i = 0; i < k->kernel_count; i++)
    if (!can_run_by_parts(k, &k->kernels[i])) keep_whole(p, &k->kernels[i]);
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (int i = 0; i < k->kernel_count; i++)
      if (runs_by_parts(p, &k->kernels[i]) && !is_aligned_for_library(p, &k->kernels[i])) keep_whole(p, &k->kernels[i]), is_changed = true;
  }
  for (int i = 0; i < k->kernel_count; i++) p->is_by_parts[i] = runs_by_parts(p, &k->kernels[i]);
}

/* Of the rank that has fewest parts of the nodes, but some. */
static int least_parts(const RankInfo *ranks) {
  int least = 1 << ranks->part_levels;
  for (int r = 0; r < ranks->count; r++) {
    const int parts = ranks->first_part[r + 1] - ranks->first_part[r];
    if (parts > 0 && parts < least) least = parts;
  }
  return least;
}

/* As many as a rank has blocks in the mean: one with fewer, which have many edges, has parts without rows. */
int parts_at_most(const DataInfo *info, int most) {
  const RankInfo *ranks = info->ranks;
  int blocks = 1 << gnn_block_levels(ranks ? ranks->nodes : info->nodes), owners = 0;
  for (int r = 0; ranks && r < ranks->count; r++) owners += ranks->first_part[r + 1] > ranks->first_part[r];
  if (ranks) blocks /= owners;
  return most < blocks ? most : blocks;
}

/* The most that a rank has in each of its parts, one behind the other. before_block NULL: all blocks have equal shares of `all`. */
static void before_of_ranks(const Parts *p, const int64_t *before_block, int64_t all, int64_t *before) {
  const RankInfo *ranks = p->ranks;
  const int levels = gnn_block_levels(ranks->nodes), below = levels - ranks->part_levels - p->finer;
  for (int i = 0; i < p->count; i++) {
    int64_t most = 0;
    for (int r = 0; r < ranks->count; r++) {
      const int64_t own = (int64_t)(ranks->first_part[r + 1] - ranks->first_part[r]) << p->finer, before_rank = (int64_t)ranks->first_part[r] << p->finer;
      const int64_t first = (before_rank + (own * i >> p->levels)) << below, end = (before_rank + (own * (i + 1) >> p->levels)) << below;
      const int64_t has = before_block ? before_block[end] - before_block[first] : (int64_t)((double)all * (double)(end - first) / (double)(INT64_C(1) << levels)) + (end > first);
      if (has > most) most = has;
    }
    before[i + 1] = before[i] + most;
  }
}

static Parts *parts_of_rows(Arena *arena, const DataInfo *info, int most) {
  Parts *p = arena_alloc(arena, sizeof *p);
  p->ranks = info->is_of_rank ? info->ranks : NULL;
  while (2 << p->levels <= parts_at_most(info, most)) p->levels++;
  p->count = 1 << p->levels;
  while (p->ranks && least_parts(p->ranks) << p->finer < p->count && p->ranks->part_levels + p->finer < gnn_block_levels(p->ranks->nodes)) p->finer++;
  int64_t *first = arena_alloc(arena, (size_t)(p->count + 1) * sizeof *first);
  if (p->ranks) before_of_ranks(p, info->of_all->block_first, info->of_all->nodes, first);
  for (int i = 0; i <= p->count && !p->ranks; i++)
    first[i] = info->block_first ? info->block_first[(int64_t)i << (gnn_block_levels(info->nodes) - p->levels)] : info->nodes * i / p->count;
  p->first = first;
  return p;
}

int64_t parts_rows_of_rank(Arena *arena, const DataInfo *info, int most) { return parts_rows(parts_of_rows(arena, info, most), 0); }

static const int64_t *edges_before(Arena *arena, const DataInfo *info, EdgeEnd end, const Parts *p) {
  int64_t *before = arena_alloc(arena, (size_t)(p->count + 1) * sizeof *before);
  if (p->ranks) {
    before_of_ranks(p, info->of_all->block_edges[end], info->of_all->edges, before);
    return before;
  }
  for (int i = 0; i <= p->count; i++)
    before[i] = info->block_edges[end] ? info->block_edges[end][(int64_t)i << (gnn_block_levels(info->nodes) - p->levels)] : info->edges * i / p->count;
  return before;
}

static const int64_t *labelled_before(Arena *arena, const DataInfo *info, int split, const Parts *p) {
  int64_t *before = arena_alloc(arena, (size_t)(p->count + 1) * sizeof *before);
  for (int i = 0; i <= p->count; i++)
    before[i] = info->block_split[split] ? info->block_split[split][(int64_t)i << (gnn_block_levels(info->nodes) - p->levels)] : info->split_count[split] * i / p->count;
  return before;
}

static const int64_t *entries_before(Arena *arena, const DataInfo *info, const TypedField *field, const Parts *p) {
  int64_t *before = arena_alloc(arena, (size_t)(p->count + 1) * sizeof *before);
  for (int i = 0; i <= p->count; i++)
    before[i] = field->block_nonzeros ? field->block_nonzeros[(int64_t)i << (gnn_block_levels(info->nodes) - p->levels)] : field->nonzeros * i / p->count;
  return before;
}

/* Runs of columns with about as many numbers each, of what a column with very many leaves. */
static void cut_columns(Arena *arena, const TypedField *field, int64_t width, const Parts *p, struct PartEntries *entries) {
  int64_t *column = arena_alloc(arena, (size_t)(p->count + 1) * sizeof *column), *before = arena_alloc(arena, (size_t)(p->count + 1) * sizeof *before);
  if (width < p->count) return;
  entries->column = column;
  entries->before[1] = before;
  for (int i = 1; i <= p->count; i++) {
    const int64_t goal = before[i - 1] + (field->nonzeros - before[i - 1]) / (p->count - i + 1), most = width - (p->count - i);
    int64_t c = i < p->count ? column[i - 1] + 1 : width;
    while (i < p->count && c < most && (field->column_nonzeros ? field->column_nonzeros[c] < goal : c < width * i / p->count)) c++;
    column[i] = c;
    before[i] = field->column_nonzeros ? field->column_nonzeros[c] : field->nonzeros * i / p->count;
  }
}

static struct PartEntries *cut_entries(Arena *arena, const TypedProgram *program, const Parts *p) {
  struct PartEntries *entries = arena_alloc(arena, (size_t)(program->field_count + 1) * sizeof *entries);
  for (int f = 0; f < program->field_count; f++) {
    const TypedField *field = &program->fields[f];
    int64_t width = 1;
    for (int d = 0; d < field->type.rank; d++) width *= field->type.dim[d].size;
    if (field->type.domain != DOMAIN_NODE || field->nonzeros < 0) continue;
    entries[f].before[0] = entries_before(arena, program->info, field, p);
    cut_columns(arena, field, width, p, &entries[f]);
  }
  return entries;
}

/* Where no data were read, blocks of equal length stand for those that they will have. */
Parts *parts_of(Arena *arena, const Kernels *kernels, const Residents *residents, int most) {
  const DataInfo *info = kernels->graph->program->info;
  Parts *p = parts_of_rows(arena, info, most);
  p->kernels = kernels;
  for (int end = 0; end < 2; end++) p->edges[end] = edges_before(arena, info, (EdgeEnd)end, p);
  for (int kind = 0; kind < HALO_KINDS && residents->halo_levels; kind++) halo_pieces(arena, halo_pairs(arena, info, (HaloKind)kind, p->levels), p->levels, &p->halo[kind]);
  for (int s = 0; s < SPLIT_COUNT && !p->ranks; s++) p->labelled[s] = labelled_before(arena, info, s, p);
  p->entries = cut_entries(arena, kernels->graph->program, p);
  p->is_cut = arena_alloc(arena, (size_t)kernels->graph->value_count + 1);
  p->is_by_parts = arena_alloc(arena, (size_t)kernels->kernel_count + 1);
  p->gathered = arena_alloc(arena, ((size_t)kernels->kernel_count + 1) * sizeof *p->gathered);
  if (p->count > 1) find_cut(p, residents);
  return p;
}

int64_t parts_rows(const Parts *p, int part) { return part ? p->first[part] - p->first[part - 1] : p->first[p->count]; }

int parts_row_shift(const Parts *p) {
  int64_t least = p->first[p->count];
  int shift = 0;
  for (int part = 1; part <= p->count; part++) least = parts_rows(p, part) < least ? parts_rows(p, part) : least;
  while (INT64_C(2) << shift <= least) shift++;
  return shift;
}

bool parts_make_table(const Parts *p, const Kernel *kernel) { return p->ranks && kernel->kind == KERNEL_HALO && p->is_by_parts[kernel - p->kernels->kernels]; }

bool parts_is_halo(const Parts *p, ValueId value) { return p->count > 1 && !p->ranks && p->kernels->graph->values[p->kernels->storage[value]].op == OP_HALO; }

static const HaloPieces *halo_of(const Parts *p, ValueId value) { return &p->halo[halo_kind(&p->kernels->graph->values[p->kernels->storage[value]])]; }

int parts_piece_count(const Parts *p, ValueId value) {
  if (!p->is_cut[p->kernels->storage[value]]) return 1;
  return parts_is_halo(p, value) ? halo_of(p, value)->count : p->count;
}

bool parts_cut_edges(const Parts *p) {
  for (int v = 0; v < p->kernels->graph->value_count; v++)
    if (p->is_cut[v] && is_on_edges(p->kernels, v)) return true;
  return false;
}

int parts_halo_piece(const Parts *p, ValueId value, int to, int from) { return halo_of(p, value)->of_pair[(to - 1) << p->levels | (from - 1)]; }

/* The k-th of the pairs of `part` that are pieces: as their first, or their second member. */
static int piece_of_pairs(const HaloPieces *halo, int part, int member, int k) {
  const int at = halo->first[member][part - 1] + k;
  return at < halo->first[member][part] ? halo->of_member[member][at] : NO_INDEX;
}

static int parts_of_value(const Parts *p, ValueId value, int part) { return p->is_cut[p->kernels->storage[value]] ? part : 0; }

int parts_piece_read(const Parts *p, const Kernel *kernel, ValueId value, int part, int k) {
  if (parts_is_halo(p, value)) return piece_of_pairs(halo_of(p, value), part, 0, k);
  if (!part && parts_make_table(p, kernel)) return NO_INDEX; /* what leaves is read from the table */
  if (part && parts_gathers(p, kernel, value)) return k < p->count ? k + 1 : NO_INDEX;
  return k ? NO_INDEX : parts_of_value(p, value, part);
}

int parts_piece_written(const Parts *p, ValueId value, int part, int k) {
  if (parts_is_halo(p, value)) return piece_of_pairs(halo_of(p, value), part, 1, k);
  return k ? NO_INDEX : parts_of_value(p, value, part);
}

int parts_halo_shift(const Parts *p, HaloKind kind) {
  int64_t most = 1;
  for (int k = 0; k < HALO_KINDS; k++)
    for (int i = 0; (k == HALO_OF_EDGES) == (kind == HALO_OF_EDGES) && p->halo[k].pairs && i < 1 << 2 * p->levels; i++)
      if (p->halo[k].pairs[i] > most) most = p->halo[k].pairs[i];
  int shift = 1;
  while (most > INT64_C(1) << shift) shift++;
  return shift;
}

/* A piece without rows, of a part whose rows none of its own gathers, has room for one: what has no bytes cannot be copied. */
static int64_t halo_bytes(const Parts *p, ValueId value, int piece) {
  const HaloPieces *halo = halo_of(p, value);
  const int64_t rows = graph_rows(p->kernels->graph, p->kernels->graph->values[p->kernels->storage[value]].shape.domain), row_bytes = rows ? kernels_bytes(p->kernels, value) / rows : 0;
  const int64_t piece_rows = piece ? halo->pairs[halo->pair[piece]] : 0;
  return row_bytes * (piece ? piece_rows > 0 ? piece_rows : 1 : halo_rows(halo->pairs, p->levels));
}

/* Where the edges of a part's last row end is where those of the next part's first begin. */
enum { OFFSET_BYTES = 8 };

static bool are_offsets(const Value *value) { return value->op == OP_OFFSETS || value->op == OP_ENTRY_OFFSETS; }

static int64_t row_bytes(const Parts *p, ValueId value) {
  const Graph *graph = p->kernels->graph;
  const int64_t rows = graph_value_rows(graph, p->kernels->storage[value]);
  return rows ? kernels_bytes(p->kernels, value) / rows : 0;
}

int64_t parts_bytes_before(const Parts *p, ValueId value, int part) {
  const Value *v = &p->kernels->graph->values[p->kernels->storage[value]];
  if (part < 2) return 0;
  if (v->op == OP_NEIGHBOURS || v->op == OP_EDGE_CODES) return (int64_t)sizeof(int32_t) * p->edges[v->as.end][part - 1];
  if (v->op == OP_OUT_EDGES || v->op == OP_EDGE_IDS) return (int64_t)sizeof(int64_t) * p->edges[v->as.end][part - 1];
  if (v->op == OP_HALO_ROWS) return (int64_t)sizeof(int32_t) * p->halo[v->as.degree.halo].before[part - 1];
  if (v->op == OP_SPLIT_ROWS) return (int64_t)sizeof(int32_t) * p->labelled[v->as.index][part - 1];
  if (are_offsets(v)) return OFFSET_BYTES * p->first[part - 1];
  if (v->op == OP_ENTRIES) return 4 * p->entries[v->as.entries.field].before[v->as.entries.is_by_column][part - 1];
  return row_bytes(p, value) * (v->shape.domain == DOMAIN_EDGE ? p->edges[END_DST] : p->first)[part - 1];
}

int64_t parts_bytes(const Parts *p, ValueId value, int part) {
  if (parts_is_halo(p, value)) return halo_bytes(p, value, part);
  const Value *v = &p->kernels->graph->values[p->kernels->storage[value]];
  if (part == 0) return v->op == OP_HALO_ROWS ? parts_bytes_before(p, value, p->count + 1) : kernels_bytes(p->kernels, value);
  const int64_t more = are_offsets(v) ? OFFSET_BYTES : 0;
  return parts_bytes_before(p, value, part + 1) - parts_bytes_before(p, value, part) + more;
}

static int64_t bytes_before_of_away(const Parts *p, const Away *away, int part) {
  if (part < 2) return 0;
  if (away->of == AWAY_OFFSETS) return OFFSET_BYTES * p->first[part - 1];
  if (away->of == AWAY_SPLIT_ROWS) return (int64_t)sizeof(int32_t) * p->labelled[away->split][part - 1];
  if (away->of == AWAY_HALO_ROWS) return (int64_t)sizeof(int32_t) * p->halo[away->halo].before[part - 1];
  if (away->of == AWAY_EDGE_NUMBERS) return (int64_t)sizeof(int64_t) * p->edges[away->end][part - 1];
  if (away->of == AWAY_NEIGHBOURS) return (int64_t)sizeof(int32_t) * p->edges[away->end][part - 1];
  if (away->of == AWAY_ENTRIES) return 4 * p->entries[away->entries.field].before[away->entries.is_by_column][part - 1];
  return away->bytes / p->first[p->count] * p->first[part - 1];
}

int64_t parts_shared_bytes(const Away *away) { return away->of == AWAY_OFFSETS ? OFFSET_BYTES : 0; }

int64_t parts_bytes_of_away(const Parts *p, const Away *away, int part) {
  if (part == 0) return away->bytes;
  return (part == p->count ? away->bytes : bytes_before_of_away(p, away, part + 1) + parts_shared_bytes(away)) - bytes_before_of_away(p, away, part);
}

int parts_of_away(const Parts *p, const Away *away) {
  if (away->of == AWAY_ENTRIES && away->entries.is_by_column && !p->entries[away->entries.field].column) return 1;
  for (int part = 1; part <= p->count; part++)
    if (parts_bytes_of_away(p, away, part) == 0) return 1;
  return p->count;
}

Tier parts_home(const Parts *p, const Residents *residents, int away, int part) {
  const bool is_cached = p->cached && p->cached->is_on_host[away] && p->cached->is_on_host[away][part];
  return is_cached ? TIER_HOST : residents->away[away].tier;
}

static int64_t ssd_bytes_before(const Parts *p, const Residents *residents, int index, int part) {
  int64_t bytes = 0;
  const Away *away = &residents->away[index];
  const int count = parts_of_away(p, away);
  for (int i = 1; i < part; i++)
    if (parts_home(p, residents, index, i) == TIER_SSD && !away->file) bytes += round_up(parts_bytes_of_away(p, away, count == 1 ? 0 : i), SSD_BLOCK_BYTES);
  return bytes;
}

static int64_t ssd_bytes_of(const Parts *p, const Residents *residents, int away) { return ssd_bytes_before(p, residents, away, parts_of_away(p, &residents->away[away]) + 1); }

int64_t parts_away_at(const Parts *p, const Residents *residents, int away, int part) {
  const Away *wanted = &residents->away[away];
  if (parts_home(p, residents, away, part) == TIER_HOST && wanted->tier == TIER_SSD) return p->cached->at[away][part];
  if (wanted->tier == TIER_HOST && away == residents->scores_away) return parts_away_host_bytes(p, residents) + bytes_before_of_away(p, wanted, part);
  if (wanted->tier == TIER_HOST || wanted->file) return wanted->at + bytes_before_of_away(p, wanted, part);
  int64_t at = ssd_bytes_before(p, residents, away, part);
  for (int i = 0; i < away; i++) at += ssd_bytes_of(p, residents, i);
  return at;
}

int64_t parts_away_ssd_bytes(const Parts *p, const Residents *residents) {
  int64_t bytes = 0;
  for (int i = 0; i < residents->away_count; i++) bytes += ssd_bytes_of(p, residents, i);
  return bytes;
}

int64_t parts_away_host_bytes(const Parts *p, const Residents *residents) { return residents->away_bytes + (p->cached ? p->cached->bytes : 0); }

/* It is the turned gradient until all columns are there. */
static bool is_turned(const Kernel *kernel) { return kernel->kind == KERNEL_SPARSE_OUTER && kernel->work_bytes > 0; }

static bool sums_by_walkers(const Kernel *kernel) { return kernel->kind == KERNEL_OUTER || kernel_folds_rows(kernel->kind); }

static int64_t all_nodes(const Parts *p) { return p->ranks ? p->ranks->nodes : p->first[p->count]; }

/* A loss a block stays until all parts are there; on a GPU the loss of each labelled row does until its block's is. */
static int64_t block_losses_bytes(const Parts *p) { return 8 * (INT64_C(1) << gnn_block_levels(all_nodes(p))); }

static int64_t largest_part(const Parts *p) {
  int64_t most = 0;
  for (int part = 1; part <= p->count; part++)
    if (parts_rows(p, part) > most) most = parts_rows(p, part);
  return most;
}

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t parts_sums_bytes(const Parts *p, const Kernel *kernel) {
  if (!p->is_by_parts[kernel - p->kernels->kernels]) return 0;
  if (kernel->kind == KERNEL_CROSS_ENTROPY) return block_losses_bytes(p);
  if (is_turned(kernel)) return kernel->work_bytes;
  const int64_t of_ranks = p->ranks ? INT64_C(1) << p->ranks->part_levels : 0; /* their sums are gathered after the last part */
  return sums_by_walkers(kernel) ? 4 * shape_width(&p->kernels->graph->values[kernel->anchor].shape) * (of_ranks + (p->ranks ? p->finer : p->levels) + 1) : 0;
}

/* The most finer parts that a part of a rank's rows has, all of which are walked over at once. */
static int64_t parts_at_once(const Parts *p) {
  int64_t most = 1;
  for (int r = 0; p->ranks && r < p->ranks->count; r++) {
    const int64_t own = (int64_t)(p->ranks->first_part[r + 1] - p->ranks->first_part[r]) << p->finer;
    for (int64_t i = 0; i < p->count; i++)
      if ((own * (i + 1) >> p->levels) - (own * i >> p->levels) > most) most = (own * (i + 1) >> p->levels) - (own * i >> p->levels);
  }
  return most;
}

/* Each part has its own walkers. */
int64_t parts_work_bytes(const Parts *p, const Kernel *kernel, int part) {
  if (!p->is_by_parts[kernel - p->kernels->kernels] || part == 0) return kernel->work_bytes;
  if (parts_make_table(p, kernel)) return 0;
  if (kernel->kind == KERNEL_CROSS_ENTROPY) return least_of(kernel->work_bytes - block_losses_bytes(p), 8 * largest_part(p));
  if (is_turned(kernel)) return 0;
  if (!sums_by_walkers(kernel)) return kernel->work_bytes;
  const int64_t nodes = all_nodes(p);
  const int all_levels = p->kernels->backend == BACKEND_CUDA ? gnn_block_levels(nodes) + GNN_DEVICE_RUN_LEVELS : gnn_run_levels(nodes);
  const int levels = all_levels - (p->ranks ? p->ranks->part_levels + p->finer : p->levels), shared = kernel->walker_levels < levels ? kernel->walker_levels : levels;
  return parts_at_once(p) * (4 * shape_width(&p->kernels->graph->values[kernel->anchor].shape) * (levels - shared + 1)) << shared;
}

const char *parts_name(const Parts *p, ValueId value, const char *name, int piece) {
  if (piece == 0 || !parts_is_halo(p, value)) return parts_part_name(p, name, piece);
  const int pair = halo_of(p, value)->pair[piece];
  return arena_printf(p->kernels->graph->arena, "%s[%d>%d/%d]", name, pair % p->count + 1, (pair >> p->levels) + 1, p->count);
}

const char *parts_part_name(const Parts *p, const char *name, int part) {
  return part ? arena_printf(p->kernels->graph->arena, "%s[%d/%d]", name, part, p->count) : name;
}

bool parts_stores(const Parts *p, ValueId value, int part) {
  const int32_t made_by = p->kernels->made_by[value];
  const Kernel *kernel = made_by == NO_INDEX ? NULL : &p->kernels->kernels[made_by];
  const bool is_by_columns = kernel && kernel->kind == KERNEL_SPARSE_OUTER && !is_turned(kernel);
  return part == 0 || part == p->count || has_parts(p->kernels, value) || is_by_columns;
}
