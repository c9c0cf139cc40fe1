/* scored.c: metrics of scored rows. All sums are in the order of the rows: the same bits for every number of threads. */
#include "scored.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/ranks.h"

int gnn_metric_is_larger_better(gnn_metric_kind kind) {
#define MEASURE_IS_LARGER(name, text, is_larger, ...) is_larger,
  static const int all[] = {GNN_METRICS(MEASURE_IS_LARGER)};
  return all[kind];
}

static const float *measure_scores(const gnn_scored *m, int64_t row) { return m->row ? m->row(m->rows_of, row) : m->scores + row * m->width; }
static const float *measure_numbers(const gnn_scored *m, int64_t row) { return m->numbers + row * m->number_stride; }
static double measure_ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

int64_t gnn_predicted_class(const gnn_scored *m, int64_t row) {
  const float *scores = measure_scores(m, row);
  int64_t best = 0;
  if (m->width == 1 && m->class_count != 1) return isnan(scores[0]) ? -1 : scores[0] > 0;
  for (int64_t c = 0; c < m->width; c++) {
    if (isnan(scores[c])) return -1;
    best = scores[c] > scores[best] ? c : best;
  }
  return best;
}

/* ---- decisions ---- */

static double measure_accuracy(const gnn_scored *m) {
  int64_t right = 0;
  for (int64_t k = 0; k < m->count; k++) {
    const int64_t row = m->rows[k];
    if (m->classes) {
      right += gnn_predicted_class(m, row) == m->classes[row];
      continue;
    }
    int is_right = 1;
    for (int64_t c = 0; c < m->width; c++) {
      const float score = measure_scores(m, row)[c];
      is_right &= !isnan(score) && (score > 0) == (measure_numbers(m, row)[c] > 0.5f);
    }
    right += is_right;
  }
  gnn_ranks_add(m->ranks, &right, 1);
  return (double)right / (double)m->all;
}

/* How often a class was predicted, is there, and both. */
typedef struct measure_counts {
  int64_t predicted, actual, both;
} measure_counts;

/* Of the columns from `first` on, so many, in one walk over the rows. */
enum { MEASURE_COLUMNS = 256 };

static void measure_count(const gnn_scored *m, int64_t first, int64_t columns, measure_counts *n) {
  memset(n, 0, (size_t)columns * sizeof *n);
  for (int64_t k = 0; k < m->count; k++) {
    const int64_t row = m->rows[k];
    const float *scores = m->classes ? NULL : measure_scores(m, row);
    if (m->classes) {
      const int64_t predicted = gnn_predicted_class(m, row) - first, actual = m->classes[row] - first;
      if (predicted >= 0 && predicted < columns) n[predicted].predicted++;
      if (actual >= 0 && actual < columns) n[actual].actual++;
      if (actual >= 0 && actual < columns) n[actual].both += predicted == actual;
    }
    for (int64_t c = 0; !m->classes && c < columns; c++) {
      const int is_predicted = scores[first + c] > 0, is_actual = measure_numbers(m, row)[first + c] > 0.5f;
      n[c].predicted += is_predicted;
      n[c].actual += is_actual;
      n[c].both += is_predicted && is_actual;
    }
  }
  gnn_ranks_add(m->ranks, &n->predicted, columns * (int64_t)(sizeof *n / sizeof n->predicted));
}

static double measure_of_counts(gnn_metric_kind kind, measure_counts n) {
  if (kind == GNN_METRIC_PRECISION) return measure_ratio((double)n.both, (double)n.predicted);
  if (kind == GNN_METRIC_RECALL) return measure_ratio((double)n.both, (double)n.actual);
  return measure_ratio((double)(2 * n.both), (double)(n.predicted + n.actual));
}

static double measure_decisions(gnn_metric_kind kind, const gnn_scored *m) {
  const int64_t columns = m->classes ? m->class_count : m->width;
  measure_counts all = {0, 0, 0}, some[MEASURE_COLUMNS];
  double sum = 0;
  int64_t met = 0;
  for (int64_t c = 0; c < columns; c++) {
    if (c % MEASURE_COLUMNS == 0) measure_count(m, c, columns - c < MEASURE_COLUMNS ? columns - c : MEASURE_COLUMNS, some);
    const measure_counts n = some[c % MEASURE_COLUMNS];
    if (m->classes && columns == 2 && c == 1 && kind != GNN_METRIC_MACRO_F1 && kind != GNN_METRIC_MICRO_F1) return measure_of_counts(kind, n);
    all.predicted += n.predicted, all.actual += n.actual, all.both += n.both;
    const int counts = !m->classes || n.predicted + n.actual > 0; /* a class that nobody has or predicts is none */
    met += counts;
    sum += counts ? measure_of_counts(kind, n) : 0;
  }
  return kind == GNN_METRIC_MICRO_F1 ? measure_of_counts(kind, all) : measure_ratio(sum, (double)met);
}

