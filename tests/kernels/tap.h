/* tap.h: what the kernel tests share: TAP output, reproducible numbers, a naive graph, the widths to try. */
#ifndef TAP_H
#define TAP_H

#include "../../runtime/gnnrt.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Tap {
  int count, failed;
} Tap;

__attribute__((format(printf, 3, 4))) static inline void tap_ok(Tap *tap, int is_good, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("%sok %d - ", is_good ? "" : "not ", ++tap->count);
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
  tap->failed += !is_good;
}

static inline int tap_end(const Tap *tap) {
  printf("1..%d\n", tap->count);
  return tap->failed != 0;
}

/* Every width a tile, a tail or a short vector begins or ends at, and some that occur in data. */
#define TEST_WIDTHS(M) \
  M(1) M(2) M(3) M(7) M(8) M(15) M(16) M(17) M(31) M(32) M(33) M(47) M(48) M(64) M(65) M(100) M(128) M(256) M(300) M(602)

/* ---- reproducible numbers: xorshift, independent of what is tested ---- */

typedef struct Numbers {
  uint64_t state;
} Numbers;

static inline uint64_t numbers_next(Numbers *n) {
  n->state ^= n->state << 13;
  n->state ^= n->state >> 7;
  n->state ^= n->state << 17;
  return n->state;
}

static inline int64_t numbers_below(Numbers *n, int64_t limit) { return (int64_t)((numbers_next(n) >> 11) % (uint64_t)limit); }

static inline double numbers_real(Numbers *n) { return (double)(numbers_next(n) >> 11) * 0x1p-52 - 1; } /* [-1, 1) */

static inline void *must(void *memory) {
  if (!memory) {
    printf("Bail out! no memory\n");
    exit(1);
  }
  return memory;
}

/* Exactly as large as asked, so that the address sanitizer sees a step too far. */
static inline gnn_real *reals_new(int64_t count) { return must(malloc((size_t)(count > 0 ? count : 1) * sizeof(gnn_real))); }

static inline gnn_real *reals_random(Numbers *n, int64_t count) {
  gnn_real *x = reals_new(count);
  for (int64_t i = 0; i < count; i++) x[i] = (gnn_real)numbers_real(n);
  return x;
}

static inline int reals_same(const gnn_real *a, const gnn_real *b, int64_t count) {
  return count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static inline double real_epsilon(void) { return sizeof(gnn_real) == 4 ? 0x1p-23 : 0x1p-52; }

/* ---- graphs ---- */

/* Rows of random degrees, about every third empty, and one long one; freed with csr_free. */
static inline gnn_csr csr_random(Numbers *n, int64_t rows, int64_t columns, int64_t longest) {
  int64_t *ptr = must(malloc((size_t)(rows + 1) * sizeof *ptr));
  ptr[0] = 0;
  for (int64_t r = 0; r < rows; r++) {
    int64_t degree = numbers_below(n, 3) == 0 ? 0 : numbers_below(n, 20);
    if (r == rows / 2) degree = longest;
    ptr[r + 1] = ptr[r] + (columns > 0 ? degree : 0);
  }
  const int64_t entries = ptr[rows];
  int32_t *idx = must(malloc((size_t)(entries > 0 ? entries : 1) * sizeof *idx));
  int64_t *edge = must(malloc((size_t)(entries > 0 ? entries : 1) * sizeof *edge));
  for (int64_t e = 0; e < entries; e++) {
    idx[e] = (int32_t)numbers_below(n, columns);
    edge[e] = e;
  }
  for (int64_t e = entries - 1; e > 0; e--) { /* some order of edges */
    const int64_t other = numbers_below(n, e + 1), kept = edge[e];
    edge[e] = edge[other];
    edge[other] = kept;
  }
  const int64_t tasks = rows < 7 ? (rows > 0) : 7;
  int64_t *bounds = must(malloc((size_t)(tasks + 1) * sizeof *bounds));
  for (int64_t t = 0; t <= tasks; t++) bounds[t] = tasks ? rows * t / tasks : 0;
  return (gnn_csr){.rows = rows, .entries = entries, .ptr = ptr, .idx = idx, .edge = edge, .bounds = bounds, .tasks = tasks};
}

static inline void csr_free(gnn_csr *g) {
  free((void *)(uintptr_t)g->ptr);
  free((void *)(uintptr_t)g->idx);
  free((void *)(uintptr_t)g->edge);
  free((void *)(uintptr_t)g->bounds);
}

/* ---- rows in any division ---- */

typedef void rows_run(const void *job, int64_t begin, int64_t end);

typedef struct RowsTask {
  rows_run *run;
  const void *job;
} RowsTask;

static inline void rows_task(const void *context, int64_t begin, int64_t end, int64_t task) {
  const RowsTask *t = context;
  (void)task;
  t->run(t->job, begin, end);
}

enum { DIVISIONS = 6 };

/* Runs the job over rows [0, rows) divided in some way: at once, in random pieces, and by teams of 1, 2, 3 and 8. */
static inline void rows_divide(int division, Numbers *n, gnn_team *const teams[4], int64_t rows, rows_run *run,
                               const void *job) {
  if (division == 0) {
    run(job, 0, rows);
  } else if (division == 1) {
    for (int64_t r = 0; r < rows;) {
      const int64_t end = r + 1 + numbers_below(n, rows - r);
      run(job, r, end);
      r = end;
    }
  } else {
    gnn_parallel(teams[division - 2], rows, 5, rows_task, &(RowsTask){run, job});
  }
}

static inline void teams_create(gnn_team *teams[4]) {
  static const int threads[4] = {1, 2, 3, 8};
  for (int i = 0; i < 4; i++) teams[i] = must(gnn_team_create(threads[i]));
}

static inline void teams_destroy(gnn_team *teams[4]) {
  for (int i = 0; i < 4; i++) gnn_team_destroy(teams[i]);
}

#endif
