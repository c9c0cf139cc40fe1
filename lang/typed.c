#include "typed.h"

#include <string.h>

typedef struct MapRow {
  const char *name;
  int arity;
} MapRow;

static const MapRow map_rows[MAP_COUNT] = {
    [MAP_ADD] = {"+", 2},       [MAP_SUB] = {"-", 2},         [MAP_MUL] = {"*", 2},     [MAP_DIV] = {"/", 2},
    [MAP_POW] = {"^", 2},       [MAP_MAX] = {"max", 2},       [MAP_MIN] = {"min", 2},   [MAP_LEAKY_RELU] = {"leaky_relu", 2},
    [MAP_ELU] = {"elu", 2},     [MAP_NEG] = {"neg", 1},       [MAP_RELU] = {"relu", 1}, [MAP_GELU] = {"gelu", 1},
    [MAP_SIGMOID] = {"sigmoid", 1}, [MAP_TANH] = {"tanh", 1}, [MAP_EXP] = {"exp", 1},   [MAP_LOG] = {"log", 1},
    [MAP_SQRT] = {"sqrt", 1},   [MAP_RSQRT] = {"rsqrt", 1},   [MAP_ABS] = {"abs", 1},   [MAP_SILU] = {"silu", 1},
    [MAP_SOFTPLUS] = {"softplus", 1}, [MAP_LESS] = {"<", 2},  [MAP_LESS_EQUAL] = {"<=", 2}, [MAP_EQUAL] = {"==", 2},
    [MAP_SIGN] = {"sign", 1},
};

const char *typed_domain_name(const DataInfo *info, Domain domain) {
  const int set = domain_set(domain);
  if (domain == DOMAIN_OTHERS) return "others";
  if (domain_is_rows(domain)) return set == ROWS_OF_NODES ? info && info->node_type ? info->node_type : "node" : set == ROWS_OF_GRAPHS ? "graph" : info->types[set - ROWS_OF_TYPES].name;
  if (domain_is_edges(domain)) return set == EDGES_OF_GRAPH ? "edge" : set == EDGES_OF_MEMBERS ? "member" : info->relations[set - EDGES_OF_RELATIONS].name;
  return "";
}

Domain typed_type_named(const DataInfo *info, const char *name) {
  if (strcmp(typed_domain_name(info, DOMAIN_NODE), name) == 0) return DOMAIN_NODE;
  for (int i = 0; i < info->type_count; i++)
    if (strcmp(info->types[i].name, name) == 0) return DOMAIN_OF_ROWS(ROWS_OF_TYPES + i);
  return DOMAIN_NONE;
}

Domain typed_declared_domain(const DataInfo *info, const FieldDecl *decl) { return decl->node_type ? typed_type_named(info, decl->node_type) : decl->domain; }

Domain typed_pairs(const DataInfo *info) { return info->has_pairs ? info->relations[info->relation_count - 1].domain : DOMAIN_NONE; }

int typed_edge_sets(const DataInfo *info) { return EDGES_OF_RELATIONS + info->relation_count; }

Domain typed_edge_set(const DataInfo *info, int set) {
  return set == EDGES_OF_GRAPH ? DOMAIN_EDGE : set == EDGES_OF_MEMBERS ? DOMAIN_MEMBER : info->relations[set - EDGES_OF_RELATIONS].domain;
}

int typed_row_groups(const DataInfo *info) { return 1 + info->type_count + info->has_pairs; }

int typed_row_group(const DataInfo *info, Domain edges, EdgeEnd end) {
  const int set = domain_set(domain_at(edges, end));
  if (info->has_pairs && edges == typed_pairs(info)) return 1 + info->type_count;
  return set == ROWS_OF_NODES ? 0 : 1 + set - ROWS_OF_TYPES;
}

int typed_halos(const DataInfo *info) { return HALO_KINDS + info->relation_count + 2 * (typed_row_groups(info) - 1); }

HaloKind typed_group_halo(const DataInfo *info, int group, EdgeEnd sums_at) { return group == 0 ? (HaloKind)sums_at : (HaloKind)(HALO_KINDS + info->relation_count + 2 * (group - 1) + (sums_at == END_SRC)); }

Domain typed_all_nodes(const DataInfo *info) { return DOMAIN_OF_ROWS(ROWS_OF_TYPES + info->type_count - 1); }

Domain typed_all_edges(const DataInfo *info) { return info->relations[info->relation_count - 1].domain; }

bool typed_are_all_nodes(const DataInfo *info, Domain domain) { return info->has_all && domain == typed_all_nodes(info); }

bool typed_are_all_edges(const DataInfo *info, Domain domain) { return info->has_all && domain == typed_all_edges(info); }

HaloKind typed_columns_halo(const DataInfo *info) { return typed_group_halo(info, info->type_count, END_DST); }

HaloKind typed_back_halo(const DataInfo *info) { return typed_group_halo(info, info->type_count, END_SRC); }

HaloKind typed_edge_halo(Domain edges) { return edges == DOMAIN_EDGE ? HALO_OF_EDGES : (HaloKind)(HALO_KINDS + domain_set(edges) - EDGES_OF_RELATIONS); }

int64_t typed_rows(const DataInfo *info, Domain domain) {
  const int set = domain_set(domain);
  if (domain == DOMAIN_OTHERS) return info->ranks->most_others;
  if (domain_is_rows(domain)) return set == ROWS_OF_NODES ? info->nodes : set == ROWS_OF_GRAPHS ? info->graphs : info->types[set - ROWS_OF_TYPES].nodes;
  if (domain_is_edges(domain)) return set == EDGES_OF_GRAPH ? info->edges : set == EDGES_OF_MEMBERS ? info->nodes : info->relations[set - EDGES_OF_RELATIONS].edges;
  return 1;
}

int typed_map_arity(MapOp op) {
  return map_rows[op].arity;
}

const char *typed_map_name(MapOp op) {
  return map_rows[op].name;
}

const char *typed_reducer_name(Reducer reducer) {
  static const char *const names[REDUCE_COUNT] = {
#define REDUCER(name, text, verb, is_primitive) text,
#include "reducers.h"
#undef REDUCER
  };
  return names[reducer];
}

void typed_match_dims(const Type *small, const Type *large, int map[MAX_RANK]) {
  bool is_used[MAX_RANK] = {false};
  for (int d = 0; d < MAX_RANK; d++) map[d] = NO_INDEX;
  for (int pass = 0; pass < 2; pass++)
    for (int d = large->rank - 1; d >= 0; d--)
      for (int s = small->rank - 1; s >= 0 && map[d] == NO_INDEX; s--) {
        if (is_used[s] || small->dim[s].size != large->dim[d].size) continue;
        bool is_same_name = strcmp(small->dim[s].name, large->dim[d].name) == 0;
        bool is_same_place = small->rank - s == large->rank - d;
        if (pass == 0 ? is_same_name : is_same_place) {
          map[d] = s;
          is_used[s] = true;
        }
      }
}
