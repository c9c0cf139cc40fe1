#!/bin/bash
# run.sh BUILD: gnndata convert --memory: lists of edges larger than memory, stopped at any moment, wrong in every way.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnndata=$build/gnndata gnncc=$build/gnncc
workplace
cc -O1 -o make_list "$here/make_list.c" || exit 2

# ---- the bytes of the other way ----
both() { # INPUT OPTION...: in memory and on disk: the same bytes, the same words
  local input=$1
  shift
  rm -f whole.safetensors disk.safetensors
  "$gnndata" convert "$input" whole.safetensors "$@" >whole.out &&
    "$gnndata" convert "$input" disk.safetensors "$@" --memory=1MiB >disk.out && [ ! -e disk.safetensors.convert ] &&
    cmp whole.safetensors disk.safetensors && sed 's/disk.safe/whole.safe/' disk.out | diff whole.out -
}
for form in text csv; do check "a list as $form" ./make_list $form 2000 150000 7 $form.txt; done
for form in rows pairs fortran; do check "a list as $form" ./make_list $form 2000 150000 7 $form.npy; done
for name in text.txt csv.txt rows.npy; do gzip -k $name; done
for input in text.txt csv.txt text.txt.gz csv.txt.gz rows.npy pairs.npy fortran.npy rows.npy.gz; do
  check "$input: the same bytes in memory and on disk" both $input
  [ $input = text.txt ] && cp whole.safetensors first.safetensors
  check "$input: the same graph as in every form" bash -c "'$gnndata' diff first.safetensors disk.safetensors"
done
for options in --undirected --self-loops=add --self-loops=remove "--undirected --self-loops=add --dedup" "--undirected --self-loops=remove" --nodes=5000; do
  check "$options: the same bytes" both text.txt $options
done
printf '1 2\n2 3\n3 1\n' >ones.txt
check "ids from 1" both ones.txt --base=1
check "  are three nodes" grep -q '3 nodes, 3 edges' whole.out
printf '\357\273\2770 1\n1 2\n' >mark.txt
check "a byte order mark" both mark.txt
check "names instead of numbers" bash -c "printf 'a b\nc d\n' >names.txt; '$gnndata' convert names.txt names.safetensors && ! '$gnndata' convert names.txt no.safetensors --memory=1MiB 2>names.said && grep -q 'where nodes have names, the list is read without --memory' names.said"
check "a symmetric list is stored once" bash -c "printf '0 1\n1 0\n1 1\n' >sym.txt; '$gnndata' convert sym.txt sym.safetensors --memory=1MiB && ! grep -q csc sym.safetensors"
check "others by source, too" grep -q csc.row disk.safetensors
printf '# nothing\n' >none.txt
check "no edges" both none.txt --nodes=10
check "no edges, and loops" both none.txt --nodes=10 --self-loops=add
check "  are ten" grep -q '10 nodes, 10 edges' whole.out
: >empty.txt
check "an empty file" both empty.txt --nodes=3
printf '5 5\n5 5\n' >loops.txt
check "one loop, twice" both loops.txt
check "a list is data as it is" bash -c "'$gnndata' info ones.txt | grep -q 'nodes      4'"

# ---- what was written is read as it stands, and compiled for ----
check "converting it again gives its bytes" bash -c "'$gnndata' convert text.txt c1.safetensors --memory=1MiB && '$gnndata' convert c1.safetensors c2.safetensors && '$gnndata' diff c1.safetensors c2.safetensors"
check "its edges are those that were sorted in memory" bash -c "'$gnndata' head c1.safetensors edges 150000 >sorted; tail -n +4 text.txt | awk '{ if (!seen[\$1 \" \" \$2]++) print \$2, \$1 }' | sort -n -k1,1 -k2,2 | awk '{ print NR - 1 \": \" \$2 \" → \" \$1 }' | diff sorted -"

labels() { printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2000,), }"; for i in $(seq 500); do printf '\0\1\2\1'; done; }
labels >y.npy
for name in text.txt c1.safetensors; do
  printf '%s\n' "data g from \"$name\" {" '  node e : learned[8]' '  node y : class[3] = npy("y.npy")' '  split = random(0.5, 0.2, 0.3, seed = 1)' '}' 'model m on g { return e |> SAGE(8) |> relu |> SAGE(y.classes) }' \
    'train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 4; metric = accuracy }' >"${name%%.*}.gnn"
