/* What values are to their layers, and the plans of the policies that decide by it: of whole graphs and of such that are cut by rows. */
#include <stdio.h>
#include <string.h>

#include "compiler/graph/cut.h"
#include "made.h"

enum { PARTS = 4 };

static int test_count, failures;

static void ok(bool is_right, const char *name) {
  printf("%sok %d - %s\n", is_right ? "" : "not ", ++test_count, name);
  failures += !is_right;
}

/* `body` on 8192 nodes, which are four canonical blocks; as the compiler cuts it where there are parts. */
static Made cut_kernels(const char *body, int parts) {
  Arena *arena = arena_new();
  Made m = make_kernels(arena_printf(arena,
                                     "data g from synth(kind = \"rmat\", nodes = 8192, degree = 8, features = 32, classes = 4, seed = 1)\nmodel m on g {\n%s}\n"
                                     "train m {\n  loss = cross_entropy(out, y)\n  optimizer = adam(lr = 0.01)\n  epochs = 1\n}\n", body), parts);
  arena_free(arena);
  if (parts > 1) {
    m.training = cut_graph(m.training, (CutOptions){.slices = 1});
    m.kernels = fuse(m.training, sparse_fields(m.training), &(FuseOptions){.is_fusing = true, .is_placing = true});
    m.residents = residents(m.arena, m.kernels, m.evaluation_kernels, NULL, sparse_fields(m.training), (DataHomes){0});
  }
  m.machine.tier_bytes[TIER_HOST] = INT64_C(1) << 30;
  m.machine.tier_bytes[TIER_SSD] = 0;
  for (int l = LANE_D2H; l <= LANE_H2D; l++) m.machine.links[l] = (Link){30e9, 1e-6};
  return m;
}

/* " i:h1 a:s": each datum with a role. */
static const char *roles_said(const Made *m, const Plan *plan) {
  const char *said = "";
  for (int i = 0; i < plan->problem->problem->datum_count; i++) {
    const ProblemDatum *datum = &plan->problem->problem->data[i];
    if (datum->role != ROLE_OTHER) said = arena_printf(m->arena, "%s %c:%s", said, role_names[datum->role][0], datum->id);
  }
  return said;
}

static void expect_roles(const char *body, int parts, const char *roles, const char *name) {
  Made m = cut_kernels(body, parts);
  make_plan(&m);
  const char *said = roles_said(&m, m.plan);
  ok(strcmp(said, roles) == 0, name);
  if (strcmp(said, roles) != 0) printf("# said %s\n# expected %s\n", said, roles);
  arena_free(m.arena);
}

/* " h1:h m:r": what is not a gradient, and goes to the host or is made again. */
static const char *fates_said(const Made *m, const Plan *plan) {
  const Problem *p = plan->problem->problem;
  const char *said = "";
  for (int d = 0; d < p->datum_count; d++) {
    const ValueId value = plan->problem->value_of_datum[d];
    bool is_moved = false, is_again = false;
    if (value == NO_VALUE || m->kernels->graph->values[value].phase != PHASE_FORWARD) continue;
    for (int i = 0; i < plan->planned->move_count; i++) is_moved = is_moved || p->pieces[plan->planned->moves[i].piece].datum == d;
    for (int i = 0; i < plan->planned->out_count; i++) is_again = is_again || p->pieces[plan->planned->outs[i]].datum == d;
    if (is_moved || is_again) said = arena_printf(m->arena, "%s %s:%s%s", said, p->data[d].id, is_moved ? "h" : "", is_again ? "r" : "");
  }
  return said;
}

/* Each of these words is among them. */
static bool has_all(const char *said, const char *words) {
  char word[64];
  for (int length; sscanf(words, "%63s%n", word, &length) == 1; words += length) {
    const char *at = strstr(said, word);
    if (!at || at[-1] != ' ' || (at[strlen(word)] && at[strlen(word)] != ' ')) return false;
  }
  return true;
}

/* With `percent` of what keeping everything takes. */
static void expect_fates(const char *body, int parts, int percent, Policy policy, const char *fates, const char *name) {
  Made m = cut_kernels(body, parts);
  const int64_t all = plan_of(&m, m.kernels, POLICY_KEEP)->report.peak_bytes;
  m.machine.tier_bytes[TIER_DEVICE] = m.residents->bytes + (all - m.residents->bytes) * percent / 100;
  const Plan *plan = plan_of(&m, m.kernels, policy);
  const char *said = plan->planned ? fates_said(&m, plan) : " none fits";
  const bool is_right = has_all(said, fates) && plan->planned && !verify_plan(plan);
  ok(is_right, name);
  if (!is_right) printf("# said %s\n# expected %s\n", said, fates);
  arena_free(m.arena);
}

