/* cost: seconds and bytes of kernels; the only file that knows bandwidths, beside exchange_cost.c.
 *
 * A kernel has two parts: the anchor (product, gather, sum, loss, update) and the body that is computed and stored for
 * each of its rows. Each takes the longer of its instructions and its memory traffic and half the shorter; the kernel
 * takes both, one after the other, and what starting threads costs; on a GPU it takes no less than one thread's share of it. Rates depend on sizes as docs/calibration.md says: a stream's on the bytes
 * that pass through, a gather's on the bytes of the table and of a row, a product's on its shape. They are measured by
 * gnncc --calibrate, or modelled as multiples of the two numbers that any target says, bandwidth and fp32.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cost.h"
#include "known_processor.h"
#include "lang/rates.h"
#include "runtime/core/blocks.h"
#include "runtime/cuda/late.h"

/* Of one core of a server of today, where nothing is known of the processor. */
#define CORE_BANDWIDTH 10e9
#define CORE_FLOPS 135e9
#define LANE_BANDWIDTH 6.2e9                /* the copying thread reads and writes every byte */
#define COPY_CORES (4.0 / 3)                /* that a copy takes from the compute beside it: its own, and a share of the memory; measured 0.68 of two */
#define SSD_WRITE_BANDWIDTH 1e9
#define SSD_READ_BANDWIDTH 2e9
#define SSD_LATENCY 100e-6

/* What calibration does not measure. */
#define HIDDEN 0.5        /* of the shorter of instructions and memory traffic, behind the longer */
#define BIT_EXPS 0.6      /* packing or reading the bit of an element, in exponentials */
#define EDGE_BIT_EXPS 0.06 /* asking for the sign of an element of an edge, or choosing by it: no bit is stored */
#define ADD_EXPS 0.03     /* adding a number to a sum within the row of an edge, in exponentials */
#define ADDED 0.5         /* adding up an element, in elements stored */
#define EDGE_ELEMENTS 0.25 /* the same of an edge */
#define ALONE 7            /* a function of one number at an edge, in those of a number of a vector */
#define AT_EDGE 1.25      /* the same in the short vectors of an edge's row, or put aside for many edges (emit_flat.c) */
#define EDGE_STARTS 12    /* coming to an edge, in elements stored */
#define EDGES_STARTS 500  /* the loop over the edges of a row begins and ends, in elements stored */
#define LANES_EXPS 9      /* bringing 16 partial sums of an edge together, in exponentials */
#define HEAD_LANES_EXPS 2.2 /* those of each of several heads together, on a processor */
#define TURNED 5          /* transposing an element, in elements stored; of the gradient, column by column */
#define TURNED_GRADIENT 14
#define UPDATE_TASK 4096  /* weights a task: emit_kernel.c */
#define ROUND 0.7e-6      /* of a thread of a GPU: from asking memory for numbers to asking for those that come after them */
#define ROUND_DEPTH 16    /* so many terms of a product come at once: kernels/cuda/gemm.cuh */
#define LOSS_ROWS 32      /* that a warp takes one after the other at most, and how many warps there are first: emit_cuda_kernel.c */
#define LOSS_WARPS 4096
#define ROUND_ROWS 4      /* rows of a loss, neighbours of a sum, weights of an update */
#define WRITE_REUSE 2     /* what a kernel writes lies where so many times its own bytes ago something else lay */

#define KIB 1024.0
#define MIB (1024 * KIB)

/* ---- rates ---- */

/* Multiples of the bandwidth and of fp32, and numbers of fp32 operations that take as long; a step is in seconds. */
static const DeviceRates cpu_model = {
    .size_count = 7, .sizes = {256 * KIB, 1 * MIB, 2 * MIB, 4 * MIB, 32 * MIB, 256 * MIB, 1024 * MIB}, .stream = {6.5, 6.5, 6.3, 4.5, 2.3, 1.1, 1},
    .gather = {{6.5, 4.2, 3.8, 3.4, 1.5, 1, 0.5}, {12, 7.8, 6.6, 4.4, 2.7, 1.3, 0.85}, {11, 8, 5.6, 3.3, 2.1, 1.3, 1}},
    .exchange = 1.2, .narrow = 0.8, .outer = 0.93, .outer_narrow = 0.67, .step = 2e-6, .gather_row = 2000, .element = 18.5, .random = 18, .exp = 45,
    .update = 80, .loss = 1500, .loss_class = 400};
/* Near the multiprocessors, in the cache that they share, in memory. */
/* Of a loss: a row is some fifty instructions of a warp and a class 0.6 of one (PTX of kernels/cuda/loss.cuh), 64 operations each, at half of the rate. */
static const DeviceRates gpu_model = {
    .size_count = 3, .sizes = {256 * KIB, 32 * MIB, 128 * MIB}, .stream = {16, 3, 1},
    .gather = {{1.5, 1.5, 0.5}, {2.4, 2.4, 0.8}, {3, 3, 1}}, .exchange = 1, .narrow = 0.5, .outer = 0.8, .outer_narrow = 0.4,
    .step = 5e-6, .gather_row = 0, .element = 4, .random = 16, .exp = 16, .update = 40, .loss = 6500, .loss_class = 75};

/* Between the sizes of a list the rate is interpolated, in logarithms of both. */
static double rate_at(const DeviceRates *rates, const double *list, double bytes) {
  int last = rates->size_count - 1, i = 0;
  if (bytes <= rates->sizes[0]) return list[0];
  if (bytes >= rates->sizes[last]) return list[last];
  while (bytes > rates->sizes[i + 1]) i++;
  double share = log(bytes / rates->sizes[i]) / log(rates->sizes[i + 1] / rates->sizes[i]);
  return list[i] * pow(list[i + 1] / list[i], share);
}

static double modelled(const Machine *machine, const RateSetting *setting, double number) {
  if (setting->unit == UNIT_BYTES_PER_SECOND) return number * machine->bandwidth;
  if (setting->unit == UNIT_FLOP_PER_SECOND) return number * machine->flops;
  return setting->offset == offsetof(DeviceRates, step) ? number : number / machine->flops;
}

