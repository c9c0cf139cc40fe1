/* layers: Schedule -> how each layer runs in each direction: the mode of its sums over neighbours, and the copies that are made for it. */
#include "layers.h"

#include <string.h>

typedef struct Counting {
  Arena *arena;
  const Schedule *s;
  int count;          /* of steps */
  int backward_begin; /* index of the first step of the backward pass; count: there is none */
  LayerRuns runs;
} Counting;

static const Kernel *kernel_of(const Step *step) { return &step->kernels->kernels[step->kernel]; }
static const Value *anchor_of(const Step *step) { return &step->kernels->graph->values[kernel_of(step)->anchor]; }
static bool is_sum(const Step *step) { return op_is_aggregation(anchor_of(step)->op); }

static LayerRun *run_of(Counting *c, const char *layer, Phase pass) {
  for (int i = 0; i < c->runs.count; i++) {
    LayerRun *run = &c->runs.list[i];
    if (run->pass == pass && (layer && run->layer ? strcmp(run->layer, layer) == 0 : layer == run->layer)) return run;
  }
  ARENA_PUSH(c->arena, c->runs.list, c->runs.count, ((LayerRun){.layer = layer, .pass = pass, .mode = ""}));
  return &c->runs.list[c->runs.count - 1];
}

/* A kernel that runs once more does so for the pass in which that is. */
static LayerRun *run_of_kernel(Counting *c, int i) {
  const Step *step = &c->s->steps[i];
  return run_of(c, anchor_of(step)->layer.name, !step->is_rerun ? kernel_of(step)->phase : i < c->backward_begin ? PHASE_FORWARD : PHASE_BACKWARD);
}

static void find_backward(Counting *c) {
  c->backward_begin = c->count;
  for (int i = c->count - 1; i >= 0; i--)
    if (c->s->steps[i].kind == STEP_KERNEL && !c->s->steps[i].is_rerun && kernel_of(&c->s->steps[i])->phase == PHASE_BACKWARD) c->backward_begin = i;
}

/* ---- modes ---- */

static void add_mode(Counting *c, LayerRun *run, const Step *step) {
  const Slice *slice = &anchor_of(step)->slice;
  const bool is_transposed = is_sum(step) && typed_are_all_nodes(step->kernels->graph->program->info, anchor_of(step)->shape.domain);
  const char *mode = is_transposed ? "transpose" : slice->count && is_sum(step) ? arena_printf(c->arena, "slices(%d)", slice->count) : step->part ? arena_printf(c->arena, "rows(%d)", step->parts->count) : "whole";
  if (!strstr(run->mode, mode)) run->mode = *run->mode ? arena_printf(c->arena, "%s, %s", run->mode, mode) : mode;
}

/* NULL: its rows come before the first epoch, or none do. */
static const Copy *exchange_of_table(const Counting *c, const Kernels *kernels, ValueId table) {
  for (int i = 0; i < c->s->copy_count; i++) {
    const Copy *copy = &c->s->copies[i];
    if (copy_is_exchange(copy) && copy->kernels == kernels && copy->value == table) return copy;
  }
  return NULL;
}

/* Of a table that the rank makes itself, that comes in every epoch though it never changes, or through the host; NULL: of others. */
static const char *way_of_table(const Counting *c, const Kernels *kernels, ValueId table) {
  const int32_t made_by = kernels->made_by[table];
  if (kernels->graph->values[table].op == OP_BEHIND) return exchange_names[EXCHANGE_RECOMPUTE];
  const Copy *copy = exchange_of_table(c, kernels, table);
  const bool passes_host = copy && copy->exchange.passes_host;
  return made_by != NO_INDEX && (passes_host || kernels->kernels[made_by].comes_again) ? exchange_variant(&kernels->kernels[made_by], passes_host) : NULL;
}

/* What says more than "whole" or "transpose" stands in their place. */
static const char *mode_with_way(Arena *arena, const char *mode, const char *way) {
  if (strstr(mode, way)) return mode;
  return strcmp(mode, "whole") == 0 || strncmp(way, mode, strlen(mode)) == 0 ? way : arena_printf(arena, "%s, %s", mode, way);
}

