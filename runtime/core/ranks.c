/* ranks.c: what passes between ranks, up to the net that carries it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boundary.h"
#include "kernels/cpu/walk.h"

static const uint64_t ranks_sum_begins = 0xcbf29ce484222325u;

static uint64_t ranks_sum(uint64_t sum, const void *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) sum = (sum ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  return sum;
}

int64_t gnn_ranks_number(const char *text) {
  const int64_t number = (int64_t)ranks_sum(ranks_sum_begins, text, strlen(text));
  return number ? number : 1;
}

/* Of what steps exchange: which they are, between which rows, and where these lie. */
static int64_t ranks_plan_number(const gnn_program *program) {
  const int64_t bytes[] = {program->device_bytes, program->host_bytes, program->ssd_bytes, program->step_count, program->once_count, program->copy_count};
  uint64_t sum = ranks_sum(ranks_sum_begins, bytes, sizeof bytes);
  for (int s = 0; s < program->step_count + program->once_count; s++) {
    const gnn_step_desc *step = &program->steps[s];
    sum = ranks_sum(sum, &step->number, sizeof step->number);
    sum = ranks_sum(sum, step->what, strlen(step->what));
  }
  for (int c = 0; c < program->copy_count; c++) {
    const gnn_copy_desc *copy = &program->copies[c];
    const int64_t numbers[] = {copy->step, copy->lane, copy->bytes, copy->halo, copy->row_bytes, copy->volume, copy->is_approximate, copy->is_of_others, copy->holders, copy->way};
    sum = ranks_sum(sum, numbers, sizeof numbers);
  }
  return (int64_t)ranks_sum(sum, program->ranks->first, ((size_t)program->ranks->count + 1) * sizeof *program->ranks->first);
}

/* Before anything else is exchanged; between as many as were started, where programs are for so many at all. */
static gnn_status ranks_are_of_one_program(gnn_ranks *ranks, gnn_error *error) {
  const gnn_program *program = ranks->program;
  const gnn_alike own[] = {{"a program for another number of ", "ranks", ranks->count}, {"another ", "program", gnn_ranks_number(program->fingerprint)}, {"another ", "plan", ranks_plan_number(program)}};
  gnn_status status = GNN_OK;
  if (ranks->started <= GNN_RANKS_MOST) {
    ranks->count = ranks->started;
    status = gnn_ranks_are_alike(ranks, own, (int)(sizeof own / sizeof *own), "all ranks run the same file: a folder that all machines share", error);
    ranks->count = program->ranks->count;
  }
  if (status != GNN_OK || ranks->started == ranks->count) return status;
  status = gnn_fail(error, GNN_EDATA, "R0809", "the program is for %d ranks, and %d %s started", ranks->count, ranks->started, ranks->started == 1 ? "was" : "were");
  gnn_fail_help(error, "mpirun -np %d ./%s; or compile it for as many as there are: gnncc --ranks=%d %s", ranks->count, ranks->name, ranks->started, program->source_name);
  return status;
}

static gnn_status make_lists(gnn_ranks *ranks, gnn_error *error) {
  const size_t halos = (size_t)ranks->desc->halos;
  ranks->rows = calloc(halos, sizeof *ranks->rows);
  ranks->send_first = calloc(halos, sizeof *ranks->send_first);
  ranks->receive_first = calloc(halos, sizeof *ranks->receive_first);
  ranks->send_row = calloc(halos, sizeof *ranks->send_row);
  if (!ranks->rows || !ranks->send_first || !ranks->receive_first || !ranks->send_row) return gnn_fail_memory(error, 32 * (int64_t)halos);
  for (size_t h = 0; h < halos; h++) {
    ranks->send_first[h] = calloc((size_t)ranks->count + 1, sizeof *ranks->send_first[h]);
    ranks->receive_first[h] = calloc((size_t)ranks->count + 1, sizeof *ranks->receive_first[h]);
    if (!ranks->send_first[h] || !ranks->receive_first[h]) return gnn_fail_memory(error, 8 * (ranks->count + 1));
  }
  return GNN_OK;
}

