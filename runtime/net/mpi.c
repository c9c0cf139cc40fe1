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
enum { MPI_TAGS = 30000 /* 32767 are sure to be there */, MPI_SPINS = 64, MPI_LONGEST_NAP_NS = 20000, MPI_PATIENCE_SECONDS = 60, MPI_GRACE_SECONDS = 2 /* in which ranks that fail of the same all come to say so */, MPI_ANSWER_SECONDS = 1 };
static const double mpi_calm_seconds = 0.25; /* who waits no longer asks nobody, and answers nobody */

/* Of a step: sends, then receives. */
typedef struct mpi_step {
  int count;
  MPI_Request *requests;
  int *peer;        /* of each */
  int64_t *bytes;
  int sends;
  int is_started;   /* and not finished */
} mpi_step;

/* Who has waited for long asks all others, and whoever waits, too, answers: the others are late. Nothing of it passes as long as nobody has to wait. */
typedef enum word { WORD_ASKS, WORD_ANSWERS, WORDS } word;
typedef struct mpi_words {
  MPI_Comm comm;    /* of their own */
  int64_t question; /* its number, which answers have, too */
  double asked;     /* when; 0: no question is open */
  int has_answered[GNN_RANKS_MOST], sent[GNN_RANKS_MOST], received[GNN_RANKS_MOST];
  int64_t said[WORDS][GNN_RANKS_MOST];
  MPI_Request requests[WORDS][GNN_RANKS_MOST];
} mpi_words;

typedef struct mpi_state {
  int step_count;
  mpi_step *steps;
  double patience;
  int has_warned;
  mpi_words words;
  pthread_mutex_t calls; /* held by who calls MPI */
} mpi_state;

static mpi_state *state_of(const gnn_ranks *ranks) { return ranks->state; }

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
  int is_asking; /* who is late */
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

/* ---- who is late ---- */

/* One of a kind is on its way to each rank; who takes none gets no more. */
static void say_word(gnn_ranks *ranks, int to, word tag, int64_t number) {
  mpi_words *words = &state_of(ranks)->words;
  int is_over = 1;
  check(ranks, 0, MPI_Test(&words->requests[tag][to], &is_over, MPI_STATUS_IGNORE), "MPI_Test");
  if (!is_over) return;
  words->said[tag][to] = number;
  words->sent[to]++;
  check(ranks, 0, MPI_Isend(&words->said[tag][to], (int)sizeof number, MPI_BYTE, to, tag, words->comm, &words->requests[tag][to]), "MPI_Isend");
}

static void hear_word(gnn_ranks *ranks, int from, int tag) {
  mpi_words *words = &state_of(ranks)->words;
  int64_t number;
  check(ranks, 0, MPI_Recv(&number, (int)sizeof number, MPI_BYTE, from, tag, words->comm, MPI_STATUS_IGNORE), "MPI_Recv");
  words->received[from]++;
  if (tag == WORD_ASKS) say_word(ranks, from, WORD_ANSWERS, number);
  else if (number == words->question) words->has_answered[from] = 1;
}

static void hear_words(gnn_ranks *ranks) {
  for (int is_there = 1; is_there;) {
    MPI_Status status;
    check(ranks, 0, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, state_of(ranks)->words.comm, &is_there, &status), "MPI_Iprobe");
    if (is_there) hear_word(ranks, status.MPI_SOURCE, status.MPI_TAG);
  }
}

static void ask_all(gnn_ranks *ranks) {
  mpi_words *words = &state_of(ranks)->words;
  memset(words->has_answered, 0, sizeof words->has_answered);
  words->question++;
  words->asked = mpi_now();
  for (int r = 0; r < ranks->count; r++)
    if (r != ranks->rank) say_word(ranks, r, WORD_ASKS, words->question);
}

/* Whether to say who is late: once in a program, after patience and the time of an answer. */
static int is_to_be_told(gnn_ranks *ranks, waiting *w) {
  mpi_state *state = state_of(ranks);
  const double now = w->since == 0 || ranks->is_by_caller ? 0 : mpi_now(), waited = now - w->since;
  if (now == 0 || waited < (state->patience < mpi_calm_seconds ? state->patience : mpi_calm_seconds)) return 0;
  hear_words(ranks);
  if (state->has_warned || waited < state->patience) return 0;
  if (!w->is_asking && state->words.asked == 0) {
    w->is_asking = 1;
    ask_all(ranks);
  }
  return w->is_asking && now - state->words.asked >= MPI_ANSWER_SECONDS ? state->has_warned = 1 : 0;
}

/* The wait is over, and its question with it. */
static void ask_no_more(gnn_ranks *ranks, const waiting *w) {
  if (w->is_asking) state_of(ranks)->words.asked = 0;
}

static void add_rank(gnn_text *text, int rank) { gnn_text_format(text, "%s%d", text->length ? ", " : "", rank); }

