/* The judge of plans: a literal reading of clauses S1 to S20. Favours plain loops over speed. */
#include "judge_parts.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 64 << 20, MAX_TOKENS = 8000000, MAX_NESTING = 32, MAX_EXTENDED_STEPS = 2000000 };
enum { MAX_STEPS = 200000, MAX_PIECES = 400000, MAX_TOUCHES = 8000000, MAX_CHOICES = 64, MAX_DEVICES = 1 << 20 }; /* S1 */

/* ---- reading ---- */

static json_t *load(Judge *j, const char *what, const char *text, size_t length) {
  if (length > MAX_TEXT_BYTES) BAD("%s: the file is larger than 64 MiB", what);
  size_t tokens = 0, depth = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"') {
      for (i++; i < length && text[i] != '"'; i++) i += text[i] == '\\';
    } else if (text[i] == '[' || text[i] == '{') {
      tokens++;
      if (++depth > MAX_NESTING) BAD("%s: nested deeper than %d", what, MAX_NESTING);
    } else if (text[i] == ']' || text[i] == '}') {
      depth -= depth > 0;
    } else if (text[i] == ',' && ++tokens > MAX_TOKENS) {
      BAD("%s: more than %d values", what, MAX_TOKENS);
    }
  }
  json_error_t error;
  json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
  if (!root) BAD("%s:%d:%d: %s", what, error.line, error.column, error.text);
  return root;
}

static bool truth(Judge *j, json_t *object, const char *key, bool absent, const char *where) {
  json_t *value = json_object_get(object, key);
  if (!value) return absent;
  if (!json_is_boolean(value)) BAD("%s.%s: expected true or false", where, key);
  return json_is_true(value);
}

static int index_in(json_t *table, const char *id) {
  json_t *value = json_object_get(table, id);
  return value ? (int)json_integer_value(value) : -1;
}

static void read_links(Judge *j) {
  json_t *hw = judge_member(j, j->problem, "hardware", JSON_OBJECT, true, "problem"), *value;
  const char *name;
  judge_only_keys(j, hw, "hardware", " device_bytes host_bytes ssd_bytes ring_bytes devices channels ");
  j->device = judge_number(j, hw, "device_bytes", 0, INT64_MIN, "hardware");
  j->host = judge_number(j, hw, "host_bytes", 0, 0, "hardware");
  j->ssd = judge_number(j, hw, "ssd_bytes", 0, 0, "hardware");
  j->ring = judge_number(j, hw, "ring_bytes", 0, 0, "hardware");
  if (judge_number(j, hw, "devices", 1, 1, "hardware") > MAX_DEVICES) BAD("hardware.devices: too many (S1)");
  json_t *channels = judge_member(j, hw, "channels", JSON_OBJECT, false, "hardware");
  if (json_object_size(channels) > MAX_CHOICES) BAD("hardware.channels: more than %d (S1)", MAX_CHOICES);
  j->link = NEW(4 + json_object_size(channels), Link);
  static const char *const four[] = {"d2h", "h2d", "ssdw", "ssdr"};
  for (; j->links < 4; j->links++) {
    json_object_set_new(j->link_index, four[j->links], json_integer(j->links));
    j->link[j->links].bw = 1;
  }
  json_object_foreach(channels, name, value) {
    if (!strcmp(name, "compute")) BAD("hardware.channels: compute is none (S6)");
    int at = index_in(j->link_index, name);
    if (at < 0) {
      at = j->links++;
      json_object_set_new(j->link_index, name, json_integer(at));
    }
    judge_only_keys(j, value, name, " bw lat_ns ");
    j->link[at] = (Link){true, judge_number(j, value, "bw", 1, INT64_MIN, name), judge_number(j, value, "lat_ns", 0, 0, name)};
    if (j->link[at].lat >> 56) BAD("%s.lat_ns: 2^56 ns or more", name);
  }
}

/* A number, or a list of one for each chunk (S2, S5); NULL without a list. */
static int64_t *each_of(Judge *j, json_t *object, const char *key, int chunks, int64_t *sum, const char *where) {
  json_t *list = json_object_get(object, key);
  if (!json_is_array(list)) {
    *sum = judge_number(j, object, key, 0, INT64_MIN, where);
    return NULL;
  }
  if (json_array_size(list) != (size_t)chunks) BAD("%s.%s: %zu numbers for %d chunks", where, key, json_array_size(list), chunks);
  int64_t *each = NEW(chunks, int64_t);
  for (int k = 0; k < chunks; k++) {
    json_t *item = json_array_get(list, (size_t)k);
    each[k] = json_is_integer(item) ? json_integer_value(item) : -1;
    if (each[k] < 0 || each[k] >> 56) BAD("%s.%s[%d]: not a number from 0 to below 2^56", where, key, k);
    *sum += each[k];
    if (*sum >> 56) BAD("%s.%s: 2^56 or more in all", where, key);
  }
  return each;
}

static int home_called(Judge *j, json_t *word, const char *where) {
  const char *h = json_is_string(word) ? json_string_value(word) : "";
  if (!strcmp(h, "device")) return HOME_OF_DEVICE;
  if (!strcmp(h, "host")) return HOME_OF_HOST;
  if (strcmp(h, "ssd")) BAD("%s.home: \"%.40s\"", where, h);
  return HOME_OF_SSD;
}

/* Of a list, the farthest is the home that the datum's channels are asked for. */
static void read_homes(Judge *j, json_t *node, Thing *t, const char *where) {
  json_t *home = json_object_get(node, "home");
  if (!home) return;
  if (!json_is_array(home)) {
    t->home = home_called(j, home, where);
    return;
  }
  if (json_array_size(home) != (size_t)t->chunks) BAD("%s.home: %zu homes for %d chunks", where, json_array_size(home), t->chunks);
  t->homes = NEW(t->chunks, int);
  for (int k = 0; k < t->chunks; k++) {
    t->homes[k] = home_called(j, json_array_get(home, (size_t)k), where);
    if (t->homes[k] > t->home) t->home = t->homes[k];
  }
}

/* What has a home ends there; else a word, or a list of them, says where, and `true` means the host. */
static void read_ends(Judge *j, json_t *node, Thing *t, const char *where) {
  json_t *final = json_object_get(node, "final");
  if (!json_is_string(final) && !json_is_array(final)) {
    t->final = truth(j, node, "final", false, where);
    t->end = t->home;
    t->ends = t->homes;
    return;
  }
  if (t->home) BAD("%s.final: it has a home", where);
  t->final = true;
  if (json_is_array(final) && json_array_size(final) != (size_t)t->chunks) BAD("%s.final: %zu words for %d chunks", where, json_array_size(final), t->chunks);
  t->ends = NEW(t->chunks, int);
  for (int k = 0; k < t->chunks; k++) {
    json_t *word = json_is_array(final) ? json_array_get(final, (size_t)k) : final;
    const char *text = json_is_string(word) ? json_string_value(word) : "";
    if (strcmp(text, "host") && strcmp(text, "ssd")) BAD("%s.final: \"%.40s\"", where, text);
    t->ends[k] = strcmp(text, "ssd") ? HOME_OF_HOST : HOME_OF_SSD;
    if (t->ends[k] > t->end) t->end = t->ends[k];
  }
}

