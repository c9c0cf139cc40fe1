"""A peer of attention.sh: milliseconds of processors that a training epoch of attention takes.

usage: attention_worker.py pyg|dgl GAT|GATv2|TransformerConv DATA THREADS EPOCHS

The model of attention.sh as the library's users write it: own loops are added by the layers (PyG) or to the graph (DGL), of TransformerConv
none. DGL has no TransformerConv of this kind.
"""
import os
import sys
import time
import warnings

warnings.filterwarnings("ignore")
import numpy as np
import torch
import torch.nn.functional as F


def main():
    library, model, folder, threads, epochs = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    edges, x, y, train = (torch.from_numpy(np.load(os.path.join(folder, name + ".npy"))) for name in ("edge_index", "x", "y", "train_mask"))
    edges, x, y, train = edges.long(), x.float(), y.long(), train.bool()
    widths, heads = [x.shape[1], 128, 128], [8, 8, 1]
    outs = [16, 16, int(y.max()) + 1]
    if library == "pyg":
        import torch_geometric.nn
        layer = {"GAT": "GATConv", "GATv2": "GATv2Conv", "TransformerConv": "TransformerConv"}[model]
        convs = [getattr(torch_geometric.nn, layer)(w, o, heads=h) for w, o, h in zip(widths, outs, heads)]
        apply = [lambda h, conv=conv: conv(h, edges) for conv in convs]
    else:
        import dgl
        import dgl.nn.pytorch
        graph = dgl.add_self_loop(dgl.graph((edges[0], edges[1]), num_nodes=x.shape[0]))
        layer = {"GAT": "GATConv", "GATv2": "GATv2Conv"}[model]
        convs = [getattr(dgl.nn.pytorch, layer)(w, o, h) for w, o, h in zip(widths, outs, heads)]
        apply = [lambda h, conv=conv: conv(graph, h).flatten(1) for conv in convs]
    optimizer = torch.optim.Adam(torch.nn.ModuleList(convs).parameters(), lr=0.01)

    def epoch():
        optimizer.zero_grad()
        h = x
        for i, conv in enumerate(apply):
            h = conv(h)
            if i < 2:
                h = F.dropout(h.relu(), 0.5)
        F.cross_entropy(h[train], y[train]).backward()
        optimizer.step()

    epoch()
    start = time.process_time()
    for _ in range(epochs):
        epoch()
    print((time.process_time() - start) / epochs * 1000)


main()
