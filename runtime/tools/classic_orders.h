/* classic_orders.h: orders of the nodes that other programs have. */
#ifndef CLASSIC_ORDERS_H
#define CLASSIC_ORDERS_H

#include "runtime/base/text.h"

/* A graph by destinations and by sources; the same arrays where it is symmetric. */
typedef struct two_way_rows {
  int64_t nodes;
  const int64_t *in_ptr, *out_ptr;
  const int32_t *in, *out;
} two_way_rows;

/* order[i]: the node at place i. By the number of neighbours, most first; nodes of the same number ascend. */
gnn_status order_by_degree(const two_way_rows *rows, int32_t *order, gnn_error *error);
/* Reverse Cuthill-McKee (Cuthill and McKee 1969, George 1971): each piece from a node at its edge, neighbours by ascending degree, all of it backwards. */
gnn_status order_rcm(const two_way_rows *rows, int32_t *order, gnn_error *error);

#endif
