/* gnncc: the compiler's main. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/base/outfile.h"
#include "compiler/driver/children.h"
#include "compiler/driver/driver.h"
#include "compiler/driver/format_command.h"
#include "compiler/driver/language_server.h"
#include "compiler/driver/problem_command.h"
#include "compiler/explain/views/views.h"
#include "compiler/planner/main.h"
#include "compiler/target/calibrate.h"
#include "compiler/target/tune.h"
#include "runtime/base/open.h"
#include "runtime/base/partial.h"
#include "runtime/data/dgl.h"
#include "runtime/tools/yaml_text.h"

/* As the kernel knows it, or, where there is no /proc, as a shell found it. */
static bool find_itself(Arena *arena, const char *called, char path[PATH_MAX]) {
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (length > 0) return path[length] = 0, true;
  if (strchr(called, '/')) return realpath(called, path) != NULL;
  char *folders = arena_strdup(arena, getenv("PATH") ? getenv("PATH") : ""), *rest = NULL;
  for (char *folder = strtok_r(folders, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
    const char *file = arena_printf(arena, "%s/%s", folder, called);
    if (access(file, X_OK) == 0) return realpath(file, path) != NULL;
  }
  return false;
}

/* std/, targets/ and the runtime lie beside the program: PREFIX/share/gnncc when installed, share/ in the build tree. */
static const char *find_share_dir(Arena *arena, const char *called) {
  char path[PATH_MAX];
  if (!find_itself(arena, called, path)) return "share";
  char *slash = strrchr(path, '/');
  if (slash) *slash = 0;
  const char *beside = arena_printf(arena, "%s/share", path);
  return access(beside, R_OK) == 0 ? beside : arena_printf(arena, "%s/../share/gnncc", path);
}

/* Views of a run alone need no model. */
static int view_measured_run(Arena *arena, const Options *options) {
  ViewRequest *requests = arena_alloc(arena, (size_t)(options->emit_count + 1) * sizeof *requests);
  for (int i = 0; i < options->emit_count; i++) requests[i] = (ViewRequest){options->emits[i].kind, options->emits[i].path};
  return view_file(options->measured, requests, options->emit_count, options->is_forced);
}

/* --sweep of several models: each by itself, then all on one chart. */
static int sweep_models(const Options *options, const char *share_dir) {
  json_t *sweeps = json_array();
  Options one = *options;
  one.sweeps = sweeps;
  int status = driver_compile(&one, share_dir);
  for (int i = 0; i < options->more_count && status == 0; i++) {
    one.input = options->more[i];
    status = driver_compile(&one, share_dir);
  }
  for (int i = 0; i < options->emit_count && status == 0; i++)
    if (strcmp(options->emits[i].kind, "sweep") == 0) status = view_sweeps_file(sweeps, options->emits[i].path, options->is_forced);
  json_decref(sweeps);
  return status;
}

int main(int argc, char **argv) {
  gnn_read_yaml = gnn_yaml_text;
  gnn_open_standard();
  gnn_partial_on_signals(1, children_stop);
  if (argc > 1 && strcmp(argv[1], "plan") == 0) {
    if (!options_are_text(argc, argv)) return 2;
    return outfile_end_stdout(problem_command_is_asked(argc - 1, argv + 1) ? problem_command(argc - 1, argv + 1) : planner_main(argc - 1, argv + 1));
  }
  Arena *arena = arena_new();
  Options options;
  const char *share_dir = find_share_dir(arena, argv[0]);
  int status = options_parse(arena, argc, argv, share_dir, driver_passes(), &options);
  if (status < 0 && options.is_serving) status = language_server(&options, share_dir);
  if (status < 0 && options.formatting && options.input) status = format_command(&options);
  if (status < 0 && options.compare) status = view_compare_files(options.compare, options.input);
  if (status < 0 && !options.input && options.measured) status = view_measured_run(arena, &options);
  if (status < 0 && options.tune && options.input) {
    int tuned = tune(arena, &options, share_dir);
    if (tuned != 0) status = tuned;
  }
  if (status < 0 && options.more_count) status = sweep_models(&options, share_dir);
  if (status < 0) status = options.calibrate ? calibrate(&options, share_dir) : driver_compile(&options, share_dir);
  arena_free(arena);
  return outfile_end_stdout(status);
}
