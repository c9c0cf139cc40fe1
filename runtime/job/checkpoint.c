/* checkpoint.c: weights and checkpoints. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "runtime/base/checked.h"
#include "runtime/core/device.h"
#include "runtime/core/ranks.h"
#include "runtime/core/weights.h"
#include "runtime/data/npz.h"
#include "runtime/data/safetensors.h"

enum { CHECKPOINT_COUNTS = 8, CHECKPOINT_NUMBERS = 2 + 3 * GNN_SPLIT_COUNT, CHECKPOINT_NAME_MAX = 320 };
enum { CHECKPOINT_PLATEAU = 3, CHECKPOINT_POINT = sizeof(gnn_curve_point) / sizeof(double) };
enum { CHECKPOINT_COUNTS_ONCE = 7 }; /* without accepted_data, which is 0 there */

/* ---- snapshots ---- */

static int64_t checkpoint_weight_bytes(const gnn_program *program) {
  int64_t count = 0;
  for (int w = 0; w < program->weight_count; w++)
    if (!gnn_weight_is_away(&program->weights[w])) count += program->weights[w].count;
  return count * program->real_bytes;
}

gnn_status gnn_snapshot_create(const gnn_program *program, gnn_snapshot *snapshot, gnn_error *error) {
  snapshot->bytes = checkpoint_weight_bytes(program);
  snapshot->is_filled = 0;
  snapshot->data = malloc(snapshot->bytes ? (size_t)snapshot->bytes : 1);
  return snapshot->data ? GNN_OK : gnn_fail_memory(error, snapshot->bytes);
}

void gnn_snapshot_destroy(gnn_snapshot *snapshot) {
  free(snapshot->data);
  memset(snapshot, 0, sizeof *snapshot);
}

/* Weights to their copies, or back. */
static gnn_status snapshot_move(gnn_instance *instance, unsigned char *data, int is_put, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  gnn_status status = GNN_OK;
  for (int w = 0; w < program->weight_count && status == GNN_OK; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    if (gnn_weight_is_away(weight)) {
      status = is_put ? gnn_weight_copy(instance, weight, GNN_WEIGHT_BEST, GNN_WEIGHT_ITSELF, error) : gnn_weight_copy(instance, weight, GNN_WEIGHT_ITSELF, GNN_WEIGHT_BEST, error);
      continue;
    }
    status = is_put ? gnn_weight_put(instance, weight, GNN_WEIGHT_ITSELF, data, error) : gnn_weight_take(instance, weight, GNN_WEIGHT_ITSELF, data, error);
    data += weight->count * program->real_bytes;
  }
  return status;
}

gnn_status gnn_snapshot_take(gnn_snapshot *snapshot, gnn_instance *instance, gnn_error *error) {
  gnn_status status = gnn_download_weights(instance, 0, error);
  if (status != GNN_OK) return status;
  status = snapshot_move(instance, snapshot->data, 0, error);
  snapshot->is_filled = status == GNN_OK;
  return status;
}

gnn_status gnn_snapshot_put(const gnn_snapshot *snapshot, gnn_instance *instance, gnn_error *error) {
  const gnn_status status = snapshot_move(instance, snapshot->data, 1, error);
  return status == GNN_OK ? gnn_upload_weights(instance, 0, error) : status;
}

/* ---- the list of tensors of a file ---- */

/* Numbers that are read from the scratch file, or from the device, as they are written. */
typedef struct checkpoint_away {
  const gnn_instance *instance;
  const gnn_weight_desc *weight;
  int state;
} checkpoint_away;

typedef struct checkpoint_list {
  gnn_tensor *tensors;
  char (*names)[CHECKPOINT_NAME_MAX];
  checkpoint_away *away; /* per tensor */
  int count;
} checkpoint_list;

static gnn_status checkpoint_list_create(checkpoint_list *list, int room, gnn_error *error) {
  list->count = 0;
  list->tensors = calloc((size_t)room + 1, sizeof *list->tensors);
  list->names = calloc((size_t)room + 1, sizeof *list->names);
  list->away = calloc((size_t)room + 1, sizeof *list->away);
  if (list->tensors && list->names && list->away) return GNN_OK;
  free(list->tensors);
  free(list->names);
  free(list->away);
  return gnn_fail_memory(error, room * (int64_t)sizeof *list->names);
}

static void checkpoint_list_destroy(checkpoint_list *list) {
  free(list->tensors);
  free(list->names);
  free(list->away);
}

static void checkpoint_list_add(checkpoint_list *list, const char *prefix, const gnn_weight_desc *weight,
                                gnn_dtype dtype, const void *data) {
  gnn_tensor *tensor = &list->tensors[list->count];
  snprintf(list->names[list->count], CHECKPOINT_NAME_MAX, "%s%s", prefix, weight->name);
  tensor->name = list->names[list->count++];
  tensor->array = (gnn_array){.dtype = dtype, .rank = weight->rank, .count = weight->count, .data = data};
  for (int i = 0; i < weight->rank; i++) tensor->array.shape[i] = weight->shape[i];
}

typedef struct checkpoint_giving {
  gnn_tensor_sink *sink;
  void *to;
  int real_bytes;
} checkpoint_giving;

static gnn_status checkpoint_give_numbers(void *context, void *numbers, int64_t first, int64_t count) {
  const checkpoint_giving *giving = context;
  (void)first;
  giving->sink(giving->to, numbers, (size_t)(count * giving->real_bytes));
  return GNN_OK;
}

