/* addresses.h: static addresses of a simulated plan (docs/planner.md, section "Addresses"). */
#ifndef GNNCC_PLANNER_ADDRESSES_H
#define GNNCC_PLANNER_ADDRESSES_H

#include "evaluate.h"
#include "finished_plan.h"

typedef struct Addresses {
  const Problem *problem;
  PlanInterval *intervals;
  int count;
  int64_t load_bytes, height_bytes; /* largest sum of live bytes; highest address used */
  bool is_packed; /* below the end of the device */
} Addresses;

/* Shorten residencies at no cost: every g to the last boundary before its transfer starts, every f to the first
 * boundary after its copy is done. The sequence must be simulated; it is simulated again. The makespan stays. */
void addresses_tighten(Evaluator *evaluator);

/* Bring every piece back as late as the makespan allows, one after the other, and tighten. Dear: some simulations a move. */
void addresses_delay(Evaluator *evaluator);

/* The intervals of the evaluator's simulated sequence, in the order the plan lists them. */
Addresses *addresses_intervals(const Evaluator *evaluator, Arena *arena);

Addresses *addresses_copy(const Addresses *layout, Arena *arena);

/* `effort`: of pack (pack.h); 0: pack_least_above. Where it is packed, what is at home on the device lies at the bottom. */
void addresses_pack(Addresses *layout, int64_t device_bytes, int64_t effort);

/* How many intervals end above the device. */
int addresses_count_above(const Addresses *layout, int64_t device_bytes);

/* Returns come no earlier than they have to at steps where an interval that ends above the device begins: needed there they wait until then, needed later until that
 * step is over. Simulated again; how many were put off. */
int addresses_delay_around(Evaluator *evaluator, const Addresses *layout, int64_t device_bytes);

/* Adds to by_step[base step] what of the layout ends above the device there: the bytes of whole residencies. */
void addresses_excess(const Addresses *layout, const Sequence *sequence, int64_t device_bytes, int64_t *by_step);

#endif
