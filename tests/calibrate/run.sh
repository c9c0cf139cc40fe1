#!/bin/bash
# Targets, as TAP: those that are installed, from the figures of others; and gnncc --calibrate, which measures and writes one.
# Usage: tests/calibrate/run.sh BUILD
set -u
targets=$(realpath "$(dirname "$0")/../../lang/targets")
gnncc=$(realpath "${1:?usage: run.sh BUILD}")/gnncc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export XDG_CACHE_HOME=$work/cache TMPDIR=$work
count=0 failed=0

result() { # STATUS NAME
  count=$((count + 1))
  if [ "$1" = 0 ]; then echo "ok $count - $2"; else
    echo "not ok $count - $2"
    failed=$((failed + 1))
    sed 's/^/# /' out 2>/dev/null | tail -20
  fi
}
exits() { # STATUS NAME COMMAND...: the command ends with that status
  local wanted=$1 name=$2
  shift 2
  "$@" >out 2>&1
  [ $? = "$wanted" ]
  result $? "$name"
}

# ---- machines that are not here ----

"$gnncc" --example=sage_products >sage_products.gnn || exit 2
for target in t4 rtx4090 a100_40 a100 a100x4 h100 h200; do
  grep -q '^# Sources\.' "$targets/$target.gnn"
  result $? "$target says where its figures are from"
  exits 0 "a plan for $target from shapes alone" "$gnncc" -w --plan --shapes --target=$target sage_products.gnn
  grep -qE "^plan for sage on products .* target $target .* all figures estimated" out && grep -qE '^  fits +gpu 1[0-9.]+ GiB of' out
  result $? "  which fits, and says so"
  sed -n 's/^  time *\([0-9.]*\) \(m*s\) per epoch.*/\1 \2/p' out | awk '{ print $2 == "s" ? 1000 * $1 : $1 }' >$target.ms
done
cat t4.ms a100_40.ms a100.ms h100.ms h200.ms >out && [ "$(wc -l <out)" = 5 ] && sort -rn out | cmp -s - out
result $? "a faster card has a shorter epoch"
sed 's/count     = 1/count     = 4/; s/target a100 /target four /' "$targets/a100.gnn" >four.gnn
exits 1 "four of them are refused" "$gnncc" --plan --shapes --target=four.gnn sage_products.gnn
grep -q 'error\[E0110\]: several devices (count = 4) are not supported yet' out
result $? "  by name"

# ---- this one ----

cat >model.gnn <<'EOF'
data d {
  nodes = 10_000
  edges = 80_000
  node x : f32[64]
  node y : class[7]
}
model m on d { return x |> GCN(64) as conv1 |> relu |> GCN(y.classes) as conv2 }
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 1 }
EOF

exits 2 "a name of letters is wanted" "$gnncc" --calibrate=a/b
exits 2 "no model is taken" "$gnncc" --calibrate model.gnn
echo "target mine {}" >mine.gnn
exits 4 "a file of the user is not overwritten" "$gnncc" --calibrate=mine
"$gnncc" --dump=cost --stop-after=cost model.gnn >modelled 2>&1
exits 0 "the machine is measured" "$gnncc" --calibrate
# A difference of two times may be lost in the noise of a busy machine: a dash then.
for rate in fp32 "stream 256KiB" gather_64B gather_512B narrow outer element random exp update loss step "cpu -> host" "ssd -> cpu" "cpu -> ssd"; do
  grep -qE "^$rate( [0-9]+.iB)? +[^ ]+ +(-|[0-9.]+[Gnu])" out || { echo "# no $rate"; false; }
  result $? "the table has $rate"
done
exits 0 "and makes the native target" "$gnncc" --dump=cost --stop-after=cost model.gnn
! cmp -s out modelled && grep -q '^native:' out
result $? "whose rates are others"
cp cache/gnncc/native.gnn lab.gnn
exits 0 "its file is a target" "$gnncc" --target=lab.gnn --check model.gnn
sed -i 's/ threads"/ threads more"/' cache/gnncc/native.gnn
"$gnncc" --dump=cost --stop-after=cost model.gnn >out 2>&1
cmp out modelled
result $? "the measurement of another machine is not used"
! find . -name 'gnncc-*' | grep -q .
result $? "nothing is left behind"
echo "1..$count"
[ $failed = 0 ]
