#!/usr/bin/env python3
"""Makes data/: 24 small graphs of two classes, rings and stars, in four folds; and the same as text of the TU
collection (of which data/ has no copy), with other numbers for labels.  make_graphs.py FOLDER [NODES]: of at
most so many nodes, 9 in data/."""
import pathlib
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from npy_files import save

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
draw = random.Random(7)
most = int(sys.argv[2]) if len(sys.argv) > 2 else 9
edges, pointers, labels, kinds, features = [], [0], [], [], []
for g in range(24):
    first, nodes, is_ring = pointers[-1], draw.randrange(3, most + 1), g % 3 != 0
    for v in range(1, nodes):
        other = v - 1 if is_ring else 0
        edges += [(first + other, first + v), (first + v, first + other)]
    if is_ring:
        edges += [(first, first + nodes - 1), (first + nodes - 1, first)]
    pointers.append(first + nodes)
    labels.append(-1 if g == 20 else int(is_ring))
    for v in range(nodes):
        kinds.append(draw.randrange(4))
        features += [round(draw.gauss(c == kinds[-1], 1), 3) for c in range(5)]
edges.sort()
save(folder / "edge_index", "<i8", [2, len(edges)], [s for _, s in edges] + [d for d, _ in edges])
save(folder / "graph_ptr", "<i8", [25], pointers)
save(folder / "x", "<f4", [len(kinds), 5], features)
save(folder / "y", "<i8", [24], labels)
save(folder / "kind", "<i8", [len(kinds)], kinds)
save(folder / "w", "<f4", [len(edges)], [round(draw.uniform(0.5, 1.5), 3) for _ in edges])
save(folder / "fold", "|u1", [24], [255 if g % 11 == 7 else g % 4 for g in range(24)])


def text(name, lines):
    (folder / ("RINGS_" + name + ".txt")).write_text("".join("%s\n" % line for line in lines))


text("A", ["%d, %d" % (d + 1, s + 1) for s, d in edges])
text("graph_indicator", [g + 1 for g in range(24) for _ in range(pointers[g], pointers[g + 1])])
text("graph_labels", [1 if g % 3 else -1 for g in range(24)])
text("node_labels", [kind + 3 for kind in kinds])
