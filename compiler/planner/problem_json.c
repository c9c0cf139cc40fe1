/* Reads gnncc-problem/1. jansson reports syntax with line and column; what is wrong beyond syntax is reported with
 * the path of the value. */
#include "json_text.h"
#include "problem.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct Reader {
  Arena *arena;
  Problem *problem;
  ProblemError *error;
  json_t *datum_ids, *op_ids; /* id -> index */
} Reader;

static bool fail(Reader *r, const char *place, const char *format, ...) {
  char text[sizeof r->error->text];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  problem_fail(r->error, place, "%s", text);
  return false;
}

static const char *kind_name(const json_t *value) {
  switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "a list";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a number with a fraction";
    case JSON_TRUE: case JSON_FALSE: return "true or false";
    case JSON_NULL: break;
  }
  return "null";
}

static bool want_kind(Reader *r, const json_t *value, json_type kind, const char *what, const char *place) {
  if (!value) return fail(r, place, "missing; expected %s", what);
  if (json_typeof(value) != kind) return fail(r, place, "expected %s, found %s", what, kind_name(value));
  return true;
}

/* Every key of `object` must be one of `known` (a NULL-ended list). */
static bool known_keys(Reader *r, json_t *object, const char *const *known, const char *place) {
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value) {
    bool found = false;
    for (int i = 0; known[i] && !found; i++) found = !strcmp(known[i], key);
    if (!found) return fail(r, place, "unknown key \"%.60s\"", key);
  }
  return true;
}

static bool read_int(Reader *r, const json_t *object, const char *key, int64_t low, int64_t high, int64_t fallback,
                     bool is_required, const char *place, int64_t *result) {
  char path[160];
  snprintf(path, sizeof path, "%s%s%s", place, *place ? "." : "", key);
  const json_t *value = json_object_get(object, key);
  *result = fallback;
  if (!value) return is_required ? fail(r, path, "missing; expected an integer") : true;
  if (!json_is_integer(value)) return fail(r, path, "expected an integer, found %s", kind_name(value));
  *result = json_integer_value(value);
  if (*result < low || *result > high)
    return fail(r, path, "%lld is out of range; expected %lld to %lld", (long long)*result, (long long)low,
                (long long)high);
  return true;
}

static bool read_bool(Reader *r, const json_t *object, const char *key, bool fallback, const char *place,
                      bool *result) {
  const json_t *value = json_object_get(object, key);
  *result = fallback;
  if (!value) return true;
  char path[160];
  snprintf(path, sizeof path, "%s.%s", place, key);
  if (!json_is_boolean(value)) return fail(r, path, "expected true or false, found %s", kind_name(value));
  *result = json_is_true(value);
  return true;
}

static bool read_id(Reader *r, const json_t *object, const char *key, const char *place, const char **result) {
  char path[160];
  snprintf(path, sizeof path, "%s%s%s", place, *place ? "." : "", key);
  const json_t *value = json_object_get(object, key);
  if (!want_kind(r, value, JSON_STRING, "a string", path)) return false;
  if (json_string_length(value) == 0) return fail(r, path, "is empty");
  if (json_string_length(value) > 4096) return fail(r, path, "is longer than 4096 bytes");
  *result = arena_strdup(r->arena, json_string_value(value));
  return true;
}

