#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "c_compiler.h"
#include "commit.h"
#include "cuda_compiler.h"
#include "compiler/base/shown.h"
#include "compiler/emit/emit.h"
#include "compiler/explain/views/views.h"
#include "compiler/planner/policies.h"
#include "compiler/version.h"
#include "lang/lang.h"
#include "lang/suggest.h"
#include "lang/units.h"
#include "runtime/base/file.h"
#include "runtime/base/open.h"
#include "runtime/base/text.h"

typedef enum OptionId {
  OPT_REPORT, OPT_ANNOTATE, OPT_SWEEP, OPT_MEASURED, OPT_COMPARE, OPT_OUTPUT, OPT_SOURCES, OPT_OBJECT, OPT_LIB, OPT_SHARED, OPT_CHECK, OPT_FORMAT, OPT_PLAN, OPT_EMIT, OPT_TARGET, OPT_BUDGET, OPT_BACKEND, OPT_CPU, OPT_ARCH, OPT_CUDA_COMPILER, OPT_CALIBRATE, OPT_TUNE, OPT_TUNING, OPT_PROFILE, OPT_PLAN_EFFORT, OPT_PLAN_TIME, OPT_PLAN_FROM, OPT_POLICY, OPT_CUT, OPT_RANKS, OPT_HALOS,
  OPT_DEFINE, OPT_DATA, OPT_SHAPES, OPT_PRECISION, OPT_GEMM, OPT_SPMM, OPT_OPTIMISE, OPT_PASS, OPT_DETERMINISTIC, OPT_DEBUG, OPT_PREFIX, OPT_NAME,
  OPT_WARNING, OPT_NO_WARNINGS, OPT_COLOR, OPT_DIAGNOSTICS, OPT_ERROR_LIMIT, OPT_VERBOSE, OPT_DRY_RUN, OPT_QUIET, OPT_TIME,
  OPT_DUMP, OPT_STOP_AFTER, OPT_VERIFY, OPT_IMPORT_DIR, OPT_CC, OPT_XCC, OPT_SAVE_TEMPS, OPT_FORCE, OPT_HELP, OPT_LIST, OPT_PRINT_STD,
  OPT_PRINT_TARGET, OPT_EXPLAIN, OPT_EXAMPLE, OPT_VERSION, OPT_DUMP_VERSION,
  OPT_EXPAND, OPT_SINGLE_FILE, OPT_NVCC, OPT_XNVCC, OPT_DEPENDENCIES, OPT_DEPENDENCIES_TOO, OPT_DEPENDENCY_FILE, OPT_DEPENDENCY_TARGET, OPT_DEPENDENCY_PHONY, OPT_CFLAGS, OPT_LIBS, OPT_LSP
} OptionId;

typedef enum Argument { ARG_NONE, ARG_REQUIRED, ARG_OPTIONAL, ARG_JOINED } Argument;

typedef struct OptionRow {
  const char *name;
  OptionId id;
  Argument argument;
  const char *group, *form, *help;
} OptionRow;

#define LISTED "layers, losses, metrics, optimizers, schedules, sources, targets, policies, functions"
#define EMIT_KINDS "ast program dag dot plan schedule gantt trace memory sweep report annotate header c cuda obj lib shared exe weights problem deps diagnostics"

