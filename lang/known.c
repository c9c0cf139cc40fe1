#include "known.h"

#include <stddef.h>
#include <string.h>

static const Alias aliases[] = {
    {"GCNConv", "GCN"},         {"GraphConvolution", "GCN"}, {"SAGEConv", "SAGE"},      {"GraphSAGE", "SAGE"}, {"GraphSAGEConv", "SAGE"},
    {"GINConv", "GIN"},         {"GATConv", "GAT"},          {"GATv2Conv", "GATv2"},    {"GCN2Conv", "GCNII"},
    {"SGConv", "SGC"},          {"GINEConv", "GINE"},        {"ChebConv", "Cheb"},      {"TAGConv", "TAG"},
    {"LGConv", "LightGCN"},     {"ResGatedGraphConv", "GatedGCN"}, {"GatedGCNConv", "GatedGCN"}, {"APPNPConv", "APPNP"}, {"PNAConv", "PNA"}, {"GENConv", "GEN"},
    {"RelGraphConv", "RGCN"},   {"RGCNConv", "RGCN"}, {"FastRGCNConv", "RGCN"},        {"GCN2", "GCNII"},         {"gcn_norm", "Propagate"},
    {"Dense", "Linear"}, {"nn.Linear", "Linear"}, {"linear", "Linear"},
    {"global_add_pool", "sum(h, to = graph)"}, {"global_mean_pool", "mean(h, to = graph)"}, {"global_max_pool", "max(h, to = graph)"},
    {"SumPooling", "sum(h, to = graph)"}, {"AvgPooling", "mean(h, to = graph)"}, {"MaxPooling", "max(h, to = graph)"}, {"sum_nodes", "sum(h, to = graph)"}, {"mean_nodes", "mean(h, to = graph)"}, {"readout_nodes", "sum(h, to = graph)"},
    {"ReLU", "relu"},           {"LeakyReLU", "leaky_relu"}, {"ELU", "elu"},            {"GELU", "gelu"},
    {"Sigmoid", "sigmoid"},     {"Tanh", "tanh"},            {"Dropout", "dropout"},    {"Softmax", "softmax"},
    {"SoftmaxAggregation", "softmax_aggregation"}, {"DropEdge", "drop_edge"}, {"dropout_edge", "drop_edge"}, {"dropout_adj", "drop_edge"}, {"DropNode", "drop_node"}, {"FeatMask", "mask_feature"}, {"DropPath", "stochastic_depth"}, {"AttentionalAggregation", "attention"}, {"GlobalAttention", "attention"}, {"GlobalAttentionPooling", "attention"}, {"PReLU", "prelu"}, {"SELU", "selu"}, {"SiLU", "silu"}, {"Softplus", "softplus"}, {"GraphNorm", "graph_norm"},
    {"InstanceNorm", "instance_norm"}, {"PairNorm", "pair_norm"}, {"normalize", "l2_normalise"}, {"l2_normalize", "l2_normalise"}, {"BatchNorm", "batch_norm"}, {"BatchNorm1d", "batch_norm"}, {"LayerNorm", "layer_norm"}, {"matmul", "@"}, {"mm", "@"},
    {"CrossEntropyLoss", "cross_entropy"}, {"NLLLoss", "cross_entropy"}, {"MSELoss", "mse"}, {"BCEWithLogitsLoss", "bce"},
    {"L1Loss", "l1"},           {"SmoothL1Loss", "huber"},   {"HuberLoss", "huber"},    {"BPRLoss", "bpr"}, {"BCELoss", "bce"},
    {"mse_loss", "mse"}, {"l1_loss", "l1"}, {"smooth_l1_loss", "huber"}, {"huber_loss", "huber"}, {"binary_cross_entropy", "bce"}, {"binary_cross_entropy_with_logits", "bce"},
    {"f1_score", "f1"}, {"F1Score", "f1"}, {"roc_auc_score", "roc_auc"}, {"AUROC", "roc_auc"}, {"accuracy_score", "accuracy"}, {"average_precision_score", "average_precision"},
    {"precision_score", "precision"}, {"recall_score", "recall"}, {"r2_score", "r2"}, {"mean_absolute_error", "mae"}, {"root_mean_squared_error", "rmse"}, {"confusion_matrix", "confusion"},
    {"auc", "roc_auc"},         {"auroc", "roc_auc"},        {"ap", "average_precision"}, {"acc", "accuracy"},
    {"Adam", "adam"},           {"AdamW", "adamw"},          {"SGD", "sgd"},            {"RMSprop", "rmsprop"},
    {"Adagrad", "adagrad"},     {"StepLR", "step"},          {"ExponentialLR", "exponential"}, {"CosineAnnealingLR", "cosine"},
    {"LinearLR", "linear"},     {"ReduceLROnPlateau", "plateau"}, {"OneCycleLR", "one_cycle"}, {"CosineAnnealingWarmRestarts", "restarts"}, {"PolynomialLR", "polynomial"}, {"ConstantLR", "constant"}, {"scatter_add", "sum"},
    {"scatter_mean", "mean"}, {"scatter", "sum"}, {"scatter_sum", "sum"}, {"scatter_max", "max"}, {"scatter_min", "min"}, {"scatter_std", "std"}, {"scatter_softmax", "edge_softmax"}, {"scatter_logsumexp", "logsumexp"},
    {"segment_sum", "sum"}, {"segment_mean", "mean"}, {"segment_max", "max"}, {"swish", "silu"}, {"Swish", "silu"}, {"LogSoftmax", "log_softmax"},
    {"bmm", "@"}, {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}, {"pow", "^"}, {"cat", "concat"}, {"narrow", "slice"}, {"view", "reshape"}, {"detach", "stop_gradient"}, {"einsum", "dot"},
    {"SumAggregation", "sum"}, {"MeanAggregation", "mean"}, {"MaxAggregation", "max"}, {"MinAggregation", "min"}, {"VarAggregation", "var"}, {"StdAggregation", "std"}, {"SimpleConv", "Propagate"},
    {"DenseGCNConv", "GCN"}, {"DenseSAGEConv", "SAGE"}, {"DenseGINConv", "GIN"}, {"DenseGATConv", "GAT"}, {"DenseGraphConv", "GraphConv"}, {"FusedGATConv", "GAT"}, {"CuGraphGATConv", "GAT"}, {"CuGraphSAGEConv", "SAGE"},
    {"CuGraphRGCNConv", "RGCN"}, {"LazyLinear", "Linear"}, {"Flatten", "flatten"}, {"HeteroBatchNorm", "batch_norm"}, {"HeteroLayerNorm", "layer_norm"}, {"InnerProductDecoder", "dot(src.z, dst.z)"},
    {"maximum", "max(x, y)"}, {"minimum", "min(x, y)"}, {"log1p", "log(1 + x)"}, {"expm1", "exp(x) - 1"}, {"absolute", "abs"},
};

