/* base_order: Problem, filled in -> the order of its steps, part by part where kernels allow it.
 *
 * Kernels that run by parts and follow each other take turns: all of them over the rows of one part, then over those of the next, so that what
 * one of them leaves is read while it is there. Such a run ends where a kernel reads all rows of what a kernel of the run writes,
 * and where a table would be made while another is read, or before it is wanted; what has no parts and reads nothing of the run comes before
 * it. What has no parts itself is complete after the last part, and sums over all rows add them in ascending order (gnn_sum_part); other
 * runs go the way opposite to that of the run after them, which finds on the device what the one before it made last (a serpentine).
 */
#include "plan.h"

typedef struct Run {
  int op_count, *ops;
  bool is_ordered, is_descending;
  bool has_table; /* it reads one */
} Run;

typedef struct Ordering {
  Arena *arena;
  const Problem *problem;
  const int32_t *sums_of_datum;
  int run_count;
  Run *runs;          /* an op without parts is one of its own */
  int *open_writer;   /* per datum of one piece: the run under way writes it if it is this run's index plus one */
  int *chunk_writer;  /* likewise of a datum with parts */
  bool *is_table;     /* per datum */
} Ordering;

static bool is_whole(const Ordering *o, int datum) { return o->problem->data[datum].chunks <= 1; }

static bool touches(const Ordering *o, const ProblemOp *op, const int *writer, bool only_whole) {
  const ProblemAccess *lists[] = {op->reads, op->writes};
  const int counts[] = {op->read_count, op->write_count};
  for (int l = 0; l < 2; l++)
    for (int i = 0; i < counts[l]; i++)
      if ((!only_whole || is_whole(o, lists[l][i].datum)) && writer[lists[l][i].datum] == o->run_count) return true;
  return false;
}

/* What has no parts is complete after the last of them. */
static bool writes_whole(const Ordering *o, const ProblemOp *op) {
  for (int i = 0; i < op->write_count; i++)
    if (is_whole(o, op->writes[i].datum)) return true;
  return false;
}

/* All rows of one value are there for sums over neighbours to gather from. */
static bool writes_table(const Ordering *o, const ProblemOp *op) {
  for (int i = 0; i < op->write_count; i++)
    if (is_whole(o, op->writes[i].datum) && op->writes[i].kind != PROBLEM_ACCESS_LIST && o->sums_of_datum[op->writes[i].datum] == NO_INDEX) o->is_table[op->writes[i].datum] = true;
  for (int i = 0; i < op->write_count; i++)
    if (o->is_table[op->writes[i].datum]) return true;
  return false;
}

static bool reads_table(const Ordering *o, const ProblemOp *op) {
  for (int i = 0; i < op->read_count; i++)
    if (o->is_table[op->reads[i].datum]) return true;
  return false;
}

static bool reads_run(const Ordering *o, const ProblemOp *op) {
  for (int i = 0; i < op->read_count; i++)
    if (o->chunk_writer[op->reads[i].datum] == o->run_count) return true;
  return false;
}

static void push_op(Ordering *o, Run *run, int index) {
  const ProblemOp *op = &o->problem->ops[index];
  ARENA_PUSH(o->arena, run->ops, run->op_count, index);
  run->is_ordered = run->is_ordered || writes_whole(o, op);
  run->has_table = run->has_table || reads_table(o, op);
  for (int i = 0; i < op->write_count; i++) (is_whole(o, op->writes[i].datum) ? o->open_writer : o->chunk_writer)[op->writes[i].datum] = o->run_count;
}

static Run *begin_run(Ordering *o) {
  ARENA_PUSH(o->arena, o->runs, o->run_count, (Run){0});
  return &o->runs[o->run_count - 1];
}

/* The op goes before the run under way, which stays the last one. */
static void put_before(Ordering *o, int index) {
  const Run open = o->runs[o->run_count - 1];
  Run alone = {0};
  ARENA_PUSH(o->arena, alone.ops, alone.op_count, index);
  o->runs[o->run_count - 1] = alone;
  begin_run(o);
  o->runs[o->run_count - 1] = open;
  for (int d = 0; d < o->problem->datum_count; d++) {
    if (o->open_writer[d] == o->run_count - 1) o->open_writer[d] = o->run_count;
    if (o->chunk_writer[d] == o->run_count - 1) o->chunk_writer[d] = o->run_count;
  }
}

static void place_op(Ordering *o, int index) {
  const ProblemOp *op = &o->problem->ops[index];
  Run *open = o->run_count ? &o->runs[o->run_count - 1] : NULL;
  const bool is_open = open && o->problem->ops[open->ops[0]].chunks > 1;
  if (op->chunks > 1) {
    const bool is_alike = is_open && o->problem->ops[open->ops[0]].phase == op->phase;
    const bool is_table_alone = writes_table(o, op) && is_open && (open->has_table || !reads_run(o, op));
    if (!is_alike || is_table_alone || touches(o, op, o->open_writer, true)) open = begin_run(o);
    push_op(o, open, index);
  } else if (is_open && !touches(o, op, o->open_writer, false) && !touches(o, op, o->chunk_writer, false)) {
    put_before(o, index);
  } else {
    push_op(o, begin_run(o), index);
  }
}

static void choose_directions(Ordering *o) {
  bool next_descends = true;
  for (int r = o->run_count - 1; r >= 0; r--) {
    Run *run = &o->runs[r];
    if (o->problem->ops[run->ops[0]].chunks == 1) continue;
    run->is_descending = !run->is_ordered && !next_descends;
    next_descends = run->is_descending;
  }
}

void order_by_parts(Arena *arena, Problem *problem, const int32_t *sums_of_datum) {
  const size_t room = (size_t)problem->datum_count + 1;
  Ordering o = {.arena = arena, .problem = problem, .sums_of_datum = sums_of_datum, .open_writer = arena_alloc(arena, room * sizeof(int)),
                .chunk_writer = arena_alloc(arena, room * sizeof(int)), .is_table = arena_alloc(arena, room)};
  int steps = 0;
  for (int i = 0; i < problem->op_count; i++) {
    steps += problem->ops[i].chunks;
    place_op(&o, i);
  }
  if (steps == problem->op_count) return;
  choose_directions(&o);
  problem->order = arena_alloc(arena, 2 * (size_t)steps * sizeof *problem->order);
  for (int r = 0; r < o.run_count; r++) {
    const Run *run = &o.runs[r];
    const int chunks = problem->ops[run->ops[0]].chunks;
    for (int k = 0; k < chunks; k++)
      for (int i = 0; i < run->op_count; i++) {
        problem->order[2 * problem->order_count] = run->ops[i];
        problem->order[2 * problem->order_count++ + 1] = run->is_descending ? chunks - 1 - k : k;
      }
  }
}
