/* ranks.h: processes that own rows of one graph each, and what passes between them.
 *
 * All of them run the same steps in the same order, over rows of their own. Rows that a rank gathers of others come by exchanges, which are steps of the schedule; sums over rows are
 * those of the parts of all ranks, added in the tree that one process goes through. Nothing else is sent, so every number that a rank decides by is the same on all. */
#ifndef GNN_RANKS_H
#define GNN_RANKS_H

#include "runtime/base/text.h"

/* Rows that leave for each rank lie one after the other, and so do those that come; in rows of row_bytes. Where there are some of the rank itself between them, these stay. */
typedef struct gnn_messages {
  unsigned char *sending, *receiving;
  const int64_t *send_first, *receive_first; /* [count + 1] */
  int64_t row_bytes;
  int is_drawn;         /* there are others the next time */
} gnn_messages;

static inline int64_t gnn_messages_bytes(const gnn_messages *m, int rank, int count) { return (m->send_first[count] - (m->send_first[rank + 1] - m->send_first[rank])) * m->row_bytes; } /* that leave */

/* What carries them. Whatever fails is said, with rank, step, peer and message, and ends all ranks. */
struct gnn_net {
  const char *name;
  int (*launched)(void); /* which rank the launcher has said that this process is, before the net begins; -1: it has not */
  gnn_status (*begin)(gnn_ranks *ranks, gnn_error *error); /* finds rank and started, how many there are, and is_by_caller */
  /* `step` has the same messages whenever it comes, or is_drawn. By the thread of the net's lane, beside whatever is gathered, where that may be. What was started is finished before it is started again. */
  void (*start)(gnn_ranks *ranks, int step, const gnn_messages *messages);
  void (*finish)(gnn_ranks *ranks, int step);
  /* All have all of it: units of unit_bytes, those of rank r from first[r] on; its own are there. */
  void (*gather)(gnn_ranks *ranks, int step, void *all, const int64_t *first, int64_t unit_bytes);
  /* Ranks that fail come here, each with what it has to say as a number, and wait a moment for each other: whether all have come, with their numbers in all[started]. Those that have not may wait for this rank. */
  int (*leave)(gnn_ranks *ranks, int64_t own, int64_t *all);
  void (*settle)(gnn_ranks *ranks); /* rows that are on their way, which no epoch asks for any more, come; messages are between other places from now on */
  int (*is_passing)(const gnn_ranks *ranks); /* whether rows are on their way between places of an arena */
  void (*end)(gnn_ranks *ranks);
  void (*abort)(gnn_ranks *ranks, int code); /* of all of them, at once */
};

/* Of exchanges of columns, by how many ranks have some: where the rows of each rank begin, of those that leave for who has columns, that come from there, and of all that come to or leave one. */
typedef struct gnn_columns_lists {
  int64_t to_holders[GNN_RANKS_MOST + 1], of_holders[GNN_RANKS_MOST + 1], of_all[GNN_RANKS_MOST + 1];
} gnn_columns_lists;

struct gnn_ranks {
  const gnn_program *program;
  const gnn_ranks_desc *desc;
  const char *name;   /* of the executable */
  int rank, count;
  int started;        /* by what started the program */
  int together, here; /* so many of them are on this machine, of which it is number `here` */
  int is_by_caller;   /* the net takes calls of one thread alone, that of the steps, which then starts an exchange where it is queued and finishes it where it is awaited */
  void *state;        /* of the net */
  void *device_state[GNN_WAYS]; /* of what passes between their devices each way (cuda/device_net.h); NULL: nothing does */
  int64_t *rows; /* [desc->halos], as what follows: of a table, before those of others */
  int64_t **send_first, **receive_first; /* [count + 1] each */
  const int32_t **send_row;
  gnn_columns_lists *columns[GNN_RANKS_MOST + 1]; /* by the number of ranks that have some; NULL: of no exchange */
  struct gnn_boundary_state *boundary; /* boundary.h; NULL: all is exact */
  int64_t *part_edge; /* [2^graph.part_levels + 1]: where the edges that arrive at the rows of each part begin */
  gnn_text complaint; /* what this rank fails of, until it is said */
  uint64_t complaint_sum;
  int64_t *sent_bytes, *sent_times; /* per copy of the program: what left this rank, in how many exchanges; since the program began */
};

