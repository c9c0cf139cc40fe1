/* exchanges: how ranks get what their sums over neighbours read of others. */
#include "exchanges.h"

#include "cut_forms.h"
#include "compiler/graph/transpose.h"

Exchange exchange_asked(const Compilation *c) {
  const char *policy = c->options->policy ? c->options->policy : c->program->plan_policy;
  const int exchange = policy ? vocabulary_find(exchange_names, policy) : -1;
  return exchange < 0 ? EXCHANGE_COUNT : (Exchange)exchange;
}

/* Of the program, whatever its sums are. */
static const char *not_of_program(const Compilation *c) {
  const DataInfo *info = c->program->info;
  if (c->program->train.boundary != BOUNDARY_EXACT) return arena_printf(c->arena, "%s is of rows of others", c->program->train.approximation);
  if (info->relation_count > 0 || info->type_count > 0) return "columns of all rows are for one type of nodes and one kind of edges, so far";
  if (c->options->precision == PRECISION_BF16) return "columns of all rows pass in 32 bits, so far: no --precision=bf16";
  return NULL;
}

static const char *not_of_cut(const Compilation *c) {
  const Cut cut = cut_asked(c);
  const CutWish wish = cut_wish(c);
  if ((cut_wish_is_fixed(wish) && wish.mode != CUT_WHOLE) || cut_has_data_away(cut)) return "columns of all rows are of values that are whole and on the device, so far";
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

/* Why not, in a message. */
static const char *not_for_transpose(const Compilation *c) {
  const char *why = not_of_program(c);
  if (!why) why = not_of_cut(c);
  if (why || transposable_layers(c)->count > 0) return why;
  return arena_printf(c->arena, "no sum over neighbours is a plain sum of rows of more than %d numbers", LEAST_RANK_UNIT);
}

bool check_exchanges(Compilation *c) {
  const Exchange asked = exchange_asked(c);
  if (asked == EXCHANGE_COUNT) return true;
  const char *why = c->ranks < 2 ? "the program is for one process, which exchanges nothing; --ranks=4 makes one for four" : asked == EXCHANGE_TRANSPOSE ? not_for_transpose(c) : NULL;
  if (!why) return true;
  diags_error(c->diags, "E0110", diags_no_place(), "policy %s: %s", exchange_names[asked], why);
  diags_help(c->diags, "gnncc --explain E0110; docs/many_devices.md says which sums it is for");
  return false;
}

Cut cut_with_exchanges(const Compilation *c, Cut cut) {
  if (c->ranks > 1 && exchange_asked(c) == EXCHANGE_TRANSPOSE) cut.transposed = transposable_layers(c);
  return cut;
}

const LayersOfSums *layers_to_transpose(const Compilation *c) {
  if (c->ranks < 2 || exchange_asked(c) != EXCHANGE_COUNT || c->request.policy >= 0 || not_of_program(c) || not_of_cut(c)) return NULL;
  const LayersOfSums *layers = transposable_layers(c);
  return layers->count > 0 ? layers : NULL;
}
