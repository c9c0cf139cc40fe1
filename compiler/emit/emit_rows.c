/* emit_rows: point values as C expressions.
 *
 * Every value is an element expression at an index; an operand's index follows from its user's by the operator (a
 * broadcast drops loops, a lift changes the row). Each (value, index) becomes one constant, at the outermost level at
 * which everything it depends on is known, so what is the same for a row is computed once for the row.
 */
#include "emit_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define APART "/* apart */" /* a line of text[LEVEL_OUTER] or text[LEVEL_ELEMENT] that is not printed */

static char *joined(Arena *arena, const char *a, const char *b) { return arena_printf(arena, "%s%s", a ? a : "", b); }

void rows_write(RowWriter *w, Level level, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *line = arena_vprintf(w->arena, format, args);
  va_end(args);
  char **text = level == LEVEL_INNER ? &w->inner_text[w->inner_depth - 1] : &w->text[level];
  *text = joined(w->arena, *text, joined(w->arena, line, "\n"));
}

/* ---- shapes as loops ---- */

static int64_t size_of(const RowWriter *w, const Shape *shape, int dimension) {
  return w->is_flat ? shape_width(shape) : shape->size[dimension];
}

static int rank_of(const RowWriter *w, const Shape *shape) {
  return w->is_flat ? (shape_width(shape) > 1 ? 1 : 0) : shape->rank;
}

Index rows_full_index(const RowWriter *w, RowKind row) {
  Index index = {.row = row, .rank = w->loop_count};
  for (int d = 0; d < MAX_RANK; d++) index.loop[d] = d < w->loop_count ? d : NO_INDEX;
  return index;
}

Index rows_outer_index(const RowWriter *w, const Shape *shape, RowKind row) {
  Index index = rows_full_index(w, row);
  index.rank = rank_of(w, shape);
  for (int d = 0; d < MAX_RANK; d++)
    if (d >= index.rank) index.loop[d] = NO_INDEX;
  return index;
}

static bool same_index(const Index *a, const Index *b) {
  return a->row == b->row && a->rank == b->rank && memcmp(a->loop, b->loop, sizeof a->loop) == 0 && memcmp(a->begin, b->begin, sizeof a->begin) == 0;
}

static RowKind row_of_operand(const Value *user, const Value *operand, RowKind row) {
  if (operand->shape.domain == DOMAIN_NONE) return ROWS_NONE;
  if (user->op == OP_LIFT) return user->as.end == END_SRC ? ROWS_SRC : ROWS_DST;
  return row;
}

/* The index of an operand as its user's index says. */
static Index rows_operand_index(const RowWriter *w, ValueId user_id, int k, Index index) {
  const Graph *graph = w->kernels->graph;
  const Value *user = &graph->values[user_id], *operand = &graph->values[user->operand[k]];
  Index result = {.row = row_of_operand(user, operand, index.row), .rank = rank_of(w, &operand->shape)};
  for (int d = 0; d < MAX_RANK; d++) result.loop[d] = NO_INDEX;
  if (graph_is_scalar(graph, user->operand[k])) return result;
  if (user->op != OP_BROADCAST || w->is_flat) {
    for (int d = 0; d < result.rank; d++) {
      result.loop[d] = index.loop[d];
      result.begin[d] = index.begin[d];
    }
    if (user->op == OP_SLICE || user->op == OP_TILE) {
      const int axis = w->is_flat ? 0 : user->as.part.axis;
      result.begin[axis] += user->as.part.begin;
      if (size_of(w, &user->shape, axis) == 1) result.loop[axis] = NO_INDEX; /* one number, though the operand has more */
    }
    return result;
  }
  for (int d = 0; d < user->shape.rank; d++)
    if (user->as.map[d] != NO_INDEX) {
      result.loop[user->as.map[d]] = index.loop[d];
      result.begin[user->as.map[d]] = index.begin[d];
    }
  return result;
}

Index rows_reduced_index(const RowWriter *w, ValueId reduce, Index index) {
  const Value *value = &w->kernels->graph->values[reduce];
  Index result = {.row = value->shape.domain == DOMAIN_NONE ? ROWS_NONE : index.row, .rank = rank_of(w, &value->shape)};
  for (int d = 0; d < MAX_RANK; d++) result.loop[d] = NO_INDEX;
  if (w->is_flat) {
    if (result.rank > 0) result.loop[0] = index.loop[0];
    return result;
  }
  const Shape *from = &w->kernels->graph->values[value->operand[0]].shape;
  for (int d = 0; d < from->rank; d++)
    if (value->as.map[d] != NO_INDEX) result.loop[value->as.map[d]] = index.loop[d];
  return result;
}

static const char *const loop_names[] = {"j", "k", "l", "m"};

static const char *loop_name(const RowWriter *w, int loop) { return loop < w->loop_count ? loop_names[loop] : w->inner[loop - w->loop_count].name; }

const char *rows_offset(const RowWriter *w, const Shape *shape, Index index) {
  const char *text = "";
  int64_t stride = 1, begin = 0;
  for (int d = index.rank - 1; d >= 0; d--) {
    int loop = index.loop[d];
    if (loop != NO_INDEX && size_of(w, shape, d) > 1) {
      const char *name = loop_name(w, loop), *term = stride == 1 ? name : arena_printf(w->arena, "%s * %" PRId64, name, stride);
      text = *text ? arena_printf(w->arena, "%s + %s", term, text) : term;
    }
    begin += index.begin[d] * stride;
    stride *= size_of(w, shape, d);
  }
  if (begin == 0) return *text ? text : "0";
  return *text ? arena_printf(w->arena, "%s + %" PRId64, text, begin) : arena_printf(w->arena, "%" PRId64, begin);
}

/* The innermost level whose loops the element needs: NO_INDEX for none of them. */
static int loops_level(const RowWriter *w, const Shape *shape, Index index) {
  int level = NO_INDEX;
  for (int d = 0; d < index.rank; d++) {
    if (index.loop[d] == NO_INDEX || size_of(w, shape, d) == 1) continue;
    const bool is_outer = index.loop[d] < w->loop_count - 1 && w->kernels->backend == BACKEND_CPU;
    const int of_loop = index.loop[d] >= w->loop_count ? LEVEL_INNER : is_outer ? LEVEL_OUTER : LEVEL_ELEMENT;
    if (of_loop > level) level = of_loop;
  }
  return level;
}

static bool has_begin(Index index) {
  for (int d = 0; d < MAX_RANK; d++)
    if (index.begin[d]) return true;
  return false;
}

int64_t rows_width(const RowWriter *w) {
  int64_t width = 1;
  for (int d = 0; d < w->loop_count; d++) width *= w->loop_size[d];
  return width;
}

/* The number of the element in the loops is its number in a row of the value. */
static bool is_own(const RowWriter *w, const Shape *shape, Index index) {
  if (w->spread.lanes == 0 || w->loop_count == 0 || index.rank != w->loop_count || has_begin(index)) return false;
  for (int d = 0; d < w->loop_count; d++)
    if (size_of(w, shape, d) != w->loop_size[d] || (w->loop_size[d] > 1 && index.loop[d] != d)) return false;
  return true;
}

/* ---- can the dimensions run as one loop? ---- */

static bool is_whole_or_nothing(const Value *large, const Value *small, const int *map, int rank) {
  if (shape_width(&small->shape) == 1) return true;
  if (shape_width(&small->shape) != shape_width(&large->shape)) return false;
  int next = 0;
  for (int d = 0; d < rank; d++) {
    if (large->shape.size[d] == 1) continue;
    while (next < small->shape.rank && small->shape.size[next] == 1) next++;
    if (map[d] != next++) return false;
  }
  return true;
}

