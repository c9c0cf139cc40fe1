/* driver: the road. A list of passes and one hook after each: verify, dump, time. */
#include "cut_forms.h"
#include "exchanges.h"
#include "dependencies.h"
#include "driver.h"
#include "forms.h"
#include "format_command.h"
#include "given_plan.h"
#include "runtime/base/open.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "native.h"
#include "changes.h"
#include "compiler/base/cache.h"
#include "compiler/base/clock.h"
#include "compiler/base/escape.h"
#include "compiler/base/outfile.h"
#include "compiler/base/workplace.h"
#include "compiler/graph/associate.h"
#include "compiler/graph/cut.h"
#include "compiler/explain/report.h"
#include "compiler/explain/sweep_program.h"
#include "compiler/explain/verdict.h"
#include "compiler/explain/views/views.h"
#include "compiler/lowering/slow.h"
#include "compiler/lowering/trial.h"
#include "compiler/lowering/tuning.h"
#include "compiler/plan/pins.h"
#include "compiler/plan/tiers.h"
#include "lang/units.h"
#include "runtime/base/text.h"

/* ---- the same program once more ---- */

static int run(Compilation *c);

static void start(Compilation *c, const Options *options, const char *share_dir) {
  *c = (Compilation){.arena = arena_new(), .options = options, .share_dir = share_dir};
  c->diags = diags_new(c->arena);
  c->reader.arena = c->arena;
  c->reader.wants_blocks = options->cut.mode != CUT_WHOLE || options->cut.layers || options->plan_from;
  c->reader.ranks = options->ranks;
  c->reader.has_halos = options->has_halos;
  c->reader.halos = options->halos;
  c->reader.wants_nested = options_emits(options, "report") || options->product == PRODUCT_PLAN;
  c->reader.is_overridden = options->data_path != NULL;
}

/* The data are described as before. */
static bool describe_again(void *info, const DataSpec *spec, Diags *diags, DataInfo *described) {
  (void)spec;
  (void)diags;
  *described = *(const DataInfo *)info;
  return true;
}

static bool compile_again(const Compilation *asked, const Options *options, const DataInfo *info, Compilation *c) {
  start(c, options, asked->share_dir);
  c->is_trying = true;
  c->known_info = info;
  c->reader.wants_nested = false;
  c->text = arena_strndup(c->arena, asked->text, asked->length);
  c->length = asked->length;
  c->model_path = asked->model_path;
  c->stem = asked->stem;
  c->reader.base_dir = asked->reader.base_dir;
  return run(c) == 0 && diags_error_count(c->diags) == 0;
}

/* The same program for the processor in fp32, everything kept: the half that checks gradients in double. false: there is none. */
static bool emit_for_processor(const Compilation *asked, FILE *out) {
  BudgetRequest budgets[] = {{"device", "1024GiB"}, {"host", "0"}, {"ssd", "0"}};
  Options options = *asked->options;
  options.dump = options.sweep = options.measured = options.profile = options.plan_from = NULL;
  options.stop_after = "explain";
  options.policy = policy_names[POLICY_KEEP];
  options.tuning = NULL;
  options.trial = NULL;
  options.target = NULL;
  options.ranks = 1;
  options.backend = "cpu";
  options.precision = PRECISION_FP32;
  options.gemm = options.spmm = NULL;
  options.cut = (CutWish){.mode = CUT_WHOLE, .count = 1};
  options.is_native = true;
  options.is_timing = options.is_verifying = options.is_simulated = false;
  options.product = PRODUCT_PROGRAM;
  options.emit_count = 0;
  options.budgets = budgets;
  options.budget_count = 3;
  options.prefix = asked->emission.prefix;
  Compilation c;
  bool is_done = compile_again(asked, &options, NULL, &c);
  if (is_done) emit_source(&c.emission, out);
  arena_free(c.arena);
  return is_done;
}

/* ---- the passes ---- */

/* The scanner hands its tokens to the parser one by one; this pass exists to be looked at. */
static bool run_scan(Compilation *c) {
  return c->text != NULL;
}

static bool run_parse(Compilation *c) {
  c->ast = lang_parse(c->arena, c->diags, c->model_path, c->text, c->length, &c->lang);
  return c->ast != NULL;
}

static bool run_check(Compilation *c) {
  c->program = lang_check(c->arena, c->diags, c->ast, &c->lang);
  if (!c->program) return false;
  data_warn(&c->reader, c->program, c->diags);
  if (c->options->is_native) c->program->has_target = false;
  c->ranks = data_ranks(&c->reader, c->program->data);
  DataSource *source = &c->program->data->source;
  for (int i = 0; i < source->arg_count; i++) /* the program is run from where it was compiled */
    if (data_is_path(source, i)) source->args[i].text = data_path(&c->reader, source->args[i].text);
  for (int i = 0; i < c->program->data->decl_count; i++) {
    DataSource *own = c->program->data->decls[i].source;
    if (own) own->args[0].text = data_order_path(&c->reader, own->args[0].text);
  }
  DataRecipe *recipe = &c->program->data->recipe;
  if (recipe->order_path) recipe->order_path = data_order_path(&c->reader, recipe->order_path);
  return true;
}

static bool run_lower(Compilation *c) {
  c->forward = lower(c->arena, c->program);
  simplify(c->forward);
  return true;
}

static bool run_reassociate(Compilation *c) {
  if (c->options->is_reassociating) reassociate(c->forward);
  return true;
}

static bool run_autodiff(Compilation *c) {
  const Association *association = c->program->has_train && c->options->is_reassociating ? associate(c->forward) : NULL;
  c->evaluation = evaluation_graph(c->forward);
  if (!c->program->has_train) return true;
  c->training = c->forward;
  autodiff(c->training, association);
  return true;
}

