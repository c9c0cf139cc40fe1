/* emit: Schedule and Layout -> C.
 *
 * The source reads from top to bottom as the plan does: provenance, a table of the arena, the functions of each step,
 * the epoch as a list of steps, and a description of the program for the runtime. Same inputs, same bytes.
 */
#include "cpu/emit_cpu.h"
#include "cuda/emit_cuda.h"
#include "emit_lines.h"
#include "emit_source.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/base/escape.h"
#include "compiler/graph/learned.h"
#include "lang/name_table.h"
#include "runtime/base/text.h"

/* ---- the epoch ---- */

/* A step that makes rows which an exchange takes. */
static bool is_sending(const Emission *m, const Step *step) {
  return m->program->info->is_of_rank && step->kind == STEP_KERNEL && step->kernels->kernels[step->kernel].kind == KERNEL_HALO && !parts_make_table(step->parts, &step->kernels->kernels[step->kernel]);
}

/* ... of which the rank's own are in the table, too. */
static bool has_own_rows(const Step *step) { return value_table(&step->kernels->graph->values[step->kernels->kernels[step->kernel].anchor]); }

/* Whether the exchange comes right after the step: it begins then once it has the rows that others wait for, beside the rank's own. */
static bool is_begun_inside(const Emission *m, int s) {
  const Step *step = &m->schedule->steps[s], *next = step + 1;
  if (!is_sending(m, step) || s + 1 == schedule_step_count(m->schedule) || next->kind != STEP_COPY) return false;
  const Copy *copy = &m->schedule->copies[next->copy];
  return copy_is_exchange(copy) && copy->kernels == step->kernels && copy->value == step->kernels->kernels[step->kernel].anchor;
}

static void emit_copy_call(const Step *step, FILE *out) { fprintf(out, "  if ((status = gnn_copy(g, %d)) != GNN_OK) return status;\n", step->copy); }

static void emit_kernel_step(const Emission *m, const StepCalls *calls, int s, PieceLists *lists, FILE *out) {
  const Step *step = &m->schedule->steps[s];
  const Kernel *kernel = &step->kernels->kernels[step->kernel];
  bool is_once = s >= m->schedule->count;
  fprintf(out, "   * %s%s", kernel_info[kernel->kind].name, step->is_rerun ? ", again: its result was dropped" : "");
  for (int k = 0, count = 0; k < kernel->output_count; k++) {
    if (kernel->kind == KERNEL_HALO) continue;
    const Block *block = layout_at(m->layout, step->kernels, kernel->outputs[k], step->part, s);
    if (step->part && !parts_stores(step->parts, kernel->outputs[k], step->part)) continue;
    const Block *under = kernel->over[k] == NO_VALUE ? NULL : layout_at(m->layout, step->kernels, kernel->over[k], step->part, s);
    const char *where = under && under->offset == block->offset ? arena_printf(m->arena, " in the place of %s", under->name) : "";
    const bool is_resident = resident_of_value(m->layout->residents, step->kernels->graph, kernel->outputs[k]) != NULL;
    const char *life = is_resident ? "kept always" : arena_printf(m->arena, "%s until step %d", block->kind == BLOCK_SCRATCH ? "not read this time," : "kept", block->last + 1);
    fprintf(out, "%s %s%s (%s, %s)", count++ ? "," : " \302\267 writes", block->name, where, emit_bytes_text(m->arena, block->bytes), life);
  }
  fprintf(out, " \302\267 about %.3g ms */\n", 1e3 * step->cost.seconds);
  emit_lines_begin(m, step, out);
  fprintf(out, "  gnn_enter(g, %d);\n", step->number);
  emit_call(m, calls, s, lists, out);
  if (is_begun_inside(m, s)) emit_copy_call(step + 1, out);
  if (is_sending(m, step) && has_own_rows(step)) emit_call_for_own(m, calls, s, lists, out);
  emit_measure_of_step(m, m->layout, step, "AT", out);
  fprintf(out, "  gnn_leave(g, %d);\n", step->number);
  if (!is_once) emit_tap_calls(m, s, out);
}

/* Why a copy is made: who needs the place of what leaves, or the value that comes. */
static const char *copy_reason(const Emission *m, const Copy *copy) {
  const Schedule *s = m->schedule;
  if (copy_is_exchange(copy) && copy->kernels->graph->values[copy->value].op == OP_BACK) return "the sums of a rank's rows, of the columns of all ranks";
  if (copy_is_exchange(copy)) return "for the sums over neighbours of other ranks, and of this one";
  const Slot *slot = &s->slots[copy->slot];
  if (slot->is_home && copy->is_out) return "where they stay";
  if (!copy->is_out) return arena_printf(m->arena, "read again by step %d", s->kernel_step[slot->last] + 1);
  for (int i = copy->step; i < schedule_step_count(s); i++) {
    const Step *step = &s->steps[i];
    if (step->kind == STEP_WAIT && !step->is_arrival && step->copy >= copy - s->copies && s->copies[step->copy].lane == copy->lane)
      return arena_printf(m->arena, "its place is needed from step %d on, it from step %d", s->kernel_step[step->boundary] + 1, s->kernel_step[slot->last] + 1);
  }
  return arena_printf(m->arena, "not read before step %d", s->kernel_step[slot->last] + 1);
}

