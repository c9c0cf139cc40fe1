/* json.c: a small strict reader (RFC 8259). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { JSON_DEPTH_MAX = 32 };

typedef struct json_reader {
  const char *name;
  const unsigned char *begin, *at, *end;
  gnn_json *out;
  char *pool; /* next free byte; decoded strings are never longer than their source with its quotes */
  gnn_error *error;
} json_reader;

static gnn_status json_fail(json_reader *r, const char *what) {
  return gnn_fail(r->error, GNN_EDATA, "", "%s is not valid JSON: %s at byte %lld", r->name, what,
                  (long long)(r->at - r->begin));
}

static void json_blanks(json_reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t')) r->at++;
}

static gnn_status json_node(json_reader *r, int32_t *index) {
  gnn_json *json = r->out;
  if (json->count == json->capacity) {
    if (json->capacity > INT32_MAX / 2) return json_fail(r, "too many values");
    int32_t capacity = json->capacity ? json->capacity * 2 : 64;
    gnn_json_node *nodes = realloc(json->nodes, (size_t)capacity * sizeof *nodes);
    if (nodes == NULL) return gnn_fail_memory(r->error, (int64_t)capacity * (int64_t)sizeof *nodes);
    json->nodes = nodes;
    json->capacity = capacity;
  }
  *index = json->count++;
  gnn_json_node *node = &json->nodes[*index];
  memset(node, 0, sizeof *node);
  node->first = node->next = -1;
  return GNN_OK;
}

