#!/bin/bash
# cuts.sh BUILD: programs for CUDA whose values are cut, by parts of the rows and slices of the columns, on the stand-in: the bits of those whose values are
# whole, under budgets that move pieces between all tiers, with features that stay on the host, and in bf16. CUDA_ALL=1: also programs of which others do
# all that they do, and more; and of every one whether the memory is as was planned.
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
. "$here/../tap.sh"
. "$here/losses.sh"
work=$build/check/cuda_cuts
rm -rf "$work" && mkdir -p "$work"
plans=$root/tests/end_to_end/models/plans box=--target=$root/tests/end_to_end/models/plans/box.gnn
export CFLAGS=-O0
# Of as many nodes as have two parts: the emulation takes its time.
models=$work/models
mkdir "$models"
for model in slices4 away4 parts_sums2 sparse3 halo4 edges4 learned4; do sed 's/nodes = 8200/nodes = 4100/' "$plans/$model.gnn" >"$models/$model.gnn"; done
sed -i '/^data/s/$/ { order = nested }/; s/heads = 3/&, dropout = 0.2/' "$models/slices4.gnn" "$models/away4.gnn" # dropout draws by what the data call each node and edge

trains() { "$1" -q --runs 1 --epochs 2 --every 2 --log csv --out "$1.out"; } # PROGRAM
makes_and_trains() { "$here/program.sh" "$build" "$@" && trains "$1"; } # PROGRAM MODEL OPTION...
checks() { "$1" check >"$1.check" 2>&1 && grep -q "device arena: planned" "$1.check" && awk '/ arena: planned/ && $4 " " $5 != $7 " " $8 "," { bad = 1 } END { exit bad }' "$1.check" || { cat "$1.check"; return 1; }; } # PROGRAM: planned = touched
cut_program() { # NAME WHOLE MODEL OPTION...
  check "$1: trains" makes_and_trains "$work/$1" "$3" --plan-effort=fast "${@:4}" # how good the plan is, is not tested
  check "$1: the bits of whole values" is_same "$work/$1" "$work/$2"
  check "$1: by kernels for the rows of a part" grep -q 'part_first\[part\]' "$work/$1.work/model.c"
  case ${CUDA_ALL:-$1} in slices | graph | scores | sums) ;; *) check "$1: within the memory that was planned" checks "$work/$1" ;; esac # of each way that data and values go, one
}
moves() { [ "$(grep -c "gnn_copy(g, " "$1.work/model.c")" -ge "$2" ]; } # PROGRAM COPIES

if [ -e "$build/share/libgnncuda.a" ]; then
  check "slices4: the program of whole values trains" makes_and_trains "$work/whole" "$models/slices4.gnn" --cut=whole
  cut_program slices whole "$models/slices4.gnn" '--cut=slices(2)' "$box" --budget device=3MiB
  check "slices: pieces are moved" moves "$work/slices" 50
  check "slices: sums gather from them" grep -q 'gnn_at(g, place_[a-z0-9_]*_slice[_0-9]*_pieces\[far_part\]' "$work/slices.work/model_kernels.cu"
  [ -z "${CUDA_ALL:-}" ] || cut_program mixed whole "$models/slices4.gnn" '--cut=slices(2), gcn1 = rows(2), sage1 = whole, gat1.backward = whole' "$box" --budget device=4MiB
  cut_program rows whole "$models/slices4.gnn" '--cut=rows(2)' --gemm=cublas "$box" --budget device=3MiB --budget host=2MiB
  check "rows: and to the SSD" moves "$work/rows" 50
  sed 's/away4/slices4/' "$models/away4.gnn" >"$work/away.gnn" # weights begin by the name of the model
  [ -z "${CUDA_ALL:-}" ] || cut_program away whole "$work/away.gnn" "$box" '--cut=slices(2)' --budget device=2700KiB
  sed -i 's/fate "x" = host/&\n  fate "graph_*_idx" = host/' "$work/away.gnn"
  cut_program graph whole "$work/away.gnn" "$box" '--cut=slices(2)' --budget device=2700KiB
  check "graph: features come from the host" grep -q 'is_on_host = 1' "$work/graph.work/model.c"
  check "graph: neighbours come from the host" grep -Eq "in graph_in_idx(\[[0-9]+/[0-9]+\])? <- host" "$work/graph.work/model.c"
  begins_there() { grep -q 'in graph_in_ptr\[2/2\] <- host' "$work/graph.work/model.c" && grep -q 'gnn_csr_at(&g->sets\[GNN_EDGES\]\.in, P_OFFSETS(' "$work/graph.work/model_kernels.cu"; }
  check "graph: and where the edges of each node begin" begins_there
  ids_there() { grep -q 'in graph_node_id\[2/2\] <- host' "$work/graph.work/model.c" && grep -q 'P_LABELS(node_ids)\[r\]' "$work/graph.work/model_kernels.cu"; }
  check "graph: and what the data call each node" ids_there
  edge_ids_there() { grep -q 'in graph_out_edge_id\[2/2\] <- host' "$work/graph.work/model.c" && grep -q 'P_OFFSETS(edge_ids)\[i\]' "$work/graph.work/model_kernels.cu" && grep -q 'P_OFFSETS(out_edge_ids)\[i\]' "$work/graph.work/model_kernels.cu"; }
  check "graph: and each edge" edge_ids_there
  sed 's/ = host$/ = ssd/' "$work/away.gnn" >"$work/ssd.gnn"
  if [ -n "${CUDA_ALL:-}" ]; then
    cut_program ssd whole "$work/ssd.gnn" "$box" '--cut=slices(2)' --budget device=2700KiB --budget host=4MiB
    check "ssd: features and neighbours come from the SSD by the ring" grep -Eq "in graph_in_idx(\[[0-9]+/[0-9]+\])? ssd -> ring" "$work/ssd.work/model.c"
  fi
  cut_program alone whole "$work/ssd.gnn" "$box" '--cut=slices(2)' --budget device=2760KiB --budget host=0
  check "alone: without a host tier scores end on the SSD, and come back by the ring" grep -q '^  \.scores_tier = GNN_READ_RING' "$work/alone.work/model.c"
  predicts() { "$work/$1" predict -q --weights "$work/$1.out/last.safetensors" -o "$work/$1.npy"; }
  same_predictions() { predicts "$1" && predicts "$2" && cmp "$work/$1.npy" "$work/$2.npy"; }
  check "alone: they are those of whole values" same_predictions whole alone
  # Scores that are no result of a layer; of four parts, because labels of fewer do not leave. Other layers than two are elsewhere.
  for model in slices4 away4; do sed 's/away4/slices4/; s/return h4 |> SAGE(y.classes)/& |> elu/; s/fate "x" = host/&\n  fate "graph_*_idx" = host/; /^  h[23] = /d; s/(h3 + h2) |> GAT(16, heads = 3)/h1 |> SAGE(32)/' "$plans/$model.gnn" >"$work/elu_$model.gnn"; done
  check "scores: the program of whole values trains" makes_and_trains "$work/whole_scores" "$work/elu_slices4.gnn" --cut=whole
  cut_program scores whole_scores "$work/elu_away4.gnn" "$box" '--cut=slices(2)' --budget device=3MiB
  check "scores: they leave by parts, and are measured before" [ "$(grep -c '^  measure_rows(g, &(gnn_places){{AT_eval_.*_part_[1-4]' "$work/scores.work/model.c")" -ge 4 ]
  check "scores: with the labels of the part, and which rows have some" grep -q '^  measure_rows(g, .*AT_eval_.*_part_2.*, AT_eval_data_y_part_2 - .*, AT_eval_rows_train_part_2 - .*, AT_eval_rows_test_part_2 - ' "$work/scores.work/model.c"
  labelled_there() { grep -q 'in rows_train\[2/4\] <- host' "$work/scores.work/model.c" && grep -q 'P_LABELS(rows_train) + first_labelled, end_labelled - first_labelled' "$work/scores.work/model_kernels.cu" && ! grep -q 'AT_rows_[a-z]* ' "$work/scores.work/model.c"; }
  check "scores: so do losses" labelled_there
  check "scores: the host has those of whole values" same_predictions whole_scores scores
  sed 's/SAGE(32, aggr = "max")/SAGE(32)/' "$models/slices4.gnn" >"$work/mean.gnn"
  check "in bf16: the program of whole values trains" makes_and_trains "$work/half" "$work/mean.gnn" --cut=whole --precision=bf16
  cut_program half_slices half "$work/mean.gnn" '--cut=slices(2)' --precision=bf16 "$box" --budget device=2200KiB
  check "sums: the program of whole values trains" makes_and_trains "$work/whole_sums" "$models/parts_sums2.gnn" --cut=whole
  cut_program sums whole_sums "$models/parts_sums2.gnn" '--cut=rows(2)'

  check "sparse: the program of whole values trains" makes_and_trains "$work/whole_sparse" "$models/sparse3.gnn" --cut=whole
  [ -z "${CUDA_ALL:-}" ] || cut_program sparse whole_sparse "$models/sparse3.gnn" '--cut=slices(2)' "$box" --budget device=2700KiB

  check "halos: the program of whole values trains" makes_and_trains "$work/whole_halos" "$models/halo4.gnn" --cut=whole
  [ -z "${CUDA_ALL:-}" ] || cut_program halos whole_halos "$models/halo4.gnn" '--cut=halos(2)' "$box" --budget device=2200KiB
  nvcc_takes_halos() { "$build/gnncc" -q -w -c --backend=cuda --cuda-compiler=nvcc --arch=sm_90 '--cut=halos(2)' "$box" --budget device=2200KiB "$models/halo4.gnn" -o "$work/object.o" >"$work/messages" 2>&1 && [ ! -s "$work/messages" ]; }
  if [ -x "$("$root/runtime/cuda/home.sh" | sed -n 4p)" ]; then check "halos: nvcc compiles them without a warning" env NVCC_APPEND_FLAGS="-Xcicc -O1 -Xptxas -O0" bash -c "$(declare -f nvcc_takes_halos); build=$build work=$work models=$models box=$box; nvcc_takes_halos"
  else skip "halos, compiled" "there is no nvcc"; fi
  sed '$a plan {\n  fate "x" = host\n  fate "graph_*_idx" = host\n}' "$models/halo4.gnn" >"$work/halos_away.gnn"
  cut_program codes whole_halos "$work/halos_away.gnn" '--cut=halos(2)' "$box" --budget device=1700KiB
  check "codes: sums gather by them" grep -q 'gnn_at(g, place_[a-z0-9_]*_halo\[code >> ' "$work/codes.work/model_kernels.cu"
  check "codes: they come from the host" grep -q "in graph_in_idx\[2/2\] <- host" "$work/codes.work/model.c"
  tables_there() { grep -q 'in graph_in_halo_rows\[2/2\] <- host' "$work/codes.work/model.c" && grep -q 'const int64_t r = P_LABELS(in_halo_rows)\[i\]' "$work/codes.work/model_kernels.cu"; }
  check "codes: and which rows the parts gather" tables_there
  if [ -n "${CUDA_ALL:-}" ]; then
    check "halos, in bf16: the program of whole values trains" makes_and_trains "$work/half_halos" "$models/halo4.gnn" --cut=whole --precision=bf16
    cut_program halos_half half_halos "$models/halo4.gnn" '--cut=halos(2)' --precision=bf16 "$box" --budget device=2200KiB
  fi
  check "edges: the program of whole values trains" makes_and_trains "$work/whole_edges" "$models/edges4.gnn" --cut=whole
  sed '$a plan {\n  fate "x" = host\n  fate "graph_*_idx" = host\n}' "$models/edges4.gnn" >"$work/edges_away.gnn"
  cut_program edges whole_edges "$work/edges_away.gnn" '--cut=halos(2)' --gemm=cublas "$box" --budget device=2200KiB
  edge_tables() { grep -q 'in graph_edge_halo_rows\[2/2\] <- host' "$work/edges.work/model.c" && grep -q 'edge_code = ((const uint32_t \*)P_LABELS(edge_codes))\[i\]' "$work/edges.work/model_kernels.cu"; }
  check "edges: which of them are gathered, and where each is found, comes by parts" edge_tables
  by_parts_of_edges() { grep -q 'part_in\[part\]' "$work/edges.work/model.c" && grep -q 'gnn_walk_edges<[0-9, ]*>(edges, first_row, end_row, ' "$work/edges.work/model_kernels.cu" && grep -q 'out gate1_[a-z0-9_]*\[[12]/2\] -> host' "$work/edges.work/model.c"; }
  check "edges: values on edges are made, multiplied and moved by parts" by_parts_of_edges
  for tier in ${CUDA_ALL:+host} ssd; do
    sed "\$a plan {\n  fate \"x\" = $tier\n  fate \"graph_*_idx\" = $tier\n}" "$models/sparse3.gnn" >"$work/sparse_$tier.gnn"
    cut_program sparse_$tier whole_sparse "$work/sparse_$tier.gnn" '--cut=slices(2)' "$box" --budget device=2MiB $([ $tier = host ] || echo --budget host=0)
    by_parts() { grep -q "in data_x_row_idx\[2/2\] $1" "$work/sparse_$tier.work/model.c" && grep -q "in data_x_column_value\[2/2\] $1" "$work/sparse_$tier.work/model.c" && grep -q "in data_x_row_ptr\[2/2\] $1" "$work/sparse_$tier.work/model.c" && grep -q 'gnn_csr_at(&g->sparse\[0\]\.by_row, P_OFFSETS(' "$work/sparse_$tier.work/model_kernels.cu"; }
    check "sparse_$tier: rows and columns of features come by parts" by_parts "$([ $tier = host ] && echo '<- host' || echo 'ssd -> ring')"
  done
  check "learned: the program of whole values trains" makes_and_trains "$work/whole_learned" "$models/learned4.gnn" --cut=whole
  for tier in host ssd; do { cat "$models/learned4.gnn" && printf 'plan {\n  fate "e" = %s\n}\n' $tier; } >"$work/learned_$tier.gnn"; done
  [ -z "${CUDA_ALL:-}" ] || cut_program learned whole_learned "$work/learned_host.gnn" "$box" '--cut=slices(2)' --budget device=3MiB
  goes_home() { grep -q "in weight_e\[1/2\] <- $2" "$work/$1.work/model.c" && grep -q "in state2_e\[2/2\] <- $2" "$work/$1.work/model.c" && grep -q "out state1_e\[2/2\] -> $2" "$work/$1.work/model.c"; }
  [ -z "${CUDA_ALL:-}" ] || check "learned: what an optimiser keeps comes by parts, and goes back" goes_home learned host
  cut_program learned_ring whole_learned "$work/learned_ssd.gnn" "$box" '--cut=rows(2)' --budget device=3MiB --budget host=2MiB
  check "learned: what an optimiser keeps comes by parts, and goes back, by the ring to the SSD" goes_home learned_ring ring
  check "late: the program of whole values trains" makes_and_trains "$work/whole_late" "$plans/late2.gnn" --cut=whole
  for tier in host ssd; do sed "\$a plan {\n  fate \"e\" = $tier\n}" "$plans/late2.gnn" >"$work/late_$tier.gnn"; done
  cut_program late_host whole_late "$work/late_host.gnn" "$box" '--cut=rows(2)' --budget device=2300KiB
  cut_program late_ring whole_late "$work/late_ssd.gnn" "$box" '--cut=rows(2)' --budget device=2300KiB --budget host=2MiB
  same_gradients() { # NAME TIER: parts of them are there
    sed -n '/ gradient_parts\[\]/{n;p}' "$work/$1.work/model.c" | grep "{$2, " && for program in whole_late "$1"; do "$work/$program" gradients -q -o "$work/$program.safetensors" || return 1; done
    grep -aq '"e":{' "$work/$1.safetensors" && cmp "$work/whole_late.safetensors" "$work/$1.safetensors"
  }
  check "late: gradients are written from the host" same_gradients late_host GNN_HOST
  check "late: from the SSD, and from the device" same_gradients late_ring GNN_SSD
  sed 's/adam(lr = 0.01)/rmsprop(lr = 0.01, momentum = 0.5)\n  clip      = norm(0.1)/' "$models/learned4.gnn" >"$work/norm.gnn"
  sed 's/adam(lr = 0.01)/rmsprop(lr = 0.01, momentum = 0.5)\n  clip      = norm(0.1)/' "$work/learned_ssd.gnn" >"$work/norm_ssd.gnn"
  if [ -n "${CUDA_ALL:-}" ]; then
    check "learned: a program of whole values that clips by norm trains" makes_and_trains "$work/whole_norm" "$work/norm.gnn" --cut=whole
    cut_program learned_norm whole_norm "$work/norm_ssd.gnn" "$box" '--cut=rows(2)' --budget device=3600KiB --budget host=0
  fi

  # cuBLASLt's algorithm of all rows is none for those of a part: no other one is taken.
  refused() { ! STANDIN_NO_ALGORITHM_FOR=2048 "$work/rows" -q --epochs 1 --out "$work/refused" 2>"$work/refused.err" && grep -q 'no algorithm for parts: .* does not take 2048 of its rows; compile with --gemm=own' "$work/refused.err"; }
  check "an algorithm that does not take the rows of a part ends the program before the first epoch" refused
else
  skip "programs that are cut" "no CUDA toolkit"
fi

says() { "$build/gnncc" -w --backend=cuda "${@:2}" -o "$work/none" 2>"$work/err"; [ $? -eq 1 ] && grep -qE "$1" "$work/err" || { cat "$work/err"; return 1; }; } # TEXT OPTION...
check "slices beside cuSPARSE, which adds in an order of its own, are refused" says 'E0110.*they would round or add otherwise' --spmm=cusparse '--cut=slices(2)' "$models/slices4.gnn"
check "so are slices of what bf16 would round otherwise" says 'E0110.*they would round or add otherwise' --precision=bf16 '--cut=slices(2)' "$models/slices4.gnn"
chosen() { "$build/gnncc" -w --backend=cuda --target=h200 --budget device=8GiB --plan-effort=fast --plan "$1" | tee "$work/chosen" | grep -q '^  cut .*16 parts by rows'; }
printf '%s\n' "data d { nodes = 2_449_029; edges = 123_718_280; node x : f32[100]; node y : class[47] }" "model m on d { return x |> SAGE(256) |> relu |> SAGE(y.classes) }" \
  'train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.003); epochs = 1 }' >"$work/products.gnn"
check "a graph of the size of ogbn-products is cut where a GPU has 8 GiB for it" chosen "$work/products.gnn"
finish