static bool read_hardware(Reader *r, json_t *root) {
  static const char *const keys[] = {"device_bytes", "host_bytes", "ssd_bytes", "ring_bytes", "devices", "channels",
                                     NULL};
  static const char *const link_keys[] = {"bw", "lat_ns", NULL};
  Problem *p = r->problem;
  json_t *hardware = json_object_get(root, "hardware");
  if (!want_kind(r, hardware, JSON_OBJECT, "an object", "hardware") || !known_keys(r, hardware, keys, "hardware"))
    return false;
  if (!read_int(r, hardware, "device_bytes", 0, INT64_MAX, 0, true, "hardware", &p->device_bytes) ||
      !read_int(r, hardware, "host_bytes", 0, INT64_MAX, 0, false, "hardware", &p->host_bytes) ||
      !read_int(r, hardware, "ssd_bytes", 0, INT64_MAX, 0, false, "hardware", &p->ssd_bytes) ||
      !read_int(r, hardware, "ring_bytes", 0, INT64_MAX, 0, false, "hardware", &p->ring_bytes) ||
      !read_int(r, hardware, "devices", 1, 1 << 20, 1, false, "hardware", &p->devices))
    return false;
  json_t *lanes = json_object_get(hardware, "channels");
  if (!lanes) return true;
  if (!want_kind(r, lanes, JSON_OBJECT, "an object", "hardware.channels")) return false;
  if (json_object_size(lanes) > 64) return fail(r, "hardware.channels", "more than 64 channels");
  const char *name;
  json_t *value;
  json_object_foreach(lanes, name, value) {
    char place[128];
    snprintf(place, sizeof place, "hardware.channels.%.60s", name);
    if (!want_kind(r, value, JSON_OBJECT, "an object", place) || !known_keys(r, value, link_keys, place))
      return false;
    if (!strcmp(name, lane_keys[LANE_COMPUTE])) return fail(r, place, "compute is not a transfer channel");
    int index = problem_lane(p, r->arena, name);
    ProblemLane *lane = &p->lanes[index];
    if (!read_int(r, value, "bw", 1, INT64_MAX, 1, true, place, &lane->bandwidth) ||
        !read_int(r, value, "lat_ns", 0, PROBLEM_MOST_LATENCY_NS, 0, false, place, &lane->latency_ns))
      return false;
    lane->is_present = true;
  }
  return true;
}

static bool read_fates(Reader *r, const json_t *object, const char *place, unsigned *fates) {
  const json_t *list = json_object_get(object, "fates");
  *fates = FATE_ALL;
  if (!list) return true;
  char path[160];
  snprintf(path, sizeof path, "%s.fates", place);
  if (!want_kind(r, list, JSON_ARRAY, "a list", path)) return false;
  *fates = 0;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *item = json_array_get(list, i);
    snprintf(path, sizeof path, "%s.fates[%zu]", place, i);
    if (!want_kind(r, item, JSON_STRING, "a string", path)) return false;
    int fate = vocabulary_find(fate_keys, json_string_value(item));
    if (fate < 0)
      return fail(r, path, "\"%.40s\" is not a fate; expected retain, host, ssd or recompute",
                  json_string_value(item));
    *fates |= FATE_BIT(fate);
  }
  return true;
}

/* What has chunks, as errors call it. */
typedef struct Chunked {
  const char *what;
  int chunks;
} Chunked;

/* One number, or a list of one for each chunk, which becomes *each. */
static bool read_amounts(Reader *r, const json_t *object, const char *key, const char *place, Chunked of, int64_t *all, const int64_t **each) {
  const json_t *list = json_object_get(object, key);
  if (!json_is_array(list)) return read_int(r, object, key, 0, INT64_MAX, 0, true, place, all);
  char path[160];
  if (json_array_size(list) != (size_t)of.chunks) {
    snprintf(path, sizeof path, "%s.%s", place, key);
    return fail(r, path, "the list has %zu entries and the %s %d chunks", json_array_size(list), of.what, of.chunks);
  }
  int64_t *amounts = arena_alloc(r->arena, (size_t)of.chunks * sizeof *amounts);
  for (int k = 0; k < of.chunks; k++) {
    const json_t *item = json_array_get(list, (size_t)k);
    snprintf(path, sizeof path, "%s.%s[%d]", place, key, k);
    if (!want_kind(r, item, JSON_INTEGER, "an integer", path)) return false;
    amounts[k] = json_integer_value(item);
    if (amounts[k] < 0 || amounts[k] > PROBLEM_MOST_CHUNK_AMOUNT) return fail(r, path, "%lld is out of range; expected 0 to 2^56", (long long)amounts[k]);
    *all += amounts[k];
    if (*all >= PROBLEM_MOST_CHUNK_AMOUNT) return fail(r, path, "2^56 or more with those before it");
  }
  *each = amounts;
  return true;
}

