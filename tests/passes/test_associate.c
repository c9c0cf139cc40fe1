/* Of which products the derivative goes by way of what is summed, that nothing reads the sums then, and that as many sums are left. */
#include <stdio.h>
#include <string.h>

#include "compiler/graph/associate.h"
#include "model.h"

static int test_count, failures;

static void ok(bool is_right, const char *name) {
  printf("%sok %d - %s\n", is_right ? "" : "not ", ++test_count, name);
  failures += !is_right;
}

typedef struct Trained {
  Graph *graph; /* NULL after an error */
  const char *note; /* of association; NULL: none */
} Trained;

/* A model of this body through the passes, with its data's number of edges for 500 nodes. */
static Trained trained(Arena *arena, const char *share_dir, const char *body, int edges, bool is_associating) {
  const char *text = arena_printf(arena,
                                  "data d {\n  nodes = 500\n  edges = %d\n  node x : f32[8]\n  node y : class[7]\n  edge w : f32[1]\n}\nmodel m on d {\n%s\n}\n"
                                  "train m {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n}\n", edges, body);
  TypedProgram *program = program_of(arena, share_dir, text);
  Trained result = {0};
  if (!program) {
    ok(false, "the model is one");
    return result;
  }
  Graph *graph = lower(arena, program);
  simplify(graph);
  reassociate(graph);
  const int before = graph->value_count, notes = graph->note_count;
  const Association *association = is_associating ? associate(graph) : NULL;
  if (is_associating && graph->value_count != before) ok(false, "the forward graph is what it was");
  if (graph->note_count > notes) result.note = graph->notes[notes];
  autodiff(graph, association);
  simplify(graph);
  const char *fault = verify_graph(graph);
  if (fault) ok(false, fault);
  result.graph = graph;
  return result;
}

/* The backward pass reads a value of this name. */
static bool is_read(const Graph *graph, const char *name) {
  for (int i = 0; i < graph->value_count; i++)
    for (int k = 0; graph->values[i].phase == PHASE_BACKWARD && k < graph->values[i].operand_count; k++) {
      const Value *operand = &graph->values[graph->values[i].operand[k]];
      if (operand->phase == PHASE_FORWARD && strcmp(operand->name, name) == 0) return true;
    }
  return false;
}

static int sums_back(const Graph *graph) {
  int count = 0;
  for (int i = 0; i < graph->value_count; i++) count += graph->values[i].op == OP_GATHER && graph->values[i].phase == PHASE_BACKWARD;
  return count;
}

/* With `edges` edges, `sum` is read as the products are written, and by association it is not, with as many sums over edges. */
static void associates(Arena *arena, const char *share_dir, const char *body, int edges, const char *sum, const char *name) {
  const Trained as_written = trained(arena, share_dir, body, edges, false), other = trained(arena, share_dir, body, edges, true);
  ok(as_written.graph && other.graph && is_read(as_written.graph, sum) && !is_read(other.graph, sum) && other.note && sums_back(as_written.graph) == sums_back(other.graph), name);
}

static void does_not(Arena *arena, const char *share_dir, const char *body, int edges, const char *sum, const char *name) {
  const Trained result = trained(arena, share_dir, body, edges, true);
  ok(result.graph && is_read(result.graph, sum) && !result.note, name);
}

int main(int argc, char **argv) {
  const char *dir = argc > 1 ? argv[1] : "build/share";
  Arena *arena = arena_new();
  const char *sage = "  h = x |> SAGE(16) as a |> relu\n  h = h |> SAGE(16) as b |> relu\n  return h |> Linear(y.classes) as c";
  associates(arena, dir, sage, 3000, "b.m", "SAGE: its mean is not kept, as its input is");
  Trained result = trained(arena, dir, sage, 3000, true);
  ok(result.graph && is_read(result.graph, "a.m"), "the first layer keeps its mean: features want no gradient");
  ok(result.note && strcmp(result.note, "line 10: gradients of b.lin_l.h are summed over edges before the product: what it multiplies is not kept, 16 numbers a row less") == 0,
     "a note says so");
  associates(arena, dir, "  h = x |> Linear(16) |> tanh\n  return h |> GraphConv(16, edge_weight = w) as b |> relu |> Linear(y.classes)", 3000, "b.m",
             "sums with the weights of edges");
  associates(arena, dir, "  h = x |> Linear(16) |> tanh\n  return h |> SGC(16, k = 3) as b |> relu |> Linear(y.classes)", 3000, "b.propagate3", "three sums before one product");
  associates(arena, dir, "  h = x |> Linear(16) |> relu\n  return h |> TAG(16, k = 3) as b |> relu |> Linear(y.classes)", 3000, "b.propagate3", "a product behind each of three sums");
  does_not(arena, dir, "  h = x |> Linear(16) |> relu\n  return h |> GIN(16) as b |> relu |> Linear(y.classes)", 3000, "b.h", "GIN behind relu: the sum is kept instead of its input");
  associates(arena, dir, "  h = x |> Linear(16) |> relu\n  g = h |> GIN(16) as b |> relu\n  return (h |> Linear(y.classes)) + (g |> Linear(y.classes))", 3000, "b.h",
             "GIN where another layer keeps its input");
  does_not(arena, dir, "  h = x |> Linear(16) |> tanh\n  return h |> GIN(16, train_eps = true) as b |> relu |> Linear(y.classes)", 3000, "b.h", "the gradient of a learned factor reads the sum");
  does_not(arena, dir, "  h = x |> Linear(16) |> tanh\n  s = sigmoid(dot(src.h, dst.h))\n  m = sum(s * src.h)\n  return (m |> Linear(16)) |> relu |> Linear(y.classes)", 3000, "m",
           "learned weights of edges");
  does_not(arena, dir, "  h = x |> Linear(16) |> tanh\n  m = sum(src.h)\n  return (m |> Linear(16)) + tanh(m) |> Linear(y.classes)", 3000, "m", "a sum that something else reads");
  const char *wider = "  h = x |> Linear(16) |> tanh\n  return h |> SAGE(20) as b |> relu |> Linear(y.classes)";
  associates(arena, dir, wider, 1500, "b.m", "a wider product over few edges: less is kept than the sums move more");
  does_not(arena, dir, wider, 3000, "b.m", "a wider product over many edges");
  const char *two = "  h = x |> Linear(16) |> tanh\n  m = sum(src.h)\n  a = m |> Linear(16) |> relu\n  b = m |> Linear(16) |> tanh\n  return a + b |> Linear(y.classes)";
  result = trained(arena, dir, two, 100, true);
  ok(result.graph && !is_read(result.graph, "m") && result.note && sums_back(result.graph) == 2, "two products with gradients of their own over few edges: a sum more moves less than is kept");
  does_not(arena, dir, two, 3000, "m", "the same over many edges");
  arena_free(arena);
  printf("1..%d\n", test_count);
  return failures != 0;
}
