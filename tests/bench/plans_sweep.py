"""The sweep of budgets: predicted and measured epochs, planned and measured peaks, equal bits, and the policies of others.

For each model, graph and road (which tiers there are) programs are compiled for budgets from the smallest that fits to
keeping everything, from a profile of the program that keeps everything, and what calibration alone predicts stands
beside it. Each is checked (planned = touched in every tier), trained (losses and weights must be those of the
program that keeps everything, to the last bit) and timed. At each budget the program that keeps everything and those of
the policies that fit are timed in turn with ours, round after round, so that a disturbance of the machine hits all of
them: "drift-free" is what the budget costs beside keeping everything, measured over predicted. Programs whose schedules
are equal are compiled once. Standard library only; the table is Markdown, on standard output."""

import argparse
import hashlib
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LAYERS = {"gcn": "GCN", "sage": "SAGE", "gin": "GIN"}
POLICIES = ["keep", "recompute", "offload", "checkpoint", "roc", "flexgnn", "torch-budget", "dtr", "capuchin", "hongtu", "grinnder"]
MODEL = """data g from {source}
model {name} on g {{
  h = x
  for i in 1 .. {inner} {{ h = h |> {layer}({hidden}) |> relu |> dropout(0.3) }}
  return h |> {layer}(y.classes)
}}
train {name} {{
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.001)
  epochs    = {epochs}
  metric    = accuracy
}}
"""
SYNTH = {  # 10^6 nodes and 10^7 edges, and a tenth of that
    "synth_1m": ('synth(kind = "rmat", nodes = 1000000, degree = 10, features = 128, classes = 16, seed = 1)', 128),
    "synth_100k": ('synth(kind = "rmat", nodes = 100000, degree = 10, features = 128, classes = 16, seed = 1)', 128),
}
REAL = ["cora", "amazon_photo", "tolokers", "debian_packages"]


def say(*words):
    print(time.strftime("%H:%M:%S"), *words, file=sys.stderr, flush=True)


