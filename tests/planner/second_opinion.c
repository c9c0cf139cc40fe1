#include "second_opinion.h"

#include "generate.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

/* A task starts when all it waits for has ended; waits are an explicit list of edges. */
typedef struct Task {
  int64_t ns, end;
  int *waits, wait_count;
} Task;

typedef struct Live { /* a piece of device memory: from the boundary task `from` to the boundary task `until` */
  int64_t bytes;
  int from, until;
} Live;

typedef struct Graph {
  Arena *arena;
  const Problem *p;
  const PlannerPlan *plan;
  int n; /* extended steps */
  int *base, *again; /* again: index of the re-run or -1 */
  int *join;
  Task *tasks;
  int count;
  int *boundary, *run; /* task of a boundary; task whose end ends the step */
  int64_t *occupied;
  Live *live;
  int live_count;
  bool fits;
} Graph;

static int add_task(Graph *g, int64_t ns) {
  ARENA_PUSH(g->arena, g->tasks, g->count, (Task){.ns = ns});
  return g->count - 1;
}

static void wait_for(Graph *g, int task, int other) {
  if (other < 0) return;
  Task *t = &g->tasks[task];
  ARENA_PUSH(g->arena, t->waits, t->wait_count, other);
}

static bool touches(const Graph *g, int s, int x, bool *makes) {
  const ProblemStep *step = &g->p->steps[g->base[s]];
  for (int i = 0; i < step->use_count; i++) {
    const ProblemUse *use = &g->p->uses[step->first_use + i];
    if (use->piece != x) continue;
    *makes = (use->flags & PROBLEM_USE_CREATE) != 0;
    if (g->again[s] < 0) return true;
    const PlanRerun *rerun = &g->plan->reruns[g->again[s]];
    bool is_out = false;
    for (int k = 0; k < rerun->out_count; k++) is_out |= g->plan->outs[rerun->out_first + k] == x;
    *makes = is_out;
    return is_out || (use->flags & PROBLEM_USE_READ);
  }
  return false;
}

static const ProblemVariant *variant_of(const Graph *g, int s) {
  int op = g->p->steps[g->base[s]].op;
  return &g->p->ops[op].variants[g->plan->variant[op]];
}

static bool is_comm(const Graph *g, int s) {
  return variant_of(g, s)->stages[variant_of(g, s)->stage_count - 1].lane != LANE_COMPUTE;
}

static void lay_out_steps(Graph *g) {
  int total = g->p->step_count + g->plan->rerun_count, next = 0;
  g->base = arena_alloc(g->arena, (size_t)total * sizeof(int));
  g->again = arena_alloc(g->arena, (size_t)total * sizeof(int));
  g->join = arena_alloc(g->arena, (size_t)total * sizeof(int));
  for (int t = 0; t < g->p->step_count; t++) {
    for (; next < g->plan->rerun_count && g->plan->reruns[next].before == t; next++) {
      g->base[g->n] = g->plan->reruns[next].step;
      g->again[g->n++] = next;
    }
    g->base[g->n] = t;
    g->again[g->n++] = -1;
  }
  for (int s = 0; s < g->n; s++) {
    g->join[s] = -1;
    if (!is_comm(g, s)) continue;
    g->join[s] = g->n - 1;
    const ProblemStep *step = &g->p->steps[g->base[s]];
    for (int i = 0; i < step->use_count; i++) {
      const ProblemUse *use = &g->p->uses[step->first_use + i];
      bool makes;
      if (!(use->flags & (PROBLEM_USE_CREATE | PROBLEM_USE_UPDATE)) || !touches(g, s, use->piece, &makes)) continue;
      for (int later = s + 1; later < g->join[s]; later++)
        if (touches(g, later, use->piece, &makes)) g->join[s] = later;
    }
  }
}

/* One copy of a piece on the device, one way out and one way in. */
typedef struct Copy {
  int piece, from, until; /* until: last step that needs it */
  const PlanMove *out, *in;
  bool is_final, is_taken; /* the step `until` makes another piece where this one lies */
  int released; /* step */
  int out_task, written_task; /* d2h; ssdw */
} Copy;

static bool goes_out(const Graph *g, const PlanMove *move);

