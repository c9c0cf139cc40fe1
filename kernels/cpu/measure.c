/* measure.c: how fast this machine runs the kernels, moves bytes and reads and writes files; for gnncc --calibrate.
 *
 *   measure DIRECTORY         a file of half a GiB is made there and removed
 *   measure DIRECTORY host    only what a host is to its GPU: its memory and the file
 *
 * One line a rate: its name and its numbers in bytes, seconds and operations, as docs/calibration.md defines them. Loops
 * are those of emitted programs: run by the team over rows, with a function called for each finished row.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime/gnnrt.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../runtime/core/scratch.h"
#include "../rate_lines.h"

enum { ROUNDS = 5, MOST_ROUNDS = 25, SIZES = 8, WIDTHS = 3, COLUMNS = 64, DEGREE = 16, EDGES = 400000, DEPTH = 128, DENSE_ROWS = 20000 };

#define KIB ((int64_t)1 << 10)
#define MIB ((int64_t)1 << 20)
static const int64_t sizes[SIZES] = {256 * KIB, MIB, 2 * MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB};

static gnn_team *team;
static unsigned char *memory; /* as large as the last of the sizes that are measured */
static int size_count = SIZES;

/* ---- time and memory ---- */

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef void run_fn(void *job);

static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int tries, disturbed; /* of all measurements; disturbed when other programs had some of the processors meanwhile */

/* Seconds of a run, short ones repeated to take two milliseconds: the second best of ROUNDS tries that were not
 * disturbed, or of all if there are too few. */
static double seconds_of(run_fn *run, void *job) {
  double times[MOST_ROUNDS];
  run(job);
  double start = seconds_now();
  run(job);
  const double once = seconds_now() - start;
  const int repeats = once > 2e-3 ? 1 : (int)(2e-3 / (once + 1e-8)) + 1;
  int count = 0, clean = 0;
  for (; count < MOST_ROUNDS && clean < ROUNDS; count++) {
    start = seconds_now();
    const double cpu = cpu_now();
    for (int k = 0; k < repeats; k++) run(job);
    const double wall = seconds_now() - start;
    times[count] = wall / repeats;
    clean += cpu_now() - cpu > 0.85 * wall * gnn_team_threads(team);
  }
  tries += count;
  disturbed += count - clean;
  qsort(times, (size_t)count, sizeof *times, compare_doubles);
  return times[1];
}

static void fail(const char *what) {
  fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void *memory_new(int64_t bytes) {
  const int64_t huge = (int64_t)2 << 20;
  unsigned char *at = mmap(NULL, (size_t)(bytes + huge), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) fail("memory");
  at += (huge - (int64_t)((uintptr_t)at % (uintptr_t)huge)) % huge;
  madvise(at, (size_t)bytes, MADV_HUGEPAGE);
  return at;
}

static void fill_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  gnn_real *x = (gnn_real *)(uintptr_t)context;
  (void)task;
  for (int64_t i = begin; i < end; i++) x[i] = (gnn_real)(i % 13) * (gnn_real)0.125 - (gnn_real)0.5;
}

static gnn_real *reals_new(int64_t count) {
  gnn_real *x = memory_new(count * (int64_t)sizeof *x);
  gnn_parallel(team, count, 1 << 18, fill_task, x);
  return x;
}

/* ---- starting a step ---- */

static void empty_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  (void)context, (void)begin, (void)end, (void)task;
}

static void empty_run(void *job) {
  (void)job;
  gnn_parallel(team, 64, 1, empty_task, NULL);
}

/* ---- elements ---- */

typedef struct Elements {
  gnn_real *x, *y, *m, *v;
  int64_t rows;
  gnn_dropout drop;
} Elements;

#define DEFINE_ELEMENTS(name, expression)                                                        \
  static void name##_task(const void *context, int64_t begin, int64_t end, int64_t task) {       \
    const Elements *e = context;                                                                 \
    const gnn_dropout drop = e->drop;                                                            \
    (void)task;                                                                                  \
    for (int64_t r = begin; r < end; r++) {                                                      \
      const gnn_real *restrict from = e->x + r * COLUMNS;                                        \
      gnn_real *restrict to = e->y + r * COLUMNS;                                                \
      const gnn_row_bits bits = gnn_random_row(drop.key, (uint64_t)r);                           \
      (void)bits;                                                                                \
      for (int j = 0; j < COLUMNS; j++) {                                                        \
        const gnn_real x = from[j];                                                              \
        to[j] = (expression);                                                                    \
      }                                                                                          \
    }                                                                                            \
  }                                                                                              \
  static void name##_run(void *job) {                                                            \
    Elements *e = job;                                                                           \
    gnn_parallel(team, e->rows, 256, name##_task, e);                                            \
  }
