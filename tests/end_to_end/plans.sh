#!/bin/bash
# plans.sh BUILD: the same training under many plans.
# Every program is verified, keeps to the memory that it announced in every tier, and has the losses of every epoch and
# the final weights of the program that keeps everything, to the last bit.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
. "$here/graphs.sh"
gnncc=$build/gnncc
workplace
plans=$here/models/plans epochs=6

# PLANS_ALL=1: every model without results in the places of operands and on every road, the cut that is chosen just above what parts need, more models in bf16, plans of more effort.
is_all() { [ -n "${PLANS_ALL:-}" ]; }
effort=$(is_all || echo --plan-effort=fast)

# ---- making programs: not optimised and without double precision, because most of the time is the C compiler's ----
program() { # NAME MODEL OPTIONS...: ./NAME, with what was said in NAME.log and the status in NAME.status
  local name=$1 model=$2 path=$plans/$2.gnn status
  shift 2
  [ ! -e "$name.gnn" ] || { path=$name.gnn && model=$name; } # a variant of the model lies here
  "$gnncc" -w --verify -S $effort "$@" "$path" -o "gen_$name" >"$name.log" 2>&1
  status=$?
  if [ $status -eq 0 ]; then compile_once "$name" "$model" >>"$name.log" 2>&1 || status=70; fi
  echo $status >"$name.status"
}
compile_once() { # NAME MODEL: plans that are the same have the same sources
  local made
  made=compiled/$(cat "gen_$1/$2.c" "gen_$1/$2.h" "gen_$1/main.c" | md5sum | cut -c1-32)
  if [ -e "$made" ]; then cp "$made" "$1"; else compile "$1" "$2" && cp "$1" "$made.$1" && mv "$made.$1" "$made"; fi
}
mkdir compiled
compile() { # NAME MODEL: gen_NAME; for this processor, because a product that is fused with a sum by software is compiled and run for twice as long
  gcc -std=gnu11 -w -O0 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math "-Igen_$1" "gen_$1/$2.c" "gen_$1/main.c" "$build/share/libgnnrt.a" -o "$1" \
    -l:libz.a -lm -lpthread
}
queue() { printf '%s\n' "$*" >>queued; } # NAME MODEL OPTIONS...
make_queued() {
  export -f program compile compile_once
  export gnncc build plans effort
  xargs -P "$(nproc)" -L 1 bash -c 'program "$@"' program <queued
  rm queued
}
is_made() { cat "$1.log" && [ "$(cat "$1.status")" -eq 0 ]; }

# ---- comparing ----
numbers() { # FILE.safetensors: what follows the header
  local header
  header=$(od -An -t u8 -N 8 "$1" | tr -d ' ')
  tail -c +$((9 + header)) "$1"
}
curve() { cut -d, -f1-6 "$1/log.csv"; }
same_as() { # DIRECTORY OTHER: losses, scores and weights
  [ "$(curve "$1" | wc -l)" -eq $((epochs + 1)) ] || { echo "not every epoch is in the log"; return 1; }
  diff <(curve "$1") <(curve "$2") && cmp <(numbers "$1/last.safetensors") <(numbers "$2/last.safetensors")
}
train() { # PROGRAM DIRECTORY OPTIONS...
  local program=$1 directory=$2
  shift 2
  rm -rf "$directory"
  "./$program" -q --epochs $epochs --every 1 --log csv --out "$directory" "$@"
}
touches_what_it_planned() { # PROGRAM
  "./$1" check >"$1.check" || { cat "$1.check"; return 1; }
  awk '/: planned .*, (touched|written) / { n++; p = t = $0; sub(/.*: planned /, "", p); sub(/, (touched|written) .*/, "", p); sub(/.*, (touched|written) /, "", t)
         if (p != t) { print; bad = 1 } } END { exit bad || !n }' "$1.check"
}
says_bits() { # PROGRAM TEXT: after touches_what_it_planned
  grep -q "^keep-everything order.*$2" "$1.check" || { cat "$1.check"; return 1; }
}
agrees_with() { # KEEP PROGRAM
  is_made "$2" && train "$2" "out_$2" && same_as "out_$2" "out_$1" && touches_what_it_planned "$2" && says_bits "$2" "this plan is it\|the same to the last bit"
}

# ---- budgets, in KiB ----
least_of() { # MODEL OPTIONS...; what was asked before is not planned again
  local model=$1 path=$plans/$1.gnn asked
  shift
  asked=$work/least/$(cat "$path" <(echo "$model $*") | md5sum | cut -c1-32)
  [ -e "$asked" ] || "$gnncc" -w --budget device=1KiB $effort "$@" "$path" -o no 2>&1 | sed -n 's/.*--budget [a-z]*=\([0-9.]*\)\([KMG]\)iB is the smallest.*/\1 \2/p' |
    awk '{ kib = $1 * 1024 ^ (index("KMG", $2) - 1); print int(kib) + (kib > int(kib)) }' >"$asked"
  cat "$asked"
}
mkdir least
# KIB MODEL OPTIONS...: a budget that is a little more than the least, whose search would plan dozens of times; PLANS_ALL=1: the least
near_least() { if is_all; then least_of "${@:2}"; else echo "$1"; fi; }
peak_of() { "$gnncc" -w --plan=json "$@" | awk -F'[:,]' '/"peak_bytes"/ { print $2; exit }'; } # OPTION... MODEL.gnn: in bytes
keep_of() { echo $((($(peak_of "$plans/$1.gnn") + 1023) / 1024)); }
has() { # PROGRAM ROAD: the plan has what the road is for
  local source=("gen_$1"/"${1%%_*}".c)
  case $2 in
    reruns) grep -q 'again: its result was dropped' "$source" ;;
    host) grep -q '"d2h"' "$source" && ! grep -q '"ssd write"' "$source" ;;
    direct) grep -q '"ssd write"' "$source" && ! grep -q '"d2h"' "$source" ;;
    ring) grep -q '"ssd write"' "$source" && grep -q '"d2h"' "$source" ;;
  esac
}

models="sage4 gin4 attend2 residual6 hoist3" box=--target=$plans/box.gnn
if [ -e "$here/../../examples/cora.safetensors" ]; then models="$models gcn8"; else skip "gcn8" "examples/cora.safetensors is missing"; fi
declare -A road=([reruns]="" [direct]="--budget ssd=64MiB" [host]="$box --budget ssd=0" [ring]="$box --budget host=766KiB")
way_of() { [ $1:$2 = sage4:ring ] && echo "$box --budget host=0" || echo "${road[$2]}"; } # MODEL KIND: what leaves sage4 has room on a host through which its values pass to the SSD
names="" tight=""
for model in $models; do
  keep=$(keep_of $model)
  queue keep_$model $model
  case $model in sage4 | residual6) is_apart=yes ;; *) is_apart=$(is_all && echo yes) ;; esac
  [ -z "$is_apart" ] || { queue ${model}_apart $model -fno-places && names="$names ${model}_apart"; }
  case $model in sage4) roads="reruns direct host ring" shares="0 50" ;; gin4) roads="reruns host" shares=0 ;; hoist3) roads=host shares="0 80" ;; attend2) roads="reruns host" shares=0 ;; residual6) roads="direct ring" shares=0 ;; *) roads="reruns ring" shares=0 ;; esac
  case $(is_all && echo $model) in gcn8 | attend2 | residual6) roads="reruns direct host ring" ;; esac
  for kind in $roads; do
    way=$(way_of $model $kind) least=$(least_of $model $(way_of $model $kind))
    check "$model, $kind: there is a smallest budget, and it is less than keeping everything" test -n "$least" -a "${least:-$keep}" -lt "$keep"
    [ -n "$least" ] || continue
    for share in $shares; do
      queue ${model}_${kind}_$share $model $way --budget device=$((least + (keep - least) * share / 100))KiB
      names="$names ${model}_${kind}_$share"
      [ $share -ne 0 ] || tight="$tight $model:$kind:$least"
    done
  done
done

# sage4 again: policies of others, other efforts, another machine, plans that are taken over.
keep=$(keep_of sage4) least=$(least_of sage4 $box) policies="recompute offload checkpoint roc flexgnn torch-budget dtr capuchin hongtu grinnder"
half=$((least + (keep - least) * 60 / 100))
for policy in $policies; do queue policy_$policy sage4 $box --budget device=${half}KiB --policy=$policy; done
{ cat "$plans/sage4.gnn" && printf 'plan {\n  policy = grinnder\n}\n'; } >policy_said.gnn
queue policy_said sage4 $box --budget device=${half}KiB
for policy in hongtu grinnder; do queue parts3_$policy parts3 '--cut=rows(4)' --policy=$policy --budget host=64MiB --budget device=2MiB; done
for more in normal best; do queue effort_$more sage4 --budget device=$(least_of sage4)KiB --plan-effort=$more; done
queue simulated sage4 $box --backend=sim --budget host=0 --budget device=${least}KiB
tightest="$box --budget device=${least}KiB"
check "the plan and the problem are written" "$gnncc" -w $tightest --emit=plan=report.json,problem=problem.json "$plans/sage4.gnn"
check "the planner alone plans the problem" "$gnncc" plan problem.json -o plan.json
queue from_report sage4 $tightest --plan-from=report.json
queue from_plan sage4 $tightest --plan-from=plan.json
# Pins, one a fate, on a value that has a choice; the budget is one that needs something else as well.
for fate in keep host ssd recompute; do
  { cat "$plans/sage4.gnn" && printf 'plan {\n  fate "h2" = %s\n}\n' $fate; } >pin_$fate.gnn
  queue pin_$fate sage4 $box --budget device=${half}KiB
done
queue each_epoch hoist3 -fno-hoist
# What is computed once is at home where features are.
sed '/^data/s/$/ { order = nested }/; s/nodes = 2000/nodes = 8200/' "$plans/hoist3.gnn" >keep_once.gnn
sed '$a plan {\n  fate "x" = host\n  fate "graph_*_idx" = host\n}' keep_once.gnn >once_rows.gnn
sed '$a plan {\n  fate "x" = host\n}' keep_once.gnn >once_split.gnn # on a host that is too small, beside an SSD
queue keep_once none
queue once_rows none '--cut=rows(4)' --budget host=64MiB --budget device=$(plans=. near_least 1700 once_rows '--cut=rows(4)' --budget host=64MiB)KiB
queue once_split none '--cut=halos(4)' $box --budget host=1600KiB
# Values on nodes as four pieces, each with a fate of its own.
queue keep_parts3 parts3
queue parts3_apart parts3 -fno-places
queue keep_shared4 shared4
queue shared4_apart shared4 -fno-places
queue parts3_kept parts3 '--cut=rows(4)'
queue parts3_ring parts3 '--cut=rows(4)' ${road[ring]} --budget device=1700KiB
queue parts3_reruns parts3 '--cut=rows(4)' --budget device=$(near_least 3250 parts3 '--cut=rows(4)')KiB
queue parts3_host parts3 '--cut=rows(4)' ${road[host]} --budget device=$(least_of parts3 '--cut=rows(4)' ${road[host]})KiB
queue keep_parts_sums2 parts_sums2
queue keep_sparse3 sparse3
queue sparse3_rows sparse3 '--cut=rows(4)' ${road[host]} --budget device=$(least_of sparse3 '--cut=rows(4)' ${road[host]})KiB
sed '$a plan {\n  fate "x" = keep\n  fate "graph_*_idx" = keep\n}' "$plans/sparse3.gnn" >sparse3_slices.gnn # data that do not leave the device by themselves
queue sparse3_slices none '--cut=slices(2)' ${road[host]} --budget device=$(plans=. least_of sparse3_slices '--cut=slices(2)' ${road[host]})KiB
queue keep_halo4 halo4
queue halo4_kept halo4 '--cut=halos(2)'
# Sums over all edges, and values on edges: parts of them are those of the nodes where they arrive.
queue keep_edges4 edges4
queue edges4_rows edges4 '--cut=rows(4)' ${road[host]} --budget device=3300KiB
queue edges4_halos edges4 '--cut=halos(4)' $box --budget host=4MiB --budget device=3500KiB
sed '$a plan {\n  fate "x" = ssd\n  fate "graph_*_idx" = ssd\n}' "$plans/edges4.gnn" >edges4_away.gnn
queue edges4_away none '--cut=halos(4)' --budget ssd=64MiB --budget device=3100KiB
queue halo4_host halo4 '--cut=halos(4)' ${road[host]} --budget device=$(least_of halo4 '--cut=halos(4)' ${road[host]})KiB
queue halo4_direct halo4 '--cut=halos(4)' $box --budget host=0 ${road[direct]} --budget device=$(near_least 2120 halo4 '--cut=halos(4)' $box --budget host=0 ${road[direct]})KiB
for tier in host ssd; do sed "\$a plan {\n  fate \"x\" = $tier\n  fate \"graph_*_idx\" = $tier\n}" "$plans/sparse3.gnn" >sparse3_$tier.gnn; done
cp sparse3_ssd.gnn sparse3_ring.gnn
queue sparse3_host none '--cut=slices(2)' --budget host=64MiB --budget device=2700KiB
queue sparse3_ssd none '--cut=slices(2)' --budget ssd=64MiB --budget device=3100KiB
queue sparse3_ring none '--cut=slices(2)' $box --budget host=2MiB --budget device=3MiB
cp sparse3_host.gnn sparse3_split.gnn # on a host that is too small, beside an SSD
queue sparse3_split none '--cut=slices(2)' $box --budget host=1750KiB --budget device=5700KiB
queue keep_slices4 slices4
queue slices4_slices2 slices4 '--cut=slices(2)'
{ cat "$plans/slices4.gnn" && printf 'plan {\n  cut = slices(2)\n  cut "ga*" = slices(3)\n  cut "sage1" = whole\n  cut "gcn1.backward" = rows(4)\n}\n'; } >slices4_mixed.gnn
queue slices4_mixed none $box --budget device=6MiB
queue slices4_one slices4 '--cut=whole,sage1=slices(2)' $box --budget device=6MiB
queue away4_host away4 --budget host=64MiB
queue keep_learned4 learned4
for tier in host ssd; do { cat "$plans/learned4.gnn" && printf 'plan {\n  fate "e" = %s\n}\n' $tier; } >learned4_$tier.gnn; done
sed 's/adam(lr = 0.01)/sgd(lr = 0.1, momentum = 0.9)\n  accumulate = 2\n  keep = best(valid.accuracy)/' "$plans/learned4.gnn" >keep_learned_sum.gnn
sed 's/adam(lr = 0.01)/adagrad(lr = 0.01)\n  clip      = norm(0.05)\n  keep      = best(valid.accuracy)/' "$plans/learned4.gnn" >keep_learned_norm.gnn
sed 's/adam(lr = 0.01)/sgd(lr = 0.1, momentum = 0.9)\n  accumulate = 2\n  keep = best(valid.accuracy)/' learned4_host.gnn >learned_sum.gnn
sed 's/adam(lr = 0.01)/adagrad(lr = 0.01)\n  clip      = norm(0.05)\n  keep      = best(valid.accuracy)/' learned4_ssd.gnn >learned_norm.gnn
queue learned4_host none '--cut=slices(2)' --budget host=64MiB --budget device=$(plans=. near_least 2300 learned4_host '--cut=slices(2)' --budget host=64MiB)KiB
cp learned4_ssd.gnn learned4_ring.gnn
queue learned4_ssd none '--cut=rows(4)' --budget ssd=64MiB --budget device=$(plans=. near_least 2540 learned4_ssd '--cut=rows(4)' --budget ssd=64MiB)KiB
cp learned4_host.gnn learned4_halos.gnn
queue learned4_halos none '--cut=halos(4)' --budget host=64MiB
queue learned4_ring none '--cut=slices(2)' $box --budget host=2MiB --budget device=6MiB
cp learned4_host.gnn learned4_split.gnn
queue learned4_split none '--cut=rows(4)' $box --budget host=3MiB --budget device=4MiB
for kind in sum norm; do queue keep_learned_$kind none; done
queue learned_sum none '--cut=rows(4)' --budget host=64MiB
queue learned_norm none '--cut=rows(4)' --budget ssd=64MiB
graph_of directed
for plan in "" "plan { fate \"x\" = host
  fate \"graph_*_idx\" = host }"; do
  cat >$([ "$plan" ] && echo away || echo keep)_directed.gnn <<END
