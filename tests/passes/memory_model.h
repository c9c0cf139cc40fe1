/* memory_model.h: a machine on which a schedule is played, for tests of the verifiers.
 *
 * Every tier is a row of cells. A cell knows which part of which value it holds, the event that wrote it and the last event of
 * each lane that read it. An event is a kernel, a wait or a copy, or the reading of the scores after the last step. Its past are
 * the events that are over before it begins, however fast or slow each lane is: the one before it on its lane and that one's
 * past; for a copy also what compute had come to when it was queued and the copies it is `after`; for a wait its copy. A cell that does
 * not hold what is read, or whose writer (and, where it is written, readers) are not past, is a fault. Without one, what the
 * steps compute is what the graph says. */
#ifndef GNNCC_TEST_MEMORY_MODEL_H
#define GNNCC_TEST_MEMORY_MODEL_H

#include "compiler/plan/plan.h"

enum { CELL_BYTES = 64, EPOCHS = 2, NOTHING_PAST = 0 /* the event before all others */ };

typedef enum Row { ROW_DEVICE, ROW_HOST, ROW_SSD, ROW_RING_OUT, ROW_RING_IN, ROW_COUNT } Row;

typedef struct Cell {
  const void *holds; /* a value of a graph, or a block that is no value */
  int part;          /* which of its cells */
  int piece;         /* of a value that is cut; of sums, the last part that was added */
  int epoch;         /* that made it; what always stays is of none */
  int written, read[LANE_COUNT];
} Cell;

typedef struct Play {
  Arena *scratch;
  const Schedule *s;
  const Layout *y;
  Cell *cells[ROW_COUNT];
  int64_t cell_count[ROW_COUNT];
  uint64_t *past; /* per event a bit for each */
  int words, event, lane, step, epoch; /* of `past`; what happens now */
  int newest[LANE_COUNT], *made; /* events: the last of each lane, of each copy */
  const char *wrong;
} Play;

static void complain(Play *p, const char *what, const char *name) {
  if (!p->wrong) p->wrong = arena_printf(p->scratch, "epoch %d, step %d: %s %s", p->epoch, p->step + 1, name, what);
}

/* ---- events ---- */

static bool is_past(const Play *p, int event) {
  const uint64_t *mine = p->past + (size_t)p->event * (size_t)p->words;
  return event == NOTHING_PAST || event == p->event || (mine[event / 64] >> event % 64 & 1);
}

static void put_behind(Play *p, int event) {
  uint64_t *mine = p->past + (size_t)p->event * (size_t)p->words, *its = p->past + (size_t)event * (size_t)p->words;
  for (int word = 0; word < p->words; word++) mine[word] |= its[word];
  mine[event / 64] |= UINT64_C(1) << event % 64;
}

static void begin_event(Play *p, Lane lane, int number) {
  p->lane = (int)lane;
  p->event = number;
  put_behind(p, p->newest[lane]);
  p->newest[lane] = number;
}

/* ---- cells ---- */

static Cell *cell_at(const Play *p, Row row, int64_t index) { return index >= 0 && index < p->cell_count[row] ? &p->cells[row][index] : NULL; }

static int64_t cells_in(int64_t bytes) { return round_up(bytes, CELL_BYTES) / CELL_BYTES; }

static void fill(Play *p, Cell *cell, const Cell *content, const char *name) {
  if (!cell) {
    complain(p, "has no place", name);
    return;
  }
  bool is_free = is_past(p, cell->written);
  for (int lane = 0; lane < LANE_COUNT; lane++) is_free = is_free && is_past(p, cell->read[lane]);
  if (!is_free) complain(p, "is written while something else uses its place", name);
  *cell = *content;
  cell->written = p->event;
}

static void look(Play *p, Cell *cell, const Cell *wanted, const char *name) {
  if (!cell || cell->holds != wanted->holds || cell->part != wanted->part || cell->piece != wanted->piece || cell->epoch != wanted->epoch) complain(p, "is not where it is read", name);
  else if (!is_past(p, cell->written)) complain(p, "is read while it is written", name);
  else cell->read[p->lane] = p->event;
}

