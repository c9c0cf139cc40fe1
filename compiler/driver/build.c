/* build: sources -> what was asked for, by the system's C compiler.
 *
 * Everything is made in a directory of its own and moved into place at the end, so that no half-written file is ever
 * seen. What gnncc did not write is not overwritten. A C compiler that refuses our sources is our fault: the sources
 * are kept and the exit status is 70.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build.h"
#include "c_compiler.h"
#include "children.h"
#include "dependencies.h"
#include "single_file.h"
#include "compiler/base/clock.h"
#include "compiler/base/escape.h"
#include "compiler/base/outfile.h"
#include "compiler/base/workplace.h"
#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/explain/report.h"
#include "compiler/explain/views/views.h"
#include "runtime/base/text.h"

typedef struct Builder {
  Compilation *c;
  Arena *arena;
  const char *directory; /* of the sources */
  const char *prefix;
  CCompiler cc;
  CudaCompiler cuda; /* for programs of that backend */
} Builder;

/* ---- files ---- */

static bool may_write(const Builder *b, const char *path) {
  struct stat info, model;
  bool is_model = stat(path, &info) == 0 && stat(b->c->options->input, &model) == 0 && model.st_dev == info.st_dev && model.st_ino == info.st_ino;
  if (!is_model) return outfile_may_write(path, b->c->options->is_forced);
  fprintf(stderr, "gnncc: error: %s is the model itself; name another output with -o\n", path);
  return false;
}

static bool copy_stream(FILE *in, FILE *out) {
  char buffer[65536];
  size_t got;
  while ((got = fread(buffer, 1, sizeof buffer, in)) > 0 && fwrite(buffer, 1, got, out) == got) {}
  return !ferror(in);
}

/* Moves a finished file to its place. */
static int deliver(const Builder *b, const char *from, const char *to, mode_t mode) {
  OutFile file;
  if (!may_write(b, to)) return 4;
  FILE *in = fopen(from, "rb");
  if (!in) return outfile_complain("read", from);
  if (!outfile_open(&file, to)) {
    fclose(in);
    return 4;
  }
  int status = copy_stream(in, file.out) ? 0 : outfile_complain("read", from);
  fclose(in);
  return status == 0 ? outfile_close(&file, mode) : outfile_drop(&file, status);
}

static int write_text(const Builder *b, const char *path, void (*emit)(const Emission *, FILE *)) {
  FILE *out = fopen(path, "wb");
  if (!out) return outfile_complain("write", path);
  emit(&b->c->emission, out);
  return outfile_end(out) ? 0 : outfile_complain("write", path);
}

static const char *in_scratch(const Builder *b, const char *name) { return workplace_file(b->c->workplace, name); }

/* ---- commands ---- */

static void word(const Builder *b, Command *command, const char *text) { command_word(b->arena, command, text); }
static void words(const Builder *b, Command *command, const char *list) { command_words(b->arena, command, list); }

/* Options for every file that goes into a program; is_quick: for speed of compilation. What the user says comes last. */
static Command compiler_for(const Builder *b, const Processor *processor, bool is_quick) {
  Command command = {0};
  const Options *o = b->c->options;
  words(b, &command, b->cc.command);
  word(b, &command, "-std=gnu11");
  word(b, &command, o->optimisation == '0' ? "-O0" : o->optimisation == 'g' ? "-Og" : o->optimisation == '1' || is_quick ? "-O1" : "-O3");
  if (o->is_debugging) word(b, &command, "-g");
  word(b, &command, "-fno-math-errno");
  word(b, &command, "-fno-trapping-math");
  /* Kernels write their fused multiply-adds out. Left to the compiler they would differ between the vector body of a
   * loop and its last elements, and so between divisions of the work. */
  word(b, &command, "-ffp-contract=off");
  if (strcmp(b->cc.machine, "x86_64") == 0) word(b, &command, "-mprefer-vector-width=512"); /* clang would split the vectors of AVX-512 */
  word(b, &command, arena_printf(b->arena, "-I%s", b->c->share_dir));
  word(b, &command, arena_printf(b->arena, "-ffile-prefix-map=%s=.", b->directory));
  if (getenv("CFLAGS")) words(b, &command, getenv("CFLAGS"));
  for (int i = 0; i < o->cc_option_count; i++) word(b, &command, o->cc_options[i]);
  if (processor && processor->option) word(b, &command, arena_printf(b->arena, "%s%s", processor->option, processor->name));
  if (processor) word(b, &command, arena_printf(b->arena, "-DGNN_CPU=%s", processor->name));
  word(b, &command, "-fno-finite-math-only"); /* whatever was asked for: NaN stays NaN */
  return command;
}

/* For every processor. */
static Command compiler(const Builder *b) { return compiler_for(b, NULL, false); }

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
  int fault = child_start(command->words, -1, child);
  if (fault == 0) return 0;
  if (fault == ENOMEM) arena_out_of_memory(0);
  fprintf(stderr, "gnncc: error: cannot run %s: %s; install a C compiler (apt install gcc) or name one with --cc=PATH\n", command->words[0],
          strerror(fault));
  return 5;
}

static int finish(pid_t child) { return child < 0 ? 0 : child_finish(child); }

static int refused_by(const Builder *b, const char *compiler) {
  fprintf(stderr, "gnncc: error[E0601]: %s failed on code that gnncc wrote; this is a bug in gnncc, not in your program\n", compiler);
  fprintf(stderr, "gnncc: note: the sources are kept in %s; gnncc " GNNCC_VERSION "\n", b->directory);
  return 70;
}

