/* emit: Schedule and Layout -> C.
 *
 * The source reads from top to bottom as the plan does: provenance, a table of the arena, the functions of each step,
 * the epoch as a list of steps, and a description of the program for the runtime. Same inputs, same bytes.
 */
#include "cpu/emit_cpu.h"
#include "cuda/emit_cuda.h"
#include "emit_lines.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/base/escape.h"
#include "compiler/graph/learned.h"
#include "lang/name_table.h"
#include "runtime/base/text.h"

static const char *bytes_text(Arena *arena, int64_t bytes) { return arena_strdup(arena, gnn_bytes_text(bytes).text); }

/* ---- the table of the arena ---- */

static const PlanningProblem *problem_of(const Emission *m, const Kernels *kernels) {
  return schedule_problem(m->schedule, kernels);
}

/* One side of a copy: contiguous on the device and in the rings, extents elsewhere. */
static const char *copy_side(const Emission *m, int index, bool is_far) {
  const Layout *y = m->layout;
  const Copy *copy = &m->schedule->copies[index];
  bool is_device = !is_far && copy_touches_device(copy);
  bool is_ring = copy->is_by_ring && !is_device && !(is_far && (copy->lane == LANE_SSD_WRITE || copy->lane == LANE_SSD_READ));
  if (is_device) return arena_printf(m->arena, "{GNN_DEVICE, AT_%s, 0}", layout_of_copy(y, m->schedule, copy)->name);
  if (is_ring)
    return arena_printf(m->arena, "{%s, INT64_C(%" PRId64 "), 0}", copy->is_out ? "GNN_WRITE_RING" : "GNN_READ_RING", y->ring_at[index]);
  return arena_printf(m->arena, "{%s, %d, %d}", copy->tier == TIER_HOST ? "GNN_HOST" : "GNN_SSD", y->slot_extent[copy->slot],
                      y->slot_extent[copy->slot + 1] - y->slot_extent[copy->slot]);
}

static const char *at(const Emission *m, int block) {
  return block == NO_INDEX ? "-1" : arena_printf(m->arena, "AT_%s", m->layout->blocks[block].name);
}

static void emit_copy(const Emission *m, int index, FILE *out) {
  static const char *const lanes[LANE_COUNT] = {"GNN_LANE_COMPUTE", "GNN_LANE_D2H", "GNN_LANE_H2D", "GNN_LANE_SSD_WRITE", "GNN_LANE_SSD_READ", "GNN_LANE_NET"};
  const Copy *copy = &m->schedule->copies[index];
  if (copy_is_exchange(copy)) {
    const Kernel *kernel = copy_kernel(copy);
    const bool has_own = kernel->kind == KERNEL_BACK || value_table(&copy->kernels->graph->values[kernel->anchor]);
    fprintf(out, "  {%d, GNN_LANE_NET, INT64_C(%" PRId64 "), {GNN_DEVICE, AT_%s, 0}, {GNN_DEVICE, AT_%s, 0}, {-1, -1}, %d, INT64_C(%" PRId64 "), INT64_C(%" PRId64 "), %d, %d, %d, %s, %s}, /* %d: %s */\n", copy->step + 1, copy->bytes,
            layout_of_sending(m->layout, m->schedule, copy)->name, layout_of_copy(m->layout, m->schedule, copy)->name, halo_of_ranks(copy->kernels->graph, kernel), kernel_exchange_row_bytes(copy->kernels, kernel), copy->exchange.bytes,
            exchange_boundary(copy->kernels, kernel) != BOUNDARY_EXACT, !has_own, kernel->kind == KERNEL_HALO ? 0 : exchange_holders(copy->kernels, kernel), at(m, resident_kept(m->layout->residents, copy->kernels, copy->value)), copy->exchange.passes_host ? "GNN_BY_HOST" : "GNN_DIRECTLY", index, escape_comment(m->arena, m->schedule->steps[copy->step].what));
    return;
  }
  const char *near = copy_side(m, index, false), *far = copy_side(m, index, true);
  fprintf(out, "  {%d, %s, INT64_C(%" PRId64 "), %s, %s, {%d, %d}, 0, 0, 0, 0, 0, 0, 0, 0}, /* %d: %s */\n", copy->step + 1, lanes[copy->lane], copy->bytes,
          copy->is_out ? near : far, copy->is_out ? far : near, copy->after[0], copy->after[1], index,
          escape_comment(m->arena, m->schedule->steps[copy->step].what));
}

/* Which bring the scores back from the SSD. */
static int scores_copies(const Emission *m) {
  const Layout *y = m->layout;
  return y->scores_together ? y->away_extent[y->residents->scores_away + 1] - y->away_extent[y->residents->scores_away] : 0;
}

/* Where those who ask after an evaluation find scores that ended away from the device. */
static const char *scores_tier(const Layout *y) { return !y->scores_together ? "GNN_HOST" : y->ring_bytes > 0 ? "GNN_READ_RING" : "GNN_DEVICE"; }

static int first_step_at(const Schedule *schedule, int boundary) { return boundary == 0 ? 1 : schedule->kernel_step[boundary - 1] + 2; }

static bool has_cached(const Layout *y, int away) {
  for (int e = y->away_extent[away]; e < y->away_extent[away + 1]; e++)
    if (y->extents[e].is_cached) return true;
  return false;
}

/* What lies outside the device, and since nothing but copies reads it there, perhaps in pieces. */
static void emit_slots(const Emission *m, FILE *out) {
  const Schedule *s = m->schedule;
  const Layout *y = m->layout;
  fprintf(out, "\n/* The host arena, %" PRId64 " bytes, and the scratch file, %" PRId64 " bytes: where values wait. */\nstatic const gnn_extent extents[] = {\n",
          y->host_bytes, y->ssd_bytes);
  for (int i = 0; i < y->residents->away_count; i++) {
    if (y->away_extent[i] == y->away_extent[i + 1]) continue;
    fprintf(out, "  ");
    for (int e = y->away_extent[i]; e < y->away_extent[i + 1]; e++) fprintf(out, "{INT64_C(%" PRId64 "), INT64_C(%" PRId64 "), %d}, ", y->extents[e].at, y->extents[e].bytes, y->extents[e].is_cached);
    fprintf(out, "/* %d: %s at home in %s%s, by parts */\n", y->away_extent[i], y->residents->away[i].name, y->residents->away[i].file ? "a file of the user's" : "the scratch file", has_cached(y, i) ? " and the host arena" : "");
  }
  for (int h = 0; h < s->slot_count; h++) {
    const Slot *slot = &s->slots[h];
    fprintf(out, "  ");
    int64_t left = slot->bytes; /* the last extent may have room to spare */
    for (int e = y->slot_extent[h]; e < y->slot_extent[h + 1]; e++) {
      int64_t bytes = y->extents[e].bytes < left ? y->extents[e].bytes : left;
      fprintf(out, "{INT64_C(%" PRId64 "), INT64_C(%" PRId64 "), 0}, ", y->extents[e].at, bytes);
      left -= bytes;
    }
    fprintf(out, "/* %d: %s in the %s, steps %d-%d */\n", y->slot_extent[h], problem_piece_name(problem_of(m, slot->kernels), slot->value, slot->part),
            slot->tier == TIER_HOST ? "host arena" : "scratch file", first_step_at(s, slot->first), s->kernel_step[slot->last] + 1);
  }
  fprintf(out, "};\n");
}

static void emit_copies(const Emission *m, FILE *out) {
  const Schedule *s = m->schedule;
  const Layout *y = m->layout;
  fprintf(out, "\n/* The copies, in the order in which they are queued; after: others that must be complete before. */\nstatic const gnn_copy_desc copies[] = {\n");
  for (int i = 0; i < s->copy_count; i++) emit_copy(m, i, out);
  int64_t at = y->scores_at;
  for (int k = 0; k < scores_copies(m); k++) {
    const int extent = y->away_extent[y->residents->scores_away] + k;
    if (k % y->scores_together == 0) at = y->scores_at;
    fprintf(out, "  {0, GNN_LANE_SSD_READ, INT64_C(%" PRId64 "), {GNN_SSD, %d, 1}, {%s, INT64_C(%" PRId64 "), 0}, {-1, -1}, 0, 0, 0, 0, 0, 0, 0, 0}, /* %d: scores%s */\n", y->extents[extent].bytes, extent, scores_tier(y),
            at, s->copy_count + k, k == 0 ? ", for those who ask after an evaluation" : "");
    at += y->extents[extent].bytes;
  }
  fprintf(out, "};\n");
}

/* Values of programs for the processor are kept in bf16. */
static bool keeps_half(const Emission *m) { return m->backend == BACKEND_CPU && m->evaluation->precision == PRECISION_BF16; }

static void emit_arena(const Emission *m, FILE *out) {
  const Layout *y = m->layout;
  int peak = m->schedule->count ? m->schedule->steps[y->peak_step].number : 0;
  const char *when = y->epoch_bytes < y->bytes ? "\n * before the first epoch" : arena_printf(m->arena, "\n * step %d", peak);
  fprintf(out, "/* The device arena, %" PRId64 " bytes: where everything lies, and from which step to which. All of it is in use at%s; at most %" PRId64
               " bytes are alive at one step. A double build has twice of everything. */\n", y->bytes, when, y->lower_bound);
  for (int i = 0; i < y->count; i++) {
    const Block *b = &y->blocks[i];
    const char *life = b->first >= m->schedule->count ? "before the first epoch" : i < y->resident_count ? "always" : arena_printf(m->arena, "steps %d-%d", b->first + 1, b->last + 1);
    emit_place("AT", b, out);
    const char *padding = b->padding.stride ? arena_printf(m->arena, ", rows of %" PRId64 " numbers in %" PRId64, b->padding.width, b->padding.stride) : "";
    fprintf(out, " /* %s, %s, %s%s */\n", bytes_text(m->arena, b->bytes), block_kind_name(b->kind), life, padding);
  }
  if (m->schedule->slot_count) emit_slots(m, out);
  if (m->schedule->copy_count) emit_copies(m, out);
  if (m->keep_order) emit_keep_places(m, out);
  const bool is_half = keeps_half(m);
  fprintf(out, "\n#define V(name) gnn_at(g, AT_##name)\n"
               "#define V_BITS(name) ((uint32_t *)(void *)V(name))\n"
               "#define V_LABELS(name) ((const int32_t *)(const void *)V(name))\n"
               "#define V_OFFSETS(name) ((const int64_t *)(const void *)V(name))\n"
               "#define V_DOUBLES(name) ((double *)(void *)V(name))\n");
  if (is_half) fprintf(out, "#define V_HALF(name) ((gnn_half *)(void *)V(name))\n");
  if (m->keep_order && m->backend == BACKEND_CPU)
    fprintf(out, "#define K(name) gnn_at(g, KEEP_##name)\n#define K_BITS(name) ((uint32_t *)(void *)K(name))\n#define K_DOUBLES(name) ((double *)(void *)K(name))\n#define K_LABELS(name) ((const int32_t *)(const void *)K(name))\n"
                 "#define K_OFFSETS(name) ((const int64_t *)(const void *)K(name))\n");
  if (m->keep_order && is_half) fprintf(out, "#define K_HALF(name) ((gnn_half *)(void *)K(name))\n");
  fprintf(out, "\n");
}