/* Given data that stay on the host; NULL: the value is none. */
static const void *data_away(const Play *p, const Kernels *kernels, ValueId id) {
  const int away = resident_away(p->y->residents, kernels->graph, id);
  return away == NO_INDEX || away == p->y->residents->scores_away ? NULL : &p->y->residents->away[away];
}

/* A weight that epochs change, or a state of one, by rows of nodes; an evaluation finds them as the epoch before it left them. */
static bool is_updated(const Kernels *kernels, ValueId id) {
  const Value *value = &kernels->graph->values[kernels->storage[id]];
  return (value->op == OP_PARAM || value->op == OP_STATE) && value->shape.domain == DOMAIN_NODE;
}

/* What the first cell of a value holds. */
static Cell first_cell(const Play *p, const Kernels *kernels, ValueId id) {
  const void *away = data_away(p, kernels, kernels->storage[id]);
  if (away) return (Cell){.holds = away, .epoch = is_updated(kernels, id) ? p->epoch - kernels->graph->is_training : 0};
  const Block *stays = resident_of_value(p->y->residents, kernels->graph, kernels->storage[id]);
  return stays ? (Cell){.holds = stays} : (Cell){.holds = &kernels->graph->values[kernels->storage[id]], .epoch = p->epoch};
}

typedef void (*CellUse)(Play *, Cell *, const Cell *, const char *);

static void use_block(Play *p, CellUse use, const Block *block, Cell content, const char *name) {
  if (!block || block->bytes <= 0) complain(p, "has no block", name);
  for (int64_t k = 0, count = p->wrong ? 0 : cells_in(block->bytes); k < count && !p->wrong; k++, content.part++)
    use(p, cell_at(p, ROW_DEVICE, block->offset < 0 ? -1 : block->offset / CELL_BYTES + k), &content, name);
}

/* Of a value that is cut, the piece of the step's part. */
static void use_value(Play *p, CellUse use, const Kernels *kernels, ValueId id, int part) {
  const Block *block = layout_at(p->y, kernels, id, part, p->step);
  Cell content = first_cell(p, kernels, id);
  if (block && block->value != NO_VALUE) content.piece = block->part;
  use_block(p, use, block, content, kernels->graph->values[id].name);
}

static void use_residents(Play *p, CellUse use) {
  const Block *stays = p->y->residents->blocks, *here = p->y->blocks;
  for (int i = 0; i < p->y->resident_count && !p->wrong; i++)
    if (stays[i].first != BEFORE_STEPS) use_block(p, use, &here[i], (Cell){.holds = &stays[i]}, stays[i].name);
}

/* ---- steps ---- */

/* A part adds to what the one before it has left. */
static void play_sums(Play *p, const Step *step) {
  const Block *sums = layout_of_sums(p->y, p->s, p->step);
  if (sums && step->part > 1) use_block(p, look, sums, (Cell){.holds = sums, .piece = step->part - 1, .epoch = p->epoch}, sums->name);
  if (sums) use_block(p, fill, sums, (Cell){.holds = sums, .piece = step->part, .epoch = p->epoch}, sums->name);
}

/* The input in whose place output i lies, as it may; NO_VALUE: it lies elsewhere. */
static ValueId taken_by(const Play *p, const Step *step, const Kernel *k, int i) {
  const Block *made = layout_at(p->y, step->kernels, k->outputs[i], step->part, p->step);
  const Block *under = k->over[i] == NO_VALUE ? NULL : layout_at(p->y, step->kernels, k->over[i], step->part, p->step);
  return made && under && made->offset == under->offset && made->bytes == under->bytes ? k->over[i] : NO_VALUE;
}

static bool is_taken(const Play *p, const Step *step, const Kernel *k, ValueId input) {
  for (int i = 0; i < k->output_count; i++)
    if (taken_by(p, step, k, i) == input) return true;
  return false;
}

/* In place. */
static void play_update(Play *p, const Kernels *kernels, ValueId id, int part) {
  const Block *block = layout_at(p->y, kernels, id, part, p->step);
  Cell content = first_cell(p, kernels, id);
  if (block && block->value != NO_VALUE) content.piece = block->part;
  content.epoch++;
  use_block(p, fill, block, content, kernels->graph->values[id].name);
}

