/* kernel_kinds: the tables of kernels and of folds. */
#include "fuse.h"

const KernelInfo kernel_info[KERNEL_KIND_COUNT] = {
#define KERNEL(name, text, what, body, fold, loops, cost, says, variants, cpu, shared, cuda) {text, BODY_##body, FOLD_##fold},
#include "kernel_kinds.h"
#undef KERNEL
};

const FoldInfo fold_info[FOLD_COUNT] = {
#define FOLD(name, text, code, start) {text, code, start},
#include "folds.h"
#undef FOLD
};
