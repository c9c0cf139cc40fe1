/* associate.h: of which products the derivative goes by way of the leaf of what they multiply. */
#ifndef GNNCC_ASSOCIATE_H
#define GNNCC_ASSOCIATE_H

#include "linear_rows.h"

struct Association {
  LinearRows rows;
  bool *is_associated; /* per value of the forward graph */
};

Association *associate(Graph *forward);

#endif
