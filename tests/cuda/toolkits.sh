#!/bin/bash
# toolkits.sh BUILD: whether the CUDA runtime and the measuring program compile without a warning against the headers of older toolkits, which
# are in packages for Python; skipped where these cannot be fetched. TAP on stdout.
set -u
build=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work" "$tap_log"' EXIT

fetch() { # VERSION PACKAGE=VERSION...: the headers into work/VERSION
  local to=$work/$1
  shift
  python3 -m pip download -q --no-deps --disable-pip-version-check -d "$to.wheels" "$@" >"$to.said" 2>&1 || return
  for wheel in "$to.wheels"/*.whl; do python3 -m zipfile -e "$wheel" "$to.all" || return; done
  mkdir -p "$to" && cp -r "$to".all/nvidia/*/include/. "$to/"
}
compiles() { # VERSION
  local source
  for source in runtime/cuda/*.c; do
    cc -O1 -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -Iruntime -isystem "$work/$1" -c -o "$work/object.o" "$source" || return
  done
  cc -O1 -D_GNU_SOURCE -Wall -Wextra -Werror -isystem "$work/$1" -c -o "$work/object.o" "$build/share/measure_cuda.c"
}
while read -r version packages; do
  if fetch "$version" $packages; then check "headers of CUDA $version" compiles "$version"
  else skip "headers of CUDA $version" "$(tail -1 "$work/$version.said")"; fi
done <<'END'
12.0 nvidia-cuda-runtime-cu12==12.0.146 nvidia-cublas-cu12==12.0.2.224 nvidia-cusparse-cu12==12.0.1.140
12.4 nvidia-cuda-runtime-cu12==12.4.127 nvidia-cublas-cu12==12.4.5.8 nvidia-cusparse-cu12==12.3.1.170
12.6 nvidia-cuda-runtime-cu12==12.6.77 nvidia-cublas-cu12==12.6.4.1 nvidia-cusparse-cu12==12.5.4.2
END
finish