static void complete_rates(Machine *machine, DeviceRates model) {
  const RateSetting *setting;
  bool has_sizes = machine->rates.size_count > 0;
  if (!has_sizes) machine->rates.size_count = model.size_count;
  for (int i = 0; (setting = rate_setting(i)); i++) {
    double *numbers = rate_numbers(&machine->rates, setting);
    const double *from = rate_numbers(&model, setting);
    if (numbers[0] > 0) continue;
    for (int k = 0; k < (setting->is_list ? machine->rates.size_count : 1); k++) {
      if (setting->unit == UNIT_BYTES) numbers[k] = from[k];
      else numbers[k] = modelled(machine, setting, setting->is_list ? rate_at(&model, from, machine->rates.sizes[k]) : from[0]);
    }
  }
  machine->step_seconds = machine->rates.step;
}

/* ---- the machine ---- */

static bool link_between(const TargetSpec *target, Tier from, Tier to, Machine *machine, Lane lane) {
  for (int i = 0; i < target->link_count; i++) {
    const TargetLink *link = &target->links[i];
    if (link->from != from || link->to != to) continue;
    machine->links[lane] = (Link){link->bandwidth, link->latency};
    machine->overlap_slowdown[lane] = 1 + link->slowdown;
    return true;
  }
  return false;
}

static bool link_ssd_to(const TargetSpec *target, Tier near, Machine *machine) {
  bool can_write = link_between(target, near, TIER_SSD, machine, LANE_SSD_WRITE);
  bool can_read = link_between(target, TIER_SSD, near, machine, LANE_SSD_READ);
  return can_write || can_read;
}

/* There is one way to the SSD. With a host tier it is the host's, and a link from the device stands in for it where the
 * target has no other. */
static void link_ssd(const TargetSpec *target, Machine *machine) {
  bool has_host = target->host_bytes > 0;
  bool is_found = link_ssd_to(target, has_host ? TIER_HOST : TIER_DEVICE, machine);
  machine->is_ssd_direct = is_found && !has_host;
  if (!is_found) link_ssd_to(target, has_host ? TIER_DEVICE : TIER_HOST, machine);
}

static void link_native(Machine *machine) {
  machine->links[LANE_D2H] = machine->links[LANE_H2D] = (Link){LANE_BANDWIDTH, 0};
  machine->overlap_slowdown[LANE_D2H] = machine->overlap_slowdown[LANE_H2D] = 1 + COPY_CORES / machine->threads;
  machine->links[LANE_SSD_WRITE] = (Link){SSD_WRITE_BANDWIDTH, SSD_LATENCY};
  machine->links[LANE_SSD_READ] = (Link){SSD_READ_BANDWIDTH, SSD_LATENCY};
  machine->is_ssd_direct = true;
}

static bool is_gpu(const TargetSpec *target) { return target->kind && strncmp(target->kind, "cuda", 4) == 0; }

static void apply_target(Machine *machine, const TargetSpec *target) {
  machine->name = target->name;
  if (target->threads > 0) machine->threads = target->threads;
  machine->bandwidth = target->device_bandwidth > 0 ? target->device_bandwidth : CORE_BANDWIDTH * machine->threads;
  machine->flops = target->fp32_flops > 0 ? target->fp32_flops : CORE_FLOPS * machine->threads;
  if (target->tf32_flops > 0) machine->product_speedup[PRECISION_TF32] = target->tf32_flops / machine->flops;
  if (target->bf16_flops > 0) machine->product_speedup[PRECISION_BF16] = target->bf16_flops / machine->flops;
  machine->rates = target->rates;
  machine->is_measured = target->rates.size_count > 0;
  if (target->reserve_bytes > 0) machine->reserve_bytes = target->reserve_bytes;
  else if (is_gpu(target)) machine->reserve_bytes = gnn_cuda_late_bytes(target->device_bytes); /* else programs would not begin: runtime/cuda/find.c */
  if (target->device_bytes > 0) machine->tier_bytes[TIER_DEVICE] = target->device_bytes - machine->reserve_bytes;
  machine->tier_bytes[TIER_HOST] = target->host_bytes;
  machine->tier_bytes[TIER_SSD] = target->ssd_bytes;
  machine->scratch_dir = target->ssd_path;
  link_between(target, TIER_DEVICE, TIER_HOST, machine, LANE_D2H);
  link_between(target, TIER_HOST, TIER_DEVICE, machine, LANE_H2D);
  link_ssd(target, machine);
  machine->ranks = target_devices(target);
  machine->together = target->count;
  machine->peer = (Link){target->device_link.bandwidth, target->device_link.latency};
  machine->net = (Link){target->node_link.bandwidth, target->node_link.latency};
}

/* Calibration asks what this computer is taken to do with arrays of these sizes. */
static bool is_asked_what_is_here(const TargetSpec *target) { return target->rates.size_count > 0 && target->device_bandwidth <= 0 && !is_gpu(target); }

static void take_known_processor(Machine *machine) {
  KnownProcessor known;
  const RateSetting *setting;
  machine->is_guessed = !processor_here(&known);
  if (machine->is_guessed) return;
  machine->processor = known.name;
  machine->bandwidth = known.bandwidth;
  machine->flops = known.flops;
  const bool has_sizes = machine->rates.size_count > 0;
  if (!has_sizes) machine->rates.size_count = known.rates.size_count;
  for (int i = 0; (setting = rate_setting(i)); i++) {
    double *numbers = rate_numbers(&machine->rates, setting);
    const double *from = rate_numbers(&known.rates, setting);
    if (setting->unit == UNIT_BYTES && has_sizes) continue;
    for (int k = 0; from[0] > 0 && k < (setting->is_list ? machine->rates.size_count : 1); k++)
      numbers[k] = setting->is_list && setting->unit != UNIT_BYTES ? rate_at(&known.rates, from, machine->rates.sizes[k]) : from[k];
  }
}

