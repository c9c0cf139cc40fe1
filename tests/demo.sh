#!/bin/bash
# demo.sh BUILD: what `make demo` ends with. Compiles the first example, trains it, and says how accurate it is and where
# to look next. Called by hand it first installs or names what is missing, and builds.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
if [ ! -x "$build/gnncc" ]; then
  tests/deps.sh
  "${MAKE:-make}" -s B="$build" all
fi
mkdir -p "$build/demo"

show() { # COMMAND...: print it and run it
  echo "\$ $*"
  "$@"
}
show "$build/gnncc" examples/gcn_karate.gnn -o "$build/demo/gcn"
show "$build/demo/gcn" --progress lines | tee "$build/demo/output.txt"
test=$(sed -n 's/^\(best\|last\) epoch .*test \([0-9.]*\).*/\2/p' "$build/demo/output.txt" | tail -1)
[ -n "$test" ]
echo
echo "The two-layer GCN in examples/gcn_karate.gnn was compiled and trained: test accuracy $test."
echo "Where to look next:"
next() { printf '  %-50s %s\n' "$1" "$2"; }
next docs/tutorial.md "the first ten minutes, from here to your own data"
next "$build/demo/gcn --help" "what the program you just made can do"
next "$build/gnncc --plan examples/gcn_karate.gnn" "its memory, value by value"
next "$build/gnncc -S examples/gcn_karate.gnn -o gen" "the C it was compiled from"
