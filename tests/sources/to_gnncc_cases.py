"""to_gnncc_cases.py SCRIPT FOLDER: graphs of PyTorch Geometric and of DGL, made into folders by the script. Versions are pinned: torch 2.2.1, torch_geometric 2.5.3 and 2.8.1, dgl 2.1.0.
Ends with 77 where one of them is not there."""
import importlib.util
import pathlib
import subprocess
import sys

try:
    import torch
    import torch_geometric
    from torch_geometric.data import Batch, Data, HeteroData
except ImportError:
    sys.exit(77)
try:
    import dgl
except Exception:  # it also fails to load where its libraries do not fit torch's
    dgl = None
sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))  # to_gnncc_sets.py lies beside it
spec = importlib.util.spec_from_file_location("to_gnncc", sys.argv[1])
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
import forms_of_graph as g

out = pathlib.Path(sys.argv[2])
print("torch", torch.__version__, "torch_geometric", torch_geometric.__version__, "dgl", dgl and dgl.__version__)
masks = {key: torch.tensor(value, dtype=torch.bool) for key, value in g.MASKS.items()}
data = Data(x=torch.tensor(g.X), y=torch.tensor(g.Y), edge_index=torch.tensor(g.INDEX), **masks)
script.to_gnncc(data, out / "pyg")
data.edge_weight = torch.tensor(g.WEIGHT)
data.name = "a name"
torch.save(data, out / "weighted.pt")
subprocess.run([sys.executable, sys.argv[1], out / "weighted.pt", out / "pyg_weighted"], check=True)
script.to_gnncc(Data(x=data.x, y=data.y, edge_index=data.edge_index, **{key: torch.stack([value, masks[g.SECOND[key]]], 1) for key, value in masks.items()}), out / "pyg_columns")
script.to_gnncc(Batch.from_data_list([Data(x=torch.ones(3, 1), y=torch.tensor([0]), edge_index=torch.tensor([[0, 1], [1, 0]])), Data(x=torch.zeros(2, 1), y=torch.tensor([1]), edge_index=torch.tensor([[1], [0]]))]), out / "pyg_batch")
# What a graph may hold beside plain arrays: an adjacency matrix, half numbers, gradients, lists of rows; and the forms in which it is saved.
from torch_geometric.transforms import ToSparseTensor
weighted = Data(x=torch.tensor(g.X), y=torch.tensor(g.Y), edge_index=torch.tensor(g.INDEX), edge_weight=torch.tensor(g.WEIGHT), **masks)
script.to_gnncc(ToSparseTensor(attr="edge_weight")(weighted.clone()), out / "pyg_adjacency")
class Held:  # as a SparseTensor of torch_sparse, which few have
    def to_torch_sparse_coo_tensor(self):
        return torch.sparse_coo_tensor(torch.tensor(g.INDEX).flip(0), torch.tensor(g.WEIGHT), (g.NODES, g.NODES))


script.to_gnncc(Data(x=data.x, y=data.y, adj_t=Held(), **masks), out / "pyg_held")
script.to_gnncc(Data(x=torch.tensor(g.X).to_sparse_csr(), y=data.y, edge_index=data.edge_index), out / "pyg_sparse")
rows = {key: mask.nonzero().flatten() for key, mask in zip(("train_idx", "valid_idx", "test_idx"), masks.values())}
script.to_gnncc(Data(x=torch.tensor(g.X).bfloat16(), y=data.y, edge_index=data.edge_index, **rows), out / "pyg_rows")
script.to_gnncc(Data(x=torch.tensor(g.X, requires_grad=True), y=data.y, edge_index=data.edge_index, **masks), out / "pyg_gradient")
two = [Data(x=torch.ones(3, 1), y=torch.tensor([0]), edge_index=torch.tensor([[0, 1], [1, 0]])), Data(x=torch.zeros(2, 1), y=torch.tensor([1]), edge_index=torch.tensor([[1], [0]]))]
saved = {"list": two}
for name, value in saved.items():
    torch.save(value, out / f"{name}.pt")
    subprocess.run([sys.executable, sys.argv[1], out / f"{name}.pt", out / f"pyg_{name}"], check=True)
