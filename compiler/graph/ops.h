/* ops.h: one row per operator of the graph. OP(name, operands, kind, attribute, what it computes)
 *
 * kind  LEAF       has no operands and costs nothing
 *       POINT      each element is a function of the elements of the operands at the same place; such values can be
 *                  computed wherever they are needed and need no storage of their own
 *       ANCHOR     has a loop nest of its own; POINT values gather around it
 *
 * attribute  the member of Value.as that it has: what makes two values of one operator on the same operands differ.
 *
 * The shape rule is its case in verify_graph.c, the derivative its case in autodiff.c, the kernel its case in fuse.c; every switch over
 * operators names all of them, and the compiler says where one is missing.
 */
OP(INPUT, 0, LEAF, INDEX, "a field of the data")
OP(PARAM, 0, LEAF, INDEX, "a weight")
OP(OPTION, 0, LEAF, INDEX, "a number known when the program runs")
OP(NUMBER, 0, LEAF, NUMBER, "a constant")
OP(HOISTED, 0, LEAF, INDEX, "a value that is computed once, before the first epoch")
OP(DEGREE, 0, LEAF, END, "number of in-edges or out-edges of a node")
OP(MAP, -1, POINT, FUNCTION, "an element-wise function of operands of one shape")
OP(BROADCAST, 1, POINT, MAP, "the operand repeated along dimensions or rows it does not have")
OP(RESHAPE, 1, POINT, NONE, "the same numbers under other dimensions")
OP(LIFT, 1, POINT, END, "a node value at one end of each edge")
OP(DROPOUT, 2, POINT, SITE, "zero with a probability, scaled otherwise; a pure function of seed, epoch, site and place")
OP(POSITIVE, 1, POINT, NONE, "one bit: the operand is not at most 0, so that NaN passes on its gradient")
OP(SELECT, 3, POINT, NONE, "second operand where the bit is set, third elsewhere")
OP(GATHER, 1, ANCHOR, END, "sum of an edge value over the edges that have the node at one end")
OP(REDUCE, 1, ANCHOR, MAP, "sum over dimensions, or over all rows")
OP(MATMUL, 2, ANCHOR, PRODUCT, "rows times a matrix")
OP(OUTER, 2, ANCHOR, PRODUCT, "sum over rows of the outer products of two values")
OP(CROSS_ENTROPY, 2, ANCHOR, NONE, "mean over the training nodes of -log softmax at the label")
OP(CROSS_ENTROPY_GRADIENT, 2, ANCHOR, NONE, "derivative of CROSS_ENTROPY by the scores")
OP(UPDATE, 2, ANCHOR, INDEX, "one optimiser step of a weight from its gradient")
