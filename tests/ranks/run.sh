#!/bin/bash
# run.sh BUILD: programs of several processes over MPI leave the bits of one: losses, scores, weights, checkpoints; and what happens when one of them fails.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
. "$here/../end_to_end/graphs.sh"
. "$here/../mpi.sh"
gnncc=$build/gnncc
workplace
export CFLAGS=-O0

# ---- what needs no MPI ----

cat >plain.gnn <<'MODEL'
data g from synth(kind = "rmat", nodes = 8200, degree = 5, features = 12, classes = 5, seed = 3)
model plain on g { return x |> SAGE(16) |> relu |> dropout(0.3) |> GCN(y.classes) }
train plain { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 6; metric = [accuracy, macro_f1, hits(2), confusion] }
MODEL
refuses() { # WORDS OPTION...: E0110, and why
  local words=$1
  shift
  "$gnncc" -w --ranks=2 "$@" -o refused 2>messages
  local status=$?
  cat messages
  [ $status -eq 1 ] && grep -q "error\[E0110\]: --ranks=2: .*$words" messages && [ ! -e refused ]
}
check "a library of ranks is refused" refuses "a program, or its sources" --lib plain.gnn
check "  a run of several simulated devices" refuses "planned for .* not run, by --backend=sim" --backend=sim plain.gnn
check "  halos of parts, beside those of ranks" refuses "tables of a rank are its halos already" '--cut=halos(2)' plain.gnn
sed '$a plan { cut = rows(2); cut "sage1" = whole }' plain.gnn >layers.gnn
check "  layers that are cut otherwise" refuses "layers of a rank are cut alike" layers.gnn
sed 's/epochs = 6/epochs = 6; approximate { boundary = stale(1) }/' plain.gnn >behind.gnn
check "  and of what is behind" refuses "stale(1) is for values that are whole" '--cut=rows(2)' behind.gnn
check "  the check of gradients" refuses "gradients" -fgradcheck plain.gnn
awk '/^data/ { print "data g from npy(\"none\") {\n  nodes = 2100\n  edges = 9000\n  node x : f32[12]\n  node y : class[5]\n}"; next } { print }' plain.gnn >shapes.gnn
check "  data that were not read" refuses "not read" --shapes shapes.gnn
cat >promised.gnn <<'MODEL'
data g from npy("none") {
  nodes p : count[2100]
  relation cites : p -> p = 9000
  p x : f32[12]
  p y : class[5]
}
model m on g { return GCN(p.x, 5) over cites }
train m { loss = cross_entropy(out, p.y); optimizer = adam(lr = 0.01); epochs = 1 }
MODEL
check "  nor relations of such data planned for" refuses "relations of data that were not read" --shapes --plan promised.gnn
sed '$a plan { fate "graph_in_idx" = host }' plain.gnn >away.gnn
check "  the graph on the host" refuses "a rank's graph, and its learned values, stay on its device" --budget host=64MiB away.gnn
sed '$a plan { fate "x" = host }' behind.gnn >away.gnn
check "  and features there, of what is behind" refuses "fields that stay away are for ranks of one type of nodes and without approximations" --budget host=64MiB away.gnn
refuse 2 "  no ranks at all" "$gnncc" --ranks=0 plain.gnn
refuse 2 "  more than there may be" "$gnncc" --ranks=1025 plain.gnn
too_many() { "$gnncc" -w --ranks=65 plain.gnn -o refused 2>messages; [ $? -eq 1 ] && grep "E0110.*--ranks=65: a program has at most 64 ranks" messages && "$gnncc" -w --plan --ranks=65 plain.gnn | grep '^  ranks     65, of which'; }
check "  nor a program of more than 64, for which there are plans" too_many

# ---- targets with several devices ----

