/* fit: the passes plan, schedule and layout, and the verdict when nothing fits.
 *
 * The planner counts bytes alive; addresses may need more. Where they do, the plan is made again for a device smaller
 * by the excess, until it lies within the budget.
 */
#include "fit.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../lang/suggest.h"
#include "../runtime/text.h"
#include "sweep.h"
#include "tiers.h"

enum { MAX_ATTEMPTS = 8 };

/* ---- what is asked for ---- */

static const char *const efforts[] = {"fast", "normal", "best"};

static void read_options(Compilation *c, PlannerOptions *options) {
  const Options *o = c->options;
  planner_default_options(options);
  const char *effort = c->effort ? c->effort : o->plan_effort ? o->plan_effort : c->program->plan_effort, *policy = o->policy ? o->policy : c->program->plan_policy;
  for (int e = 0; effort && e <= PLANNER_BEST; e++)
    if (strcmp(effort, efforts[e]) == 0) options->effort = (PlannerEffort)e;
  for (int p = 0; policy && p < PLANNER_POLICY_COUNT; p++)
    if (strcmp(policy, policy_name(p)) == 0) options->policy = p;
  options->time_limit_s = c->forms[FORM_HOISTED].evaluation ? o->plan_seconds / 2 : o->plan_seconds; /* there are two forms to plan */
  options->needs_offsets = true;
  options->skips_least_sizes = c->is_probing || c->is_trying;
}

/* ---- pins ---- */

/* Values have the names of C identifiers; a pattern may be written as the source has them, with points. */
static const char *as_identifier(Arena *arena, const char *pattern) {
  char *text = arena_strdup(arena, pattern);
  for (char *p = text; *p; p++)
    if (*p == '.') *p = '_';
  return text;
}

static bool names_input(Compilation *c, const FatePin *pin) {
  for (int f = 0; f < c->program->field_count; f++)
    if (fnmatch(pin->pattern, c->program->fields[f].name, 0) == 0) return true;
  for (int p = 0; p < c->program->param_count; p++)
    if (fnmatch(pin->pattern, c->program->params[p].name, 0) == 0) return true;
  return false;
}

static bool apply_pin(Compilation *c, const FatePin *pin, Pins *pins) {
  static const Tier tiers[] = {TIER_DEVICE, TIER_HOST, TIER_SSD, TIER_DEVICE};
  const Kernels *kernels = c->training_kernels;
  const Graph *graph = kernels->graph;
  const char *pattern = as_identifier(c->arena, pin->pattern);
  Suggest suggest = {.wanted = pattern};
  int count = 0;
  for (int v = 0; v < graph->value_count; v++) {
    if (!kernels->is_stored[v] || graph->values[v].phase != PHASE_FORWARD) continue;
    suggest_offer(&suggest, graph->values[v].name);
    if (fnmatch(pattern, graph->values[v].name, 0) != 0) continue;
    pins->fates[v] = PLAN_FATE_BIT(pin->fate);
    count++;
  }
  if (count && (tiers[pin->fate] == TIER_DEVICE || c->machine.tier_bytes[tiers[pin->fate]] > 0)) return true;
  if (count)
    diags_error(c->diags, "E0506", pin->place, "fate \"%s\" = %s: there is no %s tier (--budget %s=SIZE gives one)", pin->pattern,
                fate_name(pin->fate), fate_name(pin->fate), fate_name(pin->fate));
  else if (names_input(c, pin))
    diags_error(c->diags, "E0506", pin->place, "\"%s\" is input data or a weight: it stays on the device, it is not %s", pin->pattern,
                pin->fate == 3 ? "recomputed" : "moved");
  else
    diags_error(c->diags, "E0505", pin->place, "no value matches \"%s\"%s", pin->pattern, suggest_text(c->arena, &suggest, "\""));
  return false;
}

static bool read_pins(Compilation *c) {
  c->pins = NULL;
  if (!c->training_kernels || c->program->fate_count == 0) return true;
  Pins *pins = arena_alloc(c->arena, sizeof *pins);
  pins->fates = arena_alloc(c->arena, (size_t)(c->training->value_count + 1) * sizeof *pins->fates);
  for (int i = 0; i < c->program->fate_count; i++)
    if (!apply_pin(c, &c->program->fates[i], pins)) return false;
  c->pins = pins;
  return true;
}

/* ---- planning ---- */

static bool internal(Compilation *c, const char *what, const char *why) {
  fprintf(stderr, "gnncc: internal error in plan: %s: %s\ngnncc: this is a bug in gnncc, not in your program: please report it with the model\n", what, why);
  c->status = 70;
  return false;
}

/* Seconds of a plan as they are announced: with what copies take from the compute beside them. */
static double announced_seconds(Compilation *c, const Machine *machine, const Plan *p) {
  return schedule(c->arena, machine, NULL, p)->evaluation_seconds;
}

