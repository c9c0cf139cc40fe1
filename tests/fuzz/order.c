/* Files that hold an order of the nodes: runtime/data/order_file.c. */
#include "fuzz.h"

#include "runtime/data/order_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { NODES = 8 };
  int32_t order[NODES];
  int is_npy = size > 0 && data[0] == 0x93, seen = 0;
  gnn_error error = {"", "", ""};
  gnn_status status = gnn_order_read(fuzz_file(is_npy ? "order.npy" : "order.safetensors", data, size), NODES, 1, order, &error);
  HOLDS(status == GNN_OK || error.message[0]);
  for (int i = 0; status == GNN_OK && i < NODES; i++) seen |= 1 << order[i];
  HOLDS(status != GNN_OK || seen == (1 << NODES) - 1);
  return 0;
}
