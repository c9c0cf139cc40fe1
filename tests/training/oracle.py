#!/usr/bin/env python3
"""What the programs of this folder have to measure, by PyTorch's and scikit-learn's definitions in plain Python.

usage: oracle.py DATA_FOLDER EXPECTED_FOLDER
Writes the data set (npy files) and, for each case, the lines "epoch,loss,lr" and what comes of the scores in the end. Both are committed:
the tests need no Python. One linear layer, so that gradients can be written down: scores = x W^T + b.
"""
import math
import os
import random
import struct
import sys

NODES, FEATURES, CLASSES = 40, 3, 4


# ---- the data ----

def npy(path, kind, shape, values):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (kind, "".join("%d, " % n for n in shape))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    code = {"<f4": "f", "<i8": "q", "|b1": "?"}[kind]
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        out.write(struct.pack("<%d%s" % (len(values), code), *values))


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def make_data():
    draw = random.Random(17)
    data = {"x": [[single(draw.gauss(0, 1)) for _ in range(FEATURES)] for _ in range(NODES)]}
    data["y"] = [draw.randrange(CLASSES) if v % 9 else -1 for v in range(NODES)]  # some have no label
    data["t"] = [[single(draw.gauss(x[0], 0.5)), single(draw.gauss(x[1] * x[2], 0.5))] if v % 7 else [math.nan, 1.0] for v, x in enumerate(data["x"])]
    data["m"] = [[float(draw.random() < 0.5 + 0.2 * x[k]) for k in range(FEATURES)] for x in data["x"]]
    data["b"] = [int(x[0] + draw.gauss(0, 1) > 0.3) for x in data["x"]]
    data["rare"] = [int(v == 1) for v in range(NODES)]
    data["split"] = [draw.choice(["train", "train", "val", "test"]) for _ in range(NODES)]
    data["split"][1] = "train"
    return data


def write_data(data, folder):
    """classes: y, m and b as labels; numbers: t, some of whose rows have no label."""
    flat = lambda rows: [value for row in rows for value in row]
    for kind in ("classes", "numbers"):
        path = "%s/%s/" % (folder, kind)
        os.makedirs(path, exist_ok=True)
        npy(path + "x.npy", "<f4", [NODES, FEATURES], flat(data["x"]))
        npy(path + "edge_index.npy", "<i8", [2, NODES], list(range(NODES)) + [(v + 1) % NODES for v in range(NODES)])
        for split in ("train", "val", "test"):
            npy(path + "%s_mask.npy" % split, "|b1", [NODES], [s == split for s in data["split"]])
    npy(folder + "/classes/y.npy", "<i8", [NODES], data["y"])
    npy(folder + "/classes/m.npy", "<f4", [NODES, FEATURES], flat(data["m"]))
    npy(folder + "/classes/b.npy", "<i8", [NODES], data["b"])
    npy(folder + "/classes/rare.npy", "<i8", [NODES], data["rare"])
    npy(folder + "/numbers/t.npy", "<f4", [NODES, 2], flat(data["t"]))


# ---- losses: of one row, and its derivative by the scores; the weight of the row ----

def cross_entropy(scores, label, weights=None, smoothing=0.0):
    top = max(scores)
    total = sum(math.exp(s - top) for s in scores)
    logs = [s - top - math.log(total) for s in scores]
    weights = weights or [1.0] * len(scores)
    share = [smoothing / len(scores) * w + ((1 - smoothing) * w if c == label else 0) for c, w in enumerate(weights)]
    loss = -sum(q * l for q, l in zip(share, logs))
    slope = [sum(share) * math.exp(l) - q for q, l in zip(share, logs)]
    return loss, slope, weights[label]


def of_elements(loss, slope):
    """Mean over the scores of a row."""
    def row(scores, targets):
        targets = targets if isinstance(targets, list) else [targets]
        pairs = list(zip(scores, targets))
        return sum(loss(s, t) for s, t in pairs) / len(pairs), [slope(s, t) / len(pairs) for s, t in pairs], 1.0
    return row


def sign(x):
    return (x > 0) - (x < 0)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


mse = of_elements(lambda s, t: (s - t) ** 2, lambda s, t: 2 * (s - t))
l1 = of_elements(lambda s, t: abs(s - t), lambda s, t: sign(s - t))


def huber(delta):
    return of_elements(lambda s, t: (s - t) ** 2 / 2 if abs(s - t) <= delta else delta * (abs(s - t) - delta / 2),
                       lambda s, t: max(-delta, min(delta, s - t)))


