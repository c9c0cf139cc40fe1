/* kernel_kinds.h: one row per kind of kernel. KERNEL(name, as listings show it, what its loops do)
 *
 * What a kind takes is said in fuse.c (loops, scratch) and cost.c, its code in emit_kernel.c and emit_cuda_kernel.c.
 */
KERNEL(MAP, "map", "no anchor: the body alone, row by row")
KERNEL(MATMUL, "matmul", "rows of a stored value times a matrix")
KERNEL(SPARSE_MATMUL, "sparse matmul", "rows of sparse features, perhaps with dropout, times a matrix")
KERNEL(OUTER, "outer", "gradient of a matrix")
KERNEL(SPARSE_OUTER, "sparse outer", "the same for sparse features")
KERNEL(SPMM, "spmm", "sum over edges of a stored node value at the other end")
KERNEL(EDGE_SUM, "edge sum", "sum over edges of any edge expression")
KERNEL(ROW_SUM, "row sum", "sum over dimensions within a row")
KERNEL(COLUMN_SUM, "column sum", "sum over all rows")
KERNEL(CROSS_ENTROPY, "cross entropy", "mean over the training nodes of -log softmax at the label")
KERNEL(CROSS_ENTROPY_GRADIENT, "cross entropy gradient", "its derivative by the scores")
KERNEL(UPDATE, "update", "one step of the optimiser, of several weights where that is one launch")
