/* suggest.h: did-you-mean. */
#ifndef GNNCC_SUGGEST_H
#define GNNCC_SUGGEST_H

#include "arena.h"

enum { SUGGEST_MAX = 3 };

typedef struct Suggest {
  const char *wanted;
  int limit; /* edits allowed; 0 for the usual max(1, length / 3) */
  int count;
  const char *name[SUGGEST_MAX];
  int distance[SUGGEST_MAX];
} Suggest;

/* Offers one known name; kept when it is near enough (at most max(1, length / 3) edits) and among the best three. */
void suggest_offer(Suggest *suggest, const char *name);

/* "; did you mean a, b or c?" with `quote` before and after each name, or "" without suggestions. */
const char *suggest_text(Arena *arena, const Suggest *suggest, const char *quote);

#endif
