/* source_text.c: NAME(value, name = value, ...); a value is a text in quotes, a number, true or false. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "source_text.h"

#include <stdlib.h>
#include <string.h>

static int source_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

int gnn_is_source_text(const char *text) {
  const char *at = text;
  while (source_is_letter(*at)) at++;
  return at > text && *at == '(' && (text[strlen(text) - 1] == ')' || strpbrk(at, "\"=") != NULL);
}

typedef struct source_reader {
  const char *text, *at;
  char *to;
  gnn_error *error;
} source_reader;

static void source_blanks(source_reader *r) { r->at += strspn(r->at, " \t\n"); }

static gnn_status source_bad(const source_reader *r, const char *what) {
  if (*r->at == 0) return gnn_fail(r->error, GNN_EINVAL, "", "%s is wanted at the end of %.200s", what, r->text);
  return gnn_fail(r->error, GNN_EINVAL, "", "%s is wanted at \"%.40s\" in %.200s", what, r->at, r->text);
}

static const char *source_word(source_reader *r) {
  const char *word = r->to;
  while (source_is_letter(*r->at)) *r->to++ = *r->at++;
  *r->to++ = 0;
  source_blanks(r);
  return word;
}

static gnn_status source_value(source_reader *r, gnn_source_arg *arg) {
  arg->text = NULL;
  if (*r->at == '"') {
    arg->text = r->to;
    for (r->at++; *r->at && *r->at != '"'; r->at++) {
      if (*r->at == '\\' && r->at[1]) r->at++;
      *r->to++ = *r->at;
    }
    if (*r->at != '"') return source_bad(r, "a quote at the end of the text");
    r->at++;
    *r->to++ = 0;
  } else {
    const char *number = r->to, *begin = r->at;
    while (*r->at && !strchr(" ,)\t\n", *r->at)) {
      if (*r->at != '_') *r->to++ = *r->at;
      r->at++;
    }
    *r->to++ = 0;
    if (strcmp(number, "true") == 0 || strcmp(number, "false") == 0) arg->number = number[0] == 't';
    else if (!gnn_parse_number(number, &arg->number)) return r->at = begin, source_bad(r, "a text in quotes, a number, true or false");
  }
  source_blanks(r);
  return GNN_OK;
}

static gnn_status source_arg(source_reader *r, gnn_source_arg *arg) {
  *arg = (gnn_source_arg){.key = ""};
  if (source_is_letter(*r->at) && strncmp(r->at, "true", 4) != 0 && strncmp(r->at, "false", 5) != 0) {
    arg->key = source_word(r);
    if (*r->at != '=') return source_bad(r, "=");
    r->at++;
    source_blanks(r);
  }
  return source_value(r, arg);
}

gnn_status gnn_source_parse(const char *text, gnn_source_text *parsed, gnn_error *error) {
  const size_t length = strlen(text);
  memset(parsed, 0, sizeof *parsed);
  parsed->letters = malloc(2 * length + 16);
  parsed->args = calloc(length + 1, sizeof *parsed->args);
  if (parsed->letters == NULL || parsed->args == NULL) {
    gnn_source_free(parsed);
    return gnn_fail_memory(error, (int64_t)length);
  }
  source_reader r = {text, text, parsed->letters, error};
  parsed->source = (gnn_source){.kind = source_word(&r), .args = parsed->args};
  gnn_status status = *r.at == '(' ? GNN_OK : source_bad(&r, "(");
  if (status == GNN_OK) r.at++;
  source_blanks(&r);
  while (status == GNN_OK && *r.at != ')') {
    status = source_arg(&r, &parsed->args[parsed->source.arg_count++]);
    if (status != GNN_OK || *r.at == ')') break;
    if (*r.at != ',') status = source_bad(&r, ", or )");
    else r.at++;
    source_blanks(&r);
  }
  if (status == GNN_OK && r.at[1]) status = source_bad(&r, "the end");
  if (status != GNN_OK) gnn_source_free(parsed);
  return status;
}

void gnn_source_free(gnn_source_text *parsed) {
  free(parsed->letters);
  free(parsed->args);
  memset(parsed, 0, sizeof *parsed);
}
