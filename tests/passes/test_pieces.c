/* Parts through problem, plan, schedule and layout: what is cut, and that nothing drops the pieces on the way. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compiler/plan/decisions.h"
#include "compiler/graph/hoist.h"
#include "made.h"

enum { PARTS = 4 };

static int test_count, failures;

static void ok(bool is_right, const char *name) {
  printf("%sok %d - %s\n", is_right ? "" : "not ", ++test_count, name);
  failures += !is_right;
}

/* `body` on 8192 nodes, which are four canonical blocks. */
static const char *model_of_degree(Arena *arena, int degree, const char *body) {
  return arena_printf(arena,
                      "data g from synth(kind = \"rmat\", nodes = 8192, degree = %d, features = 8, classes = 4, seed = 1)\nmodel m on g {\n%s}\n"
                      "train m {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n}\n", degree, body);
}

static const char *model_of(Arena *arena, const char *body) { return model_of_degree(arena, 4, body); }

static const char dense[] = "  h = x |> Linear(16) as first |> relu\n  return h |> Linear(y.classes) as second\n";
static const char deep[] = "  a = x |> Linear(16) |> tanh\n  b = a |> Linear(16) |> tanh\n  c = b |> Linear(16) |> tanh\n  return (a + c) |> Linear(y.classes)\n";
static const char narrow[] = "  h = x |> Linear(4) |> tanh\n  return sum(src.h) + h |> Linear(y.classes)\n", far[] = "  h = x |> Linear(16) |> relu\n  return sum(src.h) |> Linear(y.classes)\n";
static const char gathered[] = "  h = x |> Linear(16) as first |> relu\n  s = h |> SAGE(16) as middle |> relu\n  return s |> Linear(y.classes) as last\n";

static const ProblemDatum *datum_named(const Made *m, const char *name, ValueId *value) {
  const PlanningProblem *p = m->plan->problem;
  for (int i = 0; i < p->problem->datum_count; i++) {
    if (strcmp(p->problem->data[i].id, name) != 0) continue;
    if (value) *value = p->value_of_datum[i];
    return &p->problem->data[i];
  }
  return NULL;
}

static int chunks_of(const Made *m, const char *name) {
  const ProblemDatum *datum = datum_named(m, name, NULL);
  return datum ? datum->chunks : 0;
}

/* ---- the problem ---- */

static void test_cut(Arena *arena) {
  Made m = make_kernels(model_of(arena, dense), PARTS);
  make_plan(&m);
  ok(chunks_of(&m, "h") == PARTS && chunks_of(&m, "d_scores") == PARTS, "values on nodes between dense products are cut");
  ok(chunks_of(&m, "data_x") == 1 && chunks_of(&m, "d_first_weight") == 1 && chunks_of(&m, "weight_first_weight") == 1, "features, weights and their gradients are not");
  ok(chunks_of(&m, "sums_of_d_first_weight") == 1 && chunks_of(&m, "sums_of_d_first_bias") == 1 && chunks_of(&m, "sums_of_loss") == 1,
     "the open sums of weights, biases and the loss are counted");
  const PlanningProblem *p = m.plan->problem;
  const Parts *parts = p->parts;
  ValueId h = NO_VALUE;
  const ProblemDatum *datum = datum_named(&m, "h", &h);
  bool is_right = parts->first[0] == 0 && parts->first[PARTS] == 8192;
  for (int part = 1; part <= PARTS; part++) {
    const ProblemPiece *piece = &p->problem->pieces[datum->first_piece + part - 1];
    is_right = is_right && parts_rows(parts, part) >= 256 && piece->bytes == round_up(parts_rows(parts, part) * 16 * 4, p->unit);
  }
  ok(is_right, "a piece has the rows of its part");
  size_t length;
  ProblemError error = {"", ""};
  const char *text = planning_problem_text(arena, p, &length);
  const Problem *read = problem_read_json(arena, text, length, &error);
  for (int x = 0; read && x < read->piece_count; x++) is_right = is_right && read->pieces[x].bytes == p->problem->pieces[x].bytes;
  ok(is_right && read && read->piece_count == p->problem->piece_count && read->step_count == p->problem->step_count, "the file of the problem has them, too");
  ok(chunks_of(&m, "eval_h") == 0 && !m.evaluation_plan->problem->parts->is_cut[m.evaluation->scores], "scores are not cut: the metrics want all rows");
  arena_free(m.arena);
}