static void emit_copy_step(const Emission *m, int s, FILE *out) {
  const Step *step = &m->schedule->steps[s];
  const Copy *copy = &m->schedule->copies[step->copy];
  const bool is_begun = s > 0 && is_begun_inside(m, s - 1);
  fprintf(out, "   * %s beside the compute, from %.3g ms on for about %.3g ms \302\267 %s%s */\n",
          emit_bytes_text(m->arena, copy->bytes), 1e3 * step->start_seconds, 1e3 * step->cost.seconds, copy_reason(m, copy), is_begun ? arena_printf(m->arena, "; step %d has begun it", s) : "");
  emit_lines_begin(m, step, out);
  if (!is_begun) emit_copy_call(step, out);
}

static void emit_wait_step(const Emission *m, int s, FILE *out) {
  const Step *step = &m->schedule->steps[s];
  fprintf(out, "   * about %.3g ms */\n", 1e3 * step->cost.seconds);
  emit_lines_begin(m, step, out);
  fprintf(out, "  gnn_enter(g, %d);\n  if ((status = gnn_await(g, %d)) != GNN_OK) return status;\n  gnn_leave(g, %d);\n", step->number, step->copy, step->number);
}

static void emit_step_list(const Emission *m, const StepCalls *calls, const char *name, const char *what, int first, int last, FILE *out) {
  bool has_copies = false;
  PieceLists lists = {0};
  for (int s = first; s < last; s++) has_copies = has_copies || m->schedule->steps[s].kind != STEP_KERNEL;
  fprintf(out, "/* %s */\nstatic gnn_status %s(gnn_run *g) {\n", what, name);
  if (first == last) fprintf(out, "  (void)g;\n");
  if (has_copies) fprintf(out, "  gnn_status status;\n");
  for (int s = first; s < last; s++) {
    const Step *step = &m->schedule->steps[s];
    fprintf(out, "  /* step %d \302\267 %s \302\267 %s \302\267 line %d \302\267 %s\n", step->number, lane_names[step->lane], schedule_phase(m->schedule, s),
            (int)step->place.line, escape_comment(m->arena, step->what));
    switch (step->kind) {
    case STEP_KERNEL: emit_kernel_step(m, calls, s, &lists, out); break;
    case STEP_COPY: emit_copy_step(m, s, out); break;
    case STEP_WAIT: emit_wait_step(m, s, out); break;
    }
    emit_lines_end(m, out);
  }
  if (last == m->schedule->count) emit_measure(m, m->layout, last - 1, "AT", out);
  fprintf(out, "  return GNN_OK;\n}\n\n");
}

/* ---- the source ---- */

void emit_plan_text(const Emission *m, FILE *out) {
  fputs("/* The text of plan.json; generated by gnncc. */\n\"", out);
  for (const char *byte = m->plan_json; *byte; byte++) {
    if (*byte == '\n') fputs("\\n\\\n", out);
    else if (strchr("\"\\?", *byte)) fprintf(out, "\\%c", *byte);
    else fputc(*byte, out);
  }
  fputs("\"\n", out);
}

static const char *kept_text(const Emission *m) {
  const int *count = m->values_by_fate;
  int all = 0;
  for (int f = 0; f < FATE_COUNT; f++) all += count[f];
  if (all == count[FATE_KEEP]) return "every value is kept until its last use";
  return arena_printf(m->arena, "of %d values %d are kept until their last use, %d recomputed, %d moved to the host, %d to the SSD", all,
                      count[FATE_KEEP], count[FATE_RECOMPUTE], count[FATE_HOST], count[FATE_SSD]);
}

static void emit_cpu_steps(const Emission *m, const StepCalls *calls, FILE *out) {
  cpu_emit_shared(m, out);
  for (int i = 0; i < calls->function_count; i++) {
    const StepFunction *f = calls->functions[i];
    fprintf(out, "/* ---- step%s %s \302\267 %s ---- */\n\n%s", strchr(f->steps, ',') ? "s" : "", f->steps, escape_comment(m->arena, f->what), f->code.text);
  }
}

const StepCalls *emit_step_calls(const Emission *m) { return step_calls(m, m->backend == BACKEND_CUDA ? cuda_step_text : cpu_step_text); }

