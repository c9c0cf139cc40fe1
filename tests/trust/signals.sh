#!/bin/bash
# signals.sh BUILD [long]: what is left when a program, gnndata or gnncc is stopped from outside, and when nobody reads any more. TAP.
set -u
# Under nohup HUP would be ignored by whatever is started here, and a shell cannot take it back.
[ -n "${GNNCC_TEST_HUP:-}" ] || GNNCC_TEST_HUP=1 exec env --default-signal=HUP "$0" "$@"
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnncc=$build/gnncc gnndata=$build/gnndata
workplace
export TMPDIR=$work/tmp
mkdir tmp
sed 's/^  epochs .*/  epochs = 100000000\n  keep = best(valid.accuracy)/' "$here/../../examples/gcn_karate.gnn" >net.gnn
check "a program that trains for very long" "$gnncc" -O1 net.gnn -o net

started() { # FILE COMMAND...: in the background, until there is something in FILE
  local file=$1
  shift
  rm -f "$file"
  "$@" >printed 2>said </dev/null &
  process=$!
  until [ -s "$file" ]; do kill -0 $process 2>/dev/null || return 1; done
}
ends() { # STATUS: that of what was started
  local status
  wait $process
  status=$?
  cat printed said
  echo "status $status, expected $1"
  [ $status -eq "$1" ]
}
nothing_temporary() { ! find . -name '*.tmp-*' | grep . && [ -z "$(ls -A tmp)" ]; }

# ---- a signal leaves a checkpoint ----
stopped_by() { # SIGNAL STATUS TEXT
  rm -rf out
  started out/log.csv ./net --out out --log csv --every 1000 && kill -s "$1" $process && ends "$2" &&
    grep -q "stopped at epoch .*$3; go on with --resume=out/checkpoint" said && nothing_temporary || return 1
  local epoch
  epoch=$(ls out/checkpoint-* | sed 's/.*-e0*\([0-9]*\).*/\1/')
  ./net -q --out out --resume --epochs "$epoch" && ls out/last.safetensors
}
check "INT leaves a checkpoint, and it is gone on from" stopped_by INT 130 "by an interrupt"
check "TERM" stopped_by TERM 143 "by SIGTERM"
check "HUP" stopped_by HUP 129 "by SIGHUP"
check "XCPU" stopped_by XCPU 152 "by SIGXCPU, the limit of processor time"
check "XFSZ" stopped_by XFSZ 153 "by SIGXFSZ, the limit of the size of a file"
check "USR1" stopped_by USR1 75 "by SIGUSR1"
several() { # at once: the status and the message are of one of them
  rm -rf out
  started out/log.csv ./net --out out --log csv --every 1000 && kill -HUP $process && kill -XCPU $process && kill -XFSZ $process && kill -TERM $process || return 1
  wait $process
  case $? in
    129) grep -q "by SIGHUP;" said ;;
    152) grep -q "by SIGXCPU," said ;;
    153) grep -q "by SIGXFSZ," said ;;
    143) grep -q "by SIGTERM;" said ;;
    *) return 1 ;;
  esac
}
check "several at once: the status and the message agree" several
of_its_limit() { # of processor time: the kernel's signal
  rm -rf out
  bash -c 'ulimit -S -t 1; exec ./net -q --out out' >printed 2>said
  [ $? -eq 152 ] && grep -q "SIGXCPU, the limit of processor time; go on with --resume=out/checkpoint" said && nothing_temporary
}
check "the limit of processor time" of_its_limit
ignored() { # a HUP under nohup
  rm -rf out
  started out/log.csv nohup ./net --out out --log csv --every 1000 && kill -HUP $process && kill -USR1 $process && ends 75 && grep -q SIGUSR1 said
}
check "nohup: HUP is nothing" ignored

