#include "finished_plan.h"
#include "json_text.h"
#include "replay.h"
#include "runtime/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *datum_id(const PlannerPlan *plan, int piece) {
  return plan->problem->data[plan->problem->pieces[piece].datum].id;
}

static void put_reruns(gnn_text *text, const PlannerPlan *plan) {
  const Problem *p = plan->problem;
  gnn_text_format(text, "\"recompute\": [");
  for (int i = 0; i < plan->rerun_count; i++) {
    const PlanRerun *rerun = &plan->reruns[i];
    const ProblemStep *step = &p->steps[rerun->step];
    gnn_text_format(text, "%s\n  {\"before\": %d, \"op\": ", i ? "," : "", rerun->before);
    gnn_text_json(text, p->ops[step->op].id);
    gnn_text_format(text, ", \"k\": %d, \"out\": [", step->chunk);
    for (int k = 0; k < rerun->out_count; k++) {
      int x = plan->outs[rerun->out_first + k];
      gnn_text_format(text, k ? ", [" : "[");
      gnn_text_json(text, datum_id(plan, x));
      gnn_text_format(text, ", %d]", p->pieces[x].chunk);
    }
    gnn_text_format(text, "]}");
  }
  gnn_text_format(text, plan->rerun_count ? "\n ],\n" : "],\n");
}

static void put_moves(gnn_text *text, const PlannerPlan *plan) {
  gnn_text_format(text, " \"moves\": [");
  for (int i = 0; i < plan->move_count; i++) {
    const PlanMove *move = &plan->moves[i];
    gnn_text_format(text, "%s\n  {\"data\": ", i ? "," : "");
    gnn_text_json(text, datum_id(plan, move->piece));
    gnn_text_format(text, ", \"chunk\": %d, \"after\": %d, \"to\": \"%s\", \"g\": %d", plan->problem->pieces[move->piece].chunk, move->after,
                    tier_names[move->to], move->g);
    if (move->f >= 0) gnn_text_format(text, ", \"f\": %d", move->f);
    gnn_text_format(text, "}");
  }
  gnn_text_format(text, plan->move_count ? "\n ]" : "]");
}

static void put_addresses(gnn_text *text, const PlannerPlan *plan) {
  if (!plan->interval_count) return;
  gnn_text_format(text, ",\n \"offsets\": [");
  for (int i = 0; i < plan->interval_count; i++) {
    const PlanInterval *interval = &plan->intervals[i];
    gnn_text_format(text, "%s\n  {", i ? "," : "");
    if (interval->piece < 0) {
      gnn_text_format(text, "\"work\": %d", interval->from);
    } else {
      gnn_text_format(text, "\"data\": ");
      gnn_text_json(text, datum_id(plan, interval->piece));
      gnn_text_format(text, ", \"chunk\": %d, \"from\": %d", plan->problem->pieces[interval->piece].chunk, interval->from);
    }
    gnn_text_format(text, ", \"offset\": %" PRId64 "}", interval->offset);
  }
  gnn_text_format(text, "\n ]");
}

static void put_weights(gnn_text *text, const char *key, const double *weights, int count, int stride) {
  gnn_text_format(text, ",\n  \"%s\": [", key);
  for (int i = 0; i < count; i++) gnn_text_format(text, "%s%.17g", i ? ", " : "", weights[stride * i]);
  gnn_text_format(text, "]");
}

static void put_windows(gnn_text *text, const PlanWindows *w) {
  static const char *const rows[WINDOW_ROWS] = {"compute", "d2h", "h2d", "ssdw", "ssdr"};
  gnn_text_format(text, ",\n \"certificate\": {\"kind\": \"windows\", \"cuts\": [");
  for (int c = 0; c < w->cut_count; c++) gnn_text_format(text, "%s%d", c ? ", " : "", w->cuts[c]);
  gnn_text_format(text, "]");
  for (int row = 0; row < WINDOW_ROWS; row++) put_weights(text, rows[row], w->rows + row, w->cut_count + 1, WINDOW_ROWS);
  put_weights(text, "lam", w->lam, w->cut_count, 1);
  put_weights(text, "mu", w->mu, w->cut_count, 1);
  gnn_text_format(text, "}");
}

static void put_certificate(gnn_text *text, const PlanCertificate *c) {
  if (c->kind == CERTIFICATE_WINDOWS) put_windows(text, &c->windows);
  if (c->kind == CERTIFICATE_STALL_FREE) gnn_text_format(text, ",\n \"certificate\": {\"kind\": \"stallfree\"}");
  if (c->kind != CERTIFICATE_DUAL) return;
  gnn_text_format(text, ",\n \"certificate\": {\"kind\": \"dual\", \"split\": %d, \"rho\": %" PRId64 ", \"theta\": %" PRId64, c->split, c->rho_ns, c->theta_ns);
  gnn_text_format(text, ",\n  \"a1\": %.17g, \"a2\": %.17g, \"b1\": %.17g, \"b2\": %.17g, \"b3\": %.17g", c->a1, c->a2, c->b1, c->b2, c->b3);
  gnn_text_format(text, ", \"cw\": %.17g, \"cr\": %.17g, \"lam\": %.17g, \"mu\": %.17g}", c->cw, c->cr, c->lam, c->mu);
}

