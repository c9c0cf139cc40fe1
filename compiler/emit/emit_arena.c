/* emit_arena: the tables of the tiers: where everything lies, and the copies between them. */
#include "emit_calls.h"
#include "emit_source.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/base/escape.h"
#include "runtime/base/text.h"

const char *emit_bytes_text(Arena *arena, int64_t bytes) { return arena_strdup(arena, gnn_bytes_text(bytes).text); }

static const PlanningProblem *problem_of(const Emission *m, const Kernels *kernels) {
  return schedule_problem(m->schedule, kernels);
}

const char *emit_slot(const Emission *m, int slot) {
  const int *extent = m->layout->slot_extent;
  return arena_printf(m->arena, "{%s, %d, %d}", m->schedule->slots[slot].tier == TIER_HOST ? "GNN_HOST" : "GNN_SSD", extent[slot], extent[slot + 1] - extent[slot]);
}

/* One side of a copy: contiguous on the device and in the rings, extents elsewhere. */
static const char *copy_side(const Emission *m, int index, bool is_far) {
  const Layout *y = m->layout;
  const Copy *copy = &m->schedule->copies[index];
  bool is_device = !is_far && copy_touches_device(copy);
  bool is_ring = copy->is_by_ring && !is_device && !(is_far && (copy->lane == LANE_SSD_WRITE || copy->lane == LANE_SSD_READ));
  if (is_device) return arena_printf(m->arena, "{GNN_DEVICE, AT_%s, 0}", layout_of_copy(y, m->schedule, copy)->name);
  if (is_ring)
    return arena_printf(m->arena, "{%s, INT64_C(%" PRId64 "), 0}", copy->is_out ? "GNN_WRITE_RING" : "GNN_READ_RING", y->ring_at[index]);
  return emit_slot(m, copy->slot);
}

const char *emit_at(const Emission *m, int block) {
  return block == NO_INDEX ? "-1" : arena_printf(m->arena, "AT_%s", m->layout->blocks[block].name);
}

static void emit_copy(const Emission *m, int index, FILE *out) {
  static const char *const lanes[LANE_COUNT] = {"GNN_LANE_COMPUTE", "GNN_LANE_D2H", "GNN_LANE_H2D", "GNN_LANE_SSD_WRITE", "GNN_LANE_SSD_READ", "GNN_LANE_NET"};
  const Copy *copy = &m->schedule->copies[index];
  if (copy_is_exchange(copy)) {
    const Kernel *kernel = copy_kernel(copy);
    const bool has_own = kernel->kind == KERNEL_BACK || value_table(&copy->kernels->graph->values[kernel->anchor]);
    fprintf(out, "  {%d, GNN_LANE_NET, INT64_C(%" PRId64 "), {GNN_DEVICE, AT_%s, 0}, {GNN_DEVICE, AT_%s, 0}, {-1, -1}, %d, INT64_C(%" PRId64 "), INT64_C(%" PRId64 "), %d, %d, %d, %s, %s}, /* %d: %s */\n", copy->step + 1, copy->bytes,
            layout_of_sending(m->layout, m->schedule, copy)->name, layout_of_copy(m->layout, m->schedule, copy)->name, halo_of_ranks(copy->kernels->graph, kernel), kernel_exchange_row_bytes(copy->kernels, kernel), copy->exchange.bytes,
            exchange_boundary(copy->kernels, kernel) != BOUNDARY_EXACT, !has_own, kernel->kind == KERNEL_HALO ? 0 : exchange_holders(copy->kernels, kernel), emit_at(m, resident_kept(m->layout->residents, copy->kernels, copy->value)), copy->exchange.passes_host ? "GNN_BY_HOST" : "GNN_DIRECTLY", index, escape_comment(m->arena, m->schedule->steps[copy->step].what));
    return;
  }
  const char *near = copy_side(m, index, false), *far = copy_side(m, index, true);
  fprintf(out, "  {%d, %s, INT64_C(%" PRId64 "), %s, %s, {%d, %d}, 0, 0, 0, 0, 0, 0, 0, 0}, /* %d: %s */\n", copy->step + 1, lanes[copy->lane], copy->bytes,
          copy->is_out ? near : far, copy->is_out ? far : near, copy->after[0], copy->after[1], index,
          escape_comment(m->arena, m->schedule->steps[copy->step].what));
}

/* Which bring the scores back from the SSD. */
int emit_scores_copies(const Emission *m) {
  const Layout *y = m->layout;
  return y->scores_together ? y->away_extent[y->residents->scores_away + 1] - y->away_extent[y->residents->scores_away] : 0;
}

/* Where those who ask after an evaluation find scores that ended away from the device. */
const char *emit_scores_tier(const Layout *y) { return !y->scores_together ? "GNN_HOST" : y->ring_bytes > 0 ? "GNN_READ_RING" : "GNN_DEVICE"; }

static int first_step_at(const Schedule *schedule, int boundary) { return boundary == 0 ? 1 : schedule->kernel_step[boundary - 1] + 2; }

static bool has_cached(const Layout *y, int away) {
  for (int e = y->away_extent[away]; e < y->away_extent[away + 1]; e++)
    if (y->extents[e].is_cached) return true;
  return false;
}

