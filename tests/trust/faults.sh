#!/bin/bash
# faults.sh BUILD [long|short [COMMAND...]]: gnncc, gnndata and programs under one fault at a time (tests/faults/faults.c). A run must end as it does without
# the fault, with the same products; or say why and end with a documented status, with every product as it was before or
# complete and nothing temporary left. Where memory is refused that is status 3 and a line that says memory. After SIGKILL, training goes on
# to the same weights; after any fault, sorting edges on disk goes on to the same file. `long`: at most 150 moments of each kind, spread evenly over all there are; else a few. TAP on stdout, and how many runs there were.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
moments=3
if [ "${2:-}" = long ]; then moments=150; fi
only=${*:3}
if [ "$(uname -m)" != x86_64 ]; then
  skip "faults" "system calls are caught on x86-64 alone"
  finish
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work" "$tap_log"' EXIT
cd "$work" || exit 1
export work build faults=$build/tests/faults.so XDG_CACHE_HOME=$work/cache

# ---- one run ----
prepared() { # COMMAND DIRECTORY
  rm -rf "$2" && cp -r "$work/$1.before" "$2" && mkdir "$2/tmp"
}
run_in() { # COMMAND DIRECTORY FAULT...: its status, stdout and stderr beside the directory
  local name=$1 directory=$2
  shift 2
  (cd "$directory" && TMPDIR=$PWD/tmp exec timeout -s KILL 60 env "$@" $(cat "$work/$name.command")) >"$directory.out" 2>"$directory.err" </dev/null
}
products_same() { diff -r -x tmp -x 'checkpoint-r0-e00000[246].safetensors' "$work/$1.after" "$2" >&2 && { [ -e "$work/$1.speaks" ] || cmp "$work/$1.out" "$2.out" >&2; }; }
whole() { # COMMAND DIRECTORY: every file there is as it was, or as it should become
  local file status=0
  while read -r file; do
    case $file in ./o/checkpoint-r0-e00000[246].safetensors | ./o/best.safetensors | ./o/last.safetensors | ./out.safetensors.convert/*) continue ;; esac # goes_on reads them
    cmp -s "$2/$file" "$work/$1.before/$file" || cmp -s "$2/$file" "$work/$1.after/$file" || { echo "$file is neither as before nor complete" >&2; status=1; }
  done < <(cd "$2" && find . -type f)
  while read -r file; do
    [ -e "$2/$file" ] || [[ $file == ./o/checkpoint* ]] || { echo "$file is gone" >&2; status=1; }
  done < <(cd "$work/$1.before" && find . -type f)
  return $status
}
numbers() { # FILE.safetensors: what follows the header
  local header
  header=$(od -An -t u8 -N 8 "$1" | tr -d ' ')
  tail -c +$((9 + header)) "$1"
}
goes_on() { # COMMAND DIRECTORY: training resumes, or begins where nothing was left, and has the same weights
  local resume="" file
  if [ "$1" = sort ]; then
    run_in "$1" "$2" FAULTS_COUNTS= || { cat "$2.err" >&2; return 1; }
    rm -rf "$2"/tmp
    products_same "$1" "$2"
    return
  fi
  ! ls "$2"/o/checkpoint-* >/dev/null 2>&1 || resume=--resume
  (cd "$2" && $(cut -d' ' -f1 "$work/$1.command") train -q --out o $resume) >&2 || return 1
  for file in best last; do cmp <(numbers "$2/o/$file.safetensors") <(numbers "$work/$1.after/o/$file.safetensors") >&2 || return 1; done
}
judged() { # COMMAND KIND DIRECTORY STATUS
  case $4 in
    0) products_same "$1" "$3"; return ;;
    137) [ "$2" = kill ] || { echo "killed" >&2; return 1; } ;;
    1 | 2 | 3 | 4 | 5) [ "$4" -ne 2 ] || [ "$1" = planner ] || return 1; [ -s "$3.err" ] || { echo "status $4 in silence" >&2; return 1; } ;;
    *) return 1 ;;
  esac
  if [ "$2" = allocation ] || [ "$2" = "allocations" ]; then
    [ "$4" -eq 3 ] && grep -qi 'memory\|gives no thread' "$3.err" || { echo "nothing is said of memory" >&2; return 1; }
  fi
  if [ "$2" = kill ]; then find "$3" -name '*tmp*' -type f -delete; rm -rf "$3"/tmp/*; fi
  whole "$1" "$3" || return 1
  case $1 in train* | resume* | sort) goes_on "$1" "$3" ;; esac
}
flipped() { # FILE N: its byte N with another lowest bit
  local byte
  byte=$(od -An -t u1 -j $(($2 - 1)) -N 1 "$1")
  printf "\\$(printf %03o $((byte ^ 1)))" | dd of="$1" bs=1 seek=$(($2 - 1)) conv=notrunc status=none
}
one() { # COMMAND KIND N: a line in the results
  local name=$1 kind=$2 n=$3 directory=$work/run.$BASHPID status fault
  prepared "$name" "$directory"
  case $kind in
    allocation) fault=(FAULTS_ALLOCATION=$n) ;;
    allocations) fault=(FAULTS_ALLOCATION=$n+) ;;
    disk) fault=(FAULTS_DISK=$n) ;;
    truncate) fault=(FAULTS_CALL=$n FAULTS_WHAT=truncate FAULTS_FILE="$directory/web.safetensors") ;;
    flip) fault=() && flipped "$directory/$(cat "$name.flips")" "$n" ;;
    *) fault=(FAULTS_CALL=$n FAULTS_WHAT=$kind) ;;
  esac
  { run_in "$name" "$directory" LD_PRELOAD="$faults" "${fault[@]}"; } 2>"$directory.why" # bash tells of killed ones
  status=$?
  [ $kind != flip ] || cp "$name.before/$(cat "$name.flips")" "$directory/$(cat "$name.flips")"
  [ $kind != truncate ] || cp "$work/$name.before/web.safetensors" "$directory/"
  if judged "$name" "$kind" "$directory" $status 2>"$directory.why"; then echo "good $status"; else
    echo "bad $name $kind $n: status $status; $(tail -1 "$directory.err" | cut -c1-200); $(head -c 300 "$directory.why" | tr '\n' ' ')"
  fi
  rm -rf "$directory" "$directory".{out,err,why}
}
export -f one flipped judged goes_on numbers whole products_same run_in prepared

# ---- all of one kind ----
some() { # COUNT: at most $moments of 1..COUNT
  awk -v count="$1" -v most=$moments 'BEGIN { n = count < most ? count : most; for (i = 0; i < n; i++) print int(1 + (i + 0.5) * count / n) }'
}
under() { # COMMAND KIND COUNT
  some "$3" | xargs -P "$(nproc)" -I{} bash -c "one $1 $2 {}" >results 2>&1
  cat results >>all_results
  ! grep -v '^good' results
}
drive() { # NAME SPEAKS KINDS COMMAND...: runs it once without a fault, then under each kind. SPEAKS: its output is not always the same
  local name=$1 speaks=$2 kinds=$3 allocations calls bytes kind count
  shift 3
  [ -z "$only" ] || [[ " $only " == *" $name "* ]] || return 0
  printf '%s' "$*" >"$name.command"
  mkdir -p "$name.before"
  rm -f "$name.speaks" counts
  [ "$speaks" = no ] || touch "$name.speaks"
  prepared "$name" "$name.after"
  check "$name: without a fault" run_in "$name" "$work/$name.after" LD_PRELOAD="$faults" FAULTS_COUNTS="$work/counts"
  rm -rf "$name.after/tmp"
  mv "$name.after.out" "$name.out"
  [ -s counts ] || { check "$name: its calls are counted" false; return; }
  read -r allocations calls <counts
  bytes=$(du -sb "$name.after" | cut -f1)
  for kind in $kinds; do
    case $kind in allocation*) count=$allocations ;; disk) count=$bytes ;; flip) count=$(stat -c %s "$name.before/$(cat "$name.flips")") ;; *) count=$calls ;; esac
    check "$name: $kind at $(some "$count" | wc -l) of $count" under "$name" $kind "$count"
  done
}

# ---- what is run ----
LD_PRELOAD=$faults FAULTS_COUNTS=counts /bin/true 2>said
[ $? -ne 99 ] || { skip "faults" "$(cat said)"; finish; exit; }
[ -s counts ] || { check "the library of faults is loaded" false; finish; exit 1; }

gnncc="$build/gnncc -w -q"
# The C compiler is not what is looked at: this one makes a file with the name that is asked for.
printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho made >"$2"\n' >cc
chmod +x cc
mkdir model
"$build/gnndata" synth sbm model/web.safetensors --nodes 300 --degree 6 --features 12 --classes 3 >/dev/null
cat >model/m.gnn <<'MODEL'
data web from "web.safetensors"
model m on web { return x |> GCN(16) |> relu |> dropout(0.3) |> GCN(16) |> relu |> GCN(y.classes) }
train m {
  loss = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs = 6
  metric = accuracy
  checkpoint = every(2)
  keep = best(valid.accuracy)
}
MODEL
cp model/m.gnn model/t.gnn
printf 'plan {\n  fate "*" = ssd\n}\n' >>model/t.gnn
box=--target=$here/../end_to_end/models/plans/box.gnn
with() { mkdir -p "$1.before" && cp -r "${@:2}" "$1.before/"; } # COMMAND FILES...: they are there before it
program() { # NAME MODEL OPTIONS...: -O1 and no double precision, because most of the time is the C compiler's
  (cd model && $gnncc -S "${@:3}" $2.gnn -o "../$1.src") &&
    gcc -std=gnu11 -w -O1 -ffp-contract=off -fno-math-errno -fno-trapping-math "-I$1.src" "$1.src/$2.c" "$1.src/main.c" "$build/share/libgnnrt.a" -o "$1" -l:libz.a -lm -lpthread
}
check "a program" program plain m
check "a program with an SSD tier" program tiered t $box --budget host=0

usual="allocation allocations refuse short interrupt"
with plan model/m.gnn model/web.safetensors
drive plan no "$usual truncate" $gnncc --plan m.gnn
with report model/m.gnn model/web.safetensors
$gnncc --emit=report=report.before/r.html model/m.gnn
drive report no "allocation allocations refuse disk kill" $gnncc --emit=report=r.html m.gnn
with sources model/m.gnn model/web.safetensors
drive sources no "$usual disk kill" $gnncc -S m.gnn -o s
with whole model/m.gnn model/web.safetensors
drive whole no "$usual disk kill" $gnncc --cc=$work/cc --report=r.html m.gnn -o p
$gnncc --emit=problem=problem.json model/m.gnn
with planner problem.json
drive planner yes "$usual disk kill" $build/gnncc plan problem.json -o plan.json
with info model/web.safetensors
drive info no "$usual truncate" $build/gnndata info web.safetensors
with judge model/web.safetensors
drive judge no "$usual truncate" $build/gnndata check web.safetensors
with convert model/web.safetensors
cp model/web.safetensors convert.before/out.safetensors
drive convert no "$usual truncate disk kill" $build/gnndata convert --force --undirected web.safetensors out.safetensors
cc -O1 -o make_list "$here/../ingest/make_list.c" && ./make_list text 3000 90000 3 list.txt
with sort list.txt
cp model/web.safetensors sort.before/out.safetensors
drive sort no "$usual disk kill" $build/gnndata convert --memory=1MiB list.txt out.safetensors
mkdir order.before
$build/gnndata convert list.txt order.before/list.safetensors >said
drive order no "$usual disk kill" $build/gnndata order --memory=2MiB list.safetensors -o out.order
drive synth no "$usual disk kill" $build/gnndata synth sbm out.safetensors --nodes 200 --degree 4 --features 8 --classes 3
for kind in plain tiered; do
  rm -rf model/o && (cd model && ../$kind train -q --out o)
  with train_$kind $kind model/web.safetensors
  drive train_$kind yes "$usual truncate disk kill" ./$kind train -q --out o
  with resume_$kind $kind model/web.safetensors
  (cd resume_$kind.before && ./$kind train -q --out o --epochs 4 && rm -f o/last* o/best* o/run.json)
  echo o/checkpoint-r0-e000004.safetensors >resume_$kind.flips
  drive resume_$kind yes "$usual disk kill flip" ./$kind train -q --out o --resume
  for use in eval predict; do with ${use}_$kind $kind model/web.safetensors model/o/last.safetensors; done
  echo last.safetensors >eval_$kind.flips
  drive eval_$kind no "$usual truncate flip" ./$kind eval --weights last.safetensors
  drive predict_$kind no "$usual disk kill" ./$kind predict --weights last.safetensors -o scores.npy
  with check_$kind $kind model/web.safetensors
  drive check_$kind yes "$usual" ./$kind check
done
echo "# $(wc -l <all_results) runs under a fault: $(sort all_results | grep '^good' | uniq -c | awk '{ printf "%s%d with status %s", n++ ? ", " : "", $1, $3 }'), $(grep -vc '^good' all_results) wrong"
finish