static bool run_simplify(Compilation *c) {
  if (c->training) simplify(c->training);
  if (c->training && c->options->is_reassociating) {
    int told = c->training->note_count;
    factor(c->training);
    for (; told < c->training->note_count; told++) ARENA_PUSH(c->arena, c->evaluation->notes, c->evaluation->note_count, c->training->notes[told]);
    simplify(c->training);
  }
  return true;
}

/* Values are pinned by name, a library may add up otherwise, and batches differ: there everything is computed where it was written. */
static bool may_hoist(const Compilation *c) {
  const Options *o = c->options;
  return o->is_hoisting && c->program->has_train && c->program->train.batch_graphs == 0 && pins_are_of_data(c->arena, c->program, c->training) && !o->spmm;
}

static bool run_hoist(Compilation *c) {
  if (c->training) graph_name_values(c->training); /* in all forms they have these names */
  graph_name_values(c->evaluation);
  c->is_hoisting = may_hoist(c);
  c->hoisting = c->is_hoisting ? hoist(c->arena, c->training, c->evaluation) : NULL;
  return true;
}

/* The backend of the target, unless the command line names one. */
static Backend backend_of(const Compilation *c) {
  const TypedProgram *p = c->program;
  bool is_gpu = p->has_target && p->target.kind && strncmp(p->target.kind, "cuda", 4) == 0;
  const char *asked = c->options->is_simulated && c->ranks > 1 ? NULL : c->options->backend; /* several devices are only planned for: as the target has them */
  return (asked ? strcmp(asked, "cuda") == 0 : is_gpu) ? BACKEND_CUDA : BACKEND_CPU;
}

/* --arch, else the target's kind, cuda(sm_80); else code that drivers translate for any GPU that nvcc 13 knows. */
static const char *architecture_of(const Compilation *c) {
  const TypedProgram *p = c->program;
  if (c->options->architecture) return c->options->architecture;
  if (!p->has_target || !p->target.kind || strncmp(p->target.kind, "cuda(", 5) != 0) return "compute_75";
  return arena_strndup(c->arena, p->target.kind + 5, strcspn(p->target.kind + 5, ")"));
}

static const char *said_of_gpu(const Compilation *c) {
  const Options *o = c->options;
  if (o->precision == PRECISION_TF32) return "--precision=tf32";
  return o->gemm ? arena_printf(c->arena, "--gemm=%s", o->gemm) : o->spmm ? arena_printf(c->arena, "--spmm=%s", o->spmm) : NULL;
}

/* What only a GPU has is asked of it alone. */
static bool check_precision(Compilation *c, const char *architecture) {
  const Options *o = c->options;
  const char *name = precision_name(o->precision);
  if (c->backend != BACKEND_CUDA) {
    const char *asked = said_of_gpu(c);
    if (!asked) return true;
    diags_error(c->diags, "E0110", diags_no_place(), "%s is for programs for a GPU; on a processor everything is computed in fp32 by our own kernels", asked);
    diags_help(c->diags, o->precision == PRECISION_TF32 ? "--backend=cuda; or --precision=bf16, which stores values in 2 bytes a number" : "--backend=cuda");
    return false;
  }
  bool is_own = o->gemm && strcmp(o->gemm, "own") == 0, is_spmm_by_library = o->spmm && strcmp(o->spmm, "cusparse") == 0;
  if (o->precision && !(is_own && o->precision == PRECISION_BF16) && strncmp(architecture, "sm_", 3) == 0 && atoi(architecture + 3) < 80) {
    diags_error(c->diags, "E0110", diags_no_place(), "--precision=%s needs sm_80 or newer, and this program is for %s", name, architecture);
    return false;
  }
  if (o->precision == PRECISION_TF32 && is_own) {
    diags_error(c->diags, "E0110", diags_no_place(), "--precision=tf32 needs cuBLASLt: our own kernels multiply in fp32");
    return false;
  }
  if (o->precision == PRECISION_BF16 && is_spmm_by_library) {
    diags_error(c->diags, "E0110", diags_no_place(), "--precision=bf16 needs --spmm=own: sums over neighbours by cuSPARSE are of fp32");
    return false;
  }
  return true;
}

/* ---- the tuning of kernels ---- */

/* By the name of the target, else of the architecture; in the cache. */
static const char *kept_tuning(const Compilation *c) {
  const TypedProgram *p = c->program;
  const char *cache = cache_directory(c->arena);
  return cache ? arena_printf(c->arena, "%s/tune-%s.json", cache, p->has_target ? p->target.name : architecture_of(c)) : NULL;
}

/* One that was named has to be right; of what is kept from earlier only a warning comes. */
static bool cannot_tune(Compilation *c, const char *fault) {
  bool is_named = c->options->tuning != NULL;
  if (is_named || (!c->is_trying && !c->options->is_quiet))
    fprintf(stderr, "gnncc: %s: cannot use the tuning %s: %s\n", is_named ? "error" : "warning", c->tuning_path, fault);
  if (is_named) c->status = 4;
  return !is_named;
}

static bool read_tuning(Compilation *c) {
  const char *asked = c->options->tuning, *fault;
  if (c->backend != BACKEND_CUDA || (asked && strcmp(asked, "none") == 0)) return true;
  c->tuning_path = asked ? asked : kept_tuning(c);
  if (!asked && (c->ranks > 1 || !c->tuning_path || access(c->tuning_path, F_OK) != 0)) return true;
  c->fuse_options.tuning = tuning_read(c->arena, c->tuning_path, architecture_of(c), &fault);
  return c->fuse_options.tuning || cannot_tune(c, fault);
}

static int count_tuned(const Kernels *kernels) {
  int count = 0;
  for (int i = 0; kernels && i < kernels->kernel_count; i++) count += kernels->kernels[i].is_tuned;
  return count;
}

