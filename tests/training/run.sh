#!/bin/bash
# run.sh BUILD: training as PyTorch does it: losses, optimisers, schedules, clipping and metrics against oracle.py, whose results are in expected/.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnncc=$build/gnncc
workplace
cp -r "$here/data" "$here/models" .
cd models
export CFLAGS=-O0

same_curve() { # CASE LOG: epoch, loss and learning rate of every epoch
  cut -d, -f2,3,7 "$2" | tail -n +2 | paste -d, - "$here/expected/$1.csv" | awk -F, '
    function off(a, b, scale) { return a - b > scale || b - a > scale }
    $1 != $4 || off($2, $5, 2e-5 * $5 + 1e-7) || off($3, $6, 1e-8 * $6) { print "epoch " $1 ": loss " $2 " for " $5 ", lr " $3 " for " $6; bad++ }
    END { exit bad > 0 || NR == 0 }'
}

same_metrics() { # CASE: of every split, of the weights in the end
  ./$1 eval --weights $1.out/last.safetensors | tr -s ' ' | cut -d' ' -f 1,6- >$1.metrics && diff <(awk '{ for (i = 3; i <= NF; i += 2) $i = sprintf("%.4f", $i) } 1' "$here/expected/$1.metrics") $1.metrics
}

for case in rmsprop centered adagrad accumulate groups plateau weighted places mse l1 huber labels binary; do
  check "$case: compiles" "$gnncc" --verify $case.gnn -o $case
  check "$case: runs" ./$case -q --every 1 --log csv --out $case.out
  check "$case: every loss and learning rate" same_curve $case $case.out/log.csv
  [ ! -f "$here/expected/$case.metrics" ] || check "$case: every metric of every split" same_metrics $case
done

classes() { # of one score: 1 where it is above 0
  ./binary predict -q --weights binary.out/last.safetensors -o classes.csv --classes && ./binary predict -q --weights binary.out/last.safetensors -o scores.csv &&
    diff <(tail -n +2 classes.csv | cut -d, -f2) <(tail -n +2 scores.csv | awk -F, '{ print ($2 > 0) }') && grep -q ',0$' classes.csv && grep -q ',1$' classes.csv
}
check "the classes of one score a row" classes
refuse 2 "numbers have no classes" ./mse predict --weights mse.out/last.safetensors -o - --classes

# A comparison that never fails proves nothing.
differs() { ./rmsprop -q --every 1 --log csv --limit 0.21 --out other && ! same_curve rmsprop other/log.csv; }
check "another limit of the norm is noticed" differs

resumed() { # a plateau is where it was
  ./plateau -q --epochs 25 --out half && ./plateau -q --epochs 60 --resume --every 1 --log csv --out half &&
    cmp half/last.safetensors plateau.out/last.safetensors && diff <(cut -d, -f2,3,7 half/log.csv | tail -n +2) <(cut -d, -f2,3,7 plateau.out/log.csv | tail -n +27)
}
check "resumed on a plateau: the same bits" resumed
interrupted() { # between two steps of the optimiser
  ./accumulate -q --epochs 22 --out part && ./accumulate -q --epochs 41 --resume --out part && cmp part/last.safetensors accumulate.out/last.safetensors
}
check "resumed while gradients are accumulated: the same bits" interrupted
many_states() { # of each weight two of the optimiser, the sum of its gradients, and its best
  cat >many.gnn <<'MODEL'
data d from npy("../data/classes") { node x : f32[f]
  node y : class[4] }
model m on d {
  h = x |> Linear(8)
  for i in 1 .. 30 { h = h |> Linear(8) |> tanh }
  return h |> Linear(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); accumulate = 4; metric = accuracy; keep = best(train.accuracy); epochs = 6 }
MODEL
  "$gnncc" -q -w many.gnn -o many && ./many -q --out many.out && ./many -q --epochs 3 --out some && ./many -q --resume --epochs 6 --out some && cmp some/last.safetensors many.out/last.safetensors
}
check "a checkpoint of many weights with all their states: the same bits" many_states
threads() { # PROGRAM
  "./$1" -q --threads 1 --out one && "./$1" -q --threads 3 --out three && cmp one/last.safetensors three/last.safetensors
}
check "clipped by norm: the same bits with one thread and with three" threads rmsprop

# ---- what training draws besides dropout ----
drawn() { # every gradient is one number or 0, which share of each weight is 0, and that number times the weight's rows, or columns
  python3 "$here/drawn.py" gradients masks.safetensors >drawn.log && cat drawn.log && diff - drawn.log <<'WANTED'
edges: about 0.25 of 400 are 0, else -0.005
nodes: about 0.25 of 400 are 0, else -0.006667
column: about 0.25 of 64 are 0, else -2
whole: about 0 of 1 are 0, else -2.667
WANTED
}
check "drop_edge, drop_node, mask_feature, stochastic_depth: the data" python3 "$here/drawn.py" ring ring.safetensors
check "  compile" "$gnncc" -q --verify -fgradcheck masks.gnn -o masks
check "  gradients agree with finite differences, with weights of more nodes than a subgraph has" sh -c "./masks gradcheck | grep -x 'all gradients agree'"
check "  what is left has its share, and its scale" sh -c "$(declare -f drawn); here='$here'; ./masks gradients -q -o masks.safetensors && drawn"
still() { ./masks -q --out drawn.out && ./masks predict -q --weights drawn.out/last.safetensors -o kept.npy && ./masks predict -q --p 0.9 --weights drawn.out/last.safetensors -o dropped.npy && cmp kept.npy dropped.npy; }
check "  an evaluation drops nothing" still

# One positive row, which is trained on: elsewhere there is one class.
check "labels of one class: compiles" "$gnncc" lone.gnn -o rare
doubted() { "$gnncc" --check rare.gnn 2>&1 | grep "W0404.*accuracy on labels of which 98 % are class 0.*consider average_precision"; }
check "labels of one class: accuracy is doubted" doubted
lone() { ./rare --out rare.out >rare.log && grep -q '^best epoch 1:' rare.log && grep -q '^roc_auc is not defined on valid: its rows are all of one class' rare.log; }
check "a metric that is not defined is never better, and said so" lone
check "a confusion table" sh -c "./rare eval --split train --out rare.out | tail -3 | tr -s ' ' | grep -q '^ 0 [0-9]* [0-9]*$'"
finish
