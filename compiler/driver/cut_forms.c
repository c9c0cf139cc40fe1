/* cut_forms: the forms of a program again, of graphs that are cut (compiler/graph/cut.h). */
#include "cut_forms.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "forms.h"
#include "runtime/core/blocks.h"
#include "runtime/gnnrt.h"
#include "compiler/graph/cut.h"
#include "compiler/graph/hoist.h"
#include "compiler/graph/learned.h"
#include "compiler/plan/pins.h"
#include "lang/suggest.h"

CutWish cut_wish(const Compilation *c) {
  const CutWish said = c->options->cut.mode != CUT_UNSAID ? c->options->cut : c->program->plan_cut;
  return said.mode == CUT_UNSAID ? (CutWish){.mode = CUT_AUTO, .count = 1} : said;
}

/* ---- layers that differ ---- */

static const char *text_of(const Compilation *c, const LayerWish *wish) { return arena_printf(c->arena, "%.*s", wish->length, wish->pattern); }

static bool names_layer(const Compilation *c, const LayerWish *wish, const LayerSums *sums) {
  const char *pattern = arena_printf(c->arena, "%.*s", wish->name_length, wish->pattern);
  return (sums->pass == PHASE_FORWARD ? wish->is_forward : wish->is_backward) && fnmatch(pattern, sums->layer, 0) == 0;
}

static LayersOfSums layers_of(const Compilation *c) { return layers_of_sums(c->training ? c->training : c->evaluation); }

const LayerCuts *cut_layers(const Compilation *c, CutWish wish) {
  const LayersOfSums layers = layers_of(c);
  LayerCuts *cuts = arena_alloc(c->arena, sizeof *cuts);
  const int slices = wish.mode == CUT_SLICES ? wish.count : 1;
  bool is_cut = wish.mode != CUT_WHOLE;
  for (int i = 0; wish.layers && i < layers.count; i++) {
    LayerCut cut = {layers.list[i].layer, layers.list[i].pass, wish.mode == CUT_WHOLE, slices};
    LayerWish layer;
    for (const char *rest = wish.layers; rest && !cut_wish_layer(&rest, &layer);)
      if (names_layer(c, &layer, &layers.list[i])) cut.is_whole = layer.mode == CUT_WHOLE, cut.slices = layer.mode == CUT_SLICES ? layer.count : 1;
    is_cut = is_cut || !cut.is_whole;
    if (cut.is_whole || cut.slices != slices) ARENA_PUSH(c->arena, cuts->list, cuts->count, cut);
  }
  return is_cut && cuts->count > 0 ? cuts : NULL;
}

/* As many parts as some layer, or all, are said to run in; 0: that is not said. */
static int parts_said(CutWish wish) {
  int parts = wish.mode == CUT_ROWS || wish.mode == CUT_HALOS ? wish.count : 0;
  LayerWish layer;
  for (const char *rest = wish.layers; rest && parts == 0 && !cut_wish_layer(&rest, &layer);)
    if (layer.mode == CUT_ROWS) parts = layer.count;
  return parts;
}

static bool no_such_layer(const Compilation *c, const LayerWish *wish) {
  const LayersOfSums layers = layers_of(c);
  const char *name = arena_printf(c->arena, "%.*s", wish->name_length, wish->pattern), *known = "";
  Suggest suggest = {.wanted = name};
  bool is_other_pass = false;
  for (int i = 0; i < layers.count; i++) {
    const char *quoted = arena_printf(c->arena, "\"%s\"", layers.list[i].layer);
    is_other_pass = is_other_pass || fnmatch(name, layers.list[i].layer, 0) == 0;
    suggest_offer(&suggest, layers.list[i].layer);
    if (!strstr(known, quoted)) known = arena_printf(c->arena, "%s%s%s", known, *known ? ", " : "", quoted);
  }
  if (is_other_pass) diags_error(c->diags, "E0513", diags_no_place(), "\"%s\" has no sum over neighbours in the %s pass", name, wish->is_forward ? "forward" : "backward");
  else diags_error(c->diags, "E0513", diags_no_place(), "no layer that sums over neighbours is called \"%s\"%s", text_of(c, wish), suggest_text(c->arena, &suggest, "\""));
  if (*known) diags_note(c->diags, "layers that do: %s", known);
  return false;
}

static bool check_layers(const Compilation *c, CutWish wish) {
  const LayersOfSums layers = layers_of(c);
  LayerWish layer;
  for (const char *rest = wish.layers; rest && !cut_wish_layer(&rest, &layer);) {
    int named = 0;
    for (int i = 0; i < layers.count; i++) named += names_layer(c, &layer, &layers.list[i]);
    if (named == 0) return no_such_layer(c, &layer);
    if (layer.mode != CUT_ROWS || layer.count == parts_said(wish)) continue;
    diags_error(c->diags, "E0513", diags_no_place(), "%s = rows(%d): rows are cut in as many parts for all layers, here in %d; a layer may be whole, or in slices", text_of(c, &layer), layer.count, parts_said(wish));
    return false;
  }
  return true;
}

bool refuse_cut(Compilation *c, const char *why) {
  const CutWish wish = cut_wish(c);
  diags_error(c->diags, "E0110", diags_no_place(), "a cut %s is for programs %s", wish.mode == CUT_WHOLE ? "of layers" : arena_printf(c->arena, "in %d %s", wish.count, wish.mode == CUT_SLICES ? "slices" : "parts"), why);
  return false;
}

/* ---- ranks ---- */

