#!/bin/bash
# Tests of the language, as TAP. Usage: tests/lang/run.sh LANGTEST     (BLESS=1 rewrites the expected outputs)
#
#   wrong/NAME.gnn + NAME.expected   messages and exit status; NAME.args holds options
#   right/NAME.gnn + NAME.ast        the syntax tree; + NAME.typed where the program can be checked
#   layout/NAME.gnn + NAME.expected  the program in canonical layout
# LANGTEST is tests/lang/langtest.c linked with lang/; a sanitizer build makes the fuzz part worth most.
set -u
export LC_ALL=C
langtest=$(realpath "${1:?usage: run.sh LANGTEST}")
cd "$(dirname "$0")/../.." || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
count=0
failed=0

result() { # STATUS NAME
  count=$((count + 1))
  if [ "$1" = 0 ]; then
    echo "ok $count - $2"
  else
    echo "not ok $count - $2"
    failed=$((failed + 1))
  fi
}

# compare EXPECTED NAME: the output is in $scratch/out
compare() {
  if [ "${BLESS:-}" = 1 ]; then
    cp "$scratch/out" "$1"
    result 0 "$2"
  elif [ ! -f "$1" ]; then
    result 1 "$2: there is no $1"
  elif diff -u "$1" "$scratch/out" >"$scratch/diff"; then
    result 0 "$2"
  else
    result 1 "$2"
    sed 's/^/# /' "$scratch/diff"
  fi
}

arguments() { # BASE: options of a program, one line
  if [ -f "$1.args" ]; then cat "$1.args"; fi
}

