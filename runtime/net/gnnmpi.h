/* gnnmpi.h: what programs of ranks take from the run-time library beside gnnrt.h. */
#ifndef GNN_MPI_H
#define GNN_MPI_H

#include "runtime/gnnrt.h"

extern const gnn_net gnn_mpi;

#endif
