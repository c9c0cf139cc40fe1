/* generate SEED FOLDER [TIMES]: a random program that the checker accepts, with data (of TIMES as many nodes), and how it is to be compiled and run.
 *
 * FOLDER gets p.gnn, the files that it reads, and `how`, a few lines of shell: `both` holds options of gnncc for every plan,
 * `other` those of a second plan, `share` the percentage of the memory that keeping everything takes which that plan is
 * allowed on the device, `run` options of the programs, `reference` those of tests/reference where that knows the model. */
#include "lang/arena.h"
#include "runtime/data/npy.h"
#include "tests/planner/generate.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 256, SIZES_MAX = 12, EPOCHS = 3 };

typedef enum Where { ON_NODES, ON_EDGES } Where;

typedef struct Named {
  const char *name;
  Where where;
  int size;
} Named;

/* What a layer or the model may use. Sizes are equal when their texts are. */
typedef struct Scope {
  const char *sizes[SIZES_MAX];
  int size_count;
  Named values[VALUES_MAX], layers[VALUES_MAX]; /* layers: weights to be used again, by the size that they take */
  int value_count, layer_count;
  bool is_model;
} Scope;

typedef struct Writer {
  Arena *arena;
  uint64_t random;
  FILE *out;
  const char *folder;
  Scope scope;
  int names, own_layers, loops, times;
  bool has_edge_fields;
} Writer;

#define TEXT(...) arena_printf(w->arena, __VA_ARGS__)
#define ONE_OF(table) ((table)[below(w, (int)(sizeof(table) / sizeof *(table)))])

static int below(Writer *w, int n) { return generate_below(&w->random, n); }
static int between(Writer *w, int low, int high) { return low + below(w, high - low + 1); }
static bool chance(Writer *w, int percent) { return below(w, 100) < percent; }

static FILE *create(Writer *w, const char *name) {
  const char *path = TEXT("%s/%s", w->folder, name);
  FILE *file = fopen(path, "w");
  if (!file) perror(path), exit(4);
  return file;
}

/* ---- expressions: texts in which $ stands for something of the scope ---- */

static const char *const same_on_nodes[] = {
    "relu($a)", "gelu($a)", "silu($a)", "softplus($a)", "tanh($a)", "sigmoid($a) * $b", "leaky_relu($a, 0.2)", "$a |> elu(alpha = 0.5)",
    "exp(-abs($a))", "log(abs($a) + 1)", "sqrt(abs($a) + 0.01)", "rsqrt($a * $a + 1)", "(1 + $a ^ 2) ^ 0.5", "$a + $b", "$a - $k * $b", "-$a / (1 + $k)",
    "max($a, $b)", "min($a, $k)", "max(tanh($a), y = 0)", "dropout($a, $p)", "$a |> dropout(p = $p) |> relu", "$a |> dropout", "tanh($a) * tanh($b)",
    "mean(src.$a)", "(sum(src.$a) + $b) / (in_degree + 1)", "rsqrt(out_degree + 1) * $a", "tanh(sum(src.$a * dst.$b) / (in_degree + 1))",
    "mean(relu(dst.$a - src.$b), to = src)", "max(src.$a)", "max(relu(dst.$a - src.$b), to = src)", "mean(sigmoid(dot(dst.$a, src.$b)) * src.$a)", "sum(dropout(src.$a, $p)) / (1 + in_degree)",
    "$a - mean($a, axis = -1)", "$a + sum($a * $b, axis = -1) / 8", "depth > 1 and not deep or false ? $a : $b", "$a + squeeze(zeros(node, $w, 1))",
    "flatten($a) * $k", "$a |> Norm()", "Norm($a) as $l", "$a |> Mix() as $l", "(has_self_loops ? $a : $b) + $a", "Blend($a, $b)",
    "$a - max($b, axis = node)", "$a + logsumexp($b, axis = rows) * 0.1", "tanh($a) * softmax($b, to = graph) * 100", "$a |> graph_norm as $l", "$a |> Pool() as $l",
};
static const char *const same_on_edges[] = {"relu($a)", "tanh($a) * $b", "$a + $b", "dropout($a, $p)", "exp(-abs($a)) - $k", "max($a, $b)", "Linear($a, $w)", "Blend($a, $b)"};
static const char *const nodes_to_edges[] = {"src.$a", "src.$a - dst.$b", "relu(src.$a + dst.$b)", "src.$a * dst.$b over edges", "dropout(tanh(dst.$a), $p)",
                                             "sigmoid(dot(src.$a, dst.$b)) * src.$a", "zeros(edge, $w) + src.$a", "tanh(src.$a) / (1 + abs(dst.$b))"};