static bool can_be_flat(const RowWriter *w, ValueId id, bool is_root, bool *is_seen) {
  if (is_seen[id]) return true;
  is_seen[id] = true;
  const Graph *graph = w->kernels->graph;
  const Value *value = &graph->values[id];
  if (!is_root && !kernels_is_virtual(w->kernels, id)) return true;
  if (value->op == OP_BROADCAST &&
      !is_whole_or_nothing(value, &graph->values[value->operand[0]], value->as.map, value->shape.rank))
    return false;
  if ((value->op == OP_SLICE || value->op == OP_TILE) && value->shape.rank > 1 && !kernel_copies_tile(w->kernels, w->kernel, id)) return false;
  if (op_is_reduction(value->op) && !is_whole_or_nothing(&graph->values[value->operand[0]], value, value->as.map, graph->values[value->operand[0]].shape.rank)) return false;
  for (int k = 0; k < value->operand_count; k++)
    if (!can_be_flat(w, value->operand[k], false, is_seen)) return false;
  return true;
}

RowWriter *rows_new(Arguments *arguments, const Shape *loops) {
  const Emission *emission = arguments->emission;
  RowWriter *w = arena_alloc(emission->arena, sizeof *w);
  const Kernels *kernels = arguments->step->kernels;
  const Kernel *kernel = arguments->stage ? arguments->stage : &kernels->kernels[arguments->step->kernel];
  const Graph *graph = kernels->graph;
  *w = (RowWriter){.emission = emission, .arguments = arguments, .kernels = kernels, .kernel = kernel, .arena = emission->arena};
  const Value *anchor = &graph->values[kernel->anchor];
  w->is_flat = true;
  bool *is_seen = arena_alloc(w->arena, (size_t)graph->value_count);
  if (anchor->op == OP_REDUCE)
    w->is_flat = is_whole_or_nothing(&graph->values[anchor->operand[0]], anchor, anchor->as.map,
                                     graph->values[anchor->operand[0]].shape.rank);
  if (kernel_info[kernel->kind].fold != FOLD_NONE || kernel->kind == KERNEL_HALO || kernel->kind == KERNEL_BEHIND || kernel->kind == KERNEL_COLUMNS)
    for (int k = 0; k < anchor->operand_count; k++) w->is_flat = w->is_flat && can_be_flat(w, anchor->operand[k], false, is_seen);
  for (int b = 0; b < kernel->body_count; b++) {
    const Value *value = &graph->values[kernel->body[b]];
    const bool has_outer_loops = op_is_aggregation(value->op) && shape_width(&value->shape) > 1 && shape_width(&value->shape) != shape_width(&anchor->shape);
    w->is_flat = w->is_flat && !has_outer_loops && can_be_flat(w, kernel->body[b], true, is_seen);
  }
  w->loop_count = rank_of(w, loops);
  for (int d = 0; d < w->loop_count; d++) w->loop_size[d] = size_of(w, loops, d);
  for (int l = 0; l < LEVEL_COUNT; l++) w->text[l] = "";
  for (int i = 0; i < INNER_DEPTH; i++) w->inner_text[i] = "";
  w->bit_reads = w->vector_reads = w->vector_writes = w->after_loops = "";
  return w;
}

/* ---- names ---- */

static const char *fresh_name(RowWriter *w, const char *base) {
  for (int n = 1;; n++) {
    const char *name = n == 1 ? base : arena_printf(w->arena, *base >= '0' && *base <= '9' ? "v%s_%d" : "%s_%d", base, n);
    bool is_taken = n == 1 ? emit_is_reserved(name) : false;
    for (int i = 0; i < w->temporary_count; i++) is_taken = is_taken || strcmp(w->temporaries[i].name, name) == 0;
    for (int i = 0; i < w->pointer_count; i++) is_taken = is_taken || strcmp(w->pointers[i].name, name) == 0;
    for (int i = 0; i < w->local_count; i++) is_taken = is_taken || strcmp(w->locals[i].array, name) == 0;
    if (!is_taken) return name;
  }
}

void rows_name(RowWriter *w, ValueId value, Index index, const char *name) {
  ARENA_PUSH(w->arena, w->temporaries, w->temporary_count, ((Temporary){value, index, name, false}));
}

void rows_name_acc(RowWriter *w, ValueId value, Index index, const char *name) {
  ARENA_PUSH(w->arena, w->temporaries, w->temporary_count, ((Temporary){value, index, name, true}));
}

void rows_name_local(RowWriter *w, ValueId value, const char *array) { ARENA_PUSH(w->arena, w->locals, w->local_count, ((Local){value, array})); }

/* ROWS_NONE has none: its things are there once. */
static const char *const row_names[] = {"0", "r", "src", "dst", "e"};

static const char *row_variable(RowWriter *w, RowKind row) {
  static const unsigned uses[] = {0, USES_ROW, USES_SRC, USES_DST, USES_EDGE};
  w->uses |= uses[row];
  return row_names[row];
}

static Level level_of_row(const RowWriter *w, RowKind row) {
  if (row == ROWS_NONE || row == ROWS_SELF) return LEVEL_ROW;
  /* Within a loop over the edges of a row, one end is the row itself. */
  return row == (graph_walk_end(&w->kernels->graph->values[w->kernel->anchor]) == END_DST ? ROWS_DST : ROWS_SRC) ? LEVEL_ROW : LEVEL_EDGE;
}

Level rows_level(const RowWriter *w, const Shape *shape, Index index) {
  const int of_loops = loops_level(w, shape, index);
  return of_loops == NO_INDEX ? level_of_row(w, index.row) : (Level)of_loops;
}

static int64_t bit_words(int64_t width) { return (width + 31) / 32; }

const char *rows_type(const Kernels *kernels, ValueId value) {
  if (kernels->graph->values[kernels->storage[value]].shape.element == ELEMENT_BIT) return "uint32_t";
  return kernels_is_half(kernels, value) ? "gnn_half" : "gnn_real";
}

const char *rows_loaded(const Kernels *kernels, ValueId value, const char *element) {
  return kernels_is_half(kernels, value) ? arena_printf(kernels->graph->arena, "gnn_number(%s)", element) : element;
}

const char *rows_rounded(const Kernels *kernels, ValueId value, const char *number) {
  return kernels_is_half(kernels, value) ? arena_printf(kernels->graph->arena, "gnn_rounded(%s)", number) : number;
}

static const char *place_of_piece(const RowWriter *w, ValueId value, const char *offset) {
  return arena_printf(w->arena, kernels_is_half(w->kernels, value) ? "(const gnn_half *)(const void *)gnn_at(g, %s)" : "gnn_at(g, %s)", offset);
}

/* "gnn_at(g, h_halo[code >> 20]) + (code & 1048575) * 64": the part that has the row, and its number among those of that part. */
static const char *place_in_halo(RowWriter *w, ValueId value, int64_t stride) {
  const HaloKind kind = halo_kind(&w->kernels->graph->values[value]);
  const int shift = parts_halo_shift(w->arguments->step->parts, kind);
  const char *at = argument_at_pieces(w->arguments, value, false, &w->uses);
  const char *code = kind == HALO_OF_EDGES ? "edge_code" : "code";
  w->uses |= kind == HALO_OF_EDGES ? USES_EDGE_CODE : USES_CODE;
  const char *piece = place_of_piece(w, value, arena_printf(w->arena, "%s[%s >> %d]", at, code, shift));
  return arena_printf(w->arena, "%s + (int64_t)(%s & %d) * %" PRId64, piece, code, (1 << shift) - 1, stride);
}

