#!/bin/bash
# disk.sh BUILD: gnndata order with the edges on the disk, by METIS, and by part numbers of others.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
. "$here/../tap.sh"
gnndata=$build/gnndata
workplace
numbers() { tail -c +$((9 + $(od -An -t u8 -N 8 "$1" | tr -d ' '))) "$1"; } # FILE.safetensors: what follows the header
halo() { "$gnndata" info "$1" --order "$2" | awk -v column="$3" '/^parts/ { there = 1 } there && /^  file/ { print $(column + 2); exit }'; } # DATA ORDER COLUMN
at_most() { awk -v a="$1" -v factor="$2" -v b="$3" 'BEGIN { print a, factor, b; exit !(a != "" && b != "" && a <= factor * b) }'; }
says() { "$@" >said 2>&1; }

check "a graph with communities" "$gnndata" synth sbm com.safetensors --nodes 40000 --degree 16 --classes 80 --features 1 --seed 5
check "one without reverse edges" bash -c "cc -O1 -o make_list '$here/../ingest/make_list.c' && ./make_list text 30000 400000 3 list.txt && '$gnndata' convert list.txt one.safetensors --memory=4MiB"

# Each node's only neighbour is half of the nodes away: of two parts the second has all of its table from the first; of four, neighbours in turn have no row together.
awk 'BEGIN { for (v = 0; v < 2048; v++) print v, v + 2048 }' >far.txt
moved() { "$gnndata" convert far.txt far.safetensors --undirected && "$gnndata" info far.safetensors | tee far.info | grep '^ *halo\|given' && sed -n 's/^ *moved *\([0-9.]*\) *\([0-9.]*\) .*/\1 \2/p' far.info | tee said && grep -qx '1.00 2.00' said; }
check "info says how many rows come where parts take turns and those of the part before stay" moved

# ---- from the disk ----
check "its order, in memory" "$gnndata" order com.safetensors -o whole.order --memory=1GiB
check "  is that without --memory" bash -c "'$gnndata' order com.safetensors -o plain.order && cmp whole.order plain.order"
for graph in com one; do
  check "$graph: its order, from the disk" "$gnndata" order $graph.safetensors -o $graph.order --memory=3MiB
  check "  twice the same bytes, also with other memory" bash -c "'$gnndata' order $graph.safetensors -o again.order --memory=4MB && cmp $graph.order again.order"
  check "  it says how" grep -q 'nested, from the disk' $graph.order
  check "  the data take it" bash -c "'$gnndata' info $graph.safetensors --order $graph.order | grep -q '^  file'"
done
for column in 1 2 3; do
  check "halos are near those of the order made in memory ($column)" at_most "$(halo com.safetensors com.order $column)" 1.15 "$(halo com.safetensors whole.order $column)"
done
check "and far below those of the given order" bash -c "'$gnndata' order com.safetensors --method given -o given.order; $(declare -f at_most halo); gnndata='$gnndata'; at_most \$(halo com.safetensors com.order 2) 0.8 \$(halo com.safetensors given.order 2)"
limited() { (ulimit -v $1 && "$gnndata" order "${@:2}"); } # KiB of address space
refuse 3 "in 12 MB of address space it cannot be made in memory" limited 12000 com.safetensors -o no.order
check "from the disk it can" limited 12000 com.safetensors -o limited.order --memory=3MiB
check "  to the same bytes" cmp limited.order com.order

# Halos that are counted row by row from whichever side are those that info counts.
for graph in com one; do
  check "$graph: parts of a file, all of them one" bash -c "yes 0 | head -\$('$gnndata' info $graph.safetensors | sed -n 's/^nodes *//p' | tr -d ,) >zeros.txt && '$gnndata' order $graph.safetensors --method=zeros.txt -o zeros.order"
  check "$graph: in the given order" "$gnndata" order $graph.safetensors --method given -o given.order
  check "$graph: order, blocks, halos and interior rows are the same" bash -c "$(declare -f numbers); cmp <(numbers zeros.order) <(numbers given.order)"
done

