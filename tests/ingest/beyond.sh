#!/bin/bash
# beyond.sh BUILD: plans for graphs of more than 2^31 and 2^32 edges, of which there are but numbers, and the programs for them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnncc=$build/gnncc
workplace

nodes=20000000
model() { # NAME EDGES SETTING LAYER FIELD: of two layers
  printf '%s\n' "data web {" "  nodes = $nodes" "  edges = $2" "  $3" "  node x : f32[16]" "  node y : class[7]" "  $5" "}" "model net on web {" "  h = x |> $4 as c1 |> relu |> dropout(0.5)" \
    "  return h |> SAGE(y.classes) as c2" "}" "train net { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3; metric = accuracy }" >"$1.gnn"
}
compiled() { # NAME OPTION...: NAME.c, and the room of each of its places, in bytes
  "$gnncc" -w --verify -S --shapes "${@:2}" "$1.gnn" -o "$1" &&
    sed -n 's/^#define AT_\([a-z0-9_]*\) INT64_C(\([0-9]*\)).*/\2 \1/p' "$1/$1.c" | sort -n | awk 'NR > 1 { printf "%s %.0f\n", name, $1 - at } { at = $1; name = $2 }' >"$1.rooms"
}
has_room() { # NAME PLACE BYTES: so many, rounded up to a line of the cache or a few of them
  awk -v place="$2" -v bytes="$3" '$1 == place { print; found = $2 >= bytes && $2 < bytes + 4096 } END { exit !found }' "$1.rooms"
}
# No number of the program is cut on its way into a narrower one.
keeps_numbers() { gcc -std=gnu11 -fsyntax-only -Wall -Wextra -Wconversion -Wno-sign-conversion -Wno-float-conversion -Werror -march=native -I"$1" "$1/$1.c"; }
for edges in 2147483648 3000000001 5000000003; do
  model sage $edges "" "SAGE(16)" ""
  check "SAGE, $edges edges: compiled" compiled sage --budget device=4TiB
  check "  row pointers" has_room sage graph_in_ptr $((8 * (nodes + 1)))
  check "  sources" has_room sage graph_in_idx $((4 * edges))
  check "  row pointers by source" has_room sage graph_out_ptr $((8 * (nodes + 1)))
  check "  destinations" has_room sage graph_out_idx $((4 * edges))
  check "  no number is cut" keeps_numbers sage
  model gat $edges "" "GAT(8, heads = 2, dropout = 0.1)" "edge w : f32[1]"
  check "GAT, $edges edges: compiled" compiled gat --budget device=4TiB
  check "  numbers of edges by source" has_room gat graph_out_edge $((8 * edges))
  check "  no number is cut" keeps_numbers gat
  check "GAT, $edges edges, for a GPU" bash -c "'$gnncc' --emit=c=- -w --shapes --target=h200 --budget gpu=4TiB gat.gnn >gpu.c && grep -q 'graph_out_edge INT64_C' gpu.c && ! grep -q cusparse gpu.c"
done
model both 5000000004 "undirected = true" "SAGE(16)" ""
check "edges that go both ways: compiled" compiled both --budget device=4TiB
check "  they are held once" bash -c "awk '/^graph_in_idx 20000/ { found = 1 } /^graph_out_idx/ { other = 1 } END { exit !found || other }' both.rooms"
# What the plan says in words: 8 (N + 1) + 4 E, twice, 8 E for the numbers of edges, and 0.1 GiB of rows of splits, degrees, blocks.
"$gnncc" --plan -w --shapes --budget device=4TiB gat.gnn >said 2>&1
check "the plan tells the size of the graph" bash -c "sed -n 's/.*of which  graph \([0-9.]*\) GiB.*/\1/p' said | awk '{ wanted = (16 * ($nodes + 1) + 16 * 5000000003) / 2^30; found = \$1 > wanted && \$1 < wanted + 0.4 } END { exit !found }'"
check "--budget below that is refused with numbers of that size" bash -c "! '$gnncc' --plan -w --shapes --budget device=60GiB gat.gnn >said 2>&1 && grep -q 'E0501' said && grep -Eq 'device=8[0-9]{7}KiB|device=[89][0-9](\.[0-9]+)?GiB' said"
finish
