/* mpi.c: a stand-in for MPI as bad as the standard lets it be. MPI_Init_thread forks STANDIN_RANKS processes, of which the first is rank 0.
 *
 * Messages with other tags overtake each other, and each takes so many looks (MPI_Test) as STANDIN_SEED says; those of one tag in eight take longer than some sums beside them. What is sent is read as late as may be: who writes there before ends all. Where something
 * is received stands nothing readable until the message is over, and who writes there ends all. So a wait that is missing changes numbers or ends the program.
 * STANDIN_LATE_MS: every message but those of gatherings takes so long at least, and so longer than what is done beside it.
 * STANDIN_ONE_THREAD: calls may come of the thread alone that began.
 * STANDIN_FAULT=KIND:RANK:NUMBER: there that message fails (message), cannot be started (start) or is a byte short (short), or that gathering fails (gather). */
#define _GNU_SOURCE
#include "mpi.h"

#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RANKS_MOST = 16, SLOT_BYTES = 1 << 26, LOOKS_MOST = 40, LATE_LOOKS = 400, LATE_ONE_OF = 8, GATHER_TAG = 1 << 20, WORD_TAG = 3 << 20 /* of what is sent once, in the double of the world */, POISON = 0xff };

/* From one rank to another, one message at a time. */
typedef struct slot {
  atomic_int is_full;
  int tag, bytes;
  unsigned char data[SLOT_BYTES];
} slot;

typedef struct shared {
  atomic_int pid[RANKS_MOST], finished;
  slot slots[RANKS_MOST * RANKS_MOST]; /* by sender and receiver; pages that nobody touches take no memory */
} shared;

/* What came and was not asked for yet, the oldest first. */
typedef struct arrival {
  struct arrival *next;
  int from, tag, bytes;
  unsigned char data[];
} arrival;

typedef enum kind { SEND, RECEIVE, GATHER } kind;

struct standin_request {
  struct standin_request *next; /* of all of this rank, in the order of their beginning */
  kind kind;
  int is_once; /* no persistent one: it is gone when it is over */
  int is_active, is_over, is_in_slot;
  int peer, tag, bytes, looks;
  int received, fault;
  double due;      /* it arrives no earlier */
  int64_t number;  /* among all that were started */
  int64_t message; /* among those that are of no gathering; 0: it is of one */
  unsigned char *at;
  uint64_t seen; /* of what is sent, when it started */
  struct standin_request *part[2 * RANKS_MOST]; /* of a gathering */
  int parts;
};

static shared *all;
static int rank, ranks = 1, has_died, is_one_thread;
static _Thread_local int has_begun;
static uint64_t seed;
static int late_tag; /* modulo LATE_ONE_OF */
static double late_seconds;
static arrival *arrivals;
static struct standin_request *requests;
static int64_t started, messages, gathered[2]; /* of the world, and of its double */
static char fault_kind[16] = "";
static int fault_rank;
static int64_t fault_number;

static void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fflush(stdout);
  fprintf(stderr, "stand-in for MPI: rank %d: ", rank);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  MPI_Abort(0, 99);
  exit(99);
}

