#include "windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wide.h"

#define NEW(count, type) ((type *)arena_alloc(arena, (size_t)(count) * sizeof(type) + 1))

enum { MAY_KEEP = 1, MAY_HOST = 2, MAY_SSD = 4, MAY_RERUN = 8, MAY_CLEAN = 16, IS_INITIAL = 32 };
enum { HAS_HOST = 1, HAS_SSD = 2, STATES = 4 };

/* A gap: cuts first + 1 .. last lie in it. */
typedef struct Span {
  int first, last;
  unsigned options;
} Span;

/* Pieces of one datum with the same spans: their sizes and times summed. */
typedef struct Kind {
  int span_first, span_count, members, first; /* first: of its pieces, which are of one datum and have their home in one tier */
  double bytes, out_ns, in_ns, write_ns, read_ns, rerun_ns;
} Kind;

typedef struct Choice { /* of a span at some prices */
  double cost;
  int leave, back; /* windows; -1: none */
} Choice;

struct Windows {
  const Problem *problem;
  const Geometry *geometry;
  Arena *arena;
  WindowsReruns reruns;
  double *remake_ns; /* by piece: estimated; NULL: what is proved */
  int cut_count, *cuts;
  int *cuts_before; /* by step, and one more: cuts before it */
  int64_t *base_bytes; /* by cut */
  int64_t *compute_ns; /* by window */
  Span *spans;
  int span_count;
  int *piece_first; /* spans of a piece: piece_first[x] .. piece_first[x + 1]; in each kind they are those of its first member */
  int *kind_of; /* by piece, or -1 */
  Kind *kinds;
  int kind_count;
  int *outs; /* by step: pieces that it creates and that may be made again */
  /* prices, and those that proved the most */
  double *rows, *lam, *mu, *best_rows, *best_lam, *best_mu;
  double *best_held, *best_hosted; /* sums of best_lam and best_mu */
  double best; /* of the sums over kinds */
  /* scratch */
  double *row_slope, *lam_slope, *mu_slope, *row_step, *lam_step, *mu_step, *held, *hosted, *least_write, *least_read;
  Choice (*choices)[8];
  uint8_t (*from)[STATES], (*taken)[STATES];
  float (*shares)[FATE_COUNT]; /* by span of a kind: how often each fate was the cheapest lately */
  double scale; /* ns per byte of one unit of lam */
  double level;
  int idle;
  bool is_begun; /* has prices of others */
};

/* ---- what is there ---- */

static unsigned options_of(const Problem *p, const ProblemPiece *piece, int u, int remake_limit) {
  unsigned options = MAY_KEEP;
  if (piece->home == TIER_DEVICE || piece->bytes == 0) return options;
  if (problem_is_home_away(piece)) return piece->first_write < 0 || piece->first_write > u ? options | MAY_CLEAN : options;
  bool is_settled = piece->last_write <= u;
  if (is_settled && (piece->fates & FATE_BIT(FATE_HOST)) && problem_reaches_host(p) && piece->bytes <= p->host_bytes) options |= MAY_HOST;
  if (is_settled && (piece->fates & FATE_BIT(FATE_SSD)) && problem_reaches_ssd(p) && piece->bytes <= p->ssd_bytes && piece->bytes <= p->ring_bytes)
    options |= MAY_SSD;
  if (u < remake_limit) options |= MAY_RERUN;
  return options;
}

/* A step that communicates in some variant does so in all. */
static bool is_certain(const Problem *p, const Geometry *g) {
  for (int s = 0; s < p->step_count; s++)
    if (g->join[s] >= 0 && !g->is_always_comm[s]) return false;
  return true;
}

/* Computing steps about as far apart in steps as in time. */
static void choose_cuts(Windows *w, int most) {
  const Problem *p = w->problem;
  const Geometry *g = w->geometry;
  int n = p->step_count;
  double whole = (double)g->end_ns[n - 1] + 1, next = 0;
  Arena *arena = w->arena;
  w->cuts = NEW(most + 1, int);
  for (int s = 1; s + 1 < n && w->cut_count < most; s++) {
    double at = 0.5 * s / n + 0.5 * (double)g->start_ns[s] / whole;
    if (g->join[s] >= 0 || at * (most + 1) < next + 1 || g->retain_bytes[s] <= p->device_bytes) continue;
    w->cuts[w->cut_count++] = s;
    next = floor(at * (most + 1));
  }
  w->cuts_before = NEW(n + 2, int);
  for (int s = 0, c = 0; s <= n; s++) {
    w->cuts_before[s] = c;
    if (c < w->cut_count && w->cuts[c] == s) c++;
  }
}

static void count_base(Windows *w) {
  const Problem *p = w->problem;
  const Geometry *g = w->geometry;
  Arena *arena = w->arena;
  w->base_bytes = NEW(w->cut_count, int64_t);
  w->compute_ns = NEW(w->cut_count + 1, int64_t);
  int64_t everywhere = 0;
  for (int x = 0; x < p->piece_count; x++)
    if (p->pieces[x].home == TIER_DEVICE) everywhere += p->pieces[x].bytes;
  for (int t = 0; t < p->step_count; t++) {
    int end = g->join[t] >= 0 ? g->join[t] : t;
    for (int c = w->cuts_before[t]; c < w->cut_count && w->cuts[c] <= end; c++) w->base_bytes[c] += g->min_work[t];
    w->compute_ns[w->cuts_before[t]] += g->min_ns[t]; /* a cut ends its window */
  }
  for (int c = 0; c < w->cut_count; c++) {
    int s = w->cuts[c];
    w->base_bytes[c] += everywhere;
    for (int i = g->access_first[s]; i < g->access_first[s + 1]; i++)
      if (p->pieces[g->access[i]].home != TIER_DEVICE) w->base_bytes[c] += p->pieces[g->access[i]].bytes;
    for (int i = 0; i < p->steps[s].use_count; i++) {
      int under = p->uses[p->steps[s].first_use + i].under;
      if (under >= 0 && p->pieces[under].home != TIER_DEVICE) w->base_bytes[c] -= p->pieces[under].bytes;
    }
  }
}