static const char *const edges_to_nodes[] = {"sum($a) / (in_degree + 1)", "mean($a)", "sum($a, to = src) / (out_degree + 1)", "mean(tanh($a * $b), to = dst)", "mean(x = $a, to = src)", "max($a)", "max(tanh($a), to = src)", "min($a) / 2"};
static const char *const other_size[] = { /* on nodes; $l names the weights, which may be used again if they take one value */
    "Linear($a, $w) as $l", "$a |> Linear(out = $w, bias = false)", "$a |> GCN($w) as $l |> relu", "GCN($a, $w, use_bias = false)", "SAGE($a, $w) as $l",
    "$a |> SAGE($w, bias = false) |> relu", "GraphConv($a, $w) as $l", "$a |> GIN($w, eps = 0.25, train_eps = true)", "tanh(GIN($a, $w) as $l)",
    "$a |> MLP($v, $w) as $l", "MLP($a, hidden = $v, out = $w, depth = depth)", "$a |> dropout($p) |> GCN($w) as $l", "Message($a, $w) as $l",
    "(Attend($a, 4, heads = 2) as $l) |> Linear($w)", "$a |> Additive($v, heads = 3) |> tanh |> Linear($w)", "$a |> Outer($w) as $l", "Twice($a, $v, $w)",
};
static const char *const inits[] = {"", " = zeros", " = ones", " = glorot", " = kaiming_uniform", " = constant(0.3)", " = uniform(0.2)", " = uniform(1 / sqrt(8))", " = normal(0.1)", " = fixed(0.5)", " = 0.1"};

/* Layers that random statements do not come to: values of two dimensions, sums over a dimension by its name, layers of layers. */
static const char library[] =
    "layer Norm(x : node[f]) {\n  param gain : [f] = ones\n  d = x - mean(x, axis = f)\n  v = mean(d * d, axis = f)\n  return d * rsqrt(v + 0.01) * gain\n}\n"
    "layer Mix(x : any[f]) {\n  param p : [f] = uniform(0.5)\n  param c : [] = constant(0.7)\n  return silu(x * p) + tanh(x) * sigmoid(p * x) / (2 + c * c)\n}\n"
    "layer Blend(u, v) { return u * 0.5 + v * 0.5 }\n"
    "layer Message(x : node[f], out) {\n  \"A product with values of edges.\"\n  param W : [f, out]\n  m = tanh(src.x + dst.x) @ W\n  return mean(m)\n}\n"
    "layer Attend(x : node[f], out, heads = 2) {\n  param W_q : [f, heads, out] = glorot\n  param W_k : [f, heads, out] = glorot\n  q = x @ W_q\n"
    "  k = x @ W_k\n  e = sigmoid(dot(dst.q, src.k) * 0.5)\n  return flatten(mean(dropout(e, 0.1) * src.q))\n}\n"
    "layer Additive(x : node[f], out, heads) {\n  param W : [f, heads, out]\n  param a : [heads, out]\n  param b : [heads, out]\n  z = x @ W\n  s = dot(z, a)\n  t = dot(z, b)\n"
    "  e = exp(tanh(leaky_relu(src.s + dst.t, 0.2)))\n  n = sum(e)\n  h = sum(e * src.z) / (n + 1)\n  return heads > 1 ? mean(h, axis = heads) : flatten(h)\n}\n"
    "layer Outer(x : node[f], out) {\n  param W : [f, out] = glorot\n  param U : [out, f]\n  return (x @ W) * rsqrt(in_degree + 1) + dot(x, U)\n}\n"
    "layer Pool(x : node[f]) {\n  p = attention(x)\n  q = min(x, to = graph)\n  r = tanh(Linear(p, f) + max(x, to = graph))\n  return x * 0.5 + tanh(graph.r) - graph.q * 0.1\n}\n"
    "layer Twice(x : node[f], hidden, out) {\n  h = x |> Linear(hidden) as first |> relu |> SAGE(hidden) as conv\n  return conv(h) |> Linear(out) as last\n}\n";

static const Named *pick(Writer *w, const Named *from, int count, Where where, int size) {
  const Named *found = NULL; /* rather one of the last, so that what is computed is used */
  for (int i = 0; i < count; i++)
    if (from[i].where == where && (size < 0 || from[i].size == size) && (!found || below(w, 3) > 0)) found = &from[i];
  return found;
}

