/* mtx.c: sparse matrices as text (https://math.nist.gov/MatrixMarket/formats.html): an entry in row i and column j is an edge from i to j; what is symmetric is
 * stored once and read both ways. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "readers.h"
#include "table.h"

enum { MTX_ENTRY_BYTES = 4 /* "1 1\n" */ };

typedef enum mtx_mirror { MTX_GENERAL, MTX_SYMMETRIC, MTX_SKEW, MTX_MIRROR_COUNT } mtx_mirror;

typedef struct mtx_matrix {
  mtx_mirror mirror;
  int has_values, is_all_one;
  int64_t rows, columns, entries, edges;
  int32_t *source, *destination;
  float *value;
} mtx_matrix;

static const char mtx_banner[] = "%%MatrixMarket";

/* Whatever its letters, and behind empty lines, it is no comment of a list of edges. */
int gnn_is_mtx(const unsigned char *head, size_t size) {
  size_t mark = size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (mark < size && (head[mark] == '\n' || head[mark] == '\r' || head[mark] == ' ')) mark++;
  return size >= mark + sizeof mtx_banner - 1 && strncasecmp((const char *)head + mark, mtx_banner, sizeof mtx_banner - 1) == 0;
}

/* %%MatrixMarket matrix coordinate real general */
static gnn_status mtx_header(gnn_text_table *table, mtx_matrix *m, gnn_error *error) {
  static const char *const mirrors[MTX_MIRROR_COUNT] = {"general", "symmetric", "skew-symmetric"}, *const fields[] = {"real", "double", "integer", "pattern"};
  gnn_status status = gnn_table_next(table, error);
  if (status != GNN_OK) return status;
  const gnn_cell *cell = table->cells;
  if (table->count < 1 || strcasecmp(cell[0].text, mtx_banner) != 0) return gnn_fail(error, GNN_EDATA, "", "\"%s\" does not begin with %%%%MatrixMarket", table->path);
  if (table->count != 5 || strcasecmp(cell[1].text, "matrix") != 0) return gnn_table_fail(table, -1, "", error, "\"%%%%MatrixMarket matrix coordinate real general\" is wanted, or the like");
  if (strcasecmp(cell[2].text, "coordinate") != 0) return gnn_table_fail(table, 2, "", error, "the matrix is stored as \"%.20s\"; coordinate is read", cell[2].text);
  int field = -1, mirror = -1;
  for (int i = 0; i < 4; i++)
    if (strcasecmp(cell[3].text, fields[i]) == 0) field = i;
  for (int i = 0; i < MTX_MIRROR_COUNT; i++)
    if (strcasecmp(cell[4].text, mirrors[i]) == 0) mirror = i;
  if (field < 0) return gnn_table_fail(table, 3, "", error, "numbers are \"%.20s\"; real, integer and pattern are read", cell[3].text);
  if (mirror < 0) return gnn_table_fail(table, 4, "", error, "the matrix is \"%.20s\"; general, symmetric and skew-symmetric are read", cell[4].text);
  m->mirror = (mtx_mirror)mirror;
  m->has_values = field != 3;
  return GNN_OK;
}

static gnn_status mtx_sizes(gnn_text_table *table, mtx_matrix *m, gnn_error *error) {
  int64_t *const sizes[] = {&m->rows, &m->columns, &m->entries};
  gnn_status status = gnn_table_next(table, error);
  if (status != GNN_OK) return status;
  if (table->count < 0) return gnn_fail(error, GNN_EDATA, "", "\"%s\" is truncated: it ends before its sizes", table->path);
  if (table->count != 3) return gnn_table_fail(table, -1, "", error, "three sizes are wanted: rows, columns, entries");
  for (int i = 0; status == GNN_OK && i < 3; i++) {
    status = gnn_table_whole(table, i, sizes[i], error);
    if (status == GNN_OK && *sizes[i] < 0) status = gnn_table_fail(table, i, "", error, "a size is below 0");
  }
  if (status != GNN_OK) return status;
  if (m->rows != m->columns) return gnn_table_fail(table, -1, "", error, "a matrix of %s by %s is no graph; rows and columns are its nodes", gnn_count_text(m->rows).text, gnn_count_text(m->columns).text);
  if (m->rows >= INT32_MAX) return gnn_table_fail(table, 0, "", error, "more than 2^31 - 2 nodes are not supported");
  if (m->entries > gnn_table_most_rows(table, MTX_ENTRY_BYTES)) return gnn_fail(error, GNN_EDATA, "", "\"%s\" is truncated: %s entries do not fit into it", table->path, gnn_count_text(m->entries).text);
  return GNN_OK;
}

