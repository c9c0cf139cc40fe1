/* document: the text of a gnncc-report/1 -> Document. The one reader, and so the judge of the schema. */
#include "document.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define MOST_SECONDS 1e9 /* thirty years */
#define MOST_COUNT (INT64_C(1) << 48) /* of bytes, steps or lines: sums of as many as a document can hold stay below 2^63 */
#define ROUNDING 1e-6    /* of times in a document, for an epoch of a second */

const char *const doc_kinds[DOC_KINDS] = {"graph", "features", "weights", "optimizer", "activation", "gradient", "scratch"};

typedef struct Reader {
  Arena *arena;
  const char *fault; /* the first */
} Reader;

static void fail(Reader *r, const char *where, const char *key, const char *why) {
  if (!r->fault) r->fault = arena_printf(r->arena, "%s%s%s: %s", where, *where ? "." : "", key, why);
}

/* ---- one member ---- */

static const char *text_of(Reader *r, const char *where, const json_t *o, const char *key) {
  const json_t *node = json_object_get(o, key);
  if (!json_is_string(node)) {
    fail(r, where, key, "a text is needed");
    return "";
  }
  return json_string_value(node);
}

static const char *optional_text(const json_t *o, const char *key) { return json_string_value(json_object_get(o, key)); }

static double number_of(Reader *r, const char *where, const json_t *o, const char *key) {
  const json_t *node = json_object_get(o, key);
  if (!json_is_number(node)) fail(r, where, key, "a number is needed");
  return json_number_value(node);
}

/* Seconds that can be: a file that says more was not written by us. */
static double time_of(Reader *r, const char *where, const json_t *o, const char *key) {
  double seconds = number_of(r, where, o, key);
  if (!(seconds >= 0 && seconds <= MOST_SECONDS)) fail(r, where, key, arena_printf(r->arena, "%g seconds are no time", seconds));
  return seconds;
}

static int64_t count_of(Reader *r, const char *where, const json_t *o, const char *key) {
  const json_t *node = json_object_get(o, key);
  if (!json_is_integer(node)) fail(r, where, key, "a whole number is needed");
  else if (json_integer_value(node) < 0) fail(r, where, key, "it is negative");
  else if (json_integer_value(node) > MOST_COUNT) fail(r, where, key, "it is more than there can be");
  return json_integer_value(node);
}

static bool flag_of(Reader *r, const char *where, const json_t *o, const char *key) {
  const json_t *node = json_object_get(o, key);
  if (!json_is_boolean(node)) fail(r, where, key, "true or false is needed");
  return json_is_true(node);
}

static const json_t *object_of(Reader *r, const char *where, const json_t *o, const char *key) {
  const json_t *node = json_object_get(o, key);
  if (!json_is_object(node)) fail(r, where, key, "an object is needed");
  return node;
}

static const json_t *list_of(Reader *r, const char *where, const json_t *o, const char *key) {
  const json_t *node = json_object_get(o, key);
  if (!json_is_array(node)) fail(r, where, key, "a list is needed");
  return node;
}

static DocNames names_of(Reader *r, const char *where, const json_t *o, const char *key, bool is_needed) {
  DocNames names = {0};
  const json_t *list = json_object_get(o, key), *node;
  size_t i;
  if (!list && !is_needed) return names;
  if (!json_is_array(list)) fail(r, where, key, "a list of texts is needed");
  names.list = arena_alloc(r->arena, (json_array_size(list) + 1) * sizeof *names.list);
  json_array_foreach((json_t *)list, i, node) {
    if (!json_is_string(node)) fail(r, where, key, "a list of texts is needed");
    names.list[names.count++] = json_is_string(node) ? json_string_value(node) : "";
  }
  return names;
}

/* ---- lists ---- */

static const char *const phases[] = {"forward", "backward", "update", "recompute", "move", "wait", "exchange", "eval", "once", NULL};