static const Named *some_value(Writer *w, Where where, int size) { return pick(w, w->scope.values, w->scope.value_count, where, size); }
static const char *fresh(Writer *w, const char *stem) { return TEXT("%s%d", stem, ++w->names); }
static void know(Writer *w, const char *name, Where where, int size) { w->scope.values[w->scope.value_count++] = (Named){name, where, size}; }

/* The form with values of `size` for $a and $b, and the text of the size `to` for $w. */
static const char *fill(Writer *w, const char *form, Where where, int size, int to) {
  const Scope *scope = &w->scope;
  const char *text = "";
  for (const char *c = form; *c; c++) {
    if (*c != '$') {
      text = TEXT("%s%c", text, *c);
      continue;
    }
    switch (*++c) {
    case 'a': case 'b': text = TEXT("%s%s", text, some_value(w, where, size)->name); break;
    case 'w': text = TEXT("%s%s", text, scope->sizes[to]); break;
    case 'v': text = TEXT("%s%s", text, scope->sizes[below(w, scope->size_count)]); break;
    case 'p': text = TEXT("%s%s", text, chance(w, 30) ? "drop" : !scope->is_model && chance(w, 30) ? "p" : chance(w, 10) ? "0" : TEXT("0.%d", between(w, 1, 6))); break;
    case 'k': text = TEXT("%s%s", text, chance(w, 30) ? "scale" : TEXT("%d.%d", below(w, 2), between(w, 1, 9))); break;
    case 'l': {
      const char *name = fresh(w, "layer");
      text = TEXT("%s%s", text, name);
      bool takes_one_value = c[1] == 0 && w->loops == 0;
      if (takes_one_value) w->scope.layers[w->scope.layer_count++] = (Named){name, (Where)to, size};
      break;
    }
    }
  }
  return text;
}

/* ---- statements ---- */

static void line(Writer *w, int indent, const char *text) { fprintf(w->out, "%*s%s\n", indent, "", text); }

/* A name for a result: a new one, with its type now and then, or one of the same size again. */
static void assign(Writer *w, int indent, Where where, int size, const char *expr) {
  const Named *again = chance(w, 25) || indent > 2 ? some_value(w, where, size) : NULL;
  if (again && strchr("hm", again->name[0])) { /* no field, no argument */
    line(w, indent, TEXT("%s = %s", again->name, expr));
    return;
  }
  const char *name = fresh(w, where == ON_EDGES ? "m" : "h");
  bool is_typed = chance(w, 10);
  line(w, indent, is_typed ? TEXT("%s : %s[%s] = %s", name, where == ON_EDGES ? "edge" : "node", w->scope.sizes[size], expr) : TEXT("%s = %s", name, expr));
  know(w, name, where, size);
}

static void statements(Writer *w, int indent, int count);

static void block(Writer *w, int indent, const char *head, int count) {
  int known = w->scope.value_count, reusable = w->scope.layer_count;
  line(w, indent, TEXT("%s {", head));
  statements(w, indent + 2, count);
  line(w, indent, "}");
  w->scope.value_count = known; /* what a condition or a loop makes may not be there behind it */
  w->scope.layer_count = reusable;
}

static void use_parameter(Writer *w, int indent) {
  const Named *value = some_value(w, ON_NODES, -1);
  const char *name = fresh(w, "param"), *size = w->scope.sizes[value->size], *init = ONE_OF(inits);
  int to = below(w, w->scope.size_count);
  switch (below(w, 4)) {
  case 0:
    line(w, indent, TEXT("param %s : [%s]%s", name, size, init));
    assign(w, indent, ON_NODES, value->size, TEXT("%s * %s + %s", value->name, name, name));
    break;
  case 1:
    line(w, indent, TEXT("param %s : []%s", name, init));
    assign(w, indent, ON_NODES, value->size, TEXT("tanh(%s * %s)", value->name, name));
    break;
  case 2:
    line(w, indent, TEXT("param %s : [%s, %s]%s", name, size, w->scope.sizes[to], init));
    assign(w, indent, ON_NODES, to, TEXT("tanh(%s @ %s)", value->name, name));
    break;
  case 3:
    line(w, indent, TEXT("param %s : [%s, %s]%s", name, w->scope.sizes[to], size, init));
    assign(w, indent, ON_NODES, to, TEXT("relu(dot(%s, %s))", value->name, name));
    break;
  }
}

