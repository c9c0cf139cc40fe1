/* label_dp.h: fates for the gaps around the fullest step by a two-sided label DP (docs/planner.md, section "The label
 * DP"). Its model of transfers is fluid, so its best labels are proposals for the exact simulator, not plans. */
#ifndef GNNCC_PLANNER_LABEL_DP_H
#define GNNCC_PLANNER_LABEL_DP_H

#include "geometry.h"

enum { LABEL_DP_PROPOSALS = 24 };

typedef struct LabelDpOptions {
  int width; /* labels kept after each gap; time and memory grow with width times gaps */
  double device_price, host_price; /* ns per byte, from a dual certificate; 0 when there is none */
  int64_t reserve_bytes; /* device bytes to leave alone: the fluid model forgets a piece here and there */
} LabelDpOptions;

/* Fills up to LABEL_DP_PROPOSALS fate vectors (each of gap_count bytes, given by the caller) that agree with `fates`
 * on every gap that is not open or does not cover `centre`, best first; returns their number. Adds the labels made to
 * *label_count. */
int label_dp(const Problem *problem, const Geometry *geometry, int centre, const uint8_t *fates, const int *variants,
             const LabelDpOptions *options, uint8_t **proposals, int64_t *label_count);

#endif
