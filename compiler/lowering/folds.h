/* folds.h: how the elements of a sum or an aggregation come together. FOLD(name, as listings show it, in C, where it begins)
 *
 * In C %1$s is what there is and %2$s an element more. Where it does not begin with 0, no element at all leaves 0 (gnn_settle).
 */
FOLD(NONE, "", "", "0")
FOLD(SUM, "sum", "%1$s += %2$s;", "0")
FOLD(MAX, "max", "%1$s = GNN_MAX(%1$s, %2$s);", "-INFINITY")
FOLD(MIN, "min", "%1$s = GNN_MIN(%1$s, %2$s);", "INFINITY")