static const char *resized(Writer *w, const Named *value, int to) {
  if (w->own_layers > 0 && chance(w, 20)) return fill(w, TEXT("%s |> Own%d($w)", value->name, between(w, 1, w->own_layers)), ON_NODES, value->size, to);
  return fill(w, ONE_OF(other_size), ON_NODES, value->size, to);
}

static void statement(Writer *w, int indent) {
  Scope *scope = &w->scope;
  const Named *value = some_value(w, ON_NODES, -1), *edges = some_value(w, ON_EDGES, -1);
  int to = below(w, scope->size_count), size = value->size, kind = below(w, 100);
  if (kind < 35) {
    assign(w, indent, ON_NODES, size, fill(w, ONE_OF(same_on_nodes), ON_NODES, size, size));
  } else if (kind < 60) {
    assign(w, indent, ON_NODES, to, resized(w, value, to));
  } else if (kind < 70) {
    const char *form = scope->is_model && w->has_edge_fields && chance(w, 60) ? "edge_w * src.$a" : ONE_OF(nodes_to_edges);
    assign(w, indent, ON_EDGES, size, fill(w, form, ON_NODES, size, size));
  } else if (kind < 78) {
    if (edges) assign(w, indent, ON_EDGES, edges->size, fill(w, ONE_OF(same_on_edges), ON_EDGES, edges->size, edges->size));
  } else if (kind < 86) {
    if (edges) assign(w, indent, ON_NODES, edges->size, fill(w, ONE_OF(edges_to_nodes), ON_EDGES, edges->size, edges->size));
  } else if (kind < 90) {
    if (w->loops == 0 && indent == 2) use_parameter(w, indent);
  } else if (kind < 94) {
    const Named *layer = scope->layer_count > 0 ? &scope->layers[below(w, scope->layer_count)] : NULL;
    if (layer && w->loops == 0) assign(w, indent, ON_NODES, (int)layer->where, TEXT("%s(%s)", layer->name, some_value(w, ON_NODES, layer->size)->name));
  } else if (kind < 97 && indent < 6) {
    w->loops++;
    block(w, indent, TEXT("for i%d in %d .. %s", w->loops, below(w, 2), chance(w, 50) ? "depth" : "2"), between(w, 1, 3));
    w->loops--;
  } else if (indent < 6) {
    block(w, indent, TEXT("if %s", w->loops ? TEXT("i%d < depth", w->loops) : "deep"), between(w, 1, 2));
    if (chance(w, 50)) fseek(w->out, -1, SEEK_CUR), block(w, indent, " else", 1);
  }
}

static void statements(Writer *w, int indent, int count) {
  for (int i = 0; i < count; i++) {
    long before = ftell(w->out);
    while (ftell(w->out) == before) statement(w, indent);
  }
}

static void own_layer(Writer *w) {
  w->scope = (Scope){.sizes = {"f", "out", "6"}, .size_count = 3};
  know(w, "x", ON_NODES, 0);
  line(w, 0, TEXT("layer Own%d(x : node[f], out, p = 0.2) {", w->own_layers + 1));
  statements(w, 2, between(w, 1, 5));
  line(w, 2, TEXT("return %s", resized(w, some_value(w, ON_NODES, -1), 1)));
  line(w, 0, "}");
  w->own_layers++;
}

/* ---- data ---- */

static void write_array(Writer *w, const char *name, gnn_dtype dtype, int64_t rows, int64_t columns, const void *data) {
  gnn_array array = {.dtype = dtype, .rank = columns ? 2 : 1, .shape = {rows, columns}, .count = rows * (columns ? columns : 1), .data = data};
  gnn_error error;
  if (gnn_npy_write(TEXT("%s/data/%s.npy", w->folder, name), &array, &error) != GNN_OK) fprintf(stderr, "%s\n", error.message), exit(4);
}

typedef struct Graph {
  int64_t nodes, features, classes, edge_count, *edges; /* the sources, then the destinations */
  float *x;
  int64_t *y;
} Graph;

