#include "rank_times.h"

#include <math.h>

typedef struct Timing {
  const Schedule *s;
  const RankInfo *ranks;
  double *now, *net, *done; /* per rank; done: per copy and rank */
} Timing;

static int64_t others_of(const RankInfo *ranks, int r) {
  int64_t rows = 0;
  for (int q = 0; q < ranks->count; q++) rows += ranks->pairs[HALO_FOR_DST][r * ranks->count + q];
  return rows;
}

static double share_of(const RankInfo *ranks, const Kernels *kernels, const Kernel *kernel, int r) {
  const Value *anchor = &kernels->graph->values[kernel->anchor];
  const bool is_over_all = op_is_aggregation(anchor->op) && typed_are_all_nodes(kernels->graph->program->info, anchor->shape.domain);
  if (is_over_all) return r * shape_width(&anchor->shape) < anchor->declared_width; /* who has columns */
  if (anchor->shape.domain == DOMAIN_OTHERS) return (double)others_of(ranks, r) / (double)ranks->most_others;
  const double rows = ranks->most_nodes ? (double)(ranks->first[r + 1] - ranks->first[r]) / (double)ranks->most_nodes : 1;
  switch (kernel->kind) {
  case KERNEL_UPDATE: case KERNEL_FOLLOW: return 1;
  case KERNEL_SPMM: case KERNEL_EDGE_SUM: case KERNEL_EDGE_MAX: case KERNEL_EDGE_MIN: return ranks->most_edges ? (double)ranks->arriving[r] / (double)ranks->most_edges : 1;
  case KERNEL_MATMUL: case KERNEL_OUTER: case KERNEL_SPARSE_MATMUL: case KERNEL_SPARSE_OUTER: case KERNEL_MAP: case KERNEL_ROW_SUM: case KERNEL_COLUMN_SUM: case KERNEL_COLUMN_MAX: case KERNEL_COLUMN_MIN: case KERNEL_CONCAT: case KERNEL_HALO: case KERNEL_BEHIND: case KERNEL_COLUMNS: case KERNEL_BACK: case KERNEL_BESIDE: case KERNEL_CROSS_ENTROPY:
  case KERNEL_CROSS_ENTROPY_GRADIENT: case KERNEL_KIND_COUNT: break;
  }
  return rows;
}

static double share_of_exchange(const RankInfo *ranks, const Copy *copy, int r) {
  const Kernel *kernel = copy_kernel(copy);
  const ExchangeTraffic t = exchange_traffic(copy->kernels, kernel, r, ranks->count);
  return copy->exchange.most_bytes ? (double)traffic_bytes(t) / (double)copy->exchange.most_bytes : 0;
}

static double latest(const double *times, int count) {
  double last = 0;
  for (int r = 0; r < count; r++) last = fmax(last, times[r]);
  return last;
}

RankTimes rank_times(Arena *arena, const Schedule *s, const RankInfo *ranks) {
  const int steps = s->training_count ? s->training_count : s->count, count = ranks->count;
  RankTimes t = {.count = count, .steps = steps};
  Timing w = {s, ranks, arena_alloc(arena, (size_t)count * sizeof(double)), arena_alloc(arena, (size_t)count * sizeof(double)), arena_alloc(arena, (size_t)(s->copy_count + 1) * (size_t)count * sizeof(double))};
  double *busy = arena_alloc(arena, (size_t)count * sizeof *busy);
  t.start = arena_alloc(arena, (size_t)(steps + 1) * (size_t)count * sizeof *t.start);
  t.seconds = arena_alloc(arena, (size_t)(steps + 1) * (size_t)count * sizeof *t.seconds);
  t.balance = arena_alloc(arena, (size_t)(steps + 1) * sizeof *t.balance);
  for (int i = 0; i < steps; i++) {
    const Step *step = &s->steps[i];
    const Copy *copy = step->kind == STEP_KERNEL ? NULL : &s->copies[step->copy];
    const double posted = latest(w.now, count);
    double most = 0, sum = 0;
    for (int r = 0; r < count; r++) {
      double *start = &t.start[r * steps + i], *seconds = &t.seconds[r * steps + i];
      if (step->kind == STEP_KERNEL) {
        const double share = step->cost.seconds * share_of(ranks, step->kernels, &step->kernels->kernels[step->kernel], r);
        *start = w.now[r], *seconds = share;
        busy[r] += share;
      } else if (step->kind == STEP_COPY) {
        *start = fmax(copy_is_exchange(copy) ? posted : w.now[r], copy_is_exchange(copy) ? w.net[r] : 0);
        *seconds = step->cost.seconds * (copy_is_exchange(copy) ? share_of_exchange(ranks, copy, r) : 1);
        w.done[step->copy * count + r] = *start + *seconds;
        if (copy_is_exchange(copy)) w.net[r] = *start + *seconds;
        most = fmax(most, *seconds), sum += *seconds;
        continue;
      } else {
        *start = w.now[r], *seconds = fmax(0, w.done[step->copy * count + r] - w.now[r]);
      }
      most = fmax(most, *seconds), sum += *seconds;
      w.now[r] = *start + *seconds;
    }
    t.balance[i] = step->kind != STEP_WAIT && sum > 0 ? most * count / sum : 1;
    if (step->kind == STEP_KERNEL && kernel_gathers_parts(&step->kernels->kernels[step->kernel])) {
      const double end = latest(w.now, count);
      for (int r = 0; r < count; r++) w.now[r] = end;
    }
  }
  for (int r = 1; r < count; r++)
    if (busy[r] > busy[t.slowest]) t.slowest = r;
  return t;
}