static void read_things(Judge *j) {
  json_t *list = judge_member(j, j->problem, "data", JSON_ARRAY, true, "problem"), *node;
  size_t i;
  Big all = 0;
  j->things = (int)json_array_size(list);
  j->thing = NEW(j->things, Thing);
  json_array_foreach(list, i, node) {
    char where[40];
    snprintf(where, sizeof where, "data[%zu]", i);
    judge_only_keys(j, node, where, " id bytes chunks home final fates role ");
    Thing *t = &j->thing[i];
    t->id = judge_text(j, node, "id", where);
    int64_t chunks = judge_number(j, node, "chunks", 1, 1, where);
    if (chunks > MAX_PIECES - j->bits) BAD("%s.chunks: more than %d pieces (S1)", where, MAX_PIECES);
    t->chunks = (int)chunks;
    t->each = each_of(j, node, "bytes", t->chunks, &t->bytes, where);
    t->first = j->bits;
    j->bits += t->chunks;
    read_homes(j, node, t, where);
    read_ends(j, node, t, where);
    if ((t->final && !j->link[0].exists) || (t->home > HOME_OF_DEVICE && !j->link[1].exists) || (t->home == HOME_OF_SSD && !j->link[3].exists) ||
        (t->end == HOME_OF_SSD && t->final && !j->link[2].exists))
      BAD("%s: a channel that it needs does not exist (S10)", where);
    t->may = MAY_RETAIN | MAY_HOST | MAY_SSD | MAY_RECOMPUTE;
    json_t *fates = judge_member(j, node, "fates", JSON_ARRAY, false, where), *fate;
    size_t f;
    if (fates) t->may = 0;
    json_array_foreach(fates, f, fate) {
      const char *word = json_is_string(fate) ? json_string_value(fate) : "";
      unsigned may = !strcmp(word, "retain") ? MAY_RETAIN : !strcmp(word, "host") ? MAY_HOST
                   : !strcmp(word, "ssd") ? MAY_SSD : !strcmp(word, "recompute") ? MAY_RECOMPUTE : 0;
      if (!may) BAD("%s.fates[%zu]: not a fate", where, f);
      t->may |= may;
    }
    const char *role = json_object_get(node, "role") ? judge_text(j, node, "role", where) : "other"; /* no clause speaks of it */
    if (strcmp(role, "other") && strcmp(role, "input") && strcmp(role, "aggregate")) BAD("%s.role: \"%.40s\"", where, role);
    if (index_in(j->thing_index, t->id) >= 0) BAD("%s.id: \"%.80s\" is there twice", where, t->id);
    json_object_set_new(j->thing_index, t->id, json_integer((json_int_t)i));
    all += t->bytes;
  }
  if (all >> 56) BAD("data: 2^56 bytes or more");
  j->bit = NEW(j->bits, Bit);
  for (int d = 0; d < j->things; d++)
    for (int k = 0; k < j->thing[d].chunks; k++) {
      Thing *t = &j->thing[d];
      Big n = t->bytes;
      j->bit[t->first + k] = (Bit){.thing = d, .chunk = k, .home = t->homes ? t->homes[k] : t->home, .final = t->final, .ends_on_ssd = (t->ends ? t->ends[k] : t->end) == HOME_OF_SSD, .may = t->may,
                                   .n = t->each ? t->each[k] : (int64_t)(n * (k + 1) / t->chunks - n * k / t->chunks),
                                   .first_write = -1, .last_write = -1};
    }
}

static void read_way(Judge *j, json_t *node, const char *where, int chunks, Way *way) {
  judge_only_keys(j, node, where, " name stages work host_work ");
  way->name = judge_text(j, node, "name", where);
  way->work = judge_number(j, node, "work", 0, 0, where);
  way->host_work = judge_number(j, node, "host_work", 0, 0, where);
  json_t *stages = judge_member(j, node, "stages", JSON_ARRAY, true, where), *stage;
  size_t i;
  way->legs = (int)json_array_size(stages);
  if (way->legs == 0 || way->legs > MAX_CHOICES) BAD("%s.stages: not 1 to %d (S1)", where, MAX_CHOICES);
  way->leg = NEW(way->legs, Leg);
  json_array_foreach(stages, i, stage) {
    judge_only_keys(j, stage, where, " ch ns bytes ");
    const char *ch = judge_text(j, stage, "ch", where);
    Leg *leg = &way->leg[i];
    leg->link = !strcmp(ch, "compute") ? -1 : index_in(j->link_index, ch);
    if (strcmp(ch, "compute") && (leg->link < 0 || !j->link[leg->link].exists))
      BAD("%s.stages[%zu].ch: no channel \"%.60s\"", where, i, ch);
    leg->by_bytes = json_object_get(stage, "bytes") != NULL;
    if (leg->by_bytes == (json_object_get(stage, "ns") != NULL)) BAD("%s.stages[%zu]: ns or bytes", where, i);
    leg->each = each_of(j, stage, leg->by_bytes ? "bytes" : "ns", chunks, &leg->amount, where);
    if (leg->link < 0 && (i > 0 || leg->by_bytes)) BAD("%s.stages: S6", where);
  }
}

static void read_jobs(Judge *j) {
  json_t *list = judge_member(j, j->problem, "ops", JSON_ARRAY, true, "problem"), *node;
  size_t i;
  j->jobs = (int)json_array_size(list);
  j->job = NEW(j->jobs, Job);
  json_array_foreach(list, i, node) {
    char where[64];
    snprintf(where, sizeof where, "ops[%zu]", i);
    judge_only_keys(j, node, where, " id phase chunks reads writes recompute ns work variants ");
    Job *job = &j->job[i];
    job->id = judge_text(j, node, "id", where);
    const char *phase = judge_text(j, node, "phase", where);
    if (strcmp(phase, "fwd") && strcmp(phase, "bwd") && strcmp(phase, "opt")) BAD("%s.phase", where);
    int64_t chunks = judge_number(j, node, "chunks", 1, 1, where);
    if (chunks > MAX_STEPS - j->bases) BAD("%s.chunks: more than %d steps (S1)", where, MAX_STEPS);
    job->chunks = (int)chunks;
    job->first_slot = j->bases;
    j->bases += job->chunks;
    job->can_rerun = truth(j, node, "recompute", !strcmp(phase, "fwd"), where);
    job->reads = judge_member(j, node, "reads", JSON_ARRAY, false, where);
    job->writes = judge_member(j, node, "writes", JSON_ARRAY, false, where);
    json_t *variants = judge_member(j, node, "variants", JSON_ARRAY, false, where), *variant;
    size_t v;
    job->ways = variants ? (int)json_array_size(variants) : 1;
    if (!job->ways || job->ways > MAX_CHOICES) BAD("%s.variants: not 1 to %d (S1)", where, MAX_CHOICES);
    job->way = NEW(job->ways, Way);
    json_array_foreach(variants, v, variant) {
      snprintf(where, sizeof where, "ops[%zu].variants[%zu]", i, v);
      read_way(j, variant, where, job->chunks, &job->way[v]);
      for (size_t w = 0; w < v; w++)
        if (!strcmp(job->way[w].name, job->way[v].name)) BAD("%s.name: \"%.60s\" is there twice (S6)", where, job->way[v].name);
    }
    if (!variants) {
      job->way[0] = (Way){.name = "default", .legs = 1, .leg = NEW(1, Leg), .work = judge_number(j, node, "work", 0, 0, where)};
      Leg *leg = &job->way[0].leg[0];
      leg->link = -1;
      leg->each = each_of(j, node, "ns", job->chunks, &leg->amount, where);
    } else if (json_object_get(node, "ns") || json_object_get(node, "work")) {
      BAD("ops[%zu]: variants and ns", i);
    }
    if (index_in(j->job_index, job->id) >= 0) BAD("ops[%zu].id: \"%.80s\" is there twice", i, job->id);
    json_object_set_new(j->job_index, job->id, json_integer((json_int_t)i));
  }
  if (!j->bases) BAD("ops: no step");
}

/* The pieces that entry `node` of reads or writes means for chunk k of a job (S4), appended to `touch`. */
static int touch_entry(Judge *j, const Job *job, int k, json_t *node, int how, Touch **touch, int count, int *room) {
  json_t *id = json_is_object(node) ? json_object_get(node, "data") : node;
  json_t *access = json_is_object(node) ? json_object_get(node, "access") : NULL;
  json_t *over = json_is_object(node) ? json_object_get(node, "over") : NULL;
  if (json_is_object(node)) judge_only_keys(j, node, job->id, how == WRITES ? " data access over " : " data access ");
  int d = json_is_string(id) ? index_in(j->thing_index, json_string_value(id)) : -1;
  if (d < 0) BAD("op \"%.80s\": an access names no datum", job->id);
  const Thing *t = &j->thing[d];
  int from = 0, to = t->chunks, under = over && json_is_string(over) ? index_in(j->thing_index, json_string_value(over)) : -1;
  if (over && (under < 0 || j->thing[under].chunks != t->chunks || j->thing[under].home || j->thing[under].final || t->home))
    BAD("op \"%.80s\": \"%.80s\" is over no datum whose place it may take (S4)", job->id, t->id);
  json_t *chosen = NULL;
  if (json_is_array(access)) {
    chosen = json_array_get(access, (size_t)k);
    if (json_array_size(access) != (size_t)job->chunks || !json_is_array(chosen))
      BAD("op \"%.80s\": the access list of \"%.80s\" has not one list a chunk", job->id, t->id);
    from = 0;
    to = (int)json_array_size(chosen);
  } else {
    const char *word = access ? (json_is_string(access) ? json_string_value(access) : "?") : "";
    bool row = !strcmp(word, "row"), whole = !strcmp(word, "all");
    if (access && !row && !whole) BAD("op \"%.80s\": access of \"%.80s\"", job->id, t->id);
    if (!access) row = job->chunks > 1 && job->chunks == t->chunks;
    if (!access && !row && job->chunks > 1 && t->chunks > 1)
      BAD("op \"%.80s\": access to \"%.80s\" is mandatory (S4)", job->id, t->id);
    if (row && job->chunks != t->chunks) BAD("op \"%.80s\": row access to \"%.80s\" (S4)", job->id, t->id);
    if (row) from = k, to = k + 1;
  }
  for (int i = from; i < to; i++) {
    int chunk = i;
    if (chosen) {
      json_t *item = json_array_get(chosen, (size_t)i);
      if (!json_is_integer(item) || json_integer_value(item) < 0 || json_integer_value(item) >= t->chunks)
        BAD("op \"%.80s\": a chunk of \"%.80s\" does not exist", job->id, t->id);
      chunk = (int)json_integer_value(item);
    }
    if (count == *room) {
      *room = *room ? 2 * *room : 64;
      Touch *more = NEW(*room, Touch);
      if (count) memcpy(more, *touch, (size_t)count * sizeof(Touch));
      *touch = more;
    }
    (*touch)[count++] = (Touch){t->first + chunk, how, under < 0 ? -1 : j->thing[under].first + chunk};
  }
  return count;
}