Machine machine_of_target(const TargetSpec *target) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (cores < 1) cores = 1;
  Machine machine = {.name = "native", .threads = (int)cores, .bandwidth = CORE_BANDWIDTH * (double)cores, .flops = CORE_FLOPS * (double)cores};
  for (int l = 0; l < LANE_COUNT; l++) machine.overlap_slowdown[l] = 1;
  for (int p = 0; p < PRECISION_COUNT; p++) machine.product_speedup[p] = 1;
  machine.tier_bytes[TIER_DEVICE] = (int64_t)pages * page;
  if (target) apply_target(&machine, target);
  else link_native(&machine);
  bool has_gpu = target && is_gpu(target);
  if (has_gpu) machine.threads = 0;
  if (!target || is_asked_what_is_here(target)) take_known_processor(&machine);
  complete_rates(&machine, has_gpu ? gpu_model : cpu_model);
  return machine;
}

/* ---- several ranks ---- */

/* Of one of so many that compute at the same time. */
static void share_device(Machine *machine, int users) {
  const RateSetting *setting;
  const double step = machine->rates.step;
  if (users < 2) return;
  machine->threads = machine->threads > users ? machine->threads / users : machine->threads > 0;
  machine->bandwidth /= users;
  machine->flops /= users;
  machine->tier_bytes[TIER_DEVICE] /= users;
  for (int i = 0; (setting = rate_setting(i)); i++) {
    double *numbers = rate_numbers(&machine->rates, setting);
    for (int k = 0; setting->unit != UNIT_BYTES && k < (setting->is_list ? machine->rates.size_count : 1); k++)
      numbers[k] *= setting->unit == UNIT_SECONDS ? users : 1.0 / users;
  }
  machine->rates.step = step;
}

void machine_share_out(Machine *machine, int ranks) {
  const int devices = machine->ranks > 0 ? machine->ranks : 1, of_node = machine->together > 0 ? machine->together : 1;
  const int users = (ranks + devices - 1) / devices, nodes = devices / of_node;
  machine->together = ranks <= of_node ? ranks : nodes == 1 ? ranks : users * of_node;
  machine->ranks = ranks;
  share_device(machine, users);
  machine->tier_bytes[TIER_HOST] /= machine->together;
  machine->tier_bytes[TIER_SSD] /= machine->together;
  for (Lane l = LANE_SSD_WRITE; l <= LANE_SSD_READ; l++) machine->links[l].bandwidth /= machine->together;
  if (users > 1 || machine->peer.bandwidth <= 0) machine->peer = (Link){fmin(machine->bandwidth / 3, machine->peer.bandwidth > 0 ? machine->peer.bandwidth : machine->bandwidth), machine->peer.latency > 0 ? machine->peer.latency : PEER_LATENCY}; /* by memory: written, read, written */
}

/* ---- kernels ---- */

typedef struct Estimate {
  const DeviceRates *rates;
  const Machine *machine;
  const Kernels *kernels;
  const Graph *graph;
  const Kernel *kernel;
  const Value *anchor;
  bool *is_counted;     /* per value: its function is in the sum */
  double rows, nodes, near_nodes, edges; /* nodes: whose rows edges gather; near_nodes: at the other end, where the loops over their edges are */
  double bytes;
  double anchor_reads, body_reads, body_writes; /* seconds of memory traffic */
  double anchor_work, body_work;                /* seconds of instructions */
  double row_work;      /* of anchor_work, what goes with the rows, whatever each has */
  double tasks;         /* of the loop over rows; 0: as many as there are threads to share them */
  double task_share;    /* of the rows, in each but the last */
  int starts;           /* loops shared by the threads; on a GPU, launches */
  double rounds;        /* on a GPU: that a thread takes one after the other, however few have work */
} Estimate;

enum { LINE_NUMBERS = 16 };

static double padded(double columns) { return ceil(columns / LINE_NUMBERS) * LINE_NUMBERS; }

/* Loops over the numbers of a row take whole vectors, or as long for the rest of one. */
static double numbers(const Graph *graph, ValueId id) {
  const Shape *shape = &graph->values[id].shape;
  double width = (double)shape_width(shape);
  return (width > 1 ? padded(width) : 1) * (double)graph_rows(graph, shape->domain);
}

static const double function_exps[POINT_COUNT] = {
#define FUNCTION(name, exps, code) exps,
#include "compiler/graph/functions.h"
#undef FUNCTION
};

static double function_seconds(const Estimate *e, ValueId id) {
  const Value *value = &e->graph->values[id];
  switch (op_info[value->op].work) {
  case WORK_RANDOM: return e->rates->random * numbers(e->graph, id);
  case WORK_FUNCTION: return function_exps[value->as.function] * e->rates->exp * numbers(e->graph, id);
  case WORK_BITS: return BIT_EXPS * e->rates->exp * numbers(e->graph, id);
  case WORK_ADDS: return ADD_EXPS * e->rates->exp * numbers(e->graph, value->operand[0]);
  case WORK_NOTHING: case WORK_PRODUCT: break;
  }
  return 0;
}

/* How often a sum within the row of an edge is computed: on a GPU by each lane for each element that it is a factor of. */
static double repeats(const Estimate *e, ValueId id) {
  const double elements = (double)shape_width(&e->anchor->shape), own = (double)shape_width(&e->graph->values[id].shape);
  return e->kernels->backend == BACKEND_CUDA && op_info[e->graph->values[id].op].work == WORK_ADDS && elements > own ? elements / own : 1;
}

/* The functions behind a value that are computed where it is. */
static double virtual_seconds(Estimate *e, ValueId id) {
  if (e->is_counted[id] || !kernels_is_virtual(e->kernels, id)) return 0;
  e->is_counted[id] = true;
  double seconds = function_seconds(e, id);
  for (int k = 0; k < e->graph->values[id].operand_count; k++) seconds += virtual_seconds(e, e->graph->values[id].operand[k]);
  return repeats(e, id) * seconds;
}

static double operand_seconds(Estimate *e, ValueId of) {
  double seconds = 0;
  for (int k = 0; k < e->graph->values[of].operand_count; k++) seconds += virtual_seconds(e, e->graph->values[of].operand[k]);
  return seconds;
}

