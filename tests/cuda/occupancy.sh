#!/bin/bash
# occupancy.sh BUILD [--renew]: registers, spills, shared memory and blocks per multiprocessor of the kernels of every example and of the models of
# these tests, as nvcc compiles them, against docs/kernels.md; --renew writes the table there anew. The table is of one version of nvcc: with another
# there is nothing to compare, which is said. No GPU is needed.
set -u
build=$(realpath "$1") renew=${2:-}
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..") table=$root/docs/kernels.md
. "$here/../tap.sh"
nvcc=$("$root/runtime/cuda/home.sh" | sed -n 4p)
[ -x "$nvcc" ] || { skip "registers of all kernels" "there is no nvcc"; finish; exit; }
version=$("$nvcc" --version | sed -n 's/.*release [0-9.]*, V\([0-9.]*\).*/\1/p')
said=$(sed -n 's/^Compiled by nvcc \([0-9.]*[0-9]\)[,.].*/\1/p' "$table")
work=$build/check/occupancy
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1

widths=(47 64 100 128 256)
declare -A layers=([GCN]="GCN" [SAGE]="SAGE" [sum]="GraphConv")
model_of() { # WIDTH LAYER: of the size of ogbn-products, one layer of that width between two products
  cat <<MODEL
data web {
  nodes = 2_449_029
  edges = 123_718_280
  node x : f32[100]
  node y : class[47]
}
model net on web { return x |> Linear($1) |> $2($1) as sums |> relu |> Linear(y.classes) }
train net { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2 }
MODEL
}

emit() { # NAME MODEL OPTION...: NAME.cu
  "$build/gnncc" -q -w --backend=cuda --arch=sm_80 --prefix=model --emit=cuda="$1.cu" "${@:3}" "$2"
}
# Of a program its sums over neighbours alone.
only_sums() { awk '/^\/\* ---- /{ is_other = !/ over (in|out)-edges of / } !is_other' "$1.cu" >sums && mv sums "$1.cu"; }

emit_models() {
  local path options
  for path in "$root"/examples/*.gnn "$here"/models/*.gnn; do
    options=() && case $path in */sage_products.gnn) options=(--shapes) ;; esac
    emit "$(basename "$path" .gnn)" "$path" "${options[@]}" || return 1
  done
}
emit_widths() {
  local width layer
  for width in "${widths[@]}"; do
    for layer in GCN SAGE sum; do
      model_of "$width" "${layers[$layer]}" >"$layer.gnn" && emit "$layer-$width-fp32" "$layer.gnn" --shapes && only_sums "$layer-$width-fp32" || return 1
    done
    emit "SAGE-$width-bf16" SAGE.gnn --shapes --precision=bf16 && only_sums "SAGE-$width-bf16" || return 1
  done
}

# NAME ARCHITECTURE KERNEL REGISTERS SPILLED SHARED, a line for each kernel of NAME.cu
figures_of() { # NAME ARCHITECTURE
  "$nvcc" -arch="$2" --std=c++17 --fmad=false -Xptxas -v -cubin -I"$build/share" -o "$1.$2.cubin" "$1.cu" >"$1.$2.log" 2>&1 || { cat "$1.$2.log" >&2; return 1; }
  awk -v name="$1" -v arch="$2" '
    function number(before, after,    text) { if (!match($0, before "[0-9]+" after)) return 0; text = substr($0, RSTART, RLENGTH); gsub(/[^0-9]/, "", text); return text + 0 }
    /Compiling entry function/ { split($0, part, "\047"); kernel = part[2]; spilled = 0 }
    /spill stores/ { spilled = number("", " bytes spill stores") + number("", " bytes spill loads") }
    /Used [0-9]+ registers/ { print name, arch, kernel, number("Used ", " registers"), spilled, number("", " bytes smem") }' "$1.$2.log"
}
export -f figures_of
export nvcc build
compile() { # NAME...: figures
  printf '%s sm_80\n%s sm_90\n' $(for name in "$@"; do echo "$name" "$name"; done) | xargs -P 2 -L 1 bash -c 'figures_of "$0" "$1" >"$0.$1.figures"' && cat ./*.figures
}

# Blocks of 256 threads on a multiprocessor (CUDA programming guide, technical specifications per compute capability): 65,536 registers, handed out to
# warps by 256; 2,048 threads; 164 or 228 KiB of shared memory, of which a block takes 1 KiB more than it asks for.
blocks_awk='
  function least(a, b) { return a < b ? a : b }
  function blocks_of(arch, registers, shared) {
    return least(least(int(65536 / (int((registers * 32 + 255) / 256) * 256) / 8), 8), int((arch == "sm_80" ? 164 : 228) * 1024 / (shared + 1024)))
  }'

headings() { # NAME: NAME KERNEL WHAT, in the words above it
  awk -v name="$1" '/^\/\* ---- / { line = $0; sub(/^\/\* ---- /, "", line); sub(/ ---- .*/, "", line); gsub(/.* · /, "", line); gsub(/\|/, "\\|", line) }
    /^GNN_KERNEL/ { split($2, part, "("); print name, part[1], line }' "$1.cu"
}

