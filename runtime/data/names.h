/* names.h: names of the data as names of the language: letters, digits and "_", none of its keywords. */
#ifndef GNN_NAMES_H
#define GNN_NAMES_H

#include <stddef.h>

int gnn_is_name(const char *text); /* the language takes it */
/* `given` as such a name into name[0 .. room): itself where it is one; else what it may not have becomes one "_", "Pre-Depends (reverse)" is Pre_Depends_reverse; a keyword gets "_"
 * behind it, a digit in front one before it. Empty where no letter and no digit is in it. */
void gnn_make_name(const char *given, char *name, size_t room);
int gnn_is_same_name(const char *a, const char *b); /* the same letters and digits, apart at the same places, by anything else: "has topic" and has__topic */

#endif
