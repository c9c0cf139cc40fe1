/* check_layer: a call of a layer: its arguments, the names of its weights, its body expanded in place. */
#include <ctype.h>
#include <string.h>

#include "check.h"
#include "syntax.h"

static const Value none = {.kind = VALUE_NONE};

static const char *join_path(Checker *checker, const char *path, const char *name) {
  return *path ? arena_printf(checker->arena, "%s.%s", path, name) : name;
}

const char *check_signature(Checker *checker, const Item *layer) {
  const char *text = arena_printf(checker->arena, "%s(", layer->name);
  for (int i = 0; i < layer->formal_count; i++) {
    const Formal *formal = &layer->formals[i];
    text = arena_printf(checker->arena, "%s%s%s", text, i ? ", " : "", formal->name);
    if (formal->initial) text = arena_printf(checker->arena, "%s = %s", text, ast_expr_text(checker->arena, formal->initial));
  }
  return arena_printf(checker->arena, "%s)", text);
}

/* ---- layers of std ---- */

bool check_is_standard(const Checker *checker, const Item *item) {
  return syntax_is_standard(checker->diags, checker->options->share_dir, checker->ast, item);
}

bool check_sees_program(const Checker *checker, const Scope *scope) { return !scope || !scope->item || !check_is_standard(checker, scope->item); }

const Item *check_find_layer(const Checker *checker, const Scope *scope, const char *name) {
  const bool is_in_standard = !check_sees_program(checker, scope);
  const Item *standard = NULL, *own = NULL;
  for (int i = 0; i < checker->ast->item_count; i++) {
    const Item *item = checker->ast->items[i];
    if (item->kind == ITEM_LAYER && strcmp(item->name, name) == 0) *(check_is_standard(checker, item) ? &standard : &own) = item;
  }
  return is_in_standard || !own ? standard : own;
}

const Scope *check_standard_call(const Checker *checker, const Scope *scope) {
  if (!scope || !scope->caller || !check_is_standard(checker, scope->item)) return NULL;
  while (scope->caller->caller && check_is_standard(checker, scope->caller->item)) scope = scope->caller;
  return scope;
}

Written check_as_written(const Checker *checker, const Scope *scope, const Expr *expr, Value value) {
  const Expr *written = expr;
  const char *formal = NULL;
  for (const Scope *s = scope; s && s->caller && s->exprs && check_is_standard(checker, s->item); s = s->caller) {
    int at = NO_INDEX;
    for (int i = s->item->formal_count - 1; i >= 0; i--) {
      const bool is_value = value.kind == VALUE_TENSOR && s->given[i].kind == VALUE_TENSOR && s->given[i].id == value.id;
      if (s->exprs[i] && (is_value || (written->kind == EXPR_NAME && strcmp(s->item->formals[i].name, written->text) == 0))) at = i;
    }
    if (at == NO_INDEX) return (Written){ast_expr_text(checker->arena, expr), expr->span.place};
    written = s->exprs[at];
    formal = s->item->formals[at].name;
  }
  const bool is_short = !formal || written->kind == EXPR_NAME || written->kind == EXPR_MEMBER;
  return (Written){is_short ? ast_expr_text(checker->arena, written) : formal, written->span.place};
}

Place check_place_of(const Checker *checker, const Scope *scope, const Expr *expr, Place otherwise) {
  if (!expr) return otherwise;
  const Place place = check_as_written(checker, scope, expr, none).place;
  return place.file == checker->ast->main_file || !check_standard_call(checker, scope) ? place : otherwise;
}

/* ---- names of weights ---- */

const Instance *check_find_path(const Checker *checker, const char *path) {
  int index = name_table_find(&checker->instance_of, path);
  return index < 0 ? NULL : &checker->instances[index];
}

/* A checkpoint has best.NAME, opt.adam.m.NAME and state.counts beside the weights. */
static bool name_is_of_checkpoints(const char *name) {
  static const char *const words[] = {"best", "opt", "state"};
  const size_t length = strcspn(name, ".");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i]) == length && strncmp(name, words[i], length) == 0) return true;
  return false;
}

static NameUse *find_use(Scope *scope, const char *name) {
  for (int i = 0; i < scope->use_count; i++)
    if (strcmp(scope->uses[i].name, name) == 0) return &scope->uses[i];
  return NULL;
}

