#include "plan_report.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/base/shown.h"
#include "compiler/base/time_unit.h"
#include "runtime/base/text.h"

/* All of a report in the unit of its epoch. */
static TimeUnit unit_of(const PlannerReport *r) { return r->makespan_ns < 1000 ? (TimeUnit){"ns", 1e9} : time_unit(1e-9 * (double)r->makespan_ns); }

static void put_time(FILE *out, const PlannerReport *r, int64_t ns) {
  const TimeUnit unit = unit_of(r);
  const double time = 1e-9 * (double)ns * unit.per_second;
  fprintf(out, time >= 999.5 ? "%.0f %s" : "%.4g %s", time, unit.name);
}

static void put_bytes(FILE *out, int64_t bytes) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = (double)bytes;
  int unit = -1;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    unit++;
  }
  if (unit < 0)
    fprintf(out, "%lld B", (long long)bytes);
  else
    fprintf(out, "%.2f %s", value, units[unit]);
}

static double percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void put_tier(FILE *out, const char *name, int64_t used, int64_t size) {
  fprintf(out, "  %-12s ", name);
  put_bytes(out, used);
  fprintf(out, " of ");
  put_bytes(out, size);
  fprintf(out, "\n");
}

static void put_optimality(FILE *out, const PlannerReport *r, const PlannerPlan *plan) {
  int64_t bound = r->lower_bound_ns > r->stall_free_ns ? r->lower_bound_ns : r->stall_free_ns;
  fprintf(out, "  lower bound  ");
  put_time(out, r, bound);
  fprintf(out, " (%s), certified gap %.2f %%%s\n", plan->certificate.kind == CERTIFICATE_DUAL ? "dual certificate" : plan->certificate.kind == CERTIFICATE_WINDOWS ? "certificate of windows" : "stall-free",
          percent(r->makespan_ns - bound, bound), r->is_optimal ? "; optimal" : "");
  if (r->is_optimal && r->makespan_ns > bound)
    fprintf(out, "               (proved by search: over the fates of all gaps that cover a step, all variants and prefetch boundaries,\n"
                 "               with canonical recompute)\n");
}

static void put_lanes(FILE *out, const Problem *p, const PlannerReport *r) {
  fprintf(out, "  busy         compute ");
  put_time(out, r, r->compute_ns);
  fprintf(out, " (%.1f %%)", percent(r->compute_ns, r->makespan_ns));
  if (r->rerun_ns) {
    fprintf(out, ", of which again ");
    put_time(out, r, r->rerun_ns);
  }
  for (int c = 0; c < p->lane_count; c++) {
    if (!r->busy_ns[c]) continue;
    fprintf(out, "; %s ", shown(p->lanes[c].name).text);
    put_time(out, r, r->busy_ns[c]);
    fprintf(out, " (%.1f %%)", percent(r->busy_ns[c], r->makespan_ns));
  }
  fprintf(out, "\n");
}

static void put_addresses(FILE *out, const PlannerReport *r) {
  fprintf(out, "  addresses    load ");
  put_bytes(out, r->load_bytes);
  if (!r->has_addresses) {
    fprintf(out, ", offsets would need ");
    put_bytes(out, r->height_bytes);
    fprintf(out, ": none found");
  } else {
    fprintf(out, ", height ");
    put_bytes(out, r->height_bytes);
    fprintf(out, " (+%.2f %%)", percent(r->height_bytes - r->load_bytes, r->load_bytes));
  }
  fprintf(out, "\n");
}

void plan_report_plan(FILE *out, const Problem *problem, const PlannerReport *r, const PlannerPlan *plan) {
  fprintf(out, "plan for %s\n  time         ", shown(problem->name).text);
  put_time(out, r, r->makespan_ns);
  fprintf(out, " per epoch; stall-free ");
  put_time(out, r, r->stall_free_ns);
  fprintf(out, " (+%.2f %%)\n", percent(r->makespan_ns - r->stall_free_ns, r->stall_free_ns));
  put_optimality(out, r, plan);
  put_lanes(out, problem, r);
  put_tier(out, tier_names[TIER_DEVICE], r->peak_bytes, problem->device_bytes);
  if (problem->host_bytes) put_tier(out, tier_names[TIER_HOST], r->host_peak_bytes, problem->host_bytes);
  if (problem->ssd_bytes) put_tier(out, tier_names[TIER_SSD], r->ssd_peak_bytes, problem->ssd_bytes);
  fprintf(out, "  fates        %d gaps, %d to decide:", r->gap_count, r->open_count);
  for (int fate = 0; fate < FATE_COUNT; fate++) {
    fprintf(out, "%s %s ", fate ? "," : "", fate_keys[fate]);
    put_bytes(out, r->gap_bytes[fate]);
  }
  fprintf(out, "\n");
  put_addresses(out, r);
  fprintf(out, "  planned in   %.3f s (first plan %.3f s), %d steps, %lld labels, %lld evaluations%s\n", r->total_s,
          r->first_plan_s, r->extended_step_count, (long long)r->labels, (long long)r->evaluations,
          plan->is_cut_short ? "; cut short by the time limit" : "");
}

