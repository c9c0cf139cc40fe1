#!/bin/bash
# run.sh BUILD: sets of graphs: folds, batches of whole graphs, kinds of fields.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnncc=$build/gnncc
workplace
cp -r "$here/data" "$here/models" .
cd models
export CFLAGS=-O0

# ---- folds ----

rows_of() { # PROGRAM FOLD: graphs and whether they are tested, of the fold
  "./$1" predict -q --weights "$1.out/run0/last.safetensors" --fold "$2" --split test -o - | tail -n +2 | cut -d, -f1
}
each_once() { # PROGRAM FOLDS LABELLED: every labelled graph is tested in one fold
  for k in $(seq 0 $(($2 - 1))); do rows_of "$1" "$k"; done | sort -n >tested && [ "$(wc -l <tested)" -eq "$3" ] && [ "$(uniq -d tested | wc -l)" -eq 0 ]
}
dealt() { # of the 23 labelled graphs, 8 of class 0 and 15 of class 1, each fold has a fair share of both
  for k in 0 1 2 3; do
    rows_of folds $k | awk '{ stars += $1 % 3 == 0; rings += $1 % 3 != 0 } END { exit !(stars == 2 && rings >= 3 && rings <= 4) }' || return 1
  done
}
report() { # LOG OUTPUT: the last line of the output names the epoch with the best mean over the folds' test curves
  awk -F, 'NR > 1 && ($2 % 2 == 0 || $2 == 9) { sum[$2] += $6; square[$2] += $6 * $6; runs[$2]++ }
    END { for (e = 1; e <= 9; e++) if (runs[e] == 4 && sum[e] / 4 > best + 1e-9) { best = sum[e] / 4; at = e }
          printf "4 folds at epoch %d, the best of the mean over their test curves (Xu et al. 2019): test %.4f %.4f\n", at, best, sqrt((square[at] - 4 * best * best) / 3) }' "$1" >wanted
  sed -n 's/ \(±\|+-\) / /p' "$2" | tail -1 | diff wanted -
}
resumed() { # from a checkpoint of the last run: the same weights, the same report
  cp -r folds.out half && ./folds --resume=half/checkpoint-r3-e000006.safetensors --out half >half.log &&
    cmp half/run3/last.safetensors folds.out/run3/last.safetensors && diff <(tail -2 folds.log) <(tail -2 half.log)
}
one_fold() { ./folds -q --fold 2 --out two && cmp two/last.safetensors folds.out/run2/last.safetensors && grep -q '"fold": 2' two/run.json; }
other_fold() { ./folds --fold 1 --resume --out two; }

check "folds: compiles" "$gnncc" --verify folds.gnn -o folds
check "folds: runs" sh -c "./folds --every 1 --log csv --out folds.out >folds.log"
check "folds: every labelled graph is tested once" each_once folds 4 23
check "folds: each has its share of both classes" dealt
check "folds: the epoch that is best in the mean" report folds.out/log.csv folds.log
check "folds: the same in run.json" grep -q '"mean_over_folds": {"epoch": [2-9], "test": 0\.[0-9]*, "deviation": 0\.[0-9]*, "folds": \[0\.[0-9]*, 0\.[0-9]*, 0\.[0-9]*, 0\.[0-9]*\]}' folds.out/run.json
check "folds: resumed in the last run, the same bits and the same report" resumed
check "folds: one of them alone is the run of all" one_fold
refuse 1 "folds: a checkpoint of another fold" other_fold
refuse 2 "folds: there is no such fold" ./folds --fold 4

sed 's/folds(4, seed = 3)/folds(valid = true)/' folds.gnn >stored.gnn
stored() { # graph g is tested in fold g % 4, but for 7 and 18, which are always trained on, and 20, which has no label
  for k in 0 1 2 3; do
    diff <(rows_of stored $k) <(seq 0 23 | awk -v k=$k '$1 % 4 == k && $1 != 7 && $1 != 18 && $1 != 20') || return 1
    diff <(./stored predict -q --weights stored.out/run0/last.safetensors --fold $k --split valid -o - | tail -n +2 | cut -d, -f1) <(rows_of stored $(((k + 1) % 4))) || return 1
  done
}
check "folds of the data: compiles" "$gnncc" stored.gnn -o stored
check "folds of the data: runs" ./stored -q --out stored.out
check "folds of the data: those that fold.npy names, the next one for validation" stored