static void note_tuning(Compilation *c) {
  int count = count_tuned(c->training_kernels) + count_tuned(c->evaluation_kernels);
  const char *slash = strrchr(c->tuning_path, '/'), *file = slash ? slash + 1 : c->tuning_path;
  ARENA_PUSH(c->arena, c->evaluation->notes, c->evaluation->note_count, arena_printf(c->arena, "%d kernel%s not as usual but as %s says (--tuning=none)", count, count == 1 ? " is" : "s are", file));
}

static int count_half(const Kernels *kernels) {
  int count = 0;
  for (int i = 0; kernels && i < kernels->graph->value_count; i++) count += kernels->is_half[i];
  return count;
}

static void note_half(Compilation *c) {
  int count = count_half(c->training_kernels) + count_half(c->evaluation_kernels);
  ARENA_PUSH(c->arena, c->evaluation->notes, c->evaluation->note_count,
             arena_printf(c->arena, "%d value%s kept in bf16, 2 bytes a number; results of layers are not kept for predict --layer", count,
                          count == 1 ? " is" : "s are"));
}

static bool run_fuse(Compilation *c) {
  const Options *o = c->options;
  c->backend = backend_of(c);
  if (!check_precision(c, architecture_of(c)) || !check_cut(c)) return false;
  c->fuse_options = (FuseOptions){.is_fusing = o->is_fusing, .is_placing = o->is_placing, .is_staging = o->is_staging, .backend = c->backend, .precision = o->precision,
                                  .is_gemm_own = o->gemm && strcmp(o->gemm, "own") == 0, .is_spmm_by_library = o->spmm && strcmp(o->spmm, "cusparse") == 0,
                                  .is_gemm_said = o->gemm != NULL, .is_spmm_said = o->spmm != NULL,
                                  .is_padding = rows_are_padded(c->training, c->evaluation, c->backend), .trial = o->trial ? o->trial->number : 0};
  if (!read_tuning(c)) return false;
  /* Whether a layer's result may be asked for says where it is rounded, and that must not depend on whether there is room for it. */
  if (o->precision == PRECISION_BF16) graph_drop_taps(c->evaluation);
  if (o->precision == PRECISION_BF16 && c->hoisting) graph_drop_taps(c->hoisting->evaluation);
  c->is_sparse_field = sparse_fields(c->training ? c->training : c->evaluation);
  if (c->training) c->training_kernels = fuse(c->training, c->is_sparse_field, &c->fuse_options);
  c->evaluation_kernels = fuse(c->evaluation, c->is_sparse_field, &c->fuse_options);
  warn_slow(c->diags, c->training ? c->training_kernels : c->evaluation_kernels);
  const char *fault = c->fuse_options.tuning ? tuning_fault(c->fuse_options.tuning) : NULL;
  if (fault && !cannot_tune(c, fault)) return false;
  if (c->fuse_options.tuning) note_tuning(c);
  if (o->precision == PRECISION_BF16) note_half(c);
  const TrainSpec *train = &c->program->train;
  if (train->batch_graphs)
    ARENA_PUSH(c->arena, c->evaluation->notes, c->evaluation->note_count,
               arena_printf(c->arena, "planned for a batch: at most %" PRId64 " graphs with %" PRId64 " nodes and %" PRId64 " edges; an epoch has %" PRId64, c->program->info->graphs,
                            c->program->info->nodes, c->program->info->edges, train->batch_count));
  c->forms[FORM_PLAIN] = (Form){.training = c->training, .training_kernels = c->training_kernels, .evaluation_count = 1, .evaluations = {{c->evaluation, c->evaluation_kernels}}};
  make_hoisted_form(c);
  for (int f = 0; f < FORM_COUNT; f++) add_evaluation_without_taps(c, &c->forms[f]);
  return true;
}

/* --budget wins over `plan`, which wins over the target: only here it shows whether there is such a tier, and what a share of it is. */
static bool set_budget(Compilation *c, const char *name, const char *size) {
  const char *fault = NULL, *device = tier_device(c->program);
  Tier tier;
  if (!tier_named(device, name, &tier)) fault = tier_unknown(c->arena, device, name);
  else if (!unit_size(size, c->machine.tier_bytes[tier], &c->machine.tier_bytes[tier])) fault = "the size is too large";
  if (!fault) return true;
  fprintf(stderr, "gnncc: error: --budget %s=%s: %s\n", name, size, fault);
  c->status = 2;
  return false;
}

static uint64_t hashed(uint64_t hash, uint64_t number) { return (hash ^ number) * 0x100000001b3u; }

static uint64_t hashed_text(uint64_t hash, const char *text) {
  for (; *text; text++) hash = hashed(hash, (unsigned char)*text);
  return hash;
}

static uint64_t hashed_program(const Compilation *c, uint64_t source) {
  uint64_t hash = hashed_text(hashed(source, c->program->info->fingerprint), GNNCC_VERSION);
  return hashed(hash, (uint64_t)(c->options->is_fusing * 2 + c->options->is_reassociating));
}

/* Variants may leave other bits. */
static uint64_t hashed_variants(uint64_t hash, const Kernels *kernels) {
  for (int i = 0; kernels && i < kernels->kernel_count; i++)
    if (kernels->kernels[i].is_tuned) hash = hashed_text(hashed(hash, (uint64_t)i), kernels->kernels[i].variant.name);
  return hash;
}

static void find_fingerprints(Compilation *c) {
  uint64_t model = hashed_program(c, c->program->model_fingerprint), source = hashed_program(c, c->program->source_fingerprint);
  if (c->backend == BACKEND_CUDA) { /* other kernels, other scratch */
    const FuseOptions *o = &c->fuse_options;
    source = hashed(hashed_text(source, "cuda"), (uint64_t)(4 * (int)o->precision + 2 * o->is_gemm_own + o->is_spmm_by_library));
    source = hashed_variants(hashed_variants(source, c->training_kernels), c->evaluation_kernels);
  }
  if (c->backend == BACKEND_CPU && c->options->precision == PRECISION_BF16) source = hashed(hashed_text(source, "bf16"), c->options->is_staging);
  c->model_fingerprint = arena_printf(c->arena, "%012" PRIx64, model >> 16);
  c->fingerprint = arena_printf(c->arena, "%012" PRIx64, hashed_text(source, c->machine.name) >> 16);
}