/* ---- the epoch ---- */

/* ---- what --layer asks for ---- */

typedef struct ToldName {
  const char *text;
  const struct ToldName *next;
} ToldName;

static bool is_name_of_layer(const Graph *graph, const char *text) {
  for (int i = 0; i < graph->value_count; i++)
    if (graph->values[i].tap && strcmp(graph->values[i].tap, text) == 0) return true;
  return false;
}

/* Of a name that is given again and again the last is meant; conv1.h is what was called so behind conv1. */
static bool is_meant(const TypedProgram *program, const Naming *naming) {
  for (int i = program->naming_count - 1; &program->namings[i] > naming; i--)
    if (strcmp(program->namings[i].path, naming->path) == 0) return false;
  return true;
}

/* The names by which a value of the evaluation can be asked for: it is a layer's result, or the program has a name for it and it lies there whole. */
static const ToldName *names_of(const Emission *m, const Graph *graph, ValueId id, bool is_whole) {
  const Value *value = &graph->values[id];
  const ToldName *names = NULL;
  for (const Called *c = is_whole ? value->called : NULL; c; c = c->next) {
    const Naming *naming = c->naming;
    if (!naming->name) continue;
    const char *behind = value->layer.name && !strchr(naming->path, '.') ? arena_printf(m->arena, "%s.%s", value->layer.name, naming->name) : NULL;
    const char *const texts[] = {is_meant(m->program, naming) ? naming->path : NULL, behind};
    for (int t = 0; t < 2; t++) {
      if (!texts[t] || is_name_of_layer(graph, texts[t]) || (t == 1 && strcmp(value->layer.name, naming->name) == 0)) continue;
      ToldName *name = arena_alloc(m->arena, sizeof *name);
      *name = (ToldName){texts[t], names};
      names = name;
    }
  }
  if (!value->tap) return names;
  ToldName *of_layer = arena_alloc(m->arena, sizeof *of_layer);
  *of_layer = (ToldName){value->tap, names};
  return of_layer;
}

/* Those of a value that the step stores. Scores that end away from the device are asked for there. */
static const ToldName *told_names(const Emission *m, int s, ValueId id) {
  const Step *step = &m->schedule->steps[s];
  const Graph *graph = step->kernels->graph;
  const Value *value = &graph->values[id];
  const bool is_there = s >= m->schedule->training_count && !step->is_rerun && (step->part == 0 || step->part == step->parts->count);
  if (!is_there || (id == graph->scores && are_scores_away(m))) return NULL;
  return names_of(m, graph, id, step->part == 0 && m->evaluation->precision != PRECISION_BF16 && value->shape.element == ELEMENT_REAL && value->shape.domain == graph->values[graph->scores].shape.domain);
}

/* Whoever asked for a layer's result, or for what the program calls so, gets it as soon as it is there. */
static void emit_tap_calls(const Emission *m, int s, FILE *out) {
  const Step *step = &m->schedule->steps[s];
  const Kernel *kernel = &step->kernels->kernels[step->kernel];
  for (int k = 0; k < kernel->output_count; k++) {
    const Value *value = &step->kernels->graph->values[kernel->outputs[k]];
    for (const ToldName *name = told_names(m, s, kernel->outputs[k]); name; name = name->next) {
      const char *text = escape_c(m->arena, name->text), *at = layout_at(m->layout, step->kernels, kernel->outputs[k], 0, s)->name;
      const char *rows = emit_row_count(m->arena, m->program->info, value->shape.domain, 1);
      const int64_t width = shape_width(&value->shape);
      if (m->backend == BACKEND_CUDA)
        fprintf(out, "  if (g->tap) gnn_cuda_tap(g, %s, AT_%s, %s, %" PRId64 ", %" PRId64 ");\n", text, at, rows, width, kernels_row_stride(step->kernels, kernel->outputs[k]));
      else fprintf(out, "  if (g->tap) g->tap(g->tap_user, %s, V(%s), %s, %" PRId64 ");\n", text, at, rows, width);
    }
  }
}

/* A step that makes rows which an exchange takes. */
static bool is_sending(const Emission *m, const Step *step) {
  return m->program->info->is_of_rank && step->kind == STEP_KERNEL && step->kernels->kernels[step->kernel].kind == KERNEL_HALO && !parts_make_table(step->parts, &step->kernels->kernels[step->kernel]);
}

/* ... of which the rank's own are in the table, too. */
static bool has_own_rows(const Step *step) { return value_table(&step->kernels->graph->values[step->kernels->kernels[step->kernel].anchor]); }

/* Whether the exchange comes right after the step: it begins then once it has the rows that others wait for, beside the rank's own. */
static bool is_begun_inside(const Emission *m, int s) {
  const Step *step = &m->schedule->steps[s], *next = step + 1;
  if (!is_sending(m, step) || s + 1 == schedule_step_count(m->schedule) || next->kind != STEP_COPY) return false;
  const Copy *copy = &m->schedule->copies[next->copy];
  return copy_is_exchange(copy) && copy->kernels == step->kernels && copy->value == step->kernels->kernels[step->kernel].anchor;
}

static void emit_copy_call(const Step *step, FILE *out) { fprintf(out, "  if ((status = gnn_copy(g, %d)) != GNN_OK) return status;\n", step->copy); }

static void emit_kernel_step(const Emission *m, const StepCalls *calls, int s, PieceLists *lists, FILE *out) {
  const Step *step = &m->schedule->steps[s];
  const Kernel *kernel = &step->kernels->kernels[step->kernel];
  bool is_once = s >= m->schedule->count;
  fprintf(out, "   * %s%s", kernel_info[kernel->kind].name, step->is_rerun ? ", again: its result was dropped" : "");
  for (int k = 0, count = 0; k < kernel->output_count; k++) {
    if (kernel->kind == KERNEL_HALO) continue;
    const Block *block = layout_at(m->layout, step->kernels, kernel->outputs[k], step->part, s);
    if (step->part && !parts_stores(step->parts, kernel->outputs[k], step->part)) continue;
    const Block *under = kernel->over[k] == NO_VALUE ? NULL : layout_at(m->layout, step->kernels, kernel->over[k], step->part, s);
    const char *where = under && under->offset == block->offset ? arena_printf(m->arena, " in the place of %s", under->name) : "";
    const bool is_resident = resident_of_value(m->layout->residents, step->kernels->graph, kernel->outputs[k]) != NULL;
    const char *life = is_resident ? "kept always" : arena_printf(m->arena, "%s until step %d", block->kind == BLOCK_SCRATCH ? "not read this time," : "kept", block->last + 1);
    fprintf(out, "%s %s%s (%s, %s)", count++ ? "," : " \302\267 writes", block->name, where, bytes_text(m->arena, block->bytes), life);
  }
  fprintf(out, " \302\267 about %.3g ms */\n", 1e3 * step->cost.seconds);
  emit_lines_begin(m, step, out);
  fprintf(out, "  gnn_enter(g, %d);\n", step->number);
  emit_call(m, calls, s, lists, out);
  if (is_begun_inside(m, s)) emit_copy_call(step + 1, out);
  if (is_sending(m, step) && has_own_rows(step)) emit_call_for_own(m, calls, s, lists, out);
  emit_measure_of_step(m, m->layout, step, "AT", out);
  fprintf(out, "  gnn_leave(g, %d);\n", step->number);
  if (!is_once) emit_tap_calls(m, s, out);
}

/* Why a copy is made: who needs the place of what leaves, or the value that comes. */
static const char *copy_reason(const Emission *m, const Copy *copy) {
  const Schedule *s = m->schedule;
  if (copy_is_exchange(copy) && copy->kernels->graph->values[copy->value].op == OP_BACK) return "the sums of a rank's rows, of the columns of all ranks";
  if (copy_is_exchange(copy)) return "for the sums over neighbours of other ranks, and of this one";
  const Slot *slot = &s->slots[copy->slot];
  if (slot->is_home && copy->is_out) return "where they stay";
  if (!copy->is_out) return arena_printf(m->arena, "read again by step %d", s->kernel_step[slot->last] + 1);
  for (int i = copy->step; i < schedule_step_count(s); i++) {
    const Step *step = &s->steps[i];
    if (step->kind == STEP_WAIT && !step->is_arrival && step->copy >= copy - s->copies && s->copies[step->copy].lane == copy->lane)
      return arena_printf(m->arena, "its place is needed from step %d on, it from step %d", s->kernel_step[step->boundary] + 1, s->kernel_step[slot->last] + 1);
  }
  return arena_printf(m->arena, "not read before step %d", s->kernel_step[slot->last] + 1);
}

static void emit_copy_step(const Emission *m, int s, FILE *out) {
  const Step *step = &m->schedule->steps[s];
  const Copy *copy = &m->schedule->copies[step->copy];
  const bool is_begun = s > 0 && is_begun_inside(m, s - 1);
  fprintf(out, "   * %s beside the compute, from %.3g ms on for about %.3g ms \302\267 %s%s */\n",
          bytes_text(m->arena, copy->bytes), 1e3 * step->start_seconds, 1e3 * step->cost.seconds, copy_reason(m, copy), is_begun ? arena_printf(m->arena, "; step %d has begun it", s) : "");
  emit_lines_begin(m, step, out);
  if (!is_begun) emit_copy_call(step, out);
}

static void emit_wait_step(const Emission *m, int s, FILE *out) {
  const Step *step = &m->schedule->steps[s];
  fprintf(out, "   * about %.3g ms */\n", 1e3 * step->cost.seconds);
  emit_lines_begin(m, step, out);
  fprintf(out, "  gnn_enter(g, %d);\n  if ((status = gnn_await(g, %d)) != GNN_OK) return status;\n  gnn_leave(g, %d);\n", step->number, step->copy, step->number);
}

static void emit_step_list(const Emission *m, const StepCalls *calls, const char *name, const char *what, int first, int last, FILE *out) {
  bool has_copies = false;
  PieceLists lists = {0};
  for (int s = first; s < last; s++) has_copies = has_copies || m->schedule->steps[s].kind != STEP_KERNEL;
  fprintf(out, "/* %s */\nstatic gnn_status %s(gnn_run *g) {\n", what, name);
  if (first == last) fprintf(out, "  (void)g;\n");
  if (has_copies) fprintf(out, "  gnn_status status;\n");
  for (int s = first; s < last; s++) {
    const Step *step = &m->schedule->steps[s];
    fprintf(out, "  /* step %d \302\267 %s \302\267 %s \302\267 line %d \302\267 %s\n", step->number, lane_names[step->lane], schedule_phase(m->schedule, s),
            (int)step->place.line, escape_comment(m->arena, step->what));
    switch (step->kind) {
    case STEP_KERNEL: emit_kernel_step(m, calls, s, &lists, out); break;
    case STEP_COPY: emit_copy_step(m, s, out); break;
    case STEP_WAIT: emit_wait_step(m, s, out); break;
    }
    emit_lines_end(m, out);
  }
  if (last == m->schedule->count) emit_measure(m, m->layout, last - 1, "AT", out);
  fprintf(out, "  return GNN_OK;\n}\n\n");
}