/* Arguments: what earlier drafts and other libraries call them; the first that there is is meant. */
static const Alias arguments[] = {
    {"attn_drop", "dropout"},      {"attn_dropout", "dropout"},  {"dropout_p", "dropout"},      {"negative_slope", "slope"}, {"K", "k"},
    {"out_channels", "out"},       {"out_feats", "out"},         {"out_features", "out"},       {"out_dim", "out"},          {"dim_out", "out"},
    {"hidden_channels", "hidden"}, {"hidden_dim", "hidden"},     {"num_layers", "depth"},       {"num_heads", "heads"},      {"n_heads", "heads"},
    {"aggregator", "aggr"},        {"aggregator_type", "aggr"},  {"aggr_type", "aggr"},         {"reduce", "aggr"},          {"edge_dim", "edge_attr"},
    {"edge_feats", "edge_attr"},   {"edge_features", "edge_attr"}, {"edge_weights", "edge_weight"}, {"num_bases", "bases"},  {"bias", "use_bias"},
    {"learn_eps", "train_eps"},    {"init_eps", "eps"},          {"elementwise_affine", "affine"}, {"dim", "axis"},          {"negative_slope", "alpha"},
    {"inplace", ""},               {"in_channels", ""},          {"in_feats", ""},              {"in_features", ""},         {"edge_index", ""},
    {"gamma", "factor"},           {"step_size", "every"},       {"T_max", "epochs"},           {"T_0", "epochs"},           {"T_mult", "growth"},
    {"total_steps", "epochs"},     {"total_iters", "epochs"},    {"eta_min", "end"},            {"max_lr", "lr"},            {"pct_start", "rise"},
    {"learning_rate", "lr"},       {"epsilon", "eps"},           {"l2", "weight_decay"},
};

