#!/bin/bash
# Targets, as TAP: those that are installed, from the figures of others; and gnncc --calibrate, which measures and writes one.
# Usage: tests/calibrate/run.sh BUILD
set -u
targets=$(realpath "$(dirname "$0")/../../lang/targets")
tests=$(realpath "$(dirname "$0")/..")
gnncc=$(realpath "${1:?usage: run.sh BUILD}")/gnncc share=$(realpath "$1")/share
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
for target in t4 rtx4090 a5000 a100_40 a100 a100x4 h100 h200; do
  grep -q '^# Sources\.' "$targets/$target.gnn"
  result $? "$target says where its figures are from"
  exits 0 "a plan for $target from shapes alone" "$gnncc" -w --plan --shapes --target=$target sage_products.gnn
  [ $target = a100x4 ] && fits='[67]\.[0-9]+' || fits='1[0-9.]+' # of one of four ranks, of all
  grep -qE "^plan for sage on products .* target $target .* all figures estimated" out && grep -qE "^  fits +gpu $fits GiB of" out
  result $? "  which fits, and says so"
  sed -n 's/^  time *\([0-9.]*\) \(m*s\) per epoch.*/\1 \2/p' out | awk '{ print $2 == "s" ? 1000 * $1 : $1 }' >$target.ms
done
few_shapes='data d { nodes = 1000; edges = 8000; node x : f32[16]; node y : class[4] }
model m on d { return x |> GCN(y.classes) as conv }
train m { loss = cross_entropy(out, y); optimizer = sgd(lr = 0.1); epochs = 1 }'
every_target() { # has sources, is listed in a group that is named, once, and can be planned for; "laptop" is nobody's
  local file name
  "$gnncc" --list targets >listed && ! grep -q '^others' listed || return 1
  for file in "$targets"/*.gnn; do
    name=$(basename "$file" .gnn)
    [ $name = laptop ] || tr -d '\n#' <"$file" | grep -q 'Sources\.' || { echo "$name has no sources"; return 1; }
    [ "$(grep -c "^  $name " listed)" = 1 ] && "$gnncc" -w --plan --target=$name - <<<"$few_shapes" | grep -q "target $name " || { echo "$name"; return 1; }
  done
}
every_target >out 2>&1
result $? "every target has its sources, its line and a plan"
called() { "$gnncc" -w --plan --target="$1" - <<<"$few_shapes" | grep -q "target $2 " && "$gnncc" --print-target "$1" | grep -q "^target $2 "; }
called a2-highgpu-1g a2_highgpu_1g && called g5.xlarge g5_xlarge && called Standard_NC24ads_A100_v4 nc24ads_a100_v4 && called RTX4060-laptop rtx4060_laptop && called rtx4060m rtx4060_laptop
result $? "machines are found by the names that others call them, and by former ones"
cat t4.ms a100_40.ms a100.ms h100.ms h200.ms >out && [ "$(wc -l <out)" = 5 ] && sort -rn out | cmp -s - out
result $? "a faster card has a shorter epoch"
for precision in fp32 tf32 bf16; do
  "$gnncc" -w --plan --shapes --target=h100 --precision=$precision sage_products.gnn | sed -n 's/^  time *\([0-9.]*\) \(m*s\) per epoch.*/\1 \2/p' | awk '{ print $2 == "s" ? 1000 * $1 : $1 }'
done >out
[ "$(wc -l <out)" = 3 ] && [ "$(sort -rn out | uniq | xargs)" = "$(xargs <out)" ]
result $? "and one in tf32 is shorter, in bf16 more so"
cat >wide.gnn <<'EOF'
data d { nodes = 1_000_000; edges = 5_000_000; node x : f32[512]; node y : class[40] }
model m on d { return x |> SAGE(512) |> relu |> SAGE(512) |> relu |> SAGE(y.classes) as out }
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 1 }
EOF
seconds_of() { "$gnncc" -w --plan=json --shapes "$@" | awk -F'[:,]' '/"seconds"/ { print $2 + 0; exit }'; } # OPTION... MODEL: of an epoch
hinted() { "$gnncc" -w --plan=json --shapes "$@" | awk -F'[:,]' '/"tf32"/ { is_in = 1 } is_in && /"seconds"/ { print $2 + 0; exit }'; }
for target in a100 h100; do
  echo "$(hinted --target=$target wide.gnn) $(seconds_of --target=$target --precision=tf32 wide.gnn) $(seconds_of --target=$target wide.gnn)" >out
  awk '{ exit !($1 > 0.97 * $2 && $1 < 1.03 * $2 && $1 < 0.95 * $3) }' out
  result $? "wide products on $target: what tf32 would make of the epoch is said, and is what a plan in tf32 takes"
