/* yaml_text.h: YAML by libyaml, for gnncc and gnndata alone: the programs that gnncc makes do not carry that library. */
#ifndef GNN_YAML_TEXT_H
#define GNN_YAML_TEXT_H

#include "runtime/base/text.h"

/* A gnn_yaml_reader (runtime/data/dgl.h). GNN_EDATA: the file is no YAML, or this program was built without libyaml. */
gnn_status gnn_yaml_text(const char *path, gnn_text *json, gnn_error *error);

#endif