/* S17: nothing has to be copied out any more, and the last step that needs the copy makes a piece over it. */
static bool is_taken(const Graph *g, const Copy *copy) {
  const ProblemStep *step = &g->p->steps[g->base[copy->until]];
  bool makes = false;
  if (copy->is_final || (copy->out && goes_out(g, copy->out)) || g->p->pieces[copy->piece].home == TIER_DEVICE) return false;
  for (int i = 0; i < step->use_count; i++) {
    const ProblemUse *use = &g->p->uses[step->first_use + i];
    if (use->under == copy->piece && touches(g, copy->until, use->piece, &makes) && makes) return true;
  }
  return false;
}

static Copy *find_copies(Graph *g, int *count) {
  Copy *copies = NULL;
  *count = 0;
  for (int x = 0; x < g->p->piece_count; x++) {
    const ProblemPiece *piece = &g->p->pieces[x];
    int u = -1, from = -1;
    const PlanMove *in = NULL;
    for (int s = 0; s < g->n; s++) {
      bool makes = false, is_direct = touches(g, s, x, &makes), is_held = false;
      for (int e = 0; e < s && !is_held; e++) {
        bool ignored;
        is_held = g->join[e] == s && touches(g, e, x, &ignored);
      }
      if (!is_direct && !is_held) continue;
      if (!is_direct) makes = false;
      if (piece->home == TIER_DEVICE) {
        u = s;
        continue;
      }
      const PlanMove *move = NULL;
      for (int m = 0; m < g->plan->move_count; m++)
        if (g->plan->moves[m].piece == x && g->plan->moves[m].after == u && !makes) move = &g->plan->moves[m];
      if (makes || move) {
        if (u >= 0) ARENA_PUSH(g->arena, copies, *count, (Copy){.piece = x, .from = from, .until = u, .out = move, .in = in});
        from = move ? move->g : s;
        in = move;
      }
      u = s;
    }
    if (u < 0) continue;
    Copy last = {.piece = x, .from = from, .until = u, .in = in, .is_final = piece->is_final};
    if (piece->home == TIER_DEVICE) last.from = 0;
    ARENA_PUSH(g->arena, copies, *count, last);
  }
  for (int x = 0; x < g->p->piece_count; x++) { /* at home on the device and never used */
    bool is_there = false;
    for (int i = 0; i < *count; i++) is_there |= copies[i].piece == x;
    if (!is_there && g->p->pieces[x].home == TIER_DEVICE)
      ARENA_PUSH(g->arena, copies, *count, (Copy){.piece = x, .until = g->n - 1});
  }
  for (int i = 0; i < *count; i++) copies[i].is_taken = is_taken(g, &copies[i]);
  return copies;
}

static int next_use(const Graph *g, const Copy *copies, int count, const PlanMove *move) {
  (void)g;
  for (int i = 0; i < count; i++)
    if (copies[i].in == move) {
      int v = g->n;
      for (int s = copies[i].from; s < v; s++) {
        bool makes, is_used = touches(g, s, move->piece, &makes);
        for (int e = 0; e < s && !is_used; e++) is_used = g->join[e] == s && touches(g, e, move->piece, &makes);
        if (is_used) v = s;
      }
      return v;
    }
  return -1;
}

/* A move goes out only the first time it goes to a tier, and never for a piece with a home. */
static bool goes_out(const Graph *g, const PlanMove *move) {
  if (g->p->pieces[move->piece].home != TIER_NONE) return false;
  for (int m = 0; m < g->plan->move_count; m++) {
    const PlanMove *other = &g->plan->moves[m];
    if (other->piece == move->piece && other->to == move->to && other->after < move->after) return false;
  }
  return true;
}

static bool needs_device(const Graph *g, const Copy *copy, int s) {
  if (g->p->pieces[copy->piece].home == TIER_DEVICE) return true;
  return copy->from <= s && s <= copy->until - copy->is_taken;
}

