#include "problem.h"
#include "wide.h"
#include "compiler/base/shown.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOTAL_LIMIT ((Wide)1 << 56)

#define BEYOND_COUNTING "2^56"

bool problem_is_beyond_counting(const char *message) { return strstr(message, BEYOND_COUNTING) != NULL; }

void problem_fail(ProblemError *error, const char *place, const char *format, ...) {
  va_list args;
  char text[2 * sizeof error->text];
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  shown_in(error->place, sizeof error->place, place);
  shown_in(error->text, sizeof error->text, text);
}

Problem *problem_new(Arena *arena) {
  Problem *problem = arena_alloc(arena, sizeof *problem);
  problem->name = "";
  problem->devices = 1;
  for (int i = 0; i < LANE_COUNT; i++)
    ARENA_PUSH(arena, problem->lanes, problem->lane_count, (ProblemLane){.name = lane_keys[i], .bandwidth = 1});
  return problem;
}

int problem_lane(Problem *problem, Arena *arena, const char *name) {
  for (int i = 0; i < problem->lane_count; i++)
    if (!strcmp(problem->lanes[i].name, name)) return i;
  ARENA_PUSH(arena, problem->lanes, problem->lane_count,
             (ProblemLane){.name = arena_strdup(arena, name), .bandwidth = 1});
  return problem->lane_count - 1;
}

