#!/bin/bash
# standin.sh BUILD [long]: programs of ranks on a stand-in for MPI (standin/mpi.c), whose messages come as late and in as odd an order as they may: the bits of one process, under the sanitizers; what
# happens when MPI fails; and that each wait and each exchange is needed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
scale=${2:-short}
. "$here/../tap.sh"
. "$here/../end_to_end/graphs.sh"
gnncc=$build/gnncc
workplace
export MPICC=$here/standin/mpicc
flags="-march=native -ffp-contract=off"

graph_of directed
# Rows of sources, of destinations and values on edges travel, sums over rows and numbers of parts.
{ gate_layer; cat <<'MODEL'; } >every.gnn
data g from npy("directed")
model every on g {
  near = Linear(sum(dropout(src.x, 0.3)), y.classes) # what was exchanged before the first epoch is read by the first steps
  h = x |> dropout(0.4) |> GAT(4, heads = 2, dropout = 0.3) |> batch_norm |> elu
  top = max(near, to = graph)
  return near + (h |> Gate(4) |> SAGE(y.classes)) - 0.3 * graph.top
}
train every { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2; metric = accuracy }
MODEL

program=every
one_process() { rm -rf one && CFLAGS=-O0 "$gnncc" -q -w --cut=whole $program.gnn -o ${program}_1 && ./${program}_1 --threads 1 -q --every 1 --log csv --out one; }
check "one process" one_process
check "sources of three ranks" "$gnncc" -q -w -S --ranks=3 every.gnn -o every
run() { # SEED PROGRAM ARGUMENT...: three ranks
  local seed=$1
  shift
  STANDIN_RANKS=3 STANDIN_SEED=$seed timeout 60 "$@"
}
alike() { diff <(cut -d, -f1-7 one/log.csv) <(cut -d, -f1-7 out/log.csv) && cmp one/last.safetensors out/last.safetensors; }
trains() { # SEED PROGRAM [THREADS]
  rm -rf out && run "$1" "$2" --threads "${3:-1}" -q --every 1 --log csv --out out && alike
}

# ---- under the sanitizers ----

# The runtime of `make watched`, where there is one.
for library in "$build/watched/share/libgnnrt.a address,undefined" "$build/threads/share/libgnnrt.a thread"; do
  read -r archive sanitizer <<<"$library"
  [ ! -e "$archive" ] || ld -r -o "runtime_$sanitizer.o" --whole-archive "$archive"