static uint64_t draw(void) {
  seed += 0x9e3779b97f4a7c15u;
  uint64_t x = seed;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static uint64_t hash(const unsigned char *data, int bytes) {
  uint64_t h = 0xcbf29ce484222325u, word = 0;
  for (int i = 0; i < bytes; i += 8) {
    memcpy(&word, data + i, bytes - i < 8 ? (size_t)(bytes - i) : 8);
    h = (h ^ word) * 0x100000001b3u;
    h ^= h >> 29;
  }
  return h;
}

static int is_fault(const char *kind, int64_t number) { return strcmp(fault_kind, kind) == 0 && fault_rank == rank && fault_number == number; }
static slot *slot_of(int from, int to) { return &all->slots[from * RANKS_MOST + to]; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void see_thread(void) {
  if (is_one_thread && !has_begun) die("a call by another thread than that which began");
}

/* ---- beginning and end ---- */

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  (void)argc, (void)argv;
  const char *wanted = getenv("STANDIN_RANKS"), *by = getenv("STANDIN_SEED"), *fault = getenv("STANDIN_FAULT"), *late = getenv("STANDIN_LATE_MS");
  long long number;
  late_seconds = late ? 1e-3 * atof(late) : 0;
  is_one_thread = getenv("STANDIN_ONE_THREAD") != NULL;
  has_begun = 1;
  *provided = is_one_thread ? MPI_THREAD_FUNNELED : required <= MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
  ranks = wanted ? atoi(wanted) : 1;
  if (ranks < 1 || ranks > RANKS_MOST) return MPI_ERR_OTHER;
  if (fault && sscanf(fault, "%15[a-z]:%d:%lld", fault_kind, &fault_rank, &number) == 3) fault_number = number;
  all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return MPI_ERR_OTHER;
  fflush(NULL);
  all->pid[0] = getpid();
  for (int r = 1; r < ranks; r++) {
    const pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
      rank = r;
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      break;
    }
    all->pid[r] = pid;
  }
  if (rank > 0) all->pid[rank] = getpid();
  seed = (by ? strtoull(by, NULL, 10) : 0) * 1000003 + (uint64_t)rank;
  late_tag = by ? (int)(strtoull(by, NULL, 10) % LATE_ONE_OF) : 0;
  return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm comm, int code) {
  (void)comm;
  fflush(NULL);
  for (int r = ranks - 1; r >= 0 && all; r--)
    if (r != rank && all->pid[r] > 0) kill(all->pid[r], SIGKILL);
  _exit(code ? code : 1);
}

/* mpirun would end all. */
static void look_at_children(void) {
  int status;
  for (pid_t pid; rank == 0 && (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    for (int r = 1; r < ranks; r++)
      if (all->pid[r] == pid) all->pid[r] = 0;
    if (status != 0) has_died = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (all->finished < ranks) {
      fprintf(stderr, "stand-in for MPI: a rank ended by itself\n");
      MPI_Abort(0, has_died ? has_died : 1);
    }
  }
}

static void look(void);

int MPI_Finalize(void) {
  int is_empty = 0;
  while (!is_empty) {
    look();
    is_empty = 1;
    for (const struct standin_request *q = requests; q; q = q->next) {
      if (q->is_active && q->is_over) die("a message with tag %d to or from rank %d was never waited for", q->tag, q->peer);
      is_empty = is_empty && !q->is_active;
    }
  }
  if (arrivals) die("a message of rank %d with tag %d was never received", arrivals->from, arrivals->tag);
  all->finished++;
  while (all->finished < ranks) {
    look();
    sched_yield();
  }
  if (rank > 0) return MPI_SUCCESS;
  for (int r = 1; r < ranks; r++)
    while (all->pid[r] > 0) {
      look_at_children();
      usleep(1000);
    }
  if (has_died) exit(has_died);
  return MPI_SUCCESS;
}

int MPI_Error_string(int fault, char *text, int *length) {
  *length = snprintf(text, MPI_MAX_ERROR_STRING, fault == MPI_ERR_TRUNCATE ? "message truncated" : "a fault that a test asked for");
  return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int *number) { return (void)comm, *number = rank, MPI_SUCCESS; }
int MPI_Comm_size(MPI_Comm comm, int *size) { return (void)comm, *size = ranks, MPI_SUCCESS; }
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) { return (void)comm, (void)handler, MPI_SUCCESS; }
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part) { return (void)type, (void)key, (void)info, *part = comm, MPI_SUCCESS; }
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *other) { return *other = comm + 1, MPI_SUCCESS; }
int MPI_Comm_free(MPI_Comm *comm) { return (void)comm, MPI_SUCCESS; }
int MPI_Type_contiguous(int count, MPI_Datatype of, MPI_Datatype *type) { return *type = count * of, MPI_SUCCESS; }
int MPI_Type_commit(MPI_Datatype *type) { return (void)type, MPI_SUCCESS; }
int MPI_Type_free(MPI_Datatype *type) { return *type = 0, MPI_SUCCESS; }
int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count) { return *count = status->count / type, MPI_SUCCESS; }

