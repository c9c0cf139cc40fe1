#!/bin/bash
# run.sh BUILD: what gnncc says of mistakes that the front end alone cannot see: plans, pins, tools and the contents of data. TAP on stdout.
#   NAME.gnn + NAME.expected   messages and exit status; NAME.args holds options. BLESS=1 rewrites what is expected.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work" "$tap_log"' EXIT
cd "$here" || exit 2
export XDG_CACHE_HOME=$work/cache CUDA_HOME=/nowhere
unset CUDA_PATH GNNCC_FLAGS GNNCC_PATH GNNCC_TARGET
# Data with every fault that a pass over them finds, by one array each.
perl -e '
  my $folder = $ARGV[0];
  sub put {
    my ($name, $file, $type, $shape, $bytes) = @_;
    mkdir "$folder/$name";
    my $header = "{\x27descr\x27: \x27$type\x27, \x27fortran_order\x27: False, \x27shape\x27: ($shape), }";
    $header .= " " x (63 - (10 + length $header) % 64) . "\n";
    open my $out, ">:raw", "$folder/$name/$file.npy" or die;
    print $out "\x93NUMPY\x01\x00", pack("v", length $header), $header, $bytes;
  }
  for my $name (qw(sound endpoint label one_way looped nan scale splits)) {
    put($name, "edge_index", "<i8", "2, 6", pack("q<*", $name eq "one_way" ? (0, 0, 0, 1, 1, 2, 1, 2, 3, 2, 3, 3) : $name eq "looped" ? (0, 1, 1, 2, 2, 3, 1, 0, 2, 1, 2, 3) : (0, 1, 1, 2, 2, $name eq "endpoint" ? 9 : 3, 1, 0, 2, 1, 3, 2)));
    put($name, "x", "<f4", "4, 2", pack("f<*", 1, $name eq "nan" ? "nan" : 0.5, 2, 1, 3, $name eq "scale" ? 5e6 : 2, 1, 1));
    put($name, "y", "<i8", "4,", pack("q<*", 0, 1, 0, $name eq "label" ? 7 : 1));
    put($name, "train_mask", "|b1", "4,", pack("C*", 1, 1, 0, 0));
    put($name, "test_mask", "|b1", "4,", pack("C*", 0, $name eq "splits", 1, 1));
  }
  for my $name (qw(typed typed_set)) { # two graphs, as to_gnncc.py writes them
    put($name, "a.batch_num_nodes", "<i8", "2,", pack("q<*", 1, 2)) if $name eq "typed_set";
    put($name, "a.x", "<f4", "3, 1", pack("f<*", 1, 2, 3));
    put($name, "b.x", "<f4", "2, 2", pack("f<*", 4, 5, 6, 7));
    put($name, "b.y", "<i8", "2,", pack("q<*", 0, 1));
    put($name, "a__r__b.edge_index", "<i8", "2, 3", pack("q<*", 0, 1, 2, 0, 1, 1));
    open my $json, ">", "$folder/$name/graph.json" or die;
    print $json q({"node_types": ["a", "b"], "relations": [["a", "r", "b"]]});
  }
  put("fractions", "edge_index", "<i8", "2, 2", pack("q<*", 0, 1, 1, 0));
  put("fractions", "x", "<f4", "2, 2", pack("f<*", 1, 2, 3, 4));
  put("fractions", "y", "<f4", "2,", pack("f<*", 0, 1.5));
  put("fractions", "train_mask", "|b1", "2,", pack("C*", 1, 1));
  for my $name (qw(short_x long_x ids_as_mask ids_of_all one_based far infinite fewer)) { # a ring of six nodes
    my $rows = $name eq "short_x" ? 5 : $name eq "long_x" ? 7 : 6;
    my @x = (1) x (2 * $rows);
    @x[3, 5, 7, 9] = ("nan", "inf", "-inf", "nan") if $name eq "infinite";
    put($name, "edge_index", "<i8", "2, 12", pack("q<*", 0 .. 5, 1 .. 5, 0, 1 .. 5, 0, 0 .. 5));
    put($name, "x", "<f4", "$rows, 2", pack("f<*", @x));
    put($name, "y", "<i8", "6,", pack("q<*", map { $_ + ($name eq "one_based") } 0, 1, 2, 0, 1, $name eq "far" ? 1000000 : 2));
    put($name, "train_mask", "|b1", "6,", pack("C*", 1, 1, 1, 0, 0, 0)) if $name !~ /^ids/;
    put($name, "train_mask", "<i8", "3,", pack("q<*", 0, 2, 5)) if $name eq "ids_as_mask";
    put($name, "train_mask", "<i8", "6,", pack("q<*", 5, 4, 3, 2, 1, 0)) if $name eq "ids_of_all";
  }
  put("only_x", "edge_index", "<i8", "2, 2", pack("q<*", 0, 5, 5, 0));
  put("only_x", "x", "<f4", "5, 1", pack("f<*", (1) x 5));
  put("one_column", "edge_index", "<i8", "2, 4", pack("q<*", 0, 1, 2, 3, 1, 0, 3, 2));
  put("one_column", "x", "<f4", "4, 2", pack("f<*", (1, 2) x 4));
  put("one_column", "year", "<f4", "4, 1", pack("f<*", 1990, 2001, 2013, 2020));
  put("one_column", "y", "<i8", "4,", pack("q<*", 0, 1, 0, 1));
  put("one_column", "train_mask", "|b1", "4,", pack("C*", 1, 1, 0, 0));
  put("skewed", "edge_index", "<i8", "2, 4", pack("q<*", 0, 1, 11, 3, 1, 0, 3, 11));
  put("skewed", "x", "<f4", "12, 2", pack("f<*", (1, 2) x 12));
  put("skewed", "y", "<i8", "12,", pack("q<*", (0) x 11, 1));
  put("skewed", "train_mask", "|b1", "12,", pack("C*", (1) x 12))' "$work"
