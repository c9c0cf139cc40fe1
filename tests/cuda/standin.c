/* standin.c: the calls of cudart, cuBLASLt and cuSPARSE that the runtime makes, on the processor; see standin.h. Test-only.
 *
 * One mutex guards everything. A stream's thread takes operations from its queue; an event is a mark that its stream reaches. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "standin.h"
#include "../../runtime/core/scratch.h"
#include "../../kernels/cuda/module.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LIBRARY_ALIGNMENT = 256, STREAMS = 16, ZONE_BYTES = 4096, SPACES = 256, NODES = 1 << 15, EVENTS = 1 << 14, LOGS = 1 << 20, DEPENDENCIES = 8 };

/* Runs all threads of a kernel; brought by what emulates device code, in the program or in the image that it loads. 0: there is no
 * such kernel. */
int emulated_launch(const char *name, void *view, const gnn_places *at, int64_t blocks, int threads, int order) __attribute__((weak));

typedef enum Kind { COPY, FILL, KERNEL, GEMM, SPMM, CALL, RECORD, WAIT, GRAPH } Kind;

/* Reached, or not yet, by the stream where an event was recorded. */
typedef struct Mark {
  struct Mark *next;
  int is_reached, waiters; /* threads of the host that wait for it */
  double when;
} Mark;

typedef struct Operation {
  struct Operation *next;
  Kind kind;
  void *to;
  const void *from;
  size_t bytes;
  int value;
  void (*call)(void *context); /* a function of the host; `to` is its context */
  const char *kernel;
  unsigned blocks, threads;
  gnn_places at;
  Mark *mark;
  cudaEvent_t event; /* of a RECORD in a graph, which every launch does anew */
  struct CUgraphExec_st *graph;
  cublasLtMatmulDesc_t product; /* descriptions are copied when they are queued */
  struct { int64_t rows, columns, ld; } a, b, c;
  int transpose_a, transpose_b, epilogue, dropped_bits;
  const void *bias;
  const float *left, *right;
  void *workspace;
  const void *addend;
  int is_half, is_result_half; /* the factors are bf16; the result, what is added and the bias */
  const int32_t *offsets, *index;
  int64_t rows, width;
} Operation;

typedef struct Node {
  Operation operation;
  int stream, dependency_count, dependency[DEPENDENCIES * 4];
  int is_done, is_running;
} Node;

struct CUgraph_st {
  int node_count;
  Node *node;
};
struct CUgraphExec_st {
  int node_count;
  Node *node;
};

typedef struct Tails {
  int count, node[DEPENDENCIES];
} Tails;

struct CUstream_st {
  int number, is_running, is_ending;
  pthread_t thread;
  Operation *head, **tail;
  cudaGraph_t capture;
  int is_origin;
  Tails tails;
};

struct CUevent_st {
  int number;
  unsigned flags;
  Mark *mark;
  cudaGraph_t capture;
  Tails tails;
};

/* What was asked for, in that order: which wait is implied by others can be told from it. */
typedef enum Asked { ASKED_WORK, ASKED_RECORD, ASKED_WAIT, ASKED_ALL /* the host waited for a stream */ } Asked;
typedef struct Log {
  Asked asked;
  int stream, event;
} Log;

typedef struct Space {
  unsigned char *memory;
  size_t bytes;
  int is_pinned, is_registered; /* registered: the program's own, without zones */
} Space;

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int is_ready;
  unsigned seed, draws;
  standin_fault fault;
  int after;
  cudaStream_t stream[STREAMS];
  int stream_count, event_count;
  int host_waits;      /* threads that wait for a stream or an event */
  int disk_moves;      /* that the SSD is at */
  double last_call, last_woken; /* woken: a thread that waited for an event */
  Mark *marks;
  void *staged, *staged_to;
  size_t staged_bytes;
  Space space[SPACES];
  cudaError_t failure; /* sticky */
  int ignored_stream, ignored_event;
  standin_wait wait[STANDIN_WAITS];
  int wait_count, graph_launches, log_count, allocation_count;
  Log log[LOGS];
  long quiet_nanoseconds;
} it = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .ignored_stream = STANDIN_HOST - 1, .quiet_nanoseconds = 60000};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static unsigned draw(unsigned below) {
  uint64_t x = ((uint64_t)it.seed << 32 | it.draws++) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (unsigned)((x ^ x >> 31) % below);
}

static void fatal(const char *what) {
  fprintf(stderr, "stand-in for CUDA: %s\n", what);
  abort();
}

static int is_ready(const struct CUstream_st *stream);
static void pause_for(long nanoseconds);

/* ---- steering ---- */

void standin_reset(unsigned seed, standin_fault fault, int after) {
  pthread_mutex_lock(&it.mutex);
  for (int s = 0; s < it.stream_count; s++)
    if (it.stream[s]) fatal("a stream is left from before");
  for (Mark *mark = it.marks, *next; mark; mark = next) {
    next = mark->next;
    free(mark);
  }
  it.marks = NULL;
  it.is_ready = 1;
  it.seed = seed;
  it.fault = fault;
  it.after = after;
  it.draws = 0;
  it.stream_count = it.event_count = it.wait_count = it.graph_launches = it.log_count = it.allocation_count = 0;
  it.failure = cudaSuccess;
  free(it.staged);
  it.staged = NULL;
  it.ignored_stream = STANDIN_HOST - 1;
  pthread_mutex_unlock(&it.mutex);
}

void standin_ignore(int stream, int event) {
  pthread_mutex_lock(&it.mutex);
  it.ignored_stream = stream;
  it.ignored_event = event;
  pthread_mutex_unlock(&it.mutex);
}

void standin_hold(long nanoseconds) { it.quiet_nanoseconds = nanoseconds; }

/* ---- which waits are implied ---- */

typedef struct Clock { int work[STREAMS]; } Clock; /* of every stream, how much comes before */

static void merge(Clock *clock, const Clock *other) {
  for (int s = 0; s < STREAMS; s++)
    if (other->work[s] > clock->work[s]) clock->work[s] = other->work[s];
}

/* What comes before each piece of work, without a wait (-2: with all): before[log_count]. */
static void order(Clock *before, int without_stream, int without_event) {
  static Clock stream[STREAMS], event[EVENTS], host;
  memset(stream, 0, sizeof stream);
  memset(event, 0, sizeof event);
  memset(&host, 0, sizeof host);
  for (int l = 0; l < it.log_count; l++) {
    const Log *log = &it.log[l];
    Clock *own = &stream[log->stream];
    switch (log->asked) {
    case ASKED_RECORD: event[log->event] = *own; break;
    case ASKED_ALL: merge(&host, own); break;
    case ASKED_WAIT:
      if (log->stream != without_stream || log->event != without_event) merge(own, &event[log->event]);
      break;
    case ASKED_WORK:
      merge(own, &host);
      own->work[log->stream]++;
      before[l] = *own;
      break;
    }
  }
}

int standin_waits(standin_wait waits[STANDIN_WAITS]) {
  Clock *with = calloc((size_t)it.log_count + 1, sizeof *with), *without = calloc((size_t)it.log_count + 1, sizeof *without);
  if (!with || !without) fatal("no memory");
  order(with, STANDIN_HOST - 1, 0);
  memcpy(waits, it.wait, (size_t)it.wait_count * sizeof *waits);
  for (int w = 0; w < it.wait_count; w++) {
    if (waits[w].stream == STANDIN_HOST) continue;
    order(without, waits[w].stream, waits[w].event);
    waits[w].is_implied = memcmp(with, without, (size_t)it.log_count * sizeof *with) == 0;
  }
  free(with);
  free(without);
  return it.wait_count;
}