static void test_whole(Arena *arena) {
  Made m = make_kernels(model_of(arena, gathered), PARTS);
  make_plan(&m);
  ValueId h = NO_VALUE, s = NO_VALUE;
  bool is_there = datum_named(&m, "h", &h) && datum_named(&m, "s", &s);
  const Problem *problem = m.plan->problem->problem;
  int all = 0, rows = 0;
  for (int i = 0; i < problem->op_count; i++)
    for (int k = 0; k < problem->ops[i].read_count; k++) {
      const ProblemAccess *read = &problem->ops[i].reads[k];
      if (strcmp(problem->data[read->datum].id, "h") == 0) *(read->kind == PROBLEM_ACCESS_ALL ? &all : &rows) += 1;
    }
  ok(is_there && chunks_of(&m, "h") == PARTS && all > 0 && rows > 0, "what a sum over edges gathers from is cut where others read its rows: each part of the sum reads all pieces");
  bool is_part_wise = false;
  for (int i = 0; i < m.schedule->training_count; i++) {
    const Step *step = &m.schedule->steps[i];
    is_part_wise = is_part_wise || (step->kind == STEP_KERNEL && step->part == PARTS && m.kernels->graph->values[m.kernels->kernels[step->kernel].anchor].op == OP_MATMUL);
  }
  ok(is_part_wise && chunks_of(&m, "d_scores") == PARTS, "what lies beyond is");
  bool has_sum = false;
  for (int i = 0; i < m.schedule->count; i++) {
    const Step *step = &m.schedule->steps[i];
    const KernelKind kind = step->kind == STEP_KERNEL ? step->kernels->kernels[step->kernel].kind : KERNEL_MAP;
    is_there = is_there && !(kind == KERNEL_UPDATE && step->part);
    has_sum = has_sum || (kind == KERNEL_SPMM && step->part == PARTS);
  }
  ok(is_there, "updates have one step");
  ok(has_sum && chunks_of(&m, "s") == PARTS, "what is summed over edges is cut, and its rows are summed part by part");
  arena_free(m.arena);
  static const char *const models[] = {narrow, far};
  for (int i = 0; i < 2; i++) {
    m = make_kernels(model_of(arena, models[i]), PARTS);
    make_plan(&m);
    ok(chunks_of(&m, "h") == 1, i ? "what is gathered alone is one piece" : "and so is what has few columns");
    arena_free(m.arena);
  }
  m = make_kernels(model_of(arena, dense), 1);
  make_plan(&m);
  bool has_part = false;
  for (int i = 0; i < m.schedule->count; i++) has_part = has_part || m.schedule->steps[i].part;
  for (int i = 0; i < m.layout->count; i++) has_part = has_part || m.layout->blocks[i].part || m.layout->blocks[i].is_sums;
  ok(!has_part && m.plan->problem->problem->piece_count == m.plan->problem->problem->datum_count, "with one part there are no pieces");
  arena_free(m.arena);
}

/* ---- times ---- */

static const char attending[] = "  h = x |> Linear(16) as first |> relu\n  s = h |> GATv2(4, heads = 4) as middle |> relu\n  return s |> GCN(16) |> Linear(y.classes) as last\n";

/* How long the steps of a kernel take by parts, without what they take alike, goes with before[]: 1; of two lists at once, as of sums with their rows: with a share of the first that `share` gets. */
static bool goes_with(const Parts *parts, const ProblemStage *stage, double alike, const int64_t *walked, const int64_t *rows, double *share) {
  const int count = parts->count;
  double from_walked[PARTS], from_rows[PARTS], own[PARTS], above = 0, below = 0;
  for (int k = 0; k < count; k++) {
    from_walked[k] = (double)(walked[k + 1] - walked[k]) / (double)walked[count];
    from_rows[k] = (double)(rows[k + 1] - rows[k]) / (double)rows[count];
    own[k] = ((double)stage->chunk_amounts[k] - alike) / ((double)stage->amount - count * alike);
    above += (own[k] - from_rows[k]) * (from_walked[k] - from_rows[k]);
    below += (from_walked[k] - from_rows[k]) * (from_walked[k] - from_rows[k]);
  }
  *share = below > 0 ? above / below : 0;
  for (int k = 0; k < count; k++)
    if (fabs(*share * from_walked[k] + (1 - *share) * from_rows[k] - own[k]) > 0.002) return false;
  return true;
}

