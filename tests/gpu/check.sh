#!/bin/bash
# check.sh BUILD [--slice I/N] [--resume]: what the tests check on the emulation and the stand-in, on a GPU: every step of models against the CPU's, whole
# programs under their least budgets, in fp32 and in bf16, measured against planned memory, captured or not, under compute-sanitizer where it is.
# Prints TAP; the last line is "N passed, N failed, N skipped". CHECK_STEPS, CHECK_MODELS, CHECK_CUT, CHECK_HALF, CHECK_TUNED and CHECK_ROADS name others, or none,
# in place of those below.
#
# The work is a list of cells, a model each, the steps of kernels first; as many run at a time as there are processors, because compiling takes
# most of their time. What a cell said is in BUILD/check/gpu_cells when it ends, and in BUILD/check_gpu.json. --slice 2/6: the second of six parts,
# in less than eight minutes (CHECK_SECONDS: no cell begins after 400); what others found stays. --resume: what has passed is not run again.
# CHECK_LIMIT: seconds that a check may take, 200.
set -u
slice=1/1 is_sliced=no is_resumed=no seconds=${CHECK_SECONDS:-}
usage() { echo "usage: make check-gpu [SLICE=2/6] [RESUME=1]" >&2; exit 2; }
build_given=${1:?}
shift
while [ $# -gt 0 ]; do
  case $1 in
    --slice) slice=${2:-} is_sliced=yes; shift ;;
    --resume) is_resumed=yes ;;
    *) usage ;;
  esac
  shift