/* One of some words; `result` stays where there is none. */
static bool read_word(Reader *r, const json_t *object, const char *key, const char *const *words, const char *what, const char *place, int *result) {
  char path[96];
  const json_t *value = json_object_get(object, key);
  if (!value) return true;
  snprintf(path, sizeof path, "%s.%s", place, key);
  if (!want_kind(r, value, JSON_STRING, "a string", path)) return false;
  *result = vocabulary_find(words, json_string_value(value));
  return *result >= 0 || fail(r, path, "\"%.40s\" is not a %s; expected %s", json_string_value(value), key, what);
}

/* A list of one tier for each chunk, of those in `tiers`. NULL with a failure told. */
static const Tier *read_tiers(Reader *r, const json_t *list, const char *key, unsigned tiers, const char *what, const char *expected, const char *place, int chunks) {
  char path[96];
  snprintf(path, sizeof path, "%s.%s", place, key);
  if (json_array_size(list) != (size_t)chunks) return fail(r, path, "the list has %zu entries and the datum %d chunks", json_array_size(list), chunks), NULL;
  Tier *result = arena_alloc(r->arena, (size_t)chunks * sizeof *result);
  for (int k = 0; k < chunks; k++) {
    const json_t *item = json_array_get(list, (size_t)k);
    snprintf(path, sizeof path, "%s.%s[%d]", place, key, k);
    if (!want_kind(r, item, JSON_STRING, "a string", path)) return NULL;
    const int tier = vocabulary_find(tier_names, json_string_value(item));
    if (tier < 0 || !(tiers >> tier & 1)) return fail(r, path, "\"%.40s\" is not %s; expected %s", json_string_value(item), what, expected), NULL;
    result[k] = (Tier)tier;
  }
  return result;
}

/* One word, or a list of one for each chunk. */
static bool read_home(Reader *r, const json_t *object, const char *place, ProblemDatum *datum) {
  static const char expected[] = "device, host or ssd";
  const json_t *list = json_object_get(object, "home");
  int home = datum->home;
  if (!json_is_array(list)) {
    const bool is_read = read_word(r, object, "home", tier_names, expected, place, &home);
    datum->home = (Tier)home;
    return is_read;
  }
  datum->chunk_home = read_tiers(r, list, "home", 1u << TIER_DEVICE | 1u << TIER_HOST | 1u << TIER_SSD, "a home", expected, place, datum->chunks);
  if (datum->chunk_home) datum->home = datum->chunk_home[0];
  return datum->chunk_home != NULL;
}

/* true: where it is at home, else on the host; of what has no home where it ends, one word, or a list of one for each chunk. */
static bool read_final(Reader *r, const json_t *object, const char *place, ProblemDatum *datum) {
  const json_t *final = json_object_get(object, "final");
  char path[96];
  if (!json_is_array(final) && !json_is_string(final)) return read_bool(r, object, "final", false, place, &datum->is_final);
  snprintf(path, sizeof path, "%s.final", place);
  if (datum->home != TIER_NONE) return fail(r, path, "what has a home ends there: true or false");
  datum->is_final = true;
  if (json_is_array(final)) return (datum->chunk_end = read_tiers(r, final, "final", 1u << TIER_HOST | 1u << TIER_SSD, "where it can end", "host or ssd", place, datum->chunks)) != NULL;
  const int tier = vocabulary_find(tier_names, json_string_value(final));
  if (tier != TIER_HOST && tier != TIER_SSD) return fail(r, path, "\"%.40s\" is not where it can end; expected host or ssd", json_string_value(final));
  datum->end = (Tier)tier;
  return true;
}