/* The place of a text among words. */
static int word_of(Reader *r, const char *where, const json_t *o, const char *key, const char *const *words) {
  const char *text = text_of(r, where, o, key);
  int word = vocabulary_find(words, text);
  if (word < 0) fail(r, where, key, arena_printf(r->arena, "\"%s\" is not one of the words", text));
  return word < 0 ? 0 : word;
}

static DocPiece piece_of(Reader *r, const char *at, const json_t *o) {
  DocPiece piece = {.group = optional_text(o, "group")};
  if (json_object_get(o, "part")) piece.part = count_of(r, at, o, "part");
  if (json_object_get(o, "slice")) piece.slice = count_of(r, at, o, "slice");
  if (!piece.group && (piece.part || piece.slice)) fail(r, at, "group", "a piece of nothing");
  return piece;
}

static void read_step(Reader *r, const char *at, const json_t *o, DocStep *s) {
  *s = (DocStep){.step = count_of(r, at, o, "step"), .line = count_of(r, at, o, "line"), .decided_by = count_of(r, at, o, "decided_by"),
                 .lane = text_of(r, at, o, "lane"), .phase = phases[word_of(r, at, o, "phase", phases)], .kernel = text_of(r, at, o, "kernel"),
                 .what = text_of(r, at, o, "what"),
                 .start = time_of(r, at, o, "start_seconds"), .seconds = time_of(r, at, o, "seconds"), .bytes = count_of(r, at, o, "bytes"),
                 .device_bytes = count_of(r, at, o, "device_bytes"), .host_bytes = count_of(r, at, o, "host_bytes"), .ssd_bytes = count_of(r, at, o, "ssd_bytes")};
  bool is_wait = strcmp(s->phase, "wait") == 0, is_move = strcmp(s->phase, "move") == 0, is_kernel = !is_wait && !is_move;
  if (is_move) s->to = text_of(r, at, o, "to"), s->from = text_of(r, at, o, "from");
  if (is_wait) s->waits_for = count_of(r, at, o, "waits_for");
  if (is_kernel) s->flops = number_of(r, at, o, "flops");
  else s->value = text_of(r, at, o, "value");
  s->piece = piece_of(r, at, o);
  s->layer = optional_text(o, "layer");
  s->reads = names_of(r, at, o, "reads", is_kernel);
  s->writes = names_of(r, at, o, "writes", is_kernel);
  s->frees = names_of(r, at, o, "frees", is_kernel);
  const json_t *after = json_object_get(o, "after");
  for (size_t i = 0; i < json_array_size(after) && i < 2; i++) s->after[s->after_count++] = json_integer_value(json_array_get(after, i));
}

static void read_value(Reader *r, const char *at, const json_t *o, DocValue *v) {
  *v = (DocValue){.value = text_of(r, at, o, "value"), .what = text_of(r, at, o, "what"), .fate = (Fate)word_of(r, at, o, "fate", fate_names), .line = count_of(r, at, o, "line"),
                  .bytes = count_of(r, at, o, "bytes"), .adds = number_of(r, at, o, "adds_seconds"), .is_pinned = flag_of(r, at, o, "pinned"),
                  .piece = piece_of(r, at, o)};
  const json_t *list = list_of(r, at, o, "alternatives");
  for (size_t i = 0; i < json_array_size(list) && i < FATE_COUNT; i++) {
    const json_t *item = json_array_get(list, i);
    DocAlternative *a = &v->alternatives[v->alternative_count++];
    *a = (DocAlternative){.fate = (Fate)word_of(r, at, item, "fate", fate_names), .fits = flag_of(r, at, item, "fits")};
    if (a->fits) a->adds = number_of(r, at, item, "adds_seconds");
    else a->over_bytes = count_of(r, at, item, "over_bytes");
  }
}

static void read_block(Reader *r, const char *at, const json_t *o, DocBlock *b) {
  *b = (DocBlock){.name = text_of(r, at, o, "name"), .kind = text_of(r, at, o, "kind"), .value = optional_text(o, "value"), .how = optional_text(o, "how"),
                  .offset = count_of(r, at, o, "offset"), .bytes = count_of(r, at, o, "bytes"), .first_step = count_of(r, at, o, "first_step"),
                  .last_step = count_of(r, at, o, "last_step")};
}

