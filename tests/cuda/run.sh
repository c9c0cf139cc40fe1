#!/bin/bash
# run.sh BUILD: the CUDA target without a GPU. The device headers and every step of every model run in the emulation,
# under the sanitizers, and are compared with the CPU; what is emitted is compiled by nvcc and by NVRTC where they are.
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
. "$here/../tap.sh"
. "$here/losses.sh"
work=$build/check/cuda_kernels
rm -rf "$work" && mkdir -p "$work"
# The models of the standard layers are much like the examples, and one attention is like another: CUDA_ALL=1 takes all.
models=("$root"/examples/gcn_cora.gnn "$here"/models/*.gnn "$root"/tests/end_to_end/models/varied/*.gnn)
is_all() { [ "${CUDA_ALL:-}" = 1 ]; }
# Programs for the CPU are compared with to a tolerance, and what nvcc accepts does not depend on how much of it is optimised, which is two thirds of its time:
# one model is compiled as users do.
export CFLAGS=-O0
is_all || export NVCC_APPEND_FLAGS="-Xcicc -O1 -Xptxas -O0"
! is_all || models+=("$root"/examples/gcn_karate.gnn "$root"/tests/end_to_end/models/*.gnn)

level_of() { case $1 in */wide.gnn | */odd.gnn | */odd_once.gnn) echo -Og ;; *) echo -O0 ;; esac; } # MODEL: -Og where it runs longer than it is compiled
steps() { # MODEL DIRECTORY OPTION...: every step of it was compared, without a difference; nothing was compiled with a warning
  mkdir -p "$2"
  LEVEL=${LEVEL:-$(level_of "$1")} "$here/steps.sh" "$build" "$1" "$2" "${@:3}" >"$2/log" 2>&1 && ! grep -q 'warning: ' "$2/log" || { tail -20 "$2/log"; return 1; }
}
optimised() { LEVEL=-O1 steps "$@"; } # with the warnings that only the optimiser sees
plain() { PLAIN=1 steps "$@"; } # of what another form under the sanitizers is much like
check "the emulation itself" "$build/tests/cuda/emulator"
check "the device headers" "$build/tests/cuda/device"
for model in "${models[@]}"; do
  name=$(basename "$model" .gnn)
  compare=steps
  case $name in additive | association | attention | layers | named | ordered | over | reuse | whole) compare=plain ;; esac # what differs is the graph, or a name; of others' kernels
  if is_all || [ "$name" = gcn_cora ]; then compare=optimised; fi
  check "$name: each step leaves what the CPU leaves, in every order of threads" $compare "$model" "$work/$name" --gemm=own
done
. "$root/tests/end_to_end/sets.sh"
make_sets "$work/sets" && sed "s#\"sets\"#\"$work/sets\"#" "$root/tests/end_to_end/models/pools/set.gnn" >"$work/set.gnn"
check "a set of graphs: each step leaves what the CPU leaves" steps "$work/set.gnn" "$work/set" --gemm=own
# Halos are of programs that are cut (cuts.sh), columns of all rows, and rows behind a rank's own, of ranks (ranks.sh).
kinds() { sed -n 's/^KERNEL([A-Z_]*, "\([^"]*\)".*/\1/p' "$root/compiler/lowering/kernel_kinds.h" | grep -vx -e halo -e columns -e back -e beside -e behind | sort; }
kinds_met() { local model; for model in "$@"; do "$build/gnncc" -q -w --backend=cuda --stop-after=fuse --dump=fuse "$model"; done | sed -n 's/^kernel [0-9]*: \(.*\) of .*/\1/p' | sort -u; }
all_kinds() { [ "$(kinds | wc -l)" -ge 12 ] && diff <(kinds) <(kinds_met "$@"); } # MODEL...
check "every kind of step is among them" all_kinds "${models[@]}"
exact() { "$build/gnncc" -q -w --backend=cuda --precision=bf16 --stop-after=fuse --dump=fuse "$root/tests/end_to_end/models/varied/extremes.gnn" | grep -A3 '^kernel [0-9]*: edge m[ai][xn] of' | grep writes; }
check "extremes, in bf16: what is compared with them is not rounded" bash -c "$(declare -f exact); build=$build root=$root; exact | grep -q 'pool_max (2720 bytes)' && exact | grep -q 'in bf16'"
own_products() { NO_ALGORITHM=1 plain "$@"; }
check "wide: the same where cuBLASLt has no algorithm, by our own kernels" own_products "$here/models/wide.gnn" "$work/wide_own_products"
check "wide: the same in bf16" env PLAIN=1 TWICE=1 NO_ALGORITHM=1 bash -c "$(declare -f steps level_of); here=$here build=$build; steps $here/models/wide.gnn $work/wide_bf16_own_products --precision=bf16"
check "wide: the same with libraries for products and sums" plain "$here/models/wide.gnn" "$work/wide_libraries" --spmm=cusparse
sums_are() { "$here/sums.sh" "$build" "$work/sums_$1" "${@:2}"; } # NAME TUNED OPTION...
check "sums: each step leaves what the CPU leaves, in every order of threads" plain "$here/sums.gnn" "$work/sums"
check "sums over neighbours have the bits of their patterns, whoever has which elements, and hubs among them" sums_are usual 0
check "so have those of bf16" sums_are bf16 0 --precision=bf16
[ -z "${CUDA_ALL:-}" ] || check "and tuned ones" sums_are tuned 8
together() { # SUMS: the kernels of the widths that allow it load 2, 4 and 8 numbers together
  grep -o 'gnn_load<[0-9]*>(at_[a-z]*_relu' "$1/sums_kernels.cu" | sort -u | sed 's/(.*//' | sort -u | xargs
}
check "numbers are loaded by 8 and 16 bytes, bf16 by 4, 8 and 16" bash -c "$(declare -f together); [ \"\$(together $work/sums_usual)\" = 'gnn_load<16> gnn_load<8>' ] && [ \"\$(together $work/sums_bf16)\" = 'gnn_load<16> gnn_load<4> gnn_load<8>' ]"
halved=("$here"/models/{wide,heads}.gnn)
! is_all || halved+=("$root/examples/gcn_cora.gnn" "$root"/tests/end_to_end/models/varied/{edges,norm}.gnn)
for model in "${halved[@]}"; do
  name=$(basename "$model" .gnn)
  check "$name, in bf16: each step leaves what the CPU leaves, rounded" steps "$model" "$work/${name}_bf16" --gemm=own --precision=bf16
  check "$name, in bf16: of numbers that are kept so" grep -q 'HALVES' "$work/${name}_bf16/blocks.inc"
