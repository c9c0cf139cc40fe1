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
