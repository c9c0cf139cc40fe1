#!/bin/bash
# run.sh BUILD: training whose values are ten times the memory that it is given, with the address space limited to what the plan announces: to the end, and killed
# at moments drawn by chance and resumed, to the bits of the same program that keeps everything. On the SSD alone, and on host and SSD. TAP. KILLS=N: so often.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnncc=$build/gnncc
: "${KILLS:=6}"
workplace
export MALLOC_ARENA_MAX=1 # address space that malloc only reserves, for each thread

# What a program takes beside what is announced, its own file apart: libraries, stacks, the heap, tables of metrics.
other_bytes=$((6 << 20))
# Addresses beyond that: each arena begins at a multiple of 2 MiB, stacks as they are limited below, libraries that are mapped and not read.
mapped_bytes=$((16 << 20))

deep() { # LAYERS NODES: of values of as many bytes, one a layer
  cat <<MODEL
target spare "a processor with an SSD" {
  device cpu { memory = 1GiB }
  tier ssd { budget = 1GiB; path = "." }
  link cpu <-> ssd { read = 1GB/s; write = 1GB/s; latency = 100us }
}
target box "a processor with a host tier and an SSD" {
  device cpu { memory = 1GiB }
  tier host { budget = 6MiB }
  tier ssd  { budget = 1GiB; path = "." }
  link cpu <-> host { bandwidth = 5GB/s; latency = 1us }
  link host <-> ssd { read = 1GB/s; write = 1GB/s; latency = 100us }
}
data g from synth(kind = "sbm", nodes = $2, degree = 2, features = 4, classes = 8, seed = 3)
model deep on g {
  h1 = x |> GCN(64) |> relu
$(for ((i = 2; i < $1; i++)); do echo "  h$i = h$((i - 1)) |> GCN(64)$([ $((i % 4)) -ne 0 ] || echo ' |> relu') |> dropout(0.1)"; done)
  return h$(($1 - 1)) |> GCN(y.classes)
}
train deep {
  loss       = cross_entropy(out, y)
  optimizer  = adam(lr = 0.01)
  epochs     = 6
  checkpoint = every(1)
}
MODEL
}
made() { # PROGRAM OPTION...
  cp deep.gnn "$1.gnn"
  CFLAGS=-Og "$gnncc" -q -w "${@:2}" deep.gnn -o "$1" >"$1.log" 2>&1
  echo $? >"$1.status"
}
is_made() { cat "$1.log" && [ "$(cat "$1.status")" -eq 0 ]; }
number() { "./$1" info --json | grep -o "\"$2\":[0-9]*" | cut -d: -f2; } # PROGRAM NAME
announced() { echo $(($(number "$1" device_bytes) + $(number "$1" host_bytes) + $(number "$1" staging_bytes))); }
file_bytes() { stat -c %s "$1"; }

start() { # PROGRAM OPTION...: what $command says (train), in the background, with no more addresses than what is announced and the rest
  (ulimit -s 512 && ulimit -v $((($(announced "$1") + other_bytes + mapped_bytes + $(file_bytes "$1")) / 1024)) && exec "./$1" ${command:-train} -q --scratch . "${@:2}") &
  process=$!
}
watch() { # what is resident at most of what was started, in KiB, until it ends; its status
  local now
  peak=0
  while now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$process/status 2>/dev/null) && [ -n "$now" ]; do
    [ "$now" -le "$peak" ] || peak=$now
    sleep 0.05
  done
  wait $process
}

