/* emit_domain: what emitted code calls sets of rows and of edges. */
#include "emit.h"

#include <inttypes.h>

const char *emit_set_name(Arena *arena, const DataInfo *info, Domain domain) {
  return arena_printf(arena, "%s_%s", domain_is_edges(domain) ? "EDGES" : "NODES", typed_domain_name(info, domain));
}

const char *emit_edge_set(Arena *arena, const DataInfo *info, Domain edges) {
  if (edges == DOMAIN_EDGE) return "g->sets[GNN_EDGES]";
  return edges == DOMAIN_MEMBER ? "g->sets[GNN_MEMBERS]" : arena_printf(arena, "g->sets[%s]", emit_set_name(arena, info, edges));
}

const char *emit_row_count(Arena *arena, const DataInfo *info, Domain domain, int64_t lead) {
  const char *rows = "1";
  if (domain == DOMAIN_NODE) rows = "g->nodes";
  else if (domain == DOMAIN_GRAPH) rows = "g->graphs";
  else if (domain == DOMAIN_OTHERS) rows = "g->others";
  else if (domain_is_rows(domain)) rows = arena_printf(arena, "g->type_nodes[%s]", emit_set_name(arena, info, domain));
  else if (domain == DOMAIN_EDGE) rows = "g->edges";
  else if (domain_is_edges(domain)) rows = arena_printf(arena, "%s.in.entries", emit_edge_set(arena, info, domain));
  return lead == 1 ? rows : arena_printf(arena, "%s * %" PRId64, rows, lead);
}

const char *emit_domain_word(Domain domain) {
  if (domain_is_edges(domain)) return domain == DOMAIN_EDGE ? "GNN_EDGE" : "GNN_RELATION";
  return domain == DOMAIN_GRAPH ? "GNN_GRAPH" : domain == DOMAIN_NODE ? "GNN_NODE" : "GNN_TYPE";
}

/* gnn_field_desc.set */
int emit_set_number(Domain domain) {
  if (domain_is_edges(domain)) return domain_set(domain);
  return domain_is_rows(domain) && domain_set(domain) >= ROWS_OF_TYPES ? domain_set(domain) - ROWS_OF_TYPES : 0;
}

const char *emit_rows_word(Domain domain) {
  if (domain_is_edges(domain)) return "GNN_ROWS_EDGE";
  return domain == DOMAIN_NONE ? "GNN_ROWS_NONE" : domain == DOMAIN_GRAPH ? "GNN_ROWS_GRAPH" : domain == DOMAIN_NODE ? "GNN_ROWS_NODE" : domain == DOMAIN_OTHERS ? "GNN_ROWS_OTHERS" : "GNN_ROWS_TYPE";
}

void emit_sets(Arena *arena, const DataInfo *info, FILE *out) {
  if (info->relation_count == 0 && info->type_count == 0) return;
  fprintf(out, "/* Types of nodes beside the first, and relations. */\nenum {");
  for (int i = 0; i < info->type_count; i++) fprintf(out, " %s = %d,", emit_set_name(arena, info, DOMAIN_OF_ROWS(ROWS_OF_TYPES + i)), i);
  for (int i = 0; i < info->relation_count; i++) fprintf(out, "%s%s = GNN_RELATIONS + %d,", i % 4 ? " " : "\n  ", emit_set_name(arena, info, info->relations[i].domain), i);
  fprintf(out, "\n};\n\n");
}
