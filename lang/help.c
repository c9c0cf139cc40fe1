/* help: what gnncc --help=NAME says of a name of the language: its kind, how it is written, what it means. */
#include <string.h>

#include "check.h"
#include "syntax.h"

/* Settings and the words that are their values. */
static const struct Word {
  const char *name, *kind, *form, *help;
} words[] = {
    {"loss", "train setting", "loss = cross_entropy(out, y)", "what is made small; gnncc --list losses"},
    {"optimizer", "train setting", "optimizer = adam(lr = 0.01)", "how; gnncc --list optimizers"},
    {"clip", "train setting", "clip = norm(1.0) or clip = value(0.5)", "gradients are cut before each step"},
    {"norm", "value of clip", "clip = norm(1.0)", "all gradients together are made no longer than that"},
    {"value", "value of clip", "clip = value(0.5)", "each number of the gradients is brought between -0.5 and 0.5"},
    {"epochs", "train setting", "epochs = 200", "how long"},
    {"runs", "train setting", "runs = 10", "trainings one after another, run r with seed + r; with folds as many as there are"},
    {"seed", "train setting", "seed = 0", "of the first run"},
    {"metric", "train setting", "metric = [accuracy, macro_f1]", "what is measured beside the loss; gnncc --list metrics"},
    {"evaluate", "train setting", "evaluate = every(5)", "in which epochs is measured"},
    {"every", "value of evaluate and checkpoint", "every(n)", "each nth epoch"},
    {"keep", "train setting", "keep = best(valid.accuracy)", "which weights are kept"},
    {"best", "value of keep", "keep = best(valid.accuracy)", "the weights of the epoch at which a measure is best: the largest or the smallest as it wants"},
    {"stop", "train setting", "stop = patience(valid.loss, 100)", "when training ends early"},
    {"patience", "value of stop", "stop = patience(valid.loss, n)", "ends training after n evaluations in a row without improvement"},
    {"checkpoint", "train setting", "checkpoint = every(10)", "when what --resume needs is written"},
    {"show", "train setting", "show = [train, valid, test]", "the splits of which numbers are printed"},
    {"report", "train setting", "report = mean_over_folds", "what is printed of all folds together"},
    {"mean_over_folds", "value of report", "report = mean_over_folds", "the epoch at which the mean over the folds' test curves is best (Xu et al. 2019)"},
    {"batch", "train setting", "batch = graphs(32, shuffle = true)", "an epoch is a step for each batch"},
    {"graphs", "value of batch", "batch = graphs(n, shuffle = true)", "batches of n whole graphs; in a data block, how many graphs there are"},
    {"accumulate", "train setting", "accumulate = 4", "one step for the mean of the gradients of so many epochs or batches"},
    {"approximate", "train setting", "approximate { boundary = stale(1) }", "what changes results is asked for by name"},
    {"boundary", "setting of approximate", "boundary = stale(1), stale(1, smooth = 0.95) or sample(0.1)", "of programs of several ranks: the rows of others that sums over neighbours gather"},
    {"stale", "value of boundary", "boundary = stale(1, smooth = 0.95)", "rows of others, and their gradients, are those of the epoch before, or averages of these (PipeGCN, Wan et al. 2022)"},
    {"sample", "value of boundary", "boundary = sample(0.1)", "a share of the rows of others, drawn anew in each epoch and scaled (BNS-GCN, Wan et al. 2022)"},
    {"group", "train setting", "group \"conv2.*\" { weight_decay = 0 }", "other hyper-parameters for the weights whose names match"},
    {"train", "split", "train", "the rows that weights are trained on"},
    {"valid", "split", "valid", "the rows by which epochs are chosen and training ends"},
    {"test", "split", "test", "the rows that nothing is chosen by"},
    {"normalize", "data setting", "normalize = rows(x)", "rows scaled to sum 1; several as a list"},
    {"rows", "value of normalize", "normalize = rows(x)", "each row of a field scaled to sum 1"},
    {"self_loops", "data setting", "self_loops = keep, add or remove", "add gives every node exactly the loop that it lacks"},
    {"undirected", "data setting", "undirected = true", "the reverse of every edge is stored, too, each edge once"},
    {"split", "data setting", "split = random(0.6, 0.2, 0.2, seed = 0)", "which rows are train, valid and test: random, folds, index or public"},
    {"random", "value of split", "split = random(train, valid, test, seed = s)", "shares of the labelled rows"},
    {"folds", "value of split", "split = folds(n, seed = s, valid = true)", "n equal parts, each the test of one run; folds alone: those that the data bring"},
    {"index", "value of split", "split = index(k)", "the kth stored split"},
    {"public", "value of split", "split = public", "the split that the data have"},
    {"order", "data setting", "order = given, nested or \"file\"", "in which order the nodes are worked through"},
    {"nodes", "data setting", "nodes = 2708; nodes paper : count[200]", "a promise, or the size where there are no files; a type of nodes"},
    {"edges", "data setting", "edges = 10556", "a promise, or the number where there are no files"},
    {"relation", "data declaration", "relation writes : author -> paper", "edges from one type of nodes to another"},
    {"reverse", "data setting", "reverse = all or [writes]", "relations that there are the other way round, too, as rev_writes"},
    {"pairs", "data declaration", "pairs links : label[1] = split_edges(valid = 0.05, test = 0.1)", "edges to predict, and pairs that are none"},
    {"split_edges", "value of pairs", "split_edges(valid, test, negatives = uniform(1), resample = epoch)", "edges held out of the graph, each with its negatives"},
    {"stored", "value of pairs", "stored(negatives = uniform(1), resample = epoch)", "pairs that the data bring, as RandomLinkSplit makes them"},
    {"learned", "type of a field", "node e : learned[64]", "weights with a row for each node"},
    {"onehot", "type of a field", "node x : onehot[7]", "one whole number a row, as seven columns with one 1"},
    {"multilabel", "type of a field", "node y : multilabel[7]", "0 and 1, labels for bce"},
    {"class", "type of a field", "node y : class[7]", "whole numbers from 0, -1 for none"},
    {"karate", "source of data", "karate()", "the karate club, built in"},
    {"synth", "source of data", "synth(kind = \"rmat\", nodes = 1000, degree = 8, features = 16, classes = 4, seed = 1)", "a generated graph"},
    {"npy", "source of data", "npy(\"folder\")", "a folder of .npy arrays"},
    {"safetensors", "source of data", "safetensors(\"file\")", "the container of gnndata"},
    {"planetoid", "source of data", "planetoid(\"folder\")", "cora.content and cora.cites"},
    {"tu", "source of data", "tu(\"folder/NAME\")", "a set of graphs as text of the TU collection"},
    {"edges", "source of data", "edges(\"web.txt\", base = 0, nodes = 1000)", "a list of edges, text or a .npy array"},
    {"over", "word of expressions", "SAGE(a, p, 64) over writes", "the edges that a call is about"},
    {"as", "word of expressions", "GCN(x, 16) as conv1", "what its weights are called"},
    {"in_degree", "value", "in_degree", "of each node, the edges that end there"},
    {"out_degree", "value", "out_degree", "of each node, the edges that begin there"},
    {"has_self_loops", "value", "has_self_loops", "true where the data block says self_loops = add"},
    {"has_graphs", "value", "has_graphs", "true where the data are a set of graphs"},
    {"relations", "value", "relations", "how many there are"},
    {"glorot", "initialiser", "param w : [out, f] = glorot", "uniform, bound sqrt(6 / (in + out)) (Glorot & Bengio 2010)"},
    {"kaiming_uniform", "initialiser", "param w : [out, f] = kaiming_uniform", "uniform, bound 1 / sqrt(in), as PyTorch's Linear"},
    {"ones", "initialiser", "param w : [f] = ones", "all 1"},
};