/* One element computed and stored for each number of a row, and the functions on the way. */
static void add_body(Estimate *e) {
  e->body_work += e->rates->element * numbers(e->graph, e->kernel->anchor);
  for (int b = 0; b < e->kernel->body_count; b++) {
    ValueId id = e->kernel->body[b];
    if (op_is_aggregation(e->graph->values[id].op)) continue; /* anchor_edges */
    e->body_work += function_seconds(e, id) + operand_seconds(e, id);
  }
}

/* ---- memory traffic ---- */

static double nonzeros_of(const Graph *graph, const Value *anchor) {
  for (int k = 0; k < anchor->operand_count; k++) {
    ValueId id = anchor->operand[k];
    if (graph->values[id].op == OP_DROPOUT) id = graph->values[id].operand[0];
    if (graph->values[id].op == OP_INPUT) return (double)graph->program->fields[graph->values[id].as.index].nonzeros;
  }
  return 0;
}

static double input_bytes(const Kernels *kernels, const Kernel *kernel, ValueId id) {
  const Graph *graph = kernels->graph;
  bool is_sparse = kernel->kind == KERNEL_SPARSE_MATMUL || kernel->kind == KERNEL_SPARSE_OUTER;
  const Op op = graph->values[id].op;
  if (op == OP_ENTRIES || op == OP_ENTRY_OFFSETS || op == OP_OFFSETS || op == OP_HALO_ROWS || op == OP_NODE_IDS || op == OP_SPLIT_ROWS) return 0; /* which are the features', and a number a row beside those of its edges, or beside the row */
  if (is_sparse && graph->values[id].op == OP_INPUT) return 8 * nonzeros_of(graph, &graph->values[kernel->anchor]);
  if (graph->values[id].op == OP_STATE) return 0; /* is counted here: */
  /* an update reads and writes the optimiser's two numbers a weight as well */
  return (double)kernels_bytes(kernels, id) * (kernel->kind == KERNEL_UPDATE ? 2 : 1);
}

static double touched_bytes(const Kernels *kernels, const Kernel *kernel, ValueId wanted, bool *is_touched) {
  double bytes = 0;
  for (int k = 0; k < kernel->input_count; k++) {
    *is_touched = *is_touched || kernel->inputs[k] == wanted;
    bytes += input_bytes(kernels, kernel, kernel->inputs[k]);
  }
  for (int k = 0; k < kernel->output_count; k++) {
    *is_touched = *is_touched || kernel->outputs[k] == wanted;
    bytes += (double)kernels_bytes(kernels, kernel->outputs[k]);
  }
  return bytes;
}

/* Bytes that pass between the last kernel that touched the value and this one, both included, going round the epoch. They
 * tell which cache may hold it still. */
static double reuse_bytes(const Estimate *e, ValueId id) {
  int own = (int)(e->kernel - e->kernels->kernels), count = e->kernels->kernel_count;
  double bytes = 0, most = e->rates->sizes[e->rates->size_count - 1];
  bool is_found = false;
  for (int back = 0; back < count && !is_found && bytes < most; back++) {
    bool is_touched = false;
    bytes += touched_bytes(e->kernels, &e->kernels->kernels[(own + count - back) % count], id, &is_touched);
    is_found = is_touched && back > 0;
  }
  return bytes;
}

/* As many numbers of fp32 as take the bytes of a row. */
static double row_numbers(const Kernels *kernels, ValueId id) {
  return (double)kernels_row_stride(kernels, id) * (kernels_is_half(kernels, id) ? 0.5 : 1);
}

/* What an SPMM sums, NO_VALUE for other kernels. */
static ValueId gathered_value(const Estimate *e) {
  if (e->kernel->kind != KERNEL_SPMM) return NO_VALUE;
  return e->kernels->storage[e->graph->values[e->anchor->operand[0]].operand[0]];
}

/* What it takes beyond the nearest cache, whose time is in the measured rates of the instructions. A busy machine can have
 * measured that cache as slower than the next. */
static double traffic_seconds(const Estimate *e, double bytes, double distance) {
  return fmax(0, bytes / rate_at(e->rates, e->rates->stream, distance) - bytes / e->rates->stream[0]);
}

static bool is_operand(const Estimate *e, ValueId id) {
  int count = e->kernel->kind == KERNEL_OUTER ? 1 : e->anchor->operand_count;
  for (int k = 0; k < count; k++) {
    const Value *operand = &e->graph->values[e->anchor->operand[k]];
    if (e->kernels->storage[e->anchor->operand[k]] == id) return true;
    for (int n = 0; n < operand->operand_count && kernels_is_joined(e->kernels, e->anchor->operand[k]); n++)
      if (operand->operand[n] == id) return true;
  }
  return false;
}

/* A product reads its operands while it multiplies; what is gathered is not read in order; all else the body reads. An
 * update writes in place. */
static void add_traffic(Estimate *e) {
  const double share = e->kernel->kind == KERNEL_BACK ? 1.0 / exchange_holders(e->kernels, e->kernel) : 1; /* the rows that stay with the rank, of the columns that it has */
  double written = 0;
  for (int k = 0; k < e->kernel->input_count; k++) {
    ValueId id = e->kernel->inputs[k];
    double bytes = share * input_bytes(e->kernels, e->kernel, id), seconds = traffic_seconds(e, bytes, reuse_bytes(e, id));
    e->bytes += bytes;
    if (id == gathered_value(e)) continue;
    if (e->kernel->kind != KERNEL_MAP && is_operand(e, id)) e->anchor_reads += seconds;
    else e->body_reads += seconds;
  }
  for (int k = 0; k < e->kernel->output_count; k++) written += share * (double)kernels_bytes(e->kernels, e->kernel->outputs[k]);
  e->bytes += written;
  e->body_writes = traffic_seconds(e, written, WRITE_REUSE * e->bytes);
}

/* ---- anchors ---- */

/* Processors run ahead of their memory, but not all the way. */
static double overlapped(double work, double traffic) { return fmax(work, traffic) + (1 - HIDDEN) * fmin(work, traffic); }

