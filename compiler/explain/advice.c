/* advice: PlanRequest, PlanAnswer -> what would make the epoch shorter, the cheapest first, each as it is to be written. */
#include "advice.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/base/time_unit.h"
#include "compiler/plan/tiers.h"
#include "lang/units.h"
#include "runtime/base/text.h"

/* ---- words ---- */

const char *advice_size(Arena *arena, int64_t bytes, int64_t *written) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
  const double few = 10; /* of a unit: the smaller one has four digits then, and no fraction */
  double size = (double)bytes / 1024;
  int u = 0;
  while (size >= (u ? 1024 : few * 1024) && u < 3) size /= 1024, u++;
  const char *text = u == 0 ? arena_printf(arena, "%.0f%s", ceil(size), units[u])
                     : size < 10 ? arena_printf(arena, "%.2f%s", ceil(100 * size) / 100, units[u]) : arena_printf(arena, "%.1f%s", ceil(10 * size) / 10, units[u]);
  if (!unit_size(text, 0, written)) *written = bytes;
  return text;
}

const char *advice_part_of(Arena *arena, double constant, int halvings) {
  const double part = floor(ldexp(constant, -halvings));
  return constant != floor(constant) || part < 1 ? NULL : arena_printf(arena, "%.0f", part);
}

const char *advice_option(const Changes *v, const Change *change) {
  const char *without = v->has_budgets ? " without --budget" : "";
  switch (change->kind) {
  case CHANGE_CONSTANT: return arena_printf(v->arena, "-D %s=%s", change->name, change->value);
  case CHANGE_PRECISION: return arena_printf(v->arena, "--precision=%s", precision_name(change->precision));
  case CHANGE_PROCESSOR: return arena_printf(v->arena, "%s%s", v->processor, without);
  case CHANGE_CARD: return arena_printf(v->arena, "--target=%s%s", change->name, without);
  }
  return "";
}

const char *advice_rounding(Precision precision) { return precision == PRECISION_TF32 ? "products round to tf32" : "stored values and products round to bf16"; }

/* ---- trying ---- */

typedef struct Finder {
  const PlanRequest *asked; /* as it was before a cut was chosen: what somebody types is planned with every cut */
  const PlanAnswer *answer;
  Instead *instead;
  const Changes *changes;
  Arena *arena;
  Advice *advice;
  double now; /* seconds */
  double keeping_seconds; /* on a device that keeps everything; 0: not known, or not worth it */
  int trials; /* that are left */
  int64_t work; /* of trials so far */
  int place;  /* of what is found now */
} Finder;

static bool is_spent(const Finder *f) { return f->trials == 0 || f->work > ADVICE_WORK; }

static bool may_try(Finder *f) {
  if (is_spent(f)) return false;
  f->trials--;
  f->advice->trials++;
  return true;
}

/* As whoever types the option would ask. NULL: it does not fit, or enough was tried. */
static const PlanAnswer *try_budget(Finder *f, Tier tier, int64_t bytes) {
  if (!may_try(f)) return NULL;
  PlanRequest r = *f->asked;
  r.least = PLANNER_LEAST_NONE;
  r.is_trial = r.needs_no_bound = true;
  r.machine.tier_bytes[tier] = bytes;
  r.work = &f->work;
  const PlanAnswer *answer = plan_answer(&r);
  return answer->fits ? answer : NULL;
}

static ChangedPlan try_change(Finder *f, Change change) {
  if (f->changes->is_fixed || !may_try(f)) return (ChangedPlan){0};
  const ChangedPlan plan = f->changes->plan(f->changes->of, &change);
  f->work += plan.work;
  return plan;
}

static bool saves(const Finder *f, double seconds, double share) { return seconds <= (1 - share) * f->now; }

/* "310 ms per epoch (now 440 ms), everything is kept" */
static void add(Finder *f, const char *write, bool is_option, double seconds, int64_t device_bytes, const char *also) {
  const char *per = f->changes->program->has_train ? "epoch" : "evaluation";
  const char *bytes = device_bytes > 0 ? arena_printf(f->arena, " in %s", gnn_bytes_above_text(device_bytes).text) : "";
  const char *gives = arena_printf(f->arena, "%s per %s%s (now %s)%s%s", time_text(f->arena, time_unit(f->now), seconds), per, bytes, time_text(f->arena, time_unit(f->now), f->now), *also ? ", " : "", also);
  Advice *a = f->advice;
  ARENA_PUSH(f->arena, a->list, a->count, ((AdviceItem){write, is_option, gives, seconds, device_bytes, f->place}));
  for (int i = a->count - 1; i > 0 && a->list[i - 1].place > a->list[i].place; i--) {
    const AdviceItem item = a->list[i];
    a->list[i] = a->list[i - 1];
    a->list[i - 1] = item;
  }
}