static int json_hex4(const unsigned char *s, uint32_t *value) {
  *value = 0;
  for (int i = 0; i < 4; i++) {
    unsigned char c = s[i];
    uint32_t digit;
    if (c >= '0' && c <= '9') digit = (uint32_t)(c - '0');
    else if (c >= 'a' && c <= 'f') digit = (uint32_t)(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F') digit = (uint32_t)(c - 'A') + 10;
    else return 0;
    *value = *value * 16 + digit;
  }
  return 1;
}

static gnn_status json_escape_unicode(json_reader *r) {
  uint32_t point, low;
  if (r->end - r->at < 5 || !json_hex4(r->at + 1, &point)) return json_fail(r, "a bad \\u escape");
  r->at += 4;
  if (point >= 0xd800 && point < 0xdc00) {
    if (r->end - r->at < 7 || r->at[1] != '\\' || r->at[2] != 'u' || !json_hex4(r->at + 3, &low) || low < 0xdc00 ||
        low > 0xdfff)
      return json_fail(r, "half a surrogate pair");
    point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    r->at += 6;
  } else if (point >= 0xdc00 && point < 0xe000) {
    return json_fail(r, "half a surrogate pair");
  }
  if (point == 0) return json_fail(r, "a zero character");
  if (point < 0x80) {
    *r->pool++ = (char)point;
  } else if (point < 0x800) {
    *r->pool++ = (char)(0xc0 | point >> 6);
    *r->pool++ = (char)(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    *r->pool++ = (char)(0xe0 | point >> 12);
    *r->pool++ = (char)(0x80 | (point >> 6 & 0x3f));
    *r->pool++ = (char)(0x80 | (point & 0x3f));
  } else {
    *r->pool++ = (char)(0xf0 | point >> 18);
    *r->pool++ = (char)(0x80 | (point >> 12 & 0x3f));
    *r->pool++ = (char)(0x80 | (point >> 6 & 0x3f));
    *r->pool++ = (char)(0x80 | (point & 0x3f));
  }
  return GNN_OK;
}

static gnn_status json_string(json_reader *r, const char **text) {
  static const char plain[] = "\"\\/bfnrt", decoded[] = "\"\\/\b\f\n\r\t";
  *text = r->pool;
  r->at++;
  for (;; r->at++) {
    if (r->at >= r->end) return json_fail(r, "a string without end");
    unsigned char c = *r->at;
    if (c == '"') break;
    if (c < 0x20) return json_fail(r, "a control character in a string");
    if (c != '\\') { *r->pool++ = (char)c; continue; }
    if (++r->at >= r->end) return json_fail(r, "a string without end");
    const char *found = *r->at ? strchr(plain, *r->at) : NULL;
    if (found) { *r->pool++ = decoded[found - plain]; continue; }
    if (*r->at != 'u') return json_fail(r, "an unknown escape");
    gnn_status status = json_escape_unicode(r);
    if (status != GNN_OK) return status;
  }
  r->at++;
  *r->pool++ = 0;
  return GNN_OK;
}

static gnn_status json_number(json_reader *r, gnn_json_node *node) {
  const unsigned char *begin = r->at;
  char copy[64];
  if (r->at < r->end && *r->at == '-') r->at++;
  const unsigned char *digits = r->at;
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
  if (r->at == digits) return json_fail(r, "an unexpected character");
  if (*digits == '0' && r->at - digits > 1) return json_fail(r, "a number with a leading zero");
  int is_integer = 1;
  while (r->at < r->end && *r->at && strchr("0123456789+-.eE", *r->at)) { r->at++; is_integer = 0; }
  size_t length = (size_t)(r->at - begin);
  if (length >= sizeof copy) return json_fail(r, "a number of too many digits");
  memcpy(copy, begin, length);
  copy[length] = 0;
  if (copy[length - 1] == '.' || !gnn_parse_number(copy, &node->number)) return json_fail(r, "a malformed number");
  node->is_integer = is_integer && gnn_parse_integer(copy, &node->integer);
  return GNN_OK;
}

static gnn_status json_value(json_reader *r, int32_t index, int depth);

/* Members of an object or elements of an array, up to the closing bracket. */
static gnn_status json_children(json_reader *r, int32_t parent, unsigned char close, int depth) {
  if (depth >= JSON_DEPTH_MAX) return json_fail(r, "too deep a nesting");
  r->at++;
  json_blanks(r);
  if (r->at < r->end && *r->at == close) { r->at++; return GNN_OK; }
  int32_t last = -1;
  for (;;) {
    const char *key = NULL;
    json_blanks(r);
    if (close == '}') {
      if (r->at >= r->end || *r->at != '"') return json_fail(r, "a member without a name");
      gnn_status status = json_string(r, &key);
      if (status != GNN_OK) return status;
      json_blanks(r);
      if (r->at >= r->end || *r->at != ':') return json_fail(r, "a member without \":\"");
      r->at++;
    }
    int32_t child;
    gnn_status status = json_node(r, &child);
    if (status == GNN_OK) {
      r->out->nodes[child].key = key;
      if (last < 0) r->out->nodes[parent].first = child;
      else r->out->nodes[last].next = child;
      last = child;
      status = json_value(r, child, depth + 1);
    }
    if (status != GNN_OK) return status;
    json_blanks(r);
    if (r->at >= r->end) return json_fail(r, "the end inside a list");
    if (*r->at == close) { r->at++; return GNN_OK; }
    if (*r->at != ',') return json_fail(r, "a missing \",\"");
    r->at++;
  }
}

static gnn_status json_value(json_reader *r, int32_t index, int depth) {
  static const struct { const char *word; size_t length; gnn_json_kind kind; } words[] = {
    {"null", 4, GNN_JSON_NULL}, {"true", 4, GNN_JSON_TRUE}, {"false", 5, GNN_JSON_FALSE}};
  json_blanks(r);
  if (r->at >= r->end) return json_fail(r, "the end where a value should be");
  gnn_json_node *node = &r->out->nodes[index];
  node->at = r->at - r->begin;
  switch (*r->at) {
  case '{': node->kind = GNN_JSON_OBJECT; return json_children(r, index, '}', depth);
  case '[': node->kind = GNN_JSON_ARRAY; return json_children(r, index, ']', depth);
  case '"': node->kind = GNN_JSON_STRING; return json_string(r, &node->text);
  default: break;
  }
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if ((size_t)(r->end - r->at) >= words[i].length && memcmp(r->at, words[i].word, words[i].length) == 0) {
      node->kind = words[i].kind;
      r->at += words[i].length;
      return GNN_OK;
    }
  }
  node->kind = GNN_JSON_NUMBER;
  return json_number(r, node);
}

gnn_status gnn_json_parse(const char *name, const unsigned char *bytes, size_t size, gnn_json *json, gnn_error *error) {
  memset(json, 0, sizeof *json);
  json->pool = malloc(size + 1);
  if (json->pool == NULL) return gnn_fail_memory(error, (int64_t)size);
  json_reader reader = {.name = name, .begin = bytes, .at = bytes, .end = bytes + size, .out = json,
                        .pool = json->pool, .error = error};
  int32_t root;
  gnn_status status = json_node(&reader, &root);
  if (status == GNN_OK) status = json_value(&reader, root, 0);
  if (status == GNN_OK) {
    json_blanks(&reader);
    if (reader.at != reader.end) status = json_fail(&reader, "something after the end");
  }
  if (status != GNN_OK) gnn_json_free(json);
  return status;
}

void gnn_json_free(gnn_json *json) {
  free(json->nodes);
  free(json->pool);
  memset(json, 0, sizeof *json);
}

const gnn_json_node *gnn_json_member(const gnn_json *json, const gnn_json_node *object, const char *key) {
  if (object->kind != GNN_JSON_OBJECT) return NULL;
  for (int32_t i = object->first; i >= 0; i = json->nodes[i].next)
    if (strcmp(json->nodes[i].key, key) == 0) return &json->nodes[i];
  return NULL;
}
