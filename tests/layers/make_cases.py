#!/usr/bin/env python3
"""Writes what PyTorch Geometric gives for the standard layers, computed in float64 from weights and data in float32. README.md says what is in the files.

usage: make_cases.py [FOLDER]     needs torch==2.5.1, torch_geometric==2.8.1, numpy; FOLDER is that of this script by default
"""
import copy
import json
import os
import sys

import torch
import torch.nn.functional as F
import torch_geometric
from torch_geometric import nn as pyg

NODES, WIDTH, OUT, CLASSES, EDGE_WIDTH, RELATIONS = 12, 5, 4, 3, 3, 4


# ---- graphs: (nodes, edges); the first one is what programs are compiled for, and no other may be larger ----

def directed(generator):
    """One-way edges among nodes 0 .. 9, some of them both ways; nodes 10 and 11 have no edge, and node 9 no in-edge."""
    edges = {(a, b) for a, b in torch.randint(0, 10, (60, 2), generator=generator).tolist() if a != b and b != 9}
    return NODES, sorted(edges, key=lambda e: (e[1], e[0]))


def graphs(generator):
    ring = [(i, (i + d) % 6) for i in range(6) for d in (1, 5)]
    return {
        "directed": directed(generator),
        "loops": (7, [(0, 0), (1, 0), (0, 1), (2, 2), (3, 4), (4, 3), (6, 6)]),
        "hub": (NODES, [(0, v) for v in range(1, NODES)] + [(v, 0) for v in range(1, NODES)]),
        "ring": (6, ring),
        "one_edge": (4, [(0, 1)]),
        "no_edges": (4, []),
        "one_node": (1, []),
        "only_loops": (3, [(0, 0), (1, 1), (2, 2)]),
    }


def relational_graphs(generator):
    """The same with a relation of each edge, from 0; of the first one no other may have more edges in any of them."""
    nodes, edges = directed(generator)
    sparse = [(s, d, r) for s, d in edges for r in range(2) if torch.rand(1, generator=generator) < 0.6]  # of neither, of one or of both
    return {
        "directed": (nodes, sparse + [(d, s, 2) for s, d, r in sparse if r == 0][:6] + [(0, 0, 3), (1, 0, 3), (2, 3, 3), (10, 10, 3)]),
        "loops": (7, [(0, 0, 0), (1, 0, 0), (0, 1, 0), (2, 2, 1), (3, 4, 1), (4, 3, 2), (6, 6, 2), (6, 6, 3)]),
        "hub": (NODES, [(0, v, 0) for v in range(1, NODES)] + [(v, 0, 1) for v in range(1, NODES)]),  # two relations without edges
        "ring": (6, [(i, (i + 1) % 6, 0) for i in range(6)] + [(i, (i + 5) % 6, 2) for i in range(6)]),
        "one_edge": (4, [(0, 1, 2)]),
        "no_edges": (4, []),
        "one_node": (1, []),
        "only_loops": (3, [(0, 0, 0), (1, 1, 0), (2, 2, 3)]),
    }


# ---- layers ----

def mlp(*channels):
    return pyg.MLP(list(channels), norm=None)


def plain(g, x):
    return (x,)


def on_edges(g, x):
    return x, g["edges"]


def weighted(g, x):
    return x, g["edges"], g["w"]


def featured(g, x):
    return x, g["edges"], g["e"]


def related(g, x):
    return x, g["edges"], g["relation"]


class Initial(torch.nn.Module):
    """GCN2Conv on a value and on the first one, which is its tanh here."""

    def __init__(self, **arguments):
        super().__init__()
        self.conv = pyg.GCN2Conv(WIDTH, **arguments)

    def forward(self, x, edges):
        return self.conv(x, x.tanh(), edges)


