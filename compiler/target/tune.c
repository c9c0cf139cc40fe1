/* tune: which variants of the kernels of a model are the fastest on the GPU that is here.
 *
 * A variant is timed where it will be used: in the program, on its data, between the steps before and after it. So the model is
 * compiled as often as the kernel with most variants has some, in the first program all kernels as usual, in the second each as its
 * second variant, and so on. The programs take turns, each time for some epochs with an event before and after every step
 * (./train profile); of the turns the median counts. A variant has to be faster than the usual one by more than the noise.
 */
#include "tune.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measurement.h"
#include "compiler/base/cache.h"
#include "compiler/base/escape.h"
#include "compiler/base/outfile.h"
#include "compiler/base/workplace.h"
#include "compiler/driver/driver.h"
#include "compiler/lowering/cost.h"
#include "compiler/lowering/trial.h"
#include "compiler/lowering/tuning.h"

enum { MOST_TRIALS = 8, ROUNDS = 5, EPOCHS = 3 };
static const double noise = 0.03;

typedef struct Tuner {
  Arena *arena;
  const Options *options;
  const char *share_dir, *path;
  Workplace *place;
  Gpu gpu;
  int trial_count;
  Trial trials[MOST_TRIALS];
  bool is_there[MOST_TRIALS];   /* its program is */
  double *seconds[MOST_TRIALS]; /* [kernel][round]; 0: not measured */
} Tuner;

/* ---- programs ---- */

static const char *in_directory(const Tuner *t, const char *name, int number) { return workplace_file(t->place, arena_printf(t->arena, "%s%d", name, number)); }

/* Every kernel as variant `number`, as far as the pass `last`; NULL: to a program. An exit status. */
static int compile(Tuner *t, int number, const char *last) {
  static const char *no_warnings[] = {""};
  Trial *trial = &t->trials[number];
  Options options = *t->options;
  *trial = (Trial){.arena = t->arena, .number = number};
  options.trial = trial;
  options.tune = options.dump = options.measured = options.sweep = NULL;
  options.tuning = "none";
  options.product = PRODUCT_PROGRAM;
  options.emit_count = 0;
  options.is_timing = options.is_saving_temps = false;
  options.is_quiet = true;
  options.stop_after = last;
  options.output = in_directory(t, "trial", number);
  options.warnings = no_warnings;
  options.warning_count = 1;
  return driver_compile(&options, t->share_dir);
}

static int count_trials(const Trial *trial) {
  int most = 0;
  for (int i = 0; i < trial->kernel_count; i++) most = trial->kernels[i].variant_count > most ? trial->kernels[i].variant_count : most;
  return most < MOST_TRIALS ? most : MOST_TRIALS;
}

/* A library may need memory that the budget has not: then its variant is left out. */
static int compile_all(Tuner *t) {
  enum { NO_PLAN = 3 };
  for (int i = 0; i < t->trial_count; i++) {
    int status = compile(t, i, NULL);
    if (status != 0 && (i == 0 || status != NO_PLAN)) return status;
    t->is_there[i] = status == 0 && t->trials[i].kernel_count == t->trials[0].kernel_count;
  }
  return 0;
}

/* ---- time ---- */

static void show_file(const char *path) {
  FILE *in = fopen(path, "r");
  for (int c; in && (c = getc(in)) != EOF;) fputc(c, stderr);
  if (in) fclose(in);
}

/* One turn of a program: what its kernels took. An exit status. */
static int take_turn(Tuner *t, int number, int round) {
  const Trial *trial = &t->trials[number];
  const char *program = in_directory(t, "trial", number), *run = in_directory(t, "run", number), *said = in_directory(t, "said", number), *fault;
  unlink(run);
  int status = system(arena_printf(t->arena, "%s profile --epochs %d -o %s >%s 2>&1", escape_shell(t->arena, program), EPOCHS, escape_shell(t->arena, run), escape_shell(t->arena, said)));
  Machine machine = {0};
  if (status != 0) {
    show_file(said);
    fprintf(stderr, "gnncc: %s: the program whose kernels are variant %d ended with status %d\n", number ? "warning" : "error", number, WEXITSTATUS(status));
    return 1;
  }
  if (!cost_read_profile(&machine, run, trial->model_fingerprint, t->arena, &fault)) {
    fprintf(stderr, "gnncc: error: cannot use what a program measured: %s\n", fault);
    return 70;
  }
  for (int k = 0; k < trial->kernel_count; k++) profile_seconds(machine.profile, trial->kernels[k].what, &t->seconds[number][k * ROUNDS + round]);
  return 0;
}

static int take_turns(Tuner *t) {
  for (int i = 0; i < t->trial_count; i++) t->seconds[i] = arena_alloc(t->arena, (size_t)(t->trials[0].kernel_count * ROUNDS + 1) * sizeof *t->seconds[i]);
  for (int i = 0; i < t->trial_count; i++) memset(t->seconds[i], 0, (size_t)(t->trials[0].kernel_count * ROUNDS + 1) * sizeof *t->seconds[i]);
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < t->trial_count; i++) {
      int status = t->is_there[i] ? take_turn(t, i, round) : 0;
      if (status != 0 && i == 0) return status;
      t->is_there[i] = t->is_there[i] && status == 0; /* a library may want what the plan has not */
    }
  return 0;
}

