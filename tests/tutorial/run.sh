#!/bin/bash
# run.sh BUILD [DOCUMENT...]: runs what the documents show and compares what they say comes out. Prints TAP, a line a
# command. Each document runs in an empty directory of its own, with BUILD first on PATH and ../examples beside it, in one
# shell from top to bottom.
#
# Of a document only these fenced blocks are looked at:
#   ```console          lines that begin with "$ " are commands, the lines up to the next command are their output
#                       (stdout and stderr together, as on a terminal)
#   ```console data     the same, skipped where examples/cora.safetensors is missing
#   ```LANGUAGE file=F  its text is written to the file F
#
# DOCUMENT_FLAGS: options for every gnncc, where another plan than that of the document shows the same.
#
# What may differ:
#   ...                 alone on a line: any number of lines; a word: any words; at the end of a word: any ending
#   12 us               a number followed by ns us ms s: any number and any such unit
#   24.9 KiB            a number followed by B KiB MiB GiB KB MB GB: a third more or less (a process does not take the same on all systems); of budgets any, as they may be the machine's memory
#   plan 1a2b3c4d       fingerprints of 8 or 12 hexadecimal digits
#   0.4939              numbers with a decimal point: up to 0.2 (another instruction set rounds differently)
#   runs of blanks, and blanks at the end of a line
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
shift
if [ $# -eq 0 ]; then
  set -- "$root"/README.md "$root"/docs/{tutorial,embedding,formats,coming_from_pyg,gallery,design,precision}.md
fi
export PATH=$build:$PATH LC_ALL=C.UTF-8 GNNCC_FLAGS=${DOCUMENT_FLAGS:-}
unset GNNCC_PATH GNNCC_TARGET CFLAGS LDFLAGS COLUMNS CLICOLOR_FORCE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$root/examples" "$work/examples"
export XDG_CACHE_HOME=$work/cache # a computer that nobody measured
count=0 failures=0

# The blocks of a document as files in $work/blocks: NNN.kind ("run", "data" or "file NAME"), NNN.text.
split_document() {
  rm -rf "$work/blocks" && mkdir "$work/blocks"
  awk -v out="$work/blocks" '
    /^```/ && inside { inside = 0; next }
    /^```/ {
      inside = 1; kind = ""
      if ($0 ~ /^```console[ \t]*$/) kind = "run"
      else if ($0 ~ /^```console[ \t]+data[ \t]*$/) kind = "data"
      else if (match($0, /file=[^ \t]+/)) kind = "file " substr($0, RSTART + 5, RLENGTH - 5)
      if (kind != "") { name = sprintf("%s/%03d", out, ++n); print kind > (name ".kind"); printf "" > (name ".text") }
      next
    }
    inside && kind != "" { print >> (name ".text") }' "$1"
}

# A block of commands as $work/commands/NNN.command and NNN.expected.
split_block() {
  rm -rf "$work/commands" && mkdir "$work/commands"
  awk -v out="$work/commands" '
    /^\$ / { name = sprintf("%s/%03d", out, ++n); print substr($0, 3) > (name ".command"); printf "" > (name ".expected"); more = /\\$/; next }
    more { print > (name ".command"); more = /\\$/; next }
    n { print > (name ".expected") }' "$1"
}

masked() {
  perl -pe 'BEGIN { %unit = (B => 1, KiB => 1 << 10, MiB => 1 << 20, GiB => 1 << 30, TiB => 1 << 40, KB => 1e3, MB => 1e6, GB => 1e9, TB => 1e12) }
    s/[0-9][0-9,.]*(e[-+]?[0-9]+)? ?(ns|us|ms|s)(?![A-Za-z0-9_])/<time>/g;
    s/([0-9][0-9,.]*) ?(B|[KMGT]i?B)(?![A-Za-z0-9_])/my ($n, $u) = ($1, $2); $n =~ tr!,!!d; "<bytes " . int($n * $unit{$u}) . ">"/ge;
    s/(?<=device budget )<bytes [0-9]+>/<machine>/g; s/(?<= of )<bytes [0-9]+>/<budget>/g; s/<bytes /<bytes_/g' "$1" | sed -E \
    -e 's/plan [0-9a-f]{8}/plan <id>/' -e 's/(^|[^0-9a-zA-Z])[0-9a-f]{12}($|[^0-9a-zA-Z])/\1<id>\2/g' \
    -e 's/[ \t]+/ /g' -e 's/ $//'
}

# matches EXPECTED GOT: says where they part.
matches() {
  masked "$1" >"$work/want" && masked "$2" >"$work/got"
  awk '
    function is_real(w) { return w ~ /^[^0-9]*[0-9]+\.[0-9]+[^0-9]*$/ }
    function real(w) { gsub(/[^0-9.]/, "", w); sub(/\.$/, "", w); return w + 0 }
    function frame(w) { gsub(/[0-9]+\.[0-9]+/, "#", w); return w }
    function bytes(w) { return match(w, /<bytes_[0-9]+>/) ? substr(w, RSTART + 7, RLENGTH - 8) + 0 : -1 }
    function same_bytes(a, b,   x, y) {
      x = bytes(a); y = bytes(b)
      sub(/<bytes_[0-9]+>/, "#", a); sub(/<bytes_[0-9]+>/, "#", b)
      return x >= 0 && y >= 0 && a == b && 3 * x <= 4 * y && 3 * y <= 4 * x
    }
    function same_word(a, b,   at, tail) {
      if (a == b || same_bytes(a, b)) return 1
      if ((at = index(a, "..."))) {
        tail = substr(a, at + 3)
        return length(b) >= length(a) - 3 && substr(b, 1, at - 1) == substr(a, 1, at - 1) && \
          substr(b, length(b) - length(tail) + 1) == tail
      }
      if (!is_real(a) || !is_real(b) || frame(a) != frame(b)) return 0
      a = real(a) - real(b)
      return a <= 0.2 && a >= -0.2
    }
    function same_words(a, i, n, b, j, m,   k) {
      for (; i <= n; i++) {
        if (a[i] == "...") {
          for (k = j; k <= m + 1; k++) if (same_words(a, i + 1, n, b, k, m)) return 1
          return 0
        }
        if (j > m || !same_word(a[i], b[j])) return 0
        j++
      }
      return j > m
    }
    function same_line(x, y,   a, b, n, m) {
      if (x == y) return 1
      n = split(x, a, " "); m = split(y, b, " ")
      return same_words(a, 1, n, b, 1, m)
    }
    function same(i, j,   k) {
      for (; i <= wants; i++) {
        if (want[i] == "...") {
          for (k = j; k <= gots + 1; k++) if (same(i + 1, k)) return 1
          return 0
        }
        if (j > gots || !same_line(want[i], got[j])) { if (j >= far) { far = j; near = i }; return 0 }
        j++
      }
      if (j <= gots && j >= far) { far = j; near = i }
      return j > gots
    }
    FNR == NR { want[++wants] = $0; next }
    { got[++gots] = $0 }
    END {
      while (wants && want[wants] == "") wants--
      while (gots && got[gots] == "") gots--
      if (same(1, 1)) exit 0
      print "expected: " (near <= wants ? want[near] : "(nothing)")
      print "got:      " (far <= gots ? got[far] : "(nothing)")
      exit 1
    }' "$work/want" "$work/got"
}

say() { # STATUS NAME
  count=$((count + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $count - $2"
  else
    failures=$((failures + 1))
    echo "not ok $count - $2"
    sed 's/^/# /' "$work/why"
  fi
}

run_document() {
  local name kind block command status=0 title
  name=$(basename "$1" .md)
  split_document "$1"
  mkdir "$work/$name" && cd "$work/$name" || exit 1
  if [ "$name" = README ]; then ln -s "$build" build && ln -s "$root/examples" examples; fi # as it is read: from the root of the tree
  for kind in "$work"/blocks/*.kind; do
    [ -e "$kind" ] || break
    block=${kind%.kind}.text
    case $(cat "$kind") in
      file*) cp "$block" "$(sed 's/^file //' "$kind")" && continue ;;
      data)
        if [ ! -e "$root/examples/cora.safetensors" ]; then
          while read -r title; do
            count=$((count + 1))
            echo "ok $count - $name: $title # SKIP examples/cora.safetensors is missing"
          done < <(sed -n 's/^\$ //p' "$block")
          continue
        fi ;;
    esac
    split_block "$block"
    for command in "$work"/commands/*.command; do
      [ -e "$command" ] || break
      # Sourced, so that cd and variables last; $? is the status of the command before, as in a terminal.
      (exit $status)
      . "$command" >"$work/output" 2>&1 </dev/null
      status=$?
      matches "${command%.command}.expected" "$work/output" >"$work/why"
      local verdict=$?
      [ $verdict -eq 0 ] || sed 's/^/  | /' "$work/output" | head -40 >>"$work/why"
      say $verdict "$name: $(head -1 "$command")"
    done
  done
  cd "$work" || exit 1
}

documents=()
for document in "$@"; do documents+=("$(realpath -e "$document")") || exit 1; done
for document in "${documents[@]}"; do run_document "$document"; done
echo "1..$count"
[ $failures -eq 0 ] && [ $count -gt 0 ]
