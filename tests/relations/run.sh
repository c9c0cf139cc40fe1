#!/bin/bash
# run.sh BUILD: types of nodes and relations between them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnncc=$build/gnncc
workplace
python3 "$here/make_types.py" data
cp -r "$here/models" .
cd models
export CFLAGS=-O0

refused() { # WANTED COMMAND...: it fails and says so
  local wanted=$1
  shift
  "$@" >refused.log 2>&1 && return 1
  grep -q "$wanted" refused.log
}
broken() { # SET FILE WANTED [JSON]: a copy of the set in which the file is other bytes, or graph.json the text
  rm -rf ../data/broken && cp -r "../data/$1" ../data/broken && cp "$2" "../data/broken/$3" && sed "s#\.\./data/$1#../data/broken#" "$1.gnn" >broken.gnn
}
same_bits() { # PROGRAM OPTION...: the same weights, for any number of threads
  local program=$1
  shift
  "./$program" -q --threads 1 --out one && "./$program" -q --threads 2 "$@" --out two && cmp one/last.safetensors two/last.safetensors
}

for model in types kinds; do
  check "$model: compiles" "$gnncc" -w --verify -fgradcheck $model.gnn -o $model
  check "$model: gradients" sh -c "./$model gradcheck | tail -1 | grep -q 'all gradients agree'"
  check "$model: one thread and two" same_bits $model
  check "$model: predicts" sh -c "./$model predict -q --weights one/last.safetensors -o scores.npy"
done
check "kinds: a plan of the least memory" sh -c "'$gnncc' -w -q --verify --policy=recompute kinds.gnn -o least && ./least -q --out least.out && ./kinds -q --out kinds.out && cmp least.out/last.safetensors kinds.out/last.safetensors"
check "types: what the program says of its data is of all types and relations" sh -c "./types info | tee said | grep '^data  *mag: 100 nodes  [1-9][0-9]* edges' && ./types --progress none -q --epochs 1 && ./types info --json | grep '\"nodes\":100,\"edges\":[1-9]'"
check "types: relations by their names in what is emitted" sh -c "'$gnncc' -w -q -S types.gnn -o source && grep -q 'EDGES_rev_writes' source/types.c"
check "sums: sums over all edges are those over each relation, in names as the language writes them" sh -c "'$gnncc' -w -q --verify sums.gnn -o sums && ./sums -q --out sums.out"

# ---- several edges between the same two nodes ----
{ echo src,dst,w && for i in $(seq 0 59); do echo "$i,$(((i * 7 + 1) % 60)),$((i % 3 + 1)).5"; done; } >once.csv
{ cat once.csv && sed -n '2,20p' once.csv && sed -n '5,9p' once.csv; } >twice.csv
awk -F, 'NR == 1 { print; next } { sum[$1 "," $2] += $3 } END { for (k in sum) print k "," sum[k] }' twice.csv >summed.csv # GCN sums over edges, so one of their sum is the same
{ echo x,z,y && for i in $(seq 0 59); do echo "0.$i,0.$((i * 37 % 60)),$((i % 2))"; done; } >nodes.csv
cat >several.gnn <<'END'
data d from csv(edges = "twice.csv", nodes = "nodes.csv") {
  node x : f32
  node z : f32
  node y : class[2]
  edge w : f32
  undirected = true
  duplicates = keep
  split = random(0.6, 0.2, 0.2, seed = 0)
}
model m on d { return concat(reshape(x, 1), reshape(z, 1)) |> GCN(4, edge_weight = w) as a |> relu |> GCN(2, edge_weight = w) as b }
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 5; metric = accuracy }
END
sed 's/twice.csv/summed.csv/; /duplicates/d' several.gnn >summed.gnn
near() { paste "$1" "$2" | awk -F'[,\t]' '{ n = NF / 2; for (i = 1; i <= n; i++) { d = $i - $(i + n); if (d > 1e-4 || d < -1e-4) bad = 1 } } END { exit bad || NR < 60 }'; }
duplicates_sum() {
  "$gnncc" -w --verify -fgradcheck several.gnn -o several && "$gnncc" -w summed.gnn -o summed && ./several gradcheck | tail -1 | grep 'all gradients agree' && same_bits several &&
    for program in several summed; do ./$program -q --out $program.out && ./$program predict -q --weights $program.out/last.safetensors -o $program.csv || return 1; done && near several.csv summed.csv
}
check "duplicates = keep: two edges count twice, forward and backward" duplicates_sum
check "  and once without" sh -c "'$build/gnndata' info 'csv(edges = \"twice.csv\")' | grep 'dropped 24 duplicate edges'"
kept() { # every edge each way, those that are there twice, twice
  "$build/gnndata" convert 'csv(edges = "twice.csv", nodes = "nodes.csv")' several.safetensors --duplicates=keep >several.log && ! grep dropped several.log && grep '60 nodes, 84 edges' several.log &&
    "$build/gnndata" info several.safetensors --duplicates=keep --undirected | grep -A3 'edges      168, that is 84 undirected, stored both ways' && "$build/gnndata" convert several.safetensors both.safetensors --duplicates=keep --undirected >both.log &&
    grep 'added 84 reverse edges' both.log && "$build/gnndata" convert both.safetensors again.safetensors --duplicates=keep --undirected >again.log && grep 'added 0 reverse edges' again.log && "$build/gnndata" diff both.safetensors again.safetensors --duplicates=keep
}
check "  gnndata keeps them, and what has its reverse gets none" kept
odd() { # the second of two edges one way has no reverse yet; a loop that is there twice stays twice
  printf '0 1\n0 1\n1 0\n2 2\n2 2\n' >odd.txt && "$build/gnndata" convert odd.txt odd.safetensors --duplicates=keep --undirected --self-loops=add >odd.log && grep 'added 1 reverse edges' odd.log && grep 'added 2 self-loops' odd.log &&
    "$build/gnndata" info odd.safetensors --duplicates=keep | grep 'edges      8, that is 2 undirected, stored both ways; 4 self-loops'
}
check "  and adds what is missing, one by one" odd
of_relation() { # two of the three edges of a relation are the same
  mkdir -p ../data/twice && python3 -B -c "import pathlib, sys; sys.path.insert(0, sys.argv[1]); from npy_files import save; save(pathlib.Path('../data/twice/a.edge_index'), '<i8', (2, 3), [0, 0, 1, 1, 1, 2])" "$here/.." &&
    printf '{"node_types": {"p": 3}, "relations": [{"name": "a", "source": "p", "destination": "p"}]}' >../data/twice/graph.json &&
    "$build/gnndata" info ../data/twice | grep 'p -> p, 2 edges' && "$build/gnndata" info ../data/twice --duplicates=keep | grep 'p -> p, 3 edges'
}
check "  of relations, too" of_relation
check "  not with pairs of nodes" sh -c "printf 'data d from karate() {\n  pairs p : label[1] = split_edges(valid = 0.1, test = 0.1)\n  duplicates = keep\n}\nmodel m on d { z = x |> GCN(4)\n return dot(src.z, dst.z) over p }\ntrain m { loss = bce(out, p.label); optimizer = adam(lr = 0.1); epochs = 1 }\n' >pairs.gnn && ! '$gnncc' -w pairs.gnn 2>pairs.err && grep 'E0712.*duplicates = drop' pairs.err"
check "  --memory drops them, and says so" sh -c "! '$build/gnndata' convert odd.txt no.safetensors --duplicates=keep --memory=1MiB 2>memory.err && grep 'with --memory duplicates are dropped' memory.err"

