/* emit_names: which names the emitted C has already. */
#include <string.h>

#include "emit.h"

static bool is_one_of(const char *const *words, size_t count, const char *text, size_t length) {
  for (size_t i = 0; i < count; i++)
    if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0) return true;
  return false;
}

#define IS_ONE_OF(words, text, length) is_one_of(words, sizeof(words) / sizeof((words)[0]), text, length)

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool emit_is_keyword(const char *name) {
  static const char *const keywords[] = {
      "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long",
      "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "asm",
      "typeof",
      /* and those of C++, for hosts and for CUDA */
      "alignas", "alignof", "and", "bitand", "bitor", "bool", "catch", "class", "compl", "concept", "constexpr", "decltype", "delete", "explicit", "export", "false",
      "friend", "mutable", "namespace", "new", "noexcept", "not", "nullptr", "operator", "or", "private", "protected", "public", "requires", "template", "this", "throw",
      "true", "try", "typeid", "typename", "using", "virtual", "xor"};
  return IS_ONE_OF(keywords, name, strlen(name));
}

/* Of the C library's headers, of the runtime's and of the emitted source: the preprocessor knows no scopes. */
static bool is_macro(const char *name) {
  static const char *const macros[] = {"NULL", "EOF", "NAN", "INFINITY", "BUFSIZ", "RAND_MAX", "CLOCKS_PER_SEC", "SHARED", "PROGRAM", "PLAN", "IN_DOUBLE", "errno", "stdin",
                                       "stdout", "stderr", "math_errhandling", "linux", "unix"};
  static const char *const stems[] = {"GNN_", "HUGE_", "M_", "FP_", "INT", "UINT", "PTRDIFF_", "SIZE_", "WCHAR_", "KERNEL_", "AT_", "EDGES_", "NODES_", "KEEP_", "MATH_", "EXIT_", "CUDA", "FLT_",
                                      "DBL_", "SIG_"};
  for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++)
    if (strncmp(name, stems[i], strlen(stems[i])) == 0) return true;
  return IS_ONE_OF(macros, name, strlen(name));
}

bool emit_is_reserved(const char *name) {
  static const char *const locals[] = {
      "r", "e", "g", "s", "t", "i", "j", "k", "l", "m", "src", "dst", "acc", "begin", "end", "task", "context", "edges", "part", "to", "block", "last", "lane", "lanes",
      "slot", "drop", "walkers", "walk", "walker", "scratch", "sums", "order", "blocks", "at", "run", "sum", "element", "place", "step", "rows", "tile", "row", "column", "until",
      "from", "product", "own", "n", "word", "first", "inner", "code", "edge_code", "halo", "to_part", "features", "first_column", "end_column", "far_part", "row_parts", "first_edge", "end_edge", "first_labelled", "end_labelled", "here", "own_rows"};
  size_t length = strlen(name);
  bool is_type = length > 2 && strcmp(name + length - 2, "_t") == 0;
  return is_type || emit_is_keyword(name) || is_macro(name) || IS_ONE_OF(locals, name, length) || strncmp(name, "gnn_", 4) == 0 || strncmp(name, "drop_", 5) == 0 ||
         strncmp(name, "place_", 6) == 0 || strncmp(name, "inner_", 6) == 0 || strncmp(name, "kept_", 5) == 0 || strncmp(name, "row_of_", 7) == 0 ||
         (length > 5 && strcmp(name + length - 5, "_each") == 0) || *name == '_' || is_digit(*name);
}

/* The functions of steps and of the kernels that they share, "step_4", "matmul_16x4", and where parts of sparse features begin. */
static bool is_of_steps(const char *name) {
  static const char *const stems[] = {"step_", "update_weight_", "matmul_", "outer_", "spmm_", "spmm_halo_", "spmm_pieces_", "sparse_outer_pieces_", "sparse_matmul_", "sparse_outer_", "part_rows_", "part_entries_", "part_column_entries_", "part_columns_"};
  for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++)
    if (strncmp(name, stems[i], strlen(stems[i])) == 0 && is_digit(name[strlen(stems[i])])) return true;
  return strcmp(name, "update_weight") == 0;
}

/* The handle's type is the bare prefix: it must not be a keyword, a name of the emitted functions, or a name of the C library that
   gnnrt.h brings along. `gnn` and `pthread` would define functions of the runtime and of the system. The program, too, has this name,
   among the targets of the Makefile and of CMake. */
