#!/bin/bash
# long.sh BUILD SECONDS [NAME...]: each target of fuzzing for so long, as many at a time as there are processors: by libFuzzer where clang has it, which adds what it
# finds to BUILD/fuzz/corpus, else by driver.c. What a reader did not survive is left in BUILD/fuzz/NAME.*.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) seconds=$2
cd "$here/../.." || exit 2
names=("${@:3}")
[ ${#names[@]} -gt 0 ] || for source in "$here"/*.c; do case $(basename "$source" .c) in driver | files | sums) ;; *) names+=("$(basename "$source" .c)") ;; esac; done
mkdir -p "$build/fuzz"
has_libfuzzer() { echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d[n] * 0; }' >"$build/fuzz/try.c" && clang -fsanitize=fuzzer,address -o "$build/fuzz/try" "$build/fuzz/try.c" >/dev/null 2>&1; }
by_libfuzzer() { # NAME
  local words=()
  mkdir -p "$build/fuzz/corpus/$1"
  [ "$1" != language ] || cp tests/lang/{right,wrong,layout}/*.gnn lang/std/*.gnn "$build/fuzz/corpus/$1/"
  [ ! -e "$here/$1.dict" ] || words=(-dict="$here/$1.dict")
  "$build/fuzzers/tests/fuzz/$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2500 -max_len=8192 -artifact_prefix="$build/fuzz/$1." -print_final_stats=1 "${words[@]}" \
    "$build/fuzz/corpus/$1" "$here/corpus/$1"
}
by_driver() { tests/fuzz/run.sh "$build/watched/tests/fuzz" "$seconds" "$1"; }
way=by_driver
if has_libfuzzer && make -s B="$build" fuzzers >"$build/fuzz/build.log" 2>&1; then way=by_libfuzzer; fi
echo "fuzzing ${#names[@]} readers, $seconds s each, $way"
status=0
for name in "${names[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || status=1; done
  { $way "$name" >"$build/fuzz/$name.log" 2>&1 && echo "ok - $name: $(grep -E 'number_of_executed|mutated' "$build/fuzz/$name.log" | tail -1)" ||
    { echo "not ok - $name: $build/fuzz/$name.log"; tail -3 "$build/fuzz/$name.log"; false; }; } &
done
while [ -n "$(jobs -rp)" ]; do wait -n || status=1; done
exit $status