enum { FETCHED_TABLES = 1 << 20 /* bytes: fewer are in the second-level cache (gnn_gather_ahead) */ };

/* Of what rows of other nodes and edges are made of in the kernel. */
static int64_t table_bytes(const RowWriter *w) {
  const Graph *graph = w->kernels->graph;
  const Kernel *kernel = &w->kernels->kernels[w->arguments->step->kernel];
  int64_t bytes = 0;
  for (int i = 0; i < kernel->input_count; i++)
    if (domain_is_nodes(graph->values[kernel->inputs[i]].shape.domain)) bytes += graph_rows(graph, graph->values[kernel->inputs[i]].shape.domain) * kernels_row_bytes(w->kernels, kernel->inputs[i]);
  return bytes;
}

/* At the far end of edges. */
static bool is_gathered(const RowWriter *w, ValueId value, RowKind row) {
  return (row == ROWS_SRC || row == ROWS_DST) && level_of_row(w, row) == LEVEL_EDGE && step_gathers(w->arguments->step, value);
}

/* "gnn_at(g, s->h_pieces[far_part]) + src * 64" */
static const char *place_in_pieces(RowWriter *w, ValueId value, const char *part, const char *row, int64_t stride) {
  const char *piece = place_of_piece(w, value, arena_printf(w->arena, "%s[%s]", argument_at_pieces(w->arguments, value, false, &w->uses), part));
  return arena_printf(w->arena, "%s + %s * %" PRId64, piece, row, stride);
}

/* Where there are many rows they are fetched some edges before they are asked for, once in a step. */
static void fetch_ahead(RowWriter *w, ValueId value, const char *at, bool is_far, int64_t stride) {
  Arguments *a = w->arguments;
  const ValueId table = w->kernels->storage[value];
  const int64_t bytes = kernels_row_bytes(w->kernels, value);
  if (w->kernels->backend != BACKEND_CPU || table_bytes(w) < FETCHED_TABLES) return;
  for (int i = 0; i < a->fetched_count; i++)
    if (a->fetched[i] == table) return;
  ARENA_PUSH(w->arena, a->fetched, a->fetched_count, table);
  if (bytes > a->fetched_bytes) a->fetched_bytes = bytes;
  w->uses |= USES_AHEAD;
  const char *place = is_far ? place_in_pieces(w, value, arena_printf(w->arena, "gnn_part_of(row_parts, %d, ahead)", parts_row_shift(a->step->parts)), "ahead", stride) : arena_printf(w->arena, stride == 1 ? "%s + ahead" : "%s + ahead * %" PRId64, at, stride);
  rows_write(w, LEVEL_EDGE, "gnn_fetch(%s, %" PRId64 ");", place, bytes);
}

/* The pointer to the numbers of a value in a row. A lane's offset comes first: it is added once, and not for each row. */
static Pointer *pointer_to(RowWriter *w, ValueId value, RowKind row, bool is_output, bool is_own) {
  const bool is_halo = parts_is_halo(w->arguments->step->parts, value), is_far = is_gathered(w, value, row), is_in_pieces = is_halo || is_far;
  const char *at = is_in_pieces ? argument_at_pieces(w->arguments, value, is_output, &w->uses) : argument_at_value(w->arguments, value, is_output, &w->uses);
  for (int i = 0; i < w->pointer_count; i++) {
    Pointer *known = &w->pointers[i];
    if (strcmp(known->at, at) == 0 && known->row == row && known->is_output == is_output && known->is_own == is_own) return known;
  }
  static const char *const prefixes[] = {"", "", "src_", "dst_", "edge_"};
  const char *place = is_in_pieces ? argument_name_of_pieces(w->arguments, value, is_output) : argument_name_of_value(w->arguments, value, is_output);
  const char *name = fresh_name(w, arena_printf(w->arena, "%s%s%s", is_output ? "to_" : "at_", prefixes[row], place));
  const int64_t stride = kernels_row_stride(w->kernels, value);
  const char *type = rows_type(w->kernels, value), *constant = is_output ? "" : "const ";
  const char *offset = row == ROWS_NONE || is_in_pieces ? "" : stride == 1 ? arena_printf(w->arena, " + %s", row_variable(w, row))
                                                           : arena_printf(w->arena, " + %s * %" PRId64, row_variable(w, row), stride);
  const Level level = level_of_row(w, row);
  const bool is_shared = w->is_in_place || kernel_shares_place(w->kernel, w->kernels->storage[value]);
  w->has_shared_places = w->has_shared_places || is_shared;
  if (is_far) w->uses |= USES_FAR_PART;
  if (level == LEVEL_EDGE && !is_halo && !is_output && row != ROWS_EDGE) fetch_ahead(w, value, at, is_far, stride);
  if (is_in_pieces) rows_write(w, level, "const %s *restrict %s = %s%s;", type, name, is_far ? place_in_pieces(w, value, "far_part", row_variable(w, row), stride) : place_in_halo(w, value, stride), is_own ? " + own" : "");
  else rows_write(w, level, "%s%s *%s%s = %s%s%s;", constant, type, is_shared ? "" : "restrict ", name, at, is_own ? " + own" : "", offset);
  ARENA_PUSH(w->arena, w->pointers, w->pointer_count, ((Pointer){at, value, row, level, is_output, is_own, name, NULL}));
  return &w->pointers[w->pointer_count - 1];
}

/* ---- the elements of a lane ---- */

int64_t rows_alignment(int64_t stride, bool is_half) {
  enum { MOST = 16 };
  const int64_t bytes = stride * (is_half ? 2 : 4) | MOST; /* stride 0: of one row */
  return bytes & -bytes;
}

static int64_t vector_bytes(const RowWriter *w, const OwnElements *own) {
  const int64_t bytes = rows_alignment(own->stride, own->is_half), all = w->spread.vector * (own->is_half ? 2 : 4);
  return bytes < all ? bytes : all;
}

/* "32 * block" */
static const char *block_offset(const RowWriter *w) {
  const int each = w->spread.lanes * w->spread.vector;
  return each == 1 ? "block" : arena_printf(w->arena, "%d * block", each);
}

/* How many of a block's elements the row has for the lane, where that can be fewer. */
static const char *count_text(const RowWriter *w) { return arena_printf(w->arena, "%" PRId64 " - own - %s", rows_width(w), block_offset(w)); }

const char *rows_own_number(RowWriter *w, const OwnElements *own, bool is_first) {
  const int vector = w->spread.vector;
  const char *offset = block_offset(w);
  if (vector == 1) return arena_printf(w->arena, own->is_half ? "gnn_number(%s[%s])" : "%s[%s]", own->pointer, offset);
  const bool has_room = rows_width(w) % vector == 0 || (own->stride && own->stride % vector == 0);
  if (is_first)
    w->vector_reads = joined(w->arena, w->vector_reads, arena_printf(w->arena, "gnn_real %s[%d];\ngnn_load<%" PRId64 ">(%s + %s, %s%s%s);\n", own->numbers, vector,
                                                                     vector_bytes(w, own), own->pointer, offset, own->numbers, has_room ? "" : ", ", has_room ? "" : count_text(w)));
  return arena_printf(w->arena, "%s[n]", own->numbers);
}