static void add_budget(Finder *f, Tier tier, const char *size, const PlanAnswer *answer) {
  const char *name = tier == TIER_DEVICE ? tier_device(f->changes->program) : tier_names[tier];
  add(f, arena_printf(f->arena, "--budget %s=%s", name, size), true, answer_seconds(answer), 0, schedule_keeps_all(answer->schedule) ? "everything is kept" : "");
}

/* ---- budgets ---- */

/* What was sketched of a larger device is planned now, or forgotten. */
static void settle_step_up(Finder *f, const PlanAnswer *answer) {
  Instead *i = f->instead;
  if (!answer) i->step_up_bytes = 0;
  else i->step_up_saves_ns = llround(1e9 * (f->now - answer_seconds(answer)));
  i->is_step_sketched = false;
}

/* The device that keeps everything. */
static void find_keeping_device(Finder *f) {
  const Instead *i = f->instead;
  int64_t bytes = 0;
  const char *size = i && i->keep_bytes > 0 ? advice_size(f->arena, i->keep_bytes, &bytes) : NULL;
  if (!size || bytes > f->changes->tier_most[TIER_DEVICE] || bytes <= f->asked->machine.tier_bytes[TIER_DEVICE]) return;
  const PlanAnswer *answer = try_budget(f, TIER_DEVICE, bytes);
  if (answer && saves(f, answer_seconds(answer), 0.01)) add_budget(f, TIER_DEVICE, size, answer), f->keeping_seconds = answer_seconds(answer);
}

/* The next larger one that saves. A sketch of it that there is no time to plan is told as what it is. */
static void find_larger_device(Finder *f) {
  Instead *i = f->instead;
  int64_t bytes = 0, keep_bytes = 0;
  const char *size = i && i->step_up_bytes > 0 ? advice_size(f->arena, i->step_up_bytes, &bytes) : NULL;
  if (i && i->keep_bytes > 0) advice_size(f->arena, i->keep_bytes, &keep_bytes);
  if (!size || (i->is_step_sketched && is_spent(f) && bytes <= f->changes->tier_most[TIER_DEVICE])) return;
  if (bytes > f->changes->tier_most[TIER_DEVICE] || (keep_bytes > 0 && bytes >= keep_bytes)) {
    i->step_up_bytes = 0;
    return;
  }
  const PlanAnswer *answer = try_budget(f, TIER_DEVICE, bytes);
  const bool does_save = answer && saves(f, answer_seconds(answer), 0.01) && (f->keeping_seconds == 0 || f->keeping_seconds <= 0.99 * answer_seconds(answer));
  if (does_save) add_budget(f, TIER_DEVICE, size, answer);
  if (i->is_step_sketched) settle_step_up(f, does_save ? answer : NULL);
}

/* Memory elsewhere that is not there, or full. What a plan takes of plenty is what is advised. */
static void find_tier(Finder *f, Tier tier) {
  const Layout *layout = f->answer->layout;
  const int64_t budget = f->asked->machine.tier_bytes[tier], used = tier == TIER_HOST ? layout_host_bytes(layout) : layout->ssd_bytes;
  int64_t plenty = 2 * (f->instead ? f->instead->keep_bytes : layout->bytes), bytes;
  if (plenty > f->changes->tier_most[tier]) plenty = f->changes->tier_most[tier];
  if (!f->changes->has_tier[tier] || budget >= plenty || 10 * used < 9 * budget) return;
  const PlanAnswer *answer = try_budget(f, tier, plenty);
  if (!answer || !saves(f, answer_seconds(answer), 0.01)) return;
  const char *size = advice_size(f->arena, tier == TIER_HOST ? layout_host_bytes(answer->layout) : answer->layout->ssd_bytes, &bytes);
  answer = try_budget(f, tier, bytes);
  if (answer && saves(f, answer_seconds(answer), 0.01)) add_budget(f, tier, size, answer);
}

/* ---- other programs and machines ---- */

static void add_change(Finder *f, const Change *change, const ChangedPlan *p, const char *also) {
  const bool is_news = p->keeps_all && !f->advice->is_all_kept;
  add(f, advice_option(f->changes, change), true, p->seconds, p->device_bytes, is_news ? *also ? arena_printf(f->arena, "everything is kept; %s", also) : "everything is kept" : also);
}