DEFINE_ELEMENTS(relu, x > 0 ? x : 0)
DEFINE_ELEMENTS(dropout, x * gnn_dropout_factor(&drop, bits, (uint32_t)j))
DEFINE_ELEMENTS(exp, gnn_exp(x))

static void update_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  const Elements *e = context;
  (void)task;
  gnn_adam(e->y, e->x, GNN_UNCLIPPED, e->m, e->v, 1e-3, 0.9, 0.999, 1e-8, 5e-4, 10, begin, end);
}

static void update_run(void *job) {
  Elements *e = job;
  gnn_parallel(team, e->rows * COLUMNS, 4096, update_task, e);
}

static double measure_elements(void) {
  const int64_t rows = 1024, count = rows * COLUMNS;
  Elements e = {.rows = rows, .drop = gnn_dropout_make(1, 1, 0, 0.5), .x = reals_new(count), .y = reals_new(count),
                .m = reals_new(count), .v = reals_new(count)};
  const double element = seconds_of(relu_run, &e) / (double)count;
  print_rate("element", element);
  print_rate("random", beyond(seconds_of(dropout_run, &e) / (double)count, element));
  print_rate("exp", beyond(seconds_of(exp_run, &e) / (double)count, element));
  for (int64_t i = 0; i < count; i++) e.v[i] = e.v[i] * e.v[i];
  print_rate("update", seconds_of(update_run, &e) / (double)count);
  return element;
}

/* What one thread wrote another reads: rows from the other half. */
static void exchange_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  const Elements *e = context;
  (void)task;
  for (int64_t r = begin; r < end; r++) {
    const gnn_real *restrict from = e->x + (r + e->rows / 2) % e->rows * COLUMNS;
    gnn_real *restrict to = e->y + r * COLUMNS;
    for (int j = 0; j < COLUMNS; j++) to[j] = from[j] > 0 ? from[j] : 0;
  }
}

static void exchange_run(void *job) {
  const Elements *e = job;
  const Elements back = {.x = e->y, .y = e->x, .rows = e->rows};
  gnn_parallel(team, e->rows, 64, exchange_task, e);
  gnn_parallel(team, e->rows, 64, exchange_task, &back);
}

static void measure_exchange(double element) {
  const int64_t rows = 2048, count = rows * COLUMNS;
  Elements e = {.rows = rows, .x = (gnn_real *)memory, .y = (gnn_real *)memory + count};
  print_rate("exchange", 2 * (double)count * sizeof(gnn_real) / beyond(seconds_of(exchange_run, &e), 2 * (double)count * element));
}

static void measure_stream(void) {
  double rates[SIZES];
  for (int i = 0; i < size_count; i++) {
    Elements e = {.rows = sizes[i] / 2 / (COLUMNS * (int64_t)sizeof(gnn_real)), .x = (gnn_real *)memory, .y = (gnn_real *)(memory + sizes[i] / 2)};
    rates[i] = (double)sizes[i] / seconds_of(relu_run, &e);
  }
  nearer_is_faster(rates, size_count);
  print_rates("stream", rates, size_count);
}

/* ---- loss ---- */

typedef struct Loss {
  gnn_real *scores;
  int32_t *labels, *rows;
  double parts[64];
} Loss;

enum { LOSS_ROWS = 64 * 256 };

#define DEFINE_LOSS(CLASSES)                                                                              \
  static void loss_task_##CLASSES(const void *context, int64_t begin, int64_t end, int64_t task) {        \
    Loss *l = (Loss *)(uintptr_t)context;                                                                 \
    l->parts[task] = gnn_cross_entropy_part(l->scores, CLASSES, l->labels, l->rows, begin, end);          \
  }                                                                                                       \
  static void loss_run_##CLASSES(void *job) { gnn_parallel(team, LOSS_ROWS, 256, loss_task_##CLASSES, job); }