values_are_ten_times() { # PROGRAM: what keeping everything takes, beside all that the program takes
  echo "everything kept: $(announced kept) bytes; $1: $(announced "$1")"
  [ "$(announced kept)" -ge $((10 * $(announced "$1"))) ]
}
device_is_a_tenth() { [ "$(announced kept)" -ge $((10 * $(number "$1" device_bytes))) ]; }
stays_within() { # PROGRAM, which was started: to the end
  local most=$((($(announced "$1") + other_bytes + $(file_bytes "$1")) / 1024)) status
  watch
  status=$?
  echo "status $status; resident at most $peak KiB, announced $(($(announced "$1") / 1024)), with its file and the rest $most"
  [ $status -eq 0 ] && [ "$peak" -gt $(($(number "$1" device_bytes) / 1024)) ] && [ "$peak" -le $most ]
}
ends_within() { start "$@" && stays_within "$1"; } # PROGRAM OPTION...
same_weights() { cmp "$1/last.safetensors" "$2/last.safetensors"; }
go_on() { # PROGRAM FOLDER: from the newest checkpoint, where there is one
  if ls "$2" 2>/dev/null | grep -q '^checkpoint-.*safetensors$'; then start "$1" --out "$2" --resume; else start "$1" --out "$2"; fi
}
killed() { # PROGRAM FOLDER TIMES: at moments of the first epochs, then to the end
  local turn kills=0
  for ((turn = 0; turn < $3; turn++)); do
    go_on "$1" "$2"
    sleep $((RANDOM % 6 / 5)).$(printf %03d $((RANDOM % 1000)))
    kill -KILL $process 2>/dev/null && kills=$((kills + 1))
    wait $process
  done
  echo "$kills of $3 were killed at work, the last at $(ls "$2")"
  go_on "$1" "$2"
  stays_within "$1" && [ $kills -gt $(($3 / 2)) ]
}
refuses() { # PROGRAM BYTES: with so much for what it announces
  local status
  (ulimit -s 512 && ulimit -v $((($2 + other_bytes + $(file_bytes "$1")) / 1024)) && exec "./$1" -q --scratch . --out none) 2>said
  status=$?
  cat said
  [ $status -eq 3 ] && grep -q 'error\[R0801\]: memory has .* free, the plan needs' said
}

deep 40 17000 >deep.gnn
spare=(--target=spare '--cut=rows(4)' --budget cpu=13MiB --plan-effort=fast)
box=(--target=box '--cut=rows(4)' --budget cpu=15MiB --budget host=8MiB --plan-effort=fast)
made spare "${spare[@]}" &
{ made kept --target=box --cut=whole && made box "${box[@]}"; } &
wait
check "it compiles, everything kept" is_made kept
check "everything kept: trains" "./kept" -q --out kept.out
check "on the SSD alone: compiles" is_made spare
check "  its values are ten times the memory that it announces" values_are_ten_times spare
check "  trains to the end with that memory" ends_within spare --out spare.out
check "  same bits" same_weights kept.out spare.out
check "  with half of it, it says that memory is short" refuses spare $(($(announced spare) / 2))
check "  where everything is kept, with all of it" refuses kept $(announced spare)
check "  killed $KILLS times and resumed" killed spare killed.out "$KILLS"
check "  same bits" same_weights kept.out killed.out
cp deep.gnn whole.gnn && printf 'plan {\n  fate "x" = ssd\n  fate "graph_*_idx" = ssd\n}\n' >>deep.gnn
made homes "${spare[@]}"
mv whole.gnn deep.gnn
check "data at home on the SSD, too: compiles" is_made homes
check "  killed $((KILLS / 2)) times and resumed, to the end with the memory that it announces" killed homes homes.out $((KILLS / 2))
check "  same bits" same_weights kept.out homes.out
check "on host and SSD: compiles" is_made box
check "  its values are ten times the device" device_is_a_tenth box
check "  killed $((KILLS / 2)) times and resumed, to the end with the memory that it announces" killed box box.out $((KILLS / 2))
check "  same bits" same_weights kept.out box.out
check "no scratch file is left behind" bash -c '! ls -A | grep scratch'

# More scores than all the memory that is announced: they are measured and written some at a time.
cp deep.gnn deep_model.gnn
cat >deep.gnn <<'MODEL'
data g from synth(kind = "rmat", nodes = 20000, degree = 2, features = 4, classes = 600, seed = 3)
model deep on g {
  h = x |> Linear(16) |> relu |> GCN(16) |> relu
  return h |> GCN(y.classes) |> elu
}
train deep { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2; metric = [accuracy, macro_f1] }
plan { fate "x" = ssd; fate "graph_*_idx" = ssd }
MODEL
made scores --target=native --budget ssd=1GiB --budget device=20MiB --cut='rows(8)' --plan-effort=fast
sed -i '/^plan/d' deep.gnn
made scores_kept
mv deep_model.gnn deep.gnn
check "48 MB of scores: compiles" is_made scores
check "  everything kept: compiles" is_made scores_kept
check "  everything kept: trains" ./scores_kept -q --out scores_kept.out
check "  is trained and measured with the memory that it announces" ends_within scores --out scores.out
check "  same bits" same_weights scores_kept.out scores.out
predicts_within() { # KIND of file
  local status
  command=predict start scores --weights scores.out/last.safetensors -o "scores.$1"
  watch
  status=$?
  echo "status $status; resident at most $peak KiB, announced $(($(announced scores) / 1024)); the file has $(file_bytes "scores.$1") bytes"
  [ $status -eq 0 ] && [ "$peak" -le $((($(announced scores) + other_bytes + $(file_bytes scores)) / 1024)) ] || return 1
  ./scores_kept predict -q --weights scores.out/last.safetensors -o "kept.$1" && cmp "scores.$1" "kept.$1"
}
check "  predicts with it" predicts_within npy
check "  and as a table" predicts_within csv

