#!/bin/bash
# demo.sh BUILD: what `make demo` runs. Installs or names what is missing, builds, compiles the first example, trains it,
# and ends with its accuracy and where to look next. Ends with the status of the first thing that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
tests/deps.sh build
echo "building gnncc and gnndata in $build/"
"${MAKE:-make}" -s all
mkdir -p "$build/demo"

show() { # COMMAND...: print it and run it
  echo "\$ $*"
  "$@"
}
echo
show "$build/gnncc" examples/gcn_karate.gnn -o "$build/demo/gcn"
show "$build/demo/gcn" | tee "$build/demo/output.txt"
test=$(sed -n 's/^\(best\|last\) epoch .*test \([0-9.]*\).*/\2/p' "$build/demo/output.txt" | tail -1)
[ -n "$test" ]
cat <<END

The two-layer GCN in examples/gcn_karate.gnn was compiled and trained: test accuracy $test.
Where to look next:
  docs/tutorial.md                                the first ten minutes, from here to your own data
  $build/demo/gcn --help                          what the program you just made can do
  $build/gnncc --plan examples/gcn_karate.gnn     its memory, value by value
  $build/gnncc -S examples/gcn_karate.gnn -o gen  the C it was compiled from
END