static bool is_taken_prefix(const char *name) {
  static const char *const words[] = {
      "main", "given", "own", "numbers", "file_fields", "metrics", "class_weights", "rates", "job", "options", "result", "status", "taps", "once", "steps", "fields", "weights", "weight", "values", "copies", "extents",
      "evaluate", "update", "forward_backward", "keep_order", "keep_forward_backward", "keep_update", "keep_evaluate", "normalised", "source_args", "gradient_parts", "part_first", "row_parts", "part_in", "part_out", "pairs_in", "pairs_out", "pairs_of_edges", "gathered", "at_send", "measure",
      "code", "image", "kernel_names", "prepare_libraries", "blocks_for", "parts_of", "walkers_of", "all", "clean", "install", "help", "test", "package", "package_source",
      "edit_cache", "rebuild_cache", "PLAN", "PROGRAM", "V", "K", "P", "SHARED", "pthread", "gnn", "gnnrt", "index", "rindex", "ffs", "ffsl", "ffsll", "bcmp", "bcopy",
      "bzero", "signgam"};
  static const char *const functions[] = {
      "acos", "asin", "atan", "atan2", "cos", "sin", "tan", "acosh", "asinh", "atanh", "cosh", "sinh", "tanh", "exp", "exp2", "exp10",
      "expm1", "log", "log2", "log10", "log1p", "logb", "ilogb", "ldexp", "frexp", "modf", "scalbn", "scalbln", "scalb", "cbrt", "fabs",
      "hypot", "pow", "pow10", "sqrt", "erf", "erfc", "lgamma", "tgamma", "gamma", "ceil", "floor", "nearbyint", "rint", "lrint",
      "llrint", "round", "lround", "llround", "trunc", "fmod", "remainder", "remquo", "drem", "copysign", "nan", "nextafter",
      "nexttoward", "significand", "finite", "isinf", "isnan", "fdim", "fmax", "fmin", "fma", "j0", "j1", "jn", "y0", "y1", "yn",
      "sincos"};
  static const char *const library[] = { /* of stdlib.h and string.h */
      "abort", "abs", "aligned_alloc", "alloca", "arc4random", "atexit", "atof", "atoi", "atol", "atoll", "bsearch", "calloc", "clearenv", "div", "drand48", "ecvt",
      "erand48", "exit", "fcvt", "free", "gcvt", "getenv", "getloadavg", "getsubopt", "initstate", "jrand48", "labs", "lcong48", "ldiv", "llabs", "lldiv",
      "lrand48", "malloc", "mblen", "mbstowcs", "mbtowc", "memccpy", "memchr", "memcmp", "memcpy", "memmem", "memmove", "memset", "mkdtemp", "mkstemp", "mktemp",
      "mrand48", "nrand48", "on_exit", "pselect", "putenv", "qsort", "quick_exit", "rand", "rand_r", "random", "realloc", "reallocarray", "realpath", "rpmatch",
      "seed48", "select", "setenv", "setstate", "srand", "srand48", "srandom", "stpcpy", "stpncpy", "strcasecmp", "strcat", "strchr", "strcmp", "strcoll", "strcpy",
      "strcspn", "strdup", "strerror", "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strndup", "strnlen", "strpbrk", "strrchr", "strsep", "strsignal",
      "strspn", "strstr", "strtod", "strtof", "strtok", "strtol", "strtold", "strtoll", "strtoq", "strtoul", "strtoull", "strtouq", "strxfrm", "system", "unsetenv",
      "valloc", "wcstombs", "wctomb"};
  size_t length = strlen(name);
  bool has_suffix = length > 1 && (name[length - 1] == 'f' || name[length - 1] == 'l');
  bool is_type = length > 2 && strcmp(name + length - 2, "_t") == 0;
  return is_type || emit_is_keyword(name) || is_macro(name) || is_of_steps(name) || IS_ONE_OF(words, name, length) || IS_ONE_OF(library, name, length) || IS_ONE_OF(functions, name, length) ||
         (has_suffix && IS_ONE_OF(functions, name, length - 1)) || strncmp(name, "gnn_", 4) == 0 || *name == '_' || is_digit(*name);
}

static bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c); }

bool cpu_name_is_right(const char *name) {
  if (!is_alphanumeric(*name) || strlen(name) > 100) return false;
  for (; *name; name++)
    if (!is_alphanumeric(*name) && !strchr("-+._", *name)) return false;
  return true;
}

const char *emit_prefix(Arena *arena, const char *text) {
  const char *name = arena_identifier(arena, text);
  return is_taken_prefix(name) ? arena_printf(arena, "m%s%s", is_digit(*name) ? "" : "_", name) : name;
}