static bool read_datum(Reader *r, json_t *object, size_t index) {
  static const char *const keys[] = {"id", "bytes", "chunks", "home", "final", "fates", "role", NULL};
  char place[64], path[96];
  snprintf(place, sizeof place, "data[%zu]", index);
  ProblemDatum datum = {.home = TIER_NONE};
  int64_t chunks;
  if (!want_kind(r, object, JSON_OBJECT, "an object", place) || !known_keys(r, object, keys, place) ||
      !read_id(r, object, "id", place, &datum.id) ||
      !read_int(r, object, "chunks", 1, PROBLEM_MAX_PIECES, 1, false, place, &chunks) ||
      !read_fates(r, object, place, &datum.fates))
    return false;
  datum.chunks = (int)chunks;
  if (!read_amounts(r, object, "bytes", place, (Chunked){"datum", datum.chunks}, &datum.bytes, &datum.chunk_bytes)) return false;
  int role = datum.role;
  if (!read_home(r, object, place, &datum) || !read_final(r, object, place, &datum) || !read_word(r, object, "role", role_names, "other, input or aggregate", place, &role)) return false;
  datum.role = (ValueRole)role;
  if (json_object_get(r->datum_ids, datum.id)) {
    snprintf(path, sizeof path, "%s.id", place);
    return fail(r, path, "\"%.80s\" is already data[%lld]", datum.id,
                (long long)json_integer_value(json_object_get(r->datum_ids, datum.id)));
  }
  json_object_set_new(r->datum_ids, datum.id, json_integer(r->problem->datum_count));
  ARENA_PUSH(r->arena, r->problem->data, r->problem->datum_count, datum);
  return true;
}

static bool read_chunk_lists(Reader *r, const json_t *list, const ProblemOp *op, ProblemAccess *access, const char *place) {
  int chunks = r->problem->data[access->datum].chunks, count = 0;
  char path[256];
  if (json_array_size(list) != (size_t)op->chunks)
    return fail(r, place, "the list has %zu entries and the op %d chunks", json_array_size(list), op->chunks);
  access->kind = PROBLEM_ACCESS_LIST;
  access->list_start = arena_alloc(r->arena, ((size_t)op->chunks + 1) * sizeof(int));
  for (int k = 0; k < op->chunks; k++) {
    const json_t *entry = json_array_get(list, (size_t)k);
    snprintf(path, sizeof path, "%s[%d]", place, k);
    if (!want_kind(r, entry, JSON_ARRAY, "a list of chunk numbers", path)) return false;
    for (size_t i = 0; i < json_array_size(entry); i++) {
      const json_t *item = json_array_get(entry, i);
      snprintf(path, sizeof path, "%s[%d][%zu]", place, k, i);
      if (!want_kind(r, item, JSON_INTEGER, "a chunk number", path)) return false;
      json_int_t chunk = json_integer_value(item);
      if (chunk < 0 || chunk >= chunks)
        return fail(r, path, "chunk %lld of \"%.80s\", which has %d", (long long)chunk,
                    r->problem->data[access->datum].id, chunks);
      ARENA_PUSH(r->arena, access->list, count, (int)chunk);
    }
    access->list_start[k + 1] = count;
  }
  return true;
}

static bool read_over(Reader *r, const json_t *over, ProblemAccess *access, const char *place) {
  char path[160];
  snprintf(path, sizeof path, "%s.over", place);
  if (!want_kind(r, over, JSON_STRING, "a string", path)) return false;
  const json_t *index = json_object_get(r->datum_ids, json_string_value(over));
  if (!index) return fail(r, path, "there is no datum \"%.80s\"", json_string_value(over));
  access->over = (int)json_integer_value(index) + 1;
  return true;
}

