#!/bin/bash
# orders.sh [BUILD [LIST...]]: rows that 2, 4, 16 and 64 parts gather from others, over all rows, in the orders of gnndata order: as the data have them, nested
# in memory, nested from the disk, by METIS. Each list of edges (those of ../shared/data) both ways.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
lists=("${@:2}")
[ ${#lists[@]} -gt 0 ] || lists=("$here"/../../../shared/data/{debian_packages,tolokers,amazon_photo}/edge_index.npy*)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache
row() { # NAME ORDER OPTION...
  local name=$1 order=$2 begin end
  begin=$(date +%s.%N)
  "$build/gnndata" order "$folder/g.safetensors" -o "$folder/g.order" --force "${@:3}" >"$folder/said" 2>&1 || { echo "| $name | $order | $(grep -m1 error "$folder/said") |"; return; }
  end=$(date +%s.%N)
  "$build/gnndata" info "$folder/g.safetensors" --order "$folder/g.order" | awk -v name="$name" -v order="$order" -v seconds="$(echo "$end - $begin" | bc)" '
    /^parts/ { there = 1 } there && /^  file/ { printf "| %s | %s | %s | %s | %s | %s | %.2f s |\n", name, order, $3, $4, $5, $6, seconds; exit }'
}
echo "| graph | order | 2 | 4 | 16 | 64 | time |"
echo "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
for list in "${lists[@]}"; do
  name=$(basename "$(dirname "$list")")
  "$build/gnndata" convert "$list" "$folder/g.safetensors" --undirected --force >"$folder/said" || { cat "$folder/said"; continue; }
  nodes=$("$build/gnndata" info "$folder/g.safetensors" | sed -n 's/^nodes *//p' | tr -d ,)
  row "$name" given --method=given
  row "$name" nested
  row "$name" "nested, from the disk" --memory=$((16 * nodes + (7 << 18)))
  row "$name" METIS --method=metis
done
