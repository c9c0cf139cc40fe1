/* build: sources -> what was asked for, by the system's C compiler.
 *
 * Everything is made in a directory of its own and moved into place at the end, so that no half-written file is ever
 * seen. What gnncc did not write is not overwritten. A C compiler that refuses our sources is our fault: the sources
 * are kept and the exit status is 70.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/text.h"
#include "driver.h"
#include "report.h"

extern char **environ;

typedef struct Builder {
  Compilation *c;
  Arena *arena;
  const char *directory; /* scratch */
  const char *prefix;
  const char *cc;
} Builder;

static int complain(const char *what, const char *path) {
  fprintf(stderr, "gnncc: error: cannot %s %s: %s\n", what, path, strerror(errno));
  return 4;
}

/* ---- files ---- */

/* gnncc's own mark is in everything it writes. */
static bool was_written_by_gnncc(const char *path) {
  FILE *in = fopen(path, "rb");
  if (!in) return false;
  static const char mark[] = "gnncc";
  char buffer[65536];
  size_t kept = 0;
  bool is_found = false;
  while (!is_found) {
    size_t got = fread(buffer + kept, 1, sizeof buffer - kept, in);
    if (got == 0) break;
    is_found = memmem(buffer, kept + got, mark, sizeof mark - 1) != NULL;
    size_t keep = kept + got < sizeof mark ? kept + got : sizeof mark;
    memmove(buffer, buffer + kept + got - keep, keep);
    kept = keep;
  }
  fclose(in);
  return is_found;
}

static bool may_write(const Builder *b, const char *path) {
  struct stat info;
  if (b->c->options->is_forced || stat(path, &info) != 0) return true;
  if (S_ISDIR(info.st_mode)) {
    fprintf(stderr, "gnncc: error: %s is a directory\n", path);
    return false;
  }
  if (!S_ISREG(info.st_mode) || info.st_size == 0 || was_written_by_gnncc(path)) return true;
  fprintf(stderr, "gnncc: error: %s exists and was not written by gnncc; --force overwrites it\n", path);
  return false;
}

static int copy_stream(FILE *in, FILE *out) {
  char buffer[65536];
  size_t got;
  while ((got = fread(buffer, 1, sizeof buffer, in)) > 0)
    if (fwrite(buffer, 1, got, out) != got) return -1;
  return ferror(in) ? -1 : 0;
}

/* Moves a finished file to its place by way of a temporary name beside it. */
static int deliver(const Builder *b, const char *from, const char *to, mode_t mode) {
  if (!may_write(b, to)) return 4;
  const char *temporary = arena_printf(b->arena, "%s.tmp-%d", to, (int)getpid());
  FILE *in = fopen(from, "rb");
  if (!in) return complain("read", from);
  FILE *out = fopen(temporary, "wb");
  if (!out) {
    fclose(in);
    return complain("write", to);
  }
  int status = copy_stream(in, out);
  fclose(in);
  if (fclose(out) != 0 || status != 0 || chmod(temporary, mode) != 0 || rename(temporary, to) != 0) {
    status = complain("write", to);
    unlink(temporary);
    return status;
  }
  return 0;
}

static mode_t usual_mode(mode_t wanted) {
  mode_t mask = umask(0);
  umask(mask);
  return wanted & ~mask;
}

static int write_text(const Builder *b, const char *path, void (*emit)(const Emission *, FILE *)) {
  FILE *out = fopen(path, "wb");
  if (!out) return complain("write", path);
  emit(&b->c->emission, out);
  return fclose(out) == 0 ? 0 : complain("write", path);
}

static const char *in_scratch(const Builder *b, const char *name) { return arena_printf(b->arena, "%s/%s", b->directory, name); }

