"""to_gnncc.py GRAPH FOLDER: the tensors of a graph of PyG (torch.save) or DGL (dgl.save_graphs), of a list of graphs or of what RandomLinkSplit makes, as a folder that gnncc reads.
to_gnncc.py SPLIT.pt SPLIT.npz: a split of a set of links of OGB, for the folder in which it lies."""
import copy, importlib, json, pathlib, re, sys
import numpy, torch

def stores(graph):  # of each type of nodes, of each relation (a tuple), and of all (None): {name: tensor}
    if hasattr(graph, "stores"):  # PyG's
        return [(store._key, {**store}) for store in graph.stores] + [(store._key, {"num_nodes": store.num_nodes}) for store in graph.node_stores]
    nodes = [(kind, {"batch_num_nodes": graph.batch_num_nodes(kind), **graph.nodes[kind].data}) for kind in graph.ntypes]
    edges = {kind: torch.stack(graph.edges(etype=kind, order="eid")) for kind in graph.canonical_etypes}
    return nodes + [(kind, {"edge_index": ends, **graph.edges[kind].data}) for kind, ends in edges.items()]

def save(path, value):
    tensor = value.to_torch_sparse_coo_tensor() if hasattr(value, "to_torch_sparse_coo_tensor") else torch.as_tensor(value).detach()
    if tensor.layout is torch.strided:
        return numpy.save(f"{path}.npy", (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).cpu())
    entries = tensor.to_sparse_coo()  # a sparse one is saved by its entries
    for name, part in {"indices": entries._indices(), "values": entries._values(), "shape": entries.shape}.items():
        save(f"{path}.{name}", part)

def to_gnncc(graph, folder, **more):  # more: tensors of all graphs, as dgl.load_graphs gives their labels
    found, folder = stores(one_graph(graph)) + [(None, more)], pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    owners = {what: list(dict.fromkeys(owner for owner, _ in found if type(owner) is kind)) for what, kind in (("node_types", str), ("relations", tuple))}
    (folder / "graph.json").write_text(json.dumps(owners))
    for owner, name, value in [(owner, *item) for owner, tensors in found for item in tensors.items()]:
        begin = re.sub(r"\W", "_", owner if type(owner) is str else "__".join(owner)) + "." if owner else ""
        if isinstance(value, (torch.Tensor, numpy.ndarray, int, float)) or hasattr(value, "to_torch_sparse_coo_tensor"):
            save(folder / (begin + name), value)
        else:
            print(f"{name} is left out: it is a {type(value).__name__}")

def one_graph(graph):  # a list is a batch; of the three of RandomLinkSplit the first is trained on, with the pairs of all
    graphs = graph if isinstance(graph, (list, tuple)) else [graph]
    if not graphs or not all(hasattr(g, "stores") or hasattr(g, "ntypes") for g in graphs):
        raise ValueError(f"a {type(graph).__name__} is no graph; save one, as dataset[0], or all, as list(dataset)")
    if graphs is not graph:
        return graph
    if hasattr(graphs[0], "ntypes"):
        return importlib.import_module("dgl").batch(graphs)
    if not any("edge_label" in store for store in graphs[0].stores):
        return importlib.import_module("torch_geometric.data").Batch.from_data_list(graphs)
    if len(graphs) != 3 or "edge_label" not in graphs[0].stores[0]:
        raise ValueError("graphs with edge_label are the three that RandomLinkSplit makes of a Data, for training, validation and test; of a HeteroData gnncc takes no pairs")
    first = copy.copy(graphs[0])
    for split, part in zip(("train", "val", "test"), graphs):
        first[f"{split}_edge_label"], first[f"{split}_edge_label_index"] = part.edge_label, part.edge_label_index
    return first

if __name__ == "__main__":
    sys.tracebacklimit = 0  # an error is one line
    if len(sys.argv) != 3:
        sys.exit("usage: " + __doc__)
    is_dgl = sys.argv[1].endswith(".bin")
    graph, more = importlib.import_module("dgl").load_graphs(sys.argv[1]) if is_dgl else (torch.load(sys.argv[1], map_location="cpu", weights_only=False), {})
    if type(graph) is dict and sys.argv[2].endswith(".npz"):
        numpy.savez(sys.argv[2], **{name: numpy.asarray(value) for name, value in graph.items()})
    else:
        to_gnncc(graph, sys.argv[2], **more)