# Data that are read, or generated, lie in memory until they are in the arena.
cat >read.gnn <<'MODEL'
data g from synth(kind = "sbm", nodes = 12000, degree = 2, features = 256, classes = 8, seed = 3)
model read on g {
  h = x |> Linear(128) |> relu
  h = h |> Linear(128) |> relu
  h = h |> Linear(128) |> relu
  h = h |> Linear(128) |> relu
  h = h |> Linear(128) |> relu
  return h |> Linear(y.classes)
}
train read { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 4 }
MODEL
cp read.gnn deep.gnn
made read -fno-fuse
check "features of many columns: compiles" is_made read
mapped_bytes=$((60 << 20)) # of the data
check "  what is read is gone before the arena is touched" ends_within read --out read.out

# All that the process takes, loading included: announced, measured, and enough.
is_near() { awk -v a="$1" -v m="$2" 'BEGIN { d = a > m ? a - m : m - a; exit !(a > 0 && m > 0 && (d <= 2 || d <= 0.02 * a)) }'; } # ANNOUNCED MEASURED, in MiB
announces() { # PROGRAM OPTION...: what check finds is there
  local announced measured
  "./$1" check --scratch . "${@:2}" >said || { cat said; return 1; }
  read -r announced measured < <(sed -n 's/^process  announced \([0-9.]*\) MiB, measured \([0-9.]*\) MiB$/\1 \2/p' said)
  grep '^process' said && is_near "$announced" "$measured"
}
is_said() { # PROGRAM: one figure, by the compiler and by check, which was asked just now
  local figure
  figure=$(sed -n 's/^process  announced \([0-9.]* MiB\), .*/\1/p' said)
  echo "check says $figure"
  "$gnncc" -w --plan "$1.gnn" | grep -E "^  process +$figure of memory"
}
under() { # data|addresses PROGRAM OPTION...: trains with no more than what is announced
  local option=-d bytes
  bytes=$(number "$2" process_bytes)
  [ "$1" = data ] || { option=-v && bytes=$(number "$2" address_bytes); }
  (unset MALLOC_ARENA_MAX && ulimit $option $((bytes / 1024)) && exec "./$2" -q --scratch . --threads 2 --out "under.$2" --epochs 2 "${@:3}")
}
too_little() { # PROGRAM: where addresses are fewer by a quarter of what is announced, it says so
  (unset MALLOC_ARENA_MAX && ulimit -v $(($(number "$1" address_bytes) * 3 / 4 / 1024)) && exec "./$1" -q --scratch . --threads 2 --out "under.$1" --epochs 2) 2>said
  local status=$?
  cat said
  [ $status -eq 3 ] && grep -q 'error\[R0801\]' said
}
# Control groups: by systemd, or made in their file system, of version 2 or 1, below our own or at its root.
find_groups() { # $groups: where one can be made, or systemd; nothing where none can; $limit: what is written to
  local own parent
  groups=
  if systemd-run --quiet --scope -p MemoryMax=1G true 2>/dev/null; then groups=systemd && return; fi
  own=$(sed -n 's/^[0-9]*:\(memory\)\{0,1\}://p' /proc/self/cgroup | sort -u)
  for parent in $(printf '/sys/fs/cgroup%s\n' $own) /sys/fs/cgroup $(printf '/sys/fs/cgroup/memory%s\n' $own) /sys/fs/cgroup/memory; do
    mkdir "$parent/gnncc.$$" 2>/dev/null || continue
    for limit in memory.max memory.limit_in_bytes; do
      [ ! -e "$parent/gnncc.$$/$limit" ] || ! echo $((1 << 30)) 2>/dev/null >"$parent/gnncc.$$/$limit" || { groups=$parent && break; }
    done
    rmdir "$parent/gnncc.$$"
    [ -z "$groups" ] || return 0
  done
}
in_group() { # PROGRAM: trains in a control group of what is announced
  local bytes folder=$groups/gnncc.$$ status
  bytes=$(number "$1" process_bytes)
  set -- "./$1" -q --scratch . --out "under.$1" --epochs 2
  if [ "$groups" = systemd ]; then systemd-run --quiet --scope -p MemoryMax="$bytes" -p MemorySwapMax=0 "$@"; return; fi
  mkdir "$folder" && echo "$bytes" >"$folder/$limit" && (echo $BASHPID >"$folder/cgroup.procs" && exec "$@")
  status=$?
  echo "status $status, of $bytes bytes"
  for ((i = 0; i < 50; i++)); do rmdir "$folder" 2>/dev/null && break || sleep 0.02; done
  return $status
}
check "a table of plans has the process: bytes, and of what" bash -c "'$gnncc' -q -w --plan=json deep.gnn | grep -A6 '\"process\"' | grep -q loading_bytes"
for program in kept spare box scores read; do check "$program: its whole process is as announced" announces $program; done