/* The inputs are looked at last: they have to be there still when the kernel has written; but first those in whose places it writes. What is
 * not cut counts as written when the last part has been. */
static void play_kernel(Play *p, const Step *step) {
  const Kernels *kernels = step->kernels;
  if (step->kernel == NO_INDEX) {
    complain(p, "is missing", "a kernel");
    return;
  }
  const Kernel *k = &kernels->kernels[step->kernel];
  for (const Block *b = p->y->blocks; b < p->y->blocks + p->y->count; b++)
    if (b->kind == BLOCK_SCRATCH && b->value == NO_VALUE && !b->is_sums && b->first == p->step) use_block(p, fill, b, (Cell){.holds = b}, b->name);
  play_sums(p, step);
  for (int i = 0; i < k->output_count; i++) {
    ValueId under = taken_by(p, step, k, i);
    if (under == NO_VALUE) continue;
    use_value(p, look, kernels, under, step->part);
  }
  for (int i = 0; i < k->output_count; i++)
    if (step->part == step->parts->count || step->part == 0 || step->parts->is_cut[k->outputs[i]]) use_value(p, fill, kernels, k->outputs[i], step->part);
  for (int i = 0; i < k->input_count; i++) {
    const Value *input = &kernels->graph->values[kernels->storage[k->inputs[i]]];
    bool is_nowhere = op_info[input->op].kind == OP_KIND_LEAF && !resident_of_value(p->y->residents, kernels->graph, kernels->storage[k->inputs[i]]) &&
                      !data_away(p, kernels, kernels->storage[k->inputs[i]]);
    if (is_nowhere || is_taken(p, step, k, k->inputs[i])) continue;
    for (int n = 0, piece; (piece = parts_piece_read(step->parts, k, k->inputs[i], step->part, n)) != NO_INDEX; n++) use_value(p, look, kernels, k->inputs[i], piece);
  }
  for (int i = 0; k->kind == KERNEL_UPDATE && i < k->input_count; i++)
    if (is_updated(kernels, k->inputs[i])) play_update(p, kernels, k->inputs[i], step->part);
}

static Cell *cell_of_slot(const Play *p, int slot, int64_t k) {
  Row row = p->s->slots[slot].tier == TIER_SSD ? ROW_SSD : ROW_HOST;
  int e = p->y->slot_extent[slot];
  for (; e < p->y->slot_extent[slot + 1] && k >= p->y->extents[e].bytes / CELL_BYTES; e++) k -= p->y->extents[e].bytes / CELL_BYTES;
  return e < p->y->slot_extent[slot + 1] ? cell_at(p, row, p->y->extents[e].at / CELL_BYTES + k) : NULL;
}

/* Data are at home on the host before the first step. */
static void fill_homes(Play *p) {
  for (int h = 0; h < p->s->slot_count; h++) {
    const Slot *slot = &p->s->slots[h];
    Cell content = {.holds = slot->is_home ? data_away(p, slot->kernels, slot->value) : NULL, .piece = slot->part};
    for (; content.holds && content.part < cells_in(slot->bytes) && !p->wrong; content.part++) fill(p, cell_of_slot(p, h, content.part), &content, "what is at home");
  }
}

/* Where they are to end on the host. */
static void look_at_scores(Play *p, const Kernels *evaluation) {
  const Parts *parts = p->s->evaluation_plan->problem->parts;
  const ValueId scores = evaluation->graph->scores;
  int64_t bytes = 0;
  for (int h = 0; h < p->s->slot_count; h++) {
    const Slot *slot = &p->s->slots[h];
    if (slot->kernels != evaluation || slot->value != scores) continue;
    Cell content = first_cell(p, evaluation, scores);
    content.piece = slot->part;
    bytes += slot->bytes;
    for (; content.part < cells_in(slot->bytes) && !p->wrong; content.part++) look(p, cell_of_slot(p, h, content.part), &content, "scores");
  }
  if (bytes != parts_bytes(parts, scores, 0)) complain(p, "are not all there", "scores");
}