static gnn_status checkpoint_give(const void *user, gnn_tensor_sink *sink, void *to, gnn_error *error) {
  const checkpoint_away *away = user;
  checkpoint_giving giving = {sink, to, away->instance->run.program->real_bytes};
  return gnn_weight_walk(away->instance, away->weight, away->state, GNN_WEIGHT_READ, checkpoint_give_numbers, &giving, error);
}

/* data NULL: they are not in memory side by side. */
static void checkpoint_list_numbers(checkpoint_list *list, const char *prefix, const gnn_instance *instance, const gnn_weight_desc *weight, int state, gnn_dtype dtype, const void *data) {
  const int index = list->count;
  checkpoint_list_add(list, prefix, weight, dtype, data);
  if (data) return;
  list->away[index] = (checkpoint_away){instance, weight, state};
  list->tensors[index].give = checkpoint_give;
  list->tensors[index].user = &list->away[index];
}

/* A weight, one of its states, or its best numbers, where it is at home. */
static void checkpoint_list_weight(checkpoint_list *list, const char *prefix, const gnn_instance *instance, const gnn_weight_desc *weight, int state, gnn_dtype dtype) {
  const void *gathered = gnn_weight_gathered(instance, weight, state);
  checkpoint_list_numbers(list, prefix, instance, weight, state, dtype, gathered ? gathered : gnn_weight_at(instance, weight, state));
}

static void checkpoint_list_vector(checkpoint_list *list, const char *name, gnn_dtype dtype, int64_t count,
                                   const void *data) {
  gnn_tensor *tensor = &list->tensors[list->count];
  snprintf(list->names[list->count], CHECKPOINT_NAME_MAX, "%s", name);
  tensor->name = list->names[list->count++];
  tensor->array = (gnn_array){.dtype = dtype, .rank = 1, .shape = {count}, .count = count, .data = data};
}

static gnn_dtype checkpoint_dtype(const gnn_program *program) { return program->real_bytes == 4 ? GNN_F32 : GNN_F64; }

/* What must agree for training to go on from a file: the plan may be another. */
static const char *checkpoint_identity(const gnn_program *program) {
  return program->model_fingerprint ? program->model_fingerprint : program->fingerprint;
}

/* The best numbers of a weight, *from those of this and the weights after it that are on the device. */
static void checkpoint_list_best(checkpoint_list *list, const char *prefix, const gnn_instance *instance, const gnn_weight_desc *weight, const unsigned char **from) {
  const gnn_dtype dtype = checkpoint_dtype(instance->run.program);
  if (gnn_weight_is_away(weight)) {
    checkpoint_list_weight(list, prefix, instance, weight, GNN_WEIGHT_BEST, dtype);
    return;
  }
  checkpoint_list_add(list, prefix, weight, dtype, *from);
  *from += weight->count * instance->run.program->real_bytes;
}

gnn_status gnn_checkpoint_gather(gnn_instance *instance, const gnn_snapshot *best, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  if (instance->run.ranks == NULL) return GNN_OK;
  unsigned char *from = best && best->is_filled ? best->data : NULL;
  for (int w = 0; from && w < program->weight_count; w++) {
    if (program->weights[w].has_own_rows) gnn_weight_gather_copy(instance, &program->weights[w], from);
    from += program->weights[w].count * program->real_bytes;
  }
  const gnn_status status = gnn_download_weights(instance, 1, error);
  return status == GNN_OK ? gnn_weights_gather(instance, error) : status;
}

gnn_status gnn_weights_save(const gnn_instance *instance, const gnn_snapshot *snapshot, const char *path,
                            gnn_error *error) {
  const gnn_program *program = instance->run.program;
  checkpoint_list list;
  gnn_status status = snapshot ? GNN_OK : gnn_download_weights(instance, 0, error);
  if (status == GNN_OK) status = checkpoint_list_create(&list, program->weight_count, error);
  if (status != GNN_OK) return status;
  const unsigned char *from = snapshot ? snapshot->data : NULL;
  for (int w = 0; w < program->weight_count; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    if (snapshot) checkpoint_list_best(&list, "", instance, weight, &from);
    else checkpoint_list_weight(&list, "", instance, weight, GNN_WEIGHT_ITSELF, checkpoint_dtype(program));
  }
  gnn_pair pairs[] = {{"format", "pt"}, {"gnncc.model", program->name}, {"gnncc.fingerprint", checkpoint_identity(program)}, {"gnncc.approximation", instance->approximation}};
  status = gnn_safetensors_write(path, list.tensors, list.count, pairs, instance->approximation ? 4 : 3, error);
  checkpoint_list_destroy(&list);
  return status;
}

/* The gradient of a weight of which a rank has its own rows, with those of the others; malloc'ed. */
static gnn_status checkpoint_gather_gradient(gnn_instance *instance, const gnn_weight_desc *weight, void **all, gnn_error *error) {
  const int64_t real_bytes = instance->run.program->real_bytes;
  *all = malloc((size_t)(weight->count * real_bytes) + 1);
  if (*all == NULL) return gnn_fail_memory(error, weight->count * real_bytes);
  const gnn_status status = gnn_weight_take(instance, weight, GNN_WEIGHT_GRADIENT, *all, error);
  if (status == GNN_OK) gnn_weight_gather_copy(instance, weight, *all);
  return status;
}

