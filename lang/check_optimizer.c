/* check_optimizer: the optimiser of the train block, its groups, the schedules of its learning rate, and how gradients are clipped. */
#include <string.h>

#include "check_train.h"

static TypedId number_expr(Training *t, double number) {
  return check_tensor(t->checker, NULL, check_number_named(t->checker, number), t->train->place).id;
}

/* ---- schedules ---- */

enum { RATES_MAX = 32 /* GNN_RATE_MAX */ };

static void unknown_argument(Training *t, Place place, const char *of, const char *name, const char *const *known, int count, const char *signature) {
  check_unknown_argument(t->checker, place, of, name, known, count);
  if (strcmp(name, "warmup") == 0) diags_help(t->checker->diags, "the way up is put around a schedule: lr = warmup(20, %s(...))", of);
  diags_note(t->checker->diags, "%s", signature);
}

/* patience and watch, which are of the runtime and no numbers of the rate. True: it was one of these. */
static bool plateau_argument(Training *t, const Arg *arg, int position) {
  const char *name = arg->name ? arg->name : position == 2 ? "patience" : position == 3 ? "watch" : "";
  if (strcmp(name, "patience") == 0) train_whole(t, arg->value, "patience", 0, &t->train->plateau_patience);
  else if (strcmp(name, "watch") == 0) train_split_measure(t, arg->value, &t->train->plateau_split, &t->train->plateau_measure);
  else return false;
  return true;
}

static void begin_plateau(Training *t, Place place) {
  TrainSpec *train = t->train;
  if (train->has_plateau) {
    diags_error(t->checker->diags, "E0406", place, "one plateau is enough: it watches one measure (%s)", check_where(t->checker, t->plateau_place));
    return;
  }
  const bool *has_split = t->checker->program->info->has_split;
  train->has_plateau = true;
  train->plateau_split = has_split[SPLIT_VALID] || t->checker->program->info->is_shapes_only ? SPLIT_VALID : SPLIT_TRAIN;
  train->plateau_measure = MEASURE_LOSS;
  train->plateau_patience = 10;
  t->plateau_place = place;
}

static TypedId schedule_argument(Training *t, const Expr *expr, const struct ScheduleArgument *argument) {
  const TypedId id = train_hyper(t, expr, argument->least, argument->most, argument->name);
  const TypedExpr *e = id == NO_INDEX ? NULL : &t->checker->program->exprs[id];
  const double number = !e ? 0 : e->kind == TYPED_OPTION ? t->checker->program->options[e->index].value : e->number;
  if (!e || !argument->is_whole || (e->kind != TYPED_NUMBER && e->kind != TYPED_OPTION) || check_is_whole(number)) return id;
  diags_error(t->checker->diags, "E0406", expr->span.place, "%s must be a whole number of epochs; it is %.9g", argument->name, number);
  return NO_INDEX;
}

