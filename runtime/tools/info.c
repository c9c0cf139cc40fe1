/* info.c: gnndata info, check, head, diff, list. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnndata.h"
#include "runtime/data/names.h"
#include "runtime/data/pairs.h"
#include "runtime/data/source_text.h"
#include "runtime/app/train.h"

static const char *const describe_domains[] = {"node", "edge", "graph", "node", "relation"};

static int rows_have_same(const int64_t *ptr, const int32_t *source, int64_t rows) {
  for (int64_t v = 0; v < rows; v++)
    for (int64_t e = ptr[v] + 1; e < ptr[v + 1]; e++)
      if (source[e] == source[e - 1]) return 1;
  return 0;
}

/* Whether two edges of the graph, or of a relation, join the same nodes the same way. */
static int has_duplicates(const gnn_dataset *dataset) {
  if (rows_have_same(dataset->in_ptr, dataset->in_source, dataset->nodes)) return 1;
  for (int r = 0; r < dataset->relation_count; r++)
    if (rows_have_same(dataset->relations[r].in_ptr, dataset->relations[r].in_source, gnn_dataset_rows(dataset, dataset->relations[r].dst))) return 1;
  return 0;
}

gnn_status gnndata_read(const char *path, const gnn_recipe *recipe, int drops_duplicates, gnn_dataset **dataset, gnn_error *error) {
  gnn_recipe own = *recipe;
  gnn_status status = gnn_dataset_open_path(path, dataset, error);
  if (status != GNN_OK) return status;
  own.keeps_duplicates |= (*dataset)->is_ours && !drops_duplicates;
  status = gnn_dataset_prepare(*dataset, &own, error);
  if (status == GNN_OK) {
    (*dataset)->keeps_duplicates = recipe->keeps_duplicates || (own.keeps_duplicates && has_duplicates(*dataset));
    return GNN_OK;
  }
  gnn_dataset_close(*dataset);
  *dataset = NULL;
  return status;
}

gnn_status gnndata_open(const char *path, const gnndata_options *options, gnn_dataset **dataset) {
  gnn_error error;
  const gnn_status status = gnndata_read(path, &options->recipe, options->drops_duplicates, dataset, &error);
  if (status != GNN_OK) gnndata_fail(status, &error);
  return status;
}

/* `code`, or that of what went wrong with its files meanwhile, which is printed. */
static int gnndata_close(gnn_dataset *dataset, int code) {
  gnn_error error;
  gnn_status status = gnn_dataset_check_files(dataset, GNN_OK, &error);
  gnn_dataset_close(dataset);
  return status == GNN_OK ? code : gnndata_fail(status, &error);
}

void gnndata_print_notes(const gnn_dataset *dataset, const char *indent) {
  for (int i = 0; i < dataset->note_count; i++) {
    const gnn_note *note = &dataset->notes[i];
    if (note->code[0]) printf("%swarning[%s]: %s [-W%s]\n", indent, note->code, note->text, note->name);
    else printf("%s%s\n", indent, note->text);
  }
}

static void describe_edges(const gnn_dataset *dataset) {
  int64_t least = INT64_MAX, most = 0, between = dataset->edges - dataset->self_loops;
  for (int64_t v = 0; v < dataset->nodes; v++) {
    int64_t degree = dataset->in_ptr[v + 1] - dataset->in_ptr[v];
    if (degree < least) least = degree;
    if (degree > most) most = degree;
  }
  printf("edges      %s", gnn_count_text(dataset->edges).text);
  if (dataset->is_symmetric && between > 0) printf(", that is %s undirected, stored both ways", gnn_count_text(between / 2).text);
  else if (between > 0) printf(", %.1f %% of them with their reverse", 100.0 * (double)dataset->mutual_edges / (double)between);
  if (dataset->self_loops) printf("; %s self-loops", gnn_count_text(dataset->self_loops).text);
  printf("\n           in-degree %lld to %s, mean %.1f; %s nodes without in-edge\n", (long long)least, gnn_count_text(most).text,
         (double)dataset->edges / (double)dataset->nodes, gnn_count_text(dataset->silent_nodes).text);
}