# ---- a file that may not grow ----
full_log() { # the log meets the limit, the checkpoint does not
  rm -rf out
  bash -c 'ulimit -f 64; exec ./net --out out --log csv --every 1 --progress none' >printed 2>said
  local status=$?
  cat said
  [ $status -eq 153 ] && grep -q "cannot write" said && grep -q "SIGXFSZ, the limit of the size of a file; go on with --resume=out/checkpoint" said && nothing_temporary
}
check "a log that may not grow: a checkpoint, and 153" full_log
full_checkpoint() { # nor may it be written
  rm -rf out
  (ulimit -f 1; trap '' USR1; exec timeout 60 ./net --epochs 20 --out out) >printed 2>said
  local status=$?
  cat said
  [ $status -eq 4 ] && grep -q "cannot write .*File too large" said && nothing_temporary
}
check "a checkpoint that may not be written: a message, 4, nothing temporary" full_checkpoint
refuse 4 "gnndata: a file that may not grow" bash -c "ulimit -f 8; '$gnndata' synth sbm big.safetensors --nodes 2000"
check "  and nothing is left of it" sh -c '! ls | grep big'
refuse 4 "predict: a file that may not grow" bash -c "./net -q --epochs 20 --out short && ulimit -f 1 && ./net predict --out short -o p.npy --layer conv1"
refuse 4 "gnncc: a file that may not grow" bash -c "ulimit -f 8; '$gnncc' --emit=c=big.c net.gnn"
check "  and nothing is left of them" sh -c '! ls | grep "^big\|p.npy"'

# ---- a pipe that is closed ----
closed_pipe() { # OPTION...
  rm -rf out
  ./net --epochs 20000 --out out --log csv --every 1 "$@" | head -1 >printed
  local status=${PIPESTATUS[0]}
  echo "status $status"
  [ $status -eq 0 ] && [ -s printed ] && [ "$(wc -l <out/log.csv)" -eq 20001 ] && [ -s out/best.safetensors ] && [ -s out/run.json ]
}
check "training goes on when nobody reads" closed_pipe
check "  and with a live line" closed_pipe --progress=bar
quietly() { # COMMAND...: head has seen enough of what is printed
  "$@" 2>said | head -1 >printed
  local status=${PIPESTATUS[0]}
  cat said
  echo "status $status"
  [ -s printed ] && [ ! -s said ] && { [ $status -eq 0 ] || [ $status -eq 141 ]; }
}
check "info | head" quietly ./net info -v
check "gnndata | head" quietly "$gnndata" head karate edges 100000
check "gnncc | head" quietly "$gnncc" --emit=c=- net.gnn
check "gnncc leaves nothing then" nothing_temporary

# ---- gnncc and gnndata ----
cat >slow_cc <<'END'
#!/bin/sh
# A compiler that is long at work: it says where, and that it was stopped.
trap 'echo stopped >"$SAID.end"; exit 1' TERM
echo working >"$SAID"
while :; do sleep 0.1; done
END
chmod +x slow_cc
stops_gnncc() { # SIGNAL STATUS
  rm -f at_work at_work.end made
  SAID=$work/at_work started at_work "$gnncc" --cc="$work/slow_cc" net.gnn -o made && kill -s "$1" $process && ends "$2" &&
    [ -s at_work.end ] && [ ! -e made ] && nothing_temporary
}
for signal in "INT 130" "TERM 143" "HUP 129" "XCPU 152"; do
  # A shell lets what it starts in the background ignore INT; gnncc hears it all the same.
  check "gnncc at work: $signal, its compilers stopped, nothing left" stops_gnncc $signal
done
cat >slow_write.c <<'END'
/* For LD_PRELOAD: the temporary file is there, and then nothing goes on. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int fsync(int file) {
  FILE *mark = fopen("at_work", "w");
  (void)file;
  fputs("working\n", mark);
  fclose(mark);
  for (;;) pause();
}
END
check "a disk that never answers" cc -shared -fPIC -O1 -Wall -Wextra -o slow_write.so slow_write.c
stops_writing() { # SIGNAL STATUS COMMAND...
  local signal=$1 status=$2
  shift 2
  started at_work env LD_PRELOAD="$work/slow_write.so" "$@" && find . -name '*.tmp-*' | grep -q . && kill -s "$signal" $process && ends "$status" && nothing_temporary
}
check "gnndata writing: TERM, nothing left" stops_writing TERM 143 "$gnndata" convert karate k.safetensors
check "predict writing: INT, nothing left" stops_writing INT 130 ./net predict -q --out short -o q.npy
twice() { # the first TERM waits for the checkpoint, the second does not
  rm -rf out
  started at_work env LD_PRELOAD="$work/slow_write.so" ./net -q --epochs 3 --out out || return 1
  while kill -TERM $process 2>/dev/null; do sleep 0.1; done
  ends 143 && nothing_temporary
}
check "a second TERM ends a checkpoint that hangs, nothing left" twice
finish
