/* exchanges: how ranks get what their sums over neighbours read of others. */
#include "exchanges.h"

#include "cut_forms.h"
#include "compiler/graph/recompute.h"
#include "compiler/graph/transpose.h"

Exchange exchange_asked(const Compilation *c) {
  const char *policy = c->options->policy ? c->options->policy : c->program->plan_policy;
  const int exchange = policy ? vocabulary_find(exchange_names, policy) : -1;
  return exchange < 0 ? EXCHANGE_COUNT : (Exchange)exchange;
}

static const char *what_passes(Exchange exchange) { return exchange == EXCHANGE_TRANSPOSE ? "columns of all rows" : "rows of others that are made again"; }

/* Of the program, whatever its sums are. */
static const char *not_of_program(const Compilation *c, Exchange exchange) {
  const DataInfo *info = c->program->info;
  if (c->program->train.boundary != BOUNDARY_EXACT) return arena_printf(c->arena, "%s is of rows of others that come in each epoch", c->program->train.approximation);
  if (info->relation_count > 0 || info->type_count > 0) return arena_printf(c->arena, "%s are for one type of nodes and one kind of edges, so far", what_passes(exchange));
  if (c->options->precision == PRECISION_BF16) return arena_printf(c->arena, "%s are in 32 bits, so far: no --precision=bf16", what_passes(exchange));
  return NULL;
}

static const char *not_of_cut(const Compilation *c, Exchange exchange) {
  const Cut cut = cut_asked(c);
  const CutWish wish = cut_wish(c);
  if ((cut_wish_is_fixed(wish) && wish.mode != CUT_WHOLE) || cut_has_data_away(cut)) return arena_printf(c->arena, "%s are of values that are whole and on the device, so far", what_passes(exchange));
  return NULL;
}

/* Layers that have a sum over neighbours which can go over columns of all rows, by pass. */
static const LayersOfSums *transposable_layers(const Compilation *c) {
  const Graph *graph = c->training ? c->training : c->evaluation;
  LayersOfSums *layers = arena_alloc(c->arena, sizeof *layers);
  for (int i = 0; i < graph->value_count; i++) {
    const Value *sum = &graph->values[i];
    if (transposable(graph, i) == NO_VALUE || !sum->layer.name || sum->phase == PHASE_UPDATE || columns_of_ranks(shape_width(&sum->shape), c->ranks) == 0) continue;
    if (!layers_have(layers, sum->layer.name, sum->phase)) ARENA_PUSH(c->arena, layers->list, layers->count, ((LayerSums){sum->layer.name, sum->phase}));
  }
  return layers;
}

static const LayersOfSums *layers_of(const Compilation *c, Exchange exchange) {
  if (exchange == EXCHANGE_TRANSPOSE) return transposable_layers(c);
  LayersOfSums *layers = arena_alloc(c->arena, sizeof *layers);
  *layers = recomputable_layers(c->training ? c->training : c->evaluation, c->is_sparse_field);
  return layers;
}

/* Why not, in a message. */
static const char *not_for(const Compilation *c, Exchange exchange) {
  if (exchange == EXCHANGE_HALO_HOST && c->backend != BACKEND_CUDA) return "the ranks are on processors, whose rows are the host's";
  if (exchange == EXCHANGE_HALO || exchange == EXCHANGE_HALO_HOST) return NULL;
  if (exchange == EXCHANGE_DEDUP) return c->program->train.boundary != BOUNDARY_EXACT ? not_of_program(c, exchange) : !c->training ? "nothing is trained, so that all rows come but once" : NULL;
  const char *why = not_of_program(c, exchange);
  if (!why) why = not_of_cut(c, exchange);
  if (why || layers_of(c, exchange)->count > 0) return why;
  if (exchange == EXCHANGE_RECOMPUTE) return "no sum over neighbours gathers what is made of weights and of rows that never change alone";
  return arena_printf(c->arena, "no sum over neighbours is a plain sum of rows of more than %d numbers", LEAST_RANK_UNIT);
}

