"""to_gnncc.py GRAPH FOLDER: a PyG Data, HeteroData or list of Data (of torch.save), or a DGL graph (of dgl.save_graphs), as a folder that gnncc reads."""
import json, pathlib, sys
import numpy

LISTS = {word: split for split, words in (("train", ("train_idx", "idx_train")), ("val", ("val_idx", "valid_idx", "idx_val")), ("test", ("test_idx", "idx_test"))) for word in words}

def one_graph(graph):  # of what torch.save has written
    if isinstance(graph, tuple) and len(graph) in (2, 3) and graph[1] is None:  # InMemoryDataset: data, slices and the class of data
        graph = graph[2].from_dict(graph[0]) if len(graph) == 3 else graph[0]
    if isinstance(graph, tuple): raise ValueError("the file holds the (data, slices) of a dataset; save one graph, dataset[0], or all, list(dataset)")
    if isinstance(graph, list) and graph:
        from torch_geometric.data import Batch
        if len({type(item) for item in graph}) > 1 or not hasattr(graph[0], "edge_index"): raise ValueError(f"a list of {type(graph[0]).__name__} is no list of graphs of one type")
        graph = graph[0] if len(graph) == 1 else Batch.from_data_list(graph)
    if not hasattr(graph, "canonical_etypes") and not (hasattr(graph, "to_dict") and hasattr(graph, "num_nodes")): raise ValueError(f"a {type(graph).__name__} is no graph")
    return graph

def plain(value):  # a tensor, as NumPy takes it
    if hasattr(value, "detach"): value = value.detach().cpu()
    if str(getattr(value, "layout", "torch.strided")) != "torch.strided": value = value.to_dense()
    return value.float() if str(getattr(value, "dtype", "")) == "torch.bfloat16" else value

def with_edges(fields, of):  # adj_t, as ToSparseTensor makes it, has the destinations in its rows
    adjacency = fields.pop("adj_t", None)
    if adjacency is not None:
        if hasattr(adjacency, "coo"): row, column, value = adjacency.coo()
        else: (row, column), value = adjacency.to_sparse_coo()._indices(), adjacency.to_sparse_coo()._values()
        fields["edge_index"] = [plain(column), plain(row)]
        if value is not None and bool((value != 1).any()): fields["edge_weight"] = value
    if fields.get("edge_index") is None: raise ValueError(f"{of} has neither edge_index nor adj_t")
    return fields

def parts(graph):  # [(type, nodes, fields)], [((source, name, destination), edge_index, fields)]
    if hasattr(graph, "canonical_etypes"):
        return ([(t, graph.num_nodes(t), dict(graph.nodes[t].data)) for t in graph.ntypes],
                [(e, [end.numpy() for end in graph.edges(etype=e, order="eid")], dict(graph.edges[e].data)) for e in graph.canonical_etypes])
    if hasattr(graph, "edge_types"):
        edges = [(e, with_edges(dict(graph[e].items()), " ".join(e))) for e in graph.edge_types]
        return [(t, graph[t].num_nodes, {k: v for k, v in graph[t].items() if k != "num_nodes"}) for t in graph.node_types], [(e, fields["edge_index"], fields) for e, fields in edges]
    fields = {"graph_ptr" if key == "ptr" else key: value for key, value in graph.to_dict().items() if key not in ("batch", "num_nodes")}
    fields = with_edges(fields, "the graph")
    return ([("node", graph.num_nodes, {k: v for k, v in fields.items() if not k.startswith("edge_")})],
            [(("node", "to", "node"), fields["edge_index"], {k: v for k, v in fields.items() if k.startswith("edge_")})])

def to_gnncc(graph, folder):
    folder, (nodes, edges) = pathlib.Path(folder), parts(one_graph(graph))
    is_plain, about = len(nodes) == len(edges) == 1, {"num_nodes": nodes[0][1]}
    folder.mkdir(parents=True, exist_ok=True)
    def save(name, value):
        value = plain(value)
        array = numpy.asarray(value) if hasattr(value, "__array__") or isinstance(value, list) else None
        if array is None or array.dtype == object: return print(f"{name} is left out: it is a {type(value).__name__}")
        if name.endswith("_mask") and array.ndim == 2: name, array = name + "s", array.T  # a column for each of several splits
        numpy.save(folder / f"{name}.npy", array)
    def save_of_nodes(prefix, count, key, value):
        if key in LISTS and f"{LISTS[key]}_mask" not in fields and numpy.asarray(plain(value)).ndim == 1:  # the numbers of rows
            rows = numpy.asarray(plain(value))
            key, value = f"{LISTS[key]}_mask", rows if rows.dtype == bool else numpy.isin(numpy.arange(count), rows)
        save(prefix + {"feat": "x", "label": "y"}.get(key, key), value)
    for kind, count, fields in nodes:
        for key, value in fields.items(): save_of_nodes("" if is_plain else kind + ".", count, key, value)
    for (source, name, destination), index, fields in edges:
        name = name if sum(e[0][1] == name for e in edges) == 1 else f"{source}_{name}_{destination}"
        save("edge_index" if is_plain else name + ".edge_index", numpy.stack([numpy.asarray(plain(end)) for end in index]))
        for key, value in fields.items():
            if key != "edge_index" and is_plain: save(key if key.startswith("edge_") else "edge_" + key, value)
            elif key != "edge_index": print(f"{key} of {name} is left out: fields of relations are not read")
        if not is_plain: about.setdefault("relations", []).append({"name": name, "source": source, "destination": destination})
    if not is_plain: about = {"node_types": {kind: count for kind, count, _ in nodes}, "relations": about["relations"]}
    (folder / "graph.json").write_text(json.dumps(about))

if __name__ == "__main__":
    if len(sys.argv) != 3: sys.exit("usage: " + __doc__)
    try:
        if sys.argv[1].endswith(".bin"):
            import dgl
            graphs = dgl.load_graphs(sys.argv[1])[0]
            if len(graphs) != 1: raise ValueError(f"the file holds {len(graphs)} graphs; save one")
            to_gnncc(graphs[0], sys.argv[2])
        else:
            import torch
            to_gnncc(torch.load(sys.argv[1], map_location="cpu", weights_only=False), sys.argv[2])
    except (ValueError, OSError) as error: sys.exit(f"to_gnncc.py: {sys.argv[1]}: {error}")