/* Peers of the step's messages from one on to one before another that are not over. */
static void add_peers(gnn_ranks *ranks, int step, const mpi_step *s, int from, int to, gnn_text *text) {
  for (int i = from; i < to; i++) {
    int is_over = 1;
    check(ranks, step, MPI_Request_get_status(s->requests[i], &is_over, MPI_STATUS_IGNORE), "MPI_Request_get_status");
    if (!is_over && (i == from || s->peer[i] != s->peer[i - 1])) add_rank(text, s->peer[i]);
  }
}

/* s: whose messages are waited for; NULL: sums are gathered. */
static void say_who_is_late(gnn_ranks *ranks, int step, const mpi_step *s) {
  gnn_text late = {0}, silent = {0}, deaf = {0}, said = {0};
  for (int r = 0; r < ranks->count; r++)
    if (r != ranks->rank && !state_of(ranks)->words.has_answered[r]) add_rank(&late, r);
  if (s) add_peers(ranks, step, s, s->sends, s->count, &silent);
  if (s) add_peers(ranks, step, s, 0, s->sends, &deaf);
  gnn_text_format(&said, "%s: rank %d: step %d (%s): has waited for %g s; ", ranks->name, ranks->rank, step, gnn_ranks_step_text(ranks, step), state_of(ranks)->patience);
  if (late.length) gnn_text_format(&said, "late: rank %s", late.data);
  else gnn_text_format(&said, "all other ranks wait, too");
  if (silent.length) gnn_text_format(&said, "; nothing has come from rank %s", silent.data);
  if (deaf.length) gnn_text_format(&said, "; what was sent is not taken by rank %s", deaf.data);
  fprintf(stderr, "%s; still waiting\n", said.data ? said.data : ranks->name);
  gnn_text_free(&late);
  gnn_text_free(&silent);
  gnn_text_free(&deaf);
  gnn_text_free(&said);
}

/* Every word that was sent is received. */
static void end_words(gnn_ranks *ranks) {
  mpi_words *words = &state_of(ranks)->words;
  int coming[GNN_RANKS_MOST];
  if (ranks->started <= GNN_RANKS_MOST && !ranks->is_by_caller) {
    check(ranks, 0, MPI_Alltoall(words->sent, 1, MPI_INT, coming, 1, MPI_INT, words->comm), "MPI_Alltoall");
    for (int r = 0; r < ranks->started; r++) {
      int64_t number;
      for (; words->received[r] < coming[r]; words->received[r]++) check(ranks, 0, MPI_Recv(&number, (int)sizeof number, MPI_BYTE, r, MPI_ANY_TAG, words->comm, MPI_STATUS_IGNORE), "MPI_Recv");
    }
    for (int tag = 0; tag < WORDS; tag++)
      for (int r = 0; r < ranks->started; r++) check(ranks, 0, MPI_Wait(&words->requests[tag][r], MPI_STATUS_IGNORE), "MPI_Wait");
  }
  MPI_Comm_free(&words->comm);
}

/* ---- beginning and end ---- */

static int net_launched(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *text = getenv(names[i]);
    if (text && *text) return atoi(text);
  }
  return -1;
}

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
  state->patience = MPI_PATIENCE_SECONDS;
  for (int r = 0; r < GNN_RANKS_MOST; r++) state->words.requests[WORD_ASKS][r] = state->words.requests[WORD_ANSWERS][r] = MPI_REQUEST_NULL;
  if (MPI_Comm_dup(MPI_COMM_WORLD, &state->words.comm) != MPI_SUCCESS) return gnn_fail(error, GNN_EDEVICE, "R0810", "MPI did not begin: MPI_Comm_dup");
  ranks->state = state;
  if (patience && !(gnn_parse_number(patience, &state->patience) && state->patience > 0)) return gnn_fail(error, GNN_EINVAL, "", "GNN_PATIENCE takes seconds, a number above 0, not \"%s\"", patience);
  return GNN_OK;
}

static void net_abort(gnn_ranks *ranks, int code) {
  (void)ranks;
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, code);
}

static int net_is_passing(const gnn_ranks *ranks) {
  const mpi_state *state = state_of(ranks);
  for (int s = 0; state && s < state->step_count; s++)
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
  int fault = MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, counts, displacements, MPI_BYTE, state->words.comm, &request);
  while (fault == MPI_SUCCESS && (fault = MPI_Test(&request, &is_over, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !is_over && mpi_now() - since < MPI_GRACE_SECONDS) wait_a_little(&state->calls, &w);
  pthread_mutex_unlock(&state->calls);
  return fault == MPI_SUCCESS && is_over && !net_is_passing(ranks); /* what a rank that failed has not sent is not waited for */
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
    if (is_to_be_told(ranks, &w)) say_who_is_late(ranks, step, s);
  }
  ask_no_more(ranks, &w);
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
    if (is_to_be_told(ranks, &w)) say_who_is_late(ranks, step, NULL);
  }
  ask_no_more(ranks, &w);
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
    end_words(ranks);
    free(state->steps);
    pthread_mutex_destroy(&state->calls);
    free(state);
  }
  ranks->state = NULL;
  MPI_Finalize();
}

const gnn_net gnn_mpi = {"mpi", net_launched, net_begin, net_start, net_finish, net_gather, net_leave, net_settle, net_is_passing, net_end, net_abort};
