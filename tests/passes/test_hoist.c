/* Which values are the same in every epoch, and that both graphs read them. */
#include <stdio.h>
#include <string.h>

#include "compiler/lowering/fuse.h"
#include "compiler/graph/hoist.h"
#include "model.h"

static int test_count, failures;

static void ok(bool is_right, const char *name) {
  printf("%sok %d - %s\n", is_right ? "" : "not ", ++test_count, name);
  failures += !is_right;
}

/* A model of this body; NULL after an error. */
static Hoisting *hoisting_of(Arena *arena, const char *share_dir, const char *body, Graph **plain) {
  const char *text = arena_printf(arena,
                                  "data d {\n  nodes = 500\n  edges = 3000\n  node x : f32[8]\n  node y : class[7]\n  edge w : f32[1]\n}\noption scale = 1.0\nmodel m on d {\n%s\n}\n"
                                  "train m {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n}\n", body);
  TypedProgram *program = program_of(arena, share_dir, text);
  if (!program) {
    ok(false, "the model is one");
    return NULL;
  }
  Graph *training = lower(arena, program);
  simplify(training);
  Graph *evaluation = evaluation_graph(training);
  autodiff(training, NULL);
  simplify(training);
  graph_name_values(training);
  if (plain) *plain = training;
  return hoist(arena, training, evaluation);
}

static int count_of(const Graph *graph, Op op) {
  int count = 0;
  for (int i = 0; i < graph->value_count; i++) count += graph->values[i].op == op;
  return count;
}

static bool are_sound(const Hoisting *h) { return !verify_graph(h->graph) && !verify_graph(h->training) && !verify_graph(h->evaluation); }

/* Another variant of a kernel may add up otherwise: what is computed once is by the usual one, wherever it is computed. */
static void test_variants(Arena *arena, const char *share_dir) {
  Graph *plain = NULL;
  Hoisting *h = hoisting_of(arena, share_dir, "  return x |> SAGE(16) as a |> relu |> SAGE(y.classes) as b", &plain);
  int others = 0, once = 0;
  bool is_usual = h != NULL;
  for (int k = 0; h && k < 2; k++) {
    const FuseOptions second = {.is_fusing = true, .backend = BACKEND_CUDA, .trial = 1};
    const Kernels *kernels = fuse(k ? h->graph : plain, sparse_fields(plain), &second);
    for (int i = 0; i < kernels->kernel_count; i++) {
      const Kernel *kernel = &kernels->kernels[i];
      bool is_once = kernels->graph->values[kernel->anchor].is_once;
      once += is_once && kernel->variant_count > 1;
      others += !is_once && kernel->is_tuned;
      is_usual = is_usual && !(is_once && kernel->is_tuned);
    }
  }
  ok(is_usual && once == 2 && others > 2, "by the usual kernel, of several, in both forms");
}

/* Rows whose signs are kept as bits are summed by whole warps, others by as many lanes as they have numbers. */
static void test_orders(Arena *arena, const char *share_dir) {
  static const char *const bodies[] = {"  return x |> SAGE(16) as a |> relu |> SAGE(y.classes) as b",
                                       "  param s : [1] = uniform(1.0)\n  h = relu(s * x + sum(src.x))\n  return h |> GCN(y.classes) as b"};
  bool alike[2] = {false, false};
  for (int i = 0; i < 2; i++) {
    Graph *plain = NULL;
    Hoisting *h = hoisting_of(arena, share_dir, bodies[i], &plain);
    const FuseOptions options = {.is_fusing = true, .backend = BACKEND_CUDA};
    if (!h) continue;
    const Kernels *each = fuse(plain, sparse_fields(plain), &options);
    alike[i] = kernels_add_alike(fuse(h->training, sparse_fields(plain), &options), each) && kernels_add_alike(fuse(h->graph, sparse_fields(plain), &options), each);
  }
  ok(alike[0] && !alike[1], "on a GPU not where its rows would be summed in another order");
}

static const RowsAgain *rows_again(Arena *arena, const char *first, const char *second) {
  RowsAgain *again = arena_alloc(arena, sizeof *again);
  if (first) ARENA_PUSH(arena, again->rows, again->count, first);
  if (second) ARENA_PUSH(arena, again->rows, again->count, second);
  return again;
}

static int32_t field_of(const TypedProgram *program, const char *name) {
  int32_t field = 0;
  while (strcmp(program->fields[field].name, name) != 0) field++;
  return field;
}

