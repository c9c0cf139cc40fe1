/* answer.h: asking for a plan.
 *
 * A PlanRequest says of what and for which machine, a PlanAnswer is what came of it: plans, schedule and layout of one form of the
 * program. Both are values: nothing that was asked or answered is changed afterwards, and any number of questions can be asked of one
 * program. An answer lives as long as the arena of its request.
 */
#ifndef GNNCC_ANSWER_H
#define GNNCC_ANSWER_H

#include "plan.h"
#include "compiler/graph/layer_cuts.h"
#include "compiler/graph/once_tables.h"

typedef enum FormKind { FORM_PLAIN, FORM_HOISTED, FORM_COUNT } FormKind;

typedef struct EvaluationForm {
  Graph *graph;
  Kernels *kernels;
} EvaluationForm;

/* The epoch and the evaluation as kernels: each computing all it needs, or with what never changes computed once before. */
typedef struct Form {
  Graph *training; /* NULL without a train block */
  Kernels *training_kernels;
  int evaluation_count; /* 0: there is no such form */
  EvaluationForm evaluations[2]; /* with the results of layers that somebody may ask for; where there are any, without them: if there is no room */
  Graph *once_graph;
  const Kernels *once; /* what runs before the first epoch; NULL: nothing does */
  const Residents *residents;
  const OnceTables *tables; /* of ranks: of rows that never change; NULL: there are none */
} Form;

/* How values on nodes are cut: into at most so many parts by rows, and what sums over neighbours gather from into at most so many slices of
 * columns (compiler/graph/cut.h). Both 1: whole values. */
typedef struct Cut {
  int parts, slices;
  int ranks; /* that the nodes are shared out among, of whose values the sizes are; 0: there is one process */
  const LayerCuts *layers; /* which run their sums otherwise; NULL: none */
  const LayersOfSums *transposed; /* of ranks: whose sums over neighbours go over columns of all rows (compiler/graph/transpose.h); NULL: none do */
  const LayersOfSums *recomputed; /* of ranks: whose sums over neighbours gather rows of others that the rank makes itself (compiler/graph/recompute.h); NULL: none do */
  const RowsAgain *again; /* of ranks: rows that never change of which no table is kept, each comes in every epoch from the one rank that has it; NULL: none do */
  bool has_halos; /* a part's sums over neighbours gather from its own rows and from those it needs of others; else from tables of all rows */
  /* Where what is given on nodes, and who their neighbours are, is at home: where it is not the device parts of it come from there; fields_home is that of what is computed once, too. */
  Tier fields_home, graph_home;
  Tier learned_home; /* of weights with a row for each node, and of what their optimiser keeps: parts come from there, and go back once they are updated */
  Tier scores_home; /* where an evaluation leaves the scores, where they can be away; beside data that are, not on the device */
  CachedData cached; /* of what is at home on the SSD */
} Cut;

static inline bool cut_has_data_away(Cut cut) { return cut.fields_home != TIER_DEVICE || cut.graph_home != TIER_DEVICE || cut.learned_home != TIER_DEVICE; }
static inline bool cut_has_orders(Cut cut) { return cut.ranks > 0 && cut.parts > 1; } /* of its steps: ExchangeOrder */
static inline bool cut_is_of_whole_values(Cut cut) { return cut.parts == 1 && cut.slices == 1 && cut.ranks == 0 && !cut.layers && !cut_has_data_away(cut); }
static inline bool cut_is(Cut a, Cut b) {
  return a.parts == b.parts && a.ranks == b.ranks && a.slices == b.slices && a.has_halos == b.has_halos && a.fields_home == b.fields_home && a.graph_home == b.graph_home && a.learned_home == b.learned_home && a.scores_home == b.scores_home && a.cached.bytes == b.cached.bytes && a.cached.fields == b.cached.fields && a.cached.graph == b.cached.graph && a.cached.learned == b.cached.learned && layer_cuts_are(a.layers, b.layers) && layers_are(a.transposed, b.transposed) && layers_are(a.recomputed, b.recomputed) && rows_again_are(a.again, b.again);
}
/* With scores of so many bytes away from the device, where there is room for them; with data at home in these tiers of the machine, and then scores away, too. */
Cut cut_with_scores_away(const Machine *machine, int64_t scores_bytes, Cut cut);
Cut cut_with_homes(const Machine *machine, int64_t scores_bytes, Cut cut, Tier fields, Tier graph, Tier learned);
/* "", ", features on the host", ", features and graph on the SSD", ", graph on the host, features on host and SSD" */
const char *cut_data_text(Arena *arena, Cut cut);
const char *cut_learned_text(Arena *arena, Cut cut); /* "", ", learned values on the host" */

