/* test_instance.c: what lies in the arena, metrics, weights and checkpoints, the embedding layer; with the hand-made model. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>

#include "../../runtime/job/checkpoint.h"
#include "../../runtime/job/job.h"
#include "../../runtime/data/readers.h"
#include "../../runtime/data/safetensors.h"
#include "../../runtime/data/subgraph.h"
#include "../../runtime/app/train.h"
#include "../../runtime/data/fill.h"
#include "../../runtime/core/device.h"
#include "tap.h"
#include "arrays.h"
#include "toy.c"

static gnn_dataset *prepared(gnn_synth_kind kind, int64_t nodes, int is_sparse) {
  gnn_synth s = {.kind = kind, .nodes = nodes, .features = 40, .classes = 5, .degree = 7, .seed = 5, .is_sparse = is_sparse};
  gnn_dataset *d = gnn_dataset_new("synth");
  if (gnn_read_synth(d, &s, NULL) != GNN_OK || gnn_dataset_prepare(d, NULL, NULL) != GNN_OK) exit(98);
  return d;
}

static gnn_instance *loaded(const gnn_program *program, gnn_dataset *d, int threads) {
  gnn_instance *instance;
  gnn_error error;
  if (gnn_instance_create(program, &(gnn_instance_options){.threads = threads}, &instance, &error) != GNN_OK ||
      gnn_instance_load(instance, d, &error) != GNN_OK) {
    printf("# %s\n", error.message);
    exit(97);
  }
  return instance;
}

/* Whether every entry of one direction is in the other, edge numbers included, and rows are sorted. */
static int transposed(const gnn_csr *in, const gnn_csr *out) {
  int64_t seen = 0;
  for (int64_t v = 0; v < out->rows; v++) {
    for (int64_t k = out->ptr[v]; k < out->ptr[v + 1]; k++, seen++) {
      int64_t u = out->idx[k], e = out->edge[k];
      if (k > out->ptr[v] && out->idx[k - 1] >= u) return 0;
      if (e < in->ptr[u] || e >= in->ptr[u + 1] || in->idx[e] != v) return 0;
    }
  }
  return seen == in->entries;
}

static int bounded(const gnn_csr *m) {
  int64_t most = 0, work = m->entries + m->rows;
  if (m->tasks < 1 || m->tasks > GNN_TASKS || m->bounds[0] != 0 || m->bounds[m->tasks] != m->rows) return 0;
  for (int64_t t = 0; t < m->tasks; t++) {
    if (m->bounds[t] > m->bounds[t + 1]) return 0;
    int64_t part = m->ptr[m->bounds[t + 1]] - m->ptr[m->bounds[t]] + m->bounds[t + 1] - m->bounds[t];
    if (part > most) most = part;
  }
  return most <= 2 * work / m->tasks + 2000; /* one long row may exceed a fair share */
}

static gnn_dataset *one_way(void) {
  static const int32_t arcs[2][7] = {{0, 0, 3, 4, 2, 1, 4}, {1, 2, 1, 3, 4, 4, 0}};
  static const float x[10] = {1, 0, 0, 2, 3, 0, 0, 4, 5, 6};
  static const int32_t y[5] = {0, 1, 0, 1, -1}, train[2] = {1, 3}, valid[1] = {0}, test[1] = {2};
  gnn_dataset *d = gnn_dataset_new("one way");
  gnn_array a = {.dtype = GNN_I32, .rank = 1, .shape = {7}, .count = 7, .data = (const unsigned char *)arcs[0]};
  d->raw_source = a;
  a.data = (const unsigned char *)arcs[1];
  d->raw_destination = a;
  d->has_edges = 1;
  a = (gnn_array){.dtype = GNN_F32, .rank = 2, .shape = {5, 2}, .count = 10, .data = (const unsigned char *)x};
  gnn_dataset_add_field(d, "x", GNN_NODE, &a, NULL);
  a = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {5}, .count = 5, .data = (const unsigned char *)y};
  gnn_dataset_add_field(d, "y", GNN_NODE, &a, NULL);
  const int32_t *ids[3] = {train, valid, test};
  const int64_t counts[3] = {2, 1, 1};
  for (int s = 0; s < 3; s++) {
    d->raw_split[s] = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {counts[s]}, .count = counts[s], .data = (const unsigned char *)ids[s]};
    d->is_split_ids[s] = 1;
  }
  if (gnn_dataset_prepare(d, NULL, NULL) != GNN_OK) exit(96);
  return d;
}

static void test_graph(void) {
  toy_model toy;
  gnn_dataset *d = one_way();
  toy_make(&toy, d, NULL, 0);
  for (int twice = 0; twice < 2; twice++) {
    gnn_instance *instance = loaded(twice ? &toy.in_double : &toy.program, d, 1);
    const gnn_run *run = &instance->run;
    const void *degree = gnn_instance_at(instance, toy.program.graph.sets[0].at_in_degree);
    tap_ok(run->nodes == 5 && run->edges == 7 && transposed(&run->sets[GNN_EDGES].in, &run->sets[GNN_EDGES].out) && bounded(&run->sets[GNN_EDGES].in) && bounded(&run->sets[GNN_EDGES].out) &&
           (twice ? ((const double *)degree)[4] : (double)((const float *)degree)[4]) == 2 && (uintptr_t)run->device % GNN_ALIGNMENT == 0,
           "arena: a one-way graph in both directions, %d bytes a number", twice ? 8 : 4);
    const void *x = gnn_instance_at(instance, toy.fields[0].at[0]);
    tap_ok((twice ? ((const double *)x)[9] : (double)((const float *)x)[9]) == 6 &&
           ((const int32_t *)gnn_instance_at(instance, toy.fields[1].at[0]))[4] == -1 && run->rows[0][1] == 3, "arena: numbers, labels, rows");
    gnn_instance_destroy(instance);
  }
  gnn_dataset_close(d);
  for (int kind = 0; kind < 2; kind++) {
    d = prepared((gnn_synth_kind)kind, 3000, 1);
    toy_make(&toy, d, NULL, 1);
    gnn_instance *instance = loaded(&toy.program, d, 2);
    const gnn_sparse *s = &instance->run.sparse[0];
    int is_same = bounded(&s->by_row) && bounded(&s->by_column) && s->by_row.entries == d->fields[0].nonzeros;
    for (int64_t v = 0; v < 3000 && is_same; v++) {
      float row[40] = {0}, wanted[40];
      for (int64_t k = s->by_row.ptr[v]; k < s->by_row.ptr[v + 1]; k++) row[s->by_row.idx[k]] = s->row_value[k];
      gnn_field_row(&d->fields[0], v, wanted);
      is_same = memcmp(row, wanted, sizeof row) == 0;
    }
    int64_t found = 0;
    for (int64_t c = 0; c < 40; c++)
      for (int64_t k = s->by_column.ptr[c]; k < s->by_column.ptr[c + 1]; k++) {
        float row[40];
        gnn_field_row(&d->fields[0], s->by_column.idx[k], row);
        found += row[c] == s->column_value[k] && (k == s->by_column.ptr[c] || s->by_column.idx[k - 1] < s->by_column.idx[k]);
      }
    tap_ok(is_same && found == s->by_row.entries, "arena: sparse features of %s by row and by column", gnn_synth_names[kind]);
    tap_ok(instance->run.sets[GNN_EDGES].out.ptr == instance->run.sets[GNN_EDGES].in.ptr && transposed(&instance->run.sets[GNN_EDGES].in, &instance->run.sets[GNN_EDGES].out) && bounded(&instance->run.sets[GNN_EDGES].in),
           "arena: a symmetric graph is stored once, its reverse edges known");
    gnn_instance_destroy(instance);
    gnn_dataset_close(d);
  }
}