static int64_t needed(const Graph *g, const Copy *copies, int count, int s) {
  int64_t sum = 0;
  for (int i = 0; i < count; i++)
    if (needs_device(g, &copies[i], s)) sum += g->p->pieces[copies[i].piece].bytes;
  for (int e = 0; e <= s; e++) {
    int end = g->join[e] > e ? g->join[e] : e;
    if (end < s) continue;
    sum += variant_of(g, e)->work_bytes;
    if (g->again[e] < 0) continue;
    const ProblemStep *step = &g->p->steps[g->base[e]];
    for (int i = 0; i < step->use_count; i++) {
      const ProblemUse *use = &g->p->uses[step->first_use + i];
      bool makes = false;
      if ((use->flags & PROBLEM_USE_CREATE) && !(touches(g, e, use->piece, &makes) && makes)) sum += g->p->pieces[use->piece].bytes;
    }
  }
  return sum;
}

static bool tiers_fit(const Graph *g, const Copy *copies, int count) {
  for (int s = 0; s < g->n; s++) {
    int64_t host = 0, ssd = 0;
    for (int x = 0; x < g->p->piece_count; x++)
      for (Tier tier = TIER_HOST; tier < TIER_COUNT; tier++) {
        int first = g->n, last = -1;
        for (int m = 0; m < g->plan->move_count; m++) {
          const PlanMove *move = &g->plan->moves[m];
          if (move->piece != x || move->to != tier || g->p->pieces[x].home != TIER_NONE) continue;
          if (move->after + 1 < first) first = move->after + 1;
          int v = next_use(g, copies, count, move);
          if (v > last) last = v;
        }
        if (first <= s && s <= last) *(tier == TIER_HOST ? &host : &ssd) += g->p->pieces[x].bytes;
      }
    for (int e = 0; e <= s; e++)
      if ((g->join[e] > e ? g->join[e] : e) >= s) host += variant_of(g, e)->host_work_bytes;
    if (host > g->p->host_bytes || ssd > g->p->ssd_bytes) return false;
  }
  return true;
}

typedef struct Queue { /* the last task of a lane */
  int last;
} Queue;

static int on_lane(Graph *g, Queue *queue, int64_t ns) {
  int task = add_task(g, ns);
  wait_for(g, task, queue->last);
  queue->last = task;
  return task;
}

typedef struct Staged {
  int64_t bytes;
  int done;
} Staged;

/* FIFO of `capacity` bytes: the new entry waits for the ends of the oldest that must leave. */
static void stage(Graph *g, Staged *ring, int *head, int count, int64_t capacity, int64_t bytes, int task) {
  int64_t held = 0;
  for (int i = *head; i < count; i++) held += ring[i].bytes;
  for (; *head < count && held + bytes > capacity; (*head)++) {
    wait_for(g, task, ring[*head].done);
    held -= ring[*head].bytes;
  }
}