static void remove_scratch(const Builder *b) {
  const char *const suffixes[] = {".c", ".h", ".o", "_in_double.o", "_in_double.c", ".a", ".so", ""};
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
    unlink(in_scratch(b, arena_printf(b->arena, "%s%s", b->prefix, suffixes[i])));
  const char *const names[] = {"main.c", "main.o", "Makefile", "plan.json", "program"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unlink(in_scratch(b, names[i]));
  rmdir(b->directory);
}

/* ---- commands ---- */

typedef struct Command {
  int count;
  const char **words;
} Command;

static void word(const Builder *b, Command *command, const char *text) { ARENA_PUSH(b->arena, command->words, command->count, text); }

/* The words of a shell-like list such as CFLAGS or a CC with options. */
static void words(const Builder *b, Command *command, const char *list) {
  char *copy = arena_strdup(b->arena, list), *rest = NULL;
  for (char *w = strtok_r(copy, " \t", &rest); w; w = strtok_r(NULL, " \t", &rest)) word(b, command, w);
}

static Command compiler(const Builder *b) {
  Command command = {0};
  const Options *o = b->c->options;
  words(b, &command, b->cc);
  word(b, &command, "-std=gnu11");
  word(b, &command, o->optimisation == 0 ? "-O0" : o->optimisation == 1 ? "-O1" : "-O3");
  if (o->is_debugging) word(b, &command, "-g");
  word(b, &command, "-march=native");
  word(b, &command, "-fno-math-errno");
  word(b, &command, "-ffp-contract=fast");
  word(b, &command, arena_printf(b->arena, "-I%s", b->c->share_dir));
  word(b, &command, arena_printf(b->arena, "-ffile-prefix-map=%s=.", b->directory));
  if (getenv("CFLAGS")) words(b, &command, getenv("CFLAGS"));
  for (int i = 0; i < o->cc_option_count; i++) word(b, &command, o->cc_options[i]);
  return command;
}

static void print_command(const Builder *b, const Command *command) {
  if (!b->c->options->is_verbose && !b->c->options->is_dry_run) return;
  for (int i = 0; i < command->count; i++) fprintf(stderr, "%s%s", i ? " " : "", command->words[i]);
  fprintf(stderr, "\n");
}

static int start(const Builder *b, Command *command, pid_t *child) {
  print_command(b, command);
  *child = -1;
  if (b->c->options->is_dry_run) return 0;
  word(b, command, NULL);
  int fault = posix_spawnp(child, command->words[0], NULL, NULL, (char *const *)(void *)command->words, environ);
  if (fault == 0) return 0;
  fprintf(stderr, "gnncc: error: cannot run %s: %s; install a C compiler (apt install gcc) or name one with --cc=PATH\n", command->words[0],
          strerror(fault));
  return 5;
}

static int finish(pid_t child) {
  if (child < 0) return 0;
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 5;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int refused(const Builder *b) {
  fprintf(stderr, "gnncc: error[E0601]: %s failed on code that gnncc wrote; this is a bug in gnncc, not in your program\n", b->cc);
  fprintf(stderr, "gnncc: note: the sources are kept in %s; gnncc " GNNCC_VERSION "\n", b->directory);
  return 70;
}

/* Compile the sources to objects, all at once. */
static int compile_all(const Builder *b, const char *const *sources, const char *const *objects, const char *const *extra, int count) {
  enum { MOST = 4 };
  pid_t children[MOST];
  int status = 0, started = 0;
  for (; started < count && status == 0; started++) {
    Command command = compiler(b);
    if (extra[started]) words(b, &command, extra[started]);
    word(b, &command, "-c");
    word(b, &command, "-o");
    word(b, &command, objects[started]);
    word(b, &command, sources[started]);
    status = start(b, &command, &children[started]);
    if (status != 0) break;
  }
  for (int i = 0; i < started; i++)
    if (finish(children[i]) != 0 && status == 0) status = 70;
  return status == 70 ? refused(b) : status;
}

static int run(const Builder *b, Command *command) {
  pid_t child;
  int status = start(b, command, &child);
  if (status != 0) return status;
  return finish(child) == 0 ? 0 : refused(b);
}

/* ---- products ---- */

static int write_sources(const Builder *b) {
  int status = write_text(b, in_scratch(b, arena_printf(b->arena, "%s.c", b->prefix)), emit_source);
  if (status == 0) status = write_text(b, in_scratch(b, arena_printf(b->arena, "%s.h", b->prefix)), emit_header);
  if (status == 0) status = write_text(b, in_scratch(b, "main.c"), emit_main);
  return status;
}

static int build_program(const Builder *b) {
  const char *source = in_scratch(b, arena_printf(b->arena, "%s.c", b->prefix));
  const char *const sources[] = {source, in_scratch(b, "main.c"), source};
  const char *const objects[] = {in_scratch(b, arena_printf(b->arena, "%s.o", b->prefix)), in_scratch(b, "main.o"),
                                 in_scratch(b, arena_printf(b->arena, "%s_in_double.o", b->prefix))};
  /* The double build serves gradcheck alone: it is compiled for speed of compilation. */
  const char *const extra[] = {"-DGNN_HAS_DOUBLE", NULL, "-DGNN_DOUBLE -O1"};
  bool has_double = b->c->program->has_train;
  int status = compile_all(b, sources, objects, (const char *const[]){has_double ? extra[0] : NULL, NULL, extra[2]}, has_double ? 3 : 2);
  if (status != 0) return status;
  Command link = compiler(b);
  const char *program = in_scratch(b, "program");
  word(b, &link, "-o");
  word(b, &link, program);
  for (int i = 0; i < (has_double ? 3 : 2); i++) word(b, &link, objects[i]);
  word(b, &link, arena_printf(b->arena, "%s/libgnnrt.a", b->c->share_dir));
  words(b, &link, GNNCC_LINK_ZLIB " -lm -lpthread");
  if (getenv("LDFLAGS")) words(b, &link, getenv("LDFLAGS"));
  status = run(b, &link);
  if (status != 0 || b->c->options->is_dry_run) return status;
  const char *output = b->c->options->output ? b->c->options->output : b->c->stem;
  status = deliver(b, program, output, usual_mode(0777));
  struct stat info = {0};
  stat(output, &info);
  const char *run_as = strchr(output, '/') ? output : arena_printf(b->arena, "./%s", output);
  b->c->made = arena_printf(b->arena, "%s (%s). plan: gnncc --plan %s   run: %s", output, gnn_bytes_text(info.st_size).text, b->c->model_path, run_as);
  return status;
}

static void emit_plan_file(const Emission *m, FILE *out) { fputs(m->plan_json, out); }

static int build_sources(const Builder *b) {
  const char *output = b->c->options->output ? b->c->options->output : arena_printf(b->arena, "%s.src", b->c->stem);
  if (mkdir(output, 0777) != 0 && errno != EEXIST) return complain("make the directory", output);
  int status = write_text(b, in_scratch(b, "Makefile"), emit_makefile);
  if (status == 0) status = write_text(b, in_scratch(b, "plan.json"), emit_plan_file);
  const char *const made[] = {arena_printf(b->arena, "%s.c", b->prefix), arena_printf(b->arena, "%s.h", b->prefix), "main.c", "Makefile", "plan.json"};
  for (int i = 0; i < 5 && status == 0; i++)
    status = deliver(b, in_scratch(b, made[i]), arena_printf(b->arena, "%s/%s", output, made[i]), usual_mode(0666));
  const char *const runtime[] = {"gnnrt.h", "gnnrt.c"};
  for (int i = 0; i < 2 && status == 0; i++)
    status = deliver(b, arena_printf(b->arena, "%s/%s", b->c->share_dir, runtime[i]), arena_printf(b->arena, "%s/%s", output, runtime[i]), usual_mode(0666));
  b->c->made = arena_printf(b->arena, "%s/. build: make -C %s", output, output);
  return status;
}

/* -c, --lib, --shared: the embedding API without a main; the header goes beside. */
static int build_embeddable(const Builder *b) {
  Product product = b->c->options->product;
  const char *const sources[] = {in_scratch(b, arena_printf(b->arena, "%s.c", b->prefix))};
  const char *const objects[] = {in_scratch(b, arena_printf(b->arena, "%s.o", b->prefix))};
  int status = compile_all(b, sources, objects, (const char *const[]){product == PRODUCT_SHARED ? "-fPIC" : NULL}, 1);
  const char *made = objects[0], *suffix = ".o", *runtime = arena_printf(b->arena, "%s/libgnnrt.a", b->c->share_dir);
  if (status == 0 && product == PRODUCT_LIBRARY) {
    suffix = ".a";
    made = in_scratch(b, arena_printf(b->arena, "%s.a", b->prefix));
    Command command = {0};
    words(b, &command, "sh -c");
    word(b, &command, arena_printf(b->arena, "cp '%s' '%s' && ar r '%s' '%s' 2>/dev/null", runtime, made, made, objects[0]));
    status = run(b, &command);
  } else if (status == 0 && product == PRODUCT_SHARED) {
    suffix = ".so";
    made = in_scratch(b, arena_printf(b->arena, "%s.so", b->prefix));
    Command link = compiler(b);
    words(b, &link, "-shared -o");
    word(b, &link, made);
    word(b, &link, objects[0]);
    word(b, &link, runtime);
    words(b, &link, "-lz -lm -lpthread"); /* Debian's static zlib is not position-independent */
    status = run(b, &link);
  }
  if (status != 0 || b->c->options->is_dry_run) return status;
  const char *lib = product == PRODUCT_OBJECT ? "" : "lib";
  const char *output = b->c->options->output ? b->c->options->output : arena_printf(b->arena, "%s%s%s", lib, b->prefix, suffix);
  status = deliver(b, made, output, usual_mode(product == PRODUCT_SHARED ? 0777 : 0666));
  const char *slash = strrchr(output, '/');
  const char *header = slash ? arena_printf(b->arena, "%.*s/%s.h", (int)(slash - output), output, b->prefix) : arena_printf(b->arena, "%s.h", b->prefix);
  if (status == 0) status = deliver(b, in_scratch(b, arena_printf(b->arena, "%s.h", b->prefix)), header, usual_mode(0666));
  b->c->made = arena_printf(b->arena, "%s and %s", output, header);
  return status;
}

static int emit_kind(const Builder *b, const EmitRequest *request, FILE *out) {
  Compilation *c = b->c;
  if (strcmp(request->kind, "ast") == 0) ast_dump(c->ast, out);
  else if (strcmp(request->kind, "program") == 0) typed_dump(c->program, out);
  else if (strcmp(request->kind, "plan") == 0) fputs(c->emission.plan_json, out);
  else if (strcmp(request->kind, "schedule") == 0) schedule_print(c->schedule, out);
  else if (strcmp(request->kind, "header") == 0) emit_header(&c->emission, out);
  else if (strcmp(request->kind, "c") == 0) emit_source(&c->emission, out);
  else if (strcmp(request->kind, "weights") == 0) {
    for (int p = 0; p < c->program->param_count; p++) {
      const TypedParam *param = &c->program->params[p];
      fprintf(out, "%s [", param->name);
      for (int d = 0; d < param->type.rank; d++) fprintf(out, "%s%" PRId64, d ? ", " : "", param->type.dim[d].size);
      fprintf(out, "]\n");
    }
  }
  return 0;
}

static int build_texts(const Builder *b) {
  for (int i = 0; i < b->c->options->emit_count; i++) {
    const EmitRequest *request = &b->c->options->emits[i];
    const char *extension = strcmp(request->kind, "plan") == 0 ? "json" : strcmp(request->kind, "c") == 0 ? "c" : strcmp(request->kind, "header") == 0 ? "h" : "txt";
    const char *path = request->path ? request->path : arena_printf(b->arena, "%s.%s.%s", b->c->stem, request->kind, extension);
    if (strcmp(path, "-") == 0) {
      emit_kind(b, request, stdout);
      if (fflush(stdout) != 0) return complain("write", "standard output");
      continue;
    }
    const char *scratch = in_scratch(b, "plan.json");
    FILE *out = fopen(scratch, "wb");
    if (!out) return complain("write", scratch);
    emit_kind(b, request, out);
    int status = fclose(out) == 0 ? 0 : complain("write", scratch);
    if (status == 0 && (b->c->options->is_forced || access(path, F_OK) != 0 || may_write(b, path))) status = deliver(b, scratch, path, usual_mode(0666));
    else if (status == 0) status = 4;
    if (status != 0) return status;
  }
  return 0;
}

static Builder builder(Compilation *c) {
  Builder b = {.c = c, .arena = c->arena, .directory = c->scratch_dir, .prefix = c->emission.prefix};
  b.cc = c->options->cc ? c->options->cc : getenv("CC") && *getenv("CC") ? getenv("CC") : "cc";
  return b;
}

bool build_emit(Compilation *c) {
  const char *parent = getenv("TMPDIR") && *getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
  char *directory = arena_printf(c->arena, "%s/gnncc-XXXXXX", parent);
  if (!mkdtemp(directory)) {
    c->status = complain("make a directory in", parent);
    return false;
  }
  c->scratch_dir = directory;
  Builder b = builder(c);
  c->status = write_sources(&b);
  return c->status == 0;
}

bool build_product(Compilation *c) {
  Builder b = builder(c);
  switch (c->options->product) {
  case PRODUCT_PROGRAM: c->status = build_program(&b); break;
  case PRODUCT_SOURCES: c->status = build_sources(&b); break;
  case PRODUCT_OBJECT:
  case PRODUCT_LIBRARY:
  case PRODUCT_SHARED: c->status = build_embeddable(&b); break;
  default: break;
  }
  if (c->status == 0) c->status = build_texts(&b);
  return c->status == 0;
}

void build_clean(Compilation *c, int status) {
  if (!c->scratch_dir) return;
  Builder b = builder(c);
  if (c->options->is_saving_temps) fprintf(stderr, "gnncc: the sources are in %s\n", b.directory);
  else if (status != 70) remove_scratch(&b);
}
