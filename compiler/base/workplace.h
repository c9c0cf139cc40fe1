/* workplace.h: directories for what is made on the way, which go with all that is in them: at the end, and when gnncc is stopped. */
#ifndef GNNCC_WORKPLACE_H
#define GNNCC_WORKPLACE_H

#include <stdbool.h>

#include "lang/arena.h"

typedef struct Workplace {
  Arena *arena;
  const char *path;
  const char **files;
  int count;
} Workplace;

/* In TMPDIR, under a name that nobody can guess, for this user alone. NULL with a message. */
Workplace *workplace_new(Arena *arena);
/* Where a user wants it: a new directory, an empty one, or one that was a workplace before. NULL with a message. */
Workplace *workplace_at(Arena *arena, const char *path, bool is_forced);
/* The path of a file in it, which is there or will be. */
const char *workplace_file(Workplace *place, const char *name);
void workplace_end(Workplace *place, bool is_kept);

#endif
