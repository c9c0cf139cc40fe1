/* gemm.h: dense products with one long side (nodes): Y = A B and dB = A^T G.
 *
 * B is packed once per step into panels of a few vectors of columns, panel after panel, each k x (vectors * lanes)
 * and padded with zeros. A tile of rows x one panel is summed in registers. Every element is one chain of additions
 * over k (or over rows, for A^T G) in ascending order, wherever its row lies in a tile, a block or a task; so the bits
 * do not depend on how the rows were divided.
 */
#ifndef GNN_GEMM_H
#define GNN_GEMM_H

#include "vector.h"

/* Room for B packed, in bytes of 4-byte numbers; for any instruction set. */
#define GNN_GEMM_PACKED_BYTES(k, w) (4 * (int64_t)(k) * (((int64_t)(w) + 15) / 16 * 16))

/* Columns of a panel in vectors, and rows of a tile: the accumulators, a vector of B for each column and a broadcast
 * element of A have to fit the registers. */
enum {
  GNN_PANEL_MAX = GNN_REGISTERS == 32 ? 4 : 2,
  GNN_TILE_MAX = GNN_REGISTERS == 32 ? 24 : 12,
  GNN_GEMM_DEPTH = 256, /* of k that a tile runs through before the next panel: keeps a panel in the caches */
  GNN_GEMM_ROWS = 48,   /* rows whose sums are open at a time */
};

typedef struct gnn_gemm_shape {
  int64_t vectors; /* of a row of Y */
  int64_t panels, widest;
  int rows;        /* of a tile */
} gnn_gemm_shape;

GNN_INLINE gnn_gemm_shape gnn_gemm_shape_of(int64_t w) {
  gnn_gemm_shape s;
  s.vectors = (w + GNN_LANES - 1) / GNN_LANES;
  s.panels = (s.vectors + GNN_PANEL_MAX - 1) / GNN_PANEL_MAX;
  s.widest = (s.vectors + s.panels - 1) / s.panels;
  s.rows = s.widest == 1 ? 12 : GNN_TILE_MAX / (int)s.widest;
  return s;
}

/* Rows [begin, end) of B into their places in all panels. b: [k, w] row-major, or [w, k] if b_is_transposed. */
GNN_INLINE void gnn_gemm_pack(const gnn_real *b, int64_t k, int64_t w, int b_is_transposed, gnn_real *packed,
                              int64_t begin, int64_t end) {
  const gnn_gemm_shape s = gnn_gemm_shape_of(w);
  for (int64_t first = 0; first < s.vectors; first += s.widest) {
    const int64_t columns = gnn_min(s.widest, s.vectors - first) * GNN_LANES;
    const int64_t column = first * GNN_LANES, used = gnn_min(columns, w - column);
    gnn_real *panel = packed + column * k;
    for (int64_t p = begin; p < end; p++) {
      gnn_real *to = panel + p * columns;
      if (b_is_transposed) {
        for (int64_t c = 0; c < used; c++) to[c] = b[(column + c) * k + p];
      } else {
        for (int64_t c = 0; c < used; c++) to[c] = b[p * w + column + c];
      }
      for (int64_t c = used; c < columns; c++) to[c] = 0;
    }
  }
}

/* acc[i][0 .. vectors) (+)= sum over p < depth of a[i][p] * panel[p], for `rows` rows; acc has the stride ld. */
GNN_INLINE void gnn_gemm_tile(int rows, int vectors, const gnn_real *const *a, const gnn_real *panel, int64_t depth,
                              int is_first, gnn_real *acc, int64_t ld) {
  gnn_vec sum[GNN_TILE_MAX];
  GNN_UNROLL for (int i = 0; i < rows * vectors; i++) sum[i] = (gnn_vec){0};
  if (!is_first) {
    GNN_UNROLL for (int i = 0; i < rows; i++)
      GNN_UNROLL for (int v = 0; v < vectors; v++) sum[i * vectors + v] = GNN_LOAD(acc + i * ld + v * GNN_LANES);
  }
  for (int64_t p = 0; p < depth; p++) {
    gnn_vec b[GNN_PANEL_MAX];
    GNN_UNROLL for (int v = 0; v < vectors; v++) b[v] = GNN_LOAD(panel + (p * vectors + v) * GNN_LANES);
    GNN_UNROLL for (int i = 0; i < rows; i++) {
      const gnn_real x = a[i][p];
      GNN_UNROLL for (int v = 0; v < vectors; v++) sum[i * vectors + v] += b[v] * x;
    }
  }
  GNN_UNROLL for (int i = 0; i < rows; i++)
    GNN_UNROLL for (int v = 0; v < vectors; v++) GNN_STORE(acc + i * ld + v * GNN_LANES, sum[i * vectors + v]);
}

