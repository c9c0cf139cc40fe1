/* The certificate of a plan (S20), on the base order: what no plan can beat. */
#include "judge_parts.h"

#include <string.h>

typedef struct Floor { /* what no plan can beat, by base step */
  int *join; /* -1, or the joining step of a step that may communicate */
  bool *always; /* every variant communicates */
  int64_t *ns; /* cheapest; 0 for steps that may communicate */
  int64_t *comm; /* cheapest completion of a step that may communicate */
  int64_t *loads; /* L */
  int64_t *start, *end;
  int64_t *back; /* write-backs of the step */
  int *first, *last; /* accesses by bit, holds of steps that always communicate included */
} Floor;

static void floor_steps(Judge *j, Floor *f) {
  int n = j->bases;
  f->join = NEW(n, int);
  f->always = NEW(n, bool);
  f->ns = NEW(n, int64_t);
  f->comm = NEW(n, int64_t);
  f->back = NEW(n, int64_t);
  f->first = NEW(j->bits, int);
  f->last = NEW(j->bits, int);
  int *next = NEW(j->bits, int);
  for (int x = 0; x < j->bits; x++) next[x] = f->first[x] = f->last[x] = -1;
  for (int s = n - 1; s >= 0; s--) {
    const Base *b = &j->base[s];
    const Job *job = &j->job[b->job];
    int64_t best = INT64_MAX;
    bool some = false, every = true;
    for (int w = 0; w < job->ways; w++) {
      int64_t ns = judge_way_time(j, job, b->k, &job->way[w]);
      if (ns < best) best = ns;
      some |= talks(&job->way[w]);
      every &= talks(&job->way[w]);
    }
    f->join[s] = -1;
    f->always[s] = every;
    if (some) {
      f->comm[s] = best;
      f->join[s] = n - 1;
      for (int t = 0; t < b->touches; t++)
        if ((b->touch[t].how & WRITES) && next[b->touch[t].bit] >= 0 && next[b->touch[t].bit] < f->join[s])
          f->join[s] = next[b->touch[t].bit];
    } else {
      f->ns[s] = best;
    }
    for (int t = 0; t < b->touches; t++) next[b->touch[t].bit] = s;
  }
  for (int s = 0; s < n; s++)
    for (int t = 0; t < j->base[s].touches; t++) {
      int x = j->base[s].touch[t].bit, end = f->always[s] ? f->join[s] : s;
      if (f->first[x] < 0) f->first[x] = s;
      if (f->last[x] < end) f->last[x] = end;
    }
  for (int x = 0; x < j->bits; x++)
    if (j->bit[x].final && f->last[x] >= 0) f->back[f->last[x]] += judge_ride(j, 0, j->bit[x].n);
}

typedef struct Load {
  int64_t ready, ns;
} Load;

/* L: one h2d channel serving what has a home off the device, in the order of readiness. */
static void floor_loads(Judge *j, Floor *f) {
  f->loads = NEW(j->bases, int64_t);
  Load *load = NEW(j->bits, Load);
  int loads = 0;
  bool changed = false;
  int64_t now = 0;
  for (int s = 0; s < j->bases; s++) {
    for (int t = 0; t < j->base[s].touches; t++) {
      int x = j->base[s].touch[t].bit;
      if (j->bit[x].home < HOME_OF_HOST || f->first[x] != s) continue;
      int64_t ready = j->bit[x].home == HOME_OF_SSD ? judge_ride(j, 3, j->bit[x].n) : 0;
      int at = loads++;
      for (; at > 0 && load[at - 1].ready > ready; at--) load[at] = load[at - 1];
      load[at] = (Load){ready, judge_ride(j, 1, j->bit[x].n)};
      changed = true;
    }
    if (changed) {
      now = 0;
      for (int i = 0; i < loads; i++) now = later(now, load[i].ready) + load[i].ns;
    }
    changed = false;
    f->loads[s] = now;
  }
}