static void read_slot(Reader *r, const char *at, const json_t *o, DocSlot *h) {
  *h = (DocSlot){.value = text_of(r, at, o, "value"), .tier = (Tier)word_of(r, at, o, "tier", tier_names), .bytes = count_of(r, at, o, "bytes"),
                 .first_step = count_of(r, at, o, "first_step"), .last_step = count_of(r, at, o, "last_step")};
}

static void read_lane(Reader *r, const char *at, const json_t *o, DocLane *l) {
  *l = (DocLane){.lane = text_of(r, at, o, "lane"), .steps = count_of(r, at, o, "steps"), .busy = time_of(r, at, o, "busy_seconds"),
                 .waiting = time_of(r, at, o, "wait_seconds"), .idle = time_of(r, at, o, "idle_seconds")};
}

static void read_link(Reader *r, const char *at, const json_t *o, DocLink *l) {
  *l = (DocLink){.lane = text_of(r, at, o, "lane"), .bandwidth = number_of(r, at, o, "bandwidth"), .latency = time_of(r, at, o, "latency_seconds")};
}

static void read_memory(Reader *r, const char *at, const json_t *o, DocMemory *m) {
  *m = (DocMemory){.first_step = count_of(r, at, o, "first_step"), .step = count_of(r, at, o, "step"), .start = time_of(r, at, o, "start_seconds"),
                   .end = time_of(r, at, o, "end_seconds"), .device_bytes = count_of(r, at, o, "device_bytes"), .host_bytes = count_of(r, at, o, "host_bytes"),
                   .ssd_bytes = count_of(r, at, o, "ssd_bytes")};
  if (json_object_get(o, "gaps")) m->gaps = count_of(r, at, o, "gaps");
  if (m->end < m->start) fail(r, at, "end_seconds", "it ends before it starts");
  for (int k = 0; k < DOC_KINDS; k++) m->kinds[k] = count_of(r, at, o, doc_kinds[k]);
}

/* Every element of a list by its own reader; the place of a fault is "steps[3]". */
#define READ_LIST(r, root, key, items, count, read)                                        \
  do {                                                                                     \
    const json_t *list = list_of(r, "", root, key), *item;                                 \
    size_t i;                                                                              \
    (items) = arena_alloc((r)->arena, (json_array_size(list) + 1) * sizeof *(items));      \
    json_array_foreach((json_t *)list, i, item)                                            \
        read(r, arena_printf((r)->arena, "%s[%zu]", key, i), item, &(items)[(count)++]);   \
  } while (0)

static void read_rank(Reader *r, const char *at, const json_t *o, DocRank *k) {
  const json_t *start = list_of(r, at, o, "start_seconds"), *seconds = list_of(r, at, o, "seconds");
  *k = (DocRank){.rank = count_of(r, at, o, "rank"), .name = text_of(r, at, o, "name"), .count = (int64_t)json_array_size(start)};
  if (json_array_size(seconds) != json_array_size(start)) fail(r, at, "seconds", "as many as start_seconds are needed");
  k->start = arena_alloc(r->arena, (size_t)(k->count + 1) * sizeof *k->start);
  k->seconds = arena_alloc(r->arena, (size_t)(k->count + 1) * sizeof *k->seconds);
  for (int64_t i = 0; !r->fault && i < k->count; i++) {
    k->start[i] = json_number_value(json_array_get(start, (size_t)i));
    k->seconds[i] = json_number_value(json_array_get(seconds, (size_t)i));
  }
}

/* ---- the whole ---- */