static void find_precision(Finder *f, Precision precision) {
  for (int i = 0; i < f->changes->precision_count; i++) {
    const Change change = {.kind = CHANGE_PRECISION, .precision = precision};
    if (f->changes->precisions[i] != precision) continue;
    const ChangedPlan p = try_change(f, change);
    if (p.fits && saves(f, p.seconds, 0.05)) add_change(f, &change, &p, advice_rounding(precision));
  }
}

/* Half of the first constant that helps, such as a hidden width: it makes another model. */
static void find_constant(Finder *f) {
  const TypedProgram *program = f->changes->program;
  enum { TRIED = 3 };
  for (int i = 0, tried = 0; i < program->const_count && tried < TRIED; i++) {
    const Change change = {.kind = CHANGE_CONSTANT, .name = program->consts[i].name, .value = advice_part_of(f->arena, program->consts[i].value, 1)};
    if (!change.value) continue;
    const ChangedPlan p = try_change(f, change);
    tried++;
    if (!p.fits || !p.has_same_data || !saves(f, p.seconds, 0.05)) continue;
    add_change(f, &change, &p, "a smaller model");
    return;
  }
}

static void find_machine(Finder *f) {
  const double share = 0.2; /* another machine is worth the trouble where it saves a fifth */
  const int64_t own = f->asked->machine.tier_bytes[TIER_DEVICE], keep = f->instead && f->instead->keep_bytes > 0 ? f->instead->keep_bytes : f->answer->layout->bytes;
  if (f->changes->is_fixed) return;
  if (f->changes->processor) {
    const Change change = {.kind = CHANGE_PROCESSOR};
    const ChangedPlan p = try_change(f, change);
    if (p.fits && saves(f, p.seconds, share)) add_change(f, &change, &p, "");
  }
  const bool is_short = !f->advice->is_all_kept && keep > f->changes->tier_most[TIER_DEVICE];
  if (!f->changes->can_be_card || (!f->changes->is_processor && !is_short)) return;
  const Change change = {.kind = CHANGE_CARD, .name = f->changes->card(f->changes->of, keep + keep / 50, f->changes->is_processor ? 0 : own)};
  if (!change.name) return;
  const ChangedPlan p = try_change(f, change);
  if (p.fits && saves(f, p.seconds, share)) add_change(f, &change, &p, "");
}

/* The time of an order was found with the plan as it is. */
static void find_order(Finder *f) {
  const Instead *i = f->instead;
  if (!i || i->nested_ns <= 0) return;
  add(f, "order = nested", false, 1e-9 * (double)i->nested_ns, 0, arena_printf(f->arena, "in the data block; making the order takes about %s, once", time_text(f->arena, time_unit(1e-9 * (double)i->order_ns), 1e-9 * (double)i->order_ns)));
}

static const char *kept_text(const Finder *f) {
  int64_t enough;
  const char *size = advice_size(f->arena, f->answer->layout->bytes, &enough), *device = tier_device(f->changes->program);
  if (10 * enough > 9 * f->asked->machine.tier_bytes[TIER_DEVICE]) return "everything is kept: more memory brings nothing";
  return arena_printf(f->arena, "everything is kept: more memory brings nothing, and --budget %s=%s is enough", device, size);
}

const Advice *advice_of(const PlanRequest *asked, const PlanAnswer *answer, Instead *instead, const Changes *changes) {
  Advice *advice = arena_alloc(asked->arena, sizeof *advice);
  Finder f = {.asked = asked, .answer = answer, .instead = instead, .changes = changes, .arena = asked->arena, .advice = advice, .now = answer_seconds(answer), .trials = ADVICE_TRIALS};
  *advice = (Advice){.is_all_kept = schedule_keeps_all(answer->schedule)};
  enum { LARGER, KEEPING, HOST, SSD, ORDER, TF32, BF16, MACHINE, CONSTANT };
  const bool is_short = !advice->is_all_kept;
  f.place = ORDER, find_order(&f);
  f.place = KEEPING;
  if (is_short) find_keeping_device(&f);
  f.place = MACHINE, find_machine(&f);
  f.place = BF16, find_precision(&f, PRECISION_BF16);
  f.place = CONSTANT;
  if (is_short) find_constant(&f);
  f.place = LARGER;
  if (is_short) find_larger_device(&f);
  f.place = HOST;
  if (is_short) find_tier(&f, TIER_HOST);
  f.place = SSD;
  if (is_short) find_tier(&f, TIER_SSD);
  f.place = TF32, find_precision(&f, PRECISION_TF32);
  if (advice->is_all_kept) advice->first = kept_text(&f);
  else if (advice->count == 0) advice->first = "nothing that was tried makes the epoch shorter";
  return advice;
}
