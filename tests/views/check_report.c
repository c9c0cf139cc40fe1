/* check_report report|trace|svg FILE [REPORT]: does a gnncc-report/1 keep the schema of docs/formats.md and do its sums
 * agree; does a trace keep Perfetto's rules; is a drawing well-formed, and does it draw the times of the report? Shares no
 * code with the views. Prints what is wrong; the status is 0 when nothing is. */
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int faults;

static void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void fault(const char *format, ...) {
  va_list args;
  if (faults++ > 20) return;
  va_start(args, format);
  vprintf(format, args);
  printf("\n");
  va_end(args);
}

static void close_to(double a, double b, double scale, const char *what) {
  if (!(fabs(a - b) <= 2e-8 * fabs(scale) + 1e-12)) fault("%s: %.12g is not %.12g", what, a, b);
}

/* ---- the schema ---- */

/* t text, n number, i whole number of at least 0, b boolean, o object, l list, m list of texts; a capital letter: may be absent. */
typedef struct Member {
  const char *key;
  char type;
} Member;

static const Member whole_members[] = {{"format", 't'}, {"generator", 't'}, {"model", 't'}, {"data", 't'}, {"target", 't'}, {"fingerprint", 't'}, {"model_fingerprint", 'T'}, {"figures", 't'}, {"fits", 'b'},
                                       {"machine", 'o'}, {"tiers", 'o'}, {"epoch", 'o'}, {"training_steps", 'i'}, {"peak_step", 'i'}, {"lanes", 'l'}, {"notes", 'm'}, {"source", 'o'}, {"cut", 'O'}, {"layers", 'L'}, {"ranks", 'O'},
                                       {"instead", 'O'}, {"advice", 'O'}, {"sweep", 'O'}, {"measured", 'O'}, {"code", 'L'}, {"values", 'l'}, {"blocks", 'l'}, {"homes", 'l'}, {"memory", 'l'}, {"steps", 'l'}, {"once", 'L'}, {"plan", 'P'}, {0}};
static const Member layer_members[] = {{"layer", 't'}, {"pass", 't'}, {"line", 'i'}, {"mode", 't'}, {"sums", 'i'}, {"pieces", 'i'}, {"host_out_bytes", 'i'}, {"host_in_bytes", 'i'}, {"ssd_out_bytes", 'i'},
                                       {"ssd_in_bytes", 'i'}, {"net_bytes", 'I'}, {"transfer_seconds", 'n'}, {"wait_seconds", 'n'}, {"slowed_seconds", 'N'}, {0}};
static const Member step_members[] = {{"step", 'i'}, {"lane", 't'}, {"phase", 't'}, {"kernel", 't'}, {"what", 't'}, {"line", 'i'}, {"start_seconds", 'n'}, {"seconds", 'n'}, {"bytes", 'i'},
                                      {"device_bytes", 'i'}, {"host_bytes", 'i'}, {"ssd_bytes", 'i'}, {"decided_by", 'i'}, {"flops", 'N'}, {"reads", 'M'}, {"writes", 'M'}, {"frees", 'M'},
                                      {"value", 'T'}, {"volume_bytes", 'I'}, {"variant", 'T'}, {"waits_for", 'I'}, {"after", 'L'}, {"to", 'T'}, {"from", 'T'}, {"group", 'T'}, {"part", 'I'}, {"slice", 'I'}, {"layer", 'T'}, {0}};
static const Member value_members[] = {{"value", 't'}, {"what", 't'}, {"line", 'i'}, {"bytes", 'i'}, {"fate", 't'}, {"adds_seconds", 'n'}, {"pinned", 'b'}, {"alternatives", 'l'}, {"group", 'T'}, {"part", 'I'}, {"slice", 'I'}, {0}};
static const Member alternative_members[] = {{"fate", 't'}, {"fits", 'b'}, {"adds_seconds", 'N'}, {"over_bytes", 'I'}, {"short_of", 'T'}, {0}};
static const Member block_members[] = {{"name", 't'}, {"kind", 't'}, {"tier", 't'}, {"offset", 'i'}, {"bytes", 'i'}, {"first_step", 'i'}, {"last_step", 'i'}, {"value", 'T'}, {"line", 'I'}, {"how", 'T'}, {"group", 'T'}, {"part", 'I'}, {"slice", 'I'}, {0}};
static const Member home_members[] = {{"value", 't'}, {"tier", 't'}, {"bytes", 'i'}, {"first_step", 'i'}, {"last_step", 'i'}, {"extents", 'l'}, {"group", 'T'}, {"part", 'I'}, {"slice", 'I'}, {0}};
static const Member memory_members[] = {{"first_step", 'i'}, {"step", 'i'}, {"start_seconds", 'n'}, {"end_seconds", 'n'}, {"device_bytes", 'i'}, {"host_bytes", 'i'}, {"ssd_bytes", 'i'}, {"gaps", 'i'}, {"graph", 'i'},
                                        {"features", 'i'}, {"weights", 'i'}, {"optimizer", 'i'}, {"activation", 'i'}, {"gradient", 'i'}, {"scratch", 'i'}, {0}};