const Instance *check_find_instance(const Checker *checker, const Scope *scope, const char *name) {
  for (int i = 0; i < scope->use_count; i++)
    if (strcmp(scope->uses[i].name, name) == 0 && !scope->uses[i].is_list)
      return check_find_path(checker, *scope->path ? arena_printf(checker->arena, "%s.%s", scope->path, name) : name);
  return NULL;
}

bool check_is_layer_list(const Scope *scope, const char *name) {
  for (int i = 0; i < scope->use_count; i++)
    if (scope->uses[i].is_list && strcmp(scope->uses[i].name, name) == 0) return true;
  return false;
}

/* gcn1, gcn2: the layer's name in small letters, counted per layer within the scope. */
static const char *made_up_name(Checker *checker, Scope *scope, const Item *layer) {
  char *name = arena_strdup(checker->arena, layer->name);
  for (char *c = name; *c; c++)
    if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
  const char *key = arena_printf(checker->arena, "%s#", name);
  NameUse *use = find_use(scope, key);
  if (!use) {
    ARENA_PUSH(checker->arena, scope->uses, scope->use_count, (NameUse){.name = key});
    use = &scope->uses[scope->use_count - 1];
  }
  return arena_printf(checker->arena, "%s%d", name, ++use->count);
}

/* The path of the weights of this call; NULL after a message. */
static const char *weights_path(Checker *checker, Scope *scope, const Item *layer, const Call *call) {
  if (!call->as) return join_path(checker, scope->path, made_up_name(checker, scope, layer));
  bool is_list = scope->loop_depth > 0;
  NameUse *use = find_use(scope, call->as);
  if (!use) {
    ARENA_PUSH(checker->arena, scope->uses, scope->use_count, (NameUse){.name = call->as, .site = call->site, .is_list = is_list});
    use = &scope->uses[scope->use_count - 1];
  } else if (is_list != use->is_list || (is_list && use->site != call->site)) {
    diags_error(checker->diags, "E0206", call->as_place, "\"%s\" already names the layer of %s; a name used in a loop stands for a list of its own; name this one differently",
                call->as, check_where(checker, use->site->place));
    return NULL;
  }
  const char *path = join_path(checker, scope->path, call->as);
  return is_list ? arena_printf(checker->arena, "%s.%d", path, use->count++) : path;
}

/* ---- arguments ---- */

static void unknown_argument(Checker *checker, const Item *layer, const Arg *arg) {
  const char **names = arena_alloc(checker->arena, (size_t)(layer->formal_count + 1) * sizeof *names);
  for (int i = 0; i < layer->formal_count; i++) names[i] = layer->formals[i].name;
  check_unknown_argument(checker, arg->place, layer->name, arg->name, names, layer->formal_count);
  diags_note(checker->diags, "%s", check_signature(checker, layer));
}

/* What stands for an optional value that is not given, and is handed on as that: edge_weight = 1. */
static bool is_initial(const Formal *formal, Value value) {
  return formal->initial && formal->initial->kind == EXPR_NUMBER && value.kind == VALUE_NUMBER && value.number == formal->initial->number;
}

/* An optional value on nodes or edges is passed over by what is none: SAGE(x, 64) beside SAGE(authors, papers, 64). */
static bool is_passed_over(const Item *layer, int at, Value value) {
  const Formal *formal = at < layer->formal_count ? &layer->formals[at] : NULL;
  const bool is_row = value.kind == VALUE_TENSOR && value.type.domain != DOMAIN_NONE;
  return formal && formal->initial && formal->type.is_given && *formal->type.domain && value.kind != VALUE_NONE && !is_row && !is_initial(formal, value);
}

