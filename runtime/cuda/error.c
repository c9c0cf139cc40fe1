/* error.c: what CUDA says, as the three things a user is told. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int gnn_cuda_is_failed(gnn_cuda *cuda) {
  pthread_mutex_lock(&cuda->mutex);
  int is_failed = cuda->is_failed;
  pthread_mutex_unlock(&cuda->mutex);
  return is_failed;
}

static const gnn_step_desc *error_step(const gnn_cuda *cuda, int number) {
  for (int s = 0; s < cuda->program->step_count + cuda->program->once_count; s++)
    if (cuda->program->steps[s].number == number) return &cuda->program->steps[s];
  return NULL;
}

/* step 0: it is not known which of them. */
int gnn_cuda_refuse(gnn_cuda *cuda, int number, const char *what, const char *code_name, const char *text) {
  const gnn_step_desc *step = error_step(cuda, number);
  pthread_mutex_lock(&cuda->mutex);
  if (!cuda->is_failed) {
    gnn_error *error = &cuda->failure;
    if (step)
      gnn_fail(error, GNN_EDEVICE, "", "step %d, line %d of %.100s (%.100s): %.60s: %.60s: %.300s", number, step->line,
               cuda->program->source_name, step->what, what, code_name, text);
    else
      gnn_fail(error, GNN_EDEVICE, "", "%.60s on %.100s: %.60s: %.300s", what, cuda->name, code_name, text);
    if (!step && !cuda->is_serial) gnn_fail_help(error, "--serial-lanes waits for every step, and says at which it happens");
    cuda->is_failed = 1;
    cuda->failure_status = GNN_EDEVICE;
  }
  pthread_mutex_unlock(&cuda->mutex);
  return 0;
}

int gnn_cuda_lack(gnn_cuda *cuda, const char *text, const char *help) {
  pthread_mutex_lock(&cuda->mutex);
  if (!cuda->is_failed) {
    cuda->failure_status = gnn_fail(&cuda->failure, GNN_ENOMEM, "R0801", "%s", text);
    gnn_fail_help(&cuda->failure, "%s", help);
    cuda->is_failed = 1;
  }
  pthread_mutex_unlock(&cuda->mutex);
  return 0;
}

/* What a kernel did wrong while it ran. Any call that comes after tells it, and nothing works on the device from then on. */
static int error_is_of_kernel(cudaError_t code) {
  static const cudaError_t codes[] = {cudaErrorIllegalAddress, cudaErrorLaunchTimeout, cudaErrorAssert, cudaErrorHardwareStackError,
                                      cudaErrorIllegalInstruction, cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace,
                                      cudaErrorInvalidPc, cudaErrorLaunchFailure};
  for (size_t c = 0; c < sizeof codes / sizeof *codes; c++)
    if (codes[c] == code) return 1;
  return 0;
}

/* The last step that may be the one: the streams were idle when this work began. 0: any, where threads queue copies while steps are
 * launched, or all of them are. */
static int error_last_step(const gnn_cuda *cuda, int number) {
  if (number == 0 || cuda->has_scratch) return 0;
  return cuda->instance->run.step > number ? cuda->instance->run.step : number;
}

static int error_of_kernel(gnn_cuda *cuda, int number, cudaError_t code) {
  static const char *const works[GNN_WORK_COUNT] = {"epoch", "epoch", "evaluation", "preparation"};
  const gnn_step_desc *last = error_step(cuda, error_last_step(cuda, number));
  pthread_mutex_lock(&cuda->mutex);
  if (!cuda->is_failed) {
    if (last)
      gnn_fail(&cuda->failure, GNN_EDEVICE, "",
               "a kernel failed on %.100s: %.60s: %.200s; it is of step %d, line %d of %.100s (%.100s), or of a step before that in this %s",
               cuda->name, cudaGetErrorName(code), cudaGetErrorString(code), last->number, last->line, cuda->program->source_name, last->what, works[cuda->work]);
    else
      gnn_fail(&cuda->failure, GNN_EDEVICE, "", "a kernel failed on %.100s: %.60s: %.200s; it is of some step of this %s", cuda->name, cudaGetErrorName(code),
               cudaGetErrorString(code), works[cuda->work]);
    gnn_fail_help(&cuda->failure, "--serial-lanes waits for every step, and says at which it happens");
    cuda->is_failed = 1;
    cuda->failure_status = GNN_EDEVICE;
  }
  pthread_mutex_unlock(&cuda->mutex);
  return 0;
}

int gnn_cuda_check(gnn_cuda *cuda, int step, const char *what, cudaError_t code) {
  if (code == cudaSuccess) return 1;
  if (!cuda->is_serial && error_is_of_kernel(code)) return error_of_kernel(cuda, step, code);
  return gnn_cuda_refuse(cuda, step, what, cudaGetErrorName(code), cudaGetErrorString(code));
}

int gnn_cuda_refuse_library(gnn_cuda *cuda, const char *library, const char *code_name, const char *text) {
  const int step = cuda->instance->run.step;
  const cudaError_t code = cudaGetLastError(); /* a library tells what went wrong before it, too, in words of its own */
  return error_is_of_kernel(code) ? gnn_cuda_check(cuda, step, library, code) : gnn_cuda_refuse(cuda, step, library, code_name, text);
}

gnn_status gnn_cuda_fail(gnn_cuda *cuda, gnn_status status, gnn_error *error, const char *what, cudaError_t code) {
  return gnn_fail(error, status, status == GNN_ENOMEM ? "R0801" : "", "%s on %s: %s: %s", what, cuda->name, cudaGetErrorName(code),
                  cudaGetErrorString(code));
}

void gnn_cuda_note(gnn_cuda *cuda, const char *format, ...) {
  char text[512];
  va_list args;
  if (cuda->note == NULL) return;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  cuda->note(cuda->note_user, text);
}
