#!/bin/bash
# run.sh BUILD: labels of edges, and pairs of nodes to predict edges of.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnncc=$build/gnncc
workplace
python3 "$here/make_links.py" data
cp -r "$here/models" .
cd models
export CFLAGS=-O0

same_bits() { # PROGRAM: the same weights for any number of threads, and when it goes on from the middle
  "./$1" -q --threads 1 --out one && "./$1" -q --threads 2 --out two && cmp one/last.safetensors two/last.safetensors &&
    "./$1" -q --epochs 7 --out half && "./$1" -q --resume --out half && cmp one/last.safetensors half/last.safetensors
}

for model in classes costs autoencoder ranking; do
  check "$model: compiles" "$gnncc" -w --verify -fgradcheck $model.gnn -o $model
  check "$model: gradients" sh -c "./$model gradcheck | tail -1 | grep -q 'all gradients agree'"
  check "$model: one thread and two, and on from epoch 7" same_bits $model
done
check "classes: every class is learned" sh -c "./classes --epochs 200 --out long >log && grep -q 'train 1.0000' log"
check "classes: what the predictions are of" sh -c "./classes predict -q --weights long/last.safetensors --split train --classes -o - >out.csv && head -1 out.csv | grep -qx 'source,destination,class' && python3 '$here/compare_classes.py' ../data out.csv"
check "costs: every edge and its reverse once, in the order of the data" sh -c "./costs -q --out costs.out && ./costs predict -q --weights costs.out/last.safetensors -o - >out.csv && python3 '$here/compare_order.py' ../data out.csv"
check "autoencoder: a plan of the least memory" sh -c "'$gnncc' -w -q --verify --policy=recompute autoencoder.gnn -o least && ./least -q --out least.out && ./autoencoder -q --out auto.out && cmp least.out/last.safetensors auto.out/last.safetensors"
check "autoencoder: eval measures pairs" sh -c "./autoencoder eval --weights auto.out/last.safetensors | grep -q 'valid.*pairs.*roc_auc.*average_precision.*hits20.*mrr'"
check "autoencoder: predictions of pairs" sh -c "./autoencoder predict -q --weights auto.out/last.safetensors --split test -o - | head -1 | grep -qx 'source,destination,0'"
check "autoencoder: pairs that are never drawn again are others to learn from" sh -c "sed 's/resample = epoch/resample = never/' autoencoder.gnn >never.gnn && '$gnncc' -w -q never.gnn -o never && ./never -q --out never.out && ! cmp -s never.out/last.safetensors auto.out/last.safetensors"
python3 -c '
import pathlib, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from npy_files import save
graphs = {"few": (5, [(0, 1), (1, 2)]), "empty": (5, []), "loops": (4, [(v, v) for v in range(4)]), "single": (1, []), "full": (4, [(a, b) for a in range(4) for b in range(4) if a != b]),
          "nearly": (6, [(a, b) for a in range(6) for b in range(6) if a != b and a + b != 7]), "hub": (30, [(0, v) for v in range(1, 30)])}
for name, (nodes, edges) in graphs.items():
  folder = pathlib.Path(name)
  folder.mkdir()
  save(folder / "edge_index", "<i8", (2, len(edges)), [a for a, _ in edges] + [b for _, b in edges])
  save(folder / "x", "<f4", (nodes, 4), [0.25 * (5 * i % 7) for i in range(4 * nodes)])' "$here/.."
held_none() { # HELP COMMAND...
  local wanted=$1
  shift
  ! "$@" >none.log 2>&1 && cat none.log && grep -q 'E0401.*no split "valid"' none.log && grep -q "help: $wanted" none.log
}
sed 's/split_edges(/&valid = 0, /; s/metric.*/&; keep = best(valid.mrr)/' ranking.gnn >none.gnn
check "pairs: no edges to validate with" held_none "split_edges(valid = 0.1, test = 0.1) holds out" "$gnncc" none.gnn
check "pairs: no edges to validate with, in other data" held_none "split_edges holds out that share of the edges, 0.1 valid and 0.1 test, which here is none" ./autoencoder -q --data few
earlier() { # of a program that keeps its best, before one that does not
  ./autoencoder -q --epochs 3 --out earlier && [ -e earlier/best.safetensors ] && ./ranking -q --epochs 3 --out earlier && ./ranking predict --out earlier -o earlier.csv 2>&1 | tee earlier.log && grep -q 'earlier/last.safetensors' earlier.log
}
check "weights that an earlier program kept are not taken for those of this one" earlier
tells_no() { ! "./$1" -q --data "$2" 2>tells.log && cat tells.log && grep -q "E0712.*$3" tells.log; } # PROGRAM DATA MESSAGE
for graph in empty loops single; do check "pairs: $graph: there are no edges to tell" tells_no ranking $graph "has 0 edges between different nodes"; done
check "pairs: all nodes are joined" tells_no ranking full "joins every node to every other"
finite() { # PROGRAM DATA: losses are numbers, also of what is held out
  "./$1" -q --data "$2" --epochs 3 --every 1 --log csv --out "finite.$1" && awk -F, 'NR > 1 { print; rows++; if ($3 !~ /^[0-9.e-]+$/) exit 1 } END { exit rows != 3 }' "finite.$1/log.csv" &&
    "./$1" predict -q --data "$2" --out "finite.$1" -o finite.csv && ! grep -i 'nan\|inf' finite.csv
}
for graph in nearly hub; do for model in autoencoder ranking; do check "pairs: $model: $graph: trains" finite $model $graph; done; done
for model in classes autoencoder ranking; do
  check "$model: on a GPU: step by step what the processor computes" sh -c "'$here/../cuda/steps.sh' '$build' '$work/models/$model.gnn' $model.cuda --gemm=own 2>&1 | tail -1 | grep -q ', 0 differences'"
done
finish
