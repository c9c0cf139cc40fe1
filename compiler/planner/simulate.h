/* simulate.h: the pass of S13 over a sequence. One sweep, no allocation, O(steps + moves); re-entrant: everything it
 * writes is in the Simulation. Times never decrease when a duration grows, so shorter real times never hurt. */
#ifndef GNNCC_PLANNER_SIMULATE_H
#define GNNCC_PLANNER_SIMULATE_H

#include "sequence.h"

typedef struct Simulation {
  int64_t makespan_ns, peak_bytes;
  int64_t over_bytes; /* not valid: bytes beyond the tiers, summed over the steps */
  int fail_step; /* first extended step over the device budget, or -1 */
  int64_t *busy_ns; /* by lane */
  int64_t compute_ns;

  int64_t *occupied_bytes, *boundary_ns, *start_ns, *end_ns; /* by extended step */
  int64_t *out_start_ns, *out_done_ns; /* by offload */
  int *release; /* by offload: the boundary that pops it, or count when none does */
  int64_t *in_start_ns, *in_done_ns; /* by move: the h2d transfer */
  int64_t *read_start_ns; /* by move: the ssdr transfer, or -1 */

  struct SimulationScratch *scratch;
} Simulation;

/* Room for the sequences that `sequence` can hold. */
Simulation *simulation_new(Arena *arena, const Sequence *sequence);

/* True when the plan is valid; makespan, peak and the arrays are then those of the normative pass. */
bool simulate(Simulation *simulation, const Sequence *sequence);

/* The same pass that chooses the g of the sequence's moves as it goes: what is needed next comes back as soon as the lane is free for it,
 * it has left, and nothing has to wait for its room, with `margin_bytes` left to what still leaves. */
bool simulate_choosing(Simulation *simulation, Sequence *sequence, int64_t margin_bytes);

#endif