def bce(pos_weight=1.0):
    return of_elements(lambda s, t: -pos_weight * t * math.log(sigmoid(s)) - (1 - t) * math.log(1 - sigmoid(s)),
                       lambda s, t: (1 - t) * sigmoid(s) - pos_weight * t * (1 - sigmoid(s)))


# ---- metrics, by definition: pairs are compared one by one ----

def predicted(scores):
    return int(scores[0] > 0) if len(scores) == 1 else scores.index(max(scores))


def counts(rows, column, is_class):
    actual = [t == column if is_class else t[column] > 0.5 for _, t in rows]
    found = [predicted(s) == column if is_class else s[column] > 0 for s, _ in rows]
    return sum(a and f for a, f in zip(actual, found)), sum(found), sum(actual)


def f1_of(both, found, actual):
    return 2 * both / (found + actual) if found + actual else 0.0


def columns_of(rows, classes):
    """For each label: its scores and whether a row has it."""
    softmax = lambda s: [math.exp(x - max(s)) / sum(math.exp(y - max(s)) for y in s) for x in s]
    if classes == 2:
        return [([s[0] if len(s) == 1 else s[1] - s[0] for s, _ in rows], [t == 1 for _, t in rows])]
    if classes:
        return [([softmax(s)[c] for s, _ in rows], [t == c for _, t in rows]) for c in range(classes)]
    return [([s[c] for s, _ in rows], [t[c] > 0.5 for _, t in rows]) for c in range(len(rows[0][0]))]


def area(scores, positive):
    pairs = [(a, b) for a, p in zip(scores, positive) if p for b, q in zip(scores, positive) if not q]
    return sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs) if pairs else None


def step_sum(scores, positive):
    total, before, result = sum(positive), 0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        taken = [p for s, p in zip(scores, positive) if s >= threshold]
        result += (sum(taken) - before) / total * sum(taken) / len(taken) if total else 0
        before = sum(taken)
    return result if total else None


