/* problem_command: `gnncc plan problem.json` with pictures or a sweep. Words that the planner's own command knows are read there. */
#include "problem_command.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/base/outfile.h"
#include "compiler/base/shown.h"
#include "compiler/explain/problem_report.h"
#include "compiler/explain/views/views.h"
#include "compiler/plan/plan.h"
#include "compiler/planner/main.h"
#include "compiler/planner/plan_report.h"

enum { INFEASIBLE = 1, USAGE = 2, INTERNAL = 70, MOST_REQUESTS = 16, MANY_LABELS = 2000000 };

typedef struct Words {
  PlannerArguments planner;
  const char *sweep;
  int count;
  ViewRequest requests[MOST_REQUESTS];
} Words;

typedef struct Subject {
  Arena *arena;
  const char *path;
  char *text;
  size_t length;
  const Problem *problem;
  PlannerOptions options;
} Subject;

/* ---- words ---- */

static const char *value_of(const char *word, const char *name) {
  size_t length = strlen(name);
  return strncmp(word, name, length) == 0 && (word[length] == '=' || word[length] == 0) ? word + length : NULL;
}

bool problem_command_is_asked(int argc, char **argv) {
  static const char *const names[] = {"--report", "--emit", "--sweep", "--annotate"};
  for (int i = 1; i < argc; i++)
    for (int k = 0; k < 4; k++)
      if (value_of(argv[i], names[k])) return true;
  return false;
}

static int refuse(const char *what, const char *why) {
  fprintf(stderr, "gnncc plan: %s: %s\n", shown(what).text, why);
  return USAGE;
}

static int add_request(Arena *arena, Words *words, const char *kind, const char *path) {
  const char *fault = view_path_fault(arena, kind, path);
  if (strcmp(kind, "annotate") == 0) fault = "a planning problem has no source to annotate";
  else if (!view_named(kind) && strcmp(kind, "plan") != 0) fault = "it needs a model, or is unknown";
  else if (words->count == MOST_REQUESTS) fault = "there are 16 already";
  if (fault) return refuse(path ? arena_printf(arena, "%s=%s", kind, path) : kind, fault);
  words->requests[words->count++] = (ViewRequest){kind, path};
  return 0;
}

static int read_emit(Arena *arena, const char *text, Words *words) {
  char *copy = arena_strdup(arena, text), *rest = NULL;
  int status = copy[strspn(copy, ",")] ? 0 : refuse("--emit", "a kind is needed");
  for (char *item = strtok_r(copy, ",", &rest); item && status == 0; item = strtok_r(NULL, ",", &rest)) {
    char *path = strchr(item, '=');
    if (path) *path++ = 0;
    status = add_request(arena, words, item, path);
  }
  return status;
}

static bool has_request(const Words *words, const char *kind) {
  for (int i = 0; i < words->count; i++)
    if (strcmp(words->requests[i].kind, kind) == 0) return true;
  return false;
}

static int judge_words(Arena *arena, Words *words) {
  const PlannerArguments *a = &words->planner;
  if (words->sweep && !has_request(words, "sweep")) add_request(arena, words, "sweep", "-");
  if (!a->problem) return refuse("a problem is needed", "gnncc plan problem.json, or - for standard input");
  if (a->compares) return refuse("--compare-policies", "it prints a table; the picture of one of them is drawn with --policy NAME");
  if (a->check) return refuse("--check", "it judges a plan and draws nothing");
  if (!words->sweep && has_request(words, "sweep")) return refuse("--emit=sweep", "it needs --sweep TIER=LOW:HIGH");
  if (!words->sweep && a->more_count) return refuse(a->more[0], "one problem at a time is drawn; several with --sweep");
  return 0;
}

static int read_words(Arena *arena, int argc, char **argv, Words *words) {
  char **others = arena_alloc(arena, (size_t)(argc + 1) * sizeof *others);
  int count = 0, status = 0;
  planner_default_options(&words->planner.options);
  for (int i = 0; i < argc && status == 0; i++) {
    const char *value, *next = i + 1 < argc ? argv[i + 1] : NULL;
    if ((value = value_of(argv[i], "--report"))) status = add_request(arena, words, "report", *value ? value + 1 : NULL);
    else if (value_of(argv[i], "--annotate")) status = add_request(arena, words, "annotate", NULL);
    else if ((value = value_of(argv[i], "--emit")) && (*value || next)) status = read_emit(arena, *value ? value + 1 : argv[++i], words);
    else if ((value = value_of(argv[i], "--sweep")) && (*value || next)) words->sweep = *value ? value + 1 : argv[++i];
    else if (value_of(argv[i], "--emit") || value_of(argv[i], "--sweep")) status = refuse(argv[i], "a value is needed");
    else others[count++] = argv[i];
  }
  if (status == 0) status = planner_parse(count, others, &words->planner);
  return status || words->planner.wants_help ? status : judge_words(arena, words);
}

