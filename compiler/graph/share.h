/* share: the runs of canonical blocks that ranks own. */
#ifndef GNNCC_SHARE_H
#define GNNCC_SHARE_H

#include "lang/arena.h"

/* first_part[0 .. count]: rank r has the parts [first_part[r], first_part[r + 1]) of 2^levels, each an aligned run of the 2^block_levels blocks; levels is what is returned. work_before[0 .. 2^block_levels]
 * is the work of the blocks before each, in any unit, and rows_before their rows. The rank with most work has the least that runs of such parts allow which have at most a tenth more rows
 * than runs of equally many blocks. Sums over ranks have room for every part, so that there are as few as come within a
 * twentieth of what finer ones would bring, at most sixteen for each rank. No rank is without, where there are as many blocks. */
int share_blocks(Arena *arena, int count, int block_levels, const double *work_before, const double *rows_before, int *first_part);

#endif
