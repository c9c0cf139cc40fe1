/* Every verifier must accept what the passes make and reject each way of breaking it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/driver/driver.h"
#include "made.h"
#include "memory_model.h"

static const char small_model[] =
    "data karate from karate()\n"
    "layer Norm(x : node[f]) {\n  d = x - mean(x, axis = f)\n  return d * rsqrt(mean(d * d, axis = f) + 0.001)\n}\n"
    "model net on karate {\n"
    "  h = x |> dropout(0.5) |> GCN(16) as conv1 |> Norm() as norm |> relu\n"
    "  m = sum(relu(src.h + dst.h))\n"
    "  return (h + m) |> dropout(0.5) |> GCN(y.classes) as conv2\n}\n"
    "train net {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n  metric = accuracy\n}\n";

/* Values of 256 KiB: large enough for the SSD. */
static const char deep_model[] =
    "data g from synth(kind = \"rmat\", nodes = 2000, degree = 6, features = 32, classes = 8, seed = 1)\n"
    "model deep on g {\n"
    "  h1 = x |> SAGE(32) |> relu |> dropout(0.3)\n"
    "  h2 = h1 |> SAGE(32) |> tanh |> dropout(0.3)\n"
    "  h3 = (h2 + h1) |> SAGE(32) |> sigmoid |> dropout(0.3)\n"
    "  h4 = (h3 + h1) |> SAGE(32) |> tanh |> dropout(0.3)\n"
    "  return h4 |> SAGE(y.classes)\n}\n"
    "train deep {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n}\n";

/* Pieces of 128 KiB, and values that are not cut where a sum over edges wants all rows of them. */
static const char parts_model[] =
    "data g from synth(kind = \"rmat\", nodes = 8192, degree = 2, features = 8, classes = 4, seed = 1)\n"
    "model parts on g {\n"
    "  h1 = x |> Linear(16) |> relu |> dropout(0.3)\n"
    "  h2 = h1 |> Linear(16) |> tanh\n"
    "  h3 = h2 |> GCN(16) |> relu\n"
    "  h4 = (h3 + h1) |> Linear(16) |> tanh\n"
    "  return h4 |> Linear(y.classes)\n}\n"
    "train parts {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n}\n";

/* Sums over neighbours that gather from tables, which are whole, and by slices of 16 columns. */
static const char tables_model[] =
    "data g from synth(kind = \"rmat\", nodes = 8192, degree = 3, features = 32, classes = 4, seed = 1)\n"
    "model tables on g {\n"
    "  h1 = x |> GCN(32) |> relu |> dropout(0.3)\n"
    "  h2 = h1 |> SAGE(32) |> relu\n"
    "  h3 = (h2 + h1) |> GCN(32) |> relu\n"
    "  return h3 |> GCN(y.classes)\n}\n"
    "train tables {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n}\n";

/* What is learned of each node, and what the optimiser keeps of it, comes by parts and goes back. */
static const char learned_model[] =
    "data g from synth(kind = \"rmat\", nodes = 8192, degree = 3, features = 8, classes = 4, seed = 1) {\n  node y : class[4]\n  node e : learned[16]\n}\n"
    "model learned on g {\n"
    "  h1 = (e + LightGCN(e)) |> Linear(16) |> relu\n"
    "  return h1 |> GCN(y.classes)\n}\n"
    "train learned {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n}\n";

/* What a model is and how it is cut. */
typedef struct Case {
  const char *name, *model;
  int parts, slices; /* slices 0: the graph is not cut */
  Tier home; /* of the features, or of learned values */
  bool is_learned;
  int64_t cached_bytes; /* of the host, where there is one */
} Case;

static const Case whole = {"", deep_model, 1, 0, TIER_DEVICE, false, 0}, parts = {"by parts, ", parts_model, 4, 0, TIER_DEVICE, false, 0}, tables = {"by parts with tables, ", tables_model, 4, 1, TIER_DEVICE, false, 0},
                  slices = {"by slices, ", tables_model, 4, 2, TIER_DEVICE, false, 0}, away = {"by slices, features on the host, ", tables_model, 4, 2, TIER_HOST, false, 0},
                  away_ssd = {"by slices, features on the SSD, ", tables_model, 4, 2, TIER_SSD, false, 0},
                  learned = {"by parts, learned values on the host, ", learned_model, 4, 1, TIER_HOST, true, 0}, learned_ssd = {"by parts, learned values on the SSD, ", learned_model, 4, 1, TIER_SSD, true, 0},
                  away_cached = {"by slices, features on host and SSD, ", tables_model, 4, 2, TIER_SSD, false, 140 << 10}, learned_cached = {"by parts, learned values on host and SSD, ", learned_model, 4, 1, TIER_SSD, true, 100 << 10};

static int test_count, failures;

static void ok(bool is_right, const char *name, const char *detail) {
  printf("%sok %d - %s%s%s\n", is_right ? "" : "not ", ++test_count, name, detail ? ": " : "", detail ? detail : "");
  failures += !is_right;
}

static Made make_small(void) {
  Made m = make_kernels(small_model, 1);
  make_plan(&m);
  return m;
}

typedef enum Road { ROAD_RECOMPUTE, ROAD_HOST, ROAD_DIRECT, ROAD_RING, ROAD_SLOW, ROAD_COUNT } Road;

static const char *const road_names[ROAD_COUNT] = {"recompute", "host", "ssd", "host and ssd", "slow ssd"};

