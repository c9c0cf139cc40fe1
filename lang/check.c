/* check: syntax tree -> typed program.
 *
 * Needs a program that parsed; gives one in which every name, size and domain is settled, layers are expanded and loops
 * unrolled. Opens no file: the data is described by the caller. Cost: linear in the expanded program.
 */
#include "check.h"

#include <string.h>

const Item *check_find_item(const Checker *checker, ItemKind kind, const char *name) {
  for (int i = checker->ast->item_count - 1; i >= 0; i--)
    if (checker->ast->items[i]->kind == kind && strcmp(checker->ast->items[i]->name, name) == 0) return checker->ast->items[i];
  return NULL;
}

bool check_step(Checker *checker, Place place) {
  if (checker->is_stopped) return false;
  if (++checker->steps <= CHECK_STEPS_MAX) return true;
  checker->is_stopped = true;
  diags_error(checker->diags, "E0112", place, "with its loops unrolled and its layers expanded the program has more than %d steps", CHECK_STEPS_MAX);
  return false;
}

/* `format` ends in "is" or "are". */
void check_unsupported(Checker *checker, Place place, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *what = arena_vprintf(checker->arena, format, args);
  va_end(args);
  diags_error(checker->diags, "E0110", place, "%s not supported yet", what);
}

const char *check_where(const Checker *checker, Place place) {
  if (place.file == checker->ast->main_file) return arena_printf(checker->arena, "line %d", place.line);
  return arena_printf(checker->arena, "%s:%d", diags_source_path(checker->diags, place.file), place.line);
}

/* ---- which items ---- */

static const char *item_word(ItemKind kind) {
  static const char *const words[] = {"import", "constant", "option", "data", "layer", "model", "train block", "target", "plan", ""};
  return words[kind];
}

static bool is_global_name(ItemKind kind) {
  return kind == ITEM_CONST || kind == ITEM_OPTION;
}

static void check_duplicates(Checker *checker) {
  for (int i = 0; i < checker->ast->item_count; i++)
    for (int k = 0; k < i; k++) {
      const Item *item = checker->ast->items[i], *other = checker->ast->items[k];
      bool is_same_kind = item->kind == other->kind || (is_global_name(item->kind) && is_global_name(other->kind));
      bool has_name = item->kind != ITEM_IMPORT && item->kind != ITEM_PLAN && item->kind != ITEM_ERROR;
      if (!is_same_kind || !has_name || strcmp(item->name, other->name) != 0) continue;
      if (check_is_standard(checker, item) != check_is_standard(checker, other)) continue;
      diags_error(checker->diags, "E0212", item->name_place, "there is a %s \"%s\" already (%s)", item_word(other->kind), other->name,
                  check_where(checker, other->name_place));
    }
}

static void set_twice(Checker *checker, Place place, const char *name, Place before) {
  diags_error(checker->diags, "E0212", place, "\"%s\" is set twice (%s)", name, check_where(checker, before));
}

static bool is_same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* random(0.6, 0.2, seed = 1, seed = 2): the calls of settings; those of layers and functions are looked at where they are checked. */
static void check_arguments_once(Checker *checker, const Expr *expr) {
  if (!expr) return;
  for (int i = 0; i < expr->arg_count; i++) {
    const Arg *arg = &expr->args[i];
    for (int k = 0; k < i && arg->name; k++)
      if (is_same_text(arg->name, expr->args[k].name)) {
        diags_error(checker->diags, "E0210", arg->place, "%s is given \"%s\" twice", expr->text, arg->name);
        break;
      }
    check_arguments_once(checker, arg->value);
  }
  check_arguments_once(checker, expr->a);
  check_arguments_once(checker, expr->b);
  check_arguments_once(checker, expr->c);
}

/* One value a setting: `group "a"` and `group "b"` are two. Fates have a message of their own. */
static void check_conf_once(Checker *checker, const Conf *conf) {
  for (int i = 0; conf && i < conf->count; i++) {
    const ConfStmt *stmt = conf->stmts[i];
    const bool is_counted = *stmt->key && strcmp(stmt->key, "fate") != 0;
    for (int k = 0; k < i && is_counted; k++) {
      const ConfStmt *other = conf->stmts[k];
      if (strcmp(stmt->key, other->key) != 0 || !is_same_text(stmt->word, other->word) || !is_same_text(stmt->far_word, other->far_word) || !is_same_text(stmt->arrow, other->arrow)) continue;
      set_twice(checker, stmt->key_place, stmt->word ? arena_printf(checker->arena, "%s %s", stmt->key, stmt->word) : stmt->key, other->key_place);
      break;
    }
    check_conf_once(checker, stmt->body);
    check_arguments_once(checker, stmt->value);
  }
}

