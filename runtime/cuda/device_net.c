/* device_net.c: exchanges and sums between the devices of ranks, on the stream of the net's lane.
 * Exchanges pass directly or through the host, each as the plan says, and one after the other in any case.
 *
 * An exchange waits there for the compute stream as it was when the exchange was queued, as any copy does (streams.c); a sum over ranks waits for the steps before it, and the steps that follow for
 * the sum. The host's thread of the program queues all of them, so their order is that of the steps and the same on all ranks, whatever else has threads of its own.
 *
 * From the beginning of an epoch to its end another thread looks whether the net has failed, and tells when it takes long: a peer may be paused, or gone. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda.h"
#include "device_net.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NET_LOOKS_NS = 50000000, NET_PATIENCE_SECONDS = 60 };

typedef struct gnn_cuda_watchdog {
  gnn_cuda *cuda;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int is_started, is_ending, has_warned;
  double since, patience; /* since when there has been work; 0: there is none */
  int is_queued;          /* all of it: nobody changes what it is */
} gnn_cuda_watchdog;

static gnn_ranks *net_ranks(const gnn_cuda *cuda) { return cuda->instance->run.ranks; }

/* Directly, where anything passes so. */
static const gnn_cuda_net *net_of_sums(const gnn_cuda *cuda) { return cuda->code->nets[cuda->code->nets[GNN_DIRECTLY] ? GNN_DIRECTLY : GNN_BY_HOST]; }

/* ---- onto the stream ---- */

void gnn_cuda_exchange(gnn_cuda *cuda, int number) {
  const gnn_copy_desc *copy = &cuda->program->copies[number];
  const gnn_messages messages = gnn_ranks_messages(net_ranks(cuda), number, cuda->arena + copy->from.at, cuda->arena + copy->to.at);
  cuda->code->nets[copy->way]->exchange(net_ranks(cuda), copy->step, &messages, cuda->stream[GNN_LANE_NET]);
  cuda->passes[cuda->work][number] = 1;
}

void gnn_cuda_gather_parts(gnn_run *run, int64_t at, int64_t part_bytes) {
  gnn_cuda *cuda = run->cuda;
  const gnn_ranks_desc *desc = run->ranks->desc;
  int64_t first[GNN_RANKS_MOST + 1];
  for (int r = 0; r <= desc->count; r++) first[r] = desc->first_part[r];
  if (gnn_cuda_is_failed(cuda) || !gnn_cuda_between(cuda, run->step, "gathering sums", GNN_LANE_COMPUTE, cuda->parted, GNN_LANE_NET)) return;
  net_of_sums(cuda)->gather(run->ranks, run->step, cuda->arena + at, first, part_bytes, cuda->stream[GNN_LANE_NET]);
  cuda->is_used[GNN_LANE_NET] = 1;
  if (gnn_cuda_between(cuda, run->step, "gathering sums", GNN_LANE_NET, cuda->gathered, GNN_LANE_COMPUTE)) gnn_cuda_settle(cuda, run->step);
}

/* A graph that is replayed passes as much as when it was captured. */
void gnn_cuda_net_count(gnn_cuda *cuda, gnn_work work) {
  gnn_ranks *ranks = net_ranks(cuda);
  for (int c = 0; ranks && c < cuda->program->copy_count; c++)
    if (cuda->passes[work][c]) {
      const gnn_messages messages = gnn_ranks_messages(ranks, c, cuda->arena, cuda->arena);
      gnn_ranks_count(ranks, c, gnn_messages_bytes(&messages, ranks->rank, ranks->count));
    }
}

/* ---- the watchdog ---- */

/* Of an epoch that was queued step by step, the first exchange that is not over; in a graph it is not known. */
static int net_late_step(const gnn_cuda_watchdog *w) {
  const gnn_cuda *cuda = w->cuda;
  int step = -1;
  for (int c = 0; w->is_queued && !cuda->graph[cuda->work] && c < cuda->program->copy_count; c++) {
    const gnn_copy_desc *copy = &cuda->program->copies[c];
    if (copy->lane == GNN_LANE_NET && cuda->is_queued[c] && (step < 0 || copy->step < step) && cudaEventQuery(cuda->done[c]) == cudaErrorNotReady) step = copy->step;
  }
  return step;
}

static void net_say_late(const gnn_cuda_watchdog *w) {
  const gnn_ranks *ranks = net_ranks(w->cuda);
  fprintf(stderr, "%s: rank %d: %s: not over after %g s: another rank is late, or epochs take so long; still waiting\n", ranks->name, ranks->rank, gnn_ranks_where(ranks, net_late_step(w)).text, w->patience);
}

static void net_look(const gnn_cuda_watchdog *w) {
  const gnn_cuda_net *const *nets = w->cuda->code->nets;
  for (gnn_way way = 0; way < GNN_WAYS; way++)
    if (nets[way]) nets[way]->look(net_ranks(w->cuda), net_late_step(w));
}

