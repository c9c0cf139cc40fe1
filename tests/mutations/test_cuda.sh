#!/bin/bash
# test_cuda.sh BUILD: tests/cuda/test_cuda.c of the suite cuda_runtime, without the sanitizers, for which BUILD would have to be built once more.
set -eu
cd "$(dirname "$0")/../.."
build=$1 out=$1/check/test_cuda
{ read -r _; read -r headers; } < <(runtime/cuda/home.sh)
mkdir -p "$out"
c++ -O1 -ffp-contract=off -w -c tests/cuda/plain.cc -o "$out/plain.o"
cc -std=c11 -O1 -DGNN_URING -w -I. -Iruntime -isystem "$headers" tests/cuda/test_cuda.c tests/cuda/standin.c tests/cuda/toy_cuda.c runtime/cuda/*.c "$out/plain.o" "$build/share/libgnnrt.a" \
  -rdynamic -lz -luring -lm -lpthread -ldl -lstdc++ -o "$out/test_cuda"
"$out/test_cuda"
