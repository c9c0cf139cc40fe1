#!/bin/bash
# leaks.sh BUILD: the commands of gnncc and gnndata under the address, leak and undefined-behaviour sanitizers. TAP on stdout.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)/watched
. "$here/../tap.sh"
workplace
export ASAN_OPTIONS=detect_leaks=1
gnncc=$build/gnncc gnndata=$build/gnndata model=$here/../../examples/gcn_karate.gnn

for product in --plan --plan=json --check "-S -o sources" "--emit=ast=-,program=-,weights=-" "--emit=plan=report.json,problem=problem.json"; do
  check "gnncc $product" "$gnncc" -w $product "$model"
done
check "gnncc --emit, every view" "$gnncc" -w --emit=report=r.html,annotate=a.txt,annotate=a.html,gantt=g.txt,gantt=g.svg,memory=m.csv,dot=d.dot,trace=t.json,schedule=-,dag=-,c=-,header=- "$model"
check "gnncc --sweep" "$gnncc" -w --sweep=device=200KiB:400KiB:200KiB --emit=sweep=s.svg "$model"
check "gnncc --plan-from" "$gnncc" -w --plan-from=report.json --plan "$model"
check "gnncc --compare" "$gnncc" --compare report.json report.json
check "gnncc plan" "$gnncc" plan problem.json -o plan.json
check "gnncc plan --check" "$gnncc" plan problem.json --check plan.json
check "gnncc plan --report" "$gnncc" plan problem.json --report=report.html
check "gnncc plan --compare-policies" "$gnncc" plan problem.json --compare-policies
refuse 3 "gnncc --budget that is too small" "$gnncc" -w --budget device=1KiB "$model" -o no
refuse 4 "gnncc of a model that is not there" "$gnncc" none.gnn
check "gnncc --explain" "$gnncc" --explain E0501
check "gnncc --list" "$gnncc" --list layers
check "gnndata synth" "$gnndata" synth sbm web.safetensors --nodes 200
check "gnndata info" "$gnndata" info web.safetensors
check "gnndata check" "$gnndata" check web.safetensors
check "gnndata convert" "$gnndata" convert --undirected web.safetensors more.safetensors
check "gnndata head" "$gnndata" head web.safetensors x 3
"$gnndata" synth sbm fewer.safetensors --nodes 100 >/dev/null
refuse 1 "gnndata diff" "$gnndata" diff web.safetensors fewer.safetensors
refuse 4 "gnndata of data that are not there" "$gnndata" info none
finish