static bool is_same(const Span *a, const Span *b) { return a->first == b->first && a->last == b->last && a->options == b->options; }

static void make_spans(Windows *w) {
  const Problem *p = w->problem;
  const Geometry *g = w->geometry;
  Arena *arena = w->arena;
  w->piece_first = NEW(p->piece_count + 1, int);
  w->spans = NEW(g->gap_count + p->piece_count, Span);
  w->outs = NEW(p->step_count, int);
  for (int x = 0; x < p->piece_count; x++)
    if (p->pieces[x].creator >= 0 && (p->pieces[x].fates & FATE_BIT(FATE_RECOMPUTE))) w->outs[p->pieces[x].creator]++;
  for (int x = 0; x < p->piece_count; x++) {
    const ProblemPiece *piece = &p->pieces[x];
    int first = w->span_count, useful = first;
    w->piece_first[x] = first;
    if (piece->home == TIER_DEVICE || g->first_access[x] < 0) continue;
    if (problem_is_home_away(piece)) w->spans[w->span_count++] = (Span){0, w->cuts_before[g->first_access[x]], MAY_CLEAN | IS_INITIAL};
    if (w->span_count > first) useful = w->span_count;
    for (int i = g->gap_first[x]; i < g->gap_first[x + 1]; i++) {
      const PlanGap *gap = &g->gaps[i];
      /* What ends with a cut step ends before it begins; what begins with one, after it. */
      Span span = {w->cuts_before[gap->u + 1], w->cuts_before[gap->v], gap->is_held ? MAY_KEEP : options_of(p, piece, gap->u, g->remake_limit[x])};
      if (w->reruns == RERUNS_BY_COPIES && (span.options & (MAY_HOST | MAY_SSD))) span.options &= ~(unsigned)MAY_RERUN;
      if (span.options == MAY_KEEP) {
        for (int c = span.first; c < span.last; c++) w->base_bytes[c] += piece->bytes;
        continue;
      }
      if (w->span_count > first && is_same(&w->spans[w->span_count - 1], &span) && span.first == span.last) continue;
      w->spans[w->span_count++] = span;
      if (span.first < span.last) useful = w->span_count;
    }
    w->span_count = useful; /* what comes after the last that covers a cut costs nothing */
  }
  w->piece_first[p->piece_count] = w->span_count;
}

/* What a producer reads is made again for it where it is dead before all that the producer makes is; each of its readers pays its share. */
static void estimate_remakes(Windows *w) {
  const Problem *p = w->problem;
  const Geometry *g = w->geometry;
  Arena *arena = w->arena;
  int *readers = NEW(p->piece_count, int);
  for (int i = 0; i < p->use_count; i++) readers[p->uses[i].piece] += (p->uses[i].flags & PROBLEM_USE_READ) != 0;
  w->remake_ns = NEW(p->piece_count, double);
  for (int s = 0; s < p->step_count; s++) {
    const ProblemUse *uses = &p->uses[p->steps[s].first_use];
    const int count = p->steps[s].use_count;
    double ns = (double)g->min_ns[s];
    int last = -1;
    for (int i = 0; i < count; i++)
      if ((uses[i].flags & PROBLEM_USE_CREATE) && g->last_access[uses[i].piece] > last) last = g->last_access[uses[i].piece];
    for (int i = 0; i < count; i++)
      if ((uses[i].flags & PROBLEM_USE_READ) && g->last_access[uses[i].piece] < last) ns += w->remake_ns[uses[i].piece] / readers[uses[i].piece];
    for (int i = 0; i < count; i++)
      if ((uses[i].flags & PROBLEM_USE_CREATE) && w->outs[s]) w->remake_ns[uses[i].piece] = ns / w->outs[s];
  }
}

static void add_member(const Windows *w, Kind *kind, int x) {
  const ProblemPiece *piece = &w->problem->pieces[x];
  kind->members++;
  kind->bytes += (double)piece->bytes;
  kind->out_ns += (double)piece->d2h_ns;
  kind->in_ns += (double)piece->h2d_ns;
  kind->write_ns += (double)piece->ssdw_ns;
  kind->read_ns += (double)piece->ssdr_ns;
  if (w->remake_ns) kind->rerun_ns += w->remake_ns[x];
  else if (piece->creator >= 0 && w->outs[piece->creator]) kind->rerun_ns += (double)(w->geometry->min_ns[piece->creator] / w->outs[piece->creator]);
}

