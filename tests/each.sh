# each.sh: each PROGRAM...: runs test programs of $build one after the other. One that is missing, dies, or that a sanitizer complains of
# has failed by name; what it wrote to stderr follows.
each() {
  local status=0 program errors maker
  errors=$(mktemp)
  for program in "$@"; do
    case $program in
    "$build"/watched/* | "$build"/threads/*) maker="make watched" ;;
    *) maker="make tests" ;;
    esac
    [ -x "$program" ] || { echo "not ok - $program is missing: \"$maker\" builds it"; status=1; continue; }
    "$program" 2>"$errors" || { echo "not ok - ${program#"$build/"} ended with status $?"; status=1; }
    sed 's/^/# /' "$errors"
  done
  rm -f "$errors"
  return $status
}
