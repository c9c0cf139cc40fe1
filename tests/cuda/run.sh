#!/bin/bash
# run.sh BUILD: the CUDA target without a GPU. The device headers and every step of every model run in the emulation,
# under the sanitizers, and are compared with the CPU; what is emitted is compiled by nvcc and by NVRTC where they are.
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
. "$here/../tap.sh"
work=$build/check/cuda
rm -rf "$work" && mkdir -p "$work"
models=("$root"/examples/gcn_*.gnn "$here"/models/*.gnn "$root"/tests/end_to_end/models/*.gnn "$root"/tests/end_to_end/models/varied/*.gnn)

steps() { # MODEL DIRECTORY: every step of it was compared, without a difference; nothing was compiled with a warning
  mkdir -p "$2"
  "$here/steps.sh" "$build" "$1" "$2" >"$2/log" 2>&1 && ! grep -q 'warning: ' "$2/log" || { tail -20 "$2/log"; return 1; }
}
check "the emulation itself" "$build/tests/cuda/emulator"
check "the device headers" "$build/tests/cuda/device"
for model in "${models[@]}"; do
  name=$(basename "$model" .gnn)
  check "$name: each step leaves what the CPU leaves, in every order of threads" steps "$model" "$work/$name"
done

# ---- compiled ----

compiles() { # COMPILER ARCHITECTURE MODEL: to an object, without a warning
  "$build/gnncc" -q -w -c --backend=cuda --cuda-compiler="$1" --arch="$2" "$3" -o "$work/object.o" >"$work/messages" 2>&1
  local status=$?
  cat "$work/messages"
  [ $status -eq 0 ] && [ ! -s "$work/messages" ]
}
for compiler in nvcc nvrtc; do
  if ! "$build/gnncc" -q -w -c --backend=cuda --cuda-compiler=$compiler "${models[0]}" -o "$work/object.o" >/dev/null 2>&1; then
    skip "$compiler compiles what is emitted" "there is no $compiler"
    continue
  fi
  for model in "${models[@]}"; do
    architectures="sm_90"
    case $model in *gcn_cora* | *heads* | *norm*) architectures="sm_75 sm_80 sm_90 compute_75" ;; esac
    for architecture in $architectures; do
      check "$compiler compiles $(basename "$model" .gnn) for $architecture" compiles $compiler $architecture "$model"
    done
  done
done

if [ -e "$build/share/libgnncuda.a" ]; then
  check "a program for a GPU" "$build/gnncc" -q --backend=cuda "$root/examples/gcn_karate.gnn" -o "$work/program"
  check "its sources build with their own Makefile" bash -c "'$build/gnncc' -q --backend=cuda --arch=sm_90 -S '$root/examples/gcn_karate.gnn' -o '$work/src' && make -C '$work/src' CFLAGS=-O1"
fi
no_toolkit() { CUDA_HOME=$work/nowhere PATH=/bin "$build/gnncc" "$@"; }
refuse 5 "without the toolkit: E0507" no_toolkit --backend=cuda "$root/examples/gcn_karate.gnn" -o "$work/none"
check "its sources are written all the same" no_toolkit -q --backend=cuda -S "$root/examples/gcn_karate.gnn" -o "$work/sources_only"
finish