static int refused(const Builder *b) { return refused_by(b, b->cc.command); }

/* A row of --time. */
static void say_time(const Builder *b, const char *path, double since) {
  const char *slash = strrchr(path, '/');
  if (b->c->options->is_timing) fprintf(stderr, "%-12s %9.3f ms  %s\n", "", 1e3 * (clock_seconds(CLOCK_MONOTONIC) - since), slash ? slash + 1 : path);
}

/* On a terminal, what is going on; NULL: it is over. */
static void say_progress(const Builder *b, const char *what) {
  const Options *o = b->c->options;
  if (o->is_quiet || o->is_verbose || o->is_dry_run || o->is_timing || !isatty(2)) return;
  static int width; /* of what stands there */
  if (what) width = fprintf(stderr, "gnncc: %s ...", what);
  else fprintf(stderr, "\r%*s\r", width, "");
}

/* The beginning of a command that is tried, and says nothing. */
static Command quiet(const Builder *b) {
  Command command = {0};
  words(b, &command, "/bin/sh -c");
  word(b, &command, "exec \"$@\" 2>/dev/null");
  word(b, &command, "sh");
  return command;
}

static bool succeeds(const Builder *b, Command *command) {
  pid_t child;
  return start(b, command, &child) == 0 && finish(child) == 0;
}

/* A source that becomes an object. */
typedef struct Unit {
  const char *source, *object;
  const char *options;        /* more words, or NULL */
  const Processor *processor; /* NULL: every one */
  bool is_quick;
} Unit;

/* A processor that the compiler does not know is the user's mistake. */
static const Processor *unknown_processor(const Builder *b, const Unit *units, int count) {
  for (int i = 0; i < count; i++) {
    Command command = quiet(b);
    words(b, &command, b->cc.command);
    if (!units[i].processor || !units[i].processor->option) continue;
    word(b, &command, arena_printf(b->arena, "%s%s", units[i].processor->option, units[i].processor->name));
    words(b, &command, "-fsyntax-only -x c /dev/null");
    if (!succeeds(b, &command)) return units[i].processor;
  }
  return NULL;
}

static int failed(const Builder *b, const Unit *units, int count) {
  const Processor *unknown = unknown_processor(b, units, count);
  if (!unknown) return refused(b);
  fprintf(stderr, "gnncc: error: --cpu=%s: %s knows no such processor among those of %s\n", unknown->name, b->cc.command, b->cc.machine);
  return 2;
}

/* All at once. */
static int compile_all(const Builder *b, const Unit *units, int count) {
  pid_t children[CHILDREN_MOST];
  int status = 0, started = 0;
  const double since = clock_seconds(CLOCK_MONOTONIC);
  say_progress(b, arena_printf(b->arena, "%s compiles the program", b->cc.command));
  for (; started < count && status == 0; started++) {
    const Unit *unit = &units[started];
    Command command = compiler_for(b, unit->processor, unit->is_quick);
    if (unit->options) words(b, &command, unit->options);
    word(b, &command, "-c");
    word(b, &command, "-o");
    word(b, &command, unit->object);
    word(b, &command, unit->source);
    status = start(b, &command, &children[started]);
    if (status != 0) break;
  }
  for (int i = 0; i < started; i++) {
    if (finish(children[i]) != 0 && status == 0) status = 70;
    say_time(b, units[i].object, since);
  }
  say_progress(b, NULL);
  return status == 70 ? failed(b, units, count) : status;
}

static int run(const Builder *b, Command *command) {
  pid_t child;
  int status = start(b, command, &child);
  if (status != 0) return status;
  return finish(child) == 0 ? 0 : refused(b);
}

/* ---- products ---- */

static bool is_cuda(const Builder *b) { return b->c->backend == BACKEND_CUDA; }
static bool has_ranks(const Builder *b) { return b->c->rank != NULL; }
static bool has_nccl(const Builder *b) { return has_ranks(b) && is_cuda(b) && schedule_passes_directly(b->c->emission.schedule, b->c->emission.machine); }

static const char *device_file(const Builder *b, const char *suffix) {
  return in_scratch(b, arena_printf(b->arena, "%s_kernels.%s", b->prefix, suffix));
}

static int write_sources(const Builder *b) {
  int status = write_text(b, in_scratch(b, arena_printf(b->arena, "%s.c", b->prefix)), emit_source);
  if (status == 0) status = write_text(b, in_scratch(b, arena_printf(b->arena, "%s.h", b->prefix)), emit_header);
  if (status == 0) status = write_text(b, in_scratch(b, "main.c"), emit_main);
  if (status == 0) status = write_text(b, in_scratch(b, arena_printf(b->arena, "%s_plan.inc", b->prefix)), emit_plan_text);
  if (status == 0 && is_cuda(b)) status = write_text(b, device_file(b, "cu"), emit_cuda);
  return status;
}

/* ---- device code ---- */

/* The image as numbers of C, and a 0 at the end: PTX is a text. */
static int write_numbers(const char *from, const char *to) {
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  int count = 0;
  for (int byte; in && out && (byte = getc(in)) != EOF; count++) fprintf(out, count % 32 == 31 ? "%d,\n" : "%d,", byte);
  bool is_read = in && !ferror(in);
  if (in) fclose(in);
  if (!is_read) return outfile_complain("read", from);
  if (out) fputs("0\n", out);
  return out && outfile_end(out) ? 0 : outfile_complain("write", to);
}

