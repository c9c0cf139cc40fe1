"""Training on a GPU, measured: epochs and memory beside PyTorch Geometric's, what each kernel reaches of the memory's bandwidth, and one model under
ever smaller budgets. For bench.sh, which says how it is called.

The work is a list of cells, the most telling first: our programs, their budgets, then the forms of the peers, each form a cell of its own, and rounds in
which ours and the peers' fastest form take turns, so that what disturbs the machine disturbs both; ratios are of medians. What a cell found is in
bench_gpu.json as soon as it is found, and in the tables: --resume goes on with what is missing there, --slice 2/6 is a sixth of the cells. Every child has
a limit of time. Programs are compiled side by side, before anything is measured.

Graphs are made up (R-MAT, gnndata synth --edges) with the numbers of nodes and edges, features and classes of the ones they are named after. Peaks: ours
of the arena, planned and touched; the peers' torch.cuda.max_memory_allocated. Neither counts the context. Standard library only."""

import argparse
import json
import math
import os
import queue
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHAPES = {  # nodes, edges stored, features, classes
    "ogbn-products": (2_449_029, 123_718_280, 100, 47),
    "Reddit": (232_965, 114_615_892, 602, 41),
    "Cora": (2_708, 10_556, 1_433, 7),
}
TINY = {"ogbn-products": (300, 2_400, 20, 5), "Reddit": (150, 1_800, 24, 4), "Cora": (200, 800, 33, 7)}
LAYERS = ("SAGE", "GCN", "GIN")
SHRUNK = ("ogbn-products", "SAGE")  # under ever smaller budgets
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
ESTIMATES = {"ours": 30, "budget": 30, "peer": 40, "turns": 40}  # seconds of a cell, for slices of equal length
SLICE_SECONDS, LEAST_SECONDS = 450, 20  # of a slice; too little for one more cell
PREPARE_SECONDS = 420  # for a graph, or a program to be compiled


def mebibytes(count):
    return f"{count / 2**20:,.1f} MiB"


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("build", "architecture", "gpu", "peers"):
        p.add_argument("--" + name, required=True)
    p.add_argument("--slice", help="I/N: the I-th of N parts, in less than eight minutes; what others found stays")
    p.add_argument("--resume", action="store_true", help="what was found is not measured again")
    p.add_argument("--limit", type=float, default=150, help="seconds that a child may take")
    p.add_argument("--seconds", type=float, help="no cell is begun after so many (a slice: 450)")
    p.add_argument("--tiny", action="store_true", help="small graphs, few epochs: whether it runs")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--hidden", type=int, default=256)
    p.add_argument("--shapes", default=",".join(SHAPES))
    p.add_argument("--models", default=",".join(LAYERS))
    p.add_argument("--target", help="in place of calibrating")
    a = p.parse_args()
    if a.tiny:
        a.rounds, a.epochs, a.hidden = 2, 2, 16
    a.sizes = TINY if a.tiny else SHAPES
    a.shapes, a.models = a.shapes.split(","), a.models.split(",")
    a.part = (1, 1)
    if a.slice:
        found = re.fullmatch(r"(\d+)/(\d+)", a.slice)
        a.part = tuple(map(int, found.groups())) if found else (0, 0)
        if not 1 <= a.part[0] <= a.part[1]:
            p.error(f"--slice takes I/N, such as 2/6, not {a.slice}")
        a.seconds = a.seconds or SLICE_SECONDS
    for name, known in (("shapes", a.sizes), ("models", LAYERS)):
        for one in getattr(a, name):
            if one not in known:
                p.error(f"--{name}: {one} is none of {', '.join(known)}")
    return a


def write(path, text):
    """All of it or nothing."""
    other = Path(f"{path}.{threading.get_ident()}.new")  # two cells can want the same model
    other.write_text(text)
    os.replace(other, path)


