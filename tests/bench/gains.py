"""What single ways to speed give alone and together: programs of three layers of 128 in turn, an epoch with none of them over one with each, and with all. The graphs and
the layers are those of `make bench`. What was measured is kept in BUILD/bench/gains.json after every turn; the next call does what is missing."""
import argparse
import json
import os
import statistics
import sys

import peers

NONE = ["-fno-stages", "-fno-hoist", "-fno-reassociate"]
WAYS = {  # name: what the options of "none" become, what the data block says, what a reader reads
    "none": (NONE, "", "none of them"),
    "reassociate": (["-fno-stages", "-fno-hoist"], "", "products and sums in the order of least work"),
    "hoist": (["-fno-stages", "-fno-reassociate"], "", "sums that no epoch changes computed once"),
    "stages": (["-fno-hoist", "-fno-reassociate"], "", "attention in one pass over the edges of a row"),
    "nested": (NONE, "order = nested", "nested order of nodes"),
    "bf16": (NONE + ["--precision=bf16"], "", "values in bf16"),
    "default": ([], "", "the first three: as gnncc compiles"),
    "all": (["--precision=bf16"], "order = nested", "all"),
}


def program(a, entry, way):
    options, line, _ = WAYS[way]
    folder = os.path.join(a.folder, "gains")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, entry.key.replace(" ", "_") + "_" + way)
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(os.path.join(a.build, "gnncc")):
        text = entry.text(peers.graph_file(a, entry.graph))
        with open(path + ".gnn", "w") as file:
            file.write(text.replace('"\nmodel', '" { ' + line + ' }\nmodel', 1) if line else text)
        peers.command(os.path.join(a.build, "gnncc"), "-q", "-w", *options, path + ".gnn", "-o", path)
    return path


def ways_of(entry):
    return [way for way in WAYS if way != "stages" or entry.model in peers.ATTENTION]


def main():
    parser = argparse.ArgumentParser(prog="gains.sh BUILD", description=__doc__)
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--models", default="gcn,sage,gat,gatv2")
    parser.add_argument("--graphs", default="amazon_photo,tolokers,arxiv")
    parser.add_argument("--data", default=peers.SHARED)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=3, help="of a turn")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--again", action="store_true", help="forget what was measured")
    a = peers.parsed(parser)
    bench = peers.Kept(a, "gains.json")
    entries = [peers.Entry(model, 3, 128, graph) for graph in a.graphs.split(",") for model in a.models.split(",")]
    for entry in entries:
        kept = bench.found.setdefault(entry.key, {})
        while len(kept.get("rounds", [])) < a.rounds:
            times = {}
            for way in ways_of(entry):
                out = peers.command(program(a, entry, way), "bench", "--json", "--threads", str(a.threads), "--warmup", "1", "--epochs", str(a.epochs))
                times[way] = json.loads(out)["median"]
            kept.setdefault("rounds", []).append(times)
            bench.keep()
    print("| entry | epoch, none |" + "".join(f" {WAYS[way][2]} |" for way in list(WAYS)[1:]))
    print("| --- | ---: |" + " ---: |" * (len(WAYS) - 1))
    for entry in entries:
        rounds, cells = bench.found[entry.key]["rounds"], []
        for way in list(WAYS)[1:]:
            each = [r["none"] / r[way] for r in rounds if way in r]
            cells.append(f"{statistics.median(each):.2f} ({min(each):.2f} … {max(each):.2f})" if each else "")
        print(f"| {entry.key} | {peers.milliseconds(statistics.median(r['none'] for r in rounds))} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    sys.exit(main())
