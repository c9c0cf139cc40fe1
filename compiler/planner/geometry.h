/* geometry.h: what can be said about a problem before any decision (docs/planner.md, section "Geometry").
 *
 * Everything is on the base order. Steps that may communicate count as communication for the holds of S7, so a gap
 * that is free here is free under every choice of variants.
 */
#ifndef GNNCC_PLANNER_GEOMETRY_H
#define GNNCC_PLANNER_GEOMETRY_H

#include "problem.h"

/* Between two consecutive accesses u < v of a piece. */
typedef struct PlanGap {
  int piece, u, v;
  unsigned options; /* FATE_BIT mask; without FATE_KEEP the gap is pinned: the piece has to leave */
  bool is_clean; /* FATE_HOST or FATE_SSD only drops the copy: the one at home is valid */
  bool is_held; /* inside a communication */
  bool is_under; /* step u makes another piece in this one's place, where nothing of it has to be copied out (S17) */
  bool is_open; /* pinned, or has another option than RETAIN and covers an over-budget step: without some of these
                 * nothing fits */
} PlanGap;

typedef struct Geometry {
  int *join; /* J of a step that may communicate, else -1 */
  bool *is_always_comm; /* all variants of the step communicate */
  int64_t *min_ns; /* cheapest compute time; 0 for steps that may communicate */
  int64_t *min_comm_ns; /* cheapest sum of stages of a step that may communicate */
  int64_t *min_work, *max_work; /* over the variants */
  int *access_first, *access; /* pieces a step accesses, holds included: access[access_first[t] .. access_first[t+1]) */
  int *first_access, *last_access; /* of a piece; -1 when never accessed */
  bool *is_last_under; /* of a piece: the step of its last access makes another in its place */
  int *remake_limit; /* of a piece: the last step before which it can be made again whatever fates others have, or -1 */
  PlanGap *gaps; /* by piece, then by u */
  int gap_count;
  int *gap_first; /* gaps of piece x: gap_first[x] .. gap_first[x+1] */
  int *gap_before; /* parallel to `access`: the gap that ends at this access, or -1 */
  int *gap_after; /* parallel to `access`: the gap that starts at this access, or -1 */
  int *open; /* the open gaps, by u then by -v; then the wide ones, in the same order */
  int open_count;
  int wide_count; /* open and wide gaps: a wide one has another option than RETAIN and covers steps, none over the budget */
  int64_t *load_ns; /* L of S20 */
  int64_t *start_ns, *end_ns; /* stall-free timeline */
  int64_t *tail_ns; /* tail(t); tail_ns[step_count] = 0 */
  int64_t stall_free_ns;
  int64_t *retain_bytes; /* all-retain profile with the largest workspaces */
  int64_t *base_bytes; /* what no plan can avoid at a step, with the cheapest workspaces; a place that may be taken counts once */
  int peak_step; /* most over-budget compute step, or the highest one */
  bool is_over_budget;
} Geometry;

Geometry *geometry_make(const Problem *problem, Arena *arena);

static inline bool geometry_is_pinned(const PlanGap *gap) {
  return !(gap->options & FATE_BIT(FATE_KEEP));
}

/* The fates that change least: everything stays, and what is pinned takes the first fate it may have. */
void geometry_stay(const Geometry *geometry, uint8_t *fates);

#endif
