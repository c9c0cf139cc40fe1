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

static int spans_side_is_sound(const gnn_program *p, const gnn_side *side, int64_t bytes) {
  int is_ring = side->tier == GNN_WRITE_RING || side->tier == GNN_READ_RING;
  if (side->at < 0) return 0;
  if (is_ring) return side->extent_count == 0 && bytes <= p->ring_bytes;
  if (side->tier == GNN_DEVICE) return side->extent_count == 0 && bytes <= p->device_bytes - side->at;
  int64_t room = side->tier == GNN_HOST ? p->host_bytes : p->ssd_bytes, unit = side->tier == GNN_HOST ? 1 : 4096;
  if (side->extent_count < 1 || side->extent_count > p->extent_count - side->at) return 0;
  for (int e = 0; e < side->extent_count; e++) {
    const gnn_extent *extent = &p->extents[side->at + e];
    const int is_in_window = side->tier == GNN_SSD && extent->at >= GNN_WINDOWS_AT;
    if (extent->is_on_host || extent->bytes < 1 || extent->at < 0) return 0;
    if (!is_in_window && (extent->at % unit != 0 || extent->bytes > room - extent->at)) return 0;
    bytes -= extent->bytes;
  }
  return bytes == 0;
}

int gnn_copy_is_sound(const gnn_program *p, const gnn_copy_desc *copy) {
  for (int e = 0; copy->to.tier == GNN_SSD && e < copy->to.extent_count && copy->to.at >= 0 && copy->to.at + e < p->extent_count; e++)
    if (p->extents[copy->to.at + e].at >= GNN_WINDOWS_AT) return 0; /* which is only read */
  int through_file = (copy->from.tier == GNN_SSD) + (copy->to.tier == GNN_SSD);
  for (int i = 0; i < 2; i++)
    if (copy->after[i] < -1 || copy->after[i] >= p->copy_count) return 0;
  return copy->lane > GNN_LANE_COMPUTE && copy->lane < GNN_LANE_COUNT && copy->bytes > 0 && through_file < 2 &&
         spans_side_is_sound(p, &copy->from, copy->bytes) && spans_side_is_sound(p, &copy->to, copy->lane == GNN_LANE_NET ? copy->row_bytes : copy->bytes);
}
