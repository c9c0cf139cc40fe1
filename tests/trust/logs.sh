#!/bin/bash
# logs.sh BUILD: a log or run.json that cannot be written ends training with status 4 and a line that has its name and the reason; what was
# trained is saved all the same. With the hand-made program under the sanitizers. TAP on stdout.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work" "$tap_log"' EXIT
cd "$work" || exit 99
chmod 755 .
cp "$build/watched/tests/toy" toy
nobody=() # permissions say nothing to root
[ "$(id -u)" -ne 0 ] || nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

says() { # TEXT COMMAND...: ends with status 4 and that line on stderr
  local text=$1 status
  shift
  "$@" >printed 2>said
  status=$?
  cat said
  [ $status -eq 4 ] && grep -qxF -- "toy: $text" said
}
train() { "$@" -q --epochs 3 --every 1 --out out; }
log_options() { case $1 in log.csv) echo --log csv ;; log.jsonl) echo --log jsonl ;; esac; }

in_its_place() { # FILE: a directory
  rm -rf out && mkdir -p "out/$1" && says "error[E0001]: cannot write \"out/$1\": Is a directory" train ./toy $(log_options "$1") &&
    [ -z "$(find . -name '*tmp*')" ]
}
is_full() { # FILE
  rm -rf out && mkdir out && ln -s /dev/full "out/$1" && says "error: cannot write \"out/$1\": No space left on device" train ./toy $(log_options "$1") &&
    [ -s out/last.safetensors ]
}
is_read_only() { # FILE
  rm -rf out && mkdir out && echo old >"out/$1" && chmod 444 "out/$1" && chmod 555 out &&
    says "error: cannot write \"out/$1\": Permission denied" train "${nobody[@]}" ./toy $(log_options "$1") && [ "$(cat "out/$1")" = old ]
}
for file in log.csv log.jsonl run.json; do
  check "$file: a directory in its place" in_its_place $file
  check "$file: a full disk" is_full $file
done
if "${nobody[@]}" ./toy info >/dev/null 2>&1; then
  for file in log.csv log.jsonl; do check "$file: a folder that may not be written" is_read_only $file; done
  weights_read_only() { # what is saved before run.json stands for it
    rm -rf out && mkdir out && chmod 555 out && says 'error: cannot write "out/checkpoint-r0-e000003.safetensors": Permission denied' train "${nobody[@]}" ./toy
  }
  check "a folder that may not be written, without a log" weights_read_only
  board_read_only() {
    rm -rf out board && mkdir board && chmod 555 board && mkdir -m 777 out && ! train "${nobody[@]}" ./toy --log tb=board 2>said &&
      grep -q '^toy: error: cannot write "board/events.out.tfevents.*": Permission denied$' said
  }
  check "a folder for TensorBoard that may not be written" board_read_only
else
  skip "a folder that may not be written" "root has no way to be nobody"
fi
both() {
  rm -rf out && mkdir out && ln -s /dev/full out/log.csv && ln -s /dev/full out/log.jsonl &&
    says 'error: cannot write "out/log.csv": No space left on device; cannot write "out/log.jsonl": No space left on device' train ./toy --log csv --log jsonl
}
check "two logs on a full disk: both are named" both
beside_another() {
  rm -rf out && mkdir -p out/last.safetensors && ln -s /dev/full out/log.csv &&
    says 'error: cannot write "out/log.csv": No space left on device' train ./toy --log csv && grep -q 'cannot write "out/last.safetensors": Is a directory' said
}
check "a log on a full disk and weights that cannot be saved: both are named" beside_another
limited() { # no file may grow beyond 1 KiB
  rm -rf out && (ulimit -f 1 && exec ./toy -q --epochs 200 --every 1 --log csv --out out) 2>&1 | cat >said
  [ "${PIPESTATUS[0]}" -eq 4 ] && grep -q '^toy: error: cannot write "out/log.csv": File too large$' said && grep -q 'cannot write "out/checkpoint-.*File too large' said
}
check "files that may not grow: the log is named beside the checkpoint" limited
finish
