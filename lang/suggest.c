#define _POSIX_C_SOURCE 200809L
#include "suggest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 63 };

static int minimum(int a, int b) {
  return a < b ? a : b;
}

/* Damerau (1964), Levenshtein (1966), in the variant where a swapped pair is not edited again. */
static int edit_distance(const char *a, const char *b, int (*fold)(int)) {
  int a_length = (int)strnlen(a, WORD_MAX), b_length = (int)strnlen(b, WORD_MAX);
  int rows[3][WORD_MAX + 1];
  for (int k = 0; k <= b_length; k++) rows[0][k] = k;
  for (int i = 1; i <= a_length; i++) {
    int *now = rows[i % 3], *before = rows[(i + 2) % 3], *swapped = rows[(i + 1) % 3];
    now[0] = i;
    for (int k = 1; k <= b_length; k++) {
      int x = fold((unsigned char)a[i - 1]), y = fold((unsigned char)b[k - 1]);
      now[k] = minimum(minimum(before[k] + 1, now[k - 1] + 1), before[k - 1] + (x != y));
      if (i > 1 && k > 1 && x == fold((unsigned char)b[k - 2]) && y == fold((unsigned char)a[i - 2]))
        now[k] = minimum(now[k], swapped[k - 2] + 1);
    }
  }
  return rows[a_length % 3][b_length];
}

static int keep_case(int c) {
  return c;
}

/* Edits that turn one word into the other: insert, delete, replace, swap neighbours; case counts half an edit,
 * rounded down. Long words are compared by their first 63 bytes. */
static int suggest_distance(const char *a, const char *b) {
  int exact = edit_distance(a, b, keep_case), folded = edit_distance(a, b, tolower);
  return folded + (exact - folded) / 2;
}

void suggest_offer(Suggest *suggest, const char *name) {
  int length = (int)strlen(suggest->wanted), limit = length / 3 > 1 ? length / 3 : 1;
  if (suggest->limit > 0) limit = suggest->limit;
  if (abs((int)strlen(name) - length) > limit) return; /* so many insertions at least */
  int distance = suggest_distance(suggest->wanted, name);
  if (distance > limit || (length == 1 && strlen(name) == 1)) return;
  int at = suggest->count;
  for (int i = suggest->count - 1; i >= 0; i--) {
    if (strcmp(suggest->name[i], name) == 0) return;
    if (suggest->distance[i] > distance) at = i;
  }
  if (at >= SUGGEST_MAX) return;
  if (suggest->count < SUGGEST_MAX) suggest->count++;
  for (int i = suggest->count - 1; i > at; i--) {
    suggest->name[i] = suggest->name[i - 1];
    suggest->distance[i] = suggest->distance[i - 1];
  }
  suggest->name[at] = name;
  suggest->distance[at] = distance;
}

const char *suggest_text(Arena *arena, const Suggest *suggest, const char *quote) {
  if (suggest->count == 0) return "";
  const char *text = "; did you mean ";
  for (int i = 0; i < suggest->count; i++) {
    const char *joint = i == 0 ? "" : i + 1 == suggest->count ? " or " : ", ";
    text = arena_printf(arena, "%s%s%s%s%s", text, joint, quote, suggest->name[i], quote);
  }
  return arena_printf(arena, "%s?", text);
}
