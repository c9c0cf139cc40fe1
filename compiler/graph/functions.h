/* functions.h: one row per element-wise function: those of the language, in the order of lang/typed.h, then those that only derivatives
 * need. FUNCTION(name, what it takes beyond reading and storing an element, in exponentials, in C)
 *
 * In C %1$s and %2$s are the operands, names or literals. The derivative is its case in autodiff.c.
 */
FUNCTION(ADD, 0.03, "%1$s + %2$s")
FUNCTION(SUB, 0.03, "%1$s - %2$s")
FUNCTION(MUL, 0.03, "%1$s * %2$s")
FUNCTION(DIV, 0.4, "%1$s / %2$s")
FUNCTION(POW, 2.5, "gnn_pow(%1$s, %2$s)")
FUNCTION(MAX, 0.03, "GNN_MAX(%1$s, %2$s)")
FUNCTION(MIN, 0.03, "GNN_MIN(%1$s, %2$s)")
FUNCTION(LEAKY_RELU, 0.06, "%1$s > 0 ? %1$s : %2$s * %1$s")
FUNCTION(ELU, 1.3, "gnn_elu(%1$s, %2$s)")
FUNCTION(NEG, 0.03, "-%1$s")
FUNCTION(RELU, 0.03, "%1$s <= 0 ? 0 : %1$s")
FUNCTION(GELU, 3.2, "gnn_gelu(%1$s)")
FUNCTION(SIGMOID, 1.6, "gnn_sigmoid(%1$s)")
FUNCTION(TANH, 2.2, "gnn_tanh(%1$s)")
FUNCTION(EXP, 1, "gnn_exp(%1$s)")
FUNCTION(LOG, 1, "gnn_log(%1$s)")
FUNCTION(SQRT, 0.6, "gnn_sqrt(%1$s)")
FUNCTION(RSQRT, 1, "1 / gnn_sqrt(%1$s)")
FUNCTION(ABS, 0.03, "%1$s < 0 ? -%1$s : %1$s")
FUNCTION(SILU, 1.6, "gnn_silu(%1$s)")
FUNCTION(SOFTPLUS, 2.5, "gnn_softplus(%1$s)")
FUNCTION(LESS, 0.03, "(gnn_real)(%1$s < %2$s)")             /* 1 or 0, which comparisons are for NaN */
FUNCTION(LESS_EQUAL, 0.03, "(gnn_real)(%1$s <= %2$s)")
FUNCTION(EQUAL, 0.03, "(gnn_real)(%1$s == %2$s)")
FUNCTION(SIGN, 0.03, "%1$s > 0 ? 1 : %1$s < 0 ? -1 : %1$s + 0") /* -1, 0, 1; of no number none */
FUNCTION(GELU_SLOPE, 3.2, "gnn_gelu_slope(%1$s)")         /* d gelu(x) / dx */