/* ---- messages ---- */

static struct standin_request *add_request(kind kind, void *at, int bytes, int peer, int tag) {
  struct standin_request *q = calloc(1, sizeof *q), **last = &requests;
  if (q == NULL || bytes > SLOT_BYTES || bytes < 0) die("no room for a message of %d bytes", bytes);
  *q = (struct standin_request){.kind = kind, .peer = peer, .tag = tag, .bytes = bytes, .at = at};
  while (*last) last = &(*last)->next;
  return *last = q;
}

static void drop_request(struct standin_request *q) {
  struct standin_request **link = &requests;
  while (*link != q) link = &(*link)->next;
  *link = q->next;
  free(q);
}

static void start(struct standin_request *q) {
  if (q->is_active) die("a message with tag %d to or from rank %d was started again before it was over", q->tag, q->peer);
  q->is_active = 1;
  q->is_over = q->is_in_slot = q->fault = 0;
  q->looks = (int)(draw() % LOOKS_MOST) + (q->tag < GATHER_TAG && q->tag % LATE_ONE_OF == late_tag ? LATE_LOOKS : 0);
  q->due = now() + (q->tag < GATHER_TAG ? late_seconds : 0);
  q->number = ++started;
  if (q->tag < GATHER_TAG) q->message = ++messages;
  if (q->kind == SEND) q->seen = hash(q->at, q->bytes);
  if (q->kind == RECEIVE) memset(q->at, POISON, (size_t)q->bytes);
  if (is_fault("message", q->message)) q->fault = MPI_ERR_OTHER;
}

int MPI_Send_init(const void *from, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
  (void)comm;
  *request = add_request(SEND, (void *)(uintptr_t)from, count * type, peer, tag);
  return MPI_SUCCESS;
}

int MPI_Recv_init(void *to, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
  (void)comm;
  *request = add_request(RECEIVE, to, count * type, peer, tag);
  return MPI_SUCCESS;
}

int MPI_Start(MPI_Request *request) { return MPI_Startall(1, request); }

int MPI_Startall(int count, MPI_Request *list) {
  see_thread();
  if (draw() % 8 == 0) usleep((useconds_t)(draw() % 1000)); /* others are ahead */
  for (int i = 0; i < count; i++) {
    if (is_fault("start", messages + 1)) return MPI_ERR_OTHER;
    start(list[i]);
  }
  return MPI_SUCCESS;
}

/* Messages to the same rank with the same tag stay in order. */
static int is_behind(const struct standin_request *q) {
  for (const struct standin_request *p = requests; p; p = p->next)
    if (p != q && p->kind == q->kind && p->is_active && !p->is_over && !p->is_in_slot && p->peer == q->peer && p->tag == q->tag && p->number < q->number) return 1;
  return 0;
}

static void move_send(struct standin_request *q) {
  slot *to = slot_of(rank, q->peer);
  if (to->is_full || is_behind(q)) return;
  if (hash(q->at, q->bytes) != q->seen) die("what is sent to rank %d with tag %d was written before it was over", q->peer, q->tag);
  to->tag = q->tag;
  to->bytes = q->bytes - (is_fault("short", q->message) && q->bytes > 0);
  memcpy(to->data, q->at, (size_t)q->bytes);
  to->is_full = 1;
  q->is_over = 1;
}

