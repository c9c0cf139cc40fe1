/* processor.h: the instructions that this machine's processor has, and its system lets programs use. */
#ifndef GNN_PROCESSOR_H
#define GNN_PROCESSOR_H

#include "runtime/instructions.h"

/* Of these (GNN_INSTRUCTIONS, GNN_SVE_BITS of a build) the first that is not there; NULL: all are. */
const char *gnn_processor_lacks(uint64_t instructions, int sve_bits);
/* "avx2", by the number of its bit. */
const char *gnn_instruction_name(int number);

#endif
