/* job.h: training inside a host program; what the API of an emitted library wraps, one function each.
 *
 * No globals, no exit, no printf, no signal handlers, no environment. A job is used by one thread at a time; different
 * jobs may run in parallel. Every call returns a status; gnn_job_error has the text of the last one that failed.
 */
#ifndef GNN_JOB_H
#define GNN_JOB_H

#include "runtime/gnnrt.h"

typedef struct gnn_job gnn_job;

typedef struct gnn_job_options {
  size_t struct_size;    /* set by gnn_job_options_init */
  uint64_t seed;
  int threads;           /* 0: all */
  const double *options; /* values of the program's options, in its order; NULL: as compiled in; read by create only */
  /* tier: 0 device, 1 host. NULL: the runtime's own. The arenas come from here; a few small things do not. For CUDA, device memory is the
   * device's (cudaMalloc), in one piece that holds a few KiB beside the arena, and host memory has to be pinned (cudaHostAlloc). */
  void *(*alloc)(void *user, unsigned tier, size_t bytes, size_t align);
  void (*release)(void *user, unsigned tier, void *memory, size_t bytes);
  void (*log)(void *user, int level, const char *message);         /* level 0: note, 1: warning, 2: error */
  int (*progress)(void *user, int64_t epoch, double loss);         /* after each epoch of train; nonzero: stop */
  void *user;
  const char *scratch_dir; /* folder of the SSD tier; NULL: the plan's, or else /var/tmp or /tmp; read by create only */
  int continues_after_nan; /* restore takes weights that are not finite */
  int device;            /* which one, for programs of a device with memory of its own */
} gnn_job_options;

typedef struct gnn_job_result {
  double loss, metric; /* metric: accuracy, or the loss where the program has none; NaN where it was not measured */
  int64_t count;       /* rows */
} gnn_job_result;

enum { GNN_SPLIT_ALL = GNN_SPLIT_COUNT }; /* every labelled node */

const char *gnn_status_text(gnn_status status);
int64_t gnn_program_bytes(const gnn_program *program, unsigned tier); /* what the plan takes */
void gnn_job_options_init(gnn_job_options *options, const gnn_program *program);

/* Where create fails, *job is NULL or a job that is good for gnn_job_error and destroy alone. */
gnn_status gnn_job_create(const gnn_program *program, const gnn_job_options *options, gnn_job **job);
void gnn_job_destroy(gnn_job *job); /* NULL is fine */
const char *gnn_job_error(const gnn_job *job);

/* Data: from a file or folder of any readable form, or borrowed from the host until destroy and never written. What is
 * set is checked and copied into the arena by the next call that works with it. The transformations of the data block
 * apply to both; set_split takes the place of a random split. */
gnn_status gnn_job_load(gnn_job *job, const char *path);
gnn_status gnn_job_set_edges(gnn_job *job, const int64_t *src, const int64_t *dst, int64_t edges);
gnn_status gnn_job_set_field(gnn_job *job, const char *name, const float *values, int64_t rows, int64_t width);
gnn_status gnn_job_set_labels(gnn_job *job, const char *name, const int64_t *labels, int64_t rows); /* -1: none */
gnn_status gnn_job_set_split(gnn_job *job, unsigned split, const int64_t *ids, int64_t count);

/* Fresh weights and optimiser state; create has done it with the seed of the options. */
gnn_status gnn_job_reset(gnn_job *job, uint64_t seed);
/* One epoch. result (NULL is fine): the training loss before its update. GNN_ENUMERIC: the loss is not finite. */
gnn_status gnn_job_epoch(gnn_job *job, gnn_job_result *result);
/* `epochs` more, evaluating, keeping and stopping as the program says. best (NULL is fine): of the split that `keep`
 * looks at, else of valid, else of train. Where the program keeps the best epoch, its weights are in place afterwards. */
gnn_status gnn_job_train(gnn_job *job, int64_t epochs, gnn_job_result *best);
gnn_status gnn_job_eval(gnn_job *job, unsigned split, gnn_job_result *result);
gnn_status gnn_job_predict(gnn_job *job, float *scores, int64_t rows, int64_t columns); /* nodes, classes */

/* The weight itself: *data [count] float32 in the arena, valid until destroy and changed by training. Where the device has
 * memory of its own, its image: calls of the job that begin later take what was written there, and leave there what became of it. */
gnn_status gnn_job_weight(gnn_job *job, const char *name, float **data, const int64_t **shape, int *rank);
gnn_status gnn_job_save(gnn_job *job, const char *path);
gnn_status gnn_job_restore(gnn_job *job, const char *path);

/* DLPack 1.0, sharing the weight's memory; its deleter keeps the arena alive beyond destroy. */
struct DLManagedTensorVersioned;
gnn_status gnn_job_weight_dlpack(gnn_job *job, const char *name, struct DLManagedTensorVersioned **tensor);

#endif
