/* The machine that a target describes, and what kernels cost on it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/driver/native.h"
#include "compiler/lowering/cost.h"
#include "compiler/lowering/known_processor.h"
#include "compiler/driver/driver.h"
#include "model.h"

static int test_count, failures;

static void ok(bool is_right, const char *name) {
  printf("%sok %d - %s\n", is_right ? "" : "not ", ++test_count, name);
  failures += !is_right;
}

/* ---- links ---- */

enum { GB = 1000000000 };

static TargetLink way(Tier from, Tier to, double bandwidth) { return (TargetLink){from, to, bandwidth, 1e-6, 0.25}; }

static bool has_links(const Machine *m, double d2h, double h2d, double ssd_write, double ssd_read) {
  return m->links[LANE_D2H].bandwidth == d2h && m->links[LANE_H2D].bandwidth == h2d &&
         m->links[LANE_SSD_WRITE].bandwidth == ssd_write && m->links[LANE_SSD_READ].bandwidth == ssd_read;
}

static void test_links(void) {
  TargetLink host_road[] = {way(TIER_DEVICE, TIER_HOST, 3), way(TIER_HOST, TIER_DEVICE, 4), way(TIER_HOST, TIER_SSD, 1), way(TIER_SSD, TIER_HOST, 2)};
  TargetLink direct[] = {way(TIER_DEVICE, TIER_SSD, 5), way(TIER_SSD, TIER_DEVICE, 6)};
  TargetSpec target = {.name = "t", .kind = "cpu", .device_bytes = GB, .host_bytes = GB, .ssd_bytes = GB, .link_count = 4, .links = host_road};
  Machine m = machine_of_target(&target);
  ok(has_links(&m, 3, 4, 1, 2) && !m.is_ssd_direct, "the SSD behind the host");
  ok(m.links[LANE_D2H].latency == 1e-6 && m.overlap_slowdown[LANE_SSD_READ] == 1.25, "a link keeps its latency and what it does to compute");
  target = (TargetSpec){.name = "t", .kind = "cpu", .device_bytes = GB, .ssd_bytes = GB, .ssd_path = "/fast", .link_count = 2, .links = direct};
  m = machine_of_target(&target);
  ok(has_links(&m, 0, 0, 5, 6) && m.is_ssd_direct, "the SSD beside the device");
  ok(m.scratch_dir == target.ssd_path, "the SSD's directory");
  TargetLink both[] = {host_road[0], host_road[1], direct[0], direct[1]};
  target = (TargetSpec){.name = "t", .kind = "cpu", .device_bytes = GB, .host_bytes = GB, .ssd_bytes = GB, .link_count = 4, .links = both};
  m = machine_of_target(&target);
  ok(has_links(&m, 3, 4, 5, 6) && !m.is_ssd_direct, "with a host tier the device's link to the SSD stands in for the host's");
  m = machine_of_target(NULL);
  ok(m.overlap_slowdown[LANE_D2H] > 1 && m.overlap_slowdown[LANE_D2H] <= 1 + 4.0 / 3 && m.overlap_slowdown[LANE_SSD_READ] == 1, "its copies in memory take from the cores beside them");
  ok(m.links[LANE_D2H].bandwidth > 0 && m.links[LANE_SSD_WRITE].bandwidth > 0 && m.is_ssd_direct && !m.is_measured,
     "this computer has links, should a budget give it tiers");
}

/* ---- kernels ---- */

/* A training graph of so many nodes, as kernels; NULL after an error. */
static Kernels *kernels_by(Arena *arena, const char *share_dir, int nodes, int width, const char *body, FuseOptions options) {
  const char *text = arena_printf(arena,
                                  "data d {\n  nodes = %d\n  edges = %d\n  node x : f32[%d]\n  node y : class[7]\n}\nmodel m on d {\n  h = %s\n"
                                  "  return h |> GCN(y.classes) as conv2\n}\ntrain m {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n}\n",
                                  nodes, 8 * nodes, width, body);
  TypedProgram *program = program_of(arena, share_dir, text);
  if (!program) return NULL;
  Graph *graph = lower(arena, program);
  simplify(graph);
  autodiff(graph, NULL);
  simplify(graph);
  options.is_fusing = true;
  return fuse(graph, sparse_fields(graph), &options);
}

static Kernels *kernels_of(Arena *arena, const char *share_dir, int nodes, int width, const char *body) {
  return kernels_by(arena, share_dir, nodes, width, body, (FuseOptions){.backend = BACKEND_CPU});
}

