#!/bin/bash
# run.sh BUILD DATA_FOLDER [NAME...]: trains the rows of `rows` (all, or those named), keeps the test result of every run in results/NAME, and writes
# docs/accuracy.md from all results there are. SPLITS="0 1" and RUNS=2 train fewer; results of other splits are kept, each split's are written when it ends.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
data=$(cd "$2" && pwd)
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=$here/../../docs/accuracy.md

rows() { grep -v '^#' "$here/rows"; }

train() { # NAME
  local name set model file constants options splits runs published recipe source split chosen seconds
  IFS='|' read -r name set model file constants options splits runs published recipe source < <(rows | grep "^$1|") || { echo "no row $1"; return 1; }
  mkdir -p "$here/results"
  for split in ${SPLITS:-$splits}; do
    chosen=$([ "$split" = public ] || [ "$split" = folds ] || echo "-D s=$split")
    # shellcheck disable=SC2086
    "$build/gnncc" -q -w $constants $chosen "$here/$file" --data "$data/$set" -o "$work/program" || return 1
    # shellcheck disable=SC2086
    "$work/program" -q $options --runs "${RUNS:-$runs}" --out "$work/out" || return 1
    grep -v "^split $split " "$here/results/$name" 2>/dev/null >"$work/$name"
    # Of folds: at the epoch that is best in the mean over them.
    if [ "$split" = folds ]; then
      sed -n 's/.*"mean_over_folds".*"folds": \[\(.*\)\]}.*/\1/p' "$work/out/run.json" | tr -d ' ' | tr , '\n' | awk '{ print "split folds seed " NR - 1 " test " $1 }'
    else
      grep -o '"seed": [0-9]*, [^}]*"test": [0-9.]*' "$work/out/run.json" | sed -E "s/\"seed\": ([0-9]*),.*\"test\": /split $split seed \1 test /"
    fi >>"$work/$name"
    rm -rf "$work/out"
    sort -k2,2 -k4,4n "$work/$name" >"$here/results/$name"
  done
  cat "$here/results/$name"
}

write_page() {
  echo "# Accuracy"
  echo
  echo "What models of gnncc reach on published data sets, beside what is published: test results in percent, mean ± standard deviation over all runs. Metric:"
  echo "accuracy; on minesweeper and tolokers ROC AUC; of links what the row says. \`make accuracy DATA=folder\` trains all rows and writes this page, \`make accuracy ROWS=cora_gcn\` one;"
  echo "models, recipes and the result of every run are in \`tests/accuracy\`. The data sets are folders of NumPy arrays as [formats.md](formats.md) describes them."
  echo
  echo "| data set | model | published | gnncc | runs | recipe | source |"
  echo "|---|---|---|---|---|---|---|"
  rows | while IFS='|' read -r name set model file constants options splits runs published recipe source; do
    [ -f "$here/results/$name" ] || { echo "| $set | $model | $published | not trained yet | | $recipe | $source |"; continue; }
    awk -v set="$set" -v model="$model" -v published="$published" -v recipe="$recipe" -v source="$source" '
      { n++; x = 100 * $6; sum += x; squares += x * x; if (!($2 in seen)) { seen[$2]; splits = splits (splits == "" ? "" : ", ") $2 } }
      END {
        mean = sum / n
        deviation = n > 1 ? sprintf(" ± %.2f", sqrt((squares - n * mean * mean > 0 ? squares - n * mean * mean : 0) / (n - 1))) : ""
        printf "| %s | %s | %s | %.2f%s | %d: %s | %s | %s |\n", set, model, published, mean, deviation, n, splits == "public" ? "public split, seed" (n > 1 ? "s 0 to " n - 1 : " 0") : splits == "folds" ? "one a fold, epoch by the mean test curve" : "splits " splits, recipe, source
      }' "$here/results/$name"
  done
}

status=0
[ $# -gt 0 ] || set -- $(rows | cut -d'|' -f1)
for name in "$@"; do train "$name" || status=1; done
write_page >"$page"
exit $status
