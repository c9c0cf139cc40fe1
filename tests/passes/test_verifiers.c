/* Every verifier must accept what the passes make and reject each way of breaking it. */
#include <stdio.h>
#include <string.h>

#include "compiler/driver.h"

static const char model[] =
    "data karate from karate()\n"
    "layer Norm(x : node[f]) {\n  d = x - mean(x, axis = f)\n  return d * rsqrt(mean(d * d, axis = f) + 0.001)\n}\n"
    "model net on karate {\n"
    "  h = x |> dropout(0.5) |> GCN(16) as conv1 |> Norm() as norm |> relu\n"
    "  m = sum(relu(src.h + dst.h))\n"
    "  return (h + m) |> dropout(0.5) |> GCN(y.classes) as conv2\n}\n"
    "train net {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n  metric = accuracy\n}\n";

typedef struct Made {
  Arena *arena;
  Graph *training, *evaluation;
  Kernels *kernels, *evaluation_kernels;
  Plan *plan;
  Schedule *schedule;
  Layout *layout;
} Made;

static Made make(const char *share_dir) {
  Made m = {.arena = arena_new()};
  Diags *diags = diags_new(m.arena);
  DataReader *reader = arena_alloc(m.arena, sizeof *reader);
  reader->arena = m.arena;
  LangOptions *lang = arena_alloc(m.arena, sizeof *lang);
  *lang = (LangOptions){.share_dir = share_dir, .describe = data_describe, .describe_user = reader};
  Ast *ast = lang_parse(m.arena, diags, "model.gnn", model, strlen(model), lang);
  TypedProgram *program = ast ? lang_check(m.arena, diags, ast, lang) : NULL;
  if (!program) {
    diags_print(diags, stdout);
    return m;
  }
  m.training = lower(m.arena, program);
  simplify(m.training);
  m.evaluation = evaluation_graph(m.training);
  autodiff(m.training);
  simplify(m.training);
  bool *is_sparse = sparse_fields(m.training);
  m.kernels = fuse(m.training, is_sparse, true);
  m.evaluation_kernels = fuse(m.evaluation, is_sparse, true);
  Machine machine = machine_of_target(NULL);
  m.plan = plan(m.kernels);
  m.schedule = schedule(m.arena, m.plan, &machine, m.kernels, m.evaluation_kernels);
  m.layout = layout(m.arena, m.schedule, m.kernels, m.evaluation_kernels, is_sparse);
  return m;
}

static const char *fault(const Made *m) {
  const char *what = verify_graph(m->training);
  if (!what) what = verify_kernels(m->kernels);
  if (!what) what = verify_plan(m->plan, m->kernels);
  if (!what) what = verify_schedule(m->schedule);
  return what ? what : verify_layout(m->layout, m->schedule);
}

static ValueId find(const Graph *graph, Op op) {
  for (int i = 0; i < graph->value_count; i++)
    if (graph->values[i].op == op) return i;
  return 0;
}

/* ---- ways of breaking ---- */

static void forward_operand(Made *m) { m->training->values[find(m->training, OP_MATMUL)].operand[0] = m->training->value_count - 1; }
static void wrong_depth(Made *m) { m->training->values[find(m->training, OP_MATMUL)].as.product.depth++; }
static void wrong_shape(Made *m) { m->training->values[find(m->training, OP_MAP)].shape.rank = 0, m->training->values[find(m->training, OP_MAP)].shape.domain = DOMAIN_EDGE; }
static void wrong_domain(Made *m) { m->training->values[find(m->training, OP_GATHER)].shape.domain = DOMAIN_EDGE; }
static void wrong_element(Made *m) { m->training->values[find(m->training, OP_POSITIVE)].shape.element = ELEMENT_REAL; }
static void wrong_map(Made *m) {
  int *map = m->training->values[find(m->training, OP_REDUCE)].as.map;
  map[0] = map[0] == 0 ? 3 : 0;
}
static void no_loss(Made *m) { m->training->loss = NO_VALUE; }