data g from npy("directed")
model directed on g {
  h1 = x |> SAGE(32) |> relu |> dropout(0.3)
  h2 = h1 |> SAGE(48) |> relu
  return h2 |> SAGE(y.classes) |> elu
}
train directed {
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = 6
}
$plan
END
done
queue keep_directed none
queue away_directed none '--cut=slices(2)' --budget host=64MiB
sed 's/fate "x" = host/&\n  fate "graph_*_idx" = host/' "$plans/away4.gnn" >away4_graph.gnn # its edges go both ways; some kernels sum over all of them
queue away4_graph none --budget host=64MiB
sed -E 's/fate "(x|graph_\*_idx)" = host/fate "\1" = ssd/' away_directed.gnn >ssd_directed.gnn && cp ssd_directed.gnn ring_directed.gnn
sed 's/fate "x" = host/fate "x" = ssd\n  fate "graph_*_idx" = ssd/' "$plans/away4.gnn" >away4_ssd.gnn
queue ssd_directed none '--cut=slices(2)' --budget ssd=64MiB --budget device=1800KiB
queue ring_directed none '--cut=slices(2)' $box --budget host=2500KiB --budget device=1700KiB
queue away4_ssd none --budget ssd=64MiB
cp away_directed.gnn halos_directed.gnn && cp ssd_directed.gnn halosssd_directed.gnn
queue halos_directed none '--cut=halos(4)' --budget host=64MiB --budget device=2MiB
queue halosssd_directed none '--cut=halos(4)' --budget ssd=64MiB --budget device=2300KiB
graph_of lone
cat >keep_lone.gnn <<END # all parts but one have no edges
data g from npy("lone")
model lone on g {
  h = x |> SAGE(32) |> relu |> dropout(0.5)
  return h |> SAGE(y.classes)
}
train lone {
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = 6
}
END
cp keep_lone.gnn lone_rows.gnn && cp keep_lone.gnn lone_slices.gnn
queue keep_lone none
queue lone_rows none '--cut=rows(4)' --budget host=64MiB --budget device=760KiB
queue lone_slices none '--cut=slices(2)' --budget ssd=64MiB --budget device=930KiB
cat >keep_source.gnn <<END # sums at sources that ask for the numbers of edges
data g from synth(kind = "rmat", nodes = 8200, degree = 3, features = 12, classes = 5, seed = 3)
model source on g {
  h = x |> Linear(32) |> relu
  a = sigmoid(dot(src.h, dst.h)) |> dropout(0.3)
  h = h + sum(a * src.h) + mean(a * dst.h, to = src)
  return h |> Linear(y.classes)
}
train source {
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = 6
}
END
sed '$a plan {\n  fate "x" = ssd\n  fate "graph_*_idx" = ssd\n}' keep_source.gnn >source_ssd.gnn
sed 's/^data.*/data g from npy("directed") { order = nested }/; s/source/named/' keep_source.gnn >keep_named.gnn # dropout draws by what the data call each edge
sed '$a plan {\n  fate "x" = host\n  fate "graph_*_idx" = host\n}' keep_named.gnn >named_host.gnn
sed 's/= host/= ssd/' named_host.gnn >named_ssd.gnn
queue keep_named none
queue named_host none '--cut=halos(4)' --budget host=64MiB
queue named_ssd none '--cut=slices(2)' --budget ssd=64MiB
queue keep_source none
queue source_ssd none '--cut=slices(2)' --budget ssd=64MiB --budget device=4MiB
cat >many.gnn <<END # more scores than there is room for on the device
data g from synth(kind = "rmat", nodes = 8200, degree = 3, features = 12, classes = 150, seed = 3) { order = nested }
model many on g {
  h = x |> Linear(32) |> relu |> dropout(0.3) |> GCN(16) |> relu
  return h |> GCN(y.classes) |> elu
}
train many {
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = 6
  metric    = [accuracy, macro_f1, confusion]
}
END
sed '$a plan {\n  fate "x" = ssd\n  fate "graph_*_idx" = ssd\n}' many.gnn >many_ssd.gnn
queue many many
queue many_ssd many_ssd --budget ssd=64MiB --budget device=3400KiB
queue slices4_slices3 slices4 '--cut=slices(3)' --policy=offload --budget host=64MiB
queue parts_sums2_reruns parts_sums2 '--cut=rows(4)' --budget device=$(near_least 3600 parts_sums2 '--cut=rows(4)')KiB
queue parts_sums2_host parts_sums2 '--cut=rows(4)' ${road[host]} --budget device=$(near_least 1500 parts_sums2 '--cut=rows(4)' ${road[host]})KiB
queue keep_returns2 returns2
queue returns2_beside_rerun returns2 --backend=sim --target=t4 --budget device=15KiB
# Features of 2 to 3 times the width of what they are multiplied to: the order of product and sum is not for any option to choose.
cat >order2.gnn <<'MODEL'
data web from synth(kind = "rmat", nodes = 1000, degree = 6, features = 40, classes = 5, seed = 3)
model order2 on web { return x |> GCN(16) as first |> relu |> GCN(y.classes) as second }
train order2 { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 6 }
MODEL
for name in keep_order2 order_each order_pinned order_small; do cp order2.gnn $name.gnn; done
printf 'plan {\n  fate "*" = keep\n}\n' >>order_pinned.gnn
queue keep_order2 order2
queue order_each order2 -fno-hoist
queue order_pinned order2
queue order_small order2 --budget device=$("$gnncc" -w --budget device=1KiB order2.gnn -o no 2>&1 | sed -n 's/.*device=\([0-9]*\)KiB is the smallest.*/\1/p')KiB
# Every value of a model of many operators in turn under every fate: in four programs, of which each moves every value on to the next fate.
python3 "$here/../relations/make_types.py" types && mv types/kinds kinds
cp "$plans/fates.gnn" .
cp fates.gnn keep_fates.gnn
with_fates() { "$gnncc" -w --plan -v $effort $box "$1" | awk '/^  value / { is_table = 1 } is_table && NF == 0 { exit } is_table'; } # MODEL.gnn: the table of values
with_fates fates.gnn | sed -nE 's/^  ([a-z][a-z0-9_.]*) .* keep +0  (host|ssd|recompute) .*/\1/p' | grep -vE '^(d|back)_' |
  awk '{ print gsub(/[.]/, "."), $0 }' | sort -sn | cut -d' ' -f2 | awk -F. '!($NF in seen); NF == 1 { seen[$1] }' >pinned # "a" names what a call has as rel1.a, too, and norm0.h the h made of the result of norm0
for turn in 0 1 2 3; do
  { cat fates.gnn && echo 'plan {' && awk -v turn=$turn 'BEGIN { split("keep host ssd recompute", fate) } { printf "  fate \"%s\" = %s\n", $1, fate[(NR + turn) % 4 + 1] }' pinned && echo '}'; } >fates_$turn.gnn
  queue fates_$turn fates $box
done
{ cat fates.gnn && echo 'plan {' && sed 's/.*/  fate "&" = recompute/' pinned && echo '}'; } >fates_again.gnn
queue fates_again fates
queue keep_fates fates
# Values in bf16: which are rounded, and where, depends on no plan.
bf16=--precision=bf16 half_models="sage4 attend2 hoist3 parts3 halo4 sparse3" half_roads="sage4_host attend2_reruns" half_others="hoist3_each parts3_rows halo4_halos sparse3_rows"
! is_all || half_models="$half_models edges4 learned4" half_roads="$half_roads sage4_reruns attend2_host" half_others="$half_others edges4_rows learned4_away"
for model in $half_models; do queue half_$model $model $bf16; done
for name in $half_roads; do
  model=${name%_*} kind=${name#*_}
  queue half_$name $model $bf16 ${road[$kind]} --budget device=$(least_of $model $bf16 ${road[$kind]})KiB
done
queue half_hoist3_each hoist3 $bf16 -fno-hoist
queue half_parts3_rows parts3 $bf16 '--cut=rows(4)' ${road[ring]} --budget device=$(near_least 1080 parts3 $bf16 '--cut=rows(4)' ${road[ring]})KiB
queue half_halo4_halos halo4 $bf16 '--cut=halos(4)' ${road[host]} --budget device=$(near_least 1640 halo4 $bf16 '--cut=halos(4)' ${road[host]})KiB
! is_all || queue half_edges4_rows edges4 $bf16 '--cut=rows(4)' ${road[host]} --budget device=$(near_least 3250 edges4 $bf16 '--cut=rows(4)' ${road[host]})KiB
queue half_sparse3_rows sparse3 $bf16 '--cut=rows(4)' ${road[host]} --budget device=$(near_least 4060 sparse3 $bf16 '--cut=rows(4)' ${road[host]})KiB
cp learned4_host.gnn half_learned4_away.gnn
! is_all || queue half_learned4_away none $bf16 '--cut=rows(4)' --budget host=64MiB
make_queued

for model in $models; do
  everything_kept() { is_made keep_$model && train keep_$model out_keep_$model && touches_what_it_planned keep_$model && says_bits keep_$model "this plan is it"; }
  check "$model, everything kept: trains, memory as planned" everything_kept
done
for name in $names; do check "$name: same bits, memory as planned" agrees_with keep_${name%%_*} $name; done
for item in $tight; do
  IFS=: read -r model kind least_kib <<<"$item"
  check "$model at the smallest budget has $kind" has ${model}_${kind}_0 $kind
  refuse 3 "$model, $kind: one in a hundred less does not fit" "$gnncc" -w --verify $(way_of $model $kind) --budget device=$((least_kib * 99 / 100))KiB "$plans/$model.gnn" -o no
done

# ---- each value under each fate ----
check "fates, everything kept: trains" train keep_fates out_keep_fates
check "  it has 60 values that have a choice, or more" test "$(wc -l <pinned)" -ge 60
as_pinned() { # TURN: every value has the fate that it was given, or is kept, as where what it would be computed from again has left; most have it
  with_fates fates_$1.gnn | sed -nE 's/^  ([a-z0-9_.]+) .* (keep|host|ssd|recompute) +[-+.0-9e]+( [mu]?s)?  pinned.*/\1 \2/p' | sort >planned
  sed -nE 's/^  fate "([a-z0-9_.]+)" = (\w+)$/\1 \2/p' fates_$1.gnn | sort | join - planned |
    awk '$2 == $3 { as_given++ } $2 != $3 && $3 != "keep" { print; bad = 1 } END { print as_given " of " NR " as given"; exit bad || NR < 60 || as_given < NR * 0.6 }'
}
for turn in 0 1 2 3; do
  check "fates, turn $turn: values have the fates that they were given" as_pinned $turn
  check "  same bits, memory as planned" agrees_with keep_fates fates_$turn
done
check "fates, all computed again: same bits, memory as planned" agrees_with keep_fates fates_again

# ---- values in bf16 ----
last_loss() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "loss") at = i } END { print $at }' "out_$1/log.csv"; } # PROGRAM
near() { # PROGRAM OTHER: losses of the last epoch, to two in a hundred, and they are not the same
  echo "$(last_loss "$1") $(last_loss "$2")" | awk '{ print; d = $1 / $2 - 1; exit !(d < 0.02 && d > -0.02 && d != 0) }'
}
for model in $half_models; do
  in_half() { is_made half_$model && train half_$model out_half_$model && touches_what_it_planned half_$model; }
  check "$model in bf16: trains, memory as planned" in_half
done
for model in sage4 attend2 hoist3; do check "  $model: losses are nearly those of fp32" near half_$model keep_$model; done
many_classes() { # so many that the gradient of the scores is one of the wide rows
  cat >classes20.gnn <<'END' && "$gnncc" -q -w $bf16 classes20.gnn -o classes20 >said 2>&1 && cat said && [ ! -s said ] && train classes20 out_classes20 && last_loss classes20
data g from synth(kind = "rmat", nodes = 500, degree = 4, features = 20, classes = 20, seed = 3)
model m on g { return x |> GCN(y.classes) }
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 5 }
END
  last_loss classes20 | awk '{ exit !($1 > 0 && $1 < 3.1) }'
}
check "the gradient of many classes' scores is rounded where it is stored" many_classes
for name in $half_roads $half_others; do
  check "$name in bf16: same bits, memory as planned" agrees_with half_${name%%_*} half_$name
