#!/bin/bash
# gpu_estimates.sh [BUILD]: what gnncc expects of GPUs it knows, as a Markdown table: GCN, SAGE and GIN of three layers, hidden 256, on graphs
# of the sizes of ogbn-products and Reddit; an epoch where everything is kept, or what fits; the device memory that keeping everything takes,
# with and without results in the places of operands (-fno-places), and the least. Estimates of the built-in targets, nothing is measured.
. "$(dirname "$0")/estimates.sh"
targets="a100 h100 h200 rtx4090"
declare -A sizes=([ogbn-products]="2449029 123718280 100 47" [Reddit]="232965 114615892 602 41")

model() { # LAYER SHAPE: m.gnn
  read -r nodes edges features classes <<<"${sizes[$2]}"
  cat >m.gnn <<MODEL
data g {
  nodes = $nodes
  edges = $edges
  node x : f32[$features]
  node y : class[$classes]
}
model ${1,,} on g {
  h = x
  for i in 1 .. 2 { h = h |> $1(256) as convs |> relu }
  return h |> $1(y.classes) as head
}
train ${1,,} {
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = 100
}
MODEL
}
plan() { "$gnncc" -w --shapes --plan --backend=cuda "$@" m.gnn 2>&1; } # OPTION...
memory() { sed -n 's/^ *fits *gpu \([0-9.]* [KMG]iB\) of .*/\1/p' <<<"$1"; }
epoch() { sed -n 's/^ *time *\([0-9.]* [mu]*s\) per epoch.*/\1/p' <<<"$1"; }

echo "| model | size of | memory, all kept | -fno-places | least |$(printf ' %s |' $targets)"
echo "|---|---|---|---|---|$(printf -- '---|%.0s' $targets)"
for shape in ogbn-products Reddit; do
  for layer in GCN SAGE GIN; do
    model "$layer" "$shape"
    all=$(plan --target=h200) apart=$(plan --target=h200 -fno-places)
    least=$(sed -n 's/.*least \(found\|sketched about\) \([0-9.]* [KMG]iB\) at.*/\2/p' <<<"$all")
    printf '| %s | %s | %s | %s | %s |' "$layer" "$shape" "$(memory "$all")" "$(memory "$apart")" "${least:-$(memory "$all")}"
    for target in $targets; do printf ' %s |' "$(epoch "$(plan --target=$target)")"; done
    echo
  done
done
