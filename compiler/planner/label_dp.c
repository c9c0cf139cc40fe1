#include "label_dp.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

enum { DEP_REACH = 64, DEP_LIMIT = 48, BUCKETS = 64 };

typedef enum Decision {
  DECIDE_RETAIN, DECIDE_HOST, DECIDE_SSD, DECIDE_RERUN, DECIDE_RERUN_OPEN, DECIDE_HOST_HELD, DECIDE_SSD_HELD
} Decision;

static const uint8_t fate_of_decision[] = {FATE_KEEP,    FATE_HOST, FATE_SSD, FATE_RECOMPUTE,
                                           FATE_RECOMPUTE, FATE_HOST, FATE_SSD};

typedef struct Label {
  double time; /* left plus right */
  double out, written, in, read; /* backlogs: d2h and ssdw on the left, h2d and ssdr on the right */
  double run_time, run_in, run_read; /* of the open run: compute, postponed reloads */
  int64_t kept, host, ssd, run; /* bytes */
  uint64_t kept_bits, run_bits; /* bit k: the item k + 1 places back is retained, or in the open run */
  int pred; /* its place among the labels kept after the previous item */
  uint8_t decision;
  bool is_open;
} Label;

typedef struct Item {
  int gap;
  double out, in, write, read, rerun; /* ns */
  int64_t bytes, transient;
  bool can_rerun;
  int dep_first, dep_count; /* items that must be there for the re-run */
} Item;

typedef struct Ranked {
  double key;
  int label, bucket;
} Ranked;

typedef struct Dp {
  const Problem *problem;
  const Geometry *geometry;
  Arena *arena;
  Item *items;
  int item_count;
  int *item_of; /* by gap, or -1 */
  int *deps, dep_total;
  int64_t *background; /* by base step: everything that is not an item in its gap */
  double *left_ns, *right_ns;
  double out_rate, in_rate; /* bytes per ns */
  double device_price, host_price; /* ns per byte */
  int64_t device_bytes;
  int width;
  Label *labels, *next;
  int label_count, next_count, next_limit;
  int *pred; /* by item * width + label */
  uint8_t *decision;
  Ranked *ranked;
  int *cells, *cell_label, cell_mask; /* hash of labels by coarse coordinates */
  double cell_bytes, cell_ns;
  int64_t made;
} Dp;

/* What a re-run of the producer of `x` just before step v costs, and which items it needs. */
static bool find_deps(Dp *dp, Item *item, int x, int v, int depth, int *budget) {
  const Problem *p = dp->problem;
  const Geometry *g = dp->geometry;
  const ProblemPiece *piece = &p->pieces[x];
  if (piece->creator < 0 || depth > 32 || --*budget < 0) return false;
  const ProblemStep *step = &p->steps[piece->creator];
  if (!step->can_rerun || v > step->rerun_limit || !(piece->fates & FATE_BIT(FATE_RECOMPUTE))) return false;
  item->rerun += (double)g->min_ns[piece->creator];
  for (int i = 0; i < step->use_count; i++) {
    const ProblemUse *use = &p->uses[step->first_use + i];
    int y = use->piece;
    if (!(use->flags & PROBLEM_USE_READ) || p->pieces[y].home != TIER_NONE) continue;
    if (g->last_access[y] < v) {
      item->transient += p->pieces[y].bytes;
      if (!find_deps(dp, item, y, v, depth + 1, budget)) return false;
      continue;
    }
    int low = g->gap_first[y], high = g->gap_first[y + 1];
    while (low < high) { /* the first gap with gap.v >= v */
      int middle = (low + high) / 2;
      if (g->gaps[middle].v >= v)
        high = middle;
      else
        low = middle + 1;
    }
    if (low >= g->gap_first[y + 1] || g->gaps[low].v == v || g->gaps[low].u >= v) continue;
    if (dp->item_of[low] < 0) continue;
    if (item->dep_count >= DEP_LIMIT) return false;
    ARENA_PUSH(dp->arena, dp->deps, dp->dep_total, dp->item_of[low]);
    item->dep_count++;
  }
  return true;
}

