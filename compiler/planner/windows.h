/* windows.h: the bound of section "Lower bound" over many windows at once, and its prices: of the memory at steps, and of the lanes between them. */
#ifndef GNNCC_PLANNER_WINDOWS_H
#define GNNCC_PLANNER_WINDOWS_H

#include "finished_plan.h"

typedef struct Windows Windows;

/* What is made again costs its producer's time, as is proved; or that and its share of what its producer reads and nobody else will; or it is not, where it can be copied.
 * windows_fates are of a plan like that. */
typedef enum WindowsReruns { RERUNS_PROVED, RERUNS_ESTIMATED, RERUNS_BY_COPIES } WindowsReruns;

/* Up to `most_cuts` steps to cut at. NULL where an op may communicate or not, or nothing is over the budget. */
Windows *windows_new(Arena *arena, const Problem *problem, const Geometry *geometry, int most_cuts, WindowsReruns reruns);

/* Begin where other windows of the same problem ended: their weights in those that lie within them, their prices of room at the nearest cuts. */
void windows_begin_at(Windows *windows, const PlanWindows *others);

/* Raise the bound towards `known_ns`, the makespan of a plan, in up to `rounds` rounds, with shorter steps after `patience` rounds in which little was won; what
 * it proves. It goes on from where it was. */
int64_t windows_raise(Windows *windows, int64_t known_ns, int rounds, int patience);

/* The rounds that make about as much work, in windows of spans looked at. */
int windows_rounds(const Windows *windows, int64_t work);

/* The prices that proved the most so far. */
void windows_certificate(const Windows *windows, Arena *arena, PlanCertificate *certificate);

typedef struct GapCosts {
  double fates[FATE_COUNT]; /* ns at the best prices, the room that it takes on the device among them; HUGE_VAL: not legal */
  const double *lane; /* the rows of the window where the gap ends */
} GapCosts;

/* `is_copied`: its tier has a valid copy by then. */
GapCosts windows_costs(const Windows *windows, const PlanGap *gap, bool is_copied);

/* The fates at which the bound was met, averaged over the last rounds: of pieces alike as many have one as its share says. Gaps that cover no cut are not
 * changed. */
void windows_fates(const Windows *windows, uint8_t *fates);

#endif
