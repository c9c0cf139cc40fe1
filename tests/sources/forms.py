"""forms.py FOLDER: one little graph in every form that is read, and damaged ones; without NumPy, which tests do not ask for."""
import gzip
import io
import json
import pathlib
import struct
import sys
import zipfile

from forms_of_dgl import dgl
from forms_of_graph import EDGES, INDEX, MASKS, NODES, SECOND, TEST, TRAIN, VALID, WEIGHT, X, Y, mask, turned

LETTERS = {"i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I", "u2": "H", "u1": "B", "b1": "?", "f8": "d", "f4": "f", "f2": "e"}


def pack(data):
    return gzip.compress(data, mtime=0)


def flat(numbers):
    return [n for row in numbers for n in flat(row)] if isinstance(numbers, (list, tuple)) else [numbers]


def shape_of(numbers):
    shape = []
    while isinstance(numbers, (list, tuple)):
        shape.append(len(numbers))
        numbers = numbers[0] if numbers else 0
    return tuple(shape)


def header(descr, shape, fortran=False, version=1):
    text = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    lead = 10 if version == 1 else 12
    text += " " * (-(len(text) + lead + 1) % 64) + "\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode()


def npy(numbers, dtype="<f4", fortran=False, shape=None):
    shape = shape_of(numbers) if shape is None else shape
    order = flat(turned(numbers)) if fortran else flat(numbers)
    end = ">" if dtype[0] == ">" else "<"
    return header(repr(dtype), shape, fortran) + struct.pack("%s%d%s" % (end, len(order), LETTERS[dtype[1:]]), *order)


def text(word, dtype):
    return header(repr(dtype), ()) + (word.encode() if "S" in dtype else word.encode("utf-32-be" if dtype[0] == ">" else "utf-32-le"))


def npz(path, arrays, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as out:
        for name, data in arrays.items():
            with out.open(name + ".npy", "w", force_zip64=True) as member:
                member.write(data)


def safetensors(path, tensors, metadata=None):
    names = {"BOOL": "b1", "U8": "u1", "I64": "i8", "I32": "i4", "F32": "f4", "F64": "f8", "U64": "u8", "F16": "f2"}
    head, body = {}, b""
    if metadata:
        head["__metadata__"] = metadata
    for name, (dtype, numbers) in tensors.items():
        bytes_ = struct.pack("<%d%s" % (len(flat(numbers)), LETTERS[names[dtype]]), *flat(numbers))
        head[name] = {"dtype": dtype, "shape": list(shape_of(numbers)), "data_offsets": [len(body), len(body) + len(bytes_)]}
        body += bytes_
    head = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + body)


def folder(path, arrays):
    path.mkdir(parents=True, exist_ok=True)
    for name, data in arrays.items():
        (path / (name + ".npy")).write_bytes(data)


def reference(out):
    arrays = {"edge_index": npy(INDEX, "<i8"), "x": npy(X), "y": npy(Y, "<i8"), **{k: npy(v, "|b1") for k, v in MASKS.items()}}
    folder(out / "plain", arrays)
    folder(out / "weighted", {**arrays, "edge_weight": npy(WEIGHT)})
    folder(out / "weight_only", {"edge_index": npy(INDEX, "<i8"), "weight": npy(WEIGHT), "y": npy(Y, "<i8")})
    (out / "weight_only" / "y.npy").unlink()
    (out / "weight_only" / "graph.json").write_text('{"num_nodes": 6}')
    folder(out / "features", {"edge_index": npy(INDEX, "<i8"), "x": npy(X), "y": npy(Y, "<i8")})