static void make_kinds(Windows *w) {
  enum { RECENT = 8 };
  const Problem *p = w->problem;
  Arena *arena = w->arena;
  w->kinds = NEW(p->piece_count, Kind);
  w->kind_of = NEW(p->piece_count, int);
  for (int x = 0; x < p->piece_count; x++) w->kind_of[x] = -1;
  int longest = 0;
  for (int x = 0; x < p->piece_count; x++) {
    int first = w->piece_first[x], count = w->piece_first[x + 1] - first, found = -1;
    if (count == 0) continue;
    if (count > longest) longest = count;
    for (int k = w->kind_count - 1; k >= 0 && k >= w->kind_count - RECENT && found < 0; k--) {
      const Kind *kind = &w->kinds[k];
      if (kind->span_count != count || p->pieces[kind->first].datum != p->pieces[x].datum || p->pieces[kind->first].home != p->pieces[x].home) continue;
      found = k;
      for (int i = 0; i < count && found >= 0; i++)
        if (!is_same(&w->spans[kind->span_first + i], &w->spans[first + i])) found = -1;
    }
    if (found < 0) {
      found = w->kind_count++;
      w->kinds[found] = (Kind){.span_first = first, .span_count = count, .first = x};
    }
    add_member(w, &w->kinds[found], x);
    w->kind_of[x] = found;
  }
  w->shares = (float(*)[FATE_COUNT])arena_alloc(arena, (size_t)(w->span_count + 1) * sizeof *w->shares);
  w->choices = (Choice(*)[8])arena_alloc(arena, (size_t)(longest + 1) * sizeof *w->choices);
  w->from = (uint8_t(*)[STATES])arena_alloc(arena, (size_t)(longest + 1) * STATES);
  w->taken = (uint8_t(*)[STATES])arena_alloc(arena, (size_t)(longest + 1) * STATES);
}

Windows *windows_new(Arena *arena, const Problem *p, const Geometry *g, int most_cuts, WindowsReruns reruns) {
  if (!g->is_over_budget || p->step_count < 3 || !is_certain(p, g)) return NULL;
  Windows *w = NEW(1, Windows);
  *w = (Windows){.problem = p, .geometry = g, .arena = arena, .reruns = reruns};
  choose_cuts(w, most_cuts);
  if (w->cut_count == 0) return NULL;
  count_base(w);
  make_spans(w);
  if (reruns == RERUNS_ESTIMATED) estimate_remakes(w);
  make_kinds(w);
  int cuts = w->cut_count, rows = WINDOW_ROWS * (cuts + 1);
  w->rows = NEW(rows, double), w->best_rows = NEW(rows, double), w->row_slope = NEW(rows, double), w->row_step = NEW(rows, double);
  w->lam = NEW(cuts, double), w->best_lam = NEW(cuts, double), w->lam_slope = NEW(cuts, double), w->lam_step = NEW(cuts, double);
  w->mu = NEW(cuts, double), w->best_mu = NEW(cuts, double), w->mu_slope = NEW(cuts, double), w->mu_step = NEW(cuts, double);
  w->held = NEW(cuts + 1, double), w->hosted = NEW(cuts + 1, double), w->best_held = NEW(cuts + 1, double), w->best_hosted = NEW(cuts + 1, double);
  for (int j = 0; j <= cuts; j++) w->rows[WINDOW_ROWS * j + WINDOW_COMPUTE] = w->best_rows[WINDOW_ROWS * j + WINDOW_COMPUTE] = 1;
  for (int j = 0; j <= cuts; j++) w->best += (double)w->compute_ns[j];
  double bandwidth = p->lanes[LANE_H2D].is_present ? (double)p->lanes[LANE_H2D].bandwidth / 1e9 : 1;
  w->scale = 4 / bandwidth / (cuts + 1);
  return w;
}

/* ---- the bound at some prices ---- */

typedef struct Prices {
  const double *rows, *held, *hosted; /* held[k], hosted[k]: the sums of lam and mu of the first k cuts */
} Prices;

static double price(const Prices *q, int window, int row) { return q->rows[WINDOW_ROWS * window + row]; }

static double least(const Prices *q, int from, int to, int row) {
  double value = HUGE_VAL;
  for (int j = from; j <= to; j++)
    if (price(q, j, row) < value) value = price(q, j, row);
  return value;
}

static int least_at(const Prices *q, int from, int to, int row) {
  int at = from;
  for (int j = from; j <= to; j++)
    if (price(q, j, row) < price(q, at, row)) at = j;
  return at;
}

/* To come back over one lane: present from there on. */
static Choice come_back(const Prices *q, const Span *span, double bytes, double ns, int row) {
  Choice best = {HUGE_VAL, -1, span->first};
  for (int j = span->first; j <= span->last; j++) {
    double cost = price(q, j, row) * ns + (q->held[span->last] - q->held[j]) * bytes;
    if (cost < best.cost) best = (Choice){cost, -1, j};
  }
  return best;
}

/* To leave and come back. It may also be dropped at once and leave after it was made again. */
static Choice leave_and_come_back(const Prices *q, const Span *span, double bytes, double out_ns, double in_ns, double rerun_ns) {
  Choice best = {HUGE_VAL, span->first, span->first};
  double out = HUGE_VAL, there = -q->held[span->first] * bytes;
  int leave = span->first;
  for (int j = span->first; j <= span->last; j++) {
    const double remade = rerun_ns >= 0 ? price(q, j, WINDOW_COMPUTE) * rerun_ns - q->held[j] * bytes : there;
    if (remade < there) there = remade;
    double gone = price(q, j, WINDOW_D2H) * out_ns + q->held[j] * bytes + there;
    if (gone < out) out = gone, leave = j;
    double cost = out + price(q, j, WINDOW_H2D) * in_ns + (q->held[span->last] - q->held[j]) * bytes;
    if (cost < best.cost) best = (Choice){cost, leave, j};
  }
  return best;
}

typedef enum Way { STAY, HOST_FIRST, HOST_AGAIN, SSD_FIRST, SSD_AGAIN, RERUN, CLEAN, WAYS } Way;