/* Nodes 0 to 3 have many in-edges, one of them as many as a row may have that is no hub. */
static void test_hubs(void) {
  enum { NODES = 1500, HUBS = 3, EDGES = 1100 + 1400 + 1100 + GNN_HUB_ENTRIES };
  static const int32_t entries[4] = {1100, 1400, 1100, GNN_HUB_ENTRIES}, wanted[HUBS] = {1, 0, 2}, ids[1] = {7};
  static int32_t arcs[2][EDGES], y[NODES];
  static float x[NODES];
  int64_t e = 0;
  for (int32_t v = 0; v < 4; v++)
    for (int32_t k = 0; k < entries[v]; k++, e++) arcs[0][e] = NODES - 1 - k, arcs[1][e] = v;
  gnn_dataset *d = gnn_dataset_new("hubs");
  d->raw_source = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {EDGES}, .count = EDGES, .data = (const unsigned char *)arcs[0]};
  d->raw_destination = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {EDGES}, .count = EDGES, .data = (const unsigned char *)arcs[1]};
  d->has_edges = 1;
  gnn_dataset_add_field(d, "x", GNN_NODE, &(gnn_array){.dtype = GNN_F32, .rank = 2, .shape = {NODES, 1}, .count = NODES, .data = (const unsigned char *)x}, NULL);
  y[7] = 1;
  gnn_dataset_add_field(d, "y", GNN_NODE, &(gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {NODES}, .count = NODES, .data = (const unsigned char *)y}, NULL);
  for (int s = 0; s < 3; s++) {
    d->raw_split[s] = (gnn_array){.dtype = GNN_I32, .rank = 1, .shape = {s == 0}, .count = s == 0, .data = (const unsigned char *)ids};
    d->is_split_ids[s] = 1;
  }
  if (gnn_dataset_prepare(d, NULL, NULL) != GNN_OK) exit(96);
  toy_model toy;
  toy_make(&toy, d, NULL, 0);
  gnn_edge_set_desc *edges = &toy.sets[GNN_EDGES];
  edges->hub_room = EDGES / (GNN_HUB_ENTRIES + 1);
  edges->at_in_hubs = toy.program.device_bytes;
  edges->at_out_hubs = toy.program.device_bytes + GNN_ALIGNMENT;
  toy.program.device_bytes += 2 * GNN_ALIGNMENT;
  gnn_instance *instance = loaded(&toy.program, d, 1);
  const gnn_csr *in = &instance->run.sets[GNN_EDGES].in;
  tap_ok(in->hub_count == HUBS && memcmp(in->hub, wanted, sizeof wanted) == 0 && (const void *)in->hub == gnn_instance_at(instance, edges->at_in_hubs) &&
         instance->run.sets[GNN_EDGES].out.hub_count == 0, "arena: rows of more than %d entries, the longest first", (int)GNN_HUB_ENTRIES);
  gnn_instance_destroy(instance);
  gnn_dataset_close(d);
}

static void test_misfits(void) {
  toy_model toy;
  gnn_error error;
  gnn_instance *instance;
  gnn_dataset *small = prepared(GNN_SYNTH_SBM, 200, 0), *large = prepared(GNN_SYNTH_SBM, 300, 0), *other = one_way();
  toy_make(&toy, large, NULL, 0);
  for (int s = 0; s < 3; s++) toy.program.graph.row_count[s] = 300;
  instance = loaded(&toy.program, small, 1);
  tap_ok(instance->run.nodes == 200, "R0802: fewer nodes than planned are allowed");
  gnn_status status = gnn_instance_load(instance, other, &error);
  tap_ok(status == GNN_EDATA && strcmp(error.code, "R0802") == 0, "R0802: %s", error.message);
  gnn_instance_destroy(instance);
  toy_make(&toy, small, NULL, 0);
  gnn_instance_create(&toy.program, NULL, &instance, &error);
  status = gnn_instance_load(instance, large, &error);
  tap_ok(status == GNN_EDATA && strcmp(error.code, "R0802") == 0 && strstr(error.message, "300 nodes, the plan was made for 200") && error.help[0],
         "R0802: more nodes than planned");
  gnn_instance_destroy(instance);
  const int64_t parts[] = {0, 300}, others[] = {0, 299};
  toy_make(&toy, large, NULL, 0);
  toy.program.graph.part_first = parts;
  instance = loaded(&toy.program, large, 1);
  gnn_instance_destroy(instance);
  toy.program.graph.part_first = others;
  gnn_instance_create(&toy.program, NULL, &instance, &error);
  status = gnn_instance_load(instance, large, &error);
  tap_ok(status == GNN_EDATA && strcmp(error.code, "R0802") == 0 && strstr(error.message, "other parts"), "R0802: %s", error.message);
  toy.program.graph.part_levels = 1;
  tap_ok(gnn_instance_load(instance, large, &error) == GNN_EDATA, "R0802: more parts than blocks");
  gnn_instance_destroy(instance);
  toy_make(&toy, large, NULL, 0);
  toy.fields[1].classes = 4;
  gnn_instance_create(&toy.program, NULL, &instance, &error);
  status = gnn_instance_load(instance, large, &error);
  tap_ok(status == GNN_EDATA && strcmp(error.code, "E0702") == 0, "E0702: labels beyond the program's classes");
  gnn_instance_destroy(instance);
  toy_make(&toy, large, NULL, 0);
  toy.fields[0].name = "z";
  gnn_instance_create(&toy.program, NULL, &instance, &error);
  status = gnn_instance_load(instance, large, &error);
  tap_ok(status == GNN_EDATA && strcmp(error.code, "E0203") == 0, "E0203: a field that is not there");
  gnn_instance_destroy(instance);
  toy_make(&toy, large, NULL, 0);
  toy.program.device_bytes = INT64_C(1) << 50;
  status = gnn_instance_create(&toy.program, NULL, &instance, &error);
  tap_ok(status == GNN_ENOMEM && strcmp(error.code, "R0801") == 0 && instance == NULL && strstr(error.message, "the plan needs 1024.0 TiB"),
         "R0801: a plan larger than the machine");
  toy.program.abi = 99;
  tap_ok(gnn_instance_create(&toy.program, NULL, &instance, &error) == GNN_EVERSION, "a program for another version of the runtime");
  gnn_dataset_close(small);
  gnn_dataset_close(large);
  gnn_dataset_close(other);
}

