#!/bin/bash
# plans_fuzz.sh BUILD [ROUNDS [SEED]]: random models, budgets, tiers, policies and efforts through the planner and every
# verifier, without the C compiler. A compilation must end with a plan or with E0501; the budget that E0501 names must be
# larger than the one that failed, and must work. A few rounds are in plans.sh, many in `make fuzz`; prints one line for
# each fault.
set -u
here=$(cd "$(dirname "$0")" && pwd)
gnncc=$(cd "$1" && pwd)/gnncc rounds=${2:-200}
RANDOM=${3:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work
models=("$here"/models/*.gnn "$here"/models/varied/*.gnn "$here"/models/plans/{sage4,gcn8,gin3,attend2,residual6}.gnn)
policies=(recompute offload checkpoint roc flexgnn torch-budget dtr capuchin)
box=--target=$here/models/plans/box.gnn
declare -A keep
faults=0
fault() { echo "$*" && faults=$((faults + 1)); }
try() { timeout 120 "$gnncc" -w --verify "$@" --stop-after=layout >"$work/said" 2>&1; }
for ((round = 0; round < rounds; round++)); do
  model=${models[RANDOM % ${#models[@]}]}
  [ -n "${keep[$model]:-}" ] || keep[$model]=$("$gnncc" -w --plan=json "$model" | awk -F'[:,]' '/"peak_bytes"/ { print int(($2 + 1023) / 1024); exit }')
  all=${keep[$model]}
  case $((RANDOM % 5)) in
    0) options=() ;;
    1) options=(--budget ssd=64MiB) ;;
    2) options=("$box" --budget ssd=0) ;;
    3) options=("$box" --budget host=$((all / (2 + RANDOM % 8)))KiB) ;;
    4) options=(--budget host=$((all / 3 + 1))KiB --budget ssd=$((all / 2))KiB) ;;
  esac
  case $((RANDOM % 4)) in
    0) options+=(--plan-effort=fast) ;;
    1) options+=(--policy="${policies[RANDOM % ${#policies[@]}]}") ;;
  esac
  [ $((RANDOM % 4)) -ne 0 ] || options+=(-O0)
  budget=$((all * (20 + RANDOM % 90) / 100))
  try "${options[@]}" --budget device=${budget}KiB "$model"
  status=$?
  what="${options[*]} --budget device=${budget}KiB $model"
  [ $status -eq 0 ] && continue
  [ $status -eq 3 ] || { fault "status $status: $what: $(head -1 "$work/said")" && continue; }
  least=$(sed -n 's/.*--budget [a-z]*=\([0-9]*\)KiB is the smallest.*/\1/p' "$work/said")
  if [ -z "$least" ]; then fault "no smallest budget: $what"
  elif [ "$least" -le "$budget" ]; then fault "the smallest budget, $least KiB, is not above the one that failed: $what"
  else try "${options[@]}" --budget device="$least"KiB "$model" || fault "the smallest budget, $least KiB, does not work: $what: $(head -1 "$work/said")"
  fi
done
echo "$rounds rounds, $faults faults"
[ $faults -eq 0 ]
