"""to_gnncc.py GRAPH FOLDER: the tensors of a graph of PyG (torch.save) or DGL (dgl.save_graphs) as a folder that gnncc reads; of several graphs with to_gnncc_sets.py beside it."""
import importlib, json, os, re, sys, numpy, torch
def stores(graph):  # of each type of nodes, of each relation (a tuple), and of all (None): {name: tensor}
    if hasattr(graph, "stores"): return [(s._key, {**s}) for s in graph.stores] + [(s._key, {"num_nodes": s.num_nodes}) for s in graph.node_stores]  # PyG's
    nodes = [(kind, {"batch_num_nodes": graph.batch_num_nodes(kind), **graph.nodes[kind].data}) for kind in graph.ntypes]
    return nodes + [(kind, {"edge_index": torch.stack(graph.edges(etype=kind, order="eid")), **graph.edges[kind].data}) for kind in graph.canonical_etypes]
def save(path, value):
    tensor = value.to_torch_sparse_coo_tensor() if hasattr(value, "to_torch_sparse_coo_tensor") else torch.as_tensor(value).detach().cpu()
    if tensor.layout is torch.strided: return numpy.save(f"{path}.npy", tensor.float() if tensor.dtype is torch.bfloat16 else tensor)
    for name, part in {"indices": (entries := tensor.to_sparse_coo())._indices(), "values": entries._values(), "shape": entries.shape}.items(): save(f"{path}.{name}", part)
def to_gnncc(graph, folder, **more):  # more: tensors of all graphs, as dgl.load_graphs gives their labels
    found = stores(graph if hasattr(graph, "stores") or hasattr(graph, "ntypes") else importlib.import_module("to_gnncc_sets").one_graph(graph)) + [(None, more)]
    os.makedirs(folder, exist_ok=True)
    json.dump({what: list(dict.fromkeys(owner for owner, _ in found if type(owner) is kind)) for what, kind in (("node_types", str), ("relations", tuple))}, open(f"{folder}/graph.json", "w"))
    for owner, name, value in [(owner, *item) for owner, tensors in found for item in tensors.items()]:
        path = f"{folder}/" + (re.sub(r"\W", "_", owner if type(owner) is str else "__".join(owner)) + "." if owner else "") + name
        save(path, value) if isinstance(value, (torch.Tensor, numpy.ndarray, int, float)) or hasattr(value, "to_torch_sparse_coo_tensor") else print(f"{name} is left out: it is a {type(value).__name__}")
if __name__ == "__main__" and (len(sys.argv) == 3 or sys.exit("usage: " + __doc__)):
    graph, more = importlib.import_module("dgl").load_graphs(sys.argv[1]) if sys.argv[1].endswith(".bin") else (torch.load(sys.argv[1], map_location="cpu", weights_only=False), {})
    to_gnncc(graph, sys.argv[2], **more)
