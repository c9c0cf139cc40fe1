/* known: what other libraries call things, and the names of the language whose meaning comes later. */
#include <string.h>

#include "check.h"

static const Alias aliases[] = {
    {"GCNConv", "GCN"},         {"GraphConvolution", "GCN"}, {"SAGEConv", "SAGE"},      {"GraphSAGE", "SAGE"},
    {"GINConv", "GIN"},         {"GATConv", "GAT"},          {"GATv2Conv", "GATv2"},    {"GCN2Conv", "GCNII"},
    {"SGConv", "SGC"},          {"GINEConv", "GINE"},        {"ChebConv", "Cheb"},      {"TAGConv", "TAG"},
    {"LGConv", "LightGCN"},     {"ResGatedGraphConv", "GatedGCN"}, {"GatedGCNConv", "GatedGCN"}, {"APPNPConv", "APPNP"}, {"PNAConv", "PNA"}, {"GENConv", "GEN"},
    {"RelGraphConv", "RGCN"},   {"RGCNConv", "RGCN"},        {"GCN2", "GCNII"},         {"gcn_norm", "Propagate"},
    {"Dense", "Linear"}, {"nn.Linear", "Linear"}, {"linear", "Linear"},
    {"global_add_pool", "sum(h, to = graph)"}, {"global_mean_pool", "mean(h, to = graph)"}, {"global_max_pool", "max(h, to = graph)"},
    {"ReLU", "relu"},           {"LeakyReLU", "leaky_relu"}, {"ELU", "elu"},            {"GELU", "gelu"},
    {"Sigmoid", "sigmoid"},     {"Tanh", "tanh"},            {"Dropout", "dropout"},    {"Softmax", "softmax"},
    {"DynamicEdgeConv", "EdgeConv"}, {"SoftmaxAggregation", "softmax_aggregation"}, {"DropEdge", "drop_edge"}, {"dropout_edge", "drop_edge"}, {"dropout_adj", "drop_edge"}, {"DropNode", "drop_node"}, {"FeatMask", "mask_feature"}, {"DropPath", "stochastic_depth"}, {"AttentionalAggregation", "attention"}, {"GlobalAttention", "attention"}, {"GlobalAttentionPooling", "attention"}, {"PReLU", "prelu"}, {"SELU", "selu"}, {"SiLU", "silu"}, {"Softplus", "softplus"}, {"GraphNorm", "graph_norm"},
    {"InstanceNorm", "instance_norm"}, {"PairNorm", "pair_norm"}, {"normalize", "l2_normalise"}, {"l2_normalize", "l2_normalise"}, {"BatchNorm", "batch_norm"}, {"BatchNorm1d", "batch_norm"}, {"LayerNorm", "layer_norm"}, {"matmul", "@"}, {"mm", "@"},
    {"CrossEntropyLoss", "cross_entropy"}, {"NLLLoss", "cross_entropy"}, {"MSELoss", "mse"}, {"BCEWithLogitsLoss", "bce"},
    {"L1Loss", "l1"},           {"SmoothL1Loss", "huber"},   {"HuberLoss", "huber"},    {"BPRLoss", "bpr"},
    {"auc", "roc_auc"},         {"auroc", "roc_auc"},        {"ap", "average_precision"}, {"acc", "accuracy"},
    {"Adam", "adam"},           {"AdamW", "adamw"},          {"SGD", "sgd"},            {"RMSprop", "rmsprop"},
    {"Adagrad", "adagrad"},     {"StepLR", "step"},          {"ExponentialLR", "exponential"}, {"CosineAnnealingLR", "cosine"},
    {"LinearLR", "linear"},     {"ReduceLROnPlateau", "plateau"}, {"scatter_add", "sum"},
    {"scatter_mean", "mean"},   {"pow", "^"}, {"cat", "concat"}, {"narrow", "slice"}, {"view", "reshape"}, {"detach", "stop_gradient"}, {"einsum", "dot"},
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

static const char *const later_functions[] = {
    "group_norm", "powermean", "median", "quantile", "sort", "set2set", "embedding", "learned", "topk", "softmin", "norm",
};

static const char *const later_layers[] = {
    "ARMA", "NNConv", "SplineConv", "DNA", "FAGCN", "SuperGAT", "GPS", "HGT", "HAN", "RGAT", "HeteroLinear", "Set2Set",
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

const char *known_argument_of(const char *foreign, const char *const *names, int count) {
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
    if (strcmp(arguments[i].foreign, foreign) != 0) continue;
    if (!*arguments[i].ours) return "";
    for (int k = 0; k < count; k++)
      if (strcmp(names[k], arguments[i].ours) == 0) return names[k];
  }
  return NULL;
}

static bool holds(const char *const *names, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

bool known_unsupported_function(const char *name) {
  return holds(later_functions, sizeof later_functions / sizeof *later_functions, name);
}

bool known_unsupported_layer(const char *name) {
  return holds(later_layers, sizeof later_layers / sizeof *later_layers, name);
}
