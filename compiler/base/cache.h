/* cache.h: where what is measured once is kept from one compilation to the next. */
#ifndef GNNCC_CACHE_H
#define GNNCC_CACHE_H

#include "lang/arena.h"

const char *cache_directory(Arena *arena); /* NULL: there is no HOME */
void cache_make(Arena *arena);             /* it is there afterwards */

#endif