DEFINE_LOSS(4)
DEFINE_LOSS(64)

static void measure_loss(void) {
  Loss l = {.scores = reals_new(LOSS_ROWS * 64), .labels = memory_new(4 * LOSS_ROWS), .rows = memory_new(4 * LOSS_ROWS)};
  for (int32_t i = 0; i < LOSS_ROWS; i++) l.labels[i] = i % 4, l.rows[i] = i;
  const double few = seconds_of(loss_run_4, &l) / LOSS_ROWS, many = seconds_of(loss_run_64, &l) / LOSS_ROWS;
  const double each = beyond(many, few) / 60;
  print_rate("loss", beyond(few, 4 * each));
  print_rate("loss_class", each);
}

/* ---- dense products ---- */

typedef struct Dense {
  gnn_real *a, *b, *packed, *y, *parts;
} Dense;

enum { PART_ROWS = (DENSE_ROWS + 31) / 32 };

#define DEFINE_DENSE(W)                                                                                \
  static void dense_done_##W(const void *context, int64_t row, const gnn_real *acc) {                  \
    const Dense *d = context;                                                                          \
    gnn_real *restrict to = d->y + row * W;                                                            \
    for (int j = 0; j < W; j++) to[j] = acc[j];                                                        \
  }                                                                                                    \
  static void dense_task_##W(const void *context, int64_t begin, int64_t end, int64_t task) {          \
    const Dense *d = context;                                                                          \
    (void)task;                                                                                        \
    gnn_gemm_rows(d->a, d->packed, DEPTH, W, begin, end, dense_done_##W, d);                           \
  }                                                                                                    \
  static void dense_run_##W(void *job) {                                                               \
    gnn_parallel(team, DENSE_ROWS, 16 * 16384 / (DEPTH + W), dense_task_##W, job);                     \
  }                                                                                                    \
  static void outer_task_##W(const void *context, int64_t begin, int64_t end, int64_t task) {          \
    const Dense *d = context;                                                                          \
    gnn_gemm_tn(d->a, d->y, DEPTH, W, begin, end, d->parts + task * DEPTH * W);                        \
  }                                                                                                    \
  static void outer_run_##W(void *job) { gnn_parallel(team, DENSE_ROWS, PART_ROWS, outer_task_##W, job); }
DEFINE_DENSE(16)
DEFINE_DENSE(64)

static Dense dense_new(void) {
  Dense d = {reals_new(DENSE_ROWS * DEPTH), reals_new(DEPTH * 64), memory_new(GNN_GEMM_PACKED_BYTES(DEPTH, 64)), reals_new(DENSE_ROWS * 64),
             reals_new(32 * DEPTH * 64)};
  gnn_gemm_pack(d.b, DEPTH, 64, 1, d.packed, 0, DEPTH);
  return d;
}

/* Beside the products an element of the result is stored twice, once as the sum and once by the row's function; of a
 * gradient, an element of the right side is packed once. */
static void measure_dense(double element) {
  Dense d = dense_new();
  const double wide = 2.0 * DENSE_ROWS * DEPTH * 64, narrow = 2.0 * DENSE_ROWS * DEPTH * 16;
  const double wide_elements = DENSE_ROWS * 64 * element, narrow_elements = DENSE_ROWS * 16 * element;
  print_rate("fp32", wide / beyond(seconds_of(dense_run_64, &d), 2 * wide_elements));
  print_rate("outer", wide / beyond(seconds_of(outer_run_64, &d), wide_elements));
  gnn_gemm_pack(d.b, DEPTH, 16, 1, d.packed, 0, DEPTH);
  print_rate("narrow", narrow / beyond(seconds_of(dense_run_16, &d), 2 * narrow_elements));
  print_rate("outer_narrow", narrow / beyond(seconds_of(outer_run_16, &d), narrow_elements));
}

/* ---- gathers ---- */

typedef struct Gather {
  gnn_csr graph;
  gnn_real *x, *y; /* results are written over and over: what they cost is measured elsewhere */
  int64_t degree;
} Gather;

enum { GATHER_TASKS = 128, OWN_ROWS = 16 };

