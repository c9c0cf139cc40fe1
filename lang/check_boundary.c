/* check_boundary: approximate { boundary = stale(1) }: what a training of several ranks does with rows of others that is not exact. Plans never change numbers; this does, so it is asked
 * for by name. */
#include <string.h>

#include "check_train.h"

static const char form[] = "boundary = stale(1), stale(1, smooth = 0.95) or sample(0.1)";

/* A number that lies above `low` and below `high`, or is `high` where that may be. */
static bool number_within(Training *t, const Expr *expr, const char *what, bool may_be_low, bool may_be_high, double *number) {
  const Value value = check_const_expr(t->checker, expr);
  if (value.kind == VALUE_NONE) return false;
  *number = value.number;
  if (value.kind == VALUE_NUMBER && value.number >= 0 && value.number <= 1 && (may_be_low || value.number > 0) && (may_be_high || value.number < 1)) return true;
  diags_error(t->checker->diags, "E0415", expr->span.place, "%s lies %s", what, may_be_low ? "between 0 and 1, which it is not" : "above 0 and is at most 1");
  return false;
}

static void read_stale(Training *t, const Expr *value) {
  TrainSpec *train = t->train;
  int64_t epochs = 0;
  double smooth = 0;
  for (int i = 0; i < value->arg_count; i++) {
    const Arg *arg = &value->args[i];
    if (i == 0 && !arg->name) {
      if (!train_whole(t, arg->value, "how many epochs a boundary is behind", 1, &epochs)) return;
      if (epochs > 1) {
        check_unsupported(t->checker, arg->value->span.place, "a boundary more than one epoch behind is");
        return;
      }
    } else if (i > 0 && arg->name && strcmp(arg->name, "smooth") == 0) {
      if (!number_within(t, arg->value, "smooth, the share of what came before,", true, false, &smooth)) return;
    } else {
      epochs = 0;
      break;
    }
  }
  if (epochs == 0) {
    diags_error(t->checker->diags, "E0415", value->span.place, "%s; %s is not known", form, ast_expr_text(t->checker->arena, value));
    return;
  }
  train->boundary = BOUNDARY_STALE;
  train->boundary_number = smooth;
  train->approximation = smooth > 0 ? arena_printf(t->checker->arena, "boundary = stale(1, smooth = %.9g)", smooth) : "boundary = stale(1)";
}

static void read_sample(Training *t, const Expr *value) {
  double share = 0;
  if (!train_is_call_of(value, "sample", 1)) diags_error(t->checker->diags, "E0415", value->span.place, "%s; %s is not known", form, ast_expr_text(t->checker->arena, value));
  else if (number_within(t, value->args[0].value, "the share of rows that is sampled", false, true, &share)) {
    t->train->boundary = BOUNDARY_SAMPLE;
    t->train->boundary_number = share;
    t->train->approximation = arena_printf(t->checker->arena, "boundary = sample(%.9g)", share);
  }
}

void train_check_approximate(Training *t, const ConfStmt *stmt) {
  Checker *checker = t->checker;
  static const char *const settings[] = {"boundary"}, *const kinds[] = {"stale", "sample"};
  if (!stmt->body || stmt->word) {
    diags_error(checker->diags, "E0415", stmt->key_place, "approximate is a block: approximate { boundary = stale(1) }");
    return;
  }
  for (int i = 0; i < stmt->body->count; i++) {
    const ConfStmt *setting = stmt->body->stmts[i];
    const char *word = train_word_of(setting->value);
    if (!*setting->key) continue;
    if (strcmp(setting->key, "save") == 0) check_unsupported(checker, setting->key_place, "values that are saved in few bits are");
    else if (strcmp(setting->key, settings[0]) != 0) {
      diags_error(checker->diags, "E0217", setting->key_place, "unknown setting \"%s\" of approximate%s", setting->key, check_nearest_or_all(checker, setting->key, settings, 1, "\""));
      check_fix_nearest(checker, setting->key_place, setting->key, settings, 1);
    } else if (!setting->value || setting->word) diags_error(checker->diags, "E0415", setting->key_place, "%s", form);
    else if (!train_is_in(word, kinds, 2)) train_unknown_word(checker, setting->value->span.place, "boundary", *word ? word : ast_expr_text(checker->arena, setting->value), kinds, 2);
    else if (strcmp(word, "stale") == 0 && setting->value->kind == EXPR_CALL) read_stale(t, setting->value);
    else read_sample(t, setting->value);
  }
}