typedef struct DeviceSource {
  const char *path, *architecture, *image; /* image: a cubin of it, or PTX */
} DeviceSource;

/* Whatever the source is. */
static int unable(const char *compiler, const DeviceSource *source, const char *why) {
  fprintf(stderr, "gnncc: error[E0507]: %s does not compile for %s here: %s\n"
                  "   help: --arch=sm_XX names another GPU; nvcc --list-gpu-code has those that the toolkit knows\n"
                  "   more: gnncc --explain E0507\n", compiler, source->architecture, why);
  return 5;
}

static void nvcc_words(const Builder *b, Command *command, const DeviceSource *source) {
  word(b, command, b->cuda.nvcc);
  word(b, command, "-O3");
  for (int i = 0; cuda_compiler_options[i]; i++) word(b, command, cuda_compiler_options[i]);
  word(b, command, arena_printf(b->arena, "-arch=%s", source->architecture));
  word(b, command, strncmp(source->architecture, "sm_", 3) == 0 ? "-cubin" : "-ptx");
  word(b, command, arena_printf(b->arena, "-I%s", b->c->share_dir));
  if (getenv("NVCCFLAGS")) words(b, command, getenv("NVCCFLAGS"));
  for (int i = 0; i < b->c->options->nvcc_option_count; i++) word(b, command, b->c->options->nvcc_options[i]);
  word(b, command, "-o");
  word(b, command, source->image);
}

/* An empty source: if it fails with that, too, it is not for what gnncc wrote. */
static bool nvcc_is_able(const Builder *b, const DeviceSource *source) {
  Command command = quiet(b);
  nvcc_words(b, &command, source);
  words(b, &command, "-x cu /dev/null");
  return succeeds(b, &command);
}

static int run_nvcc(const Builder *b, const DeviceSource *source) {
  Command command = {0};
  pid_t child;
  const double since = clock_seconds(CLOCK_MONOTONIC);
  nvcc_words(b, &command, source);
  word(b, &command, source->path);
  say_progress(b, arena_printf(b->arena, "%s compiles the kernels", b->cuda.nvcc));
  int status = start(b, &command, &child);
  if (status != 0) return status;
  bool is_compiled = finish(child) == 0;
  say_progress(b, NULL);
  say_time(b, source->image, since);
  if (is_compiled) return 0;
  return nvcc_is_able(b, source) ? refused_by(b, b->cuda.nvcc) : unable(b->cuda.nvcc, source, "its message is above");
}

static int run_nvrtc(const Builder *b, const DeviceSource *source) {
  bool is_refused;
  const char *fault = cuda_compiler_run_nvrtc(b->arena, &b->cuda, source->path, b->c->share_dir, source->architecture, source->image, &is_refused);
  if (!fault) return 0;
  if (!is_refused) return unable("NVRTC", source, arena_strndup(b->arena, fault, strcspn(fault, "\n")));
  fprintf(stderr, "%s\n", fault);
  return refused_by(b, "NVRTC");
}

static int compile_device(const Builder *b, const DeviceSource *source) { return b->cuda.nvcc ? run_nvcc(b, source) : run_nvrtc(b, source); }

/* The kernels as PREFIX_kernels.inc, which PREFIX.c includes. */
static int build_device(const Builder *b) {
  if (!is_cuda(b)) return 0;
  int status = compile_device(b, &(DeviceSource){device_file(b, "cu"), b->c->emission.architecture, device_file(b, "image")});
  return status != 0 || b->c->options->is_dry_run ? status : write_numbers(device_file(b, "image"), device_file(b, "inc"));
}

static void link_toolkit(const Builder *b, Command *link) {
  word(b, link, arena_printf(b->arena, "-L%s", b->cuda.libraries));
  word(b, link, arena_printf(b->arena, "-Wl,-rpath,%s", b->cuda.libraries));
  words(b, link, "-lcudart_static -ldl -lrt");
}

static const struct { Library library; const char *name, *without; } toolkit_libraries[] = {{LIBRARY_CUBLASLT, "cublasLt", "--gemm=own"}, {LIBRARY_CUSPARSE, "cusparse", "--spmm=own"}};
enum { TOOLKIT_LIBRARIES = 2 };

static void link_libraries(const Builder *b, Command *link, const char *zlib) {
  if (is_cuda(b)) {
    word(b, link, arena_printf(b->arena, "%s/libgnncuda.a", b->c->share_dir));
    word(b, link, arena_printf(b->arena, "%s/libgnnrt.a", b->c->share_dir));
    for (int i = 0; i < TOOLKIT_LIBRARIES; i++)
      if (emit_cuda_calls(&b->c->emission, toolkit_libraries[i].library)) word(b, link, arena_printf(b->arena, "-l%s", toolkit_libraries[i].name));
    if (has_nccl(b)) word(b, link, "-lnccl");
    link_toolkit(b, link);
  }
  if (!b->cc.is_foreign) word(b, link, arena_printf(b->arena, "%s/libgnnrt.a", b->c->share_dir));
  words(b, link, zlib);
  words(b, link, "-lm -lpthread");
}

/* Asked once a link has failed: the linker alone knows where it looks. */
static bool is_found(const Builder *b, const char *library) {
  Command command = quiet(b);
  words(b, &command, b->cc.command);
  words(b, &command, "-shared -o /dev/null -x c /dev/null");
  word(b, &command, arena_printf(b->arena, "-L%s", b->cuda.libraries));
  word(b, &command, arena_printf(b->arena, "-l%s", library));
  return succeeds(b, &command);
}