#define DEFINE_GATHER(W)                                                                               \
  static void gather_done_##W(const void *context, int64_t row, const gnn_real *acc) {                 \
    const Gather *s = context;                                                                         \
    gnn_real *restrict to = s->y + row % OWN_ROWS * W;                                                 \
    for (int j = 0; j < W; j++) to[j] = acc[j];                                                        \
  }                                                                                                    \
  static void gather_task_##W(const void *context, int64_t begin, int64_t end, int64_t task) {         \
    Gather s = *(const Gather *)context;                                                               \
    s.y += task * OWN_ROWS * W;                                                                        \
    gnn_spmm_rows(&s.graph, s.x, W, gnn_gather_chains(W), begin, end, gather_done_##W, &s);            \
  }                                                                                                    \
  static void gather_run_##W(void *job) {                                                              \
    Gather *s = job;                                                                                   \
    const int64_t rows = EDGES / s->degree;                                                            \
    gnn_parallel(team, rows, rows / GATHER_TASKS + 1, gather_task_##W, s);                             \
  }
DEFINE_GATHER(16)
DEFINE_GATHER(64)
DEFINE_GATHER(128)

/* Edges from anywhere in the table, 0 to 2 `degree` to a row. graph.rows is what the kernel takes for the length of the
 * table. */
static Gather gather_new(gnn_real *table, int64_t table_rows, int64_t degree) {
  static int64_t *ptr;
  static int32_t *idx;
  if (!idx) {
    idx = memory_new(4 * EDGES);
    ptr = memory_new(8 * (EDGES + 1));
  }
  const int64_t rows = EDGES / degree, apart = 2 * degree + 1;
  for (int64_t r = 0; r < rows; r++) ptr[r + 1] = gnn_min(EDGES, ptr[r] + (int64_t)(gnn_mix64((uint64_t)(r + EDGES)) % (uint64_t)apart));
  ptr[rows] = EDGES;
  for (int64_t e = 0; e < EDGES; e++) idx[e] = (int32_t)(gnn_mix64((uint64_t)e) % (uint64_t)table_rows);
  static gnn_real *y;
  if (!y) y = reals_new(GATHER_TASKS * OWN_ROWS * 128);
  return (Gather){{.rows = table_rows, .entries = EDGES, .ptr = ptr, .idx = idx}, table, y, degree};
}

/* A row costs something beside its edges: the difference between many and few to a row. */
static double gather_row_seconds(void) {
  enum { FEW = 3 };
  Gather thin = gather_new((gnn_real *)memory, sizes[0] / 64, FEW);
  const double few = seconds_of(gather_run_16, &thin) / EDGES;
  Gather thick = gather_new((gnn_real *)memory, sizes[0] / 64, DEGREE);
  const double many = seconds_of(gather_run_16, &thick) / EDGES;
  return few > many ? (few - many) / (1.0 / FEW - 1.0 / DEGREE) : 0;
}

static void measure_gather(void) {
  static const char *const names[WIDTHS] = {"gather_64B", "gather_256B", "gather_512B"};
  static run_fn *const runs[WIDTHS] = {gather_run_16, gather_run_64, gather_run_128};
  static const int64_t row_bytes[WIDTHS] = {64, 256, 512};
  const double row = gather_row_seconds();
  print_rate("gather_row", row);
  for (int w = 0; w < WIDTHS; w++) {
    double rates[SIZES];
    for (int i = 0; i < size_count; i++) {
      Gather s = gather_new((gnn_real *)memory, sizes[i] / row_bytes[w], DEGREE);
      const double whole = seconds_of(runs[w], &s), rows = EDGES / DEGREE * row;
      rates[i] = EDGES * (double)row_bytes[w] / (whole - (rows < whole / 2 ? rows : whole / 2));
    }
    nearer_is_faster(rates, size_count);
    print_rates(names[w], rates, size_count);
  }
}

/* ---- copies and files beside the compute ---- */

enum { BLOCK = 1 << 20, COPY_BYTES = 64 << 20, MOVE_BYTES = 4 << 20, FILE_BYTES = 512 << 20 };

/* A lane of a program: one thread, one copy after the other. */
typedef struct Lane {
  unsigned char *from, *to; /* a copy in memory */
  gnn_scratch *scratch;     /* or NULL */
  int is_write;
  unsigned char *bytes;     /* MOVE_BYTES, to or from the file */
  _Atomic int64_t moved;    /* bytes since the start */
  _Atomic int is_running, is_stopping;
  pthread_t thread;
  double start;
} Lane;

