#!/bin/bash
# answer_time.sh [--rounds N] [--than BUILD]: how long gnncc takes to answer, in processor time (user and system).
# A full compile of examples/gcn_karate.gnn, and --plan of a GCN of three layers, hidden 128, normalised, with relu and dropout, on a
# graph of 40,000 nodes with 100 features: where everything fits, under shares of that, and where nothing fits. What reading the
# program and its data takes (--check) is the first row, and part of all others. With --than the programs of two builds take turns
# in every round. A row a question: the median of each, and of the ratios with the least and the most of them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
builds=("$root/build") rounds=5
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=$2 ;;
    --than) builds+=("$(realpath "$2")") ;;
    *) sed -n '2,6s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift 2
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME=$work/cache CCACHE_DISABLE=1 # no calibration of this machine; the C compiler compiles
cat >m.gnn <<'MODEL'
layer Norm(x : node[f]) {
  param gain : [f] = ones
  param bias : [f] = zeros
  d = x - mean(x, axis = f)
  v = mean(d * d, axis = f)
  return d * rsqrt(v + 0.00001) * gain + bias
}
data g from synth(kind = "sbm", nodes = 40000, degree = 10, features = 100, classes = 10, seed = 1)
model m on g {
  h = x
  for i in 1 .. 2 { h = h |> GCN(128) |> Norm() as norms |> relu |> dropout(0.5) }
  return h |> GCN(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 10 }
MODEL
cat >box.gnn <<'TARGET'
target box {
  device cpu { memory = 16GiB }
  tier host { budget = 4GiB }
  tier ssd  { budget = 0; path = "/tmp" }
  link cpu <-> host { bandwidth = 20GB/s; latency = 1us }
  link host <-> ssd { read = 10GB/s; write = 10GB/s; latency = 1us }
}
TARGET
seconds() { # BUILD OPTION...: of processor time; a refusal is an answer too
  local status=0 TIMEFORMAT='%U %S'
  { time "$1/gnncc" -w "${@:2}" >said 2>&1 || status=$?; } 2>took
  [ $status -eq 0 ] || [ $status -eq 3 ] || { cat said >&2; return 1; }
  awk '{ print $1 + $2 }' took
}
all=$("${builds[0]}/gnncc" -w --plan=json m.gnn | awk -F'[:,]' '/"peak_bytes"/ { printf "%d", $2; exit }')
share() { echo "device=$((all / 100 * $1 / 1024))KiB"; }
host="--target=$work/box.gnn" ssd="--target=$work/box.gnn --budget host=32MiB --budget ssd=4GiB"
questions=(
  "read and check|--check m.gnn"
  "compile gcn_karate|$root/examples/gcn_karate.gnn -o karate"
  "plan, all fits|--plan m.gnn"
  "75 %, made again|--plan --budget $(share 75) m.gnn"
  "60 %, with a host|--plan $host --budget $(share 60) m.gnn"
  "50 %, with a host|--plan $host --budget $(share 50) m.gnn"
  "50 %, with an SSD|--plan $ssd --budget $(share 50) m.gnn"
  "60 %, refused, a host or an SSD would do|--plan --budget $(share 60) m.gnn"
  "40 %, refused|--plan --budget $(share 40) m.gnn"
  "40 %, with a host, refused|--plan $host --budget $(share 40) m.gnn"
  "1 MiB, refused|--plan --budget device=1MiB m.gnn"
)
for round in $(seq "$rounds"); do
  for q in "${!questions[@]}"; do
    row=
    for build in "${builds[@]}"; do row="$row $(seconds "$build" ${questions[q]#*|})"; done
    echo "$row" >>"times.$q"
  done
done
echo "| question | processor time${builds[1]:+ | of ${builds[1]} | times as long (least to most of $rounds rounds)} |"
echo "| --- | ---${builds[1]:+ | --- | ---} |"
middle() { sort -g | awk '{ x[NR] = $1 } END { printf "%.3g", x[int((NR + 1) / 2)] }'; }
for q in "${!questions[@]}"; do
  row="| ${questions[q]%%|*} | $(awk '{ print $1 }' "times.$q" | middle) s"
  if [ ${#builds[@]} -gt 1 ]; then
    ratios=$(awk '{ printf "%.2f\n", $2 / $1 }' "times.$q" | sort -g)
    row="$row | $(awk '{ print $2 }' "times.$q" | middle) s | $(middle <<<"$ratios") ($(head -1 <<<"$ratios") to $(tail -1 <<<"$ratios"))"
  fi
  echo "$row |"
done