def tensors_by_owner(out):
    """As share/to_gnncc.py saves the tensors of DGL and of PyG: each under the type of nodes or the relation that it is of."""
    def about(name, types, relations):
        (out / name / "graph.json").write_text(json.dumps({"node_types": types, "relations": relations}))

    masks = {k: npy(v, "|b1") for k, v in MASKS.items()}
    folder(out / "dgl_owners", {"_N.batch_num_nodes": npy([NODES], "<i8"), "_N.feat": npy(X), "_N.label": npy(Y, "<i8"), **{"_N." + k: v for k, v in masks.items()},
                                "_N___E___N.edge_index": npy(INDEX, "<i8"), "_N___E___N.weight": npy(WEIGHT)})
    about("dgl_owners", ["_N"], [["_N", "_E", "_N"]])
    folder(out / "dgl_three", {"_N.batch_num_nodes": npy([2, 3, 1], "<i8"), "_N.feat": npy(X), "_N___E___N.edge_index": npy([[0, 1, 2, 3], [1, 0, 3, 4]], "<i8")})
    about("dgl_three", ["_N"], [["_N", "_E", "_N"]])
    entries = [(r, c) for r in range(NODES) for c in (2, 1, 0) if X[r][c]]
    sparse = {"adj_t.indices": npy(INDEX[::-1], "<i8"), "adj_t.values": npy(WEIGHT), "adj_t.shape": npy([NODES, NODES], "<i8"), "y": npy(Y, "<i8"), **masks,
              "x.indices": npy(turned([list(e) for e in entries]), "<i8"), "x.values": npy([X[r][c] for r, c in entries]), "x.shape": npy([NODES, 3], "<i8")}
    folder(out / "entries", sparse)
    npz(out / "entries.npz", {**sparse, "adj_t.indices": npy(INDEX[::-1], "<i4")})
    npz(out / "entries_adj.npz", {**{k: v for k, v in sparse.items() if not k.startswith("adj_t")}, "adj.indices": npy(INDEX, "<i8"), "adj.values": npy([1.0] * len(EDGES)), "adj.shape": npy([NODES, NODES], "<i8")})
    npz(out / "entries_both.npz", {**sparse, "edge_index": npy(INDEX, "<i8")})
    for name, wrong in {"far": {"x.shape": npy([NODES, 2], "<i8")}, "few": {"adj_t.values": npy(WEIGHT[:-1])}, "rank": {"x.indices": npy([0, 1], "<i8")}}.items():
        npz(out / "broken" / ("entries_%s.npz" % name), {**sparse, **wrong})
    typed = {"author__writes__paper.edge_index": npy([[0, 1, 1], [1, 0, 2]], "<i8"), "paper__cites__paper.adj_t.indices": npy([[2, 1], [0, 2]], "<i8"), "paper__cites__paper.adj_t.values": npy([1.0, 1]),
             "paper__cites__paper.adj_t.shape": npy([3, 3], "<i8"), "author.num_nodes": npy(2, "<i8"), "paper.num_nodes": npy(3, "<i8"), "paper.x": npy(X[:3]), "paper.node_year": npy([2001, 2002, 2003], "<i8"),
             "paper.label": npy([0, 1, 1], "<i8"), **{"paper.%s_mask" % k: npy(mask([v], 3), "|b1") for v, k in enumerate(("train", "val", "test"))}}
    relations = [["author", "writes", "paper"], ["paper", "cites", "paper"]]
    folder(out / "owners", typed)
    about("owners", ["author", "paper"], relations)
    folder(out / "owners_three", {**{k: v for k, v in typed.items() if "num_nodes" not in k}, "author.batch_num_nodes": npy([1, 0, 1], "<i8"), "paper.batch_num_nodes": npy([1, 1, 1], "<i8")})
    about("owners_three", ["author", "paper"], relations)
    folder(out / "owners_graded", {**{k: v for k, v in typed.items() if "num_nodes" not in k}, "author.batch_num_nodes": npy([1, 0, 1], "<i8"), "paper.batch_num_nodes": npy([1, 1, 1], "<i8"), "y": npy([0, 1, 0], "<i8")})
    about("owners_graded", ["author", "paper"], relations)
    entries = [(r, c) for r in range(3) for c in range(3) if X[r][c]]
    folder(out / "owners_sparse", {**{k: v for k, v in typed.items() if k != "paper.x"}, "paper.x.indices": npy(turned([list(e) for e in entries + [(0, 0)]]), "<i8"),
                                   "paper.x.values": npy([X[r][c] - 2 * ((r, c) == (0, 0)) for r, c in entries] + [2]), "paper.x.shape": npy([3, 3], "<i8")})
    about("owners_sparse", ["author", "paper"], relations)
    folder(out / "owners_rows", {k: v for k, v in typed.items() if k != "paper.num_nodes"})
    about("owners_rows", ["author", "paper"], relations)
    folder(out / "broken/owners", {k: v for k, v in typed.items() if k != "author.num_nodes"})
    about("broken/owners", ["author", "paper"], relations)
    folder(out / "broken/owners_triple", typed)
    about("broken/owners_triple", ["author", "paper"], [["author", "writes"]])
    folder(out / "broken/owners_number", typed)
    about("broken/owners_number", ["author", 3], relations)


def rows_of(entries, rows):
    """indptr, indices and values of (row, column, value), as they come."""
    pointer, index, value = [0], [], []
    for r in range(rows):
        for i, j, v in entries:
            if i == r:
                index.append(j)
                value.append(v)
        pointer.append(len(index))
    return pointer, index, value


