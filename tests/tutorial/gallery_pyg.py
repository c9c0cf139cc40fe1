#!/usr/bin/env python3
"""gallery_pyg.py BUILD: what docs/gallery.md shows side by side is the same model. Each program of the page is compiled and trained, its
weights go into the class of PyTorch Geometric that stands beside it, and number of weights, their names, and scores must agree. Prints TAP, a
line a model; without torch and torch_geometric that is skipped."""
import csv
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import torch_geometric  # noqa: F401
except ImportError:
    print("ok 1 - the models of the gallery in PyTorch Geometric # SKIP no torch and torch_geometric\n1..1")
    sys.exit()

root = pathlib.Path(__file__).resolve().parent.parent.parent
page = (root / "docs/gallery.md").read_text()
TYPES = {"F32": np.float32, "I64": np.int64, "I32": np.int32, "U8": np.uint8}


def load(path):
    """The tensors of a safetensors file."""
    raw = pathlib.Path(path).read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:start])
    head.pop("__metadata__", None)
    return {key: torch.tensor(np.frombuffer(raw[start:][slice(*t["data_offsets"])], TYPES[t["dtype"]]).reshape(t["shape"])) for key, t in head.items()}


def run(*command):
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def edges(data, where):
    """[2, E] of rows by destination; graphs whose edges go both ways are kept by source, which is the same."""
    ptr, col = data[where + "rowptr"], data[where + "col"]
    return torch.stack([col.long(), torch.repeat_interleave(torch.arange(len(ptr) - 1), ptr[1:] - ptr[:-1])])


def features(data, width):
    if "node.x" in data:
        return data["node.x"]
    row, col = edges(data, "node.x.").flip(0)  # kept by the non-zeros, all of them 1
    x = torch.zeros(len(data["node.x.rowptr"]) - 1, width)
    x[row, col] = 1
    return x


def pairs(name, split):
    run(f"./{name}", "predict", "--split", split, "-o", "pairs.csv")
    with open("pairs.csv") as file:
        return [(int(row["source"]), int(row["destination"])) for row in csv.DictReader(file)]


def inputs(name, source, section):
    """What the forward of the classes may ask for, by name."""
    undirected = ["--undirected"] if "undirected = true" in section else []
    run("gnndata", "convert", source, "data.safetensors", *undirected)
    data = load("data.safetensors")
    given = {}
    if "csr.rowptr" in data:
        given["edge_index"] = edges(data, "csr.")
    if width := re.search(r"node +x +: f32\[(\d+)\]", section):
        given["x"] = features(data, int(width[1]))
    if "edge.hours" in data:
        given["hours"] = data["edge.hours"].float()
    if "graph.ptr" in data:
        ptr = data["graph.ptr"]
        given["batch"] = torch.repeat_interleave(torch.arange(len(ptr) - 1), ptr[1:] - ptr[:-1])
    if "relation.manages.rowptr" in data:
        kinds = [edges(data, "relation.manages."), edges(data, "relation.calls.")]
        kinds.append(kinds[0].flip(0))
        given["edge_index"] = torch.cat(kinds, dim=1)
        given["edge_type"] = torch.cat([torch.full((kind.size(1),), number) for number, kind in enumerate(kinds)])
    if "pairs links" in section:
        held = {end for split in ("valid", "test") for a, b in pairs(name, split) for end in ((a, b), (b, a))}
        given["edge_index"] = torch.tensor([edge for edge in given["edge_index"].T.tolist() if tuple(edge) not in held]).T
        given["pairs"] = torch.tensor(pairs(name, "all")).T
    return given


def compare(name, section, imports):
    scope = {}
    exec(imports + re.search(r"```python\n(.*?)```", section, re.S)[1], scope)
    model = scope["model"].eval()
    source = re.search(r'^data \w+ from (.*) \{$', section, re.M)[1].strip('"')
    run("gnncc", f"{name}.gnn")
    out = f"{name}.out"
    run(f"./{name}", "-q", "--out", out)
    run(f"./{name}", "predict", "--out", out, "-o", f"{name}.npy")
    saved = f"{out}/best.safetensors" if "keep " in section else f"{out}/last.safetensors"
    weights = {key.removeprefix("person."): value for key, value in load(saved).items()}
    own = model.state_dict()
    if set(own) != set(weights):
        return f"names of weights: {sorted(set(own) ^ set(weights))}"
    model.load_state_dict({key: value.reshape(own[key].shape) for key, value in weights.items()})  # PyG's attention vectors are [1, heads, out]
    said = int(re.search(r"^([\d,]+) parameters", section, re.M)[1].replace(",", ""))
    if said != (have := sum(weight.numel() for weight in model.parameters())):
        return f"{said} parameters, {have} in PyTorch Geometric"
    given = inputs(name, source, section)
    with torch.no_grad():
        theirs = model(*[given[argument] for argument in inspect.signature(model.forward).parameters])
    ours = torch.tensor(np.load(f"{name}.npy")).reshape(theirs.shape)
    if not torch.allclose(ours, theirs, rtol=1e-4, atol=1e-5 * float(theirs.abs().max())):
        return f"scores differ by {float((ours - theirs).abs().max())}"
    return ""


os.environ["PATH"] = f"{pathlib.Path(sys.argv[1]).resolve()}:{os.environ['PATH']}"
failed = 0
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "examples").symlink_to(root / "examples")
    work = pathlib.Path(folder) / "gallery"
    work.mkdir()
    os.chdir(work)
    introduction, *sections = page.split("\n## ")
    imports = re.search(r"```python\n(.*?)```", introduction, re.S)[1]
    for file, text in re.findall(r"```\w+ file=(\S+)\n(.*?)```", page, re.S):
        (work / file).write_text(text)
    shell = re.findall(r"^\$ (.*)$", page, re.M)
    run("bash", "-ec", "\n".join(line for line in shell if not re.match(r"gnncc|\./", line)))
    for number, section in enumerate(sections, 1):
        name = re.search(r"file=(\w+)\.gnn", section)[1]
        why = compare(name, section, imports)
        failed += why != ""
        print(f"{'not ok' if why else 'ok'} {number} - {name}: the same scores in PyTorch Geometric" + (f"\n# {why}" if why else ""), flush=True)
print(f"1..{len(sections)}")
sys.exit(failed > 0)
