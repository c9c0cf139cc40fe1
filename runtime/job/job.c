/* job.c: training inside a host program. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "job.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint.h"
#include "epoch.h"
#include "runtime/core/bad_value.h"
#include "runtime/core/builds.h"
#include "runtime/core/device.h"
#include "runtime/core/home.h"
#include "runtime/core/scores.h"
#include "runtime/core/weights.h"
#include "runtime/data/fill.h"

typedef struct job_borrowed {
  char name[64];
  const float *values;
  const int64_t *labels;
  int64_t rows, width;
} job_borrowed;

struct gnn_job {
  const gnn_program *program;
  gnn_job_options options;
  gnn_error error;
  gnn_instance *instance;
  gnn_snapshot best;
  gnn_keeper keeper;
  /* What the host lent. */
  const int64_t *src, *dst;
  int64_t edges;
  job_borrowed field[GNN_FIELD_MAX];
  int field_count;
  const int64_t *split_ids[GNN_SPLIT_COUNT];
  int64_t split_count[GNN_SPLIT_COUNT];
  gnn_dataset *dataset; /* that the program comes back to, or NULL */
  int is_changed;  /* something was set since the arena was filled */
  int is_file;     /* the data in the arena came from load */
  int has_lent;    /* weights; the host may write there between calls */
  float **lent;    /* per weight: a copy of one that is at home on the SSD, or NULL; NULL before any weight was lent */
  atomic_int uses; /* the host's handle and every DLPack tensor */
};

/* The layouts of dlpack.h, version 1.0 (https://github.com/dmlc/dlpack). */
typedef struct job_dl_tensor {
  void *data;
  struct { int32_t type, id; } device;
  int32_t rank;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} job_dl_tensor;

struct DLManagedTensorVersioned {
  struct { uint32_t major, minor; } version;
  void *manager;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  job_dl_tensor tensor;
};

enum { JOB_DL_CPU = 1, JOB_DL_FLOAT = 2 };

const char *gnn_status_text(gnn_status status) {
  switch (status) {
  case GNN_OK: return "success";
  case GNN_EINVAL: return "bad argument, or calls in the wrong order";
  case GNN_ENOMEM: return "not enough memory";
  case GNN_EIO: return "a file could not be read or written";
  case GNN_EDATA: return "the data do not fit the plan";
  case GNN_EDEVICE: return "device error";
  case GNN_ENUMERIC: return "loss or gradient is not finite";
  case GNN_ECANCELLED: return "stopped by the progress callback";
  case GNN_EVERSION: return "header and object disagree";
  }
  return "unknown status";
}

int64_t gnn_program_bytes(const gnn_program *program, unsigned tier) {
  return tier == 0 ? program->device_bytes : tier == 1 ? program->host_bytes : tier == 2 ? program->ssd_bytes : 0;
}

void gnn_job_options_init(gnn_job_options *options, const gnn_program *program) {
  memset(options, 0, sizeof *options);
  options->struct_size = sizeof *options;
  options->seed = (uint64_t)program->seed;
}

static gnn_status job_failed(gnn_job *job, gnn_status status) {
  if (status != GNN_OK && job && job->options.log) job->options.log(job->options.user, 2, job->error.message);
  return status;
}

static void *job_alloc(void *user, int tier, size_t bytes, size_t align) {
  const gnn_job *job = user;
  return job->options.alloc(job->options.user, (unsigned)tier, bytes, align);
}

static void job_release(void *user, int tier, void *memory, size_t bytes) {
  const gnn_job *job = user;
  if (job->options.release) job->options.release(job->options.user, (unsigned)tier, memory, bytes);
}

static void job_note(void *user, const char *text) {
  const gnn_job *job = user;
  if (job->options.log) job->options.log(job->options.user, 1, text);
}

