/* toy_cuda.h: the hand-made program of tests/runtime/toy.c for CUDA: steps are kernels, values leave the device and come back. */
#ifndef TOY_CUDA_H
#define TOY_CUDA_H

#include "../../runtime/cuda/gnncuda.h"
#include "../runtime/tiered.h"
#include "toy_layout.h"

typedef enum toy_mode { TOY_PLAIN, TOY_HOST, TOY_RING, TOY_MODE_COUNT } toy_mode;
extern const char *const toy_mode_names[TOY_MODE_COUNT];

typedef struct toy_cuda {
  toy_model toy;
  tiered_model tiered;
  gnn_program program;
  gnn_option_desc options[TOY_SLOTS];
} toy_cuda;

extern gnn_cuda_code toy_code;

/* Plans for these prepared data. One at a time. With program.has_results the device measures. */
void toy_cuda_make(toy_cuda *it, const gnn_dataset *dataset, toy_mode mode);

#endif