/* ---- the description ---- */

static bool is_probability(const Emission *m, int option) {
  const Graph *graph = m->training ? m->training->graph : m->evaluation->graph;
  for (int i = 0; i < graph->value_count; i++) {
    if (graph->values[i].op != OP_DROPOUT) continue;
    const Value *p = &graph->values[graph->values[i].operand[1]];
    if (p->op == OP_OPTION && p->as.index == option) return true;
  }
  return false;
}

static void emit_options(const Emission *m, FILE *out) {
  const TypedProgram *p = m->program;
  if (!p->option_count) return;
  fprintf(out, "static const gnn_option_desc options[] = {\n");
  for (int i = 0; i < p->option_count; i++)
    fprintf(out, "  {%s, %s, %.17g, %d, %s, %.17g, %.17g},\n", escape_c(m->arena, p->options[i].name), escape_c(m->arena, p->options[i].help), p->options[i].value, is_probability(m, i),
            p->options[i].as ? escape_c(m->arena, p->options[i].as) : "NULL", p->options[i].least, p->options[i].most);
  fprintf(out, "};\n\n");
}

/* On the SSD. */
static const char *away_side(const Emission *m, int away) {
  const int *extent = m->layout->away_extent;
  return arena_printf(m->arena, "{GNN_SSD, %d, %d}", extent[away], extent[away + 1] - extent[away]);
}

/* On the device, or in the host arena. */
static const char *place_of(const Emission *m, int block, int away) {
  if (away == NO_INDEX) return at(m, block);
  return m->layout->residents->away[away].tier == TIER_SSD ? "-1" : arena_printf(m->arena, "%" PRId64, m->layout->residents->away[away].at);
}

static void emit_home_of_weight(const Emission *m, int weight, int best, int state_count, const int *states, FILE *out) {
  if (weight == NO_INDEX) return;
  if (m->layout->residents->away[weight].tier == TIER_HOST) {
    fprintf(out, ",\n   .is_on_host = 1");
    if (best != NO_INDEX) fprintf(out, ", .at_best = %" PRId64, m->layout->residents->away[best].at);
    return;
  }
  fprintf(out, ",\n   .home = %s", away_side(m, weight));
  for (int s = 0; s < state_count; s++) fprintf(out, "%s%s", s ? ", " : ", .home_state = {", away_side(m, states[s]));
  if (state_count) fprintf(out, "}");
  if (best != NO_INDEX) fprintf(out, ", .home_best = %s", away_side(m, best));
}

static void emit_weights(const Emission *m, FILE *out) {
  static const char *const inits[] = {"GNN_INIT_CONSTANT", "GNN_INIT_UNIFORM", "GNN_INIT_NORMAL"};
  const TypedProgram *p = m->program;
  const Layout *y = m->layout;
  if (!p->param_count) return;
  fprintf(out, "static const gnn_weight_desc weights[] = {\n");
  for (int i = 0; i < p->param_count; i++) {
    const TypedParam *param = &p->params[i];
    int64_t count = 1;
    fprintf(out, "  {.name = %s, .rank = %d, .shape = {", escape_c(m->arena, param->name), param->type.rank);
    for (int d = 0; d < param->type.rank; d++) {
      const int64_t size = d == 0 && param->rows_of != DOMAIN_NONE ? typed_rows(p->info->of_all, param->rows_of) : param->type.dim[d].size;
      fprintf(out, "%s%" PRId64, d ? ", " : "", size);
      count *= size;
    }
    if (!param->type.rank) fprintf(out, "0");
    ValueId gradient = m->training && m->training->graph->gradients ? m->training->graph->gradients[i] : NO_VALUE;
    const Block *at_gradient = gradient == NO_VALUE ? NULL : layout_at(y, m->training, gradient, 0, m->schedule->backward_end - 1);
    const char *states[MAX_STATES] = {"-1", "-1", "-1"}; /* those that there are, side by side */
    int state_count = 0, away[MAX_STATES];
    for (int s = 0; s < MAX_STATES; s++) {
      if (!weight_has_state(p, i, s)) continue;
      away[state_count] = y->residents->state_away[s][i];
      states[state_count++] = place_of(m, y->residents->state[s][i], y->residents->state_away[s][i]);
    }
    fprintf(out, "}, .count = %" PRId64 ", .init = %s, .a = %.17g, .is_trained = %d,\n   .at = %s, .at_gradient = %s, .state_count = %d, .at_state = {%s, %s, %s}",
            count, inits[param->init], param->a, param->is_trained, place_of(m, y->residents->weight[i], y->residents->weight_away[i]),
            at_gradient ? arena_printf(m->arena, "AT_%s", at_gradient->name) : "-1", state_count, states[0], states[1], states[2]);
    emit_home_of_weight(m, y->residents->weight_away[i], y->residents->best_away[i], state_count, away, out);
    if (param->rows_of != DOMAIN_NONE) fprintf(out, ", .has_own_rows = 1, .rows_of = %d", domain_set(param->rows_of));
    fprintf(out, "},\n");
  }
  fprintf(out, "};\n\n");
}

/* Of what may lie away from the device. */
static void emit_home(const Emission *m, const char *what, int away, FILE *out) {
  if (away != NO_INDEX && m->layout->residents->away[away].tier == TIER_SSD) fprintf(out, ", .%s_home = %s", what, away_side(m, away));
  else if (away != NO_INDEX) fprintf(out, ", .is_%s_on_host = 1", what);
}

static bool has_field(const Emission *m, int f) { return m->layout->residents->field[f] != NO_INDEX || m->layout->residents->field_away[f] != NO_INDEX; }

/* Some of its numbers that are not 0 are at home elsewhere than on the device, which all are then. */
static bool has_entries_away(const Emission *m, int32_t field) { return m->layout->residents->entries_away[field][0][0] != NO_INDEX; }

/* Of sparse features, in the order of gnn_field_desc.at, and where they are at home. */
static void emit_sparse_places(const Emission *m, int32_t f, FILE *out) {
  const Residents *y = m->layout->residents;
  const bool is_away = has_entries_away(m, f), is_on_ssd = is_away && y->away[y->entries_away[f][0][0]].tier == TIER_SSD;
  for (int k = 0; k < SPARSE_BLOCKS; k++) {
    const int at_home = k == 0 ? y->entry_offsets_away[f] : k % 4 == 1 || k % 4 == 2 ? y->entries_away[f][k / 4][k % 4 - 1] : NO_INDEX;
    fprintf(out, "%s%s", k ? ", " : "", place_of(m, y->sparse[f][k], at_home));
  }
  fprintf(out, "}");
  if (!is_away) return;
  if (is_on_ssd) fprintf(out, ", .entries_home = {%s, %s, %s, %s}", away_side(m, y->entries_away[f][0][0]), away_side(m, y->entries_away[f][0][1]), away_side(m, y->entries_away[f][1][0]), away_side(m, y->entries_away[f][1][1]));
  else fprintf(out, ", .is_on_host = 1");
  emit_home(m, "ptr", y->entry_offsets_away[f], out);
  const Parts *parts = m->evaluation_plan->problem->parts;
  if (parts->count == 1) return;
  fprintf(out, ",\n   .part_entries = {part_entries_%d", f);
  fprintf(out, parts->entries[f].column ? ", part_column_entries_%d}, .part_columns = part_columns_%d" : "}", f, f);
}

static int field_index(const Emission *m, int32_t field) {
  int index = 0;
  for (int f = 0; f < field; f++) index += has_field(m, f);
  return index;
}

static void emit_fields(const Emission *m, FILE *out) {
  const TypedProgram *p = m->program;
  int sparse = 0, used = 0;
  for (int f = 0; f < p->field_count; f++) used += has_field(m, f);
  if (!used) return;
  fprintf(out, "static const gnn_field_desc fields[] = {\n");
  for (int f = 0; f < p->field_count; f++) {
    if (!has_field(m, f)) continue;
    const int32_t away = m->layout->residents->field_away[f];
    const bool is_away = away != NO_INDEX;
    const TypedField *field = &p->fields[f];
    bool is_label = field->type.dtype == DTYPE_CLASS, is_sparse = m->is_sparse_field[f];
    int64_t width = 1;
    for (int d = 0; d < field->type.rank; d++) width *= field->type.dim[d].size;
    fprintf(out, "  {.name = %s, .domain = %s, .set = %d, .storage = %s, .width = %" PRId64 ", .classes = %" PRId64 ",\n", escape_c(m->arena, field->name),
            emit_domain_word(field->type.domain), emit_set_number(field->type.domain), is_label ? "GNN_LABEL" : is_sparse ? "GNN_SPARSE" : "GNN_DENSE",
            width, is_label ? field->type.classes : 0);
    fprintf(out, "   .nonzeros = %" PRId64 ", .sparse = %d, .is_row_normalised = %d, .is_half = %d, .at = {", is_sparse ? field->nonzeros : -1,
            is_sparse ? sparse++ : -1, field->is_row_normalised, m->layout->residents->is_field_half[f]);
    if (is_away && m->layout->residents->away[away].tier == TIER_SSD) {
      const Away *home = &m->layout->residents->away[away];
      fprintf(out, "-1}, .home = %s", away_side(m, away));
      if (home->file) fprintf(out, ", .window = INT64_C(%" PRId64 ")", home->at);
    } else if (is_away) {
      fprintf(out, "%" PRId64 "}, .is_on_host = 1", m->layout->residents->away[away].at);
    } else if (is_sparse) {
      emit_sparse_places(m, f, out);
    } else {
      fprintf(out, "%s}", at(m, m->layout->residents->field[f]));
    }
    const int64_t stride = is_away ? m->layout->residents->away[away].padding.stride : m->layout->blocks[m->layout->residents->field[f]].padding.stride;
    fprintf(out, stride ? ", .stride = %" PRId64 "},\n" : "},\n", stride);
  }
  fprintf(out, "};\n\n");
}

static void emit_steps(const Emission *m, FILE *out) {
  fprintf(out, "static const gnn_step_desc steps[] = {\n");
  for (int s = 0; s < schedule_step_count(m->schedule); s++) {
    const Step *step = &m->schedule->steps[s];
    double seconds = step->kind == STEP_WAIT ? 0 : step->cost.seconds; /* a wait takes as long as it must */
    fprintf(out, "  {%d, \"%s\", \"%s\", %s, %d, %.9g, INT64_C(%" PRId64 "), %.9g},\n", step->number, lane_names[step->lane], schedule_phase(m->schedule, s),
            escape_c(m->arena, step->what), (int)step->place.line, seconds, step->cost.bytes, step->start_seconds);
  }
  fprintf(out, "};\n\n");
}