/* S1; saturates at INT64_MAX. */
static int64_t transfer_ns(const ProblemLane *lane, int64_t bytes) {
  Wide ns = ((Wide)bytes * 1000000000 + lane->bandwidth - 1) / lane->bandwidth + lane->latency_ns;
  return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

/* The k-th of c shares of an amount. */
static int64_t share(int64_t amount, int k, int c) {
  return (int64_t)((Wide)amount * (k + 1) / c - (Wide)amount * k / c);
}

int64_t problem_step_ns(const Problem *problem, int step, int variant) {
  int64_t sum = 0;
  int count = problem->ops[problem->steps[step].op].variants[variant].stage_count;
  for (int i = 0; i < count; i++) sum += problem_stage_ns(problem, step, variant, i);
  return sum;
}

/* What has a home is there again in the end. */
static Tier end_of(const ProblemDatum *datum, int chunk) {
  if (datum->home != TIER_NONE) return datum->chunk_home ? datum->chunk_home[chunk] : datum->home;
  return datum->chunk_end ? datum->chunk_end[chunk] : datum->end;
}

static bool make_pieces(Problem *p, Arena *arena, ProblemError *error) {
  int64_t count = 0;
  Wide total = 0;
  for (int i = 0; i < p->datum_count; i++) {
    p->data[i].first_piece = (int)count;
    count += p->data[i].chunks;
    total += p->data[i].bytes;
    if (count > PROBLEM_MAX_PIECES) {
      char place[64];
      snprintf(place, sizeof place, "data[%d].chunks", i);
      problem_fail(error, place, "more than %d pieces", PROBLEM_MAX_PIECES);
      return false;
    }
  }
  if (total >= TOTAL_LIMIT) {
    problem_fail(error, "data", "the data have " BEYOND_COUNTING " bytes or more");
    return false;
  }
  p->pieces = arena_alloc(arena, (size_t)count * sizeof *p->pieces);
  p->piece_count = (int)count;
  Wide total_ns = 0;
  for (int i = 0; i < p->datum_count; i++) {
    const ProblemDatum *datum = &p->data[i];
    for (int k = 0; k < datum->chunks; k++) {
      ProblemPiece *piece = &p->pieces[datum->first_piece + k];
      *piece = (ProblemPiece){.datum = i, .chunk = k, 
                       .bytes = datum->chunk_bytes ? datum->chunk_bytes[k] : share(datum->bytes, k, datum->chunks), .home = datum->chunk_home ? datum->chunk_home[k] : datum->home,
                       .is_final = datum->is_final, .ends_on_ssd = datum->is_final && end_of(datum, k) == TIER_SSD, .fates = datum->fates, .creator = -1, .first_write = -1,
                       .last_write = -1};
      int64_t *times[] = {&piece->d2h_ns, &piece->h2d_ns, &piece->ssdw_ns, &piece->ssdr_ns};
      for (int l = LANE_D2H; l <= LANE_SSD_READ; l++) {
        if (!p->lanes[l].is_present) continue;
        *times[l - LANE_D2H] = transfer_ns(&p->lanes[l], piece->bytes);
        total_ns += *times[l - LANE_D2H];
      }
      if (total_ns >= TOTAL_LIMIT) {
        char place[64];
        snprintf(place, sizeof place, "data[%d]", i);
        problem_fail(error, place, "the transfers of all data take " BEYOND_COUNTING " ns or more");
        return false;
      }
    }
  }
  return true;
}

static bool make_steps(Problem *p, Arena *arena, ProblemError *error) {
  int64_t count = 0;
  for (int i = 0; i < p->op_count; i++) {
    p->ops[i].first_step = (int)count;
    count += p->ops[i].chunks;
    if (count > PROBLEM_MAX_STEPS) {
      char place[64];
      snprintf(place, sizeof place, "ops[%d].chunks", i);
      problem_fail(error, place, "more than %d steps", PROBLEM_MAX_STEPS);
      return false;
    }
  }
  if (count == 0) {
    problem_fail(error, "ops", "there is no step");
    return false;
  }
  p->step_count = (int)count;
  p->steps = arena_alloc(arena, (size_t)count * sizeof *p->steps);
  p->op_steps = arena_alloc(arena, (size_t)count * sizeof *p->op_steps);
  for (int i = 0; i < count; i++) p->op_steps[i] = -1;
  if (!p->order) {
    int s = 0;
    for (int i = 0; i < p->op_count; i++)
      for (int k = 0; k < p->ops[i].chunks; k++, s++) {
        p->steps[s] = (ProblemStep){.op = i, .chunk = k};
        p->op_steps[p->ops[i].first_step + k] = s;
      }
    return true;
  }
  for (int s = 0; s < p->order_count; s++) {
    int op = p->order[2 * s], chunk = p->order[2 * s + 1];
    char place[64];
    snprintf(place, sizeof place, "order[%d]", s);
    int *slot = &p->op_steps[p->ops[op].first_step + chunk];
    if (*slot >= 0) {
      problem_fail(error, place, "chunk %d of op \"%.80s\" appears a second time (first in order[%d])", chunk,
                   p->ops[op].id, *slot);
      return false;
    }
    *slot = s;
    p->steps[s] = (ProblemStep){.op = op, .chunk = chunk};
  }
  if (p->order_count == p->step_count) return true;
  for (int i = 0; i < p->op_count; i++)
    for (int k = 0; k < p->ops[i].chunks; k++)
      if (p->op_steps[p->ops[i].first_step + k] < 0) {
        problem_fail(error, "order", "chunk %d of op \"%.80s\" is missing", k, p->ops[i].id);
        return false;
      }
  return true;
}

static int compare_uses(const void *a, const void *b) {
  const ProblemUse *x = a, *y = b;
  return x->piece < y->piece ? -1 : x->piece > y->piece;
}

static bool add_access(Problem *p, Arena *arena, const ProblemAccess *access, const ProblemStep *step, unsigned flag,
                       const char *place, ProblemError *error) {
  const ProblemDatum *datum = &p->data[access->datum];
  const ProblemOp *op = &p->ops[step->op];
  ProblemAccessKind kind = access->kind;
  if (kind == PROBLEM_ACCESS_DEFAULT) {
    if (op->chunks > 1 && op->chunks == datum->chunks)
      kind = PROBLEM_ACCESS_ROW;
    else if (op->chunks == 1 || datum->chunks == 1)
      kind = PROBLEM_ACCESS_ALL;
    else {
      problem_fail(error, place, "op \"%.80s\" has %d chunks and datum \"%.80s\" has %d: \"access\" is needed", op->id,
                   op->chunks, datum->id, datum->chunks);
      return false;
    }
  }
  if (kind == PROBLEM_ACCESS_ROW && op->chunks != datum->chunks) {
    problem_fail(error, place, "access \"row\" with %d chunks of op \"%.80s\" and %d chunks of datum \"%.80s\"", op->chunks,
                 op->id, datum->chunks, datum->id);
    return false;
  }
  int from = 0, to = datum->chunks;
  if (kind == PROBLEM_ACCESS_ROW) {
    from = step->chunk;
    to = from + 1;
  } else if (kind == PROBLEM_ACCESS_LIST) {
    from = access->list_start[step->chunk];
    to = access->list_start[step->chunk + 1];
  }
  for (int i = from; i < to; i++) {
    int chunk = kind == PROBLEM_ACCESS_LIST ? access->list[i] : i;
    if (p->use_count >= PROBLEM_MAX_USES) {
      problem_fail(error, place, "more than %d accesses", PROBLEM_MAX_USES);
      return false;
    }
    const int under = access->over ? p->data[access->over - 1].first_piece + chunk : -1;
    ARENA_PUSH(arena, p->uses, p->use_count, (ProblemUse){.piece = datum->first_piece + chunk, .flags = flag, .under = under});
  }
  return true;
}

/* S4: a datum is written over another one that the op reads. */
static bool check_over(const Problem *p, const ProblemOp *op, const ProblemAccess *write, const char *place, ProblemError *error) {
  if (!write->over) return true;
  const ProblemDatum *made = &p->data[write->datum], *under = &p->data[write->over - 1];
  const char *wrong = NULL;
  int reads = 0, takers = 0;
  for (int i = 0; i < op->read_count; i++) reads += op->reads[i].datum == write->over - 1;
  for (int i = 0; i < op->write_count; i++) takers += op->writes[i].over == write->over;
  for (int i = 0; i < op->write_count; i++)
    if (op->writes[i].datum == write->over - 1) wrong = "which the op writes";
  if (!reads) wrong = "which the op does not read";
  if (takers > 1) wrong = "over which another is written";
  if (made->home != TIER_NONE || under->home != TIER_NONE) wrong = "as one of them has a home";
  if (under->is_final) wrong = "which is final";
  if (made->chunks != under->chunks) wrong = "which has another number of chunks";
  for (int k = 0; !wrong && k < made->chunks; k++)
    if (p->pieces[made->first_piece + k].bytes != p->pieces[under->first_piece + k].bytes) wrong = "whose chunks have other sizes";
  if (!wrong) return true;
  problem_fail(error, place, "\"%.80s\" cannot be written over \"%.80s\", %s", made->id, under->id, wrong);
  return false;
}

/* Collect the uses of a step, one entry a piece: reads have PROBLEM_USE_READ, writes PROBLEM_USE_UPDATE for now. */
static bool collect_uses(Problem *p, Arena *arena, int s, ProblemError *error) {
  ProblemStep *step = &p->steps[s];
  const ProblemOp *op = &p->ops[step->op];
  char place[96];
  step->first_use = p->use_count;
  for (int i = 0; i < op->read_count; i++) {
    snprintf(place, sizeof place, "ops[%d].reads[%d]", step->op, i);
    if (!add_access(p, arena, &op->reads[i], step, PROBLEM_USE_READ, place, error)) return false;
  }
  for (int i = 0; i < op->write_count; i++) {
    snprintf(place, sizeof place, "ops[%d].writes[%d]", step->op, i);
    if (!check_over(p, op, &op->writes[i], place, error)) return false;
    if (!add_access(p, arena, &op->writes[i], step, PROBLEM_USE_UPDATE, place, error)) return false;
  }
  int count = p->use_count - step->first_use, kept = 0;
  step->use_count = 0;
  if (count == 0) return true;
  ProblemUse *uses = p->uses + step->first_use;
  qsort(uses, (size_t)count, sizeof *uses, compare_uses);
  for (int i = 0; i < count; i++) {
    if (kept && uses[kept - 1].piece == uses[i].piece) {
      uses[kept - 1].flags |= uses[i].flags;
      if (uses[i].under >= 0) uses[kept - 1].under = uses[i].under;
    } else {
      uses[kept++] = uses[i];
    }
  }
  step->use_count = kept;
  p->use_count = step->first_use + kept;
  return true;
}

/* arena_grow asks that an array shrinks never; uses are collected into a scratch list and copied once. */
static bool make_uses(Problem *p, Arena *arena, ProblemError *error) {
  ProblemUse *all = NULL;
  int total = 0;
  Arena *scratch = arena_new();
  bool ok = true;
  for (int s = 0; s < p->step_count && ok; s++) {
    p->uses = NULL;
    p->use_count = 0;
    ok = collect_uses(p, scratch, s, error);
    if (!ok) break;
    p->steps[s].first_use = total;
    for (int i = 0; i < p->use_count; i++) ARENA_PUSH(scratch, all, total, p->uses[i]);
    if (total > PROBLEM_MAX_USES) {
      problem_fail(error, "ops", "more than %d accesses", PROBLEM_MAX_USES);
      ok = false;
    }
  }
  p->uses = NULL;
  if (ok) {
    p->use_count = total;
    p->uses = arena_alloc(arena, (size_t)total * sizeof *p->uses + 1);
    if (total) memcpy(p->uses, all, (size_t)total * sizeof *all);
  }
  arena_free(scratch);
  return ok;
}

/* S3: who creates, who updates, and that nothing is read before it exists. */
static bool find_writers(Problem *p, ProblemError *error) {
  for (int s = 0; s < p->step_count; s++) {
    const ProblemStep *step = &p->steps[s];
    for (int i = 0; i < step->use_count; i++) {
      ProblemUse *use = &p->uses[step->first_use + i];
      ProblemPiece *piece = &p->pieces[use->piece];
      bool exists = piece->home != TIER_NONE || piece->creator >= 0;
      if ((use->flags & PROBLEM_USE_READ) && !exists) {
        char place[64];
        snprintf(place, sizeof place, "ops[%d].reads", step->op);
        problem_fail(error, place, "op \"%.80s\" chunk %d reads \"%.80s\" piece %d before any step has written it",
                     p->ops[step->op].id, step->chunk, p->data[piece->datum].id, piece->chunk);
        return false;
      }
      if (!(use->flags & PROBLEM_USE_UPDATE)) continue;
      if (piece->first_write < 0) piece->first_write = s;
      piece->last_write = s;
      if (!exists) {
        piece->creator = s;
        use->flags = (use->flags & ~(unsigned)PROBLEM_USE_UPDATE) | PROBLEM_USE_CREATE;
      }
    }
  }
  return true;
}

static bool reads_piece(const Problem *p, const ProblemStep *step, int piece) {
  for (int i = 0; i < step->use_count; i++)
    if (p->uses[step->first_use + i].piece == piece) return (p->uses[step->first_use + i].flags & PROBLEM_USE_READ) != 0;
  return false;
}

/* S17: the pieces that take places are created, by a step that reads the piece whose place it is. */
static bool check_places(Problem *p, ProblemError *error) {
  for (int s = 0; s < p->step_count; s++)
    for (int i = 0; i < p->steps[s].use_count; i++) {
      ProblemUse *use = &p->uses[p->steps[s].first_use + i];
      if (use->under < 0) continue;
      if ((use->flags & (PROBLEM_USE_CREATE | PROBLEM_USE_READ)) == PROBLEM_USE_CREATE && reads_piece(p, &p->steps[s], use->under)) continue;
      char place[64];
      const ProblemPiece *piece = &p->pieces[use->piece];
      snprintf(place, sizeof place, "ops[%d].writes", p->steps[s].op);
      problem_fail(error, place, "op \"%.80s\" chunk %d does not make \"%.80s\" piece %d of the piece whose place it would take", p->ops[p->steps[s].op].id,
                   p->steps[s].chunk, p->data[piece->datum].id, piece->chunk);
      return false;
    }
  return true;
}

/* S8: which steps may run again, and until when their inputs are what they were. */
static void find_reruns(Problem *p, Arena *scratch) {
  int *next_write = arena_alloc(scratch, (size_t)p->piece_count * sizeof *next_write + 1);
  for (int x = 0; x < p->piece_count; x++) next_write[x] = p->step_count;
  for (int s = p->step_count - 1; s >= 0; s--) {
    ProblemStep *step = &p->steps[s];
    step->can_rerun = p->ops[step->op].can_recompute;
    step->rerun_limit = p->step_count;
    for (int i = 0; i < step->use_count; i++) {
      const ProblemUse *use = &p->uses[step->first_use + i];
      const ProblemPiece *piece = &p->pieces[use->piece];
      if (use->flags & PROBLEM_USE_UPDATE) step->can_rerun = false;
      if ((use->flags & PROBLEM_USE_CREATE) && (piece->home != TIER_NONE || piece->last_write != s)) step->can_rerun = false;
      if ((use->flags & PROBLEM_USE_READ) && next_write[use->piece] < step->rerun_limit)
        step->rerun_limit = next_write[use->piece];
    }
    for (int i = 0; i < step->use_count; i++) {
      const ProblemUse *use = &p->uses[step->first_use + i];
      if (use->flags & (PROBLEM_USE_CREATE | PROBLEM_USE_UPDATE)) next_write[use->piece] = s;
    }
  }
}

static bool make_times(Problem *p, Arena *arena, ProblemError *error) {
  int64_t count = 0;
  for (int i = 0; i < p->op_count; i++) {
    ProblemOp *op = &p->ops[i];
    op->stage_count = 0;
    for (int v = 0; v < op->variant_count; v++) {
      op->variants[v].first_stage = op->stage_count;
      op->stage_count += op->variants[v].stage_count;
    }
    count += (int64_t)op->stage_count * op->chunks;
    if (count > PROBLEM_MAX_USES) {
      problem_fail(error, "ops", "more than %d stages", PROBLEM_MAX_USES);
      return false;
    }
  }
  p->stage_ns = arena_alloc(arena, (size_t)count * sizeof *p->stage_ns + 1);
  Wide total_ns = 0, total_bytes = 0;
  int next = 0;
  for (int s = 0; s < p->step_count; s++) {
    ProblemStep *step = &p->steps[s];
    const ProblemOp *op = &p->ops[step->op];
    step->first_stage = next;
    for (int v = 0; v < op->variant_count; v++) {
      total_bytes += (Wide)op->variants[v].work_bytes + op->variants[v].host_work_bytes;
      for (int i = 0; i < op->variants[v].stage_count; i++) {
        const ProblemStage *stage = &op->variants[v].stages[i];
        int64_t amount = stage->chunk_amounts ? stage->chunk_amounts[step->chunk] : share(stage->amount, step->chunk, op->chunks);
        int64_t ns = stage->is_bytes ? transfer_ns(&p->lanes[stage->lane], amount) : amount;
        p->stage_ns[next++] = ns;
        total_ns += ns;
      }
    }
    if (total_ns >= TOTAL_LIMIT || total_bytes >= TOTAL_LIMIT) {
      char place[64];
      snprintf(place, sizeof place, "ops[%d]", step->op);
      problem_fail(error, place, "the steps take " BEYOND_COUNTING " ns or " BEYOND_COUNTING " bytes of workspace, or more");
      return false;
    }
  }
  return true;
}

static bool check_lanes(const Problem *p, ProblemError *error) {
  for (int x = 0; x < p->piece_count; x++) {
    const ProblemPiece *piece = &p->pieces[x];
    int missing = -1;
    if (piece->is_final && !p->lanes[LANE_D2H].is_present) missing = LANE_D2H;
    if (problem_is_home_away(piece) && !p->lanes[LANE_H2D].is_present) missing = LANE_H2D;
    if (piece->home == TIER_SSD && !p->lanes[LANE_SSD_READ].is_present) missing = LANE_SSD_READ;
    if (piece->ends_on_ssd && !p->lanes[LANE_SSD_WRITE].is_present) missing = LANE_SSD_WRITE;
    if (missing < 0) continue;
    char place[64];
    snprintf(place, sizeof place, "data[%d]", piece->datum);
    problem_fail(error, place, "datum \"%.80s\" needs the channel \"%.80s\", which hardware.channels does not have",
                 p->data[piece->datum].id, p->lanes[missing].name);
    return false;
  }
  return true;
}

bool problem_expand(Problem *problem, Arena *arena, ProblemError *error) {
  if (!make_pieces(problem, arena, error) || !check_lanes(problem, error) ||
      !make_steps(problem, arena, error) || !make_uses(problem, arena, error) || !find_writers(problem, error) ||
      !check_places(problem, error) || !make_times(problem, arena, error))
    return false;
  Arena *scratch = arena_new();
  find_reruns(problem, scratch);
  arena_free(scratch);
  return true;
}
