"""forms.py FOLDER: a graph with fields of some megabytes, as packed.npz, deflated, loose.npz, where numbers begin at odd places, and fortran.npz, columns one after another; a set of graphs as the folder many; as the folder sides a graph with numbers of 64 bits on nodes and edges; without NumPy."""
import array
import pathlib
import random
import sys
import zipfile

NODES, EDGES, WIDTH, EDGE_WIDTH = 12000, 120000, 128, 8


def npy(code, kind, shape, numbers, fortran=False):
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (code, fortran, shape)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + array.array(kind, numbers).tobytes()


def sets(folder, draw):
    """Of which a file holds edges alone, which are sorted and gone before the first batch."""
    graphs, nodes, edges = 1500, 30, 240
    ends = [(g * nodes + draw.randrange(nodes), g * nodes + draw.randrange(nodes)) for g in range(graphs) for _ in range(edges)]
    folder.mkdir(exist_ok=True)
    for name, data in {"edge_index": npy("<i8", "q", (2, len(ends)), [e[0] for e in ends] + [e[1] for e in ends]), "graph_ptr": npy("<i8", "q", (graphs + 1,), range(0, graphs * nodes + 1, nodes)),
                       "x": npy("<f4", "f", (graphs * nodes, 16), (draw.random() for _ in range(graphs * nodes * 16))), "y": npy("<i8", "q", (graphs,), (g % 2 for g in range(graphs)))}.items():
        (folder / (name + ".npy")).write_bytes(data)


def sides(folder, draw):
    nodes, edges, width = 30000, 150000, 32
    folder.mkdir(exist_ok=True)
    for name, data in {"edge_index": npy("<i4", "i", (2, edges), (draw.randrange(nodes) for _ in range(2 * edges))), "edge_w": npy("<f8", "d", (edges, 8), (k % 251 for k in range(8 * edges))),
                       "x": npy("<f8", "d", (nodes, width), (draw.random() for _ in range(nodes * width))), "y": npy("<i8", "q", (nodes,), (v % 5 for v in range(nodes)))}.items():
        (folder / (name + ".npy")).write_bytes(data)


def main():
    folder, draw = pathlib.Path(sys.argv[1]), random.Random(3)
    wide = array.array("f", (draw.random() for _ in range(NODES * WIDTH)))
    arrays = {
        "edge.src": npy("<i8", "q", (EDGES,), (draw.randrange(NODES) for _ in range(EDGES))),
        "edge.dst": npy("<i8", "q", (EDGES,), (draw.randrange(NODES) for _ in range(EDGES))),
        "node.a": npy("<f4", "f", (NODES, 4), wide[:4 * NODES]),
        "node.y": npy("<i8", "q", (NODES,), (v % 5 for v in range(NODES))),
        "split.train": npy("<i8", "q", (NODES // 2,), range(NODES // 2)),
        "split.valid": npy("<i8", "q", (NODES // 4,), range(NODES // 2, 3 * NODES // 4)),
    }
    few = npy("<f4", "f", (NODES, 2 * WIDTH), ((k % 32 == 0) * v for k, v in enumerate((*wide, *wide))))
    forms = {
        "packed": (zipfile.ZIP_DEFLATED, {"node.x": few}),
        "loose": (zipfile.ZIP_STORED, {"node.x": few}),
        "fortran": (zipfile.ZIP_STORED, {"node.x": npy("<f8", "d", (NODES, WIDTH // 2), wide[::2], True), "edge.w": npy("<f4", "f", (EDGES, EDGE_WIDTH), wide[:EDGES * EDGE_WIDTH])}),
    }
    for name, (method, more) in forms.items():
        with zipfile.ZipFile(folder / (name + ".npz"), "w", method) as out:
            for key, data in {**more, **arrays}.items():
                member = zipfile.ZipInfo(key + ".npy")
                member.compress_type, member.extra = method, b"\xfe\xca\1\0\0" * (name == "loose")  # a byte more before the array
                out.writestr(member, data)
    sets(folder / "many", draw)
    sides(folder / "sides", draw)


main()
