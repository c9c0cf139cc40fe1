/* measures: losses and metrics as words, and what the compiler asks of them. */
#include "typed.h"

#define ENUMERATOR_TEXT(name, ...) #name,
#define WRITTEN(name, text, ...) text,
#define LOSS_FOR(name, text, is_for, help) is_for,
#define LOSS_HELP(name, text, is_for, help) help,
#define METRIC_FOR(name, text, is_larger, is_for, help) is_for,
#define METRIC_HELP(name, text, is_larger, is_for, help) help,

const char *const split_names[SPLIT_COUNT] = {"train", "valid", "test"};
const char *const loss_enumerators[GNN_LOSS_COUNT] = {GNN_LOSSES(ENUMERATOR_TEXT)};
const char *const loss_names[GNN_LOSS_COUNT] = {GNN_LOSSES(WRITTEN)};
const char *const loss_helps[GNN_LOSS_COUNT] = {GNN_LOSSES(LOSS_HELP)};
const int loss_for[GNN_LOSS_COUNT] = {GNN_LOSSES(LOSS_FOR)};
const char *const metric_enumerators[GNN_METRIC_COUNT] = {GNN_METRICS(ENUMERATOR_TEXT)};
const char *const metric_names[GNN_METRIC_COUNT] = {GNN_METRICS(WRITTEN)};
const char *const metric_helps[GNN_METRIC_COUNT] = {GNN_METRICS(METRIC_HELP)};
const int metric_for[GNN_METRIC_COUNT] = {GNN_METRICS(METRIC_FOR)};

bool loss_is_plain(const TrainSpec *train) { return train->loss == GNN_LOSS_CROSS_ENTROPY && train->smoothing == 0 && !train->class_weights; }

bool measures_are_plain(const TrainSpec *train) {
  bool is_accuracy = train->metric_count == 0 || (train->metric_count == 1 && train->metrics[0].kind == GNN_METRIC_ACCURACY);
  return loss_is_plain(train) && is_accuracy && !train->has_confusion;
}