static bool read_access(Reader *r, json_t *value, bool is_write, const ProblemOp *op, ProblemAccess *access, const char *place) {
  static const char *const read_keys[] = {"data", "access", NULL}, *const write_keys[] = {"data", "access", "over", NULL};
  const json_t *id = value, *how = NULL, *over = NULL;
  char path[160];
  if (json_is_object(value)) {
    if (!known_keys(r, value, is_write ? write_keys : read_keys, place)) return false;
    snprintf(path, sizeof path, "%s.data", place);
    id = json_object_get(value, "data");
    if (!want_kind(r, id, JSON_STRING, "a string", path)) return false;
    how = json_object_get(value, "access");
    over = json_object_get(value, "over");
  } else if (!json_is_string(value)) {
    return fail(r, place, "expected the id of a datum or an object, found %s", kind_name(value));
  }
  const json_t *index = json_object_get(r->datum_ids, json_string_value(id));
  if (!index) return fail(r, place, "there is no datum \"%.80s\"", json_string_value(id));
  *access = (ProblemAccess){.datum = (int)json_integer_value(index)};
  if (over && !read_over(r, over, access, place)) return false;
  if (!how) return true;
  snprintf(path, sizeof path, "%s.access", place);
  if (json_is_array(how)) return read_chunk_lists(r, how, op, access, path);
  if (json_is_string(how) && !strcmp(json_string_value(how), "row"))
    access->kind = PROBLEM_ACCESS_ROW;
  else if (json_is_string(how) && !strcmp(json_string_value(how), "all"))
    access->kind = PROBLEM_ACCESS_ALL;
  else
    return fail(r, path, "expected \"row\", \"all\" or a list of lists");
  return true;
}

static bool read_accesses(Reader *r, const json_t *object, const char *key, bool is_write, const ProblemOp *op, const char *place,
                          ProblemAccess **result, int *count) {
  const json_t *list = json_object_get(object, key);
  if (!list) return true;
  char path[128];
  snprintf(path, sizeof path, "%s.%s", place, key);
  if (!want_kind(r, list, JSON_ARRAY, "a list", path)) return false;
  *count = (int)json_array_size(list);
  *result = arena_alloc(r->arena, (size_t)*count * sizeof(ProblemAccess) + 1);
  for (int i = 0; i < *count; i++) {
    snprintf(path, sizeof path, "%s.%s[%d]", place, key, i);
    if (!read_access(r, json_array_get(list, (size_t)i), is_write, op, &(*result)[i], path)) return false;
  }
  return true;
}

static bool read_stage(Reader *r, json_t *object, const char *place, Chunked of, ProblemStage *stage) {
  static const char *const keys[] = {"ch", "ns", "bytes", NULL};
  const char *name;
  if (!want_kind(r, object, JSON_OBJECT, "an object", place) || !known_keys(r, object, keys, place) ||
      !read_id(r, object, "ch", place, &name))
    return false;
  bool has_ns = json_object_get(object, "ns"), has_bytes = json_object_get(object, "bytes");
  if (has_ns == has_bytes) return fail(r, place, "expected exactly one of \"ns\" and \"bytes\"");
  stage->is_bytes = has_bytes;
  if (!read_amounts(r, object, has_ns ? "ns" : "bytes", place, of, &stage->amount, &stage->chunk_amounts)) return false;
  const Problem *p = r->problem;
  int lane = 0;
  while (lane < p->lane_count && strcmp(p->lanes[lane].name, name)) lane++;
  if (lane == p->lane_count || (lane != LANE_COMPUTE && !p->lanes[lane].is_present)) return fail(r, place, "hardware.channels has no \"%.60s\"", name);
  if (lane == LANE_COMPUTE && has_bytes) return fail(r, place, "a compute stage has \"ns\", not \"bytes\"");
  stage->lane = lane;
  return true;
}

static bool read_variant(Reader *r, json_t *object, const char *place, Chunked of, ProblemVariant *variant) {
  static const char *const keys[] = {"name", "stages", "work", "host_work", NULL};
  char path[160];
  if (!want_kind(r, object, JSON_OBJECT, "an object", place) || !known_keys(r, object, keys, place) ||
      !read_id(r, object, "name", place, &variant->name) ||
      !read_int(r, object, "work", 0, INT64_MAX, 0, false, place, &variant->work_bytes) ||
      !read_int(r, object, "host_work", 0, INT64_MAX, 0, false, place, &variant->host_work_bytes))
    return false;
  const json_t *stages = json_object_get(object, "stages");
  snprintf(path, sizeof path, "%s.stages", place);
  if (!want_kind(r, stages, JSON_ARRAY, "a list", path)) return false;
  variant->stage_count = (int)json_array_size(stages);
  if (variant->stage_count == 0 || variant->stage_count > 64) return fail(r, path, "expected 1 to 64 stages");
  variant->stages = arena_alloc(r->arena, (size_t)variant->stage_count * sizeof(ProblemStage));
  for (int i = 0; i < variant->stage_count; i++) {
    snprintf(path, sizeof path, "%s.stages[%d]", place, i);
    if (!read_stage(r, json_array_get(stages, (size_t)i), path, of, &variant->stages[i])) return false;
    if (variant->stages[i].lane == LANE_COMPUTE && i > 0)
      return fail(r, path, "a compute stage comes first (S6)");
  }
  return true;
}