gnn_status gnn_job_create(const gnn_program *program, const gnn_job_options *options, gnn_job **out) {
  *out = NULL;
  gnn_job *job = calloc(1, sizeof *job);
  if (job == NULL) return GNN_ENOMEM;
  *out = job;
  job->program = program;
  atomic_init(&job->uses, 1);
  gnn_keeper_reset(&job->keeper);
  if (options == NULL) gnn_job_options_init(&job->options, program);
  else if (options->struct_size != sizeof *options)
    return gnn_fail(&job->error, GNN_EVERSION, "", "the options are of another version of the library; call options_init");
  else job->options = *options;
  const double *values = job->options.options;
  gnn_text why = {0};
  for (int i = 0; values && i < program->option_count && i < GNN_OPTION_MAX; i++)
    if (gnn_option_is_wrong(&program->options[i], values[i], &why)) {
      gnn_fail(&job->error, GNN_EINVAL, "", "%s %.200s", program->options[i].name, why.data ? why.data : "is out of its bounds");
      gnn_text_free(&why);
      return job_failed(job, GNN_EINVAL);
    }
  gnn_memory memory = {.user = job};
  if (job->options.alloc) {
    memory.alloc = job_alloc;
    memory.release = job_release;
  }
  const gnn_status found = gnn_builds_choose(program, NULL, &job->program, &job->error);
  if (found != GNN_OK) return job_failed(job, found);
  program = job->program;
  if (program->real_bytes != 4) return gnn_fail(&job->error, GNN_EINVAL, "", "a job needs the single-precision program");
  gnn_instance_options wanted = {.threads = job->options.threads, .populate = 1, .memory = &memory,
                                 .scratch = job->options.scratch_dir, .continues_after_nan = job->options.continues_after_nan, .device = job->options.device, .note = job_note, .note_user = job};
  gnn_status status = gnn_instance_create(program, &wanted, &job->instance, &job->error);
  if (status == GNN_OK) status = gnn_snapshot_create(program, &job->best, &job->error);
  if (status != GNN_OK) return job_failed(job, status);
  for (int i = 0; values && i < program->option_count && i < GNN_OPTION_MAX; i++) job->instance->run.option[i] = values[i];
  job->options.options = NULL;
  job->options.scratch_dir = NULL;
  status = gnn_instance_reset(job->instance, job->options.seed, &job->error);
  return status == GNN_OK ? GNN_OK : job_failed(job, status);
}

static void job_drop(gnn_job *job) {
  if (atomic_fetch_sub(&job->uses, 1) != 1) return;
  gnn_instance_destroy(job->instance);
  gnn_dataset_close(job->dataset);
  gnn_snapshot_destroy(&job->best);
  for (int w = 0; job->lent && w < job->program->weight_count; w++) free(job->lent[w]);
  free(job->lent);
  free(job);
}

void gnn_job_destroy(gnn_job *job) {
  if (job) job_drop(job);
}

const char *gnn_job_error(const gnn_job *job) { return job ? job->error.message : ""; }

/* ---- data ---- */

static void job_notes(const gnn_job *job, const gnn_dataset *dataset) {
  for (int i = 0; job->options.log && i < dataset->note_count; i++)
    job->options.log(job->options.user, dataset->notes[i].code[0] != 0, dataset->notes[i].text);
}

/* Prepares, fills the arena, closes. */
static gnn_status job_take(gnn_job *job, gnn_dataset *dataset, const gnn_recipe *recipe) {
  gnn_status status = gnn_dataset_prepare(dataset, recipe, &job->error);
  if (status == GNN_OK) status = gnn_instance_load(job->instance, dataset, &job->error);
  if (status == GNN_OK) job_notes(job, dataset);
  gnn_dataset_close(job->dataset);
  job->dataset = status == GNN_OK && gnn_comes_back_to_data(job->program) ? dataset : NULL;
  if (job->dataset == NULL) gnn_dataset_close(dataset);
  if (status == GNN_OK) gnn_instance_touch(job->instance);
  job->is_changed = 0;
  return job_failed(job, status);
}

static gnn_status job_alive(gnn_job *job) {
  if (job == NULL) return GNN_EINVAL;
  if (job->instance) return GNN_OK;
  return gnn_fail(&job->error, GNN_EINVAL, "", "the job could not be created; all that is left is to destroy it");
}

static gnn_status job_path(gnn_job *job, const char *path, const char *call) { return path ? GNN_OK : gnn_fail(&job->error, GNN_EINVAL, "", "%s: no path was given", call); }

gnn_status gnn_job_load(gnn_job *job, const char *path) {
  gnn_dataset *dataset;
  gnn_status status = job_alive(job);
  if (status == GNN_OK) status = job_path(job, path, "load");
  if (status == GNN_OK) status = gnn_dataset_open_path(path, &dataset, &job->error);
  if (status != GNN_OK) return job_failed(job, status);
  job->is_file = 1;
  return job_take(job, dataset, &job->program->recipe);
}

static gnn_status job_changed(gnn_job *job) {
  job->is_changed = 1;
  job->is_file = 0;
  return GNN_OK;
}