/* Seconds to add up one row of `columns` numbers from a table: that of the measured row sizes around its own. A row that
 * is no whole number of lines touches one more; one of less than a line that no vector fits is added as two. */
static double gathered_row_seconds(const Estimate *e, double columns, double table_bytes) {
  double lines = ceil(columns / LINE_NUMBERS) + (columns > LINE_NUMBERS && fmod(columns, LINE_NUMBERS) > 0);
  double bytes = 64 * lines, seconds[GATHER_WIDTHS];
  for (int w = 0; w < GATHER_WIDTHS; w++) seconds[w] = gather_row_bytes[w] / rate_at(e->rates, e->rates->gather[w], table_bytes);
  bool is_vector = columns == 1 || columns == 2 || columns == 4 || columns == 8;
  if (columns < LINE_NUMBERS) return (is_vector ? 1 : 2) * seconds[0];
  int w = 0;
  while (w + 2 < GATHER_WIDTHS && bytes > gather_row_bytes[w + 1]) w++;
  if (bytes >= gather_row_bytes[GATHER_WIDTHS - 1]) return seconds[GATHER_WIDTHS - 1] * bytes / gather_row_bytes[GATHER_WIDTHS - 1];
  double share = (bytes - gather_row_bytes[w]) / (gather_row_bytes[w + 1] - gather_row_bytes[w]);
  return seconds[w] + share * (seconds[w + 1] - seconds[w]);
}

/* The same of rows that come back as the data's do. A row that is taken from anywhere in a table of d bytes was touched up to d
 * bytes ago, so d times its seconds adds up those of all distances up to d, and the difference of two such sums is what
 * the distances between them take. Where hubs are gathered again and again, few other rows pass in a long time, in which others fill the caches:
 * what they move while a row waits longer than one from anywhere would, beside what they moved while that was measured, makes its distance longer. */
static double local_row_seconds(const Estimate *e, double columns, double table_bytes, const Locality *locality) {
  enum { TURNS = 3 };
  double seconds = gathered_row_seconds(e, columns, table_bytes), measured[LOCALITY_STEPS];
  if (!locality->is_known) return seconds;
  const double others = e->kernels->backend == BACKEND_CPU ? e->rates->others / (4 * columns) : 0; /* in rows */
  for (int k = 0; k < LOCALITY_STEPS; k++) measured[k] = gathered_row_seconds(e, columns, table_bytes * exp2(-k / 2.0));
  for (int turn = 0; turn < TURNS; turn++) {
    double sum = 0, near = 0, near_sum = 0, nearer_share = 0;
    for (int k = LOCALITY_STEPS - 1; k >= 0; k--) {
      const double waited = 4 * columns * locality->waited[k] * seconds * others / (1 + measured[k] * others);
      const double far = fmax(table_bytes * exp2(-k / 2.0) + waited, 1.01 * near), far_sum = far * (waited > 0 || near > 0 ? gathered_row_seconds(e, columns, far) : measured[k]);
      sum += (locality->within[k] - nearer_share) * fmax(0, far_sum - near_sum) / (far - near);
      near = far, near_sum = far_sum, nearer_share = locality->within[k];
    }
    seconds = turn == 0 ? sum : (seconds + sum) / 2;
  }
  return seconds;
}

static void divide(Estimate *e, double rows) {
  e->tasks = ceil(rows / (double)e->kernel->task_rows);
  e->task_share = rows > 0 ? (double)e->kernel->task_rows / rows : 1;
}

/* Runs have about as many rows. */
static void divide_among_walkers(Estimate *e) {
  e->tasks = (double)e->kernel->walkers;
  e->task_share = 1 / e->tasks;
}

static double product_speedup(const Estimate *e) {
  return e->kernel->library == LIBRARY_CUBLASLT ? e->machine->product_speedup[e->kernels->precision] : 1;
}

static void anchor_matmul(Estimate *e) {
  const struct Contraction *p = &e->anchor->as.product;
  double depth = (double)p->depth, width = (double)p->width, rows = e->rows * (double)p->lead;
  double rate = (width <= LINE_NUMBERS ? e->rates->narrow : e->machine->flops) * product_speedup(e);
  e->anchor_work = 2 * rows * depth * padded(width) / rate + e->rates->element * (rows + depth) * padded(width);
  divide(e, rows);
  e->starts = 2;
  e->rounds = ceil(depth / ROUND_DEPTH);
}

/* Sums of so many rows of a gradient are open at a time; fewer leave the multipliers waiting. */
static double outer_depth(double depth) {
  enum { TILE = 6 };
  return depth < TILE ? 2 * depth : ceil(depth / TILE) * TILE;
}

/* The right side is packed before it is multiplied: that is the body of a gradient. */
static void anchor_outer(Estimate *e) {
  const struct Contraction *p = &e->anchor->as.product;
  double depth = (double)p->depth, width = (double)p->width, rows = (double)p->lead;
  rows *= (double)graph_rows(e->graph, e->graph->values[e->anchor->operand[0]].shape.domain);
  divide_among_walkers(e);
  double runs = exp2(gnn_run_levels(graph_rows(e->graph, DOMAIN_NODE)));
  double rate = width <= LINE_NUMBERS ? e->rates->outer_narrow : e->rates->outer;
  e->anchor_work = 2 * rows * outer_depth(depth) * padded(width) / rate;
  e->body_work = e->rates->element * (rows * padded(width) + runs * depth * width);
  e->starts = 2;
  e->rounds = ceil(rows * e->task_share / ROUND_DEPTH);
}

static bool has_dropout(const Graph *graph, const Value *anchor) {
  for (int k = 0; k < anchor->operand_count; k++)
    if (graph->values[anchor->operand[k]].op == OP_DROPOUT) return true;
  return false;
}