static bool refuse_ranks(Compilation *c, const char *what) {
  if (c->options->ranks) diags_error(c->diags, "E0110", diags_no_place(), "--ranks=%d: %s", c->ranks, what);
  else diags_error(c->diags, "E0110", diags_no_place(), "target %s has %d devices: %s", c->program->target.name, c->ranks, what);
  diags_help(c->diags, "gnncc --explain E0110; docs/many_devices.md says what programs of ranks have%s", c->options->ranks ? "" : "; --ranks=1 is for one of the devices");
  return false;
}

/* Why not, in a message. */
static const char *not_of_one_graph(const Graph *graph) {
  for (int i = 0; graph && i < graph->value_count; i++) {
    const Value *value = &graph->values[i];
    const Domain domain = value->shape.domain;
    if (domain == DOMAIN_GRAPH || domain == DOMAIN_MEMBER) return "values that the data have for whole graphs are for one process, so far";
  }
  return NULL;
}

/* Why not, of what ranks on processors have, or one GPU has. */
static const char *not_for_gpus(const Compilation *c) {
  const TypedProgram *p = c->program;
  if (p->info->has_pairs) return "candidate pairs are for ranks on processors, so far; --backend=cpu";
  const Options *o = c->options;
  if (p->train.boundary != BOUNDARY_EXACT) return arena_printf(c->arena, "%s is for ranks on processors, so far; --backend=cpu", p->train.approximation);
  if (o->trial || (o->tuning && strcmp(o->tuning, "none") != 0)) return "tuned kernels are for one GPU, so far: no --tune, and no --tuning but none";
  if (o->spmm && strcmp(o->spmm, "cusparse") == 0) return "cuSPARSE adds up the rows of all nodes, so far: no --spmm=cusparse";
  return NULL;
}

/* Per weight: of which nodes it has rows, in all graphs that there are. */
static Domain *learned_of_ranks(const Compilation *c) {
  const Form *form = &c->forms[FORM_PLAIN];
  const Domain *first = learned_domains(form->training ? form->training : form->evaluations[0].graph);
  Domain *domains = arena_alloc(c->arena, ((size_t)c->program->param_count + 1) * sizeof *domains);
  for (int p = 0; p < c->program->param_count; p++) domains[p] = first[p];
  for (int e = 0; e < form->evaluation_count; e++) {
    const Domain *of_evaluation = learned_domains(form->evaluations[e].graph);
    for (int p = 0; p < c->program->param_count; p++)
      if (of_evaluation[p] != domains[p]) domains[p] = DOMAIN_NONE;
  }
  return domains;
}

/* Why not, of weights that have rows of nodes. */
static const char *not_of_learned(const Compilation *c) {
  const TypedProgram *p = c->program;
  const Domain *domains = learned_of_ranks(c);
  int learned = 0;
  for (int w = 0; w < p->param_count; w++) {
    const bool has_rows = p->params[w].type.rank > 0 && p->params[w].type.dim[0].name && strcmp(p->params[w].type.dim[0].name, "nodes") == 0;
    learned += domains[w] != DOMAIN_NONE;
    if (has_rows && domains[w] == DOMAIN_NONE) return arena_printf(c->arena, "%s has a row for each node, and something reads it otherwise; so far in one process", p->params[w].name);
  }
  if (!learned) return NULL;
  if (p->train.clip_kind == CLIP_NORM) return "clip = norm adds up the gradients of all nodes' learned values, so far in one process; clip = value does not";
  return NULL;
}

bool ranks_are_cut(const Compilation *c) { return c->program->train.boundary == BOUNDARY_EXACT; }

bool ranks_have_data_away(const Compilation *c) { return ranks_are_cut(c) && c->program->info->type_count == 0; }

/* Why not, of how values are cut. */
static const char *not_of_cut(const Compilation *c) {
  const CutWish wish = cut_wish(c);
  if (wish.layers) return "the layers of a rank are cut alike, so far";
  if (wish.mode == CUT_HALOS) return "the tables of a rank are its halos already: rows(P) cuts its values";
  if (!cut_wish_is_fixed(wish) || wish.mode == CUT_WHOLE || ranks_are_cut(c)) return NULL;
  return arena_printf(c->arena, "%s is for values that are whole, so far: no --cut", c->program->train.approximation);
}