done
check "wide, in bf16: the same with cuBLASLt" env PLAIN=1 TWICE=1 bash -c "$(declare -f steps level_of); here=$here build=$build; steps $here/models/wide.gnn $work/wide_bf16_library --precision=bf16"
adds() { "$build/gnncc" -q -w --backend=cuda --emit=c=- "$here/models/wide.gnn" | grep -A3 'gnn_cuda_gemm' | grep -c 'at_addend = place_' | grep -x 2; }
check "wide: what is added to a product of two matrices is part of the library's call" adds

# The loss of long lists runs in the grid that calibration measures; of short ones by several blocks, of rows that are not taken one after the other.
long_list() { # CLASSES LANES
  printf '%s\n' "data d { nodes = 2_400_000; edges = 3_000_000; node x : f32[8]; node y : class[$1] }" "model m on d { return x |> Linear(y.classes) as last }" \
    'train m { loss = cross_entropy(out, y); optimizer = sgd(lr = 0.1); epochs = 1 }' >"$work/long_list.gnn"
  "$build/gnncc" -q -w --backend=cuda --shapes --prefix=long --emit=cuda="$work/long.cu",c="$work/long.c" "$work/long_list.gnn" &&
    grep -q "gnn_cross_entropy_rows<$2, $2>" "$work/long.cu" && grep -q "gnn_measure_rows<$2, $2>" "$work/long.cu" &&
    [ "$(grep -cE 'gnn_launch.*blocks_for.*row_count.*, 256\), 256' "$work/long.c")" -eq 2 ]
}
measured_grid() { # as measure_cuda.cu has them: of 4 and of 64 classes
  local few many
  few=$(sed -n 's/.*MEASURE_FEW_LANES = \([0-9]*\).*/\1/p' "$root/kernels/cuda/measure_cuda.h") many=$(sed -n 's/.*MEASURE_LANES = \([0-9]*\).*/\1/p' "$root/kernels/cuda/measure_cuda.h")
  grep -q 'MEASURE_LOSSES = 256 ' "$root/kernels/cuda/measure_cuda.h" && long_list 4 "$few" && long_list 64 "$many"
}
check "the loss of a long list runs in the grid that calibration measures" measured_grid
short_list() { "$build/gnncc" -q -w --backend=cuda --prefix=short --emit=cuda="$work/short.cu",c="$work/short.c" "$root/examples/gcn_cora.gnn" && grep -q 'gnn_cross_entropy_rows<8, 1>' "$work/short.cu" && grep -q 'blocks_for(g->row_count\[GNN_TRAIN\], 32)' "$work/short.c"; }
check "that of a short one by more than one block" short_list

# cuBLASLt wants its workspace so; the stand-in refuses another one, and matrices that are not as was promised.
is_aligned() { # MODEL OPTION...: everything in the arena begins at a multiple of 256 bytes, workspaces among it
  "$build/gnncc" -q -w --backend=cuda --emit=c=- "$@" | grep '#define AT_' >"$work/places" && grep -q 'AT_scratch_' "$work/places" &&
    awk -F'[()]' '$2 % 256 { print; bad = 1 } END { exit bad || NR < 20 }' "$work/places"
}
check "sage4: everything on the device begins at a multiple of 256 bytes" is_aligned "$root/tests/end_to_end/models/plans/sage4.gnn"
check "wide: so it does, with the buffers of cuSPARSE" is_aligned --spmm=cusparse "$here/models/wide.gnn"

# ---- whole programs, on the stand-in ----

plans=$root/tests/end_to_end/models/plans box=--target=$plans/box.gnn
epochs=3
training=(-q --runs 1 --epochs $epochs --every 1 --log csv)
train() { # PROGRAM
  "$1" "${training[@]}" --out "$1.out" && [ "$(loss_curve "$1.out" | wc -l)" -eq $((epochs + 1)) ]
}
is_as_on_cpu() { "$build/gnncc" -q -w "$2" -o "$1.cpu" && losses_agree "$1.cpu" "$1.out" "${training[@]}"; } # PROGRAM MODEL
# The tolerance must not be so wide that it takes another training for this one: a rate of learning that is a thousandth larger.
is_noticed() { # PROGRAM MODEL
  sed 's/lr = 0.01/lr = 0.01001/' "$2" >"$work/other_rate.gnn" && ! diff -q "$2" "$work/other_rate.gnn" && "$build/gnncc" -q -w "$work/other_rate.gnn" -o "$work/other_rate" &&
    ! losses_agree "$work/other_rate" "$1.out" "${training[@]}"
}
least_of() { # MODEL OPTION...: the smallest budget that has a plan, in KiB
  "$build/gnncc" -w --backend=cuda --budget device=1KiB "${@:2}" "$1" -o no 2>&1 | sed -n 's/.*--budget [a-z]*=\([0-9]*\)KiB is the smallest.*/\1/p'
}
says_keeping() { # PROGRAM STATUS TEXT: what check says of the order that keeps everything
  local status
  "$1" check >"$1.check" 2>&1
  status=$?
  cat "$1.check"
  [ $status -eq "$2" ] && grep -qE -- "$3" "$1.check"
}
makes_and_trains() { "$here/program.sh" "$build" "$@" && train "$1"; } # PROGRAM MODEL OPTION...

declare -A road=([reruns]="" [host]="$box --budget ssd=0" [ring]="$box --budget host=0")
if [ -e "$build/share/libgnncuda.a" ]; then
  # Schedules and clipping on the device; metrics that it does not measure itself.
  rates() { cut -d, -f7 "$1.out/log.csv"; }
  check "training: the emitted program trains" makes_and_trains "$work/training_program" "$here/models/training.gnn"
  check "training: with the losses, f1 and roc_auc of the CPU" is_as_on_cpu "$work/training_program" "$here/models/training.gnn"
  check "training: with the learning rates of the CPU" bash -c "$(declare -f rates); diff <(rates $work/training_program) <(rates $work/training_program.cpu)"
  for model in sage4 attend2 $(! is_all || echo residual6); do
    keep=$work/${model}_keep path=$plans/$model.gnn
    check "$model: the emitted program trains" makes_and_trains "$keep" "$path"
    check "$model: with the losses of the CPU" is_as_on_cpu "$keep" "$path"
    ! is_all && [ "$model" != sage4 ] || check "$model: and not with those of another rate of learning" is_noticed "$keep" "$path"
    kinds="reruns host ring"
    is_all || [ "$model" = sage4 ] || kinds=ring
    for kind in $kinds; do
      least=$(least_of "$path" ${road[$kind]})
      check "$model, $kind: the least budget, $least KiB" makes_and_trains "$work/${model}_$kind" "$path" ${road[$kind]} --budget device="${least}KiB"
      check "$model, $kind: the same bits" is_same "$work/${model}_$kind" "$keep"
      check "$model, $kind: check finds them itself" says_keeping "$work/${model}_$kind" 0 '^keep-everything order, .* are the same to the last bit'
    done
  done
  check "ordered: the emitted program trains" makes_and_trains "$work/ordered_program" "$here/models/ordered.gnn"
  check "ordered: with the losses of the CPU" is_as_on_cpu "$work/ordered_program" "$here/models/ordered.gnn"
  sed 's/ { order = nested }//' "$here/models/ordered.gnn" >"$work/unordered.gnn"
  answers() { "$1" predict -q --weights "$work/ordered_program.cpu.out/last.safetensors" --split test --classes -o "$2"; }
  check "ordered: its answers are those of the CPU without an order, node by node" bash -c "$(declare -f answers); work=$work; '$build/gnncc' -q -w $work/unordered.gnn -o $work/unordered && answers $work/ordered_program $work/a.csv && answers $work/unordered $work/b.csv && cmp $work/a.csv $work/b.csv"
  check "sage4, everything kept: there is nothing to compare" says_keeping "$work/sage4_keep" 0 'this plan is it'
  cat >"$work/hubs.gnn" <<'MODEL'
