"""The tensors of a safetensors file, for the frameworks that are measured."""
import json


def header(path):
    """8 bytes length, a JSON header; and where the numbers begin."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return json.loads(file.read(length)), 8 + length


def load(path):
    import numpy
    import torch

    kinds = {"F32": "<f4", "I32": "<i4", "I64": "<i8", "U8": "u1", "BOOL": "?"}
    tensors, offset = header(path)
    body = numpy.memmap(path, mode="r", offset=offset)
    return {name: torch.from_numpy(numpy.frombuffer(body[slice(*entry["data_offsets"])].tobytes(), kinds[entry["dtype"]]).reshape(entry["shape"]).copy())
            for name, entry in tensors.items() if name != "__metadata__" and entry["dtype"] in kinds}


def edges(data):
    """[2, E]: sources and destinations."""
    import torch

    if "edge.src" in data:
        return torch.stack([data["edge.src"], data["edge.dst"]]).long()
    counts = data["csr.rowptr"].diff()
    return torch.stack([data["csr.col"].long(), torch.repeat_interleave(torch.arange(len(counts)), counts)])


def rows(data, split):
    """Which nodes are of it, from a list of them or a mask."""
    of, nodes = data["split." + split], len(data["node.y"])
    return of.nonzero().flatten() if str(of.dtype) in ("torch.bool", "torch.uint8") and len(of) == nodes else of.long()


def features(path, data):
    """node.x, dense, as the frameworks' examples have them, however they are stored."""
    import torch

    if "node.x" in data:
        return data["node.x"].float()
    ptr, columns = data["node.x.rowptr"].long(), data["node.x.col"].long()
    values = data["node.x.value"].float() if "node.x.value" in data else torch.ones(len(columns))
    return torch.sparse_csr_tensor(ptr, columns, values, (len(ptr) - 1, int(header(path)[0]["__metadata__"]["gnncc.width.x"]))).to_dense()
