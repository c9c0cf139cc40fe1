/* pairs.h: candidate pairs of nodes, to predict which of them an edge joins.
 *
 * The edges of the graph are split at random; those held out for validation and test leave the graph, so that no message runs along them. An
 * edge and its reverse are one pair, from the lower number to the higher, and both are held out. To each edge there are
 * `negatives` pairs that no edge joins: of valid and test none of all edges, drawn once; of train none of the edges that are left, drawn once
 * or anew for every epoch. An edge and its negatives are a group. Or the data bring all of them, of valid and test in any number, and nothing leaves the graph.
 *
 * The pairs are a relation: sorted by (destination, source), whichever split they are of. Beside it lie two fields, NAME.label, 1 for an edge and
 * 0 for a negative, and NAME.ring, which leads around the group: the row of the next pair, of a negative -1 - that. */
#ifndef GNN_PAIRS_H
#define GNN_PAIRS_H

#include "dataset.h"

struct gnn_pairs {
  char name[64];
  int relation, label, ring;  /* indices into the data set's relations and fields */
  int64_t negatives, groups;
  int64_t held;               /* edges that left the graph */
  int64_t count[GNN_SPLIT_COUNT];  /* groups of each split, which follow each other */
  int64_t others[GNN_SPLIT_COUNT]; /* pairs without an edge, shared out among the split's groups in their order: count * negatives, or of valid and test what the data bring */
  int32_t *source, *destination;   /* of all pairs, group after group: the edge first */
  int keeps_source;                /* negatives begin where their edge does */
  int64_t *open;                   /* NULL: nothing is drawn. [nodes + 1]: pairs without an edge of train whose row is before the node; what a row is, pairs.c says */
  int32_t *guide;                  /* [nodes + 1]: in which rows the numbers 0, 1/nodes, 2/nodes .. of all open pairs are */
  const int64_t *row_ptr;          /* [nodes + 1], and its edges of train */
  const int32_t *row_to;
  int64_t *place;                  /* room to sort in: [nodes + 1] */
  int32_t *sorted[2];              /* and [pairs] each */
};

/* Whether an edge joins a pair of dataset->raw_pairs. */
int gnn_pair_is_joined(const gnn_dataset *dataset, int split, int64_t pair);
/* Takes the edges that are held out from the graph, and from origin[] where there is one; draws the negatives. */
gnn_status gnn_prepare_pairs(gnn_dataset *dataset, const gnn_recipe *recipe, int64_t *origin, gnn_error *error);
/* Room for so many pairs in groups, which are for the caller to fill and to count, and to sort them: dataset->pairs, without what drawing needs. NULL: an error. */
gnn_pairs *gnn_pairs_new(gnn_dataset *dataset, const char *name, int64_t negatives, int64_t groups, int64_t pairs, gnn_error *error);
/* Adds the relation, the fields and the splits. */
gnn_status gnn_prepare_pair_rows(gnn_dataset *dataset, gnn_error *error);
/* Other negatives for split train, as the key says, for any number of threads; rows of all splits change. Nothing is allocated. */
void gnn_pairs_draw(gnn_dataset *dataset, gnn_team *team, uint64_t key);
/* Negatives of split train from rows of rank p, which begin at first[p], to rows of rank q: now[p * ranks + q] there are, mean[p * ranks + q] in the mean of all draws. */
gnn_status gnn_pairs_among(const gnn_dataset *dataset, int ranks, const int64_t *first, int64_t *now, double *mean, gnn_error *error);

#endif