/* What other libraries have and the language has not, or has in another way: what there is for it. */
typedef struct Elsewhere {
  const char *names; /* between blanks */
  const char *instead;
  bool is_missing;   /* nothing here does the same */
} Elsewhere;

#define LOADERS " NeighborLoader NeighborSampler LinkNeighborLoader NodeLoader LinkLoader HGTLoader HGTSampler DataLoader DataListLoader DenseDataLoader TemporalDataLoader RandomNodeLoader ZipLoader CachedLoader PrefetchLoader " \
  "ClusterData ClusterLoader ClusterGCNSampler GraphSAINTSampler GraphSAINTNodeSampler GraphSAINTEdgeSampler GraphSAINTRandomWalkSampler SAINTSampler ShaDowKHopSampler ShaDowSampler ImbalancedSampler DynamicBatchSampler " \
  "MultiLayerNeighborSampler MultiLayerFullNeighborSampler EdgeDataLoader NodeDataLoader GraphDataLoader DistNodeDataLoader BaseSampler NumNeighbors Batch to_block "

static const char no_loader[] = "no loader is needed: an epoch is one step over all of the graph, planned for the memory there is (--budget device=8GiB), and gnncc --plan says what a smaller model or less precision gives; "
                                "of a set of graphs, batch = graphs(32) in the train block takes so many a step";