static const Member lane_members[] = {{"lane", 't'}, {"steps", 'i'}, {"busy_seconds", 'n'}, {"wait_seconds", 'n'}, {"idle_seconds", 'n'}, {0}};
static const Member bound_members[] = {{"lane", 't'}, {"busy_seconds", 'n'}, {"ratio", 'n'}, {0}};
static const Member link_members[] = {{"lane", 't'}, {"bandwidth", 'n'}, {"latency_seconds", 'n'}, {0}};
static const Member point_members[] = {{"budget_bytes", 'i'}, {"other_budget_bytes", 'I'}, {"fits", 'b'}, {"needs_bytes", 'I'}, {"seconds", 'N'}, {"versus_best", 'N'}, {"kept", 'I'}, {"host", 'I'}, {"ssd", 'I'}, {"recomputed", 'I'}, {"mode", 'T'}, {"sketched", 'B'}, {0}};

static bool is_of_type(const json_t *node, char type) {
  size_t i;
  json_t *item;
  switch (type) {
  case 't': return json_is_string(node);
  case 'n': return json_is_number(node) && isfinite(json_number_value(node));
  case 'i': return json_is_integer(node) && json_integer_value(node) >= 0;
  case 'b': return json_is_boolean(node);
  case 'o': return json_is_object(node);
  case 'p': return json_is_object(node) || json_is_null(node);
  case 'l': return json_is_array(node);
  default: break;
  }
  if (!json_is_array(node)) return false;
  json_array_foreach((json_t *)node, i, item) if (!json_is_string(item)) return false;
  return true;
}

static void check_members(const json_t *object, const Member *members, const char *where, size_t index) {
  const char *key;
  json_t *node;
  for (const Member *m = members; m->key; m++) {
    node = json_object_get(object, m->key);
    if (!node && isupper((unsigned char)m->type)) continue;
    if (!node || !is_of_type(node, (char)tolower(m->type))) fault("%s[%zu].%s is not of type %c", where, index, m->key, m->type);
  }
  json_object_foreach((json_t *)object, key, node) {
    const Member *m = members;
    while (m->key && strcmp(m->key, key) != 0) m++;
    if (!m->key) fault("%s[%zu] has a member %s that the schema does not know", where, index, key);
  }
}

static void check_list(const json_t *list, const Member *members, const char *where) {
  size_t i;
  json_t *item;
  json_array_foreach((json_t *)list, i, item) check_members(item, members, where, i);
}

static void check_schema(const json_t *root) {
  check_members(root, whole_members, "report", 0);
  if (strcmp(json_string_value(json_object_get(root, "format")), "gnncc-report/1") != 0) fault("the format is another");
  const struct { const char *key; const Member *members; } lists[] = {{"steps", step_members}, {"once", step_members}, {"values", value_members}, {"blocks", block_members}, {"homes", home_members}, {"memory", memory_members}, {"lanes", lane_members}, {"layers", layer_members}};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) check_list(json_object_get(root, lists[i].key), lists[i].members, lists[i].key);
  check_list(json_object_get(json_object_get(root, "machine"), "links"), link_members, "machine.links");
  check_list(json_object_get(json_object_get(root, "sweep"), "points"), point_members, "sweep.points");
  size_t i;
  json_t *value;
  json_array_foreach(json_object_get(root, "values"), i, value) check_list(json_object_get(value, "alternatives"), alternative_members, "alternatives");
}

/* ---- the sums ---- */