/* Ranks may be threads of one process, as under SMPI, each of which begins before another has its data. */
static void test_arenas_grow_side_by_side(void) {
  enum { TOGETHER = 3 };
  toy_model toy;
  gnn_error error;
  gnn_instance *instances[TOGETHER] = {0};
  gnn_dataset *d = prepared(GNN_SYNTH_SBM, 2000, 0);
  gnn_result results[TOGETHER][3];
  int is_well = 1;
  toy_make(&toy, d, NULL, 0);
  for (int i = 0; i < TOGETHER; i++) is_well = is_well && gnn_instance_create(&toy.program, &(gnn_instance_options){.threads = 1, .grows = 1}, &instances[i], &error) == GNN_OK;
  for (int i = 0; i < TOGETHER && is_well; i++) is_well = gnn_instance_load(instances[i], d, &error) == GNN_OK;
  tap_ok(is_well, "arenas of one process that grow: each has room: %s", is_well ? "" : error.message);
  for (int i = 0; i < TOGETHER && is_well; i++) gnn_instance_reset(instances[i], 3, NULL);
  for (int i = 0; i < TOGETHER && is_well; i++) is_well = gnn_evaluate(instances[i], results[i]) == GNN_OK && results[i][0].loss == results[0][0].loss;
  tap_ok(is_well, "and numbers of its own");
  for (int i = 0; i < TOGETHER; i++) gnn_instance_destroy(instances[i]);
  gnn_dataset_close(d);
}

static void test_metrics(void) {
  toy_model toy;
  gnn_dataset *d = prepared(GNN_SYNTH_SBM, 2000, 0);
  toy_make(&toy, d, NULL, 0);
  gnn_result first[3], again[3];
  for (int threads = 1; threads <= 3; threads += 2) {
    gnn_instance *instance = loaded(&toy.program, d, threads);
    gnn_instance_reset(instance, 3, NULL);
    gnn_status status = gnn_evaluate(instance, threads == 1 ? first : again);
    const float *scores = gnn_instance_at(instance, toy.program.at_scores);
    double loss = 0, correct = 0;
    for (int64_t k = 0; k < d->split_count[0]; k++) {
      int32_t v = d->split_rows[0][k], label = d->fields[1].label[v];
      double sum = 0;
      int best = 0;
      for (int c = 0; c < 5; c++) {
        sum += exp((double)scores[v * 5 + c]);
        if (scores[v * 5 + c] > scores[v * 5 + best]) best = c;
      }
      loss += log(sum) - (double)scores[v * 5 + label];
      correct += best == label;
    }
    /* single precision exp: some 1e-7 a term, all of one sign at worst */
    tap_ok(status == GNN_OK && fabs(first[0].loss - loss / (double)d->split_count[0]) < 1e-6 &&
           first[0].metric[0] == correct / (double)d->split_count[0] && first[0].count == d->split_count[0], "metrics: loss and accuracy");
    gnn_instance_destroy(instance);
  }
  tap_ok(memcmp(first, again, sizeof first) == 0, "metrics: the same bits with one and three threads");
  gnn_dataset_close(d);
  gnn_keeper keeper;
  gnn_keeper_reset(&keeper);
  gnn_program program = toy.program;
  program.has_stop = 1;
  program.stop_measure = GNN_MEASURE_LOSS;
  program.patience = 2;
  gnn_run run = {.program = &program};
  const double accuracies[] = {0.5, 0.7, 0.7, 0.6}, losses[] = {1.0, 0.8, 0.9, 0.85};
  int best[4], stops[4];
  for (int e = 0; e < 4; e++) {
    gnn_result r[3] = {{0}};
    r[GNN_VALID].metric[0] = accuracies[e];
    r[GNN_VALID].loss = losses[e];
    best[e] = gnn_keeper_see(&keeper, &run, e + 1, r);
    stops[e] = gnn_keeper_stops(&keeper, &program);
  }
  tap_ok(best[0] && best[1] && !best[2] && !best[3] && keeper.best_epoch == 2 && !stops[2] && stops[3], "keeper: the first best is kept, patience counts evaluations");
}

static int same_weights(const gnn_instance *a, const gnn_instance *b, int with_state) {
  const gnn_program *p = a->run.program;
  for (int w = 0; w < p->weight_count; w++) {
    size_t bytes = (size_t)p->weights[w].count * 4;
    if (memcmp(gnn_instance_at(a, p->weights[w].at), gnn_instance_at(b, p->weights[w].at), bytes) != 0) return 0;
    for (int s = 0; s < 2 && with_state; s++)
      if (memcmp(gnn_instance_at(a, p->weights[w].at_state[s]), gnn_instance_at(b, p->weights[w].at_state[s]), bytes) != 0) return 0;
  }
  return 1;
}

