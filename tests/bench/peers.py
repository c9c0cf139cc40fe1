"""Programs that gnncc makes beside the frameworks, taking turns: every contestant of an entry has a turn in every round, so that whatever disturbs the machine
disturbs all of them. A ratio is the median over the rounds of the fastest peer's epoch by ours. What was measured is kept in BUILD/bench/peers.json after
every turn; the next call does what is missing. peers.sh installs the peers and calls this; `make bench` is that with --write docs/performance.md."""
import argparse
import datetime
import json
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, "..", "..", "..", "shared", "data")

LAYERS = {"gcn": ("GCN({n})",) * 2, "sage": ("SAGE({n})",) * 2, "gin": ("GIN({n})",) * 2, "gat": ("GAT({h}, heads = 8)", "GAT({n})"), "gatv2": ("GATv2({h}, heads = 8)", "GATv2({n})")}
# Generated at the size of ogbn-arxiv, a quarter of Reddit and an eighth of ogbn-products (OGB and GraphSAGE give the sizes; edges both ways), with R-MAT's degrees.
GENERATED = {
    "arxiv": dict(nodes=169343, degree=14, features=128, classes=40),
    "reddit_quarter": dict(nodes=58241, degree=492, features=602, classes=41),
    "products_eighth": dict(nodes=306129, degree=50, features=100, classes=47),
}
REAL = ["cora", "amazon_photo", "tolokers", "debian_packages"]
# name: environment, what a reader should know
PEERS = {
    "pyg": ("torch-2.15", "edge_index"), "pyg-csr": ("torch-2.15", "CSR adjacency"), "pyg-sparse": ("torch-2.15", "CSR adjacency, sparse features"),
    "pyg-compile": ("torch-2.15", "torch.compile"), "pyg-checkpoint": ("torch-2.15", "checkpoint of each layer"), "pyg-save_on_cpu": ("torch-2.15", "save_on_cpu"),
    "dgl": ("torch-2.2", ""),
}
ATTENTION = ("gat", "gatv2")
MARK = "<!-- tests/bench/peers.sh -->", "<!-- end of tests/bench/peers.sh -->"
# torch frees its large tensors in each epoch and glibc gives them back to the system: page faults can be half of an epoch.
KEEP_MEMORY = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296"


def environment(threads):
    """The same threads for all, and a BLAS that is not fooled by a processor that it does not know by name. OMP_WAIT_POLICY is left alone: passive waiting is
    kinder on a busy machine, but slows the peers by up to three quarters on a quiet one."""
    env = dict(os.environ, DGLBACKEND="pytorch", CUDA_VISIBLE_DEVICES="", GLIBC_TUNABLES=KEEP_MEMORY)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        env[name] = str(threads)
    flags = open("/proc/cpuinfo").read().split() if os.path.exists("/proc/cpuinfo") else []
    if "avx512f" in flags:
        env["OPENBLAS_CORETYPE"] = "SkylakeX"
    elif "avx2" in flags:
        env["OPENBLAS_CORETYPE"] = "Haswell"
    return env


def memory_bytes():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def free_bytes():
    """What nobody has, or gives back."""
    try:
        with open("/proc/meminfo") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return memory_bytes()


class Failed(Exception):
    pass