static bool set_schedule(Training *t, const Expr *call, ScheduleKind kind, RateSchedule *schedule) {
  const ScheduleInfo *info = &schedule_info[kind];
  const char *names[SCHEDULE_ARGUMENTS + 2];
  int name_count = 0, errors = diags_error_count(t->checker->diags);
  for (int a = 0; a < info->argument_count; a++) names[name_count++] = info->arguments[a].name;
  if (kind == SCHEDULE_PLATEAU) {
    names[name_count++] = "patience";
    names[name_count++] = "watch";
    begin_plateau(t, call->place);
  }
  schedule->kind = kind;
  for (int a = 0; a < SCHEDULE_ARGUMENTS; a++) schedule->argument[a] = NO_INDEX;
  for (int i = 0; i < call->arg_count; i++) {
    const Arg *arg = &call->args[i];
    int at = arg->name ? 0 : i;
    while (arg->name && at < info->argument_count && strcmp(info->arguments[at].name, arg->name) != 0) at++;
    if (at < info->argument_count && schedule->argument[at] == NO_INDEX)
      schedule->argument[at] = schedule_argument(t, arg->value, &info->arguments[at]);
    else if (at < info->argument_count) diags_error(t->checker->diags, "E0210", arg->place, "%s is given \"%s\" twice", info->name, info->arguments[at].name);
    else if (kind != SCHEDULE_PLATEAU || !plateau_argument(t, arg, i)) {
      if (arg->name) unknown_argument(t, arg->place, info->name, arg->name, names, name_count, info->signature);
      else diags_error(t->checker->diags, "E0210", arg->place, "%s takes at most %d arguments: %s", info->name, name_count, info->signature);
    }
  }
  for (int a = 0; a < info->argument_count && diags_error_count(t->checker->diags) == errors; a++) {
    if (schedule->argument[a] != NO_INDEX) continue;
    const struct ScheduleArgument *argument = &info->arguments[a];
    if (argument->has == SCHEDULE_REQUIRED)
      diags_error(t->checker->diags, "E0210", call->span.place, "%s needs \"%s\": %s", info->name, argument->name, info->signature);
    else schedule->argument[a] = number_expr(t, argument->has == SCHEDULE_EPOCHS && t->train->epochs > 0 ? (double)t->train->epochs : argument->value);
  }
  return diags_error_count(t->checker->diags) == errors;
}

static int schedule_named(const char *name) {
  for (int i = 0; i < SCHEDULE_COUNT; i++)
    if (strcmp(schedule_names[i], name) == 0) return i;
  return NO_INDEX;
}

/* lr: a number, or what it is in each epoch. */
static void set_rate(Training *t, const Expr *value, Hyper *h) {
  TrainSpec *train = t->train;
  RateSchedule schedule = {.kind = SCHEDULE_CONSTANT, .argument = {NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX}, .warmup = NO_INDEX};
  bool is_warmed = value->kind == EXPR_CALL && strcmp(value->text, "warmup") == 0;
  if (is_warmed) {
    if (!train_is_call_of(value, "warmup", 2)) {
      diags_error(t->checker->diags, "E0210", value->span.place, "warmup takes the epochs on the way up and what comes then: warmup(10, cosine(0.01, 200))");
      return;
    }
    schedule.warmup = train_hyper(t, value->args[0].value, 0, 1e9, "epochs of the warm-up");
    value = value->args[1].value;
  }
  const bool is_call = value->kind == EXPR_CALL;
  const int kind = is_call ? schedule_named(value->text) : NO_INDEX;
  if (is_call && kind == NO_INDEX && !check_is_function(value->text)) {
    train_unknown_word(t->checker, value->span.place, "schedule", value->text, schedule_names, SCHEDULE_COUNT);
    return;
  }
  if (kind != NO_INDEX && !set_schedule(t, value, (ScheduleKind)kind, &schedule)) return;
  if (kind == NO_INDEX) schedule.argument[0] = train_hyper(t, value, 0, hyper_most(HYPER_LR), "lr");
  h->value[HYPER_LR] = schedule.argument[0];
  const bool is_optimizer = h == &train->hyper;
  h->rate = kind == NO_INDEX && !is_warmed ? NO_INDEX : is_optimizer ? 0 : train->schedule_count;
  if (is_optimizer) train->schedules[0] = schedule;
  else if (h->rate != NO_INDEX) ARENA_PUSH(t->checker->arena, train->schedules, train->schedule_count, schedule);
  if (train->schedule_count > RATES_MAX) check_unsupported(t->checker, value->span.place, "more than %d schedules are", RATES_MAX);
}

/* ---- hyper-parameters ---- */

static void set_betas(Training *t, const Expr *value, Hyper *h) {
  if (value->kind == EXPR_LIST && value->arg_count == 2) {
    h->value[HYPER_BETA1] = train_hyper(t, value->args[0].value, 0, BELOW_ONE, "beta1");
    h->value[HYPER_BETA2] = train_hyper(t, value->args[1].value, 0, BELOW_ONE, "beta2");
  } else {
    diags_error(t->checker->diags, "E0406", value->span.place, "betas are two numbers: betas = [0.9, 0.999]");
  }
}