static bool read_profile(Compilation *c) {
  const char *fault;
  if (cost_read_profile(&c->machine, c->options->profile, c->model_fingerprint, c->arena, &fault)) return true;
  fprintf(stderr, "gnncc: error: cannot use the profile %s: %s\n", c->options->profile, fault);
  c->status = 4;
  return false;
}

static void record_trial(const Compilation *c, Trial *trial) {
  const char *path = kept_tuning(c);
  trial->is_cuda = c->backend == BACKEND_CUDA;
  trial->has_train = c->training != NULL;
  trial->architecture = arena_strdup(trial->arena, architecture_of(c));
  trial->tuning_path = path ? arena_strdup(trial->arena, path) : NULL;
  trial->model_fingerprint = arena_strdup(trial->arena, c->model_fingerprint);
  trial_record(trial, c->training_kernels);
}

static bool run_cost(Compilation *c) {
  c->machine = machine_of_target(c->program->has_target ? &c->program->target : calibrated_native(c->arena, c->share_dir));
  if (c->ranks > 1) machine_share_out(&c->machine, c->ranks);
  c->machine.way = exchange_way(c);
  memcpy(c->machine_bytes, c->machine.tier_bytes, sizeof c->machine_bytes);
  if (c->backend == BACKEND_CUDA) c->machine.is_ssd_direct = false; /* a disk reads and writes the host's memory */
  find_fingerprints(c);
  if (c->options->trial && !c->is_trying) record_trial(c, c->options->trial);
  if (c->options->profile && !read_profile(c)) return false;
  for (int i = 0; i < c->program->budget_count; i++) {
    const TierBudget *b = &c->program->budgets[i];
    c->machine.tier_bytes[b->tier] = b->bytes >= 0 ? b->bytes : (int64_t)(b->share * (double)c->machine.tier_bytes[b->tier]);
  }
  for (int i = 0; i < c->options->budget_count; i++)
    if (!set_budget(c, c->options->budgets[i].tier, c->options->budgets[i].size)) return false;
  c->unswept = c->machine;
  const char *fault = c->options->sweep ? sweep_prepare(c->arena, c->program, c->options->sweep, &c->machine) : NULL;
  if (!fault) return true;
  fprintf(stderr, "gnncc: error: --sweep %s: %s\n", c->options->sweep, fault);
  c->status = 2; /* the command line is wrong, which shows only here: the target says what its tiers are called and how large they are */
  return false;
}

/* ---- the plan ---- */

static bool check_links(Compilation *c) {
  static const Lane needed[TIER_COUNT] = {[TIER_HOST] = LANE_D2H, [TIER_SSD] = LANE_SSD_WRITE};
  const Machine *m = &c->machine;
  const char *device = tier_device(c->program);
  Place place = c->program->has_target ? c->program->target.place : diags_no_place();
  for (Tier t = TIER_HOST; t < TIER_COUNT; t++) {
    if (m->tier_bytes[t] == 0 || m->links[needed[t]].bandwidth > 0) continue;
    lang_unreachable(c->diags, place, t == TIER_SSD && m->tier_bytes[TIER_HOST] > 0 ? tier_names[TIER_HOST] : device, t);
    return false;
  }
  return true;
}

static const char *asked_for(const char *option, const char *setting) { return option ? option : setting; }

/* By itself; or, where parts were asked for, with data where there is room for them, unless that was asked for, too. */
static bool may_be_cut(const Compilation *c) {
  const bool may_have_parts = c->ranks < 2 || (ranks_are_cut(c) && exchange_asked(c) != EXCHANGE_TRANSPOSE && exchange_asked(c) != EXCHANGE_RECOMPUTE);
  return cut_wish(c).mode != CUT_WHOLE && may_have_parts && !cut_has_data_away(cut_asked(c)) && !c->program->train.batch_graphs && !c->options->has_double && !c->options->plan_from;
}

static PlanRequest request_of(Compilation *c) {
  static const char *const efforts[] = {"fast", "normal", "best"};
  const Options *o = c->options;
  const char *effort = asked_for(o->plan_effort, c->program->plan_effort), *policy = asked_for(o->policy, c->program->plan_policy);
  PlanRequest r = {.arena = c->arena, .known = arena_alloc(c->arena, sizeof(KnownPlans)), .forms = c->forms, .machine = c->machine, .effort = PLANNER_NORMAL, .policy = -1, .fingerprint = c->fingerprint,
                   .least = c->is_trying ? PLANNER_LEAST_NONE : PLANNER_LEAST_DEVICE, .needs_no_bound = c->is_trying, .work = &c->planning_work};
  for (int e = 0; effort && e <= PLANNER_BEST; e++)
    if (strcmp(effort, efforts[e]) == 0) r.effort = (PlannerEffort)e;
  if (o->takes_first) r = plan_request_of_first(r), r.is_trial = true; /* its time is asked, not how low it can lie */
  if (policy) r.policy = vocabulary_find(policy_names, policy);
  r.time_limit_s = c->forms[FORM_HOISTED].evaluation_count > 0 ? o->plan_seconds / 2 : o->plan_seconds; /* there are two forms to plan */
  r.cut = (Cut){.parts = 1, .slices = 1};
  r.forms_of = cut_forms;
  r.of = c;
  r.slices_at_most = !o->is_slicing ? 1 : slices_at_most(c->forms[FORM_PLAIN].training ? c->forms[FORM_PLAIN].training : c->forms[FORM_PLAIN].evaluations[0].graph);
  r.has_fields = cut_field_away(c) != NULL && (c->ranks < 2 || ranks_have_data_away(c));
  r.has_learned = cut_learned_away(c) != NULL;
  r.has_graph = !cut_keeps_graph(c);
  r.scores_bytes = scores_bytes(c);
  r.has_given_parts = cut_wish_is_fixed(cut_wish(c));
  r.parts_at_most = !may_be_cut(c) ? 1 : r.has_given_parts ? cut_asked(c).parts : parts_at_most(c->program->info, PARTS_AT_MOST);
  r.pins = pins_read(c->arena, c->program, c->training_kernels, &c->machine, cut_asked(c), c->diags);
  return r;
}

