#!/bin/bash
# hoist.sh [--rounds N] [--nodes N]: what computing the sums over neighbours once that no epoch changes is worth.
# Programs with and without it, of models of three layers, hidden 256, on graphs with the widths of features and classes of
# ogbn-products and Reddit, 20 and 50 neighbours a node; both take turns in every round. A row a model: the median of the rounds'
# ratios of an epoch without it to one with it, their least and most, and the memory of each.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build rounds=5 nodes=50000
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=$2 ;;
    --nodes) nodes=$2 ;;
    *) sed -n '2,5s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift 2
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
epoch() { "./$1" bench --json --warmup 1 --epochs 3 | sed -n 's/.*"median": *\([0-9.e+-]*\).*/\1/p'; }
memory() { "$build/gnncc" -w --plan=json "${@:2}" "$1.gnn" | awk -F'[:,]' '/"peak_bytes"/ { printf "%.0f MiB", $2 / 1048576; exit }'; }
echo "| graph | model | epoch without it | with it | times as fast (least to most of $rounds rounds) | memory without it | with it |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
for graph in "products 20 100 47" "reddit 50 602 41"; do
  read -r name degree features classes <<<"$graph"
  for model in GCN SAGE GIN; do
    cat >m.gnn <<MODEL
data g from synth(kind = "rmat", nodes = $nodes, degree = $degree, features = $features, classes = $classes, seed = 1)
model m on g {
  h = x
  for i in 1 .. 2 { h = h |> $model(256) |> relu |> dropout(0.5) }
  return h |> $model(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 10 }
MODEL
    "$build/gnncc" -q -w m.gnn -o with
    "$build/gnncc" -q -w -fno-hoist m.gnn -o without
    : >times
    for round in $(seq "$rounds"); do echo "$(epoch without) $(epoch with)" >>times; done
    awk '{ print $1 / $2, $1, $2 }' times | sort -g | awk -v row="| $name | $model" -v without="$(memory m -fno-hoist)" -v with="$(memory m)" '
      { ratio[NR] = $1; a[NR] = $2; b[NR] = $3 }
      END { m = int((NR + 1) / 2); printf "%s | %.3g s | %.3g s | %.2f (%.2f to %.2f) | %s | %s |\n", row, a[m], b[m], ratio[m], ratio[1], ratio[NR], without, with }'
  done
done
