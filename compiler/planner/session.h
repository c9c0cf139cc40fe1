/* session.h: the search for the best plan of one problem on one device, without addresses: policies, label DP, certificate,
 * search, and plans for smaller devices, which fit this one too. */
#ifndef GNNCC_PLANNER_SESSION_H
#define GNNCC_PLANNER_SESSION_H


#include "certificate.h"
#include "filling.h"
#include "planner.h"
#include "search.h"

/* What an effort may spend. `units` are steps and moves gone over by the simulator: about 15 ns each. */
typedef struct Budget {
  int64_t units;
  int64_t exact_units;
  int64_t dp_labels;
  int ladder_rungs;
  int splits, rounds;
  int64_t packing;
  int64_t intervals; /* of many gaps: where so many were laid out, plans with addresses are found that are to be improved no further */
  int64_t coarse_units; /* of multilevel.h, for each size of pieces; 0: none is tried */
  int bound_share;      /* of the rounds in which the bound is raised in the end, one in so many */
} Budget;

Budget budget_of(PlannerEffort effort);

typedef struct Session {
  const Problem *problem;
  const Geometry *geometry;
  Evaluator *evaluator;
  Search *search;
  Arena *arena;
  PlanCertificate certificate;
  int64_t lower_bound_ns, labels;
  bool is_optimal;
  FillOptions filling; /* of the fastest filling so far */
  int64_t filling_ns;
  Candidate *second; /* the best one before what the bound's fates gave, where that was faster; NULL: it was not */
} Session;

/* `deadline` as in search.h. */
Session *session_new(const Problem *problem, Arena *arena, double deadline);

/* The plans to fall back on, then the policies of others: never worse than any of them. `costs` by policy; the first plan
 * was there at the processor time `first_plan_at`. */
void session_try_policies(Session *session, int64_t *costs, double *first_plan_at);

/* Plans that make pieces again more than once: for little memory. */
void session_try_revolve(Session *session);

/* Everything leaves, then what pays most stays; at the prices of `windows`, if there are any. */
void session_try_fillings(Session *session, const Windows *windows);

/* The same of a problem like that of `before`, with less room at some steps: from what was best there. */
void session_fill_again(Session *session, const Session *before, int64_t units);

/* Prove more over windows, towards the makespan of the best plan, where it is not near the bound. */
void session_raise_bound(Session *session, const Budget *budget);

/* So many gaps that single ones are not searched over. */
bool session_is_large(const Session *session);

/* A few plans, to see how long the best would take. */
void session_sketch(Session *session, const Budget *budget);

/* Certificate, label DP, search and, where the gaps are few, the exact search. */
void session_run(Session *session, const Budget *budget, int64_t units);

/* The last part of it alone: from the best candidate so far. True when the exact search finished. */
bool session_improve(Session *session, int64_t units, int64_t exact_units);

/* Plans for smaller devices: on rungs that do not depend on the device, then for devices near this one. */
void session_climb_ladder(Session *session, const Budget *budget);
void session_look_around(Session *session, const Budget *budget);

/* What no plan can avoid, and what keeping everything needs. */
void session_device_range(const Session *session, int64_t *low, int64_t *high);

enum { SESSION_EXACT_GAPS = 32 };

#endif