gnn_status gnn_job_set_edges(gnn_job *job, const int64_t *src, const int64_t *dst, int64_t edges) {
  if (job == NULL) return GNN_EINVAL;
  if (edges < 0 || (edges > 0 && (src == NULL || dst == NULL)))
    return job_failed(job, gnn_fail(&job->error, GNN_EINVAL, "", "set_edges: no edges were given"));
  job->src = src;
  job->dst = dst;
  job->edges = edges;
  return job_changed(job);
}

static gnn_status job_set(gnn_job *job, const char *name, const float *values, const int64_t *labels, int64_t rows,
                          int64_t width) {
  int known = -1, at = -1;
  if (job == NULL) return GNN_EINVAL;
  for (int i = 0; i < job->program->field_count; i++)
    if (strcmp(job->program->fields[i].name, name) == 0) known = i;
  if (known < 0)
    return job_failed(job, gnn_fail(&job->error, GNN_EINVAL, "", "the program uses no field \"%s\"", name));
  if (rows < 0 || width < 1 || (values == NULL && labels == NULL) || strlen(name) >= sizeof job->field[0].name)
    return job_failed(job, gnn_fail(&job->error, GNN_EINVAL, "", "set %s: no numbers were given", name));
  for (int i = 0; i < job->field_count; i++)
    if (strcmp(job->field[i].name, name) == 0) at = i;
  if (at < 0 && job->field_count == GNN_FIELD_MAX)
    return job_failed(job, gnn_fail(&job->error, GNN_EINVAL, "", "more than %d fields", GNN_FIELD_MAX));
  if (at < 0) at = job->field_count++;
  job_borrowed *field = &job->field[at];
  memset(field, 0, sizeof *field);
  memcpy(field->name, name, strlen(name) + 1);
  field->values = values;
  field->labels = labels;
  field->rows = rows;
  field->width = width;
  return job_changed(job);
}

gnn_status gnn_job_set_field(gnn_job *job, const char *name, const float *values, int64_t rows, int64_t width) {
  return job_set(job, name, values, NULL, rows, width);
}

gnn_status gnn_job_set_labels(gnn_job *job, const char *name, const int64_t *labels, int64_t rows) {
  return job_set(job, name, NULL, labels, rows, 1);
}

gnn_status gnn_job_set_split(gnn_job *job, unsigned split, const int64_t *ids, int64_t count) {
  if (job == NULL) return GNN_EINVAL;
  if (split >= GNN_SPLIT_COUNT || count < 0 || (count > 0 && ids == NULL))
    return job_failed(job, gnn_fail(&job->error, GNN_EINVAL, "", "set_split: there is no such split, or no rows were given"));
  job->split_ids[split] = count ? ids : NULL;
  job->split_count[split] = count;
  return job_changed(job);
}

static gnn_array job_vector(const int64_t *data, int64_t count) {
  return (gnn_array){.dtype = GNN_I64, .rank = 1, .shape = {count}, .count = count, .data = (const unsigned char *)data};
}

static gnn_status job_borrowed_field(gnn_job *job, gnn_dataset *dataset, const job_borrowed *field) {
  const gnn_field_desc *desc = NULL;
  for (int i = 0; i < job->program->field_count; i++)
    if (strcmp(job->program->fields[i].name, field->name) == 0) desc = &job->program->fields[i];
  gnn_domain domain = desc && desc->domain == GNN_EDGE ? GNN_EDGE : GNN_NODE;
  gnn_array array = job_vector(field->labels, field->rows);
  if (field->values)
    array = (gnn_array){.dtype = GNN_F32, .rank = 2, .shape = {field->rows, field->width}, .count = field->rows * field->width,
                        .data = (const unsigned char *)field->values};
  return gnn_dataset_add_field(dataset, field->name, domain, &array, &job->error);
}

static gnn_status job_take_back(gnn_job *job) {
  gnn_status status = GNN_OK;
  if (!job->has_lent) return GNN_OK;
  for (int w = 0; w < job->program->weight_count && status == GNN_OK; w++)
    if (job->lent[w]) status = gnn_weight_put(job->instance, &job->program->weights[w], GNN_WEIGHT_ITSELF, job->lent[w], &job->error);
  return job_failed(job, status == GNN_OK ? gnn_upload_weights(job->instance, 0, &job->error) : status);
}

static gnn_status job_hand_out(gnn_job *job) {
  gnn_status status = GNN_OK;
  if (!job->has_lent) return GNN_OK;
  for (int w = 0; w < job->program->weight_count && status == GNN_OK; w++)
    if (job->lent[w]) status = gnn_weight_take(job->instance, &job->program->weights[w], GNN_WEIGHT_ITSELF, job->lent[w], &job->error);
  return job_failed(job, status == GNN_OK ? gnn_download_weights(job->instance, 0, &job->error) : status);
}

