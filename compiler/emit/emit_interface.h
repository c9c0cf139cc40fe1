/* emit_interface: the embedding API as data. The header and the manifest are both printed from it.
 *
 * Texts are as emit_put takes them: ` stands for the prefix. "" says that there is none. */
#ifndef GNNCC_EMIT_INTERFACE_H
#define GNNCC_EMIT_INTERFACE_H

#include "emit.h"

typedef struct ApiMember {
  const char *type, *name, *comment;
  const char *callback; /* its arguments, where it points to a function that returns `type` */
  bool shares_line;     /* the header declares it together with the member before */
} ApiMember;

typedef struct ApiArgument {
  const char *type, *name;
} ApiArgument;

enum { MOST_ARGUMENTS = 5, MOST_CONSTANTS = 9 };

typedef struct ApiFunction {
  const char *above; /* whole lines of the header */
  const char *returns, *name, *comment;
  ApiArgument arguments[MOST_ARGUMENTS]; /* up to the first without a type */
} ApiFunction;

typedef struct ApiEnumeration {
  const char *name;
  bool is_long; /* a line for each constant */
  struct { const char *name, *comment; } constants[MOST_CONSTANTS]; /* 0, 1, ..: up to the first without a name */
} ApiEnumeration;

typedef struct Interface {
  const ApiEnumeration *enumerations;
  ApiMember *options;
  const ApiMember *result;
  ApiFunction *functions;
  int enumeration_count, option_count, result_count, function_count;
} Interface;

Interface emit_interface(const Emission *emission); /* of ranks, of which there are no libraries: empty */

/* The member of the struct of options for an option of the program: not a keyword, and no other member's name. */
const char *emit_option_member(Arena *arena, const char *option);
bool emit_has_setter(const Emission *emission, int field);

#endif
