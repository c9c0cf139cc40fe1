#!/bin/bash
# dependencies.sh BUILD: who needs whom, told by the symbols of the object files. In compiler/ no two files need each other, by whatever way
# round; a room needs only rooms that come before it; no two files share a name. TAP on stdout.
set -u
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
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
below() { # ROOM...: a room of these needs none that comes after it
  local room later=
  for room in $(printf '%s\n' "$@" | tac); do
    [ -z "$later" ] || none "^$room/[^/]*\.o ($later)/" || return
    later=${later:+$later|}$room
  done
}
one_name() { ! find "$root"/compiler "$root"/runtime "$root"/kernels -name '*.[ch]' -o -name '*.cu*' | sed 's|.*/||' | sort | uniq -d | grep .; }
check "the rooms of the compiler stand one upon the other" below compiler/base compiler/graph compiler/lowering compiler/planner compiler/plan compiler/emit \
  compiler/explain compiler/driver compiler/target
check "the planner needs no pass" none '^compiler/planner/.* compiler/' ' compiler/(base|planner)/'
check "the rooms of the runtime stand one upon the other" below runtime/base runtime/core runtime/data runtime/job runtime/app
check "no two files share a name" one_name
# What programs embed: without the readers and without the program around it.
core_alone() {
  local unknown
  unknown=$(find runtime/core runtime/base -name '*.o' | xargs nm -u | awk '{ print $NF }' | sort -u | grep '^gnn_' | comm -23 - <(awk '$2 ~ /^runtime\/(core|base)\// { print $1 }' "$work/defined" | sort -u))
  [ -z "$unknown" ] || { echo "$unknown"; return 1; }
}
check "the core of the runtime is whole without data, job and program" core_alone

# The script that adds the suites up, in a build directory that shares all but its logs.
ln -s "$build"/* "$work"
rm -f "$work/check"
adds_up() { # STATUS OF: what the script returns where the suite is there, or is not
  (cd "$root" && tests/run.sh "${work#"$root"/}" "$2") >"$work/printed" 2>&1
  [ $? -eq "$1" ] || { cat "$work/printed"; return 1; }
}
check "a run whose tests pass ends with 0" adds_up 0 reference
check "a run without a suite that was asked for ends with 1" adds_up 1 none
finish