static int run_link(const Builder *b, Command *link) {
  pid_t child;
  const double since = clock_seconds(CLOCK_MONOTONIC);
  int status = start(b, link, &child);
  bool is_linked = status == 0 && finish(child) == 0;
  say_time(b, "link", since);
  if (status != 0 || is_linked) return status;
  for (int i = 0; is_cuda(b) && i < TOOLKIT_LIBRARIES; i++) {
    if (!emit_cuda_calls(&b->c->emission, toolkit_libraries[i].library) || is_found(b, toolkit_libraries[i].name)) continue;
    fprintf(stderr, "gnncc: error[E0507]: this program needs the CUDA toolkit's lib%s, and the linker finds none in %s\n"
                    "   help: %s does without\n   more: gnncc --explain E0507\n", toolkit_libraries[i].name, b->cuda.libraries, toolkit_libraries[i].without);
    return 5;
  }
  if (has_nccl(b) && !is_found(b, "nccl")) {
    fprintf(stderr, "gnncc: error[E0507]: a program of ranks on GPUs needs NCCL, and the linker finds no libnccl\n"
                    "   help: apt install libnccl-dev; or put it beside the CUDA toolkit's libraries, in %s; --policy=halo-host does without\n"
                    "   more: gnncc --explain E0507\n", b->cuda.libraries);
    return 5;
  }
  return refused(b);
}

/* ---- programs of ranks ---- */

/* It calls the C compiler, with the flags of MPI. */
static const char *mpi_compiler(void) { return getenv("MPICC") && *getenv("MPICC") ? getenv("MPICC") : "mpicc"; }

static int find_mpi(const Builder *b) {
  if (!has_ranks(b) || b->c->options->is_dry_run) return 0;
  if (!strchr(b->cc.command, ' ')) {
    setenv("OMPI_CC", b->cc.command, 0);
    setenv("MPICH_CC", b->cc.command, 0);
  }
  Command command = quiet(b);
  words(b, &command, mpi_compiler());
  words(b, &command, "-include mpi.h -fsyntax-only -x c /dev/null");
  if (succeeds(b, &command)) return 0;
  fprintf(stderr, "gnncc: error[E0507]: a program of ranks needs MPI, and %s does not compile for it\n"
                  "   help: apt install libopenmpi-dev openmpi-bin, or libmpich-dev mpich; MPICC=PATH names another\n"
                  "   more: gnncc --explain E0507\n", mpi_compiler());
  return 5;
}

/* The words of a command by the C compiler, by that of MPI. */
static Command by_mpi(const Builder *b, const Command *command) {
  Command mpi = {0}, cc = {0};
  words(b, &mpi, mpi_compiler());
  words(b, &cc, b->cc.command);
  for (int i = cc.count; i < command->count; i++) word(b, &mpi, command->words[i]);
  return mpi;
}

static int compile_mpi(const Builder *b, const char *object) {
  const Command by_cc = compiler(b);
  Command command = by_mpi(b, &by_cc);
  words(b, &command, "-c -o");
  word(b, &command, object);
  word(b, &command, arena_printf(b->arena, "%s/gnnmpi.c", b->c->share_dir));
  return run(b, &command);
}

/* Its header lies with the toolkit's, or where the compiler looks anyway. */
static Command with_nccl(const Builder *b, Command command) {
  words(b, &command, "-isystem");
  word(b, &command, b->cuda.headers);
  return command;
}

static int find_nccl(const Builder *b) {
  if (!has_nccl(b) || b->c->options->is_dry_run) return 0;
  Command command = quiet(b);
  words(b, &command, b->cc.command);
  command = with_nccl(b, command);
  words(b, &command, "-include nccl.h -fsyntax-only -x c /dev/null");
  if (succeeds(b, &command)) return 0;
  fprintf(stderr, "gnncc: error[E0507]: a program of ranks on GPUs needs NCCL, and there is no nccl.h\n"
                  "   help: apt install libnccl-dev; or put it beside the CUDA toolkit's headers, in %s; --policy=halo-host does without\n"
                  "   more: gnncc --explain E0507\n", b->cuda.headers);
  return 5;
}

static int compile_nccl(const Builder *b, const char *object) {
  Command command = with_nccl(b, compiler(b));
  words(b, &command, "-c -o");
  word(b, &command, object);
  word(b, &command, arena_printf(b->arena, "%s/gnnnccl.c", b->c->share_dir));
  return run(b, &command);
}

/* The source whose double build serves gradcheck; NULL: there is none. */
static const char *double_source(const Builder *b, const char *source) {
  return emit_is_own_twin(&b->c->emission) ? source : b->c->double_source;
}

/* The model for each processor, and the run-time library where the one that lies with gnncc is for other machines. */
static Unit *model_units(const Builder *b, const char *options, int *count) {
  const CCompiler *cc = &b->cc;
  Unit *units = NULL;
  *count = 0;
  for (int i = 0; i < cc->processor_count; i++) {
    const Processor *processor = &cc->processors[i];
    const char *name = i ? arena_printf(b->arena, "%s_%s.o", b->prefix, processor->identifier) : arena_printf(b->arena, "%s.o", b->prefix);
    const char *own = i ? arena_printf(b->arena, "-DGNN_FOR=%s %s", processor->identifier, options) : options;
    if (i + 1 < cc->processor_count) own = arena_printf(b->arena, "-DGNN_ALSO=%s %s", cc->processors[i + 1].identifier, own);
    ARENA_PUSH(b->arena, units, *count, (Unit){in_scratch(b, arena_printf(b->arena, "%s.c", b->prefix)), in_scratch(b, name), own, processor, false});
  }
  if (cc->is_foreign) ARENA_PUSH(b->arena, units, *count, (Unit){arena_printf(b->arena, "%s/gnnrt.c", b->c->share_dir), in_scratch(b, "gnnrt.o"), "-fPIC", NULL, false});
  return units;
}

