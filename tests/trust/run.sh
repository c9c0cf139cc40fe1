#!/bin/bash
# run.sh BUILD [long]: what docs/trust.md promises, one script a subject beside this one, each TAP on its own.
set -u
cd "$(dirname "$0")/../.." || exit 2
status=0
for script in tests/trust/*.sh; do
  [ "$script" = tests/trust/run.sh ] || "$script" "$@" || status=1
done
exit $status