/* A device of `percent` of the way from the least to all. Fast links make copies pay, slow ones re-runs beside them. */
static Made make_tight(const Case *of, Road road, int percent) {
  const bool is_learned[] = {true, false, false, false, false, false}; /* e */
  const bool is_away[] = {true, false}; /* x; y stays, and the graph, of which parts begin within a cell of the model */
  const CutOptions cut = {.slices = of->slices, .is_away = of->home != TIER_DEVICE && !of->is_learned ? is_away : NULL, .is_learned = of->is_learned ? is_learned : NULL};
  Made m = make_cut_kernels(of->model, of->parts, of->slices ? &cut : NULL, of->home, of->home == TIER_SSD && road == ROAD_RING ? TIER_HOST : of->home);
  if (of->cached_bytes > 0) residents_cache(m.arena, m.residents, (CachedData){of->cached_bytes, true, true, true});
  m.machine.tier_bytes[TIER_DEVICE] = INT64_C(1) << 40;
  int64_t all = plan_of(&m, m.kernels, POLICY_KEEP)->report.peak_bytes;
  for (int c = 0; c < LANE_COUNT; c++) m.machine.links[c] = (Link){road == ROAD_SLOW ? 1e9 : 30e9, 1e-6};
  m.machine.is_ssd_direct = road == ROAD_DIRECT || road == ROAD_SLOW;
  m.machine.tier_bytes[TIER_HOST] = road == ROAD_HOST ? 64 << 20 : road == ROAD_RING ? (of->parts > 1 ? 300 : 1332) << 10 : 0; /* with what passes it: rings and buffers */
  m.machine.tier_bytes[TIER_SSD] = road == ROAD_RECOMPUTE || road == ROAD_HOST ? 0 : 64 << 20;
  m.machine.tier_bytes[TIER_DEVICE] = m.residents->bytes + 1;
  int64_t least = plan_of(&m, m.kernels, -1)->report.least_device_bytes, evaluation = plan_of(&m, m.evaluation_kernels, -1)->report.least_device_bytes;
  if (evaluation > least) least = evaluation;
  m.machine.tier_bytes[TIER_DEVICE] = least + (all - least) * percent / 100;
  make_plan(&m);
  return m;
}

static const char *fault_of(const Made *m) {
  const char *what = verify_graph(m->training);
  if (!what) what = verify_kernels(m->kernels);
  if (!what) what = verify_plan(m->plan);
  if (!what) what = verify_schedule(m->schedule);
  return what ? what : verify_layout(m->layout, m->schedule);
}

/* ---- ways of breaking graph, kernels and plan ---- */

static ValueId find(const Graph *graph, Op op) {
  for (int i = 0; i < graph->value_count; i++)
    if (graph->values[i].op == op) return i;
  return 0;
}

static void forward_operand(Made *m) { m->training->values[find(m->training, OP_MATMUL)].operand[0] = m->training->value_count - 1; }
static void wrong_depth(Made *m) { m->training->values[find(m->training, OP_MATMUL)].as.product.depth++; }
static void wrong_shape(Made *m) { m->training->values[find(m->training, OP_MAP)].shape.rank = 0, m->training->values[find(m->training, OP_MAP)].shape.domain = DOMAIN_EDGE; }
static void wrong_domain(Made *m) { m->training->values[find(m->training, OP_GATHER)].shape.domain = DOMAIN_EDGE; }
static void wrong_element(Made *m) { m->training->values[find(m->training, OP_POSITIVE)].shape.element = ELEMENT_REAL; }
static void wrong_map(Made *m) {
  int *map = m->training->values[find(m->training, OP_REDUCE)].as.map;
  map[0] = map[0] == 0 ? 3 : 0;
}
static void no_loss(Made *m) { m->training->loss = NO_VALUE; }

static void kernels_swapped(Made *m) {
  Kernel first = m->kernels->kernels[0];
  m->kernels->kernels[0] = m->kernels->kernels[1];
  m->kernels->kernels[1] = first;
}
static void input_not_stored(Made *m) {
  for (int k = 0; k < m->kernels->kernel_count; k++)
    for (int i = 0; i < m->kernels->kernels[k].input_count; i++) {
      ValueId id = m->kernels->kernels[k].inputs[i];
      if (m->kernels->made_by[id] != NO_INDEX) m->kernels->is_stored[id] = false;
    }
}
static void body_elsewhere(Made *m) {
  for (int k = 1; k < m->kernels->kernel_count; k++)
    if (m->kernels->kernels[k].body_count) m->kernels->made_by[m->kernels->kernels[k].body[0]] = 0;
}

static bool is_read_after(const Kernels *kernels, int index, ValueId id) {
  for (int k = index + 1; k < kernels->kernel_count; k++)
    for (int i = 0; i < kernels->kernels[k].input_count; i++)
      if (kernels->kernels[k].inputs[i] == id) return true;
  return false;
}