/* Base steps from..end at the earliest. Returns the latest end; fills start/end when they are not NULL. */
static int64_t floor_run(Judge *j, const Floor *f, int from, bool with_loads, int64_t *comm_at, int64_t *start,
                         int64_t *end) {
  int64_t now = 0, latest = 0, written = 0;
  for (int s = from; s < j->bases; s++) comm_at[s] = 0;
  for (int s = from; s < j->bases; s++) {
    now = later(now, comm_at[s]);
    if (with_loads) now = later(now, f->loads[s]);
    if (start) start[s] = now;
    if (f->join[s] >= 0) {
      comm_at[f->join[s]] = later(comm_at[f->join[s]], now + f->comm[s]);
      latest = later(latest, now + f->comm[s]);
    }
    now += f->ns[s];
    if (end) end[s] = now;
    if (f->back[s]) written = later(written, now) + f->back[s];
    latest = later(latest, later(now, written));
  }
  return latest;
}

/* Parts of 2^40: a weight is cut to a multiple of 2^-40, which keeps the arithmetic exact. */
static Big weight(Judge *j, json_t *c, const char *key) {
  json_t *value = json_object_get(c, key);
  if (!value) return 0;
  if (!json_is_number(value)) BAD("certificate.%s: expected a number", key);
  double w = json_number_value(value);
  if (!(w >= 0 && w <= 1048576)) INVALID("certificate.%s: %g is not a weight (S20)", key, w);
  return (Big)(w * 1099511627776.0);
}

typedef struct Option {
  int64_t n, d, h, w, r, c, rel, tail;
  bool host, ssd, rerun, clean, clean_ssd, evictable;
} Option;

/* What may happen to bit x in a base gap that begins at u. */
static Option option_of(Judge *j, const Floor *f, int x, int u) {
  const Bit *p = &j->bit[x];
  Option o = {.n = p->n};
  bool link[4];
  for (int c = 0; c < 4; c++) link[c] = j->link[c].exists;
  if (link[0]) o.d = judge_ride(j, 0, p->n);
  if (link[1]) o.h = judge_ride(j, 1, p->n);
  if (link[2]) o.w = judge_ride(j, 2, p->n);
  if (link[3]) o.r = judge_ride(j, 3, p->n);
  if (p->home >= HOME_OF_HOST) {
    o.clean = p->first_write < 0 || p->first_write > u;
    o.clean_ssd = o.clean && p->home == HOME_OF_SSD;
  } else if (p->home == HOME_OF_NONE) {
    bool settled = p->last_write <= u;
    o.host = settled && (p->may & MAY_HOST) && link[0] && link[1] && p->n <= j->host;
    o.ssd = settled && (p->may & MAY_SSD) && link[0] && link[1] && link[2] && link[3] && p->n <= j->ssd && p->n <= j->ring;
    const Base *b = &j->base[p->first_write];
    o.rerun = (p->may & MAY_RECOMPUTE) && j->job[b->job].can_rerun;
    for (int t = 0; t < b->touches; t++) {
      const Bit *y = &j->bit[b->touch[t].bit];
      if ((b->touch[t].how & WRITES) && (y->home || y->writes != 1 || y->first_write != p->first_write)) o.rerun = false;
    }
    int w = p->last_write;
    o.rel = f->join[w] >= 0 ? f->start[w] + f->comm[w] : f->end[w];
    o.c = f->ns[p->first_write];
  }
  o.evictable = o.host || o.ssd || o.rerun || o.clean;
  return o;
}