cp "$here"/../../examples/cora.safetensors "$here"/../../examples/mutag.safetensors .
awk 'BEGIN { srand(3); print "from,to"; for (i = 0; i < 60000; i++) print int(12000 * rand()) "," int(12000 * rand()) }' | gzip >ties.csv.gz
awk 'BEGIN { srand(5); print "id,a,b,y"; for (i = 0; i < 12000; i++) print i "," rand() "," rand() "," i % 5 }' >people.csv
cat >tables.gnn <<'MODEL'
data g from csv(edges = "ties.csv.gz", nodes = "people.csv", id = "id") {
  node a : f32[1]
  node y : class[5]
  undirected = true
  split = random(0.6, 0.2, 0.2, seed = 0)
}
model m on g {
  h = a |> SAGE(32) |> relu
  return h |> SAGE(y.classes)
}
train m {
  loss = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  metric = [accuracy, macro_f1]
  keep = best(valid.accuracy)
  epochs = 2
}
MODEL
budgeted=
cp "$here"/../../examples/gcn_cora.gnn deep.gnn && made cora
cp "$here"/../../examples/gin_mutag.gnn deep.gnn && made mutag
cp tables.gnn deep.gnn && made tables
forms="$(command -v python3 >/dev/null && echo packed loose fortran ours)" # arrays that are deflated, unaligned, in columns, wide on edges; and as gnndata writes them
if [ -n "$forms" ]; then
  python3 -B "$here/forms.py" . && "$build/gnndata" convert fortran.npz ours.safetensors >/dev/null 2>&1
  for program in $forms; do
    file=$program.npz
    [ -f $file ] || file=$program.safetensors
    cat >deep.gnn <<MODEL
