"""page.py MEASURED.html RUN.json TODAY.html PLAN.json ROOMY.html TRANSFORMER.html BARE.html WIDE.html WAITING.html WAITING.json PIECES.html PIECES.json LOOP.html LOOP.json RANKS.html RANKS.json WAY.html WAY.json: the report in a real browser. One line a test on standard
output, "ok name" or "not_ok name"; what went wrong on standard error."""
import json
import os
import sys
import traceback

sys.path.insert(0, os.path.dirname(__file__))
from browser import Browser

measured_page, run_file, today_page, plan_file, roomy_page, transformer_page, bare_page, wide_page, waiting_page, waiting_file, pieces_page, pieces_file, loop_page, loop_file, ranks_page, ranks_file, way_page, way_file = sys.argv[1:19]
run, plan, pieces = json.load(open(run_file)), json.load(open(plan_file)), json.load(open(pieces_file))
tests = []


def test(function):
    tests.append((function.__doc__, function))


def epoch_of(document):
    return document["steps"][:document["training_steps"]]


def size(n):
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    u = 0
    while n >= 1024 and u < 4:
        n, u = n / 1024, u + 1
    return f"{n:.1f} {units[u]}" if u else f"{n} B"


def needed(n):
    """Rounded up to the digit shown, where it is a threshold."""
    unit = 1
    while n / unit >= 1024:
        unit *= 1024
    return size(-(-10 * n // unit) * unit / 10 if unit > 1 else n)


def duration(seconds):
    return f"{1e3 * seconds:.3f} ms"


def text(b, selector):
    return b.js(f"document.querySelector({json.dumps(selector)}).textContent")


def as_estimated(b):
    """The page of the run, its timeline as estimated."""
    b.open(measured_page)
    b.key("e")


def window(b):
    return b.js("[view.from, view.to]")


def waits_drawn(b):
    return sorted(set(b.js("[...document.querySelectorAll('#gantt .wait')].map(n => Number(n.dataset.step))")))


def red_boxes(b):
    """Steps whose boxes are filled with the red pattern."""
    return sorted(set(b.js("[...document.querySelectorAll('#gantt rect.box')].filter(n => getComputedStyle(n).fill.includes('p-wait')).map(n => Number(n.dataset.step))")))


@test
def opens(b):
    "the page opens from file://, loads nothing and complains of nothing"
    for page in (today_page, roomy_page, transformer_page, bare_page, pieces_page, measured_page):
        b.open(page)
        assert b.complaints == [], b.complaints
        assert len(b.requests) == 1, b.requests


@test
def opens_on_the_run(b):
    "a page of a run opens on the measurement: what was off first, both times in the lanes; one of a plan on what to change"
    order = lambda: b.js("[...document.querySelectorAll('main > section')].filter(n => n.offsetHeight).map(n => n.id || n.querySelector('h2').id)")
    assert order()[:2] == ["accuracy", "change"] and b.js("view.mode") == "both", order()
    assert abs(b.js("view.to") - max(run["epoch"]["seconds"], run["measured"]["epoch_s"])) < 1e-9
    twice = {s["step"] for s in epoch_of(run) if s["lane"] == "compute" and s["phase"] == "forward" and s["seconds"] > 0}
    boxes_drawn = b.js("[...document.querySelectorAll('#gantt rect.box')].map(n => Number(n.dataset.step))")
    assert all(boxes_drawn.count(n) == 2 for n in twice), boxes_drawn
    b.open(today_page)
    assert order()[0] == "change" and "accuracy" not in order() and b.js("view.mode") == "estimated", order()
    as_estimated(b)


@test
def changes(b):
    "what to change says what to write and what that gives: the program's advice, or what the alternatives and the sweep say"
    told = b.js("[...document.querySelectorAll('#changes li')].map(n => [n.querySelector('code').textContent, n.textContent])")
    instead = run["instead"]
    typed = lambda n: needed(n).replace(" ", "")
    assert any(write == f"--budget cpu={typed(instead['step_up']['bytes'])}" and f"{1e3 * (run['epoch']['seconds'] - instead['step_up']['saves_seconds']):.0f} ms per epoch" in gives for write, gives in told), told
    assert any(write == f"--budget cpu={typed(instead['keep_everything']['bytes'])}" and "keeps everything" in gives for write, gives in told), told
    b.js("report.advice = { keeps_everything: false, text: 'more memory helps', list: [{ write: '--budget cpu=1GiB', where: 'option', gives: '5 ms per epoch', seconds: 0.005 }] }; document.querySelector('#changes').replaceChildren(); drawChanges()")
    assert text(b, "#changes") == "--budget cpu=1GiB 5 ms per epoch" and text(b, "#change-text") == "more memory helps"
    as_estimated(b)


@test
def bars(b):
    "bars and verdict agree with the JSON"
    tiers = run["tiers"]
    shown = text(b, "#tiers")
    assert f"{needed(tiers['device']['peak_bytes'])} of {needed(tiers['device']['budget_bytes'])}, peak at step {run['peak_step']}" in shown, shown
    assert f"{needed(tiers['host']['peak_bytes'])} of {needed(tiers['host']['budget_bytes'])}" in shown, shown
    widths = b.js("[...document.querySelectorAll('#split .bar svg')].map(n => n.getBoundingClientRect().width)")
    inner = b.js("document.querySelector('#split .bar > div').clientWidth")
    epoch, measured = run["epoch"], run["measured"]
    took = {m["step"]: m["seconds"] for m in measured["steps"]}
    ran = lambda wanted: sum(took[s["step"]] for s in epoch_of(run) if s["lane"] == "compute" and wanted(s["phase"]))
    parts = [epoch["compute_seconds"], epoch["recompute_seconds"], epoch["wait_seconds"], ran(lambda p: p not in ("wait", "recompute")), ran(lambda p: p == "recompute"), ran(lambda p: p == "wait")]
    for wide, seconds in zip(widths, [p for p in parts if p > 0]):
        assert abs(wide / inner - seconds / max(epoch["seconds"], measured["epoch_s"])) < 0.005, (wide, inner, seconds)
    shown = text(b, "#split")
    assert measured["epoch_s"] > 1 and f"{1e3 * measured['epoch_s']:.0f} ms = " in shown, shown
    assert shown.count(" compute + ") == 2 and shown.index("estimated") < shown.index("measured"), shown


@test
def staging(b):
    "the host's bar has the way to the SSD, which counts in its budget"
    b.open(way_page)
    tiers = json.load(open(way_file))["tiers"]
    host, way = tiers["host"], tiers["staging_bytes"]
    assert way > 0 and f"{needed(host['peak_bytes'])} of {needed(host['budget_bytes'])}, and {needed(way)} of staging for the SSD" in text(b, "#tiers"), text(b, "#tiers")
    wide = b.js("[...document.querySelectorAll('#tiers .bar')].find(n => n.textContent.startsWith('host')).querySelector('svg:last-child').getBoundingClientRect().width")
    inner = b.js("document.querySelector('#tiers .bar > div').clientWidth")
    assert abs(wide / inner - way / host["budget_bytes"]) < 0.005, (wide, inner)
    as_estimated(b)


@test
def bound(b):
    "the page says which lane binds where the JSON does"
    assert text(b, "#bound") == "", text(b, "#bound")
    b.open(pieces_page)
    told = pieces["epoch"]["bound"]
    shown = text(b, "#bound")
    assert shown.startswith(f"Bound by {told['lane']}, busy for ") and shown.endswith(f": the epoch is {told['ratio']:.2f} times that"), shown
    as_estimated(b)


@test
def waits(b):
    "waits are red where the plan has waits and nowhere else"
    wanted = [s["step"] for s in epoch_of(run) if s["phase"] == "wait" and s["seconds"] > 0]
    assert wanted and waits_drawn(b) == wanted and red_boxes(b) == wanted, (wanted, waits_drawn(b), red_boxes(b))
    b.open(roomy_page)
    assert waits_drawn(b) == red_boxes(b) == []
    as_estimated(b)


@test
def boxes(b):
    "boxes lie at the times of the JSON"
    left, right = b.js("[gutter(), width() - 10]")
    drawn = {n: (x, w) for n, x, w in b.js("[...document.querySelectorAll('#gantt rect.box')].map(n => [Number(n.dataset.step), Number(n.getAttribute('x')), Number(n.getAttribute('width'))])")}
    steps = [s for s in epoch_of(run) if s["seconds"] > 0]
    assert sorted(drawn) == [s["step"] for s in steps]
    for s in steps:
        x = left + s["start_seconds"] / run["epoch"]["seconds"] * (right - left)
        assert abs(drawn[s["step"]][0] - x) < 0.02, s


@test
def tables(b):
    "the tables say what the JSON says, to the last digit shown"
    b.click("#steps summary")
    rows = b.js("[...document.querySelectorAll('#steps tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    assert len(rows) == len(run["steps"])
    for row, s in zip(rows, run["steps"]):
        assert row[:5] == [str(s["step"]), s["lane"], s["phase"], duration(s["start_seconds"]), duration(s["seconds"])], row
        assert size(s["device_bytes"]) in row, row
    rows = b.js("[...document.querySelectorAll('#decisions tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    assert [(r[0], r[3], r[4]) for r in rows] == [(v["value"], size(v["bytes"]), v["fate"]) for v in run["values"]]
    b.click("#steps summary")


@test
def hover(b):
    "pointing at a box tells its step; the cursor tells the time"
    step = next(s for s in epoch_of(run) if s.get("to") and s["seconds"] > 1e-3)
    b.hover(f"#gantt rect[data-step='{step['step']}']")
    shown = text(b, "#details")
    assert f"step {step['step']} {step['what']}" in shown and f"line {step['line']}" in shown and size(step["bytes"]) in shown and "of the link's" in shown, shown
    assert not b.js("document.getElementById('cursor').hidden") and "ms" in text(b, "#cursor")


@test
def click_wait(b):
    "clicking a wait lights up its source line and its value, and draws what it waits for"
    wait = next(s for s in epoch_of(run) if s["phase"] == "wait" and s["seconds"] > 1e-3)
    b.click(f"#gantt rect[data-step='{wait['step']}']")
    assert f"it waits for step {wait['waits_for']}" in text(b, "#details"), text(b, "#details")
    assert b.js("[...document.querySelectorAll('#source tr.chosen')].map(r => r.id)") == [f"line-{wait['line']}"]
    assert b.js("[...document.querySelectorAll('#decisions tr.chosen')].map(r => r.cells[0].textContent)") == [wait["value"]]
    assert b.js("document.querySelectorAll('#gantt .arrow').length") >= 2
    assert b.js("document.querySelector('rect.row.chosen') !== null")


@test
def lacks(b):
    "a value says of a fate that does not fit which tier is short, and by how much, or that no plan was found"
    b.open(today_page)
    told = set()
    for v in b.js("report.values.map(v => [v.value, v.alternatives])"):
        b.js(f"choose({{ value: {json.dumps(v[0])} }})")
        for a in v[1]:
            tier = "" if a.get("short_of", "device") == "device" else f" of {a['short_of']}"
            lack = f"{needed(a['over_bytes'])} over budget{tier}" if a.get("over_bytes") else "no plan was found"
            assert a["fits"] or f"{a['fate']}: {lack}" in text(b, "#details"), text(b, "#details")
            told.add("fits" if a["fits"] else a.get("short_of", "none"))
    assert {"fits", "device", "host"} <= told and "0 B" not in text(b, "#details"), told
    as_estimated(b)


@test
def click_line(b):
    "clicking a source line lights up its boxes; Escape puts everything out"
    b.key("Escape")
    line = next(s["line"] for s in epoch_of(run) if s["line"])
    b.click(f"#line-{line}")
    related = set(b.js("[...document.querySelectorAll('#gantt rect.related')].map(n => Number(n.dataset.step))"))
    assert related == {s["step"] for s in epoch_of(run) if s["line"] == line and s["seconds"] > 0}, related
    b.key("Escape")
    assert b.js("document.querySelectorAll('.chosen, .related').length") == 0


@test
def zoom_keys(b):
    "+ - 0 and the arrows zoom and pan"
    whole = window(b)
    b.key("+")
    closer = window(b)
    assert closer[1] - closer[0] < 0.7 * (whole[1] - whole[0])
    b.key("ArrowRight")
    assert window(b)[0] > closer[0]
    b.key("ArrowLeft")
    assert abs(window(b)[0] - closer[0]) < 1e-9
    b.key("-")
    b.key("-")
    assert abs(window(b)[1] - whole[1]) < 1e-9
    b.key("+")
    b.key("0")
    assert window(b) == whole


@test
def wait_key(b):
    "w goes from wait to wait, and round"
    wanted = [s["step"] for s in epoch_of(run) if s["phase"] == "wait" and s["seconds"] > 0]
    seen = []
    for _ in range(len(wanted) + 1):
        b.key("w")
        seen.append(b.js("view.step"))
    assert seen == wanted + wanted[:1], seen
    assert "wait 1 of" in text(b, "#found")
    b.key("Escape")
    b.key("0")


@test
def measured_waits(b):
    "of a run, w goes to the waits that were measured, and says how long they were"
    waiting = json.load(open(waiting_file))
    b.open(waiting_page)
    took = {m["step"]: m["seconds"] for m in waiting["measured"]["steps"]}
    waits = [s for s in epoch_of(waiting) if s["phase"] == "wait"]
    estimated, measured = [s["step"] for s in waits if s["seconds"] > 0], [s["step"] for s in waits if took[s["step"]] >= waiting["measured"]["epoch_s"] / 1000]
    assert measured and not set(measured) & set(estimated)
    for mode, wanted in (("m", measured), ("b", sorted(measured + estimated)), ("e", estimated)):
        b.key(mode)
        assert waits_drawn(b) == wanted, (mode, waits_drawn(b))
        seen = []
        for _ in wanted:
            b.key("w")
            seen.append(b.js("view.step"))
            if seen[-1] in measured:
                assert f"{duration(took[seen[-1]])} measured" in text(b, "#found") and "estimated" not in text(b, "#found"), text(b, "#found")
        assert seen == wanted, (mode, seen)
        b.key("Escape")
    b.key("m")
    b.key("w")
    assert duration(took[measured[0]]) in text(b, "#details") and "×" not in text(b, "#details"), text(b, "#details")
    as_estimated(b)


@test
def peak_key(b):
    "p goes to the peak and says who is there"
    b.key("p")
    n = run["peak_step"]
    assert b.js("view.step") == n and f"step {n}" in text(b, "#there-title")
    there = [k for k in run["blocks"] if k["first_step"] <= n <= k["last_step"]]
    assert b.js("document.querySelectorAll('#there tbody tr').length") == len(there)
    b.key("Escape")
    b.key("0")


@test
def find_key(b):
    "/ finds steps and values, n goes on"
    b.key("/")
    assert b.js("document.activeElement.id") == "find"
    b.call("Input.insertText", text="spmm is nowhere")
    b.settle()
    assert text(b, "#found").startswith("0 of")
    b.js("document.getElementById('find').value = ''")
    b.call("Input.insertText", text="h1")
    b.settle()
    found = [s["step"] for s in epoch_of(run) if "h1" in s["what"] or "h1" in s.get("value", "")]
    assert text(b, "#found").startswith(f"{len(found)} of"), text(b, "#found")
    assert b.js("view.step") == found[0]
    b.key("Enter")
    assert b.js("view.step") == found[1]
    b.js("document.activeElement.blur()")
    b.key("n")
    assert b.js("view.step") == found[2]
    b.key("Escape")
    b.key("0")
    assert b.js("document.getElementById('find').value") == ""


@test
def find_step(b):
    "a step is found by its number, with the word or without"
    for words in ("step 15", "15", "Step15"):
        b.key("/")
        b.call("Input.insertText", text=words)
        b.settle()
        assert text(b, "#found").startswith("1 of") and b.js("view.step") == 15, (words, text(b, "#found"))
        b.key("Escape")
    b.key("0")


@test
def graph(b):
    "the graph has every kernel of the epoch, moved values are thick, and a node is the step"
    b.js("document.querySelector('#graph').open = true")
    b.settle()
    kernels = [s for s in epoch_of(run) if s["lane"] == "compute" and s["phase"] != "wait"]
    assert b.js("[...document.querySelectorAll('#dag rect')].map(n => Number(n.dataset.step)).sort((x, y) => x - y)") == [s["step"] for s in kernels]
    moved = {s["value"] for s in epoch_of(run) if s.get("to")}
    thick = b.js("[...document.querySelectorAll('#dag .edge')].filter(n => getComputedStyle(n).strokeWidth === '3px').map(n => n.dataset.value)")
    assert thick and set(thick) <= moved, (thick, moved)
    side = b.js("[...document.querySelectorAll('#dag rect')].map(n => [n.classList[1], Number(n.getAttribute('x')) < width() / 2])")
    assert all(is_left == (role == "forward") for role, is_left in side), side
    n = kernels[3]["step"]
    b.js(f"document.querySelector('#dag [data-step=\"{n}\"]').dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))")
    b.settle()
    assert b.js("view.step") == n and b.js("document.querySelectorAll('#dag .edge.chosen').length") > 0
    b.key("Escape")
    b.js("document.querySelector('#graph').open = false")


@test
def graph_texts(b):
    "the texts of the graph end inside their boxes"
    b.resize(1100, 900)
    as_estimated(b)
    b.js("document.querySelector('#graph').open = true")
    b.settle()
    right = "n.getBBox().x + n.getBBox().width"
    assert b.js(f"[...document.querySelectorAll('#dag text')].every(t => (n => {right})(t) <= (n => {right})(t.previousSibling))")
    b.resize(1280, 900)
    as_estimated(b)


@test
def code(b):
    "a line opens to the steps it became, a step to its code"
    b.open(today_page)
    line = next(s["line"] for s in epoch_of(plan) if s["line"])
    b.js(f"document.getElementById('line-{line}').click()")
    b.settle()
    own = [s["step"] for s in epoch_of(plan) if s["line"] == line and not s.get("to") and s["phase"] != "wait"]
    listed = b.js("[...document.querySelectorAll('#details li b')].map(n => Number(n.textContent.slice(5)))")
    assert listed == own, (listed, own)
    assert f"/* step {own[0]} */" in text(b, "#details li pre")
    assert "(gnn_run *g, " in text(b, "#details li pre")
    as_estimated(b)


@test
def mode_keys(b):
    "e, m and b show estimated, measured and both times"
    estimated = b.js("document.querySelectorAll('#gantt rect.box').length")
    b.key("m")
    assert b.js("view.mode") == "measured" and abs(window(b)[1] - run["measured"]["epoch_s"]) < 1e-9
    left, right = b.js("[gutter(), width() - 10]")
    m = run["measured"]["steps"][5]
    x = b.js(f"Number(document.querySelector('#gantt rect[data-step=\"{m['step']}\"]').getAttribute('x'))")
    assert abs(x - (left + m["start_s"] / run["measured"]["epoch_s"] * (right - left))) < 0.02
    b.key("b")
    assert b.js("document.querySelectorAll('#gantt rect.box').length") > 1.5 * estimated
    b.key("e")
    assert b.js("view.mode") == "estimated" and b.js("document.querySelectorAll('#gantt rect.box').length") == estimated
    b.open(today_page)
    b.key("m")
    assert "no measurement" in text(b, "#found")
    as_estimated(b)


@test
def accuracy(b):
    "estimates and measurements: a dot a step, the worst five, the links"
    dots = b.js("document.querySelectorAll('#dots circle').length")
    measured = {m["step"]: m["seconds"] for m in run["measured"]["steps"]}
    assert dots == sum(1 for s in epoch_of(run) if s["phase"] != "wait" and s["seconds"] > 1e-9 and measured.get(s["step"], 0) > 1e-9)
    assert b.js("[...document.querySelectorAll('#dots text')].every(n => n.getBBox().x >= 0 && n.getBBox().x + n.getBBox().width <= document.querySelector('#dots').viewBox.baseVal.width)")
    assert b.js("document.querySelectorAll('#worst tbody tr').length") == 5
    assert b.js("document.querySelectorAll('#links tbody tr').length") == len({s["lane"] for s in epoch_of(run) if s.get("to")})


@test
def sweep(b):
    "the sweep has a point for each plan, the knee and this budget marked"
    points = [p for p in run["sweep"]["points"] if p["fits"]]
    assert b.js("document.querySelectorAll('#curve circle[r=\"3.5\"]').length") == len(points)
    assert b.js("document.querySelectorAll('#points tbody tr').length") == len(points)
    assert "this budget" in text(b, "#curve")
    assert b.js("[...document.querySelectorAll('#points tbody tr')].map(r => r.cells[0].textContent)") == [needed(p["needs_bytes"]) for p in points]
    assert f"least found: {needed(run['instead']['least']['bytes'])} at" in text(b, "#instead")


@test
def skyline(b):
    "clicking the skyline says who is there at that moment; the addresses open"
    b.click("#sky path[data-kind=activation]")
    assert "Who is in memory at step" in text(b, "#there-title")
    b.click("#addresses summary")
    b.settle()
    assert b.js("document.querySelectorAll('#arena rect').length") > 10
    b.click("#addresses summary")


def opened(b, name):
    """The rows of a table that is made when its details are opened."""
    b.js(f"document.getElementById('{name}').open = true")
    b.settle()
    rows = b.js(f"[...document.querySelectorAll('#{name} tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    b.js(f"document.getElementById('{name}').open = false")
    return rows


@test
def places(b):
    "behind the addresses and the strips is a table: what, where, from when to when"
    wanted = [(k["name"], k["kind"], str(k["offset"]), size(k["bytes"]), str(k["first_step"]), str(k["last_step"])) for k in run["blocks"]]
    wanted += [(k["value"], "", "", size(k["bytes"]), str(k["first_step"]), str(k["last_step"])) for k in run["homes"]]
    rows = opened(b, "places")
    assert run["homes"] and [(r[0], r[1], *r[3:7]) for r in rows] == wanted
    assert [r[2] for r in rows[-len(run["homes"]):]] == [k["tier"] for k in run["homes"]]


@test
def uses(b):
    "behind the graph is a table: what each kernel reads, from which step, by which tier, and what it writes"
    kernels = [s for s in epoch_of(run) if s["lane"] == "compute" and s["phase"] != "wait"]
    rows, maker, way = opened(b, "uses"), {}, {}
    assert [int(r[0]) for r in rows] == [s["step"] for s in kernels]
    by_step = {int(r[0]): r for r in rows}
    for s in epoch_of(run):
        if s.get("to"):
            way[s["value"]] = s["from"] if s["to"] == "device" else s["to"]
        if s["step"] in by_step:
            told = [v + (f" of step {maker[v]}" + (f", by {way[v]}" if v in way else "") if v in maker else "") for v in s["reads"]]
            assert by_step[s["step"]][3:5] == ["; ".join(told), "; ".join(s["writes"])], by_step[s["step"]]
            for v in s["writes"]:
                maker[v] = s["step"]
                way.pop(v, None)
    assert any(", by host" in r[3] for r in rows) and any(", by ssd" in r[3] for r in rows)


@test
def estimates(b):
    "behind the dots is a table, a row a dot"
    took = {m["step"]: m["seconds"] for m in run["measured"]["steps"]}
    rows = opened(b, "estimates")
    assert len(rows) == b.js("document.querySelectorAll('#dots circle').length") > 5
    for row in rows:
        s = run["steps"][int(row[0]) - 1]
        assert row[1:4] == [s["what"], duration(s["seconds"]), duration(took[s["step"]])], row


@test
def hover_strip(b):
    "pointing at a strip tells what its fate costs, and what the others would"
    b.key("Escape")
    v = next(v for v in run["values"] if v["fate"] != "keep" and any(a["fits"] for a in v["alternatives"]))
    b.hover(f"#strips [data-value='{v['value']}'] text")
    shown, other = text(b, "#details"), next(a for a in v["alternatives"] if a["fits"])
    assert v["value"] in shown and f"{v['fate']}, adds " in shown and f"{other['fate']} +" in shown, shown


@test
def curve_resized(b):
    "the curve is drawn anew in a window of another width, its texts inside and apart"
    for width in (1280, 500, 1281):
        if width == 1281:  # a budget far beyond the only point
            b.js("report.sweep.points.splice(1); Object.assign(report.sweep, { knee: -1, current: 0, current_bytes: 8 * report.sweep.points[0].needs_bytes })")
        b.resize(width, 900)
        b.settle()
        box = b.js("document.querySelector('#curve').clientWidth")
        places = b.js("[...document.querySelectorAll('#curve text')].map(n => n.getBBox()).map(r => [r.x, r.y, r.x + r.width, r.y + r.height])")
        assert b.js("document.querySelector('#curve').viewBox.baseVal.width") == box and len(places) > 8
        assert all(0 <= p[0] and p[2] <= box for p in places), places
        assert not any(p[0] < q[2] and q[0] < p[2] and p[1] + 2 < q[3] and q[1] + 2 < p[3] for i, p in enumerate(places) for q in places[:i]), places
    assert "this budget, " in text(b, "#curve") and "→" in text(b, "#curve")
    b.resize(1280, 900)
    as_estimated(b)


@test
def resized(b):
    "the hair-line does not stay behind where the window was wider"
    b.hover("#sky")
    assert not b.js("document.getElementById('cursor').hidden")
    b.resize(400, 900)
    b.settle()
    assert b.js("document.getElementById('cursor').hidden") and b.js("document.documentElement.scrollWidth") <= 400
    b.resize(1280, 900)
    b.settle()


@test
def somewhere(b):
    "of a planning problem's plan every value is somewhere, and those at the peak are all that is in use there"
    b.open(transformer_page)
    rows = b.js("[...document.querySelectorAll('#strips .strip-row')].map(r => r.querySelectorAll('rect').length)")
    assert len(rows) > 10 and min(rows) > 1, rows
    n = b.js("report.peak_step")
    names = b.js("[...document.querySelectorAll('#there tbody tr')].map(r => r.cells[0].textContent)")
    assert len(names) == len(set(names)) > 5, names
    there = b.js(f"report.blocks.filter(k => k.first_step <= {n} && {n} <= k.last_step).reduce((sum, k) => sum + k.bytes, 0)")
    scratch = b.js(f"report.memory.find(r => r.first_step <= {n} && {n} <= r.step).scratch")
    assert there + scratch == b.js(f"report.steps[{n} - 1].device_bytes"), (there, scratch)
    assert not b.js("document.getElementById('source').parentNode.offsetHeight") and b.js("document.getElementById('sweep').offsetHeight") > 0
    as_estimated(b)


@test
def looks(b):
    "it can be read at 400, 800 and 1400 pixels, light and dark: nothing is wider than the page"
    for width in (400, 800, 1400):
        b.resize(width, 900)
        for scheme in ("light", "dark"):
            b.scheme(scheme)
            b.open(measured_page)
            assert b.js("document.documentElement.scrollWidth") <= width, width
            if os.environ.get("SHOTS"):
                b.screenshot(f"{os.environ['SHOTS']}/report_{width}_{scheme}.png")
    b.scheme("light")
    b.resize(1280, 900)
    as_estimated(b)


@test
def narrow(b):
    "at 400 pixels no table, bar or text is cut off"
    b.resize(400, 900)
    for page in (measured_page, pieces_page, today_page):
        b.open(page)
        wide = b.js("[...document.querySelectorAll('.scroll, .bar, #changes, #legend')].filter(n => n.offsetWidth && n.scrollWidth > n.clientWidth).map(n => [n.id || n.className, n.scrollWidth, n.clientWidth])")
        assert wide == [], (page, wide)
        out = b.js("[...document.querySelectorAll('td, th, caption, h1, h2, p, li, button, .bar span')].filter(n => n.getClientRects().length && (n.getBoundingClientRect().right > 400 || n.getBoundingClientRect().left < 0 || n.scrollWidth > n.clientWidth + 1 && n.clientWidth)).map(n => n.textContent)")
        assert out == [], (page, out[:5])
        drawn = b.js("[...document.querySelectorAll('#gantt text, #sky text, #strips text, #curve text, #dots text')].map(n => [n.textContent, n.getBoundingClientRect().left, n.getBoundingClientRect().right])")
        assert len(drawn) > 10 and all(left >= 0 and right <= 400 for _, left, right in drawn), [d for d in drawn if d[1] < 0 or d[2] > 400]
        names = b.js("[...document.querySelectorAll('#strips text')].map(n => n.textContent)")
        assert all(len(n) > 40 for n in names if n.endswith('\u2026')), names
    b.resize(1280, 900)
    as_estimated(b)


@test
def colours(b):
    "each meaning has a colour or pattern of its own, in one legend that names all that is drawn, light and dark"
    what = "(n => [getComputedStyle(n).fill, n.className.baseVal])"
    for scheme in ("light", "dark"):
        b.scheme(scheme)
        for page in (measured_page, pieces_page, today_page):
            b.open(page)
            legend = b.js(f"[...document.querySelectorAll('#legend rect')].map({what})")
            assert len(legend) > 8 and len({fill for fill, _ in legend}) == len(legend), (page, sorted(legend))
            named = {fill for fill, _ in legend}
            drawn = b.js("[...document.querySelectorAll('#gantt rect.box, #sky path[data-kind], #strips rect:not(.row):not(.band), #tiers rect, #split rect')]" f".map({what})")
            assert drawn and {fill for fill, kind in drawn} <= named, [d for d in drawn if d[0] not in named][:5]
    b.scheme("light")
    as_estimated(b)


@test
def brackets(b):
    "the steps of a layer have a bracket, and those of a loop say which turn of how many they are"
    loop = json.load(open(loop_file))
    b.open(loop_page)
    wanted = []
    for s in epoch_of(loop):
        if s["lane"] == "compute" and s["phase"] != "wait":
            key = (s.get("layer"), s["phase"] != "backward")
            if not wanted or wanted[-1][0] != key:
                wanted.append([key, s["start_seconds"], 0])
            wanted[-1][2] = s["start_seconds"] + s["seconds"]
    wanted = [w for w in wanted if w[0][0]]
    assert len(wanted) >= 8
    runs = b.js("layerRuns('estimated').map(r => [[r.layer, r.isLeft], r.from, r.to])")
    assert [(tuple(key), start) for key, start, _ in runs] == [(key, start) for key, start, _ in wanted], runs
    assert all(abs(run[2] - w[2]) < 1e-9 for run, w in zip(runs, wanted))
    titles = b.js("[...document.querySelectorAll('#gantt .bracket title')].map(n => n.textContent)")
    assert {"first", "conv 1/3", "conv 2/3", "conv 3/3", "steps 1/4", "steps 4/4", "last"} <= set(titles), titles
    assert b.js("document.querySelectorAll('#sky .layer-line').length") > 5
    rows = opened(b, "steps")
    assert any(row[3] == "conv 2/3" for row in rows), rows[:4]
    b.resize(400, 900)
    b.settle()
    named = b.js("[...document.querySelectorAll('#gantt .bracket text')].map(n => n.textContent)")
    assert set(named) <= set(titles), named  # whole names, or none where there is no room; a title has each
    b.resize(1280, 900)
    b.settle()
    as_estimated(b)


@test
def of_ranks(b):
    "of several ranks the first, the slowest and the last have a group of lanes each, at their own times"
    document = json.load(open(ranks_file))
    shown, steps, epoch = document["ranks"]["shown"], epoch_of(document), document["epoch"]["seconds"]
    assert [r["name"] for r in shown] == ["first", "slowest", "last"]
    b.open(ranks_page)
    for width in (1280, 400):
        b.resize(width, 900)
        b.settle()
        left, right = b.js("[gutter(), width() - 10]")
        drawn = b.js("[...document.querySelectorAll('#gantt rect[data-rank]')].map(n => [Number(n.dataset.rank), Number(n.dataset.step), Number(n.getAttribute('x')), Number(n.getAttribute('width')), Number(n.getAttribute('y'))])")
        assert [d[:2] for d in sorted(drawn)] == [[r["rank"], s["step"]] for r in shown for s, seconds in zip(steps, r["seconds"]) if seconds > 0], drawn
        of_rank, lanes = {r["rank"]: r for r in shown}, {}
        for rank, step, x, wide, y in drawn:
            start, seconds = (of_rank[rank][key][step - 1] for key in ("start_seconds", "seconds"))
            assert abs(x - left - start / epoch * (right - left)) < 0.02 and (wide <= 2 or abs(wide - seconds / epoch * (right - left)) < 0.02), (rank, step)
            lanes.setdefault((rank, steps[step - 1]["lane"]), set()).add(y)
        heights = [y for at in lanes.values() for y in at]
        assert len(heights) == len(set(heights)) == len(lanes) and max(heights) < b.js("Number(document.querySelector('#gantt').getAttribute('height'))") - 20, lanes
        titles = b.js("[...document.querySelectorAll('#gantt .rank')].map(n => n.textContent)")
        assert len(titles) == 3, titles
        for r, title in zip(shown, titles):
            computes, end = (sum(seconds for s, seconds in zip(steps, r["seconds"]) if s["lane"] == "compute" and s["phase"] != "wait"), max(a + t for a, t in zip(r["start_seconds"], r["seconds"])))
            words = title.removeprefix(f"rank {r['rank']}, the {r['name']}: computes ").split()
            in_unit = {"s": 1, "ms": 1e3, "us": 1e6}[words[3]]
            assert len(words) == 4 and abs(float(words[0]) / (in_unit * computes) - 1) < 6e-3 and abs(float(words[2]) / (in_unit * end) - 1) < 6e-3, title
    b.resize(1280, 900)
    b.settle()
    exchange = next(s["step"] for s in steps if s["lane"] == "net")
    b.js(f"choose({{ step: {exchange} }})")
    told = text(b, "#details")
    assert told.count("rank ") == 3, told
    for r in shown:
        in_page = b.js(f"[time({r['start_seconds'][exchange - 1]}), time({r['seconds'][exchange - 1]})]")
        assert f"rank {r['rank']}: starts {in_page[0]}, takes {in_page[1]}" in told, told
    b.key("Escape")
    as_estimated(b)


@test
def room(b):
    "most of the source pane is code; tables beside nothing are not cut off; a long name is not wider than the page"
    for width in (400, 1280):
        b.resize(width, 900)
        as_estimated(b)
        code, pane = b.js("[document.querySelector('#source tbody td:last-child').offsetWidth, document.querySelector('#source').clientWidth]")
        left = b.js("document.querySelector('#source tbody td:last-child').offsetLeft")
        assert code > 0.6 * pane and left < 0.4 * pane, (width, code, left, pane)
        b.open(wide_page)
        assert b.js("document.documentElement.scrollWidth") <= width, width
    as_estimated(b)
    for name in ("there", "points"):
        wide, shown = b.js(f"(n => [n.scrollWidth, n.clientWidth])(document.getElementById('{name}'))")
        assert wide <= shown, (name, wide, shown)


@test
def paper(b):
    "on paper nothing is wider than a page: long lines wrap, drawings shrink"
    b.open(wide_page)
    b.js("isDue = true")  # paper is laid out anew, not drawn anew
    b.call("Emulation.setEmulatedMedia", media="print")
    b.resize(718, 1000)
    assert b.js("document.documentElement.scrollWidth") <= 718
    sticking_out = "[...document.querySelectorAll('td, code, #timeline rect')].filter(n => n.getBoundingClientRect().right > 718).length"
    assert b.js(sticking_out) == 0
    assert b.js("document.querySelector('#gantt').clientHeight") > 40
    b.call("Emulation.setEmulatedMedia", media="")
    b.resize(1280, 900)
    as_estimated(b)


@test
def keyboard_only(b):
    "tables are reached and used by the keyboard"
    b.js("document.querySelector('#decisions tbody tr').focus()")
    b.key("Enter")
    assert b.js("view.value") == run["values"][0]["value"]
    b.key("Escape")


def groups_of(document):
    """The values, or what they are pieces of."""
    groups = {}
    for v in document["values"]:
        groups.setdefault(v.get("group", v["value"]) + ("[]" if "group" in v else ""), []).append(v)
    return groups


def decided(b):
    return b.js("[...document.querySelectorAll('#decisions tbody tr')].map(r => r.id.slice(6))")


@test
def whole_values(b):
    "of values that are not cut nothing opens, and there is no table of layers"
    as_estimated(b)
    assert b.js("document.querySelectorAll('.opener, [data-open], .band-frame, .band-open').length") == 0
    assert b.js("[document.getElementById('open-pieces').hidden, document.getElementById('key-o').hidden, document.getElementById('layers').hidden]") == [True, True, True]
    assert b.js("gutter()") == 104


@test
def grouped(b):
    "the pieces of a value are one row, with the sum of what they are"
    b.open(pieces_page)
    groups = groups_of(pieces)
    assert sorted(decided(b)) == sorted(groups) and len(groups) < len(pieces["values"]) / 4
    for name, size_shown, fate, adds in b.js("[...document.querySelectorAll('#decisions tbody tr')].map(r => [r.id.slice(6), r.cells[3].textContent, r.cells[4].textContent, r.cells[6].textContent])"):
        values = groups[name]
        fates = [v["fate"] for v in values]
        assert size_shown == size(sum(v["bytes"] for v in values)) and fate == (fates[0] if len(set(fates)) == 1 else "mixed"), (name, size_shown, fate)
        assert len(values) == 1 or all(f"{fates.count(f)} {f}" in adds for f in set(fates)), adds
    rows = b.js("[...document.querySelectorAll('#strips .strip-row')].map(r => r.dataset.value)")
    assert rows and len(rows) == len(set(rows)) and set(rows) <= set(groups)
    assert not [name for name, values in groups.items() if any(v["fate"] != "keep" for v in values) and name not in rows]


@test
def opening(b):
    "it opens to its slices, and these to their parts, by the mouse and by the keyboard"
    group = next(g for g, values in groups_of(pieces).items() if values[0].get("slice") and values[0].get("part"))
    values = groups_of(pieces)[group]
    slices, parts = max(v["slice"] for v in values), max(v["part"] for v in values)
    before = decided(b)
    row = lambda name: f"document.getElementById('value-{name}')"
    b.js(f"{row(group)}.querySelector('.opener').click()")
    after = decided(b)
    assert len(after) == len(before) + slices and after.index(f"{group}1") == after.index(group) + 1
    assert b.js(f"{row(group + '1')}.cells[0].textContent").startswith(f"▸slice 1 of {slices}")
    b.js(f"{row(group + '2')}.focus()")
    b.key("Enter")
    b.key("o")
    after = decided(b)
    wanted = [v["value"] for v in sorted(values, key=lambda v: v["part"]) if v["slice"] == 2]
    at = after.index(f"{group}2")
    assert after[at + 1:at + 1 + parts] == wanted, after
    assert f"part 1 of {parts}" in b.js(f"{row(wanted[0])}.cells[0].textContent")
    b.js(f"{row(wanted[0])}.click()")
    assert wanted[0] in text(b, "#details") and b.js("document.querySelectorAll('#decisions tr.chosen').length") == 1
    b.key("o")  # closes what it is a piece of
    assert len(decided(b)) == len(before) + slices
    b.js(f"{row(group)}.querySelector('.opener').click()")
    assert decided(b) == before
    b.settle()  # the strips are drawn after the table
    opener = b.js("document.querySelector('#strips [data-open]').dataset.open")
    shown = b.js("document.querySelectorAll('#strips .strip-row').length")
    b.click(f"#strips [data-open='{opener}']")
    assert b.js("document.querySelectorAll('#strips .strip-row').length") > shown and b.js(f"opened.has('{opener}')")
    b.click(f"#strips [data-open='{opener}']")
    assert b.js("document.querySelectorAll('#strips .strip-row').length") == shown
    b.key("Escape")


@test
def profile(b):
    "of a value in pieces a strip shows how much of it is where"
    group, values = next((g, v) for g, v in groups_of(pieces).items() if len({x["fate"] for x in v}) == 1 and v[0]["fate"] == "host" and len(v) > 1)
    classes = b.js(f"[...document.querySelectorAll('#strips [data-value=\"{group}\"] path')].map(n => n.getAttribute('class'))")
    assert {"device", "host"} <= set(classes), classes
    names = {v["value"] for v in values}
    whole = sum(v["bytes"] for v in values)
    away = [h for h in pieces["homes"] if h["value"] in names and h["first_step"] <= pieces["training_steps"]]
    most = max(sum(h["bytes"] for h in away if h["first_step"] <= n <= h["last_step"]) for n in range(1, pieces["training_steps"] + 1))
    tall = b.js(f"document.querySelector('#strips [data-value=\"{group}\"] path.host').getBBox().height")
    assert abs(tall - 6 * most / whole) < 0.2, (tall, most, whole)


@test
def turns(b):
    "kernels that take turns are one band, which opens to its steps: by a second click, by o, and where there is room"
    b.key("0")
    piece_steps = [s["step"] for s in epoch_of(pieces) if s["lane"] == "compute" and s["phase"] != "wait" and "part" in s]
    bands = b.js("allBands().map(k => k.steps.map(o => o.step))")
    assert sorted(n for k in bands for n in k) == piece_steps and len(bands) < 30, len(bands)
    shown = b.js("[...document.querySelectorAll('#gantt [data-band]')].map(n => Number(n.dataset.band))")
    assert shown == list(range(len(bands))), shown
    left, right = b.js("[gutter(), width() - 10]")
    for x, wide, steps in zip(*[b.js(f"[...document.querySelectorAll('#gantt [data-band]')].map(n => Number(n.getAttribute('{key}')))") for key in ("x", "width")], bands):
        first, last = pieces["steps"][steps[0] - 1], pieces["steps"][steps[-1] - 1]
        to_px = lambda t: left + t / pieces["epoch"]["seconds"] * (right - left)
        assert abs(x - to_px(first["start_seconds"])) < 0.02 and abs(x + wide - to_px(last["start_seconds"] + last["seconds"])) < 0.03
    boxes_drawn = "[...document.querySelectorAll('#gantt rect.box')].map(n => Number(n.dataset.step))"
    assert not set(b.js(boxes_drawn)) & set(piece_steps)
    widest = max(range(len(bands)), key=lambda k: b.js(f"Number(document.querySelector('#gantt [data-band=\"{k}\"]').getAttribute('width'))"))
    b.click(f"#gantt [data-band='{widest}']")
    assert "parts by turns" in text(b, "#details") and f"steps {bands[widest][0]} to" in text(b, "#details")
    assert all(f": {n} steps" in text(b, "#details") for n in {b.js(f"allBands()[{widest}].steps.filter(o => o.group === allBands()[{widest}].first.group && o.phase === allBands()[{widest}].phase).length")})
    b.click(f"#gantt [data-band='{widest}']")
    assert set(bands[widest]) <= set(b.js(boxes_drawn)) and b.js("document.querySelectorAll('#gantt .band-open').length") == 1
    b.key("o")
    b.key("0")
    assert not set(b.js(boxes_drawn)) & set(piece_steps)
    b.key("Escape")
    one = bands[widest][len(bands[widest]) // 2]
    b.js(f"choose({{ step: {one} }})")
    b.settle()
    assert b.js(boxes_drawn).count(one) == 1  # what is chosen is seen in a closed band, too
    b.js(f"show(report.steps[{one} - 1].start_seconds, report.steps[{one} - 1].start_seconds + 3 * report.steps[{one} - 1].seconds)")
    b.settle()
    assert set(b.js(boxes_drawn)) & set(piece_steps) - {one}
    b.key("Escape")
    b.key("0")


@test
def which_piece(b):
    "by address, a block says which piece of what it is, and the pieces of the chosen value light up"
    b.click("#addresses summary")
    titles = b.js("[...document.querySelectorAll('#arena title')].map(n => n.textContent)")
    assert any(", slice 2 of 4, part 3 of 8, " in t for t in titles), titles[:20]
    group = next(g for g, values in groups_of(pieces).items() if len(values) > 8)
    b.js(f"choose({{ value: '{group}' }})")
    b.settle()
    lit = set(b.js("[...document.querySelectorAll('#arena .chosen')].map(n => n.dataset.value)"))
    assert lit and lit <= {v["value"] for v in groups_of(pieces)[group]}, lit
    b.key("Escape")
    b.click("#addresses summary")


@test
def there_together(b):
    "who is there at the peak: the pieces of a value together, with their sum"
    b.key("p")
    n = pieces["peak_step"]
    there = {}
    for k in pieces["blocks"]:
        if k["first_step"] <= n <= k["last_step"]:
            there.setdefault(k.get("group", k["name"]), []).append(k["bytes"])
    rows = b.js("[...document.querySelectorAll('#there tbody tr')].map(r => r.cells[2].textContent)")
    assert rows == [size(sum(v)) for v in sorted(there.values(), key=sum, reverse=True)] and len(rows) < sum(len(v) for v in there.values())
    b.js("document.querySelector('#there .opener').click()")
    assert b.js("document.querySelectorAll('#there tbody tr').length") > len(rows)
    b.js("document.querySelector('#there .opener').click()")
    b.key("Escape")
    b.key("0")


@test
def graph_together(b):
    "in the graph the steps of a kernel are one box"
    b.js("document.querySelector('#graph').open = true")
    b.settle()
    kernels = {(s["phase"], s.get("group", s["step"])) for s in epoch_of(pieces) if s["lane"] == "compute" and s["phase"] != "wait"}
    assert b.js("document.querySelectorAll('#dag rect').length") == len(kernels) < 60
    thick = b.js("[...document.querySelectorAll('#dag .edge.host')].map(n => n.dataset.value)")
    assert thick and all(f in groups_of(pieces) for f in thick), thick
    b.js("document.querySelector('#graph').open = false")


@test
def layer_table(b):
    "how each layer runs"
    rows = b.js("[...document.querySelectorAll('#layer-table tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    assert [r[:5] for r in rows] == [[l["layer"], l["pass"], str(l["line"]), l["mode"], str(l["pieces"])] for l in pieces["layers"]]
    assert [r[5:7] for r in rows] == [[size(l["host_out_bytes"]) if l["host_out_bytes"] else "0", size(l["host_in_bytes"]) if l["host_in_bytes"] else "0"] for l in pieces["layers"]]
    as_estimated(b)


@test
def archive(b):
    "the page contains its document"
    inside = json.loads(b.js("JSON.stringify(report)"))
    for step in inside["steps"]:
        step.pop("measured", None)
    assert sorted(inside) == sorted(run)
    for key in run:
        assert inside[key] == run[key], key


def main():
    b = Browser()
    failed = 0
    for name, function in tests:
        try:
            function(b)
            assert b.complaints == [], b.complaints
            print("ok", name, flush=True)
        except Exception:
            failed += 1
            print("not_ok", name, flush=True)
            print(name, file=sys.stderr)
            traceback.print_exc()
            b.complaints.clear()
            as_estimated(b)
    b.close()
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
