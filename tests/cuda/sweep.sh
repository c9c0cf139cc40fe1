#!/bin/bash
# sweep.sh BUILD [NAME...]: every example, and every model of the planner's sweep (tests/bench/plans_sweep.py) on a small graph, as programs for CUDA
# on the stand-in: the losses of the CPU, and the same bits under four budgets. NAME: only these,
# such as GCN3 or gcn_cora. TAP on stdout.
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
. "$here/../tap.sh"
work=$build/check/cuda_sweep
box=--target=$root/tests/end_to_end/models/plans/box.gnn
training=(-q --runs 1 --epochs 3 --every 1 --log csv)
. "$here/losses.sh"
[ -e "$build/share/libgnncuda.a" ] || { skip "the sweep of models on the stand-in" "no CUDA toolkit"; finish; exit; }
rm -rf "$work" && mkdir -p "$work"

# ---- the models ----

small='synth(kind = "rmat", nodes = 400, degree = 6, features = 32, classes = 8, seed = 1)'
for layer in GCN SAGE GIN; do
  for count in 2 3 4 5 6 7 8; do
    sed -n '/^MODEL = """/,/^"""/{s/^MODEL = """//;/^"""/d;p}' "$root/tests/bench/plans_sweep.py" |
      sed -e 's/{{/{/g; s/}}/}/g' -e "s/{source}/$small/; s/{name}/model/; s/{inner}/$((count - 1))/; s/{layer}/$layer/; s/{hidden}/32/; s/{epochs}/3/" \
          -e 's/model model /model m /; s/train model /train m /' >"$work/$layer$count.gnn"
  done
done
for example in "$root"/examples/*.gnn; do # smaller where it is large, and on a generated graph where it brings none
  sed -e 's/^const  hidden = \(128\|256\)/const  hidden = 32/; s/^const  size   = .*/const  size = 800/' \
      -e '/^data products {/,/^}/c\data products from synth(kind = "rmat", nodes = 500, degree = 8, features = 100, classes = 47, seed = 1)' \
      -e "s|\"cora.safetensors\"|\"$root/examples/cora.safetensors\"|" "$example" >"$work/$(basename "$example")"
done
names=("${@:2}")
[ ${#names[@]} -gt 0 ] || for model in "$work"/*.gnn; do names+=("$(basename "$model" .gnn)"); done

# ---- their programs ----

# Four budgets: of everything kept; the least that recomputation alone can do with; the least with memory of the host; between the two
# with little of it and an SSD, or the least that these can do with.
declare -A road=([keep]="" [reruns]="" [host]="$box --budget ssd=0" [ring]="$box --budget host=100KiB")
least_of() { # MODEL OPTION...: the smallest budget that has a plan, in KiB
  "$build/gnncc" -w --backend=cuda --budget device=1KiB "${@:2}" "$1" --plan=json 2>&1 | sed -n 's/.*--budget [a-z]*=\([0-9]*\)KiB is the smallest.*/\1/p'
}
least_or() { # KIB MODEL OPTION...: so much where it is enough
  "$build/gnncc" -q -w --backend=cuda --budget "device=$1KiB" "${@:3}" "$2" --plan >/dev/null 2>&1 && echo "$1" || least_of "${@:2}"
}
make_one() { # NAME KIND KIB: a program that has trained
  local program=$work/$1_$2 options=()
  read -ra options <<<"${road[$2]}"
  [ "$2" = keep ] || options+=(--budget "device=$3KiB")
  echo "$3" >"$program.budget"
  "$here/program.sh" "$build" "$program" "$work/$1.gnn" "${options[@]}" && "$program" "${training[@]}" --out "$program.out" && rm -rf "$program.work" && touch "$program.made"
}
make_all() { # NAME
  local model=$work/$1.gnn reruns host
  reruns=$(least_of "$model")
  host=$(least_of "$model" $box --budget ssd=0)
  make_one "$1" keep all >"$work/$1_keep.said" 2>&1
  make_one "$1" reruns "$reruns" >"$work/$1_reruns.said" 2>&1
  make_one "$1" host "$host" >"$work/$1_host.said" 2>&1
  make_one "$1" ring "$(least_or $(((reruns + host) / 2)) "$model" ${road[ring]})" >"$work/$1_ring.said" 2>&1
  CFLAGS=-O1 "$build/gnncc" -q -w "$model" -o "$work/$1.cpu" >>"$work/$1_keep.said" 2>&1
}
for name in "${names[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done # as many at a time as there are processors
  make_all "$name" &
done
wait

# ---- what they left ----

made() { cat "$1.said" && [ -e "$1.made" ]; }
numbers() { tail -c +$((9 + $(od -An -t u8 -N 8 "$1" | tr -d ' '))) "$1"; } # FILE.safetensors: what follows the header
is_same() { # PROGRAM OTHER: losses and weights, to the last bit
  made "$1" && diff <(loss_curve "$1.out") <(loss_curve "$2.out") && cmp <(numbers "$1.out/last.safetensors") <(numbers "$2.out/last.safetensors")
}
for name in "${names[@]}"; do
  check "$name: trains" made "$work/${name}_keep"
  check "$name: with the losses of the CPU" losses_agree "$work/$name.cpu" "$work/${name}_keep.out" "${training[@]}"
  for kind in reruns host ring; do
    check "$name, $kind: the same bits in $(cat "$work/${name}_$kind.budget" 2>/dev/null) KiB" is_same "$work/${name}_$kind" "$work/${name}_keep"
  done
done
finish
