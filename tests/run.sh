#!/bin/bash
# run.sh BUILD [SUITE...|long]: runs the test suites (long: those of `make check-long`), which all speak TAP, as many at a time as there are processors, and adds them up.
# What they run is built by `make tests`, and for passes and the watched ones by `make watched` too.
# Logs go to BUILD/check/SUITE.log. The last line is "N passed, N failed, N skipped"; the status is 0 if nothing failed and
# something passed.
set -u
cd "$(dirname "$0")/.."
build=$1
shift
mkdir -p "$build/check"
. tests/suites.sh
export XDG_CACHE_HOME=$PWD/$build/check/cache # no calibration of this machine: the model's times
export LC_ALL=C.UTF-8 # programs speak ASCII elsewhere

run_suite() { # SUITE: prints its line and what failed; the numbers are left in $sums
  local suite=$1 log=$build/check/$1.log start=$SECONDS status ok skip bad
  suite_$suite >"$log" 2>&1
  status=$?
  ok=$(grep -c '^ok ' "$log")
  skip=$(grep -ci '^ok .*# *skip' "$log")
  bad=$(grep -c '^not ok ' "$log")
  # A suite that dies, or runs nothing, has failed even if no test says so.
  if [ $bad -eq 0 ] && { [ $status -ne 0 ] || [ $ok -eq 0 ]; }; then
    bad=1
    echo "not ok - $suite ended with status $status after $ok tests" >>"$log"
  fi
  echo $((ok - skip)) $bad $skip >"$sums/$suite"
  times >"$clocks/$suite" # not in a pipe, where another shell would count its own
  printf '%-22s %5d passed %3d failed %3d skipped  %4d s, %4d s of processors\n' "$suite" $((ok - skip)) $bad $skip $((SECONDS - start)) \
    "$(tail -1 "$clocks/$suite" | awk '{ for (i = 1; i < 3; i++) { split($i, part, /[ms]/); s += 60 * part[1] + part[2] } print int(s) }')"
  [ $bad -eq 0 ] || { grep -A12 '^not ok ' "$log" | head -60; tail -5 "$log"; }
}

[ $# -gt 0 ] || set -- $suites
[ "$1" != long ] || set -- $long_suites
sums=$(mktemp -d)
clocks=$(mktemp -d)
trap 'rm -rf "$sums" "$clocks"' EXIT
trap 'trap - TERM; kill 0' INT TERM # suites in the background do not hear Ctrl-C by themselves
for suite in "$@"; do
  [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
  run_suite "$suite" &
done
wait
read -r suites_run passed failed skipped < <(cat "$sums"/* | awk '{ p += $1; f += $2; s += $3 } END { print NR, p + 0, f + 0, s + 0 }')
echo "$suites_run suites took $((SECONDS / 60)) min $((SECONDS % 60)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$suites_run" -eq $# ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
