#!/bin/bash
# run.sh BUILD: every picture of a plan. Views are functions of a document, so their goldens come from two documents that
# are kept here (spill.json, roomy.json): no planner, no cost model, no masks. BLESS=1 writes the goldens anew.
# What the compiler says today is checked by its sums, and the page in a real browser where there is one.
set -u
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
. tests/tap.sh
here=$PWD/tests/views
work=$(mktemp -d)
trap 'rm -rf "$work" "$tap_log"' EXIT
gnncc="$build/gnncc -w --cut=whole"
judge="$build/tests/check_report"
export LC_ALL=C.UTF-8
unset COLUMNS

# ---- texts, from documents ----

model="--target=box --budget device=250MiB $here/spill.gnn"

golden() { # NAME COMMAND...: standard output is the golden, to the byte
  local name=$1
  shift
  "$@" >"$work/$name" || return 1
  [ "${BLESS:-}" != 1 ] || cp "$work/$name" "$here/golden/$name"
  diff -u "$here/golden/$name" "$work/$name"
}
sed '358s/,$//; 359d' "$here/spill.json" >"$work/planned.json" # the plan without the run
view() { "$build/gnncc" --measured="$work/planned.json" "$@"; }
view_run() { "$build/gnncc" --measured="$here/spill.json" "$@"; }
compare() { "$build/gnncc" --compare "$here/$1.json" "$here/$2.json"; }
ascii_gantt() { LC_ALL=C view --emit=gantt=-; }
narrow_gantt() { COLUMNS=60 view --emit=gantt=-; }

for kind in schedule memory dag annotate sweep; do
  check "the golden of $kind" golden $kind.txt view --emit=$kind=-
done
check "the golden of gantt" golden gantt.txt view --emit=gantt=-
check "the golden of gantt where the locale is not UTF-8" golden gantt.ascii.txt ascii_gantt
check "the golden of gantt in 60 columns" golden gantt.narrow.txt narrow_gantt
check "the golden of gantt, estimated and measured" golden gantt.run.txt view_run --emit=gantt=-
check "the golden of schedule, estimated and measured" golden schedule.run.txt view_run --emit=schedule=-
check "the golden of annotate, estimated and measured" golden annotate.run.txt view_run --emit=annotate=-
check "the golden of a comparison" golden compare.txt compare roomy spill
check "a plan compared with itself: nothing moved" golden compare.same.txt compare spill spill
others() { # values of which none is in both plans: of all of them, none has its fate
  sed 's/"value":"/&other_/' "$here/spill.json" >"$work/others.json" && "$build/gnncc" --compare "$here/spill.json" "$work/others.json" | grep '^  76 of 76 values have another fate'
}
check "values that are in one plan only are counted among all" others
bench() { # SECONDS: what bench --json prints
  echo "{\"model\":\"m\",\"median\":$1,\"min\":$1,\"max\":$1,\"p25\":$1,\"p75\":$1,\"estimated\":1}"
}
benches() { bench 0.5 >"$work/a.bench"; bench 0.25 >"$work/b.bench"; "$build/gnncc" --compare "$work/a.bench" "$work/b.bench"; }
check "two benches compared" golden compare.bench.txt benches
only_ascii() {
  cd "$work" && LC_ALL=C $gnncc --plan $model >ascii.txt && grep -q '^  advice ' ascii.txt && ! LC_ALL=C grep -n '[^ -~]' ascii.txt "$here/golden/gantt.ascii.txt"
}
check "ASCII is ASCII, in a drawing and in a plan" only_ascii
widest() { wc -L | tee /dev/stderr; }
fits_terminal() { # 80 columns in a file; what the terminal has; what COLUMNS says
  [ $(view_run --emit=gantt=- | widest) = 80 ] && [ $(COLUMNS=60 view_run --emit=gantt=- | widest) = 60 ] &&
    [ $(script -qc "stty cols 70; '$build/gnncc' --measured='$here/spill.json' --emit=gantt=-" /dev/null | tr -d '\r' | widest) = 70 ]
}
check "a drawing is as wide as the terminal" fits_terminal
# ---- the table on a terminal, and in a pipe ----
cat >"$work/loop.gnn" <<'END'
data web from synth(kind = "rmat", nodes = 2000, degree = 8, features = 32, classes = 5, seed = 1)
model m on web {
  h = x
  for i in 1 .. 3 { h = h |> SAGE(16) |> relu }
  return h |> SAGE(y.classes)
}
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2 }
plan { fate "sage2.h" = recompute }
END
loop_plan="$gnncc --plan-effort=fast --plan loop.gnn"
shown() { # COLUMNS COMMAND: what a terminal so wide shows, with its colours
  (cd "$work" && script -qec "stty cols $1; $2" /dev/null </dev/null | tr -d '\r')
}
uncoloured() { sed 's/\x1b\[[0-9;]*m//g' "$@"; }
table_fits() { # no line is wider; the names and fates stay; in a pipe nothing is shortened, whatever COLUMNS says
  local columns
  (cd "$work" && COLUMNS=40 $loop_plan >table.whole) && cat "$work/table.whole" || return 1
  ! grep $'\x1b\\|…' "$work/table.whole" && [ "$(wc -L <"$work/table.whole")" -gt 110 ] && grep -qE '^  sage1.m +sage1.m.sum = sum over in-edges of src.x +4 ' "$work/table.whole" || return 1
  for columns in 100 70 40; do
    shown $columns "$loop_plan" >"$work/table.$columns" && uncoloured "$work/table.$columns" >"$work/table.plain" && cat "$work/table.plain" || return 1
    [ "$(wc -L <"$work/table.plain")" -le $columns ] && grep -qE '^  sage2.h .* recompute' "$work/table.plain" || return 1
  done
  grep -q '…' "$work/table.100" && [ "$(COLUMNS=50 shown 200 "$loop_plan" | uncoloured | wc -L)" -le 50 ]
}
check "the table of a plan fits the terminal, and is whole in a pipe" table_fits
table_colour() { # on a terminal, and where it is asked for
  local escape=$'\x1b' plain
  shown 200 "$loop_plan" >"$work/table.strong" && grep -qF "${escape}[1mplan for" "$work/table.strong" && grep -qF "${escape}[36mrecompute${escape}[0m" "$work/table.strong" || return 1
  for plain in "NO_COLOR=1 $loop_plan" "TERM=dumb $loop_plan" "$loop_plan --color=never"; do shown 200 "$plain" >"$work/table.none" && [ -s "$work/table.none" ] && ! grep -F "$escape" "$work/table.none" || return 1; done
  (cd "$work" && $loop_plan --color=always >table.always && grep -qF "${escape}[1mvalue${escape}[0m" table.always && diff <(uncoloured table.always) table.whole)
}
check "  and takes colour where there is some" table_colour
names_written() { # by the program's names: in a loop with the layer before them; the same of a fate
  (cd "$work" && $loop_plan -v >names.txt && cat names.txt && grep -qE '^  sage2.h .* recompute .* pinned' names.txt && ! grep -q 'nothing else fits$' names.txt && [ "$(grep -c ' pinned' names.txt)" = 1 ] && grep -qE '^  sage3.h +sage3.lin_r = sage2.h @ sage3.lin_r.weight' names.txt &&
    grep -qE '^ +[0-9]+  compute .* sage2.lin_r = sage1.h @ sage2.lin_r.weight' names.txt && ! grep -E '^  (h|sage[0-9](\.h)?)_[1-9] ' names.txt)
}
check "names in it are the program's" names_written
names_noted() { (cd "$work" && "$build/gnncc" -w --plan-effort=fast --cut='slices(2)' --plan loop.gnn | tee /dev/stderr | grep -qE 'no sum of columns: sage2\.m\.sum, sage3\.m\.sum'); }
check "  and in its notes" names_noted
plain_dash() { # what is said of a program that was made, where the locale is not UTF-8
  (cd "$work" && script -qc "CFLAGS=-O0 LC_ALL=C $gnncc --plan-effort=fast $model -o plain" /dev/null | tr -d '\r' >plain.txt; cat plain.txt; grep -q 'fits - peak' plain.txt && ! LC_ALL=C grep '[^ -~]' plain.txt)
}
check "the line of success is ASCII, too" plain_dash
into_a_pipe() { # a pipe stays one, and gets what a file would
  mkfifo "$work/pipe" || return 1
  exec 9<>"$work/pipe" 8<"$work/pipe" # it has a reader from the beginning, and no end before gnncc's
  timeout 20 cat <&8 >"$work/piped" 9>&- &
  timeout 20 "$build/gnncc" --measured="$work/planned.json" --emit=gantt="$work/pipe" 8<&- 9>&-
  local status=$?
  exec 9>&- 8<&-
  wait $!
  [ $status -eq 0 ] || return 1
  [ -p "$work/pipe" ] && cmp "$work/piped" "$here/golden/gantt.txt"
}
check "a pipe is written into, not replaced" into_a_pipe