static void build(Graph *g, Copy *copies, int count) {
  const Problem *p = g->p;
  Queue *queues = arena_alloc(g->arena, (size_t)p->lane_count * sizeof *queues);
  for (int c = 0; c < p->lane_count; c++) queues[c].last = -1;
  g->boundary = arena_alloc(g->arena, (size_t)g->n * sizeof(int));
  g->run = arena_alloc(g->arena, (size_t)g->n * sizeof(int));
  g->occupied = arena_alloc(g->arena, (size_t)g->n * sizeof(int64_t));
  Staged *out_ring = NULL, *in_ring = NULL;
  int out_head = 0, in_head = 0, outs = 0, ins = 0;
  Copy **waiting = arena_alloc(g->arena, (size_t)(count + 1) * sizeof *waiting);
  int waiting_count = 0;
  int *copied = arena_alloc(g->arena, (size_t)p->piece_count * sizeof(int)), *written = arena_alloc(g->arena, (size_t)p->piece_count * sizeof(int));
  int *arrival = arena_alloc(g->arena, (size_t)(count + 1) * sizeof(int)), *comm = arena_alloc(g->arena, (size_t)g->n * sizeof(int));
  for (int x = 0; x < p->piece_count; x++) copied[x] = written[x] = -1;
  for (int i = 0; i < count; i++) copies[i].released = -1;
  for (int s = 0; s <= g->n; s++) {
    int before = s ? g->run[s - 1] : -1;
    for (int x = 0; x < p->piece_count; x++)
      for (int i = 0; i < count; i++) {
        Copy *copy = &copies[i];
        bool leaves = copy->is_final || (copy->out && goes_out(g, copy->out));
        if (copy->piece != x || copy->until != s - 1 || !leaves) continue;
        bool is_ssd = copy->is_final ? p->pieces[x].ends_on_ssd : copy->out && copy->out->to == TIER_SSD;
        int out = on_lane(g, &queues[LANE_D2H], p->pieces[x].d2h_ns);
        wait_for(g, out, before);
        if (is_ssd) stage(g, out_ring, &out_head, outs, p->ring_bytes, p->pieces[x].bytes, out);
        if (is_ssd) {
          written[x] = on_lane(g, &queues[LANE_SSD_WRITE], p->pieces[x].ssdw_ns);
          wait_for(g, written[x], out);
          ARENA_PUSH(g->arena, out_ring, outs, (Staged){p->pieces[x].bytes, written[x]});
        } else {
          copied[x] = out;
        }
        copy->out_task = out;
        if (p->pieces[x].home == TIER_DEVICE) continue;
        waiting[waiting_count++] = copy;
      }
    if (s == g->n) break;
    int boundary = g->boundary[s] = add_task(g, 0);
    wait_for(g, boundary, before);
    int64_t need = needed(g, copies, count, s), held = 0;
    int pop = 0;
    for (int i = 0; i < waiting_count; i++) {
      held += p->pieces[waiting[i]->piece].bytes;
      const PlanMove *move = waiting[i]->out;
      if (move && (move->g == s || (move->f >= 0 && move->f <= s))) pop = i + 1;
    }
    for (int i = 0; i < pop; i++) held -= p->pieces[waiting[i]->piece].bytes;
    while (pop < waiting_count && need + held > p->device_bytes) held -= p->pieces[waiting[pop++]->piece].bytes;
    if (need + held > p->device_bytes) g->fits = false;
    for (int i = 0; i < pop; i++) {
      wait_for(g, boundary, waiting[i]->out_task);
      waiting[i]->released = s;
    }
    memmove(waiting, waiting + pop, (size_t)(waiting_count - pop) * sizeof *waiting);
    waiting_count -= pop;
    g->occupied[s] = need + held;
    for (int v = s; v < g->n; v++)
      for (int i = 0; i < count; i++) {
        const PlanMove *in = copies[i].in;
        if (!in || in->g != s || next_use(g, copies, count, in) != v) continue;
        int x = copies[i].piece, ready = copied[x];
        if (in->to == TIER_SSD) {
          ready = on_lane(g, &queues[LANE_SSD_READ], p->pieces[x].ssdr_ns);
          wait_for(g, ready, written[x]);
          stage(g, in_ring, &in_head, ins, p->ring_bytes, p->pieces[x].bytes, ready);
        }
        int load = on_lane(g, &queues[LANE_H2D], p->pieces[x].h2d_ns);
        wait_for(g, load, boundary);
        wait_for(g, load, ready);
        if (in->to == TIER_SSD) ARENA_PUSH(g->arena, in_ring, ins, (Staged){p->pieces[x].bytes, load});
        arrival[i] = load;
      }
    int start = add_task(g, 0);
    wait_for(g, start, boundary);
    for (int i = 0; i < count; i++)
      if (copies[i].in && next_use(g, copies, count, copies[i].in) == s) wait_for(g, start, arrival[i]);
    for (int e = 0; e < s; e++)
      if (g->join[e] == s) wait_for(g, start, comm[e]);
    const ProblemVariant *variant = variant_of(g, s);
    int op = p->steps[g->base[s]].op, chosen = g->plan->variant[op], last = start;
    g->run[s] = start;
    for (int i = 0; i < variant->stage_count; i++) {
      int64_t ns = problem_stage_ns(p, g->base[s], chosen, i);
      const bool computes = variant->stages[i].lane == LANE_COMPUTE;
      int task = computes ? add_task(g, ns) : on_lane(g, &queues[variant->stages[i].lane], ns);
      wait_for(g, task, last);
      last = task;
      if (computes) g->run[s] = task;
    }
    comm[s] = last;
  }
  for (int i = 0; i < count; i++) {
    Copy *copy = &copies[i];
    bool leaves = (copy->is_final || (copy->out && goes_out(g, copy->out))) && p->pieces[copy->piece].home != TIER_DEVICE;
    Live live = {p->pieces[copy->piece].bytes, p->pieces[copy->piece].home == TIER_DEVICE ? 0 : copy->from, copy->until + 1 - copy->is_taken};
    if (p->pieces[copy->piece].home == TIER_DEVICE) live.until = g->n;
    if (leaves) live.until = copy->released < 0 ? g->n : copy->released;
    ARENA_PUSH(g->arena, g->live, g->live_count, live);
  }
}

