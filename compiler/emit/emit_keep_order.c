/* emit_keep_order: the order that keeps every value, beside that of the plan.
 *
 * A plan decides what is made again and what is moved; kernels compute the same whatever it says. So this order is calls of the
 * plan's own functions, each once, and a second place for every block: nothing is compiled twice.
 */
#include <inttypes.h>
#include <string.h>

#include "emit_rows.h"

/* The step of the plan that runs the same kernel for the first time. */
static int step_in_plan(const Emission *m, const Step *kept) {
  for (int s = 0; s < m->schedule->count; s++) {
    const Step *step = &m->schedule->steps[s];
    if (step->kind == STEP_KERNEL && !step->is_rerun && step->kernels == kept->kernels && step->kernel == kept->kernel && step->part == kept->part) return step->number;
  }
  return 0;
}

static bool is_same_thing(const Emission *m, const Block *planned, const Block *kept) {
  if (planned->kernels != kept->kernels || planned->value != kept->value || planned->part != kept->part || planned->is_sums != kept->is_sums) return false;
  if (planned->value != NO_VALUE) return true;
  return m->schedule->steps[planned->first].kernel == m->keep_order->schedule->steps[kept->first].kernel; /* a kernel's scratch */
}

static const Block *block_when_kept(const Emission *m, const Block *planned) {
  const Layout *y = m->keep_order->layout;
  for (int i = y->resident_count; i < y->count; i++)
    if (is_same_thing(m, planned, &y->blocks[i])) return &y->blocks[i];
  return NULL;
}

void emit_keep_place(const Emission *m, int block, FILE *out) {
  const Block *planned = &m->layout->blocks[block], *kept = block < m->layout->resident_count ? NULL : block_when_kept(m, planned);
  if (kept) fprintf(out, "#define KEEP_%s INT64_C(%" PRId64 ")\n", planned->name, kept->offset);
  else fprintf(out, "#define KEEP_%s AT_%s\n", planned->name, planned->name);
  rows_print_place(m, planned, "KEEP", out);
}

void emit_keep_places(const Emission *m, FILE *out) {
  fprintf(out, "\n/* Where the same things lie when every value is kept until its last use, which takes %" PRId64 " bytes. */\n", m->keep_order->layout->bytes);
  for (int i = 0; i < m->layout->count; i++) emit_keep_place(m, i, out);
}

static void emit_calls(const Emission *m, const char *name, int first, int last, FILE *out) {
  fprintf(out, "static gnn_status keep_%s(gnn_run *g) {\n", name);
  if (first == last) fprintf(out, "  (void)g;\n");
  for (int s = first; s < last; s++) fprintf(out, "  step_%d(g);\n", step_in_plan(m, &m->keep_order->schedule->steps[s]));
  if (last == m->keep_order->schedule->count && m->layout->residents->results != NO_INDEX) fprintf(out, "  measure(g);\n");
  fprintf(out, "  return GNN_OK;\n}\n\n");
}

void emit_keep_order(const Emission *m, FILE *out) {
  const Schedule *s = m->keep_order->schedule;
  const Layout *y = m->keep_order->layout;
  fprintf(out, "/* ---- every value kept until its last use: `check` compares the bits of the plan with those of this order ---- */\n\n");
  if (m->program->has_train) {
    emit_calls(m, "forward_backward", 0, s->backward_end, out);
    emit_calls(m, "update", s->backward_end, s->training_count, out);
  }
  emit_calls(m, "evaluate", s->training_count, s->count, out);
  fprintf(out, "static const gnn_keep_order keep_order = {\n  .device_bytes = %" PRId64 ",\n  .at_scores = %" PRId64 ",\n", y->bytes,
          layout_at(y, m->evaluation, m->evaluation->graph->scores, 0, s->count - 1)->offset);
  if (m->program->has_train) fprintf(out, "  .forward_backward = keep_forward_backward,\n  .update = keep_update,\n");
  fprintf(out, "  .evaluate = keep_evaluate,\n};\n\n");
}