/* A gather whose edges are the numbers of the field that are not 0, drawn for dropout one by one. */
static void anchor_sparse(Estimate *e) {
  const struct Contraction *p = &e->anchor->as.product;
  bool is_outer = e->kernel->kind == KERNEL_SPARSE_OUTER;
  double nonzeros = nonzeros_of(e->graph, e->anchor), depth = (double)p->depth, width = (double)p->width;
  double field_rows = (double)graph_rows(e->graph, e->graph->values[e->anchor->operand[0]].shape.domain), turned = e->kernel->work_bytes > 0 ? depth * width : 0;
  if (is_outer && turned > 0) width = depth; /* the field is the right operand */
  bool is_half = is_outer && (kernels_is_half(e->kernels, e->anchor->operand[0]) || kernels_is_half(e->kernels, e->anchor->operand[1]));
  double columns = is_half ? width / 2 : width;
  double table_bytes = 4 * columns * (is_outer ? field_rows : depth);
  e->row_work = e->rows * e->rates->gather_row;
  e->anchor_work = nonzeros * gathered_row_seconds(e, columns, table_bytes) + e->row_work;
  if (has_dropout(e->graph, e->anchor)) e->anchor_work += nonzeros * 2 * e->rates->random;
  e->anchor_work += (is_outer ? TURNED_GRADIENT : TURNED) * turned * e->rates->element;
  e->starts = turned > 0 ? 2 : 1;
  e->rounds = ceil(nonzeros / (!is_outer ? field_rows : turned > 0 ? (double)p->width : depth) / ROUND_ROWS);
}

/* A small table that a step has just written lies in the caches of all threads, and each thread wants all of it. */
static double exchange_seconds(const Estimate *e, ValueId table, double bytes) {
  double others = e->machine->threads - 1;
  if (others < 1 || e->kernels->made_by[table] == NO_INDEX) return 0;
  return fmax(0, others * bytes * (1 / e->rates->exchange - 1 / rate_at(e->rates, e->rates->stream, bytes)));
}

static double degree_rounds(const Estimate *e) { return ceil(e->edges / fmax(1, e->nodes) / ROUND_ROWS); }

/* How soon rows that the anchor gathers along its edges come back. */
static const Locality *gathered_locality(const Estimate *e) {
  static const Locality unknown = {.is_known = false};
  const DataInfo *info = e->graph->program->info;
  const Domain edges = e->graph->values[e->anchor->operand[0]].shape.domain;
  const bool is_measured = edges == DOMAIN_EDGE || typed_are_all_edges(info, edges);
  return is_measured ? &info->locality[graph_walk_end(e->anchor)] : &unknown;
}

static void anchor_spmm(Estimate *e) {
  double columns = row_numbers(e->kernels, gathered_value(e)), table_bytes = 4 * e->nodes * columns;
  e->anchor_reads = exchange_seconds(e, gathered_value(e), table_bytes);
  e->row_work = e->rows * e->rates->gather_row;
  e->anchor_work = e->edges * local_row_seconds(e, columns, table_bytes, gathered_locality(e)) + e->row_work;
  e->rounds = degree_rounds(e);
}

enum { SEEN_NEAR = 1, SEEN_FAR = 2 };

typedef struct EdgeWork {
  double gathered, work; /* seconds: of the rows of nodes at the other end, of what is computed */
  uint8_t *seen;         /* per value: SEEN_* */
  const bool *kept;      /* per value: an earlier stage has left it; NULL: there is none */
} EdgeWork;

/* Bringing the lanes of `width` sums together, in exponentials. */
static double lanes_exps(const Estimate *e, double width) { return width * (width > 1 && e->kernels->backend == BACKEND_CPU ? HEAD_LANES_EXPS : LANES_EXPS); }

/* What a value takes for each edge that is computed there; far: at the end that is not the sum's. */
static void add_edge_work(const Estimate *e, ValueId id, bool is_far, EdgeWork *of) {
  const Value *value = &e->graph->values[id];
  const uint8_t seen = is_far ? SEEN_FAR : SEEN_NEAR;
  if (of->seen[id] & seen) return;
  of->seen[id] |= seen;
  if (of->kept && of->kept[id]) return;
  if (!kernels_is_virtual(e->kernels, id)) {
    const double columns = row_numbers(e->kernels, e->kernels->storage[id]);
    if (is_far && domain_is_nodes(value->shape.domain)) of->gathered += e->edges * local_row_seconds(e, columns, 4 * columns * e->nodes, gathered_locality(e));
    return;
  }
  const double width = (double)shape_width(&value->shape);
  const double each = width > 1 ? AT_EDGE * padded(width) : ALONE;
  double exps = 0;
  switch (op_info[value->op].work) {
  case WORK_RANDOM: of->work += e->edges * each * e->rates->random; break;
  case WORK_FUNCTION: {
    const bool is_flat = function_exps[value->as.function] >= 1 && value->operand_count == 1 && width <= FLAT_WIDEST && e->kernels->backend == BACKEND_CPU;
    exps = (is_flat ? AT_EDGE * width : each) * function_exps[value->as.function];
    break;
  }
  case WORK_BITS: exps = each * EDGE_BIT_EXPS; break;
  case WORK_ADDS: {
    const double from = (double)shape_width(&e->graph->values[value->operand[0]].shape);
    exps = ADD_EXPS * padded(from) + (from >= LINE_NUMBERS * width ? lanes_exps(e, width) : 0);
    break;
  }
  case WORK_NOTHING: case WORK_PRODUCT: break;
  }
  of->work += e->edges * exps * e->rates->exp;
  for (int k = 0; k < value->operand_count; k++) add_edge_work(e, value->operand[k], value->op == OP_LIFT ? value->as.end != graph_walk_end(e->anchor) : is_far, of);
}

static double edge_loop_seconds(const Estimate *e) { return e->kernels->backend == BACKEND_CPU ? EDGES_STARTS * e->near_nodes * e->rates->element : 0; }

/* What is computed for each edge of a sum's operand. Adding a row is in the measured rates of gathers, and so little is left of it. A sum within an edge's row
 * is kept for later stages, if any. `beside`: the operand of another sum in the same walk, or NO_VALUE. */