static void *net_watch(void *context) {
  gnn_cuda_watchdog *w = context;
  const int has_device = cudaSetDevice(w->cuda->device) == cudaSuccess;
  pthread_mutex_lock(&w->mutex);
  while (!w->is_ending) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NET_LOOKS_NS;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    if (w->since == 0) {
      pthread_cond_wait(&w->changed, &w->mutex);
      continue;
    }
    pthread_cond_timedwait(&w->changed, &w->mutex, &until);
    if (w->since == 0 || w->is_ending) continue;
    net_look(w);
    if (w->has_warned || !has_device || gnn_now() - w->since < w->patience) continue;
    w->has_warned = 1;
    net_say_late(w);
  }
  pthread_mutex_unlock(&w->mutex);
  return NULL;
}

void gnn_cuda_net_sees(gnn_cuda *cuda, gnn_cuda_progress progress) {
  gnn_cuda_watchdog *w = cuda->watchdog;
  if (w == NULL) return;
  pthread_mutex_lock(&w->mutex);
  if (progress != GNN_CUDA_IS_QUEUED) w->since = progress == GNN_CUDA_BEGINS ? gnn_now() : 0;
  w->is_queued = progress == GNN_CUDA_IS_QUEUED;
  pthread_cond_signal(&w->changed);
  pthread_mutex_unlock(&w->mutex);
}

/* ---- beginning and end ---- */

gnn_status gnn_cuda_net_begin(gnn_cuda *cuda, gnn_error *error) {
  gnn_ranks *ranks = net_ranks(cuda);
  if (ranks == NULL) return GNN_OK;
  for (int w = 0; w < GNN_WORK_COUNT; w++)
    if ((cuda->passes[w] = calloc((size_t)cuda->program->copy_count + 1, 1)) == NULL) return gnn_fail_memory(error, cuda->program->copy_count);
  for (gnn_way way = 0; way < GNN_WAYS; way++)
    if (cuda->code->nets[way]) cuda->code->nets[way]->begin(ranks);
  return GNN_OK;
}

gnn_status gnn_cuda_net_start(gnn_cuda *cuda, gnn_error *error) {
  if (net_ranks(cuda) == NULL) return GNN_OK;
  cudaError_t code = cudaEventCreateWithFlags(&cuda->parted, cudaEventDisableTiming);
  if (code == cudaSuccess) code = cudaEventCreateWithFlags(&cuda->gathered, cudaEventDisableTiming);
  if (code != cudaSuccess) return gnn_cuda_fail(cuda, GNN_EDEVICE, error, "making events", code);
  const char *patience = getenv("GNN_PATIENCE");
  gnn_cuda_watchdog *w = calloc(1, sizeof *w);
  if (w == NULL) return gnn_fail_memory(error, (int64_t)sizeof *w);
  *w = (gnn_cuda_watchdog){.cuda = cuda, .patience = patience ? atof(patience) : NET_PATIENCE_SECONDS};
  pthread_mutex_init(&w->mutex, NULL);
  pthread_cond_init(&w->changed, NULL);
  cuda->watchdog = w;
  w->is_started = pthread_create(&w->thread, NULL, net_watch, w) == 0;
  return w->is_started ? GNN_OK : gnn_fail(error, GNN_ENOMEM, "R0801", "the machine gives no thread that watches over the other ranks");
}

/* By the host first: NCCL may wait for what was queued before its own, which then passes nothing any more. */
static void nets_end(const gnn_cuda *cuda, int is_failed) {
  for (int way = GNN_WAYS - 1; way >= 0; way--)
    if (net_ranks(cuda)->device_state[way]) cuda->code->nets[way]->end(net_ranks(cuda), is_failed);
}

void gnn_cuda_net_stop(gnn_cuda *cuda) {
  gnn_cuda_watchdog *w = cuda->watchdog;
  if (w == NULL) return;
  pthread_mutex_lock(&w->mutex);
  w->is_ending = 1;
  pthread_cond_signal(&w->changed);
  pthread_mutex_unlock(&w->mutex);
  if (w->is_started) pthread_join(w->thread, NULL);
  pthread_mutex_destroy(&w->mutex);
  pthread_cond_destroy(&w->changed);
  free(w);
  cuda->watchdog = NULL;
  if (gnn_cuda_is_failed(cuda)) nets_end(cuda, 1); /* what a peer never sends is not waited for */
}

/* Nobody is left to tell of what fails here. */
void gnn_cuda_net_end(gnn_cuda *cuda) {
  if (net_ranks(cuda)) nets_end(cuda, 0);
  if (cuda->parted) cudaEventDestroy(cuda->parted);
  if (cuda->gathered) cudaEventDestroy(cuda->gathered);
  for (int w = 0; w < GNN_WORK_COUNT; w++) free(cuda->passes[w]);
}
