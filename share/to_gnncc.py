"""to_gnncc.py GRAPH FOLDER: a Data, HeteroData, list of Data or what RandomLinkSplit makes, of PyG (torch.save), or graphs of DGL (dgl.save_graphs), as a folder that gnncc reads."""
import copy, json, pathlib, re, sys
import numpy, torch

def as_one(graph):  # of several graphs and splits
    if type(graph) is tuple and len(graph) in (2, 3) and graph[1] is None: return graph[2].from_dict(graph[0]) if len(graph) == 3 else graph[0]  # InMemoryDataset: data, slices and the class of data
    if type(graph) is tuple and all("edge_label_index" in part for part in graph):  # RandomLinkSplit: what is trained, validated and tested with
        pairs = {f"{split}_{key}": part[key] for split, part in zip(("train", "val", "test"), graph) for key in ("edge_label", "edge_label_index")}
        return as_one(copy.copy(graph[0])).update({"edge_label": None, "edge_label_index": None, **pairs})
    if type(graph) is list and len(graph) == 1: return graph[0]
    if type(graph) is list and graph and hasattr(graph[0], "canonical_etypes"): import dgl; return dgl.batch(graph)
    if type(graph) is list and graph and hasattr(graph[0], "edge_index"): from torch_geometric.data import Batch; return Batch.from_data_list(graph)
    if not hasattr(graph, "canonical_etypes") and not hasattr(graph, "stores"): raise ValueError(f"a {type(graph).__name__} is no graph; save one, as dataset[0], or all, as list(dataset)")
    return graph

def stores(graph):  # {type of nodes: number}, {type or (source, name, destination): arrays}
    if hasattr(graph, "stores"): return {store._key: store.num_nodes for store in graph.node_stores}, {store._key: dict(store) for store in graph.stores}
    arrays = {kind: dict(graph.nodes[kind].data) for kind in graph.ntypes}
    for kind in graph.canonical_etypes: arrays[kind] = {"edge_index": torch.stack(graph.edges(etype=kind, order="eid")), **{re.sub("^(?!edge_)", "edge_", key): value for key, value in graph.edges[kind].data.items()}}
    if graph.batch_size > 1: arrays[None] = {"graph_ptr": numpy.cumsum([0, *graph.batch_num_nodes(graph.ntypes[0]).tolist()])}
    return {kind: graph.num_nodes(kind) for kind in graph.ntypes}, arrays

def to_gnncc(graph, folder, **more):  # more: arrays of all graphs, as dgl.load_graphs gives their labels
    (nodes, arrays), folder = stores(as_one(graph)), pathlib.Path(folder)
    edges, is_plain = [kind for kind in arrays if type(kind) is tuple], len(arrays) == 1 or len(nodes) == len([kind for kind in arrays if type(kind) is tuple]) == 1
    if more: arrays[None] = {**arrays.get(None, {}), **more}
    folder.mkdir(parents=True, exist_ok=True)
    for kind, own in arrays.items():
        if own.get("adj_t") is not None:  # of the destinations in its rows
            from torch_geometric.utils import to_edge_index
            index, weight = to_edge_index(own.pop("adj_t"))
            own.update({"edge_index": index.flip(0)}, **({} if bool((weight == 1).all()) else {"edge_weight": weight}))
        for key, value in own.items():
            if torch.is_tensor(value): value = (value if value.layout == torch.strided else value.to_dense()).detach().cpu()
            array, of = numpy.asarray(value.float() if torch.is_tensor(value) and value.dtype == torch.bfloat16 else value), kind if type(kind) is str else "__".join(kind or ())
            if array.dtype.kind in "biuf": numpy.save(folder / f"{'' if is_plain or not of else re.sub(r'[^A-Za-z0-9]', '_', of) + '.'}{key}.npy", array)
            elif value is not None: print(f"{key} is left out: it is a {type(value).__name__}")
    about = {"num_nodes": sum(nodes.values())} if is_plain else {"node_types": nodes, "relations": [dict(zip(("source", "name", "destination"), kind)) for kind in edges]}
    (folder / "graph.json").write_text(json.dumps(about))

if __name__ == "__main__":
    if len(sys.argv) != 3: sys.exit("usage: " + __doc__)
    try:
        if sys.argv[1].endswith(".bin"):
            import dgl
            graphs, labels = dgl.load_graphs(sys.argv[1])
            to_gnncc(graphs, sys.argv[2], **labels)
        else: to_gnncc(torch.load(sys.argv[1], map_location="cpu", weights_only=False), sys.argv[2])
    except (ValueError, OSError) as error: sys.exit(f"to_gnncc.py: {sys.argv[1]}: {error}")