done
"$gnncc" -w --plan --shapes --target=a100 wide.gnn | grep -E '^ .* --precision=tf32 +[0-9.]+ m?s per epoch .*, products round to tf32$' >out
result $? "  in words, too"
for options in --target=t4 --target=rtx4090 "--target=a100 --precision=tf32" "--target=a100 --precision=bf16" "--target=a100 --gemm=own"; do
  "$gnncc" -w --plan --shapes $options wide.gnn >out && ! grep -q -e '--precision=tf32' out
  result $? "  not of $options"
done
"$gnncc" -w --plan=json --shapes --target=h100 sage_products.gnn >out && ! grep -q '"tf32"' out && grep -q '"write": "--precision=tf32"' out
result $? "  where sums over neighbours take longer, it is advised for what it saves"

step_times() { # TARGET EXAMPLE OPTION...: microseconds of a launch, then of each step of an epoch and an evaluation
  "$gnncc" -q -w --backend=cuda --stop-after=cost --dump=cost --target="$1" "${@:3}" "$2.gnn" | sed -n 's/.*, \([0-9.]*\) us a step$/\1/p'
  "$gnncc" -q -w --target="$1" "${@:3}" --emit=trace=- "$2.gnn" | sed -n 's/^{"ph":"X".*"dur":\([0-9.]*\),"cat":"\([a-z]*\)".*/\1 \2/p'
}
no_step_for_nothing() { # a loss takes its three launches
  awk 'NR == 1 { launch = $1; next } { steps++; if ($1 < launch) { print; bad = 1 } } END { exit bad || !(launch > 1) || steps < 10 }' "$1"
}
for example in gcn_cora gcn_karate sage_deep; do "$gnncc" --example=$example >$example.gnn || exit 2; done
cp "$targets/../../examples/cora.safetensors" .
for target in rtx4090 a100 h100 h200; do
  for example in gcn_cora gcn_karate sage_deep sage_products; do
    shapes=$([ $example = sage_products ] && echo --shapes)
    step_times $target $example $shapes >out 2>&1
    no_step_for_nothing out
    result $? "$example on $target: no step is predicted to take less than a launch"
  done
