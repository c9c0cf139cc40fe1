/* check_call: what is called: weights again by their name, a layer, or a function. */
#include <string.h>

#include "check.h"

Value check_call(Checker *checker, Scope *scope, const Call *call) {
  const Value none = {.kind = VALUE_NONE};
  const Instance *instance = scope ? check_find_instance(checker, scope, call->name) : NULL;
  const Item *layer = check_find_layer(checker, scope, call->name);
  bool is_function = check_is_function(call->name);
  if (!scope && (instance || layer)) {
    diags_error(checker->diags, "E0211", call->place, "layers can be called in a model or in a layer only");
    return none;
  }
  if (instance) return check_instance_call(checker, scope, instance, call);
  if (layer) return check_layer_call(checker, scope, layer, call);
  if (is_function) {
    if (call->as) {
      diags_error(checker->diags, "E0211", call->as_place, "%s has no weights, so there is nothing for \"as %s\" to name", call->name, call->as);
      return none;
    }
    return check_function(checker, scope, call);
  }
  if (scope && check_is_layer_list(scope, call->name)) {
    diags_error(checker->diags, "E0211", call->place, "\"%s\" names the layers %s.0, %s.1, ... of a loop, and none of them alone can be called again",
                call->name, call->name, call->name);
    return none;
  }
  check_unknown_layer(checker, call->name, call->place);
  return none;
}
