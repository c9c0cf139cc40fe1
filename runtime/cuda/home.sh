#!/bin/sh
# home.sh: where the CUDA toolkit is, for the Makefile and the tests, in four lines: its home, its headers, its libraries, its nvcc (empty: there is
# none). gnncc finds it by the same rules (compiler/driver/cuda_compiler.c, docs/cuda.md); tests/cuda/home.sh holds the two against each other.
targets=x86_64-linux
[ "$(uname -m)" != aarch64 ] || targets=sbsa-linux

folder_with() { # HOME FILE FOLDER...
  with=$1 file=$2
  shift 2
  for folder; do
    if [ -r "$with/$folder/$file" ]; then echo "$with/$folder"; return 0; fi
  done
  return 1
}
libraries_of() { folder_with "$1" libcudart_static.a lib64 "lib/$(uname -m)-linux-gnu" lib "targets/$targets/lib"; }
headers_of() { folder_with "$1" cuda_runtime_api.h include "targets/$targets/include"; }
above() { (cd "$(dirname "$1")/.." 2>/dev/null && pwd -P); } # FILE: the folder above the one that it is in

in_path() {
  rest=$PATH:
  while [ -n "$rest" ]; do
    if [ -n "${rest%%:*}" ] && [ -x "${rest%%:*}/nvcc" ]; then echo "${rest%%:*}/nvcc"; return 0; fi
    rest=${rest#*:}
  done
  return 1
}
home_by_path() {
  nvcc=$(in_path) && resolved=$(readlink -f "$nvcc") || return 1
  real=$(above "$resolved") apparent=$(above "$nvcc")
  if ! libraries_of "$real" >/dev/null && libraries_of "$apparent" >/dev/null; then echo "$apparent"; else echo "$real"; fi
}
if [ -n "$CUDA_HOME" ]; then home=$CUDA_HOME
elif [ -n "$CUDA_PATH" ]; then home=$CUDA_PATH
elif [ -x /usr/local/cuda ]; then home=/usr/local/cuda
else home=$(home_by_path) || home=/usr/local/cuda # where it would be
fi
echo "$home"
headers_of "$home" || echo "$home/include"
libraries_of "$home" || echo "$home/lib64"
if [ -x "$home/bin/nvcc" ]; then echo "$home/bin/nvcc"; else in_path || echo; fi