/* A result over an operand as large: one that the anchor reads, or one that is read later too. */
static void place_over(Made *m, bool is_of_anchor) {
  for (int k = 0; k < m->kernels->kernel_count; k++) {
    Kernel *kernel = &m->kernels->kernels[k];
    const Value *anchor = &m->training->values[kernel->anchor];
    for (int i = 0; i < kernel->input_count && kernel->output_count; i++) {
      ValueId under = kernel->inputs[i];
      bool is_anchors = kernel->kind == KERNEL_SPMM && m->training->values[anchor->operand[0]].operand[0] == under && !is_read_after(m->kernels, k, under);
      bool is_later = kernel->kind == KERNEL_MAP && is_read_after(m->kernels, k, under);
      if (m->kernels->made_by[under] == NO_INDEX || !(is_of_anchor ? is_anchors : is_later)) continue;
      if (kernels_bytes(m->kernels, under) == kernels_bytes(m->kernels, kernel->outputs[0])) kernel->over[0] = under;
    }
  }
}
static void place_of_the_anchor(Made *m) { place_over(m, true); }
static void place_read_later(Made *m) { place_over(m, false); }

static ValueId *first_datum(Made *m) {
  for (int i = 0;; i++)
    if (m->plan->problem->value_of_datum[i] != NO_VALUE) return &m->plan->problem->value_of_datum[i];
}
static void value_missing(Made *m) { *first_datum(m) = NO_VALUE; }
static void value_twice(Made *m) { first_datum(m)[0] = first_datum(m)[1]; }
static void plan_rejected(Made *m) { m->plan->is_valid = false; }

static void step_number(Made *m) { m->schedule->steps[2].number = 7; }
static void steps_swapped(Made *m) {
  int32_t kernel = m->schedule->steps[0].kernel;
  m->schedule->steps[0].kernel = m->schedule->steps[3].kernel;
  m->schedule->steps[3].kernel = kernel;
}

static void offset_negative(Made *m) { m->layout->blocks[0].offset = -64; }
static void offset_unaligned(Made *m) { m->layout->blocks[1].offset += 4; }
static void beyond_the_arena(Made *m) { m->layout->bytes -= 64; }
static void overlap(Made *m) { m->layout->blocks[m->layout->resident_count].offset = m->layout->blocks[0].offset; }
static void dies_early(Made *m) {
  Block *longest = &m->layout->blocks[m->layout->resident_count];
  for (int i = m->layout->resident_count; i < m->layout->count; i++)
    if (m->layout->blocks[i].value != NO_VALUE && m->layout->blocks[i].last - m->layout->blocks[i].first > longest->last - longest->first)
      longest = &m->layout->blocks[i];
  longest->last = longest->first;
}

static void test_small(void) {
  static const struct {
    const char *what;
    void (*break_it)(Made *);
  } cases[] = {{"an operand that comes later", forward_operand}, {"a product of other depth", wrong_depth}, {"a map of other shape", wrong_shape},
               {"a gather that stays on edges", wrong_domain}, {"bits that are numbers", wrong_element}, {"a reduction to the wrong dimension", wrong_map},
               {"training without a loss", no_loss}, {"kernels out of order", kernels_swapped}, {"a value read but not stored", input_not_stored},
               {"a body that another kernel makes", body_elsewhere}, {"a result over what its anchor reads", place_of_the_anchor}, {"a result over what is read later", place_read_later}, {"a value that is not planned", value_missing}, {"a value planned twice", value_twice},
               {"a plan that the checker rejects", plan_rejected}, {"a step with another number", step_number}, {"steps out of order", steps_swapped},
               {"a negative offset", offset_negative}, {"an unaligned offset", offset_unaligned},
               {"a block beyond the arena", beyond_the_arena}, {"two blocks in one place", overlap}, {"a value that dies before its use", dies_early}};
  Made good = make_small();
  const char *what = fault_of(&good);
  ok(!what, "what the passes make is accepted", what);
  arena_free(good.arena);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Made made = make_small();
    cases[i].break_it(&made);
    what = fault_of(&made);
    ok(what, arena_printf(made.arena, "%s is rejected", cases[i].what), what);
    arena_free(made.arena);
  }
}

/* Rows of three heads, 21 numbers each: 63, which a GPU would pad to 64. */
static void test_parts_of_rows(void) {
  static const char model[] =
      "layer Heads(x : node[f], out, heads) {\n  param W : [f, heads, out] = glorot\n  param V : [out, out] = glorot\n  return flatten((x @ W) @ V)\n}\n"
      "data g from synth(kind = \"rmat\", nodes = 100, degree = 3, features = 47, classes = 4, seed = 1)\n"
      "model parts on g { return x |> Heads(21, heads = 3) |> Linear(y.classes) }\n"
      "train parts { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 1 }\n";
  Made m = make_kernels(model, 1);
  FuseOptions options = {.is_fusing = true, .backend = BACKEND_CUDA, .is_padding = rows_are_padded(m.training, m.evaluation, BACKEND_CUDA)};
  const char *what = verify_kernels(fuse(m.training, sparse_fields(m.training), &options));
  ok(!options.is_padding && !what, "a product of parts of rows: no row is padded", what);
  options.is_padding = true;
  what = verify_kernels(fuse(m.training, sparse_fields(m.training), &options));
  ok(what, "a product of parts of padded rows is rejected", what);
  arena_free(m.arena);
}

/* ---- a schedule and its layout, changed as a faulty pass might have made them ---- */

/* A copy that can be changed; the rest is shared with the one it was made from. */
typedef struct Draft {
  Arena *arena;
  Schedule s;
  Layout y;
} Draft;

static void *duplicate(Arena *arena, const void *items, int count, size_t bytes) {
  void *copy = arena_alloc(arena, (size_t)(count + 1) * bytes);
  if (count) memcpy(copy, items, (size_t)count * bytes);
  return copy;
}