/* Parts of a graph with hubs have about as much work, but some more of the edges and some more of the rows. */
static void test_times(Arena *arena) {
  Made m = make_kernels(model_of_degree(arena, 30, attending), PARTS);
  make_plan(&m);
  const PlanningProblem *p = m.plan->problem;
  const Parts *parts = p->parts;
  int sums = 0, sums_of_all = 0, products = 0, losses = 0, wrong = 0, unsummed = 0;
  double share;
  for (int i = 0; i < p->problem->op_count; i++) {
    const ProblemOp *op = &p->problem->ops[i];
    const ProblemStage *stage = &op->variants[0].stages[0];
    const Kernel *kernel = p->kernel_of_op[i] == NO_INDEX ? NULL : &m.kernels->kernels[p->kernel_of_op[i]];
    const double alike = 1e9 * m.machine.step_seconds * (PARTS - 1) / PARTS;
    int64_t all = 0;
    if (op->chunks == 1) {
      wrong += stage->chunk_amounts != NULL;
      continue;
    }
    for (int k = 0; k < PARTS; k++) all += stage->chunk_amounts[k];
    unsummed += all != stage->amount;
    const Value *anchor = &m.training->values[kernel->anchor];
    if (op_is_aggregation(anchor->op)) {
      sums++;
      wrong += !goes_with(parts, stage, alike, parts->edges[anchor->as.end], parts->first, &share) || share < 0.5 || share > 1.001;
    } else if (kernel->kind == KERNEL_COLUMN_SUM && m.training->values[anchor->operand[0]].shape.domain == DOMAIN_EDGE) {
      sums_of_all++;
      wrong += !goes_with(parts, stage, alike, parts->edges[END_DST], parts->first, &share) || share < 0.99;
    } else if (kernel->kind == KERNEL_CROSS_ENTROPY) {
      losses++;
      wrong += !goes_with(parts, stage, alike, parts->labelled[SPLIT_TRAIN], parts->first, &share) || share < 0.5 || share > 1.001;
    } else if (kernel->kind == KERNEL_MATMUL || kernel->kind == KERNEL_OUTER) {
      products++;
      wrong += !goes_with(parts, stage, alike, parts->edges[END_DST], parts->first, &share) || fabs(share) > 0.01;
    }
  }
  const int64_t *edges = parts->edges[END_DST], *rows = parts->first;
  ok(edges[1] * rows[PARTS] > 3 * rows[1] * edges[PARTS] / 2, "the part with the hubs has more of the edges than of the rows");
  ok(sums >= 4 && sums_of_all == 1 && products >= 4 && losses == 1 && wrong == 0 && unsummed == 0, "sums over neighbours take parts as long as their edges do, losses as their labels, products as their rows");
  arena_free(m.arena);
  m = make_kernels("data g {\n  nodes = 8192\n  edges = 32768\n  node x : f32[8]\n  node y : class[4]\n}\nmodel m on g {\n  h = x |> Linear(16) |> relu\n  s = h |> SAGE(16)\n  return s |> Linear(y.classes)\n}\n"
                   "train m {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n}\n", PARTS);
  make_plan(&m);
  int cut = 0, listed = 0;
  for (int i = 0; i < m.plan->problem->problem->op_count; i++) {
    cut += m.plan->problem->problem->ops[i].chunks == PARTS;
    listed += m.plan->problem->problem->ops[i].variants[0].stages[0].chunk_amounts != NULL;
  }
  ok(cut > 0 && listed == 0, "where no data were read they have equal shares");
  arena_free(m.arena);
}

static void test_few_blocks(void) {
  ok(parts_at_most(&(DataInfo){.nodes = 8192}, 64) == 4 && parts_at_most(&(DataInfo){.nodes = 4096}, 4) == 2 && parts_at_most(&(DataInfo){.nodes = 34}, 4) == 1 &&
         parts_at_most(&(DataInfo){.nodes = 1 << 20}, 4) == 4,
     "there are no more parts than blocks");
}

