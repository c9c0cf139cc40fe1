#!/bin/bash
# steps.sh BUILD MODEL WORK [OPTION...]: builds and runs the comparison of steps.c for a model, compiled with these options for
# CUDA, in the directory WORK. CHECKS: how often each step is compared. TWICE=1: numbers may be rounded twice. LEVEL=-O1: the emulation
# compiled so, which takes twice as long, and is what warnings about the flow of values need. PLAIN=1: optimised and without sanitizers, in half the
# time, for forms of a model whose usual form runs under them. ON_GPU=1: its kernels on a GPU, compiled by the nvcc of CUDA_HOME.
set -eu
build=$(realpath "$1") model=$(realpath "$2") work=$3 checks=${CHECKS:-1} options=("${@:4}")
here=$(realpath "$(dirname "$0")")
mkdir -p "$work" && cd "$work"
{ read -r cuda; read -r cuda_headers; read -r cuda_libraries; read -r nvcc; } < <("$here/../../runtime/cuda/home.sh")
[ -z "${ON_GPU:-}${PLAIN:-}" ] || EMULATE_FLAGS=
[ -z "${PLAIN:-}" ] || LEVEL=-Og
# Null pointers stop a program without a check of each access, which is half of the time that the sanitizers cost the compiler.
sanitize=${EMULATE_FLAGS--fsanitize=address,undefined -fno-sanitize=null,object-size,vptr,pointer-overflow -fno-sanitize-recover=all}

# On the processor sums over the edges of a row are stages of one kernel; a GPU has a kernel for each.
"$build/gnncc" -q -w -fno-stages --prefix=host "$model" --emit=c=host.c,header=host.h
"$build/gnncc" -q -w --prefix=device --backend=cuda "${options[@]}" "$model" --emit=c=device.c,header=device.h,cuda=device_kernels.cu
"$build/gnncc" -q -w -fno-stages --stop-after=layout --dump=layout "$model" >host.layout
"$build/gnncc" -q -w --stop-after=layout --dump=layout --backend=cuda "${options[@]}" "$model" >device.layout
echo 0 >device_kernels.inc

# Blocks that both have, with what they hold: what no kernel takes for numbers is compared byte by byte.
awk 'function number(line, key,    part) { match(line, key); return substr(line, RSTART + length(key)) + 0 }
  FILENAME == "host.c" {
    line = $0
    while (match(line, /V_(BITS|LABELS)\([a-z0-9A-Z_]*\)/)) {
      word = substr(line, RSTART, RLENGTH); split(word, part, /[()]/)
      kind[part[2]] = part[1] == "V_BITS" ? "BITS" : "OTHERS"
      line = substr(line, RSTART + RLENGTH)
    }
    next
  }
  FILENAME == "device.c" {
    if (match($0, /, rows of [0-9]+ numbers in [0-9]+/)) { split(substr($0, RSTART), part, " "); width[substr($2, 4)] = part[4]; stride[substr($2, 4)] = part[7] + 0 }
    next
  }
  /steps/ {
    name = $NF; split($0, half, "steps"); split(half[1], size, "+"); split(half[2], life, /[- ]+/)
    if (FILENAME ~ /^device/) { at[name] = size[1] + 0; bytes[name] = size[2] + 0; next }
    if (!(name in at) || name ~ /^scratch_/) next
    numbers = (name in stride) ? bytes[name] / stride[name] * width[name] : bytes[name] # bytes of them
    is_half = 2 * numbers == size[2] + 0
    if (numbers != size[2] + 0 && !is_half) next
    what = is_half ? "HALVES" : (name in kind) ? kind[name] : ($0 ~ / graph / || name ~ /_(ptr|idx|bounds)$/) && name !~ /degree/ ? "OTHERS" : "REALS"
    printf "{\"%s\", %s, %d, %d, %d, %d, %d, %d, %d},\n", name, what, size[1], at[name], size[2], life[2], life[3], width[name], stride[name]
  }' host.c device.c device.layout host.layout >blocks.inc
# The calls of the plan, each as a function: the line after its gnn_enter.
awk '/^  gnn_enter\(g, / { match($0, /[0-9]+/); n = substr($0, RSTART, RLENGTH); getline; printf "static void run_%d(gnn_run *g) {%s }\n", n, $0 }' device.c >runs.inc
awk '{ match($3, /[0-9]+/); printf "[%d] = run_%d,\n", substr($3, RSTART), substr($3, RSTART) }' runs.inc >steps.inc

flags="-O1 -g1 -Wall -Wextra -Wno-unused-function -Wno-unused-parameter -Wno-unknown-pragmas -ffp-contract=off -I$build/share -I$here/../.. -I$here/../../runtime/cuda -I$here/../../kernels/cuda -I."
cc -std=gnu11 $flags -include "$here/watched_steps.h" -O0 -march=native -c -o host.o host.c
cc -std=gnu11 $flags "${LEVEL:--O0}" $sanitize ${ON_GPU:+-DON_GPU} -DTWICE="${TWICE:-0}" -DMODEL=host_program $(! grep -q "^static void measure(" device.c || echo -DHAS_RESULTS) -DCHECKS="$checks" -c -o steps.o "$here/steps.c"
if [ -n "${ON_GPU:-}" ]; then
  "$nvcc" -O3 -arch="${ARCH:-native}" --std=c++17 --fmad=false -DGNN_LONG_ROW=16 -cubin -I"$build/share" -o device_kernels.image device_kernels.cu
  cc -std=gnu11 $flags -I"$cuda_headers" -c -o launch.o "$here/../gpu/launch.c"
  cc -o steps host.o steps.o launch.o "$build/share/libgnnrt.a" -L"$cuda_libraries" -lcudart_static -l:libz.a -ldl -lrt -lm -lpthread ${LDFLAGS:-}
  exec ./steps train --epochs "$checks" --runs 1
fi
# fmaf is an instruction of this machine, or a function that most of the time is spent in.
c++ -std=c++17 -march=native $flags "${LEVEL:--O0}" $sanitize -Wno-clobbered -DGNN_LONG_ROW=16 -DKERNELS='"device_kernels.cu"' -c -o emulated.o "$here/emulated.cc"
c++ $sanitize -rdynamic -o steps host.o steps.o emulated.o "$build/share/libgnnrt.a" -l:libz.a -ldl -lm -lpthread
ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 ./steps train --epochs "$checks" --runs 1