static Draft draft_of(const Made *m) {
  Draft d = {.arena = arena_new(), .s = *m->schedule, .y = *m->layout};
  d.s.steps = duplicate(d.arena, d.s.steps, d.s.count, sizeof *d.s.steps);
  d.s.copies = duplicate(d.arena, d.s.copies, d.s.copy_count, sizeof *d.s.copies);
  d.s.slots = duplicate(d.arena, d.s.slots, d.s.slot_count, sizeof *d.s.slots);
  d.s.kernel_step = duplicate(d.arena, d.s.kernel_step, d.s.boundary_count, sizeof *d.s.kernel_step);
  d.y.blocks = duplicate(d.arena, d.y.blocks, d.y.count, sizeof *d.y.blocks);
  d.y.extents = duplicate(d.arena, d.y.extents, d.y.extent_count, sizeof *d.y.extents);
  d.y.slot_extent = duplicate(d.arena, d.y.slot_extent, d.s.slot_count + 1, sizeof *d.y.slot_extent);
  d.y.ring_at = duplicate(d.arena, d.y.ring_at, d.s.copy_count, sizeof *d.y.ring_at);
  return d;
}

/* Every index of a step is told where its step is now. */
static void renumber(Draft *d, const int *now) {
  for (int i = 0; i < d->s.copy_count; i++) d->s.copies[i].step = now[d->s.copies[i].step];
  for (int i = 0; i < d->s.boundary_count; i++)
    if (d->s.kernel_step[i] >= 0) d->s.kernel_step[i] = now[d->s.kernel_step[i]];
  for (int i = 0; i < d->s.count; i++) d->s.steps[i].number = i + 1;
}

static void forget_copy(Draft *d, int copy) {
  for (int i = copy; i + 1 < d->s.copy_count; i++) {
    d->s.copies[i] = d->s.copies[i + 1];
    d->y.ring_at[i] = d->y.ring_at[i + 1];
  }
  d->s.copy_count--;
  for (int i = 0; i < d->s.copy_count; i++)
    for (int k = 0; k < 2; k++) {
      int *after = &d->s.copies[i].after[k];
      *after = *after == copy ? NO_INDEX : *after > copy ? *after - 1 : *after;
    }
  for (int i = 0; i < d->s.count; i++) {
    Step *step = &d->s.steps[i];
    if (step->copy > copy) step->copy--;
    else if (step->copy == copy) step->copy = copy > 0 ? copy - 1 : 0;
  }
}

static void remove_step(Draft *d, int at) {
  int *now = arena_alloc(d->arena, (size_t)(d->s.count + 1) * sizeof *now);
  Step gone = d->s.steps[at];
  for (int i = 0; i <= d->s.count; i++) now[i] = i > at ? i - 1 : i;
  for (int i = at; i + 1 < d->s.count; i++) d->s.steps[i] = d->s.steps[i + 1];
  d->s.count--;
  d->s.training_count -= at < d->s.training_count;
  if (gone.kind == STEP_COPY) forget_copy(d, gone.copy);
  renumber(d, now);
  if (gone.kind == STEP_KERNEL) d->s.kernel_step[gone.boundary] = at - 1;
  for (int i = 0; i < d->y.count; i++) {
    Block *block = &d->y.blocks[i];
    block->first = now[block->first];
    block->last = block->last == at && block->first < at ? at - 1 : now[block->last];
  }
}

/* The step at `from` then stands at `to`; blocks stay alive between the same numbers. */
static void move_step(Draft *d, int from, int to) {
  int *now = arena_alloc(d->arena, (size_t)(d->s.count + 1) * sizeof *now);
  int by = from < to ? 1 : -1;
  Step step = d->s.steps[from];
  for (int i = 0; i <= d->s.count; i++) now[i] = i;
  for (int i = from; i != to; i += by) {
    d->s.steps[i] = d->s.steps[i + by];
    now[i + by] = i;
  }
  d->s.steps[to] = step;
  now[from] = to;
  renumber(d, now);
}

static const char *fault_of_draft(const Draft *d) {
  const char *what = verify_schedule(&d->s);
  return what ? what : verify_layout(&d->y, &d->s);
}

/* Accepted, and wrong: the memory model's words. Sets *rejected to the verifiers' word, NULL if they accept. */
static const char *overlooked(const Draft *d, const char **rejected) {
  *rejected = fault_of_draft(d);
  return *rejected ? NULL : memory_judge(d->arena, &d->s, &d->y);
}

/* ---- pieces ---- */

