/* diag_pages_syntax: the pages of messages about texts, names and calls (E00, E01, E02). The tests compile every program here. */
#include "diag_internal.h"

static const DiagPage pages[] = {
    {"E0001", "a file cannot be read",
     "The model, an import, a data file or a target file is missing, is a directory, a pipe or a device, or may not be read; or a data file was changed while it was being read. The message ends with what the system says. A model is read from a pipe by the name -.",
     NULL,
     NULL, .exit_code = 4, .why_none = "the file that would show it is not there."},
    {"E0100", "the text does not follow the grammar",
     "What was found cannot stand there. The message says what was expected, or after what the trouble begins; the cause is often a little to the left.",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = GCN(x, 4) as conv1 +\n"
     "  return h\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = GCN(x, 4) as conv1\n"
     "  return h\n"
     "}\n", .exit_code = 1},
    {"E0101", "a block is not closed",
     "A \"{\" has no \"}\" before the file ends or the next item begins. The indentation of the lines tells where it probably belongs.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, y.classes) as conv1\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0102", "unknown item",
     "At the outermost level a program holds import, const, option, data, layer, model, train, target and plan, nothing else.",
     "data d from karate()\n"
     "modle m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0103", "\"=\" is missing",
     "A setting, constant or variable and its value are joined by \"=\".",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs 10\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n", .exit_code = 1},
    {"E0104", "a keyword where a name belongs",
     "The 24 keywords cannot name anything: import const option data from layer model on train target plan param for in if else return over as and or not true false.",
     "data d from karate()\n"
     "model m on d {\n"
     "  in = 16\n"
     "  return GCN(x, in) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  width = 16\n"
     "  return GCN(x, width) as conv1\n"
     "}\n", .exit_code = 1},
    {"E0105", "\"else\" on a line of its own",
     "A newline ends a statement, so the \"else\" must follow its \"}\" on the same line.",
     "data d from karate()\n"
     "model m on d {\n"
     "  if y.classes > 2 {\n"
     "    k = 2\n"
     "  }\n"
     "  else {\n"
     "    k = 1\n"
     "  }\n"
     "  return GCN(x, k) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  if y.classes > 2 {\n"
     "    k = 2\n"
     "  } else {\n"
     "    k = 1\n"
     "  }\n"
     "  return GCN(x, k) as conv1\n"
     "}\n", .exit_code = 1},
    {"E0106", "this looks like Python",
     "The language reads like Python, but a model is a set of named values, not a class: no def, self, import torch or :=.",
     "data d from karate()\n"
     "model m on d {\n"
     "  self.conv1 = GCN(x, 16)\n"
     "  return x\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = GCN(x, 16) as conv1\n"
     "  return h\n"
     "}\n", .exit_code = 1},
    {"E0107", "a character without meaning",
     "Curly quotes, non-breaking spaces and full-width commas come from word processors and web pages; write the plain ones. Texts must be UTF-8, and strings have no control characters, \\n and \\t neither: they are names, paths and lines of help.",
     "data d from karate()\n"
     "option lr = 0.01 \342\200\234learning rate\342\200\235\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from karate()\n"
     "option lr = 0.01 \"learning rate\"\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0108", "unknown unit",
     "Units are B KB MB GB TB (powers of ten), KiB MiB GiB TiB (powers of two), with /s for speeds; ns us ms s min h; MFLOP/s GFLOP/s TFLOP/s; %. Gb is refused because it means bits to some and bytes to others.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "plan { budget device = 24Gb }\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "plan { budget device = 24GiB }\n", .exit_code = 1},
    {"E0109", "arguments or list elements are not separated",
     "Arguments are separated by commas and end with \")\".",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x 16) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, 16) as conv1\n"
     "}\n", .exit_code = 1},
    {"E0110", "not supported yet",
     "The grammar knows the construct, and its meaning comes with a later release. It is refused instead of ignored.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  precision = mixed(bf16)\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n", .exit_code = 1},
    {"E0111", "nested too deeply",
     "Expressions, blocks, layer calls and imports have a limit to their nesting, far beyond what people write. Give the parts names of their own.",
     NULL,
     NULL, .exit_code = 1, .why_none = "it would be pages of brackets."},
    {"E0112", "too much unrolling",
     "Loops are unrolled and layers expanded when the program is compiled; a loop runs at most 10,000 times and the whole may take 200,000 steps.",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x\n"
     "  for i in 1 .. 1000000 {\n"
     "    h = relu(h)\n"
     "  }\n"
     "  return h\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x\n"
     "  for i in 1 .. 10 {\n"
     "    h = relu(h)\n"
     "  }\n"
     "  return h\n"
     "}\n", .exit_code = 1},
    {"E0113", "a number out of range",
     "A constant is too large to be a number, or is computed as a division by zero or the logarithm of a negative number. Or the values of a\n"
     "model have more bytes than a process can address, 2^47: of so many nodes, edges and features.",
     "const a = 1 / 0\n"
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "const a = 1 / 2\n"
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0114", "a string is not closed",
     "A string ends on the line on which it begins. Write \\\" for a quote inside.",
     "data d from karate()\n"
     "option lr = 0.01 \"learning rate\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from karate()\n"
     "option lr = 0.01 \"learning rate\"\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0115", "a name too long",
     "A name has at most 255 characters; a weight's name is counted with the names of the layers it is in (\"conv1.lin.weight\").",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as c"
     "onvolutiononvolutiononvolutiononvolutiononvolutiononvolutiononvolutiononvolutiononvolutiononvolution"
     "onvolutiononvolutiononvolutiononvolutiononvolutiononvolutiononvolutiononvolutiononvolutiononvolution"
     "onvolutiononvolutiononvolutiononvolutiononvolutiononvolutiononvolution"
     " }\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as convolution }\n", .exit_code = 1},
    {"E0116", "a loop that runs backward",
     "Both ends of a loop are included, and it counts up. One that ends just before its beginning (1 .. n - 1 with n = 1) runs not at all, "
     "which may be meant; one that ends further down is not.",
     "const n = -5\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x\n"
     "  for i in 1 .. n {\n"
     "    h = relu(h)\n"
     "  }\n"
     "  return GCN(h, y.classes) as conv1\n"
     "}\n",
     "const n = 0\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x\n"
     "  for i in 1 .. n {\n"
     "    h = relu(h)\n"
     "  }\n"
     "  return GCN(h, y.classes) as conv1\n"
     "}\n", .exit_code = 1},
    {"E0201", "no such layer or function",
     "Layers come from the program or the standard library, functions are built in; gnncc --list layers and gnncc --list functions show them. Names of PyTorch Geometric are known and translated in the message.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCNCov(x, 16) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, 16) as conv1\n"
     "}\n", .exit_code = 1},
    {"E0202", "a name is not defined",
     "A name must be assigned before it is used; a layer sees its arguments, constants and options, but neither the fields of the data nor the variables of its caller.",
     "const hidden = 16\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, hiden) as conv1\n"
     "}\n",
     "const hidden = 16\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, hidden) as conv1\n"
     "}\n", .exit_code = 1},
    {"E0203", "no such field",
     "The data has no field of this name. The message lists those it has; other files can be added: node feat : f32[8] = npy(\"feat.npy\").",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(features, 16) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, 16) as conv1\n"
     "}\n", .exit_code = 1},
    {"E0204", "no such argument",
     "A layer, function or optimiser was given an argument that it does not have. The note shows the signature with its defaults.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, 16, use_bais = false) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, 16, use_bias = false) as conv1\n"
     "}\n", .exit_code = 1},
    {"E0205", "unknown loss, optimiser, metric, split, reducer or word of a layer",
     "These words are fixed; gnncc --list losses, metrics, optimizers shows them. The texts that a layer takes, as aggr = \"mean\", are those that its\nmessage names; a layer of yours chooses with one_of(aggr, \"mean\", \"max\").",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = amad(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n", .exit_code = 1},
    {"E0206", "a name for weights is taken",
     "\"as conv1\" names weights. The same name again means the same weights, which needs the same layer and the same shapes. A name used in a loop stands for a list of its own. "
     "What belongs to a checkpoint (best, opt, state) names no layer of a model.",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = GCN(x, 16) as conv1\n"
     "  return GCN(h, 16) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = GCN(x, 16) as conv1\n"
     "  return GCN(h, 16) as conv2\n"
     "}\n", .exit_code = 1},
    {"E0207", "no such target",
     "--target names a target block of the program or of the installed files, or is the path of a file.",
     NULL,
     NULL, .exit_code = 2, .why_none = "the command line names the target."},
    {"E0208", "an import was not found",
     "Imports are looked for beside the importing file, in the -I directories, in $GNNCC_PATH, and among the installed files.",
     "import \"target/a100.gnn\"\n"
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0209", "a wrong -D",
     "-D sets constants of the program. An option is set when the produced program runs: ./train --lr 0.005.",
     NULL,
     NULL, .exit_code = 2, .why_none = "-D stands on the command line."},
    {"E0210", "wrong number of arguments",
     "An argument is missing, given twice, or there are more than the layer or function has.",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x) as conv1\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  return GCN(x, 16) as conv1\n"
     "}\n", .exit_code = 1},
    {"E0211", "a name or call where it means nothing",
     "\"as\" names the weights of a layer call; |> leads into a call; a layer itself is not a value.",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x as conv1\n"
     "  return h\n"
     "}\n",
     "data d from karate()\n"
     "model m on d {\n"
     "  h = GCN(x, 16) as conv1\n"
     "  return h\n"
     "}\n", .exit_code = 1},
    {"E0212", "defined twice",
     "Constants and options share their names; data, layers, models, targets and settings have one definition each.",
     "const k = 1\n"
     "const k = 2\n"
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "const k = 1\n"
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0213", "a layer calls itself",
     "Layers are expanded where they are called, so none can contain itself. Use a loop.",
     "layer L(x) { return L(x) }\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  return L(x)\n"
     "}\n",
     "layer L(x) { return relu(x) }\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  return L(x)\n"
     "}\n", .exit_code = 1},
    {"E0214", "a constant is defined by itself",
     "The value of a constant may use other constants, in any order, but not itself.",
     "const a = b + 1\n"
     "const b = a + 1\n"
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "const a = 2\n"
     "const b = a + 1\n"
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0215", "the wrong kind of value",
     "A number, a text, true or false, an initialiser or a value of the data stands where another kind belongs, or a number is smaller than a layer\ncan use, as in MLP(x, 16, 4, depth = 0).",
     "const k = 1 + \"two\"\n"
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "const k = 1 + 2\n"
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0216", "unknown source or field type",
     "Sources are karate(), synth(...), npy(\"dir\"), safetensors(\"f\"), planetoid(\"dir\"), tu(\"dir\") or the name of a file; types of fields are f32[...], f16[...], bf16[...], f64[...],\ni32, i64, onehot[...], class[...], multilabel[...] and learned[...].",
     "data d from karatee()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"E0217", "unknown setting",
     "A data, train, target or plan block has no setting of this name, or it takes another kind of value.",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "  epoch = 3\n"
     "}\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n"
     "train m {\n"
     "  loss = cross_entropy(out, y)\n"
     "  optimizer = adam(lr = 0.01)\n"
     "  epochs = 10\n"
     "}\n", .exit_code = 1},
    {"E0218", "a model, its data or its train block do not belong together",
     "A program has one model; \"on\" names its data, and the train block has the name of the model.",
     "data d from karate()\n"
     "model m on e { return GCN(x, y.classes) as conv1 }\n",
     "data d from karate()\n"
     "model m on d { return GCN(x, y.classes) as conv1 }\n", .exit_code = 1},
    {"W0219", "a name that nothing uses",
     "A constant, an option, a layer, an argument or a value of the main file is not used. An option that nothing uses changes nothing when it is given to the program.\nThis warning is in the group -Wextra.",
     "option lr = 0.01\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x |> GCN(16) as conv1 |> relu\n"
     "  return x |> GCN(y.classes) as conv2\n"
     "}\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = 0.1); epochs = 10 }\n",
     "option lr = 0.01\n"
     "data d from karate()\n"
     "model m on d {\n"
     "  h = x |> GCN(16) as conv1 |> relu\n"
     "  return h |> GCN(y.classes) as conv2\n"
     "}\n"
     "train m { loss = cross_entropy(out, y); optimizer = adam(lr = lr); epochs = 10 }\n", .exit_code = 1},
};

const DiagPage *diags_pages_syntax(int *count) {
  *count = (int)(sizeof pages / sizeof *pages);
  return pages;
}