static int by_bit(const void *a, const void *b) {
  return ((const Touch *)a)->bit - ((const Touch *)b)->bit;
}

static const char *id_of(Judge *j, int x) {
  return j->thing[j->bit[x].thing].id;
}

/* S4: what is written over a bit is made there, by a step that reads that one and writes nothing else over it. */
static void judge_places(Judge *j, const Base *b, int s) {
  for (int t = 0; t < b->touches; t++) {
    int x = b->touch[t].over, readers = 0, takers = 0;
    for (int i = 0; x >= 0 && i < b->touches; i++) {
      readers += b->touch[i].bit == x && b->touch[i].how == READS;
      takers += b->touch[i].over == x;
    }
    if (x >= 0 && (readers != 1 || takers != 1 || b->touch[t].how != WRITES || j->bit[b->touch[t].bit].n != j->bit[x].n || j->bit[b->touch[t].bit].first_write >= 0))
      BAD("op \"%.80s\" chunk %d: \"%.80s\" cannot take the place of \"%.80s\" at step %d (S4)", j->job[b->job].id, b->k, id_of(j, b->touch[t].bit), id_of(j, x), s);
  }
}

static const char *datum_of(json_t *node) {
  const char *id = json_string_value(json_is_object(node) ? json_object_get(node, "data") : node);
  return id ? id : "";
}

/* S4, of an op as a whole, whatever pieces it touches: it reads x, does not write it, and writes nothing else over it. */
static void judge_over(Judge *j, const Job *job) {
  size_t i, other;
  json_t *node, *entry;
  json_array_foreach(job->writes, i, node) {
    const char *under = json_string_value(json_object_get(node, "over")), *also;
    int reads = 0, writes = 0, takers = 0;
    if (!under) continue;
    json_array_foreach(job->reads, other, entry) reads += !strcmp(datum_of(entry), under);
    json_array_foreach(job->writes, other, entry) {
      also = json_string_value(json_object_get(entry, "over"));
      writes += !strcmp(datum_of(entry), under);
      takers += also && !strcmp(also, under);
    }
    const Thing *made = &j->thing[index_in(j->thing_index, datum_of(node))], *x = &j->thing[index_in(j->thing_index, under)];
    bool same = true;
    for (int k = 0; k < x->chunks; k++) same = same && j->bit[made->first + k].n == j->bit[x->first + k].n;
    if (!reads || writes || takers != 1 || !same) BAD("op \"%.80s\": \"%.80s\" cannot take the place of \"%.80s\" (S4)", job->id, made->id, x->id);
  }
}

static void read_base(Judge *j) {
  json_t *order = judge_member(j, j->problem, "order", JSON_ARRAY, false, "problem");
  j->base = NEW(j->bases, Base);
  j->slot = NEW(j->bases, int);
  memset(j->slot, -1, (size_t)j->bases * sizeof(int));
  if (order && json_array_size(order) != (size_t)j->bases) BAD("order: not every step once");
  int s = 0;
  for (int o = 0; o < j->jobs && !order; o++)
    for (int k = 0; k < j->job[o].chunks; k++) j->base[s++] = (Base){.job = o, .k = k};
  for (; order && s < j->bases; s++) {
    json_t *pair = json_array_get(order, (size_t)s);
    json_t *id = json_array_get(pair, 0), *k = json_array_get(pair, 1);
    int o = json_is_string(id) ? index_in(j->job_index, json_string_value(id)) : -1;
    if (o < 0 || json_array_size(pair) != 2 || !json_is_integer(k) || json_integer_value(k) < 0 ||
        json_integer_value(k) >= j->job[o].chunks)
      BAD("order[%d]: no such step", s);
    j->base[s] = (Base){.job = o, .k = (int)json_integer_value(k)};
  }
  Touch *list = NULL;
  int room = 0;
  int64_t all = 0;
  for (s = 0; s < j->bases; s++) {
    Base *b = &j->base[s];
    const Job *job = &j->job[b->job];
    int *slot = &j->slot[job->first_slot + b->k];
    if (*slot >= 0) BAD("order[%d]: the step is there twice", s);
    *slot = s;
    int count = 0;
    size_t i;
    json_t *node;
    json_array_foreach(job->reads, i, node) count = touch_entry(j, job, b->k, node, READS, &list, count, &room);
    json_array_foreach(job->writes, i, node) count = touch_entry(j, job, b->k, node, WRITES, &list, count, &room);
    if (count) qsort(list, (size_t)count, sizeof *list, by_bit);
    b->touch = NEW(count, Touch);
    for (int t = 0; t < count; t++) {
      if (b->touches && b->touch[b->touches - 1].bit == list[t].bit)
        b->touch[b->touches - 1].how |= list[t].how;
      else
        b->touch[b->touches++] = list[t];
      if (list[t].over >= 0) b->touch[b->touches - 1].over = list[t].over;
    }
    judge_places(j, b, s);
    all += b->touches;
    if (all > MAX_TOUCHES) BAD("ops: more than %d accesses", MAX_TOUCHES);
    for (int t = 0; t < b->touches; t++) {
      Bit *x = &j->bit[b->touch[t].bit];
      if ((b->touch[t].how & READS) && x->home == HOME_OF_NONE && x->first_write < 0)
        BAD("op \"%.80s\" chunk %d reads \"%.80s\" piece %d before it exists (S3)", job->id, b->k,
            j->thing[x->thing].id, x->chunk);
      if (!(b->touch[t].how & WRITES)) continue;
      if (x->first_write < 0) x->first_write = s;
      x->last_write = s;
      x->writes++;
    }
  }
}

/* S1: every transfer of every piece, every step in every variant; so that no plan comes near what overflows. */
static void judge_sums(Judge *j) {
  Big ns = 0, bytes = 0;
  int64_t legs = 0;
  for (int x = 0; x < j->bits; x++)
    for (int l = 0; l < 4; l++)
      if (j->link[l].exists) ns += judge_ride(j, l, j->bit[x].n);
  if (ns >> 56) BAD("data: all transfers take 2^56 ns or more (S1)");
  ns = 0;
  for (int o = 0; o < j->jobs; o++) {
    const Job *job = &j->job[o];
    for (int v = 0; v < job->ways; v++) legs += (int64_t)job->way[v].legs * job->chunks;
    if (legs > MAX_TOUCHES) BAD("ops: more than %d stages (S1)", MAX_TOUCHES);
    for (int v = 0; v < job->ways; v++) {
      bytes += ((Big)job->way[v].work + job->way[v].host_work) * job->chunks;
      for (int k = 0; k < job->chunks; k++) ns += judge_way_time(j, job, k, &job->way[v]);
    }
  }
  if (ns >> 56 || bytes >> 56) BAD("ops: all steps take 2^56 ns or bytes, or more (S1)");
}

static const Way *way_of(Judge *j, int e) {
  const Job *job = &j->job[j->base[j->ext[e].base].job];
  return &job->way[job->chosen];
}

static const char *op_of(Judge *j, int e) {
  return j->job[j->base[j->ext[e].base].job].id;
}

/* ---- the plan ---- */

static void read_variants(Judge *j) {
  json_t *list = judge_member(j, j->plan, "variants", JSON_OBJECT, false, "plan"), *value;
  const char *id;
  json_object_foreach(list, id, value) {
    int o = index_in(j->job_index, id);
    if (o < 0) INVALID("variants: the problem has no op \"%.80s\" (S6)", id);
    if (!json_is_string(value)) BAD("variants.%.80s: expected a string", id);
    int v = 0;
    while (v < j->job[o].ways && strcmp(j->job[o].way[v].name, json_string_value(value))) v++;
    if (v == j->job[o].ways)
      INVALID("variants.%.80s: there is no variant \"%.60s\" (S6)", id, json_string_value(value));
    j->job[o].chosen = v;
  }
}