/* The k-th cell on a copy's side: towards the device, or away from it. A copy by the ring has the ring on one of them. */
static Cell *cell_of_side(const Play *p, int copy, const Block *block, bool is_near, int64_t k) {
  const Copy *c = &p->s->copies[copy];
  bool is_hop = c->lane == LANE_SSD_WRITE || c->lane == LANE_SSD_READ;
  int64_t round = p->y->ring_bytes / CELL_BYTES;
  if (c->is_by_ring && is_near == is_hop) return round ? cell_at(p, c->is_out ? ROW_RING_OUT : ROW_RING_IN, (p->y->ring_at[copy] / CELL_BYTES + k) % round) : NULL;
  if (!is_near) return cell_of_slot(p, c->slot, k);
  return block && k < cells_in(block->bytes) ? cell_at(p, ROW_DEVICE, block->offset / CELL_BYTES + k) : NULL;
}

static void play_copy(Play *p, int copy) {
  const Copy *c = &p->s->copies[copy];
  put_behind(p, p->newest[LANE_COMPUTE]);
  for (const int *before = c->after; before < c->after + 2; before++)
    if (*before != NO_INDEX) put_behind(p, p->made[*before]);
  p->made[copy] = p->event;
  Cell content = first_cell(p, c->kernels, c->value);
  content.piece = c->part;
  content.epoch += c->is_out && is_updated(c->kernels, c->value);
  const char *name = c->kernels->graph->values[c->value].name;
  const Block *block = copy_touches_device(c) ? layout_of_copy(p->y, p->s, c) : NULL;
  for (; content.part < cells_in(c->bytes) && !p->wrong; content.part++) {
    look(p, cell_of_side(p, copy, block, c->is_out, content.part), &content, name);
    fill(p, cell_of_side(p, copy, block, !c->is_out, content.part), &content, name);
  }
}

static void play_step(Play *p, const Step *step, int number) {
  begin_event(p, step->kind == STEP_COPY ? p->s->copies[step->copy].lane : LANE_COMPUTE, number);
  if (step->kind == STEP_COPY) play_copy(p, step->copy);
  if (step->kind == STEP_WAIT) put_behind(p, p->made[step->copy]);
  if (step->kind == STEP_KERNEL) play_kernel(p, step);
}

/* A training epoch, an evaluation, and both again. NULL, or what goes wrong. */
static const char *memory_judge(Arena *arena, const Schedule *schedule, const Layout *layout) {
  Play p = {.scratch = arena, .s = schedule, .y = layout, .lane = LANE_COMPUTE};
  const int64_t sizes[] = {layout->bytes, layout->host_bytes, layout->ssd_bytes, layout->ring_bytes, layout->ring_bytes};
  const Kernels *evaluation = schedule->evaluation_plan->problem->kernels;
  int events = EPOCHS * (schedule->count + 1) + 1;
  for (int row = 0; row < ROW_COUNT; row++) {
    p.cell_count[row] = sizes[row] / CELL_BYTES;
    p.cells[row] = arena_alloc(arena, (size_t)(p.cell_count[row] + 1) * sizeof(Cell));
  }
  p.words = events / 64 + 1;
  p.past = arena_alloc(arena, (size_t)events * (size_t)p.words * sizeof *p.past);
  p.made = arena_alloc(arena, (size_t)(schedule->copy_count + 1) * sizeof *p.made);
  use_residents(&p, fill);
  fill_homes(&p);
  for (int number = 1; number < events && !p.wrong; number++) {
    p.step = (number - 1) % (schedule->count + 1);
    p.epoch = 1 + (number - 1) / (schedule->count + 1);
    if (p.step < schedule->count) {
      play_step(&p, &schedule->steps[p.step], number);
      continue;
    }
    p.step--; /* the metrics read the scores as the last step left them */
    begin_event(&p, LANE_COMPUTE, number);
    if (resident_away(layout->residents, evaluation->graph, evaluation->graph->scores) == NO_INDEX) use_value(&p, look, evaluation, evaluation->graph->scores, 0);
    else look_at_scores(&p, evaluation);
  }
  use_residents(&p, look);
  return p.wrong;
}

#endif
