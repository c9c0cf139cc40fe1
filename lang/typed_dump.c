/* typed_dump: the typed program as text, one expression a line. */
#include <string.h>

#include "lang.h"
#include "rates.h"

static void dump_type(const TypedProgram *program, const Type *type, FILE *out) {
  fputs(typed_domain_name(program->info, type->domain), out);
  if (type->dtype == DTYPE_CLASS) {
    fprintf(out, " class[%lld]", (long long)type->classes);
    return;
  }
  fputc('[', out);
  for (int d = 0; d < type->rank; d++) {
    const Dim *dim = &type->dim[d];
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", (long long)dim->size);
    fputs(d ? ", " : "", out);
    if (strcmp(digits, dim->name) == 0) fputs(digits, out);
    else fprintf(out, "%s=%s", dim->name, digits);
  }
  fputc(']', out);
}

static void dump_operation(const TypedProgram *program, const TypedExpr *e, FILE *out) {
  static const char *const ends[] = {"src", "dst"};
  switch (e->kind) {
  case TYPED_NUMBER: fprintf(out, "number %.9g", e->number); break;
  case TYPED_OPTION: fprintf(out, "option %s", program->options[e->index].name); break;
  case TYPED_FIELD: fprintf(out, "field %s", program->fields[e->index].name); break;
  case TYPED_PARAM: fprintf(out, "param %s", program->params[e->index].name); break;
  case TYPED_DEGREE:
    fputs(e->end == END_DST ? "in_degree" : "out_degree", out);
    if (e->edges != DOMAIN_EDGE) fprintf(out, " over %s", typed_domain_name(program->info, e->edges));
    break;
  case TYPED_ZEROS: fputs("zeros", out); break;
  case TYPED_LIFT: fprintf(out, "lift.%s", ends[e->end]); break;
  case TYPED_REDUCE_EDGES: fprintf(out, "%s.%s", typed_reducer_name(e->reducer), ends[e->end]); break;
  case TYPED_REDUCE_AXIS: fprintf(out, "%s axis %d", typed_reducer_name(e->reducer), e->axis); break;
  case TYPED_REDUCE_ROWS: fprintf(out, "%s rows", typed_reducer_name(e->reducer)); break;
  case TYPED_ROW_COUNT: fputs("row count", out); break;
  case TYPED_RUNNING: fprintf(out, "running %.9g", e->number); break;
  case TYPED_SPREAD: fputs("spread", out); break;
  case TYPED_WHERE: fputs("where", out); break;
  case TYPED_STOP: fputs("stop_gradient", out); break;
  case TYPED_CONCAT: fprintf(out, "concat axis %d", e->axis); break;
  case TYPED_SLICE: fprintf(out, "slice axis %d from %lld", e->axis, (long long)e->begin); break;
  case TYPED_MATMUL: fputs("matmul", out); break;
  case TYPED_DOT: fputs("dot", out); break;
  case TYPED_MAP: fputs(typed_map_name(e->map), out); break;
  case TYPED_DROPOUT: fputs("dropout", out); break;
  case TYPED_RESHAPE: fputs("reshape", out); break;
  }
  for (int i = 0; i < e->operand_count; i++) fprintf(out, " %%%d", e->operand[i]);
}

static void dump_source(const DataSource *source, FILE *out) {
  fprintf(out, "%s(", source->kind);
  for (int i = 0; i < source->arg_count; i++) {
    const SourceArg *arg = &source->args[i];
    fprintf(out, "%s%s%s", i ? ", " : "", arg->key, *arg->key ? " = " : "");
    if (arg->text) fprintf(out, "\"%s\"", arg->text);
    else fprintf(out, "%.9g", arg->number);
  }
  fputc(')', out);
}

static void dump_data(const TypedProgram *program, FILE *out) {
  static const char *const loops[] = {"keep", "add", "remove"};
  const DataSpec *spec = program->data;
  const DataRecipe *recipe = &spec->recipe;
  fprintf(out, "data %s from ", spec->name);
  dump_source(&spec->source, out);
  fprintf(out, ": %lld nodes, %lld edges, self_loops = %s%s%s\n", (long long)program->info->nodes, (long long)program->info->edges,
          loops[recipe->self_loops], recipe->is_undirected ? ", undirected" : "", recipe->keeps_duplicates ? ", duplicates = keep" : "");
  if (recipe->has_random_split)
    fprintf(out, "  split random(%.9g, %.9g, %.9g, seed = %llu)\n", recipe->split_fraction[0], recipe->split_fraction[1],
            recipe->split_fraction[2], (unsigned long long)recipe->split_seed);
  else if (recipe->has_folds) fprintf(out, "  split folds(%lld, seed = %llu)%s\n", (long long)recipe->fold_count, (unsigned long long)recipe->split_seed, recipe->fold_has_valid ? ", with one for validation" : "");
  else if (recipe->split_index) fprintf(out, "  split index(%d)\n", recipe->split_index);
  if (recipe->order == ORDER_NESTED) fprintf(out, "  order nested\n");
  if (recipe->order == ORDER_FILE) fprintf(out, "  order \"%s\"\n", recipe->order_path);
  for (int i = 0; i < spec->decl_count; i++) {
    if (!spec->decls[i].source) continue;
    fprintf(out, "  %s = ", spec->decls[i].name);
    dump_source(spec->decls[i].source, out);
    fputc('\n', out);
  }
  for (int i = 0; i < program->field_count; i++) {
    const TypedField *field = &program->fields[i];
    fprintf(out, "field %s : ", field->name);
    dump_type(program, &field->type, out);
    if (field->nonzeros != NO_INDEX) fprintf(out, ", %lld not 0", (long long)field->nonzeros);
    fprintf(out, "%s\n", field->is_row_normalised ? ", rows normalised" : "");
  }
}