/* A text or a choice of yes or no where the formal has one: what else there is would be told of in the words of the layer's body. */
static bool is_of_kind(Checker *checker, const Item *layer, const Formal *formal, const Expr *expr, Value value) {
  const ExprKind kind = formal->initial && !formal->type.is_given ? formal->initial->kind : EXPR_ERROR;
  const char *text = kind == EXPR_STRING ? formal->initial->text : "";
  if (value.kind == VALUE_NONE) return true;
  if (kind == EXPR_STRING && value.kind != VALUE_STRING) diags_error(checker->diags, "E0215", expr->span.place, "\"%s\" of %s is a text: %s = \"%s\"", formal->name, layer->name, formal->name, text);
  else if (kind == EXPR_BOOL && value.kind != VALUE_BOOL) {
    if (value.kind == VALUE_TENSOR) check_option_as_constant(checker, value.id, expr->span.place, arena_printf(checker->arena, "\"%s\" of %s is", formal->name, layer->name));
    else diags_error(checker->diags, "E0215", expr->span.place, "\"%s\" of %s is true or false", formal->name, layer->name);
  } else if (kind == EXPR_NUMBER && (value.kind == VALUE_STRING || value.kind == VALUE_BOOL))
    diags_error(checker->diags, "E0215", expr->span.place, "\"%s\" of %s is a number", formal->name, layer->name);
  else return true;
  return false;
}

/* aggr = mean, without the quotes. */
static bool lacks_quotes(Checker *checker, Scope *scope, const Item *layer, const Formal *formal, const Expr *expr) {
  if (!formal || !formal->initial || formal->initial->kind != EXPR_STRING || expr->kind != EXPR_NAME) return false;
  if (check_find_variable(scope, expr->text) || check_find_constant(checker, expr->text) || check_find_option(checker, expr->text) != NO_INDEX) return false;
  if (scope->item == checker->model && check_field_index(checker, expr->text) != NO_INDEX) return false;
  const char *quoted = arena_printf(checker->arena, "\"%s\"", expr->text);
  diags_error(checker->diags, "E0215", expr->span.place, "\"%s\" of %s is a text: %s = %s", formal->name, layer->name, formal->name, quoted);
  diags_fix_word(checker->diags, expr->span.place, expr->text, quoted);
  return true;
}

/* Evaluates the arguments where the call stands. `given` holds one entry per formal. */
static bool evaluate(Checker *checker, Scope *scope, const Item *layer, const Call *call, Value *given, const Expr **exprs) {
  int next = 0;
  bool is_right = true;
  if (call->has_piped && layer->formal_count > 0) {
    given[0] = call->piped;
    exprs[0] = call->piped_expr;
    next = 1;
  }
  for (int i = 0; i < call->site->arg_count; i++) {
    const Arg *arg = &call->site->args[i];
    int at = NO_INDEX;
    for (int k = 0; arg->name && k < layer->formal_count; k++)
      if (strcmp(layer->formals[k].name, arg->name) == 0) at = k;
    if (lacks_quotes(checker, scope, layer, at == NO_INDEX ? NULL : &layer->formals[at], arg->value)) return false;
    const Value value = arg->name && at == NO_INDEX ? none : check_expr(checker, scope, arg->value);
    if (!arg->name) {
      while (is_passed_over(layer, next, value)) next++;
      at = next++;
    }
    if (at == NO_INDEX) {
      unknown_argument(checker, layer, arg);
      return false;
    }
    if (at >= layer->formal_count || exprs[at]) {
      const char *what = at >= layer->formal_count ? "takes fewer arguments" : arena_printf(checker->arena, "was given \"%s\" twice", layer->formals[at].name);
      diags_error(checker->diags, "E0210", arg->place, "%s %s", layer->name, what);
      diags_note(checker->diags, "%s", check_signature(checker, layer));
      return false;
    }
    exprs[at] = arg->value;
    given[at] = value;
    if (!is_of_kind(checker, layer, &layer->formals[at], arg->value, value)) return false;
    is_right = is_right && given[at].kind != VALUE_NONE;
  }
  return is_right;
}

static bool is_formal(const Item *layer, const char *name) {
  for (int i = 0; i < layer->formal_count; i++)
    if (strcmp(layer->formals[i].name, name) == 0) return true;
  return false;
}

/* A value whose formal says nothing of its dimensions keeps the caller's names, unless they mean something else inside. */
static void keep_dimension_names(Checker *checker, Scope *inner, Value *value) {
  for (int d = 0; d < value->type.rank; d++) {
    Dim *dim = &value->type.dim[d];
    if (check_is_anonymous(dim)) continue;
    const char *name = is_formal(inner->item, dim->name) ? arena_printf(checker->arena, "%s'", dim->name) : dim->name;
    ARENA_PUSH(checker->arena, inner->aliases, inner->alias_count, (DimAlias){name, dim->name});
    dim->name = name;
  }
}