/* What was set since the last time goes into the arena. */
static gnn_status job_ready(gnn_job *job) {
  gnn_status status = job_alive(job);
  if (status == GNN_OK) status = job_take_back(job);
  if (status != GNN_OK) return status;
  if (!job->is_changed) {
    if (job->instance->is_loaded) return GNN_OK;
    return job_failed(job, gnn_fail(&job->error, GNN_EINVAL, "", "the job has no data: call load, or set_edges and the fields"));
  }
  if (job->src == NULL && job->edges == 0)
    return job_failed(job, gnn_fail(&job->error, GNN_EINVAL, "", "the job has no edges: call set_edges"));
  gnn_dataset *dataset = gnn_dataset_new("the host's data");
  if (dataset == NULL) return job_failed(job, gnn_fail_memory(&job->error, (int64_t)sizeof *dataset));
  dataset->has_edges = 1;
  dataset->raw_source = job_vector(job->src, job->edges);
  dataset->raw_destination = job_vector(job->dst, job->edges);
  for (int i = 0; i < job->field_count && status == GNN_OK; i++)
    status = job_borrowed_field(job, dataset, &job->field[i]);
  if (status != GNN_OK) {
    gnn_dataset_close(dataset);
    return job_failed(job, status);
  }
  gnn_recipe recipe = job->program->recipe;
  recipe.file_field_count = 0; /* the host sets fields */
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    if (job->split_ids[s] == NULL) continue;
    dataset->raw_split[s] = job_vector(job->split_ids[s], job->split_count[s]);
    dataset->is_split_ids[s] = 1;
    recipe.has_random_split = recipe.has_folds = 0;
    recipe.split_index = 0;
  }
  return job_take(job, dataset, &recipe);
}

/* ---- work ---- */

gnn_status gnn_job_reset(gnn_job *job, uint64_t seed) {
  gnn_status status = job_alive(job);
  if (status != GNN_OK) return status;
  status = gnn_instance_reset(job->instance, seed, &job->error);
  gnn_keeper_reset(&job->keeper);
  job->best.is_filled = 0;
  return status == GNN_OK ? job_hand_out(job) : job_failed(job, status);
}

static gnn_status job_step(gnn_job *job) {
  gnn_status status = gnn_train_epoch(job->instance);
  if (status == GNN_OK) return status;
  return job_failed(job, gnn_epoch_failed(job->instance, status, &job->error));
}

gnn_status gnn_job_epoch(gnn_job *job, gnn_job_result *result) {
  gnn_status status = job_ready(job);
  if (status == GNN_OK) status = job_step(job);
  if (status == GNN_OK) status = job_hand_out(job);
  if (result) {
    *result = (gnn_job_result){.metric = (double)NAN};
    if (job && job->instance) {
      result->loss = job->instance->run.loss;
      result->count = job->instance->whole.row_count[GNN_TRAIN];
    }
  }
  return status;
}

static gnn_job_result job_result(const gnn_job *job, const gnn_result *result) {
  return (gnn_job_result){.loss = result->loss, .metric = gnn_result_shown(job->program, result),
                          .count = result->count};
}

static int job_watched_split(const gnn_job *job) {
  if (job->program->has_keep) return job->program->keep_split;
  return job->instance->whole.row_count[GNN_VALID] ? GNN_VALID : GNN_TRAIN;
}

static gnn_status job_evaluate(gnn_job *job, gnn_result result[GNN_SPLIT_COUNT]) {
  gnn_status status = gnn_evaluate(job->instance, result);
  if (status != GNN_OK) return job_failed(job, gnn_step_failed(job->instance, status, &job->error, "", "the evaluation failed"));
  return GNN_OK;
}