def arrays_by_name(out):
    plain = {"x": npy(X), "edge_index": npy(INDEX, "<i8"), "y": npy(Y, "<i8"), **{k: npy(v, "|b1") for k, v in MASKS.items()}}
    npz(out / "keys.npz", plain)
    npz(out / "keys_deflated.npz", plain, zipfile.ZIP_DEFLATED)
    npz(out / "kinds.npz", {"x": npy(turned(turned(X)), ">f8", fortran=True), "edge_index": npy(turned(INDEX), "<u8"), "y": npy([float(y) for y in Y], "<f2"),
                            **{k: npy(v, "|u1") for k, v in MASKS.items()}}, zipfile.ZIP_DEFLATED)
    ours = {"edge.src": npy(INDEX[0], "<i4"), "edge.dst": npy(INDEX[1], ">i4"), "node.x": npy(X), "node.y": npy(Y, "<i8"),
            "split.train": npy(TRAIN, "<i8"), "split.valid": npy(VALID, "<i8"), "split.test": npy(TEST, "<i8")}
    npz(out / "ours.npz", ours, zipfile.ZIP_DEFLATED)
    tensors = {"x": ("F32", X), "edge_index": ("I64", INDEX), "y": ("I64", Y), **{k: ("BOOL", [bool(m) for m in v]) for k, v in MASKS.items()}}
    safetensors(out / "pyg.safetensors", tensors)
    safetensors(out / "pyg_lists.safetensors", {"feat": ("F16", X), "edge_index": ("I32", INDEX), "label": ("I64", Y), "train_idx": ("I64", TRAIN), "valid_idx": ("I64", VALID),
                                                "test_idx": ("I64", TEST)})
    safetensors(out / "pyg_columns.safetensors", {**tensors, **{k: ("BOOL", [[bool(m), bool(n)] for m, n in zip(v, MASKS[SECOND[k]])]) for k, v in MASKS.items()}})
    # As SciPy saves them; and with the names of Shchur's sets, whose rows do not ascend.
    entries = [(s, d, w) for (s, d), w in zip(EDGES, WEIGHT)]
    pointer, index, value = rows_of(sorted(entries), NODES)
    npz(out / "csr.npz", {"indices": npy(index, "<i4"), "indptr": npy(pointer, "<i4"), "format": text("csr", "|S3"), "shape": npy([NODES, NODES], "<i8"), "data": npy(value, "<f8")})
    pointer, index, value = rows_of(sorted((d, s, w) for s, d, w in entries), NODES)
    npz(out / "csc.npz", {"indices": npy(index, "<i4"), "indptr": npy(pointer, "<i4"), "format": text("csc", "<U3"), "shape": npy([NODES, NODES], "<i8"), "data": npy(value, "<f8")})
    npz(out / "coo.npz", {"row": npy(INDEX[0], "<i4"), "col": npy(INDEX[1], "<i4"), "format": text("coo", ">U3"), "shape": npy([NODES, NODES], "<i8"), "data": npy(WEIGHT, "<f4")},
        zipfile.ZIP_DEFLATED)
    pointer, index, value = rows_of(sorted(entries, reverse=True), NODES)
    xpointer, xindex, xvalue = rows_of([(r, c, X[r][c]) for r in range(NODES) for c in (2, 1, 0) if X[r][c]], NODES)
    adjacency = {"adj_indices": npy(index, "<i4"), "adj_indptr": npy(pointer, "<i4"), "adj_shape": npy([NODES, NODES], "<i8"), "adj_data": npy([1.0] * len(EDGES))}
    attributes = {"attr_indices": npy(xindex, "<i4"), "attr_indptr": npy(xpointer, "<i4"), "attr_shape": npy([NODES, 3], "<i8"), "attr_data": npy(xvalue), "labels": npy(Y, "<i8")}
    names = header("'|O'", (3,)) + b"\x80\x03]q\x00."
    npz(out / "shchur.npz", {**adjacency, **attributes, "attr_names": names, "class_names": header("'<U1'", (2,)) + "ab".encode("utf-32-le")})

    broken = out / "broken"
    npz(broken / "no_edges.npz", {"x": npy(X), "y": npy(Y, "<i8")})
    folder(broken / "no_edges", {"x": npy(X), "y": npy(Y, "<i8")})
    rest = {"x": npy(X), "y": npy(Y, "<i8"), **{k: npy(v, "|b1") for k, v in MASKS.items()}}
    npz(out / "ends.npz", {**rest, "src": npy(INDEX[0], "<i8"), "dst": npy(INDEX[1], "<i8")})
    folder(out / "ends", {**rest, "edge_src": npy(INDEX[0], "<i4"), "edge_dst": npy(INDEX[1], "<i4")})
    npz(out / "boxes.npz", {**rest, "edge_index": npy(INDEX, "<i8"), "boxes": npy([0.5] * (NODES * 4), shape=(NODES, 2, 2))})
    npz(broken / "ends.npz", {**rest, "src": npy(INDEX[0], "<i8"), "dst": npy(INDEX[1][1:], "<i8")})
    folder(out / "platonov", {"edges": npy(turned(INDEX), "<i8"), "node_features": npy(X), "node_labels": npy(Y, "<i8"), **{k: npy(v, "|b1") for k, v in MASKS.items()}})
    npz(broken / "claims.npz", {"edge_index": npy(INDEX, "<i8"), "num_nodes": npy(2000000000, "<i8"), "x": npy(X)})
    npz(broken / "pickled_edges.npz", {"x": npy(X), "edge_index": names})
    npz(broken / "float_edges.npz", {"edge_index": npy(INDEX, "<f4")})
    npz(broken / "three_rows.npz", {"edge_index": npy(INDEX + [INDEX[0]], "<i8")})
    npz(broken / "far.npz", {**plain, "edge_index": npy([[0, 9], [1, 0]], "<i8")})
    npz(broken / "bsr.npz", {"indices": npy(index, "<i4"), "indptr": npy(pointer, "<i4"), "format": text("bsr", "|S3"), "shape": npy([NODES, NODES], "<i8"), "data": npy(WEIGHT)})
    npz(broken / "wide.npz", {"indices": npy(index, "<i4"), "indptr": npy(pointer, "<i4"), "format": text("csr", "|S3"), "shape": npy([NODES, NODES + 1], "<i8"), "data": npy(WEIGHT)})
    npz(broken / "falling.npz", {"indices": npy(index, "<i4"), "indptr": npy([0, 4, 2, 8, 8, 8, 8], "<i4"), "format": text("csr", "|S3"), "shape": npy([NODES, NODES], "<i8")})
    npz(broken / "short.npz", {"edge_index": npy(INDEX, "<i8")[:-8]})
    whole = (out / "keys_deflated.npz").read_bytes()
    (broken / "cut.npz").write_bytes(whole[:-30])
    (broken / "flipped.npz").write_bytes(whole[:90] + bytes([whole[90] ^ 1]) + whole[91:])
    (broken / "empty.npz").write_bytes(b"")
    (broken / "graph.bin").write_bytes(bytes.fromhex("3fa1b446f04f2edd0200000000000000"))
    with zipfile.ZipFile(broken / "torch.pt", "w") as pickle:
        pickle.writestr("archive/data.pkl", b"\x80\x02.")
    safetensors(broken / "no_edges.safetensors", {"x": ("F32", X), "y": ("I64", Y)})
    for n in range(0, len(whole), 7):
        (broken / "cuts").mkdir(exist_ok=True)
        (broken / "cuts" / ("%d.npz" % n)).write_bytes(whole[:n])


