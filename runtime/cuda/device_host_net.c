/* device_host_net.c: exchanges between the devices of ranks through the host: rows come to pinned memory, pass there by what carries them between processes (MPI), and go on to the device. All of it lies
 * on the stream of the net, one after the other, the passing as a call of the host's. Needs no NCCL, and no way from device to device. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "device_net.h"

/* What a call of the host's passes; kept, as a graph comes back to it. */
typedef struct host_passing {
  gnn_ranks *ranks;
  int step;
  const void *device;      /* of which rows; with the step what tells it from others */
  gnn_messages messages;   /* in pinned memory; of an exchange */
  int64_t first[GNN_RANKS_MOST + 1], unit_bytes; /* of gathered parts; unit_bytes 0: it is an exchange */
  struct host_passing *next;
} host_passing;

typedef struct host_net {
  unsigned char *pinned; /* ranks->desc->passing_bytes: what leaves, then what comes; or gathered parts */
  host_passing *passings;
  int is_over;           /* what was queued passes no more */
} host_net;

static host_net *net_of(const gnn_ranks *ranks) { return ranks->device_state[GNN_BY_HOST]; }

static void host_fail(gnn_ranks *ranks, int step, const char *what, const char *text) __attribute__((noreturn));
static void host_fail(gnn_ranks *ranks, int step, const char *what, const char *text) {
  gnn_ranks_say_failure(ranks, step, what, text);
  ranks->desc->net->abort(ranks, 1);
  exit(1);
}

static void host_check(gnn_ranks *ranks, int step, cudaError_t code, const char *call) {
  if (code != cudaSuccess) host_fail(ranks, step, call, cudaGetErrorString(code));
}

/* ---- beginning and end ---- */

static void host_begin(gnn_ranks *ranks) {
  host_net *net = calloc(1, sizeof *net);
  if (net == NULL) host_fail(ranks, 0, "calloc", "no memory");
  if (ranks->is_by_caller) host_fail(ranks, 0, "MPI_Init_thread", "exchanges through the host are by calls of a thread beside the steps' (MPI_THREAD_SERIALIZED), which this MPI does not take");
  host_check(ranks, 0, cudaHostAlloc((void **)&net->pinned, (size_t)ranks->desc->passing_bytes + 1, cudaHostAllocDefault), "cudaHostAlloc");
  ranks->device_state[GNN_BY_HOST] = net;
}

static void host_look(gnn_ranks *ranks, int step) { (void)ranks, (void)step; } /* what fails ends all ranks where it does */

static void host_end(gnn_ranks *ranks, int is_failed) {
  host_net *net = net_of(ranks);
  __atomic_store_n(&net->is_over, 1, __ATOMIC_RELEASE);
  if (is_failed) return; /* something may be queued still */
  for (host_passing *p = net->passings, *next; p; p = next) {
    next = p->next;
    free(p);
  }
  const cudaError_t is_told = cudaFreeHost(net->pinned);
  (void)is_told;
  free(net);
  ranks->device_state[GNN_BY_HOST] = NULL;
}

/* ---- onto the stream ---- */

static void pass(void *context) {
  host_passing *p = context;
  if (__atomic_load_n(&net_of(p->ranks)->is_over, __ATOMIC_ACQUIRE)) return;
  const gnn_net *net = p->ranks->desc->net;
  if (p->unit_bytes) {
    net->gather(p->ranks, p->step, net_of(p->ranks)->pinned, p->first, p->unit_bytes);
    return;
  }
  net->start(p->ranks, p->step, &p->messages);
  net->finish(p->ranks, p->step);
}

static host_passing *passing_of(gnn_ranks *ranks, int step, const void *device, int64_t bytes) {
  host_net *net = net_of(ranks);
  if (bytes > ranks->desc->passing_bytes) host_fail(ranks, step, "exchange through the host", "more passes than was planned");
  for (host_passing *p = net->passings; p; p = p->next)
    if (p->step == step && p->device == device) return p;
  host_passing *p = calloc(1, sizeof *p);
  if (p == NULL) host_fail(ranks, step, "calloc", "no memory");
  p->ranks = ranks;
  p->step = step;
  p->device = device;
  p->next = net->passings;
  return net->passings = p;
}

/* Those of other ranks, which lie before and behind the rank's own. */
static void copy_others(gnn_ranks *ranks, int step, unsigned char *to, const unsigned char *from, const int64_t *first, int64_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
  const int64_t before = first[ranks->rank] * bytes, behind = first[ranks->rank + 1] * bytes, all = first[ranks->count] * bytes;
  if (before > 0) host_check(ranks, step, cudaMemcpyAsync(to, from, (size_t)before, kind, stream), "cudaMemcpyAsync");
  if (all > behind) host_check(ranks, step, cudaMemcpyAsync(to + behind, from + behind, (size_t)(all - behind), kind, stream), "cudaMemcpyAsync");
}

static void host_exchange(gnn_ranks *ranks, int step, const gnn_messages *m, cudaStream_t stream) {
  unsigned char *sending = net_of(ranks)->pinned, *receiving = sending + m->send_first[ranks->count] * m->row_bytes;
  host_passing *p = passing_of(ranks, step, m->receiving, (m->send_first[ranks->count] + m->receive_first[ranks->count]) * m->row_bytes);
  p->messages = *m;
  p->messages.sending = sending;
  p->messages.receiving = receiving;
  copy_others(ranks, step, sending, m->sending, m->send_first, m->row_bytes, cudaMemcpyDeviceToHost, stream);
  host_check(ranks, step, cudaLaunchHostFunc(stream, pass, p), "cudaLaunchHostFunc");
  copy_others(ranks, step, m->receiving, receiving, m->receive_first, m->row_bytes, cudaMemcpyHostToDevice, stream);
}

static void host_gather(gnn_ranks *ranks, int step, void *all, const int64_t *first, int64_t unit_bytes, cudaStream_t stream) {
  unsigned char *pinned = net_of(ranks)->pinned, *device = all;
  const int64_t own = first[ranks->rank] * unit_bytes, own_bytes = (first[ranks->rank + 1] - first[ranks->rank]) * unit_bytes;
  host_passing *p = passing_of(ranks, step, all, first[ranks->count] * unit_bytes);
  memcpy(p->first, first, ((size_t)ranks->count + 1) * sizeof *first);
  p->unit_bytes = unit_bytes;
  if (own_bytes > 0) host_check(ranks, step, cudaMemcpyAsync(pinned + own, device + own, (size_t)own_bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  host_check(ranks, step, cudaLaunchHostFunc(stream, pass, p), "cudaLaunchHostFunc");
  copy_others(ranks, step, device, pinned, first, unit_bytes, cudaMemcpyHostToDevice, stream);
}

const gnn_cuda_net gnn_host_net = {"host", host_begin, host_exchange, host_gather, host_look, host_end};
