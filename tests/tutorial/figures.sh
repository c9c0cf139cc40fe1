#!/bin/bash
# figures.sh: figures in README.md and docs/*.md have an origin. TAP on stdout, a line a page.
#
# A table, or a block without a language, with measured figures (a number with a unit of time, of bytes or of a rate, a percentage, or so many times; `code` aside) needs in its
# section, from one heading to the next, one of
#   tests/....sh, tests/....py, make NAME   the command that makes it
#   2026-11-25, 25 November 2026, November 2026   when it was measured
#   "run by the tests"                      it stands in a block that a test runs, or a test compares it
# and so does a sentence with one, but for a number that a ```console block of the page has, too, and for what somebody has set: a power of two of KiB, MiB or GiB, or what stands in
# a line with "set in `compiler/....c`".
set -u
cd "$(dirname "$0")/../.." || exit 99
count=0 failures=0 seen=0 sentences=0
for page in README.md docs/*.md; do
  count=$((count + 1))
  said=$(awk '
    function has_origin(text) {
      return text ~ /tests\/[A-Za-z_\/]+\.(sh|py)/ || text ~ /make [a-z][-a-z]+/ || text ~ /20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]/ || text ~ /(January|February|March|April|May|June|July|August|September|October|November|December)[ ,]+20[0-9][0-9]/ ||
        text ~ /run by the tests/
    }
    function is_from_source(text) { return text ~ /set in `[A-Za-z_\/]+\.(c|h|sh|py)`/ }
    function is_set(number, unit) {
      if (unit !~ /^[KMGT]iB$/ || number !~ /^[0-9]+$/) return 0
      while (number > 1 && number % 2 == 0) number /= 2
      return number == 1
    }
    function judge_prose(at,   text, figure, number, unit, k, found) {
      text = line[at]
      gsub(/`[^`]*`/, "", text)
      while (match(text, /[0-9][0-9,.]* ?(ns|us|ms|s|min|minutes?|seconds?|hours?|KB|MB|GB|TB|KiB|MiB|GiB|TiB|GB\/s|MB\/s|GFLOP\/s|%|×)([^A-Za-z0-9]|$)/)) {
        figure = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        number = figure; sub(/ ?[a-zA-Z%×].*/, "", number)
        unit = figure; sub(/^[0-9,.]* ?/, "", unit); sub(/[^A-Za-z\/%×].*/, "", unit)
        sentences++
        if (number in shown || is_set(number, unit) || is_from_source(line[at])) continue
        found = 0
        for (k = begin; k <= NR && !found && (k == begin || !level[k]); k++) found = has_origin(line[k])
        if (!found) printf "line %d: %s\n", at, line[at]
      }
    }
    function is_measured(row) {
      gsub(/`[^`]*`/, "", row)
      return row ~ /[0-9] ?(ns|us|ms|s|min|B|KB|MB|GB|KiB|MiB|GiB|TiB|GB\/s|MB\/s|GFLOP\/s|%|×)([^A-Za-z0-9]|$)/ || row ~ /[0-9] ?x *\|/
    }
    function judge(at,   k, found) {
      tables++
      for (k = begin; k <= NR && !found && (k == begin || !level[k]); k++) found = has_origin(line[k])
      if (!found) printf "line %d: %s\n", at, line[opens[at] ? at + 1 : at]
    }
    { line[NR] = $0 }
    /^```/ { fenced = !fenced; opens[NR] = fenced && $0 == "```"; is_run = fenced && /^```console/ }
    is_run { for (k = split($0, words, /[^0-9,.]+/); k > 0; k--) { sub(/[,.]$/, "", words[k]); shown[words[k]] } }
    !fenced && /^#+ / { level[NR] = match($0, /[^#]/) - 1 }
    { in_fence[NR] = fenced || /^```/ }
    END {
      for (i = 1; i <= NR; i++) {
        if (level[i]) begin = i
        if (opens[i]) {
          measured = 0
          for (k = i + 1; line[k] !~ /^```/; k++) measured += is_measured(line[k]) > 0
          if (measured >= 3) judge(i)
        }
        if (!in_fence[i] && !level[i] && line[i] !~ /^(\||    )/) judge_prose(i)
        if (in_fence[i] || line[i] !~ /^\|/ || (i > 1 && line[i - 1] ~ /^\|/)) continue
        measured = 0
        for (k = i; k <= NR && line[k] ~ /^\|/; k++) if (k > i + 1 && is_measured(line[k])) measured++
        if (measured) judge(i)
      }
      printf "%d tables\n%d sentences\n", tables, sentences
    }' "$page")
  seen=$((seen + $(echo "$said" | sed -n 's/^\([0-9]*\) tables$/\1/p')))
  sentences=$((sentences + $(echo "$said" | sed -n 's/^\([0-9]*\) sentences$/\1/p')))
  wrong=$(echo "$said" | grep '^line')
  if [ -z "$wrong" ]; then echo "ok $count - $page: figures have an origin"; else failures=1; echo "not ok $count - $page: figures have an origin"; echo "$wrong" | sed 's/^/# /'; fi
done
count=$((count + 1))
if [ $seen -ge 20 ] && [ $sentences -ge 100 ]; then echo "ok $count - $seen tables and $sentences sentences with figures"; else failures=1; echo "not ok $count - only $seen tables and $sentences sentences with figures"; fi
echo "1..$count"
[ $failures -eq 0 ]
