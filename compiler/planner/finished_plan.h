/* finished_plan.h: a finished plan, as gnncc-plan/1 writes it, and the certificate of section "Lower bound". Plain data; all of
 * it lives in the arena it was made in. */
#ifndef GNNCC_PLANNER_PLAN_H
#define GNNCC_PLANNER_PLAN_H

#include "sequence.h"

/* The memory of one residency (piece >= 0, from its first step) or of the workspace of step `from` (piece = -1). */
typedef struct PlanInterval {
  int piece, from, until;
  int taken_by; /* the piece that is made in its place at step until + 1, or -1 */
  int64_t bytes, offset;
} PlanInterval;

/* The rows of a window. */
enum { WINDOW_COMPUTE, WINDOW_D2H, WINDOW_H2D, WINDOW_SSDW, WINDOW_SSDR, WINDOW_ROWS };

/* Prices of windows between steps (section "Lower bound"). */
typedef struct PlanWindows {
  int cut_count, *cuts; /* rising */
  double *rows; /* rows[WINDOW_ROWS * window + row], of cut_count + 1 windows */
  double *lam, *mu; /* by cut: ns per byte */
} PlanWindows;

typedef struct PlanCertificate {
  enum { CERTIFICATE_NONE, CERTIFICATE_STALL_FREE, CERTIFICATE_DUAL, CERTIFICATE_WINDOWS } kind;

  int split;
  int64_t rho_ns, theta_ns;
  /* Weights of the rows of section "Lower bound"; lam and mu are ns per byte. */
  double a1, a2, b1, b2, b3, cw, cr, lam, mu;
  PlanWindows windows;
} PlanCertificate;

typedef struct PlannerPlan {
  const Problem *problem;
  int *variant; /* by op */
  PlanRerun *reruns; /* by (before, list order) */
  int rerun_count;
  int *outs;
  int out_count;
  PlanMove *moves;
  int move_count;
  PlanInterval *intervals; /* by first step, then piece; what is at home on the device at the bottom. Empty: no addresses */
  int interval_count;
  int64_t makespan_ns, peak_bytes, lower_bound_ns; /* -1: not claimed */
  PlanCertificate certificate;
  const char *effort; /* NULL: not written */
  bool is_cut_short; /* a time limit ended the search */
} PlannerPlan;

/* At home on the device: there at every step. */
bool plan_is_resident(const Problem *problem, const PlanInterval *interval);

/* In the order of plans: by first step, then piece. */
int plan_compare_intervals(const void *a, const void *b);

/* Of what is at home on the device. */
int64_t plan_resident_bytes(const Problem *problem);

/* Where the residency of the piece from that step on lies; with `piece` = -1 the workspace of the step. -1: the plan does not say. */
int64_t plan_offset(const PlannerPlan *plan, int piece, int from);

/* The text of the plan, deterministic to the byte, in the arena. */
char *plan_write_json(const PlannerPlan *plan, Arena *arena, size_t *length);

/* Reads the decisions of a plan for this problem, and of its addresses where each begins. NULL with `error` set when the text is not one; legality is the
 * business of the checker. Moves come back sorted by (piece, after). */
PlannerPlan *plan_read_json(const Problem *problem, Arena *arena, const char *text, size_t length, ProblemError *error);

#endif
