#!/bin/bash
# citations.sh: every clause, section and document that a source or a document cites is there.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
lines=$(mktemp)
trap 'rm -f "$tap_log" "$lines"' EXIT

# A line a file: comments that go on in another line are joined.
mapfile -t files < <(find README.md Makefile compiler docs examples kernels lang runtime tests -type f -size +0 \
  \( -name Makefile -o -name '*.[chly]' -o -name '*.md' -o -name '*.sh' -o -name '*.py' -o -name '*.js' -o -name '*.gnn' -o -name '*.cu*' \) | sort)
awk 'FNR == 1 && NR > 1 { print "" } { sub(/^ *(\*|#|\/)+ */, ""); printf "%s ", $0 }' "${files[@]}" >"$lines"
cited() { # PATTERN: what matches it, with the file
  grep -naoE "$1" "$lines" | sort -u | while IFS=: read -r n what; do echo "${files[n - 1]}: $what"; done
}
none() { # the lines read are faults
  local faults
  faults=$(cat)
  echo "$faults"
  [ -z "$faults" ]
}
clauses=$(grep -ohE '^(\*\*|#+ )[A-Z][0-9]+ ' docs/planner.md docs/design.md | grep -oE '[A-Z][0-9]+')
letters=S$(cut -c1 <<<"$clauses" | sort -u | tr -d '\n')

all_stand() { for k in $(seq 1 20); do grep -q "^\*\*S$k " docs/planner.md || echo "S$k"; done | none; }
clauses() { cited "\b[$letters][0-9]{1,2}\b" | while read -r file clause; do grep -qx "$clause" <<<"$clauses" || echo "$file $clause"; done | none; }
sections() {
  cited 'sections? ("[^"]+"|[0-9][0-9.]*)' | while read -r file word title; do grep -qxE "#+ ${title//\"/}" docs/*.md || echo "$file $word $title"; done | none
}
documents() { cited '\bdocs/[a-z_-]+\.[a-z]+' | while read -r file path; do [ -e "$path" ] || echo "$file $path"; done | none; }

check "the clauses S1 to S20 stand in docs/planner.md" all_stand
check "every clause that is cited stands in docs/planner.md or docs/design.md" clauses
check "every section that is cited is there" sections
check "every document that is cited is there" documents
finish
