/* wide.h: products of two 64-bit quantities. */
#ifndef GNNCC_PLANNER_WIDE_H
#define GNNCC_PLANNER_WIDE_H

__extension__ typedef __int128 Wide;

#endif