static void steps(gnn_instance *instance, int count) {
  while (count-- > 0) if (gnn_step_epoch(instance) != GNN_OK) exit(95);
}

static void test_checkpoints(void) {
  static unsigned char bytes[1 << 16];
  toy_model toy;
  gnn_error error;
  gnn_dataset *d;
  gnn_dataset_open_path("karate", &d, &error);
  gnn_dataset_prepare(d, NULL, &error);
  toy_make(&toy, d, NULL, 0);
  gnn_instance *straight = loaded(&toy.program, d, 1), *halves = loaded(&toy.program, d, 2);
  gnn_instance_reset(straight, 11, NULL);
  gnn_instance_reset(halves, 11, NULL);
  steps(straight, 20);
  steps(halves, 9);
  const char *path = tap_path("checkpoint-r1-e000009.safetensors");
  double finished[4][GNN_SPLIT_COUNT] = {{0.1, 0.2, 0.3}}, restored_finished[4][GNN_SPLIT_COUNT];
  gnn_progress progress = {.run_index = 1, .seed = 10, .finished_count = 1, .finished = finished}, restored = {.finished = restored_finished};
  progress.keeper = (gnn_keeper){.best_epoch = 4, .best_value = 0.1 + 0.2, .stop_waits = 3, .stop_value = 1.0 / 3};
  progress.keeper.best[1].metric[0] = 0.7;
  gnn_snapshot best, restored_best;
  gnn_snapshot_create(&toy.program, &best, &error);
  gnn_snapshot_create(&toy.program, &restored_best, &error);
  gnn_snapshot_take(&best, halves, NULL);
  gnn_status status = gnn_checkpoint_save(halves, &best, &progress, path, &error);
  gnn_instance_reset(halves, 99, NULL);
  if (status == GNN_OK) status = gnn_checkpoint_load(halves, &restored_best, &restored, path, &error);
  tap_ok(status == GNN_OK && halves->run.epoch == 9 && halves->run.seed == 11 && restored.run_index == 1 && restored.seed == 10 &&
         restored.finished_count == 1 && memcmp(restored_finished[0], finished[0], sizeof finished[0]) == 0 &&
         memcmp(&restored.keeper, &progress.keeper, sizeof restored.keeper) == 0 && restored_best.is_filled &&
         memcmp(best.data, restored_best.data, (size_t)best.bytes) == 0, "checkpoint: all of the loop's state comes back");
  steps(halves, 11);
  tap_ok(same_weights(straight, halves, 1), "checkpoint: going on gives the same bits as not stopping");

  toy_model changed = toy;
  changed.program.fingerprint = "another";
  gnn_instance *stranger = loaded(&changed.program, d, 1);
  tap_ok(gnn_checkpoint_load(stranger, &restored_best, &restored, path, &error) == GNN_EDATA && strcmp(error.code, "R0804") == 0,
         "R0804: a checkpoint of another program");
  gnn_instance_destroy(stranger);
  size_t size = tap_read(path, bytes, sizeof bytes);
  int wrong = 0;
  for (size_t n = 0; n < size; n += 3) {
    tap_write(tap_path("cut.safetensors"), bytes, n);
    error.message[0] = 0;
    wrong += gnn_checkpoint_load(halves, &restored_best, &restored, tap_path("cut.safetensors"), &error) == GNN_OK || !error.message[0];
  }
  tap_ok(wrong == 0 && same_weights(straight, halves, 1), "checkpoint: cut anywhere in %d bytes it is refused, and nothing changes", (int)size);
  for (size_t n = 0; n < size * 8; n += 5) {
    bytes[n / 8] ^= (unsigned char)(1 << n % 8);
    tap_write(tap_path("cut.safetensors"), bytes, size);
    status = gnn_checkpoint_load(halves, &restored_best, &restored, tap_path("cut.safetensors"), &error);
    wrong += status != GNN_EIO || strcmp(error.code, "R0806") != 0;
    bytes[n / 8] ^= (unsigned char)(1 << n % 8);
  }
  tap_ok(wrong == 0 && same_weights(straight, halves, 1), "R0806: every fifth bit of a checkpoint flipped is seen, and nothing changes");
  bytes[size - 1] ^= 1;
  tap_write(tap_path("cut.safetensors"), bytes, size);
  bytes[size - 1] ^= 1;
  gnn_checkpoint_load(halves, &restored_best, &restored, tap_path("cut.safetensors"), &error);
  tap_ok(strstr(error.message, "tensor \"best.lin.bias\" does not match its checksum") != NULL, "  by name: %s", error.message);
  const char *folder = tap_folder();
  for (int e = 10; e < 30; e += 5) {
    char *name = gnn_checkpoint_path(folder, 1, e);
    tap_write(name, "x", 1);
    free(name);
  }
  gnn_checkpoint_prune(folder, tap_path("checkpoint-r1-e000025.safetensors"), tap_path("checkpoint-r1-e000020.safetensors"));
  char *newest = gnn_checkpoint_newest(folder);
  tap_ok(newest && strstr(newest, "r1-e000025") && gnn_path_exists(tap_path("checkpoint-r1-e000020.safetensors")) &&
         !gnn_path_exists(tap_path("checkpoint-r1-e000015.safetensors")), "checkpoint: the last two are kept");
  free(newest);
  gnn_snapshot_destroy(&best);
  gnn_snapshot_destroy(&restored_best);
  gnn_instance_destroy(straight);
  gnn_instance_destroy(halves);
  gnn_dataset_close(d);
}

/* What a checkpoint of karate says beside weights. */
typedef struct forged_state {
  int64_t counts[8];
  double numbers[11], finished[6];
  int finished_count, counts_count;
} forged_state;

static const forged_state honest = {{1, 9, 10, 4, 3, 1, 0, 5}, {0}, {0}, 3, 8};

