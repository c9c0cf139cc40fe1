/* JSON of headers and run files: runtime/base/json.c. */
#include "fuzz.h"

#include "runtime/base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gnn_json json;
  gnn_error error = {"", "", ""};
  gnn_status status = gnn_json_parse("fuzzed", data, size, &json, &error);
  HOLDS(status == GNN_OK || error.message[0]);
  if (status != GNN_OK) return 0;
  for (int32_t i = 0; i < json.count; i++) HOLDS(json.nodes[i].next > i || json.nodes[i].next == -1);
  gnn_json_member(&json, &json.nodes[0], "format");
  gnn_json_free(&json);
  return 0;
}
