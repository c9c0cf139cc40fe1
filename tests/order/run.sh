#!/bin/bash
# run.sh BUILD: data { order = ... }: an order changes the order of sums, and nothing else that anybody sees.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
root=$here/../..
. "$here/../tap.sh"
gnncc=$build/gnncc gnndata=$build/gnndata
workplace
cc -O1 -I"$root" -o make_graph "$here/make_graph.c" "$build/share/libgnnrt.a" -l:libz.a -lm || exit 2

# Without the half in double precision, which only gradcheck runs.
makes() { # PROGRAM MODEL.gnn OPTION...
  local name
  name=$(basename "$2" .gnn)
  rm -rf gen && "$gnncc" -w --verify -S "${@:3}" "$2" -o gen &&
    gcc -std=gnu11 -O0 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -Igen "gen/$name.c" gen/main.c "$build/share/libgnnrt.a" \
      -o "$1" -l:libz.a -lm -lpthread
}
model() { # NAME GRAPH ORDER
  sed "s|GRAPH|$2|; s|ORDER|${3:+order = $3}|" "$here/model.gnn" >"m_$1.gnn"
}
numbers() { tail -c +$((9 + $(od -An -t u8 -N 8 "$1" | tr -d ' '))) "$1"; } # FILE.safetensors: what follows the header
trains() { # PROGRAM OUT OPTION...
  rm -rf "$2" && "./$1" -q --threads 1 --every 1 --log csv --out "$2" "${@:3}"
}
curve() { cut -d, -f1-6 "$1/log.csv"; } # OUT: losses and accuracies
same() { diff <(curve "$1") <(curve "$2") && cmp <(numbers "$1/last.safetensors") <(numbers "$2/last.safetensors"); } # OUT OUT: to the last bit
near() { # OUT OUT: losses to 1e-5 of them; hits are counted, and a tie may go either way
  paste -d, <(curve "$1") <(curve "$2") | awk -F, 'function far(a, b, most) { return a - b > most || b - a > most }
    NR > 1 { if (far($3, $9, 1e-5 * $9) || far($4, $10, 0.01) || far($6, $12, 0.01)) { print; bad = 1 } } END { exit bad || NR < 6 }'
}
near_numbers() { # FILE.csv FILE.csv: the same rows of the same nodes, numbers to 1e-4 of the greatest
  paste -d, "$1" "$2" | awk -F, 'NR == 1 { next } { n = NF / 2 }
    { if ($1 != $(n + 1)) { print; bad = 1 } for (c = 2; c <= n; c++) { d = $c - $(n + c); d = d < 0 ? -d : d; m = m < $c ? $c : m; worst = worst < d ? d : worst } }
    END { print NR, worst, m; exit bad || NR < 100 || worst > 1e-4 * m }'
}
differs() { ! "$@"; }

for graph in hub isolated directed; do
  check "$graph: a graph" ./make_graph $graph $graph
  check "$graph: its given order as a file" "$gnndata" order $graph --method given -o $graph.order
  model given $graph "" && model identity $graph "\"$graph.order\"" && model nested $graph nested && model reversed $graph "\"$graph.npy\""
  for order in given identity nested reversed; do check "$graph, $order: compiles" makes $order m_$order.gnn; done
  check "$graph: trains" trains given given.out
  check "$graph, identity: trains" trains identity identity.out
  check "$graph: the given order from a file leaves the same bits" same given.out identity.out
  check "$graph: dropout counts: with another seed the losses are others" bash -c "$(declare -f trains curve near differs); trains given other.out --seed 5 --weights given.out/last.safetensors && trains given started.out --weights given.out/last.safetensors && differs near other.out started.out"
  for order in nested reversed; do
    check "$graph, $order: trains" trains $order $order.out
    check "$graph, $order: the masks of dropout are the same" near $order.out given.out
    check "$graph, $order: it is another order" differs same $order.out given.out
    check "$graph, $order: the same without dropout" bash -c "$(declare -f trains curve near); trains given dry.out --drop 0 && trains $order $order.dry --drop 0 && near $order.dry dry.out"
    for what in "" "--split test" "--layer conv1" "--split train --layer conv1"; do
      check "$graph, $order: predict $what is in the order of the data" bash -c "$(declare -f near_numbers); for p in given $order; do ./\$p predict -q --weights given.out/last.safetensors $what -o \$p.csv || exit; done; near_numbers $order.csv given.csv"
    done
    check "$graph, $order: so it is as .npy" bash -c "./$order predict -q --weights given.out/last.safetensors --classes -o a.npy && ./given predict -q --weights given.out/last.safetensors --classes -o b.npy && cmp a.npy b.npy"
  done
  check "$graph, nested: the same bits with three threads" bash -c "$(declare -f trains curve numbers same); trains nested three.out --threads 3 && same three.out nested.out"