/* ---- the schedule and the layout ---- */

static void test_steps(Arena *arena) {
  Made m = make_kernels(model_of(arena, dense), PARTS);
  make_plan(&m);
  ValueId h = NO_VALUE;
  datum_named(&m, "h", &h);
  int count[PARTS + 1] = {0}, named = 0;
  for (int i = 0; i < m.schedule->training_count; i++) {
    const Step *step = &m.schedule->steps[i];
    if (step->kernel != m.kernels->made_by[h]) continue;
    count[step->part]++;
    named += strstr(step->what, arena_printf(arena, "[%d/%d]", step->part, PARTS)) != NULL;
  }
  ok(count[0] == 0 && count[1] == 1 && count[2] == 1 && count[3] == 1 && count[4] == 1 && named == PARTS, "a kernel has a step for each part, which says so");
  const Block *piece[PARTS + 1] = {NULL};
  bool are_apart = true;
  for (int i = m.layout->resident_count; i < m.layout->count; i++)
    if (m.layout->blocks[i].value == h && m.layout->blocks[i].kernels == m.kernels) piece[m.layout->blocks[i].part] = &m.layout->blocks[i];
  for (int a = 1; a <= PARTS; a++)
    for (int b = 1; b < a && piece[a] && piece[b]; b++)
      are_apart = are_apart && (piece[a]->offset >= piece[b]->offset + piece[b]->bytes || piece[b]->offset >= piece[a]->offset + piece[a]->bytes);
  ok(!piece[0] && piece[1] && piece[2] && piece[3] && piece[4] && are_apart, "each piece has a place of its own");
  ok(piece[1] && piece[4] && piece[1]->first < piece[4]->first && layout_at(m.layout, m.kernels, h, 2, piece[4]->first) == piece[2], "and a life of its own");
  arena_free(m.arena);
}

/* With a quarter of the way from the least to everything some pieces of a value are kept and others are not. */
static void test_fates(Arena *arena, Tier tier) {
  Made m = make_kernels(model_of(arena, deep), PARTS);
  for (int t = 0; t < TIER_COUNT; t++) m.machine.tier_bytes[t] = t == TIER_DEVICE || t == (int)tier ? INT64_C(1) << 30 : 0;
  for (int l = LANE_D2H; l <= LANE_SSD_READ; l++) m.machine.links[l] = (Link){30e9, 1e-6};
  int64_t all = plan_of(&m, m.kernels, POLICY_KEEP)->report.peak_bytes;
  m.machine.tier_bytes[TIER_DEVICE] = m.residents->bytes + 1;
  int64_t half = (3 * plan_of(&m, m.kernels, -1)->report.least_device_bytes + all) / 4, of_evaluation = plan_of(&m, m.evaluation_kernels, -1)->report.least_device_bytes;
  m.machine.tier_bytes[TIER_DEVICE] = half > of_evaluation ? half : of_evaluation;
  make_plan(&m);
  const Decisions *d = decisions(arena, m.schedule, NULL);
  const Parts *parts = m.plan->problem->parts;
  int *kept = arena_alloc(arena, (size_t)m.training->value_count * sizeof *kept), mixed = 0, moved = 0, reruns = 0;
  for (int i = 0; i < d->count; i++) kept[d->list[i].value] += d->list[i].part && d->list[i].fate == FATE_KEEP;
  for (int v = 0; v < m.training->value_count; v++) mixed += kept[v] > 0 && kept[v] < PARTS;
  for (int i = 0; i < m.schedule->copy_count; i++) moved += m.schedule->copies[i].bytes == parts_bytes(parts, m.schedule->copies[i].value, m.schedule->copies[i].part) && m.schedule->copies[i].part;
  for (int i = 0; i < m.schedule->training_count; i++) reruns += m.schedule->steps[i].is_rerun && m.schedule->steps[i].part;
  ok(mixed > 0, "pieces of one value have fates of their own");
  ok(tier == TIER_DEVICE ? reruns > 0 : moved > 0, tier == TIER_DEVICE ? "a part of a kernel is run again" : "a piece is moved");
  ok(!verify_plan(m.plan) && !verify_schedule(m.schedule) && !verify_layout(m.layout, m.schedule), "and the verifiers accept it");
  arena_free(m.arena);
}