spoil() { # NAME BYTES MESSAGE: fold.npy with other entries from the third on
  rm -rf ../spoilt && cp -r ../data ../spoilt && printf "$1" | dd of=../spoilt/fold.npy bs=1 seek=130 conv=notrunc status=none && "$gnncc" stored.gnn --data ../spoilt -o no 2>spoilt.log
  grep "error\[E0711\]: .*$2" spoilt.log
}
check "folds of the data: one that nobody is in" spoil '\011' "no row with a label is in fold 4 of 10"
nowhere() { rm -rf ../spoilt && cp -r ../data ../spoilt && rm ../spoilt/fold.npy && ! "$gnncc" stored.gnn --data ../spoilt -o no 2>spoilt.log && grep 'error\[E0711\]: .*brings no folds' spoilt.log; }
check "folds of the data: there are none" nowhere
longer() { cp ../data/y.npy ../spoilt/fold.npy && truncate -s 312 ../spoilt/fold.npy && sed -i 's/(24,)/(23,)/' ../spoilt/fold.npy && ! "$gnncc" stored.gnn --data ../spoilt -o no 2>spoilt.log && grep 'error\[E0711\]: .*have the shape \[23\]' spoilt.log; }
check "folds of the data: too few" longer
sed 's/folds(4, seed = 3)/folds(24)/' folds.gnn >many.gnn
refuse 1 "more folds than rows" "$gnncc" --check many.gnn

# ---- batches ----

cp -r ../data ../whole # with a label for every graph
printf '\001\000\000\000\000\000\000\000' | dd of=../whole/y.npy bs=1 seek=$((128 + 20 * 8)) conv=notrunc status=none

trains() { "./$1" -q --every 1 --log csv --out "$1.out" "${@:2}"; } # PROGRAM OPTION...
curves() { cut -d, -f2-6,12-14 "$1.out/log.csv"; }
near() { paste -d, <(curves "$1") <(curves "$2") | awk -F, -v share="$3" 'NR > 1 { n = NF / 2; d = $2 - $(2 + n); if (d < 0) d = -d; if (d > share * $2 || ($4 != "" && $4 != $(4 + n)) || ($5 != "" && $5 != $(5 + n))) { print; bad = 1 } } END { exit bad || NR != 7 }'; }
same_weights() { cmp <(tail -c 904 "$1.out/last.safetensors") <(tail -c 904 "$2.out/last.safetensors"); } # 226 numbers; the fingerprints differ
plain() { grep -v '^ *batch  *=\|^ *accumulate' "$1.gnn" >"$1_plain.gnn" && "$gnncc" -q -fno-hoist "$1_plain.gnn" -o "$1_plain" && trains "$1_plain"; }