# ---- drawings, from documents ----

cd "$work"
svg() { view --emit="$1=$work/$1.svg" && "$judge" svg "$work/$1.svg" ${2:-}; }
check "gantt.svg is well-formed and draws the times of the report" svg gantt "$work/planned.json"
svg_run() { view_run --emit=gantt=run.svg && "$judge" svg run.svg "$here/spill.json"; }
check "gantt.svg of a run draws both times" svg_run
inside() { # no text begins so far to the right that it ends outside
  sed 's/<text/\n<text/g' gantt.svg | sed -n 's/^<text x="\([0-9]*\)"[^>]*>\([^<]*\)<.*/\1 \2/p' |
    awk '{ if ($1 + 7 * (length - length($1) - 1) > 960) { print; outside = 1 } } END { exit outside || NR < 12 }'
}
check "gantt.svg has room for its texts" inside
check "sweep.svg is well-formed" svg sweep
marks() { grep -o 'y="[0-9.]*" text-anchor="[a-z]*">\(best value\|current\)<' sweep.svg | sed 's/ text.*//' | sort -u | wc -l | grep -qx 2; }
check "sweep.svg has the names of close marks apart" marks
trace() { view_run --emit=trace="$work/trace.json" && "$judge" trace "$work/trace.json" "$here/spill.json"; }
check "the trace keeps Perfetto's rules" trace
page_from_run() { view_run --report="$work/measured.html" && grep -q 'gnncc-report/1' "$work/measured.html"; }
check "a page from a run alone" page_from_run
check "a page from a plan alone" "$build/gnncc" --measured="$here/roomy.json" --report="$work/roomy.html"
bare() { # a document that does not say what is alive when; the browser opens its page below
  awk '/"memory": \[/ { print "\"memory\": [],"; is_in = 1 } /"steps":/ { is_in = 0 } !is_in' "$here/spill.json" >"$work/bare.json" && "$build/gnncc" --measured="$work/bare.json" --report="$work/bare.html"
}
check "a page without the memory" bare
waiting() { # step 10 waited 50 ms in a run, and was not expected to; step 41 was, and waited next to nothing
  sed '359s/\({"step":10,"start_s":[^,]*,"seconds":\)[^}]*/\10.05/; 359s/\({"step":41,"start_s":[^,]*,"seconds":\)[^}]*/\11e-6/' "$here/spill.json" >waiting.json
  "$build/gnncc" --measured=waiting.json --report=waiting.html --emit=gantt=waiting.txt,gantt=waiting.svg && cat waiting.txt && "$judge" svg waiting.svg waiting.json &&
    grep -q '^step 10 waits 0 ms, measured 50 ms,' waiting.txt && grep '^measured compute' waiting.txt | grep -q '░' && [ $(grep -c '^step .* waits' waiting.txt) = 2 ] &&
    [ $(grep -c '<rect class="wait".*measured</title>' waiting.svg) = 1 ]
}
check "the waits of a run are drawn and named, those of next to nothing are not" waiting
wide() { # a line and a name that are wider than paper; the browser prints its page below
  local many='so that nobody can print it in one line, '
  sed "s/sage3_m/sage3_mean_over_all_the_neighbours_of_a_node_weighted_by_nothing/g; /\"lines\"/s/dropout(0.3)/& # long, $many$many$many${many// /_}/" "$here/spill.json" >wide.json
  sed -i 's/^"model": "[^"]*"/"model": "a_model_with_a_name_of_more_than_a_hundred_letters_that_nobody_would_like_to_type_more_than_once_if_at_all_and_none_to_break"/' wide.json
  "$build/gnncc" --measured=wide.json --report=wide.html --emit=gantt=wide.svg && grep 'bold">a_model_with_a_name_of_m…' wide.svg
}
check "a page with a long line and a long name" wide
refuse 4 "what is no report is refused" "$build/gnncc" --measured="$here/run.sh" --report="$work/none.html"
refuse 4 "a file that is not there" "$build/gnncc" --compare none.json "$here/spill.json"
refuse 2 "a drawing of a form that there is not" view --emit=gantt=x.png
refuse 2 "a graph of a form that there is not" view --emit=dag=x.svg
refuse 2 "a drawing into no file" view --emit=gantt=
refuse 2 "a page into no file" view --report=
refuse 2 "no kind of view" view --emit=
refuse 2 "of a model, too" "$build/gnncc" --emit=gantt=x.png "$here/spill.gnn"
unasked() { [ ! -e x.png ]; }
check "nothing was written" unasked
forms() { view --emit=gantt=a.txt,gantt=b.svg && grep -q '^cpu' a.txt && "$judge" svg b.svg; }
check "the ending chooses the form" forms
foreign() { # what gnncc did not write stays, unless --force says otherwise
  echo "a diary" >theirs.svg
  view --emit=gantt=theirs.svg 2>refused.txt
  [ $? = 4 ] && grep -q 'was not written by gnncc' refused.txt && [ "$(cat theirs.svg)" = "a diary" ] && view --force --emit=gantt=theirs.svg && "$judge" svg theirs.svg
}
check "a file of somebody else is not overwritten" foreign
own() { for turn in 1 2; do view --emit=schedule=own.txt,gantt=own.gantt.txt,memory=own.csv,plan=own.json,dag=own.dot,annotate=own.ann.txt || return 1; done; ! ls | grep tmp-; }
check "its own files are" own
wrong() { # WORDS SED-SCRIPT: a run changed so is refused, and what is wrong is said in one line
  sed "$2" "$here/spill.json" >wrong.json
  "$build/gnncc" --measured=wrong.json --emit=gantt=- >wrong.txt 2>wrong.err
  local status=$?
  cat wrong.err
  ! cmp -s wrong.json "$here/spill.json" && [ $status = 4 ] && [ ! -s wrong.txt ] && [ $(wc -l <wrong.err) = 1 ] && grep -qF "$1" wrong.err
}
check "a measured time that is negative" wrong 'measured.steps[1].seconds: -0.05' '359s/"seconds":0.0502/"seconds":-0.05/'
check "a size that no sum can hold" wrong 'device.peak_bytes: it is more than there can be' 's/"device":{"peak_bytes":[0-9]*/"device":{"peak_bytes":9223372036854775807/'
check "a measured start that is negative" wrong 'measured.steps[4].start_s: -2' '359s/"start_s":0.20846305/"start_s":-2/'
check "a measured epoch of 1e308 seconds" wrong 'measured.epoch_s: 1e+308' '359s/"epoch_s":1.31931553/"epoch_s":1e308/'
check "a step measured twice" wrong 'measured.steps[4].step: step 4 is there twice' '359s/"step":5,/"step":4,/'
check "a step that was not measured" wrong 'step 5 of the epoch is missing' '359s/{"step":5,[^}]*},//'
check "a measured step that there is not" wrong 'there is no step 500' '359s/"step":5,/"step":500,/'
check "a lane that there is not" wrong '"d2x" is not among the lanes' '0,/"step":[0-9]*,"lane":"d2h"/s/\("step":[0-9]*,"lane":"\)d2h"/\1d2x"/'
check "a lane idle for less than no time" wrong 'lanes[0].idle_seconds: -1 seconds' '16s/"idle_seconds":[^}]*/"idle_seconds":-1/'
check "an estimate of 1e308 seconds" wrong 'epoch.seconds: 1e+308' '12s/"epoch": {"seconds":[^,]*/"epoch": {"seconds":1e308/'
check "a step decided by another" wrong 'decided_by: that step does not end when this one starts' 's/"decided_by":8,/"decided_by":3,/'
check "a peak at no step" wrong 'peak_step: there is no such step' 's/"peak_step": [0-9]*/"peak_step": 0/'
refuse 2 "what needs a model" "$build/gnncc" --measured="$here/spill.json" --emit=c=-