/* ---- the problem with other budgets ---- */

static void get_budgets(const Problem *p, int64_t tier_bytes[TIER_COUNT]) {
  tier_bytes[TIER_DEVICE] = p->device_bytes;
  tier_bytes[TIER_HOST] = p->host_bytes;
  tier_bytes[TIER_SSD] = p->ssd_bytes;
}

/* A text of its own, for the checker reads it. */
static bool set_budgets(Subject *s, const int64_t tier_bytes[TIER_COUNT]) {
  static const char *const keys[TIER_COUNT] = {"device_bytes", "host_bytes", "ssd_bytes"};
  int64_t now[TIER_COUNT];
  json_t *root = json_loadb(s->text, s->length, 0, NULL), *hardware = json_object_get(root, "hardware");
  get_budgets(s->problem, now);
  for (int t = 0; t < TIER_COUNT; t++)
    if (now[t] != tier_bytes[t]) json_object_set_new(hardware, keys[t], json_integer((json_int_t)tier_bytes[t]));
  char *text = json_dumps(root, JSON_COMPACT);
  json_decref(root);
  s->text = arena_strdup(s->arena, text);
  s->length = strlen(text);
  free(text);
  s->problem = planner_read_problem(s->arena, s->path, s->text, s->length);
  return s->problem != NULL;
}

/* NULL: no plan fits, as the report says, or the planner and the checker disagree: then `made` has a text. */
static PlannerPlan *plan_of(const Subject *s, PlannerReport *report, PlannerText *made) {
  PlannerPlan *plan = planner_plan_checked(s->text, s->length, s->problem, &s->options, s->arena, report, made);
  return made->is_valid ? plan : NULL;
}

static void fill(const Subject *s, const PlannerPlan *plan, const PlannerReport *report, Tier tier, SweepPoint *point) {
  point->fits = problem_fates(s->arena, s->problem, plan, point->fates);
  point->ns = report->makespan_ns;
  point->needs = plan_needs(report, tier);
}

static const PlannerReport *try_budgets(void *of, const int64_t tier_bytes[TIER_COUNT], Tier tier, SweepPoint *point) {
  Subject other = *(const Subject *)of;
  PlannerReport *report = arena_alloc(other.arena, sizeof *report);
  PlannerText made = {0};
  if (!set_budgets(&other, tier_bytes)) return NULL;
  const PlannerPlan *plan = plan_of(&other, report, &made);
  if (!plan && made.text) return NULL;
  if (plan) fill(&other, plan, report, tier, point);
  else point->binds = plan_report_bind(other.arena, other.problem, report);
  return report;
}

/* ---- sweeps ---- */

static Sweeper sweeper_of(Subject *s, const int64_t own_bytes[TIER_COUNT], int plans) {
  Sweeper w = {.arena = s->arena, .of = s, .try_budgets = try_budgets, .model = s->problem->name, .data = "a planning problem", .target = "as given",
               .names = {tier_names[TIER_DEVICE], tier_names[TIER_HOST], tier_names[TIER_SSD]}, .plans = plans};
  get_budgets(s->problem, w.tier_bytes);
  memcpy(w.own_bytes, own_bytes, sizeof w.own_bytes);
  return w;
}

static SweepPoint own_point(const Subject *s, const PlannerPlan *plan, const PlannerReport *report, Tier tier) {
  int64_t budgets[TIER_COUNT];
  get_budgets(s->problem, budgets);
  SweepPoint own = {.bytes = {budgets[tier]}};
  fill(s, plan, report, tier, &own);
  return own;
}

/* What keeping everything needs; 0: not even the largest device lets it. */
static int64_t keep_bytes(const Subject *s) {
  Subject keeping = *s;
  int64_t budgets[TIER_COUNT];
  SweepPoint point = {0};
  get_budgets(s->problem, budgets);
  budgets[TIER_DEVICE] = 0;
  for (int i = 0; i < s->problem->piece_count; i++)
    if (__builtin_add_overflow(budgets[TIER_DEVICE], s->problem->pieces[i].bytes, &budgets[TIER_DEVICE])) return 0;
  budgets[TIER_DEVICE] = budgets[TIER_DEVICE] > INT64_MAX / 4 ? INT64_MAX / 2 : 2 * budgets[TIER_DEVICE] + s->problem->device_bytes / 2;
  keeping.options.policy = POLICY_KEEP;
  try_budgets(&keeping, budgets, TIER_DEVICE, &point);
  return point.fits ? point.needs : 0;
}

/* A page should not take long: little effort, and fewer plans where one was hard to find. */
static const Sweep *sweep_of_device(const Subject *s, const PlannerPlan *plan, const PlannerReport *report) {
  Subject quick = *s;
  int64_t budgets[TIER_COUNT], keep = keep_bytes(s);
  get_budgets(s->problem, budgets);
  quick.options.effort = PLANNER_FAST;
  Sweeper w = sweeper_of(&quick, budgets, sweep_plans(report->labels < MANY_LABELS ? report->extended_step_count : INT_MAX, false));
  return sweep_device(&w, own_point(s, plan, report, TIER_DEVICE), keep, 1);
}

