#!/usr/bin/env python3
"""Interleaved comparison of training epochs: peers from virtual environments and a program made by gnncc.

Every contestant takes turns in every round, so a noisy neighbour hits all of them; the ratio is the median over
the rounds of (peer / program). epoch_vs_peers.sh installs the peers and calls this.
"""
import argparse
import json
import os
import resource
import shlex
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "..", "shared", "data", "cora")

# name -> (virtual environment, kind of the worker, what a reader should know)
PEERS = {
    "pyg": ("torch-2.15", "pyg", "PyG as in its examples, newest torch"),
    "pyg-csr": ("torch-2.15", "pyg-csr", "adjacency as torch CSR matrix"),
    "pyg-sparse": ("torch-2.15", "pyg-sparse", "CSR adjacency, and x as a sparse matrix"),
    "pyg@2.2": ("torch-2.2", "pyg", "PyG as in its examples, the torch DGL needs"),
    "pyg-sparse@2.2": ("torch-2.2", "pyg-sparse", "CSR adjacency, and x as a sparse matrix"),
    "dgl": ("torch-2.2", "dgl", "DGL as in its examples"),
    "dgl-sparse": ("torch-2.2", "dgl-sparse", "x as a sparse matrix"),
    "pyg@2.2+malloc": ("torch-2.2", "pyg", "glibc told to keep freed memory"),
    "dgl+malloc": ("torch-2.2", "dgl", "glibc told to keep freed memory"),
}

# torch frees its large tensors each epoch and glibc returns them to the system: page faults can be half of an epoch.
KEEP_MEMORY = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296"


def environment(threads):
    """The same threads for all, and a BLAS that is not fooled by a CPU it does not know by name.

    OMP_WAIT_POLICY is left alone: passive waiting is kinder on a busy machine, but slows the peers by up to three quarters on a
    quiet one.
    """
    env = dict(os.environ, DGLBACKEND="pytorch", CUDA_VISIBLE_DEVICES="")
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        env[name] = str(threads)
    flags = open("/proc/cpuinfo").read().split() if os.path.exists("/proc/cpuinfo") else []
    if "avx512f" in flags:
        env["OPENBLAS_CORETYPE"] = "SkylakeX"
    elif "avx2" in flags:
        env["OPENBLAS_CORETYPE"] = "Haswell"
    return env


class Peer:
    """A worker process that waits, asleep, between its turns."""

    def __init__(self, name, args, env):
        folder, kind, self.note = PEERS[name]
        self.name = name
        python = os.path.join(args.venv, folder, "bin", "python")
        if name.endswith("+malloc"):
            env = dict(env, GLIBC_TUNABLES=KEEP_MEMORY)
        worker = os.path.join(HERE, "epoch_vs_peers_worker.py")
        self.process = subprocess.Popen([python, worker, kind, args.data, str(args.threads)], env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        facts = self.answer()
        self.version = "%s, torch %s" % (facts["version"], facts["torch"])
        self.ask("epochs %d" % args.warmup)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("epoch_vs_peers: the worker of %s ended; its message is above" % self.name)
        return json.loads(line)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer()

    def turn(self, epochs):
        times = self.ask("epochs %d" % epochs)
        return statistics.median(times), min(times), max(times)

    def close(self):
        self.note += ", test accuracy %.3f" % self.ask("accuracy")
        self.process.stdin.close()
        self.process.wait()


class Program:
    """A program made by gnncc; it starts afresh each turn and warms up by itself."""
    name, version = "gnncc", "gnncc"

    def __init__(self, args, env):
        self.command = [os.path.abspath(args.program), "bench", "--json", "--threads", str(args.threads),
                        "--warmup", str(args.warmup)] + shlex.split(args.program_options)
        self.env, self.note = env, args.program

    def turn(self, epochs):
        out = subprocess.run(self.command + ["--epochs", str(epochs)], env=self.env, text=True, check=True,
                             stdout=subprocess.PIPE).stdout
        report = json.loads(out)
        if "median_seconds" not in report:
            sys.exit("epoch_vs_peers: %s printed no median_seconds: %s" % (" ".join(self.command), out))
        median = report["median_seconds"]
        return median, report.get("min_seconds", median), report.get("max_seconds", median)

    def close(self):
        pass


def cpu_seconds():
    """What the whole machine has spent (with what the hypervisor took), and what our own processes have, once ended."""
    if not os.path.exists("/proc/stat"):
        return 0.0, 0.0
    user, nice, system, _, _, irq, softirq, stolen = map(int, open("/proc/stat").readline().split()[1:9])
    own = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return (user + nice + system + irq + softirq + stolen) / os.sysconf("SC_CLK_TCK"), own


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", help="a compiled gcn_cora; without it only the peers are measured")
    parser.add_argument("--program-options", default="", help="further options for it, as one string")
    parser.add_argument("--data", default=DATA, help="folder with Cora as .npy files")
    parser.add_argument("--venv", default=os.path.join(HERE, "..", "..", "build", "venv"))
    parser.add_argument("--peers", default=",".join(PEERS), help="some of: " + " ".join(PEERS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--epochs", type=int, default=20, help="epochs per turn")
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", help="also write every round to this file")
    args = parser.parse_args()
    unknown = [name for name in args.peers.split(",") if name not in PEERS]
    if unknown:
        parser.error("unknown peer %s; known: %s" % (unknown[0], " ".join(PEERS)))
    if not os.path.exists(os.path.join(args.data, "x.npy")):
        parser.error("no x.npy in %s; say where Cora is with --data" % args.data)
    return args


def main():
    args = options()
    env = environment(args.threads)
    start, (all_before, own_before) = time.time(), cpu_seconds()
    runners = [Program(args, env)] if args.program else []
    runners += [Peer(name, args, env) for name in args.peers.split(",")]
    turns = {r.name: [] for r in runners}
    for _ in range(args.rounds):
        for runner in runners:
            time.sleep(0.05)  # lets the threads of the one before fall asleep
            turns[runner.name].append(runner.turn(args.epochs))
    for runner in runners:
        runner.close()
    all_after, own_after = cpu_seconds()
    others = (all_after - all_before - own_after + own_before) / (time.time() - start) / os.cpu_count()

    print("training epoch of the 2-layer GCN on Cora, hidden 16, dropout 0.5, Adam; %d threads, "
          "%d rounds of %d epochs, interleaved" % (args.threads, args.rounds, args.epochs))
    print("%-15s %9s %9s %9s %8s" % ("", "median ms", "best ms", "worst ms", "ratio"))
    first = [t[0] for t in turns[runners[0].name]]
    for runner in runners:
        rounds = turns[runner.name]
        ratio = statistics.median(t[0] / f for t, f in zip(rounds, first))
        print("%-15s %9.3f %9.3f %9.3f %7.2fx   %s: %s" % (
            runner.name, 1e3 * statistics.median(t[0] for t in rounds), 1e3 * min(t[1] for t in rounds),
            1e3 * max(t[2] for t in rounds), ratio, runner.version, runner.note))
    print("ratio: time over that of %s, median of the rounds" % runners[0].name)
    print("other processes had %.0f %% of the machine%s" % (
        100 * others, "; threads that wait for each other lose far more than that, so run this again on a quiet one"
        if others > 0.05 else ""))
    if args.json:
        with open(args.json, "w") as file:
            json.dump({name: [dict(zip(("median", "min", "max"), t)) for t in rounds]
                       for name, rounds in turns.items()}, file, indent=1)


main()