class Pna(pyg.PNAConv):
    """With the degrees of the graph that it is called for, as gnncc counts them; where nobody has a neighbour, whatever is scaled is 0."""

    def __init__(self):
        super().__init__(WIDTH, OUT, ["mean", "min", "max", "std"], ["identity", "amplification", "attenuation"], deg=torch.ones(2))

    def forward(self, x, edges):
        degree = torch.bincount(edges[1], minlength=x.shape[0]).to(x.dtype)
        self.aggr_module.avg_deg_log = (degree + 1).log().mean().clamp(min=1e-30)
        return super().forward(x, edges)


def without_skip(**arguments):
    conv = pyg.TransformerConv(WIDTH, 2, root_weight=False, **arguments)
    del conv.lin_skip  # which is there, but not used
    return conv


class Batch(torch.nn.BatchNorm1d):
    """Of one row, which PyTorch refuses, the variance is 0. As if it had seen other data before."""

    def __init__(self, width):
        super().__init__(width)
        self.running_mean += torch.randn(width)
        self.running_var += torch.rand(width)

    def forward(self, x):
        if self.training and x.shape[0] == 1:
            with torch.no_grad():
                self.running_mean.lerp_(x[0], self.momentum)
                self.running_var *= 1 - self.momentum
            return (x - x.mean(dim=0)) * self.eps**-0.5 * self.weight + self.bias
        return super().forward(x)


def gen_with_batch():
    conv = pyg.GENConv(WIDTH, OUT)
    conv.mlp[1] = Batch(2 * OUT)
    return conv


class Whole(torch.nn.Module):
    """A norm over the nodes of one graph."""

    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x):
        return self.norm(x, torch.zeros(x.shape[0], dtype=torch.int64))


class Call(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)


