/* exchange_cost: bytes and seconds of what passes between ranks: rows and columns of others by exchanges, and parts of sums, which all ranks get.
 *
 * An exchange takes what its slowest rank or node takes, as all wait for that. Between GPUs of a node it passes directly, over the link that joins them, or through the host: out to its memory, there from one process to the other, and in. */
#include <math.h>
#include <string.h>

#include "cost.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static double link_seconds(Link link, int64_t bytes) { return bytes > 0 && link.bandwidth > 0 ? link.latency + (double)bytes / link.bandwidth : 0; }

/* Rows of row_bytes from the first ranks to the first ranks, so many of each. */
typedef struct Exchanged {
  const RankInfo *ranks;
  HaloKind kind;
  int64_t row_bytes;
  int senders, receivers;
} Exchanged;

static ExchangeTraffic traffic_of(const Exchanged *x, int rank, int of_node) {
  ExchangeTraffic t = {{0}, {0}};
  const int64_t *pairs = x->ranks->pairs[x->kind];
  for (int q = 0, count = x->ranks->count; q < count; q++) {
    const bool is_beyond = q / of_node != rank / of_node;
    if (rank < x->senders && q < x->receivers) t.sent[is_beyond] += x->row_bytes * pairs[q * count + rank];
    if (rank < x->receivers && q < x->senders) t.received[is_beyond] += x->row_bytes * pairs[rank * count + q];
  }
  return t;
}

/* Of one exchange: bytes that leave or reach the rank with most within its node, and the node with most; and by the host, seconds of both copies of the rank that takes longest. */
typedef struct Passing {
  int64_t within, beyond;
  double copying;
} Passing;

static double copying_seconds(const Machine *machine, int64_t sent, int64_t received) { return link_seconds(machine->links[LANE_D2H], sent) + link_seconds(machine->links[LANE_H2D], received); }

/* Between ranks of a node; through the host's memory as fast as devices reach that. */
static Link peer_link(const Machine *machine, bool passes_host) {
  const double to_host = machine->links[LANE_D2H].bandwidth;
  return passes_host && to_host > 0 ? (Link){to_host, PEER_LATENCY} : machine->peer;
}

static double passing_seconds(const Machine *machine, const Passing *p, bool passes_host) {
  return fmax(link_seconds(peer_link(machine, passes_host), p->within), link_seconds(machine->net, p->beyond)) + (passes_host ? p->copying : 0);
}

static bool is_by_host(const Machine *machine, ExchangeWay way, const Passing *p) {
  if (way != WAY_FASTER) return way == WAY_BY_HOST;
  const bool reaches_host = machine->links[LANE_D2H].bandwidth > 0 && machine->links[LANE_H2D].bandwidth > 0;
  return reaches_host && passing_seconds(machine, p, true) < passing_seconds(machine, p, false);
}

static ExchangeCost cost_of_exchange(const Machine *machine, const Exchanged *x, ExchangeWay way) {
  const int count = x->ranks->count, of_node = machine->together > 0 ? machine->together : count;
  ExchangeCost cost = {0};
  Passing p = {0};
  for (int node = 0; node < count; node += of_node) {
    int64_t leaves = 0, comes = 0; /* the node */
    for (int r = node; r < node + of_node && r < count; r++) {
      const ExchangeTraffic t = traffic_of(x, r, of_node);
      cost.bytes += t.sent[0] + t.sent[1];
      cost.most_bytes = larger(cost.most_bytes, traffic_bytes(t));
      p.within = larger(p.within, larger(t.sent[0], t.received[0]));
      p.copying = fmax(p.copying, copying_seconds(machine, t.sent[0] + t.sent[1], t.received[0] + t.received[1]));
      leaves += t.sent[1];
      comes += t.received[1];
    }
    p.beyond = larger(p.beyond, larger(leaves, comes));
  }
  cost.passes_host = is_by_host(machine, way, &p);
  cost.seconds = passing_seconds(machine, &p, cost.passes_host);
  return cost;
}

double seconds_of_rows(const Machine *machine, const RankInfo *ranks, EdgeEnd sums_at, int64_t row_bytes) {
  return cost_of_exchange(machine, &(Exchanged){ranks, (HaloKind)sums_at, row_bytes, ranks->count, ranks->count}, machine->way).seconds;
}

/* The rank with fewest rows of its own gets most. */
double seconds_of_columns(const Machine *machine, const RankInfo *ranks, int64_t row_bytes) {
  const int count = ranks->count, of_node = machine->together > 0 && machine->together < count ? machine->together : count;
  const double each = (double)ranks->nodes / count * (double)row_bytes;
  const int64_t of_rank = (int64_t)(each * (count - 1));
  const Passing p = {(int64_t)(each * (of_node - 1)), (int64_t)(each * of_node * (count - of_node)), copying_seconds(machine, of_rank, of_rank)};
  return passing_seconds(machine, &p, is_by_host(machine, machine->way, &p));
}

const char *exchange_variant(const Kernel *kernel, bool passes_host) {
  if (kernel->kind != KERNEL_HALO) return passes_host ? "transpose-host" : "transpose";
  if (kernel->comes_again) return passes_host ? "dedup-host" : "dedup";
  return passes_host ? "halo-host" : "halo";
}