static void object_words(const Builder *b, Command *command, const Unit *units, int count) {
  for (int i = 0; i < count; i++) word(b, command, units[i].object);
}

static int build_program(const Builder *b) {
  const char *in_double = double_source(b, in_scratch(b, arena_printf(b->arena, "%s.c", b->prefix)));
  int count;
  Unit *units = model_units(b, in_double ? "-DGNN_HAS_DOUBLE" : "", &count);
  ARENA_PUSH(b->arena, units, count, (Unit){in_scratch(b, "main.c"), in_scratch(b, "main.o"), NULL, NULL, false});
  if (in_double) /* where there are several processors one for all */
    ARENA_PUSH(b->arena, units, count, (Unit){in_double, in_scratch(b, arena_printf(b->arena, "%s_in_double.o", b->prefix)), "-DGNN_DOUBLE", b->cc.processor_count > 1 ? NULL : &b->cc.processors[0], true});
  int status = find_mpi(b);
  if (status == 0) status = find_nccl(b);
  if (status == 0) status = build_device(b);
  if (status == 0) status = compile_all(b, units, count);
  const char *mpi = in_scratch(b, "gnnmpi.o"), *nccl = in_scratch(b, "gnnnccl.o");
  if (status == 0 && has_ranks(b)) status = compile_mpi(b, mpi);
  if (status == 0 && has_nccl(b)) status = compile_nccl(b, nccl);
  if (status != 0) return status;
  Command link = compiler(b);
  const char *program = in_scratch(b, "program");
  word(b, &link, "-o");
  word(b, &link, program);
  object_words(b, &link, units, count);
  if (has_ranks(b)) word(b, &link, mpi);
  if (has_nccl(b)) word(b, &link, nccl);
  link_libraries(b, &link, GNNCC_LINK_ZLIB);
  if (getenv("LDFLAGS")) words(b, &link, getenv("LDFLAGS"));
  if (has_ranks(b)) link = by_mpi(b, &link);
  status = run_link(b, &link);
  if (status != 0 || b->c->options->is_dry_run) return status;
  const char *output = b->c->options->output ? b->c->options->output : b->c->stem;
  status = deliver(b, program, output, 0777);
  b->c->delivered = output;
  struct stat info = {0};
  stat(output, &info);
  const char *run_as = strchr(output, '/') ? output : arena_printf(b->arena, "./%s", output);
  if (has_ranks(b)) run_as = arena_printf(b->arena, "mpirun -np %d %s", b->c->ranks, run_as);
  b->c->made = arena_printf(b->arena, "%s (%s). plan: gnncc --plan %s   run: %s", output, gnn_bytes_text(info.st_size).text, b->c->model_path, run_as);
  return status;
}

int build_tool(Arena *arena, const Options *options, const char *share_dir, const CudaCompiler *cuda, const char *source, const char *program) {
  Compilation c = {.arena = arena, .options = options, .share_dir = share_dir};
  Builder b = {.c = &c, .arena = arena, .directory = share_dir, .cc = c_compiler_find(arena, options)};
  Command command = compiler_for(&b, &b.cc.processors[0], false);
  if (cuda) {
    b.cuda = *cuda;
    word(&b, &command, arena_printf(arena, "-I%s", cuda->headers));
  }
  words(&b, &command, "-o");
  word(&b, &command, program);
  word(&b, &command, source);
  if (cuda) {
    word(&b, &command, "-lcublasLt");
    link_toolkit(&b, &command);
  } else word(&b, &command, arena_printf(arena, "%s/libgnnrt.a", share_dir));
  words(&b, &command, GNNCC_LINK_ZLIB " -lm -lpthread");
  if (getenv("LDFLAGS")) words(&b, &command, getenv("LDFLAGS"));
  return run(&b, &command);
}

int build_device_tool(Arena *arena, const Options *options, const char *share_dir, const CudaCompiler *cuda, const char *source, const char *architecture, const char *image) {
  Compilation c = {.arena = arena, .options = options, .share_dir = share_dir};
  const Builder b = {.c = &c, .arena = arena, .directory = share_dir, .cc = {.command = cuda->nvcc ? cuda->nvcc : "NVRTC"}, .cuda = *cuda};
  return compile_device(&b, &(DeviceSource){source, architecture, image});
}

static void emit_plan_file(const Emission *m, FILE *out) { fputs(m->plan_json, out); }

/* One source and its header. */
static int build_single_file(const Builder *b, const char *output) {
  const char *source = in_scratch(b, "single.c"), *names[] = {arena_printf(b->arena, "%s.c", b->prefix), arena_printf(b->arena, "%s.h", b->prefix)};
  FILE *out = fopen(source, "wb");
  if (!out) return outfile_complain("write", source);
  const bool is_read = single_file_write(b->c, b->directory, out);
  if (!outfile_end(out)) return outfile_complain("write", source);
  if (!is_read) return outfile_complain("read", b->c->share_dir);
  int status = deliver(b, source, arena_printf(b->arena, "%s/%s", output, names[0]), 0666);
  if (status == 0) status = deliver(b, in_scratch(b, names[1]), arena_printf(b->arena, "%s/%s", output, names[1]), 0666);
  b->c->made = arena_printf(b->arena, "%s/%s and %s/%s", output, names[0], output, names[1]);
  return status;
}