gnn_status gnn_gradients_save(gnn_instance *instance, const char *path, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  checkpoint_list list;
  char loss[32];
  gnn_status status = checkpoint_list_create(&list, program->weight_count, error);
  if (status != GNN_OK) return status;
  void **gathered = calloc((size_t)program->weight_count + 1, sizeof *gathered);
  if (gathered == NULL) status = gnn_fail_memory(error, program->weight_count * (int64_t)sizeof *gathered);
  for (int w = 0; w < program->weight_count && status == GNN_OK; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    if (!gnn_weight_has_gradient(weight)) continue;
    if (weight->has_own_rows) status = checkpoint_gather_gradient(instance, weight, &gathered[w], error);
    checkpoint_list_numbers(&list, "", instance, weight, GNN_WEIGHT_GRADIENT, checkpoint_dtype(program), gathered[w]);
  }
  snprintf(loss, sizeof loss, "%.17g", instance->run.loss);
  gnn_pair pairs[] = {{"format", "pt"}, {"gnncc.model", program->name}, {"gnncc.fingerprint", checkpoint_identity(program)}, {"gnncc.loss", loss}};
  if (status == GNN_OK && gnn_ranks_is_first(instance->run.ranks)) status = gnn_safetensors_write(path, list.tensors, list.count, pairs, 4, error);
  for (int w = 0; gathered && w < program->weight_count; w++) free(gathered[w]);
  free(gathered);
  checkpoint_list_destroy(&list);
  return status;
}

/* ---- loading by name ---- */

static int checkpoint_shapes_agree(const gnn_weight_desc *weight, const gnn_array *array) {
  int i = 0, j = 0;
  for (;;) {
    while (i < weight->rank && weight->shape[i] == 1) i++;
    while (j < array->rank && array->shape[j] == 1) j++;
    if (i == weight->rank || j == array->rank) return i == weight->rank && j == array->rank;
    if (weight->shape[i++] != array->shape[j++]) return 0;
  }
}

static int checkpoint_is_extra(const char *name) {
  return strncmp(name, "opt.", 4) == 0 || strncmp(name, "best.", 5) == 0 || strncmp(name, "state.", 6) == 0;
}

/* What modules of PyTorch keep beside their weights, and nothing here goes by. */
static int checkpoint_is_needless(const char *name) {
  static const char *const endings[] = {".num_batches_tracked", ".avg_deg_lin", ".avg_deg_log"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    const size_t length = strlen(name), ending = strlen(endings[i]);
    if (length >= ending && strcmp(name + length - ending, endings[i]) == 0) return 1;
  }
  return 0;
}

static gnn_short_text checkpoint_shape(const gnn_weight_desc *weight) {
  gnn_array array = {.rank = weight->rank};
  for (int i = 0; i < weight->rank; i++) array.shape[i] = weight->shape[i];
  return gnn_shape_text(&array);
}

/* Two columns: the weights of the program, and what the file has for them. */
static gnn_status checkpoint_mismatch(const gnn_program *program, const gnn_safetensors *file, const char *path,
                                      int is_checkpoint, gnn_error *error) {
  gnn_text table = {0};
  int lines = 0, wrong = 0;
  for (int w = 0; w < program->weight_count; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    const gnn_array *array = gnn_safetensors_find(file, weight->name);
    if (array && gnn_dtype_is_float(array->dtype) && checkpoint_shapes_agree(weight, array)) continue;
    wrong++;
    if (lines++ < 8)
      gnn_text_format(&table, "\n  %-32.60s %-16s  %s%s", weight->name, checkpoint_shape(weight).text,
                      array ? gnn_shape_text(array).text : "-",
                      array && !gnn_dtype_is_float(array->dtype) ? gnn_dtype_name(array->dtype) : "");
  }
  for (int t = 0; t < file->tensor_count; t++) {
    const char *name = file->tensors[t].name;
    int is_known = checkpoint_is_needless(name) || (is_checkpoint && checkpoint_is_extra(name));
    for (int w = 0; w < program->weight_count; w++) is_known |= strcmp(name, program->weights[w].name) == 0;
    if (is_known) continue;
    wrong++;
    if (lines++ < 8)
      gnn_text_format(&table, "\n  %-32.60s %-16s  %s", name, "-", gnn_shape_text(&file->tensors[t].array).text);
  }
  if (lines > 8) gnn_text_format(&table, "\n  ... %d more", lines - 8);
  gnn_status status = GNN_OK;
  if (table.is_broken) status = gnn_fail_memory(error, 1024);
  else if (wrong)
    status = gnn_fail(error, GNN_EDATA, "R0804", "\"%.200s\" does not fit the model\n  %-32s %-16s  %s%s", path, "weight",
                      "program", "file", table.data);
  gnn_text_free(&table);
  return status;
}

typedef struct checkpoint_source {
  const gnn_array *array;
  int real_bytes;
} checkpoint_source;

static gnn_status checkpoint_copy_numbers(void *context, void *numbers, int64_t first, int64_t count) {
  const checkpoint_source *from = context;
  if (from->real_bytes == 4) gnn_array_floats(from->array, first, count, numbers);
  else for (int64_t i = 0; i < count; i++) ((double *)numbers)[i] = gnn_array_number(from->array, first + i);
  return GNN_OK;
}

