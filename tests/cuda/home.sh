#!/bin/bash
# home.sh BUILD: where the toolkit is found: by the nvcc in PATH, as NVIDIA, distributions and conda lay it out; the GPU is the stand-in.
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
. "$here/../tap.sh"
work=$build/check/cuda_home
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 2
export TMPDIR=$work XDG_CACHE_HOME=$work/cache
if ! [ -e "$build/share/libgnncuda.a" ] || ! "$here/toolkit.sh" "$work/toolkit" >toolkit.log 2>&1; then
  skip "where the toolkit is found" "no CUDA toolkit"
  finish
  exit
fi
check "what hides /usr/local/cuda" cc -shared -fPIC -Wall -Wextra -o "$work/no_local_cuda.so" "$here/no_local_cuda.c"
triple=$(uname -m)-linux targets=x86_64-linux
[ "$(uname -m)" != aarch64 ] || targets=sbsa-linux

layout() { # HOME LIBRARIES HEADERS: with nvcc in bin
  mkdir -p "$1/bin" "$1/$2" "$1/$(dirname "$3")"
  cp "$work/toolkit/bin/nvcc" "$1/bin/nvcc"
  ln -s "$work"/toolkit/lib64/*.a "$1/$2"
  ln -s "$work/toolkit/include" "$1/$3"
}
layout nvidia/cuda-1 lib64 include
layout usr "lib/$triple-gnu" include
layout flat lib include
layout conda "targets/$targets/lib" "targets/$targets/include"
layout apart/usr "lib/$triple-gnu" include
mkdir -p apart/usr/lib/cuda/bin links empty/bin
mv apart/usr/bin/nvcc apart/usr/lib/cuda/bin && ln -s ../lib/cuda/bin/nvcc apart/usr/bin/nvcc
ln -s ../nvidia/cuda-1/bin/nvcc links/nvcc
cp toolkit/bin/nvcc empty/bin

hidden() { # FOLDER COMMAND...: with nvcc there and nothing else to go by
  env -u CUDA_HOME -u CUDA_PATH LD_PRELOAD="$work/no_local_cuda.so" PATH="$work/$1:/usr/bin:/bin" LDFLAGS=-rdynamic CFLAGS=-O0 "${@:2}"
}
model=$here/../../examples/gcn_karate.gnn
commands() { "$@" "$build/gnncc" -q -w --backend=cuda --cuda-compiler=nvcc '-###' "$model" -o "$work/program" 2>&1; }
has() { grep -F -- "$1" said || { cat said; false; }; }
finds() { # FOLDER NVCC LIBRARIES: nvcc in FOLDER leads to these
  commands hidden "$1" >said
  has "$work/$2 -O3" && has " -L$work/$3 " && has " -Wl,-rpath,$work/$3 "
}
check "a link to nvcc leads to its toolkit" finds links nvidia/cuda-1/bin/nvcc nvidia/cuda-1/lib64
check "a distribution's: libraries in lib/$triple-gnu" finds usr/bin usr/bin/nvcc "usr/lib/$triple-gnu"
check "libraries in lib" finds flat/bin flat/bin/nvcc flat/lib
check "conda's: in targets" finds conda/bin conda/bin/nvcc "conda/targets/$targets/lib"
check "nvcc links to where no libraries are: those beside the link" finds apart/usr/bin apart/usr/bin/nvcc "apart/usr/lib/$triple-gnu"
said_home() {
  commands env CUDA_HOME="$work/usr" PATH="$work/links:/usr/bin:/bin" >said
  has "$work/usr/bin/nvcc -O3" && has " -L$work/usr/lib/$triple-gnu "
}
check "CUDA_HOME comes first, and its libraries may lie there, too" said_home
path_comes_last() { commands env -u CUDA_HOME -u CUDA_PATH PATH="$work/links:/usr/bin:/bin" >said && has " -L/usr/local/cuda/"; }
if ls /usr/local/cuda/*/libcudart_static.a >/dev/null 2>&1; then check "/usr/local/cuda comes before PATH" path_comes_last; fi
trains() {
  hidden usr/bin "$build/gnncc" -q -w --backend=cuda --cuda-compiler=nvcc "$model" -o program && ./program -q --runs 1 --epochs 2 --out program.out
}
check "with a distribution's toolkit a program is made, and trains" trains
missing() { # FOLDER TEXT
  hidden "$1" "$build/gnncc" -q -w --backend=cuda --cuda-compiler=nvcc "$model" -o none >said 2>&1
  [ $? -eq 5 ] && has "error[E0507]: a program for cuda needs the CUDA toolkit, and $2" && [ ! -e none ]
}
check "nvcc alone is no toolkit" missing empty/bin "libcudart_static.a is not here"
old_toolkit() { # VERSION TEXT: of a toolkit whose headers say so
  rm -rf old && layout old lib64 include && rm old/include && mkdir old/include && ln -s "$(realpath toolkit/include)"/* old/include/ && rm old/include/cuda_runtime_api.h &&
    sed "s/^#define CUDART_VERSION .*/#define CUDART_VERSION  $1/" "$(realpath toolkit/include)/cuda_runtime_api.h" >old/include/cuda_runtime_api.h || return
  hidden old/bin "$build/gnncc" -q -w --backend=cuda --cuda-compiler=nvcc "$model" -o none >said 2>&1
  [ $? -eq 5 ] && has "error[E0507]: a program for cuda needs the CUDA toolkit, and that of $work/old/include is CUDA $2: 12.0 or newer is needed" && [ ! -e none ]
}
check "a toolkit of CUDA 11.8 is too old, and that is said" old_toolkit 11080 11.8
too_old_to_measure() { hidden old/bin "$build/gnncc" --calibrate=probe --backend=cuda --cuda-compiler=nvcc >said 2>&1; [ $? -eq 5 ] && has "is CUDA 11.8: 12.0 or newer is needed"; }
check "to measure with, too" too_old_to_measure
oldest() { old_toolkit 12000 12.0 >/dev/null; ! grep 'or newer is needed' said; }
check "one of CUDA 12.0 is not" oldest
probe() { # FOLDER HEADERS: what measures the GPU is compiled with these
  hidden "$1" "$build/gnncc" '-###' --calibrate=probe --backend=cuda --cuda-compiler=nvcc >said 2>&1
  has " -I$work/$2 "
}
check "headers in include" probe usr/bin usr/include
check "headers in targets" probe conda/bin "conda/targets/$targets/include"
finish