/* Where to look for the first number that is not finite. */
static int emit_values(const Emission *m, FILE *out) {
  int count = 0;
  for (int s = 0; s < m->schedule->count && m->backend == BACKEND_CPU; s++) {
    const Step *step = &m->schedule->steps[s];
    bool is_update = s >= m->schedule->backward_end && s < m->schedule->training_count;
    const Kernel *kernel = step->kind == STEP_KERNEL && !is_update ? &step->kernels->kernels[step->kernel] : NULL;
    for (int k = 0; kernel && !kernel_exchanges(kernel) && k < kernel->output_count; k++) { /* copies have what was seen before */
      const Value *value = &step->kernels->graph->values[kernel->outputs[k]];
      const Block *block = layout_at(m->layout, step->kernels, kernel->outputs[k], step->part, s);
      const bool is_of_some = typed_are_all_nodes(m->program->info, value->shape.domain); /* ranks without columns have numbers that mean nothing there */
      if (value->shape.element != ELEMENT_REAL || !block || kernel->kind == KERNEL_CROSS_ENTROPY || is_of_some) continue;
      bool is_later = step->part && step->part < step->parts->count && block->part == 0; /* the last part has all its rows */
      if (is_later) continue;
      if (count++ == 0) fprintf(out, "static const gnn_value_desc values[] = {\n");
      bool is_matrix = value->shape.domain == DOMAIN_NONE && value->shape.rank > 1;
      int64_t numbers = shape_width(&value->shape), width = is_matrix ? value->shape.size[value->shape.rank - 1] : numbers;
      const char *name = block->part ? parts_name(step->parts, block->value, value->name, block->part) : block->name;
      fprintf(out, "  {%d, %d, %s, %s, %" PRId64 ", %" PRId64 ", AT_%s, %d},\n", step->number, (int)value->place.line, escape_c(m->arena, name),
              block->part ? value->shape.domain == DOMAIN_EDGE ? "GNN_ROWS_EDGES_OF_PART" : "GNN_ROWS_PART" : emit_rows_word(value->shape.domain), value->shape.domain == DOMAIN_NONE ? numbers / width : block->part ? block->part : domain_set(value->shape.domain), width, block->name,
              kernels_is_half(step->kernels, kernel->outputs[k]));
    }
  }
  if (count) fprintf(out, "};\n\n");
  return count;
}

static void emit_numbers(const char *name, const int64_t *numbers, int last, FILE *out) {
  fprintf(out, "static const int64_t %s[] = {", name);
  for (int i = 0; i <= last; i++) fprintf(out, "%s%" PRId64, i ? ", " : "", numbers[i]);
  fprintf(out, "};\n");
}

static bool has_graph_away(const Residents *y) { return y->neighbours_away[END_SRC] != NO_INDEX || y->neighbours_away[END_DST] != NO_INDEX; }

static const char *const pairs_names[] = {[HALO_FOR_SRC] = "pairs_out", [HALO_FOR_DST] = "pairs_in", [HALO_OF_EDGES] = "pairs_of_edges"};

/* Those that stay away, or values on edges. */
static bool has_parts_of_edges(const Emission *m) {
  return has_graph_away(m->layout->residents) || parts_cut_edges(m->evaluation_plan->problem->parts) || (m->training_plan && parts_cut_edges(m->training_plan->problem->parts)) ||
         (m->schedule->once_plan && parts_cut_edges(m->schedule->once_plan->problem->parts));
}

static void emit_parts(const Emission *m, FILE *out) {
  const Parts *parts = m->evaluation_plan->problem->parts;
  if (parts->ranks && parts->count > 1 && m->layout->residents->away_count) {
    fprintf(out, "/* The rows at which the parts of what is away begin, each with room for the most that a rank has. */\n");
    emit_numbers("part_first", parts->first, parts->count, out);
  }
  if (parts->count == 1 || parts->ranks) return;
  fprintf(out, "/* The rows at which the parts of the nodes begin. */\n");
  emit_numbers("part_first", parts->first, parts->count, out);
  if (m->backend == BACKEND_CPU) emit_row_parts(m, "", out);
  for (int kind = 0; kind < HALO_KINDS; kind++) {
    if (m->layout->residents->halo[kind].first == NO_INDEX) continue;
    if (kind == HALO_OF_EDGES) fprintf(out, "/* How many edges go from each part to each. */\n");
    else fprintf(out, "/* How many rows of each part the rows of each gather over %s-edges. */\n", kind == HALO_FOR_DST ? "in" : "out");
    emit_numbers(pairs_names[kind], parts->halo[kind].pairs, (1 << 2 * parts->levels) - 1, out);
  }
  if (has_parts_of_edges(m)) {
    fprintf(out, "/* How many edges go to the parts before, and come from them. */\n");
    emit_numbers("part_in", parts->edges[END_DST], parts->count, out);
    emit_numbers("part_out", parts->edges[END_SRC], parts->count, out);
  }
  if (are_rows_away(m)) fprintf(out, "/* How many labelled rows of each split the parts before have. */\n");
  for (int s = 0; s < SPLIT_COUNT && are_rows_away(m); s++) emit_numbers(arena_printf(m->arena, "part_rows_%d", s), parts->labelled[s], parts->count, out);
  for (int f = 0; f < m->program->field_count; f++) {
    if (!has_entries_away(m, f)) continue;
    fprintf(out, "/* How many numbers of %s that are not 0 lie in the parts before; and of parts of its columns, where these begin. */\n", escape_comment(m->arena, m->program->fields[f].name));
    emit_numbers(arena_printf(m->arena, "part_entries_%d", f), parts->entries[f].before[0], parts->count, out);
    if (!parts->entries[f].column) continue;
    emit_numbers(arena_printf(m->arena, "part_column_entries_%d", f), parts->entries[f].before[1], parts->count, out);
    emit_numbers(arena_printf(m->arena, "part_columns_%d", f), parts->entries[f].column, parts->count, out);
  }
  fprintf(out, "\n");
}

static void emit_names_list(const Emission *m, const char *list, const char *const *names, int count, FILE *out) {
  if (!count) return;
  fprintf(out, "static const char *const %s[] = {", list);
  for (int i = 0; i < count; i++) fprintf(out, "%s%s", i ? ", " : "", escape_c(m->arena, names[i]));
  fprintf(out, "};\n\n");
}

static void emit_source_description(const Emission *m, FILE *out) {
  const DataSource *source = &m->program->data->source;
  const DataRecipe *recipe = &m->program->data->recipe;
  if (m->program->info->layout) { /* programs read no YAML */
    fprintf(out, "static const gnn_source_arg source_args[] = {\n  {\"\", %s, 0},\n  {\"layout\", %s, 0},\n};\n\n", escape_c(m->arena, m->program->info->layout_path), escape_c(m->arena, m->program->info->layout));
  } else if (source->arg_count) {
    fprintf(out, "static const gnn_source_arg source_args[] = {\n");
    for (int i = 0; i < source->arg_count; i++)
      fprintf(out, "  {%s, %s, %.17g},\n", escape_c(m->arena, source->args[i].key), escape_c(m->arena, source->args[i].text), source->args[i].number);
    fprintf(out, "};\n\n");
  }
  int file_fields = 0;
  for (int i = 0; i < m->program->data->decl_count; i++) {
    const FieldDecl *decl = &m->program->data->decls[i];
    if (!decl->source) continue;
    if (file_fields++ == 0) fprintf(out, "static const gnn_file_field file_fields[] = {\n");
    const SourceArg *args = decl->source->args;
    const bool is_raw = decl->source->arg_count == 4;
    fprintf(out, "  {%s, %s, %s, %s, %" PRId64 ", %" PRId64 "},\n", escape_c(m->arena, decl->name), escape_c(m->arena, args[0].text), emit_domain_word(decl->domain), is_raw ? escape_c(m->arena, args[1].text) : "0",
            is_raw ? (int64_t)args[2].number : 0, is_raw ? (int64_t)args[3].number : 0);
  }
  if (file_fields) fprintf(out, "};\n\n");
  if (recipe->number_count) {
    fprintf(out, "static const gnn_number_field numbers[] = {\n");
    for (int i = 0; i < recipe->number_count; i++) {
      const struct NumberField *number = &recipe->numbers[i];
      int64_t width = number->width;
      for (int f = 0; number->is_onehot && f < m->program->info->field_count; f++)
        if (strcmp(m->program->info->fields[f].name, number->name) == 0) width = m->program->info->fields[f].width;
      fprintf(out, "  {%s, %d, %" PRId64 "},\n", escape_c(m->arena, number->name), number->is_onehot, width);
    }
    fprintf(out, "};\n\n");
  }
  emit_names_list(m, "normalised", recipe->normalised, recipe->normalised_count, out);
  emit_names_list(m, "reversed", recipe->reversed, recipe->reversed_count, out);
  emit_names_list(m, "class_fields", recipe->class_fields, recipe->class_field_count, out);
}

typedef struct TapList {
  NameTable told;
  int count, scores_count, untold_count; /* of the first, names of scores that end away from the device */
} TapList;

static void emit_tap_names(const Emission *m, const ToldName *names, TapList *list, FILE *out) {
  for (const ToldName *name = names; name; name = name->next) {
    if (name_table_find(&list->told, name->text) >= 0) continue;
    fprintf(out, list->count ? ", %s" : "static const char *const taps[] = {%s", escape_c(m->arena, name->text));
    name_table_add(m->arena, &list->told, name->text, list->count++);
  }
}

/* Each name once, in the order in which evaluate has their values; then those of the program that are not among them. */
static TapList emit_taps(const Emission *m, FILE *out) {
  const TypedProgram *program = m->program;
  TapList list = {0};
  if (are_scores_away(m)) emit_tap_names(m, names_of(m, m->evaluation->graph, m->evaluation->graph->scores, m->evaluation->precision != PRECISION_BF16), &list, out);
  list.scores_count = list.count;
  for (int s = m->schedule->training_count; s < m->schedule->count; s++) {
    const Step *step = &m->schedule->steps[s];
    if (step->kind != STEP_KERNEL) continue;
    const Kernel *kernel = &step->kernels->kernels[step->kernel];
    for (int k = 0; k < kernel->output_count; k++) emit_tap_names(m, told_names(m, s, kernel->outputs[k]), &list, out);
  }
  if (list.count) fprintf(out, "};\n");
  for (int i = 0; i < program->naming_count; i++) {
    const Naming *naming = &program->namings[i];
    if (!naming->name || name_table_find(&list.told, naming->path) >= 0) continue;
    fprintf(out, list.untold_count ? ", %s" : "static const char *const untold[] = {%s", escape_c(m->arena, naming->path));
    name_table_add(m->arena, &list.told, naming->path, list.count + list.untold_count++);
  }
  fprintf(out, list.untold_count ? "};\n\n" : list.count ? "\n" : "");
  return list;
}