data web from synth(kind = "rmat", nodes = 3000, degree = 40, features = 5, classes = 3, seed = 0)
model net on web { return x |> GCN(6) |> relu |> SAGE(y.classes) }
train net { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3 }
MODEL
  check "hubs: there are rows of more than 1024 entries" bash -c "'$build/gnndata' synth rmat '$work/hubs.safetensors' --nodes 3000 --degree 40 --features 5 --classes 3 --seed 0 && '$build/gnndata' info '$work/hubs.safetensors' | grep 'in-degree 0 to 1,1'"
  check "hubs: the emitted program trains" makes_and_trains "$work/hubs_program" "$work/hubs.gnn"
  check "hubs: with the losses of the CPU" is_as_on_cpu "$work/hubs_program" "$work/hubs.gnn"
  altered() { # NAME SED: sage4_reruns with another source of the host
    cp -r "$work/sage4_reruns.work" "$work/$1.work" && cd "$work/$1.work" && sed -i "$2" model.c && ! cmp -s model.c ../sage4_reruns.work/model.c &&
      cc -std=gnu11 -O1 -w -I"$build/share" -I. -c -o model.o model.c &&
      "$here/link.sh" "$build" "$work/$1" main.o model.o emulated.o
  }
  check "a program whose values are not made again" altered stale '/, again: its result was dropped/,/gnn_leave/ s/^  step_[0-9]*(g.*);$//'
  check "its bits differ: check says so" says_keeping "$work/stale" 70 'differ from those of the keep-everything order'
  check "a program whose keep-everything order takes a pebibyte" altered vast '/gnn_keep_order keep_order/,/};/ s/device_bytes = [0-9]*/device_bytes = 1125899906842624/'
  check "where the GPU has less that order is not run" says_keeping "$work/vast" 0 '^keep-everything order: not run, .* the plan needs 1024'

  # Who multiplies, and in which numbers; the least budget has the same bits again.
  path=$plans/sage4.gnn keep=$work/sage4_keep
  declare -A way=([own]="--gemm=own" [cusparse]="--spmm=cusparse" [tf32]="--precision=tf32" [bf16]="--precision=bf16" [bf16_own]="--precision=bf16 --gemm=own")
  declare -A share=([tf32]=0.00098 [bf16]=1e-2 [bf16_own]=1e-2) # tf32: 2 u, two factors are rounded
  for kind in own cusparse tf32 bf16 bf16_own; do
    check "sage4, ${way[$kind]}: the emitted program trains" makes_and_trains "$work/sage4_$kind" "$path" ${way[$kind]}
    if [ -z "${share[$kind]:-}" ]; then check "sage4, ${way[$kind]}: with the losses of the CPU" losses_agree "$keep.cpu" "$work/sage4_$kind.out" "${training[@]}"
    else check "sage4, ${way[$kind]}: losses as by cuBLASLt in fp32, to ${share[$kind]} of them" losses_near "$work/sage4_$kind.out" "$keep.out" "${share[$kind]}"; fi
  done
  # Where cuBLASLt has no algorithm for some of the products, or for any: our own kernels compute them, which is said once of each kind before the first epoch,
  # and every plan has the same bits.
  without_algorithm() { # COLUMNS PROGRAM OUT: has trained
    STANDIN_NO_ALGORITHM=$1 "$2" "${training[@]}" --out "$3" >"$3.said" 2>&1 && ls "$3/last.safetensors"
  }
  same_without() { diff <(loss_curve "$1") <(loss_curve "$2") && cmp <(numbers "$1/last.safetensors") <(numbers "$2/last.safetensors"); } # OUT OUT
  columns=$(grep -o 'gnn_cuda_prepare_gemm(g, &(gnn_gemm_desc){.m = g->nodes, .n = [0-9]*' "$work/sage4_keep.work/model.c" | sed 's/.* //' | sort -n | head -1)
  kinds=$(grep -c 'gnn_cuda_prepare_gemm' "$work/sage4_keep.work/model.c")
  says_own() { [ "$(grep -c 'cuBLASLt has no algorithm here for products of .* gnncc.s own kernel computes them, in fp32' "$1.said")" "$2" "$3" ]; } # OUT TEST COUNT
  for some in "$columns" 0; do
    out=$work/without_$some
    check "sage4, no algorithm for results of $some columns (0: of any): the program trains" without_algorithm "$some" "$work/sage4_keep" "$out"
    check "sage4, no algorithm for results of $some columns: with the losses of the CPU" losses_agree "$work/sage4_keep.cpu" "$out" "${training[@]}"
    check "sage4, no algorithm for results of $some columns: in the plan with the least memory" without_algorithm "$some" "$work/sage4_reruns" "$out.reruns"
    check "sage4, no algorithm for results of $some columns: the same bits" same_without "$out" "$out.reruns"
  done
  check "sage4: of each kind of product is said once that there is no algorithm" says_own "$work/without_0" -eq "$kinds"
  check "sage4: or of some" says_own "$work/without_$columns" -lt "$kinds"
  check "sage4: and where there are all, nothing" bash -c "'$work/sage4_keep' ${training[*]} --out '$work/with_all' 2>&1 | grep -c 'no algorithm' | grep -qx 0"
  crowded() { # KIBIBYTES: of the device
    STANDIN_KIBIBYTES=$1 "$work/sage4_keep" "${training[@]}" --out "$work/crowded" >"$work/crowded.said" 2>&1
  }
  # The arena with the view behind it (some 28 KiB), and a sixteenth of the device: what the libraries load.
  arena=$(($(sed -n 's/^  \.device_bytes = \([0-9]*\),.*/\1/p' "$work/sage4_keep.work/model.c" | head -1) / 1024 + 1))
  refuses_crowded() { crowded "$arena"; [ $? -eq 3 ] && grep -E 'the plan needs .* and the libraries it calls about' "$work/crowded.said"; }
  check "sage4: where the device has room for the plan, but not for what libraries load, it does not begin" refuses_crowded
  check "sage4: with a sixteenth more it does" crowded $(((arena + 32) * 16 / 15 + 1))
  says_touched() { "$1" check 2>&1 | grep -E 'device arena: planned ([0-9.]+ [KMG]iB), touched \1'; }
  check "sage4: the memory that the plan announced is what is used, with the workspaces of cuBLASLt" says_touched "$keep"
  cat >"$work/flat.gnn" <<'MODEL'