whole() { plain batch && "$gnncc" -q --verify -D size=100 -D mix=false batch.gnn -o whole && trains whole && diff <(curves whole) <(curves batch_plain) && same_weights whole batch_plain; }
check "a batch of all graphs: the bits of training on all data" whole
check "batches: compiles" "$gnncc" -q --verify -fgradcheck batch.gnn -o batch
check "batches: runs" trains batch --threads 1
another() { "$gnncc" -q -D mix=false batch.gnn -o straight && trains straight && ! diff <(curves batch) <(curves straight); }
check "batches: the order of the data is another" another
check "batches: gradients" sh -c "./batch gradcheck | grep 'all gradients agree'"
threads() { mkdir -p three.out && ./batch -q --threads 3 --out three.out && same_weights batch three; }
check "batches: the same bits with one thread and with three" threads
resumed_batches() { ./batch -q --epochs 4 --out parts.out && ./batch -q --resume --out parts.out && same_weights batch parts; }
check "batches: resumed, the same bits" resumed_batches
tight() { "$gnncc" -q --budget device=28KiB --budget host=1MiB batch.gnn -o tight && ./tight info | grep 'host [1-9]' && trains tight && same_weights batch tight && ./tight check | grep 'keep-everything order.*the same to the last bit'; }
check "batches: the same bits by a plan with less memory" tight
layer() { ./batch predict -q --out batch.out -o scores.csv && ./batch predict -q --out batch.out --layer head -o layer.csv && cmp scores.csv layer.csv && [ "$(wc -l <scores.csv)" -eq 25 ]; }
check "batches: scores of all graphs, also by layer" layer
evaluated() { ./batch eval --out batch.out | grep "accuracy $(awk -F, 'END { printf "%.4f", $4 }' batch.out/log.csv)" && ./batch predict -q --out batch.out --classes -o - | awk -F, 'NR > 1 { right += $2 == ($1 % 3 != 0) } END { printf "accuracy %.4f\n", right / 24 }' | grep -Ff - <(./batch eval --out batch.out 2>/dev/null); }
check "batches: the accuracy is that of the classes predicted" evaluated
check "batches: the first batch's gradients" ./batch gradients -q -o gradients.safetensors
refuse 2 "batches: no profile" ./batch profile
check "batches: bench" ./batch bench --epochs 2 --warmup 1

single() { plain single && "$gnncc" -q --verify single.gnn -o single && trains single && near single single_plain 1e-5; }
check "one graph a batch and one update for all: the losses of all data" single
rows() { plain rows && "$gnncc" -q --verify rows.gnn -o rows && trains rows && near rows rows_plain 1e-5; }
check "labels of nodes: the losses and accuracies of all data" rows
called_y() { # y.npy with a row for each node is of nodes, in a set of graphs, too
  cp -r ../data ../by_node && mv ../by_node/kind.npy ../by_node/y.npy && rm ../by_node/fold.npy &&
    sed -e 's#\.\./data#../by_node#; s/kind/y/g' rows.gnn >called_y.gnn && "$gnncc" -q --verify called_y.gnn -o called_y &&
    ./called_y -q --log csv --every 1 --out called_y.out && ./rows -q --log csv --every 1 --out called_kind.out &&
    diff <(cut -d, -f1-6 called_y.out/log.csv) <(cut -d, -f1-6 called_kind.out/log.csv)
}
check "labels of nodes called y" called_y

# ---- labels of edges ----