print_kernels() {
  awk "$blocks_awk"'
    FNR == NR { key = $1 " " $2; $1 = $2 = ""; sub(/^ +/, ""); what[key] = $0; order[++count] = key; next }
    { key = $1 " " $3; bar = registers[key] == "" ? "" : " / "; registers[key] = registers[key] bar $4; spilled[key] = spilled[key] bar $5; shared[key] = $6
      blocks[key] = blocks[key] bar blocks_of($2, $4, $6) }
    END { print "| program | kernel | of | registers | bytes spilled | shared memory | blocks |\n|---|---|---|--:|--:|--:|--:|"
      for (i = 1; i <= count; i++) { key = order[i]; split(key, part, " ")
        if (part[1] !~ /-/) printf "| %s | %s | %s | %s | %s | %d | %s |\n", part[1], part[2], what[key], registers[key], spilled[key], shared[key], blocks[key] } }' words figures
}

print_gathers() {
  awk "$blocks_awk"'
    FNR == NR { end[$1 " " $2] = / over in-edges / ? "in" : "out"; next }
    $1 ~ /-/ { split($1, part, "-"); key = part[1] " " part[2] " " part[3]; if (!(key in seen)) { order[++count] = key; seen[key] = 1 }
      at = key " " end[$1 " " $3] " " $2; if ($4 > registers[at]) { registers[at] = $4; blocks[at] = blocks_of($2, $4, $6) } }
    END { print "| layer | width | rows | to destinations, sm_80 | sm_90 | to sources, sm_80 | sm_90 |\n|---|--:|---|--:|--:|--:|--:|"
      for (i = 1; i <= count; i++) { split(order[i], part, " "); printf "| %s | %s | %s |", part[1], part[2], part[3]
        for (e = 1; e <= 2; e++) for (a = 80; a <= 90; a += 10) { at = order[i] " " (e == 1 ? "in" : "out") " sm_" a; printf " %d (%d) |", registers[at], blocks[at] }
        printf "\n" } }' words <(sort -s -t- -k1,1 -k2,2n figures)
}

print_all() {
  printf 'Compiled by nvcc %s, for sm_80 / sm_90.\n\n## Sums over neighbours\n\n' "$version"
  print_gathers
  printf '\n## Every kernel\n\n'
  print_kernels
}

make_all() {
  emit_models && emit_widths && compile $(ls ./*.cu | sed 's/^..//; s/\.cu$//') >figures &&
    for program in $(ls ./*.cu | sed 's/^..//; s/\.cu$//'); do headings "$program"; done >words && print_all >now.md
}
if [ "$renew" = --renew ]; then
  make_all || exit 1
  { sed '/^Compiled by nvcc/,$d' "$table"; cat now.md; } >new.md && cp new.md "$table"
  exit
fi
check "every kernel compiles for sm_80 and sm_90" make_all
spilled() { # all but the products of ours, which tiles fill
  [ "$(wc -l <figures)" -gt 200 ] && awk 'FNR == NR { if (/ @ /) is_product[$1 " " $2] = 1; next } $5 > 0 && !(($1 " " $3) in is_product)' words figures | grep . && return 1
  return 0
}
check "none but products spills registers" spilled
if [ "$said" = "$version" ]; then
  check "docs/kernels.md has these figures (tests/cuda/occupancy.sh build --renew)" diff <(sed -n '/^Compiled by nvcc/,$p' "$table") now.md
else
  skip "docs/kernels.md has these figures" "its table is of nvcc $said, and this is $version"
fi
finish