static const char *describe_type(const gnn_dataset *dataset, int set) { return set == 0 ? *dataset->node_type ? dataset->node_type : "node" : dataset->types[set - 2].name; }

static void describe_relations(const gnn_dataset *dataset) {
  for (int t = 0; t < dataset->type_count; t++) printf("nodes      %s %s\n", gnn_count_text(dataset->types[t].nodes).text, dataset->types[t].name);
  for (int r = 0; r < dataset->relation_count; r++) {
    const gnn_data_relation *relation = &dataset->relations[r];
    printf("relation   %s : %s -> %s, %s edges\n", relation->name, describe_type(dataset, relation->src), describe_type(dataset, relation->dst), gnn_count_text(relation->edges).text);
  }
}

/* As a data block declares them. */
static void describe_types_block(const gnn_dataset *dataset) {
  if (*dataset->node_type) printf("  nodes %s : count[%lld]\n", dataset->node_type, (long long)dataset->nodes);
  for (int t = 0; t < dataset->type_count; t++) printf("  nodes %s : count[%lld]\n", dataset->types[t].name, (long long)dataset->types[t].nodes);
  for (int r = 0; r < dataset->relation_count; r++)
    printf("  relation %s : %s -> %s\n", dataset->relations[r].name, describe_type(dataset, dataset->relations[r].src), describe_type(dataset, dataset->relations[r].dst));
}

static void describe_field(const gnn_data_field *field) {
  printf("%-5s %-5s ", describe_domains[field->domain], field->name);
  if (field->storage == GNN_LABEL) {
    printf("class[%lld]", (long long)field->classes);
    if (field->labelled < field->rows) printf(", %s of %s labelled", gnn_count_text(field->labelled).text, gnn_count_text(field->rows).text);
    printf("\n");
    return;
  }
  int64_t numbers = field->rows * field->width;
  printf("f32[%lld]  %.4g to %.4g; %.2f %% not 0 (%s of %s)\n", (long long)field->width, field->least, field->greatest,
         numbers ? 100.0 * (double)field->nonzeros / (double)numbers : 0.0, gnn_count_text(field->nonzeros).text,
         gnn_count_text(numbers).text);
}

static void describe_memory(const gnn_dataset *dataset) {
  int64_t graph = gnn_dataset_has_plain_edges(dataset) ? (dataset->nodes + 1) * 8 + dataset->edges * 4 : 0, dense = 0, thin = 0;
  for (int r = 0; r < dataset->relation_count; r++) graph += (gnn_dataset_rows(dataset, dataset->relations[r].dst) + 1) * 8 + dataset->relations[r].edges * 4;
  for (int i = 0; i < dataset->field_count; i++) {
    const gnn_data_field *field = &dataset->fields[i];
    int64_t bytes = field->rows * field->width * 4;
    int64_t both_ways = field->nonzeros * 16 + (field->rows + field->width) * 8;
    dense += bytes;
    thin += field->storage != GNN_LABEL && field->domain == GNN_NODE && both_ways < bytes ? both_ways : bytes;
  }
  printf("memory     graph %s (one direction), fields %s", gnn_bytes_text(graph).text, gnn_bytes_text(dense).text);
  if (thin < dense) printf(" dense or %s sparse, both ways", gnn_bytes_text(thin).text);
  printf("\n");
}

static void describe_splits_line(const gnn_dataset *dataset) {
  int64_t all = 0, rows = dataset->split_domain == GNN_GRAPH ? dataset->declared_graphs : dataset->split_domain == GNN_EDGE ? dataset->edges : dataset->nodes;
  printf("splits    ");
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    if (dataset->has_split[s]) printf(" %s %s ", gnn_split_names[s], gnn_count_text(dataset->split_count[s]).text);
    all += dataset->split_count[s];
  }
  if (all == 0) printf(" none");
  else if (all < rows) printf(" in none %s", gnn_count_text(rows - all).text);
  if (dataset->split_choices > 1) printf("   (%lld stored: split = index(0 … %lld))", (long long)dataset->split_choices, (long long)dataset->split_choices - 1);
  printf("\n");
}