done
watched() { # SANITIZER: $program/$program
  rm -f $program/*.o $program/$program
  [ ! -e "runtime_$1.o" ] || cp "runtime_$1.o" $program/gnnrt.o
  make -s -C $program MPI=yes CFLAGS="-O0 -g $flags -fsanitize=$1 -fno-sanitize-recover=all"
}
impatient() { GNN_PATIENCE=0.0001 trains 2 every/every 2; }
for sanitizer in address,undefined thread; do
  check "compiled under $sanitizer" watched $sanitizer
  check "  three ranks have the bits of one process" trains 1 every/every 2
  check "  also where they ask who is late" impatient
done

again() { # rows that never change, in every epoch
  local seed
  CFLAGS=-O0 "$gnncc" -q -w --ranks=3 --policy=dedup every.gnn -o again && for seed in 1 2 3; do trains $seed ./again 2 || return 1; done
}
check "  and where rows that never change come in every epoch" again

# ---- in many orders; without a wait, without an exchange ----

# Each call that sends, and each wait of the net, can be left out by its line.
cat >left_out.h <<'C'
char *getenv(const char *name);
int atoi(const char *text);
static inline int left_out(int line) {
  const char *text = getenv("LEFT_OUT");
  return text && atoi(text) == line;
}
C
lines_of() { awk '/left_out\(/ { print NR }' "$1"; }
makes() { make -s -C "$1" MPI=yes CFLAGS="-O0 $flags -include $PWD/left_out.h"; }
marks() { # in $program
  rm -f $program/*.o $program/$program
  ld -r -o $program/gnnrt.o --whole-archive "$build/share/libgnnrt.a"
  sed -i -E 's/^( +)(gnn_((sum|max)_ranks|gather_parts)[a-z_]*\(|gnn_parallel\(g->team, gnn_sent_rows\()/\1if (!left_out(__LINE__)) \2/; s/^( +)if \(\(status = gnn_copy\(/\1if (!left_out(__LINE__) \&\& (status = gnn_copy(/' $program/$program.c
  # The lane of the net does one exchange after the other: who has waited for a later one has waited for this, as has who waits for a later one before anything else is done, and those that read what came before the first epoch behind an exchange of it.
  awk '/^static gnn_status / { latest = -1; is_once = / once\(/ }
    { line[NR] = $0 }
    match($0, /gnn_await\(g, [0-9]+/) {
      copy = substr($0, RSTART + 13, RLENGTH - 13) + 0
      if (!is_once && copy > latest) { latest = copy; delete is_needed[last]; is_needed[last = NR] }
      next
    }
    !/^ *(\/?\*|$|gnn_(enter|leave)\()/ { last = 0 }
    END { for (i = 1; i <= NR; i++) { if (i in is_needed) sub(/if \(\(status/, "if (!left_out(__LINE__) \\&\\& (status", line[i]); print line[i] } }' $program/$program.c >$program/marked.c && mv $program/marked.c $program/$program.c
  makes $program
}
can_leave_out() {
  marks && cp -r every waits && rm waits/every waits/gnnmpi.o && sed -i -E 's/if \(is_over\) break;/if (is_over || left_out(__LINE__)) break;/' waits/gnnmpi.c && makes waits &&
    [ "$(lines_of waits/gnnmpi.c | wc -l)" -ge 2 ] && [ "$(lines_of every/every.c | wc -l)" -ge 10 ] && for call in sent_rows copy await sum_ranks max_ranks gather_parts; do grep -q "left_out.*gnn_$call" every/every.c || return 1; done
}
check "a program in which each of these can be left out" can_leave_out
one_thread() { # each exchange is started and awaited by the steps; values that are moved, too, beside the lanes of the host
  STANDIN_ONE_THREAD=1 trains 4 every/every 2
}
check "three ranks whose MPI takes calls of one thread alone" one_thread
seeds() { # FIRST LAST
  local seed
  for seed in $(seq "$1" "$2"); do trains "$seed" every/every || { echo "seed $seed"; return 1; }; done
}
[ "$scale" = long ] && last=200 || last=6
check "three ranks in the orders of seeds 2 to $last" seeds 2 $last
shows() { # LINE PROGRAM: in one of a few orders, as an exchange may be over before a sum beside it is; in the last one none is
  local seed late
  for seed in $(seq 1 13); do
    rm -rf out
    late=$((seed > 12 ? 50 : 0))
    STANDIN_LATE_MS=$late LEFT_OUT=$1 run $seed "$2" --threads 1 -q --every 1 --log csv --out out >text 2>&1 && alike >text || return 0
  done
  return 1
}
caught() { # SOURCE PROGRAM [OF]: whatever is left out changes a number, or ends the program; in the short form every OFth line
  local line of=${3:-1}
  [ "$scale" = short ] || of=1
  for line in $(lines_of "$1" | awk -v of="$of" 'NR % of == 0'); do shows "$line" "$2" || { echo "line $line is not needed:"; sed -n "${line}p" "$1"; return 1; }; done
}
check "without one exchange or sum over ranks, one after the other, a number differs" caught every/every.c every/every 2
check "the program whose waits can be left out has the bits, too" trains 1 waits/every
check "  without one wait of the net it ends, or a number differs" caught waits/gnnmpi.c waits/every

# ---- candidate pairs, drawn anew in each epoch: other messages each time ----

program=pairs
pairs_model | sed 's/epochs    = 4/epochs = 2/' >pairs.gnn
check "candidate pairs in one process" one_process
check "  sources of three ranks" "$gnncc" -q -w -S --ranks=3 pairs.gnn -o pairs
check "  compiled under address,undefined" watched address,undefined
check "  three ranks have the bits of one process" trains 1 pairs/pairs 2
check "  a program in which each exchange can be left out" marks
check "  without one exchange or sum over ranks, one after the other, a number differs" caught pairs/pairs.c pairs/pairs 2

# ---- values in parts, tables in slices ----

program=cut
cat >cut.gnn <<'MODEL'
data g from synth(kind = "rmat", nodes = 17000, degree = 3, features = 6, classes = 3, seed = 3)
model cut on g { return x |> SAGE(32) |> relu |> SAGE(32) |> batch_norm |> GCN(4) |> SAGE(y.classes) }
train cut { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2; metric = accuracy }
MODEL
check "values in parts in one process" one_process
check "  sources of three ranks" "$gnncc" -q -w -S --verify --ranks=3 '--cut=slices(2)' cut.gnn -o cut
for sanitizer in address,undefined thread; do
  check "  compiled under $sanitizer" watched $sanitizer
  check "  three ranks have the bits of one process" trains 1 cut/cut 2
done
check "  a program in which each exchange can be left out" marks
check "  without one exchange or sum over ranks, one after the other, a number differs" caught cut/cut.c cut/cut 3

# ---- sums over columns of all rows, of which the last rank has fewer ----

program=columns
cat >columns.gnn <<'MODEL'
data g from npy("directed")
model columns on g { return x |> dropout(0.3) |> GCN(20) |> relu |> SAGE(20) |> GCN(y.classes) }
train columns { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2; metric = accuracy }
plan { policy = transpose }
MODEL
alone() { rm -rf one && sed '/^plan/d' columns.gnn >alone.gnn && CFLAGS=-O0 "$gnncc" -q -w --cut=whole alone.gnn -o columns_1 && ./columns_1 --threads 1 -q --every 1 --log csv --out one; }
check "sums over columns, in one process" alone
by_columns() { "$gnncc" -q -w -S --verify --ranks=3 columns.gnn -o columns && [ "$(grep -c 'GNN_LANE_NET.*(transpose)' columns/columns.c)" -ge 6 ]; }
check "  sources of three ranks" by_columns
for sanitizer in address,undefined thread; do
  check "  compiled under $sanitizer" watched $sanitizer
  check "  three ranks have the bits of one process" trains 1 columns/columns 2
done
one_thread_of_columns() { STANDIN_ONE_THREAD=1 trains 4 columns/columns 2; }
check "  also where MPI takes calls of one thread alone" one_thread_of_columns
check "  a program in which each exchange can be left out" marks
check "  without one exchange or sum over ranks, one after the other, a number differs" caught columns/columns.c columns/columns 2

# ---- what is asked for that is not exact ----

cat >net.gnn <<'MODEL'
layer Net(x : node[f], hidden, out) {
  param W1 : [f, hidden] = ones
  param W2 : [hidden, out] = ones
  z = tanh(0.1 * (x @ W1))
  h = tanh(z + 0.3 * sum(src.z))
  return tanh(h + 0.3 * sum(src.h)) @ W2
}
data g from npy("directed") { duplicates = keep }
model net on g { return Net(x, 2, y.classes) as net }
train net { loss = cross_entropy(out, y); optimizer = sgd(lr = 100); epochs = 7; approximate { boundary = BOUNDARY } }
MODEL
model=net
asks_for() { # BOUNDARY NAME: of $model, on three ranks
  sed "s/BOUNDARY/$1/" "$model.gnn" >"$2.gnn" && CFLAGS=-O0 "$gnncc" -q -w --verify --ranks=3 "$2.gnn" -o "$2"
}
is_defined() { # BOUNDARY NAME KIND NUMBER: the losses of plain loops, from the second epoch on others than exact ones; the same in another order of messages
  asks_for "$1" "$2" && rm -rf "$2.out" "$2_again.out" && run 1 "./$2" --threads 1 -q --every 1 --log csv --out "$2.out" && run 5 "./$2" --threads 2 -q --every 1 --log csv --out "$2_again.out" &&
    cmp "$2.out/last.safetensors" "$2_again.out/last.safetensors" && grep -a -q "boundary = $3" "$2.out/last.safetensors" && grep "\"approximation\": \"boundary = $3" "$2.out/run.json" && "./$2" info | grep "boundary = $3.*not exact" &&
    ./boundary directed "$3" "$4" 7 $begin >defined && ./boundary directed exact 0 7 $begin >exact && cut -d, -f3 "$2.out/log.csv" | tail -7 | paste - defined exact >losses && cat losses &&
    awk '{ other = other || ($1 - $3)^2 > 1e-6 * $3^2; if (($1 - $2)^2 > 1e-8 * $2^2) exit bad = 1 } END { exit bad || !other || NR != 7 }' losses
}
plain_loops() {
  ${OMPI_CC:-gcc} -O1 -Wall -I"$here/../.." "$here/boundary.c" -o boundary -lm && "$gnncc" -q -w -S --ranks=3 every.gnn -o begins && begin=$(sed -n 's/.*first_row\[\] = {\(.*\)};/\1/p' begins/every.c | tr -d ,) && echo "$begin"
}
check "a training by plain loops over all edges" plain_loops
check "  boundary = stale(1) is its definition" is_defined 'stale(1)' stale stale 0
late_at_the_end() { for command in "train --epochs 2 --out late.out" "bench --epochs 2 --warmup 0"; do STANDIN_LATE_MS=300 run 1 ./stale $command --threads 1 -q || return 1; done; }
check "  what comes after the last epoch finds its place, though nobody asks for it" late_at_the_end
check "  with averages" is_defined 'stale(1, smooth = 0.6)' smooth stale 0.6
check "  boundary = sample(0.3)" is_defined 'sample(0.3)' sample sample 0.3
# The same sums, each of three relations that have all edges between them.
cp -r directed kinds && edge_kinds kinds
sed 's/npy("directed")/npy("kinds")/; s/sum(src.\(.\))/(sum(src.\1) over cites + sum(src.\1) over follows + sum(src.\1) over owns)/' net.gnn >related.gnn
model=related
check "  so are both of sums over relations: stale(1)" is_defined 'stale(1)' stale_related stale 0
check "  and sample(0.3)" is_defined 'sample(0.3)' sample_related sample 0.3
model=net
goes_on() { # the rows of an epoch are drawn by its number
  rm -rf went && run 2 ./sample --threads 1 -q --epochs 3 --out went && run 3 ./sample --threads 1 -q --resume --out went && cmp went/last.safetensors sample.out/last.safetensors
}
check "  which goes on from a checkpoint to the same bits" goes_on
undirected() { # both directions have the same edges, but not when rows are drawn; with a share of 1 all of them are
  model_of() { printf 'data g from synth(kind = "rmat", nodes = 8200, degree = 5, features = 8, classes = 3, seed = 3)\nmodel m on g { return x |> SAGE(4) |> relu |> SAGE(4) |> relu |> GCN(y.classes) }\ntrain m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 4%s }\n' "$1"; }
  model_of '; approximate { boundary = sample(1) }' >all.gnn && model_of '' >none.gnn && CFLAGS=-O0 "$gnncc" -q -w --ranks=3 all.gnn -o all && CFLAGS=-O0 "$gnncc" -q -w --cut=whole none.gnn -o none &&
    run 1 ./all --threads 1 -q --out all.out && ./none --threads 1 -q --out none.out && ./none eval --weights none.out/last.safetensors >by_one && run 1 ./all eval --threads 1 --weights all.out/last.safetensors >by_three && cmp by_one by_three
}
check "  of all rows it is exact, on an undirected graph, too" undirected
elsewhere() { # of an exact one by an approximate one, the reverse, and of another approximation
  local pair program folder words
  for pair in all:none: none:all:'with boundary = sample(1); this one is exact' stale:sample:'with boundary = sample(0.3); this one has boundary = stale(1)' sample:stale:'with boundary = stale(1); this one has boundary = sample(0.3)'; do
    IFS=: read -r program folder words <<<"$pair"
    rm -rf other && cp -r "$folder.out" other && ! run 1 "./$program" --threads 1 -q --resume --epochs 9 --out other >text 2>&1 && cat text && grep "R0804.*other/checkpoint-.*another program.*$words" text && diff -r other "$folder.out" || return 1
  done
}
check "  no checkpoint of another boundary is taken" elsewhere
one_rank() { "$gnncc" -w --ranks=1 -q sample.gnn -o sample_1 && ./sample_1 --epochs 1 --out alone | grep 'boundary = sample(0.3): one process has no boundary, this is exact' && grep '"approximation": "none: one process' alone/run.json && ./sample_1 info | grep 'this is exact'; }
check "  in one process nothing is approximate, which is said" one_rank
stays_named() { # what was approximate before
  rm -rf went && run 2 ./sample --threads 1 -q --epochs 3 --out went && ./sample_1 --epochs 4 --resume --out went | grep 'boundary = sample(0.3) in epochs before, of ranks' && ./sample_1 --epochs 5 --resume --out went | grep 'boundary = sample(0.3) in epochs before' &&
    grep '"approximation": "boundary = sample(0.3)"' went/run.json && grep -a -q '"gnncc.approximation":"boundary = sample(0.3)"' went/last.safetensors && grep -a -q 'boundary = sample(0.3)' went/checkpoint-r0-e000005.safetensors && ! grep -a boundary alone/last.safetensors
}
check "  but what was stays named" stays_named
begins_with() { # PROGRAM WEIGHTS WORDS: a training that begins with weights of an approximate one says so, and so do its files
  rm -rf went && run 1 "./$1" --threads 1 --epochs 1 --weights "$2.out/last.safetensors" --out went >text && cat text && grep "^not exact, with the weights that it begins with: $3$" text && grep "\"approximation\": \"$3\"" went/run.json &&
    grep -a -q "\"gnncc.approximation\":\"$3\"" went/last.safetensors && grep -a -q "\"gnncc.approximation\":\"$3\"" went/checkpoint-* && run 1 "./$1" --threads 1 --epochs 2 --resume --out went >text && head -3 text && grep "   $3${4:-}" text && grep "\"approximation\": \"$3\"" went/run.json
}
weights_are_named() { # exact programs of ranks and of one process, and another boundary; not where all was exact
  sed 's/; approximate {.*} }/ }/' sample.gnn >exact.gnn && CFLAGS=-O0 "$gnncc" -q -w --ranks=3 exact.gnn -o exact_3 && begins_with exact_3 sample 'boundary = sample(0.3)' ' in epochs before, of ranks; what follows is exact' &&
    begins_with sample_1 stale 'boundary = stale(1)' ' in epochs before, of ranks; one process' && begins_with stale sample 'boundary = sample(0.3), then boundary = stale(1)' &&
    rm -rf went && run 1 ./exact_3 --threads 1 --epochs 1 --weights alone/last.safetensors --out went >text && ! grep 'not exact' text && ! grep approximation went/run.json && ! grep -a boundary went/last.safetensors
}
check "  also of the weights that a training begins with" weights_are_named
not_linear() { sed 's/epochs = 2/epochs = 2; approximate { boundary = sample(0.5) }/' every.gnn >odd.gnn && ! "$gnncc" -q -w --ranks=3 odd.gnn -o odd 2>messages && cat messages && grep 'E0110.*boundary = sample(0.5): drawn rows are for sums.*stale(1) takes it' messages; }
check "  rows are not drawn for attention, which is refused by name" not_linear
in_half() { local name; for name in sample smooth; do "$gnncc" -w --ranks=3 --precision=bf16 $name.gnn -o half 2>messages; [ $? -eq 1 ] && cat messages && grep "E0110.*boundary = .*no --precision=bf16" messages || return 1; done; }
check "  nor are rows of 16 bits counted several times or averaged" in_half
any_model() { sed 's/sample(0.5)/stale(1)/' odd.gnn >behind.gnn && CFLAGS=-O0 "$gnncc" -q -w --verify --ranks=3 behind.gnn -o behind && run 4 ./behind --threads 1 -q --out behind.out; }
check "  but may be those of the epoch before" any_model
planned() { "$gnncc" -w --plan --ranks=3 sample.gnn | grep 'not exact boundary = sample(0.3)' && "$gnncc" -w --plan --ranks=3 stale.gnn | grep 'not exact boundary = stale(1)' && "$gnncc" -w --plan=json --ranks=3 stale.gnn | grep '"approximation"'; }
check "  and plans name it" planned

# ---- when MPI fails ----

fails() { # KIND NUMBER WORDS: a fault on rank 1 ends all with rank, step and message
  STANDIN_FAULT=$1:1:$2 run 1 every/every --threads 1 -q --out failed >text 2>&1 && return 1
  cat text
  [ "$(grep -c 'error\[R0810\]: rank 1: step [1-9][0-9]* (.*)' text)" = 1 ] && grep -q "$3" text && grep -q -- "--resume goes on" text
}
check "a message that fails is told of with rank, step, peer and what MPI says" fails message 20 '[0-9]* bytes [a-z]* rank [02]: a fault that a test asked for'
check "  one that cannot be started" fails start 21 'MPI_Startall: a fault that a test asked for'
check "  sums that cannot be gathered" fails gather 20 'MPI_Iallgatherv: a fault that a test asked for'
truncated() { # what rank 1 sends is a byte short: the rank that gets it says so
  local number
  for number in $(seq 20 40); do
    STANDIN_FAULT=short:1:$number run 1 every/every --threads 1 -q --out failed >text 2>&1 || break
  done
  cat text
  grep -q 'error\[R0810\]: rank [02]: step [1-9][0-9]* (.*): [0-9]* bytes from rank 1, and [0-9]* were to come' text
}
check "  a message of another length" truncated
finish