static void set_flag(Training *t, const Expr *value, HyperKind kind, Hyper *h) {
  Value flag = check_const_expr(t->checker, value);
  if (flag.kind == VALUE_BOOL) h->value[kind] = number_expr(t, flag.number);
  else if (flag.kind != VALUE_NONE) diags_error(t->checker->diags, "E0406", value->span.place, "%s must be true or false", hyper_names[kind]);
}

/* Sets one hyper-parameter; false when the optimiser has none of that name. */
static bool set_hyper(Training *t, const char *name, const Expr *value, Hyper *h) {
  const OptimizerKind optimizer = t->train->optimizer;
  if (strcmp(name, "betas") == 0 && optimizer_has(optimizer, HYPER_BETA1)) {
    set_betas(t, value, h);
    return true;
  }
  for (int k = 0; k < HYPER_COUNT; k++) {
    if (strcmp(hyper_names[k], name) != 0 || !optimizer_has(optimizer, (HyperKind)k)) continue;
    if (k == HYPER_LR) set_rate(t, value, h);
    else if (k >= HYPER_FIRST_FLAG) set_flag(t, value, (HyperKind)k, h);
    else h->value[k] = train_hyper(t, value, 0, hyper_most((HyperKind)k), name);
    return true;
  }
  return false;
}

static void default_hyper(Training *t, Hyper *h) {
  const OptimizerInfo *info = &optimizer_info[t->train->optimizer];
  for (int k = 0; k < HYPER_COUNT; k++) h->value[k] = NO_INDEX;
  for (int i = 0; i < info->setting_count; i++) h->value[info->settings[i].kind] = number_expr(t, info->settings[i].value);
  h->rate = NO_INDEX;
  RateSchedule constant = {.kind = SCHEDULE_CONSTANT, .argument = {h->value[HYPER_LR], NO_INDEX, NO_INDEX, NO_INDEX}, .warmup = NO_INDEX};
  ARENA_PUSH(t->checker->arena, t->train->schedules, t->train->schedule_count, constant);
}

static void unknown_hyper(Training *t, Place place, const char *name) {
  const OptimizerInfo *info = &optimizer_info[t->train->optimizer];
  const char *names[OPTIMIZER_HYPERS + 1];
  int count = 0;
  for (int i = 0; i < info->setting_count; i++) names[count++] = hyper_names[info->settings[i].kind];
  if (optimizer_has(t->train->optimizer, HYPER_BETA1)) names[count++] = "betas";
  unknown_argument(t, place, info->name, name, names, count, info->signature);
}

static bool is_zero(Training *t, TypedId id) {
  const TypedExpr *e = id == NO_INDEX ? NULL : &t->checker->program->exprs[id];
  return e && e->kind == TYPED_NUMBER && e->number == 0;
}

/* A centered rmsprop keeps the mean of the gradients where its momentum would be. */
static void check_states(Training *t, const Hyper *h, Place place) {
  const TypedExpr *exprs = t->checker->program->exprs;
  const TypedId centered = h->value[HYPER_CENTERED], momentum = h->value[HYPER_MOMENTUM];
  if (centered == NO_INDEX || momentum == NO_INDEX || exprs[centered].number == 0) return;
  if (exprs[momentum].kind != TYPED_NUMBER || exprs[momentum].number != 0) check_unsupported(t->checker, place, "rmsprop that is centered and has momentum is");
}

/* A group may do without the momentum of the others. */
static void check_nesterov(Training *t, const Hyper *h, Place place) {
  const TypedId nesterov = h->value[HYPER_NESTEROV];
  if (nesterov == NO_INDEX || t->checker->program->exprs[nesterov].number == 0 || !is_zero(t, h->value[HYPER_MOMENTUM])) return;
  diags_error(t->checker->diags, "E0406", place, "nesterov = true looks ahead along the momentum, and there is none");
  diags_help(t->checker->diags, "%s(momentum = 0.9, nesterov = true)", optimizer_info[t->train->optimizer].name);
}