static const Elsewhere elsewhere[] = {
    {LOADERS, no_loader, false},
    {" Data HeteroData TemporalData Dataset InMemoryDataset OnDiskDataset DGLGraph DGLDataset heterograph ", "share/gnncc/to_gnncc.py makes a folder of such a graph in Python, and data cora from npy(\"folder\") { ... } reads that", false},
    {" subgraph k_hop_subgraph bipartite_subgraph induced_subgraph node_subgraph edge_subgraph in_subgraph khop_in_subgraph ", "the graph is that of the data; a part of it is cut out before, in Python, and share/gnncc/to_gnncc.py saves it as a folder that gnncc reads", true},
    {" to_dense_adj to_dense_batch to_scipy_sparse_matrix to_torch_coo_tensor to_torch_csr_tensor SparseTensor get_laplacian ", "no matrix is made of the edges: sum(src.x * w) is the product with it", false},
    {" is_undirected contains_isolated_nodes has_isolated_nodes ", "gnndata info says that of the data", false},
    {" print ", "./train predict --layer h -o h.npy writes what h is", false},
    {" Evaluator ", "metric = accuracy, hits(50), mrr or roc_auc in the train block", false},
    {" Trainer fit backward zero_grad ", "the train block is the loop: loss, optimizer, epochs; the program made runs it", false},
    {" Explainer GNNExplainer PGExplainer CaptumExplainer AttentionExplainer SubgraphX ", "the program made writes what layers give, ./train predict --layer conv1 -o l.npy, and gradients, ./train gradients -o g.safetensors", true},
    {" HGT HGTConv HAN HANConv RGAT RGATConv HeteroLinear HeteroDictLinear HEATConv ", "a layer is told its edges, SAGE(author.e, paper.x, 64) over writes, and RGCN takes all relations", true},
    {" HeteroConv HeteroGraphConv to_hetero ", "a layer is told its edges: SAGE(author.e, paper.x, 64) over writes + SAGE(64) over cites", false},
    {" ARMA ARMAConv ClusterGCN ClusterGCNConv FAGCN FAConv FAGCNConv SSGConv MixHop MixHopConv LEConv GatedGraphConv GatedGraph AGNNConv DNA DNAConv FeaStConv MFConv FiLMConv SignedConv "
     "HypergraphConv AntiSymmetricConv EGConv DirGNNConv PDNConv WLConv WLConvContinuous GeneralConv DeepGCNLayer MetaLayer LINKX GroupAddRev SignedGCN RECT_L ",
     "there are GCN, GCNII, APPNP, TAG, Cheb, GAT, PNA and others (gnncc --list layers); one of your own is a few lines: layer Own(x : node[f], out) { return x + sum(src.x) |> Linear(out) }", true},
    {" NNConv ECConv GMMConv SplineConv CGConv PointNetConv PointConv PointTransformerConv XConv PPFConv PointGNNConv MeshCNNConv SchNet DimeNet DimeNetPlusPlus ViSNet GNNFF AttentiveFP NeuralFingerprint ", "layers with edge features are GINE, GAT, GATv2, TransformerConv and GEN: GINE(x, e, 64, project = true)", true},
    {" SuperGAT SuperGATConv GPS GPSConv SGFormer Transformer TransformerEncoder TransformerEncoderLayer TransformerDecoder TransformerDecoderLayer MultiheadAttention GPSE GPSENodeEncoder Polynormer LPFormer ", "layers that attend are GAT, GATv2 and TransformerConv", true},
    {" Set2Set set2set SortPool SortAggregation global_sort_pool SortPooling TopKPooling SAGPooling SAGPool TopKPool ASAPooling EdgePooling DiffPool dense_diff_pool MinCutPool dense_mincut_pool DMoNPooling ClusterPooling PANPooling MemPooling GraphUNet max_pool avg_pool max_pool_x avg_pool_x max_pool_neighbor_x avg_pool_neighbor_x graclus voxel_grid fps GraphMultisetTransformer topk ",
     "graphs are read out by attention(h), or by sum, mean, max, min and std with to = graph", true},
    {" group_norm GroupNorm MessageNorm DiffGroupNorm GraphSizeNorm MeanSubtractionNorm spectral_norm ", "there are batch_norm, layer_norm, graph_norm, instance_norm, pair_norm, l2_normalise", true},
    {" powermean PowerMeanAggregation median MedianAggregation quantile QuantileAggregation sort LSTMAggregation MLPAggregation DegreeScalerAggregation GRUAggregation MulAggregation MultiAggregation DeepSetsAggregation SetTransformerAggregation EquilibriumAggregation LCMAggregation "
     "VariancePreservingAggregation PatchTransformerAggregation Aggregation ",
     "edges are reduced by sum, mean, max, min, std, var, logsumexp and softmax_aggregation", true},
    {" LSTM LSTMCell GRU GRUCell RNN RNNCell RNNBase RNNCellBase Conv1d Conv2d Conv3d ", "there are Linear and MLP; a cell of your own is a layer: layer Cell(x : node[f], out) { ... }", true},
    {" clamp clip relu6 ReLU6 hardtanh Hardtanh HardTanh ", "max and min cut values off: min(max(x, 0), 6)", false},
    {" hardswish Hardswish hardsigmoid Hardsigmoid mish Mish celu CELU glu GLU softsign Softsign Softshrink Hardshrink Tanhshrink Threshold RReLU ", "there are relu, leaky_relu, elu, selu, gelu, silu, softplus, sigmoid, tanh, prelu; others are expressions: x * tanh(softplus(x))", true},
    {" DynamicEdgeConv DynamicEdge GravNetConv knn_graph radius_graph knn approx_knn approx_knn_graph radius nearest knn_interpolate KNNIndex ", "the graph is that of the data, in every layer: EdgeConv(64) over its edges", true},
    {" argmax topk_indices ", "the program made answers that: ./train predict --classes -o classes.npy", true},
    {" gather index_select stack transpose permute expand repeat unsqueeze chunk split ", "there are reshape, flatten, squeeze, concat, slice, outer; what is missing in a dimension is broadcast by its name", true},
    {" Embedding EmbeddingBag embedding learned Node2Vec MetaPath2Vec ", "node e : learned[64] in the data block is a weight with a row for each node", false},
    {" norm vector_norm ", "sqrt(sum(x * x, axis = -1)) is the length of each row, l2_normalise(x) divides by it", false},
    {" softmin ", "softmax(-x)", false},
    {" square ", "x * x", false},
    {" reciprocal ", "1 / x", false},
    {" neg negative ", "-x", false},
    {" logsigmoid LogSigmoid log_sigmoid ", "-softplus(-x)", false},
    {" one_hot OneHot OneHotDegree to_categorical ", "onehot is a type of a field in the data block: node x : onehot[7]", false},
    {" cosine_similarity CosineSimilarity ", "dot(l2_normalise(a), l2_normalise(b)), of values of the same rows", false},
    {" pairwise_distance PairwiseDistance ", "sqrt(sum((a - b) * (a - b), axis = -1))", false},
    {" ones_like zeros_like ", "zeros(x, 16) lives where x lives; numbers go with every value: x + 1", false},
    {" masked_fill ", "where(x > 0, x, 0) has x where the condition is not 0, else 0", false},
    {" JumpingKnowledge HeteroJumpingKnowledge ", "concat(h1, h2), max(h1, h2) or h1 + h2", false},
    {" Module ModuleDict Container ", "model gcn on cora { ... } is one: a call of a layer makes its weights", false},
    {" Parameter ParameterList ParameterDict UninitializedParameter ", "param w : [f, 16] = glorot in a layer is a weight", false},
    {" GAE VGAE ARGA ARGVA DeepGraphInfomax ", "edges are told from other pairs of nodes: pairs links : label[1] = split_edges(negatives = uniform(1)) in the data block, and return dot(src.z, dst.z) over links", false},
    {" KGEModel TransE ComplEx DistMult RotatE ", "nodes have weights of their own, node e : learned[64], and RGCN takes all relations", true},
    {" LabelPropagation CorrectAndSmooth MaskLabel ", "APPNP(h) spreads what is given along the edges; scores for what comes behind the training: ./train predict -o scores.npy", true},
    {" DataParallel DistributedDataParallel ", "gnncc --ranks=4 makes a program for as many processes", false},
    {" Sequential ModuleList ", "|> puts one behind the other: x |> Linear(64) as lin1 |> relu |> Linear(16) as lin2", false},
    {" Identity ", "h itself: leave it out", false},
    {" MessagePassing propagate update_all apply_edges send_and_recv ", "messages are expressions: sum(relu(src.x + dst.x)) adds up what comes along the edges", false},
    {" copy_u copy_src copy_e u_add_v u_sub_v u_mul_v u_dot_v u_add_e u_sub_e u_mul_e e_add_v e_mul_v gspmm gsddmm spmm sddmm ", "values at the ends of edges are src.x and dst.x: sum(src.x * w), dot(src.x, dst.x)", false},
    {" add_self_loops remove_self_loops add_remaining_self_loops contains_self_loops ", "self_loops = add or remove in the data block", false},
    {" to_undirected to_bidirected ", "undirected = true in the data block", false},
    {" degree in_degrees out_degrees ", "in_degree and out_degree are values of nodes", false},
    {" negative_sampling batched_negative_sampling structured_negative_sampling train_test_split_edges RandomLinkSplit ", "pairs links : label[1] = split_edges(negatives = uniform(1), resample = epoch) in the data block; = stored() for those that the data bring", false},
};