static gnn_status checkpoint_load(const gnn_instance *instance, const gnn_weight_desc *weight, int state, const gnn_array *array, gnn_error *error) {
  checkpoint_source from = {array, instance->run.program->real_bytes};
  return gnn_weight_walk(instance, weight, state, GNN_WEIGHT_FILL, checkpoint_copy_numbers, &from, error);
}

/* unpacked: NULL, or what owns the arrays of a .npz file, to be closed after the file. A damaged file is one that cannot be read. */
static gnn_status checkpoint_open(const char *path, gnn_dataset *unpacked, gnn_safetensors *file, gnn_error *error) {
  gnn_error why;
  char left_out[GNN_NPZ_LEFT_OUT_ROOM] = "";
  gnn_status status = unpacked ? gnn_npz_open(unpacked, path, file, left_out, &why) : gnn_safetensors_open(path, file, &why);
  if (status == GNN_EDATA) return gnn_fail(error, GNN_EIO, "R0806", "%s", why.message);
  if (status != GNN_OK && error) *error = why;
  return status;
}

/* What is loaded has to be finite as numbers of the program; the state of the loop may hold NaN. */
static gnn_status checkpoint_check_finite(const gnn_instance *instance, const gnn_safetensors *file, const char *path, int is_whole,
                                          gnn_error *error) {
  const int real_bytes = instance->run.program->real_bytes;
  for (int t = 0; t < file->tensor_count && !instance->continues_after_nan; t++) {
    const char *name = file->tensors[t].name;
    const gnn_array *array = &file->tensors[t].array;
    int64_t bad = 0, first = 0;
    if (is_whole ? strncmp(name, "state.", 6) == 0 : checkpoint_is_extra(name)) continue;
    for (int64_t i = array->count - 1; i >= 0; i--) {
      const double number = gnn_array_number(array, i);
      if (real_bytes == 4 ? isfinite((float)number) : isfinite(number)) continue;
      bad++;
      first = i;
    }
    if (bad == 0) continue;
    gnn_status status = gnn_fail(error, GNN_ENUMERIC, "R0808", "\"%.200s\": %s of the %s numbers of %s %s not finite, the first of them at %lld", path,
                                 gnn_count_text(bad).text, gnn_count_text(array->count).text, name, bad == 1 ? "is" : "are", (long long)first);
    gnn_fail_help(error, "--nan=continue takes them as they are");
    return status;
  }
  return GNN_OK;
}

/* Ranks have loaded the same file: all numbers of it, whichever of them a rank keeps. */
static gnn_status checkpoint_is_of_all(const gnn_instance *instance, const gnn_safetensors *file, const char *what, gnn_error *error) {
  uLong sum = 0;
  if (instance->run.ranks == NULL) return GNN_OK;
  for (int t = 0; t < file->tensor_count; t++) sum = crc32_z(sum, file->tensors[t].array.data, (size_t)(file->tensors[t].array.count * gnn_dtype_bytes(file->tensors[t].array.dtype)));
  return gnn_ranks_are_alike(instance->run.ranks, &(gnn_alike){"", what, (int64_t)sum}, 1, "all ranks read the same files: a folder that all machines share", error);
}

static gnn_status checkpoint_load_weights(gnn_instance *instance, const gnn_safetensors *file, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  gnn_status status = GNN_OK;
  for (int w = 0; w < program->weight_count && status == GNN_OK; w++)
    status = checkpoint_load(instance, &program->weights[w], GNN_WEIGHT_ITSELF, gnn_safetensors_find(file, program->weights[w].name), error);
  return status == GNN_OK ? gnn_upload_weights(instance, 0, error) : status;
}

typedef struct checkpoint_said {
  char text[256];
} checkpoint_said;

/* What the file says that was approximate, as one line; "": nothing. */
static const char *checkpoint_approximation(const gnn_safetensors *file, checkpoint_said *text) {
  const char *said = gnn_safetensors_text(file, "gnncc.approximation");
  snprintf(text->text, sizeof text->text, "%s", said ? said : "");
  for (char *byte = text->text; *byte; byte++)
    if ((unsigned char)*byte < ' ' || *byte == 127) *byte = '?';
  return text->text;
}

/* What was approximate once stays named, before what is approximate now. */
static void checkpoint_take_approximation(gnn_instance *instance, const gnn_safetensors *file) {
  const char *own = instance->run.ranks ? instance->run.program->approximation : NULL;
  checkpoint_said text;
  const char *before = checkpoint_approximation(file, &text);
  instance->approximation = own;
  if (!*before) return;
  const int has_own = own == NULL || strstr(before, own) != NULL;
  snprintf(instance->approximation_text, sizeof instance->approximation_text, "%s%s%s", before, has_own ? "" : ", then ", has_own ? "" : own);
  instance->approximation = instance->approximation_text;
}

static int is_npz(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && strcmp(dot, ".npz") == 0;
}