done
[[ $slice =~ ^([0-9]+)/([0-9]+)$ ]] || usage
part=$((10#${BASH_REMATCH[1]})) parts=$((10#${BASH_REMATCH[2]}))
[ $part -ge 1 ] && [ $part -le $parts ] || usage
[ $is_sliced = no ] || seconds=${seconds:-400}
set -- "$build_given"
. "$(dirname "$0")/prepare.sh"
. "$root/tests/tap.sh"
. "$root/tests/cuda/losses.sh"
work=$build/check/gpu cells=$build/check/gpu_cells limit=${CHECK_LIMIT:-200}
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
# shellcheck disable=SC2206
cuts=(${CHECK_CUT-$plans/slices4.gnn})
epochs=${CHECK_EPOCHS:-3}
about="$gpu, $architecture, $("$root/tests/gpu/stamp.sh")"
if [ $is_resumed = no ] && [ $is_sliced = no ] || [ "$(cat "$cells/about" 2>/dev/null)" != "$about" ]; then rm -rf "$cells"; fi
mkdir -p "$work" "$cells"
echo "$about" >"$cells/about"

# ---- what is run has a limit, with all that it starts ----

limited() { # COMMAND...
  timeout -s KILL "$limit" "$@"
  local status=$?
  [ $status -ne 137 ] || echo "over $limit s"
  return $status
}

# ---- steps ----

on_gpu() { # MODEL DIRECTORY OPTION...
  rm -rf "$2" && mkdir -p "$2" && ON_GPU=1 limited "$root/tests/cuda/steps.sh" "$build" "$1" "$2" --gemm=own "${@:3}"
}
cell_steps() { # MODEL
  local name
  name=$(basename "$1" .gnn)
  if ! limited "$build/gnncc" -q -w --check "$1" >/dev/null 2>&1; then
    skip "$name: its steps" "its data are not here"
    return
  fi
  check "$name: each step leaves what the CPU leaves, and the same bits three times" on_gpu "$1" "$work/steps_$name"
}

# ---- whole programs ----

curve() { (cd "$1" && for f in *.csv run-*/*.csv; do [ -e "$f" ] && cut -d, -f2-7 "$f"; done); }
train() { # PROGRAM OUT OPTION...
  rm -rf "$2" && limited "$1" -q --epochs "$epochs" --every 1 --log csv --scratch "$work" --out "$2" "${@:3}"
}
makes() { # PROGRAM OPTION...: for the GPU
  limited "$build/gnncc" -q -w --backend=cuda --arch="$architecture" --cuda-compiler=nvcc "${@:2}" -o "$1" && train "$1" "$1.out"
}
is_same() { diff <(curve "$1") <(curve "$2") && cmp <(numbers "$1/last.safetensors") <(numbers "$2/last.safetensors"); }
is_as_on_cpu() { # PROGRAM MODEL [SHARE]: its losses, to rounding or to that part of each
  limited "$build/gnncc" -q -w --target=native "$2" -o "$1.cpu" || return 1
  if [ -z "${3:-}" ]; then
    losses_agree "$1.cpu" "$1.out" -q --runs 1 --epochs "$epochs" --every 1 --log csv
  else
    train "$1.cpu" "$1.cpu.out" && losses_near "$1.out" "$1.cpu.out" "$3"
  fi
}
least_of() { # MODEL OPTION...: the smallest device budget, in KiB
  limited "$build/gnncc" -w --backend=cuda --budget device=1KiB "${@:2}" "$1" --plan 2>&1 | sed -n 's/.*--budget [a-z]*=\([0-9]*\)KiB is the smallest.*/\1/p'
}
has_planned_peak() { # PROGRAM: "device arena: planned X, touched X", and so for each tier
  (cd "$work" && limited "$1" check --epochs 2 --scratch "$work") >"$1.check" || { cat "$1.check"; return 1; }
  cat "$1.check"
  awk -F'planned |, touched ' '/planned .*, touched / { n++; if ($2 != $3) bad = 1 } END { exit bad || !n }' "$1.check"
}
declare -A road=([reruns]="" [host]="$box --budget ssd=0" [ring]="$box --budget host=0")
cell_program() { # MODEL
  local name keep way kind least program
  name=$(basename "$1" .gnn) keep=$work/$(basename "$1" .gnn)_keep
  check "$name: the program trains" makes "$keep" "$1" -fgradcheck
  check "$name: with the losses of the CPU" is_as_on_cpu "$keep" "$1"
  for way in --no-graph --serial-lanes; do
    check "$name, $way: trains" train "$keep" "$keep$way" $way
    check "$name, $way: the same bits" is_same "$keep$way" "$keep.out"
  done
  for kind in ${CHECK_ROADS-reruns host ring}; do
    least=$(least_of "$1" ${road[$kind]}) program=$work/${name}_$kind
    check "$name, $kind: the least budget, $least KiB" makes "$program" "$1" ${road[$kind]} --budget device="${least}KiB"
    check "$name, $kind: the same bits" is_same "$program.out" "$keep.out"
    check "$name, $kind: the memory that was planned is what was touched" has_planned_peak "$program"
  done
}

# ---- values that are cut ----

cell_cut() { # MODEL
  local name whole ways way program
  name=$(basename "$1" .gnn) whole=$work/${name}_whole ways=("--cut=rows(4)" "--cut=rows(4) --gemm=own" "--cut=slices(2)" "--cut=slices(2) $box --budget device=6MiB --budget host=400KiB")
  check "$name: the program of whole values trains" makes "$whole" "$1" --cut=whole
  check "$name: by our own products" makes "${whole}_own" "$1" --cut=whole --gemm=own
  for way in "${!ways[@]}"; do
    program=$work/${name}_cut_$way
    # shellcheck disable=SC2086
    check "$name, ${ways[way]}: trains" makes "$program" "$1" ${ways[way]}
    check "$name, ${ways[way]}: the same bits" is_same "$program.out" "$whole$([[ ${ways[way]} != *own ]] || echo _own).out"
    check "$name, ${ways[way]}: the memory that was planned is what was touched" has_planned_peak "$program"
  done
}

# ---- values in bf16 ----

cell_half() { # MODEL
  local name keep least
  name=$(basename "$1" .gnn) keep=$work/$(basename "$1" .gnn)_half
  check "$name in bf16: each step leaves what the CPU leaves, rounded" on_gpu "$1" "$work/steps_${name}_half" --precision=bf16
  check "$name in bf16: the program trains" makes "$keep" "$1" --precision=bf16
  check "$name in bf16: losses as on the CPU, to a hundredth of them" is_as_on_cpu "$keep" "$1" 1e-2
  least=$(least_of "$1" --precision=bf16)
  check "$name in bf16: the least budget, $least KiB" makes "${keep}_least" "$1" --precision=bf16 --budget device="${least}KiB"
  check "$name in bf16: the same bits" is_same "${keep}_least.out" "$keep.out"
}

# ---- tuning ----

tunes() { # PROGRAM MODEL
  limited "$build/gnncc" -w --backend=cuda --arch="$architecture" --tune="$1.json" "$2" -o "$1" && train "$1" "$1.out"
}
cell_tuned() { # MODEL
  local name
  name=$(basename "$1" .gnn)
  check "$name: --tune, and the program trains" tunes "$work/${name}_tuned" "$1"
  check "$name: with the losses of the CPU" is_as_on_cpu "$work/${name}_tuned" "$1"
}

# ---- the sanitizer ----

sanitizer=$(command -v compute-sanitizer || { [ -x "$cuda/bin/compute-sanitizer" ] && echo "$cuda/bin/compute-sanitizer"; })
cell_sanitizer() { # MODEL: its programs that keep everything, and that use an SSD
  local name kind tool program options
  name=$(basename "$1" .gnn)
  for kind in keep ring; do
    [ $kind = keep ] || [[ " ${CHECK_ROADS-reruns host ring} " == *" ring "* ]] || continue
    program=$work/${name}_${kind}_watched options=()
    [ $kind = keep ] || read -ra options <<<"${road[ring]} --budget device=$(least_of "$1" ${road[ring]})KiB"
    for tool in memcheck racecheck; do
      if [ -z "$sanitizer" ]; then skip "$name, $kind: $tool" "there is no compute-sanitizer"; continue; fi
      [ -x "$program" ] || check "$name, $kind: a program for $tool" makes "$program" "$1" "${options[@]}"
      check "$name, $kind: $tool" limited "$sanitizer" --tool "$tool" --error-exitcode 9 "$program" -q --epochs 1 --scratch "$work" --out "$program.$tool"
    done
  done
}

# ---- the cells ----

list=() weights=() whole=0
add() { # KIND SECONDS MODEL...: a cell each, of about so many seconds
  local model
  for model in "${@:3}"; do
    [ -e "$model" ] || continue
    list+=("$1 $model") weights+=("$2") whole=$((whole + $2))
  done
}
add steps 40 "${steps[@]}"
add program 120 "${models[@]}"
add cut 200 "${cuts[@]}"
add half 100 "${half[@]}"
add tuned 100 "${tuned[@]}"
add sanitizer 150 "${models[@]}"
file_of() { echo "$cells/$(echo "${1#*/}" | tr -c 'a-zA-Z0-9_\n' _)_${1%% *}"; } # CELL
sum_of() { # FILE...: passed, failed, skipped
  cat /dev/null "$@" 2>/dev/null | awk '/^ok .*# SKIP/ { s++; next } /^ok / { p++ } /^not ok / { f++ } END { printf "%d passed, %d failed, %d skipped", p, f, s }'
}
write_table() { # every cell that has ended
  { echo "{\"about\": \"$about\", \"cells\": {"
    first=
    for ended in "$cells"/*.tap; do
      [ -e "$ended" ] || continue
      printf '%s "%s": "%s"' "$first" "$(basename "$ended" .tap)" "$(sum_of "$ended")"
      first=$',\n'
    done
    printf '\n}}\n'
  } >"$build/check_gpu.json.new" && mv "$build/check_gpu.json.new" "$build/check_gpu.json"
}
run_cell() { # CELL
  local file
  file=$(file_of "$1")
  (
    tap_log=$(mktemp)
    trap 'rm -f "$tap_log"' EXIT
    "cell_${1%% *}" "${1#* }" >"$file.begun" 2>&1
    mv "$file.begun" "$file.tap"
  )
}

cc -O1 -o "$work/nudge" "$root/tests/cuda/nudge.c" -lm || exit # which losses_agree would make in every cell
echo "# $gpu, $architecture"
own=() before=0
for i in "${!list[@]}"; do
  [ $((before * parts / whole + 1)) -ne $part ] || own+=("${list[$i]}")
  before=$((before + weights[i]))
done
# A cell that has not ended when the slice does is left to --resume.
end_all() { # the cells that run, with all that they started
  local all
  all=$(cat /proc/[0-9]*/stat 2>/dev/null | sed 's/ (.*) / /' | awk -v jobs="$(jobs -rp | xargs)" '{ parent[$1] = $3 }
    END { split(jobs, job, " "); for (j in job) is_job[job[j]]; for (p in parent) for (q = p; q in parent; q = parent[q]) if (q in is_job) { print p; break } }')
  # shellcheck disable=SC2086
  [ -z "$all" ] || kill -KILL $all 2>/dev/null
}
trap 'end_all; rm -f "$tap_log"; exit 143' INT TERM
waiting=("${own[@]}")
while [ ${#waiting[@]} -gt 0 ] || [ -n "$(jobs -rp)" ]; do
  if [ -n "$seconds" ] && [ $SECONDS -ge $((seconds + 50)) ]; then end_all; wait; break; fi
  if [ ${#waiting[@]} -gt 0 ] && [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] && { [ -z "$seconds" ] || [ $SECONDS -lt "$seconds" ]; }; then
    cell=${waiting[0]} waiting=("${waiting[@]:1}")
    if [ $is_resumed = yes ] && [ -e "$(file_of "$cell").tap" ] && ! grep -q '^not ok' "$(file_of "$cell").tap"; then continue; fi
    rm -f "$(file_of "$cell").tap"
    run_cell "$cell" &
    continue
  fi
  [ ${#waiting[@]} -eq 0 ] || [ -z "$seconds" ] || [ $SECONDS -lt "$seconds" ] || [ -n "$(jobs -rp)" ] || break
  sleep 0.2
  write_table
done
write_table

for cell in "${own[@]}"; do
  file=$(file_of "$cell")
  if [ -e "$file.tap" ]; then cat "$file.tap"; else echo "# left: $cell"; fi
done | awk '/^(not )?ok [0-9]+ / { sub(/ok [0-9]+/, "ok " ++n) } { print }'
ended=() left=0
for cell in "${own[@]}"; do
  if [ -e "$(file_of "$cell").tap" ]; then ended+=("$(file_of "$cell").tap"); else left=$((left + 1)); fi
done
echo "1..$(cat /dev/null "${ended[@]}" | grep -cE '^(not )?ok ')"
[ $left -eq 0 ] || echo "$left cells of this slice are left: the same again with RESUME=1" >&2
said=$(sum_of "${ended[@]}")
echo "$said"
[[ "$said" == *", 0 failed,"* ]]
