/* revolve.h: fates for little memory and no other tier: which pieces stay, and which are made again, for how long, and made
 * again later (docs/planner.md, section "Made again more than once").
 *
 * The dynamic program over segments of Beaumont et al., "Optimal checkpointing for heterogeneous chains" (rotor, ACM TOMS
 * 2024), which for equal steps gives the binomial schedules of Griewank and Walther's Revolve (ACM TOMS 2000). It takes the
 * recomputable pieces around the fullest step for a chain; what it says of other graphs is a proposal for the exact simulator.
 */
#ifndef GNNCC_PLANNER_REVOLVE_H
#define GNNCC_PLANNER_REVOLVE_H

#include "geometry.h"

typedef struct Revolve Revolve;

/* NULL where there is nothing to decide: no recomputable gaps around the fullest step, or more data in them than it can take. */
Revolve *revolve_new(Arena *arena, const Problem *problem, const Geometry *geometry);

/* The plan that keeps at most `level` parts of `revolve_levels` of the room there is beside what no plan can avoid. Sets the gaps
 * it decides in fates (RETAIN or RECOMPUTE) and in keep_from, both by gap, and leaves the others. False: as that of level + 1. */
int revolve_levels(const Revolve *revolve);
bool revolve_propose(const Revolve *revolve, int level, uint8_t *fates, int *keep_from);

#endif
