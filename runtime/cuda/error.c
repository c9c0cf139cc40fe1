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
  for (int s = 0; s < cuda->program->step_count; s++)
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

int gnn_cuda_check(gnn_cuda *cuda, int step, const char *what, cudaError_t code) {
  if (code == cudaSuccess) return 1;
  return gnn_cuda_refuse(cuda, step, what, cudaGetErrorName(code), cudaGetErrorString(code));
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
