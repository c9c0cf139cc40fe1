/* nccl.c: exchanges between the devices of ranks by NCCL: a group of sends and receives, and gathered parts. MPI has begun all of them, and ends them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <nccl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/device_net.h"

static ncclComm_t comm_of(const gnn_ranks *ranks) { return ranks->device_state[GNN_DIRECTLY]; }

static void nccl_fail(gnn_ranks *ranks, int step, ncclResult_t fault, const char *format, ...) __attribute__((format(printf, 4, 5), noreturn));
static void nccl_fail(gnn_ranks *ranks, int step, ncclResult_t fault, const char *format, ...) {
  char what[256], text[512];
  const char *more = ncclGetLastError(comm_of(ranks));
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  snprintf(text, sizeof text, "%s%s%.300s", ncclGetErrorString(fault), more && *more ? ": " : "", more ? more : "");
  text[strcspn(text, "\n")] = 0;
  gnn_ranks_say_failure(ranks, step, what, text);
  ranks->desc->net->abort(ranks, 1);
  exit(1);
}

static void nccl_check(gnn_ranks *ranks, int step, ncclResult_t fault, const char *call) {
  if (fault != ncclSuccess) nccl_fail(ranks, step, fault, "%s", call);
}

/* ---- beginning and end ---- */

/* The name of their meeting is rank 0's. */
static void nccl_begin(gnn_ranks *ranks) {
  ncclUniqueId all[GNN_RANKS_MOST];
  ncclComm_t comm;
  int64_t first[GNN_RANKS_MOST + 1];
  memset(all, 0, sizeof all);
  for (int r = 0; r <= ranks->count; r++) first[r] = r;
  if (ranks->rank == 0) nccl_check(ranks, 0, ncclGetUniqueId(&all[0]), "ncclGetUniqueId");
  ranks->desc->net->gather(ranks, 0, all, first, (int64_t)sizeof *all);
  nccl_check(ranks, 0, ncclCommInitRank(&comm, ranks->count, all[0], ranks->rank), "ncclCommInitRank");
  ranks->device_state[GNN_DIRECTLY] = comm;
}

static void nccl_look(gnn_ranks *ranks, int step) {
  ncclResult_t since = ncclSuccess;
  nccl_check(ranks, step, ncclCommGetAsyncError(comm_of(ranks), &since), "ncclCommGetAsyncError");
  if (since != ncclSuccess && since != ncclInProgress) nccl_fail(ranks, step, since, "what passes between the devices");
}

/* Nobody is left to tell of what fails here. */
static void nccl_end(gnn_ranks *ranks, int is_failed) {
  const ncclResult_t is_told = is_failed ? ncclCommAbort(comm_of(ranks)) : ncclCommDestroy(comm_of(ranks));
  (void)is_told;
  ranks->device_state[GNN_DIRECTLY] = NULL;
}

/* ---- onto the stream ---- */

static void nccl_send(gnn_ranks *ranks, int step, const unsigned char *at, int64_t bytes, int peer, cudaStream_t stream) {
  const ncclResult_t fault = bytes > 0 ? ncclSend(at, (size_t)bytes, ncclUint8, peer, comm_of(ranks), stream) : ncclSuccess;
  if (fault != ncclSuccess) nccl_fail(ranks, step, fault, "ncclSend of %lld bytes to rank %d", (long long)bytes, peer);
}

static void nccl_receive(gnn_ranks *ranks, int step, unsigned char *at, int64_t bytes, int peer, cudaStream_t stream) {
  const ncclResult_t fault = bytes > 0 ? ncclRecv(at, (size_t)bytes, ncclUint8, peer, comm_of(ranks), stream) : ncclSuccess;
  if (fault != ncclSuccess) nccl_fail(ranks, step, fault, "ncclRecv of %lld bytes from rank %d", (long long)bytes, peer);
}

static void nccl_exchange(gnn_ranks *ranks, int step, const gnn_messages *m, cudaStream_t stream) {
  const int64_t *send = m->send_first, *receive = m->receive_first;
  if (send[ranks->count] + receive[ranks->count] == send[ranks->rank + 1] - send[ranks->rank] + receive[ranks->rank + 1] - receive[ranks->rank]) return;
  nccl_check(ranks, step, ncclGroupStart(), "ncclGroupStart");
  for (int p = 0; p < ranks->count; p++) {
    if (p == ranks->rank) continue;
    nccl_send(ranks, step, m->sending + send[p] * m->row_bytes, (send[p + 1] - send[p]) * m->row_bytes, p, stream);
    nccl_receive(ranks, step, m->receiving + receive[p] * m->row_bytes, (receive[p + 1] - receive[p]) * m->row_bytes, p, stream);
  }
  nccl_check(ranks, step, ncclGroupEnd(), "ncclGroupEnd");
}

/* Where ranks have as much each, it is one call; else everyone sends its own to all others. */
static void nccl_gather(gnn_ranks *ranks, int step, void *all, const int64_t *first, int64_t unit_bytes, cudaStream_t stream) {
  unsigned char *at = all;
  const unsigned char *own = at + first[ranks->rank] * unit_bytes;
  const int64_t own_bytes = (first[ranks->rank + 1] - first[ranks->rank]) * unit_bytes;
  int is_even = 1;
  for (int r = 0; r <= ranks->count; r++) is_even = is_even && first[r] == r * first[1];
  if (is_even) {
    nccl_check(ranks, step, ncclAllGather(own, all, (size_t)own_bytes, ncclUint8, comm_of(ranks), stream), "ncclAllGather");
    return;
  }
  nccl_check(ranks, step, ncclGroupStart(), "ncclGroupStart");
  for (int p = 0; p < ranks->count; p++) {
    if (p == ranks->rank) continue;
    nccl_send(ranks, step, own, own_bytes, p, stream);
    nccl_receive(ranks, step, at + first[p] * unit_bytes, (first[p + 1] - first[p]) * unit_bytes, p, stream);
  }
  nccl_check(ranks, step, ncclGroupEnd(), "ncclGroupEnd");
}

const gnn_cuda_net gnn_nccl = {"nccl", nccl_begin, nccl_exchange, nccl_gather, nccl_look, nccl_end};
