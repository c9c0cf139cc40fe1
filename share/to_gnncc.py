"""to_gnncc.py GRAPH FOLDER: the tensors of a graph of PyG (torch.save) or DGL (dgl.save_graphs), of a list of graphs or of what RandomLinkSplit makes, as a folder that gnncc reads.
to_gnncc.py SPLIT.pt SPLIT.npz: a split of a set of links of OGB, for the folder in which it lies."""
import importlib, json, pathlib, re, sys, numpy, torch

def tensors(graph):  # [(type of nodes, relation, or None for all, name, tensor)]
    if type(graph) is tuple and hasattr(graph[0], "edge_label"): return tensors(graph[0]) + [(None, f"{split}_{name}", part[name]) for split, part in zip(("train", "val", "test"), graph) for name in ("edge_label", "edge_label_index")]
    if type(graph) is list: graph = importlib.import_module("dgl").batch(graph) if hasattr(graph[0], "ntypes") else importlib.import_module("torch_geometric.data").Batch.from_data_list(graph)
    if hasattr(graph, "stores"): return [(s._key, *item) for s in graph.stores for item in s.items() if item[0] != "num_nodes"] + [(s._key, "num_nodes", s.num_nodes) for s in graph.node_stores]
    if not hasattr(graph, "ntypes"): raise ValueError(f"a {type(graph).__name__} is no graph; save one, as dataset[0], or all, as list(dataset)")
    nodes = [(kind, *item) for kind in graph.ntypes for item in [("batch_num_nodes", graph.batch_num_nodes(kind)), *graph.nodes[kind].data.items()]]
    return nodes + [(kind, *item) for kind in graph.canonical_etypes for item in [("edge_index", torch.stack(graph.edges(etype=kind, order="eid"))), *graph.edges[kind].data.items()]]

def save(path, tensor):  # a sparse one by its entries
    entries = None if tensor.layout is torch.strided else tensor.detach().to_sparse_coo()
    for end, part in {"": tensor}.items() if entries is None else {".indices": entries._indices(), ".values": entries._values(), ".shape": torch.tensor(tensor.shape)}.items():
        numpy.save(f"{path}{end}.npy", (part.float() if part.dtype is torch.bfloat16 else part).detach().cpu())

def to_gnncc(graph, folder, **more):  # more: tensors of all graphs, as dgl.load_graphs gives their labels
    found, folder = tensors(graph) + [(None, *item) for item in more.items()], pathlib.Path(folder)
    begin = {owner: re.sub(r"\W", "_", owner if type(owner) is str else "__".join(owner)) + "." if owner else "" for owner, _, _ in found}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "graph.json").write_text(json.dumps({"node_types": [owner for owner in begin if type(owner) is str], "relations": [owner for owner in begin if type(owner) is tuple]}))
    for owner, name, value in found:
        if hasattr(value, "to_torch_sparse_coo_tensor"): value = value.to_torch_sparse_coo_tensor()  # a SparseTensor of torch_sparse
        if isinstance(value, (torch.Tensor, numpy.ndarray, int, float)): save(folder / (begin[owner] + name), torch.as_tensor(value))
        else: print(f"{name} is left out: it is a {type(value).__name__}")

if __name__ == "__main__":
    sys.tracebacklimit = 0  # an error is one line
    if len(sys.argv) != 3: sys.exit("usage: " + __doc__)
    graph, more = importlib.import_module("dgl").load_graphs(sys.argv[1]) if sys.argv[1].endswith(".bin") else (torch.load(sys.argv[1], map_location="cpu", weights_only=False), {})
    if type(graph) is dict and sys.argv[2].endswith(".npz"): numpy.savez(sys.argv[2], **{name: numpy.asarray(value) for name, value in graph.items()})
    else: to_gnncc(graph, sys.argv[2], **more)