static double num(const json_t *o, const char *key) { return json_number_value(json_object_get(o, key)); }
static long long whole(const json_t *o, const char *key) { return (long long)json_integer_value(json_object_get(o, key)); }
static const char *str(const json_t *o, const char *key) {
  const char *text = json_string_value(json_object_get(o, key));
  return text ? text : "";
}
static double ends(const json_t *step) { return num(step, "start_seconds") + num(step, "seconds"); }

/* Where the device reaches the SSD itself, a value passes two hops that cost nothing, each rounded up to a nanosecond. */
static void follows(double end, double start, double scale) {
  enum { HOPS_NS = 5 };
  if (start < end || start > end + 1e-9 * HOPS_NS) close_to(end, start, scale, "a step starts when that one ends which decided it");
}

static void check_epoch(const json_t *root) {
  const json_t *epoch = json_object_get(root, "epoch"), *lane, *value;
  double seconds = num(epoch, "seconds"), adds = 0;
  size_t i;
  if (whole(root, "training_steps") == 0) return;
  json_array_foreach(json_object_get(root, "values"), i, value) adds += num(value, "adds_seconds");
  if (json_object_get(epoch, "net_wait_seconds")) adds += num(epoch, "net_wait_seconds"); /* which no fate makes */
  close_to(adds, seconds - num(epoch, "compute_seconds"), seconds, "what the fates add is the epoch less that of keeping everything");
  close_to(num(epoch, "compute_seconds") + num(epoch, "recompute_seconds") + num(epoch, "wait_seconds") + num(epoch, "slowed_seconds"), seconds, seconds, "compute, recompute, waits and what copies slow down make the epoch");
  json_array_foreach(json_object_get(root, "lanes"), i, lane) {
    close_to(num(lane, "busy_seconds") + num(lane, "wait_seconds") + num(lane, "idle_seconds"), seconds, seconds, "a lane's times make the epoch");
    if (num(lane, "idle_seconds") < 0) fault("lane %s idles %g s", str(lane, "lane"), num(lane, "idle_seconds"));
    if (strcmp(str(lane, "lane"), "compute") == 0) close_to(num(lane, "busy_seconds") + num(lane, "wait_seconds"), seconds, seconds, "the compute lane's times and waits make the epoch");
  }
}

/* By their steps; of a program that moves something or makes it again it is said which is busy longest. */
static void check_bound(const json_t *root) {
  const json_t *epoch = json_object_get(root, "epoch"), *told = json_object_get(epoch, "bound"), *lane, *step;
  const long long training_steps = whole(root, "training_steps");
  double seconds = num(epoch, "seconds"), most = 0, told_busy = 0;
  bool is_wanted = false;
  size_t i, k;
  json_array_foreach(json_object_get(root, "lanes"), i, lane) {
    double busy = 0, waiting = 0;
    json_array_foreach(json_object_get(root, "steps"), k, step) {
      if (strcmp(str(step, "lane"), str(lane, "lane")) != 0 || (training_steps && whole(step, "step") > training_steps)) continue;
      *(json_object_get(step, "waits_for") ? &waiting : &busy) += num(step, "seconds");
      is_wanted |= training_steps && (strcmp(str(step, "phase"), "move") == 0 || strcmp(str(step, "phase"), "exchange") == 0 || strcmp(str(step, "phase"), "recompute") == 0);
    }
    close_to(busy, num(lane, "busy_seconds"), seconds, "a lane is busy with its steps");
    close_to(waiting, num(lane, "wait_seconds"), seconds, "a lane waits in its steps");
    if (busy > most) most = busy;
    if (told && strcmp(str(told, "lane"), str(lane, "lane")) == 0) told_busy = busy;
  }
  if (!json_object_get(root, "model_fingerprint")) is_wanted = false; /* of a planning problem nothing is said */
  if (is_wanted != (told != NULL)) fault("something is moved or made again: %d, and a bound is told: %d", is_wanted, told != NULL);
  if (!told) return;
  check_members(told, bound_members, "epoch.bound", 0);
  close_to(told_busy, most, seconds, "the lane that binds is busy longest");
  close_to(num(told, "busy_seconds"), most, seconds, "the bound is what it is busy");
  close_to(num(told, "ratio") * most, seconds, seconds, "the epoch is so many times the bound");
}

