/* check_train: the train block: what is measured, kept and shown, and how long; the loss and the optimiser are in files of their own. */
#include <math.h>
#include <string.h>

#include "check_train.h"

const char *train_word_of(const Expr *expr) {
  return expr && (expr->kind == EXPR_NAME || expr->kind == EXPR_CALL) ? expr->text : "";
}

bool train_is_in(const char *word, const char *const *words, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(words[i], word) == 0) return true;
  return false;
}

/* "unknown optimiser "amad"; did you mean adam? (known: sgd, adam, adamw)" */
void train_unknown_word(Checker *checker, Place place, const char *what, const char *word, const char *const *known, int count) {
  const char *list = "";
  /* Few words to choose from, so two edits may be meant. */
  Suggest suggest = {.wanted = word, .limit = strlen(word) > 3 ? 2 : 0};
  for (int i = 0; i < count; i++) {
    list = arena_printf(checker->arena, "%s%s%s", list, i ? ", " : "", known[i]);
    suggest_offer(&suggest, known[i]);
  }
  if (suggest.count > 1 && suggest.distance[0] < suggest.distance[1]) suggest.count = 1;
  const char *ours = known_alias_of(word);
  if (ours && train_is_in(ours, known, count)) {
    diags_error(checker->diags, "E0205", place, "unknown %s \"%s\"; did you mean %s? (known: %s)", what, word, ours, list);
    diags_fix_word(checker->diags, place, word, ours);
    return;
  }
  diags_error(checker->diags, "E0205", place, "unknown %s \"%s\"%s (known: %s)", what, word, suggest_text(checker->arena, &suggest, ""), list);
  check_fix_suggested(checker, place, &suggest);
}

/* What a number that is given when the program runs is held against, too. Of several uses the narrowest. */
static void bound_option(TypedOption *option, double low, double high, const char *what) {
  if (!option->as) option->as = what, option->least = low, option->most = high;
  if (low > option->least) option->least = low;
  if (high < option->most) option->as = what, option->most = high;
}

/* A scalar of numbers and options; NO_INDEX after a message. */
TypedId train_hyper(Training *t, const Expr *expr, double low, double high, const char *what) {
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
    bound_option(&checker->program->options[e->index], low, high, what);
  }
  if (has_number && (number < low || number > high)) {
    if (number < low) diags_error(checker->diags, "E0406", expr->span.place, "%s must be at least %.9g; it is %.9g", what, low, number);
    else if (high == BELOW_ONE) diags_error(checker->diags, "E0406", expr->span.place, "%s must be below 1; it is %.9g", what, number);
    else diags_error(checker->diags, "E0406", expr->span.place, "%s must be at most %.9g; it is %.9g", what, high, number);
    return NO_INDEX;
  }
  return value.id;
}

bool train_whole(Training *t, const Expr *expr, const char *what, int64_t least, int64_t *result) {
  Value value = check_const_expr(t->checker, expr);
  if (value.kind == VALUE_NONE) return false;
  if (value.kind != VALUE_NUMBER || !check_is_whole(value.number) || value.number < (double)least) {
    const bool is_beyond = value.kind == VALUE_NUMBER && value.number > (double)least && floor(value.number) == value.number;
    diags_error(t->checker->diags, "E0406", expr->span.place, "%s must be a whole number of at least %lld%s", what, (long long)least, is_beyond ? ", and of at most 2^53" : "");
    return false;
  }
  *result = (int64_t)value.number;
  return true;
}

/* ---- splits and measures ---- */

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
  diags_help(t->checker->diags, t->checker->program->data->recipe.pairs.name ? "split_edges(valid = 0.1, test = 0.1) holds out shares of the edges, rounded down" : "split = random(0.6, 0.2, 0.2, seed = 0)");
  return false;
}

static bool split_of(Training *t, const Expr *expr, Split *split) {
  const char *word = expr->kind == EXPR_NAME ? expr->text : "";
  for (int i = 0; i < SPLIT_COUNT; i++)
    if (strcmp(word, split_names[i]) == 0) {
      *split = (Split)i;
      return has_split(t, expr->place, *split);
    }
  train_unknown_word(t->checker, expr->span.place, "split", *word ? word : ast_expr_text(t->checker->arena, expr), split_names, SPLIT_COUNT);
  return false;
}