void rows_own_store(RowWriter *w, const OwnElements *own, const char *text) {
  const int vector = w->spread.vector;
  const char *offset = block_offset(w);
  if (vector == 1) {
    rows_write(w, LEVEL_ELEMENT, own->is_half ? "%s[%s] = gnn_rounded(%s);" : "%s[%s] = %s;", own->pointer, offset, text);
    return;
  }
  const bool is_whole = rows_width(w) % vector == 0;
  rows_write(w, LEVEL_ELEMENT, "%s[n] = %s;", own->numbers, text);
  w->vector_reads = joined(w->arena, w->vector_reads, arena_printf(w->arena, "gnn_real %s[%d] = {};\n", own->numbers, vector));
  w->vector_writes = joined(w->arena, w->vector_writes, arena_printf(w->arena, "gnn_store<%" PRId64 ">(%s + %s, %s%s%s);\n", vector_bytes(w, own), own->pointer, offset,
                                                                     own->numbers, is_whole ? "" : ", ", is_whole ? "" : count_text(w)));
}

static OwnElements own_elements(RowWriter *w, Pointer *p) {
  if (!p->numbers) {
    p->numbers = fresh_name(w, arena_printf(w->arena, "own_%s", strchr(p->name, '_') + 1));
    rows_name(w, NO_VALUE, (Index){.row = ROWS_NONE}, p->numbers);
  }
  return (OwnElements){p->name, p->numbers, p->row == ROWS_NONE ? 0 : kernels_row_stride(w->kernels, p->value), kernels_is_half(w->kernels, p->value)};
}

/* ---- values ---- */

/* Of the words of a row at `pointer`; those of a value that is read in blocks are named after it. */
static const char *loaded_bit(RowWriter *w, ValueId id, Index index, const char *pointer, const char *of) {
  const Shape *shape = &w->kernels->graph->values[id].shape;
  if (!w->is_flat || w->loop_count == 0 || has_begin(index) || loops_level(w, shape, index) == LEVEL_INNER)
    return arena_printf(w->arena, "(%s[(%s) / 32] >> (%s) %% 32 & 1)", pointer, rows_offset(w, shape, index), rows_offset(w, shape, index));
  w->has_bits = true;
  const char *word = fresh_name(w, arena_printf(w->arena, "word_of_%s", of));
  rows_name(w, NO_VALUE, index, word);
  w->bit_reads = joined(w->arena, w->bit_reads, arena_printf(w->arena, "const uint32_t %s = %s[%s];\n", word, pointer, w->spread.lanes ? "word" : "block"));
  return arena_printf(w->arena, "(%s >> t & 1)", word);
}

const char *rows_load(RowWriter *w, ValueId id, Index index) {
  const Value *stored = &w->kernels->graph->values[w->kernels->storage[id]];
  const Shape *shape = &w->kernels->graph->values[id].shape;
  const bool is_bit = stored->shape.element == ELEMENT_BIT;
  Pointer *at = pointer_to(w, id, index.row, false, !is_bit && is_own(w, shape, index));
  const char *pointer = at->name;
  if (at->is_own) {
    const bool is_first = at->numbers == NULL;
    const OwnElements own = own_elements(w, at);
    return rows_own_number(w, &own, is_first);
  }
  if (!is_bit) return rows_loaded(w->kernels, id, arena_printf(w->arena, "%s[%s]", pointer, rows_offset(w, shape, index)));
  return loaded_bit(w, id, index, pointer, argument_name_of_value(w->arguments, id, false));
}

/* Slices side by side, put together for the row: there are as many numbers in front of each as in those before it. */
static const char *joined_element(RowWriter *w, ValueId id, Index index) {
  const Value *value = &w->kernels->graph->values[id];
  const bool is_bit = value->shape.element == ELEMENT_BIT;
  const Index whole = {.row = index.row, .rank = NO_INDEX};
  const char *row = NULL;
  for (int i = 0; i < w->temporary_count && !row; i++)
    if (w->temporaries[i].value == id && same_index(&w->temporaries[i].index, &whole)) row = w->temporaries[i].name;
  if (!row) {
    const Level level = level_of_row(w, index.row);
    const int64_t width = shape_width(&value->shape);
    row = fresh_name(w, arena_printf(w->arena, "row_of_%s", value->name));
    rows_name(w, id, whole, row);
    rows_write(w, level, "%s %s[%" PRId64 "];", is_bit ? "uint32_t" : "gnn_real", row, is_bit ? bit_words(width) : width);
    int64_t begin = 0;
    for (int k = 0; k < value->operand_count; k++) {
      const int64_t each = shape_width(&w->kernels->graph->values[value->operand[k]].shape), numbers = is_bit ? bit_words(each) : each;
      rows_write(w, level, "for (int j = 0; j < %" PRId64 "; j++) %s[%" PRId64 " + j] = %s;", numbers, row, begin,
                 rows_loaded(w->kernels, value->operand[k], arena_printf(w->arena, "%s[j]", pointer_to(w, value->operand[k], index.row, false, false)->name)));
      begin += numbers;
    }
  }
  return is_bit ? loaded_bit(w, id, index, row, value->name) : arena_printf(w->arena, "%s[%s]", row, rows_offset(w, &value->shape, index));
}

const char *rows_function(const RowWriter *w, int function, const char *a, const char *b) {
  static const char *const codes[POINT_COUNT] = {
#define FUNCTION(name, exps, code) code,
#include "compiler/graph/functions.h"
#undef FUNCTION
  };
  return arena_printf(w->arena, codes[function], a, b);
}

/* The probability of a dropout, as a double expression over the options. */
static const char *probability(RowWriter *w, ValueId id) {
  const Graph *graph = w->kernels->graph;
  const Value *value = &graph->values[id];
  if (value->op == OP_NUMBER) return emit_real(w->arena, value->as.number);
  if (value->op == OP_OPTION) return arena_printf(w->arena, "g->option[%d]", (int)value->as.index);
  if (value->op == OP_BROADCAST) return probability(w, value->operand[0]);
  const char *a = probability(w, value->operand[0]);
  return arena_printf(w->arena, "(%s)", rows_function(w, value->as.function, a, value->operand_count > 1 ? probability(w, value->operand[1]) : ""));
}

/* Dropout draws by what the data call a row. */
static const char *drawn_row(RowWriter *w, const Value *value, RowKind row) {
  const ValueId edge_ids = value->shape.domain == DOMAIN_EDGE ? kernels_edge_ids(w->kernels, w->kernel) : NO_VALUE;
  if (edge_ids != NO_VALUE) return arena_printf(w->arena, "%s[%s]", argument_at_offsets(w->arguments, edge_ids, &w->uses), row == ROWS_EDGE ? "i" : row_variable(w, row));
  const char *name = row_variable(w, row);
  if ((w->emission->program->data->recipe.order == ORDER_GIVEN && !w->emission->program->info->is_of_rank) || row == ROWS_NONE || value->shape.domain == DOMAIN_NONE) return name;
  if (value->shape.domain == DOMAIN_NODE) return arena_printf(w->arena, "%s[%s]", argument_at_node_ids(w->arguments, &w->uses), name);
  w->uses |= USES_RUN;
  if (value->shape.domain != DOMAIN_EDGE && domain_is_relation(value->shape.domain)) return arena_printf(w->arena, "%s.id[%s]", emit_edge_set(w->arena, w->emission->program->info, value->shape.domain), name);
  if (value->shape.domain == DOMAIN_OTHERS) return arena_printf(w->arena, "g->node_id[g->nodes + %s]", name);
  if (domain_is_nodes(value->shape.domain)) return arena_printf(w->arena, "(g->type_first[%s] + %s)", emit_set_name(w->arena, w->emission->program->info, value->shape.domain), name);
  if (value->shape.domain == DOMAIN_EDGE) return arena_printf(w->arena, "g->edge_id[%s]", name);
  return arena_printf(w->arena, "%s[%s]", argument_at_node_ids(w->arguments, &w->uses), name);
}

