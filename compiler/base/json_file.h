/* json_file.h: JSON from files. */
#ifndef GNNCC_JSON_FILE_H
#define GNNCC_JSON_FILE_H

#include <jansson.h>

#include "lang/arena.h"

/* NULL with what is wrong in *fault (NULL is fine). */
json_t *json_file_read(Arena *arena, const char *path, size_t flags, const char **fault);

#endif
