#!/bin/bash
# targets.sh [BUILD]: what fits on GPUs that gnncc knows, as a Markdown table: graphs of published sizes, all of which stay whole or are cut as the planner
# finds fastest. Estimates of the built-in targets, nothing is measured. PLAN_EFFORT=fast: sooner. ROWS=name: only the models of that name.
. "$(dirname "$0")/estimates.sh"
effort=${PLAN_EFFORT:-normal}
# nodes, edges (of undirected graphs both ways), features, classes. ogbn-products and ogbn-papers100M: Hu et al., Open Graph Benchmark, NeurIPS 2020, the latter
# with its edges reversed, too; it-2004: the Laboratory for Web Algorithmics, with 128 features and 64 classes; IGB260M large: Khatua et al., KDD 2023,
# by 128 of its features; MAG240M: the papers and their citations both ways, Hu et al., OGB-LSC, by 128 of their features.
declare -A sizes=([ogbn-products]="2449029 123718280 100 47" [ogbn-papers100M]="111059956 3228124712 128 172" [it-2004]="41291594 1150725436 128 64"
  [IGB-large]="100000000 1223571364 128 19" [MAG240M-papers]="121751666 2595497852 128 153")
row() { # GRAPH LAYER LAYERS WIDTH TARGET [BUDGET]
  local out status=0
  [ -z "${ROWS:-}" ] || [ "$ROWS" = "$1" ] || return 0
  model "${@:1:4}"
  out=$("$gnncc" -w --shapes --plan --backend=cuda --plan-effort="$effort" --target="$5" ${6:+--budget gpu=$6} m.gnn 2>&1) || status=$?
  field() { sed -n "$1" <<<"$out" | head -1; }
  if [ $status -eq 0 ]; then
    printf '| %s | %s %d x %s | %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4" "$5" "${6:-all}" "$(field 's/^ *fits *gpu \([0-9.]* [KMG]iB\) of .*/\1/p')" \
      "$(field 's/.*· host \([0-9.]* *[KMGT]*i*B*\) ·.*/\1/p')" "$(field 's/^ *time *\([0-9.]* [mu]*s\) per epoch.*/\1/p')" \
      "$(field 's/^ *time .* per epoch = \([0-9.]* [mu]*s\) compute + \([0-9.]* *[mu]*s*\) recomputing + \([0-9.]* *[mu]*s*\) waiting.*/\1 + \2 + \3/p')" \
      "$(field 's/^ *cut *values on nodes in \([0-9]* parts\) by rows\(.* up to \([0-9]* slices\)\)\{0,1\}.*/\1 \3/p')$(field 's/^ *cut .*\(, [a-z ]* on \(the \(host\|SSD\)\|host and SSD\)\).*/\1/p')"
  else
    printf '| %s | %s %d x %s | %s | %s | does not fit | | | | %s |\n' "$1" "$2" "$3" "$4" "$5" "${6:-all}" "$(field 's/.*error[^:]*: *//p')"
  fi
}

echo "| graph | model | target | budget | device | host | epoch | compute + again + waiting | cut |"
echo "|---|---|---|---|---|---|---|---|---|"
for budget in "" 4GiB 3GiB 2GiB 1536MiB; do row ogbn-products GCN 2 256 a5000 $budget; done
for target in h200 a100 rtx4090; do
  for budget in "" 8GiB 6GiB 4GiB 3GiB 2GiB; do row ogbn-products SAGE 3 256 $target $budget; done
done
row ogbn-products SAGE 3 256 rtx4060_laptop
for graph in ogbn-papers100M it-2004 IGB-large MAG240M-papers; do
  for target in h200 a100 rtx4090; do row "$graph" SAGE 3 256 $target; done
done
