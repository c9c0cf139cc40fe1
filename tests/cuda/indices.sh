#!/bin/bash
# indices.sh BUILD [NAME...]: no index of device code is narrower than the array that it walks may be: 2^31 elements and more. Every model's kernels are
# compiled as C++ of the host (emulate.h), where an integer of 64 bits that becomes a narrower one is a warning, and a number of a node times
# a narrow one an error (wide.h). What is cast is not warned of: the casts that there may be are listed here.
# NAME: of a model; only these. In bf16 the models of which the suite cuda runs every step; CUDA_ALL=1: all.
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
. "$here/../tap.sh"
work=$build/check/cuda_indices
rm -rf "$work" && mkdir -p "$work"
nodes() { sed -E 's/const int32_t \*rows = \(const int32_t \*\)/const WideNode *rows = (const WideNode *)/; s/const int32_t \*(restrict )?(labels\b)/const GNN_LABEL *\1\2/; s/\(const int32_t \*\)/(const GNN_LABEL *)/g; s/const int32_t \*/const WideNode */g; s/GNN_LABEL/int32_t/g' "$@"; }
{ echo '#include "wide.h"'; nodes "$build/share/gnndevice.cuh"; } >"$work/gnndevice.cuh"

narrow() { # FILE.cu: what is narrower than it may be
  nodes "$1" >"$1.wide"
  ${CXX:-c++} -std=c++17 -fsyntax-only -Werror -Wconversion -Wno-unused -I"$work" -I"$here" -DKERNELS="\"$1.wide\"" "$here/emulated.cc"
}
# Who hashes the number of a row or column takes 32 bits of it. Else: bytes of a number, places within a block of threads, shares of a hub, which tile and which weight is a block's, the bits of
# a number.
casts() {
  sed -E 's/gnn_(dropout_factor|random_row|mix32)\(.*//; s/\(int\)sizeof\(T\)|\(int\)\(task % BLOCKS\)|\(int\)threadIdx\.x|\(int\)\(blockIdx\.x % [0-9]+\)|\(int\)blockIdx\.x - weight\.block|\.block <= \(int\)blockIdx\.x|\(uint32_t\)(threshold|x\.bits << 16)|\(uint16_t\)\(x != x//g' "$1" |
    grep -nE '\((unsigned|int|short|u?int(8|16|32)_t)\) *[a-zA-Z_(]'
}
no_other_casts() { ! casts "$@"; }
one() { # FILE.cu MODEL OPTION...
  "$build/gnncc" -q -w --prefix=model --backend=cuda --tuning=none --emit=cuda="$1" "${@:3}" "$2" && [ -s "$1" ] && narrow "$1" && no_other_casts "$1"
}
cat >"$work/view.cu" <<'VIEW'
#include "gnndevice.cuh"
template <class... T> constexpr bool are_wide() { return ((sizeof(T) == 8) && ...); }
static_assert(are_wide<decltype(gnn_view::nodes), decltype(gnn_view::edges), decltype(+*gnn_view::row_count), decltype(gnn_view_csr::rows), decltype(gnn_view_csr::entries),
                       decltype(+*gnn_view_csr::ptr), decltype(+*gnn_view_csr::edge), decltype(+*gnn_view_blocks::first), decltype(+*gnn_places::at), decltype(gnn_walk::run),
                       decltype(gnn_walk::width), decltype(gnn_weight::count)>(), "");
VIEW
check "device headers: what counts nodes, edges and elements has 64 bits" narrow "$work/view.cu"
check "device headers: what is cast to 32 bits" no_other_casts "$build/share/gnndevice.cuh"
python3 "$here/../relations/make_types.py" "$work"
data_of() { # MODEL: options for one whose data are made
  if grep -q 'from "kinds"' "$1"; then echo --data "$work/kinds"; fi
}
for model in "$root"/examples/gcn_cora.gnn "$here"/models/*.gnn "$root"/tests/end_to_end/models/{.,varied,plans}/*.gnn; do
  name=$(basename "$model" .gnn)
  case $name in box | away4) continue ;; esac # a machine; fields on the host are for the processor
  { [ $# -eq 1 ] || [[ " ${*:2} " == *" $name "* ]]; } || continue
  # shellcheck disable=SC2046
  check "$name: no index is narrow" one "$work/${name}_own.cu" "$model" --gemm=own $(data_of "$model")
  [ -n "${CUDA_ALL:-}" ] || case $model in "$here"/* | */varied/* | */gcn_cora.gnn) ;; *) continue ;; esac
  # shellcheck disable=SC2046
  check "$name, in bf16: no index is narrow" one "$work/${name}_half.cu" "$model" --precision=bf16 $(data_of "$model")
done
finish