static void make_items(Dp *dp, int centre, const uint8_t *fates, const int *variants) {
  const Problem *p = dp->problem;
  const Geometry *g = dp->geometry;
  Arena *arena = dp->arena;
  int n = p->step_count;
  dp->items = NEW(g->open_count, Item);
  dp->item_of = NEW(g->gap_count, int);
  dp->background = NEW(n + 1, int64_t);
  memset(dp->item_of, -1, (size_t)g->gap_count * sizeof(int));
  for (int s = 0; s < n; s++)
    dp->background[s] = g->retain_bytes[s] - g->max_work[s] + p->ops[p->steps[s].op].variants[variants[p->steps[s].op]].work_bytes;
  int64_t *diff = NEW(n + 1, int64_t);
  for (int i = 0; i < g->open_count; i++) {
    const PlanGap *gap = &g->gaps[g->open[i]];
    bool is_item = gap->u < centre && centre < gap->v;
    if (!is_item && fates[g->open[i]] == FATE_KEEP) continue;
    const ProblemPiece *piece = &p->pieces[gap->piece];
    diff[gap->u + 1] -= piece->bytes;
    diff[gap->v] += piece->bytes;
    if (!is_item) continue;
    dp->item_of[g->open[i]] = dp->item_count;
    dp->items[dp->item_count++] = (Item){.gap = g->open[i], .bytes = piece->bytes, .out = (double)piece->d2h_ns,
                                         .in = (double)piece->h2d_ns, .write = (double)piece->ssdw_ns,
                                         .read = (double)piece->ssdr_ns};
  }
  int64_t sum = 0;
  for (int s = 0; s < n; s++) {
    sum += diff[s];
    dp->background[s] += sum;
  }
  for (int i = 0; i < dp->item_count; i++) {
    Item *item = &dp->items[i];
    const PlanGap *gap = &g->gaps[item->gap];
    item->dep_first = dp->dep_total;
    int budget = 200;
    if (gap->options & FATE_BIT(FATE_RECOMPUTE)) item->can_rerun = find_deps(dp, item, gap->piece, gap->v, 0, &budget);
  }
}

static bool step_over(const Dp *dp, Label *label, int t, bool is_left) {
  int64_t room = dp->device_bytes - label->kept - dp->background[t] - (is_left ? 0 : label->run);
  if (room < 0) return false;
  double *q = is_left ? &label->out : &label->in, *q2 = is_left ? &label->written : &label->read;
  double wait = *q - (double)room / (is_left ? dp->out_rate : dp->in_rate);
  double ns = is_left ? dp->left_ns[t] : dp->right_ns[t];
  if (wait > 0) {
    label->time += wait;
    ns += wait;
  } else {
    wait = 0;
  }
  label->time += ns - wait;
  *q = *q > ns ? *q - ns : 0;
  *q2 = *q2 > ns ? *q2 - ns : 0;
  return true;
}

/* Close the open run just before the right front, which stands at step v. */
static bool close_run(const Dp *dp, Label *label, int v) {
  if (label->kept + label->run + dp->background[v] > dp->device_bytes) return false;
  label->time += label->run_time;
  label->in = label->in > label->run_time ? label->in - label->run_time : 0;
  label->read = label->read > label->run_time ? label->read - label->run_time : 0;
  label->in += label->run_in;
  label->read = (label->read > label->in ? label->read : label->in) + label->run_read;
  if (label->run_read == 0 && label->read <= label->in) label->read = 0;
  label->run = 0;
  label->run_time = label->run_in = label->run_read = 0;
  label->run_bits = 0;
  label->is_open = false;
  return true;
}

static uint64_t coarse(const Dp *dp, const Label *l) {
  uint64_t h = (uint64_t)((double)l->kept / dp->cell_bytes);
  h = h * 1000003u + (uint64_t)(l->out / dp->cell_ns);
  h = h * 1000003u + (uint64_t)(l->in / dp->cell_ns);
  h = h * 1000003u + (uint64_t)((double)l->host / dp->cell_bytes);
  h = h * 1000003u + (uint64_t)((l->written + l->read) / (4 * dp->cell_ns));
  h = h * 1000003u + (uint64_t)((double)l->run / dp->cell_bytes);
  h = h * 4u + (uint64_t)l->is_open * 2u + (l->kept_bits & 1u);
  h ^= h >> 29;
  h *= 0x9E3779B97F4A7C15u;
  return h ^ (h >> 32);
}

/* What a label costs so far, with the bytes it holds at their price. */
static double key_of(const Dp *dp, const Label *l) {
  double transfers = (l->out + l->in + l->run_in) / 2, disk = (l->written + l->read + l->run_read) / 2;
  double held = dp->device_price * (double)l->kept + dp->host_price * (double)l->host;
  return l->time + l->run_time + (transfers > disk ? transfers : disk) + held;
}