/* Pairs of nodes that the data bring: of a split those that an edge joins, and how many others there are to each; 0: there are none of it. */
static int64_t describe_pairs_of(const gnn_dataset *dataset, int split, int64_t *negatives) {
  const gnn_array *index = &dataset->raw_pairs[split];
  const int64_t pairs = index->data ? index->count / 2 : 0;
  int64_t joined = 0;
  for (int64_t i = 0; i < pairs; i++) joined += gnn_pair_is_joined(dataset, split, i);
  *negatives = pairs - joined;
  return joined;
}

static void describe_pairs(const gnn_dataset *dataset) {
  if (dataset->raw_pairs[GNN_TRAIN].data == NULL) return;
  printf("pairs     ");
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    int64_t negatives;
    const int64_t joined = describe_pairs_of(dataset, s, &negatives);
    if (joined && negatives % joined == 0) printf(" %s %s and %lld without an edge to each ", gnn_split_names[s], gnn_count_text(joined).text, (long long)(negatives / joined));
    else if (joined) printf(" %s %s and %s without an edge ", gnn_split_names[s], gnn_count_text(joined).text, gnn_count_text(negatives).text);
  }
  printf("\n");
}

static void describe_pairs_line(const gnn_dataset *dataset) {
  int64_t negatives;
  const int64_t joined = describe_pairs_of(dataset, GNN_TRAIN, &negatives), each = joined ? negatives / joined : 0;
  printf("  pairs links : label[1] = stored(negatives = uniform(%lld)%s)\n", (long long)(each ? each : 1), negatives ? "" : ", resample = epoch");
}

