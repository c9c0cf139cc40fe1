/* cost.h: seconds and bytes of kernels (cost.c) and of what passes between ranks (exchange_cost.c) on a machine; nobody else knows bandwidths. */
#ifndef GNNCC_COST_H
#define GNNCC_COST_H

#include "fuse.h"

#define PEER_LATENCY 2e-6 /* seconds, of a message between processes of one machine */

typedef struct Link {
  double bandwidth; /* bytes per second; 0: there is no such link */
  double latency;   /* seconds */
} Link;

/* Measured seconds of steps, by their description. */
typedef struct Profile Profile;

/* How exchanges pass between the devices of ranks: from one to the other, through the memory of the host, or each as takes less time. */
typedef enum ExchangeWay { WAY_DIRECT, WAY_BY_HOST, WAY_FASTER } ExchangeWay;

/* The tables whose rows come through the host, by Value.said. */
typedef struct TablesByHost {
  const char **said;
  int count;
} TablesByHost;

typedef struct Machine {
  const char *name;
  int threads;                    /* 0: not a processor's; all rates are of all threads together */
  int64_t tier_bytes[TIER_COUNT]; /* budgets; 0: no such tier. Those of the target, then `plan`, then --budget */
  int64_t reserve_bytes;          /* of the device, for what lies outside the arena */
  double bandwidth;               /* device memory, bytes per second */
  double flops;                   /* fp32, per second */
  double product_speedup[PRECISION_COUNT]; /* over fp32, of a product by a library whose factors are rounded so */
  double step_seconds;            /* to start and join one step on all threads */
  DeviceRates rates;              /* all known: what the target does not say is modelled */
  Link links[LANE_COUNT];         /* by the lane that copies over it */
  double overlap_slowdown[LANE_COUNT]; /* compute beside such a copy takes so many times as long; 1: no longer */
  bool is_ssd_direct;             /* the SSD is reached from the device's memory itself, not through the host's */
  int ranks, together;            /* of a program of several, which have one device each: how many, and of a node. The figures here are those of one */
  Link peer, net;                 /* between ranks of a node; between nodes, whose ranks share it */
  ExchangeWay way;                /* of ranks on GPUs; directly for others */
  const TablesByHost *by_host;    /* as a given plan has it, whatever `way` is; NULL: there is none */
  const char *scratch_dir;        /* of the SSD tier; NULL: the program's choice */
  bool is_measured;               /* its rates are; false: modelled */
  const char *processor;          /* from whose table they are, or NULL */
  bool is_guessed;                /* this computer's, whose processor is not known */
  const Profile *profile;         /* or NULL */
} Machine;

/* The machine that a target describes; of this computer where `target` is NULL. */
Machine machine_of_target(const TargetSpec *target);

/* Of an exchange of columns: so many ranks have some, the first ones. Of others: all. */
int exchange_holders(const Kernels *kernels, const Kernel *kernel);
/* The most rows that leave one rank. */
int64_t exchange_most_rows(const Kernels *kernels, const Kernel *kernel);
int64_t exchange_most_received(const Kernels *kernels, const Kernel *kernel); /* bytes that come to one rank, at most */
/* Bytes of one rank in an exchange: within its node, of of_node ranks, and beyond. O(ranks). */
typedef struct ExchangeTraffic {
  int64_t sent[2], received[2];
} ExchangeTraffic;
ExchangeTraffic exchange_traffic(const Kernels *kernels, const Kernel *kernel, int rank, int of_node);
/* What leaves a rank and what comes pass at the same time. */
static inline int64_t traffic_bytes(ExchangeTraffic t) {
  const int64_t sent = t.sent[0] + t.sent[1], received = t.received[0] + t.received[1];
  return sent > received ? sent : received;
}

typedef struct ExchangeCost {
  int64_t bytes, most_bytes; /* that leave all ranks; that leave or reach the one with most */
  double seconds;            /* of the slowest, */
  double later_seconds;      /* and where nobody waits for what is sent before the next epoch, how long that takes */
  bool passes_host;          /* it leaves the device for the host, and comes to the device from there */
} ExchangeCost;

/* Sums and extremes over all rows, which end with the parts of all ranks. */
static inline bool kernel_gathers_parts(const Kernel *kernel) {
  return (kernel->kind == KERNEL_OUTER && kernel->work_bytes > 0) || kernel->kind == KERNEL_SPARSE_OUTER || kernel_folds_rows(kernel->kind) || kernel->kind == KERNEL_CROSS_ENTROPY;
}

enum { FLAT_WIDEST = 32 }; /* numbers of an edge that emit_flat.c puts aside, for a function of many edges' */

/* Of the rows that a halo kernel of a rank gathers; nothing for others. */
ExchangeCost exchange_of_kernel(const Machine *machine, const Kernels *kernels, const Kernel *kernel);
static inline bool kernel_exchanges(const Kernel *kernel) { return kernel->kind == KERNEL_HALO || kernel->kind == KERNEL_COLUMNS || kernel->kind == KERNEL_BACK; } /* in a program of ranks */
const char *exchange_variant(const Kernel *kernel, bool passes_host); /* "halo", "transpose" or "dedup"; of one through the host with "-host" behind */
bool exchange_is_by_host(const char *variant);
HaloKind kernel_exchange_kind(const Kernel *kernel, const Graph *graph);
BoundaryKind exchange_boundary(const Kernels *kernels, const Kernel *kernel); /* what a training makes of it */
const RankInfo *exchange_ranks(const Kernels *kernels, const Kernel *kernel);
int64_t kernel_exchange_row_bytes(const Kernels *kernels, const Kernel *kernel);

/* Of an exchange of rows of others, for sums at this end of the graph's edges; and about of one of so many bytes of each row of all. */
double seconds_of_rows(const Machine *machine, const RankInfo *ranks, EdgeEnd sums_at, int64_t row_bytes);
double seconds_of_columns(const Machine *machine, const RankInfo *ranks, int64_t row_bytes);

/* Of parts that each rank has, `bytes` of all, which all of them get. */
double seconds_of_gathering(const Machine *machine, const RankInfo *ranks, double bytes);

/* As one of so many ranks has it: the tiers that a node's devices share are divided among them, and where there are more ranks than devices, these too. */
void machine_share_out(Machine *machine, int ranks);

typedef struct Cost {
  double seconds;
  int64_t bytes; /* read and written in device memory */
  double flops;
  double walked; /* of `seconds` the share that goes with the edges, the numbers of sparse features or the labelled rows that it goes over; the rest goes with its rows */
} Cost;

/* `what` is the kernel's description (kernel_said): where a profile knows it, its seconds are those measured. NULL: as
 * modelled. */
Cost cost_of_kernel(const Machine *machine, const Kernels *kernels, const Kernel *kernel, const char *what);
/* Of a table of a rank: rows that leave are put side by side. */
Cost cost_of_sending(const Machine *machine, const Kernel *kernel);

/* profile.c: what `train profile` wrote of the program with this model_fingerprint; from then on cost_of_kernel takes its
 * seconds. Where the file is none, false and *fault says why. */
bool cost_read_profile(Machine *machine, const char *path, const char *model, Arena *arena, const char **fault);
bool profile_seconds(const Profile *profile, const char *what, double *seconds);

#endif
