/* instead.h: what other plans of the same program would be. */
#ifndef GNNCC_INSTEAD_H
#define GNNCC_INSTEAD_H

#include "compiler/plan/answer.h"

/* Bytes and times 0: not known. */
typedef struct Instead {
  int64_t keep_ns, keep_bytes, recompute_ns, recompute_bytes, least_ns, least_bytes;
  const char *least_of;                       /* the plans that the least is of, where others may need less: "whole values", "this cut"; NULL: all */
  bool is_least_sketched;                     /* without addresses, so that it may be too little */
  int64_t unpinned_ns;                        /* without the pins */
  int64_t step_up_bytes, step_up_saves_ns;    /* the next larger device that is faster */
  bool is_step_sketched;                      /* likewise: nobody has planned it yet */
  int64_t tf32_ns, products_ns;               /* the epoch with --precision=tf32, and what its products take in fp32; where these are most of it */
  int64_t nested_ns, order_ns;                /* the epoch with `order = nested`, and what it takes to make the order, once; where that pays */
} Instead;

/* What keeping or recomputing everything, or the smallest or a larger device, would give. `may_be_cut`: otherwise than in the answer, too. NULL without a train block. */
Instead *instead_of(const PlanRequest *request, const PlanAnswer *answer, bool may_be_cut);

#endif
