#!/bin/bash
# run.sh BUILD: the standard layers against stored cases of PyTorch Geometric: outputs and all gradients, on graphs with isolated nodes, loops, directed and
# doubled edges, a hub, one node, no edges, and of several relations. README.md says what the files hold.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnncc=$build/gnncc compare=$build/tests/compare_layers
workplace

# What is compiled is for the largest graph; the others fit into its plan. The C compiler does not optimise: these are long programs.
compiles() { "$gnncc" -q -w --verify -Xcc -O0 "$here/$1.gnn" --data "$(data_of "$2")" -o "$1"; } # MODEL GRAPH
data_of() { [ -d "$1" ] && echo "$1" || echo "$here/graphs/$1.safetensors"; } # a folder that is made here, or a stored graph
agrees() { # PROGRAM GRAPH WEIGHTS EXPECTED
  local data weights=$here/$3.safetensors expected=$here/$4.expected.safetensors case
  data=$(data_of "$2")
  rm -rf out && mkdir out && ./"$1" gradients -q --data "$data" --weights "$weights" -o gradients.safetensors || return 1
  ./"$1" -q --data "$data" --weights "$weights" --epochs 1 --out out || return 1
  for case in $(head -c 40000 "$expected" | grep -ao '"out\.[a-z0-9_]*' | cut -c6-); do
    ./"$1" predict -q --data "$data" --weights "$weights" --layer "$case" -o out/"$case".npy || return 1
  done
  "$compare" "$expected" gradients.safetensors out/last.safetensors out 1e-5
}

check "the stored cases compile" compiles cases directed
for graph in directed hub ring one_edge no_edges one_node; do check "$graph: outputs and gradients are PyG's" agrees cases $graph weights $graph; done
check "every edge twice: counts once" agrees cases twice weights directed
for graph in loops only_loops; do check "$graph: those that add no loops" agrees cases $graph weights.kept $graph; done
check "the cases with loops of the data compile" compiles loops directed
for graph in loops only_loops; do check "$graph: those that would add them" agrees loops $graph weights.loops $graph.added; done
check "the cases of a set of graphs compile" compiles sets sets
check "a set of graphs: its loss and gradients are PyG's" agrees sets sets weights.sets sets

relational="directed hub ring one_edge no_edges one_node loops only_loops"
folder() { python3 "$here/relation_folder.py" "$here/graphs/relations.json" "$@"; }
for graph in $relational; do folder "$graph" "related/$graph"; done
folder directed related/twice 2
check "the cases of relations compile" compiles relations related/directed
for graph in $relational; do check "relations, $graph: outputs and gradients are PyG's" agrees relations related/$graph weights.relations $graph.relations; done
check "relations, every edge twice in each: counts once" agrees relations related/twice weights.relations directed.relations
empty() { compiles relations "related/$1" && agrees relations "related/$1" weights.relations "$1.relations"; }
for graph in hub no_edges; do check "relations, compiled for $graph: the same" empty $graph; done

# ---- they train: losses stay numbers, or there is a message ----
trains() { # PROGRAM GRAPH
  rm -rf out && ./"$1" -q --data "$(data_of "$2")" --every 1 --out out --log csv || return 1
  awk -F, 'NR > 1 { print; rows++; if ($3 !~ /^[0-9]+\.?[0-9e-]*$/) exit 1 } END { exit rows != 3 }' out/log.csv
}
says() { # TEXT COMMAND...: which fails
  local text=$1
  shift
  "$@" >said 2>&1 && return 1
  cat said
  grep -q "$text" said
}
for graph in directed hub ring one_edge no_edges one_node twice loops only_loops one_label; do check "$graph: all layers train" trains cases $graph; done
compiles relations related/directed
for graph in $relational; do check "relations, $graph: RGCN trains" trains relations related/$graph; done
sed '/^model/,$d' "$here/cases.gnn" >drops.gnn
cat >>drops.gnn <<'MODEL'
model drops on graph {
  h = id |> drop_node(0.5) |> GCN(4, edge_weight = drop_edge(0.5)) as gcn |> mask_feature(0.5)
  h = h + stochastic_depth(GAT(h, 4) as gat, 0.5) + (h |> drop_node(1) |> GraphConv(4, aggr = "max", edge_weight = drop_edge(1)) as conv |> mask_feature(1))
  return h |> layer_norm |> Linear(y.classes) as head
}
train drops { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3 }
MODEL
check "what drops nodes, edges, columns and layers compiles" "$gnncc" -q -w -Xcc -O0 drops.gnn --data "$here/graphs/directed.safetensors" -o drops
for graph in directed hub ring one_edge no_edges one_node loops only_loops; do check "$graph: with much dropped, it trains" trains drops $graph; done
check "no training nodes: a message" says "split train is empty, so there is nothing to learn from" ./cases -q --data "$here/graphs/no_training.safetensors"
check "no labels: a message" says "split train is empty, so there is nothing to learn from" ./cases -q --data "$here/graphs/unlabelled.safetensors"
cat >single.gnn <<'MODEL'
data graph {
  node id : f32[12]
  node y  : class[1]
}
model single on graph { return id |> GCN(4) |> relu |> GCN(y.classes) }
train single { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3; metric = accuracy }
MODEL
check "one class: it compiles" "$gnncc" -q -w -O1 single.gnn --data "$here/graphs/one_class.safetensors" -o single
check "  and trains: there is nothing to learn" trains single one_class
check "  its loss is 0, and every row is right" grep -q '^0,3,0,1,' out/log.csv
first_class() { ./single predict -q --data "$here/graphs/one_class.safetensors" --weights out/last.safetensors --classes -o - | awk -F, 'NR > 1 { n += $2 } END { exit NR < 2 || n != 0 }'; }
check "  every prediction is the class there is" first_class

