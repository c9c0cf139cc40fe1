#!/usr/bin/env python3
"""coming_pyg.py BUILD: the lines that docs/coming_from_pyg.md has side by side. Every right side compiles. Where there are torch and torch_geometric both
sides run: layers and values with the same weights give the same numbers, what is done to data gives the same data, what is said of training the
same weights after some epochs. Prints TAP, a line a row."""
import ast
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent.parent
page = (root / "docs/coming_from_pyg.md").read_text()
NODES, WIDTH, CLASSES, EPOCHS = 40, 12, 3, 7
FIELDS = "  node x : f32[12]\n  node z : f32[12]\n  node y : class[3]\n  edge edge_weight : f32\n  edge edge_attr : f32[3]\n"
PAIR = "x |> GCN(8) as conv1 |> relu |> GCN(y.classes) as conv2"
TRAIN = {"loss": "cross_entropy(out, y)", "optimizer": "adam(lr = 0.01)", "epochs": str(EPOCHS), "metric": "accuracy"}


def rows(title):
    section = re.search(rf"^### {title}\n(.*?)(?=^##)", page, re.M | re.S)[1]
    return [tuple(side.replace("\\|", "|") for side in row) for row in re.findall(r"^\| `(.*?)` \| `(.*?)` \|$", section, re.M)]


def program(returns, data="", train=None):
    said = dict(TRAIN, **(train or {}))
    block = "".join(f"  {key} = {value}\n" for key, value in said.items()) if train is not None else ""
    return f"data d from npy(\"data\") {{\n{FIELDS}{data}}}\nmodel m on d {{ return {returns} }}\n" + (f"train m {{\n{block}}}\n" if block else "")


def is_module(left):
    tree = ast.parse(left, mode="eval").body
    return isinstance(tree, ast.Call) and (isinstance(tree.func, ast.Call) or re.match(r"(torch\.nn\.)?[A-Z]\w*\(.*\)$", left) is not None) and not left.startswith(("F.", "Jumping"))


def value(left, right):
    """What a model returns for the right side."""
    is_expression = re.search(r"\b(x|in_degree|edge_weight\))", right) is not None
    return (right if is_expression else f"x |> {right}") + (" as it" if is_module(left) else "")


def setting(right):
    """Of the train block, perhaps with a group behind."""
    first, _, group = right.partition("; ")
    key, text = first.split(" = ", 1)
    return {key: text + ("\n  " + group if group else "")}


def all_rows():
    for left, right in rows("Layers") + rows("Values"):
        yield "value", left, right, program(value(left, right))
    for left, right in rows("Data"):
        yield "data", left, right, program("concat(x, reshape(in_degree, 1))", f"  {right}\n")
    for left, right in rows("Training"):
        yield "train", left, right, program(PAIR, train=setting(right))


def run(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout}")
    return done.stdout


# ---- both sides ----
try:
    import numpy as np
    import torch
    import torch.nn.functional as F  # noqa: F401
    import torch_geometric
    from torch.nn import BatchNorm1d, PReLU  # noqa: F401
    from torch.nn.utils import clip_grad_norm_  # noqa: F401
    from torch.optim import Adam  # noqa: F401
    from torch.optim.lr_scheduler import CosineAnnealingLR, StepLR  # noqa: F401
    from torch_geometric.transforms import AddRemainingSelfLoops, NormalizeFeatures, RemoveDuplicatedEdges, RemoveSelfLoops, ToUndirected  # noqa: F401
    globals().update({name: getattr(torch_geometric.nn, name) for name in dir(torch_geometric.nn) if name[0].isupper() or name.startswith("global_")})
    from torch_geometric.utils import degree, scatter, softmax  # noqa: F401
except ImportError:
    torch = None