# ---- what the compiler says today ----

today() { $gnncc --emit=plan=plan.json,trace=today.json,gantt=today.svg,schedule=today.txt,memory=today.csv,dot=today.dot $model; }
check "all views of a plan at once" today
check "the schema, and the sums: fates, lanes, the skyline, addresses" "$judge" report plan.json
check "today's trace" "$judge" trace today.json plan.json
check "today's drawing" "$judge" svg today.svg plan.json
check "gnncc overwrites its own views" today
slowed() { # links that slow down compute: the same plan, a longer epoch, sums that still add up
  sed 's/latency = [0-9]*us }/latency = 10us; slowdown = 5% }/' "$here/spill.gnn" >slow.gnn && sed 's/; slowdown = 5%//' slow.gnn >unslowed.gnn &&
    $gnncc --target=box --budget device=250MiB --emit=plan=slow.json slow.gnn && $gnncc --target=box --budget device=250MiB --emit=plan=unslowed.json unslowed.gnn &&
    "$judge" report slow.json && "$build/gnncc" --compare unslowed.json slow.json | tee compared.txt || return 1
  [ "$(grep makespan_ns slow.json)" = "$(grep makespan_ns unslowed.json)" ] && ! grep -q slowed_seconds unslowed.json &&
    awk '/epoch, estimated/ { longer = $6 } /^    waiting/ { waits = $4 } /slower beside copies/ { slower = $6 } END { exit !(slower > 1 && (longer - waits - slower) ^ 2 < 0.01) }' compared.txt
}
check "compute that copies slow down" slowed
numbers_agree() { # a step has one number, in the listing, the CSV's last row and the JSON
  local listed=$(grep -c '^ *[0-9]' today.txt) last=$(tail -1 today.csv | cut -d, -f1)
  echo "$listed lines, last row of step $last"
  [ "$listed" = "$last" ] && grep -q "\"step\": $last," plan.json && ! grep -q "\"step\": $((last + 1))," plan.json
}
check "a step's number is the same everywhere" numbers_agree
adds_sum() { # what the values add is what the epochs differ by in recomputing and waiting
  $gnncc --target=box --budget device=260MiB --emit=plan=tight.json "$here/spill.gnn" && "$build/gnncc" --compare tight.json plan.json >compared.txt && cat compared.txt || return 1
  awk '/^    recomputing|^    waiting/ { differ += $4 } / -> / && NR > 1 { sum += $NF; rows++ } /together/ { told = $NF }
       function near(a, b) { return a - b < 0.05 && b - a < 0.05 } END { exit !(rows > 1 && near(sum, differ) && near(told, differ) && !near(differ, 0)) }' compared.txt
}
check "the column adds of a comparison sums to the difference" adds_sum
told() { $gnncc --plan=json --target=box "$here/spill.gnn" >told.json && "$judge" report told.json && grep -q '"keep_everything"' told.json; }
check "the alternatives that a plan tells of are some" told
epoch_at() { # MEBIBYTES [MODEL]
  $gnncc --target=box --budget device=$1MiB --emit=plan=at.json "${2:-$here/spill.gnn}" && awk '/"epoch": {/ { getline; print $2 + 0 }' OFMT=%.9f at.json
}
step_up() { # what is told is saved with that much, and not with a hundredth less
  local told=$($gnncc --plan=json $model | awk -F'[:,]' '/"write": "--budget cpu=/ && !size { size = $0; gsub(/[^0-9.]/, "", size) } size && /"seconds"/ { print size, $2 + 0; exit }' OFMT=%.9f)
  local size=${told% *} less
  less=$(awk "BEGIN { printf \"%.1f\", 0.99 * $size }")
  echo "$told" "$(epoch_at 250)" "$(epoch_at $size)" "$(epoch_at $less)" | tee step_up.txt
  awk '{ d = 1000 * ($4 - $2); exit !(NF == 5 && d < 0.06 && d > -0.06 && $3 - $4 >= 0.01 * $3 && $3 - $5 < 0.01 * $3) }' step_up.txt
}
check "the next useful step up is the next" step_up
# Of two layers and three, whose sweeps take a tenth and a fourth of the time.
sed '/^  h[23]/d; s/h3 |>/h1 |>/' "$here/spill.gnn" >two.gnn
sed '/^  h3/d; s/h3 |>/h2 |>/' "$here/spill.gnn" >three.gnn
least_typed() { # what --plan and a sweep say is the least works when it is typed back
  local told
  for told in $($gnncc --plan --target=box three.gnn | sed -n 's/.*least found \([0-9.]*\) MiB.*/\1/p') \
    $($gnncc --target=box --sweep device=150MiB:170MiB three.gnn | sed -n 's/^ *[0-9.]* MiB  *\([0-9.]*\) MiB .*least that works/\1/p'); do
    echo "$told" && $gnncc --plan --target=box --budget device=${told}MiB three.gnn | tee -a typed.txt | head -2
  done
  [ $(grep -c '^  fits' typed.txt) = 2 ]
}
check "the least that is told works" least_typed
check "a plan that keeps everything" bash -c "$gnncc --target=box --emit=plan=keep.json $here/spill.gnn && $judge report keep.json"
nanoseconds() { # of the program's plan, and of its problem's
  $gnncc -D size=4000 --budget ssd=1GiB --budget device=12MiB --emit=plan=exact.json,problem=direct.json "$here/../../examples/sage_deep.gnn" && "$judge" report exact.json &&
    "$build/gnncc" plan direct.json --emit=plan=exact.json && "$judge" report exact.json
}
check "the times of a document are exact to the nanosecond" nanoseconds
check "a program without a train block" bash -c "sed '/^train/,/^}/d' $here/spill.gnn >plain.gnn && $gnncc --target=box --emit=plan=plain.json,gantt=-,schedule=- plain.gnn && $judge report plain.json"
fast=--plan-effort=fast # a fourth of the time, where any plan will do
export CFLAGS=-O0
twice() { $gnncc $fast --report=one.html --emit=plan=x.json $model -o one && $gnncc $fast --report=other.html --emit=plan=y.json $model && cmp one.html other.html; }
check "the page is the same twice" twice
sweep() { $gnncc --target=box --sweep device=140MiB:80GiB two.gnn >sweep.txt && cat sweep.txt && grep -q 'least that works' sweep.txt && grep -q 'best value' sweep.txt && grep -q 'everything kept' sweep.txt; }
check "a sweep finds the least, the best value and where everything is kept" sweep
sweep_row() { # of a budget: the next lower threshold of a table over a large range says within some percent what a plan for it takes
  local size
  for size in 165 172 200 222; do
    awk -v size=$size '$4 == "MiB" && $3 <= size { print size, $5 * ($6 == "s" ? 1000 : 1), 1000 * at; exit }' at=$(epoch_at $size two.gnn) sweep.txt
  done | tee rows.txt
  awk '{ off = $2 / $3 - 1; if (off > 0.05 || off < -0.05) wrong = 1 } END { exit wrong }' rows.txt && [ $(wc -l <rows.txt) = 4 ]
}
check "a sweep over a large range has the right row for any budget" sweep_row
twice_told() { sed '1,2d; s/^ *[0-9.]* [KMG]*iB *//; s/x .*//' sweep.txt | uniq -d | grep .; }
not_twice() { ! twice_told; }
check "no row of a sweep is there twice" not_twice
unknown_least() { # of the host nobody says what the least is: the sweep feels its way down to it
  sed '/tier ssd/d; /host <-> ssd/d; s/budget = 80MiB/budget = 400MiB/' three.gnn >nossd.gnn
  $gnncc --target=box --plan-effort=fast --budget device=170MiB --sweep host=0:320MiB nossd.gnn >felt.txt && cat felt.txt && [ $(grep -c ' ms ' felt.txt) -ge 3 ] && ! grep -q 'least that works' felt.txt
}
check "a sweep of a tier whose least is not known" unknown_least
models() { # two models in one table and on one chart, where they are told apart though they have one name
  sed 's/hidden = 128/hidden = 64/' two.gnn >slim.gnn
  $gnncc $fast --target=box --sweep device=120MiB:240MiB --emit=sweep=models.svg two.gnn slim.gnn && "$judge" svg models.svg && [ $(grep -c 'class="line"' models.svg) = 2 ] && grep -q '>sage on g (1)<' models.svg && grep -q '>sage on g (2)<' models.svg && grep -q 'text-anchor="end">current, 2.0 GiB →<' models.svg &&
    $gnncc $fast --target=box --sweep device=120MiB:240MiB two.gnn slim.gnn | grep -c '^sweep of' | grep -qx 2
}
check "a sweep of two models on one chart" models
rent() { # which card to rent: a report and a sweep of a GPU, without one
  $gnncc $fast --report=a100.html --target=a100 two.gnn && $gnncc $fast --target=a100 --sweep gpu=100MiB:600MiB two.gnn && [ ! -e two ]
}
check "a report and a sweep for a GPU that is not here" rent
quick_page() { # of values that may be cut: sketches, where a plan for each budget takes half a minute and more
  local TIMEFORMAT='%U' spent
  spent=$( { time $gnncc $fast --cut=auto --target=a100 --budget gpu=260MiB --emit=report=quick.html,plan=quick.json "$here/../../examples/sage_deep.gnn" >/dev/null 2>quick.txt; } 2>&1) && "$judge" report quick.json || return 1
  echo "$spent s"
  python3 - <<'END'
import json
report = json.load(open("quick.json"))
sweep = report["sweep"]
assert report["instead"]["least"]["of"] == "this cut" and not sweep["least_bytes"] and sweep["open"], (report["instead"], sweep)
points, own = sweep["points"], sweep["points"][sweep["current"]]
assert sweep["sketched"] and len(points) >= 4 and own["needs_bytes"] <= 260 << 20, sweep
assert points[-1]["needs_bytes"] < own["needs_bytes"] / 2 and "parts" in points[-1]["mode"] and points[-1]["seconds"] > own["seconds"], points
assert all(a["needs_bytes"] > b["needs_bytes"] and a["seconds"] <= b["seconds"] for a, b in zip(points, points[1:])), points
assert [p for p in points if not p.get("sketched")] == [own], points
END
}
check "a page of what may be cut has a sweep of sketches" quick_page
which_are_exact() { # the plan of the current budget, in each form of the sweep
  $gnncc --measured=quick.json --emit=sweep=quick_sweep.svg && $gnncc --measured=quick.json --emit=sweep=- >quick_sweep.txt && cat quick_sweep.txt && "$judge" svg quick_sweep.svg &&
    [ "$(grep -c 'x .* sketched: about so much$' quick_sweep.txt)" = "$(grep -c '"sketched": true' <(sed -n '/"points"/,/\]/p' quick.json))" ] && [ "$(grep 'current budget' quick_sweep.txt | grep -c sketched)" = 0 ] &&
    [ "$(grep -c 'r="3"' quick_sweep.svg)" = 1 ] && grep -q 'planned, elsewhere sketched' quick_sweep.svg
}
check "  and says which of its points are sketches" which_are_exact
refuse 2 "two models without a sweep" $gnncc "$here/spill.gnn" "$here/spill.gnn"
two_tiers() { $gnncc $fast --target=box --sweep device=160MiB:260MiB,host=0:100MiB --emit=sweep=tiers.svg two.gnn && "$judge" svg tiers.svg && grep -c '<rect' tiers.svg; }
check "a sweep of two tiers as a heat map" two_tiers
refuse 2 "a sweep of no tier" $gnncc --target=box --sweep disk=1:2 "$here/spill.gnn"
refuse 2 "a sweep from more to less" $gnncc --target=box --sweep device=500MiB:200MiB "$here/spill.gnn"
refuse 2 "a sweep by steps of nothing" $gnncc --target=box --sweep device=200MiB:500MiB:0 "$here/spill.gnn"
tiny_step() { # says which is not too small
  $gnncc --target=box --sweep device=200MiB:500MiB:1KiB "$here/spill.gnn" 2>tiny.txt
  [ $? = 2 ] && cat tiny.txt && grep -q 'more than 256 points: use one of at least 1205KiB' tiny.txt
}
check "a sweep by steps that are too small" tiny_step
check "the annotated source as HTML" $gnncc --annotate=lines.html $model
wrong_run() { $gnncc $fast --report=wrong.html --measured="$here/spill.json" --target=box "$here/spill.gnn" -o wrong; }
refuse 4 "a measurement of another plan is refused" wrong_run
wrong_profile() { $gnncc --plan --profile="$here/spill.json" --target=box "$here/spill.gnn"; }
refuse 4 "times of another program are refused" wrong_profile
run_of() { # PLAN.json: a run of this plan whose steps took as many milliseconds as their numbers say
  sed '$d' "$1" && awk '/^ "steps": \[/ { is_in = 1; printf ",\"measured\": {\"epochs\":3,\"epoch_s\":1,\"training_s\":1,\"evaluation_s\":1,\"slowdown\":1,\"device_peak_bytes\":3145728,\"host_peak_bytes\":2097152,\"ssd_peak_bytes\":1048576,\"serial_lanes\":false,\"steps\":[" }
    is_in && /^   "step":/ { n = $2 + 0; printf "%s{\"step\":%d,\"start_s\":%d,\"seconds\":%.3f}", (n > 1 ? "," : ""), n, n, n / 1000 }
    END { print "]}\n}" }' "$1"
}
right_profile() { # a kernel that runs once takes the time of its step
  local update=$(grep -B4 '"what": "update of' plan.json | grep -m1 -o '"step": [0-9]*' | tr -dc 0-9) seconds
  seconds=$(awk -v n="$update" 'BEGIN { printf "%.3g", n / 1000 }')
  run_of plan.json >timed.json || return 1
  echo "step $update: $seconds s"
  $gnncc --emit=plan=profiled.json --profile=timed.json $model && grep "\"seconds\": $seconds," profiled.json && ! grep "\"seconds\": $seconds," plan.json
}
check "times of this program are taken" right_profile
profile_of_names() { # a kernel whose values have other names in the code, too
  local step=$(grep -B4 '"what": "[a-z0-9]*\.' plan.json | grep -m1 -o '"step": [0-9]*' | tr -dc 0-9) seconds
  seconds=$(awk -v n="$step" 'BEGIN { printf "%.3g", n / 1000 }')
  echo "step $step: $seconds s" && [ -n "$step" ] && grep "\"seconds\": $seconds," profiled.json && ! grep "\"seconds\": $seconds," plan.json
}
check "  of kernels whose values have other names in the code, too" profile_of_names
plan_of_run() { # --plan says what was measured, and that the rest is not
  $gnncc --plan --measured=timed.json $model >explained.txt && cat explained.txt && ! grep 'all figures estimated' explained.txt &&
    grep -q 'measured  1000 ms per epoch, 1[.][0-9]* times the estimate; evaluation 1000 ms; touched cpu 3.0 MiB · host 2.0 MiB · ssd 1.0 MiB' explained.txt &&
    $gnncc --plan=json --measured=timed.json $model | grep -q '"measured"'
}
check "a plan with what a run measured" plan_of_run
one_unit() { # of 22 us, and of seconds: what stands beside them is told in the same
  local small='../../examples/gcn_karate.gnn'
  "$build/gnncc" -w --plan -v "$here/$small" >small.txt && cat small.txt && grep -q '  time      [0-9.]* us per epoch' small.txt && grep -q 'start us   took us' small.txt && ! grep -E '[0-9] m?s( |$|;|,)' small.txt &&
    "$build/gnncc" -w --sweep device=20KiB:30KiB "$here/$small" >small.txt && cat small.txt && grep -q '[0-9] us ' small.txt && ! grep '[0-9] ms' small.txt
}
check "times of a plan are in one unit" one_unit

