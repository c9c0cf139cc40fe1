#!/usr/bin/env python3
"""compare_classes.py FOLDER PREDICTIONS: the classes that a model which knows all of them by heart predicts are those of the data's edges."""
import csv
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from npy_files import load

folder = pathlib.Path(sys.argv[1])
ends, classes, mask = load(folder / "edge_index", "<i8"), load(folder / "edge_y", "<i8"), load(folder / "train_mask", "|u1")
wanted = {(ends[e], ends[len(classes) + e]): c for e, c in enumerate(classes) if mask[e]}
found = {(int(s), int(d)): int(c) for s, d, c in list(csv.reader(open(sys.argv[2])))[1:]}
sys.exit(wanted != found)
