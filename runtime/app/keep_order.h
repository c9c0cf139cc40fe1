/* keep_order.h: a program in the order that keeps every value, and what some epochs leave behind, to be compared bit for bit. */
#ifndef GNN_KEEP_ORDER_H
#define GNN_KEEP_ORDER_H

#include "runtime/job/metrics.h"

int gnn_keeps_all(const gnn_program *program); /* its plan is that order: nothing moves, nothing is made again */

/* The program as its keep_order has it. */
typedef struct gnn_keeping {
  gnn_field_desc *fields;
  gnn_edge_set_desc *sets;
  gnn_program program;
  gnn_weight_desc *weights;
} gnn_keeping;

gnn_status gnn_keeping_create(gnn_keeping *keeping, const gnn_program *program, gnn_error *error);
void gnn_keeping_destroy(gnn_keeping *keeping);

typedef struct gnn_trail {
  int64_t epochs;
  double *loss;           /* [epochs] */
  int64_t sum_count;
  uint32_t *sums;         /* CRC-32 of each weight after them, and of each of its optimiser's states */
  gnn_result result[GNN_SPLIT_COUNT];
} gnn_trail;

gnn_status gnn_trail_create(gnn_trail *trail, const gnn_program *program, int64_t epochs, gnn_error *error);
void gnn_trail_destroy(gnn_trail *trail);
/* One more epoch, with a message where it fails. */
gnn_status gnn_trail_epoch(gnn_instance *instance, gnn_error *error);
/* The epochs, then an evaluation. */
gnn_status gnn_trail_run(gnn_trail *trail, gnn_instance *instance, gnn_error *error);
/* Sums of the weights that they left. */
gnn_status gnn_trail_take(gnn_trail *trail, const gnn_instance *instance, gnn_error *error);
/* GNN_EVERSION, with what differs first, unless all the bits are the same. */
gnn_status gnn_trail_agrees(const gnn_trail *planned, const gnn_trail *kept, const gnn_program *program, gnn_error *error);

#endif