static const char sums[] = "  a = x |> Linear(32) |> relu |> dropout(0.3) |> GCN(48) |> relu\n  b = a |> SAGE(32) |> relu\n  c = b |> SAGE(32, aggr = \"max\") |> relu\n"
                           "  d = (c + b) |> GCN(48) |> relu\n  return d |> SAGE(y.classes)\n";

static int64_t height_of(const Made *m, const Plan *training, const Plan *evaluation) {
  return layout(m->arena, &m->machine, schedule(m->arena, &m->machine, training, evaluation, NULL), m->residents, true)->bytes;
}

/* An evaluation begins where the epoch has left everything: it takes nothing from the places that the epoch found. */
static void test_apart(Arena *arena) {
  int higher = 0, tight = 0;
  for (int share = 60; share <= 70; share += 5) {
    Made m = make_cut_kernels(model_of(arena, sums), PARTS, &(CutOptions){.slices = 2, .is_following = true}, TIER_DEVICE, TIER_DEVICE);
    m.machine.tier_bytes[TIER_HOST] = 0;
    m.machine.tier_bytes[TIER_SSD] = INT64_C(64) << 20;
    m.machine.links[LANE_SSD_WRITE] = m.machine.links[LANE_SSD_READ] = (Link){2e9, 1e-5};
    const Plan *keep = plan_of(&m, m.kernels, POLICY_KEEP);
    const int64_t most = plan_needs(&keep->report, TIER_DEVICE);
    m.machine.tier_bytes[TIER_DEVICE] = m.residents->bytes + (most - m.residents->bytes) * share / 100;
    m.plan = plan_of(&m, m.kernels, -1);
    m.evaluation_plan = plan_of(&m, m.evaluation_kernels, -1);
    if (m.plan->planned && m.evaluation_plan->planned) {
      const int64_t epoch = height_of(&m, NULL, m.plan), evaluation = height_of(&m, NULL, m.evaluation_plan), both = height_of(&m, m.plan, m.evaluation_plan);
      printf("# %d %%: the epoch %lld bytes high, the evaluation %lld, both %lld\n", share, (long long)epoch, (long long)evaluation, (long long)both);
      higher += both > (epoch > evaluation ? epoch : evaluation);
      tight++;
    }
    arena_free(m.arena);
  }
  ok(tight == 3 && higher == 0, "the epoch and the evaluation lie no higher together than the higher of them alone");
}

/* What is computed of the columns of a sum, and gathered only, is not copied out of the whole, and shared expressions are walked once. */
static void test_columns(Arena *arena) {
  static const char squares[] = "  a = x |> Linear(32)\n  c = sum(src.a)\n  for i in 1 .. 40 { c = c * c }\n  d = sum(src.c)\n  return d |> Linear(y.classes)\n";
  Made m = make_cut_kernels(model_of(arena, squares), PARTS, &(CutOptions){.slices = 2, .is_following = true}, TIER_DEVICE, TIER_DEVICE);
  int tiles = 0, sums = 0, wide = 0;
  for (int v = 0; v < m.evaluation->value_count; v++) {
    const Value *value = &m.evaluation->values[v];
    tiles += value->op == OP_TILE;
    sums += op_is_aggregation(value->op);
    wide += value->op == OP_MAP && value->shape.domain == DOMAIN_NODE && value->shape.rank == 1 && value->shape.size[0] == 32;
  }
  ok(sums == 4 && tiles == 2 && wide <= 1, "the second sum gathers columns that were computed of those of the first: only the first has tiles, and no square is whole");
  ok(m.evaluation->value_count < 200, "and each square is computed once a slice");
  arena_free(m.arena);
}

static int kernels_of(const Kernels *kernels, KernelKind kind) {
  int count = 0;
  for (int i = 0; i < kernels->kernel_count; i++) count += kernels->kernels[i].kind == kind;
  return count;
}

