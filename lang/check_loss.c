/* check_loss: the loss of the train block, and whether scores and labels suit it. */
#include <string.h>

#include "check_train.h"

static bool is_result(const Expr *expr) { return expr->kind == EXPR_NAME && strcmp(expr->text, "out") == 0; }

static int64_t width_of(const Type *type) {
  int64_t width = 1;
  for (int d = 0; d < type->rank; d++) width *= type->dim[d].size;
  return width;
}

/* ---- settings: known when the program is compiled ---- */

static void number(Training *t, const Arg *arg, const char *what, double least, double most, double *to) {
  Value value = check_const_expr(t->checker, arg->value);
  if (value.kind == VALUE_NONE) return;
  if (value.kind != VALUE_NUMBER || !(value.number >= least) || !(value.number <= most))
    diags_error(t->checker->diags, "E0406", arg->value->span.place, "%s must be a number from %.9g to %.9g", what, least, most);
  else *to = value.number;
}

static void class_weights(Training *t, const Arg *arg) {
  Checker *checker = t->checker;
  if (arg->value->kind != EXPR_LIST || arg->value->arg_count == 0) {
    diags_error(checker->diags, "E0406", arg->value->span.place, "weights are a list of numbers, one for each class: weights = [1, 2.5]");
    return;
  }
  for (int i = 0; i < arg->value->arg_count; i++) {
    double weight = 1;
    number(t, &arg->value->args[i], "the weight of a class", 0, 1e9, &weight);
    ARENA_PUSH(checker->arena, t->train->class_weights, t->train->class_weight_count, weight);
  }
}

static bool set_argument(Training *t, gnn_loss_kind loss, const char *name, const Arg *arg) {
  if (loss == GNN_LOSS_CROSS_ENTROPY && strcmp(name, "weights") == 0) class_weights(t, arg);
  else if (loss == GNN_LOSS_CROSS_ENTROPY && strcmp(name, "label_smoothing") == 0) number(t, arg, "label_smoothing", 0, 1, &t->train->smoothing);
  else if (loss == GNN_LOSS_BCE && strcmp(name, "pos_weight") == 0) number(t, arg, "pos_weight", 0, 1e9, &t->train->pos_weight);
  else if (loss == GNN_LOSS_HUBER && strcmp(name, "delta") == 0) number(t, arg, "delta", 1e-9, 1e9, &t->train->delta);
  else return false;
  return true;
}

static void check_arguments(Training *t, const Expr *loss, gnn_loss_kind kind) {
  static const char *const names[] = {"weights", "label_smoothing", "pos_weight", "delta"};
  for (int i = 2; i < loss->arg_count; i++) {
    const Arg *arg = &loss->args[i];
    const char *name = arg->name ? arg->name : kind == GNN_LOSS_HUBER && i == 2 ? "delta" : "";
    if (set_argument(t, kind, name, arg)) continue;
    diags_error(t->checker->diags, "E0204", arg->place, "%s has no argument \"%s\"%s", loss_names[kind], *name ? name : "(without a name)",
                train_is_in(name, names, 4) ? "" : check_nearest(t->checker, name, names, 4, "\""));
    if (!train_is_in(name, names, 4)) check_fix_nearest(t->checker, arg->place, name, names, 4);
    diags_note(t->checker->diags, "%s", loss_helps[kind]);
  }
}

/* ---- labels and scores ---- */

static void wrong_labels(Training *t, gnn_loss_kind kind, const Expr *label, const Type *labels) {
  Diags *diags = t->checker->diags;
  const char *name = ast_expr_text(t->checker->arena, label);
  if (labels->dtype == DTYPE_CLASS)
    diags_error(diags, "E0312", label->place, "%s wants %s; %s is class[%lld]; use cross_entropy, or declare %s : f32", loss_names[kind],
                kind == GNN_LOSS_BCE ? "two classes, or a row of labels" : "numbers", name, (long long)labels->classes, name);
  else
    diags_error(diags, "E0312", label->place, "cross_entropy wants class labels; %s is f32[%lld]; use mse, or declare %s : class[\xE2\x80\xA6]", name,
                (long long)width_of(labels), name);
}

static const char *where(Checker *checker, Domain domain) {
  const bool is_named = domain_is_relation(domain) && domain != DOMAIN_EDGE, is_pairs = check_is_pairs(checker, domain);
  if (domain == DOMAIN_NONE) return "nowhere";
  return arena_printf(checker->arena, is_pairs ? "the pairs %s" : is_named ? "edges of %s" : "%ss", check_domain_word(checker, domain));
}

