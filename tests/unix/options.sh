#!/bin/bash
# options.sh BUILD: options that cc has, too: -E, -M and its kin, --single-file, --cflags, --libs, --nvcc, -O, -f, -g, -v, --save-temps, @FILE. TAP on stdout.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnncc=$build/gnncc
workplace
unset GNNCC_FLAGS GNNCC_PATH GNNCC_TARGET CUDA_PATH NVCC NVCCFLAGS
export CFLAGS=-O0
mkdir -p parts data
cat >parts/sizes.gnn <<'MODEL'
const depth = 2
layer Own(x : node[f], out) { return Linear(x + mean(src.x), out) as lin }
MODEL
cat >deep.gnn <<'MODEL'
import "parts/sizes.gnn"
const width = 4 * depth
const where = "data/web.safetensors"
data web from safetensors(where) {
  node z : f32 = npy("data/z.npy")
}
model deep on web {
  h = x
  for i in 1 .. depth + 1 {
    if i > 1 { h = relu(h) } else { h = tanh(h) }
    h = h |> Own(width) as convs
  }
  return h |> Linear(y.classes) as head
}
train deep { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3 }
MODEL
"$build/gnndata" synth sbm data/web.safetensors --nodes 40 --degree 4 --features 5 --classes 3 --seed 1 >/dev/null
perl -e 'my $h = "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (40,), }"; $h .= " " x (63 - (10 + length $h) % 64) . "\n"; print "\x93NUMPY\x01\x00", pack("v", length $h), $h, pack("f<*", 1 .. 40)' >data/z.npy

# ---- -E ----
same_program() { # OPTION...: what -E prints is checked to the same program, without import, loop or condition
  "$gnncc" "$@" -E deep.gnn >expanded.gnn || return 1
  cat expanded.gnn
  ! grep -E '^(import|  *for |  *if )' expanded.gnn && diff <("$gnncc" "$@" --dump=check --stop-after=check deep.gnn) <("$gnncc" "$@" --dump=check --stop-after=check expanded.gnn)
}
check "-E: the same program, unrolled" same_program
check "  with -D" same_program -D depth=3
members() { "$gnncc" -D depth="$1" -E deep.gnn | grep -o 'as "convs\.[0-9]*"' | wc -l; }
check "  lists of weights have their members" [ "$(members 1)-$(members 3)" = 2-4 ]
canonical() { "$gnncc" -E deep.gnn -o made.gnn && "$gnncc" --format=check made.gnn && "$gnncc" -E deep.gnn -o made.gnn && "$gnncc" -E deep.gnn | cmp - made.gnn; }
check "  in canonical layout, into a file, twice" canonical
refuse 2 "  of a constant that is not there" "$gnncc" -E -D nosuch=1 deep.gnn
refuse 4 "  not over what gnncc did not write" "$gnncc" -E deep.gnn -o parts/sizes.gnn

