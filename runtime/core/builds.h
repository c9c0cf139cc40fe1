/* builds.h: one program compiled for several processors, of which one runs. */
#ifndef GNN_BUILDS_H
#define GNN_BUILDS_H

#include "runtime/base/text.h"

/* Of the builds of a program (gnn_program.also) that have all they need here the one with the most instructions; `cpu`: of those compiled for that,
 * NULL for any. All have the same bits. GNN_EINVAL: there is none for `cpu`; GNN_EDEVICE: this processor lacks something. */
gnn_status gnn_builds_choose(const gnn_program *program, const char *cpu, const gnn_program **chosen, gnn_error *error);

/* "x86-64-v3": what a build is compiled for. */
const char *gnn_build_cpu(const gnn_program *build);

#endif
