#include "emit_arguments.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/core/blocks.h"

typedef struct ElementInfo {
  const char *type, *constant_type; /* of a pointer */
  const char *macro;          /* a constant place in the arena as such a pointer */
  const char *kept_macro;     /* one of the order that keeps everything; for the processor */
  const char *argument_macro; /* an argument; for CUDA */
} ElementInfo;

static const ElementInfo element_info[ELEMENT_KIND_COUNT] = {
    [ELEMENTS_REAL] = {"gnn_real *", "const gnn_real *", "V", "K", "P"},
    [ELEMENTS_HALF] = {"gnn_half *", "const gnn_half *", "V_HALF", "K_HALF", "P_HALF"},
    [ELEMENTS_BITS] = {"uint32_t *", "const uint32_t *", "V_BITS", "K_BITS", "P_BITS"},
    [ELEMENTS_DOUBLE] = {"double *", "const double *", "V_DOUBLES", "K_DOUBLES", "P_DOUBLES"},
    [ELEMENTS_LABELS] = {"int32_t *", "const int32_t *", "V_LABELS", "K_LABELS", "P_LABELS"},
    [ELEMENTS_OFFSETS] = {"int64_t *", "const int64_t *", "V_OFFSETS", "K_OFFSETS", "P_OFFSETS"}};

static bool is_for_cpu(const Arguments *a) { return a->emission->backend == BACKEND_CPU; }

static ElementKind elements_of(const Kernels *kernels, ValueId value) {
  if (kernels->graph->values[kernels->storage[value]].shape.element == ELEMENT_BIT) return ELEMENTS_BITS;
  return kernels_is_half(kernels, value) ? ELEMENTS_HALF : ELEMENTS_REAL;
}

static bool is_taken(const Arguments *a, const char *name) {
  for (int i = 0; i < a->count; i++)
    if (strcmp(a->list[i].name, name) == 0) return true;
  return false;
}

static const char *fresh_name(const Arguments *a, const char *base) {
  const char *name = base;
  for (int n = 2; (n == 2 && emit_is_reserved(name)) || is_taken(a, name); n++)
    name = arena_printf(a->emission->arena, *base >= '0' && *base <= '9' ? "v%s_%d" : "%s_%d", base, n);
  return name;
}

static Argument *added(Arguments *a, Argument argument) {
  ARENA_PUSH(a->emission->arena, a->list, a->count, argument);
  return &a->list[a->count - 1];
}

static Argument *argument_of(Arguments *a, ArgumentKind kind, ValueId value, bool is_written) {
  const Kernels *kernels = a->step->kernels;
  const ValueId storage = kernels->storage[value];
  for (int i = 0; i < a->count; i++)
    if (a->list[i].kind == kind && a->list[i].value == storage) {
      a->list[i].is_written |= is_written;
      return &a->list[i];
    }
  const char *name = kernels->graph->values[storage].name, *suffix = kind == ARGUMENT_PIECES && kernels->graph->values[storage].op != OP_HALO ? "_pieces" : "";
  return added(a, (Argument){.kind = kind, .name = fresh_name(a, arena_printf(a->emission->arena, "%s%s", name, suffix)), .elements = elements_of(kernels, value), .is_written = is_written, .value = storage});
}

static Argument *value_argument(Arguments *a, ValueId value, bool is_written) { return argument_of(a, ARGUMENT_VALUE, value, is_written); }

static Argument *only_argument(Arguments *a, ArgumentKind kind, const char *name, ElementKind elements) {
  for (int i = 0; i < a->count; i++)
    if (a->list[i].kind == kind) return &a->list[i];
  return added(a, (Argument){.kind = kind, .name = name, .elements = elements, .is_written = true});
}

/* Of several things of one kind, told apart by their names. */
static Argument *named_argument(Arguments *a, Argument argument) {
  for (int i = 0; i < a->count; i++)
    if (strcmp(a->list[i].name, argument.name) == 0) return &a->list[i];
  return added(a, argument);
}

static const char *at(const Arguments *a, const Argument *argument, unsigned *uses) {
  *uses |= is_for_cpu(a) ? USES_STEP : USES_RUN;
  if (is_for_cpu(a)) return arena_printf(a->emission->arena, "s->%s", argument->name);
  return arena_printf(a->emission->arena, "%s(%s)", element_info[argument->elements].argument_macro, argument->name);
}

