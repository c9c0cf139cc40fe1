/* caching: which parts of what is at home on the SSD lie in host memory all the time instead.
 *
 * Decided once, for the epoch and the evaluation. An epoch goes through the parts of a datum one after the other, a few times, and every epoch goes the same
 * way, so whoever knows all uses drops, of what host memory cannot hold, that which is used again last. Of parts that are gone through in a circle this
 * keeps the same ones forever: nothing is gained by bringing one in where another was. So a part is at home on the host or on the SSD. Those whose
 * bytes an epoch would move most often lie on the host; of parts that move as often, some as evenly among the others as their bytes allow, so that while
 * one comes from the host the SSD reads the next. A use right after another of the same part moves nothing: with the order of the steps turning around
 * at the end of a pass, the part there is used again first. Linear, but for sorting.
 */
#include <stdlib.h>
#include <string.h>

#include "plan.h"

typedef struct CachedPart {
  int away, part;
  int transfers; /* in an epoch */
  int64_t room;
} CachedPart;

/* Every reader of it, of the training and of the evaluation, has it part by part, as it lies on the SSD. */
static bool is_always_in_parts(const Residents *residents, const Parts *const *parts, int away) {
  if (residents->away[away].tier != TIER_SSD || !residents->away[away].may_be_cached) return false;
  for (int r = 0; r < residents->reader_count; r++) {
    const Kernels *kernels = parts[r]->kernels;
    const int count = parts_of_away(parts[r], &residents->away[away]);
    for (int v = 0; v < kernels->graph->value_count; v++)
      if (resident_away(residents, kernels->graph, v) == away && (count == 1 || parts_piece_count(parts[r], v) != count)) return false;
  }
  return true;
}

/* Runs of uses with none of other pieces of the datum alone between them, and one more where it has to be at home again. */
static int *count_transfers(Arena *arena, const Problem *problem) {
  int *transfers = arena_alloc(arena, (size_t)(problem->piece_count + 1) * sizeof *transfers);
  struct Uses {
    int last, before; /* the last two steps that use the datum, from 1 */
  } *of_datum = arena_alloc(arena, (size_t)(problem->datum_count + 1) * sizeof *of_datum);
  int *of_piece = arena_alloc(arena, (size_t)(problem->piece_count + 1) * sizeof *of_piece);
  for (int s = 0; s < problem->step_count; s++)
    for (int u = 0; u < problem->steps[s].use_count; u++) {
      const int piece = problem->uses[problem->steps[s].first_use + u].piece;
      struct Uses *uses = &of_datum[problem->pieces[piece].datum];
      if (uses->last != s + 1) *uses = (struct Uses){s + 1, uses->last};
      transfers[piece] += of_piece[piece] == 0 || of_piece[piece] < uses->before;
      of_piece[piece] = s + 1;
    }
  for (int x = 0; x < problem->piece_count; x++) transfers[x] += problem->pieces[x].is_final;
  return transfers;
}

static int compare_parts(const void *a, const void *b) {
  const CachedPart *x = a, *y = b;
  if (x->transfers != y->transfers) return y->transfers - x->transfers;
  return x->away != y->away ? x->away - y->away : x->part - y->part;
}

static void put_on_host(Cached *c, const CachedPart *part, int64_t above) {
  c->is_on_host[part->away][part->part] = true;
  c->at[part->away][part->part] = above + c->bytes;
  c->bytes += part->room;
}

/* Of parts that move equally often, as many bytes as there is room for: one is taken whenever what was taken has a smaller share of the room than what was
 * passed, with it, has of all; then whichever still fit. */
static void spread(Cached *c, const CachedPart *parts, int count, int64_t room, int64_t above) {
  const int64_t before = c->bytes;
  double all = 0, passed = 0;
  for (int i = 0; i < count; i++) all += (double)parts[i].room;
  const double share = all > 0 && (double)room < all ? (double)room / all : 1;
  for (int i = 0; i < count; i++) {
    passed += (double)parts[i].room;
    const int64_t taken = c->bytes - before;
    if (taken + parts[i].room <= room && (double)taken < share * passed) put_on_host(c, &parts[i], above);
  }
  for (int i = 0; i < count; i++)
    if (!c->is_on_host[parts[i].away][parts[i].part] && c->bytes - before + parts[i].room <= room) put_on_host(c, &parts[i], above);
}

const Cached *cached_parts(Arena *arena, const PlanningProblem *problem, const Parts *const *parts) {
  const Residents *residents = problem->residents;
  const int *transfers = count_transfers(arena, problem->problem);
  Cached *c = arena_alloc(arena, sizeof *c);
  c->is_on_host = arena_alloc(arena, (size_t)(residents->away_count + 1) * sizeof *c->is_on_host);
  c->at = arena_alloc(arena, (size_t)(residents->away_count + 1) * sizeof *c->at);
  CachedPart *list = NULL;
  int count = 0;
  for (int a = 0; a < residents->away_count; a++) {
    if (!is_always_in_parts(residents, parts, a)) continue;
    const int parts_of_it = parts_of_away(parts[0], &residents->away[a]);
    c->is_on_host[a] = arena_alloc(arena, (size_t)(parts_of_it + 1) * sizeof **c->is_on_host);
    c->at[a] = arena_alloc(arena, (size_t)(parts_of_it + 1) * sizeof **c->at);
    int first = NO_INDEX; /* of its pieces in the problem, if anything there reads it */
    for (int d = 0; d < problem->problem->datum_count; d++) {
      const ValueId value = problem->value_of_datum[d];
      if (value != NO_VALUE && resident_away(residents, problem->kernels->graph, value) == a) first = problem->problem->data[d].first_piece;
    }
    for (int part = 1; part <= parts_of_it; part++) {
      const int64_t room = round_up(parts_bytes_of_away(parts[0], &residents->away[a], part), residents->alignment);
      ARENA_PUSH(arena, list, count, ((CachedPart){a, part, first == NO_INDEX ? 0 : transfers[first + part - 1], room}));
    }
  }
  if (count) qsort(list, (size_t)count, sizeof *list, compare_parts);
  for (int i = 0, end = 0; i < count; i = end) {
    while (end < count && list[end].transfers == list[i].transfers) end++;
    spread(c, list + i, end - i, residents->cache.bytes - c->bytes, residents->away_bytes);
  }
  return c;
}
