/* base_order: Problem, filled in -> the order of its steps, part by part where kernels allow it.
 *
 * Kernels that run by parts and follow each other take turns: all of them over the rows of one part, then over those of the next, so that what
 * one of them leaves is read while it is there. Such a run ends where a kernel reads all rows of what a kernel of the run writes,
 * and where a table would be made while another is read, or before it is wanted; what has no parts and reads something, but nothing of the run, comes before
 * it. What has no parts itself is complete after the last part, and sums over all rows add them in ascending order (gnn_sum_part); other
 * runs go the way opposite to that of the run after them, which finds on the device what the one before it made last (a serpentine).
 */
#include "plan.h"

typedef struct Run {
  int op_count, *ops;
  bool is_ordered, is_descending;
  bool has_table; /* it reads one */
  int gathered_count, *gathered; /* the data that it reads all pieces of */
  bool gathers_slices;
} Run;

typedef struct Ordering {
  Arena *arena;
  const Problem *problem;
  const PlanningProblem *planning;
  int run_count;
  Run *runs;      /* an op without parts is one of its own */
  int *writer;    /* per datum: the run that writes it, from 1; 0: none so far */
  bool *is_table; /* per datum: made part by part, and read whole */
} Ordering;

static bool is_whole(const Ordering *o, int datum) { return o->problem->data[datum].chunks <= 1; }

/* Pieces that every part writes some of, and every part reads others: there when all parts have been, but no table. */
static bool is_crossing(const Ordering *o, const ProblemAccess *access) { return access->kind == PROBLEM_ACCESS_LIST && !is_whole(o, access->datum); }

/* A table that stays in pieces. */
static bool is_gathered(const ProblemAccess *access) { return access->kind == PROBLEM_ACCESS_ALL; }

/* Reads, then writes. */
static int access_count(const ProblemOp *op) { return op->read_count + op->write_count; }
static const ProblemAccess *access_at(const ProblemOp *op, int i) { return i < op->read_count ? &op->reads[i] : &op->writes[i - op->read_count]; }

/* The last run that writes what the op reads or adds to: of data with parts, or of those without. */
static int latest_writer(const Ordering *o, const ProblemOp *op, bool of_whole) {
  int latest = 0;
  for (int i = 0; i < access_count(op); i++) {
    const int datum = access_at(op, i)->datum;
    if ((is_whole(o, datum) || is_crossing(o, access_at(op, i)) || is_gathered(access_at(op, i))) == of_whole && o->writer[datum] > latest) latest = o->writer[datum];
  }
  return latest;
}

/* What has no parts is complete after the last of them. */
static bool writes_whole(const Ordering *o, const ProblemOp *op) {
  for (int i = 0; i < op->write_count; i++)
    if (is_whole(o, op->writes[i].datum)) return true;
  return false;
}

static bool is_sum(const Ordering *o, const ProblemAccess *write) { return write->kind == PROBLEM_ACCESS_LIST || o->planning->sums_of_datum[write->datum] != NO_INDEX; }

static bool only_sums(const Ordering *o, const ProblemOp *op) {
  bool is_sums = op->write_count > 0;
  for (int i = 0; i < op->write_count; i++) is_sums = is_sums && is_whole(o, op->writes[i].datum) && is_sum(o, &op->writes[i]);
  return is_sums;
}

static bool writes_table(const Ordering *o, const ProblemOp *op) {
  bool writes = false;
  for (int i = 0; i < op->write_count; i++) {
    const bool is_one = is_whole(o, op->writes[i].datum) && !is_sum(o, &op->writes[i]);
    o->is_table[op->writes[i].datum] = o->is_table[op->writes[i].datum] || is_one;
    writes = writes || is_one;
  }
  return writes;
}

static bool reads_table(const Ordering *o, const ProblemOp *op) {
  for (int i = 0; i < op->read_count; i++)
    if (o->is_table[op->reads[i].datum] || is_gathered(&op->reads[i])) return true;
  return false;
}

static bool is_slice(const Ordering *o, int datum) {
  const ValueId value = o->planning->value_of_datum[datum];
  return value != NO_VALUE && o->planning->kernels->graph->values[value].slice.count > 0;
}

/* One table is there at a time; and while it is a slice nothing else is done, as what follows reads all slices. */
static bool has_same_table(const Run *run, const ProblemOp *op) {
  bool has_others = false, gathers = false;
  for (int i = 0; i < op->read_count; i++) {
    bool is_there = !is_gathered(&op->reads[i]);
    gathers = gathers || !is_there;
    for (int k = 0; k < run->gathered_count; k++) is_there = is_there || run->gathered[k] == op->reads[i].datum;
    has_others = has_others || !is_there;
  }
  return !(has_others && run->has_table) && !(run->gathers_slices && !gathers);
}