typedef struct Again {
  int before, base, index, outs;
  int *out;
} Again;

static int by_before(const void *a, const void *b) {
  const Again *x = a, *y = b;
  return x->before != y->before ? (x->before < y->before ? -1 : 1) : x->index - y->index;
}

static int named_bit(Judge *j, const char *id, int64_t chunk, const char *where) {
  int d = index_in(j->thing_index, id);
  if (d < 0) INVALID("%s: the problem has no datum \"%.80s\"", where, id);
  if (chunk < 0 || chunk >= j->thing[d].chunks)
    INVALID("%s: \"%.80s\" has no chunk %lld", where, id, (long long)chunk);
  return j->thing[d].first + (int)chunk;
}

/* S8, everything that concerns one insertion. */
static void judge_again(Judge *j, Again *a, const char *where) {
  const Base *b = &j->base[a->base];
  const Job *job = &j->job[b->job];
  if (a->before <= a->base)
    INVALID("%s: re-run of \"%.80s\" chunk %d before step %d, but it first runs at step %d (S8)", where, job->id, b->k,
            a->before, a->base);
  if (!job->can_rerun) INVALID("%s: op \"%.80s\" is not recomputable (S8)", where, job->id);
  for (int t = 0; t < b->touches; t++) {
    int x = b->touch[t].bit;
    const Bit *p = &j->bit[x];
    if ((b->touch[t].how & WRITES) && (p->home || p->writes != 1 || p->first_write != a->base))
      INVALID("%s: output \"%.80s\" piece %d of \"%.80s\" is updated in place or has a home (S8)", where, id_of(j, x),
              p->chunk, job->id);
    if (!(b->touch[t].how & READS)) continue;
    int s = a->base + 1;
    if (p->last_write <= a->base) continue;
    for (; s < a->before; s++)
      for (int w = 0; w < j->base[s].touches; w++)
        if (j->base[s].touch[w].bit == x && (j->base[s].touch[w].how & WRITES))
          INVALID("%s: input \"%.80s\" piece %d of \"%.80s\" was written at step %d since its first run (S8)", where,
                  id_of(j, x), p->chunk, job->id, s);
  }
  for (int i = 0; i < a->outs; i++) {
    bool found = false;
    for (int t = 0; t < b->touches; t++)
      found |= b->touch[t].bit == a->out[i] && (b->touch[t].how & WRITES);
    if (!found)
      INVALID("%s: \"%.80s\" piece %d is not an output of \"%.80s\" chunk %d (S8)", where, id_of(j, a->out[i]),
              j->bit[a->out[i]].chunk, job->id, b->k);
    for (int k = 0; k < i; k++)
      if (a->out[k] == a->out[i]) INVALID("%s: \"%.80s\" is in \"out\" twice", where, id_of(j, a->out[i]));
  }
}

static Again *read_agains(Judge *j, int *count) {
  json_t *list = judge_member(j, j->plan, "recompute", JSON_ARRAY, false, "plan"), *node;
  size_t i;
  *count = (int)json_array_size(list);
  Again *again = NEW(*count, Again);
  json_array_foreach(list, i, node) {
    char where[48];
    snprintf(where, sizeof where, "recompute[%zu]", i);
    judge_only_keys(j, node, where, " before op k out ");
    const char *id = judge_text(j, node, "op", where);
    int64_t before = judge_number(j, node, "before", INT64_MIN, INT64_MIN, where), k = judge_number(j, node, "k", INT64_MIN, 0, where);
    int o = index_in(j->job_index, id);
    if (o < 0) INVALID("%s: the problem has no op \"%.80s\" (S8)", where, id);
    if (k < 0 || k >= j->job[o].chunks) INVALID("%s: \"%.80s\" has no chunk %lld (S8)", where, id, (long long)k);
    if (before < 0 || before >= j->bases) INVALID("%s: there is no step %lld (S8)", where, (long long)before);
    Again *a = &again[i];
    *a = (Again){.before = (int)before, .base = j->slot[j->job[o].first_slot + k], .index = (int)i};
    const Base *b = &j->base[a->base];
    json_t *outs = judge_member(j, node, "out", JSON_ARRAY, false, where), *pair;
    a->out = NEW(outs ? json_array_size(outs) : (size_t)b->touches, int);
    size_t n;
    json_array_foreach(outs, n, pair) {
      json_t *data = json_array_get(pair, 0), *chunk = json_array_get(pair, 1);
      if (json_array_size(pair) != 2 || !json_is_string(data) || !json_is_integer(chunk))
        BAD("%s.out[%zu]: expected [data id, chunk]", where, n);
      a->out[a->outs++] = named_bit(j, json_string_value(data), json_integer_value(chunk), where);
    }
    for (int t = 0; t < b->touches && !outs; t++)
      if (b->touch[t].how & WRITES) a->out[a->outs++] = b->touch[t].bit;
    judge_again(j, a, where);
  }
  qsort(again, (size_t)*count, sizeof *again, by_before);
  return again;
}

/* S8: the extended sequence. Also keeps every later sum below 2^63. */
static void extend(Judge *j) {
  int count, next = 0;
  Again *again = read_agains(j, &count);
  if ((int64_t)count + j->bases > MAX_EXTENDED_STEPS) BAD("recompute: more than %d steps", MAX_EXTENDED_STEPS);
  j->ext = NEW(count + j->bases, Ext);
  j->ext_of = NEW(j->bases, int);
  Big ns = 0, bytes = 0;
  for (int s = 0; s < j->bases; s++) {
    for (; next < count && again[next].before == s; next++) {
      Ext *e = &j->ext[j->exts++];
      *e = (Ext){.base = again[next].base, .again = true, .outs = again[next].outs, .out = again[next].out, .join = -1};
      const Base *b = &j->base[e->base];
      for (int t = 0; t < b->touches; t++) {
        bool out = false;
        for (int i = 0; i < e->outs; i++) out |= e->out[i] == b->touch[t].bit;
        if ((b->touch[t].how & WRITES) && !out) e->scratch += j->bit[b->touch[t].bit].n;
      }
    }
    j->ext_of[s] = j->exts;
    j->ext[j->exts++] = (Ext){.base = s, .join = -1};
  }
  for (int e = 0; e < j->exts; e++) {
    const Base *b = &j->base[j->ext[e].base];
    ns += judge_way_time(j, &j->job[b->job], b->k, way_of(j, e));
    bytes += (Big)way_of(j, e)->work + way_of(j, e)->host_work + j->ext[e].scratch;
  }
  if (ns >> 60 || bytes >> 60) BAD("the steps take 2^60 ns or bytes, or more");
}

/* Does extended step e itself (without holds) access bit x, and does it produce it? */
static bool accesses(Judge *j, int e, const Touch *t, bool *produces) {
  const Ext *x = &j->ext[e];
  *produces = false;
  if (!x->again) {
    *produces = (t->how & WRITES) && j->bit[t->bit].home == HOME_OF_NONE && j->bit[t->bit].first_write == x->base;
    return true;
  }
  for (int i = 0; i < x->outs; i++)
    if (x->out[i] == t->bit) return *produces = true;
  return (t->how & READS) != 0;
}

static int by_step(const void *a, const void *b) {
  const Visit *x = a, *y = b;
  return x->step != y->step ? x->step - y->step : (int)y->produces - (int)x->produces;
}