# NAME: with the data as working directory. Of budgets neither sizes, times nor what lies together: they are other tests' matter.
said() {
  local options=()
  [ ! -e "$1.args" ] || read -ra options <"$1.args"
  [[ " ${options[*]} " == *" --check "* ]] || options+=(-o none)
  (cd "$work" && "$build/gnncc" --name="$1" "${options[@]}" - <"$here/$1.gnn" >raw 2>&1)
  local status=$?
  sed -e '/note: there together/d' -e '/^ *help: --budget/,$ s/[0-9.]\+ \?\([KM]iB\)/N \1/g; /^ *help: --budget/,$ s/[0-9.]\+ [mu]s/N ms/g' -e '/E050[12]/ s/[0-9.]\+ \([KM]iB\)/N \1/g' \
    -e 's/[0-9.]\+ KiB of it for/N KiB of it for/' -e 's/ \xc2\xb7 --target=[a-z0-9_]\+ without --budget -> N ms per epoch//' "$work/raw" && echo "status $status"
}
as_expected() {
  said "$1" >"$work/out"
  [ -z "${BLESS:-}" ] || cp "$work/out" "$1.expected"
  diff "$1.expected" "$work/out"
}
for model in *.gnn; do check "$(basename "$model" .gnn)" as_expected "$(basename "$model" .gnn)"; done
check "sound data say nothing" bash -c "cd $work && sed 's|\"label\"|\"sound\"|' '$here/label.gnn' | '$build/gnncc' --check - >'$work/said' 2>&1 && cat '$work/said' && [ ! -s '$work/said' ]"
fewer_classes() { # some that are declared have no row: the program has scores for them, too
  (cd "$work" && printf 'data d from npy("fewer") {\n  node y : class[4]\n}\nmodel m on d { return x |> GCN(y.classes) as conv }\ntrain m { loss = cross_entropy(out, y); optimizer = sgd(lr = 0.1); epochs = 2 }\n' >fewer.gnn &&
    CFLAGS=-O0 "$build/gnncc" fewer.gnn -o fewer_program >said 2>&1 && [ ! -s said ] && ./fewer_program --progress none --out fewer.out >said && ./fewer_program info >said && grep -F 'node y : class[4]' said) || { cat "$work/said"; return 1; }
}
check "more classes declared than seen is fine" fewer_classes
hints() { # of a learning rate that is 0, and of a loss that is no number: the option that the rate is is spoken of, by its name, and where there is one
  local with='option rate = 0' without='option lr = 0' form name
  for form in with without; do # an option called lr that the rate is not
    printf '%s\ndata d from karate()\nmodel m on d { return x |> GCN(y.classes) as conv }\ntrain m { loss = cross_entropy(out, y); optimizer = sgd(lr = %s); epochs = 12; metric = accuracy }\n' \
      "${!form}" "$([ $form = with ] && echo 'cosine(rate, 12)' || echo 0)" >"$work/$form.gnn"
    sed 's/return x/return log(x - 2)/; s/= 0$/= 0.5/; s/lr = 0)/lr = 0.5)/' "$work/$form.gnn" >"$work/${form}_far.gnn"
    for name in $form ${form}_far; do (cd "$work" && CFLAGS=-O0 "$build/gnncc" -w -q $name.gnn -o $name.program && ./$name.program --progress none >$name.said 2>&1); done
    cat "$work/$form.said" "$work/${form}_far.said"
  done
  grep -q 'HINT: .*; try another --rate, or gnndata check$' "$work/with.said" && grep -q 'HINT: .*; try another learning rate, or gnndata check$' "$work/without.said" &&
    grep -q 'R0803' "$work/with_far.said" && grep -q 'help: --rate 0.05' "$work/with_far.said" && grep -q 'R0803' "$work/without_far.said" && ! grep -e '--lr' "$work/without_far.said" && grep -q 'help: lr = 0.05 in the train block' "$work/without_far.said"
}
check "the option of the learning rate is spoken of where there is one" hints
doubted() { # FOLDER TEXT: said by `gnndata check`, in whose first line are no problems otherwise
  "$build/gnndata" check "$work/$1" >"$work/said" 2>&1 && cat "$work/said" && grep -qF "$2" "$work/said" && grep -q '; see below$' "$work/said"
}
check "gnndata check: labels that begin at 1" doubted one_based 'warning: labels in y begin at 1, and classes count from 0'
check "gnndata check: one label of a million" doubted far 'warning: y[5] is 1000000, and the label below that is 2: there are taken to be 1,000,001 classes'
undoubted() { "$build/gnndata" check "$work/fewer" >"$work/said" 2>&1 && cat "$work/said" && grep -q '; no problems$' "$work/said" && ! grep warning "$work/said"; }
check "gnndata check: labels from 0 to 2 are not doubted" undoubted
printf '0 1\n1 2\n2 40000\n' >"$work/far.txt"
check "gnndata check: more nodes than the data speak of" doubted far.txt 'warning: there are taken to be 40,001 nodes, of which the edges name 4, the greatest 40,000; '
loops_count_once() { # of layers that take loops as PyG does
  local layer
  for layer in 'SAGE(2)' 'TAG(2)' 'GAT(2, add_self_loops = false)'; do
    printf 'data d from npy("looped")\nmodel m on d { return x |> %s as conv1 }\n' "$layer" >"$work/loops.gnn"
    (cd "$work" && "$build/gnncc" --plan loops.gnn >raw 2>&1) && ! grep W0714 "$work/raw" || { cat "$work/raw"; return 1; }
  done
}
check "self-loops of the data are no matter to layers that do not count the node itself" loops_count_once
explained() { # the programs of the pages that the front end alone does not find wrong
  local program code status wanted seen=0
  "$build/tests/langtest" --programs "$work" || return 1
  for program in "$work"/*.wrong.gnn; do
    IFS=. read -r code wanted _ < <(basename "$program")
    (cd "$work" && "$build/gnncc" -Wall -Wextra -Wperf -Wpedantic --plan "$program" >raw 2>&1)
    status=$?
    [ $status -eq "$wanted" ] && grep -qF "[$code]" "$work/raw" || { echo "$code, wrong: status $status"; cat "$work/raw"; return 1; }
    (cd "$work" && "$build/gnncc" -Wall -Wextra -Wperf -Wpedantic --plan "$work/$code.right.gnn" 2>&1 >/dev/null) >"$work/raw" && [ ! -s "$work/raw" ] || { echo "$code, right:"; cat "$work/raw"; return 1; }
    seen=$((seen + 1))
  done
  [ $seen -ge 12 ]
}
check "the programs of diagnostic pages about plans and data" explained
figures_agree() { # what E0501 says is needed, or what its note says where plans need more than what binds, and the smallest budget that is named
  local budget least said
  for budget in "$@"; do
    (cd "$work" && "$build/gnncc" --budget device="$budget" --budget host=0 --budget ssd=0 --plan "$here/../end_to_end/models/plans/gcn8.gnn" >raw 2>&1)
    [ $? -eq 3 ] || { cat "$work/raw"; return 1; }
    least=$(grep -oE 'device=[0-9]+KiB is the smallest' "$work/raw" | grep -oE '[0-9]+')
    said=$(sed -nE 's/.* was found has ([0-9.]+ .iB)$/\1/p' "$work/raw")
    said=${said:-$(sed -nE 's/.*(nearest needs|\)\ needs) ([0-9.]+ .iB).*/\2/p' "$work/raw")}
    awk -v least="$least" -v said="$said" 'BEGIN { split(said, s, " "); unit = s[2] == "MiB" ? 1024 : 1; d = s[1] * unit - least; exit !(least > 0 && d <= 0.1 * unit + 1 && d >= -1) }' ||
      { echo "$said said, $least KiB named"; cat "$work/raw"; return 1; }
  done
}
other_machines() { # where they take less than a larger budget does
  printf 'data g from synth(kind = "er", nodes = 3000, degree = 4, features = 64, classes = 5, seed = 1)\nmodel m on g { return x |> Linear(512) |> relu |> GCN(y.classes) }\ntrain m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2 }\n' >"$work/wide.gnn"
  ! "$build/gnncc" --plan --cut=whole --budget device=8MiB "$work/wide.gnn" >"$work/said" 2>&1 && cat "$work/said" && grep 'help: --budget device=[0-9]*KiB is the smallest.* --target=[a-z0-9_]* without --budget -> ' "$work/said" &&
    ! "$build/gnncc" --plan --budget device=20KiB "$here/../../examples/gcn_karate.gnn" >"$work/said" 2>&1 && cat "$work/said" && grep -q E0501 "$work/said" && ! grep -- '--target=' "$work/said"
}
check "E0501 names another machine where a larger budget takes longer there" other_machines
check "the figures of E0501 agree, whatever binds" figures_agree 100KiB 2000KiB 2600KiB 2700KiB
nearer() { # where a plan for another budget needs less than the one for this, that is not called the nearest
  "$build/gnncc" -w -D size=4000 --budget device=12MiB --plan "$here/../../examples/sage_deep.gnn" >"$work/raw" 2>&1
  [ $? -eq 3 ] && local said=$(sed -nE 's/.* that (was made for it|comes nearest) needs ([0-9.]+) MiB.*/\1 \2/p' "$work/raw") least=$(sed -nE 's/.*device=([0-9.]+)MiB is the smallest.*/\1/p' "$work/raw") || return 1
  awk -v said="$said" -v least="$least" 'BEGIN { n = split(said, s, " "); exit !(n > 1 && least > 0 && (s[1] == "was" ? s[n] >= least : s[n] == least)) }' || { cat "$work/raw"; return 1; }
}
check "  and what is called the nearest plan is the smallest" nearer
no_program() { # OPTIONS: nothing is called `program` then, and that is said
  (cd "$work" && rm -rf program && "$build/gnncc" "$@" -o program plain.gnn >said.out 2>said) || { cat "$work/said"; return 1; }
  cat "$work/said"
  grep -q '^gnncc: warning: no program was made, and nothing written to program' "$work/said" && [ ! -e "$work/program" ]
}
printf 'data d from karate()\nmodel m on d { return x |> GCN(y.classes) as conv }\n' >"$work/plain.gnn"
for options in --emit=plan --plan --check --emit=dot=-; do check "$options -o program: no program was made" no_program $options; done
some_program() { (cd "$work" && CFLAGS=-O0 "$build/gnncc" -q --report -o program plain.gnn >said 2>&1 && [ ! -s said ] && [ -x program ] && "$build/gnncc" -q --emit=plan -o none plain.gnn >said 2>&1 && [ ! -s said ]); }
check "  --report is beside a program, and -q says nothing" some_program
named() { # NAME COMMAND...: the first line of what goes wrong begins with NAME
  local name=$1
  shift
  (cd "$work" && "$@" >/dev/null 2>said)
  [ $? -ne 0 ] && head -1 "$work/said" | grep -q "^$name: " || { echo "$*:"; cat "$work/said"; return 1; }
}
check "a code in small letters has its page, and policies are listed" bash -c "cmp <('$build/gnncc' --explain e0301) <('$build/gnncc' --explain E0301) && '$build/gnncc' --policy=zz x.gnn 2>&1 | grep -F '(known: keep, '"
all_named() {
  local options
  for options in --nosuch nowhere.gnn '--target=zz plain.gnn' '-D zz=1 plain.gnn' '--compare nowhere nowhere' '--budget host=zz plain.gnn' '--measured=nowhere --emit=gantt' \
    '--explain E9999' '--policy=zz plain.gnn' '--list zz' '--profile=nowhere plain.gnn' '-o /nowhere/x plain.gnn' '--format nowhere.gnn' '--cc=/nowhere/cc plain.gnn -o x' '--example=zz' '--print-std=zz'; do
    named gnncc "$build/gnncc" $options || return 1
  done
  named 'gnncc plan' "$build/gnncc" plan nowhere.json || return 1
  for options in zz 'info nowhere' 'check --zz karate' 'head karate zz' 'convert karate /nowhere/x.safetensors' 'synth zz x.safetensors' 'order karate --method zz'; do named gnndata "$build/gnndata" $options || return 1; done
  for options in zz --zz 'eval --weights nowhere' 'eval --data nowhere' predict; do named program ./program $options || return 1; done
}
check "errors begin with the name of the program" all_named
warnings_listed() { # each by name, code and group; those codes have pages
  "$build/gnncc" --help=warnings >"$work/warnings" && cat "$work/warnings" && [ "$(grep -cE '^-W[a-z-]+ +W0[0-9]{3}  (default|extra|perf|pedantic) ' "$work/warnings")" -ge 13 ] &&
    [ "$(grep -cE '^-W(all|extra|perf|pedantic) ' "$work/warnings")" -eq 4 ] || return 1
  for code in $(grep -oE 'W0[0-9]{3}' "$work/warnings"); do "$build/gnncc" --explain "$code" | grep -q "$code" || return 1; done
}
instead() { # TEXT OPTION: refused, with what to do instead
  "$build/gnncc" "$2" --plan "$build/../examples/gcn_karate.gnn" >"$work/said" 2>&1
  local status=$?
  cat "$work/said"
  [ $status -eq 2 ] && grep -qF -- "$1" "$work/said"
}
check "--precision=fp16: what takes as few bytes" instead '--precision=bf16 takes as many bytes and has the range of fp32' --precision=fp16
check "--precision=fp64: what is in double" instead 'with -fgradcheck they are built in double' --precision=fp64
check "  also by the names of others" instead 'precision=double: programs train in fp32; with -fgradcheck' --precision=double
check "  of which some are here" instead 'fp32, tf32 or bf16; here that is --precision=bf16' --precision=bfloat16
check "--plan-from=FILE=force: nothing to force" instead '--plan-from=saved.json' --plan-from=saved.json=force

