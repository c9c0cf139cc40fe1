#!/bin/bash
# sweep.sh BUILD [NAME...]: every example, and every model of the planner's sweep (tests/bench/plans_sweep.py) on a small graph, as programs for CUDA
# on the stand-in: the losses of the CPU, and the same bits under four budgets and several orders of streams, $SEEDS (standin.h; 0 to 6). NAME: only
# these, such as GCN3 or gcn_cora. TAP on stdout.
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
. "$here/../tap.sh"
work=$build/check/cuda_sweep
box=--target=$root/tests/end_to_end/models/plans/box.gnn
training=(-q --runs 1 --epochs 3 --every 1 --log csv)
. "$here/losses.sh"
. "$here/layered.sh"
read -ra seeds <<<"${SEEDS:-0 1 2 3 4 5 6}"
[ -e "$build/share/libgnncuda.a" ] || { skip "the sweep of models on the stand-in" "no CUDA toolkit"; finish; exit; }
rm -rf "$work" && mkdir -p "$work"

# ---- the models ----

for layer in GCN SAGE GIN; do
  for count in 2 3 4 5 6 7 8; do layered $layer $count >"$work/$layer$count.gnn"; done
done
for example in "$root"/examples/*.gnn; do # smaller where it is large, and on a generated graph where it brings none
  sed -e 's/^const  hidden = \(128\|256\)/const  hidden = 32/; s/^const  size   = .*/const  size = 800/' \
      -e '/^data products {/,/^}/c\data products from synth(kind = "rmat", nodes = 600, degree = 8, features = 100, classes = 47, seed = 1)' \
      -e "s|\"cora.safetensors\"|\"$root/examples/cora.safetensors\"|" "$example" >"$work/$(basename "$example")"
done
names=("${@:2}")
[ ${#names[@]} -gt 0 ] || for model in "$work"/*.gnn; do names+=("$(basename "$model" .gnn)"); done

# ---- their programs ----

# Four budgets: of everything kept; the least that recomputation alone can do with; the least with memory of the host; the least with an SSD alone,
# by rings in memory of the host.
declare -A road=([keep]="" [reruns]="" [host]="$box --budget ssd=0" [ring]="$box --budget host=0")
kinds_of() { [ "$1" = gcn_karate ] && echo "reruns host" || echo "reruns host ring"; } # NAME; values of 34 nodes go to no SSD
make_one() { # NAME KIND KIB: a program that has trained
  local program=$work/$1_$2 options=()
  read -ra options <<<"${road[$2]}"
  [ "$2" = keep ] || options+=(--budget "device=$3KiB")
  echo "$3" >"$program.budget"
  "$here/program.sh" "$build" "$program" "$work/$1.gnn" "${options[@]}" && { grep -c '^  {[0-9]*, GNN_LANE_SSD_' "$program.work/model.c" >"$program.ssd"; train_all "$program"; } &&
    rm -rf "$program.work" && touch "$program.made"
}
train_all() { # PROGRAM
  local seed
  for seed in "${seeds[@]}"; do STANDIN_SEED=$seed "$1" "${training[@]}" --out "$1.out.$seed" || return 1; done
}
make_all() { # NAME
  local kind
  make_one "$1" keep all >"$work/$1_keep.said" 2>&1
  for kind in $(kinds_of "$1"); do make_one "$1" $kind "$(least_of "$work/$1.gnn" ${road[$kind]})" >"$work/$1_$kind.said" 2>&1; done
  CFLAGS=-O0 "$build/gnncc" -q -w "$work/$1.gnn" -o "$work/$1.cpu" >>"$work/$1_keep.said" 2>&1
}
for name in "${names[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done # as many at a time as there are processors
  make_all "$name" &
done
wait

# ---- what they left ----

made() { cat "$1.said" && [ -e "$1.made" ]; }
left() { loss_curve "$1" && numbers "$1/last.safetensors" | md5sum; } # FOLDER
is_same() { # PROGRAM OTHER: losses and weights, to the last bit, in every order of streams
  local seed
  made "$1" || return 1
  for seed in "${seeds[@]}"; do diff <(left "$1.out.$seed") <(left "$2.out.${seeds[0]}") || { echo "of streams with seed $seed"; return 1; }; done
}
uses_ssd() { cat "$1.ssd" && [ "$(cat "$1.ssd")" -gt 0 ]; } # PROGRAM
for name in "${names[@]}"; do
  check "$name: trains" made "$work/${name}_keep"
  check "$name: with the losses of the CPU" losses_agree "$work/$name.cpu" "$work/${name}_keep.out.${seeds[0]}" "${training[@]}"
  for kind in $(kinds_of "$name"); do
    check "$name, $kind: the same bits in $(cat "$work/${name}_$kind.budget" 2>/dev/null) KiB" is_same "$work/${name}_$kind" "$work/${name}_keep"
  done
  [[ " $(kinds_of "$name") " != *" ring "* ]] || check "$name, ring: copies to the SSD and back" uses_ssd "$work/${name}_ring"
done
finish