/* The one list of options: parsing, --help and did-you-mean all read it. */
static const OptionRow rows[] = {
    {"-o", OPT_OUTPUT, ARG_REQUIRED, "what to make", "-o PATH", "output file, or directory for -S"},
    {"-S", OPT_SOURCES, ARG_NONE, "what to make", "-S", "C sources, header and Makefile, then stop"},
    {"-c", OPT_OBJECT, ARG_NONE, "what to make", "-c", "an object file and its header"},
    {"--lib", OPT_LIB, ARG_NONE, "what to make", "--lib", "a static library and its header"},
    {"--shared", OPT_SHARED, ARG_NONE, "what to make", "--shared", "a shared library and its header"},
    {"--single-file", OPT_SINGLE_FILE, ARG_NONE, "what to make", "--single-file", "the sources of -S as one .c, the runtime in it, and one .h"},
    {"-E", OPT_EXPAND, ARG_NONE, "what to make", "-E", "the program after imports, -D, unrolling, and stop"},
    {"--check", OPT_CHECK, ARG_NONE, "what to make", "--check", "diagnostics only"},
    {"-fsyntax-only", OPT_CHECK, ARG_NONE, NULL, NULL, NULL},
    {"--format", OPT_FORMAT, ARG_OPTIONAL, "what to make", "--format[=check|write]", "the program in canonical layout; check: name files that are not so; write: in place"},
    {"--plan", OPT_PLAN, ARG_OPTIONAL, "what to make", "--plan[=json]", "explain the memory plan, compile nothing"},
    {"--emit", OPT_EMIT, ARG_REQUIRED, "what to make", "--emit=K[=F],...", EMIT_KINDS},
    {"--report", OPT_REPORT, ARG_OPTIONAL, "what to make", "--report[=FILE.html]", "one page: Gantt, memory, plan, sweep; beside the product"},
    {"--measured", OPT_MEASURED, ARG_REQUIRED, "what to make", "--measured=RUN.json", "overlay what ./PROGRAM profile measured; views without a model, too"},
    {"--annotate", OPT_ANNOTATE, ARG_OPTIONAL, "what to make", "--annotate[=FILE]", "the source with time, bytes and fate beside each line"},
    {"--sweep", OPT_SWEEP, ARG_REQUIRED, "what to make", "--sweep TIER=LO:HI[:STEP]", "plan for many budgets; two tiers with a comma, several models"},
    {"--compare", OPT_COMPARE, ARG_REQUIRED, "what to make", "--compare A.json B.json", "two plans, or two runs: what moved, what it costs"},
    {"--target", OPT_TARGET, ARG_REQUIRED, "for which machine", "--target=NAME", "pick the target block; native: this machine"},
    {"--budget", OPT_BUDGET, ARG_REQUIRED, "for which machine", "--budget TIER=SIZE", "cap a tier: device=24GiB, host=0, ssd=50%"},
    {"--backend", OPT_BACKEND, ARG_REQUIRED, "for which machine", "--backend=cpu|cuda|sim", "sim: the schedule of another machine, slowed to its rates"},
    {"--cpu", OPT_CPU, ARG_REQUIRED, "for which machine", "--cpu=NAME,...", "the processor to compile for, as the C compiler calls it: native, x86-64-v3, armv8-a; several: the best runs"},
    {"--arch", OPT_ARCH, ARG_REQUIRED, "for which machine", "--arch=sm_XX|native", "of the GPU; the target's kind says it, too; native: of the one here"},
    {"--plan-effort", OPT_PLAN_EFFORT, ARG_REQUIRED, "for which machine", "--plan-effort=E", "fast, normal, best"},
    {"--plan-time", OPT_PLAN_TIME, ARG_REQUIRED, "for which machine", "--plan-time=30s", "stop the planner's search then"},
    {"--plan-from", OPT_PLAN_FROM, ARG_REQUIRED, "for which machine", "--plan-from=FILE", "take a plan that was saved or written by hand"},
    {"--policy", OPT_POLICY, ARG_REQUIRED, "for which machine", "--policy=NAME", "plan as another system would (gnncc plan --help), with the cut of --cut, else whole; of ranks, halo, transpose, halo-recompute, halo-host or dedup: how sums over neighbours get what others have"},
    {"--cut", OPT_CUT, ARG_REQUIRED, "for which machine", "--cut=CUT", "how sums over neighbours run: auto, whole, rows(P) part by part, halos(P) with no table of all rows, slices(S) by columns; of some layers: ..., conv1 = whole, conv2.backward = slices(4)"},
    {"--ranks", OPT_RANKS, ARG_REQUIRED, "for which machine", "--ranks=N", "a program of N processes over MPI (between GPUs NCCL), the nodes shared out among them: mpirun -np N ./train"},
    {"--halos", OPT_HALOS, ARG_REQUIRED, "for which machine", "--halos=A", "for plans of ranks whose data were not read: a rank gathers A rows of others for each of its own (0.4); default: as if neighbours were anywhere"},
    {"--calibrate", OPT_CALIBRATE, ARG_OPTIONAL, "for which machine", "--calibrate[=NAME]", "measure this machine, write a target (20 s); its GPU with --backend=cuda"},
    {"--tune", OPT_TUNE, ARG_OPTIONAL, "for which machine", "--tune[=FILE]", "time the variants of the model's kernels on the GPU, remember the best"},
    {"--tuning", OPT_TUNING, ARG_REQUIRED, "for which machine", "--tuning=FILE|none", "kernels as --tune found them; default: for this target, if it did"},
    {"--profile", OPT_PROFILE, ARG_REQUIRED, "for which machine", "--profile=FILE", "plan with the times that ./train profile measured"},
    {"-D", OPT_DEFINE, ARG_JOINED, "the program", "-D NAME=VALUE", "override a const"},
    {"--data", OPT_DATA, ARG_REQUIRED, "the program", "--data [NAME=]PATH", "read the data from there"},
    {"--shapes", OPT_SHAPES, ARG_NONE, "the program", "--shapes", "do not open data files: sizes as declared"},
    {"--precision", OPT_PRECISION, ARG_REQUIRED, "the program", "--precision=fp32|tf32|bf16", "of the factors of dense products, on a GPU; bf16: of what is stored"},
    {"--gemm", OPT_GEMM, ARG_REQUIRED, "the program", "--gemm=cublas|own", "who computes dense products on a GPU; cublas is the default"},
    {"--spmm", OPT_SPMM, ARG_REQUIRED, "the program", "--spmm=own|cusparse", "who computes wide sums over neighbours there"},
    {"-O", OPT_OPTIMISE, ARG_JOINED, "the program", "-O0 -O1 -O2 -O3 -Og", "-O0: one kernel per operation; -O2 is the default; -Og: the same kernels, compiled for a debugger"},
    {"-f", OPT_PASS, ARG_JOINED, "the program", "-f[no-]NAME", "single passes, which --help=passes lists; gradcheck: the program has that command"},
    {"--deterministic", OPT_DETERMINISTIC, ARG_NONE, "the program", "--deterministic", "same bits whatever the plan; always so"},
    {"-g", OPT_DEBUG, ARG_NONE, "the program", "-g", "for debuggers, in which the steps stand on the lines of the model"},
    {"--prefix", OPT_PREFIX, ARG_REQUIRED, "the program", "--prefix=IDENT", "symbols of the embedding API (default: file stem)"},
    {"--name", OPT_NAME, ARG_REQUIRED, "the program", "--name=NAME", "for messages and output when the model is -"},
    {"-W", OPT_WARNING, ARG_JOINED, "messages", "-W[no-]NAME", "warnings, or a group: all, extra, perf, pedantic; -Werror, -Werror=NAME"},
    {"-w", OPT_NO_WARNINGS, ARG_NONE, "messages", "-w", "no warnings"},
    {"--color", OPT_COLOR, ARG_REQUIRED, "messages", "--color=auto|always|never", "of messages; auto: on a terminal"},
    {"-fdiagnostics-color", OPT_COLOR, ARG_OPTIONAL, NULL, NULL, NULL},
    {"--diagnostics", OPT_DIAGNOSTICS, ARG_REQUIRED, "messages", "--diagnostics=FORM", "text, short, json, sarif"},
    {"--error-limit", OPT_ERROR_LIMIT, ARG_REQUIRED, "messages", "--error-limit=N", "stop after N errors (20); 0: never"},
    {"-fmax-errors", OPT_ERROR_LIMIT, ARG_REQUIRED, NULL, NULL, NULL},
    {"-v", OPT_VERBOSE, ARG_NONE, "messages", "-v", "the commands run and what each pass took; with --plan every value and step"},
    {"-###", OPT_DRY_RUN, ARG_NONE, "messages", "-###", "print the commands, run none"},
    {"-q", OPT_QUIET, ARG_NONE, "messages", "-q", "errors only"},
    {"--time", OPT_TIME, ARG_NONE, "messages", "--time", "what each pass took"},
    {"--dump", OPT_DUMP, ARG_REQUIRED, "messages", "--dump=PASS,...", "what a pass made, on stdout (--help=passes)"},
    {"--stop-after", OPT_STOP_AFTER, ARG_REQUIRED, "messages", "--stop-after=PASS", "go no further"},
    {"--verify", OPT_VERIFY, ARG_NONE, "messages", "--verify", "check every product with its verifier"},
    {"-I", OPT_IMPORT_DIR, ARG_JOINED, "builds", "-I DIR", "where imports are looked for"},
    {"--cc", OPT_CC, ARG_REQUIRED, "builds", "--cc=PATH", "the C compiler"},
    {"-Xcc", OPT_XCC, ARG_REQUIRED, "builds", "-Xcc OPT", "an option for it"},
    {"--cuda-compiler", OPT_CUDA_COMPILER, ARG_REQUIRED, "builds", "--cuda-compiler=nvcc|nvrtc", "what compiles device code; default: what is there"},
    {"--nvcc", OPT_NVCC, ARG_REQUIRED, "builds", "--nvcc=PATH", "the CUDA compiler"},
    {"-Xnvcc", OPT_XNVCC, ARG_REQUIRED, "builds", "-Xnvcc OPT", "an option for it"},
    {"-M", OPT_DEPENDENCIES, ARG_NONE, "builds", "-M", "a rule of make: model, imports, files of the data; compile nothing"},
    {"-MD", OPT_DEPENDENCIES_TOO, ARG_NONE, "builds", "-MD", "the same beside the product, in PRODUCT.d"},
    {"-MF", OPT_DEPENDENCY_FILE, ARG_JOINED, "builds", "-MF FILE", "the rule goes there"},
    {"-MT", OPT_DEPENDENCY_TARGET, ARG_JOINED, "builds", "-MT NAME", "what is made of them, in the rule"},
    {"-MP", OPT_DEPENDENCY_PHONY, ARG_NONE, "builds", "-MP", "a rule without a recipe for each file, should it vanish"},
    {"--cflags", OPT_CFLAGS, ARG_NONE, "builds", "--cflags", "what a C compiler needs to find gnnrt.h"},
    {"--libs", OPT_LIBS, ARG_NONE, "builds", "--libs", "what a linker needs for what --lib and -c make"},
    {"--save-temps", OPT_SAVE_TEMPS, ARG_OPTIONAL, "builds", "--save-temps[=DIR]", "keep the sources, in DIR or where they are said to be"},
    {"--force", OPT_FORCE, ARG_NONE, "builds", "--force", "overwrite what gnncc did not write"},
    {"--lsp", OPT_LSP, ARG_NONE, "asking", "--lsp", "a language server for editors, on standard input and output"},
    {"--help", OPT_HELP, ARG_OPTIONAL, "asking", "--help[=TOPIC]", "layers losses metrics optimizers schedules targets warnings passes emit env exit, or any name of the language"},
    {"--list", OPT_LIST, ARG_REQUIRED, "asking", "--list KIND", LISTED},
    {"--print-std", OPT_PRINT_STD, ARG_REQUIRED, "asking", "--print-std LAYER", "the source of a standard layer"},
    {"--print-target", OPT_PRINT_TARGET, ARG_REQUIRED, "asking", "--print-target NAME", "the text of a target"},
    {"--explain", OPT_EXPLAIN, ARG_REQUIRED, "asking", "--explain CODE", "the page of a diagnostic"},
    {"--example", OPT_EXAMPLE, ARG_OPTIONAL, "asking", "--example[=NAME]", "list ready programs; print one"},
    {"--version", OPT_VERSION, ARG_NONE, "asking", "--version", "of gnncc; with -v its commit, compilers, target and folders"},
    {"-dumpversion", OPT_DUMP_VERSION, ARG_NONE, NULL, NULL, NULL},
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

typedef struct Parser {
  Arena *arena;
  const char *share_dir, *const *passes;
  Options *options;
  int argc, next;
  char **argv;
  bool wants_cflags, wants_libs, wants_version;
  int depth; /* of files of options */
} Parser;

static const char first_screen[] =
    "usage: gnncc [options] model.gnn\n"
    "\n"
    "  gnncc gcn.gnn                      compile to ./gcn\n"
    "  gnncc gcn.gnn -o train             ... to ./train\n"
    "  gnncc --plan gcn.gnn               explain the memory plan, compile nothing\n"
    "  gnncc --report gcn.gnn             write gcn.report.html: Gantt, memory, plan, sweep\n"
    "  gnncc -S gcn.gnn -o gen/           write readable C instead of a program\n"
    "  gnncc --example                    list ready programs; --example gcn > gcn.gnn\n"
    "  gnncc plan problem.json            the planner on its own\n";

/* ---- answers ---- */

static int usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int usage(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "gnncc: error: ");
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  va_end(args);
  return 2;
}

