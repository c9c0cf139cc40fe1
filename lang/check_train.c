/* check_train: the train block: loss, optimiser, loop. */
#include <math.h>
#include <string.h>

#include "check.h"

typedef struct Training {
  Checker *checker;
  TrainSpec *train;
  const ConfStmt *loss, *optimizer, *metric, *keep, *stop, *evaluate;
  bool has_shows;
} Training;

static const char *word_of(const Expr *expr) {
  return expr && (expr->kind == EXPR_NAME || expr->kind == EXPR_CALL) ? expr->text : "";
}

static bool is_in(const char *word, const char *const *words, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(words[i], word) == 0) return true;
  return false;
}

/* "unknown optimiser "amad"; did you mean adam? (known: sgd, adam, adamw)" */
static void unknown_word(Checker *checker, Place place, const char *what, const char *word, const char *const *known, int count) {
  const char *list = "";
  /* Few words to choose from, so two edits may be meant. */
  Suggest suggest = {.wanted = word, .limit = strlen(word) > 3 ? 2 : 0};
  for (int i = 0; i < count; i++) {
    list = arena_printf(checker->arena, "%s%s%s", list, i ? ", " : "", known[i]);
    suggest_offer(&suggest, known[i]);
  }
  if (suggest.count > 1 && suggest.distance[0] < suggest.distance[1]) suggest.count = 1;
  diags_error(checker->diags, "E0205", place, "unknown %s \"%s\"%s (known: %s)", what, word, suggest_text(checker->arena, &suggest, ""), list);
}

/* A scalar of numbers and options; NO_INDEX after a message. */
static TypedId hyper(Training *t, const Expr *expr, double low, double high, const char *what) {
  Checker *checker = t->checker;
  Value value = check_expr(checker, NULL, expr);
  if (value.kind == VALUE_NONE) return NO_INDEX;
  double number = value.number;
  bool has_number = value.kind == VALUE_NUMBER;
  value = check_tensor(checker, NULL, value, expr->span.place);
  if (value.kind != VALUE_TENSOR) return NO_INDEX;
  const TypedExpr *e = &checker->program->exprs[value.id];
  if (e->kind == TYPED_OPTION) {
    has_number = true;
    number = checker->program->options[e->index].value;
  }
  if (has_number && (number < low || number > high)) {
    if (number < low) diags_error(checker->diags, "E0406", expr->span.place, "%s must be at least %.9g; it is %.9g", what, low, number);
    else diags_error(checker->diags, "E0406", expr->span.place, "%s must be at most %.9g; it is %.9g", what, high, number);
    return NO_INDEX;
  }
  return value.id;
}

static bool whole(Training *t, const Expr *expr, const char *what, int64_t least, int64_t *result) {
  Value value = check_const_expr(t->checker, expr);
  if (value.kind == VALUE_NONE) return false;
  if (value.kind != VALUE_NUMBER || !check_is_whole(value.number) || value.number < (double)least) {
    diags_error(t->checker->diags, "E0406", expr->span.place, "%s must be a whole number of at least %lld", what, (long long)least);
    return false;
  }
  *result = (int64_t)value.number;
  return true;
}

/* ---- loss ---- */

static bool score_is_result(const Expr *expr) {
  return expr->kind == EXPR_NAME && strcmp(expr->text, "out") == 0;
}

