#!/bin/bash
# check.sh BUILD: the runtime's tests under the sanitizers, and gnndata and the hand-made program as a user runs them. TAP on stdout.
set -u
watched=$1/watched
status=0
for test in "$watched"/tests/runtime/test_*; do
  "$test" || status=1
done
"$1/threads/tests/runtime/test_tiers" || status=1 # threads are watched where they work on the same bytes
"$1/tests/runtime/test_tiers" || status=1         # what needs limits that sanitizers do not bear
tests/runtime/cli.sh "$watched" || status=1
exit $status