static double edges_seconds(const Estimate *e, ValueId operand, ValueId beside, double whole, bool *kept) {
  const size_t values = (size_t)e->graph->value_count + 1;
  const double width = (double)(shape_width(&e->graph->values[operand].shape) + (beside == NO_VALUE ? 0 : shape_width(&e->graph->values[beside].shape))), elements = e->rates->element * width;
  EdgeWork of = {.seen = arena_alloc(e->graph->arena, values), .kept = kept};
  add_edge_work(e, operand, false, &of);
  if (beside != NO_VALUE) add_edge_work(e, beside, false, &of);
  for (int i = 0; kept && i < e->graph->value_count; i++) kept[i] = kept[i] || (of.seen[i] && op_info[e->graph->values[i].op].work == WORK_ADDS && kernels_is_virtual(e->kernels, i));
  if (e->kernels->backend == BACKEND_CUDA) return of.gathered + e->edges * elements + whole;
  const double starts = EDGE_STARTS * e->edges * e->rates->element + edge_loop_seconds(e);
  return overlapped(e->edges * EDGE_ELEMENTS * elements + starts + of.work, of.gathered);
}

static void stage_edges(Estimate *e, ValueId beside, bool *kept) {
  const double whole = operand_seconds(e, (ValueId)(e->anchor - e->graph->values));
  e->anchor_work += edges_seconds(e, e->anchor->operand[0], beside, whole, kept);
  e->row_work += edge_loop_seconds(e);
  e->rounds = degree_rounds(e);
}

/* One after the other for each row. */
static void anchor_edges(Estimate *e) {
  Stage stages[MOST_STAGES];
  const Value *first = e->anchor;
  const int count = kernel_stages(e->kernels, e->kernel, stages);
  if (e->kernel->is_of_two) {
    stage_edges(e, e->graph->values[stages[1].anchor].operand[0], NULL);
    return;
  }
  bool *kept = arena_alloc(e->graph->arena, (size_t)e->graph->value_count + 1);
  for (int s = 0; s < count; s++) {
    e->anchor = &e->graph->values[stages[s].anchor];
    stage_edges(e, NO_VALUE, kept);
  }
  e->anchor = first;
}

/* A sum within rows or over them. */
static void anchor_reduce(Estimate *e) {
  const ValueId operand = e->anchor->operand[0];
  const bool is_of_edges = domain_is_edges(e->graph->values[operand].shape.domain) && kernels_is_virtual(e->kernels, operand) && e->kernels->backend == BACKEND_CPU;
  const ValueId beside = kernel_sums_rows_too(e->kernel) ? e->graph->values[e->kernel->body[0]].operand[0] : NO_VALUE;
  if (is_of_edges) e->anchor_work = edges_seconds(e, operand, beside, 0, NULL);
  else e->anchor_work = ADDED * (e->rates->element * numbers(e->graph, operand) + operand_seconds(e, e->kernel->anchor));
  if (e->kernel->kind == KERNEL_ROW_SUM && e->kernels->backend == BACKEND_CPU) e->anchor_work += lanes_exps(e, (double)shape_width(&e->anchor->shape)) * e->rates->exp * e->rows;
  if (kernel_folds_rows(e->kernel->kind)) {
    divide_among_walkers(e);
    e->starts = 2;
    e->rounds = ceil((double)graph_rows(e->graph, e->graph->values[e->anchor->operand[0]].shape.domain) * e->task_share / ROUND_DEPTH);
  }
}

static void anchor_loss(Estimate *e) {
  const TypedProgram *program = e->graph->program;
  double rows = (double)program->info->split_count[SPLIT_TRAIN];
  double classes = (double)shape_width(&e->graph->values[e->anchor->operand[0]].shape);
  e->anchor_work = rows * (e->rates->loss + classes * e->rates->loss_class);
  if (e->kernel->kind == KERNEL_CROSS_ENTROPY) e->rounds = ceil(fmin(LOSS_ROWS, rows / LOSS_WARPS) / ROUND_ROWS);
}

static double updated_numbers(const Estimate *e) {
  double sum = numbers(e->graph, e->anchor->operand[0]);
  for (int b = 0; b < e->kernel->body_count; b++) sum += numbers(e->graph, e->graph->values[e->kernel->body[b]].operand[0]);
  return sum;
}

static void anchor_update(Estimate *e) {
  e->anchor_work = updated_numbers(e) * e->rates->update;
  e->rounds = ROUND_ROWS;
}
static void anchor_nothing(Estimate *e) { (void)e; }

static double packing_seconds(const DeviceRates *rates, const Kernel *kernel) {
  const double moved = 2 * (double)kernel->work_bytes;
  return moved > 0 ? moved / rate_at(rates, rates->stream, moved) : 0;
}

/* Of a rank: rows that leave are packed. */
static void anchor_halo(Estimate *e) {
  if (e->graph->program->info->is_of_rank) e->anchor_reads = packing_seconds(e->rates, e->kernel);
}

Cost cost_of_sending(const Machine *machine, const Kernel *kernel) { return (Cost){.seconds = packing_seconds(&machine->rates, kernel) + machine->step_seconds, .bytes = 2 * kernel->work_bytes}; }

/* Sums over all rows are those of the parts of all ranks. */
static double gathered_parts_seconds(const Estimate *e) {
  const DataInfo *info = e->graph->program->info;
  if (!info->is_of_rank || !kernel_gathers_parts(e->kernel) || e->machine->ranks < 2) return 0;
  return seconds_of_gathering(e->machine, info->ranks, 4 * (double)shape_width(&e->anchor->shape) * (double)(INT64_C(1) << info->ranks->part_levels));
}

static void (*const add_anchor[KERNEL_KIND_COUNT])(Estimate *) = {
#define KERNEL(name, text, what, body, fold, loops, cost, says, variants, cpu, shared, cuda) anchor_##cost,
#include "kernel_kinds.h"
#undef KERNEL
};

/* ---- the sum ---- */

/* How much longer than with all threads equally at work: the one with most tasks keeps the others waiting. */
static double idle_factor(const Estimate *e) {
  double threads = e->machine->threads;
  if (threads < 2 || e->tasks < 1) return 1;
  return fmax(1, threads * fmin(1, ceil(e->tasks / threads) * e->task_share));
}

