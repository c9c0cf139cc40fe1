/* emit_api: the header of the embedding API, and its functions, each one call of the runtime's job (runtime/app/job.h). */
#include <string.h>

#include "emit.h"
#include "compiler/base/escape.h"

static bool is_node_field(const Emission *m, int f) {
  const TypedField *field = &m->program->fields[f];
  return m->layout->residents->field[f] != NO_INDEX && field->type.domain == DOMAIN_NODE;
}

/* An option whose name is a keyword of C or a member of the struct gets an underscore. */
static const char *member_name(Arena *arena, const char *name) {
  static const char *const taken[] = {"struct_size", "seed", "threads", "deterministic", "devices", "n_devices", "scratch_dir", "takes_nan",
    "alloc", "release", "log", "progress", "user", "auto", "break", "case", "char", "const", "continue", "default", "do", "double",
    "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "class", "new",
    "delete", "template", "this", "private", "public", "protected", "virtual", "operator", "namespace", "using", "try", "catch",
    "throw", "true", "false", "bool", "and", "or", "not", "xor", "asm", "friend", "mutable", "explicit", "export", "typename"};
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
    if (strcmp(taken[i], name) == 0) return arena_printf(arena, "%s_", name);
  return name;
}

static bool is_one_of(const char *const *words, size_t count, const char *text, size_t length) {
  for (size_t i = 0; i < count; i++)
    if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0) return true;
  return false;
}

/* The handle's type is the bare prefix: it must not be a keyword, a local name of the functions below, or a name of the C library
   that gnnrt.h brings along. `gnn` and `pthread` would define functions of the runtime and of the system. The program, too, has this
   name, among the targets of the Makefile and of CMake. */
static bool is_taken_prefix(const char *name) {
  static const char *const words[] = {
      "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for", "goto",
      "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch",
      "typedef", "union", "unsigned", "void", "volatile", "while", "class", "new", "delete", "template", "this", "private", "public",
      "protected", "virtual", "operator", "namespace", "using", "try", "catch", "throw", "true", "false", "bool", "and", "or", "not",
      "xor", "asm", "friend", "mutable", "explicit", "export", "typename", "compl", "bitand", "bitor", "nullptr", "constexpr",
      "decltype", "noexcept", "alignas", "alignof", "typeof", "linux", "unix",
      "main", "given", "job", "options", "result", "status", "taps", "once", "steps", "fields", "weights", "weight", "values", "copies", "extents", "evaluate", "update",
      "forward_backward", "keep_order", "normalised", "source_args", "measure", "code", "image", "kernel_names", "prepare_libraries", "blocks_for", "parts_of",
      "all", "clean", "install", "help", "test", "package", "package_source", "edit_cache", "rebuild_cache",
      "PLAN", "PROGRAM", "AT", "V", "SHARED", "pthread", "gnn", "gnnrt", "index", "rindex", "ffs", "ffsl", "ffsll", "bcmp",
      "bcopy", "bzero", "signgam", "NULL"};
  static const char *const functions[] = {
      "acos", "asin", "atan", "atan2", "cos", "sin", "tan", "acosh", "asinh", "atanh", "cosh", "sinh", "tanh", "exp", "exp2", "exp10",
      "expm1", "log", "log2", "log10", "log1p", "logb", "ilogb", "ldexp", "frexp", "modf", "scalbn", "scalbln", "scalb", "cbrt", "fabs",
      "hypot", "pow", "pow10", "sqrt", "erf", "erfc", "lgamma", "tgamma", "gamma", "ceil", "floor", "nearbyint", "rint", "lrint",
      "llrint", "round", "lround", "llround", "trunc", "fmod", "remainder", "remquo", "drem", "copysign", "nan", "nextafter",
      "nexttoward", "significand", "finite", "isinf", "isnan", "fdim", "fmax", "fmin", "fma", "j0", "j1", "jn", "y0", "y1", "yn",
      "sincos"};
  size_t length = strlen(name), count = sizeof functions / sizeof functions[0];
  bool has_suffix = length > 1 && (name[length - 1] == 'f' || name[length - 1] == 'l');
  bool is_type = length > 2 && strcmp(name + length - 2, "_t") == 0;
  return is_type || is_one_of(words, sizeof words / sizeof words[0], name, length) || is_one_of(functions, count, name, length) ||
         (has_suffix && is_one_of(functions, count, name, length - 1)) || strncmp(name, "gnn_", 4) == 0 || *name == '_' ||
         (*name >= '0' && *name <= '9');
}