/* One label a coarse cell: the fastest. */
static void add_label(Dp *dp, const Label *label) {
  dp->made++;
  uint64_t h = coarse(dp, label);
  int slot = (int)(h & (uint64_t)dp->cell_mask), tag = (int)((h >> 33) & 0x7fffffff);
  while (dp->cell_label[slot] >= 0) {
    if (dp->cells[slot] == tag) {
      Label *old = &dp->next[dp->cell_label[slot]];
      if (key_of(dp, label) < key_of(dp, old)) *old = *label;
      return;
    }
    slot = (slot + 1) & dp->cell_mask;
  }
  if (dp->next_count >= dp->next_limit) return;
  dp->cells[slot] = tag;
  dp->cell_label[slot] = dp->next_count;
  dp->next[dp->next_count++] = *label;
}

static bool has_deps(const Dp *dp, int i, const Label *label, bool with_run) {
  const Item *item = &dp->items[i];
  uint64_t bits = label->kept_bits | (with_run ? label->run_bits : 0);
  for (int k = 0; k < item->dep_count; k++) {
    int distance = i - 1 - dp->deps[item->dep_first + k];
    if (distance < 0 || distance >= DEP_REACH || !(bits >> distance & 1)) return false;
  }
  return true;
}

static void decide(Dp *dp, int i, Label label, Decision decision) {
  const Item *item = &dp->items[i];
  const PlanGap *gap = &dp->geometry->gaps[item->gap];
  bool is_kept = decision == DECIDE_RETAIN;
  bool is_run = decision == DECIDE_RERUN_OPEN || decision == DECIDE_HOST_HELD || decision == DECIDE_SSD_HELD;
  bool is_host = decision == DECIDE_HOST || decision == DECIDE_HOST_HELD;
  bool is_ssd = decision == DECIDE_SSD || decision == DECIDE_SSD_HELD;
  if (is_kept) label.kept += item->bytes;
  if ((is_host || is_ssd) && !gap->is_clean) {
    label.out += item->out;
    if (is_host) label.host += item->bytes;
    if (is_ssd) {
      label.ssd += item->bytes;
      label.written = (label.written > label.out ? label.written : label.out) + item->write;
    }
    if (label.host > dp->problem->host_bytes || label.ssd > dp->problem->ssd_bytes) return;
  }
  if (is_run) {
    label.is_open = true;
    label.run += item->bytes;
    if (is_host || is_ssd) label.run_in += item->in;
    if (is_ssd) label.run_read += item->read;
    if (decision == DECIDE_RERUN_OPEN) label.run_time += item->rerun;
  } else if (is_host || is_ssd) {
    label.in += item->in;
    if (is_ssd) label.read = (label.read > label.in ? label.read : label.in) + item->read;
  } else if (decision == DECIDE_RERUN) {
    int64_t need = label.kept + label.run + dp->background[gap->v] + item->transient;
    if (need > dp->device_bytes) return;
    label.time += item->rerun;
    label.in = label.in > item->rerun ? label.in - item->rerun : 0;
    label.read = label.read > item->rerun ? label.read - item->rerun : 0;
  }
  label.kept_bits = label.kept_bits << 1 | (uint64_t)is_kept;
  label.run_bits = label.run_bits << 1 | (uint64_t)is_run;
  label.decision = (uint8_t)decision;
  add_label(dp, &label);
}

static void expand(Dp *dp, int i, const Label *label) {
  const Item *item = &dp->items[i];
  unsigned options = dp->geometry->gaps[item->gap].options;
  if (options & FATE_BIT(FATE_KEEP)) decide(dp, i, *label, DECIDE_RETAIN);
  if (options & FATE_BIT(FATE_HOST)) decide(dp, i, *label, DECIDE_HOST);
  if (options & FATE_BIT(FATE_SSD)) decide(dp, i, *label, DECIDE_SSD);
  if (item->can_rerun && has_deps(dp, i, label, false)) decide(dp, i, *label, DECIDE_RERUN);
  if (item->can_rerun && has_deps(dp, i, label, true)) decide(dp, i, *label, DECIDE_RERUN_OPEN);
  if (i + 1 == dp->item_count) return;
  if (options & FATE_BIT(FATE_HOST)) decide(dp, i, *label, DECIDE_HOST_HELD);
  if (options & FATE_BIT(FATE_SSD)) decide(dp, i, *label, DECIDE_SSD_HELD);
}