static bool internal(Compilation *c, const char *at, const char *what) {
  fprintf(stderr, "gnncc: internal error in plan: %s: %s\ngnncc: this is a bug in gnncc, not in your program: please report it with the model\n", at, what);
  c->status = 70;
  return false;
}

/* Who asks for more than 2^56 bytes or nanoseconds has made a mistake; everything else that the planner cannot take is ours. */
static bool cannot_plan(Compilation *c, const char *at, const char *fault) {
  if (!problem_is_beyond_counting(fault)) return internal(c, at, fault);
  diags_error(c->diags, "E0113", c->program->data->place, "an epoch over these data cannot be planned: %s", fault);
  return false;
}

static bool refuse(Compilation *c) {
  if (c->is_trying) {
    diags_error(c->diags, "E0501", diags_no_place(), "it does not fit");
    return false;
  }
  const Refusal refusal = {&c->asked, &c->request, c->answer, c->program, c->request.given ? c->options->plan_from : NULL, changes_of(c, compile_again)};
  const char *fault = verdict_refuse(&refusal, c->diags);
  return fault ? cannot_plan(c, "a way out", fault) : false;
}

static bool run_plan(Compilation *c) {
  for (int f = 0; f < FORM_COUNT; f++) {
    Form *form = &c->forms[f];
    if (form->evaluation_count) form->residents = form_residents(c->arena, form, c->is_sparse_field, (DataHomes){0});
  }
  if (!check_links(c)) return false;
  c->request = request_of(c);
  if (diags_error_count(c->diags) > 0) return false;
  if (!share_out_ranks(c) || !check_exchanges(c)) return false;
  const Cut asked = cut_with_exchanges(c, cut_asked(c));
  c->request.may_transpose = layers_to_try(c, EXCHANGE_TRANSPOSE);
  c->request.may_recompute = layers_to_try(c, EXCHANGE_RECOMPUTE);
  c->request.may_dedup = may_dedup(c);
  c->request = plan_request_cut(&c->request, asked);
  if (!cut_is(c->request.cut, asked)) return refuse_cut(c, "whose kernels leave the same bits then; here they would round or add otherwise");
  if (!check_dedup(c)) return false;
  if (c->options->plan_from) c->request = plan_request_with_room(&c->request);
  if (c->options->plan_from && !take_given_plan(c)) return false;
  c->asked = c->request;
  c->answer = plan_answer(&c->request);
  c->request = plan_request_cut(&c->request, c->answer->cut);
  c->request.parts_at_most = 1;
  if (c->answer->fault) return cannot_plan(c, c->answer->fault_at, c->answer->fault);
  return c->answer->fits ? check_chosen_exchanges(c) : refuse(c);
}

/* The answer has a schedule and a layout; these two passes exist to be verified and looked at. */
static bool run_schedule(Compilation *c) { return c->answer->schedule != NULL; }
static bool run_layout(Compilation *c) { return c->answer->layout != NULL; }

/* ---- the explanation ---- */

/* How much slower than the machine of the plan this one runs its slowest step, with some room; at least 1. */
static double find_slowdown(const Schedule *schedule) {
  Machine here = machine_of_target(NULL);
  double slowdown = 1;
  for (int s = 0; s < schedule_step_count(schedule); s++) {
    const Step *step = &schedule->steps[s];
    if (step->kind != STEP_KERNEL || step->cost.seconds <= 0) continue;
    const Kernel *kernel = &step->kernels->kernels[step->kernel];
    double ratio = 1.5 * cost_of_part(step->parts, kernel, cost_of_kernel(&here, step->kernels, kernel, NULL), step->part).seconds / step->cost.seconds;
    if (ratio > slowdown) slowdown = ratio;
  }
  return slowdown;
}

static bool is_checked_against_keeping(const Compilation *c) {
  return !c->is_trying && !c->rank && c->options->product != PRODUCT_PLAN && !schedule_keeps_all(c->answer->schedule);
}

static bool run_explain(Compilation *c) {
  enum { WEIGHED = 64 };
  const Options *o = c->options;
  const PlanAnswer *a = c->answer;
  Decisions *d = decisions(c->arena, a->schedule, c->request.pins);
  bool is_reported = options_emits(o, "report"), is_explained = is_reported || o->product == PRODUCT_PLAN;
  if (is_explained && a->training_plan) decisions_weigh(c->arena, a->training_plan, d, o->is_verbose || o->is_plan_json ? d->count : WEIGHED);
  c->emission = (Emission){.arena = c->arena, .program = program_of_cut(c, a->cut), .machine = &c->machine, .training_plan = a->training_plan,
                           .evaluation_plan = a->evaluation_plan, .schedule = a->schedule, .layout = a->layout, .training = a->of->training_kernels,
                           .evaluation = a->evaluation->kernels, .is_sparse_field = c->is_sparse_field, .backend = c->backend, .architecture = architecture_of(c),
                           .fingerprint = c->fingerprint, .model_fingerprint = c->model_fingerprint,
                           .model_path = c->model_path, .source_text = c->text};
  c->emission.process = process_of(c->emission.program, a->schedule, a->layout, &c->machine, c->backend == BACKEND_CUDA);
  c->emission.has_lines = o->is_debugging;
  c->emission.has_double = o->has_double && c->program->has_train;
  for (int i = 0; i < d->count; i++) c->emission.values_by_fate[d->list[i].fate]++;
  if (is_checked_against_keeping(c) && !(c->emission.keep_order = plan_keep_order(&c->request, a))) return false;
  if (o->is_simulated) c->emission.slowdown = find_slowdown(a->schedule);
  c->emission.prefix = emit_prefix(c->arena, o->prefix ? o->prefix : c->stem);
  Instead *instead = is_explained ? instead_of(&c->request, a, c->asked.parts_at_most > 1) : NULL;
  c->explanation = (Explanation){.emission = &c->emission, .cut = a->cut, .tables = a->of->tables, .decisions = d, .instead = instead};
  if (is_explained && !c->request.given) c->explanation.advice = advice_of(&c->asked, a, instead, changes_of(c, compile_again));
  const SweptProgram swept = {c->program, &c->request, a, &c->asked, &c->unswept, 0};
  if (o->sweep) c->explanation.sweep = sweep_asked(&swept, o->sweep);
  else if (is_reported) c->explanation.sweep = sweep_of_device(&swept, c->explanation.instead);
  c->emission.plan_json = report_plan_json(&c->explanation);
  return c->emission.plan_json != NULL;
}