static Step *find_part(Draft *d, int part) {
  for (Step *step = d->s.steps;; step++)
    if (step->kind == STEP_KERNEL && step->part == part) return step;
}
static Block *find_piece(Draft *d, int part, bool is_sums) {
  for (Block *block = d->y.blocks + d->y.resident_count;; block++)
    if (block->part == part && block->is_sums == is_sums && (is_sums || block->value != NO_VALUE)) return block;
}
static void step_of_another_part(Draft *d) { find_part(d, 2)->part = 3; }
static void step_of_no_part(Draft *d) { find_part(d, 4)->part = 5; }
static void part_for_all(Draft *d) { find_part(d, 1)->part = 0; }
static void piece_of_another_part(Draft *d) { find_piece(d, 2, false)->part = 1; }
static void piece_too_short(Draft *d) { find_piece(d, 3, false)->bytes -= 64; }
static void sums_end_early(Draft *d) { find_piece(d, 0, true)->last--; }
static void sums_too_short(Draft *d) { find_piece(d, 0, true)->bytes /= 2; }
static void sums_on_a_piece(Draft *d) {
  Block *sums = find_piece(d, 0, true), *piece = d->y.blocks + d->y.resident_count;
  while (piece->part == 0 || piece->first > sums->last || sums->first > piece->last) piece++;
  sums->offset = piece->offset;
}
static void copy_of_another_piece(Draft *d) {
  for (Copy *copy = d->s.copies;; copy++)
    if (copy->part) {
      copy->part = copy->part % 4 + 1;
      return;
    }
}
static void copy_of_all_pieces(Draft *d) {
  for (Copy *copy = d->s.copies;; copy++)
    if (copy->part) {
      copy->part = 0;
      return;
    }
}
/* A sum adds up its parts in their order. */
static void parts_of_a_sum_swapped(Draft *d) {
  Step *steps = d->s.steps + find_piece(d, 0, true)->first;
  steps[0].part = 2;
  for (Step *step = steps + 1;; step++)
    if (step->kind == STEP_KERNEL && step->kernel == steps->kernel) {
      step->part = 1;
      return;
    }
}

static void test_pieces(void) {
  static const struct {
    const char *what;
    void (*break_it)(Draft *);
  } cases[] = {{"a step of another part", step_of_another_part}, {"a step of a part that there is not", step_of_no_part}, {"a part of the steps for all of them", part_for_all},
               {"a piece of another part", piece_of_another_part}, {"a piece without its last rows", piece_too_short}, {"sums that end before the last part", sums_end_early},
               {"sums without room for all that are open", sums_too_short}, {"sums in the place of a piece", sums_on_a_piece}, {"a copy of another piece", copy_of_another_piece},
               {"a copy of all pieces", copy_of_all_pieces}, {"a sum that adds up its parts in another order", parts_of_a_sum_swapped}};
  Made m = make_tight(&parts, ROAD_HOST, 0);
  const char *what = fault_of(&m);
  ok(!what && m.schedule->copy_count > 0, "what the passes make of pieces is accepted", what);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Draft d = draft_of(&m);
    cases[i].break_it(&d);
    what = fault_of_draft(&d);
    ok(what, arena_printf(d.arena, "%s is rejected", cases[i].what), what);
    arena_free(d.arena);
  }
  for (int i = 0; i < m.plan->problem->problem->datum_count; i++)
    if (m.plan->problem->problem->data[i].chunks > 1) m.plan->problem->parts->is_cut[m.plan->problem->value_of_datum[i]] = false;
  what = verify_plan(m.plan);
  ok(what, "pieces of a value that is not cut are rejected", what);
  arena_free(m.arena);
}

/* ---- single ways of breaking ---- */

static int find_step(const Schedule *s, StepKind kind, int from) {
  for (int i = from; i < s->count; i++)
    if (s->steps[i].kind == kind) return i;
  return NO_INDEX;
}
static int find_wait(const Schedule *s, bool is_arrival) {
  for (int i = 0; i < s->count; i++)
    if (s->steps[i].kind == STEP_WAIT && s->steps[i].is_arrival == is_arrival) return i;
  return NO_INDEX;
}
static int find_copy(const Schedule *s, Lane lane) {
  for (int i = 0; i < s->copy_count; i++)
    if (s->copies[i].lane == lane) return i;
  return NO_INDEX;
}
static int find_rerun(const Schedule *s) {
  for (int i = 0; i < s->count; i++)
    if (s->steps[i].is_rerun) return i;
  return NO_INDEX;
}

