/* shown.h: words of strangers (names in a file, paths, options) in a message. */
#ifndef GNNCC_SHOWN_H
#define GNNCC_SHOWN_H

#include <stddef.h>

/* The returned value is its argument: room for the text on the caller's stack. */
typedef struct Shown {
  char text[2048];
} Shown;

/* One line of what the terminal has characters for: everything else is escaped (\n, \u0085, \xff), and what is too long ends
 * with "...". */
Shown shown(const char *words);
/* The same in `size` bytes, of which there are at least 32. */
void shown_in(char *line, size_t size, const char *words);

#endif