done
sed 's/count     = 1/count     = 4/; s/target a100 /target four /' "$targets/a100.gnn" >four.gnn
exits 1 "four of them without a link are refused" "$gnncc" --plan --shapes --target=four.gnn sage_products.gnn
grep -q 'error\[E0509\]: target four has 4 devices and no link between them' out
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
is_said_to_be() { "$gnncc" -w --plan=json "${@:2}" model.gnn | grep -qE "^ *\"source\": \"$1\""; }
a_guess_is_said() { # where the processor is not known, and nowhere else
  "$gnncc" -w --plan model.gnn >out
  if is_said_to_be guess; then grep -q '^  machine .* not known: times are a guess' out; else is_said_to_be '(AMD|Intel) .*' && ! grep -q 'are a guess' out; fi
}
a_guess_is_said && is_said_to_be target --target=laptop
result $? "a plan says whose figures its times are, and that they are a guess where the processor is not known"
# What the measuring program prints is kept, for runs that measure nothing and print it again.
cat >keeping_cc <<'EOF'
#!/bin/bash
"${REAL_CC:-cc}" "$@" || exit
for ((i = 1; i < $#; i++)); do [ "${!i}" != -o ] || { next=$((i + 1)) out=${!next}; }; done
[[ ${out:-} == *.o ]] || { mv "$out" "$KEPT.program" && printf '#!/bin/bash\n"%s" "$@" | tee "%s"\n' "$KEPT.program" "$KEPT" >"$out" && chmod +x "$out"; }
EOF
cat >printing_cc <<'EOF'
#!/bin/bash
for ((i = 1; i < $#; i++)); do [ "${!i}" != -o ] || { next=$((i + 1)) out=${!next}; }; done
printf '#!/bin/bash\nsed "s/^disturbed .*/disturbed %s/" "%s"\n' "$DISTURBED" "$KEPT" >"$out" && chmod +x "$out"
EOF
chmod +x keeping_cc printing_cc
export KEPT=$work/kept
exits 0 "the machine is measured" env CC="$work/keeping_cc" "$gnncc" --calibrate
# A difference of two times may be lost in the noise of a busy machine: a dash then.
for rate in fp32 "stream 256KiB" gather_64B gather_512B narrow outer element random exp update loss step "cpu -> host" "ssd -> cpu" "cpu -> ssd"; do
  grep -qE "^$rate( [0-9]+.iB)? +[^ ]+ +(-|[0-9.]+[Gnu])" out || { echo "# no $rate"; false; }
  result $? "the table has $rate"
done
exits 0 "and makes the native target" "$gnncc" --dump=cost --stop-after=cost model.gnn
! cmp -s out modelled && grep -q '^native:' out
result $? "whose rates are others"
is_said_to_be measured
result $? "  and were measured, says the plan"
again() { DISTURBED=$1 CC=$work/printing_cc "$gnncc" --calibrate "${@:2}" >out 2>&1 && grep -q "measured by gnncc --calibrate, $(awk "BEGIN { print 100 * ${said:-$1} }") % of" cache/gnncc/native.gnn; }
again 0.1 && ! grep -q 'other programs were running' out && grep -q '^wrote .*native.gnn' out
result $? "a measurement says how much of it was disturbed"
said=0.1 again 0.6 && grep -q 'other programs were running (60 %' out && grep -q 'native.gnn is left as it is: it was measured with 10 % disturbed' out
result $? "one that was disturbed is not saved over a better one"
again 0.6 --force && again 0.5 && again 0.2
result $? "but over a worse one, or by --force"
cp cache/gnncc/native.gnn lab.gnn
exits 0 "its file is a target" "$gnncc" --target=lab.gnn --check model.gnn
sed -i 's/ threads"/ threads more"/' cache/gnncc/native.gnn
"$gnncc" --dump=cost --stop-after=cost model.gnn >out 2>&1
cmp out modelled
result $? "the measurement of another machine is not used"

# ---- its GPU: the stand-in, whose times mean nothing ----

gpu() { CUDA_HOME=$work/toolkit LDFLAGS=-rdynamic STANDIN_MEBIBYTES=24 "$gnncc" --backend=cuda --cuda-compiler=nvcc "$@"; }
without() { # STATUS WHAT MESSAGE COMMAND...: E0507, and why
  exits "$1" "$2: E0507" "${@:4}"
  grep -q 'error\[E0507\]' out && grep -q "$3" out
  result $? "  says: $3"
}
without 5 "no toolkit" 'libcudart_static.a is not here\|neither nvcc nor NVRTC is here' env CUDA_HOME="$work/nowhere" PATH=/usr/bin:/bin "$gnncc" --calibrate --backend=cuda
if [ -e "$share/measure_cuda.c" ] && "$tests/cuda/toolkit.sh" "$work/toolkit" >out 2>&1; then
  STANDIN_FAULT=1 without 5 "no driver" "there is no CUDA driver here" gpu --calibrate
  STANDIN_FAULT=2 without 5 "an old driver" "the driver here is older than the CUDA toolkit" gpu --calibrate
  STANDIN_FAULT=3 without 5 "no GPU" "there is no CUDA device here" gpu --calibrate
  [ ! -e gpu.gnn ]
  result $? "  and no target"
  STANDIN_CHOICES=$work/measured exits 0 "a GPU is measured" gpu --calibrate
  for rate in "stream 256KiB" "gather_64B 256KiB" "gather_512B 256KiB" narrow outer outer_narrow fp32 tf32 bf16 "gpu -> host" "host -> gpu" "gpu <-> host" "memory of the host" "host -> ssd" "ssd -> host"; do
    grep -qE "^$rate +[^ ]+ +[0-9.]*[1-9][0-9.]*G" out || { echo "# no $rate"; false; }
    result $? "the table has $rate"
  done
  for rate in element random exp update loss loss_class step gather_row exchange "bandwidth.* tf32" "bandwidth.* bf16"; do
    grep -qE "^ +$rate += [0-9.]*[1-9]" gpu.gnn || { echo "# no $rate"; false; }
    result $? "the target has $rate"
  done
  cat >products.gnn <<'EOF'
data d from synth(kind = "rmat", nodes = 300, degree = 4, features = 100, classes = 7, seed = 1)
model m on d { return x |> SAGE(100) |> relu |> SAGE(y.classes) as last }
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 1 }
EOF
  gpu -q -w products.gnn -o products >out 2>&1 && STANDIN_CHOICES=$work/chosen ./products -q --runs 1 --out products.out >>out 2>&1 &&
    [ "$(sort -u measured)" = "workspace 0, alignment 16, reduction 2" ] && diff <(sort -u measured) <(sort -u chosen) >>out
  result $? "its products are by algorithms that are chosen as those of a program, which have the same workspace"
  ! grep -qiE 'nan|inf|= -|\[-' gpu.gnn
  result $? "all of them are numbers"
  exits 0 "it is a target" "$gnncc" -w --plan --shapes --target=gpu.gnn --budget gpu=12MiB model.gnn
  grep -q '^plan for m on d . target gpu . gpu budget 12.0 MiB' out
  result $? "  of a GPU, by which plans are made"
  grep -q '^target gpu "stand-in beside ' gpu.gnn && grep -q 'kind = cuda(sm_90)' gpu.gnn
  result $? "  and names the card"
else
  echo "ok $((count += 1)) - a GPU is measured # SKIP no CUDA toolkit"
fi
! find . -name 'gnncc-*' | grep -q .
result $? "nothing is left behind"
echo "1..$count"
[ $failed = 0 ]