bool exchange_is_by_host(const char *variant) {
  static const char ending[] = "-host";
  const size_t length = strlen(variant), behind = sizeof ending - 1;
  return length > behind && strcmp(variant + length - behind, ending) == 0;
}

int exchange_holders(const Kernels *kernels, const Kernel *kernel) {
  const Graph *graph = kernels->graph;
  const Value *anchor = &graph->values[kernel->anchor];
  const int64_t width = shape_width(&anchor->shape), of = shape_width(&graph->values[anchor->operand[0]].shape);
  if (kernel->kind == KERNEL_HALO) return graph->program->info->ranks->count;
  return (int)(kernel->kind == KERNEL_COLUMNS ? (of + width - 1) / width : width / of);
}

HaloKind kernel_exchange_kind(const Kernel *kernel, const Graph *graph) { return halo_kind(&graph->values[kernel->anchor]); }

/* A row of what comes back has the columns of all holders. */
int64_t kernel_exchange_row_bytes(const Kernels *kernels, const Kernel *kernel) {
  return kernels_row_bytes(kernels, kernel->anchor) / (kernel->kind == KERNEL_BACK ? exchange_holders(kernels, kernel) : 1);
}

BoundaryKind exchange_boundary(const Kernels *kernels, const Kernel *kernel) {
  const BoundaryKind boundary = kernels->graph->is_training ? kernels->graph->program->train.boundary : BOUNDARY_EXACT;
  return boundary == BOUNDARY_SAMPLE && domain_is_edges(kernels->graph->values[kernel->anchor].shape.domain) ? BOUNDARY_EXACT : boundary;
}

const RankInfo *exchange_ranks(const Kernels *kernels, const Kernel *kernel) {
  const RankInfo *ranks = kernels->graph->program->info->ranks;
  return exchange_boundary(kernels, kernel) == BOUNDARY_SAMPLE && ranks->sampled ? ranks->sampled : ranks;
}

static Exchanged exchanged(const Kernels *kernels, const Kernel *kernel) {
  const RankInfo *ranks = exchange_ranks(kernels, kernel);
  const int holders = exchange_holders(kernels, kernel);
  return (Exchanged){ranks, kernel_exchange_kind(kernel, kernels->graph), kernel_exchange_row_bytes(kernels, kernel), kernel->kind == KERNEL_BACK ? holders : ranks->count, kernel->kind == KERNEL_COLUMNS ? holders : ranks->count};
}

ExchangeTraffic exchange_traffic(const Kernels *kernels, const Kernel *kernel, int rank, int of_node) {
  const Exchanged x = exchanged(kernels, kernel);
  return traffic_of(&x, rank, of_node);
}

/* Of the rank of which most leaves, or to which most comes. */
static int64_t most_of_ranks(const Exchanged *x, bool comes) {
  int64_t most = 0;
  for (int r = 0; r < x->ranks->count; r++) {
    const ExchangeTraffic t = traffic_of(x, r, x->ranks->count);
    most = larger(most, comes ? t.received[0] : t.sent[0]);
  }
  return most;
}

int64_t exchange_most_rows(const Kernels *kernels, const Kernel *kernel) {
  Exchanged x = exchanged(kernels, kernel);
  if (kernel->kind == KERNEL_HALO) return x.ranks->sent[x.kind];
  x.row_bytes = 1;
  return most_of_ranks(&x, false);
}

int64_t exchange_most_received(const Kernels *kernels, const Kernel *kernel) {
  const Exchanged x = exchanged(kernels, kernel);
  return most_of_ranks(&x, true);
}

static ExchangeWay way_of_table(const Machine *machine, const char *said) {
  if (!machine->by_host) return machine->way;
  for (int i = 0; i < machine->by_host->count; i++)
    if (strcmp(machine->by_host->said[i], said) == 0) return WAY_BY_HOST;
  return WAY_DIRECT;
}

ExchangeCost exchange_of_kernel(const Machine *machine, const Kernels *kernels, const Kernel *kernel) {
  const DataInfo *info = kernels->graph->program->info;
  if (!kernel_exchanges(kernel) || !info->is_of_rank) return (ExchangeCost){0};
  const Exchanged x = exchanged(kernels, kernel);
  ExchangeCost cost = cost_of_exchange(machine, &x, way_of_table(machine, kernels->graph->values[kernel->anchor].said));
  if (exchange_boundary(kernels, kernel) != BOUNDARY_STALE) return cost;
  cost.later_seconds = cost.seconds; /* what comes is copied, and what leaves: read and written */
  cost.seconds = cost.most_bytes > 0 && machine->bandwidth > 0 ? 4 * (double)cost.most_bytes / machine->bandwidth : 0;
  return cost;
}

/* In as many rounds as the ranks can be halved. Directly, wherever exchanges may pass so. */
double seconds_of_gathering(const Machine *machine, const RankInfo *ranks, double bytes) {
  const Link peer = peer_link(machine, machine->way == WAY_BY_HOST);
  const int count = ranks->count, of_node = machine->together > 0 && machine->together < count ? machine->together : count;
  const double within = of_node > 1 ? log2(of_node) * peer.latency + bytes * (of_node - 1) / of_node / peer.bandwidth : 0;
  const int nodes = (count + of_node - 1) / of_node;
  return within + (nodes > 1 && machine->net.bandwidth > 0 ? log2(nodes) * machine->net.latency + bytes * (nodes - 1) / nodes / machine->net.bandwidth : 0);
}
