/* sequence.h: from decisions to the extended sequence of S8, its residencies and its moves.
 *
 * Recompute (docs/planner.md, section "From fates to steps"): when a base step needs a dropped piece, its producer runs
 * again just before, after whatever that producer needs; re-made pieces stay until their own next base use, or leave
 * again where the decisions say so, as what was dead does. A Sequence is scratch: building another
 * plan overwrites it.
 */
#ifndef GNNCC_PLANNER_SEQUENCE_H
#define GNNCC_PLANNER_SEQUENCE_H

#include "geometry.h"

/* One return to the device: of a piece moved away after step `after`, or (after = -1) of a home piece. */
typedef struct PlanMove {
  int piece, after, v; /* v: the access it is needed by */
  int g; /* prefetch boundary, after < g <= v */
  int f; /* latest release boundary, or -1 */
  Tier to; /* TIER_HOST or TIER_SSD */
  bool is_clean; /* the tier already has a valid copy: nothing goes out */
} PlanMove;

/* A copy to the host or SSD that starts when step `after` has ended; move = -1 for a final piece. */
typedef struct PlanOffload {
  int after, piece, move;
} PlanOffload;

/* A time on the device, with g = v for returns. `until` is the last step that needs it. */
typedef struct PlanStay {
  int piece, from, until;
  int in_move; /* the move that brings it, or -1 */
  int out_move; /* the non-clean move it leaves by, or -1 */
  int taken_by; /* the piece that step `until` makes in its place (S17), or -1 */
  bool is_final; /* leaves by its final copy */
} PlanStay;

typedef struct PlanRerun {
  int before, step; /* base steps */
  int out_first, out_count; /* pieces in Sequence.outs */
} PlanRerun;

typedef struct Sequence {
  const Problem *problem;
  const Geometry *geometry;
  int step_limit; /* more extended steps than this are refused */
  int *variant; /* chosen variant of each op */

  int count; /* extended steps */
  int *base; /* base step of an extended step */
  int *rerun; /* index into reruns, or -1 */
  int *position; /* extended step of a base step */
  PlanRerun *reruns;
  int rerun_count;
  int *outs;
  int out_count, out_limit;
  int *join; /* J of a communication step, else -1 */
  int64_t *compute_ns; /* of communication, before its stages on other lanes */
  int64_t *need_bytes; /* D(s) with every g = v */
  int64_t *scratch_bytes; /* outputs of a re-run that are not kept */
  PlanMove *moves; /* by (v, piece) */
  int move_count, move_limit;
  PlanOffload *offloads; /* by (after, piece) */
  int offload_count;
  PlanStay *stays;
  int stay_count, stay_limit;
  int64_t over_bytes; /* host and SSD bytes beyond the tiers, summed over the steps; 0 when S12 holds */
  int64_t host_peak_bytes, ssd_peak_bytes;

  struct SequenceScratch *scratch;
} Sequence;

/* Room for up to `step_limit` extended steps (0: a default that canonical plans do not reach in practice). */
Sequence *sequence_new(Arena *arena, const Problem *problem, const Geometry *geometry, int step_limit);

/* What is final goes to the SSD where it ends there, else to the host. */
static inline bool sequence_goes_to_ssd(const Sequence *q, const PlanOffload *offload) {
  return offload->move >= 0 ? q->moves[offload->move].to == TIER_SSD : q->problem->pieces[offload->piece].ends_on_ssd;
}

/* Not a fate: the piece is away at no cost and comes back at no cost. With it an assignment of some gaps is bounded
 * from below. */
enum { FATE_FREE = FATE_COUNT };

/* How long what is re-made on the way to something else stays. */
typedef struct RemadeStays {
  /* Per gap (NULL: 0 everywhere): what is re-made in the gap before an earlier base step than this is dropped again after that step, and made once
   * more when it is needed next; what is brought back for a re-run there leaves again, its copy being valid. */
  const int *keep_from;
  /* A re-run before one of the next so many base steps still finds what is dropped after a base step: what has no base use any more, too. */
  int shared_steps;
} RemadeStays;

/* Build from a fate per gap of the geometry and a variant per op. False when the assignment has no legal sequence. */
bool sequence_build(Sequence *sequence, const uint8_t *fates, RemadeStays stays, const int *variants);

/* Build from explicit insertions (by `before`, in list order) and moves (by piece,
 * then by `after`; v and is_clean are filled in).
 * False when a move matches no gap. Legality beyond that is the business of the checker. */
bool sequence_build_explicit(Sequence *sequence, const int *variants, const PlanRerun *reruns, int rerun_count,
                             const int *outs, const PlanMove *moves, int move_count);

#endif
