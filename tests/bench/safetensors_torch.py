"""The tensors of a safetensors file, for the frameworks that are measured."""
import json


def load(path):
    """8 bytes length, a JSON header, raw numbers."""
    import numpy
    import torch

    kinds = {"F32": "<f4", "I32": "<i4", "I64": "<i8", "U8": "u1", "BOOL": "?"}
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    body = numpy.memmap(path, mode="r", offset=8 + length)
    return {name: torch.from_numpy(numpy.frombuffer(body[slice(*entry["data_offsets"])].tobytes(), kinds[entry["dtype"]]).reshape(entry["shape"]).copy())
            for name, entry in header.items() if name != "__metadata__" and entry["dtype"] in kinds}
