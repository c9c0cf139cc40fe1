/* advice.h: what to change of a program, its budgets or its machine, and what that gives: each of it was planned before it is said. */
#ifndef GNNCC_ADVICE_H
#define GNNCC_ADVICE_H

#include "instead.h"

/* ---- the same text compiled otherwise ---- */

typedef enum ChangeKind { CHANGE_CONSTANT, CHANGE_PRECISION, CHANGE_PROCESSOR, CHANGE_CARD } ChangeKind;

typedef struct Change {
  ChangeKind kind;
  const char *name, *value; /* of a constant; the name of a card's target */
  Precision precision;
  bool takes_first; /* as of PlanRequest: whoever types the option finds that plan or a faster one */
} Change;

typedef struct ChangedPlan {
  bool fits, keeps_all;
  bool has_same_data; /* the constant says nothing about them */
  double seconds;     /* of an epoch, or of an evaluation where nothing is trained */
  int64_t device_bytes;
  int64_t work; /* as of PlanRequest */
} ChangedPlan;

/* What a command line can still change, and who plans it then. */
typedef struct Changes {
  Arena *arena;
  void *of;
  ChangedPlan (*plan)(void *of, const Change *change);
  /* The installed card with the least memory that leaves so much for a plan, and more than `above`; NULL: none. */
  const char *(*card)(void *of, int64_t bytes, int64_t above);
  const TypedProgram *program;
  bool is_fixed;         /* nothing can be compiled otherwise: a profile or a plan from a file was given */
  int precision_count;   /* that are not more exact than the one there is */
  Precision precisions[PRECISION_COUNT];
  const char *processor; /* what to write for a plan on a processor; NULL: this is one, or options are for a GPU alone */
  bool is_processor;
  bool can_be_card;      /* no option is for a processor alone */
  bool has_budgets;      /* of the command line: they are of this machine, and left out for another one */
  bool has_tier[TIER_COUNT];        /* with a budget of 0, too */
  int64_t tier_most[TIER_COUNT];    /* that the machine has; of the device without what is in reserve. INT64_MAX: nobody says */
} Changes;

/* A size as it is typed behind --budget, not below `bytes`, and then how many these are: "9.1GiB", "402.6MiB", "1593KiB". */
const char *advice_size(Arena *arena, int64_t bytes, int64_t *written);
/* What to type for a change. */
const char *advice_option(const Changes *changes, const Change *change);
const char *advice_rounding(Precision precision); /* what it does to numbers */
/* Half of a whole constant, a quarter, ...; NULL: less than 1. */
const char *advice_part_of(Arena *arena, double constant, int halvings);

/* ---- what helps a plan that fits ---- */

typedef struct AdviceItem {
  const char *write;  /* an option of the command line; or a line of the data block */
  bool is_option;
  const char *gives;
  double seconds;     /* as of ChangedPlan */
  int64_t device_bytes; /* 0: nobody asks */
  int place;            /* in the list: lower ones are said first */
} AdviceItem;

typedef struct Advice {
  bool is_all_kept;
  const char *first;  /* a sentence before the list; NULL: the list says it all */
  int count, trials;
  AdviceItem *list;
} Advice;

/* At most ADVICE_TRIALS more plans are made, each as whoever types the option would have it, and none after so much work (of PlanRequest, about half a second
 * of a processor): never by a clock, so that the same question has the same answer. What takes little is tried first. */
enum { ADVICE_TRIALS = 12, ADVICE_WORK = 4000000 };

/* `asked`: the question of which this is the answer. `instead` is NULL where nothing is trained; what was only sketched of a larger device is planned, or forgotten. */
const Advice *advice_of(const PlanRequest *asked, const PlanAnswer *answer, Instead *instead, const Changes *changes);

#endif