static void dump_scalar(const TypedProgram *program, const char *name, TypedId id, FILE *out) {
  if (id == NO_INDEX) return;
  const TypedExpr *e = &program->exprs[id];
  fprintf(out, " %s ", name);
  if (e->kind == TYPED_NUMBER) fprintf(out, "%.9g", e->number);
  else if (e->kind == TYPED_OPTION) fputs(program->options[e->index].name, out);
  else fprintf(out, "%%%d", id);
}

static void dump_hyper(const TypedProgram *program, const Hyper *h, FILE *out) {
  for (int k = 0; k < HYPER_COUNT; k++) {
    if (k < HYPER_FIRST_FLAG) dump_scalar(program, hyper_names[k], h->value[k], out);
    else if (h->value[k] != NO_INDEX && program->exprs[h->value[k]].number != 0) fprintf(out, " %s", hyper_names[k]);
  }
  if (h->rate == NO_INDEX) {
    fputc('\n', out);
    return;
  }
  const RateSchedule *schedule = &program->train.schedules[h->rate];
  const ScheduleInfo *info = &schedule_info[schedule->kind];
  fprintf(out, ", %s", info->name);
  for (int a = 0; a < info->argument_count; a++) dump_scalar(program, info->arguments[a].name, schedule->argument[a], out);
  dump_scalar(program, "warmup", schedule->warmup, out);
  fputc('\n', out);
}

static const char *measure_name(const TrainSpec *t, Measure measure) { return measure == MEASURE_LOSS ? "loss" : t->metrics[measure - MEASURE_METRIC].name; }

static void dump_train(const TypedProgram *program, FILE *out) {
  const TrainSpec *t = &program->train;
  fprintf(out, "train: %s(%%%d, %s), epochs %lld, runs %lld, seed %lld, evaluate every %lld, checkpoint every %lld",
          loss_names[t->loss], t->scores, program->fields[t->label_field].name, (long long)t->epochs, (long long)t->runs, (long long)t->seed,
          (long long)t->evaluate_every, (long long)t->checkpoint_every);
  for (int i = 0; i < t->metric_count; i++) fprintf(out, ", %s", t->metrics[i].name);
  if (t->has_confusion) fputs(", confusion", out);
  fputc('\n', out);
  if (t->smoothing != 0) fprintf(out, "  label_smoothing %.9g\n", t->smoothing);
  if (t->class_weights) fputs("  weights", out);
  for (int i = 0; i < t->class_weight_count; i++) fprintf(out, " %.9g%s", t->class_weights[i], i + 1 == t->class_weight_count ? "\n" : "");
  if (t->loss == GNN_LOSS_HUBER) fprintf(out, "  delta %.9g\n", t->delta);
  if (t->loss == GNN_LOSS_BCE) fprintf(out, "  pos_weight %.9g\n", t->pos_weight);
  fprintf(out, "  %s", optimizer_names[t->optimizer]);
  dump_hyper(program, &t->hyper, out);
  for (int i = 0; i < t->group_count; i++) {
    fprintf(out, "  group \"%s\"", t->groups[i].pattern);
    dump_hyper(program, &t->groups[i].hyper, out);
  }
  if (t->has_plateau)
    fprintf(out, "  plateau after %lld without better %s.%s\n", (long long)t->plateau_patience, split_names[t->plateau_split], measure_name(t, t->plateau_measure));
  if (t->batch_graphs) fprintf(out, "  batches of %lld graphs%s, %lld of them: at most %lld nodes and %lld edges\n", (long long)t->batch_graphs, t->batch_shuffles ? ", shuffled" : "", (long long)t->batch_count, (long long)program->info->nodes, (long long)program->info->edges);
  if (t->reports_folds) fputs("  report mean_over_folds\n", out);
  if (t->approximation) fprintf(out, "  approximate %s\n", t->approximation);
  if (t->accumulate > 1) fprintf(out, "  accumulate %lld\n", (long long)t->accumulate);
  if (t->clip_kind != CLIP_NONE) {
    fputs("  clip", out);
    dump_scalar(program, t->clip_kind == CLIP_NORM ? "norm" : "value", t->clip, out);
    fputc('\n', out);
  }
  if (t->has_keep) fprintf(out, "  keep best %s.%s\n", split_names[t->keep_split], measure_name(t, t->keep_measure));
  if (t->has_stop)
    fprintf(out, "  stop after %lld without better %s.%s\n", (long long)t->patience, split_names[t->stop_split], measure_name(t, t->stop_measure));
  fputs("  show", out);
  for (int i = 0; i < SPLIT_COUNT; i++)
    if (t->shows[i]) fprintf(out, " %s", split_names[i]);
  fputc('\n', out);
}

