/* mpi.c: exchanges between ranks by MPI: persistent sends and receives, and gathered parts. The lane of the net exchanges while the steps gather:
 * two threads make calls, one at a time. Where MPI takes calls of one thread alone (SimGrid's SMPI, whose ranks are threads of one process), the steps make all of them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gnnmpi.h"
#include "runtime/core/ranks.h"

/* Counts of MPI are ints: a message goes in pieces of at most so many bytes, the same on both sides. */
#ifndef GNN_MPI_PIECE_BYTES
#define GNN_MPI_PIECE_BYTES (INT64_C(1) << 30)
#endif
enum { MPI_TAGS = 30000 /* 32767 are sure to be there */, MPI_SPINS = 64, MPI_LONGEST_NAP_NS = 20000, MPI_PATIENCE_SECONDS = 60, MPI_GRACE_SECONDS = 2 /* in which ranks that fail of the same all come to say so */ };

/* Of a step: sends, then receives. */
typedef struct mpi_step {
  int count;
  MPI_Request *requests;
  int *peer;        /* of each */
  int64_t *bytes;
  int sends;
  int is_started;   /* and not finished */
} mpi_step;

typedef struct mpi_state {
  int step_count;
  mpi_step *steps;
  double patience;
  int has_warned;
  MPI_Comm words; /* what passes beside exchanges and sums */
  pthread_mutex_t calls; /* held by who calls MPI */
} mpi_state;

static mpi_state *state_of(gnn_ranks *ranks) { return ranks->state; }

static void net_fail(gnn_ranks *ranks, int step, int fault, const char *format, ...) __attribute__((format(printf, 4, 5), noreturn));
static void net_fail(gnn_ranks *ranks, int step, int fault, const char *format, ...) {
  char text[MPI_MAX_ERROR_STRING] = "no memory", what[256];
  int length = 0;
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  if (fault != MPI_SUCCESS) MPI_Error_string(fault, text, &length);
  gnn_ranks_say_failure(ranks, step, what, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void check(gnn_ranks *ranks, int step, int fault, const char *call) {
  if (fault != MPI_SUCCESS) net_fail(ranks, step, fault, "%s", call);
}

static double mpi_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Between two looks whether it is over: MPI_Wait would keep a core busy that peers may need. Naps stay short, as where one process cannot read the memory of another MPI moves
 * a large message in pieces of some KiB, a few at each look. */
typedef struct waiting {
  int looks;
  long nap_ns;
  double since;
} waiting;

/* The other thread may call meanwhile. */
static void wait_a_little(pthread_mutex_t *calls, waiting *w) {
  pthread_mutex_unlock(calls);
  if (w->looks++ < MPI_SPINS) {
    sched_yield();
  } else {
    if (w->since == 0) w->since = mpi_now();
    w->nap_ns = w->nap_ns == 0 ? 2000 : w->nap_ns * 2 < MPI_LONGEST_NAP_NS ? w->nap_ns * 2 : MPI_LONGEST_NAP_NS;
    const struct timespec nap = {0, w->nap_ns};
    nanosleep(&nap, NULL);
  }
  pthread_mutex_lock(calls);
}

/* Once in a program: a peer may be paused, or its machine gone. */
static int is_late(gnn_ranks *ranks, const waiting *w) {
  mpi_state *state = state_of(ranks);
  if (state->has_warned || w->since == 0 || mpi_now() - w->since < state->patience) return 0;
  return state->has_warned = 1;
}

static void say_who_is_late(gnn_ranks *ranks, int step, const mpi_step *s) {
  char who[256] = "";
  size_t length = 0;
  for (int i = s->sends; i < s->count; i++) {
    int is_here = 1;
    check(ranks, step, MPI_Request_get_status(s->requests[i], &is_here, MPI_STATUS_IGNORE), "MPI_Request_get_status");
    if (!is_here && length < sizeof who - 16) length += (size_t)snprintf(who + length, sizeof who - length, "%s%d", length ? ", " : "", s->peer[i]);
  }
  fprintf(stderr, "%s: rank %d: step %d (%s): nothing has come from rank %s for %g s; still waiting\n", ranks->name, ranks->rank, step, gnn_ranks_step_text(ranks, step), length ? who : "any: a message that was sent is not taken", state_of(ranks)->patience);
}

/* ---- beginning and end ---- */

static gnn_status net_begin(gnn_ranks *ranks, gnn_error *error) {
  int provided, fault = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  ranks->is_by_caller = provided < MPI_THREAD_SERIALIZED;
  if (fault != MPI_SUCCESS) return gnn_fail(error, GNN_EDEVICE, "R0810", "MPI did not begin");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks->started);
  MPI_Comm here;
  if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) == MPI_SUCCESS) {
    MPI_Comm_size(here, &ranks->together);
    MPI_Comm_rank(here, &ranks->here);
    MPI_Comm_free(&here);
  }
  const int steps = ranks->program->step_count + ranks->program->once_count + 1;
  mpi_state *state = calloc(1, sizeof *state);
  const char *patience = getenv("GNN_PATIENCE");
  if (state) state->steps = calloc((size_t)steps, sizeof *state->steps);
  if (state == NULL || state->steps == NULL) return gnn_fail_memory(error, steps * (int64_t)sizeof *state->steps);
  pthread_mutex_init(&state->calls, NULL);
  state->step_count = steps;
  state->patience = patience ? atof(patience) : MPI_PATIENCE_SECONDS;
  ranks->state = state;
  if (MPI_Comm_dup(MPI_COMM_WORLD, &state->words) != MPI_SUCCESS) return gnn_fail(error, GNN_EDEVICE, "R0810", "MPI did not begin: MPI_Comm_dup");
  return GNN_OK;
}