# ---- what cannot be read ----
refuse 2 "too little memory for so many nodes" says "$gnndata" order com.safetensors -o no.order --memory=1MiB
check "  says what it takes" grep -q 'is too little: the order of 40,000 nodes takes' said
refuse 2 "changes of edges on the way" says "$gnndata" order com.safetensors -o no.order --memory=3MiB --self-loops=add
check "  says what to do" grep -q 'gnndata convert with these options first' said
refuse 2 "--memory with another method" says "$gnndata" order com.safetensors -o no.order --memory=3MiB --method=given
head_bytes=$((8 + $(od -An -t u8 -N 8 one.safetensors | tr -d ' ')))
patch() { printf "$2" | dd of=bad.safetensors bs=1 seek="$1" conv=notrunc 2>/dev/null; } # PLACE BYTES
damaged() { # TEXT PLACE BYTES: without sums, which would tell it at once
  sed 's/gnncc\.crc32/gnncc.other/g' one.safetensors >bad.safetensors && patch "$2" "$3" && ! "$gnndata" order bad.safetensors -o no.order --memory=3MiB >said 2>&1 && cat said && grep -qF "$1" said && [ ! -e no.order ]
}
nodes=$("$gnndata" info one.safetensors | sed -n 's/^nodes *//p' | tr -d ,)
entries=$((head_bytes + 16 * (nodes + 1)))
check "without sums it is read, too" bash -c "sed 's/gnncc\.crc32/gnncc.other/g' one.safetensors >bad.safetensors && '$gnndata' order bad.safetensors -o other.order --memory=3MiB && cmp other.order one.order"
check "a row that ends before it begins" damaged 'that must rise to' $((head_bytes + 8)) '\377\377\377\377\377\377\377\377'
check "rows that do not begin at 0" damaged 'that must rise to' $head_bytes '\1'
check "a node that there is not" damaged 'names a node that there is not' $entries '\377\377\377\177'
check "a negative one" damaged 'names a node that there is not' $((entries + 4)) '\377\377\377\377'
check "a row that does not ascend" damaged 'does not ascend' $((entries + 8)) '\0\0\0\0\0\0\0\0'
flipped() { cp one.safetensors bad.safetensors && patch $((entries + 400)) '\1\2' && ! "$gnndata" order bad.safetensors -o no.order --memory=3MiB >said 2>&1 && cat said && grep -q 'tensor "csr.col" does not match its checksum' said; }
check "with sums, bits that changed are told by the name of the tensor" flipped
last=$(($(stat -c %s one.safetensors) - 4)) # the destination of the last edge, among those by source
check "directions that have different edges" damaged 'have different edges' $last "$(printf '\\%03o\\%03o' $(((nodes - 2) % 256)) $(((nodes - 2) / 256)))"
only_rows() { sed 's/csc\./xxx./g; s/gnncc\.crc32/gnncc.other/g' one.safetensors >bad.safetensors && ! "$gnndata" order bad.safetensors -o no.order --memory=3MiB >said 2>&1 && cat said && grep -q 'has no csc.colptr and csc.row' said; }
check "one direction alone of a graph that is not symmetric" only_rows
check "another form is read as a whole" bash -c "'$gnndata' order karate -o karate.order --memory=1MiB"

# ---- parts of others ----
seq 0 39999 | awk '{ print $1 % 7 * 3 }' >sevens.txt
check "part numbers, one a line, with gaps" "$gnndata" order com.safetensors --method=sevens.txt -o sevens.order
{ printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (40000,), }"; awk '{ printf "%c", $1 + 65 }' sevens.txt | tr 'ADGJMPS' '\000\003\006\011\014\017\022'; } >sevens.npy
check "the same as an array" bash -c "'$gnndata' order com.safetensors --method=sevens.npy -o array.order && cmp array.order sevens.order"
check "packed" bash -c "gzip -k sevens.txt && '$gnndata' order com.safetensors --method=sevens.txt.gz -o packed.order && cmp packed.order sevens.order"
check "nodes of a part stand together, ascending" bash -c "$(declare -f numbers); numbers sevens.order | od -An -v -t d8 -w8 -N 320000 | awk 'BEGIN { last = -1 } { part = \$1 % 7; if (part != last) { runs++; last = part; node = -1 } if (\$1 <= node) exit 1; node = \$1 } END { exit runs != 7 }'"
head -39999 sevens.txt >short.txt
refuse 1 "too few" says "$gnndata" order com.safetensors --method=short.txt -o no.order
check "  says so" grep -q '"short.txt" has 39,999 part numbers, the data 40,000 nodes' said
{ cat sevens.txt; echo 1; } >long.txt
refuse 1 "too many" says "$gnndata" order com.safetensors --method=long.txt -o no.order
sed '7s/.*/six/' sevens.txt >word.txt
refuse 1 "no number" says "$gnndata" order com.safetensors --method=word.txt -o no.order
check "  says where" grep -q '"word.txt" line 7 is no part number' said
sed '7s/.*/-1/' sevens.txt >negative.txt
refuse 1 "a negative one" says "$gnndata" order com.safetensors --method=negative.txt -o no.order
refuse 4 "no such file" says "$gnndata" order com.safetensors --method=nowhere.txt -o no.order
check "nothing was written" [ ! -e no.order ]