static void kernels_swapped(Made *m) {
  Kernel first = m->kernels->kernels[0];
  m->kernels->kernels[0] = m->kernels->kernels[1];
  m->kernels->kernels[1] = first;
}
static void input_not_stored(Made *m) {
  for (int k = 0; k < m->kernels->kernel_count; k++)
    for (int i = 0; i < m->kernels->kernels[k].input_count; i++) {
      ValueId id = m->kernels->kernels[k].inputs[i];
      if (m->kernels->made_by[id] != NO_INDEX) m->kernels->is_stored[id] = false;
    }
}
static void body_elsewhere(Made *m) {
  for (int k = 1; k < m->kernels->kernel_count; k++)
    if (m->kernels->kernels[k].body_count) m->kernels->made_by[m->kernels->kernels[k].body[0]] = 0;
}

static void fate_missing(Made *m) { m->plan->count--; }
static void fate_twice(Made *m) { m->plan->parts[0] = m->plan->parts[1]; }
static void part_beyond(Made *m) { m->plan->parts[0].part = 1; }

static void step_number(Made *m) { m->schedule->steps[2].number = 7; }
static void steps_swapped(Made *m) {
  int32_t kernel = m->schedule->steps[0].kernel;
  m->schedule->steps[0].kernel = m->schedule->steps[3].kernel;
  m->schedule->steps[3].kernel = kernel;
}
static void time_backwards(Made *m) { m->schedule->steps[1].start_seconds = -1; }

static void offset_negative(Made *m) { m->layout->blocks[0].offset = -64; }
static void offset_unaligned(Made *m) { m->layout->blocks[1].offset += 4; }
static void beyond_the_arena(Made *m) { m->layout->bytes -= 64; }
static void overlap(Made *m) { m->layout->blocks[m->layout->resident_count].offset = m->layout->blocks[0].offset; }
static void dies_early(Made *m) {
  Block *longest = &m->layout->blocks[m->layout->resident_count];
  for (int i = m->layout->resident_count; i < m->layout->count; i++)
    if (m->layout->blocks[i].value != NO_VALUE && m->layout->blocks[i].last - m->layout->blocks[i].first > longest->last - longest->first)
      longest = &m->layout->blocks[i];
  longest->last = longest->first;
}

int main(int argc, char **argv) {
  static const struct {
    const char *what;
    void (*break_it)(Made *);
  } cases[] = {{"an operand that comes later", forward_operand}, {"a product of other depth", wrong_depth}, {"a map of other shape", wrong_shape},
               {"a gather that stays on edges", wrong_domain}, {"bits that are numbers", wrong_element}, {"a reduction to the wrong dimension", wrong_map},
               {"training without a loss", no_loss}, {"kernels out of order", kernels_swapped}, {"a value read but not stored", input_not_stored},
               {"a body that another kernel makes", body_elsewhere}, {"a value without a fate", fate_missing}, {"two fates for one value", fate_twice},
               {"a part that does not exist", part_beyond}, {"a step with another number", step_number}, {"steps out of order", steps_swapped},
               {"time that runs backwards", time_backwards}, {"a negative offset", offset_negative}, {"an unaligned offset", offset_unaligned},
               {"a block beyond the arena", beyond_the_arena}, {"two blocks in one place", overlap}, {"a value that dies before its use", dies_early}};
  const char *share_dir = argc > 1 ? argv[1] : "build/share";
  int failed = 0, count = (int)(sizeof cases / sizeof cases[0]) + 1;
  Made good = make(share_dir);
  const char *what = good.layout ? fault(&good) : "the model does not compile";
  printf("%s 1 - what the passes make is accepted%s%s\n", what ? "not ok" : "ok", what ? ": " : "", what ? what : "");
  failed += what != NULL;
  arena_free(good.arena);
  for (int i = 0; i + 1 < count && !failed; i++) {
    Made made = make(share_dir);
    cases[i].break_it(&made);
    what = fault(&made);
    printf("%s %d - %s is rejected%s%s\n", what ? "ok" : "not ok", i + 2, cases[i].what, what ? ": " : "", what ? what : "");
    failed += what == NULL;
    arena_free(made.arena);
  }
  printf("1..%d\n", count);
  return failed != 0;
}
