/* names.c: names of the data as names of the language. */
#include "names.h"

#include <string.h>

/* As `gnncc --explain E0104` lists them. */
static const char *const names_keywords[] = {"import", "const", "option", "data", "from", "layer", "model", "on", "train", "target", "plan", "param", "for", "in", "if", "else", "return", "over", "as", "and", "or",
                                             "not", "true", "false"};

static int names_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static int names_is_digit(char c) { return c >= '0' && c <= '9'; }

static int names_is_keyword(const char *text) {
  for (size_t i = 0; i < sizeof names_keywords / sizeof *names_keywords; i++)
    if (strcmp(names_keywords[i], text) == 0) return 1;
  return 0;
}

int gnn_is_name(const char *text) {
  const char *at = text;
  while (names_is_letter(*at) || names_is_digit(*at) || *at == '_') at++;
  return at > text && *at == 0 && !names_is_digit(*text) && !names_is_keyword(text);
}

void gnn_make_name(const char *given, char *name, size_t room) {
  size_t length = 0;
  if (gnn_is_name(given) && strlen(given) < room) {
    memcpy(name, given, strlen(given) + 1);
    return;
  }
  for (const char *c = given; *c && length + 3 < room; c++) {
    if (names_is_digit(*c) && length == 0) name[length++] = '_';
    if (names_is_letter(*c) || names_is_digit(*c)) name[length++] = *c;
    else if (length > 0 && name[length - 1] != '_') name[length++] = '_';
  }
  while (length > 0 && name[length - 1] == '_') length--;
  name[length] = 0;
  if (names_is_keyword(name)) memcpy(name + length, "_", 2);
}

static int names_is_part(char c) { return names_is_letter(c) || names_is_digit(c); }

int gnn_is_same_name(const char *a, const char *b) {
  for (int is_first = 1;; is_first = 0) {
    const char *ends[2] = {a, b};
    int is_apart[2];
    for (int i = 0; i < 2; i++) {
      while (*ends[i] && !names_is_part(*ends[i])) ends[i]++;
      is_apart[i] = !is_first && *ends[i] && ends[i] > (i ? b : a);
    }
    a = ends[0];
    b = ends[1];
    if (*a != *b || is_apart[0] != is_apart[1]) return 0;
    if (*a == 0) return 1;
    a++;
    b++;
  }
}
