/* turns: Document -> the stretches of its steps in which kernels run in turns, part by part.
 *
 * The first turn says which kernels take turns: those of the first part. A later part brings no kernel of its own, and no kernel runs
 * twice for a part. What is made again belongs to the kernel that it is made again for. The slices of a sum follow each other in
 * one stretch. O(steps x kernels of a stretch).
 */
#include <string.h>

#include "views.h"

typedef struct Kernel {
  const DocStep *step; /* its first */
  bool *has_run;       /* for which parts */
} Kernel;

typedef struct Stretch {
  int first, last; /* among the shown steps */
  int begin;       /* compute steps before it */
  int again_begin; /* the first step that is made again for the next one, or -1 */
  const DocStep *opening;
  int kernel_count;
  Kernel *kernels;
} Stretch;

typedef struct Finding {
  const Document *d;
  const DocStep *steps;
  int64_t most_part;
  int at; /* compute steps before this one */
  Stretch now;
  bool is_open, is_before_sliced;
  int before_end; /* compute steps up to the end of the last one listed */
  DocTurns turns;
} Finding;

static bool is_compute(const DocStep *s) { return strcmp(s->lane, lane_names[LANE_COMPUTE]) == 0 && !s->waits_for; }

static int count_parts(const Finding *f, const Stretch *s) {
  bool *has = arena_alloc(f->d->arena, (size_t)f->most_part + 1);
  int count = 0;
  for (int i = s->first; i <= s->last; i++) {
    if (!is_compute(&f->steps[i]) || has[f->steps[i].piece.part]) continue;
    has[f->steps[i].piece.part] = true;
    count++;
  }
  return count;
}

static bool is_sliced(const Finding *f, const Stretch *s) {
  for (int i = s->first; i <= s->last; i++)
    if (is_compute(&f->steps[i]) && !f->steps[i].piece.slice) return false;
  return true;
}

static bool is_kernel(const DocStep *a, const DocStep *b) { return a->piece.slice == b->piece.slice && strcmp(a->piece.group, b->piece.group) == 0; }

static void add_kernels(const Finding *f, DocTurn *t, const Stretch *s) {
  for (int k = 0; k < s->kernel_count; k++) {
    bool is_there = false;
    for (int i = 0; i < t->kernel_count; i++) is_there = is_there || is_kernel(t->kernels[i], s->kernels[k].step);
    if (!is_there) ARENA_PUSH(f->d->arena, t->kernels, t->kernel_count, s->kernels[k].step);
  }
}

static void end(Finding *f) {
  Stretch *s = &f->now;
  DocTurns *turns = &f->turns;
  DocTurn *before = turns->count ? &turns->list[turns->count - 1] : NULL;
  bool is_one = f->is_open && is_sliced(f, s), is_next = is_one && before && f->is_before_sliced && f->before_end == s->begin && strcmp(before->phase, s->opening->phase) == 0;
  int parts = f->is_open ? count_parts(f, s) : 0;
  f->is_open = false;
  if (!is_next && parts < 2) return;
  if (!is_next) {
    ARENA_PUSH(f->d->arena, turns->list, turns->count, ((DocTurn){.first = s->first, .phase = s->opening->phase}));
    before = &turns->list[turns->count - 1];
  }
  before->last = s->last;
  before->part_count = parts > before->part_count ? parts : before->part_count;
  ARENA_PUSH(f->d->arena, before->slices, before->slice_count, s->first);
  add_kernels(f, before, s);
  f->is_before_sliced = is_one;
  f->before_end = f->at;
}

/* The kernel that runs at this step, in the stretch so far; NULL: none of them. */
static Kernel *kernel_at(Stretch *s, const DocStep *step) {
  for (int k = 0; k < s->kernel_count; k++)
    if (is_kernel(s->kernels[k].step, step)) return &s->kernels[k];
  return NULL;
}

static bool may_join(Finding *f, const DocStep *step) {
  const Kernel *kernel = kernel_at(&f->now, step);
  if (!f->is_open || strcmp(f->now.opening->phase, step->phase) != 0) return false;
  if (kernel) return !kernel->has_run[step->piece.part];
  return step->piece.part == f->now.opening->piece.part && f->steps[f->now.last].piece.part == step->piece.part;
}

static void join(Finding *f, int i) {
  const DocStep *step = &f->steps[i];
  int first = f->now.again_begin >= 0 ? f->now.again_begin : i;
  if (!may_join(f, step)) {
    end(f);
    f->now = (Stretch){.first = first, .begin = f->at, .opening = step};
    f->is_open = true;
  }
  f->now.last = i;
  f->now.again_begin = -1;
  Kernel *kernel = kernel_at(&f->now, step);
  if (!kernel) {
    bool *has_run = arena_alloc(f->d->arena, (size_t)f->most_part + 1);
    ARENA_PUSH(f->d->arena, f->now.kernels, f->now.kernel_count, ((Kernel){step, has_run}));
    kernel = &f->now.kernels[f->now.kernel_count - 1];
  }
  kernel->has_run[step->piece.part] = true;
}

DocTurns document_turns(const Document *d) {
  Finding f = {.d = d, .now.again_begin = -1};
  int count = document_shown_steps(d, &f.steps);
  for (int i = 0; i < count; i++)
    if (f.steps[i].piece.part > f.most_part) f.most_part = f.steps[i].piece.part;
  if (f.most_part > count) return f.turns; /* parts that never run: no plan of ours */
  for (int i = 0; i < count; i++) {
    if (!is_compute(&f.steps[i])) continue;
    if (!f.steps[i].piece.part) end(&f), f.now.again_begin = -1;
    else if (strcmp(f.steps[i].phase, "recompute") == 0) f.now.again_begin = f.now.again_begin < 0 ? i : f.now.again_begin;
    else join(&f, i);
    f.at++;
  }
  end(&f);
  return f.turns;
}

static int64_t slices_of(const Document *d, const char *group) {
  const DocStep *steps;
  int count = document_shown_steps(d, &steps);
  int64_t most = 0;
  for (int i = 0; i < count; i++)
    if (steps[i].piece.slice > most && strcmp(steps[i].piece.group, group) == 0) most = steps[i].piece.slice;
  return most;
}

const char *document_turn_names(const Document *d, const DocTurn *turn, const char *times) {
  const char *text = "";
  for (int k = 0; k < turn->kernel_count; k++) {
    const char *group = turn->kernels[k]->piece.group, *end = strstr(group, " = ");
    int count = 0;
    bool is_told = false;
    for (int i = 0; i < turn->kernel_count; i++) {
      if (strcmp(turn->kernels[i]->piece.group, group) != 0) continue;
      is_told = is_told || i < k;
      count++;
    }
    if (is_told) continue;
    text = arena_printf(d->arena, "%s%s%.*s", text, k ? ", " : "", end ? (int)(end - group) : (int)strlen(group), group);
    if (count > 1) text = arena_printf(d->arena, "%s %s%d", text, times, count);
    else if (turn->kernels[k]->piece.slice) text = arena_printf(d->arena, "%s %d/%d", text, (int)turn->kernels[k]->piece.slice, (int)slices_of(d, group));
  }
  return text;
}