static void read_tiers(Reader *r, const json_t *root, Document *d) {
  const json_t *tiers = object_of(r, "", root, "tiers");
  for (int t = 0; t < TIER_COUNT; t++) {
    const char *name = tier_names[t];
    const json_t *tier = object_of(r, "tiers", tiers, name);
    d->tiers[t] = (DocTier){count_of(r, name, tier, "peak_bytes"), count_of(r, name, tier, "budget_bytes")};
    if (t == TIER_DEVICE) d->lower_bound_bytes = count_of(r, name, tier, "lower_bound_bytes");
  }
}

static void read_epoch(Reader *r, const json_t *root, Document *d) {
  const json_t *o = object_of(r, "", root, "epoch");
  d->epoch = (DocEpoch){time_of(r, "epoch", o, "seconds"),          time_of(r, "epoch", o, "compute_seconds"), time_of(r, "epoch", o, "recompute_seconds"),
                        time_of(r, "epoch", o, "wait_seconds"),     time_of(r, "epoch", o, "transfer_seconds"), time_of(r, "epoch", o, "evaluation_seconds"),
                        json_object_get(o, "slowed_seconds") ? time_of(r, "epoch", o, "slowed_seconds") : 0};
}

static void add_measured(Document *d, const Measured *measured) {
  d->measured = measured;
  for (int i = 0; i < d->step_count; i++) {
    const MeasuredStep *m = &measured->steps[i];
    d->steps[i].is_measured = m->is_measured;
    d->steps[i].measured_start = m->start;
    d->steps[i].measured_seconds = m->seconds;
  }
}

static void read_measured(Reader *r, const json_t *root, Document *d) {
  const char *fault;
  if (r->fault || !json_object_get(root, "measured")) return;
  const Measured *measured = measured_read(r->arena, root, &fault);
  if (measured) add_measured(d, measured);
  else r->fault = fault;
}

static bool has_lane(const Document *d, const char *name) {
  for (int i = 0; i < d->lane_count; i++)
    if (strcmp(d->lanes[i].lane, name) == 0) return true;
  return vocabulary_find(lane_names, name) >= 0;
}

/* A step starts when that one ends which decided it. */
static void judge_start(Reader *r, const char *at, const Document *d, const DocStep *s) {
  double whole = d->epoch.seconds > d->epoch.evaluation ? d->epoch.seconds : d->epoch.evaluation;
  const DocStep *decider = &d->steps[s->decided_by - 1];
  double gap = s->start - decider->start - decider->seconds;
  if (gap > ROUNDING * whole || gap < -ROUNDING * whole) fail(r, at, "decided_by", "that step does not end when this one starts");
}

static void read_code(Reader *r, const json_t *root, Document *d) {
  const json_t *item;
  size_t i;
  json_array_foreach(json_object_get(root, "code"), i, item) {
    const char *at = arena_printf(r->arena, "code[%zu]", i), *text = text_of(r, at, item, "text");
    int64_t step = count_of(r, at, item, "step");
    if (step < 1 || step > d->step_count) fail(r, at, "step", "there is no such step");
    else d->steps[step - 1].code = text;
  }
}

static void judge(Reader *r, const Document *d) {
  for (int i = 0; i < d->step_count; i++) {
    const DocStep *s = &d->steps[i];
    const char *at = arena_printf(r->arena, "steps[%d]", i);
    if (s->step != i + 1) fail(r, at, "step", "steps are numbered from 1 in their order");
    if (s->waits_for > d->step_count) fail(r, at, "waits_for", "there is no such step");
    if (s->decided_by > d->step_count) fail(r, at, "decided_by", "there is no such step");
    else if (s->decided_by) judge_start(r, at, d, s);
    if (!has_lane(d, s->lane)) fail(r, at, "lane", arena_printf(r->arena, "\"%s\" is not among the lanes", s->lane));
    for (int k = 0; k < s->after_count; k++)
      if (s->after[k] < 1 || s->after[k] > d->step_count) fail(r, at, "after", "there is no such step");
  }
  for (int i = 0; i < d->block_count; i++)
    if (d->blocks[i].first_step < 1 || d->blocks[i].last_step > d->step_count) fail(r, arena_printf(r->arena, "blocks[%d]", i), "last_step", "there is no such step");
  for (int i = 0; i < d->memory_count; i++)
    if (d->memory[i].first_step < 1 || d->memory[i].step > d->step_count) fail(r, arena_printf(r->arena, "memory[%d]", i), "step", "there is no such step");
  if (d->training_steps > d->step_count) fail(r, "", "training_steps", "there are not so many steps");
  if (d->peak_step > d->step_count || (d->step_count && d->peak_step < 1)) fail(r, "", "peak_step", "there is no such step");
}