static unsigned needed_by(Way way) {
  static const unsigned needed[WAYS] = {MAY_KEEP, MAY_HOST, MAY_HOST, MAY_SSD, MAY_SSD, MAY_RERUN, MAY_CLEAN};
  return needed[way];
}

static bool is_first(Way way) { return way == HOST_FIRST || way == SSD_FIRST; }

/* The copies of a way over the device's own lanes; to the host and to the SSD they are the same. */
static Choice copies_of(const Prices *q, const Span *span, const Kind *k, Way way) {
  if (is_first(way)) return leave_and_come_back(q, span, k->bytes, k->out_ns, k->in_ns, span->options & MAY_RERUN ? k->rerun_ns : -1);
  return come_back(q, span, k->bytes, k->in_ns, WINDOW_H2D);
}

/* What a way costs on top of its copies. */
static double beside_copies(const Prices *q, const Span *span, const Kind *k, Way way, bool is_home_ssd) {
  switch (way) {
    case HOST_FIRST: case HOST_AGAIN: return (q->hosted[span->last] - q->hosted[span->first]) * k->bytes;
    case SSD_FIRST: return least(q, span->first, span->last, WINDOW_SSDW) * k->write_ns + least(q, span->first, span->last, WINDOW_SSDR) * k->read_ns;
    case SSD_AGAIN: return least(q, 0, span->last, WINDOW_SSDR) * k->read_ns;
    case CLEAN: return is_home_ssd ? least(q, 0, span->last, WINDOW_SSDR) * k->read_ns : 0;
    case STAY: case RERUN: case WAYS: break;
  }
  return 0;
}

/* `copies`: of the way, or NULL. */
static Choice way_cost(const Prices *q, const Span *span, const Kind *k, Way way, bool is_home_ssd, const Choice *copies) {
  Choice choice = {HUGE_VAL, -1, -1};
  if (!(span->options & needed_by(way))) return choice;
  if (way == STAY) choice.cost = (q->held[span->last] - q->held[span->first]) * k->bytes;
  else if (way == RERUN) choice = come_back(q, span, k->bytes, k->rerun_ns, WINDOW_COMPUTE);
  else choice = copies ? *copies : copies_of(q, span, k, way), choice.cost += beside_copies(q, span, k, way, is_home_ssd);
  return choice;
}

/* The ways open in a state, and the state after. */
static bool leads(int state, Way way, int *next) {
  *next = state;
  switch (way) {
    case HOST_FIRST: *next = state | HAS_HOST; return !(state & HAS_HOST);
    case HOST_AGAIN: return (state & HAS_HOST) != 0;
    case SSD_FIRST: *next = state | HAS_SSD; return !(state & HAS_SSD);
    case SSD_AGAIN: return (state & HAS_SSD) != 0;
    case STAY: case RERUN: case CLEAN: case WAYS: break;
  }
  return true;
}

static void add_range(double *list, int from, int to, double by) {
  for (int i = from; i < to; i++) list[i] += by;
}

/* The slope of one choice: what it takes of each row. */
static void add_slope(Windows *w, const Prices *q, const Span *span, const Kind *k, Way way, const Choice *choice, bool is_home_ssd) {
  if (way == STAY) {
    add_range(w->lam_slope, span->first, span->last, k->bytes);
    return;
  }
  if (choice->leave >= 0) {
    w->row_slope[WINDOW_ROWS * choice->leave + WINDOW_D2H] += k->out_ns;
    add_range(w->lam_slope, span->first, choice->leave, k->bytes);
  }
  w->row_slope[WINDOW_ROWS * choice->back + (way == RERUN ? WINDOW_COMPUTE : WINDOW_H2D)] += way == RERUN ? k->rerun_ns : k->in_ns;
  add_range(w->lam_slope, choice->back, span->last, k->bytes);
  if (way == HOST_FIRST || way == HOST_AGAIN) add_range(w->mu_slope, span->first, span->last, k->bytes);
  if (way == SSD_FIRST) w->row_slope[WINDOW_ROWS * least_at(q, span->first, span->last, WINDOW_SSDW) + WINDOW_SSDW] += k->write_ns;
  int from = way == SSD_FIRST ? span->first : 0;
  if (way == SSD_FIRST || way == SSD_AGAIN || (way == CLEAN && is_home_ssd))
    w->row_slope[WINDOW_ROWS * least_at(q, from, span->last, WINDOW_SSDR) + WINDOW_SSDR] += k->read_ns;
}

static bool is_reached(const double *cost, Way way) {
  if (way == HOST_AGAIN) return cost[HAS_HOST] < HUGE_VAL || cost[HAS_HOST | HAS_SSD] < HUGE_VAL;
  if (way == SSD_AGAIN) return cost[HAS_SSD] < HUGE_VAL || cost[HAS_HOST | HAS_SSD] < HUGE_VAL;
  return true;
}

/* All ways of a span that are open in some state met. */
static void way_costs(const Prices *q, const Span *span, const Kind *k, const double *cost, bool is_home_ssd, Choice *choices) {
  Choice copies[2]; /* to come back; to leave first */
  bool is_known[2] = {false, false};
  for (int way = 0; way < WAYS; way++) {
    const bool is_open = (span->options & needed_by((Way)way)) && is_reached(cost, (Way)way), is_copied = way != STAY && way != RERUN;
    const int first = is_first((Way)way);
    choices[way] = (Choice){HUGE_VAL, -1, -1};
    if (!is_open) continue;
    if (is_copied && !is_known[first]) copies[first] = copies_of(q, span, k, (Way)way), is_known[first] = true;
    choices[way] = way_cost(q, span, k, (Way)way, is_home_ssd, is_copied ? &copies[first] : NULL);
  }
}

