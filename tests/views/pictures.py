"""pictures.py BUILD: takes the pictures of docs/reading_a_plan.md anew, from the model and by the first commands of that page, with Chromium.
The run among them is measured here and now: what the page says of it is to be read again afterwards."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
from browser import Browser

docs = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../docs"))
margin = 8  # at both sides; a window of 1100 pixels makes pictures of 1068


def make(build):
    """The page's model, its report of a run, and its drawings, in the current folder."""
    page = open(os.path.join(docs, "reading_a_plan.md")).read()
    with open("spill.gnn", "w") as out:
        out.write(re.search(r"```gnn file=spill.gnn\n(.*?)```", page, re.S)[1])
    commands = re.findall(r"^\$ (.*)", re.search(r"```console\n(.*?)```", page, re.S)[1], re.M)
    commands.append(f"gnncc -w --cut=whole --budget device=250MiB --emit=gantt={docs}/pictures/gantt.svg spill.gnn")
    commands.append(f"gnncc --measured=run.json --emit=sweep={docs}/pictures/sweep.svg")
    commands.append("gnncc -w --cut='slices(4)' --budget device=260MiB --emit=plan=pieces.json spill.gnn && gnncc --measured=pieces.json --report=pieces.html")
    environment = {**os.environ, "PATH": f"{build}:{os.environ['PATH']}", "XDG_CACHE_HOME": os.getcwd(), "LC_ALL": "C.UTF-8"}
    for command in commands:
        subprocess.run(command, shell=True, check=True, env=environment)


def picture(b, name, first, last=None, above=margin, below=margin):
    """What lies from the top of one element to the bottom of another."""
    sides = "(r => [r.left + scrollX, r.top + scrollY, r.right + scrollX, r.bottom + scrollY])(document.querySelector('%s').getBoundingClientRect())"
    left, top, right, _ = b.js(sides % first)
    bottom = b.js(sides % (last or first))[3]
    b.screenshot(os.path.join(docs, "pictures", name), clip=(left - margin, top - above, right - left + 2 * margin, bottom - top + above + below))


def whole_pages(b):
    """Of the plan, which takes no run."""
    for suffix, scheme in (("", "light"), ("_dark", "dark")):
        b.scheme(scheme)
        b.resize(1100, 900)
        b.open("spill.html")
        picture(b, f"report{suffix}.png", "header", "#legend", below=1)
        b.resize(400, 900)
        b.open("spill.html")
        b.screenshot(os.path.join(docs, "pictures", f"report_400{suffix}.png"), clip=(0, 0, 400, 1250))
    b.scheme("light")


def parts(b):
    b.resize(1100, 900)
    b.open("run.html")
    picture(b, "bars.png", "#fit-title", "#instead")
    picture(b, "decisions.png", "#decisions")
    picture(b, "sweep.png", "#curve")
    picture(b, "accuracy.png", "#accuracy-title", "#accuracy")
    for _ in range(20):  # waits, up to the one for what comes from the SSD
        b.key("w")
        if re.search("wait for step .*: h3 is read", b.js("document.querySelector('#details').textContent")):
            break
    picture(b, "wait.png", "#timeline", "#details", above=1)
    b.key("Escape")
    b.key("b")
    picture(b, "both.png", "#timeline", "#gantt", above=1, below=0)
    b.key("e")
    b.click("#addresses summary")
    picture(b, "addresses.png", "#addresses", above=0, below=1)
    b.click("#graph summary")
    picture(b, "graph.png", "#graph", above=0, below=0)
    picture(b, "source.png", "#source")


def pieces(b):
    b.resize(1100, 900)
    b.open("pieces.html")
    b.click("#strips [data-open]")
    picture(b, "pieces.png", "#timeline", above=1, below=1)


def main():
    build = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make(build)
        b = Browser()
        try:
            whole_pages(b)
            parts(b)
            pieces(b)
        finally:
            b.close()
        os.chdir(docs)


if __name__ == "__main__":
    main()