for name, value in (("slices", (two[0].to_dict(), {"x": torch.tensor([0, 3])}, Data)), ("weights", {"w": torch.ones(2)}), ("nothing", None)):
    torch.save(value, out / f"{name}.pt")
    run = subprocess.run([sys.executable, sys.argv[1], out / f"{name}.pt", out / f"pyg_{name}"], capture_output=True, text=True)
    assert run.returncode == 1 and "Traceback" not in run.stderr and "is no graph" in run.stderr.splitlines()[-1], (name, run.returncode, run.stderr)
script.to_gnncc(torch_geometric.utils.to_networkx(data, node_attrs=["x", "y", "train_mask", "val_mask", "test_mask"]), out / "networkx")
script.to_gnncc(Data(x=torch.ones(3, 1)), out / "pyg_no_edges")
# What RandomLinkSplit gives: three graphs, each with the pairs of its split.
index = {"train": [[0, 1, 2, 3, 0, 0, 3, 5], [1, 2, 3, 1, 4, 3, 5, 1]], "val": [[4, 4], [0, 1]], "test": [[2, 5, 5, 0], [5, 2, 0, 5]]}
label = {"train": [1, 1, 1, 1, 0, 0, 0, 0], "val": [1, 0], "test": [1, 1, 0, 0]}
for name, train in ("pyg_links", 8), ("pyg_links_drawn", 4):
    parts = tuple(Data(x=data.x, edge_index=data.edge_index, edge_label_index=torch.tensor(index[k])[:, : train if k == "train" else None], edge_label=torch.tensor(label[k]).float()[: train if k == "train" else None]) for k in index)
    script.to_gnncc(parts if train == 8 else list(parts), out / name)
    assert "train_edge_label" not in parts[0] and "edge_label" in parts[0], "the graphs are left as they were"
# A split of OGB's links, whose numbers may be NumPy's.
torch.save({"edge": torch.tensor(index["test"]).T[:2], "edge_neg": torch.tensor(index["test"]).T[2:].numpy(), "year": torch.tensor([2001, 2002])}, out / "test.pt")
subprocess.run([sys.executable, sys.argv[1].replace(".py", "_sets.py"), out / "test.pt", out / "test.npz"], check=True)
import numpy
split = numpy.load(out / "test.npz")
assert split["edge"].tolist() == [[2, 5], [5, 2]] and split["edge_neg"].tolist() == [[5, 0], [0, 5]] and split["year"].tolist() == [2001, 2002]
from torch_geometric.transforms import RandomLinkSplit
torch.manual_seed(0)
ring = torch.arange(40)
ring = torch.stack([torch.cat([ring, (ring + 1) % 40]), torch.cat([(ring + 1) % 40, ring])])
for name, adds in ("pyg_random", True), ("pyg_random_drawn", False):
    script.to_gnncc(RandomLinkSplit(num_val=0.1, num_test=0.2, is_undirected=True, add_negative_train_samples=adds)(Data(x=torch.ones(40, 2), edge_index=ring)), out / name)
hetero = HeteroData()
hetero["author"].num_nodes = 2
hetero["paper"].x, hetero["paper"].y = torch.tensor(g.X[:3]), torch.tensor([0, 1, 1])
hetero["paper"].node_year = torch.tensor([2001, 2002, 2003])
for k, name in enumerate(("train_mask", "val_mask", "test_mask")):
    hetero["paper"][name] = torch.arange(3) == k