/* Each returns whether the schedule has what it breaks. */
static bool arrival_unawaited(Draft *d) {
  int at = find_wait(&d->s, true);
  if (at != NO_INDEX) remove_step(d, at);
  return at != NO_INDEX;
}
static bool arrival_after_use(Draft *d) {
  int at = find_wait(&d->s, true);
  if (at != NO_INDEX) move_step(d, at, find_step(&d->s, STEP_KERNEL, at));
  return at != NO_INDEX;
}
static bool departure_after_write(Draft *d) {
  int at = find_wait(&d->s, false);
  if (at != NO_INDEX) move_step(d, at, find_step(&d->s, STEP_KERNEL, at));
  return at != NO_INDEX;
}
static bool clear_after(Draft *d, Lane lane, int which) {
  for (int i = 0; i < d->s.copy_count; i++)
    if (d->s.copies[i].lane == lane && d->s.copies[i].after[which] != NO_INDEX) {
      d->s.copies[i].after[which] = NO_INDEX;
      return true;
    }
  return false;
}
static bool return_before_departure(Draft *d) { return clear_after(d, LANE_H2D, 0) || clear_after(d, LANE_SSD_READ, 0); }
static bool write_before_arrival(Draft *d) { return clear_after(d, LANE_SSD_WRITE, 0); }
static bool read_before_write(Draft *d) { return clear_after(d, LANE_SSD_READ, 0); }
static bool read_ring_overrun(Draft *d) { return clear_after(d, LANE_SSD_READ, 1); }
static bool write_ring_overrun(Draft *d) { return clear_after(d, LANE_D2H, 0); }
static bool late_return(Draft *d) {
  for (Lane lane = LANE_H2D; lane <= LANE_SSD_READ; lane += LANE_SSD_READ - LANE_H2D) {
    int copy = find_copy(&d->s, lane);
    if (copy == NO_INDEX || d->s.copies[copy].is_out) continue;
    int at = d->s.copies[copy].step, wait = find_step(&d->s, STEP_WAIT, at);
    if (wait == NO_INDEX) continue;
    move_step(d, at, find_step(&d->s, STEP_KERNEL, wait));
    return true;
  }
  return false;
}
static bool copy_removed(Draft *d, bool is_out) {
  for (int i = 0; i < d->s.copy_count; i++)
    if (d->s.copies[i].is_out == is_out) {
      remove_step(d, d->s.copies[i].step);
      return true;
    }
  return false;
}
static bool departure_removed(Draft *d) { return copy_removed(d, true); }
static bool return_removed(Draft *d) { return copy_removed(d, false); }
static bool rerun_removed(Draft *d) {
  int at = find_rerun(&d->s);
  if (at != NO_INDEX) remove_step(d, at);
  return at != NO_INDEX;
}
static bool slots_alive_together(const Schedule *s, int *a, int *b) {
  for (*a = 0; *a < s->slot_count; ++*a)
    for (*b = 0; *b < *a; ++*b) {
      const Slot *x = &s->slots[*a], *y = &s->slots[*b];
      if (x->tier == y->tier && x->first <= y->last && y->first <= x->last) return true;
    }
  return false;
}
static bool extent_on_another(Draft *d) {
  int a, b;
  if (!slots_alive_together(&d->s, &a, &b)) return false;
  d->y.extents[d->y.slot_extent[a]].at = d->y.extents[d->y.slot_extent[b]].at;
  return true;
}
static bool extent_on_its_own(Draft *d) { /* of one slot */
  for (int h = 0; h < d->s.slot_count; h++)
    if (d->y.slot_extent[h + 1] - d->y.slot_extent[h] > 1) {
      d->y.extents[d->y.slot_extent[h] + 1].at = d->y.extents[d->y.slot_extent[h]].at;
      return true;
    }
  return false;
}
static bool extent_outside(Draft *d) {
  if (d->s.slot_count == 0) return false;
  d->y.extents[0].at = d->y.host_bytes + d->y.ssd_bytes;
  return true;
}
static bool extent_too_small(Draft *d) {
  if (d->s.slot_count == 0) return false;
  d->y.extents[0].bytes -= 4096;
  return true;
}
static bool slot_missing(Draft *d) {
  if (d->s.slot_count == 0) return false;
  for (int e = d->y.slot_extent[1]; e <= d->y.extent_count; e++) d->y.extents[e - d->y.slot_extent[1]] = d->y.extents[e];
  int count = d->y.slot_extent[1];
  d->y.extent_count -= count;
  for (int h = 1; h <= d->s.slot_count; h++) d->y.slot_extent[h] -= count;
  return true;
}
static bool another_slot(Draft *d) {
  for (int i = 0; i < d->s.copy_count; i++)
    if (!d->s.copies[i].is_out && d->s.slot_count > 1) {
      d->s.copies[i].slot = (d->s.copies[i].slot + 1) % d->s.slot_count;
      return true;
    }
  return false;
}
static bool block_moved(Draft *d) {
  for (int i = d->y.resident_count; i < d->y.count; i++)
    for (int k = d->y.resident_count; k < i; k++) {
      Block *a = &d->y.blocks[i], *b = &d->y.blocks[k];
      if (a->first > b->last || b->first > a->last || a->bytes > b->bytes) continue;
      a->offset = b->offset;
      return true;
    }
  return false;
}
static bool ring_entry_moved(Draft *d) {
  for (int i = 0; i < d->s.copy_count; i++)
    if (d->s.copies[i].is_by_ring) {
      d->y.ring_at[i] += 4096;
      return true;
    }
  return false;
}
static bool ring_too_small(Draft *d) {
  if (d->y.ring_bytes == 0) return false;
  d->y.ring_bytes = 4096;
  return true;
}
static bool wait_before_copy(Draft *d) {
  int at = find_step(&d->s, STEP_WAIT, 0);
  if (at == NO_INDEX) return false;
  move_step(d, at, d->s.copies[d->s.steps[at].copy].step);
  return true;
}

static const struct {
  const char *what;
  bool (*break_it)(Draft *);
} breaks[] = {{"an arrival that nobody waits for", arrival_unawaited}, {"a wait for an arrival after its use", arrival_after_use},
              {"a wait for a departure after its place is written", departure_after_write}, {"a return that does not wait for the departure", return_before_departure},
              {"a write to the SSD before the ring has the value", write_before_arrival}, {"a read from the SSD before the write", read_before_write},
              {"a read ring that is overrun", read_ring_overrun}, {"a write ring that is overrun", write_ring_overrun},
              {"a return that comes after its use", late_return}, {"a missing departure", departure_removed}, {"a missing return", return_removed},
              {"a missing re-run", rerun_removed}, {"an extent on another", extent_on_another}, {"an extent on another of its slot", extent_on_its_own}, {"an extent outside its tier", extent_outside},
              {"an extent that is too small", extent_too_small}, {"a slot without extents", slot_missing}, {"a return from another's slot", another_slot},
              {"a block on another", block_moved}, {"a ring entry in another place", ring_entry_moved},
              {"a ring smaller than its entries", ring_too_small}, {"a wait before its copy", wait_before_copy}};

