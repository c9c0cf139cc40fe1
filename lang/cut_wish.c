#include "cut_wish.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* What is said of one cut takes no more letters. */
enum { MOST_LETTERS = 63 };

static bool reads_count(const char *text, const char *mode, int *count) {
  const size_t length = strlen(mode);
  int end = 0;
  return strncmp(text, mode, length) == 0 && sscanf(text + length, " ( %d ) %n", count, &end) == 1 && end > 0 && text[length + (size_t)end] == 0;
}

static const char *read_mode(const char *text, CutWish *wish) {
  int count = 1;
  *wish = (CutWish){.mode = CUT_UNSAID, .count = 1};
  if (strcmp(text, "auto") == 0) wish->mode = CUT_AUTO;
  else if (strcmp(text, "whole") == 0) wish->mode = CUT_WHOLE;
  else if (reads_count(text, "rows", &count)) *wish = (CutWish){.mode = CUT_ROWS, .count = count};
  else if (reads_count(text, "halos", &count)) *wish = (CutWish){.mode = CUT_HALOS, .count = count};
  else if (reads_count(text, "slices", &count)) *wish = (CutWish){.mode = CUT_SLICES, .count = count};
  else return "a cut is auto, whole, rows(P), halos(P) or slices(S)";
  if ((wish->mode == CUT_ROWS || wish->mode == CUT_HALOS) && (count < 2 || count > CUT_MOST_PARTS || (count & (count - 1)))) return "parts are a power of two from 2 to 64";
  if (wish->mode == CUT_SLICES && (count < 2 || count > CUT_MOST_SLICES)) return "slices are 2 to 16";
  return NULL;
}

static const char *skip_blanks(const char *text) {
  while (isspace((unsigned char)*text)) text++;
  return text;
}

/* Without blanks around. False: too long. */
static bool copy_trimmed(const char *text, size_t length, char *copy) {
  while (length > 0 && isspace((unsigned char)*text)) text++, length--;
  while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
  if (length > MOST_LETTERS) return false;
  memcpy(copy, text, length);
  copy[length] = 0;
  return true;
}

static const char *read_trimmed(const char *text, size_t length, CutWish *wish) {
  char mode[MOST_LETTERS + 1];
  return read_mode(copy_trimmed(text, length, mode) ? mode : "", wish);
}

static bool ends_in(const LayerWish *layer, const char *pass) {
  const int length = (int)strlen(pass);
  return layer->length > length && strncmp(layer->pattern + layer->length - length, pass, (size_t)length) == 0;
}

const char *cut_wish_layer(const char **text, LayerWish *layer) {
  const char *begin = skip_blanks(*text), *comma = strchr(begin, ','), *end = comma ? comma : begin + strlen(begin), *sign = memchr(begin, '=', (size_t)(end - begin));
  CutWish wish;
  *text = comma ? comma + 1 : NULL;
  if (!sign || sign == begin) return "behind the cut come layers that differ: conv1 = whole, conv2.backward = slices(4)";
  const char *name_end = sign;
  while (name_end > begin && isspace((unsigned char)name_end[-1])) name_end--;
  const char *fault = read_trimmed(sign + 1, (size_t)(end - sign - 1), &wish);
  *layer = (LayerWish){.pattern = begin, .length = (int)(name_end - begin), .mode = wish.mode, .count = wish.count};
  const bool is_forward = ends_in(layer, ".forward"), is_backward = ends_in(layer, ".backward");
  layer->is_forward = !is_backward;
  layer->is_backward = !is_forward;
  layer->name_length = layer->length - (is_forward ? (int)strlen(".forward") : is_backward ? (int)strlen(".backward") : 0);
  const bool is_of_layer = wish.mode == CUT_WHOLE || wish.mode == CUT_ROWS || wish.mode == CUT_SLICES;
  return is_of_layer ? fault : "the cut of a layer is whole, rows(P) or slices(S)";
}

const char *cut_wish_beside_layers(CutWish wish) {
  if (wish.mode == CUT_HALOS) return "halos(P) are of all layers alike; rows(P), slices(S) and whole may be otherwise in some";
  if (wish.mode == CUT_AUTO || wish.mode == CUT_UNSAID) return "where some layers differ, say how the others run: whole, rows(P) or slices(S)";
  return NULL;
}

const char *cut_wish_read(const char *text, CutWish *wish) {
  const char *comma = strchr(text, ','), *fault = read_trimmed(text, comma ? (size_t)(comma - text) : strlen(text), wish);
  if (fault || !comma) return fault;
  if ((fault = cut_wish_beside_layers(*wish))) return fault;
  wish->layers = comma + 1;
  for (const char *rest = wish->layers; rest && !fault;) {
    LayerWish layer;
    fault = cut_wish_layer(&rest, &layer);
  }
  return fault;
}

bool cut_wish_has_slices(CutWish wish) {
  bool has = wish.mode == CUT_SLICES;
  LayerWish layer;
  for (const char *rest = wish.layers; rest && !has && !cut_wish_layer(&rest, &layer);) has = layer.mode == CUT_SLICES;
  return has;
}