/* Each copy counts with one layer. */
static void check_layers(const json_t *root) {
  static const char *const sums[] = {"host_out_bytes", "host_in_bytes", "ssd_out_bytes", "ssd_in_bytes", "transfer_seconds", "wait_seconds", "slowed_seconds"};
  const json_t *layers = json_object_get(root, "layers"), *epoch = json_object_get(root, "epoch"), *layer, *cut = json_object_get(root, "cut");
  size_t i;
  if (!layers && (whole(cut, "parts") > 1 || whole(cut, "slices") > 1)) fault("a program that is cut, and nothing is said of its layers");
  if (!layers || whole(root, "training_steps") == 0) return;
  for (size_t k = 0; k < sizeof sums / sizeof sums[0]; k++) {
    double sum = 0;
    json_array_foreach(layers, i, layer) sum += num(layer, sums[k]);
    const double rounded = 0.05 * (double)json_array_size(layers); /* of which each has its own times, in whole nanoseconds */
    close_to(sum, num(epoch, sums[k]), k < 4 ? num(epoch, sums[k]) : num(epoch, "seconds") + rounded, sums[k]);
  }
}

/* Of an optimal plan no value would add less with another fate. */
static void check_alternatives(const json_t *root) {
  const json_t *value, *other;
  size_t i, k;
  if (!json_is_true(json_object_get(json_object_get(root, "epoch"), "is_optimal"))) return;
  json_array_foreach(json_object_get(root, "values"), i, value) json_array_foreach(json_object_get(value, "alternatives"), k, other)
    if (json_is_true(json_object_get(other, "fits")) && num(other, "adds_seconds") < num(value, "adds_seconds") - 1e-8)
      fault("%s adds %g s, and would add %g with the fate %s", str(value, "value"), num(value, "adds_seconds"), num(other, "adds_seconds"), str(other, "fate"));
}

/* Another plan is told of where it is another. */
static void check_instead(const json_t *root) {
  const json_t *instead = json_object_get(root, "instead"), *keep = json_object_get(instead, "keep_everything"), *again = json_object_get(instead, "recompute_everything");
  if (again && whole(again, "bytes") >= whole(keep, "bytes")) fault("recomputing everything needs %lld bytes, keeping it %lld", whole(again, "bytes"), whole(keep, "bytes"));
}

/* Nothing is advised that does not help, or that the plan needs not. */
static void check_advice(const json_t *root) {
  static const Member advice_members[] = {{"keeps_everything", 'b'}, {"text", 'T'}, {"list", 'l'}, {0}};
  static const Member item_members[] = {{"write", 't'}, {"where", 't'}, {"gives", 't'}, {"seconds", 'n'}, {"device_bytes", 'I'}, {0}};
  const json_t *advice = json_object_get(root, "advice"), *item;
  const double now = num(json_object_get(root, "epoch"), json_integer_value(json_object_get(root, "training_steps")) > 0 ? "seconds" : "evaluation_seconds");
  size_t i;
  if (!advice) return;
  check_members(advice, advice_members, "advice", 0);
  json_array_foreach(json_object_get(advice, "list"), i, item) {
    check_members(item, item_members, "advice.list", i);
    if (!(num(item, "seconds") < now)) fault("advice.list[%zu]: %s takes %g s, and this plan %g", i, str(item, "write"), num(item, "seconds"), now);
    if (json_is_true(json_object_get(advice, "keeps_everything")) && strncmp(str(item, "write"), "--budget", 8) == 0) fault("advice.list[%zu]: everything is kept, and more memory advised", i);
  }
}

