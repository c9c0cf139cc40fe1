/* Losses, accuracy, optimisers and reductions against their definitions in double. */
#include "../../kernels/cpu/loss.h"
#include "../../kernels/cpu/optimizer.h"
#include "../../kernels/cpu/reduce.h"
#include "optimisers.h"
#include "tap.h"

/* ---- cross entropy ---- */

typedef struct Scores {
  int64_t nodes, classes, count;
  gnn_real *scores;
  int32_t *labels, *rows;
} Scores;

static Scores scores_new(Numbers *n, int64_t nodes, int64_t classes, double size) {
  Scores s = {nodes, classes, 0, reals_random(n, nodes * classes), must(malloc((size_t)nodes * sizeof(int32_t))),
              must(malloc((size_t)nodes * sizeof(int32_t)))};
  for (int64_t i = 0; i < nodes * classes; i++) s.scores[i] *= (gnn_real)size;
  for (int64_t r = 0; r < nodes; r++) {
    s.labels[r] = numbers_below(n, 4) == 0 ? -1 : (int32_t)numbers_below(n, classes);
    if (s.labels[r] >= 0 && numbers_below(n, 3) > 0) s.rows[s.count++] = (int32_t)r;
  }
  return s;
}

static void scores_free(Scores *s) { free(s->scores), free(s->labels), free(s->rows); }

static double softmax(const Scores *s, int64_t row, int64_t class, double *log_probability) {
  const gnn_real *x = s->scores + row * s->classes;
  double maximum = -INFINITY, sum = 0;
  for (int64_t c = 0; c < s->classes; c++)
    if ((double)x[c] > maximum) maximum = (double)x[c]; /* not by fmax, at which gcc 12 for ARM breaks */
  for (int64_t c = 0; c < s->classes; c++) sum += exp((double)x[c] - maximum);
  *log_probability = (double)x[class] - maximum - log(sum);
  return exp(*log_probability);
}

static void test_cross_entropy(Tap *tap, int64_t nodes, int64_t classes, double size) {
  Numbers n = {(uint64_t)(nodes * 31 + classes)};
  Scores s = scores_new(&n, nodes, classes, size);
  double want = 0, log_probability;
  for (int64_t i = 0; i < s.count; i++) {
    softmax(&s, s.rows[i], s.labels[s.rows[i]], &log_probability);
    want -= log_probability;
  }
  const int64_t first[] = {0, nodes / 5, nodes / 5, nodes / 2, nodes};
  const gnn_blocks blocks = {.levels = 2, .first = first};
  double sums[4], parts[4];
  gnn_cross_entropy_blocks(s.scores, classes, s.labels, s.rows, s.count, &blocks, 2, 4, sums);
  gnn_cross_entropy_blocks(s.scores, classes, s.labels, s.rows, s.count, &blocks, 0, 2, sums);
  for (int64_t b = 0, begin = 0, end = 0; b < 4; b++, begin = end) {
    while (end < s.count && s.rows[end] < first[b + 1]) end++;
    parts[b] = gnn_cross_entropy_part(s.scores, classes, s.labels, s.rows, begin, end);
  }
  const double got = gnn_sum_tree(sums, 4);
  tap_ok(tap, got == (parts[0] + parts[1]) + (parts[2] + parts[3]), "loss of %lld x %lld by blocks", (long long)nodes, (long long)classes);
  tap_ok(tap, fabs(got - want) <= 2 * real_epsilon() * (fabs(want) + (double)s.count), "loss of %lld x %lld, scores of %g: %.9g",
         (long long)nodes, (long long)classes, size, got);

  gnn_real *gradient = reals_new(nodes * classes), *by_node = reals_new(nodes * classes);
  gnn_zero(gradient, 0, nodes * classes);
  gnn_cross_entropy_gradient(s.scores, classes, s.labels, s.rows, s.count, 0, s.count / 3, gradient);
  gnn_cross_entropy_gradient(s.scores, classes, s.labels, s.rows, s.count, s.count / 3, s.count, gradient);
  for (int64_t r = 0; r < nodes; r += 7)
    gnn_cross_entropy_gradient_nodes(s.scores, classes, s.labels, s.rows, s.count, r, r + 7 < nodes ? r + 7 : nodes, by_node);
  tap_ok(tap, reals_same(gradient, by_node, nodes * classes), "gradient by list and by node is the same");
  int is_right = 1;
  int64_t next = 0;
  for (int64_t r = 0; r < nodes; r++) {
    const int is_listed = next < s.count && s.rows[next] == r;
    for (int64_t c = 0; c < classes; c++) {
      double expected = 0;
      if (is_listed) expected = (softmax(&s, r, c, &log_probability) - (c == s.labels[r])) / (double)s.count;
      is_right &= fabs((double)gradient[r * classes + c] - expected) <= 4 * real_epsilon() / (double)s.count;
    }
    next += is_listed;
  }
  tap_ok(tap, is_right, "gradient of %lld x %lld", (long long)nodes, (long long)classes);
  free(gradient), free(by_node);
  scores_free(&s);
}

