/* json_file: JSON from files. */
#include "json_file.h"

#include <errno.h>

#include "runtime/base/open.h"

json_t *json_file_read(Arena *arena, const char *path, size_t flags, const char **fault) {
  json_error_t error;
  size_t length;
  const char *text = arena_read_file(arena, path, &length);
  json_t *root = text ? json_loadb(text, length, flags, &error) : NULL;
  if (!root && fault) *fault = text ? arena_printf(arena, "line %d: %s", error.line, error.text) : arena_printf(arena, "cannot read %s: %s", path, gnn_open_reason(errno));
  return root;
}
