#!/bin/bash
# names.sh BUILD [long]: names are text. Whatever a file, a field, an option or a line of help is called, nothing of it runs, what
# gnncc writes is well-formed, and the name is in it whole; what no name may have is refused. `long` builds with CMake under each name.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
is_long=${2:-}
. "$here/../tap.sh"
gnncc=$build/gnncc example=$here/../../examples/gcn_karate.gnn
workplace
export LC_ALL=C.UTF-8

says() { # TEXT COMMAND...: a message with that text, of gnncc's own
  local text=$1
  shift
  "$@" 2>&1 | grep -F -- "$text"
}
nothing_ran() { ! find "$work" -name 'pwned*' | grep .; }

# ---- what no name may have ----

refused=($'new\nall: ; touch pwned' $'re\rturn' $'esc\033[2J' $'tab\there' $'del\177' $'c1\302\205' $'latin\351' $'overlong\300\257' $'surrogate\355\240\200' $'cut\342\202')
for bad in "${refused[@]}"; do
  shown=$(printf %q "$bad")
  cp "$example" "$bad.gnn"
  refuse 2 "a model called $shown" "$gnncc" -S "$bad.gnn" -o refused
  refuse 2 "--name=$shown" sh -c '"$1" -S --name="$2" -o refused - <"$3"' sh "$gnncc" "$bad" "$example"
  refuse 2 "--prefix=$shown" "$gnncc" -S --prefix="$bad" "$example" -o refused
  refuse 2 "--data=$shown" "$gnncc" -S --data="$bad" "$example" -o refused
  refuse 2 "a problem called $shown" "$gnncc" plan "$bad.json"
done
check "nothing was written" test ! -e refused
check "the message says what is wrong" says "has a control character" "$gnncc" -S $'new\nline.gnn'
check "and with what" says 'new\nline.gnn' "$gnncc" -S $'new\nline.gnn'
check "in the environment, too" says "has a control character" env GNNCC_FLAGS=$'--prefix=a\001b' "$gnncc" -S "$example"
check "text that is not UTF-8" says "is not text in UTF-8" "$gnncc" -S $'latin\351.gnn'
check "no name at all" says "--prefix=: a name" "$gnncc" -S --prefix= "$example"
check "a name too long for files" says "a name of 1 to 200" "$gnncc" -S --prefix="$(printf 'p%.0s' {1..201})" "$example"
cp "$example" "$(printf 'f%.0s' {1..240}).gnn"
refuse 2 "a file's name too long for what begins with it" "$gnncc" -q "$(printf 'f%.0s' {1..240}).gnn"
rm -f ./*.gnn

# ---- names that end comments, open strings, or run ----

names=("it's \$(touch pwned)\`touch pwned\`; touch pwned; \$(shell touch pwned) \"%s%n\" \${PATH} {{generator}} @~,=1+1" 'dir/end*/touch??/' 'a</script><svg onload=alert(1)>]]>--><b>' 'back\'
  'coding=utf-7 +AAo-import os+AAo-' '-S' "$(printf 'e\314\201 \346\274\242\345\255\227 \360\237\230\200 \342\200\256')" "$(printf 'n%.0s' {1..200})")
more=('a$(touch pwned)b' 'a`touch pwned`' "it's \"quoted\"" 'ends*' '%s%n%08x' 'end*/touch' '</script><svg onload=alert(1)>' ']]>' '--><b>' 'a,b"c,=1+1' '=cmd()' ' spaces  '
  '#[[ && ; | {{generator}} ${PATH} $$ ~' 'coding: rot13' 'what??/' 'a/*' "\$(shell touch pwned)" "'; touch pwned; '" '!ref' '@~`')
if [ "$is_long" ]; then names+=("${more[@]}"); fi
if ! command -v python3 >/dev/null; then
  skip "${#names[@]} names in what gnncc writes" "python3 is not installed"
  names=()
fi
count=0
for odd in "${names[@]}"; do
  count=$((count + 1))
  folder=in$count
  mkdir -p "$(dirname "$folder/x/$odd.gnn")"
  cp "$example" "$folder/x/$odd.gnn"
  base=$(basename -- "$odd.gnn")
  written() ( # all that has the name in it: sources, and the views
    cd "$folder/x" && "$gnncc" -q -S -o ../gen -- "$odd.gnn" && cd .. && mkdir views &&
      "$gnncc" -q --budget device=24KiB --budget host=1MiB --emit=plan=views/p.json,trace=views/t.json,gantt=views/g.svg,dot=views/d.dot,memory=views/m.csv,report=views/r.html,annotate=views/a.html,sweep=views/s.svg,sweep=views/s.json,gantt=views/g.txt,c=views/it.c \
        --sweep device=20KiB:40KiB:10KiB "x/$odd.gnn" && rm views/it.c
  )
  check "$odd: written" written
  check "$odd: make reads the Makefile, and runs nothing else" make -s -C "$folder/gen" CC=true AR=true all
  check "$odd: the sources are well-formed" sh -c 'cp "$1"/gen/plan.json "$1"/plan.json && rm "$1"/gen/plan.json && python3 "$2"/products.py "$1"/gen "$3"' sh "$folder" "$here" "$odd.gnn"
  check "$odd: the views are well-formed" python3 "$here/products.py" "$folder/views" "$base"
  if [ "$is_long" ] && command -v cmake >/dev/null; then check "$odd: CMake reads CMakeLists.txt" cmake -S "$folder/gen" -B "$folder/cmake"; fi
  printf 'model m on nothing {\n' >"$folder/x/$odd.gnn"
  for form in json sarif; do
    "$gnncc" --check --diagnostics=$form "$folder/x/$odd.gnn" 2>"$folder/$form"
  done
  check "$odd: diagnostics name it" python3 -c '
