#!/bin/bash
# attention.sh [BUILD [DATA]]: an epoch of attention, GAT, GATv2 and TransformerConv, 3 layers of 128 (8 heads of 16), on the arrays of DATA (../shared/data/tolokers):
# a program of gnncc, one with -fno-stages (every sum over edges in a kernel of its own), and PyG and DGL where VENV_DIR (build/venv) has them
# (epoch_vs_peers.sh installs them). All take turns, ROUNDS times (5), EPOCHS epochs each (4), with THREADS threads (2); counted is the time of processors, the least of the
# rounds, so that other work beside them matters little. A row a model: milliseconds of processors an epoch, how many times as long the others take, and what the plan keeps.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
data=$(realpath "${2:-$here/../../../shared/data/tolokers}")
rounds=${ROUNDS:-5} epochs=${EPOCHS:-4} threads=${THREADS:-2} venv=${VENV_DIR:-$build/venv}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
peers=()
for peer in pyg dgl; do
  [ $peer = dgl ] && python[1]=$venv/torch-2.2/bin/python || python[0]=$venv/torch-2.15/bin/python
  [ ! -x "${python[-1]}" ] || peers+=($peer)
done
of_processors() { # COMMAND...: seconds of user and system
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null 2>said || { cat said >&3; exit 1; }; } 2>&1 | awk '{ print $1 + $2 }'
}
exec 3>&2
an_epoch() { # WHO MODEL: milliseconds of processors an epoch
  local some more
  case $1 in
    ours | apart)
      some=$(of_processors "./$2_$1" bench --threads "$threads" --warmup 1 --epochs 1)
      more=$(of_processors "./$2_$1" bench --threads "$threads" --warmup 1 --epochs $((epochs + 1)))
      awk -v a="$some" -v b="$more" -v n="$epochs" 'BEGIN { print (b - a) / n * 1000 }' ;;
    pyg) "${python[0]}" -B "$here/attention_worker.py" pyg "$2" "$data" "$threads" "$epochs" ;;
    dgl) DGLBACKEND=pytorch "${python[1]}" -B "$here/attention_worker.py" dgl "$2" "$data" "$threads" "$epochs" ;;
  esac
}
classes=$(sed -n 's/.*"num_classes": *\([0-9]*\).*/\1/p' "$data/graph.json") features=$(sed -n 's/.*"num_features": *\([0-9]*\).*/\1/p' "$data/graph.json")
kept() { "$build/gnncc" -w --plan=json "${@:2}" "$1.gnn" --data "$data" | awk -F'[:,]' '/"peak_bytes"/ { printf "%.1f MiB", $2 / 1048576; exit }'; }
columns="gnncc, ms an epoch;-fno-stages;" line="| --- | --- | --- |"
for peer in "${peers[@]}"; do columns="$columns$peer;" line="$line --- |"; done
echo "| model | ${columns//;/ | }memory | -fno-stages |"
echo "$line --- | --- |"
for model in GAT GATv2 TransformerConv; do
  cat >$model.gnn <<MODEL
data g { node x : f32[$features]  node y : class[$classes] }
model m on g {
  h = x |> $model(16, heads = 8) as conv1 |> relu |> dropout(0.5) |> $model(16, heads = 8) as conv2 |> relu |> dropout(0.5)
  return h |> $model(y.classes) as conv3
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 10 }
MODEL
  sed -i 's/  node y/\n  node y/' $model.gnn
  "$build/gnncc" -q -w --data "$data" $model.gnn -o ${model}_ours
  "$build/gnncc" -q -w --data "$data" -fno-stages $model.gnn -o ${model}_apart
  rm -f times
  for round in $(seq "$rounds"); do
    for who in ours apart "${peers[@]}"; do [ $who = dgl ] && [ $model = TransformerConv ] || echo "$who $(an_epoch $who $model)" >>times; done
  done
  awk -v row="| $model" -v peers="${peers[*]}" -v memory="$(kept $model) | $(kept $model -fno-stages)" '
    !($1 in least) || $2 < least[$1] { least[$1] = $2 }
    END {
      printf "%s | %.4g | %.2f x |", row, least["ours"], least["apart"] / least["ours"]
      n = split(peers, names, " ")
      for (i = 1; i <= n; i++) printf names[i] in least ? " %.2f x |" : " none |", least[names[i]] / least["ours"]
      print " " memory " |"
    }' times
done