static bool read_variants(Reader *r, const json_t *object, const char *place, ProblemOp *op) {
  char path[128];
  const json_t *list = json_object_get(object, "variants");
  const Chunked of = {"op", op->chunks};
  if (!list) {
    op->variant_count = 1;
    op->variants = arena_alloc(r->arena, sizeof(ProblemVariant));
    op->variants[0] = (ProblemVariant){.name = "default", .stage_count = 1};
    op->variants[0].stages = arena_alloc(r->arena, sizeof(ProblemStage));
    ProblemStage *stage = &op->variants[0].stages[0];
    stage->lane = LANE_COMPUTE;
    return read_amounts(r, object, "ns", place, of, &stage->amount, &stage->chunk_amounts) &&
           read_int(r, object, "work", 0, INT64_MAX, 0, false, place, &op->variants[0].work_bytes);
  }
  if (json_object_get(object, "ns") || json_object_get(object, "work"))
    return fail(r, place, "\"variants\" and \"ns\" or \"work\" exclude each other");
  snprintf(path, sizeof path, "%s.variants", place);
  if (!want_kind(r, list, JSON_ARRAY, "a list", path)) return false;
  op->variant_count = (int)json_array_size(list);
  if (op->variant_count == 0 || op->variant_count > 64) return fail(r, path, "expected 1 to 64 variants");
  op->variants = arena_alloc(r->arena, (size_t)op->variant_count * sizeof(ProblemVariant));
  for (int v = 0; v < op->variant_count; v++) {
    snprintf(path, sizeof path, "%s.variants[%d]", place, v);
    if (!read_variant(r, json_array_get(list, (size_t)v), path, of, &op->variants[v])) return false;
    for (int w = 0; w < v; w++)
      if (!strcmp(op->variants[v].name, op->variants[w].name))
        return fail(r, path, "the name \"%.60s\" is already variants[%d]", op->variants[v].name, w);
  }
  return true;
}

static bool read_op(Reader *r, json_t *object, size_t index) {
  static const char *const keys[] = {"id", "phase", "chunks", "reads", "writes", "recompute", "ns", "work",
                                     "variants", NULL};
  static const char *const phases[] = {"fwd", "bwd", "opt"};
  char place[64], path[96];
  snprintf(place, sizeof place, "ops[%zu]", index);
  ProblemOp op = {0};
  const char *phase;
  int64_t chunks;
  if (!want_kind(r, object, JSON_OBJECT, "an object", place) || !known_keys(r, object, keys, place) ||
      !read_id(r, object, "id", place, &op.id) || !read_id(r, object, "phase", place, &phase) ||
      !read_int(r, object, "chunks", 1, PROBLEM_MAX_STEPS, 1, false, place, &chunks))
    return false;
  op.chunks = (int)chunks;
  int f = 0;
  while (f < 3 && strcmp(phases[f], phase)) f++;
  if (f == 3) {
    snprintf(path, sizeof path, "%s.phase", place);
    return fail(r, path, "\"%.40s\" is not a phase; expected fwd, bwd or opt", phase);
  }
  op.phase = (ProblemPhase)f;
  if (json_object_get(r->op_ids, op.id)) {
    snprintf(path, sizeof path, "%s.id", place);
    return fail(r, path, "\"%.80s\" is already ops[%lld]", op.id,
                (long long)json_integer_value(json_object_get(r->op_ids, op.id)));
  }
  json_object_set_new(r->op_ids, op.id, json_integer(r->problem->op_count));
  if (!read_bool(r, object, "recompute", op.phase == PROBLEM_PHASE_FORWARD, place, &op.can_recompute) ||
      !read_accesses(r, object, "reads", false, &op, place, &op.reads, &op.read_count) ||
      !read_accesses(r, object, "writes", true, &op, place, &op.writes, &op.write_count) ||
      !read_variants(r, object, place, &op))
    return false;
  ARENA_PUSH(r->arena, r->problem->ops, r->problem->op_count, op);
  return true;
}

