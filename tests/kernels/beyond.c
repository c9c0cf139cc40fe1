/* beyond.c: sums over entries whose places and numbers need more than 32 bits. The arrays are holes but for the pages that are written. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../../kernels/cpu/spmm.h"

#include <sys/mman.h>

#include "tap.h"

enum { ROWS = 4, TABLE = 8, WIDEST = 70 };

static gnn_real result[ROWS][WIDEST];
static int64_t width;

static void take(const void *context, int64_t r, const gnn_real *acc) {
  (void)context;
  memcpy(result[r], acc, (size_t)width * sizeof *acc);
}

/* kind 0: plain, 1: weighted, 2: weighted by the number of the edge. Kernels are for widths that are known. */
static void sum(const gnn_csr *g, const gnn_real *weight, const gnn_real *table, int kind) {
  switch (width) {
#define WIDE(w)                                                                                                   \
  case w:                                                                                                         \
    if (kind == 0) gnn_spmm_rows(g, table, w, gnn_gather_chains(w), 0, ROWS, take, NULL);                         \
    else gnn_spmm_weighted_rows(g, weight, table, w, gnn_gather_chains(w), 0, ROWS, take, NULL);                  \
    break;
    WIDE(1) WIDE(7) WIDE(16) WIDE(33) WIDE(WIDEST)
#undef WIDE
  }
}

static void *hole(int64_t count, int64_t item_bytes) {
  void *data = mmap(NULL, (size_t)(count * item_bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return data == MAP_FAILED ? NULL : data;
}

static void sums_behind(Tap *tap, int64_t behind) {
  static const int64_t counts[ROWS] = {5, 0, 150, 7};
  const int64_t entries = behind + 200;
  int64_t ptr[ROWS + 1] = {behind};
  int32_t *idx = hole(entries, sizeof *idx);
  int64_t *edge = hole(entries, sizeof *edge);
  gnn_real *weight = hole(2 * entries, sizeof *weight), table[TABLE * WIDEST];
  if (!idx || !edge || !weight) {
    tap_ok(tap, 1, "entries behind %lld # SKIP no address space", (long long)behind);
    return;
  }
  for (int r = 0; r < ROWS; r++) ptr[r + 1] = ptr[r] + counts[r];
  for (int64_t e = behind; e < ptr[ROWS]; e++) {
    idx[e] = (int32_t)((e * 5 + 1) % TABLE);
    edge[e] = 2 * entries - 1 - (e - behind);
    weight[e] = (gnn_real)(e % 3 + 1);
    weight[edge[e]] = (gnn_real)(e % 5 + 1);
  }
  const gnn_csr plain = {.rows = ROWS, .entries = ptr[ROWS], .ptr = ptr, .idx = idx}, turned = {.rows = ROWS, .entries = ptr[ROWS], .ptr = ptr, .idx = idx, .edge = edge};
  static const int64_t widths[] = {1, 7, 16, 33, WIDEST};
  for (int i = 0; i < 5; i++)
    for (int kind = 0; kind < 3; kind++) {
      width = widths[i];
      for (int64_t k = 0; k < TABLE * width; k++) table[k] = (gnn_real)(k % 11);
      sum(kind == 2 ? &turned : &plain, weight, table, kind);
      int is_right = 1;
      for (int r = 0; r < ROWS; r++)
        for (int64_t j = 0; j < width; j++) {
          gnn_real wanted = 0; /* whole numbers: exact in any order */
          for (int64_t e = ptr[r]; e < ptr[r + 1]; e++) wanted += (kind == 0 ? 1 : kind == 1 ? weight[e] : weight[edge[e]]) * table[idx[e] * width + j];
          is_right &= result[r][j] == wanted;
        }
      tap_ok(tap, is_right, "entries behind %lld, %lld wide, %s", (long long)behind, (long long)width, kind == 0 ? "plain" : kind == 1 ? "weighted" : "weighted by the number of the edge");
    }
  munmap(idx, (size_t)entries * sizeof *idx);
  munmap(edge, (size_t)entries * sizeof *edge);
  munmap(weight, 2 * (size_t)entries * sizeof *weight);
}

int main(void) {
  Tap tap = {0};
  sums_behind(&tap, (INT64_C(1) << 31) - 3);
  sums_behind(&tap, (INT64_C(1) << 32) + 5);
  return tap_end(&tap);
}
