/* instead: PlanRequest, PlanAnswer -> what other plans would be. */
#include "instead.h"

#include <math.h>
#include <string.h>

#include "compiler/graph/nested_locality.h"
#include "compiler/plan/decisions.h"

/* An explanation is bounded: with little effort each. */
static PlanRequest request_instead(const PlanRequest *request, int64_t device_bytes) {
  PlanRequest r = *request;
  r.effort = PLANNER_FAST;
  r.least = PLANNER_LEAST_NONE;
  r.machine.tier_bytes[TIER_DEVICE] = device_bytes;
  r.needs_no_bound = true;
  return r;
}

static const Plan *plan_instead(const PlanRequest *request, int64_t device_bytes, int policy, const Pins *pins) {
  PlanRequest r = request_instead(request, device_bytes);
  r.policy = policy;
  r.pins = pins;
  return plan_epoch(&r);
}

/* Addresses included, where they can be had. */
static int64_t bytes_of(const Plan *plan) { return plan_needs(&plan->report, TIER_DEVICE); }

static int64_t ns_of(double seconds) { return llround(1e9 * seconds); }
static int64_t epoch_ns(const PlanRequest *r, const Plan *plan) { return ns_of(plan_announced_seconds(r, plan)); }

/* In either form; a sketch of values that are cut in that of the answer. */
static const Plan *plan_larger(const PlanRequest *r, const PlanAnswer *answer, int64_t bytes) {
  if (!r->is_sketch) return plan_instead(r, bytes, -1, r->pins);
  const PlanRequest larger = request_instead(r, bytes);
  return plan_sketch(&larger, answer->form);
}

/* A plan for a larger device, where it takes `worth_ns` at most; else NULL. */
static const Plan *plan_that_saves(const PlanRequest *r, const PlanAnswer *answer, int64_t bytes, int64_t worth_ns) {
  PlanRequest saving = *r;
  saving.worth_seconds = 1e-9 * (double)worth_ns;
  const Plan *p = plan_larger(&saving, answer, bytes);
  return p && p->planned && epoch_ns(r, p) <= worth_ns ? p : NULL;
}

/* Larger devices, each by the smallest value that is not kept: does one of them save a hundredth? Then between it and the last that does not. Of values
 * that are cut, whose plans take long and whose pieces are small, sketches look, in larger steps, and for a tenth where there is more than that to save. */
static void find_step_up(const PlanRequest *request, const PlanAnswer *answer, Instead *i) {
  enum { TRIES = 4, SKETCHES = 8, HALVINGS = 5, NOTICED = 32 };
  const Decisions *d = decisions(request->arena, answer->schedule, NULL);
  PlanRequest r = *request;
  const Plan *found = NULL;
  const int64_t own_bytes = r.machine.tier_bytes[TIER_DEVICE], own_ns = ns_of(answer->schedule->training_seconds);
  int64_t step = INT64_MAX, bad = own_bytes, good = bad, than_ns = own_ns;
  r.is_sketch = r.cut.parts > 1;
  for (int k = 0; k < d->count; k++)
    if (d->list[k].fate != FATE_KEEP && d->list[k].adds_ns > 0 && d->list[k].bytes < step) step = d->list[k].bytes;
  if (step == INT64_MAX) return;
  if (r.is_sketch) {
    if (step < own_bytes / NOTICED) step = own_bytes / NOTICED;
    const Plan *own = plan_larger(&r, answer, own_bytes);
    if (own && own->planned) than_ns = epoch_ns(&r, own);
  }
  const int64_t worth_ns = r.is_sketch && 5 * i->keep_ns <= 4 * than_ns ? than_ns / 10 * 9 : than_ns / 100 * 99;
  for (int k = 0; k < (r.is_sketch ? SKETCHES : TRIES) && !found; k++) {
    bad = good;
    good = own_bytes + step * (1 << k);
    found = plan_that_saves(&r, answer, good, worth_ns);
  }
  if (!found) return;
  for (int k = 0; k <= HALVINGS; k++) {
    if (bytes_of(found) < good && bytes_of(found) > bad) good = bytes_of(found);
    if (k == HALVINGS || good - bad <= good / 1000) break;
    const Plan *p = plan_that_saves(&r, answer, bad + (good - bad) / 2, worth_ns);
    if (p) found = p, good = bad + (good - bad) / 2;
    else bad += (good - bad) / 2;
  }
  i->step_up_bytes = good;
  i->step_up_saves_ns = than_ns - epoch_ns(request, found);
  i->is_step_sketched = r.is_sketch;
}

/* The same plan with the factors of products rounded to tf32: worth saying where products by a library take longer than any other kind of kernel,
 * and an epoch is shorter by a twentieth. What is measured, or what a GPU does not have, has no estimate. */