printf '{"relation_names": ["a", "b"]}' >names.json
check "a relation without a name is an edge's mistake" sh -c "$(declare -f broken refused); broken kinds names.json graph.json && refused 'is of relation 2' '$gnncc' broken.gnn"
printf '{"node_types": {"author": 70, "paper": 30}, "relations": [{"name": "writes", "source": "author", "destination": "venue"}]}' >ends.json
check "a relation of nodes that there are not" sh -c "$(declare -f broken refused); broken types ends.json graph.json && refused 'which is no type of nodes' '$gnncc' broken.gnn"
printf '{"node_types": {"author": 69, "paper": 30}, "relations": [{"name": "writes", "source": "author", "destination": "paper"}, {"name": "cites", "source": "paper", "destination": "paper"}]}' >few.json
check "an edge that leaves its type" sh -c "$(declare -f broken refused); broken types few.json graph.json && refused 'E0701\|author.x' '$gnncc' broken.gnn"
printf '{"node_types": {"author": 70, "paper": 30}, "relations": [{"name": "writes", "source": "author", "destination": "paper"}, {"name": "cites", "source": "paper", "destination": "paper"}, {"name": "topic", "source": "paper", "destination": "paper"}]}' >none.json
check "a relation without its edges" sh -c "$(declare -f broken refused); broken types none.json graph.json && refused 'there is no topic.edge_index.npy' '$gnncc' broken.gnn"
check "gnndata info shows a block that compiles" sh -c "'$build/gnndata' info ../data/types | sed -n '/^data /,/^}/p' >block.gnn && grep -q 'paper x : f32.6.' block.gnn && printf 'model m on types {\n  return Linear(paper.x, 3) as l\n}\n' >>block.gnn && '$gnncc' -w -q --stop-after=check block.gnn"
edges_of_relations() { # one type of nodes: edges without a name are none, and nobody misses them
  mkdir -p ../data/one && cp ../data/types/cites.edge_index.npy ../data/types/paper.x.npy ../data/types/paper.y.npy ../data/one &&
    printf '{"node_types": {"paper": 30}, "relations": [{"name": "cites", "source": "paper", "destination": "paper"}]}' >../data/one/graph.json &&
    "$build/gnndata" info ../data/one >one.info && grep 'relation   cites : paper -> paper, [1-9]' one.info && ! grep '^edges\|W0704' one.info &&
    "$build/gnndata" check ../data/one | grep '30 nodes; [1-9][0-9]* edges of 1 relations; no problems' && "$build/gnndata" check ../data/types | grep '100 nodes of 2 types; [1-9][0-9]* edges of 2 relations'
}
check "gnndata info and check count edges of relations" edges_of_relations
check "gnndata convert keeps types and relations" sh -c "'$build/gnndata' convert ../data/types out.safetensors >convert.log && '$build/gnndata' diff ../data/types out.safetensors && rm out.safetensors"
more_classes() { # graph.json says that there are more than the labels show
  rm -rf ../data/more && cp -r ../data/types ../data/more && sed -i 's/{/{"num_classes": 5, /' ../data/more/graph.json && sed 's#\.\./data/types#../data/more#; s/class.3./class[5]/' types.gnn >more.gnn && "$gnncc" -w -q --stop-after=check more.gnn
}
check "types: how many classes the labels are of" more_classes
check "relations have no order" sh -c "sed 's/node y : class.3./&\n  order = nested/' kinds.gnn >ordered.gnn && ! '$gnncc' ordered.gnn >ordered.log 2>&1 && grep -q E0710 ordered.log"
check "data of other relations are refused" sh -c "! ./kinds --data ../data/types >other.log 2>&1 && grep -q 'R0802\|E0203\|R0804' other.log"
check "on a GPU: step by step what the processor computes" sh -c "'$here/../cuda/steps.sh' '$build' '$work/models/kinds.gnn' cuda --gemm=own 2>&1 | tail -1 | grep -q ', 0 differences'"
finish
