#include "generate.h"

#include "compiler/planner/geometry.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Writer {
  Arena *arena;
  const GenerateOptions *options;
  uint64_t random;
  char *data, *ops, *order; /* JSON lists without brackets */
  int steps;
  bool has_exchange;
} Writer;

const char *generate_family_name(Family family) {
  static const char *const names[FAMILY_COUNT] = {"chain", "residual", "unet", "transformer",
                                                  "gcn", "gat", "moe", "random"};
  return names[family];
}

uint64_t generate_draw(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

int generate_below(uint64_t *state, int n) {
  return (int)(generate_draw(state) % (uint64_t)n);
}

static int between(Writer *w, int low, int high) {
  return low + generate_below(&w->random, high - low + 1);
}

static void append(Writer *w, char **list, const char *item) {
  /* Doubling keeps long problems linear: the list carries its length in front. */
  typedef struct Growing {
    size_t length, capacity;
  } Growing;
  size_t add = strlen(item) + 3;
  Growing *head = *list ? (Growing *)(void *)(*list - sizeof(Growing)) : NULL;
  size_t length = head ? head->length : 0;
  if (!head || length + add + 1 > head->capacity) {
    size_t capacity = 2 * (length + add) + 4096;
    char *block = arena_alloc(w->arena, sizeof(Growing) + capacity);
    if (length) memcpy(block + sizeof(Growing), *list, length);
    *list = block + sizeof(Growing);
    head = (Growing *)(void *)block;
    head->capacity = capacity;
  }
  head->length = length + (size_t)sprintf(*list + length, "%s%s", length ? ",\n " : "", item);
}

static void datum(Writer *w, const char *id, int64_t bytes, int chunks, const char *extra) {
  append(w, &w->data, arena_printf(w->arena, "{\"id\": \"%s\", \"bytes\": %lld, \"chunks\": %d%s}", id,
                                   (long long)bytes, chunks, extra));
}

/* Of each chunk more than of the one before it. */
static const char *uneven(Writer *w, int64_t amount, int chunks) {
  char *list = arena_strdup(w->arena, "");
  for (int k = 0; k < chunks; k++) list = arena_printf(w->arena, "%s%s%lld", list, k ? ", " : "[", (long long)(amount * (2 * k + 1) / (chunks * chunks)));
  return arena_printf(w->arena, "%s]", list);
}

static void uneven_datum(Writer *w, const char *id, int64_t bytes, int chunks, const char *extra) {
  append(w, &w->data, arena_printf(w->arena, "{\"id\": \"%s\", \"bytes\": %s, \"chunks\": %d%s}", id, uneven(w, bytes, chunks), chunks, extra));
}

/* reads and writes: comma-separated quoted ids or objects. */
static void timed_op(Writer *w, const char *id, const char *phase, int chunks, const char *reads, const char *writes, const char *ns, const char *extra) {
  append(w, &w->ops,
         arena_printf(w->arena, "{\"id\": \"%s\", \"phase\": \"%s\", \"chunks\": %d, \"reads\": [%s], \"writes\": [%s], "
                      "\"ns\": %s%s}", id, phase, chunks, reads, writes, ns, extra));
}

static void op(Writer *w, const char *id, const char *phase, int chunks, const char *reads, const char *writes,
               int64_t ns, const char *extra) {
  timed_op(w, id, phase, chunks, reads, writes, arena_printf(w->arena, "%lld", (long long)ns), extra);
}

static void ordered(Writer *w, const char *id, int chunks, bool is_descending) {
  for (int k = 0; k < chunks; k++)
    append(w, &w->order, arena_printf(w->arena, "[\"%s\", %d]", id, is_descending ? chunks - 1 - k : k));
  w->steps += chunks;
}

#define TEXT(...) arena_printf(w->arena, __VA_ARGS__)

enum { UNIT = 1000000 }; /* bytes; an operator on one takes about 100 us */

static int64_t size(Writer *w) {
  return (int64_t)between(w, 6, 16) * UNIT / 10;
}

static int64_t cost(Writer *w) {
  return between(w, 40, 160) * 1000;
}

/* Forward layers x0 -> x1 -> ..., the loss, and the mirror; serpentine order. `skip` adds residual reads. */
static void chain(Writer *w, bool has_residuals) {
  int n = w->options->depth, c = w->options->chunks;
  datum(w, "x0", size(w) / 4, 1, ", \"home\": \"device\"");
  for (int i = 1; i <= n; i++) {
    datum(w, TEXT("x%d", i), size(w), c, "");
    datum(w, TEXT("g%d", i), UNIT / 2, c, "");
    datum(w, TEXT("dw%d", i), UNIT / 20, 1, ", \"final\": true");
  }
  int64_t *times = arena_alloc(w->arena, ((size_t)n + 1) * sizeof *times);
  for (int i = 1; i <= n; i++) {
    times[i] = cost(w);
    bool is_sum = has_residuals && i >= 3 && i % 2 == 1;
    op(w, TEXT("F%d", i), "fwd", c, is_sum ? TEXT("\"x%d\", \"x%d\"", i - 1, i - 2) : TEXT("\"x%d\"", i - 1),
       TEXT("\"x%d\"", i), times[i], TEXT(", \"work\": %d", UNIT / 20));
    ordered(w, TEXT("F%d", i), c, i % 2 == 0);
  }
  op(w, "L", "fwd", c, TEXT("\"x%d\"", n), TEXT("\"g%d\"", n), 30000, ", \"recompute\": false");
  ordered(w, "L", c, n % 2 == 1);
  for (int i = n; i >= 1; i--) {
    bool is_sum = has_residuals && i >= 3 && i % 2 == 1;
    const char *reads = is_sum ? TEXT("\"g%d\", \"x%d\", \"x%d\"", i, i - 1, i - 2) : TEXT("\"g%d\", \"x%d\"", i, i - 1);
    const char *dw = TEXT("{\"data\": \"dw%d\", \"access\": \"all\"}", i);
    op(w, TEXT("B%d", i), "bwd", c, reads, i > 1 ? TEXT("\"g%d\", %s", i - 1, dw) : dw, 2 * times[i], "");
    ordered(w, TEXT("B%d", i), c, i % 2 == 0);
  }
}

static void unet(Writer *w) {
  int n = w->options->depth, c = w->options->chunks;
  datum(w, "e0", size(w) / 4, 1, ", \"home\": \"device\"");
  for (int i = 1; i <= n; i++) {
    int64_t bytes = size(w) * (n + 2 - i) / (n + 1);
    datum(w, TEXT("e%d", i), bytes, c, "");
    datum(w, TEXT("d%d", i), bytes, c, "");
    datum(w, TEXT("ge%d", i), UNIT / 3, c, "");
    datum(w, TEXT("gd%d", i), UNIT / 3, c, "");
  }
  int64_t t[2] = {cost(w), cost(w)};
  for (int i = 1; i <= n; i++) {
    op(w, TEXT("E%d", i), "fwd", c, TEXT("\"e%d\"", i - 1), TEXT("\"e%d\"", i), t[i % 2], "");
    ordered(w, TEXT("E%d", i), c, i % 2 == 0);
  }
  for (int i = n; i >= 1; i--) {
    op(w, TEXT("D%d", i), "fwd", c, i < n ? TEXT("\"d%d\", \"e%d\"", i + 1, i) : TEXT("\"e%d\"", i), TEXT("\"d%d\"", i),
       t[i % 2], "");
    ordered(w, TEXT("D%d", i), c, i % 2 == 0);
  }
  op(w, "L", "fwd", c, "\"d1\"", "\"gd1\"", 30000, ", \"recompute\": false");
  ordered(w, "L", c, false);
  for (int i = 1; i <= n; i++) {
    op(w, TEXT("BD%d", i), "bwd", c, i < n ? TEXT("\"gd%d\", \"d%d\", \"e%d\"", i, i + 1, i) : TEXT("\"gd%d\", \"e%d\"", i, i),
       i < n ? TEXT("\"gd%d\", \"ge%d\"", i + 1, i) : TEXT("\"ge%d\"", i), 2 * t[i % 2], "");
    ordered(w, TEXT("BD%d", i), c, i % 2 == 1);
  }
  for (int i = n; i >= 1; i--) {
    op(w, TEXT("BE%d", i), "bwd", c, TEXT("\"ge%d\", \"e%d\"", i, i - 1), i > 1 ? TEXT("\"ge%d\"", i - 1) : "", 2 * t[i % 2], "");
    ordered(w, TEXT("BE%d", i), c, i % 2 == 1);
  }
}

static void transformer(Writer *w) {
  int n = w->options->depth, c = w->options->chunks;
  datum(w, "h0", UNIT, c, "");
  datum(w, "tok", UNIT / 10, 1, ", \"home\": \"device\"");
  op(w, "emb", "fwd", c, "\"tok\"", "\"h0\"", 20000, "");
  ordered(w, "emb", c, false);
  for (int i = 1; i <= n; i++) {
    int64_t u = size(w);
    datum(w, TEXT("qkv%d", i), 2 * u, c, "");
    datum(w, TEXT("p%d", i), 2 * u, c, "");
    datum(w, TEXT("a%d", i), u, c, "");
    datum(w, TEXT("h%d", i), u, c, "");
    datum(w, TEXT("gh%d", i), UNIT / 2, c, "");
    datum(w, TEXT("ga%d", i), UNIT / 2, c, "");
    op(w, TEXT("QKV%d", i), "fwd", c, TEXT("\"h%d\"", i - 1), TEXT("\"qkv%d\"", i), 120000, "");
    op(w, TEXT("P%d", i), "fwd", c, TEXT("\"qkv%d\"", i), TEXT("\"p%d\"", i), 60000, "");
    op(w, TEXT("A%d", i), "fwd", c, TEXT("\"qkv%d\", \"p%d\", \"h%d\"", i, i, i - 1), TEXT("\"a%d\"", i), 90000, "");
    op(w, TEXT("H%d", i), "fwd", c, TEXT("\"a%d\"", i), TEXT("\"h%d\"", i), 240000, TEXT(", \"work\": %lld", (long long)u));
    ordered(w, TEXT("QKV%d", i), c, i % 2 == 0);
    ordered(w, TEXT("P%d", i), c, i % 2 == 0);
    ordered(w, TEXT("A%d", i), c, i % 2 == 0);
    ordered(w, TEXT("H%d", i), c, i % 2 == 0);
  }
  op(w, "L", "fwd", c, TEXT("\"h%d\"", n), TEXT("\"gh%d\"", n), 50000, ", \"recompute\": false");
  ordered(w, "L", c, false);
  datum(w, "gh0", UNIT / 2, c, "");
  for (int i = n; i >= 1; i--) {
    op(w, TEXT("BH%d", i), "bwd", c, TEXT("\"gh%d\", \"a%d\"", i, i), TEXT("\"ga%d\"", i), 480000, TEXT(", \"work\": %d", UNIT));
    op(w, TEXT("BA%d", i), "bwd", c, TEXT("\"ga%d\", \"p%d\", \"qkv%d\", \"h%d\"", i, i, i, i - 1), TEXT("\"gh%d\"", i - 1), 450000, "");
    ordered(w, TEXT("BH%d", i), c, i % 2 == 0);
    ordered(w, TEXT("BA%d", i), c, i % 2 == 0);
  }
}

static void exchange_op(Writer *w, const char *id, const char *phase, const char *reads, const char *writes, int64_t bytes) {
  const char *lead = w->options->depth % 2 ? "{\"ch\": \"compute\", \"ns\": 30000}, " : ""; /* which packs */
  w->has_exchange = true;
  append(w, &w->ops,
         TEXT("{\"id\": \"%s\", \"phase\": \"%s\", \"reads\": [%s], \"writes\": [%s], \"variants\": ["
              "{\"name\": \"g2g\", \"stages\": [%s{\"ch\": \"nvlink\", \"bytes\": %lld}], \"work\": %lld}, "
              "{\"name\": \"g2h\", \"stages\": [{\"ch\": \"d2h\", \"bytes\": %lld}, {\"ch\": \"h2d\", \"bytes\": %lld}], "
              "\"host_work\": %lld}]}", id, phase, reads, writes, lead, (long long)(4 * bytes), (long long)bytes,
              (long long)(bytes / 4), (long long)(bytes / 4), (long long)(w->options->has_host == 2 ? 0 : bytes / 4)));
  ordered(w, id, 1, false);
}

/* Layers of: exchange of halo rows, aggregation, update; attention adds a value per edge. */
static void gnn(Writer *w, bool has_attention) {
  int n = w->options->depth, c = w->options->chunks;
  datum(w, "csr", UNIT, 1, ", \"home\": \"device\"");
  datum(w, "h0", UNIT, c, ", \"home\": \"host\"");
  for (int i = 1; i <= n; i++) {
    int64_t u = size(w);
    datum(w, TEXT("r%d", i), u / 4, 1, "");
    datum(w, TEXT("z%d", i), u, c, has_attention ? "" : ", \"role\": \"aggregate\"");
    datum(w, TEXT("h%d", i), u, c, ", \"role\": \"input\"");
    datum(w, TEXT("gz%d", i), UNIT / 2, c, "");
    datum(w, TEXT("gh%d", i), UNIT / 2, c, "");
    if (has_attention) datum(w, TEXT("s%d", i), 3 * u / 2, c, "");
    const char *before = TEXT("{\"data\": \"h%d\", \"access\": \"all\"}", i - 1);
    if (has_attention) {
      op(w, TEXT("X%d", i), "fwd", 1, before, TEXT("\"r%d\"", i), 20000, "");
      ordered(w, TEXT("X%d", i), 1, false);
      op(w, TEXT("S%d", i), "fwd", c, TEXT("%s, \"r%d\", \"csr\"", before, i), TEXT("\"s%d\"", i), 70000, "");
      ordered(w, TEXT("S%d", i), c, i % 2 == 0);
    } else {
      exchange_op(w, TEXT("X%d", i), "fwd", before, TEXT("\"r%d\"", i), u);
    }
    op(w, TEXT("A%d", i), "fwd", c, TEXT("%s, {\"data\": \"r%d\", \"access\": \"all\"}, \"csr\"%s", before, i,
       has_attention ? TEXT(", \"s%d\"", i) : ""), TEXT("\"z%d\"", i), cost(w), TEXT(", \"work\": %d", UNIT / 10));
    op(w, TEXT("U%d", i), "fwd", c, TEXT("\"z%d\"", i), TEXT("\"h%d\"", i), cost(w), "");
    ordered(w, TEXT("A%d", i), c, i % 2 == 0);
    ordered(w, TEXT("U%d", i), c, i % 2 == 1);
  }
  op(w, "L", "fwd", c, TEXT("\"h%d\"", n), TEXT("\"gh%d\"", n), 30000, ", \"recompute\": false");
  ordered(w, "L", c, false);
  for (int i = n; i >= 1; i--) {
    op(w, TEXT("BU%d", i), "bwd", c, TEXT("\"gh%d\", \"z%d\", \"h%d\"", i, i, i), TEXT("\"gz%d\"", i), 2 * cost(w), "");
    ordered(w, TEXT("BU%d", i), c, true);
    const char *all = TEXT("{\"data\": \"gz%d\", \"access\": \"all\"}", i);
    op(w, TEXT("BA%d", i), "bwd", c, has_attention ? TEXT("%s, \"csr\", \"s%d\", {\"data\": \"h%d\", \"access\": \"row\"}", all, i, i - 1) : TEXT("%s, \"csr\"", all),
       i > 1 ? TEXT("\"gh%d\"", i - 1) : "", 2 * cost(w), "");
    ordered(w, TEXT("BA%d", i), c, false);
  }
}

static void moe(Writer *w) {
  int n = w->options->depth, experts = 2;
  datum(w, "t0", UNIT / 4, 1, ", \"home\": \"device\"");
  const char *inner = w->options->has_ssd ? "ssd" : w->options->has_host ? "host" : "device";
  for (int i = 1; i <= n; i++) {
    for (int e = 0; e < experts; e++) {
      datum(w, TEXT("w%d_%d", i, e), size(w), 1, TEXT(", \"home\": \"%s\"", e ? inner : w->options->has_host ? "host" : "device"));
      datum(w, TEXT("y%d_%d", i, e), size(w) / 2, 1, "");
      datum(w, TEXT("gy%d_%d", i, e), UNIT / 4, 1, "");
    }
    datum(w, TEXT("t%d", i), size(w) / 2, 1, "");
    datum(w, TEXT("gt%d", i), UNIT / 3, 1, "");
    for (int e = 0; e < experts; e++) {
      op(w, TEXT("E%d_%d", i, e), "fwd", 1, TEXT("\"t%d\", \"w%d_%d\"", i - 1, i, e), TEXT("\"y%d_%d\"", i, e), cost(w), "");
      ordered(w, TEXT("E%d_%d", i, e), 1, false);
    }
    op(w, TEXT("C%d", i), "fwd", 1, TEXT("\"y%d_0\", \"y%d_1\"", i, i), TEXT("\"t%d\"", i), 40000, "");
    ordered(w, TEXT("C%d", i), 1, false);
  }
  op(w, "L", "fwd", 1, TEXT("\"t%d\"", n), TEXT("\"gt%d\"", n), 30000, ", \"recompute\": false");
  ordered(w, "L", 1, false);
  for (int i = n; i >= 1; i--) {
    op(w, TEXT("BC%d", i), "bwd", 1, TEXT("\"gt%d\", \"y%d_0\", \"y%d_1\"", i, i, i), TEXT("\"gy%d_0\", \"gy%d_1\"", i, i), 50000, "");
    ordered(w, TEXT("BC%d", i), 1, false);
    for (int e = experts - 1; e >= 0; e--) {
      op(w, TEXT("BE%d_%d", i, e), "bwd", 1, TEXT("\"gy%d_%d\", \"w%d_%d\", \"t%d\"", i, e, i, e, i - 1),
         i > 1 ? TEXT("\"gt%d\"", i - 1) : "", 2 * cost(w), "");
      ordered(w, TEXT("BE%d_%d", i, e), 1, false);
    }
  }
}

static void random_dag(Writer *w) {
  int n = w->options->depth, c = w->options->chunks;
  datum(w, "x0", UNIT / 4, 1, ", \"home\": \"device\"");
  int *a = arena_alloc(w->arena, ((size_t)n + 1) * sizeof *a), *b = arena_alloc(w->arena, ((size_t)n + 1) * sizeof *b);
  for (int i = 1; i <= n; i++) {
    datum(w, TEXT("x%d", i), size(w), c, "");
    datum(w, TEXT("g%d", i), UNIT / 3, c, "");
    a[i] = i - 1;
    b[i] = i > 2 && between(w, 0, 2) == 0 ? between(w, 0, i - 2) : i - 1;
    op(w, TEXT("F%d", i), "fwd", c, a[i] == b[i] ? TEXT("\"x%d\"", a[i]) : TEXT("\"x%d\", \"x%d\"", a[i], b[i]),
       TEXT("\"x%d\"", i), cost(w), between(w, 0, 5) ? "" : ", \"recompute\": false");
    ordered(w, TEXT("F%d", i), c, i % 2 == 0);
  }
  op(w, "L", "fwd", c, TEXT("\"x%d\"", n), TEXT("\"g%d\"", n), 30000, ", \"recompute\": false");
  ordered(w, "L", c, false);
  for (int i = n; i >= 1; i--) {
    const char *reads = a[i] == b[i] ? TEXT("\"g%d\", \"x%d\"", i, a[i]) : TEXT("\"g%d\", \"x%d\", \"x%d\"", i, a[i], b[i]);
    if (between(w, 0, 2) == 0) reads = TEXT("%s, \"x%d\"", reads, i);
    op(w, TEXT("B%d", i), "bwd", c, reads, i > 1 ? TEXT("\"g%d\"", i - 1) : "", 2 * cost(w), "");
    ordered(w, TEXT("B%d", i), c, i % 2 == 0);
  }
}

static char *assemble(Writer *w, const char *name, int64_t device, int64_t host, int64_t ssd) {
  const GenerateOptions *o = w->options;
  double rate = (double)UNIT / 100e-6 * o->bandwidth; /* bytes/s */
  char *channels = TEXT("\"d2h\": {\"bw\": %lld, \"lat_ns\": 2000}, \"h2d\": {\"bw\": %lld, \"lat_ns\": 2000}",
                        (long long)rate, (long long)(1.1 * rate));
  if (o->has_ssd)
    channels = TEXT("%s, \"ssdw\": {\"bw\": %lld, \"lat_ns\": 10000}, \"ssdr\": {\"bw\": %lld, \"lat_ns\": 10000}", channels,
                    (long long)(0.4 * rate), (long long)(0.6 * rate));
  if (w->has_exchange) channels = TEXT("%s, \"nvlink\": {\"bw\": %lld, \"lat_ns\": 1000}", channels, (long long)(6 * rate));
  return TEXT("{\"format\": \"gnncc-problem/1\", \"name\": \"%s\",\n \"hardware\": {\"device_bytes\": %lld, \"host_bytes\": %lld, "
              "\"ssd_bytes\": %lld, \"ring_bytes\": %d, \"channels\": {%s}},\n \"data\": [%s],\n \"ops\": [%s],\n \"order\": [%s]}\n",
              name, (long long)device, (long long)host, (long long)ssd, o->has_ssd ? 8 * UNIT : 0, channels, w->data, w->ops, w->order);
}

char *generate_problem(Arena *arena, const GenerateOptions *options) {
  Writer writer = {.arena = arena, .options = options, .random = options->seed * 1000003u + (uint64_t)options->family}, *w = &writer;
  switch (options->family) {
    case FAMILY_CHAIN: chain(w, false); break;
    case FAMILY_RESIDUAL: chain(w, true); break;
    case FAMILY_UNET: unet(w); break;
    case FAMILY_TRANSFORMER: transformer(w); break;
    case FAMILY_GCN: gnn(w, false); break;
    case FAMILY_GAT: gnn(w, true); break;
    case FAMILY_MOE: moe(w); break;
    default: random_dag(w);
  }
  const char *name = TEXT("%s-%dx%d-%d-%llu", generate_family_name(options->family), options->depth, options->chunks,
                          (int)(100 * options->budget), (unsigned long long)options->seed);
  int64_t ample = (int64_t)1 << 40;
  char *text = assemble(w, name, ample, options->has_host ? ample : 0, options->has_ssd ? ample : 0);
  ProblemError error;
  Arena *scratch = arena_new();
  Problem *problem = problem_read_json(scratch, text, strlen(text), &error);
  if (!problem) {
    fprintf(stderr, "generator: %s: %s: %s\n", name, error.place, error.text);
    exit(70);
  }
  Geometry *geometry = geometry_make(problem, scratch);
  int64_t low = 0, high = 0, evictable = 0;
  for (int s = 0; s < problem->step_count; s++) {
    if (geometry->base_bytes[s] > low) low = geometry->base_bytes[s];
    if (geometry->retain_bytes[s] > high) high = geometry->retain_bytes[s];
  }
  for (int i = 0; i < geometry->gap_count; i++)
    if (geometry->gaps[i].options != FATE_BIT(FATE_KEEP)) evictable += problem->pieces[geometry->gaps[i].piece].bytes;
  arena_free(scratch);
  int64_t device = low + (int64_t)((double)(high - low) * options->budget);
  int64_t host = options->has_host == 0 ? 0 : options->has_host == 2 ? evictable / 4 : ample;
  return assemble(w, name, device, host, options->has_ssd ? ample : 0);
}

char *generate_with_device(Arena *arena, const char *text, int64_t device_bytes) {
  static const char key[] = "\"device_bytes\": ";
  const char *at = strstr(text, key);
  if (!at) return NULL;
  at += sizeof key - 1;
  return arena_printf(arena, "%.*s%lld%s", (int)(at - text), text, (long long)device_bytes, at + strspn(at, "0123456789"));
}

char *generate_with_fates(Arena *arena, const char *text, const char *id, const char *fates) {
  char *key = arena_printf(arena, "{\"id\": \"%s\", \"bytes\": ", id);
  const char *at = strstr(text, key);
  if (!at) return NULL;
  return arena_printf(arena, "%.*s{\"fates\": [%s], %s", (int)(at - text), text, fates, at + 1);
}

/* The datum `id` of a parsed problem. */
static json_t *datum_of(json_t *problem, const char *id) {
  size_t i;
  json_t *item;
  json_array_foreach(json_object_get(problem, "data"), i, item)
    if (!strcmp(json_string_value(json_object_get(item, "id")), id)) return item;
  return NULL;
}

static bool has_id(json_t *accesses, const char *id) {
  size_t i;
  json_t *item;
  json_array_foreach(accesses, i, item) {
    json_t *name = json_is_string(item) ? item : json_object_get(item, "data");
    if (!strcmp(json_string_value(name), id)) return true;
  }
  return false;
}

/* Whether a piece of the one can lie where a piece of the other did, at a step of an op of that many chunks. */
static bool is_like(json_t *a, json_t *b, json_int_t chunks) {
  if (chunks > 1 && json_integer_value(json_object_get(a, "chunks")) != chunks) return false;
  return json_equal(json_object_get(a, "bytes"), json_object_get(b, "bytes")) && json_equal(json_object_get(a, "chunks"), json_object_get(b, "chunks")) &&
         !json_object_get(a, "home") && !json_object_get(b, "home") && !json_object_get(b, "final");
}

char *generate_with_places(Arena *arena, const char *text, uint64_t seed, int *places) {
  json_t *problem = json_loads(text, 0, NULL), *op, *write, *read;
  size_t i, w, r;
  *places = 0;
  json_array_foreach(json_object_get(problem, "ops"), i, op) {
    json_t *reads = json_object_get(op, "reads"), *writes = json_object_get(op, "writes"), *taken = json_array();
    json_array_foreach(writes, w, write) {
      if (!json_is_string(write)) continue;
      const char *made = json_string_value(write);
      bool is_first = !has_id(reads, made);
      for (size_t before = 0; before < i; before++) is_first &= !has_id(json_object_get(json_array_get(json_object_get(problem, "ops"), before), "writes"), made);
      json_array_foreach(reads, r, read) {
        if (!is_first || !json_is_string(read) || has_id(writes, json_string_value(read)) || has_id(taken, json_string_value(read))) continue;
        if (!is_like(datum_of(problem, made), datum_of(problem, json_string_value(read)), json_integer_value(json_object_get(op, "chunks"))) || generate_below(&seed, 4) == 0) continue;
        json_array_append(taken, read);
        json_array_set_new(writes, w, json_pack("{s:s, s:s}", "data", made, "over", json_string_value(read)));
        (*places)++;
        break;
      }
    }
    json_decref(taken);
  }
  char *dumped = json_dumps(problem, JSON_INDENT(1)), *kept = arena_strdup(arena, dumped);
  free(dumped);
  json_decref(problem);
  return kept;
}

/* A list of chunk lists for an op of `chunks` chunks over a datum of `pieces` pieces that reads something of it. */
static const char *chunk_lists(Writer *w, const char *id, int chunks, int pieces) {
  char *lists = arena_strdup(w->arena, "");
  for (int k = 0; k < chunks; k++) {
    char *list = TEXT("%d", between(w, 0, pieces - 1));
    if (between(w, 0, 1)) list = TEXT("%s, %d", list, between(w, 0, pieces - 1));
    lists = TEXT("%s%s[%s]", lists, k ? ", " : "", list);
  }
  return TEXT("{\"data\": \"%s\", \"access\": [%s]}", id, lists);
}

char *generate_odd(Arena *arena, uint64_t seed) {
  GenerateOptions options = {.bandwidth = 0.2 + 0.1 * (double)(seed % 17), .has_host = 1 + (int)(seed % 2), .has_ssd = seed % 3 != 0};
  Writer writer = {.arena = arena, .options = &options, .random = seed * 7919u + 17u}, *w = &writer;
  int forward = between(w, 3, 7);
  int *chunks = arena_alloc(arena, 64 * sizeof *chunks);
  chunks[0] = between(w, 1, 2);
  const char *home = between(w, 0, 1) ? ", \"home\": \"host\"" : ", \"home\": \"device\"";
  if (seed % 5 == 3 && chunks[0] == 2) home = options.has_ssd ? ", \"home\": [\"ssd\", \"host\"]" : ", \"home\": [\"host\", \"device\"]";
  datum(w, "in", UNIT / 2, chunks[0], home);
  datum(w, "state", UNIT / 2, 1, options.has_ssd && seed % 2 ? ", \"home\": \"ssd\", \"final\": true" : ", \"home\": \"host\", \"final\": true");
  datum(w, "acc", UNIT / 3, 1, options.has_ssd && seed % 5 == 2 ? ", \"final\": \"ssd\"" : ", \"final\": true");
  for (int i = 1; i <= forward; i++) {
    chunks[i] = between(w, 1, 3);
    const char *fates = between(w, 0, 4) ? "" : between(w, 0, 1) ? ", \"fates\": [\"retain\", \"host\"]" : ", \"fates\": [\"recompute\", \"ssd\"]";
    (seed % 4 == 1 ? uneven_datum : datum)(w, TEXT("v%d", i), size(w), chunks[i], fates);
    datum(w, TEXT("side%d", i), UNIT / 4, 1, between(w, 0, 4) ? "" : ", \"final\": true");
    const char *from = i == 1 ? "in" : TEXT("v%d", i - 1);
    const char *read = between(w, 0, 2) ? TEXT("{\"data\": \"%s\", \"access\": \"all\"}", from)
                                        : chunk_lists(w, from, chunks[i], chunks[i - 1]);
    if (i > 2 && between(w, 0, 2) == 0) read = TEXT("%s, {\"data\": \"v%d\", \"access\": \"all\"}", read, between(w, 1, i - 2));
    const char *writes = TEXT("\"v%d\"%s", i, chunks[i] == 1 ? TEXT(", \"side%d\"", i) : "");
    if (between(w, 0, 3) == 0 && chunks[i] == 1) {
      exchange_op(w, TEXT("F%d", i), "fwd", read, writes, UNIT / 2);
    } else {
      const char *work = TEXT(", \"work\": %d", between(w, 0, 3) * UNIT / 10);
      const int64_t ns = cost(w);
      timed_op(w, TEXT("F%d", i), "fwd", chunks[i], read, writes, seed % 7 < 3 ? uneven(w, ns, chunks[i]) : TEXT("%lld", (long long)ns), work);
      ordered(w, TEXT("F%d", i), chunks[i], between(w, 0, 1));
    }
    if (between(w, 0, 4) == 0) { /* an update in place */
      op(w, TEXT("I%d", i), "fwd", 1, TEXT("{\"data\": \"v%d\", \"access\": \"all\"}", i), TEXT("{\"data\": \"v%d\", \"access\": \"all\"}", i), cost(w), "");
      ordered(w, TEXT("I%d", i), 1, false);
    }
  }
  datum(w, TEXT("g%d", forward), UNIT / 3, 1, "");
  op(w, "L", "fwd", 1, TEXT("\"v%d\"", forward), TEXT("\"g%d\", \"acc\"", forward), 30000, ", \"recompute\": false");
  ordered(w, "L", 1, false);
  for (int i = forward; i >= 1; i--) {
    datum(w, TEXT("g%d", i - 1), UNIT / 3, 1, "");
    const char *reads = TEXT("\"g%d\", {\"data\": \"%s\", \"access\": \"all\"}", i, i == 1 ? "in" : TEXT("v%d", i - 1));
    if (chunks[i] == 1) reads = TEXT("%s, \"side%d\"", reads, i);
    op(w, TEXT("B%d", i), "bwd", 1, reads, TEXT("\"g%d\", \"acc\"", i - 1), 2 * cost(w), "");
    ordered(w, TEXT("B%d", i), 1, false);
  }
  op(w, "O", "opt", 1, "\"acc\", \"state\"", "\"state\"", 20000, "");
  ordered(w, "O", 1, false);
  int64_t device = (int64_t)between(w, 25, 70) * UNIT / 10;
  return assemble(w, TEXT("odd-%llu", (unsigned long long)seed), device, options.has_host == 2 ? UNIT : 100 * (int64_t)UNIT,
                  options.has_ssd ? 100 * (int64_t)UNIT : 0);
}