machine() { # SETTING...: a target of CPUs
  printf 'target t {\n%s\n  device cpu { memory = 8GiB; threads = 2; count = %s }\n%b\n}\n' "$1" "$2" "$3" | cat - plain.gnn >machine.gnn
}
of_target() { # RANKS WORDS: the plan is for so many ranks
  "$gnncc" -w --plan machine.gnn >plan && grep "^  ranks     $1, of which" plan
}
count_is_ranks() {
  machine "" 4 "link cpu <-> cpu { bandwidth = 20GB/s; latency = 1us }" && of_target 4 && "$gnncc" -w --plan --ranks=3 machine.gnn | grep '^  ranks     3,' &&
    ! "$gnncc" -w --plan --ranks=1 machine.gnn | grep '^  ranks'
}
check "a target of four devices is for four ranks, where --ranks says nothing else" count_is_ranks
nodes_are_ranks() { machine "nodes = 3" 2 "link cpu <-> cpu { bandwidth = 20GB/s }\n  link node <-> node { bandwidth = 25GB/s; latency = 2us }" && of_target 6; }
check "  and one of three nodes with two devices for six" nodes_are_ranks
shares_tiers() { # of a node, of which there are two devices
  printf 'target t {\n  device gpu { kind = cuda(sm_80); memory = 8GiB; count = 2 }\n  tier host { budget = 6GiB }\n  link gpu <-> host { bandwidth = 24GB/s }\n  link gpu <-> gpu { bandwidth = 300GB/s }\n}\n' | cat - plain.gnn >machine.gnn &&
    "$gnncc" -w --plan=json machine.gnn | tr -d ' \n' | grep -o '"host":{[^}]*"budget_bytes":[0-9]*' >shared && cat shared && grep -q ':3221225472$' shared
}
check "  whose ranks share the host's memory" shares_tiers
by_host() { # GPU_TO_GPU OPTION...: through the host, at 24 GB/s each way, where that takes less time than from GPU to GPU
  sed "s|link gpu <-> gpu { .* }|link gpu <-> gpu { bandwidth = $1 }|" machine.gnn >slow.gnn && "$gnncc" -w --plan -v "${@:2}" slow.gnn >plan && grep ' net .*exchange gcn1.z_halo' plan | grep '(halo-host)'
}
chooses_host() { by_host 5GB/s && ! by_host 10GB/s && ! by_host 300GB/s && ! by_host 5GB/s --policy=halo && by_host 10GB/s --policy=halo-host; }
check "  whose GPUs pass rows through the host where the way from one to the other is slower" chooses_host
chooses_each() { # copies begin late and are fast: few bytes pass from GPU to GPU, many through the host; and as a given plan has it
  local policy
  sed 's|link gpu <-> host { .* }|link gpu <-> host { bandwidth = 24GB/s; latency = 12us }|; s|link gpu <-> gpu { .* }|link gpu <-> gpu { bandwidth = 2GB/s }|' machine.gnn >both.gnn && "$gnncc" -w --plan -v both.gnn >plan && grep exchange plan &&
    grep ' net .*exchange x_halo (halo-host): ' plan && grep ' net .*exchange gcn1.z_halo: ' plan || return 1
  for policy in '' --policy=halo --policy=halo-host; do
    "$gnncc" -w --plan=json $policy both.gnn >each.json && "$gnncc" -q -w --emit=c=searched.c $policy both.gnn && "$gnncc" -q -w --emit=c=taken.c --plan-from=each.json both.gnn && cmp searched.c taken.c || return 1
    grep -q GNN_BY_HOST taken.c && echo host; grep -q GNN_DIRECTLY taken.c && echo directly; grep -q '= &gnn_nccl' taken.c && echo nccl
  done >ways
  cat ways && [ "$(tr '\n' ' ' <ways)" = "host directly nccl directly nccl host " ]
}
check "  each exchange by itself" chooses_each
estimates() { # without data: the most that there can be, or what is said; from data: counted
  net() { "$gnncc" -w --plan "$@" | sed -n 's/^  net  .*exchanges\? of \([^ ]*\) \([KMGT]iB\) in all.*; \(.*\)/\1 \2 \3/p'; }
  sed 's/nodes = 2100/nodes = 82000/; s/edges = 9000/edges = 410000/' shapes.gnn >larger.gnn
  net --ranks=4 plain.gnn; net --shapes --ranks=4 larger.gnn; net --shapes --ranks=4 --halos=0.2 larger.gnn
  net --ranks=4 plain.gnn | grep -q 'counted in the data' && net --shapes --ranks=4 larger.gnn | grep -q 'as if neighbours were anywhere' &&
    [ "$(net --shapes --ranks=4 --halos=0.2 larger.gnn)" = "640.3 KiB estimated by --halos" ] && ! "$gnncc" -w --plan --ranks=4 --halos=0.2 plain.gnn 2>messages && grep 'halos is for data that are not read' messages
}
check "  halos are counted in the data, or estimated without them, which is said" estimates
refuse 2 "  a share of rows that is none" "$gnncc" --plan --ranks=4 --halos=many shapes.gnn
simulates() { "$gnncc" -w --plan --backend=sim --shapes --target=cluster128 --ranks=1024 shapes.gnn | grep '^  ranks     1024, of which'; }
check "  and planned for with --backend=sim up to 1024" simulates
falls_with_ranks() { # 128 processors, of 64 threads, that share out the runs of all parts of a rank at once; counts that are no power of two have several each
  local ranks time last=1000000
  sed 's/nodes = 2100/nodes = 111000000/; s/edges = 9000/edges = 1600000000/; s/SAGE(16)/SAGE(256) |> relu |> SAGE(256)/' shapes.gnn >large.gnn
  for ranks in 64 96 128; do
    time=$("$gnncc" -w --plan --plan-effort=fast --backend=sim --shapes --target=cluster128 --halos=1 --ranks=$ranks large.gnn | sed -n 's/^  time  *\([0-9]*\) ms per epoch.*/\1/p')
    echo "$ranks ranks: $time ms"
    [ "$time" -lt "$last" ] || return 1
    last=$time
  done
}
shares_evenly() { # of nodes with most of the edges a rank has fewer: where all had as many blocks, one had 2.953 times as many edges as the mean
  sed 's/nodes = 8200, degree = 5/nodes = 70000, degree = 8/' plain.gnn >skewed.gnn
  "$gnncc" -w --plan --backend=sim --target=cluster128 --ranks=8 skewed.gnn | sed -n 's/^  balance .* nodes \([0-9.]*\), edges \([0-9.]*\), .*/\1 \2/p' >said; cat said
  [ "$(awk '$1 < 1.5 && $2 < 2.5' said)" ]
}
check "  which share nodes and edges evenly" shares_evenly
tells_estimates() { # of data that were not read, too; ranks for which there are no blocks
  "$gnncc" -w --plan --backend=sim --shapes --target=cluster128 --halos=1 --ranks=7 large.gnn >plan && grep '^  balance .* nodes 1\.0[0-9]*, edges 1\.0' plan && ! grep 'has nothing\|have nothing' plan &&
    "$gnncc" -w --plan --backend=sim --shapes --target=cluster128 --ranks=3 shapes.gnn | grep -A 1 '^  balance .* nodes 3.000, edges 3.000' | grep '2 ranks have nothing: a rank has a canonical block of the nodes at least, of which there is 1$'
}
check "  more of them take less time, be they a power of two or not" falls_with_ranks
check "  and say how evenly, where the data were not read, too" tells_estimates
chooses_exchanges() { # of two layers of 256 with so many rows of others: columns where these are more than twice a rank's own, for each layer by itself; and what was asked for
  local halos
  sed -e 's/nodes = 2100/nodes = 820000/; s/edges = 9000/edges = 41000000/; s/SAGE(16)/SAGE(256) |> relu |> SAGE(256)/' shapes.gnn >larger.gnn
  exchanges_of() { "$gnncc" -w --plan --backend=sim --shapes --target=cluster128 --ranks=16 "$@" larger.gnn | tee plan | sed -n 's/^  \([a-z0-9]*\)  *\(forward\|backward\) *[0-9]*  \([a-z-]*\) .*/\1 \2 \3/p' | tr '\n' ' '; }
  for halos in 0.5 8; do exchanges_of --halos=$halos; echo; done
  [ "$(exchanges_of --halos=0.5)" = "sage2 forward whole gcn1 forward whole gcn1 backward whole sage2 backward whole " ] && [ "$(exchanges_of --halos=8)" = "sage2 forward transpose gcn1 forward whole gcn1 backward whole sage2 backward transpose " ] &&
    [ "$(exchanges_of --halos=8 --policy=halo | grep -o transpose)" = "" ] && exchanges_of --halos=0.5 --policy=transpose | grep 'sage2 forward transpose' && grep 'halos: gcn1.m (too narrow)' plan
}
check "  rows of others or columns of all are planned for, whichever is the faster, by layer and pass" chooses_exchanges
policy=transpose
no_columns() { # WORDS OPTION...
  local words=$1
  shift
  "$gnncc" -w --policy=$policy "$@" -o refused 2>messages
  local status=$?
  cat messages
  [ $status -eq 1 ] && grep -q "error\[E0110\]: policy $policy: .*$words" messages && [ ! -e refused ]
}
check "columns of all rows are refused in one process" no_columns "for one process, which exchanges nothing" plain.gnn
halo_alone() { "$gnncc" -w --policy=halo plain.gnn -o refused 2>messages; [ $? -eq 1 ] && grep 'E0110.*policy halo: the program is for one process' messages; }
check "  so are halos" halo_alone
check "  columns in bf16" no_columns "in 32 bits, so far" --ranks=2 --precision=bf16 plain.gnn
check "  of values in parts" no_columns "of values that are whole" --ranks=2 '--cut=rows(2)' plain.gnn
check "  of rows that are behind" no_columns "stale(1) is of rows of others" --ranks=2 behind.gnn
sed 's/x |> SAGE(16) |> relu |> dropout(0.3) |> GCN(y.classes)/x |> GAT(16) |> relu |> GAT(y.classes)/' plain.gnn >attention.gnn
check "  and where numbers are made on edges" no_columns "no sum over neighbours is a plain sum of rows" --ranks=2 attention.gnn
sed 's/x |> SAGE(16) .*GCN(y.classes)/x |> SAGE(16) |> relu |> GAT(y.classes)/' plain.gnn >first.gnn # whose one plain sum is of what never changes
check "  and where what they are for is computed once" no_columns "are computed once, before the first epoch" --ranks=2 first.gnn
a_gpu_alone() { "$gnncc" -w --spmm=cusparse machine.gnn -o refused 2>messages; [ $? -eq 1 ] && cat messages && grep -q "target t has 2 devices: cuSPARSE adds up the rows of all" messages && grep -q -e '--ranks=1 is for one of the devices' messages; }
policy=halo-recompute
check "rows of others made again are refused in one process" no_columns "for one process, which exchanges nothing" plain.gnn
check "  in bf16" no_columns "in 32 bits, so far" --ranks=2 --precision=bf16 plain.gnn
check "  of values in parts" no_columns "of values that are whole" --ranks=2 '--cut=rows(2)' plain.gnn
check "  of rows that are behind" no_columns "stale(1) is of rows of others" --ranks=2 behind.gnn
sed 's/x |> SAGE(16) .*GCN(y.classes)/x |> GCN(y.classes)/' plain.gnn >once.gnn
check "  and where sums gather what never changes, or of others what sums have made" no_columns "no sum over neighbours gathers what is made of weights and of rows that never change alone" --ranks=2 once.gnn
policy=dedup
check "rows that never change are not got anew in one process" no_columns "for one process, which exchanges nothing" plain.gnn
check "  nor where they are behind" no_columns "stale(1) is of rows of others" --ranks=2 behind.gnn
check "  nor where they are gathered but once" no_columns "are computed once, before the first epoch" --ranks=2 first.gnn
check "  nor where all that sums gather changes" no_columns "no sum over neighbours gathers rows that never change" --ranks=2 attention.gnn
cat >both.gnn <<'MODEL'
data g from synth(kind = "rmat", nodes = 8200, degree = 5, features = 48, classes = 5, seed = 3)
model m on g {
  a = x |> GCN(64)
  b = x |> dropout(0.4) |> SAGE(64)
  return a + b |> relu |> dropout(0.2) |> SAGE(16) |> relu |> GCN(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3; metric = accuracy }
MODEL
drops_tables() { # of 48 columns of features, with a little less room than all wants; what is computed once stays
  printf 'target t {\n  device cpu { memory = 8GiB; threads = 2; bandwidth = 20GB/s; count = 3 }\n  link cpu <-> cpu { bandwidth = 20GB/s; latency = 2us }\n}\n' | cat - both.gnn >short.gnn
  local enough; enough=$("$gnncc" -w --plan short.gnn | tee plan | sed -n 's/.*--budget cpu=\([0-9]*\)KiB is enough.*/\1/p') && grep 'never change come once, before the first epoch: x' plan && "$gnncc" -w --plan --budget device=$((enough - 200))KiB short.gnn >plan && grep 'computed once, before the first epoch: gcn1.h' plan &&
    grep 'never change come in every epoch, each from the one rank that has it (dedup): x$' plan
}
check "  they come in every epoch where their tables would take the room of values, which the planner weighs" drops_tables
makes_or_sends() { # BANDWIDTH MODE: which the planner takes of the forward sum of the second layer
  printf 'target t {\n  device cpu { memory = 8GiB; threads = 2; bandwidth = 20GB/s; count = 4 }\n  link cpu <-> cpu { bandwidth = %s; latency = 2us }\n}\n' "$1" | cat - plain.gnn >linked.gnn
  "$gnncc" -w --plan linked.gnn >plan && grep "^  gcn1 *forward *[0-9]* *$2 " plan
}
makes() { makes_or_sends 0.2GB/s halo-recompute && makes_or_sends 200GB/s whole; }
check "  they are made where they take longer to come, which the planner weighs" makes
check "  what cannot be built yet is refused by name, with what can" a_gpu_alone
no_mpicc() { MPICC=/nonexistent/mpicc "$gnncc" -w --ranks=2 plain.gnn -o refused 2>messages; local status=$?; cat messages; [ $status -eq 5 ] && grep -q 'error\[E0507\].*MPI' messages && [ ! -e refused ]; }
check "without mpicc the program is refused by name" no_mpicc
exchanges() { "$gnncc" -w --plan -v --ranks=4 plain.gnn >plan && grep -q '^  ranks     4, of which' plan && grep '^ *[0-9]*  net .* exchange .*: [1-9][0-9]* bytes in all' plan; }
check "exchanges are steps of the plan on a lane of their own, with their volume" exchanges
exchange_seconds() { # LINK: of the forward exchange of a model on four ranks, in ms
  printf 'target t {\n  device cpu { memory = 8GiB; threads = 2; bandwidth = 20GB/s; count = 4 }\n  link cpu <-> cpu { %s }\n}\n' "$1" | cat - plain.gnn >machine.gnn
  "$gnncc" -w --plan -v --policy=halo machine.gnn >plan && awk '/took us/ { unit = 1e-3 } $2 == "net" && /exchange gcn1.z_halo/ && !n++ { print $4 * (unit ? unit : 1) }' plan
}
takes_link() { # latency and bytes over bandwidth: of the rank with most; and the epoch has them
  local near far bytes
  near=$(exchange_seconds "bandwidth = 1GB/s; latency = 1us") && bytes=$(sed -n 's/.*exchange gcn1.z_halo: .* at most \([0-9]*\) of one rank.*/\1/p' plan | head -1)
  far=$(exchange_seconds "bandwidth = 1GB/s; latency = 51us")
  echo "$near $far $bytes"
  awk -v near="$near" -v far="$far" -v bytes="$bytes" 'BEGIN { wanted = 1e-6 * bytes + 1e-3; exit !(near > wanted - 2e-4 && near < wanted + 2e-4 && far - near > 0.0498 && far - near < 0.0502) }' &&
    awk '/^  time/ { for (i = 1; i < NF; i++) if ($(i + 2) == "waiting") waits = $i * ($(i + 1) == "us" ? 1e-3 : 1) } END { exit !(waits > 0.1) }' plan
}
check "  which takes its latency and the bytes of the rank with most, and the epoch counts it" takes_link
beside() { # gradients of weights pass beside the exchange of gradients: SAGE's product of its own rows
  sed -e 's/GCN(y.classes)/SAGE(16) |> relu |> SAGE(y.classes)/' plain.gnn >deep.gnn
  exchange_of() { awk -v what="$1" '$5 == "exchange" && index($0, what) { at = $3; until = $3 + $4; found = 1 } found && $2 == "compute" && $5 == "backward" && /weight = sum over rows/ && $3 >= at && $3 < until { beside = 1 } END { exit !beside }' plan; }
  "$gnncc" -w --plan -v --ranks=4 deep.gnn >plan && grep '  exchange  \|weight = sum' plan && exchange_of back_sage2 && grep '^sage2 *backward\|^  sage2  backward' plan
}
check "  gradients of weights pass beside it" beside
drawn() {
  "$gnncc" -w --ranks=4 --emit=gantt=- deep.gnn >chart && cat chart && grep '^device *net  *.*x.*x' chart && grep '^rank 0, the first' chart && grep '^rank 3, the last' chart && grep '^  3 *net  *.*x.*x' chart && "$gnncc" -w --plan=json --ranks=4 deep.gnn >report.json && "$build/tests/check_report" report report.json &&
    "$gnncc" -w --ranks=4 --emit=trace=trace.json,gantt=chart.svg,dot=graph.dot deep.gnn && "$build/tests/check_report" trace trace.json report.json && "$build/tests/check_report" svg chart.svg report.json && "$gnncc" -w -q --report --ranks=4 deep.gnn
}
check "  and are drawn, with a group of lanes for the first, the slowest and the last rank" drawn
balanced() { # a hub's edges are on one rank: the most over the mean of the ranks is said, and which step it costs most
  graph_of hub && printf 'data g from npy("hub")\nmodel m on g { return x |> GCN(16) |> relu |> GCN(y.classes) }\ntrain m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 1 }\n' >hubs.gnn
  "$gnncc" -w --plan -v --ranks=4 hubs.gnn >plan && sed -n 's/^  balance .*edges \([0-9.]*\), bytes .*costs most in step \([0-9]*\), \([0-9.]*\)$/\1 \2 \3/p' plan >told && cat told && read -r edges step most <told &&
    awk -v edges="$edges" -v most="$most" 'BEGIN { exit !(edges > 1.05 && most > 1.05 && most <= 4) }' && grep "^ *$step  [cn]" plan
}
check "  and how alike the ranks are is told" balanced
of_other_ranks() { # a plan that is given
  "$gnncc" -w --plan=json --ranks=3 plain.gnn >of_3.json && "$gnncc" -w --plan=json plain.gnn >of_1.json || return 1
  says() { local plan=$1 words=$2; ! "$gnncc" -w --plan --plan-from="$plan" "${@:3}" plain.gnn >messages 2>&1 && cat messages && grep "E0510.*$plan is not a plan for this program on this machine: it is for $words\$" messages && grep -c 'help: --ranks=[13] is for as many' messages; }
  says of_3.json "3 ranks, and the program is for 2 ranks" --ranks=2 && says of_3.json "3 ranks, and the program is for one process" && says of_1.json "one process, and the program is for 2 ranks" --ranks=2
}
check "  a plan for another number of ranks is told from others" of_other_ranks
unlike_parts() { # ranks whose parts are of unlike sizes: the most rows that one rank has in each part are together more than a rank has
  printf 'data g from synth(kind = "rmat", nodes = 200000, degree = 6, features = 8, classes = 5, seed = 3) { order = nested }\nmodel m on g { return x |> GCN(64) |> relu |> SAGE(y.classes) }\n' >unlike.gnn
  printf 'train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 1 }\n' >>unlike.gnn
  "$gnncc" -w --plan --plan-effort=fast --ranks=8 '--cut=rows(8)' unlike.gnn
}
room_in_some_order() { # more of the device is never too little: where steps beside exchanges hold too much, they are in the order of the graph, and such a plan is taken over
  printf 'data g from synth(kind = "rmat", nodes = 8200, degree = 5, features = 48, classes = 5, seed = 3)\nmodel m on g { return x |> dropout(0.4) |> SAGE(16) |> relu |> GCN(16) |> relu |> SAGE(y.classes) }\n' >room.gnn
  printf 'train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 1 }\n' >>room.gnn
  local size
  for size in 2400 2800 3200; do "$gnncc" -w --plan --ranks=3 --policy=halo --budget device=${size}KiB room.gnn || return 1; done
  "$gnncc" -w --plan=json --ranks=3 --policy=halo --budget device=2800KiB room.gnn >report.json && "$gnncc" -w --plan --ranks=3 --policy=halo --plan-from=report.json --budget device=2800KiB room.gnn
}
check "ranks with more of the device have a plan where those with less have one" room_in_some_order
check "values of ranks that are whole are written in parts of unlike sizes" unlike_parts
sources_say() { "$gnncc" -q -w -S --ranks=2 plain.gnn -o sources && [ -f sources/gnnmpi.c ] && ! make -C sources 2>messages && grep "MPI=yes" messages; }
check "sources are delivered with MPI's, and make says what they need" sources_say
offers_none() { # no target, no function
  [ ! -e sources/example.py ] && ! grep -rn 'plain_library\|libplain\|plain_create' sources/Makefile sources/CMakeLists.txt sources/plain.c sources/plain.h && grep '"runtime": \["gnnrt.c", "gnnrt.h", "gnnmpi.c"\]' sources/manifest.json && grep -A 1 '"functions": \[$' sources/manifest.json | grep '^  \]'
}
check "  and offer no library" offers_none
sends_first() { # every exchange begins between the rows that others wait for and the rank's own
  grep -B2 '_own(g, V' sources/plain.c && [ "$(grep -c '_own(g, V' sources/plain.c)" = "$(grep -c 'GNN_LANE_NET, INT64_C' sources/plain.c)" ] &&
    awk '/_own\(g, V/ { name = $1; sub(/_own.*/, "", name); if (before !~ /gnn_copy/ || index(earlier, name "(g") == 0) exit bad = 1 } { earlier = before; before = $0 } END { exit bad }' sources/plain.c
}
check "rows that others wait for are made first, and leave beside the rank's other rows" sends_first
plain_has_none() { "$gnncc" -q -w plain.gnn -o plain && ! grep -q MPI_ plain; }
check "a program without ranks has nothing of MPI" plain_has_none
one_rank() { "$gnncc" -q -w --ranks=1 plain.gnn -o alone && ! grep -q MPI_ alone && cmp alone plain; }
check "one rank is that program" one_rank

if [ -z "$mpirun" ]; then
  skip "programs of ranks, run" "there is no mpicc and mpirun: apt install libopenmpi-dev openmpi-bin, or libmpich-dev mpich"
  finish
  exit
fi
ranks() { timeout 120 "$mpirun" $oversubscribe -np "$@"; } # N PROGRAM ARGUMENT...

silent_with() { # MPICC...: the compiler says nothing of the exchanges
  local mpicc
  for mpicc; do ! command -v "$mpicc" || "$mpicc" -O3 -std=gnu11 -Wall -Wextra -c "$build/share/gnnmpi.c" -o gnnmpi.o >said 2>&1 && { cat said; [ ! -s said ]; } || return 1; done
}
check "the C compiler has no warning with any MPI that is here" silent_with "${MPICC:-mpicc}" mpicc.mpich

# ---- the bits of one process ----

compiles() { "$gnncc" -q -w "$@"; } # OPTION...
trains() { # N NAME ARGUMENT...: into NAME_N.out
  rm -rf "$2_$1.out"
  if [ "$1" = 1 ]; then "./$2_1" --threads 1 --every 1 --log csv --out "$2_1.out" "${@:3}"; else ranks "$1" "./$2_$1" --threads 1 --every 1 --log csv --out "$2_$1.out" "${@:3}"; fi
}
alike() { # NAME N: losses and measures of all epochs, weights, the checkpoint
  local file checkpoint=0
  diff <(cut -d, -f1-7 "$1_1.out/log.csv") <(cut -d, -f1-7 "$1_$2.out/log.csv") || return 1
  for file in $(cd "$1_1.out" && find . -name '*.safetensors'); do cmp "$1_1.out/$file" "$1_$2.out/$file" || return 1; checkpoint=$((checkpoint + 1)); done
  [ $checkpoint -ge 2 ]
}
same_bits() { # MODEL N...: of MODEL.gnn
  local model=$1 n
  shift
  compiles --cut=whole $precision "$model.gnn" -o "${model}_1" && trains 1 "$model" || return 1
  for n; do compiles --verify --ranks="$n" $precision $options "$model.gnn" -o "${model}_$n" && trains "$n" "$model" && alike "$model" "$n" || return 1; done
}
options= precision=
model() { # NAME DATA LAYERS [TRAIN]
  printf 'data g from %s\nmodel m on g {\n%s\n}\ntrain m {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 3\n  metric = accuracy\n%s\n}\n' "$2" "$3" "${4:-}" >"$1.gnn"
}
writes_alike() { # PROGRAM RANKS FILE COMMAND OPTION...: what one process writes; with the weights that it has trained
  local name=$1 n=$2 ending=${3##*.} weights=$1_1.out/last.safetensors
  "./${name}_1" "${@:4}" --weights "$weights" -o "by_one.$ending" && ranks "$n" "./${name}_$n" "${@:4}" --threads 1 --weights "$weights" -o "by_ranks.$ending" >text && cat text &&
    [ "$(grep -c '^wrote by_ranks' text)" = 1 ] && cmp "by_one.$ending" "by_ranks.$ending"
}
check "SAGE and GCN on 2, 3, 4 and 8 ranks have the bits of one process" same_bits plain 2 3 4 8
model ends 'synth(kind = "rmat", nodes = 6500, degree = 5, features = 12, classes = 5, seed = 3)' '  h = x |> GEN(16)
  return sum(concat(src.h, dst.h) |> Linear(24)) |> Linear(y.classes)'
precision=--precision=bf16 check "  in bf16, values that steps compute at an end of each edge, rounded or not, on 3" same_bits ends 3
sed 's/|> GEN(16)/|> Linear(16) |> EdgeConv(16)/' ends.gnn >differences.gnn
check "  not those that would be rounded elsewhere" refuses "in bf16 a value of this model would be rounded where" --precision=bf16 differences.gnn
model norms 'synth(kind = "rmat", nodes = 6500, degree = 5, features = 12, classes = 5, seed = 3)' '  return x |> Linear(8) |> prelu |> SAGE(8, normalize = true) |> relu |> GCN(y.classes)'
precision=-O0 check "  with every operation a step of its own, some of the forward pass that only the backward one asks for, on 3" same_bits norms 3
check "    all of whose gradients are there before the first update" writes_alike norms 3 gradients.safetensors gradients
counts() { # NAME: every exchange has sent to the byte what its step in the plan says
  "$gnncc" -w --plan -v --ranks=3 $precision $options "$1.gnn" | sed -n 's/^ *\([0-9]*\)  net .* exchange .*: \([0-9]*\) bytes in all.*/\1 \2 \2/p' >planned
  sed -n '/"exchanges"/p' "$1_3.out/run.json" | grep -o '{[^}]*}' | tr -dc '0-9 \n' | sed 's/^ *//; s/  */ /g; s/ *$//' >counted
  cat planned counted
  [ "$(wc -l <planned)" -ge 4 ] && cmp planned counted
}
check "  and send to the byte what was announced" counts plain
# Rows of 16 numbers are kept in bf16.
sed 's/SAGE(16)/GAT(8, heads = 2, dropout = 0.2)/' deep.gnn >half.gnn
precision=--precision=bf16
check "values in bf16, on 3" same_bits half 3
check "  whose rows travel so, which is announced and counted" eval 'counts half && "$gnncc" -w --plan -v --ranks=3 half.gnn | sed -n "s/^ *[0-9]*  net .* exchange .*: \([0-9]*\) bytes in all.*/\1/p" >whole && cat whole && cut -d" " -f2 planned | grep -qx "$(($(head -1 whole) / 2))"'
precision=
for graph in directed hub isolated; do graph_of $graph; done
model on_directed "npy(\"directed\")" '  h = x |> dropout(0.4) |> GAT(8, heads = 2, dropout = 0.3) |> elu
  return h |> GIN(y.classes)'
check "attention with dropout on directed edges, on 3" same_bits on_directed 3
model pooled 'synth(kind = "rmat", nodes = 8200, degree = 5, features = 12, classes = 5, seed = 3)' '  h = x |> Linear(16) |> graph_norm |> relu
  p = attention(h)
  q = max(h, to = graph)
  s = relu(Linear(q + Linear(p, 16) - logsumexp(h, to = graph), 16)) |> dropout(0.3)
  lo = min(h, to = graph)
  d = std(h, to = graph)
  v = concat(h + graph.s + 3 * softmax(h, to = graph), graph.p)
  return v |> SAGE(16) + graph.lo * graph.d |> relu |> GCN(y.classes)'
check "sums, extremes, softmax and attention over all nodes of the graph, on 2, 3 and 8" same_bits pooled 2 3 8
pooled_parts() { same_bits pooled 2 && "$gnncc" -w --plan -v --ranks=2 $options pooled.gnn >plan && grep ' d2h ' plan && grep ' q = max of ' plan; }
options='--cut=rows(2) --budget device=1400KiB --budget host=8MiB' check "  by parts, some of them on the host" pooled_parts
model on_hub "npy(\"hub\")" '  h = x |> dropout(0.4) |> GCN(16) |> batch_norm |> relu
  return h |> PNA(y.classes)'
check "batch norm and extremes at a hub, on 4" same_bits on_hub 4
model on_isolated "npy(\"isolated\") { order = nested }" '  h = x |> GATv2(8, heads = 2) |> elu |> GCN(24)
  return h |> GraphConv(y.classes)'
sed -i 's/metric = accuracy/metric = roc_auc/' on_isolated.gnn
check "isolated nodes, in a nested order, on 2" same_bits on_isolated 2
# ---- sums over columns of all rows ----

transposed() { # MODEL N [WORDS]: the bits of MODEL_1.out, where its plan says of exchanges so
  cp "$1.gnn" columns.gnn && rm -rf columns_1.out && cp -r "$1_1.out" columns_1.out && "$gnncc" -w --plan --ranks="$2" --policy=transpose columns.gnn >plan && grep 'columns of all rows (transpose)' plan && grep "${3:-}" plan &&
    compiles --verify --ranks="$2" --policy=transpose columns.gnn -o "columns_$2" && trains "$2" columns && alike columns "$2"
}
check "sums over columns of all rows: of a hub, on 4, of which two have no columns" transposed on_hub 4 'halos: .*pna1.*no plain sum of rows'
check "  of isolated nodes, in a nested order, on 2" transposed on_isolated 2
model uneven 'npy("directed")' '  return x |> dropout(0.4) |> GCN(40) |> relu |> SAGE(40) |> GCN(y.classes)'
all_columns() { compiles --cut=whole uneven.gnn -o uneven_1 && trains 1 uneven && transposed uneven 3 'sage1.m.sum, 16 columns a rank' && grep 'halos: .*gcn2.m (too narrow)' plan; }
check "  of 40 columns of directed edges, of which the last of 3 ranks has 8" all_columns
cp -r directed oneway
model given 'npy("oneway")' '  return x |> dropout(0.4) |> GCN(16) |> relu |> SAGE(y.classes)'
check "rows of others where edges go one way, on 3" same_bits given 3
given_resumes() { # what a checkpoint knows of the data is the same, whoever has counted it
  rm -rf went && ./given_1 --threads 1 -q --epochs 1 --out went && ranks 3 ./given_3 --threads 1 -q --resume --out went >text 2>&1 && cat text && ! grep changed text && cmp went/last.safetensors given_1.out/last.safetensors
}
check "  goes on from a checkpoint of one process, whose data these are" given_resumes
sed 's/npy("oneway")/& { order = nested }/' given.gnn >ordered.gnn
check "  in a nested order, that was made before" same_bits ordered 3
made_anew() { # where it is not kept any more, from all edges
  mv cache kept && ranks 3 ./ordered_3 --threads 1 -q --out went; local status=$?
  rm -rf cache && mv kept cache && [ $status -eq 0 ] && cmp went/last.safetensors ordered_1.out/last.safetensors
}
check "  or where it is made anew" made_anew
options=--policy=transpose
check "  and send to the byte what was announced" counts columns
options=
tells_columns() { # the lane, each exchange, the layer
  "$gnncc" -w --plan -v --ranks=3 --policy=transpose uneven.gnn >plan && grep '^  net  .* by columns (transpose), of' plan && grep '^  *sage1 *forward .*transpose' plan && grep 'exchange .*sum_back (transpose): ' plan && "$gnncc" -w --plan=json --ranks=3 --policy=transpose uneven.gnn >report.json && "$build/tests/check_report" report report.json &&
    [ "$(grep -c '"variant": "transpose"' report.json)" -ge 8 ] && grep '"variant": "halo"' report.json
}
check "  which plans say of the net, of each exchange and of each layer" tells_columns
taken_columns() { "$gnncc" -q -w -S --ranks=3 --policy=transpose uneven.gnn -o searched && "$gnncc" -q -w -S --ranks=3 --plan-from=report.json uneven.gnn -o taken && cmp searched/uneven.c taken/uneven.c; }
check "  and which are taken over by a plan that is given" taken_columns
goes_on_elsewhere() { rm -rf went && ranks 3 ./columns_3 --threads 1 -q --epochs 1 --out went && ./uneven_1 --threads 1 -q --resume --out went && cmp went/last.safetensors uneven_1.out/last.safetensors; }
check "  whose checkpoints go on in one process" goes_on_elsewhere

# ---- rows of others that the ranks make themselves ----

made_again() { # MODEL N WORDS: the bits of MODEL_1.out, where its plan says of rows so
  cp "$1.gnn" made.gnn && rm -rf made_1.out && cp -r "$1_1.out" made_1.out && "$gnncc" -w --plan --ranks="$2" --policy=halo-recompute made.gnn >plan && grep "made again (halo-recompute): $3\$" plan &&
    compiles --verify --ranks="$2" --policy=halo-recompute made.gnn -o "made_$2" && trains "$2" made && alike made "$2"
}
check "rows of others made of features and of their first sums, with dropout and bits, on 2" made_again plain 2 gcn1.z
check "  on 4" made_again plain 4 gcn1.z
model encoded 'synth(kind = "rmat", nodes = 8200, degree = 5, features = 12, classes = 5, seed = 3) { order = nested }' '  h = x |> dropout(0.4) |> Linear(10) |> batch_norm |> relu
  return h |> GAT(4, heads = 2, dropout = 0.2) |> layer_norm |> elu |> GCN(y.classes)'
encoded() { compiles --cut=whole encoded.gnn -o encoded_1 && trains 1 encoded && made_again encoded 3 'gat1.s, gat1.z'; }
check "  for attention, behind a product with batch norm, in a nested order, on 3" encoded
options=--policy=halo-recompute
check "  and send to the byte what was announced" counts made
options=
tells_made() { # the layers, in both passes; and nothing passes for the forward one
  "$gnncc" -w --plan -v --ranks=3 --policy=halo-recompute encoded.gnn >plan && grep '^  gat1 *forward *[0-9]* *halo-recompute  *[12]  *0 *$' plan && grep '^  gat1 *backward .*halo-recompute' plan && grep 'gat1.lin_others = h_others @ gat1.lin.weight' plan && grep 'exchange x_others: ' plan && ! grep 'exchange gat1.z_halo' plan
}
check "  which plans say of each layer" tells_made
taken_made() { "$gnncc" -w --plan=json --ranks=3 --policy=halo-recompute encoded.gnn >report.json && "$build/tests/check_report" report report.json && "$gnncc" -q -w -S --ranks=3 --policy=halo-recompute encoded.gnn -o searched && "$gnncc" -q -w -S --ranks=3 --plan-from=report.json encoded.gnn -o taken && cmp searched/encoded.c taken/encoded.c; }
check "  and which are taken over by a plan that is given" taken_made

# ---- rows that never change, from the one rank that has them ----

options=--policy=dedup
check "rows that never change in every epoch, of features in evaluations, on 3" same_bits both 3
check "  and send to the byte what was announced" counts both
tells_dedup() { # each exchange, the net; and a plan that is given has no tables either
  "$gnncc" -w --plan -v --ranks=3 $options both.gnn >plan && grep ' net .*exchange x_halo (dedup): ' plan && ! grep '^  once .*x_halo' plan && "$gnncc" -w --plan=json --ranks=3 $options both.gnn >report.json && "$build/tests/check_report" report report.json && grep '"variant": "dedup"' report.json
}
check "  which plans say of each exchange" tells_dedup
options=
taken_again() { "$gnncc" -q -w -S --ranks=3 --policy=dedup both.gnn -o searched && "$gnncc" -q -w -S --ranks=3 --plan-from=report.json both.gnn -o taken && cmp searched/both.c taken/both.c; }
check "  and a plan that is given, of tables that evaluations alone have" taken_again
of_slices() { "$gnncc" -w --plan --ranks=3 '--cut=slices(4)' both.gnn | grep 'once, before the first epoch: x$'; }
check "  tables of some columns are of the same rows" of_slices
cp -r directed twofold && perl -e "$put_npy"'$folder = "twofold"; put("z", "<f4", "9000, 12", pack("f<*", map { $_ * 104729 % 89 / 89 - 0.5 } 1 .. 108000))'
cat >some.gnn <<'MODEL'
target t {
  device cpu { memory = 8GiB; threads = 2; bandwidth = 20GB/s; count = 3 }
  link cpu <-> cpu { bandwidth = 20GB/s; latency = 2us }
}
layer Soft(x : node[f]) {
  param t : [f] = ones
  return sum(tanh(t * src.x))
}
data g from npy("twofold") {
  nodes = 9000
  node x : f32[32]
  node z : f32[12]
  node y : class[4]
}
model m on g {
  a = x |> dropout(0.4) |> SAGE(48)
  return a + (Soft(z) |> Linear(48)) |> relu |> dropout(0.2) |> SAGE(16) |> relu |> GCN(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3; metric = accuracy }
MODEL
epoch_of() { "$gnncc" -w --plan "$@" some.gnn | sed -n 's/^  time *\([0-9.]*\) ms per epoch.*/\1/p'; }
keeps_some() { # with a little less room than all wants: epochs have the rows of z, evaluations alone those of x
  local enough; enough=$("$gnncc" -w --plan some.gnn | sed -n 's/.*--budget cpu=\([0-9]*\)KiB is enough.*/\1/p') && options="--budget device=$((enough - 200))KiB" && "$gnncc" -w --plan -v $options some.gnn >plan && grep 'never change' plan &&
    grep -q 'come once, before the first epoch: z$' plan && grep -q '(dedup): x$' plan && grep -q 'exchange x_halo (dedup): ' plan && grep '^  once  *1 exchange of ' plan && ! grep 'z_halo (dedup)' plan
}
check "one table is kept beside another whose rows come in every epoch" keeps_some
fastest() { echo "$(epoch_of $options) $(epoch_of $options --policy=halo) $(epoch_of $options --policy=dedup)" | tee times | awk '{ exit !($1 > 0 && $1 < $2 && $1 < $3) }'; local status=$?; cat times; return $status; }
check "  which is faster than both, or none" fastest
some_bits() { compiles --ranks=1 --cut=whole some.gnn -o some_1 && trains 1 some && compiles --verify $options some.gnn -o some_3 && trains 3 some && alike some 3; }
check "  and has the bits of one process, on 3" some_bits
check "  and sends to the byte what was announced" counts some
taken_some() { "$gnncc" -w --plan=json $options some.gnn >report.json && "$build/tests/check_report" report report.json && "$gnncc" -q -w -S $options some.gnn -o searched && "$gnncc" -q -w -S $options --plan-from=report.json some.gnn -o taken && cmp searched/some.c taken/some.c; }
check "  and so has a plan that is given" taken_some
options=

# Weights and features of edges: w.npy, e.npy.
edge_data directed
model weighted 'npy("directed") {
  nodes = 9000
  node x : f32[32]
  node y : class[4]
  edge w : f32
  edge e : f32[3]
}' '  h = x |> GINE(out = 6, edge_attr = e, project = true) |> GCN(8, edge_weight = w) |> relu |> GraphConv(4, aggr = "max", edge_weight = w) |> tanh
  return h |> GATv2(4, heads = 2, edge_attr = e) |> GEN(3, aggr = "mean", edge_attr = e) |> TAG(y.classes, k = 1, edge_weight = w)'
check "weights and features of edges in sums of both directions, on 3" same_bits weighted 3
check "  and send to the byte what was announced" counts weighted
counts_once() { # the last line and run.json have those before the first epoch by themselves, as many and as many bytes as the plan announces
  local steps bytes
  "$gnncc" -w --plan -v --ranks=3 weighted.gnn >plan && read -r steps bytes <<<"$(awk '$5 == "once" { is_before = 1 } is_before && $2 == "net" && $5 == "exchange" { n++; bytes += $(NF - 9) } END { print n, bytes }' plan)"
  trains 3 weighted >text && tail -1 text && tail -1 text | tr -d , | grep "each as announced; $steps of them of $bytes bytes before the first epoch$" && [ "$steps" -ge 2 ] &&
    [ "$(grep -o '"counted_bytes": [0-9]*, "is_once": true' weighted_3.out/run.json | tr -dc '0-9\n' | awk '{ n++; bytes += $1 } END { print n, bytes }')" = "$steps $bytes" ] && grep "^  once *$steps exchanges" plan
}
check "    which says what passes before the first epoch" counts_once
options=--policy=dedup
check "  in every epoch, of weights and features of edges, on 3" same_bits weighted 3
taken_dedup() { # of a layer
  "$gnncc" -w --plan=json --ranks=3 $options weighted.gnn >report.json && grep '"mode": "dedup"' report.json && "$gnncc" -q -w -S --ranks=3 $options weighted.gnn -o searched && "$gnncc" -q -w -S --ranks=3 --plan-from=report.json weighted.gnn -o taken && cmp searched/weighted.c taken/weighted.c
}
check "  which a plan that is given says, too" taken_dedup
options=
once_alone() { # what never changes: features, weights of edges
  "$gnncc" -w --plan -v --ranks=3 weighted.gnn >plan && grep 'exchange  ' plan && grep '^  once .*exchanges of .* before the first epoch' plan && grep 'never change come once, before the first epoch: x, ' plan &&
    awk '$5 == "once" { is_before = 1 } $5 == "exchange" && /exchange (x|[a-z0-9]*[.]w)_halo:/ { n[is_before]++ } END { exit !(n[1] == 2 && !n[0]) }' plan && ./weighted_3 info | grep -q weighted
}
check "  rows of features and weights of edges once, before the first epoch" once_alone
no_room() { # for them: the same bits
  local device; device=$("$gnncc" -w --ranks=2 --budget device=1KiB late.gnn 2>&1 | sed -n 's/.*--budget device=\([0-9.]*[KM]iB\) is the smallest.*/\1/p' | head -1)
  options="--budget device=$device"
  "$gnncc" -w --plan --ranks=2 $options late.gnn >plan && ! grep '^  once ' plan && grep 'never change come in every epoch, as there is no room to keep them: x' plan && "$gnncc" -w --plan --ranks=2 late.gnn | grep '^  once ' && same_bits late 2
}
model late 'synth(kind = "rmat", nodes = 8200, degree = 5, features = 24, classes = 5, seed = 3) { split = folds(3, seed = 1, valid = true) }' '  return x |> dropout(0.4) |> SAGE(16) |> relu |> GCN(y.classes)'
check "  in every epoch where there is no room to keep them, on 2" no_room
options=
folds() { grep -o '"runs": .*}\]' late_1.out/run.json >one && grep -o '"runs": [^]]*}\]' late_2.out/run.json | cmp - one && [ "$(grep -o fold one | wc -l)" = 3 ]; }
check "  in folds, each of which is another run" folds
sed '/^model/,/^}/c\model m on g { return x |> GraphConv(16, edge_weight = w) |> relu |> GraphConv(y.classes, edge_weight = w) }' weighted.gnn >sums.gnn
sums_first() { # with half of the device
  local device; device=$("$gnncc" -w --ranks=3 --budget device=1KiB sums.gnn 2>&1 | sed -n 's/.*--budget device=\([0-9.]*[KM]iB\) is the smallest.*/\1/p' | head -1)
  "$gnncc" -w --plan --ranks=3 sums.gnn | grep 'never change come once, before the first epoch: .*w' && "$gnncc" -w --plan --ranks=3 --budget device="$device" sums.gnn >plan && grep 'computed once, before the first epoch: graphconv1.m' plan && grep 'never change come in every epoch, .*w' plan
}
check "  sums of what never changes have room before them" sums_first
edge_kinds directed
cat >gate.gnn <<'MODEL'
layer Gate(x : node[f], out) {
  param t : [out] = ones
  q = Linear(x, out) as key
  return sum(sigmoid(t * (src.q - dst.q)) * tanh(dst.q - 2 * src.q)) over owns
}
MODEL
model related 'npy("directed")' '  h = x |> dropout(0.4) |> RGCN(8, bases = 2) |> relu
  h = (h |> GAT(8, dropout = 0.2) over cites) + (h |> Gate(8)) + (sum(src.h) over follows) + (h |> GCN(8))
  return h |> RGCN(y.classes, aggr = "max", root_weight = false)'
cat gate.gnn related.gnn >relations.gnn
check "relations, whose sums gather from the same tables, and dropout on their edges, on 3" same_bits relations 3
check "  and send to the byte what was announced" counts relations
cat >far.gnn <<'MODEL'
layer Far(x : node[f], out) {
  param W : [out, out]
  q = Linear(x, out) as key
  e = tanh(src.q - dst.q)
  return sum(sigmoid(e @ W) * (e - mean(e, axis = rows))) over owns
}
data g from npy("directed")
model m on g { return x |> Far(8) |> relu |> Far(y.classes) }
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3; metric = accuracy }
MODEL
check "products and means of values on a relation's edges, whose gradients go back to other ranks, on 3" same_bits far 3
check "  and send to the byte what was announced" counts far
types_of mag && types_model >types.gnn
check "several types of nodes, of which one has hardly any, with learned values, on 2 and 3" same_bits types 2 3
check "  and send to the byte what was announced" counts types
pairs_model >pairs.gnn
check "candidate pairs, others in each epoch, ranked among all, on 2, 3 and 8" same_bits pairs 2 3 8
in_the_mean() { # what goes back to the sources of pairs: announced within a fiftieth
  grep -o '"announced_bytes": [0-9]*, "counted_bytes": [0-9]*, "is_drawn": true' pairs_3.out/run.json | tr -dc '0-9 \n' | awk '{ print; off = $1 - $2; if (off < 0) off = -off; bad = bad || $2 == 0 || off > $2 / 50 } END { exit bad || NR != 1 }'
}
check "  of which as much passes in the mean as was announced" in_the_mean
goes_on_with_pairs() { rm -rf went && ranks 2 ./pairs_2 --threads 1 -q --epochs 2 --out went && ./pairs_1 --threads 1 -q --resume --out went && cmp went/last.safetensors pairs_1.out/last.safetensors; }
check "  a checkpoint of theirs goes on in one process, to the same bits" goes_on_with_pairs
sed 's/, resample = epoch//' pairs.gnn >fixed.gnn
check "  the same in every epoch, on 3" same_bits fixed 3
check "  and send to the byte what was announced" counts fixed
measures_pairs() { ranks 3 ./fixed_3 eval --threads 1 --weights fixed_1.out/last.safetensors >by_three && ./fixed_1 eval --weights fixed_1.out/last.safetensors >by_one && cat by_one && cmp by_one by_three; }
check "  and eval measures the same" measures_pairs
sed 's/synth(.*seed = 1)/karate()/; /node  x/d; s/split_edges(.*)/split_edges(valid = 0.05, test = 0.1, negatives = uniform(1), resample = epoch)/' pairs.gnn >few.gnn
check "  of a graph smaller than the ranks" same_bits few 4
sed 's/bce(out/bpr(out/' pairs.gnn >ranked.gnn
check "  that are ranked are refused" refuses "bpr compares scores of pairs" ranked.gnn
sed 's/epochs    = 4/&; approximate { boundary = stale(1) }/' pairs.gnn >behind.gnn
check "  so are rows of the epoch before" refuses "stale(1) is for labels of nodes" behind.gnn
check "  and ranks on GPUs" refuses "candidate pairs are for ranks on processors" --backend=cuda pairs.gnn
sed 's/epochs = 3/&; approximate { boundary = sample(0.5) }/' types.gnn >drawn.gnn
check "  and rows that are drawn of several types of nodes" refuses "sample(0.5) draws rows of one type" drawn.gnn
model learned 'npy("directed") {
  nodes = 9000
  node x : f32[32]
  node y : class[4]
  node own : learned[6]
}' '  h = concat(x, own) |> dropout(0.2) |> SAGE(8) |> relu
  return (h + Linear(own, 8)) |> GCN(y.classes)' '  keep = best(train.accuracy)
  checkpoint = every(2)'
