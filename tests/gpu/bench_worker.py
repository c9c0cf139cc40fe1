"""Training jobs of a 3-layer model in PyTorch Geometric on the GPU, full batch: for each form of it named by a line of standard input its median epoch
and its peak memory, a line of JSON each as soon as it is known.

usage: bench_worker.py DATA.safetensors GCN|SAGE|GIN HIDDEN EPOCHS
A form: csr (a torch CSR adjacency, cuSPARSE), sparse_tensor (torch_sparse), edge_index (PyG's EdgeIndex, sorted and cached); "+compile": torch.compile;
"+reduce-overhead": by that mode, which replays CUDA graphs.
What cannot be done here is said: {"missing": "..."}. Torch is imported and the data are read once; of a form nothing is left on the GPU for the next."""

import gc
import json
import os
import statistics
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from safetensors_torch import edges, load, rows

COMPILED = {"compile": {}, "reduce-overhead": {"mode": "reduce-overhead"}}


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


def read(path):
    """Features, labels, training rows and edges, on the host."""
    data = load(path)
    return data["node.x"].float(), data["node.y"].long(), rows(data, "train"), edges(data)


def train(data, model, way, hidden, epochs):
    import torch
    import torch_geometric

    torch.manual_seed(0)
    x, y, rows, edges = data
    form, _, how = way.partition("+")
    graph = adjacency(form, edges, len(y)).cuda()
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


def forget():
    """What the form before has left on the GPU."""
    import torch

    gc.collect()
    if hasattr(torch, "_dynamo"):
        torch._dynamo.reset()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()


def main():
    path, model, hidden, epochs = sys.argv[1:5]
    data = None
    for line in sys.stdin:
        way, is_broken = line.strip(), False
        try:
            import torch

            if not torch.cuda.is_available():
                raise RuntimeError("torch finds no GPU")
            data = data or read(path)
            found = train(data, model, way, int(hidden), int(epochs))
        except Exception as error:  # out of memory, a missing package, what torch.compile cannot do: a cell of the table
            text = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            is_broken = "CUDA error" in text  # whatever comes next on this GPU fails, too
            found = {"missing": text[:100]}
        print(json.dumps({"way": way, **found}), flush=True)
        if is_broken:
            sys.exit(1)
        if "torch" in sys.modules and data is not None:
            forget()


if __name__ == "__main__":
    main()