static const char *not_for_ranks(const Compilation *c) {
  const TypedProgram *p = c->program;
  const Options *o = c->options;
  const bool is_planned_alone = o->product == PRODUCT_PLAN || o->product == PRODUCT_EMIT; /* what no program has can be planned for */
  const bool is_printed = options_emits(o, "c") || options_emits(o, "cuda");
  const char *why = c->backend == BACKEND_CUDA && (!is_planned_alone || is_printed) ? not_for_gpus(c) : NULL;
  if (why) return why;
  if (o->is_simulated && !is_planned_alone) return "several devices are planned for (--plan, --report), not run, by --backend=sim";
  if (c->ranks > GNN_RANKS_MOST && !is_planned_alone) return arena_printf(c->arena, "a program has at most %d ranks; more are planned for with --plan", GNN_RANKS_MOST);
  if (o->product == PRODUCT_OBJECT || o->product == PRODUCT_LIBRARY || o->product == PRODUCT_SHARED || o->is_single_file) return "a program, or its sources (-S), so far; libraries work in one process";
  if (o->has_double) return "gradients are checked in one process: -fgradcheck without --ranks";
  if (p->info->is_shapes_only && !is_planned_alone) return "how the nodes are shared out follows from the data, which were not read; --plan estimates it";
  if (p->train.batch_graphs || p->info->graphs > 1) return "sets of graphs are trained in one process, so far";
  if (p->has_train && p->train.ring_field != NO_INDEX) return "bpr compares scores of pairs that are anywhere, so far in one process; bce(out, links.label) takes each by itself";
  if (p->info->relation_count > 0 && !p->info->ranks) return "relations of data that were not read are for one process, so far";
  if (p->train.boundary != BOUNDARY_EXACT && p->info->has_pairs) return arena_printf(c->arena, "%s is for labels of nodes: candidate pairs may be others in each epoch", p->train.approximation);
  if (p->train.boundary == BOUNDARY_SAMPLE && p->info->type_count > 0) return arena_printf(c->arena, "%s draws rows of one type of nodes, so far; stale(1) takes several", p->train.approximation);
  if (p->train.boundary_number > 0 && o->precision == PRECISION_BF16) return arena_printf(c->arena, "%s counts rows several times or averages them, of 32 bits, so far: no --precision=bf16", p->train.approximation);
  if ((why = not_of_cut(c))) return why;
  for (int f = 0; f < FORM_COUNT; f++) {
    const char *why = not_of_one_graph(c->forms[f].training);
    if (!why && c->forms[f].evaluation_count) why = not_of_one_graph(c->forms[f].evaluations[0].graph);
    if (why) return why;
  }
  const Domain scored = c->evaluation->values[c->evaluation->scores].shape.domain;
  if (scored != DOMAIN_NODE && !(p->info->has_pairs && scored == typed_pairs(p->info))) return "scores of nodes or of candidate pairs, so far";
  if ((why = not_of_learned(c))) return why;
  if (!p->info->ranks) return "one graph with labels on its nodes, or with candidate pairs, so far";
  return NULL;
}

/* What a training gathers that draws its rows, in the mean: of rows, as many as are drawn; of gradients those that some edge leads to whose source was drawn. Tables have a row of zeros. */
static const RankInfo *sampled_ranks(Arena *arena, const RankInfo *all, double share) {
  RankInfo *ranks = arena_alloc(arena, sizeof *ranks), *sampled = arena_alloc(arena, sizeof *sampled);
  *ranks = *sampled = *all;
  ranks->table = arena_alloc(arena, (size_t)all->halos * sizeof *ranks->table);
  memcpy(ranks->table, all->table, (size_t)all->halos * sizeof *ranks->table);
  sampled->pairs = arena_alloc(arena, (size_t)all->halos * sizeof *sampled->pairs);
  memcpy(sampled->pairs, all->pairs, (size_t)all->halos * sizeof *sampled->pairs);
  for (HaloKind kind = HALO_FOR_SRC; kind <= HALO_FOR_DST; kind++) {
    int64_t *pairs = arena_alloc(arena, (size_t)(all->count * all->count) * sizeof *pairs);
    for (int i = 0; i < all->count * all->count; i++) {
      const double rows = (double)all->pairs[kind][i], edges = (double)all->pairs[HALO_OF_EDGES][i];
      pairs[i] = (int64_t)ceil(kind == HALO_FOR_DST ? share * rows : rows > 0 ? rows * (1 - pow(1 - share, edges / rows)) : 0);
    }
    sampled->pairs[kind] = pairs;
  }
  ranks->table[HALO_FOR_SRC]++;
  ranks->sampled = sampled;
  return ranks;
}

/* Whether a value is a number times a row of others: then rows that count n times are n of them. */
static int halos_in(const Graph *graph, ValueId id, bool *is_linear) {
  const Value *v = &graph->values[id];
  if (v->op == OP_HALO) return domain_is_edges(v->shape.domain) ? 0 : 1;
  if (!domain_is_relation(v->shape.domain)) return 0;
  int halos = 0;
  for (int k = 0; k < v->operand_count; k++) halos += halos_in(graph, v->operand[k], is_linear);
  const bool keeps = v->op == OP_LIFT || v->op == OP_RESHAPE || v->op == OP_BROADCAST || (v->op == OP_MAP && v->as.function == MAP_MUL) || v->op == OP_REDUCE || v->op == OP_DROPOUT;
  if (halos > 0 && !keeps) *is_linear = false;
  if (halos > 1) *is_linear = false;
  return halos;
}

/* The first value of a training that no sum of drawn rows can stand for, or that walks over out-edges where that is not a gradient. */
static const Value *not_for_samples(const CutForms *forms) {
  for (int f = 0; f < FORM_COUNT; f++) {
    const Graph *training = forms->forms[f].training;
    for (int i = 0; training && i < training->value_count; i++) {
      const Value *v = &training->values[i];
      bool is_linear = true;
      if (v->op == OP_HALO && v->shape.domain == DOMAIN_NODE && v->as.degree.end == END_SRC && v->phase == PHASE_FORWARD) return v;
      if (domain_is_relation(v->shape.domain) && v->op != OP_HALO) continue;
      for (int k = 0; k < v->operand_count; k++) {
        const int halos = domain_is_relation(training->values[v->operand[k]].shape.domain) ? halos_in(training, v->operand[k], &is_linear) : 0;
        if (halos > 0 && (!is_linear || v->op != OP_GATHER)) return v;
      }
    }
  }
  return NULL;
}