import json, sys, urllib.parse
line, log = json.load(open(sys.argv[1] + "/json", encoding="utf-8")), json.load(open(sys.argv[1] + "/sarif", encoding="utf-8"))
place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
assert line["file"] == urllib.parse.unquote(place["artifactLocation"]["uri"]) == sys.argv[2], line' "$folder" "$folder/x/$odd.gnn"
done
check "none of them ran" nothing_ran

# ---- in the program: help, paths, what it is told on its command line ----

help='%s \"$(touch pwned)\" \\ */ ??/ </script> ]]> `touch pwned` , =cmd()'
mkdir "it's \$(touch pwned)"
sed "s|\"learning rate\"|\"$(printf %s "$help" | sed 's/[\\&|]/\\&/g')\"|" "$example" >"it's \$(touch pwned)/h*.gnn"
check "a program of a hostile folder, its scratch in another" env TMPDIR="$work/it's \$(touch pwned)" "$gnncc" -q "it's \$(touch pwned)/h*.gnn" -o program
check "a library" env TMPDIR="$work/it's \$(touch pwned)" "$gnncc" -q --lib "it's \$(touch pwned)/h*.gnn" -o "lib it's.a"
check "its help has the text as it was written" sh -c './program --help | grep -F "%s \"\$(touch pwned)\" \\ */ ??/ </script> ]]> \`touch pwned\` , =cmd()"'
if command -v python3 >/dev/null; then
  check "and so has info --json" python3 -c '
import json, subprocess
told = json.loads(subprocess.run(["./program", "info", "--json"], check=True, capture_output=True).stdout)
text = "%s \"$(touch pwned)\" \\ */ ??/ </script> ]]> `touch pwned` , =cmd()"
assert any(text in str(value) for value in json.dumps(told, ensure_ascii=False).replace("\\\"", "\"").replace("\\\\", "\\").split("\n")), told
assert "it\x27s $(touch pwned)/h*.gnn" in told.values(), told'
  check "run.json is JSON whatever the command line was" sh -c './program -q --epochs 1 --out "$1" && python3 -c "import glob, json; [json.load(open(path, encoding=\"utf-8\")) for path in glob.glob(\"out*/run.json\")][0]"' sh $'out\351\n"'
else
  skip "info --json and run.json" "python3 is not installed"
fi
check "nothing ran there either" nothing_ran

# ---- documents by others ----

if command -v python3 >/dev/null; then
  "$gnncc" --plan=json "$example" >run.json
  change() { # FILE MEMBER...: the same document with a hostile text in place of each
    python3 - "$@" <<'PYTHON'
import json, sys
document = json.load(open("run.json"))
text = '</script><svg onload=alert(1)>"\'&]]>-->\n\\$(touch pwned)'
for path in sys.argv[2:]:
    node, keys = document, path.split(".")
    for key in keys[:-1]:
        node = node[int(key) if key.isdigit() else key]
    node[int(keys[-1]) if keys[-1].isdigit() else keys[-1]] = text
if "steps.0.lane" in sys.argv:
    for lane in document["lanes"] + document["steps"]:
        lane["lane"] = text
json.dump(document, open(sys.argv[1], "w"))
PYTHON
  }
  views() { # FILE FOLDER
    mkdir "$2" && "$gnncc" --measured="$1" --emit=trace="$2/t.json,gantt=$2/g.svg,dot=$2/d.dot,memory=$2/m.csv,report=$2/r.html,annotate=$2/a.html"
  }
  change hostile.json model data target fingerprint machine.device source.file source.lines.3 steps.0.what steps.0.kernel values.0.value steps.0.lane
  check "views of a hostile document" views hostile.json of_hostile
  check "are well-formed" python3 "$here/products.py" of_hostile "$(python3 -c "import json; print(json.load(open('hostile.json'))['source']['file'])")"
  change generator.json generator
  refuse 4 "a document whose generator is no word" "$gnncc" --measured=generator.json --emit=dot=never.dot
  "$gnncc" --emit=problem=plain.json "$example"
  python3 - plain.json <<'PYTHON'