static unsigned fates_of_moves(const PlannerPlan *plan) {
  unsigned fates = 0;
  for (int i = 0; i < plan->move_count; i++) fates |= PLAN_FATE_BIT(plan->moves[i].to);
  return fates;
}

/* The planner takes copies beside compute for free. Where they are not, a plan that leaves a tier alone may be the faster one. */
static Plan *plan_with_fewer_copies(Compilation *c, const Machine *machine, PlannerOptions options, Plan *found) {
  const double noticed = 1.02;
  static const unsigned tiers[] = {PLAN_FATE_BIT(PLAN_FATE_HOST), PLAN_FATE_BIT(PLAN_FATE_SSD), PLAN_FATE_BIT(PLAN_FATE_HOST) | PLAN_FATE_BIT(PLAN_FATE_SSD)};
  unsigned used = fates_of_moves(found->planned);
  double least = announced_seconds(c, machine, found);
  bool is_limited = options.time_limit_s > 0;
  if (least < noticed * 1e-9 * (double)found->simulation->makespan_ns) return found;
  Plan *best = found;
  if (is_limited) options.time_limit_s = (options.time_limit_s - found->report.total_s) / 3;
  if (is_limited && options.time_limit_s <= 0) return found;
  for (int t = 0; t < 3; t++) {
    if ((used & tiers[t]) != tiers[t]) continue;
    Plan *p = plan_avoiding(c->arena, found->problem, &options, tiers[t], found);
    double seconds = p ? announced_seconds(c, machine, p) : least;
    if (seconds < least) best = p, least = seconds;
  }
  return best;
}

/* The planner knows of what stays and of the epoch. Before the first there may be more. */
static void count_early(const Machine *machine, const Residents *residents, Plan *p) {
  PlannerReport *r = &p->report;
  const int64_t before = residents->bytes + residents->early_bytes;
  if (residents->early_bytes == 0) return;
  if (p->planned && before > machine->tier_bytes[TIER_DEVICE]) {
    p->planned = NULL;
    r->is_feasible = false;
    r->least_device_bytes = sweep_needs(r, TIER_DEVICE);
  }
  p->is_early = p->planned ? sweep_needs(r, TIER_DEVICE) < before : r->least_device_bytes > 0 && r->least_device_bytes < before;
  if (!p->is_early) return;
  if (p->planned) r->height_bytes = before;
  else r->least_device_bytes = r->bind_bytes = before, r->bind_piece_count = 0;
}

/* One plan on a machine; NULL with `error` set when the problem itself is refused. */
static Plan *plan_kernels(Compilation *c, const Machine *machine, const Residents *residents, const Kernels *kernels, const Pins *pins, const PlannerOptions *options,
                          ProblemError *error) {
  const PlanningProblem *problem = planning_problem(c->arena, machine, residents, kernels, pins, c->fingerprint, error);
  Plan *p = problem ? plan(c->arena, problem, options) : NULL;
  bool has_choice = p && p->planned && p->is_valid && options->policy < 0 && !c->is_probing;
  if (has_choice) p = plan_with_fewer_copies(c, machine, *options, p);
  if (p) count_early(machine, residents, p);
  return p;
}

static bool has_taps(const Graph *graph) {
  for (int v = 0; v < graph->value_count; v++)
    if (graph->values[v].tap) return true;
  return false;
}

/* The evaluation without the results of layers that somebody may ask for (predict --layer). */
static Kernels *without_taps(Compilation *c, Graph *graph) {
  if (c->backend == BACKEND_CUDA) graph_hide_taps(graph);
  else graph_drop_taps(graph);
  return fuse(graph, c->is_sparse_field, &c->fuse_options);
}

/* Those results are kept only where there is room. */
static void choose_taps(Compilation *c, bool are_kept) {
  EvaluationChoice *choice = &c->evaluations[are_kept];
  if (!c->evaluations[true].graph) c->evaluations[true] = (EvaluationChoice){c->evaluation, c->evaluation_kernels};
  if (!choice->graph) {
    choice->graph = graph_copy(c->evaluation);
    ARENA_PUSH(c->arena, choice->graph->notes, choice->graph->note_count, "results of layers are not kept for predict --layer: there is no room");
    choice->kernels = without_taps(c, choice->graph);
  }
  c->evaluation = choice->graph;
  c->evaluation_kernels = choice->kernels;
}

/* With those results, else without. */
static Plan *plan_evaluation(Compilation *c, const Machine *machine, const PlannerOptions *options, ProblemError *error) {
  Plan *p = NULL;
  for (int are_kept = 1; are_kept >= 0; are_kept--) {
    choose_taps(c, are_kept);
    p = plan_kernels(c, machine, c->residents, c->evaluation_kernels, NULL, options, error);
    if (!p || p->planned || !has_taps(c->evaluation)) break;
  }
  return p;
}

