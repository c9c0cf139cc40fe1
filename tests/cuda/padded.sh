#!/bin/bash
# padded.sh BUILD: rows of odd widths on a GPU begin at multiples of 16 bytes in the arenas, and nowhere else: which are padded, that the
# kernels and libraries compute what the CPU does, and that no user sees it. TAP on stdout.
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
. "$here/../tap.sh"
export CFLAGS=-O0 # of programs for the CPU, which are compared with to a tolerance
. "$here/losses.sh"
work=$build/check/cuda_padded
rm -rf "$work" && mkdir -p "$work"
odd=$here/models/odd.gnn

# ---- which rows, and by how much ----

nodes=100
for width in 1 2 3 5 7 8 9 10 11 15 16 17 47 64 602; do
  printf '  h = h |> Linear(%d) as w%d |> tanh\n' $width $width
done >"$work/layers"
{ echo "data web from synth(kind = \"rmat\", nodes = $nodes, degree = 3, features = 20, classes = 4, seed = 3)"
  echo 'model net on web {'; sed '1s/= h |>/= x |>/' "$work/layers"; echo '  return h |> Linear(y.classes) as head }'
  echo 'train net { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2 }'
} >"$work/widths.gnn"
source_of() { "$build/gnncc" -q -w --backend=cuda --emit=c=- "$@"; }
rows_of() { grep -o 'rows of [0-9]* numbers in [0-9]*' "$1" | sort -u | awk '{ print $3 ":" $6 }' | sort -n; } # C: "47:48", a line each
are() { diff <(tr ' ' '\n' <<<"$1") <("${@:2}" "$work/widths.gnn" >"$work/widths.c" && rows_of "$work/widths.c"); } # "WIDTH:STRIDE ..." COMMAND...
not_on_cpu() { "$build/gnncc" -q -w --emit=c="$work/widths.c" "$work/widths.gnn" && grep -q '#define AT_weight_w47_weight ' "$work/widths.c" && [ -z "$(rows_of "$work/widths.c")" ]; }
check "on the CPU no row is padded" not_on_cpu
check "on a GPU they are, to 16 bytes, where that is an eighth of the row at most" are "11:12 15:16 47:48 602:604" source_of
check "in bf16 to 8 numbers" are "11:12 15:16 47:48 602:608" source_of --precision=bf16
cat >"$work/parts.gnn" <<'MODEL'
layer Heads(x : node[f], out, heads) {
  param W : [f, heads, out] = glorot
  param V : [out, out] = glorot
  return flatten((x @ W) @ V)
}
data web from synth(kind = "rmat", nodes = 100, degree = 3, features = 47, classes = 5, seed = 3)
model net on web { return x |> Heads(21, heads = 3) as heads |> relu |> Linear(y.classes) as head }
train net { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2 }
MODEL
source_of "$work/parts.gnn" >"$work/parts.c"
sed 's/(x @ W) @ V/x @ W/; /param V/d' "$work/parts.gnn" >"$work/whole.gnn"
source_of "$work/whole.gnn" >"$work/whole.c"
check "a program that multiplies parts of rows pads none" bash -c "grep -q 'm = g->nodes \* 3,' '$work/parts.c' && ! grep -qE 'rows of [0-9]|stride' '$work/parts.c'"
check "the same without that product does" grep -q 'AT_heads_product .*rows of 63 numbers in 64' "$work/whole.c"
source_of "$odd" >"$work/odd.c"
least=$("$build/gnncc" -w --backend=cuda --budget device=1KiB "$odd" --plan=json 2>&1 | sed -n 's/.*--budget [a-z]*=\([0-9]*\)KiB is the smallest.*/\1/p')
source_of "$odd" --budget device="${least}KiB" >"$work/least.c"
same_rows() { ! cmp -s "$work/odd.c" "$work/least.c" && diff <(rows_of "$work/odd.c") <(rows_of "$work/least.c") && [ "$(rows_of "$work/odd.c" | wc -l)" -eq 6 ]; }
check "under the least budget the same" same_rows
counts_padding() { [ "$("$build/gnncc" -q -w --backend=cuda --stop-after=layout --dump=layout "$odd" | awk '$NF == "data_x" { print $3 }')" -eq $((230 * 152 * 4)) ]; }
check "the plan counts the padding" counts_padding
padded_factors() { source_of --precision="$1" "$odd" | grep -A2 'gnn_cuda_gemm(' | grep -o 'stride_[abc] = [0-9]*' | awk -v each="$2" '{ n++; if ($3 % each) bad = 1 } END { exit bad || n < 30 }'; }
check "tf32: every factor of a product, with the weights, has rows of whole 16 bytes" padded_factors tf32 4
check "bf16: so it has" padded_factors bf16 8