/* ---- the command ---- */

/* What gnncc says of a problem that it wrote: planner.md leaves `meta` to whoever writes it. */
static bool says_direct(const Subject *s) {
  json_t *root = json_loadb(s->text, s->length, 0, NULL);
  const char *ssd = json_string_value(json_object_get(json_object_get(root, "meta"), "ssd"));
  bool is_direct = ssd && strcmp(ssd, "direct") == 0;
  json_decref(root);
  return is_direct;
}

static int say_infeasible(const Subject *s, const PlannerReport *report) {
  plan_report_infeasible(stderr, s->problem, report, s->options.policy);
  return INFEASIBLE;
}

/* What is swept gets the largest budget asked for. */
static int begin_sweep(Subject *s, const Words *words, SweepRange ranges[2], int *count) {
  int64_t budgets[TIER_COUNT];
  get_budgets(s->problem, budgets);
  const char *fault = sweep_read(s->arena, words->sweep, tier_names[TIER_DEVICE], budgets, ranges, count);
  if (fault) return refuse(arena_printf(s->arena, "--sweep %s", words->sweep), fault);
  for (int i = 0; i < *count; i++) budgets[ranges[i].tier] = ranges[i].high;
  return set_budgets(s, budgets) ? 0 : USAGE;
}

/* The requests but sweeps where there are several problems: those are collected. */
static int draw(Subject *s, const Words *words, json_t *sweeps) {
  PlannerReport report;
  PlannerText made = {0};
  SweepRange ranges[2];
  ViewRequest requests[MOST_REQUESTS];
  int64_t own_bytes[TIER_COUNT];
  int range_count = 0, count = 0, status = 0;
  get_budgets(s->problem, own_bytes);
  if (words->sweep && (status = begin_sweep(s, words, ranges, &range_count)) != 0) return status;
  const PlannerPlan *plan = plan_of(s, &report, &made);
  if (!plan && made.text) return fprintf(stderr, "gnncc plan: internal error in the planner (this is a bug): the checker rejects its plan\n"), INTERNAL;
  if (!plan) return say_infeasible(s, &report);
  if ((status = planner_write_plan(&words->planner, &made)) != 0) return status;
  const Sweep *sweep = NULL;
  if (words->sweep) {
    Sweeper w = sweeper_of(s, own_bytes, sweep_plans(0, false));
    sweep = sweep_ranges(&w, ranges, range_count, own_point(s, plan, &report, ranges[0].tier));
  } else if (has_request(words, "report")) {
    sweep = sweep_of_device(s, plan, &report);
  }
  if (sweeps) json_array_append_new(sweeps, sweep_json(sweep));
  for (int i = 0; i < words->count; i++)
    if (!sweeps || strcmp(words->requests[i].kind, "sweep") != 0) requests[count++] = words->requests[i];
  char *document = problem_report_text(s->arena, s->problem, says_direct(s), plan, &report, sweep);
  const char *slash = strrchr(s->path, '/'), *stem = strcmp(s->path, "-") == 0 ? "problem" : slash ? slash + 1 : s->path;
  status = document ? view_text(document, stem, requests, count, words->planner.is_forced) : INTERNAL;
  free(document);
  return status;
}

static int draw_one(Arena *arena, const Words *words, const char *path, json_t *sweeps) {
  Subject s = {.arena = arena, .path = path, .options = words->planner.options};
  s.text = planner_read_file(arena, path, &s.length);
  s.problem = s.text ? planner_read_problem(arena, path, s.text, s.length) : NULL;
  return s.problem ? draw(&s, words, sweeps) : USAGE;
}

/* Sweeps of several problems are one table, or on one chart. */
static int draw_all(Arena *arena, const Words *words) {
  json_t *sweeps = words->planner.more_count ? json_array() : NULL;
  int status = draw_one(arena, words, words->planner.problem, sweeps);
  for (int i = 0; i < words->planner.more_count && status == 0; i++) status = draw_one(arena, words, words->planner.more[i], sweeps);
  for (int i = 0; i < words->count && status == 0 && sweeps; i++)
    if (strcmp(words->requests[i].kind, "sweep") == 0) status = view_sweeps_file(sweeps, words->requests[i].path, words->planner.is_forced);
  json_decref(sweeps);
  return status;
}

int problem_command(int argc, char **argv) {
  Words words = {0};
  Arena *arena = arena_new();
  int status = read_words(arena, argc, argv, &words);
  char *help[] = {"plan", "--help", NULL};
  if (status == 0) status = words.planner.wants_help ? planner_main(2, help) : draw_all(arena, &words);
  arena_free(arena);
  return status;
}
