#!/bin/bash
# boundary.sh GNNCC DATA: the table of docs/many_devices.md on what approximations of the boundary cost in accuracy: GCN and SAGE on folders of DATA, on four ranks over MPI, for SETS, by default two. A figure is
# the test accuracy at the best validation epoch, mean and standard deviation over the seeds.
set -u
. "$(dirname "$0")/../mpi.sh"
gnncc=$(realpath "$1")
data=$(realpath "$2")
ranks=${RANKS:-4}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
for set in ${SETS:-npy(\"DATA/amazon_photo\") npy(\"DATA/tolokers\")}; do
  for boundary in exact 'stale(1)' 'stale(1, smooth = 0.95)' 'sample(0.5)' 'sample(0.1)'; do
    asked="approximate { boundary = $boundary }"
    [ "$boundary" = exact ] && asked=
    cat >model.gnn <<MODEL
data g from $(echo "$set" | sed "s,DATA,$data,")
model m on g { return x |> GCN(64) |> layer_norm |> relu |> dropout(0.5) |> SAGE(y.classes) }
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01, weight_decay = 5e-4); epochs = ${EPOCHS:-100}; runs = ${RUNS:-5}; metric = accuracy; keep = best(valid.accuracy); show = [valid, test]; $asked }
MODEL
    "$gnncc" -q -w --ranks="$ranks" model.gnn -o train || exit 1
    "$mpirun" $oversubscribe -np "$ranks" ./train --threads 1 --progress none --out out >text || exit 1
    printf '%s\t%s\t%s\t%s\n' "$set" "$boundary" "$(grep ' runs, seeds' text)" "$(grep '^exchanges' text)"
  done
done
