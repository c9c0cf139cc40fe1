"""A training job of a 3-layer model in PyTorch Geometric on the GPU, full batch: its median epoch and its peak memory, as one line of JSON.

usage: bench_worker.py DATA.safetensors GCN|SAGE|GIN WAY HIDDEN EPOCHS
WAY: csr (a torch CSR adjacency, cuSPARSE), sparse_tensor (torch_sparse), edge_index (PyG's EdgeIndex, sorted and cached); "+compile": torch.compile;
"+reduce-overhead": by that mode, which replays CUDA graphs.
What cannot be done here is said: {"missing": "..."}."""

import json
import os
import statistics
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from safetensors_torch import load

COMPILED = {"compile": {}, "reduce-overhead": {"mode": "reduce-overhead"}}


def edges_of(data):
    import torch

    if "edge.src" in data:
        return torch.stack([data["edge.src"], data["edge.dst"]]).long()
    counts = data["csr.rowptr"].diff()
    return torch.stack([data["csr.col"].long(), torch.repeat_interleave(torch.arange(len(counts)), counts)])


def adjacency(way, edges, nodes):
    if way == "csr":
        from torch_geometric.utils import to_torch_csr_tensor
        return to_torch_csr_tensor(edges.flip(0), size=(nodes, nodes))
    if way == "sparse_tensor":
        from torch_sparse import SparseTensor
        return SparseTensor(row=edges[1], col=edges[0], sparse_sizes=(nodes, nodes))
    from torch_geometric import EdgeIndex
    index = EdgeIndex(edges, sparse_size=(nodes, nodes)).sort_by("col").values
    return index.fill_cache_()


def network(model, widths):
    import torch
    from torch_geometric.nn import GCNConv, GINConv, MLP, SAGEConv

    def layer(a, b):
        if model == "GCN":
            return GCNConv(a, b, cached=True)
        return SAGEConv(a, b) if model == "SAGE" else GINConv(MLP([a, b, b], norm=None))

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([layer(a, b) for a, b in zip(widths, widths[1:])])

        def forward(self, x, graph):
            for i, conv in enumerate(self.layers):
                x = conv(x, graph)
                x = torch.relu(x) if i + 1 < len(self.layers) else x
            return x

    return Network()


def prepared(net, how):
    import torch

    return torch.compile(net, **COMPILED[how]) if how else net


def train(path, model, way, hidden, epochs):
    import torch
    import torch_geometric

    if not torch.cuda.is_available():
        return {"missing": "torch finds no GPU"}
    torch.manual_seed(0)
    data = load(path)
    x, y, rows = data["node.x"].float(), data["node.y"].long(), data["split.train"]
    rows = rows.nonzero().flatten() if rows.dtype in (torch.bool, torch.uint8) and len(rows) == len(y) else rows.long()
    form, _, how = way.partition("+")
    graph = adjacency(form, edges_of(data), len(y)).cuda()
    net = network(model, [x.shape[1], hidden, hidden, int(y.max()) + 1]).cuda()
    x, y, rows = x.cuda(), y.cuda(), rows.cuda()
    forward = prepared(net, how)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01, fused=True)
    times = []
    for epoch in range(epochs + 5):
        if epoch == 5:
            torch.cuda.reset_peak_memory_stats()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(forward(x, graph)[rows], y[rows]).backward()
        optimizer.step()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return {"median": statistics.median(times[5:]), "peak_bytes": torch.cuda.max_memory_allocated(), "version": torch_geometric.__version__, "torch": torch.__version__}


def main():
    path, model, way, hidden, epochs = sys.argv[1:6]
    try:
        found = train(path, model, way, int(hidden), int(epochs))
    except Exception as error:  # out of memory, a missing package, what torch.compile cannot do: a cell of the table
        found = {"missing": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:100]}
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