static void print_help(FILE *out) {
  fputs(first_screen, out);
  const char *group = "";
  for (int i = 0; i < ROW_COUNT; i++) {
    if (!rows[i].group) continue;
    if (strcmp(group, rows[i].group) != 0) fprintf(out, "\n%s\n", rows[i].group);
    group = rows[i].group;
    fprintf(out, "  %-28s %s\n", rows[i].form, rows[i].help);
  }
}

static int print_file(const char *path, FILE *out) {
  FILE *in = fopen(path, "rb");
  if (!in) return 1;
  char buffer[4096];
  size_t got;
  while ((got = fread(buffer, 1, sizeof buffer, in)) > 0) fwrite(buffer, 1, got, out);
  fclose(in);
  return 0;
}

/* Installed, the header is PREFIX/include/gnncc/gnnrt.h and the library PREFIX/lib/libgnnrt.a; in a build tree both lie in share/. */
static int print_flags(const Parser *p) {
  const char *prefix = arena_printf(p->arena, "%s/../..", p->share_dir), *headers = arena_printf(p->arena, "%s/include/gnncc", prefix), *library = arena_printf(p->arena, "%s/lib", prefix);
  if (!gnn_path_exists(arena_printf(p->arena, "%s/gnnrt.h", headers))) headers = p->share_dir;
  if (!gnn_path_exists(arena_printf(p->arena, "%s/libgnnrt.a", library))) library = p->share_dir;
  char real[2][PATH_MAX];
  if (p->wants_cflags) printf("-I%s%s", realpath(headers, real[0]) ? real[0] : headers, p->wants_libs ? " " : "\n");
  if (p->wants_libs) printf("-L%s -lgnnrt -lz -lm -lpthread\n", realpath(library, real[1]) ? real[1] : library);
  return 0;
}

static const char *lower_case(Arena *arena, const char *text) {
  char *copy = arena_strdup(arena, text);
  for (char *c = copy; *c; c++)
    if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
  return copy;
}

static int print_shared(const Parser *p, const char *folder, const char *name, const char *what, const char *list) {
  bool is_plain = !strchr(name, '/') && name[0] != '.';
  if (is_plain && print_file(arena_printf(p->arena, "%s/%s/%s.gnn", p->share_dir, folder, name), stdout) == 0) return 0;
  fprintf(stderr, "gnncc: error: there is no %s \"%s\" (gnncc %s)\n", what, name, list);
  return 2;
}

static const struct {
  const char *name, *what;
} examples[] = {{"gcn", "two-layer GCN on the karate club, nothing to download"},
                {"gcn_cora", "two-layer GCN on Cora (Kipf & Welling, 2017)"},
                {"gin_mutag", "GIN on MUTAG, molecules in batches and folds (Xu et al., 2019)"},
                {"sage_deep", "five-layer GraphSAGE that wants more memory than it needs"},
                {"sage_products", "three-layer GraphSAGE at the size of ogbn-products, to plan for a GPU"}};

static int print_example(const Parser *p, const char *name) {
  if (name) return print_shared(p, "examples", strcmp(name, "gcn") == 0 ? "gcn_karate" : name, "example", "--example lists them");
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) printf("%-13s %s\n", examples[i].name, examples[i].what);
  return 0;
}

static int print_list(const Parser *p, const char *kind) {
  LangOptions lang = {.share_dir = p->share_dir};
  if (lang_list(p->arena, kind, &lang, stdout)) return 0;
  fprintf(stderr, "gnncc: error: nothing of the kind \"%s\" to list; there are " LISTED "\n", kind);
  return 2;
}

/* A layer by its source; functions, losses and other words by what there is to say of them. A name can be both: linear, Linear. */
static bool says_name(const Parser *p, const char *name) {
  const bool is_known = lang_help(p->arena, name, stdout), is_plain = !strchr(name, '/') && name[0] != '.';
  return (is_plain && print_file(arena_printf(p->arena, "%s/std/%s.gnn", p->share_dir, lower_case(p->arena, name)), stdout) == 0) || is_known;
}