static bool plan_both(Compilation *c, const Machine *machine) {
  PlannerOptions options, plain;
  ProblemError error = {"", ""};
  read_options(c, &options);
  plain = options;
  plain.policy = -1; /* an evaluation has no backward pass to keep anything for */
  if (c->training_kernels && !c->is_plan_given) {
    c->training_plan = plan_kernels(c, machine, c->residents, c->training_kernels, c->pins, &options, &error);
    if (!c->training_plan) return internal(c, error.place, error.text);
    if (!c->training_plan->is_valid) return internal(c, "the training plan", "the checker rejects it");
    if (!c->training_plan->planned) return true;
  }
  c->evaluation_plan = plan_evaluation(c, machine, &plain, &error);
  if (!c->evaluation_plan) return internal(c, error.place, error.text);
  if (!c->evaluation_plan->is_valid) return internal(c, "the plan of the evaluation", "the checker rejects it");
  return true;
}

static bool does_fit(const Compilation *c) {
  return (!c->training_plan || c->training_plan->planned) && c->evaluation_plan && c->evaluation_plan->planned;
}

static void make_schedule(Compilation *c) {
  c->schedule = schedule(c->arena, &c->machine, c->training_plan, c->evaluation_plan);
  if (c->residents->hoisted_kernels) schedule_hoisted(c->arena, &c->machine, c->schedule, c->residents->hoisted_kernels);
}

static void make_layout(Compilation *c) { c->layout = layout(c->arena, &c->machine, c->schedule, c->residents); }

static bool fit_with_effort(Compilation *c, Machine machine) {
  int64_t budget = machine.tier_bytes[TIER_DEVICE];
  for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (!plan_both(c, &machine) || !does_fit(c)) return false;
    make_schedule(c);
    make_layout(c);
    if (c->layout->bytes <= budget) return true;
    if (c->is_plan_given) return false;
    machine.tier_bytes[TIER_DEVICE] -= c->layout->bytes - budget;
  }
  return false;
}

/* More effort may choose a faster plan that finds no addresses, where less effort chose one that does. */
static bool fit_with_less_effort(Compilation *c, const Machine *machine) {
  PlannerOptions options;
  read_options(c, &options);
  const char *effort = c->effort;
  Plan *training = c->training_plan, *evaluation = c->evaluation_plan;
  bool is_found = false, was_trying = c->is_trying;
  c->is_trying = true; /* the least sizes are known from the plan that did not fit */
  for (int e = (int)options.effort - 1; e >= PLANNER_FAST && !is_found && !c->is_plan_given && !c->status; e--) {
    c->effort = efforts[e];
    is_found = fit_with_effort(c, *machine);
  }
  c->effort = effort;
  c->is_trying = was_trying;
  if (!is_found) c->training_plan = training, c->evaluation_plan = evaluation;
  return is_found;
}

/* In the form that is chosen. */
static bool fit_form(Compilation *c, Machine machine) { return fit_with_effort(c, machine) || fit_with_less_effort(c, &machine); }

/* ---- what is computed once ---- */

/* False: c has no such form. */
static bool choose_form(Compilation *c, FormKind kind) {
  const Form *form = &c->forms[kind];
  if (!form->evaluation) return false;
  if (kind == c->form && c->residents == form->residents) return true;
  c->form = kind;
  c->training = form->training;
  c->evaluation = form->evaluation;
  c->training_kernels = form->training_kernels;
  c->evaluation_kernels = form->evaluation_kernels;
  c->residents = form->residents;
  c->evaluations[0] = c->evaluations[1] = (EvaluationChoice){NULL, NULL};
  return true;
}

/* What a fit leaves in c. */
typedef struct Fitted {
  bool fits;
  double seconds; /* of an epoch, as announced */
  EvaluationChoice evaluation, evaluations[2];
  Plan *training_plan, *evaluation_plan;
  Schedule *schedule;
  Layout *layout;
} Fitted;

/* The form in which what never changes is computed once: its memory is taken for the whole run, so often it does not fit
 * where the other does. c keeps the products. */
static Fitted fit_hoisted(Compilation *c, Machine machine) {
  if (c->is_plan_given || !choose_form(c, FORM_HOISTED)) return (Fitted){.fits = false};
  bool was_trying = c->is_trying;
  c->is_trying = true; /* the least sizes are those of the other form */
  bool fits = fit_form(c, machine);
  c->is_trying = was_trying;
  if (!fits) return (Fitted){.fits = false};
  return (Fitted){true, c->schedule->training_seconds, {c->evaluation, c->evaluation_kernels}, {c->evaluations[0], c->evaluations[1]},
                  c->training_plan, c->evaluation_plan, c->schedule, c->layout};
}