gnn_status gnn_ranks_begin(const gnn_program *program, const char *name, gnn_ranks **out, gnn_error *error) {
  *out = NULL;
  if (program->ranks == NULL) return GNN_OK;
  gnn_ranks *ranks = calloc(1, sizeof *ranks);
  if (ranks == NULL) return gnn_fail_memory(error, (int64_t)sizeof *ranks);
  *ranks = (gnn_ranks){.program = program, .desc = program->ranks, .name = name, .count = program->ranks->count, .together = 1};
  ranks->sent_bytes = calloc((size_t)program->copy_count + 1, sizeof *ranks->sent_bytes);
  ranks->sent_times = calloc((size_t)program->copy_count + 1, sizeof *ranks->sent_times);
  ranks->part_edge = calloc(((size_t)1 << program->graph.part_levels) + 1, sizeof *ranks->part_edge);
  gnn_status status = ranks->sent_bytes && ranks->sent_times && ranks->part_edge ? GNN_OK : gnn_fail_memory(error, 16 * program->copy_count);
  if (status == GNN_OK) status = make_lists(ranks, error);
  if (status == GNN_OK) status = program->ranks->net->begin(ranks, error);
  if (ranks->state == NULL) return status; /* nothing has begun */
  *out = ranks;
  if (status == GNN_OK) status = ranks_are_of_one_program(ranks, error);
  return status == GNN_OK ? gnn_columns_begin(ranks, error) : status;
}

int gnn_ranks_launched(const gnn_program *program) { return program->ranks ? program->ranks->net->launched() : -1; }

void gnn_ranks_complain(gnn_ranks *ranks, const char *text, const char *like) {
  if (like == NULL) like = text;
  ranks->complaint_sum = ranks_sum(ranks->complaint_sum ? ranks->complaint_sum : ranks_sum_begins, like, strlen(like) + 1);
  gnn_text_format(&ranks->complaint, "%s: ", ranks->name);
  if (ranks->rank > 0) gnn_text_format(&ranks->complaint, "rank %d: ", ranks->rank);
  gnn_text_format(&ranks->complaint, "%s\n", text);
}

static void ranks_say_complaint(const gnn_ranks *ranks) {
  fflush(stdout);
  if (ranks->complaint.data) fputs(ranks->complaint.data, stderr);
}

/* Where somebody does not come, a rank of those that have failed ends all. */
static void ranks_leave(gnn_ranks *ranks, int code) {
  const gnn_net *net = ranks->desc->net;
  int64_t *all = calloc((size_t)ranks->started, sizeof *all);
  const int has_all = all && net->leave(ranks, (int64_t)ranks->complaint_sum, all);
  int is_alike = has_all;
  for (int r = 1; r < ranks->started && is_alike; r++) is_alike = all[r] == all[0];
  free(all);
  if (!is_alike || ranks->rank == 0) ranks_say_complaint(ranks);
  if (has_all) net->end(ranks);
  else net->abort(ranks, code);
}

void gnn_ranks_end(gnn_ranks *ranks, int code, int is_agreed) {
  if (ranks == NULL) return;
  if (code == 0 || is_agreed) {
    ranks_say_complaint(ranks);
    ranks->desc->net->end(ranks);
  } else {
    ranks_leave(ranks, code);
  }
  gnn_text_free(&ranks->complaint);
  gnn_boundary_end(ranks);
  gnn_columns_end(ranks);
  for (int h = 0; h < ranks->desc->halos; h++) {
    free(ranks->send_first[h]);
    free(ranks->receive_first[h]);
  }
  free(ranks->rows);
  free(ranks->send_first);
  free(ranks->receive_first);
  free(ranks->send_row);
  free(ranks->sent_bytes);
  free(ranks->sent_times);
  free(ranks->part_edge);
  free(ranks);
}

void gnn_ranks_tell(gnn_ranks *ranks, const int64_t *own, int count, int64_t *all) {
  int64_t first[GNN_RANKS_MOST + 1];
  for (int r = 0; r <= ranks->count; r++) first[r] = r;
  memcpy(all + ranks->rank * count, own, (size_t)count * sizeof *own);
  ranks->desc->net->gather(ranks, 0, all, first, count * (int64_t)sizeof *own);
}

