#!/bin/bash
# cli.sh BUILD: gnndata and a produced program (the hand-made one) as a user runs them. TAP on stdout. BLESS=1 rewrites goldens.
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
gnndata=$bin/gnndata toy=$bin/tests/toy
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
n=0

ok() { # STATUS NAME
  n=$((n + 1))
  if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; sed 's/^/# /' out err 2>/dev/null | head -20; fi
}
run() { "$@" >out 2>err; code=$?; }
exits() { # CODE NAME COMMAND...
  local want=$1 name=$2
  shift 2
  run "$@"
  [ $code -eq "$want" ]
  ok $? "$name: exit $want"
}
says() { grep -qF -- "$1" out err; ok $? "  says: $1"; }
golden() { # NAME COMMAND...: stdout with times as T, paths of the work folder as WORK
  local name=$1
  shift
  run "$@"
  sed -E "s/[0-9.]+ (us|ms|s)\b/T/g; s/ +T/ T/g; s#$work#WORK#g" out >got
  [ -n "${BLESS:-}" ] && cp got "$here/golden/$name.txt"
  diff -u "$here/golden/$name.txt" got >diff.out 2>&1 || { sed 's/^/# /' diff.out; cat err | sed 's/^/# /'; false; }
  ok $? "golden $name"
}

# ---- gnndata ----
golden info_karate "$gnndata" info karate
golden check_karate "$gnndata" check karate
golden help "$gnndata" --help
golden list "$gnndata" list
exits 0 "convert" "$gnndata" convert karate k.safetensors
exits 0 "diff with itself" "$gnndata" diff karate k.safetensors
exits 0 "convert with changes" "$gnndata" convert k.safetensors c.safetensors --self-loops=add --split random:0.5,0.2,0.3@1 --normalize=x
exits 1 "diff" "$gnndata" diff karate c.safetensors
golden diff "$gnndata" diff karate c.safetensors
golden info_converted "$gnndata" info c.safetensors
golden head "$gnndata" head karate edges 3
exits 0 "head of labels" "$gnndata" head karate y 2
exits 1 "head of no field" "$gnndata" head karate nothing
exits 0 "synth" "$gnndata" synth sbm s.safetensors --nodes 1e2 --degree 4 --features 8 --classes 3 --seed 7
cp s.safetensors s1.safetensors
exits 0 "synth again" "$gnndata" synth sbm s.safetensors --nodes 1e2 --degree 4 --features 8 --classes 3 --seed 7
cmp -s s.safetensors s1.safetensors; ok $? "synth: the same bytes"
golden info_synth "$gnndata" info s.safetensors
# So many edges as are asked for, where drawing that many pairs leaves fewer.
stored() { "$gnndata" info "$1" | sed -n 's/^edges *\([0-9,]*[0-9]\).*/\1/p'; }
for kind in rmat er sbm; do
  exits 0 "synth $kind with so many edges" "$gnndata" synth $kind e.safetensors --nodes 300 --edges 12e3 --features 2 --classes 3 --seed 7
  [ "$(stored e.safetensors)" = 12,000 ]; ok $? "synth $kind: it has them"