static void check_settings_once(Checker *checker) {
  for (int n = 0; n < checker->ast->item_count; n++) {
    const Item *item = checker->ast->items[n];
    if (item->kind == ITEM_TRAIN || item->kind == ITEM_TARGET || item->kind == ITEM_PLAN) check_conf_once(checker, item->conf);
    if (item->kind == ITEM_DATA) check_arguments_once(checker, item->value);
    for (int i = 0; item->kind == ITEM_DATA && i < item->data_count; i++) {
      check_arguments_once(checker, item->data[i]->value);
      for (int k = 0; k < i; k++) {
        const DataStmt *stmt = item->data[i], *other = item->data[k];
        if (stmt->kind || other->kind || strcmp(stmt->name, other->name) != 0) continue;
        set_twice(checker, stmt->name_place, stmt->name, other->name_place);
        if (strcmp(stmt->name, "normalize") == 0) diags_help(checker->diags, "normalize = [rows(x), rows(z)] scales several fields");
        break;
      }
    }
  }
}

static const Item *only_item(Checker *checker, ItemKind kind) {
  const Item *found = NULL;
  for (int i = 0; i < checker->ast->item_count; i++) {
    const Item *item = checker->ast->items[i];
    if (item->kind != kind) continue;
    if (found) check_unsupported(checker, item->place, "several %s blocks in one program are", kind == ITEM_MODEL ? "model" : "train");
    found = found ? found : item;
  }
  return found;
}

static bool choose_items(Checker *checker) {
  checker->model = only_item(checker, ITEM_MODEL);
  checker->train = only_item(checker, ITEM_TRAIN);
  if (!checker->model) {
    diags_error(checker->diags, "E0218", (Place){checker->ast->main_file, 0, 0}, "the program has no model");
    diags_help(checker->diags, "model gcn on cora { return GCN(x, y.classes) as conv1 }");
    return false;
  }
  Suggest data = {.wanted = checker->model->on};
  for (int i = 0; i < checker->ast->item_count; i++)
    if (checker->ast->items[i]->kind == ITEM_DATA) suggest_offer(&data, checker->ast->items[i]->name);
  checker->data = check_find_item(checker, ITEM_DATA, checker->model->on);
  if (!checker->data)
    diags_error(checker->diags, "E0218", checker->model->on_place, "no data is called \"%s\"%s", checker->model->on, suggest_text(checker->arena, &data, "\""));
  if (checker->train && strcmp(checker->train->name, checker->model->name) != 0)
    diags_error(checker->diags, "E0218", checker->train->name_place, "no model is called \"%s\"; did you mean \"%s\"?", checker->train->name, checker->model->name);
  return checker->data != NULL;
}

/* ---- the model ---- */

static bool may_return(const Block *block) {
  for (int i = 0; i < block->count; i++) {
    const Stmt *stmt = block->stmts[i];
    if (stmt->kind == STMT_RETURN || (stmt->body && may_return(stmt->body)) || (stmt->other && may_return(stmt->other))) return true;
  }
  return false;
}

/* "h |> GCN(7) as conv2" is pointed at by its last call. */
static Place head_of(const Expr *expr) {
  while (expr->kind == EXPR_PIPE || expr->kind == EXPR_AS || expr->kind == EXPR_OVER) expr = expr->kind == EXPR_PIPE ? expr->b : expr->a;
  return expr->place;
}

static Place find_return(const Block *block, Place otherwise) {
  for (int i = block->count - 1; i >= 0; i--) {
    const Stmt *stmt = block->stmts[i];
    if (stmt->kind == STMT_RETURN) return head_of(stmt->results[0]);
    if (stmt->body) otherwise = find_return(stmt->body, otherwise);
    if (stmt->other) otherwise = find_return(stmt->other, otherwise);
  }
  return otherwise;
}

static void check_model(Checker *checker) {
  const Item *model = checker->model;
  Scope *scope = arena_alloc(checker->arena, sizeof *scope);
  *scope = (Scope){.item = model, .path = "", .call_place = model->place, .edges = checker->edges};
  int errors = diags_error_count(checker->diags);
  check_block(checker, scope, model->block);
  checker->program->result = NO_INDEX;
  checker->result_place = find_return(model->block, model->name_place);
  if (!scope->has_returned) {
    if (diags_error_count(checker->diags) > errors && may_return(model->block)) return;
    diags_error(checker->diags, "E0313", model->name_place, "model %s never returns a value", model->name);
    const Stmt *last = model->block->count ? model->block->stmts[model->block->count - 1] : NULL;
    if (last && last->kind == STMT_ASSIGN)
      diags_help(checker->diags, "the last line computes \"%s\" and drops it; did you mean return %s?", last->name, last->name);
    return;
  }
  if (scope->result.kind == VALUE_TENSOR) {
    checker->program->result = scope->result.id;
  } else if (scope->result.kind != VALUE_NONE) {
    diags_error(checker->diags, "E0313", model->name_place, "model %s returns a constant, not a value of the data", model->name);
  }
}