static int print_name(const Parser *p, const LangOptions *lang, const char *name) {
  const char *ours = lang_alias(name);
  if (says_name(p, name) || (ours && says_name(p, ours))) return 0;
  Suggest suggest = {.wanted = name};
  lang_help_offer(p->arena, lang, &suggest);
  fprintf(stderr, "gnncc: error: there is no help topic or layer \"%s\"%s (gnncc --help lists the topics)\n", name, suggest_text(p->arena, &suggest, ""));
  return 2;
}

static int print_standard(const Parser *p, const char *name) {
  const bool is_layer = gnn_path_exists(arena_printf(p->arena, "%s/std/%s.gnn", p->share_dir, lower_case(p->arena, name))), is_word = !is_layer && lang_help(p->arena, name, NULL);
  if (!is_word) return print_shared(p, "std", lower_case(p->arena, name), "standard layer", "--list layers");
  fprintf(stderr, "gnncc: error: \"%s\" is no layer (gnncc --help=%s says what it is)\n", name, name);
  return 2;
}

/* ---- single passes ---- */

/* What -f[no-]NAME switches: a field of the options, or what is always so, and why. */
static const struct {
  const char *name;
  size_t field; /* 0: none */
  bool is_always;
  const char *help;
} switches[] = {{"fuse", offsetof(Options, is_fusing), false, "one kernel for operations in a row"},
                {"hoist", offsetof(Options, is_hoisting), false, "what no epoch changes is computed once"},
                {"places", offsetof(Options, is_placing), false, "results in the place of an operand that is not read any more"},
                {"reassociate", offsetof(Options, is_reassociating), false, "products and sums over neighbours in the order that is least work"},
                {"stages", offsetof(Options, is_staging), false, "sums over the edges of a row that read each other are one kernel"},
                {"feature-split", offsetof(Options, is_slicing), false, "where memory is short, sums by slices of their columns, too"},
                {"gradcheck", offsetof(Options, has_double), false, "a double-precision twin, for ./PROGRAM gradcheck"},
                {"recompute-masks", 0, true, "always: masks of dropout are drawn again from seed, epoch and place, never stored"},
                {"overlap", 0, true, "always: copies run beside the compute; ./PROGRAM --serial-lanes waits for each"},
                {"fast-math", 0, false, "never: sums keep their order and NaN stays NaN, for the same bits under every plan"}};

static int parse_pass(Parser *p, const char *name) {
  const bool is_on = strncmp(name, "no-", 3) != 0;
  const char *pass = is_on ? name : name + 3, *names = "";
  Suggest suggest = {.wanted = pass};
  for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
    names = arena_printf(p->arena, "%s%s%s", names, i ? ", " : "", switches[i].name);
    suggest_offer(&suggest, switches[i].name);
    if (strcmp(pass, switches[i].name) != 0) continue;
    if (switches[i].field) *(bool *)((char *)p->options + switches[i].field) = is_on;
    return switches[i].field || is_on == switches[i].is_always ? -1 : usage("-f%s: %s", name, switches[i].help);
  }
  return usage("-f%s: there is nothing of that name to switch%s; there are %s", name, suggest_text(p->arena, &suggest, ""), names);
}

static void print_passes(const Parser *p) {
  for (int i = 0; p->passes[i]; i++) printf("%s\n", p->passes[i]);
  printf("\n-f[no-]NAME switches\n");
  for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) printf("  %-16s %s\n", switches[i].name, switches[i].help);
}

/* ---- topics ---- */

static int print_topic(const Parser *p, const char *topic) {
  static const char env[] =
      "GNNCC_PATH   folders where imports are looked for, after -I\n"
      "GNNCC_FLAGS  options put before those of the command line\n"
      "GNNCC_TARGET  the target where --target names none\n"
      "CC CFLAGS LDFLAGS   the C compiler and more options for it\n"
      "NVCC NVCCFLAGS CUDA_HOME   the CUDA compiler, more options for it, its toolkit\n"
      "TMPDIR       where the sources are compiled\n"
      "XDG_CACHE_HOME   gnncc/native.gnn there is what --calibrate measured, gnncc/tune-TARGET.json what --tune did,\n"
      "             gnncc/order-*.safetensors an order of nodes (~/.cache without it)\n"
      "NO_COLOR CLICOLOR_FORCE TERM COLUMNS   how messages look\n";
  static const char exits[] =
      "0   made what was asked\n1   errors in the program or data\n2   bad command line\n3   no plan fits the budget\n"
      "4   cannot read or write a file\n5   the C compiler is missing or cannot run\n70  internal error\n"
      "130, 143  interrupted; what was not finished is gone\n";
  if (!topic) print_help(stdout);
  else if (strcmp(topic, "env") == 0) fputs(env, stdout);
  else if (strcmp(topic, "exit") == 0) fputs(exits, stdout);
  else if (strcmp(topic, "emit") == 0) puts(EMIT_KINDS);
  else if (strcmp(topic, "passes") == 0) print_passes(p);
  else if (strcmp(topic, "warnings") == 0) diags_list_warnings(stdout);
  else {
    LangOptions lang = {.share_dir = p->share_dir};
    if (lang_list(p->arena, topic, &lang, stdout)) return 0;
    return print_name(p, &lang, topic);
  }
  return 0;
}

/* ---- parsing ---- */

static int unknown_option(const Parser *p, const char *word) {
  Suggest suggest = {.wanted = arena_strndup(p->arena, word, strcspn(word, "="))};
  for (int i = 0; i < ROW_COUNT; i++)
    suggest_offer(&suggest, rows[i].name);
  return usage("unknown option %s%s", suggest.wanted, suggest_text(p->arena, &suggest, ""));
}

static int unknown_warning(const Parser *p, const char *word) {
  const char *name = strncmp(word, "no-", 3) == 0 ? word + 3 : strncmp(word, "error=", 6) == 0 ? word + 6 : word;
  Suggest suggest = {.wanted = name};
  for (int i = 0; diags_warning_name(i); i++) suggest_offer(&suggest, diags_warning_name(i));
  return usage("-W%s: there is no such warning (gnncc --help=warnings)%s", word, suggest_text(p->arena, &suggest, ""));
}

static bool is_emit_kind(const char *item) {
  size_t length = strlen(item), n;
  for (const char *kind = EMIT_KINDS; *kind; kind += n + (kind[n] == ' ')) {
    n = strcspn(kind, " ");
    if (n == length && strncmp(kind, item, n) == 0) return true;
  }
  return false;
}

static int parse_emit(Parser *p, const char *list) {
  char *copy = arena_strdup(p->arena, list), *rest = NULL;
  if (!copy[strspn(copy, ",")]) return usage("--emit needs a kind; gnncc --help=emit lists them");
  for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
    char *path = strchr(item, '=');
    if (path) *path++ = 0;
    if (!is_emit_kind(item)) return usage("--emit=%s: unknown kind; gnncc --help=emit lists them", item);
    const char *fault = view_path_fault(p->arena, item, path);
    if (fault) return usage("--emit=%s=%s: %s", item, path, fault);
    if (strcmp(item, "cuda") == 0 && !p->options->backend) p->options->backend = item;
    ARENA_PUSH(p->arena, p->options->emits, p->options->emit_count, (EmitRequest){item, path});
  }
  if (p->options->product == PRODUCT_PROGRAM) p->options->product = PRODUCT_EMIT;
  return -1;
}

