#!/bin/bash
# dependencies.sh BUILD: who needs whom, told by the symbols of the object files. In compiler/ no two files need each other, by whatever way
# round; the language and the runtime need no compiler, the planner none of its passes. TAP on stdout.
set -u
build=$(cd "$1" && pwd)
. "$(dirname "$0")/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work" "$tap_log"' EXIT
cd "$build" || exit 1
find lang compiler runtime -name '*.o' ! -path 'runtime/cuda/*' ! -path 'runtime/tools/*' | sort >"$work/objects"
xargs nm -A -g --defined-only <"$work/objects" | awk '{ sub(/:.*/, "", $1); print $NF, $1 }' | sort >"$work/defined"
xargs nm -A -u <"$work/objects" | awk '{ sub(/:.*/, "", $1); print $NF, $1 }' | sort >"$work/wanted"
join "$work/wanted" "$work/defined" | awk '$2 != $3 { print $2, $3 }' | sort -u >"$work/needs" # USER DEFINER

none() { ! grep -E "$1" "$work/needs" | grep -vE "${2:-^$}"; } # PATTERN [BUT]
acyclic() { grep -E '^compiler/.* compiler/' "$work/needs" | tsort >/dev/null; }
check "there are files to look at" test "$(wc -l <"$work/needs")" -gt 300
check "no circle in compiler/" acyclic
check "the language needs no compiler" none '^lang/.* compiler/'
check "the runtime needs neither" none '^runtime/.* (compiler|lang)/'
check "the planner needs no pass" none '^compiler/planner/.* compiler/[a-z_]+\.o' ' compiler/(outfile|shown)\.o$'
finish