gnn_status gnn_weights_load(gnn_instance *instance, const char *path, gnn_error *error) {
  gnn_safetensors file;
  const int is_packed = is_npz(path);
  gnn_dataset *unpacked = is_packed ? gnn_dataset_new(path) : NULL;
  if (is_packed && unpacked == NULL) return gnn_fail_memory(error, (int64_t)sizeof *unpacked);
  gnn_status status = checkpoint_open(path, unpacked, &file, error);
  if (status != GNN_OK) {
    gnn_dataset_close(unpacked);
    return status;
  }
  status = checkpoint_mismatch(instance->run.program, &file, path, gnn_safetensors_find(&file, "state.counts") != NULL, error);
  if (status == GNN_OK) status = checkpoint_check_finite(instance, &file, path, 0, error);
  if (status == GNN_OK) status = checkpoint_load_weights(instance, &file, error);
  if (status == GNN_OK) status = checkpoint_is_of_all(instance, &file, "other weights", error);
  status = gnn_file_check(&file.file, status, error);
  if (status == GNN_OK) checkpoint_take_approximation(instance, &file);
  gnn_safetensors_close(&file);
  gnn_dataset_close(unpacked);
  return status;
}

/* ---- checkpoints ---- */

static const char *checkpoint_state_prefix(const gnn_program *program, const gnn_weight_desc *weight, int state) {
  if (program->state_names[state]) return program->state_names[state];
  if (weight->state_count == 1) return "opt.sgd.momentum.";
  return state == 0 ? "opt.adam.m." : "opt.adam.v.";
}

/* Metrics beside the first one, of every split. */
static int64_t checkpoint_further(const gnn_program *program) { return (int64_t)GNN_SPLIT_COUNT * (program->metric_count - 1); }

gnn_status gnn_checkpoint_save(const gnn_instance *instance, const gnn_snapshot *best, const gnn_progress *progress,
                               const char *path, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  const gnn_keeper *keeper = &progress->keeper;
  gnn_dtype dtype = checkpoint_dtype(program);
  checkpoint_list list;
  gnn_status status = gnn_download_weights(instance, 1, error);
  int room = 7; /* vectors */
  for (int w = 0; w < program->weight_count; w++) room += 2 + program->weights[w].state_count; /* itself, and its best */
  if (status == GNN_OK) status = checkpoint_list_create(&list, room, error);
  if (status != GNN_OK) return status;
  const unsigned char *from = best && best->is_filled ? best->data : NULL;
  for (int w = 0; w < program->weight_count; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    checkpoint_list_weight(&list, "", instance, weight, GNN_WEIGHT_ITSELF, dtype);
    for (int s = 0; s < weight->state_count; s++) checkpoint_list_weight(&list, checkpoint_state_prefix(program, weight, s), instance, weight, s, dtype);
    if (from) checkpoint_list_best(&list, "best.", instance, weight, &from);
  }
  int64_t counts[CHECKPOINT_COUNTS] = {progress->run_index, instance->run.epoch, (int64_t)progress->seed,
                                       keeper->best_epoch, keeper->stop_waits, progress->finished_count,
                                       best && best->is_filled, progress->accepted_data};
  double numbers[CHECKPOINT_NUMBERS] = {keeper->best_value, keeper->stop_value};
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    numbers[2 + 3 * s] = keeper->best[s].loss;
    numbers[3 + 3 * s] = keeper->best[s].metric[0];
    numbers[4 + 3 * s] = (double)keeper->best[s].count;
  }
  checkpoint_list_vector(&list, "state.data", GNN_I64, GNN_CONTENT_COUNT, instance->contents);
  checkpoint_list_vector(&list, "state.counts", GNN_I64, CHECKPOINT_COUNTS, counts);
  checkpoint_list_vector(&list, "state.numbers", GNN_F64, CHECKPOINT_NUMBERS, numbers);
  checkpoint_list_vector(&list, "state.finished", GNN_F64, progress->finished_count * GNN_SPLIT_COUNT,
                         progress->finished ? (const void *)progress->finished : (const void *)numbers);
  double metrics[GNN_SPLIT_COUNT * GNN_METRIC_MAX];
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    for (int i = 1; i < program->metric_count; i++) metrics[s * (program->metric_count - 1) + i - 1] = keeper->best[s].metric[i];
  if (program->metric_count > 1) checkpoint_list_vector(&list, "state.metrics", GNN_F64, checkpoint_further(program), metrics);
  const double plateau[CHECKPOINT_PLATEAU] = {keeper->plateau_value, (double)keeper->plateau_waits, (double)keeper->reductions};
  if (program->has_plateau) checkpoint_list_vector(&list, "state.plateau", GNN_F64, CHECKPOINT_PLATEAU, plateau);
  if (program->reports_folds)
    checkpoint_list_vector(&list, "state.folds", GNN_F64, progress->point_count * CHECKPOINT_POINT, progress->points ? (const void *)progress->points : (const void *)numbers);
  gnn_pair pairs[] = {{"format", "pt"}, {"gnncc.model", program->name}, {"gnncc.fingerprint", checkpoint_identity(program)}, {"gnncc.approximation", instance->approximation}};
  status = gnn_safetensors_write(path, list.tensors, list.count, pairs, instance->approximation ? 4 : 3, error);
  checkpoint_list_destroy(&list);
  return status;
}

/* What a checkpoint holds beside weights. */
typedef struct checkpoint_state {
  const gnn_array *data, *counts, *numbers, *finished, *plateau, *metrics, *points; /* NULL: the program has none */
} checkpoint_state;

static int checkpoint_is_vector(const gnn_array *array, gnn_dtype dtype, int64_t count) { return array->dtype == dtype && array->count == count; }

static int64_t checkpoint_accepted_data(const checkpoint_state *state) {
  return state->counts->count < CHECKPOINT_COUNTS ? 0 : gnn_array_integer(state->counts, 7);
}

