#!/bin/bash
# bf16.sh [--rounds N] [--width N] [MODEL...]: what keeping values in bf16 (--precision=bf16) is worth on this processor.
# Programs in fp32 and in bf16 of three layers with dropout (GCN, SAGE and GIN unless models are named; GAT, GATv2: eight heads) on debian_packages, where
# ../shared/data has it, and on generated graphs with the numbers of nodes and edges of ogbn-arxiv and of an eighth of ogbn-products; both take turns in every round.
# A row a model: the median of the rounds' epochs, of their ratios with the least and the most, the memory planned for each, and how far the last losses are apart.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build shared=$here/../../../shared/data rounds=5 width=128
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=$2 ;;
    --width) width=$2 ;;
    -*) sed -n '2,5s/^# //p' "$0" >&2; exit 2 ;;
    *) break ;;
  esac
  shift 2
done
models=("${@:-GCN}")
[ $# -gt 0 ] || models=(GCN SAGE GIN)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
epoch() { "./$1" bench --json --warmup 1 --epochs 3 | sed -n 's/.*"median": *\([0-9.e+-]*\).*/\1/p'; }
memory() { "$build/gnncc" -w --plan=json "$@" | awk -F'[:,]' '/"peak_bytes"/ { printf "%.0f MiB", $2 / 1048576; exit }'; }
loss() { rm -rf out && "./$1" -q --epochs 10 --log csv --out out && awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "loss" || $i == "train_loss") at = i } END { print $at }' out/log.csv; }
layer() { # MODEL WIDTH
  case $1 in
    GAT*) if [ "$2" = "$width" ]; then echo "$1($((width / 8)), heads = 8)"; else echo "$1($2)"; fi ;;
    *) echo "$1($2)" ;;
  esac
}
echo "| graph | model | epoch in fp32 | in bf16 | times as fast (least to most of $rounds rounds) | memory in fp32 | in bf16 | loss after 10 epochs in fp32 | in bf16 |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
graphs=("arxiv synth(kind=\"rmat\",nodes=169343,degree=14,features=128,classes=40,seed=3)" "products_8th synth(kind=\"rmat\",nodes=306129,degree=50,features=100,classes=47,seed=3)")
[ ! -d "$shared/debian_packages" ] || graphs=("debian_packages npy(\"$(realpath "$shared/debian_packages")\")" "${graphs[@]}")
for graph in "${graphs[@]}"; do
  read -r name source <<<"$graph"
  for model in "${models[@]}"; do
    cat >m.gnn <<MODEL
data g from $source
model m on g {
  h1 = x |> $(layer "$model" "$width") |> relu |> dropout(0.5)
  h2 = h1 |> $(layer "$model" "$width") |> relu |> dropout(0.5)
  return h2 |> $(layer "$model" y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 10 }
MODEL
    "$build/gnncc" -q -w m.gnn -o fp32
    "$build/gnncc" -q -w --precision=bf16 m.gnn -o bf16
    : >times
    for _ in $(seq "$rounds"); do echo "$(epoch fp32) $(epoch bf16)" >>times; done
    awk '{ print $1 / $2, $1, $2 }' times | sort -g | awk -v row="| $name | $model" -v rest="$(memory m.gnn) | $(memory --precision=bf16 m.gnn) | $(loss fp32) | $(loss bf16)" '
      { ratio[NR] = $1; a[NR] = $2; b[NR] = $3 }
      END { m = int((NR + 1) / 2); printf "%s | %.3g s | %.3g s | %.2f (%.2f to %.2f) | %s |\n", row, a[m], b[m], ratio[m], ratio[1], ratio[NR], rest }'
  done
done