/* Where the user asked for a weight: it itself, or the call of the layer that brings it. */
static Place place_of_param(const Checker *checker, const TypedParam *param) {
  Place place = param->place;
  for (const char *dot = strchr(param->name, '.'); dot && param->place.file != checker->ast->main_file; dot = strchr(dot + 1, '.')) {
    const Instance *instance = check_find_path(checker, arena_strndup(checker->arena, param->name, (size_t)(dot - param->name)));
    if (instance && instance->place.file == checker->ast->main_file) place = instance->place;
  }
  return place;
}

/* Weights that the result does not depend on are a mistake nearly always: one message for those of one place. */
static void warn_unused_params(Checker *checker) {
  const TypedProgram *program = checker->program;
  bool *is_needed = arena_alloc(checker->arena, (size_t)program->expr_count + 1);
  bool *is_used = arena_alloc(checker->arena, (size_t)program->param_count + 1);
  is_needed[program->result] = true;
  for (TypedId i = program->result; i >= 0; i--) {
    const TypedExpr *e = &program->exprs[i];
    if (!is_needed[i]) continue;
    for (int k = 0; k < e->operand_count; k++) is_needed[e->operand[k]] = true;
    if (e->kind == TYPED_PARAM) is_used[e->index] = true;
  }
  for (int i = 0; i < program->param_count; i++) {
    if (is_used[i] || !program->params[i].is_trained) continue;
    const Place place = place_of_param(checker, &program->params[i]);
    const char *names = "";
    int count = 0;
    for (int k = i; k < program->param_count; k++) {
      const Place other = place_of_param(checker, &program->params[k]);
      if (is_used[k] || !program->params[k].is_trained || other.file != place.file || other.line != place.line || other.column != place.column) continue;
      if (count < 3) names = arena_printf(checker->arena, "%s%s\"%s\"", names, count ? ", " : "", program->params[k].name);
      is_used[k] = true;
      count++;
    }
    if (count > 3) names = arena_printf(checker->arena, "%s and %d more", names, count - 3);
    if (count == 1) diags_warning(checker->diags, "W0314", "unused-param", place, "%s does not influence the loss; it will keep its initial values", names);
    if (count > 1) diags_warning(checker->diags, "W0314", "unused-param", place, "%s do not influence the loss; they will keep their initial values", names);
  }
}

static uint64_t fingerprint_with_defines(const Checker *checker, uint64_t hash) {
  for (int i = 0; i < checker->options->define_count; i++) {
    const char *text = arena_printf(checker->arena, "%s=%s\n", checker->options->defines[i].name, checker->options->defines[i].value);
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001B3u;
  }
  return hash;
}

static void list_files(Checker *checker) {
  TypedProgram *program = checker->program;
  for (int32_t i = 0; i < diags_source_count(checker->diags); i++)
    ARENA_PUSH(checker->arena, program->files, program->file_count, diags_source_path(checker->diags, i));
}

TypedProgram *lang_check(Arena *arena, Diags *diags, const Ast *ast, const LangOptions *options) {
  Checker *checker = arena_alloc(arena, sizeof *checker);
  *checker = (Checker){.arena = arena, .diags = diags, .ast = ast, .options = options, .edges = DOMAIN_EDGE};
  checker->program = arena_alloc(arena, sizeof *checker->program);
  checker->program->result = NO_INDEX;
  int errors = diags_error_count(diags);

  check_duplicates(checker);
  check_constants(checker);
  bool has_items = choose_items(checker);
  check_targets(checker); /* how many devices there are is asked of the data */
  const int before_data = diags_error_count(diags);
  if (has_items) check_data(checker);
  const bool is_data_right = diags_error_count(diags) == before_data;
  check_plan(checker);
  if (has_items && checker->program->info) {
    checker->program->name = checker->model->name;
    check_model(checker);
    if (checker->program->result != NO_INDEX && diags_error_count(diags) == errors) {
      check_bounds(checker);
      warn_unused_params(checker);
      check_doubts(checker);
    }
    if (checker->train && is_data_right && !checker->is_stopped) check_train(checker);
  }
  check_settings_once(checker); /* the last word: what else is wrong on such a line says more */
  list_files(checker);
  checker->program->source_fingerprint = fingerprint_with_defines(checker, ast->text_fingerprint);
  checker->program->model_fingerprint = fingerprint_with_defines(checker, ast->model_fingerprint);
  return diags_error_count(diags) > errors ? NULL : checker->program;
}
