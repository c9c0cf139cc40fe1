/* nccl.c: a stand-in for NCCL between processes that the stand-in for MPI has forked, on streams of the stand-in for CUDA. Test-only.
 *
 * A group is one operation of its stream, and so of a graph that is captured. Where something is received stands nothing that could be read until it has come; what is sent is read late; pieces
 * come in an order that STANDIN_SEED draws. What is no memory of the device, or is of another size than the peer says, ends all.
 * STANDIN_NCCL_FAULT=KIND:RANK:NUMBER: there that call fails (id, init, send, recv, group, gather), never ends, which is told by ncclCommGetAsyncError (async), or takes a second (late). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <nccl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "standin.h"

enum { RANKS_MOST = 16, PIECE_BYTES = 1 << 16, LATE_NANOSECONDS = 200000, LATE_SECONDS = 1, POISON = 0xff };

/* From one rank to another, one piece at a time. */
typedef struct slot {
  atomic_int is_full;
  int64_t whole, bytes;
  unsigned char data[PIECE_BYTES];
} slot;

typedef struct meeting {
  atomic_int attached;
  slot slots[RANKS_MOST * RANKS_MOST]; /* by sender and receiver */
} meeting;

struct ncclComm {
  meeting *all;
  int rank, count;
  atomic_int is_aborted, async;
  uint64_t seed;
};

typedef struct message {
  unsigned char *at;
  int64_t bytes, done;
  int peer, is_receive, is_over;
} message;

/* What is between ncclGroupStart and ncclGroupEnd; kept, as a graph may come back to it. */
typedef struct group {
  ncclComm_t comm;
  cudaStream_t stream;
  int count;
  message messages[2 * RANKS_MOST];
} group;

static group open_group;
static int depth;

static void die(const ncclComm_t comm, const char *what) {
  fprintf(stderr, "stand-in for NCCL: rank %d: %s\n", comm->rank, what);
  abort();
}

static int is_fault(int rank, const char *kind) {
  static int64_t calls;
  static char wanted[16];
  static int at = -1;
  static long long number;
  const char *text = getenv("STANDIN_NCCL_FAULT");
  if (text == NULL || (!*wanted && sscanf(text, "%15[a-z]:%d:%lld", wanted, &at, &number) != 3)) return 0;
  return strcmp(wanted, kind) == 0 && at == rank && ++calls == number;
}

static uint64_t draw(ncclComm_t comm) {
  uint64_t x = comm->seed += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 31;
}

/* ---- what a group does when its turn comes ---- */

static int move_on(ncclComm_t comm, message *m) {
  slot *s = &comm->all->slots[m->is_receive ? m->peer * RANKS_MOST + comm->rank : comm->rank * RANKS_MOST + m->peer];
  if (atomic_load(&s->is_full) != m->is_receive) return 0;
  if (!m->is_receive) {
    s->whole = m->bytes;
    s->bytes = m->bytes - m->done < PIECE_BYTES ? m->bytes - m->done : PIECE_BYTES;
    memcpy(s->data, m->at + m->done, (size_t)s->bytes);
  } else {
    if (s->whole != m->bytes || s->bytes > m->bytes - m->done) die(comm, "what is received is not what was sent");
    memcpy(m->at + m->done, s->data, (size_t)s->bytes);
  }
  m->done += s->bytes;
  m->is_over = m->done == m->bytes;
  atomic_store(&s->is_full, !m->is_receive);
  return 1;
}

static void run(void *context) {
  group g = *(group *)context;
  int left = g.count;
  for (int i = 0; i < g.count; i++)
    if (g.messages[i].is_receive) memset(g.messages[i].at, POISON, (size_t)g.messages[i].bytes);
  if (is_fault(g.comm->rank, "async")) atomic_store(&g.comm->async, ncclRemoteError);
  if (is_fault(g.comm->rank, "late")) usleep(LATE_SECONDS * 1000000);
  if (draw(g.comm) % 4 == 0) usleep(LATE_NANOSECONDS / 1000);
  while (left > 0 && !g.comm->is_aborted) {
    message *m = &g.messages[draw(g.comm) % (uint64_t)g.count];
    if (g.comm->async || m->is_over || !move_on(g.comm, m)) sched_yield();
    else left -= m->is_over;
  }
}

