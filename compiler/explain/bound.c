/* bound: Schedule -> how long each lane is at work, and which of them the epoch cannot be shorter than. */
#include "bound.h"

Bound bound(const Schedule *schedule) {
  Bound b = {.ratio = 1};
  const bool is_training = schedule->training_count > 0;
  const int count = is_training ? schedule->training_count : schedule->count;
  for (int i = 0; i < count; i++) {
    const Step *step = &schedule->steps[i];
    LaneTimes *lane = &b.lanes[step->lane];
    *(step->kind == STEP_WAIT ? &lane->wait_seconds : &lane->busy_seconds) += step->cost.seconds;
    lane->steps++;
    b.is_told |= is_training && (step->kind == STEP_COPY || step->is_rerun);
  }
  for (int lane = 0; lane < LANE_COUNT; lane++)
    if (b.lanes[lane].busy_seconds > b.lanes[b.lane].busy_seconds) b.lane = (Lane)lane;
  const double busy = b.lanes[b.lane].busy_seconds, whole = is_training ? schedule->training_seconds : schedule->evaluation_seconds;
  if (busy > 0) b.ratio = whole / busy;
  return b;
}