static void take_hoisted(Compilation *c, const Fitted *fitted) {
  choose_form(c, FORM_HOISTED);
  c->evaluation = fitted->evaluation.graph;
  c->evaluation_kernels = fitted->evaluation.kernels;
  memcpy(c->evaluations, fitted->evaluations, sizeof c->evaluations);
  c->training_plan = fitted->training_plan;
  c->evaluation_plan = fitted->evaluation_plan;
  c->schedule = fitted->schedule;
  c->layout = fitted->layout;
}

/* Nothing is faster than a part of the steps, each of them once. */
static bool is_best(const Fitted *fitted) { return fitted->fits && schedule_keeps_all(fitted->schedule); }

/* Plans with addresses within the device of `machine`; false when there are none. c keeps the products. */
static bool fit(Compilation *c, Machine machine) {
  if (c->is_probing || c->is_plan_given) return fit_form(c, machine);
  Fitted hoisted = fit_hoisted(c, machine);
  if (is_best(&hoisted)) return true;
  choose_form(c, FORM_PLAIN);
  bool fits = fit_form(c, machine);
  if (!hoisted.fits || (fits && c->schedule->training_seconds < hoisted.seconds)) return fits;
  take_hoisted(c, &hoisted);
  return true;
}

/* ---- a plan from a file ---- */

static bool take_plan(Compilation *c) {
  const char *path = c->options->plan_from;
  size_t length = 0;
  ProblemError error = {"", ""};
  if (!c->training_kernels) {
    diags_error(c->diags, "E0001", diags_no_place(), "--plan-from %s: there is no train block to plan for", path);
    return false;
  }
  const char *text = arena_read_file(c->arena, path, &length);
  if (!text) {
    diags_error(c->diags, "E0001", diags_no_place(), "cannot read %s: %s", path, strerror(errno));
    return false;
  }
  for (int form = FORM_HOISTED; form >= FORM_PLAIN && !c->training_plan; form--) {
    if (!choose_form(c, (FormKind)form)) continue;
    const PlanningProblem *problem = planning_problem(c->arena, &c->machine, c->residents, c->training_kernels, c->pins, c->fingerprint, &error);
    c->training_plan = problem ? plan_from_text(c->arena, problem, text, length, &error) : NULL;
  }
  if (!c->training_plan) {
    diags_error(c->diags, "E0510", diags_no_place(), "%s is not a plan for this program on this machine: %s%s%s", path, error.place, *error.place ? ": " : "", error.text);
    return false;
  }
  c->is_plan_given = true;
  return true;
}

/* ---- the verdict ---- */

static const char *size_option(Arena *arena, int64_t bytes) { return arena_printf(arena, "%" PRId64 "KiB", (bytes + 1023) / 1024); }

static const char *seconds_text(Arena *arena, double seconds) {
  return seconds < 1 ? arena_printf(arena, "%.3g ms", 1e3 * seconds) : arena_printf(arena, "%.3g s", seconds);
}

static const char *epoch_text(Arena *arena, const Compilation *c) {
  return seconds_text(arena, c->schedule->training_plan ? c->schedule->training_seconds : c->schedule->evaluation_seconds);
}

static int64_t worst_least(const Compilation *c) {
  int64_t least = 0;
  for (int i = 0; i < 2; i++) {
    const Plan *p = i ? c->evaluation_plan : c->training_plan;
    if (p && !p->planned && p->report.least_device_bytes > least) least = p->report.least_device_bytes;
  }
  return least;
}

static bool fits_device(Compilation *c, int64_t bytes) {
  Machine machine = c->machine;
  machine.tier_bytes[TIER_DEVICE] = bytes;
  return fit(c, machine);
}

/* The smallest device, in KiB as the option is written, on which a plan with addresses was found: from what the planner
 * says up to one that does, and down again between the two, but not to what cannot do. -1: none. c keeps its products. */
static int64_t least_device(Compilation *c, int64_t too_small, int64_t guess, int64_t most) {
  enum { KIB = 1024, FEW_STEPS = 250, TRIES = 14, TRIES_WHEN_LARGE = 5 };
  int tries = c->training_kernels && c->training_kernels->kernel_count > FEW_STEPS ? TRIES_WHEN_LARGE : TRIES;
  int64_t bad = too_small / KIB, good = round_up(guess > 0 ? guess : most, KIB) / KIB;
  const char *effort = c->effort;
  c->effort = "fast"; /* whatever fits then, fits with more effort */
  c->is_probing = true;
  while (good * KIB < 2 * most && !fits_device(c, good * KIB) && !c->status) {
    bad = good;
    good += good / 8 + 1;
  }
  for (int i = 0; i < tries && good - bad > good / 200 + 1; i++) {
    int64_t middle = bad + (good - bad) / 2;
    if (fits_device(c, middle * KIB)) good = middle;
    else bad = middle;
  }
  c->effort = effort;
  for (int percent = 1; percent <= (tries == TRIES ? 3 : 1); percent++) { /* what fits is not quite monotone: packing is hard */
    int64_t less = good - good * percent / 100 - 1;
    if (less * KIB <= too_small || !fits_device(c, less * KIB)) continue;
    good = less;
    percent = 0;
  }
  c->is_probing = false;
  return fits_device(c, good * KIB) ? good * KIB : -1;
}