static Fate fate_of(Way way, bool is_home_ssd) {
  static const uint8_t fates[WAYS] = {FATE_KEEP, FATE_HOST, FATE_HOST, FATE_SSD, FATE_SSD, FATE_RECOMPUTE, FATE_HOST};
  return way == CLEAN && is_home_ssd ? FATE_SSD : (Fate)fates[way];
}

static void count_share(float *shares, Fate fate) {
  const float last = 0.02f;
  for (int i = 0; i < FATE_COUNT; i++) shares[i] *= 1 - last;
  shares[fate] += last;
}

/* The cheapest ways through the spans of a kind. */
static double go_through(Windows *w, const Prices *q, const Kind *k, bool has_slope) {
  double cost[STATES] = {0, HUGE_VAL, HUGE_VAL, HUGE_VAL};
  bool is_home_ssd = w->problem->pieces[k->first].home == TIER_SSD;
  for (int i = 0; i < k->span_count; i++) {
    const Span *span = &w->spans[k->span_first + i];
    double next_cost[STATES] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
    way_costs(q, span, k, cost, is_home_ssd, w->choices[i]);
    for (int state = 0; state < STATES; state++)
      for (int way = 0; way < WAYS && cost[state] < HUGE_VAL; way++) {
        int next;
        if (w->choices[i][way].cost == HUGE_VAL || !leads(state, (Way)way, &next) || cost[state] + w->choices[i][way].cost >= next_cost[next]) continue;
        next_cost[next] = cost[state] + w->choices[i][way].cost;
        w->from[i][next] = (uint8_t)state;
        w->taken[i][next] = (uint8_t)way;
      }
    memcpy(cost, next_cost, sizeof cost);
  }
  int state = 0;
  for (int i = 1; i < STATES; i++)
    if (cost[i] < cost[state]) state = i;
  double value = cost[state];
  for (int i = k->span_count - 1; i >= 0 && has_slope; i--) {
    Way way = (Way)w->taken[i][state];
    add_slope(w, q, &w->spans[k->span_first + i], k, way, &w->choices[i][way], is_home_ssd);
    count_share(w->shares[k->span_first + i], fate_of(way, is_home_ssd));
    state = w->from[i][state];
  }
  return value;
}

static void sum_up(const Windows *w, const double *lam, const double *mu, double *held, double *hosted) {
  held[0] = hosted[0] = 0;
  for (int c = 0; c < w->cut_count; c++) {
    held[c + 1] = held[c] + lam[c];
    hosted[c + 1] = hosted[c] + mu[c];
  }
}

static double value_and_slope(Windows *w) {
  const Problem *p = w->problem;
  sum_up(w, w->lam, w->mu, w->held, w->hosted);
  Prices q = {w->rows, w->held, w->hosted};
  memset(w->row_slope, 0, (size_t)(WINDOW_ROWS * (w->cut_count + 1)) * sizeof(double));
  double value = 0;
  for (int j = 0; j <= w->cut_count; j++) {
    w->row_slope[WINDOW_ROWS * j + WINDOW_COMPUTE] = (double)w->compute_ns[j];
    value += w->rows[WINDOW_ROWS * j + WINDOW_COMPUTE] * (double)w->compute_ns[j];
  }
  for (int c = 0; c < w->cut_count; c++) {
    w->lam_slope[c] = -(double)(p->device_bytes - w->base_bytes[c]);
    w->mu_slope[c] = -(double)p->host_bytes;
    value += w->lam[c] * w->lam_slope[c] + w->mu[c] * w->mu_slope[c];
  }
  for (int k = 0; k < w->kind_count; k++) value += go_through(w, &q, &w->kinds[k], true);
  return value;
}

/* ---- raising it ---- */

/* The same weights in all windows and the same price of room at all cuts: the best of some, to begin with. */
static void begin(Windows *w) {
  static const double rows[][WINDOW_ROWS] = {{0.5, 0, 0.5}, {0, 0.5, 0.5}, {0, 0, 1}, {0, 0, 0, 0.6, 0.4}, {0.3, 0.3, 0.4}};
  int cuts = w->cut_count;
  double *lam = w->lam_step, *row = w->row_step, best = w->best;
  memcpy(lam, w->lam, (size_t)cuts * sizeof *lam);
  memcpy(row, w->rows, (size_t)(WINDOW_ROWS * (cuts + 1)) * sizeof *row);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (double factor = 1.0 / 8; factor <= 64; factor *= 2) {
      for (int j = 0; j <= cuts; j++) memcpy(w->rows + WINDOW_ROWS * j, rows[i], sizeof rows[i]);
      for (int c = 0; c < cuts; c++) w->lam[c] = factor * w->scale;
      double value = value_and_slope(w);
      if (value <= best) continue;
      best = value;
      memcpy(lam, w->lam, (size_t)cuts * sizeof *lam);
      memcpy(row, w->rows, (size_t)(WINDOW_ROWS * (cuts + 1)) * sizeof *row);
    }
  memcpy(w->lam, lam, (size_t)cuts * sizeof *lam);
  memcpy(w->rows, row, (size_t)(WINDOW_ROWS * (cuts + 1)) * sizeof *row);
  memset(lam, 0, (size_t)cuts * sizeof *lam);
  memset(row, 0, (size_t)(WINDOW_ROWS * (cuts + 1)) * sizeof *row);
}


