/* The exact search against plain enumeration of every fate and every prefetch boundary. */
#include "golden.h"
#include "suite.h"
#include "tap.h"

#include <string.h>

typedef struct Enumeration {
  Evaluator *evaluator;
  Candidate *candidate;
  int64_t best, tried;
} Enumeration;

static void try_boundaries(Enumeration *e, int m) {
  Sequence *q = e->evaluator->sequence;
  if (m == q->move_count) {
    e->tried++;
    if (simulate(e->evaluator->simulation, q) && e->evaluator->simulation->makespan_ns < e->best)
      e->best = e->evaluator->simulation->makespan_ns;
    return;
  }
  for (int g = q->moves[m].after + 1; g <= q->moves[m].v; g++) {
    q->moves[m].g = g;
    try_boundaries(e, m + 1);
  }
}

static void try_fates(Enumeration *e, int depth) {
  const Geometry *g = e->evaluator->geometry;
  if (depth == g->wide_count) {
    if (sequence_build(e->evaluator->sequence, e->candidate->fates, (RemadeStays){0}, e->candidate->variants)) try_boundaries(e, 0);
    return;
  }
  for (int fate = 0; fate < FATE_COUNT; fate++) {
    if (!(g->gaps[g->open[depth]].options & FATE_BIT(fate))) continue;
    e->candidate->fates[g->open[depth]] = (uint8_t)fate;
    try_fates(e, depth + 1);
  }
  e->candidate->fates[g->open[depth]] = FATE_KEEP;
}

static void try_variants(Enumeration *e, int op) {
  if (op == e->evaluator->problem->op_count) {
    try_fates(e, 0);
    return;
  }
  for (int v = 0; v < e->evaluator->problem->ops[op].variant_count; v++) {
    e->candidate->variants[op] = v;
    try_variants(e, op + 1);
  }
}

static int64_t enumerate(const Problem *problem, int max_gaps, int64_t *tried) {
  Arena *arena = arena_new();
  Geometry *geometry = geometry_make(problem, arena);
  Enumeration e = {.evaluator = evaluator_new(arena, problem, geometry), .best = INT64_MAX};
  e.candidate = candidate_new(arena, e.evaluator);
  int homes = 0; /* their boundaries are enumerated too */
  for (int x = 0; x < problem->piece_count; x++) homes += problem_is_home_away(&problem->pieces[x]);
  bool is_small = geometry->open_count > 0 && geometry->wide_count + homes <= max_gaps;
  if (is_small) try_variants(&e, 0);
  *tried = e.tried;
  arena_free(arena);
  return is_small ? e.best : -1;
}

/* A skip of a U-Net that leaves early, at a step that is not over the budget, leaves for nothing when it must. */
static int64_t plan_unet(int64_t device_bytes) {
  Arena *arena = arena_new();
  GenerateOptions options = suite_small(10);
  Problem *problem = suite_read(arena, generate_problem(arena, &options));
  PlannerOptions planner_options;
  PlannerReport report;
  problem->device_bytes = device_bytes;
  planner_default_options(&planner_options);
  planner_plan(problem, &planner_options, arena, &report);
  arena_free(arena);
  return report.makespan_ns;
}

/* Ops that write several data, which end at different steps: a re-run for one of them makes the others too, so a re-run
 * that is decided may move to an earlier one that is not. Quotes are single ones here. */