static void copy_blocks(Lane *lane) {
  for (int64_t at = 0; !lane->is_stopping; at = (at + BLOCK) % COPY_BYTES) {
    memcpy(lane->to + at, lane->from + at, BLOCK);
    lane->moved += BLOCK;
  }
}

static void scratch_fail(const gnn_error *error) {
  fprintf(stderr, "measure: %s\n", error->message);
  exit(1);
}

static void move_scratch(gnn_scratch_port *port, unsigned char *bytes, int64_t at, int64_t count) {
  gnn_error error;
  const gnn_spans memory = {.base = bytes, .scale = 1, .wrap = INT64_MAX, .left = count}, file = {.scale = 1, .wrap = INT64_MAX, .at = at, .left = count};
  if (gnn_scratch_move(port, memory, file, count, &error) != GNN_OK) scratch_fail(&error);
}

static void transfer_blocks(Lane *lane, gnn_scratch_port *port) {
  for (int64_t at = 0; !lane->is_stopping; at = (at + MOVE_BYTES) % FILE_BYTES) {
    move_scratch(port, lane->bytes, at, MOVE_BYTES);
    lane->moved += MOVE_BYTES;
  }
}

static gnn_scratch_port *port_new(gnn_scratch *scratch, int is_write) {
  gnn_error error;
  gnn_scratch_port *port;
  if (gnn_scratch_port_create(scratch, is_write, MOVE_BYTES, &port, &error) != GNN_OK) scratch_fail(&error);
  return port;
}

static void *lane_main(void *argument) {
  Lane *lane = argument;
  gnn_scratch_port *port = lane->scratch ? port_new(lane->scratch, lane->is_write) : NULL;
  lane->start = seconds_now();
  lane->is_running = 1;
  if (port) transfer_blocks(lane, port);
  else copy_blocks(lane);
  gnn_scratch_port_destroy(port);
  return NULL;
}

static void lane_start(Lane *lane) {
  lane->moved = 0;
  lane->is_running = lane->is_stopping = 0;
  if (pthread_create(&lane->thread, NULL, lane_main, lane)) fail("thread");
  while (!lane->is_running) usleep(100);
}

/* Bytes per second since the start. */
static double lane_stop(Lane *lane) {
  lane->is_stopping = 1;
  const double rate = (double)lane->moved / (seconds_now() - lane->start);
  pthread_join(lane->thread, NULL);
  return rate;
}

static double lane_rate(Lane *lane, double seconds) {
  lane_start(lane);
  usleep((useconds_t)(1e6 * seconds));
  return lane_stop(lane);
}

static double both_rate(Lane *a, Lane *b, double seconds) {
  lane_start(a);
  lane_start(b);
  usleep((useconds_t)(1e6 * seconds));
  const double rate = lane_stop(a);
  return rate + lane_stop(b);
}

/* A little of everything that an epoch does. */
typedef struct Mix {
  Dense dense;
  Gather gather;
  Elements elements;
} Mix;

static double mix_seconds(Mix *mix) {
  const double start = seconds_now();
  for (int i = 0; i < 12; i++) {
    dense_run_64(&mix->dense);
    gather_run_64(&mix->gather);
    relu_run(&mix->elements);
  }
  return seconds_now() - start;
}

/* How much longer the mix takes beside the lane. */
static double slowdown(Mix *mix, Lane *lane) {
  double ratios[5];
  for (int i = 0; i < 5; i++) {
    const double alone = mix_seconds(mix);
    lane_start(lane);
    usleep(2000);
    const double beside = mix_seconds(mix);
    lane_stop(lane);
    ratios[i] = beside / alone;
  }
  const double ratio = median(ratios, 5);
  return ratio > 1 ? ratio : 1;
}

static Mix mix_new(void) {
  const int64_t rows = ((int64_t)8 << 20) / (COLUMNS * (int64_t)sizeof(gnn_real));
  return (Mix){dense_new(), gather_new((gnn_real *)memory, ((int64_t)16 << 20) / 256, DEGREE),
               {.rows = rows, .x = reals_new(rows * COLUMNS), .y = reals_new(rows * COLUMNS)}};
}