def tables(out):
    """Tables of nodes and edges, as programs write them."""
    names = ["Ann, A.", "Bob", 'O"Hara', "Zoë", "5", "x"]
    quoted = ['"%s"' % n.replace('"', '""') for n in names]
    split = ["train" if v in TRAIN else "valid" if v in VALID else "test" for v in range(NODES)]
    nodes = ["id,x_0,x_1,x_2,y,split"] + ["%s,%s,%d,%s" % (quoted[v], ",".join(map(repr, X[v])), Y[v], split[v]) for v in range(NODES)]
    edges = ["source,target,edge_weight"] + ["%s,%s,%r" % (quoted[s], quoted[d], w) for (s, d), w in zip(EDGES, WEIGHT)]
    (out / "n.csv").write_text("\n".join(nodes) + "\n")
    (out / "e.csv").write_text("\n".join(edges) + "\n")
    # From Windows: a byte order mark, its line ends, no end to the last line; packed.
    (out / "win_n.csv").write_bytes("\r\n".join(nodes).encode("utf-8-sig"))
    (out / "win_e.csv.gz").write_bytes(pack(("\r\n".join(edges) + "\r\n\r\n").encode("utf-8-sig")))
    # Other separators, columns that ends are not called, features as a list in a cell, masks as words, nothing called id.
    rows = ["x\ty\ttrain_mask\tval_mask\ttest_mask"] + ["%r\t%d\t%s\t%s\t%s" % (X[v], Y[v], v in TRAIN, v in VALID, v in TEST) for v in range(NODES)]
    (out / "n.tsv").write_text("\n".join(rows) + "\n")
    (out / "e.tsv").write_text("# made by hand\nedge_weight\tb\ta\n" + "".join("%r\t%d\t%d\n" % (w, d, s) for (s, d), w in zip(EDGES, WEIGHT)))
    (out / "bare.csv").write_text("".join("%d;%d\n" % (s + 1, d + 1) for s, d in EDGES))
    (out / "words.csv").write_text("".join("n%d,n%d\n" % edge for edge in EDGES))
    broken = out / "broken"
    for name, text in {"short_row": "src,dst\n0,1\n1\n", "unknown": "src,dst\nBob,Nobody\n", "float_end": "src,dst\n0,1\n1,0.5\n", "minus": "src,dst\n0,-1\n", "one_column": "src\n0\n", "open": 'src,dst\n0,"1\n',
                       "after_quote": 'src,dst\n"0"1,1\n', "twice": "src,src\n0,1\n", "no_rows": "", "lists": 'src,dst,w\n0,1,"[1, 2]"\n1,0,[1]\n'}.items():
        (broken / (name + ".csv")).write_text(text)
    (broken / "latin.csv").write_bytes("src,dst\nZo\xeb,Bob\n".encode("latin-1"))
    (broken / "utf16.csv").write_bytes("src,dst\n0,1\n".encode("utf-16"))
    (broken / "zero.csv").write_bytes(b"src,dst\n0,1\n\0\n")
    (broken / "cut.csv.gz").write_bytes(pack(b"src,dst\n" + b"0,1\n" * 1000)[:-20])
    (broken / "same_node.csv").write_text("id,y\na,0\nb,1\na,1\n")
    (broken / "no_id.csv").write_text("id,y\na,0\n,1\n")
    (broken / "split.csv").write_text("id,split\na,train\nb,tests\n")


