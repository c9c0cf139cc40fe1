/* device_net.h: what carries rows and sums between the devices of ranks, as gnn_net does between their processes (core/ranks.h). */
#ifndef GNN_DEVICE_NET_H
#define GNN_DEVICE_NET_H

#include <cuda_runtime_api.h>

#include "gnncuda.h"
#include "runtime/core/ranks.h"

/* All of it, by whichever net, is queued on one stream, by one thread, in an order that is the same on all ranks; graphs may be captured from that. A net has ranks->device_state of its way to itself. Whatever fails is said, with rank, step, peer and message, and
 * ends all ranks. */
struct gnn_cuda_net {
  const char *name;
  void (*begin)(gnn_ranks *ranks); /* all ranks together, each with its device current */
  void (*exchange)(gnn_ranks *ranks, int step, const gnn_messages *messages, cudaStream_t stream); /* places on the device */
  void (*gather)(gnn_ranks *ranks, int step, void *all, const int64_t *first, int64_t unit_bytes, cudaStream_t stream);
  void (*look)(gnn_ranks *ranks, int step); /* whether something that was queued has failed since, in that step or -1: by any thread */
  void (*end)(gnn_ranks *ranks, int is_failed); /* is_failed: what is under way is given up */
};

extern const gnn_cuda_net gnn_host_net; /* device_host_net.c */

#endif
