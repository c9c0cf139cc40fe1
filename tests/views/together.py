"""together.py REPORT.json GRAPH.dot LINES.html LINES.txt: of a plan that is cut, are the steps of a kernel one box of the graph and one item of their line, with what they are together?"""
import html
import json
import re
import sys

report, dot, page, lines = json.load(open(sys.argv[1])), *(open(name).read() for name in sys.argv[2:5])
steps = report["steps"][:report["training_steps"]]
runs = {s["step"]: s["seconds"] for s in report["measured"]["steps"]}
values = {v["value"]: v for v in report["values"]}
is_kernel = lambda s: s["lane"] == "compute" and s["phase"] != "wait"
name_of = lambda s: s["what"].replace(s["value"], s["group"], 1) if "value" in s else s["group"]


def kernels():
    """The steps of each kernel."""
    found = {}
    for s in filter(is_kernel, steps):
        found.setdefault((s["phase"], s["group"]) if "group" in s else s["step"], []).append(s)
    return list(found.values())


def graph():
    boxes = re.findall(r'^  s(\d+) \[label="(\d+)(?:\.\.\.: (.*), (\d+) steps|: (.*))", fillcolor', dot, re.M)
    assert [b[0] for b in boxes] == [b[1] for b in boxes] == [str(k[0]["step"]) for k in kernels()] and len(boxes) < 60
    for (_, _, what, count, one), k in zip(boxes, kernels()):
        assert (what, count) == (k[0]["group"], str(len(k))) if len(k) > 1 else one == k[0]["what"], what
    arrows, maker, first = {}, {}, {s["step"]: k[0]["step"] for k in kernels() for s in k}
    for s in filter(is_kernel, steps):
        for name in s["reads"]:
            if name in maker:
                arrows.setdefault((maker[name], first[s["step"]], values.get(name, {}).get("group", name)), set()).add(name)
        maker.update((name, first[s["step"]]) for name in s["writes"])
    drawn = re.findall(r'^  s(\d+) -> s(\d+) \[label="([^\n"]*)(?:\n|\\n)?([^"]*)"(.*)\];$', dot, re.M)
    assert [(int(a), int(b), name) for a, b, name, _, _ in drawn] == list(arrows)
    several = 0
    for (_, _, _, label, style), names in zip(drawn, arrows.values()):
        fates = [values[n]["fate"] for n in names if n in values]
        assert bool(style) == bool({"host", "ssd"} & set(fates)), label
        if len(set(fates)) > 1:
            assert all(f", {fates.count(f)} {f}" in label for f in set(fates)), label
            several += 1
        if fates:
            figure, unit = label.split(",")[0].split(" ")
            whole = sum(values[n]["bytes"] for n in names) / {"B": 1, "KiB": 1024, "MiB": 1 << 20, "GiB": 1 << 30}[unit]
            assert abs(float(figure) - whole) <= 0.051, label
    assert several


def items():
    told = [(int(n), html.unescape(text)) for n, text in re.findall(r'<li value="(\d+)">([^<]*)', page)]
    assert len(told) < len(steps) / 4
    wanted = {}
    for s in (s for s in steps if s["line"]):
        waited = steps[s["waits_for"] - 1] if s["phase"] == "wait" else s
        wanted.setdefault((s["phase"], name_of(waited)) if "group" in s else s["step"], []).append(s)
    wanted = {group[0]["step"]: group for group in wanted.values()}
    assert {n for n, _ in told} == set(wanted)
    for n, text in told:
        group = wanted[n]
        phase, took, measured, what = re.match(r"(\w+), (\S+) ms, (\S+) ms measured: (.*)$", text).groups()
        assert phase == group[0]["phase"] and abs(float(took) - 1e3 * sum(s["seconds"] for s in group)) < 6e-4 and abs(float(measured) - 1e3 * sum(runs[s["step"]] for s in group)) < 6e-4, text
        assert what.endswith(f", {len(group)} steps") if len(group) > 1 else what == group[0]["what"], text


def fates():
    source = report["source"]["lines"]
    for number, line in enumerate(lines.splitlines()[-len(source):], 1):
        away = {}
        for v in report["values"]:
            if v["line"] == number and v["fate"] != "keep":
                away.setdefault(v["fate"], set()).add(v.get("group", v["value"]))
        assert all(f"{len(names)} {fate}" in line for fate, names in away.items()), line


graph()
items()
fates()