data g from "$file" { undirected = true }
model m on g {
  return x |> SAGE(16) |> relu |> SAGE(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2 }
MODEL
    made $program
  done
  sed 's/^data mutag.*/data sets from "many" {/; s/onehot\[7\]/f32[16]/; s/on mutag/on sets/; s/folds(10, seed = 0)/random(0.8, 0.1, 0.1, seed = 0)/; s/report .*//; s/graphs(32/graphs(64/; s/epochs .*/epochs = 2/' "$here"/../../examples/gin_mutag.gnn >deep.gnn
  made sets && forms="$forms sets"
  sed -i 's/graphs(64/graphs(8/' deep.gnn # less than what its edges take while they are read
  made sets8 && forms="$forms sets8"
  cat >deep.gnn <<'MODEL'
data g from npy("sides") {
  node x : f32[32]
  node y : class[5]
  undirected = true
  split = random(0.6, 0.2, 0.2, seed = 0)
}
model m on g {
  h = x |> SAGE(64) |> relu
  return h |> SAGE(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2 }
MODEL
  made ashore --plan-effort=fast '--cut=rows(4)' --budget device=9MiB --budget host=0 --budget ssd=1GiB # data and values are on the SSD
  cat >deep.gnn <<'MODEL'
data g from synth(kind = "sbm", nodes = 12000, degree = 16, features = 4, classes = 4, seed = 3) {
  pairs links : label[1] = split_edges(valid = 0.05, test = 0.1, negatives = uniform(2), resample = epoch, seed = 0)
}
model m on g {
  z = x |> SAGE(16)
  return (abs(src.z - dst.z) |> Linear(4) |> relu |> Linear(1)) over links
}
train m { loss = bce(out, links.label); optimizer = adam(lr = 0.01); metric = [hits(10), mrr]; epochs = 2 }
MODEL
  made drawn --plan-effort=fast
  budgeted="ashore drawn"
else skip "arrays in NumPy's forms" "there is no python3"; fi
for program in cora mutag tables $forms; do
  check "$program: compiles" is_made $program
  check "  its whole process is as announced" announces $program
  check "  as the plan says it" is_said $program
  [[ " $forms " == *" $program "* ]] || check "  with three threads, too" announces $program --threads 3
done
for program in $budgeted; do
  check "$program: compiles" is_made $program
  check "  its whole process is as announced" announces $program
done
says_excess() { # PROGRAM: where a quarter of a MiB is announced, check says that it takes more
  "$gnncc" -q -w -S "$1.gnn" -o less && sed -i 's/\.process_bytes = [0-9]*/.process_bytes = 1 << 18/' less/*.c &&
    cc -O1 -Iless less/*.c "$build/share/libgnnrt.a" -o less.check -l:libz.a -lm -lpthread && ./less.check check >said || { cat said; return 1; }
  cat said
  grep -q '^the program took .* more than the plan says$' said && ! grep -q 'data fit the plan' said
}
check "what took more than is announced does not fit the plan" says_excess cora
for program in spare box read cora tables $budgeted $forms; do
  check "$program: trains with as much data as is announced" under data $program
  check "  and with as many addresses" under addresses $program
done
check "mutag: trains with as much data as is announced" under data mutag --runs 1
has_no_copy() { # PROGRAM: reading takes what is kept of the data, which is less than half of the features as they are read, and 4 MiB
  local loading=$(number "$1" loading_bytes) kept=$(number "$1" device_bytes)
  echo "loading $loading bytes, the arena $kept"
  [ "$kept" -lt $((6 << 20)) ] && [ "$loading" -le $((kept + (4 << 20))) ]
}
for program in $(echo "$forms" | grep -o 'packed\|loose'); do check "$program: is read without a copy of it in memory" has_no_copy $program; done
layer_under() { # PROGRAM LAYER WIDTH: what a layer gives is written with as much data as is announced, though a copy of it would not fit
  local announced rows
  announced=$(number "$1" process_bytes)
  (unset MALLOC_ARENA_MAX && ulimit -d $((announced / 1024)) && exec "./$1" predict -q --layer "$2" --weights "$1.out/last.safetensors" -o "$1.layer.npy") || return
  rows=$(($(file_bytes "$1.layer.npy") / 4 / $3))
  echo "$rows rows; announced $announced bytes"
  [ "$rows" -ge 12000 ] && "./$1" predict -q --layer "$2" --weights "$1.out/last.safetensors" --split train -o "$1.layer.csv" && [ "$(wc -l <"$1.layer.csv")" -gt 1 ]
}
check "read: a layer is written with as much data as is announced" layer_under read linear5.h 128
measured_under() { # PROGRAM: checked, timed and profiled, too
  (unset MALLOC_ARENA_MAX && ulimit -v $(($(number "$1" address_bytes) / 1024)) && "./$1" check && "./$1" bench --epochs 2 && "./$1" profile -q -o "$1.json") &&
    (unset MALLOC_ARENA_MAX && ulimit -d $(($(number "$1" process_bytes) / 1024)) && "./$1" check && "./$1" bench --epochs 2 && "./$1" profile -q -o "$1.json")
}
check "cora: is checked, timed and profiled with as much" measured_under cora
check "with fewer addresses it says so" too_little read
find_groups
for program in read cora tables $budgeted $forms; do
  if [ -n "$groups" ]; then check "$program: trains in a control group of what is announced" in_group $program
  else skip "$program: trains in a control group of what is announced" "none can be made here"; fi
done
finish