done
check "what nested bisection made is kept, beside nobody's data" test "$(find . -path ./cache -prune -o -name 'order-*' -print | wc -l)-$(find cache -name 'order-*' | wc -l)" = 0-3
check "graph of the last: without its cache, the same bits" bash -c "$(declare -f trains curve numbers same); rm -rf cache && trains nested anew.out && same anew.out nested.out"
check "in a double build gradients agree with finite differences" bash -c "'$gnncc' -w -fgradcheck m_nested.gnn -o whole && ./whole gradcheck"

# ---- the plan says where an order pays ----
# On a machine of stated speed. 48 communities whose nodes stand anywhere; more edges than are looked at.
cat >box.gnn <<'TARGET'
target box {
  device cpu { memory = 16GiB; bandwidth = 20GB/s; fp32 = 200GFLOP/s }
}
TARGET
advises() { # NAME ORDER EPOCHS [KIND [NODES]]: a model m_NAME.gnn
  cat >"m_$1.gnn" <<MODEL
data g from synth(kind = "${4:-sbm}", nodes = ${5:-30000}, degree = 20, features = 16, classes = 48, seed = 2) { order = $2 }
model m on g {
  h = x |> SAGE(128) |> relu
  return h |> SAGE(128) |> relu |> SAGE(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = $3 }
MODEL
}
advises far given 10_000
advises short given 2
advises near nested 10_000
advises grid given 10_000 grid
advises tiny given 100_000 sbm 400
planned() { "$gnncc" -w --target=box.gnn "${@:2}" "m_$1.gnn"; } # NAME OPTION...
note='order = nested  *.* per epoch (now .*), in the data block; making the order takes about .*, once'
told() { planned "$1" --plan | tee /dev/stderr | grep -q "$note"; }
untold() { planned "$1" --plan >said && planned "$1" --plan=json >said.json && ! grep "$note" said && ! grep '"nested"' said.json; }
seconds_of() { planned "$1" --plan=json | awk -F'[:,]' -v object="\"$2\"" '$1 ~ object { there = 1 } there && $1 ~ /"seconds"/ { print $2; exit }'; } # NAME OBJECT
near_enough() { # what is said is what the order brings, to a twentieth, and less by a twentieth than without
  local given told nested
  given=$(seconds_of far epoch) told=$(seconds_of far nested) nested=$(seconds_of near epoch)
  echo "given $given, nested as told $told, nested $nested"
  awk -v given="$given" -v told="$told" -v nested="$nested" 'BEGIN { exit !(told > 0 && told <= 0.95 * given && told < 1.05 * nested && nested < 1.05 * told) }'
}
check "communities that stand anywhere: the plan advises a nested order" told far
check "so many seconds as the plan in that order has" near_enough
advised_in_files() { planned far -q --plan=json --emit=report=far.html >far.json && grep -q '"write": *"order = nested"' far.json && grep -q '"nested": *{"seconds"' far.html; }
check "a report page says so, too" advised_in_files
check "not where the order costs more than all epochs save" untold short
check "not where there is an order" untold near
check "not where neighbours stand together" untold grid
check "not of a graph that caches hold" untold tiny
sed 's/|> SAGE(y.classes)/|> Row() |> SAGE(y.classes)/; 1i layer Row(x : node[f]) {\n  param w : node[f] = ones\n  return x * w\n}' m_far.gnn >m_rows.gnn
check "not where weights stand in the order of the data" untold rows
check "it is advice alone: the same source with it and without" bash -c "'$gnncc' -q -w --target=box.gnn --emit=c=told.c --emit=report=far.html m_far.gnn -o told && '$gnncc' -q -w --target=box.gnn --emit=c=plain.c m_far.gnn -o plain && cmp told.c plain.c"

# ---- checkpoints ----
sed 's/epochs    = 5/epochs = 6\n  checkpoint = every(3)/' m_nested.gnn >m_stops.gnn
sed 's/order = nested/order = "directed.npy"/' m_stops.gnn >m_otherwise.gnn
check "a model with checkpoints" makes stops m_stops.gnn
check "the same in another order" makes otherwise m_otherwise.gnn
check "a run of six epochs" trains stops six.out
check "a run of three" trains stops three.out --epochs 3
check "resumed under the same order: the same bits" bash -c "$(declare -f numbers); ./stops -q --threads 1 --out three.out --resume --epochs 6 && cmp <(numbers three.out/last.safetensors) <(numbers six.out/last.safetensors)"
resumes_otherwise() { ./otherwise -q --out refused.out --resume="$(ls three.out/checkpoint-*.safetensors | head -1)" >said 2>&1; }
refuse 1 "resumed under another order: refused" resumes_otherwise
check "it says so" grep 'R0804' said

# ---- what the user is told of nodes is in the data's numbers ----
printf '%s\n' 'layer Far(x : node[f], out) {' '  param W : [f, out] = ones' '  q = x @ W' '  n = sum(src.q)' '  return log(16.5 - n)' '}' 'data g from karate() { order = "club.npy" }' \
  'model far on g {' '  h = x |> Far(3)' '  return h |> Linear(y.classes)' '}' 'train far { loss = cross_entropy(out, y); optimizer = sgd(lr = 0.1); epochs = 9 }' >far.gnn
{ printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (34,), }"; for node in $(seq 33 -1 0); do printf "\\$(printf %o "$node")"; done; } >club.npy
check "the club in another order" makes far far.gnn
finds() { ./far -q >found 2>&1; cat found; grep -q 'node 33, column 0 is NaN' found; }
check "the first value that is not finite: its node" finds

# ---- host programs ----
scores() { # ORDER: of a host program around the model in that order
  sed 's/e : edge, //; s/ \* e / /; s/edge_w, //' "m_$1.gnn" >api.gnn && rm -rf "api_$1" && "$gnncc" -q -w -S --prefix=model api.gnn -o "api_$1" &&
    gcc -std=gnu11 -O0 -march=native -ffp-contract=off -I"api_$1" -I"$root" -I"$root/runtime" "$here/host.c" "api_$1/model.c" "$build/share/libgnnrt.a" -o host -l:libz.a -lm -lpthread &&
    ./host directed | awk -F, 'BEGIN { print "node" } { print NR - 1 "," $0 }' >"$1.scores"
}
check "a host program's scores" scores given
for order in nested reversed; do
  check "a host program's scores, $order" scores $order
  check "$order: rows are the host's nodes" near_numbers $order.scores given.scores
done

# ---- orders that are none ----
says() { # TEXT ORDER: the compiler refuses it where it is written
  model bad directed "$2"
  "$gnncc" --check m_bad.gnn >said 2>&1
  local status=$?
  cat said
  [ $status -ne 0 ] && grep -q "^m_bad.gnn:10:41: error.*$1" said
}
"$gnndata" order hub -o hub.order >/dev/null
head -c 500 directed.order >short.order
check "a file that is not there" says 'E0001.*there is no order "nowhere.order"' '"nowhere.order"'
check "an order of another graph" says 'E0710.*made for another graph' '"hub.order"'
check "a file of other things" says 'E0710.*holds no order' '"m_given.gnn"'
check "an order of fewer nodes" says 'E0710.*has 34 nodes, the data 1,500' '"club.npy"'
check "a word that is no order" says 'E0217.*must be given, nested or the name of a file.*nested' 'nestde'
check "a number" says 'E0217.*must be given, nested' '7'
check "what is to come" says 'E0110.*metis' 'metis'
compile_cut() { "$gnncc" --check m_cut.gnn >said 2>&1; }
model cut directed '"short.order"'
refuse 1 "a file that was cut off" compile_cut
cp directed.order moving.order
model moved directed '"moving.order"'
check "a program of an order in a file" makes moved m_moved.gnn
check "it runs" trains moved moved.out
"$gnndata" order directed -o moving.order >/dev/null
runs_on_other() { ./moved -q >said 2>&1; }
refuse 1 "not with another order than it was compiled with" runs_on_other
check "it says so" grep 'E0710.*compiled with' said
check "the order belongs to the program's fingerprint" bash -c "for p in moved given; do ./\$p info --json | grep -o '\"fingerprint\":\"[^\"]*\"' >\$p.print; done; ! cmp moved.print given.print"
finish