/* What lies outside the device, and since nothing but copies reads it there, perhaps in pieces. */
static void emit_slots(const Emission *m, FILE *out) {
  const Schedule *s = m->schedule;
  const Layout *y = m->layout;
  fprintf(out, "\n/* The host arena, %" PRId64 " bytes, and the scratch file, %" PRId64 " bytes: where values wait. */\nstatic const gnn_extent extents[] = {\n",
          y->host_bytes, y->ssd_bytes);
  for (int i = 0; i < y->residents->away_count; i++) {
    if (y->away_extent[i] == y->away_extent[i + 1]) continue;
    fprintf(out, "  ");
    for (int e = y->away_extent[i]; e < y->away_extent[i + 1]; e++) fprintf(out, "{INT64_C(%" PRId64 "), INT64_C(%" PRId64 "), %d}, ", y->extents[e].at, y->extents[e].bytes, y->extents[e].is_cached);
    fprintf(out, "/* %d: %s at home in %s%s, by parts */\n", y->away_extent[i], y->residents->away[i].name, y->residents->away[i].file ? "a file of the user's" : "the scratch file", has_cached(y, i) ? " and the host arena" : "");
  }
  for (int h = 0; h < s->slot_count; h++) {
    const Slot *slot = &s->slots[h];
    fprintf(out, "  ");
    int64_t left = slot->bytes; /* the last extent may have room to spare */
    for (int e = y->slot_extent[h]; e < y->slot_extent[h + 1]; e++) {
      int64_t bytes = y->extents[e].bytes < left ? y->extents[e].bytes : left;
      fprintf(out, "{INT64_C(%" PRId64 "), INT64_C(%" PRId64 "), 0}, ", y->extents[e].at, bytes);
      left -= bytes;
    }
    fprintf(out, "/* %d: %s in the %s, steps %d-%d */\n", y->slot_extent[h], problem_piece_name(problem_of(m, slot->kernels), slot->value, slot->part),
            slot->tier == TIER_HOST ? "host arena" : "scratch file", first_step_at(s, slot->first), s->kernel_step[slot->last] + 1);
  }
  fprintf(out, "};\n");
}

static void emit_copies(const Emission *m, FILE *out) {
  const Schedule *s = m->schedule;
  const Layout *y = m->layout;
  fprintf(out, "\n/* The copies, in the order in which they are queued; after: others that must be complete before. */\nstatic const gnn_copy_desc copies[] = {\n");
  for (int i = 0; i < s->copy_count; i++) emit_copy(m, i, out);
  int64_t at = y->scores_at;
  for (int k = 0; k < emit_scores_copies(m); k++) {
    const int extent = y->away_extent[y->residents->scores_away] + k;
    if (k % y->scores_together == 0) at = y->scores_at;
    fprintf(out, "  {0, GNN_LANE_SSD_READ, INT64_C(%" PRId64 "), {GNN_SSD, %d, 1}, {%s, INT64_C(%" PRId64 "), 0}, {-1, -1}, 0, 0, 0, 0, 0, 0, 0, 0}, /* %d: scores%s */\n", y->extents[extent].bytes, extent, emit_scores_tier(y),
            at, s->copy_count + k, k == 0 ? ", for those who ask after an evaluation" : "");
    at += y->extents[extent].bytes;
  }
  fprintf(out, "};\n");
}

/* Values of programs for the processor are kept in bf16. */
bool emit_keeps_half(const Emission *m) { return m->backend == BACKEND_CPU && m->evaluation->precision == PRECISION_BF16; }

void emit_arena(const Emission *m, FILE *out) {
  const Layout *y = m->layout;
  int peak = m->schedule->count ? m->schedule->steps[y->peak_step].number : 0;
  const char *when = y->epoch_bytes < y->bytes ? "\n * before the first epoch" : arena_printf(m->arena, "\n * step %d", peak);
  fprintf(out, "/* The device arena, %" PRId64 " bytes: where everything lies, and from which step to which. All of it is in use at%s; at most %" PRId64
               " bytes are alive at one step. A double build has twice of everything. */\n", y->bytes, when, y->lower_bound);
  for (int i = 0; i < y->count; i++) {
    const Block *b = &y->blocks[i];
    const char *life = b->first >= m->schedule->count ? "before the first epoch" : i < y->resident_count ? "always" : arena_printf(m->arena, "steps %d-%d", b->first + 1, b->last + 1);
    emit_place("AT", b, out);
    const char *padding = b->padding.stride ? arena_printf(m->arena, ", rows of %" PRId64 " numbers in %" PRId64, b->padding.width, b->padding.stride) : "";
    fprintf(out, " /* %s, %s, %s%s */\n", emit_bytes_text(m->arena, b->bytes), block_kind_name(b->kind), life, padding);
  }
  if (m->schedule->slot_count) emit_slots(m, out);
  if (m->schedule->copy_count) emit_copies(m, out);
  if (m->keep_order) emit_keep_places(m, out);
  const bool is_half = emit_keeps_half(m);
  fprintf(out, "\n#define V(name) gnn_at(g, AT_##name)\n"
               "#define V_BITS(name) ((uint32_t *)(void *)V(name))\n"
               "#define V_LABELS(name) ((const int32_t *)(const void *)V(name))\n"
               "#define V_OFFSETS(name) ((const int64_t *)(const void *)V(name))\n"
               "#define V_DOUBLES(name) ((double *)(void *)V(name))\n");
  if (is_half) fprintf(out, "#define V_HALF(name) ((gnn_half *)(void *)V(name))\n");
  if (m->keep_order && m->backend == BACKEND_CPU)
    fprintf(out, "#define K(name) gnn_at(g, KEEP_##name)\n#define K_BITS(name) ((uint32_t *)(void *)K(name))\n#define K_DOUBLES(name) ((double *)(void *)K(name))\n#define K_LABELS(name) ((const int32_t *)(const void *)K(name))\n"
                 "#define K_OFFSETS(name) ((const int64_t *)(const void *)K(name))\n");
  if (m->keep_order && is_half) fprintf(out, "#define K_HALF(name) ((gnn_half *)(void *)K(name))\n");
  fprintf(out, "\n");
}
