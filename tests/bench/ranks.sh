#!/bin/bash
# ranks.sh [BUILD [MODEL.gnn...]]: an epoch of one process with one thread and with two, and of two ranks with one thread each, in turn, ROUNDS times (3); the shortest epoch
# counts. Beside them what the ranks announced to exchange in an epoch, and what they counted. Without models, a GCN and a SAGE of three layers of 128 on a generated graph of NODES
# nodes (60,000); DATA=FOLDER: on the arrays of that folder. MPIRUN: how ranks are started (mpirun --oversubscribe).
. "$(dirname "$0")/epochs.sh"
models=("${@:2}")
mpirun=${MPIRUN:-mpirun --oversubscribe}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
[ ${#models[@]} -gt 0 ] || { model gcn GCN 128; model sage SAGE 128; }
train() { # NAME COMMAND...: adds an epoch of it to seconds_NAME
  local name=$1
  shift
  rm -rf "$folder/out" && "$@" -q --epochs 5 --every 1 --log csv --out "$folder/out" >"$folder/said_$name" && epoch_of "$folder/out" >>"$folder/seconds_$name"
}
best() { sort -g "$folder/seconds_$1" | head -1; }
echo "| model | one thread | two threads | two ranks | two threads, times as fast | two ranks, times as fast | announced | counted |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
for model in "${models[@]}"; do
  rm -f "$folder"/seconds_*
  "$build/gnncc" -q -w --ranks=1 "$model" -o "$folder/one" && "$build/gnncc" -q -w --ranks=2 "$model" -o "$folder/two" || exit 1
  for round in $(seq "${ROUNDS:-3}"); do
    train 1 "$folder/one" --threads 1
    train 2 "$folder/one" --threads 2
    # shellcheck disable=SC2086
    train ranks $mpirun -np 2 "$folder/two" --threads 1
  done
  python3 - "$(basename "$model" .gnn)" "$(best 1)" "$(best 2)" "$(best ranks)" "$folder/out/run.json" <<'END'
import json, sys
name, one, two, ranks = sys.argv[1], *map(float, sys.argv[2:5])
run = json.load(open(sys.argv[5]))
mib = lambda key: f"{sum(exchange[key] for exchange in run['exchanges']) / 2**20:.2f} MiB"
print(f'| {name} | {1e3 * one:.1f} ms | {1e3 * two:.1f} ms | {1e3 * ranks:.1f} ms | {one / two:.2f} | {one / ranks:.2f} | {mib("announced_bytes")} | {mib("counted_bytes")} |')
END
done