/* ---- rankings ---- */

/* Whole numbers in the order of the scores; -0 comes next to 0. */
static uint64_t measure_key(double score) {
  uint64_t bits;
  memcpy(&bits, &score, sizeof bits);
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* Descending, where all bits above `bit` are alike; in place, as qsort is not: those with the bit change places with those without. */
static void measure_sort(gnn_ranked *ranked, int64_t count, uint64_t bit) {
  while (count > 1 && bit) {
    int64_t with = 0, end = count;
    while (with < end) {
      if (measure_key(ranked[with].score) & bit) {
        with++;
        continue;
      }
      const gnn_ranked without = ranked[with];
      ranked[with] = ranked[--end];
      ranked[end] = without;
    }
    bit >>= 1;
    measure_sort(ranked, with, bit);
    ranked += with;
    count -= with;
  }
}

/* exp(score) / sum of exp, in double. */
static double measure_probability(const gnn_scored *m, int64_t row, int64_t column) {
  const float *scores = measure_scores(m, row);
  double most = -INFINITY, sum = 0;
  for (int64_t c = 0; c < m->width; c++)
    if ((double)scores[c] > most) most = (double)scores[c]; /* not by fmax, at which gcc 12 for ARM breaks */
  for (int64_t c = 0; c < m->width; c++) sum += exp((double)scores[c] - most);
  return exp((double)scores[column] - most) / sum;
}

/* Fills the room with the rows as one label ranks them; false where a score is NaN. */
static int measure_rank(const gnn_scored *m, int64_t column) {
  for (int64_t k = 0; k < m->count; k++) {
    const int64_t row = m->rows[k];
    const float *scores = measure_scores(m, row);
    gnn_ranked *to = &m->room[k];
    to->is_positive = m->classes ? m->classes[row] == column : measure_numbers(m, row)[column] > 0.5f;
    if (!m->classes || m->width == 1) to->score = (double)scores[m->classes ? 0 : column];
    else if (m->width == 2) to->score = (double)scores[1] - (double)scores[0];
    else to->score = measure_probability(m, row, column);
    if (isnan(to->score)) return 0;
  }
  measure_sort(m->room, m->count, UINT64_C(1) << 63);
  return 1;
}

/* The end of the rows that have the score of row `begin`, and how many of them are positive. */
static int64_t measure_ties(const gnn_scored *m, int64_t begin, double *positives) {
  int64_t end = begin;
  *positives = 0;
  for (; end < m->count && m->room[end].score == m->room[begin].score; end++) *positives += m->room[end].is_positive;
  return end;
}

/* Pairs of a positive and a negative row that are in order, ties half. */
static double measure_area(const gnn_scored *m, double positives) {
  double pairs = 0, negatives_above = 0;
  for (int64_t begin = 0, end; begin < m->count; begin = end) {
    double here, others;
    end = measure_ties(m, begin, &here);
    others = (double)(end - begin) - here;
    const double negatives_below = (double)m->count - positives - negatives_above - others;
    pairs += here * negatives_below + here * others / 2;
    negatives_above += others;
  }
  return pairs / (positives * ((double)m->count - positives));
}

static double measure_step_sum(const gnn_scored *m, double positives) {
  double sum = 0, found = 0;
  for (int64_t begin = 0, end; begin < m->count; begin = end) {
    double here;
    end = measure_ties(m, begin, &here);
    found += here;
    sum += here / positives * (found / (double)end);
  }
  return sum;
}

static double measure_ranking(gnn_metric_kind kind, const gnn_scored *m) {
  const int is_binary = m->classes && m->class_count == 2;
  const int64_t columns = is_binary ? 1 : m->classes ? m->class_count : m->width;
  double sum = 0, defined = 0;
  for (int64_t c = 0; c < columns; c++) {
    if (!measure_rank(m, is_binary ? 1 : c)) return NAN;
    double positives = 0;
    for (int64_t k = 0; k < m->count; k++) positives += m->room[k].is_positive;
    if (positives == 0 || (kind == GNN_METRIC_ROC_AUC && positives == (double)m->count)) continue;
    sum += kind == GNN_METRIC_ROC_AUC ? measure_area(m, positives) : measure_step_sum(m, positives);
    defined++;
  }
  return defined > 0 ? sum / defined : NAN;
}

/* How many classes a row's own stands behind; `ties` of them count so much. */
static double measure_above(const gnn_scored *m, int64_t row, double ties) {
  const float *scores = measure_scores(m, row), own = scores[m->classes[row]];
  double above = isnan(own) ? INFINITY : 0;
  for (int64_t c = 0; c < m->width; c++) {
    if (c == m->classes[row]) continue;
    above += isnan(scores[c]) || scores[c] > own ? 1 : scores[c] == own ? ties : 0;
  }
  return above;
}

/* Where each edge stands among the negatives: hits as in the Open Graph Benchmark (Hu et al. 2020). */
static double measure_pairs(const gnn_metric *metric, const gnn_scored *m) {
  double sum = 0, positives = 0, above = 0;
  if (!measure_rank(m, 0)) return NAN;
  for (int64_t begin = 0, end; begin < m->count; begin = end) {
    double here;
    end = measure_ties(m, begin, &here);
    const double ties = (double)(end - begin) - here;
    sum += metric->kind == GNN_METRIC_MRR ? here / (1 + above + ties / 2) : above + ties < (double)metric->argument ? here : 0;
    positives += here;
    above += ties;
  }
  return positives > 0 ? sum / positives : NAN;
}

static double measure_places(const gnn_metric *metric, const gnn_scored *m) {
  double sum = 0;
  int64_t hits = 0;
  for (int64_t k = 0; k < m->count; k++)
    if (metric->kind == GNN_METRIC_MRR) sum += 1 / (1 + measure_above(m, m->rows[k], 0.5));
    else hits += measure_above(m, m->rows[k], 1) < (double)metric->argument;
  if (metric->kind == GNN_METRIC_MRR) return sum / (double)m->count;
  gnn_ranks_add(m->ranks, &hits, 1);
  return (double)hits / (double)m->all;
}

/* ---- numbers ---- */

static double measure_error(gnn_metric_kind kind, const gnn_scored *m) {
  double sum = 0;
  for (int64_t c = 0; c < m->width; c++) {
    double squares = 0, absolute = 0, mean = 0, variance = 0;
    for (int64_t k = 0; k < m->count; k++) mean += (double)measure_numbers(m, m->rows[k])[c] / (double)m->count;
    for (int64_t k = 0; k < m->count; k++) {
      const double wanted = (double)measure_numbers(m, m->rows[k])[c], off = (double)measure_scores(m, m->rows[k])[c] - wanted;
      squares += off * off;
      absolute += fabs(off);
      variance += (wanted - mean) * (wanted - mean);
    }
    if (kind == GNN_METRIC_R2) sum += variance > 0 ? 1 - squares / variance : (double)NAN;
    else sum += kind == GNN_METRIC_MAE ? absolute / (double)m->count : sqrt(squares / (double)m->count);
  }
  return sum / (double)m->width;
}

double gnn_metric_of(const gnn_metric *metric, const gnn_scored *m) {
  if (m->all == 0) return NAN;
  switch (metric->kind) {
  case GNN_METRIC_ACCURACY: return measure_accuracy(m);
  case GNN_METRIC_PRECISION: case GNN_METRIC_RECALL: case GNN_METRIC_F1: case GNN_METRIC_MICRO_F1: case GNN_METRIC_MACRO_F1: return measure_decisions(metric->kind, m);
  case GNN_METRIC_ROC_AUC: case GNN_METRIC_AVERAGE_PRECISION: return measure_ranking(metric->kind, m);
  case GNN_METRIC_RMSE: case GNN_METRIC_MAE: case GNN_METRIC_R2: return measure_error(metric->kind, m);
  case GNN_METRIC_HITS: case GNN_METRIC_MRR: return m->classes ? measure_places(metric, m) : measure_pairs(metric, m);
  case GNN_METRIC_COUNT: break;
  }
  return NAN;
}