/* Losses and optimisers that are not there. */
static const Elsewhere elsewhere_in_training[] = {
    {" nll nll_loss focal FocalLoss ", "there is cross_entropy, with weights = [1, 2] of the classes or label_smoothing = 0.1; it takes the scores as they are", true},
    {" margin margin_ranking MarginRankingLoss margin_ranking_loss infonce InfoNCE triplet TripletMarginLoss triplet_margin_loss ", "bpr(out, links.label) ranks pairs", true},
    {" kl_div KLDivLoss poisson_nll PoissonNLLLoss poisson_nll_loss GaussianNLLLoss gaussian_nll_loss ", "there are cross_entropy, bce, mse, l1, huber, bpr", true},
    {" lamb lion LAMB Lion Lamb adadelta Adadelta adamax Adamax nadam NAdam radam RAdam lbfgs LBFGS sparse_adam SparseAdam ", "there are sgd, adam, adamw, rmsprop, adagrad", true},
};

const Alias *known_alias(int index) {
  return index < (int)(sizeof aliases / sizeof *aliases) ? &aliases[index] : NULL;
}

const char *known_alias_of(const char *foreign) {
  const Alias *alias;
  for (int i = 0; (alias = known_alias(i)); i++)
    if (strcmp(alias->foreign, foreign) == 0) return alias->ours;
  return NULL;
}