static void check_loss(Training *t) {
  static const char *const known[] = {"cross_entropy"};
  static const char *const later[] = {"bce_with_logits", "mse", "l1", "nll", "huber", "focal", "margin", "bpr", "infonce"};
  Checker *checker = t->checker;
  const Expr *loss = t->loss->value;
  const char *name = word_of(loss);
  if (is_in(name, later, sizeof later / sizeof *later)) {
    check_unsupported(checker, loss->place, "the loss %s is", name);
    return;
  }
  if (strcmp(name, "cross_entropy") != 0 || loss->kind != EXPR_CALL) {
    unknown_word(checker, loss->span.place, "loss", *name ? name : ast_expr_text(checker->arena, loss), known, 1);
    return;
  }
  for (int i = 0; i < loss->arg_count; i++)
    if (loss->args[i].name) {
      check_unsupported(checker, loss->args[i].place, "cross_entropy with \"%s\" is", loss->args[i].name);
      return;
    }
  if (loss->arg_count != 2 || !score_is_result(loss->args[0].value) || loss->args[1].value->kind != EXPR_NAME) {
    diags_error(checker->diags, "E0407", loss->span.place, "the loss is cross_entropy(out, y): out is what the model returns, y a field of classes");
    return;
  }
  const Expr *label = loss->args[1].value;
  int field = check_field_index(checker, label->text);
  if (field == NO_INDEX) {
    diags_error(checker->diags, "E0203", label->place, "data \"%s\" has no field \"%s\"; it has %s", checker->program->data->name, label->text, check_field_list(checker));
    return;
  }
  const Type *labels = &checker->program->fields[field].type;
  t->train->label_field = field;
  if (labels->dtype != DTYPE_CLASS) {
    int64_t width = 1;
    for (int d = 0; d < labels->rank; d++) width *= labels->dim[d].size;
    diags_error(checker->diags, "E0312", label->place, "cross_entropy wants class labels; %s is f32[%lld]; use mse, or declare %s : class[\xE2\x80\xA6]",
                label->text, (long long)width, label->text);
    return;
  }
  const TypedExpr *result = &checker->program->exprs[t->train->scores];
  if (result->is_softmax) {
    diags_warning(checker->diags, "W0315", "double-softmax", checker->result_place, "cross_entropy applies log-softmax itself; this softmax is applied twice");
    diags_help(checker->diags, "return the scores as they are");
  }
  if (labels->domain != result->type.domain) {
    static const char *const where[] = {"nowhere", "nodes", "edges", "graphs"};
    diags_error(checker->diags, "E0308", loss->args[0].value->place, "out lives on %s, %s on %s", where[result->type.domain], label->text, where[labels->domain]);
    if (result->type.domain == DOMAIN_EDGE) diags_help(checker->diags, "reduce to nodes first: sum(m)");
  } else if (result->type.rank != 1 || result->type.dim[0].size != labels->classes) {
    if (result->type.rank == 1) {
      diags_error(checker->diags, "E0307", checker->result_place, "the model returns %lld scores per node but %s has %lld classes",
                  (long long)result->type.dim[0].size, label->text, (long long)labels->classes);
      diags_label(checker->diags, label->place, 0, "the labels of the loss");
      diags_help(checker->diags, "GCN(%s.classes) follows the data", label->text);
    } else {
      diags_error(checker->diags, "E0307", checker->result_place, "the model returns %s; cross_entropy wants one score per class: node[%lld]",
                  check_type_text(checker, &result->type), (long long)labels->classes);
    }
  }
}

/* ---- optimiser ---- */

/* Those of sgd, then those of adam and adamw. */
static const char *const hyper_names[] = {"momentum", "nesterov", "lr", "weight_decay", "beta1", "beta2", "betas", "eps"};
enum { HYPER_SGD = 4, HYPER_ADAM = 6 };

static void set_betas(Training *t, const Expr *value, Hyper *h) {
  if (value->kind == EXPR_LIST && value->arg_count == 2) {
    h->beta1 = hyper(t, value->args[0].value, 0, 1, "beta1");
    h->beta2 = hyper(t, value->args[1].value, 0, 1, "beta2");
  } else {
    diags_error(t->checker->diags, "E0406", value->span.place, "betas are two numbers: betas = [0.9, 0.999]");
  }
}