/* The kernel that makes the product copies its slices out, and that of a slice of a sum computes what follows; nothing is copied by itself. */
static void test_followers(Arena *arena) {
  static const char layers[] = "  a = x |> GCN(64) |> relu |> dropout(0.5)\n  b = a |> GCN(64) |> relu\n  return b |> Linear(y.classes)\n";
  Made m = make_cut_kernels(model_of(arena, layers), PARTS, &(CutOptions){.slices = 2, .is_following = true}, TIER_DEVICE, TIER_DEVICE);
  int tiles = 0, apart = 0, drawn = 0, whole = 0, bits = 0;
  for (int i = 0; i < m.kernels->kernel_count; i++) {
    const Kernel *kernel = &m.kernels->kernels[i];
    for (int b = 0; b < kernel->body_count; b++) {
      const Value *value = &m.training->values[kernel->body[b]];
      if (value->op == OP_TILE) *(kernel_copies_tile(m.kernels, kernel, kernel->body[b]) ? &tiles : &apart) += 1;
      if (kernel->kind != KERNEL_SPMM) continue;
      drawn += value->op == OP_DROPOUT && value->first_drawn == 32;
      bits += value->op == OP_POSITIVE && shape_width(&value->shape) == 32;
    }
  }
  for (int v = 0; v < m.training->value_count; v++) whole += m.kernels->is_stored[v] && m.training->values[v].op == OP_CONCAT && m.training->values[v].shape.domain == DOMAIN_NODE;
  ok(tiles > 0 && apart == 0, "slices are copied out by the kernels that make their rows");
  ok(drawn == 1 && bits == 4, "dropout and bits of a slice are computed with its sum, at the places of the whole row");
  ok(whole == 0 && kernels_of(m.kernels, KERNEL_CONCAT) == 0, "products take their operands from slices");
  ok(!verify_kernels(m.kernels), "and the verifier accepts it");
  arena_free(m.arena);
}

/* In every combination of three ways in two layers, forward and backward: of each layer as many sums as it has slices, and those of whole layers are one step. */
static void test_layers(Arena *arena) {
  static const char layers[] = "  a = x |> Linear(64) |> GCN(64) as near |> relu\n  b = a |> GCN(64) as far |> relu\n  return b |> Linear(y.classes)\n";
  static const LayerCut ways[] = {{.is_whole = true, .slices = 1}, {.slices = 1}, {.slices = 4}};
  int wrong = 0, unlike = 0;
  for (int mix = 0; mix < 9; mix++) {
    LayerCut list[4];
    for (int i = 0; i < 4; i++) list[i] = ways[(mix / (i == 0 || i == 3 ? 1 : 3) + i / 2) % 3], list[i].layer = i % 2 ? "far" : "near", list[i].pass = i < 2 ? PHASE_FORWARD : PHASE_BACKWARD;
    const LayerCuts cuts = {4, list};
    Made m = make_cut_kernels(model_of(arena, layers), PARTS, &(CutOptions){.slices = 2, .layers = &cuts, .is_following = true}, TIER_DEVICE, TIER_DEVICE);
    make_plan(&m);
    int steps[4] = {0};
    for (int s = 0; s < m.schedule->training_count; s++) {
      const Step *step = &m.schedule->steps[s];
      const Value *sum = step->kind == STEP_KERNEL ? &m.training->values[m.kernels->kernels[step->kernel].anchor] : NULL;
      if (!sum || !op_is_aggregation(sum->op)) continue;
      for (int i = 0; i < 4; i++) steps[i] += sum->phase == list[i].pass && strcmp(sum->layer.name, list[i].layer) == 0 && (step->part == 0) == list[i].is_whole;
    }
    for (int i = 0; i < 4; i++) wrong += steps[i] != (list[i].is_whole ? 1 : PARTS * list[i].slices);
    unlike += verify_kernels(m.kernels) || verify_plan(m.plan) || verify_schedule(m.schedule) || verify_layout(m.layout, m.schedule);
    arena_free(m.arena);
  }
  ok(wrong == 0, "each layer runs forward and backward as it was said: as a whole, by rows or by slices");
  ok(unlike == 0, "and the verifiers accept every combination");
}

/* ---- parts on the host of what is at home on the SSD ---- */

static const char learned_model[] =
    "data g from synth(kind = \"rmat\", nodes = 8192, degree = 4, features = 8, classes = 4, seed = 1) {\n"
    "  node x : f32[8]\n  node y : class[4]\n  node e : learned[8]\n}\n"
    "model m on g {\n  h = (x + e) |> Linear(16) |> tanh\n  s = h |> SAGE(16) |> relu\n  return s |> Linear(y.classes)\n}\n"
    "train m {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n}\n";