done
check "a plan for it" bash -c "'$gnncc' -w --plan c1.gnn >c1.plan"
check "  that for the list itself, but for what was said of the data and of loading them" bash -c "'$gnncc' -w --plan text.gnn | grep -Ev '^  (data|process) ' | diff <(grep -Ev '^  (data|process) ' c1.plan) -"
check "a program for it" bash -c "'$gnncc' -w -S c1.gnn -o c1 && gcc -std=gnu11 -w -O1 -ffp-contract=off -fno-math-errno -fno-trapping-math -Ic1 c1/c1.c c1/main.c '$build/share/libgnnrt.a' -o program -l:libz.a -lm -lpthread"
check "trains" ./program -q --every 1 --log csv --out c1.out
check "  with the losses and weights that the list gives" bash -c "./program -q --every 1 --log csv --out text.out --data text.txt && diff <(cut -d, -f1-6 c1.out/log.csv) <(cut -d, -f1-6 text.out/log.csv) && cmp c1.out/last.safetensors text.out/last.safetensors"

block() { # ARGUMENTS: what info of a program with such a source says
  printf '%s\n' "data g from edges($1) { node e : learned[8] }" 'model m on g { return e |> Linear(2) }' >block.gnn
  "$gnncc" -w --emit=c=- block.gnn >said 2>&1
}
says_nodes() { block "$1" && grep -q "model m on g: $2 nodes, 3 edges" said; }
check "edges(...) in a data block" says_nodes '"ones.txt"' 4
check "  counted from 1" says_nodes '"ones.txt", base = 1' 3
check "  with more nodes" says_nodes '"ones.txt", nodes = 10' 10
refuses_block() { ! block "$1" && cat said && grep -qF "$2" said; }
check "  a base that is none" refuses_block '"ones.txt", base = 2' '"base" is 0 or 1'
check "  nodes that are none" refuses_block '"ones.txt", nodes = 1.5' '"nodes" is a whole number'
check "  an argument that is none" refuses_block '"ones.txt", bas = 1' 'did you mean "base"?'
check "  fewer nodes than there are" refuses_block '"ones.txt", nodes = 3' 'but nodes run 0 … 2'

# ---- in a fixed memory ----
check "a list of 2 million edges" ./make_list text 60000 2000000 3 long.txt
limited() { (ulimit -v 7000 && "$gnndata" convert "$@"); } # KiB of address space: the program has 3 MiB of it
refuse 3 "7 MB are not enough to sort it in memory" limited long.txt no.safetensors
check "but on disk with 1 MiB: a thirtieth of its edges as keys" limited long.txt long.safetensors --memory=1MiB
check "and both ways" limited long.txt both.safetensors --memory=1MiB --undirected
check "in memory" bash -c "'$gnndata' convert long.txt a.safetensors && '$gnndata' convert long.txt b.safetensors --undirected"
check "the same bytes" bash -c "cmp long.safetensors a.safetensors && cmp both.safetensors b.safetensors"
check "with other memory the same bytes" bash -c "'$gnndata' convert long.txt c.safetensors --memory=3MB && cmp c.safetensors a.safetensors"
check "it says how far it is" bash -c "'$gnndata' convert long.txt c.safetensors --memory=8MiB 2>&1 >/dev/null | grep -q 'gnndata: read 2,000,000 edges into'"