static RowDropout *dropout_of(RowWriter *w, ValueId id) {
  const Value *value = &w->kernels->graph->values[id];
  const int site = (int)value->as.site;
  for (int i = 0; i < w->dropout_count; i++)
    if (w->dropouts[i].site == site) return &w->dropouts[i];
  ARENA_PUSH(w->arena, w->dropouts, w->dropout_count, ((RowDropout){site, probability(w, value->operand[1]), 0}));
  return &w->dropouts[w->dropout_count - 1];
}

static const char *dropout_factor(RowWriter *w, ValueId id, Index index) {
  const Value *value = &w->kernels->graph->values[id];
  RowDropout *dropout = dropout_of(w, id);
  const char *row = index.row == ROWS_NONE ? "all" : row_names[index.row];
  const char *bits = arena_printf(w->arena, "drop_%d_%s", dropout->site, row);
  w->uses |= USES_STEP;
  if (!(dropout->drawn & 1u << index.row))
    rows_write(w, level_of_row(w, index.row), "const gnn_row_bits %s = gnn_random_row(s->drop_%d.key, (uint64_t)%s);", bits, dropout->site, drawn_row(w, value, index.row));
  dropout->drawn |= 1u << index.row;
  const char *first = value->first_drawn ? arena_printf(w->arena, " + %" PRId64, value->first_drawn) : "";
  return arena_printf(w->arena, "gnn_dropout_factor(&s->drop_%d, %s, (uint32_t)(%s%s))", dropout->site, bits, rows_offset(w, &value->shape, index), first);
}

static const char *temporary(RowWriter *w, ValueId id, Index index, const char *type, const char *text) {
  const Value *value = &w->kernels->graph->values[id];
  const char *name = fresh_name(w, value->name);
  const Level level = rows_level(w, &value->shape, index);
  rows_name(w, id, index, name);
  rows_write(w, level, "const %s %s = %s;", type, name, text);
  return name;
}

static const char *element_operand(RowWriter *w, ValueId id, Index index, const char *const *operand) {
  (void)w, (void)id, (void)index;
  return operand[0];
}

bool rows_is_long(int function) {
  static const double exps[POINT_COUNT] = {
#define FUNCTION(name, exps, code) exps,
#include "compiler/graph/functions.h"
#undef FUNCTION
  };
  return exps[function] >= 1;
}

static void note_long(RowWriter *w, ValueId id, Index index) { w->has_long[rows_level(w, &w->kernels->graph->values[id].shape, index)] = true; }

static const char *element_map(RowWriter *w, ValueId id, Index index, const char *const *operand) {
  if (rows_is_long(w->kernels->graph->values[id].as.function)) note_long(w, id, index);
  return temporary(w, id, index, "gnn_real", rows_function(w, w->kernels->graph->values[id].as.function, operand[0], operand[1]));
}

static const char *element_dropout(RowWriter *w, ValueId id, Index index, const char *const *operand) {
  note_long(w, id, index);
  return temporary(w, id, index, "gnn_real", arena_printf(w->arena, "%s * %s", operand[0], dropout_factor(w, id, index)));
}

static const char *element_positive(RowWriter *w, ValueId id, Index index, const char *const *operand) {
  return temporary(w, id, index, "uint32_t", arena_printf(w->arena, "!(%s <= 0)", operand[0]));
}

static const char *element_select(RowWriter *w, ValueId id, Index index, const char *const *operand) {
  return temporary(w, id, index, "gnn_real", arena_printf(w->arena, "%s ? %s : %s", operand[0], operand[1], operand[2]));
}

/* ---- sums and extremes within a row ---- */

/* An index of the operand whose dimensions that disappear have loops of their own. */
static Index inner_index(RowWriter *w, ValueId id, Index index) {
  const Value *value = &w->kernels->graph->values[id];
  const Shape *from = &w->kernels->graph->values[value->operand[0]].shape;
  Index inner = {.row = index.row, .rank = rank_of(w, from)};
  const bool is_whole = w->is_flat && shape_width(from) == shape_width(&value->shape);
  for (int d = 0; d < MAX_RANK; d++) {
    const int to = d >= inner.rank ? NO_INDEX : !w->is_flat ? value->as.map[d] : is_whole ? d : NO_INDEX;
    inner.loop[d] = to == NO_INDEX ? NO_INDEX : index.loop[to];
    inner.begin[d] = to == NO_INDEX ? 0 : index.begin[to];
    if (to != NO_INDEX || d >= inner.rank || size_of(w, from, d) == 1) continue;
    const int number = w->inner_depth > 1 || d > 0 ? w->inner_depth + d : 1;
    const char *name = number == 1 ? "inner" : arena_printf(w->arena, "inner_%d", number);
    ARENA_PUSH(w->arena, w->inner, w->inner_count, ((InnerLoop){name, size_of(w, from, d)}));
    inner.loop[d] = w->loop_count + w->inner_count - 1;
  }
  return inner;
}

static const char *indented(RowWriter *w, const char *lines) {
  const char *text = "";
  while (*lines) {
    const char *end = strchr(lines, '\n');
    text = arena_printf(w->arena, "%s  %.*s\n", text, (int)(end - lines), lines);
    lines = end + 1;
  }
  return text;
}

/* The loop around what was written, without the last newline. Sums of many numbers go to 16 lanes, as those of whole rows do; what is behind the last 16
 * goes there as the end of a whole 16 (on a processor: half a vector that is stored and loaded as one is waited for). */
static const char *inner_loop(RowWriter *w, InnerLoop loop, const char *sum, const char *body, const char *number, bool has_lanes) {
  const char *lines = indented(w, body);
  if (!has_lanes) return arena_printf(w->arena, "for (int %s = 0; %s < %" PRId64 "; %s++) {\n%s}", loop.name, loop.name, loop.size, loop.name, lines);
  const int64_t whole = loop.size / 16, rest = loop.size % 16;
  const char *unroll = w->kernels->backend == BACKEND_CUDA ? "GNN_UNROLL " : "GNN_ROLLED "; /* lanes in registers, or in a vector */
  const char *text = arena_printf(w->arena, "gnn_real %s_lanes[16] = {0};\nfor (int part = 0; part < %" PRId64 "; part++)\n  %sfor (int t = 0; t < 16; t++) {\n"
                                  "    const int %s = 16 * part + t;\n%s  }\n", sum, whole, unroll, loop.name, indented(w, lines));
  if (rest && w->kernels->backend == BACKEND_CPU)
    text = arena_printf(w->arena, "%sgnn_real %s_rest[16];\n%sfor (int t = 0; t < 16; t++) {\n  const int %s = %" PRId64 " + t;\n%s}\ngnn_add_rest(%s_lanes, %s_rest, %" PRId64 ");\n", text, sum, unroll, loop.name, loop.size - 16,
                        indented(w, number), sum, sum, rest);
  else if (rest)
    text = arena_printf(w->arena, "%s%sfor (int t = 0; t < %" PRId64 "; t++) {\n  const int %s = %" PRId64 " + t;\n%s}\n", text, unroll, rest, loop.name, 16 * whole, lines);
  return arena_printf(w->arena, "%sconst gnn_real %s = gnn_sum_lanes(%s_lanes);", text, sum, sum);
}

/* Between what is before a sum within the row, the sum, and what is after it: see print_apart. */
static void part_here(RowWriter *w, Level level) {
  if (w->kernels->backend == BACKEND_CPU && level >= LEVEL_OUTER && level != LEVEL_INNER) w->text[level] = joined(w->arena, w->text[level], APART "\n");
}