static double seconds_of(const Machine *machine, const Kernels *kernels) {
  double sum = 0;
  for (int k = 0; kernels && k < kernels->kernel_count; k++) {
    Cost cost = cost_of_kernel(machine, kernels, &kernels->kernels[k], NULL);
    if (!(cost.seconds > 0) || cost.bytes < 0) return -1;
    sum += cost.seconds;
  }
  return kernels ? sum : -1;
}

/* Of what computes something for each edge. */
static double seconds_along_edges(const Machine *machine, const Kernels *kernels) {
  double sum = 0;
  for (int k = 0; k < kernels->kernel_count; k++) {
    const Kernel *kernel = &kernels->kernels[k];
    if (kernel->kind == KERNEL_EDGE_SUM || kernel->kind == KERNEL_EDGE_MAX) sum += cost_of_kernel(machine, kernels, kernel, NULL).seconds;
  }
  return sum;
}

static void test_kernels(const char *share_dir) {
  Arena *arena = arena_new();
  Machine machine = machine_of_target(NULL);
  const char *plain = "x |> GCN(64) as conv1 |> relu", *dropped = "x |> dropout(0.5) |> GCN(64) as conv1 |> relu", *gelus = "x |> GCN(64) as conv1 |> gelu";
  double small = seconds_of(&machine, kernels_of(arena, share_dir, 10000, 64, plain));
  ok(small > 0, "every kernel costs time");
  bool is_rising = true;
  double before = 0;
  for (int nodes = 1000; nodes <= 4000000; nodes *= 2) {
    double seconds = seconds_of(&machine, kernels_of(arena, share_dir, nodes, 64, plain));
    is_rising = is_rising && seconds > before;
    before = seconds;
  }
  ok(is_rising, "more nodes take longer");
  is_rising = true, before = 0;
  for (int width = 16; width <= 1024; width += 16) {
    double seconds = seconds_of(&machine, kernels_of(arena, share_dir, 10000, width, plain));
    is_rising = is_rising && seconds > before;
    before = seconds;
  }
  ok(is_rising, "wider rows take longer");
  ok(seconds_of(&machine, kernels_of(arena, share_dir, 10000, 64, dropped)) > small, "dropout takes time");
  ok(seconds_of(&machine, kernels_of(arena, share_dir, 10000, 64, gelus)) > small, "gelu takes longer than relu");
  TargetSpec target = {.name = "t", .kind = "cpu", .device_bytes = GB, .threads = 2, .device_bandwidth = 20e9, .fp32_flops = 270e9};
  Machine fast = machine_of_target(&target);
  target.device_bandwidth /= 4, target.fp32_flops /= 4;
  Machine slow = machine_of_target(&target);
  double ratio = seconds_of(&slow, kernels_of(arena, share_dir, 1000000, 64, plain)) / seconds_of(&fast, kernels_of(arena, share_dir, 1000000, 64, plain));
  ok(ratio > 3.9 && ratio < 4.1, "a machine with a quarter of the rates takes four times as long");
  Machine disturbed = machine;
  disturbed.rates.stream[0] = machine.rates.stream[machine.rates.size_count - 1] / 1000;
  ok(seconds_of(&disturbed, kernels_of(arena, share_dir, 1000000, 64, plain)) > 0, "no kernel takes less than no time where the nearest cache was measured as the slowest");
  arena_free(arena);
}

/* Narrow rows would be few tasks by their numbers alone: threads that have none wait. */
static void test_tasks(const char *share_dir) {
  Arena *arena = arena_new();
  const Kernels *kernels = kernels_of(arena, share_dir, 2708, 64, "x |> GCN(64) as conv1 |> relu");
  int count = 0, few = 0;
  for (int k = 0; kernels && k < kernels->kernel_count; k++) {
    const Kernel *kernel = &kernels->kernels[k];
    if (kernel->kind != KERNEL_MAP && kernel->kind != KERNEL_CROSS_ENTROPY_GRADIENT && kernel->kind != KERNEL_MATMUL) continue;
    count++;
    few += kernel->task_rows > 2708 / 14;
  }
  ok(count >= 4 && few == 0, "a small graph has tasks for all threads, however narrow its rows");
  arena_free(arena);
}

/* ---- rows that come back soon ---- */