/* S7 and S9: J of communication steps, and acc of every piece. */
static void visit_all(Judge *j) {
  j->visit = NEW(j->bits, Visit *);
  j->visits = NEW(j->bits, int);
  int *own = NEW(j->bits, int), *total = NEW(j->bits, int);
  bool produces;
  int64_t all = 0;
  for (int e = 0; e < j->exts; e++) {
    const Base *b = &j->base[j->ext[e].base];
    for (int t = 0; t < b->touches; t++)
      if (accesses(j, e, &b->touch[t], &produces))
        total[b->touch[t].bit] += talks(way_of(j, e)) ? 2 : 1, all++;
  }
  if (all > MAX_TOUCHES) BAD("recompute: more than %d accesses", MAX_TOUCHES);
  for (int x = 0; x < j->bits; x++) j->visit[x] = NEW(total[x], Visit);
  for (int e = 0; e < j->exts; e++) {
    const Base *b = &j->base[j->ext[e].base];
    for (int t = 0; t < b->touches; t++)
      if (accesses(j, e, &b->touch[t], &produces))
        j->visit[b->touch[t].bit][own[b->touch[t].bit]++] = (Visit){e, produces};
  }
  for (int x = 0; x < j->bits; x++) j->visits[x] = own[x];
  for (int e = 0; e < j->exts; e++) {
    if (!talks(way_of(j, e))) continue;
    const Base *b = &j->base[j->ext[e].base];
    int join = j->exts - 1;
    for (int t = 0; t < b->touches; t++) {
      int x = b->touch[t].bit;
      if (!(b->touch[t].how & WRITES)) continue;
      if (!accesses(j, e, &b->touch[t], &produces)) continue;
      for (int i = 0; i < own[x]; i++)
        if (j->visit[x][i].step > e) {
          if (j->visit[x][i].step < join) join = j->visit[x][i].step;
          break;
        }
    }
    j->ext[e].join = join;
    for (int t = 0; t < b->touches; t++)
      if (accesses(j, e, &b->touch[t], &produces))
        j->visit[b->touch[t].bit][j->visits[b->touch[t].bit]++] = (Visit){join, false};
  }
  for (int x = 0; x < j->bits; x++) {
    if (j->visits[x] == own[x]) continue;
    qsort(j->visit[x], (size_t)j->visits[x], sizeof(Visit), by_step);
    int kept = 0;
    for (int i = 0; i < j->visits[x]; i++)
      if (!kept || j->visit[x][kept - 1].step != j->visit[x][i].step) j->visit[x][kept++] = j->visit[x][i];
    j->visits[x] = kept;
  }
}

static int by_after(const void *a, const void *b) {
  const Trip *x = a, *y = b;
  if (x->bit != y->bit) return x->bit - y->bit;
  return x->after != y->after ? (x->after < y->after ? -1 : 1) : x->index - y->index;
}

static void read_trips(Judge *j) {
  json_t *list = judge_member(j, j->plan, "moves", JSON_ARRAY, false, "plan"), *node;
  size_t i;
  j->trips = (int)json_array_size(list);
  j->trip = NEW(j->trips, Trip);
  json_array_foreach(list, i, node) {
    char where[48];
    snprintf(where, sizeof where, "moves[%zu]", i);
    judge_only_keys(j, node, where, " data chunk after to g f ");
    const char *id = judge_text(j, node, "data", where), *to = judge_text(j, node, "to", where);
    int64_t after = judge_number(j, node, "after", INT64_MIN, INT64_MIN, where);
    int64_t g = judge_number(j, node, "g", INT64_MIN, INT64_MIN, where), f = judge_number(j, node, "f", INT64_MIN, -1, where);
    if (strcmp(to, "host") && strcmp(to, "ssd")) BAD("%s.to: \"%.40s\" is not a tier; expected host or ssd", where, to);
    Trip *m = &j->trip[i];
    *m = (Trip){.bit = named_bit(j, id, judge_number(j, node, "chunk", INT64_MIN, 0, where), where), .index = (int)i,
                .to = !strcmp(to, "host") ? HOME_OF_HOST : HOME_OF_SSD};
    if (after < -1 || after >= j->exts || g < 0 || g >= j->exts)
      INVALID("%s: \"%.80s\" piece %d: after or g is not a step (S10)", where, id, j->bit[m->bit].chunk);
    if (json_object_get(node, "f") && (f <= after || f > g))
      INVALID("%s: \"%.80s\" piece %d: f %lld is not in after+1..g (S14)", where, id, j->bit[m->bit].chunk, (long long)f);
    m->after = (int)after;
    m->g = (int)g;
    m->f = json_object_get(node, "f") ? (int)f : -1;
  }
  qsort(j->trip, (size_t)j->trips, sizeof *j->trip, by_after);
  for (int m = 1; m < j->trips; m++)
    if (j->trip[m].bit == j->trip[m - 1].bit && j->trip[m].after == j->trip[m - 1].after)
      INVALID("moves[%d]: \"%.80s\" piece %d is already moved after step %d by moves[%d] (S10)", j->trip[m].index,
              id_of(j, j->trip[m].bit), j->bit[j->trip[m].bit].chunk, j->trip[m].after, j->trip[m - 1].index);
}

static void need_links(Judge *j, const Trip *m) {
  static const char *const names[] = {"d2h", "h2d", "ssdw", "ssdr"};
  bool wanted[4] = {!m->clean, true, m->to == HOME_OF_SSD && !m->clean, m->to == HOME_OF_SSD};
  for (int c = 0; c < 4; c++)
    if (wanted[c] && !j->link[c].exists)
      INVALID("moves[%d]: the hardware has no channel %s (S10)", m->index, names[c]);
}

/* S10 for one gap (u, v) of bit x that is not re-produced at v; the trip, or -1 when kept. */
static int judge_gap(Judge *j, int x, int u, int v, int m, bool held, bool *has_copy) {
  const Bit *p = &j->bit[x];
  if (m < 0) return -1;
  Trip *t = &j->trip[m];
  t->v = v;
  t->used = true;
  if (t->g < u + 1 || t->g > v)
    INVALID("moves[%d]: \"%.80s\" piece %d: g %d is not in %d..%d (S10)", t->index, id_of(j, x), p->chunk, t->g, u + 1, v);
  if (p->home == HOME_OF_DEVICE) INVALID("moves[%d]: \"%.80s\" lives on the device (S10)", t->index, id_of(j, x));
  if (held)
    INVALID("moves[%d]: \"%.80s\" piece %d is used by a communication step from %d to %d (S7)", t->index, id_of(j, x),
            p->chunk, u, v);
  bool written = false;
  if (p->home) {
    int last_base = u < 0 ? -1 : j->ext[u].base;
    for (int e = u; e >= 0 && j->ext[e].again; e--) last_base = e > 0 ? j->ext[e - 1].base : -1;
    written = p->first_write >= 0 && p->first_write <= last_base;
  }
  t->clean = has_copy[t->to] || (p->home == t->to && !written);
  need_links(j, t);
  if (u < 0 && p->home != t->to)
    INVALID("moves[%d]: \"%.80s\" starts on its home tier (S10)", t->index, id_of(j, x));
  if (t->clean) return m;
  if (p->home) INVALID("moves[%d]: \"%.80s\" piece %d has a home and no valid copy there (S10)", t->index, id_of(j, x), p->chunk);
  if (!(p->may & (t->to == HOME_OF_HOST ? MAY_HOST : MAY_SSD)))
    INVALID("moves[%d]: \"%.80s\" does not allow this tier (S10)", t->index, id_of(j, x));
  if (p->last_write >= 0 && u < j->ext_of[p->last_write])
    INVALID("moves[%d]: \"%.80s\" piece %d is written again at step %d (S10)", t->index, id_of(j, x), p->chunk,
            j->ext_of[p->last_write]);
  if (t->to == HOME_OF_SSD && p->n > j->ring)
    INVALID("moves[%d]: \"%.80s\" piece %d has %lld bytes, the ring %lld (S10)", t->index, id_of(j, x), p->chunk,
            (long long)p->n, (long long)j->ring);
  has_copy[t->to] = true;
  return m;
}

/* Could base step b run again just before base step w, everything it reads being there in any case? */
static bool could_run_again(Judge *j, int b, int w) {
  const Base *base = &j->base[b];
  if (!j->job[base->job].can_rerun) return false;
  for (int t = 0; t < base->touches; t++) {
    const Bit *p = &j->bit[base->touch[t].bit];
    if ((base->touch[t].how & WRITES) && (p->home || p->writes != 1 || p->first_write != b)) return false;
    if (!(base->touch[t].how & READS)) continue;
    if (p->last_write > b || (!p->home && j->last_use[base->touch[t].bit] < w)) return false;
  }
  return true;
}

/* A piece whose fates leave out "retain" stays at base step u until base step w: is there another of its fates? */
static bool could_leave(Judge *j, int x, int u, int w) {
  const Bit *p = &j->bit[x];
  bool is_settled = p->last_write <= u, has_way = j->link[0].exists && j->link[1].exists;
  if (p->home || p->n == 0 || j->near_talk[x] || w <= u + 1) return false;
  if ((p->may & MAY_HOST) && is_settled && has_way && p->n <= j->host) return true;
  if ((p->may & MAY_SSD) && is_settled && has_way && j->link[2].exists && j->link[3].exists && p->n <= j->ssd && p->n <= j->ring)
    return true;
  return (p->may & MAY_RECOMPUTE) && could_run_again(j, p->first_write, w);
}

