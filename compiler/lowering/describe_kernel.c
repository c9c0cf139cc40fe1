/* describe_kernel: a kernel in one line, as listings, comments and problems show it. */
#include <inttypes.h>

#include <string.h>

#include "fuse.h"

static const char *value_text(const Value *value, bool is_said) { return is_said && value->said ? value->said : value->name; }

static const char *operand_text(const Kernels *kernels, ValueId id, int depth, bool is_said) {
  const Graph *graph = kernels->graph;
  Arena *arena = graph->arena;
  const Value *value = &graph->values[id];
  const TypedProgram *program = graph->program;
  if (value->op == OP_INPUT) return program->fields[value->as.index].name;
  if (value->op == OP_PARAM) return program->params[value->as.index].name;
  if (value->op == OP_OPTION) return program->options[value->as.index].name;
  if (value->op == OP_NUMBER) return arena_printf(arena, "%.6g", value->as.number);
  if (!kernels_is_virtual(kernels, id) || depth == 0) return value_text(value, is_said);
  const char *first = operand_text(kernels, value->operand[0], depth - 1, is_said);
  if (value->op == OP_BROADCAST) return first;
  if (value->op == OP_LIFT) return arena_printf(arena, "%s.%s", value->as.end == END_SRC ? "src" : "dst", first);
  if (value->op == OP_DROPOUT) return arena_printf(arena, "dropout(%s)", first);
  if (value->op != OP_MAP) return value_text(value, is_said);
  const char *name = point_name(value->as.function);
  if (value->operand_count == 1) return arena_printf(arena, "%s(%s)", name, first);
  const char *second = operand_text(kernels, value->operand[1], depth - 1, is_said);
  bool is_infix = strchr("+-*/^", name[0]) != NULL;
  return is_infix ? arena_printf(arena, "(%s %s %s)", first, name, second) : arena_printf(arena, "%s(%s, %s)", name, first, second);
}

/* What a line is made of: names of the anchor and of its operands. */
typedef struct Sentence {
  const Kernels *kernels;
  const Kernel *kernel;
  Arena *arena;
  const Value *anchor;
  const char *name, *a, *b, *last; /* last: of the body */
  bool is_said;
} Sentence;

static const char *says_product(const Sentence *s) { return arena_printf(s->arena, "%s = %s @ %s", s->name, s->a, s->b); }
static const char *says_outer(const Sentence *s) { return arena_printf(s->arena, "%s = sum over rows of %s^T %s", s->name, s->a, s->b); }
static const char *says_sum(const Sentence *s) {
  if (!kernel_sums_rows_too(s->kernel)) return arena_printf(s->arena, "%s = %s of %s", s->name, fold_info[kernel_info[s->kernel->kind].fold].name, s->a);
  return arena_printf(s->arena, "%s = sum of %s, and %s over in-edges in the same walk", s->name, s->a, value_text(&s->kernels->graph->values[s->kernel->body[0]], s->is_said));
}
static const char *says_concat(const Sentence *s) { return arena_printf(s->arena, "%s = %s, %s%s side by side", s->name, s->a, s->b, s->anchor->operand_count > 2 ? ", ..." : ""); }
static const char *says_halo(const Sentence *s) {
  if (s->kernels->graph->program->info->is_of_rank) return arena_printf(s->arena, "%s = %s, and of it what other ranks gather", s->name, s->a);
  return arena_printf(s->arena, "%s = rows of %s for the parts that gather them", s->name, s->a);
}
static const char *says_behind(const Sentence *s) { return arena_printf(s->arena, "%s = %s, and behind them %s", s->name, s->a, s->b); }
static const char *says_columns(const Sentence *s) { return arena_printf(s->arena, "%s = columns of %s for each rank, all rows of its own columns", s->name, s->a); }
static const char *says_back(const Sentence *s) { return arena_printf(s->arena, "%s = %s of the rank's rows, columns of one rank after those of another", s->name, s->a); }
static const char *says_beside(const Sentence *s) { return arena_printf(s->arena, "%s = %s, side by side", s->name, s->a); }
static const char *says_loss(const Sentence *s) { return arena_printf(s->arena, "loss = %s(%s, %s)", loss_names[s->kernels->graph->program->train.loss], s->a, s->b); }
static const char *says_loss_gradient(const Sentence *s) { return arena_printf(s->arena, "%s = derivative of %s(%s, %s)", s->name, loss_names[s->kernels->graph->program->train.loss], s->a, s->b); }
static const char *says_map(const Sentence *s) { return s->last; }

static const char *says_edges(const Sentence *s) {
  Stage stages[MOST_STAGES];
  const int count = kernel_stages(s->kernels, s->kernel, stages);
  if (count > 1) {
    const Value *values = s->kernels->graph->values;
    const char *names = "";
    for (int i = 0; i < count; i++) names = arena_printf(s->arena, "%s%s%s", names, i == 0 ? "" : i == count - 1 ? " and " : ", ", value_text(&values[stages[i].anchor], s->is_said));
    return arena_printf(s->arena, "%s over %s-edges, %s", names, s->anchor->as.end == END_DST ? "in" : "out", s->kernel->is_of_two ? "in one walk" : "row by row");
  }
  const char *fold = fold_info[kernel_info[s->kernel->kind].fold].name, *end = s->anchor->as.end == END_DST ? "in" : "out";
  return arena_printf(s->arena, "%s = %s over %s-edges of %s", s->name, fold, end, s->a);
}

static const char *says_follow(const Sentence *s) { return arena_printf(s->arena, "%s follows %s", s->a, s->b); }

static const char *says_update(const Sentence *s) {
  return s->kernel->body_count ? arena_printf(s->arena, "update of %d weights", 1 + s->kernel->body_count) : arena_printf(s->arena, "update of %s", s->a);
}

static const char *what_is_computed(const Kernels *kernels, const Kernel *kernel, bool is_said) {
  enum { DEPTH = 4 };
  static const char *(*const says[KERNEL_KIND_COUNT])(const Sentence *) = {
#define KERNEL(name, text, what, body, fold, loops, cost, says, variants, cpu, shared, cuda) says_##says,
#include "kernel_kinds.h"
#undef KERNEL
  };
  const Value *anchor = &kernels->graph->values[kernel->anchor];
  const char *a = anchor->operand_count > 0 ? operand_text(kernels, anchor->operand[0], DEPTH, is_said) : "";
  const char *b = anchor->operand_count > 1 ? operand_text(kernels, anchor->operand[1], DEPTH, is_said) : "";
  const char *last = kernel->body_count ? value_text(&kernels->graph->values[kernel->body[kernel->body_count - 1]], is_said) : "";
  return says[kernel->kind](&(Sentence){kernels, kernel, kernels->graph->arena, anchor, value_text(anchor, is_said), a, b, last, is_said});
}

static const char *described(const Kernels *kernels, const Kernel *kernel, bool is_said) {
  const char *what = what_is_computed(kernels, kernel, is_said), *library = library_name(kernel->library);
  if (!kernel->library) return kernel->is_tuned ? arena_printf(kernels->graph->arena, "%s, %s", what, kernel->variant.name) : what;
  bool is_rounded = kernel->library == LIBRARY_CUBLASLT && kernels->precision != PRECISION_FP32;
  return arena_printf(kernels->graph->arena, is_rounded ? "%s, by %s in %s" : "%s, by %s", what, library, precision_name(kernels->precision));
}

const char *kernel_what(const Kernels *kernels, const Kernel *kernel) { return described(kernels, kernel, false); }
const char *kernel_said(const Kernels *kernels, const Kernel *kernel) { return described(kernels, kernel, true); }
