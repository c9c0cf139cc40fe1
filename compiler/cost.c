/* cost: seconds and bytes of kernels; the only file that knows bandwidths.
 *
 * A roofline: a kernel takes the longer of its memory traffic at the device's bandwidth and its arithmetic at the
 * device's rate, plus what starting it costs. The figures for a processor that has not been measured are those of one
 * core of a current server: about 12 GB/s of streaming and 60 GFLOP/s of fp32 in our products.
 */
#include <unistd.h>

#include "cost.h"

#define CORE_BANDWIDTH 12e9
#define CORE_FLOPS 60e9
#define CPU_STEP_SECONDS 4e-6
#define CUDA_STEP_SECONDS 5e-6
#define LANE_BANDWIDTH (CORE_BANDWIDTH / 2) /* the copying thread reads and writes every byte */
#define SSD_WRITE_BANDWIDTH 1e9
#define SSD_READ_BANDWIDTH 2e9
#define SSD_LATENCY 100e-6

/* ---- the machine ---- */

static bool link_between(const TargetSpec *target, Tier from, Tier to, Link *link) {
  for (int i = 0; i < target->link_count; i++) {
    if (target->links[i].from != from || target->links[i].to != to) continue;
    *link = (Link){target->links[i].bandwidth, target->links[i].latency};
    return true;
  }
  return false;
}

static bool link_ssd_to(const TargetSpec *target, Tier near, Machine *machine) {
  bool can_write = link_between(target, near, TIER_SSD, &machine->links[CHANNEL_SSD_WRITE]);
  bool can_read = link_between(target, TIER_SSD, near, &machine->links[CHANNEL_SSD_READ]);
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
  machine->links[CHANNEL_D2H] = machine->links[CHANNEL_H2D] = (Link){LANE_BANDWIDTH, 0};
  machine->links[CHANNEL_SSD_WRITE] = (Link){SSD_WRITE_BANDWIDTH, SSD_LATENCY};
  machine->links[CHANNEL_SSD_READ] = (Link){SSD_READ_BANDWIDTH, SSD_LATENCY};
  machine->is_ssd_direct = true;
}

Machine machine_of_target(const TargetSpec *target) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (cores < 1) cores = 1;
  Machine machine = {.name = "native", .bandwidth = CORE_BANDWIDTH * (double)cores, .flops = CORE_FLOPS * (double)cores,
                     .step_seconds = CPU_STEP_SECONDS};
  machine.tier_bytes[TIER_DEVICE] = (int64_t)pages * page;
  if (!target) {
    link_native(&machine);
    return machine;
  }
  machine.name = target->name;
  if (target->kind && target->kind[0] == 'c' && target->kind[1] == 'u') machine.step_seconds = CUDA_STEP_SECONDS;
  if (target->threads > 0) {
    machine.bandwidth = CORE_BANDWIDTH * target->threads;
    machine.flops = CORE_FLOPS * target->threads;
  }
  if (target->device_bandwidth > 0) machine.bandwidth = target->device_bandwidth;
  if (target->fp32_flops > 0) machine.flops = target->fp32_flops;
  if (target->reserve_bytes > 0) machine.reserve_bytes = target->reserve_bytes;
  if (target->device_bytes > 0) machine.tier_bytes[TIER_DEVICE] = target->device_bytes - machine.reserve_bytes;
  machine.tier_bytes[TIER_HOST] = target->host_bytes;
  machine.tier_bytes[TIER_SSD] = target->ssd_bytes;
  machine.scratch_dir = target->ssd_path;
  link_between(target, TIER_DEVICE, TIER_HOST, &machine.links[CHANNEL_D2H]);
  link_between(target, TIER_HOST, TIER_DEVICE, &machine.links[CHANNEL_H2D]);
  link_ssd(target, &machine);
  return machine;
}

/* ---- kernels ---- */

static double numbers(const Graph *graph, ValueId id) {
  const Shape *shape = &graph->values[id].shape;
  return (double)shape_width(shape) * (double)graph_rows(graph, shape->domain);
}

static double nonzeros_of(const Graph *graph, const Value *anchor) {
  for (int k = 0; k < anchor->operand_count; k++) {
    ValueId id = anchor->operand[k];
    if (graph->values[id].op == OP_DROPOUT) id = graph->values[id].operand[0];
    if (graph->values[id].op == OP_INPUT) return (double)graph->program->fields[graph->values[id].as.index].nonzeros;
  }
  return 0;
}

Cost cost_of_kernel(const Machine *machine, const Kernels *kernels, const Kernel *kernel) {
  const Graph *graph = kernels->graph;
  const Value *anchor = &graph->values[kernel->anchor];
  double bytes = 2 * (double)kernel->work_bytes, flops = 0;
  double edges = (double)graph_rows(graph, DOMAIN_EDGE), width = (double)shape_width(&anchor->shape);
  bool is_gather = kernel->kind == KERNEL_SPMM || kernel->kind == KERNEL_EDGE_SUM;
  bool is_sparse = kernel->kind == KERNEL_SPARSE_MATMUL || kernel->kind == KERNEL_SPARSE_OUTER;
  for (int k = 0; k < kernel->input_count; k++) {
    const Value *input = &graph->values[kernel->inputs[k]];
    bool is_sparse_field = is_sparse && input->op == OP_INPUT;
    bytes += is_sparse_field ? 8 * nonzeros_of(graph, anchor) : (double)graph_bytes(graph, kernel->inputs[k]);
  }
  for (int k = 0; k < kernel->output_count; k++) bytes += (double)graph_bytes(graph, kernel->outputs[k]);
  switch (kernel->kind) {
  case KERNEL_MATMUL:
  case KERNEL_OUTER: {
    const struct Contraction *p = &anchor->as.product;
    const Shape *rows = &graph->values[anchor->operand[0]].shape;
    flops += 2.0 * (double)p->depth * (double)p->width * (double)p->lead * (double)graph_rows(graph, rows->domain);
    break;
  }
  case KERNEL_SPARSE_MATMUL: flops += 2 * nonzeros_of(graph, anchor) * width; break;
  case KERNEL_SPARSE_OUTER: flops += 2 * nonzeros_of(graph, anchor) * (double)anchor->as.product.width; break;
  default: break;
  }
  if (is_gather) {
    bytes += edges * (4 * width + 4);
    flops += edges * width;
  }
  flops += (double)kernel->body_count * numbers(graph, kernel->anchor);
  double by_memory = bytes / machine->bandwidth, by_arithmetic = flops / machine->flops;
  return (Cost){machine->step_seconds + (by_memory > by_arithmetic ? by_memory : by_arithmetic), (int64_t)bytes, flops};
}
