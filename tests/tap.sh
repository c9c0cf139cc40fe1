# tap.sh: TAP from shell scripts. Source it, then: check NAME COMMAND..., refuse STATUS NAME COMMAND..., skip NAME REASON,
# workplace for a folder to work in, and finish at the end. What a failed command printed is shown as a comment. TAP_TIMES=FILE: there, the processor seconds that each took.
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
tap_time() { # NAME
  times >"$tap_log.total" # not in a pipe, where another shell would count its own
  awk -v name="$1" -v last="${tap_seconds:-0}" 'function seconds(text, part) { split(text, part, /[ms]/); return 60 * part[1] + part[2] }
    { sum += seconds($1) + seconds($2) } END { printf "%.2f %s\n%.2f\n", sum - last, name, sum }' "$tap_log.total" >"$tap_log.times"
  head -1 "$tap_log.times" >>"$TAP_TIMES"
  tap_seconds=$(tail -1 "$tap_log.times")
  rm -f "$tap_log.times" "$tap_log.total"
}

tap_line() { # STATUS NAME
  [ -z "${TAP_TIMES:-}" ] || tap_time "$2"
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
