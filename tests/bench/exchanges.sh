#!/bin/bash
# exchanges.sh [BUILD [MODEL.gnn...]]: an epoch of RANKS ranks (4) with one thread each whose sums over neighbours gather rows of others, whose sums go over columns of all rows, and which make rows of others themselves, in turn, ROUNDS times (3);
# the shortest epoch counts. Beside them what all ranks exchange in an epoch with an evaluation, what the plan says of both, and which the planner chooses. Without models, a GCN and a SAGE of three layers
# of 128 on a generated graph of NODES nodes (60,000); DATA=FOLDER: on the arrays of that folder. MPIRUN: how ranks are started (mpirun --oversubscribe).
. "$(dirname "$0")/epochs.sh"
models=("${@:2}")
mpirun=${MPIRUN:-mpirun --oversubscribe}
ranks=${RANKS:-4}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
[ ${#models[@]} -gt 0 ] || { model gcn GCN 128; model sage SAGE 128; }
planned() { "$build/gnncc" -w --plan --ranks="$ranks" "$@" | sed -n 's/^  time *\([0-9.]* [mu]*s\) per epoch.*/\1/p'; }
chosen() { "$build/gnncc" -w --plan --ranks="$ranks" "$1" | awk '$2 == "forward" || $2 == "backward" { n++; columns += / transpose/; made += / halo-recompute/ } END { print columns + 0 " by columns, " made + 0 " of rows made, of " n }'; }
echo "| model | rows of others, planned | epoch | exchanged | columns of all, planned | epoch | exchanged | rows made, planned | epoch | exchanged | sums as planned |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
for model in "${models[@]}"; do
  rm -f "$folder"/seconds_*
  for policy in halo transpose halo-recompute; do "$build/gnncc" -q -w --ranks="$ranks" --policy=$policy "$model" -o "$folder/$policy" || exit 1; done
  for round in $(seq "${ROUNDS:-3}"); do
    for policy in halo transpose halo-recompute; do
      rm -rf "$folder/out_$policy"
      # shellcheck disable=SC2086
      $mpirun -np "$ranks" "$folder/$policy" --threads 1 -q --epochs 8 --every 1 --log csv --out "$folder/out_$policy" >"$folder/said" && epoch_of "$folder/out_$policy" >>"$folder/seconds_$policy"
    done
    for policy in transpose halo-recompute; do cmp "$folder/out_halo/last.safetensors" "$folder/out_$policy/last.safetensors" || exit 1; done
  done
  row="| $(basename "$model" .gnn)"
  for policy in halo transpose halo-recompute; do
    bytes=$(grep -o '"counted_bytes": [0-9]*' "$folder/out_$policy/run.json" | awk '{ sum += $2 } END { printf "%.1f MiB", sum / 1048576 }')
    row="$row | $(planned --policy=$policy "$model") | $(sort -g "$folder/seconds_$policy" | head -1 | awk '{ printf "%.1f ms", 1e3 * $1 }') | $bytes"
  done
  echo "$row | $(chosen "$model") |"
done
