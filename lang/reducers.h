/* reducers.h: what the language has to bring edges to nodes, or a dimension to nothing. REDUCER(name, as written, what it does, may be over a dimension) */
REDUCER(SUM, "sum", "adds", true)
REDUCER(MEAN, "mean", "averages", true)
REDUCER(MAX, "max", "takes the largest of", false)
REDUCER(MIN, "min", "takes the smallest of", false)