const char *argument_at_value(Arguments *a, ValueId value, bool is_written, unsigned *uses) { return at(a, value_argument(a, value, is_written), uses); }
const char *argument_name_of_value(Arguments *a, ValueId value, bool is_written) { return value_argument(a, value, is_written)->name; }

const char *argument_at_pieces(Arguments *a, ValueId value, bool is_written, unsigned *uses) {
  const Argument *argument = argument_of(a, ARGUMENT_PIECES, value, is_written);
  *uses |= USES_RUN;
  return is_for_cpu(a) ? at(a, argument, uses) : arena_printf(a->emission->arena, "place_%s", argument->name);
}

bool step_gathers(const Step *step, ValueId value) { return step->part && parts_gathers(step->parts, &step->kernels->kernels[step->kernel], value); }

const char *argument_name_of_pieces(Arguments *a, ValueId value, bool is_written) { return argument_of(a, ARGUMENT_PIECES, value, is_written)->name; }

const char *argument_at_labels(Arguments *a, ValueId field, unsigned *uses) {
  Argument *labels = value_argument(a, field, false);
  labels->elements = ELEMENTS_LABELS;
  return at(a, labels, uses);
}

const char *argument_at_node_ids(Arguments *a, unsigned *uses) {
  const ValueId ids = a->step->kernels->graph->node_ids;
  if (ids != NO_VALUE) return argument_at_labels(a, ids, uses);
  *uses |= USES_RUN;
  return "g->node_id";
}

const char *argument_at_offsets(Arguments *a, ValueId offsets, unsigned *uses) {
  Argument *argument = value_argument(a, offsets, false);
  argument->elements = ELEMENTS_OFFSETS;
  return at(a, argument, uses);
}

const char *argument_at_scratch(Arguments *a, ElementKind elements, unsigned *uses) {
  return at(a, only_argument(a, ARGUMENT_SCRATCH, "scratch", elements), uses);
}

const char *argument_at_sums(Arguments *a, ElementKind elements, unsigned *uses) { return at(a, only_argument(a, ARGUMENT_SUMS, "sums", elements), uses); }

static const char *offset(const Arguments *a, const Argument *argument) { return arena_printf(a->emission->arena, "place_%s", argument->name); }

const char *argument_offset_of_value(Arguments *a, ValueId value, bool is_written) { return offset(a, value_argument(a, value, is_written)); }
const char *argument_offset_of_scratch(Arguments *a) { return offset(a, only_argument(a, ARGUMENT_SCRATCH, "scratch", ELEMENTS_REAL)); }
const char *argument_offset_of_sums(Arguments *a) { return offset(a, only_argument(a, ARGUMENT_SUMS, "sums", ELEMENTS_REAL)); }

const char *argument_named_value(Arguments *a, const char *name, ValueId value, bool is_written, unsigned *uses) {
  return at(a, named_argument(a, (Argument){.kind = ARGUMENT_VALUE, .name = name, .elements = elements_of(a->step->kernels, value), .is_written = is_written,
                                            .value = a->step->kernels->storage[value]}), uses);
}

const char *argument_named_block(Arguments *a, const char *name, int block, unsigned *uses) {
  return at(a, named_argument(a, (Argument){.kind = ARGUMENT_RESIDENT, .name = name, .is_written = true, .block = block}), uses);
}

static const char *number_text(const Arguments *a, const Argument *argument, unsigned *uses) {
  *uses |= is_for_cpu(a) ? USES_STEP : 0;
  return is_for_cpu(a) ? arena_printf(a->emission->arena, "s->%s", argument->name) : argument->name;
}

const char *argument_number(Arguments *a, const char *name, int64_t number, unsigned *uses) {
  return number_text(a, named_argument(a, (Argument){.kind = ARGUMENT_NUMBER, .name = name, .number = number}), uses);
}

const char *argument_order(Arguments *a, unsigned *uses) { return number_text(a, named_argument(a, (Argument){.kind = ARGUMENT_ORDER, .name = "order"}), uses); }

/* ---- the parameters, and what is passed ---- */

bool argument_is_place(const Argument *argument) { return argument->kind != ARGUMENT_NUMBER && argument->kind != ARGUMENT_ORDER; }