/* The i-th gap of x is kept: "fates" without "retain" forbids that where it begins at a step of the problem. */
static void judge_kept(Judge *j, int x, int i) {
  const Visit *visit = j->visit[x];
  int next = i + 1, u = visit[i].step;
  if ((j->bit[x].may & MAY_RETAIN) || j->ext[u].again) return;
  while (next < j->visits[x] && j->ext[visit[next].step].again) next++;
  if (next == j->visits[x] || !could_leave(j, x, j->ext[u].base, j->ext[visit[next].step].base)) return;
  INVALID("\"%.80s\" piece %d is kept from step %d to %d, its fates leave out \"retain\" (S10)", id_of(j, x), j->bit[x].chunk, u,
          visit[i + 1].step);
}

/* The last base step that uses each bit, and the bits that some variant of an op may hold in a communication. */
static void look_around(Judge *j) {
  j->last_use = NEW(j->bits, int);
  j->near_talk = NEW(j->bits, bool);
  for (int s = 0; s < j->bases; s++) {
    const Job *job = &j->job[j->base[s].job];
    bool may_talk = false;
    for (int w = 0; w < job->ways; w++) may_talk |= talks(&job->way[w]);
    for (int t = 0; t < j->base[s].touches; t++) {
      j->last_use[j->base[s].touch[t].bit] = s;
      j->near_talk[j->base[s].touch[t].bit] |= may_talk;
    }
  }
}

/* S17: the bit that extended step e makes in the place of x, or -1. */
static int taker_at(Judge *j, int x, int e) {
  const Base *b = &j->base[j->ext[e].base];
  bool produces;
  for (int t = 0; t < b->touches; t++)
    if (b->touch[t].over == x && accesses(j, e, &b->touch[t], &produces) && produces) return b->touch[t].bit;
  return -1;
}

static void add_stay(Judge *j, Stay stay) {
  bool leaves = stay.trip >= 0 || stay.leaves_for_good;
  stay.taken_by = leaves || j->bit[stay.bit].home == HOME_OF_DEVICE ? -1 : taker_at(j, stay.bit, stay.until);
  if (stay.taken_by >= 0) stay.released = stay.until;
  j->stay[j->stays++] = stay;
}

static void count_bytes(int64_t *diff, int from, int to, int64_t n) {
  diff[from] += n;
  diff[to + 1] -= n;
}

static void judge_bit(Judge *j, int x, int first_trip, int end_trip, const bool *held) {
  const Bit *p = &j->bit[x];
  const Visit *visit = j->visit[x];
  int n = j->visits[x], m = first_trip;
  bool has_copy[4] = {false};
  int from_tier[4] = {-1, -1, -1, -1}, to_tier[4] = {-1, -1, -1, -1};
  if (p->home == HOME_OF_DEVICE) {
    if (first_trip < end_trip) INVALID("moves[%d]: \"%.80s\" lives on the device (S10)", j->trip[m].index, id_of(j, x));
    add_stay(j, (Stay){x, 0, j->exts - 1, -1, false, j->exts, -1});
    return;
  }
  int begin = n ? visit[0].step : 0;
  if (p->home && n) {
    if (m == end_trip || j->trip[m].after != -1)
      INVALID("\"%.80s\" piece %d is read at step %d and never brought in from its home (S10)", id_of(j, x), p->chunk,
              visit[0].step);
    judge_gap(j, x, -1, visit[0].step, m, false, has_copy);
    begin = j->trip[m++].g;
  }
  for (int i = 0; i + 1 < n; i++) {
    int u = visit[i].step, v = visit[i + 1].step;
    bool here = m < end_trip && j->trip[m].after == u;
    if (visit[i + 1].produces) {
      if (here) INVALID("moves[%d]: \"%.80s\" piece %d is recomputed at step %d, a move has no gap (S10)", j->trip[m].index,
                        id_of(j, x), p->chunk, v);
      if (!(p->may & MAY_RECOMPUTE))
        INVALID("\"%.80s\" piece %d may not be recomputed, step %d does (S10)", id_of(j, x), p->chunk, v);
      if (held[i]) INVALID("\"%.80s\" piece %d is re-made at step %d inside a communication (S7)", id_of(j, x), p->chunk, v);
      add_stay(j, (Stay){x, begin, u, -1, false, u + 1, -1});
      begin = v;
    } else if (here) {
      int trip = judge_gap(j, x, u, v, m, held[i], has_copy);
      const Trip *t = &j->trip[trip];
      if (!t->clean && from_tier[t->to] < 0) from_tier[t->to] = u + 1;
      if (from_tier[t->to] >= 0) to_tier[t->to] = v;
      add_stay(j, (Stay){x, begin, u, t->clean ? -1 : trip, false, u + 1, -1});
      begin = t->g;
      m++;
    } else {
      judge_kept(j, x, i);
    }
  }
  if (m < end_trip)
    INVALID("moves[%d]: \"%.80s\" piece %d has no gap after step %d (S10)", j->trip[m].index, id_of(j, x), p->chunk,
            j->trip[m].after);
  if (n) add_stay(j, (Stay){x, begin, visit[n - 1].step, -1, p->final, visit[n - 1].step + 1, -1});
  if (from_tier[HOME_OF_HOST] >= 0) count_bytes(j->on_host, from_tier[HOME_OF_HOST], to_tier[HOME_OF_HOST], p->n);
  if (from_tier[HOME_OF_SSD] >= 0) count_bytes(j->on_ssd, from_tier[HOME_OF_SSD], to_tier[HOME_OF_SSD], p->n);
}

/* S10 to S12 and S17. */
static void judge_gaps(Judge *j) {
  j->need = NEW(j->exts + 2, int64_t);
  j->on_host = NEW(j->exts + 2, int64_t);
  j->on_ssd = NEW(j->exts + 2, int64_t);
  int64_t stays = 0, longest = 0;
  for (int x = 0; x < j->bits; x++) {
    stays += j->visits[x] + 1;
    if (j->visits[x] > longest) longest = j->visits[x];
  }
  j->stay = NEW(stays, Stay);
  look_around(j);
  bool **held = NEW(j->bits, bool *);
  bool *never = NEW(longest + 1, bool);
  for (int e = 0; e < j->exts; e++) {
    const Base *b = &j->base[j->ext[e].base];
    for (int t = 0; t < b->touches && j->ext[e].join > e; t++) {
      int x = b->touch[t].bit;
      bool produces;
      if (!accesses(j, e, &b->touch[t], &produces)) continue;
      if (!held[x]) held[x] = NEW(j->visits[x] + 1, bool);
      for (int i = 0; i + 1 < j->visits[x]; i++)
        if (j->visit[x][i].step >= e && j->visit[x][i].step < j->ext[e].join) held[x][i] = true;
    }
  }
  int m = 0;
  for (int x = 0; x < j->bits; x++) {
    int first = m;
    while (m < j->trips && j->trip[m].bit == x) m++;
    judge_bit(j, x, first, m, held[x] ? held[x] : never);
  }
  for (int i = 0; i < j->stays; i++) count_bytes(j->need, j->stay[i].from, j->stay[i].until - (j->stay[i].taken_by >= 0), j->bit[j->stay[i].bit].n);
  for (int e = 0; e < j->exts; e++) {
    int end = j->ext[e].join > e ? j->ext[e].join : e;
    count_bytes(j->need, e, end, way_of(j, e)->work + j->ext[e].scratch);
    count_bytes(j->on_host, e, end, way_of(j, e)->host_work);
  }
  for (int e = 1; e < j->exts; e++) {
    j->need[e] += j->need[e - 1];
    j->on_host[e] += j->on_host[e - 1];
    j->on_ssd[e] += j->on_ssd[e - 1];
  }
  for (int e = 0; e < j->exts; e++) {
    if (j->on_host[e] > j->host)
      INVALID("step %d (\"%.80s\"): %lld bytes on the host, %lld allowed (S12)", e, op_of(j, e), (long long)j->on_host[e],
              (long long)j->host);
    if (j->on_ssd[e] > j->ssd)
      INVALID("step %d (\"%.80s\"): %lld bytes on the SSD, %lld allowed (S12)", e, op_of(j, e), (long long)j->on_ssd[e],
              (long long)j->ssd);
  }
}

/* ---- the pass (S13 to S16) ---- */

typedef struct Ring {
  int64_t *n, *done;
  int head, tail;
  int64_t held;
} Ring;