static void check_memory(const json_t *root) {
  static const char *const kinds[] = {"graph", "features", "weights", "optimizer", "activation", "gradient", "scratch"};
  const json_t *row, *steps = json_object_get(root, "steps"), *device = json_object_get(json_object_get(root, "tiers"), "device");
  long long most = 0, peak = 0, gaps = 0;
  size_t i;
  json_array_foreach(json_object_get(root, "memory"), i, row) {
    long long sum = 0;
    for (int k = 0; k < 7; k++) sum += whole(row, kinds[k]);
    if (sum != whole(row, "device_bytes")) fault("memory[%zu]: the kinds sum to %lld, not %lld", i, sum, whole(row, "device_bytes"));
    if (sum > most) most = sum;
    if (sum + whole(row, "gaps") > peak) peak = sum + whole(row, "gaps");
    if (whole(row, "step") == whole(root, "peak_step")) gaps = whole(row, "gaps");
    const json_t *step = json_array_get(steps, (size_t)whole(row, "step") - 1);
    if (whole(step, "device_bytes") != sum) fault("memory[%zu]: step %lld says %lld", i, whole(row, "step"), whole(step, "device_bytes"));
  }
  if (json_array_size(json_object_get(root, "memory")) == 0) return;
  if (most != whole(device, "lower_bound_bytes")) fault("the most that is alive, %lld, is not the lower bound %lld", most, whole(device, "lower_bound_bytes"));
  const char *const others[] = {"host", "ssd"}, *const alive[] = {"host_bytes", "ssd_bytes"};
  for (int t = 0; t < 2; t++) {
    const json_t *tier = json_object_get(json_object_get(root, "tiers"), others[t]);
    json_array_foreach(json_object_get(root, "memory"), i, row)
      if (whole(row, alive[t]) > whole(tier, "peak_bytes")) fault("memory[%zu]: %lld bytes on %s, whose peak is %lld", i, whole(row, alive[t]), others[t], whole(tier, "peak_bytes"));
    if (whole(tier, "peak_bytes") > whole(tier, "budget_bytes")) fault("the peak of %s is above its budget", others[t]);
  }
  long long alive_at_peak = whole(json_array_get(steps, (size_t)whole(root, "peak_step") - 1), "device_bytes");
  json_array_foreach(json_object_get(root, "memory"), i, row)
    if (whole(row, "device_bytes") + whole(row, "gaps") == peak && whole(row, "device_bytes") > alive_at_peak) fault("at step %lld, too, is the peak, and more is alive than at the peak step", whole(row, "step"));
  const char *highest = json_object_get(device, "epoch_bytes") ? "epoch_bytes" : "peak_bytes"; /* there may be more before the first epoch */
  if (peak != whole(device, highest)) fault("the skyline's maximum %lld is not the peak %lld", peak, whole(device, highest));
  if (whole(device, highest) > whole(device, "peak_bytes")) fault("%lld is above the peak", whole(device, highest));
  if (whole(json_array_get(steps, (size_t)whole(root, "peak_step") - 1), "device_bytes") + gaps != peak) fault("the peak is not at the peak step");
}

/* Nothing lies where something else is. */
static void check_addresses(const json_t *root) {
  const json_t *blocks = json_object_get(root, "blocks");
  size_t count = json_array_size(blocks);
  for (size_t i = 0; i < count; i++)
    for (size_t k = i + 1; k < count; k++) {
      const json_t *a = json_array_get(blocks, i), *b = json_array_get(blocks, k);
      bool in_time = whole(a, "first_step") <= whole(b, "last_step") && whole(b, "first_step") <= whole(a, "last_step");
      bool in_space = whole(a, "offset") < whole(b, "offset") + whole(b, "bytes") && whole(b, "offset") < whole(a, "offset") + whole(a, "bytes");
      if (in_time && in_space) fault("%s and %s are in one place at one time", str(a, "name"), str(b, "name"));
    }
}

static void check_steps(const json_t *root) {
  const json_t *steps = json_object_get(root, "steps"), *step;
  double seconds = num(json_object_get(root, "epoch"), "seconds");
  size_t i;
  json_array_foreach((json_t *)steps, i, step) {
    if (whole(step, "step") != (long long)i + 1) fault("steps[%zu] has another number", i);
    const json_t *waited = json_array_get(steps, (size_t)whole(step, "waits_for") - 1), *decided = json_array_get(steps, (size_t)whole(step, "decided_by") - 1);
    if (whole(step, "waits_for") && num(step, "seconds") > 0) close_to(ends(step), ends(waited), seconds, "a wait ends when what it waits for ends");
    if (whole(step, "decided_by")) follows(ends(decided), num(step, "start_seconds"), seconds);
    else if (num(step, "start_seconds") > 0) fault("nothing decided when step %zu starts", i + 1);
    bool is_wait = strcmp(str(step, "phase"), "wait") == 0, is_move = strcmp(str(step, "phase"), "move") == 0;
    if (is_wait != (json_object_get(step, "waits_for") != NULL)) fault("step %zu waits for nothing", i + 1);
    if (is_move != (json_object_get(step, "to") != NULL)) fault("step %zu moves nowhere", i + 1);
  }
}

