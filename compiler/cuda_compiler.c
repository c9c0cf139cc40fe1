#include "cuda_compiler.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fused multiply-adds are written out: which products a compiler fuses must not decide the bits. */
const char *const cuda_compiler_options[] = {"--std=c++17", "--fmad=false", NULL};

/* ---- what is there ---- */

static const char *home_folder(Arena *arena) {
  static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    if (getenv(variables[i]) && *getenv(variables[i])) return arena_strdup(arena, getenv(variables[i]));
  return access("/usr/local/cuda", X_OK) == 0 ? "/usr/local/cuda" : NULL;
}

static const char *find_nvcc(Arena *arena, const char *home) {
  const char *path = home ? arena_printf(arena, "%s/bin/nvcc", home) : NULL;
  if (path && access(path, X_OK) == 0) return path;
  char *folders = arena_strdup(arena, getenv("PATH") ? getenv("PATH") : ""), *rest = NULL;
  for (char *folder = strtok_r(folders, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
    path = arena_printf(arena, "%s/nvcc", folder);
    if (access(path, X_OK) == 0) return path;
  }
  return NULL;
}

static void *find_nvrtc(Arena *arena, const char *home) {
  static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"};
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++) {
    if (home) library = dlopen(arena_printf(arena, "%s/lib64/%s", home, names[i]), RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

bool cuda_compiler_find(Arena *arena, const char *wanted, CudaCompiler *compiler) {
  *compiler = (CudaCompiler){.home = home_folder(arena)};
  if (!wanted || strcmp(wanted, "nvcc") == 0) compiler->nvcc = find_nvcc(arena, compiler->home);
  if (!compiler->nvcc && (!wanted || strcmp(wanted, "nvrtc") == 0)) compiler->nvrtc = find_nvrtc(arena, compiler->home);
  return compiler->nvcc || compiler->nvrtc;
}

/* ---- NVRTC, by its documented interface ---- */

typedef struct nvrtcProgram_s *nvrtcProgram;

typedef struct Nvrtc {
  int (*create)(nvrtcProgram *program, const char *source, const char *name, int header_count, const char *const *headers, const char *const *names);
  int (*compile)(nvrtcProgram program, int option_count, const char *const *options);
  int (*destroy)(nvrtcProgram *program);
  int (*log_size)(nvrtcProgram program, size_t *size);
  int (*log)(nvrtcProgram program, char *log);
  int (*image_size)(nvrtcProgram program, size_t *size);
  int (*image)(nvrtcProgram program, char *image);
  const char *(*error_string)(int result);
} Nvrtc;

static bool find_function(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static bool find_functions(void *library, bool is_ptx, Nvrtc *n) {
  return find_function(library, "nvrtcCreateProgram", &n->create) && find_function(library, "nvrtcCompileProgram", &n->compile) &&
         find_function(library, "nvrtcDestroyProgram", &n->destroy) && find_function(library, "nvrtcGetProgramLogSize", &n->log_size) &&
         find_function(library, "nvrtcGetProgramLog", &n->log) && find_function(library, "nvrtcGetErrorString", &n->error_string) &&
         find_function(library, is_ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize", &n->image_size) &&
         find_function(library, is_ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN", &n->image);
}

static char *read_text(Arena *arena, const char *path) {
  FILE *in = fopen(path, "rb");
  if (!in) return NULL;
  long size = fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
  char *text = size >= 0 && fseek(in, 0, SEEK_SET) == 0 ? arena_alloc(arena, (size_t)size + 1) : NULL;
  if (text && fread(text, 1, (size_t)size, in) != (size_t)size) text = NULL;
  fclose(in);
  return text;
}

static const char *write_image(Arena *arena, const Nvrtc *n, nvrtcProgram program, const char *output) {
  size_t size = 0;
  int result = n->image_size(program, &size);
  char *image = arena_alloc(arena, size + 1);
  if (result == 0) result = n->image(program, image);
  if (result != 0) return n->error_string(result);
  FILE *out = fopen(output, "wb");
  bool is_written = out && fwrite(image, 1, size, out) == size;
  if (out && fclose(out) != 0) is_written = false;
  return is_written ? NULL : arena_printf(arena, "cannot write %s", output);
}

static const char *compile_log(Arena *arena, const Nvrtc *n, nvrtcProgram program) {
  size_t size = 0;
  if (n->log_size(program, &size) != 0) return "no log";
  char *log = arena_alloc(arena, size + 1);
  return n->log(program, log) == 0 ? log : "no log";
}

const char *cuda_compiler_run_nvrtc(Arena *arena, const CudaCompiler *compiler, const char *path, const char *folder,
                                    const char *architecture, const char *output, bool *is_refused) {
  Nvrtc n;
  *is_refused = false;
  if (!find_functions(compiler->nvrtc, strncmp(architecture, "compute_", 8) == 0, &n)) return "this NVRTC is too old: 11.1 or newer is needed";
  const char *source = read_text(arena, path), *headers[] = {read_text(arena, arena_printf(arena, "%s/gnndevice.cuh", folder))};
  static const char *const names[] = {"gnndevice.cuh"};
  if (!source || !headers[0]) return arena_printf(arena, "cannot read %s", source ? "gnndevice.cuh" : path);
  const char **options = NULL;
  int count = 0;
  for (int i = 0; cuda_compiler_options[i]; i++) ARENA_PUSH(arena, options, count, cuda_compiler_options[i]);
  ARENA_PUSH(arena, options, count, arena_printf(arena, "--gpu-architecture=%s", architecture));
  nvrtcProgram program = NULL;
  int result = n.create(&program, source, path, 1, headers, names);
  if (result != 0) return n.error_string(result);
  result = n.compile(program, count, options);
  enum { INVALID_OPTION = 5, COMPILATION = 6 };
  *is_refused = result == COMPILATION;
  const char *fault = result == 0 ? write_image(arena, &n, program, output) : *is_refused || result == INVALID_OPTION ? compile_log(arena, &n, program) : n.error_string(result);
  n.destroy(&program);
  return fault;
}
