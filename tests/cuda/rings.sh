#!/bin/bash
# rings.sh BUILD [NAME...]: between device and SSD bytes pass through rings of the host's memory. Of each wait that keeps a slot (of a copy for the one
# that fills its slot, and for the one that still reads what was there before) a program is made without it: on the stand-in it leaves other bits, or
# the wait is implied by others (waits.awk). NAME: of a model of layers, such as GIN8; its budget is the least. RINGS=again: only the waits of
# slots that are used again. TAP on stdout.
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
. "$here/../tap.sh"
. "$here/losses.sh"
. "$here/layered.sh"
work=$build/check/cuda_rings
[ -e "$build/share/libgnncuda.a" ] || { skip "the waits of rings" "no CUDA toolkit"; finish; exit; }
rm -rf "$work" && mkdir -p "$work"
road="--target=$root/tests/end_to_end/models/plans/box.gnn --budget host=330KiB"
names=("${@:2}")
[ ${#names[@]} -gt 0 ] || names=(GCN8)

left() { loss_curve "$1.out" && tail -c +$((9 + $(od -An -t u8 -N 8 "$1.out/last.safetensors" | tr -d ' '))) "$1.out/last.safetensors" | md5sum; } # PROGRAM
train() { rm -rf "$1.out"; timeout 60 env STANDIN_SEED="$2" "$1" -q --runs 1 --epochs 2 --every 1 --log csv --out "$1.out" >"$1.said" 2>&1; } # PROGRAM SEED
make_ring() { # NAME
  layered "${1%%[0-9]*}" "${1##*[A-Z]}" >"$work/$1.gnn"
  # shellcheck disable=SC2086
  "$here/program.sh" "$build" "$work/$1" "$work/$1.gnn" $road --budget "device=$(least_of "$work/$1.gnn" $road)KiB" && awk -f "$here/waits.awk" "$work/$1.work/model.c" >"$work/$1.waits"
}
tried() { awk -v again="${RINGS:-all}" '$4 == "needed" && (again != "again" || ($5 $6 ~ /D2H,.*WRITE|READ,.*H2D/)) { print $1, $2, $3, $5 $6 }' "$work/$1.waits"; } # NAME
same_under_all() { # NAME: seeds, and so an SSD that is fast or slow
  local seed
  for seed in 0 1 2 3 4 5 6; do
    train "$work/$1" $seed || { cat "$work/$1.said"; return 1; }
    if [ $seed = 0 ]; then left "$work/$1" >"$work/$1.wanted"; else left "$work/$1" | diff "$work/$1.wanted" - || return 1; fi
  done
}
has_kind() { grep -q "needed $2 $3\$" "$work/$1.waits" || { cat "$work/$1.waits"; false; }; } # NAME LANE LANE
without() { # NAME COPY PLACE: PROGRAM of it
  local program=$work/$1_without_$2_$3
  sed -E "/^  \{[0-9]+, GNN_LANE_.*\/\* $2: /s/\{(-?[0-9]+), (-?[0-9]+)\}/{$([ "$3" = 0 ] && echo '-1, \2' || echo '\1, -1')}/" "$work/$1.work/model.c" >"$program.c"
  ! cmp -s "$program.c" "$work/$1.work/model.c" && (cd "$work/$1.work" && cc -std=gnu11 -O0 -w -I"$build/share" -I. -c -o "$program.o" "$program.c" &&
    "$here/link.sh" "$build" "$program" main.o "$program.o" emulated.o)
}
shows() { # NAME COPY PLACE OTHER LANES
  local program=$work/$1_without_$2_$3 seed
  without "$1" "$2" "$3" >"$program.log" 2>&1 || { cat "$program.log"; return 1; }
  for seed in 3 0 5 2 1 4 3 0 5 2 1 4; do # with a slow SSD (odd) and a fast one; twice, as a busy machine may be in the way
    if ! train "$program" $seed || [ "$(left "$program")" != "$(cat "$work/$1.wanted")" ]; then rm -rf "$program"*; return 0; fi
  done
  echo "nothing shows that copy $2 waits for copy $4 ($5)"
  return 1
}
for name in "${names[@]}"; do
  check "$name: a program whose SSD has rings" make_ring "$name"
  check "$name: the same bits under every seed" same_under_all "$name"
  check "$name: a slot of the ring to the SSD is used again" has_kind "$name" GNN_LANE_D2H, GNN_LANE_SSD_WRITE,
  check "$name: a slot of the ring from the SSD is used again" has_kind "$name" GNN_LANE_SSD_READ, GNN_LANE_H2D,
  while read -r copy place other lanes; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    { shows "$name" "$copy" "$place" "$other" "$lanes" >"$work/$name.shown_${copy}_$place"; echo $? >"$work/$name.status_${copy}_$place"; } &
  done < <(tried "$name")
  wait
  while read -r copy place other lanes; do
    check "$name: without copy $copy's wait for copy $other the bits are others" bash -c "cat '$work/$name.shown_${copy}_$place'; exit \$(cat '$work/$name.status_${copy}_$place')"
  done < <(tried "$name")
done
finish