data web from synth(kind = "rmat", nodes = 200, degree = 3, features = 400, classes = 200, seed = 3)
model net on web { return x |> Linear(y.classes) }
train net { loss = cross_entropy(out, y); optimizer = sgd(lr = 0.1); epochs = 2 }
MODEL
  touches_all() { # PROGRAM: to the byte
    "$1" profile --epochs 1 -o "$1.json" && tr -d ' \n' <"$1.json" | grep -o '"device_peak_bytes":[0-9]*\|"device":{"peak_bytes":[0-9]*' | tee "$1.peaks" &&
      [ "$(grep -o '[0-9]*$' "$1.peaks" | sort | uniq -c | awk '{ print $1 }')" = 2 ]
  }
  check "a product whose workspace is on top of everything" makes_and_trains "$work/flat" "$work/flat.gnn"
  check "it counts as used where the library's algorithm needs none of it" env STANDIN_WORKSPACE=0 bash -c "$(declare -f touches_all); touches_all '$work/flat'"
  check "so does the buffer of cuSPARSE where it wants less than was planned" touches_all "$work/sage4_cusparse"
  for kind in tf32 bf16 bf16_own; do
    check "sage4, ${way[$kind]}: other losses than in fp32" bash -c "! cmp '$work/sage4_$kind.out/last.safetensors' '$keep.out/last.safetensors'"
  done
  least=$(least_of "$path" ${way[bf16]}) full=$(least_of "$path")
  check "sage4, ${way[bf16]}: the least budget, $least KiB, is below two thirds of that in fp32, $full KiB" test $((3 * least)) -lt $((2 * full))
  check "sage4, ${way[bf16]}, reruns: the least budget, $least KiB" makes_and_trains "$work/sage4_bf16_reruns" "$path" ${way[bf16]} --budget device="${least}KiB"
  check "sage4, ${way[bf16]}, reruns: the same bits" is_same "$work/sage4_bf16_reruns" "$work/sage4_bf16"
  for kind in bf16 $(! is_all || echo bf16_own); do
    least=$(least_of "$path" $box --budget ssd=0 ${way[$kind]})
    check "sage4, ${way[$kind]}, host: the least budget, $least KiB" makes_and_trains "$work/sage4_${kind}_host" "$path" ${way[$kind]} $box --budget ssd=0 --budget device="${least}KiB"
    check "sage4, ${way[$kind]}, host: the same bits" is_same "$work/sage4_${kind}_host" "$work/sage4_$kind"
  done
  check "sage4, ${way[bf16]}: the memory that the plan announced is what is used" says_touched "$work/sage4_bf16"
  for model in $(! is_all || echo residual6 attend2); do
    check "$model, ${way[bf16]}: the emitted program trains" makes_and_trains "$work/${model}_bf16" "$plans/$model.gnn" ${way[bf16]}
    check "$model, ${way[bf16]}: losses as in fp32, to ${share[bf16]} of them" losses_near "$work/${model}_bf16.out" "$work/${model}_keep.out" ${share[bf16]}
    least=$(least_of "$plans/$model.gnn" ${way[bf16]}) full=$(least_of "$plans/$model.gnn")
    check "$model, ${way[bf16]}: the least budget, $least KiB, is below two thirds of that in fp32, $full KiB" test $((3 * least)) -lt $((2 * full))
    for kind in reruns ring; do
      least=$(least_of "$plans/$model.gnn" ${road[$kind]} ${way[bf16]})
      check "$model, ${way[bf16]}, $kind: the least budget, $least KiB" makes_and_trains "$work/${model}_bf16_$kind" "$plans/$model.gnn" ${way[bf16]} ${road[$kind]} --budget device="${least}KiB"
      check "$model, ${way[bf16]}, $kind: the same bits" is_same "$work/${model}_bf16_$kind" "$work/${model}_bf16"
    done
  done
  predicts() { # PROGRAM: the scores that training ended with are those of its checkpoint
    "$1" eval --weights "$1.out/last.safetensors" >"$1.eval" && "$1" predict --weights "$1.out/last.safetensors" -o "$1.npy" && cat "$1.eval" && [ -s "$1.npy" ] &&
      grep -qF "$(printf '%.4f' "$(tail -1 "$1.out/log.csv" | cut -d, -f5)")" "$1.eval"
  }
  check "sage4, ${way[bf16]}: eval and predict of its checkpoint" predicts "$work/sage4_bf16"
  keeps_no_layers() { ! "$work/sage4_bf16" predict --weights "$work/sage4_bf16.out/last.safetensors" --layer h1 -o "$work/layer.npy" 2>"$work/said" && grep -F -- "--precision=bf16 keeps none" "$work/said"; }
  check "sage4, ${way[bf16]}: predict --layer says why there is none" keeps_no_layers

  for seed in $(is_all && echo 0 3 5 8 || echo 3 8); do
    check "another order of streams, $seed" env STANDIN_SEED=$seed bash -c "rm -rf '$work/sage4_ring.out'; '$work/sage4_ring' -q --epochs $epochs --every 1 --log csv --out '$work/sage4_ring.out'"
    check "the same bits" is_same "$work/sage4_ring" "$work/sage4_keep"
  done

  # Sparse features, SGD with momentum, AdamW in groups, rows that a block shares.
  for path in "$root/examples/gcn_cora.gnn" "$here/models/wide.gnn" "$here/models/heads.gnn"; do
    model=$(basename "$path" .gnn) keep=$work/$(basename "$path" .gnn)_keep
    check "$model: the emitted program trains" makes_and_trains "$keep" "$path"
    check "$model: with the losses of the CPU" is_as_on_cpu "$keep" "$path"
    is_all || [ "$model" = wide ] || continue
    least=$(least_of "$path")
    check "$model, reruns: the least budget, $least KiB" makes_and_trains "$work/${model}_reruns" "$path" --budget device="${least}KiB"
    check "$model, reruns: the same bits" is_same "$work/${model}_reruns" "$keep"
  done

  # What is computed once, before the first epoch; and results of layers, which are kept only where there is room.
  path=$here/models/layers.gnn keep=$work/layers_keep
  check "layers: the emitted program trains" makes_and_trains "$keep" "$path"
  check "layers: with the losses of the CPU" is_as_on_cpu "$keep" "$path"
  check "layers: a sum over neighbours is computed once" grep -q '^static gnn_status once(gnn_run \*g) {$' "$keep.work/model.c"
  check "layers: computed in each epoch" makes_and_trains "$work/layers_each" "$path" -fno-hoist
  check "layers: the same bits" is_same "$work/layers_each" "$keep"
  least=$(least_of "$path" $box --budget ssd=0)
  check "layers, host: the least budget, $least KiB" makes_and_trains "$work/layers_host" "$path" $box --budget ssd=0 --budget device="${least}KiB"
  check "layers, host: the result of a layer is not kept where there is no room" bash -c "! grep -q 'taps\[\] = {.*\"first\"' '$work/layers_host.work/model.c' && grep -q 'taps\[\] = {.*\"first\"' '$keep.work/model.c'"
  check "layers, host: the same bits, of scores too" is_same "$work/layers_host" "$keep"

  # The same in bf16, where the kernel that loads a value has it rounded, and the one that computed it has not: GIN's own half of a row is loaded in one
  # form of the program and at hand in the other, an extreme is exact in both.
  for path in "$plans/hoist3.gnn" $(! is_all || echo "$here/models/layers.gnn" "$root/tests/end_to_end/models/sage_max.gnn"); do
    model=$(basename "$path" .gnn) keep=$work/$(basename "$path" .gnn)_once
    check "$model, ${way[bf16]}: the emitted program trains" makes_and_trains "$keep" "$path" ${way[bf16]}
    check "$model, ${way[bf16]}: a sum over neighbours is computed once" grep -q '^static gnn_status once(gnn_run \*g) {$' "$keep.work/model.c"
    check "$model, ${way[bf16]}: computed in each epoch" makes_and_trains "${keep}_each" "$path" ${way[bf16]} -fno-hoist
    check "$model, ${way[bf16]}: the same bits" is_same "${keep}_each" "$keep"
  done
  keep=$work/hoist3_once path=$plans/hoist3.gnn least=$(least_of "$plans/hoist3.gnn" $box --budget ssd=0 ${way[bf16]})
  check "hoist3, ${way[bf16]}, host: the least budget, $least KiB" makes_and_trains "${keep}_host" "$path" ${way[bf16]} $box --budget ssd=0 --budget device="${least}KiB"
  check "hoist3, ${way[bf16]}, host: the same bits" is_same "${keep}_host" "$keep"
  sed '$a plan {\n  fate "x" = ssd\n}' "$path" >"$work/hoist3_home.gnn"
  check "hoist3, ${way[bf16]}, features at home on the SSD: the emitted program trains" makes_and_trains "${keep}_home" "$work/hoist3_home.gnn" ${way[bf16]} $box
  check "hoist3, ${way[bf16]}, features at home on the SSD: so is what is computed once" grep -q '"move", "out once_p ring -> ssd"' "${keep}_home.work/model.c"
  check "hoist3, ${way[bf16]}, features at home on the SSD: the same bits" is_same "${keep}_home" "$keep"

  # A target whose SSD is the device's own: its bytes pass through the host's memory all the same.
  cat >"$work/direct.gnn" <<'TARGET'