/* The optimum is 890. */
static const char siblings[] =
    "{'format':'gnncc-problem/1','name':'multi242','hardware':{'device_bytes':174,'host_bytes':0,'ssd_bytes':0,'ring_bytes':0,'channels"
    "':{'d2h':{'bw':200000000,'lat_ns':0},'h2d':{'bw':100000000,'lat_ns':0}}},'data':[{'id':'x0','bytes':24,'home':'host'},{'id':'a0_0'"
    ",'bytes':5},{'id':'a0_1','bytes':17},{'id':'a1_0','bytes':25},{'id':'a2_0','bytes':34},{'id':'a2_1','bytes':35},{'id':'a2_2','byte"
    "s':26},{'id':'a3_0','bytes':10},{'id':'a4_0','bytes':22},{'id':'a4_1','bytes':38}],'ops':[{'id':'F0','phase':'fwd','reads':['x0'],"
    "'writes':['a0_0','a0_1'],'ns':30,'work':20},{'id':'F1','phase':'fwd','reads':['a0_0','x0'],'writes':['a1_0'],'ns':9,'work':0},{'id"
    "':'F2','phase':'fwd','reads':['x0','a1_0'],'writes':['a2_0','a2_1','a2_2'],'ns':74,'work':0},{'id':'F3','phase':'fwd','reads':['a2"
    "_0'],'writes':['a3_0'],'ns':50,'work':0},{'id':'F4','phase':'fwd','reads':['a2_1'],'writes':['a4_0','a4_1'],'ns':95,'work':0},{'id"
    "':'B4','phase':'bwd','reads':['a2_1','a4_0','a4_1'],'writes':[],'ns':46,'work':10},{'id':'B3','phase':'bwd','reads':['a2_0','a3_0'"
    "],'writes':[],'ns':81,'work':20},{'id':'B2','phase':'bwd','reads':['x0','a2_0','a2_1','a2_2'],'writes':[],'ns':77,'work':0},{'id':"
    "'B1','phase':'bwd','reads':[],'writes':[],'ns':48,'work':10},{'id':'B0','phase':'bwd','reads':['a0_1'],'writes':[],'ns':27,'work':"
    "10}]}";
/* The least device has 146 bytes. */
static const char few_bytes[] =
    "{'format':'gnncc-problem/1','name':'multi280','hardware':{'device_bytes':1,'host_bytes':60,'ssd_bytes':0,'ring_bytes':0,'channels'"
    ":{'d2h':{'bw':100000000,'lat_ns':0},'h2d':{'bw':100000000,'lat_ns':0}}},'data':[{'id':'x0','bytes':7,'home':'host'},{'id':'a0_0','"
    "bytes':40},{'id':'a0_1','bytes':26},{'id':'a0_2','bytes':40},{'id':'a1_0','bytes':35},{'id':'a1_1','bytes':34},{'id':'a2_0','bytes"
    "':28},{'id':'a2_1','bytes':22},{'id':'a3_0','bytes':29},{'id':'a4_0','bytes':24},{'id':'a4_1','bytes':21},{'id':'a4_2','bytes':26}"
    "],'ops':[{'id':'F0','phase':'fwd','reads':['x0'],'writes':['a0_0','a0_1','a0_2'],'ns':91,'work':0},{'id':'F1','phase':'fwd','reads"
    "':['a0_2'],'writes':['a1_0','a1_1'],'ns':71,'work':20},{'id':'F2','phase':'fwd','reads':['a1_0','a0_1'],'writes':['a2_0','a2_1'],'"
    "ns':99,'work':0},{'id':'F3','phase':'fwd','reads':['a2_0','a1_0'],'writes':['a3_0'],'ns':58,'work':20},{'id':'F4','phase':'fwd','r"
    "eads':['a3_0','a1_1'],'writes':['a4_0','a4_1','a4_2'],'ns':51,'work':0},{'id':'B4','phase':'bwd','reads':['a3_0','a4_2'],'writes':"
    "[],'ns':14,'work':0},{'id':'B3','phase':'bwd','reads':['a1_0','a3_0'],'writes':[],'ns':100,'work':0},{'id':'B2','phase':'bwd','rea"
    "ds':['a1_0'],'writes':[],'ns':9,'work':0},{'id':'B1','phase':'bwd','reads':['a0_2'],'writes':[],'ns':53,'work':20},{'id':'B0','pha"
    "se':'bwd','reads':['a0_0','a0_1','a0_2'],'writes':[],'ns':15,'work':10}]}";
