#!/bin/bash
# check.sh BUILD: the runtime's tests under the sanitizers, and gnndata and the hand-made program as a user runs them. TAP on stdout.
set -u
build=$1
. tests/each.sh
status=0
# Threads are watched where they work on the same bytes; what needs limits that sanitizers do not bear is there without them.
each "$build"/watched/tests/runtime/test_* "$build"/{threads/,}tests/runtime/test_tiers || status=1
tests/runtime/cli.sh "$build/watched" || status=1
exit $status