static void move_receive(struct standin_request *q) {
  arrival **link = &arrivals, *a;
  if (is_behind(q)) return;
  while (*link && ((*link)->from != q->peer || (*link)->tag != q->tag)) link = &(*link)->next;
  if ((a = *link) == NULL) return;
  for (int i = 0; i < q->bytes; i++)
    if (q->at[i] != POISON) die("where rank %d sends to with tag %d somebody wrote before it was over", q->peer, q->tag);
  if (a->bytes > q->bytes) q->fault = MPI_ERR_TRUNCATE;
  q->received = a->bytes < q->bytes ? a->bytes : q->bytes;
  memcpy(q->at, a->data, (size_t)q->received);
  q->is_over = 1;
  *link = a->next;
  free(a);
}

static void take_arrivals(void) {
  for (int from = 0; from < ranks; from++) {
    slot *s = slot_of(from, rank);
    if (!s->is_full) continue;
    arrival *a = malloc(sizeof *a + (size_t)s->bytes), **last = &arrivals;
    if (a == NULL) die("no memory");
    *a = (arrival){NULL, from, s->tag, s->bytes};
    memcpy(a->data, s->data, (size_t)s->bytes);
    while (*last) last = &(*last)->next;
    *last = a;
    s->is_full = 0;
  }
}

/* All that is under way goes on a little. */
static void look(void) {
  look_at_children();
  take_arrivals();
  for (struct standin_request *q = requests; q; q = q->next) {
    if (!q->is_active || q->is_over || q->kind == GATHER) continue;
    if (q->looks-- > 0 || draw() % 3 == 0 || (q->kind == RECEIVE && late_seconds > 0 && now() < q->due)) continue;
    if (q->kind == SEND) move_send(q);
    else move_receive(q);
  }
  for (struct standin_request *q = requests; q; q = q->next) {
    if (q->kind != GATHER || !q->is_active || q->is_over) continue;
    q->is_over = 1;
    for (int p = 0; p < q->parts; p++) q->is_over = q->is_over && q->part[p]->is_over;
    for (int p = 0; q->is_over && p < q->parts; p++) q->part[p]->is_active = 0;
  }
}

int MPI_Iallgatherv(const void *in_place, int none, MPI_Datatype type, void *to, const int *counts, const int *displacements, MPI_Datatype unit, MPI_Comm comm, MPI_Request *request) {
  (void)in_place, (void)none, (void)type;
  const int tag = (1 + comm) * GATHER_TAG + (int)(gathered[comm]++ % GATHER_TAG);
  struct standin_request *q = add_request(GATHER, to, 0, rank, tag);
  if (draw() % 8 == 0) usleep((useconds_t)(draw() % 1000));
  if (comm == MPI_COMM_WORLD && is_fault("gather", gathered[comm])) return MPI_ERR_OTHER;
  for (int r = 0; r < ranks; r++) {
    if (r == rank) continue;
    q->part[q->parts++] = add_request(SEND, (unsigned char *)to + (size_t)displacements[rank] * (size_t)unit, counts[rank] * unit, r, tag);
    q->part[q->parts++] = add_request(RECEIVE, (unsigned char *)to + (size_t)displacements[r] * (size_t)unit, counts[r] * unit, r, tag);
  }
  q->is_active = 1;
  for (int p = 0; p < q->parts; p++) start(q->part[p]);
  *request = q;
  return MPI_SUCCESS;
}

int MPI_Isend(const void *from, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
  (void)comm;
  *request = add_request(SEND, (void *)(uintptr_t)from, count * type, peer, WORD_TAG + tag);
  (*request)->is_once = 1;
  start(*request);
  return MPI_SUCCESS;
}

static arrival **word_of(int peer, int tag) {
  arrival **link = &arrivals;
  look();
  while (*link && ((*link)->tag < WORD_TAG || (peer >= 0 && (*link)->from != peer) || (tag >= 0 && (*link)->tag != WORD_TAG + tag))) link = &(*link)->next;
  return link;
}

