#!/bin/bash
# nan.sh BUILD [long]: NaN stays NaN. A model of one branch for each function of the language; a NaN in the bias below one branch must
# reach the loss through its function, and the weights below it through the gradient. Long: for CUDA, on the stand-in, too.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) is_long=${2:-}
. "$here/../tap.sh"
gnncc=$build/gnncc
workplace

# Branch and expression; t is the linear map that gets the NaN, u another one. What may be no number by itself is kept from it.
branches() {
  cat <<'LIST'
relu relu(t)
gelu gelu(t)
sigmoid sigmoid(t)
tanh tanh(t)
silu silu(t)
softplus softplus(t)
exp exp(t)
log log(t * t + 1)
sqrt sqrt(t * t + 1)
rsqrt rsqrt(t * t + 1)
abs abs(t)
leaky_relu leaky_relu(t, 0.1)
elu elu(t)
max max(t, u)
max_second max(u, t)
max_number_second max(0.25, t)
min min(t, u)
min_second min(u, t)
min_number min(t, 0.25)
sum sum(src.t)
sum_source sum(relu(dst.t), to = src)
mean mean(src.t)
max_edges max(src.t)
min_edges min(src.t * dst.u)
max_source max(relu(dst.t) * src.u, to = src)
max_row outer(max(t, axis = -1), slice(u, 0, 1)) |> flatten
min_row outer(min(t, axis = -1), slice(u, 0, 1)) |> flatten
selu selu(t)
var var(src.t)
var_row u * var(t, axis = -1)
std std(src.t)
std_row u * std(t, axis = -1)
logsumexp logsumexp(src.t)
logsumexp_row u * logsumexp(t, axis = -1)
softmax softmax(t)
log_softmax log_softmax(t)
edge_softmax sum(edge_softmax(src.t) * dst.u)
where where(u > 0, t, 2 * t)
mean_rows u * mean(t, axis = node)
pooled u * graph_of(t)
concat concat(slice(t, 2, 5), slice(u, 0, 2))
dropout dropout(t, 0.5)
dropped relu(dropout(t, 1))
power t ^ 2
quotient u / (t * t + 1)
LIST
}
functions_are_here() { # those of values that have a slope; what follows rearranges and begins
  local missing
  missing=$(comm -23 <("$gnncc" --list functions | awk '$1 == "flatten" { exit } $1 !~ /^(sign|count|stop_gradient|running)$/ { print $1 }' | sort) <(branches | awk '{ print $1 }' | sort))
  [ -z "$missing" ] || { echo "$missing"; return 1; }
}
model() {
  echo 'layer graph_of(t : node[f]) { p = mean(t, to = graph); return graph.p }'
  echo 'layer Branches(x : node[f], classes) {'
  branches | while read -r name expression; do
    echo "  t = Linear(x, 5) as in_$name; u = Linear(x, 5) as beside_$name"
    [ "$name" = relu ] && echo "  out = Linear($expression, classes) as out_$name" || echo "  out = out + (Linear($expression, classes) as out_$name)"
  done
  echo '  return out
}
data karate from karate()
model branches on karate { return x |> Branches(y.classes) as b }
train branches { loss = cross_entropy(out, y); optimizer = sgd(lr = 0.001); epochs = 2; metric = accuracy }'
}
check "there is a branch for every function of values" functions_are_here
model >branches.gnn
# As a user's, which takes the C compiler half a minute, in the long form only.
compiled() { # LEVEL OPTION...
  [ -n "$is_long" ] || local -x CFLAGS=$1
  "$gnncc" -q "${@:2}" branches.gnn
}
check "the model compiles" compiled -O1 -o branches
check "  as a library" compiled -O0 --lib

cat >host.c <<'C'
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "branches.h"

/* In the row of the unit whose bias is NaN: other rows get theirs from the units above. */
static int has_nan(branches *g, const char *name) {
  float *w = NULL;
  const int64_t *shape;
  int rank, found = 0;
  if (branches_weight(g, name, &w, &shape, &rank) != BRANCHES_OK) return -1;
  for (int64_t i = 0; i < shape[1]; i++) found |= isnan(w[2 * shape[1] + i]);
  return found;
}

