/* check_names: what a name stands for, and what to say when it stands for nothing. */
#include <string.h>

#include "check.h"
#include "syntax.h"

Variable *check_find_variable(const Scope *scope, const char *name) {
  for (int i = scope ? scope->variable_count - 1 : -1; i >= 0; i--)
    if (strcmp(scope->variables[i].name, name) == 0) return &scope->variables[i];
  return NULL;
}

void check_call_value(Checker *checker, const char *path, const char *name, TypedId value, Place place) {
  TypedProgram *program = checker->program;
  ARENA_PUSH(checker->arena, program->namings, program->naming_count, ((Naming){value, path, name, place}));
}

void check_set_variable(Checker *checker, Scope *scope, const char *name, Value value, Place place) {
  Variable *variable = check_find_variable(scope, name);
  if (variable) *variable = (Variable){name, value, place};
  else ARENA_PUSH(checker->arena, scope->variables, scope->variable_count, (Variable){name, value, place});
}

int check_find_option(const Checker *checker, const char *name) {
  for (int i = 0; i < checker->program->option_count; i++)
    if (strcmp(checker->program->options[i].name, name) == 0) return i;
  return NO_INDEX;
}

void check_fix_suggested(Checker *checker, Place place, const Suggest *suggest) {
  if (suggest->count == 1) diags_fix_word(checker->diags, place, suggest->wanted, suggest->name[0]);
}

void check_fix_nearest(Checker *checker, Place place, const char *wanted, const char *const *names, int count) {
  Suggest suggest = {.wanted = wanted};
  for (int i = 0; i < count; i++) suggest_offer(&suggest, names[i]);
  check_fix_suggested(checker, place, &suggest);
}