target direct {
  device gpu { kind = cuda(sm_90); memory = 1MiB; bandwidth = 3000GB/s; fp32 = 60TFLOP/s }
  tier ssd { path = "/tmp"; budget = 1GiB }
  link gpu -> ssd { bandwidth = 5GB/s; latency = 50us }
  link ssd -> gpu { bandwidth = 5GB/s; latency = 50us }
}
TARGET
  least=$(least_of "$plans/sage4.gnn" --target="$work/direct.gnn")
  check "sage4, an SSD without a host: the least budget, $least KiB" makes_and_trains "$work/sage4_direct" "$plans/sage4.gnn" --target="$work/direct.gnn" --budget gpu="${least}KiB"
  check "sage4, an SSD without a host: it is used" grep -q 'GNN_LANE_SSD_READ' "$work/sage4_direct.work/model.c"
  check "sage4, an SSD without a host: the same bits" is_same "$work/sage4_direct" "$work/sage4_keep"

  # Every wait of a program that no other implies is left out. It shows, or the data imply it: the stream of copies to the host waits for the compute
  # to have got to where copy C was queued, but its value is written once, before a step where an earlier copy of that stream was queued, whose wait
  # is kept, and no copy before had its place on the host. Streams: the compute's, to the host, to the device; events: three of theirs,
  # then two for each copy, queued and done.
  is_implied_by_data() { # WAIT MODEL.c
    awk -v wait="$1" 'BEGIN { split(wait, w, ","); copies = steps = 0; copy = (w[2] - 3) / 2; if (w[1] != 1 || copy != int(copy)) exit 1 }
      /^#define AT_/ && match($0, /steps [0-9]+/) { first[$2] = substr($0, RSTART + 6, RLENGTH - 6) }
      /^  \{[0-9]+, GNN_LANE_/ {
        number[copies] = substr($1, 2) + 0; is_out[copies] = $2 == "GNN_LANE_D2H,"
        match($0, /AT_[a-zA-Z0-9_]+/); value[copies] = substr($0, RSTART, RLENGTH)
        match($0, /GNN_HOST, [0-9]+/); place[copies++] = substr($0, RSTART, RLENGTH)
      }
      /^  \{[0-9]+, "compute", / && !/"wait"/ { step[++steps] = substr($1, 2) + 0 }
      END {
        if (!(value[copy] in first)) exit 1
        for (made = 1; made < steps && step[made] < first[value[copy]]; made++); # it has memory from the waits before on
        for (c = 0; c < copy; c++) {
          if (is_out[c] && number[c] > step[made]) is_there = 1
          if (place[c] == place[copy]) exit 1
        }
        exit !is_there
      }' "$2"
  }
  # Or the compute waits for a copy to the host to be done, because the plan counts with its bytes, and nothing is written in the place of what was copied
  # before the next wait for a later copy of that stream.
  is_written_late() { # WAIT MODEL.c
    awk -v wait="$1" 'BEGIN { split(wait, w, ","); copies = blocks = waits = 0; copy = (w[2] - 4) / 2; if (w[1] != 0 || copy != int(copy)) exit 1; unit["B,"] = 1; unit["KiB,"] = 1024; unit["MiB,"] = 1048576 }
      /^#define AT_/ && match($0, /steps [0-9]+/) {
        first[blocks] = substr($0, RSTART + 6, RLENGTH - 6) + 0; match($3, /[0-9]+/); at[blocks] = substr($3, 9) + 0
        bytes[blocks] = ($5 + 0.1) * unit[$6]; index_of[$2] = blocks++
      }
      /^  \{[0-9]+, GNN_LANE_/ {
        number[copies] = substr($1, 2) + 0; is_out[copies] = $2 == "GNN_LANE_D2H,"; match($0, /AT_[a-zA-Z0-9_]+/); value[copies++] = substr($0, RSTART, RLENGTH)
      }
      /^  \{[0-9]+, "compute", "wait", "wait for step / { match($0, /step [0-9]+/); waited[waits] = substr($0, RSTART + 5, RLENGTH - 5) + 0; step[waits++] = substr($1, 2) + 0 }
      END {
        if (!is_out[copy] || !(value[copy] in index_of)) exit 1
        own = index_of[value[copy]]; from = until = 0
        for (i = 0; i < waits; i++) if (waited[i] == number[copy]) from = step[i]
        for (c = copy + 1; c < copies; c++) for (i = 0; i < waits; i++) if (is_out[c] && waited[i] == number[c] && step[i] > from && (!until || step[i] < until)) until = step[i]
        if (!from || !until) exit 1
        for (b = 0; b < blocks; b++) if (first[b] >= from && first[b] < until && at[b] < at[own] + bytes[own] && at[own] < at[b] + bytes[b]) exit 1
      }' "$2"
  }
  without_waits() {
    local number=0 implied=0 missed=0 wait seed wanted
    train_gin() { rm -rf "$1"; env "${@:2}" "$work/gin4_host" -q --epochs 2 --every 1 --log csv --out "$1" >/dev/null 2>&1; }
    left() { cut -d, -f1-6 "$1/log.csv"; numbers "$1/last.safetensors" | md5sum; }
    train_gin "$work/all_waits" STANDIN_SEED=0 STANDIN_WAITS="$work/waits" || return 1
    wanted=$(left "$work/all_waits")
    train_gin "$work/less" STANDIN_SEED=3 STANDIN_IGNORE=9,999 && [ "$(left "$work/less")" = "$wanted" ] || return 1
    while read -r wait; do
      number=$((number + 1))
      for seed in 0 2 3 4 1 5 none; do
        [ $seed != none ] || break
        train_gin "$work/less" STANDIN_SEED=$seed STANDIN_IGNORE="$wait"
        [ "$(left "$work/less")" = "$wanted" ] || break
      done
      [ $seed = none ] || continue
      if is_implied_by_data "$wait" "$work/gin4_host.work/model.c" || is_written_late "$wait" "$work/gin4_host.work/model.c"; then implied=$((implied + 1))
      else missed=$((missed + 1)); echo "nothing shows that a stream waits for an event: $wait"; fi
    done <"$work/waits"
    echo "$number waits, $implied of them implied by the data, $missed missed by nobody"
    [ $number -ge 15 ] && [ $implied -le 4 ] && [ $missed -eq 0 ]
  }
  sed 's/GIN(16/GIN(12/' "$plans/gin4.gnn" >"$work/gin4.gnn" # few enough copies for each wait to matter
  least=$(least_of "$work/gin4.gnn" $box --budget ssd=0)
  check "gin4, host: the least budget, $least KiB" makes_and_trains "$work/gin4_host" "$work/gin4.gnn" $box --budget ssd=0 --budget device="${least}KiB"
  check "gin4, host: without any one of its waits the bits are wrong" without_waits

  # Surroundings in which it cannot run.
  surroundings() { # FAULT STATUS TEXT OPTION...
    local status said
    said=$(cd "$work" && env STANDIN_FAULT="$1" "$work/sage4_host" -q --epochs 1 --out "$work/broken.out" "${@:4}" 2>&1)
    status=$?
    printf '%s\nstatus %d, expected %d\n' "$said" $status "$2"
    [ $status -eq "$2" ] && grep -qF -- "$3" <<<"$said"
  }
  check "no driver" surroundings 1 3 "there is no CUDA driver here"
  check "an old driver" surroundings 2 3 "the program needs one for CUDA"
  check "no GPU" surroundings 3 3 "there is no CUDA device here"
  check "no such device" surroundings 0 3 "there is no CUDA device 7" --device 7
  check "less free memory than planned" surroundings 4 3 "has 3.0 KiB of 16.0 GiB free, the plan needs"
  check "no pinned memory" surroundings 5 3 "the machine would not pin"
  # The second kernel is wrong, that of step 4; later steps must not have the blame, whoever hears of it: a copy, a library, a launch, the host.
  fails() { # PROGRAM AFTER TEXT OPTION...: the kernel after so many
    local said
    said=$(env STANDIN_FAULT=9 STANDIN_AFTER="$2" "$1" -q --epochs 3 --out "$work/broken.out" "${@:4}" 2>&1)
    local status=$?
    printf '%s\nstatus %d\n' "$said" $status
    [ $status -eq 1 ] && grep -qE -- "$3" <<<"$said" && grep -qE "cudaErrorIllegalAddress" <<<"$said"
  }
  check "a kernel fails: the step or one before it" fails "$work/sage4_host" 1 'a kernel failed on stand-in .*; it is of step 5, line 4 of .*\(out [a-z0-9_]* -> host\), or of a step before that in this epoch'
  check "a kernel fails before a library is called" fails "$work/sage4_host" 0 'it is of step 2, .*by cuBLASLt\), or of a step before that in this epoch'
  check "a kernel fails: how to find it" fails "$work/sage4_host" 1 'help: --serial-lanes waits for every step, and says at which it happens'
  check "a kernel fails, --serial-lanes: its step" fails "$work/sage4_host" 1 'error: step 4, line 4 of .*running: ' --serial-lanes
  check "a kernel fails while threads copy: no step has the blame" fails "$work/sage4_ring" 5 'a kernel failed on stand-in .*; it is of some step of this epoch'
  many=$((1 << 30)) # bytes that cuSPARSE wants
  wants_more() { # PROGRAM
    local said
    said=$(env STANDIN_SPMM_BYTES=$many "$1" -q --epochs 1 --out "$work/broken.out" 2>&1)
    [ $? -eq 3 ] && grep -E 'error\[R0801\]: cuSPARSE on stand-in .* wants a buffer of 1.0 GiB for sums over these edges, the plan has [0-9.]+ KiB' <<<"$said" && [ ! -e "$work/broken.out/log.csv" ]
  }
  check "a larger buffer than was planned, before the first epoch" wants_more "$work/sage4_cusparse"
  check "a launch is refused" surroundings 8 1 "launching step_"
  check "kernels for another GPU" surroundings 11 3 "compile again for this device"
else
  skip "whole programs" "no CUDA toolkit"
fi

# ---- compiled ----

compiles() { # COMPILER ARCHITECTURE MODEL OPTION...: to an object, without a warning
  case $3 in */gcn_cora.gnn) local -x NVCC_APPEND_FLAGS= ;; esac # as users compile it
  "$build/gnncc" -q -w -c --backend=cuda --cuda-compiler="$1" --arch="$2" "${@:3}" -o "$work/object.o" >"$work/messages" 2>&1
  local status=$?
  cat "$work/messages"
  [ $status -eq 0 ] && [ ! -s "$work/messages" ]
}
# nvcc takes models that have every kernel, function and name between them, and one for the oldest architecture; NVRTC, which reads
# the same text, two models; CUDA_ALL=1: every model for three.
architectures_of() { # COMPILER MODEL, or heads_bf16
  case $(is_all && echo all)$1/$2 in
    all*/heads | all*/norm) echo sm_75 sm_80 sm_90 compute_75 ;;
    all*/heads_bf16) echo sm_80 sm_90 compute_75 ;;
    all*) echo sm_75 sm_80 sm_90 ;;
    nvcc/heads) echo sm_75 ;;
    nvcc/heads_bf16) echo sm_80 compute_75 ;;
    nvrtc/heads) echo compute_75 ;;
    nvcc/compose | nvcc/extremes | nvcc/functions | nvcc/gcn_cora | nvcc/named | nvcc/norm | nvcc/statistics | nvcc/training | nvcc/whole | nvcc/wide) echo sm_90 ;;
  esac
}
given_to_nvcc() { for model in "${models[@]}"; do [ -z "$(architectures_of nvcc "$(basename "$model" .gnn)")" ] || echo "$model"; done; }
check "every kind of step is among those that nvcc compiles" all_kinds $(given_to_nvcc)
compilers=
for compiler in nvcc nvrtc; do
  if ! "$build/gnncc" -q -w -c --backend=cuda --cuda-compiler=$compiler "${models[0]}" -o "$work/object.o" >/dev/null 2>&1; then
    skip "$compiler compiles what is emitted" "there is no $compiler"
    continue
  fi
  compilers="$compilers $compiler"
  for model in "${models[@]}"; do
    name=$(basename "$model" .gnn)
    for architecture in $(architectures_of $compiler "$name"); do
      check "$compiler compiles $name for $architecture" compiles $compiler $architecture "$model"
    done
    [ "$name" = heads ] || continue
    for architecture in $(architectures_of $compiler heads_bf16); do
      check "$compiler compiles heads in bf16 for $architecture" compiles $compiler $architecture "$model" --precision=bf16
    done
    ! is_all && [ $compiler = nvrtc ] || check "$compiler compiles heads in bf16 for sm_75, by our own kernels" compiles $compiler sm_75 "$model" --precision=bf16 --gemm=own
  done
