/* builds.c: which build of a program this processor runs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "builds.h"

#include <string.h>

#include "runtime/base/processor.h"

const char *gnn_build_cpu(const gnn_program *build) { return build->cpu && build->cpu[0] ? build->cpu : "a processor that nobody named"; }

/* "x86-64-v3, x86-64-v4" */
static void builds_list(const gnn_program *program, gnn_text *text) {
  for (const gnn_program *build = program; build; build = build->also) gnn_text_format(text, "%s%s", build == program ? "" : ", ", gnn_build_cpu(build));
}

gnn_status gnn_builds_choose(const gnn_program *program, const char *cpu, const gnn_program **chosen, gnn_error *error) {
  const char *lacking = NULL;
  int most = -1, is_known = 0;
  gnn_text list = {0};
  for (const gnn_program *build = program; build; build = build->also) {
    if (cpu && strcmp(gnn_build_cpu(build), cpu) != 0) continue;
    const char *lacks = gnn_processor_lacks(build->instructions, build->sve_bits);
    const int count = __builtin_popcountll(build->instructions);
    is_known = 1;
    if (lacks) lacking = lacks;
    if (lacks || count <= most) continue;
    most = count;
    *chosen = build;
  }
  if (most >= 0) return GNN_OK;
  builds_list(program, &list);
  const char *names = list.is_broken ? "others" : list.data;
  const gnn_status status = is_known ? gnn_fail(error, GNN_EDEVICE, "R0801", "this is compiled for %.200s, and the processor here has no %s; gnncc --cpu=NAME compiles for others", cpu ? cpu : names, lacking)
                                     : gnn_fail(error, GNN_EINVAL, "", "--cpu=%.100s: this is compiled for %.200s", cpu, names);
  gnn_text_free(&list);
  return status;
}