document() (cd "$here/../.." && DOCUMENT_FLAGS=$fast tests/tutorial/run.sh "$build" docs/reading_a_plan.md)
check "docs/reading_a_plan.md does what it says" document
least_by_way_of_ssd() { # the least is that of a plan with the SSD, where one without it needs more
  sed -n '/^```gnn file=spill.gnn/,/^```/{/^```/d;p}' "$here/../../docs/reading_a_plan.md" >three_tiers.gnn
  "$build/gnncc" -w --plan=json $fast --cut=whole --budget device=250MiB three_tiers.gnn >three_tiers.json &&
    python3 -c 'import json; d = json.load(open("three_tiers.json")); print(d["instead"]["least"], d["tiers"]); assert d["tiers"]["ssd"]["peak_bytes"] > 0 and d["instead"]["least"]["bytes"] <= d["tiers"]["device"]["peak_bytes"]'
}
check "of a plan that needs the SSD, what least was found needs no more" least_by_way_of_ssd

large() { # a page of 2,000 steps stays below a megabyte, a drawing below 200 boxes
  {
    sed '/^  h1/,/^  h3/d; s/hidden = 128/hidden = 32/; s/nodes = 102400/nodes = 20000/; s/features = 128/features = 32/; s/h3 |>/h140 |>/' "$here/spill.gnn" |
      awk '/^model/ { print; print "  h0 = x |> SAGE(hidden) |> relu"; for (i = 1; i <= 140; i++) printf "  h%d = h%d |> SAGE(hidden) |> relu |> dropout(0.1)\n", i, i - 1; next } { print }'
  } >large.gnn
  $gnncc --target=box --budget device=480MiB --budget host=300MiB --emit=plan=large.json large.gnn && "$build/gnncc" --measured=large.json --emit=report=large.html,gantt=large.svg || return 1
  local steps=$(grep -c '"decided_by"' large.json) size=$(stat -c %s large.html) boxes=$(grep -c '<title>' large.svg)
  echo "$steps steps, $size bytes, $boxes boxes"
  [ $steps -ge 2000 ] && [ $size -lt 800000 ] && [ $boxes -le 200 ] && "$judge" svg large.svg
}
check "2,000 steps: a page below a megabyte, a drawing of at most 200 boxes" large

