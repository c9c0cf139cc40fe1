"""How epochs and memory grow with edges (R-MAT, 50 a node), width and depth: GCN and SAGE, two layers of 64 on 32 features where the edges grow, else of three layers of 128.
What was measured is kept in BUILD/bench/growth.json; the next call does what is missing, smallest first, and ends where a graph would need more memory or more
time than is allowed. An epoch is the shortest of all turns. --plot draws what there is, both axes in logarithms."""
import argparse
import json
import math
import os
import sys
import time

import peers

EDGES = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000]
WIDTHS, DEPTHS = [16, 32, 64, 128, 256, 512], [1, 2, 4, 8, 16, 32]
DEGREE, SIDE = 50, 1_000_000  # edges of the graph on which width and depth grow
MODELS = {"gcn": "GCN", "sage": "SAGE"}


def source(data, layer, layers, width):
    body = "".join(f"  h = h |> {layer}({width}) |> relu |> dropout(0.5)\n" for _ in range(layers - 1))
    return (f'data g from "{data}"\nmodel m on g {{\n  h = x\n{body}  return h |> {layer}(y.classes)\n}}\n'
            "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 1 }\n")


def graph(a, edges):
    path, made = (os.path.join(a.folder, f"growth_{edges}{x}.safetensors") for x in ("", ".new"))
    if not os.path.exists(path):
        peers.command(os.path.join(a.build, "gnndata"), "synth", "rmat", made, "--seed=3", f"--nodes={edges // DEGREE}", f"--degree={DEGREE}", "--features=32", "--classes=16")
        os.replace(made, path)
    return path


def free_bytes():
    return next(int(line.split()[1]) * 1024 for line in open("/proc/meminfo") if line.startswith("MemAvailable"))


def measure(a, point):
    edges, layer, layers, width = point
    text, program = os.path.join(a.folder, "growth.gnn"), os.path.join(a.folder, "growth")
    with open(text, "w") as file:
        file.write(source(graph(a, edges), layer, layers, width))
    gnncc = os.path.join(a.build, "gnncc")
    plan = json.loads(peers.command(gnncc, "-w", "--plan=json", text))
    needed = plan["tiers"]["process"]["bytes"]
    if needed > 0.8 * free_bytes():
        return {"failed": f"needs {needed / 2**30:.1f} GiB"}
    begin = time.monotonic()
    peers.command(gnncc, "-q", "-w", text, "-o", program)
    compiled = time.monotonic() - begin
    ours = peers.Ours(a, program, a.folder)
    ours.a.epochs = max(2, math.ceil(a.turn / plan["epoch"]["seconds"]))
    turns = [ours.turn() for _ in range(a.rounds)]
    return {"epoch": min(times[1] for times, _ in turns), "peak": max(peak for _, peak in turns), "planned": needed, "announced": plan["epoch"]["seconds"], "compile": compiled}


def points(a):
    """Name of the series, what grows, the point."""
    for n in EDGES:
        for model in MODELS:
            if n <= a.edges:
                yield "edges", model, n, (n, MODELS[model], 2, 64)
    for what, values in (("width", WIDTHS), ("depth", DEPTHS)):
        for n in values:
            for model in MODELS:
                yield what, model, n, (SIDE, MODELS[model], n if what == "depth" else 3, n if what == "width" else 128)


# ---- the picture ----

PANELS = {"edges": "edges (two layers of 64)", "width": "width (three layers, 10⁶ edges)", "depth": "layers of 128 (10⁶ edges)"}
COLORS = {"gcn": "#1f6feb", "sage": "#d1570b"}
W, H, LEFT, TOP, WIDE, HIGH, GAP = 1000, 560, 70, 34, 245, 200, 75


