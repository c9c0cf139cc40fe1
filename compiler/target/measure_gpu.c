/* measure_gpu: which GPU is here, for --calibrate and --tune; gnncc --calibrate --backend=cuda: its own kernels, compiled for it, one by one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measurement.h"
#include "compiler/base/escape.h"
#include "compiler/driver/build.h"

static int missing(const char *option, const char *what) {
  fprintf(stderr, "gnncc: error[E0507]: %s needs a GPU and the CUDA toolkit, and %s\n"
                  "   help: gnncc --list targets has machines that need not be here; nvidia-smi tells what this one has\n"
                  "   more: gnncc --explain E0507\n", option, what);
  return 5;
}

/* "sm_90 BYTES BYTES NAME", or what is missing instead. */
static int ask(Arena *arena, const char *option, const char *program, Gpu *gpu) {
  FILE *in = popen(arena_printf(arena, "%s name 2>&1", escape_shell(arena, program)), "r");
  char line[512] = "", architecture[32];
  int name_at = 0;
  if (in && !fgets(line, sizeof line, in)) line[0] = 0;
  int status = in ? pclose(in) : -1;
  line[strcspn(line, "\n")] = 0;
  if (status != 0) return missing(option, *line ? arena_strdup(arena, line) : "asking for one failed");
  if (sscanf(line, "%31s %" SCNd64 " %" SCNd64 " %n", architecture, &gpu->memory_bytes, &gpu->free_bytes, &name_at) < 3 || name_at == 0) return missing(option, "its answer makes no sense");
  for (char *c = line; *c; c++)
    if (*c == '"' || *c == '\\') *c = ' ';
  gpu->architecture = arena_strdup(arena, architecture);
  gpu->name = arena_strdup(arena, line + name_at);
  return 0;
}

int measure_gpu_find(Arena *arena, const Options *options, const char *share_dir, const char *option, const char *program, CudaCompiler *cuda, Gpu *gpu) {
  const char *what = build_missing_for_cuda(arena, options, share_dir, cuda);
  if (what) return missing(option, what);
  int status = build_tool(arena, options, share_dir, cuda, arena_printf(arena, "%s/measure_cuda.c", share_dir), program);
  return status == 0 && !options->is_dry_run ? ask(arena, option, program, gpu) : status;
}

int measure_gpu(Arena *arena, const Options *options, const char *share_dir, Workplace *place, Measurement *m) {
  CudaCompiler cuda;
  const char *program = workplace_file(place, "measure_cuda"), *image = workplace_file(place, "measure_cuda.image");
  int status = measure_gpu_find(arena, options, share_dir, "--calibrate --backend=cuda", program, &cuda, &m->gpu);
  const char *architecture = options->architecture ? options->architecture : m->gpu.architecture ? m->gpu.architecture : "sm_90";
  if (status == 0) status = build_device_tool(arena, options, share_dir, &cuda, arena_printf(arena, "%s/measure_cuda.cu", share_dir), architecture, image);
  if (status == 0 && !options->is_dry_run) status = measurement_run(arena_printf(arena, "'%s' rates '%s'", program, image), m);
  return status;
}