# ---- -M ----
rule() { # EXPECTED OPTION...: the files of the rule that are not gnncc's own
  local expected=$1
  shift
  "$gnncc" "$@" >rule.mk || return 1
  cat rule.mk
  [ "$(tr -d '\\\n' <rule.mk | sed 's/:/: /' | tr -s ' ' '\n' | grep -v "/share/" | tr '\n' ' ')" = "$expected " ]
}
check "-M: model, imports, data" rule "deep: deep.gnn parts/sizes.gnn data/web.safetensors data/z.npy" -M deep.gnn
check "  standard layers, too" sh -c "'$gnncc' -M deep.gnn | grep -q '/std/linear.gnn'"
check "  data that --data names" rule "deep: deep.gnn parts/sizes.gnn data/z.npy" -M --data karate deep.gnn
check "  targets by -MT" rule "one two: deep.gnn parts/sizes.gnn data/web.safetensors data/z.npy" -M -MT one -MTtwo deep.gnn
folder() { mkdir -p npy && cp data/z.npy npy/x.npy && cp data/z.npy npy/edge_index.npy && touch cora.content cora.cites && printf 'data d from npy("npy")\nmodel m on d { return x }\n' >f.gnn && printf 'data d from planetoid("cora")\nmodel m on d { return x }\n' >p.gnn; }
folder
check "  the files of a folder" rule "f: f.gnn npy/edge_index.npy npy/x.npy" -M f.gnn
tables() { printf 'data d from csv(edges = "e.csv", nodes = "n.csv", src = "a", dst = "b")\nmodel m on d { return x }\n' >t.gnn; }
tables
check "  both tables of csv" rule "t: t.gnn e.csv n.csv" -M t.gnn
benchmark() { # BENCHMARK SOURCE FILE...
  printf 'data d from %s\nmodel m on d { return x }\n' "$2" >"$1.gnn"
  for file in "${@:3}"; do mkdir -p "$(dirname "$file")" && : >"$file"; done
}
benchmark o 'ogb("arxiv")' arxiv/RELEASE_v1.txt arxiv/{raw/{edge,node-feat,num-node-list}.csv.gz,split/time/{test,train}.csv.gz,processed/data.pt}
check "  the folders of a benchmark that are read: OGB" rule "o: o.gnn $(echo arxiv/{raw/{edge,node-feat,num-node-list}.csv.gz,split/time/{test,train}.csv.gz})" -M o.gnn
benchmark i 'igb("igb", "tiny")' igb/tiny/processed/{paper/node_feat.npy,paper__cites__paper/edge_index.npy}
check "    IGB" rule "i: i.gnn $(echo igb/tiny/processed/{paper/node_feat.npy,paper__cites__paper/edge_index.npy})" -M i.gnn
check "  the files that a name begins" rule "p: p.gnn cora.cites cora.content" -M p.gnn
odd() { cp f.gnn 'a b$c#d.gnn' && "$gnncc" -M -MT x 'a b$c#d.gnn' >odd.mk && printf '\t@printf "%%s\\n" %s\n' "'\$^'" >>odd.mk && make -f odd.mk x | grep -F 'a b$c#d.gnn'; }
check "  names that make reads otherwise" odd
no_data() { mv data/web.safetensors away && "$gnncc" -M deep.gnn | grep -q 'data/web.safetensors'; local status=$?; mv away data/web.safetensors; return $status; }
check "  data that is not there yet" no_data
by_make() { # -MD: made again when what is imported or the data are newer, and only then
  cat >Makefile <<MAKE
program: deep.gnn
	$gnncc -q -MD -MP -o \$@ deep.gnn && echo made >>log
-include program.d
MAKE
  rm -f log && make -s program && make -s program && [ "$(wc -l <log)" -eq 1 ] || return 1
  touch -d '+1 hour' parts/sizes.gnn && make -s program && [ "$(wc -l <log)" -eq 2 ] || return 1
  touch -d '+2 hours' program && make -s program && touch -d '+3 hours' data/web.safetensors && make -s program && [ "$(wc -l <log)" -eq 3 ] || return 1
  grep -q '^parts/sizes.gnn:$' program.d && sed -i '/^import/d; s/depth/2/; s/Own(width)/Linear(width)/' deep.gnn && rm -r parts && touch -d '+4 hours' deep.gnn && make -s program && [ "$(wc -l <log)" -eq 4 ]
}
cp -r parts kept && cp deep.gnn kept.gnn
check "-MD -MP: by make, only when something is newer, and when an import is gone" by_make
rm -rf parts && mv kept parts && mv kept.gnn deep.gnn
beside() { "$gnncc" -q --emit=deps=d.mk deep.gnn && grep -q '^deep: deep.gnn' d.mk && "$gnncc" -M -MF e.mk deep.gnn && diff <(tail -n +2 d.mk) <(tail -n +2 e.mk); }
check "--emit=deps, -MF" beside
emitted() { # one product is what -c and the like make; several have names of their own
  printf 'model m on karate { return x |> GCN(2) }\ndata karate from karate() {}\n' >some.gnn && "$gnncc" --emit=exe=alone some.gnn && ./alone info | grep -q '^data  *karate' && "$gnncc" --emit=obj some.gnn -o named.o && [ -s named.o ] &&
    "$gnncc" --emit=lib,shared=libother.so,plan,exe some.gnn && nm -D libother.so | grep -q some_create && nm libsome.a 2>&1 | grep -q some_create && [ -s some.plan.json ] && [ -s some.h ] && ./some info >/dev/null
}
check "--emit=obj, lib, shared, exe" emitted
refuse 2 "  with names of their own" "$gnncc" --emit=obj,exe some.gnn -o both
check "  of which -o is none" sh -c "'$gnncc' --emit=exe=a some.gnn -o b 2>&1 | grep 'names the file, of each product its own'"
told() { # what is said is a list, of what fails, too
  "$gnncc" --emit=diagnostics some.gnn && python3 -c 'import json; said = json.load(open("some.diagnostics.json")); assert said["format"] == "gnncc-diagnostics/1" and said["diagnostics"] == []' &&
    sed 's/GCN/GCM/' some.gnn >wrong.gnn && ! "$gnncc" --emit=diagnostics=- wrong.gnn 2>wrong.err >wrong.json && grep -q 'E0201' wrong.err &&
    python3 -c 'import json; said = json.load(open("wrong.json"))["diagnostics"]; assert [d["code"] for d in said] == ["E0201"] and said[0]["fixes"][0]["replacement"] == "GCN"'
}
if command -v python3 >/dev/null; then check "--emit=diagnostics" told; else skip "--emit=diagnostics" "no python3"; fi
refuse 4 "  not over what gnncc did not write" "$gnncc" --emit=diagnostics=parts/sizes.gnn some.gnn