/* What has to be recomputed needs more than keeping everything would: 23068724 bytes. */
static const char pinned[] =
    "{'format':'gnncc-problem/1','name':'adv-random-2089','hardware':{'device_bytes':1,'host_bytes':0,'ssd_bytes':0,'ring_bytes':209715"
    "200,'devices':1,'channels':{'d2h':{'bw':60000000001,'lat_ns':0},'h2d':{'bw':66000000001,'lat_ns':0},'ssdw':{'bw':9000000001,'lat_n"
    "s':0},'ssdr':{'bw':18000000001,'lat_ns':0},'nvlink':{'bw':300000000001,'lat_ns':0}}},'data':[{'id':'x0','bytes':2097152,'home':'ho"
    "st'},{'id':'a0','bytes':3145745,'final':false,'fates':['recompute']},{'id':'b0','bytes':6291473},{'id':'a1','bytes':4194321,'final"
    "':false,'fates':['retain','recompute']},{'id':'b1','bytes':3145729},{'id':'gl','bytes':1048576},{'id':'gr0','bytes':2097152,'final"
    "':false},{'id':'gr1','bytes':2097152,'final':false}],'ops':[{'id':'O0','phase':'fwd','reads':['x0'],'writes':['a0','b0'],'ns':1610"
    "71,'work':3145728},{'id':'O1','phase':'fwd','reads':['x0','b0','a0'],'writes':['a1','b1'],'ns':210579,'work':3145728},{'id':'loss'"
    ",'phase':'bwd','reads':['b1'],'writes':['gl'],'ns':5000},{'id':'B0','phase':'bwd','reads':['x0','b0','a0','a1','b1',{'data':'gl','"
    "access':'all'}],'writes':['gr0'],'ns':421158},{'id':'B1','phase':'bwd','reads':['x0',{'data':'gr0','access':'all'}],'writes':['gr1"
    "'],'ns':322142}],'order':[['O0',0],['O1',0],['loss',0],['B0',0],['B1',0]],'meta':{'tier':'none'}}";

static PlannerPlan *plan_quoted(Arena *arena, const char *quoted, PlannerReport *report) {
  char *text = arena_strdup(arena, quoted);
  for (char *c = text; *c; c++)
    if (*c == '\'') *c = '"';
  PlannerOptions options;
  planner_default_options(&options);
  return planner_plan(suite_read(arena, text), &options, arena, report);
}

int main(void) {
  Tap tap = {0};
  tap_ok(&tap, plan_unet(4108866) <= 3355430, "an early eviction makes a later one clean");
  Arena *arena = arena_new();
  tap_ok(&tap, suite_optimum(suite_read(arena, golden_problem_a), 10000000) == 83, "A: the optimum is 83");
  tap_ok(&tap, suite_optimum(suite_read(arena, golden_problem_a_fixed), 10000000) == 108, "A without recompute: the optimum is 108");
  arena_free(arena);
  int compared = 0, wrong = 0, wanted = tap_scale(120);
  int64_t assignments = 0;
  for (uint64_t seed = 1; compared < wanted && seed < 3000; seed++) {
    arena = arena_new();
    GenerateOptions options = suite_small((int)(seed % SUITE_SMALL_COUNT));
    if (options.depth > 4) options.depth = 4;
    if (options.family == FAMILY_MOE || options.family == FAMILY_TRANSFORMER || options.family == FAMILY_GAT) options.depth = 1;
    if (options.family == FAMILY_GCN || options.family == FAMILY_UNET) options.depth = 2;
    options.chunks = 1;
    char *text = seed % 2 ? generate_with_device(arena, generate_odd(arena, seed), 5000000 + (int64_t)(seed % 5) * 500000)
                          : generate_problem(arena, &options);
    int places;
    if (seed % 4 < 2) text = generate_with_places(arena, text, seed, &places);
    Problem *problem = suite_read(arena, text);
    int64_t tried, best = enumerate(problem, 4, &tried);
    if (best >= 0 && tried > 1 && best < INT64_MAX) {
      int64_t optimum = suite_optimum(problem, 200000000);
      compared++;
      assignments += tried;
      if (optimum != best) {
        wrong++;
        tap_note("%s: enumeration %lld, exact search %lld", problem->name, (long long)best, (long long)optimum);
      }
    }
    arena_free(arena);
  }
  tap_note("%d problems, %lld plans", compared, (long long)assignments);
  tap_ok(&tap, compared == wanted, "%d problems were small enough to enumerate", wanted);
  tap_ok(&tap, wrong == 0, "the exact search finds what enumeration finds");
  arena = arena_new();
  PlannerReport report;
  tap_ok(&tap, plan_quoted(arena, siblings, &report) && report.makespan_ns == 890, "a re-run that makes several data: the optimum is 890");
  tap_ok(&tap, !plan_quoted(arena, few_bytes, &report) && report.least_device_bytes == 146, "and the least device is found");
  tap_ok(&tap, !plan_quoted(arena, pinned, &report) && report.least_device_bytes == 23068724, "also above what keeping everything takes");
  arena_free(arena);
  return tap_end(&tap);
}
