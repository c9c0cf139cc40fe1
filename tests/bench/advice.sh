#!/bin/bash
# advice.sh [BUILD]: what --plan says of `order = nested` beside what the order does. A SAGE of three layers of 128 on the graphs of ../shared/data that are one graph and on
# generated ones. Estimated epochs: in the given order, in the nested one as the advice says (a dash: none is given), in the nested one as its own plan says. Epochs in both orders:
# the processor time of one on one thread, the mean of EPOCHS (10), the programs in turn, the least of three times (EPOCHS=0: none). What making the order takes as the advice says, and what a plan takes longer that has to make it, in processor time.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
export XDG_CACHE_HOME=$folder/cache
model() { # ORDER SOURCE RUNS
  cat <<END
data g from $2 { undirected = true; order = $1 }
model m on g {
  h = x |> SAGE(128) |> relu
  return h |> SAGE(128) |> relu |> SAGE(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = $3 }
END
}
seconds_of() { # OBJECT MODEL: of a plan
  "$build/gnncc" -w --plan=json "$2" | awk -F'[:,]' -v object="\"$1\"" -v key="\"${3:-seconds}\"" '$1 ~ object { there = 1 } there && $1 ~ key { print $2; exit }'
}
processor() { # COMMAND...: its seconds
  local TIMEFORMAT='%U %S'
  { time "$@" >said 2>&1; } 2>took
  awk '{ print $1 + $2 }' took
}
epoch() { # PROGRAM: what EPOCHS epochs more take, each
  local few many
  few=$(processor "./$1" -q --threads 1 --epochs 2 --out "$1.out") many=$(processor "./$1" -q --threads 1 --epochs $((2 + epochs)) --out "$1.out")
  awk -v few="$few" -v many="$many" -v epochs="$epochs" 'BEGIN { print (many - few) / epochs }'
}
epochs=${EPOCHS:-10}
row() { # NAME SOURCE
  local given told nested makes epoch_given= epoch_nested= order
  model given "$2" 1_000_000 >given.gnn
  model nested "$2" 1_000_000 >nested.gnn
  given=$(seconds_of epoch given.gnn) told=$(seconds_of nested given.gnn) makes=$(seconds_of nested given.gnn order_seconds)
  order=$(processor "$build/gnncc" -w --plan=json nested.gnn) # from now on the order is in the cache
  order=$(awk -v a="$order" -v b="$(processor "$build/gnncc" -w --plan=json nested.gnn)" 'BEGIN { printf "%.2f s", a - b }')
  nested=$(seconds_of epoch nested.gnn)
  [ "$epochs" = 0 ] || for program in given nested; do "$build/gnncc" -q -w "$program.gnn" -o "$program" || return; done
  [ "$epochs" = 0 ] || for _ in 1 2 3; do
    epoch_given=$(printf '%s\n' $epoch_given "$(epoch given)" | sort -g | head -1)
    epoch_nested=$(printf '%s\n' $epoch_nested "$(epoch nested)" | sort -g | head -1)
  done
  awk -v name="$1" -v given="$given" -v told="$told" -v nested="$nested" -v makes="$makes" -v a="$epoch_given" -v b="$epoch_nested" -v order="$order" '
    function ms(x) { return x ? sprintf("%.3g ms", 1000 * x) : "-" }
    BEGIN { printf "| %s | %s | %s | %s | %.2f | %s | %s | %s | %s | %s |\n", name, ms(given), ms(told), ms(nested), nested / given, ms(a), ms(b), a ? sprintf("%.2f", b / a) : "-", makes ? sprintf("%.2g s", makes) : "-", order }'
}
echo "| graph | planned, given | advised | planned, nested | to given | epoch, given | epoch, nested | to given | order, as advised | order |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
for data in "$here"/../../../shared/data/{debian_packages,tolokers,amazon_photo,dblp,actor}; do
  name=$(basename "$data")
  mkdir "$name" && cp "$data"/{edge_index,x,y,train_mask,val_mask,test_mask}.npy* "$name" # without types of edges, which an order cannot have
  row "$name" "\"$name\""
done
generated() { # NAME SOURCE
  row "$1" "synth($2, features = 32, seed = 1)"
}
generated "30 communities of 4,000" 'kind = "sbm", nodes = 120000, degree = 20, classes = 30'
generated "1,000 communities of 200" 'kind = "sbm", nodes = 200000, degree = 20, classes = 1000'
generated "1,000 communities of 1,000" 'kind = "sbm", nodes = 1000000, degree = 10, classes = 1000'
generated "rmat, 131,072 nodes" 'kind = "rmat", nodes = 131072, degree = 16, classes = 16'
generated "edges anywhere, 100,000 nodes" 'kind = "er", nodes = 100000, degree = 20, classes = 16'
generated "a grid of 200,000" 'kind = "grid", nodes = 200000, classes = 16'
