/* check_bounds: programs whose values no machine can address. Sizes alone are bounded where they are read (check_size); here are products of them, and their sum. */
#include "check.h"

/* 2^47 bytes are what a process on x86-64 can address. */
static const double most_bytes = 140737488355328.0;

static double bytes_of(const Checker *checker, const TypedExpr *e) {
  double bytes = 4 * (double)typed_rows(checker->program->info, e->type.domain);
  for (int d = 0; d < e->type.rank; d++) bytes *= (double)e->type.dim[d].size;
  return bytes;
}

static const char *tebibytes(Checker *checker, double bytes) { return arena_printf(checker->arena, "%.4g TiB", bytes / 1099511627776.0); }

void check_bounds(Checker *checker) {
  const TypedProgram *program = checker->program;
  double all = 0, most = 0;
  const TypedExpr *largest = NULL;
  for (int i = 0; i < program->expr_count; i++) {
    const TypedExpr *e = &program->exprs[i];
    const double bytes = bytes_of(checker, e);
    all += bytes;
    if (bytes <= most) continue;
    most = bytes;
    largest = e;
  }
  if (!largest || all <= most_bytes) return;
  if (most > most_bytes)
    diags_error(checker->diags, "E0113", largest->place, "this value has %s, which is beyond the address space (128 TiB)", tebibytes(checker, most));
  else
    diags_error(checker->diags, "E0113", largest->place, "all values together have %s, which is beyond the address space (128 TiB); this one has %s", tebibytes(checker, all), tebibytes(checker, most));
  if (largest->type.domain != DOMAIN_NONE)
    diags_help(checker->diags, "it is %s for %lld %ss", check_type_text(checker, &largest->type), (long long)typed_rows(program->info, largest->type.domain), check_domain_word(checker, largest->type.domain));
}
