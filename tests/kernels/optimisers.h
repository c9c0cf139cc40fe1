/* optimisers.h: the settings that the optimisers of both targets are tested with, and their steps in double. C and C++. */
#ifndef TESTS_OPTIMISERS_H
#define TESTS_OPTIMISERS_H

#include <math.h>
#include <stdint.h>

typedef struct Optimiser {
  const char *name;
  int kind; /* 0 SGD, 1 Adam, 2 AdamW, 3 RMSprop (nesterov: centered), 4 Adagrad */
  double lr, a, b, epsilon, decay;
  int nesterov;
  double clip_factor, clip_limit;
} Optimiser;

static const Optimiser optimisers[] = {
    {"SGD", 0, 0.1, 0, 0, 0, 0, 0, 1, INFINITY},
    {"SGD with weight decay", 0, 0.1, 0, 0, 0, 0.01, 0, 1, INFINITY},
    {"SGD with momentum", 0, 0.1, 0.9, 0, 0, 0.01, 0, 1, INFINITY},
    {"SGD with Nesterov's momentum", 0, 0.1, 0.9, 0, 0, 0.01, 1, 1, INFINITY},
    {"Adam", 1, 0.01, 0.9, 0.999, 1e-8, 0, 0, 1, INFINITY},
    {"Adam with weight decay", 1, 0.01, 0.8, 0.99, 1e-3, 5e-2, 0, 1, INFINITY},
    {"AdamW", 2, 0.01, 0.9, 0.999, 1e-8, 1e-2, 0, 1, INFINITY},
    {"SGD, clipped by norm", 0, 0.1, 0, 0, 0, 0, 0, 0.25, INFINITY},
    {"Adam, clipped by value", 1, 0.01, 0.8, 0.99, 1e-3, 0, 0, 1, 0.125},
    {"RMSprop", 3, 0.01, 0.9, 0, 1e-3, 0.01, 0, 1, INFINITY},
    {"RMSprop with momentum", 3, 0.01, 0.9, 0.5, 1e-3, 0, 0, 1, INFINITY},
    {"centered RMSprop", 3, 0.01, 0.9, 0, 0.1, 0, 1, 1, INFINITY},
    {"Adagrad", 4, 0.1, 0.1, 0.5, 1e-10, 0.01, 0, 1, INFINITY},
};

/* One weight's step as the documentation of torch.optim writes it. */
static void reference_step(const Optimiser *o, double *w, double g, double *m, double *v, int64_t step) {
  g = g * o->clip_factor;
  g = fmax(-o->clip_limit, fmin(o->clip_limit, g));
  if (o->kind == 2) *w -= o->lr * o->decay * *w;
  else g += o->decay * *w;
  if (o->kind == 3) { /* RMSprop: m its mean square; v the buffer of its momentum or the mean of its gradients */
    *m = o->a * *m + (1 - o->a) * g * g;
    double variance = *m;
    if (o->nesterov) {
      *v = o->a * *v + (1 - o->a) * g;
      variance -= *v * *v;
    }
    double move = g / (sqrt(variance) + o->epsilon);
    if (!o->nesterov && o->b != 0) move = *v = o->b * *v + move;
    *w -= o->lr * move;
    return;
  }
  if (o->kind == 4) { /* Adagrad: a the decay of its rate, b what its sum begins with */
    *m = (step == 1 ? o->b : *m) + g * g;
    *w -= o->lr / (1 + (double)(step - 1) * o->a) * g / (sqrt(*m) + o->epsilon);
    return;
  }
  if (o->kind == 0) {
    if (o->a != 0) {
      *m = step == 1 ? g : o->a * *m + g;
      g = o->nesterov ? g + o->a * *m : *m;
    }
    *w -= o->lr * g;
    return;
  }
  *m = o->a * *m + (1 - o->a) * g;
  *v = o->b * *v + (1 - o->b) * g * g;
  const double mean = *m / (1 - pow(o->a, (double)step)), square = *v / (1 - pow(o->b, (double)step));
  *w -= o->lr * mean / (sqrt(square) + o->epsilon);
}

#endif