# name: (layer, what it takes of a graph)
LAYERS = {
    "linear": (lambda: torch.nn.Linear(WIDTH, OUT), plain),
    "linear_no_bias": (lambda: torch.nn.Linear(WIDTH, OUT, bias=False), plain),
    "mlp": (lambda: mlp(WIDTH, 6, 6, OUT), plain),
    "gcn": (lambda: pyg.GCNConv(WIDTH, OUT), on_edges),
    "gcn_no_bias": (lambda: pyg.GCNConv(WIDTH, OUT, bias=False), on_edges),
    "gcn_weighted": (lambda: pyg.GCNConv(WIDTH, OUT), weighted),
    "sage": (lambda: pyg.SAGEConv(WIDTH, OUT), on_edges),
    "sage_max": (lambda: pyg.SAGEConv(WIDTH, OUT, aggr="max"), on_edges),
    "sage_sum": (lambda: pyg.SAGEConv(WIDTH, OUT, aggr="sum", bias=False), on_edges),
    "sage_no_root": (lambda: pyg.SAGEConv(WIDTH, OUT, root_weight=False), on_edges),
    "graphconv": (lambda: pyg.GraphConv(WIDTH, OUT), on_edges),
    "graphconv_mean": (lambda: pyg.GraphConv(WIDTH, OUT, aggr="mean", bias=False), on_edges),
    "graphconv_max": (lambda: pyg.GraphConv(WIDTH, OUT, aggr="max"), weighted),
    "graphconv_weighted": (lambda: pyg.GraphConv(WIDTH, OUT), weighted),
    "gin": (lambda: pyg.GINConv(mlp(WIDTH, OUT, OUT)), on_edges),
    "gin_eps": (lambda: pyg.GINConv(mlp(WIDTH, OUT, OUT), eps=0.25, train_eps=True), on_edges),
    "gine": (lambda: pyg.GINEConv(mlp(WIDTH, OUT, OUT), edge_dim=EDGE_WIDTH), featured),
    "sgc": (lambda: pyg.SGConv(WIDTH, OUT), on_edges),
    "sgc_3": (lambda: pyg.SGConv(WIDTH, OUT, K=3, bias=False), weighted),
    "appnp": (lambda: pyg.APPNP(K=4, alpha=0.2), on_edges),
    "gcnii": (lambda: Initial(alpha=0.1, theta=0.5, layer=2), on_edges),
    "gcnii_two": (lambda: Initial(alpha=0.3, theta=0.5, layer=1, shared_weights=False), on_edges),
    "tag": (lambda: pyg.TAGConv(WIDTH, OUT), on_edges),
    "tag_weighted": (lambda: pyg.TAGConv(WIDTH, OUT, K=2, bias=False), weighted),
    "cheb": (lambda: pyg.ChebConv(WIDTH, OUT, K=3), on_edges),
    "cheb_1": (lambda: pyg.ChebConv(WIDTH, OUT, K=1, bias=False), on_edges),
    "lightgcn": (lambda: pyg.LGConv(), on_edges),
    "gatedgcn": (lambda: pyg.ResGatedGraphConv(WIDTH, OUT), on_edges),
    "sage_normalize": (lambda: pyg.SAGEConv(WIDTH, OUT, normalize=True, project=True), on_edges),
    "gat": (lambda: pyg.GATConv(WIDTH, OUT), on_edges),
    "gat_heads": (lambda: pyg.GATConv(WIDTH, 2, heads=3), on_edges),
    "gat_mean": (lambda: pyg.GATConv(WIDTH, OUT, heads=2, concat=False, negative_slope=0.1, bias=False), on_edges),
    "gat_edges": (lambda: pyg.GATConv(WIDTH, 2, heads=2, edge_dim=EDGE_WIDTH), featured),
    "gat_no_loops": (lambda: pyg.GATConv(WIDTH, 2, heads=2, add_self_loops=False), on_edges),
    "gatv2": (lambda: pyg.GATv2Conv(WIDTH, OUT), on_edges),
    "gatv2_heads": (lambda: pyg.GATv2Conv(WIDTH, 2, heads=3, bias=False), on_edges),
    "gatv2_mean": (lambda: pyg.GATv2Conv(WIDTH, OUT, heads=2, concat=False, share_weights=True), on_edges),
    "gatv2_edges": (lambda: pyg.GATv2Conv(WIDTH, 2, heads=2, edge_dim=EDGE_WIDTH), featured),
    "transformer": (lambda: pyg.TransformerConv(WIDTH, OUT), on_edges),
    "transformer_heads": (lambda: without_skip(heads=3, bias=False), on_edges),
    "transformer_beta": (lambda: pyg.TransformerConv(WIDTH, OUT, heads=2, concat=False, beta=True, edge_dim=EDGE_WIDTH), featured),
    "edgeconv": (lambda: pyg.EdgeConv(mlp(2 * WIDTH, OUT, OUT)), on_edges),
    "edgeconv_sum": (lambda: pyg.EdgeConv(mlp(2 * WIDTH, OUT, OUT), aggr="add"), on_edges),
    "pna": (lambda: Pna(), on_edges),
    "gen": (lambda: pyg.GENConv(WIDTH, OUT, norm="layer"), on_edges),
    "gen_same": (lambda: pyg.GENConv(WIDTH, WIDTH, t=0.5, norm=None, expansion=1, bias=True), on_edges),
    "gen_mean": (lambda: pyg.GENConv(WIDTH, EDGE_WIDTH, aggr="mean", norm="layer"), featured),
    "gen_batch": (gen_with_batch, on_edges),
    "norm_batch": (lambda: Batch(WIDTH), plain),
    "norm_layer": (lambda: torch.nn.LayerNorm(WIDTH), plain),
    "norm_graph": (lambda: pyg.GraphNorm(WIDTH), plain),
    "norm_instance": (lambda: Whole(pyg.InstanceNorm(WIDTH)), plain),
    "norm_pair": (lambda: pyg.PairNorm(), plain),
    "norm_pair_rows": (lambda: pyg.PairNorm(scale=2, scale_individually=True), plain),
    "norm_l2": (lambda: Call(lambda x: F.normalize(x, dim=-1)), plain),
    "act_prelu": (lambda: torch.nn.PReLU(), plain),
    "act_prelu_columns": (lambda: torch.nn.PReLU(WIDTH), plain),
    "gatedgcn_no_root": (lambda: pyg.ResGatedGraphConv(WIDTH, OUT, root_weight=False, bias=False), on_edges),
    "gen_learned": (lambda: pyg.GENConv(WIDTH, OUT, t=0.7, learn_t=True, norm="layer"), on_edges),
    "gen_learned_edges": (lambda: pyg.GENConv(WIDTH, EDGE_WIDTH, learn_t=True, norm=None), featured),
}
RELATIONAL = {
    "rgcn": lambda: pyg.RGCNConv(WIDTH, OUT, RELATIONS),
    "rgcn_bases": lambda: pyg.RGCNConv(WIDTH, OUT, RELATIONS, num_bases=2),
    "rgcn_sum": lambda: pyg.RGCNConv(WIDTH, OUT, RELATIONS, aggr="add", root_weight=False),
    "rgcn_max": lambda: pyg.RGCNConv(WIDTH, OUT, RELATIONS, num_bases=3, aggr="max", bias=False),
}
# These add the loops that the data lack, or drop those that they have. Where there are some, gnncc wants `self_loops = add` for that: loops.gnn.
OWN_LOOPS = ("gcn", "sgc", "appnp", "cheb", "gat_", "gatv2")
IN_LOOPS = ("gcn", "gcn_weighted", "sgc_3", "appnp", "gcnii", "cheb", "gat", "gatv2_heads")

