/* ops.h: one row per operator of the graph.
 *
 * OP(name, what it computes, operands, kind, attribute, shape, simpler, derivative, is_linear, code, work, bytes)
 *
 * kind        LEAF    has no operands and costs nothing
 *             POINT   each element is a function of the elements of the operands at the same place; such values can be
 *                     computed wherever they are needed and need no storage of their own
 *             ANCHOR  has a loop nest of its own; POINT values gather around it
 * attribute   the member of Value.as that it has: what makes two values of one operator on the same operands differ. An ANCHOR with an END
 *             is an aggregation over the edges of each node
 * shape       what verify_graph.c asks of it
 * simpler     its rule in simplify.c
 * derivative  its rule in autodiff.c
 * is_linear   each row of the result is a sum of rows of the operand: a product by a matrix may come before it or after
 * code        of a POINT, its element in emit_rows.c; of an ANCHOR, the usual kind of kernel (kernel_kinds.h)
 * work        of a POINT, the time of an element; of an ANCHOR, its flops (cost.c)
 * bytes       ROWS    operands and result, each once
 *             EDGES   a row of the operand for each edge besides
 *
 * What has no rule says `nothing`. Where a rule, a kernel or a word is missing the compiler says so.
 */
OP(INPUT, "a field of the data",
   0,  LEAF,   INDEX,    FIELD,         nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(PARAM, "a weight",
   0,  LEAF,   INDEX,    WEIGHT,        nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(STATE, "what the optimiser keeps of a weight whose rows lie with those of the nodes; beside the operands of its update",
   0,  LEAF,   STATE,    WEIGHT,        nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(OPTION, "a number known when the program runs",
   0,  LEAF,   INDEX,    OPTION,        nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(NUMBER, "a constant",
   0,  LEAF,   NUMBER,   SCALAR,        nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(HOISTED, "a value that is computed once, before the first epoch",
   0,  LEAF,   INDEX,    HOISTED,       nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(DEGREE, "number of in-edges or out-edges of a node",
   0,  LEAF,   DEGREE,   DEGREE,        nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(NEIGHBOURS, "the nodes at the other ends of each node's edges, which lie with the rows of the node; beside the operands of sums over them",
   0,  LEAF,   END,      NEIGHBOURS,    nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(OFFSETS, "where the edges of each node begin among NEIGHBOURS; beside them",
   0,  LEAF,   END,      NEIGHBOURS,    nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(HALO_ROWS, "which rows of each part the parts gather, in halos; beside what is copied out of there",
   0,  LEAF,   DEGREE,   NEIGHBOURS,    nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(OUT_EDGES, "which edges those of each node are that leave it; beside NEIGHBOURS, where kernels ask for their numbers",
   0,  LEAF,   END,      NEIGHBOURS,    nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(EDGE_CODES, "where the values of each node's out-edges are in halos; beside NEIGHBOURS",
   0,  LEAF,   END,      NEIGHBOURS,    nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(ENTRIES, "the numbers of sparse features that are not 0, or where they stand, row by row or column by column; beside the operands of products with them",
   0,  LEAF,   ENTRIES,  NEIGHBOURS,    nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(ENTRY_OFFSETS, "where those of each row begin; beside them",
   0,  LEAF,   ENTRIES,  NEIGHBOURS,    nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(NODE_IDS, "what the data call each node, by which dropout draws; beside what is dropped",
   0,  LEAF,   NONE,     NEIGHBOURS,    nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(EDGE_IDS, "what the data call each edge, in the order of the rows at one end, likewise",
   0,  LEAF,   END,      NEIGHBOURS,    nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(SPLIT_ROWS, "which nodes of a split have labels, ascending; beside the operands of losses, and of what makes scores that are measured",
   0,  LEAF,   INDEX,    NEIGHBOURS,    nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(ROW_COUNT, "how many nodes, edges or graphs there are",
   0,  LEAF,   DOMAIN,   SCALAR,        nothing,   nothing,   0, nothing,                NOTHING,  ROWS)
OP(MAP, "an element-wise function of operands of one shape",
   -1, POINT,  FUNCTION, EACH,          map,       map,       0, map,                    FUNCTION, ROWS)
OP(BROADCAST, "the operand repeated along dimensions or rows it does not have",
   1,  POINT,  MAP,      REPEAT,        broadcast, broadcast, 0, operand,                NOTHING,  ROWS)
OP(RESHAPE, "the same numbers under other dimensions",
   1,  POINT,  NONE,     EXTENT,        reshape,   reshape,   0, nothing,                NOTHING,  ROWS)
OP(STOP, "the operand, through which no gradient goes; gone where there are gradients",
   1,  POINT,  NONE,     ALIKE,         nothing,   nothing,   0, operand,                NOTHING,  ROWS)
OP(SLICE, "some neighbouring numbers of one dimension",
   1,  POINT,  PART,     PART,          slice,     slice,     0, operand,                NOTHING,  ROWS)
OP(TILE, "the same in memory of its own, a slice of what sums over neighbours gather from (cut.c)",
   1,  POINT,  PART,     PART,          nothing,   nothing,   0, operand,                NOTHING,  ROWS)
OP(REDUCE_MAX, "the largest over dimensions",
   1,  POINT,  MAP,      SUM,           nothing,   extreme_of_row, 0, reduced,           ADDS,     ROWS)
OP(REDUCE_MIN, "the smallest over dimensions",
   1,  POINT,  MAP,      SUM,           nothing,   extreme_of_row, 0, reduced,           ADDS,     ROWS)
OP(RUNNING, "the first operand; in an evaluation the second, a buffer which has followed the third",
   3,  POINT,  NUMBER,   RUNNING,        nothing,   running,   0, operand,                NOTHING,  ROWS)
OP(LIFT, "a node value at one end of each edge",
   1,  POINT,  END,      TO_EDGES,      lift,      lift,      1, operand,                NOTHING,  ROWS)
OP(DROPOUT, "zero with a probability, scaled otherwise; a pure function of seed, epoch, site and place",
   2,  POINT,  SITE,     DROPOUT,       dropout,   dropout,   0, dropout,                RANDOM,   ROWS)
OP(POSITIVE, "one bit: the operand is not at most 0, so that NaN passes on its gradient",
   1,  POINT,  NONE,     BITS,          nothing,   nothing,   0, positive,               BITS,     ROWS)
OP(SELECT, "second operand where the bit is set, third elsewhere",
   3,  POINT,  NONE,     SELECT,        nothing,   select,    0, select,                 BITS,     ROWS)
OP(GATHER, "sum of an edge value over the edges that have the node at one end",
   1,  ANCHOR, END,      TO_NODES,      gather,    gather,    1, EDGE_SUM,               ADDS,     EDGES)
OP(GATHER_MAX, "the largest of an edge value over the edges that have the node at one end, 0 where there is none; +0 of zeros",
   1,  ANCHOR, END,      TO_NODES,      nothing,   extreme,   0, EDGE_MAX,               ADDS,     EDGES)
OP(GATHER_MIN, "the smallest, likewise",
   1,  ANCHOR, END,      TO_NODES,      nothing,   extreme,   0, EDGE_MIN,               ADDS,     EDGES)
OP(GATHER_LOGSUMEXP, "log of the sum of the exponentials of an edge value, 0 where there is no edge; made of the others where there are gradients",
   1,  ANCHOR, END,      TO_NODES,      nothing,   logsumexp, 0, EDGE_SUM,               ADDS,     EDGES)
OP(CONCAT, "values side by side along one dimension; begin is not used",
   -1, ANCHOR, PART,     CONCAT,        nothing,   concat,    0, CONCAT,                 NOTHING,  ROWS)
OP(HALO, "of each part of the nodes the rows that its sums over neighbours gather, its own and those of other parts, for the edges' end in `degree` (cut.c)",
   1,  ANCHOR, DEGREE,   HALO,          nothing,   nothing,   0, HALO,                   NOTHING,  ROWS)
OP(BEHIND, "the same table of a rank, of its own rows and of those of others that it has made itself (recompute.c)",
   2,  ANCHOR, DEGREE,   BEHIND,        nothing,   nothing,   0, BEHIND,                 NOTHING,  ROWS)
OP(COLUMNS, "of each rank some columns of the rows of all, for sums over neighbours that go over the whole graph (transpose.c)",
   1,  ANCHOR, DEGREE,   COLUMNS,       nothing,   nothing,   0, COLUMNS,                NOTHING,  ROWS)
OP(BACK, "such sums where their rows are: of a rank's rows the columns of one rank behind those of another",
   1,  ANCHOR, DEGREE,   BACK,          nothing,   nothing,   0, BACK,                   NOTHING,  ROWS)
OP(BESIDE, "these columns side by side",
   1,  ANCHOR, NONE,     BESIDE,        nothing,   nothing,   0, BESIDE,                 NOTHING,  ROWS)
OP(REDUCE, "sum over dimensions, or over all rows",
   1,  ANCHOR, MAP,      SUM,           reduce,    reduce,    0, ROW_SUM,                ADDS,     ROWS)
OP(ROWS_MAX, "the largest over all rows; +0 of zeros",
   1,  ANCHOR, MAP,      SUM,           nothing,   extreme_of_row, 0, COLUMN_MAX,        ADDS,     ROWS)
OP(ROWS_MIN, "the smallest, likewise",
   1,  ANCHOR, MAP,      SUM,           nothing,   extreme_of_row, 0, COLUMN_MIN,        ADDS,     ROWS)
OP(MATMUL, "rows times a matrix",
   2,  ANCHOR, PRODUCT,  PRODUCT,       nothing,   matmul,    0, MATMUL,                 PRODUCT,  ROWS)
OP(OUTER, "sum over rows of the outer products of two values",
   2,  ANCHOR, PRODUCT,  OUTER_PRODUCT, nothing,   nothing,   0, OUTER,                  PRODUCT,  ROWS)
OP(CROSS_ENTROPY, "mean over the training nodes of -log softmax at the label",
   2,  ANCHOR, NONE,     SCALAR,        nothing,   nothing,   0, CROSS_ENTROPY,          NOTHING,  ROWS)
OP(CROSS_ENTROPY_GRADIENT, "derivative of CROSS_ENTROPY by the scores",
   2,  ANCHOR, NONE,     GRADIENT,      nothing,   nothing,   0, CROSS_ENTROPY_GRADIENT, NOTHING,  ROWS)
OP(FOLLOW, "a buffer moved by a share of the way to a value",
   2,  ANCHOR, NUMBER,   UPDATE,        nothing,   nothing,   0, FOLLOW,                 NOTHING,  ROWS)
OP(UPDATE, "one optimiser step of a weight from its gradient, which a third operand multiplies where there is one; then states",
   -1,  ANCHOR, INDEX,    UPDATE,        nothing,   nothing,   0, UPDATE,                 NOTHING,  ROWS)