/* valid.accuracy */
bool train_split_measure(Training *t, const Expr *expr, Split *split, Measure *measure) {
  const TrainSpec *train = t->train;
  if (!expr || expr->kind != EXPR_MEMBER) {
    diags_error(t->checker->diags, "E0409", expr ? expr->span.place : train->place, "say what to watch, and where: valid.accuracy or valid.loss");
    return false;
  }
  if (!split_of(t, expr->a, split)) return false;
  *measure = MEASURE_LOSS;
  if (strcmp(expr->text, "loss") == 0) return true;
  for (int i = 0; i < train->metric_count; i++)
    if (strcmp(expr->text, train->metrics[i].name) == 0) {
      *measure = MEASURE_METRIC + i;
      return true;
    }
  const char *known[GNN_METRIC_COUNT + 1] = {"loss"}, *base = arena_printf(t->checker->arena, "%.*s", (int)strcspn(expr->text, "0123456789"), expr->text);
  for (int i = 0; i < GNN_METRIC_COUNT; i++) known[i + 1] = metric_names[i];
  if (!train_is_in(expr->text, known, GNN_METRIC_COUNT + 1) && strcmp(base, "hits") != 0) {
    train_unknown_word(t->checker, expr->span.place, "metric", expr->text, known, GNN_METRIC_COUNT + 1);
    return false;
  }
  const char *written = strcmp(base, "hits") == 0 ? arena_printf(t->checker->arena, "hits(%s)", expr->text + strlen(base)) : expr->text;
  if (!t->has_metric_error) {
    if (train->metric_count == 0) diags_error(t->checker->diags, "E0405", expr->span.place, "%s.%s is watched but not measured; add metric = %s", split_names[*split], expr->text, written);
    else diags_error(t->checker->diags, "E0405", expr->span.place, "%s.%s is watched but not measured; metric = [%s, %s] measures it, too", split_names[*split], expr->text, train->metrics[0].name, written);
  }
  return false;
}

bool train_is_call_of(const Expr *expr, const char *name, int count) {
  if (expr->kind != EXPR_CALL || strcmp(expr->text, name) != 0 || expr->arg_count != count) return false;
  for (int i = 0; i < count; i++)
    if (expr->args[i].name) return false;
  return true;
}

/* What chose by the test rows has seen them. */
static void warn_of_test(Training *t, const Expr *value, Split split, const char *what) {
  if (split != SPLIT_TEST) return;
  diags_warning(t->checker->diags, "W0413", "test-selection", value->span.place, "%s by the test rows, so that the test result is better than that on new data", what);
  diags_help(t->checker->diags, "watch valid; split = folds(10, valid = true) has such a fold, too");
}

static void check_keep(Training *t) {
  const Expr *value = t->keep->value;
  if (!train_is_call_of(value, "best", 1)) {
    diags_error(t->checker->diags, "E0409", value->span.place, "keep = best(valid.accuracy) keeps the best weights; %s is not known", ast_expr_text(t->checker->arena, value));
    return;
  }
  t->train->has_keep = train_split_measure(t, value->args[0].value, &t->train->keep_split, &t->train->keep_measure);
  if (t->train->has_keep) warn_of_test(t, value, t->train->keep_split, "the epoch is chosen");
}

static void check_stop(Training *t) {
  const Expr *value = t->stop->value;
  if (!train_is_call_of(value, "patience", 2)) {
    diags_error(t->checker->diags, "E0409", value->span.place, "stop = patience(valid.loss, 100) stops after so many evaluations without improvement; %s is not known",
                ast_expr_text(t->checker->arena, value));
    return;
  }
  t->train->has_stop = train_split_measure(t, value->args[0].value, &t->train->stop_split, &t->train->stop_measure) &&
                       train_whole(t, value->args[1].value, "patience", 1, &t->train->patience);
  if (t->train->has_stop) warn_of_test(t, value, t->train->stop_split, "training is ended");
  int64_t every = t->train->evaluate_every, patience = t->train->patience;
  if (t->train->has_stop && every > 1 && patience * every > t->train->epochs) {
    diags_warning(t->checker->diags, "W0402", "patience", value->span.place,
                  "patience counts evaluations: %lld \xC3\x97 every %lld = %lld epochs, more than the %lld there are", (long long)patience, (long long)every,
                  (long long)(patience * every), (long long)t->train->epochs);
    diags_label(t->checker->diags, t->evaluate->key_place, 0, "every %lld epochs", (long long)every);
  }
}

