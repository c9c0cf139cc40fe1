"""to_gnncc.py GRAPH FOLDER: a PyG Data or HeteroData (of torch.save), or a DGL graph (of dgl.save_graphs), as a folder that gnncc reads."""
import json, pathlib, sys
import numpy

def parts(graph):  # [(type, nodes, fields)], [((source, name, destination), edge_index, fields)]
    if hasattr(graph, "canonical_etypes"):
        return ([(t, graph.num_nodes(t), dict(graph.nodes[t].data)) for t in graph.ntypes],
                [(e, [end.numpy() for end in graph.edges(etype=e, order="eid")], dict(graph.edges[e].data)) for e in graph.canonical_etypes])
    if hasattr(graph, "edge_types"):
        return [(t, graph[t].num_nodes, {k: v for k, v in graph[t].items() if k != "num_nodes"}) for t in graph.node_types], [(e, graph[e].edge_index, dict(graph[e].items())) for e in graph.edge_types]
    fields = {"graph_ptr" if key == "ptr" else key: value for key, value in graph.to_dict().items() if key not in ("batch", "num_nodes")}
    return ([("node", graph.num_nodes, {k: v for k, v in fields.items() if not k.startswith("edge_")})],
            [(("node", "to", "node"), graph.edge_index, {k: v for k, v in fields.items() if k.startswith("edge_")})])

def to_gnncc(graph, folder):
    folder, (nodes, edges) = pathlib.Path(folder), parts(graph)
    is_plain, about = len(nodes) == len(edges) == 1, {"num_nodes": nodes[0][1]}
    folder.mkdir(parents=True, exist_ok=True)
    def save(name, value):
        array = numpy.asarray(value) if hasattr(value, "__array__") or isinstance(value, list) else None
        if array is None or array.dtype == object: return print(f"{name} is left out: it is a {type(value).__name__}")
        if name.endswith("_mask") and array.ndim == 2: name, array = name + "s", array.T  # a column for each of several splits
        numpy.save(folder / f"{name}.npy", array)
    for kind, _, fields in nodes:
        for key, value in fields.items(): save(("" if is_plain else kind + ".") + {"feat": "x", "label": "y"}.get(key, key), value)
    for (source, name, destination), index, fields in edges:
        name = name if sum(e[0][1] == name for e in edges) == 1 else f"{source}_{name}_{destination}"
        save("edge_index" if is_plain else name + ".edge_index", numpy.stack([numpy.asarray(end) for end in index]))
        for key, value in fields.items():
            if key != "edge_index" and is_plain: save(key if key.startswith("edge_") else "edge_" + key, value)
            elif key != "edge_index": print(f"{key} of {name} is left out: fields of relations are not read")
        if not is_plain: about.setdefault("relations", []).append({"name": name, "source": source, "destination": destination})
    if not is_plain: about = {"node_types": {kind: count for kind, count, _ in nodes}, "relations": about["relations"]}
    (folder / "graph.json").write_text(json.dumps(about))

if __name__ == "__main__":
    if sys.argv[1].endswith(".bin"): import dgl; to_gnncc(dgl.load_graphs(sys.argv[1])[0][0], sys.argv[2])
    else: import torch; to_gnncc(torch.load(sys.argv[1]), sys.argv[2])
