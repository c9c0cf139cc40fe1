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
export CFLAGS=-O1

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
for model in classes autoencoder ranking; do
  check "$model: on a GPU: step by step what the processor computes" sh -c "'$here/../cuda/steps.sh' '$build' '$work/models/$model.gnn' $model.cuda --gemm=own 2>&1 | tail -1 | grep -q ', 0 differences'"
done
finish