done
cp e.safetensors e1.safetensors
exits 0 "synth with so many edges again" "$gnndata" synth sbm e.safetensors --nodes 300 --edges 12e3 --features 2 --classes 3 --seed 7
cmp -s e.safetensors e1.safetensors; ok $? "synth --edges: the same bytes"
exits 0 "synth by degree" "$gnndata" synth rmat d.safetensors --nodes 300 --degree 40 --features 2 --classes 3 --seed 7
[ "$(stored d.safetensors)" != 12,000 ]; ok $? "by degree there are fewer"
exits 2 "synth: an odd number of edges" "$gnndata" synth er o.safetensors --nodes 10 --edges 7
grep -q 'edges are stored both ways' err; ok $? "  says so"
exits 2 "synth: more edges than pairs" "$gnndata" synth er o.safetensors --nodes 10 --edges 92
grep -q '92 edges of er between 10 nodes are too many' err; ok $? "  says so"
exits 2 "synth: edges of a grid" "$gnndata" synth grid o.safetensors --nodes 10 --edges 8
exits 2 "synth: edges of molecules" "$gnndata" synth molecules o.safetensors --nodes 10 --edges 8
grep -q 'molecules have the edges that they have: give them nodes' err; ok $? "  says so"
exits 0 "synth molecules" "$gnndata" synth molecules m.safetensors --nodes 1000 --features 9 --classes 2
says "wrote m.safetensors: 1,000 nodes"
exits 0 "  a set of graphs" "$gnndata" info m.safetensors; says "graph y : class[2]"
export XDG_CACHE_HOME=$work/cache
exits 0 "a graph with parts" "$gnndata" synth sbm p.safetensors --nodes 2000 --degree 8 --features 4 --classes 8 --seed 3
golden info_parts "$gnndata" info p.safetensors --order nested
exits 0 "an order" "$gnndata" order p.safetensors
golden info_order "$gnndata" info p.safetensors --order p.order
cp p.order p1.order
exits 0 "an order again" "$gnndata" order p.safetensors -o p.order
cmp -s p.order p1.order; ok $? "order: the same bytes, from the cache"
XDG_CACHE_HOME=$work/other exits 0 "an order without the cache" "$gnndata" order p.safetensors --output=p.order
cmp -s p.order p1.order; ok $? "order: the same bytes, made anew"
[ "$(find cache -type f | wc -l)" -eq 1 ]; ok $? "order: one entry in the cache"
for entry in cache/gnncc/order-*; do head -c 100 "$entry" >cut && mv cut "$entry"; done
exits 0 "an order, the cache damaged" "$gnndata" order p.safetensors
cmp -s p.order p1.order && cmp -s cache/gnncc/order-* other/gnncc/order-*; ok $? "order: what is damaged in the cache is made anew"
touch no_folder
XDG_CACHE_HOME=$work/no_folder exits 0 "an order, no cache to write" "$gnndata" order p.safetensors; says "is not kept for the next time"
exits 0 "the given order" "$gnndata" order p.safetensors --method given -o given.order
exits 1 "an order of another graph" "$gnndata" info s.safetensors --order p.order; says "E0710"
exits 1 "an order of the graph with loops" "$gnndata" info p.safetensors --self-loops=add --order p.order; says "made for another graph"
exits 2 "no method" "$gnndata" order p.safetensors --method best; says "nested, metis, given"
exits 4 "an order over other data" "$gnndata" order p.safetensors -o s.safetensors; says "gnndata did not write it"
exits 4 "no such order" "$gnndata" info p.safetensors --order nowhere.order; says "E0001"
exits 2 "no command" "$gnndata"
exits 2 "unknown command" "$gnndata" inof karate; says "did you mean info?"
exits 2 "unknown option" "$gnndata" convert karate x.safetensors --undirceted; says "did you mean --undirected?"
exits 2 "wrong kind" "$gnndata" synth sbn x.safetensors
# ---- other numbers for the nodes: field a is the number before, field w of an edge says between which it was ----
awk 'BEGIN { print "id,a,y"; for (v = 0; v < 300; v++) print v "," v "," v % 5 }' >wn.csv
awk 'BEGIN { print "src,dst,w"; for (e = 0; e < 900; e++) { s = int((e * 7919) % 300); d = int((int(e / 3) * 17 + s * s) % 60); if (!seen[s, d]++) print s "," d "," s * 300 + d } }' >we.csv
table='csv(edges = "we.csv", nodes = "wn.csv")'
renumbered() { # METHOD: every node has its fields, every edge its ends and its field, and the list of names says the same
  "$gnndata" convert "$table" "w_$1.safetensors" --reorder="$1" >out 2>err || return 1
  for field in a y edges w; do "$gnndata" head "w_$1.safetensors" $field 100000 >"w_$field" || return 1; done
  paste -d' ' w_edges w_w | tr -d ':' | awk 'FILENAME == "w_a" { sub(":", "", $1); a[$1] = $2; next } FILENAME == "w_y" { sub(":", "", $1); bad += $2 != a[$1] % 5; next }
    FILENAME ~ /ids/ { split($0, w, ","); gsub("\"", "", w[2]); if (FNR > 1) bad += w[2] != a[w[1]]; names++; next } { edges++; bad += $6 != a[$2] * 300 + a[$4] } END { print edges, names, bad + 0; exit bad || edges < 500 || names != 301 }' w_a w_y "w_$1.safetensors.ids.csv" - >>out
}
renumbered degree
ok $? "--reorder=degree: nodes and edges keep what is theirs"
run "$gnndata" info w_degree.safetensors; says "made with: --reorder=degree"
renumbered rcm
ok $? "--reorder=rcm, too"
exits 2 "--reorder by something else" "$gnndata" convert karate x.safetensors --reorder=rmc; says "did you mean rcm?"
exits 2 "another ending" "$gnndata" convert karate x.npz
exits 4 "no such file" "$gnndata" info nowhere; says "E0001"
echo "not ours" >theirs.safetensors
exits 4 "not overwritten" "$gnndata" convert karate theirs.safetensors; says "did not write it"
exits 0 "overwritten with --force" "$gnndata" convert karate theirs.safetensors --force
exits 4 "no such folder" "$gnndata" convert karate no/where.safetensors
head -c 700 k.safetensors >cut.safetensors
exits 1 "truncated" "$gnndata" check cut.safetensors; says "truncated"
[ ! -e x.safetensors ]; ok $? "nothing was written on failure"
ls | grep -q 'tmp-'; [ $? -ne 0 ]; ok $? "no temporary file is left"