def end(child):
    """With all that it has started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


class Over(Exception):
    """A child took too long; is_cut: it had less than the limit, because the slice ends."""

    def __init__(self, seconds, is_cut):
        super().__init__(f"over {seconds:.0f} s")
        self.is_cut = is_cut


class Peers:
    """A process that trains the forms of one model one after the other (bench_worker.py): torch is imported and the graph read once. A form that kills
    the process, or takes too long, costs itself; the next begins another."""

    def __init__(self, bench, data, model):
        self.command = [bench.a.peers, str(HERE / "bench_worker.py"), str(data), model, str(bench.a.hidden), str(bench.a.epochs)]
        self.bench, self.child, self.errors = bench, None, bench.work / "peers.log"

    def start(self):
        with open(self.errors, "wb") as errors:
            self.child = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.listen, args=(self.child, self.lines), daemon=True).start()

    @staticmethod
    def listen(child, lines):
        for line in child.stdout:
            if line.startswith("{"):
                lines.put(json.loads(line))
        lines.put(None)

    def row(self, way):
        """Of that form; Over."""
        print("+ peers:", way, file=sys.stderr, flush=True)
        if self.child is None:
            self.start()
        seconds, is_cut = self.bench.allowed()
        try:
            self.child.stdin.write(way + "\n")
            self.child.stdin.flush()
            row = self.lines.get(timeout=seconds)
        except BrokenPipeError:
            row = None
        except queue.Empty:
            self.close()
            raise Over(seconds, is_cut) from None
        if row is None:
            status = self.child.wait()
            self.close()
            last = self.errors.read_text(errors="replace").strip().splitlines()[-1:]
            row = {"way": way, "missing": (last[0] if last and status > 0 else f"it died, status {status}")[:100]}
        return row

    def close(self):
        if self.child:
            end(self.child)
            self.child = None


class Bench:
    def __init__(self, a):
        self.a = a
        self.gnncc, self.gnndata = f"{a.build}/gnncc", f"{a.build}/gnndata"
        self.work = Path(a.build) / "check" / "bench_gpu"
        self.work.mkdir(parents=True, exist_ok=True)
        self.json = Path(a.build, "bench_gpu.json")
        self.begun = time.monotonic()
        self.peers = self.peers_of = self.needs = None
        self.about = {"gpu": a.gpu, "architecture": a.architecture, "rounds": a.rounds, "epochs": a.epochs, "hidden": a.hidden, "tiny": a.tiny}
        self.cells = self.found_before() if a.resume or a.slice else {}

    def found_before(self):
        try:
            before = json.loads(self.json.read_text())
            if before["about"] == self.about:
                return before["cells"]
            print("bench_gpu.json is of another GPU or other options: it begins anew", file=sys.stderr)
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return {}

    # ---- children ----

    def left(self):
        return self.a.seconds - (time.monotonic() - self.begun) if self.a.seconds else float("inf")

    def allowed(self, limit=None):
        """Seconds for a child, and whether the end of the slice makes them fewer."""
        limit, left = limit or self.a.limit, max(1.0, self.left() + 15)  # a slice of 450 s ends before eight minutes are over
        return min(limit, left), left < limit

    def run(self, *command, may_fail=False, limit=None):
        print("+", *command, file=sys.stderr, flush=True)
        seconds, is_cut = self.allowed(limit)
        child = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.work, start_new_session=True)
        try:
            out, errors = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            end(child)
            raise Over(seconds, is_cut) from None
        if child.returncode != 0 and not may_fail:
            raise RuntimeError(f"{Path(str(command[0])).name} {command[1] if len(command) > 1 else ''} ended with status {child.returncode}: {(errors or out).strip()[-300:]}")
        return subprocess.CompletedProcess(command, child.returncode, out, errors)

    # ---- what cells need: a target, graphs, programs ----

    def target(self):
        if self.a.target:
            return self.a.target
        path = self.work / "bench_gpu.gnn"
        if not (path.exists() and self.cells):
            self.run(self.gnncc, "-q", "--force", "--calibrate=bench_gpu", "--backend=cuda", limit=PREPARE_SECONDS)
        return path

    def path_of(self, shape):
        return self.work / ("_".join([shape, *map(str, self.a.sizes[shape])]) + ".safetensors")

    def make_graph(self, shape):
        nodes, edges, features, classes = self.a.sizes[shape]
        path = self.path_of(shape)
        if path.exists():
            return
        made = path.with_suffix(".new.safetensors")
        made.unlink(missing_ok=True)
        self.run(self.gnndata, "synth", "rmat", made, "--nodes", nodes, "--edges", edges, "--features", features, "--classes", classes, limit=PREPARE_SECONDS)
        with open(made, "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        stored = (header.get("csr.col") or header.get("edge.src"))["shape"][0]
        if stored != edges:
            raise RuntimeError(f"{shape} has {stored} edges, not {edges}")
        os.replace(made, path)

    def options(self):
        return ["-q", "-w", "--force", "--backend=cuda", f"--arch={self.a.architecture}", f"--target={self.target_path}"]

    def model(self, shape, model):
        path = self.work / f"{model}_{shape}.gnn"
        write(path, MODEL.format(data=self.path_of(shape), name=model.lower(), layer=model, hidden=self.a.hidden, epochs=self.a.epochs))
        return path

    def program(self, shape, model, *budget):
        """Path, compiled with that budget; a text says why there is none."""
        path = self.model(shape, model)
        program = self.work / "_".join([path.stem, *(re.sub(r"\W", "_", b.lstrip("-")) for b in budget)])
        kept, stamp = program.with_suffix(".of"), f"{path.read_text()}\n{self.options()}\n{os.stat(self.gnncc).st_mtime_ns}"
        if program.exists() and kept.exists() and kept.read_text() == stamp:
            return program, ""
        kept.unlink(missing_ok=True)
        done = self.run(self.gnncc, *self.options(), *budget, path, "-o", program, may_fail=True, limit=PREPARE_SECONDS)
        if done.returncode != 0:
            return None, done.stderr.strip() or "it was not compiled"
        write(kept, stamp)
        return program, ""

    def whole(self, shape, model):
        """Bytes of the device that keeping everything needs, and the least KiB that work."""
        if self.needs:
            return self.needs
        report = json.loads(self.run(self.gnncc, *self.options(), "--plan=json", self.model(shape, model)).stdout)
        said = self.run(self.gnncc, *self.options(), "--budget=device=1KiB", "--plan", self.model(shape, model), may_fail=True).stderr
        least = re.search(r"--budget [a-z]+=([\d.]+)([KMGT])iB is the smallest that (?:works|was found)", said)
        self.needs = report["tiers"]["device"]["peak_bytes"], math.ceil(float(least[1]) * 1024 ** "KMGT".index(least[2])) if least else 0
        return self.needs

    def budget(self, share):
        """The option, and KiB: that share of keeping everything, or the least that works in its place; None: a larger share has had that."""
        whole, least = self.whole(*SHRUNK)
        wanted = [whole * s // 100 // 1024 for s in SHARES]
        kib = whole * share // 100 // 1024
        if kib < least and any(w < least for w in wanted[: SHARES.index(share)]):
            return None, 0, whole
        kib = max(kib, least)
        return ([] if share == 100 else [f"--budget=device={kib}KiB"]), kib, whole

    def prepare(self, cells):
        """Graphs and programs of these cells, as many at a time as there are processors; nothing is measured meanwhile."""
        shapes = {cell[1] for cell in cells if cell[0] != "budget"} | ({SHRUNK[0]} if any(c[0] == "budget" for c in cells) else set())
        wanted = {(cell[1], cell[2]) for cell in cells if cell[0] in ("ours", "turns")}

        def attempt(task, *words):
            try:
                task(*words)
            except (Over, RuntimeError) as error:  # said by the cell that wants it
                print(error, file=sys.stderr)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for _ in pool.map(lambda shape: attempt(self.make_graph, shape), [s for s in self.a.sizes if s in shapes]):
                pass
            if any(c[0] == "budget" for c in cells):
                attempt(self.whole, *SHRUNK)
            tasks = [pool.submit(attempt, self.program, *one) for one in sorted(wanted)]
            tasks += [pool.submit(attempt, self.shrunk, cell[1]) for cell in cells if cell[0] == "budget"]
            for task in tasks:
                task.result()

    def shrunk(self, share):
        option, _, _ = self.budget(share)
        return (None, "") if option is None else self.program(*SHRUNK, *option)

    # ---- measurements ----

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

    def ours(self, shape, model):
        program, why = self.program(shape, model)
        if not program:
            return {"missing": why}
        profile = self.profile(program)
        planned, touched = self.memory(profile)
        return {"planned": planned, "touched": touched, "bench": [self.bench(program)], "kernels": self.kernels(profile)}

    def shrink(self, share):
        option, kib, whole = self.budget(share)
        if option is None:
            return {"missing": "does not fit, either"}
        keep, why = self.program(*SHRUNK)
        program, why = self.program(*SHRUNK, *option) if keep else (None, why)
        if not program:
            return {"missing": why.splitlines()[0]}
        planned, touched = self.memory(self.profile(program))
        rounds = [self.bench(program) for _ in range(self.a.rounds)]
        return {"of_keep": kib * 1024 / whole if option else 1.0, "planned": planned, "touched": touched, "seconds": statistics.median(r["median"] for r in rounds),
                "predicted": rounds[0]["estimated"], "same_bits": self.bits(program) == self.bits(keep)}

    def peer(self, shape, model, way):
        if not self.path_of(shape).exists():
            self.make_graph(shape)
        if self.peers_of != (shape, model):
            self.end_peers()
            self.peers, self.peers_of = Peers(self, self.path_of(shape), model), (shape, model)
        return self.peers.row(way)

    def end_peers(self):
        if self.peers:
            self.peers.close()
        self.peers = self.peers_of = None

    def turns(self, shape, model):
        """More rounds of ours and of the peers' fastest form."""
        best = self.fastest(shape, model)
        program, why = self.program(shape, model)
        if not program or not best:
            return {"missing": why or "there is no peer"}
        found = {"ours": [], "way": best, "peers": []}
        for _ in range(self.a.rounds - 1):
            found["ours"].append(self.bench(program))
            found["peers"].append(self.peer(shape, model, best))
        if any("missing" in p for p in found["peers"]):
            return {"missing": next(p["missing"] for p in found["peers"] if "missing" in p)}
        return found

    def fastest(self, shape, model):
        rows = {way: self.cells.get(f"peer {shape} {model} {way}", {}) for way in WAYS}
        seconds = {way: row["median"] for way, row in rows.items() if "median" in row}
        return min(seconds, key=seconds.get) if seconds else None

    def bits(self, program):
        """Losses and weights after a few epochs."""
        out = self.work / (program.name + ".out")
        text = self.run(program, "-q", "--epochs", 2, "--every", 1, "--log", "csv", "--out", out)
        weights = (out / "last.safetensors").read_bytes()
        start = 8 + int.from_bytes(weights[:8], "little")
        curves = [[line.split(",")[1:7] for line in path.read_text().splitlines()] for path in sorted(out.rglob("*.csv"))]
        return text.returncode, curves, weights[start:]

    # ---- the cells ----

    def all_cells(self):
        both = [(shape, model) for shape in self.a.sizes if shape in self.a.shapes for model in self.a.models]
        cells = [("ours", *one) for one in both]
        if SHRUNK[0] in self.a.shapes:
            cells += [("budget", share) for share in SHARES]
        for one in both:
            cells += [("peer", *one, way) for way in WAYS] + [("turns", *one)]
        return cells

    def own_cells(self):
        """Of this slice: neighbours in the list, of about as many seconds as in the others."""
        cells, (part, parts) = self.all_cells(), self.a.part
        whole, before, own = sum(ESTIMATES[c[0]] for c in cells), 0, []
        for cell in cells:
            if min(parts, int(before / whole * parts) + 1) == part:
                own.append(cell)
            before += ESTIMATES[cell[0]]
        return own

    def measure(self, cell):
        kind, *words = cell
        return {"ours": self.ours, "budget": self.shrink, "peer": self.peer, "turns": self.turns}[kind](*words)

    def work_through(self):
        cells = [c for c in self.own_cells() if not (self.a.resume and " ".join(map(str, c)) in self.cells)]
        self.target_path = self.target()
        if cells:
            self.prepare(cells)
        left = []
        for cell in cells:
            name = " ".join(map(str, cell))
            if self.left() < LEAST_SECONDS:
                left.append(name)
                continue
            try:
                found = self.measure(cell)
            except Over as over:
                if over.is_cut:
                    left.append(name)
                    continue
                found = {"missing": str(over)}
            except RuntimeError as error:
                found = {"missing": str(error).splitlines()[0]}
            self.cells[name] = found
            self.write()
        self.end_peers()
        self.write()
        return left

    # ---- the tables ----

    def cell(self, *words):
        return self.cells.get(" ".join(map(str, words)))

    def tables(self):
        out, about = [], self.about
        say = out.append
        both = [(shape, model) for shape in self.a.sizes for model in LAYERS if self.cell("ours", shape, model)]
        say(f"{about['gpu']} ({about['architecture']}), 3 layers, hidden {about['hidden']}, {about['rounds']} rounds of {about['epochs']} epochs in turn.\n")
        say("Epoch time and peak memory of the device beside PyTorch Geometric's fastest full-batch form:\n")
        say("| model | shape | edges | ours ms | PyG ms | PyG / ours | ours peak | PyG peak | ours / PyG | PyG's form |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
        for one in both:
            say(self.row(*one))
        say("\nEvery form of PyTorch Geometric, its median epoch in ms and its peak, or why there is none:\n")
        say("| model | shape | " + " | ".join(WAYS) + " |\n| --- | --- |" + " ---: |" * len(WAYS))
        for shape, model in both:
            forms = [self.cell("peer", shape, model, way) for way in WAYS]
            say(f"| {model} | {shape} | " + " | ".join(self.form(f) for f in forms) + " |")
        say("\nPlanned and touched memory:\n\n| model | shape | planned | touched | equal |\n| --- | --- | ---: | ---: | --- |")
        for shape, model in both:
            o = self.cell("ours", shape, model)
            if "planned" in o:
                say(f"| {model} | {shape} | {mebibytes(o['planned'])} | {mebibytes(o['touched'])} | {'yes' if o['planned'] == o['touched'] else 'NO'} |")
        say("\nWhat kernels reach of the bandwidth (of fp32, where that is more) that calibration measured, in a profiled epoch:\n")
        say("| model, shape | kernel | steps | ms | of the bandwidth | of fp32 | measured / predicted |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |")
        for shape, model in both:
            k = self.cell("ours", shape, model).get("kernels", {"kinds": {}})
            for kind, v in sorted(k["kinds"].items(), key=lambda item: -item[1]["seconds"]):
                s = max(v["seconds"], 1e-12)
                say(f"| {model}, {shape} | {kind} | {v['steps']} | {1e3 * s:.3f} | {100 * v['bytes'] / s / k['bandwidth']:.0f} % | {100 * v['flops'] / s / k['fp32']:.0f} % | {s / max(v['predicted'], 1e-12):.2f} |")
        say("\nSAGE at the shape of ogbn-products, in ever less of what keeping everything needs:\n")
        say("| budget | planned | touched | equal | the same bits | measured ms | of keep-all | predicted ms | measured / predicted |\n| ---: | ---: | ---: | --- | --- | ---: | ---: | ---: | ---: |")
        first = (self.cell("budget", 100) or {}).get("seconds")
        for share in SHARES:
            b = self.cell("budget", share)
            if b:
                say(self.budget_row(share, b, first))
        return "\n".join(out) + "\n"

    @staticmethod
    def form(found):
        if not found:
            return ""
        return found["missing"].replace("|", "/") if "missing" in found else f"{1e3 * found['median']:.3g}, {mebibytes(found['peak_bytes'])}"

    @staticmethod
    def budget_row(share, b, first):
        if "missing" in b:
            return f"| {share} % | {b['missing']} | | | | | | | |"
        which = f"{share} %" if abs(100 * b["of_keep"] - share) < 1 else f"{100 * b['of_keep']:.1f} %, the least that works, for {share} %"
        of_keep = f"{b['seconds'] / first:.2f}" if first else ""
        return (f"| {which} | {mebibytes(b['planned'])} | {mebibytes(b['touched'])} | {'yes' if b['planned'] == b['touched'] else 'NO'} | {'yes' if b['same_bits'] else 'NO'} | "
                f"{1e3 * b['seconds']:.3g} | {of_keep} | {1e3 * b['predicted']:.3g} | {b['seconds'] / b['predicted']:.2f} |")

    def row(self, shape, model):
        mine, turns = self.cell("ours", shape, model), self.cell("turns", shape, model) or {}
        if "missing" in mine:
            return f"| {model} | {shape} | {mine['missing'].splitlines()[0]} | | | | | | | |"
        ours = statistics.median(o["median"] for o in mine["bench"] + turns.get("ours", []))
        begin, peak = f"| {model} | {shape} | {self.a.sizes[shape][1]:,} | {1e3 * ours:.3g} |", mine["touched"]
        best = self.fastest(shape, model)
        if not best:
            asked = [f for f in (self.cell("peer", shape, model, way) for way in WAYS) if f]
            return begin + f" | | {mebibytes(peak)} | | | {'none: ' + asked[0]['missing'] if asked else ''} |"
        rows = [self.cell("peer", shape, model, best)] + (turns.get("peers", []) if turns.get("way") == best else [])
        seconds, theirs = statistics.median(r["median"] for r in rows), statistics.median(r["peak_bytes"] for r in rows)
        return begin + f" {1e3 * seconds:.3g} | {seconds / ours:.2f} | {mebibytes(peak)} | {mebibytes(theirs)} | {peak / theirs:.2f} | {best}, PyG {rows[0]['version']} |"

    def write(self):
        write(Path(self.a.build, "bench_gpu.md"), self.tables())
        write(self.json, json.dumps({"about": self.about, "cells": self.cells}, indent=1))


def main():
    bench = Bench(arguments())
    left = bench.work_through()
    print(bench.tables(), end="")
    if left:
        print(f"{len(left)} cells of this slice are left: the same again with --resume\n  " + "\n  ".join(left), file=sys.stderr)
    own = {" ".join(map(str, c)) for c in bench.own_cells()}
    wrong = [name for name, c in bench.cells.items() if name in own and not name.startswith(("peer", "turns")) and
             (c.get("missing", "does not fit, either") != "does not fit, either" or c.get("planned") != c.get("touched") or not c.get("same_bits", True))]
    for name in wrong:
        print(f"{name}: {bench.cells[name].get('missing', 'memory or bits are not as planned')}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