/* Rows [begin, end) of A B. a: [any, k] row-major. A tile that would go past `end` computes its last row again. */
GNN_INLINE void gnn_gemm_rows(const gnn_real *a, const gnn_real *packed, int64_t k, int64_t w, int64_t begin,
                              int64_t end, gnn_row_done *done, const void *context) {
  const gnn_gemm_shape s = gnn_gemm_shape_of(w);
  const int64_t ld = s.vectors * GNN_LANES;
  gnn_real acc[GNN_GEMM_ROWS * ld];
  for (int64_t block = begin; block < end; block += GNN_GEMM_ROWS) {
    const int64_t rows = gnn_min(GNN_GEMM_ROWS, end - block);
    int64_t p = 0;
    do {
      const int64_t depth = gnn_min(GNN_GEMM_DEPTH, k - p);
      for (int64_t first = 0; first < s.vectors; first += s.widest) {
        const int64_t vectors = gnn_min(s.widest, s.vectors - first);
        const gnn_real *panel = packed + first * GNN_LANES * k + p * vectors * GNN_LANES;
        for (int64_t i = 0; i < rows; i += s.rows) {
          const gnn_real *row[GNN_TILE_MAX];
          GNN_UNROLL for (int t = 0; t < s.rows; t++) row[t] = a + gnn_min(block + i + t, end - 1) * k + p;
          gnn_real *tile = acc + i * ld + first * GNN_LANES;
          if (vectors == s.widest) gnn_gemm_tile(s.rows, (int)s.widest, row, panel, depth, p == 0, tile, ld);
          else gnn_gemm_tile(s.rows, (int)(s.vectors % s.widest), row, panel, depth, p == 0, tile, ld);
        }
      }
      p += depth;
    } while (p < k);
    for (int64_t i = 0; i < rows; i++) done(context, block + i, acc + i * ld);
  }
}

/* partial[K, W] = sum over rows r of [begin, end) of a[r]^T g[r]; a: [any, k], g: [any, w]. */
GNN_INLINE void gnn_gemm_tn_part(const gnn_real *a, const gnn_real *g, int64_t k, int64_t w, int64_t begin, int64_t end,
                                 gnn_real *partial) {
  for (int64_t i = 0; i < k * w; i++) partial[i] = 0;
  for (int64_t r = begin; r < end; r++)
    for (int64_t p = 0; p < k; p++)
      for (int64_t c = 0; c < w; c++) partial[p * w + c] += a[r * k + p] * g[r * w + c];
}

/* out[begin .. end) = the sum of the parts, in their order; parts: [part_count, count]. */
GNN_INLINE void gnn_sum_parts(const gnn_real *parts, int64_t part_count, int64_t count, gnn_real *out, int64_t begin,
                              int64_t end) {
  int64_t i = begin;
  for (; i + GNN_LANES <= end; i += GNN_LANES) {
    gnn_vec sum = GNN_LOAD(parts + i);
    for (int64_t p = 1; p < part_count; p++) sum += GNN_LOAD(parts + p * count + i);
    GNN_STORE(out + i, sum);
  }
  for (; i < end; i++) {
    gnn_real sum = parts[i];
    for (int64_t p = 1; p < part_count; p++) sum += parts[p * count + i];
    out[i] = sum;
  }
}

#endif
