#!/usr/bin/env python3
"""Writes tests/data/pyg: small graphs, two-layer models with PyG's initial weights, their scores and training losses.

usage: export_pyg.py OUTPUT_FOLDER          needs torch, torch_geometric, numpy, safetensors; README.md is written too
"""
import json
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric
from safetensors.torch import save_file
from torch_geometric.datasets import KarateClub
from torch_geometric.nn import MLP, GCNConv, GINConv, GraphConv, SAGEConv

HIDDEN, EPOCHS, LR = 8, 20, 0.01


def gin(n_in, n_out, train_eps=False):
    """eps starts at a value that shows when it is forgotten; PyG's own default is 0."""
    conv = GINConv(MLP([n_in, n_out, n_out], norm=None), train_eps=train_eps)
    return conv if not train_eps else GINConv(conv.nn, eps=0.25, train_eps=True)


LAYERS = {
    "gcn": GCNConv,
    "sage": SAGEConv,
    "graphconv": GraphConv,
    "gin": gin,
    "gin_eps": lambda n_in, n_out: gin(n_in, n_out, train_eps=True),
}


class Net(torch.nn.Module):
    def __init__(self, layer, n_in, n_out):
        super().__init__()
        self.conv1 = layer(n_in, HIDDEN)
        self.conv2 = layer(HIDDEN, n_out)

    def forward(self, x, edge_index):
        return self.conv2(self.conv1(x, edge_index).relu(), edge_index)


def sorted_edges(edges):
    """By destination, then source, without loops or duplicates."""
    edges = torch.unique(edges.flip(0), dim=1).flip(0)
    return edges[:, edges[0] != edges[1]]


def karate(generator):
    """Zachary's club as PyG ships it: one training node per community; random features instead of the identity."""
    graph = KarateClub()[0]
    return dict(edges=sorted_edges(graph.edge_index), x=torch.rand(34, 5, generator=generator), y=graph.y,
                train=graph.train_mask.nonzero().flatten(), undirected=True, classes=4,
                source="W. W. Zachary, An Information Flow Model for Conflict and Fission in Small Groups, 1977")


def directed(generator):
    """24 nodes, one-way edges; nodes 20 to 23 have none, and some of the others no in-edge."""
    ends = torch.randint(0, 20, (2, 48), generator=generator)
    x = torch.rand(24, 6, generator=generator) * 2 - 1
    x[torch.rand(24, 6, generator=generator) < 0.5] = 0
    return dict(edges=sorted_edges(ends), x=x, y=torch.randint(0, 3, (24,), generator=generator),
                train=torch.tensor([0, 3, 4, 7, 9, 12, 18, 21]), undirected=False, classes=3, source="random")


def save_graph(folder, name, graph):
    n, n_train = graph["x"].shape[0], graph["train"].numel()
    rest = np.setdiff1d(np.arange(n), graph["train"].numpy())
    parts = dict(train=graph["train"].numpy(), val=rest[:8], test=rest[8:])
    arrays = dict(edge_index=graph["edges"].numpy(), x=graph["x"].numpy(), y=graph["y"].numpy())
    for part, nodes in parts.items():
        arrays[part + "_mask"] = np.isin(np.arange(n), nodes).astype(np.uint8)
    for key, value in arrays.items():
        np.save(os.path.join(folder, key + ".npy"), value)
    facts = dict(name=name, num_nodes=n, num_edges=graph["edges"].shape[1], num_features=graph["x"].shape[1],
                 num_classes=graph["classes"], undirected=graph["undirected"], task="node classification",
                 metric="accuracy", split="%d train, 8 val, %d test" % (n_train, n - n_train - 8),
                 source=graph["source"])
    with open(os.path.join(folder, "graph.json"), "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


def decay_first(model):
    """As Kipf and Welling: weight decay for the first layer only."""
    return torch.optim.Adam([dict(params=model.conv1.parameters(), weight_decay=0.05),
                             dict(params=model.conv2.parameters(), weight_decay=0)], lr=LR)


# Further optimisers, on gcn alone.
OPTIMIZERS = {
    "decay_first": decay_first,
    "adamw": lambda model: torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=0.1),
    "sgd": lambda model: torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.01),
    "nesterov": lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True),
}


