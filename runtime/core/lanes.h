/* lanes.h: copies between the tiers beside the compute: a thread for each lane that the program uses, first in, first out. */
#ifndef GNN_LANES_H
#define GNN_LANES_H

#include "scratch.h"

typedef struct gnn_lanes gnn_lanes;

/* A device with memory of its own carries out the copies that do not touch the file: they count as complete once they are
 * queued there. `settle` comes before a copy that does touch it, and returns when all that it comes after is complete there. */
typedef struct gnn_lanes_device {
  gnn_status (*move)(gnn_run *run, int copy, gnn_error *error);
  gnn_status (*settle)(gnn_run *run, int copy, gnn_error *error);
} gnn_lanes_device;

/* Leaves run->lanes NULL where the program copies nothing. Nothing is allocated after this. is_serial: gnn_copy waits for
 * its copy, so that nothing overlaps. device NULL: all memory is the process's own. */
gnn_status gnn_lanes_create(gnn_run *run, const gnn_tiers *tiers, gnn_scratch *scratch, const gnn_lanes_device *device,
                            int is_serial, gnn_error *error);
void gnn_lanes_destroy(gnn_run *run);

/* gnn_copy and gnn_await of the processor. */
gnn_status gnn_lanes_copy(gnn_run *run, int copy);
gnn_status gnn_lanes_await(gnn_run *run, int copy);

/* Returns when all that was queued is done. */
void gnn_lanes_settle(gnn_run *run);

/* What made a lane fail, or NULL. */
const gnn_error *gnn_lanes_error(const gnn_run *run);
/* Whether some copy of the program goes over this lane; whether it goes through the scratch file. */
int gnn_lanes_uses(const gnn_program *program, gnn_lane lane);
int gnn_lanes_use_scratch(const gnn_program *program, gnn_lane lane); /* GNN_LANE_COUNT: any lane */
int64_t gnn_lanes_largest_move(const gnn_program *program, gnn_lane lane); /* bytes of the longest copy to or from the scratch file; 0: none */
int gnn_copy_uses_scratch(const gnn_copy_desc *copy);
extern const char *const gnn_lane_names[GNN_LANE_COUNT];

/* As gnn_scratch_text; nothing where no lane uses the file. */
void gnn_lanes_scratch_text(const gnn_run *run, gnn_text *text);

#endif