/* Counts are used to index and to count on: they have to be such as gnn_checkpoint_save stores. */
static int checkpoint_counts_are_sound(const checkpoint_state *state) {
  const int64_t run_index = gnn_array_integer(state->counts, 0), epoch = gnn_array_integer(state->counts, 1);
  const int64_t best_epoch = gnn_array_integer(state->counts, 3), stop_waits = gnn_array_integer(state->counts, 4);
  const int64_t finished = gnn_array_integer(state->counts, 5), accepted_data = checkpoint_accepted_data(state);
  int64_t entries;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    const double rows = gnn_array_number(state->numbers, 4 + 3 * s);
    if (!(rows >= 0 && rows <= INT32_MAX)) return 0;
  }
  return run_index >= 0 && epoch >= 0 && epoch < INT64_MAX && best_epoch >= -1 && best_epoch <= epoch && stop_waits >= -1 && stop_waits <= epoch &&
         finished == run_index && finished < GNN_FINISHED_MAX && gnn_multiply_fits(finished, GNN_SPLIT_COUNT, &entries) &&
         checkpoint_is_vector(state->finished, GNN_F64, entries) && accepted_data >= 0 && accepted_data < 1 << GNN_CONTENT_COUNT;
}

/* The tensors a checkpoint of this program must have beside the weights. */
static gnn_status checkpoint_check(const gnn_program *program, const gnn_safetensors *file, const char *path, checkpoint_state *state,
                                   gnn_error *error) {
  *state = (checkpoint_state){gnn_safetensors_find(file, "state.data"), gnn_safetensors_find(file, "state.counts"),
                              gnn_safetensors_find(file, "state.numbers"), gnn_safetensors_find(file, "state.finished"),
                              program->has_plateau ? gnn_safetensors_find(file, "state.plateau") : NULL,
                              program->metric_count > 1 ? gnn_safetensors_find(file, "state.metrics") : NULL,
                              program->reports_folds ? gnn_safetensors_find(file, "state.folds") : NULL};
  if (!state->counts || !state->numbers || !state->finished) {
    gnn_status status = gnn_fail(error, GNN_EDATA, "R0804", "\"%s\" holds no checkpoint", path);
    gnn_fail_help(error, "if it holds weights: --weights %s", path);
    return status;
  }
  if (!file->has_sums || !state->data || !checkpoint_is_vector(state->data, GNN_I64, GNN_CONTENT_COUNT) ||
      !(checkpoint_is_vector(state->counts, GNN_I64, CHECKPOINT_COUNTS) || checkpoint_is_vector(state->counts, GNN_I64, CHECKPOINT_COUNTS_ONCE)) ||
      !checkpoint_is_vector(state->numbers, GNN_F64, CHECKPOINT_NUMBERS))
    return gnn_fail(error, GNN_EDATA, "R0804", "\"%s\" is a checkpoint of another version of gnncc", path);
  if (!checkpoint_counts_are_sound(state))
    return gnn_fail(error, GNN_EIO, "R0806", "\"%s\" is a damaged checkpoint: its counts of runs and epochs cannot be", path);
  const char *fingerprint = gnn_safetensors_text(file, "gnncc.fingerprint");
  if (fingerprint == NULL || strcmp(fingerprint, checkpoint_identity(program)) != 0) {
    const char *own = program->approximation;
    checkpoint_said text;
    const char *approximation = checkpoint_approximation(file, &text);
    const int is_of_other = *approximation && !(own && strstr(approximation, own));
    gnn_status status = is_of_other ? gnn_fail(error, GNN_EDATA, "R0804", "\"%s\" was made by another program, with %s; this one %s%s", path, approximation, own ? "has " : "is exact", own ? own : "")
                                    : gnn_fail(error, GNN_EDATA, "R0804", "\"%s\" was made by another program: its fingerprint is %.40s, this one's %s", path, fingerprint ? fingerprint : "missing", checkpoint_identity(program));
    gnn_fail_help(error, "to start from its weights only: --weights %s", path);
    return status;
  }
  if (program->has_plateau && (!state->plateau || !checkpoint_is_vector(state->plateau, GNN_F64, CHECKPOINT_PLATEAU) || !(gnn_array_number(state->plateau, 1) >= -1) ||
                               !(gnn_array_number(state->plateau, 1) <= INT32_MAX) || !(gnn_array_number(state->plateau, 2) >= 0) || !(gnn_array_number(state->plateau, 2) <= INT32_MAX)))
    return gnn_fail(error, GNN_EIO, "R0806", "\"%s\" is a damaged checkpoint: it does not say where the plateau of the learning rate is", path);
  if (program->metric_count > 1 && (!state->metrics || !checkpoint_is_vector(state->metrics, GNN_F64, checkpoint_further(program))))
    return gnn_fail(error, GNN_EIO, "R0806", "\"%s\" is a damaged checkpoint: it lacks what was measured at the best epoch", path);
  if (program->reports_folds && (!state->points || state->points->dtype != GNN_F64 || state->points->count % CHECKPOINT_POINT != 0))
    return gnn_fail(error, GNN_EIO, "R0806", "\"%s\" is a damaged checkpoint: it lacks the folds' test curves", path);
  char name[CHECKPOINT_NAME_MAX];
  for (int w = 0; w < program->weight_count; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    for (int s = 0; s <= weight->state_count; s++) {
      int is_best = s == weight->state_count;
      if (is_best && gnn_array_integer(state->counts, 6) == 0) continue;
      snprintf(name, sizeof name, "%s%s", is_best ? "best." : checkpoint_state_prefix(program, weight, s), weight->name);
      const gnn_array *array = gnn_safetensors_find(file, name);
      if (array == NULL || !gnn_dtype_is_float(array->dtype) || array->count != weight->count)
        return gnn_fail(error, GNN_EDATA, "R0804", "\"%s\" lacks %s", path, name);
    }
  }
  return GNN_OK;
}

