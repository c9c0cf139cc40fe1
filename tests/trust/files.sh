#!/bin/bash
# files.sh BUILD [long]: files that change while they are read, names that others planted, what is no file, descriptors that are
# closed, archives that unpack to more than they say. TAP.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnncc=$build/gnncc gnndata=$build/gnndata
workplace
export TMPDIR=$work/tmp
mkdir tmp

says() { # TEXT COMMAND...: ends with an error of its own (no signal, nothing of a time limit) and says so
  local text=$1 status
  shift
  timeout 60 "$@" >said 2>&1 </dev/null
  status=$?
  cat said
  echo "status $status"
  [ $status -ge 1 ] && [ $status -le 4 ] && grep -qF -- "$text" said
}

# ---- one graph in every form: a ring of 1,000 nodes with 8 features ----
nodes=1000
npy() { # DTYPE SHAPE: a .npy file of the bytes on stdin
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': ($2), }"
  cat
}
bytes() { # DECIMAL...: on stdin, one a line
  local format
  format=$(awk '{ printf "\\x%02x", $1 }')
  printf "$format"
}
mkdir ring text
{ for ((i = 0; i < nodes; i++)); do echo $((i % 256)) $((i / 256)); done
  for ((i = 0; i < nodes; i++)); do j=$(((i + 1) % nodes)); echo $((j % 256)) $((j / 256)); done; } | tr ' ' '\n' | bytes | npy '<u2' "2, $nodes" >ring/edge_index.npy
for ((i = 0; i < 8 * nodes; i++)); do echo $((i * i % 11)); done | bytes | npy '|u1' "$nodes, 8" >ring/x.npy
for ((i = 0; i < nodes; i++)); do echo $((i / 250)); done | bytes | npy '|u1' "$nodes" >ring/y.npy
echo '{"name": "ring"}' >ring/graph.json
awk -v n=$nodes 'BEGIN { for (i = 0; i < n; i++) { printf "%d", i; for (k = 0; k < 8; k++) printf "\t%d", (8 * i + k) * (8 * i + k) % 11; printf "\tclass%d\n", i / 250 } }' >text/ring.content
awk -v n=$nodes 'BEGIN { for (i = 0; i < n; i++) printf "%d\t%d\n", (i + 1) % n, i }' >text/ring.cites
model() { # SOURCE
  cat <<END
data ring from $1 {
  node x : f32[8]
  node y : class[4]
  undirected = true
  split = random(0.5, 0.2, 0.3, seed = 1)
}
model net on ring {
  h = x |> GCN(16) as conv1 |> relu
  return h |> GCN(y.classes) as conv2
}
train net {
  loss = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs = 6
  metric = accuracy
  checkpoint = every(2)
}
END
}
model 'npy("ring")' >net.gnn
check "a graph as arrays" "$gnndata" check ring
check "a graph as one file" "$gnndata" convert ring ring.safetensors
check "a graph as text" "$gnndata" check text
check "a program" "$gnncc" -O1 -fgradcheck net.gnn -o net
check "weights, checkpoints" ./net -q --out out
checkpoint=$(ls out/checkpoint-* | tail -1)

