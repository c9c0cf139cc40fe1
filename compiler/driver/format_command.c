#include "compiler/driver/format_command.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/base/outfile.h"
#include "lang/format.h"
#include "runtime/base/open.h"

/* Over itself, with the permissions that the file has. */
static int write_back(const char *path, const char *text) {
  struct stat status;
  OutFile file;
  if (stat(path, &status) != 0) return outfile_complain("write", path);
  FILE *out = outfile_open(&file, path);
  if (!out) return 4;
  fputs(text, out);
  return outfile_close(&file, status.st_mode & 07777);
}

int format_write(const Options *options, const char *text) {
  OutFile file;
  if (!options->output || strcmp(options->output, "-") == 0) {
    fputs(text, stdout);
    return 0;
  }
  if (!outfile_may_write(options->output, options->is_forced)) return 4;
  FILE *out = outfile_open(&file, options->output);
  if (!out) return 4;
  fputs(text, out);
  return outfile_close(&file, 0666);
}

static int format_one(Arena *arena, const Options *options, const char *input) {
  bool is_stdin = strcmp(input, "-") == 0;
  size_t length;
  if (is_stdin && isatty(0)) {
    fprintf(stderr, "gnncc: error[E0001]: the program is to be read from a terminal; give a file, or pipe one in\n");
    return 4;
  }
  const char *path = is_stdin ? options->name ? arena_printf(arena, "%s.gnn", options->name) : "stdin.gnn" : input;
  const char *text = is_stdin ? arena_read_stream(arena, stdin, &length) : arena_read_file(arena, input, &length);
  if (!text) {
    fprintf(stderr, "gnncc: error[E0001]: cannot read %s: %s\n", input, gnn_open_reason(errno));
    return 4;
  }
  Diags *diags = diags_new(arena);
  diags_set_format(diags, options->format);
  diags_set_color(diags, options->color);
  diags_set_error_limit(diags, options->error_limit);
  const char *formatted = format_program(arena, diags, path, text, length);
  diags_print(diags, stderr);
  if (!formatted) return diags_exit_code(diags);
  if (!format_same_tokens(arena, text, length, formatted, strlen(formatted))) {
    fprintf(stderr, "gnncc: internal error in format: %s would be another program\n", path);
    return 70;
  }
  bool is_same = strlen(formatted) == length && memcmp(formatted, text, length) == 0;
  switch (options->formatting) {
  case FORMATTING_CHECK:
    if (!is_same) printf("%s\n", path);
    return !is_same;
  case FORMATTING_WRITE: return is_same ? 0 : is_stdin ? format_write(options, formatted) : write_back(input, formatted);
  case FORMATTING_PRINT: case FORMATTING_NONE: break;
  }
  return format_write(options, formatted);
}

int format_command(const Options *options) {
  int worst = 0;
  for (int i = -1; i < options->more_count; i++) {
    Arena *arena = arena_new();
    int status = format_one(arena, options, i < 0 ? options->input : options->more[i]);
    arena_free(arena);
    if (status > worst) worst = status;
  }
  return worst;
}