refuse 2 "-MF without -M or -MD" "$gnncc" -MF x.d --check deep.gnn

# ---- --single-file ----
single() { # no warning, and the same bits as the program in many files
  "$gnncc" -q --single-file deep.gnn -o one && [ "$(ls one)" = "deep.c
deep.h" ] && [ "$(grep '^#include "' one/deep.c)" = '#include "deep.h"' ] &&
    cc -O1 -march=native -Wall -Wextra -Werror -DDEEP_MAIN -o single one/deep.c -lz -lm -lpthread && CFLAGS=-O1 "$gnncc" -q -o many deep.gnn || return 1
  for program in single many; do ./$program -q --every 1 --out $program.out --log csv || return 1; done
  cmp single.out/last.safetensors many.out/last.safetensors && diff <(cut -d, -f1-6 single.out/log.csv) <(cut -d, -f1-6 many.out/log.csv)
}
check "--single-file: one source, no warning, the same bits" single
check "  the plan is in it" grep -q gnncc-report single
host() { # as a library
  cat >host.c <<'HOST'
#include "one/deep.h"
int main(void) {
  deep_options options;
  deep *g = 0;
  deep_result result;
  deep_options_init(&options);
  int status = deep_create(&options, &g);
  if (status == 0) status = deep_load(g, "data/web.safetensors");
  if (status == 0) status = deep_epoch(g, &result);
  deep_destroy(g);
  return status;
}
HOST
  cc -O0 -march=native -c one/deep.c -o one.o && cc -o host host.c one.o -lz -lm -lpthread && ! nm one.o | grep ' T main$'
}
check "  as a library it has no main" host
refuse 2 "--single-file of an object" "$gnncc" --single-file -c deep.gnn
refuse 1 "--single-file of a program for a GPU" "$gnncc" --single-file --backend=cuda -S -o gpu deep.gnn

# ---- --cflags, --libs ----
flags() { # the library that --lib makes needs nothing more
  "$gnncc" -q --lib -o libdeep.a deep.gnn && sed 's|one/deep.h|deep.h|' host.c >linked.c && cc $("$gnncc" --cflags) -I. -o linked linked.c libdeep.a $("$gnncc" --libs) &&
    "$gnncc" -q -c -o deep.o deep.gnn && cc -I. -o linked_object linked.c deep.o $("$gnncc" --libs) && printf '#include <gnnrt.h>\nint main(void) { return GNN_ABI == 0; }\n' >abi.c && cc $("$gnncc" --cflags) -DGNN_NO_KERNELS -o abi abi.c && ./abi
}
check "--cflags and --libs are enough" flags
check "  both at once" [ "$("$gnncc" --cflags --libs)" = "$("$gnncc" --cflags) $("$gnncc" --libs)" ]

# ---- -O, -f, -g, -v, --save-temps, @FILE, --version ----
levels() { # each as it is for the C compiler; -O2 is its -O3
  local level
  for level in 0:-O0 1:-O1 2:-O3 3:-O3 g:-Og; do "$gnncc" -q "-O${level%:*}" -### -o no deep.gnn 2>&1 | sed 's/ -O0 -fno-finite.*//' | grep -e " ${level#*:} " || return 1; done
}
check "-O0 to -O3, -Og" levels
refuse 2 "-O of no level" "$gnncc" -Oz deep.gnn
same_plan() { "$gnncc" -q --emit=c=two.c deep.gnn && "$gnncc" -q -Og --emit=c=g.c deep.gnn && cmp two.c g.c; }
check "-Og has the kernels of -O2" same_plan
switched() { # each that --help=passes lists, in one of its two forms; what is always so says why
  local name help
  "$gnncc" --help=passes | sed -n 's/^  //p' >switches && [ "$(wc -l <switches)" -ge 10 ] || return 1
  while read -r name help; do
    case $help in
    always*) "$gnncc" --check -f"$name" deep.gnn && ! "$gnncc" --check -fno-"$name" deep.gnn 2>said && grep -F "gnncc: error: -fno-$name: $help" said ;;
    never*) "$gnncc" --check -fno-"$name" deep.gnn && ! "$gnncc" --check -f"$name" deep.gnn 2>said && grep -F "gnncc: error: -f$name: $help" said ;;
    *) "$gnncc" --check -f"$name" deep.gnn && "$gnncc" --check -fno-"$name" deep.gnn ;;
    esac || { echo "$name"; return 1; }
  done <switches
}
check "-f[no-]NAME: each that --help=passes lists" switched
nearest_pass() { ! "$gnncc" -fno-fuze deep.gnn 2>said && cat said && grep -q 'did you mean fuse?; there are fuse, hoist,' said; }
check "  the nearest of what is none" nearest_pass
refuse 2 "  no slices where they are asked for" "$gnncc" -fno-feature-split '--cut=slices(2)' --check deep.gnn
on_lines() { # a debugger is told the lines of the model, and those of the C around them are right
  "$gnncc" -q -g --save-temps=debugged -o debugged.program deep.gnn && ./debugged.program -q --progress none && [ "$(ls debugged/deep.c debugged/deep.o | wc -l)" = 2 ] || return 1
  grep -q '^#line 13 "deep.gnn"$' debugged/deep.c && [ "$(grep -c '^#line [0-9]* "deep.c"$' debugged/deep.c)" -ge 5 ] && ! grep '^#line here' debugged/deep.c || return 1
  awk '/^#line [0-9]* "deep.c"$/ && $2 != NR + 1 { print "line " NR ": " $0; wrong = 1 } END { exit wrong }' debugged/deep.c || return 1
  "$gnncc" -q --emit=c=plain.c deep.gnn && ! grep '^#line' plain.c && sed '/^#line/d' debugged/deep.c | cmp - plain.c
}
check "-g: #line" on_lines
kept() { # in a folder that is new or was one of these, nowhere else
  "$gnncc" -q --save-temps=temps -o kept_program deep.gnn && [ -s temps/deep.c ] && [ -s temps/main.c ] && touch -d '-1 hour' temps/deep.c && "$gnncc" -q --save-temps=temps -o kept_program deep.gnn && [ temps/deep.c -nt deep.gnn ] &&
    mkdir -p mine && echo mine >mine/main.c && ! "$gnncc" -q --save-temps=mine -o none deep.gnn 2>said && grep 'mine has files that gnncc did not write' said && [ "$(cat mine/main.c)" = mine ] && [ ! -e none ] &&
    mkdir -p empty && "$gnncc" -q --save-temps=empty -o kept_program deep.gnn && [ -s empty/deep.h ]
}
check "--save-temps=DIR" kept
by_itself() { TMPDIR=$PWD/tmp; mkdir -p tmp && "$gnncc" -q --save-temps -o kept_program deep.gnn 2>said && [ -s "$(sed -n 's/^gnncc: the sources are in //p' said)/deep.c" ]; }
check "  without DIR it says where" env TMPDIR="$work/tmp" bash -c "$(declare -f by_itself); gnncc='$gnncc'; export TMPDIR; by_itself"
verbose() { "$gnncc" -v -o verbose_program deep.gnn 2>said && grep -q '^cc .* -c -o ' said && grep -qE '^plan +[0-9.]+ ms$' said && grep -qE '^build +[0-9.]+ ms$' said; }
check "-v: commands and what each pass took" env CC=cc bash -c "$(declare -f verbose); gnncc='$gnncc'; verbose"
version() { # in any order; without -v its first line alone
  "$gnncc" --version >short && "$gnncc" --version -v >long && "$gnncc" -v --version | cmp - long && cat long && [ "$(wc -l <short)" = 1 ] && grep -qx 'gnncc [0-9.]*' short && head -1 long | cmp - short || return 1
  for name in commit 'C compiler' 'CUDA compiler' 'default target' 'layers, targets and examples' imports; do grep -q "^$name: ." long || return 1; done
  "$gnncc" --version -v -I parts --cc=tcc --target=a100 >other && grep -q '^imports: .*, parts$' other && grep -qx 'C compiler: tcc' other && grep -qx 'default target: a100' other
}
check "--version -v" version
files_of_options() { # words apart by blanks, within quotes or behind a backslash; one file names another
  printf -- '-D depth=3\n"-I" '\''with blanks'\''\n@more\n' >some && printf -- '--name=a\\ b' >more && mkdir -p 'with blanks' && mv parts 'with blanks/' && sed 's|parts/sizes|sizes|' deep.gnn >by_file.gnn
  mv 'with blanks/parts/sizes.gnn' 'with blanks/' && "$gnncc" @some --dump=check --stop-after=check by_file.gnn >dumped
  local status=$?
  mkdir parts && mv 'with blanks/sizes.gnn' parts/
  [ $status = 0 ] && "$gnncc" -D depth=3 --dump=check --stop-after=check deep.gnn | sed 's/deep.gnn/by_file.gnn/g' | cmp - dumped
}
check "@FILE" files_of_options
refuse 4 "  that is not there" "$gnncc" @nowhere deep.gnn
endless() { echo @endless >endless && ! "$gnncc" @endless 2>said && cat said && grep -q 'name each other' said; }
check "  that names itself" endless
stand_in() { # a driver with a GPU of sm_87
  printf 'int cuInit(unsigned f) { return f; }\nint cuDeviceGet(int *d, int n) { *d = 7; return n; }\nint cuDeviceGetAttribute(int *v, int which, int d) { *v = which == 75 ? 8 : 7; return d - 7; }\n' >driver.c &&
    mkdir -p driver && cc -shared -fPIC -o driver/libcuda.so.1 driver.c && LD_LIBRARY_PATH=$PWD/driver "$gnncc" -q --backend=cuda --arch=native -S -o of_gpu deep.gnn && grep '^ARCH ?= sm_87$' of_gpu/Makefile
}
check "--arch=native: what the driver says" stand_in
driverless() { printf 'int cuInit(unsigned f) { return 100 + (int)f; }\n' >driver.c && mkdir -p none && cc -shared -fPIC -o none/libcuda.so.1 driver.c && LD_LIBRARY_PATH=$PWD/none "$gnncc" --arch=native --check deep.gnn; }
refuse 5 "  without a GPU" driverless

