/* multilevel.h: a session's problem in fewer and larger pieces first, then in more and smaller ones (coarse.h, wishes.h). */
#ifndef GNNCC_PLANNER_MULTILEVEL_H
#define GNNCC_PLANNER_MULTILEVEL_H

#include "session.h"

/* After session_run, of a problem with many gaps: a better candidate of the session's search, if one is found; then session->second is the one before. */
void multilevel_search(Session *session, const Budget *budget);

#endif
