/* checkpoint.h: weights as safetensors under PyG's names, and checkpoints: weights, optimiser state and where the loop is,
 * such that going on gives the same bits as not having stopped. */
#ifndef GNN_CHECKPOINT_H
#define GNN_CHECKPOINT_H

#include "metrics.h"

/* A copy of all weights, as kept for the best epoch. Those that are at home on the host or the SSD have theirs there (gnn_weight_copy), so an instance
 * has one snapshot at a time. */
typedef struct gnn_snapshot {
  unsigned char *data; /* the weights on the device one after another */
  int64_t bytes;
  int is_filled;
} gnn_snapshot;

gnn_status gnn_snapshot_create(const gnn_program *program, gnn_snapshot *snapshot, gnn_error *error);
void gnn_snapshot_destroy(gnn_snapshot *snapshot);
gnn_status gnn_snapshot_take(gnn_snapshot *snapshot, gnn_instance *instance, gnn_error *error);
gnn_status gnn_snapshot_put(const gnn_snapshot *snapshot, gnn_instance *instance, gnn_error *error);

/* snapshot NULL: the weights in the arena. Always float32. */
gnn_status gnn_weights_save(const gnn_instance *instance, const gnn_snapshot *snapshot, const char *path,
                            gnn_error *error);
/* What forward_backward left: the gradient of every trained weight under the weight's name; the loss is `gnncc.loss` of __metadata__. */
gnn_status gnn_gradients_save(gnn_instance *instance, const char *path, gnn_error *error);
/* Float64, float16 and bfloat16 are converted; shapes must agree after dropping dimensions of size 1. R0804 with a table
 * of names and shapes where the file lacks a weight or has one too many; R0806 (GNN_EIO) where it is damaged; R0808 (GNN_ENUMERIC)
 * where a weight is not finite, unless the instance continues after that; then nothing is changed. A checkpoint's weights can be
 * loaded too. */
gnn_status gnn_weights_load(gnn_instance *instance, const char *path, gnn_error *error);

enum { GNN_FINISHED_MAX = 4096 };

/* What an evaluation has shown of split test, of a program that reports folds. */
typedef struct gnn_curve_point {
  double run, epoch, value;
} gnn_curve_point;

/* Where the training loop is. */
typedef struct gnn_progress {
  int64_t run_index; /* from 0 */
  uint64_t seed;     /* of run 0; run r has seed + r */
  gnn_keeper keeper; /* epoch: run.epoch */
  int64_t finished_count;
  double (*finished)[GNN_SPLIT_COUNT]; /* metric of each finished run; room for GNN_FINISHED_MAX */
  int64_t point_count, point_room;
  gnn_curve_point *points; /* of all runs, in their order; NULL: the program reports no folds */
  /* Bit c is gnn_content c. What is not as the checkpoint was trained on, by gnn_checkpoint_load; what had changed whenever training
   * went on all the same, in the checkpoint. */
  unsigned changed_data, accepted_data;
} gnn_progress;

/* Of ranks: what those that do not write have of it, before it, or weights, are saved; all of them ask. best NULL: there is none. */
gnn_status gnn_checkpoint_gather(gnn_instance *instance, const gnn_snapshot *best, gnn_error *error);
gnn_status gnn_checkpoint_save(const gnn_instance *instance, const gnn_snapshot *best, const gnn_progress *progress,
                               const char *path, gnn_error *error);
/* Restores what gnn_checkpoint_save stored; refuses another program's (R0804), a damaged one (R0806, GNN_EIO), and as
 * gnn_weights_load what is not finite. That the data are others is for the caller to refuse. */
gnn_status gnn_checkpoint_load(gnn_instance *instance, gnn_snapshot *best, gnn_progress *progress, const char *path,
                               gnn_error *error);

/* Fails where gnn_checkpoint_load would, and changes nothing but run_index, seed, finished_count, changed_data and accepted_data. */
gnn_status gnn_checkpoint_inspect(const gnn_instance *instance, gnn_progress *progress, const char *path, gnn_error *error);

/* FOLDER/checkpoint-r0-e000025.safetensors; malloc'ed, NULL: no memory. */
char *gnn_checkpoint_path(const char *folder, int64_t run_index, int64_t epoch);
/* The furthest checkpoint of a folder, malloc'ed; NULL: none. */
char *gnn_checkpoint_newest(const char *folder);
/* Of the checkpoints in the same folder the furthest one before this one, malloc'ed; NULL: none. */
char *gnn_checkpoint_before(const char *path);
/* Removes the folder's checkpoints but for the two paths given (NULL: one, or none). */
void gnn_checkpoint_prune(const char *folder, const char *newest, const char *previous);
/* Removes what dead processes left half written in the folder: temporary files of weights, checkpoints and run.json. */
void gnn_checkpoint_remove_leftovers(const char *folder);

#endif
