"""One training job of a 3-layer GraphSAGE in a framework: epoch times and peak resident memory, as one line of JSON.

usage: memory_vs_peers_worker.py DATA.safetensors WAY EPOCHS THREADS    WAY: plain, checkpoint, save_on_cpu, dgl
"""
import json
import resource
import sys
import time

from safetensors_torch import edges, load, rows


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    path, way, epochs, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    import torch
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    data = load(path)
    ends, x, y, train = edges(data), data["node.x"].float(), data["node.y"].long(), rows(data, "train")
    classes, hidden = int(y.max()) + 1, 128
    widths = [x.shape[1], hidden, hidden, classes]
    del data

    if way == "dgl":
        import dgl
        from dgl.nn import SAGEConv

        graph = dgl.graph((ends[0], ends[1]), num_nodes=len(y)).formats(["csr", "csc"])
        graph.create_formats_()
        layers = torch.nn.ModuleList([SAGEConv(a, b, "mean") for a, b in zip(widths, widths[1:])])
        call = lambda layer, h: layer(graph, h)
    else:
        from torch_geometric.nn import SAGEConv
        from torch_geometric.utils import to_torch_csr_tensor

        adjacency = to_torch_csr_tensor(ends.flip(0), size=(len(y), len(y)))
        layers = torch.nn.ModuleList([SAGEConv(a, b) for a, b in zip(widths, widths[1:])])
        call = lambda layer, h: layer(h, adjacency)

    def block(i, h):
        h = call(layers[i], h)
        return torch.dropout(torch.relu(h), 0.3, True) if i < 2 else h

    def forward():
        h = x
        for i in range(3):
            if way == "checkpoint" and i < 2:
                h = torch.utils.checkpoint.checkpoint(block, i, h, use_reentrant=False)
            else:
                h = block(i, h)
        return torch.nn.functional.cross_entropy(h[train], y[train])

    optimizer = torch.optim.Adam(layers.parameters(), lr=0.01)
    loaded = peak_bytes()
    times = []
    for _ in range(epochs + 1):
        start = time.perf_counter()
        optimizer.zero_grad()
        if way == "save_on_cpu":
            with torch.autograd.graph.save_on_cpu():
                loss = forward()
        else:
            loss = forward()
        loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
    print(json.dumps({"way": way, "seconds": sorted(times[1:])[epochs // 2], "loaded_bytes": loaded, "peak_bytes": peak_bytes(),
                      "loss": float(loss)}))


main()