done
refuses_in_half() { ! "$gnncc" -q -w $bf16 "$@" -o no 2>said && cat said && grep 'E0110.*they would round or add otherwise' said; }
check "a cut that would round otherwise in bf16 is refused" refuses_in_half '--cut=halos(4)' --budget host=64MiB "$plans/edges4.gnn"
check "tf32 is refused, and bf16 offered" eval '! "$gnncc" -w --precision=tf32 "$plans/sage4.gnn" -o no 2>said && cat said && grep "E0110.*--precision=tf32 is for programs for a GPU" said && grep "help:.*--precision=bf16" said'
as_users() { # MODEL: the C compiler's -O3, its vectors, and any number of threads
  local threads
  "$gnncc" -q -w $bf16 "$plans/$1.gnn" -o users && for threads in 1 3; do train users out_users --threads $threads && same_as out_users out_half_$1 || return 1; done
}
for model in sage4 attend2; do check "$model in bf16, optimised: same bits for every number of threads" as_users $model; done
kept_in_half() { "$gnncc" -q -w $bf16 "$@" --stop-after=fuse --dump=fuse | grep -oE '[a-z0-9_]+ \([0-9]+ bytes in bf16' | cut -d' ' -f1 | sort -u; }
as_on_gpu() { [ "$(kept_in_half "$plans/$1.gnn" | tee here | wc -l)" -gt 5 ] && diff here <(kept_in_half --backend=cuda --gemm=own "$plans/$1.gnn"); }
for model in sage4 gin4; do check "$model: what is kept in bf16 is so on a GPU" as_on_gpu $model; done
half_of_it() { [ $(($(peak_of "$@" $bf16) * 100)) -lt $(($(peak_of "$@") * 60)) ]; }
check "parts3 in bf16: three fifths of the memory, or less" half_of_it "$plans/parts3.gnn"
says_half() { "$gnncc" -w --plan $bf16 "$plans/sage4.gnn" | grep '[0-9]* values are kept in bf16, 2 bytes a number'; }
check "--plan says how many values are kept in bf16" says_half
half_gradients() { CFLAGS=-O0 "$gnncc" -q -w -fgradcheck $bf16 "$here/models/varied/gat.gnn" -o half_gat && ./half_gat gradcheck | grep -x 'all gradients agree'; }
check "a program in bf16 checks its gradients in double" half_gradients
cat >half_bad.gnn <<'END'
data web from synth(kind = "rmat", nodes = 100, degree = 3, features = 20, classes = 3, seed = 1)
model m on web {
  h = x |> Linear(24)
  far1 = sqrt(h - 1000)
  return far1 |> GCN(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2 }
END
finds_in_half() { CFLAGS=-O0 "$gnncc" -q -w $bf16 half_bad.gnn -o half_bad && ! ./half_bad -q --out out_bad 2>said && cat said && grep 'first bad value: far1, node 0, column 0 is NaN' said; }
check "the first value in bf16 that is not finite" finds_in_half

# ---- pieces ----
check "sparse3, one part: trains" train keep_sparse3 out_keep_sparse3
for name in rows slices; do check "sparse3, four parts, $name: same bits, memory as planned" agrees_with keep_sparse3 sparse3_$name; done
check "sparse3, four parts: products with sparse features go part by part" grep -q '^  /\* step .*gcn1.lin.weight.* \[4/4\]$' gen_sparse3_slices/sparse3_slices.c
check "sparse3, slices: features gather columns for the gradients of their matrices" bash -c "grep -q '  sparse_outer_16_of_48(' gen_sparse3_slices/sparse3_slices.c && ! grep -q ' sparse_outer_48(' gen_sparse3_slices/sparse3_slices.c"
half_of_whole() { [ $((10 * $(plans=. least_of sparse3_host '--cut=slices(2)' --budget host=64MiB))) -lt $((4 * $(least_of sparse3 --cut=whole ${road[host]}))) ]; }
check "sparse3, slices, features and graph on the host: less than 0.4 of what whole values need at least" half_of_whole
entries_away() { # PROGRAM HOW: by parts of the rows, and of the columns
  agrees_with keep_sparse3 "$1" && for array in data_x_row_ptr data_x_row_idx data_x_row_value data_x_column_idx data_x_column_value graph_in_idx graph_in_degree; do grep -q "in $array\[2/4\] $2" "gen_$1/$1.c" || return 1; done
}
check "sparse3, features and graph on the host: rows and columns come by parts, and degrees, same bits, memory as planned" entries_away sparse3_host "<- host"
check "sparse3, features and graph on the SSD alone: likewise" entries_away sparse3_ssd "<- ssd"
check "sparse3, features and graph on the SSD, by the ring of a host: likewise" entries_away sparse3_ring "ssd -> ring"
on_both() { grep -Eq "in $2\[./4\] <- host" "gen_$1/$1.c" && grep -Eq "in $2\[./4\] ssd -> ring" "gen_$1/$1.c"; } # PROGRAM ARRAYS: parts of what matches come from the host, and from the SSD
entries_split() { agrees_with keep_sparse3 sparse3_split && on_both sparse3_split '(graph|data_x)_[a-z_]*' && grep -q 'in the scratch file and the host arena, by parts' gen_sparse3_split/sparse3_split.c; }
check "sparse3, features and graph on a host that is too small and an SSD: some parts stay on the host, same bits, memory as planned" entries_split
sed 's/10GB/1GB/g' "$plans/box.gnn" >slow_box.gnn
told_us() { sed -nE 's/^(  time +)?([0-9.]+) ([mu]?s)( per (epoch|evaluation).*)?$/\2 \3/p' | awk '{ print $1 * ($2 == "s" ? 1e6 : $2 == "ms" ? 1e3 : 1) }'; } # of the line "time" of a plan, or of a time
epoch_us() { "$gnncc" -w --plan $effort "$@" | told_us; }
tells_epoch() { # TIME FILE: a plan tells what is promised, if in another unit; or less than "at most" is
  awk -v a="$(told_us <<<"${1#at most }")" -v b="$(told_us <"$2")" -v is_most="$([[ $1 != "at most "* ]] || echo 1)" 'BEGIN { exit !(a > 0 && b > 0 && a / b > 0.994 && (is_most || a / b < 1.006)) }'
}
split_pays() { # where all do not fit on the host, and would be on the SSD otherwise
  local on_ssd on_both
  ! "$gnncc" -w '--cut=slices(2)' $box --budget ssd=0 --budget host=1MiB sparse3_split.gnn -o no 2>no.err && grep -q 'E0502.*on the host takes .* MiB, and the host budget is 1.0 MiB' no.err && grep -q -- '--budget ssd=' no.err || return 1
  on_ssd=$(epoch_us '--cut=slices(2)' --target=slow_box.gnn --budget host=1600KiB --budget device=6MiB sparse3_ring.gnn) on_both=$(epoch_us '--cut=slices(2)' --target=slow_box.gnn --budget host=1600KiB --budget device=6MiB sparse3_split.gnn)
  echo "$on_ssd $on_both" && awk -v a="$on_both" -v b="$on_ssd" 'BEGIN { exit !(a > 0 && a < b) }'
}
check "a host that is too small without an SSD is refused; beside one, that is faster than all of it on the SSD" split_pays
without_host() { # as long as is said
  local told
  ! "$gnncc" -w $box --budget device=1000KiB --budget host=100KiB "$plans/sage4.gnn" -o no 2>no.err && grep 'E0502.*overflows host (100.0 KiB)$' no.err && told=$(sed -n 's/.* --budget host=0, for the SSD alone -> \(.*\) per epoch.*/\1/p' no.err) &&
    [ "$told" ] && "$gnncc" -w --plan $box --budget device=1000KiB --budget host=0 "$plans/sage4.gnn" >plan && grep "^  time  *$told per epoch" plan
}
check "where the host is too small for the way to the SSD, values may go there without it" without_host
says_split() { "$gnncc" -w --plan '--cut=slices(2)' $box --budget host=1750KiB --budget device=5700KiB sparse3_split.gnn | grep 'features and graph on host and SSD ([0-9.]* MiB, written to the scratch file as they are loaded, and [0-9.]* KiB that stay on the host)'; }
check "--plan says how much lies where" says_split
less_with_features_away() { # there is no plan with features on the device for what is one where they are not
  local there
  there=$(plans=. least_of sparse3_slices '--cut=slices(2)' ${road[host]}) && echo "$there KiB" && [ "$there" -gt 2700 ]
}
leaves_by_itself() { # of the parts that were asked for, where there is no room for them with data on the device, unless these are to stay
  "$gnncc" -w --plan '--cut=slices(2)' --budget host=64MiB --budget device=2600KiB "$plans/sparse3.gnn" | tee left.txt | grep '^ *cut .*up to 2 slices of columns, features and graph on the host' &&
    ! "$gnncc" -w --plan '--cut=slices(2)' --budget host=64MiB --budget device=2600KiB sparse3_slices.gnn >stays.txt 2>&1 && grep 'E0501' stays.txt
}
check "sparse3, slices that were asked for: features and graph leave the device where these find no plan, unless they are to be kept there" leaves_by_itself
check "sparse3, features and graph on the host: with less than what those on the device need at least" less_with_features_away
other_entries() { # as many rows in each part, and other numbers in columns
  mkdir -p gen_others && cp gen_sparse3_host/* gen_others && sed -E 's/part_column_entries_0\[\] = \{0, ([0-9]+)/part_column_entries_0[] = {0, \11/' gen_sparse3_host/sparse3_host.c >gen_others/sparse3_host.c && ! cmp -s gen_others/sparse3_host.c gen_sparse3_host/sparse3_host.c &&
    compile others sparse3_host && ! ./others -q --epochs 1 --out out_others 2>others.err && grep -q 'R0802.*is cut into other parts' others.err
}
check "features whose columns have other numbers than those that a program was compiled for are refused" other_entries
check "parts3, one part: trains" train keep_parts3 out_keep_parts3
check "parts3, four parts: a step and a place for each" bash -c "grep -q '^  /\* step [0-9]* .* \[2/4\]$' gen_parts3_kept/parts3.c && grep -q '^#define AT_h1_part_4 ' gen_parts3_kept/parts3.c"
for name in kept reruns host ring; do check "parts3, four parts, $name: same bits, memory as planned" agrees_with keep_parts3 parts3_$name; done
for kind in reruns host ring; do check "parts3, four parts: a small budget has $kind" has parts3_$kind $kind; done
check "parts3, four parts, ring: pieces pass it" grep -q 'out [a-z0-9_]*\[3/4\] -> ring' gen_parts3_ring/parts3.c
check "parts_sums2, one part: trains" train keep_parts_sums2 out_keep_parts_sums2
for kind in reruns host; do check "parts_sums2, four parts, $kind: same bits, memory as planned" agrees_with keep_parts_sums2 parts_sums2_$kind; done
sums_by_parts() { # a sum, a largest and a sum over in-edges, and one over out-edges
  local what
  for what in 'sum over in-edges' 'max over in-edges' 'sum over out-edges'; do
    grep -q "^  /\* step .*$what.* \[4/4\]\$" gen_parts_sums2_host/parts_sums2.c || { echo "no $what"; return 1; }
  done
}
check "parts_sums2: aggregations run part by part" sums_by_parts
chooses_a_cut() { # what whole values cannot do, pieces can, and nobody has to ask for them
  local whole parts
  sed -e 's/GAT(8, heads = 2)/GCN(32)/; s/SAGE(16, aggr = "max")/Linear(64)/' "$plans/parts_sums2.gnn" >parts_gcn3.gnn
  whole=$(plans=. least_of parts_gcn3 --cut=whole) parts=$(plans=. least_of parts_gcn3 '--cut=rows(4)')
  [ "$parts" -lt "$whole" ] || { echo "$parts KiB, whole $whole KiB"; return 1; }
  "$gnncc" -w --plan --budget device="${parts}KiB" parts_gcn3.gnn | tee plan.txt | grep '^  fits' && grep '[0-9] of 4 pieces\|\[[1-4]/4\]' plan.txt && \
    ! "$gnncc" -w --plan --cut=whole --budget device="${parts}KiB" parts_gcn3.gnn 2>/dev/null
}
check "where whole values do not fit and pieces do, they are cut" chooses_a_cut
epoch_of() { "$gnncc" -w --plan=json --plan-effort=fast "$@" parts_gcn3.gnn 2>/dev/null | tr ',' '\n' | awk '/"epoch"/ { is_near = 1 } is_near && /"seconds"/ { gsub(/[^0-9.e-]/, ""); print; exit }'; }
is_no_slower() { # the cut that is chosen, than any that is asked for
  local budget=$(($(plans=. least_of parts_gcn3 '--cut=rows(4)') * $1 / 100)) cut chosen other found=0
  chosen=$(epoch_of --budget device=${budget}KiB --budget host=1GiB)
  for cut in whole 'rows(4)' 'slices(2)'; do
    other=$(epoch_of --budget device=${budget}KiB --budget host=1GiB --cut="$cut")
    [ "$other" ] || continue
    found=1
    awk "BEGIN { exit !($chosen <= 1.005 * $other) }" || { echo "$chosen s, with --cut=$cut $other s"; return 1; }
  done
  [ $found = 1 ]
}
for percent in $(! is_all || echo 70 105) 120; do check "the cut that is chosen is no slower than one that is asked for, with $percent % of what parts need" is_no_slower $percent; done
sweeps_modes() { # each budget has the cut of its own, and the table, the drawing and the numbers say which
  local least=$(plans=. least_of parts_gcn3 '--cut=rows(4)') most=$(plans=. least_of parts_gcn3 --cut=whole)
  local range="device=${least}KiB:$((2 * most))KiB"
  "$gnncc" -w --plan-effort=fast --sweep "$range" --emit=sweep=-,sweep=modes.svg,sweep=modes.json parts_gcn3.gnn | tee modes.txt
  grep -q ' ssd  values$' modes.txt && grep -q '  whole ' modes.txt && grep -q '  4 parts' modes.txt && [ $(grep -c 'class="mode"' modes.svg) -ge 2 ] &&
    grep -q '"mode": "whole"' modes.json && grep -q '"mode": "4 parts' modes.json && ! "$gnncc" -w --plan-effort=fast --cut=whole --sweep "$range" parts_gcn3.gnn | grep values
}
check "a sweep plans every budget with its own cut, and says where that changes" sweeps_modes
page_sweeps_modes() { # KiB OPTION...: a page, too, whatever the cut of its plan
  "$gnncc" -w --plan --plan-effort=fast --budget device="$1KiB" "${@:2}" --emit=report=page.html,plan=page.json parts_gcn3.gnn >plan.txt && tr '\n' ' ' <page.json | grep -o '"mode": "[^"]*"\|"slices": [0-9]*\|"parts": [0-9]*' | sort | uniq -c
  grep -q '"mode": "whole"' page.json && grep -q '"mode": "4 parts' page.json && grep -o '"sweep":.*"knee"' page.html | grep -q '"mode'
}
page_least=$(plans=. least_of parts_gcn3 '--cut=rows(4)') page_most=$(plans=. least_of parts_gcn3 --cut=whole)
check "so does the sweep of a page: with a plan of whole values" page_sweeps_modes $((2 * page_most))
check "with one of parts" page_sweeps_modes $(((page_least + page_most) / 2))
not_cut() { ! page_sweeps_modes $((2 * page_most)) --cut=whole && [ -e page.json ] && grep -q '"sweep"' page.json && ! grep -q '"mode"' page.json; }
check "but not where one cut is asked for" not_cut
cat >near.gnn <<'END'
data g from synth(kind = "rmat", nodes = 8200, degree = 3, features = 32, classes = 8, seed = 3)
model near on g {
  h = x |> dropout(0.5) |> GCN(64) |> relu
  return h |> dropout(0.5) |> GCN(y.classes)
}
train near {
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = 6
}
END
fits_above() { for kib in "$@"; do "$gnncc" -w $box --plan-effort=fast --budget device=${kib}KiB --budget host=1GiB --plan near.gnn >near.txt || return 1; done; } # of these budgets every one; prices of another machine lead to other plans there
check "near the least budget, where addresses are rare, every budget above one that works works" fits_above 1100 $(! is_all || echo 1120 1140)
chosen_on_ssd() { # without a host tier, data are at home on the SSD where that is what fits
  cp near.gnn near_whole.gnn && cp near.gnn near_ssd.gnn && program near_whole near && program near_ssd near --plan-effort=fast --budget device=1150KiB --budget ssd=64MiB && is_made near_whole && train near_whole out_near_whole || return 1
  agrees_with near_whole near_ssd && grep -q '\.home = {GNN_SSD, ' gen_near_ssd/near_ssd.c && grep -q 'in_home = {GNN_SSD, ' gen_near_ssd/near_ssd.c
}
check "on the SSD alone features and graph are cut and at home there: same bits, memory as planned" chosen_on_ssd
sed 's/nodes = 8200/nodes = 16400/; s/GCN(64)/GCN(16)/; s/features = 32/features = 64/' near.gnn >near_wide.gnn
small_host() { "$gnncc" -w --plan-effort=fast $box --budget host=4MiB --budget device=1800KiB --plan near_wide.gnn | grep ', features and graph on host and SSD ([0-9.]* MiB, written to the scratch file as they are loaded, and [0-9.]* KiB that stay on the host)'; }
check "beside a host that is too small for both, parts of them are on the SSD" small_host
cat >wide.gnn <<'END'
data g from synth(kind = "er", nodes = 33000, degree = 8, features = 64, classes = 40, seed = 3)
model wide on g {
  h = x |> SAGE(32) |> relu |> dropout(0.5)
  return h |> SAGE(y.classes)
}
train wide {
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = 3
}
END
scores_box="$box --budget device=15500KiB --budget host=6MiB --budget ssd=0"
scores_away() { # 5.1 MiB of them, beside 8.1 of features that the host has no room for; the epoch's values have their place in the epoch
  cp wide.gnn wide_whole.gnn && cp wide.gnn wide_away.gnn && program wide_whole wide && program wide_away wide --plan-effort=fast $scores_box && is_made wide_whole && train wide_whole out_wide_whole || return 1
  agrees_with wide_whole wide_away && grep -q '\.scores_tier = GNN_HOST' gen_wide_away/wide_away.c && grep -q ' -> host' gen_wide_away/wide_away.c
}
check "scores leave a device that all data lie on, to a host whose room the epoch has: same bits, memory as planned" scores_away
scores_given() {
  local small="-w --plan-effort=fast $scores_box"
  "$gnncc" $small --plan=json wide.gnn >wide.json && "$gnncc" $small --plan-from=wide.json --cut='slices(4)' --plan wide.gnn | grep ', scores of all nodes on the host$'
}
check "and a plan of theirs is taken as it was" scores_given
says_near() { # the size that it names is of parts and works
  "$gnncc" -w $box --plan-effort=fast --budget device=1000KiB --budget host=1GiB --plan near.gnn >near.txt 2>&1 && return 1
  local said=$(sed -n 's/.*--budget [a-z]*=\([0-9]*\)KiB is the smallest.*/\1/p' near.txt)
  cat near.txt && [ -n "$said" ] && [ "$said" -lt 1400 ] && fits_above "$said"
}
! is_all || check "below it, the size that is named is that of the cut, and works" says_near
counts_pieces() { # a value in pieces is one line, which counts their fates
  "$gnncc" -w --plan --plan-effort=fast '--cut=rows(4)' --budget device=$(($(plans=. least_of parts_gcn3 '--cut=rows(4)') * 101 / 100))KiB parts_gcn3.gnn >pieces.txt
  grep -E '^  [a-z_0-9.]+ .* mixed .* of 4 pieces [1-4] [a-z]+, [1-3] [a-z]+' pieces.txt && ! grep -F '[2/4]' <(grep -v '^  fits' pieces.txt)
}
check "--plan has a line for a value in pieces, with how many have each fate" counts_pieces
check "halo4, one part: trains" train keep_halo4 out_keep_halo4
for name in kept host direct; do check "halo4, halos, $name: same bits, memory as planned" agrees_with keep_halo4 halo4_$name; done
gathers_from_halos() { # sums and extremes in both directions, and rows that go to other parts and come back from other tiers
  local what
  for what in 'max over in-edges of src\.[a-z0-9_]*_halo' 'sum over in-edges of src\.[a-z0-9_]*_halo' 'sum over out-edges of .*_halo' '_halo = rows of '; do
    grep -q "^  /\* step .*$what.* \[4/4\]\$" gen_halo4_host/halo4.c || { echo "no $what"; return 1; }
  done
  grep -q 'out [a-z0-9_]*_halo\[4>1/4\] -> host' gen_halo4_host/halo4.c && grep -q '\.at_in_idx = -1, ' gen_halo4_host/halo4.c && ! grep -q 'spmm_pieces_' gen_halo4_host/halo4.c
}
check "halo4: every sum over neighbours gathers from halos, and nobody asks for the ids of neighbours" gathers_from_halos
halos_need_less() { [ $((10 * $(least_of halo4 '--cut=halos(4)' ${road[host]}))) -lt $((9 * $(least_of halo4 --cut=whole ${road[host]}))) ]; }
check "halo4: less than 0.9 of what whole values need at least" halos_need_less
parts_choose_halos() { # what was asked for are parts: tables where they are faster, halos where tables do not fit
  local least=$(least_of halo4 '--cut=halos(4)' ${road[host]})
  "$gnncc" -w --plan-effort=fast ${road[host]} '--cut=rows(4)' --budget device=${least}KiB --plan "$plans/halo4.gnn" | grep "gather from a part's own rows and its halo" && "$gnncc" -w '--cut=rows(4)' --plan "$plans/halo4.gnn" | grep '^  cut ' | grep -v halo
}
check "rows(4) gathers from halos where tables do not fit, and from tables where they do" parts_choose_halos
halo_plan_is_taken() { "$gnncc" -w ${road[host]} '--cut=halos(4)' --budget device=3MiB --emit=plan=halo_plan.json "$plans/halo4.gnn" && "$gnncc" -w ${road[host]} '--cut=rows(4)' --budget device=3MiB --plan-from=halo_plan.json --plan "$plans/halo4.gnn" | grep 'its halo'; }
check "a plan of halos is one of parts" halo_plan_is_taken
other_halos() { # as many edges in each part, and other rows
  mkdir -p gen_others && cp gen_halo4_host/* gen_others && sed -E 's/pairs_in\[\] = \{([0-9]+)/pairs_in[] = {1\1/' gen_halo4_host/halo4.c >gen_others/halo4.c && compile others halo4 && ! ./others -q --epochs 1 --out out_others 2>others.err && grep -q 'R0802.*gather other rows of each other' others.err
}
check "data whose parts gather other rows than those that a program was compiled for are refused" other_halos
check "edges4, one part: trains" train keep_edges4 out_keep_edges4
for name in rows halos away; do check "edges4, four parts, $name: same bits, memory as planned" agrees_with keep_edges4 edges4_$name; done
edges_by_parts() { # PROGRAM FROM: sums over all edges, values on edges made of both ends, their products and gradients; pieces of them move
  local what
  for what in 'back_gatv2[0-9a-z_]* = sum of ' 'd_gate1_t[0-9_]* = sum of ' 'gate1_concat = ' 'gate1_message_h = ' 'd_gate1_message_weight = ' 'd_gate1_message_bias = ' 'edgeconv1 = max over in-edges of edgeconv1_nn' 'sum over out-edges of '; do
    grep -q "^  /\* step .*$what.* \[4/4\]\$" gen_edges4_$1/edges4.c || { echo "no $what"; return 1; }
  done
  grep -q "out gate1_[a-z0-9_]*\[[1-4]/4\] -> $2" gen_edges4_$1/edges4.c
}
check "edges4, from tables: all that goes over edges goes by parts, and pieces of values on edges leave the device" edges_by_parts rows host
check "edges4, from halos: likewise" edges_by_parts halos ring
edges_from_halos() { grep -q '^  /\* step .* = sum over out-edges of d_edgeconv1_sub_halo \[4/4\]$' gen_edges4_halos/edges4.c && grep -q 'in [a-z0-9_]*_halo\[4>[123]/4\]' gen_edges4_halos/edges4.c && grep -q '\.at_out_edge = -1, ' gen_edges4_halos/edges4.c; }
check "  and values on edges reach their sources so, by no number of an edge" edges_from_halos
edge_tables() { grep -q 'in graph_edge_halo_rows\[2/4\] <- ssd' gen_edges4_away/edges4_away.c && grep -q 'in graph_edge_codes\[4/4\] <- ssd' gen_edges4_away/edges4_away.c && ! grep -q 'AT_graph_edge_[a-z_]* ' <(grep -v AT_graph_edge_halo_first gen_edges4_away/edges4_away.c); }
check "  with data away which edges are gathered, and where each is found, comes by parts" edge_tables
check "  nobody asks for the ids of neighbours" grep -q '\.at_in_idx = -1, ' gen_edges4_halos/edges4.c
edges_need_less() { [ $((10 * $(least_of edges4 '--cut=rows(4)' ${road[host]}))) -lt $((7 * $(least_of edges4 --cut=whole ${road[host]}))) ]; }
! is_all || check "edges4: less than 0.7 of what whole values need at least" edges_need_less
other_edges() { # as many rows in each part, and other edges
  mkdir -p gen_others && cp gen_edges4_rows/* gen_others && sed -E 's/part_in\[\] = \{0, ([0-9]+)/part_in[] = {0, \11/' gen_edges4_rows/edges4.c >gen_others/edges4.c && ! cmp -s gen_others/edges4.c gen_edges4_rows/edges4.c &&
    compile others edges4 && ! ./others -q --epochs 1 --out out_others 2>others.err && grep -q 'R0802.*is cut into other parts' others.err
}
check "edges4: data whose parts have other edges than those that a program was compiled for are refused" other_edges
threads_agree() { # PROGRAM COUNT
  train "$1" out_threads --threads "$2" && same_as out_threads out_keep_parts3
}
for threads in 1 3; do check "parts3, four parts, ring: the same on $threads threads" threads_agree parts3_ring $threads; done
slices_of() { # MODEL: by columns, with and without other tiers
  is_made "keep_$1" && for kind in slices2 slices3; do agrees_with "keep_$1" "$1_$kind" || return 1; done
}
check "slices4, whole: trains" train keep_slices4 out_keep_slices4
check "slices4, two and three slices: same bits, memory as planned" slices_of slices4
features_on_host() { agrees_with keep_slices4 away4_host && grep -q 'is_on_host = 1' gen_away4_host/away4.c && grep -q 'in data_x\[1/4\] <- host' gen_away4_host/away4.c; }
check "away4, features on the host: they come by parts, same bits, memory as planned" features_on_host
graph_on_host() {
  train keep_directed out_keep_directed && agrees_with keep_directed away_directed && grep -q 'is_idx_on_host = 1' gen_away_directed/away_directed.c && grep -q 'in graph_in_idx\[2/4\] <- host' gen_away_directed/away_directed.c &&
    grep -q 'in graph_out_idx\[2/4\] <- host' gen_away_directed/away_directed.c && grep -q 'is_ptr_on_host = 1' gen_away_directed/away_directed.c && grep -q 'in graph_out_ptr\[2/4\] <- host' gen_away_directed/away_directed.c &&
    ! grep -q 'AT_graph_[a-z]*_ptr ' gen_away_directed/away_directed.c
}
check "features and graph on the host: both directions come by parts, with where the edges of each node begin, same bits, memory as planned" graph_on_host
for name in halos halosssd; do check "edges one way, $name, features and codes away: same bits, memory as planned" agrees_with keep_directed ${name}_directed; done
check "codes come by parts in both directions" bash -c "grep -q 'in graph_in_idx\[2/4\] <- host' gen_halos_directed/halos_directed.c && grep -q 'in graph_out_idx\[2/4\] <- ssd' gen_halosssd_directed/halosssd_directed.c"
halo_tables() { grep -q 'in graph_in_halo_rows\[2/4\] <- host' gen_halos_directed/halos_directed.c && grep -q 'in graph_out_halo_rows\[2/4\] <- ssd' gen_halosssd_directed/halosssd_directed.c && ! grep -q 'AT_graph_[a-z]*_halo_rows ' gen_halos{,ssd}_directed/*.c; }
check "which rows the parts gather comes by parts in both directions" halo_tables
check "one edge, everything kept: trains" train keep_lone out_keep_lone
as_one_edge() { is_made "$1" && train "$1" "out_$1" && same_as "out_$1" out_keep_lone; } # what a part without edges is planned to have of them is not touched
for name in lone_rows lone_slices; do check "$name, parts without edges: same bits" as_one_edge $name; done
check "labels come by parts, too, where the device has little room" bash -c "grep -q 'in data_y\[2/4\] <- host' gen_halos_directed/halos_directed.c && grep -q 'AT_data_y INT64_C' gen_away_directed/away_directed.c"
named_edges() { # TIER: in the order of the edges that arrive and of those that leave
  agrees_with keep_named named_$1 && grep -q "in graph_edge_id\[2/4\] .*$1" gen_named_$1/named_$1.c && grep -q "in graph_out_edge_id\[2/4\] .*$1" gen_named_$1/named_$1.c && ! grep -q 'AT_graph_[a-z_]*edge_id ' gen_named_$1/named_$1.c
}
check "an order of their own, edges dropped: what the data call edges comes from the host by parts" eval 'train keep_named out_keep_named && named_edges host'
check "  from the SSD, too" named_edges ssd
edges_of_sources() { train keep_source out_keep_source && agrees_with keep_source source_ssd && grep -q 'in graph_out_edge\[2/4\] <- ssd' gen_source_ssd/source_ssd.c && ! grep -q 'AT_graph_out_edge ' gen_source_ssd/source_ssd.c; }
check "so do the numbers of the edges that leave nodes, where sums at these ask for them" edges_of_sources
labelled_by_parts() { grep -q 'in rows_train\[2/4\] <- host' gen_halos_directed/halos_directed.c && ! grep -q 'AT_rows_[a-z]* ' gen_halos_directed/halos_directed.c && grep -q 'AT_rows_train INT64_C' gen_away_directed/away_directed.c; }
check "and with them which rows have some" labelled_by_parts
other_rows() { # as many labels in all
  mkdir -p gen_others && cp gen_halos_directed/* gen_others && sed -E 's/part_rows_0\[\] = \{0, ([0-9]+)/part_rows_0[] = {0, 1\1/' gen_halos_directed/halos_directed.c >gen_others/halos_directed.c && compile others halos_directed && ! ./others -q --epochs 1 --out out_others 2>others.err &&
    grep -q 'R0802.*is cut into other parts' others.err
}
check "data whose parts have other labelled rows than those that a program was compiled for are refused" other_rows
says_data_on_host() { "$gnncc" -w --plan '--cut=slices(2)' --budget host=64MiB away_directed.gnn | grep 'up to 2 slices of columns, features and graph on the host'; }
check "and --plan says so" says_data_on_host
scores_on_host() { # they are no result of a layer, so they are made and leave by parts
  grep -q 'scores_tier = GNN_HOST' gen_away_directed/away_directed.c && grep -q 'out eval_[a-z0-9_]*\[4/4\] -> host' gen_away_directed/away_directed.c && grep -q ': all is over when eval_[a-z0-9_]*\[4/4\] is there' gen_away_directed/away_directed.c &&
    ./keep_directed predict -q --weights out_keep_directed/last.safetensors -o scores_keep.npy && ./away_directed predict -q --weights out_away_directed/last.safetensors -o scores_away.npy && cmp scores_keep.npy scores_away.npy
}
check "and the scores of an evaluation leave for the host by parts" scores_on_host
data_on_ssd() { # PROGRAM: those of directed edges
  grep -q '\.home = {GNN_SSD, ' "gen_$1/$1.c" && grep -q 'in_home = {GNN_SSD, ' "gen_$1/$1.c" && grep -q 'out_home = {GNN_SSD, ' "gen_$1/$1.c"
}
ssd_alone() {
  agrees_with keep_directed ssd_directed && data_on_ssd ssd_directed && grep -q 'in graph_in_idx\[2/4\] <- ssd' gen_ssd_directed/ssd_directed.c && grep -q 'in graph_out_idx\[2/4\] <- ssd' gen_ssd_directed/ssd_directed.c && grep -q 'out_ptr_home = {GNN_SSD, ' gen_ssd_directed/ssd_directed.c &&
    grep -q 'in graph_in_ptr\[4/4\] <- ssd' gen_ssd_directed/ssd_directed.c && ! grep -q 'AT_graph_[a-z]*_ptr ' gen_ssd_directed/ssd_directed.c
}
check "features and graph on the SSD alone: both directions come by parts, same bits, memory as planned" ssd_alone
scores_on_ssd() {
  grep -q 'scores_copies = 4' gen_ssd_directed/ssd_directed.c && grep -q 'out eval_[a-z0-9_]*\[4/4\] -> ssd' gen_ssd_directed/ssd_directed.c && ./ssd_directed predict -q --weights out_keep_directed/last.safetensors -o scores_ssd.npy && cmp scores_keep.npy scores_ssd.npy
}
check "and the scores of an evaluation leave for the SSD by parts" scores_on_ssd
by_ring() { agrees_with keep_directed ring_directed && data_on_ssd ring_directed && grep -q 'in graph_out_idx\[2/4\] ssd -> ring' gen_ring_directed/ring_directed.c && grep -q 'scores_tier = GNN_HOST' gen_ring_directed/ring_directed.c; }
check "where there is a host, too, they come by its ring, and the scores end there" by_ring
check "edges that go both ways on the SSD, for kernels that go over all of them: same bits" agrees_with keep_slices4 away4_ssd
layer_of_scores() {
  local layer=$(sed -n 's/.*taps\[\] = {"\([^"]*\)".*/\1/p' gen_away4_ssd/away4_ssd.c)
  grep -q 'scores_tap_count = 1' gen_away4_ssd/away4_ssd.c && grep -q 'out eval_[a-z0-9_]*\[4/4\] -> ssd' gen_away4_ssd/away4_ssd.c || return 1
  ./away4_ssd predict -q --weights out_keep_slices4/last.safetensors -o scores_away4.npy && ./away4_ssd predict -q --layer "$layer" --weights out_keep_slices4/last.safetensors -o layer_away4.npy && cmp scores_away4.npy layer_away4.npy
}
check "the layer of which scores are the result is asked for where they end" layer_of_scores
in_turns() {
  is_made many && train many out_many && agrees_with many many_ssd && [ "$(sed -n 's/.*scores_together = \([0-9]*\),.*/\1/p' gen_many_ssd/many_ssd.c)" -lt 4 ] && cc -std=gnu11 -march=native -fsyntax-only -Wall -Wextra -Werror -Igen_many_ssd gen_many_ssd/many_ssd.c || return 1
  for program in many many_ssd; do
    ./$program eval --weights out_many/last.safetensors | sed 's/weights from.*//' >$program.eval && ./$program predict -q --weights out_many/last.safetensors -o $program.npy && ./$program predict -q --classes --weights out_many/last.safetensors -o $program.csv || return 1
  done
  cmp many.eval many_ssd.eval && cmp many.npy many_ssd.npy && cmp many.csv many_ssd.csv
}
check "more scores than the device has room for are measured and written as they come back from the SSD" in_turns
says_data_on_ssd() { "$gnncc" -w --plan '--cut=slices(2)' --budget ssd=64MiB ssd_directed.gnn | grep 'features and graph on the SSD (488.2 KiB, written to the scratch file as they are loaded; x of 1.1 MiB is read where it lies in directed/x.npy)'; }
check "--plan says where they are, what is written and what is read in a file of the user's" says_data_on_ssd
in_own_file() { grep -q 'home = {GNN_SSD, [0-9]*, 4}, .window = ' gen_ssd_directed/ssd_directed.c && ! grep -q '\.window = ' gen_sparse3_ssd/sparse3_ssd.c && grep -q '\.window = ' gen_halosssd_directed/halosssd_directed.c; }
check "dense features are read in their own file, beyond the header that it begins with" in_own_file
changed_file() { # where it is read, while that goes on; it is put back as it was
  local status
  cp -p directed/x.npy x.kept && : >changed.txt
  ./ssd_directed --epochs 1000000 --out out_changed >changed.txt 2>&1 &
  while ! grep -q '^ *1 ' changed.txt && kill -0 $! 2>/dev/null; do sleep 0.1; done
  touch directed/x.npy
  wait $!
  status=$?
  cp -p x.kept directed/x.npy
  cat changed.txt && [ $status -eq 4 ] && grep -q 'E0001.*"directed/x.npy" was changed while a program reads data' changed.txt
}
check "a file that changes while a program reads it there ends the program" changed_file
wide_file() { # the same numbers, twice as long each
  mkdir -p wide && cp directed/* wide && perl -0777 -ne 'my $at = 10 + unpack("v", substr($_, 8, 2)); my $head = substr($_, 0, $at); $head =~ s/<f4/<f8/; print $head, pack("d<*", unpack("f<*", substr($_, $at)))' directed/x.npy >wide/x.npy
  ./ssd_directed -q --data wide --epochs $epochs --every 1 --log csv --out out_wide && same_as out_wide out_keep_directed && ./ssd_directed check --data wide >wide.txt
  cat wide.txt && awk '/^scratch file: planned .* MiB, written .* MiB/ { more = $7 - $4 } END { exit !(more > 1.05 && more < 1.15) }' wide.txt # x has 1.1 MiB
}
check "where its numbers are others they are written to the scratch file: same bits" wide_file
no_ssd() { ! "$gnncc" -w ssd_directed.gnn -o no 2>no.err && grep -q 'E0506.*there is no ssd tier' no.err; }
check "a field on an SSD that there is not is refused" no_ssd
both_ways() { agrees_with keep_slices4 away4_graph && grep -q 'in graph_in_idx\[4/4\] <- host' gen_away4_graph/away4_graph.c && ! grep -q 'graph_out_idx' gen_away4_graph/away4_graph.c; }
check "of edges that go both ways there is one array, which comes by parts for sums over all edges, too" both_ways
other_edges() { # as many rows in each part, and other numbers of edges
  mkdir -p gen_other && cp gen_away_directed/* gen_other && sed -E 's/part_out\[\] = \{0, ([0-9]+)/part_out[] = {0, \11/' gen_away_directed/away_directed.c >gen_other/away_directed.c && ! cmp -s gen_other/away_directed.c gen_away_directed/away_directed.c &&
    compile other away_directed && ! ./other -q --epochs 1 --out out_other 2>other.err && grep -q 'R0802.*is cut into other parts' other.err
}
check "data whose parts have other edges than those that a program was compiled for are refused" other_edges
learned_on_host() {
  train keep_learned4 out_keep_learned4 && agrees_with keep_learned4 learned4_host && grep -q 'in weight_e\[1/4\] <- host' gen_learned4_host/learned4_host.c && grep -q 'out state2_e\[4/4\] -> host' gen_learned4_host/learned4_host.c
}
check "learned4, learned values and what their optimiser keeps on the host: they come by parts and go back, same bits, memory as planned" learned_on_host
learned_on_ssd() { agrees_with keep_learned4 learned4_ssd && grep -q 'home_state = {{GNN_SSD, ' gen_learned4_ssd/learned4_ssd.c && grep -q 'out state2_e\[4/4\] -> ssd' gen_learned4_ssd/learned4_ssd.c; }
check "on the SSD alone" learned_on_ssd
learned_by_ring() { agrees_with keep_learned4 learned4_ring && grep -q 'out weight_e\[4/4\] ring -> ssd' gen_learned4_ring/learned4_ring.c; }
check "and by the ring" learned_by_ring
check "and where sums gather from halos" agrees_with keep_learned4 learned4_halos
learned_split() { agrees_with keep_learned4 learned4_split && on_both learned4_split '(weight|state[12])_e' && grep -Eq 'out (weight|state[12])_e\[./4\] -> host' gen_learned4_split/learned4_split.c && grep -Eq 'out (weight|state[12])_e\[./4\] ring -> ssd' gen_learned4_split/learned4_split.c; }
check "and some parts on the host, the others on the SSD" learned_split
learned_kinds() { for kind in sum norm; do train keep_learned_$kind out_keep_learned_$kind && agrees_with keep_learned_$kind learned_$kind || return 1; done; }
check "gradients that are summed over epochs, and clipped by the length of them all: same bits" learned_kinds
same_best() { cmp <(numbers "$1/best.safetensors") <(numbers "$2/best.safetensors"); }
learned_best() { # at home where the weights are; by way of a checkpoint, too
  for kind in sum norm; do
    same_best out_learned_$kind out_keep_learned_$kind || return 1
    "./learned_$kind" -q --epochs 4 --every 1 --out best_$kind && "./learned_$kind" -q --epochs 6 --every 1 --resume --out best_$kind && same_best best_$kind out_keep_learned_$kind || return 1
    "./learned_$kind" -q --epochs 4 --every 1 --out best_$kind && "./keep_learned_$kind" -q --epochs 6 --every 1 --resume --out best_$kind && same_best best_$kind out_keep_learned_$kind || return 1
  done
  grep -q 'at_best = ' gen_learned_sum/learned_sum.c && grep -q 'home_best = {GNN_SSD, ' gen_learned_norm/learned_norm.c
}
check "the best weights are kept where the weights are at home" learned_best
learned_goes_on() { # on the SSD, then on the host, then where everything is kept
  ./learned4_ssd -q --epochs 2 --out goes_on && ./learned4_host -q --epochs 3 --resume --out goes_on && ./learned4_split -q --epochs 4 --resume --out goes_on && ./keep_learned4 -q --epochs 6 --resume --out goes_on && cmp <(numbers goes_on/last.safetensors) <(numbers out_keep_learned4/last.safetensors) &&
    ./keep_learned4 -q --epochs 3 --out goes_back && ./learned4_ssd -q --epochs 6 --resume --out goes_back && cmp <(numbers goes_back/last.safetensors) <(numbers out_keep_learned4/last.safetensors)
}
check "a checkpoint goes from plan to plan, wherever what is learned lies" learned_goes_on
learned_predicts() {
  for program in keep_learned4 learned4_ssd learned4_host learned4_split; do
    ./$program predict -q --weights out_keep_learned4/last.safetensors -o $program.npy && ./$program eval --weights out_keep_learned4/last.safetensors | sed 's/weights from.*//' >$program.eval || return 1
  done
  cmp keep_learned4.npy learned4_ssd.npy && cmp keep_learned4.npy learned4_host.npy && cmp keep_learned4.npy learned4_split.npy && cmp keep_learned4.eval learned4_split.eval && cmp keep_learned4.eval learned4_ssd.eval && cmp keep_learned4.eval learned4_host.eval
}
check "predictions and evaluations are the same" learned_predicts
learned_gradients() {
  ./keep_learned4 gradients -q -o keep_gradients.safetensors && grep -aq '"e":' keep_gradients.safetensors || return 1
  for program in learned4_ssd learned4_host learned4_split learned4_ring learned4_halos; do ./$program gradients -q -o gradients.safetensors && cmp <(numbers keep_gradients.safetensors) <(numbers gradients.safetensors) || return 1; done
}
check "and gradients" learned_gradients
says_learned() { "$gnncc" -w --plan '--cut=rows(4)' --budget ssd=64MiB learned4_ssd.gnn | grep 'learned values on the SSD (4.5 MiB of the scratch file)' && "$gnncc" -w --plan '--cut=rows(4)' --budget ssd=64MiB learned_norm.gnn | grep 'whole until the length of all gradients is known: d_e'; }
check "--plan says where they are, and what stays whole" says_learned
hosted() { # KIND OPTIONS...: what a host program with the library of the same model says
  local kind=$1
  shift
  mkdir "hosted_$kind" && "$build/gnndata" synth rmat "hosted_$kind/graph.safetensors" --nodes=8200 --degree=3 --features=12 --classes=5 --seed=3 && cp "$([ -e "learned4_$kind.gnn" ] && echo "learned4_$kind.gnn" || echo "$plans/learned4.gnn")" "hosted_$kind/learned4.gnn" && cd "hosted_$kind" &&
    sed -i 's/synth(.*)/safetensors("graph.safetensors")/' learned4.gnn &&
    CFLAGS=-O1 "$gnncc" -w --lib --prefix=learned4 "$@" learned4.gnn && gcc -std=c11 -Wall -Wextra -Werror -O1 -I. "$here/learned.c" -o learned -L. -llearned4 -l:libz.a -lm -lpthread && ./learned >said.txt && cd ..
}
hosts_agree() { (hosted keep) && (hosted ssd '--cut=rows(4)' --budget ssd=64MiB) && (hosted host '--cut=rows(4)' --budget host=64MiB) && cat hosted_keep/said.txt && cmp hosted_keep/said.txt hosted_ssd/said.txt && cmp hosted_keep/said.txt hosted_host/said.txt; }
check "a host program reads them, changes them, saves and restores them, wherever they are" hosts_agree
sed '/^plan {/,$d' learned4_host.gnn >learned_free.gnn
chosen_learned() { "$gnncc" -w --plan-effort=fast $box --budget device=5MiB --plan learned_free.gnn | grep 'cut .* learned values on the host'; }
check "where memory is short they leave the device by themselves" chosen_learned
sed 's/x |>/e |>/; /node x/d' learned_free.gnn >learned_alone.gnn
no_features() { "$gnncc" -w --plan-effort=fast $box --budget device=5MiB --plan learned_alone.gnn >alone.plan && grep 'cut .* learned values on the host' alone.plan && ! grep 'features \(on\|and\)' alone.plan; }
check "and nothing is said of features where there are none" no_features
sed 's/fate "e"/fate "gcn1.lin.weight"/' learned4_host.gnn >learned_other.gnn
other_weight() { ! "$gnncc" -w $box learned_other.gnn -o no 2>no.err && grep -q 'E0506.*is input data or a weight' no.err; }
check "a weight that has no row for each node stays" other_weight
sums_by_slices() {
  grep -q 'sum over in-edges of src\..*_slice[_0-9]* \[4/4\]' gen_slices4_slices2/slices4.c && grep -q 'spmm_pieces_16_of_32(' gen_slices4_slices2/slices4.c
}
check "slices4: sums over neighbours run by slices, from their pieces, in the order of the whole width" sums_by_slices
cat >heads.gnn <<'END'
data g from synth(kind = "rmat", nodes = 3000, degree = 4, features = 8, classes = 3, seed = 3)
model heads on g { return x |> GAT(4, heads = 8) |> relu |> GCN(y.classes) }
train heads { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 6; metric = accuracy }
END
heads_in_slices() { # the last stage of the kernel that normalises the scores of a row copies columns of its results out
  local cut
  for cut in whole 'slices(2)'; do CFLAGS=-O0 "$gnncc" -q -w --verify --cut="$cut" heads.gnn -o heads && train heads "out_heads_$cut" || return 1; done
  same_as 'out_heads_slices(2)' out_heads_whole
}
check "eight heads of attention in two slices" heads_in_slices
narrow_layers() { "$gnncc" -w --plan '--cut=slices(3)' "$plans/slices4.gnn" | grep 'too narrow for 3 slices or no sum of columns: '; }
check "layers that are too narrow for slices are said" narrow_layers
mixed='slices(2), ga* = slices(3), sage1 = whole, gcn1.backward = rows(4)'
says_layers() { # of each in both passes, as the option says it, too
  "$gnncc" -w --plan $box --budget device=6MiB slices4_mixed.gnn >mixed.txt && cat mixed.txt &&
    grep -q 'in up to 2 slices of columns, gatv21 = slices(3), sage1 = whole, gat1 = slices(3), gcn1.backward = rows(4)$' mixed.txt &&
    [ "$(awk '$2 ~ /^(for|back)ward$/ && $1 ~ /^(sage1|gcn1)$/ { print $1, $2, $4 }' mixed.txt | tr '\n' ';')" = "gcn1 forward slices(2);sage1 forward whole;sage1 backward whole;gcn1 backward rows(4);" ]
}
check "a cut of some layers is said of each of them" says_layers
layers_of_a_plan() { # a plan is of the cut of its layers
  "$gnncc" -w $box --budget device=6MiB --cut="$mixed" --emit=plan=mixed.json -S -o mixed --force "$plans/slices4.gnn" && "$gnncc" -w $box --budget device=6MiB --cut="$mixed" --plan-from=mixed.json -S -o mixed --force "$plans/slices4.gnn" || return 1
  ! "$gnncc" -w $box --budget device=6MiB --cut='slices(2)' --plan-from=mixed.json -S -o mixed --force "$plans/slices4.gnn" 2>mixed.err && cat mixed.err &&
    grep -q -F "it is one with --cut='slices(2), gatv21 = slices(3), sage1 = whole, gat1 = slices(3), gcn1.backward = rows(4)'" mixed.err
}
check "a plan of such a cut is taken with it, and without it the cut is named" layers_of_a_plan
no_layer() { "$gnncc" -w --plan --cut="$1" "$plans/slices4.gnn" 2>no.err; [ $? -eq 1 ] && cat no.err && grep -q "E0513.*$2" no.err; } # CUT MESSAGE
check "a layer that is none has near names" no_layer 'slices(2), sag1 = whole' 'called "sag1"; did you mean "sage1"'
check "nor is one that sums over no neighbours" no_layer 'slices(2), linear1 = whole' 'called "linear1"'
check "rows have as many parts in all layers" no_layer 'rows(4), gcn1 = rows(2)' 'gcn1 = rows(2): rows are cut in as many parts for all layers, here in 4'
refuse 2 "layers that differ from none" "$gnncc" -w '--cut=auto, gcn1 = whole' "$plans/slices4.gnn" -o no
refuse 2 "layers beside halos" "$gnncc" -w '--cut=halos(4), gcn1 = whole' "$plans/slices4.gnn" -o no
refuse 2 "a layer in halos" "$gnncc" -w '--cut=rows(4), gcn1 = halos(4)' "$plans/slices4.gnn" -o no
too_many_parts() { "$gnncc" -w --plan '--cut=rows(8)' "$plans/parts3.gnn" 2>&1 | grep 'E0512.*there are at most 4 parts'; }
check "more parts than blocks is an error that names the most" too_many_parts
refuse 2 "a cut that is none" "$gnncc" -w --cut=columns "$plans/parts3.gnn" -o no
refuse 2 "one slice" "$gnncc" -w '--cut=slices(1)' "$plans/parts3.gnn" -o no
refuse 2 "three parts" "$gnncc" -w '--cut=rows(3)' "$plans/parts3.gnn" -o no
refuse 2 "parts of a program that checks gradients" "$gnncc" -w '--cut=rows(4)' -fgradcheck "$plans/parts3.gnn" -o no

# ---- what is computed once ----
says_once() { "$gnncc" -w --plan "$@" | grep 'computed once, before the first epoch: '; } # OPTION... MODEL: of which values
check "hoist3: sums over neighbours that no weight changes are computed once" test "$(says_once "$plans/hoist3.gnn" | sed 's/.*: //')" = "p, q"
check "hoist3: its C computes them before the first epoch" grep -q '^static gnn_status once(gnn_run \*g) {$' gen_keep_hoist3/hoist3.c
check "hoist3, -fno-hoist: they are computed in each" bash -c "! grep -q 'gnn_status once' gen_each_epoch/hoist3.c"
check "hoist3, -fno-hoist: same bits, memory as planned" agrees_with keep_hoist3 each_epoch
check "hoist3 at the smallest budget: they are computed in each, there is no room for more" bash -c "! grep -q 'gnn_status once' gen_hoist3_host_0/hoist3.c"
check "hoist3 with features on the host: everything kept trains" train keep_once out_keep_once
for name in once_rows once_split; do check "$name: same bits, memory as planned" agrees_with keep_once $name; done
computes_once() { # PROGRAM PLACE...: before the first epoch, taken home there; the epoch brings what came of it instead of summing features
  local source=gen_$1/$1.c place
  sed -n '/^static gnn_status once(/,/^}/p' "$source" | grep -q 'gnn_copy(g, ' && ! grep -E '"(forward|eval)", "([pqz] =|sum = sum)' "$source" && grep -Eq '"move", "in once_q\[2/4\] ' "$source" || return
  for place in "${@:2}"; do grep -q "\"move\", \"out once_[pq]\[[1-4]/4\] $place\"" "$source" || return; done
}
check "once_rows: what is computed once goes home before the first epoch, and comes from there" computes_once once_rows "-> host"
check "once_split: so it does to host and SSD, each part to one of them" computes_once once_split "-> host" "ring -> ssd"
goes_on_once() { train once_rows out_goes_on --epochs 3 && ./once_rows -q --epochs $epochs --every 1 --log csv --out out_goes_on --resume && cmp <(numbers out_goes_on/last.safetensors) <(numbers out_keep_once/last.safetensors); }
check "once_rows: from a checkpoint it is computed again" goes_on_once
named_by_parts() { grep -q 'in graph_node_id\[2/4\] <- host' gen_once_rows/once_rows.c && grep -q 'in graph_node_id\(\[[1-4]/4\]\)\? <- ssd' gen_many_ssd/many_ssd.c && ! grep -q 'AT_graph_node_id ' gen_once_rows/once_rows.c gen_many_ssd/many_ssd.c; }
check "what the data call each node comes by parts, from the host and from the SSD" named_by_parts
says_moved() { "$gnncc" -w --plan '--cut=halos(4)' $box --budget host=1600KiB once_split.gnn | grep -E '^  once .* before the first epoch .* to host .* to ssd .* from '; }
check "its plan says what moves before the first epoch" says_moved
faster_with() { # OPTION...: announced
  local with without
  with=$("$gnncc" -w --plan=json "$@" "$plans/hoist3.gnn" | awk -F'[:,]' '/"seconds"/ { print $2 + 0; exit }')
  without=$("$gnncc" -w --plan=json -fno-hoist "$@" "$plans/hoist3.gnn" | awk -F'[:,]' '/"seconds"/ { print $2 + 0; exit }')
  echo "$with s, else $without s"
  awk -v with="$with" -v without="$without" 'BEGIN { exit !(with > 0 && with <= without) }'
}
check "hoist3: an epoch is shorter for it" faster_with
check "hoist3: and with memory short not longer" faster_with $box --budget ssd=0 --budget device=$(( (2 * $(least_of hoist3 $box --budget ssd=0) + $(keep_of hoist3)) / 3 ))KiB
check "shared4, everything kept: trains" train keep_shared4 out_keep_shared4
for model in parts3 shared4; do check "$model, no result in the place of an operand: same bits, memory as planned" agrees_with keep_$model ${model}_apart; done
check "returns2, everything kept: trains" train keep_returns2 out_keep_returns2
check "returns2: a value returns while its step runs again for another: same bits, memory as planned" agrees_with keep_returns2 returns2_beside_rerun
check "order2, everything kept: trains" train keep_order2 out_keep_order2
for name in order_each order_pinned order_small; do check "$name: same bits, memory as planned" agrees_with keep_order2 $name; done
early() { # a plan whose epoch fits, but not what is there before it
  "$gnncc" -w --plan=json two_sums.gnn >two_sums.json && awk '/"epoch_bytes"/ { gsub(/[^0-9]/, ""); epoch = $0 } /"peak_bytes"/ && !peak { gsub(/[^0-9]/, ""); peak = $0 } END { print epoch, peak }' two_sums.json
}
cat >two_sums.gnn <<'MODEL'
data web from synth(kind = "rmat", nodes = 1000, degree = 6, features = 40, classes = 5, seed = 3)
model two_sums on web {
  c = rsqrt(in_degree + 1)
  z = c * x
  p = c * (sum(src.z) + z)
  q = c * p
  r = c * (sum(src.q) + q)
  return Linear(relu(Linear(r, 24) as first), y.classes) as second
}
train two_sums { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 6 }
MODEL
read -r epoch_bytes peak_bytes < <(early)
check "more is there before the first epoch than in it" test "$epoch_bytes" -lt "$peak_bytes"
check "that is said" grep -q 'peak before the first epoch' <("$gnncc" -w --plan two_sums.gnn)
check "with exactly so much it fits" bash -c "'$gnncc' -w --plan --budget device=$peak_bytes two_sums.gnn | grep -q 'computed once'"
check "with less there is another plan, as slow as it is announced" bash -c "'$gnncc' -w --plan --budget device=$((peak_bytes - 1)) two_sums.gnn >once.txt && ! grep -q 'computed once' once.txt"
refuse 3 "a plan from a file that does not fit before the epoch" "$gnncc" -w --plan --plan-from=two_sums.json --budget device=$((peak_bytes - 1)) two_sums.gnn
sweep_row() { "$gnncc" -w --sweep "device=$((peak_bytes - 1)):$peak_bytes" two_sums.gnn && [ "$("$gnncc" -w --sweep "device=$((peak_bytes - 1)):$peak_bytes" two_sums.gnn | grep -c '[0-9] [mu]s ')" = 2 ]; }
check "a sweep tells the two apart" sweep_row
least_typed() { # the smallest budget, in either form
  local least
  least=$("$gnncc" -w --budget device=1KiB "$1" -o no 2>&1 | sed -n 's/.*device=\([0-9]*\)KiB is the smallest.*/\1/p')
  echo "$least" && "$gnncc" -w --plan --budget device="${least}KiB" "$1" && ! "$gnncc" -w --plan --budget device=$((least * 98 / 100))KiB "$1"
}
for name in two_sums order2; do check "$name: the smallest budget works, and 2 % less does not" least_typed $name.gnn; done
{ cat "$plans/hoist3.gnn" && printf 'plan {\n  fate "*" = keep\n}\n'; } >pinned.gnn
sed 's/z = c \* x/z = c * dropout(x, 0.2)/' "$plans/hoist3.gnn" >drawn.gnn
sed 's/^model/option scale = 1.0\nmodel/; s/z = c \* x/z = scale * c * x/' "$plans/hoist3.gnn" >scaled.gnn
for name in pinned drawn scaled; do
  check "not of a program that is $name" bash -c "'$gnncc' -w --plan $name.gnn >once.txt && ! grep -q 'computed once' once.txt"
done
"$gnncc" -w --plan=json "$plans/hoist3.gnn" >hoist3.json
check "its plan is taken back" "$gnncc" -w --verify --plan --plan-from=hoist3.json "$plans/hoist3.gnn"
cat >ring.gnn <<'MODEL'
data ring { nodes = 100; edges = 400; node x : f32[8]; node y : class[3] }
model ring on ring { return x |> SAGE(16) as first |> relu |> SAGE(y.classes) as second }
train ring { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3 }
MODEL
cat >reload.c <<'HOST'
#include <stdio.h>
#include <string.h>
#include "ring.h"
enum { N = 100, F = 8, C = 3 };
static int64_t src[4 * N], dst[4 * N], y[N], train[N];
static float x[N * F], scores[2][N * C];
static int give(ring *g, int seed) { /* other features, then one epoch from the same weights */
  for (int i = 0; i < N * F; i++) x[i] = (float)((i * 37 + seed * 11) % 17) / 17;
  return ring_set_edges(g, src, dst, 4 * N) || ring_set_x(g, x, N, F) || ring_set_y(g, y, N) || ring_set_split(g, RING_TRAIN, train, N / 2) || ring_reset(g, 5) || ring_epoch(g, NULL);
}
int main(void) {
  for (int v = 0; v < N; v++) {
    train[v] = v, y[v] = v % C;
    for (int k = 0; k < 4; k++) src[4 * v + k] = v, dst[4 * v + k] = (v + k + 1) % N;
  }
  ring *twice = NULL, *fresh = NULL;
  int status = ring_create(NULL, &twice) || ring_create(NULL, &fresh) || give(twice, 1) || give(twice, 2) || ring_predict(twice, scores[0], N, C) || give(fresh, 2) ||
               ring_predict(fresh, scores[1], N, C);
  if (status) printf("%s %s\n", ring_error(twice), ring_error(fresh));
  status = status || memcmp(scores[0], scores[1], sizeof scores[0]) != 0;
  ring_destroy(twice), ring_destroy(fresh);
  return status;
}
HOST
other_features() { "$gnncc" -q -w --lib ring.gnn && says_once ring.gnn && cc -o reload reload.c libring.a -l:libz.a -lm -lpthread && ./reload; }
check "other features through the library: it is computed anew" other_features

# ---- check compares a plan with the order that keeps everything ----
altered() { # NAME SED: sage4_reruns_0 with another source
  cp -r gen_sage4_reruns_0 "gen_$1" && sed -i "$2" "gen_$1/sage4.c" && ! cmp -s "gen_$1/sage4.c" gen_sage4_reruns_0/sage4.c && compile "$1" sage4
}
compared() { says_bits sage4_reruns_0 "the same to the last bit" && "./sage4_reruns_0" check --epochs 3 --threads 1 | grep "^keep-everything order.*the same to the last bit"; }
check "a plan with re-runs: check compares its bits" compared
check "a program whose values are not made again compiles" altered stale '/, again: its result was dropped/,/gnn_leave/ s/^  step_[0-9]*(g.*);$//'
says_stale() {
  ./stale check >stale.check 2>&1
  local status=$?
  cat stale.check
  [ $status -eq 70 ] && grep -q 'error: the .* differ from those of the keep-everything order' stale.check && ! grep -q 'data fit the plan' stale.check
}
check "its bits differ: check says so, and ends with 70" says_stale
check "a program whose keep-everything order takes a pebibyte compiles" altered vast '/gnn_keep_order keep_order/,/};/ s/device_bytes = [0-9]*/device_bytes = 1125899906842624/'
not_run() { touches_what_it_planned vast && says_bits vast 'not run, it needs .* of memory and .* is free' && grep -q 'data fit the plan' vast.check; }
check "where memory is short that order is not run, and check says how much it needs" not_run

# ---- what an SSD takes beside the tiers ----
staging_is_announced() { # PROGRAM MODEL OPTIONS...
  local program=$1 model=$2 announced
  shift 2
  announced=$("$gnncc" -w --plan=json "$@" "$plans/$model.gnn" | grep -o '"staging_bytes": *[0-9]*' | tr -dc 0-9)
  "./$program" info --json | grep -o '"staging_bytes": *[0-9]*' | tee /dev/stderr | tr -dc 0-9 | grep -qx "$announced" || { echo "announced: $announced"; return 1; }
  [ "$announced" -gt 0 ] && "$gnncc" -w --plan "$@" "$plans/$model.gnn" | grep -q "of staging for"
}
for name in direct ring; do
  eval "check \"sage4, $name: what the SSD takes beside the tiers is announced\" staging_is_announced sage4_${name}_0 sage4 $(way_of sage4 $name) --budget device=$(least_of sage4 $(way_of sage4 $name))KiB"
done
# Where there is a host tier that counts there: with room for one ring of the largest value each way and a little more, the SSD is used; with less room than for the way it is not, and nothing takes more.
within_host() { # KIB SSD MODEL OPTIONS...: arena, rings and buffers together
  "$gnncc" -w --plan=json "${@:4}" --budget host="$1"KiB "$plans/$3.gnn" | tr -d ' ",' | awk -F: -v host=$(($1 * 1024)) -v ssd="$2" '/{/ { of = $1 } $1 == "peak_bytes" { peak[of] = $2 } $1 == "staging_bytes" { staging = $2 }
    END { print peak["host"], staging, peak["ssd"]; exit !("host" in peak && peak["host"] + staging <= host && (peak["ssd"] > 0) == (ssd == "ssd") && (staging > 0) == (ssd == "ssd")) }'
}
check "residual6: what passes the host on its way to the SSD fits its budget, with what lies there" within_host 600 ssd residual6 $box --budget device=592KiB
check "residual6: where it does not, nothing goes there" within_host 400 none residual6 $box --budget device=697KiB
check "an evaluation leaves room for the way of a training that was chosen among cuts" within_host 81920 ssd ../../../views/spill --target=box --budget device=250MiB
says_way() { ! "$gnncc" -w '--cut=slices(2)' $box --budget host=400KiB --budget device=3MiB sparse3_ring.gnn -o no 2>no.err && cat no.err && grep -q 'E0502.*at home on the host takes [0-9.]* KiB with what passes there on its way to the SSD, and the host budget is 400.0 KiB' no.err; }
check "a host without room for the way of data at home on the SSD is refused" says_way

# ---- the same plan, run otherwise ----
run_otherwise() { # PROGRAM OPTIONS...
  local program=$1
  shift
  train "$program" out_otherwise "$@" && same_as out_otherwise out_keep_"${program%%_*}"
}
for name in sage4_reruns_0 sage4_host_0 sage4_ring_0; do
  for threads in 1 2; do check "$name with $threads threads: same bits" run_otherwise $name --threads $threads; done
done
for name in sage4_host_0 sage4_direct_0 sage4_ring_0 residual6_ring_0; do check "$name, one copy after the other: same bits" run_otherwise $name --serial-lanes; done
resumed() { # FIRST SECOND: three epochs of one plan, the rest of another
  rm -rf out_resumed
  "./$1" -q --epochs 3 --every 1 --log csv --out out_resumed && "./$2" -q --epochs $epochs --every 1 --log csv --out out_resumed --resume &&
    same_as out_resumed out_keep_sage4
}
check "stopped with everything kept, resumed with the smallest device" resumed keep_sage4 sage4_reruns_0
check "stopped with the smallest device, resumed by way of the SSD" resumed sage4_reruns_0 sage4_direct_0
check "stopped on a machine with host and SSD, resumed with everything kept" resumed sage4_ring_0 keep_sage4

# ---- policies, efforts, simulation ----
fitting=0
for policy in $policies; do
  if [ "$(cat policy_$policy.status)" -eq 3 ]; then
    check "policy $policy does not fit, and says so" grep -q 'E0501.*no plan of this policy fits' policy_$policy.log
  else
    check "policy $policy: same bits, memory as planned" agrees_with keep_sage4 policy_$policy
    fitting=$((fitting + 1))
  fi
done
check "some policies fit" test $fitting -ge 3
check "policies of layer inputs and sums fit" test "$(cat policy_hongtu.status policy_grinnder.status | tr -d '\n')" = 00
check "a policy that the model asks for: same bits, memory as planned" agrees_with keep_sage4 policy_said
steps_of() { grep -c '"d2h"\|"h2d"\|again: its result was dropped' "gen_$1/$2.c"; }
check "the copies and re-runs are those of the option" test "$(steps_of policy_said policy_said)" -eq "$(steps_of policy_grinnder sage4)" -a "$(steps_of policy_said policy_said)" -gt 0
for policy in hongtu grinnder; do
  check "cut by rows, policy $policy: same bits, memory as planned" agrees_with keep_parts3 parts3_$policy
  check "cut by rows, policy $policy: layer inputs are copied to the host" has parts3_$policy host
done
of_cut() { # FILE OPTIONS...: the problem of a policy's plan
  local file=$1
  shift
  "$gnncc" -q -w --budget host=64MiB --budget device=4MiB --policy=hongtu "$@" --emit=problem="$file" "$plans/parts3.gnn" && grep -q '"role": "input"' "$file"
}
check "without a cut a policy plans the program whole" eval 'of_cut said_whole.json --cut=whole && of_cut auto.json --cut=auto && of_cut unsaid.json && cmp auto.json said_whole.json && cmp unsaid.json said_whole.json'
check "with one it plans that" eval 'of_cut rows.json "--cut=rows(4)" && ! cmp -s rows.json said_whole.json'
for more in normal best; do check "effort $more: same bits, memory as planned" agrees_with keep_sage4 effort_$more; done
check "simulated: same bits, memory as planned" agrees_with keep_sage4 simulated

# ---- pins ----
fate_of() { # MODEL VALUE
  "$gnncc" -w --plan=json $box --budget device=${half}KiB $1.gnn | awk -v value="\"value\": \"$2\"," 'index($0, value) { on = 1 } on && /"fate"/ { split($0, a, "\""); print a[4]; exit }'
}
pin_obeyed() {
  local got
  got=$(fate_of pin_$1 h2)
  echo "the fate of h2 is $got"
  [ "$got" = "$1" ]
}
for fate in keep host ssd recompute; do
  check "h2 pinned to $fate has that fate" pin_obeyed $fate
  check "h2 pinned to $fate: same bits, memory as planned" agrees_with keep_sage4 pin_$fate
done

# ---- plans from files ----
for name in from_report from_plan; do check "$name: same bits, memory as planned" agrees_with keep_sage4 $name; done
check "a report brings the plan that it reports" diff <("$gnncc" -w --dump=schedule --stop-after=schedule $tightest "$plans/sage4.gnn") \
  <("$gnncc" -w --dump=schedule --stop-after=schedule $tightest --plan-from=report.json "$plans/sage4.gnn")
refuse_plan() { # WHAT TEXT [OPTIONS]: damaged.json
  local what=$1 text=$2
  shift 2
  says_why() {
    "$gnncc" -w --verify $tightest "$@" --plan-from=damaged.json "$plans/sage4.gnn" -o no >said 2>&1
    local status=$?
    cat said
    [ $status -eq 1 ] && grep -q "error\[E0510\]: damaged.json is not a plan for this program on this machine: .*$text" said
  }
  check "$what is refused" says_why "$@"
}
head -c 700 plan.json >damaged.json && refuse_plan "half a plan" "\(premature end of input\|near end of file\)"
echo "everything recomputed" >damaged.json && refuse_plan "a text" ""
echo '{"format": "gnncc-plan/1", "problem": "sage4"}' >damaged.json && refuse_plan "a plan without decisions, on a device too small for it" "allowed"
# A plan of another cut: the message says which, and with that it is taken.
other_cut() { # FILE HELP OPTION...: refused so
  "$gnncc" -w "${@:3}" --plan-from="$1" -S -o other_cut other.gnn >said 2>&1
  local status=$?
  cat said
  [ $status -eq 1 ] && grep -q 'E0510' said && if [ "$2" ]; then grep -qxF "   help: it is one with $2" said; else ! grep -q 'help: it is one' said; fi
}
cp "$plans/slices4.gnn" other.gnn
for cut in whole 'rows(4)' 'slices(2)'; do
  name=${cut%(*}
  "$gnncc" -w --cut="$cut" --emit=plan=cut_$name.json,problem=cut_$name.problem -S -o other_cut --force other.gnn && "$gnncc" plan cut_$name.problem -o cut_$name.plan >said || echo "# no plan of --cut=$cut"
done
for form in json plan; do
  check "$form: a plan of four parts is not one of whole values" other_cut cut_rows.$form "--cut='rows(4)'"
  check "$form: nor is one of slices" other_cut cut_slices.$form "--cut='slices(2)'" --cut=whole
  check "$form: one of whole values is none of parts" other_cut cut_whole.$form "--cut=whole" '--cut=rows(4)'
  check "$form: asked for, it is taken" "$gnncc" -w '--cut=rows(4)' --plan-from=cut_rows.$form -S -o other_cut --force other.gnn
done
sed 's/Linear(32)/Linear(40)/' "$plans/slices4.gnn" >other.gnn
check "of another program no cut is named" other_cut cut_rows.json ""
cat >other.gnn <<'MODEL'
data g from synth(kind = "rmat", nodes = 60000, degree = 8, features = 64, classes = 16, seed = 3)
model other on g {
  h1 = x |> SAGE(64) |> relu
  h2 = h1 |> SAGE(64) |> relu
  return h2 |> SAGE(y.classes)
}
train other { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 4 }
MODEL
small="$box --plan-effort=fast --budget host=4GiB --budget device=14MiB"
# The evaluation and what is computed once are planned beside it, in less where their addresses do not fit at first.
{ cat other.gnn && echo 'plan { fate "x" = host }'; } >pinned.gnn
check "a plan of halos, with data on the host" "$gnncc" -w $small --cut='halos(16)' --emit=plan=found.json -S -o other_cut --force pinned.gnn
check "what to ask for then" other_cut found.json "--cut='halos(16)' and plan { fate \"x\" = host }" $small
check "and it is taken" "$gnncc" -w $small --cut='halos(16)' --plan-from=found.json -S -o other_cut --force pinned.gnn
sed 's/"to": "host"/"to": "moon"/' plan.json >damaged.json && refuse_plan "a tier that does not exist" "moon"
sed 's/"to": "host"/"to": "ssd"/; s/"data": "h1"/"data": "h99"/' plan.json >damaged.json && refuse_plan "an unknown value" "moves.*not a move of this problem"
sed -E 's/"after": [0-9]+/"after": 0/' plan.json >damaged.json && refuse_plan "a move before its value is made" ""
sed -E 's/"offset": [0-9]+/"offset": 0/' plan.json >damaged.json && refuse_plan "a plan that puts everything in one place" ""
sed -E 's/"makespan_ns": [0-9]+/"makespan_ns": 7/' plan.json >damaged.json && refuse_plan "a plan that promises too much" "7"
cp plan.json damaged.json && refuse_plan "a plan for a machine with a host tier, without one," "tier" --budget host=0
rm damaged.json && refuse 4 "a plan that is not there" "$gnncc" -w $tightest --plan-from=damaged.json "$plans/sage4.gnn" -o no

# ---- copies that slow the compute ----
seconds_of() { "$gnncc" -w --plan=json --target=lab --budget cpu=22MiB "$@" "$plans/slowing_host.gnn" | awk -F'[:,]' '/"seconds"/ { print $2 + 0; exit }'; }
leaves_host_alone() { # the budget of the target has a host tier
  local with without
  with=$(seconds_of) without=$(seconds_of --budget host=0)
  echo "with a host $with s, without $without s"
  awk -v with="$with" -v without="$without" 'BEGIN { exit !(with > 0 && with <= without) }'
}
check "a tier whose copies slow the compute by more than they save is left alone" leaves_host_alone
check "its plan and problem are written" "$gnncc" -w --verify --target=lab --budget cpu=22MiB --emit=plan=alone.json,problem=slowing.json "$plans/slowing_host.gnn"
check "the plan that leaves it alone is taken for the problem that has it" "$gnncc" -w --plan-from alone.json --target=lab --budget cpu=22MiB --plan "$plans/slowing_host.gnn"

# ---- budgets ----
deep="$gnncc -w -D size=4000 --budget ssd=1GiB"
epoch_of() { $deep --budget "device=$1" --plan "$here/../../examples/sage_deep.gnn" | sed -n 's/^  time *\([0-9.]*\) ms.*/\1/p'; }
never_slower() { # BUDGETS, from the smallest: every one works, none takes longer than the one before
  local last=inf now
  for budget in "$@"; do
    now=$(epoch_of "$budget")
    echo "device=$budget: $now ms"
    awk -v now="$now" -v last=$last 'BEGIN { exit !(now > 0 && (last == "inf" || now <= last)) }' || return 1
    last=$now
  done
}
check "a larger device is never slower" never_slower 10302KiB 10.5MiB 11MiB 12500KiB 13056000 14MiB
sweep_agrees() {
  local deep="$deep --plan-effort=fast" # of epoch_of, too
  $deep --sweep device=10302KiB:14MiB "$here/../../examples/sage_deep.gnn" >sweep.txt
  cat sweep.txt
  awk -v plan="$(epoch_of 10302KiB)" '/ MiB .* ms / { ms = $5 } END { exit !(ms > 0 && sprintf("%.3g", ms) + 0 <= plan) }' sweep.txt
}
check "a sweep reaches what --plan reaches" sweep_agrees

# ---- the ways out ----
ways_work() { # MODEL OPTIONS...: what fits nothing names a smallest device, and each way out, tried as it is written, has the epoch that was promised
  local model=$1 ways=0 option promised
  shift
  "$gnncc" -w "$@" --plan "$plans/$model.gnn" >ways 2>&1
  grep -q 'help: --budget device=.* is the smallest that ' ways || { cat ways; return 1; }
  while read -r option promised; do
    "$gnncc" -w "$@" --budget "$option" --plan "$plans/$model.gnn" >way
    echo "$option: $promised is promised, $(sed -n 's/^  time *//p' way)"
    tells_epoch "$promised" way || return 1
    ways=$((ways + 1))
  done < <(sed -n 's/^ *help: //p' ways | sed 's/ \xc2\xb7 /\n/g' | sed -nE 's/^--budget ([a-z]+=[0-9]+KiB) (is the smallest that (works|was found) \(|-> )(.*) per epoch\)?$/\1 \4/p')
  [ $ways -gt 0 ]
}
check "a plan of more effort that finds no addresses gives way to one of less" ways_work shared4 --budget host=2MiB --budget device=1KiB
least_of_cuts() { # slices need 6302 KiB, halos 3174
  sed 's/^data .*/data g from synth(kind = "rmat", nodes = 6000, degree = 12, features = 64, classes = 16, seed = 3)/' "$plans/slices4.gnn" >least.gnn
  "$gnncc" -w --plan --plan-effort=fast --budget device=500KiB --budget host=8GiB least.gnn >least_said 2>&1
  cat least_said
  awk '/is the smallest that / { sub(/.*device=/, ""); found = $0 + 0 } END { exit !(found > 0 && found < 4000) }' least_said || return 1
  "$gnncc" -w --plan --plan-effort=fast --budget "$(sed -n 's/.*--budget \(device=[0-9.]*[KM]iB\) is the smallest that .*/\1/p' least_said)" --budget host=8GiB least.gnn
}
check "a refusal names the size that the cut with the smallest steps needs, and it is taken" least_of_cuts
least_is_least() { # with a hundredth less than the smallest that works nothing fits; where the device has to be smaller, an SSD is a way out
  local least
  "$gnncc" -w --plan --cut=whole --budget device=4000KiB least.gnn >least_said 2>&1
  cat least_said
  grep -q -- '--budget ssd=[0-9.]*[KM]iB -> ' least_said || return 1
  least=$(sed -n 's/.*--budget [a-z]*=\([0-9]*\)KiB is the smallest that works .*/\1/p' least_said)
  [ -n "$least" ] && ! "$gnncc" -w --plan --cut=whole --budget device=$((least - least / 100))KiB least.gnn >less 2>&1 && grep -q 'error\[E0501\]' less
}
! is_all || check "  which is the smallest: a hundredth less is too little" least_is_least
check "a larger host or SSD is priced as it is written" ways_work shared4 --budget ssd=3KiB --budget device=3156KiB
across() { # no part gathers from its own rows: a piece without rows moves as the others do
  awk 'BEGIN { print "src,dst"; for (i = 0; i < 8192; i++) for (k = 0; k < 4; k++) print i "," (i < 4096 ? 4096 : 0) + (i * 7 + k * 911) % 4096 }' >across_edges.csv
  awk 'BEGIN { print "y,x0,x1,x2,split"; for (i = 0; i < 8192; i++) print i % 4 "," i % 7 "," i % 5 "," i % 3 "," (i % 3 ? "train" : "valid") }' >across_nodes.csv
  printf 'data g from csv(edges = "across_edges.csv", nodes = "across_nodes.csv") { node x : f32[3]; node y : class[4] }\nmodel m on g {\n  h = x |> Linear(32) |> relu |> SAGE(32) |> relu\n  return h |> SAGE(32) |> relu |> SAGE(y.classes)\n}\n' >across.gnn
  printf 'train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2 }\n' >>across.gnn
  local size
  for size in 2MiB 4MiB; do "$gnncc" -w --verify --plan '--cut=halos(4)' --budget device=$size --budget host=64MiB across.gnn || return 1; done
}
check "halos of parts that gather nothing of their own move" across
# ---- advice ----
advised() { # what a plan or a refusal advises, a line each: what to type, "|", the time and, behind another "|", the memory that are promised
  sed -nE "s/'//g; "'s/^(  advice  |          )  (-[^ ]+( [a-z]+=[^ ]+)?( without --budget)?)  +([0-9.]+ [mu]?s) per (epoch|evaluation)( in ([0-9.]+ [KMG]iB))?.*/\2|\5|\8/p; s/^ *help: (.*)/\1/p' advice |
    sed 's/ \xc2\xb7 /\n/g' | sed -E 's/^(-[^|>]*) (is the smallest that (works|was found) \(|-> )((at most )?[0-9.]+ [mu]?s) per epoch.*/\1|\4|/'
}
advice_works() { # KINDS MODEL OPTION...: each piece of advice, typed as it is written, has the epoch and takes the memory that were promised; KINDS: what there is of it, KIND? where that depends on how fast this machine is
  local kinds=$1 model=$2 what promised bytes options seen=''
  shift 2
  set -- --plan-effort=fast "$@"
  "$gnncc" -w "$@" --plan "$model" >advice 2>&1
  while IFS='|' read -r what promised bytes; do
    options=("$@")
    [[ $what != *" without --budget" ]] || options=($(printf '%s\n' "$@" | sed '/^--budget$/,+1d'))
    "$gnncc" -w "${options[@]}" ${what% without --budget} --plan "$model" >followed 2>&1
    if ! tells_epoch "$promised" followed || { [ -n "$bytes" ] && ! grep -qE "^  fits +[a-z]+ $bytes of" followed; }; then
      echo "$what: promised $promised $bytes" && cat advice followed
      return 1
    fi
    what=${what#--} && seen="$seen $(sed -E 's/^-?(D|budget|precision|target|cut)[ =]([a-z]*).*/\1:\2/' <<<"$what")"
  done < <(advised)
  local kind missing=''
  for kind in $kinds; do [[ $kind = *\? || " $seen " = *" $kind "* ]] || missing="$missing $kind"; done
  for kind in $seen; do [[ " ${kinds//\?/} " = *" $kind "* ]] || missing="$missing not:$kind"; done
  [ -z "$missing" ] || { echo "advised:$seen" && cat advice; return 1; }
}
cat >advised.gnn <<'MODEL'
const wide = 64
const few = 3
data web from synth(kind = "rmat", nodes = 3000, degree = 8, features = 40, classes = 5, seed = 3)
model net on web {
  h = x
  for i in 1 .. few { h = h |> SAGE(wide) |> relu |> dropout(0.4) }
  return h |> SAGE(y.classes)
}
train net { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 6 }
MODEL
sed '/^data/d; s/ on web/ on large/' advised.gnn >large.gnn
printf 'data large { nodes = 400_000; edges = 3_000_000; node x : f32[40]; node y : class[5] }\n' >>large.gnn
printf 'data d from karate()\nmodel m on d { return x |> GCN(y.classes) as conv }\ntrain m { loss = cross_entropy(out, y); optimizer = sgd(lr = 0.1); epochs = 2 }\n' >club.gnn
check "advice: more of the device, numbers of half the size, a smaller model, a card" advice_works "D:wide? budget:device budget:ssd? precision:bf target:rtx" advised.gnn --budget device=4600KiB
check "  never a host where the device is the host's memory" bash -c '! grep -e "budget host" advice'
sed 's/nodes = 3000/nodes = 20000/; s/few = 3/few = 2/' advised.gnn >tight.gnn
! is_all || check "  where the search for the least takes long, numbers of half the size, too" advice_works "budget:gpu precision:bf" tight.gnn --target=a100 --budget gpu=2300KiB --budget host=1GiB
check "  on a GPU its host, too" advice_works "D:wide budget:gpu budget:host" advised.gnn --target=a100 --budget gpu=4600KiB --budget host=0 --budget ssd=0
check "  the processor where that is faster" advice_works "target:native" club.gnn --target=h100
check "  of what fits nothing" advice_works "D:wide budget:device precision:bf target:rtx" advised.gnn --cut=whole --budget device=2500KiB
check "  of ranks, too" advice_works "D:wide budget:cpu budget:host budget:ssd precision:bf" tight.gnn $box --ranks=2 --budget cpu=10MiB --budget host=0 --budget ssd=0
check "  of what fits no GPU" advice_works "D:wide budget:gpu precision:bf" advised.gnn --cut=whole --target=a100 --budget gpu=2500KiB --budget host=0 --budget ssd=0
no_budget_said() { # then another machine is advised, of memory that is enough
  sed 's/nodes = 400_000/nodes = 40_000_000/' large.gnn >vast.gnn && advice_works "D:wide budget:gpu precision:bf target:a" vast.gnn --cut=whole --target=rtx4090
}
check "  of what fits no card of its size" no_budget_said
kept_advice() { # everything is kept, and still is with what is said to be enough
  "$gnncc" -w --plan advised.gnn >advice && cat advice && ! grep -e 'advice  *--budget\|^  *--budget' advice || return 1
  local enough=$(sed -n 's/^  advice .*everything is kept: .* and \(--budget device=[^ ]*\) is enough$/\1/p' advice)
  "$gnncc" -w --plan $enough advised.gnn >followed && cat followed && grep -q '^  advice .*everything is kept: more memory brings nothing$' followed && cmp <(grep '^  time' advice) <(grep '^  time' followed)
}
check "a plan that keeps everything says so, and what is enough" kept_advice
no_advice_twice() { "$gnncc" -w --plan --target=a100 --precision=bf16 --budget gpu=3MiB advised.gnn >advice && cat advice && ! grep -e '--precision' advice; }
check "where everything is in bf16, no precision is advised" no_advice_twice
in_its_arguments() { # of data that a constant says the size of: none of them is advised
  sed 's/nodes = 3000/nodes = 1000 * few/' advised.gnn >sized.gnn && "$gnncc" -w --plan --budget device=4600KiB sized.gnn >advice && cat advice && ! grep -e '-D few' advice && grep -e '-D wide=32' advice
}
check "a constant that makes other data is not advised" in_its_arguments
finish