/* No loops, no edge twice, so that a layer of ours and one of the reference see the same edges. */
static Graph random_graph(Writer *w) {
  Graph g = {.nodes = w->times * between(w, 12, 60), .features = between(w, 2, 20), .classes = between(w, 2, 5)};
  g.edges = arena_alloc(w->arena, (size_t)(g.nodes * g.nodes) * 2 * sizeof *g.edges);
  g.x = arena_alloc(w->arena, (size_t)(g.nodes * g.features) * sizeof *g.x);
  g.y = arena_alloc(w->arena, (size_t)g.nodes * sizeof *g.y);
  int degree = between(w, 1, 6);
  const uint64_t start = w->random;
  for (int pass = 0; pass < 2; pass++) {
    uint64_t drawn = start;
    int64_t at = 0;
    for (int64_t u = 0; u < g.nodes; u++)
      for (int64_t v = 0; v < g.nodes; v++) {
        if (u == v || generate_below(&drawn, (int)g.nodes) >= degree) continue;
        if (pass) g.edges[at] = u, g.edges[g.edge_count + at] = v;
        at++;
      }
    g.edge_count = at;
  }
  for (int64_t i = 0; i < g.nodes * g.features; i++) g.x[i] = (float)below(w, 1000) / 1000;
  for (int64_t v = 0; v < g.nodes; v++) g.y[v] = v < g.classes ? v : below(w, (int)g.classes);
  return g;
}

static void write_folder(Writer *w, const Graph *g) {
  static const char *const masks[] = {"train_mask", "val_mask", "test_mask"};
  unsigned char *mask = arena_alloc(w->arena, (size_t)g->nodes);
  float *field = arena_alloc(w->arena, (size_t)g->edge_count * 3 * sizeof *field);
  write_array(w, "edge_index", GNN_I64, 2, g->edge_count, g->edges);
  write_array(w, "x", GNN_F32, g->nodes, g->features, g->x);
  write_array(w, "y", GNN_I64, g->nodes, 0, g->y);
  for (int s = 0; s < 3; s++) {
    for (int64_t v = 0; v < g->nodes; v++) mask[v] = (v % 5 < 3 ? 0 : v % 5 - 2) == s;
    write_array(w, masks[s], GNN_U8, g->nodes, 0, mask);
  }
  if (!w->has_edge_fields) return;
  for (int64_t e = 0; e < 3 * g->edge_count; e++) field[e] = (float)below(w, 1000) / 500 - 1;
  write_array(w, "edge_w", GNN_F32, g->edge_count, 0, field);
  write_array(w, "edge_v", GNN_F32, g->edge_count, 3, field);
}

static void write_planetoid(Writer *w, const Graph *g) {
  FILE *content = create(w, "data/cora.content"), *cites = create(w, "data/cora.cites");
  for (int64_t v = 0; v < g->nodes; v++) {
    fprintf(content, "paper%d", (int)v);
    for (int64_t f = 0; f < g->features; f++) fprintf(content, "\t%d", g->x[v * g->features + f] > 0.5f);
    fprintf(content, "\tclass%d\n", (int)g->y[v]);
  }
  for (int64_t e = 0; e < g->edge_count; e++) fprintf(cites, "paper%d\tpaper%d\n", (int)g->edges[e], (int)g->edges[g->edge_count + e]);
  fclose(content), fclose(cites);
}