# ---- a produced program ----
golden train "$toy" --out t
golden train_runs "$toy" --runs 3 --epochs 20 --out runs3
golden info "$toy" info
golden train_help "$toy" --help
[ -s t/best.safetensors ] && [ -s t/last.safetensors ] && [ -s runs3/run2/last.safetensors ] && [ -s runs3/run.json ]; ok $? "weights and run.json are saved"
ls t | grep -c checkpoint- | grep -qx 2; ok $? "two checkpoints are kept"
exits 0 "version" "$toy" --version
exits 2 "unknown option" "$toy" --epohcs 3; says "did you mean --epochs?"
exits 2 "a number of epochs that is too large" "$toy" --epochs 99999999999999999999; says "at least 0, and below 2^63"
exits 2 "unknown command" "$toy" trian; says "did you mean train?"
exits 2 "--device" "$toy" --device 0
exits 2 "option of another command" "$toy" train --classes
exits 2 "a number that is none" "$toy" --lr fast
exits 2 "a value is missing" "$toy" --epochs
exits 0 "no epochs" "$toy" --epochs 0 --out zero; says "best epoch 0:"
exits 0 "quiet" "$toy" -q --epochs 3 --out quiet
[ ! -s out ]; ok $? "quiet says nothing"
exits 0 "one thread" "$toy" -q --threads 1 --out one
exits 0 "three threads" "$toy" -q --threads 3 --out three
cmp -s one/last.safetensors three/last.safetensors && cmp -s one/best.safetensors three/best.safetensors; ok $? "any number of threads gives the same bytes"
exits 0 "sparse features" "$toy" %sparse -q --out sparse

exits 0 "logs" "$toy" --log csv --log jsonl --log tb=board --out logs --every 1 --epochs 5 --progress=none
[ "$(head -1 logs/log.csv)" = run,epoch,loss,train,valid,test,lr,seconds,gpu_peak,host_peak,ssd_bytes ] &&
  [ "$(wc -l <logs/log.csv)" -eq 6 ] && [ "$(wc -l <logs/log.jsonl)" -eq 5 ] && [ "$(tail -1 logs/log.csv | tr -cd , | wc -c)" -eq 10 ]
ok $? "log.csv and log.jsonl have a row an epoch"
events=(board/events.out.tfevents.*)
# the first record: 24 bytes of Event{wall_time, file_version}, and the known checksum of that length
[ "$(head -c 12 "${events[0]}" | od -An -tx1 | tr -d ' \n')" = 1800000000000000a37f4b22 ]; ok $? "the event file is framed as TensorBoard wants"