static void dual_bound(Judge *j, const Floor *f, json_t *c, int64_t *bound) {
  int64_t split = judge_number(j, c, "split", INT64_MIN, INT64_MIN, "certificate");
  int64_t rho = judge_number(j, c, "rho", INT64_MIN, 0, "certificate"), theta = judge_number(j, c, "theta", INT64_MIN, 0, "certificate");
  if (split < 0 || split >= j->bases) INVALID("certificate: there is no step %lld (S20)", (long long)split);
  int s = (int)split;
  if (f->join[s] >= 0) INVALID("certificate: step %d may communicate, a split computes (S20)", s);
  int64_t *comm_at = NEW(j->bases + 1, int64_t);
  int64_t qs = s + 1 < j->bases ? floor_run(j, f, s + 1, false, comm_at, NULL, NULL) : 0, qc = 0;
  for (int t = s + 1; t < j->bases; t++) qc += f->ns[t];
  if (rho < 0 || rho > f->start[s]) INVALID("certificate: rho is not in 0..%lld (S20)", (long long)f->start[s]);
  if (theta < 0 || theta > qs) INVALID("certificate: theta is not in 0..%lld (S20)", (long long)qs);
  Big one = (Big)1 << 40, a1 = weight(j, c, "a1"), a2 = weight(j, c, "a2"), b1 = weight(j, c, "b1");
  Big b2 = weight(j, c, "b2"), b3 = weight(j, c, "b3"), cw = weight(j, c, "cw"), cr = weight(j, c, "cr");
  Big lam = weight(j, c, "lam"), mu = weight(j, c, "mu");
  if (a1 + a2 + cw + cr > one || b1 + b2 + b3 + cw + cr > one)
    INVALID("certificate: the weights exceed 1 (S20)");

  /* Accesses around the split; a hold of a step that always communicates counts as an access at its join. */
  int *before = NEW(j->bits, int), *after = NEW(j->bits, int);
  bool *at = NEW(j->bits, bool), *held = NEW(j->bits, bool);
  bool *under = NEW(j->bits, bool);
  for (int x = 0; x < j->bits; x++) before[x] = after[x] = -1;
  for (int i = 0; i < j->base[s].touches; i++)
    if (j->base[s].touch[i].over >= 0) under[j->base[s].touch[i].over] = true;
  Big base = 0;
  for (int t = 0; t < j->bases; t++) {
    const Base *b = &j->base[t];
    int end = f->always[t] ? f->join[t] : t;
    for (int i = 0; i < b->touches; i++) {
      int x = b->touch[i].bit;
      if (t == s || end == s) at[x] = true;
      if (t < s && end > s) held[x] = true;
      if (t < s && before[x] < (end < s ? end : t)) before[x] = end < s ? end : t;
      if (t > s && (after[x] < 0 || after[x] > t)) after[x] = t;
    }
    if (t == s || (f->always[t] && t < s && f->join[t] >= s)) {
      int64_t least = INT64_MAX;
      const Job *job = &j->job[b->job];
      for (int w = 0; w < job->ways; w++)
        if (job->way[w].work < least) least = job->way[w].work;
      base += least;
    }
  }
  int64_t *tail = NEW(j->bases + 1, int64_t); /* of the steps asked for */
  for (int t = 0; t <= j->bases; t++) tail[t] = -1;
  Option *item = NEW(j->bits, Option);
  int *maker = NEW(j->bits, int), *sharers = NEW(j->bases, int), items = 0;
  int64_t rel_min = INT64_MAX, tail_min = INT64_MAX;
  for (int x = 0; x < j->bits; x++) {
    const Bit *p = &j->bit[x];
    if (p->home == HOME_OF_DEVICE || at[x] || held[x]) {
      if (!under[x]) base += p->n;
      continue;
    }
    if (before[x] < 0 || after[x] < 0) continue;
    Option o = option_of(j, f, x, before[x]);
    if (tail[after[x]] < 0) tail[after[x]] = floor_run(j, f, after[x], false, comm_at, NULL, NULL);
    o.tail = tail[after[x]];
    if (!o.evictable) {
      base += p->n;
      continue;
    }
    maker[items] = o.rerun ? p->first_write : -1;
    if (o.rerun) sharers[p->first_write]++;
    rel_min = o.rel < rel_min ? o.rel : rel_min;
    tail_min = o.tail < tail_min ? o.tail : tail_min;
    item[items++] = o;
  }
  Big t0 = items ? (Big)rel_min + tail_min : 0;
  Big sum = a1 * f->end[s] + a2 * ((Big)rho + f->ns[s]) + b1 * qc + b2 * qs + b3 * theta + (cw + cr) * t0 -
            lam * ((Big)j->device - base) - mu * j->host;
  for (int i = 0; i < items; i++) {
    const Option *o = &item[i];
    Big d = o->rel >= rho ? o->d : 0, h = o->tail >= theta ? o->h : 0;
    Big least = lam * o->n;
    if (o->host && a2 * d + b3 * h + mu * o->n < least) least = a2 * d + b3 * h + mu * o->n;
    if (o->ssd && a2 * d + b3 * h + cw * o->w + cr * o->r < least) least = a2 * d + b3 * h + cw * o->w + cr * o->r;
    if (o->rerun && b1 * (o->c / sharers[maker[i]]) < least) least = b1 * (o->c / sharers[maker[i]]);
    Big clean = b3 * h + (o->clean_ssd ? cr * o->r : 0);
    if (o->clean && clean < least) least = clean;
    sum += least;
  }
  Big up = sum > 0 ? (sum + one - 1) >> 40 : 0;
  if (up > INT64_MAX) INVALID("certificate: the bound has no meaning (S20)");
  if ((int64_t)up > *bound) *bound = (int64_t)up;
}

