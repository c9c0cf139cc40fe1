/* The container of data, weights and checkpoints: runtime/data/safetensors.c. */
#include "fuzz.h"

#include "runtime/data/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gnn_safetensors file;
  gnn_error error = {"", "", ""};
  gnn_status status = gnn_safetensors_open(fuzz_file("a.safetensors", data, size), &file, &error);
  HOLDS(status == GNN_OK || error.message[0]);
  if (status != GNN_OK) return 0;
  double sum = 0;
  for (int t = 0; t < file.tensor_count; t++)
    for (int64_t i = 0; i < file.tensors[t].array.count; i++) sum += gnn_array_number(&file.tensors[t].array, i);
  (void)sum;
  gnn_safetensors_text(&file, "format");
  gnn_safetensors_close(&file);
  return 0;
}
