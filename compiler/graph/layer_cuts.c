#include "layer_cuts.h"

#include <string.h>

static bool is_sum(const Graph *graph, const Value *value) {
  return op_is_aggregation(value->op) && value->shape.domain == DOMAIN_NODE && graph->values[value->operand[0]].shape.domain == DOMAIN_EDGE && value->layer.name && value->phase != PHASE_UPDATE;
}

bool layers_have(const LayersOfSums *layers, const char *layer, Phase pass) {
  for (int i = 0; layers && layer && i < layers->count; i++)
    if (layers->list[i].pass == pass && strcmp(layers->list[i].layer, layer) == 0) return true;
  return false;
}

bool layers_are(const LayersOfSums *a, const LayersOfSums *b) {
  if ((a ? a->count : 0) != (b ? b->count : 0)) return false;
  for (int i = 0; a && i < a->count; i++)
    if (!layers_have(b, a->list[i].layer, a->list[i].pass)) return false;
  return true;
}

LayersOfSums layers_of_sums(const Graph *graph) {
  LayersOfSums layers = {0};
  for (int i = 0; i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    if (is_sum(graph, value) && !layers_have(&layers, value->layer.name, value->phase)) ARENA_PUSH(graph->arena, layers.list, layers.count, ((LayerSums){value->layer.name, value->phase}));
  }
  return layers;
}

const LayerCut *layer_cut_of(const LayerCuts *cuts, const char *layer, Phase pass) {
  for (int i = 0; cuts && layer && i < cuts->count; i++)
    if (cuts->list[i].pass == pass && strcmp(cuts->list[i].layer, layer) == 0) return &cuts->list[i];
  return NULL;
}

static bool is_alike(const LayerCut *a, const LayerCut *b) { return a->is_whole == b->is_whole && a->slices == b->slices; }

bool layer_cuts_are(const LayerCuts *a, const LayerCuts *b) {
  const int count = a ? a->count : 0;
  if (count != (b ? b->count : 0)) return false;
  for (int i = 0; i < count; i++) {
    const LayerCut *other = layer_cut_of(b, a->list[i].layer, a->list[i].pass);
    if (!other || !is_alike(&a->list[i], other)) return false;
  }
  return true;
}

static const char *mode_text(Arena *arena, const LayerCut *cut, int parts) {
  if (cut->is_whole) return "whole";
  return cut->slices > 1 ? arena_printf(arena, "slices(%d)", cut->slices) : arena_printf(arena, "rows(%d)", parts);
}

const char *layer_cuts_text(Arena *arena, const LayerCuts *cuts, int parts) {
  const char *text = "";
  for (int i = 0; cuts && i < cuts->count; i++) {
    const LayerCut *cut = &cuts->list[i], *other = layer_cut_of(cuts, cut->layer, cut->pass == PHASE_FORWARD ? PHASE_BACKWARD : PHASE_FORWARD);
    const bool is_both = other && is_alike(cut, other);
    if (is_both && other < cut) continue;
    text = arena_printf(arena, "%s, %s%s = %s", text, cut->layer, is_both ? "" : cut->pass == PHASE_FORWARD ? ".forward" : ".backward", mode_text(arena, cut, parts));
  }
  return text;
}