/* The nearest point with a sum of at most one and nothing negative. */
static void project(double *row) {
  double sorted[WINDOW_ROWS], sum = 0, positive = 0;
  for (int i = 0; i < WINDOW_ROWS; i++) positive += row[i] > 0 ? row[i] : 0;
  if (positive <= 1) {
    for (int i = 0; i < WINDOW_ROWS; i++)
      if (row[i] < 0) row[i] = 0;
    return;
  }
  memcpy(sorted, row, sizeof sorted);
  for (int i = 1; i < WINDOW_ROWS; i++)
    for (int k = i; k > 0 && sorted[k] > sorted[k - 1]; k--) {
      double swap = sorted[k];
      sorted[k] = sorted[k - 1];
      sorted[k - 1] = swap;
    }
  double shift = 0;
  for (int i = 0; i < WINDOW_ROWS; i++) {
    sum += sorted[i];
    if (sorted[i] - (sum - 1) / (i + 1) > 0) shift = (sum - 1) / (i + 1);
  }
  for (int i = 0; i < WINDOW_ROWS; i++) row[i] = row[i] > shift ? row[i] - shift : 0;
}

/* A little less, so that no rounding makes the rows of a window exceed one. */
static void keep_best(Windows *w) {
  for (int i = 0; i < WINDOW_ROWS * (w->cut_count + 1); i++) w->best_rows[i] = w->rows[i] * (1 - 1e-9);
  memcpy(w->best_lam, w->lam, (size_t)w->cut_count * sizeof(double));
  memcpy(w->best_mu, w->mu, (size_t)w->cut_count * sizeof(double));
  sum_up(w, w->best_lam, w->best_mu, w->best_held, w->best_hosted);
}

static double deflect(double *step, const double *slope, int count, double scale, double keep) {
  double norm = 0;
  for (int i = 0; i < count; i++) {
    step[i] = keep * step[i] + (1 - keep) * slope[i] * scale;
    norm += step[i] * step[i];
  }
  return norm;
}

/* Where the slope leads out of what is allowed, it counts nothing. */
static void cut_slope(double *slope, const double *at, int count) {
  for (int i = 0; i < count; i++)
    if (at[i] <= 0 && slope[i] < 0) slope[i] = 0;
}

static void step(Windows *w, double value, double target) {
  const double keep = 0.9;
  int cuts = w->cut_count, rows = WINDOW_ROWS * (cuts + 1);
  bool has_host = w->problem->host_bytes > 0;
  cut_slope(w->lam_slope, w->lam, cuts);
  cut_slope(w->mu_slope, w->mu, cuts);
  double norm = deflect(w->row_step, w->row_slope, rows, 1, keep) + deflect(w->lam_step, w->lam_slope, cuts, w->scale, keep);
  if (has_host) norm += deflect(w->mu_step, w->mu_slope, cuts, w->scale, keep);
  double by = (target - value) / (norm + 1);
  for (int i = 0; i < rows; i++) w->rows[i] += by * w->row_step[i];
  for (int j = 0; j <= cuts; j++) project(w->rows + WINDOW_ROWS * j);
  for (int c = 0; c < cuts; c++) {
    w->lam[c] += by * w->lam_step[c] * w->scale;
    if (w->lam[c] < 0) w->lam[c] = 0;
    if (has_host) w->mu[c] += by * w->mu_step[c] * w->scale;
    if (w->mu[c] < 0) w->mu[c] = 0;
  }
}

/* ---- what is proved: the same in whole numbers, piece by piece ---- */

#define UNIT 1099511627776.0 /* 2^40 */

typedef struct Exact {
  Wide *rows, *held, *hosted;
} Exact;

static Wide min_wide(Wide a, Wide b) { return a < b ? a : b; }

static Wide exact_least(const Exact *q, int from, int to, int row) {
  Wide value = q->rows[WINDOW_ROWS * from + row];
  for (int j = from + 1; j <= to; j++) value = min_wide(value, q->rows[WINDOW_ROWS * j + row]);
  return value;
}

static Wide exact_back(const Exact *q, const Span *span, int64_t bytes, int64_t ns, int row) {
  Wide best = 0;
  for (int j = span->first; j <= span->last; j++) {
    Wide cost = q->rows[WINDOW_ROWS * j + row] * ns + (q->held[span->last] - q->held[j]) * bytes;
    if (j == span->first || cost < best) best = cost;
  }
  return best;
}

static Wide exact_leave(const Exact *q, const Span *span, const ProblemPiece *piece, int64_t rerun_ns) {
  const Wide n = piece->bytes;
  Wide best = 0, out = 0, there = -q->held[span->first] * n;
  for (int j = span->first; j <= span->last; j++) {
    if (rerun_ns >= 0) there = min_wide(there, q->rows[WINDOW_ROWS * j + WINDOW_COMPUTE] * rerun_ns - q->held[j] * n);
    Wide gone = q->rows[WINDOW_ROWS * j + WINDOW_D2H] * piece->d2h_ns + q->held[j] * n + there;
    out = j == span->first ? gone : min_wide(out, gone);
    Wide cost = out + q->rows[WINDOW_ROWS * j + WINDOW_H2D] * piece->h2d_ns + (q->held[span->last] - q->held[j]) * n;
    best = j == span->first ? cost : min_wide(best, cost);
  }
  return best;
}

#define NEVER ((Wide)1 << 120)