static void test_locality(const char *share_dir) {
  Arena *arena = arena_new();
  TargetSpec target = {.name = "t", .kind = "cpu", .device_bytes = GB, .threads = 2, .device_bandwidth = 20e9, .fp32_flops = 270e9, .rates.others = 200e9};
  Machine machine = machine_of_target(&target);
  Kernels *kernels = kernels_of(arena, share_dir, 1000000, 64, "x |> GCN(64) as conv1 |> relu");
  double unknown = seconds_of(&machine, kernels), seconds[3];
  for (int is_hub = 0; kernels && is_hub < 3; is_hub++) { /* 2: rows wait for long while hubs come again and again */
    Locality locality = {.is_known = true};
    for (int k = 0; k < LOCALITY_STEPS; k++) {
      locality.within[k] = pow(2, -k / (is_hub ? 20.0 : 2.0));
      locality.waited[k] = is_hub == 2 ? 1e6 * pow(2, -k / 2.0) : 0;
    }
    for (int end = 0; end < 2; end++) kernels->graph->program->info->locality[end] = locality;
    seconds[is_hub] = seconds_of(&machine, kernels);
  }
  ok(kernels && fabs(seconds[0] / unknown - 1) < 1e-4, "rows from anywhere cost what they were measured to");
  ok(kernels && seconds[1] < 0.8 * unknown, "rows that come back soon cost less");
  ok(kernels && seconds[2] > 1.02 * seconds[1] && seconds[2] < unknown, "  and more again where others have filled the caches meanwhile");
  kernels = kernels_of(arena, share_dir, 1000000, 64, "x |> GAT(16, heads = 4) as conv1 |> relu");
  for (int is_hub = 0; kernels && is_hub < 2; is_hub++) {
    Locality locality = {.is_known = true};
    for (int k = 0; k < LOCALITY_STEPS; k++) locality.within[k] = pow(2, -k / (is_hub ? 20.0 : 2.0));
    for (int end = 0; end < 2; end++) kernels->graph->program->info->locality[end] = locality;
    seconds[is_hub] = seconds_along_edges(&machine, kernels);
  }
  ok(kernels && seconds[0] > 0 && seconds[1] < 0.9 * seconds[0], "  of attention, too");
  arena_free(arena);
}

/* ---- processors that are known ---- */

static bool has_falling_rates(const DeviceRates *r) {
  for (int k = 1; k < r->size_count; k++)
    if (r->sizes[k] <= r->sizes[k - 1] || r->stream[k] > r->stream[k - 1] || r->gather[0][k] > r->gather[0][k - 1] || r->gather[2][k] > r->gather[2][k - 1]) return false;
  return r->size_count > 2 && r->gather[2][0] > 2 * r->gather[2][r->size_count - 1] && r->gather[0][0] < r->gather[2][0];
}

