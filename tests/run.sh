#!/bin/bash
# run.sh BUILD [SUITE...]: runs the test suites, which all speak TAP, and adds them up. Logs go to BUILD/check/SUITE.log.
# The last line is "N passed, N failed, N skipped"; the status is 0 if nothing failed and something passed.
set -u
cd "$(dirname "$0")/.."
build=$1
shift
mkdir -p "$build/check"
. tests/suites.sh
export XDG_CACHE_HOME=$PWD/$build/check/cache # no calibration of this machine: the model's times
passed=0 failed=0 skipped=0
[ $# -gt 0 ] || set -- $suites
for suite in "$@"; do
  log=$build/check/$suite.log
  start=$SECONDS
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
  passed=$((passed + ok - skip)) failed=$((failed + bad)) skipped=$((skipped + skip))
  printf '%-22s %5d passed %3d failed %3d skipped  %4d s\n' "$suite" $((ok - skip)) $bad $skip $((SECONDS - start))
  [ $bad -eq 0 ] || { grep -A12 '^not ok ' "$log" | head -60; tail -5 "$log"; }
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