/* A checkpoint like that of `path`, its checksums right, with this state. */
static void forge(const char *path, const char *forged, const forged_state *state) {
  gnn_safetensors file;
  gnn_tensor tensors[32];
  if (gnn_safetensors_open(path, &file, NULL) != GNN_OK || file.tensor_count > 32) exit(94);
  for (int t = 0; t < file.tensor_count; t++) {
    tensors[t] = file.tensors[t];
    gnn_array *array = &tensors[t].array;
    if (strcmp(tensors[t].name, "state.counts") == 0) {
      array->data = (const unsigned char *)state->counts;
      array->count = array->shape[0] = state->counts_count;
    }
    if (strcmp(tensors[t].name, "state.numbers") == 0) array->data = (const unsigned char *)state->numbers;
    if (strcmp(tensors[t].name, "state.finished") != 0) continue;
    array->data = (const unsigned char *)state->finished;
    array->count = array->shape[0] = state->finished_count;
  }
  const gnn_pair pairs[] = {{"gnncc.fingerprint", gnn_safetensors_text(&file, "gnncc.fingerprint")}};
  if (gnn_safetensors_write(forged, tensors, file.tensor_count, pairs, 1, NULL) != GNN_OK) exit(94);
  gnn_safetensors_close(&file);
}

/* Counts that no training has. The first one's product with 3 is 2 more than 2^64. */
static void test_forged_checkpoints(void) {
  static const struct { int at; int64_t value; int finished_count; } counts[] = {
    {5, INT64_C(0x5555555555555556), 2}, {5, INT64_MAX, 3}, {5, -1, 3}, {5, 2, 6}, {0, 0, 3}, {0, INT64_MAX, 3}, {0, -1, 3}, {1, INT64_MAX, 3},
    {1, -1, 3}, {3, INT64_MAX, 3}, {3, -2, 3}, {4, INT64_MAX, 3}, {4, INT64_MIN, 3}, {7, -1, 3}, {7, 1 << GNN_CONTENT_COUNT, 3}};
  static const double rows[] = {1e300, -1, (double)NAN, (double)INFINITY};
  toy_model toy;
  gnn_dataset *d;
  gnn_error error;
  gnn_snapshot best;
  static double finished[GNN_FINISHED_MAX][GNN_SPLIT_COUNT];
  gnn_progress progress = {.run_index = 1, .finished_count = 1, .finished = finished};
  gnn_dataset_open_path("karate", &d, &error);
  gnn_dataset_prepare(d, NULL, &error);
  toy_make(&toy, d, NULL, 0);
  gnn_instance *instance = loaded(&toy.program, d, 1);
  gnn_instance_reset(instance, 1, NULL);
  gnn_snapshot_create(&toy.program, &best, NULL);
  const char *path = tap_path("honest.safetensors"), *forged = tap_path("forged.safetensors");
  gnn_status status = gnn_checkpoint_save(instance, NULL, &progress, path, &error);
  forge(path, forged, &honest);
  if (status == GNN_OK) status = gnn_checkpoint_load(instance, &best, &progress, forged, &error);
  tap_ok(status == GNN_OK && instance->run.epoch == 9 && progress.keeper.best_epoch == 4 && progress.accepted_data == 5,
         "forged: a state that can be is taken");
  forged_state earlier = honest;
  earlier.counts_count = 7;
  forge(path, forged, &earlier);
  status = gnn_checkpoint_load(instance, &best, &progress, forged, &error);
  tap_ok(status == GNN_OK && instance->run.epoch == 9 && progress.accepted_data == 0, "one of before, without data that were accepted, too");
  instance->run.epoch = 5;
  tap_ok(gnn_checkpoint_inspect(instance, &progress, forged, &error) == GNN_OK && instance->run.epoch == 5 && progress.run_index == 1,
         "one that is only looked at changes nothing");
  int wrong = 0;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    forged_state state = honest;
    state.counts[counts[i].at] = counts[i].value;
    state.finished_count = counts[i].finished_count;
    forge(path, forged, &state);
    if (gnn_checkpoint_load(instance, &best, &progress, forged, &error) == GNN_EIO && strcmp(error.code, "R0806") == 0) continue;
    printf("# count %d of %lld is taken\n", counts[i].at, (long long)counts[i].value);
    wrong++;
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    forged_state state = honest;
    state.numbers[4] = rows[i];
    forge(path, forged, &state);
    wrong += gnn_checkpoint_load(instance, &best, &progress, forged, &error) != GNN_EIO || strcmp(error.code, "R0806") != 0;
  }
  tap_ok(wrong == 0, "R0806: %d forged counts are refused", (int)(sizeof counts / sizeof *counts + sizeof rows / sizeof *rows));
  gnn_snapshot_destroy(&best);
  gnn_instance_destroy(instance);
  gnn_dataset_close(d);
}

static unsigned changed_since(gnn_instance *instance, gnn_dataset *d, const char *path) {
  static double finished[GNN_FINISHED_MAX][GNN_SPLIT_COUNT];
  gnn_progress progress = {.finished = finished};
  gnn_snapshot best;
  gnn_error error;
  gnn_snapshot_create(instance->run.program, &best, NULL);
  if (gnn_instance_load(instance, d, &error) != GNN_OK || gnn_checkpoint_load(instance, &best, &progress, path, &error) != GNN_OK) exit(93);
  gnn_snapshot_destroy(&best);
  return progress.changed_data;
}

/* One number of each kind, and back. */
static void test_changed_data(void) {
  toy_model toy;
  gnn_dataset *d, *sparse;
  gnn_error error;
  gnn_progress progress = {0};
  gnn_dataset_open_path("karate", &d, &error);
  gnn_dataset_prepare(d, NULL, &error);
  toy_make(&toy, d, NULL, 0);
  gnn_instance *instance = loaded(&toy.program, d, 3);
  gnn_instance_reset(instance, 1, NULL);
  const char *path = tap_path("trained.safetensors"), *converted = tap_path("karate.safetensors");
  if (gnn_checkpoint_save(instance, NULL, &progress, path, &error) != GNN_OK) exit(93);
  float *x = (float *)(uintptr_t)gnn_dataset_field(d, "x")->dense;
  int32_t *y = (int32_t *)(uintptr_t)gnn_dataset_field(d, "y")->label, *source = (int32_t *)(uintptr_t)d->in_source;
  int32_t *row = (int32_t *)(uintptr_t)d->split_rows[GNN_TEST];
  tap_ok(changed_since(instance, d, path) == 0, "data: the same are the same");
  x[34 * 34 - 2] = 0.5f;
  tap_ok(changed_since(instance, d, path) == 1u << GNN_CONTENT_FEATURES, "data: one feature changed");
  x[34 * 34 - 2] = 0;
  y[33] ^= 1;
  tap_ok(changed_since(instance, d, path) == 1u << GNN_CONTENT_LABELS, "data: one label changed");
  y[33] ^= 1;
  source[0]--;
  tap_ok(changed_since(instance, d, path) == 1u << GNN_CONTENT_EDGES, "data: one edge changed");
  source[0]++;
  row[0] ^= 1;
  tap_ok(changed_since(instance, d, path) == 1u << GNN_CONTENT_SPLITS, "data: one row of a split changed");
  row[0] ^= 1;
  if (gnn_write_container(d, converted, 1, NULL, &error) != GNN_OK || gnn_dataset_open_path(converted, &sparse, &error) != GNN_OK ||
      gnn_dataset_prepare(sparse, NULL, &error) != GNN_OK)
    exit(93);
  tap_ok(gnn_dataset_field(sparse, "x")->storage == GNN_SPARSE && changed_since(instance, sparse, path) == 0, "data: in another form they are the same");
  gnn_dataset_close(sparse);
  gnn_instance_destroy(instance);
  gnn_dataset_close(d);
}