/* The program as one of its ranks has it: sizes are the most that one has. */
static const TypedProgram *program_of_rank(const Compilation *c) {
  const RankInfo *ranks = c->program->info->ranks;
  TypedProgram *p = arena_alloc(c->arena, sizeof *p);
  DataInfo *info = arena_alloc(c->arena, sizeof *info);
  *p = *c->program;
  *info = *c->program->info;
  p->info = info;
  info->is_of_rank = true;
  info->of_all = c->program->info;
  if (p->train.boundary == BOUNDARY_SAMPLE) { /* other edges one way than the other */
    info->is_symmetric = false;
    info->ranks = sampled_ranks(c->arena, ranks, p->train.boundary_number);
  }
  info->nodes = ranks->most_nodes;
  info->edges = ranks->most_edges;
  info->block_first = info->block_edges[0] = info->block_edges[1] = info->part_pairs[0] = info->part_pairs[1] = info->edge_pairs = NULL;
  for (int s = 0; s < SPLIT_COUNT; s++) info->split_count[s] = ranks->most_split[s], info->block_split[s] = NULL;
  Relation *relations = arena_alloc(c->arena, (size_t)(info->relation_count + 1) * sizeof *relations);
  for (int r = 0; r < info->relation_count; r++) {
    relations[r] = info->relations[r];
    relations[r].edges = ranks->most_related[r];
    relations[r].is_symmetric = false; /* what is gathered in both directions is of all relations, and differs */
  }
  if (info->relation_count) info->relations = relations, info->is_symmetric = false;
  NodeType *types = arena_alloc(c->arena, (size_t)(info->type_count + 1) * sizeof *types);
  for (int t = 0; t < info->type_count; t++) types[t] = (NodeType){info->types[t].name, ranks->groups[1 + t].most};
  info->types = types;
  const Domain *learned = learned_of_ranks(c);
  p->params = arena_alloc(c->arena, (size_t)(p->param_count + 1) * sizeof *p->params);
  for (int w = 0; w < p->param_count; w++) {
    p->params[w] = c->program->params[w];
    p->params[w].rows_of = learned[w];
    if (learned[w] != DOMAIN_NONE) p->params[w].type.dim[0].size = typed_rows(info, learned[w]);
  }
  p->fields = arena_alloc(c->arena, (size_t)(p->field_count + 1) * sizeof *p->fields);
  for (int f = 0; f < p->field_count; f++) {
    TypedField *field = &p->fields[f];
    *field = c->program->fields[f];
    int64_t most = 0;
    for (int r = 0, below = gnn_block_levels(ranks->nodes) - ranks->part_levels; field->block_nonzeros && r < ranks->count; r++) {
      const int64_t own = field->block_nonzeros[(int64_t)ranks->first_part[r + 1] << below] - field->block_nonzeros[(int64_t)ranks->first_part[r] << below];
      if (own > most) most = own;
    }
    field->all_nonzeros = field->nonzeros;
    if (field->block_nonzeros) field->nonzeros = most;
    field->block_nonzeros = field->column_nonzeros = NULL;
    field->file = NULL;
  }
  return p;
}

/* Beside it the whole graph, as a further type of nodes and a relation between them. All ranks pass columns of all rows, and get them back. */
static const RankInfo *ranks_with_all(Arena *arena, const RankInfo *of_rows) {
  const int count = of_rows->count, halos = HALO_KINDS + 3;
  RankInfo *ranks = arena_alloc(arena, sizeof *ranks);
  int64_t *edges = arena_alloc(arena, sizeof *edges);
  RankRows *groups = arena_alloc(arena, 2 * sizeof *groups);
  *ranks = *of_rows;
  *edges = ranks->edges;
  groups[0] = (RankRows){ranks->nodes, ranks->most_nodes, ranks->first};
  groups[1] = (RankRows){ranks->nodes, ranks->nodes, ranks->first};
  ranks->most_related = ranks->related_table = edges;
  ranks->groups = groups;
  ranks->halos = halos;
  ranks->pairs = arena_alloc(arena, (size_t)halos * sizeof *ranks->pairs);
  ranks->table = arena_alloc(arena, (size_t)halos * sizeof *ranks->table);
  ranks->sent = arena_alloc(arena, (size_t)halos * sizeof *ranks->sent);
  for (int h = 0; h < halos; h++) ranks->pairs[h] = h < HALO_KINDS ? of_rows->pairs[h] : arena_alloc(arena, (size_t)(count * count) * sizeof *ranks->pairs[h]);
  memcpy(ranks->table, of_rows->table, HALO_KINDS * sizeof *ranks->table);
  memcpy(ranks->sent, of_rows->sent, HALO_KINDS * sizeof *ranks->sent);
  return ranks;
}

static const TypedProgram *with_all(const Compilation *c) {
  static const char all[] = "all";
  const TypedProgram *of_rows = c->rank;
  const RankInfo *ranks = ranks_with_all(c->arena, of_rows->info->ranks);
  TypedProgram *p = arena_alloc(c->arena, sizeof *p);
  DataInfo *info = arena_alloc(c->arena, sizeof *info);
  NodeType *type = arena_alloc(c->arena, sizeof *type);
  Relation *relation = arena_alloc(c->arena, sizeof *relation);
  *p = *of_rows;
  *info = *of_rows->info;
  p->info = info;
  *type = (NodeType){all, ranks->nodes};
  *relation = (Relation){all, DOMAIN_OF_EDGES(EDGES_OF_RELATIONS, ROWS_OF_TYPES, ROWS_OF_TYPES), ranks->edges, info->is_symmetric};
  info->has_all = true;
  info->types = type;
  info->relations = relation;
  info->type_count = info->relation_count = 1;
  info->ranks = ranks;
  const HaloKind columns = typed_columns_halo(info), back = typed_back_halo(info);
  for (int r = 0, count = ranks->count; r < count; r++) {
    const int64_t own = ranks->first[r + 1] - ranks->first[r];
    for (int q = 0; q < count; q++)
      if (q != r) ranks->pairs[columns][q * count + r] = ranks->pairs[back][r * count + q] = own;
  }
  ranks->table[columns] = ranks->nodes;
  return p;
}