char *plan_write_json(const PlannerPlan *plan, Arena *arena, size_t *length) {
  const Problem *p = plan->problem;
  gnn_text text = {0};
  gnn_text_format(&text, "{\"format\": \"gnncc-plan/1\", \"problem\": ");
  gnn_text_json(&text, p->name);
  gnn_text_format(&text, ",\n \"variants\": {");
  bool is_first = true;
  for (int i = 0; i < p->op_count; i++) {
    if (p->ops[i].variant_count < 2) continue;
    if (!is_first) gnn_text_format(&text, ", ");
    gnn_text_json(&text, p->ops[i].id);
    gnn_text_format(&text, ": ");
    gnn_text_json(&text, p->ops[i].variants[plan->variant[i]].name);
    is_first = false;
  }
  gnn_text_format(&text, "},\n ");
  put_reruns(&text, plan);
  put_moves(&text, plan);
  put_addresses(&text, plan);
  if (plan->makespan_ns >= 0) gnn_text_format(&text, ",\n \"makespan_ns\": %" PRId64, plan->makespan_ns);
  if (plan->peak_bytes >= 0) gnn_text_format(&text, ", \"peak_bytes\": %" PRId64, plan->peak_bytes);
  if (plan->lower_bound_ns >= 0) gnn_text_format(&text, ", \"lower_bound_ns\": %" PRId64, plan->lower_bound_ns);
  put_certificate(&text, &plan->certificate);
  if (plan->effort) gnn_text_format(&text, ",\n \"meta\": {\"effort\": \"%s\", \"cut_short\": %s}", plan->effort, plan->is_cut_short ? "true" : "false");
  gnn_text_format(&text, "}\n");
  *length = text.length;
  char *kept = arena_strdup(arena, text.data ? text.data : "");
  gnn_text_free(&text);
  return kept;
}

/* ---- reading ---- */

static int find_datum(const Problem *p, json_t *ids, const json_t *id, json_int_t chunk) {
  const json_t *index = json_object_get(ids, json_is_string(id) ? json_string_value(id) : "");
  if (!index) return -1;
  const ProblemDatum *datum = &p->data[json_integer_value(index)];
  return chunk < 0 || chunk >= datum->chunks ? -1 : datum->first_piece + (int)chunk;
}

static bool read_int_field(const json_t *object, const char *key, int64_t fallback, int64_t *result) {
  const json_t *value = json_object_get(object, key);
  *result = value ? json_integer_value(value) : fallback;
  return !value || json_is_integer(value);
}

static bool read_plan_reruns(PlannerPlan *plan, Arena *arena, const json_t *list, json_t *data, json_t *ops,
                             ProblemError *error) {
  const Problem *p = plan->problem;
  size_t i, k;
  json_t *node, *pair;
  char place[64];
  json_array_foreach(list, i, node) {
    int64_t before, chunk;
    const json_t *op = json_object_get(node, "op");
    const json_t *index = json_object_get(ops, json_is_string(op) ? json_string_value(op) : "");
    snprintf(place, sizeof place, "recompute[%zu]", i);
    if (!index || !read_int_field(node, "before", -1, &before) || !read_int_field(node, "k", 0, &chunk) || chunk < 0 ||
        chunk >= p->ops[json_integer_value(index)].chunks || before < 0 || before >= p->step_count) {
      problem_fail(error, place, "not a step of this problem");
      return false;
    }
    int s = p->op_steps[p->ops[json_integer_value(index)].first_step + chunk];
    PlanRerun rerun = {.before = (int)before, .step = s, .out_first = plan->out_count};
    const json_t *outs = json_object_get(node, "out");
    json_array_foreach(outs, k, pair) {
      int x = find_datum(p, data, json_array_get(pair, 0), json_integer_value(json_array_get(pair, 1)));
      if (x < 0) {
        problem_fail(error, place, "an output is not a piece of this problem");
        return false;
      }
      ARENA_PUSH(arena, plan->outs, plan->out_count, x);
    }
    for (int u = 0; u < p->steps[s].use_count && !outs; u++)
      if (p->uses[p->steps[s].first_use + u].flags & PROBLEM_USE_CREATE)
        ARENA_PUSH(arena, plan->outs, plan->out_count, p->uses[p->steps[s].first_use + u].piece);
    rerun.out_count = plan->out_count - rerun.out_first;
    ARENA_PUSH(arena, plan->reruns, plan->rerun_count, rerun);
  }
  /* Stable by `before`. */
  for (int a = 1; a < plan->rerun_count; a++) {
    PlanRerun rerun = plan->reruns[a];
    int b = a;
    for (; b > 0 && plan->reruns[b - 1].before > rerun.before; b--) plan->reruns[b] = plan->reruns[b - 1];
    plan->reruns[b] = rerun;
  }
  return true;
}

