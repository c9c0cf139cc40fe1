"""Runs the peers and ours in turn, several rounds, and prints a table. See memory_vs_peers.sh."""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MODEL = """
data g from "{data}"
model sage on g {{
  h1 = x |> SAGE(128) |> relu |> dropout(0.3)
  h2 = h1 |> SAGE(128) |> relu |> dropout(0.3)
  return h2 |> SAGE(y.classes)
}}
train sage {{
  loss      = cross_entropy(out, y)
  optimizer = adam(lr = 0.01)
  epochs    = 1
}}
"""
EPOCHS = 3


def run(command):
    """Standard output of a command, and its peak resident memory."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out = child.stdout.read()
    error = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {error[-400:]}")
    return out, usage.ru_maxrss * 1024


def compile_ours(root, folder, model):
    """Programs for shares of what keeping everything needs: (name, path)."""
    gnncc = f"{root}/build/gnncc"
    plan = json.loads(run([gnncc, "-w", "--plan=json", "--target=native", model])[0])
    most = plan["tiers"]["device"]["peak_bytes"]
    programs = []
    for name, options in (("gnncc, everything kept", []),
                          ("gnncc, 75 %, recompute", [f"--budget=device={most * 75 // 100}"]),
                          ("gnncc, 75 %, SSD", [f"--budget=device={most * 75 // 100}", "--budget=ssd=16GiB"]),
                          ("gnncc, 50 %, SSD", [f"--budget=device={most * 50 // 100}", "--budget=ssd=16GiB"])):
        path = f"{folder}/{len(programs)}"
        try:
            run([gnncc, "-w", "--target=native", *options, model, "-o", path])
            programs.append((name, path))
        except RuntimeError as error:
            print(f"# {name}: does not fit ({str(error).splitlines()[0][-120:]})")
    return programs


def main():
    root, venv, nodes, degree, rounds = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    threads = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as folder:
        data, model = f"{folder}/g.safetensors", f"{folder}/sage.gnn"
        run([f"{root}/build/gnndata", "synth", "rmat", data, "--nodes", str(nodes), "--degree", str(degree), "--features", "128",
             "--classes", "16"])
        Path(model).write_text(MODEL.format(data=data))
        ours = compile_ours(root, folder, model)
        worker = f"{root}/tests/bench/memory_vs_peers_worker.py"
        peers = [(f"PyG, {way}", "torch-2.15", way) for way in ("plain", "checkpoint", "save_on_cpu")] + [("DGL, plain", "torch-2.2", "dgl")]
        found = {}
        for _ in range(rounds):
            for name, environment, way in peers:
                out, _ = run([f"{venv}/{environment}/bin/python", worker, data, way, str(EPOCHS), str(threads)])
                result = json.loads(out.splitlines()[-1])
                found.setdefault(name, []).append((result["seconds"], result["peak_bytes"], result["loaded_bytes"]))
            for name, path in ours:
                out, peak = run([path, "bench", "--epochs", str(EPOCHS), "--warmup", "1", "--json"])
                found.setdefault(name, []).append((json.loads(out)["median"], peak, 0))
    print(f"\n{nodes:,} nodes, degree {degree}, 128 features, hidden 128, {threads} threads, {rounds} rounds of {EPOCHS} epochs in turn\n")
    print("| program | epoch, median (range) | peak resident | over ours, time | over ours, memory |\n|---|---|---|---|---|")
    base_time = statistics.median(r[0] for r in found[ours[0][0]])
    base_peak = statistics.median(r[1] for r in found[ours[0][0]])
    for name, results in found.items():
        times = [r[0] for r in results]
        peak = statistics.median(r[1] for r in results)
        print(f"| {name} | {statistics.median(times):.3f} s ({min(times):.3f}-{max(times):.3f}) | {peak / 2**20:,.0f} MiB | "
              f"{statistics.median(times) / base_time:.2f} x | {peak / base_peak:.2f} x |")


main()