const TypedProgram *program_of_cut(Compilation *c, Cut cut) {
  if (!cut.transposed) return c->rank ? c->rank : c->program;
  if (!c->rank_with_all) c->rank_with_all = with_all(c);
  return c->rank_with_all;
}

bool share_out_ranks(Compilation *c) {
  if (c->ranks < 2) return true;
  const char *why = not_for_ranks(c);
  if (!why && c->options->has_halos && !c->program->info->is_shapes_only) why = "--halos is for data that are not read; of these rows of others were counted";
  if (why) return refuse_ranks(c, why);
  c->rank = program_of_rank(c);
  const Cut cut = cut_asked(c);
  if (cut.graph_home != TIER_DEVICE || cut.learned_home != TIER_DEVICE) return refuse_ranks(c, "a rank's graph, and its learned values, stay on its device, so far: fate of these");
  if (cut.fields_home != TIER_DEVICE && !ranks_have_data_away(c)) return refuse_ranks(c, "fields that stay away are for ranks of one type of nodes and without approximations, so far: fate of a field");
  const CutForms *forms = cut_forms(c, cut);
  if (!forms && c->options->precision == PRECISION_BF16) return refuse_ranks(c, "in bf16 a value of this model would be rounded where one process has it as it was computed (a difference of both ends of edges that is stored, as in EdgeConv); fp32 takes it");
  if (!forms) return refuse_ranks(c, "some step of this model would read rows of other ranks that are in none of its tables");
  const Value *odd = c->program->train.boundary == BOUNDARY_SAMPLE ? not_for_samples(forms) : NULL;
  if (odd) return refuse_ranks(c, arena_printf(c->arena, "%s: drawn rows are for sums over in-edges of numbers times rows (GCN, SAGE, GIN), and %s is none; stale(1) takes it", c->program->train.approximation, odd->said ? odd->said : odd->name));
  ARENA_PUSH(c->arena, c->evaluation->notes, c->evaluation->note_count, arena_printf(c->arena, "%d ranks", c->ranks));
  return true;
}

bool check_cut(Compilation *c) {
  const CutWish wish = cut_wish(c);
  if (!cut_wish_is_fixed(wish)) return true;
  if (c->program->train.batch_graphs) return refuse_cut(c, "that work on all data at once, and this one works in batches of graphs");
  if (!check_layers(c, wish)) return false;
  const int parts = parts_said(wish), most = parts_at_most(c->program->info, parts);
  if (most == parts) return true;
  diags_error(c->diags, "E0512", diags_no_place(), "%s(%d): %s %d canonical block%s of nodes, so there %s at most %d part%s", wish.mode == CUT_HALOS ? "halos" : "rows", parts, c->ranks > 1 ? "some rank has" : "these data have", most, most == 1 ? "" : "s", most == 1 ? "is" : "are", most,
              most == 1 ? "" : "s");
  return false;
}

/* `fate "x" = keep`: the last pattern that matches wins. */
static bool is_kept(const TypedProgram *p, const char *name) {
  bool is = false;
  for (int i = 0; i < p->fate_count; i++)
    if (fnmatch(p->fates[i].pattern, name, 0) == 0) is = p->fates[i].fate == FATE_KEEP;
  return is;
}

bool cut_keeps_graph(const Compilation *c) { return is_kept(c->program, "graph_in_idx") || is_kept(c->program, "graph_out_idx"); }

/* Numbers on nodes that only kernels read. */
static bool *fields_away(const Compilation *c) {
  const TypedProgram *p = c->program;
  bool *is_away = arena_alloc(c->arena, (size_t)p->field_count + 1);
  for (int f = 0; f < p->field_count; f++) {
    const bool is_measured = p->has_train && (f == p->train.label_field || f == p->train.ring_field);
    is_away[f] = p->fields[f].type.domain == DOMAIN_NODE && p->fields[f].type.dtype != DTYPE_CLASS && !is_measured && (c->ranks < 2 || !c->is_sparse_field[f]) && !is_kept(p, p->fields[f].name);
  }
  return is_away;
}

const char *cut_field_away(const Compilation *c) {
  const bool *is_away = fields_away(c);
  for (int f = 0; f < c->program->field_count; f++)
    if (is_away[f]) return c->program->fields[f].name;
  return NULL;
}

/* Weights with a row for each node, in all graphs that there are. */
static bool *learned_away(const Compilation *c) {
  const Form *form = &c->forms[FORM_PLAIN];
  bool *is_away = arena_alloc(c->arena, (size_t)c->program->param_count + 1);
  for (int e = -1; e < form->evaluation_count; e++) {
    const Graph *graph = e < 0 ? form->training : form->evaluations[e].graph;
    const bool *is_learned = graph ? learned_on_nodes(graph) : NULL;
    for (int p = 0; is_learned && p < c->program->param_count; p++) is_away[p] = is_learned[p] && (e < 1 - !form->training || is_away[p]) && !is_kept(c->program, c->program->params[p].name);
  }
  return is_away;
}

const char *cut_learned_away(const Compilation *c) {
  const bool *is_away = learned_away(c);
  for (int p = 0; p < c->program->param_count; p++)
    if (is_away[p]) return c->program->params[p].name;
  return NULL;
}

int64_t scores_bytes(const Compilation *c) {
  const Type *scores = &c->program->exprs[c->program->result].type;
  int64_t columns = 1;
  for (int d = 0; d < scores->rank; d++) columns *= scores->dim[d].size;
  return 4 * typed_rows(c->program->info, scores->domain) * columns;
}