# What these give is a value under other dimensions, which `predict --layer` does not know: their gradients alone are compared.
NO_OUTPUT = ("gatv2_heads", "transformer_heads")


def has_own_loops(name):
    return name == "gat" or name.startswith(OWN_LOOPS)


class Case(torch.nn.Module):
    """A layer on an input of its own, and a head, so that what comes back to the layer differs from case to case."""

    def __init__(self, make, take):
        super().__init__()
        self.X = torch.nn.Parameter(torch.randn(NODES, WIDTH))
        self.layer, self.take = make(), take
        with torch.no_grad():
            for p in self.layer.parameters():
                p += 0.2 * torch.randn_like(p)
            width = self.layer(*take(EXAMPLE, self.X)).shape[1]
        self.head = torch.nn.Linear(width, CLASSES)

    def forward(self, g):
        self.out = self.layer(*self.take(g, self.X[:g["nodes"]]))
        return self.head(self.out.tanh())


POINTER = [0, 5, 9, NODES]  # of a set of graphs: the first node of each, and the number of nodes
BATCH = torch.repeat_interleave(torch.arange(3), torch.tensor(POINTER).diff())
SETS = {
    "norm_graph": lambda: pyg.GraphNorm(WIDTH),
    "norm_instance": lambda: pyg.InstanceNorm(WIDTH),
    "norm_pair": lambda: pyg.PairNorm(),
    "norm_pair_rows": lambda: pyg.PairNorm(scale=2, scale_individually=True),
    "attention": lambda: pyg.aggr.AttentionalAggregation(torch.nn.Linear(WIDTH, 1)),
    "largest": lambda: pyg.aggr.MaxAggregation(),
}


class SetCase(torch.nn.Module):
    """A norm within each graph and a mean over it, or a read-out, and a head."""

    def __init__(self, name):
        super().__init__()
        self.X = torch.nn.Parameter(torch.randn(NODES, WIDTH))
        self.layer, self.is_norm = SETS[name](), name.startswith("norm")
        with torch.no_grad():
            for p in self.layer.parameters():
                p += 0.2 * torch.randn_like(p)
        self.head = torch.nn.Linear(WIDTH, CLASSES)

    def forward(self, g):
        self.out = self.layer(self.X, BATCH)
        read = pyg.global_mean_pool(self.out.tanh(), BATCH) if self.is_norm else self.out
        return self.head(read.tanh())


