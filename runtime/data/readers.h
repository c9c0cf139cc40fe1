/* readers.h: one function a form of data; each fills a new data set. */
#ifndef GNN_READERS_H
#define GNN_READERS_H

#include "dataset.h"
#include "safetensors.h"

gnn_status gnn_read_npy_folder(gnn_dataset *dataset, const char *path, gnn_error *error);
gnn_status gnn_read_planetoid(gnn_dataset *dataset, const char *path, gnn_error *error);
gnn_status gnn_read_tu(gnn_dataset *dataset, const char *path, gnn_error *error); /* a folder, or what the names of its files begin with */
gnn_status gnn_read_container(gnn_dataset *dataset, const char *path, gnn_error *error);
gnn_status gnn_read_mtx(gnn_dataset *dataset, const char *path, gnn_error *error);
gnn_status gnn_read_metis(gnn_dataset *dataset, const char *path, gnn_error *error);
gnn_status gnn_read_npz(gnn_dataset *dataset, const char *path, gnn_error *error);
/* Of a file that is open, with the names of our own form. */
gnn_status gnn_read_tensors(gnn_dataset *dataset, const gnn_safetensors *file, const char *path, gnn_error *error);
gnn_status gnn_read_karate(gnn_dataset *dataset, gnn_error *error);

int gnn_is_npy_folder(const char *path);
int gnn_has_npy(const char *path); /* the folder holds some array */
int gnn_is_planetoid(const char *path);
int gnn_is_tu(const char *path);
int gnn_is_metis(const char *path); /* by its name */
int gnn_is_mtx(const unsigned char *head, size_t size); /* by the first 17 bytes of a file */

typedef enum gnn_synth_kind { GNN_SYNTH_SBM, GNN_SYNTH_RMAT, GNN_SYNTH_ER, GNN_SYNTH_GRID, GNN_SYNTH_MOLECULES, GNN_SYNTH_KINDS } gnn_synth_kind;

typedef struct gnn_synth {
  gnn_synth_kind kind;
  int64_t nodes, features, classes;
  double degree; /* mean number of neighbours */
  int64_t edges; /* in place of that, as stored: so many different ones; 0: by the degree */
  uint64_t seed;
  int is_sparse; /* features as a few non-zeros a row */
} gnn_synth;

extern const char *const gnn_synth_names[GNN_SYNTH_KINDS]; /* "sbm", "rmat", "er", "grid", "molecules" */
gnn_status gnn_read_synth(gnn_dataset *dataset, const gnn_synth *synth, gnn_error *error);
/* Of gnn_read_synth: a set of small graphs, of so many nodes in all. */
gnn_status gnn_synth_molecules(gnn_dataset *dataset, const gnn_synth *synth, gnn_error *error);

/* Writes a prepared data set in the form that gnn_read_container reads. changes: what was done to it, a line each. keeps_splits: where the data hold several
 * splits of nodes or graphs, all of them, not only the one of the recipe. */
gnn_status gnn_write_container(const gnn_dataset *dataset, const char *path, int keeps_splits, const char *changes, gnn_error *error);

/* The beginning of such a file for a graph alone, of which only sizes, name and symmetry are looked at. What follows it is in_ptr, out_ptr, in_source and to,
 * each with its CRC-32 in sums[]; a symmetric graph has no out_ptr and no to. */
gnn_status gnn_container_head(const gnn_dataset *dataset, const char *changes, const uint32_t sums[4], gnn_text *head, gnn_error *error);

#endif