long_names() { # of 50 letters and more, for all that a layer makes
  sed -E 's/\bsage([0-9]+)/sampling_and_mean_over_the_neighbours_in_layer_number_\1/g; s/\bh([0-9]+)\b/hidden_representation_after_dropout_of_layer_number_\1/g' large.json >long.json
  "$build/gnncc" --measured=long.json --report=long.html || return 1
  echo "$(stat -c %s long.html) bytes, of the document $(stat -c %s long.json)"
  [ $(grep -c mean_over_the_neighbours long.json) -gt 5000 ] && [ $(stat -c %s long.html) -lt 1000000 ]
}
check "and with long names" long_names

alternating() { # no two neighbours of one role: a box then holds several
  awk '/"lane": "compute"/ { is_compute = 1 } /"phase": "(forward|backward)"/ && is_compute { if (n++ % 2) sub(/forward|backward/, "recompute"); is_compute = 0 } { print }' large.json >alternating.json
  "$build/gnncc" --measured=alternating.json --emit=gantt=alternating.svg && "$judge" svg alternating.svg && [ $(grep -c '<title>' alternating.svg) -le 200 ]
}
check "a drawing of at most 200 boxes where roles alternate" alternating

# ---- programs whose values are cut ----

sed '/^  h3/d; s/h3 |>/h2 |>/; s/nodes = 102400/nodes = 20000/; s/SAGE/GCN/; s/x |>/x |> dropout(0.3) |>/; s/hidden = 128/hidden = 64/; s/features = 128/features = 64/' "$here/spill.gnn" >cut.gnn
sed '/^target/i plan { fate "x" = host }' cut.gnn >away.gnn
cut_plan() { "$build/gnncc" -w $fast --target=box --budget device="$2" --cut="$1" "${@:3}"; }
layers() { sed -n '/^  layer /,/^$/p' "$1"; }
by_rows() { # of every layer in both directions: how it runs and what moves for it, which is all that moves
  cut_plan 'rows(8)' 20MiB --plan --emit=plan=rows.json cut.gnn >rows.txt && layers rows.txt && "$judge" report rows.json || return 1
  [ "$(layers rows.txt | awk 'NR > 1 && NF { print $1, $2, $4, $5 }' | tr '\n' ';')" = 'gcn1 forward rows(8) 8;gcn2 forward rows(8) 8;gcn3 forward rows(8) 8;gcn3 backward rows(8) 8;gcn2 backward rows(8) 8;gcn1 backward rows(8) 8;' ] &&
    layers rows.txt | grep -q 'from host  *hidden  *waits' && layers rows.txt | grep -q ' MiB .* % ' && ! layers rows.txt | grep ssd
}
check "a plan by rows says it of each layer" by_rows
by_slices() { # and the pieces of a value are one line, those of its slices together
  cut_plan 'slices(4)' 16MiB --plan --emit=plan=slices.json cut.gnn >slices.txt && cat slices.txt && "$judge" report slices.json || return 1
  [ "$(layers slices.txt | awk 'NR > 1 && NF { print $1, $2, $4, $5 }' | tr '\n' ';')" = 'gcn1 forward slices(4) 32;gcn2 forward slices(4) 32;gcn3 forward rows(8) 8;gcn3 backward rows(8) 8;gcn2 backward slices(4) 32;gcn1 backward rows(8) 8;' ] &&
    grep -q '^  gcn[12][._][mz]_slice  .* of 32 pieces ' slices.txt && ! grep '^  [a-z0-9_.]*_slice_[2-9] ' slices.txt
}
check "a plan by slices says which layers have them" by_slices
traced() { for cut in rows slices; do "$build/gnncc" --measured=$cut.json --emit=trace=$cut.trace && "$judge" trace $cut.trace $cut.json || return 1; done; grep '"slice":3' slices.trace | grep '"part":8' | grep -q '"name":"gcn1[.]m[a-z._]*_slice = sum over in-edges of '; }
check "in a trace the pieces of a kernel have one name" traced
as_the_table() { # names in documents and what is drawn of them are those of the table, not those of the code
  "$build/gnncc" --measured=slices.json --emit=gantt=named.svg,schedule=named.txt && for kind in slices.json named.svg named.txt; do # behind "plan" is what --plan-from reads
    sed '/^ "plan": {/,$d' $kind >named && ! grep -o 'gcn[0-9]_[mz].*' named && grep -q 'gcn1[.][a-z]' named || return 1
  done
}
check "the names of values are the users' in every picture" as_the_table
check "a page of it" "$build/gnncc" --measured=slices.json --report=slices.html
sed 's/bandwidth = 6GB/bandwidth = 500MB/' cut.gnn >slow.gnn
turns() { # by a slow link, so that much is waited for
  cut_plan 'slices(4)' 18MiB --emit=plan=slow.json slow.gnn && python3 "$here/slow_run.py" slow.json slow_run.json || return 1
  COLUMNS=400 LC_ALL=C "$build/gnncc" --measured=slow_run.json --emit=gantt=slow_run.txt,gantt=slow_run.svg && "$judge" svg slow_run.svg && python3 "$here/turns.py" slow_run.json slow_run.txt slow_run.svg
}
check "kernels that run in turns are together in the text and the drawing of a plan and of a run, and so are the waits for pieces" turns
together() { # in the graph and beside the source, too
  "$build/gnncc" --measured=slow_run.json --emit=dag=slow.dot,annotate=slow.html,annotate=slow_lines.txt && python3 "$here/together.py" slow_run.json slow.dot slow.html slow_lines.txt
}
check "so are the steps of a kernel in the graph, and those of its line" together
stretches() { # of each kind one
  python3 "$here/sequence.py" large.json sequence.json >expected.txt && COLUMNS=400 LC_ALL=C "$build/gnncc" --measured=sequence.json --emit=gantt=sequence.txt || return 1
  sed -n 's/^\(steps [0-9]* to [0-9]*\) take [^:]*: \(.* by turns of\)/\1 \2/p' sequence.txt | diff expected.txt -
}
check "where turns begin and end" stretches
tell_bound() { # MODEL CUT BUDGET WORDS: the text has the words, the ratio of the document, and what each of its lanes takes
  cut_plan "$2" "$3" --plan --emit=plan=bound.json "$1" >bound.txt && grep '^  bound' bound.txt && "$judge" report bound.json && grep -q "^  bound     $4, busy for " bound.txt || return 1
  python3 - <<'END'
import json, re
report = json.load(open("bound.json"))
line = re.search(r"^  bound     (.*)$", open("bound.txt").read(), re.M)[1]
words = {"compute": "compute", "d2h": "copies off the device", "h2d": "copies onto the device", "ssd write": "writes to the SSD", "ssd read": "reads from the SSD"}
epoch, lanes = report["epoch"], {lane["lane"]: lane["busy_seconds"] for lane in report["lanes"]}
assert line.startswith(words[max(lanes, key=lanes.get)] + ", "), line
told = {lane: float(ms) for lane in words for ms in re.findall(words[lane] + r"(?:, busy for)? ([0-9.]+) ms", line)}
assert told.keys() == lanes.keys() and all(abs(told[lane] - 1e3 * lanes[lane]) <= 0.006 * told[lane] for lane in lanes), (told, lanes)
assert f"the epoch is {epoch['seconds'] / max(lanes.values()):.2f} times the longest" in line, line
assert ("of it recomputing" in line) == (epoch["recompute_seconds"] > 0) and ("slower beside copies" in line) == ("slowed_seconds" in epoch), line
END
}
sed 's/bandwidth = 6GB\/s; latency = 10us/bandwidth = 200MB\/s; latency = 10us; slowdown = 40%/' away.gnn >link.gnn
sed 's/bandwidth = 6GB/bandwidth = 100MB/' cut.gnn >far.gnn
check "a plan says that a link binds, and what that slows down" tell_bound link.gnn 'rows(8)' 64MiB 'copies onto the device'
check "a plan says that compute binds where something is made again" tell_bound far.gnn whole 25MiB compute
both_passes() { # waits for pieces of one value in both
  python3 -c '
import json
report = json.load(open("slow_run.json"))
for step in report["steps"]:
    if "value" in step and "group" in step: step["group"] = "v"
json.dump(report, open("both.json", "w"))' || return 1
  COLUMNS=400 LC_ALL=C "$build/gnncc" --measured=both.json --emit=gantt=both.txt,gantt=both.svg && grep ' wait .* for pieces (in v <- host)' both.txt && python3 "$here/turns.py" both.json both.txt both.svg && [ $(grep -c ' wait .* for pieces (in v <- host)' both.txt) = 2 ]
}
check "waits for pieces of a value in both passes are two lines" both_passes
many_turns() { # more of them than boxes may be
  python3 - <<'END'
import json
report, at = json.load(open("large.json")), 0
for step in report["steps"]:
    if step["lane"] == "compute" and step["phase"] != "wait":
        step.update(group=f"kernel{at // 2}", part=at % 2 + 1)
        at += 1
json.dump(report, open("turns.json", "w"))
END
  "$build/gnncc" --measured=turns.json --emit=gantt=turns.svg,gantt=turns.txt && "$judge" svg turns.svg && [ $(grep -c ': 2 parts by turns of kernel' turns.txt) -gt 200 ] && [ $(grep -c '<title>' turns.svg) -le 200 ]
}
check "a drawing of at most 200 boxes where kernels take turns too often" many_turns
nothing_moves() { cut_plan 'rows(8)' 1GiB --plan cut.gnn >kept.txt && layers kept.txt && layers kept.txt | grep -q '^  gcn1 .* rows(8)  *8$' && ! layers kept.txt | grep -q 'host\|hidden' && ! grep '^  bound' kept.txt; }
check "where nothing moves, there are no columns of it" nothing_moves
whole_says_nothing() { cut_plan whole 1GiB --plan --emit=plan=whole.json,gantt=whole.svg,gantt=whole_gantt.txt cut.gnn >whole.txt && ! grep 'turns' whole.svg whole_gantt.txt && "$judge" report whole.json && ! grep '^  layer  ' whole.txt && ! grep '"layers"\|"group"' whole.json; }
check "of a program that is not cut nothing is said" whole_says_nothing
compared() { # a value in pieces is one line, beside what it is when it is whole
  "$build/gnncc" --compare whole.json slow.json | tee compared.txt || return 1
  python3 - <<'END'
import json, re
docs = []
for name in ("whole.json", "slow.json"):
    values = {}
    for v in json.load(open(name))["values"]:
        values.setdefault(v.get("group", v["value"]), []).append(v)
    docs.append(values)
text = lambda values: "(absent)" if not values else fates[0] if len(set(fates := [v["fate"] for v in values])) == 1 else ", ".join(f"{fates.count(f)} {f}" for f in ("keep", "recompute", "host", "ssd") if f in fates)
adds = lambda values: 1e3 * sum(v["adds_seconds"] for v in values or [])
share = lambda values: {f: sum(v["fate"] == f for v in values) / len(values) for f in ("keep", "recompute", "host", "ssd")} if values else None
told = {name: (before, after, float(change)) for name, before, after, change in re.findall(r"^  (\S+) +\d+ +\S+ \w+  (\S.*?) +-> (\S.*?)  +(\S+)$", open("compared.txt").read(), re.M)}
for name in {**docs[0], **docs[1]}:
    x, y = (d.get(name) for d in docs)
    assert (name in told) == (share(x) != share(y) or abs(adds(y) - adds(x)) > 0), name
    if name in told:
        parts = lambda t: sorted(t.split(", "))
        assert parts(told[name][0]) == parts(text(x)) and parts(told[name][1]) == parts(text(y)) and abs(told[name][2] - (adds(y) - adds(x))) < 1e-3, (name, told[name])
assert any("," in after for _, after, _ in told.values()) and sum(before != after for before, after, _ in told.values()) > 10
moved = sum(share(docs[0].get(n)) != share(docs[1].get(n)) for n in {**docs[0], **docs[1]})
assert f"  {moved} of {len({**docs[0], **docs[1]})} values have another fate" in open("compared.txt").read()
END
}
check "a plan that is cut compared with one that is not" compared
field_away() { # a field on the host is moved, and what stands first among the values is not
  cut_plan 'rows(8)' 16MiB --plan --emit=plan=away.json away.gnn >away.txt && cat away.txt && "$judge" report away.json && grep -q '^  x  *given .* host .* of 8 pieces 8 host' away.txt || return 1
  python3 - <<'END'
import json
report = json.load(open("away.json"))
moved = {s["value"] for s in report["steps"] if s["phase"] == "move"}
wrong = [v["value"] for v in report["values"] if v["fate"] == "host" and v["value"] not in moved]
print(wrong)
raise SystemExit(bool(wrong))
END
}
check "a field that stays on the host" field_away

