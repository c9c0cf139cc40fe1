/* kernel_kinds.h: one row per kind of kernel.
 *
 * KERNEL(name, as listings show it, what its loops do, body, fold, loops, cost, says, variants, cpu, shared, cuda)
 *
 * body      EVERYWHERE, ON_NODES, NOWHERE: point values join it (fuse.c)
 * fold      how elements come together in a sum or an aggregation of an expression: folds.h
 * loops     how its rows are divided and its scratch: fuse.c
 * cost      of the anchor: cost.c
 * says      its line in listings: describe_kernel.c
 * variants  that it has on a GPU: choose_library.c
 * cpu       its code in emit_kernel.c, and `shared`: that of the template which steps of the same sizes share
 * cuda      its code in emit_cuda_kernel.c
 */
KERNEL(MAP, "map", "no anchor: the body alone, row by row",
       EVERYWHERE, NONE, nothing,       nothing, map,           lanes,  map,                    nothing,       map)
KERNEL(MATMUL, "matmul", "rows of a stored value times a matrix",
       ON_NODES,   NONE, matmul,        matmul,  product,       matmul, matmul,                 matmul,        matmul)
KERNEL(SPARSE_MATMUL, "sparse matmul", "rows of sparse features, perhaps with dropout, times a matrix",
       ON_NODES,   NONE, sparse_matmul, sparse,  product,       lanes,  sparse_matmul,          sparse_matmul, sparse_matmul)
KERNEL(OUTER, "outer", "gradient of a matrix",
       NOWHERE,    NONE, walkers,       outer,   outer,         outer,  outer,                  outer,         outer)
KERNEL(SPARSE_OUTER, "sparse outer", "the same for sparse features",
       NOWHERE,    NONE, sparse_outer,  sparse,  outer,         none,   sparse_outer,           sparse_outer,  sparse_outer)
KERNEL(SPMM, "spmm", "sum over edges of a stored node value at the other end",
       ON_NODES,   SUM,  nothing,       spmm,    edges,         spmm,   spmm,                   spmm,          edges)
KERNEL(EDGE_SUM, "edge sum", "sum over edges of any edge expression",
       ON_NODES,   SUM,  nothing,       edges,   edges,         lanes,  edges,                  nothing,       edges)
KERNEL(EDGE_MAX, "edge max", "the largest over edges of any edge expression",
       ON_NODES,   MAX,  nothing,       edges,   edges,         lanes,  edges,                  nothing,       edges)
KERNEL(EDGE_MIN, "edge min", "the smallest over edges of any edge expression",
       ON_NODES,   MIN,  nothing,       edges,   edges,         lanes,  edges,                  nothing,       edges)
KERNEL(ROW_SUM, "row sum", "sum over dimensions within a row",
       EVERYWHERE, SUM,  nothing,       reduce,  sum,           none,   row_sum,                nothing,       row_sum)
KERNEL(COLUMN_SUM, "column sum", "sum over all rows",
       NOWHERE,    SUM,  walkers,       reduce,  sum,           none,   column_sum,             nothing,       column_sum)
KERNEL(COLUMN_MAX, "column max", "the largest over all rows",
       NOWHERE,    MAX,  walkers,       reduce,  sum,           none,   column_sum,             nothing,       column_sum)
KERNEL(COLUMN_MIN, "column min", "the smallest over all rows",
       NOWHERE,    MIN,  walkers,       reduce,  sum,           none,   column_sum,             nothing,       column_sum)
KERNEL(CONCAT, "concat", "rows of several values side by side",
       NOWHERE,    NONE, nothing,       nothing, concat,        none,   concat,                 nothing,       concat)
KERNEL(HALO, "halo", "rows of a part to those parts whose sums over neighbours gather them",
       NOWHERE,    NONE, halo,          halo,    halo,          none,   halo,                   nothing,       halo)
KERNEL(BEHIND, "behind", "a rank's own rows, and behind them those of others that it has made",
       NOWHERE,    NONE, nothing,       nothing, behind,        none,   behind,                 nothing,       behind)
KERNEL(COLUMNS, "columns", "of a rank's rows the columns of each rank to that rank",
       NOWHERE,    NONE, columns,       nothing, columns,       none,   columns,                nothing,       columns)
KERNEL(BACK, "back", "sums of columns to the ranks whose rows they are",
       NOWHERE,    NONE, nothing,       nothing, back,          none,   back,                   nothing,       back)
KERNEL(BESIDE, "beside", "the columns of all ranks side by side",
       NOWHERE,    NONE, nothing,       nothing, beside,        none,   beside,                 nothing,       beside)
KERNEL(CROSS_ENTROPY, "cross entropy", "mean over the training nodes of -log softmax at the label",
       NOWHERE,    NONE, loss,          loss,    loss,          none,   cross_entropy,          nothing,       cross_entropy)
KERNEL(CROSS_ENTROPY_GRADIENT, "cross entropy gradient", "its derivative by the scores",
       NOWHERE,    NONE, nothing,       loss,    loss_gradient, none,   cross_entropy_gradient, nothing,       cross_entropy_gradient)
KERNEL(FOLLOW, "follow", "a buffer moved by a share of the way to a value",
       NOWHERE,    NONE, nothing,       nothing, follow,        none,   follow,                 nothing,       follow)
KERNEL(UPDATE, "update", "one step of the optimiser, of several weights where that is one launch",
       NOWHERE,    NONE, nothing,       update,  update,        none,   update,                 nothing,       update)