/* Those of a value are all there, each once; of a problem, those that something becomes of. */
static void check_pieces(const json_t *root) {
  const json_t *values = json_object_get(root, "values"), *value, *other;
  size_t i, k;
  json_array_foreach((json_t *)values, i, value) {
    const char *group = str(value, "group");
    long long parts = 0, slices = 0, pieces = 0;
    if (!*group) continue;
    json_array_foreach((json_t *)values, k, other) {
      if (strcmp(str(other, "group"), group) != 0) continue;
      if (k != i && whole(other, "part") == whole(value, "part") && whole(other, "slice") == whole(value, "slice")) fault("%s and %s are the same piece", str(value, "value"), str(other, "value"));
      parts = whole(other, "part") > parts ? whole(other, "part") : parts;
      slices = whole(other, "slice") > slices ? whole(other, "slice") : slices;
      pieces++;
    }
    if (json_object_get(root, "cut") && pieces != (parts ? parts : 1) * (slices ? slices : 1)) fault("%s has %lld pieces, of %lld parts and %lld slices", group, pieces, parts, slices);
  }
}

static int check_report(const json_t *root) {
  check_schema(root);
  check_epoch(root);
  check_bound(root);
  check_layers(root);
  check_alternatives(root);
  check_instead(root);
  check_advice(root);
  check_memory(root);
  check_addresses(root);
  check_steps(root);
  check_pieces(root);
  printf("%zu steps, %zu values, %zu blocks\n", json_array_size(json_object_get(root, "steps")), json_array_size(json_object_get(root, "values")), json_array_size(json_object_get(root, "blocks")));
  return faults != 0;
}

/* ---- the trace ---- */

static bool is_phase(const json_t *event, const char *phase) { return strcmp(str(event, "ph"), phase) == 0; }

static bool is_in_a_slice(const json_t *events, const json_t *flow) {
  const json_t *event;
  size_t i;
  json_array_foreach((json_t *)events, i, event) {
    if (!is_phase(event, "X") || whole(event, "tid") != whole(flow, "tid") || whole(event, "pid") != whole(flow, "pid")) continue;
    if (num(flow, "ts") >= num(event, "ts") - 1e-3 && num(flow, "ts") <= num(event, "ts") + num(event, "dur") + 1e-3) return true;
  }
  return false;
}

/* Which piece it is stands in the arguments, not in the name. */
static void check_piece(const json_t *event, const json_t *step) {
  const json_t *args = json_object_get(event, "args");
  const char *group = str(step, "group"), *name = str(event, "name");
  if (whole(args, "part") != whole(step, "part") || whole(args, "slice") != whole(step, "slice")) fault("the trace has another piece than step %lld", whole(step, "step"));
  if (*group ? !strstr(name, group) || strchr(name, '[') : strcmp(name, str(step, "what")) != 0) fault("step %lld is called %s", whole(step, "step"), name);
}

static int check_trace(const json_t *root, const json_t *report) {
  const json_t *events = json_object_get(root, "traceEvents"), *event;
  enum { TRACKS = 64, FLOWS = 4096 };
  double end[TRACKS] = {0}, longest = num(json_object_get(report, "epoch"), "seconds");
  char flows[FLOWS] = {0};
  size_t i, slices = 0, wanted = 0;
  json_array_foreach((json_t *)events, i, event) {
    if (is_phase(event, "X")) {
      long long track = whole(event, "pid") * 16 + whole(event, "tid");
      if (track < 0 || track >= TRACKS || num(event, "dur") < 0) fault("event %zu: no such track, or a negative time", i);
      else if (num(event, "ts") < end[track] - 1e-4) fault("event %zu begins at %.4f, before %.4f, where the one before it ends", i, num(event, "ts"), end[track]);
      else end[track] = num(event, "ts") + num(event, "dur");
      slices += whole(event, "pid") == 1;
      check_piece(event, json_array_get(json_object_get(report, "steps"), (size_t)whole(json_object_get(event, "args"), "step") - 1));
    } else if (is_phase(event, "s") || is_phase(event, "f")) {
      long long id = whole(event, "id");
      if (id <= 0 || id >= FLOWS) fault("event %zu: no such flow", i);
      else flows[id] += is_phase(event, "s") ? 1 : 2;
      if (!is_in_a_slice(events, event)) fault("event %zu: an end of flow %lld lies in no slice", i, id);
    }
  }
  for (int id = 1; id < FLOWS; id++)
    if (flows[id] && flows[id] != 3) fault("flow %d has one end only", id);
  for (long long k = 0; k < whole(report, "training_steps"); k++) {
    const json_t *step = json_array_get(json_object_get(report, "steps"), (size_t)k);
    wanted += !json_object_get(step, "waits_for") || llround(1e9 * num(step, "seconds")) > 0;
  }
  if (slices != wanted) fault("%zu slices for %zu steps", slices, wanted);
  for (int t = 0; t < 32; t++)
    if (end[t] * 1e-6 > longest * (1 + 1e-6)) fault("track %d ends after the epoch", t);
  printf("%zu slices\n", slices);
  return faults != 0;
}