static int compare_shares(const void *a, const void *b) {
  const Share *x = a, *y = b;
  return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->name, y->name);
}

const char *plan_report_shares(Arena *arena, Share *shares, int count, int64_t bytes) {
  enum { NAMED = 6 };
  for (int i = 0; i < count; i++) bytes -= shares[i].bytes;
  if (bytes > 0) ARENA_PUSH(arena, shares, count, (Share){"workspace", bytes});
  int named = count <= NAMED + 1 ? count : NAMED; /* one more takes no more room than saying that there is one */
  int64_t rest = 0;
  const char *text = "";
  qsort(shares, (size_t)count, sizeof *shares, compare_shares);
  for (int i = 0; i < named; i++)
    text = arena_printf(arena, "%s%s%s %s", text, i ? " + " : "", gnn_bytes_text(shares[i].bytes).text, shares[i].name);
  for (int i = named; i < count; i++) rest += shares[i].bytes;
  return named < count ? arena_printf(arena, "%s, and %d smaller, %s in all", text, count - named, gnn_bytes_text(rest).text) : text;
}

const char *plan_report_bind(Arena *arena, const Problem *p, const PlannerReport *r) {
  Share *shares = NULL;
  int count = 0;
  for (int i = 0; i < r->bind_piece_count; i++) {
    const ProblemPiece *piece = &p->pieces[r->bind_pieces[i]];
    char name[64];
    shown_in(name, sizeof name, p->data[piece->datum].id);
    const char *which = p->data[piece->datum].chunks > 1 ? arena_printf(arena, "%s[%d]", name, piece->chunk) : arena_strdup(arena, name);
    if (piece->bytes > 0) ARENA_PUSH(arena, shares, count, (Share){which, piece->bytes});
  }
  return plan_report_shares(arena, shares, count, r->bind_bytes);
}

static void put_least(FILE *out, const char *tier, int64_t bytes, int64_t now) {
  if (bytes < 0)
    fprintf(out, "  %-6s no size would do with the other tiers as they are (now %lld bytes)\n", tier, (long long)now);
  else
    fprintf(out, "  %-6s %lld bytes would do (now %lld)\n", tier, (long long)bytes, (long long)now);
}

void plan_report_infeasible(FILE *out, const Problem *p, const PlannerReport *r, int policy) {
  const ProblemStep *step = &p->steps[r->bind_step];
  fprintf(out, "infeasible: no plan %s%s%sfor %s fits %lld device, %lld host and %lld ssd bytes\n", policy >= 0 ? "of policy " : "", policy >= 0 ? policy_names[policy] : "", policy >= 0 ? " " : "",
          shown(p->name).text, (long long)p->device_bytes, (long long)p->host_bytes, (long long)p->ssd_bytes);
  put_least(out, tier_names[TIER_DEVICE], r->least_device_bytes, p->device_bytes);
  put_least(out, tier_names[TIER_HOST], r->least_host_bytes, p->host_bytes);
  put_least(out, tier_names[TIER_SSD], r->least_ssd_bytes, p->ssd_bytes);
  Arena *arena = arena_new();
  fprintf(out, "  binding: step %d, op \"%s\" chunk %d, needs %lld bytes on the device: %s\n", r->bind_step,
          shown(p->ops[step->op].id).text, step->chunk, (long long)r->bind_bytes, plan_report_bind(arena, p, r));
  arena_free(arena);
}

void plan_report_policies(FILE *out, const PlannerReport *r) {
  int64_t bound = r->lower_bound_ns > r->stall_free_ns ? r->lower_bound_ns : r->stall_free_ns;
  fprintf(out, "  %-14s %16s %10s\n", "policy", "time ns", "vs bound");
  for (int policy = 0; policy < POLICY_COUNT; policy++) {
    fprintf(out, "  %-14s ", policy_names[policy]);
    if (r->policy_ns[policy] < 0)
      fprintf(out, "%16s %10s\n", "not tried", "-");
    else if (r->policy_ns[policy] >= COST_INVALID)
      fprintf(out, "%16s %10s\n", "does not fit", "-");
    else
      fprintf(out, "%16lld %+9.2f%%\n", (long long)r->policy_ns[policy], percent(r->policy_ns[policy] - bound, bound));
  }
  if (r->is_feasible)
    fprintf(out, "  %-14s %16lld %+9.2f%%\n", "gnncc", (long long)r->makespan_ns, percent(r->makespan_ns - bound, bound));
  else
    fprintf(out, "  %-14s %16s %10s\n", "gnncc", "does not fit", "-");
  fprintf(out, "  %-14s %16lld\n", "lower bound", (long long)bound);
}
