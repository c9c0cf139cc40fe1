/* NumPy arrays, plain and gzipped: runtime/data/npy.c. */
#include "fuzz.h"

#include "runtime/data/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gnn_file file;
  gnn_array array;
  gnn_error error = {"", "", ""};
  int is_transposed;
  int is_gzipped = size > 1 && data[0] == 0x1f && data[1] == 0x8b;
  fuzz_file(is_gzipped ? "a.npy.gz" : "a.npy", data, size);
  fuzz_remove(is_gzipped ? "a.npy" : "a.npy.gz");
  char path[128];
  snprintf(path, sizeof path, "%s/a.npy", fuzz_folder());
  gnn_status status = gnn_npy_open(path, &file, &array, &is_transposed, &error);
  HOLDS(status == GNN_OK || error.message[0]);
  if (status != GNN_OK) return 0;
  double sum = 0;
  for (int64_t i = 0; i < array.count; i++) sum += gnn_array_number(&array, i);
  (void)sum;
  gnn_file_close(&file);
  return 0;
}