def make_data():
    """Edges that go both ways, by destination and source; features of any sign."""
    random = np.random.default_rng(0)
    joined = np.triu(random.random((NODES, NODES)) < 0.12, 1)
    joined |= joined.T
    joined[np.arange(NODES), (np.arange(NODES) + 1) % NODES] = joined[(np.arange(NODES) + 1) % NODES, np.arange(NODES)] = True
    destination, source = np.nonzero(joined)
    mask = np.arange(NODES) % 4
    arrays = {"edge_index": np.stack([source, destination]), "x": random.standard_normal((NODES, WIDTH), np.float32), "z": random.standard_normal((NODES, WIDTH), np.float32),
              "y": random.integers(0, CLASSES, NODES), "edge_weight": random.random(len(source), np.float32) + 0.5, "edge_attr": random.standard_normal((len(source), 3), np.float32),
              "train_mask": mask < 2, "val_mask": mask == 2, "test_mask": mask == 3}
    pathlib.Path("data").mkdir()
    for name, array in arrays.items():
        np.save(f"data/{name}.npy", array)
    return {name: torch.tensor(array) for name, array in arrays.items()}


def write_weights(path, tensors):
    head, body = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.detach().contiguous().float().numpy().tobytes()
        head[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(head).encode()
    pathlib.Path(path).write_bytes(len(text).to_bytes(8, "little") + text + body)


def read_weights(path):
    raw = pathlib.Path(path).read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:start])
    return {key: torch.tensor(np.frombuffer(raw[start:][slice(*t["data_offsets"])], np.float32).reshape(t["shape"])) for key, t in head.items() if key != "__metadata__" and t["dtype"] == "F32"}


def differ(ours, theirs, most=1e-4):
    if ours.numel() != theirs.numel():
        return f"{tuple(ours.shape)} here, {tuple(theirs.shape)} there"
    ours, theirs = ours.reshape(-1).float(), theirs.reshape(-1).float()
    return "" if torch.allclose(ours, theirs, rtol=most, atol=most * max(float(theirs.abs().max()), 1e-3)) else f"they differ by {float((ours - theirs).abs().max())}"


def scope(given):
    names = dict(globals(), **given, n=WIDTH, batch=torch.zeros(NODES, dtype=torch.long), mask=given["train_mask"])
    names["deg"] = torch.bincount(degree(given["edge_index"][1], NODES).long())
    names["self"] = type("Self", (), {"training": False})
    return names


def called(left, names):
    """A module, and what it is called with."""
    tree = ast.parse(left, mode="eval").body
    if isinstance(tree.func, ast.Call):
        return eval(ast.unparse(tree.func), names), [eval(ast.unparse(arg), names) for arg in tree.args]
    module = eval(left, names)
    wanted = inspect.signature(module.forward).parameters
    known = {"x": names["x"], "input": names["x"], "edge_index": names["edge_index"], "edge_attr": names["edge_attr"]}
    return module, [known[name] for name, p in wanted.items() if name in known and (name != "edge_attr" or "edge_dim" in left) and p.kind != p.VAR_KEYWORD]


def compare_value(left, right, given):
    names = scope(given)
    options = []
    with torch.no_grad():
        if is_module(left):
            torch.manual_seed(1)
            module, arguments = called(left, names)
            module.eval()
            own = {key: t for key, t in module.state_dict().items() if t.dtype == torch.float32}
            for key, tensor in own.items():
                if "avg_deg" in key:  # PNA's, of the data
                    continue
                tensor.copy_(torch.rand_like(tensor) + 0.1 if tensor.dim() < 2 else torch.randn_like(tensor) * 0.3)
            theirs = module(*arguments)
            if own:
                write_weights("w.safetensors", {f"it.{key}": t for key, t in own.items()})
                options = ["--weights", "w.safetensors"]
        else:
            theirs = eval(left, names)
    run("./p", "predict", "-q", *options, "-o", "scores.npy")
    return differ(torch.tensor(np.load("scores.npy")), theirs)


