#!/bin/bash
# programs.sh BUILD [long | FIRST [LAST]]: random programs (tests/programs/generate.c), each under two plans. Both must train to the same
# bits, whatever the threads, also when one goes on where the other stopped, keep to the memory that they announce, and agree with the
# independent reference where it knows the model; some are compiled without the passes that change a graph, some check their gradients, and a third train on ranks, too.
# A dozen programs; 1,000 in the long form; or those of the seeds FIRST to LAST. A difference is kept in BUILD/check/programs/SEED.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=$(cd "$1" && pwd)
case ${2:-short} in
  short) first=1 last=12 ;;
  long) first=1 last=1000 ;;
  *) first=$2 last=${3:-$2} ;;
esac
. tests/tap.sh
. tests/mpi.sh
gnncc=$build/gnncc
kept=$build/check/programs
other_cc=$(command -v clang || command -v cc)
flags="-std=gnu11 -march=native -Wall -Wextra -Werror -ffp-contract=off -fno-math-errno -fno-trapping-math"
export XDG_CACHE_HOME=$build/check/cache # plans as for a computer that nobody measured

# What went wrong is the last line that is said; the status of try is that of the program: 0 agreed, 5 not finite in the same way, 3 no plan, 1 a fault.
fault() { echo "$*" && exit 1; }
numbers() { # FILE.safetensors: what follows the header
  tail -c +$((9 + $(od -An -t u8 -N 8 "$1" | tr -d ' '))) "$1"
}
compile() { # NAME GNNCC_OPTION...: the program ./NAME, of the same status as gnncc
  local name=$1 status
  shift
  if [ $((seed % 16)) -eq 6 ]; then # as a user does
    CFLAGS="-Wall -Wextra -Werror" "$gnncc" -w --verify -fgradcheck "$@" p.gnn -o "$name" >"$name.said" 2>&1
    return
  fi
  "$gnncc" -w --verify -S "$@" p.gnn -o "gen_$name" >"$name.said" 2>&1 || return
  $([ $((seed % 2)) -eq 0 ] && echo cc || echo "$other_cc") $flags -O0 -Igen_$name gen_$name/p.c gen_$name/main.c "$build/share/libgnnrt.a" -o "$name" -l:libz.a -lm -lpthread >"$name.said" 2>&1 || return 70
}
least() { sed -n 's/.*--budget [a-z]*=\([0-9]*\)KiB is the smallest.*/\1/p' "$1.said"; }
make_plan() { # NAME OPTION...: where nothing fits, the smallest device that is named must do, and be larger than what was asked for
  local name=$1 status smallest
  shift
  compile "$name" "$@"
  status=$?
  if [ $status -eq 3 ]; then
    smallest=$(least "$name")
    [ -n "$smallest" ] || { grep -q 'no plan of this policy fits\|no budget of the device' "$name.said" && return 3; cat "$name.said" && fault "no smallest budget is named: $name: $*"; }
    # The plans of other systems' rules may fit a small device and not a larger one: there fewer values are in the way.
    [ "$smallest" -gt "${asked:-0}" ] || [[ " $*" == *--policy=* ]] || fault "the smallest budget, $smallest KiB, is not above the one that failed: $name: $*"
    compile "$name" "$@" --budget device="$smallest"KiB
    status=$?
  fi
  [ $status -eq 0 ] || { head -5 "$name.said" && fault "status $status: $name: $* ${smallest:+--budget device=${smallest}KiB}"; }
}
train() { # NAME OPTION...: into NAME.out; 0, or 5 where a number is not finite
  local name=$1 status
  shift
  rm -rf "$name.out" && "./$name" -q --every 1 --log csv --out "$name.out" "$@" >"$name.ran" 2>&1
  status=$?
  [ $status -eq 0 ] || [ $status -eq 5 ] || { cat "$name.ran" && fault "status $status: ./$name $*"; }
  return $status
}
same() { # NAME OTHER: losses, scores and weights
  local file
  cmp <(cut -d, -f1-6 "$1.out/log.csv") <(cut -d, -f1-6 "$2.out/log.csv") || fault "the losses of $1 and $2 differ"
  (cd "$1.out" && find . -name '*.safetensors' ! -path '*check*' | sort) >tensors
  [ -s tensors ] || fault "$1 leaves no weights"
  while read -r file; do cmp <(numbers "$1.out/$file") <(numbers "$2.out/$file") || fault "$file of $1 and $2 differs"; done <tensors
}
same_scores() { # NAME OTHER
  ./$1 predict -q --out $1.out -o $1.npy >$1.predicted 2>&1 && ./$2 predict -q --out $2.out -o $2.npy >>$1.predicted 2>&1 || { cat $1.predicted && fault "predict"; }
  cmp $1.npy $2.npy || fault "the scores of $1 and $2 differ"
}
goes_on() { # after two epochs of one plan the rest of the other, to what the first alone came to
  rm -rf both.out && ./keep -q --every 1 --log csv --out both.out --epochs 2 $run >both.ran 2>&1 &&
    ./other -q --every 1 --log csv --out both.out --resume $run >both.ran 2>&1 || { cat both.ran && fault "stopped by one plan, resumed by the other"; }
  same keep both
}
is_of_ranks() { [ -n "$mpirun" ] && [ $((seed % ${RANKS_OF:-3})) -eq 0 ]; } # their nodes are more, of several blocks
# On two to five ranks, half of the seeds with less memory; what ranks do not have yet is refused by name, and where one process needs other numbers than ranks (a cut of its own), there is nothing to compare.
on_ranks() {
  local count=$((2 + seed / 3 % 4)) asked=0 budget=
  [ $((seed / 3 % 2)) -eq 0 ] || budget="--budget device=$((peak / 1024 * share / 150))KiB"
  "$gnncc" -q -w --verify --ranks=$count $both $budget p.gnn -o ranks >ranks.said 2>&1
  case $? in
    0) ;;
    1) grep -q 'error.E0110' ranks.said && return 0 || { cat ranks.said && fault "--ranks=$count $both"; } ;;
    3) return 0 ;; # none so small
    *) cat ranks.said && fault "--ranks=$count $both $budget" ;;
  esac
  rm -rf ranks.out && timeout 300 "$mpirun" $oversubscribe -np $count ./ranks -q --threads 1 --every 1 --log csv --out ranks.out $run >ranks.ran 2>&1 || { cat ranks.ran && fault "$count ranks, $budget"; }
  same keep ranks
}
another_graph() { # the losses, nearly, of the graph as it is written
  local asked=0
  make_plan plain $both -O0 -fno-reassociate --plan-effort=fast || return 0 # it needs more than the budgets of the model leave
  train plain $run || fault "-O0 -fno-reassociate: numbers that are not finite"
  paste -d, <(cut -d, -f3 keep.out/log.csv) <(cut -d, -f3 plain.out/log.csv) | awk -F, 'NR > 1 { d = $1 - $2; if (d * d > (NR == 2 ? 1e-8 : 1e-4) * (1 + $1 * $1)) { print "loss " $1 ", as written " $2; bad = 1 } } END { exit bad }' ||
    fault "-O0 -fno-reassociate has other losses"
}
touches_what_it_planned() { # NAME
  "./$1" check $run >"$1.check" 2>&1 || { cat "$1.check" && fault "./$1 check"; }
  # Of several blocks the sums that the last workspace has room for may be fewer.
  awk -v spare=$(is_of_ranks && echo 115000) '
    function bytes(t) { return t * (t ~ /KiB/ ? 1024 : t ~ /MiB/ ? 1024 ^ 2 : t ~ /GiB/ ? 1024 ^ 3 : 1) }
    /: planned .*, (touched|written) / { n++; p = t = $0; sub(/.*: planned /, "", p); sub(/, (touched|written) .*/, "", p); sub(/.*, (touched|written) /, "", t)
         if (p != t && !(bytes(t) <= bytes(p) && bytes(p) - bytes(t) <= spare)) { print; bad = 1 } } END { exit bad || !n }' "$1.check" || fault "$1 takes other memory than planned"
  grep -q '^keep-everything order.*\(this plan is it\|the same to the last bit\)' "$1.check" || { cat "$1.check" && fault "$1 is not the keep-everything order"; }
}
agrees_with_reference() { # the losses of weights that the reference draws
  local reference_run="$build/tests/reference --data data --hidden ${hidden:-1} --seed $seed $reference"
  $reference_run --epochs 0 --out start.safetensors >reference.said 2>&1 || { cat reference.said && fault "$reference_run"; }
  train keep --weights start.safetensors $run
  awk -F, 'NR > 1 { print $2, $3 }' keep.out/log.csv >losses
  local epochs
  epochs=$(wc -l <losses) # fewer than three where a later one comes to numbers that are not finite
  [ "$epochs" -eq 0 ] || $reference_run --weights start.safetensors --epochs "$epochs" --expect losses --tolerance 1e-5 >reference.said 2>&1 ||
    { tail -1 reference.said && fault "$reference_run --weights start.safetensors --epochs $epochs"; }
}
try() { # SEED, in a folder of its own
  local seed=$1 both= other= run= reference= convert= share= hidden= threads= asked= peak status
  mkdir data && "$build/tests/generate_program" "$seed" . $(is_of_ranks && echo 40) && . ./how || fault "generate_program $seed"
  [ -z "$convert" ] || "$build/gnndata" convert data data.safetensors >convert.said 2>&1 || { cat convert.said && fault "gnndata convert"; }
  if grep -q '^  fate' p.gnn && "$gnncc" -w --plan $both p.gnn 2>&1 | grep -q 'error.E050[56]'; then sed -i '/^  fate /d' p.gnn; fi # a pin of nothing, or to a tier that is not there
  make_plan keep $both || return
  peak=$(./keep info --json | grep -o '"device_bytes": *[0-9]*' | tr -dc 0-9)
  asked=$((peak / 1024 * share / 100))
  make_plan other $both $other --budget device=${asked}KiB || return
  train keep --threads 1 $run
  status=$?
  train other --threads "$threads" $run
  [ $? -eq $status ] || fault "one plan trains to numbers that are not finite, the other does not"
  [ $status -eq 0 ] || return $status
  same keep other
  touches_what_it_planned keep
  touches_what_it_planned other
  same_scores keep other
  grep -q '^  \(runs\|stop\) = ' p.gnn || goes_on
  [ $((seed % 4)) -ne 1 ] || another_graph
  ! is_of_ranks || on_ranks
  [ -z "$reference" ] || agrees_with_reference
  [ $((seed % 16)) -ne 6 ] || ./keep gradcheck >keep.gradcheck 2>&1 || { cat keep.gradcheck && fault "./keep gradcheck"; }
}
one() { # SEED: a line "SEED STATUS", and what was said where it is a fault
  local seed=$1 folder status said
  folder=$(mktemp -d)
  said=$(cd "$folder" && TMPDIR=$folder && export TMPDIR && try "$seed" 2>&1)
  status=$?
  case $status in
    0 | 3 | 5) rm -rf "$folder" ;;
    *) mkdir -p "$kept" && rm -rf "${kept:?}/$seed" && mv "$folder" "$kept/$seed" && status=1
       printf 'seed %s: %s\n  again: tests/trust/programs.sh BUILD %s; its files: %s\n' "$seed" "$said" "$seed" "$kept/$seed" | sed 's/^/# /' ;;
  esac
  echo "$seed $status"
}
export -f fault numbers compile least make_plan train same same_scores goes_on is_of_ranks on_ranks another_graph touches_what_it_planned agrees_with_reference try one
export build gnncc kept flags other_cc mpirun oversubscribe

results=$(mktemp)
trap 'rm -f "$tap_log" "$results"' EXIT
seq "$first" "$last" | xargs -P "${JOBS:-2}" -I{} bash -c 'one {}' | while read -r said; do
  case $said in '#'*) echo "$said" ;; *) echo "$said" >>"$results" ;; esac
  count=$(wc -l <"$results")
  [ $((count % 100)) -ne 0 ] || [ "$count" -eq 0 ] || echo "# $count of $((last - first + 1))"
done
counted() { grep -c " $1\$" "$results"; }
echo "# $(counted 0) agree, $(counted 5) are not finite in the same way, $(counted 3) have no plan of the policy that was asked for, $(counted 1) faults"
all_tried() { [ "$(wc -l <"$results")" -eq $((last - first + 1)) ]; }
no_faults() { [ "$(counted 1)" -eq 0 ]; }
most_agree() { [ $((10 * $(counted 0))) -ge $((8 * (last - first + 1))) ] || [ "$first" -eq "$last" ]; }
check "random programs $first to $last: all were tried" all_tried
check "random programs: the same bits and the planned memory under another plan, and the reference's losses" no_faults
check "random programs: nearly all can be compared" most_agree
finish
