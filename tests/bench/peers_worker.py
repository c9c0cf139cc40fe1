"""One peer of peers.py, in a process of its own: trains a model full batch when told to.

usage: peers_worker.py LIBRARY DATA.safetensors MODEL LAYERS WIDTH THREADS

LIBRARY: pyg (edge_index), pyg-csr (the adjacency as a torch CSR matrix), pyg-sparse (and the features as a sparse matrix), pyg-compile (edge_index, torch.compile), pyg-checkpoint, pyg-save_on_cpu, dgl.
On start a line of JSON with versions; then a line for each line of stdin: "epochs N": N times in seconds; "until ACCURACY EPOCHS": seconds and epochs of a new
training until validation reaches it, seconds null where it never does (evaluations are not counted); "peak": the most memory that was resident, in bytes."""
import json
import resource
import sys
import time
import warnings

from safetensors_torch import edges, features, load, rows

DROPOUT, LR, HEADS = 0.5, 0.01, 8


def read(path):
    """Edges, features, labels, rows of training and of validation."""
    data = load(path)
    return edges(data), features(path, data), data["node.y"].long(), rows(data, "train"), rows(data, "valid")


def pyg_layer(model, a, b, is_last):
    from torch_geometric.nn import MLP, GATConv, GATv2Conv, GCNConv, GINConv, SAGEConv

    if model == "gcn":
        return GCNConv(a, b, cached=True)
    if model == "sage":
        return SAGEConv(a, b)
    if model == "gin":
        return GINConv(MLP([a, b, b], norm=None))
    conv = GATConv if model == "gat" else GATv2Conv
    return conv(a, b, heads=1) if is_last else conv(a, b // HEADS, heads=HEADS)


def dgl_layer(model, a, b, is_last):
    import torch
    from dgl.nn.pytorch import GATConv, GATv2Conv, GINConv, GraphConv, SAGEConv

    if model == "gcn":
        return GraphConv(a, b, norm="both")
    if model == "sage":
        return SAGEConv(a, b, "mean")
    if model == "gin":
        return GINConv(torch.nn.Sequential(torch.nn.Linear(a, b), torch.nn.ReLU(), torch.nn.Linear(b, b)), "sum")
    conv = GATConv if model == "gat" else GATv2Conv
    return conv(a, b, 1) if is_last else conv(a, b // HEADS, HEADS)


def graph_of(library, model, ends, nodes):
    """What layers of the library take, with loops at the nodes where the layer wants them and adds none."""
    if library == "dgl":
        import dgl

        graph = dgl.graph((ends[0], ends[1]), num_nodes=nodes)
        graph = (dgl.add_self_loop(graph) if model in ("gcn", "gat", "gatv2") else graph).formats(["coo", "csr", "csc"])
        graph.create_formats_()
        return graph
    if library in ("pyg-csr", "pyg-sparse"):
        from torch_geometric.utils import to_torch_csr_tensor

        return to_torch_csr_tensor(ends.flip(0), size=(nodes, nodes))
    return ends


def network(library, model, widths, graph):
    import torch

    layer = dgl_layer if library == "dgl" else pyg_layer

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([layer(model, a, b, i + 2 == len(widths)) for i, (a, b) in enumerate(zip(widths, widths[1:]))])

        def layer(self, i, x):
            x = self.layers[i](graph, x).flatten(1) if library == "dgl" else self.layers[i](x, graph)
            return torch.nn.functional.dropout(x.relu(), DROPOUT, self.training) if i + 1 < len(self.layers) else x

        def forward(self, x):
            for i in range(len(self.layers)):
                if library == "pyg-checkpoint" and self.training and i + 1 < len(self.layers):
                    x = torch.utils.checkpoint.checkpoint(self.layer, i, x, use_reentrant=False)
                else:
                    x = self.layer(i, x)
            return x

    return Network()


class Training:
    def __init__(self, library, data, model, widths, graph):
        import torch

        torch.manual_seed(0)
        self.library, self.data = library, data
        self.net = network(library, model, widths, graph)
        self.forward = torch.compile(self.net) if library == "pyg-compile" else self.net
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=LR)

    def epoch(self):
        import torch

        _, x, y, train, _ = self.data
        start = time.perf_counter()
        self.net.train()
        self.optimizer.zero_grad()
        if self.library == "pyg-save_on_cpu":
            with torch.autograd.graph.save_on_cpu():
                loss = torch.nn.functional.cross_entropy(self.forward(x)[train], y[train])
        else:
            loss = torch.nn.functional.cross_entropy(self.forward(x)[train], y[train])
        loss.backward()
        self.optimizer.step()
        return time.perf_counter() - start

    def accuracy(self):
        import torch

        _, x, y, _, valid = self.data
        self.net.eval()
        with torch.no_grad():
            return float((self.net(x)[valid].argmax(1) == y[valid]).float().mean())


def main():
    library, path, model, layers, width, threads = sys.argv[1], sys.argv[2], sys.argv[3], *map(int, sys.argv[4:7])
    warnings.filterwarnings("ignore")
    import torch

    torch.set_num_threads(threads)
    data = read(path)
    ends, x, y, _, _ = data
    graph = graph_of(library, model, ends, len(y))
    if library == "pyg-sparse":
        data = (ends, x.to_sparse_coo().coalesce(), *data[2:])
    widths = [x.shape[1]] + [width] * (layers - 1) + [int(y.max()) + 1]
    if library == "dgl":
        import dgl
        version = "DGL " + dgl.__version__
    else:
        import torch_geometric
        version = "PyG " + torch_geometric.__version__

    def new():
        return Training(library, data, model, widths, graph)

    training = new()
    print(json.dumps({"version": version, "torch": torch.__version__}), flush=True)
    for line in sys.stdin:
        word = line.split()
        if word[0] == "epochs":
            answer = [training.epoch() for _ in range(int(word[1]))]
        elif word[0] == "until":
            training, seconds, epochs, answer = new(), 0.0, 0, {"seconds": None, "epochs": None}
            while epochs < int(word[2]) and answer["seconds"] is None:
                seconds, epochs = seconds + training.epoch(), epochs + 1
                if training.accuracy() >= float(word[1]):
                    answer = {"seconds": seconds, "epochs": epochs}
        else:
            answer = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps(answer), flush=True)


main()