/* Sets one hyper-parameter; false when the optimiser has none of that name. */
static bool set_hyper(Training *t, OptimizerKind kind, const char *name, const Expr *value, Hyper *h) {
  bool is_adam = kind != OPTIMIZER_SGD;
  if (strcmp(name, "lr") == 0) h->lr = hyper(t, value, 0, 1e6, "lr");
  else if (strcmp(name, "weight_decay") == 0) h->weight_decay = hyper(t, value, 0, 1e6, "weight_decay");
  else if (is_adam && strcmp(name, "betas") == 0) set_betas(t, value, h);
  else if (is_adam && strcmp(name, "beta1") == 0) h->beta1 = hyper(t, value, 0, 1, "beta1");
  else if (is_adam && strcmp(name, "beta2") == 0) h->beta2 = hyper(t, value, 0, 1, "beta2");
  else if (is_adam && strcmp(name, "eps") == 0) h->epsilon = hyper(t, value, 0, 1e6, "eps");
  else if (!is_adam && strcmp(name, "momentum") == 0) h->momentum = hyper(t, value, 0, 1, "momentum");
  else if (!is_adam && strcmp(name, "nesterov") == 0) {
    Value flag = check_const_expr(t->checker, value);
    if (flag.kind == VALUE_BOOL) h->is_nesterov = flag.number != 0;
    else if (flag.kind != VALUE_NONE) diags_error(t->checker->diags, "E0406", value->span.place, "nesterov must be true or false");
  } else {
    return false;
  }
  return true;
}

static TypedId number_expr(Training *t, double number) {
  return check_tensor(t->checker, NULL, check_number_named(t->checker, number), t->train->place).id;
}

/* PyTorch's defaults. */
static void default_hyper(Training *t, OptimizerKind kind, Hyper *h) {
  *h = (Hyper){.lr = number_expr(t, kind == OPTIMIZER_SGD ? 0.01 : 0.001), .weight_decay = number_expr(t, kind == OPTIMIZER_ADAMW ? 0.01 : 0.0)};
  h->beta1 = h->beta2 = h->epsilon = h->momentum = NO_INDEX;
  if (kind == OPTIMIZER_SGD) {
    h->momentum = number_expr(t, 0);
    return;
  }
  h->beta1 = number_expr(t, 0.9);
  h->beta2 = number_expr(t, 0.999);
  h->epsilon = number_expr(t, 1e-8);
}

static void unknown_hyper(Training *t, Place place, const char *optimizer, const char *name) {
  bool is_sgd = strcmp(optimizer, "sgd") == 0;
  const char *signature = is_sgd ? "sgd(lr = 0.01, momentum = 0, nesterov = false, weight_decay = 0)"
                          : strcmp(optimizer, "adam") == 0 ? "adam(lr = 0.001, betas = [0.9, 0.999], eps = 1e-8, weight_decay = 0)"
                                                           : "adamw(lr = 0.001, betas = [0.9, 0.999], eps = 1e-8, weight_decay = 0.01)";
  diags_error(t->checker->diags, "E0204", place, "%s has no argument \"%s\"%s", optimizer, name,
              check_nearest(t->checker, name, is_sgd ? hyper_names : hyper_names + 2, is_sgd ? HYPER_SGD : HYPER_ADAM, "\""));
  diags_note(t->checker->diags, "%s", signature);
}

