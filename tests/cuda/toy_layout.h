/* toy_layout.h: where things lie in the arena of the hand-made program: what an emitted program has as constants comes to these
 * kernels as options. */
#ifndef TOY_LAYOUT_H
#define TOY_LAYOUT_H

typedef enum toy_slot {
  TOY_CLASSES = 2, TOY_WIDTH, TOY_X, TOY_X_BYTES, TOY_Y, TOY_DEGREE, TOY_WEIGHT, TOY_BIAS, TOY_STATE, TOY_STATE_BYTES, TOY_SCORES, TOY_PROJECTED,
  TOY_BACK, TOY_BACK_PROJECTED, TOY_LOSS_SCORES, TOY_WEIGHT_BYTES, TOY_BIAS_BYTES, TOY_RESULTS, TOY_SLOTS
} toy_slot;

#endif