const char *argument_type(const Argument *argument) {
  const ElementInfo *info = &element_info[argument->elements];
  if (argument->kind == ARGUMENT_PIECES) return "const int64_t *";
  return !argument_is_place(argument) ? "int64_t " : argument->is_written ? info->type : info->constant_type;
}

static const Block *scratch_of(const Layout *y, const Step *step) {
  for (int i = y->resident_count; i < y->count; i++) {
    const Block *b = &y->blocks[i];
    if (b->kind == BLOCK_SCRATCH && b->value == NO_VALUE && !b->is_sums && b->first == step->number - 1) return b;
  }
  return NULL;
}

/* Of the plan's, whatever the order: it lies at the same place in each. */
static const Block *resident_passed(const Emission *m, const Argument *argument, const Step *step) {
  if (argument->kind == ARGUMENT_RESIDENT) return &m->layout->blocks[argument->block];
  return argument->kind == ARGUMENT_VALUE ? resident_of_value(m->layout->residents, step->kernels->graph, argument->value) : NULL;
}

static const Block *block_passed(const Argument *argument, const Schedule *schedule, const Layout *layout, const Step *step) {
  switch (argument->kind) {
  case ARGUMENT_VALUE: return layout_at(layout, step->kernels, argument->value, step->part, step->number - 1);
  case ARGUMENT_SCRATCH: return scratch_of(layout, step);
  case ARGUMENT_SUMS: return layout_of_sums(layout, schedule, step->number - 1);
  case ARGUMENT_PIECES: case ARGUMENT_RESIDENT: case ARGUMENT_NUMBER: case ARGUMENT_ORDER: break;
  }
  return NULL;
}


/* The steps of a part count its rows as those of the value, so what they are told is where row 0 would lie; it is moved to a row of the
 * part before anything is read. In numbers on the processor, in bytes on a GPU. */
static int64_t bytes_before_rows(const Emission *m, const Block *block) {
  if (block->part < 2 || block->value == NO_VALUE || block->kernels->graph->values[block->value].op == OP_HALO) return 0;
  return parts_bytes_before(schedule_problem(m->schedule, block->kernels)->parts, block->value, block->part);
}

static const Parts *parts_of_emission(const Emission *m) { return m->evaluation_plan->problem->parts; }

const char *emit_part_row(const Emission *m, const char *part) {
  const Parts *parts = parts_of_emission(m);
  if (parts->ranks) return arena_printf(m->arena, "gnn_part_row(g, %s)", part);
  return arena_printf(m->arena, "g->blocks.first[%s * %" PRId64 "]", part, INT64_C(1) << (gnn_block_levels(m->program->info->nodes) - parts->levels));
}

/* Where the rows of a part of a rank begin is known when it runs. */
static const char *rows_before(const Emission *m, const Block *block, int unit_bytes) {
  const Value *value = &block->kernels->graph->values[block->value];
  const char *row = emit_part_row(m, arena_printf(m->arena, "%d", block->part - 1));
  if (value->shape.domain == DOMAIN_EDGE) row = arena_printf(m->arena, "gnn_part_edge(g, %d)", block->part - 1);
  return arena_printf(m->arena, " - %s * %" PRId64, row, kernels_bytes(block->kernels, block->value) / graph_rows(block->kernels->graph, value->shape.domain) / unit_bytes);
}

const char *argument_before_rows(const Emission *m, const Block *block) {
  const int64_t bytes = bytes_before_rows(m, block);
  if (bytes == 0) return "";
  const Op op = block->kernels->graph->values[block->value].op;
  const int number_bytes = op == OP_OFFSETS || op == OP_ENTRY_OFFSETS || op == OP_OUT_EDGES || op == OP_EDGE_IDS ? 8 : kernels_is_half(block->kernels, block->value) ? 2 : 4;
  const int unit_bytes = m->backend == BACKEND_CUDA ? 1 : number_bytes;
  return parts_of_emission(m)->ranks ? rows_before(m, block, unit_bytes) : arena_printf(m->arena, " - %" PRId64, bytes / unit_bytes);
}

int argument_count(const Emission *m, const Argument *argument) { return argument->kind == ARGUMENT_PIECES ? parts_of_emission(m)->count : 1; }

static int piece_passed(const Argument *argument, const Step *step, int other) {
  if (!parts_is_halo(step->parts, argument->value)) return other;
  return argument->is_written ? parts_halo_piece(step->parts, argument->value, other, step->part) : parts_halo_piece(step->parts, argument->value, step->part, other);
}

