# epochs.sh: for scripts that time epochs of programs. Source it with BUILD as the first argument: $build, $folder to work in, models of three layers, what an epoch took.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
models=()
source="synth(kind = \"rmat\", nodes = ${NODES:-60000}, degree = 12, features = 64, classes = 16, seed = 3)"
[ -z "${DATA:-}" ] || source="npy(\"$(realpath "$DATA")\")"
model() { # NAME LAYER WIDTH: added to models; on a generated graph of NODES nodes, or DATA=FOLDER: on the arrays of that folder
  cat >"$folder/$1.gnn" <<END
data g from $source
model $1 on g {
  h1 = x |> dropout(0.5) |> $2($3) |> relu
  h2 = h1 |> dropout(0.5) |> $2($3) |> relu
  return h2 |> dropout(0.5) |> $2(y.classes)
}
train $1 {
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = 4
}
END
  models+=("$folder/$1.gnn")
}
epoch_of() { # DIRECTORY: the shortest epoch but for the first, in seconds
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "seconds") at = i } NR > 2 && (!least || $at < least) { least = $at } END { print least }' "$1/log.csv"
}