check "--help=warnings lists names, codes and groups" warnings_listed
helps() { # every name that is listed, settings and their words, what other libraries call it, and what is near one
  local name
  for name in $(for kind in functions losses metrics optimizers schedules layers; do "$build/gnncc" --list $kind | grep -oE '^[A-Za-z_0-9]+'; done) patience folds every keep over learned; do
    "$build/gnncc" --help="$name" >"$work/said" 2>&1 && grep -qE "^(layer |[a-z ]+: ).*$name" "$work/said" || { echo "$name:"; cat "$work/said"; return 1; }
  done
  "$build/gnncc" --help=GCNConv | grep -q '^layer GCN(' && "$build/gnncc" --help=linear | grep -q '^schedule: linear(' || return 1
  "$build/gnncc" --help=logsumexpp >"$work/said" 2>&1
  [ $? -eq 2 ] && grep -F 'did you mean logsumexp?' "$work/said" || return 1
  "$build/gnncc" --print-std relu >"$work/said" 2>&1
  [ $? -eq 2 ] && grep -F '"relu" is no layer' "$work/said"
}
check "--help=NAME knows every name that --list has" helps
nowhere() { # in the form that was asked for
  "$build/gnncc" --check --diagnostics=json "$work/nowhere.gnn" 2>"$work/said"
  [ $? -eq 4 ] && grep -F '{"severity":"error","code":"E0001",' "$work/said" || return 1
  "$build/gnncc" --check --diagnostics=sarif "$work/nowhere.gnn" 2>"$work/said"
  [ $? -eq 4 ] && grep -F '"ruleId":"E0001"' "$work/said"
}
check "a model that is not there, as json and sarif" nowhere
groups() { # off unless asked for; a group as an error; without one of its names
  local slow=$work/W0511.0.wrong.gnn
  "$build/gnncc" --stop-after=fuse "$slow" >"$work/raw" 2>&1 && [ ! -s "$work/raw" ] || return 1
  ! "$build/gnncc" -Werror=perf --stop-after=fuse "$slow" >"$work/raw" 2>&1 && grep -F 'error[W0511]' "$work/raw" || return 1
  "$build/gnncc" -Wperf -Wno-edge-values --stop-after=fuse "$slow" >"$work/raw" 2>&1 && [ ! -s "$work/raw" ]
}
check "groups of warnings, and one of them less" groups
near_name() { "$build/gnncc" -Wno-patiance --check label.gnn 2>&1 | grep -F 'there is no such warning (gnncc --help=warnings); did you mean patience?'; }
near_group() { "$build/gnncc" -Wpedntic --check label.gnn 2>&1 | grep -F 'did you mean pedantic?'; }
check "a warning that is no such has the nearest name" near_name
check "  or group" near_group
canonical='const a = 1  # one'
formats() { # stdin to stdout; in place; the names of files that are not so; what is wrong stays
  [ "$(echo 'const a=1 # one' | "$build/gnncc" --format -)" = "$canonical" ] || return 1
  echo 'const a=1 # one' >"$work/f.gnn" && ! "$build/gnncc" --format=check "$work/f.gnn" >"$work/named" && [ "$(cat "$work/named")" = "$work/f.gnn" ] || return 1
  chmod 640 "$work/f.gnn" && "$build/gnncc" --format=write "$work/f.gnn" && [ "$(cat "$work/f.gnn")" = "$canonical" ] && [ "$(stat -c %a "$work/f.gnn")" = 640 ] || return 1
  "$build/gnncc" --format=check "$work/f.gnn" && "$build/gnncc" --format "$work/f.gnn" -o "$work/g.gnn" && cmp "$work/f.gnn" "$work/g.gnn" || return 1
  echo 'const a = (' >"$work/w.gnn" && cp "$work/w.gnn" "$work/before.gnn"
  "$build/gnncc" --format=write "$work/w.gnn" "$work/f.gnn" 2>"$work/said"
  [ $? -eq 1 ] && grep -q 'w.gnn:.*error\[E01' "$work/said" && cmp "$work/w.gnn" "$work/before.gnn"
}
check "--format: stdin, in place, check, a file of another name, and what is wrong stays as it is" formats
refuse 4 "--format of a file that is not there" "$build/gnncc" --format "$work/nowhere.gnn"
refuse 4 "--format does not overwrite what gnncc did not write" "$build/gnncc" --format "$work/f.gnn" -o "$work/w.gnn"
refuse 2 "--format of several files into one" "$build/gnncc" --format "$work/f.gnn" "$work/g.gnn" -o "$work/h.gnn"
bounded() { # what an option is used for bounds it, when the program is compiled and when it is run
  printf 'option wd = 5e-4\noption b = 0.9\ndata d from karate()\nmodel m on d { return x |> GCN(y.classes) }\ntrain m { loss = cross_entropy(out, y); optimizer = adam(weight_decay = wd, betas = [b, 0.99]); epochs = 1 }\n' >"$work/o.gnn"
  "$build/gnncc" -w --emit=c=- "$work/o.gnn" | grep -F -e '{"wd", "", 0.00050000000000000001, 0, "weight_decay", 0, 1000000},' -e '{"b", "", 0.90000000000000002, 0, "beta1", 0, 0.99999994' | wc -l | grep -x 2 || return 1
  sed 's/b = 0.9/b = 1/' "$work/o.gnn" >"$work/p.gnn"
  ! "$build/gnncc" -w --check "$work/p.gnn" 2>"$work/said" && grep -F 'error[E0406]: beta1 must be below 1; it is 1' "$work/said"
}
check "options have the bounds of what they are used for" bounded
finish