/* A name that the language takes. */
static void describe_identifier(const char *name) {
  char text[256];
  snprintf(text, sizeof text - 1, "%s%s", isalpha((unsigned char)name[0]) ? "" : "d", name);
  for (char *c = text; *c; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
  printf("%s%s", text, gnn_is_name(text) ? "" : "_");
}

/* A string of the language, in its quotes. */
static void describe_string(const char *text) {
  putchar('"');
  for (; *text; text++) printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  putchar('"');
}

static void describe_block(const gnn_dataset *dataset, const gnndata_options *options) {
  const gnn_recipe *recipe = &options->recipe;
  static const struct { const char *word, *kind; } kinds[] = {{"folder of NumPy", "npy"}, {"text:", "planetoid"}, {"karate", "karate"}, {"safetensors", "safetensors"}};
  const char *kind = "";
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (dataset->kind && strstr(dataset->kind, kinds[i].word)) kind = kinds[i].kind;
  printf("\ndata ");
  describe_identifier(dataset->name);
  if (strcmp(kind, "karate") == 0) printf(" from karate() {\n");
  else if (gnn_is_source_text(options->words[0])) printf(" from %s {\n", options->words[0]);
  else if (kind[0] == 0) { /* what it is, is told from its content */
    printf(" from ");
    describe_string(options->words[0]);
    printf(" {\n");
  } else {
    printf(" from %s(", kind);
    describe_string(options->words[0]);
    printf(") {\n");
  }
  describe_types_block(dataset);
  for (int i = 0; i < dataset->field_count; i++) {
    const gnn_data_field *field = &dataset->fields[i];
    const char *dot = strchr(field->name, '.');
    if (!gnn_is_name(dot ? dot + 1 : field->name)) {
      printf("  # %s \"%s\": the language has no such name\n", describe_domains[field->domain], field->name);
      continue;
    }
    if (dot) printf("  %.*s %s : ", (int)(dot - field->name), field->name, dot + 1);
    else printf("  %s %s : ", describe_domains[field->domain], field->name);
    /* Labels that are called as features are, as those of nodes in TU's sets, are rows of numbers to a model. */
    if (field->storage == GNN_LABEL) printf("%s[%lld]\n", strcmp(dot ? dot + 1 : field->name, "x") == 0 ? "onehot" : "class", (long long)field->classes);
    else printf("f32[%lld]\n", (long long)field->width);
  }
  if (recipe->is_undirected || (!dataset->is_symmetric && dataset->mutual_edges == 0)) printf("  undirected = true\n");
  if (dataset->keeps_duplicates) printf("  duplicates = keep%s\n", recipe->keeps_duplicates ? "" : " # as the file was made; without this line duplicates are dropped");
  if (recipe->self_loops != GNN_LOOPS_KEEP) printf("  self_loops = %s\n", recipe->self_loops == GNN_LOOPS_ADD ? "add" : "remove");
  for (int i = 0; i < recipe->normalised_count; i++) printf("  normalize = rows(%s)\n", recipe->normalised[i]);
  if (recipe->has_random_split)
    printf("  split = random(%g, %g, %g, seed = %llu)\n", recipe->split_fraction[0], recipe->split_fraction[1],
           recipe->split_fraction[2], (unsigned long long)recipe->split_seed);
  else if (recipe->split_index) printf("  split = index(%d)\n", recipe->split_index);
  else if (dataset->raw_pairs[GNN_TRAIN].data) describe_pairs_line(dataset);
  else if (!dataset->has_split[GNN_TRAIN] && dataset->raw_fold.data) printf("  split = folds\n");
  else if (!dataset->has_split[GNN_TRAIN]) printf("  split = random(0.6, 0.2, 0.2, seed = 0)\n");
  if (options->order && strcmp(options->order, "nested") == 0) printf("  order = nested\n");
  else if (options->order && strcmp(options->order, "given") != 0) printf("  order = \"%s\"\n", options->order);
  printf("}\n");
}

int gnndata_info(const gnndata_options *options) {
  gnn_dataset *dataset;
  gnn_status status = gnndata_open(options->words[0], options, &dataset);
  if (status != GNN_OK) return gnn_exit_code(status);
  printf("%s: %s\n", dataset->name, dataset->kind ? dataset->kind : "");
  printf("nodes      %s%s%s\n", gnn_count_text(dataset->nodes).text, *dataset->node_type ? " " : "", dataset->node_type);
  if (dataset->declared_graphs >= 0) printf("graphs     %s\n", gnn_count_text(dataset->declared_graphs).text);
  if (gnn_dataset_has_plain_edges(dataset)) describe_edges(dataset);
  describe_relations(dataset);
  for (int i = 0; i < dataset->field_count; i++) describe_field(&dataset->fields[i]);
  describe_splits_line(dataset);
  describe_pairs(dataset);
  describe_memory(dataset);
  status = gnndata_print_parts(dataset, options);
  gnndata_print_notes(dataset, "note       ");
  if (status == GNN_OK) describe_block(dataset, options);
  return gnndata_close(dataset, gnn_exit_code(status));
}

/* What labels are that nobody means: 1 to K, and one that is far from all others. */
static int describe_label_doubts(const gnn_dataset *dataset, int says_them) {
  const gnn_data_field *field = dataset->label_field < 0 ? NULL : &dataset->fields[dataset->label_field];
  if (field == NULL || field->storage != GNN_LABEL || field->labelled == 0) return 0;
  int64_t least = INT64_MAX, greatest = -1, below = -1, row = -1;
  for (int64_t r = 0; r < field->rows; r++) {
    const int64_t v = field->label[r];
    if (v >= 0 && v < least) least = v;
    if (v > greatest) greatest = v, row = r;
  }
  for (int64_t r = 0; r < field->rows; r++)
    if (field->label[r] < greatest && field->label[r] > below) below = field->label[r];
  const int begins_late = least == 1, is_far = greatest > field->rows || (greatest > 100 && below < greatest / 2);
  if (says_them && begins_late) printf("warning: labels in %s begin at 1, and classes count from 0: class 0 has no row; subtract 1 from all of them\n", field->name);
  if (says_them && is_far && below < 0) printf("warning: %s[%lld] is %lld, and so many classes there are taken to be\n", field->name, (long long)row, (long long)greatest);
  if (says_them && is_far && below >= 0)
    printf("warning: %s[%lld] is %lld, and the label below that is %lld: there are taken to be %s classes\n", field->name, (long long)row, (long long)greatest, (long long)below,
           gnn_count_text(greatest + 1).text);
  return begins_late + is_far;
}

/* More nodes than anything in the data speaks of: a claim, or one id that is far from all others, by which memory and time go. */
static int describe_node_doubts(const gnn_dataset *dataset, int says_them) {
  const int64_t nodes = dataset->nodes, few = 1000;
  int64_t named = 0, greatest = -1;
  if (nodes <= few || !gnn_dataset_has_plain_edges(dataset) || dataset->type_count) return 0;
  for (int f = 0; f < dataset->field_count; f++)
    if (dataset->fields[f].domain == GNN_NODE) return 0;
  char *is_named = calloc((size_t)nodes, 1);
  if (is_named == NULL) return 0;
  for (int64_t v = 0; v < nodes; v++)
    for (int64_t e = dataset->in_ptr[v]; e < dataset->in_ptr[v + 1]; e++) is_named[v] = is_named[dataset->in_source[e]] = 1;
  for (int64_t v = 0; v < nodes; v++)
    if (is_named[v]) named++, greatest = v;
  free(is_named);
  if (nodes - named <= few || nodes < 2 * named) return 0;
  if (says_them)
    printf("warning: there are taken to be %s nodes, of which the edges name %s%s%s; no field has rows for the others: memory and time go by all of them\n", gnn_count_text(nodes).text,
           named ? gnn_count_text(named).text : "none", named ? ", the greatest " : "", named ? gnn_count_text(greatest).text : "");
  return 1;
}

static gnn_status describe_classes(const gnn_dataset *dataset) {
  if (dataset->label_field < 0) return GNN_OK;
  const gnn_data_field *field = &dataset->fields[dataset->label_field];
  if (field->storage != GNN_LABEL) return GNN_OK;
  int64_t *count = calloc((size_t)field->classes, sizeof *count);
  if (count == NULL) return GNN_ENOMEM;
  int64_t empty = 0, greatest = 0;
  for (int64_t r = 0; r < field->rows; r++)
    if (field->label[r] >= 0) count[field->label[r]]++;
  for (int64_t c = 0; c < field->classes; c++) {
    empty += count[c] == 0;
    if (count[c] > count[greatest]) greatest = c;
  }
  printf("classes    %lld; the largest is %lld with %.1f %%", (long long)field->classes, (long long)greatest,
         field->labelled ? 100.0 * (double)count[greatest] / (double)field->labelled : 0.0);
  if (empty) printf("; %lld have no row", (long long)empty);
  if (field->classes <= 12) {
    printf(" (");
    for (int64_t c = 0; c < field->classes; c++) printf("%s%s", c ? " " : "", gnn_count_text(count[c]).text);
    printf(")");
  }
  printf("\n");
  free(count);
  return GNN_OK;
}

int gnndata_check(const gnndata_options *options) {
  gnn_dataset *dataset;
  gnn_status status = gnndata_open(options->words[0], options, &dataset);
  if (status != GNN_OK) return gnn_exit_code(status);
  int warnings = describe_label_doubts(dataset, 0) + describe_node_doubts(dataset, 0);
  int64_t between = dataset->edges - dataset->self_loops;
  for (int i = 0; i < dataset->note_count; i++) warnings += dataset->notes[i].code[0] != 0;
  int64_t nodes = dataset->nodes, of_relations = 0;
  for (int t = 0; t < dataset->type_count; t++) nodes += dataset->types[t].nodes;
  for (int r = 0; r < dataset->relation_count; r++) of_relations += dataset->relations[r].edges;
  printf("%s: %s nodes", dataset->name, gnn_count_text(nodes).text);
  if (dataset->type_count) printf(" of %d types", dataset->type_count + 1);
  printf("; ");
  if (!gnn_dataset_has_plain_edges(dataset)) printf("%s edges of %d relations", gnn_count_text(of_relations).text, dataset->relation_count);
  else if (dataset->is_symmetric && between > 0)
    printf("%s undirected edges, stored both ways (%s)", gnn_count_text(between / 2).text, gnn_count_text(dataset->edges).text);
  else printf("%s edges", gnn_count_text(dataset->edges).text);
  const gnn_data_field *x = gnn_dataset_field(dataset, "x");
  if (x && x->storage != GNN_LABEL && x->rows > 0)
    printf("; %s features, %.2f %% non-zero", gnn_count_text(x->width).text, 100.0 * (double)x->nonzeros / ((double)x->rows * (double)x->width));
  if (dataset->has_split[GNN_TRAIN])
    printf("; %s training %s", gnn_count_text(dataset->split_count[GNN_TRAIN]).text, dataset->split_domain == GNN_GRAPH ? "graphs" : dataset->split_domain == GNN_EDGE ? "edges" : "nodes");
  printf("; %s\n", warnings ? "see below" : "no problems");
  status = describe_classes(dataset);
  describe_label_doubts(dataset, 1);
  describe_node_doubts(dataset, 1);
  gnndata_print_notes(dataset, "");
  return gnndata_close(dataset, status == GNN_OK ? 0 : 1);
}

int gnndata_head(const gnndata_options *options) {
  enum { ROWS = 10, COLUMNS = 12 };
  gnn_dataset *dataset;
  const char *name = options->words[1];
  int64_t most = ROWS;
  if (options->word_count == 3 && (!gnn_parse_integer(options->words[2], &most) || most < 0)) {
    fprintf(stderr, "gnndata: a number of rows is needed, not \"%s\"\n", options->words[2]);
    return 2;
  }
  gnn_status status = gnndata_open(options->words[0], options, &dataset);
  if (status != GNN_OK) return gnn_exit_code(status);
  const gnn_data_field *field = gnn_dataset_field(dataset, name);
  int code = 0;
  if (strcmp(name, "edges") == 0) {
    int64_t printed = 0;
    for (int64_t v = 0; v < dataset->nodes && printed < most; v++)
      for (int64_t e = dataset->in_ptr[v]; e < dataset->in_ptr[v + 1] && printed < most; e++, printed++)
        printf("%lld: %d → %lld\n", (long long)e, dataset->in_source[e], (long long)v);
  } else if (field == NULL) {
    fprintf(stderr, "gnndata: %s has no field \"%s\"; it has edges", dataset->name, name);
    for (int i = 0; i < dataset->field_count; i++) fprintf(stderr, ", %s", dataset->fields[i].name);
    fprintf(stderr, "\n");
    code = 1;
  } else if (field->storage == GNN_LABEL) {
    for (int64_t r = 0; r < field->rows && r < most; r++) printf("%lld: %d\n", (long long)r, field->label[r]);
  } else {
    float *row = malloc((size_t)field->width * sizeof *row);
    for (int64_t r = 0; row && r < field->rows && r < most; r++) {
      gnn_field_row(field, r, row);
      printf("%lld:", (long long)r);
      for (int64_t c = 0; c < field->width && c < COLUMNS; c++) printf(" %.6g", gnn_shown((double)row[c]));
      printf(field->width > COLUMNS ? " … %lld more\n" : "\n", (long long)field->width - COLUMNS);
    }
    code = row ? 0 : 1;
    free(row);
  }
  return gnndata_close(dataset, code);
}

/* ---- diff ---- */

static int describe_differ_field(const gnn_dataset *b, const gnn_data_field *p) {
  const gnn_data_field *q = gnn_dataset_field(b, p->name);
  if (q == NULL) { printf("%s: only in the first\n", p->name); return 1; }
  int is_label = p->storage == GNN_LABEL;
  if (p->domain != q->domain || is_label != (q->storage == GNN_LABEL) || p->rows != q->rows || p->width != q->width) {
    printf("%s: another shape or kind\n", p->name);
    return 1;
  }
  if (is_label) {
    for (int64_t r = 0; r < p->rows; r++) {
      if (p->label[r] == q->label[r]) continue;
      printf("%s[%lld]: %d and %d\n", p->name, (long long)r, p->label[r], q->label[r]);
      return 1;
    }
    return 0;
  }
  float *left = malloc((size_t)p->width * sizeof *left), *right = malloc((size_t)p->width * sizeof *right);
  int differs = !left || !right;
  for (int64_t r = 0; !differs && r < p->rows; r++) {
    gnn_field_row(p, r, left);
    gnn_field_row(q, r, right);
    for (int64_t c = 0; c < p->width && !differs; c++) {
      differs = left[c] != right[c] && !(isnan(left[c]) && isnan(right[c]));
      if (differs) printf("%s[%lld, %lld]: %.9g and %.9g\n", p->name, (long long)r, (long long)c, gnn_shown((double)left[c]), gnn_shown((double)right[c]));
    }
  }
  free(left);
  free(right);
  return differs;
}

static int describe_differ_relations(const gnn_dataset *a, const gnn_dataset *b) {
  int differs = a->type_count != b->type_count || a->relation_count != b->relation_count;
  if (differs) printf("types of nodes or relations: %d and %d, %d and %d\n", a->type_count, b->type_count, a->relation_count, b->relation_count);
  for (int t = 0; !differs && t < a->type_count; t++) {
    const int is_same = strcmp(a->types[t].name, b->types[t].name) == 0 && a->types[t].nodes == b->types[t].nodes;
    if (!is_same) printf("type of nodes %s: another, or of another size\n", a->types[t].name);
    differs |= !is_same;
  }
  for (int r = 0; r < a->relation_count; r++) {
    const gnn_data_relation *p = &a->relations[r], *q = gnn_dataset_relation(b, p->name);
    const int is_same = q && !differs && p->src == q->src && p->dst == q->dst && p->edges == q->edges &&
                        memcmp(p->in_ptr, q->in_ptr, (size_t)(gnn_dataset_rows(a, p->dst) + 1) * sizeof *p->in_ptr) == 0 && memcmp(p->in_source, q->in_source, (size_t)p->edges * sizeof *p->in_source) == 0;
    if (!is_same) printf("relation %s: %s\n", p->name, q ? "others" : "only in the first");
    differs |= !is_same;
  }
  return differs;
}

static int describe_differ_graph(const gnn_dataset *a, const gnn_dataset *b) {
  int differs = 0;
  if (a->nodes != b->nodes) {
    printf("nodes: %s and %s\n", gnn_count_text(a->nodes).text, gnn_count_text(b->nodes).text);
    return 1;
  }
  if (a->edges != b->edges) {
    printf("edges: %s and %s\n", gnn_count_text(a->edges).text, gnn_count_text(b->edges).text);
    differs = 1;
  } else if (memcmp(a->in_ptr, b->in_ptr, (size_t)(a->nodes + 1) * sizeof *a->in_ptr) != 0 ||
             (a->edges && memcmp(a->in_source, b->in_source, (size_t)a->edges * sizeof *a->in_source) != 0)) {
    printf("edges: as many, but others\n");
    differs = 1;
  }
  differs |= describe_differ_relations(a, b);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    int is_same = a->split_count[s] == b->split_count[s] &&
                  (a->split_count[s] == 0 ||
                   memcmp(a->split_rows[s], b->split_rows[s], (size_t)a->split_count[s] * sizeof **a->split_rows) == 0);
    if (!is_same) printf("split %s: %s and %s rows, not the same\n", gnn_split_names[s], gnn_count_text(a->split_count[s]).text,
                         gnn_count_text(b->split_count[s]).text);
    differs |= !is_same;
  }
  return differs;
}

int gnndata_diff(const gnndata_options *options) {
  gnn_dataset *a, *b;
  gnn_status status = gnndata_open(options->words[0], options, &a);
  if (status != GNN_OK) return gnn_exit_code(status);
  status = gnndata_open(options->words[1], options, &b);
  if (status != GNN_OK) {
    gnn_dataset_close(a);
    return gnn_exit_code(status);
  }
  int differs = describe_differ_graph(a, b);
  for (int i = 0; i < a->field_count; i++) differs |= describe_differ_field(b, &a->fields[i]);
  for (int i = 0; i < b->field_count; i++) {
    if (gnn_dataset_field(a, b->fields[i].name)) continue;
    printf("%s: only in the second\n", b->fields[i].name);
    differs = 1;
  }
  if (!differs) printf("the same graph, fields and splits\n");
  return gnndata_close(b, gnndata_close(a, differs));
}

int gnndata_list(const gnndata_options *options) {
  (void)options;
  printf("karate   Zachary's karate club: 34 nodes, 78 friendships, 4 communities; karate() in a data block\n"
         "synth    sbm, rmat, er, grid, molecules: any size; synth(\"sbm\", nodes = 1000, degree = 8, features = 32, classes = 4, seed = 0)\n");
  return 0;
}
