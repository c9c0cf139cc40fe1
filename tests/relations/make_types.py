#!/usr/bin/env python3
"""Makes two small relational data sets.  make_types.py FOLDER: FOLDER/types has papers and authors, what they write
and cite; FOLDER/kinds one type of nodes and three kinds of edges, a node without any."""
import json
import pathlib
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from npy_files import save

draw = random.Random(3)


def features(path, rows, width):
    save(path, "<f4", (rows, width), [draw.gauss(0, 1) for _ in range(rows * width)])


def edges(path, sources, destinations, count):
    pairs = [(draw.randrange(sources), draw.randrange(destinations)) for _ in range(count)]
    save(path, "<i8", (2, count), [s for s, _ in pairs] + [d for _, d in pairs])


def labels(folder, prefix, rows, classes):
    save(folder / (prefix + "y"), "<i8", (rows,), [draw.randrange(classes) for _ in range(rows)])
    save(folder / (prefix + "train_mask"), "|u1", (rows,), [r % 2 for r in range(rows)])
    save(folder / (prefix + "val_mask"), "|u1", (rows,), [(r + 1) % 2 for r in range(rows)])


folder = pathlib.Path(sys.argv[1]) / "types"
folder.mkdir(parents=True, exist_ok=True)
authors, papers = 70, 30
features(folder / "paper.x", papers, 6)
features(folder / "author.x", authors, 5)
labels(folder, "paper.", papers, 3)
edges(folder / "writes.edge_index", authors, papers, 150)
edges(folder / "cites.edge_index", papers, papers, 80)
(folder / "graph.json").write_text(json.dumps({
    "node_types": {"author": authors, "paper": papers},
    "relations": [{"name": "writes", "source": "author", "destination": "paper"},
                  {"name": "cites", "source": "paper", "destination": "paper"}]}))

folder = pathlib.Path(sys.argv[1]) / "kinds"
folder.mkdir(parents=True, exist_ok=True)
nodes, count = 40, 160
features(folder / "x", nodes, 6)
labels(folder, "", nodes, 3)
edges(folder / "edge_index", nodes - 1, nodes - 1, count)
save(folder / "edge_type", "<i8", (count,), [draw.choice([0, 0, 0, 2]) for _ in range(count)])
(folder / "graph.json").write_text(json.dumps({"relation_names": ["Depends on", "2nd (reverse)", "breaks"]}))
