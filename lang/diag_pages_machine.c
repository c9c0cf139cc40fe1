/* diag_pages_machine: the pages of messages about machines, plans, data and runs (E05 to R08). The tests compile every program here. */
#include "diag_internal.h"

static const DiagPage pages[] = {
    {"E0501", "no plan fits",
     "One operation needs more than the budget at one moment, whatever is moved away or made again later; or no plan was found that comes\n"
     "down to the budget. The message names the operation, the smallest budget that works, and other ways out, each of which was planned.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 100 }\n"
     "target t { device cpu { memory = 1KiB } }\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 100 }\n"
     "target t { device cpu { memory = 1MiB } }\n", .exit_code = 3, .is_of_gnncc = true},
    {"E0502", "the host or SSD budget is too small",
     "The plan fits the device only by moving more to the host or the SSD than they may take; or data that were asked to be at home there do not\n"
     "fit. The message says how much it is, and names ways out, each of which was planned.",
     "data d from synth(kind = \"rmat\", nodes = 20_000, degree = 5, features = 64, classes = 8, seed = 1)\n"
     "model m on d {\n"
     "  h = x |> SAGE(64) as sage1 |> relu |> dropout(0.5)\n"
     "  h = h |> SAGE(64) as sage2 |> relu |> dropout(0.5)\n"
     "  return h |> SAGE(y.classes) as sage3\n"
     "}\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 100 }\n"
     "plan { cut = whole }\n"
     "target t {\n"
     "  device cpu { memory = 20MiB }\n"
     "  tier host { budget = 1MiB }\n"
     "  link cpu <-> host { bandwidth = 10GB/s }\n"
     "}\n",
     "data d from synth(kind = \"rmat\", nodes = 20_000, degree = 5, features = 64, classes = 8, seed = 1)\n"
     "model m on d {\n"
     "  h = x |> SAGE(64) as sage1 |> relu |> dropout(0.5)\n"
     "  h = h |> SAGE(64) as sage2 |> relu |> dropout(0.5)\n"
     "  return h |> SAGE(y.classes) as sage3\n"
     "}\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 100 }\n"
     "plan { cut = whole }\n"
     "target t {\n"
     "  device cpu { memory = 20MiB }\n"
     "  tier host { budget = 100MiB }\n"
     "  link cpu <-> host { bandwidth = 10GB/s }\n"
     "}\n", .exit_code = 3, .is_of_gnncc = true},
    {"E0503", "a tier without a link",
     "A tier can be used only if a link leads to it.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "target t {\n"
     "  device cpu { memory = 2GiB }\n"
     "  tier ssd { budget = 20GiB }\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "target t {\n"
     "  device cpu { memory = 2GiB }\n"
     "  tier ssd { budget = 20GiB }\n"
     "  link cpu <-> ssd { read = 2GB/s; write = 1GB/s }\n"
     "}\n", .exit_code = 1},
    {"W0504", "implausible hardware",
     "A bandwidth is far beyond what such a link gives, so a plan made for it would be wrong.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "target t {\n"
     "  device gpu { kind = cuda(sm_80); memory = 80GiB }\n"
     "  tier host { budget = 100GiB }\n"
     "  link gpu <-> host { bandwidth = 240GB/s }\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "target t {\n"
     "  device gpu { kind = cuda(sm_80); memory = 80GiB }\n"
     "  tier host { budget = 100GiB }\n"
     "  link gpu <-> host { bandwidth = 24GB/s }\n"
     "}\n", .exit_code = 1},
    {"E0505", "a plan names no value",
     "The pattern of fate matches none of the values that have a fate; gnncc --plan -v lists them. A name of the program may have none: where "
     "the steps that read the value compute it (gnncc -O0 stores it), or where nothing of it is left.",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x |> GCN(16) as conv1 |> relu\n"
     "  return h |> GCN(y.classes) as conv2\n"
     "}\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 100 }\n"
     "plan { fate \"conv9*\" = recompute }\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x |> GCN(16) as conv1 |> relu\n"
     "  return h |> GCN(y.classes) as conv2\n"
     "}\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 100 }\n"
     "plan { fate \"conv1*\" = recompute }\n", .exit_code = 1, .is_of_gnncc = true},
    {"E0506", "an impossible fate",
     "A value can be kept, moved to a tier that the machine has, or computed again from what is still there. Weights are always there, but those with a row\n"
     "for each node: these and fields of nodes can stay on the host or the SSD (fate \"x\" = ssd), and so can the arrays of who is whose neighbour (fate \"graph_*_idx\" = host).",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x |> GCN(16) as conv1 |> relu\n"
     "  return h |> GCN(y.classes) as conv2\n"
     "}\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 100 }\n"
     "plan { fate \"conv1*\" = ssd }\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x |> GCN(16) as conv1 |> relu\n"
     "  return h |> GCN(y.classes) as conv2\n"
     "}\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 100 }\n"
     "plan { fate \"conv1*\" = recompute }\n", .exit_code = 1, .is_of_gnncc = true},
    {"E0507", "a tool for the target is missing",
     "A CUDA target needs the CUDA toolkit, 12.0 or newer: nvcc or NVRTC that know the GPU's architecture, libcudart_static.a, libcublasLt unless --gemm=own says\n"
     "otherwise, libcusparse with --spmm=cusparse; CUDA_HOME, or else the nvcc in PATH, says where they are. -S writes the sources without compiling; --target=native plans\n"
     "for this machine. Programs of several ranks need MPI and its compiler (mpicc, or what MPICC names), on GPUs NCCL, too, which --policy=halo-host does without. --calibrate and --tune need the GPU itself, too, and its driver.",
     NULL,
     NULL, .exit_code = 5, .why_none = "the toolkit is missing, whatever the program says."},
    {"E0508", "a quantity of the wrong kind",
     "Sizes, speeds, times and rates carry their units: 24GiB, 24GB/s, 80us, 19.5TFLOP/s.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "target t { device cpu { memory = 2GiB; bandwidth = 40 } }\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "target t { device cpu { memory = 2GiB; bandwidth = 40GB/s } }\n", .exit_code = 1},
    {"E0509", "a target says too little",
     "A target has one device, a size for each tier and a bandwidth for each link.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "target t { tier ssd { budget = 2GiB } }\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "target t { device cpu { memory = 2GiB } }\n", .exit_code = 1},
    {"E0510", "a plan of another program",
     "--plan-from names a plan that was made for another program, other data or another machine, or that was changed by hand so that it cannot be carried out.\n"
     "A plan is of one cut, too: of whole values, or of so many parts or slices. --plan-from does not look for a cut as a compilation without it does: values are whole unless --cut or\n"
     "the plan block says otherwise. Where the plan is one of this program under another cut, the message says what to ask for: --cut=whole, --cut='rows(4)', --cut='slices(2)', and\n"
     "plan { fate \"x\" = host } where features were on the host as well, fate \"graph_in_idx\" = host where the graph was (ssd, where they were there). `gnncc-report/1` has the cut of its plan as `cut`,\n"
     "and how many ranks it is for as `ranks`: --ranks has to say as many.",
     NULL,
     NULL, .exit_code = 1, .why_none = "the mistake is in the file of the plan, not in a program."},
    {"W0511", "a wide value is stored for every edge",
     "Point functions of what edges have, and sums over edges, are computed without storing a value for each edge. A product with weights needs its\noperand in memory: so many numbers for every edge, written and read in every epoch. The product on the nodes, lifted to the edges, is cheaper.\nThis warning is in the group -Wperf.",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = sum(relu(Linear(src.x, 16) as lin1))\n"
     "  return h |> Linear(y.classes) as lin2\n"
     "}\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 10 }\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  a = x |> Linear(16) as lin1\n"
     "  h = sum(relu(src.a))\n"
     "  return h |> Linear(y.classes) as lin2\n"
     "}\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.01); epochs = 10 }\n", .exit_code = 1, .is_of_gnncc = true},
    {"E0512", "more parts than there are blocks",
     "Values on nodes are cut where canonical blocks of the nodes begin, so that sums keep their bits. Blocks belong to the data: small data have few,\n"
     "and each of several ranks has some of them. cut = auto takes as many parts as are good, and never more than there are.",
     NULL,
     NULL, .exit_code = 1, .why_none = "how many blocks there are shows only with the data."},
    {"E0513", "a cut of layers that cannot be",
     "A layer is cut otherwise than the others by its name, as --plan lists it (a pattern, as of a fate), in both passes or with .forward or .backward in one. It has to sum over\n"
     "neighbours. Rows are cut in as many parts for all layers: of a layer rows(P) says that it has no slices.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "plan { cut = slices(2); cut \"conv\" = whole }\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "plan { cut = slices(2); cut \"conv1\" = whole }\n", .exit_code = 1, .is_of_gnncc = true},
    {"E0601", "the C compiler refused generated code",
     "This is a mistake of gnncc, not of the program. The message names the files to report.",
     NULL,
     NULL, .exit_code = 70, .why_none = "every program that gnncc accepts should compile."},
    {"E0701", "the data is wrong",
     "An edge leads to a node that does not exist, a file has the wrong length or form. If node 0 never occurs, the ids probably count from 1.",
     "data d from npy(\"endpoint\")\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from npy(\"sound\")\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1, .is_of_gnncc = true},
    {"E0702", "a label out of range",
     "Labels run from 0 to classes - 1; -1 stands for a row without a label.",
     "data d from karate() { node y : class[2] }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from karate() { node y : class[4] }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1, .is_of_gnncc = true},
    {"W0703", "edges in one direction only",
     "Messages flow along edges, from source to destination. GCN, of which this is said, usually wants both directions: undirected = true.",
     "data d from npy(\"one_way\")\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from npy(\"one_way\") { undirected = true }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1, .is_of_gnncc = true},
    {"W0704", "nodes without in-edges",
     "A node without in-edges receives nothing, so that sums over edges may leave it with zeros. Standard layers count the node itself, too,\nunless they are told not to, as by GAT(add_self_loops = false) where nothing else leads past them. self_loops = add gives each node its own value.",
     "layer Mean(x : node[f]) { return mean(src.x) }\n"
     "data d from synth(kind = \"rmat\", nodes = 100, degree = 2, features = 8, classes = 3, seed = 1)\n"
     "model m on d { return x |> Mean |> Linear(y.classes) as head }\n",
     "layer Mean(x : node[f]) { return mean(src.x) }\n"
     "data d from synth(kind = \"rmat\", nodes = 100, degree = 2, features = 8, classes = 3, seed = 1) { self_loops = add }\n"
     "model m on d { return x |> Mean |> Linear(y.classes) as head }\n", .exit_code = 1, .is_of_gnncc = true},
    {"E0705", "values that are not finite",
     "A field holds NaN or infinity; training would spread it to all weights.",
     "data d from npy(\"nan\")\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from npy(\"sound\")\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1, .is_of_gnncc = true},
    {"W0706", "columns of very different size",
     "Training is slow when one column is thousands of times larger than another. batch_norm(x), in the model, brings each column to mean 0 and variance 1 over the nodes;\n"
     "of a field of one column, a year, it is batch_norm(reshape(year, 1)). -Wno-scale says that the model sees to it. normalize = rows(x) is for rows of counts, such as words: each is\n"
     "divided by its sum, so that a column which outweighs the others is 1 and nothing is left of these.",
     "data d from npy(\"scale\")\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from npy(\"sound\")\n"
     "model m on d { return GCN(batch_norm(x) as norm, y.classes) as conv1 }\n", .exit_code = 1, .is_of_gnncc = true},
    {"E0707", "splits that overlap, or an array without a header",
     "A row is in two of train, valid and test, so the test would measure what was trained on.\n"
     "\n"
     "Of a .npy file: it does not begin as numpy.save begins it. Some data sets have raw numbers in files of that name: those of IGB are read by\n"
     "igb(\"IGB260M\", \"large\"), a field of others by node x : f32[128] = raw(\"x.npy\", f32[N, 128]); numpy.save writes arrays with a header.",
     "data d from npy(\"splits\")\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from npy(\"splits\") { split = random(0.5, 0.25, 0.25, seed = 0) }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1, .is_of_gnncc = true},
    {"E0708", "a declaration the data does not keep",
     "Declarations in a data block are promises checked against the files. Of more classes than are seen some have no row, and that is fine.",
     "data d from karate() { node x : f32[5] }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from karate() { node x : f32[f] }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0709", "data without files and without sizes",
     "To plan without files, nodes, edges and all field sizes must be declared.",
     "data d { node x : f32[8] }\n"
     "model m on d { return GCN(x, 4) as conv1 }\n",
     "data d {\n"
     "  nodes = 1_000\n"
     "  edges = 5_000\n"
     "  node x : f32[8]\n"
     "}\n"
     "model m on d { return GCN(x, 4) as conv1 }\n", .exit_code = 1},
    {"E0710", "an order that is not one of these nodes",
     "order = \"file\" names every node of the data once: a file of gnndata order, or a .npy file with the numbers of the nodes in their new\nplaces. What gnndata order wrote is good for the graph it was made for, with the same undirected and self_loops, and a program for\nthe order it was compiled with.",
     NULL,
     NULL, .exit_code = 1, .why_none = "the order lies in a file beside the data."},
    {"E0711", "folds that cannot be",
     "split = folds(10, seed = 0) needs at least ten rows with labels; split = folds takes the folds that the data bring: fold.npy in a folder,\nsplit.fold in a container, one whole number a row: 0 to 254, each at least once, and 255 (or -1) for rows that are always trained on.",
     "data d from synth(kind = \"rmat\", nodes = 9, degree = 2, features = 8, classes = 3, seed = 1) { split = folds(10, seed = 0) }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from synth(kind = \"rmat\", nodes = 90, degree = 2, features = 8, classes = 3, seed = 1) { split = folds(10, seed = 0) }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1, .is_of_gnncc = true},
    {"E0712", "pairs that cannot be",
     "Pairs are split from the edges of one graph with one kind of edges, at least one of which is left to train on; to each edge there are pairs of\nnodes that no edge joins, so some nodes must not be joined. 2^31 - 1 pairs are the most there can be.\nHeld-out edges are among the pairs, so what is over them stays with them: it is not summed at nodes, and nodes have no degree in them.",
     "data d from synth(kind = \"er\", nodes = 50, degree = 0, features = 8, classes = 3, seed = 1) {\n"
     "  pairs links : label[1] = split_edges()\n"
     "}\n"
     "model m on d {\n"
     "  h = GCN(x, 4) as conv1\n"
     "  return dot(src.h, dst.h) over links\n"
     "}\n",
     "data d from synth(kind = \"er\", nodes = 50, degree = 4, features = 8, classes = 3, seed = 1) {\n"
     "  pairs links : label[1] = split_edges()\n"
     "}\n"
     "model m on d {\n"
     "  h = GCN(x, 4) as conv1\n"
     "  return dot(src.h, dst.h) over links\n"
     "}\n", .exit_code = 1, .is_of_gnncc = true},
    {"W0713", "graphs of several types, read as one",
     "A set of graphs has one type of nodes. Of several types its graphs are read as one graph, whose nodes and edges are those of all: that is the same for a model that gives something for\n"
     "each node, but graph.x, mean(z, to = graph) and normalisation over the nodes then speak of all graphs together. to_homogeneous() of PyG and of DGL makes graphs of one type, with the types as a field.\n"
     "-Wno-typed-sets says that one graph is meant.",
     "data d from npy(\"typed_set\") { relation r : a -> b }\n"
     "model m on d { return b.x |> Linear(b.y.classes) as lin }\n",
     "data d from npy(\"typed\") { relation r : a -> b }\n"
     "model m on d { return b.x |> Linear(b.y.classes) as lin }\n", .exit_code = 1, .is_of_gnncc = true},
    {"W0714", "self-loops of the data that count twice",
     "GCN and its like, and attention, count each node itself, so that a self-loop of the data is one more. PyG has one loop at each node: self_loops = remove gives its numbers, and of layers\n"
     "with an edge_weight self_loops = add, where the loops that are there keep their weight. Sums over the neighbours alone (SAGE, GIN) take the loops of the data as PyG does, with keep.",
     "data d from npy(\"looped\")\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from npy(\"looped\") { self_loops = remove }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1, .is_of_gnncc = true},
    {"R0801", "the machine offers less than the plan needs",
     "The program looks before it allocates anything. Memory: plan again with a smaller --budget. Instructions that the processor has not: compile with --cpu=NAME for it.",
     NULL,
     NULL, .exit_code = 3, .why_none = "it is said by the produced program, of what it meets when it runs."},
    {"R0802", "the data has another size than planned",
     "Every dimension must be at most the one that was planned for.",
     NULL,
     NULL, .exit_code = 1, .why_none = "it is said by the produced program, of what it meets when it runs."},
    {"R0803", "the loss is not a number",
     "A value overflowed. Smaller learning rates help; on the processor the message names the first\nvalue that is not finite, with its node and column, and the largest gradient of the epoch that ruined it; on a GPU the first weight.",
     NULL,
     NULL, .exit_code = 5, .why_none = "it is said by the produced program, of what it meets when it runs."},
    {"R0804", "weights that do not fit the model",
     "The file of weights has other names or shapes; the message compares them.",
     NULL,
     NULL, .exit_code = 1, .why_none = "it is said by the produced program, of what it meets when it runs."},
    {"R0805", "scratch space is full",
     "The SSD tier or the output directory has less room than needed.",
     NULL,
     NULL, .exit_code = 4, .why_none = "it is said by the produced program, of what it meets when it runs."},
    {"R0806", "damaged weights or a damaged checkpoint",
     "What was read does not match the checksums it was written with, or is no sound file at all; nothing was taken from it. Where a\ncheckpoint before it would be taken, the message names it: --resume=FILE goes on from there.",
     NULL,
     NULL, .exit_code = 4, .why_none = "it is said by the produced program, of what it meets when it runs."},
    {"R0807", "a checkpoint of other data",
     "Edges, features, labels or splits changed since the checkpoint was written. --data-changed=accept goes on with them,\nand from then on the training says so.",
     NULL,
     NULL, .exit_code = 1, .why_none = "it is said by the produced program, of what it meets when it runs."},
    {"R0808", "weights that are not finite",
     "A tensor of the file holds a NaN or an infinity. --nan=continue takes it as it is.",
     NULL,
     NULL, .exit_code = 5, .why_none = "it is said by the produced program, of what it meets when it runs."},
    {"R0809", "ranks that do not fit together",
     "A program of --ranks=N is N processes of the same program, over the same data, with the same command, options and weights:\nmpirun -np N ./train. Another number of them was started, or one of them has something else than rank 0: another program, or\nanother plan of it, another option, other data, other weights.",
     NULL,
     NULL, .exit_code = 1, .why_none = "it is said by the produced program, of what it meets when it runs."},
    {"R0810", "an exchange between ranks failed",
     "MPI or NCCL said so: the message names rank, step, peer and their own words. All ranks have ended; --resume goes on from the last\ncheckpoint, with any number of ranks.",
     NULL,
     NULL, .exit_code = 1, .why_none = "it is said by the produced program, of what it meets when it runs."},
};

const DiagPage *diags_pages_machine(int *count) {
  *count = (int)(sizeof pages / sizeof *pages);
  return pages;
}