static Document *read_document(Reader *r, json_t *root) {
  Document *d = arena_alloc(r->arena, sizeof *d);
  if (!json_is_object(root) || strcmp(text_of(r, "", root, "format"), "gnncc-report/1") != 0) {
    fail(r, "", "format", "\"gnncc-report/1\" is needed");
    return d;
  }
  *d = (Document){.arena = r->arena, .json = root, .generator = text_of(r, "", root, "generator"), .model = text_of(r, "", root, "model"), .data = text_of(r, "", root, "data"),
                  .target = text_of(r, "", root, "target"), .fingerprint = text_of(r, "", root, "fingerprint"), .training_steps = count_of(r, "", root, "training_steps"),
                  .peak_step = count_of(r, "", root, "peak_step")};
  /* It stands in comments of every form. */
  if (d->generator[strspn(d->generator, "abcdefghijklmnopqrstuvwxyz0123456789. ")]) fail(r, "", "generator", "small letters, digits, dots and blanks are all it has");
  const json_t *machine = object_of(r, "", root, "machine"), *source = object_of(r, "", root, "source");
  d->device = text_of(r, "machine", machine, "device");
  d->file = text_of(r, "source", source, "file");
  d->source = names_of(r, "source", source, "lines", true);
  d->notes = names_of(r, "", root, "notes", true);
  text_of(r, "", root, "figures");
  flag_of(r, "", root, "fits");
  read_tiers(r, root, d);
  read_epoch(r, root, d);
  READ_LIST(r, machine, "links", d->links, d->link_count, read_link);
  if (json_object_get(root, "ranks")) READ_LIST(r, json_object_get(root, "ranks"), "shown", d->ranks, d->rank_count, read_rank);
  READ_LIST(r, root, "lanes", d->lanes, d->lane_count, read_lane);
  READ_LIST(r, root, "values", d->values, d->value_count, read_value);
  READ_LIST(r, root, "blocks", d->blocks, d->block_count, read_block);
  READ_LIST(r, root, "homes", d->slots, d->slot_count, read_slot);
  READ_LIST(r, root, "memory", d->memory, d->memory_count, read_memory);
  READ_LIST(r, root, "steps", d->steps, d->step_count, read_step);
  if (json_object_get(root, "once")) READ_LIST(r, root, "once", d->once, d->once_count, read_step);
  judge(r, d);
  read_code(r, root, d);
  read_measured(r, root, d);
  return d;
}

Document *document_read(Arena *arena, const char *text, size_t length, const char **fault) {
  Reader r = {.arena = arena};
  json_error_t error;
  json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
  if (!root) {
    *fault = arena_printf(arena, "%d:%d: %s", error.line, error.column, error.text);
    return NULL;
  }
  Document *d = read_document(&r, root);
  *fault = r.fault;
  if (!r.fault) return d;
  json_decref(root);
  return NULL;
}

void document_free(Document *document) {
  if (document) json_decref(document->json);
}

bool document_add_measured(Document *d, const Document *run, const char **fault) {
  *fault = NULL;
  if (!run->measured) *fault = "there is no measurement in it; ./PROGRAM profile -o run.json makes one";
  else if (strcmp(d->fingerprint, run->fingerprint) != 0 || d->step_count != run->step_count) *fault = "it is of another program, or of another plan of it";
  for (int i = 0; !*fault && i < d->step_count; i++)
    if (strcmp(d->steps[i].what, run->steps[i].what) != 0) *fault = "it is of another plan of this program";
  if (*fault) return false;
  add_measured(d, run->measured);
  json_object_set(d->json, "measured", json_object_get(run->json, "measured"));
  return true;
}

