/* json.h: a small strict reader (RFC 8259) for safetensors headers and graph.json. */
#ifndef GNN_JSON_H
#define GNN_JSON_H

#include "text.h"

typedef enum gnn_json_kind {
  GNN_JSON_NULL, GNN_JSON_FALSE, GNN_JSON_TRUE, GNN_JSON_NUMBER, GNN_JSON_STRING, GNN_JSON_ARRAY, GNN_JSON_OBJECT
} gnn_json_kind;

typedef struct gnn_json_node {
  gnn_json_kind kind;
  const char *key;  /* of a member of an object */
  const char *text; /* GNN_JSON_STRING: UTF-8, zero-terminated; no string may hold U+0000 */
  double number;
  int64_t integer;  /* valid with is_integer */
  int is_integer;
  int32_t first, next; /* first member or element, next sibling; -1 for none */
  int64_t at;       /* the byte at which it begins */
} gnn_json_node;

typedef struct gnn_json {
  gnn_json_node *nodes; /* nodes[0] is the document */
  int32_t count, capacity;
  char *pool;
} gnn_json;

/* All of bytes[0 .. size) must be one JSON value and blanks. name is for messages. */
gnn_status gnn_json_parse(const char *name, const unsigned char *bytes, size_t size, gnn_json *json, gnn_error *error);
void gnn_json_free(gnn_json *json);
/* The member of an object, or NULL. */
const gnn_json_node *gnn_json_member(const gnn_json *json, const gnn_json_node *object, const char *key);

#endif