/* ---- drawings ---- */

static char *read_file(const char *path) {
  FILE *in = fopen(path, "rb");
  if (!in) return NULL;
  size_t capacity = 1 << 22, got;
  char *text = malloc(capacity);
  got = fread(text, 1, capacity - 1, in);
  text[got] = 0;
  fclose(in);
  return text;
}

/* Elements nest, attributes are quoted, entities are known; enough of XML for what we write. */
static void check_xml(const char *text) {
  enum { DEPTH = 64 };
  char open[DEPTH][32];
  int depth = 0;
  for (const char *at = text; *at;) {
    if (*at == '&') {
      static const char *const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#"};
      bool is_known = false;
      for (int i = 0; i < 5; i++) is_known = is_known || strncmp(at, known[i], strlen(known[i])) == 0;
      if (!is_known) fault("an unknown entity: %.20s", at);
      at++;
      continue;
    }
    if (*at != '<') {
      if (depth == 0 && !isspace((unsigned char)*at)) fault("text outside of the root: %.20s", at);
      at++;
      continue;
    }
    if (strncmp(at, "<!--", 4) == 0) {
      at = strstr(at, "-->");
      if (!at) { fault("a comment has no end"); return; }
      at += 3;
      continue;
    }
    bool is_end = at[1] == '/';
    const char *name = at + 1 + is_end, *stop = name;
    while (isalnum((unsigned char)*stop) || *stop == '-' || *stop == ':') stop++;
    int length = (int)(stop - name);
    char quote = 0;
    for (; *stop && (quote || *stop != '>'); stop++) {
      if (quote ? *stop == quote : *stop == '"' || *stop == '\'') quote = quote ? 0 : *stop;
      else if (*stop == '<') fault("a < within a tag: %.30s", at);
    }
    if (!*stop || length == 0 || length > 31) { fault("a tag without end or name: %.30s", at); return; }
    if (is_end) {
      if (depth == 0 || strlen(open[depth - 1]) != (size_t)length || strncmp(open[depth - 1], name, (size_t)length) != 0) { fault("</%.*s> ends nothing", length, name); return; }
      depth--;
    } else if (stop[-1] != '/') {
      if (depth == DEPTH) { fault("too deep"); return; }
      snprintf(open[depth++], sizeof open[0], "%.*s", length, name);
    }
    at = stop + 1;
  }
  if (depth) fault("<%s> is not closed", open[depth - 1]);
}

static const json_t *run_of(const json_t *report, long long number) {
  const json_t *run;
  size_t i;
  json_array_foreach(json_object_get(json_object_get(report, "measured"), "steps"), i, run)
    if (whole(run, "step") == number) return run;
  return NULL;
}

static const json_t *rank_of(const json_t *report, long number) {
  const json_t *rank;
  size_t i;
  json_array_foreach(json_object_get(json_object_get(report, "ranks"), "shown"), i, rank)
    if (whole(rank, "rank") == number) return rank;
  return NULL;
}

static double item(const json_t *of, const char *key, long long i) { return json_number_value(json_array_get(json_object_get(of, key), (size_t)i)); }

