#!/usr/bin/env python3
"""Makes a small graph whose edges have classes and weights.  make_links.py FOLDER"""
import pathlib
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from npy_files import save

draw = random.Random(5)
NODES, EDGES = 60, 400
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
edges = draw.sample([(a, b) for a in range(NODES) for b in range(NODES) if a != b], EDGES)
x = [[draw.gauss(0, 1) for _ in range(4)] for _ in range(NODES)]
split = [draw.randrange(4) for _ in edges]
save(folder / "edge_index", "<i8", (2, EDGES), [a for a, _ in edges] + [b for _, b in edges])
save(folder / "x", "<f4", (NODES, 4), [v for row in x for v in row])
save(folder / "edge_y", "<i8", (EDGES,), [int(x[a][0] * x[b][0] > 0) + int(x[a][1] > 0) for a, b in edges])
save(folder / "edge_cost", "<f4", (EDGES,), [x[a][0] - x[b][1] for a, b in edges])
save(folder / "train_mask", "|u1", (EDGES,), [int(s < 2) for s in split])
save(folder / "val_mask", "|u1", (EDGES,), [int(s == 2) for s in split])
save(folder / "test_mask", "|u1", (EDGES,), [int(s == 3) for s in split])