def matrices(out):
    """Matrices as text, and graph files of METIS."""
    lead = "%%MatrixMarket matrix coordinate "
    entries = "".join("%d %d %r\n" % (s + 1, d + 1, w) for (s, d), w in zip(EDGES, WEIGHT))
    (out / "general.mtx").write_text(lead + "real general\n%% a comment\n%d %d %d\n" % (NODES, NODES, len(EDGES)) + entries)
    (out / "general.mtx.gz").write_bytes(pack((lead + "Real General\n%% a comment\n\n%d %d %d\n" % (NODES, NODES, len(EDGES)) + entries).replace("\n", "\r\n").encode()))
    (out / "pattern.mtx").write_text(lead + "pattern symmetric\n3 3 3\n2 1\n3 2\n3 3\n")
    (out / "skew.mtx").write_text(lead + "integer skew-symmetric\n3 3 2\n2 1 5\n3 2 -7\n")
    folder(out / "both_ways", {"edge_index": npy([[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]], "<i8")})
    (out / "both_ways" / "graph.json").write_text('{"num_nodes": 3}')
    folder(out / "skewed", {"edge_index": npy([[0, 1, 1, 2], [1, 0, 2, 1]], "<i8"), "weight": npy([-5, 5, 7, -7])})
    (out / "skewed" / "graph.json").write_text('{"num_nodes": 3}')
    broken = out / "broken"
    for name, text in {"first": "1 2 3\n", "array": "%%MatrixMarket matrix array real general\n2 2\n", "complex": lead + "complex general\n2 2 1\n1 1 1 1\n", "hermitian": lead + "real hermitian\n2 2 1\n1 1 1\n",
                       "sizes": lead + "real general\n2 2\n", "wide": lead + "real general\n2 3 1\n1 1 1\n", "few": lead + "real general\n2 2 2\n1 1 1\n", "many": lead + "real general\n2 2 1\n1 1 1\n2 2 1\n",
                       "zero": lead + "real general\n2 2 1\n0 1 1\n", "far": lead + "real general\n2 2 1\n1 3 1\n", "no_value": lead + "real general\n2 2 1\n1 1\n", "word": lead + "real general\n2 2 1\n1 1 x\n",
                       "lie": lead + "real general\n2 2 1000000000000\n1 1 1\n"}.items():
        (broken / (name + ".mtx")).write_text(text)
    both = sorted(set(EDGES) | {(d, s) for s, d in EDGES})
    lines = [[d + 1 for s, d in both if s == v] for v in range(NODES)]
    (out / "plain.graph").write_text("%% made by hand\n%d %d\n" % (NODES + 1, len(both) // 2) + "".join(" ".join(map(str, line)) + "\n" for line in lines) + "\n")
    folder(out / "undirected", {"edge_index": npy(turned([list(edge) for edge in both]), "<i8")})
    (out / "undirected" / "graph.json").write_text('{"num_nodes": 7}')
    (out / "weighted.graph").write_text("3 2 111 2\n5 1 2 2 7\n6 3 4 1 7 3 9\r\n%% between\n8 5 6 2 9\n")
    folder(out / "all_weights", {"edge_index": npy([[0, 1, 1, 2], [1, 0, 2, 1]], "<i8"), "weight": npy([7, 7, 9, 9]), "node_weight": npy([[1, 2], [3, 4], [5, 6]]), "node_size": npy([5, 6, 8])})
    (out / "all_weights" / "graph.json").write_text('{"num_nodes": 3}')
    for name, text in {"head": "3\n", "nodes": "0 0\n", "format": "3 2 7\n", "far": "2 1\n2\n3\n", "zero": "2 1\n2\n0\n", "word": "2 1\n2\nx\n", "half": "2 1\n2\n\n", "more": "2 1\n2\n1 2\n", "rows": "2 1\n2\n1\n2\n",
                       "short": "3 2\n2\n", "no_weight": "2 1 1\n2 5\n1\n", "lie": "2000000000 5\n1\n"}.items():
        (broken / (name + ".graph")).write_text(text)


def raw(out):
    (out / "x.f32").write_bytes(struct.pack("<18f", *flat(X)))
    (out / "x.f16").write_bytes(struct.pack("<18e", *flat(X)))
    (out / "broken" / "x.f32").write_bytes(struct.pack("<18f", *flat(X))[:-2])


def lines(rows):
    return pack("".join(",".join("nan" if n != n else repr(n) for n in (row if isinstance(row, (list, tuple)) else [row])) + "\n" for row in rows).encode())


def ogb(out):
    """Folders as the Open Graph Benchmark publishes its sets."""
    def write(folder_, files):
        for name, rows in files.items():
            path = out / folder_ / (name + ".csv.gz")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(rows if isinstance(rows, bytes) else lines(rows))

    splits = {"split/time/train": TRAIN, "split/time/valid": VALID, "split/time/test": TEST}
    plain = {"raw/edge": EDGES, "raw/num-node-list": [NODES], "raw/num-edge-list": [len(EDGES)], "raw/node-feat": X, "raw/node-label": Y, **splits}
    write("ogbn_plain", plain)
    write("ogbl_weighted", {**plain, "raw/edge_weight": WEIGHT})
    (out / "ogbl_weighted/split/time/valid.csv.gz").unlink()
    (out / "ogbl_weighted/split/time/valid.pt").write_bytes(b"PK")
    write("ogbl_pairs", {k: v for k, v in plain.items() if k.startswith("raw") and "label" not in k} | {"raw/edge": [(0, 1), (1, 2), (2, 3), (3, 1)], "raw/num-edge-list": [4]})
    for where, valid in ("ogbl_pairs", [[4, 1], [5, 1]]), ("broken/ogbl_pairs", []):
        (out / where / "split/time").mkdir(parents=True)
        npz(out / where / "split/time/train.npz", {"edge": npy([[0, 1], [1, 2], [2, 3], [3, 1]], "<i8"), "year": npy([2001] * 4, "<i8")})
        npz(out / where / "split/time/valid.npz", {"edge": npy([[4, 0]], "<i8"), "edge_neg": npy(valid, "<i8", shape=(len(valid), 2))})
        npz(out / where / "split/time/test.npz", {"edge": npy([[2, 5], [5, 2]], "<i4"), "edge_neg": npy([[5, 0], [0, 5]], "<i4")})
    for name, splits_of in ("ogbl_hits", {"train": ([[0, 1], [1, 2], [2, 3], [3, 1]], None), "valid": ([[4, 0]], [[4, 1], [5, 1], [0, 0]]), "test": ([[2, 5], [5, 2], [0, 3]], [[5, 0]])}), ("ogbl_sources", {"train": ([[0, 1], [1, 2], [2, 3], [3, 1]], None), "valid": ([[4, 0]], [[1, 5]]), "test": ([[2, 5], [5, 2]], [[0], [1]])}):
        write(name, {k: v for k, v in plain.items() if k.startswith("raw") and "label" not in k} | {"raw/edge": [(0, 1), (1, 2), (2, 3), (3, 1)], "raw/num-edge-list": [4]})
        (out / name / "split/time").mkdir(parents=True)
        for split, (joined, others) in splits_of.items():
            if name == "ogbl_hits":
                arrays = {"edge": npy(joined, "<i8")} | ({"edge_neg": npy(others, "<i8")} if others else {})
            else:
                arrays = {"source_node": npy([s for s, _ in joined], "<i8"), "target_node": npy([d for _, d in joined], "<i8")} | ({"target_node_neg": npy(others, "<i8")} if others else {})
            npz(out / name / f"split/time/{split}.npz", arrays)
    write("broken/ogbl_pairs", {k: v for k, v in plain.items() if k.startswith("raw") and "label" not in k})
    write("ogbn_two", {**plain, "split/random/train": [0, 1, 2], "split/random/test": [3, 4, 5]})
    once = [(0, 1), (1, 2), (3, 2)]
    write("ogbn_products", {"raw/edge": once, "raw/num-node-list": [4], "raw/num-edge-list": [3], "raw/edge-feat": [[1, 0.5], [2, 0.5], [3, 0.25]], "raw/species": [5, 6, 5, 6]})
    folder(out / "ogb_both", {"edge_index": npy(turned([list(e) for s, d in once for e in ((s, d), (d, s))]), "<i8"), "edge_attr": npy([r for r in [[1, 0.5], [2, 0.5], [3, 0.25]] for _ in (0, 1)]),
                              "node_species": npy([5, 6, 5, 6], "<i8")})
    (out / "ogb_both" / "graph.json").write_text('{"num_nodes": 4}')
    nan = float("nan")
    write("ogbg_molmini", {"raw/edge": [(0, 1), (1, 2), (0, 1)], "raw/num-node-list": [3, 2, 1], "raw/num-edge-list": [2, 1, 0], "raw/node-feat": [[n, 1] for n in range(6)], "raw/edge-feat": [[1, 0], [2, 0], [3, 1]],
                           "raw/graph-label": [[1, 0], [nan, nan], [1, 1]], "split/scaffold/train": [0], "split/scaffold/valid": [1], "split/scaffold/test": [2]})
    folder(out / "molecules", {"edge_index": npy([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]], "<i8"), "edge_attr": npy([[1, 0], [1, 0], [2, 0], [2, 0], [3, 1], [3, 1]]), "x": npy([[n, 1] for n in range(6)]),
                               "graph_ptr": npy([0, 3, 5, 6], "<i8")})
    (out / "ogbn_arrays/raw").mkdir(parents=True)
    npz(out / "ogbn_arrays/raw/data.npz", {"edge_index": npy(INDEX, "<i8"), "node_feat": npy(X, "<f2"), "num_nodes_list": npy([NODES], "<i8"), "num_edges_list": npy([len(EDGES)], "<i8"), "node_year": npy([2010] * NODES, "<i8")})
    npz(out / "ogbn_arrays/raw/node-label.npz", {"node_label": npy([float(y) for y in Y], "<f4", shape=(NODES, 1))})
    write("ogbn_arrays", {k: v for k, v in splits.items() if "test" not in k})
    npz(out / "ogbn_arrays/split/time/test.npz", {"arr_0": npy(TEST, "<i8")})
    folder(out / "dated", {"edge_index": npy(INDEX, "<i8"), "x": npy(X), "y": npy(Y, "<i8"), "node_year": npy([2010] * NODES, "<i8"), **{k: npy(v, "|b1") for k, v in MASKS.items()}})
    writes, cites = [(0, 1), (1, 0), (1, 2)], [(0, 2), (2, 1)]
    write("ogbn_typed", {"raw/num-node-dict": pack(b"author,paper\n2,3\n"), "raw/triplet-type-list": pack(b"author,writes,paper\npaper,cites,paper\n"),
                         "raw/relations/author___writes___paper/edge": writes, "raw/relations/author___writes___paper/num-edge-list": [3],
                         "raw/relations/paper___cites___paper/edge": cites, "raw/relations/paper___cites___paper/num-edge-list": [2], "raw/relations/paper___cites___paper/edge_reltype": [1, 1],
                         "raw/node-feat/paper/node-feat": X[:3], "raw/node-feat/paper/node_year": [2001, 2002, 2003], "raw/node-label/paper/node-label": [0, 1, 1],
                         "split/time/paper/train": [0], "split/time/paper/valid": [1], "split/time/paper/test": [2]})
    folder(out / "typed", {"writes.edge_index": npy(turned([list(e) for e in writes]), "<i8"), "cites.edge_index": npy(turned([list(e) for e in cites]), "<i8"), "paper.x": npy(X[:3]),
                           "paper.node_year": npy([2001, 2002, 2003], "<i8"), "paper.y": npy([0, 1, 1], "<i8"), "paper.train_mask": npy([1, 0, 0], "|b1"), "paper.val_mask": npy([0, 1, 0], "|b1"),
                           "paper.test_mask": npy([0, 0, 1], "|b1")})
    (out / "typed" / "graph.json").write_text(json.dumps({"node_types": {"author": 2, "paper": 3}, "relations": [{"name": "writes", "source": "author", "destination": "paper"},
                                                                                                               {"name": "cites", "source": "paper", "destination": "paper"}]}))
    # Types and relations that the language has other names for, in both forms of a relation's arrays; "has" twice; lists of rows; arrays that relations cannot have.
    plain_names, odd_names = ("the_author", "paper_2", "author_writes", "for_", "has", "the_author_has_paper_2"), ("the author", "paper-2", "author-writes", "for", "has", "has")
    for name, words in {"odd_names": odd_names, "plain_names": plain_names}.items():
        author, paper, first, second, third, fourth = words
        ends = [(first, author, paper), (second, paper, paper), (third, paper, author), (fourth, author, paper)]
        edges = [npy(turned([list(e) for e in part]), "<i8") for part in (writes, cites, [(2, 0)], [(0, 2)])]
        owners = ["%s__%s__%s" % (s, r, d) for r, s, d in ends] if name == "odd_names" else list(words[2:])
        owners[1] = second
        is_odd = name == "odd_names"
        folder(out / name, {**{owner + ".edge_index": part for owner, part in zip(owners, edges)}, paper + (".feat" if is_odd else ".x"): npy(X[:3]), paper + (".open access" if is_odd else ".open_access"): npy([[0.5], [1], [2]]),
                            paper + ".y": npy([0, 1, 1], "<i8"), **({paper + ".train_idx": npy([0], "<i8"), paper + ".valid_idx": npy([1], "<i8"), paper + ".test_idx": npy([2], "<i8"), owners[0] + ".edge_attr": npy([[1], [2], [3]])}
                                                                    if is_odd else {paper + ".%s_mask" % k: npy(mask([v], 3), "|b1") for v, k in enumerate(("train", "val", "test"))})})
        (out / name / "graph.json").write_text(json.dumps({"node_types": {author: 2, paper: 3}, "relations": [{"name": r, "source": s, "destination": d} for r, s, d in ends]}))
    same = [{"name": "has-topic", "source": "a", "destination": "a"}]
    for name, about in {"same_relation": {"node_types": {"a": 2}, "relations": same + [{**same[0], "name": "has topic"}] * 2}, "same_type": {"node_types": {"a b": 2, "a-b": 2}, "relations": same}}.items():
        folder(out / "broken" / name, {"has-topic.edge_index": npy([[0], [1]], "<i8")})
        (out / "broken" / name / "graph.json").write_text(json.dumps(about))
    relation = {"node.the author.x": ("F32", [[1], [2]]), "relation.author-writes.rowptr": ("I64", [0, 1, 2]), "relation.author-writes.col": ("I64", [1, 0])}
    safetensors(out / "odd_names.safetensors", relation, {"gnncc.graph": json.dumps({"node_types": {"the author": 2}, "relations": [{"name": "author-writes", "source": "the author", "destination": "the author"}]})})
    # Pairs of nodes, as RandomLinkSplit makes them; of train also without those that no edge joins.
    index = {"train": [[0, 1, 2, 3, 0, 0, 3, 5], [1, 2, 3, 1, 4, 3, 5, 1]], "val": [[4, 4], [0, 1]], "test": [[2, 5, 5, 0], [5, 2, 0, 5]]}
    label = {"train": [1, 1, 1, 1, 0, 0, 0, 0], "val": [1, 0], "test": [1, 1, 0, 0]}
    pairs = {"edge_index": npy(INDEX, "<i8"), "x": npy(X), **{k + "_edge_label_index": npy(v, "<i8") for k, v in index.items()}, **{k + "_edge_label": npy(v, "<f4") for k, v in label.items()}}
    folder(out / "pairs", pairs)
    folder(out / "pairs_drawn", {**pairs, "train_edge_label_index": npy([end[:4] for end in index["train"]], "<i8"), "train_edge_label": npy(label["train"][:4])})
    folder(out / "broken/pairs_few", {**pairs, "test_edge_label_index": npy([end[:3] for end in index["test"]], "<i8"), "test_edge_label": npy(label["test"][:3])})
    folder(out / "broken/pairs_far", {**pairs, "val_edge_label_index": npy([[4, 6], [0, 1]], "<i8")})
    folder(out / "broken/pairs_labels", {**pairs, "val_edge_label": npy([1.0])})
    folder(out / "broken/pairs_shape", {**pairs, "val_edge_label_index": npy([4, 6], "<i8")})
    for name, change in {"few": {"raw/num-edge-list": [9]}, "many": {"raw/num-edge-list": [7]}, "far": {"raw/edge": EDGES[:-1] + [(5, 6)]}, "lists": {"raw/num-edge-list": [8, 0]}, "wide": {"raw/node-feat": X[:-1] + [[1, 2]]},
                         "word": {"raw/node-feat": pack(b"1,2,3\n1,x,3\n")}, "short": {"raw/node-label": Y[:-1]}, "split": {"split/time/train": [0, 99]}, "float": {"split/time/train": [0.5]}}.items():
        write("broken/ogb_" + name, {**plain, **change})
    write("broken/ogb_none", {k: v for k, v in plain.items() if k != "raw/edge"})
    (out / "broken/ogb_cut").mkdir()
    write("broken/ogb_cut", plain)
    (out / "broken/ogb_cut/raw/node-feat.csv.gz").write_bytes(lines(X)[:-12])


def igb(out):
    """Folders of the Illinois Graph Benchmark; of the largest sets features and labels have no header."""
    pairs = npy([list(edge) for edge in EDGES], "<i8")
    half = {"train_mask": mask([0, 1, 2]), "val_mask": mask([3]), "test_mask": mask([4, 5])}
    folder(out / "igb/tiny/processed/paper", {"node_feat": npy(X), "node_label_19": npy([float(y) for y in Y], "<f4")})
    folder(out / "igb/tiny/processed/paper__cites__paper", {"edge_index": pairs})
    folder(out / "igb_tiny", {"edge_index": npy(INDEX, "<i8"), "x": npy(X), "y": npy(Y, "<i8"), **{k: npy(v, "|b1") for k, v in half.items()}})
    (out / "igb_tiny" / "graph.json").write_text('{"num_classes": 19}')
    wide = [[float(r * 1024 + c) / 4096 for c in range(1024)] for r in range(NODES)]
    folder(out / "igb/large/processed/paper__cites__paper", {"edge_index": pairs})
    folder(out / "igb/large/processed/paper", {})
    (out / "igb/large/processed/paper/node_feat.npy").write_bytes(struct.pack("<%df" % (NODES * 1024), *flat(wide)))
    (out / "igb/large/processed/paper/node_label_19.npy").write_bytes(struct.pack("<4f", *Y[:4]))
    folder(out / "igb_large", {"edge_index": npy(INDEX, "<i8"), "x": npy(wide), "y": npy(Y[:4] + [-1, -1], "<i8"), "train_mask": npy(mask([0, 1]), "|b1"), "val_mask": npy(mask([]), "|b1"),
                               "test_mask": npy(mask([2, 3]), "|b1")})
    (out / "igb_large" / "graph.json").write_text('{"num_classes": 19}')
    folder(out / "igb/typed/processed/paper", {"node_feat": npy(X[:5]), "node_label_2K": npy([2982, 1, 0, 5, 6], "<i8")})
    folder(out / "igb/typed/processed/author", {"node_feat": npy([[1], [2]])})
    folder(out / "igb/typed/processed/paper__written_by__author", {"edge_index": npy([[0, 1], [2, 0], [1, 1]], "<i8")})
    folder(out / "igb/typed/processed/paper__cites__paper", {"edge_index": npy([[0, 1], [2, 0], [1, 1]], "<i8")})
    folder(out / "igb_typed", {"written_by.edge_index": npy([[0, 2, 1], [1, 0, 1]], "<i8"), "cites.edge_index": npy([[0, 2, 1], [1, 0, 1]], "<i8"), "paper.x": npy(X[:5]), "author.x": npy([[1], [2]]),
                               "paper.y": npy([2982, 1, 0, 5, 6], "<i8"), "paper.train_mask": npy([1, 1, 1, 0, 0], "|b1"), "paper.val_mask": npy([0, 0, 0, 1, 0], "|b1"), "paper.test_mask": npy([0, 0, 0, 0, 1], "|b1")})
    (out / "igb_typed" / "graph.json").write_text(json.dumps({"num_classes": 2983, "node_types": {"author": 2, "paper": 5}, "relations": [{"name": "cites", "source": "paper", "destination": "paper"},
                                                                                                                     {"name": "written_by", "source": "paper", "destination": "author"}]}))
    folder(out / "broken/igb/processed/paper", {"node_feat": npy(X)})
    folder(out / "broken/igb_raw/processed/paper", {})
    (out / "broken/igb_raw/processed/paper/node_feat.npy").write_bytes(b"0123456789" * 1000)


def tu(out):
    """Text of the TU collection: all files, and those alone that there must be; from Windows, packed."""
    edges = [(0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3)]
    files = {"A": ["%d, %d" % (s + 1, d + 1) for s, d in edges], "graph_indicator": [1, 1, 1, 2, 2], "graph_labels": [-1, 1], "node_attributes": ["0.5, 1", "2, 0", "1, 1", "0, 0", "3, 0.25"], "node_labels": [3, 7, 3, 3, 7],
             "edge_labels": [0, 0, 1, 1, 0, 0], "edge_attributes": ["1.5", "1.5", "2", "2", "0", "0"], "graph_attributes": ["0.5", "1.5"]}
    for name, end, ending in (("tu", "\n", ""), ("tu_windows", "\r\n", ""), ("tu_packed", "\n", ".gz")):
        (out / name).mkdir()
        for key, rows in files.items():
            text_ = (("\ufeff" if end == "\r\n" else "") + "".join("%s%s" % (row, end) for row in rows)).encode()
            (out / name / ("RINGS_%s.txt%s" % (key, ending))).write_bytes(pack(text_) if ending else text_)
    (out / "tu_least").mkdir()
    for key in ("A", "graph_indicator"):
        (out / "tu_least" / ("RINGS_%s.txt" % key)).write_text("".join("%s\n" % row for row in files[key]))
    arrays = {"edge_index": npy(turned([list(e) for e in edges]), "<i8"), "graph_ptr": npy([0, 3, 5], "<i8")}
    folder(out / "rings", {**arrays, "x": npy([[0.5, 1], [2, 0], [1, 1], [0, 0], [3, 0.25]]), "y": npy([0, 1], "<i8"), "node_label": npy([0, 1, 0, 0, 1], "<i8"), "edge_label": npy([0, 0, 1, 1, 0, 0], "<i8"),
                           "edge_attr": npy([[1.5], [1.5], [2], [2], [0], [0]]), "graph_attr": npy([[0.5], [1.5]])})
    folder(out / "rings_least", {**arrays})
    (out / "rings_least" / "graph.json").write_text('{"num_nodes": 5}')


def several(out):
    """What a conversion has to keep: several splits, relations of one type of nodes, edges that are there more than once."""
    third = {"train_masks": [mask(TRAIN), mask(VALID), mask(TEST)], "val_masks": [mask(VALID), mask(TEST), mask(TRAIN)], "test_masks": [mask(TEST), mask(TRAIN), mask(VALID)]}
    graph = {"edge_index": npy(INDEX, "<i8"), "x": npy(X), "y": npy(Y, "<i8")}
    folder(out / "three_splits", {**graph, **{k: npy(v, "|b1") for k, v in third.items()}})
    folder(out / "kinds_of_edges", {**graph, "edge_type": npy([0, 1, 2, 0, 1, 2, 0, 1], "<i8")})
    (out / "kinds_of_edges" / "graph.json").write_text('{"relation_names": ["likes", "knows", "is-of"]}')


def main():
    out = pathlib.Path(sys.argv[1])
    (out / "broken").mkdir(parents=True, exist_ok=True)
    reference(out)
    arrays_by_name(out)
    tensors_by_owner(out)
    tables(out)
    matrices(out)
    raw(out)
    ogb(out)
    igb(out)
    tu(out)
    several(out)
    dgl(out, npy, folder)


if __name__ == "__main__":
    main()