static Wide exact_way(const Windows *w, const Exact *q, const Span *span, int x, Way way) {
  const ProblemPiece *piece = &w->problem->pieces[x];
  const unsigned needed[WAYS] = {MAY_KEEP, MAY_HOST, MAY_HOST, MAY_SSD, MAY_SSD, MAY_RERUN, MAY_CLEAN};
  if (!(span->options & needed[way])) return NEVER;
  const Wide n = piece->bytes, hosted = (q->hosted[span->last] - q->hosted[span->first]) * n;
  const int64_t rerun_ns = span->options & MAY_RERUN ? w->geometry->min_ns[piece->creator] / w->outs[piece->creator] : -1;
  switch (way) {
    case STAY: return (q->held[span->last] - q->held[span->first]) * n;
    case HOST_FIRST: return exact_leave(q, span, piece, rerun_ns) + hosted;
    case HOST_AGAIN: return exact_back(q, span, piece->bytes, piece->h2d_ns, WINDOW_H2D) + hosted;
    case SSD_FIRST:
      return exact_leave(q, span, piece, rerun_ns) + exact_least(q, span->first, span->last, WINDOW_SSDW) * piece->ssdw_ns +
             exact_least(q, span->first, span->last, WINDOW_SSDR) * piece->ssdr_ns;
    case SSD_AGAIN: return exact_back(q, span, piece->bytes, piece->h2d_ns, WINDOW_H2D) + exact_least(q, 0, span->last, WINDOW_SSDR) * piece->ssdr_ns;
    case RERUN: return exact_back(q, span, piece->bytes, rerun_ns, WINDOW_COMPUTE);
    case CLEAN:
      return exact_back(q, span, piece->bytes, piece->h2d_ns, WINDOW_H2D) +
             (piece->home == TIER_SSD ? exact_least(q, 0, span->last, WINDOW_SSDR) * piece->ssdr_ns : 0);
    case WAYS: break;
  }
  return NEVER;
}

static Wide exact_piece(const Windows *w, const Exact *q, int x) {
  Wide cost[STATES] = {0, NEVER, NEVER, NEVER};
  for (int i = w->piece_first[x]; i < w->piece_first[x + 1]; i++) {
    Wide next_cost[STATES] = {NEVER, NEVER, NEVER, NEVER};
    for (int way = 0; way < WAYS; way++) {
      Wide own = exact_way(w, q, &w->spans[i], x, (Way)way);
      for (int state = 0, next; state < STATES && own < NEVER; state++)
        if (cost[state] < NEVER && leads(state, (Way)way, &next)) next_cost[next] = min_wide(next_cost[next], cost[state] + own);
    }
    memcpy(cost, next_cost, sizeof cost);
  }
  return min_wide(min_wide(cost[0], cost[1]), min_wide(cost[2], cost[3]));
}

static int64_t prove(const Windows *w) {
  const Problem *p = w->problem;
  Arena *arena = arena_new();
  int cuts = w->cut_count;
  Exact q = {NEW(WINDOW_ROWS * (cuts + 1), Wide), NEW(cuts + 1, Wide), NEW(cuts + 1, Wide)};
  Wide sum = 0;
  for (int i = 0; i < WINDOW_ROWS * (cuts + 1); i++) q.rows[i] = (Wide)(w->best_rows[i] * UNIT);
  for (int j = 0; j <= cuts; j++) sum += q.rows[WINDOW_ROWS * j + WINDOW_COMPUTE] * w->compute_ns[j];
  for (int c = 0; c < cuts; c++) {
    Wide lam = (Wide)(w->best_lam[c] * UNIT), mu = (Wide)(w->best_mu[c] * UNIT);
    q.held[c + 1] = q.held[c] + lam;
    q.hosted[c + 1] = q.hosted[c] + mu;
    sum -= lam * ((Wide)p->device_bytes - w->base_bytes[c]) + mu * p->host_bytes;
  }
  for (int x = 0; x < p->piece_count; x++) sum += exact_piece(w, &q, x);
  arena_free(arena);
  return sum > 0 ? (int64_t)((sum + ((Wide)1 << 40) - 1) >> 40) : 0;
}

/* The index of the nearest of some steps that rise. */
static int nearest(const int *steps, int count, int step) {
  int at = 0;
  while (at + 1 < count && abs(steps[at + 1] - step) <= abs(steps[at] - step)) at++;
  return at;
}

void windows_begin_at(Windows *w, const PlanWindows *others) {
  const int cuts = w->cut_count;
  for (int j = 0, other = 0; j <= cuts; j++) {
    const int from = j ? w->cuts[j - 1] : 0, to = j < cuts ? w->cuts[j] : w->problem->step_count, middle = from + (to - from) / 2;
    while (other < others->cut_count && others->cuts[other] < middle) other++;
    memcpy(w->rows + WINDOW_ROWS * j, others->rows + WINDOW_ROWS * other, WINDOW_ROWS * sizeof(double));
  }
  for (int c = 0; c < others->cut_count; c++) {
    const int at = nearest(w->cuts, cuts, others->cuts[c]);
    w->lam[at] += others->lam[c];
    w->mu[at] += others->mu[c];
  }
  w->is_begun = true;
}

int64_t windows_raise(Windows *w, int64_t known_ns, int rounds, int patience) {
  if (w->level == 0) {
    if (!w->is_begun) begin(w);
    w->level = ((double)known_ns - value_and_slope(w)) / (w->is_begun ? 16 : 2);
  }
  for (int round = 0; round < rounds && w->best < 0.998 * (double)known_ns; round++) {
    double value = value_and_slope(w);
    if (value > w->best) {
      if (value > w->best + 0.05 * w->level) w->idle = 0;
      w->best = value;
      keep_best(w);
    }
    if (++w->idle > patience) {
      w->level *= 0.9;
      w->idle = 0;
      if (w->level < 1e-4 * w->best) break;
    }
    double target = w->best + w->level;
    step(w, value, target < (double)known_ns ? target : (double)known_ns);
  }
  return prove(w);
}