static bool bind_formal(Checker *checker, Scope *inner, const Formal *formal, Value value, const Expr *expr, const Call *call) {
  Place place = expr ? expr->span.place : call->place;
  if (formal->type.is_given) {
    if (!check_against_type(checker, inner, &formal->type, formal->name, place, &value)) return false;
  } else if (value.kind == VALUE_TENSOR) {
    keep_dimension_names(checker, inner, &value);
  } else if (value.kind == VALUE_NUMBER) {
    ARENA_PUSH(checker->arena, inner->aliases, inner->alias_count, (DimAlias){formal->name, value.text});
    value.text = formal->name;
  }
  check_set_variable(checker, inner, formal->name, value, formal->place);
  return true;
}

static bool wants_edge_value(const Formal *formal) {
  return formal->type.is_given && strcmp(formal->type.domain, "edge") == 0 && !formal->initial;
}

static void report_no_edge_value(Checker *checker, const Item *layer, const Formal *formal, Place place) {
  const DataInfo *info = checker->program->info;
  const char *data = checker->data ? checker->data->name : "", *field = NULL;
  for (int i = 0; info && i < info->field_count && !field; i++)
    if (domain_is_relation(info->fields[i].domain)) field = info->fields[i].name;
  if (field) {
    diags_error(checker->diags, "E0309", place, "%s needs an edge feature as \"%s\"", layer->name, formal->name);
    diags_help(checker->diags, "data \"%s\" has one: %s = %s", data, formal->name, field);
  } else {
    bool is_gine = strcmp(layer->name, "GINE") == 0;
    diags_error(checker->diags, "E0309", place, "%s needs an edge feature, but data \"%s\" declares none; %sadd edge w : f32[...]", layer->name, data,
                is_gine ? "use GIN, or " : "");
  }
  diags_note(checker->diags, "%s", check_signature(checker, layer));
}

static bool bind(Checker *checker, Scope *inner, const Item *layer, const Call *call, Value *given, const Expr **exprs) {
  for (int i = 0; i < layer->formal_count; i++) {
    const Formal *formal = &layer->formals[i];
    Value value = given[i];
    if (wants_edge_value(formal) && value.kind != VALUE_TENSOR) {
      report_no_edge_value(checker, layer, formal, exprs[i] ? exprs[i]->span.place : call->place);
      return false;
    }
    if (!exprs[i] && value.kind == VALUE_NONE) {
      if (!formal->initial) {
        diags_error(checker->diags, "E0210", call->place, "%s needs the argument \"%s\"", layer->name, formal->name);
        diags_note(checker->diags, "%s", check_signature(checker, layer));
        return false;
      }
      value = check_expr(checker, inner, formal->initial);
      if (value.kind == VALUE_NONE) return false;
      given[i] = value;
    }
    if (formal->type.is_given && (exprs[i] ? is_initial(formal, value) : value.kind != VALUE_TENSOR)) { /* root : node[g] = 0: there is none, which domain(root) says */
      check_set_variable(checker, inner, formal->name, value, formal->place);
      continue;
    }
    if (bind_formal(checker, inner, formal, value, exprs[i], call)) continue;
    if (i == 0 && value.kind == VALUE_NUMBER) { /* GCN(34, 16), as others have sizes of what goes in and comes out */
      const char *out = layer->formal_count > 1 && exprs[1] && given[1].kind == VALUE_NUMBER ? ast_expr_text(checker->arena, exprs[1]) : value.text;
      diags_help(checker->diags, "the input comes first%s: %s(x, %s) or x |> %s(%s)", out == value.text ? "" : ", and its size is known", layer->name, out, layer->name, out);
    }
    return false;
  }
  return true;
}

/* ---- expansion ---- */

static bool is_allowed(Checker *checker, const Scope *scope, const Item *layer, const Call *call) {
  int depth = 0;
  for (const Scope *s = scope; s; s = s->caller) {
    depth++;
    if (s->item != layer) continue;
    diags_error(checker->diags, "E0213", call->place, "layer %s calls itself", layer->name);
    return false;
  }
  if (depth < LAYER_DEPTH_MAX) return true;
  diags_error(checker->diags, "E0111", call->place, "layers call each other more than %d deep here", LAYER_DEPTH_MAX);
  return false;
}