gnn_status gnn_job_train(gnn_job *job, int64_t epochs, gnn_job_result *best) {
  gnn_result result[GNN_SPLIT_COUNT];
  gnn_status status = job_ready(job);
  if (status != GNN_OK) return status;
  const gnn_program *program = job->program;
  int64_t every = program->evaluate_every > 0 ? program->evaluate_every : 1;
  for (int64_t e = 0; status == GNN_OK && e < epochs && !gnn_keeper_stops(&job->keeper, program); e++) {
    status = job_step(job);
    if (status != GNN_OK) break;
    int64_t epoch = job->instance->run.epoch;
    if (epoch % every == 0 || e == epochs - 1) {
      status = job_evaluate(job, result);
      if (status == GNN_OK && gnn_keeper_see(&job->keeper, &job->instance->run, epoch, result) && program->has_keep)
        status = job_failed(job, gnn_snapshot_take(&job->best, job->instance, &job->error));
    }
    if (status == GNN_OK && job->options.progress &&
        job->options.progress(job->options.user, epoch, job->instance->run.loss) != 0)
      status = gnn_fail(&job->error, GNN_ECANCELLED, "", "stopped by the progress callback at epoch %lld", (long long)epoch);
  }
  if (status != GNN_OK) return status;
  if (program->has_keep && job->best.is_filled) status = gnn_snapshot_put(&job->best, job->instance, &job->error);
  if (status != GNN_OK) return job_failed(job, status);
  status = job_hand_out(job);
  if (status != GNN_OK) return status;
  if (best) *best = job->keeper.best_epoch >= 0 ? job_result(job, &job->keeper.best[job_watched_split(job)])
                                                : (gnn_job_result){.metric = (double)NAN};
  return GNN_OK;
}

gnn_status gnn_job_eval(gnn_job *job, unsigned split, gnn_job_result *out) {
  gnn_result result[GNN_SPLIT_COUNT], all = {0};
  if (job == NULL) return GNN_EINVAL;
  if (split > GNN_SPLIT_ALL || out == NULL)
    return job_failed(job, gnn_fail(&job->error, GNN_EINVAL, "", "eval: there is no such split"));
  gnn_status status = job_ready(job);
  if (status == GNN_OK) status = job_evaluate(job, result);
  if (status != GNN_OK) return status;
  if (split == GNN_SPLIT_ALL) {
    for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
      all.loss += result[s].loss * (double)result[s].count;
      if (result[s].count) all.metric[0] += result[s].metric[0] * (double)result[s].count;
      all.count += result[s].count;
    }
    all.loss /= all.count ? (double)all.count : 1;
    all.metric[0] = gnn_has_accuracy(job->program) ? all.metric[0] / (all.count ? (double)all.count : 1) : (double)NAN; /* others are no means over rows */
    *out = job_result(job, &all);
    return GNN_OK;
  }
  *out = job_result(job, &result[split]);
  if (out->count > 0) return GNN_OK;
  return job_failed(job, gnn_fail(&job->error, GNN_EINVAL, "", "the data have no split \"%s\"", gnn_split_names[split]));
}

gnn_status gnn_job_predict(gnn_job *job, float *scores, int64_t rows, int64_t columns) {
  gnn_status status = job_ready(job);
  if (status != GNN_OK) return status;
  const gnn_run *run = &job->instance->run;
  if (scores == NULL || rows != gnn_whole_rows_of_scores(job->instance) || columns != job->program->classes)
    return job_failed(job, gnn_fail(&job->error, GNN_EINVAL, "", "predict: the scores are [%lld, %lld], not [%lld, %lld]",
                                    (long long)gnn_whole_rows_of_scores(job->instance), (long long)job->program->classes, (long long)rows,
                                    (long long)columns));
  status = gnn_score(job->instance);
  if (status != GNN_OK) return job_failed(job, gnn_step_failed(job->instance, status, &job->error, "", "the evaluation failed"));
  status = gnn_home_bring_ids(job->instance, &job->error);
  if (status != GNN_OK) return job_failed(job, status);
  for (int64_t v = 0; v < rows; v++) memcpy(scores + gnn_score_id(run, v) * columns, gnn_scores_row(job->instance, v), (size_t)columns * sizeof *scores);
  status = gnn_scores_status(job->instance);
  return status == GNN_OK ? GNN_OK : job_failed(job, gnn_step_failed(job->instance, status, &job->error, "", "the scores did not come back"));
}

/* ---- weights ---- */

/* Of what is at home on the SSD the host has a copy, from when it first asks for it. */
static gnn_status job_lend(gnn_job *job, int w) {
  const gnn_weight_desc *weight = &job->program->weights[w];
  const size_t count = (size_t)job->program->weight_count + 1;
  if (job->lent == NULL && (job->lent = calloc(count, sizeof *job->lent)) == NULL) return gnn_fail_memory(&job->error, (int64_t)(count * sizeof *job->lent));
  if (job->lent[w] || gnn_weight_at(job->instance, weight, GNN_WEIGHT_ITSELF)) return GNN_OK;
  job->lent[w] = malloc((size_t)weight->count * sizeof **job->lent + 1);
  if (job->lent[w] == NULL) return gnn_fail_memory(&job->error, weight->count * (int64_t)sizeof **job->lent);
  return gnn_weight_take(job->instance, weight, GNN_WEIGHT_ITSELF, job->lent[w], &job->error);
}

