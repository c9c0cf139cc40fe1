#!/bin/bash
# program.sh BUILD PROGRAM MODEL [GNNCC_OPTION...]: the program that gnncc makes of the model for CUDA, with the emulation for
# its kernels and the stand-in for the toolkit. Its intermediate files are in PROGRAM.work.
set -eu
build=$(realpath "$1") program=$(realpath -m "$2") model=$(realpath "$3")
shift 3
here=$(realpath "$(dirname "$0")")
{ read -r cuda; read -r cuda_headers; read -r cuda_libraries; read -r nvcc; } < <("$here/../../runtime/cuda/home.sh")
mkdir -p "$program.work" && cd "$program.work"
"$build/gnncc" -q -w --prefix=model --backend=cuda --emit=c=model.c,header=model.h,cuda=model_kernels.cu,plan=model.plan.json "$@" "$model"
{ printf '"'; sed 's/["\\?]/\\&/g; s/$/\\n\\/' model.plan.json; echo '"'; } >model_plan.inc
echo 0 >model_kernels.inc
flags="-O1 -g1 -Wall -Wextra -ffp-contract=off -I$build/share -I."
cc -std=gnu11 $flags -O0 -c -o model.o model.c
echo '#define GNN_NO_KERNELS
#include "gnnrt.h"
extern const gnn_program model_program;
int main(int argc, char **argv) { return gnn_main(argc, argv, &model_program); }' >main.c
cc -std=gnu11 $flags -c -o main.o main.c
# -Og: with -O1 the compiler takes two seconds more, and the kernels as long.
c++ -std=c++17 -march=native $flags -Og -Wno-unused-function -Wno-unused-parameter -Wno-unknown-pragmas -Wno-clobbered -DGNN_LONG_ROW=16 -I"$here" -DKERNELS='"model_kernels.cu"' \
  -c -o emulated.o "$here/emulated.cc"
[ -e "$build/check/standin.o" ] && [ "$build/check/standin.o" -nt "$here/standin.c" ] && [ "$build/check/standin.o" -nt "$here/standin.h" ] || { # others may want it, too
  mkdir -p "$build/check" && cc -std=gnu11 -O2 -g -I"$here/../.." -I"$here/../../runtime" -isystem "$cuda_headers" -c -o standin.o "$here/standin.c" && mv standin.o "$build/check/standin.o"
}
"$here/link.sh" "$build" "$program" main.o model.o emulated.o