static void net_abort(gnn_ranks *ranks, int code) {
  (void)ranks;
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, code);
}

/* What is on its way between places that are gone is not waited for. */
static int has_started_steps(const mpi_state *state) {
  for (int s = 0; s < state->step_count; s++)
    if (state->steps[s].is_started) return 1;
  return 0;
}

static int net_leave(gnn_ranks *ranks, int64_t own, int64_t *all) {
  mpi_state *state = state_of(ranks);
  int counts[ranks->started], displacements[ranks->started], is_over = 0;
  const double since = mpi_now();
  waiting w = {0};
  MPI_Request request;
  for (int r = 0; r < ranks->started; r++) counts[r] = sizeof own, displacements[r] = r * (int)sizeof own;
  all[ranks->rank] = own;
  pthread_mutex_lock(&state->calls);
  int fault = MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, counts, displacements, MPI_BYTE, state->words, &request);
  while (fault == MPI_SUCCESS && (fault = MPI_Test(&request, &is_over, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !is_over && mpi_now() - since < MPI_GRACE_SECONDS) wait_a_little(&state->calls, &w);
  pthread_mutex_unlock(&state->calls);
  return fault == MPI_SUCCESS && is_over && !has_started_steps(state);
}

/* ---- exchanges ---- */

static int64_t pieces_of(int64_t bytes) { return (bytes + GNN_MPI_PIECE_BYTES - 1) / GNN_MPI_PIECE_BYTES; }

/* The messages to or from one peer. */
static void add_pieces(gnn_ranks *ranks, int step, mpi_step *s, int peer, unsigned char *at, int64_t bytes, int is_receive) {
  for (int64_t done = 0; done < bytes && peer != ranks->rank; s->count++) {
    const int64_t left = bytes - done, piece = left < GNN_MPI_PIECE_BYTES ? left : GNN_MPI_PIECE_BYTES;
    const int fault = is_receive ? MPI_Recv_init(at + done, (int)piece, MPI_BYTE, peer, step % MPI_TAGS, MPI_COMM_WORLD, &s->requests[s->count])
                                 : MPI_Send_init(at + done, (int)piece, MPI_BYTE, peer, step % MPI_TAGS, MPI_COMM_WORLD, &s->requests[s->count]);
    if (fault != MPI_SUCCESS) net_fail(ranks, step, fault, "%s of %lld bytes %s rank %d", is_receive ? "MPI_Recv_init" : "MPI_Send_init", (long long)piece, is_receive ? "from" : "to", peer);
    s->peer[s->count] = peer;
    s->bytes[s->count] = piece;
    done += piece;
  }
}

static void prepare(gnn_ranks *ranks, int step, mpi_step *s, const gnn_messages *m) {
  int64_t count = 0;
  for (int p = 0; p < ranks->count; p++)
    count += pieces_of((m->send_first[p + 1] - m->send_first[p]) * m->row_bytes) + pieces_of((m->receive_first[p + 1] - m->receive_first[p]) * m->row_bytes);
  s->requests = malloc((size_t)(count + 1) * sizeof *s->requests);
  s->peer = malloc((size_t)(count + 1) * sizeof *s->peer);
  s->bytes = malloc((size_t)(count + 1) * sizeof *s->bytes);
  if (!s->requests || !s->peer || !s->bytes) net_fail(ranks, step, MPI_SUCCESS, "room for %lld messages", (long long)count);
  for (int p = 0; p < ranks->count; p++) add_pieces(ranks, step, s, p, m->sending + m->send_first[p] * m->row_bytes, (m->send_first[p + 1] - m->send_first[p]) * m->row_bytes, 0);
  s->sends = s->count;
  for (int p = 0; p < ranks->count; p++) add_pieces(ranks, step, s, p, m->receiving + m->receive_first[p] * m->row_bytes, (m->receive_first[p + 1] - m->receive_first[p]) * m->row_bytes, 1);
}

/* Which message it was. */
static void fail_message(gnn_ranks *ranks, int step, const mpi_step *s, int fault, const MPI_Status *statuses) {
  for (int i = 0; fault == MPI_ERR_IN_STATUS && i < s->count; i++)
    if (statuses[i].MPI_ERROR != MPI_SUCCESS && statuses[i].MPI_ERROR != MPI_ERR_PENDING)
      net_fail(ranks, step, statuses[i].MPI_ERROR, "%lld bytes %s rank %d", (long long)s->bytes[i], i < s->sends ? "to" : "from", s->peer[i]);
  net_fail(ranks, step, fault, "MPI_Testall");
}

static void forget(mpi_step *s) {
  for (int i = 0; i < s->count; i++) MPI_Request_free(&s->requests[i]);
  free(s->requests);
  free(s->peer);
  free(s->bytes);
  *s = (mpi_step){0};
}

static void net_start(gnn_ranks *ranks, int step, const gnn_messages *messages) {
  mpi_step *s = &state_of(ranks)->steps[step];
  pthread_mutex_lock(&state_of(ranks)->calls);
  if (messages->is_drawn) forget(s);
  if (s->requests == NULL) prepare(ranks, step, s, messages);
  if (s->count > 0) check(ranks, step, MPI_Startall(s->count, s->requests), "MPI_Startall");
  s->is_started = 1;
  pthread_mutex_unlock(&state_of(ranks)->calls);
}

/* Nobody else calls meanwhile, so that MPI may do the waiting: in a simulation, whose clock stands between two calls, it has to. */
static int wait_for_all(mpi_step *s, int *is_over, MPI_Status *statuses) {
  *is_over = 1;
  return MPI_Waitall(s->count, s->requests, statuses);
}

static int wait_for_one(MPI_Request *request, int *is_over) {
  *is_over = 1;
  return MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void net_finish(gnn_ranks *ranks, int step) {
  mpi_step *s = &state_of(ranks)->steps[step];
  pthread_mutex_t *calls = &state_of(ranks)->calls;
  MPI_Status statuses[s->count + 1];
  waiting w = {0};
  int is_over = 0;
  pthread_mutex_lock(calls);
  for (;;) {
    const int fault = ranks->is_by_caller ? wait_for_all(s, &is_over, statuses) : MPI_Testall(s->count, s->requests, &is_over, statuses);
    if (fault != MPI_SUCCESS) fail_message(ranks, step, s, fault, statuses);
    if (is_over) break;
    wait_a_little(calls, &w);
    if (is_late(ranks, &w)) say_who_is_late(ranks, step, s);
  }
  s->is_started = 0;
  for (int i = s->sends; i < s->count; i++) {
    int received = 0;
    check(ranks, step, MPI_Get_count(&statuses[i], MPI_BYTE, &received), "MPI_Get_count");
    if (received != s->bytes[i]) net_fail(ranks, step, MPI_ERR_TRUNCATE, "%d bytes from rank %d, and %lld were to come", received, s->peer[i], (long long)s->bytes[i]);
  }
  pthread_mutex_unlock(calls);
}

static void net_gather(gnn_ranks *ranks, int step, void *all, const int64_t *first, int64_t unit_bytes) {
  int counts[GNN_RANKS_MOST], displacements[GNN_RANKS_MOST], is_over = 0;
  MPI_Datatype unit;
  MPI_Request request;
  pthread_mutex_t *calls = &state_of(ranks)->calls;
  waiting w = {0};
  for (int r = 0; r < ranks->count; r++) {
    counts[r] = (int)(first[r + 1] - first[r]);
    displacements[r] = (int)first[r];
  }
  pthread_mutex_lock(calls);
  check(ranks, step, MPI_Type_contiguous((int)unit_bytes, MPI_BYTE, &unit), "MPI_Type_contiguous");
  check(ranks, step, MPI_Type_commit(&unit), "MPI_Type_commit");
  check(ranks, step, MPI_Iallgatherv(MPI_IN_PLACE, 0, unit, all, counts, displacements, unit, MPI_COMM_WORLD, &request), "MPI_Iallgatherv");
  for (;;) {
    check(ranks, step, ranks->is_by_caller ? wait_for_one(&request, &is_over) : MPI_Test(&request, &is_over, MPI_STATUS_IGNORE), "MPI_Iallgatherv");
    if (is_over) break;
    wait_a_little(calls, &w);
    if (is_late(ranks, &w))
      fprintf(stderr, "%s: rank %d: step %d (%s): not all ranks have come to where sums are gathered for %g s; still waiting\n", ranks->name, ranks->rank, step, gnn_ranks_step_text(ranks, step), state_of(ranks)->patience);
  }
  check(ranks, step, MPI_Type_free(&unit), "MPI_Type_free");
  pthread_mutex_unlock(calls);
}

static void net_settle(gnn_ranks *ranks) {
  mpi_state *state = state_of(ranks);
  for (int s = 0; state && s < state->step_count; s++) {
    if (state->steps[s].is_started) net_finish(ranks, s);
    forget(&state->steps[s]);
  }
}

static void net_end(gnn_ranks *ranks) {
  mpi_state *state = state_of(ranks);
  net_settle(ranks);
  if (state) {
    MPI_Comm_free(&state->words);
    free(state->steps);
    pthread_mutex_destroy(&state->calls);
    free(state);
  }
  ranks->state = NULL;
  MPI_Finalize();
}

const gnn_net gnn_mpi = {"mpi", net_begin, net_start, net_finish, net_gather, net_leave, net_settle, net_end, net_abort};