static float *job_weight_at(const gnn_job *job, const gnn_weight_desc *weight) {
  float *lent = job->lent[weight - job->program->weights];
  return lent ? lent : gnn_weight_at(job->instance, weight, GNN_WEIGHT_ITSELF);
}

static gnn_status job_find(gnn_job *job, const char *name, const gnn_weight_desc **weight) {
  gnn_status status = job_alive(job);
  if (status != GNN_OK) return status;
  for (int w = 0; w < job->program->weight_count; w++) {
    if (name == NULL || strcmp(job->program->weights[w].name, name) != 0) continue;
    *weight = &job->program->weights[w];
    status = job_lend(job, w);
    if (status != GNN_OK) return job_failed(job, status);
    if (job->has_lent) return GNN_OK;
    job->has_lent = 1;
    return job_hand_out(job);
  }
  return job_failed(job, gnn_fail(&job->error, GNN_EINVAL, "", "no weight is called \"%s\"", name ? name : ""));
}

gnn_status gnn_job_weight(gnn_job *job, const char *name, float **data, const int64_t **shape, int *rank) {
  const gnn_weight_desc *weight = NULL;
  gnn_status status = job_find(job, name, &weight);
  if (status != GNN_OK) return status;
  if (data) *data = job_weight_at(job, weight);
  if (shape) *shape = weight->shape;
  if (rank) *rank = weight->rank;
  return GNN_OK;
}

gnn_status gnn_job_save(gnn_job *job, const char *path) {
  gnn_status status = job_alive(job);
  if (status == GNN_OK) status = job_path(job, path, "save");
  if (status == GNN_OK) status = job_take_back(job);
  if (status == GNN_OK) status = gnn_weights_save(job->instance, NULL, path, &job->error);
  return job_failed(job, status);
}

gnn_status gnn_job_restore(gnn_job *job, const char *path) {
  gnn_status status = job_alive(job);
  if (status == GNN_OK) status = job_path(job, path, "restore");
  if (status == GNN_OK) status = gnn_weights_load(job->instance, path, &job->error);
  return status == GNN_OK ? job_hand_out(job) : job_failed(job, status);
}

static void job_delete_tensor(struct DLManagedTensorVersioned *self) {
  gnn_job *job = self->manager;
  free(self->tensor.shape);
  free(self);
  job_drop(job);
}

gnn_status gnn_job_weight_dlpack(gnn_job *job, const char *name, struct DLManagedTensorVersioned **out) {
  const gnn_weight_desc *weight = NULL;
  if (job == NULL) return GNN_EINVAL;
  if (out == NULL) return job_failed(job, gnn_fail(&job->error, GNN_EINVAL, "", "weight_dlpack: there is no place for the tensor"));
  *out = NULL;
  gnn_status status = job_find(job, name, &weight);
  if (status != GNN_OK) return status;
  struct DLManagedTensorVersioned *managed = calloc(1, sizeof *managed);
  int64_t *sizes = calloc((size_t)weight->rank * 2 + 1, sizeof *sizes); /* shape, then strides */
  if (managed == NULL || sizes == NULL) {
    free(managed);
    free(sizes);
    return job_failed(job, gnn_fail_memory(&job->error, (int64_t)sizeof *managed));
  }
  int64_t stride = 1;
  for (int i = weight->rank - 1; i >= 0; i--) {
    sizes[i] = weight->shape[i];
    sizes[weight->rank + i] = stride;
    stride *= weight->shape[i];
  }
  managed->version.major = 1;
  managed->manager = job;
  managed->deleter = job_delete_tensor;
  managed->tensor.data = job_weight_at(job, weight);
  managed->tensor.device.type = JOB_DL_CPU; /* where the device has memory of its own, its image */
  managed->tensor.rank = weight->rank;
  managed->tensor.dtype.code = JOB_DL_FLOAT;
  managed->tensor.dtype.bits = 32;
  managed->tensor.dtype.lanes = 1;
  managed->tensor.shape = sizes;
  managed->tensor.strides = sizes + weight->rank;
  atomic_fetch_add(&job->uses, 1);
  *out = managed;
  return GNN_OK;
}
