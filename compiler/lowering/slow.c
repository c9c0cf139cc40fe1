/* slow: warnings about what is right and slow. */
#include "slow.h"

#include <inttypes.h>

#include "runtime/base/text.h"

enum { WIDE = 8 }; /* numbers an edge: scores of so many heads are usual */

static bool is_wide_of_edges(const Kernels *kernels, ValueId id) {
  const Value *value = &kernels->graph->values[id];
  return value->phase == PHASE_FORWARD && domain_is_relation(value->shape.domain) && shape_width(&value->shape) >= WIDE && kernels->storage[id] == id;
}

static bool is_same_line(Place a, Place b) { return a.file == b.file && a.line == b.line; }

void warn_slow(Diags *diags, const Kernels *kernels) {
  Place warned = diags_no_place();
  for (int k = 0; k < kernels->kernel_count; k++)
    for (int o = 0; o < kernels->kernels[k].output_count; o++) {
      const ValueId id = kernels->kernels[k].outputs[o];
      const Value *value = &kernels->graph->values[id];
      if (!is_wide_of_edges(kernels, id) || is_same_line(value->place, warned)) continue;
      const int64_t rows = graph_rows(kernels->graph, value->shape.domain), width = shape_width(&value->shape);
      diags_warning(diags, "W0511", "edge-values", value->place, "a value is stored for every edge, %" PRId64 " \xC3\x97 %" PRId64 " numbers: %s are written and read in every epoch", rows, width,
                    gnn_bytes_text(4 * rows * width).text);
      diags_help(diags, "where the operand of the product is src.x or dst.x alone, multiply on the nodes: a = x |> Linear(16), then src.a");
      warned = value->place;
    }
}