static const char *write_inner(RowWriter *w, ValueId id, Index index, const FoldInfo *fold) {
  const Value *value = &w->kernels->graph->values[id];
  const Level level = rows_level(w, &value->shape, index);
  const int loops_before = w->inner_count;
  const char *name = fresh_name(w, value->name);
  rows_name(w, id, index, name);
  w->inner_depth++;
  w->inner_text[w->inner_depth - 1] = "";
  const Index inner = inner_index(w, id, index);
  const int loop_end = w->inner_count;
  const char *number = rows_value(w, value->operand[0], inner);
  const bool has_lanes = fold == &fold_info[FOLD_SUM] && loop_end == loops_before + 1 && w->inner[loops_before].size >= 16 &&
                         w->inner_depth == 1;
  const char *into = has_lanes ? arena_printf(w->arena, "%s_lanes[t]", name) : name;
  const char *body = arena_printf(w->arena, "%s%s\n", w->inner_text[w->inner_depth - 1], arena_printf(w->arena, fold->code, into, number));
  const char *alone = arena_printf(w->arena, "%s%s_rest[t] = %s;\n", w->inner_text[w->inner_depth - 1], name, number);
  w->inner_depth--;
  for (int l = loop_end - 1; l >= loops_before; l--) body = arena_printf(w->arena, "%s\n", inner_loop(w, w->inner[l], name, body, alone, has_lanes));
  part_here(w, level);
  w->has_long[level] = w->has_long[level] || has_lanes; /* lanes of several are added up together */
  if (!has_lanes) rows_write(w, level, "gnn_real %s = %s;", name, fold->start);
  rows_write(w, level, "%.*s", (int)strlen(body) - 1, body);
  part_here(w, level);
  return name;
}

const char *rows_inner_sum(RowWriter *w, ValueId reduce, Index index) { return write_inner(w, reduce, index, &fold_info[FOLD_SUM]); }

/* By what ops.h says; what never is an element of a row has none. */
#define element_nothing NULL
#define element_reduced NULL /* write_inner */
#define ELEMENT_LEAF(code) NULL
#define ELEMENT_POINT(code) element_##code
#define ELEMENT_ANCHOR(code) NULL
static const char *(*const element_of[OP_COUNT])(RowWriter *, ValueId, Index, const char *const *) = {
#define OP(name, what, operands, kind, attribute, shape, simpler, derivative, is_linear, code, work, bytes) ELEMENT_##kind(code),
#include "compiler/graph/ops.h"
#undef OP
};

static const char *computed(RowWriter *w, ValueId id, Index index) {
  const Value value = w->kernels->graph->values[id];
  if (op_is_reduction(value.op))
    return write_inner(w, id, index, &fold_info[value.op == OP_REDUCE ? FOLD_SUM : value.op == OP_REDUCE_MAX ? FOLD_MAX : FOLD_MIN]);
  if (value.op == OP_CONCAT) return joined_element(w, id, index);
  const char *operand[MAX_VALUE_OPERANDS] = {"", "", ""};
  int read_count = value.op == OP_DROPOUT ? 1 : value.operand_count;
  for (int k = 0; k < read_count; k++) {
    const Index at = rows_operand_index(w, id, k, index);
    operand[k] = rows_value(w, value.operand[k], at);
    /* What one branch alone would load is loaded in any case: gcc 12 vectorises loads under a condition wrongly where there are few of them. */
    if (value.op == OP_SELECT && k > 0 && strchr(operand[k], '[')) operand[k] = temporary(w, value.operand[k], at, "gnn_real", operand[k]);
  }
  return element_of[value.op](w, id, index, operand);
}

/* A store may come before its next use. */
static const char *loaded(RowWriter *w, ValueId id, Index index) {
  const char *number = rows_load(w, id, index);
  const bool is_bit = w->kernels->graph->values[w->kernels->storage[id]].shape.element == ELEMENT_BIT;
  return !is_bit && kernel_shares_place(w->kernel, id) ? temporary(w, id, index, "gnn_real", number) : number;
}

const char *rows_value(RowWriter *w, ValueId id, Index index) {
  const Value *value = &w->kernels->graph->values[id];
  for (int i = 0; i < w->temporary_count; i++)
    if (w->temporaries[i].value == id && same_index(&w->temporaries[i].index, &index)) {
      w->uses |= w->temporaries[i].is_acc ? USES_ACC : 0;
      return w->temporaries[i].name;
    }
  for (int i = 0; i < w->local_count; i++)
    if (w->locals[i].value == w->kernels->storage[id]) return arena_printf(w->arena, "%s[%s]", w->locals[i].array, rows_offset(w, &value->shape, index));
  if (value->op == OP_NUMBER) return emit_real(w->arena, value->as.number);
  if (value->op == OP_OPTION) {
    w->uses |= USES_RUN;
    return arena_printf(w->arena, "(gnn_real)g->option[%d]", (int)value->as.index);
  }
  if (value->op == OP_ROW_COUNT && w->emission->program->info->is_of_rank) { /* of all ranks */
    return arena_printf(w->arena, "(gnn_real)INT64_C(%" PRId64 ")", typed_rows(w->emission->program->info->of_all, value->as.domain));
  }
  if (value->op == OP_ROW_COUNT) {
    w->uses |= USES_RUN;
    return arena_printf(w->arena, "(gnn_real)%s", emit_row_count(w->arena, w->emission->program->info, value->as.domain, 1));
  }
  if (value->op == OP_INPUT || value->op == OP_HOISTED || value->op == OP_PARAM || value->op == OP_STATE || value->op == OP_DEGREE) return loaded(w, id, index);
  const bool is_made_here = w->kernels->made_by[id] == w->arguments->step->kernel && op_info[value->op].kind == OP_KIND_POINT;
  if (is_made_here || kernels_is_virtual(w->kernels, id)) return computed(w, id, index);
  return loaded(w, id, index);
}

void rows_store(RowWriter *w, ValueId value, const char *text, RowKind row) {
  const Shape *shape = &w->kernels->graph->values[value].shape;
  const bool is_bit = shape->element == ELEMENT_BIT;
  Pointer *at = pointer_to(w, value, row, true, !is_bit && is_own(w, shape, rows_full_index(w, row)));
  const char *pointer = at->name;
  const char *offset = rows_offset(w, shape, rows_full_index(w, row));
  if (at->is_own) {
    const OwnElements own = own_elements(w, at);
    rows_own_store(w, &own, text);
  } else if (!is_bit) {
    rows_write(w, w->loop_count ? LEVEL_ELEMENT : level_of_row(w, row), "%s[%s] = %s;", pointer, offset, rows_rounded(w->kernels, value, text));
  } else if (w->loop_count == 0) {
    rows_write(w, level_of_row(w, row), "%s[0] = %s;", pointer, text);
  } else if (!w->is_flat && w->spread.lanes == 0) {
    w->has_or = true;
    rows_write(w, level_of_row(w, row), "for (int i = 0; i < %" PRId64 "; i++) %s[i] = 0;", bit_words(shape_width(shape)), pointer);
    rows_write(w, LEVEL_ELEMENT, "%s[(%s) / 32] |= %s << (%s) %% 32;", pointer, offset, text, offset);
  } else {
    w->has_bits = true;
    const char *word = fresh_name(w, arena_printf(w->arena, "word_to_%s", argument_name_of_value(w->arguments, value, true)));
    rows_name(w, NO_VALUE, rows_full_index(w, row), word);
    ARENA_PUSH(w->arena, w->bit_words, w->bit_word_count, (BitWord){word, pointer});
    rows_write(w, LEVEL_ELEMENT, "%s |= %s << t;", word, text);
  }
}