static void find_tf32(const PlanRequest *r, const PlanAnswer *answer, Instead *i) {
  enum { PRODUCTS = KERNEL_KIND_COUNT, ALL };
  double seconds[ALL] = {0}, saved = 0;
  if (answer->of->training_kernels->precision != PRECISION_FP32 || r->machine.profile || r->machine.product_speedup[PRECISION_TF32] <= 1) return;
  for (int s = 0; s < answer->schedule->training_count; s++) {
    const Step *step = &answer->schedule->steps[s];
    if (step->kind != STEP_KERNEL) continue;
    const Kernel *kernel = &step->kernels->kernels[step->kernel];
    const bool is_product = kernel->library == LIBRARY_CUBLASLT;
    seconds[is_product ? (int)PRODUCTS : (int)kernel->kind] += step->cost.seconds;
    if (!is_product) continue;
    Kernels rounded = *step->kernels;
    rounded.precision = PRECISION_TF32;
    saved += step->cost.seconds - cost_of_kernel(&r->machine, &rounded, kernel, NULL).seconds;
  }
  for (int k = 0; k < PRODUCTS; k++)
    if (seconds[k] >= seconds[PRODUCTS]) return;
  const int64_t own_ns = ns_of(answer->schedule->training_seconds);
  if (20 * ns_of(saved) < own_ns) return;
  i->tf32_ns = own_ns - ns_of(saved);
  i->products_ns = ns_of(seconds[PRODUCTS]);
}

/* The same plan with the nodes in a nested order: kernels are priced by what gathers would find in caches then. Copies take as long as they do, and an epoch
 * no less than a lane is at work. Worth saying where an epoch is shorter by a twentieth and all epochs save more than it takes to make the order. */
static void find_nested(const PlanRequest *r, const PlanAnswer *answer, Instead *i) {
  const Kernels *kernels = answer->of->training_kernels;
  const TypedProgram *program = kernels->graph->program;
  DataInfo info = *program->info;
  if (!info.nested_locality[END_DST].is_known || program->has_weights_of_nodes) return; /* these stand in the order of the data */
  memcpy(info.locality, info.nested_locality, sizeof info.locality);
  TypedProgram nested_program = *program;
  nested_program.info = &info;
  Graph graph = *kernels->graph;
  graph.program = &nested_program;
  Kernels nested = *kernels;
  nested.graph = &graph;
  double saved = 0, busy[LANE_COUNT] = {0}, longest = 0;
  for (int s = 0; s < answer->schedule->training_count; s++) {
    const Step *step = &answer->schedule->steps[s];
    if (step->kind == STEP_COPY) busy[step->lane] += step->cost.seconds;
    if (step->kind != STEP_KERNEL) continue;
    const Kernel *kernel = &kernels->kernels[step->kernel];
    const double given = cost_of_kernel(&r->machine, kernels, kernel, NULL).seconds;
    if (given > 0) saved += step->cost.seconds * (1 - cost_of_kernel(&r->machine, &nested, kernel, NULL).seconds / given);
  }
  for (int l = 0; l < LANE_COUNT; l++) longest = fmax(longest, busy[l]);
  const int64_t own_ns = ns_of(answer->schedule->training_seconds), nested_ns = ns_of(fmax(answer->schedule->training_seconds - saved, longest)), gain_ns = own_ns - nested_ns;
  const double order_seconds = nested_order_seconds(info.nodes, info.edges, info.is_symmetric);
  if (20 * gain_ns < own_ns || 1e-9 * (double)gain_ns * (double)program->train.epochs * (double)program->train.runs <= order_seconds) return;
  i->nested_ns = nested_ns;
  i->order_ns = ns_of(order_seconds);
}

Instead *instead_of(const PlanRequest *r, const PlanAnswer *answer, bool may_be_cut) {
  if (!answer->training_plan) return NULL;
  const int64_t endless = INT64_C(1) << 50, own_bytes = r->machine.tier_bytes[TIER_DEVICE];
  Instead *i = arena_alloc(r->arena, sizeof *i);
  const PlanRequest whole = r->forms_of ? plan_request_cut(r, (Cut){.parts = 1, .slices = 1, .ranks = r->cut.ranks}) : *r;
  const Plan *keep = plan_instead(&whole, endless, POLICY_KEEP, NULL), *recompute = plan_instead(&whole, endless, POLICY_RECOMPUTE, NULL); /* alike: slices of columns alone make an epoch shorter */
  if (keep && keep->planned) i->keep_ns = epoch_ns(r, keep), i->keep_bytes = bytes_of(keep);
  if (recompute && recompute->planned) i->recompute_ns = epoch_ns(r, recompute), i->recompute_bytes = bytes_of(recompute);
  int64_t least = plan_least_device(r);
  PlanRequest tight = *r;
  tight.is_sketch = r->cut.parts > 1; /* nobody looked for addresses there */
  const Plan *tightest = least > 0 ? plan_instead(&tight, least, -1, NULL) : NULL;
  if (tightest && tightest->planned) i->least_bytes = least, i->least_ns = epoch_ns(r, tightest), i->is_least_sketched = tight.is_sketch;
  if (may_be_cut) i->least_of = cut_is_of_whole_values(r->cut) ? "whole values" : "this cut";
  const Plan *free = r->pins ? plan_instead(r, own_bytes, -1, NULL) : NULL;
  if (free && free->planned) i->unpinned_ns = epoch_ns(r, free);
  find_step_up(r, answer, i);
  find_tf32(r, answer, i);
  find_nested(r, answer, i);
  return i;
}