/* Of each part in turn, in bytes; where it has none, nobody asks for them. Steps one after the other mostly gather from the same places. */
static const char *pieces_passed(const Emission *m, const Argument *argument, const Layout *layout, const Step *step, PieceLists *lists, FILE *out) {
  const char *text = "", *places = layout == m->layout ? "AT" : "KEEP";
  for (int other = 1; other <= step->parts->count; other++) {
    const int piece = piece_passed(argument, step, other);
    const Block *block = piece ? layout_at(layout, step->kernels, argument->value, piece, step->number - 1) : NULL;
    const int64_t before = block ? bytes_before_rows(m, block) : 0;
    const char *one = !block ? "-1" : arena_printf(m->arena, before ? "%s_%s - %" PRId64 : "%s_%s", places, block->name, before);
    text = arena_printf(m->arena, "%s%s%s", text, other > 1 ? ", " : "", one);
  }
  int number = 0;
  while (number < lists->count && strcmp(lists->texts[number], text) != 0) number++;
  if (number == lists->count) {
    ARENA_PUSH(m->arena, lists->texts, lists->count, text);
    fprintf(out, "  static const int64_t pieces_%d[] = {%s};\n", number + 1, text);
  }
  return arena_printf(m->arena, "pieces_%d", number + 1);
}

const char *arguments_passed(const Emission *m, const Arguments *a, const Schedule *schedule, const Layout *layout, const Step *step, PieceLists *lists, FILE *out) {
  const bool is_kept = layout != m->layout;
  const char *text = "";
  for (int i = 0; i < a->count; i++) {
    const Argument *argument = &a->list[i];
    if (argument->kind == ARGUMENT_PIECES) {
      text = arena_printf(m->arena, "%s, %s", text, pieces_passed(m, argument, layout, step, lists, out));
      continue;
    }
    const Block *resident = resident_passed(m, argument, step), *block = resident ? resident : block_passed(argument, schedule, layout, step);
    const bool is_own = is_kept && !resident;
    const ElementInfo *info = &element_info[argument->elements];
    if (!argument_is_place(argument)) text = arena_printf(m->arena, "%s, %" PRId64, text, argument->kind == ARGUMENT_ORDER ? is_kept : argument->number);
    else if (m->backend == BACKEND_CUDA) text = arena_printf(m->arena, "%s, %s_%s%s", text, is_own ? "KEEP" : "AT", block->name, argument_before_rows(m, block));
    else text = arena_printf(m->arena, "%s, %s(%s)%s", text, is_own ? info->kept_macro : info->macro, block->name, argument_before_rows(m, block));
  }
  return text;
}

void emit_place(const char *table, const Block *block, FILE *out) {
  fprintf(out, "#define %s_%s INT64_C(%" PRId64 ")", table, block->name, block->offset);
}

/* ---- in which part rows lie ---- */

static bool gathers_from_pieces(const Plan *plan) {
  for (int i = 0; plan && i < plan->problem->kernels->kernel_count; i++) {
    const Kernel *kernel = &plan->problem->kernels->kernels[i];
    for (int k = 0; k < kernel->input_count; k++)
      if (parts_gathers(plan->problem->parts, kernel, kernel->inputs[k])) return true;
  }
  return false;
}

void emit_row_parts(const Emission *m, const char *qualifier, FILE *out) {
  enum { A_LINE = 12 };
  const Parts *parts = m->evaluation_plan->problem->parts;
  const int shift = parts_row_shift(parts);
  if (!gathers_from_pieces(m->training_plan) && !gathers_from_pieces(m->evaluation_plan) && !gathers_from_pieces(m->schedule->once_plan)) return;
  fprintf(out, "/* In which part rows lie, %" PRId64 " rows at a time. */\nstatic %sconst gnn_row_part row_parts[] = {", INT64_C(1) << shift, qualifier);
  for (int64_t k = 0, part = 0; k << shift < parts->first[parts->count]; k++) {
    while (parts->first[part + 1] <= k << shift) part++;
    fprintf(out, "%s{%" PRId64 ", %" PRId64 "},", k % A_LINE ? " " : "\n  ", part, parts->first[part + 1]);
  }
  fprintf(out, "\n};\n");
}