/* The slower tier, where both were said. */
static Tier farther(Tier a, Tier b) { return a > b ? a : b; }

/* `fate "x" = host` of a field that can stay there, `fate "graph_in_idx" = ssd`. */
static Cut cut_of_fates(const Compilation *c) {
  const TypedProgram *p = c->program;
  const Cut cut = {.parts = 1, .slices = 1, .ranks = c->rank ? c->ranks : 0};
  Tier fields = TIER_DEVICE, graph = TIER_DEVICE, learned = TIER_DEVICE;
  if (p->train.batch_graphs || c->options->has_double) return cut;
  const bool *can_be_away = fields_away(c), *is_learned = learned_away(c);
  for (int i = 0; i < p->fate_count; i++) {
    const Fate fate = p->fates[i].fate;
    if (fate != FATE_HOST && fate != FATE_SSD) continue;
    if (pin_names_graph(&p->fates[i]) && !cut_keeps_graph(c)) graph = farther(graph, fate_tier(fate));
    for (int f = 0; f < p->field_count; f++)
      if (can_be_away[f] && fnmatch(p->fates[i].pattern, p->fields[f].name, 0) == 0) fields = farther(fields, fate_tier(fate));
    for (int w = 0; w < p->param_count; w++)
      if (is_learned[w] && fnmatch(p->fates[i].pattern, p->params[w].name, 0) == 0) learned = farther(learned, fate_tier(fate));
  }
  return cut_with_homes(&c->machine, scores_bytes(c), cut, fields, graph, learned);
}

Cut cut_asked(const Compilation *c) {
  const CutWish wish = cut_wish(c);
  Cut cut = cut_of_fates(c);
  const int said = parts_said(wish), parts = said ? said : parts_at_most(c->program->info, PARTS_USUALLY);
  cut.layers = cut_layers(c, wish);
  if (said && wish.mode != CUT_WHOLE) cut.parts = said;
  else if (wish.mode == CUT_SLICES || cut.layers || (wish.mode == CUT_AUTO && cut_has_data_away(cut))) cut.parts = parts;
  if (wish.mode == CUT_SLICES) cut.slices = wish.count;
  cut.has_halos = wish.mode == CUT_HALOS;
  return cut;
}

/* ---- forms ---- */

enum { GRADIENT_SLICES = 8 /* beside halos: a column of sparse features has rows of all parts */ };

/* They would be more than a share of the device's room. Ranked pairs have none. */
static bool has_labels_away(const Compilation *c) {
  enum { LEAST_SHARE = 256 };
  const int64_t bytes = 4 * c->program->info->nodes;
  return c->program->has_train && c->program->train.ring_field == NO_INDEX && bytes >= LEAST_AWAY_BYTES && bytes >= c->machine.tier_bytes[TIER_DEVICE] / LEAST_SHARE;
}

/* Of classes of nodes, with one split for all runs: as many of each part are counted. */
static bool has_split_rows_away(const Compilation *c) {
  const TypedProgram *p = c->program;
  return has_labels_away(c) && p->info->fold_count == 0 && !p->train.batch_graphs && p->exprs[p->result].type.domain == DOMAIN_NODE;
}

static Kernels *fuse_cut(Compilation *c, Graph *graph, const Kernels *whole) { return fuse_alike(c, graph, NULL, &whole, 1); }

static void note_whole_gradients(Compilation *c, const Graph *training, Graph *evaluation) {
  const char *whole = training ? learned_whole_gradients(training) : NULL;
  if (whole) ARENA_PUSH(c->arena, evaluation->notes, evaluation->note_count, arena_printf(c->arena, "whole until the length of all gradients is known: %s", whole));
}

/* What is noted of the sums of a training is told with the evaluation. */
static void note_sums(const Compilation *c, const Graph *before, const Graph *training, Graph *evaluation) {
  for (int n = before->note_count; n < training->note_count; n++) ARENA_PUSH(c->arena, evaluation->notes, evaluation->note_count, training->notes[n]);
}

static const bool *learned_by_rank(const Compilation *c) {
  bool *is_learned = arena_alloc(c->arena, (size_t)c->program->param_count + 1);
  for (int p = 0; p < c->program->param_count; p++) is_learned[p] = c->rank->params[p].rows_of != DOMAIN_NONE;
  return is_learned;
}

/* A rank reads a table as whole values are read. */
static bool takes_halos(const Kernels *kernels, bool is_of_rank, bool has_codes_alone) { return is_of_rank ? !kernels || !kernels->asks_others : kernels_take_halos(kernels, has_codes_alone); }

/* Of all parts of a rank; 0: its values are whole. */
static int64_t rows_of_rank(const Compilation *c, Cut cut) { return cut.ranks && cut.parts > 1 ? parts_rows_of_rank(c->arena, c->rank->info, cut.parts) : 0; }