python3 "$here/make_edges.py" ../edges
same_numbers() { cmp <(tail -c "$3" "$1.out/last.safetensors") <(tail -c "$3" "$2.out/last.safetensors"); } # the fingerprints differ
check "classes of edges: compiles" "$gnncc" -q --verify -fgradcheck kinds_of_edges.gnn -o kinds
check "classes of edges: gradients" sh -c "./kinds gradcheck | grep 'all gradients agree'"
check "classes of edges: runs" trains kinds --threads 1
check "classes of edges: the same bits with two threads" sh -c "./kinds -q --threads 2 --out two.out && cmp two.out/last.safetensors kinds.out/last.safetensors"
check "classes of edges: resumed, the same bits" sh -c "./kinds -q --epochs 4 --out half.out && ./kinds -q --resume --out half.out && cmp half.out/last.safetensors kinds.out/last.safetensors"
tight_kinds() { "$gnncc" -q --verify --budget device=32KiB --budget host=1MiB --policy=offload kinds_of_edges.gnn -o tight_kinds && ./tight_kinds info | grep 'host [1-9]' && trains tight_kinds && same_numbers kinds tight_kinds 3212 && diff <(curves kinds) <(curves tight_kinds); }
check "classes of edges: the same bits by a plan with less memory" tight_kinds
learned() { # some graphs have no edges, and others none to train on
  ./kinds -q --epochs 600 --out long.out && ./kinds predict -q --out long.out --split train --classes -o train.csv && head -1 train.csv | grep -qx 'source,destination,class' && python3 "$here/../links/compare_classes.py" ../edges train.csv
}
check "classes of edges: every class is learned, predictions name both ends" learned
check "classes of edges: predictions of all edges, in order" sh -c "sed 's/edge edge_y : class.3./&\n  undirected = true/' kinds_of_edges.gnn >both_ways.gnn && '$gnncc' -q both_ways.gnn -o both_ways && ./both_ways predict -q --weights kinds.out/last.safetensors -o both.csv && python3 '$here/../links/compare_order.py' ../edges both.csv"
whole_kinds() { # without batches, in one of all graphs and in small ones
  grep -v '^ *batch  *=' kinds_of_edges.gnn >kinds_plain.gnn && "$gnncc" -q -fno-hoist kinds_plain.gnn -o kinds_plain && ./kinds_plain predict -q --weights kinds.out/last.safetensors -o plain.csv && ./kinds_plain eval -q --weights kinds.out/last.safetensors >plain.eval || return 1
  "$gnncc" -q -D size=100 kinds_of_edges.gnn -o kinds_whole && ./kinds_whole predict -q --weights kinds.out/last.safetensors -o whole.csv && cmp plain.csv whole.csv || return 1
  "$gnncc" -q -D size=1 kinds_of_edges.gnn -o kinds_single || return 1
  for program in kinds kinds_whole kinds_single; do ./$program eval -q --weights kinds.out/last.safetensors | diff plain.eval - || return 1; done
}
check "classes of edges: measured in batches and at once, the same" whole_kinds
same_layer() { ./kinds predict -q --out kinds.out -o scores.csv && ./kinds predict -q --out kinds.out --layer head -o layer.csv && cmp scores.csv layer.csv; }
check "classes of edges: scores by layer are the scores" same_layer
packed_edges() { "$build/gnndata" convert ../edges edges.safetensors && "$gnncc" -q --data edges.safetensors kinds_of_edges.gnn -o packed_edges && trains packed_edges && same_numbers kinds packed_edges 3212; }
check "classes of edges: from a container, the same bits" packed_edges
told() { "$build/gnndata" info "$1" | tee told.log; grep -q 'splits     train 48  valid 27  test 24 *$' told.log && "$build/gnndata" check "$1" | grep '48 training edges'; }
check "classes of edges: gnndata says that the split is of edges" told ../edges
check "costs of edges: compiles" "$gnncc" -q --verify -fgradcheck costs_of_edges.gnn -o costs
check "costs of edges: gradients" sh -c "./costs gradcheck | grep 'all gradients agree'"
check "costs of edges: runs" trains costs
check "costs of edges: the same bits with one thread" sh -c "./costs -q --threads 1 --out one.out && cmp one.out/last.safetensors costs.out/last.safetensors"
check "costs of edges: every edge and its reverse once, in order" sh -c "./costs predict -q --out costs.out -o costs.csv && python3 '$here/../links/compare_order.py' ../edges costs.csv"
plain_costs() { plain costs_of_edges && near costs costs_of_edges_plain 1e-5; }
check "costs of edges: the losses of all data" plain_costs

embedded() { # the API: an epoch is all batches
  "$gnncc" -q -w -S --prefix=batch batch.gnn -o api && cat >host.c <<'END' && cc -std=gnu11 -O1 -march=native -ffp-contract=off -Iapi -I"$here/../../runtime" -I"$here/../.." host.c api/batch.c "$build/share/libgnnrt.a" -o host -l:libz.a -lm -lpthread && ./host >host.losses &&
#include <stdio.h>
#include "batch.h"
int main(void) {
  batch *job = NULL;
  batch_result result;
  float scores[24 * 2];
  batch_status status = batch_create(NULL, &job);
  if (status == BATCH_OK) status = batch_load(job, "../whole");
  for (int e = 0; e < 6 && status == BATCH_OK; e++) {
    status = batch_epoch(job, &result);
    printf("%.9g\n", result.loss);
  }
  if (status == BATCH_OK) status = batch_predict(job, scores, 24, 2);
  if (status == BATCH_OK) status = batch_eval(job, BATCH_TRAIN, &result);
  if (status != BATCH_OK) printf("%s\n", batch_error(job));
  batch_destroy(job);
  return status != BATCH_OK || result.count != 24;
}
END
    diff host.losses <(cut -d, -f3 batch.out/log.csv | tail -n +2)
}
check "batches: the same losses through the API" embedded