/* What is computed in vectors, block by block, is what the definition says one class after the other, to the bit. */
static void test_exponentials(Tap *tap) {
  enum { MOST = 200 };
  Numbers n = {77};
  int is_same = 1;
  for (int64_t classes = 1; classes <= MOST; classes++) {
    gnn_real *row = reals_random(&n, classes), exps[MOST], largest = row[0];
    double sum = 0;
    for (int64_t c = 1; c < classes; c++) largest = row[c] > largest ? row[c] : largest;
    for (int64_t c = 0; c < classes; c++) sum += (double)gnn_exp(row[c] - largest);
    is_same &= gnn_row_maximum(row, classes) == largest && gnn_row_exp_sum(row, classes, largest, exps) == sum && gnn_row_exp_sum(row, classes, largest, NULL) == sum;
    for (int64_t c = 0; c < classes; c++) is_same &= exps[c] == gnn_exp(row[c] - largest);
    free(row);
  }
  tap_ok(tap, is_same, "maxima, exponentials and their sums of 1 to %d classes", MOST);
}

static void test_accuracy(Tap *tap) {
  static const gnn_real scores[] = {
      1, 2, 0, /**/ 2, 2, 1, /**/ 0, 3, 3, /**/ NAN, 1, 0, /**/ 0, 1, NAN, /**/ -INFINITY, -INFINITY, -INFINITY, /**/ 0, 0, INFINITY};
  static const int32_t labels[] = {1, 0, 2, 1, 1, 0, 2}, rows[] = {0, 1, 2, 3, 4, 5, 6};
  static const int is_correct[] = {1, 1, 0, 0, 0, 1, 1}; /* the first of equals; no row with a NaN */
  int good = 1;
  for (int i = 0; i < 7; i++) good &= gnn_accuracy_part(scores, 3, labels, rows, i, i + 1) == is_correct[i];
  tap_ok(tap, good, "accuracy of single rows");
  tap_ok(tap, gnn_accuracy_part(scores, 3, labels, rows, 0, 7) == 4, "accuracy of all");
}

/* ---- optimisers ---- */

enum { WEIGHTS = 101, STEPS = 5 };

static void optimiser_step(const Optimiser *o, gnn_real *w, const gnn_real *g, gnn_real *m, gnn_real *v, int step,
                           int64_t begin, int64_t end) {
  const gnn_clip clip = {(gnn_real)o->clip_factor, (gnn_real)o->clip_limit};
  if (o->kind == 0) gnn_sgd(w, g, clip, o->a != 0 ? m : NULL, o->lr, o->a, o->decay, o->nesterov, step, begin, end);
  if (o->kind == 1) gnn_adam(w, g, clip, m, v, o->lr, o->a, o->b, o->epsilon, o->decay, step, begin, end);
  if (o->kind == 3) gnn_rmsprop(w, g, clip, m, o->b != 0 || o->nesterov ? v : NULL, o->lr, o->a, o->epsilon, o->decay, o->b, o->nesterov, step, begin, end);
  if (o->kind == 4) gnn_adagrad(w, g, clip, m, o->lr, o->a, o->decay, o->b, o->epsilon, step, begin, end);
  if (o->kind == 2) gnn_adamw(w, g, clip, m, v, o->lr, o->a, o->b, o->epsilon, o->decay, step, begin, end);
}

static void test_optimiser(Tap *tap, const Optimiser *o) {
  Numbers n = {4};
  gnn_real *w = reals_random(&n, WEIGHTS), *m = reals_random(&n, WEIGHTS), *v = reals_random(&n, WEIGHTS);
  gnn_real *cut_w = reals_new(WEIGHTS), *cut_m = reals_new(WEIGHTS), *cut_v = reals_new(WEIGHTS);
  double exact[WEIGHTS], exact_m[WEIGHTS], exact_v[WEIGHTS], worst = 0;
  for (int i = 0; i < WEIGHTS; i++) {
    if (o->kind) m[i] = v[i] = 0; /* what momentum holds before its first step does not count */
    exact[i] = (double)w[i], exact_m[i] = 0, exact_v[i] = 0;
  }
  memcpy(cut_w, w, WEIGHTS * sizeof *w), memcpy(cut_m, m, WEIGHTS * sizeof *w), memcpy(cut_v, v, WEIGHTS * sizeof *w);
  int is_same = 1;
  for (int step = 1; step <= STEPS; step++) {
    gnn_real *g = reals_random(&n, WEIGHTS);
    optimiser_step(o, w, g, m, v, step, 0, WEIGHTS);
    optimiser_step(o, cut_w, g, cut_m, cut_v, step, 0, 3);
    optimiser_step(o, cut_w, g, cut_m, cut_v, step, 3, 60);
    optimiser_step(o, cut_w, g, cut_m, cut_v, step, 60, WEIGHTS);
    for (int i = 0; i < WEIGHTS; i++) {
      reference_step(o, &exact[i], (double)g[i], &exact_m[i], &exact_v[i], step);
      worst = fmax(worst, fabs((double)w[i] - exact[i]));
    }
    is_same &= reals_same(w, cut_w, WEIGHTS) && reals_same(m, cut_m, WEIGHTS);
    free(g);
  }
  tap_ok(tap, worst <= 4 * STEPS * real_epsilon(), "%s: off by %.3g after %d steps", o->name, worst, STEPS);
  tap_ok(tap, is_same, "%s: the same bits however divided", o->name);
  free(w), free(m), free(v), free(cut_w), free(cut_m), free(cut_v);
}

int main(void) {
  Tap tap = {0, 0};
  test_cross_entropy(&tap, 300, 7, 1);
  test_cross_entropy(&tap, 300, 7, 50);
  test_cross_entropy(&tap, 64, 1, 1);
  test_cross_entropy(&tap, 40, 47, 1000);
  test_exponentials(&tap);
  test_accuracy(&tap);
  for (size_t i = 0; i < sizeof optimisers / sizeof *optimisers; i++) test_optimiser(&tap, &optimisers[i]);
  return tap_end(&tap);
}