done

# A table of more weights than constant memory has room for. The update alone: the other steps are many.
cat >"$work/weights.gnn" <<'MODEL'
layer Scale(x : node[f]) {
  param a : [f] = constant(1)
  param b : [f] = constant(0)
  return x * a + b
}
data web from synth(kind = "rmat", nodes = 20, degree = 2, features = 2, classes = 2, seed = 3)
model net on web {
  h = x
  for i in 1 .. 590 { h = h |> Scale() as s }
  return h
}
train net { loss = cross_entropy(out, y); optimizer = sgd(lr = 0.01); epochs = 2 }
MODEL
many_weights() { # nvcc compiles their update; a chain of 590 layers is no kernel with as many arguments
  "$build/gnncc" -q -w --backend=cuda --emit=cuda="$work/weights_all.cu" "$work/weights.gnn" || return 1
  local places
  places=$(sed -n 's/^#define GNN_MOST_PLACES //p' "$work/weights_all.cu")
  [ "${places:-0}" -le 256 ] || { echo "$places arguments"; return 1; }
  sed -n '1,/^#define V_DOUBLES/p; /^static .*_table\[\] = {/,/^};/p; /^GNN_KERNEL step_[0-9]*_weights/,/^}/p' "$work/weights_all.cu" >"$work/weights.cu"
  [ "$(grep -c '^  {AT_weight_' "$work/weights.cu")" -eq 1180 ] && "$nvcc" --std=c++17 --fmad=false -arch=sm_90 -cubin -I"$build/share" -o "$work/weights.cubin" "$work/weights.cu"
}
{ read -r cuda; read -r cuda_headers; read -r cuda_libraries; read -r nvcc; } < <("$root/runtime/cuda/home.sh")
if [ -x "$nvcc" ]; then check "more weights than constant memory has room for" many_weights
else skip "more weights than constant memory has room for" "there is no nvcc"; fi

