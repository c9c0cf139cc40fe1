/* diag_pages_types: the pages of messages about sizes, domains and training (E03, E04). The tests compile every program here. */
#include "diag_internal.h"

static const DiagPage pages[] = {
    {"E0301", "a product of matrices whose inner sizes differ",
     "The last dimension of the left side meets the first of the right side (for dot: the last of both); they must have the same size.",
     "data d from karate()\n"
     "model m on d {\n"
     "  param W : [100, 16] = glorot\n"
     "  return x @ W\n"
     "}\n",
     "layer L(x : node[f], out) {\n"
     "  param W : [f, out] = glorot\n"
     "  return x @ W\n"
     "}\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  return L(x, 16) as l\n"
     "}\n", .exit_code = 1},
    {"E0302", "node and edge values mixed",
     "A value per node and a value per edge meet only after saying which end of the edge is meant: src. or dst.",
     "data d from karate()\n"
     "model m on d {\n"
     "  m = src.x\n"
     "  return sum(m * x)\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  m = src.x\n"
     "  return sum(m * dst.x)\n"
     "}\n", .exit_code = 1},
    {"E0303", "src. or dst. of something that is not on nodes",
     "src.z is the value of z at the source of each edge, so z must live on nodes.",
     "data d from karate()\n"
     "model m on d {\n"
     "  e = src.x\n"
     "  return sum(src.e)\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  e = src.x\n"
     "  return sum(e)\n"
     "}\n", .exit_code = 1},
    {"E0304", "sum or mean of what is on nodes",
     "A reducer brings edge values to nodes. For a node value say what is added: the neighbours, a graph, or a dimension.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return sum(x)\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  return sum(src.x)\n"
     "}\n", .exit_code = 1},
    {"E0305", "two dimensions of one size and different names",
     "Dimensions match by the expression they were declared with. Two that happen to be of one size are not combined by accident.",
     "const heads = 8\n"
     "const width = 8\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  param a : [heads] = ones\n"
     "  h = Linear(x, width) as l\n"
     "  return h * a\n"
     "}\n",
     "const width = 8\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  param a : [width] = ones\n"
     "  h = Linear(x, width) as l\n"
     "  return h * a\n"
     "}\n", .exit_code = 1},
    {"E0306", "sizes that do not fit",
     "Two values are combined element by element, but a dimension has two sizes.",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = Linear(x, 16) as l\n"
     "  return h + x\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = Linear(x, 16) as l\n"
     "  return h + Linear(x, 16) as skip\n"
     "}\n", .exit_code = 1},
    {"E0307", "as many scores as classes are needed",
     "Cross entropy compares one score per class. y.classes follows the data.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, 40) as conv1\n"
     "}\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n", .exit_code = 1},
    {"E0308", "scores and labels live at different places",
     "Both must be per node (or both per graph). Reduce edge values first.",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = GCN(x, y.classes) as conv1\n"
     "  return src.h\n"
     "}\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n", .exit_code = 1},
    {"E0309", "a layer without its edge feature",
     "Some layers (GINE) add a feature of each edge to what comes along it, so a value on edges must be given: a field that the data block declares "
     "on edges, or one computed from src. and dst. values.",
     "data d from karate()\n"
     "model m on d { return x |> GINE(16) as conv }\n",
     "data d from karate()\n"
     "model m on d { return x |> GIN(16) as conv }\n", .exit_code = 1},
    {"E0310", "edges whose ends are elsewhere",
     "A relation goes from one type of nodes to one: src. takes values of the first, dst. of the second. Where nodes have types, what is summed over edges says over "
     "which relation.",
     "data d {\n"
     "  nodes author : count[300]\n"
     "  nodes paper : count[200]\n"
     "  author x : f32[8]\n"
     "  paper x : f32[16]\n"
     "  relation cites : paper -> paper = 500\n"
     "}\n"
     "model m on d {\n"
     "  return SAGE(author.x, paper.x, 4) over cites as conv\n"
     "}\n",
     "data d {\n"
     "  nodes author : count[300]\n"
     "  nodes paper : count[200]\n"
     "  author x : f32[8]\n"
     "  paper x : f32[16]\n"
     "  relation writes : author -> paper = 900\n"
     "}\n"
     "model m on d {\n"
     "  return SAGE(author.x, paper.x, 4) over writes as conv\n"
     "}\n", .exit_code = 1},
    {"E0311", "an option where a constant is needed",
     "Options can change when the produced program runs, so sizes, loops, conditions and initial values cannot depend on them.",
     "option hid = 16\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, hid) as conv1\n"
     "}\n",
     "const hid = 16\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, hid) as conv1\n"
     "}\n", .exit_code = 1},
    {"E0312", "labels that the loss is not for",
     "cross_entropy is for classes, bce for two classes or rows of 0 and 1, mse, l1 and huber are for numbers. Whole numbers are read as classes "
     "unless the data block says y : f32; numbers that mean classes are declared class[...].",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, x)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n", .exit_code = 1},
    {"E0313", "nothing is returned",
     "A model or layer ends with return.",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = GCN(x, y.classes) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = GCN(x, y.classes) as conv1\n"
     "  return h\n"
     "}\n", .exit_code = 1},
    {"W0314", "a parameter without influence",
     "The result does not depend on this parameter, so training never changes it. Usually a value was computed and then not used.",
     "data d from karate()\n"
     "model m on d {\n"
     "  param a : [8] = zeros\n"
     "  return GCN(x, y.classes) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0316", "a probability outside 0 \342\200\246 1",
     "The probability of dropout is the share that is dropped: 0.5, not 50.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return x |> dropout(50) |> GCN(y.classes) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  return x |> dropout(0.5) |> GCN(y.classes) as conv1\n"
     "}\n", .exit_code = 1},
    {"E0317", "dimensions that cannot be told apart",
     "Several dimensions have one size and no names. Declare the sizes as constants.",
     NULL,
     NULL, .exit_code = 1, .why_none = "dimensions are renamed until they can be told apart, and no program is known for which that fails."},
    {"W0315", "softmax before cross entropy",
     "cross_entropy takes scores and applies log-softmax itself. Behind a softmax it sees numbers from 0 to 1 only, and gradients nearly vanish.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, y.classes) |> softmax\n"
     "}\n"
     "train m {\n"
     "  loss      = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs    = 10\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, y.classes)\n"
     "}\n"
     "train m {\n"
     "  loss      = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs    = 10\n"
     "}\n", .exit_code = 1},
    {"W0318", "a dimension may be meant in two ways",
     "A value without names for its dimensions fits more than one dimension of the other; the last one is taken, as NumPy does.",
     "data d from karate()\n"
     "model m on d {\n"
     "  a = zeros(node, 8, 8)\n"
     "  b = zeros(node, 8)\n"
     "  return sum(a + b, axis = -1)\n"
     "}\n",
     "const heads = 8\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  a = zeros(node, heads, 8)\n"
     "  b = zeros(node, heads)\n"
     "  return sum(a + b, axis = -1)\n"
     "}\n", .exit_code = 1},
    {"E0321", "a size must be a whole number",
     "Sizes are whole numbers of at least 1 and at most 2^45, which are as many numbers as a process can address; loops count in whole numbers.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, 2.5) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, 2) as conv1\n"
     "}\n", .exit_code = 1},
    {"E0322", "classes are not numbers",
     "A field of classes is for the loss; there is no arithmetic on labels.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return y + 1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0323", "too many dimensions",
     "A value has at most 4 dimensions beside the nodes or edges.",
     "data d from karate()\n"
     "model m on d {\n"
     "  param w : [2, 2, 2, 2, 2] = zeros\n"
     "  return x\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0324", "a product with the wrong side",
     "x @ W multiplies the rows of x by a matrix of parameters; dot(a, b) multiplies row by row.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return x @ x\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  return dot(x, x)\n"
     "}\n", .exit_code = 1},
    {"E0325", "no such part",
     "A name has no part of this name: src.z and dst.z of node values, y.classes of fields of classes.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, y.width) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0326", "no such dimension or place",
     "axis = names a dimension of the value, or counts it from the last, -1; axis = node and axis = edge go over all of them. Places from the front, axis = 0, are for weights alone: to "
     "other libraries the nodes are dimension 0, and here they are none. to = is src, dst or graph; zeros(...) and types begin with where the value lives: node, edge, graph or a type of nodes of the data.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return sum(src.x, axis = heads)\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  return sum(src.x, to = src)\n"
     "}\n", .exit_code = 1},
    {"E0327", "a probability that is computed",
     "The probability of dropout is a number or an option, so that it is known before training.",
     "data d from karate()\n"
     "model m on d {\n"
     "  param p : [] = zeros\n"
     "  return dropout(x, p)\n"
     "}\n",
     "option p = 0.5\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  return dropout(x, p)\n"
     "}\n", .exit_code = 1},
    {"E0328", "a value does not have its declared type",
     "An argument or variable is declared to live on nodes or edges, or to have certain dimensions, and the value has others.",
     "layer L(e : edge[f]) { return sum(e) }\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  return L(x)\n"
     "}\n",
     "layer L(e : edge[f]) { return sum(e) }\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  return L(src.x)\n"
     "}\n", .exit_code = 1},
    {"E0329", "no initial value",
     "A parameter begins as zeros, ones, glorot, kaiming_uniform, constant(v), uniform(b), normal(s) or fixed(v).",
     "data d from karate()\n"
     "model m on d {\n"
     "  param w : [4] = \"zeros\"\n"
     "  return GCN(x, 4) as conv1 + w\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  param w : [4] = zeros\n"
     "  return GCN(x, 4) as conv1 + w\n"
     "}\n", .exit_code = 1},
    {"E0330", "statements behind return",
     "A layer or model ends with its first return.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return x\n"
     "  h = relu(x)\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = relu(x)\n"
     "  return h\n"
     "}\n", .exit_code = 1},
    {"E0401", "no such split",
     "The data has no rows for this split. split = random(0.6, 0.2, 0.2, seed = 0) makes splits.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  metric = accuracy\n"
     "  keep = best(valid.accuracy)\n"
     "}\n",
     "data d from karate() { split = random(0.6, 0.2, 0.2, seed = 0) }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  metric = accuracy\n"
     "  keep = best(valid.accuracy)\n"
     "}\n", .exit_code = 1},
    {"W0402", "patience that can never end",
     "patience counts evaluations, not epochs.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  evaluate = every(5)\n"
     "  stop = patience(train.loss, 50)\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  stop = patience(train.loss, 5)\n"
     "}\n", .exit_code = 1},
    {"E0403", "a group without weights",
     "The pattern of a group matches no weight; * stands for any text.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  group \"conv3.*\" { weight_decay = 0 }\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  group \"conv1.*\" { weight_decay = 0 }\n"
     "}\n", .exit_code = 1},
    {"E0405", "a metric is watched but not measured",
     "keep and stop can watch what metric = names, and loss.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  keep = best(train.accuracy)\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  metric = accuracy\n"
     "  keep = best(train.accuracy)\n"
     "}\n", .exit_code = 1},
    {"E0406", "a training number out of range",
     "Learning rates and decays are at least 0, momentum between 0 and 1, betas below 1, epochs and runs at least 1.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = -1)\n"
     "  epochs = 10\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n", .exit_code = 1},
    {"E0407", "a loss of the wrong form",
     "A loss takes what the model returns, which is called out, and a field of labels: cross_entropy(out, y). gnncc --list losses shows what there is.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(y, out)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n", .exit_code = 1},
    {"E0408", "a group of the wrong form",
     "group \"conv2.*\" { weight_decay = 0 } names weights and what is different for them.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  group \"conv1.*\" = 0\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  group \"conv1.*\" { weight_decay = 0 }\n"
     "}\n", .exit_code = 1},
    {"W0404", "a metric that says little",
     "Where nearly all labels are one class, always answering that class has a high accuracy. average_precision and roc_auc look at the order of the scores.",
     "data d from npy(\"skewed\")\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  metric = accuracy\n"
     "}\n",
     "data d from npy(\"skewed\")\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  metric = average_precision\n"
     "}\n", .exit_code = 1, .is_of_gnncc = true},
    {"E0411", "a metric that is not for these labels",
     "Metrics of decisions and rankings are for classes and for rows of 0 and 1, rmse, mae and r2 for numbers. gnncc --list metrics says what each is.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  metric = rmse\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  metric = [accuracy, roc_auc]\n"
     "}\n", .exit_code = 1},
    {"E0412", "batches that cannot be",
     "batch = graphs(32, shuffle = true) trains on batches of whole graphs, so the data have to be a set of graphs: a folder with graph_ptr.npy.\nWithout batch an epoch is one step over all data.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss      = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs    = 10\n"
     "  batch     = graphs(8)\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss      = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs    = 10\n"
     "}\n", .exit_code = 1},
    {"W0413", "the epoch is chosen by the test rows",
     "keep and stop that watch the test split choose the epoch that is best on the test rows, which are then no measure of new data.\nThis warning is in the group -Wpedantic.",
     "data d from karate() { split = random(0.4, 0.3, 0.3) }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss      = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs    = 10\n"
     "  keep      = best(test.loss)\n"
     "}\n",
     "data d from karate() { split = random(0.4, 0.3, 0.3) }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss      = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs    = 10\n"
     "  keep      = best(valid.loss)\n"
     "}\n", .exit_code = 1},
    {"W0414", "a deep network without residual connections",
     "With every layer the values of neighbouring nodes become more alike and gradients smaller. From eight layers on a network usually needs\nconnections past its layers: h + layer(h), GCNII, or the values of all layers side by side.\nThis warning is in the group -Wpedantic.",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x\n"
     "  for i in 1 .. 24 { h = h |> GCN(16) as convs |> relu }\n"
     "  return h |> GCN(y.classes) as last\n"
     "}\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 10 }\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x |> GCN(16) as first\n"
     "  for i in 1 .. 24 { h = h + (h |> GCN(16) as convs |> relu) }\n"
     "  return h |> GCN(y.classes) as last\n"
     "}\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 10 }\n", .exit_code = 1},
    {"E0415", "approximations that cannot be",
     "approximate { boundary = ... } says what a training of several ranks does with the rows of others that sums over neighbours gather:\nstale(1), those of the epoch before; stale(1, smooth = 0.95), averages of these; sample(0.1), a share of them, drawn anew in each epoch.\nWithout it they are exact.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  approximate { boundary = sample(2) }\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  approximate { boundary = sample(0.1) }\n"
     "}\n", .exit_code = 1},
    {"E0409", "keep, stop or every of the wrong form",
     "keep = best(valid.accuracy), stop = patience(valid.loss, 100), evaluate = every(5), checkpoint = every(25), clip = norm(1.0).",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  evaluate = 5\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  evaluate = every(5)\n"
     "}\n", .exit_code = 1},
    {"E0410", "a train block without loss, optimiser or epochs",
     "There are no silent defaults for these three.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n", .exit_code = 1},
};

const DiagPage *diags_pages_types(int *count) {
  *count = (int)(sizeof pages / sizeof *pages);
  return pages;
}
