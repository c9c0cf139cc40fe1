/* check_loss: the loss of the train block, and whether scores and labels suit it. */
#include <string.h>

#include "check_train.h"

static bool score_is_result(const Expr *expr) {
  return expr->kind == EXPR_NAME && strcmp(expr->text, "out") == 0;
}

void train_check_loss(Training *t) {
  static const char *const known[] = {"cross_entropy"};
  static const char *const later[] = {"bce_with_logits", "mse", "l1", "nll", "huber", "focal", "margin", "bpr", "infonce"};
  Checker *checker = t->checker;
  const Expr *loss = t->loss->value;
  const char *name = train_word_of(loss);
  if (train_is_in(name, later, sizeof later / sizeof *later)) {
    check_unsupported(checker, loss->place, "the loss %s is", name);
    return;
  }
  if (strcmp(name, "cross_entropy") != 0 || loss->kind != EXPR_CALL) {
    train_unknown_word(checker, loss->span.place, "loss", *name ? name : ast_expr_text(checker->arena, loss), known, 1);
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