/* Of both halves of x, and of w. */
static Graph *graph_of_tables(Arena *arena, const TypedProgram *program) {
  const Shape whole = {.domain = DOMAIN_NODE, .rank = 1, .size = {8}}, half = {.domain = DOMAIN_NODE, .rank = 1, .size = {4}}, edge = {.domain = DOMAIN_EDGE, .rank = 1, .size = {1}};
  Graph *graph = graph_new(arena, program);
  const ValueId x = graph_add(graph, (Value){.op = OP_INPUT, .shape = whole, .as.index = field_of(program, "x"), .name = ""}), w = graph_add(graph, (Value){.op = OP_INPUT, .shape = edge, .as.index = field_of(program, "w"), .name = ""});
  ValueId halves[2];
  for (int i = 0; i < 2; i++) {
    const ValueId tile = graph_add(graph, (Value){.op = OP_TILE, .shape = half, .operand_count = 1, .operand = {x}, .as.part = {0, 4 * i}, .name = "tile"});
    halves[i] = graph_add(graph, (Value){.op = OP_HALO, .shape = half, .operand_count = 1, .operand = {tile}, .as.degree = {END_DST, DOMAIN_EDGE, HALO_FOR_DST}, .name = "halo"});
  }
  graph->scores = graph_add(graph, (Value){.op = OP_MAP, .shape = half, .operand_count = 2, .operand = {halves[0], halves[1]}, .as.function = MAP_ADD, .name = "sum"});
  graph->loss = graph_add(graph, (Value){.op = OP_HALO, .shape = edge, .operand_count = 1, .operand = {w}, .as.degree = {END_DST, DOMAIN_EDGE, HALO_OF_EDGES}, .name = "halo"});
  graph_name_values(graph);
  return graph;
}

/* What comes again is left out, and what only that is made of; what there is, is told all the same. */
static void test_tables(Arena *arena, const char *share_dir) {
  Graph *plain = NULL;
  hoisting_of(arena, share_dir, "  return Linear(sum(src.x * w), 7) as a", &plain);
  const Graph *graph = plain ? graph_of_tables(arena, plain->program) : NULL;
  const struct {
    const char *what;
    const RowsAgain *again;
    int kept;
  } sets[] = {{"tables are computed once", NULL, 3}, {"but for those of rows that come again", rows_again(arena, "x", NULL), 1}, {"or of edges", rows_again(arena, "w", NULL), 2}, {"of all", &all_rows_again, 0}};
  for (size_t i = 0; graph && i < sizeof sets / sizeof sets[0]; i++) {
    const Tables *t = hoist_tables(NULL, &graph, 1, NULL, sets[i].again);
    bool is_right = t && t->all.count == 2 && t->all.list[0].bytes == 500 * 8 * 4 && t->once->once_count == sets[i].kept && count_of(t->once, OP_HALO) == sets[i].kept && count_of(t->graphs[0], OP_HALO) == 3 - sets[i].kept;
    for (int k = 0; is_right && k < t->all.count; k++) is_right = strcmp(t->all.list[k].rows, k ? "w" : "x") == 0 && t->all.list[k].is_kept == !come_again(sets[i].again, k ? "w" : "x");
    ok(is_right && !verify_graph(t->once) && !verify_graph(t->graphs[0]), sets[i].what);
  }
  const RowsAgain *both = rows_again(arena, "x", "w"), *turned = rows_again(arena, "w", "x"), *one = rows_again(arena, "x", NULL), *none = rows_again(arena, NULL, NULL);
  ok(rows_again_are(both, turned) && rows_again_are(NULL, none) && !rows_again_are(one, both) && !rows_again_are(one, NULL) && !rows_again_are(rows_again(arena, "w", NULL), one) && !rows_again_are(&all_rows_again, none), "sets of rows are the same in any order");
}

int main(int argc, char **argv) {
  const char *share_dir = argc > 1 ? argv[1] : "build/share";
  Arena *arena = arena_new();
  static const struct {
    const char *what, *body;
    int values, left; /* that are computed once; sums over neighbours that the evaluation still has */
  } models[] = {
      {"the mean over neighbours of features", "  return x |> SAGE(16) as a |> relu |> SAGE(y.classes) as b", 1, 1},
      {"their sum, where what is done with it then depends on weights", "  return x |> GIN(16) as a |> relu |> GIN(y.classes) as b", 1, 1},
      {"two sums, one of the other", "  p = mean(src.x)\n  q = mean(src.p)\n  return (Linear(p, 7) as a) + (Linear(q, 7) as b)", 2, 0},
      {"a sum that another one alone reads is no value for the epoch", "  p = mean(src.x)\n  q = mean(src.p)\n  return Linear(q, 7) as a", 1, 0},
      {"a sum of what edges have", "  p = sum(src.x * w)\n  return Linear(p, 7) as a", 1, 0},
  };
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
    const Hoisting *h = hoisting_of(arena, share_dir, models[i].body, NULL);
    const int count = h ? h->graph->once_count : 0;
    bool is_right = count == models[i].values && count_of(h->training, OP_HOISTED) == count && count_of(h->evaluation, OP_HOISTED) == count &&
                    count_of(h->evaluation, OP_GATHER) == models[i].left && count_of(h->graph, OP_GATHER) >= count && are_sound(h);
    ok(is_right, models[i].what);
  }
  static const struct {
    const char *what, *body;
  } none[] = {
      {"not where dropout is first: it differs in each epoch", "  return x |> dropout(0.5) |> SAGE(y.classes) as a"},
      {"not where an option has influence", "  z = scale * x\n  return z |> SAGE(y.classes) as a"},
      {"not where a weight has influence", "  return (Linear(x, 16) as a) |> SAGE(y.classes) as b"},
      {"not where there is no sum over neighbours", "  z = relu(x) * x\n  return Linear(z, 7) as a"},
  };
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) ok(!hoisting_of(arena, share_dir, none[i].body, NULL), none[i].what);
  test_variants(arena, share_dir);
  test_orders(arena, share_dir);
  test_tables(arena, share_dir);
  arena_free(arena);
  printf("1..%d\n", test_count);
  return failures > 0;
}
