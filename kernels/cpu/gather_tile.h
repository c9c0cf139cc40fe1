/* gather_tile.h: the inner loop of the sparse products for one type of vector; included by gather.h once for each.
 *
 * GNN_TILE is the function's name, GNN_TILE_VEC the type of its accumulators, GNN_TILE_AT the same in memory,
 * GNN_TILE_FMA the multiply-add of that type, GNN_TILE_HALVES what loads as many numbers kept in bf16.
 *
 * sum over j < count of weight[j] * (row idx[j] of x)[ column .. + vectors * lanes). is_last: the tile ends the row at
 * column w, and its last vector is moved back to end there; the overlapped numbers are computed twice, alike. The sum
 * runs in `chains` interleaved accumulators (j modulo chains), because one chain of additions is bound by latency when
 * a row is one vector; so the order depends on the position within the row and on nothing else.
 */
GNN_INLINE void GNN_TILE(const int32_t *idx, const gnn_real *weight, int64_t count, int64_t limit, gnn_table x,
                         int64_t w, int64_t column, int vectors, int chains, int is_last, int is_first, int64_t ahead,
                         gnn_real *acc) {
  enum { LANES = sizeof(GNN_TILE_VEC) / sizeof(gnn_real) };
  GNN_TILE_VEC sum[GNN_GATHER_TILE];
#define GNN_TILE_OFFSET(v) (is_last && (v) == vectors - 1 ? w - LANES : column + (v) * (int64_t)LANES)
#define GNN_TILE_PART(row, v) \
  (x.is_half ? GNN_TILE_HALVES((const gnn_half *)(row) + GNN_TILE_OFFSET(v)) : (GNN_TILE_VEC)*(const GNN_TILE_AT *)((const gnn_real *)(row) + GNN_TILE_OFFSET(v)))
  GNN_UNROLL for (int i = 0; i < chains * vectors; i++) sum[i] = (GNN_TILE_VEC){0};
  if (!is_first) GNN_UNROLL for (int v = 0; v < vectors; v++) sum[v] = *(const GNN_TILE_AT *)(acc + GNN_TILE_OFFSET(v));
  int64_t j = 0;
  for (; j + chains <= count; j += chains) {
    GNN_UNROLL for (int c = 0; c < chains; c++) {
      if (ahead > 0) {
        const char *next = (const char *)gnn_table_row(x, idx[gnn_min(j + c + ahead, limit - 1)], w) + gnn_table_bytes(x, column);
        GNN_UNROLL for (int b = 0; b < (int)gnn_table_bytes(x, vectors * LANES); b += 64) __builtin_prefetch(next + b);
      }
      const void *row = gnn_table_row(x, idx[j + c], w);
      if (weight) {
        const GNN_TILE_VEC factor = weight[j + c] - (GNN_TILE_VEC){0};
        GNN_UNROLL for (int v = 0; v < vectors; v++) {
          const GNN_TILE_VEC part = GNN_TILE_PART(row, v);
          sum[c * vectors + v] = GNN_TILE_FMA(part, factor, sum[c * vectors + v]);
        }
      } else {
        GNN_UNROLL for (int v = 0; v < vectors; v++)
          sum[c * vectors + v] += GNN_TILE_PART(row, v);
      }
    }
  }
  GNN_UNROLL for (int c = 0; c + 1 < chains; c++) {
    if (j + c < count) {
      const void *row = gnn_table_row(x, idx[j + c], w);
      const GNN_TILE_VEC factor = (weight ? weight[j + c] : 1) - (GNN_TILE_VEC){0};
      GNN_UNROLL for (int v = 0; v < vectors; v++) {
        const GNN_TILE_VEC part = GNN_TILE_PART(row, v);
        sum[c * vectors + v] = GNN_TILE_FMA(part, factor, sum[c * vectors + v]);
      }
    }
  }
  GNN_UNROLL for (int half = chains / 2; half > 0; half /= 2)
    GNN_UNROLL for (int i = 0; i < half * vectors; i++) sum[i] += sum[i + half * vectors];
  GNN_UNROLL for (int v = 0; v < vectors; v++) *(GNN_TILE_AT *)(acc + GNN_TILE_OFFSET(v)) = sum[v];
#undef GNN_TILE_PART
#undef GNN_TILE_OFFSET
}
#undef GNN_TILE
#undef GNN_TILE_VEC
#undef GNN_TILE_AT
#undef GNN_TILE_FMA
#undef GNN_TILE_HALVES