loop() { # the turns of a loop, in the listing, too
  cat >loop.gnn <<'END'
data g from synth(kind = "rmat", nodes = 2000, degree = 10, features = 64, classes = 16, seed = 1)
model m on g {
  h = x |> GCN(64) as first |> relu
  for i in 1..3 {
    h = h |> GCN(64) as conv |> relu
  }
  h = h |> APPNP(k = 4) as steps
  return h |> GCN(y.classes) as last
}
train m {
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = 3
}
END
  $gnncc $fast --emit=report=loop.html,plan=loop.json,schedule=loop.txt loop.gnn && cat loop.txt && "$judge" report loop.json || return 1
  [ "$(awk '$2 == "compute"' loop.txt | grep -c ' conv\.[012]  ')" = "$(grep -c '"layer": "conv\.[012]"' loop.json)" ] && [ $(grep -c '"layer": "conv\.1"' loop.json) -ge 4 ] &&
    for turn in 0 1 2 3; do [ $(grep -c "\"layer\": \"steps\.$turn\"" loop.json) -ge 3 ] || return 1; done
}
check "a loop shows its turns, also one within a layer" loop
bracketed() { # above the lanes of drawings, too
  COLUMNS=240 $gnncc --measured=loop.json --emit=gantt=loop_gantt.txt,gantt=loop.svg && cat loop_gantt.txt && "$judge" svg loop.svg &&
    sed -n '/ layers /p' loop_gantt.txt | grep -q '│first *│conv 1/3 *│conv 2/3 *│conv 3/3 *│.*│last.*│conv 3/3 *│conv 2/3' || return 1
  for layer in first 'conv 1/3' 'conv 2/3' 'steps 1/4' 'steps 4/4' last; do [ "$(grep -c "data-layer=\"$layer\"" loop.svg)" -ge 2 ] || { echo "no $layer"; return 1; }; done
  $gnncc --measured="$here/spill.json" --emit=gantt=- | grep -q ' layers ' && return 1 # a document that says of none
  LC_ALL=C COLUMNS=60 $gnncc --measured=loop.json --emit=gantt=- | sed -n '/ layers /p' | LC_ALL=C grep -qE '^.{20}[ -~]+$'
}
check "  drawings have brackets of the layers" bracketed