/* More than is on its way at one time where values are in pieces. */
static bool needs_crowd(int i) { return breaks[i].break_it == read_ring_overrun || breaks[i].break_it == write_ring_overrun; }

/* Places of one size are never put together from several. */
static bool needs_sizes(int i) { return breaks[i].break_it == extent_on_its_own; }

enum { BREAK_COUNT = sizeof breaks / sizeof breaks[0] };

/* A way of breaking may happen to change nothing that matters on one machine; `seen` counts where it did. */
static void test_breaks(const Made *m, const char *name, int *seen) {
  for (int i = 0; i < BREAK_COUNT; i++) {
    Draft d = draft_of(m);
    if (breaks[i].break_it(&d)) {
      const char *rejected = fault_of_draft(&d), *wrong = memory_judge(d.arena, &d.s, &d.y);
      bool is_harmless = !rejected && !wrong;
      seen[i] += rejected != NULL;
      ok(rejected || is_harmless, arena_printf(d.arena, "%s: %s is %s", name, breaks[i].what, is_harmless ? "harmless here" : "rejected"), rejected ? rejected : wrong);
    }
    arena_free(d.arena);
  }
}

/* ---- every wait, every order, and at random ---- */

static int stride = 1; /* one in so many is tried */

static void test_every_wait(const Made *m, const char *name) {
  int rejected = 0, implied = 0, wrong = 0;
  const char *what = NULL;
  for (int s = 0, n = 0; s < m->schedule->count; s++) {
    if (m->schedule->steps[s].kind != STEP_WAIT || n++ % stride != 0) continue;
    Draft d = draft_of(m);
    remove_step(&d, s);
    const char *verdict, *missed = overlooked(&d, &verdict);
    if (missed && !what) what = arena_printf(m->arena, "without step %d: %s", s + 1, missed);
    if (missed) wrong++;
    else if (verdict) rejected++;
    else implied++;
    arena_free(d.arena);
  }
  ok(wrong == 0, arena_printf(m->arena, "%s: without a wait it is rejected (%d), or another wait implies it (%d)", name, rejected, implied), what);
}

static void test_every_order(const Made *m, const char *name) {
  int rejected = 0, implied = 0, wrong = 0;
  const char *what = NULL;
  for (int i = 0, n = 0; i < 2 * m->schedule->copy_count; i++) {
    if (m->schedule->copies[i / 2].after[i % 2] == NO_INDEX || n++ % stride != 0) continue;
    Draft d = draft_of(m);
    d.s.copies[i / 2].after[i % 2] = NO_INDEX;
    const char *verdict, *missed = overlooked(&d, &verdict);
    if (missed && !what) what = arena_printf(m->arena, "copy of step %d after nothing: %s", m->schedule->copies[i / 2].step + 1, missed);
    if (missed) wrong++;
    else if (verdict) rejected++;
    else implied++;
    arena_free(d.arena);
  }
  ok(wrong == 0, arena_printf(m->arena, "%s: a copy that does not wait for another is rejected (%d), or need not (%d)", name, rejected, implied), what);
}

static uint32_t draw(uint32_t *state, int bound) {
  *state = *state * 1664525u + 1013904223u;
  return bound > 0 ? (*state >> 8) % (uint32_t)bound : 0;
}

static const char *const change_names[] = {"a step removed", "a step moved", "a wait for another copy", "a copy after another", "a block moved",
                                           "a block longer or shorter", "an extent moved", "another slot", "a ring entry moved", "another kernel"};

enum { CHANGE_COUNT = sizeof change_names / sizeof change_names[0] };

static void change(Draft *d, int kind, uint32_t *r) {
  int transients = d->y.count - d->y.resident_count, step = (int)draw(r, d->s.count), copy = (int)draw(r, d->s.copy_count);
  Block *block = &d->y.blocks[d->y.resident_count + (int)draw(r, transients)], *other = &d->y.blocks[(int)draw(r, d->y.count)];
  if (kind == 0) remove_step(d, step);
  if (kind == 1) move_step(d, step, (int)draw(r, d->s.count));
  if (kind == 2 && (step = find_step(&d->s, STEP_WAIT, step)) != NO_INDEX) d->s.steps[step].copy = copy;
  if (kind == 3 && d->s.copy_count) d->s.copies[copy].after[draw(r, 2)] = (int)draw(r, d->s.copy_count + 1) - 1;
  if (kind == 4) block->offset = draw(r, 2) ? other->offset : block->offset + 64 * ((int64_t)draw(r, 65) - 32);
  if (kind == 5) *(draw(r, 2) ? &block->first : &block->last) += (int)draw(r, 9) - 4;
  if (kind == 6 && d->y.extent_count) d->y.extents[draw(r, d->y.extent_count)].at = d->y.extents[draw(r, d->y.extent_count)].at + 4096 * draw(r, 3);
  if (kind == 7 && d->s.copy_count) d->s.copies[copy].slot = (int)draw(r, d->s.slot_count);
  if (kind == 8 && d->s.copy_count && d->y.ring_bytes) d->y.ring_at[copy] = (d->y.ring_at[copy] + 4096 * (int64_t)draw(r, 65)) % d->y.ring_bytes;
  if (kind == 9 && (step = find_step(&d->s, STEP_KERNEL, step)) != NO_INDEX)
    d->s.steps[step].kernel = (int32_t)draw(r, d->s.steps[step].kernels->kernel_count);
  block->first = block->first < 0 ? 0 : block->first;
  block->last = block->last >= d->s.count ? d->s.count - 1 : block->last;
}