/* False: not all of its kernels leave the bits of those of `from`. */
static bool cut_form(Compilation *c, const Form *from, Cut cut, Form *form) {
  const bool *is_away = cut.fields_home != TIER_DEVICE ? fields_away(c) : NULL;
  const bool *is_learned = cut.ranks ? learned_by_rank(c) : cut.learned_home != TIER_DEVICE ? learned_away(c) : NULL;
  int halo_levels = 0;
  while (cut.has_halos && 2 << halo_levels <= cut.parts) halo_levels++;
  CutOptions options = {.slices = cut.has_halos ? GRADIENT_SLICES : cut.slices, .layers = cut.layers, .is_away = is_away, .is_learned = is_learned, .is_sparse = c->is_sparse_field, .is_graph_away = cut.graph_home != TIER_DEVICE,
                              .has_halos = cut.has_halos, .has_edge_halos = cut.has_halos && edge_halos_have_codes(c->program->info, halo_levels), .is_following = c->options->precision != PRECISION_BF16};
  if (cut.ranks) options.layers = NULL, options.rank = program_of_cut(c, cut), options.transposed = cut.transposed, options.recomputed = cut.recomputed, options.has_halos = options.has_edge_halos = true, options.is_following = options.is_following && cut.slices > 1;
  options.has_split_rows = !cut.ranks && is_away && has_split_rows_away(c);
  if (cut.has_halos && (halo_levels > HALO_LEVELS || !halos_have_codes(c->program->info, halo_levels))) return false;
  const DataHomes homes = {is_away, cut.fields_home, cut.graph_home, cut.scores_home, cut.learned_home, halo_levels, rows_of_rank(c, cut), !cut.ranks && has_labels_away(c)};
  *form = *from;
  if (from->evaluation_count == 0) return true;
  if (from->training) form->training = cut_graph(from->training, options);
  if (form->training) form->training_kernels = fuse_cut(c, form->training, from->training_kernels);
  bool is_alike = !form->training || form->training_kernels;
  CutOptions measured = options;
  measured.has_labels = c->backend == BACKEND_CUDA && !cut.ranks && is_away && has_labels_away(c) && measures_are_plain(&c->program->train);
  for (int e = 0; e < form->evaluation_count && is_alike; e++) {
    Graph *graph = cut_graph(from->evaluations[e].graph, measured);
    note_whole_gradients(c, form->training, graph);
    if ((cut.transposed || cut.recomputed) && form->training) note_sums(c, from->training, form->training, graph);
    form->evaluations[e] = (EvaluationForm){graph, fuse_cut(c, graph, from->evaluations[e].kernels)};
    is_alike = form->evaluations[e].kernels != NULL;
  }
  if (is_alike && form->once && (cut_has_data_away(cut) || cut.ranks)) {
    options.transposed = options.recomputed = NULL; /* what passes but once may be more */
    form->once_graph = cut_graph(from->once_graph, options);
    form->once = fuse_cut(c, form->once_graph, from->once);
    is_alike = form->once && takes_halos(form->once, cut.ranks > 0, cut.has_halos && options.is_graph_away);
  }
  is_alike = is_alike && takes_halos(form->training_kernels, cut.ranks > 0, cut.has_halos && options.is_graph_away);
  for (int e = 0; e < form->evaluation_count && is_alike; e++) is_alike = takes_halos(form->evaluations[e].kernels, cut.ranks > 0, cut.has_halos && options.is_graph_away);
  if (!is_alike) return false;
  Residents *stays = form_residents(c->arena, form, c->is_sparse_field, homes);
  if (cut.cached.bytes > 0) residents_cache(c->arena, stays, cut.cached);
  form->residents = stays;
  return true;
}

/* ---- tables that come once ---- */

/* Not what a library or a metric is given, nor what has no rows. */
static bool *fields_of_tables(const Compilation *c) {
  bool *can_be_table = fields_away(c);
  for (int f = 0; f < c->program->field_count; f++) can_be_table[f] = can_be_table[f] && !c->is_sparse_field[f];
  return can_be_table;
}

static void note_tables(const Compilation *c, const OnceTables *tables, const Form *form, bool are_kept, const char *when) {
  const char *text = "";
  for (int i = 0; i < tables->count; i++)
    if (tables->list[i].is_kept == are_kept) text = arena_printf(c->arena, "%s%s%s", text, *text ? ", " : "", tables->list[i].rows);
  for (int e = 0; *text && e < form->evaluation_count; e++) {
    Graph *evaluation = form->evaluations[e].graph;
    ARENA_PUSH(c->arena, evaluation->notes, evaluation->note_count, arena_printf(c->arena, "rows of other ranks that never change come %s: %s", when, text));
  }
}

/* In bf16: they are kept as they were read. */
static void keep_tables_exact(const Tables *t, const Graph *const *before, const Kernels *const *kernels, int count) {
  for (int i = t->first; i < t->once->once_count; i++) {
    bool is_rounded = true;
    for (int g = 0; g < count; g++) {
      const ValueId was = t->origin[g][t->once->once[i]];
      is_rounded = is_rounded && (was == NO_VALUE || (before[g]->values[was].op == OP_HALO && kernels_read_rounded(kernels[g], was)));
    }
    t->once->values[t->once->once[i]].is_exact = !is_rounded;
    for (int g = 0; g < count; g++)
      for (int v = 0; v < t->graphs[g]->value_count; v++)
        if (t->graphs[g]->values[v].op == OP_HOISTED && t->graphs[g]->values[v].as.once.index == i) t->graphs[g]->values[v].is_exact = !is_rounded;
  }
}

/* NULL: there is nothing that could come once. */
static const Tables *tables_of(const Compilation *c, const Form *form, const RowsAgain *again) {
  const Graph *graphs[TABLE_GRAPHS] = {form->training};
  const int count = 1 + form->evaluation_count;
  if (!c->is_hoisting || c->options->trial || !form->training || form->evaluation_count == 0 || count > TABLE_GRAPHS || c->program->train.boundary == BOUNDARY_SAMPLE) return NULL; /* drawn rows are others in each epoch */
  for (int e = 0; e < form->evaluation_count; e++) graphs[1 + e] = form->evaluations[e].graph;
  return hoist_tables(form->once_graph, graphs, count, fields_of_tables(c), again);
}

