/* settle.h: the best candidates of a session -> the fastest plan that has addresses. */
#ifndef GNNCC_PLANNER_SETTLE_H
#define GNNCC_PLANNER_SETTLE_H

#include "addresses.h"
#include "session.h"

/* The session's best plan with its addresses; where it cannot be laid out, the fastest one found that can: among other
 * candidates for this device, among plans for smaller ones, at last among the policies' (`policy_ns`: what they take). A
 * policy that was asked for is laid out as it is, or for a smaller device. The session's evaluator and best candidate are left
 * at the plan. The result is not packed when nothing could be laid out. */
Addresses *settle(Session *session, const Budget *budget, const PlannerOptions *options, const int64_t *policy_ns, Arena *arena);

/* So many open gaps that every try takes a while: fewer are made. */
bool settle_is_dear(const Session *session);

#endif