static double anchor_flops(const Estimate *e) {
  const struct Contraction *p = &e->anchor->as.product;
  const Value *first = e->anchor->operand_count > 0 ? &e->graph->values[e->anchor->operand[0]] : e->anchor;
  double rows = (double)graph_rows(e->graph, first->shape.domain);
  bool is_sparse = e->kernel->kind == KERNEL_SPARSE_MATMUL || e->kernel->kind == KERNEL_SPARSE_OUTER;
  switch (op_info[e->anchor->op].work) {
  case WORK_ADDS: return rows * (double)shape_width(&first->shape);
  case WORK_PRODUCT:
    if (!is_sparse) return 2 * rows * (double)(p->lead * p->depth) * (double)p->width;
    return 2 * nonzeros_of(e->graph, e->anchor) * (double)(first->op == OP_INPUT || first->op == OP_DROPOUT ? p->width : p->depth);
  case WORK_NOTHING: case WORK_FUNCTION: case WORK_RANDOM: case WORK_BITS: break;
  }
  return 0;
}

/* Kernels of our own that a step launches, or a library does. */
static int launches(const Estimate *e) {
  const Kernel *kernel = e->kernel;
  const bool is_body_left = kernel->library && kernel->body_count > kernel->epilogue.body_count;
  switch (kernel->kind) {
  case KERNEL_MATMUL: return 1 + is_body_left + (kernel->library && kernel->work_bytes > 0); /* a matrix in bf16 */
  case KERNEL_SPMM: return 1 + is_body_left;
  case KERNEL_CROSS_ENTROPY: return 3;
  case KERNEL_CROSS_ENTROPY_GRADIENT: return 2;
  case KERNEL_BEHIND: return 2;
  case KERNEL_OUTER: case KERNEL_COLUMN_SUM: case KERNEL_COLUMN_MAX: case KERNEL_COLUMN_MIN: case KERNEL_SPARSE_MATMUL: case KERNEL_SPARSE_OUTER: return e->starts;
  case KERNEL_MAP: case KERNEL_CONCAT: case KERNEL_HALO: case KERNEL_COLUMNS: case KERNEL_BACK: case KERNEL_BESIDE: case KERNEL_EDGE_SUM: case KERNEL_EDGE_MAX: case KERNEL_EDGE_MIN: case KERNEL_ROW_SUM: case KERNEL_FOLLOW: case KERNEL_UPDATE: case KERNEL_KIND_COUNT: break;
  }
  return 1;
}

/* A launch takes its time, and what little there is to do in it that of a thread which does its share: other threads may have nothing to do, but they do not help. */
static double gpu_seconds(const Estimate *e, double work) {
  const int count = launches(e);
  return count * e->machine->step_seconds + fmax(work, (e->rounds + count - 1) * ROUND);
}

static Cost estimate(Estimate *e) {
  add_anchor[e->kernel->kind](e);
  if (e->kernel->kind != KERNEL_UPDATE && e->kernel->kind != KERNEL_FOLLOW) add_body(e);
  add_traffic(e);
  const double anchor = overlapped(e->anchor_work, e->anchor_reads), work = anchor + overlapped(e->body_work, e->body_reads + e->body_writes);
  const double walked = work > 0 ? anchor * (1 - fmin(1, e->row_work / fmax(e->anchor_work, 1e-12))) / work : 0;
  if (e->kernels->backend == BACKEND_CUDA) return (Cost){.seconds = gpu_seconds(e, work), .walked = walked};
  const double starts = e->tasks == 1 ? 0 : e->starts * e->machine->step_seconds;
  return (Cost){.seconds = starts + work * idle_factor(e), .walked = walked};
}

Cost cost_of_kernel(const Machine *machine, const Kernels *kernels, const Kernel *kernel, const char *what) {
  const Graph *graph = kernels->graph;
  Estimate e = {.rates = &machine->rates, .machine = machine, .kernels = kernels, .graph = graph, .kernel = kernel,
                .anchor = &graph->values[kernel->anchor], .starts = 1, .rounds = 1};
  e.is_counted = arena_alloc(graph->arena, (size_t)graph->value_count + 1);
  e.rows = (double)graph_rows(graph, e.anchor->shape.domain);
  const Domain operand = e.anchor->operand_count ? graph->values[e.anchor->operand[0]].shape.domain : DOMAIN_NONE;
  const Domain walked = domain_is_edges(e.anchor->shape.domain) ? e.anchor->shape.domain : domain_is_edges(operand) ? operand : DOMAIN_EDGE;
  const EdgeEnd near = graph_walk_end(e.anchor);
  e.nodes = (double)graph_rows(graph, domain_at(walked, near == END_SRC ? END_DST : END_SRC));
  e.near_nodes = (double)graph_rows(graph, domain_at(walked, near));
  e.edges = (double)graph_rows(graph, walked);
  bool has_row_tasks = kernel->kind == KERNEL_MAP || kernel->kind == KERNEL_CONCAT || kernel->kind == KERNEL_HALO || kernel->kind == KERNEL_BEHIND || kernel->kind == KERNEL_BACK || kernel->kind == KERNEL_BESIDE || kernel->kind == KERNEL_ROW_SUM || kernel->kind == KERNEL_CROSS_ENTROPY_GRADIENT;
  if (has_row_tasks && !domain_is_relation(e.anchor->shape.domain)) divide(&e, e.rows);
  if (kernel->kind == KERNEL_UPDATE) {
    e.tasks = ceil(updated_numbers(&e) / UPDATE_TASK);
    e.task_share = 1 / e.tasks;
  }
  Cost cost = estimate(&e);
  cost.seconds += gathered_parts_seconds(&e);
  cost.flops = anchor_flops(&e);
  cost.bytes = (int64_t)e.bytes;
  bool is_gathered = gathered_value(&e) != NO_VALUE;
  double row = is_gathered ? row_numbers(kernels, gathered_value(&e)) : (double)shape_width(&e.anchor->shape);
  if (op_info[e.anchor->op].bytes == BYTES_EDGES) cost.bytes += (int64_t)(4 * e.edges * row);
  if (what && machine->profile) profile_seconds(machine->profile, what, &cost.seconds);
  return cost;
}