def key(name, weight):
    """What cases.gnn calls a weight of a case."""
    kind, _, rest = weight.partition(".")
    return {"X": f"x_{name}.X", "head": f"head_{name}.lin.{rest}", "layer": f"{name}.{rest}"}[kind]


def data_of(nodes, edges, generator):
    edges = torch.tensor(sorted(edges, key=lambda e: (e[1], e[0])), dtype=torch.int64).reshape(-1, 2).t()
    count = edges.shape[1]
    w = torch.rand(count, generator=generator) + 0.5
    w[edges[1] == 4] = 0  # a node that has neighbours, but no weight
    return dict(nodes=nodes, edges=edges, y=torch.randint(0, CLASSES, (nodes,), generator=generator), w=w, e=torch.randn(count, EDGE_WIDTH, generator=generator))


def in_double(g):
    return {k: v.double() if torch.is_tensor(v) and v.is_floating_point() else v for k, v in g.items()}


def save_file(tensors, path, metadata=None):
    """safetensors with the same bytes on every run; wider numbers first, so that all are aligned."""
    header, body = {"__metadata__": metadata} if metadata else {}, b""
    for name, tensor in sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0])):
        array = tensor.detach().contiguous().numpy().tobytes()
        kind = {torch.float32: "F32", torch.int64: "I64"}[tensor.dtype]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [len(body), len(body) + len(array)]}
        body += array
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + body)


def expect(path, cases, g, is_left_out=lambda name: False, without_output=NO_OUTPUT):
    """Outputs are those of an evaluation, gradients those of training."""
    state = copy.deepcopy(cases.state_dict())
    cases.eval()
    with torch.no_grad():
        outputs = {name: (case(g), case.out)[1] for name, case in cases.items()}
    cases.train()
    for p in cases.parameters():
        p.grad = None
    loss = F.cross_entropy(sum(case(g) for case in cases.values()), g["y"])
    loss.backward()
    result = {"loss": loss.detach().reshape(1)}
    for name, case in cases.items():
        if is_left_out(name):
            continue
        if name not in without_output:
            result[f"out.{name}"] = outputs[name]
        for weight, p in case.named_parameters():
            slope = p.grad if p.grad is not None else torch.zeros_like(p)
            result[f"grad.{key(name, weight)}"] = slope[:g["nodes"]] if weight == "X" else slope  # the rows of other graphs' nodes are 0
        for weight, v in case.named_buffers():
            if v.is_floating_point() and not weight.endswith("avg_deg_lin") and not weight.endswith("avg_deg_log"):
                result[f"after.{key(name, weight)}"] = v.clone()
    cases.load_state_dict(state)
    save_file({k: v.float() for k, v in result.items()}, path)


def save_weights(path, cases):
    weights = {}
    for name, case in cases.items():
        weights |= {key(name, weight): v.float() for weight, v in case.named_parameters()}  # shared ones under their first name
        weights |= {key(name, weight): v.float() if v.is_floating_point() else v for weight, v in case.named_buffers()}
    save_file(weights, path)


def save_data(path, g, times=1, train=None, classes=CLASSES):
    order = torch.arange(g["edges"].shape[1]).repeat(times)
    save_file({"edge.src": g["edges"][0][order], "edge.dst": g["edges"][1][order], "edge.w": g["w"][order],
               "edge.e": g["e"][order], "node.id": torch.eye(NODES)[:g["nodes"]], "node.y": g["y"],
               "split.train": torch.arange(g["nodes"] if train is None else train)}, path,
              {"gnncc.nodes": str(g["nodes"]), "gnncc.classes.y": str(classes)})