static bool fits_tier(Compilation *c, Tier tier, int64_t bytes) {
  Machine kept = c->machine;
  c->machine.tier_bytes[tier] = bytes;
  bool is_enough = fit(c, c->machine);
  c->machine = kept;
  return is_enough;
}

/* One more way out: a tier that is not there, or not large enough. What a plan takes of plenty is planned for once more:
 * with no more than that the planner may find another, and that is the one that the option brings. */
static const char *try_tier(Compilation *c, Tier tier, const char *name, int64_t plenty) {
  Channel way_out = tier == TIER_HOST ? CHANNEL_D2H : CHANNEL_SSD_WRITE;
  if (c->machine.tier_bytes[tier] >= plenty || c->machine.links[way_out].bandwidth <= 0 || !fits_tier(c, tier, plenty)) return NULL;
  const char *epoch = epoch_text(c->arena, c);
  int64_t bytes = plenty, used = round_up(tier == TIER_HOST ? c->layout->host_bytes : c->layout->ssd_bytes, 1024);
  if (fits_tier(c, tier, used)) bytes = used, epoch = epoch_text(c->arena, c);
  return arena_printf(c->arena, "--budget %s=%s -> %s per epoch", name, size_option(c->arena, bytes), epoch);
}

/* What leaves the device does not fit where it goes: true where a larger host or SSD of those there are is enough. */
static const char *try_overflow(Compilation *c, int64_t enough) {
  static const char *const names[] = {"device", "host", "ssd"};
  for (int tier = TIER_HOST; tier <= TIER_SSD; tier++) {
    int64_t budget = c->machine.tier_bytes[tier];
    bool is_enough = budget > 0 && budget < enough && fits_tier(c, tier, 2 * enough);
    if (!is_enough) continue;
    int64_t used = tier == TIER_HOST ? c->layout->host_bytes : c->layout->ssd_bytes;
    bool has_ssd = c->machine.tier_bytes[TIER_SSD] > 0;
    return arena_printf(c->arena, "spilling %s overflows %s (%s)%s", arena_strdup(c->arena, gnn_bytes_text(used).text), names[tier],
                        arena_strdup(c->arena, gnn_bytes_text(budget).text), has_ssd ? "" : " and there is no ssd tier");
  }
  return NULL;
}

static const char *joined(Arena *arena, const char *list, const char *item) {
  if (!item) return list;
  return *list ? arena_printf(arena, "%s \302\267 %s", list, item) : item;
}

/* Half of a constant of the program, such as a hidden width: the first that is enough. */
static const char *try_constants(Compilation *c) {
  for (int i = 0; i < c->program->const_count; i++) {
    const TypedConst *constant = &c->program->consts[i];
    if (constant->value < 2 || constant->value != floor(constant->value)) continue;
    const char *half = arena_printf(c->arena, "%.0f", floor(constant->value / 2));
    double seconds = driver_try(c, constant->name, half);
    if (seconds >= 0) return arena_printf(c->arena, "-D %s=%s -> %s per epoch", constant->name, half, seconds_text(c->arena, seconds));
  }
  return NULL;
}

/* What the step that binds needs is what no plan can avoid. */
static bool is_base_need(const Plan *plan) {
  Arena *arena = arena_new();
  const Geometry *g = geometry_make(plan->problem->problem, arena);
  bool is_base = g->base_bytes[plan->report.bind_step] == plan->report.bind_bytes;
  arena_free(arena);
  return is_base;
}

/* Where neither form fits, the one is told of that needs less. */
static void choose_nearer_form(Compilation *c) {
  Plan *training = c->training_plan, *evaluation = c->evaluation_plan;
  const int64_t least = worst_least(c);
  if (c->is_trying || c->is_plan_given || least == 0 || !choose_form(c, FORM_HOISTED)) return;
  if (plan_both(c, &c->machine) && worst_least(c) > 0 && worst_least(c) < least) return;
  choose_form(c, FORM_PLAIN);
  c->training_plan = training;
  c->evaluation_plan = evaluation;
}