/* ---- a certificate of windows ---- */

typedef struct Stretch { /* between two accesses of a bit; from -1: before the first */
  int from, to;
  bool is_held;
} Stretch;

typedef struct Views { /* prices, in parts of 2^40: of windows 0 .. cuts, and sums over the first k cuts */
  int cuts, *cut;
  Big *compute, *out, *in, *write, *read, *room, *host_room;
} Views;

static Big *weights(Judge *j, json_t *c, const char *key, int count) {
  json_t *list = json_object_get(c, key);
  if (!json_is_array(list)) BAD("certificate.%s: expected a list", key);
  if ((int)json_array_size(list) != count) INVALID("certificate.%s: %d weights, not %d (S20)", key, (int)json_array_size(list), count);
  Big *all = NEW(count + 1, Big);
  for (int i = 0; i < count; i++) {
    json_t *value = json_array_get(list, (size_t)i);
    if (!json_is_number(value)) BAD("certificate.%s: expected numbers", key);
    double w = json_number_value(value);
    if (!(w >= 0 && w <= 1048576)) INVALID("certificate.%s: %g is not a weight (S20)", key, w);
    all[i] = (Big)(w * 1099511627776.0);
  }
  return all;
}

static Big *sums(Judge *j, const Big *each, int count) {
  Big *sum = NEW(count + 1, Big);
  for (int i = 0; i < count; i++) sum[i + 1] = sum[i] + each[i];
  return sum;
}

static int cuts_below(const Views *v, int s) {
  int count = 0;
  while (count < v->cuts && v->cut[count] < s) count++;
  return count;
}

static Big cheapest(const Big *price, int a, int b) {
  Big least = price[a];
  for (int i = a; i <= b; i++)
    if (price[i] < least) least = price[i];
  return least;
}

/* What is there again from some window on: the price of getting it there and of the room from then on. */
static Big getting(const Views *v, const Big *price, int64_t ns, int64_t n, int a, int b) {
  Big least = price[a] * ns + (v->room[b] - v->room[a]) * n;
  for (int i = a; i <= b; i++)
    if (price[i] * ns + (v->room[b] - v->room[i]) * n < least) least = price[i] * ns + (v->room[b] - v->room[i]) * n;
  return least;
}

static void take(Big *least, Big value) {
  if (*least < 0 || value < *least) *least = value;
}

/* What goes out for the first time and comes back; `c`: the time to make it again, or -1. Each is the least up to a window. */
static Big travelling(const Views *v, const Option *o, int64_t c, int a, int b) {
  Big there = -v->room[a] * o->n, gone = -1, least = -1; /* there: less the room up to the window */
  for (int k = a; k <= b; k++) {
    const Big again = c >= 0 ? v->compute[k] * c - v->room[k] * o->n : there; /* or dropped, made again, and then out */
    if (again < there) there = again;
    take(&gone, there + v->room[k] * o->n + v->out[k] * o->d);
    take(&least, gone + v->in[k] * o->h + (v->room[b] - v->room[k]) * o->n);
  }
  return least;
}

