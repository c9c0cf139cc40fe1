# tap.sh: TAP from shell scripts. Source it, then: check NAME COMMAND..., refuse STATUS NAME COMMAND..., skip NAME REASON,
# workplace for a folder to work in, and finish at the end. What a failed command printed is shown as a comment. TAP_TIMES=FILE: there, the processor seconds that each took; `sort -rn FILE` has the dearest first.
tap_count=0 tap_failed=0
tap_log=$(mktemp)
trap 'rm -f "$tap_log"' EXIT
# A folder of the suite's own, $work, with a cache of its own: plans are as for a computer that nobody measured.
workplace() {
  work=$(mktemp -d)
  trap 'rm -rf "$work" "$tap_log"' EXIT
  cd "$work" || exit 99
  export XDG_CACHE_HOME=$work/cache
}
tap_time() { # NAME; of a process of its own beside others, too
  [ -n "${TAP_TIMES:-}" ] || return 0
  local file=${tap_log:-$1}.total
  times >"$file" # not in a pipe, where another shell would count its own
  tap_seconds=$(awk -v name="$1" -v last="${tap_seconds:-0}" -v file="$TAP_TIMES" 'function seconds(text, part) { split(text, part, /[ms]/); return 60 * part[1] + part[2] }
    { sum += seconds($1) + seconds($2) } END { printf "%.2f %s\n", sum - last, name >>file; print sum }' "$file")
  rm -f "$file"
}

tap_line() { # STATUS NAME
  tap_time "$2"
  tap_count=$((tap_count + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $tap_count - $2"
  else
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $2"
    sed 's/^/# /' "$tap_log" | head -30
  fi
}
check() { # NAME COMMAND...
  local name=$1
  shift
  "$@" >"$tap_log" 2>&1 </dev/null
  tap_line $? "$name"
}
refuse() { # STATUS NAME COMMAND...: the command must end with that status
  local wanted=$1 name=$2 status
  shift 2
  "$@" >"$tap_log" 2>&1 </dev/null
  status=$?
  echo "status $status, expected $wanted" >>"$tap_log"
  [ $status -eq "$wanted" ]
  tap_line $? "$name"
}
skip() { # NAME REASON
  tap_skipped=$((${tap_skipped:-0} + 1))
  tap_count=$((tap_count + 1))
  echo "ok $tap_count - $1 # SKIP $2"
}
finish() {
  echo "1..$tap_count"
  [ $tap_failed -eq 0 ]
}