/* Opens a checkpoint that this instance can go on from; else nothing stays open. */
static gnn_status checkpoint_open_own(const gnn_instance *instance, const char *path, gnn_safetensors *file, checkpoint_state *state,
                                      gnn_error *error) {
  const gnn_program *program = instance->run.program;
  gnn_status status = checkpoint_open(path, NULL, file, error);
  if (status != GNN_OK) return status;
  status = checkpoint_check(program, file, path, state, error);
  if (status == GNN_OK) status = checkpoint_mismatch(program, file, path, 1, error);
  if (status == GNN_OK) status = checkpoint_check_finite(instance, file, path, 1, error);
  status = gnn_file_check(&file->file, status, error);
  if (status != GNN_OK) gnn_safetensors_close(file);
  return status;
}

static void checkpoint_read_progress(const gnn_instance *instance, const checkpoint_state *state, gnn_progress *progress) {
  progress->run_index = gnn_array_integer(state->counts, 0);
  progress->seed = (uint64_t)gnn_array_integer(state->counts, 2);
  progress->finished_count = gnn_array_integer(state->counts, 5);
  progress->accepted_data = (unsigned)checkpoint_accepted_data(state);
  progress->changed_data = 0;
  for (int c = 0; c < GNN_CONTENT_COUNT; c++)
    if (gnn_array_integer(state->data, c) != instance->contents[c]) progress->changed_data |= 1u << c;
}

gnn_status gnn_checkpoint_inspect(const gnn_instance *instance, gnn_progress *progress, const char *path, gnn_error *error) {
  gnn_safetensors file;
  checkpoint_state state;
  gnn_status status = checkpoint_open_own(instance, path, &file, &state, error);
  if (status != GNN_OK) return status;
  checkpoint_read_progress(instance, &state, progress);
  status = gnn_file_check(&file.file, GNN_OK, error);
  gnn_safetensors_close(&file);
  return status;
}

gnn_status gnn_checkpoint_load(gnn_instance *instance, gnn_snapshot *best, gnn_progress *progress, const char *path,
                               gnn_error *error) {
  const gnn_program *program = instance->run.program;
  gnn_safetensors file;
  checkpoint_state state;
  gnn_status status = checkpoint_open_own(instance, path, &file, &state, error);
  if (status != GNN_OK) return status;
  status = gnn_file_check(&file.file, checkpoint_load_weights(instance, &file, error), error);
  if (status != GNN_OK) {
    gnn_safetensors_close(&file);
    return status;
  }
  const gnn_array *counts = state.counts, *numbers = state.numbers;
  checkpoint_read_progress(instance, &state, progress);
  checkpoint_take_approximation(instance, &file);
  char name[CHECKPOINT_NAME_MAX];
  unsigned char *to = best->data;
  best->is_filled = gnn_array_integer(counts, 6) != 0;
  for (int w = 0; w < program->weight_count; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    for (int s = 0; s < weight->state_count && status == GNN_OK; s++) {
      snprintf(name, sizeof name, "%s%s", checkpoint_state_prefix(program, weight, s), weight->name);
      status = checkpoint_load(instance, weight, s, gnn_safetensors_find(&file, name), error);
    }
    if (!best->is_filled) continue;
    snprintf(name, sizeof name, "best.%s", weight->name);
    const gnn_array *array = gnn_safetensors_find(&file, name);
    if (gnn_weight_is_away(weight)) {
      if (status == GNN_OK) status = checkpoint_load(instance, weight, GNN_WEIGHT_BEST, array, error);
      continue;
    }
    checkpoint_source source = {array, program->real_bytes};
    if (status == GNN_OK) status = checkpoint_copy_numbers(&source, to, 0, weight->count);
    to += weight->count * program->real_bytes;
  }
  gnn_keeper *keeper = &progress->keeper;
  instance->run.epoch = gnn_array_integer(counts, 1);
  keeper->best_epoch = gnn_array_integer(counts, 3);
  keeper->stop_waits = gnn_array_integer(counts, 4);
  instance->run.seed = progress->seed + (uint64_t)progress->run_index;
  if (state.plateau) {
    keeper->plateau_value = gnn_array_number(state.plateau, 0);
    keeper->plateau_waits = (int64_t)gnn_array_number(state.plateau, 1);
    keeper->reductions = (int64_t)gnn_array_number(state.plateau, 2);
  }
  instance->run.reductions = keeper->reductions;
  keeper->best_value = gnn_array_number(numbers, 0);
  keeper->stop_value = gnn_array_number(numbers, 1);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    keeper->best[s] = (gnn_result){.loss = gnn_array_number(numbers, 2 + 3 * s),
                                   .metric = {gnn_array_number(numbers, 3 + 3 * s)},
                                   .count = (int64_t)gnn_array_number(numbers, 4 + 3 * s)};
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    for (int i = 1; i < program->metric_count; i++)
      keeper->best[s].metric[i] = gnn_array_number(state.metrics, s * (program->metric_count - 1) + i - 1);
  for (int64_t r = 0; r < progress->finished_count; r++)
    for (int s = 0; s < GNN_SPLIT_COUNT; s++)
      progress->finished[r][s] = gnn_array_number(state.finished, r * GNN_SPLIT_COUNT + s);
  progress->point_count = 0;
  for (int64_t k = 0; state.points && k < state.points->count / CHECKPOINT_POINT && k < progress->point_room; k++)
    progress->points[progress->point_count++] = (gnn_curve_point){gnn_array_number(state.points, CHECKPOINT_POINT * k), gnn_array_number(state.points, CHECKPOINT_POINT * k + 1),
                                                                  gnn_array_number(state.points, CHECKPOINT_POINT * k + 2)};
  if (status == GNN_OK) status = checkpoint_is_of_all(instance, &file, "another checkpoint", error);
  status = gnn_file_check(&file.file, status, error);
  gnn_safetensors_close(&file);
  return status == GNN_OK ? gnn_upload_weights(instance, 1, error) : status;
}