/* What the steps and the runtime are told of the loss, and the metrics. */
static void emit_measures(const Emission *m, FILE *out) {
  const TypedProgram *p = m->program;
  const TrainSpec *t = &p->train;
  if (!loss_is_plain(t)) {
    if (t->class_weights) emit_class_weights(m, "static const double class_weights[]", out);
    fprintf(out, "static const gnn_loss LOSS_SETTINGS = {GNN_LOSS_%s, %d, %.17g, %.17g, %.17g, %s};\n\n", loss_enumerators[t->loss],
            p->fields[t->label_field].type.dtype == DTYPE_CLASS, t->smoothing, t->delta, t->pos_weight, t->class_weights ? "class_weights" : "NULL");
  }
  if (!t->metric_count) return;
  fprintf(out, "static const gnn_metric metrics[] = {");
  for (int i = 0; i < t->metric_count; i++)
    fprintf(out, "%s{GNN_METRIC_%s, %" PRId64 ", \"%s\"}", i ? ", " : "", metric_enumerators[t->metrics[i].kind], t->metrics[i].argument, t->metrics[i].name);
  fprintf(out, "};\n\n");
}

/* gnn_rate_cosine(g->option[0], 200, 0, done) */
static const char *rate_text(const Emission *m, const RateSchedule *schedule) {
  const ScheduleInfo *info = &schedule_info[schedule->kind];
  const char *warmup = schedule->warmup == NO_INDEX ? NULL : emit_scalar(m, schedule->warmup);
  const char *done = warmup ? arena_printf(m->arena, "done - %s", warmup) : "done";
  const char *text = arena_printf(m->arena, "gnn_rate_%s(", info->name);
  for (int a = 0; a < info->argument_count; a++) text = arena_printf(m->arena, "%s%s, ", text, emit_scalar(m, schedule->argument[a]));
  text = arena_printf(m->arena, "%s%s)", text, schedule->kind == SCHEDULE_PLATEAU ? "(double)g->reductions" : done);
  return warmup ? arena_printf(m->arena, "gnn_rate_warmup(%s, %s, done)", warmup, text) : text;
}

static void emit_rates(const Emission *m, FILE *out) {
  const TrainSpec *train = &m->program->train;
  fprintf(out, "/* The learning rates of an epoch. */\nstatic void rates(gnn_run *g) {\n  const double done = (double)(g->epoch - 1);\n  (void)done;\n");
  for (int i = 0; i < train->schedule_count; i++) fprintf(out, "  g->rate[%d] = %s;\n", i, rate_text(m, &train->schedules[i]));
  fprintf(out, "}\n\n");
}

/* Of the states of a trained weight, in the order of emit_weights. */
static void emit_state_names(const Emission *m, FILE *out) {
  const char *names[MAX_STATES] = {optimizer_info[m->program->train.optimizer].state_names[0], optimizer_info[m->program->train.optimizer].state_names[1], "opt.accumulated."};
  int p = 0;
  while (p < m->program->param_count && !m->program->params[p].is_trained) p++;
  int count = 0;
  for (int s = 0; s < MAX_STATES && p < m->program->param_count; s++)
    if (weight_has_state(m->program, p, s)) fprintf(out, count++ ? ", \"%s\"" : "  .state_names = {\"%s\"", names[s]);
  if (count) fprintf(out, "},\n");
}

/* In the host arena. */
static const char *away_at(const Emission *m, int index) {
  return index == NO_INDEX || m->layout->residents->away[index].tier == TIER_SSD ? "-1" : arena_printf(m->arena, "%" PRId64, m->layout->residents->away[index].at);
}

/* The sets of edges, and where their arrays lie. */
static void emit_edge_sets(const Emission *m, FILE *out) {
  const DataInfo *info = m->program->info;
  fprintf(out, "static const gnn_edge_set_desc edge_sets[] = {\n");
  for (int set = 0; set < typed_edge_sets(info); set++) {
    const struct EdgeSetBlocks *b = &m->layout->residents->sets[set];
    const Domain edges = typed_edge_set(info, set), src = domain_at(edges, END_SRC), dst = domain_at(edges, END_DST);
    const int64_t count = typed_rows(info, edges);
    fprintf(out, "  {.name = %s, .src = %d, .dst = %d, .edges = %" PRId64 ", .has_out = %d, .is_symmetric = %d,\n", escape_c(m->arena, typed_domain_name(info, edges)), domain_set(src), domain_set(dst),
            count, b->has_out, b->is_symmetric);
    const bool is_away = edges == DOMAIN_EDGE && has_graph_away(m->layout->residents);
    const int *offsets = m->layout->residents->offsets_away;
    const bool has_offsets_away = edges == DOMAIN_EDGE && (offsets[END_DST] != NO_INDEX || offsets[END_SRC] != NO_INDEX);
    const int out_edges = edges == DOMAIN_EDGE ? m->layout->residents->out_edges_away : NO_INDEX;
    const int *away = m->layout->residents->neighbours_away, *degree = m->layout->residents->degree_away, first = away[END_DST] != NO_INDEX ? away[END_DST] : away[END_SRC];
    fprintf(out, "   .at_in_ptr = %s, .at_in_idx = %s, .at_in_bounds = %s, .at_out_ptr = %s, .at_out_idx = %s, .at_out_edge = %s, .at_out_bounds = %s,\n", has_offsets_away ? away_at(m, offsets[END_DST]) : at(m, b->in_ptr),
            is_away ? away_at(m, away[END_DST]) : at(m, b->in_idx), at(m, b->in_bounds), has_offsets_away ? away_at(m, offsets[END_SRC]) : at(m, b->out_ptr), is_away ? away_at(m, away[END_SRC]) : at(m, b->out_idx), place_of(m, b->out_edge, out_edges), at(m, b->out_bounds));
    const bool is_on_ssd = is_away && m->layout->residents->away[first].tier == TIER_SSD;
    if (out_edges != NO_INDEX && is_on_ssd) fprintf(out, "   .out_edge_home = %s,\n", away_side(m, out_edges));
    if (is_away && !is_on_ssd) fprintf(out, "   .is_idx_on_host = 1,%s\n", has_offsets_away ? " .is_ptr_on_host = 1," : "");
    if (is_on_ssd && offsets[END_DST] != NO_INDEX) fprintf(out, "   .in_ptr_home = %s,\n", away_side(m, offsets[END_DST]));
    if (is_on_ssd && offsets[END_SRC] != NO_INDEX) fprintf(out, "   .out_ptr_home = %s,\n", away_side(m, offsets[END_SRC]));
    if (is_on_ssd && degree[END_DST] != NO_INDEX) fprintf(out, "   .in_degree_home = %s,\n", away_side(m, degree[END_DST]));
    if (is_on_ssd && degree[END_SRC] != NO_INDEX) fprintf(out, "   .out_degree_home = %s,\n", away_side(m, degree[END_SRC]));
    if (is_on_ssd && away[END_DST] != NO_INDEX) fprintf(out, "   .in_home = %s,\n", away_side(m, away[END_DST]));
    if (is_on_ssd && away[END_SRC] != NO_INDEX) fprintf(out, "   .out_home = %s,\n", away_side(m, away[END_SRC]));
    if (m->backend == BACKEND_CUDA && residents_hub_room(count))
      fprintf(out, "   .hub_room = %" PRId64 ", .at_in_hubs = %s, .at_out_hubs = %s,\n", residents_hub_room(count), at(m, b->in_hubs), at(m, b->out_hubs));
    if (info->is_of_rank && set >= EDGES_OF_RELATIONS) fprintf(out, "   .table = %" PRId64 ", .at_id = %s,\n", info->ranks->related_table[set - EDGES_OF_RELATIONS], at(m, b->id));
    fprintf(out, "   .at_in_degree = %s, .at_out_degree = %s},\n", is_away ? away_at(m, degree[END_DST]) : at(m, b->degree[END_DST]), is_away ? away_at(m, degree[END_SRC]) : at(m, b->degree[END_SRC]));
  }
  fprintf(out, "};\n\n");
  if (info->type_count) fprintf(out, "static const gnn_node_type_desc node_types[] = {\n");
  for (int i = 0; i < info->type_count; i++) fprintf(out, "  {.name = %s, .nodes = %" PRId64 "},\n", escape_c(m->arena, info->types[i].name), info->types[i].nodes);
  if (info->type_count) fprintf(out, "};\n\n");
}

/* Those of the graph say whether it is shared out as it was; of relations, those that are exchanged. */
static bool has_pairs(const Emission *m, int halo) { return halo < GNN_HALOS || m->layout->residents->halo[kind_of_halo(halo)].row != NO_INDEX; }

static const char *pairs_of_halo(const Emission *m, int halo) {
  static const char *const names[] = {"pairs_in", "pairs_out", "pairs_of_edges"};
  return halo < GNN_HALOS ? names[halo] : arena_printf(m->arena, "pairs_%d", halo);
}

/* How the nodes are shared out. */
static void emit_ranks(const Emission *m, FILE *out) {
  const RankInfo *ranks = m->program->info->is_of_rank ? m->program->info->ranks : NULL;
  if (!ranks) return;
  fprintf(out, "/* Which parts, and rows, the ranks own; how many rows each gathers of each over in-edges and out-edges, and how many edges it gets. */\nextern const gnn_net gnn_mpi;\nstatic const int first_part[] = {");
  for (int r = 0; r <= ranks->count; r++) fprintf(out, "%s%d", r ? ", " : "", ranks->first_part[r]);
  fprintf(out, "};\n");
  emit_numbers("first_row", ranks->first, ranks->count, out);
  const struct HaloBlocks *blocks = m->layout->residents->halo;
  for (int h = 0; h < ranks->halos; h++)
    if (has_pairs(m, h)) emit_numbers(pairs_of_halo(m, h), ranks->pairs[kind_of_halo(h)], ranks->count * ranks->count - 1, out);
  fprintf(out, "static const int64_t *const gathered[] = {");
  for (int h = 0; h < ranks->halos; h++) fprintf(out, "%s%s", h ? ", " : "", has_pairs(m, h) ? pairs_of_halo(m, h) : "NULL");
  fprintf(out, "};\nstatic const int64_t at_send[] = {");
  for (int h = 0; h < ranks->halos; h++) fprintf(out, "%s%s", h ? ", " : "", at(m, blocks[kind_of_halo(h)].row));
  fprintf(out, "};\nstatic const gnn_ranks_desc ranks = {%d, %d, INT64_C(%" PRId64 "), INT64_C(%" PRId64 "), first_part, first_row, %d, gathered, at_send", ranks->count, ranks->part_levels, ranks->nodes, ranks->edges, ranks->halos);
  static const char *const boundaries[] = {"GNN_BOUNDARY_EXACT", "GNN_BOUNDARY_STALE", "GNN_BOUNDARY_SAMPLE"};
  fprintf(out, ", &gnn_mpi, %s, %.17g, %d, INT64_C(%" PRId64 "), %d", boundaries[m->program->train.boundary], m->program->train.boundary_number, m->evaluation_plan->problem->parts->finer, passing_bytes(m->program, m->schedule, m->machine),
          m->program->info->has_all ? domain_set(typed_all_edges(m->program->info)) : 0);
  const DataInfo *all = m->program->info->of_all;
  int64_t nodes = all->nodes, edges = all->edges;
  for (int t = 0; t < all->type_count; t++) nodes += all->types[t].nodes;
  for (int i = 0; i < all->relation_count && all->type_count > 0; i++) edges += all->relations[i].edges;
  fprintf(out, ", .all_nodes = INT64_C(%" PRId64 "), .all_edges = INT64_C(%" PRId64 "), .all_rows = {INT64_C(%" PRId64 "), INT64_C(%" PRId64 "), INT64_C(%" PRId64 ")}};\n\n", nodes, edges, all->split_count[0], all->split_count[1], all->split_count[2]);
}