# ---- a file that changes while it is read ----
check "the library of faults" cc -shared -fPIC -O1 -Wall -Wextra -o cut.so "$here/../faults/cut.c" -ldl
cut_while() { # TEXT FILE SIZE COMMAND...: FILE is cut to SIZE bytes once it is mapped; it is as before afterwards
  local text=$1 file=$2 size=$3 status
  shift 3
  cp -p "$file" kept
  CUT_FILE=$file CUT_SIZE=$size says "$text" env LD_PRELOAD="$work/cut.so" "$@"
  status=$?
  cp -p kept "$file"
  return $status
}
change_while() { # FILE BYTE COMMAND...
  local file=$1 byte=$2 status
  shift 2
  cp -p "$file" kept
  CUT_FILE=$file CUT_BYTE=$byte says "\"$file\" was changed while it was being read" env LD_PRELOAD="$work/cut.so" "$@"
  status=$?
  cp -p kept "$file"
  return $status
}
sizes="100 4096"
[ "${2:-}" != long ] || sizes="0 1 100 4095 4096 4097 8000"
for file in ring/x.npy ring/y.npy ring/edge_index.npy ring/graph.json ring.safetensors text/ring.content text/ring.cites; do
  data=${file%/*}
  for size in $sizes; do
    [ "$size" -lt "$(stat -c %s "$file")" ] || continue
    check "gnndata: $file cut to $size bytes" cut_while "while it was being read" "$file" $size "$gnndata" check "$data"
    check "a program: $file cut to $size bytes" cut_while "while it was being read" "$file" $size ./net -q --data "$data" --out cut
    check "gnncc: $file cut to $size bytes" cut_while "while it was being read" "$file" $size "$gnncc" --plan --data "$data" net.gnn
  done
done
check "gnndata convert writes nothing then" cut_while "was cut short" ring/x.npy 4096 "$gnndata" convert ring torn.safetensors
check "  nor leaves anything" sh -c '! ls | grep torn'
check "gradcheck" cut_while "was cut short" ring/x.npy 4096 ./net gradcheck
check "weights cut short" cut_while "\"out/last.safetensors\" was cut short while it was being read" out/last.safetensors 100 ./net eval --weights out/last.safetensors
check "a checkpoint cut short" cut_while "\"$checkpoint\" was cut short while it was being read" "$checkpoint" 1500 ./net -q --resume="$checkpoint" --epochs 9 --out cut
check "a byte of an array becomes another" change_while ring/x.npy 5000 "$gnndata" check ring
check "a byte of weights becomes another" change_while out/last.safetensors 900 ./net eval --weights out/last.safetensors
mkdir packed && gzip -c ring/x.npy >packed/x.npy.gz && cp ring/edge_index.npy ring/y.npy packed
check "an archive" "$gnndata" check packed
check "an archive cut short" sh -c "cp -p packed/x.npy.gz kept; CUT_READ=1 CUT_FILE=packed/x.npy.gz CUT_SIZE=0 LD_PRELOAD='$work/cut.so' '$gnndata' info packed; status=\$?; cp -p kept packed/x.npy.gz; [ \$status -le 4 ]"
cat >host.c <<'END'
/* A host has a handler of its own for SIGBUS: what is not about our files reaches it, and it is in place afterwards. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "net.h"
static sigjmp_buf back;
static int seen;
static void on_fault(int number) { (void)number; seen++; siglongjmp(back, 1); }
static void touch_nothing(void) {
  FILE *file = tmpfile();
  char *page = ftruncate(fileno(file), 1) == 0 ? mmap(NULL, 8192, PROT_READ, MAP_SHARED, fileno(file), 0) : NULL;
  if (sigsetjmp(back, 1) == 0) printf("%d\n", ((volatile char *)page)[4096]);
  fclose(file);
}
static void on_log(void *user, int level, const char *text) { (void)user; (void)level; (void)text; touch_nothing(); }
int main(int argc, char **argv) {
  struct sigaction action, now;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_fault;
  sigaction(SIGBUS, &action, NULL);
  net_options options;
  net *job;
  net_options_init(&options);
  options.log = on_log;
  if (argc < 2 || net_create(&options, &job) != NET_OK) return 9;
  int status = net_load(job, argv[1]);
  printf("%d faults of the host; status %d: %s\n", seen, status, net_error(job));
  net_destroy(job);
  sigaction(SIGBUS, NULL, &now);
  touch_nothing();
  return seen < 2 ? 8 : now.sa_handler == on_fault ? status : 7;
}
END
check "a host program" sh -c "'$gnncc' -O1 --lib net.gnn && cc -O1 -o host host.c libnet.a -l:libz.a -lm -lpthread"
check "  it loads, its handler serves it" ./host ring
check "  a file cut short is a status" cut_while "was cut short while it was being read" ring/x.npy 4096 ./host ring

# ---- temporary files ----
planted() { # OUTPUT COMMAND...: a link under the name that was once that of the temporary file is not followed
  local output=$1
  shift
  echo precious >victim
  rm -f "$output"
  sh -c 'ln -s victim "$0.tmp-$$" && exec "$@"' "$output" "$@" && [ -s "$output" ] && [ "$(cat victim)" = precious ] && rm -f "$output".tmp-*
}
check "a link planted for predict" planted p.npy ./net predict -o p.npy --out out
check "a link planted for profile" planted run.json ./net profile -o run.json
check "a link planted for gnndata" planted c.safetensors "$gnndata" convert ring c.safetensors
check "a link planted for gnncc" planted net.c "$gnncc" --emit=c=net.c net.gnn
check "a link planted for gnncc plan" planted plan.json sh -c "'$gnncc' --emit=problem=problem.json net.gnn && exec '$gnncc' plan problem.json -o plan.json --force"
check "a link planted for a program that is made" planted made "$gnncc" -O1 net.gnn -o made
check "nothing is left in TMPDIR" sh -c '[ -z "$(ls -A tmp)" ]'
check "nothing temporary is left here" sh -c '! find . -name "*.tmp-*" | grep .'

# ---- what is no file ----
mkfifo pipe pipe.npy.gz
mkdir piped && cp ring/edge_index.npy ring/y.npy piped && mkfifo piped/x.npy
mkdir piped_text && cp text/ring.content piped_text && mkfifo piped_text/ring.cites
mkdir piped_json && cp ring/*.npy piped_json && mkfifo piped_json/graph.json
model 'safetensors("pipe")' >of_pipe.gnn
{ echo 'import "pipe.gnn"'; cat net.gnn; } >importing.gnn && mkfifo pipe.gnn
is_no_file="it is a pipe or a device, not a file"
for file in pipe /dev/zero /dev/tty; do
  check "gnncc: a model from $file" says "cannot" "$gnncc" "$file"
  check "gnndata: data from $file" says "cannot" "$gnndata" check "$file"
  check "a program: data from $file" says "cannot" ./net -q --data "$file"
done
check "gnncc: data from a pipe" says "$is_no_file" "$gnncc" --plan of_pipe.gnn
check "gnncc: an import from a pipe" says "$is_no_file" "$gnncc" --plan importing.gnn
check "gnncc: --plan-from a pipe" says "$is_no_file" "$gnncc" --plan --plan-from=pipe net.gnn
check "gnncc: --measured from a pipe" says "$is_no_file" "$gnncc" --plan --measured=pipe net.gnn
check "gnncc: --profile from a pipe" says "$is_no_file" "$gnncc" --plan --profile=pipe net.gnn
check "gnncc: --target from a pipe" says "$is_no_file" "$gnncc" --plan --target=pipe.gnn net.gnn
check "gnncc: --tuning from a pipe" says "$is_no_file" "$gnncc" --plan --target=a100 --tuning=pipe net.gnn
check "gnncc: --compare with a pipe" says "$is_no_file" "$gnncc" --compare pipe pipe
check "gnncc plan: a problem from a pipe" says "$is_no_file" "$gnncc" plan pipe
mkdir -p cache/gnncc && mkfifo cache/gnncc/native.gnn
check "gnncc: a calibration that is a pipe is none" timeout 60 "$gnncc" --plan net.gnn
rm cache/gnncc/native.gnn
for data in piped piped_text piped_json; do
  check "gnndata: $data" says "$is_no_file" "$gnndata" check $data
  check "a program: $data" says "$is_no_file" ./net -q --data $data
done
check "a program: --weights from a pipe" says "$is_no_file" ./net eval --weights pipe
check "a program: --resume from a pipe" says "$is_no_file" ./net -q --resume=pipe
mkdir -p logged && mkfifo logged/log.csv
check "a program: a log into a pipe that nobody reads" says "nobody reads" ./net -q --log csv --out logged
check "gnncc: an output into a pipe that nobody reads" says "nobody reads" "$gnncc" --emit=c=pipe net.gnn
read_log() { # a log into a pipe that is read
  exec 3<>logged/log.csv
  timeout 60 ./net -q --log csv --out logged && [ "$(timeout 60 head -7 <&3 | wc -l)" -eq 7 ]
}
check "a program: a log into a pipe that is read" read_log
check "gnncc: a model from standard input" sh -c "cat net.gnn | '$gnncc' --plan --name=net -"
check "gnncc: into standard output by name" sh -c "'$gnncc' --emit=c=/dev/stdout net.gnn | grep -q 'int main\|gnn_program'"
check "a program: into standard output by name" sh -c "./net predict -q -o /dev/stdout --out out | head -c 6 | grep -qa NUMPY"

# ---- descriptors that are closed ----
check "closed descriptors: the log is a log" sh -c './net --log csv --out closed --epochs 4 <&- >&- 2>&- && head -1 closed/log.csv | grep -q "^run,epoch" && [ $(wc -l <closed/log.csv) -eq 5 ]'
check "closed descriptors: weights are weights" sh -c './net eval --out closed >evaluated && [ -s evaluated ]'
check "closed descriptors: what gnndata writes" sh -c "'$gnndata' convert ring n.safetensors <&- >&- 2>&- && '$gnndata' diff ring n.safetensors"
check "closed descriptors: what gnncc writes" sh -c "'$gnncc' --plan --emit=c=n.c net.gnn <&- >&- 2>&- && mv n.c m.c && '$gnncc' --plan --emit=c=n.c net.gnn && cmp n.c m.c"

# ---- archives ----
mkdir bomb bomb_text
cp ring/edge_index.npy ring/y.npy bomb
head -c 600M /dev/zero | gzip -1 >zeros.gz
before_zeros() { gzip -1 | cat - zeros.gz; } # an archive may have several members
before_zeros <ring/x.npy >bomb/x.npy.gz
cp zeros.gz bomb_text/ring.content && cp text/ring.cites bomb_text
head -c 9 ring.safetensors | before_zeros >bomb.safetensors
before_zeros <ring.safetensors >tail.safetensors
little() { # KIB COMMAND...: with that much memory
  local most=$1
  shift
  (ulimit -v "$most"; "$@")
}
check "an array that goes on behind its end" little 400000 says "is larger than it says" "$gnndata" check bomb
check "  in a program" little 400000 says "is larger than it says" ./net -q --data bomb
check "  in gnncc" little 400000 says "is larger than it says" "$gnncc" --plan --data bomb net.gnn
mv zeros.gz bomb/x.npy.gz
check "zeros instead of an array" little 400000 says "has no NumPy header" "$gnndata" check bomb
check "zeros instead of a text" little 900000 says "is larger than it says" "$gnndata" check bomb_text
check "zeros instead of the header of a container" little 400000 says "bomb.safetensors" "$gnndata" check bomb.safetensors
check "a container that goes on behind its end" little 400000 says "is larger than it says" "$gnndata" check tail.safetensors
check "  weights" little 400000 says "is larger than it says" sh -c '{ cat out/last.safetensors; head -c 100M /dev/zero; } | gzip -1 >w.safetensors; exec ./net eval --weights w.safetensors'
check "what is sound is unpacked" sh -c "gzip -c ring.safetensors >sound.safetensors && '$gnndata' diff ring sound.safetensors && gzip -c text/ring.content >bomb_text/ring.content && '$gnndata' diff text bomb_text && '$gnndata' diff ring packed"
finish