# ---- every step, from memory whose padding is no number ----

steps() { "$here/steps.sh" "$build" "$odd" "$work/$1" "${@:2}" >"$work/$1.log" 2>&1 && ! grep -q 'warning: ' "$work/$1.log" || { tail -20 "$work/$1.log"; return 1; }; }
[ -z "${CUDA_ALL:-}" ] || check "odd, with libraries for products and sums: each step leaves what the CPU leaves" steps libraries --spmm=cusparse
[ -z "${CUDA_ALL:-}" ] || check "odd, in bf16" steps own_bf16 --gemm=own --precision=bf16
check "odd, in bf16 with cuBLASLt" env PLAIN=1 TWICE=1 bash -c "$(declare -f steps); here=$here build=$build odd=$odd work=$work; steps bf16 --precision=bf16"

# ---- what users see, on the stand-in ----

training=(-q --runs 1 --epochs 3 --every 1 --log csv)
makes_and_trains() { "$here/program.sh" "$build" "$@" && "$1" "${training[@]}" --out "$1.out"; } # PROGRAM MODEL OPTION...
says_touched() { "$1" check 2>&1 | grep -E 'device arena: planned ([0-9.]+ [KMG]iB), touched \1'; }
predict() { "$1" predict -q --weights "$work/$2.cpu.out/last.safetensors" "${@:4}" -o "$3"; } # PROGRAM NAME FILE OPTION...
# FILE OTHER: tables of the same numbers, to a ten thousandth; a row or a column that is elsewhere makes more.
agrees() {
  paste -d, "$1" "$2" | awk -F, 'NR > 1 { for (c = 1; c <= NF / 2; c++) { d = $c - $(c + NF / 2); if (d < 0) d = -d; m = $c < 0 ? -$c : $c; if (d > 1e-4 * (1 + m)) bad++; if (m > 1) large++ } n = NF / 2 }
    END { print NR, n, bad + 0, large + 0; exit bad || NR < 100 || n < 2 }' && [ "$(wc -l <"$1")" -eq "$(wc -l <"$2")" ] && [ "$(sed -n 2p "$1" | tr -dc , | wc -c)" -eq "$(sed -n 2p "$2" | tr -dc , | wc -c)" ]
}
array_agrees() { # FILE.npy OTHER: of one shape, and of those numbers
  cmp <(head -c 128 "$1") <(head -c 128 "$2") && [ "$(stat -c %s "$1")" -eq "$(stat -c %s "$2")" ] &&
    agrees <(echo; tail -c +129 "$1" | od -An -v -w8 -t f4 | awk '{ print $1 "," $2 }') <(echo; tail -c +129 "$2" | od -An -v -w8 -t f4 | awk '{ print $1 "," $2 }')
}
answers() { # NAME OPTION...: of the CPU's weights, as CSV and as NPY
  predict "$work/$1.cpu" "$1" "$work/cpu.csv" "${@:2}" && predict "$work/$1" "$1" "$work/cuda.csv" "${@:2}" && agrees "$work/cpu.csv" "$work/cuda.csv" &&
    predict "$work/$1.cpu" "$1" "$work/cpu.npy" "${@:2}" && predict "$work/$1" "$1" "$work/cuda.npy" "${@:2}" && array_agrees "$work/cpu.npy" "$work/cuda.npy"
}
if [ -e "$build/share/libgnncuda.a" ]; then
  for name in odd odd_once; do
    model=$here/models/$name.gnn
    check "$name: the emitted program trains" makes_and_trains "$work/$name" "$model"
    check "$name: the same program for the CPU" "$build/gnncc" -q -w "$model" -o "$work/$name.cpu"
    check "$name: with the losses of the CPU" losses_agree "$work/$name.cpu" "$work/$name.out" "${training[@]}"
    check "$name: the memory that the plan announced is what is used" says_touched "$work/$name"
    check "$name: predict answers as the CPU's" answers "$name"
    check "$name: and the same classes" bash -c "$(declare -f predict); work=$work; predict $work/$name.cpu $name $work/a.csv --classes && predict $work/$name $name $work/b.csv --classes && cmp $work/a.csv $work/b.csv"
    check "$name: checkpoints have the bytes that the CPU's have" test "$(stat -c %s "$work/$name.out/last.safetensors")" = "$(stat -c %s "$work/$name.cpu.out/last.safetensors")"
  done
  for layer in conv1 conv2 conv3 conv4; do check "odd: predict --layer $layer" answers odd --layer $layer; done
  check "odd_once: predict --layer first" answers odd_once --layer first
  check "odd_once: the sum that is computed once is padded" grep -q 'AT_once_first_sum .*rows of 43 numbers in 44' "$work/odd_once.work/model.c"
  says() { "$1" eval --weights "$work/odd.cpu.out/last.safetensors" >"$1.eval" && cat "$1.eval"; }
  check "odd: eval measures what the CPU's does" bash -c "$(declare -f says); work=$work; diff <(says $work/odd.cpu | grep -o '[a-z]* *[01]\.[0-9]*' ) <(says $work/odd | grep -o '[a-z]* *[01]\.[0-9]*') && [ -s $work/odd.eval ]"
  cat >"$work/host.c" <<'HOST'
