/* dgl.h: folders of DGL: CSVDataset (meta.yaml) and GraphBolt's OnDiskDataset (metadata.yaml). */
#ifndef GNN_DGL_H
#define GNN_DGL_H

#include "dataset.h"

/* A YAML file as JSON text in which every value stands in the line that it has in the file. The texts of scalars stay texts; null, ~ and nothing are null. */
typedef gnn_status gnn_yaml_reader(const char *path, gnn_text *json, gnn_error *error);
/* gnncc and gnndata link libyaml and set it. The programs that gnncc makes leave it NULL: the layout of the folder was compiled into them. */
extern gnn_yaml_reader *gnn_read_yaml;

int gnn_is_dgl(const char *path);
/* layout: what the folder's YAML file says, as gnn_yaml_reader writes it; NULL: it is read. It stays with the data set (dataset->layout). */
gnn_status gnn_read_dgl(gnn_dataset *dataset, const char *path, const char *layout, gnn_error *error);

#endif