const char *emit_prefix(Arena *arena, const char *text) {
  char *name = arena_printf(arena, "%s", text);
  for (char *p = name; *p; p++)
    if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9'))) *p = '_';
  return is_taken_prefix(name) ? arena_printf(arena, "m%s%s", *name >= '0' && *name <= '9' ? "" : "_", name) : name;
}

void emit_header(const Emission *m, FILE *out) {
  fprintf(out, "/* %s.h \302\267 generated by gnncc " GNNCC_VERSION " from %s; do not edit. */\n", m->prefix, escape_comment(m->arena, m->model_path));
  emit_put(m, out,
      "#ifndef ~_H\n#define ~_H\n#include <stddef.h>\n#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n#define ~_ABI 1\n");
  emit_put(m, out, "#define ~_FINGERPRINT ");
  fprintf(out, "\"%s\" /* source + target + data shapes */\n\n", m->fingerprint);
  emit_put(m, out,
      "typedef struct ` `; /* opaque; one per training job */\n\n"
      "typedef enum {\n"
      "  ~_OK = 0,\n"
      "  ~_EINVAL = 1,     /* bad argument, or calls in the wrong order */\n"
      "  ~_ENOMEM = 2,     /* an arena could not be obtained */\n"
      "  ~_EIO = 3,        /* a file or the SSD tier failed */\n"
      "  ~_EDATA = 4,      /* data do not match the shapes the plan was made for */\n"
      "  ~_EDEVICE = 5,    /* device error, no such device */\n"
      "  ~_ENUMERIC = 6,   /* loss or gradient is not finite */\n"
      "  ~_ECANCELLED = 7, /* the progress callback asked to stop */\n"
      "  ~_EVERSION = 8    /* header and object disagree */\n"
      "} `_status;\n\n"
      "typedef enum { ~_DEVICE = 0, ~_HOST = 1, ~_SSD = 2 } `_tier;\n"
      "typedef enum { ~_TRAIN = 0, ~_VALID = 1, ~_TEST = 2, ~_ALL = 3 } `_split;\n\n"
      "typedef struct {\n"
      "  size_t struct_size;                /* set by _options_init */\n"
      "  uint64_t seed;\n"
      "  int threads;                       /* 0: all */\n"
      "  int deterministic;                 /* results always are */\n"
      "  const int *devices;                /* must be NULL: the device is the processor */\n"
      "  int n_devices;\n"
      "  const char *scratch_dir;           /* for the SSD tier */\n"
      "  int takes_nan;                     /* restore takes weights that are not finite */\n");
  for (int i = 0; i < m->program->option_count; i++)
    fprintf(out, "  float %s;\n", member_name(m->arena, m->program->options[i].name));
  emit_put(m, out,
      "  void *(*alloc)(void *user, `_tier, size_t bytes, size_t align); /* NULL: the library's own */\n"
      "  void (*release)(void *user, `_tier, void *, size_t bytes);\n"
      "  void (*log)(void *user, int level, const char *message);\n"
      "  int (*progress)(void *user, int64_t epoch, double loss); /* nonzero: stop */\n"
      "  void *user;\n"
      "} `_options;\n\n"
      "typedef struct {\n  double loss, metric;\n  int64_t count;\n} `_result;\n\n"
      "int `_abi(void);\n"
      "void `_options_init(`_options *);\n"
      "int64_t `_bytes(`_tier);              /* what the plan takes */\n"
      "const char *`_plan_json(void);        /* static, zero-terminated */\n"
      "const char *`_status_text(`_status);\n\n"
      "`_status `_create(const `_options *, ` **);\n"
      "void `_destroy(` *);                  /* NULL is fine */\n"
      "const char *`_error(const ` *);       /* text of the last error */\n\n"
      "/* data: borrowed until destroy, never written. edges are (src, dst) pairs */\n"
      "`_status `_load(` *, const char *path);\n"
      "`_status `_set_edges(` *, const int64_t *src, const int64_t *dst, int64_t n_edges);\n");
  for (int f = 0; f < m->program->field_count; f++) {
    if (!is_node_field(m, f)) continue;
    bool is_label = m->program->fields[f].type.dtype == DTYPE_CLASS;
    emit_put(m, out, "`_status `_set_");
    fprintf(out, is_label ? "%s(" : "%s(", m->program->fields[f].name);
    emit_put(m, out, is_label ? "` *, const int64_t *labels, int64_t n_nodes); /* -1: none */\n" : "` *, const float *, int64_t n_nodes, int64_t n_features);\n");
  }
  emit_put(m, out,
      "`_status `_set_split(` *, `_split, const int64_t *ids, int64_t n);\n\n"
      "/* work */\n"
      "`_status `_reset(` *, uint64_t seed);\n"
      "`_status `_epoch(` *, `_result *);    /* one step */\n"
      "`_status `_train(` *, int64_t epochs, `_result *best);\n"
      "`_status `_eval(` *, `_split, `_result *);\n"
      "`_status `_predict(` *, float *scores, int64_t rows, int64_t cols);\n\n"
      "/* weights by name: \"conv1.lin.weight\" */\n"
      "int `_n_weights(void);\n"
      "const char *`_weight_name(int i);     /* NULL: there are not so many */\n"
      "`_status `_weight(` *, const char *name, float **data, const int64_t **shape, int *rank);\n"
      "`_status `_save(` *, const char *safetensors);\n"
      "`_status `_restore(` *, const char *safetensors);\n\n"
      "struct DLManagedTensorVersioned;\n"
      "`_status `_weight_dlpack(` *, const char *name, struct DLManagedTensorVersioned **);\n\n"
      "#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

void emit_api(const Emission *m, FILE *out) {
  const TypedProgram *p = m->program;
  emit_put(m, out, "\n#ifndef GNN_DOUBLE\n/* ---- the embedding API (`.h) ---- */\n\n"
              "static gnn_job *job_of(` *it) { return (gnn_job *)(void *)it; }\n\n"
              "int `_abi(void) { return ~_ABI; }\n\n"
              "void `_options_init(`_options *options) {\n  if (!options) return;\n  *options = (`_options){.struct_size = sizeof *options};\n");
  for (int i = 0; i < p->option_count; i++)
    fprintf(out, "  options->%s = (float)%.17g;\n", member_name(m->arena, p->options[i].name), p->options[i].value);
  emit_put(m, out, "}\n\n"
              "int64_t `_bytes(`_tier tier) { return gnn_program_bytes(&`_program, tier); }\n\n"
              "const char *`_plan_json(void) { return PLAN; }\n\n"
              "const char *`_status_text(`_status status) { return gnn_status_text((gnn_status)status); }\n\n"
              "`_status `_create(const `_options *given, ` **result) {\n"
              "  `_options own;\n  if (!result) return ~_EINVAL;\n  *result = NULL;\n"
              "  `_options_init(&own);\n  if (!given) given = &own;\n"
              "  if (given->struct_size != sizeof *given) return ~_EVERSION;\n"
              "  if (given->devices) return ~_EDEVICE;\n"
              "  gnn_job_options options;\n  gnn_job_options_init(&options, &`_program);\n");
  if (p->option_count) {
    fprintf(out, "  /* An option left as compiled in keeps the exact value. */\n  const double values[] = {\n");
    for (int i = 0; i < p->option_count; i++) {
      const char *name = member_name(m->arena, p->options[i].name);
      fprintf(out, "    given->%s == own.%s ? %.17g : (double)given->%s,\n", name, name, p->options[i].value, name);
    }
    fprintf(out, "  };\n  options.options = values;\n");
  }
  emit_put(m, out, "  options.seed = given->seed;\n  options.threads = given->threads;\n  options.alloc = given->alloc;\n"
              "  options.release = given->release;\n  options.log = given->log;\n  options.progress = given->progress;\n  options.user = given->user;\n  options.scratch_dir = given->scratch_dir;\n  options.continues_after_nan = given->takes_nan;\n"
              "  gnn_job *job = NULL;\n  const gnn_status status = gnn_job_create(&`_program, &options, &job);\n"
              "  *result = (` *)(void *)job;\n  return (`_status)status;\n}\n\n"
              "void `_destroy(` *it) { gnn_job_destroy(job_of(it)); }\n\n"
              "const char *`_error(const ` *it) { return gnn_job_error((const gnn_job *)(const void *)it); }\n\n"
              "`_status `_load(` *it, const char *path) { return (`_status)gnn_job_load(job_of(it), path); }\n\n"
              "`_status `_set_edges(` *it, const int64_t *src, const int64_t *dst, int64_t n_edges) {\n"
              "  return (`_status)gnn_job_set_edges(job_of(it), src, dst, n_edges);\n}\n\n");
  for (int f = 0; f < p->field_count; f++) {
    if (!is_node_field(m, f)) continue;
    const char *name = p->fields[f].name;
    emit_put(m, out, "`_status `_set_");
    if (p->fields[f].type.dtype == DTYPE_CLASS) {
      fprintf(out, "%s(", name);
      emit_put(m, out, "` *it, const int64_t *labels, int64_t n_nodes) {\n  return (`_status)gnn_job_set_labels(job_of(it), ");
      fprintf(out, "\"%s\", labels, n_nodes);\n}\n\n", name);
    } else {
      fprintf(out, "%s(", name);
      emit_put(m, out, "` *it, const float *values, int64_t n_nodes, int64_t n_features) {\n  return (`_status)gnn_job_set_field(job_of(it), ");
      fprintf(out, "\"%s\", values, n_nodes, n_features);\n}\n\n", name);
    }
  }
  emit_put(m, out, "`_status `_set_split(` *it, `_split split, const int64_t *ids, int64_t n) {\n"
              "  return (`_status)gnn_job_set_split(job_of(it), split, ids, n);\n}\n\n"
              "`_status `_reset(` *it, uint64_t seed) { return (`_status)gnn_job_reset(job_of(it), seed); }\n\n"
              "static `_status hand_out(gnn_status status, const gnn_job_result *from, `_result *to) {\n"
              "  if (to) *to = (`_result){from->loss, from->metric, from->count};\n  return (`_status)status;\n}\n\n"
              "`_status `_epoch(` *it, `_result *result) {\n  gnn_job_result got = {0};\n"
              "  const gnn_status status = gnn_job_epoch(job_of(it), &got);\n  return hand_out(status, &got, result);\n}\n\n"
              "`_status `_train(` *it, int64_t epochs, `_result *best) {\n  gnn_job_result got = {0};\n"
              "  const gnn_status status = gnn_job_train(job_of(it), epochs, &got);\n  return hand_out(status, &got, best);\n}\n\n"
              "`_status `_eval(` *it, `_split split, `_result *result) {\n  gnn_job_result got = {0};\n"
              "  const gnn_status status = gnn_job_eval(job_of(it), split, &got);\n  return hand_out(status, &got, result);\n}\n\n"
              "`_status `_predict(` *it, float *scores, int64_t rows, int64_t cols) {\n"
              "  return (`_status)gnn_job_predict(job_of(it), scores, rows, cols);\n}\n\n");
  fprintf(out, "int %s_n_weights(void) { return %d; }\n\n", m->prefix, p->param_count);
  if (p->param_count)
    emit_put(m, out, "const char *`_weight_name(int i) {\n  return i < 0 || i >= `_n_weights() ? NULL : weights[i].name;\n}\n\n");
  else
    emit_put(m, out, "const char *`_weight_name(int i) {\n  (void)i;\n  return NULL;\n}\n\n");
  emit_put(m, out, "`_status `_weight(` *it, const char *name, float **data, const int64_t **shape, int *rank) {\n"
              "  return (`_status)gnn_job_weight(job_of(it), name, data, shape, rank);\n}\n\n"
              "`_status `_save(` *it, const char *safetensors) { return (`_status)gnn_job_save(job_of(it), safetensors); }\n\n"
              "`_status `_restore(` *it, const char *safetensors) { return (`_status)gnn_job_restore(job_of(it), safetensors); }\n\n"
              "`_status `_weight_dlpack(` *it, const char *name, struct DLManagedTensorVersioned **tensor) {\n"
              "  return (`_status)gnn_job_weight_dlpack(job_of(it), name, tensor);\n}\n#endif\n");
}
