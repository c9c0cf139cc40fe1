"""Training on a GPU, measured: epochs and memory beside PyTorch Geometric's, what each kernel reaches of the memory's bandwidth, and one model under
ever smaller budgets. For bench.sh, which says how it is called.

Ours and the peers take turns, round after round, so that what disturbs the machine disturbs both; ratios are of medians. Graphs are made up (R-MAT,
gnndata synth) with the numbers of nodes and edges, features and classes of the ones they are named after. Peaks: ours of the arena, planned and
touched; the peers' torch.cuda.max_memory_allocated. Neither counts the context. Standard library only."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHAPES = {  # nodes, edges stored a node, features, classes
    "Cora": (2_708, 4, 1_433, 7),
    "ogbn-products": (2_449_029, 51, 100, 47),
    "Reddit": (232_965, 492, 602, 41),
}
TINY = {"Cora": (200, 4, 33, 7), "ogbn-products": (300, 8, 20, 5), "Reddit": (150, 12, 24, 4)}
LAYERS = {"GCN": "GCN", "SAGE": "SAGE", "GIN": "GIN"}
SHARES = (100, 50, 25, 12)
MODEL = """data g from "{data}"
model {name} on g {{
  h = x
  for i in 1 .. 2 {{ h = h |> {layer}({hidden}) as convs |> relu }}
  return h |> {layer}(y.classes) as head
}}
train {name} {{
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = {epochs}
}}
"""
WAYS = ("csr", "sparse_tensor", "edge_index", "csr+compile", "edge_index+compile", "csr+reduce-overhead", "edge_index+reduce-overhead")


def mebibytes(count):
    return f"{count / 2**20:,.1f} MiB"


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("build", "architecture", "gpu", "peers"):
        p.add_argument("--" + name, required=True)
    p.add_argument("--tiny", action="store_true", help="small graphs, few epochs: whether it runs")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--hidden", type=int, default=256)
    p.add_argument("--shapes", default=",".join(SHAPES))
    p.add_argument("--models", default=",".join(LAYERS))
    p.add_argument("--target", help="in place of calibrating")
    a = p.parse_args()
    if a.tiny:
        a.rounds, a.epochs, a.hidden = 1, 2, 16
    a.sizes = TINY if a.tiny else SHAPES
    return a


class Bench:
    def __init__(self, a):
        self.a = a
        self.gnncc, self.gnndata = f"{a.build}/gnncc", f"{a.build}/gnndata"
        self.work = Path(a.build) / "check" / "bench_gpu"
        self.work.mkdir(parents=True, exist_ok=True)
        self.found = {"gpu": a.gpu, "architecture": a.architecture, "rounds": a.rounds, "epochs": a.epochs, "hidden": a.hidden, "sizes": {}, "runs": [], "budgets": [], "kernels": {}}
        self.out = []

    def run(self, *command, may_fail=False):
        print("+", *command, file=sys.stderr, flush=True)
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=self.work)
        if done.returncode != 0 and not may_fail:
            sys.exit(f"{' '.join(map(str, command))}\nended with status {done.returncode}:\n{done.stdout}{done.stderr}")
        return done

    def target(self):
        if self.a.target:
            return self.a.target
        self.run(self.gnncc, "-q", "--force", "--calibrate=bench_gpu", "--backend=cuda")
        return self.work / "bench_gpu.gnn"

    def data(self, shape):
        nodes, degree, features, classes = self.a.sizes[shape]
        path = self.work / f"{shape}_{nodes}_{degree}_{features}_{classes}.safetensors"
        if not path.exists():
            self.run(self.gnndata, "synth", "rmat", path, "--nodes", nodes, "--degree", degree, "--features", features, "--classes", classes)
        with open(path, "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        edges = header.get("csr.col") or header.get("edge.src")
        self.found["sizes"][shape] = {"nodes": nodes, "edges": edges["shape"][0], "features": features, "classes": classes}
        return path

    def compile(self, name, layer, data, *options):
        model, program = self.work / f"{name}.gnn", self.work / name
        model.write_text(MODEL.format(data=data, name=re.sub(r"\W", "_", layer.lower()), layer=layer, hidden=self.a.hidden, epochs=self.a.epochs))
        done = self.run(self.gnncc, "-q", "-w", "--force", "--backend=cuda", f"--arch={self.a.architecture}", f"--target={self.target_path}", *options, model, "-o", program, may_fail=True)
        return program if done.returncode == 0 else None, done.stderr.strip()

    @staticmethod
    def memory(profile):
        """Bytes planned and touched of the device's arena."""
        return profile["tiers"]["device"]["peak_bytes"], profile["measured"]["device_peak_bytes"]

    def bench(self, program):
        return json.loads(self.run(program, "bench", "--json", "--epochs", self.a.epochs, "--warmup", 2).stdout.splitlines()[-1])

    def profile(self, program):
        report = self.work / (program.name + ".run.json")
        self.run(program, "profile", "-o", report, "--epochs", 5)
        return json.loads(report.read_text())

    def peer(self, data, layer, way):
        done = self.run(self.a.peers, HERE / "bench_worker.py", data, layer, way, self.a.hidden, self.a.epochs, may_fail=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if lines:
            return json.loads(lines[-1])
        return {"missing": (done.stderr.strip().splitlines() or ["it died"])[-1][:100]}

    # ---- beside the peers ----

    def compare(self, shape, model):
        data = self.data(shape)
        program, why = self.compile(f"{model}_{shape}", LAYERS[model], data)
        if not program:
            return self.found["runs"].append({"shape": shape, "model": model, "missing": why})
        profile = self.profile(program)
        planned, touched = self.memory(profile)
        ours, peers, ways = [], {}, list(WAYS)
        for _ in range(self.a.rounds):
            ours.append(self.bench(program))
            for way in list(ways):
                found = self.peer(data, model, way)
                peers.setdefault(way, []).append(found)
                if "missing" in found:
                    ways.remove(way)
        self.found["runs"].append({"shape": shape, "model": model, "ours": ours, "peers": peers, "planned": planned, "touched": touched})
        self.found["kernels"][f"{model}, {shape}"] = self.kernels(profile)

    @staticmethod
    def kernels(profile):
        """Seconds and bytes by kind of kernel."""
        took = {}
        for step in profile["measured"]["steps"]:
            took.setdefault(step["step"], []).append(step["seconds"])
        kinds = {}
        for step in profile["steps"]:
            if step["lane"] != "compute" or step["step"] not in took:
                continue
            kind = kinds.setdefault(step["kernel"], {"steps": 0, "seconds": 0.0, "bytes": 0, "flops": 0.0, "predicted": 0.0})
            kind["steps"] += 1
            kind["seconds"] += statistics.median(took[step["step"]])
            kind["predicted"] += step["seconds"]
            kind["bytes"] += step["bytes"]
            kind["flops"] += step["flops"]
        return {"bandwidth": profile["machine"]["bandwidth"], "fp32": profile["machine"]["flops"], "kinds": kinds}

    # ---- ever smaller budgets ----

    def shrink(self, shape="ogbn-products", model="SAGE"):
        data = self.data(shape)
        keep, why = self.compile(f"{model}_{shape}_keep", LAYERS[model], data)
        if not keep:
            return self.found["budgets"].append({"share": 100, "missing": why})
        whole = self.profile(keep)["tiers"]["device"]["peak_bytes"]
        bits = self.bits(keep)
        least = 0
        for share in SHARES:
            kib = whole * share // 100 // 1024
            if kib < least:
                self.found["budgets"].append({"share": share, "missing": "does not fit, either"})
                continue
            program, why = self.budgeted(keep, layer=LAYERS[model], data=data, kib=kib, share=share)
            smallest = re.search(r"--budget [a-z]+=(\d+)KiB is the smallest that works", why)
            if not program and smallest:  # what fits in its place
                least = int(smallest[1])
                program, why = self.budgeted(keep, layer=LAYERS[model], data=data, kib=least, share=share)
            row = {"share": share, "budget_bytes": (least or kib) * 1024, "of_keep": (least or kib) * 1024 / whole}
            if not program:
                row["missing"] = why.splitlines()[0] if why else "it does not fit"
            else:
                planned, touched = self.memory(self.profile(program))
                rounds = [self.bench(program) for _ in range(self.a.rounds)]
                row.update(planned=planned, touched=touched, seconds=statistics.median(r["median"] for r in rounds), predicted=rounds[0]["estimated"], same_bits=self.bits(program) == bits)
            self.found["budgets"].append(row)

    def budgeted(self, keep, layer, data, kib, share):
        return (keep, "") if share == 100 else self.compile(f"{keep.name[:-5]}_{share}", layer, data, f"--budget=device={kib}KiB")

    def bits(self, program):
        """Losses and weights after a few epochs."""
        out = self.work / (program.name + ".out")
        text = self.run(program, "-q", "--epochs", 2, "--every", 1, "--log", "csv", "--out", out)
        weights = (out / "last.safetensors").read_bytes()
        start = 8 + int.from_bytes(weights[:8], "little")
        curves = [[line.split(",")[1:7] for line in path.read_text().splitlines()] for path in sorted(out.rglob("*.csv"))]
        return text.returncode, curves, weights[start:]

    # ---- the tables ----

    def write(self):
        f, say = self.found, self.out.append
        say(f"{f['gpu']} ({f['architecture']}), 3 layers, hidden {f['hidden']}, {f['rounds']} rounds of {f['epochs']} epochs in turn.\n")
        say("Epoch time and peak memory of the device beside PyTorch Geometric's fastest full-batch form:\n")
        say("| model | shape | edges | ours ms | PyG ms | PyG / ours | ours peak | PyG peak | ours / PyG | PyG's form |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
        for r in f["runs"]:
            say(self.row(r))
        say("\nPlanned and touched memory:\n\n| model | shape | planned | touched | equal |\n| --- | --- | ---: | ---: | --- |")
        for r in f["runs"]:
            if "ours" in r:
                say(f"| {r['model']} | {r['shape']} | {mebibytes(r['planned'])} | {mebibytes(r['touched'])} | {'yes' if r['planned'] == r['touched'] else 'NO'} |")
        say("\nWhat kernels reach of the bandwidth (of fp32, where that is more) that calibration measured, in a profiled epoch:\n")
        say("| model, shape | kernel | steps | ms | of the bandwidth | of fp32 | measured / predicted |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |")
        for name, k in f["kernels"].items():
            for kind, v in sorted(k["kinds"].items(), key=lambda item: -item[1]["seconds"]):
                s = max(v["seconds"], 1e-12)
                say(f"| {name} | {kind} | {v['steps']} | {1e3 * s:.3f} | {100 * v['bytes'] / s / k['bandwidth']:.0f} % | {100 * v['flops'] / s / k['fp32']:.0f} % | {s / max(v['predicted'], 1e-12):.2f} |")
        say("\nSAGE at the shape of ogbn-products, in ever less of what keeping everything needs:\n")
        say("| budget | planned | touched | equal | the same bits | measured ms | of keep-all | predicted ms | measured / predicted |\n| ---: | ---: | ---: | --- | --- | ---: | ---: | ---: | ---: |")
        first = next((b["seconds"] for b in f["budgets"] if "seconds" in b), None)
        for b in f["budgets"]:
            if "missing" in b:
                say(f"| {b['share']} % | {b['missing']} | | | | | | | |")
                continue
            which = f"{b['share']} %" if abs(100 * b["of_keep"] - b["share"]) < 1 else f"{100 * b['of_keep']:.1f} %, the least that works, for {b['share']} %"
            say(f"| {which} | {mebibytes(b['planned'])} | {mebibytes(b['touched'])} | {'yes' if b['planned'] == b['touched'] else 'NO'} | {'yes' if b['same_bits'] else 'NO'} | "
                f"{1e3 * b['seconds']:.3g} | {b['seconds'] / first:.2f} | {1e3 * b['predicted']:.3g} | {b['seconds'] / b['predicted']:.2f} |")
        text = "\n".join(self.out) + "\n"
        Path(self.a.build, "bench_gpu.md").write_text(text)
        Path(self.a.build, "bench_gpu.json").write_text(json.dumps(f, indent=1))
        print(text, end="")

    def row(self, r):
        if "missing" in r:
            return f"| {r['model']} | {r['shape']} | {r['missing']} | | | | | | | |"
        edges = self.found["sizes"][r["shape"]]["edges"]
        ours, peak = statistics.median(o["median"] for o in r["ours"]), r["touched"]
        there = {way: p for way, p in r["peers"].items() if not any("missing" in one for one in p)}
        begin = f"| {r['model']} | {r['shape']} | {edges:,} | {1e3 * ours:.3g} |"
        if not there:
            return begin + f" | | {mebibytes(peak)} | | | none: {next(iter(r['peers'].values()))[-1]['missing']} |"
        seconds = {way: statistics.median(one["median"] for one in p) for way, p in there.items()}
        best = min(seconds, key=seconds.get)
        theirs = statistics.median(one["peak_bytes"] for one in there[best])
        return begin + f" {1e3 * seconds[best]:.3g} | {seconds[best] / ours:.2f} | {mebibytes(peak)} | {mebibytes(theirs)} | {peak / theirs:.2f} | {best}, PyG {there[best][0]['version']} |"


def main():
    bench = Bench(arguments())
    bench.target_path = bench.target()
    for shape in bench.a.shapes.split(","):
        for model in bench.a.models.split(","):
            bench.compare(shape, model)
    if "ogbn-products" in bench.a.shapes:
        bench.shrink()
    bench.write()
    wrong = [r for r in bench.found["runs"] if "missing" in r or r["planned"] != r["touched"]]
    wrong += [b for b in bench.found["budgets"] if "seconds" in b and (b["planned"] != b["touched"] or not b["same_bits"])]
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
