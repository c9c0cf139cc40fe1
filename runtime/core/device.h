/* device.h: where the arenas lie and who works through the steps: the processor (device_cpu.c), or a device with memory of
 * its own (cuda/). A program names its backend; nothing else refers to one, so that only that one is linked.
 *
 * The host sees the device arena as an image (gnn_instance_at). On the processor the image is the arena. Elsewhere it is a
 * range of the host's addresses of which only what is touched takes memory; what the host writes there counts once it is
 * uploaded, and what it reads there must have been downloaded. */
#ifndef GNN_DEVICE_H
#define GNN_DEVICE_H

#include "instance.h"

typedef enum gnn_work {
  GNN_WORK_GRADIENTS, /* forward_backward */
  GNN_WORK_EPOCH,     /* forward_backward, then update */
  GNN_WORK_EVALUATE,
  GNN_WORK_ONCE       /* of a program that has something to compute before the first epoch */
} gnn_work;

struct gnn_backend {
  const char *name;   /* "cpu", "cuda" */
  int is_apart;       /* the device has memory of its own */
  /* Before anything is obtained: R0801 where there is no such device or less of it is free than the program needs. */
  gnn_status (*open)(gnn_instance *instance, const gnn_instance_options *options, gnn_error *error);
  void (*close)(gnn_instance *instance);
  /* Zeroed where populate; leaves instance->mapping[tier] and tiers.base[tier], for the device run.device too. Not where the memory is lent. */
  gnn_status (*obtain)(gnn_instance *instance, gnn_tier tier, int64_t bytes, int populate, gnn_error *error);
  /* Of an instance that grows: a tier that was obtained has so many bytes at least, where it has lain since. NULL: none ever grows. */
  gnn_status (*grow)(gnn_instance *instance, gnn_tier tier, int64_t bytes, int populate, gnn_error *error);
  void (*touch)(gnn_instance *instance, gnn_tier tier, int64_t bytes); /* every page, and nothing changes; NULL: there is no need */
  void (*release)(gnn_instance *instance, gnn_tier tier);
  /* Lanes, once all memory is there. */
  gnn_status (*start)(gnn_instance *instance, const gnn_instance_options *options, gnn_error *error);
  void (*stop)(gnn_instance *instance);
  gnn_status (*load)(gnn_instance *instance); /* the image holds the data: up with them */
  gnn_status (*reload)(gnn_instance *instance, int set); /* of one set of edges, its fields and the rows of the splits alone */
  gnn_status (*upload)(const gnn_instance *instance, int64_t at, int64_t bytes);   /* in bytes of this build */
  gnn_status (*download)(const gnn_instance *instance, int64_t at, int64_t bytes);
  gnn_status (*work)(gnn_instance *instance, gnn_work work); /* returns when it is done; leaves run.loss */
  gnn_status (*copy)(gnn_run *run, int copy);
  gnn_status (*await)(gnn_run *run, int copy);
  int64_t (*peak)(const gnn_instance *instance); /* bytes of the device arena that were ever written, to the page, of an instance
                                                    made without populate; -1: unknown. NULL: the pages of the process tell */
  const gnn_error *(*failure)(const gnn_run *run); /* what made it fail, or NULL */
  void (*describe)(const gnn_instance *instance, gnn_text *text); /* "NVIDIA H200 (device 0, sm_90), CUDA graph" */
};

extern const gnn_backend gnn_cpu_backend;
const gnn_backend *gnn_backend_of(const gnn_program *program);

/* `at` is a planned offset; bytes as they lie there. On failure (GNN_EDEVICE) *error says why. */
gnn_status gnn_upload(const gnn_instance *instance, int64_t at, int64_t bytes, gnn_error *error);
gnn_status gnn_download(const gnn_instance *instance, int64_t at, int64_t bytes, gnn_error *error);
/* Every weight, and with the optimiser's state where has_state. */
gnn_status gnn_upload_weights(const gnn_instance *instance, int has_state, gnn_error *error);
gnn_status gnn_download_weights(const gnn_instance *instance, int has_state, gnn_error *error);
/* Side by side on the host, however they lie on the device. */
gnn_status gnn_download_scores(const gnn_instance *instance, gnn_error *error);
/* Moves rows that lie stride_bytes apart together, in their own memory. */
void gnn_close_rows(void *values, int64_t rows, int64_t row_bytes, int64_t stride_bytes);

/* Works through steps of the program; the status is theirs. */
gnn_status gnn_do(gnn_instance *instance, gnn_work work);
/* The next epoch has begun: its number, its learning rates. */
void gnn_begin_epoch(gnn_instance *instance);
/* Forward, backward and update number `update`, of what is in the arena. GNN_ENUMERIC where the loss is not finite (the update is done all the
 * same). */
gnn_status gnn_step(gnn_instance *instance, int64_t update);
/* An epoch of one step, over all data. */
gnn_status gnn_step_epoch(gnn_instance *instance);

#endif
