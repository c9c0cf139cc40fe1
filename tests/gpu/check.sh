#!/bin/bash
# check.sh BUILD: what the tests check on the emulation and the stand-in, on a GPU: every step of models against the CPU's, whole programs under
# their least budgets, in fp32 and in bf16, measured against planned memory, captured or not, under compute-sanitizer where it is. Prints TAP; the last line
# is "N passed, N failed, N skipped". CHECK_STEPS, CHECK_MODELS, CHECK_HALF, CHECK_TUNED and CHECK_ROADS name others, or none, in place of those below.
set -u
. "$(dirname "$0")/prepare.sh"
. "$root/tests/tap.sh"
. "$root/tests/cuda/losses.sh"
work=$build/check/gpu
rm -rf "$work" && mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache ARCH=$architecture
plans=$root/tests/end_to_end/models/plans box=--target=$root/tests/end_to_end/models/plans/box.gnn
# shellcheck disable=SC2206
steps=(${CHECK_STEPS-$root/examples/gcn_karate.gnn $root/tests/cuda/models/*.gnn $root/tests/end_to_end/models/varied/*.gnn $root/tests/end_to_end/models/*.gnn})
# shellcheck disable=SC2206
models=(${CHECK_MODELS-$plans/sage4.gnn $plans/attend2.gnn $plans/residual6.gnn})
# shellcheck disable=SC2206
half=(${CHECK_HALF-$plans/sage4.gnn $plans/attend2.gnn $root/tests/cuda/models/wide.gnn})
# shellcheck disable=SC2206
tuned=(${CHECK_TUNED-$plans/sage4.gnn $root/tests/cuda/models/wide.gnn})
epochs=${CHECK_EPOCHS:-3}
echo "# $gpu, $architecture"

# ---- steps ----

on_gpu() { # MODEL DIRECTORY OPTION...
  mkdir -p "$2" && ON_GPU=1 "$root/tests/cuda/steps.sh" "$build" "$1" "$2" --gemm=own "${@:3}"
}
for model in "${steps[@]}"; do
  [ -e "$model" ] || continue
  name=$(basename "$model" .gnn)
  if ! "$build/gnncc" -q -w --check "$model" >/dev/null 2>&1; then
    skip "$name: its steps" "its data are not here"
    continue
  fi
  check "$name: each step leaves what the CPU leaves, and the same bits three times" on_gpu "$model" "$work/steps_$name"
done

# ---- whole programs ----

curve() { (cd "$1" && for f in *.csv run-*/*.csv; do [ -e "$f" ] && cut -d, -f2-7 "$f"; done); }
numbers() { tail -c +$(($(od -An -tu8 -N8 "$1") + 9)) "$1"; } # FILE.safetensors: what follows the header
train() { # PROGRAM OUT OPTION...
  rm -rf "$2" && "$1" -q --epochs "$epochs" --every 1 --log csv --scratch "$work" --out "$2" "${@:3}"
}
makes() { # PROGRAM OPTION...: for the GPU
  "$build/gnncc" -q -w --backend=cuda --arch="$architecture" --cuda-compiler=nvcc "${@:2}" -o "$1" && train "$1" "$1.out"
}
is_same() { diff <(curve "$1") <(curve "$2") && cmp <(numbers "$1/last.safetensors") <(numbers "$2/last.safetensors"); }
is_as_on_cpu() { # PROGRAM MODEL [SHARE]: its losses, to rounding or to that part of each
  "$build/gnncc" -q -w --target=native "$2" -o "$1.cpu" || return 1
  if [ -z "${3:-}" ]; then
    losses_agree "$1.cpu" "$1.out" -q --runs 1 --epochs "$epochs" --every 1 --log csv
  else
    train "$1.cpu" "$1.cpu.out" && losses_near "$1.out" "$1.cpu.out" "$3"
  fi
}
least_of() { # MODEL OPTION...: the smallest device budget, in KiB
  "$build/gnncc" -w --backend=cuda --budget device=1KiB "${@:2}" "$1" --plan 2>&1 | sed -n 's/.*--budget [a-z]*=\([0-9]*\)KiB is the smallest.*/\1/p'
}
has_planned_peak() { # PROGRAM: "device arena: planned X, touched X", and so for each tier
  (cd "$work" && "$1" check --epochs 2 --scratch "$work") >"$1.check" || { cat "$1.check"; return 1; }
  cat "$1.check"
  awk -F'planned |, touched ' '/planned .*, touched / { n++; if ($2 != $3) bad = 1 } END { exit bad || !n }' "$1.check"
}
declare -A road=([reruns]="" [host]="$box --budget ssd=0" [ring]="$box --budget host=200KiB")
for model in "${models[@]}"; do
  name=$(basename "$model" .gnn) keep=$work/${name}_keep
  check "$name: the program trains" makes "$keep" "$model" -fgradcheck
  check "$name: with the losses of the CPU" is_as_on_cpu "$keep" "$model"
  for way in --no-graph --serial-lanes; do
    check "$name, $way: trains" train "$keep" "$keep$way" $way
    check "$name, $way: the same bits" is_same "$keep$way" "$keep.out"
  done
  for kind in ${CHECK_ROADS-reruns host ring}; do
    least=$(least_of "$model" ${road[$kind]}) program=$work/${name}_$kind
    check "$name, $kind: the least budget, $least KiB" makes "$program" "$model" ${road[$kind]} --budget device="${least}KiB"
    check "$name, $kind: the same bits" is_same "$program.out" "$keep.out"
    check "$name, $kind: the memory that was planned is what was touched" has_planned_peak "$program"
  done
