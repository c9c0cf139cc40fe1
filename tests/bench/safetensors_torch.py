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


def features(path, data):
    """node.x, dense, as the frameworks' examples have them, however they are stored."""
    import torch

    if "node.x" in data:
        return data["node.x"].float()
    rows, columns = data["node.x.rowptr"].long(), data["node.x.col"].long()
    values = data["node.x.value"].float() if "node.x.value" in data else torch.ones(len(columns))
    return torch.sparse_csr_tensor(rows, columns, values, (len(rows) - 1, int(header(path)[0]["__metadata__"]["gnncc.width.x"]))).to_dense()
