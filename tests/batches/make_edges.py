#!/usr/bin/env python3
"""Makes a set of small graphs whose edges have classes and weights.  make_edges.py FOLDER: graph 3 is one node, graph 5 has no edges, graph 7 one
edge, from a node to itself, and no edge of graph 9 is trained on."""
import pathlib
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from npy_files import save

draw = random.Random(11)
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
edges, pointers, split = [], [0], []
for g in range(20):
    first, nodes = pointers[-1], 1 if g == 3 else draw.randrange(3, 9)
    every = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    chosen = {3: [], 5: [], 7: [(1, 1)]}.get(g, draw.sample(every, draw.randrange(2, 2 * nodes)) if every else [])
    edges += [(first + a, first + b) for a, b in chosen]
    split += [2 + draw.randrange(2) if g == 9 else draw.randrange(4) for _ in chosen]
    pointers.append(first + nodes)
order = list(range(len(edges)))
draw.shuffle(order)
edges, split = [edges[i] for i in order], [split[i] for i in order]
x = [[draw.gauss(0, 1) for _ in range(4)] for _ in range(pointers[-1])]
E = len(edges)
save(folder / "edge_index", "<i8", (2, E), [a for a, _ in edges] + [b for _, b in edges])
save(folder / "graph_ptr", "<i8", (len(pointers),), pointers)
save(folder / "x", "<f4", (len(x), 4), [v for row in x for v in row])
save(folder / "edge_y", "<i8", (E,), [int(x[a][0] * x[b][0] > 0) + int(x[a][1] > 0) for a, b in edges])
save(folder / "edge_cost", "<f4", (E,), [x[a][0] - x[b][1] for a, b in edges])
save(folder / "train_mask", "|u1", (E,), [int(s < 2) for s in split])
save(folder / "val_mask", "|u1", (E,), [int(s == 2) for s in split])
save(folder / "test_mask", "|u1", (E,), [int(s == 3) for s in split])
