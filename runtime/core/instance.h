/* instance.h: the memory of one training job: a program's device arena filled with data, weights and optimiser state.
 * Everything is obtained by create and load; nothing is allocated later. */
#ifndef GNN_INSTANCE_H
#define GNN_INSTANCE_H

#include "scratch.h"
#include "watch.h"

typedef struct gnn_memory {
  void *(*alloc)(void *user, int tier, size_t bytes, size_t align); /* NULL: mmap */
  void (*release)(void *user, int tier, void *memory, size_t bytes);
  void *user;
} gnn_memory;

typedef struct gnn_instance_options {
  int threads;              /* 0: all */
  int populate;             /* memory for speed: large pages, all of which gnn_instance_touch will touch */
  int grows;                /* the device arena is mapped as it is needed: as far as the data go while they are there, the rest once they are closed
                               (gnn_instance_take); not where memory is lent or the device's own */
  int64_t loading_bytes;    /* what the data will take while they are loaded, with the arena so far; 0: not known */
  int is_serial, is_traced; /* copies do not overlap; the times of steps are taken down (run.watch) */
  const gnn_memory *memory; /* NULL: the runtime's own */
  const char *scratch;      /* folder of the SSD tier; NULL: the plan's, then `temporary`, /var/tmp, /tmp */
  const char *temporary;
  int continues_after_nan;  /* weights that are not finite are taken */
  int device;               /* which one, where there are several; of ranks the first of those on this machine, */
  int is_device_own;        /* unless it is this rank's own */
  gnn_ranks *ranks;         /* what is to be loaded is of one of them; NULL: of the only process */
  int has_no_graph;         /* steps are launched one by one in every epoch */
  void (*note)(void *user, const char *text); /* told what the user should know, though nothing failed; NULL: nobody */
  void *note_user;
} gnn_instance_options;

/* Whether an option cannot have the value; then `why` gets "is a probability: 2 is outside 0 ... 1". */
int gnn_option_is_wrong(const gnn_option_desc *option, double value, gnn_text *why);

/* What was obtained for a tier. */
typedef struct gnn_mapping {
  void *memory;
  size_t bytes;
} gnn_mapping;

/* The largest magnitude in the gradients of an epoch, and whose it is; weight -1: unknown. */
typedef struct gnn_gradient_peak {
  int weight;
  float magnitude;
} gnn_gradient_peak;

/* The first value of an epoch that is not finite. */
typedef struct gnn_bad_value {
  int64_t epoch;    /* 0: none was found */
  int step, line;   /* 0: it was a weight before anything was computed */
  const char *name;
  gnn_rows rows;
  int set;          /* GNN_ROWS_EDGE: of which edges */
  int64_t row, column;
  float value;
} gnn_bad_value;

typedef enum gnn_content { GNN_CONTENT_EDGES, GNN_CONTENT_FEATURES, GNN_CONTENT_LABELS, GNN_CONTENT_SPLITS, GNN_CONTENT_COUNT } gnn_content;

/* All rows that an instance learns from and is measured on. Of a program that works on all data at once they are in the arena; otherwise on
 * the host, and in the arena is a batch of them. */
typedef struct gnn_whole {
  int64_t nodes, edges, graphs;
  gnn_ranks *ranks;       /* what is measured of the rows is counted by each of them of its own, and added; NULL: the rows are all there are */
  const int32_t *rows[GNN_SPLIT_COUNT];
  int64_t here[GNN_SPLIT_COUNT]; /* so many rows are listed: all, or a rank's */
  int64_t row_count[GNN_SPLIT_COUNT];
  double row_weight[GNN_SPLIT_COUNT];
  gnn_blocks blocks;
  const int32_t *classes; /* the labels; NULL: they are numbers, */
  const float *numbers;   /* number_stride apart */
  int64_t number_stride;
  const int32_t *ring;    /* of pairs that are ranked; otherwise NULL */
  gnn_csr in;             /* of what is worked through in batches: all edges, by destination, in the data's numbers; otherwise empty */
  const float *scores;    /* of all rows, side by side, once gnn_score has computed them; those on the SSD where they come in one turn (scores.h) */
} gnn_whole;