gnn_status gnn_ranks_are_alike(gnn_ranks *ranks, const gnn_alike *own, int count, const char *help, gnn_error *error) {
  if (ranks == NULL) return GNN_OK;
  int64_t *numbers = malloc((size_t)count * sizeof *numbers), *all = malloc((size_t)(count * ranks->count) * sizeof *all);
  gnn_status status = numbers && all ? GNN_OK : gnn_fail_memory(error, count * (ranks->count + 1) * (int64_t)sizeof *all);
  for (int i = 0; i < count && status == GNN_OK; i++) numbers[i] = own[i].number;
  if (status == GNN_OK) gnn_ranks_tell(ranks, numbers, count, all);
  for (int k = count; k < count * ranks->count && status == GNN_OK; k++) {
    const gnn_alike *what = &own[k % count];
    if (all[k] == all[k % count]) continue;
    status = gnn_fail(error, GNN_EDATA, "R0809", "rank %d has %s%s than rank 0", k / count, what->before, what->what);
    gnn_fail_help(error, "%s", help);
  }
  free(numbers);
  free(all);
  return status;
}

void gnn_ranks_add(gnn_ranks *ranks, int64_t *numbers, int64_t count) {
  enum { TOGETHER = 64 };
  int64_t all[GNN_RANKS_MOST * TOGETHER];
  for (int64_t first = 0; ranks && first < count; first += TOGETHER) {
    const int some = count - first < TOGETHER ? (int)(count - first) : TOGETHER;
    gnn_ranks_tell(ranks, numbers + first, some, all);
    for (int i = 0; i < some; i++) numbers[first + i] = 0;
    for (int i = 0; i < some * ranks->count; i++) numbers[first + i % some] += all[i];
  }
}

void gnn_ranks_most(gnn_ranks *ranks, int64_t *number) {
  int64_t all[GNN_RANKS_MOST];
  if (ranks) gnn_ranks_tell(ranks, number, 1, all);
  for (int r = 0; ranks && r < ranks->count; r++) *number = all[r] > *number ? all[r] : *number;
}

void gnn_ranks_settle(gnn_ranks *ranks) {
  if (ranks) ranks->desc->net->settle(ranks);
}

int gnn_ranks_are_passing(const gnn_ranks *ranks) { return ranks && ranks->desc->net->is_passing(ranks); }

const char *gnn_ranks_step_text(const gnn_ranks *ranks, int step) {
  const gnn_program *p = ranks->program;
  for (int s = 0; s < p->step_count + p->once_count; s++)
    if (step > 0 && p->steps[s].number == step) return p->steps[s].what;
  return "between epochs";
}

gnn_where gnn_ranks_where(const gnn_ranks *ranks, int step) {
  gnn_where where = {"a step of this epoch"};
  if (step >= 0) snprintf(where.text, sizeof where.text, "step %d (%.200s)", step, gnn_ranks_step_text(ranks, step));
  return where;
}

void gnn_ranks_say_failure(const gnn_ranks *ranks, int step, const char *what, const char *text) {
  fflush(stdout);
  fprintf(stderr, "%s: error[R0810]: rank %d: %s: %s: %s\n  help: --resume goes on from the last checkpoint, with any number of ranks\n", ranks->name, ranks->rank, gnn_ranks_where(ranks, step).text, what, text);
}

/* ---- called by steps ---- */

int64_t gnn_sent_rows(const gnn_run *run, int halo) { return run->ranks->send_first[halo][run->ranks->count]; }
const int32_t *gnn_rows_to_send(const gnn_run *run, int halo) { return run->ranks->send_row[halo]; }

gnn_messages gnn_ranks_messages(const gnn_ranks *ranks, int number, void *sending, void *table) {
  const gnn_copy_desc *copy = &ranks->program->copies[number];
  const gnn_columns_lists *columns = ranks->columns[copy->holders];
  if (columns && copy->halo == ranks->desc->halos - 2) return (gnn_messages){sending, table, columns->to_holders, columns->of_all, copy->row_bytes, 0};
  if (columns) return (gnn_messages){sending, table, columns->of_all, columns->of_holders, copy->row_bytes, 0};
  const int64_t before = copy->is_of_others ? 0 : ranks->rows[copy->halo] * copy->row_bytes;
  return (gnn_messages){sending, (unsigned char *)table + before, ranks->send_first[copy->halo], ranks->receive_first[copy->halo], copy->row_bytes, gnn_ranks_draws_pairs(ranks, copy->halo)};
}

void gnn_ranks_count(gnn_ranks *ranks, int number, int64_t bytes) {
  ranks->sent_bytes[number] += bytes;
  ranks->sent_times[number]++;
}

