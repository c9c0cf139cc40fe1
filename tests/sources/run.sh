#!/bin/bash
# run.sh BUILD: every form of data that is read, as the same little graph in each; and what is said of damaged ones. Under the sanitizers.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnndata=$build/watched/gnndata gnncc=$build/gnncc
workplace
python3 "$here/forms.py" forms || exit 2
cd forms || exit 2

same() { # REFERENCE INPUT: the same graph, fields and splits
  "$gnndata" diff "$1" "$2"
}
says() { # TEXT COMMAND...: it succeeds and says so
  local wanted=$1
  shift
  "$@" >said 2>&1 && grep -qF -- "$wanted" said || { cat said; return 1; }
}
refuses() { # WANTED COMMAND...: an error of the data that says so, and says nothing of memory
  local wanted=$1 status
  shift
  "$@" >said 2>&1
  status=$?
  cat said
  [ $status -eq 1 ] && grep -qF -- "$wanted" said && ! grep -q 'Sanitizer' said
}

# ---- arrays by name ----
for form in keys keys_deflated ours kinds; do check "npz, $form: the graph of the folder" same plain $form.npz; done
check "npz: Fortran order and big-endian numbers are said" says "x is stored in Fortran order and big-endian" "$gnndata" info kinds.npz
check "safetensors with PyG's names" same plain pyg.safetensors
check "  with DGL's names, float16 and lists of rows" same plain pyg_lists.safetensors
check "  and which name is read as which is said" says "feat is read as x" "$gnndata" info pyg_lists.safetensors
check "  with splits in the columns of the masks" same plain pyg_columns.safetensors
check "  of which there are two" says "2 stored: split = index(0 … 1)" "$gnndata" info pyg_columns.safetensors
for form in csr csc coo; do check "SciPy, $form" same weight_only $form.npz; done
check "adj_*, attr_* and labels; rows that do not ascend" same features shchur.npz
check "  what is no numbers is left out, and said" says "attr_names is not used: it is Python objects (a pickle), never read" "$gnndata" info shchur.npz
check "npz without edges: what is there is listed" refuses "it holds x [6, 3], y [6]" "$gnndata" info broken/no_edges.npz
check "safetensors without edges: what is there is listed" refuses "it holds x [6, 3], y [6]" "$gnndata" info broken/no_edges.safetensors
check "edges as a pickle: said" refuses "not edge_index, which is Python objects" "$gnndata" info broken/pickled_edges.npz
check "edges as floats" refuses "edge_index is stored as F32; whole numbers are needed" "$gnndata" info broken/float_edges.npz
check "edges of three ends" refuses "[2, edges] is needed" "$gnndata" info broken/three_rows.npz
check "an edge to nowhere" refuses "error[E0701]" "$gnndata" check broken/far.npz
check "SciPy, another format" refuses "in the format bsr; csr, csc and coo are read" "$gnndata" info broken/bsr.npz
check "SciPy, a matrix that is no graph" refuses "a matrix of 6 by 7 is no graph" "$gnndata" info broken/wide.npz
check "SciPy, an indptr that falls" refuses "does not rise" "$gnndata" info broken/falling.npz
check "npz, an array cut short" refuses "is truncated" "$gnndata" info broken/short.npz
check "npz, a file cut short" refuses "is a damaged zip file" "$gnndata" info broken/cut.npz
check "npz, a bit that flipped" refuses "do not match their checksum" "$gnndata" info broken/flipped.npz
check "npz, nothing" refuses "holds 0 bytes only" "$gnndata" info broken/empty.npz
check "torch.save's file" refuses "a pickle, which is never read" "$gnndata" info broken/torch.pt
cut_anywhere() { for file in broken/cuts/*; do refuses "" "$gnndata" info "$file" || return; done; }
check "npz, cut anywhere" cut_anywhere
trains() { # SOURCE: a data block with it compiles, and the program trains
  printf '%s\n' "data g from $1 { node x : f32[3]" '  node y : class[3] }' 'model m on g { return x |> GCN(4) |> relu |> GCN(y.classes) }' \
    'train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3; metric = accuracy }' >m.gnn
  CFLAGS=-O0 "$gnncc" -w m.gnn -o m && ./m -q
}
check "npz(...) in a data block" trains 'npz("keys.npz")'
check "a file's name in a data block" trains '"keys_deflated.npz"'
check "safetensors(...) with PyG's names in a data block" trains 'safetensors("pyg.safetensors")'
finish