static int64_t last_width(const Value *value) {
  return value->kind == VALUE_TENSOR && value->type.rank > 0 ? value->type.dim[value->type.rank - 1].size : -1;
}

static void mark_result(Checker *checker, const Scope *inner, TypedId id, int first) {
  if (id < first) return; /* the layer gives back its argument */
  TypedExpr *e = &checker->program->exprs[id];
  e->scope = inner->path;
  e->is_layer_result = true;
}

/* "lin" of "conv1.lin", and "convs.0" itself, a member of a list. */
static const char *own_name(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && !isdigit((unsigned char)dot[1]) ? dot + 1 : path;
}

/* What a standard layer computes is told at the line of the user's own text that asked for it. */
static void place_at_call(Checker *checker, Place call, int first) {
  for (int i = first; i < checker->program->expr_count; i++)
    if (checker->program->exprs[i].place.file != checker->ast->main_file) checker->program->exprs[i].place = call;
}

/* What warnings about the data need to know: whether the layer is one of ours, and whether it is GCN. */
static void mark_standard(Checker *checker, const Item *layer, int first) {
  if (!check_is_standard(checker, layer)) return;
  if (strcmp(layer->name, "GCN") == 0) checker->program->wants_reverse_edges = true;
  for (int i = first; i < checker->program->expr_count; i++) checker->program->exprs[i].is_standard = true;
}

static bool has_formal(const Item *layer, const char *name, int *at) {
  for (*at = 0; *at < layer->formal_count; ++*at)
    if (strcmp(layer->formals[*at].name, name) == 0) return true;
  return false;
}

/* A layer of std that is written for one type of nodes stumbles somewhere inside over edges between two: what is wrong is the edges that it was called over. */
static void explain_two_types(Checker *checker, const Scope *inner, int messages) {
  const DataInfo *info = checker->program->info;
  const Item *layer = inner->item;
  const Domain src = domain_at(inner->edges, END_SRC), dst = domain_at(inner->edges, END_DST);
  int root, loops;
  if (src == dst || !check_is_standard(checker, layer) || check_standard_call(checker, inner) != inner) return;
  const bool takes_two = has_formal(layer, "root", &root), has_two = takes_two && inner->exprs[root];
  const bool adds_loops = has_formal(layer, "add_self_loops", &loops) && inner->given[loops].number != 0;
  if (has_two && !adds_loops) return;
  if (!diags_drop_with(checker->diags, messages, "E0302") && (has_two || !diags_drop_with(checker->diags, messages, "E0310"))) return;
  const char *edges = typed_domain_name(info, inner->edges), *from = typed_domain_name(info, src), *to = typed_domain_name(info, dst);
  const Place place = inner->call_at;
  if (has_two) {
    diags_error(checker->diags, "E0310", place, "%s adds an edge from each node to itself, and relation %s goes %s \xE2\x86\x92 %s", layer->name, edges, from, to);
    diags_help(checker->diags, "add_self_loops = false");
  } else if (takes_two) {
    diags_error(checker->diags, "E0310", place, "relation %s goes %s \xE2\x86\x92 %s, and %s was given values of one type of nodes", edges, from, to, layer->name);
    diags_help(checker->diags, "give it both: %s(%s.x, %s.x, ...) over %s", layer->name, from, to, edges);
  } else {
    diags_error(checker->diags, "E0310", place, "%s is for edges between nodes of one type, and relation %s goes %s \xE2\x86\x92 %s", layer->name, edges, from, to);
    diags_help(checker->diags, "SAGE(%s.x, %s.x, 64) over %s takes values of both; GraphConv, GAT, GATv2 and TransformerConv do, too", from, to, edges);
  }
}

