/* json_text.h: JSON text of a stranger -> jansson tree, with bounded memory. */
#ifndef GNNCC_PLANNER_JSON_TEXT_H
#define GNNCC_PLANNER_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

/* NULL with `place` ("line:col") and `message` set when the text is too large, too deep, has too many values, is not
 * JSON, has a duplicate key, or an integer beyond 64 bits. The caller owns the reference. */
json_t *json_text_load(const char *text, size_t length, char *place, size_t place_size, char *message,
                       size_t message_size);

#endif