static void test_processors(void) {
  ProcessorFacts zen5 = {.maker = 'A', .family = 0x1a, .model = 2, .threads = 2, .siblings = 1, .is_virtual = true, .core_cache = 1 << 20, .last_cache = 32 << 20, .last_cache_threads = 2}, other = zen5;
  KnownProcessor two, known;
  ok(processor_known(&zen5, &two) && strstr(two.name, "Zen 5") && two.flops > 400e9 && two.flops < 600e9, "a processor is known by its family and model");
  ok(two.bandwidth > 35e9 && two.bandwidth < 55e9, "two of its cores get from memory what calibrations of them found");
  ok(two.rates.exchange > 60e9 && two.rates.exchange < 120e9, "and from each other's caches");
  ok(has_falling_rates(&two.rates) && two.rates.stream[0] > 2 * two.bandwidth, "its rates fall with the size of what is read, and rows of a line are slower than wide ones");
  other.threads = 4, other.siblings = 2, other.last_cache_threads = 4;
  ok(processor_known(&other, &known) && known.flops == two.flops && known.bandwidth == two.bandwidth, "threads of one core multiply no more than one");
  other = zen5, other.threads = 512, other.last_cache_threads = 8;
  ok(processor_known(&other, &known) && known.flops == 256 * two.flops && known.bandwidth < 100 * two.bandwidth, "many cores share the memory of their socket");
  other = zen5, other.last_cache = 1 << 24;
  ok(processor_known(&other, &known) && known.rates.gather[2][5] < two.rates.gather[2][5] && known.rates.gather[2][0] == two.rates.gather[2][0], "a smaller cache holds less of a large table");
  other = zen5, other.is_virtual = false;
  ok(two.rates.others > 100e9 && two.rates.others < 300e9 && processor_known(&other, &known) && known.rates.others == 0, "other systems fill its caches, but not where it is no virtual machine");
  other = zen5, other.threads = other.last_cache_threads = 8;
  ok(processor_known(&other, &known) && known.rates.others == 0, "  nor where all cores of the cache are ours");
  other = zen5, other.most_hertz = 3e9;
  ok(processor_known(&other, &known) && known.flops < 0.8 * two.flops, "a slower clock counts");
  other = zen5, other.model = 0xff;
  ok(!processor_known(&other, &known), "one that is not in the table is not known");
  other = zen5, other.last_cache = 0;
  ok(!processor_known(&other, &known), "nor one whose caches are not");

  ProcessorFacts facts;
  const bool says = processor_facts(&facts) && facts.last_cache > 0;
  ok(!says || (facts.siblings >= 1 && facts.siblings <= facts.threads && facts.core_cache >= 1 << 17 && facts.last_cache >= facts.core_cache && facts.last_cache <= 2e9 && facts.last_cache_threads >= 1 &&
               facts.last_cache_threads <= facts.threads),
     "caches and those that share them are the processor's");
  Machine here = machine_of_target(NULL);
  ok(here.is_guessed ? !here.processor : here.processor && processor_here(&known) && here.flops == known.flops && here.rates.gather[1][3] == known.rates.gather[1][3] && here.rates.exp > 0,
     "this computer is taken for the processor that it has, or is a guess");
  TargetSpec target = {.name = "t", .kind = "cpu", .device_bytes = GB, .threads = 2, .device_bandwidth = 20e9, .fp32_flops = 270e9};
  Machine said = machine_of_target(&target);
  ok(!said.processor && !said.is_guessed && said.flops == 270e9 && said.rates.others == 0, "a target that says its figures is not");
}

/* ---- memory of a GPU ---- */

static void test_traffic(const char *share_dir) {
  Arena *arena = arena_new();
  TargetSpec target = {.name = "t", .kind = "cuda(sm_80)", .device_bytes = GB, .device_bandwidth = 2e12, .fp32_flops = 20e12};
  Machine machine = machine_of_target(&target);
  Kernels *kernels = kernels_by(arena, share_dir, 1000000, 512, "x |> GCN(256) as conv1 |> relu", (FuseOptions){.backend = BACKEND_CUDA});
  int count = 0;
  bool is_bounded = kernels != NULL;
  for (int k = 0; kernels && k < kernels->kernel_count; k++) {
    Cost cost = cost_of_kernel(&machine, kernels, &kernels->kernels[k], NULL);
    if (kernels->kernels[k].kind == KERNEL_SPMM || cost.bytes < 256 * 1000000) continue;
    is_bounded = is_bounded && cost.seconds > 0.8 * (double)cost.bytes / machine.bandwidth;
    count++;
  }
  ok(is_bounded && count > 2, "by a modelled GPU too, what is larger than its caches passes at its bandwidth");
  arena_free(arena);
}

/* ---- factors of products ---- */

static double product_seconds(const Machine *machine, const Kernels *kernels, KernelKind kind) {
  double sum = 0;
  for (int k = 0; kernels && k < kernels->kernel_count; k++)
    if (kernels->kernels[k].kind == kind) sum += cost_of_kernel(machine, kernels, &kernels->kernels[k], NULL).seconds;
  return sum;
}