for program in tests/lang/wrong/*.gnn; do
  base=${program%.gnn}
  # shellcheck disable=SC2046
  "$langtest" $(arguments "$base") "$program" >"$scratch/out" 2>&1 || echo "status $?" >>"$scratch/out"
  compare "$base.expected" "wrong: $(basename "$base")"
done

for program in tests/lang/right/*.gnn; do
  base=${program%.gnn}
  "$langtest" --ast "$program" >"$scratch/out" 2>&1 || echo "status $?" >>"$scratch/out"
  compare "$base.ast" "tree: $(basename "$base")"
  # shellcheck disable=SC2046
  "$langtest" --typed $(arguments "$base") "$program" >"$scratch/out" 2>&1 || echo "status $?" >>"$scratch/out"
  compare "$base.typed" "types: $(basename "$base")"
  cp "$scratch/out" "$scratch/first"
  # shellcheck disable=SC2046
  "$langtest" --typed $(arguments "$base") "$program" >"$scratch/out" 2>&1
  cmp -s "$scratch/first" "$scratch/out"
  result $? "twice the same: $(basename "$base")"
  if grep -q '^exit 0$' "$scratch/first"; then # unrolled it is the same program; warnings speak of other lines
    # shellcheck disable=SC2046
    "$langtest" -w --expanded --typed $(arguments "$base") "$program" >"$scratch/out" 2>&1
    # shellcheck disable=SC2046
    "$langtest" -w --typed $(arguments "$base") "$program" 2>&1 | diff - "$scratch/out" >"$scratch/diff"
    status=$?
    [ $status = 0 ] || sed 's/^/# /' "$scratch/diff"
    result $status "expanded: $(basename "$base")"
  fi
done

# ---- layout ----
for program in tests/lang/layout/*.gnn; do
  base=${program%.gnn}
  "$langtest" --formatted "$program" >"$scratch/out" 2>&1 || echo "status $?" >>"$scratch/out"
  compare "$base.expected" "layout: $(basename "$base")"
done
programs=(tests/lang/right/*.gnn tests/lang/layout/{everything,line_ends}.gnn lang/{std,targets}/*.gnn examples/*.gnn tests/*/models/*.gnn tests/*/models/*/*.gnn)
"$langtest" --format "${programs[@]}" >"$scratch/out" 2>&1
status=$?
[ $status = 0 ] || sed 's/^/# /' "$scratch/out"
result $status "layout: ${#programs[@]} programs stay the same, with their comments, and laid out twice are the same text"
# What users read first is in canonical layout.
status=0
for program in examples/*.gnn lang/{std,targets}/*.gnn; do "$langtest" --formatted "$program" | cmp -s - "$program" || { status=1; echo "# gnncc --format=write $program"; }; done
result $status "layout: the examples, standard layers and targets are canonical"

for kind in layers functions losses metrics optimizers schedules sources targets policies; do
  "$langtest" --list "$kind" >"$scratch/out" 2>&1
  compare "tests/lang/list.$kind" "list: $kind"
done

"$langtest" --pages >"$scratch/out" 2>&1
status=$?
[ $status = 0 ] || sed 's/^/# /' "$scratch/out"
result $status "the programs of all diagnostic pages"

"$langtest" --aliases >"$scratch/out" 2>&1
status=$?
[ $status = 0 ] || sed 's/^/# /' "$scratch/out"
result $status "names of other libraries stand for what there is: $(tail -1 "$scratch/out")"

"$langtest" --explain E0301 >"$scratch/out" 2>&1
compare tests/lang/explain.E0301 "explain: E0301"

# Every code that a message carries has a page.
missing=0
for code in $(grep -ohE '"[EWR]0[0-9]{3}"' lang/*.c lang/*.l lang/*.y compiler/*/*.c runtime/*/*.c | tr -d '"' | sort -u); do
  "$langtest" --explain "$code" >/dev/null 2>&1 || { echo "# no page for $code"; missing=1; }
  grep -q "^| $code |" docs/diagnostics.md || { echo "# $code is not in docs/diagnostics.md"; missing=1; }
done
result $missing "every code has a page"

# Colour: only when asked for, or forced by the environment and not forbidden by it.
colored() { # EXPECTED NAME: does the output of the rest hold an escape?
  local expected=$1 name=$2
  shift 2
  env -u NO_COLOR -u CLICOLOR_FORCE "$@" tests/lang/wrong/20_layer.gnn >"$scratch/out" 2>&1
  grep -q $'\033' "$scratch/out"
  [ $? = "$expected" ]
  result $? "colour: $name"
}
colored 1 "not in a file" "$langtest" --color=auto
colored 0 "always" "$langtest" --color=always
colored 0 "forced" CLICOLOR_FORCE=1 "$langtest" --color=auto
colored 1 "forced by 0" CLICOLOR_FORCE=0 "$langtest" --color=auto
colored 1 "NO_COLOR wins" NO_COLOR=1 CLICOLOR_FORCE=1 "$langtest" --color=auto
colored 1 "never" CLICOLOR_FORCE=1 "$langtest" --color=never

# Forms that are checked as a whole by another program.
if command -v python3 >/dev/null; then
  python3 -B tests/lang/forms.py "$langtest" tests/lang/wrong/*.gnn >"$scratch/out" 2>&1
  status=$?
  [ $status = 0 ] || tail -5 "$scratch/out" | sed 's/^/# /'
  result $status "json and sarif: $(tail -1 "$scratch/out")"
else
  count=$((count + 1))
  echo "ok $count - json and sarif # SKIP no python3"
fi

# Truncations and mutations of everything: no crash, no sanitizer report, no endless expansion.
timeout "${FUZZ_TIMEOUT:-300}" "$langtest" --fuzz "${FUZZ_SEED:-1}" "${FUZZ_COUNT:-40}" tests/lang/right/*.gnn tests/lang/wrong/*.gnn lang/std/*.gnn >"$scratch/out" 2>&1
status=$?
[ $status = 0 ] || tail -30 "$scratch/out" | sed 's/^/# /'
result $status "truncated and mutated programs"

# Nesting and size.
deep() { # OPEN CLOSE: a model that returns x inside many brackets
  echo 'data d from karate()'
  echo 'model m on d {'
  printf '  return '
  for _ in $(seq 20000); do printf '%s' "$1"; done
  printf x
  for _ in $(seq 20000); do printf '%s' "$2"; done
  printf '\n}\n'
}
check_error() { # NAME: the program in $scratch/big.gnn gives an error and nothing worse
  timeout 60 "$langtest" "$scratch/big.gnn" >"$scratch/out" 2>&1 && grep -q '^exit 1$' "$scratch/out"
  status=$?
  [ $status = 0 ] || tail -5 "$scratch/out" | cut -c1-200 | sed 's/^/# /'
  result $status "$1"
}
deep '(' ')' >"$scratch/big.gnn"
check_error "deep brackets"
deep 'relu(' ')' >"$scratch/big.gnn"
check_error "deep calls"
deep '- ' '' >"$scratch/big.gnn"
check_error "many signs"
deep '' ' + x' >"$scratch/big.gnn"
check_error "a long sum"
deep '' ' |> relu' >"$scratch/big.gnn"
check_error "a long pipe"
deep '[' ']' >"$scratch/big.gnn"
check_error "deep lists"
{
  echo 'data d from karate()'
  echo 'model m on d {'
  for _ in $(seq 20000); do echo 'if true {'; done
  echo 'return x'
  for _ in $(seq 20000); do echo '}'; done
  echo '}'
} >"$scratch/big.gnn"
check_error "deep blocks"
{
  echo 'data d from karate()'
  echo 'model m on d {'
  for i in $(seq 20000); do echo "h$i = nosuch$i"; done
  echo '}'
} >"$scratch/big.gnn"
start=$SECONDS
check_error "as many mistakes as lines"
[ $((SECONDS - start)) -lt 20 ] # a minute and more where each looks for the nearest name
result $? "as many mistakes as lines: those that are not shown cost nothing"
{
  echo 'data d from karate()'
  echo 'layer L0(x) { return relu(x) }'
  for i in $(seq 40); do echo "layer L$i(x) { return L$((i - 1))(L$((i - 1))(x)) }"; done
  echo 'model m on d { return L40(x) }'
} >"$scratch/big.gnn"
check_error "layers that double"

echo "1..$count"
[ $failed = 0 ]
