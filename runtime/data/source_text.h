/* source_text.h: a source of data as a data block writes it, on a command line: csv(edges = "e.csv", nodes = "n.csv"). */
#ifndef GNN_SOURCE_TEXT_H
#define GNN_SOURCE_TEXT_H

#include "runtime/base/text.h"

typedef struct gnn_source_text {
  gnn_source source;
  gnn_source_arg *args;
  char *letters; /* all names and texts */
} gnn_source_text;

int gnn_is_source_text(const char *text); /* it looks like one: a word and a parenthesis */
gnn_status gnn_source_parse(const char *text, gnn_source_text *parsed, gnn_error *error);
void gnn_source_free(gnn_source_text *parsed);

#endif