/* The row of a value as an array: where it is stored as it is, or one of its own. */
static const char *row_array(RowWriter *w, ValueId id, const char *text, RowKind row) {
  const Value *value = &w->kernels->graph->values[id];
  for (int k = 0; k < w->kernel->output_count && !kernels_is_half(w->kernels, id); k++)
    if (w->kernel->outputs[k] == id) return pointer_to(w, id, row, true, false)->name;
  const Index none = {.row = ROWS_NONE, .rank = NO_INDEX};
  for (int i = 0; i < w->temporary_count; i++)
    if (w->temporaries[i].value == id && same_index(&w->temporaries[i].index, &none)) return w->temporaries[i].name;
  const char *name = fresh_name(w, arena_printf(w->arena, "row_of_%s", value->name));
  rows_name(w, id, none, name);
  rows_write(w, level_of_row(w, row), "gnn_real %s[%" PRId64 "];", name, shape_width(&value->shape));
  rows_write(w, LEVEL_ELEMENT, "%s[%s] = %s;", name, rows_offset(w, &value->shape, rows_full_index(w, row)), text);
  return name;
}

/* In C after all elements of the row, which can be computed in vectors then; a thread of a GPU has the elements one by one. */
void rows_store_tile(RowWriter *w, ValueId tile, const char *text, RowKind row) {
  const Value *value = &w->kernels->graph->values[tile], *whole = &w->kernels->graph->values[value->operand[0]];
  const int64_t width = shape_width(&value->shape), begin = value->as.part.begin * (width / value->shape.size[0]);
  const char *to = pointer_to(w, tile, row, true, false)->name;
  if (w->kernels->backend == BACKEND_CPU) {
    const char *from = row_array(w, value->operand[0], text, row);
    const char *number = arena_printf(w->arena, "%s[%" PRId64 " + j]", from, begin);
    w->after_loops = joined(w->arena, w->after_loops, arena_printf(w->arena, "for (int j = 0; j < %" PRId64 "; j++) %s[j] = %s;\n", width, to, rows_rounded(w->kernels, tile, number)));
    return;
  }
  const char *column = rows_offset(w, &whole->shape, rows_full_index(w, row));
  rows_write(w, LEVEL_ELEMENT, "if (%s >= %" PRId64 " && %s < %" PRId64 ") %s[%s - %" PRId64 "] = %s;", column, begin, column, begin + width, to, column, begin, rows_rounded(w->kernels, tile, text));
}

/* ---- loops ---- */

static void print_lines(FILE *out, const char *indent, const char *lines) {
  while (*lines) {
    const char *end = strchr(lines, '\n');
    if (strncmp(lines, APART, sizeof APART - 1) != 0) fprintf(out, "%s%.*s\n", indent, (int)(end - lines), lines);
    lines = end + 1;
  }
}

/* An element is stored where an operand of its own was read, if at all: the C compiler need not ask. */
static void print_independence(const RowWriter *w, FILE *out, const char *indent) {
  if (w->has_shared_places && !w->has_or) fprintf(out, "%sGNN_INDEPENDENT\n", indent);
}

/* gcc writes such a short loop out before it looks for vectors, and then no longer finds them where elements are selected. */
static void print_vector_hint(const RowWriter *w, FILE *out, const char *indent, int64_t size) {
  if (w->kernels->backend == BACKEND_CPU && size >= 4 && size <= 16 && size % 4 == 0) fprintf(out, "%sGNN_ROLLED\n", indent);
}

static void print_bit_loops(const RowWriter *w, FILE *out, const char *indent) {
  int64_t size = w->loop_size[0];
  const char *inner = arena_printf(w->arena, "%s  ", indent), *innermost = arena_printf(w->arena, "%s    ", indent);
  fprintf(out, "%sfor (int block = 0; block < %" PRId64 "; block++) {\n", indent, bit_words(size));
  print_lines(out, inner, w->bit_reads);
  for (int b = 0; b < w->bit_word_count; b++) fprintf(out, "%suint32_t %s = 0;\n", inner, w->bit_words[b].name);
  print_independence(w, out, inner);
  if (size % 32 == 0) fprintf(out, "%sfor (int t = 0; t < 32; t++) {\n", inner);
  else if (size < 32) fprintf(out, "%sfor (int t = 0; t < %" PRId64 "; t++) {\n", inner, size);
  else
    fprintf(out, "%sfor (int t = 0, last = block < %" PRId64 " ? 32 : %" PRId64 "; t < last; t++) {\n", inner, bit_words(size) - 1, size % 32);
  fprintf(out, "%sconst int j = 32 * block + t;\n", innermost);
  print_lines(out, innermost, w->text[LEVEL_ELEMENT]);
  fprintf(out, "%s}\n", inner);
  for (int b = 0; b < w->bit_word_count; b++) fprintf(out, "%s%s[block] = %s;\n", inner, w->bit_words[b].pointer, w->bit_words[b].name);
  fprintf(out, "%s}\n", indent);
}

/* 16 partial sums, added up in order at the end: the same bits however wide the vectors are. */
static void print_lane_loops(const RowWriter *w, FILE *out, const char *indent) {
  int64_t size = w->loop_size[0], whole = size / 16, rest = size % 16;
  const char *innermost = arena_printf(w->arena, "%s    ", indent);
  fprintf(out, "%sgnn_real lanes[16] = {0};\n", indent);
  fprintf(out, "%sfor (int block = 0; block < %" PRId64 "; block++)\n%s  for (int t = 0; t < 16; t++) {\n", indent, whole, indent);
  fprintf(out, "%sconst int j = 16 * block + t;\n", innermost);
  print_lines(out, innermost, w->text[LEVEL_ELEMENT]);
  fprintf(out, "%s  }\n", indent);
  if (rest) {
    fprintf(out, "%sfor (int t = 0; t < %" PRId64 "; t++) {\n%s  const int j = %" PRId64 " + t;\n", indent, rest, indent, 16 * whole);
    print_lines(out, arena_printf(w->arena, "%s  ", indent), w->text[LEVEL_ELEMENT]);
    fprintf(out, "%s}\n", indent);
  }
  fprintf(out, "%sfor (int t = 0; t < 16; t++) acc[0] += lanes[t];\n", indent);
}

/* ---- loops that are apart ---- */

/* The elements of a row are independent of each other, so a loop over them can be several, one after the other, which leave in arrays what the later ones
 * need: exponentials and draws of all heads are then computed in vectors, which a sum within the row or a loop over the numbers of a head would
 * keep them from. Bits are those of one loop. */
enum { PARTS_MOST = 16 };

typedef struct Apart {
  int count;
  const char *text[PARTS_MOST];
} Apart;

/* The places between parts, beyond which nothing is parted any more. */
static Apart parted(const RowWriter *w, const char *text, const char *rest) {
  Apart apart = {.count = 0};
  for (const char *end; *text && apart.count < PARTS_MOST - 2; text = end + sizeof APART) {
    end = strstr(text, APART "\n");
    if (!end) break;
    if (end > text) apart.text[apart.count++] = arena_printf(w->arena, "%.*s", (int)(end - text), text);
  }
  if (*text) apart.text[apart.count++] = text;
  if (rest) apart.text[apart.count++] = rest;
  return apart;
}

static bool is_of_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

bool rows_mention(const char *text, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
    if ((at == text || !is_of_name(at[-1])) && !is_of_name(at[length])) return true;
  return false;
}