/* ---- the products ---- */

/* Another program checks the gradients: the same for the processor, in fp32. */
static bool emit_double(Compilation *c) {
  const char *path = workplace_file(c->workplace, arena_printf(c->arena, "%s_in_double.c", c->emission.prefix));
  FILE *out = fopen(path, "wb");
  if (!out) {
    c->status = outfile_complain("write", path);
    return false;
  }
  bool is_made = emit_for_processor(c, out);
  if (outfile_end(out) && is_made) c->double_source = path;
  return true;
}

static bool run_emit(Compilation *c) {
  if (!build_emit(c)) return false;
  return c->options->product != PRODUCT_PROGRAM || !c->emission.has_double || emit_is_own_twin(&c->emission) || emit_double(c);
}

/* ---- verifiers and dumps ---- */

static void dump_scan(Compilation *c, FILE *out) { lang_dump_tokens(c->arena, c->text, c->length, out); }

static const char *verify_forward(Compilation *c) { return verify_graph(c->forward); }

static const char *verify_graphs(Compilation *c) {
  const char *fault = c->training ? verify_graph(c->training) : NULL;
  return fault ? fault : verify_graph(c->evaluation);
}

static const char *verify_hoisted(Compilation *c) {
  const Graph *graphs[] = {c->training, c->evaluation, c->hoisting ? c->hoisting->graph : NULL, c->hoisting ? c->hoisting->training : NULL,
                           c->hoisting ? c->hoisting->evaluation : NULL};
  const char *fault = NULL;
  for (int g = 0; g < 5 && !fault; g++) fault = graphs[g] ? verify_graph(graphs[g]) : NULL;
  return fault;
}

static const char *verify_fused(Compilation *c) {
  const char *fault = NULL;
  for (int f = 0; f < 2 && !fault; f++) {
    const Form *form = &c->forms[f];
    const Kernels *all[] = {form->training_kernels, form->evaluations[0].kernels, form->evaluations[1].kernels, form->once};
    for (int k = 0; k < 4 && !fault; k++) fault = all[k] ? verify_kernels(all[k]) : NULL;
  }
  return fault;
}

static const char *verify_planned(Compilation *c) {
  const PlanAnswer *a = c->answer;
  const char *fault = a->training_plan ? verify_plan(a->training_plan) : NULL;
  if (!fault && a->once_plan) fault = verify_plan(a->once_plan);
  return fault ? fault : verify_plan(a->evaluation_plan);
}
static const char *verify_scheduled(Compilation *c) { return verify_schedule(c->answer->schedule); }

static const char *verify_laid_out(Compilation *c) {
  return verify_layout(c->answer->layout, c->answer->schedule);
}

static const char *verify_explained(Compilation *c) {
  const KeepOrder *keep = c->emission.keep_order;
  const char *fault = keep ? verify_schedule(keep->schedule) : NULL;
  return !fault && keep ? verify_layout(keep->layout, keep->schedule) : fault;
}

static void dump_parse(Compilation *c, FILE *out) { ast_dump(c->ast, out); }
static void dump_check(Compilation *c, FILE *out) { typed_dump(c->program, out); }
static void dump_forward(Compilation *c, FILE *out) { graph_dump(c->forward, out); }

static void dump_graphs(Compilation *c, FILE *out) {
  if (c->training) graph_dump(c->training, out);
  fprintf(out, "evaluation:\n");
  graph_dump(c->evaluation, out);
}

static void dump_hoisted(Compilation *c, FILE *out) {
  if (!c->hoisting) {
    fprintf(out, "nothing can be computed once\n");
    return;
  }
  graph_dump(c->hoisting->graph, out);
  fprintf(out, "training:\n");
  graph_dump(c->hoisting->training, out);
  fprintf(out, "evaluation:\n");
  graph_dump(c->hoisting->evaluation, out);
}

static void dump_kernels(Compilation *c, FILE *out) {
  if (c->training_kernels) kernels_dump(c->training_kernels, out);
  fprintf(out, "evaluation:\n");
  kernels_dump(c->evaluation_kernels, out);
  const Form *form = &c->forms[FORM_HOISTED];
  if (!form->once) return;
  fprintf(out, "what can be computed once:\n");
  kernels_dump(form->once, out);
  fprintf(out, "the epoch then:\n");
  kernels_dump(form->training_kernels, out);
  fprintf(out, "the evaluation then:\n");
  kernels_dump(form->evaluations[0].kernels, out);
}

static void dump_cost(Compilation *c, FILE *out) {
  const Machine *m = &c->machine;
  fprintf(out, "%s: device %" PRId64 " bytes, host %" PRId64 ", ssd %" PRId64 ", %.4g GB/s, %.4g GFLOP/s, %.3g us a step\n", m->name,
          m->tier_bytes[TIER_DEVICE], m->tier_bytes[TIER_HOST], m->tier_bytes[TIER_SSD], m->bandwidth / 1e9, m->flops / 1e9, 1e6 * m->step_seconds);
}