/* BRANCH FILE: a NaN in the bias of in_BRANCH, saved in FILE, and an epoch; "-": without one. */
int main(int argc, char **argv) {
  const int is_clean = argc == 3 && strcmp(argv[1], "-") == 0;
  branches_options options;
  branches_options_init(&options);
  branches *g = NULL;
  branches_result trained = {0}, result = {0};
  char bias[80], weight[80];
  float *b;
  const int64_t *shape;
  int rank;
  if (argc != 3 || branches_create(&options, &g) != BRANCHES_OK || branches_load(g, "karate") != BRANCHES_OK) return 1;
  snprintf(bias, sizeof bias, "b.in_%s.bias", is_clean ? "relu" : argv[1]);
  snprintf(weight, sizeof weight, "b.in_%s.weight", is_clean ? "relu" : argv[1]);
  if (branches_weight(g, bias, &b, &shape, &rank) != BRANCHES_OK) return 1;
  if (!is_clean) b[2] = NAN;
  if (branches_save(g, argv[2]) != BRANCHES_OK) return 1;
  const branches_status evaluated = branches_eval(g, BRANCHES_TRAIN, &result), status = branches_epoch(g, &trained);
  printf("eval %s loss %g accuracy %g; epoch %s loss %g: %s\n", branches_status_text(evaluated), result.loss, result.metric, branches_status_text(status), trained.loss, branches_error(g));
  printf("NaN in %s: %d\n", weight, has_nan(g, weight));
  if (is_clean) return !(status == BRANCHES_OK && isfinite(trained.loss) && isfinite(result.loss) && has_nan(g, weight) == 0);
  if (strstr(argv[1], "_second") == NULL && has_nan(g, weight) != 1) return 1; /* of two, the first takes the gradient */
  return !(status == BRANCHES_ENUMERIC && isnan(result.loss) && result.metric == 0 && strstr(branches_error(g), bias) != NULL);
}
C
check "a program that embeds it" cc -std=gnu11 -Wall -Wextra -Werror host.c -o host -L. -lbranches -l:libz.a -lm -lpthread
check "no NaN of itself" ./host - finite.safetensors
check "  and none in its losses" ./branches -q --weights finite.safetensors --out finite
reaches_loss() { # PROGRAM BRANCH: trained from its weights, the loss of the first epoch is NaN
  rm -rf out
  "$1" -q --weights "$2.safetensors" --nan=continue --epochs 1 --every 1 --log csv --out out && awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 && $at["loss"] ~ /nan/ { found = 1 } { print } END { exit !found }' out/log.csv
}
names=$(branches | awk '{ print $1 }')
for name in $names; do
  check "$name: NaN reaches loss, gradient and evaluation" ./host "$name" "$name.safetensors"
done
check "relu: in the program as in the library" reaches_loss ./branches relu

# ---- programs end with status 5 and name the value ----
cat >born.gnn <<'MODEL'
data karate from karate()
model born on karate {
  h = sqrt(-1 - abs(x |> Linear(8) as first)) |> relu
  return h |> dropout(0.5) |> Linear(y.classes) as last
}
train born { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3 }
MODEL
names_the_first() { # GNNCC_OPTION...: born is built and ends so, also under flags that let a compiler do without NaN
  rm -rf born born.out
  CFLAGS=${flags:-} "$gnncc" -q "$@" born.gnn -o born || return 1
  ./born -q --out born.out 2>err
  local status=$?
  cat err
  [ $status -eq 5 ] && grep -q 'R0803' err && grep -q 'first bad value: sqrt,' err
}
check "NaN that a relu takes in: exit 5, and the value" names_the_first
check "  without fusion" names_the_first -O0
in_every_column() { # a loss that was measured is one, NaN too
  ./born -q --nan=continue --every 1 --log csv --log jsonl --out born.out && awk -F, 'NR > 1 && ($3 != "nan" || $4 != "nan") { exit 1 } END { exit NR != 4 }' born.out/log.csv &&
    grep -q '"loss":null,"train":null' born.out/log.jsonl && ! grep -e nan born.out/log.jsonl
}
check "  in the log as nan, also where the loss is the measure" in_every_column
flags=-ffast-math check "  under -ffast-math" names_the_first
"$gnncc" -q -S born.gnn -o gen
refuse 2 "the sources alone refuse -ffast-math" make -s -C gen CFLAGS="-O2 -ffast-math"

# ---- the class of a row with NaN is the NaN's ----
cat >argmax.c <<'C'
#include "born.h"
int main(void) {
  born_options options;
  born_options_init(&options);
  born *g = NULL;
  float *b;
  const int64_t *shape;
  int rank;
  if (born_create(&options, &g) != BORN_OK || born_weight(g, "last.bias", &b, &shape, &rank) != BORN_OK) return 1;
  for (int c = 0; c < 4; c++) b[c] = c == 2 ? -100 : 100;
  return born_save(g, "argmax.safetensors") != BORN_OK;
}
C
sed -i 's/h = .*/h = x |> Linear(8) as first/; s/return .*/return sqrt(h |> Linear(y.classes) as last)/' born.gnn
"$gnncc" -q --lib born.gnn
check "a program whose scores of one class are NaN" sh -c "cc argmax.c -o argmax -L. -lborn -l:libz.a -lm -lpthread && ./argmax && '$gnncc' -q born.gnn -o born"
predicts_nan() {
  ./born predict -q --nan=continue --classes --weights argmax.safetensors -o classes.csv && [ "$(sed 1d classes.csv | cut -d, -f2 | sort -u)" = 2 ]
}
check "predict: NaN is the largest score" predicts_nan

# ---- for CUDA ----
if [ "$is_long" = long ] && [ -e "$build/share/libgnncuda.a" ]; then
  check "CUDA: the model compiles" "$here/../cuda/program.sh" "$build" branches_cuda branches.gnn
  check "CUDA: no NaN of itself" sh -c '! ( rm -rf out; ./branches_cuda -q --weights finite.safetensors --log csv --out out; grep nan out/log.csv || [ ! -s out/log.csv ] )'
  for name in $names; do check "CUDA, $name: NaN reaches the loss" reaches_loss ./branches_cuda "$name"; done
fi
finish
