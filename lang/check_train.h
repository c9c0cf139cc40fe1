/* check_train.h: what the files that check the train block share. */
#ifndef GNNCC_CHECK_TRAIN_H
#define GNNCC_CHECK_TRAIN_H

#include "check.h"

typedef struct Training {
  Checker *checker;
  TrainSpec *train;
  const ConfStmt *loss, *optimizer, *clip, *metric, *keep, *stop, *evaluate, *report, *batch;
  bool has_shows, has_metric_error;
  bool is_model_wrong; /* an error was found before: what its result and its weights are is not known */
  int labels_for;      /* GNN_FOR_...: what the labels are; 0: the loss has told nothing */
  Place plateau_place; /* of the schedule that watches a measure */
} Training;

/* ---- check_train.c ---- */
const char *train_word_of(const Expr *expr); /* of a name or a call; "" of anything else */
bool train_is_in(const char *word, const char *const *words, int count);
void train_unknown_word(Checker *checker, Place place, const char *what, const char *word, const char *const *known, int count);
TypedId train_hyper(Training *t, const Expr *expr, double low, double high, const char *what);
bool train_whole(Training *t, const Expr *expr, const char *what, int64_t least, int64_t *result);
bool train_is_call_of(const Expr *expr, const char *name, int count);
bool train_split_measure(Training *t, const Expr *expr, Split *split, Measure *measure); /* valid.accuracy */

/* ---- check_loss.c ---- */
void train_check_loss(Training *t);

/* ---- check_optimizer.c ---- */
void train_check_optimizer(Training *t);
void train_check_group(Training *t, const ConfStmt *stmt);
void train_check_clip(Training *t);

/* ---- check_batch.c ---- */
void train_check_batch(Training *t);

/* ---- check_boundary.c ---- */
void train_check_approximate(Training *t, const ConfStmt *stmt);

#endif