static void test_at_random(const Made *m, const char *name, int rounds) {
  uint32_t state = 1;
  for (int kind = 0; kind < CHANGE_COUNT; kind++) {
    int rejected = 0, harmless = 0, wrong = 0;
    const char *what = NULL;
    for (int i = 0; i < rounds; i++) {
      Draft d = draft_of(m);
      change(&d, kind, &state);
      const char *verdict, *missed = overlooked(&d, &verdict);
      if (missed && !what) what = arena_strdup(m->arena, missed);
      if (missed) wrong++;
      else if (verdict) rejected++;
      else harmless++;
      arena_free(d.arena);
    }
    ok(wrong == 0, arena_printf(m->arena, "%s: %s, at random: %d rejected, %d harmless, %d overlooked", name, change_names[kind], rejected, harmless, wrong), what);
  }
}

static void test_road(const Case *of, Road road, int percent, int rounds, int *seen) {
  Made m = make_tight(of, road, percent);
  const char *name = arena_printf(m.arena, "%s%s, %d %%", of->name, road_names[road], percent);
  const char *what = fault_of(&m), *wrong = memory_judge(m.arena, m.schedule, m.layout);
  int waits = 0, reruns = 0, by_ring = 0;
  for (int s = 0; s < m.schedule->count; s++) waits += m.schedule->steps[s].kind == STEP_WAIT, reruns += m.schedule->steps[s].is_rerun;
  for (int i = 0; i < m.schedule->copy_count; i++) by_ring += m.schedule->copies[i].is_by_ring;
  printf("# %s: %d steps, %d re-runs, %d copies (%d by the ring), %d waits, %d slots\n", name, m.schedule->count, reruns, m.schedule->copy_count, by_ring, waits,
         m.schedule->slot_count);
  ok(!what, arena_printf(m.arena, "%s: what the passes make is accepted", name), what);
  ok(!wrong, arena_printf(m.arena, "%s: every step finds what it reads, whatever the lanes' speed", name), wrong);
  test_breaks(&m, name, seen);
  test_every_wait(&m, name);
  test_every_order(&m, name);
  test_at_random(&m, name, rounds);
  arena_free(m.arena);
}

int main(int argc, char **argv) {
  if (argc > 1) share_dir = argv[1];
  const char *scale = getenv("GNNCC_TEST_SCALE"); /* percent */
  int rounds = argc > 2 ? atoi(argv[2]) : 32 * (scale ? atoi(scale) : 100) / 100, seen[BREAK_COUNT] = {0}, seen_in_pieces[BREAK_COUNT] = {0};
  if (scale && atoi(scale) < 50) stride = 3;
  test_small();
  test_parts_of_rows();
  test_pieces();
  test_road(&whole, ROAD_RECOMPUTE, 10, rounds / 4, seen);
  test_road(&whole, ROAD_HOST, 0, rounds, seen);
  test_road(&whole, ROAD_HOST, 40, rounds / 4, seen);
  test_road(&whole, ROAD_DIRECT, 10, rounds, seen);
  test_road(&whole, ROAD_RING, 0, rounds, seen);
  test_road(&whole, ROAD_RING, 30, rounds / 4, seen);
  test_road(&whole, ROAD_SLOW, 20, rounds, seen);
  test_road(&parts, ROAD_RECOMPUTE, 0, rounds / 4, seen_in_pieces);
  test_road(&parts, ROAD_HOST, 0, rounds / 4, seen_in_pieces);
  test_road(&parts, ROAD_RING, 0, rounds / 4, seen_in_pieces);
  test_road(&tables, ROAD_HOST, 0, rounds / 4, seen_in_pieces);
  test_road(&tables, ROAD_DIRECT, 0, rounds / 4, seen_in_pieces);
  test_road(&slices, ROAD_HOST, 0, rounds / 4, seen_in_pieces);
  test_road(&slices, ROAD_DIRECT, 0, rounds / 4, seen_in_pieces);
  test_road(&slices, ROAD_RING, 0, rounds / 4, seen_in_pieces);
  test_road(&away, ROAD_HOST, 0, rounds / 4, seen_in_pieces);
  test_road(&away_ssd, ROAD_DIRECT, 0, rounds / 4, seen_in_pieces);
  test_road(&away_ssd, ROAD_RING, 0, rounds / 4, seen_in_pieces);
  test_road(&learned, ROAD_HOST, 0, rounds / 4, seen_in_pieces);
  test_road(&learned_ssd, ROAD_DIRECT, 0, rounds / 4, seen_in_pieces);
  test_road(&learned_ssd, ROAD_RING, 0, rounds / 4, seen_in_pieces);
  test_road(&away_cached, ROAD_RING, 0, rounds / 4, seen_in_pieces);
  test_road(&learned_cached, ROAD_RING, 0, rounds / 4, seen_in_pieces);
  for (int i = 0; i < BREAK_COUNT; i++) {
    if (!needs_sizes(i)) ok(seen[i] > 0, breaks[i].what, "rejected on some machine");
    if (!needs_crowd(i)) ok(seen_in_pieces[i] > 0, breaks[i].what, "rejected where values are in pieces");
  }
  printf("1..%d\n", test_count);
  return failures > 0;
}
