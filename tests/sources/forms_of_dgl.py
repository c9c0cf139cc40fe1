"""Folders of DGL: the graph of the other forms as CSVDataset and as GraphBolt have it, one with types of nodes in each, and damaged ones."""
import json
import shutil

from forms_of_graph import INDEX, TEST, TRAIN, VALID, WEIGHT, X, Y

CSV = """# what DGL's documentation calls meta.yaml
dataset_name: tiny
edge_data:
- file_name: edges.csv
node_data:
- file_name: 'nodes.csv'
  note: keys that nobody knows are passed over
"""
BOLT = """dataset_name: tiny
graph:
  nodes:
    - num: 6
  edges:
    - {format: numpy, path: edges/e.npy}
feature_data:
  - domain: node
    type: null
    name: feat
    format: numpy
    in_memory: true
    path: data/x.npy
  - {domain: edge, type: null, name: edge_weight, format: numpy, path: data/w.npy}
tasks:
  - name: node_classification
    num_classes: 3
"""


def tables(out, name):
    place = out / name
    place.mkdir(parents=True)
    flag = lambda v, rows: str(v in rows)
    place.joinpath("meta.yaml").write_text(CSV)
    place.joinpath("nodes.csv").write_text("node_id,feat,label,train_mask,val_mask,test_mask\n" + "".join(
        'n%d,"%s",%d,%s,%s,%s\n' % (v, ", ".join(map(str, X[v])), Y[v], flag(v, TRAIN), flag(v, VALID), flag(v, TEST)) for v in range(len(Y))))
    place.joinpath("edges.csv").write_text("edge_weight,dst_id,src_id\n" + "".join("%g,n%d,n%d\n" % (w, d, s) for (s, d), w in zip(zip(*INDEX), WEIGHT)))
    return place


def bolt(out, name, npy, folder):
    place = out / name
    folder(place / "edges", {"e": npy(INDEX, "<i8")})
    folder(place / "data", {"x": npy(X), "w": npy(WEIGHT)})
    text = BOLT
    for key, rows in (("train_set", TRAIN), ("validation_set", VALID), ("test_set", TEST)):
        folder(place / "set", {key: npy(rows, "<i8"), key + "_labels": npy([Y[v] for v in rows], "<i8")})
        text += "    %s:\n      - data:\n          - {name: seeds, format: numpy, path: set/%s.npy}\n          - {name: labels, format: numpy, path: set/%s_labels.npy}\n" % (key, key, key)
    place.joinpath("metadata.yaml").write_text(text)
    return place


def changed(place, copy, file, old, new):
    shutil.copytree(place, copy)
    text = (copy / file).read_text()
    assert old in text, (copy, old)
    (copy / file).write_text(text.replace(old, new, 1))


def dgl(out, npy, folder):
    csv, arrays = tables(out, "dgl_csv"), bolt(out, "dgl_bolt", npy, folder)
    relations = [{"name": "buys", "source": "user", "destination": "item"}, {"name": "knows", "source": "user", "destination": "user"}]
    folder(out / "shop", {"user.x": npy([[1, 2], [0, 1]]), "item.x": npy([[0.5], [2], [3]]), "user.y": npy([0, 1], "<i8"), "user.train_mask": npy([True, False], "|b1"),
                          "buys.edge_index": npy([[0, 1], [2, 0]], "<i8"), "knows.edge_index": npy([[0], [1]], "<i8")})
    (out / "shop/graph.json").write_text(json.dumps({"node_types": {"user": 2, "item": 3}, "relations": relations}))
    place = out / "dgl_shop"
    place.mkdir()
    place.joinpath("meta.yaml").write_text('dataset_name: shop\nseparator: ";"\nnode_data: [{file_name: user.csv, ntype: user}, {file_name: item.csv, ntype: item}]\n'
                                           "edge_data:\n- file_name: buys.csv\n  etype: [user, buys, item]\n- file_name: knows.csv\n  etype:\n  - user\n  - knows\n  - user\n")
    place.joinpath("user.csv").write_text("node_id;feat;label;train_mask\nann;1,2;0;1\nbob;0,1;1;0\n")
    place.joinpath("item.csv").write_text("node_id;feat\n0;0.5\n1;2\n2;3\n")
    place.joinpath("buys.csv").write_text("src_id;dst_id\nann;2\nbob;0\n")
    place.joinpath("knows.csv").write_text("src_id;dst_id\nann;bob\n")
    place = out / "bolt_shop"
    folder(place, {"ux": npy([[1, 2], [0, 1]]), "ix": npy([[0.5], [2], [3]]), "y": npy([0, 1], "<i8"), "train": npy([0], "<i8")})
    place.joinpath("buys.csv").write_text("0,2\n1,0\n")
    place.joinpath("knows.csv").write_text("0,1\n")
    place.joinpath("metadata.yaml").write_text("""dataset_name: shop
graph:
  nodes: [{type: user, num: 2}, {type: item, num: 3}]
  edges: [{type: "user:buys:item", format: csv, path: buys.csv}, {type: "user:knows:user", format: csv, path: knows.csv}]
feature_data:
- {domain: node, type: user, name: feat, format: numpy, path: ux.npy}
- {domain: node, type: item, name: feat, format: numpy, path: ix.npy}
- {domain: node, type: user, name: label, format: numpy, path: y.npy}
tasks:
- {name: kinds, num_classes: 2, train_set: [{type: user, data: [{name: seeds, format: numpy, path: train.npy}]}]}
""")
    broken = out / "broken"
    changed(csv, broken / "dgl_file", "meta.yaml", "edges.csv", "edge.csv")
    changed(csv, broken / "dgl_yaml", "meta.yaml", "- file_name: 'nodes", "- file_name: [nodes")
    changed(csv, broken / "dgl_graphs", "meta.yaml", "node_data:", "graph_data: {file_name: graphs.csv}\nnode_data:")
    changed(csv, broken / "dgl_none", "meta.yaml", "node_data:", "nodes:")
    changed(csv, broken / "dgl_end", "edges.csv", ",n0", ",n9")
    changed(csv, broken / "dgl_column", "nodes.csv", "node_id", "id")
    changed(arrays, broken / "bolt_torch", "metadata.yaml", "format: numpy\n", "format: torch\n")
    changed(arrays, broken / "bolt_nodes", "metadata.yaml", "num: 6", "num: six")
    changed(arrays, broken / "bolt_few", "metadata.yaml", "num: 6", "num: 5")
    changed(arrays, broken / "bolt_rows", "metadata.yaml", "path: data/x.npy", "path: data/w.npy")
    changed(arrays, broken / "bolt_label", "metadata.yaml", "path: set/test_set_labels.npy", "path: data/w.npy")
    (broken / "dgl_empty").mkdir()
    (broken / "dgl_empty/meta.yaml").write_text("# nothing\n")
    (broken / "dgl_aliases").mkdir()
    (broken / "dgl_aliases/meta.yaml").write_text("a0: &a0 [x, x]\n" + "".join("a%d: &a%d [%s]\n" % (i, i, ", ".join(["*a%d" % (i - 1)] * 9)) for i in range(1, 12)))