/* "rank 2, the slowest: computes 3.1 of 3.5 ms" is above its lanes; how many boxes are in these. */
static int check_rank_names(const char *svg, const json_t *report, long long steps) {
  const json_t *rank;
  const double epoch = num(json_object_get(report, "epoch"), "seconds"), per_second = epoch >= 10 ? 1 : epoch >= 1e-3 ? 1e3 : 1e6;
  size_t i;
  int wanted = 0;
  json_array_foreach(json_object_get(json_object_get(report, "ranks"), "shown"), i, rank) {
    char name[80];
    double end = 0;
    snprintf(name, sizeof name, ">rank %lld, the %s: computes ", whole(rank, "rank"), str(rank, "name"));
    const char *at = strstr(svg, name), *of = at ? strstr(at, " of ") : NULL;
    for (long long k = 0; k < steps; k++) {
      wanted += item(rank, "seconds", k) > 0;
      end = fmax(end, item(rank, "start_seconds", k) + item(rank, "seconds", k));
    }
    if (!of) fault("no lanes%s", name);
    else if (fabs(strtod(of + 4, NULL) / (end * per_second) - 1) > 0.006) fault("rank %lld ends at %g s, another time is told", whole(rank, "rank"), end);
  }
  return wanted;
}

/* Boxes named "step N" lie where the report has the step; those "measured", where its run had it; those "rank R, step N", where that rank has it. */
static void check_drawn(const char *svg, const json_t *report) {
  const json_t *steps = json_object_get(report, "steps"), *measured = json_object_get(report, "measured");
  double epoch = fmax(num(json_object_get(report, "epoch"), "seconds"), num(measured, "epoch_s"));
  int drawn = 0, wanted = 0;
  for (const char *at = svg; (at = strstr(at, "<title>")); at++) {
    char *rest = (char *)at + 7;
    const bool is_of_rank = strncmp(rest, "rank ", 5) == 0;
    const json_t *rank = is_of_rank ? rank_of(report, strtol(rest + 5, &rest, 10)) : NULL;
    if (is_of_rank && !rank) fault("a rank that the report does not show: %.12s", at + 7);
    if (is_of_rank) rest += strncmp(rest, ", ", 2) == 0 ? 2 : 0;
    if (strncmp(rest, "step ", 5) != 0) continue;
    long number = strtol(rest + 5, NULL, 10);
    const char *box = at, *end = strstr(at, "</title>"), *mark = strstr(at, ", measured</title>");
    while (box > svg && *box != '\n') box--;
    bool is_run = mark && end && mark < end;
    double x = 0, y = 0, width = 0;
    char role[32];
    const json_t *step = json_array_get(steps, (size_t)number - 1), *run = run_of(report, number);
    drawn++;
    if (sscanf(box, "\n<rect class=\"%31[a-z]\" x=\"%lf\" y=\"%lf\" width=\"%lf\"", role, &x, &y, &width) != 4) fault("the box of step %ld cannot be read", number);
    double start = (x - 96) / (960 - 96 - 16) * epoch, took = width / (960 - 96 - 16) * epoch;
    double start_wanted = rank ? item(rank, "start_seconds", number - 1) : is_run ? num(run, "start_s") : num(step, "start_seconds"), took_wanted = rank ? item(rank, "seconds", number - 1) : num(is_run ? run : step, "seconds");
    if (fabs(start - start_wanted) > epoch / 10000 || (width > 0.5 && fabs(took - took_wanted) > epoch / 10000)) fault("step %ld is drawn at another time", number);
    if ((strcmp(role, "wait") == 0) != (strcmp(str(step, "phase"), "wait") == 0)) fault("step %ld is drawn as %s", number, role);
  }
  for (long long k = 0; k < whole(report, "training_steps"); k++) {
    const json_t *step = json_array_get(steps, (size_t)k);
    double took = num(run_of(report, k + 1), "seconds");
    bool is_wait = strcmp(str(step, "phase"), "wait") == 0;
    wanted += (num(step, "seconds") > 0) + (took > 0 && (!is_wait || took >= num(measured, "epoch_s") / 1000));
  }
  wanted += check_rank_names(svg, report, whole(report, "training_steps"));
  if (drawn != wanted) fault("%d boxes for %d steps", drawn, wanted);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  json_t *report = argc > 3 ? json_load_file(argv[3], 0, NULL) : NULL, *root = NULL;
  if (strcmp(argv[1], "svg") == 0 || strcmp(argv[1], "xml") == 0) {
    char *text = read_file(argv[2]);
    if (!text) return 2;
    check_xml(text);
    if (report) check_drawn(text, report);
    free(text);
  } else {
    json_error_t error;
    root = json_load_file(argv[2], 0, &error);
    if (!root) fault("%s:%d: %s", argv[2], error.line, error.text);
    else if (strcmp(argv[1], "report") == 0) check_report(root);
    else check_trace(root, report);
  }
  json_decref(root);
  json_decref(report);
  return faults != 0;
}