/* accuracy, hits(50) */
static void add_metric(Training *t, const Expr *expr) {
  Checker *checker = t->checker;
  TrainSpec *train = t->train;
  const char *name = train_word_of(expr);
  int kind = 0;
  if (strcmp(name, "confusion") == 0 && expr->kind == EXPR_NAME) {
    train->has_confusion = true;
    if (t->labels_for && t->labels_for != GNN_FOR_CLASSES) diags_error(checker->diags, "E0411", expr->span.place, "confusion is for classes, which these labels are not");
    return;
  }
  while (kind < GNN_METRIC_COUNT && strcmp(metric_names[kind], name) != 0) kind++;
  if (kind == GNN_METRIC_COUNT) {
    const char *known[GNN_METRIC_COUNT + 1] = {[GNN_METRIC_COUNT] = "confusion"};
    memcpy(known, metric_names, GNN_METRIC_COUNT * sizeof *known);
    train_unknown_word(checker, expr->span.place, "metric", *name ? name : ast_expr_text(checker->arena, expr), known, GNN_METRIC_COUNT + 1);
    return;
  }
  Metric metric = {.kind = (gnn_metric_kind)kind, .name = metric_names[kind]};
  if (kind == GNN_METRIC_HITS) {
    if (!train_is_call_of(expr, "hits", 1)) {
      diags_error(checker->diags, "E0406", expr->span.place, "hits needs the number of places that count: hits(3)");
      return;
    }
    if (!train_whole(t, expr->args[0].value, "the places of hits", 1, &metric.argument)) return;
    metric.name = arena_printf(checker->arena, "hits%lld", (long long)metric.argument);
  } else if (expr->kind == EXPR_CALL) {
    diags_error(checker->diags, "E0406", expr->span.place, "%s takes no arguments", name);
    return;
  }
  if (t->labels_for && !(metric_for[kind] & t->labels_for)) {
    static const char *const what[] = {[GNN_FOR_CLASSES] = "classes", [GNN_FOR_LABELS] = "labels of 0 and 1", [GNN_FOR_NUMBERS] = "numbers", [GNN_FOR_LABELS | GNN_FOR_PAIRS] = "pairs"};
    const char *list = "";
    for (int k = 0; k < GNN_METRIC_COUNT; k++)
      if (metric_for[k] & t->labels_for) list = arena_printf(checker->arena, "%s%s%s", list, *list ? ", " : "", metric_names[k]);
    diags_error(checker->diags, "E0411", expr->span.place, "%s does not measure %s", name, what[t->labels_for]);
    diags_help(checker->diags, "for these there are %s", list);
    return;
  }
  for (int i = 0; i < train->metric_count; i++)
    if (strcmp(train->metrics[i].name, metric.name) == 0) {
      diags_error(checker->diags, "E0212", expr->span.place, "the metric %s is asked for twice", metric.name);
      return;
    }
  if (train->metric_count == GNN_METRIC_MAX) {
    check_unsupported(checker, expr->span.place, "more than %d metrics are", GNN_METRIC_MAX);
    return;
  }
  ARENA_PUSH(checker->arena, train->metrics, train->metric_count, metric);
}

/* Accuracy says little where one answer is nearly always right. */
static void warn_of_balance(Training *t, Place place) {
  static const double most = 0.9;
  const TypedProgram *program = t->checker->program;
  const DataInfo *info = program->info;
  for (int f = 0; t->train->label_field != NO_INDEX && f < info->field_count; f++) {
    const FieldInfo *field = &info->fields[f];
    if (strcmp(field->name, program->fields[t->train->label_field].name) != 0 || field->share <= most || field->classes < 2) continue;
    diags_warning(t->checker->diags, "W0404", "metric", place, "accuracy on labels of which %.0f %% are class %lld: always answering %lld scores %.2f; consider average_precision",
                  100 * field->share, (long long)field->frequent, (long long)field->frequent, field->share);
  }
}

static void check_metric(Training *t) {
  const Expr *value = t->metric->value;
  int errors = diags_error_count(t->checker->diags);
  if (value->kind != EXPR_LIST) add_metric(t, value);
  for (int i = 0; value->kind == EXPR_LIST && i < value->arg_count; i++) add_metric(t, value->args[i].value);
  t->has_metric_error = diags_error_count(t->checker->diags) > errors;
  if (t->train->metric_count == 1 && t->train->metrics[0].kind == GNN_METRIC_ACCURACY) warn_of_balance(t, value->span.place);
}

