/* order.h: an order of the nodes in which neighbours stand close together. */
#ifndef GNN_ORDER_H
#define GNN_ORDER_H

#include "runtime/base/text.h"

enum { GNN_ORDER_VERSION = 1 }; /* counts when the same graph gets another order */

/* Nested bisection: order[i] is the node at place i. Every canonical block, and every run of 2^j of them that begins at a multiple of 2^j,
 * has few edges to others; within a block nodes ascend. The same graph gives the same order. O(edges * levels); besides the result it
 * holds 32 bytes a node. out_ptr and out_idx may be those of `in` (a symmetric graph). */
gnn_status gnn_order_nested(int64_t nodes, const int64_t *in_ptr, const int32_t *in_idx, const int64_t *out_ptr, const int32_t *out_idx,
                            int32_t *order, gnn_error *error);

#endif