static void emit_program(const Emission *m, int value_count, const TapList *taps, FILE *out) {
  const TypedProgram *p = m->program;
  const Layout *y = m->layout;
  const DataRecipe *r = &p->data->recipe;
  const TrainSpec *t = &p->train;
  static const char *const loops[] = {"GNN_LOOPS_KEEP", "GNN_LOOPS_ADD", "GNN_LOOPS_REMOVE"};
  int used_fields = 0;
  for (int f = 0; f < p->field_count; f++) used_fields += has_field(m, f);
  fprintf(out, "const gnn_program PROGRAM = {\n  .abi = GNN_ABI,\n  .real_bytes = sizeof(gnn_real),\n");
  fprintf(out, "  .generator = \"generated by gnncc " GNNCC_VERSION "\",\n  .name = %s,\n  .data_name = %s,\n  .source_name = %s,\n  .fingerprint = \"%s\",\n  .model_fingerprint = \"%s\",\n  .plan_json = PLAN,\n", escape_c(m->arena, p->name),
          escape_c(m->arena, p->data->name), escape_c(m->arena, m->model_path), m->fingerprint, m->model_fingerprint);
  fprintf(out, "  .device_bytes = %" PRId64 ",\n  .reserve_bytes = %" PRId64 ",\n  .data_bytes = %" PRId64 ",\n  .loading_bytes = %" PRId64 ",\n  .process_bytes = %" PRId64 ",\n  .address_bytes = %" PRId64 ",\n  .estimated_epoch_seconds = %.9g,\n", y->bytes,
          m->machine->reserve_bytes, m->process.data, m->process.loading, m->process.resident, m->process.addresses, m->schedule->training_seconds * (double)(t->batch_graphs ? t->batch_count : 1));
  if (p->has_target && p->target.device) fprintf(out, "  .device_name = %s,\n", escape_c(m->arena, p->target.device));
  fprintf(out, "  .device_budget = %" PRId64 ",\n", m->machine->tier_bytes[TIER_DEVICE]);
  fprintf(out, "  .host_bytes = %" PRId64 ",\n  .ssd_bytes = %" PRId64 ",\n  .ring_bytes = %" PRId64 ",\n", y->host_bytes, y->ssd_bytes, y->ring_bytes);
  if (m->schedule->copy_count)
    fprintf(out, "  .copy_count = %d,\n  .copies = copies,\n  .extent_count = %d,\n%s", m->schedule->copy_count + scores_copies(m), y->extent_count, m->schedule->slot_count ? "  .extents = extents,\n" : "");
  if (m->slowdown > 0) fprintf(out, "  .is_simulated = 1,\n  .slowdown = %.9g,\n", m->slowdown);
  if (m->machine->scratch_dir) fprintf(out, "  .scratch_dir = %s,\n", escape_c(m->arena, m->machine->scratch_dir));
  if (p->info->layout) fprintf(out, "  .source = {.kind = \"dgl\", .arg_count = 2, .args = source_args},\n");
  else fprintf(out, "  .source = {.kind = %s, .arg_count = %d%s},\n", escape_c(m->arena, p->data->source.kind), p->data->source.arg_count,
          p->data->source.arg_count ? ", .args = source_args" : "");
  fprintf(out, "  .recipe = {.is_undirected = %d%s, .self_loops = %s, .normalised_count = %d%s,\n             .has_random_split = %d, .split_fraction = {%.17g, %.17g, %.17g}, .split_seed = %" PRIu64 "u, .split_index = %d",
          r->is_undirected, r->keeps_duplicates ? ", .keeps_duplicates = 1" : "", loops[r->self_loops], r->normalised_count, r->normalised_count ? ", .normalised = normalised" : "",
          r->has_random_split, r->split_fraction[0], r->split_fraction[1], r->split_fraction[2], r->split_seed, r->split_index);
  int file_fields = 0;
  for (int i = 0; i < p->data->decl_count; i++) file_fields += p->data->decls[i].source != NULL;
  if (file_fields) fprintf(out, ",\n             .file_field_count = %d, .file_fields = file_fields", file_fields);
  if (r->number_count) fprintf(out, ",\n             .number_count = %d, .numbers = numbers", r->number_count);
  if (r->class_field_count) fprintf(out, ",\n             .class_field_count = %d, .class_fields = class_fields", r->class_field_count);
  if (r->pairs.name)
    fprintf(out, ",\n             .pairs = {.name = %s, .valid = %.17g, .test = %.17g, .negatives = %" PRId64 ", .keeps_source = %d, .is_resampled = %d, .seed = %" PRIu64 "u, .is_stored = %d}", escape_c(m->arena, r->pairs.name),
            r->pairs.valid, r->pairs.test, r->pairs.negatives, r->pairs.keeps_source, r->pairs.is_resampled, r->pairs.seed, r->pairs.is_stored);
  if (r->has_folds) fprintf(out, ", .has_folds = 1, .fold_count = %" PRId64 ", .fold_has_valid = %d", r->fold_count, r->fold_has_valid);
  if (r->reverses_all) fprintf(out, ",\n             .reverses_all = 1");
  if (r->reversed_count) fprintf(out, ",\n             .reversed_count = %d, .reversed = reversed", r->reversed_count);
  if (r->target) fprintf(out, ",\n             .target = %s, .is_target_number = %d", escape_c(m->arena, r->target), r->is_target_number);
  if (r->order == ORDER_NESTED) fprintf(out, ",\n             .order = GNN_ORDER_NESTED");
  if (r->order == ORDER_FILE)
    fprintf(out, ",\n             .order = GNN_ORDER_FILE, .order_path = %s, .order_fingerprint = %" PRIu64 "u", escape_c(m->arena, r->order_path), p->info->order_fingerprint);
  if (p->info->is_of_rank && p->info->graph_fingerprint) fprintf(out, ",\n             .graph_fingerprint = %" PRIu64 "u, .edges_read = (int64_t)%" PRIu64 "u", p->info->graph_fingerprint, (uint64_t)p->info->edges_read);
  fprintf(out, "},\n");
  fprintf(out, "  .graph = {.nodes = %" PRId64 ", .edges = %" PRId64 ", .graphs = %" PRId64 ", .has_weights_of_nodes = %d, .at_blocks = %s,\n", p->info->nodes, p->info->edges, p->info->graphs, p->has_weights_of_nodes,
          at(m, y->residents->node_blocks));
  fprintf(out, "            .set_count = %d, .sets = edge_sets,\n", typed_edge_sets(p->info));
  if (p->info->type_count) fprintf(out, "            .type_count = %d, .types = node_types,\n", p->info->type_count);
  if (r->order != ORDER_GIVEN || p->info->is_of_rank) {
    const int *edge_ids = y->residents->edge_ids_away;
    fprintf(out, "            .is_ordered = 1, .at_node_id = %s, .at_edge_id = %s, .at_out_edge_id = %s%s", place_of(m, y->residents->node_id, y->residents->node_ids_away), place_of(m, y->residents->edge_id, edge_ids[END_DST]),
            place_of(m, NO_INDEX, edge_ids[END_SRC]), y->residents->has_ids_of_others ? ", .has_ids_of_others = 1" : "");
    emit_home(m, "node_id", y->residents->node_ids_away, out);
    emit_home(m, "edge_id", edge_ids[END_DST], out);
    emit_home(m, "out_edge_id", edge_ids[END_SRC], out);
    fprintf(out, ",\n");
  }
  const Parts *parts = m->evaluation_plan->problem->parts;
  if (parts->count > 1 && parts->ranks) fprintf(out, "            .part_levels = %d,%s\n", parts->levels, y->residents->away_count ? " .part_first = part_first," : "");
  else if (parts->count > 1) fprintf(out, "            .part_levels = %d, .part_first = part_first,%s\n", parts->levels, has_parts_of_edges(m) ? " .part_in = part_in, .part_out = part_out," : "");
  for (int direction = 0; direction < HALO_KINDS && y->residents->halo_levels; direction++) {
    static const HaloKind kinds[] = {HALO_FOR_DST, HALO_FOR_SRC, HALO_OF_EDGES};
    const struct HaloBlocks *b = &y->residents->halo[kinds[direction]];
    const int rows = y->residents->halo_rows_away[kinds[direction]], codes = kinds[direction] == HALO_OF_EDGES ? y->residents->edge_codes_away : NO_INDEX;
    fprintf(out, "            .halo[%d] = {.at_code = %s, .at_row = %s, .at_first = %s, .pairs = %s, .shift = %d", direction, place_of(m, b->code, codes), place_of(m, b->row, rows), at(m, b->first),
            b->first == NO_INDEX ? "NULL" : pairs_names[kinds[direction]], parts_halo_shift(parts, kinds[direction]));
    emit_home(m, "row", rows, out);
    emit_home(m, "code", codes, out);
    fprintf(out, "},\n");
  }
  const int *stay = y->residents->rows, *leave = y->residents->rows_away;
  if (are_rows_away(m)) fprintf(out, "            .are_rows_on_host = 1,%s\n", parts->count > 1 ? " .part_rows = {part_rows_0, part_rows_1, part_rows_2}," : "");
  fprintf(out, "            .at_rows = {%s, %s, %s}, .row_count = {%" PRId64 ", %" PRId64 ", %" PRId64 "}},\n", place_of(m, stay[0], leave[0]), place_of(m, stay[1], leave[1]),
          place_of(m, stay[2], leave[2]), p->info->split_count[0], p->info->split_count[1], p->info->split_count[2]);
  fprintf(out, "  .field_count = %d,\n%s", used_fields, used_fields ? "  .fields = fields,\n" : "");
  int label = p->has_train && has_field(m, t->label_field) ? field_index(m, t->label_field) : -1;
  const Domain scored = m->evaluation->graph->values[m->evaluation->graph->scores].shape.domain;
  fprintf(out, "  .label_field = %d,\n  .scores_domain = %s,\n  .scores_set = %d,\n  .classes = %" PRId64 ",\n", label, emit_domain_word(scored), emit_set_number(scored), shape_width(&m->evaluation->graph->values[m->evaluation->graph->scores].shape));
  if (p->has_train && t->ring_field != NO_INDEX) fprintf(out, "  .ring_field = %d,\n", field_index(m, t->ring_field));
  fprintf(out, "  .option_count = %d,\n%s  .weight_count = %d,\n%s  .step_count = %d,\n  .steps = steps,\n", p->option_count,
          p->option_count ? "  .options = options,\n" : "", p->param_count, p->param_count ? "  .weights = weights,\n" : "", m->schedule->count);
  if (value_count) fprintf(out, "  .value_count = %d,\n  .values = values,\n", value_count);
  if (p->has_train) {
    fprintf(out, "  .epochs = %" PRId64 ",\n  .runs = %" PRId64 ",\n  .seed = %" PRId64 ",\n  .evaluate_every = %" PRId64 ",\n  .checkpoint_every = %" PRId64 ",\n",
            t->epochs, t->runs, t->seed, t->evaluate_every, t->checkpoint_every);
    fprintf(out, "  .has_keep = %d,\n  .has_stop = %d,\n  .keep_split = %d,\n  .stop_split = %d,\n  .keep_measure = %d,\n  .stop_measure = %d,\n",
            t->has_keep, t->has_stop, (int)t->keep_split, (int)t->stop_split, (int)t->keep_measure, (int)t->stop_measure);
    fprintf(out, "  .patience = %" PRId64 ",\n  .shows = {%d, %d, %d},\n", t->patience, t->shows[0], t->shows[1], t->shows[2]);
    if (!loss_is_plain(t)) fprintf(out, "  .loss = &LOSS_SETTINGS,\n");
    if (t->metric_count) fprintf(out, "  .metric_count = %d,\n  .metrics = metrics,\n", t->metric_count);
    if (t->has_confusion) fprintf(out, "  .has_confusion = 1,\n");
    if (t->batch_graphs) fprintf(out, "  .batch_graphs = %" PRId64 ",\n  .batch_shuffles = %d,\n", p->info->graphs, t->batch_shuffles);
    if (p->info->fold_count) fprintf(out, "  .fold_count = %" PRId64 ",\n", p->info->fold_count);
    if (t->reports_folds) fprintf(out, "  .reports_folds = 1,\n");
    const TypedExpr *rate = &p->exprs[t->schedules[0].argument[0]];
    if (rate->kind == TYPED_OPTION) fprintf(out, "  .rate_option = \"%s\",\n", p->options[rate->index].name);
    if (t->has_plateau)
      fprintf(out, "  .has_plateau = 1,\n  .plateau_split = %d,\n  .plateau_measure = %d,\n  .plateau_patience = %" PRId64 ",\n", (int)t->plateau_split,
              (int)t->plateau_measure, t->plateau_patience);
    emit_state_names(m, out);
    fprintf(out, "  .forward_backward = forward_backward,\n  .rates = rates,\n  .update = update,\n");
  }
  fprintf(out, "  .tap_count = %d,\n%s", taps->count, taps->count ? "  .taps = taps,\n" : "");
  if (taps->scores_count) fprintf(out, "  .scores_tap_count = %d,\n", taps->scores_count);
  if (taps->untold_count) fprintf(out, "  .untold_count = %d,\n  .untold = untold,\n", taps->untold_count);
  const Away *away = y->residents->scores_away == NO_INDEX ? NULL : &y->residents->away[y->residents->scores_away];
  const Block *scores = away ? NULL : layout_at(y, m->evaluation, m->evaluation->graph->scores, 0, m->schedule->count - 1);
  const Padding padding = away ? away->padding : scores->padding;
  if (away) fprintf(out, "  .scores_tier = %s,\n", scores_tier(y));
  if (y->scores_together)
    fprintf(out, "  .at_scores = %" PRId64 ",\n  .scores_copy = %d,\n  .scores_copies = %d,\n  .scores_together = %d,\n  .evaluate = evaluate,\n", y->scores_at, m->schedule->copy_count, scores_copies(m), y->scores_together);
  else if (away) fprintf(out, "  .at_scores = %" PRId64 ",\n  .evaluate = evaluate,\n", y->scores_at);
  else fprintf(out, "  .at_scores = AT_%s,\n  .evaluate = evaluate,\n", scores->name);
  if (padding.stride) fprintf(out, "  .scores_stride = %" PRId64 ",\n", padding.stride);
  if (y->residents->results != NO_INDEX) fprintf(out, "  .has_results = 1,\n  .at_results = AT_results,\n");
  if (t->approximation) fprintf(out, "  .approximation = \"%s\",\n", t->approximation);
  if (p->info->is_of_rank) fprintf(out, "  .ranks = &ranks,\n");
  if (m->backend == BACKEND_CUDA) fprintf(out, "  .backend = &gnn_cuda_backend,\n  .code = &code,\n");
  if (m->keep_order) fprintf(out, "  .keep_order = &keep_order,\n");
  if (m->schedule->once_count) fprintf(out, "  .once_count = %d,\n  .once = once,\n", m->schedule->once_count);
  if (m->has_double) fprintf(out, "#ifndef GNN_DOUBLE\n  .in_double = IN_DOUBLE,\n#endif\n");
  fprintf(out, "  .cpu = GNN_CPU_NAME,\n  .instructions = GNN_INSTRUCTIONS,\n  .sve_bits = GNN_SVE_BITS,\n  .also = OTHER,\n");
  fprintf(out, "};\n");
}