/* Features that are mostly not 0, stored densely and by their non-zeros. */
static void test_thick_data(void) {
  static const int64_t from[] = {0, 1, 2, 3}, to[] = {1, 0, 3, 2}, label[] = {0, 1, 0, 1}, rows[] = {0, 1};
  static const float dense[] = {1, 2, 0, 3, 4, 5, 6, 0}, value[] = {1, 2, 3, 4, 5, 6};
  static const int64_t ptr[] = {0, 2, 3, 5, 6}, column[] = {0, 1, 1, 0, 1, 0};
  const gnn_array x = {.dtype = GNN_F32, .rank = 2, .shape = {4, 2}, .count = 8, .data = (const unsigned char *)dense};
  const gnn_array parts[] = {vector(GNN_I64, 5, ptr), vector(GNN_I64, 6, column), vector(GNN_F32, 6, value)}, y = vector(GNN_I64, 4, label);
  gnn_instance *instance[2];
  gnn_dataset *d[2];
  toy_model toy[2];
  for (int i = 0; i < 2; i++) {
    d[i] = gnn_dataset_new("thick");
    d[i]->has_edges = 1;
    d[i]->raw_source = vector(GNN_I64, 4, from);
    d[i]->raw_destination = vector(GNN_I64, 4, to);
    if (i) gnn_dataset_add_sparse(d[i], "x", 2, &parts[0], &parts[1], &parts[2], NULL);
    else gnn_dataset_add_field(d[i], "x", GNN_NODE, &x, NULL);
    gnn_dataset_add_field(d[i], "y", GNN_NODE, &y, NULL);
    d[i]->raw_split[GNN_TRAIN] = vector(GNN_I64, 2, rows);
    d[i]->is_split_ids[GNN_TRAIN] = 1;
    if (gnn_dataset_prepare(d[i], NULL, NULL) != GNN_OK) exit(93);
    toy_make(&toy[i], d[i], NULL, 0);
    instance[i] = loaded(&toy[i].program, d[i], 1);
  }
  tap_ok(gnn_dataset_field(d[1], "x")->storage == GNN_SPARSE && memcmp(instance[0]->contents, instance[1]->contents, sizeof instance[0]->contents) == 0,
         "data: many numbers stored sparsely are the same as stored densely");
  for (int i = 0; i < 2; i++) {
    gnn_instance_destroy(instance[i]);
    gnn_dataset_close(d[i]);
  }
}

static gnn_status write_weights(const char *path, gnn_dtype dtype, const void *weight, int rank, int64_t rows, int64_t columns, const char *bias) {
  static const double zeros[4];
  gnn_tensor tensors[] = {
    {.name = "lin.weight", .array = {.dtype = dtype, .rank = rank, .shape = {rows, columns, 1}, .count = rows * columns, .data = weight}},
    {.name = bias, .array = {.dtype = GNN_F64, .rank = 2, .shape = {1, 4}, .count = 4, .data = (const unsigned char *)zeros}}};
  return gnn_safetensors_write(path, tensors, 2, NULL, 0, NULL);
}

static void test_weights(void) {
  static double wide[136];
  static uint16_t narrow[136];
  toy_model toy;
  gnn_error error;
  gnn_dataset *d;
  gnn_dataset_open_path("karate", &d, &error);
  gnn_dataset_prepare(d, NULL, &error);
  toy_make(&toy, d, NULL, 0);
  gnn_instance *instance = loaded(&toy.program, d, 1), *copy = loaded(&toy.program, d, 1);
  gnn_instance_reset(instance, 1, NULL);
  steps(instance, 3);
  const char *path = tap_path("w.safetensors");
  gnn_status status = gnn_weights_save(instance, NULL, path, &error);
  if (status == GNN_OK) status = gnn_weights_load(copy, path, &error);
  tap_ok(status == GNN_OK && same_weights(instance, copy, 0), "weights: saved and loaded");
  for (int i = 0; i < 136; i++) {
    wide[i] = i / 7.0;
    narrow[i] = (uint16_t)(0x3f80 + i);
  }
  status = write_weights(path, GNN_F64, wide, 3, 4, 34, "lin.bias");
  if (status == GNN_OK) status = gnn_weights_load(copy, path, &error);
  const float *values = gnn_instance_at(copy, toy.weights[0].at);
  tap_ok(status == GNN_OK && values[135] == (float)wide[135] && values[1] == (float)wide[1], "weights: float64, and dimensions of size 1 are dropped");
  write_weights(path, GNN_BF16, narrow, 2, 4, 34, "lin.bias");
  tap_ok(gnn_weights_load(copy, path, &error) == GNN_OK && values[0] == 1, "weights: bfloat16");
  float before = values[5];
  write_weights(path, GNN_F64, wide, 2, 34, 4, "lin.biass");
  status = gnn_weights_load(copy, path, &error);
  tap_ok(status == GNN_EDATA && strcmp(error.code, "R0804") == 0 && strstr(error.message, "[4, 34]") && strstr(error.message, "[34, 4]") &&
         strstr(error.message, "lin.biass") && values[5] == before, "R0804: names and shapes side by side, nothing changed");
  write_weights(path, GNN_I64, wide, 2, 4, 34, "lin.bias");
  tap_ok(gnn_weights_load(copy, path, &error) == GNN_EDATA, "R0804: whole numbers are no weights");
  wide[7] = (double)NAN;
  wide[9] = 1e300; /* infinite as float32 */
  write_weights(path, GNN_F64, wide, 2, 4, 34, "lin.bias");
  status = gnn_weights_load(copy, path, &error);
  tap_ok(status == GNN_ENUMERIC && strcmp(error.code, "R0808") == 0 && strstr(error.message, "2 of the 136 numbers of lin.weight are not finite") &&
         strstr(error.message, "at 7") && values[5] == before, "R0808: %s", error.message);
  copy->continues_after_nan = 1;
  tap_ok(gnn_weights_load(copy, path, &error) == GNN_OK && isnan(values[7]) && isinf(values[9]), "  taken where that was asked for");
  const float *weight = gnn_instance_at(instance, toy.weights[0].at);
  gnn_instance_reset(instance, 8, NULL);
  float least = 1, greatest = -1;
  for (int i = 0; i < 136; i++) {
    if (weight[i] < least) least = weight[i];
    if (weight[i] > greatest) greatest = weight[i];
  }
  gnn_instance_reset(copy, 8, NULL);
  int is_same = same_weights(instance, copy, 1);
  gnn_instance_reset(copy, 9, NULL);
  tap_ok(is_same && !same_weights(instance, copy, 0) && (double)least >= -toy.weights[0].a && (double)greatest <= toy.weights[0].a &&
         (double)(greatest - least) > toy.weights[0].a, "weights: a function of the seed, within their bound");
  gnn_instance_destroy(instance);
  gnn_instance_destroy(copy);
  gnn_dataset_close(d);
}