/* Beside what the sums are that gather from such tables. */
static void add_ways_of_tables(Counting *c) {
  for (int i = 0; i < c->count; i++) {
    const Step *step = &c->s->steps[i];
    for (int k = 0; step->kind == STEP_KERNEL && !step->is_rerun && is_sum(step) && k < kernel_of(step)->input_count; k++) {
      LayerRun *run = run_of_kernel(c, i);
      const char *way = way_of_table(c, step->kernels, kernel_of(step)->inputs[k]);
      if (way) run->mode = mode_with_way(c->arena, run->mode, way);
    }
  }
}

/* Of sums over neighbours; then of layers that have none, by what else they do. */
static void count_steps(Counting *c, bool is_of_sums) {
  for (int i = 0; i < c->count; i++) {
    const Step *step = &c->s->steps[i];
    if (step->kind != STEP_KERNEL || step->is_rerun) continue;
    LayerRun *run = run_of_kernel(c, i);
    if (is_sum(step) != is_of_sums || (!is_of_sums && run->sums)) continue;
    if (run->line == 0) run->line = (int)step->place.line;
    add_mode(c, run, step);
    if (is_of_sums) run->sums += step->part <= 1 && graph_first_slice(step->kernels->graph, kernel_of(step)->anchor) == kernel_of(step)->anchor;
    if (is_of_sums) run->pieces++;
    else if (run->pieces < step->part || run->pieces == 0) run->pieces = step->part ? step->part : 1;
  }
}

/* ---- copies ---- */

static bool reads(const Step *step, const Copy *copy) {
  if (step->kind != STEP_KERNEL || step->kernels != copy->kernels) return false;
  for (int k = 0; k < kernel_of(step)->input_count; k++) {
    const ValueId input = kernel_of(step)->inputs[k];
    for (int n = 0, piece; step->kernels->storage[input] == copy->value && (piece = parts_piece_read(step->parts, kernel_of(step), input, step->part, n)) != NO_INDEX; n++)
      if (piece == copy->part || piece == 0) return true;
  }
  return false;
}

/* Of what goes out, the one that makes it; of what comes in, that of the next step that reads it. */
static LayerRun *run_of_copy(Counting *c, const Copy *copy) {
  const Value *value = &copy->kernels->graph->values[copy->value];
  for (int i = copy->step + 1; !copy->is_out && i < c->count; i++)
    if (reads(&c->s->steps[i], copy)) return run_of_kernel(c, i);
  return run_of(c, value->layer.name, value->phase);
}

static void count_copies(Counting *c) {
  int *run_of_waited = arena_alloc(c->arena, (size_t)(c->s->copy_count + 1) * sizeof *run_of_waited);
  for (int i = 0; i < c->count; i++) {
    const Step *step = &c->s->steps[i];
    if (step->kind == STEP_KERNEL) continue;
    const Copy *copy = &c->s->copies[step->copy];
    if (step->kind == STEP_WAIT) {
      c->runs.list[run_of_waited[step->copy]].wait_seconds += step->cost.seconds;
      continue;
    }
    LayerRun *run = run_of_copy(c, copy);
    run_of_waited[step->copy] = (int)(run - c->runs.list);
    run->transfer_seconds += step->cost.seconds;
    run->slowed_seconds += copy->slows_seconds;
    if (copy_is_exchange(copy)) run->net_bytes += copy->exchange.bytes;
    else if (copy_touches_device(copy)) (copy->is_out ? run->out_bytes : run->in_bytes)[copy->tier] += copy->bytes;
  }
}

static void drop_others(LayerRuns *runs) {
  int kept = 0;
  for (int i = 0; i < runs->count; i++)
    if (runs->list[i].sums || runs->list[i].transfer_seconds > 0) runs->list[kept++] = runs->list[i];
  runs->count = kept;
}

LayerRuns layer_runs(Arena *arena, const Schedule *schedule) {
  Counting c = {.arena = arena, .s = schedule, .count = schedule->training_count ? schedule->training_count : schedule->count};
  find_backward(&c);
  count_steps(&c, true);
  add_ways_of_tables(&c);
  count_steps(&c, false);
  count_copies(&c);
  drop_others(&c.runs);
  return c.runs;
}

double layer_run_hidden(const LayerRun *run) {
  const double hidden = run->transfer_seconds > 0 ? 1 - (run->wait_seconds + run->slowed_seconds) / run->transfer_seconds : 1;
  return hidden > 0 ? hidden : 0;
}