static void dump_plan(Compilation *c, FILE *out) {
  size_t length;
  const PlanAnswer *a = c->answer;
  if (a->training_plan) fputs(plan_write_json(a->training_plan->planned, c->arena, &length), out);
  fprintf(out, "evaluation:\n%s", plan_write_json(a->evaluation_plan->planned, c->arena, &length));
}

static void dump_schedule(Compilation *c, FILE *out) { schedule_print(c->answer->schedule, false, out); }

static void dump_layout(Compilation *c, FILE *out) {
  const Layout *y = c->answer->layout;
  for (int i = 0; i < y->count; i++) {
    const Block *b = &y->blocks[i];
    fprintf(out, "%12" PRId64 " + %12" PRId64 "  steps %4d-%-4d %-10s %s\n", b->offset, b->bytes, b->first + 1, b->last + 1, block_kind_name(b->kind), b->name);
  }
  fprintf(out, "arena %" PRId64 " bytes, at least %" PRId64 "\n", y->bytes, y->lower_bound);
}

static void dump_emit(Compilation *c, FILE *out) { emit_source(&c->emission, out); }

/* ---- the road ---- */

typedef struct Pass {
  const char *name;
  bool (*run)(Compilation *c);
  const char *(*verify)(Compilation *c);
  void (*dump)(Compilation *c, FILE *out);
} Pass;

static const Pass road[] = {
    {"scan", run_scan, NULL, dump_scan},
    {"parse", run_parse, NULL, dump_parse},
    {"check", run_check, NULL, dump_check},
    {"lower", run_lower, verify_forward, dump_forward},
    {"reassociate", run_reassociate, verify_forward, dump_forward},
    {"autodiff", run_autodiff, verify_graphs, dump_graphs},
    {"simplify", run_simplify, verify_graphs, dump_graphs},
    {"hoist", run_hoist, verify_hoisted, dump_hoisted},
    {"fuse", run_fuse, verify_fused, dump_kernels},
    {"cost", run_cost, NULL, dump_cost},
    {"plan", run_plan, verify_planned, dump_plan},
    {"schedule", run_schedule, verify_scheduled, dump_schedule},
    {"layout", run_layout, verify_laid_out, dump_layout},
    {"explain", run_explain, verify_explained, NULL},
    {"emit", run_emit, NULL, dump_emit},
    {"build", build_product, NULL, NULL},
};

enum { PASS_COUNT = sizeof road / sizeof road[0] };

const char *const *driver_passes(void) {
  static const char *names[PASS_COUNT + 1];
  for (int i = 0; i < PASS_COUNT; i++) names[i] = road[i].name;
  return names;
}

static int internal_error(const char *pass, const char *what) {
  fprintf(stderr, "gnncc: internal error in %s: %s\n", pass, what);
  fprintf(stderr, "gnncc: this is a bug in gnncc, not in your program: please report it with the model\n");
  return 70;
}

static bool is_asked(const char *names, const char *pass) {
  size_t length = strlen(pass);
  for (const char *at = names; at && *at;) {
    const char *end = strchr(at, ',');
    size_t span = end ? (size_t)(end - at) : strlen(at);
    if (span == length && strncmp(at, pass, length) == 0) return true;
    at = end ? end + 1 : NULL;
  }
  return false;
}

/* The pass after which there is nothing more to do. */
static const char *last_pass(const Options *options) {
  if (options->stop_after) return options->stop_after;
  if (options->is_expanding || options->is_listing_dependencies) return "parse";
  return options->product == PRODUCT_CHECK ? "check" : options->product == PRODUCT_PLAN && options->emit_count == 0 ? "explain" : "build";
}

/* Nothing is made of it: it is priced, for advice, and checked when somebody types that. */
static bool is_only_priced(const Compilation *c) { return c->is_trying && strcmp(last_pass(c->options), "layout") == 0; }

/* Runs the passes; 0, or an exit status. */
static int walk(Compilation *c) {
  const char *last = last_pass(c->options);
  for (int i = 0; i < PASS_COUNT; i++) {
    const Pass *pass = &road[i];
    double start = clock_seconds(CLOCK_MONOTONIC);
    bool is_done = pass->run(c);
    double seconds = clock_seconds(CLOCK_MONOTONIC) - start;
    if (c->options->is_timing) fprintf(stderr, "%-12s %9.3f ms\n", pass->name, 1e3 * seconds);
    if (!is_done) {
      int status = c->status ? c->status : diags_exit_code(c->diags);
      return status ? status : internal_error(pass->name, "it failed without a reason");
    }
    /* Whatever memory is at stake, every compilation is checked. */
    bool is_about_memory = !is_only_priced(c) && (pass->run == run_plan || pass->run == run_schedule || pass->run == run_layout || pass->run == run_explain);
    const char *fault = pass->verify && (c->options->is_verifying || is_about_memory) ? pass->verify(c) : NULL;
    if (fault) return internal_error(pass->name, fault);
    if (pass->dump && is_asked(c->options->dump, pass->name)) {
      if (strchr(c->options->dump, ',')) printf("--- %s\n", pass->name);
      pass->dump(c, stdout);
    }
    if (strcmp(pass->name, last) == 0) break;
  }
  return 0;
}

