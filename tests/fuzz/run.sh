#!/bin/bash
# run.sh TARGETS SECONDS [NAME...]: the targets of fuzzing in the folder TARGETS, built with driver.c: each reads its corpus, then mutated inputs for so many
# seconds, always the same ones. Under the sanitizers; no input takes 10 seconds. TAP on stdout.
set -u
here=$(cd "$(dirname "$0")" && pwd)
targets=$(cd "$1" && pwd) seconds=$2
cd "$here/../.." || exit 2
. tests/tap.sh
kept=$targets/../../../check/fuzz
mkdir -p "$kept"
names=("${@:3}")
[ ${#names[@]} -gt 0 ] || for source in "$here"/*.c; do names+=("$(basename "$source" .c)"); done
survives() { # NAME
  local words=""
  [ ! -e "$here/$1.dict" ] || words=$here/$1.dict
  rm -f crash-input
  local more=()
  [ "$1" != language ] || more=(tests/lang/{right,wrong,layout}/*.gnn lang/std/*.gnn examples/*.gnn)
  ASAN_OPTIONS=abort_on_error=1 UBSAN_OPTIONS=abort_on_error=1:halt_on_error=1:print_stacktrace=1 "$targets/$1" "$seconds" "$words" "$here/corpus/$1" "${more[@]}" && return
  [ ! -e crash-input ] || mv crash-input "$kept/$1.crash"
  echo "the input, if it was kept, is $kept/$1.crash"
  return 1
}
for name in "${names[@]}"; do
  case $name in driver | files | sums) continue ;; esac
  check "fuzzing, $name: its corpus and mutations of it" survives "$name"
done
finish