/* Of scores that are on the SSD (scores.h). */
typedef struct gnn_scores_here {
  int turn; /* whose rows are in the arena; -1: none */
  gnn_status status;
} gnn_scores_here;

/* The graphs in the arena, of a program that works in batches. */
typedef struct gnn_batch {
  int64_t graphs;
  const int32_t *graph;      /* their numbers in the data */
  const int64_t *node_first; /* [graphs + 1] their nodes in the batch */
  const int64_t *graph_ptr;  /* and in the data, of all graphs */
} gnn_batch;

/* Whether each rank measures the rows of all: their scores in their order make the difference, or its blocks are no ranks' rows. What gnn_whole points to then. */
static inline int gnn_ranks_measure_all(const gnn_program *program) {
  int is_so = program->scores_domain != GNN_NODE;
  for (int m = 0; m < program->metric_count; m++) is_so |= !gnn_metric_counts(program->metrics[m].kind);
  return is_so;
}
typedef struct gnn_whole_rows {
  int32_t *split[GNN_SPLIT_COUNT], *classes;
  int64_t *first;  /* gnn_blocks.first */
  int64_t score_first[GNN_RANKS_MOST + 1]; /* the first row with scores of each rank */
  float *numbers, *scores;
} gnn_whole_rows;

enum { GNN_APPROXIMATION_ROOM = 512 };
typedef struct gnn_instance {
  gnn_run run;
  gnn_whole whole;
  gnn_batch batch;
  struct gnn_batches *batches; /* data/batches.h; NULL: all data are in the arena */
  void (*drop_batches)(struct gnn_instance *instance);
  gnn_whole_rows *whole_rows;  /* NULL: not of ranks */
  int64_t *score_first;        /* run.score_first */
  int32_t *node_id;            /* run.node_id, where it was brought from the SSD (home.h) */
  void **gathered;             /* weights.h: of all ranks; NULL: there are none */
  struct gnn_dataset *drawn;   /* of a program whose pairs are drawn anew: the data, which lives as long as the instance; otherwise NULL */
  gnn_error batch_error;       /* why a batch did not get into the arena; message "": none failed */
  gnn_memory memory;
  gnn_tiers tiers;
  gnn_scratch scratch;     /* file -1: the program has no SSD tier */
  gnn_mapping mapping[GNN_TIER_COUNT];
  int grows, is_populated;
  int is_loaded;
  const char *approximation;           /* what of this training was not exact, in an epoch that it or its first weights come from, or is not; NULL: nothing */
  char approximation_text[GNN_APPROXIMATION_ROOM]; /* of which a file has told */
  int64_t contents[GNN_CONTENT_COUNT]; /* checksums of what was loaded, by all ranks together */
  int64_t read[GNN_CONTENT_COUNT];     /* and of what this one has read: the same on all that read the same, */
  int64_t read_features[2];            /* but for features of a rank's own nodes, and of those of another rank (gnn_rank_beside), which are not the same files */
  int continues_after_nan; /* weights that are not finite are taken */
  gnn_scores_here *scores_here; /* NULL: they are not on the SSD */
  double *block_loss;      /* of the metrics, one a block */
  struct gnn_ranked *metric_room; /* for those that sort, one a row of a split; NULL: none does */
  int64_t majority_class;  /* most frequent in the validation split, or in train where there is none */
  double majority_share[GNN_SPLIT_COUNT]; /* accuracy of always answering it */
  gnn_bad_value bad;       /* of the first epoch that had one since the last reset; on the processor only */
  gnn_gradient_peak gradient_peak, gradient_peak_before; /* of the last epoch and the one before it; on the processor only */
} gnn_instance;

/* Memory of the host program, which has given alloc; to it the rings are host memory. */
gnn_status gnn_instance_ask(const gnn_instance *instance, gnn_tier tier, int64_t bytes, int align, void **memory, gnn_error *error);
void gnn_instance_give_back(const gnn_instance *instance, gnn_tier tier, void *memory, int64_t bytes);

/* Refuses with R0801 (GNN_ENOMEM) before anything is obtained when the machine has less than the plan needs. options NULL:
 * all zero. */
gnn_status gnn_instance_create(const gnn_program *program, const gnn_instance_options *options, gnn_instance **instance,
                               gnn_error *error);