static int read_model(Compilation *c) {
  const Options *o = c->options;
  bool is_stdin = strcmp(o->input, "-") == 0;
  c->model_path = is_stdin ? (o->name ? arena_printf(c->arena, "%s.gnn", o->name) : "stdin.gnn") : o->input;
  if (is_stdin && isatty(0)) {
    diags_error(c->diags, "E0001", diags_no_place(), "the model is to be read from a terminal; give a file, or pipe one in");
    return 4;
  }
  c->text = is_stdin ? arena_read_stream(c->arena, stdin, &c->length) : arena_read_file(c->arena, o->input, &c->length);
  if (!c->text) {
    diags_error(c->diags, "E0001", diags_no_place(), "cannot read %s: %s", o->input, gnn_open_reason(errno));
    return 4;
  }
  const char *slash = strrchr(c->model_path, '/');
  c->reader.base_dir = slash ? arena_strndup(c->arena, c->model_path, (size_t)(slash - c->model_path)) : NULL;
  const char *base = slash ? slash + 1 : c->model_path;
  const char *dot = strrchr(base, '.');
  char *stem = arena_strndup(c->arena, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
  if (o->name) stem = arena_strdup(c->arena, o->name);
  c->stem = stem;
  if (strlen(stem) <= STEM_MAX) return 0;
  fprintf(stderr, "gnncc: error: the name of the model, %.40s..., has more than %d bytes; --name=NAME gives another\n", stem, STEM_MAX);
  return 2;
}

static void announce(const Compilation *c) {
  if (c->options->is_quiet || !isatty(2)) return;
  fprintf(stderr, "gnncc: %s on %s, target %s: fits %s %s\n", c->program->name, c->program->data->name, c->machine.name, gnn_is_utf8() ? "\342\200\224" : "-", report_verdict(&c->emission));
  if (c->made) fprintf(stderr, "gnncc: wrote %s\n", c->made);
}

static int explain(Compilation *c) {
  Document *document = c->options->measured ? view_document(c->arena, c->emission.plan_json, c->options->measured) : NULL;
  if (c->options->measured && !document) return 4;
  const Screen screen = screen_of(stdout, diags_wants_color(c->diags, stdout));
  if (!c->options->is_plan_json) report_plan_text(&c->explanation, document ? document->measured : NULL, c->options->is_verbose, &screen);
  else if (document) view_emit(document, "plan", "-", stdout);
  else fputs(c->emission.plan_json, stdout);
  document_free(document);
  return 0;
}

static int expand(Compilation *c) {
  const char *text = lang_expand(c->arena, c->diags, c->ast, &c->lang);
  diags_print(c->diags, stderr);
  return text ? format_write(c->options, arena_printf(c->arena, "# %s " GNNCC_VERSION " -E from %s.\n%s", outfile_mark, escape_comment(c->arena, c->model_path), text)) : diags_exit_code(c->diags);
}

/* -o names a program; options that only look at one make none. */
static void tell_no_program(const Options *o) {
  const bool looks_only = o->product == PRODUCT_CHECK || o->product == PRODUCT_PLAN || o->product == PRODUCT_EMIT;
  if (!looks_only || !o->output || o->is_quiet) return;
  fprintf(stderr, "gnncc: warning: no program was made, and nothing written to %s: %s compiles nothing; --emit=KIND=FILE names the file of a view\n", o->output,
          o->product == PRODUCT_CHECK ? "--check" : o->product == PRODUCT_PLAN ? "--plan" : o->sweep ? "--sweep" : "--emit");
}

static int finish(Compilation *c) {
  if (c->options->stop_after) return 0;
  if (c->options->is_listing_dependencies) return dependencies_write(c, c->stem);
  if (c->options->is_expanding) return expand(c);
  tell_no_program(c->options);
  if (c->options->product == PRODUCT_CHECK) return 0;
  if (c->options->product == PRODUCT_PLAN) return explain(c);
  announce(c);
  return c->options->has_dependency_file && c->delivered ? dependencies_write(c, c->delivered) : 0;
}

static int run(Compilation *c) {
  const Options *o = c->options;
  c->lang = (LangOptions){.define_count = o->define_count, .defines = o->defines, .import_dir_count = o->import_dir_count,
                          .import_dirs = o->import_dirs, .share_dir = c->share_dir, .target = o->target, .data_override = o->data_path, .data_name = o->data_name,
                          .is_shapes_only = o->is_shapes_only, .describe = data_describe, .describe_user = &c->reader};
  if (c->known_info) c->lang.describe = describe_again, c->lang.describe_user = (void *)c->known_info;
  return walk(c);
}

/* --emit=diagnostics: a list, of a compilation that failed, too. */
static int write_diagnostics(const Compilation *c, int status) {
  for (int i = 0; i < c->options->emit_count; i++) {
    const EmitRequest *request = &c->options->emits[i];
    if (strcmp(request->kind, "diagnostics") != 0) continue;
    const char *path = request->path ? request->path : arena_printf(c->arena, "%s.diagnostics.json", c->stem ? c->stem : "model");
    const bool is_stdout = strcmp(path, "-") == 0;
    OutFile file = {.out = stdout};
    if (!is_stdout && (!outfile_may_write(path, c->options->is_forced) || !outfile_open(&file, path))) return 4;
    fprintf(file.out, "{\"format\": \"gnncc-diagnostics/1\", \"generator\": \"%s " GNNCC_VERSION "\", \"diagnostics\": ", outfile_mark);
    diags_print_list(c->diags, file.out);
    fputs("}\n", file.out);
    const int written = is_stdout ? outfile_end_stdout(0) : outfile_close(&file, 0666);
    if (written != 0) return written;
  }
  return status;
}

int driver_compile(const Options *options, const char *share_dir) {
  Compilation c;
  start(&c, options, share_dir);
  diags_set_format(c.diags, options->format);
  diags_set_color(c.diags, options->color);
  diags_set_error_limit(c.diags, options->error_limit);
  for (int i = 0; i < options->warning_count; i++) diags_warning_option(c.diags, options->warnings[i]);
  int status = read_model(&c);
  if (status != 0) diags_print(c.diags, stderr);
  if (status == 0) {
    status = run(&c);
    diags_print(c.diags, stderr);
    if (status == 0) status = diags_exit_code(c.diags);
    if (status == 0) status = finish(&c);
    build_clean(&c, status);
  }
  status = write_diagnostics(&c, status);
  arena_free(c.arena);
  return status;
}