/* The forms of a program whose values are cut, and the pins of the plain one. */
typedef struct CutForms {
  const Form *forms;
  const Pins *pins;
} CutForms;

/* Plans that were found, by what was asked: a question is answered once. Lives as long as the arena of its requests. */
typedef struct KnownPlan KnownPlan;
typedef struct KnownPlans {
  KnownPlan *list;
  int count;
} KnownPlans;

typedef struct PlanRequest {
  Arena *arena;
  KnownPlans *known;     /* NULL: none are kept */
  const Form *forms;     /* by FormKind */
  Machine machine;       /* with the budgets */
  const Pins *pins;      /* of the plain form; NULL: none */
  PlannerEffort effort;
  int policy;            /* of the epoch; -1: none */
  double time_limit_s;   /* of each plan; 0: none */
  const char *fingerprint; /* for the meta of the problem */
  const Plan *given;     /* the epoch's plan, of the form `form` (--plan-from); NULL: it is to be found */
  PlannerLeast least;    /* where nothing fits: which of the sizes that would are looked for */
  Cut cut;               /* of which `forms` and `pins` are */
  const CutForms *(*forms_of)(void *of, Cut cut); /* for other cuts; NULL: there are none */
  void *of;
  int parts_at_most;     /* of cuts that are looked for where whole values take longer or do not fit; 1: none is */
  const LayersOfSums *may_transpose, *may_recompute; /* which are tried with cut.transposed, with cut.recomputed; NULL: none are */
  bool may_dedup;        /* cut.again is tried where memory is short */
  int slices_at_most;    /* more would be no other cut */
  bool has_given_parts;  /* parts and slices are those of `cut`, which was asked for: of cuts that are looked for only what is away from the device, and halos, differ */
  bool has_fields;       /* numbers on nodes, which may be at home elsewhere */
  bool has_learned;      /* weights with a row for each node, which may be at home elsewhere */
  bool has_graph;        /* neighbours, which may be at home elsewhere */
  int64_t scores_bytes;  /* of all nodes */
  bool keeps_staging;    /* every plan leaves room on the host for the way to the SSD, though it may do without */
  bool is_trial;         /* whether it fits and how long it takes is asked, not how low it can lie: its layout is any that fits */
  bool needs_no_bound;   /* as of PlannerOptions */
  bool is_quick;         /* any plan of the form `form` that fits will do: one size of several that are tried */
  bool takes_first;      /* any answer that fits will do, of whatever cut: less is asked for until none does */
  bool is_one_of_several; /* cuts that are tried: not every one that could fit need be made to */
  bool keeps_order;      /* ranks go over values in parts as these are made: what else would pass beside their exchanges takes more room */
  bool is_sketch;        /* plans of which only the time is wanted, about, without addresses */
  bool takes_any;        /* as of PlannerOptions; set for a quick question, for as long as the addresses of any plan will do */
  double worth_seconds;  /* an epoch that takes as long or longer is of no use; 0: each is */
  FormKind form;
  int64_t *height;       /* becomes the least that a plan of the epoch needed which was laid out, and found no room; NULL: nobody asks */
  int64_t *work;         /* what planning costs is added: steps gone over, the same on every machine; NULL: nobody asks */
} PlanRequest;

typedef struct PlanAnswer {
  bool fits;
  bool lacks_room_at_home;     /* on the host or the SSD, for data that are to be at home there: nothing was planned */
  Cut cut;
  FormKind form;
  const Form *of;
  const EvaluationForm *evaluation; /* the one that was planned; NULL: the epoch did not fit, so it was not asked for */
  const Plan *training_plan;   /* NULL without a train block */
  const Plan *evaluation_plan; /* NULL where `evaluation` is */
  const Plan *once_plan;       /* NULL where nothing is computed once, or the others do not fit */
  const Schedule *schedule;    /* these two are NULL where plans do not fit, and there where only their addresses do not */
  const Layout *layout;
  const char *fault_at, *fault; /* a bug in gnncc; NULL: none */
} PlanAnswer;