other() { ./batch --data "$1" -q 2>&1 | grep -q "$2"; } # DATA MESSAGE
refuse 1 "batches: other data that are one graph" ./batch --data karate
few() { "$gnncc" -q -D size=2 --data ../whole batch.gnn -o few && ! ./few --data ../larger -q 2>few.log; cat few.log; grep 'error\[R0802\]: the data have .* in a batch' few.log; }
python3 "$here/make_graphs.py" ../larger 40
check "batches: other data with larger graphs" few

nan() { # names the graph's node as the data do
  rm -rf ../spoilt && cp -r ../whole ../spoilt && printf '\377\377\177\177' | dd of=../spoilt/x.npy bs=1 seek=$((128 + 4 * 5 * 100)) conv=notrunc status=none
  ! ./straight --data ../spoilt --epochs 1 2>nan.log; cat nan.log; grep 'R0803.*node 99,' nan.log # of which 100 is a neighbour
}
check "batches: a bad value has the node's number in the data" nan

# ---- kinds of fields, the TU collection ----

made() { python3 "$here/make_graphs.py" ../made && for f in ../data/*.npy; do cmp "$f" "../made/${f##*/}" || return 1; done; mkdir ../tu && mv ../made/RINGS_* ../tu; }
check "the data are what make_graphs.py makes" made
sed 's/tu("..\/tu\/RINGS")/npy("..\/whole")/; s/node  x /node  kind /; s/h = x/h = kind/' onehot.gnn >kind.gnn
onehot() { "$gnncc" -q --verify onehot.gnn -o onehot && trains onehot && "$gnncc" -q --verify kind.gnn -o kind && trains kind && diff <(curves onehot) <(curves kind) && cmp <(tail -c 200 onehot.out/last.safetensors) <(tail -c 200 kind.out/last.safetensors); }
check "one-hot fields, of TU text and of an array: the same bits" onehot
said() { "$build/gnndata" info ../tu | tee info.log; grep -q 'y has the labels -1 to 1; they become 0 to 1' info.log && grep -q 'x has the labels 3 to 6; they become 0 to 3' info.log && grep -q 'graphs     24' info.log; }
check "TU text: what its labels become is said" said
columns() { ./kind predict -q --out kind.out -o a.csv && sed 's/onehot\[4\]/f32[4]/' kind.gnn >floats.gnn && rm -rf ../floats && cp -r ../whole ../floats &&
  python3 -c '
import struct, sys
raw = open("../floats/kind.npy", "rb").read()[128:]
kinds = struct.unpack("<%dq" % (len(raw) // 8), raw)
def save(name, descr, body):
    head = ("{\"descr\": \"%s\", \"fortran_order\": False, \"shape\": (%d, 4), }" % (descr, len(kinds))).replace("\"", chr(39))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body)
ones = [float(c == k) for k in kinds for c in range(4)]
save("../floats/kind.npy", "<f2", struct.pack("<%de" % len(ones), *ones))' &&
  ./kind predict -q --data ../floats --weights kind.out/last.safetensors -o b.csv && cmp a.csv b.csv && "$gnncc" -q --data ../floats floats.gnn -o floats && ./floats predict -q --data ../floats --weights kind.out/last.safetensors -o c.csv &&
  sed 's/onehot\[4\]/f16[4]/' kind.gnn >halves.gnn && "$gnncc" -q --data ../floats halves.gnn -o halves && ./halves predict -q --data ../floats --weights kind.out/last.safetensors -o d.csv && cmp a.csv d.csv && cmp c.csv d.csv; }
check "one-hot columns in halves, declared onehot, f32 and f16: the same scores" columns
wider() { sed 's/onehot\[4\]/onehot[3]/' kind.gnn >narrow.gnn && ! "$gnncc" narrow.gnn -o no 2>no.log; cat no.log; grep 'error\[E0702\].*kind\[[0-9]*\] is 3, and onehot\[3\] has the columns 0 … 2' no.log; }
check "one-hot: a number beyond the columns, with its row" wider
own() { sed 's/onehot\[4\]/& = npy("elsewhere.npy")/' kind.gnn >own.gnn && cp ../whole/kind.npy elsewhere.npy && rm -rf ../bare && cp -r ../whole ../bare && rm ../bare/kind.npy && sed -i 's/whole/bare/' own.gnn && "$gnncc" -q own.gnn -o own && trains own && diff <(curves own) <(curves kind); }
check "a field from a file of its own: the same bits" own
missing() { rm elsewhere.npy && ./own -q; }
refuse 4 "a field from a file that is not there" missing
numbers() { sed 's/onehot\[4\]/i64[1]/' kind.gnn >count.gnn && "$gnncc" -q --verify count.gnn -o count && trains count; }
check "whole numbers declared as numbers are no classes" numbers

broken() { # FILE LINE TEXT MESSAGE: a line of TU text replaced
  rm -rf ../spoilt && cp -r ../tu ../spoilt && sed -i "$2s/.*/$3/" "../spoilt/RINGS_$1.txt" && ! "$gnncc" --data ../spoilt --check onehot.gnn 2>broken.log
  cat broken.log; grep -q "$4" broken.log
}
check "TU text: an edge to nowhere" broken A 5 "1, 9999" 'error\[E0701\].*RINGS_A.txt" line 5 column 4: node 9999, but nodes run 1 … 134'
check "TU text: a node 0" broken A 1 "0, 1" 'line 1 column 1: node 0, but nodes run 1'
check "TU text: a word" broken A 3 "one, 2" 'RINGS_A.txt" line 3 column 1: a whole number is needed, not "one"'
check "TU text: three nodes" broken A 4 "1, 2, 3" 'RINGS_A.txt" line 4: 3 numbers stand here, and 2 in the lines before'
check "TU text: graphs out of order" broken graph_indicator 20 "1" 'graph_indicator.txt" line 20: graph 1 behind graph'
check "TU text: a label too few" broken graph_labels 3 "" 'graph_labels.txt" has 23 lines; 24 are needed'
check "TU text: half a label" broken node_labels 7 "2.5" 'error\[E0702\].*node_labels.txt" line 7: 2.5 is no label'
check "TU text: an edge between graphs" broken A 1 "134, 1" 'error\[E0701\].*leaves graph'
nothing() { mkdir -p ../empty && "$gnncc" --check nothing.gnn; }
sed 's/tu("..\/tu\/RINGS")/tu("..\/empty")/' onehot.gnn >nothing.gnn
refuse 4 "TU text: a folder without it" nothing

packed() { "$build/gnndata" convert ../data packed.safetensors && "$gnncc" -q --data packed.safetensors stored.gnn -o packed && ./packed -q --data packed.safetensors --out packed.out && cmp <(tail -c 400 packed.out/run3/last.safetensors) <(tail -c 400 stored.out/run3/last.safetensors); }
check "a container keeps graphs and folds: the same bits" packed

# The real runtime for CUDA on the stand-in for the toolkit: batches of different sizes.
root=$here/../..
. "$root/tests/cuda/losses.sh"
if [ -n "$(command -v g++)" ]; then
  on_device() { "$root/tests/cuda/program.sh" "$build" "$work/batch_cuda" batch.gnn --gemm=own && "$work/batch_cuda" -q --every 1 --log csv --out cuda.out && losses_agree ./batch cuda.out -q --every 1 --log csv; }
  check "batches: the losses of a program for CUDA" on_device
  edges_on_device() { "$root/tests/cuda/program.sh" "$build" "$work/kinds_cuda" kinds_of_edges.gnn --gemm=own && "$work/kinds_cuda" -q --every 1 --log csv --out kinds_cuda.out && losses_agree ./kinds kinds_cuda.out -q --every 1 --log csv; }
  check "classes of edges: the losses of a program for CUDA" edges_on_device
fi
finish
