"""sequence.py REPORT.json MADE.json: the report with its first kernels made pieces of others, so that all that begins and ends a stretch of turns is there once; says which are then expected."""
import json
import sys

report = json.load(open(sys.argv[1]))
kernels = [s for s in report["steps"] if s["lane"] == "compute" and s["phase"] != "wait"]
at, expected = 0, []


def run(text, names=None, phase="forward"):
    """Kernels: a1 is a's part 1, a1.2 its part 1 of slice 2, r/a1 is made again, - is whole. With names, they are one stretch."""
    global at
    first = at
    for word in text.split():
        step = kernels[at]
        at += 1
        again, _, name = word.rpartition("/")
        step["phase"] = "recompute" if again else phase
        if name != "-":
            step["group"], (part, _, slice) = f"{name[0]} = something", name[1:].partition(".")
            step["part"] = int(part)
            step.update({"slice": int(slice)} if slice else {})
    if names:
        expected.append(f"steps {kernels[first]['step']} to {kernels[at - 1]['step']} 2 parts by turns of {names}")


run("a1 b1 a2 b2", "a, b")
run("c2 c1", "c")  # it has no part 1, and brings a kernel of its own
run("c2 c1", "c")  # it has run for both
run("-")
run("r/q1 d1 r/q2 d2", "d")  # with what is made again for it
run("e1 e2", "e", phase="backward")
run("f1.1 f2.1 f1.2 f2.2 f1.3 f2.3", "f x3")
run("-")
run("f1.4 f2.4", "f 4/4")
run("g1 g2", "g")
run("h1.1 h2.1 h1.2 h2.2", "h x2")
run("k1 k2", "k")
run("l1 l2", "l")  # part 1 once more: the first turn is over
run("m1 -")
run("o1")
run("p1 p2", "p", phase="backward")  # it is of another pass than o
run("s1.1 s2.1", "s 1/1")
run("t1.1 t2.1", "t 1/1", phase="backward")
run("- n1 n1 n2")  # twice for a part: the first alone is no stretch
expected.append(f"steps {kernels[at - 2]['step']} to {kernels[at - 1]['step']} 2 parts by turns of n")
json.dump(report, open(sys.argv[2], "w"))
print("\n".join(expected))