done

# ---- values in bf16 ----

for model in "${half[@]}"; do
  name=$(basename "$model" .gnn) keep=$work/${name}_half
  check "$name in bf16: each step leaves what the CPU leaves, rounded" on_gpu "$model" "$work/steps_${name}_half" --precision=bf16
  check "$name in bf16: the program trains" makes "$keep" "$model" --precision=bf16
  check "$name in bf16: losses as on the CPU, to a hundredth of them" is_as_on_cpu "$keep" "$model" 1e-2
  least=$(least_of "$model" --precision=bf16)
  check "$name in bf16: the least budget, $least KiB" makes "${keep}_least" "$model" --precision=bf16 --budget device="${least}KiB"
  check "$name in bf16: the same bits" is_same "${keep}_least.out" "$keep.out"
done

# ---- tuning ----

tunes() { # PROGRAM MODEL
  "$build/gnncc" -w --backend=cuda --arch="$architecture" --tune="$1.json" "$2" -o "$1" && train "$1" "$1.out"
}
for model in "${tuned[@]}"; do
  name=$(basename "$model" .gnn)
  check "$name: --tune, and the program trains" tunes "$work/${name}_tuned" "$model"
  check "$name: with the losses of the CPU" is_as_on_cpu "$work/${name}_tuned" "$model"
done

# ---- the sanitizer ----

sanitizer=$(command -v compute-sanitizer || { [ -x "$cuda/bin/compute-sanitizer" ] && echo "$cuda/bin/compute-sanitizer"; })
for tool in memcheck racecheck; do
  for program in "$work"/*_keep "$work"/*_ring; do
    [ -x "$program" ] || continue
    if [ -z "$sanitizer" ]; then skip "$(basename "$program"): $tool" "there is no compute-sanitizer"; continue; fi
    check "$(basename "$program"): $tool" "$sanitizer" --tool "$tool" --error-exitcode 9 "$program" -q --epochs 1 --scratch "$work" --out "$program.$tool"
  done
done
finish
status=$?
skipped=$(( ${tap_skipped:-0} ))
echo "$((tap_count - tap_failed - skipped)) passed, $tap_failed failed, $skipped skipped"
exit $status
