#!/bin/bash
# coverage.sh BUILD: what share of the lines of compiler/ and runtime/ ran since BUILD was made with --coverage, a folder a line, and the
# files that are covered least. `make coverage` builds it and runs suites in it.
set -u
cd "$(dirname "$0")/.." || exit 2
find "$1/compiler" "$1/runtime" -name '*.gcno' | sort | xargs gcov -n 2>/dev/null | awk '
  /^File / { file = $2; gsub(/\x27/, "", file); wanted = file ~ /^(compiler|runtime)\/.*\.c$/ }
  /^Lines executed:/ && wanted {
    split($0, part, /[:%]| of /)
    folder = file; sub(/\/[^\/]*$/, "", folder)
    lines[folder] += part[4]; ran[folder] += part[2] * part[4] / 100; all += part[4]; all_ran += part[2] * part[4] / 100
    list[file] = sprintf("%5.1f %% of %4d   %s", part[2], part[4], file); missed[file] = part[4] * (1 - part[2] / 100); wanted = 0
  }
  END {
    for (folder in lines) printf "1 %-20s %5.1f %% of %6d lines\n", folder, 100 * ran[folder] / lines[folder], lines[folder]
    if (all) printf "2 %-20s %5.1f %% of %6d lines\n3 \n3 most lines that did not run:\n", "compiler and runtime", 100 * all_ran / all, all
    for (file in list) printf "4 %06d %s, %d lines not\n", 999999 - missed[file], list[file], missed[file] + 0.5
    exit !all
  }' | sort -s -k1,2 | awk '/^4/ { if (++files > 20) next; sub(/^4 [0-9]* /, "  "); print; next } { print substr($0, 3) } END { exit !NR }'