def adam(model):
    return torch.optim.Adam(model.parameters(), lr=LR)


def train(model, graph, optimizer):
    """The loss of every epoch before its update; nothing is random."""
    losses = []
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        out = model(graph["x"].to(next(model.parameters()).dtype), graph["edges"])
        loss = F.cross_entropy(out[graph["train"]], graph["y"][graph["train"]])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def save_losses(path, model, start, graph, make_optimizer):
    """Trains from the same start twice: in float64, then in float32."""
    columns = []
    for dtype in torch.float64, torch.float32:
        model.to(dtype).load_state_dict(start)
        columns.append(train(model, graph, make_optimizer(model)))
    with open(path, "w") as file:
        for epoch, (double, single) in enumerate(zip(*columns)):
            file.write("%d %.17g %.9g\n" % (epoch + 1, double, single))


def export(folder, name, layer, graph):
    torch.manual_seed(1)
    model = Net(layer, graph["x"].shape[1], graph["classes"])
    for key, value in model.named_parameters():
        if key.endswith("bias"):
            torch.nn.init.uniform_(value, -0.1, 0.1)  # zeros would hide a bias that is not read
    path = os.path.join(folder, name)
    start = {key: value.clone() for key, value in model.state_dict().items()}
    save_file(start, path + ".safetensors")
    os.chmod(path + ".safetensors", 0o644)
    model.double().eval()
    with torch.no_grad():
        np.save(path + ".logits.npy", model(graph["x"].double(), graph["edges"]).numpy())
    save_losses(path + ".losses", model, start, graph, adam)
    if name == "gcn":
        for optimizer, make_optimizer in OPTIMIZERS.items():
            save_losses("%s.%s.losses" % (path, optimizer), model, start, graph, make_optimizer)


README = """# Reference values from PyTorch Geometric

Made with torch_geometric %s, torch %s, numpy %s by

    build/venv/torch-2.15/bin/python tests/reference/export_pyg.py tests/data/pyg

(`tests/bench/peers.sh` installs that environment.) The tests only read these files.

| folder | graph |
| --- | --- |
| `karate/` | Zachary's karate club, %d directed edges, 4 classes, one training node each, random features |
| `directed/` | random one-way edges, %d of them, features half zero, isolated nodes |

A folder is a data set (`edge_index.npy`, `x.npy`, `y.npy`, `*_mask.npy`, `graph.json`: edges sorted by destination, then
source; no loop, no duplicate) and, for each of %s:

| file | what |
| --- | --- |
| `NAME.safetensors` | initial weights in float32 as `state_dict` names them, layers `conv1` and `conv2`; biases made non-zero |
| `NAME.logits.npy` | scores of all nodes with those weights, computed in float64 |
| `NAME.losses` | per line: epoch, loss computed in float64, loss computed in float32; before the update of that epoch |

Models: conv1 (to %d), relu, conv2 (to the classes), no dropout; GCNConv, SAGEConv (mean), GraphConv (add) with PyG's
defaults, GINConv over MLP([in, out, out], norm=None) with eps 0 fixed, and `gin_eps` with eps trained from 0.25. Training:
%d epochs of Adam, learning rate %g, no weight decay, cross entropy over the training nodes. `gcn.OPTIMIZER.losses`: the same
with Adam and weight decay 0.05 on conv1 (`decay_first`), AdamW with decay 0.1 (`adamw`), SGD with learning rate 0.1 and weight
decay 0.01 (`sgd`), SGD with learning rate 0.1 and Nesterov momentum 0.9 (`nesterov`).
"""


def main():
    output = sys.argv[1]
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    graphs = dict(karate=karate(generator), directed=directed(generator))
    for name, graph in graphs.items():
        folder = os.path.join(output, name)
        os.makedirs(folder, exist_ok=True)
        save_graph(folder, name, graph)
        for kind, layer in LAYERS.items():
            export(folder, kind, layer, graph)
    with open(os.path.join(output, "README.md"), "w") as file:
        file.write(README % (torch_geometric.__version__, torch.__version__.split("+")[0], np.__version__,
                             graphs["karate"]["edges"].shape[1], graphs["directed"]["edges"].shape[1],
                             ", ".join("`%s`" % kind for kind in LAYERS), HIDDEN, EPOCHS, LR))


main()