static void dump_rates(const DeviceRates *rates, FILE *out) {
  DeviceRates copy = *rates;
  const RateSetting *setting;
  for (int i = 0; (setting = rate_setting(i)); i++) {
    const double *numbers = rate_numbers(&copy, setting);
    if (numbers[0] == 0) continue;
    fprintf(out, "  %s", setting->name);
    for (int k = 0; k < (setting->is_list ? rates->size_count : 1); k++) fprintf(out, " %.9g", numbers[k]);
    fputc('\n', out);
  }
}

static void dump_target(const TypedProgram *program, FILE *out) {
  const TargetSpec *t = &program->target;
  if (program->has_target) {
    fprintf(out, "target %s: %s is %s, %lld bytes, %lld reserved, %.9g B/s, %.9g flop/s, %d threads; host %lld, ssd %lld%s%s\n", t->name,
            t->device, t->kind, (long long)t->device_bytes, (long long)t->reserve_bytes, t->device_bandwidth, t->fp32_flops, t->threads,
            (long long)t->host_bytes, (long long)t->ssd_bytes, t->ssd_path ? " at " : "", t->ssd_path ? t->ssd_path : "");
    if (t->tf32_flops > 0) fprintf(out, "  tf32 %.9g flop/s\n", t->tf32_flops);
    if (t->bf16_flops > 0) fprintf(out, "  bf16 %.9g flop/s\n", t->bf16_flops);
    dump_rates(&t->rates, out);
    if (target_devices(t) > 1) fprintf(out, "  %d nodes of %d devices\n", t->nodes, t->count);
    if (t->device_link.bandwidth > 0) fprintf(out, "  device <-> device: %.9g B/s, %.9g s\n", t->device_link.bandwidth, t->device_link.latency);
    if (t->node_link.bandwidth > 0) fprintf(out, "  node <-> node: %.9g B/s, %.9g s\n", t->node_link.bandwidth, t->node_link.latency);
    for (int i = 0; i < t->link_count; i++) {
      const TargetLink *link = &t->links[i];
      fprintf(out, "  %s -> %s: %.9g B/s, %.9g s", tier_names[link->from], tier_names[link->to], link->bandwidth, link->latency);
      if (link->slowdown > 0) fprintf(out, ", slows compute by %.9g %%", 100 * link->slowdown);
      fputc('\n', out);
    }
  }
  for (int i = 0; i < program->budget_count; i++) {
    const TierBudget *b = &program->budgets[i];
    if (b->bytes >= 0) fprintf(out, "budget %s %lld bytes\n", tier_names[b->tier], (long long)b->bytes);
    else fprintf(out, "budget %s %.9g %%\n", tier_names[b->tier], 100 * b->share);
  }
}

static void dump_plan(const TypedProgram *program, FILE *out) {
  for (int i = 0; i < program->fate_count; i++) fprintf(out, "fate \"%s\" %s\n", program->fates[i].pattern, fate_names[program->fates[i].fate]);
  if (program->plan_effort) fprintf(out, "effort %s\n", program->plan_effort);
  if (program->plan_policy) fprintf(out, "policy %s\n", program->plan_policy);
}

void typed_dump(const TypedProgram *program, FILE *out) {
  static const char *const inits[] = {"constant", "uniform", "normal"};
  fprintf(out, "model %s\n", program->name);
  dump_data(program, out);
  for (int i = 0; i < program->option_count; i++)
    fprintf(out, "option %s = %.9g \"%s\"\n", program->options[i].name, program->options[i].value, program->options[i].help);
  for (int i = 0; i < program->param_count; i++) {
    const TypedParam *param = &program->params[i];
    fprintf(out, "param %s : ", param->name);
    dump_type(program, &param->type, out);
    fprintf(out, " = %s %.9g%s\n", inits[param->init], param->a, param->is_trained ? "" : ", fixed");
  }
  for (int i = 0; i < program->expr_count; i++) {
    const TypedExpr *e = &program->exprs[i];
    fprintf(out, "%%%d = ", i);
    dump_operation(program, e, out);
    fputs(" : ", out);
    dump_type(program, &e->type, out);
    if (*e->scope || *e->name) fprintf(out, "  # %s%s%s", e->scope, *e->scope && *e->name ? "." : "", e->name);
    if (e->is_layer_result) fprintf(out, "  <- result of %s", e->scope);
    fputc('\n', out);
  }
  fprintf(out, "return %%%d\n", program->result);
  if (program->has_train) dump_train(program, out);
  dump_target(program, out);
  dump_plan(program, out);
}