unknown() { # COMPILER ARCHITECTURE TEXT: the toolkit does not know it, and that is not our mistake
  "$build/gnncc" -q -w -c --backend=cuda --cuda-compiler="$1" --arch="$2" "${models[0]}" -o "$work/unknown.o" >"$work/said" 2>&1
  local status=$?
  cat "$work/said"
  [ $status -eq 5 ] && grep -qE "error\[E0507\]: $3" "$work/said" && ! grep -q 'this is a bug' "$work/said"
}
for compiler in $compilers; do
  check "$compiler: a GPU that the toolkit does not know" unknown $compiler sm_999 ".* does not compile for sm_999 here: "
done
mkdir -p "$work/broken/bin" && printf '#!/bin/sh\ncase "$*" in */dev/null) exit 0 ;; esac\nexit 1\n' >"$work/broken/bin/nvcc" && chmod +x "$work/broken/bin/nvcc"
bug() {
  mkdir -p "$work/broken/lib64" && touch "$work/broken/lib64/libcudart_static.a"
  CUDA_HOME=$work/broken TMPDIR=$work "$build/gnncc" -q -w -c --backend=cuda --cuda-compiler=nvcc "${models[0]}" -o "$work/none.o" 2>&1 | grep -F "error[E0601]: $work/broken/bin/nvcc failed on code that gnncc wrote"
}
check "what nvcc refuses of ours alone is our mistake" bug
no_library() { # LIBRARY OPTION...: the linker has none
  local bin=$work/no_$1
  mkdir -p "$bin/bin" "$bin/lib64" && touch "$bin/lib64/libcudart_static.a"
  printf '#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" != -o ] || : >"$2"; shift; done\n' >"$bin/bin/nvcc"
  printf '#!/bin/sh\nfor word; do [ "$word" != -l%s ] || exit 1; done\ncase "$*" in *libcudart_static*|*-lcudart_static*) exit 1 ;; esac\nexec cc "$@"\n' "$1" >"$bin/bin/cc"
  chmod +x "$bin/bin/nvcc" "$bin/bin/cc"
  CUDA_HOME=$bin CFLAGS=-O0 "$build/gnncc" -q -w --backend=cuda --cuda-compiler=nvcc --cc="$bin/bin/cc" "${@:2}" "$plans/sage4.gnn" -o "$work/none" >"$work/said" 2>&1
  local status=$?
  cat "$work/said"
  [ $status -eq 5 ] && grep -F "error[E0507]: this program needs the CUDA toolkit's lib$1, and the linker finds none in $bin/lib64" "$work/said"
}
if [ -e "$build/share/libgnncuda.a" ]; then
  check "without cuBLASLt to link with" no_library cublasLt
  check "without cuSPARSE" no_library cusparse --spmm=cusparse