static void check_optimizer(Training *t) {
  static const char *const known[] = {"sgd", "adam", "adamw"};
  static const char *const later[] = {"rmsprop", "adagrad", "lamb", "lion"};
  Checker *checker = t->checker;
  const Expr *expr = t->optimizer->value;
  const char *name = word_of(expr);
  if (is_in(name, later, sizeof later / sizeof *later)) {
    check_unsupported(checker, expr->place, "the optimiser %s is", name);
    return;
  }
  if (!is_in(name, known, 3)) {
    unknown_word(checker, expr->span.place, "optimiser", *name ? name : ast_expr_text(checker->arena, expr), known, 3);
    return;
  }
  t->train->optimizer = strcmp(name, "sgd") == 0 ? OPTIMIZER_SGD : strcmp(name, "adam") == 0 ? OPTIMIZER_ADAM : OPTIMIZER_ADAMW;
  default_hyper(t, t->train->optimizer, &t->train->hyper);
  for (int i = 0; i < expr->arg_count; i++) {
    const Arg *arg = &expr->args[i];
    const char *key = arg->name ? arg->name : i == 0 ? "lr" : "";
    if (!set_hyper(t, t->train->optimizer, key, arg->value, &t->train->hyper)) unknown_hyper(t, arg->place, name, *key ? key : "(without a name)");
  }
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

static void check_group(Training *t, const ConfStmt *stmt) {
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
  static const char *const names[] = {"sgd", "adam", "adamw"};
  for (int i = 0; i < stmt->body->count; i++) {
    const ConfStmt *setting = stmt->body->stmts[i];
    if (!setting->value || setting->word || !set_hyper(t, t->train->optimizer, setting->key, setting->value, &group.hyper))
      unknown_hyper(t, setting->key_place, names[t->train->optimizer], setting->key);
  }
  ARENA_PUSH(checker->arena, t->train->groups, t->train->group_count, group);
}

/* ---- splits and measures ---- */

static const char *const split_names[SPLIT_COUNT] = {"train", "valid", "test"};

static bool has_split(Training *t, Place place, Split split) {
  const DataInfo *info = t->checker->program->info;
  if (info->has_split[split] || info->is_shapes_only) return true;
  const char *list = "";
  int count = 0;
  for (int i = 0; i < SPLIT_COUNT; i++) {
    if (!info->has_split[i]) continue;
    list = arena_printf(t->checker->arena, "%s%s%s (%lld)", list, count ? " and " : "", split_names[i], (long long)info->split_count[i]);
    count++;
  }
  diags_error(t->checker->diags, "E0401", place, "data \"%s\" has no split \"%s\"; it has %s", t->checker->program->data->name, split_names[split],
              count ? list : "none");
  diags_help(t->checker->diags, "split = random(0.6, 0.2, 0.2, seed = 0)");
  return false;
}

static bool split_of(Training *t, const Expr *expr, Split *split) {
  const char *word = expr->kind == EXPR_NAME ? expr->text : "";
  for (int i = 0; i < SPLIT_COUNT; i++)
    if (strcmp(word, split_names[i]) == 0) {
      *split = (Split)i;
      return has_split(t, expr->place, *split);
    }
  unknown_word(t->checker, expr->span.place, "split", *word ? word : ast_expr_text(t->checker->arena, expr), split_names, SPLIT_COUNT);
  return false;
}

/* valid.accuracy */
static bool split_measure(Training *t, const Expr *expr, Split *split, Measure *measure) {
  static const char *const known[] = {"loss", "accuracy"};
  if (!expr || expr->kind != EXPR_MEMBER) {
    diags_error(t->checker->diags, "E0409", expr ? expr->span.place : t->train->place, "say what to watch, and where: valid.accuracy or valid.loss");
    return false;
  }
  if (!split_of(t, expr->a, split)) return false;
  if (strcmp(expr->text, "loss") == 0) *measure = MEASURE_LOSS;
  else if (strcmp(expr->text, "accuracy") == 0) *measure = MEASURE_ACCURACY;
  else {
    unknown_word(t->checker, expr->span.place, "metric", expr->text, known, 2);
    return false;
  }
  if (*measure == MEASURE_ACCURACY && !t->train->has_accuracy) {
    diags_error(t->checker->diags, "E0405", expr->span.place, "%s.accuracy is watched but not measured; add metric = accuracy", split_names[*split]);
    return false;
  }
  return true;
}

static bool is_call_of(const Expr *expr, const char *name, int count) {
  if (expr->kind != EXPR_CALL || strcmp(expr->text, name) != 0 || expr->arg_count != count) return false;
  for (int i = 0; i < count; i++)
    if (expr->args[i].name) return false;
  return true;
}

static void check_keep(Training *t) {
  const Expr *value = t->keep->value;
  if (!is_call_of(value, "best", 1)) {
    diags_error(t->checker->diags, "E0409", value->span.place, "keep = best(valid.accuracy) keeps the best weights; %s is not known", ast_expr_text(t->checker->arena, value));
    return;
  }
  t->train->has_keep = split_measure(t, value->args[0].value, &t->train->keep_split, &t->train->keep_measure);
}

static void check_stop(Training *t) {
  const Expr *value = t->stop->value;
  if (!is_call_of(value, "patience", 2)) {
    diags_error(t->checker->diags, "E0409", value->span.place, "stop = patience(valid.loss, 100) stops after so many evaluations without improvement; %s is not known",
                ast_expr_text(t->checker->arena, value));
    return;
  }
  t->train->has_stop = split_measure(t, value->args[0].value, &t->train->stop_split, &t->train->stop_measure) &&
                       whole(t, value->args[1].value, "patience", 1, &t->train->patience);
  int64_t every = t->train->evaluate_every, patience = t->train->patience;
  if (t->train->has_stop && every > 1 && patience * every > t->train->epochs) {
    diags_warning(t->checker->diags, "W0402", "patience", value->span.place,
                  "patience counts evaluations: %lld \xC3\x97 every %lld = %lld epochs, more than the %lld there are", (long long)patience, (long long)every,
                  (long long)(patience * every), (long long)t->train->epochs);
    diags_label(t->checker->diags, t->evaluate->key_place, 0, "every %lld epochs", (long long)every);
  }
}

static void check_metric(Training *t) {
  static const char *const known[] = {"accuracy"};
  static const char *const later[] = {"f1", "micro_f1", "macro_f1", "roc_auc", "rmse", "mae", "average_precision", "hits", "mrr", "r2"};
  const Expr *value = t->metric->value;
  int count = value->kind == EXPR_LIST ? value->arg_count : 1;
  for (int i = 0; i < count; i++) {
    const Expr *metric = value->kind == EXPR_LIST ? value->args[i].value : value;
    const char *name = word_of(metric);
    if (strcmp(name, "accuracy") == 0 && metric->kind == EXPR_NAME) t->train->has_accuracy = true;
    else if (is_in(name, later, sizeof later / sizeof *later)) check_unsupported(t->checker, metric->place, "the metric %s is", name);
    else unknown_word(t->checker, metric->span.place, "metric", *name ? name : ast_expr_text(t->checker->arena, metric), known, 1);
  }
}

static void check_every(Training *t, const ConfStmt *stmt, int64_t *every) {
  if (is_call_of(stmt->value, "every", 1)) whole(t, stmt->value->args[0].value, stmt->key, 1, every);
  else diags_error(t->checker->diags, "E0409", stmt->value->span.place, "%s = every(5): a number of epochs", stmt->key);
}

static void check_show(Training *t, const Expr *value) {
  int count = value->kind == EXPR_LIST ? value->arg_count : 1;
  t->has_shows = true;
  for (int i = 0; i < count; i++) {
    Split split;
    if (split_of(t, value->kind == EXPR_LIST ? value->args[i].value : value, &split)) t->train->shows[split] = true;
  }
}

/* ---- all of it ---- */

static const char *const settings[] = {"loss", "optimizer", "epochs", "runs", "seed", "metric", "evaluate", "keep", "stop", "checkpoint", "show", "group"};
static const char *const later_settings[] = {"lr_schedule", "precision", "batch", "clip_norm", "report", "accumulate", "time_limit", "ema", "loss_scale"};

static void sort_setting(Training *t, const ConfStmt *stmt) {
  struct { const char *key; const ConfStmt **slot; } slots[] = {
      {"loss", &t->loss}, {"optimizer", &t->optimizer}, {"metric", &t->metric}, {"keep", &t->keep}, {"stop", &t->stop}, {"evaluate", &t->evaluate},
  };
  Diags *diags = t->checker->diags;
  if (!*stmt->key || strcmp(stmt->key, "group") == 0) return;
  if (is_in(stmt->key, later_settings, sizeof later_settings / sizeof *later_settings)) {
    check_unsupported(t->checker, stmt->key_place, "%s is", stmt->key);
    return;
  }
  if (!is_in(stmt->key, settings, sizeof settings / sizeof *settings)) {
    diags_error(diags, "E0217", stmt->key_place, "unknown train setting \"%s\"%s", stmt->key,
                check_nearest(t->checker, stmt->key, settings, (int)(sizeof settings / sizeof *settings), "\""));
    return;
  }
  if (!stmt->value || stmt->word) {
    diags_error(diags, "E0217", stmt->key_place, "\"%s\" takes a value: %s = ...", stmt->key, stmt->key);
    return;
  }
  for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
    if (strcmp(slots[i].key, stmt->key) == 0) {
      if (*slots[i].slot) diags_error(diags, "E0212", stmt->key_place, "\"%s\" is set twice (%s)", stmt->key, check_where(t->checker, (*slots[i].slot)->key_place));
      *slots[i].slot = stmt;
    }
  if (strcmp(stmt->key, "epochs") == 0) whole(t, stmt->value, "epochs", 1, &t->train->epochs);
  if (strcmp(stmt->key, "runs") == 0) whole(t, stmt->value, "runs", 1, &t->train->runs);
  if (strcmp(stmt->key, "seed") == 0) whole(t, stmt->value, "seed", 0, &t->train->seed);
  if (strcmp(stmt->key, "checkpoint") == 0) check_every(t, stmt, &t->train->checkpoint_every);
  if (strcmp(stmt->key, "evaluate") == 0) check_every(t, stmt, &t->train->evaluate_every);
  if (strcmp(stmt->key, "show") == 0) check_show(t, stmt->value);
}

static void default_shows(Training *t) {
  TrainSpec *train = t->train;
  if (t->has_shows) return;
  const DataInfo *info = t->checker->program->info;
  for (int i = 0; i < SPLIT_TEST; i++) train->shows[i] = info->has_split[i];
  if (train->has_keep && train->keep_split == SPLIT_TEST) train->shows[SPLIT_TEST] = true;
  if (train->has_stop && train->stop_split == SPLIT_TEST) train->shows[SPLIT_TEST] = true;
}

void check_train(Checker *checker) {
  const Item *item = checker->train;
  TypedProgram *program = checker->program;
  int errors = diags_error_count(checker->diags);
  program->train = (TrainSpec){.label_field = NO_INDEX, .scores = program->result, .epochs = -1, .runs = 1, .evaluate_every = 1, .place = item->name_place};
  Training t = {.checker = checker, .train = &program->train};
  for (int i = 0; i < item->conf->count; i++) sort_setting(&t, item->conf->stmts[i]);
  bool is_broken = diags_error_count(checker->diags) > errors;
  if (!t.loss && !is_broken) {
    diags_error(checker->diags, "E0410", item->name_place, "train %s has no loss; there is no default", item->name);
    diags_help(checker->diags, "loss = cross_entropy(out, y)");
  } else if (!t.optimizer && !is_broken) {
    diags_error(checker->diags, "E0410", item->name_place, "train %s has no optimizer; there is no default", item->name);
    diags_help(checker->diags, "optimizer = adam(lr = 0.01)");
  } else if (program->train.epochs < 0 && !is_broken) {
    diags_error(checker->diags, "E0410", item->name_place, "train %s does not say how long: epochs = 200", item->name);
  }
  if (t.loss) check_loss(&t);
  if (t.metric) check_metric(&t);
  if (t.optimizer) check_optimizer(&t);
  for (int i = 0; i < item->conf->count && t.optimizer; i++)
    if (strcmp(item->conf->stmts[i]->key, "group") == 0) check_group(&t, item->conf->stmts[i]);
  if (t.keep) check_keep(&t);
  if (t.stop) check_stop(&t);
  if (diags_error_count(checker->diags) == errors) has_split(&t, item->name_place, SPLIT_TRAIN);
  default_shows(&t);
  program->has_train = diags_error_count(checker->diags) == errors;
}
