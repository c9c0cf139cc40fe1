/* toy.h: a gnn_program made by hand, for tests of the runtime without the compiler. */
#ifndef TOY_H
#define TOY_H

#include "../../runtime/data/dataset.h"

typedef struct toy_model {
  gnn_program program, in_double;
  gnn_field_desc fields[2];
  gnn_edge_set_desc sets[1];
  gnn_weight_desc weights[2];
  gnn_source_arg args[1];
  gnn_option_desc options[2];
} toy_model;

/* Plans for these prepared data, which need fields x and y. */
void toy_make(toy_model *toy, const gnn_dataset *dataset, const char *path, int is_sparse);

#endif
