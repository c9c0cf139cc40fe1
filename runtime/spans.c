/* spans.c: where the bytes of a copy lie. */
#include "spans.h"

gnn_spans gnn_spans_of(const gnn_tiers *tiers, const gnn_side *side, int64_t bytes) {
  const gnn_program *program = tiers->program;
  gnn_spans spans = {.base = tiers->base[side->tier], .scale = program->real_bytes / 4};
  if (side->extent_count > 0) {
    spans.extents = &program->extents[side->at];
    spans.at = spans.extents->at * spans.scale;
    spans.left = spans.extents->bytes * spans.scale;
    return spans;
  }
  spans.wrap = side->tier == GNN_WRITE_RING || side->tier == GNN_READ_RING ? program->ring_bytes * spans.scale : INT64_MAX;
  spans.at = side->at * spans.scale % spans.wrap;
  spans.left = bytes * spans.scale;
  return spans;
}

int64_t gnn_spans_next(gnn_spans *spans, int64_t most, int64_t *at) {
  *at = spans->at;
  if (most == 0) return 0;
  if (spans->extents && spans->left == 0) {
    spans->extents++;
    spans->at = spans->extents->at * spans->scale;
    spans->left = spans->extents->bytes * spans->scale;
  }
  if (!spans->extents && spans->at == spans->wrap) spans->at = 0;
  int64_t length = spans->left < most ? spans->left : most;
  if (!spans->extents && length > spans->wrap - spans->at) length = spans->wrap - spans->at;
  *at = spans->at;
  spans->at += length;
  spans->left -= length;
  return length;
}