bool options_emitted_product(const char *kind, Product *product) {
  static const struct { const char *kind; Product product; } kinds[] = {{"obj", PRODUCT_OBJECT}, {"lib", PRODUCT_LIBRARY}, {"shared", PRODUCT_SHARED}, {"exe", PRODUCT_PROGRAM}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].kind, kind) == 0) return *product = kinds[i].product, true;
  return false;
}

/* One of these alone is what -c, --lib, --shared or nothing ask for, and -o names it. */
static int take_emitted_product(Options *o) {
  Product product;
  int count = 0, last = 0;
  for (int i = 0; i < o->emit_count; i++)
    if (options_emitted_product(o->emits[i].kind, &product)) count++, last = i;
  if (count == 0 || o->product != PRODUCT_EMIT) return -1;
  if (o->output && (count > 1 || o->emits[last].path)) return usage("-o %s: --emit=%s=FILE names the file, of each product its own", o->output, o->emits[last].kind);
  if (count > 1) return -1;
  options_emitted_product(o->emits[last].kind, &o->product);
  if (o->emits[last].path) o->output = o->emits[last].path;
  for (int i = last; i + 1 < o->emit_count; i++) o->emits[i] = o->emits[i + 1];
  o->emit_count--;
  return -1;
}

bool options_emits(const Options *options, const char *kind) {
  for (int i = 0; i < options->emit_count; i++)
    if (strcmp(options->emits[i].kind, kind) == 0) return true;
  return false;
}

/* --KIND=PATH */
static int add_emit(Parser *p, const char *kind, const char *path) {
  const char *fault = view_path_fault(p->arena, kind, path);
  if (fault) return usage("--%s=%s: %s", kind, path, fault);
  ARENA_PUSH(p->arena, p->options->emits, p->options->emit_count, (EmitRequest){kind, path});
  return -1;
}

static int parse_pass_names(const Parser *p, const char *option, const char *list) {
  for (const char *at = list; *at;) {
    size_t length = strcspn(at, ",");
    bool is_known = false;
    for (int i = 0; p->passes[i]; i++) is_known = is_known || (strlen(p->passes[i]) == length && strncmp(at, p->passes[i], length) == 0);
    if (!is_known) return usage("%s=%.*s: there is no such pass (gnncc --help=passes)", option, (int)length, at);
    at += length + (at[length] == ',');
  }
  return -1;
}

static int parse_budget(Parser *p, const char *text) {
  const char *equals = strchr(text, '=');
  int64_t bytes;
  if (!equals || equals == text) return usage("--budget %s: TIER=SIZE is needed, as in device=24GiB", text);
  if (!unit_size(equals + 1, 100, &bytes)) {
    const char *hint = strstr(equals, "Gb") || strstr(equals, "Mb") ? "; write GB (10^9 bytes) or GiB (2^30 bytes)" : "";
    return usage("--budget %s: \"%s\" is not a size in bytes, as in 24GiB or 50%%%s", text, equals + 1, hint);
  }
  ARENA_PUSH(p->arena, p->options->budgets, p->options->budget_count,
             (BudgetRequest){arena_strndup(p->arena, text, (size_t)(equals - text)), equals + 1});
  return -1;
}

static int parse_effort(Parser *p, const char *text) {
  if (strcmp(text, "fast") && strcmp(text, "normal") && strcmp(text, "best")) return usage("--plan-effort %s: fast, normal or best", text);
  p->options->plan_effort = text;
  return -1;
}

/* What other libraries call it; NULL: nothing. */
static const char *precision_of_others(const char *text) {
  static const char *const names[][2] = {{"float32", "fp32"}, {"float", "fp32"}, {"single", "fp32"}, {"f32", "fp32"}, {"32", "fp32"}, {"bfloat16", "bf16"}, {"mixed", "bf16"}, {"amp", "bf16"}, {"bf16-mixed", "bf16"},
                                         {"fp16", "fp16"}, {"float16", "fp16"}, {"half", "fp16"}, {"f16", "fp16"}, {"16", "fp16"}, {"16-mixed", "fp16"}, {"fp64", "fp64"}, {"float64", "fp64"}, {"double", "fp64"}, {"f64", "fp64"}, {"64", "fp64"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(text, names[i][0]) == 0) return names[i][1];
  return NULL;
}

static int parse_precision(Parser *p, const char *text) {
  for (int i = 0; i < PRECISION_COUNT; i++) {
    if (strcmp(text, precision_name(i)) != 0) continue;
    p->options->precision = (Precision)i;
    return -1;
  }
  const char *known = precision_of_others(text);
  if (known && strcmp(known, "fp16") == 0) return usage("--precision=%s: its numbers end at 65504, and gradients below 2^-24 are lost; --precision=bf16 takes as many bytes and has the range of fp32", text);
  if (known && strcmp(known, "fp64") == 0) return usage("--precision=%s: programs train in fp32; with -fgradcheck they are built in double, too, for ./PROGRAM gradcheck to compare gradients", text);
  if (known) return usage("--precision=%s: fp32, tf32 or bf16; here that is --precision=%s", text, known);
  return usage("--precision=%s: fp32, tf32 or bf16", text);
}

enum { CPU_MOST = 8 };

static int parse_cpu(Parser *p, const char *list) {
  Options *o = p->options;
  char *rest = NULL;
  o->cpu_count = 0;
  for (char *name = strtok_r(arena_strdup(p->arena, list), ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    if (!cpu_name_is_right(name)) return usage("--cpu=%s: \"%s\" is not the name of a processor, as in x86-64-v3 or armv8.2-a+sve", list, name);
    for (int i = 0; i < o->cpu_count; i++)
      if (strcmp(arena_identifier(p->arena, o->cpus[i]), arena_identifier(p->arena, name)) == 0) return usage("--cpu=%s: %s is there twice", list, name);
    ARENA_PUSH(p->arena, o->cpus, o->cpu_count, name);
  }
  if (o->cpu_count == 0 || o->cpu_count > CPU_MOST) return usage("--cpu=%s: 1 to %d names of processors are needed", list, CPU_MOST);
  return -1;
}

static int parse_plan_time(Parser *p, const char *text) {
  char *end;
  double seconds = strtod(text, &end);
  const double scale = strcmp(end, "ms") == 0 ? 1e-3 : strcmp(end, "min") == 0 ? 60 : 1;
  bool is_unit = *end == 0 || strcmp(end, "s") == 0 || strcmp(end, "ms") == 0 || strcmp(end, "min") == 0;
  if (end == text || !is_unit || !(seconds > 0) || seconds > 1e6) return usage("--plan-time %s: a time is needed, as in 30s", text);
  p->options->plan_seconds = seconds * scale;
  return -1;
}

static int parse_plan_from(Parser *p, const char *path) {
  const char *force = strrchr(path, '=');
  p->options->plan_from = path;
  if (!force || strcmp(force, "=force") != 0 || gnn_path_exists(path)) return -1;
  return usage("--plan-from=%s: nothing has to be forced: a plan that the program can carry out is taken, whatever it was made for, and no other ever; --plan-from=%.*s", path, (int)(force - path), path);
}

static int parse_policy(Parser *p, const char *text) {
  Suggest suggest = {.wanted = text};
  p->options->policy = text;
  if (vocabulary_find(program_policies, text) >= 0) return -1;
  const char *list = "";
  for (int i = 0; program_policies[i]; i++) {
    suggest_offer(&suggest, program_policies[i]);
    list = arena_printf(p->arena, "%s%s%s", list, i ? ", " : "", program_policies[i]);
  }
  return usage("--policy %s: no such policy%s (known: %s)", text, suggest_text(p->arena, &suggest, "\""), list);
}

static int parse_define(Parser *p, const char *text) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1]) return usage("-D %s: NAME=VALUE is needed", text);
  ARENA_PUSH(p->arena, p->options->defines, p->options->define_count,
             (LangDefine){arena_strndup(p->arena, text, (size_t)(equals - text)), equals + 1});
  return -1;
}