import json, sys
text = open(sys.argv[1]).read()
ids = {item["id"] for part in json.loads(text).values() if isinstance(part, list) for item in part if isinstance(item, dict) and "id" in item}
for one in sorted(ids, key=len, reverse=True):
    text = text.replace(json.dumps(one), json.dumps('</script><svg onload=x>"\\' + one))
document = json.loads(text)
document["name"] = 'a</script><svg onload=x>"&-->'
json.dump(document, open("problem.json", "w"))
PYTHON
  planned() {
    mkdir of_problem && "$gnncc" plan problem.json --emit=plan=of_problem/p.json,trace=of_problem/t.json,gantt=of_problem/g.svg,dot=of_problem/d.dot,memory=of_problem/m.csv,report=of_problem/r.html &&
      "$gnncc" plan problem.json -o planned.json && "$gnncc" plan problem.json --check planned.json
  }
  check "a problem with hostile names, planned and checked" planned
  check "its views are well-formed" python3 "$here/products.py" of_problem 'a</script><svg onload=x>"&-->'
fi

# ---- names that build systems have for themselves ----

for target in clean all install help; do # the runtime is compiled once
  builds() { "$gnncc" -q --name=$target -S -o target_$target - <"$example" && { [ ! -e runtime.o ] || cp runtime.o target_$target/gnnrt.o; } &&
    make -s -C target_$target CFLAGS=-O0 && cp target_$target/gnnrt.o runtime.o && test -x target_$target/m_$target && make -s -C target_$target clean && test -f target_$target/m_$target.c; }
  check "a model called $target: make builds it, and its sources stay" builds
done

# ---- long names ----

long() { printf "$1%.0s" $(seq "$2"); } # LETTER COUNT
layer=$(long l 244) option=$(long o 255) value=$(long v 255)
cat >longest.gnn <<GNN
option $option = 0.01 "as long as names can be"
data karate from karate()
model m on karate {
  $value = GCN(x, 8) as $layer
  return GCN(relu($value), y.classes) as conv2
}
train m {
  loss = cross_entropy(out, y)
  optimizer = adam(lr = $option)
  epochs = 4
  checkpoint = every(2)
}
GNN
weight=$layer.lin.weight
check "the longest weight has 255 characters" test ${#weight} -eq 255
check "a program of the longest names" "$gnncc" -q longest.gnn -o longest
check "trains" ./longest -q --out whole
check "takes its option" ./longest -q --epochs 2 --out half "--$option=0.01"
check "and goes on from its checkpoint" ./longest -q --out half --resume
check "with the same weights" cmp whole/last.safetensors half/last.safetensors
check "under that name" grep -q -F "\"opt.adam.m.$weight\"" "$(ls half/checkpoint-*.safetensors | tail -1)"
check "help shows the option whole" sh -c './longest --help | grep -q -- "--$1 0.01 as long"' sh "$option"
sed "s/$layer/${layer}l/" longest.gnn >longer.gnn
refuse 1 "one character more is an error" "$gnncc" -q longer.gnn -o longer
check "at its place" says 'longer.gnn:4:' "$gnncc" -q longer.gnn -o longer

# ---- texts that are no paths, ranges that run backward ----

mkdir sub
sed 's/from karate() {/from synth("sbm", nodes = 200, degree = 4, features = 34, classes = 4, seed = 0) {/' "$example" >sub/synth.gnn
same_plan() {
  "$gnncc" --plan=json sub/synth.gnn >from_here && (cd sub && "$gnncc" --plan=json synth.gnn) >from_there && cmp from_here from_there
}
check 'synth("sbm", ...) means the same from any folder' same_plan
check "and its program runs there" sh -c '"$1" -q sub/synth.gnn -o made && ./made -q --epochs 1 --out out' sh "$gnncc"
sed 's/  h = x/  for i in 1 .. -5 { h = x }\n&/' "$example" >backward.gnn
refuse 1 "for i in 1 .. -5" "$gnncc" --check backward.gnn
check "and the message names it" says "from 1 to -5" "$gnncc" --check backward.gnn

# ---- what gnndata shows to paste ----

"$build/gnndata" synth sbm 'da"ta\.safetensors' --nodes 100 --features 4 --classes 2
pasted() {
  "$build/gnndata" info 'da"ta\.safetensors' | sed -n '/^data /,/^}/p' >pasted.gnn &&
    printf 'model m on %s {\n  return GCN(x, y.classes) as conv1\n}\n' "$(sed -n 's/^data \([^ ]*\) .*/\1/p' pasted.gnn)" >>pasted.gnn &&
    "$gnncc" --check pasted.gnn
}
check "the data block of a hostile path" pasted
finish