/* The data block. What x is as wide as becomes the first size. */
static void data(Writer *w, FILE *how, bool is_plain) {
  static const char *const kinds[] = {"sbm", "rmat", "er", "grid"}, *const loops[] = {"keep", "add", "remove"};
  int source = is_plain ? 2 : below(w, 6);
  int64_t features = 34, classes = 4;
  const char *text = "karate()";
  bool has_split = true;
  if (source == 1) {
    features = between(w, 1, 40), classes = between(w, 2, 7);
    text = TEXT("synth(%s\"%s\", nodes = %d, degree = %d.5, features = %d, classes = %d, seed = %d%s)", chance(w, 50) ? "kind = " : "", ONE_OF(kinds),
                w->times * between(w, 30, 500), below(w, 8), (int)features, (int)classes, below(w, 1000), chance(w, 30) ? ", sparse = true" : "");
  } else if (source > 1) {
    Graph g = random_graph(w);
    features = g.features, classes = g.classes;
    w->has_edge_fields = !is_plain && source < 5 && chance(w, 60);
    has_split = source < 5;
    if (source == 5) write_planetoid(w, &g);
    else write_folder(w, &g);
    if (source == 4) fprintf(how, "convert=1\n");
    text = source == 5 ? "planetoid(\"data\")" : source == 4 ? chance(w, 50) ? "\"data.safetensors\"" : "safetensors(\"data.safetensors\")" : chance(w, 50) ? "npy(\"data\")" : "\"data\"";
  }
  line(w, 0, TEXT("data d from %s {", text));
  bool is_named = chance(w, 60) || features == 1; /* a field of one number a node has no dimension, unless it is declared */
  if (is_named) line(w, 2, "node x : f32[feats]");
  if (chance(w, 50)) line(w, 2, TEXT("node y : class%s", chance(w, 50) ? TEXT("[%d]", (int)classes) : chance(w, 50) ? "[kinds]" : ""));
  if (w->has_edge_fields && chance(w, 50)) line(w, 2, "edge edge_w : f32; edge edge_v : f32[3]");
  if (!has_split || (!is_plain && chance(w, 30))) line(w, 2, TEXT("split = random(0.5, 0.25, 0.2, seed = %d)", below(w, 9)));
  else if (chance(w, 20)) line(w, 2, "split = public");
  if (!is_plain && source != 1 && chance(w, 30)) line(w, 2, TEXT("normalize = %s", chance(w, 50) ? "rows(x)" : "[rows(x)]"));
  if (!is_plain && !w->has_edge_fields && chance(w, 40)) line(w, 2, TEXT("self_loops = %s", ONE_OF(loops)));
  if (!is_plain && !w->has_edge_fields && chance(w, 30)) line(w, 2, TEXT("undirected = %s", chance(w, 70) ? "true" : "false"));
  line(w, 0, "}");
  w->scope = (Scope){.sizes = {is_named ? "feats" : TEXT("%d", (int)features), "hidden", TEXT("%d", 41 + below(w, 8)), "width", "3", "y.classes"}, .size_count = 6, .is_model = true};
}

/* ---- the rest of a program ---- */

static void train(Writer *w, bool is_plain, const char *optimizer) {
  static const char *const watched[] = {"valid.accuracy", "valid.loss", "test.loss", "train.accuracy"}, *const shows[] = {"[train, valid, test]", "[train]", "test"};
  const bool is_smoothed = !is_plain && chance(w, 20), has_more = !is_plain && chance(w, 30);
  line(w, 0, TEXT("train m {\n  loss = cross_entropy(out, y%s)", is_smoothed ? ", label_smoothing = 0.1" : ""));
  line(w, 2, TEXT("optimizer = %s", optimizer));
  line(w, 2, TEXT("epochs = %d; metric = %s", EPOCHS, has_more ? "[accuracy, macro_f1, roc_auc, hits(2)]" : chance(w, 50) ? "accuracy" : "[accuracy]"));
  if (chance(w, 30)) line(w, 2, TEXT("seed = %d", below(w, 100)));
  if (chance(w, 50)) line(w, 2, TEXT("keep = best(%s)", has_more && chance(w, 50) ? "valid.roc_auc" : ONE_OF(watched)));
  if (is_plain) {
    line(w, 0, "}");
    return;
  }
  if (chance(w, 10)) line(w, 2, "runs = 2");
  if (chance(w, 30)) line(w, 2, chance(w, 50) ? "clip = norm(0.5)" : "clip = value(lr); accumulate = 2");
  if (chance(w, 20)) line(w, 2, TEXT("evaluate = every(%d)", between(w, 1, 2)));
  if (chance(w, 20)) line(w, 2, TEXT("stop = patience(%s, 2)", ONE_OF(watched)));
  if (chance(w, 20)) line(w, 2, TEXT("checkpoint = every(%d)", between(w, 1, 2)));
  if (chance(w, 20)) line(w, 2, TEXT("show = %s", ONE_OF(shows)));
  if (chance(w, 30)) line(w, 2, TEXT("group \"%s\" { lr = lr / 2; weight_decay = %s }", chance(w, 50) ? "last.*" : "*", chance(w, 50) ? "0" : "1e-3"));
  line(w, 0, "}");
}

static void plan(Writer *w) {
  static const char *const fates[] = {"keep", "host", "ssd", "recompute"}, *const patterns[] = {"h?", "h??", "*", "last*", "h1*"};
  line(w, 0, "plan {");
  if (chance(w, 30)) line(w, 2, TEXT("effort = %s", chance(w, 80) ? "fast" : "best"));
  if (chance(w, 30)) line(w, 2, "objective = time");
  if (chance(w, 30)) line(w, 2, TEXT("budget device = %d%s", between(w, 10, 200), chance(w, 50) ? "KiB" : "0 KB"));
  if (chance(w, 70)) line(w, 2, TEXT("fate \"%s\" = %s", ONE_OF(patterns), ONE_OF(fates)));
  line(w, 0, "}");
}

