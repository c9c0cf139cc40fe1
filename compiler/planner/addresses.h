/* addresses.h: static addresses of a simulated plan (docs/planner.md, section "Addresses"). */
#ifndef GNNCC_PLANNER_ADDRESSES_H
#define GNNCC_PLANNER_ADDRESSES_H

#include "evaluate.h"
#include "plan.h"

/* Nothing maps memory in pieces below a page of the machine. Toy problems, in bytes and not in tensors, may. */
enum { ADDRESSES_LEAST_PAGE = 4096, ADDRESSES_TOY_BYTES = 1 << 20 };

typedef enum AddressesKind { ADDRESSES_OFFSETS, ADDRESSES_PAGES, ADDRESSES_NONE } AddressesKind;

typedef struct Addresses {
  AddressesKind kind;
  PlanInterval *intervals;
  int count;
  int64_t load_bytes, height_bytes; /* largest sum of live bytes; highest address used */
  int64_t page_bytes; /* 0: offsets */
  PlanPages *ranges;
  int range_count;
} Addresses;

/* Shorten residencies at no cost: every g to the last boundary before its transfer starts, every f to the first
 * boundary after its copy is done. The sequence must be simulated; it is simulated again. The makespan stays. */
void addresses_tighten(Evaluator *evaluator);

/* Bring every piece back as late as the makespan allows, one after the other, and tighten. Dear: some simulations a move. */
void addresses_delay(Evaluator *evaluator);

/* The intervals of the evaluator's simulated sequence, in the order the plan lists them. */
Addresses *addresses_intervals(const Evaluator *evaluator, Arena *arena);

Addresses *addresses_copy(const Addresses *layout, Arena *arena);

/* Offsets below device_bytes if greedy orders, a complete search (few intervals) or a squeaky wheel find them, else
 * whole pages, where they may be, of at least ADDRESSES_LEAST_PAGE unless the device is a toy; else none. `effort`: pairs of
 * intervals looked at. */
AddressesKind addresses_pack(Addresses *layout, int64_t device_bytes, bool may_be_pages, int64_t effort, Arena *arena);

#endif