static const ProblemOp *first_op(const Ordering *o, int run) { return &o->problem->ops[o->runs[run].ops[0]]; }

static void push_op(Ordering *o, int to, int index) {
  const ProblemOp *op = &o->problem->ops[index];
  Run *run = &o->runs[to];
  ARENA_PUSH(o->arena, run->ops, run->op_count, index);
  run->is_ordered = run->is_ordered || writes_whole(o, op);
  run->has_table = run->has_table || reads_table(o, op);
  for (int i = 0; i < op->read_count; i++)
    if (is_gathered(&op->reads[i])) {
      ARENA_PUSH(o->arena, run->gathered, run->gathered_count, op->reads[i].datum);
      run->gathers_slices = run->gathers_slices || is_slice(o, op->reads[i].datum);
    }
  for (int i = 0; i < op->write_count; i++) o->writer[op->writes[i].datum] = to + 1;
}

static int begin_run(Ordering *o) {
  ARENA_PUSH(o->arena, o->runs, o->run_count, (Run){0});
  return o->run_count - 1;
}

/* The op goes before the run under way, which stays the last one. */
static void put_before(Ordering *o, int index) {
  const int last = begin_run(o);
  o->runs[last] = o->runs[last - 1];
  o->runs[last - 1] = (Run){0};
  for (int d = 0; d < o->problem->datum_count; d++)
    if (o->writer[d] == last) o->writer[d] = last + 1;
  push_op(o, last - 1, index);
}

/* A sum over all rows reads its operands where the last of them is made. */
static int run_of_sum(const Ordering *o, const ProblemOp *op) {
  const int made = latest_writer(o, op, false);
  if (made == 0 || latest_writer(o, op, true) >= made || first_op(o, made - 1)->phase != op->phase || !has_same_table(&o->runs[made - 1], op)) return NO_INDEX;
  return made - 1;
}

static void place_op(Ordering *o, int index) {
  const ProblemOp *op = &o->problem->ops[index];
  const int last = o->run_count - 1;
  const bool is_open = last >= 0 && first_op(o, last)->chunks > 1;
  if (op->chunks == 1) {
    const bool is_update = op->phase == PROBLEM_PHASE_OPTIMISER; /* after all that is backward */
    const bool is_before = is_open && access_count(op) > 0 && (!is_update || first_op(o, last)->phase == op->phase) && latest_writer(o, op, true) <= last && latest_writer(o, op, false) <= last;
    if (is_before) put_before(o, index);
    else push_op(o, begin_run(o), index);
    return;
  }
  const int of_sum = only_sums(o, op) ? run_of_sum(o, op) : NO_INDEX;
  if (of_sum != NO_INDEX) {
    push_op(o, of_sum, index);
    return;
  }
  const bool is_alike = is_open && first_op(o, last)->phase == op->phase, reads_run = latest_writer(o, op, false) == o->run_count;
  const bool is_table_alone = writes_table(o, op) && is_open && (o->runs[last].has_table || !reads_run);
  const bool joins = is_alike && !is_table_alone && latest_writer(o, op, true) <= last && has_same_table(&o->runs[last], op);
  push_op(o, joins ? last : begin_run(o), index);
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

static ProblemAccess *read_of(const ProblemOp *op, int datum) {
  for (int i = 0; i < op->read_count; i++)
    if (op->reads[i].datum == datum) return &op->reads[i];
  return NULL;
}

/* What a run gathers from stays until its last part: the steps between say that they read it, too, or each piece would be one to decide about between each two of them. */
static void hold_gathered(const Ordering *o, const Run *run) {
  for (int i = 0; i < run->op_count; i++)
    for (int k = 0; k < run->gathered_count; k++) {
      ProblemOp *op = &o->problem->ops[run->ops[i]];
      ProblemAccess *read = read_of(op, run->gathered[k]), held = {.datum = run->gathered[k], .kind = PROBLEM_ACCESS_ALL};
      if (read) *read = held;
      else ARENA_PUSH(o->arena, op->reads, op->read_count, held);
    }
}

void order_by_parts(Arena *arena, Problem *problem, const PlanningProblem *planning) {
  const size_t room = (size_t)problem->datum_count + 1;
  Ordering o = {.arena = arena, .problem = problem, .planning = planning, .writer = arena_alloc(arena, room * sizeof(int)), .is_table = arena_alloc(arena, room)};
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
    hold_gathered(&o, run);
    const int chunks = problem->ops[run->ops[0]].chunks;
    for (int k = 0; k < chunks; k++)
      for (int i = 0; i < run->op_count; i++) {
        problem->order[2 * problem->order_count] = run->ops[i];
        problem->order[2 * problem->order_count++ + 1] = run->is_descending ? chunks - 1 - k : k;
      }
  }
}
