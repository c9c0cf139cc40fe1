"""npy_files.py: .npy files without NumPy, which tests do not ask for."""
import struct

LETTERS = {"<i8": "q", "<f4": "f", "|u1": "B"}


def save(path, dtype, shape, numbers):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (dtype, ", ".join(map(str, shape)))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    body = struct.pack("<%d%s" % (len(numbers), LETTERS[dtype]), *numbers)
    path.with_name(path.name + ".npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body)


def load(path, dtype):
    """All numbers, one after the other."""
    data = path.with_name(path.name + ".npy").read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return [number for number, in struct.iter_unpack("<" + LETTERS[dtype], data[start:])]