static void note_down(Asked asked, int stream, int event) {
  if (it.log_count == LOGS || event >= EVENTS) fatal("too much to take down");
  it.log[it.log_count++] = (Log){asked, stream, event};
}

static int64_t allocated(void) {
  int64_t bytes = 0;
  for (int s = 0; s < SPACES; s++)
    if (it.space[s].memory) bytes += (int64_t)it.space[s].bytes;
  return bytes;
}

static int64_t locked(int64_t (*ask)(void)) {
  pthread_mutex_lock(&it.mutex);
  int64_t answer = ask();
  pthread_mutex_unlock(&it.mutex);
  return answer;
}

static int64_t allocations(void) { return it.allocation_count; }
static int64_t has_struck(void) { return it.after < 0; }
static int64_t calm(void) { return it.fault = STANDIN_FINE; }
static int64_t graph_launches(void) { return it.graph_launches; }

int64_t standin_allocated(void) { return locked(allocated); }
int standin_allocations(void) { return (int)locked(allocations); }
int standin_has_struck(void) { return (int)locked(has_struck); }
void standin_calm(void) { locked(calm); }
int standin_graph_launches(void) { return (int)locked(graph_launches); }

static int environment(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

/* To the file STANDIN_WAITS names: stream and event of each wait that no other implies. */
static void write_waits(void) {
  static standin_wait waits[STANDIN_WAITS];
  const char *path = getenv("STANDIN_WAITS");
  FILE *out = path ? fopen(path, "w") : NULL;
  int count = out ? standin_waits(waits) : 0;
  for (int w = 0; w < count; w++)
    if (waits[w].stream != STANDIN_HOST && !waits[w].is_implied) fprintf(out, "%d,%d\n", waits[w].stream, waits[w].event);
  if (out) fclose(out);
}

/* ---- the SSD, under seeds that rank streams ---- */

static int stream_could_go(void) {
  for (int s = 0; s < it.stream_count; s++)
    if (it.stream[s] && (it.stream[s]->is_running || is_ready(it.stream[s]))) return 1;
  return 0;
}

/* With an odd seed the disk is slower than everything: it does nothing before streams cannot go on and nobody asks for anything. With an
 * even one it is as fast as it can be, and streams are slower. */
static void disk_begins(void) {
  pthread_mutex_lock(&it.mutex);
  while (it.seed < STANDIN_RANKED && it.seed % 2 && (stream_could_go() || now() - it.last_call < 2e-3)) pause_for(200000);
  it.disk_moves++;
  pthread_mutex_unlock(&it.mutex);
}

static void disk_ends(void) {
  pthread_mutex_lock(&it.mutex);
  it.disk_moves--;
  it.last_call = now();
  pthread_cond_broadcast(&it.changed);
  pthread_mutex_unlock(&it.mutex);
}

/* Programs are linked with this in its place (link.sh). */
gnn_status __wrap_gnn_scratch_move(gnn_scratch_port *port, gnn_spans memory, gnn_spans file, int64_t bytes, gnn_error *error);
gnn_status __real_gnn_scratch_move(gnn_scratch_port *port, gnn_spans memory, gnn_spans file, int64_t bytes, gnn_error *error) __attribute__((weak));

gnn_status __wrap_gnn_scratch_move(gnn_scratch_port *port, gnn_spans memory, gnn_spans file, int64_t bytes, gnn_error *error) {
  disk_begins();
  gnn_status status = __real_gnn_scratch_move(port, memory, file, bytes, error);
  disk_ends();
  return status;
}

static void begin_as_told(void) {
  const char *ignored = getenv("STANDIN_IGNORE");
  int stream, event;
  standin_reset((unsigned)environment("STANDIN_SEED", 6), (standin_fault)environment("STANDIN_FAULT", 0), environment("STANDIN_AFTER", 0));
  if (ignored && sscanf(ignored, "%d,%d", &stream, &event) == 2) standin_ignore(stream, event);
  if (getenv("STANDIN_WAITS")) atexit(write_waits);
}

/* Every call comes through here. */
static void enter(void) {
  if (!it.is_ready) begin_as_told();
  pthread_mutex_lock(&it.mutex);
  it.last_call = now();
}

static cudaError_t leave(cudaError_t code) {
  if (it.failure != cudaSuccess) code = it.failure;
  pthread_cond_broadcast(&it.changed);
  pthread_mutex_unlock(&it.mutex);
  return code;
}

/* Whether this call is the one that fails. */
static int strikes(standin_fault fault) { return it.fault == fault && (fault == STANDIN_ANY ? it.after-- == 0 : it.after-- <= 0); }

/* The same for calls that may be refused without anything done. */
#define ENTER() \
  do { \
    enter(); \
    if (strikes(STANDIN_ANY)) return leave(cudaErrorUnknown); \
  } while (0)

/* The same for libraries, which have errors of their own. */
#define ENTER_LIBRARY(refused) \
  do { \
    enter(); \
    int is_struck = strikes(STANDIN_ANY) || it.failure != cudaSuccess; \
    leave(cudaSuccess); \
    if (is_struck) return refused; \
  } while (0)

/* ---- whose turn it is ---- */

static int rank_of(int stream) {
  static const int ranks[STANDIN_RANKED][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  return ranks[it.seed % STANDIN_RANKED][stream % 3];
}

static int is_ready(const struct CUstream_st *stream) {
  return stream->head && !stream->is_running && !(stream->head->kind == WAIT && !stream->head->mark->is_reached);
}

/* A thread that was woken is one of an SSD: if that is to be fast, the thread has to get there. */
static int is_disk_first(void) { return it.seed % 2 == 0 && it.seed < STANDIN_RANKED && (it.disk_moves > 0 || now() - it.last_woken < 5e-4); }

static int is_quiet(void) { return !is_disk_first() && (it.host_waits > 0 || now() - it.last_call > (double)it.quiet_nanoseconds * 1e-9); }

static int may_run(const struct CUstream_st *stream) {
  if (it.seed == STANDIN_FREE) return 1;
  if (!is_quiet()) return 0;
  for (int s = 0; s < it.stream_count; s++) {
    const struct CUstream_st *other = it.stream[s];
    if (!other || other == stream) continue;
    if (other->is_running) return 0;
    if (it.seed < STANDIN_RANKED && is_ready(other) && rank_of(other->number) < rank_of(stream->number)) return 0;
  }
  return it.seed < STANDIN_RANKED || draw(3) == 0;
}

static void pause_for(long nanoseconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += nanoseconds;
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  pthread_cond_timedwait(&it.changed, &it.mutex, &until);
}

/* ---- what operations do ---- */

/* To the nearest number with so many bits less, as tf32 and bf16 have. */
static float rounded(float x, int bits) {
  uint32_t word;
  memcpy(&word, &x, sizeof word);
  word = (word + ((1u << bits) >> 1)) >> bits << bits;
  memcpy(&x, &word, sizeof word);
  return x;
}

static float element(const void *matrix, int64_t at, int is_half) {
  if (!is_half) return ((const float *)matrix)[at];
  const uint32_t word = (uint32_t)((const uint16_t *)matrix)[at] << 16;
  float x;
  memcpy(&x, &word, sizeof x);
  return x;
}

static void put(void *matrix, int64_t at, float x, int is_half) {
  uint32_t word;
  memcpy(&word, &x, sizeof word);
  if (is_half) ((uint16_t *)matrix)[at] = (uint16_t)(x != x ? 0x7fff : (word + 0x7fff + (word >> 16 & 1)) >> 16);
  else ((float *)matrix)[at] = x;
}

/* The workspace is the product's own: nothing is left of what was there. STANDIN_WORKSPACE: what it uses of it, in bytes. */
static void multiply(const Operation *o) {
  int64_t depth = o->transpose_a ? o->a.rows : o->a.columns;
  const size_t used = (size_t)environment("STANDIN_WORKSPACE", 1 << 30);
  memset(o->workspace, 0xff, used < o->bytes ? used : o->bytes);
  for (int64_t column = 0; column < o->c.columns; column++)
    for (int64_t row = 0; row < o->c.rows; row++) {
      float sum = 0;
      for (int64_t k = 0; k < depth; k++)
        sum += rounded(element(o->left, o->transpose_a ? row * o->a.ld + k : k * o->a.ld + row, o->is_half), o->dropped_bits) *
               rounded(element(o->right, o->transpose_b ? k * o->b.ld + column : column * o->b.ld + k, o->is_half), o->dropped_bits);
      if (o->addend) sum += element(o->addend, column * o->c.ld + row, o->is_result_half);
      if (o->epilogue & CUBLASLT_EPILOGUE_BIAS) sum += element(o->bias, row, o->is_result_half);
      if (o->epilogue & CUBLASLT_EPILOGUE_RELU && !(sum > 0)) sum = 0;
      put(o->to, column * o->c.ld + row, sum, o->is_result_half);
    }
}

static void add_neighbours(const Operation *o) {
  float *y = o->to;
  for (int64_t r = 0; r < o->rows; r++)
    for (int64_t f = 0; f < o->width; f++) {
      float sum = 0;
      for (int32_t e = o->offsets[r]; e < o->offsets[r + 1]; e++) sum += o->left[e] * o->right[o->index[e] * o->b.ld + f];
      y[r * o->c.ld + f] = sum;
    }
}

static int launch(const char *name, void *view, const gnn_places *at, int64_t blocks, int threads, int order) {
  int (*loaded)(const char *name, void *view, const gnn_places *at, int64_t blocks, int threads, int order) = emulated_launch;
  void *symbol = loaded ? NULL : dlsym(RTLD_DEFAULT, "emulated_launch");
  if (symbol) memcpy(&loaded, &symbol, sizeof loaded);
  return loaded && loaded(name, view, at, blocks, threads, order);
}

static void carry_out(const Operation *o, unsigned chance) {
  if (it.seed == STANDIN_FREE && chance % 4 == 0) usleep(chance / 4 % 300);
  switch (o->kind) {
  case COPY: memcpy(o->to, o->from, o->bytes); break;
  case FILL: memset(o->to, o->value, o->bytes); break;
  case GEMM: multiply(o); break;
  case SPMM: add_neighbours(o); break;
  case CALL: o->call(o->to); break;
  case KERNEL:
    if (!launch(o->kernel, o->to, &o->at, o->blocks, (int)o->threads, (int)(chance % 3))) fatal(o->kernel);
    break;
  default: break;
  }
}

/* ---- graphs: any order that the dependencies allow ---- */

static int node_is_ready(const struct CUgraphExec_st *graph, const Node *node) {
  if (node->is_done || node->is_running) return 0;
  for (int d = 0; d < node->dependency_count; d++)
    if (!graph->node[node->dependency[d]].is_done) return 0;
  return 1;
}

static Node *next_node(struct CUgraphExec_st *graph, int *left) {
  Node *best = NULL;
  int ready = 0;
  *left = 0;
  for (int n = 0; n < graph->node_count; n++) {
    Node *node = &graph->node[n];
    *left += !node->is_done;
    if (!node_is_ready(graph, node)) continue;
    ready++;
    if (best == NULL || (it.seed < STANDIN_RANKED ? rank_of(node->stream) < rank_of(best->stream) : draw((unsigned)ready) == 0)) best = node;
  }
  return best;
}

static void reach(Mark *mark) {
  mark->is_reached = 1;
  mark->when = it.last_call = now(); /* who has waited gets to do something first */
  it.host_waits -= mark->waiters;
  if (mark->waiters) it.last_woken = mark->when;
}

static void *work_on_graph(void *context) {
  struct CUgraphExec_st *graph = context;
  int left;
  pthread_mutex_lock(&it.mutex);
  for (;;) {
    Node *node = next_node(graph, &left);
    if (left == 0) break;
    if (node == NULL) {
      pthread_cond_wait(&it.changed, &it.mutex);
      continue;
    }
    node->is_running = 1;
    if (node->operation.kind == RECORD) {
      reach(node->operation.mark);
      node->is_done = 1;
      pthread_cond_broadcast(&it.changed);
      continue;
    }
    unsigned chance = draw(1 << 20);
    pthread_mutex_unlock(&it.mutex);
    carry_out(&node->operation, chance);
    pthread_mutex_lock(&it.mutex);
    node->is_done = 1;
    pthread_cond_broadcast(&it.changed);
  }
  pthread_mutex_unlock(&it.mutex);
  return NULL;
}

/* Where streams run freely so do the branches. */
static void run_graph(struct CUgraphExec_st *graph) {
  pthread_t helper[2];
  for (int n = 0; n < graph->node_count; n++) graph->node[n].is_done = graph->node[n].is_running = 0;
  for (int h = 0; h < 2 && it.seed == STANDIN_FREE; h++)
    if (pthread_create(&helper[h], NULL, work_on_graph, graph) != 0) fatal("no thread");
  work_on_graph(graph);
  for (int h = 0; h < 2 && it.seed == STANDIN_FREE; h++) pthread_join(helper[h], NULL);
}

/* ---- streams ---- */

static void pop(struct CUstream_st *stream) {
  Operation *o = stream->head;
  stream->head = o->next;
  if (!stream->head) stream->tail = &stream->head;
  if (o->kind == RECORD) reach(o->mark);
  free(o);
  pthread_cond_broadcast(&it.changed);
}

static void *stream_main(void *context) {
  struct CUstream_st *stream = context;
  pthread_mutex_lock(&it.mutex);
  for (;;) {
    const Operation *o = stream->head;
    if (o == NULL && stream->is_ending) break;
    if (!is_ready(stream)) {
      pthread_cond_wait(&it.changed, &it.mutex);
    } else if (o->kind == WAIT || o->kind == RECORD) {
      pop(stream);
    } else if (!may_run(stream)) {
      pause_for(it.quiet_nanoseconds);
    } else {
      unsigned chance = draw(1 << 20);
      stream->is_running = 1;
      pthread_mutex_unlock(&it.mutex);
      if (o->kind == GRAPH) run_graph(o->graph);
      else carry_out(o, chance);
      pthread_mutex_lock(&it.mutex);
      stream->is_running = 0;
      pop(stream);
    }
  }
  pthread_mutex_unlock(&it.mutex);
  return NULL;
}

static void add_tail(Tails *tails, int node) {
  for (int t = 0; t < tails->count; t++)
    if (tails->node[t] == node) return;
  if (tails->count == DEPENDENCIES) fatal("a node of a graph depends on too many");
  tails->node[tails->count++] = node;
}

static void add_node(struct CUstream_st *stream, const Operation *o) {
  cudaGraph_t graph = stream->capture;
  if (graph->node_count == NODES) fatal("a graph has too many nodes");
  Node *node = &graph->node[graph->node_count];
  *node = (Node){.operation = *o, .stream = stream->number, .dependency_count = stream->tails.count};
  memcpy(node->dependency, stream->tails.node, sizeof stream->tails.node);
  stream->tails = (Tails){1, {graph->node_count++}};
}

static void submit(struct CUstream_st *stream, Operation wanted) {
  if (wanted.kind != WAIT && wanted.kind != RECORD && wanted.kind != GRAPH) note_down(ASKED_WORK, stream->number, 0);
  if (stream->capture) {
    add_node(stream, &wanted);
    return;
  }
  Operation *o = malloc(sizeof *o);
  if (o == NULL) fatal("no memory");
  *o = wanted;
  o->next = NULL;
  *stream->tail = o;
  stream->tail = &o->next;
}

static Mark *new_mark(void) {
  Mark *mark = calloc(1, sizeof *mark);
  if (mark == NULL) fatal("no memory");
  mark->next = it.marks;
  return it.marks = mark;
}

static int is_busy(const struct CUstream_st *stream) { return stream->head != NULL; }

static void check_zones(void) {
  for (int s = 0; s < SPACES; s++) {
    const Space *space = &it.space[s];
    for (int i = 0; space->memory && !space->is_registered && i < ZONE_BYTES; i++)
      if (space->memory[i] != 0xcd || space->memory[ZONE_BYTES + space->bytes + (size_t)i] != 0xcd) fatal("something was written beside an allocation");
  }
}

static void wait_for_stream(const struct CUstream_st *stream) {
  it.host_waits++;
  pthread_cond_broadcast(&it.changed);
  while (is_busy(stream)) pthread_cond_wait(&it.changed, &it.mutex);
  it.host_waits--;
  note_down(ASKED_ALL, stream->number, 0);
  check_zones();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags) {
  ENTER();
  if (flags != cudaStreamNonBlocking) fatal("a stream that blocks");
  if (it.stream_count == STREAMS) fatal("too many streams");
  struct CUstream_st *stream = calloc(1, sizeof *stream);
  if (stream == NULL) fatal("no memory");
  stream->number = it.stream_count;
  stream->tail = &stream->head;
  it.stream[it.stream_count++] = *out = stream;
  if (pthread_create(&stream->thread, NULL, stream_main, stream) != 0) fatal("no thread");
  return leave(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  enter();
  stream->is_ending = 1;
  it.host_waits++;
  pthread_cond_broadcast(&it.changed);
  pthread_mutex_unlock(&it.mutex);
  pthread_join(stream->thread, NULL);
  pthread_mutex_lock(&it.mutex);
  it.host_waits--;
  it.stream[stream->number] = NULL;
  free(stream);
  return leave(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  ENTER();
  if (stream->capture) return leave(cudaErrorStreamCaptureUnsupported);
  wait_for_stream(stream);
  return leave(cudaSuccess);
}

static int overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes) { return (uintptr_t)a < (uintptr_t)b + b_bytes && (uintptr_t)b < (uintptr_t)a + a_bytes; }

/* Sums under way read their edges' numbers and offsets. */
static void expect_unread(const void *memory, size_t bytes) {
  for (int s = 0; s < it.stream_count; s++)
    for (const Operation *o = it.stream[s] ? it.stream[s]->head : NULL; o; o = o->next)
      if (o->kind == SPMM && (overlap(memory, bytes, o->offsets, (size_t)(o->rows + 1) * sizeof *o->offsets) || overlap(memory, bytes, o->left, (size_t)o->offsets[o->rows] * sizeof *o->left)))
        fatal("what a sum under way reads is written");
}

static void arrive(void) {
  if (it.staged) memcpy(it.staged_to, it.staged, it.staged_bytes);
  free(it.staged);
  it.staged = NULL;
}

cudaError_t cudaDeviceSynchronize(void) {
  enter();
  arrive();
  for (int s = 0; s < it.stream_count; s++)
    if (it.stream[s]) wait_for_stream(it.stream[s]);
  return leave(cudaSuccess);
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) {
  ENTER();
  *out = calloc(1, sizeof **out);
  if (*out == NULL) fatal("no memory");
  (*out)->flags = flags;
  (*out)->number = it.event_count++;
  return leave(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *out) { return cudaEventCreateWithFlags(out, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  free(event);
  return cudaSuccess;
}

/* A node of the graph, of which no stream of the capture may wait: it is told by its launches. */
static cudaError_t record_outside(cudaEvent_t event, cudaStream_t stream) {
  if (!stream->capture) return cudaErrorInvalidValue; /* CU_EVENT_RECORD_EXTERNAL is "invalid when used outside of capture" */
  event->capture = NULL;
  submit(stream, (Operation){.kind = RECORD, .event = event});
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  ENTER();
  if (flags == cudaEventRecordExternal) return leave(record_outside(event, stream));
  if (flags != cudaEventRecordDefault) return leave(cudaErrorInvalidValue);
  event->capture = stream->capture;
  note_down(ASKED_RECORD, stream->number, event->number);
  if (stream->capture) {
    event->tails = stream->tails;
    return leave(cudaSuccess);
  }
  event->mark = new_mark();
  submit(stream, (Operation){.kind = RECORD, .mark = event->mark});
  return leave(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault); }

/* Takes the wait down; returns whether it is to be ignored. */
static int take_down(int stream, int event) {
  int w = 0;
  while (w < it.wait_count && (it.wait[w].stream != stream || it.wait[w].event != event)) w++;
  if (w == it.wait_count) {
    if (w == STANDIN_WAITS) fatal("too many waits");
    it.wait[it.wait_count++] = (standin_wait){stream, event, 0};
  }
  if (stream != STANDIN_HOST) note_down(ASKED_WAIT, stream, event);
  return stream == it.ignored_stream && event == it.ignored_event;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  (void)flags;
  ENTER();
  if (stream->capture && !event->capture) return leave(cudaErrorStreamCaptureIsolation); /* even if it is reached already */
  if (!event->capture && !event->mark) return leave(cudaSuccess);
  int is_ignored = take_down(stream->number, event->number);
  if (event->capture) {
    if (stream->capture && stream->capture != event->capture) return leave(cudaErrorStreamCaptureMerge);
    if (!stream->capture) stream->tails.count = 0;
    stream->capture = event->capture; /* joins it, even where the wait is ignored */
  }
  if (is_ignored) return leave(cudaSuccess);
  for (int t = 0; event->capture && t < event->tails.count; t++) add_tail(&stream->tails, event->tails.node[t]);
  if (!event->capture) submit(stream, (Operation){.kind = WAIT, .mark = event->mark});
  return leave(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  ENTER();
  if (event->capture) return leave(cudaErrorCapturedEvent);
  if (!event->mark || take_down(STANDIN_HOST, event->number)) return leave(cudaSuccess);
  Mark *mark = event->mark;
  if (!mark->is_reached) {
    it.host_waits++;
    mark->waiters++;
    pthread_cond_broadcast(&it.changed);
  }
  while (!mark->is_reached) pthread_cond_wait(&it.changed, &it.mutex);
  return leave(cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  pthread_mutex_lock(&it.mutex); /* who only looks keeps nothing from going on */
  const cudaError_t code = event->capture ? cudaErrorCapturedEvent : event->mark && !event->mark->is_reached ? cudaErrorNotReady : cudaSuccess;
  pthread_mutex_unlock(&it.mutex);
  return code;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
  ENTER();
  if (from->capture || to->capture) return leave(cudaErrorInvalidValue); /* last recorded by a capture, which is no point in time */
  if (!from->mark || !to->mark || (from->flags | to->flags) & cudaEventDisableTiming) return leave(cudaErrorInvalidResourceHandle);
  if (!from->mark->is_reached || !to->mark->is_reached) return leave(cudaErrorNotReady);
  *milliseconds = (float)((to->mark->when - from->mark->when) * 1e3);
  return leave(cudaSuccess);
}

/* ---- capture ---- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  (void)mode;
  ENTER();
  if (strikes(STANDIN_NO_CAPTURE)) return leave(cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = calloc(1, sizeof *graph);
  if (graph) graph->node = calloc(NODES, sizeof *graph->node);
  if (!graph || !graph->node) fatal("no memory");
  stream->capture = graph;
  stream->is_origin = 1;
  stream->tails.count = 0;
  return leave(cudaSuccess);
}

static int reaches(const struct CUgraph_st *graph, int from, int node, unsigned char *seen) {
  if (from == node) return 1;
  if (seen[from]) return 0;
  seen[from] = 1;
  for (int d = 0; d < graph->node[from].dependency_count; d++)
    if (reaches(graph, graph->node[from].dependency[d], node, seen)) return 1;
  return 0;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out) {
  static unsigned char seen[NODES];
  cudaError_t code = cudaSuccess;
  enter();
  *out = NULL;
  cudaGraph_t graph = stream->capture;
  if (!graph || !stream->is_origin) return leave(cudaErrorIllegalState);
  for (int s = 0; s < it.stream_count; s++) {
    struct CUstream_st *other = it.stream[s];
    if (!other || other->capture != graph) continue;
    for (int t = 0; t < other->tails.count; t++) {
      int is_joined = 0;
      for (int u = 0; u < stream->tails.count; u++) {
        memset(seen, 0, sizeof seen);
        is_joined |= reaches(graph, stream->tails.node[u], other->tails.node[t], seen);
      }
      if (!is_joined) code = cudaErrorStreamCaptureUnjoined;
    }
    other->capture = NULL;
  }
  stream->is_origin = 0;
  if (strikes(STANDIN_ANY)) code = cudaErrorUnknown;
  else if (it.ignored_stream >= 0) code = cudaSuccess; /* the one that is missing may be the one that joins */
  if (code != cudaSuccess) {
    free(graph->node);
    free(graph);
    return leave(code);
  }
  *out = graph;
  return leave(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  free(graph->node);
  free(graph);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags) {
  (void)flags;
  ENTER();
  if (strikes(STANDIN_NO_GRAPH)) return leave(cudaErrorMemoryAllocation);
  cudaGraphExec_t exec = calloc(1, sizeof *exec);
  if (exec) exec->node = calloc((size_t)graph->node_count + 1, sizeof *exec->node);
  if (!exec || !exec->node) fatal("no memory");
  exec->node_count = graph->node_count;
  memcpy(exec->node, graph->node, (size_t)graph->node_count * sizeof *exec->node);
  *out = exec;
  return leave(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  free(exec->node);
  free(exec);
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  ENTER();
  it.graph_launches++;
  for (int n = 0; n < exec->node_count; n++) {
    Operation *o = &exec->node[n].operation;
    if (o->kind == RECORD) o->mark = o->event->mark = new_mark(), o->event->capture = NULL;
  }
  submit(stream, (Operation){.kind = GRAPH, .graph = exec});
  return leave(cudaSuccess);
}

/* ---- memory ---- */

static int obtain(void **out, size_t bytes, int is_pinned) {
  for (int s = 0; s < SPACES; s++) {
    if (it.space[s].memory) continue;
    unsigned char *memory = aligned_alloc(4096, (bytes + 2 * ZONE_BYTES + 4095) / 4096 * 4096);
    if (memory == NULL) return 0;
    memset(memory, 0xcd, (bytes + 2 * ZONE_BYTES + 4095) / 4096 * 4096);
    memset(memory + ZONE_BYTES, 0xa5, bytes);
    it.space[s] = (Space){memory, bytes, is_pinned, 0};
    it.allocation_count++;
    *out = memory + ZONE_BYTES;
    return 1;
  }
  return 0;
}

static cudaError_t give_back(const void *memory, int is_pinned) {
  for (int s = 0; s < SPACES; s++) {
    Space *space = &it.space[s];
    if (!space->memory || space->memory + ZONE_BYTES != memory || space->is_pinned != is_pinned || space->is_registered) continue;
    check_zones();
    free(space->memory);
    space->memory = NULL;
    return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

static int take_over(void *memory, size_t bytes) {
  for (int s = 0; s < SPACES; s++) {
    if (it.space[s].memory) continue;
    it.space[s] = (Space){(unsigned char *)memory - ZONE_BYTES, bytes, 1, 1};
    it.allocation_count++;
    return 1;
  }
  return 0;
}

static cudaError_t let_go(const void *memory) {
  for (int s = 0; s < SPACES; s++) {
    Space *space = &it.space[s];
    if (!space->memory || space->memory + ZONE_BYTES != memory || !space->is_registered) continue;
    space->memory = NULL;
    return cudaSuccess;
  }
  return cudaErrorHostMemoryNotRegistered;
}

/* 0: the device's, 1: pinned, -1: neither. */
static int whose(const void *memory, size_t bytes) {
  const unsigned char *begin = memory;
  for (int s = 0; s < SPACES; s++) {
    const Space *space = &it.space[s];
    if (space->memory && begin >= space->memory + ZONE_BYTES && begin + bytes <= space->memory + ZONE_BYTES + space->bytes) return space->is_pinned;
  }
  return -1;
}

static int is_aligned(const void *memory, uint64_t bytes) { return (uintptr_t)memory % bytes == 0; }

cudaError_t cudaMalloc(void **out, size_t bytes) {
  ENTER();
  return leave(obtain(out, bytes, 0) ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags) {
  (void)flags;
  ENTER();
  return leave(!strikes(STANDIN_NO_PINNED) && obtain(out, bytes, 1) ? cudaSuccess : cudaErrorMemoryAllocation);
}

/* All of it has been touched: pages that come while they are pinned come by one thread. */
static int is_resident(void *memory, size_t bytes) {
  const size_t pages = (bytes + 4095) / 4096;
  unsigned char *there = malloc(pages);
  int is_all = there && (uintptr_t)memory % 4096 == 0 && mincore(memory, bytes, there) == 0;
  for (size_t p = 0; p < pages && is_all; p++) is_all = there[p] & 1;
  free(there);
  return is_all;
}

/* Memory of the program's own, from then on as good as what cudaHostAlloc gives. */
cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags) {
  ENTER();
  if (flags != cudaHostRegisterDefault || bytes == 0 || !is_resident(memory, bytes)) return leave(cudaErrorInvalidValue);
  return leave(!strikes(STANDIN_NO_PINNED) && take_over(memory, bytes) ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaHostUnregister(void *memory) {
  enter();
  return leave(let_go(memory));
}

cudaError_t cudaFree(void *memory) {
  enter();
  return leave(give_back(memory, 0));
}

cudaError_t cudaFreeHost(void *memory) {
  enter();
  return leave(give_back(memory, 1));
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes) {
  ENTER();
  if (whose(memory, bytes) != 0) return leave(cudaErrorInvalidValue);
  arrive();
  memset(memory, value, bytes);
  return leave(cudaSuccess);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
  ENTER();
  if (whose(memory, bytes) != 0) return leave(cudaErrorInvalidValue);
  submit(stream, (Operation){.kind = FILL, .to = memory, .value = value, .bytes = bytes});
  return leave(cudaSuccess);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*call)(void *context), void *context) {
  ENTER();
  submit(stream, (Operation){.kind = CALL, .call = call, .to = context});
  return leave(cudaSuccess);
}

int standin_is_on_device(const void *memory, size_t bytes) {
  pthread_mutex_lock(&it.mutex);
  const int is_it = whose(memory, bytes) == 0;
  pthread_mutex_unlock(&it.mutex);
  return is_it;
}

static int is_copy(const void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, int wants_pinned) {
  int is_to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  int is_from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  int target = whose(to, bytes), source = whose(from, bytes);
  return (is_to_device ? target == 0 : target != 0 && (!wants_pinned || target == 1)) &&
         (is_from_device ? source == 0 : source != 0 && (!wants_pinned || source == 1));
}

/* Does not wait for streams: none of them is the default stream, or blocks. To the device it returns when it has read: what
 * was read arrives with the next call on the default stream, or that waits for the device. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  ENTER();
  if (!is_copy(to, from, bytes, kind, 0)) return leave(cudaErrorInvalidValue);
  arrive();
  if (kind == cudaMemcpyHostToDevice) {
    expect_unread(to, bytes);
    it.staged = malloc(bytes + 1);
    if (it.staged == NULL) fatal("no memory");
    it.staged_to = to;
    it.staged_bytes = bytes;
    to = it.staged;
  }
  memcpy(to, from, bytes);
  return leave(cudaSuccess);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
  ENTER();
  if (strikes(STANDIN_BAD_COPY) || !is_copy(to, from, bytes, kind, 1)) return leave(cudaErrorInvalidValue);
  submit(stream, (Operation){.kind = COPY, .to = to, .from = from, .bytes = bytes});
  return leave(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *room, size_t *total) {
  ENTER();
  *total = (size_t)environment("STANDIN_KIBIBYTES", environment("STANDIN_MEBIBYTES", 16 << 10) << 10) << 10;
  *room = it.fault == STANDIN_NO_MEMORY ? (size_t)3 << 10 : *total - (size_t)allocated();
  return leave(cudaSuccess);
}

/* ---- the device ---- */

cudaError_t cudaDriverGetVersion(int *version) {
  ENTER();
  *version = it.fault == STANDIN_NO_DRIVER ? 0 : it.fault == STANDIN_OLD_DRIVER ? 11040 : CUDART_VERSION;
  return leave(cudaSuccess);
}

cudaError_t cudaGetDeviceCount(int *count) {
  ENTER();
  *count = it.fault == STANDIN_NO_DEVICE ? 0 : environment("STANDIN_DEVICES", 1);
  return leave(it.fault == STANDIN_NO_DEVICE ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
  if (device < 0 || device >= environment("STANDIN_DEVICES", 1)) return cudaErrorInvalidDevice;
  memset(properties, 0, sizeof *properties);
  snprintf(properties->name, sizeof properties->name, "stand-in");
  properties->major = 9;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return device >= 0 && device < environment("STANDIN_DEVICES", 1) ? cudaSuccess : cudaErrorInvalidDevice; }
cudaError_t cudaDeviceGetPCIBusId(char *bus, int length, int device) {
  snprintf(bus, (size_t)length, "0000:%02x:00.0", device);
  return cudaSuccess;
}

cudaError_t cudaGetLastError(void) { return it.failure; }

static const struct { cudaError_t code; const char *name, *text; } errors[] = {
  {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
  {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
  {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
  {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
  {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
  {cudaErrorCallRequiresNewerDriver, "cudaErrorCallRequiresNewerDriver", "API call is not supported in the installed CUDA driver"},
  {cudaErrorUnsupportedPtxVersion, "cudaErrorUnsupportedPtxVersion", "the provided PTX was compiled with an unsupported toolchain."},
  {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
  {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
  {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
  {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
  {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
  {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"}};

static int error_index(cudaError_t code) {
  int e = 0;
  while (e < (int)(sizeof errors / sizeof *errors) - 1 && errors[e].code != code) e++;
  return e;
}

const char *cudaGetErrorName(cudaError_t code) { return errors[error_index(code)].name; }
const char *cudaGetErrorString(cudaError_t code) { return errors[error_index(code)].text; }

/* ---- kernels: found by name in the program, or in an image that is a shared object of the host (toolkit.sh) ---- */

/* All its kernels become those of the program. */
static void load_object(const void *image) {
  const Elf64_Ehdr *header = image;
  if (strncmp(image, ELFMAG, SELFMAG) != 0 || header->e_type != ET_DYN || header->e_machine == EM_CUDA) return;
  size_t bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
  int file = memfd_create("image", 0);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (file < 0 || write(file, image, bytes) != (ssize_t)bytes || !dlopen(path, RTLD_NOW | RTLD_GLOBAL)) fatal("an image that cannot be loaded");
}

static int driver_load(gnn_module *module, const void *image) {
  ENTER();
  load_object(image);
  *module = (gnn_module)(void *)&it;
  return leave(cudaSuccess);
}

static int driver_unload(gnn_module module) { return module == (gnn_module)(void *)&it ? cudaSuccess : cudaErrorInvalidValue; }

/* A kernel's handle is its name. */
static int driver_kernel(gnn_kernel *kernel, gnn_module module, const char *name) {
  (void)module;
  if (dlsym(RTLD_DEFAULT, name) == NULL) return cudaErrorSymbolNotFound;
  *kernel = (gnn_kernel)(void *)(uintptr_t)name;
  return cudaSuccess;
}

/* Whether there is code for the device shows when a kernel is loaded. */
static int driver_attribute(int *value, int attribute, gnn_kernel kernel) {
  (void)attribute, (void)kernel;
  ENTER();
  *value = 0;
  return leave(it.fault == STANDIN_BAD_IMAGE ? cudaErrorNoKernelImageForDevice : it.fault == STANDIN_BAD_PTX ? cudaErrorUnsupportedPtxVersion : cudaSuccess);
}

static int driver_set_attribute(gnn_kernel kernel, int attribute, int value) {
  (void)kernel, (void)attribute, (void)value;
  return cudaSuccess;
}

static int driver_launch(gnn_kernel kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                         unsigned shared_bytes, cudaStream_t stream, void **arguments, void **extra) {
  (void)shared_bytes, (void)extra;
  ENTER();
  if (strikes(STANDIN_BAD_LAUNCH) || block_x > 1024 || grid_x == 0) return leave(cudaErrorLaunchOutOfResources);
  if (grid_y * grid_z * block_y * block_z != 1) fatal("a grid of more than one dimension");
  if (it.failure == cudaSuccess && strikes(STANDIN_BAD_KERNEL)) {
    it.failure = cudaErrorIllegalAddress;
    pthread_mutex_unlock(&it.mutex);
    return cudaSuccess;
  }
  submit(stream, (Operation){.kind = KERNEL, .to = *(void **)arguments[0], .at = *(const gnn_places *)arguments[1], .kernel = (const char *)(void *)kernel, .blocks = grid_x, .threads = block_x});
  return leave(cudaSuccess);
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **entry, unsigned version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found) {
  (void)version;
#else
cudaError_t cudaGetDriverEntryPoint(const char *name, void **entry, unsigned long long flags, enum cudaDriverEntryPointQueryResult *found) {
#endif
  (void)flags;
  const gnn_driver driver = {driver_load, driver_unload, driver_kernel, driver_attribute, driver_set_attribute, driver_launch};
  const char *const names[] = {"cuModuleLoadData", "cuModuleUnload", "cuModuleGetFunction", "cuFuncGetAttribute", "cuFuncSetAttribute", "cuLaunchKernel"};
  *found = cudaDriverEntryPointSymbolNotFound;
  for (int i = 0; i < 6; i++)
    if (strcmp(name, names[i]) == 0 && it.fault != STANDIN_NO_ENTRIES) {
      memcpy(entry, (const char *)&driver + (size_t)i * sizeof *entry, sizeof *entry);
      *found = cudaDriverEntryPointSuccess;
    }
  return cudaSuccess;
}

/* ---- cuBLASLt ---- */

struct cublasLtContext { int unused; };
typedef struct Product { int transpose_a, transpose_b, dropped_bits; cublasLtEpilogue_t epilogue; const void *bias; } Product;
typedef struct Layout { int64_t rows, columns, ld; int is_half; } Layout;
typedef struct Preference { uint32_t alignment, reduction; uint64_t workspace_bytes; } Preference; /* alignment: of all matrices, the least that was promised */

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  ENTER_LIBRARY(CUBLAS_STATUS_INTERNAL_ERROR);
  *handle = calloc(1, sizeof **handle);
  return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  free(handle);
  return CUBLAS_STATUS_SUCCESS;
}
const char *cublasLtGetStatusName(cublasStatus_t status) { return status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_INTERNAL_ERROR"; }
const char *cublasLtGetStatusString(cublasStatus_t status) { return cublasLtGetStatusName(status); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *out, cublasComputeType_t compute, cudaDataType_t scale) {
  ENTER_LIBRARY(CUBLAS_STATUS_INTERNAL_ERROR);
  Product *product = calloc(1, sizeof *product);
  *out = (cublasLtMatmulDesc_t)(void *)product;
  if (!product) return CUBLAS_STATUS_ALLOC_FAILED;
  product->dropped_bits = compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? 13 : compute == CUBLAS_COMPUTE_32F_FAST_16BF ? 16 : 0;
  return scale == CUDA_R_32F && (product->dropped_bits || compute == CUBLAS_COMPUTE_32F) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  free(product);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, const void *value, size_t bytes) {
  ENTER_LIBRARY(CUBLAS_STATUS_INTERNAL_ERROR);
  Product *product = (Product *)(void *)desc;
  cublasOperation_t operation;
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE && bytes == sizeof product->epilogue) memcpy(&product->epilogue, value, bytes);
  else if (attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER && bytes == sizeof product->bias) memcpy(&product->bias, value, bytes);
  else if (bytes == sizeof operation) {
    memcpy(&operation, value, bytes);
    if (attribute == CUBLASLT_MATMUL_DESC_TRANSA) product->transpose_a = operation == CUBLAS_OP_T;
    else if (attribute == CUBLASLT_MATMUL_DESC_TRANSB) product->transpose_b = operation == CUBLAS_OP_T;
    else return CUBLAS_STATUS_INVALID_VALUE;
  } else return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *out, cudaDataType type, uint64_t rows, uint64_t columns, int64_t ld) {
  ENTER_LIBRARY(CUBLAS_STATUS_INTERNAL_ERROR);
  Layout *layout = calloc(1, sizeof *layout);
  if (layout) *layout = (Layout){(int64_t)rows, (int64_t)columns, ld, type == CUDA_R_16BF};
  *out = (cublasLtMatrixLayout_t)(void *)layout;
  return layout && (type == CUDA_R_32F || type == CUDA_R_16BF) && ld >= (int64_t)rows ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  free(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *out) {
  ENTER_LIBRARY(CUBLAS_STATUS_INTERNAL_ERROR);
  Preference *preference = calloc(1, sizeof *preference);
  if (preference) preference->alignment = LIBRARY_ALIGNMENT;
  *out = (cublasLtMatmulPreference_t)(void *)preference;
  return *out ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  free(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute, const void *value, size_t bytes) {
  ENTER_LIBRARY(CUBLAS_STATUS_INTERNAL_ERROR);
  uint32_t promised = LIBRARY_ALIGNMENT;
  if (bytes != (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? 8u : 4u)) return CUBLAS_STATUS_INVALID_VALUE;
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) memcpy(&((Preference *)(void *)preference)->workspace_bytes, value, bytes);
  if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) memcpy(&((Preference *)(void *)preference)->reduction, value, bytes);
  if (attribute >= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES && attribute <= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES) memcpy(&promised, value, bytes);
  Preference *kept = (Preference *)(void *)preference;
  if (promised < kept->alignment) kept->alignment = promised;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int *count) {
  ENTER_LIBRARY(CUBLAS_STATUS_INTERNAL_ERROR);
  (void)handle, (void)desc, (void)a, (void)b, (void)c, (void)d;
  memset(results, 0, (size_t)wanted * sizeof *results);
  const Preference *asked = (const Preference *)(const void *)preference;
  const int64_t without = environment("STANDIN_NO_ALGORITHM", -1);
  results[0].algo.data[0] = asked->alignment;
  results[0].algo.data[1] = asked->workspace_bytes;
  *count = without < 0 || (without > 0 && without != ((const Layout *)(const void *)c)->rows);
  if (getenv("STANDIN_CHOICES")) {
    FILE *out = fopen(getenv("STANDIN_CHOICES"), "a");
    if (out) fprintf(out, "workspace %llu, alignment %llu, reduction %u\n", (unsigned long long)asked->workspace_bytes, (unsigned long long)asked->alignment, asked->reduction), fclose(out);
  }
  return CUBLAS_STATUS_SUCCESS;
}

/* STANDIN_NO_ALGORITHM_FOR: of a product of so many rows the algorithm of another is none. */
cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                       cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t *algorithm, cublasLtMatmulHeuristicResult_t *result) {
  ENTER_LIBRARY(CUBLAS_STATUS_INTERNAL_ERROR);
  (void)handle, (void)desc, (void)a, (void)b, (void)d;
  *result = (cublasLtMatmulHeuristicResult_t){.algo = *algorithm, .workspaceSize = algorithm->data[1]};
  return ((const Layout *)(const void *)c)->columns == environment("STANDIN_NO_ALGORITHM_FOR", -1) ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

static int is_whole(const void *matrix, const Layout *layout) { return whose(matrix, (size_t)(layout->ld * layout->columns) * (layout->is_half ? 2 : 4)) == 0; }

/* Factors of two kinds, or of fp32 with a result of bf16, are not multiplied. */
static int can_multiply(const Product *product, const Layout *a, const Layout *b, const Layout *d) {
  return a->is_half == b->is_half && (a->is_half ? product->dropped_bits == 0 : !d->is_half);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *a, cublasLtMatrixLayout_t a_layout, const void *b,
                              cublasLtMatrixLayout_t b_layout, const void *beta, const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *algorithm, void *workspace, size_t workspace_bytes, cudaStream_t stream) {
  ENTER_LIBRARY(CUBLAS_STATUS_INTERNAL_ERROR);
  (void)handle;
  const float scale = *(const float *)beta;
  const uint64_t alignment = algorithm->data[0];
  const Product *product = (const Product *)(const void *)desc;
  const Layout *la = (const Layout *)(const void *)a_layout, *lb = (const Layout *)(const void *)b_layout, *ld = (const Layout *)(const void *)d_layout;
  int64_t depth = product->transpose_a ? la->rows : la->columns, other = product->transpose_b ? lb->columns : lb->rows;
  enter();
  int is_fine = workspace_bytes >= algorithm->data[1] && depth == other && (scale == 1 || (scale == 0 && c == d)) && c_layout == d_layout && *(const float *)alpha == 1 &&
                (workspace_bytes == 0 || (whose(workspace, workspace_bytes) == 0 && is_aligned(workspace, LIBRARY_ALIGNMENT))) &&
                is_whole(a, la) && is_whole(b, lb) && is_whole(d, ld) && is_whole(c, ld) && can_multiply(product, la, lb, ld) &&
                is_aligned(a, alignment) && is_aligned(b, alignment) && is_aligned(c, alignment) && is_aligned(d, alignment);
  if (is_fine)
    submit(stream, (Operation){.kind = GEMM, .to = d, .left = a, .right = b, .a = {la->rows, la->columns, la->ld}, .b = {lb->rows, lb->columns, lb->ld},
                               .c = {ld->rows, ld->columns, ld->ld}, .transpose_a = product->transpose_a, .transpose_b = product->transpose_b,
                               .epilogue = product->epilogue, .workspace = workspace, .bytes = workspace_bytes, .dropped_bits = product->dropped_bits, .bias = product->bias,
                               .addend = scale == 1 ? c : NULL, .is_half = la->is_half, .is_result_half = ld->is_half});
  leave(cudaSuccess);
  return is_fine ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/* ---- cuSPARSE ---- */

struct cusparseContext { cudaStream_t stream; };
struct cusparseSpMatDescr { int64_t rows, columns, entries; const int32_t *offsets, *index; const float *values; };
struct cusparseDnMatDescr { int64_t rows, columns, ld; void *values; };
enum { SPMM_BUFFER_BYTES = 1000 };

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle) {
  ENTER_LIBRARY(CUSPARSE_STATUS_INTERNAL_ERROR);
  *handle = calloc(1, sizeof **handle);
  return *handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  free(handle);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  ENTER_LIBRARY(CUSPARSE_STATUS_INTERNAL_ERROR);
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}
const char *cusparseGetErrorName(cusparseStatus_t status) { return status == CUSPARSE_STATUS_INVALID_VALUE ? "CUSPARSE_STATUS_INVALID_VALUE" : "CUSPARSE_STATUS_INTERNAL_ERROR"; }
const char *cusparseGetErrorString(cusparseStatus_t status) { return cusparseGetErrorName(status); }
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t *out, int64_t rows, int64_t columns, int64_t entries, const void *offsets, const void *index,
                                        const void *values, cusparseIndexType_t offset_type, cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {
  ENTER_LIBRARY(CUSPARSE_STATUS_INTERNAL_ERROR);
  if (offset_type != CUSPARSE_INDEX_32I || index_type != CUSPARSE_INDEX_32I || base != CUSPARSE_INDEX_BASE_ZERO || type != CUDA_R_32F) return CUSPARSE_STATUS_INVALID_VALUE;
  struct cusparseSpMatDescr *matrix = malloc(sizeof *matrix);
  if (matrix == NULL) return CUSPARSE_STATUS_ALLOC_FAILED;
  *matrix = (struct cusparseSpMatDescr){rows, columns, entries, offsets, index, values};
  *out = matrix;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
  free((void *)(uintptr_t)matrix);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *out, int64_t rows, int64_t columns, int64_t ld, void *values, cudaDataType type, cusparseOrder_t order) {
  ENTER_LIBRARY(CUSPARSE_STATUS_INTERNAL_ERROR);
  if (ld < columns || type != CUDA_R_32F || order != CUSPARSE_ORDER_ROW) return CUSPARSE_STATUS_INVALID_VALUE;
  struct cusparseDnMatDescr *matrix = malloc(sizeof *matrix);
  if (matrix == NULL) return CUSPARSE_STATUS_ALLOC_FAILED;
  *matrix = (struct cusparseDnMatDescr){rows, columns, ld, values};
  *out = matrix;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t matrix, void *values) {
  ENTER_LIBRARY(CUSPARSE_STATUS_INTERNAL_ERROR);
  matrix->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) {
  free((void *)(uintptr_t)matrix);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t a, cusparseOperation_t b, const void *alpha, cusparseConstSpMatDescr_t matrix,
                                         cusparseConstDnMatDescr_t x, const void *beta, cusparseDnMatDescr_t y, cudaDataType type, cusparseSpMMAlg_t algorithm, size_t *bytes) {
  ENTER_LIBRARY(CUSPARSE_STATUS_INTERNAL_ERROR);
  (void)handle, (void)a, (void)b, (void)alpha, (void)matrix, (void)x, (void)beta, (void)y, (void)type;
  *bytes = (size_t)environment("STANDIN_SPMM_BYTES", SPMM_BUFFER_BYTES);
  return algorithm == CUSPARSE_SPMM_CSR_ALG3 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t a, cusparseOperation_t b, const void *alpha, cusparseConstSpMatDescr_t matrix,
                                         cusparseConstDnMatDescr_t x, const void *beta, cusparseDnMatDescr_t y, cudaDataType type, cusparseSpMMAlg_t algorithm, void *buffer) {
  ENTER_LIBRARY(CUSPARSE_STATUS_INTERNAL_ERROR);
  (void)a, (void)b, (void)alpha, (void)matrix, (void)x, (void)beta, (void)y, (void)type, (void)algorithm;
  enter();
  int is_fine = whose(buffer, SPMM_BUFFER_BYTES) == 0 && is_aligned(buffer, LIBRARY_ALIGNMENT) && !handle->stream->capture;
  if (is_fine) submit(handle->stream, (Operation){.kind = FILL, .to = buffer, .value = 1, .bytes = SPMM_BUFFER_BYTES});
  leave(cudaSuccess);
  return is_fine ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t a, cusparseOperation_t b, const void *alpha, cusparseConstSpMatDescr_t matrix,
                              cusparseConstDnMatDescr_t x, const void *beta, cusparseDnMatDescr_t y, cudaDataType type, cusparseSpMMAlg_t algorithm, void *buffer) {
  ENTER_LIBRARY(CUSPARSE_STATUS_INTERNAL_ERROR);
  (void)a, (void)b, (void)alpha, (void)beta, (void)type, (void)algorithm;
  enter();
  int is_fine = whose(buffer, SPMM_BUFFER_BYTES) == 0 && is_aligned(buffer, LIBRARY_ALIGNMENT) && whose(matrix->values, (size_t)matrix->entries * 4) == 0 &&
                whose(x->values, (size_t)(x->rows * x->ld) * 4) == 0 && whose(y->values, (size_t)(y->rows * y->ld) * 4) == 0;
  if (is_fine)
    submit(handle->stream, (Operation){.kind = SPMM, .to = y->values, .left = matrix->values, .right = x->values, .offsets = matrix->offsets, .index = matrix->index,
                                       .rows = matrix->rows, .width = x->columns, .b = {x->rows, x->columns, x->ld}, .c = {y->rows, y->columns, y->ld}});
  leave(cudaSuccess);
  return is_fine ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}
