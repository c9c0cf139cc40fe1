"""Epochs as a plan announces them, where nobody calibrated and where --calibrate did, beside what they take: every program has a turn of a few epochs in each
round, and turns in which other programs were at work do not count. A row is an entry of `make bench`, everything kept; announced over measured is of the median epoch of all rounds, and beside it of the least and the most.
What was measured is kept in BUILD/bench/announced.json, so that another build (--than) or another model of the machine is compared with the same epochs."""
import argparse
import json
import math
import os
import statistics
import sys
import time

import peers


def announced(gnncc, source, cache):
    text = peers.command(gnncc, "-w", "--plan=json", source, env=dict(os.environ, XDG_CACHE_HOME=cache))
    return json.loads(text)["epoch"]["seconds"]


def source_of(a, entry):
    path = os.path.join(a.folder, "announced_" + entry.key.replace(" ", "_") + ".gnn")
    with open(path, "w") as file:
        file.write(entry.text(peers.graph_file(a, entry.graph)))
    return path


def busy():
    """Seconds that all processors were busy, or taken away by a host, since the machine began."""
    user, nice, system, _, _, irq, softirq, steal = map(int, open("/proc/stat").readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet(end):
    """Looks at what others do, once a second, until they do nothing or the time is over."""
    while time.monotonic() < end:
        own, all_of_it, begin = time.process_time(), busy(), time.monotonic()
        time.sleep(0.3)
        if (busy() - all_of_it - (time.process_time() - own)) / (time.monotonic() - begin) < 0.1:
            return
        time.sleep(0.7)


def turn(a, program, epoch):
    """The median epoch, and what others took of a processor meanwhile; so many epochs that ticks of the clock tell."""
    epochs = max(a.epochs, math.ceil(a.seconds / epoch))
    own, all_of_it, begin = os.times(), busy(), time.monotonic()
    out = peers.command(program, "bench", "--json", "--threads", str(a.threads), "--warmup", str(a.warmup), "--epochs", str(epochs))
    now = os.times()
    used = now.children_user + now.children_system - own.children_user - own.children_system
    return [json.loads(out)["median"], max(0, busy() - all_of_it - used) / (time.monotonic() - begin)]


def measured(a, entries):
    """Of each entry so many turns in which others did next to nothing, or those in which they did least until patience is over."""
    bench = peers.Kept(a, "announced.json")
    found, programs = bench.found, {}
    is_missing = lambda key: sum(of[1] < a.others for of in found[key]) < a.rounds
    for entry in entries:
        if is_missing(entry.key) if entry.key in found else not found.setdefault(entry.key, []):
            programs[entry.key] = os.path.join(a.folder, "announced_" + entry.key.replace(" ", "_"))
            peers.command(os.path.join(a.build, "gnncc"), "-q", "-w", source_of(a, entry), "-o", programs[entry.key], env=dict(os.environ, XDG_CACHE_HOME=a.empty))
    end = time.monotonic() + a.patience
    while any(is_missing(key) and (time.monotonic() < end or len(found[key]) < a.rounds) for key in programs):
        for key, program in programs.items():
            if is_missing(key):
                a.others < 1 and wait_for_quiet(end)
                found[key] = sorted(found[key] + [turn(a, program, found[key][0][0] if found[key] else a.seconds)], key=lambda of: of[1])[:a.rounds]
                bench.keep()
    return found


def cell(said, rounds):
    return f"{said / statistics.median(rounds):.2f} ({said / max(rounds):.2f} … {said / min(rounds):.2f})"


def main():
    parser = argparse.ArgumentParser(prog="announced.sh BUILD", description=__doc__)
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--models", default=",".join(peers.LAYERS))
    parser.add_argument("--graphs", default=",".join(peers.REAL + ["arxiv"]))
    parser.add_argument("--than", metavar="BUILD", help="what another build announces, too")
    parser.add_argument("--data", default=peers.SHARED, help="where the folders of the real graphs are")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=3, help="of a turn")
    parser.add_argument("--seconds", type=float, default=0.5, help="that a turn takes at least, but for the first")
    parser.add_argument("--warmup", type=int, default=1)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--others", type=float, default=0.08, metavar="PROCESSORS", help="that other programs may have in a turn (%(default)s); 99, and `nice -n -15` before the command, where they never rest")
    parser.add_argument("--patience", type=float, default=600, metavar="SECONDS", help="to wait for turns in which others leave the processors alone")
    parser.add_argument("--again", action="store_true", help="forget what was measured")
    a = peers.parsed(parser)
    a.cache, a.empty = os.path.join(a.folder, "cache"), os.path.join(a.folder, "empty")
    os.makedirs(a.empty, exist_ok=True)
    peers.rates_of(a)
    entries = [peers.Entry(model, 3, 128, graph) for graph in a.graphs.split(",") for model in a.models.split(",")]
    found = measured(a, entries)
    builds = ([("the other build", a.than)] if a.than else []) + [("this", a.build)]
    print("| entry | epoch |" + "".join(f" {name}: not calibrated | calibrated |" for name, _ in builds))
    print("| --- | ---: |" + " ---: | ---: |" * len(builds))
    errors = {}
    for entry in entries:
        rounds, cells = [of[0] for of in found[entry.key]], []
        for name, build in builds:
            for cache in (a.empty, a.cache):
                said = announced(os.path.join(build, "gnncc"), source_of(a, entry), cache)
                cells.append(cell(said, rounds))
                errors.setdefault((name, cache), []).append(said / statistics.median(rounds))
        print(f"| {entry.key} | {peers.milliseconds(statistics.median(rounds))}{'' if all(of[1] < a.others for of in found[entry.key]) else ', disturbed'} | " + " | ".join(cells) + " |", flush=True)
    print(f"| geometric mean; within a quarter | |" + "".join(f" {math.exp(statistics.mean(map(math.log, e))):.2f}; {sum(abs(r - 1) <= 0.25 for r in e)} of {len(e)} |" for e in errors.values()))


if __name__ == "__main__":
    sys.exit(main())
