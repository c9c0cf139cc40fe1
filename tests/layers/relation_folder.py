#!/usr/bin/env python3
"""relation_folder.py RELATIONS.json GRAPH FOLDER [TIMES]: a graph with relations as a folder of arrays; every edge so many times."""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from npy_files import save

NAMES = ["cites", "likes", "answers", "names"]
graph = json.load(open(sys.argv[1]))[sys.argv[2]]
folder, nodes, edges = pathlib.Path(sys.argv[3]), graph["nodes"], graph["edges"] * int((sys.argv[4:] or [1])[0])
folder.mkdir(parents=True, exist_ok=True)
save(folder / "edge_index", "<i8", (2, len(edges)), [e[0] for e in edges] + [e[1] for e in edges])
save(folder / "edge_type", "<i8", (len(edges),), [e[2] for e in edges])
save(folder / "id", "<f4", (nodes, 12), [float(v == c) for v in range(nodes) for c in range(12)])
save(folder / "y", "<i8", (nodes,), graph["y"])
save(folder / "train_mask", "|u1", (nodes,), [1] * nodes)
(folder / "graph.json").write_text(json.dumps({"num_nodes": nodes, "num_classes": 3, "relation_names": NAMES}))