static void test_precision(const char *share_dir) {
  Arena *arena = arena_new();
  const char *body = "x |> GCN(256) as conv1 |> relu";
  TargetSpec target = {.name = "t", .kind = "cuda(sm_80)", .device_bytes = GB, .device_bandwidth = 2e12, .fp32_flops = 20e12};
  Machine plain = machine_of_target(&target);
  target.tf32_flops = 160e12, target.bf16_flops = 320e12;
  Machine rated = machine_of_target(&target);
  Kernels *by[PRECISION_COUNT], *own = kernels_by(arena, share_dir, 100000, 512, body, (FuseOptions){.backend = BACKEND_CUDA, .is_gemm_own = true});
  for (int p = 0; p < PRECISION_COUNT; p++) by[p] = kernels_by(arena, share_dir, 100000, 512, body, (FuseOptions){.backend = BACKEND_CUDA, .precision = (Precision)p});
  for (int kind = KERNEL_MATMUL; kind <= KERNEL_OUTER; kind += KERNEL_OUTER - KERNEL_MATMUL) {
    double fp32 = product_seconds(&rated, by[PRECISION_FP32], kind), tf32 = product_seconds(&rated, by[PRECISION_TF32], kind), bf16 = product_seconds(&rated, by[PRECISION_BF16], kind);
    const char *name = kernel_info[kind].name;
    bool is_by_library = kind == KERNEL_MATMUL; /* gradients are our own kernels' */
    ok(bf16 > 0 && (is_by_library ? bf16 < tf32 && tf32 < fp32 : bf16 < fp32 && tf32 == fp32),
       arena_printf(arena, is_by_library ? "%s: the target's tf32 and bf16 count" : "%s: the target's tf32 does not count", name));
    ok(fp32 == product_seconds(&plain, by[PRECISION_FP32], kind), arena_printf(arena, "%s: but not in fp32", name));
    /* A library leaves to a launch of its own what our kernel, which fp32 prefers for few terms, computes with the product. */
    double more = product_seconds(&plain, by[PRECISION_TF32], kind) - fp32;
    ok(more >= 0 && more < (is_by_library ? 1.5 * plain.step_seconds : 1e-12), arena_printf(arena, "%s: without these figures fp32's serves", name));
    ok(product_seconds(&plain, by[PRECISION_BF16], kind) < fp32, arena_printf(arena, "%s: in bf16 it moves half the bytes", name));
    ok(product_seconds(&rated, own, kind) > 0 && product_seconds(&rated, own, kind) == product_seconds(&plain, own, kind), arena_printf(arena, "%s: nor for our own kernels", name));
  }
  double sums = product_seconds(&rated, by[PRECISION_FP32], KERNEL_SPMM);
  ok(sums > 0 && sums == product_seconds(&rated, by[PRECISION_TF32], KERNEL_SPMM), "sums over neighbours cost the same in tf32");
  ok(product_seconds(&rated, by[PRECISION_BF16], KERNEL_SPMM) < 0.75 * sums, "and less in bf16: they gather half the bytes");
  arena_free(arena);
}

/* ---- profiles ---- */

static bool read_text(Machine *machine, Arena *arena, const char *text, const char **fault) {
  char path[] = "/tmp/gnncc-profile-XXXXXX";
  int file = mkstemp(path);
  bool is_written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
  close(file);
  bool is_read = is_written && cost_read_profile(machine, path, "abc", arena, fault);
  unlink(path);
  return is_read;
}