/* ---- their files ---- */

char *gnn_checkpoint_path(const char *folder, int64_t run_index, int64_t epoch) {
  char name[80];
  snprintf(name, sizeof name, "checkpoint-r%lld-e%06lld.safetensors", (long long)run_index, (long long)epoch);
  return gnn_path_join(folder, name);
}

/* Only names as gnn_checkpoint_path makes them. */
static int checkpoint_parse_name(const char *name, int64_t *run_index, int64_t *epoch) {
  long long r, e;
  if (sscanf(name, "checkpoint-r%18lld-e%18lld.safetensors", &r, &e) != 2 || r < 0 || e < 0) return 0;
  char *own = gnn_checkpoint_path(NULL, r, e);
  int is_own = own && strcmp(own, name) == 0;
  free(own);
  *run_index = r;
  *epoch = e;
  return is_own;
}

/* Of the folder's checkpoints the furthest one before `limit`; NULL: none. */
static char *checkpoint_furthest(const char *folder, const int64_t limit[2]) {
  int64_t best[2] = {-1, -1}, key[2];
  DIR *handle = opendir(folder);
  if (handle == NULL) return NULL;
  const struct dirent *entry;
  while ((entry = readdir(handle)) != NULL) {
    if (!checkpoint_parse_name(entry->d_name, &key[0], &key[1])) continue;
    if (key[0] > limit[0] || (key[0] == limit[0] && key[1] >= limit[1])) continue;
    if (key[0] > best[0] || (key[0] == best[0] && key[1] > best[1])) memcpy(best, key, sizeof best);
  }
  closedir(handle);
  return best[0] < 0 ? NULL : gnn_checkpoint_path(folder, best[0], best[1]);
}

char *gnn_checkpoint_newest(const char *folder) { return checkpoint_furthest(folder, (const int64_t[2]){INT64_MAX, 0}); }

char *gnn_checkpoint_before(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
  int64_t key[2];
  char *before = folder && checkpoint_parse_name(slash ? slash + 1 : path, &key[0], &key[1]) ? checkpoint_furthest(folder, key) : NULL;
  free(folder);
  return before;
}

static int checkpoint_is_named(const char *path, const char *name) {
  if (path == NULL) return 0;
  const char *slash = strrchr(path, '/');
  return strcmp(slash ? slash + 1 : path, name) == 0;
}

/* A file that a process which is no more was writing: our name, our ending, a number that no process has. */
static int checkpoint_is_leftover(const char *name) {
  static const char *const own[] = {"best.safetensors", "last.safetensors", "run.json", "log.html"};
  char written[CHECKPOINT_NAME_MAX];
  int64_t key[2], process;
  const char *ending = strstr(name, ".tmp-");
  size_t length = ending ? (size_t)(ending - name) : sizeof written;
  if (length >= sizeof written) return 0;
  char *after;
  process = strtoll(ending + 5, &after, 10);
  if (*after != '-' || process <= 0 || process > INT32_MAX) return 0;
  memcpy(written, name, length);
  written[length] = 0;
  int is_own = checkpoint_parse_name(written, &key[0], &key[1]);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) is_own |= strcmp(written, own[i]) == 0;
  return is_own && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

void gnn_checkpoint_remove_leftovers(const char *folder) {
  DIR *handle = opendir(folder);
  if (handle == NULL) return;
  const struct dirent *entry;
  while ((entry = readdir(handle)) != NULL) {
    int is_gone = checkpoint_is_leftover(entry->d_name) && unlinkat(dirfd(handle), entry->d_name, 0) == 0;
    (void)is_gone;
  }
  closedir(handle);
}

/* Nothing depends on a removal: a checkpoint that stays is only in the way. */
void gnn_checkpoint_prune(const char *folder, const char *newest, const char *previous) {
  int64_t key[2];
  DIR *handle = opendir(folder);
  if (handle == NULL) return;
  const struct dirent *entry;
  while ((entry = readdir(handle)) != NULL) {
    if (!checkpoint_parse_name(entry->d_name, &key[0], &key[1])) continue;
    if (checkpoint_is_named(newest, entry->d_name) || checkpoint_is_named(previous, entry->d_name)) continue;
    int is_gone = unlinkat(dirfd(handle), entry->d_name, 0) == 0;
    (void)is_gone;
  }
  closedir(handle);
}
