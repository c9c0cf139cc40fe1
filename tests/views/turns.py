"""turns.py REPORT.json GANTT.txt GANTT.svg: of a plan that is cut, do the text and the drawing put the steps of kernels that run in turns together, and the waits for pieces?"""
import json
import re
import sys

report, text, svg = json.load(open(sys.argv[1])), open(sys.argv[2]).read(), open(sys.argv[3]).read()
steps = report["steps"][:report["training_steps"]]
runs = {s["step"]: s for s in report.get("measured", {}).get("steps", [])}
is_kernel = lambda s: s["lane"] == "compute" and s["phase"] != "wait"
whole = max(report["epoch"]["seconds"], report.get("measured", {}).get("epoch_s", 0))
per_second = {"s": 1, "ms": 1e3, "us": 1e6}
close = lambda a, b, digits=3: abs(a - b) <= 0.51 * 10 ** -digits * 10 * max(abs(b), 1e-9)


def span(step, is_measured):
    """When a step begins and ends."""
    s = runs[step["step"]] if is_measured else step
    start = s["start_s"] if is_measured else s["start_seconds"]
    return start, start + s["seconds"]


def turns_told():
    """Every piece of a kernel is in one stretch of turns, in which it runs once for a part; nothing else is."""
    told = re.findall(r"^steps (\d+) to (\d+) take (\S+) (\w+)(?: \(measured (\S+)\))?: (\d+) parts by turns of (.*)$", text, re.M)
    assert 5 < len(told) < 30, len(told)
    inside = []
    for first, last, took, unit, measured, parts, names in told:
        within = [s for s in steps[int(first) - 1:int(last)] if is_kernel(s)]
        assert within[0]["step"] == int(first) and within[-1]["step"] == int(last)
        inside += [s["step"] for s in within]
        ran = [(s["group"], s.get("slice"), s["part"]) for s in within if s["phase"] != "recompute"]
        assert len(ran) == len(set(ran)), (first, last)
        assert len({s["part"] for s in within}) == int(parts), (first, last)
        assert len({s["phase"] for s in within} - {"recompute"}) == 1
        groups = {s["group"].split(" = ")[0] for s in within if s["phase"] != "recompute"}
        assert groups == {re.sub(r" (x\d+|\d+/\d+)$", "", name) for name in names.split(", ")}, names
        for name in names.split(", "):
            slices = {s["slice"] for s in within if "slice" in s and s["phase"] != "recompute" and s["group"].split(" = ")[0] == name.split(" ")[0]}
            many, one = re.search(r" x(\d+)$", name), re.search(r" (\d+)/(\d+)$", name)
            assert len(slices) == (int(many[1]) if many else 1 if one else 0), name
            assert not one or (slices == {int(one[1])} and int(one[2]) == max(s.get("slice", 0) for s in steps if s.get("group", "").split(" = ")[0] == name.split(" ")[0])), name
        for is_measured, figure in ((False, took), (True, measured)):
            assert bool(figure) == (not is_measured or bool(runs))
            if figure:
                assert close(float(figure), (span(within[-1], is_measured)[1] - span(within[0], is_measured)[0]) * per_second[unit]), (first, last, figure)
    assert inside == [s["step"] for s in steps if is_kernel(s) and "part" in s]
    return told


def waits_told():
    """Each wait is in one line, those of the pieces of a value together."""
    shown = [s for s in steps if s["phase"] == "wait" and (s["seconds"] > 0 or (runs and runs[s["step"]]["seconds"] >= report["measured"]["epoch_s"] / 1000))]
    one = re.findall(r"^step (\d+) waits (\S+) (\w+)(?:, measured (\S+) \w+,)? for step", text, re.M)
    many = re.findall(r"^steps (\d+) to (\d+) wait (\d+) times, (\S+) (\w+)(?:, measured (\S+) \w+,)? for pieces \((.*)\)$", text, re.M)
    assert shown and many and len(one) + sum(int(m[2]) for m in many) == len(shown), (one, many, len(shown))
    backward = next(s["step"] for s in steps if s["phase"] == "backward")
    for first, last, count, took, unit, measured, what in many:
        assert "[" not in what and (int(first) < backward) == (int(last) < backward) and bool(measured) == bool(runs)
        direction, group = re.match(r"(in|out) (\S+) ", what).groups()
        assert [report["steps"][steps[int(n) - 1]["waits_for"] - 1]["group"] for n in (first, last)] == [group, group], what
    in_all = sum(float(m[3]) / per_second[m[4]] for m in many) + sum(float(o[1]) / per_second[o[2]] for o in one)
    assert abs(in_all - sum(s["seconds"] for s in shown)) < 0.01 * max(in_all, 1e-3), in_all


def turns_drawn(told):
    """The same stretches lie in the drawing where they ought to; what is in them has its role."""
    boxes = re.findall(r'^<rect class="turns" x="(\S+)" y="\S+" width="(\S+)" height="\d+"><title>steps (\d+) to (\d+): ([^<]*)</title>', svg, re.M)
    for is_measured in (False, True) if runs else (False,):
        own = [b for b in boxes if b[4].endswith(", measured") == is_measured]
        assert [b[2:4] for b in own] == [t[:2] for t in told]
        for x, width, first, last, _ in own:
            begin, end = span(steps[int(first) - 1], is_measured)[0], span(steps[int(last) - 1], is_measured)[1]
            assert abs((float(x) - 96) / 848 * whole - begin) < whole / 1e4 and abs(float(width) / 848 * whole - (end - begin)) < whole / 1e4, (first, last)
    assert svg.count("<title>") <= 200
    assert not [n for n in re.findall(r"<title>step (\d+),", svg) if is_kernel(steps[int(n) - 1]) and "part" in steps[int(n) - 1]]
    for role in ("forward", "backward", "wait"):
        wide = sum(float(right) - float(left) for path in re.findall(rf'^<path class="{role}" d="([^"]*)"/>', svg, re.M) for left, right in re.findall(r"M(\S+) \S+?H(\S+?)v", path))
        wide += sum(float(w) for w in re.findall(rf'^<rect class="{role}" x="\S+" y="\S+" width="(\S+)" height="\d+"><title>', svg, re.M))
        list_of = [s for s in steps if s["lane"] == "compute" and s["phase"] == role]
        wanted = 848 / whole * sum(s["seconds"] + (runs[s["step"]]["seconds"] if runs else 0) for s in list_of)
        assert wanted > 0 and abs(wide - wanted) < 0.03 * wanted + 0.4 * len(re.findall(rf'class="{role}"', svg)), (role, wide, wanted)


told = turns_told()
waits_told()
turns_drawn(told)