def ticks(low, high):
    return [10.0 ** k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def shown(value, unit):
    if unit == "s":
        return f"{value:g} s" if value >= 1 else f"{1e3 * value:g} ms" if value >= 1e-3 else f"{1e6 * value:g} µs"
    return f"{value / 1e9:g} GB" if value >= 1e9 else f"{value / 1e6:g} MB"


def panel(found, what, row, key, unit, column):
    x0, y0 = LEFT + column * (WIDE + GAP), TOP + row * (HIGH + 64)
    series = {model: sorted((int(n), of[key]) for n, of in found.get(f"{what} {model}", {}).items() if key in of) for model in MODELS}
    series = {model: points for model, points in series.items() if points}
    if not series:
        return ""
    xs, ys = [x for p in series.values() for x, _ in p], [y for p in series.values() for _, y in p]
    marks = ticks(min(ys), max(ys))
    low, high = math.log10(marks[0]), math.log10(marks[-1])
    place = lambda x, y: (x0 + WIDE * (math.log(x / min(xs)) / max(1e-9, math.log(max(xs) / min(xs)))), y0 + HIGH * (1 - (math.log10(y) - low) / max(1e-9, high - low)))
    out = [f'<text x="{x0}" y="{y0 - 10}" class="t">{"epoch" if unit == "s" else "peak resident memory"} by {PANELS[what]}</text>', f'<rect x="{x0}" y="{y0}" width="{WIDE}" height="{HIGH}" class="f"/>']
    for y in marks:
        at = place(min(xs), y)[1]
        out.append(f'<line x1="{x0}" y1="{at:.1f}" x2="{x0 + WIDE}" y2="{at:.1f}" class="g"/><text x="{x0 - 6}" y="{at + 4:.1f}" class="r">{shown(y, unit)}</text>')
    for x in sorted(set(xs)):
        text = f"{x}" if what != "edges" else f"{x:.0e}".replace("e+0", "·10^") if x % 3 == 0 else f"10^{round(math.log10(x))}"
        out.append(f'<text x="{place(x, ys[0])[0]:.1f}" y="{y0 + HIGH + 16}" class="m">{text}</text>')
    for model, line in series.items():
        at = [place(x, y) for x, y in line]
        out.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at)}" fill="none" stroke="{COLORS[model]}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLORS[model]}"><title>{model}, {n}: {shown(float(f"{v:.3g}"), unit)}</title></circle>' for (x, y), (n, v) in zip(at, line)]
    return "\n".join(out)


def plot(found, path):
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {W} {H}" font-family="sans-serif" font-size="11">',
             "<style>.t{font-size:12px;fill:#222}.f{fill:#fff;stroke:#999}.g{stroke:#e4e4e4}.r{text-anchor:end;fill:#444}.m{text-anchor:middle;fill:#444;font-size:10px}</style>", f'<rect width="{W}" height="{H}" fill="#fff"/>']
    for column, what in enumerate(PANELS):
        parts += [panel(found, what, 0, "epoch", "s", column), panel(found, what, 1, "peak", "B", column)]
    for i, model in enumerate(MODELS):
        parts.append(f'<circle cx="{LEFT + 90 * i}" cy="{H - 12}" r="4" fill="{COLORS[model]}"/><text x="{LEFT + 90 * i + 9}" y="{H - 8}" fill="#222">{MODELS[model]}</text>')
    with open(path, "w") as file:
        file.write("\n".join(parts) + "\n</svg>\n")


def table(found):
    print("| what grows | | GCN: epoch | announced | resident | planned | SAGE: epoch | announced | resident | planned |\n| --- | ---: |" + " ---: |" * 8)
    for what, values in (("edges", EDGES), ("width", WIDTHS), ("depth", DEPTHS)):
        for n in values:
            cells = []
            for model in MODELS:
                of = found.get(f"{what} {model}", {}).get(str(n), {})
                cells += [peers.milliseconds(of["epoch"]), f"{of['announced'] / of['epoch']:.2f} of it", f"{of['peak'] / 2**20:,.0f} MiB", f"{of['planned'] / of['peak']:.2f} of it"] if "epoch" in of else [of.get("failed", ""), "", "", ""]
            if any(cells):
                print(f"| {what} | {n:,} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(prog="growth.sh BUILD", description=__doc__)
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--edges", type=int, default=EDGES[-1], help="the most (%(default)s)")
    parser.add_argument("--seconds", type=float, default=1800, help="after which nothing is begun (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turn", type=float, default=0.2, help="seconds of epochs of a turn")
    parser.add_argument("--warmup", type=int, default=1)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--again", action="store_true", help="forget what was measured")
    parser.add_argument("--plot", metavar="FILE.svg")
    a = peers.parsed(parser)
    bench = peers.Kept(a, "growth.json")
    end = time.monotonic() + a.seconds
    for what, model, n, point in sorted(points(a), key=lambda p: p[2] if p[0] == "edges" else 2 * SIDE):
        kept = bench.found.setdefault(f"{what} {model}", {})
        if str(n) in kept or time.monotonic() > end:
            continue
        print(f"{what} {model} {n}", file=sys.stderr, flush=True)
        kept[str(n)] = measure(a, point)
        bench.keep()
    table(bench.found)
    if a.plot:
        plot(bench.found, a.plot)


if __name__ == "__main__":
    sys.exit(main())
