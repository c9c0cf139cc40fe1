#!/bin/bash
# long.sh BUILD: 16 ranks under SimGrid's SMPI, where that is there: the bits of one process, and what exchanges take as --backend=sim says; every standard layer on three ranks, on the stand-in for MPI; and three data sets (GNN_DATA: their folder) on 1, 2, 3, 4 and 8 ranks: losses, measures, weights and checkpoints of one process.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
data=$(realpath "${GNN_DATA:-$here/../../../shared/data}" 2>/dev/null)
. "$here/../tap.sh"
. "$here/../end_to_end/graphs.sh"
gnncc=$build/gnncc
workplace
export CFLAGS=-O0 MPICC=$here/standin/mpicc

run() { # RANKS PROGRAM ARGUMENT...
  local ranks=$1
  shift
  STANDIN_RANKS=$ranks STANDIN_SEED=3 timeout 600 "$@" --threads 1 -q --every 1 --log csv
}
alike() { # ONE OTHER
  local file
  diff <(cut -d, -f1-7 "$1/log.csv") <(cut -d, -f1-7 "$2/log.csv") || return 1
  for file in "$1"/*.safetensors; do cmp "$file" "$2/${file##*/}" || return 1; done
}
same_bits() { # NAME "OPTION..." RANKS...: of NAME.gnn
  local name=$1 options=$2 n
  shift 2
  "$gnncc" -q -w --cut=whole "$name.gnn" -o "${name}_1" && rm -rf one && run 1 "./${name}_1" --out one || return 1
  for n; do
    rm -rf out
    "$gnncc" -q -w --ranks="$n" $options "$name.gnn" -o "${name}_n" && run "$n" "./${name}_n" --out out && alike one out || { echo "$n ranks"; return 1; }
  done
}

# ---- simulated ----

. "$here/smpi.sh"
simulated() {
  many_target 16 >many.gnn && cat >>many.gnn <<'MODEL' && smpi_builds many.gnn 16 && "$gnncc" -q -w --cut=whole --ranks=1 many.gnn -o many_1 && run 1 ./many_1 --out one && smpi_runs 16 no many/many -q --every 1 --log csv --out many.out >text 2>&1 || { cat text; return 1; }
data g from synth(kind = "rmat", nodes = 35000, degree = 6, features = 16, classes = 5, seed = 3)
model many on g {
  h = x |> dropout(0.3) |> SAGE(32) |> relu |> dropout(0.3) |> GCN(32) |> relu
  return h |> SAGE(y.classes)
}
train many { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2; evaluate = every(1000); metric = accuracy }
MODEL
  alike one many.out
}
takes_as_planned() { # within a tenth: its messages, and what is gathered
  local planned taken
  planned=$(planned_ms net_seconds many.gnn 16) taken=$(smpi_epoch 16 no many/many)
  echo "planned $planned ms, taken $taken ms"
  awk -v planned="$planned" -v taken="$taken" 'BEGIN { exit !(taken > 0.9 * planned && taken < 1.1 * planned) }'
}
if command -v smpicc >/dev/null && command -v smpirun >/dev/null; then
  check "16 ranks under SMPI have the bits of one process" simulated
  check "  and their exchanges take what --backend=sim says" takes_as_planned
else skip "16 ranks under SMPI" "there is no smpicc: apt install libsimgrid-dev"; fi

# ---- every standard layer ----

graph_of directed
edge_data directed
# The models of tests/layers, on features instead of weights of their own.
layers() {
  sed -n '/^layer Head/,/^}/p; /^layer Initial/,/^}/p' "$here/../layers/cases.gnn"
  printf 'data g from npy("directed") {\n  nodes = 9000\n  node x : f32[32]\n  node y : class[4]\n  edge w : f32\n  edge e : f32[3]\n}\n'
  sed -n '/^model cases/,/^}/p' "$here/../layers/cases.gnn" | sed 's/id |> Input(5)/x |> Linear(5)/; s/Head(3)/Head(4)/; s/on graph/on g/; s/^  return s$/  p = x |> Linear(5) |> attention\n  q = max(s, to = graph)\n  return s + (graph.p |> Head(4)) + graph.q/'
  printf 'train cases { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2; metric = accuracy }\n'
}
layers >cases.gnn
check "all standard layers of nodes and their variants, on 3" same_bits cases "" 3

# ---- data sets ----

model='  h = x |> dropout(0.3) |> GCN(16) |> relu
  return h |> SAGE(y.classes)'
least() { "$gnncc" -w --ranks=3 --budget device=1KiB --budget host=64MiB "$1" 2>&1 | sed -n 's/.*--budget device=\([0-9.]*[KM]iB\) is the smallest.*/\1/p' | head -1; }
moves() { # NAME: with the smallest device that three ranks have their values moved by
  local device; device=$(least "$1.gnn") && echo "device $device"
  local options="--budget device=$device --budget host=64MiB"
  "$gnncc" -w --plan --ranks=3 $options "$1.gnn" >plan && same_bits "$1" "$options" 3
}
for set in cora minesweeper tolokers; do
  if [ ! -d "$data/$set" ]; then skip "$set on 2, 3, 4 and 8 ranks" "GNN_DATA has no $set"; continue; fi
  printf 'data g from npy("%s")\nmodel m on g {\n%s\n}\ntrain m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 4; metric = accuracy; keep = best(valid.accuracy) }\n' "$data/$set" "$model" >"$set.gnn"
  check "$set on 2, 3, 4 and 8 ranks" same_bits "$set" "" 2 3 4 8
  check "  on 3 with the smallest device there is a plan for" moves "$set"
done
pairs_of_tolokers() {
  printf 'data g from npy("%s") {\n  pairs links : label[1] = split_edges(valid = 0.02, test = 0.05, negatives = uniform(1), resample = epoch)\n}\nmodel m on g {\n  z = x |> SAGE(16) |> relu |> SAGE(8)\n  return dot(src.z, dst.z) over links\n}\ntrain m { loss = bce(out, links.label); optimizer = adam(lr = 0.01); epochs = 2; metric = [roc_auc, mrr] }\n' "$data/tolokers" >pairs.gnn
  same_bits pairs "" 2 3 4 8
}
if [ -d "$data/tolokers" ]; then check "candidate pairs of tolokers on 2, 3, 4 and 8 ranks" pairs_of_tolokers; else skip "candidate pairs of tolokers" "GNN_DATA has none"; fi
# ---- planned ----

cat >roomy.gnn <<'MODEL'
data web from synth("sbm", nodes = 20000, degree = 9, features = 48, classes = 6, seed = 9)
model m on web {
  h = x
  for i in 1 .. 3 { h = h |> SAGE(64) |> layer_norm |> relu |> dropout(0.3) }
  return h |> GCN(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 4 }
MODEL
fits_hosts() { # MIB...: features would leave values half of 6 MiB, and these need more; 5 MiB have no room for features
  local mib
  for mib; do "$gnncc" -w --plan --ranks=3 --budget device=7MiB --budget ssd=1GiB --budget host=${mib}MiB roomy.gnn >plan 2>&1 || { echo "$mib MiB"; cat plan; return 1; }; done
}
check "a larger host is never too little where a smaller one is enough: what has room there is at home on the SSD then" fits_hosts 5 6 8
finish