/* Features and learned values at home on the SSD, of which so many bytes may be on the host. */
static Made make_cached(int64_t bytes, bool of_fields) {
  const bool is_away[16] = {true}, is_learned[16] = {true};
  Made m = make_cut_kernels(learned_model, PARTS, &(CutOptions){.slices = 1, .is_away = is_away, .is_learned = is_learned}, TIER_SSD, TIER_HOST);
  m.machine.tier_bytes[TIER_HOST] = m.machine.tier_bytes[TIER_SSD] = 64 << 20;
  for (int c = 0; c < LANE_COUNT; c++) m.machine.links[c] = (Link){1e9, 1e-6};
  residents_cache(m.arena, m.residents, (CachedData){bytes, of_fields, false, true});
  make_plan(&m);
  return m;
}

/* Of which parts it lies on the host, as bits; those of the problem and of the layout are the same. */
static unsigned on_host(const Made *m, const char *name) {
  const ProblemDatum *datum = datum_named(m, name, NULL);
  unsigned parts = 0;
  for (int k = 0; datum && k < datum->chunks; k++) parts |= (unsigned)(m->plan->problem->problem->pieces[datum->first_piece + k].home == TIER_HOST) << k;
  for (int a = 0; a < m->residents->away_count; a++)
    for (int e = m->layout->away_extent[a]; e < m->layout->away_extent[a + 1] && strcmp(m->residents->away[a].name, name) == 0; e++)
      if (m->layout->extents[e].is_cached != (parts >> (e - m->layout->away_extent[a]) & 1)) return ~0u;
  return parts;
}

static int64_t room_of(const Made *m, int first, int last) {
  int64_t bytes = 0;
  for (int part = first; part <= last; part++) bytes += round_up(4 * 8 * parts_rows(m->plan->problem->parts, part), m->residents->alignment);
  return bytes;
}

static void test_cached(void) {
  Made none = make_cached(0, true);
  const int64_t all = room_of(&none, 1, PARTS);
  ok(on_host(&none, "weight_e") == 0 && on_host(&none, "data_x") == 0, "without room on the host everything is on the SSD");
  Made weight = make_cached(all, true);
  ok(on_host(&weight, "weight_e") == 15 && on_host(&weight, "state1_e") == 0 && on_host(&weight, "data_x") == 0, "what an epoch reads twice and writes comes before what it reads or writes less often");
  Made half = make_cached(all + room_of(&none, 1, 1) + room_of(&none, 3, 3) + 64, false);
  ok(on_host(&half, "weight_e") == 15 && on_host(&half, "data_x") == 0, "and what is not to be there never is");
  const unsigned states[] = {on_host(&half, "state1_e"), on_host(&half, "state2_e")};
  bool is_apart = states[0] + states[1] > 0;
  for (int k = 0; k < 2; k++) is_apart = is_apart && (states[k] & states[k] << 1) == 0;
  ok(is_apart, "of parts that move equally often, some here and there");
  Made every = make_cached(5 * all, true);
  ok(on_host(&every, "weight_e") == 15 && on_host(&every, "state1_e") == 15 && on_host(&every, "data_x") == 15, "all of them where there is room");
  const Made *const made[] = {&none, &weight, &half, &every};
  for (int i = 0; i < 4; i++) {
    const Made *m = made[i];
    ok(m->layout->host_bytes <= m->machine.tier_bytes[TIER_HOST] && !verify_schedule(m->schedule) && !verify_layout(m->layout, m->schedule), "the verifiers accept it");
    arena_free(m->arena);
  }
}

/* ---- what is computed once ---- */

static const char sums_of_given[] = "  p = mean(src.x)\n  q = mean(src.p)\n  h = relu(Linear(p, 16) as a) + (Linear(q, 16) as b)\n  return h |> Linear(y.classes) as last\n";