/* One stretch: the least sums by what has a copy (1: host, 2: SSD) before and after it; -1: none. */
static void pass_stretch(const Views *v, const Option *o, int64_t c, int a, int b, Big *sum) {
  Big next[4] = {-1, -1, -1, -1}, hosted = (v->host_room[b] - v->host_room[a]) * o->n;
  Big first = o->host || o->ssd ? travelling(v, o, o->rerun ? c : -1, a, b) : -1;
  for (int copies = 0; copies < 4; copies++) {
    if (sum[copies] < 0) continue;
    Big s = sum[copies];
    take(&next[copies], s + (v->room[b] - v->room[a]) * o->n);
    if (o->host) take(&next[copies | 1], s + hosted + (copies & 1 ? getting(v, v->in, o->h, o->n, a, b) : first));
    if (o->ssd && (copies & 2)) take(&next[copies], s + getting(v, v->in, o->h, o->n, a, b) + cheapest(v->read, 0, b) * o->r);
    if (o->ssd && !(copies & 2)) take(&next[copies | 2], s + first + cheapest(v->write, a, b) * o->w + cheapest(v->read, a, b) * o->r);
    if (o->rerun) take(&next[copies], s + getting(v, v->compute, c, o->n, a, b));
    if (o->clean) take(&next[copies], s + getting(v, v->in, o->h, o->n, a, b) + (o->clean_ssd ? cheapest(v->read, 0, b) * o->r : 0));
  }
  memcpy(sum, next, sizeof next);
}

/* The stretches of every bit, in the order of time: `first[x]` .. of bit x. */
static Stretch *find_stretches(Judge *j, const Floor *f, int *first) {
  int *count = NEW(j->bits + 1, int), *last = NEW(j->bits, int), *held = NEW(j->bits, int);
  Stretch *all = NULL;
  int *joined = NEW(j->bases + 1, int), *next_joined = NEW(j->bases + 1, int);
  for (int s = 0; s <= j->bases; s++) joined[s] = -1;
  for (int s = 0; s < j->bases; s++)
    if (f->join[s] > s) {
      next_joined[s] = joined[f->join[s]];
      joined[f->join[s]] = s;
    }
  for (int round = 0; round < 2; round++) { /* count, then fill */
    for (int x = 0; x < j->bits; x++) last[x] = held[x] = -1;
    for (int s = 0; s < j->bases; s++) {
      for (int e = s; e >= 0; e = e == s ? joined[s] : next_joined[e])
        for (int t = 0; t < j->base[e].touches; t++) {
          int x = j->base[e].touch[t].bit;
          if (last[x] == s) continue;
          if (round) all[first[x] + count[x]] = (Stretch){last[x], s, held[x] >= s};
          count[x]++;
          last[x] = s;
        }
      for (int t = 0; t < j->base[s].touches && f->join[s] > s; t++)
        if (held[j->base[s].touch[t].bit] < f->join[s]) held[j->base[s].touch[t].bit] = f->join[s];
    }
    if (round) break;
    for (int x = 0; x < j->bits; x++) {
      first[x + 1] = first[x] + count[x];
      count[x] = 0;
    }
    all = NEW(first[j->bits] + 1, Stretch);
  }
  return all;
}

/* By bit: the last step before which it can be made again whatever happens to others, or -1: what its step reads has been written no more, and
 * is there, or can be made again itself. */