/* `form` with the tables of ranks that are kept among what is computed once. False: other kernels would have other bits. */
static bool with_tables(Compilation *c, const Form *form, const Tables *t, DataHomes homes, Form *made) {
  const Graph *graphs[TABLE_GRAPHS] = {form->training};
  const Kernels *before[TABLE_GRAPHS] = {form->training_kernels};
  const int count = 1 + form->evaluation_count;
  for (int e = 0; e < form->evaluation_count; e++) graphs[1 + e] = form->evaluations[e].graph, before[1 + e] = form->evaluations[e].kernels;
  if (c->options->precision == PRECISION_BF16) keep_tables_exact(t, graphs, before, count);
  *made = *form;
  made->once_graph = t->once;
  made->training = t->graphs[0];
  made->once = fuse_alike(c, t->once, t->origin, before, count);
  made->training_kernels = fuse_cut(c, t->graphs[0], before[0]);
  bool is_alike = made->once && made->training_kernels && takes_halos(made->once, true, false) && takes_halos(made->training_kernels, true, false);
  for (int e = 0; e < form->evaluation_count && is_alike; e++) {
    made->evaluations[e] = (EvaluationForm){t->graphs[1 + e], fuse_cut(c, t->graphs[1 + e], before[1 + e])};
    is_alike = made->evaluations[e].kernels && takes_halos(made->evaluations[e].kernels, true, false);
  }
  if (is_alike) made->residents = form_residents(c->arena, made, c->is_sparse_field, homes);
  return is_alike;
}

/* Sums that are computed once are worth more than such tables: these have room beside them only where all that stays leaves half of the device. */
static bool have_room(const Compilation *c, const Form *made, bool has_sums) { return !has_sums || made->residents->bytes <= c->machine.tier_bytes[TIER_DEVICE] / 2; }

/* Where data are away none is kept: a rank has its own rows alone, at home wherever these are. */
static void keep_tables(Compilation *c, Cut cut, Form *forms) {
  static const char once[] = "once, before the first epoch", always[] = "in every epoch, as there is no room to keep them", again[] = "in every epoch, each from the one rank that has it (dedup)";
  const DataHomes homes = {.fields = TIER_DEVICE, .graph = TIER_DEVICE, .scores = TIER_DEVICE, .learned = TIER_DEVICE, .rank_rows = rows_of_rank(c, cut)};
  const bool has_sums = forms[FORM_HOISTED].evaluation_count > 0;
  const Form *from = &forms[has_sums ? FORM_HOISTED : FORM_PLAIN];
  Form made;
  bool are_kept[FORM_COUNT] = {false};
  const Tables *of[FORM_COUNT];
  for (int f = 0; f < FORM_COUNT; f++) of[f] = tables_of(c, &forms[f], cut_has_data_away(cut) ? &all_rows_again : cut.again);
  const Tables *t = of[from - forms];
  if (t && t->once->once_count > t->first) {
    if (!with_tables(c, from, t, homes, &made)) return;
    are_kept[FORM_HOISTED] = have_room(c, &made, has_sums);
  }
  if (are_kept[FORM_HOISTED]) forms[FORM_HOISTED] = made, of[FORM_HOISTED] = t;
  for (int f = 0; f < FORM_COUNT; f++) {
    if (!of[f]) continue;
    forms[f].tables = &of[f]->all;
    note_tables(c, &of[f]->all, &forms[f], true, are_kept[f] ? once : always);
    note_tables(c, &of[f]->all, &forms[f], false, again);
  }
}

/* A hoisted form that would have other bits is left out. NULL: the plain one would. */
static CutForms *make_cut_forms(Compilation *c, Cut cut) {
  Form *forms = arena_alloc(c->arena, FORM_COUNT * sizeof *forms);
  if (!cut_form(c, &c->forms[FORM_PLAIN], cut, &forms[FORM_PLAIN])) return NULL;
  if (!cut_form(c, &c->forms[FORM_HOISTED], cut, &forms[FORM_HOISTED])) forms[FORM_HOISTED] = (Form){.evaluation_count = 0};
  if (cut.ranks) keep_tables(c, cut, forms);
  CutForms *made = arena_alloc(c->arena, sizeof *made);
  if (cut.ranks && cut.fields_home == TIER_DEVICE) cut.fields_home = cut_asked(c).fields_home; /* what was asked for can be, whatever is tried beside it */
  *made = (CutForms){forms, pins_read(c->arena, c->program, forms[FORM_PLAIN].training_kernels, &c->machine, cut, c->diags)};
  return made;
}

static CutForms *whole_forms(Compilation *c) {
  CutForms *forms = arena_alloc(c->arena, sizeof *forms);
  *forms = (CutForms){c->forms, c->request.pins};
  return forms;
}

const CutForms *cut_forms(void *compilation, Cut cut) {
  Compilation *c = compilation;
  Cut kind = cut; /* graphs do not depend on how many parts there are; but for what halos take, and where what is away of ranks lies */
  if (!cut.has_halos && !(cut.ranks && cut_has_data_away(cut))) kind.parts = cut.parts > 1 ? 2 : 1;
  for (int i = 0; i < c->cut_count; i++)
    if (cut_is(c->cuts[i].cut, kind)) return c->cuts[i].forms;
  CutForms *made = cut_is_of_whole_values(kind) ? whole_forms(c) : make_cut_forms(c, kind);
  ARENA_PUSH(c->arena, c->cuts, c->cut_count, ((struct CutKept){kind, made}));
  return made;
}
