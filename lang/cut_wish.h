/* cut_wish.h: what a user says of how sums over neighbours run (`plan { cut = rows(16) }`, --cut=slices(8)). */
#ifndef GNNCC_CUT_WISH_H
#define GNNCC_CUT_WISH_H

#include <stdbool.h>

typedef enum CutMode { CUT_UNSAID, CUT_AUTO, CUT_WHOLE, CUT_ROWS, CUT_HALOS, CUT_SLICES } CutMode;

typedef struct CutWish {
  CutMode mode;
  int count; /* of parts or slices; 1 for other modes */
  const char *layers; /* of which layers otherwise: what cut_wish_layer reads, "conv1 = whole, conv2.backward = slices(4)"; NULL: of none */
} CutWish;

/* The sums over neighbours of the layers that a pattern names. */
typedef struct LayerWish {
  const char *pattern; /* as the user wrote it, with .forward or .backward; `length` letters of the text */
  int length, name_length; /* without those */
  bool is_forward, is_backward; /* in which passes */
  CutMode mode; /* whole, rows or slices */
  int count;
} LayerWish;

enum { CUT_MOST_PARTS = 64, CUT_MOST_SLICES = 16 };

/* "auto", "whole", "rows(P)" or "halos(P)" with a power of two from 2 to CUT_MOST_PARTS, "slices(S)" with 2 to CUT_MOST_SLICES; behind whole, rows(P) and
 * slices(S) layers that differ, ", conv1 = whole, conv2.backward = slices(4)", which stay where `text` has them. NULL, or what is wrong. */
const char *cut_wish_read(const char *text, CutWish *wish);
/* The first layer of a list; *text becomes the rest of it, NULL where there is none. Returns NULL, or what is wrong. */
const char *cut_wish_layer(const char **text, LayerWish *layer);
/* What is wrong where layers differ from `wish`, or NULL. */
const char *cut_wish_beside_layers(CutWish wish);

bool cut_wish_has_slices(CutWish wish); /* the program's, or some layer's */

/* A number of parts or slices was asked for, or a cut of layers. */
static inline bool cut_wish_is_fixed(CutWish wish) { return wish.mode == CUT_ROWS || wish.mode == CUT_HALOS || wish.mode == CUT_SLICES || wish.layers; }

#endif
