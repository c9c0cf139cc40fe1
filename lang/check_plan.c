/* check_plan: hints about memory: plan blocks. They never change results. */
#include <string.h>

#include "check.h"

static bool budget_tier(Checker *checker, const ConfStmt *stmt, Tier *tier) {
  const TypedProgram *program = checker->program;
  const char *device = program->has_target ? program->target.device : tier_names[TIER_DEVICE];
  if (tier_named(device, stmt->word, tier)) return true;
  bool is_usual = strcmp(stmt->word, "gpu") == 0 || strcmp(stmt->word, "cpu") == 0;
  if (!program->has_target && is_usual) {
    *tier = TIER_DEVICE;
    return true;
  }
  const char *known[] = {device, tier_names[TIER_HOST], tier_names[TIER_SSD], tier_names[TIER_DEVICE]};
  diags_error(checker->diags, "E0217", stmt->word_place, "unknown tier \"%s\"%s (known: %s, host, ssd)", stmt->word, check_nearest(checker, stmt->word, known, 4, ""), device);
  check_fix_nearest(checker, stmt->word_place, stmt->word, known, 4);
  return false;
}

static void check_budget(Checker *checker, const ConfStmt *stmt) {
  TierBudget budget = {.bytes = -1, .place = stmt->key_place};
  const Unit *unit = stmt->value && stmt->value->kind == EXPR_QUANTITY ? unit_find(stmt->value->text) : NULL;
  double bytes;
  if (!stmt->word || !stmt->value) {
    diags_error(checker->diags, "E0217", stmt->key_place, "a budget names a tier and its size: budget device = 24GiB");
    return;
  }
  if (!budget_tier(checker, stmt, &budget.tier)) return;
  if (unit && unit->kind == UNIT_SHARE) {
    budget.share = stmt->value->number / 100;
    if (budget.share > 1) {
      diags_error(checker->diags, "E0508", stmt->value->span.place, "a share is at most 100%%");
      return;
    }
  } else if (check_quantity(checker, stmt->value, "budget", UNIT_BYTES, &bytes)) {
    budget.bytes = (int64_t)bytes;
  } else {
    return;
  }
  ARENA_PUSH(checker->arena, checker->program->budgets, checker->program->budget_count, budget);
}

/* ---- words ---- */

/* The place of the value among `words`, which NULL ends; NO_INDEX and a message where it is none of them. */
static int chosen_word(Checker *checker, const ConfStmt *stmt, const char *const *words) {
  const Expr *value = stmt->value;
  bool is_word = value->kind == EXPR_NAME || value->kind == EXPR_STRING;
  int word = is_word ? vocabulary_find(words, value->text) : NO_INDEX, count = 1;
  if (word >= 0) return word;
  const char *known = words[0];
  for (; words[count]; count++) known = arena_printf(checker->arena, "%s, %s", known, words[count]);
  const char *text = is_word ? value->text : ast_expr_text(checker->arena, value);
  diags_error(checker->diags, "E0217", value->span.place, "unknown %s \"%s\"%s (known: %s)", stmt->key, text, check_nearest(checker, text, words, count, ""), known);
  check_fix_nearest(checker, value->span.place, text, words, count);
  return NO_INDEX;
}

static void check_fate(Checker *checker, const ConfStmt *stmt) {
  TypedProgram *program = checker->program;
  if (!stmt->word || !stmt->value || !stmt->is_word_string) {
    diags_error(checker->diags, "E0217", stmt->key_place, "a fate names values by a pattern in quotes: fate \"conv1.*\" = recompute");
    return;
  }
  for (int i = 0; i < program->fate_count; i++)
    if (strcmp(program->fates[i].pattern, stmt->word) == 0) {
      diags_error(checker->diags, "E0212", stmt->word_place, "the fate of \"%s\" is set twice (%s)", stmt->word, check_where(checker, program->fates[i].place));
      return;
    }
  int fate = chosen_word(checker, stmt, fate_names);
  if (fate != NO_INDEX) ARENA_PUSH(checker->arena, program->fates, program->fate_count, (FatePin){stmt->word, (Fate)fate, stmt->word_place});
}

/* Of a layer: the pattern in quotes says which, as in a fate. */
static void check_layer_cut(Checker *checker, const ConfStmt *stmt) {
  CutWish *wish = &checker->program->plan_cut;
  const char *cut = stmt->value ? ast_expr_text(checker->arena, stmt->value) : "", *rest = arena_printf(checker->arena, "%s = %s", stmt->word, cut);
  LayerWish layer;
  if (!stmt->is_word_string || !stmt->value || strpbrk(stmt->word, ",=") || !*stmt->word) {
    diags_error(checker->diags, "E0217", stmt->key_place, "the cut of a layer names it in quotes: cut \"conv1.backward\" = slices(4)");
    return;
  }
  const char *fault = cut_wish_layer(&rest, &layer);
  if (fault) diags_error(checker->diags, "E0217", stmt->value->span.place, "cut \"%s\" = %s: %s", stmt->word, cut, fault);
  else wish->layers = arena_printf(checker->arena, "%s%s%s = %s", wish->layers ? wish->layers : "", wish->layers ? ", " : "", stmt->word, cut);
}