fi

if [ -e "$build/share/libgnncuda.a" ]; then
  check "a program for a GPU" "$build/gnncc" -q --backend=cuda "$root/examples/gcn_karate.gnn" -o "$work/program"
  checks_gradients() { "$build/gnncc" -q -w -fgradcheck --backend=cuda "$@" "$root/examples/gcn_karate.gnn" -o "$work/gradients" && "$work/gradients" gradcheck | grep -x 'all gradients agree'; }
  for way in --precision=bf16 --gemm=own --spmm=cusparse; do check "with $way it checks its gradients" checks_gradients $way; done
  check "its sources build with their own Makefile" bash -c "'$build/gnncc' -q --backend=cuda --arch=sm_90 -S '$root/examples/gcn_karate.gnn' -o '$work/src' && make -C '$work/src' CFLAGS=-O0"
fi
sources_without_nvcc() {
  "$build/gnncc" -q --backend=cuda --arch=sm_90 -S "$root/examples/gcn_karate.gnn" -o "$work/src_bare" || return 1
  ! make -C "$work/src_bare" gcn_karate_kernels.inc NVCC=/nowhere/nvcc >"$work/said" 2>&1 && cat "$work/said" && grep -F "there is no /nowhere/nvcc, which makes gcn_karate_kernels.image" "$work/said" || return 1
  echo image >"$work/src_bare/gcn_karate_kernels.image" && make -C "$work/src_bare" gcn_karate_kernels.inc NVCC=/nowhere/nvcc
}
check "its sources without nvcc: what is needed, and with the image from elsewhere" sources_without_nvcc
libraries_of() { # OPTION...: of CUDA that the program is linked with
  "$build/gnncc" -q -w --backend=cuda --arch=sm_90 "$@" "$plans/sage4.gnn" -o "$work/linked" && readelf -d "$work/linked" | sed -n 's/.*NEEDED.*\[lib\(cu[a-zA-Z]*\)\.so.*/\1/p' | xargs
}
has_libraries() { [ "$(libraries_of "${@:2}")" = "$1" ]; } # LIST OPTION...
if [ -e "$build/share/libgnncuda.a" ] && [ -e "$cuda_libraries/libcublasLt.so" ]; then
  check "with our own kernels no library is linked" has_libraries "" --gemm=own
  check "with products by cuBLASLt, that one" has_libraries "cublasLt"
  check "with sums by cuSPARSE both" has_libraries "cublasLt cusparse" --spmm=cusparse
  check "the sources of a program without libraries build without them" bash -c "'$build/gnncc' -q -w --backend=cuda --arch=sm_90 --gemm=own -S '$plans/sage4.gnn' -o '$work/alone' &&
    make -C '$work/alone' CFLAGS=-O0 && ! readelf -d '$work'/alone/sage4 | grep -E 'cublas|cusparse'"
fi
listed() { "$build/gnncc" -w --backend=cuda --plan -v "${@:2}" "$plans/sage4.gnn" | grep -qF -- "$1"; } # TEXT OPTION...
check "the listing says who multiplies" listed ", by cuBLASLt"
check "and in which numbers" listed ", by cuBLASLt in tf32" --precision=tf32
check "and who adds" listed ", by cuSPARSE" --spmm=cusparse
says() { # TEXT COMMAND...: fails, with that text
  local text=$1
  shift
  ! "$@" >"$work/said" 2>&1 && cat "$work/said" && grep -qF -- "$text" "$work/said"
}
check "tf32 is not for processors" says "--precision=tf32 is for programs for a GPU" "$build/gnncc" --precision=tf32 "$plans/sage4.gnn" -o "$work/none"
check "nor is cuSPARSE" says "--spmm=cusparse is for programs for a GPU" "$build/gnncc" --spmm=cusparse "$plans/sage4.gnn" -o "$work/none"
check "bf16 is not for sm_75" says "--precision=bf16 needs sm_80 or newer, and this program is for sm_75" "$build/gnncc" --backend=cuda --arch=sm_75 --precision=bf16 "$plans/sage4.gnn" -o "$work/none"
check "our own kernels have no tf32" says "--precision=tf32 needs cuBLASLt" "$build/gnncc" --backend=cuda --gemm=own --precision=tf32 "$plans/sage4.gnn" -o "$work/none"
check "cuSPARSE has no bf16" says "--precision=bf16 needs --spmm=own" "$build/gnncc" --backend=cuda --spmm=cusparse --precision=bf16 "$plans/sage4.gnn" -o "$work/none"
check "the listing says what is kept in bf16" listed "values are kept in bf16, 2 bytes a number" --precision=bf16
kept_in() { # bf16|fp32 VALUE...: so attend2 keeps these
  local value bytes
  for value in "${@:2}"; do
    bytes=$("$build/gnncc" -q -w --backend=cuda --precision=bf16 --stop-after=fuse --dump=fuse "$plans/attend2.gnn" | sed '/^evaluation:/,$d' | grep -oE " $value \([0-9]+ bytes( in bf16)?")
    case $1/$bytes in bf16/*"in bf16" | fp32/*"bytes") ;; *) echo "$value:$bytes"; return 1 ;; esac
  done
}
check "wide rows are kept in bf16" kept_in bf16 a1_q a1_sum h back_h d_a1_q d_a1_v
check "scores and gradients of weights in fp32" kept_in fp32 head d_scores d_a1_W_q d_head_bias
problem_bytes() { "$build/gnncc" -q -w --backend=cuda "$@" --emit=problem=- "$plans/sage4.gnn" | sed -n 's/.*"bytes": *\([0-9]*\).*/\1/p' | sort -n | tail -1; }
halves() { [ $((2 * $(problem_bytes --precision=bf16))) -eq "$(problem_bytes)" ]; }
check "the planner's problem has half the bytes of the largest value" halves
refuse 2 "fp64 is refused" "$build/gnncc" --backend=cuda --precision=fp64 "$plans/sage4.gnn" -o "$work/none"

no_toolkit() { CUDA_HOME=$work/nowhere PATH=/bin "$build/gnncc" "$@"; }
refuse 5 "without the toolkit: E0507" no_toolkit --backend=cuda "$root/examples/gcn_karate.gnn" -o "$work/none"
check "its sources are written all the same" no_toolkit -q --backend=cuda -S "$root/examples/gcn_karate.gnn" -o "$work/sources_only"
check "and once more over themselves" no_toolkit -q --backend=cuda -S "$root/examples/gcn_karate.gnn" -o "$work/sources_only"
finish