/* The earliest start of a transfer of n bytes that has to find room in the ring. */
static int64_t ring_room(const Judge *j, Ring *ring, int64_t n, int64_t start) {
  while (ring->head < ring->tail && ring->held + n > j->ring) {
    if (ring->done[ring->head] > start) start = ring->done[ring->head];
    ring->held -= ring->n[ring->head++];
  }
  return start;
}

static void ring_add(Ring *ring, int64_t n, int64_t done) {
  ring->n[ring->tail] = n;
  ring->done[ring->tail++] = done;
  ring->held += n;
}

typedef struct Out {
  int after, bit, stay;
} Out;

static int by_out(const void *a, const void *b) {
  const Out *x = a, *y = b;
  return x->after != y->after ? x->after - y->after : x->bit - y->bit;
}

static int by_reload(const void *a, const void *b) {
  const Trip *x = *(Trip *const *)a, *y = *(Trip *const *)b;
  if (x->g != y->g) return x->g - y->g;
  return x->v != y->v ? x->v - y->v : x->bit - y->bit;
}

static void complain_memory(Judge *j, int s, int64_t bytes) {
  char names[400] = "";
  size_t used = 0;
  for (int i = 0; i < j->stays && used < sizeof names - 60; i++) {
    const Stay *y = &j->stay[i];
    if (y->from > s || y->until - (y->taken_by >= 0) < s || j->bit[y->bit].n == 0) continue;
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%.30s[%d]", used ? ", " : "", id_of(j, y->bit),
                             j->bit[y->bit].chunk);
  }
  INVALID("step %d (\"%.80s\"): %lld bytes on the device, %lld allowed (S13.2): %s%s", s, op_of(j, s), (long long)bytes,
          (long long)j->device, names, used >= sizeof names - 60 ? ", ..." : "");
}

static void run_pass(Judge *j) {
  int64_t *free_at = NEW(j->links, int64_t), cur = 0, waiting = 0, last = 0;
  int64_t *d2h_done = NEW(j->bits, int64_t), *ssdw_done = NEW(j->bits, int64_t);
  int64_t *trip_in = NEW(j->exts + 1, int64_t), *comm_in = NEW(j->exts + 1, int64_t);
  Out *out = NEW(j->stays, Out);
  int *pending = NEW(j->stays, int), head = 0, tail = 0, outs = 0, next_out = 0, next_in = 0;
  int64_t *pending_done = NEW(j->stays, int64_t);
  Trip **in = NEW(j->trips, Trip *);
  Ring wr = {NEW(j->stays, int64_t), NEW(j->stays, int64_t), 0, 0, 0};
  Ring rd = {NEW(j->trips, int64_t), NEW(j->trips, int64_t), 0, 0, 0};
  j->occupied = NEW(j->exts, int64_t);
  j->beta = NEW(j->exts, int64_t);
  for (int i = 0; i < j->stays; i++)
    if (j->stay[i].trip >= 0 || j->stay[i].leaves_for_good)
      out[outs++] = (Out){j->stay[i].until, j->stay[i].bit, i};
  for (int x = 0; x < j->bits; x++) /* a final piece at home on the device is copied out after its last access too */
    if (j->bit[x].final && j->bit[x].home == HOME_OF_DEVICE && j->visits[x])
      out[outs++] = (Out){j->visit[x][j->visits[x] - 1].step, x, -1};
  qsort(out, (size_t)outs, sizeof *out, by_out);
  for (int m = 0; m < j->trips; m++) in[m] = &j->trip[m];
  qsort(in, (size_t)j->trips, sizeof *in, by_reload);
  for (int s = 0; s <= j->exts; s++) {
    for (; next_out < outs && out[next_out].after == s - 1; next_out++) {
      int x = out[next_out].bit, stay = out[next_out].stay;
      int64_t n = j->bit[x].n, start = later(cur, free_at[0]);
      const Trip *trip = stay >= 0 && j->stay[stay].trip >= 0 ? &j->trip[j->stay[stay].trip] : NULL;
      bool to_ssd = trip ? trip->to == HOME_OF_SSD : j->bit[x].ends_on_ssd;
      if (to_ssd) start = ring_room(j, &wr, n, start);
      free_at[0] = start + judge_ride(j, 0, n);
      if (to_ssd) {
        free_at[2] = later(free_at[2], free_at[0]) + judge_ride(j, 2, n);
        ssdw_done[x] = free_at[2];
        ring_add(&wr, n, free_at[2]);
      } else {
        d2h_done[x] = free_at[0];
      }
      if (stay < 0) continue; /* resident throughout: nothing to release */
      pending[tail] = stay;
      pending_done[tail++] = free_at[0];
      waiting += n;
    }
    if (s == j->exts) break;
    int must = head;
    for (int i = head; i < tail; i++) {
      const Stay *y = &j->stay[pending[i]];
      const Trip *t = y->trip >= 0 ? &j->trip[y->trip] : NULL;
      if (t && (t->g == s || (t->f >= 0 && t->f <= s))) must = i + 1;
    }
    int64_t beta = cur;
    while (head < must || j->need[s] + waiting > j->device) {
      if (head == tail) complain_memory(j, s, j->need[s]);
      beta = later(beta, pending_done[head]);
      j->stay[pending[head]].released = s;
      waiting -= j->bit[j->stay[pending[head++]].bit].n;
    }
    j->beta[s] = beta;
    j->occupied[s] = j->need[s] + waiting;
    j->peak = later(j->peak, j->occupied[s]);
    for (; next_in < j->trips && in[next_in]->g == s; next_in++) {
      const Trip *t = in[next_in];
      int64_t n = j->bit[t->bit].n, ready = d2h_done[t->bit];
      if (t->to == HOME_OF_SSD) {
        int64_t start = ring_room(j, &rd, n, later(free_at[3], ssdw_done[t->bit]));
        ready = free_at[3] = start + judge_ride(j, 3, n);
      }
      free_at[1] = later(later(beta, free_at[1]), ready) + judge_ride(j, 1, n);
      if (t->to == HOME_OF_SSD) ring_add(&rd, n, free_at[1]);
      trip_in[t->v] = later(trip_in[t->v], free_at[1]);
    }
    int64_t start = later(beta, later(trip_in[s], comm_in[s]));
    const Base *b = &j->base[j->ext[s].base];
    const Way *way = way_of(j, s);
    cur = start;
    if (!talks(way)) {
      cur += judge_way_time(j, &j->job[b->job], b->k, way);
      continue;
    }
    for (int i = 0; i < way->legs; i++) {
      int link = way->leg[i].link;
      if (link < 0) {
        cur = start += judge_leg_time(j, &j->job[b->job], b->k, &way->leg[i]);
        continue;
      }
      free_at[link] = later(start, free_at[link]) + judge_leg_time(j, &j->job[b->job], b->k, &way->leg[i]);
      start = free_at[link];
    }
    comm_in[j->ext[s].join] = later(comm_in[j->ext[s].join], start);
    last = later(last, start);
  }
  for (; head < tail; head++) j->stay[pending[head]].released = j->exts;
  j->makespan = later(cur, last);
  for (int c = 0; c < j->links; c++) j->makespan = later(j->makespan, free_at[c]);
}

/* ---- addresses (S18) ---- */

typedef struct Box {
  int bit, from, to; /* bit -1: work */
  int64_t n, at;
  bool placed;
  int taken_by; /* the bit that is made in its place at step to + 1, or -1 */
} Box;

static int by_box(const void *a, const void *b) {
  const Box *x = a, *y = b;
  return x->bit != y->bit ? x->bit - y->bit : x->from - y->from;
}

static int by_from(const void *a, const void *b) {
  return ((const Box *)a)->from - ((const Box *)b)->from;
}

static Box *list_boxes(Judge *j, int *count) {
  Box *box = NEW(j->stays + j->exts, Box);
  *count = 0;
  for (int i = 0; i < j->stays; i++)
    box[(*count)++] = (Box){j->stay[i].bit, j->stay[i].from, j->stay[i].released - 1, j->bit[j->stay[i].bit].n, 0, false, j->stay[i].taken_by};
  for (int e = 0; e < j->exts; e++)
    if (way_of(j, e)->work + j->ext[e].scratch > 0)
      box[(*count)++] = (Box){-1, e, j->ext[e].join > e ? j->ext[e].join : e, way_of(j, e)->work + j->ext[e].scratch, 0, false, -1};
  qsort(box, (size_t)*count, sizeof *box, by_box);
  return box;
}