/* The net begins: *ranks is NULL for a program that has none. GNN_EDATA: it was started with another number of them, or one has another program or plan. */
gnn_status gnn_ranks_begin(const gnn_program *program, const char *name, gnn_ranks **ranks, gnn_error *error);
/* is_agreed: all ranks end so, as they have told each other. Otherwise a code that is not 0 ends all of them, and complaints are said: by rank 0 where all ranks have the same. */
void gnn_ranks_end(gnn_ranks *ranks, int code, int is_agreed);
/* Why this rank is about to end, without its name and a newline at the end: said at its end. like: what the text has alike on all ranks that fail of the same; NULL: all of it. */
void gnn_ranks_complain(gnn_ranks *ranks, const char *text, const char *like);
/* What all ranks have to have alike, as a number; it is called `before`, `what`. */
typedef struct gnn_alike {
  const char *before, *what;
  int64_t number;
} gnn_alike;
/* R0809, on all ranks, where one has something else than rank 0. All of them ask, for as much. NULL: there is one process. */
gnn_status gnn_ranks_are_alike(gnn_ranks *ranks, const gnn_alike *own, int count, const char *help, gnn_error *error);
/* Of a text as a number that is not 0. */
int64_t gnn_ranks_number(const char *text);
/* Which rank a launcher says this process is, for what is printed before the net begins or without it; -1: nobody says, or the program has no ranks. */
int gnn_ranks_launched(const gnn_program *program);
/* Where rank r > 0 is asked: its text goes nowhere, and rank 0 writes the files. NULL: there is one process. */
static inline int gnn_ranks_is_first(const gnn_ranks *ranks) { return ranks == NULL || ranks->rank == 0; }
/* all[r * count ..] are those of rank r. `all` has room for all ranks, and own is none of it. */
void gnn_ranks_tell(gnn_ranks *ranks, const int64_t *own, int count, int64_t *all);
/* At which row a part begins, from 0 on: gnn_part_row, or of all nodes where there are no ranks. */
int64_t gnn_row_of_part(const gnn_run *run, int64_t part);
/* Whose rows a rank compares with what that one has: on another machine, where ranks are alike on all of them. */
static inline int gnn_rank_beside(const gnn_ranks *ranks, int rank) { return (rank + (ranks->count > 1 ? ranks->count / 2 : 0)) % ranks->count; }
/* What each rank has counted becomes what all have together, or the most that one has. NULL: there is one process. */
void gnn_ranks_add(gnn_ranks *ranks, int64_t *numbers, int64_t count);
void gnn_ranks_most(gnn_ranks *ranks, int64_t *number);
/* An instance is about to be destroyed, and another one will follow. NULL: there is one process. */
void gnn_ranks_settle(gnn_ranks *ranks);
int gnn_ranks_are_passing(const gnn_ranks *ranks); /* gnn_net.is_passing; 0 of one process */
/* The words of a step; 0: between epochs. And with its number; -1: some step of an epoch. */
typedef struct gnn_where {
  char text[256];
} gnn_where;
const char *gnn_ranks_step_text(const gnn_ranks *ranks, int step);
gnn_where gnn_ranks_where(const gnn_ranks *ranks, int step);
/* R0810, for the user: what ends all ranks. */
void gnn_ranks_say_failure(const gnn_ranks *ranks, int step, const char *what, const char *text);
/* What the data have of further types of nodes, and of sets of edges: behind them a program may have the whole graph as one of each. */
static inline int gnn_data_types(const gnn_program *program) { return program->graph.type_count - (program->ranks && program->ranks->whole_set); }
static inline int gnn_data_sets(const gnn_program *program) { return program->graph.set_count - (program->ranks && program->ranks->whole_set); }
/* Of the exchanges of columns: what passes is known without the data. */
gnn_status gnn_columns_begin(gnn_ranks *ranks, gnn_error *error);
void gnn_columns_end(gnn_ranks *ranks);
/* What passes in an exchange of all rows, between these places; and that it has. */
gnn_messages gnn_ranks_messages(const gnn_ranks *ranks, int copy, void *sending, void *table);
void gnn_ranks_count(gnn_ranks *ranks, int copy, int64_t bytes);
/* A copy on the lane of the net: behind the rows of `table` come those of others, rank by rank, in the order of their rows. It is over once it was started and finished. An error ends all ranks. */
void gnn_ranks_start(gnn_run *run, int copy, void *sending, void *table);
void gnn_ranks_finish(gnn_run *run, int copy);
/* Whether other rows are drawn for each exchange of a copy: of the boundary, or of candidate pairs. */
static inline int gnn_ranks_draws_pairs(const gnn_ranks *ranks, int halo) {
  const gnn_program *program = ranks->program;
  return program->recipe.pairs.is_resampled && program->scores_domain == GNN_RELATION && halo == GNN_HALOS + program->scores_set - GNN_RELATIONS;
}
static inline int gnn_ranks_draws(const gnn_ranks *ranks, int copy) {
  const gnn_copy_desc *drawn = &ranks->program->copies[copy];
  return (ranks->desc->boundary == GNN_BOUNDARY_SAMPLE && drawn->is_approximate) || gnn_ranks_draws_pairs(ranks, drawn->halo);
}
int gnn_ranks_is_once(const gnn_ranks *ranks, int copy); /* whether it passes before the first epoch, and never again */
/* Of all exchanges of a copy so far, by all ranks, the bytes of one, where rows are drawn in the mean; 0: there was none, -1: they were not all alike. All ranks ask. */
int64_t gnn_ranks_counted(gnn_ranks *ranks, int copy);

#endif