# ---- stopped ----
killed() { # OUT REFERENCE OPTION...: with SIGKILL at moments drawn by chance, ever later, until it is done; memory differs from turn to turn
  local out=$1 reference=$2 kills=0 turn pid
  shift 2
  for turn in $(seq 60); do
    "$gnndata" convert long.txt "$out" "$@" --memory=$((1 + turn % 3))MiB >/dev/null 2>said &
    pid=$!
    sleep "0.$(printf %03d $((RANDOM % (20 * turn) + 20)))"
    kill -9 $pid 2>/dev/null && kills=$((kills + 1))
    wait $pid 2>/dev/null && break
    [ ! -e "$out" ] || cmp "$out" "$reference" || return 1
  done
  [ -e "$out.convert" ] && { "$gnndata" convert long.txt "$out" "$@" --memory=1MiB || return 1; }
  echo "killed $kills times"
  [ $kills -ge 3 ] && cmp "$out" "$reference" && [ ! -e "$out.convert" ]
}
check "killed at random moments and gone on with: the same bytes" killed killed.safetensors a.safetensors
check "the same both ways" killed killed2.safetensors b.safetensors --undirected
check "the same packed" bash -c "gzip -kc text.txt >p.txt.gz; $(declare -f killed | sed 's/long.txt/p.txt.gz/g; s/-ge 3/-ge 0/'); gnndata='$gnndata'; '$gnndata' convert p.txt.gz p.safetensors && killed packed.safetensors p.safetensors"
stop() { # OUT OPTION...: leaves something unfinished
  local pid tries=0 signal=${signal:-KILL}
  rm -rf "$1" "$1.convert"
  "$gnndata" convert long.txt "$@" --memory=1MiB >/dev/null 2>&1 &
  pid=$!
  while [ ! -e "$1.convert/run-3" ] && [ $tries -lt 500 ]; do sleep 0.01; tries=$((tries + 1)); done
  kill -s $signal $pid
  wait $pid 2>/dev/null
  stopped=$?
  [ -d "$1.convert" ] && [ ! -e "$1" ]
}
says() { "$@" >said 2>&1; }
terminated() { signal=TERM stop half.safetensors && [ $stopped -eq 143 ] && ! ls half.safetensors.convert | grep -q tmp-; }
check "TERM leaves what is done, and nothing temporary" terminated
check "  from where it goes on" bash -c "'$gnndata' convert long.txt half.safetensors --memory=1MiB 2>said && grep -q 'going on in' said && cmp half.safetensors a.safetensors"
check "something unfinished" stop half.safetensors
refuse 2 "another conversion does not go on with it" says "$gnndata" convert long.txt half.safetensors --undirected --memory=1MiB
check "  and says so" grep -q 'is of another conversion, which is not finished' said
check "  --force begins anew" bash -c "'$gnndata' convert long.txt half.safetensors --undirected --memory=1MiB --force && cmp half.safetensors b.safetensors && [ ! -e half.safetensors.convert ]"
check "something unfinished again" stop half.safetensors
check "what nobody noted counts for nothing" bash -c "echo x >half.safetensors.convert/run-900; '$gnndata' convert long.txt half.safetensors --memory=1MiB 2>said && grep -q 'going on in' said && cmp half.safetensors a.safetensors"
check "something unfinished once more" stop half.safetensors
echo mine >half.safetensors.convert/diary
refuse 4 "a folder with a file of somebody else is left alone" says "$gnndata" convert long.txt half.safetensors --memory=1MiB
check "  it is there" grep -q mine half.safetensors.convert/diary
rm half.safetensors.convert/diary
run=$(ls half.safetensors.convert/run-* | head -1)
damage() { cp "$run" kept && head -c $(($(stat -c %s "$run") - 8)) kept >"$run"; }
check "a run is cut short" damage
refuse 4 "that is told" says "$gnndata" convert long.txt half.safetensors --memory=1MiB
check "  as what it is" grep -q 'shorter than it was' said
check "with the run as it was it goes on" bash -c "cp kept '$run'; '$gnndata' convert long.txt half.safetensors --memory=1MiB && cmp half.safetensors a.safetensors"
full() { (ulimit -f 6000 && trap '' XFSZ && says "$gnndata" convert long.txt full.safetensors --memory=4MiB); }
refuse 4 "a full disk" full
check "  says how to go on" grep -q 'the same command goes on from there' said
check "  and so it does" bash -c "[ ! -e full.safetensors ] && '$gnndata' convert long.txt full.safetensors --memory=4MiB 2>said && grep -q 'going on in' said && cmp full.safetensors a.safetensors"