of_ranks() { # the first has nothing, the second is the slowest; the browser opens the page below
  cat >ranks.gnn <<'END'
data g from synth(kind = "rmat", nodes = 8200, degree = 5, features = 12, classes = 5, seed = 3)
model m on g { return x |> SAGE(16) |> relu |> SAGE(y.classes) }
train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 6 }
END
  "$build/gnncc" -w $fast --ranks=5 --emit=report=ranks.html,plan=ranks.json,gantt=ranks.svg,gantt=ranks.txt ranks.gnn && cat ranks.txt && "$judge" report ranks.json && "$judge" svg ranks.svg ranks.json && grep -q '>exchange<' ranks.svg || return 1
  [ "$(sed -n 's/^\(rank .*\): computes .* of .*s$/\1/p' ranks.txt)" = $'rank 0, the first\nrank 1, the slowest\nrank 4, the last' ] && diff <(grep -o '>rank [0-9], the [a-z]*: computes [^<]*' ranks.svg | cut -c2-) <(grep '^rank ' ranks.txt)
}
check "ranks have a group of lanes each: the first, the slowest and the last" of_ranks
many_boxes() { # theirs count, too
  python3 -c 'import json; d = json.load(open("ranks.json")); d["ranks"]["shown"] *= 6; json.dump(d, open("many.json", "w"))' && "$build/gnncc" --measured=many.json --emit=gantt=many.svg && "$judge" svg many.svg &&
    [ $(grep -c '>rank [0-9], the ' many.svg) = 18 ] && [ $(grep -c '<title>' many.svg) -le 200 ]
}
check "  of at most 200 boxes in all" many_boxes
slow_ranks() { # whole milliseconds, or microseconds, where there are thousands
  python3 -c '
import json
d = json.load(open("ranks.json"))
for r in d["ranks"]["shown"]:
    for key in ("start_seconds", "seconds"): r[key] = [1000 * t for t in r[key]]
json.dump(d, open("slow_ranks.json", "w"))' && "$build/gnncc" --measured=slow_ranks.json --emit=gantt=- | grep '^rank 1, the slowest: computes [0-9]\{4,\} of [0-9]\{4,\} [mu]s$'
}
check "  in numbers that can be read" slow_ranks

waits_last() { # an epoch that ends with waits for what goes home: the memory of the evaluation begins at 0
  cat >home.gnn <<'END'
data g from synth(kind = "rmat", nodes = 8192, degree = 6, features = 4, classes = 8, seed = 1) {
  node e : learned[32]
}
model m on g {
  return e |> GCN(16) |> relu |> GCN(y.classes)
}
train m {
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = 3
}
plan {
  cut      = rows(4)
  fate "e" = host
}
target box {
  device cpu { memory = 1GiB; bandwidth = 24GB/s; fp32 = 120GFLOP/s }
  tier host { budget = 80MiB }
  link cpu <-> host { bandwidth = 6GB/s; latency = 10us }
}
END
  $gnncc -w $fast --emit=plan=home.json,gantt=home.svg home.gnn && "$judge" report home.json && "$judge" svg home.svg &&
    python3 -c 'import json; d = json.load(open("home.json")); n = d["training_steps"]; assert d["steps"][n - 1]["phase"] == "wait" and [m["start_seconds"] for m in d["memory"] if m["step"] > n][0] == 0'
}
check "an epoch that ends with waits" waits_last

# ---- plans of the planner alone ----