static int print_version(const Parser *p) {
  const Options *o = p->options;
  printf("gnncc " GNNCC_VERSION "\n");
  if (!o->is_verbose) return 0;
  CudaCompiler cuda;
  const bool has_cuda = cuda_compiler_find(p->arena, o->cuda_compiler, o->nvcc, &cuda);
  printf("commit: %s\n", *GNNCC_COMMIT ? GNNCC_COMMIT : "not known: built outside of its repository");
  printf("C compiler: %s\n", c_compiler_named(o) ? c_compiler_named(o) : C_COMPILER);
  printf("CUDA compiler: %s\n", !has_cuda ? "none is here" : cuda.nvcc ? cuda.nvcc : "NVRTC");
  printf("default target: %s\n", o->target ? o->target : "native");
  printf("layers, targets and examples: %s\n", p->share_dir);
  printf("imports: beside the model");
  for (int i = 0; i < o->import_dir_count; i++) printf(", %s", o->import_dirs[i]);
  printf("\n");
  return 0;
}

static bool is_number(const char *text) { return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 10; }

static int apply(Parser *p, const OptionRow *row, const char *a) {
  Options *o = p->options;
  switch (row->id) {
  case OPT_OUTPUT: o->output = a; break;
  case OPT_SOURCES: o->product = PRODUCT_SOURCES; break;
  case OPT_OBJECT: o->product = PRODUCT_OBJECT; break;
  case OPT_LIB: o->product = PRODUCT_LIBRARY; break;
  case OPT_SHARED: o->product = PRODUCT_SHARED; break;
  case OPT_CHECK: o->product = PRODUCT_CHECK; break;
  case OPT_FORMAT:
    if (a && strcmp(a, "check") != 0 && strcmp(a, "write") != 0) return usage("--format=%s: check or write, or neither", a);
    o->formatting = !a ? FORMATTING_PRINT : strcmp(a, "check") == 0 ? FORMATTING_CHECK : FORMATTING_WRITE;
    break;
  case OPT_PLAN:
    if (a && strcmp(a, "json") != 0 && strcmp(a, "text") != 0) return usage("--plan=%s: the forms are text and json", a);
    o->product = PRODUCT_PLAN;
    o->is_plan_json = a && strcmp(a, "json") == 0;
    break;
  case OPT_EMIT: return parse_emit(p, a);
  case OPT_REPORT: return add_emit(p, "report", a);
  case OPT_ANNOTATE:
    if (o->product == PRODUCT_PROGRAM) o->product = PRODUCT_EMIT;
    return add_emit(p, "annotate", a ? a : "-");
  case OPT_SWEEP:
    o->sweep = a;
    if (o->product == PRODUCT_PROGRAM) o->product = PRODUCT_EMIT;
    break;
  case OPT_MEASURED: o->measured = a; break;
  case OPT_COMPARE: o->compare = a; break;
  case OPT_TARGET:
    o->is_native = strcmp(a, "native") == 0;
    o->target = o->is_native ? NULL : a;
    break;
  case OPT_BUDGET: return parse_budget(p, a);
  case OPT_PLAN_EFFORT: return parse_effort(p, a);
  case OPT_PLAN_TIME: return parse_plan_time(p, a);
  case OPT_PLAN_FROM: return parse_plan_from(p, a);
  case OPT_POLICY: return parse_policy(p, a);
  case OPT_CUT: {
    const char *fault = cut_wish_read(a, &o->cut);
    if (fault) return usage("--cut=%s: %s", a, fault);
    break;
  }
  case OPT_RANKS: {
    int64_t count;
    if (!gnn_parse_integer(a, &count) || count < 1 || count > TARGET_DEVICES_MOST) return usage("--ranks=%s: a whole number from 1 to %d", a, TARGET_DEVICES_MOST);
    o->ranks = (int)count;
    break;
  }
  case OPT_HALOS: {
    char *end;
    o->halos = strtod(a, &end);
    if (end == a || *end || !(o->halos >= 0) || o->halos > 1e6) return usage("--halos=%s: a number from 0 on, rows of others for each of a rank's own", a);
    o->has_halos = true;
    break;
  }
  case OPT_BACKEND:
    if (strcmp(a, "cpu") != 0 && strcmp(a, "cuda") != 0 && strcmp(a, "sim") != 0)
      return usage("--backend=%s: there is no such backend; cpu, cuda and sim are", a);
    o->backend = a;
    o->is_simulated = strcmp(a, "sim") == 0;
    break;
  case OPT_CPU: return parse_cpu(p, a);
  case OPT_ARCH:
    if (strcmp(a, "native") == 0) {
      if ((o->architecture = cuda_compiler_native(p->arena))) break;
      usage("--arch=native: no GPU is here; --arch=sm_80 names another, and nvcc --list-gpu-code has those that a toolkit knows");
      return 5;
    }
    if ((strncmp(a, "sm_", 3) != 0 || !is_number(a + 3)) && (strncmp(a, "compute_", 8) != 0 || !is_number(a + 8)))
      return usage("--arch=%s: an architecture is needed, as in sm_80, or native", a);
    o->architecture = a;
    break;
  case OPT_CUDA_COMPILER:
    if (strcmp(a, "nvcc") != 0 && strcmp(a, "nvrtc") != 0) return usage("--cuda-compiler=%s: nvcc or nvrtc", a);
    o->cuda_compiler = a;
    break;
  case OPT_CALIBRATE: o->calibrate = a ? a : ""; break;
  case OPT_TUNE: o->tune = a ? a : ""; break;
  case OPT_TUNING: o->tuning = a; break;
  case OPT_PROFILE: o->profile = a; break;
  case OPT_DEFINE: return parse_define(p, a);
  case OPT_DATA: {
    const char *equals = strchr(a, '='), *slash = strchr(a, '/');
    bool has_name = equals && (!slash || equals < slash);
    o->data_name = has_name ? arena_strndup(p->arena, a, (size_t)(equals - a)) : NULL;
    o->data_path = has_name ? equals + 1 : a;
    break;
  }
  case OPT_SHAPES: o->is_shapes_only = true; break;
  case OPT_PRECISION: return parse_precision(p, a);
  case OPT_GEMM:
    if (strcmp(a, "own") != 0 && strcmp(a, "cublas") != 0) return usage("--gemm=%s: own or cublas", a);
    o->gemm = a;
    break;
  case OPT_SPMM:
    if (strcmp(a, "own") != 0 && strcmp(a, "cusparse") != 0) return usage("--spmm=%s: own or cusparse", a);
    o->spmm = a;
    break;
  case OPT_OPTIMISE:
    if (strlen(a) != 1 || !strchr("0123g", a[0])) return usage("-O%s: the levels are 0, 1, 2, 3 and g", a);
    o->optimisation = a[0];
    o->is_fusing = o->is_hoisting = o->is_placing = o->is_staging = a[0] != '0';
    break;
  case OPT_PASS: return parse_pass(p, a);
  case OPT_DETERMINISTIC: break;
  case OPT_DEBUG: o->is_debugging = true; break;
  case OPT_PREFIX:
  case OPT_NAME:
    if (!*a || strlen(a) > STEM_MAX) return usage("%s=%.40s: a name of 1 to %d characters is needed", row->name, a, STEM_MAX);
    *(row->id == OPT_PREFIX ? &o->prefix : &o->name) = a;
    break;
  case OPT_WARNING: {
    Diags *diags = diags_new(p->arena);
    if (!diags_warning_option(diags, a)) return unknown_warning(p, a);
    ARENA_PUSH(p->arena, o->warnings, o->warning_count, a);
    break;
  }
  case OPT_NO_WARNINGS: ARENA_PUSH(p->arena, o->warnings, o->warning_count, ""); break;
  case OPT_COLOR:
    if (!diags_color_named(a ? a : "always", &o->color)) return usage("%s=%s: auto, always or never", row->name, a);
    break;
  case OPT_DIAGNOSTICS:
    if (!diags_format_named(a, &o->format)) return usage("--diagnostics=%s: text, short, json or sarif", a);
    break;
  case OPT_ERROR_LIMIT:
    if (!is_number(a)) return usage("%s=%s: a number is needed", row->name, a);
    o->error_limit = atoi(a);
    break;
  case OPT_VERBOSE: o->is_verbose = true; break;
  case OPT_DRY_RUN: o->is_dry_run = true; break;
  case OPT_QUIET: o->is_quiet = true; break;
  case OPT_TIME: o->is_timing = true; break;
  case OPT_DUMP: o->dump = a; return parse_pass_names(p, "--dump", a);
  case OPT_STOP_AFTER:
    o->stop_after = a;
    return strchr(a, ',') ? usage("--stop-after=%s: one pass is needed", a) : parse_pass_names(p, "--stop-after", a);
  case OPT_VERIFY: o->is_verifying = true; break;
  case OPT_IMPORT_DIR: ARENA_PUSH(p->arena, o->import_dirs, o->import_dir_count, a); break;
  case OPT_CC: o->cc = a; break;
  case OPT_XCC: ARENA_PUSH(p->arena, o->cc_options, o->cc_option_count, a); break;
  case OPT_SAVE_TEMPS:
    o->is_saving_temps = true;
    o->temps_dir = a;
    break;
  case OPT_EXPAND: o->is_expanding = true; break;
  case OPT_SINGLE_FILE:
    o->is_single_file = true;
    if (o->product == PRODUCT_PROGRAM) o->product = PRODUCT_SOURCES;
    break;
  case OPT_NVCC: o->nvcc = a; break;
  case OPT_XNVCC: ARENA_PUSH(p->arena, o->nvcc_options, o->nvcc_option_count, a); break;
  case OPT_DEPENDENCIES: o->is_listing_dependencies = true; break;
  case OPT_DEPENDENCIES_TOO: o->has_dependency_file = true; break;
  case OPT_DEPENDENCY_FILE: o->dependency_file = a; break;
  case OPT_DEPENDENCY_TARGET: ARENA_PUSH(p->arena, o->dependency_targets, o->dependency_target_count, a); break;
  case OPT_DEPENDENCY_PHONY: o->has_phony_dependencies = true; break;
  case OPT_CFLAGS: p->wants_cflags = true; break;
  case OPT_LIBS: p->wants_libs = true; break;
  case OPT_FORCE: o->is_forced = true; break;
  case OPT_HELP: return print_topic(p, a);
  case OPT_LIST: return print_list(p, a);
  case OPT_PRINT_STD: return print_standard(p, a);
  case OPT_PRINT_TARGET: return print_shared(p, "targets", strchr(a, '/') ? a : lang_target_name(p->arena, a), "target", "--list targets");
  case OPT_EXPLAIN: return diags_explain(a, stdout) ? 0 : usage("there is no diagnostic %s", a);
  case OPT_EXAMPLE: return print_example(p, a);
  case OPT_VERSION: p->wants_version = true; break;
  case OPT_DUMP_VERSION: printf(GNNCC_VERSION "\n"); return 0;
  case OPT_LSP: o->is_serving = true; break;
  }
  return -1;
}