# ---- targets ----
sources() { # each says where its figures are from, and what of them is assumed
  local name
  for name in $("$gnncc" --list targets | grep -oE '^  *[a-z0-9_]+' ); do
    [ "$name" = native ] || { "$gnncc" --print-target "$name" >text && grep -q '^# Sources[.] ' text && grep -q 'Assumed: ' text; } || { echo "$name" && cat text; return 1; }
    echo "$name"
  done | tee named && [ "$(wc -l <named)" -ge 27 ]
}
check "built-in targets have their sources" sources
check "-Xcc and -Xnvcc of sources stand in their Makefile" sh -c "'$gnncc' -q -Xcc -funroll-loops -Xnvcc -lineinfo --backend=cuda --arch=sm_80 -S -o with_options deep.gnn && grep -qx 'CFLAGS ?= -O3 -funroll-loops' with_options/Makefile && grep -qx 'NVCCFLAGS ?= -lineinfo' with_options/Makefile"
check "several inputs are refused with what there is" sh -c "! '$build/gnndata' convert a.npz b.npz c.safetensors 2>said && grep -q '^gnndata: error: convert takes one input' said && ! '$build/gnndata' info --undirectd karate 2>said && grep -q 'did you mean --undirected' said"

# ---- --nvcc, -Xnvcc ----
if [ -e "$build/share/libgnncuda.a" ]; then
  printf '#!/bin/sh\nexit 0\n' >my_nvcc && chmod +x my_nvcc
  command_of() { NVCCFLAGS=-warn "$gnncc" --backend=cuda --arch=sm_80 "$@" -### -o gpu deep.gnn 2>said; grep -F 'my_nvcc' said || { cat said; return 1; }; }
  check "--nvcc and -Xnvcc: the command" sh -c "$(declare -f command_of); gnncc='$gnncc'; command_of --nvcc=./my_nvcc -Xnvcc -lineinfo -Xnvcc=-keep | grep -F -- ' -warn -lineinfo -keep '"
  check "NVCC" sh -c "$(declare -f command_of); gnncc='$gnncc'; export NVCC=./my_nvcc; command_of | grep -q '^./my_nvcc '"
  check "  by its name, in PATH" sh -c "$(declare -f command_of); gnncc='$gnncc'; PATH=$work:\$PATH command_of --nvcc=my_nvcc | grep -q '^$work/my_nvcc '"
  refuse 5 "--nvcc of what is not there" "$gnncc" --backend=cuda --nvcc=/nowhere/nvcc -o gpu deep.gnn
  refuse 5 "-Xnvcc for NVRTC" "$gnncc" --backend=cuda --cuda-compiler=nvrtc -Xnvcc -lineinfo -o gpu deep.gnn
else
  skip "--nvcc and -Xnvcc" "built without CUDA"
fi

# ---- options of gnncc given to a program ----
of_gnncc() { # every one that the program has not is answered with where it belongs
  local option count=0
  printf 'model m on karate { return x |> GCN(2) }\ndata karate from karate() {}\n' >given.gnn && "$gnncc" -q given.gnn -o given || return 1
  ./given --help >own
  for option in $("$gnncc" --help | grep -oE '^  -[^ =[]*' | sort -u); do
    case $option in -o | -q | -v | --cpu) continue ;; esac # both have these
    ! grep -qE "^  $option( |\[|$)" own || continue
    ./given "$option" 2>said && return 1
    grep -q "^given: $option is an option of gnncc, when the program is made$" said || { echo "$option" && cat said; return 1; }
    count=$((count + 1))
  done
  ! ./given --precision=bf16 2>said && grep '^given: --precision is an option of gnncc' said && ! ./given --precisio 2>said && grep 'unknown option' said && [ $count -gt 60 ]
}
check "a program that is given an option of gnncc says so" of_gnncc
finish