class Peer:
    """A worker process that sleeps between its turns; its memory is limited to what is free when it starts, so that it ends instead of others."""

    def __init__(self, name, a, entry, data):
        self.name, self.a, self.process = name, a, None
        self.command = [os.path.join(a.venv, PEERS[name][0], "bin", "python"), os.path.join(HERE, "peers_worker.py"), name, data, entry.model, str(entry.layers), str(entry.width), str(a.threads)]

    def start(self):
        limit = int(0.85 * free_bytes())
        self.process = subprocess.Popen(self.command, env=environment(self.a.threads), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
        self.said = []
        threading.Thread(target=lambda pipe=self.process.stderr: self.said.extend(pipe), daemon=True).start()
        facts = self.answer()
        self.version = f"{facts['version']}, torch {facts['torch']}"
        self.ask(f"epochs {self.a.warmup}")

    def answer(self):
        timer = threading.Timer(self.a.limit, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        if line:
            return json.loads(line)
        self.process.wait()
        time.sleep(0.2)
        text = "".join(self.said)
        said = "out of memory" if re.search("MemoryError|can't allocate|not enough memory|bad_alloc", text) else None
        errors = [line.strip() for line in text.splitlines() if "Error" in line]
        self.process = None
        raise Failed(said or (errors[-1][:160] if errors else f"ended, or took longer than {self.a.limit} s"))

    def ask(self, line):
        self.process or self.start()
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer()

    def turn(self):
        times = self.ask(f"epochs {self.a.epochs}")
        return [statistics.median(times), min(times), max(times)], self.ask("peak")

    def until(self, accuracy):
        return self.ask(f"until {accuracy} {self.a.until}")

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def watch(pid, peaks):
    """Most memory so far of a process, until it ends. What the system says at the end is never less than this program had when it started the other."""
    try:
        while True:
            with open(f"/proc/{pid}/status") as file:
                peaks.append(next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM")))
            time.sleep(0.002)
    except (OSError, StopIteration):
        pass


class Ours:
    """A program, which starts afresh in each turn."""

    def __init__(self, a, program, folder):
        self.name, self.a, self.program, self.folder, self.version = "gnncc", a, program, folder, "gnncc"

    def run(self, *words):
        child = subprocess.Popen([self.program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        peaks = []
        watching = threading.Thread(target=watch, args=(child.pid, peaks), daemon=True)
        watching.start()
        out, said = child.stdout.read(), child.stderr.read()
        watching.join()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise Failed(said.strip()[-200:])
        return out, peaks[-1] if peaks else usage.ru_maxrss * 1024

    def turn(self):
        out, peak = self.run("bench", "--json", "--threads", str(self.a.threads), "--warmup", str(self.a.warmup), "--epochs", str(self.a.epochs))
        found = json.loads(out)
        return [found["median"], found["min"], found["max"]], peak

    def curve(self):
        """Seconds and validation accuracy of every epoch of a training."""
        self.run("-q", "--threads", str(self.a.threads), "--epochs", str(self.a.until), "--every", "1", "--log", "csv", "--out", self.folder)
        with open(os.path.join(self.folder, "log.csv")) as file:
            names = file.readline().strip().split(",")
            lines = [dict(zip(names, line.strip().split(","))) for line in file]
        return [(float(line["seconds"]), float(line["valid"])) for line in lines]

    def close(self):
        pass


class Entry:
    def __init__(self, model, layers, width, graph):
        self.model, self.layers, self.width, self.graph = model, layers, width, graph
        self.key = f"{model} {layers} x {width} {graph}"

    def text(self, data):
        one, last = LAYERS[self.model]
        body, x = "", "x"
        for i in range(self.layers - 1):
            body += f"  h{i + 1} = {x} |> {one.format(n=self.width, h=self.width // 8)} |> relu |> dropout(0.5)\n"
            x = f"h{i + 1}"
        return (f'data g from "{data}"\nmodel {self.model} on g {{\n{body}  return {x} |> {last.format(n="y.classes", h="")}\n}}\n'
                f"train {self.model} {{\n  loss      = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  metric    = accuracy\n  epochs    = 1\n}}\n")

    def peers(self, a):
        names = ["pyg", "pyg-compile", "dgl"] + ([] if self.model in ATTENTION else ["pyg-csr"]) + (["pyg-sparse"] if self.model == "gcn" and self.graph in REAL else [])
        if a.memory:
            names += ["pyg-checkpoint", "pyg-save_on_cpu"]
        return [name for name in names if not a.peers or name in a.peers.split(",")]


def command(*words, **more):
    done = subprocess.run(words, text=True, capture_output=True, **more)
    if done.returncode:
        sys.exit(f"peers: {' '.join(words)}: {done.stderr.strip()[-400:]}")
    return done.stdout


def graph_file(a, graph):
    path = os.path.join(a.folder, graph + ".safetensors")
    if os.path.exists(path):
        return path
    tool = os.path.join(a.build, "gnndata")
    if graph in GENERATED:
        command(tool, "synth", "rmat", path, "--seed=3", *(f"--{k}={v}" for k, v in GENERATED[graph].items()))
    else:
        folder = os.path.join(a.data, graph) if graph in REAL else graph
        command(tool, "convert", folder, path, "--split=random:0.6,0.2,0.2@0")
    return path


def rates_of(a):
    """What this machine was measured to do (gnncc --calibrate), into a cache of the benchmark's own."""
    path = os.path.join(a.cache, "gnncc", "native.gnn")
    if not os.path.exists(path):
        command(os.path.join(a.build, "gnncc"), "--calibrate", env=dict(os.environ, XDG_CACHE_HOME=a.cache))
    text, units = open(path).read(), {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "GB/s": 1e9, "MB/s": 1e6, "TFLOP/s": 1e12, "GFLOP/s": 1e9}
    number = lambda word: float(re.match(r"[\d.]+", word).group()) * units[re.sub(r"^[\d.]+", "", word)]
    rates = {name: [number(word) for word in found.split(", ")] for name, found in re.findall(r"(\w+)\s*= \[(.*)\]", text)}
    rates["fp32"] = number(re.search(r"fp32 = (\S+)", text).group(1))
    return rates


def rate_at(rates, name, size):
    """Between the sizes measured, the next larger one's."""
    return rates[name][next((i for i, s in enumerate(rates["sizes"]) if s >= size), len(rates["sizes"]) - 1)]


def floor_of(step, rates):
    """The least that a step can take: its bytes in order, its rows gathered, or its operations, each at the rate that was measured for nothing else."""
    least = max(step["flops"] / rates["fp32"], step["bytes"] / rate_at(rates, "stream", step["bytes"]))
    if step["kernel"] == "spmm" and step["flops"]:
        least = max(least, 2 * step["flops"] / rate_at(rates, "gather_512B", step["bytes"] / 2))
    return least


def roofline(a, ours, rates):
    path = os.path.join(a.folder, "profile.json")
    ours.run("profile", "-q", "-o", path)
    report = json.load(open(path))
    steps = {step["step"]: step for step in report["steps"]}
    found, kernels = [], {}
    for measured in report["measured"]["steps"]:
        step = steps[measured["step"]]
        if step["phase"] != "eval" and step["lane"] == "compute" and step["bytes"]:
            found.append((floor_of(step, rates), measured["seconds"]))
            kernel = kernels.setdefault(step["kernel"], [0, 0])
            kernel[0], kernel[1] = kernel[0] + found[-1][0], kernel[1] + found[-1][1]
    return {"share": sum(f for f, _ in found) / sum(m for _, m in found), "kernels": {name: [f / m, m] for name, (f, m) in kernels.items() if m > 0}}


class Kept:
    """What was measured so far, in a file of BUILD/bench: the next call goes on from there."""

    def __init__(self, a, name):
        self.path = os.path.join(a.folder, name)
        self.found = json.load(open(self.path)) if os.path.exists(self.path) and not a.again else {}

    def keep(self):
        with open(self.path + ".new", "w") as file:
            json.dump(self.found, file, indent=1)
        os.replace(self.path + ".new", self.path)


class Bench(Kept):
    def __init__(self, a):
        super().__init__(a, "peers.json")
        self.a = a

    def measure(self, entry):
        a = self.a
        kept = self.found.setdefault(entry.key, {"date": datetime.date.today().isoformat(), "threads": a.threads, "contestants": {}})
        names = ["gnncc"] + entry.peers(a)
        missing = lambda name: "failed" not in kept["contestants"].get(name, {}) and len(kept["contestants"].get(name, {}).get("rounds", [])) < a.rounds
        if not any(missing(name) for name in names) and (not a.until or "target" in kept):
            return
        print(f"{entry.key}", file=sys.stderr, flush=True)
        data, source, program = graph_file(a, entry.graph), os.path.join(a.folder, "model.gnn"), os.path.join(a.folder, "train")
        with open(source, "w") as file:
            file.write(entry.text(data))
        rates = rates_of(a)
        begin = time.time()
        command(os.path.join(a.build, "gnncc"), "-q", "-w", source, "-o", program, env=dict(os.environ, XDG_CACHE_HOME=a.cache))
        kept["compile_seconds"] = time.time() - begin
        ours = Ours(a, program, os.path.join(a.folder, "out"))
        runners = [ours] + [Peer(name, a, entry, data) for name in names[1:]]
        shares_machine = True
        while any(missing(runner.name) for runner in runners):
            for runner in runners:
                if not missing(runner.name):
                    continue
                of = kept["contestants"].setdefault(runner.name, {"rounds": [], "peak": 0})
                time.sleep(0.05)  # lets the threads of the one before fall asleep
                try:
                    times, peak = runner.turn()
                    of["rounds"].append(times)
                    of["peak"], of["version"] = max(of["peak"], peak), runner.version
                except Failed as failure:
                    of["failed"] = str(failure)
                shares_machine = shares_machine and sum(c["peak"] for c in kept["contestants"].values()) < memory_bytes() / 2
                shares_machine or runner.close()
                self.keep()
        kept["roofline"] = roofline(a, ours, rates)
        kept["announced"] = json.loads(ours.run("bench", "--json", "--epochs", "1", "--warmup", "0")[0])["estimated"]
        if a.until:
            curve = ours.curve()
            target = kept["target"] = 0.98 * max(valid for _, valid in curve)
            at = next(i for i, (_, valid) in enumerate(curve) if valid >= target)
            kept["contestants"]["gnncc"]["until"] = {"seconds": sum(seconds for seconds, _ in curve[:at + 1]), "epochs": at + 1}
            for runner in runners[1:]:
                of = kept["contestants"][runner.name]
                if "failed" not in of:
                    try:
                        of["until"] = runner.until(target)
                    except Failed as failure:
                        of["until"] = {"seconds": None, "epochs": None, "failed": str(failure)}
        for runner in runners:
            runner.close()
        self.keep()


def milliseconds(seconds):
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def table(found, keys):
    """What was measured of these entries, as Markdown."""
    lines = ["| entry | ours, median (least … most) | fastest peer | its epoch | ratio (least … most) | ours, resident | least peer's | announced / measured | of its roofline | to 98 % of our best accuracy |",
             "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    ratios = []
    for key in keys:
        of = found.get(key, {}).get("contestants", {})
        if not of.get("gnncc", {}).get("rounds"):
            continue
        ours = of["gnncc"]
        median = lambda c: statistics.median(t[0] for t in c["rounds"])
        peers = {name: c for name, c in of.items() if name != "gnncc" and c["rounds"] and "failed" not in c}
        failed = "; ".join(f"{name}: {c['failed']}" for name, c in of.items() if "failed" in c)
        cell = f"{milliseconds(median(ours))} ({milliseconds(min(t[1] for t in ours['rounds']))} … {milliseconds(max(t[2] for t in ours['rounds']))})"
        fastest, its, ratio, least, until = "none", "", "", "", ""
        if peers:
            fastest = min(peers, key=lambda name: median(peers[name]))
            each = [p[0] / o[0] for p, o in zip(peers[fastest]["rounds"], ours["rounds"])]
            ratios.append(statistics.median(each))
            its, ratio = milliseconds(median(peers[fastest])), f"{ratios[-1]:.2f} ({min(each):.2f} … {max(each):.2f})"
            smallest = min(peers, key=lambda name: peers[name]["peak"])
            least = f"{peers[smallest]['peak'] / 2**20:,.0f} MiB ({smallest}), {peers[smallest]['peak'] / ours['peak']:.1f} x"
            reached = {name: c["until"]["seconds"] for name, c in peers.items() if c.get("until", {}).get("seconds")}
            if "until" in ours:
                until = milliseconds(ours["until"]["seconds"]) + (f", {min(reached.values()) / ours['until']['seconds']:.1f} x less than {min(reached, key=reached.get)}" if reached else ", no peer reached it")
        share = found[key].get("roofline", {}).get("share")
        lines.append(f"| {key} | {cell} | {fastest}{' (' + failed + ')' if failed else ''} | {its} | {ratio} | {ours['peak'] / 2**20:,.0f} MiB | {least} | "
                     f"{found[key]['announced'] / median(ours):.2f} | {share:.2f} | {until} |" if share is not None else f"| {key} | {cell} | {fastest} | {its} | {ratio} | | | | | not finished |")
    if ratios:
        lines.append(f"\nGeometric mean of {len(ratios)} ratios: {math.exp(statistics.mean(map(math.log, ratios))):.2f}; the least: {min(ratios):.2f}.")
    return "\n".join(lines)


def kernels_table(found, keys):
    """The kernels that take most of the epoch, and how much of their time is the least that they can take."""
    lines = ["| entry | kernels: share of the epoch, of the time how much is the least they can take |", "| --- | --- |"]
    for key in keys:
        kernels = found.get(key, {}).get("roofline", {}).get("kernels", {})
        whole = sum(m for _, m in kernels.values())
        if whole:
            lines.append(f"| {key} | " + ", ".join(f"{name} {100 * m / whole:.0f} % ({f:.2f})" for name, (f, m) in sorted(kernels.items(), key=lambda k: -k[1][1])[:6]) + " |")
    return "\n".join(lines)


def said(a, found, keys):
    dates = sorted({found[key]["date"] for key in keys if key in found})
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?") if os.path.exists("/proc/cpuinfo") else "?"
    versions = sorted({c["version"] for key in keys for c in found.get(key, {}).get("contestants", {}).values() if c.get("version", "gnncc") != "gnncc"})
    return (f"`make bench`, {' to '.join(dict.fromkeys([dates[0], dates[-1]])) if dates else 'not yet measured'}, {model}, {a.threads} threads, {a.rounds} rounds of {a.epochs} epochs in turn; {'; '.join(versions)}.\n\n"
            f"{table(found, keys)}\n\n{kernels_table(found, keys)}\n")


def parsed(parser):
    """The arguments, with the folder in which a benchmark of --build works."""
    a = parser.parse_args()
    a.build = os.path.abspath(a.build)
    a.folder = os.path.join(a.build, "bench")
    os.makedirs(a.folder, exist_ok=True)
    return a


def arguments():
    parser = argparse.ArgumentParser(prog="peers.sh BUILD", description=__doc__)
    parser.add_argument("--build", help=argparse.SUPPRESS)
    parser.add_argument("--venv", help=argparse.SUPPRESS)
    parser.add_argument("--models", default=",".join(LAYERS), help="some of them (%(default)s)")
    parser.add_argument("--graphs", default=",".join(REAL + list(GENERATED)), help="some of them, or folders (%(default)s)")
    parser.add_argument("--layers", default="3", help="2,3 (%(default)s)")
    parser.add_argument("--widths", default="128", help="16,128,256 (%(default)s)")
    parser.add_argument("--peers", default="", help="some of: " + ", ".join(PEERS))
    parser.add_argument("--data", default=SHARED, help="where the folders of the real graphs are")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=5, help="of a turn")
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--until", type=int, default=100, metavar="EPOCHS", help="the most that a training to the accuracy may take; 0: none is measured")
    parser.add_argument("--limit", type=int, default=1800, metavar="SECONDS", help="of one answer of a peer")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--memory", action="store_true", help="checkpoint and save_on_cpu among the peers")
    parser.add_argument("--again", action="store_true", help="forget what was measured")
    parser.add_argument("--tables", action="store_true", help="measure nothing, print what there is")
    parser.add_argument("--write", metavar="FILE.md", help="the tables between its marks")
    a = parsed(parser)
    a.cache = os.path.join(a.folder, "cache")
    for name, known in ((a.models, LAYERS), (a.peers, PEERS)):
        for word in filter(None, name.split(",")):
            if word not in known:
                parser.error(f"there is no {word}; there are {', '.join(known)}")
    return a


def main():
    a = arguments()
    entries = [Entry(model, layers, width, graph) for graph in a.graphs.split(",") for model in a.models.split(",") for layers in map(int, a.layers.split(",")) for width in map(int, a.widths.split(","))]
    bench = Bench(a)
    for entry in entries if not a.tables else []:
        bench.measure(entry)
    text = said(a, bench.found, [entry.key for entry in entries])
    print(text)
    if a.write:
        with open(a.write) as file:
            page = file.read()
        if any(page.count(mark) != 1 for mark in MARK):
            sys.exit(f"peers: {a.write} has not the marks {MARK[0]} and {MARK[1]}")
        with open(a.write, "w") as file:
            file.write(page[:page.index(MARK[0])] + MARK[0] + "\n" + text + page[page.index(MARK[1]):])


if __name__ == "__main__":
    main()