/* The row of a word, the longest name first; *argument gets what is joined to it. */
static const OptionRow *find_row(const char *word, const char **argument) {
  const OptionRow *joined = NULL;
  *argument = NULL;
  size_t name = strcspn(word, "=");
  for (int i = 0; i < ROW_COUNT; i++) {
    const OptionRow *row = &rows[i];
    size_t length = strlen(row->name);
    if (length == name && strncmp(word, row->name, length) == 0 && row->argument != ARG_JOINED) {
      *argument = word[name] ? word + name + 1 : NULL;
      return row;
    }
    if (row->argument == ARG_JOINED && strncmp(word, row->name, length) == 0 && (!joined || length > strlen(joined->name))) joined = row;
  }
  if (joined) *argument = word[strlen(joined->name)] ? word + strlen(joined->name) : NULL;
  return joined;
}

static int parse_words(Parser *p, int argc, char **argv);

/* The next word of a file of options, or NULL: words are apart by blanks, but within quotes or behind a backslash. */
static char *next_word(char **rest) {
  char *at = *rest + strspn(*rest, " \t\r\n"), *word = at, *end = at, quote = 0;
  if (!*at) return NULL;
  for (; *at && (quote || !strchr(" \t\r\n", *at)); at++) {
    if (*at == quote) quote = 0;
    else if (!quote && (*at == '\'' || *at == '"')) quote = *at;
    else *end++ = *at == '\\' && quote != '\'' && at[1] ? *++at : *at;
  }
  *rest = at + (*at != 0);
  *end = 0;
  return word;
}

