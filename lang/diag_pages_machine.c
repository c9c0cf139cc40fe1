/* diag_pages_machine: the pages of messages about machines, plans, data and runs (E05 to R08). The tests compile every program here. */
#include "diag_internal.h"

static const DiagPage pages[] = {
    {"E0501", "no plan fits",
     "One operation needs more than the budget at one moment, whatever is moved away or made again later; or no plan was found that comes\n"
     "down to the budget. The message names the operation, the smallest budget that works, and other ways out, each of which was planned.",
     NULL,
     NULL, 3},
    {"E0502", "the host or SSD budget is too small",
     "The plan fits the device only by moving more to the host or the SSD than they may take. The message says how much it moves, and names\n"
     "ways out, each of which was planned.",
     NULL,
     NULL, 3},
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
     "}\n", 1},
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
     "}\n", 1},
    {"E0505", "a plan names no value",
     "The pattern of fate matches none of the values that have a fate; gnncc --plan -v lists them.",
     NULL,
     NULL, 1},
    {"E0506", "an impossible fate",
     "A value can be kept, moved to a tier that the machine has, or computed again from what is still there. Input data and weights are always there.",
     NULL,
     NULL, 1},
    {"E0507", "a tool for the target is missing",
     "A CUDA target needs the CUDA toolkit, 12.0 or newer: nvcc or NVRTC that know the GPU's architecture, libcudart_static.a, libcublasLt unless --gemm=own says\n"
     "otherwise, libcusparse with --spmm=cusparse; CUDA_HOME, or else the nvcc in PATH, says where they are. -S writes the sources without compiling; --target=native plans\n"
     "for this machine. --calibrate and --tune need the GPU itself, too, and its driver.",
     NULL,
     NULL, 5},
    {"E0508", "a quantity of the wrong kind",
     "Sizes, speeds, times and rates carry their units: 24GiB, 24GB/s, 80us, 19.5TFLOP/s.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "target t { device cpu { memory = 2GiB; bandwidth = 40 } }\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "target t { device cpu { memory = 2GiB; bandwidth = 40GB/s } }\n", 1},
    {"E0509", "a target says too little",
     "A target has one device, a size for each tier and a bandwidth for each link.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "target t { tier ssd { budget = 2GiB } }\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "target t { device cpu { memory = 2GiB } }\n", 1},
    {"E0601", "the C compiler refused generated code",
     "This is a mistake of gnncc, not of the program. The message names the files to report.",
     NULL,
     NULL, 70},
    {"E0701", "the data is wrong",
     "An edge leads to a node that does not exist, a file has the wrong length or form. If node 0 never occurs, the ids probably count from 1.",
     NULL,
     NULL, 1},
    {"E0702", "a label out of range",
     "Labels run from 0 to classes - 1; -1 stands for a row without a label.",
     NULL,
     NULL, 1},
    {"W0703", "edges in one direction only",
     "Messages flow along edges, from source to destination. GCN, of which this is said, usually wants both directions: undirected = true.",
     NULL,
     NULL, 1},
    {"W0704", "nodes without in-edges",
     "A node without in-edges receives nothing, and sums over edges that are not those of a standard layer, which counts the node itself, too,\nmay leave it with zeros. self_loops = add gives each node its own value.",
     NULL,
     NULL, 1},
    {"E0705", "values that are not finite",
     "A field holds NaN or infinity; training would spread it to all weights.",
     NULL,
     NULL, 1},
    {"W0706", "columns of very different size",
     "Training is slow when one column is thousands of times larger than another: normalize = rows(x).",
     NULL,
     NULL, 1},
    {"E0707", "splits that overlap",
     "A row is in two of train, valid and test, so the test would measure what was trained on.",
     NULL,
     NULL, 1},
    {"E0708", "a declaration the data does not keep",
     "Declarations in a data block are promises checked against the files.",
     "data d from karate() { node x : f32[5] }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from karate() { node x : f32[f] }\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", 1},
    {"E0709", "data without files and without sizes",
     "To plan without files, nodes, edges and all field sizes must be declared.",
     "data d { node x : f32[8] }\n"
     "model m on d { return GCN(x, 4) as conv1 }\n",
     "data d {\n"
     "  nodes = 1_000\n"
     "  edges = 5_000\n"
     "  node x : f32[8]\n"
     "}\n"
     "model m on d { return GCN(x, 4) as conv1 }\n", 1},
    {"E0710", "an order that is not one of these nodes",
     "order = \"file\" names every node of the data once: a file of gnndata order, or a .npy file with the numbers of the nodes in their new\nplaces. What gnndata order wrote is good for the graph it was made for, with the same undirected and self_loops, and a program for\nthe order it was compiled with.",
     NULL,
     NULL, 1},
    {"R0801", "the machine offers less than the plan needs",
     "Said before anything is allocated. Plan again with a smaller --budget.",
     NULL,
     NULL, 3},
    {"R0802", "the data has another size than planned",
     "Every dimension must be at most the one that was planned for.",
     NULL,
     NULL, 1},
    {"R0803", "the loss is not a number",
     "A value overflowed. Smaller learning rates help; on the processor the message names the first\nvalue that is not finite, with its node and column, and the largest gradient of the epoch that ruined it; on a GPU the first weight.",
     NULL,
     NULL, 5},
    {"R0804", "weights that do not fit the model",
     "The file of weights has other names or shapes; the message compares them.",
     NULL,
     NULL, 1},
    {"R0805", "scratch space is full",
     "The SSD tier or the output directory has less room than needed.",
     NULL,
     NULL, 4},
    {"R0806", "damaged weights or a damaged checkpoint",
     "What was read does not match the checksums it was written with, or is no sound file at all; nothing was taken from it. Where a\ncheckpoint before it would be taken, the message names it: --resume=FILE goes on from there.",
     NULL,
     NULL, 4},
    {"R0807", "a checkpoint of other data",
     "Edges, features, labels or splits changed since the checkpoint was written. --data-changed=accept goes on with them,\nand from then on the training says so.",
     NULL,
     NULL, 1},
    {"R0808", "weights that are not finite",
     "A tensor of the file holds a NaN or an infinity. --nan=continue takes it as it is.",
     NULL,
     NULL, 5},
};

const DiagPage *diags_pages_machine(int *count) {
  *count = (int)(sizeof pages / sizeof *pages);
  return pages;
}