/* Relax every edge until nothing changes; -1 when it never settles. */
static int64_t settle(Graph *g) {
  for (int round = 0; round <= g->count; round++) {
    bool has_changed = false;
    for (int i = g->count - 1; i >= 0; i--) { /* against the order of creation, to depend on nothing but the edges */
      Task *task = &g->tasks[i];
      int64_t start = 0;
      for (int k = 0; k < task->wait_count; k++)
        if (g->tasks[task->waits[k]].end > start) start = g->tasks[task->waits[k]].end;
      if (task->end == start + task->ns) continue;
      task->end = start + task->ns;
      has_changed = true;
    }
    if (has_changed) continue;
    int64_t latest = 0;
    for (int i = 0; i < g->count; i++)
      if (g->tasks[i].end > latest) latest = g->tasks[i].end;
    return latest;
  }
  return -1;
}

static Graph *open_graph(const Problem *problem, const PlannerPlan *plan) {
  Arena *arena = arena_new();
  Graph *g = arena_alloc(arena, sizeof *g);
  *g = (Graph){.arena = arena, .p = problem, .plan = plan, .fits = true};
  lay_out_steps(g);
  int count;
  Copy *copies = find_copies(g, &count);
  build(g, copies, count);
  if (!tiers_fit(g, copies, count)) g->fits = false;
  return g;
}

Opinion second_opinion(const Problem *problem, const PlannerPlan *plan) {
  Graph *g = open_graph(problem, plan);
  Opinion opinion = {.is_valid = g->fits};
  if (g->fits) {
    opinion.makespan_ns = settle(g);
    for (int s = 0; s < g->n; s++)
      if (g->occupied[s] > opinion.peak_bytes) opinion.peak_bytes = g->occupied[s];
  }
  arena_free(g->arena);
  return opinion;
}

typedef struct Change {
  int64_t at, bytes;
} Change;

static int compare_changes(const void *a, const void *b) {
  const Change *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->bytes < y->bytes ? -1 : x->bytes > y->bytes; /* what ends at a moment is gone before what begins */
}

bool second_opinion_shaken(const Problem *problem, const PlannerPlan *plan, uint64_t seed) {
  Graph *g = open_graph(problem, plan);
  for (int i = 0; i < g->count; i++) g->tasks[i].ns = g->tasks[i].ns * (20 + generate_below(&seed, 300)) / 100;
  bool ok = settle(g) >= 0;
  if (!ok) tap_note("the event graph has a cycle");
  /* What a boundary allocates exists from the boundary on; what it releases, up to it. Workspaces follow their steps. */
  Change *changes = arena_alloc(g->arena, 2 * (size_t)(g->live_count + g->n) * sizeof *changes);
  int count = 0;
  for (int i = 0; i < g->live_count; i++) {
    const Live *live = &g->live[i];
    changes[count++] = (Change){g->tasks[g->boundary[live->from]].end, live->bytes};
    if (live->until < g->n) changes[count++] = (Change){g->tasks[g->boundary[live->until]].end, -live->bytes};
  }
  for (int s = 0; s < g->n; s++) {
    int64_t bytes = variant_of(g, s)->work_bytes;
    int end = g->join[s] > s ? g->join[s] : s;
    changes[count++] = (Change){g->tasks[g->boundary[s]].end, bytes};
    if (end + 1 < g->n) changes[count++] = (Change){g->tasks[g->boundary[end + 1]].end, -bytes};
  }
  qsort(changes, (size_t)count, sizeof *changes, compare_changes);
  int64_t live = 0;
  for (int i = 0; i < count && ok; i++) {
    live += changes[i].bytes;
    bool is_settled = i + 1 == count || changes[i + 1].at != changes[i].at;
    if (is_settled && live > problem->device_bytes) {
      tap_note("%lld bytes live at %lld ns", (long long)live, (long long)changes[i].at);
      ok = false;
    }
  }
  arena_free(g->arena);
  return ok;
}