# ---- the page of curves ----
exits 0 "--log html" "$toy" --log html --log csv --runs 2 --out page --progress=none; says "log: page/log.html"
rows() { sed -n '/"rows":\[$/,/^],"best"/p' "$1" | sed '1d;$d'; } # FILE: of a page
diff <(rows page/log.html | tr -d '[]' | sed 's/,$//; s/null//g') <(tail -n +2 page/log.csv | cut -d, -f1-8) >out 2>err; ok $? "  has the rows of log.csv"
bests() { sed -n '/"best":\[$/,/^],"stride"/p' "$1" | sed '1d;$d' | tr -d '[]'; }
"$toy" --runs 2 --out again_page --progress=none 2>err | sed -nE 's/.*best epoch ([0-9]+): train ([0-9.]+)  valid ([0-9.]+)  test ([0-9.]+) .*/\1 \2 \3 \4/p' >told
bests page/log.html | awk -F, '{ printf "%d %.4f %.4f %.4f\n", $2, $3, $4, $5 }' >out; [ -s told ] && diff told out >err 2>&1; ok $? "  has the best epochs that are told"
! grep -nE '(src|href)=|https?://[^w]|@import|url\(' page/log.html >out; ok $? "  loads nothing"
exits 2 "--log of no kind" "$toy" --log htm; says "--log takes csv, jsonl, html or tb=DIR"
"$toy" -q --log html --every 1 --out paged >out 2>err
"$toy" -q --epochs 100000000 --log html --every 1 --out killed >out 2>err &
pid=$!
for i in $(seq 300); do [ -s killed/log.html ] && [ "$(rows killed/log.html | wc -l)" -gt 1000 ] && break; sleep 0.05; done
kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null
[ "$(rows killed/log.html | wc -l)" -gt 1000 ] && [ "$(rows killed/log.html | wc -l)" -le 8192 ] && [ "$(tail -1 killed/log.html)" = "</html>" ]; ok $? "  is whole where the training was killed, and no longer than 8192 rows"
exits 0 "  of very many epochs" "$toy" -q --epochs 40000 --log html --every 1 --out many
[ "$(rows many/log.html | wc -l)" -le 8192 ] && rows many/log.html | tail -1 | grep -q '^\[0,40000,' && grep -q '^],"stride":8}' many/log.html; ok $? "  has some of them, and the last"
mkdir -p unwritable/log.html
exits 4 "  that cannot be written" "$toy" -q --log html --epochs 3 --out unwritable; says "unwritable/log.html"
if command -v python3 >/dev/null && { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null; then
  cp page/log.html one.html; cp paged/log.html two.html
  python3 -B "$here/log_page.py" one.html two.html page/log.csv >tap 2>err
  while read -r status name; do [ "$status" = ok ]; ok $? "  $name"; done <tap
  [ -s tap ]; ok $? "  in a browser"
else
  n=$((n + 1)); echo "ok $n - --log html in a browser # SKIP python3 and chromium are needed"
fi

exits 0 "a log without a folder" "$toy" --log csv --log jsonl --epochs 3 --progress=none; says "log: toy.out/log.csv"
[ -s toy.out/log.csv ] && [ -s toy.out/log.jsonl ]; ok $? "  lies where it says"

# ---- the live line, on a terminal of its own ----
terminal() { # LOCALE COLUMNS OPTION...: the live lines, one a line
  local locale=$1 columns=$2
  shift 2
  LC_ALL=$locale script -qec "stty cols $columns; $toy --epochs 200 --out live $*" /dev/null </dev/null >typescript 2>err
  tr '\r' '\n' <typescript | sed 's/\x1b\[K//g' | LC_ALL=C grep '^\(>\|▸\) ' >out
}
fits() { # COLUMNS TEXT: no line is wider, each has the text
  [ -s out ] && [ "$(LC_ALL=C.UTF-8 wc -L <out)" -le "$1" ] && ! grep -qv -- "$2" out
}
terminal C.UTF-8 200
says "▸ 1/200  loss "; says "(best "; says "/epoch"; says " left  gpu "; says " of 1.0 MiB"
terminal C.UTF-8 80 --runs 2
fits 79 'loss .*  valid .* left  gpu 14.3 KiB'; ok $? "  has the time left and the memory in 80 columns"
terminal C.UTF-8 50 --runs 2
fits 49 '^▸ run . .*/200  loss .* left'; ok $? "  has the time left in 50 columns"
terminal C 64
! LC_ALL=C grep -q '[^ -~]' out && grep -q '^> 1/200' out; ok $? "  is ASCII where the locale is not UTF-8"
fits 63 ' left  gpu 14.3 KiB$'; ok $? "  has the memory in 64 columns"
COLUMNS=40 "$toy" --epochs 20 --progress=bar --out live >typescript 2>err
tr '\r' '\n' <typescript | LC_ALL=C grep '/20  loss' | sed 's/\x1b\[K//g' >out; fits 39 ' left$'; ok $? "  is as wide as COLUMNS where there is no terminal"
COLUMNS=0 "$toy" --epochs 20 --progress=bar --out live >typescript 2>err
tr '\r' '\n' <typescript | LC_ALL=C grep '/20  loss' | sed 's/\x1b\[K//g' >out; fits 79 ' of 1.0 MiB$'; ok $? "  COLUMNS=0 is no width"

# The table of epochs.
table() { # COLUMNS [ENVIRONMENT]: the head and the first row
  env LC_ALL=C.UTF-8 ${2:+"$2"} script -qec "stty cols $1; $toy --epochs 20 --out live --progress lines" /dev/null </dev/null 2>err | tr -d '\r' >typescript
  sed 's/\x1b\[[0-9;]*m//g' typescript >out
}
table 60; grep -qx 'epoch    loss    train   valid    test      time' out; ok $? "the table of epochs has all columns in 60"
for columns in 100 50 40 24; do
  table $columns; grep -q '^epoch' out && [ "$(sed '/^best/,$d' out | LC_ALL=C.UTF-8 wc -L)" -le $columns ]; ok $? "  fits $columns"
done
grep -qx 'epoch    loss    valid' out; ok $? "  has valid alone where there is no room for more"
table 60; grep -q $'\x1b''\[1mepoch' typescript; ok $? "  has a strong head on a terminal"
table 60 NO_COLOR=1; ! grep -q $'\x1b''\[1m' typescript; ok $? "  but not with NO_COLOR"
"$toy" --epochs 20 --out live --progress lines >out 2>err; ! grep -q $'\x1b' out && grep -qx 'epoch    loss    train   valid    test      time' out; ok $? "  nor in a pipe, which has all columns"

"$toy" -q --epochs 25 --out t >out 2>err
ls t | grep checkpoint- >out; [ "$(tr '\n' ' ' <out)" = "checkpoint-r0-e000020.safetensors checkpoint-r0-e000025.safetensors " ]; ok $? "checkpoints of an earlier session make room"

turns=0
"$toy" -q --out pieces --log html --time-limit 0.000001s 2>err >out; code=$?
while [ $code -eq 75 ] && [ $turns -lt 100 ]; do
  turns=$((turns + 1))
  "$toy" -q --out pieces --log html --resume --time-limit 0.000001s 2>err >out
  code=$?
done
[ $code -eq 0 ] && [ $turns -eq 59 ]; ok $? "a run in sixty pieces ($turns resumed, exit $code)"
cmp -s pieces/last.safetensors one/last.safetensors && cmp -s pieces/best.safetensors one/best.safetensors; ok $? "pieces give the same bytes as the whole"
numbers() { rows "$1" | cut -d, -f1-7; }
[ "$(numbers paged/log.html | wc -l)" -eq 60 ] && diff <(numbers paged/log.html) <(numbers pieces/log.html) >out && diff <(bests paged/log.html) <(bests pieces/log.html) >>out
ok $? "their page has each row once, and the same best epoch"
exits 4 "nothing to resume" "$toy" --resume --out empty
ln -sf "$toy" renamed
exits 4 "what goes wrong is said by the program as it is called" ./renamed --resume --out empty; grep -q '^renamed: error' err; ok $? "  by its name"
"$toy" -q --out partial --runs 2 --time-limit 0.000001s >out 2>err
"$toy" -q --out partial --runs 2 --resume >out 2>err && "$toy" -q --out whole --runs 2
[ "$(sed 1,2d partial/run.json)" = "$(sed 1,2d whole/run.json)" ]; ok $? "two runs, resumed, end with the same numbers"

"$toy" -q --out seeded --runs 2 --seed 5 --time-limit 0.000001s >out 2>err
exits 1 "resume with another seed" "$toy" --out seeded --runs 2 --seed 4 --resume; says "with --seed 5, not 4"
exits 0 "resume without the seed" "$toy" --out seeded --runs 2 --resume; says "seed 5"
"$toy" -q --out seeded_whole --runs 2 --seed 5 >out 2>err
cmp -s seeded/run1/last.safetensors seeded_whole/run1/last.safetensors; ok $? "later runs of a resumed training keep its seeds"
exits 4 "standard output is full" bash -c '"$0" --progress=lines --epochs 3 --out full >/dev/full' "$toy"; says "cannot write to standard output"
exits 4 "gnndata: standard output is full" bash -c '"$0" info karate >/dev/full' "$gnndata"; says "cannot write to standard output"

signal() { # SIGNAL CODE
  "$toy" --epochs 100000000 --out "sig$1" --progress=none >out 2>err &
  local pid=$! tries=0
  while [ ! -e "sig$1/checkpoint-r0-e000020.safetensors" ] && [ ! -d "sig$1" ] && [ $tries -lt 100 ]; do sleep 0.05; tries=$((tries + 1)); done
  [ "$1" = USR1 ] && kill -USR2 $pid && sleep 0.1
  kill -"$1" $pid
  wait $pid
  code=$?
  [ $code -eq "$2" ] && ls "sig$1" | grep -q checkpoint-; ok $? "SIG$1: a checkpoint, exit $2 (got $code)"
}
signal USR1 75
says "▸ "
signal TERM 143
set -m; signal INT 130; set +m

exits 2 "a learning rate below 0" "$toy" --lr -1; says "--lr is the learning rate: -1 is below 0"
exits 5 "not a number" "$toy" --lr 1e39 --out nan; says "R0803"
says "; the largest gradient of this epoch: 0.048 in lin.weight"
exits 0 "not a number, and going on" "$toy" --lr 1e39 --nan=continue --out nan --epochs 5
exits 0 "eval" "$toy" eval --out t; says "valid        10 nodes"
exits 2 "eval of no split" "$toy" eval --split vaild --out t
exits 4 "eval without weights" "$toy" eval --out empty
exits 0 "eval after several runs" "$toy" eval --out runs3; says "weights from runs3/run0/best.safetensors"
"$toy" -q --epochs 3 --out again >out 2>err && "$toy" -q --epochs 3 --runs 2 --out again >out 2>err
exits 0 "eval after one run and then several" "$toy" eval --out again; says "weights from again/run0/best.safetensors"
true & dead=$! # a process that is no more by the time of the next start
wait $dead
mkdir -p again/run1
ours="again/best.safetensors.tmp-$dead-0 again/checkpoint-r0-e000020.safetensors.tmp-$dead-5e again/run.json.tmp-$dead-a1 again/log.html.tmp-$dead-b2 again/run1/last.safetensors.tmp-$dead-7"
others="again/best.safetensors.tmp-$$-0 again/notes.tmp-$dead-0 again/best.safetensors.tmp-x-0"
touch $ours $others
exits 0 "a start after a kill" "$toy" -q --epochs 3 --runs 2 --out again
ls $ours >out 2>err; [ ! -s out ]; ok $? "  what a dead process was writing is gone"
ls $others >out 2>err; ok $? "  what is not ours, or of a process that lives, stays"
exits 0 "weights" "$toy" --weights t/last.safetensors --epochs 1 -q --out w
exits 4 "damaged weights" "$toy" --weights cut.safetensors -q --out w
exits 1 "other weights" "$toy" --weights k.safetensors -q --out w; says "R0804"
exits 0 "predict" "$toy" predict -o p.npy --out t
[ "$(stat -c %s p.npy)" -eq $((128 + 34 * 4 * 4)) ]; ok $? "34 rows of 4 scores"
exits 0 "predict classes of a split" "$toy" predict -o p.csv --classes --split test --out t
[ "$(wc -l <p.csv)" -eq 21 ] && [ "$(head -1 p.csv)" = node,class ]; ok $? "20 rows and a header"
exits 0 "predict a layer" "$toy" predict -o l.npy --layer projected --out t
exits 2 "predict no such layer" "$toy" predict -o l.npy --layer projcted --out t; says "did you mean projected?"
exits 2 "predict a field as if it were a layer" "$toy" predict -o l.npy --layer x --out t; says '"x" is a field of the data; gnndata head prints its rows'
exits 2 "predict without a file" "$toy" predict --out t
exits 0 "other data of the shapes" "$toy" -q --data k.safetensors --epochs 2 --out d
exits 4 "data that are not there" "$toy" --data nowhere; says "E0001"
exits 1 "data that do not fit" "$toy" --data s.safetensors; says "R0802"
exits 0 "info --json" "$toy" info --json
exits 0 "check" "$toy" check; says "data fit the plan"
exits 0 "bench" "$toy" bench --epochs 4 --warmup 1 --json; says '"median":'
exits 0 "gradients" "$toy" gradients -o g.safetensors; says "wrote g.safetensors: loss "
head -c 2000 g.safetensors | tr -c '[:print:]' ' ' >out
grep -q '"lin.weight"' out && grep -q '"lin.bias"' out && grep -q '"gnncc.loss":"[0-9]' out; ok $? "  of every weight, with the loss"
exits 2 "gradients without a file" "$toy" gradients; says "gradients needs a file to write"
exits 4 "gradients of weights that are not there" "$toy" gradients -o g.safetensors --weights none.safetensors
exits 0 "gradcheck" "$toy" gradcheck; says "all gradients agree"
exits 0 "gradcheck of sparse features" "$toy" %sparse gradcheck
exits 1 "gradcheck finds an error of 1 %" "$toy" gradcheck --drop -1; says "lin.bias"

# ---- tiers ----
for mode in host ssd ring mixed; do
  exits 0 "$mode" "$toy" "%$mode" -q --out "t_$mode"
  cmp -s one/last.safetensors "t_$mode/last.safetensors" && cmp -s one/best.safetensors "t_$mode/best.safetensors"; ok $? "  the bytes of the program that moves nothing"
done
exits 0 "serial lanes" "$toy" %mixed -q --serial-lanes --out t_serial
cmp -s one/last.safetensors t_serial/last.safetensors; ok $? "  the same bytes"
exits 0 "check of tiers" "$toy" %mixed check; says "host arena: planned 1.9 KiB, touched 1.9 KiB"
says "scratch file: planned 32.0 KiB, written 32.0 KiB"
says "epoch: estimated 1.0 ms, measured "
exits 0 "gradcheck of tiers" "$toy" %ring gradcheck; says "all gradients agree"
mkdir scratch
exits 0 "info of tiers" "$toy" %mixed info --scratch scratch; says "lanes        compute, d2h, h2d, ssd write, ssd read; 16 copies"
says "scratch      scratch: "
exits 0 "info of tiers, --json" "$toy" %mixed info --json; says '"lanes":["d2h","h2d","ssd write","ssd read"],"scratch":"'
exits 0 "verbose" "$toy" %ssd -v --epochs 1 --scratch scratch --out t_v; says "scratch scratch: "
[ -z "$(ls -A scratch)" ]; ok $? "the scratch file has no name"
for command in train eval check bench profile "predict -o s.npy" "gradients -o g.safetensors" gradcheck; do
  exits 4 "$command without the folder" "$toy" %ssd $command --scratch nowhere; says "cannot make a scratch file in \"nowhere\""
  exits 4 "$command with a full disk" bash -c 'ulimit -f 20; trap "" XFSZ; exec "$0" %ssd "$@"' "$toy" $command; says "error[R0805]: the scratch disk is full"
done
exits 0 "profile" "$toy" %mixed %sim profile --epochs 2 -o measured.json; says "wrote measured.json: 2 epochs"
grep -q '"measured": {"epochs": 2, "epoch_s": 0.[1-9]' measured.json && grep -q '"serial_lanes": false' measured.json &&
  grep -q '"host_peak_bytes": 1920, "ssd_peak_bytes": 32768' measured.json && [ "$(grep -c '"step": ' measured.json)" -eq 9 ]
ok $? "  epochs, peaks, nine steps"
exits 0 "profile, nothing moved" "$toy" profile -o measured.json
if command -v python3 >/dev/null; then python3 -m json.tool measured.json >out 2>err; ok $? "  it is JSON"; fi

exits 0 "profile again" "$toy" profile -o measured.json
echo "a diary" >diary
exits 4 "profile over what is no measurement" "$toy" profile -o diary; says "was not written by gnncc"
[ "$(cat diary)" = "a diary" ]; ok $? "  it is left alone"
exits 0 "profile to standard output" "$toy" profile -o -
[ ! -e - ] && head -c 1 out | grep -q '{' && tail -c 4 out | grep -q '}}'; ok $? "  is the JSON alone"
mkfifo pipe; exec 9<>pipe 8<pipe; timeout 20 cat <&8 >piped 9>&- & # it has a reader from the beginning, and no end before the program's
exits 0 "profile into a pipe" "$toy" profile -o pipe
exec 9>&- 8<&-; wait $!; [ -p pipe ] && grep -q '"measured"' piped; ok $? "  which stays a pipe"
exits 4 "profile to a full device" "$toy" profile -o /dev/full
exits 0 "predict to standard output" "$toy" predict -o - --classes --out t
[ "$(wc -l <out)" -eq 35 ] && [ ! -e - ]; ok $? "  is CSV"
ls | grep -q 'tmp-'; [ $? -ne 0 ]; ok $? "no temporary file is left"

# ---- control groups: files as the kernel would show them, mounted over its own ----
group() { # VERSION LIMIT USED RECLAIMABLE COMMAND...: in the group that this process is in
  local version=$1 limit=$2 used=$3 reclaimable=$4
  shift 4
  unshare -rm bash -c '
    version=$1 limit=$2 used=$3 reclaimable=$4
    shift 4
    mount -t tmpfs none /sys/fs/cgroup || exit 99
    if [ "$version" = 2 ]; then folder=/sys/fs/cgroup$(sed -n "s/^0:://p" /proc/self/cgroup) names="memory.max memory.current inactive_file"
    else folder=/sys/fs/cgroup/memory$(sed -n "s/^[0-9]*:\([^:]*,\)*memory\(,[^:]*\)*://p" /proc/self/cgroup) names="memory.limit_in_bytes memory.usage_in_bytes total_inactive_file"
    fi
    read -r most now free <<<"$names"
    mkdir -p "$folder" && echo "$limit" >"$folder/$most" && echo "$used" >"$folder/$now" && printf "cache 5\n%s %s\n" "$free" "$reclaimable" >"$folder/memory.stat" || exit 99
    exec "$@"' group "$version" "$limit" "$used" "$reclaimable" "$@"
}
for version in 2 1; do
  name="control groups, version $version"
  group $version max 0 0 true >out 2>err
  if [ $? -ne 0 ]; then
    n=$((n + 1)) && echo "ok $n - $name # SKIP nothing can be mounted over /sys/fs/cgroup here"
    continue
  fi
  exits 3 "$name: less memory than planned" group $version 67108864 67104768 0 "$toy" check; says "error[R0801]: memory has 4.0 KiB free, the plan needs "
  exits 3 "$name: the same before training" group $version 67108864 67104768 0 "$toy" -q --out grouped; [ ! -e grouped ]; ok $? "  nothing was started"
  exits 3 "$name: more is used than allowed" group $version 4096 8192 0 "$toy" check; says "memory has 0 B free"
  exits 0 "$name: what the kernel can take back is free" group $version 67108864 67104768 33554432 "$toy" check
  exits 0 "$name: no limit" group $version max 67104768 0 "$toy" check
done

# The file taken away under a program that trains.
"$toy" %mixed --progress=none --epochs 100000000 --scratch scratch --out cut >out 2>err &
pid=$! tries=0
while ! ls cut 2>/dev/null | grep -q checkpoint- && [ $tries -lt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
for fd in /proc/$pid/fd/*; do
  case $(readlink "$fd") in */scratch/*deleted*) truncate -s 4096 "$fd" ;; esac
done
wait $pid; code=$?
[ $code -eq 4 ]; ok $? "truncated while it trains: exit 4 (got $code)"
says "the scratch file in \"scratch\" was truncated: it holds "
says "  help: --resume goes on from epoch "

"$toy" -q --epochs 100000000 --out shared --log csv >out 2>err &
pid=$!
for i in $(seq 200); do [ -s shared/log.csv ] && break; sleep 0.05; done
exits 4 "a second training into the same folder" "$toy" -q --epochs 3 --out shared
says "another training is writing into \"shared\""
kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null
exits 0 "  and when the first is no more, not" "$toy" -q --epochs 3 --out shared

# Killed at any moment and resumed, by plans in turn: the bytes of a run that was left alone.
: "${KILLS:=12}"
epochs=$((KILLS * 300))
rm -rf killed
"$toy" -q --epochs $epochs --out alone >out 2>err
modes=(ssd mixed ring)
kills=0 turn=0
while [ $turn -lt "$KILLS" ]; do
  resume=--resume
  ls killed 2>/dev/null | grep -q "^checkpoint-.*safetensors$" || resume=
  "$toy" "%${modes[turn % 3]}" -q --epochs $epochs --scratch scratch --out killed $resume >out 2>err &
  pid=$!
  sleep "0.$(printf %03d $((RANDOM % 250)))"
  kill -9 $pid 2>/dev/null && kills=$((kills + 1))
  wait $pid 2>/dev/null
  turn=$((turn + 1))
done
resume=--resume
ls killed 2>/dev/null | grep -q "^checkpoint-.*safetensors$" || resume=
exits 0 "killed $kills times, and on" "$toy" %mixed -q --epochs $epochs --out killed $resume
cmp -s alone/last.safetensors killed/last.safetensors && cmp -s alone/best.safetensors killed/best.safetensors; ok $? "  the same bytes"
[ -z "$(ls -A scratch)" ]; ok $? "  no scratch file is left behind"

"$toy" info >/dev/full 2>err; [ $? -eq 4 ]; ok $? "a full disk: exit 4"
echo "1..$n"
