/* Data sets of every kind: one container, or the files of a folder (fuzz.h), opened by what they are and prepared by recipes. */
#include "fuzz.h"

#include "runtime/data/dataset.h"
#include "runtime/data/pairs.h"
#include "runtime/data/subgraph.h"

static const char *const names[] = {"edge_index.npy", "x.npy", "y.npy", "w.npy", "train_mask.npy", "test_idx.npy", "graph_ptr.npy", "x_ptr.npy", "x_col.npy",
                                    "cora.content", "cora.cites", "meta.json", "fold.npy", "R_A.txt", "R_graph_indicator.txt", "R_graph_labels.txt", "R_node_labels.txt",
                                    "R_node_attributes.txt", "R_edge_labels.txt", "graph.json", "edge_type.npy", "paper.x.npy", "author.x.npy", "paper.y.npy", "paper.train_mask.npy", "writes.edge_index.npy",
                                    "cites.edge_index.npy", "edge_w.npy", "author.num_nodes.npy", "paper.batch_num_nodes.npy", "_N.batch_num_nodes.npy", "_N.feat.npy", "_N___E___N.edge_index.npy", "_N___E___N.w.npy", NULL};

static gnn_team *team;

static void prepare(const char *path, const gnn_recipe *recipe) {
  gnn_dataset *dataset = NULL, *part = NULL;
  gnn_error error = {"", "", ""};
  gnn_status status = gnn_dataset_open_path(path, &dataset, &error);
  if (status == GNN_OK) status = gnn_dataset_prepare(dataset, recipe, &error);
  HOLDS(status == GNN_OK || error.message[0]);
  if (status == GNN_OK && dataset->pairs) gnn_pairs_draw(dataset, team, 1);
  if (status == GNN_OK && gnn_subgraph(dataset, 5, &part, &error) == GNN_OK) gnn_dataset_close(part);
  gnn_dataset_close(dataset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const normalised[] = {"x"};
  static const gnn_number_field onehot[] = {{"x", 1, 3}};
  static const gnn_recipe recipes[] = {{.is_undirected = 0},
                                       {.is_undirected = 1, .self_loops = GNN_LOOPS_ADD, .has_random_split = 1, .split_fraction = {0.5, 0.25, 0.25}, .order = GNN_ORDER_NESTED},
                                       {.self_loops = GNN_LOOPS_REMOVE, .normalised_count = 1, .normalised = normalised},
                                       {.number_count = 1, .numbers = onehot, .has_folds = 1, .fold_count = 3, .fold_has_valid = 1},
                                       {.has_folds = 1},
                                       {.reverses_all = 1, .is_undirected = 1},
                                       {.target = "edge_w", .has_random_split = 1, .split_fraction = {0.5, 0.5, 0}},
                                       {.is_undirected = 1, .pairs = {.name = "p", .valid = 0.3, .test = 0.3, .negatives = 2}},
                                       {.pairs = {.name = "p", .test = 0.5, .negatives = 1, .keeps_source = 1, .is_resampled = 1}}};
  const char *path = fuzz_folder();
  if (team == NULL) team = gnn_team_create(1);
  int is_folder = size > 2 && data[0] == '\n' && data[1] == '@';
  fuzz_files(names, data, is_folder ? size : 0);
  if (!is_folder) path = fuzz_file("a.safetensors", data, size);
  for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) prepare(path, &recipes[i]);
  fuzz_remove("a.safetensors");
  return 0;
}
