/* cut_wish.h: what a user says of how sums over neighbours run (`plan { cut = rows(16) }`, --cut=slices(8)). */
#ifndef GNNCC_CUT_WISH_H
#define GNNCC_CUT_WISH_H

#include <stdbool.h>

typedef enum CutMode { CUT_UNSAID, CUT_AUTO, CUT_WHOLE, CUT_ROWS, CUT_HALOS, CUT_SLICES } CutMode;

typedef struct CutWish {
  CutMode mode;
  int count; /* of parts or slices; 1 for other modes */
} CutWish;

enum { CUT_MOST_PARTS = 64, CUT_MOST_SLICES = 16 };

/* "auto", "whole", "rows(P)" or "halos(P)" with a power of two from 2 to CUT_MOST_PARTS, "slices(S)" with 2 to CUT_MOST_SLICES. NULL, or what is wrong. */
const char *cut_wish_read(const char *text, CutWish *wish);

/* A number of parts or slices was asked for. */
static inline bool cut_wish_is_fixed(CutWish wish) { return wish.mode == CUT_ROWS || wish.mode == CUT_HALOS || wish.mode == CUT_SLICES; }

#endif
