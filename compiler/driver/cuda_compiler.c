#include "cuda_compiler.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fused multiply-adds are written out: which products a compiler fuses must not decide the bits. */
const char *const cuda_compiler_options[] = {"--std=c++17", "--fmad=false", NULL};

/* ---- what is there ---- */

/* Below the home of NVIDIA's own toolkit, of a distribution's (/usr), of conda's. */
#ifdef __aarch64__
static const char *const library_folders[] = {"lib64", "lib/aarch64-linux-gnu", "lib", "targets/sbsa-linux/lib", NULL};
static const char *const include_folders[] = {"include", "targets/sbsa-linux/include", NULL};
#else
static const char *const library_folders[] = {"lib64", "lib/x86_64-linux-gnu", "lib", "targets/x86_64-linux/lib", NULL};
static const char *const include_folders[] = {"include", "targets/x86_64-linux/include", NULL};
#endif
static const char *const runtime_library = "libcudart_static.a";

static const char *folder_with(Arena *arena, const char *home, const char *const *folders, const char *file) {
  for (int i = 0; home && folders[i]; i++)
    if (access(arena_printf(arena, "%s/%s/%s", home, folders[i], file), R_OK) == 0) return arena_printf(arena, "%s/%s", home, folders[i]);
  return NULL;
}

static const char *program_in_path(Arena *arena, const char *name) {
  char *folders = arena_strdup(arena, getenv("PATH") ? getenv("PATH") : ""), *rest = NULL;
  for (char *folder = strtok_r(folders, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
    const char *path = arena_printf(arena, "%s/%s", folder, name);
    if (access(path, X_OK) == 0) return path;
  }
  return NULL;
}

/* The folder above the one that the file is in; links to folders are resolved, one that is the file itself is not. */
static const char *home_of(Arena *arena, const char *file) {
  char *folder = arena_strdup(arena, file), resolved[PATH_MAX];
  *strrchr(folder, '/') = 0;
  return realpath(arena_printf(arena, "%s/..", folder), resolved) ? arena_strdup(arena, resolved) : NULL;
}

/* nvcc may be a link into its toolkit, or lie where a distribution puts everything (and then be a link to somewhere else all the same). */
static const char *home_by_path(Arena *arena, const char *nvcc) {
  char resolved[PATH_MAX];
  if (!nvcc || !strchr(nvcc, '/')) nvcc = program_in_path(arena, nvcc ? nvcc : "nvcc");
  if (!nvcc || !realpath(nvcc, resolved)) return NULL;
  const char *real = home_of(arena, resolved), *apparent = home_of(arena, nvcc);
  if (folder_with(arena, real, library_folders, runtime_library)) return real;
  return folder_with(arena, apparent, library_folders, runtime_library) ? apparent : real;
}

static const char *home_folder(Arena *arena, const char *nvcc) {
  static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    if (getenv(variables[i]) && *getenv(variables[i])) return arena_strdup(arena, getenv(variables[i]));
  const char *named = nvcc ? home_by_path(arena, nvcc) : NULL;
  if (named) return named;
  return access("/usr/local/cuda", X_OK) == 0 ? "/usr/local/cuda" : home_by_path(arena, NULL);
}

static const char *find_nvcc(Arena *arena, const char *home) {
  const char *path = home ? arena_printf(arena, "%s/bin/nvcc", home) : NULL;
  return path && access(path, X_OK) == 0 ? path : program_in_path(arena, "nvcc");
}

static void *find_nvrtc(Arena *arena, const char *folder) {
  static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"};
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++) {
    if (folder) library = dlopen(arena_printf(arena, "%s/%s", folder, names[i]), RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

/* CUDART_VERSION. */
static int version_of(Arena *arena, const char *headers) {
  static const char word[] = "#define CUDART_VERSION";
  size_t length;
  const char *text = headers ? arena_read_file(arena, arena_printf(arena, "%s/cuda_runtime_api.h", headers), &length) : NULL, *at = text ? strstr(text, word) : NULL;
  return at ? atoi(at + strlen(word)) : 0;
}

bool cuda_compiler_find(Arena *arena, const char *wanted, const char *nvcc, CudaCompiler *compiler) {
  const char *home = home_folder(arena, nvcc), *libraries = folder_with(arena, home, library_folders, runtime_library);
  const char *headers = folder_with(arena, home, include_folders, "cuda_runtime_api.h");
  const bool is_named = nvcc != NULL;
  compiler->has_runtime = libraries != NULL;
  compiler->libraries = libraries || !home ? libraries : arena_printf(arena, "%s/lib64", home);
  compiler->headers = headers || !home ? headers : arena_printf(arena, "%s/include", home);
  compiler->version = version_of(arena, headers);
  if (nvcc && !strchr(nvcc, '/')) nvcc = program_in_path(arena, nvcc);
  else if (nvcc && access(nvcc, X_OK) != 0) nvcc = NULL;
  compiler->nvcc = wanted && strcmp(wanted, "nvcc") != 0 ? NULL : is_named ? nvcc : find_nvcc(arena, home);
  compiler->nvrtc = !compiler->nvcc && (wanted ? strcmp(wanted, "nvrtc") == 0 : !is_named) ? find_nvrtc(arena, compiler->libraries) : NULL;
  return compiler->nvcc || compiler->nvrtc;
}

/* ---- the GPU, by the driver's documented interface ---- */

static bool find_function(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

const char *cuda_compiler_native(Arena *arena) {
  enum { FIRST_DEVICE = 0, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };
  int (*initialise)(unsigned flags), (*get)(int *device, int ordinal), (*attribute)(int *value, int which, int device);
  int device, major, minor;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const bool is_there = driver && find_function(driver, "cuInit", &initialise) && find_function(driver, "cuDeviceGet", &get) && find_function(driver, "cuDeviceGetAttribute", &attribute) &&
                        initialise(0) == 0 && get(&device, FIRST_DEVICE) == 0 && attribute(&major, CAPABILITY_MAJOR, device) == 0 && attribute(&minor, CAPABILITY_MINOR, device) == 0;
  return is_there ? arena_printf(arena, "sm_%d%d", major, minor) : NULL;
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

static bool find_functions(void *library, bool is_ptx, Nvrtc *n) {
  return find_function(library, "nvrtcCreateProgram", &n->create) && find_function(library, "nvrtcCompileProgram", &n->compile) &&
         find_function(library, "nvrtcDestroyProgram", &n->destroy) && find_function(library, "nvrtcGetProgramLogSize", &n->log_size) &&
         find_function(library, "nvrtcGetProgramLog", &n->log) && find_function(library, "nvrtcGetErrorString", &n->error_string) &&
         find_function(library, is_ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize", &n->image_size) &&
         find_function(library, is_ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN", &n->image);
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
  size_t length;
  const char *source = arena_read_file(arena, path, &length), *headers[] = {arena_read_file(arena, arena_printf(arena, "%s/gnndevice.cuh", folder), &length)};
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
