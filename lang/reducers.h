/* reducers.h: fewer numbers out of many: of edges at a node, of all rows, of a dimension.
 * REDUCER(name, as written, what it does, is a primitive: others are composed of these in check_reduce.c)
 */
REDUCER(SUM, "sum", "adds", true)
REDUCER(MEAN, "mean", "averages", true)
REDUCER(MAX, "max", "takes the largest of", true)
REDUCER(MIN, "min", "takes the smallest of", true)
REDUCER(LOGSUMEXP, "logsumexp", "takes the logarithm of the summed exponentials of", false)
REDUCER(VAR, "var", "takes the variance of", false)
REDUCER(STD, "std", "takes the standard deviation of", false)
