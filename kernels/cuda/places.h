/* places.h: what a step is told when it is launched: offsets into the arena, and numbers. Passed by value to every kernel. */
#ifndef GNN_CUDA_PLACES_H
#define GNN_CUDA_PLACES_H

/* A program with a step that needs more says so before this. */
#ifndef GNN_MOST_PLACES
#define GNN_MOST_PLACES 64
#endif

typedef struct gnn_places {
  int64_t at[GNN_MOST_PLACES];
} gnn_places;

#endif