hetero["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 1], [1, 0, 2]])
hetero["paper", "cites", "paper"].edge_index = torch.tensor([[0, 2], [2, 1]])
script.to_gnncc(hetero, out / "pyg_typed")
script.to_gnncc(ToSparseTensor()(hetero.clone()), out / "pyg_typed_adjacency")
# Two of them, and what they are together.
both, writes, cites = HeteroData(), hetero["author", "writes", "paper"].edge_index, hetero["paper", "cites", "paper"].edge_index
both["author"].num_nodes = 4
for key, value in hetero["paper"].items():
    both["paper"][key] = torch.cat([value, value])
both["author", "writes", "paper"].edge_index = torch.cat([writes, writes + torch.tensor([[2], [3]])], 1)
both["paper", "cites", "paper"].edge_index = torch.cat([cites, cites + 3], 1)
script.to_gnncc(both, out / "pyg_typed_both")
script.to_gnncc([hetero, hetero.clone()], out / "pyg_typed_list")
ODD = {"the author": 2, "paper-2": 3}
TOPICS = {("the author", "author-writes", "paper-2"): [[0, 1, 1], [1, 0, 2]], ("paper-2", "for", "paper-2"): [[0, 2], [2, 1]], ("paper-2", "has", "the author"): [[2], [0]], ("the author", "has", "paper-2"): [[0], [2]]}
odd_paper = {"x": hetero["paper"].x, "y": hetero["paper"].y, "open access": torch.tensor([[0.5], [1], [2]]), **{name: hetero["paper"][name] for name in ("train_mask", "val_mask", "test_mask")}}
typed_split = hetero.clone()
typed_split["author", "writes", "paper"].edge_label = torch.ones(3)
for name, graphs in ("typed", [typed_split] * 3), ("two", list(parts[:2])):  # no batches, whatever there are three of
    try:
        script.to_gnncc(graphs, out / f"pyg_{name}_split")
        raise AssertionError(name)
    except ValueError as error:
        assert "RandomLinkSplit" in str(error), error
odd = HeteroData()
odd["the author"].num_nodes = 2
for key, value in odd_paper.items():
    odd["paper-2"][key] = value
for ends, edges in TOPICS.items():
    odd[ends].edge_index = torch.tensor(edges)
odd["the author", "author-writes", "paper-2"].edge_attr = torch.ones(3, 1)
script.to_gnncc(odd, out / "pyg_odd")
if dgl:
    graph = dgl.graph(tuple(torch.tensor(end) for end in g.INDEX), num_nodes=g.NODES)
    graph.ndata.update(feat=data.x, label=data.y, **masks)
    graph.edata["weight"] = data.edge_weight
    dgl.save_graphs(str(out / "graph.bin"), [graph])
    subprocess.run([sys.executable, sys.argv[1], out / "graph.bin", out / "dgl_weighted"], check=True)
    typed = dgl.heterograph({("author", "writes", "paper"): (torch.tensor([0, 1, 1]), torch.tensor([1, 0, 2])), ("paper", "cites", "paper"): (torch.tensor([0, 2]), torch.tensor([2, 1]))},
                            num_nodes_dict={"author": 2, "paper": 3})
    typed.nodes["paper"].data.update(x=hetero["paper"].x, label=hetero["paper"].y, node_year=hetero["paper"].node_year, **{name: hetero["paper"][name] for name in ("train_mask", "val_mask", "test_mask")})
    script.to_gnncc(typed, out / "dgl_typed")
    script.to_gnncc([typed, typed], out / "dgl_typed_list")
    typed = dgl.heterograph({ends: tuple(torch.tensor(end) for end in edges) for ends, edges in TOPICS.items()}, num_nodes_dict=ODD)
    typed.nodes["paper-2"].data.update(odd_paper)
    script.to_gnncc(typed, out / "dgl_odd")
    both = []
    for graph in two:
        both.append(dgl.graph(tuple(graph.edge_index), num_nodes=graph.num_nodes))
        both[-1].ndata["feat"] = graph.x
    dgl.save_graphs(str(out / "both.bin"), both, {"glabel": torch.tensor([0, 1])})
    subprocess.run([sys.executable, sys.argv[1], out / "both.bin", out / "dgl_batch"], check=True)