void train_check_optimizer(Training *t) {
  Checker *checker = t->checker;
  const Expr *expr = t->optimizer->value;
  const char *name = train_word_of(expr);
  const char *instead = known_instead_in_training(name);
  if (instead) {
    check_unsupported(checker, expr->place, "the optimiser %s is", name);
    diags_help(checker->diags, "%s", instead);
    return;
  }
  int kind = 0;
  while (kind < OPTIMIZER_COUNT && strcmp(optimizer_names[kind], name) != 0) kind++;
  if (kind == OPTIMIZER_COUNT) {
    train_unknown_word(checker, expr->span.place, "optimiser", *name ? name : ast_expr_text(checker->arena, expr), optimizer_names, OPTIMIZER_COUNT);
    return;
  }
  t->train->optimizer = (OptimizerKind)kind;
  default_hyper(t, &t->train->hyper);
  for (int i = 0; i < expr->arg_count; i++) {
    const Arg *arg = &expr->args[i];
    const char *key = arg->name ? arg->name : i == 0 ? "lr" : "";
    if (!set_hyper(t, key, arg->value, &t->train->hyper)) unknown_hyper(t, arg->place, *key ? key : "(without a name)");
  }
  check_states(t, &t->train->hyper, expr->place);
  check_nesterov(t, &t->train->hyper, expr->place);
}

/* ---- groups ---- */

static bool matches(const char *pattern, const char *name) {
  const char *star = NULL, *resume = NULL;
  while (*name) {
    if (*pattern == '*') {
      star = ++pattern;
      resume = name;
    } else if (*pattern == '?' || *pattern == *name) {
      pattern++;
      name++;
    } else if (star) {
      pattern = star;
      name = ++resume;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return *pattern == '\0';
}

void train_check_group(Training *t, const ConfStmt *stmt) {
  Checker *checker = t->checker;
  const TypedProgram *program = checker->program;
  if (!stmt->word || !stmt->body) {
    diags_error(checker->diags, "E0408", stmt->key_place, "a group names weights and what is different for them: group \"conv2.*\" { weight_decay = 0 }");
    return;
  }
  ParamGroup group = {.pattern = stmt->word, .hyper = t->train->hyper, .place = stmt->word_place};
  bool is_used = false;
  for (int i = 0; i < program->param_count; i++) is_used = is_used || matches(group.pattern, program->params[i].name);
  if (!is_used) {
    const char *list = "";
    for (int i = 0; i < program->param_count && i < 6; i++)
      list = arena_printf(checker->arena, "%s%s%s", list, i ? ", " : "", i == 5 ? "\xE2\x80\xA6" : program->params[i].name);
    diags_error(checker->diags, "E0403", stmt->word_place, "no weight matches \"%s\"; weights are %s", group.pattern, *list ? list : "none");
    return;
  }
  for (int i = 0; i < stmt->body->count; i++) {
    const ConfStmt *setting = stmt->body->stmts[i];
    if (!setting->value || setting->word || !set_hyper(t, setting->key, setting->value, &group.hyper)) unknown_hyper(t, setting->key_place, setting->key);
  }
  check_states(t, &group.hyper, stmt->word_place);
  ARENA_PUSH(checker->arena, t->train->groups, t->train->group_count, group);
}

/* ---- clipping ---- */

void train_check_clip(Training *t) {
  const Expr *value = t->clip->value;
  const bool is_norm = train_is_call_of(value, "norm", 1);
  if (!is_norm && !train_is_call_of(value, "value", 1)) {
    diags_error(t->checker->diags, "E0409", value->span.place, "clip = norm(1.0) scales all gradients together, clip = value(0.5) cuts each of them; %s is not known",
                ast_expr_text(t->checker->arena, value));
    return;
  }
  t->train->clip_kind = is_norm ? CLIP_NORM : CLIP_VALUE;
  t->train->clip = train_hyper(t, value->args[0].value, 0, 1e30, is_norm ? "the norm" : "the value");
}