static int *find_remakes(Judge *j, const Floor *f) {
  int *until = NEW(j->bits, int), *written = NEW(j->bits, int), *limit = NEW(j->bases, int);
  for (int x = 0; x < j->bits; x++) {
    until[x] = -1;
    written[x] = j->bases - 1;
  }
  for (int s = j->bases - 1; s >= 0; s--) {
    const Base *b = &j->base[s];
    limit[s] = j->bases - 1;
    for (int t = 0; t < b->touches; t++)
      if ((b->touch[t].how & READS) && written[b->touch[t].bit] < limit[s]) limit[s] = written[b->touch[t].bit];
    for (int t = 0; t < b->touches; t++)
      if (b->touch[t].how & WRITES) written[b->touch[t].bit] = s;
  }
  for (int s = 0; s < j->bases; s++) {
    const Base *b = &j->base[s];
    bool can = j->job[b->job].can_rerun;
    for (int t = 0; t < b->touches; t++) {
      const Bit *y = &j->bit[b->touch[t].bit];
      if ((b->touch[t].how & WRITES) && (y->home || y->writes != 1)) can = false;
      if (!(b->touch[t].how & READS) || y->home != HOME_OF_NONE) continue;
      int there = f->last[b->touch[t].bit] > until[b->touch[t].bit] ? f->last[b->touch[t].bit] : until[b->touch[t].bit];
      if (there < limit[s]) limit[s] = there;
    }
    for (int t = 0; t < b->touches && can; t++)
      if ((b->touch[t].how & WRITES) && (j->bit[b->touch[t].bit].may & MAY_RECOMPUTE)) until[b->touch[t].bit] = limit[s];
  }
  return until;
}

static Views read_views(Judge *j, const Floor *f, json_t *c) {
  Views v = {0};
  json_t *cuts = json_object_get(c, "cuts");
  if (!json_is_array(cuts)) BAD("certificate.cuts: expected a list");
  v.cuts = (int)json_array_size(cuts);
  if (v.cuts < 1 || v.cuts > 4096) INVALID("certificate.cuts: %d of them (S20)", v.cuts);
  v.cut = NEW(v.cuts, int);
  for (int k = 0; k < v.cuts; k++) {
    json_t *cut = json_array_get(cuts, (size_t)k);
    if (!json_is_integer(cut)) BAD("certificate.cuts: expected steps");
    if (json_integer_value(cut) < 0 || json_integer_value(cut) >= j->bases) INVALID("certificate: there is no step %lld (S20)", (long long)json_integer_value(cut));
    v.cut[k] = (int)json_integer_value(cut);
    if (k && v.cut[k] <= v.cut[k - 1]) INVALID("certificate: the cuts do not rise at step %d (S20)", v.cut[k]);
    if (f->join[v.cut[k]] >= 0) INVALID("certificate: step %d may communicate, a cut computes (S20)", v.cut[k]);
  }
  v.compute = weights(j, c, "compute", v.cuts + 1);
  v.out = weights(j, c, "d2h", v.cuts + 1);
  v.in = weights(j, c, "h2d", v.cuts + 1);
  v.write = weights(j, c, "ssdw", v.cuts + 1);
  v.read = weights(j, c, "ssdr", v.cuts + 1);
  for (int k = 0; k <= v.cuts; k++)
    if (v.compute[k] + v.out[k] + v.in[k] + v.write[k] + v.read[k] > (Big)1 << 40) INVALID("certificate: the weights of window %d exceed 1 (S20)", k);
  return v;
}