static bool read_order(Reader *r, json_t *root) {
  const json_t *list = json_object_get(root, "order");
  Problem *p = r->problem;
  if (!list) return true;
  if (!want_kind(r, list, JSON_ARRAY, "a list", "order")) return false;
  size_t count = json_array_size(list);
  if (count > PROBLEM_MAX_STEPS) return fail(r, "order", "more than %d steps", PROBLEM_MAX_STEPS);
  p->order = arena_alloc(r->arena, 2 * count * sizeof(int) + 1);
  p->order_count = (int)count;
  for (size_t i = 0; i < count; i++) {
    const json_t *pair = json_array_get(list, i);
    const json_t *id = json_array_get(pair, 0), *chunk = json_array_get(pair, 1);
    char place[64];
    snprintf(place, sizeof place, "order[%zu]", i);
    if (!json_is_array(pair) || json_array_size(pair) != 2 || !json_is_string(id) || !json_is_integer(chunk))
      return fail(r, place, "expected [op id, chunk]");
    const json_t *op = json_object_get(r->op_ids, json_string_value(id));
    if (!op) return fail(r, place, "there is no op \"%.80s\"", json_string_value(id));
    p->order[2 * i] = (int)json_integer_value(op);
    json_int_t k = json_integer_value(chunk);
    if (k < 0 || k >= p->ops[p->order[2 * i]].chunks)
      return fail(r, place, "chunk %lld of op \"%.80s\", which has %d", (long long)k, json_string_value(id),
                  p->ops[p->order[2 * i]].chunks);
    p->order[2 * i + 1] = (int)k;
  }
  return true;
}

static bool read_root(Reader *r, json_t *root) {
  static const char *const keys[] = {"format", "name", "hardware", "data", "ops", "order", "meta", NULL};
  const char *format;
  if (!want_kind(r, root, JSON_OBJECT, "an object", "") || !read_id(r, root, "format", "", &format)) return false;
  if (strcmp(format, "gnncc-problem/1"))
    return fail(r, "format", "expected \"gnncc-problem/1\", found \"%.60s\"", format);
  if (!known_keys(r, root, keys, "") || !read_id(r, root, "name", "", &r->problem->name) || !read_hardware(r, root))
    return false;
  json_t *data = json_object_get(root, "data"), *ops = json_object_get(root, "ops");
  if (!want_kind(r, data, JSON_ARRAY, "a list", "data") || !want_kind(r, ops, JSON_ARRAY, "a list", "ops"))
    return false;
  for (size_t i = 0; i < json_array_size(data); i++)
    if (!read_datum(r, json_array_get(data, i), i)) return false;
  for (size_t i = 0; i < json_array_size(ops); i++)
    if (!read_op(r, json_array_get(ops, i), i)) return false;
  return read_order(r, root);
}

Problem *problem_read_json(Arena *arena, const char *text, size_t length, ProblemError *error) {
  json_t *root = json_text_load(text, length, error->place, sizeof error->place, error->text, sizeof error->text);
  if (!root) return NULL;
  Reader reader = {.arena = arena, .problem = problem_new(arena), .error = error, .datum_ids = json_object(),
                   .op_ids = json_object()};
  bool ok = read_root(&reader, root);
  json_decref(reader.datum_ids);
  json_decref(reader.op_ids);
  json_decref(root);
  return ok && problem_expand(reader.problem, arena, error) ? reader.problem : NULL;
}