static int formal_of(const Item *layer, const char *name) {
  for (int i = 0; i < layer->formal_count; i++)
    if (strcmp(layer->formals[i].name, name) == 0) return i;
  return NO_INDEX;
}

/* What the layer that gave the scores should be called with. */
static void help_width(Checker *checker, const TypedExpr *result, const char *label, int64_t classes) {
  const Instance *last = result->is_layer_result ? check_find_path(checker, result->scope) : NULL;
  const int heads = last ? formal_of(last->layer, "heads") : NO_INDEX, concat = last ? formal_of(last->layer, "concat") : NO_INDEX;
  if (heads != NO_INDEX && concat != NO_INDEX && last->arguments[concat].number != 0 && last->arguments[heads].number > 1 &&
      (double)classes * last->arguments[heads].number == (double)result->type.dim[0].size)
    diags_help(checker->diags, "%s puts its %.0f heads side by side; their mean has one score per class: %s(%s.classes, heads = %.0f, concat = false)", last->layer->name,
               last->arguments[heads].number, last->layer->name, label, last->arguments[heads].number);
  else diags_help(checker->diags, "%s(%s.classes) follows the data", last && formal_of(last->layer, "out") == 1 ? last->layer->name : "GCN", label);
}

static void check_scores(Training *t, gnn_loss_kind kind, const Expr *loss, const Type *labels) {
  Checker *checker = t->checker;
  const Expr *label = loss->args[1].value;
  const TypedExpr *result = &checker->program->exprs[t->train->scores];
  const int64_t wanted = labels->dtype != DTYPE_CLASS ? width_of(labels) : kind == GNN_LOSS_BCE ? 1 : labels->classes;
  if (kind == GNN_LOSS_CROSS_ENTROPY && result->is_softmax) {
    diags_warning(checker->diags, "W0315", "double-softmax", checker->result_place, "cross_entropy applies log-softmax itself; this softmax is applied twice");
    diags_help(checker->diags, "return the scores as they are");
  }
  if (labels->domain != result->type.domain) {
    diags_error(checker->diags, "E0308", loss->args[0].value->place, "out lives on %s, %s on %s", where(checker, result->type.domain), ast_expr_text(checker->arena, label), where(checker, labels->domain));
    if (domain_is_relation(result->type.domain) && domain_is_nodes(labels->domain)) diags_help(checker->diags, "reduce to nodes first: sum(m)");
    if (domain_is_nodes(result->type.domain) && labels->domain == DOMAIN_GRAPH) diags_help(checker->diags, "pool before the last layer: sum(h, to = graph)");
    if (domain_is_nodes(result->type.domain) && domain_is_relation(labels->domain)) diags_help(checker->diags, "score what is at both ends: dot(src.h, dst.h)");
    return;
  }
  const bool is_right = kind == GNN_LOSS_CROSS_ENTROPY ? result->type.rank == 1 && result->type.dim[0].size == wanted : result->type.rank <= 1 && width_of(&result->type) == wanted;
  if (is_right) return;
  if (labels->dtype != DTYPE_CLASS || kind == GNN_LOSS_BCE) {
    diags_error(checker->diags, "E0307", checker->result_place, "the model returns %s; %s wants %lld score%s per %s", check_type_text(checker, &result->type), loss_names[kind],
                (long long)wanted, wanted == 1 ? "" : "s", check_domain_word(checker, labels->domain));
    diags_label(checker->diags, label->place, 0, "the labels of the loss");
  } else if (result->type.rank == 1) {
    diags_error(checker->diags, "E0307", checker->result_place, "the model returns %lld scores per %s but %s has %lld classes",
                (long long)result->type.dim[0].size, check_domain_word(checker, labels->domain), ast_expr_text(checker->arena, label), (long long)labels->classes);
    diags_label(checker->diags, label->place, 0, "the labels of the loss");
    help_width(checker, result, ast_expr_text(checker->arena, label), labels->classes);
  } else {
    diags_error(checker->diags, "E0307", checker->result_place, "the model returns %s; cross_entropy wants one score per class: %s[%lld]",
                check_type_text(checker, &result->type), check_domain_word(checker, labels->domain), (long long)labels->classes);
  }
}

/* ---- all of it ---- */

