#!/bin/bash
# check.sh BUILD: compiles the runtime, gnndata and the tests of this folder with the sanitizers into BUILD/check/runtime and
# runs them all. TAP on stdout. CC chooses the compiler.
set -u
cd "$(dirname "$0")/../.." || exit 99
out=$1/check/runtime
mkdir -p "$out"
cc=${CC:-cc}
flags="-std=c11 -O1 -g -DGNN_ZLIB -DGNN_URING -Wall -Wextra -Wpedantic -Werror -fsanitize=address,undefined -fno-sanitize-recover=all"
thread_flags=${flags/address,undefined/thread}
libraries="-lz -luring -lm -lpthread"
newest=$(ls -t runtime/*.[ch] runtime/tools/*.[ch] kernels/cpu/*.h tests/runtime/*.[ch] tests/runtime/memory/*.c | head -1)
if [ ! -e "$out/done" ] || [ "$newest" -nt "$out/done" ]; then
  rm -rf "${out:?}"/*
  printf '%s\n' runtime/*.c | xargs -P "$(nproc)" -I{} sh -c "$cc $flags -c {} -o $out/\$(basename {} .c).o" || exit 1
  $cc $flags runtime/tools/*.c "$out"/*.o $libraries -o "$out/gnndata" || exit 1
  $cc $flags tests/runtime/toy_main.c tests/runtime/toy.c tests/runtime/tiered.c "$out"/*.o $libraries -o "$out/toy" || exit 1
  for test in tests/runtime/test_*.c; do
    $cc $flags "$test" "$out"/*.o $libraries -o "$out/$(basename "$test" .c)" || exit 1
  done
  wrap=-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
  $cc $flags $wrap tests/runtime/memory/test_memory.c "$out"/*.o $libraries -o "$out/test_memory" || exit 1
  # Threads are watched where they work on the same bytes.
  mkdir -p "$out/thread"
  printf '%s\n' runtime/*.c | xargs -P "$(nproc)" -I{} sh -c "$cc $thread_flags -c {} -o $out/thread/\$(basename {} .c).o" || exit 1
  $cc $thread_flags tests/runtime/test_tiers.c "$out"/thread/*.o $libraries -o "$out/thread/test_tiers" || exit 1
  touch "$out/done"
fi
status=0
for test in tests/runtime/test_*.c tests/runtime/memory/test_*.c; do
  "$out/$(basename "$test" .c)" || status=1
done
"$out/thread/test_tiers" || status=1
[ ! -x "$1/tests/runtime/test_tiers" ] || "$1/tests/runtime/test_tiers" || status=1 # what needs limits that sanitizers do not bear
tests/runtime/cli.sh "$out" || status=1
exit $status
