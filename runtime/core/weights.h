/* weights.h: the numbers of weights and of what the optimiser keeps of them, wherever they are at home: on the device, in the host arena, or in the scratch
 * file, from where copies bring the rows of parts and whereto they bring them back. Between epochs all of them are at home. */
#ifndef GNN_WEIGHTS_H
#define GNN_WEIGHTS_H

#include "instance.h"

/* Beside the numbers of its states. BEST: of weights that are at home elsewhere than on the device. GRADIENT: as forward_backward has left it, only to be read, and only by walks. */
enum { GNN_WEIGHT_ITSELF = -1, GNN_WEIGHT_BEST = -2, GNN_WEIGHT_GRADIENT = -3 };

/* In the host's memory, or in its image of the device's (device.h); NULL: in the scratch file. */
void *gnn_weight_at(const gnn_instance *instance, const gnn_weight_desc *weight, int state);

typedef enum gnn_weight_way { GNN_WEIGHT_READ, GNN_WEIGHT_FILL } gnn_weight_way;
/* Numbers first .. first + count - 1 of this build: to be read, or to be filled. */
typedef gnn_status gnn_weight_visit(void *context, void *numbers, int64_t first, int64_t count);
/* All of them from the first to the last, at once where they lie in memory, else a block of the file at a time. Ends with the first status that is not GNN_OK. */
gnn_status gnn_weight_walk(const gnn_instance *instance, const gnn_weight_desc *weight, int state, gnn_weight_way way, gnn_weight_visit *visit, void *context, gnn_error *error);

int gnn_weight_has_gradient(const gnn_weight_desc *weight);
/* Whether it is at home on the host or on the SSD, and its numbers of the best epoch with it. */
int gnn_weight_is_away(const gnn_weight_desc *weight);
/* Of a weight that is: itself as the best, or the best as itself. */
gnn_status gnn_weight_copy(gnn_instance *instance, const gnn_weight_desc *weight, int from, int to, gnn_error *error);

/* So many of its numbers are here, from number *first on: all, or those of the rows of a rank. */
int64_t gnn_weight_own(const gnn_instance *instance, const gnn_weight_desc *weight, int64_t *first);
/* Of weights of which a rank has its own rows: those of all ranks, until they are dropped. All ranks ask. NULL: there are none. */
gnn_status gnn_weights_gather(gnn_instance *instance, gnn_error *error);
void gnn_weights_drop(gnn_instance *instance);
const void *gnn_weight_gathered(const gnn_instance *instance, const gnn_weight_desc *weight, int state);
/* Likewise of a copy of all numbers, in which its own are there. */
void gnn_weight_gather_copy(gnn_instance *instance, const gnn_weight_desc *weight, void *all);

/* To and from memory that has all of them side by side. */
gnn_status gnn_weight_take(const gnn_instance *instance, const gnn_weight_desc *weight, int state, void *to, gnn_error *error);
gnn_status gnn_weight_put(const gnn_instance *instance, const gnn_weight_desc *weight, int state, const void *from, gnn_error *error);

#endif
