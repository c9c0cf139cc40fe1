#!/bin/bash
# runtime.sh BUILD: the CUDA runtime without a GPU: on the stand-in under the sanitizers, as a user runs a program, and linked with
# the real toolkit, whose driver is missing. TAP on stdout. Needs the toolkit's headers; nvcc for the last part.
set -u
cd "$(dirname "$0")/../.." || exit 99
. tests/each.sh
{ read -r cuda; read -r cuda_headers; read -r cuda_libraries; read -r nvcc; } < <("./runtime/cuda/home.sh")
[ -e "$cuda_headers/cuda_runtime_api.h" ] || { echo "ok 1 - CUDA runtime # SKIP no CUDA toolkit in $cuda"; exit 0; }
build=$(realpath "$1")
out=$build/check/cuda
cc=${CC:-cc}
includes="-I. -Iruntime -isystem $cuda_headers"
flags="-std=c11 -O1 -g -DGNN_URING -Wall -Wextra -Wpedantic -Werror"
libraries="-rdynamic -lz -luring -lm -lpthread -ldl -lstdc++"
watched="-fsanitize=address,undefined -fno-sanitize-recover=all"

# The runtime itself is the one of `make watched`; the stand-in and the toy are compiled here.
objects() { # FOLDER SANITIZER
  mkdir -p "$out/$1"
  printf '%s\n' runtime/cuda/*.c tests/cuda/standin.c tests/cuda/toy_cuda.c |
    xargs -P "$(nproc)" -I{} sh -c "$cc $flags $2 $includes -c {} -o $out/$1/\$(echo {} | tr / _).o" || return 1
  ${CXX:-c++} -O1 -g -ffp-contract=off -Wall -Wextra $2 -c tests/cuda/plain.cc -o "$out/$1/plain.o"
}
program() { # FOLDER SANITIZER SOURCE NAME
  $cc $flags $2 $includes "tests/cuda/$3" "$out/$1"/*.o "$build/$1/share/libgnnrt.a" $libraries -o "$out/$4"
}
newest=$(ls -t "$build"/{watched,threads}/share/libgnnrt.a runtime/*.h runtime/cuda/*.[ch] kernels/cpu/*.h kernels/cuda/view.h tests/cuda/* | head -1)
if [ ! -e "$out/done" ] || [ "$newest" -nt "$out/done" ]; then
  rm -rf "$out"
  objects watched "$watched" && program watched "$watched" test_cuda.c test_cuda && program watched "$watched" toy_main.c toy || exit 1
  objects threads -fsanitize=thread && program threads -fsanitize=thread test_cuda.c test_cuda_thread || exit 1
  $cc $flags -fPIC -shared tests/cuda/nvml.c -o "$out/libnvidia-ml.so.1" || exit 1
  touch "$out/done"
fi
status=0
each "$out/test_cuda" "$out/test_cuda_thread" || status=1

# ---- as a user runs it ----

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
ok() { # STATUS NAME
  n=$((n + 1))
  if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; sed 's/^/# /' "$work/out" "$work/err" | head -20; status=1; fi
}
exits() { # CODE NAME COMMAND...
  local want=$1 name=$2
  shift 2
  (cd "$work" && "$@") >"$work/out" 2>"$work/err"
  [ $? -eq "$want" ]
  ok $? "$name: exit $want"
}
says() { grep -qF -- "$1" "$work/out" "$work/err"; ok $? "  says: $1"; }
lacks() { ! grep -qF -- "$1" "$work/out" "$work/err"; ok $? "  does not say: $1"; }
toy=$out/toy
fault() { env STANDIN_FAULT="$1" STANDIN_AFTER="${AFTER:-0}" "${@:2}"; }

exits 0 "train" "$toy" %host
says "on stand-in (device 0, sm_90), CUDA graph"
exits 0 "the run that is left" grep -q '"device": "cuda"' toy.out/run.json
cp "$work/toy.out/best.safetensors" "$work/best"
for way in "%plain" "%ring" "%host --no-graph" "%ring --serial-lanes"; do
  exits 0 "train $way" "$toy" $way --out other
  exits 0 "  the same weights" cmp best other/best.safetensors
done
exits 0 "GNN_CUDA_GRAPH=0" env GNN_CUDA_GRAPH=0 "$toy" %host
says "no CUDA graph"
exits 0 "eval" "$toy" %host eval
exits 0 "predict" "$toy" %host predict -o scores.npy
exits 0 "predict --layer" "$toy" %ring predict --layer projected -o layer.csv
exits 0 "check" "$toy" %host check
says "device arena: planned 14.9 KiB, touched 14.9 KiB"
exits 0 "bench" "$toy" %host bench --epochs 5
exits 0 "profile" "$toy" %ring profile --epochs 2
exits 0 "profile of a graph" "$toy" %host profile --epochs 2 -o graph.json
exits 0 "profile step by step" "$toy" %host profile --no-graph --epochs 2 -o steps.json
measured() { sed -n 's/.*{"step": \([0-9]*\), "start_s": .*/\1/p' "$1"; }
[ -n "$(measured "$work/graph.json")" ] && [ "$(measured "$work/graph.json")" = "$(measured "$work/steps.json")" ]
ok $? "  the same steps"
exits 0 "profile where no graph can be captured" fault 6 "$toy" %host profile --epochs 2 -o graph.json
says "no CUDA graph, steps are launched one by one: operation not permitted when stream is capturing"
exits 0 "gradcheck, on the processor" "$toy" %host gradcheck
exits 0 "resume" "$toy" %ring --resume --epochs 70 -q
exits 2 "no such number" "$toy" --device x
exits 2 "several devices" "$toy" --device 0,1
says "--device 0,1: this program is for one GPU, as --device 0; gnncc --ranks=2 makes one for several, of which each process takes one"
exits 3 "no such device" "$toy" --device 2
says "there is no CUDA device 2; there is 0: stand-in"
exits 3 "no driver" fault 1 "$toy"
says "there is no CUDA driver here; the program was compiled for CUDA"
exits 3 "old driver" fault 2 "$toy"
says "the driver here is for CUDA 11.4; the program needs one for CUDA"
exits 3 "no device" fault 3 "$toy"
says "there is no CUDA device here"
exits 3 "no memory" fault 4 "$toy"
says "has 3.0 KiB of 16.0 GiB free, the plan needs"
lacks "in use by"
exits 3 "no memory, and NVML knows why" env LD_LIBRARY_PATH="$out" STANDIN_FAULT=4 "$toy"
says "; in use by pid "
says "(toy) 21.0 GiB"
exits 3 "no pinned memory" fault 5 "$toy" %host
says "the machine would not pin"
exits 0 "no capture" fault 6 "$toy" %host --out other
says "no CUDA graph, steps are launched one by one: operation not permitted when stream is capturing"
exits 0 "  the same weights" cmp best other/best.safetensors
exits 0 "no graph" fault 7 "$toy" %host --out other
says "no CUDA graph, steps are launched one by one: out of memory"
exits 0 "  the same weights" cmp best other/best.safetensors
exits 1 "a launch is refused" fault 8 "$toy" %host
says "error: step 1, line 1 of toy.gnn (all of training): launching toy_mask_state: cudaErrorLaunchOutOfResources: too many resources requested for launch"
AFTER=5 exits 1 "a kernel is wrong" fault 9 "$toy" %plain
says "a kernel failed on stand-in (device 0, sm_90): cudaErrorIllegalAddress"
says "it is of step 1, line 1 of toy.gnn (all of training), or of a step before that in this epoch"
says "cudaErrorIllegalAddress: an illegal memory access was encountered"
says "--serial-lanes waits for every step, and says at which it happens"
AFTER=15 exits 1 "a kernel is wrong while steps are captured" fault 9 "$toy" %plain
says "cudaErrorIllegalAddress"
AFTER=40 exits 1 "a kernel is wrong, step by step" fault 9 "$toy" %plain --serial-lanes
says "of toy.gnn (all of "
exits 3 "kernels for another device" fault 11 "$toy"
says "they were compiled for sm_90; compile again for this device: gnncc --arch=sm_90"
exits 3 "PTX of a newer toolkit" fault 12 "$toy"
says "the driver here is for CUDA"
says "translates no PTX of CUDA"
says "compile again for this device, gnncc --arch=sm_90, or install a newer driver"

# ---- built without a toolkit ----

exits 0 "make without a toolkit" make -C "$PWD" --no-print-directory B="$build" CUDA_HOME=/nowhere all
says "without programs for GPUs: there is no /nowhere/include/cuda_runtime_api.h (CUDA_HOME)"
without=$work/without # what was built, but for the parts for CUDA
mkdir -p "$without" && cp -a "$build"/{lang,compiler,runtime,share,gnncc,gnndata} "$without" && rm -f "$without"/share/*cuda*
exits 0 "a build that never saw one" make -C "$PWD" --no-print-directory B="$without" CUDA_HOME=/nowhere all
exits 0 "  writes the sources of a program for a GPU" env CUDA_HOME=/nowhere PATH=/bin:/usr/bin "$without/gnncc" -q --backend=cuda -S "$PWD/examples/gcn_karate.gnn" -o sources
for file in gnncuda.h gnncuda.c gnndevice.cuh gnnrt.h gnnrt.c; do
  exits 0 "  with $file" cmp "$build/share/$file" "sources/$file"
done
exits 5 "  and no program" env CUDA_HOME=/nowhere PATH=/bin:/usr/bin "$without/gnncc" --backend=cuda "$PWD/examples/gcn_karate.gnn" -o program
says "-S writes sources to build elsewhere"
exits 2 "make cuda without one" make -C "$PWD" --no-print-directory B="$build" CUDA_HOME=/nowhere cuda
says "make cuda: there is no /nowhere/include/cuda_runtime_api.h; install the CUDA toolkit, or name it: make cuda CUDA_HOME=DIRECTORY"
mkdir -p "$work/half/include" && touch "$work/half/include/cuda_runtime_api.h" "$work/half/include/cusparse.h"
exits 2 "make cuda with half of one" make -C "$PWD" --no-print-directory B="$build" CUDA_HOME="$work/half" cuda
says "there is no $work/half/include/cublasLt.h"

# ---- with the real toolkit ----

if [ -x "$nvcc" ]; then
  for architecture in sm_75 sm_80 sm_90; do
    exits 0 "nvcc, $architecture" "$nvcc" -arch=$architecture -fmad=false -cubin -o "$work/toy.cubin" "$PWD/tests/cuda/toy_kernels.cu"
    [ -s "$work/err" ] && { false; ok 1 "  no warnings"; }
  done
  { echo "static const unsigned char toy_image[] = {"; od -An -v -tu1 "$work/toy.cubin" | sed 's/  */,/g; s/^,//; s/$/,/'; echo "};"; } >"$work/image.h"
  exits 0 "linked with cudart, cuBLASLt, cuSPARSE" env -C "$PWD" $cc $flags $includes -DTOY_IMAGE="\"$work/image.h\"" tests/cuda/toy_main.c tests/cuda/toy_cuda.c \
    "$build"/share/libgnn{cuda,rt}.a -L"$cuda_libraries" -Wl,-rpath,"$cuda_libraries" -lcudart_static -lcublasLt -lcusparse -lz -luring -lm -lpthread -ldl -lrt -o "$out/toy_real"
  if [ -e /dev/nvidiactl ]; then
    exits 0 "on the GPU" "$out/toy_real" %host
  else
    exits 3 "no driver here" "$out/toy_real" %host
    says "there is no CUDA driver here; the program was compiled for CUDA"
  fi
else
  n=$((n + 1))
  echo "ok $n - nvcc # SKIP no nvcc in $cuda/bin"
fi
exit $status