static bool refuse(Compilation *c, Exchange asked, const char *why) {
  diags_error(c->diags, "E0110", diags_no_place(), "policy %s: %s", exchange_names[asked], why);
  diags_help(c->diags, "gnncc --explain E0110; docs/many_devices.md says which sums it is for");
  return false;
}

bool check_exchanges(Compilation *c) {
  const Exchange asked = exchange_asked(c);
  if (asked == EXCHANGE_COUNT) return true;
  const char *why = c->ranks < 2 ? "the program is for one process, which exchanges nothing; --ranks=4 makes one for four" : not_for(c, asked);
  return !why || refuse(c, asked, why);
}

static bool has_rows_again(const Kernels *kernels) {
  for (int i = 0; kernels && i < kernels->kernel_count; i++)
    if (kernels->kernels[i].comes_again) return true;
  return false;
}

bool check_dedup(Compilation *c) {
  if (c->ranks < 2 || exchange_asked(c) != EXCHANGE_DEDUP) return true;
  for (int f = 0; f < FORM_COUNT; f++) {
    const Form *form = &c->request.forms[f];
    for (int e = 0; e < form->evaluation_count; e++)
      if (has_rows_again(form->training_kernels) || has_rows_again(form->evaluations[e].kernels)) return true;
  }
  return refuse(c, EXCHANGE_DEDUP, "no sum over neighbours gathers rows that never change");
}

static bool has_columns(const Kernels *kernels) {
  for (int i = 0; kernels && i < kernels->kernel_count; i++)
    if (kernel_exchanges(&kernels->kernels[i]) && kernels->kernels[i].kind != KERNEL_HALO) return true;
  return false;
}

bool check_chosen_exchanges(Compilation *c) {
  const Exchange asked = exchange_asked(c);
  if (c->ranks < 2 || (asked != EXCHANGE_TRANSPOSE && asked != EXCHANGE_DEDUP)) return true;
  bool (*const has)(const Kernels *kernels) = asked == EXCHANGE_TRANSPOSE ? has_columns : has_rows_again;
  return has(c->answer->of->training_kernels) || has(c->answer->evaluation->kernels) || refuse(c, asked, "the sums over neighbours that it is for are computed once, before the first epoch");
}

ExchangeWay exchange_way(const Compilation *c) {
  if (c->ranks < 2 || c->backend != BACKEND_CUDA) return WAY_DIRECT;
  const Exchange asked = exchange_asked(c);
  if (asked == EXCHANGE_HALO_HOST) return WAY_BY_HOST;
  return asked != EXCHANGE_HALO && c->program->has_target && c->program->target.device_link.bandwidth > 0 ? WAY_FASTER : WAY_DIRECT;
}

Cut cut_with_exchanges(const Compilation *c, Cut cut) {
  const Exchange asked = c->ranks > 1 ? exchange_asked(c) : EXCHANGE_COUNT;
  if (asked == EXCHANGE_TRANSPOSE) cut.transposed = layers_of(c, asked);
  if (asked == EXCHANGE_DEDUP) cut.again = &all_rows_again;
  if (asked == EXCHANGE_RECOMPUTE) cut.recomputed = layers_of(c, asked);
  return cut;
}

bool may_dedup(const Compilation *c) { return c->ranks > 1 && exchange_asked(c) == EXCHANGE_COUNT && c->request.policy < 0 && c->program->train.boundary == BOUNDARY_EXACT; }

const LayersOfSums *layers_to_try(const Compilation *c, Exchange exchange) {
  if (c->ranks < 2 || exchange_asked(c) != EXCHANGE_COUNT || c->request.policy >= 0 || not_of_program(c, exchange) || not_of_cut(c, exchange)) return NULL;
  const LayersOfSums *layers = layers_of(c, exchange);
  return layers->count > 0 ? layers : NULL;
}
