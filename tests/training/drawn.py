#!/usr/bin/env python3
"""drawn.py ring FILE: writes a ring of one-way edges whose labels are 1.  drawn.py gradients FILE: says of every array
which share is 0, rounded to quarters, and the number that the others are."""
import json
import struct
import sys

NODES = 400


def write(path):
    arrays = {"edge.src": ("I64", "q", range(NODES)), "edge.dst": ("I64", "q", [(v + 1) % NODES for v in range(NODES)]),
              "split.train": ("I64", "q", range(NODES)), "node.y": ("F32", "f", [1] * NODES)}
    header, body = {"__metadata__": {"gnncc.nodes": str(NODES)}}, b""
    for name, (kind, letter, numbers) in arrays.items():
        begin = len(body)
        body += struct.pack("<%d%s" % (NODES, letter), *numbers)
        header[name] = {"dtype": kind, "shape": [NODES], "data_offsets": [begin, len(body)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    for name, array in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in array["data_offsets"])
            yield name, struct.unpack("<%df" % ((end - begin) // 4), data[begin:end])


if sys.argv[1] == "ring":
    write(sys.argv[2])
else:
    for name, numbers in read(sys.argv[2]):
        others = {"%.4g" % x for x in numbers if x != 0}
        print("%s: about %g of %d are 0, else %s" % (name, round(4 * numbers.count(0) / len(numbers)) / 4, len(numbers), " or ".join(sorted(others))))