/* "gnn_real", where the part declares the name. */
static const char *declared_in(const RowWriter *w, const char *part, const char *name) {
  static const char *const types[] = {"gnn_real", "uint32_t"};
  for (int t = 0; t < 2; t++)
    if (strstr(part, arena_printf(w->arena, "%s %s = ", types[t], name))) return types[t];
  return NULL;
}

/* What is declared in one part and mentioned in a later one. */
typedef struct Carried {
  const char *type, *name;
  int from, last;
} Carried;

static Carried *carried_between(const RowWriter *w, const Apart *apart, int *count) {
  Carried *carried = NULL;
  *count = 0;
  for (int i = 0; i < w->temporary_count; i++) {
    Carried one = {.name = w->temporaries[i].name, .from = NO_INDEX};
    for (int p = 0; p < apart->count; p++) {
      const char *type = one.from == NO_INDEX ? declared_in(w, apart->text[p], one.name) : NULL;
      if (type) one = (Carried){type, one.name, p, p};
      else if (one.from != NO_INDEX && rows_mention(apart->text[p], one.name)) one.last = p;
    }
    if (one.from != NO_INDEX && one.last > one.from) ARENA_PUSH(w->arena, carried, *count, one);
  }
  return carried;
}

static void open_loops(const RowWriter *w, FILE *out, const char *indent, int first, int end, bool is_innermost) {
  for (int d = first; d < end; d++) {
    const char *at = arena_printf(w->arena, "%s%*s", indent, 2 * (d - first), "");
    if (d == end - 1) print_independence(w, out, at);
    if (d == end - 1 && is_innermost) print_vector_hint(w, out, at, w->loop_size[d]);
    fprintf(out, "%sfor (int %s = 0; %s < %" PRId64 "; %s++)%s\n", at, loop_names[d], loop_names[d], w->loop_size[d], loop_names[d], d == end - 1 ? " {" : "");
  }
}

/* A sum within the row of 16 numbers and more, that is a part of its own: its name, else NULL. */
static const Carried *lanes_of_part(const RowWriter *w, const Carried *carried, int count, int p, const char *text, const char **sum) {
  for (int i = 0; i < count; i++) {
    *sum = arena_printf(w->arena, "const gnn_real %s = gnn_sum_lanes(%s_lanes);\n", carried[i].name, carried[i].name);
    const char *at = carried[i].from == p ? strstr(text, *sum) : NULL;
    if (at && at[strlen(*sum)] == 0) return &carried[i];
  }
  return NULL;
}

/* All but the last part are loops over `depth` dimensions; so is the last, with loops over the others in it. Lanes of all sums of a part are added up together. */
static void print_apart(const RowWriter *w, FILE *out, const char *indent, const Apart *apart, int depth) {
  int count;
  int64_t size = 1;
  const Carried *carried = carried_between(w, apart, &count);
  const char *at = "0";
  for (int d = 0; d < depth; d++) {
    at = d == 0 ? loop_names[0] : arena_printf(w->arena, "(%s) * %" PRId64 " + %s", at, w->loop_size[d], loop_names[d]);
    size *= w->loop_size[d];
  }
  for (int i = 0; i < count; i++) fprintf(out, "%s%s %s_each[%" PRId64 "];\n", indent, carried[i].type, carried[i].name, size);
  const char *inner = arena_printf(w->arena, "%s%*s", indent, 2 * depth, ""), *innermost = arena_printf(w->arena, "%s%*s", indent, 2 * w->loop_count, "");
  for (int p = 0; p < apart->count; p++) {
    const bool is_nest = depth < w->loop_count && p == apart->count - 1;
    const char *text = apart->text[p], *sum;
    const Carried *of_lanes = lanes_of_part(w, carried, count, p, text, &sum);
    if (of_lanes) {
      text = arena_printf(w->arena, "%.*sGNN_ROLLED for (int t = 0; t < 16; t++) %s_all[(%s) * 16 + t] = %s_lanes[t];\n", (int)(strlen(text) - strlen(sum)), text, of_lanes->name, at, of_lanes->name);
      fprintf(out, "%s_Alignas(64) gnn_real %s_all[%" PRId64 "];\n", indent, of_lanes->name, 16 * size);
    }
    open_loops(w, out, indent, 0, depth, !is_nest && !strstr(text, "for ("));
    for (int i = 0; i < count; i++)
      if (carried[i].from < p && rows_mention(text, carried[i].name)) fprintf(out, "%sconst %s %s = %s_each[%s];\n", inner, carried[i].type, carried[i].name, carried[i].name, at);
    if (is_nest) open_loops(w, out, inner, depth, w->loop_count, true);
    print_lines(out, is_nest ? innermost : inner, text);
    if (is_nest) fprintf(out, "%s%*s}\n", inner, 2 * (w->loop_count - depth - 1), "");
    for (int i = 0; i < count; i++)
      if (carried[i].from == p && &carried[i] != of_lanes) fprintf(out, "%s%s_each[%s] = %s;\n", inner, carried[i].name, at, carried[i].name);
    fprintf(out, "%s%*s}\n", indent, 2 * (depth - 1), "");
    if (of_lanes) fprintf(out, "%sgnn_sum_lanes_each(%s_all, %" PRId64 ", %s_each);\n", indent, of_lanes->name, size, of_lanes->name);
  }
}

static void print_loops(const RowWriter *w, FILE *out, const char *indent) {
  if (w->loop_count == 0) {
    print_lines(out, indent, w->text[LEVEL_ELEMENT]);
    return;
  }
  if (w->has_lanes) {
    print_lane_loops(w, out, indent);
    return;
  }
  if (w->has_bits) {
    print_bit_loops(w, out, indent);
    return;
  }
  const int last = w->loop_count - 1;
  const bool has_outer = *w->text[LEVEL_OUTER];
  const Level level = has_outer ? LEVEL_OUTER : LEVEL_ELEMENT;
  const Apart apart = parted(w, w->text[level], has_outer ? w->text[LEVEL_ELEMENT] : NULL);
  if (w->kernels->backend == BACKEND_CPU && w->has_long[level] && apart.count > 1 && !w->has_or) {
    print_apart(w, out, indent, &apart, has_outer ? last : w->loop_count);
    return;
  }
  for (int d = 0; d <= last; d++) {
    const char *at = arena_printf(w->arena, "%s%*s", indent, 2 * d, "");
    if (d == last) print_lines(out, at, w->text[LEVEL_OUTER]);
    if (d == last) {
      print_independence(w, out, at);
      print_vector_hint(w, out, at, w->loop_size[d]);
    }
    fprintf(out, "%sfor (int %s = 0; %s < %" PRId64 "; %s++)%s\n", at, loop_names[d], loop_names[d], w->loop_size[d], loop_names[d],
            d == last || (has_outer && d == last - 1) ? " {" : "");
  }
  print_lines(out, arena_printf(w->arena, "%s%*s", indent, 2 * w->loop_count, ""), w->text[LEVEL_ELEMENT]);
  fprintf(out, "%s%*s}\n", indent, 2 * last, "");
  if (has_outer) fprintf(out, "%s%*s}\n", indent, 2 * (last - 1), "");
}

void rows_print_loops(const RowWriter *w, FILE *out, const char *indent) {
  print_loops(w, out, indent);
  print_lines(out, indent, w->after_loops);
}

char *rows_loops_text(const RowWriter *w, const char *indent) {
  char *text;
  size_t size;
  FILE *memory = arena_open_text(w->arena, &text, &size);
  rows_print_loops(w, memory, indent);
  fclose(memory);
  return text;
}
