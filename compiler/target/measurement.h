/* measurement.h: what the measuring programs of calibrate.c say. */
#ifndef GNNCC_MEASUREMENT_H
#define GNNCC_MEASUREMENT_H

#include "compiler/base/workplace.h"
#include "compiler/driver/cuda_compiler.h"
#include "compiler/driver/options.h"
#include "lang/typed.h"

typedef struct Gpu {
  const char *name, *architecture; /* "NVIDIA H200", "sm_90"; name NULL: the processor is measured */
  int64_t memory_bytes, free_bytes;
} Gpu;

/* Beside the rates of the device; a number that was not measured is 0. */
typedef struct Measurement {
  Gpu gpu;
  DeviceRates rates;
  double threads, fp32, tf32, bf16, disturbed;
  double host_write, host_read, host_both, host_latency, host_slowdown, host_memory;
  double ssd_write, ssd_read, ssd_both, ssd_latency, ssd_write_slowdown, ssd_read_slowdown;
} Measurement;

/* Runs a measuring program and reads its lines, "name number number ..."; an exit status after a message. */
int measurement_run(const char *command, Measurement *m);

/* measure_gpu.c: the toolkit and the GPU that is here, for that option; an exit status after a message that says what is missing.
 * The program that asks is made at `program`, and left there. */
int measure_gpu_find(Arena *arena, const Options *options, const char *share_dir, const char *option, const char *program, CudaCompiler *cuda, Gpu *gpu);
/* The GPU, by programs made in `directory`, which are removed. An exit status after a message. */
int measure_gpu(Arena *arena, const Options *options, const char *share_dir, Workplace *place, Measurement *m);

#endif