static void check_every(Training *t, const ConfStmt *stmt, int64_t *every) {
  if (train_is_call_of(stmt->value, "every", 1)) train_whole(t, stmt->value->args[0].value, stmt->key, 1, every);
  else diags_error(t->checker->diags, "E0409", stmt->value->span.place, "%s wants a number of epochs: %s = every(5)", stmt->key, stmt->key);
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

static const char *const settings[] = {"loss", "optimizer", "epochs", "runs", "seed", "metric", "evaluate", "keep", "stop", "checkpoint", "show", "group", "clip", "accumulate", "report", "batch", "approximate"};
static const char *const later_settings[] = {"precision", "time_limit", "ema", "loss_scale"};

static void sort_setting(Training *t, const ConfStmt *stmt) {
  struct { const char *key; const ConfStmt **slot; } slots[] = {
      {"loss", &t->loss}, {"optimizer", &t->optimizer}, {"metric", &t->metric}, {"keep", &t->keep}, {"stop", &t->stop}, {"evaluate", &t->evaluate}, {"clip", &t->clip}, {"report", &t->report}, {"batch", &t->batch},
  };
  static const struct { const char *key, *now; } earlier[] = {
      {"clip_norm", "clip = norm(1.0)"}, {"lr_schedule", "a schedule is a value of lr: optimizer = adam(lr = cosine(0.01, 200))"},
  };
  Diags *diags = t->checker->diags;
  for (size_t i = 0; i < sizeof earlier / sizeof *earlier; i++)
    if (strcmp(stmt->key, earlier[i].key) == 0) {
      diags_error(diags, "E0217", stmt->key_place, "\"%s\" is a word of an earlier draft", stmt->key);
      diags_help(diags, "%s", earlier[i].now);
      return;
    }
  static const char *const of_optimizer[] = {"lr", "learning_rate", "scheduler", "lr_scheduler", "weight_decay", "momentum", "betas"};
  if (train_is_in(stmt->key, of_optimizer, sizeof of_optimizer / sizeof *of_optimizer)) {
    diags_error(diags, "E0217", stmt->key_place, "\"%s\" is a matter of the optimiser", stmt->key);
    diags_help(diags, "optimizer = adam(lr = 0.01, weight_decay = 5e-4); a schedule is a value of lr: adam(lr = cosine(0.01, 200))");
    return;
  }
  static const struct { const char *keys, *now; } elsewhere[] = { /* as other libraries have them; between blanks */
      {" early_stopping early_stop EarlyStopping patience ", "stop = patience(valid.loss, 100) ends training after so many evaluations without improvement"},
      {" save_best restore_best_weights checkpoint_best ", "keep = best(valid.accuracy) keeps the best weights"},
      {" gradient_clip_val max_grad_norm grad_clip ", "clip = norm(1.0)"},
      {" num_epochs n_epochs max_epochs nb_epochs ", "epochs = 200"},
      {" loader NeighborLoader DataLoader ClusterLoader ClusterData num_neighbors fanout fanouts sampler ", "batch = graphs(32) takes so many graphs a step; without batch an epoch is one step over all nodes, planned for the memory there is: --budget device=8GiB"},
      {" device gpu cuda num_gpus gpus accelerator ", "which machine it is for is said to gnncc: --target=a100, --budget device=8GiB"},
      {" num_workers threads n_jobs ", "./train --threads 4"},
      {" log logger log_dir callbacks wandb tensorboard verbose ", "./train --log csv, jsonl, html or tb=DIR"},
      {" num_runs n_runs repeats ", "runs = 10"},
      {" batch_size ", "batch = graphs(32) takes so many graphs a step; without batch an epoch is one step over all nodes"},
  };
  for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
    if (*stmt->key && strstr(elsewhere[i].keys, arena_printf(t->checker->arena, " %s ", stmt->key))) {
      diags_error(diags, "E0217", stmt->key_place, "unknown train setting \"%s\"", stmt->key);
      diags_help(diags, "%s", elsewhere[i].now);
      return;
    }
  if (!*stmt->key || strcmp(stmt->key, "group") == 0) return;
  if (train_is_in(stmt->key, later_settings, sizeof later_settings / sizeof *later_settings)) {
    check_unsupported(t->checker, stmt->key_place, "%s is", stmt->key);
    if (strcmp(stmt->key, "precision") == 0) check_help_precision(t->checker);
    return;
  }
  if (!train_is_in(stmt->key, settings, sizeof settings / sizeof *settings)) {
    diags_error(diags, "E0217", stmt->key_place, "unknown train setting \"%s\"%s", stmt->key,
                check_nearest_or_all(t->checker, stmt->key, settings, (int)(sizeof settings / sizeof *settings), "\""));
    check_fix_nearest(t->checker, stmt->key_place, stmt->key, settings, (int)(sizeof settings / sizeof *settings));
    return;
  }
  if (strcmp(stmt->key, "approximate") == 0) {
    train_check_approximate(t, stmt);
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
  if (strcmp(stmt->key, "epochs") == 0) train_whole(t, stmt->value, "epochs", 1, &t->train->epochs);
  if (strcmp(stmt->key, "runs") == 0) train_whole(t, stmt->value, "runs", 1, &t->train->runs);
  if (strcmp(stmt->key, "accumulate") == 0) train_whole(t, stmt->value, "accumulate", 1, &t->train->accumulate);
  if (strcmp(stmt->key, "seed") == 0) train_whole(t, stmt->value, "seed", 0, &t->train->seed);
  if (strcmp(stmt->key, "checkpoint") == 0) check_every(t, stmt, &t->train->checkpoint_every);
  if (strcmp(stmt->key, "evaluate") == 0) check_every(t, stmt, &t->train->evaluate_every);
  if (strcmp(stmt->key, "show") == 0) check_show(t, stmt->value);
}

/* report = mean_over_folds: Xu et al. (2019) compare the means over the folds of the same epochs. */
static void check_report(Training *t) {
  const Expr *value = t->report->value;
  Diags *diags = t->checker->diags;
  static const char *const known[] = {"mean_over_folds"};
  if (value->kind != EXPR_NAME || strcmp(value->text, known[0]) != 0) {
    train_unknown_word(t->checker, value->span.place, "report", *train_word_of(value) ? value->text : ast_expr_text(t->checker->arena, value), known, 1);
  } else if (!t->checker->program->data->recipe.has_folds) {
    diags_error(diags, "E0401", value->span.place, "report = mean_over_folds, but data \"%s\" is not cut into folds", t->checker->program->data->name);
    diags_help(diags, "split = folds(10, seed = 0)");
  } else if (t->stop) {
    diags_error(diags, "E0409", value->span.place, "report = mean_over_folds compares the same epochs of all folds, and stop ends them at different ones");
    diags_label(diags, t->stop->key_place, 0, "stops");
  } else t->train->reports_folds = true;
}

static void default_shows(Training *t) {
  TrainSpec *train = t->train;
  if (t->has_shows) return;
  const DataInfo *info = t->checker->program->info;
  for (int i = 0; i < SPLIT_TEST; i++) train->shows[i] = info->has_split[i];
  train->shows[SPLIT_TEST] = info->fold_count > 0;
  if (train->has_keep && train->keep_split == SPLIT_TEST) train->shows[SPLIT_TEST] = true;
  if (train->has_stop && train->stop_split == SPLIT_TEST) train->shows[SPLIT_TEST] = true;
}

void check_train(Checker *checker) {
  const Item *item = checker->train;
  TypedProgram *program = checker->program;
  int errors = diags_error_count(checker->diags);
  program->train = (TrainSpec){.label_field = NO_INDEX, .ring_field = NO_INDEX, .scores = program->result, .delta = 1, .pos_weight = 1, .accumulate = 1, .epochs = -1, .runs = program->info->fold_count > 0 ? program->info->fold_count : 1, .evaluate_every = 1, .place = item->name_place};
  Training t = {.checker = checker, .train = &program->train, .is_model_wrong = errors > 0};
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
  if (t.loss) train_check_loss(&t);
  if (t.metric) check_metric(&t);
  if (t.optimizer) train_check_optimizer(&t);
  if (t.clip) train_check_clip(&t);
  if (program->train.accumulate > 1 && program->train.clip_kind == CLIP_NORM)
    check_unsupported(checker, t.clip->key_place, "clip = norm(...) of gradients that are accumulated is");
  for (int i = 0; i < item->conf->count && t.optimizer; i++)
    if (!t.is_model_wrong && strcmp(item->conf->stmts[i]->key, "group") == 0) train_check_group(&t, item->conf->stmts[i]);
  if (t.keep) check_keep(&t);
  if (t.stop) check_stop(&t);
  if (t.report) check_report(&t);
  if (diags_error_count(checker->diags) == errors) has_split(&t, item->name_place, SPLIT_TRAIN);
  default_shows(&t);
  if (t.batch) train_check_batch(&t);
  program->has_train = diags_error_count(checker->diags) == errors;
}