def read_arguments():
    parser = argparse.ArgumentParser(prog="plans_sweep.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default=os.path.join(ROOT, "build"), help="where gnncc lies (default: build)")
    parser.add_argument("--quick", action="store_true", help="a few models, three budgets, policies at one: about ten minutes; without it all of the table: a day")
    parser.add_argument("--models", help="gcn,sage,gin")
    parser.add_argument("--layers", help="numbers of layers: 2,3,...")
    parser.add_argument("--graphs", help=",".join(REAL + list(SYNTH)))
    parser.add_argument("--cases", help="MODEL:LAYERS:GRAPH,... instead of the three above")
    parser.add_argument("--roads", help="device, ssd, host, host+ssd")
    parser.add_argument("--budgets", type=int, help="how many, from the smallest to everything kept")
    parser.add_argument("--epochs", type=int, default=20, help="trained for the comparison of bits")
    parser.add_argument("--rounds", type=int, help="of the interleaved timing")
    parser.add_argument("--policies", help="to compare with; none: ''")
    parser.add_argument("--overlap", action="store_true", help="time plans that copy beside everything kept, and with their copies waited for")
    parser.add_argument("--policy-budgets", help="indices of the budgets at which policies are compared (default: all)")
    parser.add_argument("--hidden", type=int, default=64, help="width on the real graphs")
    parser.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data"), help="folder of the real graphs")
    parser.add_argument("--scratch", default="/var/tmp", help="folder of the SSD tier")
    parser.add_argument("--runner", default="", help="command before everything that is timed, such as 'chrt -r 50' or 'numactl -N 0'")
    parser.add_argument("--no-calibrate", action="store_true", help="predict by the model instead of measuring this computer first")
    parser.add_argument("--condensed", action="store_true", help="a line for each model, graph and set of tiers, instead of one for each budget")
    parser.add_argument("--json", help="write all figures there too")
    a = parser.parse_args()
    quick = a.quick
    if a.cases is None and quick and not (a.models or a.layers or a.graphs):
        a.cases = "gcn:2:cora,gin:3:amazon_photo,sage:4:tolokers,gcn:6:debian_packages,sage:5:synth_100k"
    a.runner = a.runner.split()
    a.roads = (a.roads or ("device,ssd,host+ssd" if quick else "device,ssd,host,host+ssd")).split(",")
    a.budgets = a.budgets or (3 if quick else 8)
    a.rounds = a.rounds or (5 if quick else 9)
    a.policies = POLICIES if a.policies is None else [p for p in a.policies.split(",") if p]
    a.policy_budgets = [int(i) for i in a.policy_budgets.split(",")] if a.policy_budgets else ([1] if quick else list(range(a.budgets)))
    if a.cases:
        a.cases = [(m, int(n), g) for m, n, g in (case.split(":") for case in a.cases.split(","))]
    else:
        models, layers = (a.models or "gcn,sage,gin").split(","), [int(n) for n in (a.layers or "2,3,4,5,6,7,8").split(",")]
        a.cases = [(m, n, g) for g in (a.graphs or ",".join(REAL + ["synth_1m"])).split(",") for m in models for n in layers]
    return a


class Sweep:
    def __init__(self, arguments, work):
        self.a, self.work = arguments, work
        self.gnncc = os.path.join(arguments.build, "gnncc")
        self.environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(work, "cache"), LC_ALL="C.UTF-8")
        self.programs = {}  # hash of the schedule: program
        self.rows, self.policy_rows, self.overlap_rows, self.failures, self.notes = [], [], [], [], []

    def run(self, *command, limit=3600):
        return subprocess.run(command, cwd=self.work, env=self.environment, capture_output=True, text=True, timeout=limit)

    def calibrate(self):
        for _ in range(3):
            said = self.run(*self.a.runner, self.gnncc, "--calibrate")
            if said.returncode == 0:
                self.notes = ["The calibration says: " + line for line in (said.stdout + said.stderr).splitlines() if "disturbed" in line]
                return
        self.notes = ["This computer could not be measured (" + said.stderr.strip() + "): predictions are modelled."]
        say(self.notes[0])

    def fault(self, what):
        say("FAULT:", what)
        self.failures.append(what)

    # ---- compiling ----

    def plan(self, model, options):
        """The report, or None where nothing fits, with what was said."""
        said = self.run(self.gnncc, "-w", "--plan=json", *options, model)
        if said.returncode not in (0, 3):
            self.fault(f"{model} {' '.join(options)}: status {said.returncode}: {said.stderr[:300]}")
        return (json.loads(said.stdout) if said.returncode == 0 else None), said.stderr

    def compile(self, model, options):
        """The program, and its plan; programs with equal schedules are one."""
        report, _ = self.plan(model, options)
        if report is None:
            return None, None
        what = json.dumps([model, report["steps"], report["blocks"], report["homes"]])
        key = hashlib.sha256(what.encode()).hexdigest()[:16]
        if key not in self.programs:
            path = os.path.join(self.work, "p_" + key)
            self.programs[key] = path
            said = self.run(self.gnncc, "-w", "--verify", *options, model, "-o", path)
            if said.returncode:
                self.fault(f"{model} {' '.join(options)}: does not compile: status {said.returncode}: {said.stderr[:300]}")
                return None, None
        return self.programs[key], report

    def least(self, model, options):
        _, said = self.plan(model, ["--budget", "device=1KiB", *options])
        found = re.search(r"--budget \w+=([\d.]+)([KMGT])iB is the smallest", said)
        return math.ceil(float(found.group(1)) * 1024 ** "KMGT".index(found.group(2))) if found else None

    # ---- running ----

    def numbers(self, program):
        """Losses, scores and weights of a training, as one hash."""
        out = program + ".out"
        shutil.rmtree(out, ignore_errors=True)
        said = self.run(program, "-q", "--epochs", str(self.a.epochs), "--every", "1", "--log", "csv", "--out", out, "--scratch", self.a.scratch)
        if said.returncode:
            return f"status {said.returncode}: {said.stderr[:200]}"
        digest = hashlib.sha256()
        with open(os.path.join(out, "log.csv")) as log:
            for line in log:
                digest.update(",".join(line.split(",")[:6]).encode())
        with open(os.path.join(out, "last.safetensors"), "rb") as weights:
            header = int.from_bytes(weights.read(8), "little")
            weights.seek(8 + header)
            digest.update(weights.read())
        shutil.rmtree(out, ignore_errors=True)
        return digest.hexdigest()

    def peaks(self, program):
        """{tier: (planned, touched)} in bytes; its `check` has to find nothing wrong, either."""
        path = program + ".peaks.json"
        for command in (["check"], ["profile", "-o", path]):
            said = self.run(program, *command, "--scratch", self.a.scratch)
            if said.returncode:
                self.fault(f"{program} {command[0]}: status {said.returncode}: {(said.stdout + said.stderr)[-300:]}")
                return {}
        with open(path) as file:
            document = json.load(file)
        return {tier: (document["tiers"][tier]["peak_bytes"], document["measured"][f"{tier}_peak_bytes"]) for tier in ("device", "host", "ssd")
                if document["tiers"][tier]["peak_bytes"]}

    def epoch(self, program, epochs, *extra):
        said = self.run(*self.a.runner, program, "bench", "--json", "--warmup", "1", "--epochs", str(epochs), "--scratch", self.a.scratch, *extra)
        return json.loads(said.stdout)["median"] if said.returncode == 0 else float("nan")

    def profile(self, program):
        """The option that plans from what the steps of this program take."""
        path = program + ".profile.json"
        said = self.run(*self.a.runner, program, "profile", "--scratch", self.a.scratch, "-o", path)
        if said.returncode:
            self.fault(f"{program} profile: status {said.returncode}: {said.stderr[-300:]}")
        return f"--profile={path}"

    def epochs_a_round(self, seconds):
        return max(1, min(20, int(0.3 / max(seconds, 1e-6))))

    def times(self, programs, estimate):
        """{program: its median in each round}, in turn."""
        epochs = self.epochs_a_round(estimate)
        measured = {program: [] for program in programs}
        for _ in range(self.a.rounds):
            for program in programs:
                measured[program].append(self.epoch(program, epochs))
        return measured

    def overlap(self, row, keep, program, report):
        """Everything kept, the plan, and the plan with each copy waited for, in turn."""
        epochs = self.epochs_a_round(report["epoch"]["seconds"])
        runs = {"keep": (keep,), "overlapped": (program,), "serial": (program, "--serial-lanes")}
        times = {name: [] for name in runs}
        for _ in range(self.a.rounds):
            for name, (path, *extra) in runs.items():
                times[name].append(self.epoch(path, epochs, *extra))
        epoch = report["epoch"]
        self.overlap_rows.append(dict(row, times=times, copied=epoch["transfer_seconds"], serial=epoch["compute_seconds"] + epoch["transfer_seconds"]))

    # ---- the table ----

    def case(self, name, layers, graph):
        hidden, source = self.a.hidden, f'npy("{os.path.realpath(os.path.join(self.a.data, graph))}")'
        if graph in SYNTH:
            source, hidden = SYNTH[graph]
        elif not os.path.isdir(os.path.join(self.a.data, graph)):
            say(graph, "is not there: skipped")
            return
        model = f"{name}_{layers}_{graph}.gnn"
        with open(os.path.join(self.work, model), "w") as file:
            file.write(MODEL.format(source=source, name=name, inner=layers - 1, layer=LAYERS[name], hidden=hidden, epochs=self.a.epochs))
        keep, report = self.compile(model, ["--budget", "host=0", "--budget", "ssd=0"])
        if keep is None:
            self.fault(f"{model}: does not compile")
            return
        keep_kib = -(-report["tiers"]["device"]["peak_bytes"] // 1024)
        wanted, profile = self.numbers(keep), self.profile(keep)
        self.kept = self.plan(model, ["--budget", "host=0", "--budget", "ssd=0", profile])[0]["epoch"]["seconds"]
        say(f"{name} {layers} {graph}: everything kept {keep_kib} KiB")
        for road in self.a.roads:
            tiers = {"device": ["host=0", "ssd=0"], "ssd": ["host=0", "ssd=64GiB"], "host": ["host=64GiB", "ssd=0"],
                     "host+ssd": [f"host={keep_kib // 4}KiB", "ssd=64GiB"]}[road]
            options = [word for tier in tiers for word in ("--budget", tier)]
            least = self.least(model, options)
            if least is None:
                self.fault(f"{model} {road}: no smallest budget is named")
                continue
            budgets = sorted({least + (keep_kib - least) * i // max(1, self.a.budgets - 1) for i in range(self.a.budgets)})
            for index, budget in enumerate(budgets):
                self.budget((name, layers, graph, road), model, [*options, profile], index, budget, keep, keep_kib, wanted)

    def budget(self, where, model, options, index, budget, keep, keep_kib, wanted):
        at = ["--budget", f"device={budget}KiB", *options]
        calibrated, _ = self.plan(model, at[:-1])
        policies = self.a.policies if index in self.a.policy_budgets else []
        with ThreadPoolExecutor(2) as pool:
            ours, *others = pool.map(lambda extra: self.compile(model, at + extra), [[]] + [[f"--policy={p}"] for p in policies])
        program, report = ours
        if program is None:
            self.fault(f"{model} {' '.join(at)}: does not fit, though the budget was named")
            return
        bits = self.numbers(program) == wanted
        if not bits:
            self.fault(f"{model} {' '.join(at)}: other bits than everything kept")
        peaks = self.peaks(program)
        for tier, (planned, touched) in peaks.items():
            if planned != touched:
                self.fault(f"{model} {' '.join(at)}: {tier}: planned {planned} bytes, touched {touched}")
        estimate = report["epoch"]["seconds"] + report["epoch"]["evaluation_seconds"]
        rivals = {p: made[0] for p, made in zip(policies, others) if made[0]}
        measured = self.times(list(dict.fromkeys([keep, program, *rivals.values()])), estimate)
        mine = measured[program]
        beside = statistics.median(own / kept for own, kept in zip(mine, measured[keep])) / (report["epoch"]["seconds"] / self.kept)
        row = dict(zip(("model", "layers", "graph", "road"), where), budget_kib=budget, keep_kib=keep_kib, predicted=report["epoch"]["seconds"],
                   kept=self.kept, calibrated=calibrated["epoch"]["seconds"] if calibrated else None,
                   measured=statistics.median(mine), rounds=mine, kept_rounds=measured[keep], beside=beside, peaks=peaks, bits=bits, moved=sum(v["fate"] in ("host", "ssd") for v in report["values"]),
                   again=sum(v["fate"] == "recompute" for v in report["values"]))
        self.rows.append(row)
        say(f"  {where[3]} {budget} KiB: predicted {1e3 * row['predicted']:.3g} ms, measured {1e3 * row['measured']:.3g} ms, drift-free {beside:.2f}")
        if self.a.overlap and row["moved"]:
            self.overlap(row, keep, program, report)
        if not policies:
            return
        ratios = {}
        for p, rival in rivals.items():
            ratio = [theirs / own for theirs, own in zip(measured[rival], mine)]
            ratios[p] = "same" if rival == program else (statistics.median(ratio), min(ratio), max(ratio), statistics.median(measured[rival]))
            same = self.numbers(rival) == wanted
            if not same:
                self.fault(f"{model} {' '.join(at)} --policy={p}: other bits than everything kept")
        self.policy_rows.append(dict(row, ratios=ratios))


def milliseconds(seconds):
    return f"{1e3 * seconds:.3g}" if seconds < 10 else f"{1e3 * seconds:.0f}"


def ratio_text(row, by):
    return f"{row['measured'] / row[by]:.2f}" if row[by] else ""


def tier_text(peaks):
    return " · ".join(f"{tier} {planned / 2**20:.3g} MiB" + ("" if planned == touched else f" **{touched - planned:+d} bytes**") for tier, (planned, touched) in peaks.items())


def span_text(numbers, form="{:.2f}"):
    least, most = form.format(min(numbers)), form.format(max(numbers))
    return least if least == most else f"{least} … {most}"


def print_condensed(rows):
    """A line for each model, graph and road: the least and the most of its budgets."""
    print("| model | graph | tiers | budgets | of keep-all | measured ms | measured / predicted | drift-free | by calibration | bits | planned = touched |")
    print("| --- | --- | --- | ---: | --- | --- | --- | --- | --- | --- | --- |")
    groups = {}
    for r in rows:
        groups.setdefault((f"{r['model']} {r['layers']}", r["graph"], r["road"]), []).append(r)
    for where, group in groups.items():
        exact = sum(bool(r["peaks"]) and all(p == t for p, t in r["peaks"].values()) for r in group)
        calibrated = [r["measured"] / r["calibrated"] for r in group if r["calibrated"]]
        cells = [len(group), span_text([100 * r["budget_kib"] / r["keep_kib"] for r in group], "{:.0f} %"), span_text([1e3 * r["measured"] for r in group], "{:.3g}"),
                 span_text([r["measured"] / r["predicted"] for r in group]), span_text([r["beside"] for r in group]), span_text(calibrated) if calibrated else "",
                 f"{sum(r['bits'] for r in group)} of {len(group)}", f"{exact} of {len(group)}"]
        print("| " + " | ".join([*where, *map(str, cells)]) + " |")


def print_rows(rows):
    print("| model | graph | tiers | budget of keep-all | predicted ms | measured ms | ratio | drift-free | by calibration | made again, moved | planned = touched | bits |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- | --- |")
    for r in rows:
        print(f"| {r['model']} {r['layers']} | {r['graph']} | {r['road']} | {r['budget_kib'] / 1024:.3g} MiB, {100 * r['budget_kib'] / r['keep_kib']:.0f} % | {milliseconds(r['predicted'])} | "
              f"{milliseconds(r['measured'])} | {r['measured'] / r['predicted']:.2f} | {r['beside']:.2f} | {ratio_text(r, 'calibrated')} | {r['again']}, {r['moved']} | {tier_text(r['peaks'])} | {'equal' if r['bits'] else '**other**'} |")


def print_tables(sweep, seconds):
    rows = sweep.rows
    (print_condensed if sweep.a.condensed else print_rows)(rows)
    within, calibrated = (sum(bool(r[by]) and abs(r["measured"] / r[by] - 1) <= 0.1 for r in rows) for by in ("predicted", "calibrated"))
    beside = sum(abs(r["beside"] - 1) <= 0.1 for r in rows)
    exact = sum(bool(r["peaks"]) and all(p == t for p, t in r["peaks"].values()) for r in rows)
    print(f"\n{len(rows)} programs: {sum(r['bits'] for r in rows)} with the bits of everything kept, {exact} with every tier's peak as planned, "
          f"{within} with the measured epoch within 10 % of the predicted one, {beside} where it is compared with keeping everything in the same rounds; "
          f"{calibrated} of what is predicted without a profile.\n")
    if sweep.policy_rows:
        print("Ours against each policy at the same budget: its epoch divided by ours, median (least … most) of interleaved rounds. "
              "Empty: the policy does not fit there. same: it is the same plan.\n")
        print("| model | graph | tiers | budget | ours ms | " + " | ".join(sweep.a.policies) + " |")
        print("| --- | --- | --- | ---: | ---: |" + " ---: |" * len(sweep.a.policies))
        for r in sweep.policy_rows:
            cells = []
            for p in sweep.a.policies:
                q = r["ratios"].get(p)
                cells.append("" if q is None else q if q == "same" else f"{q[0]:.2f} ({q[1]:.2f} … {q[2]:.2f})")
            print(f"| {r['model']} {r['layers']} | {r['graph']} | {r['road']} | {100 * r['budget_kib'] / r['keep_kib']:.0f} % | {milliseconds(r['measured'])} | " + " | ".join(cells) + " |")
        rivals = [q for r in sweep.policy_rows for q in r["ratios"].values() if q != "same"]
        lost = [q for q in rivals if q[2] < 1]
        print(f"\n{len(rivals)} comparisons with other plans: a policy was faster in every round in {len(lost)} of them.\n")
    if sweep.overlap_rows:
        print("What copies cost: epochs with everything kept, by the plan, and by the plan with each copy waited for; in turn, medians.\n")
        print("| model | graph | tiers | budget | copies ms | kept ms | overlapped ms | costs | planned | serial ms | costs | planned |")
        print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for r in sweep.overlap_rows:
            kept, overlapped, serial = (statistics.median(r["times"][name]) for name in ("keep", "overlapped", "serial"))
            print(f"| {r['model']} {r['layers']} | {r['graph']} | {r['road']} | {100 * r['budget_kib'] / r['keep_kib']:.0f} % | {milliseconds(r['copied'])} | {milliseconds(kept)} | "
                  f"{milliseconds(overlapped)} | {100 * (overlapped / kept - 1):+.1f} % | {100 * (r['predicted'] / r['kept'] - 1):+.1f} % | "
                  f"{milliseconds(serial)} | {100 * (serial / kept - 1):+.1f} % | {100 * (r['serial'] / r['kept'] - 1):+.1f} % |")
        print()
    for failure in sweep.failures:
        print(f"* FAULT: {failure}")
    print(f"\n{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the end, {seconds / 60:.0f} minutes.")
    for line in sweep.notes:
        print(line)


def main():
    arguments = read_arguments()
    started = time.time()
    with tempfile.TemporaryDirectory(prefix="plans_sweep.", dir=arguments.scratch) as work:
        sweep = Sweep(arguments, work)
        if not arguments.no_calibrate:
            say("measuring this computer")
            sweep.calibrate()
        try:
            for case in arguments.cases:
                sweep.case(*case)
                for program in sweep.programs.values():
                    if os.path.exists(program):
                        os.remove(program)
                sweep.programs.clear()
        except KeyboardInterrupt: # what was measured so far is still worth a table
            sweep.notes.append("Interrupted: the table is not complete.")
        print_tables(sweep, time.time() - started)
        if arguments.json:
            with open(arguments.json, "w") as out:
                json.dump({"rows": sweep.rows, "policies": sweep.policy_rows, "overlap": sweep.overlap_rows, "faults": sweep.failures}, out, indent=1)
    return 1 if sweep.failures else 0


if __name__ == "__main__":
    sys.exit(main())
