#!/bin/sh
# amalgamate.sh KNOWN... -- FILE...: the files as one text on stdout, every local include replaced by what it names.
# A file with an include guard comes once, and not at all if it is among KNOWN (or included by one of them).
set -eu
known=
while [ "$1" != -- ]; do known="$known $1"; shift; done
shift
exec awk -v known="$known" '
function folder(path) { return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/)) : "" }
function normal(path) {
  while (match(path, /[^\/.][^\/]*\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
  return path
}
function exists(path,    line, is_there) { is_there = (getline line < path) >= 0; close(path); return is_there }
function put(path, silent,    line, name, is_guarded) {
  path = normal(path)
  if (path in done) return
  is_guarded = 0
  while ((getline line < path) > 0) {
    if (line ~ /^#ifndef [A-Z_]+_H$/) is_guarded = 1
    if (is_guarded) done[path] = 1
    if (line ~ /^#include "/) {
      name = line
      sub(/^#include "/, "", name)
      sub(/".*$/, "", name)
      put(exists(normal(folder(path) name)) ? folder(path) name : name, silent)
    } else if (!silent) {
      print line
    }
  }
  close(path)
}
BEGIN {
  count = split(known, list, " ")
  for (i = 1; i <= count; i++) put(list[i], 1)
  for (i = 1; i < ARGC; i++) {
    if (i > 1) print ""
    put(ARGV[i], 0)
  }
}' "$@"