static void check_cut(Checker *checker, const ConfStmt *stmt) {
  CutWish *wish = &checker->program->plan_cut;
  const char *layers = wish->layers;
  if (stmt->word) {
    check_layer_cut(checker, stmt);
    return;
  }
  if (!stmt->value) {
    diags_error(checker->diags, "E0217", stmt->key_place, "\"cut\" takes a value: cut = rows(16)");
    return;
  }
  if (wish->mode != CUT_UNSAID) {
    diags_error(checker->diags, "E0212", stmt->key_place, "\"cut\" is set twice");
    return;
  }
  const char *fault = cut_wish_read(ast_expr_text(checker->arena, stmt->value), wish);
  wish->layers = layers;
  if (!fault) return;
  diags_error(checker->diags, "E0217", stmt->value->span.place, "cut = %s: %s", ast_expr_text(checker->arena, stmt->value), fault);
  wish->mode = CUT_AUTO;
}

typedef struct WordSetting {
  const char *key;
  const char *const *words;
} WordSetting;

static const char *const efforts[] = {"fast", "normal", "best", NULL}, *const objectives[] = {"time", "memory", NULL};
static const WordSetting word_settings[] = {{"effort", efforts}, {"policy", program_policies}, {"objective", objectives}};
enum { WORD_EFFORT, WORD_POLICY, WORD_OBJECTIVE, WORD_COUNT };

static void check_word(Checker *checker, int which, const ConfStmt *stmt, const ConfStmt **before) {
  const WordSetting *setting = &word_settings[which];
  if (stmt->word || !stmt->value) {
    diags_error(checker->diags, "E0217", stmt->key_place, "\"%s\" takes a value: %s = %s", setting->key, setting->key, setting->words[0]);
    return;
  }
  if (*before) diags_error(checker->diags, "E0212", stmt->key_place, "\"%s\" is set twice (%s)", setting->key, check_where(checker, (*before)->key_place));
  *before = stmt;
  int word = chosen_word(checker, stmt, setting->words);
  if (word == NO_INDEX) return;
  if (which == WORD_EFFORT) checker->program->plan_effort = setting->words[word];
  else if (which == WORD_POLICY) checker->program->plan_policy = setting->words[word];
  else if (word > 0) check_unsupported(checker, stmt->key_place, "an objective other than time is");
}

void check_help_precision(Checker *checker) { diags_help(checker->diags, "the option --precision=bf16 of gnncc is for the whole program (fp32, tf32 or bf16); in double gradients are checked, with -fgradcheck"); }

static void check_plan_setting(Checker *checker, const ConfStmt *stmt, const ConfStmt *before[WORD_COUNT]) {
  static const char *const known[] = {"budget", "fate", "effort", "policy", "objective", "cut"};
  static const char *const later[] = {"parts", "order", "lanes", "precision"};
  if (!*stmt->key) return;
  for (int i = 0; i < WORD_COUNT; i++)
    if (strcmp(stmt->key, word_settings[i].key) == 0) {
      check_word(checker, i, stmt, &before[i]);
      return;
    }
  for (size_t i = 0; i < sizeof later / sizeof *later; i++)
    if (strcmp(stmt->key, later[i]) == 0) {
      check_unsupported(checker, stmt->key_place, "%s in a plan is", stmt->key);
      if (strcmp(stmt->key, "precision") == 0) check_help_precision(checker);
      return;
    }
  if (strcmp(stmt->key, "budget") == 0) check_budget(checker, stmt);
  else if (strcmp(stmt->key, "fate") == 0) check_fate(checker, stmt);
  else if (strcmp(stmt->key, "cut") == 0) check_cut(checker, stmt);
  else {
    diags_error(checker->diags, "E0217", stmt->key_place, "unknown plan setting \"%s\"%s", stmt->key, check_nearest(checker, stmt->key, known, 6, "\""));
    check_fix_nearest(checker, stmt->key_place, stmt->key, known, 6);
  }
}

void check_plan(Checker *checker) {
  const ConfStmt *before[WORD_COUNT] = {NULL}, *cut = NULL;
  for (int i = 0; i < checker->ast->item_count; i++) {
    const Item *item = checker->ast->items[i];
    if (item->kind != ITEM_PLAN) continue;
    for (int k = 0; k < item->conf->count; k++) {
      check_plan_setting(checker, item->conf->stmts[k], before);
      if (strcmp(item->conf->stmts[k]->key, "cut") == 0) cut = item->conf->stmts[k];
    }
  }
  const CutWish *wish = &checker->program->plan_cut;
  const char *fault = cut && wish->layers ? cut_wish_beside_layers(*wish) : NULL;
  if (fault) diags_error(checker->diags, "E0217", cut->key_place, "%s", fault);
}