#include <stdio.h>
#include "odd.work/model.h"
/* A graph and features of the host program's own, and the scores of weights from a file. */
int main(int argc, char **argv) {
  enum { NODES = 200, EDGES = 2 * NODES, FEATURES = 151, CLASSES = 15 };
  static float x[NODES * FEATURES], scores[NODES * CLASSES];
  int64_t src[EDGES], dst[EDGES], y[NODES], train[2] = {3, 7};
  for (int v = 0; v < NODES; v++) {
    src[2 * v] = dst[2 * v + 1] = v;
    dst[2 * v] = src[2 * v + 1] = (v + 1) % NODES;
    y[v] = v % CLASSES;
    for (int f = 0; f < FEATURES; f++) x[v * FEATURES + f] = (float)((v * 7919 + f * 104729) % 31 - 15) / 16;
  }
  model_options options;
  model *m = NULL;
  model_options_init(&options);
  model_status s = model_create(&options, &m);
  if (s == MODEL_OK) s = model_set_edges(m, src, dst, EDGES);
  if (s == MODEL_OK) s = model_set_x(m, x, NODES, FEATURES);
  if (s == MODEL_OK) s = model_set_y(m, y, NODES);
  if (s == MODEL_OK) s = model_set_split(m, MODEL_TRAIN, train, 2);
  if (s == MODEL_OK && argc == 2) s = model_restore(m, argv[1]);
  if (s == MODEL_OK) s = model_predict(m, scores, NODES, CLASSES);
  if (s != MODEL_OK) fprintf(stderr, "%s: %s\n", model_status_text(s), model_error(m));
  model_destroy(m);
  printf("scores of a host program\n");
  for (int i = 0; i < NODES * CLASSES; i++) printf("%.9g%s", (double)scores[i], (i + 1) % CLASSES ? "," : "\n");
  return s != MODEL_OK || argc != 2;
}
HOST
  embeds() {
    local libraries="$build/share/libgnnrt.a -l:libz.a -ldl -lm -lpthread" weights=$work/odd.cpu.out/last.safetensors
    "$build/gnncc" -q -w --prefix=model --emit=c="$work/model.c" "$odd" && (cd "$work" && cp odd.work/model.h . && cc -std=gnu11 -O1 -I"$build/share" -o host.cpu host.c model.c $libraries) &&
      cc -std=gnu11 -I"$build/share" -I"$work" -c -o "$work/host.o" "$work/host.c" &&
      c++ -rdynamic -o "$work/host" "$work/host.o" "$work"/odd.work/{model,emulated}.o "$build/check/standin.o" "$build/share/libgnncuda.a" $libraries &&
      "$work/host.cpu" "$weights" >"$work/host.cpu.csv" && "$work/host" "$weights" >"$work/host.csv" && agrees "$work/host.cpu.csv" "$work/host.csv"
  }
  check "odd: a host program that links it, with features of its own, gets the scores that it gets of the CPU's" embeds
  box=--target=$root/tests/end_to_end/models/plans/box.gnn
  least=$("$build/gnncc" -w --backend=cuda --budget device=1KiB $box --budget host=200KiB "$odd" -o no 2>&1 | sed -n 's/.*--budget [a-z]*=\([0-9]*\)KiB is the smallest.*/\1/p')
  check "odd, with memory of the host and an SSD: the least budget, $least KiB" makes_and_trains "$work/odd_ring" "$odd" $box --budget host=200KiB --budget device="${least}KiB"
  check "odd, with memory of the host and an SSD: the same bits" is_same "$work/odd_ring" "$work/odd"
  for way in --precision=bf16 $([ -z "${CUDA_ALL:-}" ] || echo --spmm=cusparse --precision=tf32); do
    check "odd, $way: the emitted program trains" makes_and_trains "$work/odd$way" "$odd" $way
    share=0.00098 # of tf32: two factors are rounded
    [ "$way" != --precision=bf16 ] || share=1e-2
    check "odd, $way: with losses near those of the CPU" losses_near "$work/odd$way.out" "$work/odd.cpu.out" $share
  done
else
  skip "whole programs" "no CUDA toolkit"
fi
finish
