#!/usr/bin/env python3
"""compare_order.py FOLDER PREDICTIONS: a row for each edge and its reverse, by destination and source."""
import csv
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from npy_files import load

ends = load(pathlib.Path(sys.argv[1]) / "edge_index", "<i8")
edges = list(zip(ends[: len(ends) // 2], ends[len(ends) // 2 :]))
found = [(int(row[1]), int(row[0])) for row in list(csv.reader(open(sys.argv[2])))[1:]]
sys.exit(found != sorted({(d, s) for s, d in edges} | {(s, d) for s, d in edges}))
