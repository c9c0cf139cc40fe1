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

#include <string.h>

/* Room for B packed, in bytes of 4-byte numbers; for any instruction set. */
#define GNN_GEMM_PACKED_BYTES(k, w) (4 * (int64_t)(k) * (((int64_t)(w) + 15) / 16 * 16))

/* Columns of a panel in vectors, and accumulators of a tile: beside them a vector of B for each column and a broadcast
 * element of A have to fit the registers. */
enum {
  GNN_PANEL_MAX = GNN_REGISTERS == 32 ? 4 : 2,
  GNN_TILE_MAX = GNN_REGISTERS == 32 ? 24 : 12,
  GNN_GEMM_ROWS = 48,           /* rows whose sums are open at a time: whole tiles of any shape */
  GNN_GEMM_PANEL_BYTES = 32768, /* of a panel that a tile runs through before the next one: stays in the first cache */
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

/* acc[i][0 .. vectors) (+)= sum over p < depth of a[i][p] * panel[p], for `rows` rows of A at the stride k and of acc at
 * the stride ld. The rows after them are fetched meanwhile if is_ahead: too few instructions fit between a miss and the
 * additions that wait for it for the processor to run ahead by itself. */
GNN_INLINE void gnn_gemm_tile(int rows, int vectors, const gnn_real *a, int64_t k, const gnn_real *panel, int64_t depth,
                              int is_first, int is_ahead, gnn_real *acc, int64_t ld) {
  enum { LINE = 64 / sizeof(gnn_real) };
  gnn_vec sum[GNN_TILE_MAX];
  GNN_UNROLL for (int i = 0; i < rows * vectors; i++) sum[i] = (gnn_vec){0};
  if (!is_first) {
    GNN_UNROLL for (int i = 0; i < rows; i++)
      GNN_UNROLL for (int v = 0; v < vectors; v++) sum[i * vectors + v] = GNN_LOAD(acc + i * ld + v * GNN_LANES);
  }
  for (int64_t line = 0; line < depth; line += LINE) {
    if (is_ahead) GNN_UNROLL for (int i = 0; i < rows; i++) __builtin_prefetch(a + (rows + i) * k + line);
    const int64_t line_end = gnn_min(line + LINE, depth);
    for (int64_t p = line; p < line_end; p++) {
      gnn_vec b[GNN_PANEL_MAX];
      GNN_UNROLL for (int v = 0; v < vectors; v++) b[v] = GNN_LOAD(panel + (p * vectors + v) * GNN_LANES);
      GNN_UNROLL for (int i = 0; i < rows; i++) {
        const gnn_vec x = a[i * k + p] - (gnn_vec){0};
        GNN_UNROLL for (int v = 0; v < vectors; v++) sum[i * vectors + v] = GNN_FMA(b[v], x, sum[i * vectors + v]);
      }
    }
  }
  GNN_UNROLL for (int i = 0; i < rows; i++)
    GNN_UNROLL for (int v = 0; v < vectors; v++) GNN_STORE(acc + i * ld + v * GNN_LANES, sum[i * vectors + v]);
}

/* acc[row] = (a B)[row] for tiles of `tile` rows, beginning at first, first + tile, ..; the last one ends at `last`. */
GNN_INLINE void gnn_gemm_block(gnn_gemm_shape s, int tile, const gnn_real *a, const gnn_real *packed, int64_t k,
                               int64_t first, int64_t rows, int64_t last, gnn_real *acc) {
  const int64_t ld = s.vectors * GNN_LANES, deepest = GNN_GEMM_PANEL_BYTES / (s.widest * GNN_VECTOR_BYTES);
  int64_t p = 0;
  do {
    const int64_t depth = gnn_min(deepest, k - p);
    for (int64_t v = 0; v < s.vectors; v += s.widest) {
      const int64_t vectors = gnn_min(s.widest, s.vectors - v);
      const gnn_real *panel = packed + v * GNN_LANES * k + p * vectors * GNN_LANES;
      for (int64_t i = 0; i < rows; i += tile) {
        const gnn_real *from = a + gnn_min(first + i, last - tile) * k + p;
        gnn_real *to = acc + i * ld + v * GNN_LANES;
        if (vectors == s.widest) gnn_gemm_tile(tile, (int)s.widest, from, k, panel, depth, p == 0, v == 0, to, ld);
        else gnn_gemm_tile(tile, (int)(s.vectors % s.widest), from, k, panel, depth, p == 0, 0, to, ld);
      }
    }
    p += depth;
  } while (p < k);
}

/* Rows [begin, end) of A B. a: [any, k] row-major. The last tile is moved back to end at `end`: some rows are computed
 * twice, alike. Fewer rows than a tile are computed one by one. */
GNN_INLINE void gnn_gemm_rows(const gnn_real *a, const gnn_real *packed, int64_t k, int64_t w, int64_t begin,
                              int64_t end, gnn_row_done *done, const void *context) {
  const gnn_gemm_shape s = gnn_gemm_shape_of(w);
  const int64_t ld = s.vectors * GNN_LANES;
  gnn_real acc[GNN_GEMM_ROWS * ld] __attribute__((aligned(64)));
  if (end - begin < s.rows) {
    for (int64_t r = begin; r < end; r++) {
      gnn_gemm_block(s, 1, a, packed, k, r, 1, r + 1, acc);
      done(context, r, acc);
    }
    return;
  }
  for (int64_t block = begin; block < end; block += GNN_GEMM_ROWS) {
    const int64_t rows = gnn_min(GNN_GEMM_ROWS, end - block), whole = rows / s.rows * s.rows;
    gnn_gemm_block(s, s.rows, a, packed, k, block, rows, end, acc);
    for (int64_t i = 0; i < whole; i++) done(context, block + i, acc + i * ld);
    for (int64_t i = whole; i < rows; i++) done(context, block + i, acc + (i + whole + s.rows - rows) * ld);
  }
}

/* sums[i][0 .. vectors) (+)= sum over r < rows of a[r][i] * g[r], i < tile; g: rows packed for one panel; sums has the
 * stride w. Of its last vector there are only `tail` numbers; its first `skip` rows are left alone. There are
 * `room` numbers from sums on: what follows a row may be read with it. From `ahead` on, A is fetched for later rows, as much as
 * this tile reads (NULL: nothing). */
GNN_INLINE void gnn_gemm_tn_tile(int tile, int vectors, const gnn_real *a, int64_t k, const gnn_real *g, int64_t rows,
                                 int is_first, const gnn_real *ahead, int64_t skip, int tail, gnn_real *sums, int64_t w,
                                 int64_t room) {
  const int whole = tail < GNN_LANES ? vectors - 1 : vectors;
  gnn_vec sum[GNN_TILE_MAX];
  gnn_real last[GNN_LANES] = {0};
  GNN_UNROLL for (int i = 0; i < tile * vectors; i++) sum[i] = (gnn_vec){0};
  if (!is_first) {
    GNN_UNROLL for (int i = 0; i < tile; i++) {
      GNN_UNROLL for (int v = 0; v < whole; v++) sum[i * vectors + v] = GNN_LOAD(sums + i * w + v * GNN_LANES);
      if (whole == vectors) continue;
      const gnn_real *from = sums + i * w + whole * GNN_LANES;
      if (i * w + vectors * GNN_LANES > room) from = memcpy(last, from, (size_t)tail * sizeof *last);
      sum[i * vectors + whole] = GNN_LOAD(from);
    }
  }
  for (int64_t r = 0; r < rows; r++) {
    gnn_vec b[GNN_PANEL_MAX];
    GNN_UNROLL for (int v = 0; v < vectors; v++) b[v] = GNN_LOAD(g + (r * vectors + v) * GNN_LANES);
    if (ahead) __builtin_prefetch(ahead + r * tile);
    GNN_UNROLL for (int i = 0; i < tile; i++) {
      const gnn_vec x = a[r * k + i] - (gnn_vec){0};
      GNN_UNROLL for (int v = 0; v < vectors; v++) sum[i * vectors + v] = GNN_FMA(b[v], x, sum[i * vectors + v]);
    }
  }
  GNN_UNROLL for (int i = 0; i < tile; i++) {
    if (i < skip) continue;
    GNN_UNROLL for (int v = 0; v < whole; v++) GNN_STORE(sums + i * w + v * GNN_LANES, sum[i * vectors + v]);
    if (whole == vectors) continue;
    GNN_STORE(last, sum[i * vectors + whole]);
    for (int c = 0; c < tail; c++) sums[i * w + whole * GNN_LANES + c] = last[c];
  }
}

/* Adds the products of a few rows to `columns` columns of partial, `count` numbers from there on; a and g begin at the first of the rows. */
GNN_INLINE void gnn_gemm_tn_panel(int tile, int columns, const gnn_real *a, const gnn_real *g, int64_t k, int64_t w,
                                  int64_t rows, int is_first, int is_ahead, gnn_real *packed, gnn_real *partial, int64_t count) {
  const int vectors = (columns + GNN_LANES - 1) / GNN_LANES, room = vectors * GNN_LANES;
  const int tail = columns - (vectors - 1) * GNN_LANES;
  for (int64_t r = 0; r < rows; r++) {
    for (int c = 0; c < columns; c++) packed[r * room + c] = g[r * w + c];
    for (int c = columns; c < room; c++) packed[r * room + c] = 0;
  }
  if (k < tile) {
    for (int64_t p = 0; p < k; p++)
      gnn_gemm_tn_tile(1, vectors, a + p, k, packed, rows, is_first, NULL, 0, tail, partial + p * w, w, count - p * w);
    return;
  }
  for (int64_t i = 0; i < k; i += tile) {
    const int64_t p = gnn_min(i, k - tile); /* the last tile is moved back and adds only what is missing */
    const gnn_real *ahead = is_ahead ? a + rows * k + i * rows : NULL;
    gnn_gemm_tn_tile(tile, vectors, a + p, k, packed, rows, is_first, ahead, i - p, tail, partial + p * w, w, count - p * w);
  }
}

/* partial[k, w] = sum over rows r of [begin, end) of a[r]^T g[r], one chain for each number; a: [any, k], g: [any, w]. Where it is not the
 * first, the sum goes on from what partial has. So many
 * rows are taken at a time that the sums, which pass through the caches once for each time, are little beside the products,
 * and so few that those of A stay in the second-level cache and a panel of G in the first. */
GNN_INLINE void gnn_gemm_tn_on(const gnn_real *a, const gnn_real *g, int64_t k, int64_t w, int64_t begin, int64_t end, int is_first,
                               gnn_real *partial) {
  enum { ROWS = 128 };
  const gnn_gemm_shape s = gnn_gemm_shape_of(w);
  const int widest = (int)s.widest * GNN_LANES;
  const int64_t most = k <= 512 ? ROWS : k <= 1024 ? 96 : 64, last = (s.panels - 1) * widest;
  gnn_real packed[ROWS * GNN_PANEL_MAX * GNN_LANES] __attribute__((aligned(64)));
  int64_t r = begin;
  do {
    const int64_t rows = gnn_min(most, end - r);
    for (int64_t c = 0; c < last; c += widest)
      gnn_gemm_tn_panel(s.rows, widest, a + r * k, g + r * w + c, k, w, rows, is_first && r == begin, c == 0, packed, partial + c, k * w - c);
    gnn_gemm_tn_panel(s.rows, (int)(w - last), a + r * k, g + r * w + last, k, w, rows, is_first && r == begin, last == 0, packed,
                      partial + last, k * w - last);
    r += rows;
  } while (r < end);
}

GNN_INLINE void gnn_gemm_tn(const gnn_real *a, const gnn_real *g, int64_t k, int64_t w, int64_t begin, int64_t end,
                            gnn_real *partial) {
  gnn_gemm_tn_on(a, g, k, w, begin, end, 1, partial);
}

#endif
