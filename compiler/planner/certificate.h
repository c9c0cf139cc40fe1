/* certificate.h: a lower bound on every valid plan, with the few numbers that prove it (docs/planner.md, section
 * "Lower bound"). Whoever distrusts it recomputes the sum in O(items); the checker does. */
#ifndef GNNCC_PLANNER_CERTIFICATE_H
#define GNNCC_PLANNER_CERTIFICATE_H

#include "finished_plan.h"

/* The best bound found: a dual certificate at one of the fullest steps, or the stall-free time. `rounds` limits the
 * cutting planes of each (split, rho, theta) tried. */
int64_t certificate_find(const Problem *problem, const Geometry *geometry, int splits, int rounds,
                         PlanCertificate *certificate);

/* Price-guided fates: what each item at the split of a dual certificate would choose. Writes into `fates` (by gap). */
void certificate_round(const Problem *problem, const Geometry *geometry, const PlanCertificate *certificate,
                       uint8_t *fates);

#endif