# ---- METIS ----
stub() { printf '%s\n' "$2" >stub.c && mkdir -p $1 && cc -shared -fPIC -o $1/libmetis.so.5 stub.c; } # FOLDER C: a library of its name
without() { LD_LIBRARY_PATH=$PWD/$1 "$gnndata" order com.safetensors --method=metis -o no.order >said 2>&1; }
check "a library without METIS" stub none 'int nothing;'
refuse 2 "METIS that is not there" without none
check "  says what it is called" grep -q 'METIS is not installed: there is no libmetis.so.5' said
check "  and what to do" grep -q 'libmetis5; without it: --method=nested' said
check "a library with wide numbers" stub wide 'int METIS_SetDefaultOptions(long long *o) { for (int i = 0; i < 40; i++) o[i] = -1; return 1; } int METIS_PartGraphRecursive(void) { return 1; }'
refuse 2 "METIS with numbers of 64 bits" without wide
check "  says so" grep -q 'built with numbers of 64 bits' said
check "a library that fails" stub fails 'int METIS_SetDefaultOptions(int *o) { for (int i = 0; i < 40; i++) o[i] = -1; return 1; } int METIS_PartGraphRecursive(void) { return -3; }'
refuse 3 "METIS without memory" without fails
check "a library with parts that there are not" stub odd 'int METIS_SetDefaultOptions(int *o) { for (int i = 0; i < 40; i++) o[i] = -1; return 1; } int METIS_PartGraphRecursive(int *n, int *c, int *p, int *x, int *w, int *s, int *e, int *k, float *t, float *u, int *o, int *cut, int *part) { part[*n - 1] = *k; return 1; }'
refuse 2 "METIS with parts that there are not" without odd
stub_of_runs='#include <stdlib.h>
int METIS_SetDefaultOptions(int *o) { for (int i = 0; i < 40; i++) o[i] = -1; return 1; }
static int has(const int *p, const int *x, int r, int c) { for (int e = p[r]; e < p[r + 1]; e++) if (x[e] == c) return 1; return 0; }
int METIS_PartGraphRecursive(int *n, int *c, int *p, int *x, int *w, int *s, int *e, int *k, float *t, float *u, int *o, int *cut, int *part) {
  if (*c != 1 || s || e || t || u || p[0] != 0) return -2;
  for (int r = 0; r < *n; r++) for (int i = p[r]; i < p[r + 1]; i++) if (x[i] == r || (r % 50 == 0 && !has(p, x, x[i], r)) || w[r] != p[r + 1] - p[r] + 1) return -2;
  for (int r = 0; r < *n; r++) part[r] = (int)((long long)r * *k / *n);
  return 1; }'
check "a library whose parts are runs, and which looks at what it gets" stub runs "$stub_of_runs"
for graph in com one; do
  check "$graph: METIS gets each edge both ways, no loops; its numbers are the order" bash -c "$(declare -f numbers); LD_LIBRARY_PATH=$PWD/runs '$gnndata' order $graph.safetensors --method=metis -o runs.order && '$gnndata' order $graph.safetensors --method=given -o given.order && cmp <(numbers runs.order) <(numbers given.order)"
done
if "$gnndata" order com.safetensors --method=metis -o metis.order >said 2>&1; then
  check "METIS: twice the same bytes" bash -c "'$gnndata' order com.safetensors --method=metis -o again.order && cmp metis.order again.order"
  for column in 1 2 3; do # parts that are numbered like a tree: halves of them have few edges between
    check "METIS: halos are near those of the nested order ($column)" at_most "$(halo com.safetensors metis.order $column)" 1.4 "$(halo com.safetensors whole.order $column)"
  done
  check "METIS: a graph that is not symmetric" "$gnndata" order one.safetensors --method=metis -o metis2.order
  check "METIS: a graph of one part" "$gnndata" order karate --method=metis -o small.order
else
  skip "METIS" "libmetis5 is not installed"
fi
# ---- orders that others have ----
order_of() { "$gnndata" order "$1" --method="$2" -o classic.order >/dev/null && numbers classic.order | od -An -v -t d8 -w8 -N $((8 * $3)) | tr -d ' ' | tr '\n' ' '; } # DATA METHOD NODES
printf '0 1\n0 2\n0 3\n2 3\n5 4\n' >few.txt
check "by degree: most first, those of the same ascend" bash -c "[ '$(order_of few.txt degree 6)' = '0 2 3 1 4 5 ' ]"
awk 'BEGIN { for (i = 0; i < 39; i++) print (i * 7) % 40, ((i + 1) * 7) % 40 }' >path.txt
check "rcm: a path from one end to the other, whatever its numbers" bash -c "echo '$(order_of path.txt rcm 40)' | awk '{ if (\$1 != 0 && \$1 != 33) exit 1; for (i = 1; i < 40; i++) { d = (\$(i + 1) - \$i + 40) % 40; if (d != 7 && d != 33) exit 1 } }'"
printf '0 3\n3 1\n4 2\n' >pieces.txt
check "rcm: pieces stay together, one-way edges join them" bash -c "echo '$(order_of pieces.txt rcm 5)' | grep -qE '^((2 4|4 2) (0 3 1|1 3 0)|(0 3 1|1 3 0) (2 4|4 2)) $'"
check "rcm: twice the same bytes" bash -c "'$gnndata' order com.safetensors --method=rcm -o one_rcm.order && '$gnndata' order com.safetensors --method=rcm -o two_rcm.order && cmp one_rcm.order two_rcm.order"
check "  and a program takes it as any other" bash -c "'$gnndata' info com.safetensors --order=one_rcm.order | grep -q '^  file'"
refuse 2 "no method" says "$gnndata" order com.safetensors --method=best
check "  says which there are" grep -q 'takes nested, metis, given, degree, rcm or a file of part numbers' said
finish
