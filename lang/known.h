/* known.h: what other libraries call things, and what there is here for what they have and the language has not. */
#ifndef GNNCC_KNOWN_H
#define GNNCC_KNOWN_H

#include <stdbool.h>

#include "arena.h"

typedef struct Alias {
  const char *foreign, *ours; /* ours: a name, an operator, or an expression: sum(h, to = graph) */
} Alias;

const Alias *known_alias(int index); /* NULL after the last */
const char *known_alias_of(const char *foreign); /* NULL when unknown */
bool known_is_name(const char *ours); /* and no operator or expression */
const char *known_use(Arena *arena, const char *ours); /* of an operator or expression: "x @ y", "max(x, y)" */

/* The argument, among those that there are, for another library's word; "": what it says need not be said here; NULL: unknown. */
const char *known_argument_of(const char *foreign, const char *const *names, int count);

/* What there is for a function or layer, or a loss or optimiser, that the language has under no name of its own; NULL: nothing is known of it.
 * *is_missing: nothing here does the same. */
const char *known_instead(const char *name, bool *is_missing);
const char *known_instead_in_training(const char *name);
const char *known_instead_of_setting(const char *name); /* of a data block */
const char *known_instead_of_source(const char *name); /* how data of this form are read all the same */

#endif