bool known_is_name(const char *ours) { return !strpbrk(ours, "(@^+-*/"); }

const char *known_use(Arena *arena, const char *ours) { return strlen(ours) == 1 ? arena_printf(arena, "x %s y", ours) : ours; }

const char *known_argument_of(const char *foreign, const char *const *names, int count) {
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
    if (strcmp(arguments[i].foreign, foreign) != 0) continue;
    if (!*arguments[i].ours) return "";
    for (int k = 0; k < count; k++)
      if (strcmp(names[k], arguments[i].ours) == 0) return names[k];
  }
  return NULL;
}

/* Sources of data. */
static const Elsewhere elsewhere_in_data[] = {
    {LOADERS, no_loader, true},
    {" tsv pandas ", "csv(edges = \"e.csv\", nodes = \"n.csv\") reads tables, whatever their cells are apart by", true},
    {" matrix_market mmread ", "mtx(\"f.mtx\") reads it", true},
    {" bin memmap ", "numbers without a header are those of a field: node x : f32[128] = raw(\"x.bin\", f32[N, 128])", true},
    {" graphbolt csvdataset ondiskdataset ", "dgl(\"folder\") reads the folder in which meta.yaml or metadata.yaml is", true},
    {" coo csr csc ", "edges(\"edges.txt\") reads pairs of nodes, npz(\"a.npz\") what scipy.sparse.save_npz writes", true},
    {" parquet arrow feather hdf5 h5 ", "read it in Python and write tables, which csv(edges = \"e.csv\", nodes = \"n.csv\") reads, or arrays by numpy.savez, which npz(\"f.npz\") reads", true},
    {" networkx nx graphml gml ", "networkx.write_edgelist(g, \"e.txt\", data=False) in Python writes pairs of nodes, which edges(\"e.txt\") reads", true},
    {" TUDataset PygNodePropPredDataset PygGraphPropPredDataset PygLinkPropPredDataset DglNodePropPredDataset DglGraphPropPredDataset DglLinkPropPredDataset Amazon Coauthor Reddit Reddit2 Flickr Yelp WikipediaNetwork WebKB Actor QM9 ZINC PPI "
     "KarateClub CitationFull CoraFull HeterophilousGraphDataset IMDB DBLP AIFB MUTAG ", "tu(\"folder\"), ogb(\"folder\") and planetoid(\"folder\") read the folders in which these sets are published; of others share/gnncc/to_gnncc.py makes a folder in Python, and npy(\"folder\") reads that", true},
    {" json jsonl xlsx sql sqlite neo4j excel ", "write tables of it, a row a node and a row an edge: csv(edges = \"e.csv\", nodes = \"n.csv\")", true},
    {" pt pyg torch pickle ", "share/gnncc/to_gnncc.py makes a folder of a Data or a HeteroData in Python, and npy(\"folder\") reads that", true},
};

