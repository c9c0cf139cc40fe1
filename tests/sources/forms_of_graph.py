"""forms_of_graph.py: the little graph that all forms are of."""

NODES = 6
EDGES = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 1), (4, 0), (2, 5), (5, 2)]
WEIGHT = [0.5, 1.5, 2, 0.25, 3, 4, -1, 8]
X = [[1, 0, 0.5], [0, 2, 0], [0, 0, 3], [4, 0, 0], [0, 0, 0], [0.25, 0, 6]]
Y = [0, 1, 2, 0, 1, 2]
TRAIN, VALID, TEST = [0, 3], [1, 4], [2, 5]
SECOND = {"train_mask": "test_mask", "val_mask": "train_mask", "test_mask": "val_mask"}


def turned(numbers):
    return [list(column) for column in zip(*numbers)]


def mask(rows, count=NODES):
    return [int(r in rows) for r in range(count)]


INDEX = turned([list(edge) for edge in EDGES])
MASKS = {"train_mask": mask(TRAIN), "val_mask": mask(VALID), "test_mask": mask(TEST)}