def compare_data(left, right, given):
    data = torch_geometric.data.Data(x=given["x"], edge_index=given["edge_index"])
    if "Duplicated" in left or "Undirected" in left:  # something to drop, something to add
        data.edge_index = torch.cat([data.edge_index[:, 20:], data.edge_index[:, 22:33]], dim=1)
    if "Loops" in left:  # some nodes have one, instead of another edge
        data.edge_index = torch.cat([torch.arange(5).repeat(2, 1), data.edge_index[:, 5:]], dim=1)
    x = data.x.abs() if "Normalize" in left else data.x
    np.save("data/x.npy", x.numpy())
    np.save("data/edge_index.npy", data.edge_index.numpy())
    for name in ("edge_weight", "edge_attr"):
        np.save(f"data/{name}.npy", given[name].numpy()[: data.edge_index.size(1)])
    data.x = x
    changed = eval(left)(data)
    try:
        run("./p", "predict", "-q", "-o", "scores.npy")
    finally:
        for name in ("x", "edge_index", "edge_weight", "edge_attr"):
            np.save(f"data/{name}.npy", given[name].numpy())
    return differ(torch.tensor(np.load("scores.npy")), torch.cat([changed.x, degree(changed.edge_index[1], NODES)[:, None]], dim=1))


def compare_train(left, right, given):
    names = scope(given)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = GCNConv(WIDTH, 8), GCNConv(8, CLASSES)

        def forward(self, x, edge_index):
            return self.conv2(self.conv1(x, edge_index).relu(), edge_index)

    torch.manual_seed(2)
    names["model"] = model = Net()
    write_weights("first.safetensors", model.state_dict())
    names["optimizer"] = torch.optim.Adam(model.parameters(), lr=0.01)
    names["scheduler"] = None
    kind = left.split("(")[0].split(" = ")[0]
    if kind in ("optimizer", "scheduler"):
        exec(left, names)
    for _ in eval(re.search(r"range\(\d+\)", left)[0]) if kind.startswith("for ") else range(EPOCHS):
        names["optimizer"].zero_grad()
        names["out"] = model(given["x"], given["edge_index"])
        exec(left if kind == "loss" else "loss = F.cross_entropy(out[mask], y[mask])", names)
        names["loss"].backward()
        if kind == "clip_grad_norm_":
            exec(left, names)
        names["optimizer"].step()
        if names["scheduler"]:
            names["scheduler"].step()
    run("./p", "-q", "--weights", "first.safetensors", "--out", "run")
    ours = read_weights("run/last.safetensors")
    for key, weight in model.state_dict().items():
        if why := differ(ours[key], weight, 2e-4):
            return f"{key}: {why}"
    if right == "metric = accuracy":
        names["pred"] = model(given["x"], given["edge_index"]).argmax(dim=-1)
        theirs = float(eval(left, names))
        if f"accuracy {theirs:.4f}" not in run("./p", "eval", "--weights", "run/last.safetensors", "--split", "train"):
            return f"train accuracy is {theirs:.4f}"
    return ""


os.environ["PATH"] = f"{pathlib.Path(sys.argv[1]).resolve()}:{os.environ['PATH']}"
os.environ["CFLAGS"] = "-O0"
number = failed = 0
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = folder
    given = make_data() if torch else None
    for kind, left, right, text in all_rows():
        number += 1
        why = ""
        ast.parse(left.replace("...", "pass"))
        try:
            if torch:
                pathlib.Path("p.gnn").write_text(text)
                run("gnncc", "-w", "-q", "p.gnn", "-o", "p")
                why = {"value": compare_value, "data": compare_data, "train": compare_train}[kind](left, right, given)
            else:
                pathlib.Path("p.gnn").write_text(text.replace(' from npy("data")', "").replace("  node x", "  nodes = 40\n  edges = 160\n  node x", 1))
                run("gnncc", "-w", "-q", "--check", "p.gnn")
        except Exception as error:  # the other rows are run all the same
            why = f"{type(error).__name__}: {error}"
        failed += why != ""
        print(f"{'not ok' if why else 'ok'} {number} - {right}" + ("" if torch else ": compiles") + ("\n# " + why.replace("\n", "\n# ") if why else ""), flush=True)
    number += 1
    print(f"{'ok' if number > 60 else 'not ok'} {number} - there are sixty lines and more")
if not torch:
    number += 1
    print(f"ok {number} - both sides give the same numbers # SKIP no torch and torch_geometric")
print(f"1..{number}")
sys.exit(failed > 0 or number <= 60)