def mean(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else math.nan


def place(scores, label, ties):
    return sum(1 if s > scores[label] else ties if s == scores[label] else 0 for c, s in enumerate(scores) if c != label)


def metric(name, rows, classes):
    """rows: scores and target; classes: how many, 0 where the targets are rows of numbers."""
    columns = list(range(classes)) if classes else list(range(len(rows[0][0])))
    table = [counts(rows, c, bool(classes)) for c in columns]
    present = [row for row in table if not classes or row[1] + row[2]]
    one = [table[1]] if classes == 2 else present
    if name == "accuracy":
        return mean([float(predicted(s) == t) if classes else float(all((x > 0) == (y > 0.5) for x, y in zip(s, t))) for s, t in rows])
    if name == "precision":
        return mean([b / f if f else 0.0 for b, f, _ in one])
    if name == "recall":
        return mean([b / a if a else 0.0 for b, _, a in one])
    if name == "f1":
        return mean([f1_of(*row) for row in one])
    if name == "micro_f1":
        return f1_of(*[sum(row[k] for row in table) for k in range(3)])
    if name == "macro_f1":
        return mean([f1_of(*row) for row in present])
    if name == "roc_auc":
        return mean([area(*column) for column in columns_of(rows, classes)])
    if name == "average_precision":
        return mean([step_sum(*column) for column in columns_of(rows, classes)])
    if name == "hits2":
        return mean([float(place(s, t, 1) < 2) for s, t in rows])
    if name == "mrr":
        return mean([1 / (1 + place(s, t, 0.5)) for s, t in rows])
    off = [[s[c] - t[c] for s, t in rows] for c in columns]
    if name == "rmse":
        return mean([math.sqrt(mean([x * x for x in column])) for column in off])
    if name == "mae":
        return mean([mean([abs(x) for x in column]) for column in off])
    if name == "r2":
        middle = [mean([t[c] for _, t in rows]) for c in columns]
        return mean([1 - sum(x * x for x in off[c]) / sum((t[c] - middle[c]) ** 2 for _, t in rows) for c in columns])
    raise KeyError(name)


# ---- optimisers: one number's step; `at` counts from 1 ----

def sgd(w, g, state, at, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
    g += weight_decay * w
    if momentum:
        state["m"] = g if at == 1 else momentum * state["m"] + g
        g = g + momentum * state["m"] if nesterov else state["m"]
    return w - lr * g


def adam(w, g, state, at, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
    g += weight_decay * w
    state["m"] = betas[0] * state.get("m", 0.0) + (1 - betas[0]) * g
    state["v"] = betas[1] * state.get("v", 0.0) + (1 - betas[1]) * g * g
    mean, square = state["m"] / (1 - betas[0] ** at), state["v"] / (1 - betas[1] ** at)
    return w - lr * mean / (math.sqrt(square) + eps)


def rmsprop(w, g, state, at, lr, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False):
    g += weight_decay * w
    state["v"] = alpha * state.get("v", 0.0) + (1 - alpha) * g * g
    variance = state["v"]
    if centered:
        state["a"] = alpha * state.get("a", 0.0) + (1 - alpha) * g
        variance -= state["a"] ** 2
    move = g / (math.sqrt(variance) + eps)
    if momentum:
        move = state["m"] = momentum * state.get("m", 0.0) + move
    return w - lr * move


def adagrad(w, g, state, at, lr, lr_decay=0.0, weight_decay=0.0, initial_accumulator_value=0.0, eps=1e-10):
    g += weight_decay * w
    state["s"] = state.get("s", initial_accumulator_value) + g * g
    return w - lr / (1 + (at - 1) * lr_decay) * g / (math.sqrt(state["s"]) + eps)


# ---- schedules: of the epochs that lie behind ----

def half_cosine(high, low, share):
    return low + (high - low) * (1 + math.cos(math.pi * share)) / 2


def cosine(lr, epochs, end=0.0):
    return lambda done: half_cosine(lr, end, min(max(done, 0) / epochs, 1))


def step(lr, every, factor=0.1):
    return lambda done: lr * factor ** (max(done, 0) // every)


def exponential(lr, factor):
    return lambda done: lr * factor ** max(done, 0)


def polynomial(lr, epochs, power=1.0, end=0.0):
    return lambda done: end + (lr - end) * (1 - min(max(done, 0) / epochs, 1)) ** power


def linear(lr, epochs, end=0.0):
    return polynomial(lr, epochs, 1.0, end)


def restarts(lr, epochs, growth=1.0, end=0.0):
    def rate(done):
        length = epochs
        while done >= length:
            done, length = done - length, length * growth
        return half_cosine(lr, end, done / length)
    return rate


def one_cycle(lr, epochs, rise=0.3):
    def rate(done):
        top, last = rise * epochs - 1, epochs - 1
        if done <= top:
            return half_cosine(lr / 25, lr, done / top)
        return half_cosine(lr, lr / 25 / 1e4, min((done - top) / (last - top), 1))
    return rate


def warmup(epochs, inner):
    return lambda done: inner(max(done - epochs, 0)) * min((done + 1) / epochs, 1)


class Plateau:
    """ReduceLROnPlateau on the loss of the training split as it is measured after each epoch."""

    def __init__(self, lr, factor, patience):
        self.lr, self.factor, self.patience, self.best, self.waits = lr, factor, patience, None, 0

    def __call__(self, done):
        return self.lr

    def see(self, value):
        if self.best is None or value < self.best * (1 - 1e-4):
            self.best, self.waits = value, 0
            return
        self.waits += 1
        if self.waits > self.patience:
            self.lr, self.waits = self.lr * self.factor, 0


# ---- training ----

def labelled(data, labels, split):
    has_label = lambda t: t != -1 if isinstance(t, int) else not any(math.isnan(x) for x in t)
    return [v for v in range(NODES) if data["split"][v] == split and has_label(data[labels][v])]


def train(data, loss, optimizer, rate, epochs, clip=None, accumulate=1, labels="y", width=CLASSES, biases={"b": None}):
    """biases: their names, each with a schedule of its own or None."""
    weights = {(k, f): 0.1 for k in range(width) for f in range(FEATURES)}
    weights.update({(k, b): 0.0 for k in range(width) for b in biases})
    states = {key: {} for key in weights}
    lines = []

    def forward(v):
        return [sum(weights[k, f] * data["x"][v][f] for f in range(FEATURES)) + sum(weights[k, b] for b in biases) for k in range(width)]

    def measure(split):
        parts = [(v, *loss(forward(v), data[labels][v])) for v in labelled(data, labels, split)]
        return parts, sum(part[3] for part in parts)

    for epoch in range(1, epochs + 1):
        parts, total = measure("train")
        lr = rate(epoch - 1)
        lines.append((epoch, sum(part[1] for part in parts) / total, lr))
        slopes = {key: 0.0 for key in weights}
        for v, _, slope, _ in parts:
            for k in range(width):
                for f in range(FEATURES):
                    slopes[k, f] += slope[k] * data["x"][v][f] / total
                for b in biases:
                    slopes[k, b] += slope[k] / total
        mean = slopes if (epoch - 1) % accumulate == 0 else {key: mean[key] + g for key, g in slopes.items()}
        if epoch % accumulate:
            continue
        slopes = {key: g / accumulate for key, g in mean.items()}
        if clip and clip[0] == "norm":
            factor = min(1, clip[1] / (math.sqrt(sum(g * g for g in slopes.values())) + 1e-6))
            slopes = {key: g * factor for key, g in slopes.items()}
        if clip and clip[0] == "value":
            slopes = {key: max(-clip[1], min(clip[1], g)) for key, g in slopes.items()}
        for key in weights:
            own = biases.get(key[1])
            weights[key] = optimizer(weights[key], slopes[key], states[key], epoch // accumulate, own(epoch - 1) if own else lr)
        if isinstance(rate, Plateau):
            parts, total = measure("train")
            rate.see(sum(part[1] for part in parts) / total)
    return lines, forward


def with_settings(rule, **settings):
    return lambda w, g, state, at, lr: rule(w, g, state, at, lr, **settings)


CLASS_METRICS = ["accuracy", "precision", "recall", "f1", "micro_f1", "macro_f1", "roc_auc", "average_precision"]
NUMBER_METRICS = ["rmse", "mae", "r2"]
ADAM = dict(optimizer=with_settings(adam), rate=lambda: lambda done: 0.1, epochs=20)
CASES = {
    "weighted": dict(loss=lambda s, t: cross_entropy(s, t, [1.0, 2.0, 0.5, 1.5], 0.1), metrics=CLASS_METRICS, classes=CLASSES, **ADAM),
    "places": dict(loss=lambda s, t: cross_entropy(s, t, None, 0.2), metrics=["hits2", "mrr"], classes=CLASSES, **ADAM),
    "mse": dict(loss=mse, labels="t", width=2, metrics=NUMBER_METRICS, **ADAM),
    "l1": dict(loss=l1, labels="t", width=2, metrics=["mae"], **ADAM),
    "huber": dict(loss=huber(0.7), labels="t", width=2, metrics=["mae"], **ADAM),
    "labels": dict(loss=bce(1.5), labels="m", width=FEATURES, metrics=CLASS_METRICS, **ADAM),
    "binary": dict(loss=bce(), labels="b", width=1, metrics=CLASS_METRICS, classes=2, **ADAM),
    "rmsprop": dict(loss=cross_entropy, optimizer=with_settings(rmsprop, alpha=0.9, momentum=0.5, weight_decay=0.01),
                    rate=lambda: warmup(5, cosine(0.02, 20, 0.001)), epochs=40, clip=("norm", 0.2)),
    "centered": dict(loss=cross_entropy, optimizer=with_settings(rmsprop, centered=True, eps=0.01),
                     rate=lambda: one_cycle(0.05, 40), epochs=40),
    "adagrad": dict(loss=cross_entropy, optimizer=with_settings(adagrad, lr_decay=0.01, initial_accumulator_value=0.1),
                    rate=lambda: restarts(0.3, 7, 2, 0.01), epochs=40, clip=("value", 0.05)),
    "plateau": dict(loss=cross_entropy, optimizer=with_settings(sgd, momentum=0.9, nesterov=True),
                    rate=lambda: Plateau(2.5, 0.5, 2), epochs=60),
    "accumulate": dict(loss=cross_entropy, optimizer=with_settings(adam, weight_decay=0.01), rate=lambda: exponential(0.1, 0.95), epochs=41, clip=("value", 0.05),
                       accumulate=4),
    "groups": dict(loss=cross_entropy, optimizer=with_settings(sgd), rate=lambda: lambda done: 0.1, epochs=40,
                   biases={"b1": step(1.0, 8, 0.5), "b2": exponential(0.5, 0.9), "b3": polynomial(0.5, 30, 2, 0.01), "b4": warmup(3, linear(1.0, 30))}),
}


def main():
    data_folder, expected = sys.argv[1:]
    data = make_data()
    write_data(data, data_folder)
    os.makedirs(expected, exist_ok=True)
    for name, case in CASES.items():
        case = dict(case, rate=case["rate"]())
        metrics, classes = case.pop("metrics", []), case.pop("classes", 0)
        lines, forward = train(data, **case)
        with open("%s/%s.csv" % (expected, name), "w") as out:
            for line in lines:
                out.write("%d,%.9g,%.9g\n" % line)
        labels = case.get("labels", "y")
        with open("%s/%s.metrics" % (expected, name), "w") as out:
            for split in ["train", "valid", "test"] if metrics else []:
                rows = [(forward(v), data[labels][v]) for v in labelled(data, labels, {"valid": "val"}.get(split, split))]
                out.write(split + "".join(" %s %.6f" % (m, metric(m, rows, classes)) for m in metrics) + "\n")
        if not metrics:
            os.remove("%s/%s.metrics" % (expected, name))


main()