int windows_rounds(const Windows *w, int64_t work) {
  int64_t each = w->cut_count;
  for (int k = 0; k < w->kind_count; k++)
    for (int i = 0; i < w->kinds[k].span_count; i++) each += w->spans[w->kinds[k].span_first + i].last - w->spans[w->kinds[k].span_first + i].first + 1;
  return work / each < INT32_MAX ? (int)(work / each) : INT32_MAX;
}

void windows_certificate(const Windows *w, Arena *arena, PlanCertificate *c) {
  int cuts = w->cut_count, rows = WINDOW_ROWS * (cuts + 1);
  PlanWindows *to = &c->windows;
  *c = (PlanCertificate){.kind = CERTIFICATE_WINDOWS};
  *to = (PlanWindows){.cut_count = cuts, .cuts = NEW(cuts, int), .rows = NEW(rows, double), .lam = NEW(cuts, double), .mu = NEW(cuts, double)};
  memcpy(to->cuts, w->cuts, (size_t)cuts * sizeof(int));
  memcpy(to->rows, w->best_rows, (size_t)rows * sizeof(double));
  memcpy(to->lam, w->best_lam, (size_t)cuts * sizeof(double));
  memcpy(to->mu, w->best_mu, (size_t)cuts * sizeof(double));
}

GapCosts windows_costs(const Windows *w, const PlanGap *gap, bool is_copied) {
  const Problem *p = w->problem;
  const ProblemPiece *piece = &p->pieces[gap->piece];
  const Prices q = {w->best_rows, w->best_held, w->best_hosted};
  Kind kind = {.bytes = (double)piece->bytes, .out_ns = (double)piece->d2h_ns, .in_ns = (double)piece->h2d_ns, .write_ns = (double)piece->ssdw_ns,
               .read_ns = (double)piece->ssdr_ns, .rerun_ns = piece->creator >= 0 ? (double)w->geometry->min_ns[piece->creator] : 0};
  Span span = {w->cuts_before[gap->u + 1], w->cuts_before[gap->v], MAY_KEEP};
  bool is_away = problem_is_home_away(piece);
  for (int fate = FATE_HOST; fate < FATE_COUNT; fate++)
    if (gap->options & FATE_BIT(fate)) span.options |= fate == FATE_RECOMPUTE ? MAY_RERUN : is_away ? MAY_CLEAN : fate == FATE_HOST ? MAY_HOST : MAY_SSD;
  GapCosts costs;
  costs.fates[FATE_KEEP] = way_cost(&q, &span, &kind, STAY, false, NULL).cost;
  costs.fates[FATE_HOST] = way_cost(&q, &span, &kind, is_away ? CLEAN : is_copied ? HOST_AGAIN : HOST_FIRST, false, NULL).cost;
  costs.fates[FATE_SSD] = way_cost(&q, &span, &kind, is_away ? CLEAN : is_copied ? SSD_AGAIN : SSD_FIRST, piece->home == TIER_SSD, NULL).cost;
  costs.fates[FATE_RECOMPUTE] = way_cost(&q, &span, &kind, RERUN, false, NULL).cost;
  costs.lane = q.rows + WINDOW_ROWS * span.last;
  return costs;
}

/* Of what was counted, the fate that covers that share of it, from what stays on. */
static Fate fate_at(const float *shares, double at) {
  static const uint8_t order[] = {FATE_KEEP, FATE_HOST, FATE_SSD, FATE_RECOMPUTE};
  double sum = 0, below = 0;
  for (int i = 0; i < FATE_COUNT; i++) sum += (double)shares[i];
  for (int i = 0; i < FATE_COUNT; i++) {
    below += (double)shares[order[i]];
    if (at * sum < below) return (Fate)order[i];
  }
  return FATE_KEEP;
}

/* The span that covers as much, of those from `at` on; -1: none. */
static int find_span(const Windows *w, int at, int end, const PlanGap *gap) {
  const int first = w->cuts_before[gap->u + 1], last = w->cuts_before[gap->v];
  while (at < end && w->spans[at].last < last) at++;
  return at < end && w->spans[at].first == first && first < last ? at : -1;
}

void windows_fates(const Windows *w, uint8_t *fates) {
  const Problem *p = w->problem;
  const Geometry *g = w->geometry;
  Arena *arena = arena_new();
  int *seen = NEW(w->kind_count, int); /* members */
  for (int x = 0; x < p->piece_count; x++) {
    if (w->kind_of[x] < 0) continue;
    const Kind *kind = &w->kinds[w->kind_of[x]];
    const double share = (seen[w->kind_of[x]]++ + 0.5) / kind->members; /* those that stay are beside each other */
    const int end = kind->span_first + kind->span_count;
    int span = kind->span_first + ((w->spans[kind->span_first].options & IS_INITIAL) != 0);
    for (int i = g->gap_first[x]; i < g->gap_first[x + 1]; i++) {
      const int found = find_span(w, span, end, &g->gaps[i]);
      if (found < 0) continue;
      const Fate fate = fate_at(w->shares[found], share);
      if (g->gaps[i].is_open && (g->gaps[i].options & FATE_BIT(fate))) fates[i] = (uint8_t)fate;
      span = found;
    }
  }
  arena_free(arena);
}
