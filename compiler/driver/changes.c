/* changes: Compilation, Change -> the plan of the same text with another constant, precision or machine. */
#include "changes.h"

#include <stdio.h>
#include <string.h>

#include "compiler/plan/plan.h"

typedef struct Changing {
  const Compilation *asked;
  CompileAgain *again;
} Changing;

/* ---- what stays as it is ---- */

/* No constant is spoken of in a block of data: they are the same whatever constants are. */
static bool data_have_no_constant(const Compilation *c) {
  for (int k = 0; k < c->program->const_count; k++)
    if (lang_data_mention(c->ast, c->diags, c->program->consts[k].name)) return false;
  return true;
}

/* ---- other machines ---- */

static bool read_target(const Compilation *c, const char *name, TargetSpec *target) {
  const char *path = arena_printf(c->arena, "%s/targets/%s.gnn", c->share_dir, name);
  size_t length;
  const char *text = arena_read_file(c->arena, path, &length);
  const LangOptions lang = {.share_dir = c->share_dir};
  return text && lang_target(c->arena, diags_new(c->arena), path, text, length, &lang, target);
}

/* One for each size that cards have, the smallest first. */
static const char *card_with(void *of, int64_t bytes, int64_t above) {
  static const char *const names[] = {"rtx4060_laptop", "rtx3060", "rtx4080", "rtx4090", "a100_40", "a100", "h200"};
  const char *last = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    TargetSpec target;
    if (!read_target(((const Changing *)of)->asked, names[i], &target)) continue;
    const int64_t room = target.device_bytes - target.reserve_bytes;
    if (room <= above) continue;
    last = names[i];
    if (room >= bytes) break;
  }
  return last;
}

static void leave_out_budgets(Options *o) {
  o->budgets = NULL;
  o->budget_count = 0;
}

static void change_machine(Options *o, const Change *change) {
  const bool is_card = change->kind == CHANGE_CARD;
  o->backend = is_card || !o->backend ? NULL : "cpu";
  o->target = is_card ? change->name : NULL;
  o->is_native = !is_card;
  o->tuning = "none";
  leave_out_budgets(o);
}

/* ---- the plan ---- */

static LangDefine *with_define(Arena *arena, const Options *o, const char *name, const char *value, int *count) {
  LangDefine *defines = arena_alloc(arena, (size_t)(o->define_count + 1) * sizeof *defines);
  *count = 0;
  for (int i = 0; i < o->define_count; i++)
    if (strcmp(o->defines[i].name, name) != 0) defines[(*count)++] = o->defines[i];
  defines[(*count)++] = (LangDefine){name, value};
  return defines;
}

static bool keeps_all(const PlanAnswer *answer) { return schedule_keeps_all(answer->schedule); }

static bool are_same_data(const DataInfo *a, const DataInfo *b) { return a->fingerprint == b->fingerprint && a->nodes == b->nodes && a->edges == b->edges; }

static ChangedPlan plan_change(void *of, const Change *change) {
  const Changing *changing = of;
  const Compilation *asked = changing->asked;
  const bool is_machine = change->kind == CHANGE_PROCESSOR || change->kind == CHANGE_CARD;
  Options options = *asked->options;
  options.dump = options.sweep = options.measured = NULL;
  options.stop_after = "layout";
  options.is_timing = options.is_verifying = false;
  options.emit_count = 0;
  options.takes_first = change->takes_first;
  if (change->kind == CHANGE_CONSTANT) options.defines = with_define(asked->arena, asked->options, change->name, change->value, &options.define_count);
  if (change->kind == CHANGE_PRECISION) options.precision = change->precision;
  if (is_machine) change_machine(&options, change);
  Compilation c;
  ChangedPlan plan = {0};
  const DataInfo *known = change->kind == CHANGE_CONSTANT && !data_have_no_constant(asked) ? NULL : asked->program->info;
  if (changing->again(asked, &options, known, &c))
    plan = (ChangedPlan){.fits = true, .keeps_all = keeps_all(c.answer), .has_same_data = are_same_data(c.program->info, asked->program->info), .seconds = answer_seconds(c.answer), .device_bytes = c.answer->layout->bytes};
  plan.work = c.planning_work;
  arena_free(c.arena);
  return plan;
}

/* ---- what is left open ---- */

/* By what the compiler itself takes (driver.c, check_precision); tf32 is of products on a GPU, bf16 of what is stored anywhere. */
static void find_precisions(const Compilation *c, Changes *v) {
  const Options *o = c->options;
  const bool is_cuda = c->backend == BACKEND_CUDA;
  const char *kind = c->program->has_target ? c->program->target.kind : NULL, *architecture = o->architecture ? o->architecture : kind && strncmp(kind, "cuda(", 5) == 0 ? kind + 5 : "";
  const bool is_own = o->gemm && strcmp(o->gemm, "own") == 0, is_by_library = o->spmm && strcmp(o->spmm, "cusparse") == 0;
  int number = 80;
  sscanf(architecture, "sm_%d", &number);
  if (is_cuda && o->precision < PRECISION_TF32 && !is_own && number >= 80) v->precisions[v->precision_count++] = PRECISION_TF32;
  if (o->precision < PRECISION_BF16 && (!is_cuda || (!is_by_library && (number >= 80 || is_own)))) v->precisions[v->precision_count++] = PRECISION_BF16;
}

static void find_tiers(const Compilation *c, Changes *v) {
  const Machine *m = &c->machine;
  const TargetSpec *target = c->program->has_target ? &c->program->target : NULL;
  v->tier_most[TIER_DEVICE] = c->machine_bytes[TIER_DEVICE];
  v->tier_most[TIER_HOST] = target && target->host_capacity > 0 ? target->host_capacity : INT64_MAX;
  v->tier_most[TIER_SSD] = target && target->ssd_capacity > 0 ? target->ssd_capacity : INT64_MAX;
  /* A processor's device is the host's memory: there is none beside it, unless somebody says so. */
  v->has_tier[TIER_HOST] = m->links[LANE_D2H].bandwidth > 0 && (c->backend == BACKEND_CUDA || c->machine_bytes[TIER_HOST] > 0 || m->tier_bytes[TIER_HOST] > 0);
  v->has_tier[TIER_SSD] = m->links[LANE_SSD_WRITE].bandwidth > 0;
}

const Changes *changes_of(Compilation *c, CompileAgain *again) {
  const Options *o = c->options;
  Changes *v = arena_alloc(c->arena, sizeof *v);
  Changing *changing = arena_alloc(c->arena, sizeof *changing);
  const bool is_cuda = c->backend == BACKEND_CUDA, has_gpu_option = o->precision || o->gemm || o->spmm || o->architecture;
  *changing = (Changing){c, again};
  *v = (Changes){.arena = c->arena, .of = changing, .plan = plan_change, .card = card_with, .program = c->program, .is_fixed = o->profile || o->plan_from || o->trial, .is_processor = !is_cuda,
                  .can_be_card = !c->rank && (is_cuda || !o->backend), .has_budgets = o->budget_count > 0};
  if (is_cuda && !has_gpu_option && !c->rank) v->processor = !o->backend ? "--target=native" : c->program->has_target ? "--target=native --backend=cpu" : "--backend=cpu";
  find_precisions(c, v);
  find_tiers(c, v);
  return v;
}