static void target(Writer *w, FILE *out, bool has_host, bool has_ssd) {
  fprintf(out, "target box \"made up\" {\n  device cpu { memory = %dMiB; threads = %d; bandwidth = %dGB/s; fp32 = %dGFLOP/s }\n", between(w, 64, 900), between(w, 1, 4), between(w, 5, 90),
          between(w, 20, 900));
  if (has_host) fprintf(out, "  tier host { capacity = 1GiB; budget = %dMiB }\n  link cpu <-> host { bandwidth = %dGB/s; latency = %dus%s }\n", between(w, 1, 64), between(w, 1, 40), below(w, 20), chance(w, 30) ? "; slowdown = 20%" : "");
  if (has_ssd) fprintf(out, "  tier ssd { path = \"/tmp\"; budget = %dMiB }\n  link %s <-> ssd { read = %dGB/s; write = %dGB/s; latency = 80 us }\n", between(w, 1, 64), has_host ? "host" : "cpu", between(w, 1, 9), between(w, 1, 9));
  fprintf(out, "}\n");
}

/* How the second plan is to be made. Little effort as a rule: a smallest budget is found by many plans. */
static void second_plan(Writer *w, FILE *how) {
  static const char *const policies[] = {"recompute", "offload", "checkpoint", "roc", "flexgnn", "torch-budget", "dtr", "capuchin", "hongtu", "grinnder"};
  static const char *const others[] = {"a100", "laptop", "t4"};
  const char *other = "";
  bool has_host = chance(w, 50), has_ssd = chance(w, 50);
  switch (below(w, 5)) {
  case 0: other = chance(w, 50) ? "--budget=ssd=64MiB" : ""; break;
  case 1: other = TEXT("--backend=sim --target=%s", ONE_OF(others)); break;
  case 2: target(w, w->out, has_host, has_ssd); break;
  default: {
    FILE *box = create(w, "box.gnn");
    target(w, box, has_host, has_ssd);
    fclose(box);
    other = TEXT("--target=box.gnn%s%s%s", has_host && chance(w, 40) ? TEXT(" --budget host=%dKiB", between(w, 0, 300)) : "",
                 has_ssd && chance(w, 40) ? TEXT(" --budget ssd=%d%%", between(w, 0, 99)) : "", chance(w, 30) ? " --backend=sim" : "");
  }
  }
  if (chance(w, 25)) other = TEXT("%s --policy=%s", other, ONE_OF(policies));
  else other = TEXT("%s --plan-effort=%s", other, chance(w, 90) ? "fast" : chance(w, 80) ? "normal" : "best");
  if (chance(w, 20)) other = TEXT("%s -fno-hoist", other);
  fprintf(how, "other='%s'\nshare=%d\n", other, chance(w, 20) ? below(w, 60) : between(w, 60, 110));
}

static void random_model(Writer *w) {
  line(w, 0, "model m on d {");
  know(w, "x", ON_NODES, 0);
  if (w->has_edge_fields) know(w, "edge_v", ON_EDGES, 4);
  statements(w, 2, between(w, 2, 10));
  const char *last = some_value(w, ON_NODES, -1)->name;
  if (chance(w, 50)) line(w, 2, TEXT("return %s |> %s(y.classes) as last", last, chance(w, 50) ? "GCN" : "SAGE"));
  else line(w, 2, TEXT("return (%s |> GraphConv(y.classes) as last) + Linear(%s, y.classes)", last, some_value(w, ON_NODES, -1)->name));
  line(w, 0, "}");
}

/* A chain that tests/reference knows, with weights that it draws. */
static void plain_model(Writer *w, FILE *how, const char *optimizer) {
  static const char *const layers[] = {"GCN", "SAGE", "GraphConv", "GIN"}, *const names[] = {"gcn", "sage", "graphconv", "gin"};
  int kind = below(w, 4), count = between(w, 1, 4);
  bool trains_eps = kind == 3 && chance(w, 50);
  line(w, 0, "model m on d {\n  h = x");
  for (int i = 1; i <= count; i++)
    line(w, 2, TEXT("h = h |> %s(%s%s) as conv%d%s", layers[kind], i < count ? "hidden" : "y.classes", trains_eps ? ", train_eps = true" : "", i, i < count ? " |> relu" : ""));
  line(w, 0, "  return h\n}");
  fprintf(how, "reference='--model %s --layers %d%s %s'\n", names[kind], count, trains_eps ? " --train-eps" : "", optimizer);
}