static bool is_in(const char *name, const char *const *names, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

/* Dimension 0 of other libraries is the nodes, which are no dimension here. */
static void help_dim(const Checker *checker, const char *of, const char *const *known, int count) {
  const char *rows = check_goes_over_rows(of) ? "dim = 0 is axis = rows, over all of them" : is_in("to", known, count) ? "dim = 0 is to = graph, over all nodes of each graph" : "rows, which are dimension 0 there, are none here";
  diags_help(checker->diags, "%s; the last dimension is axis = -1, within each row, and one with a name axis = that name", rows);
}

void check_unknown_argument(Checker *checker, Place place, const char *of, const char *name, const char *const *known, int count) {
  const char *ours = known_argument_of(name, known, count);
  if (ours && !*ours) {
    diags_error(checker->diags, "E0204", place, "%s has no argument \"%s\"; leave it out: layers follow the data and know their edges", of, name);
    return;
  }
  if (ours) {
    diags_error(checker->diags, "E0204", place, "%s has no argument \"%s\"; here it is called \"%s\"", of, name, ours);
    const bool is_value = strcmp(name, "edge_dim") == 0; /* a width there, the features here */
    const bool is_number = strcmp(name, "dim") == 0; /* there the nodes are dimension 0 */
    if (is_value) diags_help(checker->diags, "edge_attr = e, whose width the layer follows");
    else if (is_number) help_dim(checker, of, known, count);
    else diags_fix_word(checker->diags, place, name, ours);
    return;
  }
  diags_error(checker->diags, "E0204", place, "%s has no argument \"%s\"%s", of, name, check_nearest(checker, name, known, count, "\""));
  check_fix_nearest(checker, place, name, known, count);
}

const char *check_nearest(Checker *checker, const char *wanted, const char *const *names, int count, const char *quote) {
  Suggest suggest = {.wanted = wanted};
  for (int i = 0; i < count; i++) suggest_offer(&suggest, names[i]);
  return suggest_text(checker->arena, &suggest, quote);
}

const char *check_nearest_or_all(Checker *checker, const char *wanted, const char *const *names, int count, const char *quote) {
  const char *nearest = check_nearest(checker, wanted, names, count, quote), *all = "";
  for (int i = 0; i < count; i++) all = arena_printf(checker->arena, "%s%s%s", all, i ? ", " : "", names[i]);
  return *nearest ? nearest : arena_printf(checker->arena, " (known: %s)", all);
}

/* ---- names that mean nothing ---- */

typedef struct Candidate {
  const char *kind; /* "constant" */
  Place place;
} Candidate;

static void offer(Suggest *suggest, Candidate *best, const char *name, const char *kind, Place place) {
  suggest_offer(suggest, name);
  if (suggest->count && suggest->name[0] == name) *best = (Candidate){kind, place};
}

static Suggest offer_all(const Checker *checker, const Scope *scope, const char *name, Candidate *best) {
  Suggest suggest = {.wanted = name};
  for (int i = 0; scope && i < scope->variable_count; i++)
    offer(&suggest, best, scope->variables[i].name, "value", scope->variables[i].place);
  for (int i = 0; i < checker->constant_count; i++)
    offer(&suggest, best, checker->constants[i].item->name, "constant", checker->constants[i].item->name_place);
  for (int i = 0; i < checker->program->option_count; i++)
    offer(&suggest, best, checker->program->options[i].name, "option", checker->program->options[i].place);
  bool sees_fields = scope && scope->item == checker->model && checker->program->info;
  for (int i = 0; sees_fields && i < checker->program->info->field_count; i++)
    offer(&suggest, best, checker->program->info->fields[i].name, "field", diags_no_place());
  return suggest;
}

static void unknown_name(Checker *checker, const Scope *scope, const Expr *name) {
  Candidate best = {"", diags_no_place()};
  Suggest suggest = offer_all(checker, scope, name->text, &best);
  bool is_in_model = scope && scope->item == checker->model && checker->program->info;
  if (suggest.count) {
    const char *where = best.place.line > 0 ? arena_printf(checker->arena, " (%s)", check_where(checker, best.place)) : "";
    diags_error(checker->diags, "E0202", name->place, "\"%s\" is not defined here; did you mean the %s \"%s\"%s?", name->text, best.kind,
                suggest.name[0], where);
    check_fix_suggested(checker, name->place, &suggest);
  } else if (strcmp(name->text, "edge_index") == 0) {
    diags_error(checker->diags, "E0202", name->place, "\"edge_index\" is not needed: layers and src./dst. know the edges of the data");
  } else if (check_is_function(name->text)) {
    diags_error(checker->diags, "E0202", name->place, "\"%s\" is a function; write %s(...)", name->text, name->text);
  } else if (is_in_model) {
    diags_error(checker->diags, "E0203", name->place, "data \"%s\" has no field \"%s\"; it has %s", checker->program->data->name, name->text,
                check_field_list(checker));
    if (name->text[0] >= 'A' && name->text[0] <= 'Z') diags_help(checker->diags, "a layer is called: x |> %s(16)", name->text);
  } else {
    diags_error(checker->diags, "E0202", name->place, "\"%s\" is not defined here", name->text);
    if (scope && check_field_index(checker, name->text) != NO_INDEX)
      diags_help(checker->diags, "a layer sees its arguments only; give it the field \"%s\" as one", name->text);
  }
}

static void offer_layers_of(Suggest *suggest, const Ast *ast) {
  for (int i = 0; i < ast->item_count; i++)
    if (ast->items[i]->kind == ITEM_LAYER) suggest_offer(suggest, ast->items[i]->name);
}

static void offer_shared(Arena *arena, const LangOptions *options, const char *path, void *suggest) {
  offer_layers_of(suggest, syntax_parse_quietly(arena, options, path));
}

/* The layer or function; of another library's name the one it has here. */
static const char *with_alias(Checker *checker, const char *name) {
  const char *ours = known_alias_of(name);
  if (ours && !known_is_name(ours)) return known_use(checker->arena, ours);
  return ours && strcmp(ours, name) != 0 ? arena_printf(checker->arena, "%s (also known as %s)", ours, name) : name;
}

const char *check_in_training(Arena *arena, const char *name) {
  if (is_in(name, loss_names, GNN_LOSS_COUNT)) return arena_printf(arena, "the train block has losses: loss = %s(out, y)", name);
  if (is_in(name, optimizer_names, OPTIMIZER_COUNT)) return arena_printf(arena, "the train block has optimisers: optimizer = %s(lr = 0.01)", name);
  if (is_in(name, metric_names, GNN_METRIC_COUNT) || strcmp(name, "confusion") == 0) return arena_printf(arena, "the train block has metrics: metric = %s", name);
  return NULL;
}

void check_unknown_layer(Checker *checker, const char *name, Place place) {
  bool is_layer = name[0] >= 'A' && name[0] <= 'Z';
  Suggest suggest = {.wanted = name};
  const Alias *alias;
  const char *function;
  offer_layers_of(&suggest, checker->ast);
  syntax_each_shared(checker->arena, checker->options, "std", offer_shared, &suggest);
  for (int i = 0; !is_layer && (function = check_function_name(i)); i++) suggest_offer(&suggest, function);
  for (int i = 0; (alias = known_alias(i)); i++) suggest_offer(&suggest, alias->foreign);
  const char *what = is_layer ? "layer" : "function";
  bool is_missing;
  const char *instead = known_instead(name, &is_missing), *setting = known_instead_of_setting(name), *in_training = known_instead_in_training(name);
  if (!instead && (setting || in_training)) {
    diags_error(checker->diags, "E0201", place, "no %s is called \"%s\"", what, name);
    diags_help(checker->diags, "in the %s block: %s", setting ? "data" : "train", setting ? setting : in_training);
    return;
  }
  if (instead) {
    if (is_missing) check_unsupported(checker, place, "%s is", name);
    else diags_error(checker->diags, "E0201", place, "no %s is called \"%s\"", what, name);
    diags_help(checker->diags, "%s", instead);
    return;
  }
  const char *ours = suggest.count ? known_alias_of(suggest.name[0]) : NULL, *training = check_in_training(checker->arena, ours ? ours : name);
  if (suggest.count == 0 || training) {
    diags_error(checker->diags, "E0201", place, "no %s is called \"%s\"", what, name);
    if (training) {
      diags_help(checker->diags, "%s", training);
      return;
    }
  } else {
    const char *replacement = ours ? ours : suggest.name[0];
    const bool is_certain = suggest.count == 1 || suggest.distance[0] < suggest.distance[1] || strcmp(replacement, suggest.name[1]) == 0;
    for (int i = 0; i < suggest.count; i++) suggest.name[i] = with_alias(checker, suggest.name[i]);
    suggest.count = 1;
    diags_error(checker->diags, "E0201", place, "no %s is called \"%s\"%s", what, name, suggest_text(checker->arena, &suggest, ""));
    if (is_certain && known_is_name(replacement)) diags_fix_word(checker->diags, place, name, replacement);
  }
  diags_note(checker->diags, "gnncc --list %ss", what);
}

/* ---- names that mean something ---- */

static bool init_named(const char *name, Value *value) {
  static const struct { const char *name; InitRule rule; double number; } rules[] = {
      {"zeros", RULE_CONSTANT, 0}, {"ones", RULE_CONSTANT, 1}, {"glorot", RULE_GLOROT, 0}, {"kaiming_uniform", RULE_KAIMING_UNIFORM, 0},
  };
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (strcmp(rules[i].name, name) == 0) {
      *value = (Value){.kind = VALUE_INIT, .rule = rules[i].rule, .number = rules[i].number, .text = rules[i].name};
      return true;
    }
  return false;
}

static Value degree(Checker *checker, Scope *scope, EdgeEnd end, Place place) {
  if (!check_has_edges(checker, scope, place, end == END_DST ? "in_degree" : "out_degree") || !check_tells_no_pairs(checker, checker->edges, place)) return (Value){.kind = VALUE_NONE};
  TypedExpr e = {.kind = TYPED_DEGREE, .place = place, .end = end, .edges = checker->edges, .type = check_scalar_type()};
  e.type.domain = domain_at(checker->edges, end);
  return check_emit(checker, scope, e);
}

static Value relation_count(Checker *checker, const Scope *scope) {
  const Scope *call = check_standard_call(checker, scope);
  const int count = checker->program->info->relation_count - checker->program->info->has_pairs;
  if (count || !call) return check_number(count, "relations");
  diags_error(checker->diags, "E0310", call->call_at, "%s goes over relations, and data \"%s\" has none", call->item->name, checker->program->data->name);
  diags_help(checker->diags, "for edges of one kind there are GCN, SAGE and others; relation cites : paper -> paper declares one of several");
  return (Value){.kind = VALUE_NONE};
}

Value check_name(Checker *checker, Scope *scope, const Expr *name) {
  Value value;
  Variable *variable = check_find_variable(scope, name->text);
  if (variable) return variable->value;
  bool is_model = scope && scope->item == checker->model;
  if (is_model && check_field(checker, name->text, name->place, &value)) return value;
  const bool sees_program = check_sees_program(checker, scope);
  for (int i = 0; i < checker->size_name_count && sees_program; i++)
    if (strcmp(checker->size_names[i].name, name->text) == 0) return checker->size_names[i].value;
  Constant *constant = sees_program ? check_find_constant(checker, name->text) : NULL;
  if (constant) return check_constant_value(checker, constant);
  int option = sees_program ? check_find_option(checker, name->text) : NO_INDEX;
  if (option != NO_INDEX) {
    TypedExpr e = {.kind = TYPED_OPTION, .index = option, .place = name->place, .type = check_scalar_type(), .name = name->text};
    return check_emit(checker, scope, e);
  }
  if (scope && strcmp(name->text, "has_self_loops") == 0) {
    checker->program->adds_self_loops = true;
    return check_bool(checker->program->data->recipe.self_loops == SELF_LOOPS_ADD);
  }
  if (scope && strcmp(name->text, "relations") == 0) return relation_count(checker, scope);
  if (scope && strcmp(name->text, "has_graphs") == 0) return check_bool(checker->program->info->graphs > 1);
  if (scope && strcmp(name->text, "in_degree") == 0) return degree(checker, scope, END_DST, name->place);
  if (scope && strcmp(name->text, "out_degree") == 0) return degree(checker, scope, END_SRC, name->place);
  if (init_named(name->text, &value)) return value;
  if (scope && check_find_instance(checker, scope, name->text))
    diags_error(checker->diags, "E0211", name->place, "\"%s\" names a layer; call it to use its weights again: %s(x)", name->text, name->text);
  else
    unknown_name(checker, scope, name);
  return (Value){.kind = VALUE_NONE};
}