/* No plan fits: what binds, and the ways out, each of which was planned. */
static bool refuse(Compilation *c) {
  choose_nearer_form(c);
  const Plan *p = c->training_plan && !c->training_plan->planned ? c->training_plan : c->evaluation_plan;
  if (c->status || !p) return false;
  int64_t budget = c->machine.tier_bytes[TIER_DEVICE], all = c->residents->bytes;
  const char *device = tier_device(c->program);
  const PlannerReport *r = &p->report;
  const Problem *problem = p->problem->problem;
  Place place = c->program->data->place;
  const char *what = "the data";
  int32_t kernel = !p->planned && problem->step_count ? p->problem->kernel_of_op[problem->steps[r->bind_step].op] : NO_INDEX;
  if (kernel != NO_INDEX) {
    const Kernel *k = &p->problem->kernels->kernels[kernel];
    place = p->problem->kernels->graph->values[k->anchor].place;
    what = kernel_what(p->problem->kernels, k);
  }
  if (p->is_early) {
    const Kernels *once = c->residents->hoisted_kernels;
    place = once->graph->values[once->kernels[0].anchor].place;
    what = kernel_what(once, &once->kernels[0]);
  }
  for (int i = 0; i < problem->datum_count; i++) all += problem->data[i].bytes;
  bool is_policy = c->options->policy || c->program->plan_policy;
  const char *bind = r->bind_bytes > 0 && !p->planned && !p->is_early ? plan_bind(c->arena, p) : "";
  int64_t bind_bytes = p->planned ? 0 : r->bind_bytes, guess = worst_least(c);
  bool has_tier = c->machine.tier_bytes[TIER_HOST] > 0 || c->machine.tier_bytes[TIER_SSD] > 0;
  bool is_unavoidable = !p->planned && !p->is_early && bind_bytes > budget && is_base_need(p);
  if (c->is_plan_given) {
    diags_error(c->diags, "E0501", place, "the plan of %s needs %s of addresses, the %s budget is %s", c->options->plan_from, gnn_bytes_above_text(c->layout ? c->layout->bytes : bind_bytes).text, device,
                gnn_bytes_text(budget).text);
    return false;
  }
  if (c->is_trying) {
    diags_error(c->diags, "E0501", place, "it does not fit");
    return false;
  }
  Machine machine = c->machine;
  const char *ways = "";
  int64_t least = least_device(c, is_unavoidable ? bind_bytes - 1 : c->residents->bytes, guess > budget ? guess : budget + 1024, all);
  if (least > 0) ways = joined(c->arena, ways, arena_printf(c->arena, "--budget %s=%s is the smallest that works (%s per epoch)", device, size_option(c->arena, least), epoch_text(c->arena, c)));
  c->machine = machine;
  ways = joined(c->arena, ways, try_tier(c, TIER_HOST, "host", all));
  ways = joined(c->arena, ways, try_tier(c, TIER_SSD, "ssd", 2 * all));
  c->machine = machine;
  ways = joined(c->arena, ways, try_constants(c));
  const char *overflow = try_overflow(c, all);
  if (overflow)
    diags_error(c->diags, "E0502", place, "fits the %s, but %s", device, overflow);
  else if (is_unavoidable)
    diags_error(c->diags, "E0501", place, "no plan fits %s budget %s: operation %s (line %d) needs %s at one moment, whatever else is %s", device,
                gnn_bytes_text(budget).text, what, (int)place.line, gnn_bytes_above_text(bind_bytes).text, has_tier ? "moved away" : "made again later");
  else
    diags_error(c->diags, "E0501", place, "no %s fits %s budget %s: the one that comes nearest needs %s at operation %s (line %d)", is_policy ? "plan of this policy" : "plan",
                device, gnn_bytes_text(budget).text, gnn_bytes_above_text(bind_bytes > 0 ? bind_bytes : c->layout->bytes).text, what, (int)place.line);
  if (*bind) diags_note(c->diags, "there together: %s", bind);
  else diags_note(c->diags, "%s of it for graph, features, weights and optimiser", gnn_bytes_text(c->residents->bytes).text);
  if (*ways) diags_help(c->diags, "%s", ways);
  return false;
}

/* ---- other plans ---- */

/* In the form that is faster; pins are of the one that computes everything where it was written. */
Plan *fit_training_on(Compilation *c, const Machine *machine, int policy, const Pins *pins) {
  PlannerOptions options;
  ProblemError error = {"", ""};
  Plan *best = NULL;
  double least = 0;
  read_options(c, &options);
  options.policy = policy;
  const bool skips_least_sizes = options.skips_least_sizes;
  for (int f = pins ? FORM_PLAIN : FORM_HOISTED; f >= FORM_PLAIN; f--) {
    const Form *form = &c->forms[f];
    if (!form->training_kernels) continue;
    options.skips_least_sizes = skips_least_sizes || f == FORM_HOISTED;
    Plan *p = plan_kernels(c, machine, form->residents, form->training_kernels, pins, &options, &error);
    if (!p || !p->planned) {
      if (!best || !best->planned) best = p; /* that of the plain form says what would be enough */
      continue;
    }
    const Schedule *s = schedule(c->arena, machine, NULL, p);
    if (!best || !best->planned || s->evaluation_seconds < least) best = p, least = s->evaluation_seconds;
    if (schedule_keeps_all(s)) break;
  }
  return best;
}