static void program(Writer *w, uint64_t seed) {
  static const struct { const char *ours, *theirs; } optimizers[] = {
      {"adam(lr = lr)", "--optimizer adam --lr 0.02"}, {"adam(lr, weight_decay = 5e-4)", "--optimizer adam --lr 0.02 --weight-decay 5e-4"},
      {"adamw(lr = 0.01, weight_decay = 0.1)", "--optimizer adamw --weight-decay 0.1"}, {"sgd(lr = 2 * lr)", "--optimizer sgd --lr 0.04"},
      {"sgd(lr = 0.02, momentum = 0.9, nesterov = true)", "--optimizer sgd --lr 0.02 --momentum 0.9 --nesterov"},
      {"sgd(lr = 0.02, momentum = 0.5, weight_decay = 1e-3)", "--optimizer sgd --lr 0.02 --momentum 0.5 --weight-decay 1e-3"},
      {"adam(lr = 0.01, betas = [0.8, 0.99], eps = 1e-6)", NULL}, {"adamw(beta1 = 0.8, beta2 = 0.95, lr = lr * 0.5)", NULL},
      {"rmsprop(warmup(2, cosine(lr)), momentum = 0.5)", NULL}, {"rmsprop(one_cycle(lr), centered = true, eps = 1e-3)", NULL},
      {"adagrad(plateau(0.05, 0.5, patience = 0, watch = train.loss), lr_decay = 0.1)", NULL}, {"adam(step(lr, 2, 0.5))", NULL},
  };
  bool is_plain = seed % 5 == 0, is_imported = chance(w, 50);
  int optimizer = below(w, is_plain ? 6 : 12);
  const int hidden = between(w, 1, 24);
  FILE *how = create(w, "how");
  w->out = create(w, "p.gnn");
  if (is_imported) {
    FILE *layers = create(w, "layers.gnn");
    fputs(library, layers), fclose(layers);
  }
  fprintf(w->out, "# seed %llu\n%s", (unsigned long long)seed, is_imported ? "import \"layers.gnn\"\n" : library);
  line(w, 0, TEXT("const hidden = %d\nconst width = %s\nconst depth = %d; const deep = %s", hidden, chance(w, 50) ? "2 * hidden + 1" : "17", between(w, 1, 3), chance(w, 50) ? "depth > 2" : "true"));
  line(w, 0, "option lr = 0.02 \"learning rate\"\noption drop = 0.25\noption scale = 0.5 \"of what is added\"");
  int defined = is_plain || chance(w, 70) ? 0 : between(w, 1, 20);
  for (int i = below(w, 3); i > 0; i--) own_layer(w);
  data(w, how, is_plain);
  if (is_plain) plain_model(w, how, optimizers[optimizer].theirs), fprintf(how, "hidden=%d\n", hidden);
  else random_model(w);
  train(w, is_plain, optimizers[optimizer].ours);
  if (chance(w, 30)) plan(w);
  second_plan(w, how);
  static const char *const levels[] = {"", "", "-O0", "-O1", "-O3", "-fno-fuse", "-fno-reassociate", "-fno-fuse -fno-reassociate", "-g"};
  fprintf(how, "both='%s%s%s'\n", chance(w, 90) ? "--plan-effort=fast " : "", ONE_OF(levels), defined ? TEXT(" -D hidden=%d%s", defined, chance(w, 50) ? " -D deep=false" : "") : "");
  fprintf(how, "run='%s%s'\nthreads=%d\n", is_plain || chance(w, 70) ? "" : "--lr 0.005 --drop 0.4 --seed 7", chance(w, 20) ? " --serial-lanes" : "", between(w, 2, 5));
  fclose(how), fclose(w->out);
}

int main(int argc, char **argv) {
  const int times = argc == 4 ? atoi(argv[3]) : 1;
  if (argc < 3 || argc > 4 || times < 1) {
    fprintf(stderr, "usage: generate SEED FOLDER [TIMES]   (FOLDER and FOLDER/data are there)\n");
    return 2;
  }
  uint64_t seed = strtoull(argv[1], NULL, 10);
  Writer *w = calloc(1, sizeof *w);
  if (!w) return 3;
  *w = (Writer){.arena = arena_new(), .random = seed * 1000003u, .folder = argv[2], .times = times};
  program(w, seed);
  arena_free(w->arena);
  free(w);
  return 0;
}