enum { WORD_COUNT = sizeof words / sizeof *words };

static void say(FILE *out, const char *kind, const char *form, const char *help) {
  if (out) fprintf(out, "%s: %s\n", kind, form);
  if (out && *help) fprintf(out, "    %s\n", help);
}

/* All of that name, for a word can be of several kinds: linear, a schedule; norm. */
bool lang_help(Arena *arena, const char *name, FILE *out) {
  int count = 0;
  for (int i = 0; check_function_name(i); i++)
    if (strcmp(check_function_name(i), name) == 0) say(out, "function", check_function_signature(arena, i), check_function_help(i)), count++;
  for (int i = 0; i < GNN_LOSS_COUNT; i++) {
    if (strcmp(loss_names[i], name) != 0) continue;
    const char *colon = strstr(loss_helps[i], ": ");
    if (colon) say(out, "loss", arena_strndup(arena, loss_helps[i], (size_t)(colon - loss_helps[i])), colon + 2);
    else say(out, "loss", name, loss_helps[i]);
    count++;
  }
  for (int i = 0; i < GNN_METRIC_COUNT; i++)
    if (strcmp(metric_names[i], name) == 0) say(out, "metric", strcmp(name, "hits") == 0 ? "hits(k)" : name, metric_helps[i]), count++;
  if (strcmp(name, "confusion") == 0) say(out, "metric", name, "a table that eval prints: how many rows of each class were taken for which"), count++;
  for (int i = 0; i < OPTIMIZER_COUNT; i++)
    if (strcmp(optimizer_info[i].name, name) == 0) say(out, "optimizer", optimizer_info[i].signature, ""), count++;
  for (int i = 0; i < SCHEDULE_COUNT; i++)
    if (strcmp(schedule_info[i].name, name) == 0) say(out, "schedule", schedule_info[i].signature, arena_printf(arena, "lr = %s", schedule_info[i].help)), count++;
  if (strcmp(name, "warmup") == 0) say(out, "schedule", "warmup(epochs, schedule)", "lr = a line up to what the schedule begins with, then the schedule"), count++;
  for (int i = 0; i < WORD_COUNT; i++)
    if (strcmp(words[i].name, name) == 0) say(out, words[i].kind, words[i].form, words[i].help), count++;
  return count > 0;
}

static void offer_layers(Arena *arena, const LangOptions *options, const char *path, void *user) {
  const Ast *ast = syntax_parse_quietly(arena, options, path);
  for (int i = 0; i < ast->item_count; i++)
    if (ast->items[i]->kind == ITEM_LAYER) suggest_offer(user, ast->items[i]->name);
}

const char *lang_alias(const char *name) {
  const char *ours = known_alias_of(name);
  return ours && known_is_name(ours) ? ours : NULL;
}

void lang_help_offer(Arena *arena, const LangOptions *options, Suggest *suggest) {
  syntax_each_shared(arena, options, "std", offer_layers, suggest);
  for (int i = 0; check_function_name(i); i++) suggest_offer(suggest, check_function_name(i));
  for (int i = 0; i < GNN_LOSS_COUNT; i++) suggest_offer(suggest, loss_names[i]);
  for (int i = 0; i < GNN_METRIC_COUNT; i++) suggest_offer(suggest, metric_names[i]);
  suggest_offer(suggest, "confusion");
  for (int i = 0; i < OPTIMIZER_COUNT; i++) suggest_offer(suggest, optimizer_names[i]);
  for (int i = 0; i < SCHEDULE_COUNT; i++) suggest_offer(suggest, schedule_names[i]);
  suggest_offer(suggest, "warmup");
  for (int i = 0; i < WORD_COUNT; i++) suggest_offer(suggest, words[i].name);
}
