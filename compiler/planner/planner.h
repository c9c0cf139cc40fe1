/* planner.h: Problem -> Plan (docs/planner.md). Re-entrant; everything lives in the caller's arena. */
#ifndef GNNCC_PLANNER_PLANNER_H
#define GNNCC_PLANNER_PLANNER_H

#include "finished_plan.h"
#include "policies.h"

typedef enum PlannerEffort { PLANNER_FAST, PLANNER_NORMAL, PLANNER_BEST } PlannerEffort;

/* Of every tier, with all effort; of the device alone, with all effort; of the device, the first that halving finds; none. What is not
 * looked for is 0 in the report. */
typedef enum PlannerLeast { PLANNER_LEAST_ALL, PLANNER_LEAST_DEVICE, PLANNER_LEAST_QUICK, PLANNER_LEAST_NONE } PlannerLeast;

enum { POLICY_NOT_TRIED = -1 };

typedef struct PlannerOptions {
  PlannerEffort effort;
  double time_limit_s; /* 0: none. A limit that ends the search makes the plan depend on the machine; it says so */
  int policy; /* a Policy: plan as that system would; -1: plan */
  PlannerLeast least; /* where nothing fits, the least sizes that are looked for */
  int64_t least_below; /* of PLANNER_LEAST_QUICK: a size as large is of no use, and -1 is said instead; 0: each is of use */
  bool is_sketch; /* how long would it take, about? A short search, without addresses and without a bound but the simplest */
  bool takes_any; /* does anything fit? The first plan found that has addresses will do, however slow */
  bool needs_no_bound; /* how near the plan is to what is possible is not asked: only the bounds that the search itself uses are looked for */
  int64_t worth_ns; /* a plan that takes as long or longer, or finds no addresses soon, is of no use: none is looked for where that is proved, or
                     * where little effort does not come within a tenth of it; 0: each is of use */
} PlannerOptions;

typedef struct PlannerReport {
  bool is_feasible;
  bool is_any; /* the first that has addresses, as options.takes_any allows */
  bool is_worthless; /* none was looked for, or what was found was not worth it: options.worth_ns */
  bool is_optimal; /* the bound is reached, or the exact search finished: no plan is faster that decides the gaps which
                      * cover a step, the variants and the prefetch boundaries, and recomputes canonically */
  int64_t makespan_ns, stall_free_ns, lower_bound_ns, peak_bytes;
  int64_t compute_ns, rerun_ns; /* busy; of which re-runs */
  int64_t *busy_ns; /* by lane */
  int64_t gap_bytes[FATE_COUNT]; /* bytes of the open gaps by fate */
  int gap_count, open_count, step_count, extended_step_count;
  int64_t host_peak_bytes, ssd_peak_bytes;
  int64_t load_bytes, height_bytes;
  bool has_addresses; /* false: none were found */
  int64_t labels, evaluations;
  double first_plan_s, total_s; /* processor time: for people, in no file */
  int64_t policy_ns[POLICY_COUNT]; /* COST_INVALID or more: does not fit; or not tried, for want of time */
  /* Infeasible: what would do, one tier at a time (-1: no size of it helps), and what binds. */
  int64_t least_device_bytes, least_host_bytes, least_ssd_bytes;
  int bind_step; /* base step */
  int64_t bind_bytes;
  int bind_piece_count, *bind_pieces; /* what is on the device there; the rest of the bytes is workspace */
} PlannerReport;

void planner_default_options(PlannerOptions *options);

/* The best plan found, its claims, certificate and addresses filled in; NULL when no plan fits (the report says why).
 * Same problem and options (without a time limit), same plan. */
PlannerPlan *planner_plan(const Problem *problem, const PlannerOptions *options, Arena *arena, PlannerReport *report);

/* How near such a plan is to what is possible, where options.needs_no_bound left that open, with so much effort: changes the bound of plan and report, and nothing else. */
void planner_raise_bound(PlannerPlan *plan, PlannerEffort effort, Arena *arena, PlannerReport *report);

typedef struct PlannerText { /* a plan as it is written */
  char *text;
  size_t length;
  bool is_valid; /* the checker says so */
} PlannerText;

/* The same, and judged: the checker reads the text of the problem and of the plan, as a stranger would. NULL when no
 * plan fits (plan_text->text is NULL) or when the checker rejects it (the text is there, is_valid is false: a bug of
 * the planner, never a property of the problem). What compiles a plan takes it from here. */
PlannerPlan *planner_plan_checked(const char *text, size_t length, const Problem *problem, const PlannerOptions *options,
                                  Arena *arena, PlannerReport *report, PlannerText *plan_text);

/* `gnncc plan ...`; argv[0] is the word before the first option. Returns the exit status: 0 planned or valid,
 * 1 infeasible or invalid, 2 bad input (a file that cannot be read too) or usage, 4 the plan cannot be written,
 * 70 the checker disagrees. */
int planner_main(int argc, char **argv);

#endif
