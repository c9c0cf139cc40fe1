/* allocated: how much gnncc itself has allocated, in blocks that count. The readers of data are those of the programs that it makes, so what they take
 * here is what they take there. */
#ifndef GNNCC_ALLOCATED_H
#define GNNCC_ALLOCATED_H

#include <stdint.h>

int64_t allocated_bytes(void);  /* in use, of blocks of a page or more; 0 where nobody counts (compiler/base/allocation.c does) */
int64_t allocated_most(void);   /* at most, since allocated_restart */
void allocated_restart(void);
void allocated_add(int64_t bytes); /* a block came, or went: negative */

#endif
