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

refuses_use() { # WANTED SOURCE: a command line that is wrong
  "$gnndata" info "$2" >said 2>&1
  [ $? -eq 2 ] && grep -qF -- "$1" said || { cat said; return 1; }
}

# ---- arrays by name ----
for form in keys keys_deflated ours kinds; do check "npz, $form: the graph of the folder" same plain $form.npz; done
check "npz: Fortran order and big-endian numbers are said" says "x is stored in Fortran order and big-endian" "$gnndata" info kinds.npz
perl -e 'my $h = q({"x":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}}); print pack("Q<", length $h), $h, "\0" x 8' >complex.safetensors
check "safetensors: numbers of a type that is not read, and what is" refuses "which is not supported" "$gnndata" info complex.safetensors
check "  with what is" grep -qF "F16, BF16, F32, F64, BOOL and all whole numbers are read" said
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
check "a folder without edges: what there is is listed" refuses '"broken/no_edges" has no edge_index.npy; it has x [6, 3], y [6]' "$gnndata" info broken/no_edges
check "the ends of edges as two arrays: src and dst in npz" same plain ends.npz
check "  edge_src and edge_dst in a folder" same plain ends
check "  which is said" says "edges go from edge_src to edge_dst" "$gnndata" info ends
check "  of different lengths" refuses "src and dst are the ends of the edges, so each needs a whole number an edge; dst is I64" "$gnndata" info broken/ends.npz
check "rows of several dimensions are left out" same plain boxes.npz
check "  and said" says "boxes is not used: its shape is [6, 2, 2], and a row of a field has one dimension" "$gnndata" info boxes.npz
check "a folder by other names: edges, node_features, node_labels" same plain platonov
check "a number of nodes that features contradict, before anything of its size is done" refuses "x has 6 rows, but there are 2,000,000,000 nodes" "$gnndata" info broken/claims.npz
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
check "dgl.save_graphs' file" refuses "is what dgl.save_graphs writes" "$gnndata" info broken/graph.bin
check "  with what to do instead" grep -qF 'share/gnncc/to_gnncc.py' said
cut_anywhere() { for file in broken/cuts/*; do refuses "" "$gnndata" info "$file" || return; done; }
check "npz, cut anywhere" cut_anywhere

# ---- tables ----
check "csv: names of nodes in quotes, columns x_0, x_1, ..., a column split" same weighted 'csv(edges = "e.csv", nodes = "n.csv")'
check "csv from Windows: byte order mark, its line ends, packed" same weighted 'csv(edges = "win_e.csv.gz", nodes = "win_n.csv")'
check "tab separated, ends by the names of columns, lists in cells, masks as words" same weighted 'csv(edges = "e.tsv", nodes = "n.tsv", src = "a", dst = "b")'
check "  the other way round edges go the other way" bash -c "! '$gnndata' diff weighted 'csv(edges = \"e.tsv\", nodes = \"n.tsv\", src = \"b\", dst = \"a\")'"
check "without names of columns, counted from 1" bash -c "'$gnndata' head 'csv(edges = \"bare.csv\", base = 1)' edges >got && '$gnndata' head plain edges >wanted && diff got wanted"
check "names of nodes without a table of them" says "nodes      6" "$gnndata" info 'csv("words.csv", header = false)'
check "  and without a word about the header its first row is said to be one" says "is taken for the names of its columns" "$gnndata" info 'csv("words.csv")'
printf 'email,team\nann@x,red\nbob@x,\ncole@x,blue\ndan@x,\n' >mail_nodes.csv
printf 'from,to\nann@x,bob@x\n' >mail_edges.csv
check "csv: a column of names that is not called so is asked for" refuses 'so its rows are numbered; id = "..." names the column' "$gnndata" info 'csv(edges = "mail_edges.csv", nodes = "mail_nodes.csv")'
check "  and empty cells are counted, among words, too" says 'team of "mail_nodes.csv" is empty in 2 rows' "$gnndata" info 'csv(edges = "mail_edges.csv", nodes = "mail_nodes.csv", id = "email")'
csv_refuses() { refuses "$1" "$gnndata" info "$2"; }
printf 'src,dst,rank\n0,1,2.5\n1,0,0.5\n' >rank_edges.csv && printf 'id,rank\n0,1.5\n1,2.5\n' >rank_nodes.csv
check "csv: a column of nodes and one of edges with the same name: what to do" refuses 'fields of nodes and of edges share their names: rename one' "$gnndata" info 'csv(edges = "rank_edges.csv", nodes = "rank_nodes.csv")'
check "csv: a row with too few cells" csv_refuses '"broken/short_row.csv" line 3: 1 cells stand here, and 2 in the first row' 'csv("broken/short_row.csv")'
check "csv: an end that is no node" csv_refuses '"broken/unknown.csv" line 2 column 5: "Nobody" is no node of "n.csv"' 'csv("broken/unknown.csv", nodes = "n.csv")'
check "csv: an end that is no whole number" csv_refuses '"broken/float_end.csv" line 3 column 3: a whole number is needed, not "0.5"' 'csv("broken/float_end.csv")'
check "csv: an end below 0" csv_refuses 'line 2 column 3: node -1, but nodes run 0' 'csv("broken/minus.csv")'
check "csv: an end beyond the nodes" csv_refuses 'node 2, but nodes run 0 … 1' 'csv("bare.csv", nodes = 2)'
check "csv: one column" csv_refuses 'there is one column only' 'csv("broken/one_column.csv")'
check "csv: a quote that is not closed" csv_refuses 'line 2: a quote is opened and never closed' 'csv("broken/open.csv")'
check "csv: something behind a quote" csv_refuses 'line 2 column 1: something stands between the closing quote' 'csv("broken/after_quote.csv")'
check "csv: two columns of one name" csv_refuses 'two columns are called "src"' 'csv("broken/twice.csv")'
check "csv: nothing" csv_refuses 'is empty' 'csv("broken/no_rows.csv")'
printf 'src,dst\n' >broken/names_alone.csv
check "csv: a first row alone" csv_refuses '"broken/names_alone.csv" has a first row, with the names of columns, and no edge' 'csv("broken/names_alone.csv")'
printf 'src,dst\r0,1\r1,2\r' >broken/returns.csv
check "csv: lines that end in carriage returns alone" csv_refuses '"broken/returns.csv" ends its lines with carriage returns alone' 'csv("broken/returns.csv")'
check "edges: lines that end in carriage returns alone" csv_refuses 'ends its lines with carriage returns alone' 'edges("broken/returns.csv")'
check "csv: lists of several lengths" csv_refuses 'line 3 column 5: column "w"' 'csv("broken/lists.csv")'
check "csv: not UTF-8" csv_refuses 'line 2 column 1: the text is not UTF-8' 'csv("broken/latin.csv")'
check "csv: UTF-16" csv_refuses 'is text in UTF-16' 'csv("broken/utf16.csv")'
check "csv: a byte 0" csv_refuses 'there is a byte 0: this is no text' 'csv("broken/zero.csv")'
check "csv: a gzip file cut short" csv_refuses 'is a truncated gzip file' 'csv("broken/cut.csv.gz")'
check "csv: a node twice" csv_refuses 'line 4 column 1: node "a" is there already, in row 1' 'csv("e.csv", nodes = "broken/same_node.csv")'
check "csv: a node without a name" csv_refuses 'line 3 column 1: this node has no id' 'csv("e.csv", nodes = "broken/no_id.csv")'
check "csv: a split that is none" csv_refuses 'the column split holds "tests"' 'csv("e.csv", nodes = "broken/split.csv")'
check "csv: no such column" csv_refuses 'has no column "from" (src = ...); it has source, target, edge_weight' 'csv("e.csv", src = "from")'
printf 'id,open access,for,if 0,if 1,y\n0,1.5,0.5,1,2,0\n1,2.5,0.25,3,4,1\n2,0,1.5,5.5,6,0\n' >odd_nodes.csv
printf 'src,dst\n0,1\n1,2\n2,0\n' >ring.csv
odd='csv(edges = "ring.csv", nodes = "odd_nodes.csv")'
check "csv: a column whose name is none of the language" says '  node open_access : f32[1]' "$gnndata" info "$odd"
check "  is said" grep -qF 'column "open access" of "odd_nodes.csv" is the field open_access' said
check "  keywords, too, also with numbers behind them" bash -c "grep -qxF '  node for_ : f32[1]' said && grep -qxF '  node if_ : f32[2]' said"
keywords=$("$gnncc" --explain E0104 | tr '\n' ' ' | sed 's/.*anything: //; s/\..*//')
{ echo "id $keywords" | tr ' ' ,; for r in 0 1 2; do echo "$r $keywords" | sed 's/[a-z][a-z]*/0.5/g' | tr ' ' ,; done; } >keywords.csv
all_keywords() { [ $(echo $keywords | wc -w) -ge 24 ] && "$gnndata" info 'csv(edges = "ring.csv", nodes = "keywords.csv")' >said && for word in $keywords; do grep -qxF "  node ${word}_ : f32[1]" said || return; done; }
check "  all that there are" all_keywords
printf 'id,a b,a-b,c d,c_d\n0,0.5,1.5,2.5,3.5\n1,0.5,1.5,2.5,3.5\n2,0.5,1.5,2.5,3.5\n' >same_names.csv
same_names='csv(edges = "ring.csv", nodes = "same_names.csv")'
check "csv: columns that become one name" says 'column "a-b" of "same_names.csv" is not used: the field a_b is column "a b"; rename one of them' "$gnndata" info "$same_names"
check "  one that has it already is the field" bash -c "grep -qF 'column \"c d\" of \"same_names.csv\" is not used: the field c_d is column \"c_d\"' said && '$gnndata' head '$same_names' c_d 1 | grep -q 3.5"
printf 'id,citations,y\n0,3,0\n\n1,,1\n2,0.5,0\n' >gap_nodes.csv
gap='csv(edges = "ring.csv", nodes = "gap_nodes.csv")'
check "csv: an empty cell among numbers: its file and line" refuses 'citations holds 1 NaN, first at node 1 column 0: "gap_nodes.csv" line 4 column 3, where nothing stands' "$gnndata" check "$gap"
check "  and what to do" grep -qF 'help: a number is needed in each row of a field: fill it in, or leave out the row or the column' said
sed 's/^2,0.5/2,1e39/; s/^1,,/1,4,/' gap_nodes.csv >far_nodes.csv
check "  a number that is too large" refuses '1 infinite number, first at node 2 column 0: "far_nodes.csv" line 5 column 3, where 1e39 stands' "$gnndata" info 'csv(edges = "ring.csv", nodes = "far_nodes.csv")'
printf 'id,x,y\n0,"1 2",0\n1,,1\n2,"0 1",0\n' >gap_lists.csv
check "  a list" refuses '"gap_lists.csv" line 3 column 3, where nothing stands' "$gnndata" info 'csv(edges = "ring.csv", nodes = "gap_lists.csv")'
for word in NA inf 1e400; do
  sed "s/^1,,/1,$word,/" gap_nodes.csv >word_nodes.csv
  check "csv: a column of numbers with $word" says "column \"citations\" of \"word_nodes.csv\" is read as words: 2 of its cells are numbers and 1 none, first \"$word\" in line 4" "$gnndata" check 'csv(edges = "ring.csv", nodes = "word_nodes.csv")'
done
printf 'src;dst\n1;2\n2;3\n' >comma_edges.csv
printf 'id;x;z\n1;0,5;"a\033[31m\nb"\n2;1,5;c\n3;2,25;c\n' >comma_nodes.csv
check "csv: decimal commas are doubted" says 'column "x" of "comma_nodes.csv" is read as 2 numbers a cell: where a comma begins the decimals of one number, write a point' "$gnndata" check 'csv(edges = "comma_edges.csv", nodes = "comma_nodes.csv")'
check "  what would steer the terminal is not printed" grep -q '^z holds words: 0 a?\[31m?b, 1 c$' said
python3 - <<'PY' # arrays of which none is called x
import struct, zipfile
def npy(descr, shape, data):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data
for name, called in (("feats.npz", "feats"), ("others.npz", "h")):
    with zipfile.ZipFile(name, "w") as z:
        z.writestr("edges.npy", npy("<i8", (3, 2), struct.pack("<6q", 0, 1, 1, 2, 2, 3)))
        z.writestr(called + ".npy", npy("<f4", (5, 1), struct.pack("<5f", *range(5))))
PY
check "npz: feats are x" says 'node  x     f32[1]' "$gnndata" info feats.npz
check "  of other names: what says how many nodes there are" says 'h is not used: its shape [5, 1] fits neither nodes nor edges: it is the array called x, or num_nodes, that says how many nodes there are' "$gnndata" info others.npz
check "  and of words, with a number among them: nothing is said" bash -c "! '$gnndata' info 'csv(edges = \"e.csv\", nodes = \"n.csv\")' | grep 'read as words'"
printf ',src,dst,weight\n0,0,1,0.5\n1,1,2,1.5\n2,2,0,2\n' >index_edges.csv
printf ',age,y\n0,1.5,0\n1,2.5,1\n2,3.5,0\n' >index_nodes.csv
printf 'src,dst,weight\n0,1,0.5\n1,2,1.5\n2,0,2\n' >no_index_edges.csv
printf 'id,age,y\n0,1.5,0\n1,2.5,1\n2,3.5,0\n' >no_index_nodes.csv
sed 's/src,dst/a,b/' index_edges.csv >index_ab.csv
for edges in index_edges index_ab; do check "csv: an index that pandas has written, $edges" same 'csv(edges = "no_index_edges.csv", nodes = "no_index_nodes.csv")' "csv(edges = \"$edges.csv\", nodes = \"index_nodes.csv\")"; done
check "  of the nodes is their id, and said" says 'the first column of "index_nodes.csv" has no name: it is taken for the id of the nodes' "$gnndata" info 'csv(edges = "index_edges.csv", nodes = "index_nodes.csv")'
check "  of the edges is not used, and said" grep -qF 'the first column of "index_edges.csv" has no name: it is not used' said
check "csv: an argument that is none" refuses_use 'csv has no argument "edgs"; did you mean "edges"?' 'csv(edgs = "e.csv")'
check "csv: no edges" refuses_use 'csv needs the table of the edges' 'csv(nodes = "n.csv")'
check "a source that is none" refuses_use 'unknown data source "cvs"; did you mean "csv"? (known: npy, planetoid, safetensors,' 'cvs("e.csv")'
printf 'neither a graph nor a table of one\n' >broken/letter
printf 'PAR1 and so on' >broken/a.parquet && printf '\200\002 a pickle' >broken/old.pt
check "a table of Parquet: what to do with it" refuses 'a.parquet" is a Parquet table' "$gnndata" info broken/a.parquet
check "an old pickle is never read" refuses 'old.pt" is a pickle, which is never read' "$gnndata" info broken/old.pt
check "a folder of DGL that is not there" refuses 'there is no folder "nowhere"' "$gnndata" info 'dgl("nowhere")'
check "a file of no form: the forms that there are" refuses 'is in no form that gnncc reads' "$gnndata" info broken/letter
check "  each of them" bash -c "for form in safetensors npz 'lists of edges' .mtx METIS csv .npy .content TU OGB IGB; do grep 'help: known' said | grep -qF -- \"\$form\" || exit 1; done"
check "a source that does not end" refuses_use 'is wanted at' 'csv("e.csv" "n.csv")'
check "  without its parenthesis" refuses_use ', or ) is wanted at the end of csv("e.csv"' 'csv("e.csv"'
check "  a file without quotes" refuses_use 'a text in quotes, a number, true or false is wanted at "e.csv)"' 'csv(edges = e.csv)'

# ---- lists of edges ----
printf '# who\nAnn\tBob\nBob\tCole\nCole\tAnn\nAnn\tBob\n' >names.tsv
printf '\357\273\277from,to,weight\r\nAnn,"Bob",1\r\nBob,Cole,2\r\n"Cole",Ann,3\r\n' >names_win.csv
printf '0 1\n1 2\n2 0\n' >numbers.txt
printf '\357\273\2770 1\r\n1 2\r\n2 0\r\n' >numbers_win.txt
printf '\357\273\2773 2\r\n2 3\r\n1\r\n1\r\n' >win.graph
printf '3 2\n2 3\n1\n1\n' >unix.graph
check "edges: nodes that are called by names" same numbers.txt names.tsv
check "  are counted, and said" says "nodes are called by names: 3, in the order in which they come" "$gnndata" info 'edges("names.tsv")'
check "  with names of columns, in quotes, from Windows" same numbers.txt names_win.csv
check "  their names stay beside what is written" bash -c "'$gnndata' convert names.tsv named.safetensors && printf 'node,id\n0,\"Ann\"\n1,\"Bob\"\n2,\"Cole\"\n' | diff named.safetensors.ids.csv -"
check "  are no numbers from 1" refuses_use 'calls nodes by names, and base is of nodes that are numbers' 'edges("names.tsv", base = 1)'
check "  nor as many as one says" refuses_use 'calls nodes by names, and nodes is of nodes that are numbers' 'edges("names.tsv", nodes = 5)'
check "  nor in a table" refuses_use 'calls nodes by names, and nodes is of nodes that are numbers' 'csv("words.csv", header = false, nodes = 9)'
check "edges with a byte order mark" same numbers.txt numbers_win.txt
check "metis with a byte order mark" same unix.graph win.graph
check "mtx with a byte order mark" bash -c "{ printf '\357\273\277' && cat general.mtx; } >marked.mtx && '$gnndata' diff general.mtx marked.mtx"
check "edges, whose ends are other columns than the first" refuses '"index_edges.csv" line 1: source and destination are the columns src and dst, which in a list of edges come first, in this order' "$gnndata" info index_edges.csv
check "  with what reads them" grep -qF 'csv(edges = "index_edges.csv") reads columns by their names' said
check "  or have no names" refuses 'line 1: the first column has no name' "$gnndata" info index_ab.csv
check "  or are called by names, behind an id" bash -c "printf 'id,source,target\n0,Ann,Bob\n1,Bob,Cole\n' >id_names.csv; ! '$gnndata' info id_names.csv 2>said && grep -qF 'are the columns source and target' said"
check "  or stand the other way round" bash -c "printf 'target source\n1 0\n2 1\n' >round.txt; ! '$gnndata' convert round.txt round.safetensors --memory=1MiB 2>said && grep -qF 'are the columns source and target' said"
check "edges as numpy.savetxt writes them by itself: what to do" bash -c "printf '0.000e+00 1.000e+00\n' >saved.txt; ! '$gnndata' info saved.txt 2>said && grep -qF 'numpy.savetxt(f, edges, fmt = \"%d\")' said && '$gnndata' info 'csv(\"saved.txt\")' | grep '^edges      1,'"
check "edges in UTF-16" bash -c "printf '0 1\n' | iconv -t UTF-16 >wide.txt && ! '$gnndata' info 'edges(\"wide.txt\")' 2>wide.said && grep -q 'is text in UTF-16' wide.said"

# ---- matrices as text, graph files of METIS ----
check "mtx, general, with values" same weight_only general.mtx
check "  from Windows, packed" same weight_only general.mtx.gz
check "  as a source of its own" same weight_only 'mtx("general.mtx")'
check "mtx, pattern and symmetric" same both_ways pattern.mtx
check "  whatever the letters of its first line" bash -c "sed '1s/.*/\L&/' pattern.mtx >lower.mtx && head -1 lower.mtx | grep -q matrixmarket && '$gnndata' diff pattern.mtx lower.mtx"
check "  behind an empty line" bash -c "{ echo; cat pattern.mtx; } >behind.mtx && '$gnndata' diff pattern.mtx behind.mtx"
check "mtx, integer and skew-symmetric" same skewed skew.mtx
mtx_refuses() { refuses "$2" "$gnndata" info "mtx(\"broken/$1.mtx\")"; }
check "mtx: another first line" mtx_refuses first 'does not begin with %%MatrixMarket'
check "mtx: an array" mtx_refuses array 'line 1 column 23: the matrix is stored as "array"; coordinate is read'
check "mtx: complex numbers" mtx_refuses complex 'numbers are "complex"'
check "mtx: hermitian" mtx_refuses hermitian 'the matrix is "hermitian"'
check "mtx: two sizes" mtx_refuses sizes 'line 2: three sizes are wanted'
check "mtx: no square" mtx_refuses wide 'a matrix of 2 by 3 is no graph'
check "mtx: too few entries" mtx_refuses few 'is truncated: it ends before entry 2 of 2'
check "mtx: too many entries" mtx_refuses many 'line 4: something follows the last of 1 entries'
check "mtx: row 0" mtx_refuses zero 'line 3 column 1: row 0, but they run 1 … 2'
check "mtx: a column beyond the last" mtx_refuses far 'line 3 column 3: column 3, but they run 1 … 2'
check "mtx: no value" mtx_refuses no_value 'line 3: 3 numbers are wanted: row, column, value'
check "mtx: a value that is none" mtx_refuses word 'line 3 column 5: a number is needed, not "x"'
check "mtx: more entries than there can be" mtx_refuses lie 'is truncated: 1,000,000,000,000 entries do not fit into it'
check "metis: neighbours, a node without any, a comment" same undirected plain.graph
check "metis: weights of edges and nodes, and sizes" same all_weights weighted.graph
metis_refuses() { refuses "$2" "$gnndata" info "metis(\"broken/$1.graph\")"; }
check "metis: a first line with one number" metis_refuses head 'line 1 column 2: the first line has the numbers of nodes and of edges'
check "metis: no nodes" metis_refuses nodes 'the number of nodes must be from 1'
check "metis: a format that is none" metis_refuses format 'fmt is three digits'
check "metis: a neighbour beyond the last" metis_refuses far 'line 3 column 1: neighbour 3, but nodes run 1 … 2'
check "metis: neighbour 0" metis_refuses zero 'line 3 column 1: neighbour 0, but nodes run 1 … 2'
check "metis: a word" metis_refuses word 'line 3 column 1: a whole number is needed'
check "metis: an edge at one of its ends" metis_refuses half 'has 1 neighbours, and 1 edges, of which its first line speaks, have 2'
check "metis: more neighbours" metis_refuses more 'line 3: more neighbours than twice 1 edges'
check "metis: more lines" metis_refuses rows 'line 4 column 1: there are more lines than nodes'
check "metis: fewer lines" metis_refuses short 'is truncated: it ends before node 2 of 3'
check "metis: no weight" metis_refuses no_weight 'line 3 column 2: the weight of the edge is missing'
check "metis: more nodes than there can be" metis_refuses lie 'is truncated'

# ---- folders of the Open Graph Benchmark ----
check "ogb: text, features, labels, a split" same plain ogbn_plain
check "  fields of edges by the names of their files" bash -c "'$gnndata' head ogbl_weighted edge_weight >got && '$gnndata' head weighted edge_weight | diff got -"
check "  a split that is a pickle is left out, and said" says "split/time/valid.pt is not used: it is a pickle, which is never read; share/gnncc/to_gnncc_sets.py makes valid.npz of it" "$gnndata" info ogbl_weighted
check "  of several splits the first, and said" says "of the splits random, time random is read" "$gnndata" info ogbn_two
check "  or the one that is asked for" same plain 'ogb("ogbn_two", split = "time")'
check "  edges that stand once, by the name of the set" same ogb_both ogbn_products
check "  as they stand" says "edges      3" "$gnndata" info 'ogb("ogbn_products", inverse = false)'
check "ogb: data.npz, labels as floats, a split as .npz" same dated ogbn_arrays
check "ogb: graphs" bash -c "'$gnndata' diff molecules ogbg_molmini | diff - <(echo 'split train: 0 and 1 rows, not the same
split test: 0 and 1 rows, not the same
y: only in the second')"
check "ogb: types of nodes and relations" same typed ogbn_typed
check "  fields of relations are left out, and said" says "fields of the edges of cites are not used" "$gnndata" info ogbn_typed
ogb_refuses() { refuses "$2" "$gnndata" check "broken/ogb_$1"; }
check "ogb: fewer edges" ogb_refuses few 'is truncated: it ends before edge 9 of 9'
check "ogb: more edges" ogb_refuses many 'edge.csv.gz" line 8: more edges follow than 7'
check "ogb: an edge to nowhere" ogb_refuses far 'edge.csv.gz" line 8 column 3: node 6, but nodes run 0 … 5'
check "ogb: lists of several lengths" ogb_refuses lists 'num-node-list has 1 lines, num-edge-list 2'
check "ogb: rows of several widths" ogb_refuses wide 'node-feat.csv.gz" line 6: 2 numbers stand here, and 3 in the lines before'
check "ogb: a word among numbers" ogb_refuses word 'line 2 column 3: a number is needed, not "x"'
check "ogb: too few labels" ogb_refuses short 'node-label.csv.gz" has 5 lines; 6 are needed'
check "ogb: a split of rows that there are not" ogb_refuses split 'split train names row 99'
check "ogb: a split of no rows" ogb_refuses float 'needs the number of a row in each line'
check "ogb: no edges" ogb_refuses none 'has no raw/edge.csv.gz'
check "ogb: a gzip file cut short" ogb_refuses cut 'is a truncated gzip file'
check "ogb: the number of nodes is missing" bash -c "mkdir broken/ogb_counts && cp -r ogbn_plain/* broken/ogb_counts && rm broken/ogb_counts/raw/num-node-list.csv.gz"
check "  is named" refuses '"broken/ogb_counts" has no raw/num-node-list.csv.gz' "$gnndata" info broken/ogb_counts
check "  of raw and split that hold nothing" bash -c "mkdir -p broken/ogb_empty/raw broken/ogb_empty/split && ! '$gnndata' info broken/ogb_empty 2>said; grep -qF 'it has neither raw/num-node-list.csv.gz' said"
check "ogb: no such split" refuses 'has no split "tme"; it has random, time' "$gnndata" info 'ogb("ogbn_two", split = "tme")'
check "ogb: another folder" refuses 'is no folder of the Open Graph Benchmark' "$gnndata" info 'ogb("plain")'

# ---- folders of the Illinois Graph Benchmark ----
check "igb: a set by its size, labels as floats, edges in pairs" same igb_tiny 'igb("igb", "tiny")'
check "  or by its folder" same igb_tiny igb/tiny
check "igb: features and labels without a header, the last nodes without labels" same igb_large 'igb("igb", size = "large")'
check "  and that is said" says "paper/node_feat.npy has no header, and is read as 6 rows of 1024 floats" "$gnndata" info igb/large
check "igb: types of nodes, 2983 classes" same igb_typed 'igb("igb", "typed", classes = 2983)'
check "igb: no such size" refuses 'there is no "igb/tny/processed/paper/node_feat.npy"' "$gnndata" info 'igb("igb", "tny")'
check "igb: no edges" refuses 'has no paper__cites__paper/edge_index.npy' "$gnndata" info broken/igb
check "igb: neither a header nor rows" refuses 'its 10,000 bytes are no rows of 1024 floats' "$gnndata" info broken/igb_raw
check "igb: other classes" refuses_use '"classes" is 19 or 2983' 'igb("igb", "tiny", classes = 7)'

# ---- folders of DGL ----
check "dgl: CSVDataset, names of nodes, lists in cells, masks" same weighted dgl_csv
check "  and which column is read as which is said" says "feat is read as x" "$gnndata" info 'dgl("dgl_csv")'
check "dgl: GraphBolt, labels of the rows of splits" same weighted dgl_bolt
check "dgl: CSVDataset with types of nodes" same shop dgl_shop
check "dgl: GraphBolt with types of nodes" same shop bolt_shop
dgl_refuses() { refuses "$2" "$gnndata" info "broken/$1"; }
check "dgl: a file that is not there" dgl_refuses dgl_file 'broken/dgl_file/meta.yaml" line 4: there is no file "broken/dgl_file/edge.csv"'
check "dgl: no YAML" dgl_refuses dgl_yaml 'broken/dgl_yaml/meta.yaml" line 7: no valid YAML'
check "dgl: nothing" dgl_refuses dgl_empty 'meta.yaml" is empty'
check "dgl: aliases of aliases" dgl_refuses dgl_aliases 'too much in it'
check "dgl: tables of several graphs" dgl_refuses dgl_graphs 'line 5: tables of several graphs are not read'
check "  with what to do instead" grep -qF 'share/gnncc/to_gnncc.py' said
check "dgl: no nodes" dgl_refuses dgl_none 'line 2: there is no node_data'
check "dgl: an end that is no node" dgl_refuses dgl_end '"n9" is no node of "broken/dgl_end/nodes.csv"'
check "dgl: a column that is not there" dgl_refuses dgl_column '"broken/dgl_column/nodes.csv" has no column "node_id"'
check "dgl: format torch" dgl_refuses bolt_torch 'line 11: format torch is a pickle, which is never read'
check "dgl: a number that is none" dgl_refuses bolt_nodes 'line 4: num is a whole number of at least 0'
check "dgl: an edge to nowhere" dgl_refuses bolt_few 'names node 5, but nodes run 0 … 4'
check "dgl: a feature of other rows" dgl_refuses bolt_rows 'data/w.npy" has the shape [8]; there are 6 nodes'
check "dgl: labels of other rows" dgl_refuses bolt_label 'in its split, and a label of each is needed'
check "dgl: another folder" refuses '"plain" has neither meta.yaml (CSVDataset) nor metadata.yaml (GraphBolt)' "$gnndata" info 'dgl("plain")'

without_yaml() { # a gnndata without the library
  cc -std=gnu11 -I"$here/../.." "$here/../../runtime/tools/yaml_text.c" $(ls "$build"/runtime/tools/*.o | grep -v yaml_text) "$build/share/libgnnrt.a" -o plain_gnndata -l:libz.a -lm -lpthread -ldl && ! ./plain_gnndata info dgl_csv >said 2>&1 &&
    grep -qF 'dgl_csv/meta.yaml" is YAML, and this program was built without libyaml' said
}
check "dgl: a build without libyaml says so" without_yaml

# ---- text of the TU collection: what is wrong in it, in tests/batches ----
for form in tu tu_windows tu_packed; do check "$form: labels, attributes of nodes, edges and graphs" same rings $form; done
check "tu: a set by the beginning of its names, packed" same rings 'tu("tu_packed/RINGS")'
check "tu: labels of nodes alone are declared as rows of numbers" bash -c "cp -r tu tu_labels && rm tu_labels/*node_attributes* && '$gnndata' info tu_labels | grep -q '^  node x : onehot\['"
tu_torn() { cp -r tu torn && printf '1, 4\n' >>torn/RINGS_A.txt && refuses '"torn/RINGS_A.txt" line 7: the edge 1 → 4 leaves graph 1: node 4 is of graph 2' "$gnndata" check torn; }
check "tu: an edge between graphs: its file and line" tu_torn
check "tu: nothing but the two files that there must be" same rings_least tu_least

# ---- names that the language does not take ----
check "types, relations and fields with other names" same plain_names odd_names
check "  each is said" bash -c "'$gnndata' info odd_names >said && grep -qF 'nodes of type \"the author\" are called the_author' said && grep -qF 'relation \"author-writes\" is called author_writes' said && grep -qF 'relation \"for\" is called for_' said &&
  grep -qF '\"paper_2.open access\" is the field paper_2.open_access' said && grep -qF 'relation has from the_author to paper_2 is called the_author_has_paper_2' said && grep -qF 'paper-2.feat is read as paper_2.x' said"
check "  what relations cannot have is left out, and said" grep -qF 'the author__author-writes__paper-2.edge_attr.npy is not used: fields of relations are not read' said
check "  in a safetensors file" says 'relation   author_writes : the_author -> the_author, 2 edges' "$gnndata" info odd_names.safetensors
odd_block() { # what info prints is a program
  { "$gnndata" info odd_names | sed -n '/^data /,/^}/p'; printf '%s\n' 'model m on odd_names { return SAGE(paper_2.x, paper_2.x, 4) over for_ |> Linear(2) }' 'train m { loss = cross_entropy(out, paper_2.y); optimizer = adam(lr = 0.01); epochs = 2; metric = accuracy }'; } >odd.gnn
  CFLAGS=-O0 "$gnncc" -w odd.gnn -o odd && ./odd -q
}
check "  what info prints for them trains" odd_block
check "  relations that become one name" refuses 'has two relations "a_has_topic_a"' "$gnndata" info broken/same_relation
check "  types that do" refuses 'has nodes of type "a_b" twice, as the language calls them' "$gnndata" info broken/same_type

# ---- tensors under the types and relations that they are of ----
check "tensors of DGL without types" same weighted dgl_owners
check "  of several graphs" says "graphs     3" "$gnndata" info dgl_three
check "sparse matrices by their entries: adj_t, x" same weighted entries
check "  in a .npz file" same weighted entries.npz
check "  adj, of which all values are 1" same plain entries_adj.npz
check "  beside edge_index" says "adj_t is not used: there is edge_index" "$gnndata" info entries_both.npz
check "  an entry outside" refuses 'the sparse matrix x has an entry in column 2 of 2' "$gnndata" info broken/entries_far.npz
check "  too few values" refuses 'the sparse matrix adj_t has another number of values than of indices' "$gnndata" info broken/entries_few.npz
check "  indices of another shape" refuses 'the sparse matrix x needs whole numbers [2, entries]' "$gnndata" info broken/entries_rank.npz
check "types of nodes and relations as lists of names" same typed owners
check "  of which there are as many nodes as rows of x, where nothing else says it" same typed owners_rows
check "  sparse features of a type; entries of one place add up" same typed owners_sparse
check "  of several graphs: one, and it is said" says "3 graphs with several types of nodes are read as one graph" "$gnndata" info owners_three
check "  which has all that they have" same typed owners_three
graded() { ! "$gnndata" "$@" 2>said && grep 'has 3 graphs with several types of nodes, and y.npy is of graphs: a set of graphs has one type of nodes' said && grep 'to_homogeneous()' said; }
check "  but for what is of each graph: refused, by gnndata" graded info owners_graded
check "    and where it would be converted" graded convert owners_graded graded.safetensors
check "  a type of which nobody says how many nodes there are" refuses 'does not say how many nodes of type "author" there are' "$gnndata" info broken/owners
check "  a relation without its ends" refuses 'each of "relations" in graph.json needs a "destination"' "$gnndata" info broken/owners_triple
check "  a type that is no name" refuses '"node_types" of graph.json must be a list of names' "$gnndata" info broken/owners_number

# ---- pairs of nodes that the data bring ----
check "pairs: info shows them" says 'pairs      train 4 and 1 without an edge to each  valid 1 and 1 without an edge to each  test 2 and 1 without an edge to each' "$gnndata" info pairs
check "  and how they are declared" grep -qxF '  pairs links : label[1] = stored(negatives = uniform(1))' said
check "  and no split is asked for" bash -c "! grep -F 'random(' said"
check "  where those of train are to be drawn" says '  pairs links : label[1] = stored(negatives = uniform(1), resample = epoch)' "$gnndata" info pairs_drawn
pairs_model() { # DATA: as info declares it
  { "$gnndata" info "$1" | sed -n '/^data /,/^}/p; s/^data .*//' | sed 's/^data [a-z_]*/data p/'; printf '%s\n' 'model m on p { z = x |> SAGE(4); return dot(src.z, dst.z) over links }' 'train m { loss = bce(out, links.label); optimizer = adam(lr = 0.01); epochs = 3; metric = roc_auc }'; } >pairs.gnn
  CFLAGS=-O0 "$gnncc" -w pairs.gnn -o pairs_program
}
pairs_train() { # DATA [MORE]: all pairs that the data bring are predicted, and trains; MORE is in split valid, too
  pairs_model "$1" && ./pairs_program -q --out pairs.out || return
  for split in train valid test; do ./pairs_program predict -q --weights pairs.out/last.safetensors --split $split -o - | cut -d, -f1,2 | tail -n +2 | sort >got.$split; done
  printf '4,0\n4,1\n%s' "${2:+$2
}" | sort | diff - got.valid && printf '2,5\n5,2\n5,0\n0,5\n' | sort | diff - got.test && [ "$(wc -l <got.train)" -eq 8 ]
}
check "  a program has each in its split" bash -c "$(declare -f pairs_model pairs_train); gnndata='$gnndata' gnncc='$gnncc'; pairs_train pairs && printf '0,1\n1,2\n2,3\n3,1\n0,4\n0,3\n3,5\n5,1\n' | sort | diff - got.train"
drawn() { # none of them is an edge of the graph
  pairs_train pairs_drawn && printf '0,1\n1,2\n2,3\n3,1\n' | while read -r edge; do grep -qx "$edge" got.train || return 1; done
  printf '0,1\n1,0\n1,2\n2,3\n3,1\n4,0\n2,5\n5,2\n' >edges && grep -vxF -e 0,1 -e 1,2 -e 2,3 -e 3,1 got.train >others && [ "$(wc -l <others)" -eq 4 ] && ! grep -xFf edges others
}
check "  those of train that the data do not bring are drawn" drawn
check "  convert keeps them" bash -c "'$gnndata' convert pairs pairs.safetensors >/dev/null && '$gnndata' info pairs.safetensors | grep -F 'pairs      train 4 and 1' && ./pairs_program -q --data pairs.safetensors"
pairs_refuse() { sed "s#\"[^\"]*\") {#\"$2\") {#; s/, resample = epoch//" pairs.gnn >pairs_wrong.gnn && refuses "$1" "$gnncc" -w --check pairs_wrong.gnn; }
check "  of valid and test in any number" bash -c "sed 's#\"[^\"]*\") {#\"broken/pairs_few\") {#; s/, resample = epoch//' pairs.gnn >few.gnn && CFLAGS=-O0 '$gnncc' -w few.gnn -o few && ./few -q --every 1 --log csv --out few.out && ! grep -i nan few.out/log.csv"
check "  an end that is no node" pairs_refuse 'pair 1 of split valid has node 6, but nodes run 0 … 5' broken/pairs_far
check "  more pairs than labels" pairs_refuse 'has 2 pairs in split valid and 1 labels of them' broken/pairs_labels
check "  of another shape" pairs_refuse 'whole numbers [2, pairs] are needed' broken/pairs_shape
check "  none" pairs_refuse 'brings no pairs: there is no train_edge_label_index' plain
links_train() { # of OGB
  "$gnndata" info ogbl_pairs >said && grep -qF 'pairs      train 4 and 0 without an edge to each  valid 1 and 2 without an edge to each  test 2 and 1 without an edge to each' said &&
    pairs_train ogbl_pairs 5,1
}
check "  as OGB has them: edge and edge_neg of each split" links_train
hits() { # against all of them, in a split that has more and in one that has fewer than edges; scores are the products of x
  sed 's/^data p from .* {/data p from ogb("ogbl_hits") {/; s/z = x |> SAGE(4);/z = x |> Linear(3) as lin;/; s/metric = .*/metric = [hits(1), hits(2), mrr] }/' pairs.gnn >hits.gnn && CFLAGS=-O0 "$gnncc" -w hits.gnn -o hits &&
    ./hits -q --epochs 1 --out hits.out && ./hits eval --weights hits.out/last.safetensors | tee hits.txt && for split in valid test; do ./hits predict -q --weights hits.out/last.safetensors --split $split -o $split.csv || return; done
  python3 - <<'END'
import csv, re
joined = {"valid": {(4, 0)}, "test": {(2, 5), (5, 2), (0, 3)}}
for split, edges in joined.items():
    scores = [((int(a), int(b)), float(s)) for a, b, s in list(csv.reader(open(f"{split}.csv")))[1:]]
    other = [s for pair, s in scores if pair not in edges]
    assert len(other) == {"valid": 3, "test": 1}[split], scores
    told = dict(re.findall(r"(hits1|hits2|mrr) ([0-9.]+)", next(line for line in open("hits.txt") if line.startswith(split))))
    for k in 1, 2:
        hits = sum(sum(o >= s for o in other) < k for pair, s in scores if pair in edges) / len(edges)
        assert abs(hits - float(told[f"hits{k}"])) < 1e-4, (split, k, hits, told)
END
}
check "    hits are of all of them" hits
check "    as ogbl_citation2 has them: with the source of each edge" says 'train 4 and 0 without an edge to each  valid 1 and 2 without an edge to each  test 2 and 1' "$gnndata" info ogbl_sources
check "    too few of them without an edge" bash -c "sed 's#ogbl_pairs#broken/ogbl_pairs#' pairs.gnn >links_wrong.gnn && ! '$gnncc' -w --check links_wrong.gnn 2>said && cat said && grep -qF 'has 1 edges in split valid and 0 pairs without one' said"

# ---- gnndata convert keeps what there is ----
kept() { # INPUT: as one has it
  rm -f converted.safetensors
  "$gnndata" convert "$1" converted.safetensors >converted.out && "$gnndata" diff "$1" converted.safetensors
}
for form in plain weighted keys.npz pyg.safetensors csr.npz shchur.npz general.mtx weighted.graph ogbn_products ogbg_molmini igb/tiny tu typed odd_names ogbn_typed igb/typed entries owners dgl_three kinds_of_edges; do check "convert keeps all of $form" kept $form; done
says_no_advice() { # as a change that was made
  rm -f converted.safetensors && "$gnndata" convert general.mtx converted.safetensors 2>&1 | grep 'carry no split' && ! "$gnndata" info converted.safetensors | grep 'made with.*no split'
}
check "  advice is none of the changes that were made" says_no_advice
check "  says how many relations there are" grep -q '3 relations' converted.out
check "  keeps a set of graphs" bash -c "'$gnndata' convert tu converted.safetensors | grep -q ', 2 graphs'"
check "  converts what it has written once more: the same bytes" bash -c "'$gnndata' convert typed one.safetensors >/dev/null && '$gnndata' convert one.safetensors two.safetensors >/dev/null && '$gnndata' diff one.safetensors two.safetensors"
all_splits() {
  kept three_splits && grep -qF 'all 3 splits are kept: split = index(0 … 2)' converted.out || return
  for k in 1 2; do "$gnndata" diff three_splits converted.safetensors --split=index:$k || return; done
}
check "  all splits" all_splits
check "  one, where it is asked for" says "of 3 splits number 1 is kept" "$gnndata" convert three_splits one.safetensors --split=index:1
check "    which is the first then" bash -c "'$gnndata' head one.safetensors y 1 && ! '$gnndata' info one.safetensors --split=index:1"
check "  all columns of PyG's masks" bash -c "'$gnndata' convert pyg_columns.safetensors one.safetensors && '$gnndata' diff pyg_columns.safetensors one.safetensors --split=index:1"
check "  what it leaves out is said" says "attr_names is not used" "$gnndata" convert shchur.npz one.safetensors
printf '0 1\n1 2\n2 0\n2 0\n' >twice.txt
twice_kept() {
  "$gnndata" convert twice.txt twice.safetensors --duplicates=keep >/dev/null && says '  duplicates = keep # as the file was made; without this line duplicates are dropped' "$gnndata" info twice.safetensors &&
    grep '^edges      4,' said && "$gnndata" check twice.safetensors | grep '3 nodes; 4 edges' && "$gnndata" info twice.safetensors --duplicates=drop | grep '^edges      3,' &&
    "$gnndata" convert twice.safetensors again.safetensors >/dev/null && "$gnndata" diff twice.safetensors again.safetensors
}
check "  edges that are there twice, where they are kept: info counts them, and prints so for a data block" twice_kept
check "    unless they are to be dropped" bash -c "! '$gnndata' info twice.safetensors --duplicates=drop | grep 'duplicates = keep'"
check "    and not of data that nobody has asked to keep" bash -c "! '$gnndata' info twice.txt | grep 'duplicates = keep'"
check "  names of nodes stand beside the file" bash -c "'$gnndata' convert 'csv(edges = \"e.csv\", nodes = \"n.csv\")' named.safetensors && sed -n 3p named.safetensors.ids.csv | grep -qx '1,\"Bob\"' && sed -n 4p named.safetensors.ids.csv | grep -qx '2,\"O\"\"Hara\"'"
check "  --base of a source" bash -c "'$gnndata' convert 'edges(\"bare.csv\")' one.safetensors --base=1 2>&1 | grep -q 'in a source it is written base = 1'"
printf '%s\n' 'data g from "converted.safetensors" {' '  nodes author : count' '  nodes paper : count' '  paper x : f32[3]' '  paper y : class[2]' '  relation writes : author -> paper' '  relation cites : paper -> paper' '}' \
  'model m on g { return SAGE(paper.x, paper.x, 4) over cites |> Linear(2) }' 'train m { loss = cross_entropy(out, paper.y); optimizer = adam(lr = 0.01); epochs = 3; metric = accuracy }' >relations.gnn
relations_train() { kept typed && CFLAGS=-O0 "$gnncc" -w relations.gnn -o relations && ./relations -q --every 1 --log csv --out a && ./relations -q --data typed --every 1 --log csv --out b && diff <(cut -d, -f1-6 a/log.csv) <(cut -d, -f1-6 b/log.csv); }
check "a program for converted relations: the losses of the folder" relations_train

# ---- graphs of PyTorch Geometric and DGL, by the script; where there is no Python with them this is skipped. TO_GNNCC_PYTHON: one that has ----
from_python() { # REFERENCE FOLDER
  "$gnndata" diff "$1" "python/$2"
}
check "share/to_gnncc.py has 20 lines" [ "$(wc -l <"$here/../../share/to_gnncc.py")" -le 20 ]
mkdir -p python
PYTHONPATH=$here "${TO_GNNCC_PYTHON:-python3}" "$here/to_gnncc_cases.py" "$here/../../share/to_gnncc.py" python >python/said 2>&1
status=$?
pairs="plain:pyg plain:networkx plain:pyg_rows plain:pyg_gradient weighted:pyg_adjacency weighted:pyg_held weighted:pyg_weighted pyg_columns.safetensors:pyg_columns typed:pyg_typed typed:pyg_typed_adjacency features:pyg_sparse plain_names:pyg_odd pairs:pyg_links pairs_drawn:pyg_links_drawn weighted:dgl_weighted typed:dgl_typed plain_names:dgl_odd"
if [ $status -eq 77 ]; then
  for pair in $pairs; do skip "share/to_gnncc.py, ${pair#*:}" "no torch and torch_geometric"; done
else
  check "share/to_gnncc.py runs" bash -c "cat python/said; exit $status"
  for pair in $pairs; do
    if [ "$pair" != "${pair#*:dgl}" ] && [ ! -e python/dgl_typed ]; then skip "share/to_gnncc.py, ${pair#*:}" "no dgl"; else check "share/to_gnncc.py, ${pair#*:}" from_python "${pair%%:*}" "${pair#*:}"; fi
  done
  check "  a list of graphs" from_python python/pyg_batch pyg_list
  check "  of several types of nodes" from_python python/pyg_typed_both pyg_typed_list
  check "    are one graph, which is said" says "2 graphs with several types of nodes are read as one graph" "$gnndata" info python/pyg_typed_list
  if [ -e python/dgl_typed ]; then
    check "  of DGL, too" from_python python/pyg_batch dgl_batch
    check "    of several types" from_python python/pyg_typed_both dgl_typed_list
  else for what in "  of DGL, too" "    of several types"; do skip "$what" "no dgl"; done; fi
  for form in links links_drawn; do check "  RandomLinkSplit: the pairs of the folder, $form" bash -c "for split in train val test; do cmp pairs${form#links}/\${split}_edge_label_index.npy python/pyg_$form/\${split}_edge_label_index.npy || exit; done"; done
  for form in random:1 random_drawn:0; do check "  RandomLinkSplit itself, ${form%:*}" says "pairs      train 28 and ${form#*:} without an edge to each  valid 4 and 1 without an edge to each  test 8 and 1 without" "$gnndata" info "python/pyg_${form%:*}"; done
  check "  a graph without edges: what there is, is listed" refuses 'has no edge_index.npy; it has num_nodes [], x [3, 1]' "$gnndata" info python/pyg_no_edges
  check "  a batch of graphs" says "graphs     2" "$gnndata" info python/pyg_batch
  check "  what is no array is left out, and said" grep -q 'name is left out: it is a str' python/said
fi
trains() { # SOURCE: a data block with it compiles, and the program trains
  printf '%s\n' "data g from $1 { node x : f32[3]" '  node y : class[3] }' 'model m on g { return x |> GCN(4) |> relu |> GCN(y.classes) }' \
    'train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3; metric = accuracy }' >m.gnn
  CFLAGS=-O0 "$gnncc" -w m.gnn -o m && ./m -q
}
check "npz(...) in a data block" trains 'npz("keys.npz")'
weights_as_npz() { # the same scores as of safetensors, deflated or not; other arrays are not of these weights, and a zip file under another name is told
  local method
  ./m -q --out m.out && ./m predict -q --weights m.out/last.safetensors -o of_safetensors.npy || return 1
  for method in ZIP_STORED ZIP_DEFLATED; do
    python3 -B - "$here" $method <<'PYTHON' && ./m predict -q --weights w.npz -o of_npz.npy && cmp of_safetensors.npy of_npz.npy || return 1
import json, struct, sys, zipfile
sys.path.insert(0, sys.argv[1])
from forms import header, npz
raw = open("m.out/last.safetensors", "rb").read()
begin = 8 + struct.unpack("<Q", raw[:8])[0]
tensors = {name: t for name, t in json.loads(raw[8:begin]).items() if name != "__metadata__"}
npz("w.npz", {name: header("'<f4'", tuple(t["shape"])) + raw[begin + t["data_offsets"][0]:begin + t["data_offsets"][1]] for name, t in tensors.items()}, getattr(zipfile, sys.argv[2]))
PYTHON
  done
  ! ./m predict --weights keys.npz -o m.npy 2>said && cat said && grep -qF 'R0804' said && cp w.npz w.bin && ! ./m predict --weights w.bin -o m.npy 2>said && cat said && grep -qF 'it is a .npz file' said &&
    head -c 300 w.npz >cut.npz && ! ./m predict --weights cut.npz -o m.npy 2>said && cat said && grep -qF 'R0806' said
}
check "  weights as npz" weights_as_npz
check "a file's name in a data block" trains '"keys_deflated.npz"'
made_up() { # a set of graphs of a data block that has no file
  printf '%s\n' 'data g from synth(kind = "molecules", nodes = 900, features = 9, classes = 2, seed = 1) { node x : f32[9]' '  graph y : class[2] }' 'model m on g { return mean(x |> SAGE(8) |> relu, to = graph) |> Linear(y.classes) }' \
    'train m { batch = graphs(8, shuffle = true); loss = cross_entropy(out, y); optimizer = adam(lr = 0.02); epochs = 30; metric = accuracy }' >batched.gnn
  CFLAGS=-O0 "$gnncc" -w batched.gnn -o batched && ./batched --progress none --out batched.out | tail -1 | tee said && awk '/^last epoch/ { for (i = 1; i < NF; i++) if ($i == "valid" && $(i + 1) > 0.8) found = 1 } END { exit !found }' said
}
check "molecules made up: learned in batches" made_up
of_files() { # FILE TYPE: trains as with the features that the data have
  mkdir -p models
  printf '%s\n' 'const F = 3' 'data g from npy("../weight_only") {' "  node x : f32[3] = raw(\"$1\", $2)" '  node y : class[3] = npy("../plain/y.npy")' '  split = index(0)' '}' 'model m on g { return x |> GCN(y.classes) }' \
    'train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 3; metric = accuracy }' | sed '/split/d' >models/raw.gnn
  cp plain/*_mask.npy weight_only
  CFLAGS=-O0 "$gnncc" -w models/raw.gnn -o raw && ./raw -q --every 1 --log csv --out raw.out && cut -d, -f1-6 raw.out/log.csv >losses && rm weight_only/*_mask.npy
}
check "raw(...) of a field, in a model in another folder" of_files ../x.f32 'f32[N, F]'
cp losses first.losses
check "  as half numbers, as many as are said" of_files ../x.f16 'f16[6, 3]'
check "  gives the same losses" cmp first.losses losses
check "  is refused where bytes are missing" refuses 'one of f32[3] takes 12 bytes, and 70 bytes are there' of_files ../broken/x.f32 'f32[N, 3]'
check "  where there are others than are said" refuses 'holds more: f32[5, 3] takes 60 bytes, 72 are there' of_files ../x.f32 'f32[5, 3]'
check "  and where there is a header" refuses 'has a NumPy header, so it is no raw file' of_files ../plain/x.npy 'f32[N, 3]'
rm -f weight_only/*_mask.npy
head -c 60 x.f32 >short.f32
blamed() { # LINE COLUMN TEXT SED: gnncc says so at this place
  sed "$4" models/raw.gnn >models/blamed.gnn
  "$gnncc" -w --check models/blamed.gnn >said 2>&1
  [ $? -ne 0 ] && grep -qF -- "$3" said && grep -qF "models/blamed.gnn:$1:$2" said || { cat said; return 1; }
}
check "a field's own file that is too short is blamed at its place" blamed 3 21 'short.f32": x has 5 rows, but there are 6 nodes' 's#raw(.*)#raw("../short.f32", f32[N, 3])#'
check "  and one that is not there" blamed 3 21 'nope.npy' 's#raw(.*)#npy("../nope.npy")#'
check "  other errors of the data are at the data" blamed 2 13 'nowhere' 's#npy("../weight_only")#npy("../nowhere")#'
check "csv(...) in a data block: its columns are the fields" trains 'csv(edges = "e.csv", nodes = "n.csv")'
check "  on the command line of the program, too" ./m -q --data 'csv(edges = "win_e.csv.gz", nodes = "win_n.csv")'
printf '%s\n' id,x_0,x_1,x_2,kind Ann,0,0,1,1.0 Bob,0,1,0,0.0 Cole,1,0,0, Dan,1,0,1,2.0 Eve,1,1,0,1.0 Fay,1,1,1,0.0 >float_n.csv
printf '%s\n' from,to Ann,Bob Bob,Cole Cole,Dan Dan,Eve Eve,Fay >float_e.csv
floats_are_classes() { # as pandas writes a column of labels of which one is missing
  printf '%s\n' 'data g from csv(edges = "float_e.csv", nodes = "float_n.csv") {' '  node x : f32[3]' "  node kind : class[$1]" '  split = random(0.6, 0.2, 0.2, seed = 0)' '}' \
    'model m on g { return x |> GCN(kind.classes) }' 'train m { loss = cross_entropy(out, kind); optimizer = adam(lr = 0.01); epochs = 2; metric = accuracy }' >floats.gnn
  "$gnncc" -w --check floats.gnn && CFLAGS=-O0 "$gnncc" -w floats.gnn -o floats && ./floats -q
}
check "  a column of 1.0 and 0.0, and a row without, is one of classes where that is declared" floats_are_classes 3
check "    of no more than there are" bash -c "$(declare -f floats_are_classes); gnncc='$gnncc'; ! floats_are_classes 2 2>said && grep -q 'E0702' said"
sed -i 's/,2.0$/,2.5/' float_n.csv
check "    and all of them are whole" bash -c "$(declare -f floats_are_classes); gnncc='$gnncc'; ! floats_are_classes 3 2>said && grep -q 'E0708' said"
block_of() { # SOURCE: what info prints for it, as a program that trains
  { "$gnndata" info "$1" | sed -n '/^data /,/^}/p'; printf '%s\n' 'model m on g { return x |> GCN(y.classes) }' 'train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 2; metric = accuracy }'; } | sed "$2" >block.gnn
  CFLAGS=-O0 "$gnncc" -w block.gnn -o block && ./block -q
}
check "  what info prints of odd names is a program" block_of "$odd" 's/^data [a-z]*/data g/; s/return x/return concat(open_access, for_, if_)/'
sed 's/odd_nodes/same_names/; /node for_/d; /node if_/d; /node y/d; s/open_access/a_b/' block.gnn >same_names.gnn
check "  of a name that two columns have, neither is taken" refuses 'has two columns for the field a_b: "a b" and "a-b"' "$gnncc" -w --check same_names.gnn
sed 's/node x : f32.3./node xx : f32[3]/' m.gnn >wrong.gnn
sed 's/class.3./class[19]/' m.gnn >igb.gnn; check "igb(...) in a data block, in a model in another folder" bash -c "sed 's#from .*{ node#from igb(\"../igb\", \"tiny\") { node#' igb.gnn >models/igb.gnn; CFLAGS=-O0 '$gnncc' -w models/igb.gnn -o igbm && ./igbm -q"
check "dgl(...) in a data block, in a model in another folder" bash -c "sed 's#from .*{ node#from dgl(\"../dgl_csv\") { node#' m.gnn >models/dgl.gnn; CFLAGS=-O0 '$gnncc' -w models/dgl.gnn -o dglm && ./dglm -q"
joined() {
  ./dglm -q --out dglm.out >/dev/null && ./dglm predict --out dglm.out --classes -o p.csv && "$gnndata" convert dgl_csv d.safetensors >/dev/null || return
  paste -d, d.safetensors.ids.csv p.csv >both && cut -d, -f1-3 both | diff - <(echo node,id,node; for v in 0 1 2 3 4 5; do echo "$v,\"n$v\",$v"; done)
}
check "  names of nodes stand beside predictions by their rows" joined
check "  the program reads no YAML of other folders, and says what does" bash -c "! ./dglm -q --data dgl_bolt 2>said && grep -qF 'gnndata convert dgl_bolt' said"
check "ogb(...) in a data block" trains 'ogb("ogbn_two", split = "time")'
check "  one that is not there: what there is, is listed" refuses '"n.csv" has no column "xx"; it has id, x_0, x_1, x_2, y, split' "$gnncc" -w --check wrong.gnn
check "safetensors(...) with PyG's names in a data block" trains 'safetensors("pyg.safetensors")'
finish