static ncclResult_t queue(void) {
  group *g = malloc(sizeof *g);
  if (g == NULL) return ncclSystemError;
  *g = open_group;
  open_group.count = 0;
  return g->count == 0 || cudaLaunchHostFunc(g->stream, run, g) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

static ncclResult_t add(ncclComm_t comm, cudaStream_t stream, void *at, size_t bytes, int peer, int is_receive) {
  if (!standin_is_on_device(at, bytes)) die(comm, "what is sent or received is no memory of the device");
  if (open_group.count && open_group.stream != stream) die(comm, "a group on two streams");
  open_group.comm = comm;
  open_group.stream = stream;
  open_group.messages[open_group.count++] = (message){.at = at, .bytes = (int64_t)bytes, .peer = peer, .is_receive = is_receive};
  return depth > 0 ? ncclSuccess : queue();
}

/* ---- the calls ---- */

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  const char *folder = getenv("TMPDIR");
  memset(id, 0, sizeof *id);
  if (is_fault(0, "id")) return ncclSystemError;
  const int length = snprintf(id->internal, sizeof id->internal, "%s/standin-nccl-XXXXXX", folder && strlen(folder) < sizeof id->internal - 24 ? folder : "/tmp");
  const int file = length < (int)sizeof id->internal ? mkstemp(id->internal) : -1;
  const int is_fine = file >= 0 && ftruncate(file, sizeof(meeting)) == 0;
  if (file >= 0) close(file);
  return is_fine ? ncclSuccess : ncclSystemError;
}

ncclResult_t ncclCommInitRank(ncclComm_t *out, int count, ncclUniqueId id, int rank) {
  const char *seed = getenv("STANDIN_SEED");
  const int file = open(id.internal, O_RDWR | O_CLOEXEC);
  ncclComm_t comm = calloc(1, sizeof *comm);
  if (is_fault(rank, "init") || file < 0 || comm == NULL || count > RANKS_MOST) return ncclSystemError;
  *comm = (struct ncclComm){.rank = rank, .count = count, .seed = (seed ? strtoull(seed, NULL, 10) : 0) * 1000003 + (uint64_t)rank};
  comm->all = mmap(NULL, sizeof *comm->all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (comm->all == MAP_FAILED) return ncclSystemError;
  atomic_fetch_add(&comm->all->attached, 1);
  while (atomic_load(&comm->all->attached) < count) usleep(1000);
  if (rank == 0) unlink(id.internal);
  *out = comm;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  munmap(comm->all, sizeof *comm->all);
  free(comm);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  atomic_store(&comm->is_aborted, 1); /* what runs may still look at it */
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *since) {
  *since = (ncclResult_t)atomic_load(&comm->async);
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t fault) { return fault == ncclRemoteError ? "remote process exited" : "unhandled system error"; }

const char *ncclGetLastError(ncclComm_t comm) {
  (void)comm;
  return "a fault that a test asked for";
}

ncclResult_t ncclGroupStart(void) {
  depth++;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) {
  if (open_group.count && is_fault(open_group.comm->rank, "group")) return ncclSystemError;
  return --depth > 0 ? ncclSuccess : queue();
}

ncclResult_t ncclSend(const void *at, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  if (type != ncclUint8) die(comm, "a number that is no byte");
  return is_fault(comm->rank, "send") ? ncclSystemError : add(comm, stream, (void *)(uintptr_t)at, count, peer, 0);
}

ncclResult_t ncclRecv(void *at, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  if (type != ncclUint8) die(comm, "a number that is no byte");
  return is_fault(comm->rank, "recv") ? ncclSystemError : add(comm, stream, at, count, peer, 1);
}

ncclResult_t ncclAllGather(const void *own, void *all, size_t count, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream) {
  unsigned char *at = all;
  if (own != at + (size_t)comm->rank * count || depth > 0 || type != ncclUint8) die(comm, "parts that are gathered lie where they are, so far, and are no group's");
  if (is_fault(comm->rank, "gather")) return ncclSystemError;
  depth++;
  for (int p = 0; p < comm->count; p++) {
    if (p == comm->rank) continue;
    add(comm, stream, at + (size_t)comm->rank * count, count, p, 0);
    add(comm, stream, at + (size_t)p * count, count, p, 1);
  }
  depth--;
  return queue();
}