static bool read_plan_moves(PlannerPlan *plan, Arena *arena, const json_t *list, json_t *data, ProblemError *error) {
  size_t i;
  json_t *node;
  json_array_foreach(list, i, node) {
    int64_t after, g, f, chunk;
    char place[64];
    snprintf(place, sizeof place, "moves[%zu]", i);
    const json_t *to = json_object_get(node, "to");
    bool ok = read_int_field(node, "after", -2, &after) && read_int_field(node, "g", -1, &g) &&
              read_int_field(node, "f", -1, &f) && read_int_field(node, "chunk", 0, &chunk) && json_is_string(to);
    int tier = ok ? vocabulary_find(tier_names, json_string_value(to)) : -1;
    if (ok && tier != TIER_HOST && tier != TIER_SSD) {
      problem_fail(error, place, "\"%.40s\" is not a tier; expected host or ssd", json_string_value(to));
      return false;
    }
    int x = ok ? find_datum(plan->problem, data, json_object_get(node, "data"), chunk) : -1;
    if (x < 0 || after < -1 || g <= after || g > INT32_MAX || f < -1 || f > g) {
      problem_fail(error, place, "not a move of this problem");
      return false;
    }
    ARENA_PUSH(arena, plan->moves, plan->move_count,
               (PlanMove){.piece = x, .after = (int)after, .g = (int)g, .f = (int)f, .to = (Tier)tier});
  }
  replay_sort_moves(plan->moves, plan->move_count);
  return true;
}

/* Whoever reads them wants what is at home on the device at the bottom, where the planner has it; elsewhere they are as good as none. */
static bool read_plan_offsets(PlannerPlan *plan, Arena *arena, const json_t *list, json_t *data, ProblemError *error) {
  const int64_t residents = plan_resident_bytes(plan->problem);
  bool is_at_bottom = true;
  size_t i;
  json_t *node;
  json_array_foreach(list, i, node) {
    int64_t from, work, offset, chunk;
    char place[64];
    snprintf(place, sizeof place, "offsets[%zu]", i);
    const bool ok = read_int_field(node, "from", -1, &from) && read_int_field(node, "work", -1, &work) && read_int_field(node, "offset", -1, &offset) && read_int_field(node, "chunk", 0, &chunk);
    const int x = ok && work < 0 ? find_datum(plan->problem, data, json_object_get(node, "data"), chunk) : -1;
    if (!ok || offset < 0 || (work < 0 && (x < 0 || from < 0)) || from > INT32_MAX || work > INT32_MAX) {
      problem_fail(error, place, "not an address of this problem");
      return false;
    }
    const PlanInterval interval = {.piece = x, .from = (int)(work < 0 ? from : work), .taken_by = -1, .bytes = x < 0 ? 0 : plan->problem->pieces[x].bytes, .offset = offset};
    is_at_bottom = is_at_bottom && (plan_is_resident(plan->problem, &interval) ? offset + interval.bytes <= residents : offset >= residents);
    ARENA_PUSH(arena, plan->intervals, plan->interval_count, interval);
  }
  if (!is_at_bottom) plan->interval_count = 0;
  if (plan->interval_count) qsort(plan->intervals, (size_t)plan->interval_count, sizeof *plan->intervals, plan_compare_intervals);
  return true;
}

static bool read_plan_variants(PlannerPlan *plan, json_t *object, json_t *ops, ProblemError *error) {
  const char *id;
  json_t *name;
  json_object_foreach(object, id, name) {
    const json_t *index = json_object_get(ops, id);
    const ProblemOp *op = index ? &plan->problem->ops[json_integer_value(index)] : NULL;
    int v = 0;
    while (op && v < op->variant_count && (!json_is_string(name) || strcmp(op->variants[v].name, json_string_value(name))))
      v++;
    if (!op || v == op->variant_count) {
      problem_fail(error, "variants", "\"%.80s\" has no such variant", id);
      return false;
    }
    plan->variant[json_integer_value(index)] = v;
  }
  return true;
}

PlannerPlan *plan_read_json(const Problem *problem, Arena *arena, const char *text, size_t length, ProblemError *error) {
  json_t *root = json_text_load(text, length, error->place, sizeof error->place, error->text, sizeof error->text);
  if (!root) return NULL;
  PlannerPlan *plan = arena_alloc(arena, sizeof *plan);
  *plan = (PlannerPlan){.problem = problem, .makespan_ns = -1, .peak_bytes = -1, .lower_bound_ns = -1};
  plan->variant = arena_alloc(arena, (size_t)problem->op_count * sizeof *plan->variant + 1);
  json_t *data = json_object(), *ops = json_object();
  for (int i = 0; i < problem->datum_count; i++) json_object_set_new(data, problem->data[i].id, json_integer(i));
  for (int i = 0; i < problem->op_count; i++) json_object_set_new(ops, problem->ops[i].id, json_integer(i));
  bool ok = read_plan_variants(plan, json_object_get(root, "variants"), ops, error) &&
            read_plan_reruns(plan, arena, json_object_get(root, "recompute"), data, ops, error) &&
            read_plan_moves(plan, arena, json_object_get(root, "moves"), data, error) &&
            read_plan_offsets(plan, arena, json_object_get(root, "offsets"), data, error);
  json_decref(data);
  json_decref(ops);
  json_decref(root);
  return ok ? plan : NULL;
}