/* Settings of a data block. */
static const Elsewhere elsewhere_in_settings[] = {
    {" AddSelfLoops AddRemainingSelfLoops add_self_loops add_remaining_self_loops ", "self_loops = add", false},
    {" RemoveSelfLoops remove_self_loops ", "self_loops = remove", false},
    {" ToUndirected to_undirected to_bidirected AddReverse ", "undirected = true; of relations between types of nodes reverse = [writes]", false},
    {" NormalizeFeatures RowFeatNormalizer normalize_features ", "normalize = rows(x)", false},
    {" RemoveDuplicatedEdges coalesce ToSimple is_coalesced ", "edges that are there twice count once, unless duplicates = keep says that they are two", false},
    {" RandomNodeSplit train_mask val_mask valid_mask test_mask train_idx val_idx test_idx train_ratio val_ratio test_ratio ", "masks and lists of the data are read by themselves; split = random(0.6, 0.2, 0.2, seed = 0) draws a split, split = index(3) takes one of several", false},
    {" RandomLinkSplit negative_sampling neg_sampling_ratio ", "pairs links : label[1] = split_edges(negatives = uniform(1), resample = epoch); = stored() for those that the data bring", false},
    {" num_nodes n_nodes number_of_nodes ", "the data say how many nodes there are; where they do not, nodes = 2708 does", false},
    {" num_edges n_edges number_of_edges ", "the data say how many edges there are; without data, edges = 10556 does", false},
    {" num_classes n_classes classes ", "node y : class[7] says how many classes there are", false},
    {" num_features num_node_features in_channels in_feats input_dim ", "node x : f32[1433] says how many features there are", false},
    {" root path file dir url data_dir ", "the data are named before the block: data cora from \"cora.safetensors\" { ... }", false},
    {" OneHotDegree OneHot ", "node x : onehot[7] is made of labels; of degrees, in_degree is a value of nodes", false},
    {" NodePropertySplit IndexToMask MaskToIndex Pad Constant TargetIndegree LocalDegreeProfile SVDFeatureReduction RemoveTrainingClasses RemoveIsolatedNodes LargestConnectedComponents KNNGraph RadiusGraph ToDense "
     "ToSparseTensor TwoHop LineGraph LaplacianLambdaMax GDC SIGN GCNNorm AddMetaPaths AddRandomMetaPaths RootedEgoNets RootedRWSubgraph VirtualNode AddLaplacianEigenvectorPE AddRandomWalkPE AddGPSE FeaturePropagation "
     "HalfHop Distance Cartesian LocalCartesian Polar Spherical PointPairFeatures Center NormalizeRotation NormalizeScale RandomJitter RandomFlip LinearTransformation RandomScale RandomRotate RandomShear FaceToEdge "
     "SamplePoints FixedPoints GenerateMeshNormals Delaunay ToSLIC GridSampling Compose ComposeFilters BaseTransform ToDevice pre_transform ",
     "what such a transform makes is made before, in Python: share/gnncc/to_gnncc.py saves its result as a folder that gnncc reads", true},
};

static const Elsewhere *find_elsewhere(const Elsewhere *rows, size_t count, const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < count && length > 0; i++)
    for (const char *at = rows[i].names; (at = strstr(at, name)); at += length)
      if (at[-1] == ' ' && at[length] == ' ') return &rows[i];
  return NULL;
}

static const char *instead_of(const Elsewhere *row, bool *is_missing) {
  if (row) *is_missing = row->is_missing;
  return row ? row->instead : NULL;
}

const char *known_instead(const char *name, bool *is_missing) {
  return instead_of(find_elsewhere(elsewhere, sizeof elsewhere / sizeof *elsewhere, name), is_missing);
}

const char *known_instead_in_training(const char *name) {
  bool is_missing;
  return instead_of(find_elsewhere(elsewhere_in_training, sizeof elsewhere_in_training / sizeof *elsewhere_in_training, name), &is_missing);
}

const char *known_instead_of_source(const char *name) {
  bool is_missing;
  return instead_of(find_elsewhere(elsewhere_in_data, sizeof elsewhere_in_data / sizeof *elsewhere_in_data, name), &is_missing);
}

const char *known_instead_of_setting(const char *name) {
  bool is_missing;
  return instead_of(find_elsewhere(elsewhere_in_settings, sizeof elsewhere_in_settings / sizeof *elsewhere_in_settings, name), &is_missing);
}