/* The form in which what never changes is computed once, with fields at home there. */
static Made make_kernels_once(const char *model, int parts, const CutOptions *cut, Tier home) {
  Made m = make_graphs(model, parts);
  graph_name_values(m.training);
  graph_name_values(m.evaluation);
  const Hoisting *h = hoist(m.arena, m.training, m.evaluation);
  bool *is_sparse = sparse_fields(m.training);
  const FuseOptions options = {.is_fusing = true, .is_placing = true};
  m.training = cut_graph(h->training, *cut);
  m.evaluation = cut_graph(h->evaluation, *cut);
  m.kernels = fuse(m.training, is_sparse, &options);
  m.evaluation_kernels = fuse(m.evaluation, is_sparse, &options);
  m.once_kernels = fuse(cut_graph(h->graph, *cut), is_sparse, &options);
  m.residents = residents(m.arena, m.kernels, m.evaluation_kernels, m.once_kernels, is_sparse, (DataHomes){cut->is_away, home, TIER_DEVICE, TIER_HOST, TIER_DEVICE, 0, false, false});
  return m;
}

static const ProblemDatum *datum_of_value(const Plan *plan, ValueId value) {
  for (int i = 0; i < plan->problem->problem->datum_count; i++)
    if (plan->problem->value_of_datum[i] == value) return &plan->problem->problem->data[i];
  return NULL;
}

/* A copy that brings a result home. */
static Copy *copy_home(const Made *m, int part) {
  for (int i = 0; i < m->schedule->copy_count; i++) {
    Copy *copy = &m->schedule->copies[i];
    if (copy->kernels == m->once_kernels && copy->is_out && copy->part == part && m->schedule->slots[copy->slot].is_home && (!copy->is_by_ring || copy->lane == LANE_SSD_WRITE)) return copy;
  }
  return NULL;
}

static void test_once(Arena *arena, Tier tier) {
  const bool is_away[16] = {true};
  Made m = make_kernels_once(model_of(arena, sums_of_given), PARTS, &(CutOptions){.slices = 1, .is_away = is_away}, tier);
  for (int t = 0; t < TIER_COUNT; t++) m.machine.tier_bytes[t] = INT64_C(1) << 30;
  for (int l = LANE_D2H; l <= LANE_SSD_READ; l++) m.machine.links[l] = (Link){30e9, 1e-6};
  make_plan(&m);
  const Graph *once = m.once_kernels->graph;
  bool are_results = once->once_count == 2, are_data = true;
  for (int i = 0; i < once->once_count; i++) {
    const ProblemDatum *result = datum_of_value(m.once_plan, once->once[i]);
    are_results = are_results && result && result->home == TIER_NONE && result->is_final && result->chunks == PARTS && (result->end == TIER_SSD) == (tier == TIER_SSD);
  }
  for (int v = 0; v < m.training->value_count; v++) {
    if (m.training->values[v].op != OP_HOISTED) continue;
    const ProblemDatum *datum = datum_of_value(m.plan, v);
    are_data = are_data && datum && datum->home == tier && datum->chunks == PARTS;
  }
  ok(are_results, arena_printf(arena, "what is computed once ends at home on the %s, part by part", tier_names[tier]));
  ok(are_data, "from where the epoch has it, as it has fields");
  ok(!verify_plan(m.once_plan) && !verify_schedule(m.schedule) && !verify_layout(m.layout, m.schedule), "and the verifiers accept it");
  Copy *first = copy_home(&m, 1), *second = copy_home(&m, 2);
  ok(first && second, "a step takes each part there");
  if (!first || !second) return;
  const int slot = first->slot;
  first->slot = second->slot;
  ok(verify_layout(m.layout, m.schedule) != NULL, "not where another part is at home");
  first->slot = slot;
  const Schedule *without = schedule(m.arena, &m.machine, m.plan, m.evaluation_plan, NULL);
  ok(verify_layout(layout(m.arena, &m.machine, without, m.residents, true), without) != NULL, "and without those steps the epoch finds nothing there");
  arena_free(m.arena);
}

int main(int argc, char **argv) {
  if (argc > 1) share_dir = argv[1];
  Arena *arena = arena_new();
  test_cut(arena);
  test_whole(arena);
  test_times(arena);
  test_apart(arena);
  test_columns(arena);
  test_followers(arena);
  test_layers(arena);
  test_few_blocks();
  test_steps(arena);
  test_fates(arena, TIER_DEVICE);
  test_fates(arena, TIER_HOST);
  test_cached();
  test_once(arena, TIER_HOST);
  test_once(arena, TIER_SSD);
  printf("1..%d\n", test_count);
  arena_free(arena);
  return failures > 0;
}
