/* sweep_program.h: the same program planned for many budgets of a tier, or of two. */
#ifndef GNNCC_SWEEP_PROGRAM_H
#define GNNCC_SWEEP_PROGRAM_H

#include "driver.h"

struct Sweep;

/* Before planning: gives the swept tiers the largest budget asked for. False after an error, which is said. */
bool sweep_prepare(Compilation *c);
/* After the layout: the sweep asked for by --sweep. */
const struct Sweep *sweep_asked(Compilation *c);
/* The device from the least that works to what keeping everything needs, for the report. NULL without a train block. */
const struct Sweep *sweep_of_device(Compilation *c);

#endif
