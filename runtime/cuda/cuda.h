/* cuda.h: the state of a run on CUDA, and the parts of the backend: finding the device (find.c), its memory (device_memory.c),
 * streams and copies (streams.c), what passes between ranks (device_net.c), steps (launch.c, cublaslt.c, cusparse.c), epochs and graphs (work.c). */
#ifndef GNN_CUDA_H
#define GNN_CUDA_H

#include <cuda_runtime_api.h>
#include <pthread.h>

#include "gnncuda.h"
#include "kernels/cuda/module.h"
#include "kernels/cuda/view.h"
#include "runtime/core/device.h"
#include "runtime/core/lanes.h"

enum { GNN_WORK_COUNT = GNN_WORK_ONCE + 1, GNN_CUDA_ALIGNMENT = 256, GNN_CUDA_UNTOUCHED = 0xa5 /* bytes, where pages are to be counted */ };

/* What the host tells the device before each piece of work: the tail of gnn_view, in pinned memory; and hears after it. */
typedef struct gnn_cuda_mail {
  double option[GNN_OPTION_MAX], rate[GNN_RATE_MAX];
  uint64_t seed;
  int64_t update;
  double loss;
} gnn_cuda_mail;

/* What a library keeps until other data are loaded; `destroy` tells of which kind it is. */
typedef struct gnn_cuda_plan {
  struct gnn_cuda_plan *next;
  void (*destroy)(struct gnn_cuda_plan *plan); /* frees it, too */
} gnn_cuda_plan;

typedef enum gnn_cuda_progress { GNN_CUDA_RESTS, GNN_CUDA_BEGINS, GNN_CUDA_IS_QUEUED } gnn_cuda_progress;

typedef struct gnn_cuda {
  const gnn_program *program;
  const gnn_cuda_code *code;
  const gnn_instance *instance;
  int device, is_device_own;
  char architecture[32];   /* "sm_90" */
  char name[300];          /* "NVIDIA H200 (device 0, sm_90)" */
  int is_serial, is_traced, wants_graph, has_scratch, is_capturing;
  void (*note)(void *user, const char *text);
  void *note_user;

  unsigned char *arena;    /* on the device; the view follows it */
  gnn_view *view;          /* on the device */
  gnn_cuda_mail *mail;
  gnn_driver driver;
  gnn_module module;       /* NULL: not loaded */
  gnn_kernel *kernels;     /* [kernel_count] */
  int *shared_bytes;       /* [kernel_count] dynamic shared memory that was asked for */

  cudaStream_t stream[GNN_LANE_COUNT]; /* NULL: the lane is not used, or is a thread */
  cudaEvent_t *queued, *done;          /* [copy_count] on the compute lane when it was queued; on its own when it was complete */
  cudaEvent_t joined[GNN_LANE_COUNT];
  cudaEvent_t parted, gathered;        /* of sums over ranks: the compute stream's when one begins, the net's when it is over */
  unsigned char *is_queued;            /* [copy_count] since this work began */
  unsigned char is_used[GNN_LANE_COUNT]; /* by a copy since then */

  cudaEvent_t *begin, *end, origin;    /* of every step, where the run is traced; [watch count] */
  unsigned char *marked[GNN_WORK_COUNT]; /* [watch count] 1: the step is part of that work, or of its graph, and has these events */
  double begun;                        /* when this work began, by the watch */

  gnn_work work;                       /* that is under way, or was last */
  cudaGraphExec_t graph[GNN_WORK_COUNT];
  int done_before[GNN_WORK_COUNT];
  gnn_cuda_plan *plans;
  unsigned char *passes[GNN_WORK_COUNT]; /* [copy_count] an exchange that is part of that work, or of its graph */
  struct gnn_cuda_watchdog *watchdog;  /* NULL: there is one process */

  pthread_mutex_t mutex;               /* of the failure: copies are queued by lanes, too */
  int is_failed;
  gnn_status failure_status;
  gnn_error failure;
} gnn_cuda;

/* ---- failing: every code that cudart or a library returns goes through one of these ---- */

int gnn_cuda_is_failed(gnn_cuda *cuda);
/* 1: fine. Otherwise keeps the first failure, with the step, and returns 0. `what` was tried: "launch", "copy". What a kernel did wrong shows
 * later than it was done, unless lanes are serial: it is told as of this step or of one before. */
