#include "cut_wish.h"

#include <stdio.h>
#include <string.h>

static bool reads_count(const char *text, const char *mode, int *count) {
  const size_t length = strlen(mode);
  int end = 0;
  return strncmp(text, mode, length) == 0 && sscanf(text + length, " ( %d ) %n", count, &end) == 1 && end > 0 && text[length + (size_t)end] == 0;
}

const char *cut_wish_read(const char *text, CutWish *wish) {
  int count = 1;
  *wish = (CutWish){CUT_UNSAID, 1};
  if (strcmp(text, "auto") == 0) wish->mode = CUT_AUTO;
  else if (strcmp(text, "whole") == 0) wish->mode = CUT_WHOLE;
  else if (reads_count(text, "rows", &count)) *wish = (CutWish){CUT_ROWS, count};
  else if (reads_count(text, "halos", &count)) *wish = (CutWish){CUT_HALOS, count};
  else if (reads_count(text, "slices", &count)) *wish = (CutWish){CUT_SLICES, count};
  else return "a cut is auto, whole, rows(P), halos(P) or slices(S)";
  if ((wish->mode == CUT_ROWS || wish->mode == CUT_HALOS) && (count < 2 || count > CUT_MOST_PARTS || (count & (count - 1)))) return "parts are a power of two from 2 to 64";
  if (wish->mode == CUT_SLICES && (count < 2 || count > CUT_MOST_SLICES)) return "slices are 2 to 16";
  return NULL;
}
