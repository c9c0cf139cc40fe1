/* option_bounds.c: what is wrong with the value of an option, as what it is used for bounds it. */
#include "instance.h"

int gnn_option_is_wrong(const gnn_option_desc *option, double value, gnn_text *why) {
  if (option->is_probability && !(value >= 0 && value <= 1)) gnn_text_format(why, "is a probability: %.9g is outside 0 ... 1", value);
  else if (option->as && !(value >= option->least)) gnn_text_format(why, "is %s: %.9g is below %.9g", option->as, value, option->least);
  else if (option->as && !(value <= option->most) && option->most < 1) gnn_text_format(why, "is %s: %.9g is not below 1", option->as, value);
  else if (option->as && !(value <= option->most)) gnn_text_format(why, "is %s: %.9g is above %.9g", option->as, value, option->most);
  else return 0;
  return 1;
}