static void mtx_put(mtx_matrix *m, int64_t i, int64_t j, double value) {
  m->source[m->edges] = (int32_t)i;
  m->destination[m->edges] = (int32_t)j;
  if (m->value) m->value[m->edges] = (float)value;
  m->is_all_one &= value == 1;
  m->edges++;
}

static gnn_status mtx_entry(const gnn_text_table *table, mtx_matrix *m, gnn_error *error) {
  int64_t at[2];
  double value = 1;
  if (table->count != 2 + m->has_values) return gnn_table_fail(table, -1, "", error, "%d numbers are wanted: row, column%s", 2 + m->has_values, m->has_values ? ", value" : "");
  for (int k = 0; k < 2; k++) {
    gnn_status status = gnn_table_whole(table, k, &at[k], error);
    if (status == GNN_OK && (at[k] < 1 || at[k] > m->rows)) status = gnn_table_fail(table, k, "E0701", error, "%s %lld, but they run 1 … %lld", k ? "column" : "row", (long long)at[k], (long long)m->rows);
    if (status != GNN_OK) return status;
  }
  if (m->has_values) {
    gnn_status status = gnn_table_number(table, 2, &value, error);
    if (status != GNN_OK) return status;
  }
  mtx_put(m, at[0] - 1, at[1] - 1, value);
  if (m->mirror != MTX_GENERAL && at[0] != at[1]) mtx_put(m, at[1] - 1, at[0] - 1, m->mirror == MTX_SKEW ? -value : value);
  return GNN_OK;
}

static gnn_status mtx_entries(gnn_dataset *dataset, gnn_text_table *table, mtx_matrix *m, gnn_error *error) {
  const int64_t most = m->entries * (m->mirror == MTX_GENERAL ? 1 : 2);
  m->source = gnn_dataset_alloc(dataset, most, sizeof *m->source, error);
  m->destination = gnn_dataset_alloc(dataset, most, sizeof *m->destination, error);
  m->value = m->has_values ? gnn_dataset_alloc(dataset, most, sizeof *m->value, error) : NULL;
  if (m->source == NULL || m->destination == NULL || (m->has_values && m->value == NULL)) return GNN_ENOMEM;
  for (int64_t k = 0; k <= m->entries; k++) {
    gnn_status status = gnn_table_next(table, error);
    if (status != GNN_OK) return status;
    if (k == m->entries) return table->count < 0 ? GNN_OK : gnn_table_fail(table, -1, "", error, "something follows the last of %s entries", gnn_count_text(m->entries).text);
    if (table->count < 0) return gnn_fail(error, GNN_EDATA, "", "\"%s\" is truncated: it ends before entry %s of %s", table->path, gnn_count_text(k + 1).text, gnn_count_text(m->entries).text);
    if ((status = mtx_entry(table, m, error)) != GNN_OK) return status;
  }
  return GNN_OK;
}

gnn_status gnn_read_mtx(gnn_dataset *dataset, const char *path, gnn_error *error) {
  const gnn_table_rules rules = {.separator = ' '};
  mtx_matrix m = {.is_all_one = 1};
  gnn_text_table *table;
  dataset->kind = "a matrix as MatrixMarket text";
  gnn_status status = gnn_table_open(path, &rules, &table, error);
  if (status != GNN_OK) return status;
  status = mtx_header(table, &m, error);
  table->rules.comment = "%";
  if (status == GNN_OK) status = mtx_sizes(table, &m, error);
  if (status == GNN_OK) status = mtx_entries(dataset, table, &m, error);
  gnn_table_close(table);
  if (status != GNN_OK) return status;
  dataset->raw_source = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {m.edges}, .count = m.edges, .data = (const unsigned char *)m.source};
  dataset->raw_destination = dataset->raw_source;
  dataset->raw_destination.data = (const unsigned char *)m.destination;
  dataset->has_edges = 1;
  dataset->declared_nodes = m.rows;
  if (m.mirror != MTX_GENERAL) gnn_dataset_note(dataset, "the matrix is %s: of its %s entries %s are edges both ways", m.mirror == MTX_SKEW ? "skew-symmetric" : "symmetric", gnn_count_text(m.entries).text, gnn_count_text(m.edges - m.entries).text);
  if (!m.has_values || m.is_all_one) return GNN_OK;
  const gnn_array value = {.dtype = GNN_F32, .rank = 1, .shape = {m.edges}, .count = m.edges, .data = (const unsigned char *)m.value};
  return gnn_dataset_add_field(dataset, "weight", GNN_EDGE, &value, error);
}