#define DEEP(layer) "  h1 = x |> " layer " |> relu\n  h2 = h1 |> " layer " |> relu\n  h3 = h2 |> " layer " |> relu\n  h4 = h3 |> " layer " |> relu\n  return h4 |> Linear(y.classes)\n"

static const char gcn[] = DEEP("GCN(32)"), gat[] = DEEP("GAT(8, heads = 4)"), sage[] = DEEP("SAGE(32)");

/* Sums of rows of nodes, of their differences, times numbers that weights have no influence on; and of what both ends have learned. */
static const char edges[] = "  h = x |> Linear(16) as lin |> tanh\n  plain = tanh(sum(src.h))\n  apart = tanh(sum((src.h - dst.h) * 0.5))\n  gated = tanh(sum(src.h * sigmoid(dst.h + src.h)))\n"
                            "  return concat(plain, apart, gated) |> Linear(y.classes) as last\n";

int main(int argc, char **argv) {
  if (argc > 1) share_dir = argv[1];
  static const char gcn_roles[] = " i:h1 i:h2 i:h3 i:h4 a:gcn4_bits a:gcn3_bits a:gcn2_bits a:gcn1_bits", sage_roles[] = " a:sage1_m i:h1 a:sage2_m i:h2 a:sage3_m i:h3 a:sage4_m i:h4";
  expect_roles(gcn, 1, gcn_roles, "GCN: what a layer reads and another made, and the rest of what sums store");
  expect_roles(gcn, PARTS, gcn_roles, "the same where it is cut by rows");
  expect_roles(sage, 1, sage_roles, "SAGE: inputs and sums are apart");
  expect_roles(sage, PARTS, sage_roles, "the same where it is cut by rows");
  expect_roles(gat, 1, " i:h1 i:h2 i:h3 i:h4", "GAT: its sums have a learned function on their edges");
  expect_roles(gat, PARTS, " i:h1 i:h2 i:h3 i:h4", "the same where it is cut by rows");
  expect_roles(edges, 1, " i:h a:plain a:apart i:concat", "what depends on weights at both ends of a product is learned, and a difference of rows is not");
  expect_fates(gcn, 1, 80, POLICY_GRINNDER, "h1:h h2:h h3:h h4:h gcn2_z:r gcn3_z:r gcn2_bits:r gcn3_bits:r", "GCN, grinnder: inputs on the host, sums and what they gather from made again");
  expect_fates(gcn, 1, 80, POLICY_HONGTU, "h1:h h2:h h3:h h4:h gcn2_bits:h gcn3_bits:h", "GCN, hongtu: sums on the host, too");
  expect_fates(gcn, PARTS, 88, POLICY_GRINNDER, "h1:h h2:h h3:h h4:h gcn2_z:r gcn3_z:r gcn2_bits:r gcn3_bits:r linear1:r", "GCN by rows, grinnder: the same of all pieces");
  expect_fates(gcn, PARTS, 80, POLICY_HONGTU, "h1:h h2:h h3:h h4:h gcn2_bits:h gcn3_bits:h linear1:r", "GCN by rows, hongtu");
  expect_fates(sage, PARTS, 80, POLICY_GRINNDER, "h1:hr h2:hr h3:hr h4:h sage1_m:r", "SAGE by rows, grinnder: a sum over features is made again, and inputs with the bits of their layer");
  expect_fates(sage, PARTS, 80, POLICY_HONGTU, "h1:hr h2:hr h3:hr h4:h sage1_m:h", "SAGE by rows, hongtu: it is on the host");
  expect_fates(gat, 1, 80, POLICY_HONGTU, "h1:h h2:h h3:h h4:h gat2_lin:r gat2_s:r gat2_logsumexp:r gat2_m:r", "GAT, hongtu: only inputs are on the host");
  expect_fates(gat, PARTS, 80, POLICY_HONGTU, "h1:h h2:h h3:h h4:h gat2_lin:r gat1_m:r gat2_s:h gat2_logsumexp:h", "GAT by rows, hongtu: what sums gather in pieces is made again, what is too narrow is written part by part, and on the host");
  expect_fates(gat, PARTS, 80, POLICY_GRINNDER, "h1:h h2:h h3:h h4:h gat2_lin:r gat1_m:r gat2_s:h gat2_logsumexp:h", "GAT by rows, grinnder: the same");
  printf("1..%d\n", test_count);
  return failures > 0;
}