typedef struct host {
  int64_t taken, released, epochs;
  int64_t stop_at;
} host;

static void *host_alloc(void *user, unsigned tier, size_t bytes, size_t align) {
  host *h = user;
  (void)tier;
  h->taken += (int64_t)bytes;
  return aligned_alloc(align, (bytes + align - 1) / align * align);
}

static void host_release(void *user, unsigned tier, void *memory, size_t bytes) {
  host *h = user;
  (void)tier;
  h->released += (int64_t)bytes;
  free(memory);
}

static int host_progress(void *user, int64_t epoch, double loss) {
  host *h = user;
  h->epochs++;
  return h->stop_at == epoch || loss < 0;
}

/* The first members of DLManagedTensorVersioned, as a host sees them. */
typedef struct dl_view {
  uint32_t version[2];
  void *manager;
  void (*deleter)(struct DLManagedTensorVersioned *);
  uint64_t flags;
  float *data;
  int32_t device[2], rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t offset;
} dl_view;

static void test_job(void) {
  static int64_t src[156], dst[156], y[34], train[4], valid[10];
  static float x[34 * 34], scores[34 * 4], again[34 * 4];
  toy_model toy;
  gnn_dataset *d;
  gnn_dataset_open_path("karate", &d, NULL);
  gnn_dataset_prepare(d, NULL, NULL);
  toy_make(&toy, d, NULL, 0);
  int64_t at = 0;
  for (int64_t v = 0; v < 34; v++) {
    for (int64_t e = d->in_ptr[v]; e < d->in_ptr[v + 1]; e++) { src[at] = d->in_source[e]; dst[at++] = v; }
    x[v * 34 + v] = 1;
    y[v] = d->fields[1].label[v];
  }
  for (int k = 0; k < 4; k++) train[k] = d->split_rows[0][k];
  for (int k = 0; k < 10; k++) valid[k] = d->split_rows[1][k];
  host h = {.stop_at = -1};
  gnn_job_options options;
  gnn_job_options_init(&options, &toy.program);
  options.threads = 1;
  options.seed = 4;
  options.user = &h;
  options.alloc = host_alloc;
  options.release = host_release;
  options.progress = host_progress;
  double values[2] = {0.05, 0.1};
  options.options = values;
  gnn_job *job, *other;
  gnn_job_result result, best;
  gnn_status status = gnn_job_create(&toy.program, &options, &job);
  tap_ok(status == GNN_OK && h.taken == toy.program.device_bytes && gnn_program_bytes(&toy.program, 0) == h.taken, "job: the arena comes from the host");
  tap_ok(gnn_job_epoch(job, &result) == GNN_EINVAL && strstr(gnn_job_error(job), "no data"), "job: no data yet: %s", gnn_job_error(job));
  status = gnn_job_set_edges(job, src, dst, 156);
  tap_ok(gnn_job_epoch(job, NULL) == GNN_EDATA && gnn_job_error(job)[0], "job: fields are missing: %s", gnn_job_error(job));
  if (status == GNN_OK) status = gnn_job_set_field(job, "x", x, 34, 34);
  if (status == GNN_OK) status = gnn_job_set_labels(job, "y", y, 34);
  if (status == GNN_OK) status = gnn_job_set_split(job, GNN_TRAIN, train, 4);
  if (status == GNN_OK) status = gnn_job_set_split(job, GNN_VALID, valid, 10);
  tap_ok(status == GNN_OK && gnn_job_epoch(job, &result) == GNN_OK && result.count == 4 && result.loss > 0 && isnan(result.metric), "job: an epoch");
  status = gnn_job_train(job, 50, &best);
  tap_ok(status == GNN_OK && h.epochs == 50 && best.count == 10 && gnn_job_eval(job, GNN_VALID, &result) == GNN_OK && result.metric == best.metric,
         "job: train leaves the best epoch's weights");
  tap_ok(gnn_job_eval(job, GNN_TEST, &result) == GNN_EINVAL && gnn_job_eval(job, GNN_SPLIT_ALL, &result) == GNN_OK && result.count == 14, "job: a split that is not there");
  tap_ok(gnn_job_predict(job, scores, 34, 3) == GNN_EINVAL && gnn_job_predict(job, scores, 34, 4) == GNN_OK, "job: predict");

  gnn_job_create(&toy.program, NULL, &other);
  tap_ok(gnn_job_load(other, "/nowhere") == GNN_EIO && strstr(gnn_job_error(other), "/nowhere"), "job: a file that is not there");
  tap_ok(gnn_job_load(other, NULL) == GNN_EINVAL && strstr(gnn_job_error(other), "no path") && gnn_job_save(job, NULL) == GNN_EINVAL && gnn_job_restore(job, NULL) == GNN_EINVAL &&
           gnn_job_weight(job, NULL, NULL, NULL, NULL) == GNN_EINVAL && gnn_job_weight_dlpack(job, "conv", NULL) == GNN_EINVAL,
         "job: no path, no name, no place for a tensor");
  const gnn_status without[] = {gnn_job_load(NULL, "karate"), gnn_job_set_edges(NULL, src, dst, 156), gnn_job_set_field(NULL, "x", x, 34, 34), gnn_job_set_labels(NULL, "y", y, 34), gnn_job_set_split(NULL, GNN_TRAIN, train, 4),
                                gnn_job_reset(NULL, 1), gnn_job_epoch(NULL, &result), gnn_job_train(NULL, 1, &best), gnn_job_eval(NULL, GNN_VALID, &result), gnn_job_predict(NULL, scores, 34, 4),
                                gnn_job_weight(NULL, "conv", NULL, NULL, NULL), gnn_job_save(NULL, "x"), gnn_job_restore(NULL, "x"), gnn_job_weight_dlpack(NULL, "conv", NULL)};
  int refusals = 0;
  for (size_t i = 0; i < sizeof without / sizeof *without; i++) refusals += without[i] == GNN_EINVAL;
  tap_ok(refusals == (int)(sizeof without / sizeof *without), "job: none: %d calls are refused", refusals);
  gnn_status saved = gnn_job_save(job, tap_path("job.safetensors"));
  if (saved == GNN_OK) saved = gnn_job_load(other, "karate");
  if (saved == GNN_OK) saved = gnn_job_restore(other, tap_path("job.safetensors"));
  tap_ok(saved == GNN_OK && gnn_job_predict(other, again, 34, 4) == GNN_OK && memcmp(scores, again, sizeof scores) == 0,
         "job: two at once, saved by one and restored by the other, the same scores");
  h.stop_at = 3;
  gnn_job_reset(job, 1);
  tap_ok(gnn_job_train(job, 50, NULL) == GNN_ECANCELLED, "job: the callback stops it");
  float *data;
  const int64_t *shape;
  int rank;
  tap_ok(gnn_job_weight(job, "lin.weight", &data, &shape, &rank) == GNN_OK && rank == 2 && shape[1] == 34 && gnn_job_weight(job, "nope", &data, &shape, &rank) == GNN_EINVAL,
         "job: weights by name");
  tap_ok(gnn_job_set_field(job, "z", x, 34, 34) == GNN_EINVAL && gnn_job_set_split(job, 7, train, 4) == GNN_EINVAL, "job: wrong arguments");
  struct DLManagedTensorVersioned *tensor;
  status = gnn_job_weight_dlpack(job, "lin.weight", &tensor);
  dl_view view;
  memcpy(&view, tensor, sizeof view);
  float kept = data[7];
  gnn_job_destroy(job);
  int is_alive = h.released == 0 && view.data[7] == kept;
  tap_ok(status == GNN_OK && view.version[0] == 1 && view.rank == 2 && view.shape[0] == 4 && view.strides[0] == 34 && view.strides[1] == 1 &&
         view.code == 2 && view.bits == 32 && view.lanes == 1 && view.device[0] == 1 && is_alive, "job: a DLPack tensor outlives its job");
  view.deleter(tensor);
  tap_ok(h.released == h.taken, "job: and gives the arena back in the end");
  gnn_job_destroy(other);
  gnn_job_destroy(NULL);
  gnn_option_desc described[2] = {toy.options[0], toy.options[1]};
  gnn_program picky = toy.program;
  picky.options = described;
  described[1].is_probability = 1;
  gnn_text why = {0};
  const gnn_option_desc decay = {"wd", "", 0, 0, "weight_decay", 0, 1e6}, beta = {"b", "", 0, 0, "beta1", 0, 0.99999994}, any = {"any", "", 0, 0, NULL, 0, 0};
  tap_ok(gnn_option_is_wrong(&decay, -1, &why) && gnn_option_is_wrong(&beta, 1, &why) && strcmp(why.data, "is weight_decay: -1 is below 0is beta1: 1 is not below 1") == 0 && !gnn_option_is_wrong(&beta, 0, &why) &&
         !gnn_option_is_wrong(&decay, 1e6, &why) && gnn_option_is_wrong(&decay, (double)NAN, &why) && !gnn_option_is_wrong(&any, -1, &why), "options: are held against the bounds of what they are used for");
  gnn_text_free(&why);
  int refused = 0;
  for (int k = 0; k < 3; k++) {
    values[1] = k == 0 ? 1.5 : k == 1 ? -0.1 : (double)NAN;
    refused += gnn_job_create(&picky, &options, &job) == GNN_EINVAL && strstr(gnn_job_error(job), "drop is a probability");
    gnn_job_destroy(job);
  }
  values[1] = 1;
  status = gnn_job_create(&picky, &options, &job);
  gnn_job_destroy(job);
  tap_ok(refused == 3 && status == GNN_OK, "job: a probability lies in 0 ... 1");
  options.struct_size = 3;
  status = gnn_job_create(&toy.program, &options, &job);
  tap_ok(status == GNN_EVERSION && gnn_job_error(job)[0], "job: options of another version");
  gnn_job_destroy(job);
  gnn_dataset_close(d);
}

static void test_subgraph(void) {
  gnn_dataset *d = prepared(GNN_SYNTH_RMAT, 2000, 1), *part = NULL;
  gnn_error error;
  gnn_status status = gnn_subgraph(d, 100, &part, &error);
  tap_ok(status == GNN_OK && part->nodes == 100 && part->edges > 0 && part->is_symmetric && part->split_count[0] >= 25, "subgraph: a hundred nodes with edges and labels");
  gnn_dataset_close(part);
  status = gnn_subgraph(d, 100000, &part, &error);
  tap_ok(status == GNN_OK && part->nodes <= d->nodes && part->edges <= d->edges, "subgraph: more than there are");
  gnn_dataset_close(part);
  gnn_dataset_close(d);
}

int main(void) {
  test_graph();
  test_hubs();
  test_misfits();
  test_arenas_grow_side_by_side();
  test_metrics();
  test_checkpoints();
  test_forged_checkpoints();
  test_changed_data();
  test_thick_data();
  test_weights();
  test_subgraph();
  test_job();
  if (tap_remove_folder() != 0) return 99;
  return tap_done();
}