/* plan.json as a literal of C, which PREFIX.c includes. It goes over many lines: C compilers take ten times as long for as many numbers, and longer still for a literal a line. */
void emit_plan_text(const Emission *m, FILE *out) {
  fputs("/* The text of plan.json; generated by gnncc. */\n\"", out);
  for (const char *byte = m->plan_json; *byte; byte++) {
    if (*byte == '\n') fputs("\\n\\\n", out);
    else if (strchr("\"\\?", *byte)) fprintf(out, "\\%c", *byte);
    else fputc(*byte, out);
  }
  fputs("\"\n", out);
}

static const char *kept_text(const Emission *m) {
  const int *count = m->values_by_fate;
  int all = 0;
  for (int f = 0; f < FATE_COUNT; f++) all += count[f];
  if (all == count[FATE_KEEP]) return "every value is kept until its last use";
  return arena_printf(m->arena, "of %d values %d are kept until their last use, %d recomputed, %d moved to the host, %d to the SSD", all,
                      count[FATE_KEEP], count[FATE_RECOMPUTE], count[FATE_HOST], count[FATE_SSD]);
}

static void emit_cpu_steps(const Emission *m, const StepCalls *calls, FILE *out) {
  cpu_emit_shared(m, out);
  for (int i = 0; i < calls->function_count; i++) {
    const StepFunction *f = calls->functions[i];
    fprintf(out, "/* ---- step%s %s \302\267 %s ---- */\n\n%s", strchr(f->steps, ',') ? "s" : "", f->steps, escape_comment(m->arena, f->what), f->code.text);
  }
}

const StepCalls *emit_step_calls(const Emission *m) { return step_calls(m, m->backend == BACKEND_CUDA ? cuda_step_text : cpu_step_text); }

bool emit_is_own_twin(const Emission *m) { return m->has_double && m->backend == BACKEND_CPU && !keeps_half(m); }

static void emit_text(const Emission *m, FILE *out) {
  const TypedProgram *p = m->program;
  fprintf(out, "/* %s.c \302\267 generated by gnncc " GNNCC_VERSION " from %s; do not edit.\n *\n", m->prefix, escape_comment(m->arena, m->model_path));
  fprintf(out, " * model %s on %s: %" PRId64 " nodes, %" PRId64 " edges \302\267 fingerprint %s\n", escape_comment(m->arena, p->name),
          escape_comment(m->arena, p->data->name), p->info->is_of_rank ? p->info->ranks->nodes : p->info->nodes, p->info->is_of_rank ? p->info->ranks->edges : p->info->edges, m->fingerprint);
  if (p->info->is_of_rank) fprintf(out, " * for %d ranks, of which one has at most %" PRId64 " of the nodes\n", p->info->ranks->count, p->info->nodes);
  fprintf(out, " * plan for %s: %s of device memory, about %.3g ms per epoch; %s\n", escape_comment(m->arena, m->machine->name),
          bytes_text(m->arena, m->layout->bytes), 1e3 * m->schedule->training_seconds, kept_text(m));
  for (int i = 0; i < m->evaluation->graph->note_count; i++) fprintf(out, " * %s\n", escape_comment(m->arena, m->evaluation->graph->notes[i]));
  fprintf(out, " *\n * Rows r are nodes, j runs over the numbers of a row; acc is the row a product or sum has just finished.\n */\n");
  const StepCalls *calls = emit_step_calls(m);
  if (m->backend == BACKEND_CUDA) emit_cuda_places(calls, out);
  fprintf(out, "#include \"%s.h\"\n\n#include \"%s\"\n\n", m->prefix, m->backend == BACKEND_CUDA ? "gnncuda.h" : "gnnrt.h");
  fprintf(out, "#define PROGRAM GNN_PROGRAM(%s)\n#ifdef GNN_ALSO\nextern const gnn_program GNN_OTHER(%s);\n#define OTHER &GNN_OTHER(%s)\n#else\n#define OTHER NULL\n#endif\n", m->prefix, m->prefix,
          m->prefix);
  if (m->has_double)
    fprintf(out, "/* Linked with a double build of %s, the program can check its gradients. */\n"
                 "#if defined GNN_HAS_DOUBLE && !defined GNN_DOUBLE\nextern const gnn_program %s_program_in_double;\n"
                 "#define IN_DOUBLE &%s_program_in_double\n#else\n#define IN_DOUBLE NULL\n#endif\n",
            emit_is_own_twin(m) ? "this file" : m->backend == BACKEND_CPU ? "the same program in fp32" : "the same program for the processor", m->prefix, m->prefix);
  fprintf(out, "extern const gnn_program PROGRAM;\n\n");
  emit_sets(m->arena, p->info, out);
  emit_parts(m, out);
  emit_arena(m, out);
  if (p->has_train) emit_measures(m, out);
  if (m->backend == BACKEND_CUDA) emit_cuda_host(m, calls, out);
  else emit_cpu_steps(m, calls, out);
  if (p->has_train) {
    emit_rates(m, out);
    emit_step_list(m, calls, "forward_backward", "One epoch's forward pass, loss and gradients.", 0, m->schedule->backward_end, out);
    emit_step_list(m, calls, "update", "One step of the optimiser.", m->schedule->backward_end, m->schedule->training_count, out);
  }
  emit_step_list(m, calls, "evaluate", "The forward pass without dropout.", m->schedule->training_count, m->schedule->count, out);
  if (m->schedule->once_count)
    emit_step_list(m, calls, "once", "What every epoch and every evaluation reads, once the data are there.", m->schedule->count, schedule_step_count(m->schedule), out);
  if (m->keep_order) emit_keep_order(m, calls, out);
  emit_options(m, out);
  emit_weights(m, out);
  emit_fields(m, out);
  emit_steps(m, out);
  int value_count = emit_values(m, out);
  emit_source_description(m, out);
  emit_edge_sets(m, out);
  const TapList taps = emit_taps(m, out);
  fprintf(out,
          "/* plan.json, which lies beside this file. */\n"
          "#ifdef __GNUC__\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n"
          "static const char PLAN[] =\n#if defined GNN_SINGLE_FILE || __has_include(\"%s_plan.inc\")\n#include \"%s_plan.inc\"\n#else\n\"\"\n#endif\n;\n\n",
          m->prefix, m->prefix);
  emit_ranks(m, out);
  emit_program(m, value_count, &taps, out);
  if (!ranks_of(m)) emit_api(m, out);
}