/* ---- the best ---- */

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median of the turns; of all kernels with this key together, which are the same variants. */
static double seconds_of(const Tuner *t, const char *key, int number) {
  double rounds[ROUNDS] = {0};
  for (int k = 0; k < t->trials[number].kernel_count; k++) {
    if (strcmp(t->trials[number].kernels[k].key, key) != 0) continue;
    for (int r = 0; r < ROUNDS; r++) rounds[r] += t->seconds[number][k * ROUNDS + r];
  }
  qsort(rounds, ROUNDS, sizeof *rounds, compare_doubles);
  return rounds[ROUNDS / 2];
}

static TunedKernel judge(const Tuner *t, const TrialKernel *kernel, int index) {
  int count = kernel->variant_count < t->trial_count ? kernel->variant_count : t->trial_count, best = 0;
  const char **variants = arena_alloc(t->arena, MOST_TRIALS * sizeof *variants);
  double *seconds = arena_alloc(t->arena, MOST_TRIALS * sizeof *seconds);
  for (int v = 0; v < count; v++) {
    variants[v] = t->is_there[v] ? t->trials[v].kernels[index].variant : "left out";
    seconds[v] = t->is_there[v] ? seconds_of(t, kernel->key, v) : 0;
    if (seconds[v] > 0 && seconds[v] < seconds[best] && seconds[v] < (1 - noise) * seconds[0]) best = v;
  }
  return (TunedKernel){kernel->key, count, best, variants, seconds};
}

static bool is_judged(const TunedKernel *kernels, int count, const char *key) {
  for (int i = 0; i < count; i++)
    if (strcmp(kernels[i].key, key) == 0) return true;
  return false;
}

static void report(const TunedKernel *kernels, int count, const char *gpu, const char *path) {
  printf("%-50s %12s  %s\n", gpu, "seconds", "variant");
  for (int i = 0; i < count; i++)
    for (int v = 0; v < kernels[i].variant_count; v++)
      if (kernels[i].seconds[v] > 0) printf("%-50s %12.3e  %s%s\n", v == 0 ? kernels[i].key : "", kernels[i].seconds[v], kernels[i].variants[v], v == kernels[i].best ? " <" : "");
  printf("wrote %s\n", path);
}

static int write_best(Tuner *t) {
  const Trial *usual = &t->trials[0];
  TunedKernel *kernels = NULL;
  int count = 0;
  for (int k = 0; k < usual->kernel_count; k++) {
    TunedKernel kernel = judge(t, &usual->kernels[k], k);
    if (kernel.seconds[0] > 0 && !is_judged(kernels, count, kernel.key)) ARENA_PUSH(t->arena, kernels, count, kernel);
  }
  int status = tuning_write(t->arena, t->path, usual->architecture, t->gpu.name, kernels, count);
  if (status == 0 && !t->options->is_quiet) report(kernels, count, t->gpu.name, t->path);
  return status;
}

/* ---- the command ---- */

static int refuse(const char *what) {
  fprintf(stderr, "gnncc: error: --tune %s\n", what);
  return 2;
}

/* Looks at the model before anything is built. */
static int prepare(Tuner *t) {
  Trial *model = &t->trials[0];
  if (t->options->is_shapes_only) return refuse("runs the program, and --shapes does not open its data");
  int status = compile(t, 0, "cost");
  if (status != 0) return status;
  if (!model->is_cuda) return refuse("chooses among kernels of a GPU; --backend=cuda, or a target that has one");
  if (!model->has_train) return refuse("times the steps of training, and this model is not trained");
  t->path = *t->options->tune ? t->options->tune : model->tuning_path;
  t->trial_count = count_trials(model);
  if (!t->path) return refuse("finds no HOME to keep a tuning in; --tune=FILE");
  if (!outfile_may_write(t->path, t->options->is_forced)) return 4;
  return 0;
}

static int find_best(Tuner *t) {
  CudaCompiler cuda;
  int status = measure_gpu_find(t->arena, t->options, t->share_dir, "--tune", in_directory(t, "measure_cuda", 0), &cuda, &t->gpu);
  if (status == 0) status = compile_all(t);
  if (status == 0 && !t->options->is_dry_run) status = take_turns(t);
  if (status != 0 || t->options->is_dry_run) return status;
  if (!*t->options->tune) cache_make(t->arena);
  return write_best(t);
}

int tune(Arena *arena, Options *options, const char *share_dir) {
  Tuner t = {.arena = arena, .options = options, .share_dir = share_dir};
  t.place = workplace_new(arena);
  if (!t.place) return 4;
  int status = prepare(&t);
  if (status == 0) status = find_best(&t);
  if (status == 0 && !options->is_dry_run) options->tuning = t.path;
  workplace_end(t.place, false);
  return status;
}