int gnn_cuda_check(gnn_cuda *cuda, int step, const char *what, cudaError_t code);
int gnn_cuda_refuse(gnn_cuda *cuda, int step, const char *what, const char *code_name, const char *text);
int gnn_cuda_refuse_library(gnn_cuda *cuda, const char *library, const char *code_name, const char *text); /* in the step that runs */
int gnn_cuda_lack(gnn_cuda *cuda, const char *text, const char *help); /* GNN_ENOMEM, R0801 */
/* The same while nothing is running yet. */
gnn_status gnn_cuda_fail(gnn_cuda *cuda, gnn_status status, gnn_error *error, const char *what, cudaError_t code);
void gnn_cuda_note(gnn_cuda *cuda, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- parts ---- */

gnn_status gnn_cuda_find(gnn_cuda *cuda, gnn_error *error);       /* a driver, the device, the kernels */
gnn_status gnn_cuda_check_room(gnn_cuda *cuda, gnn_error *error); /* R0801 */
int64_t gnn_cuda_block_bytes(const gnn_cuda *cuda);               /* arena and view */
void gnn_cuda_users_text(int device, gnn_text *text);             /* "pid 123 (python3) 21.0 GiB, ..."; nothing where nvml is missing */

gnn_status gnn_cuda_obtain(gnn_instance *instance, gnn_tier tier, int64_t bytes, int populate, gnn_error *error);
void gnn_cuda_release(gnn_instance *instance, gnn_tier tier);
gnn_status gnn_cuda_pin(void **memory, int64_t bytes, const char *what, gnn_error *error);
void gnn_cuda_release_arena(gnn_instance *instance);
int64_t gnn_cuda_peak(const gnn_instance *instance);
gnn_status gnn_cuda_load(gnn_instance *instance);
gnn_status gnn_cuda_reload(gnn_instance *instance, int set);
gnn_status gnn_cuda_upload(const gnn_instance *instance, int64_t at, int64_t bytes);
gnn_status gnn_cuda_download(const gnn_instance *instance, int64_t at, int64_t bytes);

gnn_status gnn_cuda_create_streams(gnn_cuda *cuda, gnn_error *error);
void gnn_cuda_destroy_streams(gnn_cuda *cuda);
gnn_status gnn_cuda_copy(gnn_run *run, int copy);
gnn_status gnn_cuda_await(gnn_run *run, int copy);
extern const gnn_lanes_device gnn_cuda_lanes;
int gnn_cuda_between(gnn_cuda *cuda, int step, const char *what, gnn_lane before, cudaEvent_t event, gnn_lane after); /* `after` waits for what is on `before` */
void gnn_cuda_join(gnn_cuda *cuda); /* the compute stream waits for all that was queued on the others */

gnn_status gnn_cuda_net_begin(gnn_cuda *cuda, gnn_error *error);  /* all ranks together; nothing where there is one process */
gnn_status gnn_cuda_net_start(gnn_cuda *cuda, gnn_error *error);  /* once the streams are there */
void gnn_cuda_net_stop(gnn_cuda *cuda);                           /* nothing that was queued is waited for any more */
void gnn_cuda_net_end(gnn_cuda *cuda);                            /* once nothing is queued */
void gnn_cuda_exchange(gnn_cuda *cuda, int copy);                 /* onto its stream */
void gnn_cuda_net_sees(gnn_cuda *cuda, gnn_cuda_progress progress); /* how far a piece of work is: it is told when that takes too long */
void gnn_cuda_net_count(gnn_cuda *cuda, gnn_work work);           /* of a work that has been done */

gnn_status gnn_cuda_watch(gnn_cuda *cuda, gnn_run *run, gnn_error *error);
void gnn_cuda_unwatch(gnn_cuda *cuda);
void gnn_cuda_watch_begin(gnn_cuda *cuda, gnn_run *run);
void gnn_cuda_watch_end(gnn_cuda *cuda, gnn_run *run);

gnn_status gnn_cuda_work(gnn_instance *instance, gnn_work work);
void gnn_cuda_forget_graphs(gnn_cuda *cuda);

void gnn_cuda_settle(gnn_cuda *cuda, int step); /* with serial lanes: waits for the compute stream */
void gnn_cuda_add_plan(gnn_cuda *cuda, gnn_cuda_plan *plan, void (*destroy)(gnn_cuda_plan *plan));
void gnn_cuda_drop_plans(gnn_cuda *cuda);

#endif