static Value expand(Checker *checker, Scope *scope, const Item *layer, const Call *call, const char *path, Value *given, const Expr **exprs) {
  Scope *inner = arena_alloc(checker->arena, sizeof *inner);
  *inner = (Scope){.caller = scope, .item = layer, .path = path, .call_place = call->as ? call->as_place : call->place, .call_at = call->place, .edges = checker->edges, .given = given, .exprs = exprs};
  int first = checker->program->expr_count, errors = diags_error_count(checker->diags), messages = diags_count(checker->diags);
  if (!bind(checker, inner, layer, call, given, exprs)) return none;
  bool is_known = check_find_path(checker, path) != NULL;
  if (!is_known) {
    Instance instance = {.path = path, .layer = layer, .place = call->place, .width_in = layer->formal_count ? last_width(&given[0]) : -1, .width_out = -1, .arguments = given, .exprs = exprs};
    name_table_add(checker->arena, &checker->instance_of, path, checker->instance_count);
    ARENA_PUSH(checker->arena, checker->instances, checker->instance_count, instance);
  }
  check_block(checker, inner, layer->block);
  if (diags_error_count(checker->diags) > errors) {
    explain_two_types(checker, inner, messages);
    diags_called_from(checker->diags, messages, layer->place, call->place, layer->name);
    return none;
  }
  if (!inner->has_returned) {
    if (!checker->is_stopped) {
      diags_error(checker->diags, "E0313", layer->name_place, "layer %s never returns a value", layer->name);
      diags_label(checker->diags, call->place, 0, "called here");
    }
    return none;
  }
  Value result = inner->result;
  if (result.kind == VALUE_NUMBER) result = check_tensor(checker, inner, result, layer->place);
  if (result.kind != VALUE_TENSOR) return none;
  mark_result(checker, inner, result.id, first);
  if (result.id >= first) check_call_value(checker, path, check_sees_program(checker, scope) ? own_name(path) : NULL, result.id, call->place);
  mark_standard(checker, layer, first);
  place_at_call(checker, call->place, first);
  for (int d = 0; d < result.type.rank; d++) result.type.dim[d].name = check_dim_outside(checker, inner, &result.type.dim[d]);
  if (!is_known) checker->instances[name_table_find(&checker->instance_of, path)].width_out = last_width(&result);
  return result;
}

static void allocate(Checker *checker, const Item *layer, Value **given, const Expr ***exprs) {
  *given = arena_alloc(checker->arena, (size_t)(layer->formal_count + 1) * sizeof **given);
  *exprs = arena_alloc(checker->arena, (size_t)(layer->formal_count + 1) * sizeof **exprs);
}

Value check_layer_call(Checker *checker, Scope *scope, const Item *layer, const Call *call) {
  Value *given;
  const Expr **exprs;
  if (!is_allowed(checker, scope, layer, call)) return none;
  allocate(checker, layer, &given, &exprs);
  if (!evaluate(checker, scope, layer, call, given, exprs)) return none;
  const char *path = weights_path(checker, scope, layer, call);
  if (!path || !name_is_short(checker->diags, call->as ? call->as_place : call->place, path)) return none;
  if (call->as && !*scope->path && name_is_of_checkpoints(call->as)) {
    diags_error(checker->diags, "E0206", call->as_place, "\"%s\" begins other names in a checkpoint; name this one differently", call->as);
    return none;
  }
  const Instance *known = check_find_path(checker, path);
  if (known && known->layer != layer) {
    diags_error(checker->diags, "E0206", call->as ? call->as_place : call->place, "\"%s\" already names a %s (%s); name this one differently", path,
                known->layer->name, check_where(checker, known->place));
    return none;
  }
  return expand(checker, scope, layer, call, path, given, exprs);
}

/* An argument that is not given again is as it was, but for the input, and what was made of it: root = x. */
static bool is_kept(const Instance *instance, int i) { return instance->arguments[i].kind != VALUE_TENSOR || (i > 0 && instance->exprs[i]); }

/* conv1(z): the values may be others, everything else is as it was when conv1 was made. */
Value check_instance_call(Checker *checker, Scope *scope, const Instance *instance, const Call *call) {
  const Item *layer = instance->layer;
  Value *given;
  const Expr **exprs;
  if (call->as) {
    diags_error(checker->diags, "E0211", call->as_place, "\"%s\" has a name already; \"as %s\" cannot give it another", call->name, call->as);
    return none;
  }
  allocate(checker, layer, &given, &exprs);
  if (!evaluate(checker, scope, layer, call, given, exprs)) return none;
  for (int i = 0; i < layer->formal_count; i++)
    if (given[i].kind == VALUE_NONE && is_kept(instance, i)) given[i] = instance->arguments[i];
  Call again = *call;
  again.name = layer->name;
  return expand(checker, scope, layer, &again, instance->path, given, exprs);
}
