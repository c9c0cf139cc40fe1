"""One peer of epoch_vs_peers.py, in a process of its own: trains the 2-layer GCN when told to.

usage: epoch_vs_peers_worker.py KIND DATA THREADS

On start it prints a line of JSON with versions and sizes. Then it answers each line of stdin with one line:
"epochs N" with a list of N times in seconds, "accuracy" with the test accuracy, dropout off.
"""
import json
import os
import sys
import time
import warnings

import numpy as np
import torch
import torch.nn.functional as F

HIDDEN, DROPOUT, LR, DECAY = 16, 0.5, 0.01, 5e-4


def load(folder):
    """Tensors of a data set in the .npy layout, with the rows of x scaled to sum 1."""
    def read(name):
        return torch.from_numpy(np.load(os.path.join(folder, name + ".npy")))
    x = read("x").float()
    x = x / x.sum(1, keepdim=True).clamp(min=1)
    return read("edge_index").long(), x, read("y").long(), read("train_mask").bool(), read("test_mask").bool()


def drop(x, training):
    """Dropout; of a sparse matrix on its stored values, which is the same function of x."""
    if not x.is_sparse:
        return F.dropout(x, p=DROPOUT, training=training)
    value = F.dropout(x.values(), p=DROPOUT, training=training)
    return torch.sparse_coo_tensor(x.indices(), value, x.shape, is_coalesced=True)


def pyg_model(n_in, n_out, graph):
    """GCN as in PyG's examples."""
    from torch_geometric.nn import GCNConv

    class GCN(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = GCNConv(n_in, HIDDEN, cached=True)
            self.conv2 = GCNConv(HIDDEN, n_out, cached=True)

        def forward(self, x):
            x = self.conv1(drop(x, self.training), graph).relu()
            return self.conv2(drop(x, self.training), graph)
    return GCN()


def dgl_model(n_in, n_out, graph):
    """GCN as in DGL's examples."""
    from dgl.nn.pytorch import GraphConv

    class GCN(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = GraphConv(n_in, HIDDEN, norm="both", activation=F.relu)
            self.conv2 = GraphConv(HIDDEN, n_out, norm="both")

        def forward(self, x):
            x = self.conv1(graph, drop(x, self.training))
            return self.conv2(graph, drop(x, self.training))
    return GCN()


def make(kind, edges, x, n_out):
    """Model, input and version of a peer: pyg, pyg-csr (adjacency as a CSR matrix), dgl; "-sparse": x sparse too."""
    n, n_in = x.shape
    library, _, form = kind.partition("-")
    if form == "sparse":
        x = x.to_sparse_coo().coalesce()
    if library == "dgl":
        import dgl
        graph = dgl.add_self_loop(dgl.graph((edges[0], edges[1]), num_nodes=n))
        return dgl_model(n_in, n_out, graph), x, "DGL " + dgl.__version__
    import torch_geometric
    graph = edges
    if form:
        ones = torch.ones(edges.shape[1])
        graph = torch.sparse_coo_tensor(edges.flip(0), ones, (n, n)).to_sparse_csr()
    return pyg_model(n_in, n_out, graph), x, "PyG " + torch_geometric.__version__


def main():
    kind, folder, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    warnings.filterwarnings("ignore")
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    edges, x, y, train, test = load(folder)
    model, x, version = make(kind, edges, x, int(y.max()) + 1)
    groups = [dict(params=model.conv1.parameters(), weight_decay=DECAY),
              dict(params=model.conv2.parameters(), weight_decay=0)]
    optimizer = torch.optim.Adam(groups, lr=LR)

    def epoch():
        start = time.perf_counter()
        model.train()
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out[train], y[train])
        loss.backward()
        optimizer.step()
        return time.perf_counter() - start

    def accuracy():
        model.eval()
        with torch.no_grad():
            return float((model(x).argmax(1) == y)[test].float().mean())

    print(json.dumps(dict(version=version, torch=torch.__version__, threads=torch.get_num_threads(),
                          cpu=torch.backends.cpu.get_cpu_capability())), flush=True)
    for line in sys.stdin:
        word = line.split()
        answer = [epoch() for _ in range(int(word[1]))] if word[0] == "epochs" else accuracy()
        print(json.dumps(answer), flush=True)


main()