check "learned values of nodes, of which a rank has its own, on 3" same_bits learned 3
goes_on_learned() { # of three ranks in one process, and the other way
  rm -rf went back && ranks 3 ./learned_3 --threads 1 -q --epochs 1 --out went && ./learned_1 --threads 1 -q --resume --out went && cmp went/last.safetensors learned_1.out/last.safetensors &&
    ./learned_1 --threads 1 -q --epochs 1 --out back && ranks 3 ./learned_3 --threads 1 -q --resume --out back && cmp back/last.safetensors learned_1.out/last.safetensors && cmp back/best.safetensors learned_1.out/best.safetensors
}
check "  checkpoints go on in one process, and from there" goes_on_learned
check "  gradients are those of one process" writes_alike learned 3 gradients.safetensors gradients
options='--cut=rows(2)' check "  in parts of a rank, too, on 2" same_bits learned 2
check "    of which the gradients are written" writes_alike learned 2 gradients.safetensors gradients
sed 's/adam(lr = 0.01)/&; clip = norm(1)/' learned.gnn >norm.gnn
check "  not with the norm of all gradients" refuses "clip = norm adds up" norm.gnn
rm directed/edge_type.npy directed/graph.json
cp "$here/../end_to_end/models/plans/edges4.gnn" edges.gnn
check "values on edges, on 3" same_bits edges 3
model small 'karate()' '  return x |> GCN(8) |> relu |> SAGE(y.classes)'
check "a graph smaller than the ranks: one has it, three are empty" same_bits small 4
peak() { # N PROGRAM ARGUMENT...: what the rank with most has had in memory, in bytes
  rm -f peak-* && ranks "$1" python3 -c 'import os, resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
open("peak-%d" % os.getpid(), "w").write("%d\n" % (1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)' "${@:2}" >/dev/null && sort -n peak-* | tail -1
}
bytes_of() { "./$1" info --json | grep -o '"process_bytes":[0-9]*' | cut -d: -f2; } # PROGRAM
touches() { # DATA METRIC: as much memory as is announced for the process, beyond a program without data, on 4; what MPI has is not counted
  sed "s|karate()|$1|; s/epochs = 3/epochs = 1/; s/metric = accuracy/metric = $2/" small.gnn >wide.gnn && compiles --ranks=4 wide.gnn -o wide_4 || return 1
  announced=$(($(bytes_of wide_4) - $(bytes_of small_4))) measured=$(($(peak 4 ./wide_4 --threads 1 -q --out wide.out) - $(peak 4 ./small_4 --threads 1 -q --out small.out)))
  echo "announced $announced, measured $measured" && [ $((measured * 100)) -lt $((announced * 108)) ] && [ $((measured * 100)) -gt $((announced * 92)) ] && echo $announced >announced
}
if command -v python3 >/dev/null; then
  "$build/gnndata" convert 'synth(kind = "rmat", nodes = 60000, degree = 10, features = 64, classes = 100, seed = 3)' wide.safetensors >/dev/null 2>&1
  check "a rank takes the memory that is announced" touches 'safetensors("wide.safetensors")' accuracy
  all_scores() { cp announced counted && touches 'safetensors("wide.safetensors")' mrr && [ $(($(cat announced) - $(cat counted))) -gt $((60000 * 100 * 4 * 3 / 4)) ]; }
  check "  where a metric is of the scores of all in their order, with these" all_scores
  own_edges() { # of those, one way and the other, sorting all takes 16 bytes for each that is stored; the rank with most has two fifths
    local edges
    edges=$("$build/gnndata" convert 'synth(kind = "rmat", nodes = 40000, degree = 60, features = 4, classes = 3, seed = 3)' many.safetensors 2>&1 | sed -n 's/^wrote .*nodes, \([0-9,]*\) edges.*/\1/p' | tr -d ,)
    touches 'safetensors("many.safetensors") { undirected = true }' accuracy && echo "$edges edges" && [ "$(cat announced)" -lt $((12 * edges)) ]
  }
  check "  where reading the data takes most, without the edges of others" own_edges
  python3 - <<'NPY'
import array, os, struct
def npy(name, kind, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head += ' ' * (63 - (10 + len(head)) % 64) + '\n'
    open('few/%s.npy' % name, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + data)
os.mkdir('few')
nodes, columns = 8200, 1000
x = array.array('f', bytes(4 * nodes * columns))
for i in range(0, nodes * columns, 100): x[i + i // 100 % 7] = 1
npy('x', '<f4', (nodes, columns), x.tobytes())
npy('y', '<i8', (nodes,), array.array('q', [i % 5 for i in range(nodes)]).tobytes())
npy('edge_index', '<i8', (2, nodes), array.array('q', [*range(nodes), *((7 * i + 1) % nodes for i in range(nodes))]).tobytes())
NPY
  few_numbers() { # of 8 MB of features that a rank reads, most of them zeros, a window is in memory at a time
    touches 'npy("few") { split = random(0.6, 0.2, 0.2) }' accuracy
    echo "announced $announced, measured $measured" && [ $((measured - announced)) -lt $((2 << 20)) ]
  }
  check "  of features with few numbers that are not 0, in a plain file" few_numbers
else skip "a rank takes the memory that is announced" "there is no python3"; fi
model keeps 'synth(kind = "rmat", nodes = 8200, degree = 5, features = 12, classes = 5, seed = 3)' '  return x |> TransformerConv(8, heads = 2) |> layer_norm |> relu |> TAG(y.classes)' '  keep = best(valid.accuracy)
  checkpoint = every(2)'
sed -i 's/(out, y)/(out, y, weights = [1, 2, 0.3, 4.1, 1.7])/' keeps.gnn
check "the best epoch is kept, with classes that weigh differently, on 2" same_bits keeps 2
sed -e 's/degree = 5, features = 12/degree = 5, features = 96/' -e 's/SAGE(16)/SAGE(64) |> relu |> SAGE(64)/' plain.gnn >tight.gnn
least() { "$gnncc" -w --ranks=2 --budget device=1KiB --budget host=64MiB tight.gnn 2>&1 | sed -n 's/.*--budget device=\([0-9.]*[KM]iB\) is the smallest.*/\1/p' | head -1; }
tight() { # what one rank has no room for moves to the host
  local device; device=$(least); echo "device $device"
  options="--budget device=$device --budget host=64MiB"
  "$gnncc" -w --plan --ranks=2 $options tight.gnn >plan && grep -q 'moves .*host' plan && same_bits tight 2
}
check "a device too small for a rank's values, on 2" tight
model cut 'synth(kind = "rmat", nodes = 34000, degree = 4, features = 12, classes = 5, seed = 3)' '  h = x |> dropout(0.2) |> SAGE(32) |> relu |> SAGE(32) |> batch_norm
  return h |> relu |> GAT(8, heads = 2, dropout = 0.2) |> GCN(y.classes)'
options="--cut=rows(2)"
check "values of ranks in parts, on 8" same_bits cut 8
options="--cut=rows(4)"
check "  on 3, of which one has more than others" same_bits cut 3
check "  and send to the byte what was announced" counts cut
next_columns() { # an exchange of columns begins before the sum of those before ends, whose table is another; and no number differs
  options="--cut=slices(2)"
  "$gnncc" -w --plan -v --ranks=4 $options cut.gnn >plan && grep '  net  .*exchange  .*slice_halo\|sage2.m.sum_slice.* = sum' plan | head -20 | cut -c1-140 &&
    awk '/exchange .*sage1.relu_slice_halo_2: / { begun = 1 } /sage2.m.sum_slice = sum .*\[[0-9]*\/[0-9]*\]/ { after = begun } END { exit !after }' plan && same_bits cut 4
}
check "  the next columns of a table on their way while the present ones are summed, on 4" next_columns
few_blocks() { "$gnncc" -w --ranks=8 '--cut=rows(4)' cut.gnn -o refused 2>messages; [ $? -eq 1 ] && cat messages && grep 'E0512.*rows(4): .* at most 2 parts' messages; }
check "  in no more parts than a rank has blocks" few_blocks
sliced() { # tables in two slices, and their exchanges; the rest on the host and the SSD
  options="--cut=slices(2) --budget device=8MiB --plan-effort=fast --budget host=8MiB --budget ssd=1GiB"
  "$gnncc" -w --plan -v --ranks=2 $options cut.gnn >plan && grep '^  moves .*to host.*to ssd' plan && grep 'sage2.m.sum in 2 slices' plan && [ "$(grep -c ' net  .*exchange .*slice_halo' plan)" -ge 4 ] && same_bits cut 2
}
check "  tables in slices, and values on the host and the SSD, on 2" sliced
taken_over() { # a plan of ranks, from its report: the same sources, and of another number of ranks it is refused
  local said="--cut=slices(2) --budget device=8MiB --plan-effort=fast --budget host=8MiB --budget ssd=1GiB"
  "$gnncc" -w --plan=json --ranks=2 $said cut.gnn >taken.json && "$gnncc" -q -w -S --ranks=2 $said cut.gnn -o searched && "$gnncc" -q -w -S --ranks=2 $said --plan-from=taken.json cut.gnn -o taken &&
    cmp searched/cut.c taken/cut.c && ! "$gnncc" -w --plan --ranks=3 $said --plan-from=taken.json cut.gnn >messages 2>&1 && grep 'E0510.*taken.json is not a plan for this program' messages
}
check "  by a plan that is given" taken_over
options=
away() { # TIER N OPTION...: the features of each rank at home there
  sed "\$a plan { fate \"x\" = $1 }" cut.gnn >away.gnn && rm -rf away_1.out && cp -r cut_1.out away_1.out && compiles --verify --ranks="$2" "${@:3}" away.gnn -o "away_$2" && trains "$2" away && alike away "$2"
}
check "  features on the host, in parts of which some ranks have fewer rows, on 3" away host 3 '--cut=rows(4)' --budget host=64MiB
of_one_host() { # the host has each row once, whichever ranks gather it
  "$gnncc" -w --plan -v --ranks=3 --policy=dedup '--cut=rows(4)' --budget host=64MiB away.gnn >plan && grep '(dedup): x$' plan && grep 'exchange x_halo (dedup): ' plan && grep ' h2d .* in x\[1/' plan && ! grep ' h2d .*x_halo' plan
}
check "  where each row leaves the host of one rank alone" of_one_host
check "  on the SSD, brought for slices, on 2" away ssd 2 '--cut=slices(2)' --budget host=8MiB --budget ssd=1GiB
check "  on both, where the host has no room for all of them, on 4" away host 4 --budget host=576KiB --budget ssd=1GiB
chosen() { # by itself, where whole values have no room: of three layers of 256 whose neighbours are anywhere
  sed -e 's/nodes = 2100/nodes = 41291594/; s/edges = 9000/edges = 1150725436/; s/f32\[12\]/f32[256]/; s/class\[5\]/class[64]/; s/SAGE(16)/SAGE(256) |> relu |> SAGE(256)/; s/GCN/SAGE/' shapes.gnn >web.gnn
  "$gnncc" -w --plan --backend=sim --shapes --target=a100x4 --plan-effort=fast web.gnn >plan && head -6 plan && grep '^  sage2 *forward .*slices(' plan && grep '^  ranks     4,' plan
}
check "a cut is chosen where whole values of ranks have no room" chosen
check "  and its exchanges pass beside sums of other columns and gradients of weights" eval 'share=$(sed -n "s/^  net .* of which \([0-9]*\) % beside.*/\1/p" plan) && echo "$share %" && [ "$share" -ge 60 ]'

# ---- commands ----

measures() { ./plain_1 eval --weights plain_1.out/last.safetensors >one && ranks 3 ./plain_3 eval --threads 1 --weights plain_1.out/last.safetensors >three && cmp one three; }
check "eval prints once what one process prints, of which each rank has counted its own rows" measures
check "predict writes what one process writes: scores, in numbers" writes_alike plain 3 scores.npy predict
check "  in a table" writes_alike plain 4 scores.csv predict --split valid
check "  classes of a split" writes_alike plain 8 classes.npy predict --classes --split test
check "  a value of a layer" writes_alike plain 3 layer.npy predict --layer sage1
check "  of nodes in a nested order" writes_alike ordered 3 scores.npy predict
check "  of a graph that one rank has" writes_alike small 4 scores.csv predict
check "  of candidate pairs" writes_alike fixed 3 scores.npy predict
has_no_table() { ! ranks 3 ./fixed_3 predict --threads 1 -o scores.csv 2>text && cat text && grep 'ranks write numbers alone' text && [ ! -e scores.csv ]; }
check "  which have no table" has_no_table
check "bench says once what an epoch takes" eval '[ "$(ranks 2 ./plain_2 bench --threads 1 --epochs 2 | grep -c "^2 epochs, 1 threads: median")" = 1 ]'
checks() { # in two instances, one after the other, whose exchanges are between other places
  ranks 3 ./plain_3 check --threads 1 >text 2>&1; local status=$?
  cat text
  [ $status -eq 0 ] && grep -x 'ran 1 epoch: loss [0-9.]* first, [0-9.]* last' text && grep '^process  announced .* measured .* MiB with what MPI takes$' text && [ "$(grep -cx 'data fit the plan' text)" = 1 ] &&
    grep -q "$(sed -n 's/^ran 1 epoch: loss \([0-9.]*\) .*/\1/p' text | cut -c1-7)" <(cut -d, -f3 plain_1.out/log.csv)
}
check "check says once what the rank with most memory takes" checks
profiles() { rm -f run.json; ranks 2 ./plain_2 profile --threads 1 >text && cat text && [ "$(grep -c '^wrote run.json: 5 epochs' text)" = 1 ] && grep -q '"measured": {"epochs": 5' run.json; }
check "  and profile writes the steps of the first" profiles
checks_behind() { sed 's/epochs = 6/epochs = 6; approximate { boundary = stale(1) }/' plain.gnn >behind.gnn && "$gnncc" -q -w --ranks=2 behind.gnn -o behind_2 && ranks 2 ./behind_2 check --threads 1 | grep -x 'data fit the plan'; }
check "  what is behind is on its way when an instance ends" checks_behind
refuse 2 "what is for one process is refused by name" ./plain_2 gradcheck
lists_none() { ./plain_2 --help >help_of_ranks && ./plain_1 --help >help_of_one && diff help_of_one help_of_ranks | grep '^[<>] *gradcheck\|^[<>] *--samples' | tr -s ' ' >lacks; cat lacks; grep -c '^< ' lacks | grep -x 2 && ! grep gradcheck help_of_ranks; }
check "  and is not in its help" lists_none
announces() { ranks 2 ./plain_2 --threads 1 --epochs 1 --out announced 2>&1 | tee text | grep "2 ranks" && [ "$(grep -c '^plain on\|^m on' text)" = 1 ]; }
check "the head of a training is printed once, and names the ranks" announces

tells_of_data() { # what one process does, and the ranks
  local name
  for name in plain types pairs; do "./${name}_3" info | grep '^ranks  *3, of which one has at most' && diff <("./${name}_1" info | grep '^data ') <("./${name}_3" info | grep '^data ') || return 1; done
  shapes() { "./$1" info --json | grep -o '"nodes":.*"split":[^]]*'; }
  ./plain_3 info --json | grep '"ranks":3,' && [ "$(shapes plain_1)" = "$(shapes plain_3)" ] && diff <(./types_1 --threads 1 --epochs 1 --out other | head -1) <(ranks 3 ./types_3 --threads 1 --epochs 1 --out other | head -1) && rm -r other
}
check "info says the numbers of the data, as the head of a training does, and the ranks" tells_of_data
tells_once() { # also what all ranks fail of
  printf none >damaged.safetensors && mkdir -p empty
  for line in "--help" "--version" "info" "eval --weights damaged.safetensors" "eval --weights gone.safetensors" "eval --out empty" "--resume --out empty" "eval --weights once_2.out/last.safetensors" "predict --weights plain_1.out/last.safetensors"; do
    ranks 3 ./plain_3 $line >text 2>&1
    grep -v '^-\|^Primary\|^mpirun' text | head -3
    [ "$(grep -c '^usage\|^fingerprint\|^plain_3: ' text)" = 1 ] || return 1
  done
}
sed 's/x |> SAGE(16) .*GCN(y.classes)/x |> GCN(y.classes)/' plain.gnn >once.gnn
diverges() { # on all ranks, of which each has its own first value that is not finite
  sed 's/adam(lr = 0.01)/sgd(lr = 1e6)/; s/metric = .*/metric = accuracy }/' plain.gnn >diverging.gnn && compiles --ranks=3 diverging.gnn -o diverging
  ranks 3 ./diverging --threads 1 --out other >text 2>&1
  [ $? -eq 5 ] && cat text && [ "$(grep -c 'error\[R0803\]' text)" = 1 ] && rm -rf other
}
check "a loss that is no number is told of once" diverges
one_step() { compiles --ranks=2 once.gnn -o once_2 && ranks 2 ./once_2 --threads 1 --epochs 1 --out once_2.out | grep '^exchanges: 1 step, .*; 1 of them, of .* bytes, before the first epoch$'; }
check "one exchange is one step" one_step
check "what all ranks have to say is said once" tells_once
no_colors() { ranks 2 ./plain_2 --threads 1 --out colors >text && cat text && ! grep $'\033' text && ranks 2 ./plain_2 --threads 1 --progress bar --out colors >text && rm -r colors && case $oversubscribe in ?*) grep $'\033' text ;; esac; }
check "no colours, and no bar, unless they are asked for" no_colors

# ---- going on ----

resumes() { # by another number of ranks, and by one process
  rm -rf went && ranks 4 ./plain_4 --threads 1 -q --epochs 3 --out went && cp -r went went_1 && ranks 3 ./plain_3 --threads 1 -q --resume --out went && cmp went/last.safetensors plain_1.out/last.safetensors &&
    ./plain_1 --threads 1 -q --resume --out went_1 && cmp went_1/last.safetensors plain_1.out/last.safetensors
}
check "a checkpoint goes on under another number of ranks" resumes
long() { sed 's/epochs = 6/epochs = 100000/' plain.gnn >long.gnn && compiles --ranks=3 long.gnn -o long; }
check "a long training" long
children() { pgrep -f "^./long --threads 1 .*--out $1" | sort -n; }
interrupted() { # SIGUSR1 to one rank: all stop at the same epoch, with a checkpoint
  # once it trains: there is a log
  rm -rf stopped && { ranks 3 ./long --threads 1 --progress none --every 1 --log csv --out stopped >text 2>&1 & }
  local job=$! tries=0 one
  while [ "$(wc -l <stopped/log.csv 2>/dev/null || echo 0)" -lt 3 ] && [ $tries -lt 200 ]; do sleep 0.1; tries=$((tries + 1)); done
  one=$(children stopped | tail -1)
  kill -USR1 "$one"
  wait $job
  cat text
  grep -q "stopped at epoch [0-9]* .* SIGUSR1" text && [ "$(grep -c "stopped at epoch" text)" = 1 ] && ls stopped/checkpoint-* && ranks 3 ./long --threads 1 -q --epochs 1 --resume --out stopped
}
check "a signal to one rank stops all at the same epoch, with a checkpoint" interrupted
killed() { # -9 of a rank at so many moments, the same each time: mpirun ends all, and what goes on from the last checkpoint, if there is one, has the bits of one process
  local kill job one status tries between=0
  sed 's/epochs = 6/epochs = 100; checkpoint = every(3)/' plain.gnn >mortal.gnn && compiles --ranks=3 mortal.gnn -o mortal && compiles --cut=whole mortal.gnn -o mortal_1 && ./mortal_1 --threads 1 -q --out straight || return 1
  RANDOM=5
  for kill in $(seq "$1"); do
    rm -rf dead && { ranks 3 ./mortal --threads 1 --progress none --out dead >text 2>&1 & }
    job=$!
    # Every second one after the first checkpoint, however long a busy machine takes to it.
    tries=0
    while [ $((kill % 2)) -eq 1 ] && ! ls dead/checkpoint-* >/dev/null 2>&1 && kill -0 $job 2>/dev/null && [ $tries -lt 600 ]; do sleep 0.05; tries=$((tries + 1)); done
    sleep 0.$(((kill % 2 ? RANDOM % 100 : RANDOM % 900) + 100))
    one=$(pgrep -f "^./mortal --threads 1 .*--out dead" | sort -n | sed -n "$((RANDOM % 3 + 1))p")
    [ -z "$one" ] || kill -9 "$one"
    wait $job
    status=$?
    [ $status -ne 124 ] && [ -z "$(pgrep -f "^./mortal --threads 1 .*--out dead")" ] || { echo "kill $kill: somebody hangs"; return 1; }
    if [ $status -eq 0 ]; then continue; fi
    if ls dead/checkpoint-* >/dev/null 2>&1; then
      between=$((between + 1))
      ranks 3 ./mortal --threads 1 -q --resume --out dead || return 1
    else
      rm -rf dead
      ranks 3 ./mortal --threads 1 -q --out dead || return 1
    fi
    cmp dead/last.safetensors straight/last.safetensors || { echo "kill $kill"; return 1; }
  done
  echo "$between of $1 after a checkpoint"
  [ $between -gt 0 ]
}
check "kill -9 of a rank at ${RANKS_KILLS:-3} moments ends all; the training goes on to the same bits" killed "${RANKS_KILLS:-3}"
mortal_long() { sed 's/epochs = 6/epochs = 100000; checkpoint = every(1)/' plain.gnn >long.gnn && compiles --ranks=3 long.gnn -o long; }
check "a training that keeps each epoch" mortal_long

# ---- ranks that do not fit together ----

other_count() { ranks 3 ./plain_2 --threads 1 --out other >text 2>&1; [ $? -ne 0 ] && cat text && [ "$(grep -c 'error\[R0809\]: the program is for 2 ranks, and 3 were started' text)" = 1 ] && [ ! -e other ]; }
check "another number of ranks is refused" other_count
alone_too() { ./plain_2 --out other >text 2>&1; [ $? -eq 1 ] && grep 'R0809.*1 was started' text; }
check "  so is none of mpirun" alone_too
other_build() { sed 's/GCN/SAGE/' plain.gnn >changed.gnn && compiles --ranks=2 changed.gnn -o changed_2 && { timeout 60 "$mpirun" $oversubscribe -np 1 ./plain_2 --threads 1 --out other : -np 1 ./changed_2 --threads 1 --out other >text 2>&1; [ $? -ne 0 ]; } && cat text && grep -q 'R0809\]: rank 1 has another program' text; }
check "  another program on one rank" other_build
other_seed() { { timeout 60 "$mpirun" $oversubscribe -np 1 ./plain_2 --threads 1 --out other : -np 1 ./plain_2 --threads 1 --seed 7 --out other >text 2>&1; [ $? -ne 0 ]; } && grep 'R0809\]: rank 1 has another --seed' text; }
check "  another seed on one rank" other_seed
fits_not() { # WORDS PROGRAM ARGUMENTS [PROGRAM] ARGUMENTS: on rank 0, and on rank 1; refused once, by name, without a wait
  local second=$2
  [ $# -lt 5 ] || second=$4
  timeout 60 "$mpirun" $oversubscribe -np 1 "./$2" $3 : -np 1 "./$second" ${!#} >text 2>&1
  local status=$?
  cat text
  [ $status -ne 0 ] && [ $status -ne 124 ] && [ "$(grep -c 'error\[' text)" = 1 ] && grep "^$2: error\[R0809\]: rank 1 has $1 than rank 0" text && [ ! -e other ]
}
own="--threads 1 --out other"
other_counts() { fits_not "a program for another number of ranks" plain_2 "$own" plain_3 "$own" && fits_not "a program for another number of ranks" plain_3 "$own" plain_2 "$own"; }
check "  a program for another number of ranks on one" other_counts
other_plan() { compiles --ranks=2 --policy=halo-recompute plain.gnn -o replanned_2 && fits_not "another plan" plain_2 "$own" replanned_2 "$own"; }
check "  another plan on one rank" other_plan
other_weights() { # start weights, of a folder, or of a checkpoint
  rm -rf begun && ./plain_1 --threads 1 -q --epochs 6 --seed 9 --out begun && fits_not "other weights" plain_2 "eval --threads 1 --weights begun/last.safetensors" "eval --threads 1 --weights plain_1.out/last.safetensors" &&
    fits_not "other weights" plain_2 "eval --threads 1 --out begun" "eval --threads 1 --out plain_1.out" && fits_not "other weights" plain_2 "--threads 1 --out claimed --weights begun/last.safetensors" "--threads 1 --out claimed --weights plain_1.out/last.safetensors" &&
    fits_not "another checkpoint" plain_2 "$own --resume=$(ls begun/checkpoint-*)" "$own --resume=$(ls plain_1.out/checkpoint-*)"
}
check "  other weights or another checkpoint on one rank" other_weights
other_line() {
  local weights="--threads 1 --weights plain_1.out/last.safetensors"
  fits_not "another --nan" plain_2 "$own" "$own --nan=continue" && fits_not "another --every" plain_2 "$own" "$own --every 2" && fits_not "another command" plain_2 "train" "eval $weights" && fits_not "another --out" plain_2 "--threads 1" "$own" &&
    fits_not "another --split" plain_2 "eval $weights" "eval $weights --split bogus" && fits_not "another --split" plain_2 "eval $weights --split test" "eval $weights"
}
check "  another command or option on one rank" other_line
wrong_line() { # on one rank, or on all
  timeout 60 "$mpirun" $oversubscribe -np 1 ./plain_2 --threads 1 --out other : -np 1 ./plain_2 --bogus >text 2>&1; local status=$?
  cat text
  [ $status -ne 0 ] && [ $status -ne 124 ] && grep '^plain_2: rank 1: unknown option --bogus' text && grep 'R0809\]: rank 1 has another command line' text && ! ranks 2 ./plain_2 --bogus >text 2>&1 && cat text && [ "$(grep -c 'unknown option' text)" = 1 ] &&
    ! ranks 2 ./plain_2 eval --split bogus >text 2>&1 && cat text && [ "$(grep -c 'split takes' text)" = 1 ] && [ ! -e other ]
}
check "  a command line that is wrong on one rank; what is wrong on all is said once" wrong_line
other_data() {
  local data
  for program in on_directed_3 given_3; do # of which one reads all features, the other those of its nodes and of rank 0's
    [ $program = given_3 ] && data=oneway || data=directed
    rm -rf changed_data && cp -r $data changed_data && perl -e 'open my $f, "+<:raw", "changed_data/x.npy"; seek $f, 4096, 0; print $f pack("f<", 3.5)' || return 1
    { timeout 60 "$mpirun" $oversubscribe -np 2 ./$program --threads 1 --out other : -np 1 ./$program --threads 1 --data changed_data --out other >text 2>&1; [ $? -ne 0 ]; } && cat text && grep -q 'R0809\]: rank 2 has other features than rank 0' text || return 1
  done
  ! timeout 60 "$mpirun" $oversubscribe -np 2 ./given_3 eval --threads 1 --weights given_1.out/last.safetensors : -np 1 ./given_3 eval --threads 1 --weights given_1.out/last.safetensors --data changed_data >text 2>&1 && cat text && grep -q 'R0809\]: rank 2 has other features than rank 0' text
}
not_read() { # what no rank keeps or compares makes no difference: of rank 1's rows in the file of rank 2
  cp -r oneway unread_data && perl -e 'open my $f, "+<:raw", "unread_data/x.npy"; seek $f, 128 + 4 * 32 * 5000, 0; print $f pack("f<", "nan")' && ! ./given_1 --data unread_data --threads 1 -q --out other >text 2>&1 && grep E0705 text &&
    timeout 60 "$mpirun" $oversubscribe -np 2 ./given_3 --threads 1 -q --out other : -np 1 ./given_3 --threads 1 -q --data unread_data --out other && cmp other/last.safetensors given_1.out/last.safetensors && rm -r other
}
check "  other features on one rank" other_data
check "  features of nodes of others are not read" not_read
other_edges() { # between nodes of rank 0, which rank 2 reads and does not keep
  cp -r oneway moved_data && perl -e 'open my $f, "+<:raw", "moved_data/edge_index.npy"; local $/; my $all = <$f>; my $head = length($all) - 640000; my @ends = unpack("q<*", substr($all, $head));
    for my $e (0 .. 39999) { next if $ends[$e] > 1500 || $ends[40000 + $e] > 1500; $ends[40000 + $e] = ($ends[40000 + $e] + 1) % 1500; last } seek $f, $head, 0; print $f pack("q<*", @ends)' &&
    { timeout 60 "$mpirun" $oversubscribe -np 2 ./given_3 --threads 1 --out other : -np 1 ./given_3 --threads 1 --data moved_data --out other >text 2>&1; [ $? -ne 0 ]; } && cat text && grep -q 'R0809\]: rank 2 has other edges' text
}
check "  other edges on one rank" other_edges
other_order() { # the same path, but another file there
  sed 's/npy("directed")/npy("directed") { order = "own.order" }/; s/GAT(8, heads = 2, dropout = 0.3)/GCN(8)/' on_directed.gnn >ordered.gnn && mkdir -p elsewhere && ln -sf ../directed elsewhere/directed &&
    "$build/gnndata" order directed --method given -o own.order && "$build/gnndata" order directed --method degree -o elsewhere/own.order && compiles --ranks=2 ordered.gnn -o ordered_2 &&
    { timeout 60 "$mpirun" $oversubscribe -np 1 ./ordered_2 --threads 1 --out other : -wdir "$PWD/elsewhere" -np 1 ../ordered_2 --threads 1 --out other >text 2>&1; [ $? -ne 0 ]; } && cat text && grep -q 'rank 1: error.*the order "own.order" is not the one' text && [ ! -e other ]
}
check "  another order file on one rank" other_order
late() { # a rank that is stopped is named by the two others, which are not, wherever they wait for it; it goes on, and all end
  rm -rf slow && { GNN_PATIENCE=0.5 ranks 3 ./long --threads 1 --progress none --out slow >text 2>&1 & }
  local job=$! tries=0 one
  while ! ls slow/checkpoint-* >/dev/null 2>&1 && [ $tries -lt 600 ]; do sleep 0.05; tries=$((tries + 1)); done
  one=$(for one in $(children slow); do tr '\0' '\n' <"/proc/$one/environ" | grep -q '^\(OMPI_COMM_WORLD_RANK\|PMI_RANK\)=1$' && echo "$one"; done)
  sleep "0.$1"
  kill -STOP "$one"
  tries=0
  while [ "$(grep -c "still waiting" text)" -lt 2 ] && [ $tries -lt 200 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -CONT "$one"
  sleep 0.2
  kill -USR1 "$one"
  wait $job
  cat text
  [ "$(grep -c "^long: rank [02]: step [0-9]* (.*): has waited for 0.5 s; late: rank 1\(; .*\)\?; still waiting" text)" = 2 ] && [ "$(grep -c "still waiting" text)" = 2 ] && grep "stopped at epoch [0-9]* .* SIGUSR1" text
}
check "a rank that is late is named" late 1
check "  at another moment" late 37
no_patience() { GNN_PATIENCE=$1 ranks 2 ./plain_2 --threads 1 --out other >text 2>&1; [ $? -eq 2 ] && cat text && [ "$(grep -c "^plain_2: error: GNN_PATIENCE takes seconds, a number above 0, not \"$1\"" text)" = 1 ] && [ ! -e other ]; }
check "  after a time that is one" eval 'no_patience 0 && no_patience soon'
built_from_sources() { make -s -C sources MPI=yes CFLAGS=-O1 && rm -rf s.out && ranks 2 sources/plain --threads 1 -q --out s.out && cmp s.out/last.safetensors plain_1.out/last.safetensors; }
check "sources of -S build with MPI=yes, and have the bits" built_from_sources
by_cmake() { # with the MPI of that mpirun; MPICC's CFLAGS are the environment's
  cmake -S sources -B by_cmake -DCMAKE_BUILD_TYPE=Debug -DMPI_C_COMPILER="$(command -v "${MPICC:-mpicc}")" && cmake --build by_cmake && rm -rf s.out && ranks 2 by_cmake/plain --threads 1 -q --out s.out && cmp s.out/last.safetensors plain_1.out/last.safetensors
}
if command -v cmake >/dev/null; then check "  by CMake, too" by_cmake; else skip "  by CMake, too" "cmake is not installed"; fi
finish