# ---- what is wrong ----
cp a.safetensors good.safetensors
wrong() { # STATUS TEXT INPUT OPTION...: both ways say the same, and what was there stays
  local status=$1 text=$2
  shift 2
  "$gnndata" convert "$1" good.safetensors "${@:2}" >said 2>&1
  [ $? -eq "$status" ] || { echo "in memory: not status $status"; cat said; return 1; }
  grep -v '^gnndata: read' said >said.memory
  "$gnndata" convert "$1" good.safetensors "${@:2}" --memory=1MiB >said 2>&1
  [ $? -eq "$status" ] || { echo "on disk: not status $status"; cat said; return 1; }
  grep -v '^gnndata: read' said >said.disk
  cat said.disk
  grep -qF -- "$text" said.disk && diff said.memory said.disk && cmp good.safetensors a.safetensors && [ ! -e good.safetensors.convert ]
}
bad() { # NAME TEXT CONTENT OPTION...
  printf "$3" >bad.txt
  check "$1" wrong 1 "$2" bad.txt "${@:4}"
}
bad "no number" 'line 3: "2 x" is no edge' '0 1\n1 2\n2 x\n'
bad "one number" 'line 2: "7" is no edge' '0 1\n7\n'
bad "a fraction" 'line 1: "0 1.5" is no edge' '0 1.5\n'
bad "numbers that touch" 'line 1: "0 1e3" is no edge' '0 1e3\n'
bad "a negative id" 'line 2: -1 → 1, but nodes run 0' '0 1\n-1 1\n'
bad "an id of 2^31 - 2" 'line 1: 0 → 2147483646, but nodes run 0 … 2147483645' '0 2147483646\n'
bad "an id beyond 64 bits" 'line 1: "99999999999999999999 0" is no edge' '99999999999999999999 0\n'
bad "an id that is no node" 'line 2: 1 → 10, but nodes run 0 … 9' '0 1\n1 10\n' --nodes=10
bad "0 where ids are counted from 1" 'line 2: 0 → 1, but nodes run 1' '1 2\n0 1\n' --base=1
bad "no nodes" 'has no nodes' '# nothing\n'
bad "two headers" 'line 2: "from to" is no edge' 'source target\nfrom to\n0 1\n'
bad "bytes of something else" 'line 2: "?? 1" is no edge' '0 1\n\001\002 1\n'
matrix() { # what is no list is none, whatever it is called
  printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n' >bad.txt
  "$gnndata" convert bad.txt matrix.safetensors | grep -q 'wrote matrix.safetensors: 3 nodes, 1 edges' && ! "$gnndata" convert bad.txt no.safetensors --memory=1MiB 2>said && grep -q 'is no list of edges, which --memory is for' said
}
check "MatrixMarket is read, and is no list of edges" matrix
{ echo 0 1; head -c 200000 /dev/zero | tr '\0' 1; echo; } >bad.txt
check "a line without an end" wrong 1 'line 2 has more than' bad.txt
head -c 20000 text.txt.gz >cut.txt.gz
check "a packed list that is cut short" wrong 1 'is a truncated gzip file' cut.txt.gz
{ head -c 20000 text.txt.gz; head -c 3000 /dev/zero; tail -c +23001 text.txt.gz; } >damaged.txt.gz
check "a packed list that is damaged" wrong 1 '"damaged.txt.gz"' damaged.txt.gz
head -c 100000 rows.npy >cut.npy
check "an array that is cut short" wrong 1 'is truncated' cut.npy
gzip -c cut.npy >cut.npy.gz
check "the same packed" wrong 1 'is truncated' cut.npy.gz
{ printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }"; head -c 8 /dev/zero; } >float.npy
check "an array of other numbers is no list" bash -c "! '$gnndata' convert float.npy no.safetensors --memory=1MiB 2>said && grep -q 'is no list of edges' said"
refuse 4 "no such file" says "$gnndata" convert nowhere.txt no.safetensors --memory=1MiB
refuse 4 "no such folder" says "$gnndata" convert text.txt nowhere/no.safetensors --memory=1MiB
refuse 2 "too little memory" says "$gnndata" convert text.txt no.safetensors --memory=1000
refuse 2 "memory that is no size" says "$gnndata" convert text.txt no.safetensors --memory=much
refuse 2 "--memory of a data set" says "$gnndata" convert karate no.safetensors --memory=1MiB
refuse 2 "--base of a data set" says "$gnndata" convert karate no.safetensors --base=1
refuse 2 "--split with --memory" says "$gnndata" convert text.txt no.safetensors --memory=1MiB --split=random:0.5,0.2,0.3
echo theirs >theirs.safetensors
refuse 4 "what gnndata did not write is not overwritten" says "$gnndata" convert text.txt theirs.safetensors --memory=1MiB
check "nothing is left of all that" bash -c "! ls -d no.safetensors* nowhere* *.convert 2>/dev/null"
finish
