"""to_gnncc_sets.py SPLIT.pt SPLIT.npz: a split of a set of links of OGB, for the folder in which it lies. Beside to_gnncc.py: what of several graphs is made into one."""
import copy, importlib, sys

def refuse(why):
    if sys.argv[0].endswith("to_gnncc.py"):
        sys.tracebacklimit = 0  # an error of the command is one line
    raise ValueError(why)

def one_graph(graphs):  # a list is a batch; of the three of RandomLinkSplit the first is trained on, with the pairs of all; a graph of NetworkX is what PyG makes of it
    if hasattr(graphs, "is_directed") and hasattr(graphs, "adj"):
        return importlib.import_module("torch_geometric.utils").from_networkx(graphs)
    if not isinstance(graphs, (list, tuple)) or not graphs or not all(hasattr(g, "stores") or hasattr(g, "ntypes") for g in graphs):
        refuse(f"a {type(graphs).__name__} is no graph; save one, as dataset[0], or all, as list(dataset); of a split of OGB's links: to_gnncc_sets.py")
    if hasattr(graphs[0], "ntypes"):
        return importlib.import_module("dgl").batch(graphs)
    if not any("edge_label" in store for store in graphs[0].stores):
        return importlib.import_module("torch_geometric.data").Batch.from_data_list(graphs)
    if len(graphs) != 3 or "edge_label" not in graphs[0].stores[0]:
        refuse("graphs with edge_label are the three that RandomLinkSplit makes of a Data, for training, validation and test; of a HeteroData gnncc takes no pairs")
    first = copy.copy(graphs[0])
    for split, part in zip(("train", "val", "test"), graphs):
        first[f"{split}_edge_label"], first[f"{split}_edge_label_index"] = part.edge_label, part.edge_label_index
    return first

if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: " + __doc__)
    import numpy, torch
    split = torch.load(sys.argv[1], map_location="cpu", weights_only=False)
    numpy.savez(sys.argv[2], **{name: numpy.asarray(value) for name, value in split.items()})
