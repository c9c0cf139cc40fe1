/* timeline.h: who waits for whom. A simulated plan as the events of its lanes, in the order in which they are queued.
 *
 * At the boundary before a step: what leaves, the wait for the places that are needed, what comes back, the wait for what the step reads, the
 * step. A wait names the last copy of a lane, whose queue is first in, first out. Reads from the SSD through the staging ring are queued
 * as soon as those before them are: the ring alone holds them back (S16). Schedules, reports and emitted code read this list; none of
 * them finds out again what has to be waited for.
 */
#ifndef GNNCC_PLANNER_TIMELINE_H
#define GNNCC_PLANNER_TIMELINE_H

#include "simulate.h"

typedef enum EventKind {
  EVENT_KERNEL, /* a step of the extended sequence that computes */
  EVENT_STAGE,  /* one stage of a step that communicates */
  EVENT_OUT,    /* from the device: to the host, to the ring, or to the SSD itself */
  EVENT_WRITE,  /* from the ring to the SSD */
  EVENT_READ,   /* from the SSD to the ring */
  EVENT_IN,     /* to the device */
  EVENT_WAIT,   /* compute waits for a copy or a communication */
} EventKind;

typedef enum WaitReason { WAIT_PLACE, WAIT_ARRIVAL, WAIT_END } WaitReason; /* the place of what leaves; what a step reads; the last copy */

typedef struct TimelineEvent {
  EventKind kind;
  int lane;            /* LANE_COMPUTE for kernels and waits */
  int boundary;           /* the extended step that it is, or before which it is queued; the sequence's count: after the last */
  int piece;              /* of copies and of what is waited for; -1 for steps */
  int offload, move;      /* EVENT_OUT, EVENT_WRITE: index into offloads; EVENT_READ, EVENT_IN: into moves; else -1 */
  bool is_ssd, is_by_ring;
  int after[2];           /* events on other lanes that must be complete before it starts, or -1 */
  int waits_for;          /* EVENT_WAIT: the event */
  WaitReason reason;
  int stage;              /* EVENT_STAGE */
  int64_t start_ns, ns;
} TimelineEvent;

typedef struct Timeline {
  bool is_direct;         /* the device reaches the SSD itself: what the problem calls d2h and h2d is that */
  int count;
  TimelineEvent *events;
  int *last_event;        /* per extended step: its kernel, or its last stage */
  int *origin;            /* per move: the offload that made the copy in the tier which it reads; -1: there from the beginning */
} Timeline;

/* The simulation is that of the sequence, and valid. */
const Timeline *timeline(Arena *arena, const Sequence *sequence, const Simulation *simulation, bool is_direct);

#endif
