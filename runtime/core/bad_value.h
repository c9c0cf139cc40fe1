/* bad_value.h: which value of an epoch is the first that is not finite. */
#ifndef GNN_BAD_VALUE_H
#define GNN_BAD_VALUE_H

#include "device.h"

/* Does the work once more, as it was done, and looks at the weights before it and at what each step stores: before the update, because
 * that changes the weights. Only for the first such epoch since the last reset, and only on the processor. */
void gnn_bad_value_find(gnn_instance *instance, gnn_work work);
/* "; first bad value: h1, node 88213, column 3 is inf (step 12, line 9)"; nothing where none is known. */
void gnn_bad_value_text(const gnn_instance *instance, gnn_text *text);
/* What gnn_step_epoch returned as an error, with R0803 and the first bad value where the loss is not finite. */
gnn_status gnn_epoch_failed(const gnn_instance *instance, gnn_status status, gnn_error *error);

#endif