static int build_sources(const Builder *b) {
  const char *output = b->c->options->output ? b->c->options->output : arena_printf(b->arena, "%s.src", b->c->stem);
  if (mkdir(output, 0777) != 0 && errno != EEXIST) return outfile_complain("make the directory", output);
  b->c->delivered = output;
  if (b->c->options->is_single_file) return build_single_file(b, output);
  const struct {
    const char *name;
    void (*emit)(const Emission *, FILE *);
  } texts[] = {{"Makefile", emit_makefile}, {"CMakeLists.txt", emit_cmake}, {"plan.json", emit_plan_file}, {"manifest.json", emit_manifest},
               {"example.py", emit_example}, {arena_printf(b->arena, "%s_plan.inc", b->prefix), emit_plan_text} /* newer than plan.json */};
  const char *const sources[] = {arena_printf(b->arena, "%s.c", b->prefix), arena_printf(b->arena, "%s.h", b->prefix), "main.c"};
  int status = 0;
  for (int i = 0; i < 3 && status == 0; i++)
    status = deliver(b, in_scratch(b, sources[i]), arena_printf(b->arena, "%s/%s", output, sources[i]), 0666);
  for (int i = 0; i < 6 && status == 0; i++) {
    if (texts[i].emit == emit_example && has_ranks(b)) continue; /* libraries are for one process */
    status = write_text(b, in_scratch(b, texts[i].name), texts[i].emit);
    if (status == 0) status = deliver(b, in_scratch(b, texts[i].name), arena_printf(b->arena, "%s/%s", output, texts[i].name), 0666);
  }
  const char *const runtime[] = {"gnnrt.h", "gnnrt.c"};
  for (int i = 0; i < 2 && status == 0; i++)
    status = deliver(b, arena_printf(b->arena, "%s/%s", b->c->share_dir, runtime[i]), arena_printf(b->arena, "%s/%s", output, runtime[i]), 0666);
  if (status == 0 && has_ranks(b)) status = deliver(b, arena_printf(b->arena, "%s/gnnmpi.c", b->c->share_dir), arena_printf(b->arena, "%s/gnnmpi.c", output), 0666);
  if (status == 0 && has_nccl(b)) status = deliver(b, arena_printf(b->arena, "%s/gnnnccl.c", b->c->share_dir), arena_printf(b->arena, "%s/gnnnccl.c", output), 0666);
  const char *const cuda[] = {"gnncuda.h", "gnncuda.c", "gnndevice.cuh"};
  for (int i = 0; i < 3 && status == 0 && is_cuda(b); i++)
    status = deliver(b, arena_printf(b->arena, "%s/%s", b->c->share_dir, cuda[i]), arena_printf(b->arena, "%s/%s", output, cuda[i]), 0666);
  if (status == 0 && is_cuda(b)) status = deliver(b, device_file(b, "cu"), arena_printf(b->arena, "%s/%s_kernels.cu", output, b->prefix), 0666);
  b->c->made = arena_printf(b->arena, "%s/. build: make -C %s%s", output, output, has_ranks(b) ? " MPI=yes" : "");
  return status;
}

/* -c, --lib, --shared: the embedding API without a main; the header goes beside. */
static int build_embeddable(const Builder *b) {
  Product product = b->c->options->product;
  int count;
  const Unit *units = model_units(b, product == PRODUCT_SHARED ? "-fPIC" : "", &count);
  int status = build_device(b);
  if (status == 0) status = compile_all(b, units, count);
  const char *made = units[0].object, *suffix = ".o";
  if (status == 0 && product == PRODUCT_LIBRARY) {
    suffix = ".a";
    made = in_scratch(b, arena_printf(b->arena, "%s.a", b->prefix));
    Command command = {0};
    words(b, &command, "sh -c");
    word(b, &command, "made=$1; { [ -z \"$2\" ] || cp \"$2\" \"$made\"; } && shift 2 && \"$0\" r \"$made\" \"$@\" 2>/dev/null");
    word(b, &command, b->cc.archiver);
    word(b, &command, made);
    word(b, &command, b->cc.is_foreign ? "" : arena_printf(b->arena, "%s/libgnnrt.a", b->c->share_dir));
    object_words(b, &command, units, count);
    status = run(b, &command);
  } else if (status == 0 && product == PRODUCT_SHARED) {
    suffix = ".so";
    made = in_scratch(b, arena_printf(b->arena, "%s.so", b->prefix));
    Command link = compiler(b);
    words(b, &link, "-shared -o");
    word(b, &link, made);
    object_words(b, &link, units, count);
    link_libraries(b, &link, "-lz"); /* Debian's static zlib is not position-independent */
    status = run_link(b, &link);
  } else if (status == 0 && count > 1) { /* several objects as one */
    made = in_scratch(b, arena_printf(b->arena, "%s_all.o", b->prefix));
    Command link = compiler(b);
    words(b, &link, "-r -nostdlib -o");
    word(b, &link, made);
    object_words(b, &link, units, count);
    status = run(b, &link);
  }
  if (status != 0 || b->c->options->is_dry_run) return status;
  const char *lib = product == PRODUCT_OBJECT ? "" : "lib";
  const char *output = b->c->options->output ? b->c->options->output : arena_printf(b->arena, "%s%s%s", lib, b->prefix, suffix);
  status = deliver(b, made, output, product == PRODUCT_SHARED ? 0777 : 0666);
  const char *slash = strrchr(output, '/');
  const char *header = slash ? arena_printf(b->arena, "%.*s/%s.h", (int)(slash - output), output, b->prefix) : arena_printf(b->arena, "%s.h", b->prefix);
  if (status == 0) status = deliver(b, in_scratch(b, arena_printf(b->arena, "%s.h", b->prefix)), header, 0666);
  b->c->delivered = output;
  b->c->made = arena_printf(b->arena, "%s and %s", output, header);
  return status;
}