void train_check_loss(Training *t) {
  Checker *checker = t->checker;
  const Expr *loss = t->loss->value;
  const char *name = train_word_of(loss);
  const char *ours = strcmp(name, "bce_with_logits") == 0 ? "bce" : name;
  int kind = 0;
  const char *instead = known_instead_in_training(name);
  if (instead) {
    check_unsupported(checker, loss->place, "the loss %s is", name);
    diags_help(checker->diags, "%s", instead);
    return;
  }
  while (kind < GNN_LOSS_COUNT && strcmp(loss_names[kind], ours) != 0) kind++;
  if (kind < GNN_LOSS_COUNT && loss->kind != EXPR_CALL) {
    diags_error(checker->diags, "E0407", loss->span.place, "%s is of something: loss = %s(out, y)", name, name);
    return;
  }
  if (kind == GNN_LOSS_COUNT) {
    train_unknown_word(checker, loss->span.place, "loss", *name ? name : ast_expr_text(checker->arena, loss), loss_names, GNN_LOSS_COUNT);
    if (strcmp(name, "BCELoss") == 0 || strcmp(name, "binary_cross_entropy") == 0) diags_help(checker->diags, "%s", loss_helps[GNN_LOSS_BCE]); /* those have the sigmoid before them */
    return;
  }
  t->train->loss = (gnn_loss_kind)kind;
  if (loss->arg_count < 2 || loss->args[0].name || loss->args[1].name || !is_result(loss->args[0].value) || (loss->args[1].value->kind != EXPR_NAME && loss->args[1].value->kind != EXPR_MEMBER)) {
    const char *other = kind == GNN_LOSS_BPR ? "links.label" : "y";
    diags_error(checker->diags, "E0407", loss->span.place, "the loss is %s(out, %s): out is what the model returns, %s a field of %s", name,
                other, other, kind == GNN_LOSS_CROSS_ENTROPY ? "classes" : kind == GNN_LOSS_BCE ? "labels" : kind == GNN_LOSS_BPR ? "pairs" : "numbers");
    return;
  }
  check_arguments(t, loss, (gnn_loss_kind)kind);
  const Expr *label = loss->args[1].value;
  int field = check_field_index(checker, ast_expr_text(checker->arena, label));
  if (field == NO_INDEX) {
    diags_error(checker->diags, "E0203", label->place, "data \"%s\" has no field \"%s\"; it has %s", checker->program->data->name, ast_expr_text(checker->arena, label), check_field_list(checker));
    return;
  }
  const Type labels = checker->program->fields[field].type;
  t->train->label_field = field;
  const bool is_class = labels.dtype == DTYPE_CLASS;
  const DataInfo *info = checker->program->info;
  const bool is_of_pairs = check_is_pairs(checker, labels.domain);
  if (info->has_pairs && !is_of_pairs) {
    diags_error(checker->diags, "E0308", label->place, "the splits of data \"%s\" are those of its pairs, and \"%s\" lives on %ss", checker->program->data->name, ast_expr_text(checker->arena, label), check_domain_word(checker, labels.domain));
    diags_help(checker->diags, "%s(out, %s.label), or no pairs", kind == GNN_LOSS_BPR ? "bpr" : "bce", checker->program->data->recipe.pairs.name);
    return;
  }
  if (kind == GNN_LOSS_BPR && !is_of_pairs) {
    diags_error(checker->diags, "E0312", label->place, "bpr ranks pairs; \"%s\" lives on %ss", ast_expr_text(checker->arena, label), check_domain_word(checker, labels.domain));
    diags_help(checker->diags, "pairs links : label[1] = split_edges(negatives = uniform(1), resample = epoch), and bpr(out, links.label)");
    return;
  }
  if (kind == GNN_LOSS_BPR) t->train->ring_field = check_ring_index(checker);
  if (is_class ? kind != GNN_LOSS_CROSS_ENTROPY && !(kind == GNN_LOSS_BCE && labels.classes == 2) : kind == GNN_LOSS_CROSS_ENTROPY) {
    wrong_labels(t, (gnn_loss_kind)kind, label, &labels);
    return;
  }
  t->labels_for = is_class ? GNN_FOR_CLASSES : is_of_pairs ? GNN_FOR_LABELS | GNN_FOR_PAIRS : loss_for[kind];
  if (t->train->class_weights && t->train->class_weight_count != labels.classes)
    diags_error(checker->diags, "E0406", loss->span.place, "%d weights for the %lld classes of %s", t->train->class_weight_count, (long long)labels.classes, ast_expr_text(checker->arena, label));
  if (t->train->scores != NO_INDEX) check_scores(t, (gnn_loss_kind)kind, loss, &labels);
}