planned() { # FAMILY SEED...: of those that fit, the report's sums and the trace's rules
  local family=$1 seed fitting=0
  shift
  for seed in "$@"; do
    "$build/tests/make_problem" $family $seed >problem.json
    "$build/gnncc" plan problem.json --emit=plan=planned.json,trace=planned.trace.json >planned.txt
    case $? in
      0) fitting=$((fitting + 1)) ;;
      1) continue ;;
      *) return 1 ;;
    esac
    "$judge" report planned.json && "$judge" trace planned.trace.json planned.json || { echo "family $family, seed $seed"; return 1; }
  done
  [ $fitting -gt 0 ]
}
check "a transformer's plan" planned 3 1 2 3
check "a mixture of experts, with exchanges" planned 6 1 2 3
check "a GCN in parts, a U-Net" planned 4 1 2 3
check "odd problems" planned odd $(seq 1 30)
transformer_page() { # the browser opens it below
  "$build/tests/make_problem" 3 1 12 >deep.json && "$build/gnncc" plan deep.json --effort fast --emit=plan=deep.plan.json,report=transformer.html && "$judge" report deep.plan.json
}
check "a transformer's page" transformer_page
"$build/tests/make_problem" 3 1 >problem.json
problem_sweep() { # as of a program; a picture is drawn for the largest budget
  "$build/gnncc" plan problem.json --effort fast --sweep=device=4MB:40MB >sweep.txt && cat sweep.txt && grep -q 'everything kept' sweep.txt && grep -q 'least that works' sweep.txt && grep -q 'current budget 9.4 MiB' sweep.txt &&
    "$build/gnncc" plan problem.json --effort fast --sweep device=9MB:12MB:500KB --emit=sweep=problem.svg,plan=large.plan && "$judge" svg problem.svg && grep -q '"budget_bytes": 12000000' large.plan
}
check "a sweep of a problem" problem_sweep
own_sweep() { # in the page: from what keeping everything needs down to the least, and the plan itself is one of its points
  "$build/gnncc" plan problem.json --emit=report=swept.html,plan=swept.json && "$build/gnncc" --measured=swept.json --emit=sweep=- >swept.txt && cat swept.txt && "$judge" report swept.json &&
    grep -q 'everything kept' swept.txt && grep -q 'least that works' swept.txt && grep 'current budget 9.4 MiB' swept.txt | grep -q "$("$build/gnncc" plan problem.json | sed -n 's/  time *\([0-9.]*\) ms.*/\1/p') ms"
}
check "the page of a problem has a sweep" own_sweep
problem_sweeps() { # of two problems, and of two tiers
  "$build/tests/make_problem" 3 2 >problem2.json && "$build/gnncc" plan problem.json problem2.json --effort fast --sweep device=5MB:40MB:5MB >two.txt && [ $(grep -c '^sweep of' two.txt) = 2 ] &&
    "$build/gnncc" plan problem.json --effort fast --sweep device=6MB:20MB,host=0:12MB --emit=sweep=heat.svg && "$judge" svg heat.svg
}
check "sweeps of two problems, and of two tiers" problem_sweeps
of_policy() { # what is drawn is the policy's plan
  local told=$("$build/gnncc" plan problem.json --policy=offload | sed -n 's/  time *\([0-9.]*\) ms.*/\1/p') ours=$("$build/gnncc" plan problem.json | sed -n 's/  time *\([0-9.]*\) ms.*/\1/p') drawn
  "$build/gnncc" plan problem.json --policy=offload --emit=plan=offload.json,gantt=offload.svg && "$judge" svg offload.svg offload.json || return 1
  drawn=$(awk '/"epoch": {/ { getline; printf "%.2f", 1000 * ($2 + 0) }' offload.json)
  echo "$told told, $drawn drawn, $ours ours"
  [ "$told" = "$drawn" ] && [ "$told" != "$ours" ]
}
check "the picture of a policy's plan" of_policy
no_source() { "$build/gnncc" plan problem.json --annotate 2>refused.txt; [ $? = 2 ] && grep -q 'no source to annotate' refused.txt; }
check "a problem has no source to annotate" no_source
refuse 2 "policies are compared in text" "$build/gnncc" plan problem.json --compare-policies --report
refuse 2 "a sweep of a problem over no tier" "$build/gnncc" plan problem.json --sweep disk=1:2
refuse 2 "a sweep that is not asked for" "$build/gnncc" plan problem.json --emit=sweep
refuse 2 "two problems without a sweep" "$build/gnncc" plan problem.json problem.json --emit=gantt=-
refuse 1 "a policy that does not fit" "$build/gnncc" plan problem.json --policy=keep --emit=gantt=-
from_input() { "$build/gnncc" plan - --emit=gantt=- <problem.json | grep -q '^device'; }
check "a problem from standard input" from_input
columns() { sed '/^evaluation/,$d' "$1" | sed 1d | awk '{ print $1, $2, $3 ~ /^[a-z]/ ? $3 " " $4 " " $5 : $3 " " $4 }'; }
same_steps() { # MODEL OPTION...: the steps of a program and of its problem: numbers, lanes, times
  $gnncc --target=box "${@:2}" --emit=schedule=program.txt,problem=p.json "$1" && "$build/gnncc" plan p.json --emit=schedule=problem.txt || return 1
  columns program.txt >program.columns && columns problem.txt >problem.columns
  [ $(wc -l <program.columns) -gt 60 ] && grep -q "$wanted" program.columns && diff program.columns problem.columns
}
one_unit() { "$build/gnncc" plan problem.json | sed '/planned in/d' >p.txt && grep -q 'per epoch' p.txt && [ "$(grep -oE '[0-9] (ns|us|ms|s)\b' p.txt | cut -c3- | sort -u | wc -l)" = 1 ]; }
check "the times of a report are in one unit" one_unit
wanted='ssd read' check "a problem has the steps of its program" same_steps "$here/spill.gnn" --budget device=250MiB --budget host=80MiB '--cut=rows(4)'
sed '/tier host/d; s/cpu <-> host/cpu <-> ssd/; /host <-> ssd/d; s/bandwidth = 6GB\/s; latency = 10us/read = 700MB\/s; write = 500MB\/s; latency = 100us/' "$here/spill.gnn" >direct.gnn
wanted='ssd write' check "and where the device reaches the SSD itself" same_steps direct.gnn --budget device=215MiB
both_outputs() { "$build/gnncc" plan problem.json -o p.plan.json --emit=gantt=p.svg && "$build/gnncc" plan problem.json --check p.plan.json && "$judge" svg p.svg && "$build/gnncc" plan problem.json -o p.plan.json; }
check "a plan and its pictures at once" both_outputs
foreign_plan() { echo "a diary" >p.diary; "$build/gnncc" plan problem.json -o p.diary; [ $? = 4 ] && [ "$(cat p.diary)" = "a diary" ]; }
check "a plan goes over no file of somebody else" foreign_plan
lost() { # ARGUMENT...: what is printed goes nowhere: one line says so
  "$build/gnncc" "$@" >/dev/full 2>lost.txt
  [ $? = 4 ] && [ "$(cut -d: -f1-3 lost.txt)" = "gnncc: error: cannot write standard output" ]
}
"$build/gnncc" plan problem.json -o p.plan.json >/dev/null
for arguments in "problem.json" "problem.json --check p.plan.json" "problem.json --effort=fast --compare-policies" "problem.json --policy=keep" \
  "problem.json --emit=gantt=-" "problem.json --emit=plan=-,schedule=-" "--help"; do
  check "gnncc plan $arguments on a full disk" lost plan $arguments
done
plan_lost() { ! "$build/gnncc" plan problem.json -o - >/dev/full 2>lost.txt && grep -q '^gnncc: error: cannot write standard output: No space' lost.txt; }
check "gnncc plan -o - on a full disk" plan_lost
check "gnncc --version on a full disk" lost --version
refuse 2 "gnncc plan into no file" "$build/gnncc" plan problem.json --report=
refuse 2 "gnncc plan --emit of what needs a model" "$build/gnncc" plan problem.json --emit=c

# ---- the page in a browser ----

if command -v python3 >/dev/null && { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null; then
  $gnncc --plan-effort=fast --target=box --budget device=250MiB --budget host=80MiB '--cut=rows(4)' --report=way.html --emit=plan=way.json "$here/spill.gnn"
  python3 "$here/page.py" "$work/measured.html" "$here/spill.json" one.html x.json "$work/roomy.html" transformer.html "$work/bare.html" wide.html waiting.html waiting.json slices.html slices.json loop.html loop.json ranks.html ranks.json way.html way.json >page.tap 2>page.log
  while read -r status name; do
    cp page.log "$tap_log"
    case $status in ok) true ;; *) false ;; esac
    tap_line $? "$name"
  done <page.tap
  [ -s page.tap ] || { cp page.log "$tap_log"; tap_line 1 "the page in a browser"; }
else
  skip "the page in a browser" "python3 and chromium are needed"
fi
finish