Plan *fit_evaluation_on(Compilation *c, const Machine *machine, const Plan *training) {
  PlannerOptions options;
  ProblemError error = {"", ""};
  const FormKind form = c->form;
  const EvaluationChoice kept[] = {{c->evaluation, c->evaluation_kernels}, c->evaluations[0], c->evaluations[1]};
  read_options(c, &options);
  options.policy = -1;
  choose_form(c, training->problem->kernels == c->forms[FORM_HOISTED].training_kernels ? FORM_HOISTED : FORM_PLAIN);
  Plan *p = plan_evaluation(c, machine, &options, &error);
  choose_form(c, form);
  c->evaluation = kept[0].graph;
  c->evaluation_kernels = kept[0].kernels;
  c->evaluations[0] = kept[1];
  c->evaluations[1] = kept[2];
  return p;
}

static Plan *plan_instead(Compilation *c, int64_t device_bytes, int policy, const Pins *pins) {
  Machine machine = c->machine;
  if (device_bytes > 0) machine.tier_bytes[TIER_DEVICE] = device_bytes;
  return fit_training_on(c, &machine, policy, pins);
}

/* Addresses included, where they can be had. */
static int64_t bytes_of(const Plan *plan) { return sweep_needs(&plan->report, TIER_DEVICE); }

/* Of c's own plan the schedule is there. */
static int64_t own_epoch_ns(const Compilation *c) { return llround(1e9 * c->schedule->training_seconds); }

static int64_t epoch_ns(Compilation *c, const Plan *plan) {
  return llround(1e9 * announced_seconds(c, &c->machine, plan));
}

/* A plan for a larger device, where it saves a hundredth; else NULL. */
static const Plan *plan_that_saves(Compilation *c, int64_t bytes) {
  const Plan *p = plan_instead(c, bytes, -1, c->pins);
  return p && p->planned && epoch_ns(c, p) * 100 <= own_epoch_ns(c) * 99 ? p : NULL;
}

/* Larger devices, each by the smallest value that is not kept: does one of them save a hundredth? Then between it and the last that does not. */
static void find_step_up(Compilation *c, Instead *i) {
  enum { TRIES = 4, HALVINGS = 5 };
  const Decisions *d = decisions(c->arena, c->schedule, NULL);
  const Plan *found = NULL;
  int64_t step = INT64_MAX, bad = c->machine.tier_bytes[TIER_DEVICE], good = bad;
  for (int k = 0; k < d->count; k++)
    if (d->list[k].fate != PLAN_FATE_RETAIN && d->list[k].adds_ns > 0 && d->list[k].bytes < step) step = d->list[k].bytes;
  for (int k = 0; k < TRIES && step < INT64_MAX && !found; k++) {
    bad = good;
    good = c->machine.tier_bytes[TIER_DEVICE] + step * (1 << k);
    found = plan_that_saves(c, good);
  }
  if (!found) return;
  for (int k = 0; k <= HALVINGS; k++) {
    if (bytes_of(found) < good && bytes_of(found) > bad) good = bytes_of(found);
    if (k == HALVINGS || good - bad <= good / 1000) break;
    const Plan *p = plan_that_saves(c, bad + (good - bad) / 2);
    if (p) found = p, good = bad + (good - bad) / 2;
    else bad += (good - bad) / 2;
  }
  i->step_up_bytes = good;
  i->step_up_saves_ns = own_epoch_ns(c) - epoch_ns(c, found);
}

static int64_t least_of_form(Compilation *c, const Form *form) {
  const Kernels *all[] = {form->training_kernels, without_taps(c, graph_copy(form->evaluation))};
  int64_t least = 0;
  for (int i = 0; i < 2; i++) {
    PlannerOptions options;
    ProblemError error = {"", ""};
    Machine machine = c->machine;
    machine.tier_bytes[TIER_DEVICE] = form->residents->bytes + 1;
    planner_default_options(&options);
    Plan *p = plan_kernels(c, &machine, form->residents, all[i], i == 0 ? c->pins : NULL, &options, &error);
    if (!p || p->planned) return 0;
    if (p->report.least_device_bytes > least) least = p->report.least_device_bytes;
  }
  return least;
}

/* The smallest device on which both the epoch and its evaluation can be planned; 0: not known. */
static int64_t least_bytes(Compilation *c) {
  int64_t plain = least_of_form(c, &c->forms[FORM_PLAIN]), hoisted = c->forms[FORM_HOISTED].evaluation ? least_of_form(c, &c->forms[FORM_HOISTED]) : 0;
  return hoisted > 0 && (hoisted < plain || plain == 0) ? hoisted : plain;
}