/* As a number that grows with the key. */
static uint64_t rank_of(double key) {
  uint64_t bits;
  key += 0.0; /* there is one zero */
  memcpy(&bits, &key, sizeof bits);
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* By key, and among equal ones as they are: byte by byte, the last one first. Takes as much room again behind them. */
static void sort_ranked(Ranked *ranked, int count) {
  Ranked *from = ranked, *to = ranked + count;
  for (int shift = 0; shift < 64; shift += 8) {
    int first[257] = {0};
    for (int k = 0; k < count; k++) first[1 + (rank_of(from[k].key) >> shift & 255)]++;
    if (count == 0 || first[1 + (rank_of(from[0].key) >> shift & 255)] == count) continue;
    for (int b = 0; b < 256; b++) first[b + 1] += first[b];
    for (int k = 0; k < count; k++) to[first[rank_of(from[k].key) >> shift & 255]++] = from[k];
    Ranked *swapped = from;
    from = to;
    to = swapped;
  }
  if (from != ranked && count) memcpy(ranked, from, (size_t)count * sizeof *ranked);
}

/* Keep `width` of the new labels: a quota for every bucket of retained bytes, then the best keys. */
static void prune(Dp *dp, int i) {
  int kept = 0;
  int64_t low = INT64_MAX, high = 0;
  for (int k = 0; k < dp->next_count; k++) {
    if (dp->next[k].kept < low) low = dp->next[k].kept;
    if (dp->next[k].kept > high) high = dp->next[k].kept;
  }
  for (int k = 0; k < dp->next_count; k++) {
    dp->ranked[k] = (Ranked){key_of(dp, &dp->next[k]), k, 0};
    if (high > low) dp->ranked[k].bucket = (int)((double)(dp->next[k].kept - low) / (double)(high - low) * (BUCKETS - 1));
  }
  bool is_full = dp->next_count > dp->width;
  if (is_full) sort_ranked(dp->ranked, dp->next_count);
  int taken[BUCKETS] = {0}, quota = dp->width / (2 * BUCKETS) + 1;
  for (int pass = 0; pass < (is_full ? 2 : 1); pass++)
    for (int k = 0; k < dp->next_count && kept < dp->width; k++) {
      Ranked *r = &dp->ranked[k];
      if (r->label < 0) continue;
      if (is_full && pass == 0 && taken[r->bucket]++ >= quota) continue;
      dp->labels[kept] = dp->next[r->label];
      dp->pred[(size_t)i * (size_t)dp->width + (size_t)kept] = dp->next[r->label].pred;
      dp->decision[(size_t)i * (size_t)dp->width + (size_t)kept] = dp->next[r->label].decision;
      dp->labels[kept].pred = kept;
      kept++;
      r->label = -1;
    }
  dp->label_count = kept;
}

/* Move both fronts: left over steps (*left, u], right over [v, *right). Drops labels that do not fit. */
static void advance(Dp *dp, int *left, int *right, int u, int v) {
  int kept = 0;
  for (int k = 0; k < dp->label_count; k++) {
    Label label = dp->labels[k];
    bool ok = true;
    for (int t = *left + 1; t <= u && ok; t++) ok = step_over(dp, &label, t, true);
    for (int t = *right - 1; t >= v && ok; t--) ok = step_over(dp, &label, t, false);
    if (!ok) continue;
    dp->labels[kept++] = label;
  }
  dp->label_count = kept;
  if (u > *left) *left = u;
  if (v < *right) *right = v;
}

/* Every label with an open run also goes on with the run closed where the right front stands. */
static void close_runs(Dp *dp, int right) {
  int count = dp->label_count;
  for (int k = 0; k < count; k++) {
    if (!dp->labels[k].is_open) continue;
    Label closed = dp->labels[k];
    if (close_run(dp, &closed, right)) dp->labels[dp->label_count++] = closed;
  }
}

static void trace(const Dp *dp, int label, const uint8_t *fates, uint8_t *out) {
  memcpy(out, fates, (size_t)dp->geometry->gap_count);
  for (int i = dp->item_count - 1; i >= 0; i--) {
    size_t at = (size_t)i * (size_t)dp->width + (size_t)label;
    out[dp->items[i].gap] = fate_of_decision[dp->decision[at]];
    label = dp->pred[at];
  }
}

static void set_up(Dp *dp) {
  const Problem *p = dp->problem;
  const Geometry *g = dp->geometry;
  Arena *arena = dp->arena;
  int n = p->step_count;
  dp->left_ns = NEW(n, double);
  dp->right_ns = NEW(n, double);
  for (int s = 0; s < n; s++) {
    dp->left_ns[s] = (double)(g->end_ns[s] - (s ? g->end_ns[s - 1] : 0));
    dp->right_ns[s] = (double)(g->tail_ns[s] - g->tail_ns[s + 1]);
    if (dp->right_ns[s] < 0) dp->right_ns[s] = 0;
  }
  dp->out_rate = (double)p->lanes[LANE_D2H].bandwidth / 1e9;
  dp->in_rate = (double)p->lanes[LANE_H2D].bandwidth / 1e9;
  size_t width = (size_t)dp->width;
  dp->labels = NEW(2 * width, Label);
  dp->next_limit = dp->width * 14;
  dp->next = NEW(dp->next_limit, Label);
  dp->ranked = NEW(2 * dp->next_limit, Ranked);
  dp->pred = NEW(width * (size_t)dp->item_count, int);
  dp->decision = NEW(width * (size_t)dp->item_count, uint8_t);
  int cells = 1;
  while (cells < 2 * dp->next_limit) cells *= 2;
  dp->cell_mask = cells - 1;
  dp->cells = NEW(cells, int);
  dp->cell_label = NEW(cells, int);
  dp->cell_bytes = (double)dp->device_bytes / 400 + 1;
  double sum = 1;
  for (int i = 0; i < dp->item_count; i++) sum += dp->items[i].out + dp->items[i].in;
  dp->cell_ns = dp->item_count ? sum / (6.0 * dp->item_count) : 1;
}

static int join(Dp *dp, int centre, const uint8_t *fates, uint8_t **proposals) {
  const int64_t device = dp->device_bytes;
  int ranked = 0, found = 0;
  double ns = (double)dp->geometry->min_ns[centre];
  for (int k = 0; k < dp->label_count; k++) {
    Label label = dp->labels[k];
    if (label.is_open || label.kept + dp->background[centre] > device) continue;
    double wait = label.out + label.in, disk = label.written + label.read;
    double longest = wait > disk ? wait : disk;
    dp->ranked[ranked++] = (Ranked){label.time + (longest > ns ? longest : ns), label.pred, 0};
  }
  sort_ranked(dp->ranked, ranked);
  for (int k = 0; k < ranked && found < LABEL_DP_PROPOSALS; k++) {
    trace(dp, dp->ranked[k].label, fates, proposals[found]);
    bool is_new = true;
    for (int i = 0; i < found && is_new; i++)
      is_new = memcmp(proposals[i], proposals[found], (size_t)dp->geometry->gap_count) != 0;
    if (is_new) found++;
  }
  return found;
}

int label_dp(const Problem *problem, const Geometry *geometry, int centre, const uint8_t *fates, const int *variants,
             const LabelDpOptions *options, uint8_t **proposals, int64_t *label_count) {
  Dp dp = {.problem = problem, .geometry = geometry, .arena = arena_new(), .width = options->width,
           .device_price = options->device_price, .host_price = options->host_price,
           .device_bytes = problem->device_bytes - options->reserve_bytes};
  make_items(&dp, centre, fates, variants);
  set_up(&dp);
  dp.label_count = 1;
  dp.labels[0] = (Label){.pred = -1};
  int left = -1, right = problem->step_count;
  for (int i = 0; i < dp.item_count && dp.label_count; i++) {
    const PlanGap *gap = &geometry->gaps[dp.items[i].gap];
    close_runs(&dp, right);
    advance(&dp, &left, &right, gap->u > left ? gap->u : left, gap->v < right ? gap->v : right);
    dp.next_count = 0;
    memset(dp.cell_label, -1, ((size_t)dp.cell_mask + 1) * sizeof(int));
    for (int k = 0; k < dp.label_count; k++) expand(&dp, i, &dp.labels[k]);
    prune(&dp, i);
  }
  int found = 0;
  if (dp.item_count && dp.label_count) {
    close_runs(&dp, right);
    advance(&dp, &left, &right, centre - 1, centre + 1);
    found = join(&dp, centre, fates, proposals);
  }
  *label_count += dp.made;
  arena_free(dp.arena);
  return found;
}
