/* halos: DataInfo -> how many rows of each part the sums over neighbours of each part gather, and the pieces that these rows are. */
#include <math.h>

#include "plan.h"
#include "runtime/data/halo.h"

/* Of so many distinct rows out of `rows`, each drawn alike, `draws` draws find. */
static int64_t distinct(double draws, double rows) { return rows > 0 ? (int64_t)ceil(rows * -expm1(-draws / rows)) : 0; }

const int64_t *halo_pairs(Arena *arena, const DataInfo *info, HaloKind kind, int levels) {
  const int64_t *counted = kind == HALO_OF_EDGES ? info->edge_pairs : info->part_pairs[kind];
  if (counted) return counted + gnn_pair_at(levels);
  const int count = 1 << levels;
  int64_t *pairs = arena_alloc(arena, ((size_t)count << levels) * sizeof *pairs);
  for (int i = 0; i < count << levels; i++) pairs[i] = kind == HALO_OF_EDGES ? info->edges * (i + 1) / count / count - info->edges * i / count / count : distinct((double)info->edges / count / count, (double)info->nodes / count);
  return pairs;
}

int64_t halo_rows(const int64_t *pairs, int levels) {
  int64_t rows = 0;
  for (int i = 0; i < 1 << 2 * levels; i++) rows += pairs[i];
  return rows;
}

static bool kind_has_codes(const DataInfo *info, HaloKind kind, int levels) {
  Arena *arena = arena_new();
  int64_t most = 0;
  const int64_t *pairs = halo_pairs(arena, info, kind, levels);
  for (int i = 0; i < 1 << 2 * levels; i++)
    if (pairs[i] > most) most = pairs[i];
  arena_free(arena);
  return most <= INT64_C(1) << (CODE_BITS - levels);
}

bool halos_have_codes(const DataInfo *info, int levels) { return kind_has_codes(info, HALO_FOR_SRC, levels) && kind_has_codes(info, HALO_FOR_DST, levels); }

/* And the number of an edge is one of 32 bits (gnn_halo_rows). */
bool edge_halos_have_codes(const DataInfo *info, int levels) { return info->edges <= INT32_MAX && kind_has_codes(info, HALO_OF_EDGES, levels); }

/* A part's own rows are a piece, though none of them were gathered: so every part has one. */
void halo_pieces(Arena *arena, const int64_t *pairs, int levels, HaloPieces *pieces) {
  const int count = 1 << levels;
  *pieces = (HaloPieces){.pairs = pairs, .of_pair = arena_alloc(arena, ((size_t)count << levels) * sizeof(int)), .pair = arena_alloc(arena, (((size_t)count << levels) + 1) * sizeof(int))};
  for (int i = 0; i < count << levels; i++)
    if (pairs[i] > 0 || i >> levels == i % count) pieces->pair[pieces->of_pair[i] = ++pieces->count] = i;
  int64_t *before = arena_alloc(arena, (size_t)(count + 1) * sizeof *before);
  for (int i = 0; i < count << levels; i++) before[i % count + 1] += pairs[i];
  for (int part = 0; part < count; part++) before[part + 1] += before[part];
  pieces->before = before;
  for (int member = 0; member < 2; member++) {
    int *list = pieces->of_member[member] = arena_alloc(arena, (size_t)(pieces->count + 1) * sizeof *list);
    int *first = pieces->first[member] = arena_alloc(arena, (size_t)(count + 1) * sizeof *first), filled = 0;
    for (int part = 0; part < count; part++) {
      first[part] = filled;
      for (int other = 0; other < count; other++) {
        const int piece = pieces->of_pair[member ? other << levels | part : part << levels | other];
        if (piece) list[filled++] = piece;
      }
    }
    first[count] = filled;
  }
}
