#include "emit_lines.h"

#include <string.h>

#include "compiler/base/escape.h"

static const char here[] = "#line here\n";

/* Of a layer from another file, the place where the model has it is not known. */
static bool is_in_model(const Emission *m, const Step *step) { return m->has_lines && step->place.file == 0 && step->place.line > 0; }

void emit_lines_begin(const Emission *m, const Step *step, FILE *out) {
  if (is_in_model(m, step)) fprintf(out, "#line %d %s\n", (int)step->place.line, escape_c(m->arena, m->model_path));
}

void emit_lines_end(const Emission *m, FILE *out) {
  if (m->has_lines) fputs(here, out);
}

void emit_lines(const Emission *m, const char *text, size_t length, FILE *out) {
  const char *const end = text + length, *of_step = NULL; /* the directive of the step, where one is */
  int written = 0;
  for (const char *at = text; at < end;) {
    const char *next = memchr(at, '\n', (size_t)(end - at)), *rest = next ? next + 1 : end;
    const bool is_end = strncmp(at, here, sizeof here - 1) == 0, is_begin = !is_end && strncmp(at, "#line ", 6) == 0;
    if (is_end && of_step) fprintf(out, "#line %d \"%s.c\"\n", ++written + 1, m->prefix);
    if (is_end) of_step = NULL;
    if (is_begin) of_step = at;
    if (!is_begin && !is_end) {
      if (of_step) fwrite(of_step, 1, strcspn(of_step, "\n") + 1, out), written++;
      fwrite(at, 1, (size_t)(rest - at), out), written++;
    }
    at = rest;
  }
}