static void test_profiles(const char *share_dir) {
  Arena *arena = arena_new();
  Kernels *kernels = kernels_of(arena, share_dir, 1000, 16, "x |> GCN(16) as conv1 |> relu");
  Machine machine = machine_of_target(NULL);
  const char *fault = NULL;
  double modelled = cost_of_kernel(&machine, kernels, &kernels->kernels[0], "a = b @ c").seconds;
  bool is_read = read_text(&machine, arena,
                           "{\"model_fingerprint\": \"abc\", \"training_steps\": 3, \"steps\": [{\"step\": 1, \"what\": \"a = b @ c\", \"phase\": \"forward\"}, {\"step\": 2, \"what\": \"d\", \"phase\": \"forward\"},"
                           " {\"step\": 3, \"what\": \"a = b @ c\", \"phase\": \"backward\"}, {\"step\": 4, \"what\": \"d\", \"phase\": \"eval\"}],"
                           " \"measured\": {\"epoch_s\": 3, \"evaluation_s\": 9, \"steps\": [{\"step\": 1, \"start_s\": 0, \"seconds\": 0.25}, {\"step\": 2, \"start_s\": 1, \"seconds\": 0.0625},"
                           " {\"step\": 3, \"start_s\": 2, \"seconds\": 0.75}, {\"step\": 4, \"start_s\": 3, \"seconds\": 9}]}}",
                           &fault);
  ok(is_read, "a profile is read");
  ok(cost_of_kernel(&machine, kernels, &kernels->kernels[0], "a = b @ c").seconds == 0.5, "a step that is repeated gets the mean of what was measured");
  ok(cost_of_kernel(&machine, kernels, &kernels->kernels[0], "d").seconds == 0.0625, "seconds come back exactly, and those of the evaluation do not count");
  ok(cost_of_kernel(&machine, kernels, &kernels->kernels[0], "e").seconds == modelled, "a step that the profile does not know is modelled");
#define RUN(model, measured) "{\"model_fingerprint\": \"" model "\", \"training_steps\": 1, \"steps\": [{\"step\": 1, \"what\": \"a\", \"phase\": \"forward\"}], \"measured\": " measured "}"
#define EPOCH "{\"epoch_s\": 1, \"evaluation_s\": 1, \"steps\": "
  static const char *const bad[] = {"", "{", "[]", "{\"steps\": []}", RUN("abc", "{\"steps\": []}"), RUN("abc", EPOCH "[]}"),
                                    RUN("abd", EPOCH "[{\"step\": 1, \"start_s\": 0, \"seconds\": 1}]}"),
                                    RUN("abc", EPOCH "[{\"step\": 1, \"start_s\": 0, \"seconds\": -1}]}"), RUN("abc", EPOCH "[{\"step\": \"1\", \"start_s\": 0, \"seconds\": 1}]}"),
                                    RUN("abc", EPOCH "[{\"step\": 1, \"start_s\": 0, \"seconds\": 1}, {\"step\": 1, \"start_s\": 0, \"seconds\": 1}]}")};
  Machine right = machine_of_target(NULL);
  ok(read_text(&right, arena, RUN("abc", EPOCH "[{\"step\": 1, \"start_s\": 0, \"seconds\": 1}]}"), &fault), "what is refused next is read where it is right");
  Machine slowed = {.overlap_slowdown = {[LANE_D2H] = 1.5, 1.5, 1.5, 1.5}}, again = slowed;
#define MOVED "{\"model_fingerprint\": \"abc\", \"training_steps\": 2, \"steps\": [{\"step\": 1, \"what\": \"a\", \"phase\": \"forward\"}, {\"step\": 2, \"what\": \"out\", \"phase\": \"move\"}], \"measured\": "
  bool are_read = read_text(&slowed, arena, RUN("abc", EPOCH "[{\"step\": 1, \"start_s\": 0, \"seconds\": 1}]}"), &fault) &&
                 read_text(&again, arena, MOVED EPOCH "[{\"step\": 1, \"start_s\": 0, \"seconds\": 1}, {\"step\": 2, \"start_s\": 0, \"seconds\": 1}]}}", &fault);
  ok(are_read && slowed.overlap_slowdown[LANE_D2H] == 1.5 && again.overlap_slowdown[LANE_D2H] == 1, "steps that were measured beside copies are not slowed down by them once more");
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    Machine other = machine_of_target(NULL);
    fault = NULL;
    bool is_refused = !read_text(&other, arena, bad[i], &fault) && fault && *fault && !other.profile;
    ok(is_refused, arena_printf(arena, "refused: %s", fault ? fault : "?"));
  }
  ok(!cost_read_profile(&machine, "/nonexistent/run.json", "abc", arena, &fault) && strstr(fault, "/nonexistent"), "refused: a file that is not there");
  arena_free(arena);
}

/* ---- the cache ---- */

static void test_cache(const char *share_dir) {
  Arena *arena = arena_new();
  char folder[] = "/tmp/gnncc-cache-XXXXXX";
  if (!mkdtemp(folder)) return;
  setenv("XDG_CACHE_HOME", folder, 1);
  ok(!calibrated_native(arena, share_dir), "without a cache nothing was measured");
  const char *inner = arena_printf(arena, "%s/gnncc", folder), *path = arena_printf(arena, "%s/native.gnn", inner);
  static const char *const texts[] = {"target native \"another processor, 3 threads\" { device cpu { memory = 1GiB } }\n", "target native {", ""};
  for (int i = 0; i < 3; i++) {
    if (system(arena_printf(arena, "mkdir -p %s", inner)) != 0) return;
    FILE *out = fopen(path, "w");
    if (out) fputs(texts[i], out), fclose(out);
    static const char *const names[] = {"the cache of another processor is not taken", "a damaged cache is not taken", "an empty cache is not taken"};
    ok(!calibrated_native(arena, share_dir), names[i]);
  }
  unlink(path), rmdir(inner), rmdir(folder);
  arena_free(arena);
}

int main(int argc, char **argv) {
  const char *share_dir = argc > 1 ? argv[1] : "build/share";
  test_links();
  test_kernels(share_dir);
  test_tasks(share_dir);
  test_locality(share_dir);
  test_processors();
  test_traffic(share_dir);
  test_precision(share_dir);
  test_profiles(share_dir);
  test_cache(share_dir);
  printf("1..%d\n", test_count);
  return failures > 0;
}