def relational_cases(path):
    """The graphs as text, for relation_folder.py, as a container has no relations."""
    global EXAMPLE
    torch.manual_seed(2)
    generator = torch.Generator().manual_seed(3)
    data, text = {}, {}
    for name, (nodes, edges) in relational_graphs(generator).items():
        table = torch.tensor(edges, dtype=torch.int64).reshape(-1, 3).t()
        data[name] = dict(nodes=nodes, edges=table[:2], relation=table[2], y=torch.randint(0, CLASSES, (nodes,), generator=generator))
        text[name] = {"nodes": nodes, "y": data[name]["y"].tolist(), "edges": edges}
    with open(path("graphs", "relations.json"), "w") as file:
        file.write("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(graph)}" for name, graph in text.items()) + "\n}\n")
    EXAMPLE = data["directed"]
    cases = torch.nn.ModuleDict({name: Case(make, related) for name, make in RELATIONAL.items()})
    save_weights(path("weights.relations.safetensors"), cases)
    cases.double()
    for name, g in data.items():
        expect(path(f"{name}.relations.expected.safetensors"), cases, g)


def main(folder):
    global EXAMPLE
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    data = {name: data_of(*graph, generator) for name, graph in graphs(generator).items()}
    EXAMPLE = data["directed"]
    path = lambda *names: os.path.join(folder, *names)
    cases = torch.nn.ModuleDict({name: Case(*row) for name, row in LAYERS.items()})
    loops = torch.nn.ModuleDict({name: cases[name] for name in IN_LOOPS})
    # Without a head a layer is not in the loss, so that the others can be compared.
    kept = copy.deepcopy(cases)
    for name, case in kept.items():
        if has_own_loops(name):
            torch.nn.init.zeros_(case.head.weight)
            torch.nn.init.zeros_(case.head.bias)
    for model, which in ((cases, "weights"), (loops, "weights.loops"), (kept, "weights.kept")):
        save_weights(path(f"{which}.safetensors"), model)
        model.double()
    for name, g in data.items():
        save_data(path("graphs", f"{name}.safetensors"), g)
        g = in_double(g)
        if not name.endswith("loops"):
            expect(path(f"{name}.expected.safetensors"), cases, g)
            continue
        expect(path(f"{name}.added.expected.safetensors"), loops, g)
        expect(path(f"{name}.expected.safetensors"), kept, g, has_own_loops)
    save_data(path("graphs", "twice.safetensors"), data["directed"], times=2)  # every edge is there twice, and counts once
    few = data["one_edge"]
    save_data(path("graphs", "no_training.safetensors"), few, train=0)
    save_data(path("graphs", "unlabelled.safetensors"), {**few, "y": torch.full((4,), -1)})
    save_data(path("graphs", "one_label.safetensors"), {**few, "y": torch.ones(4, dtype=torch.int64)})
    save_data(path("graphs", "one_class.safetensors"), {**few, "y": torch.zeros(4, dtype=torch.int64)}, classes=1)
    # The scores are of graphs, and `predict --layer` knows values that live where they do: losses and gradients alone are compared.
    sets, g = torch.nn.ModuleDict({name: SetCase(name) for name in SETS}), data["directed"]
    save_weights(path("weights.sets.safetensors"), sets)
    inside = BATCH[g["edges"][0]] == BATCH[g["edges"][1]]
    y = torch.tensor([0, 1, 2])
    save_file({"edge.src": g["edges"][0][inside], "edge.dst": g["edges"][1][inside], "node.id": torch.eye(NODES), "graph.ptr": torch.tensor(POINTER),
               "graph.y": y, "split.train": torch.arange(3)}, path("graphs", "sets.safetensors"), {"gnncc.nodes": str(NODES), "gnncc.classes.y": str(CLASSES)})
    expect(path("sets.expected.safetensors"), sets.double(), {"nodes": NODES, "y": y}, without_output=SETS)
    relational_cases(path)
    print(f"torch {torch.__version__}, torch_geometric {torch_geometric.__version__}: {len(cases) + len(RELATIONAL)} cases on {len(data)} graphs")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