void gnn_ranks_start(gnn_run *run, int number, void *sending, void *table) {
  const gnn_copy_desc *copy = &run->program->copies[number];
  gnn_ranks *ranks = run->ranks;
  const gnn_messages messages = gnn_ranks_messages(ranks, number, sending, table);
  int64_t sent = gnn_messages_bytes(&messages, ranks->rank, ranks->count);
  if (copy->is_approximate) sent = gnn_boundary_exchange(run, number, sending, table);
  else ranks->desc->net->start(ranks, copy->step, &messages);
  gnn_ranks_count(ranks, number, sent);
}

void gnn_ranks_finish(gnn_run *run, int number) {
  const gnn_copy_desc *copy = &run->program->copies[number];
  if (!copy->is_approximate) run->ranks->desc->net->finish(run->ranks, copy->step);
}

int gnn_ranks_is_once(const gnn_ranks *ranks, int copy) {
  const gnn_program *p = ranks->program;
  for (int s = p->step_count; s < p->step_count + p->once_count; s++)
    if (p->steps[s].number == p->copies[copy].step) return 1;
  return 0;
}

int64_t gnn_ranks_counted(gnn_ranks *ranks, int copy) {
  int64_t all[GNN_RANKS_MOST][2], bytes = 0;
  gnn_ranks_tell(ranks, (const int64_t[]){ranks->sent_bytes[copy], ranks->sent_times[copy]}, 2, all[0]);
  for (int r = 0; r < ranks->count; r++) {
    if (all[r][1] != all[0][1]) return -1;
    bytes += all[r][0];
  }
  if (all[0][1] == 0) return 0;
  if (gnn_ranks_draws(ranks, copy)) return bytes / all[0][1];
  return bytes % all[0][1] ? -1 : bytes / all[0][1];
}

int64_t gnn_own_share(const gnn_run *run, int64_t own_run, int64_t rows) {
  const int64_t first = (int64_t)gnn_first_part(run) << (run->blocks.run_levels - run->ranks->desc->part_levels);
  return gnn_run_share(&run->blocks, first + own_run, rows) - gnn_run_share(&run->blocks, first, rows);
}

int gnn_first_part(const gnn_run *run) { return run->ranks->desc->first_part[run->ranks->rank]; }
int gnn_own_parts(const gnn_run *run) { return run->ranks->desc->first_part[run->ranks->rank + 1] - gnn_first_part(run); }

int64_t gnn_parts_before(const gnn_run *run, int64_t part) { return ((int64_t)gnn_own_parts(run) << run->ranks->desc->finer_levels) * part >> run->program->graph.part_levels; }

int64_t gnn_part_row(const gnn_run *run, int64_t part) {
  const gnn_ranks_desc *desc = run->ranks->desc;
  return run->blocks.first[gnn_parts_before(run, part) << (run->blocks.levels - desc->part_levels - desc->finer_levels)];
}

int64_t gnn_row_of_part(const gnn_run *run, int64_t part) { return run->ranks ? gnn_part_row(run, part) : run->program->graph.part_first[part]; }

int64_t gnn_part_edge(const gnn_run *run, int64_t part) { return run->ranks->part_edge[part]; }

void gnn_gather_parts(gnn_run *run, void *parts, int64_t part_bytes) {
  const gnn_ranks_desc *desc = run->ranks->desc;
  int64_t first[GNN_RANKS_MOST + 1];
  for (int r = 0; r <= desc->count; r++) first[r] = desc->first_part[r];
  desc->net->gather(run->ranks, run->step, parts, first, part_bytes);
}

static void fold_ranks(gnn_run *run, gnn_fold fold, gnn_real *numbers, int64_t count) {
  const int64_t parts = INT64_C(1) << run->ranks->desc->part_levels;
  gnn_gather_parts(run, numbers, count * (int64_t)sizeof *numbers);
  for (int64_t half = 1; half < parts; half *= 2)
    for (int64_t p = 0; p < parts; p += 2 * half) gnn_fold_numbers(fold, numbers + p * count, numbers + (p + half) * count, 0, count);
}

void gnn_sum_ranks(gnn_run *run, gnn_real *sums, int64_t count) { fold_ranks(run, GNN_FOLD_SUM, sums, count); }
void gnn_max_ranks(gnn_run *run, gnn_real *numbers, int64_t count) { fold_ranks(run, GNN_FOLD_MAX, numbers, count); }
void gnn_min_ranks(gnn_run *run, gnn_real *numbers, int64_t count) { fold_ranks(run, GNN_FOLD_MIN, numbers, count); }