static Box *find_box(Judge *j, Box *box, int count, json_t *node, const char *where) {
  static const char *const of_a_piece[] = {"data", "chunk", "from"};
  json_t *work = json_object_get(node, "work");
  Box key = {.bit = -1};
  if (work) {
    for (int i = 0; i < 3; i++)
      if (json_object_get(node, of_a_piece[i])) BAD("%s: \"work\" and \"%s\" exclude each other", where, of_a_piece[i]);
    int64_t step = judge_number(j, node, "work", INT64_MIN, -1, where);
    if (step < 0 || step >= j->exts) INVALID("%s: there is no step %lld (S18)", where, (long long)step);
    key.from = (int)step;
  } else {
    key.bit = named_bit(j, judge_text(j, node, "data", where), judge_number(j, node, "chunk", INT64_MIN, 0, where), where);
    int64_t from = judge_number(j, node, "from", INT64_MIN, INT64_MIN, where);
    key.from = from < 0 || from >= j->exts ? -1 : (int)from;
  }
  Box *found = bsearch(&key, box, (size_t)count, sizeof *box, by_box);
  if (!found && work) INVALID("%s: step %d has no work area (S18)", where, key.from);
  if (!found)
    INVALID("%s: \"%.80s\" piece %d has no residency that starts at that step (S18)", where, id_of(j, key.bit),
            j->bit[key.bit].chunk);
  if (found->placed) INVALID("%s: this interval already has an address (S18)", where);
  found->placed = true;
  return found;
}

static const char *box_name(Judge *j, const Box *b) {
  return b->bit < 0 ? "work" : id_of(j, b->bit);
}

static void all_placed(Judge *j, const Box *box, int count) {
  for (int i = 0; i < count; i++)
    if (!box[i].placed && box[i].n > 0)
      INVALID("offsets: \"%.80s\" (from step %d) has no address (S18)", box_name(j, &box[i]), box[i].from);
}

/* S18: what takes a place lies at it. */
static void judge_taken(Judge *j, const Box *box, int count) {
  for (int i = 0; i < count; i++) {
    if (box[i].taken_by < 0 || box[i].n == 0) continue;
    Box key = {.bit = box[i].taken_by, .from = box[i].to + 1};
    const Box *taker = bsearch(&key, box, (size_t)count, sizeof *box, by_box);
    if (taker->at != box[i].at)
      INVALID("offsets: \"%.80s\" (from step %d) takes the place of \"%.80s\" and lies elsewhere (S18)", box_name(j, taker), taker->from, box_name(j, &box[i]));
  }
}

static void judge_offsets(Judge *j) {
  json_t *list = judge_member(j, j->plan, "offsets", JSON_ARRAY, false, "plan"), *node;
  size_t i;
  if (!list) return;
  int count;
  Box *box = list_boxes(j, &count);
  json_array_foreach(list, i, node) {
    char where[48];
    snprintf(where, sizeof where, "offsets[%zu]", i);
    judge_only_keys(j, node, where, " data chunk from work offset ");
    Box *b = find_box(j, box, count, node, where);
    b->at = judge_number(j, node, "offset", INT64_MIN, INT64_MIN, where);
    if (b->at < 0 || b->n > j->device || b->at > j->device - b->n)
      INVALID("%s: \"%.80s\" at %lld with %lld bytes leaves the device (S18)", where, box_name(j, b), (long long)b->at,
              (long long)b->n);
  }
  all_placed(j, box, count);
  judge_taken(j, box, count);
  qsort(box, (size_t)count, sizeof *box, by_from);
  int *live = NEW(count, int), lives = 0;
  for (int b = 0; b < count; b++) {
    if (!box[b].n || box[b].to < box[b].from) continue;
    int kept = 0;
    for (int a = 0; a < lives; a++) {
      const Box *other = &box[live[a]];
      if (other->to < box[b].from) continue;
      live[kept++] = live[a];
      if (other->at < box[b].at + box[b].n && box[b].at < other->at + other->n)
        INVALID("offsets: \"%.80s\" (from step %d) and \"%.80s\" (from step %d) share an address at step %d (S18)",
                box_name(j, other), other->from, box_name(j, &box[b]), box[b].from, box[b].from);
    }
    live[kept++] = b;
    lives = kept;
  }
}

/* ---- claims (S19) ---- */

static void judge_claims(Judge *j) {
  int64_t makespan = judge_number(j, j->plan, "makespan_ns", 0, 0, "plan");
  int64_t peak = judge_number(j, j->plan, "peak_bytes", 0, 0, "plan");
  if (json_object_get(j->plan, "makespan_ns") && makespan != j->makespan)
    INVALID("makespan_ns: the plan claims %lld, the pass gives %lld (S19)", (long long)makespan, (long long)j->makespan);
  if (json_object_get(j->plan, "peak_bytes") && peak != j->peak)
    INVALID("peak_bytes: the plan claims %lld, the pass gives %lld (S19)", (long long)peak, (long long)j->peak);
  int64_t bound = judge_number(j, j->plan, "lower_bound_ns", 0, 0, "plan");
  if (bound > j->makespan)
    INVALID("lower_bound_ns: %lld exceeds the makespan %lld (S19)", (long long)bound, (long long)j->makespan);
  if (bound > 0 && bound > j->bound)
    INVALID("lower_bound_ns: %lld claimed, the certificate proves %lld (S20)", (long long)bound, (long long)j->bound);
  if (j->bound > j->makespan)
    INVALID("certificate: it proves %lld, the makespan is %lld: this is a bug in the checker or its contract (S20)",
            (long long)j->bound, (long long)j->makespan);
}

static void judge_all(Judge *j, const char *problem_text, size_t problem_length, const char *plan_text,
                      size_t plan_length) {
  j->problem = load(j, "problem", problem_text, problem_length);
  judge_only_keys(j, j->problem, "problem", " format name hardware data ops order meta ");
  if (strcmp(judge_text(j, j->problem, "format", "problem"), "gnncc-problem/1")) BAD("format: not gnncc-problem/1");
  j->name = judge_text(j, j->problem, "name", "problem");
  read_links(j);
  read_things(j);
  read_jobs(j);
  read_base(j);
  for (int o = 0; o < j->jobs; o++) judge_over(j, &j->job[o]);
  judge_sums(j);
  j->plan = load(j, "plan", plan_text, plan_length);
  if (json_object_get(j->plan, "pages")) BAD("plan.pages: there are no page-mapped layouts; addresses are \"offsets\" (S18)");
  judge_only_keys(j, j->plan, "plan",
            " format problem variants recompute moves offsets makespan_ns peak_bytes lower_bound_ns certificate meta ");
  if (strcmp(judge_text(j, j->plan, "format", "plan"), "gnncc-plan/1")) BAD("plan.format: not gnncc-plan/1");
  if (strcmp(judge_text(j, j->plan, "problem", "plan"), j->name))
    INVALID("problem: the plan is for \"%.80s\", the problem is \"%.80s\"", judge_text(j, j->plan, "problem", "plan"), j->name);
  read_variants(j);
  extend(j);
  visit_all(j);
  read_trips(j);
  judge_gaps(j);
  run_pass(j);
  judge_offsets(j);
  judge_certificate(j);
  judge_claims(j);
}

int planner_check_json(const char *problem_text, size_t problem_length, const char *plan_text, size_t plan_length,
                       FILE *out, PlannerCheckResult *result) {
  Arena *arena = arena_new();
  Judge *j = arena_alloc(arena, sizeof *j);
  j->arena = arena;
  j->out = out;
  j->thing_index = json_object();
  j->job_index = json_object();
  j->link_index = json_object();
  if (!setjmp(j->stop)) {
    judge_all(j, problem_text, problem_length, plan_text, plan_length);
    if (out)
      fprintf(out, "valid: makespan %lld ns, peak %lld bytes\n", (long long)j->makespan, (long long)j->peak);
    if (result) {
      *result = (PlannerCheckResult){.makespan_ns = j->makespan, .peak_bytes = j->peak, .lower_bound_ns = j->bound,
                                     .step_count = j->exts};
      size_t size = (size_t)j->exts * sizeof(int64_t);
      result->occupied_bytes = malloc(size);
      result->boundary_ns = malloc(size);
      if (result->occupied_bytes && result->boundary_ns) {
        memcpy(result->occupied_bytes, j->occupied, size);
        memcpy(result->boundary_ns, j->beta, size);
      } else {
        planner_check_release(result);
      }
    }
  }
  int verdict = j->verdict;
  json_decref(j->thing_index);
  json_decref(j->job_index);
  json_decref(j->link_index);
  json_decref(j->problem);
  json_decref(j->plan);
  arena_free(j->arena);
  return verdict;
}

void planner_check_release(PlannerCheckResult *result) {
  free(result->occupied_bytes);
  free(result->boundary_ns);
  result->occupied_bytes = result->boundary_ns = NULL;
}