void gnn_instance_destroy(gnn_instance *instance); /* NULL is fine */
void gnn_drop_whole_rows(gnn_instance *instance);
/* The device arena of one that grows goes as far as the data do, or to its end. */
gnn_status gnn_instance_grow(gnn_instance *instance, int is_for_data, gnn_error *error);
/* Every page of memory that is the runtime's own, once the data are closed: then they and the arenas are never there together. */
void gnn_instance_touch(gnn_instance *instance);
gnn_scratch_folders gnn_instance_folders(const gnn_program *program, const gnn_instance_options *options);

/* The image holds the data (data/fill.h): they go to the device, and what needs nothing else is computed. */
gnn_status gnn_instance_begin(gnn_instance *instance, gnn_error *error);
/* Of a program that works on all data at once: the arena holds what is measured, again where it has changed. */
void gnn_instance_see(gnn_instance *instance);
/* Where the blocks of candidate pairs begin, which are in the arena. */
gnn_status gnn_instance_see_pairs(gnn_instance *instance, gnn_error *error);
/* What instance->whole says of its labels: the weights of the rows, and the best single answer. */
void gnn_instance_survey(gnn_instance *instance);
/* Room to measure so many rows of labels at a time, and so many blocks. */
gnn_status gnn_instance_make_room(gnn_instance *instance, int64_t rows, int64_t blocks, gnn_error *error);

/* Weights as the program initialises them, optimiser state zero, epoch 0. A device that fails here fails at its next work; GNN_EIO: the SSD does. */
gnn_status gnn_instance_reset(gnn_instance *instance, uint64_t seed, gnn_error *error);

extern const char *const gnn_tier_names[GNN_TIER_COUNT]; /* "device arena" */

/* What the program takes of a tier. */
int64_t gnn_tier_bytes(const gnn_program *program, gnn_tier tier);
/* Of memory in all, which is arenas, rings, and the buffers of the lanes to the SSD, what the host gives, with the reserve. */
int64_t gnn_host_memory_bytes(const gnn_program *program);
int64_t gnn_staging_bytes(const gnn_program *program); /* of these the rings and buffers */

/* Why a step of the program failed with this status, where a lane or the device knows it; otherwise the format says it. */
gnn_status gnn_step_failed(const gnn_instance *instance, gnn_status status, gnn_error *error, const char *code,
                           const char *format, ...) __attribute__((format(printf, 5, 6)));

/* What the data call a node of the graph. */
static inline int64_t gnn_node_id(const gnn_run *run, int64_t node) { return run->node_id ? run->node_id[node] : node; }
/* What the data call a node, or a graph, of what is in the arena. */
int64_t gnn_data_node(const gnn_instance *instance, int64_t node);
static inline int64_t gnn_data_graph(const gnn_instance *instance, int64_t graph) { return instance->batch.graphs ? instance->batch.graph[graph] : graph; }
/* Of all data. */
static inline int64_t gnn_whole_rows_of_scores(const gnn_instance *instance) {
  const gnn_domain domain = instance->run.program->scores_domain;
  if (domain == GNN_TYPE || domain == GNN_RELATION) return gnn_rows_of_scores(&instance->run); /* no batch has such */
  return domain == GNN_NODE ? instance->whole.nodes : domain == GNN_EDGE ? instance->whole.edges : instance->whole.graphs;
}
/* The number that the data give to a row of the scores: a node, or an edge in the order of the data without an order of their own. */
static inline int64_t gnn_score_id(const gnn_run *run, int64_t row) {
  if (run->program->scores_domain == GNN_EDGE) return run->edge_id ? run->edge_id[row] : row;
  return run->program->scores_domain == GNN_NODE ? gnn_node_id(run, row) : row;
}

/* Address of a planned offset, in bytes for 4-byte numbers, as the host sees it (device.h). */
void *gnn_instance_at(const gnn_instance *instance, int64_t offset);
void *gnn_instance_place(const gnn_instance *instance, int is_on_host, int64_t offset); /* likewise, or offset bytes from the beginning of the host arena */
void *gnn_instance_scores(const gnn_instance *instance); /* where an evaluation leaves them, in the host's memory or its image of the device's */

#endif
