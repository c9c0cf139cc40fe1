/* npz.h: NumPy's .npz files, stored or deflated, as a list of arrays by name. */
#ifndef GNN_NPZ_H
#define GNN_NPZ_H

#include "dataset.h"
#include "safetensors.h"

enum { GNN_NPZ_LEFT_OUT_ROOM = 256 };

/* As if it were a safetensors file: arrays of numbers are tensors, texts without dimension are pairs. Members that are neither are told in a note and in
 * *left_out ("" or "; NAME is a pickle, ..."; room for GNN_NPZ_LEFT_OUT_ROOM). What is unpacked belongs to the data set; the rest lies in out->file, to be closed. */
gnn_status gnn_npz_open(gnn_dataset *dataset, const char *path, gnn_safetensors *out, char *left_out, gnn_error *error);

#endif