void emit_source(const Emission *m, FILE *out) {
  if (!m->has_lines) {
    emit_text(m, out);
    return;
  }
  char *text;
  size_t length;
  FILE *plain = arena_open_text(m->arena, &text, &length);
  emit_text(m, plain);
  fclose(plain);
  emit_lines(m, text, length, out);
}

void emit_main(const Emission *m, FILE *out) {
  fprintf(out, "/* main.c \302\267 generated by gnncc " GNNCC_VERSION " from %s; do not edit. */\n#define GNN_NO_KERNELS\n#include \"gnnrt.h\"\n\nextern const gnn_program %s_program;\n\n"
               "int main(int argc, char **argv) { return gnn_main(argc, argv, &%s_program); }\n", escape_comment(m->arena, m->model_path), m->prefix, m->prefix);
}

bool emit_has_nccl(const Emission *m) { return m->backend == BACKEND_CUDA && ranks_of(m) && schedule_passes_directly(m->schedule, m->machine); }

/* What is more in the Makefile of a program for CUDA. */
static void emit_cuda_rules(const Emission *m, FILE *out) {
  fprintf(out, "# ARCH: the GPU's architecture, or compute_XX for code that drivers translate for that one and later ones.\n"
               "CUDA_HOME ?= /usr/local/cuda\nNVCC ?= $(CUDA_HOME)/bin/nvcc\nNVCCFLAGS ?=%s\nARCH ?= %s\n", m->nvcc_options ? m->nvcc_options : "", m->architecture);
  emit_put(m, out,
           "FLAGS += -isystem $(CUDA_HOME)/include -DGNN_ARCHITECTURE='\"$(ARCH)\"'\n"
           "LIBS += -L$(CUDA_HOME)/lib64 -Wl,-rpath,$(CUDA_HOME)/lib64 -lcudart_static -ldl -lrt\n");
  fprintf(out, emit_cuda_calls(m, LIBRARY_CUBLASLT) ? "LIBS += -lcublasLt\n" : "FLAGS += -DGNN_NO_CUBLASLT\n");
  fprintf(out, emit_cuda_calls(m, LIBRARY_CUSPARSE) ? "LIBS += -lcusparse\n\n" : "FLAGS += -DGNN_NO_CUSPARSE\n\n");
  const bool has_nccl = emit_has_nccl(m);
  if (has_nccl) fprintf(out, "LIBS += -lnccl\n");
  emit_put(m, out, ranks_of(m) && !has_nccl ? "OBJECTS = `.o gnncuda.o gnnrt.o gnnmpi.o\n\n" : has_nccl ? "OBJECTS = `.o gnncuda.o gnnrt.o gnnmpi.o gnnnccl.o\n\ngnnnccl.o: gnnnccl.c gnncuda.h gnnrt.h\n\t$(CC) $(CFLAGS) $(FLAGS) -c -o $@ gnnnccl.c\n" : "OBJECTS = `.o gnncuda.o gnnrt.o\n\n");
  emit_put(m, out,
           "# Device code is compiled by nvcc; NVRTC is a library, which gnncc calls where it makes the program itself. Without nvcc: make this\n"
           "# image where it is, and bring it along.\n"
           "`_kernels.image: `_kernels.cu gnndevice.cuh\n"
           "\t@command -v $(NVCC) >/dev/null || { echo \"there is no $(NVCC), which makes $@ (NVCC, CUDA_HOME): make $@ where it is, and bring it; or gnncc without -S, which does with NVRTC\" >&2; false; }\n"
           "\t$(NVCC) -O3 --std=c++17 --fmad=false -arch=$(ARCH) $(NVCCFLAGS) $(if $(filter sm_%,$(ARCH)),-cubin,-ptx) -o $@ $<\n"
           "`_kernels.inc: `_kernels.image\n\tod -An -v -tx1 $< | sed 's/\\([0-9a-f][0-9a-f]\\)/0x\\1,/g' >$@ && echo 0 >>$@\n"
           "`.o: `_kernels.inc\ngnncuda.o: gnncuda.c gnncuda.h gnnrt.h\n\t$(CC) $(CFLAGS) $(FLAGS) -c -o $@ gnncuda.c\n");
}

/* What the source is compiled for, in words that come before CFLAGS. The library and main.c are for every processor. */
static void emit_processor(const Emission *m, FILE *out) {
  const Processor *first = &m->processors[0];
  if (m->cc) fprintf(out, "ifeq ($(origin CC),default)\n  CC = %s\nendif\n", m->cc);
  fprintf(out, "# What the model is compiled for: CPU=x86-64-v3 makes a program for others; CPU= leaves it to the compiler.\nCPU ?= %s\nFOR_CPU = $(if $(CPU),%s$(CPU) -DGNN_CPU=$(CPU))\n\n",
          first->option ? first->name : "", first->option ? first->option : "-march=");
}

/* -DGNN_ALSO, of the build before it. */
static const char *next_build(const Emission *m, int i) { return i + 1 < m->processor_count ? arena_printf(m->arena, "-DGNN_ALSO=%s ", m->processors[i + 1].identifier) : ""; }

void emit_makefile(const Emission *m, FILE *out) {
  fprintf(out, "# Makefile \302\267 generated by gnncc " GNNCC_VERSION " from %s; do not edit.\n", escape_comment(m->arena, m->model_path));
  emit_put(m, out,
           "# Needs zlib. URING=yes uses io_uring for the SSD (needs liburing), else pread and pwrite;\n"
           "# OPENMP=yes shares loops by OpenMP instead of the runtime's own threads.\n"
           "CC ?= cc\n");
  fprintf(out, "CFLAGS ?= -O3%s\nURING ?= no\nOPENMP ?= no\n", m->cc_options ? m->cc_options : "");
  emit_processor(m, out);
  emit_put(m, out,
           "FLAGS = -std=gnu11 -fno-math-errno -ffp-contract=off -fno-trapping-math -fPIC -Wall -Wextra\nLIBS = -lz -lm -lpthread\n"
           "ifeq ($(URING),yes)\n  FLAGS += -DGNN_URING\n  LIBS += -luring\nendif\n"
           "ifeq ($(OPENMP),yes)\n  FLAGS += -DGNN_OPENMP -fopenmp\nendif\n\n");
  const bool has_ranks = ranks_of(m);
  if (has_ranks)
    emit_put(m, out, "# The program is one of several processes: MPI=yes compiles and links it by mpicc.\nMPI ?= no\nMPICC ?= mpicc\nexport OMPI_CC ?= $(CC)\nexport MPICH_CC ?= $(CC)\n"
                     "ifneq ($(MPI),yes)\n  $(error this program is for ranks over MPI: make MPI=yes)\nendif\n\n");
  bool has_double = emit_is_own_twin(m);
  bool is_cuda = m->backend == BACKEND_CUDA;
  emit_put(m, out, "all: `\n\n");
  if (is_cuda) emit_cuda_rules(m, out);
  else {
    emit_put(m, out, has_double ? "OBJECTS = `.o `_in_double.o gnnrt.o" : "OBJECTS = `.o gnnrt.o");
    for (int i = 1; i < m->processor_count; i++) emit_put(m, out, arena_printf(m->arena, " `_%s.o", m->processors[i].identifier));
    if (has_ranks) emit_put(m, out, " gnnmpi.o");
    fputs("\n\n", out);
  }
  emit_put(m, out,
           has_ranks ? "`: main.o $(OBJECTS)\n\t$(MPICC) $(CFLAGS) $(FLAGS) -o $@ $^ $(LIBS)\ngnnmpi.o: gnnmpi.c gnnrt.h\n\t$(MPICC) $(CFLAGS) $(FLAGS) -c -o $@ gnnmpi.c\n"
                     : "`: main.o $(OBJECTS)\n\t$(CC) $(CFLAGS) $(FLAGS) -o $@ $^ $(LIBS)\n");
  if (!has_ranks)
    emit_put(m, out,
             "lib`.a: $(OBJECTS)\n\trm -f $@ && $(AR) rcs $@ $^\n"
             "lib`.so: $(OBJECTS)\n\t$(CC) $(CFLAGS) $(FLAGS) -shared -o $@ $^ $(LIBS)\n");
  emit_put(m, out,
           "main.o: main.c gnnrt.h\n\t$(CC) $(CFLAGS) $(FLAGS) -c -o $@ main.c\n");
  const char *twin = has_double ? "-DGNN_HAS_DOUBLE " : "";
  emit_put(m, out, arena_printf(m->arena, "`.o: `.c `.h gnnrt.h\n\t$(CC) $(FOR_CPU) $(CFLAGS) $(FLAGS) %s%s-c -o $@ `.c\n", twin, next_build(m, 0)));
  for (int i = 1; i < m->processor_count; i++) {
    const Processor *p = &m->processors[i];
    emit_put(m, out, arena_printf(m->arena, "`_%s.o: `.c `.h gnnrt.h `_plan.inc\n\t$(CC) %s%s -DGNN_CPU=%s $(CFLAGS) $(FLAGS) -DGNN_FOR=%s %s%s-c -o $@ `.c\n", p->identifier, p->option, p->name, p->name,
                                  p->identifier, twin, next_build(m, i)));
  }
  if (has_double) emit_put(m, out, arena_printf(m->arena, "`_in_double.o: `.c `.h gnnrt.h `_plan.inc\n\t$(CC) %s$(CFLAGS) $(FLAGS) -DGNN_DOUBLE -c -o $@ `.c\n", m->processor_count > 1 ? "" : "$(FOR_CPU) "));
  emit_put(m, out,
           "gnnrt.o: gnnrt.c gnnrt.h\n\t$(CC) $(CFLAGS) $(FLAGS) -c -o $@ gnnrt.c\n"
           "`.o: `_plan.inc\n"
           "`_plan.inc: plan.json\n"
           "\t{ printf '/* The text of plan.json; generated by gnncc. */\\n\"'; sed 's/[\"\\\\?]/\\\\&/g; s/$$/\\\\n\\\\/' plan.json; echo '\"'; } >$@\n"
           "clean:\n\trm -f *.o *.image `_kernels.inc `");
  emit_put(m, out, has_ranks ? "\n\n.PHONY: all clean\n" : " lib`.a lib`.so\n\n.PHONY: all clean\n");
}
