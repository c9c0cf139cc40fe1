/* brackets: which layer the kernels stem from, as the lanes of a drawing have it above them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"

/* "conv" and 2 of "conv.2"; 0: the name ends in no turn. */
static size_t stem_of(const char *name, size_t length, int *turn) {
  size_t digits = 0;
  while (digits < length && isdigit((unsigned char)name[length - 1 - digits])) digits++;
  if (digits == 0 || digits + 1 >= length || name[length - 1 - digits] != '.') return 0;
  *turn = atoi(name + length - digits);
  return length - digits - 1;
}

/* How many turns the steps say of: that of the last, and those before. */
static int turns_of(const Document *d, const char *stem, size_t length) {
  int most = 0;
  for (int i = 0; i < d->step_count; i++) {
    const char *layer = d->steps[i].layer;
    if (!layer || strncmp(layer, stem, length) != 0 || layer[length] != '.' || !isdigit((unsigned char)layer[length + 1])) continue;
    const char *end = layer + length + 1 + strspn(layer + length + 1, "0123456789");
    const int turns = atoi(layer + length + 1) + 1;
    if ((*end == '.' || !*end) && turns > most) most = turns;
  }
  return most;
}

static const char *text_of(const Document *d, const char *name, size_t length, const char **turn_text) {
  int turn;
  const size_t stem = stem_of(name, length, &turn);
  const int turns = stem ? turns_of(d, name, stem) : 0;
  *turn_text = "";
  if (turns < 2) return arena_printf(d->arena, "%.*s", (int)length, name);
  const char *inner, *before = text_of(d, name, stem, &inner);
  *turn_text = arena_printf(d->arena, "%d/%d", turn + 1, turns);
  return arena_printf(d->arena, "%s %s", before, *turn_text);
}

DocBrackets document_brackets(const Document *d, bool is_measured) {
  const DocStep *steps;
  const int count = document_shown_steps(d, &steps);
  DocBrackets all = {.list = arena_alloc(d->arena, (size_t)(count + 1) * sizeof *all.list)};
  const DocStep *last = NULL;
  for (int i = 0; i < count; i++) {
    const DocStep *s = &steps[i];
    if (strcmp(s->lane, lane_names[LANE_COMPUTE]) != 0 || s->waits_for || (is_measured && !s->is_measured)) continue;
    const bool is_backward = strcmp(s->phase, "backward") == 0;
    const bool goes_on = last && last->layer && s->layer && strcmp(last->layer, s->layer) == 0 && (strcmp(last->phase, "backward") == 0) == is_backward;
    if (s->layer && !goes_on) {
      DocBracket *b = &all.list[all.count++];
      b->text = text_of(d, s->layer, strlen(s->layer), &b->turn);
      b->from = step_start(s, is_measured);
    }
    if (s->layer) all.list[all.count - 1].to = step_start(s, is_measured) + step_seconds(s, is_measured);
    last = s;
  }
  return all;
}

static int columns_of(const char *text) {
  int columns = 0;
  for (; *text; text++) columns += ((unsigned char)*text & 0xc0) != 0x80;
  return columns;
}

const char *bracket_label(const Document *d, const DocBracket *bracket, int room, bool is_utf8, int *columns) {
  const char *text = columns_of(bracket->text) <= room ? bracket->text : columns_of(bracket->turn) <= room ? bracket->turn : "";
  *columns = columns_of(text);
  if (*text || *bracket->turn || room < 4) return text;
  const char *end = bracket->text;
  for (int left = room - 1; left > 0 || ((unsigned char)*end & 0xc0) == 0x80; end++) left -= ((unsigned char)*end & 0xc0) != 0x80;
  *columns = room;
  return arena_printf(d->arena, "%.*s%s", (int)(end - bracket->text), bracket->text, is_utf8 ? "\342\200\246" : "~");
}
