# estimates.sh: for scripts that print what gnncc expects of machines that are not here. Source it with their arguments: [BUILD]. $gnncc, $root, and a folder to work in.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
gnncc=$(realpath "${1:-$root/build}")/gnncc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME=$work/cache # no calibration of this machine

model() { # GRAPH LAYER LAYERS WIDTH: m.gnn, with dropout; ${sizes[GRAPH]} has nodes, edges, features, classes
  read -r nodes edges features classes <<<"${sizes[$1]}"
  cat >m.gnn <<MODEL
data g {
  nodes = $nodes
  edges = $edges
  node x : f32[$features]
  node y : class[$classes]
}
model m on g {
  h = x
  for i in 1 .. $(($3 - 1)) { h = h |> $2($4) as convs |> relu |> dropout(0.5) }
  return h |> $2(y.classes) as head
}
train m {
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = 100
}
MODEL
}
