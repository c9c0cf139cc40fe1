/* learning_rate.c: learning rates as functions of the epoch. docs/language.md has their definitions. */
#include <math.h>

#include "runtime/gnnrt.h"

static const double schedule_pi = 3.14159265358979323846;

/* From `high` to `low` along half a cosine; share in 0 ... 1. */
static double schedule_half_cosine(double high, double low, double share) { return low + (high - low) * (1 + cos(schedule_pi * share)) / 2; }

/* How much of the epochs is over: 0 before the first, 1 from the last on. */
static double schedule_share(double done, double epochs) { return done <= 0 ? 0 : done < epochs ? done / epochs : 1; }

double gnn_rate_constant(double lr, double done) {
  (void)done;
  return lr;
}

double gnn_rate_step(double lr, double every, double factor, double done) { return done <= 0 ? lr : lr * pow(factor, floor(done / fmax(every, 1))); }

double gnn_rate_exponential(double lr, double factor, double done) { return done <= 0 ? lr : lr * pow(factor, done); }

double gnn_rate_cosine(double lr, double epochs, double end, double done) { return schedule_half_cosine(lr, end, schedule_share(done, epochs)); }

double gnn_rate_restarts(double lr, double epochs, double growth, double end, double done) {
  double length = fmax(epochs, 1);
  if (done <= 0) return lr;
  if (growth <= 1) return schedule_half_cosine(lr, end, fmod(done, length) / length);
  while (done >= length) {
    done -= length;
    length *= growth;
  }
  return schedule_half_cosine(lr, end, done / length);
}

double gnn_rate_linear(double lr, double epochs, double end, double done) { return lr + (end - lr) * schedule_share(done, epochs); }

double gnn_rate_polynomial(double lr, double epochs, double power, double end, double done) {
  return end + (lr - end) * pow(1 - schedule_share(done, epochs), power);
}

double gnn_rate_one_cycle(double lr, double epochs, double rise, double done) {
  const double first = lr / 25, last = first / 1e4, top = rise * epochs - 1, end = epochs - 1; /* of the epochs, from 0 */
  if (done < top) return schedule_half_cosine(first, lr, schedule_share(done, top));
  return schedule_half_cosine(lr, last, schedule_share(done - top, end - top));
}

double gnn_rate_plateau(double lr, double factor, double reductions) { return lr * pow(factor, reductions); }

double gnn_rate_warmup(double warmup, double rate, double done) { return done + 1 < warmup ? rate * (done + 1) / warmup : rate; }