int MPI_Iprobe(int peer, int tag, MPI_Comm comm, int *is_there, MPI_Status *status) {
  const arrival *a = *word_of(peer, tag);
  (void)comm;
  if (a) *status = (MPI_Status){a->from, a->tag - WORD_TAG, MPI_SUCCESS, a->bytes};
  return *is_there = a != NULL, MPI_SUCCESS;
}

int MPI_Recv(void *to, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status *status) {
  arrival **link, *a;
  (void)comm, (void)status;
  while (*(link = word_of(peer, tag)) == NULL) sched_yield();
  a = *link;
  memcpy(to, a->data, (size_t)(a->bytes < count * type ? a->bytes : count * type));
  *link = a->next;
  free(a);
  return MPI_SUCCESS;
}

int MPI_Alltoall(const void *from, int from_count, MPI_Datatype from_type, void *to, int count, MPI_Datatype type, MPI_Comm comm) {
  const int bytes = count * type;
  unsigned char table[RANKS_MOST * RANKS_MOST * bytes];
  int counts[RANKS_MOST], first[RANKS_MOST], fault;
  MPI_Request request;
  for (int r = 0; r < ranks; r++) counts[r] = ranks * bytes, first[r] = r * ranks * bytes;
  memcpy(table + first[rank], from, (size_t)(ranks * from_count * from_type));
  fault = MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, table, counts, first, MPI_BYTE, comm, &request);
  if (fault == MPI_SUCCESS) fault = MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int r = 0; r < ranks; r++) memcpy((unsigned char *)to + r * bytes, table + first[r] + rank * bytes, (size_t)bytes);
  return fault;
}

int MPI_Request_get_status(MPI_Request q, int *is_over, MPI_Status *status) {
  if (status) *status = (MPI_Status){q->peer, q->tag, q->fault, q->received};
  return *is_over = !q->is_active || q->is_over, MPI_SUCCESS;
}

int MPI_Testall(int count, MPI_Request *list, int *is_over, MPI_Status *statuses) {
  see_thread();
  int fault = MPI_SUCCESS;
  look();
  *is_over = 1;
  for (int i = 0; i < count; i++) *is_over = *is_over && (list[i] == NULL || !list[i]->is_active || list[i]->is_over);
  for (int i = 0; i < count && *is_over; i++) {
    if (list[i] == NULL) continue;
    if (statuses) statuses[i] = (MPI_Status){list[i]->peer, list[i]->tag, list[i]->fault, list[i]->received};
    if (list[i]->fault != MPI_SUCCESS) fault = MPI_ERR_IN_STATUS;
    list[i]->is_active = 0;
    if (list[i]->is_once) drop_request(list[i]), list[i] = MPI_REQUEST_NULL;
  }
  return fault;
}

int MPI_Test(MPI_Request *request, int *is_over, MPI_Status *status) {
  if (*request == MPI_REQUEST_NULL) return *is_over = 1, MPI_SUCCESS;
  struct standin_request *q = *request;
  MPI_Status own;
  if (MPI_Testall(1, request, is_over, &own) != MPI_SUCCESS) return own.MPI_ERROR;
  if (status && *is_over) *status = own;
  if (*request == MPI_REQUEST_NULL || q->kind != GATHER || !*is_over) return MPI_SUCCESS;
  for (int p = 0; p < q->parts; p++) drop_request(q->part[p]);
  drop_request(q);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request *list, MPI_Status *statuses) {
  int is_over = 0, fault = MPI_SUCCESS;
  while (!is_over && fault == MPI_SUCCESS) fault = MPI_Testall(count, list, &is_over, statuses), sched_yield();
  return fault;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  int is_over = 0, fault = MPI_SUCCESS;
  while (!is_over && fault == MPI_SUCCESS) fault = MPI_Test(request, &is_over, status), sched_yield();
  return fault;
}

int MPI_Request_free(MPI_Request *request) {
  if ((*request)->is_active) die("a message with tag %d to or from rank %d was dropped before it was over", (*request)->tag, (*request)->peer);
  drop_request(*request);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