/* @FILE */
static int parse_file(Parser *p, const char *path) {
  enum { DEEPEST = 10 };
  size_t length;
  const char *text = arena_read_file(p->arena, path, &length);
  if (!text) {
    usage("cannot read the options of %s: %s", shown(path).text, gnn_open_reason(errno));
    return 4;
  }
  if (p->depth == DEEPEST) return usage("@%s: files of options name each other, more than %d deep", path, DEEPEST);
  char **list = NULL, *rest = arena_strndup(p->arena, text, length);
  int count = 0;
  for (char *word; (word = next_word(&rest));) ARENA_PUSH(p->arena, list, count, word);
  Parser inner = *p;
  inner.depth++;
  const int status = parse_words(&inner, count, list);
  p->wants_cflags = inner.wants_cflags;
  p->wants_libs = inner.wants_libs;
  p->wants_version = inner.wants_version;
  return status;
}

static int parse_word(Parser *p, const char *word) {
  if (word[0] != '-' || !word[1]) {
    if (word[0] == '@' && word[1]) return parse_file(p, word + 1);
    if (p->options->input) ARENA_PUSH(p->arena, p->options->more, p->options->more_count, word);
    else p->options->input = word;
    return -1;
  }
  const char *argument;
  const OptionRow *row = find_row(word, &argument);
  if (!row) return unknown_option(p, word);
  if (row->argument == ARG_NONE && argument) return usage("%s takes no value", row->name);
  if ((row->argument == ARG_REQUIRED || row->argument == ARG_JOINED) && !argument) {
    if (p->next >= p->argc) return usage("%s needs a value", row->name);
    argument = p->argv[p->next++];
  }
  /* --example gcn and --help GAT read well, too. */
  bool takes_next = row->id == OPT_EXAMPLE && !argument && p->next < p->argc && p->argv[p->next][0] != '-';
  if (takes_next) argument = p->argv[p->next++];
  return apply(p, row, argument);
}

/* Any of them may be a name in what is written. */
bool options_are_text(int count, char **words) {
  for (int i = 0; i < count; i++) {
    const char *fault = gnn_name_fault(words[i]);
    if (fault) usage("the word \"%s\" of the command line %s", shown(words[i]).text, fault);
    if (fault) return false;
  }
  return true;
}

static int parse_words(Parser *p, int argc, char **argv) {
  if (!options_are_text(argc, argv)) return 2;
  p->argc = argc;
  p->argv = argv;
  bool has_ended = false;
  for (p->next = 0; p->next < argc;) {
    const char *word = argv[p->next++];
    if (strcmp(word, "--") == 0 && !has_ended) {
      has_ended = true;
      continue;
    }
    int status;
    if (has_ended && !p->options->input) {
      p->options->input = word;
      status = -1;
    } else {
      status = parse_word(p, word);
    }
    if (status >= 0) return status;
  }
  return -1;
}

/* GNNCC_FLAGS come first, separated by blanks. */
static int parse_environment(Parser *p) {
  const char *flags = getenv("GNNCC_FLAGS");
  if (!flags || !*flags) return -1;
  char **list = NULL;
  int count = 0;
  char *copy = arena_strdup(p->arena, flags), *rest = NULL;
  for (char *word = strtok_r(copy, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) ARENA_PUSH(p->arena, list, count, word);
  return parse_words(p, count, list);
}

static void add_search_path(Parser *p) {
  const char *path = getenv("GNNCC_PATH");
  if (!path || !*path) return;
  char *copy = arena_strdup(p->arena, path), *rest = NULL;
  for (char *folder = strtok_r(copy, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest))
    ARENA_PUSH(p->arena, p->options->import_dirs, p->options->import_dir_count, folder);
}

int options_parse(Arena *arena, int argc, char **argv, const char *share_dir, const char *const *passes, Options *options) {
  *options = (Options){.optimisation = '2', .is_fusing = true, .is_reassociating = true, .is_hoisting = true, .is_placing = true, .is_staging = true, .is_slicing = true, .error_limit = 20,
                       .target = getenv("GNNCC_TARGET") && *getenv("GNNCC_TARGET") ? getenv("GNNCC_TARGET") : NULL};
  Parser p = {.arena = arena, .share_dir = share_dir, .passes = passes, .options = options};
  if (argc <= 1) {
    fputs(first_screen, stderr);
    return 2;
  }
  int status = parse_environment(&p);
  if (status < 0) status = parse_words(&p, argc - 1, argv + 1);
  if (status >= 0) return status;
  if (p.wants_cflags || p.wants_libs) return print_flags(&p);
  add_search_path(&p);
  if (!options->nvcc && getenv("NVCC") && *getenv("NVCC")) options->nvcc = getenv("NVCC");
  if (p.wants_version) return print_version(&p);
  if (options->is_verbose && options->product != PRODUCT_PLAN) options->is_timing = true;
  if ((status = take_emitted_product(options)) >= 0) return status;
  if (options->is_single_file && options->product != PRODUCT_SOURCES) return usage("--single-file is for the sources of -S");
  if (options->is_single_file && options->cpu_count > 1) return usage("--single-file has one source, for one processor: --cpu names %d", options->cpu_count);
  if (options->is_single_file && options->has_double) return usage("--single-file and -fgradcheck do not go together: the double-precision twin is the same source, compiled another time");
  if ((options->dependency_file || options->dependency_target_count || options->has_phony_dependencies) && !options->is_listing_dependencies && !options->has_dependency_file)
    return usage("%s needs -M or -MD", options->dependency_file ? "-MF" : options->dependency_target_count ? "-MT" : "-MP");
  if (options->sweep && !options_emits(options, "sweep")) add_emit(&p, "sweep", "-");
  if (options_emits(options, "sweep") && !options->sweep && options->input) return usage("--emit=sweep needs --sweep TIER=LOW:HIGH");
  if (options->formatting && options->output && options->more_count) return usage("--format of several files has no use for -o %s", options->output);
  if (options->more_count && !options->sweep && !options->formatting) return usage("two models, %s and %s; one at a time is compiled", options->input, options->more[0]);
  if (options->tune && options->sweep) return usage("--tune and --sweep do not go together");
  if (options->tune && options->tuning) return usage("--tune finds what --tuning names; one of them");
  if (cut_wish_is_fixed(options->cut) && options->has_double) return usage("--cut and -fgradcheck do not go together: gradients are checked on fewer nodes, which are cut elsewhere");
  if (cut_wish_has_slices(options->cut) && !options->is_slicing) return usage("--cut in slices and -fno-feature-split do not go together");
  if (options->compare && !options->input) return usage("--compare needs two files");
  if (options->measured && options->emit_count && !options->input) return -1;
  if (options->is_serving && options->input) return usage("--lsp is told its models by the editor");
  if (!options->input && !options->calibrate && !options->is_serving) return usage("no model; gnncc --help shows how it is used");
  return -1;
}
