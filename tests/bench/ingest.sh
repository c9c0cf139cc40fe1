#!/bin/bash
# ingest.sh [BUILD [EDGES [FOLDER]]]: what gnndata convert takes for a list of so many edges (100 million) among a thirtieth of so many nodes: time, memory
# (the most that was resident), edges a second; in memory and on disk with several sizes of memory, as text, packed text and array. Then the same of gnndata order.
# Files go to FOLDER.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd) edges=${2:-100000000}
folder=$(mktemp -d "${3:-/tmp}/ingest.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
cc -O2 -o make_list "$here/../ingest/make_list.c" || exit 1
./make_list text $((edges / 30)) "$edges" 1 list.txt && ./make_list pairs $((edges / 30)) "$edges" 1 list.npy && gzip -1 -k list.txt || exit 1

timed() { # COMMAND...: its seconds and the KiB that it had at most
  local pid most=0 now begin
  sync
  begin=$(date +%s.%N)
  "$@" >said 2>&1 &
  pid=$!
  while kill -0 $pid 2>/dev/null; do
    now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid/status 2>/dev/null)
    [ -z "$now" ] || most=$now
    sleep 0.05
  done
  wait $pid || { cat said >&2; return 1; }
  took="$(echo "$(date +%s.%N) - $begin" | bc) $most"
}
row() { # WHAT OPTION...: of list.WHAT
  local input=list.$1
  shift
  timed "$build/gnndata" convert "$input" out.safetensors --force "$@" || return
  echo "$took" | awk -v input="$input" -v size="$(stat -c %s "$input")" -v options="$*" -v edges="$edges" -v out="$(stat -c %s out.safetensors)" '{
    printf "| %s (%.2f GB) | %s | %.1f s | %.1f M | %.1f MiB | %.2f GB |\n", input, size / 1e9, options == "" ? "in memory" : "`" options "`", $1, edges / $1 / 1e6, $2 / 1024, out / 1e9 }'
}
order() { # OPTION...: of the last row's result
  XDG_CACHE_HOME=$folder/cache timed "$build/gnndata" order out.safetensors -o out.order --force "$@" || return
  echo "$took" | awk -v options="$*" -v edges="$edges" -v out="$(stat -c %s out.order)" '{
    printf "| order of it | %s | %.1f s | %.1f M | %.1f MiB | %.2f GB |\n", options == "" ? "in memory" : "`" options "`", $1, edges / $1 / 1e6, $2 / 1024, out / 1e9 }'
}
echo "| list | how | time | edges a second | most resident | result |"
echo "| --- | --- | ---: | ---: | ---: | ---: |"
row txt
for memory in 1GiB 256MiB 64MiB 16MiB; do row txt --memory=$memory; done
row txt --memory=256MiB --undirected
row txt.gz --memory=256MiB
row npy
row npy --memory=256MiB
order
order --memory=128MiB