static int emit_kind(const Builder *b, const EmitRequest *request, const Document *document, FILE *out) {
  Compilation *c = b->c;
  if (view_named(request->kind)) return view_emit(document, request->kind, request->path, out);
  if (strcmp(request->kind, "ast") == 0) ast_dump(c->ast, out);
  else if (strcmp(request->kind, "program") == 0) typed_dump(c->program, out);
  else if (strcmp(request->kind, "plan") == 0) fputs(c->emission.plan_json, out);
  else if (strcmp(request->kind, "problem") == 0) {
    size_t length;
    const Plan *plan = c->answer->training_plan ? c->answer->training_plan : c->answer->evaluation_plan;
    fputs(planning_problem_text(c->arena, plan->problem, &length), out);
  }
  else if (strcmp(request->kind, "header") == 0) emit_header(&c->emission, out);
  else if (strcmp(request->kind, "c") == 0) emit_source(&c->emission, out);
  else if (strcmp(request->kind, "cuda") == 0) emit_cuda(&c->emission, out);
  else if (strcmp(request->kind, "deps") == 0) dependencies_print(c, out);
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

static const char *extension(const char *kind) {
  if (view_named(kind)) return view_extension(kind);
  if (strcmp(kind, "plan") == 0 || strcmp(kind, "problem") == 0) return "json";
  if (strcmp(kind, "deps") == 0) return "d";
  return strcmp(kind, "c") == 0 ? "c" : strcmp(kind, "cuda") == 0 ? "cu" : strcmp(kind, "header") == 0 ? "h" : "txt";
}

/* Kinds that have the mark within, or by their first line. */
static bool has_mark(const char *kind, const char *path) {
  return view_named(kind) ? view_has_mark(kind, path) : strcmp(extension(kind), "txt") != 0 && strcmp(kind, "deps") != 0;
}

static int write_texts(const Builder *b, const Document *document) {
  for (int i = 0; i < b->c->options->emit_count; i++) {
    const EmitRequest *request = &b->c->options->emits[i];
    Product product;
    if (options_emitted_product(request->kind, &product) || strcmp(request->kind, "diagnostics") == 0) continue; /* build_product's, driver_compile's */
    if (b->c->options->sweeps && strcmp(request->kind, "sweep") == 0) { /* written when all models have theirs */
      json_array_append(b->c->options->sweeps, json_object_get(document->json, "sweep"));
      continue;
    }
    const char *path = request->path ? request->path : arena_printf(b->arena, "%s.%s.%s", b->c->stem, request->kind, extension(request->kind));
    if (strcmp(path, "-") == 0) {
      emit_kind(b, request, document, stdout);
      if (fflush(stdout) != 0) return outfile_complain("write", "standard output");
      continue;
    }
    OutFile file;
    if (!may_write(b, path) || !outfile_open(&file, path)) return 4;
    if (!has_mark(request->kind, path) && file.temporary) fprintf(file.out, "# %s " GNNCC_VERSION " from %s.\n", outfile_mark, escape_comment(b->arena, b->c->model_path));
    emit_kind(b, &(EmitRequest){request->kind, path}, document, file.out);
    int status = outfile_close(&file, 0666);
    if (status != 0) return status;
    if (strcmp(request->kind, "report") == 0 && !b->c->options->is_quiet && isatty(2)) fprintf(stderr, "gnncc: wrote %s\n", path);
  }
  return 0;
}

static int build_texts(const Builder *b) {
  bool is_viewed = false;
  for (int i = 0; i < b->c->options->emit_count; i++) is_viewed = is_viewed || view_named(b->c->options->emits[i].kind);
  Document *document = is_viewed ? view_document(b->arena, b->c->emission.plan_json, b->c->options->measured) : NULL;
  if (is_viewed && !document) return b->c->options->measured ? 4 : 70;
  if (document && (options_emits(b->c->options, "report") || options_emits(b->c->options, "annotate"))) document_add_code(document, report_code(&b->c->emission));
  int status = write_texts(b, document);
  document_free(document);
  return status;
}

/* As a Makefile has them: quoted where a shell would take them apart. */
static const char *options_text(Arena *arena, const char *const *options, int count) {
  const char *text = NULL;
  for (int i = 0; i < count; i++) {
    const char *quote = strpbrk(options[i], " \t\"'\\$`*?[]()<>|&;#~") ? "'" : "";
    text = arena_printf(arena, "%s %s%s%s", text ? text : "", quote, options[i], quote);
  }
  return text;
}

static Builder builder(Compilation *c) {
  Builder b = {.c = c, .arena = c->arena, .directory = c->workplace->path, .prefix = c->emission.prefix};
  b.cc = c_compiler_find(c->arena, c->options);
  c->emission.cc = c->options->cc;
  c->emission.cc_options = options_text(c->arena, c->options->cc_options, c->options->cc_option_count);
  c->emission.nvcc_options = options_text(c->arena, c->options->nvcc_options, c->options->nvcc_option_count);
  c->emission.processor_count = b.cc.processor_count;
  c->emission.processors = b.cc.processors;
  if (c->backend == BACKEND_CUDA) cuda_compiler_find(c->arena, c->options->cuda_compiler, c->options->nvcc, &b.cuda);
  return b;
}

/* A report of another machine is wanted without a program for it. */
static bool is_text_only(const Compilation *c) {
  const Options *o = c->options;
  Product product;
  for (int i = 0; i < o->emit_count; i++)
    if (options_emitted_product(o->emits[i].kind, &product)) return false;
  if (o->product == PRODUCT_EMIT || o->product == PRODUCT_PLAN) return true;
  return o->product == PRODUCT_PROGRAM && !o->output && c->backend == BACKEND_CUDA && options_emits(o, "report");
}

const char *build_missing_for_cuda(Arena *arena, const Options *options, const char *share_dir, CudaCompiler *found) {
  const char *wanted = options->cuda_compiler;
  if (!cuda_compiler_find(arena, wanted, options->nvcc, found)) return options->nvcc ? arena_printf(arena, "%s is not here", options->nvcc) : !wanted ? "neither nvcc nor NVRTC is here" : arena_printf(arena, "%s is not here", wanted);
  if (options->nvcc_option_count && !found->nvcc) return "-Xnvcc is for nvcc, and NVRTC is here";
  if (!found->has_runtime) return "libcudart_static.a is not here";
  if (found->version > 0 && found->version < CUDA_OLDEST)
    return arena_printf(arena, "that of %s is CUDA %d.%d: %d.%d or newer is needed", found->headers, found->version / 1000, found->version % 1000 / 10, CUDA_OLDEST / 1000,
                        CUDA_OLDEST % 1000 / 10);
  return access(arena_printf(arena, "%s/libgnncuda.a", share_dir), R_OK) != 0 ? "gnncc was built without it" : NULL;
}

/* What compiles and links programs for GPUs. Their plan, and their sources, can be made anywhere. */
static bool has_backend(Compilation *c) {
  const TypedProgram *p = c->program;
  const char *target = p->has_target ? p->target.name : "cuda";
  CudaCompiler found;
  if (c->backend != BACKEND_CUDA || is_text_only(c) || c->options->product == PRODUCT_SOURCES) return true;
  const char *missing = build_missing_for_cuda(c->arena, c->options, c->share_dir, &found);
  if (!missing) return true;
  diags_error(c->diags, "E0507", p->has_target ? p->target.place : (Place){0}, "a program for %s needs the CUDA toolkit, and %s", target, missing);
  diags_help(c->diags, "CUDA_HOME names where it is; -S writes sources to build elsewhere; --plan explains the plan; --target=native compiles for this machine");
  return false;
}

bool build_emit(Compilation *c) {
  if (!has_backend(c)) return false;
  if (c->options->is_single_file && c->backend == BACKEND_CUDA) {
    diags_error(c->diags, "E0110", diags_no_place(), "--single-file is for programs for a processor: device code is a source of its own");
    diags_help(c->diags, "-S writes both");
    return false;
  }
  if (c->options->cpu_count > 1 && c->backend == BACKEND_CUDA) {
    diags_error(c->diags, "E0110", diags_no_place(), "several processors (--cpu) are for programs for a processor: one for a GPU has no kernels of theirs");
    return false;
  }
  c->workplace = c->options->temps_dir ? workplace_at(c->arena, c->options->temps_dir, c->options->is_forced) : workplace_new(c->arena);
  if (!c->workplace) {
    c->status = 4;
    return false;
  }
  if (is_text_only(c) && !c->options->is_saving_temps) return true;
  Builder b = builder(c);
  c->status = write_sources(&b);
  return c->status == 0;
}

static int build_one(const Builder *b) {
  switch (b->c->options->product) {
  case PRODUCT_PROGRAM: return is_text_only(b->c) ? 0 : build_program(b);
  case PRODUCT_SOURCES: return build_sources(b);
  case PRODUCT_OBJECT:
  case PRODUCT_LIBRARY:
  case PRODUCT_SHARED: return build_embeddable(b);
  case PRODUCT_PLAN: case PRODUCT_CHECK: case PRODUCT_EMIT: break;
  }
  return 0;
}

/* --emit=obj,shared=x.so: several products of the same sources. */
static int build_emitted(Compilation *c) {
  const Options *asked = c->options;
  int status = 0;
  for (int i = 0; status == 0 && i < asked->emit_count; i++) {
    Options own = *asked;
    if (!options_emitted_product(asked->emits[i].kind, &own.product)) continue;
    own.output = asked->emits[i].path;
    c->options = &own;
    const Builder b = builder(c);
    status = build_one(&b);
    c->options = asked;
  }
  return status;
}

bool build_product(Compilation *c) {
  Builder b = builder(c);
  c->status = build_one(&b);
  if (c->status == 0) c->status = build_emitted(c);
  if (c->status == 0) c->status = build_texts(&b);
  return c->status == 0;
}

void build_clean(Compilation *c, int status) {
  if (!c->workplace) return;
  if (c->options->is_saving_temps) fprintf(stderr, "gnncc: the sources are in %s\n", c->workplace->path);
  workplace_end(c->workplace, c->options->is_saving_temps || status == 70);
}
