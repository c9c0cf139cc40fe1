/* emit_expr: numbers, names and scalar expressions as C. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"

const char *emit_real(Arena *arena, double number) {
  if (isinf(number)) return number > 0 ? "INFINITY" : "-INFINITY";
  if (isnan(number)) return "NAN";
  if (number == floor(number) && fabs(number) < 1e9) return arena_printf(arena, number < 0 ? "(%.0f)" : "%.0f", number);
  const char *text = arena_printf(arena, "%.9g", number);
  if (strtod(text, NULL) != number) text = arena_printf(arena, "%.17g", number);
  return arena_printf(arena, number < 0 ? "((gnn_real)%s)" : "(gnn_real)%s", text);
}

static const char *in_double(Arena *arena, double number) {
  const char *text = arena_printf(arena, "%.9g", number);
  if (strtod(text, NULL) != number) text = arena_printf(arena, "%.17g", number);
  return text;
}

const char *emit_scalar(const Emission *emission, TypedId id) {
  Arena *arena = emission->arena;
  if (id == NO_INDEX) return "0";
  const TypedExpr *e = &emission->program->exprs[id];
  if (e->kind == TYPED_NUMBER) return in_double(arena, e->number);
  if (e->kind == TYPED_OPTION) return arena_printf(arena, "g->option[%d]", (int)e->index);
  const char *a = emit_scalar(emission, e->operand[0]);
  const char *b = e->operand_count > 1 ? emit_scalar(emission, e->operand[1]) : "";
  switch (e->map) {
  case MAP_ADD:
  case MAP_SUB:
  case MAP_MUL:
  case MAP_DIV: return arena_printf(arena, "(%s %s %s)", a, typed_map_name(e->map), b);
  case MAP_POW: return arena_printf(arena, "pow(%s, %s)", a, b);
  case MAP_MAX: return arena_printf(arena, "GNN_MAX(%s, %s)", a, b);
  case MAP_MIN: return arena_printf(arena, "GNN_MIN(%s, %s)", a, b);
  case MAP_NEG: return arena_printf(arena, "-(%s)", a);
  case MAP_RSQRT: return arena_printf(arena, "1 / sqrt(%s)", a);
  case MAP_ABS: return arena_printf(arena, "fabs(%s)", a);
  case MAP_LEAKY_RELU: case MAP_ELU: case MAP_RELU: case MAP_GELU: case MAP_SIGMOID: case MAP_TANH: case MAP_EXP: case MAP_LOG:
  case MAP_SQRT: case MAP_SILU: case MAP_SOFTPLUS: case MAP_LESS: case MAP_LESS_EQUAL: case MAP_EQUAL: case MAP_SIGN: case MAP_COUNT: break;
  }
  return arena_printf(arena, "%s(%s)", typed_map_name(e->map), a);
}

void emit_put(const Emission *emission, FILE *out, const char *text) {
  for (; *text; text++) {
    if (*text == '`') fputs(emission->prefix, out);
    else if (*text == '~')
      for (const char *c = emission->prefix; *c; c++) fputc(toupper((unsigned char)*c), out);
    else fputc(*text, out);
  }
}

void emit_class_weights(const Emission *m, const char *declaration, FILE *out) {
  const TrainSpec *t = &m->program->train;
  fprintf(out, "%s = {", declaration);
  for (int c = 0; c < t->class_weight_count; c++) fprintf(out, "%s%.17g", c ? ", " : "", t->class_weights[c]);
  fprintf(out, "};\n\n");
}