bool emit_is_own_twin(const Emission *m) { return m->has_double && m->backend == BACKEND_CPU && !emit_keeps_half(m); }

static void emit_text(const Emission *m, FILE *out) {
  const TypedProgram *p = m->program;
  fprintf(out, "/* %s.c \302\267 generated by gnncc " GNNCC_VERSION " from %s; do not edit.\n *\n", m->prefix, escape_comment(m->arena, m->model_path));
  fprintf(out, " * model %s on %s: %" PRId64 " nodes, %" PRId64 " edges \302\267 fingerprint %s\n", escape_comment(m->arena, p->name),
          escape_comment(m->arena, p->data->name), p->info->is_of_rank ? p->info->ranks->nodes : p->info->nodes, p->info->is_of_rank ? p->info->ranks->edges : p->info->edges, m->fingerprint);
  if (p->info->is_of_rank) fprintf(out, " * for %d ranks, of which one has at most %" PRId64 " of the nodes\n", p->info->ranks->count, p->info->nodes);
  fprintf(out, " * plan for %s: %s of device memory, about %.3g ms per epoch; %s\n", escape_comment(m->arena, m->machine->name),
          emit_bytes_text(m->arena, m->layout->bytes), 1e3 * m->schedule->training_seconds, kept_text(m));
  for (int i = 0; i < m->evaluation->graph->note_count; i++) fprintf(out, " * %s\n", escape_comment(m->arena, m->evaluation->graph->notes[i]));
  fprintf(out, " *\n * Rows r are nodes, j runs over the numbers of a row; acc is the row a product or sum has just finished.\n */\n");
  const StepCalls *calls = emit_step_calls(m);
  if (m->backend == BACKEND_CUDA) emit_cuda_places(calls, out);
  fprintf(out, "#include \"%s.h\"\n\n#include \"%s\"\n\n", m->prefix, m->backend == BACKEND_CUDA ? "gnncuda.h" : "gnnrt.h");
  fprintf(out, "#define PROGRAM GNN_PROGRAM(%s)\n#ifdef GNN_ALSO\nextern const gnn_program GNN_OTHER(%s);\n#define OTHER &GNN_OTHER(%s)\n#else\n#define OTHER NULL\n#endif\n", m->prefix, m->prefix,
          m->prefix);
  if (m->has_double)
    fprintf(out, "/* Linked with a double build of %s, the program can check its gradients. */\n"
                 "#if defined GNN_HAS_DOUBLE && !defined GNN_DOUBLE\nextern const gnn_program %s_program_in_double;\n"
                 "#define IN_DOUBLE &%s_program_in_double\n#else\n#define IN_DOUBLE NULL\n#endif\n",
            emit_is_own_twin(m) ? "this file" : m->backend == BACKEND_CPU ? "the same program in fp32" : "the same program for the processor", m->prefix, m->prefix);
  fprintf(out, "extern const gnn_program PROGRAM;\n\n");
  emit_sets(m->arena, p->info, out);
  emit_parts(m, out);
  emit_arena(m, out);
  if (p->has_train) emit_measures(m, out);
  if (m->backend == BACKEND_CUDA) emit_cuda_host(m, calls, out);
  else emit_cpu_steps(m, calls, out);
  if (p->has_train) {
    emit_rates(m, out);
    emit_step_list(m, calls, "forward_backward", "One epoch's forward pass, loss and gradients.", 0, m->schedule->backward_end, out);
    emit_step_list(m, calls, "update", "One step of the optimiser.", m->schedule->backward_end, m->schedule->training_count, out);
  }
  emit_step_list(m, calls, "evaluate", "The forward pass without dropout.", m->schedule->training_count, m->schedule->count, out);
  if (m->schedule->once_count)
    emit_step_list(m, calls, "once", "What every epoch and every evaluation reads, once the data are there.", m->schedule->count, schedule_step_count(m->schedule), out);
  if (m->keep_order) emit_keep_order(m, calls, out);
  emit_description(m, out);
  if (!ranks_of(m)) emit_api(m, out);
}

void emit_source(const Emission *m, FILE *out) {
  if (!m->has_lines) {
    emit_text(m, out);
    return;
  }
  char *text;
  size_t length;
  FILE *plain = arena_open_text(m->arena, &text, &length);
  emit_text(m, plain);
  fclose(plain);
  emit_lines(m, text, length, out);
}

void emit_main(const Emission *m, FILE *out) {
  fprintf(out, "/* main.c \302\267 generated by gnncc " GNNCC_VERSION " from %s; do not edit. */\n#define GNN_NO_KERNELS\n#include \"gnnrt.h\"\n\nextern const gnn_program %s_program;\n\n"
               "int main(int argc, char **argv) { return gnn_main(argc, argv, &%s_program); }\n", escape_comment(m->arena, m->model_path), m->prefix, m->prefix);
}