static void windows_bound(Judge *j, const Floor *f, json_t *c, int64_t *bound) {
  for (int s = 0; s < j->bases; s++)
    if (f->join[s] >= 0 && !f->always[s]) INVALID("certificate: step %d may communicate or not (S20)", s);
  Views v = read_views(j, f, c);
  Big *lam = weights(j, c, "lam", v.cuts), *mu = weights(j, c, "mu", v.cuts), *base = NEW(v.cuts, Big), sum = 0;
  v.room = sums(j, lam, v.cuts);
  v.host_room = sums(j, mu, v.cuts);
  int *first = NEW(j->bits + 1, int), *below = NEW(j->bases + 2, int), *makes = NEW(j->bases, int);
  for (int s = 0; s <= j->bases; s++) below[s] = cuts_below(&v, s);
  const Stretch *stretch = find_stretches(j, f, first);
  const int *remake = find_remakes(j, f);
  for (int s = 0; s < j->bases; s++) {
    const Job *job = &j->job[j->base[s].job];
    int64_t least = INT64_MAX;
    for (int w = 0; w < job->ways; w++)
      if (job->way[w].work < least) least = job->way[w].work;
    for (int k = below[s]; k < v.cuts && v.cut[k] <= (f->join[s] > s ? f->join[s] : s); k++) base[k] += least;
    sum += v.compute[below[s]] * f->ns[s];
    for (int t = 0; t < j->base[s].touches; t++) /* its place may be taken: it is not there twice */
      if (below[s] < v.cuts && v.cut[below[s]] == s && j->base[s].touch[t].over >= 0 && j->bit[j->base[s].touch[t].over].home != HOME_OF_DEVICE)
        base[below[s]] -= j->bit[j->base[s].touch[t].over].n;
  }
  for (int x = 0; x < j->bits; x++)
    if (j->bit[x].home == HOME_OF_NONE && j->bit[x].first_write >= 0 && (j->bit[x].may & MAY_RECOMPUTE)) makes[j->bit[x].first_write]++;
  for (int x = 0; x < j->bits; x++) {
    const Bit *p = &j->bit[x];
    if (p->home == HOME_OF_DEVICE) {
      for (int k = 0; k < v.cuts; k++) base[k] += p->n;
      continue;
    }
    Big least[4] = {0, -1, -1, -1};
    for (int i = first[x]; i < first[x + 1]; i++) {
      const Stretch *g = &stretch[i];
      if (below[g->to] < v.cuts && v.cut[below[g->to]] == g->to) base[below[g->to]] += p->n;
      int a = g->from < 0 ? 0 : below[g->from + 1], b = below[g->to];
      if (g->from < 0 && p->home == HOME_OF_NONE) continue;
      Option o = option_of(j, f, x, g->from);
      o.rerun = p->home == HOME_OF_NONE && g->from < remake[x];
      o.evictable = o.host || o.ssd || o.rerun || o.clean;
      if (g->from < 0) { /* the first time from home */
        least[0] += getting(&v, v.in, o.h, p->n, 0, b) + (p->home == HOME_OF_SSD ? cheapest(v.read, 0, b) * o.r : 0);
        continue;
      }
      if (g->is_held || !o.evictable || p->n == 0) {
        for (int k = a; k < b; k++) base[k] += p->n;
        continue;
      }
      pass_stretch(&v, &o, o.rerun ? o.c / makes[p->first_write] : 0, a, b, least);
    }
    Big own = -1;
    for (int k = 0; k < 4; k++)
      if (least[k] >= 0) take(&own, least[k]);
    sum += own;
  }
  for (int k = 0; k < v.cuts; k++) sum -= lam[k] * ((Big)j->device - base[k]) + mu[k] * j->host;
  Big one = (Big)1 << 40, up = sum > 0 ? (sum + one - 1) >> 40 : 0;
  if (up > INT64_MAX) INVALID("certificate: the bound has no meaning (S20)");
  if ((int64_t)up > *bound) *bound = (int64_t)up;
}

void judge_certificate(Judge *j) {
  json_t *c = judge_member(j, j->plan, "certificate", JSON_OBJECT, false, "plan");
  if (!c) return;
  const char *kind = judge_text(j, c, "kind", "certificate");
  if (!strcmp(kind, "stallfree"))
    judge_only_keys(j, c, "certificate", " kind ");
  else if (!strcmp(kind, "dual"))
    judge_only_keys(j, c, "certificate", " kind split rho theta a1 a2 b1 b2 b3 cw cr lam mu ");
  else if (!strcmp(kind, "windows"))
    judge_only_keys(j, c, "certificate", " kind cuts compute d2h h2d ssdw ssdr lam mu ");
  else
    BAD("certificate.kind: \"%.40s\" is not a certificate; expected dual, windows or stallfree", kind);
  Floor f = {0};
  floor_steps(j, &f);
  floor_loads(j, &f);
  f.start = NEW(j->bases, int64_t);
  f.end = NEW(j->bases, int64_t);
  j->bound = floor_run(j, &f, 0, true, NEW(j->bases + 1, int64_t), f.start, f.end);
  if (!strcmp(kind, "dual")) dual_bound(j, &f, c, &j->bound);
  if (!strcmp(kind, "windows")) windows_bound(j, &f, c, &j->bound);
}