void document_add_code(Document *d, json_t *code) {
  Reader r = {.arena = d->arena};
  if (!code) return;
  json_object_set_new(d->json, "code", code);
  read_code(&r, d->json, d);
}

/* ---- what views ask ---- */

int document_shown_steps(const Document *d, const DocStep **first) {
  *first = d->steps;
  return (int)(d->training_steps ? d->training_steps : d->step_count);
}

bool document_has_layers(const Document *d) {
  for (int i = 0; i < d->step_count; i++)
    if (d->steps[i].layer) return true;
  return false;
}

double document_shown_seconds(const Document *d) { return d->training_steps ? d->epoch.seconds : d->epoch.evaluation; }

bool document_has_run(const Document *d) { return d->measured && d->training_steps > 0; }

double document_run_seconds(const Document *d) { return document_has_run(d) ? d->measured->epoch : 0; }

bool document_shows(const Document *d, const DocStep *s, bool is_measured) {
  double seconds = step_seconds(s, is_measured);
  return seconds > 0 && !(is_measured && s->waits_for && seconds < document_run_seconds(d) / 1000);
}

const DocStep *document_step(const Document *d, int64_t number) { return number >= 1 && number <= d->step_count ? &d->steps[number - 1] : NULL; }

const char *document_what(const Document *d, const DocStep *s) {
  if (!s->piece.group || !s->value) return s->piece.group ? s->piece.group : s->what;
  const char *at = strstr(s->what, s->value);
  return at ? arena_printf(d->arena, "%.*s%s%s", (int)(at - s->what), s->what, s->piece.group, at + strlen(s->value)) : s->what;
}

const DocStep *document_rank_steps(const Document *d, const DocRank *rank) {
  const DocStep *of_all;
  const int count = document_shown_steps(d, &of_all);
  DocStep *own = arena_alloc(d->arena, (size_t)(count + 1) * sizeof *own);
  for (int i = 0; i < count; i++) {
    own[i] = of_all[i];
    if (i < rank->count) own[i].start = rank->start[i], own[i].seconds = rank->seconds[i];
  }
  return own;
}

/* Or all before the point. */

const char *document_rank_title(const Document *d, const DocRank *rank) {
  const TimeUnit unit = document_time_unit(d);
  const DocStep *of_all;
  const int count = document_shown_steps(d, &of_all);
  double computes = 0, end = 0;
  for (int i = 0; i < count && i < rank->count; i++) {
    if (strcmp(of_all[i].lane, lane_names[LANE_COMPUTE]) == 0 && !of_all[i].waits_for) computes += rank->seconds[i];
    end = fmax(end, rank->start[i] + rank->seconds[i]);
  }
  return arena_printf(d->arena, "rank %" PRId64 ", the %s: computes %s of %s", rank->rank, rank->name, time_number(d->arena, unit, computes), time_text(d->arena, unit, end));
}

const int *document_first_of(const Document *d) {
  const DocStep *steps;
  int count = document_shown_steps(d, &steps), *first_of = arena_alloc(d->arena, (size_t)count * sizeof *first_of);
  json_t *first = json_object();
  for (int i = 0; i < count; i++) {
    const DocStep *s = &steps[i], *what = s->waits_for ? document_step(d, s->waits_for) : s;
    first_of[i] = i;
    if (!s->piece.group) continue;
    const char *key = arena_printf(d->arena, "%s %s", s->phase, document_what(d, what));
    const json_t *place = json_object_get(first, key);
    if (place) first_of[i] = (int)json_integer_value(place);
    else json_object_set_new(first, key, json_integer(i));
  }
  json_decref(first);
  return first_of;
}

TimeUnit document_time_unit(const Document *d) { return time_unit(document_shown_seconds(d)); }