/* Plans with addresses within the machine's budgets, in the form whose epoch is the shorter; or, where fits is false, the plans that
 * come nearest, which say what would be enough. */
const PlanAnswer *plan_answer(const PlanRequest *request);
/* The same of the cut of `request` alone; and of one form of it. */
const PlanAnswer *plan_answer_uncut(const PlanRequest *request);
const PlanAnswer *plan_answer_in_form(const PlanRequest *request, FormKind form);
/* The epoch of one form, or the evaluation where nothing is trained, by a short search and without addresses: how long it would take, about.
 * NULL: it does not fit, or is not worth it. */
const Plan *plan_sketch(const PlanRequest *request, FormKind form);
/* The bytes on the device that one of its steps needs at least, whatever is decided: no plan has less. INT64_MAX: what is to be at home elsewhere has no room there. */
int64_t plan_largest_step(const PlanRequest *request, FormKind form);
/* A sketch with its addresses, by the effort of `request`. NULL: none was found that is worth it. */
const Plan *plan_epoch_in_form(const PlanRequest *request, FormKind form);
/* Where what is to be at home on the host takes more than half of its room, and there is an SSD: at home on the SSD, and cached on the host in so many
 * quarters of the room, which values want, too. The same cut where all is to have room and has it, and where there is nothing to be done. */
enum { ALL_ROOM = 4 };
Cut cut_cached(const PlanRequest *request, Cut cut, int quarters);
/* What may be at home on the SSD is, with the scores that leave the device: values have all of the host. The same cut where there is no SSD, or nothing at home on the host. */
Cut cut_sparing_host(const PlanRequest *request, Cut cut);
/* The same question of data that are at home on the host in as much of it as seems best, where they were asked to be there and it has no room for them. */
PlanRequest plan_request_with_room(const PlanRequest *request);
/* The same question of the first plan that fits, by little effort. */
PlanRequest plan_request_of_first(PlanRequest request);
/* The same question of values that are cut otherwise; of whole values, where the program cut so would have other bits. */
PlanRequest plan_request_cut(const PlanRequest *request, Cut cut);
/* The epoch alone, without addresses, in the form in which it is the shorter. NULL: the planner cannot take the problem. */
const Plan *plan_epoch(const PlanRequest *request);
/* The evaluation beside such a plan. */
const Plan *plan_evaluation_beside(const PlanRequest *request, const Plan *training);
/* A small device with which the planner can plan both; 0: not known. */
int64_t plan_least_device(const PlanRequest *request);
/* The same question of a machine without its SSD: the host has room for values where what went there passed. */
PlanRequest plan_request_without_ssd(PlanRequest request);
/* The problem of the epoch in one form. NULL with `error` set: the planner cannot take it. */
const PlanningProblem *plan_problem_of(const PlanRequest *request, FormKind form, ProblemError *error);

Residents *form_residents(Arena *arena, const Form *form, const bool *is_sparse_field, DataHomes homes); /* with the kernels of all that share their memory; homes: where data stay */

/* What is at home on the host or the SSD takes there, with what of it passes the host. */
int64_t plan_home_bytes(const PlanRequest *request, const Form *form, Tier tier);

/* choose_exchanges.c: the fastest of a plan in which all ranks exchange rows, and of those in which some layers' sums go over columns of all rows, or ranks make rows of others themselves, in one pass
 * or in both, or keep not all tables of rows that never change. */
const PlanAnswer *with_other_exchanges(const PlanRequest *request, const PlanAnswer *halos);

/* Seconds of a plan's epoch as they are announced: with what copies take from the compute beside them. */
double plan_announced_seconds(const PlanRequest *request, const Plan *plan);
/* Of an answer that fits: of an epoch, or of an evaluation where nothing is trained. */
double answer_seconds(const PlanAnswer *answer);
/* The least device of which those of its plans that do not fit say that it would do; 0: they all fit, or do not say. */
int64_t answer_least_device(const PlanAnswer *answer);
const Plan *answer_that_binds(const PlanAnswer *answer); /* of its plans one that does not fit; that of the evaluation where all do */

/* The steps of an answer in the order that keeps every value, in a layout of their own. */
typedef struct KeepOrder {
  const Schedule *schedule;
  const Layout *layout;
} KeepOrder;

/* NULL: the planner cannot take the problem. */
const KeepOrder *plan_keep_order(const PlanRequest *request, const PlanAnswer *answer);

#endif
