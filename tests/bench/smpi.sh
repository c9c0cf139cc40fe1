#!/bin/bash
# smpi.sh [BUILD [RANKS...]]: an epoch of 16 and 64 ranks as --backend=sim plans it, and as the program takes it under SimGrid's SMPI (libsimgrid-dev): exchanges and sums over ranks alone, and with
# what each rank computes, which is measured here, one rank after the other. A SAGE of three layers of 64 on a generated graph of NODES nodes (140,000). The target's rates are measured first, on one processor.
. "$(dirname "$0")/epochs.sh"
gnncc=$build/gnncc
. "$here/../ranks/smpi.sh"
ranks=("${@:2}")
[ ${#ranks[@]} -gt 0 ] || ranks=(16 64)
cd "$folder" || exit 1
NODES=${NODES:-140000}
source="synth(kind = \"rmat\", nodes = $NODES, degree = 12, features = 64, classes = 16, seed = 3)"
model sage SAGE 64
sed -i 's/epochs    = 4/epochs    = 4\n  evaluate  = every(1000)/' sage.gnn
taskset -c 0 "$gnncc" -q --calibrate=one >/dev/null || exit 1
echo "| ranks | exchanged | net, planned | net, SMPI | epoch, planned | epoch, SMPI |"
echo "| ---: | ---: | ---: | ---: | ---: | ---: |"
for n in "${ranks[@]}"; do
  { sed -e 's/^target one.*/target many {/' -e "s/threads = 1/threads = 1; count = $n/" -e '/link/d' -e '/tier/d' -e '/^  #/d' -e 's/^}$/  link cpu <-> cpu { bandwidth = 25GB\/s; latency = 2us }\n}/' one.gnn; cat sage.gnn; } >many.gnn
  SMPI_CFLAGS=-O3 smpi_builds many.gnn "$n" || exit 1
  bytes=$("$gnncc" -w --plan --backend=sim --ranks="$n" many.gnn | sed -n 's/^  net .* of \([0-9.]* [KMG]iB\) in all.*/\1/p')
  echo "| $n | $bytes | $(planned_ms net_seconds many.gnn "$n") ms | $(smpi_epoch "$n" no many/many) ms | $(planned_ms seconds many.gnn "$n") ms | $(smpi_epoch "$n" yes many/many) ms |"
done