static void measure_copies(Mix *mix) {
  unsigned char *device = memory_new(2 * COPY_BYTES), *host = memory_new(2 * COPY_BYTES);
  memset(device, 1, 2 * COPY_BYTES);
  memset(host, 1, 2 * COPY_BYTES);
  Lane out = {.from = device, .to = host}, in = {.from = host + COPY_BYTES, .to = device + COPY_BYTES};
  print_rate("host_write", lane_rate(&out, 0.2));
  print_rate("host_read", lane_rate(&in, 0.2));
  print_rate("host_both", both_rate(&out, &in, 0.2));
  print_rate("host_slowdown", slowdown(mix, &out));
}

static double latency_of(gnn_scratch *scratch, unsigned char *bytes) {
  enum { READS = 101 };
  double times[READS];
  gnn_scratch_port *port = port_new(scratch, 0);
  for (int i = 0; i < READS; i++) {
    const double start = seconds_now();
    move_scratch(port, bytes, (int64_t)(i * 97 % 512) * BLOCK, GNN_SCRATCH_UNIT_BYTES);
    times[i] = seconds_now() - start;
  }
  gnn_scratch_port_destroy(port);
  return median(times, READS);
}

static void measure_ssd(Mix *mix, const char *directory) {
  gnn_scratch scratch;
  gnn_error error;
  gnn_status status = gnn_scratch_open(&scratch, &(gnn_scratch_folders){.wanted = directory}, &error);
  if (status == GNN_OK) status = gnn_scratch_reserve(&scratch, FILE_BYTES, &error);
  if (status != GNN_OK) {
    fprintf(stderr, "measure: %s\n", error.message);
    gnn_scratch_close(&scratch);
    return;
  }
  unsigned char *bytes = memory_new(2 * MOVE_BYTES); /* at a page, as the values that go there lie in an arena */
  memset(bytes, 1, 2 * MOVE_BYTES);
  Lane write = {.scratch = &scratch, .is_write = 1, .bytes = bytes}, read = {.scratch = &scratch, .bytes = bytes + MOVE_BYTES};
  lane_rate(&write, 0.6); /* the first pass over new blocks is slower than all others */
  print_rate("ssd_write", lane_rate(&write, 0.6));
  print_rate("ssd_read", lane_rate(&read, 0.6));
  print_rate("ssd_both", both_rate(&write, &read, 0.6));
  print_rate("ssd_latency", latency_of(&scratch, bytes));
  if (mix) print_rate("ssd_write_slowdown", slowdown(mix, &write));
  if (mix) print_rate("ssd_read_slowdown", slowdown(mix, &read));
  gnn_scratch_close(&scratch);
}

/* Bytes that all threads read and write in order, in arrays that no cache holds. */
static void measure_host(const char *directory) {
  const int64_t bytes = (int64_t)256 << 20, rows = bytes / 2 / (COLUMNS * (int64_t)sizeof(gnn_real));
  Elements e = {.rows = rows, .x = reals_new(rows * COLUMNS), .y = reals_new(rows * COLUMNS)};
  print_rate("host_memory", (double)bytes / seconds_of(relu_run, &e));
  measure_ssd(NULL, directory);
}

int main(int argc, char **argv) {
  const int is_host = argc == 3 && strcmp(argv[2], "host") == 0;
  if (argc != 2 && !is_host) return 2;
  team = gnn_team_create(0);
  if (!team) fail("threads");
  if (is_host) {
    print_rate("threads", gnn_team_threads(team));
    measure_host(argv[1]);
    return 0;
  }
  const int64_t available = (int64_t)sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);
  while (size_count > 1 && sizes[size_count - 1] > available / 4) size_count--;
  memory = (unsigned char *)reals_new(sizes[size_count - 1] / (int64_t)sizeof(gnn_real));
  double measured[SIZES];
  for (int i = 0; i < size_count; i++) measured[i] = (double)sizes[i];
  print_rate("threads", gnn_team_threads(team));
  print_rates("sizes", measured, size_count);
  print_rate("step", seconds_of(empty_run, NULL));
  const double element = measure_elements();
  measure_stream();
  measure_exchange(element);
  measure_loss();
  measure_dense(element);
  measure_gather();
  Mix mix = mix_new();
  measure_copies(&mix);
  measure_ssd(&mix, argv[1]);
  print_rate("disturbed", (double)disturbed / tries);
  gnn_team_destroy(team);
  return 0;
}