static const Pins *all_recomputed(Compilation *c) {
  const Graph *graph = c->forms[FORM_PLAIN].training;
  Pins *pins = arena_alloc(c->arena, sizeof *pins);
  pins->fates = arena_alloc(c->arena, (size_t)(graph->value_count + 1) * sizeof *pins->fates);
  for (int v = 0; v < graph->value_count; v++)
    if (graph->values[v].phase == PHASE_FORWARD) pins->fates[v] = PLAN_FATE_BIT(PLAN_FATE_RECOMPUTE);
  return pins;
}

const Instead *fit_instead(Compilation *c) {
  if (!c->training_plan) return NULL;
  const int64_t endless = INT64_C(1) << 50;
  Instead *i = arena_alloc(c->arena, sizeof *i);
  Plan *keep = plan_instead(c, endless, PLANNER_POLICY_KEEP, NULL), *recompute = plan_instead(c, endless, -1, all_recomputed(c));
  if (keep && keep->planned) i->keep_ns = epoch_ns(c, keep), i->keep_bytes = bytes_of(keep);
  if (recompute && recompute->planned) i->recompute_ns = epoch_ns(c, recompute), i->recompute_bytes = bytes_of(recompute);
  int64_t least = least_bytes(c);
  Plan *tightest = least > 0 ? plan_instead(c, least, -1, NULL) : NULL;
  if (tightest && tightest->planned) i->least_bytes = least, i->least_ns = epoch_ns(c, tightest);
  Plan *free = c->pins ? plan_instead(c, 0, -1, NULL) : NULL;
  if (free && free->planned) i->unpinned_ns = epoch_ns(c, free);
  find_step_up(c, i);
  return i;
}

/* ---- everything kept ---- */

static Plan *keep_all_of(Compilation *c, const Machine *machine, const Kernels *kernels) {
  PlannerOptions options;
  ProblemError error = {"", ""};
  planner_default_options(&options);
  options.policy = PLANNER_POLICY_KEEP;
  Plan *p = plan_kernels(c, machine, c->residents, kernels, NULL, &options, &error);
  return p && p->planned ? p : NULL;
}

const KeepOrder *fit_keep_order(Compilation *c) {
  Machine machine = c->machine;
  machine.tier_bytes[TIER_DEVICE] = INT64_C(1) << 50;
  machine.tier_bytes[TIER_HOST] = machine.tier_bytes[TIER_SSD] = 0;
  Plan *training = c->training_kernels ? keep_all_of(c, &machine, c->training_kernels) : NULL;
  Plan *evaluation = keep_all_of(c, &machine, c->evaluation_kernels);
  if (!evaluation || (c->training_kernels && !training)) return NULL;
  KeepOrder *order = arena_alloc(c->arena, sizeof *order);
  order->schedule = schedule(c->arena, &machine, training, evaluation);
  order->layout = layout(c->arena, &machine, order->schedule, c->residents);
  return order;
}

/* ---- the passes ---- */

static bool check_links(Compilation *c) {
  static const Channel needed[TIER_COUNT] = {[TIER_HOST] = CHANNEL_D2H, [TIER_SSD] = CHANNEL_SSD_WRITE};
  const Machine *m = &c->machine;
  const char *device = tier_device(c->program);
  Place place = c->program->has_target ? c->program->target.place : diags_no_place();
  for (Tier t = TIER_HOST; t < TIER_COUNT; t++) {
    if (m->tier_bytes[t] == 0 || m->links[needed[t]].bandwidth > 0) continue;
    lang_unreachable(c->diags, place, t == TIER_SSD && m->tier_bytes[TIER_HOST] > 0 ? "host" : device, t);
    return false;
  }
  return true;
}

bool fit_plan(Compilation *c) {
  for (int f = 0; f < 2; f++) {
    Form *form = &c->forms[f];
    if (form->evaluation) form->residents = residents(c->arena, form->training_kernels, form->evaluation_kernels, form->hoisted, c->is_sparse_field);
  }
  choose_form(c, FORM_PLAIN);
  if (!check_links(c) || !read_pins(c)) return false;
  if (c->options->plan_from && !take_plan(c)) return false;
  Fitted hoisted = fit_hoisted(c, c->machine);
  if (is_best(&hoisted)) return true;
  if (!c->is_plan_given) choose_form(c, FORM_PLAIN);
  if (!plan_both(c, &c->machine)) return false;
  bool fits = does_fit(c) || fit_with_less_effort(c, &c->machine);
  bool is_faster = fits && c->training_plan && announced_seconds(c, &c->machine, c->training_plan) < hoisted.seconds;
  if (hoisted.fits && !is_faster) {
    take_hoisted(c, &hoisted);
    return true;
  }
  return fits || refuse(c);
}

bool fit_schedule(Compilation *c) {
  make_schedule(c);
  return true;
}

bool fit_layout(Compilation *c) {
  make_layout(c);
  if (c->layout->bytes <= c->machine.tier_bytes[TIER_DEVICE]) return true;
  return fit(c, c->machine) || refuse(c);
}