# ---- a weight [in, out] of a user's is priced as a standard [out, in], of sparse features too ----
gradient_ms() { # PRODUCT: what the gradient of its weight is to take
  cat >priced.gnn <<MODEL
data d from npy("cora") {
  node y : class[7]
}
model m on d {
  param W : [1433, 64]
  z = $1
  return z |> relu |> Linear(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 1 }
MODEL
  "$gnncc" -w priced.gnn --data "$here/../../examples/cora.safetensors" --stop-after=schedule --dump=schedule |
    awk '/sum over rows of (x\^T d_z|d_linear1\^T x|d_z\^T x)/ { print $4 }'
}
prices() { awk -v own="$(gradient_ms 'x @ W')" -v standard="$(gradient_ms 'Linear(x, 64, bias = false)')" 'BEGIN { print own, standard; exit !(own > 0 && standard > 0 && own < 2 * standard) }'; }
if [ -e "$here/../../examples/cora.safetensors" ]; then check "the gradient of a user's weight is priced like Linear's" prices; else skip "the gradient of a user's weight" "examples/cora.safetensors is missing"; fi

# ---- a user's own attention is the standard one, and a GPU takes every layer ----
kernels_of() { # LAYER OPTION: what each kernel of a model of two such layers does
  cat "$here/attention.gnn" - >model.gnn <<MODEL
model m on karate { return x |> $1(8, heads = 4, $2 = 0.6) as conv1 |> elu |> $1(y.classes, concat = false, $2 = 0.6) as conv2 }
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3 }
MODEL
  "$gnncc" -w --stop-after=fuse --dump=fuse model.gnn | sed -n 's/^\(kernel [0-9]*: .*\) of .*/\1/p'
}
same_kernels() {
  kernels_of MyGAT attn_drop >mine && kernels_of GAT dropout >standard && [ "$(wc -l <mine)" -gt 20 ] && diff mine standard
}
check "attention written by a user has the kernels of GAT" same_kernels
check "every layer is there on a GPU, too" "$gnncc" -q -w --backend=cuda -S "$here/cases.gnn" --data "$here/graphs/directed.safetensors" -o gpu

# ---- a difference of two ends has one gradient on the edges, whose sum at one end is subtracted ----
stored_gradients() { # of a model of differences
  printf 'data g from karate()\nmodel m on g { h = x |> Linear(8)\n return sum(abs(src.h - dst.h) |> Linear(4)) |> Linear(y.classes) }\ntrain m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3 }\n' >ends.gnn &&
    "$gnncc" -w --stop-after=fuse --dump=fuse ends.gnn | sed '/^evaluation:/,$d' | grep -oE ' d_[a-z0-9_]+ \([0-9]+ bytes' | sort -u
}
check "the gradient of a difference is stored once" eval 'stored_gradients && ! stored_gradients | grep -q " d_dst "'
check "  and is that of its definition" eval 'CFLAGS=-O0 "$gnncc" -q -w -fgradcheck ends.gnn -o ends && ./ends gradcheck | grep -x "all gradients agree"'

# ---- models without weights, and without kernels ----
bare() { # EXPRESSION: each node's number of in-edges, as predicted
  printf 'data d from karate() {}\nmodel m on d { return %s }\n' "$1" >bare.gnn && "$gnncc" -q -w bare.gnn -o bare && ./bare predict -q -o bare.csv && sed -n '2,4p' bare.csv | cmp - <(printf '0,16\n1,9\n2,10\n')
}
check "what no kernel reads can be returned" bare in_degree
check "a model without weights predicts without any" bare 'sum(src.x) |> sum(axis = -1)'
finish
