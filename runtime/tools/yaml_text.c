/* yaml_text.c: a YAML file as JSON text, line for line. */
#include "yaml_text.h"

#include <string.h>

#include "runtime/base/file.h"

#ifdef GNN_YAML
#include <yaml.h>

enum { YAML_DEPTH_MOST = 24, YAML_TEXT_MOST = 1 << 22 };

typedef struct yaml_source {
  const char *path;
  yaml_document_t *document;
  gnn_text *json;
  size_t line; /* that is being written, from 0 */
  gnn_error *error;
} yaml_source;

static gnn_status yaml_fail(const yaml_source *s, const yaml_node_t *node, const char *what) {
  return gnn_fail(s->error, GNN_EDATA, "", "\"%s\" line %zu: %s", s->path, node->start_mark.line + 1, what);
}

/* Down to the line in which the node stands; what an alias stands for is in a line above. */
static void yaml_go(yaml_source *s, const yaml_node_t *node) {
  for (; s->line < node->start_mark.line; s->line++) gnn_text_append(s->json, "\n", 1);
}

static gnn_status yaml_scalar(yaml_source *s, const yaml_node_t *node, int is_key) {
  const char *text = (const char *)node->data.scalar.value;
  if (strlen(text) != node->data.scalar.length) return yaml_fail(s, node, "a text with a zero character");
  const int is_null = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && (!*text || strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0);
  if (is_null && !is_key) gnn_text_append(s->json, "null", 4);
  else gnn_text_json(s->json, text);
  return GNN_OK;
}

static gnn_status yaml_node(yaml_source *s, const yaml_node_t *node, int depth) {
  if (depth > YAML_DEPTH_MOST || s->json->length > YAML_TEXT_MOST) return yaml_fail(s, node, "too deep a nesting, or too much in it");
  gnn_status status = GNN_OK;
  yaml_go(s, node);
  if (node->type == YAML_SCALAR_NODE) return yaml_scalar(s, node, 0);
  const int is_list = node->type == YAML_SEQUENCE_NODE;
  gnn_text_append(s->json, is_list ? "[" : "{", 1);
  if (is_list) {
    const yaml_node_item_t *first = node->data.sequence.items.start, *end = node->data.sequence.items.top;
    for (const yaml_node_item_t *item = first; status == GNN_OK && item < end; item++) {
      if (item > first) gnn_text_append(s->json, ",", 1);
      status = yaml_node(s, yaml_document_get_node(s->document, *item), depth + 1);
    }
  } else {
    const yaml_node_pair_t *first = node->data.mapping.pairs.start, *end = node->data.mapping.pairs.top;
    for (const yaml_node_pair_t *pair = first; status == GNN_OK && pair < end; pair++) {
      const yaml_node_t *key = yaml_document_get_node(s->document, pair->key);
      if (key->type != YAML_SCALAR_NODE) return yaml_fail(s, key, "a key is one text");
      if (pair > first) gnn_text_append(s->json, ",", 1);
      yaml_go(s, key);
      status = yaml_scalar(s, key, 1);
      gnn_text_append(s->json, ":", 1);
      if (status == GNN_OK) status = yaml_node(s, yaml_document_get_node(s->document, pair->value), depth + 1);
    }
  }
  gnn_text_append(s->json, is_list ? "]" : "}", 1);
  return status;
}

static gnn_status yaml_parse(const char *path, const gnn_file *file, gnn_text *json, gnn_error *error) {
  yaml_parser_t parser;
  yaml_document_t document;
  if (!yaml_parser_initialize(&parser)) return gnn_fail_memory(error, 4096);
  yaml_parser_set_input_string(&parser, file->data, file->size);
  if (!yaml_parser_load(&parser, &document)) {
    gnn_status status = parser.error == YAML_MEMORY_ERROR ? gnn_fail_memory(error, (int64_t)file->size)
                                                          : gnn_fail(error, GNN_EDATA, "", "\"%s\" line %zu: no valid YAML: %s", path, parser.problem_mark.line + 1, parser.problem ? parser.problem : "damaged");
    yaml_parser_delete(&parser);
    return status;
  }
  yaml_source source = {path, &document, json, 0, error};
  const yaml_node_t *root = yaml_document_get_root_node(&document);
  gnn_status status = root ? yaml_node(&source, root, 0) : gnn_fail(error, GNN_EDATA, "", "\"%s\" is empty", path);
  if (status == GNN_OK && json->is_broken) status = gnn_fail_memory(error, (int64_t)file->size);
  yaml_document_delete(&document);
  yaml_parser_delete(&parser);
  return status;
}
#else
static gnn_status yaml_parse(const char *path, const gnn_file *file, gnn_text *json, gnn_error *error) {
  (void)file;
  (void)json;
  gnn_status status = gnn_fail(error, GNN_EDATA, "", "\"%s\" is YAML, and this program was built without libyaml", path);
  gnn_fail_help(error, "install libyaml-dev and build gnncc anew, or make arrays of the data: share/gnncc/to_gnncc.py");
  return status;
}
#endif

gnn_status gnn_yaml_text(const char *path, gnn_text *json, gnn_error *error) {
  gnn_file file;
  gnn_status status = gnn_file_open(path, gnn_file_text, &file, error);
  if (status != GNN_OK) return status;
  status = gnn_file_check(&file, yaml_parse(path, &file, json, error), error);
  gnn_file_close(&file);
  return status;
}
