/* logs.c: CSV, JSON lines, TensorBoard event files and the page of log_page.c.
 *
 * Event files: TFRecord framing (tensorflow/core/lib/io/record_writer.cc) around Event messages
 * (tensorflow/core/util/event.proto), of which a scalar needs five fields. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "logs.h"

#include "runtime/base/file.h"
#include "runtime/base/open.h"
#include "runtime/data/dataset.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint32_t logs_crc32c(const unsigned char *bytes, size_t count) {
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < count; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1; /* Castagnoli, reflected */
  }
  return ~crc;
}

static void logs_put_masked(FILE *file, const unsigned char *bytes, size_t count) {
  uint32_t crc = logs_crc32c(bytes, count);
  uint32_t masked = (crc >> 15 | crc << 17) + 0xa282ead8u;
  unsigned char out[4];
  for (int i = 0; i < 4; i++) out[i] = (unsigned char)(masked >> 8 * i);
  fwrite(out, 1, sizeof out, file);
}

static void logs_record(FILE *file, const unsigned char *bytes, size_t count) {
  unsigned char length[8];
  for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)count >> 8 * i);
  fwrite(length, 1, sizeof length, file);
  logs_put_masked(file, length, sizeof length);
  fwrite(bytes, 1, count, file);
  logs_put_masked(file, bytes, count);
}

typedef struct logs_message {
  unsigned char bytes[256];
  size_t length;
} logs_message;

static void logs_varint(logs_message *m, uint64_t value) {
  while (value >= 128 && m->length < sizeof m->bytes) {
    m->bytes[m->length++] = (unsigned char)(value | 128);
    value >>= 7;
  }
  if (m->length < sizeof m->bytes) m->bytes[m->length++] = (unsigned char)value;
}

static void logs_bytes(logs_message *m, int field, const void *bytes, size_t count) {
  logs_varint(m, (uint64_t)field << 3 | 2);
  logs_varint(m, count);
  if (count > sizeof m->bytes - m->length) return;
  memcpy(m->bytes + m->length, bytes, count);
  m->length += count;
}

static void logs_fixed(logs_message *m, int field, const void *bytes, size_t count) {
  logs_varint(m, (uint64_t)field << 3 | (count == 8 ? 1 : 5));
  if (count > sizeof m->bytes - m->length) return;
  memcpy(m->bytes + m->length, bytes, count);
  m->length += count;
}

static double logs_wall_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void logs_scalar(FILE *file, const char *tag, int64_t step, double number) {
  float value = (float)number;
  double now = logs_wall_time();
  logs_message item = {.length = 0}, summary = {.length = 0}, event = {.length = 0};
  logs_bytes(&item, 1, tag, strlen(tag));
  logs_fixed(&item, 2, &value, sizeof value);
  logs_bytes(&summary, 1, item.bytes, item.length);
  logs_fixed(&event, 1, &now, sizeof now);
  logs_varint(&event, 2 << 3);
  logs_varint(&event, (uint64_t)step);
  logs_bytes(&event, 5, summary.bytes, summary.length);
  logs_record(file, event.bytes, event.length);
}

static gnn_status logs_open_file(const char *folder, const char *name, int is_resumed, gnn_log_file *log, gnn_error *error) {
  log->path = gnn_path_join(folder, name);
  if (log->path == NULL) return gnn_fail_memory(error, 256);
  gnn_status status = gnn_make_directories(folder, error);
  if (status != GNN_OK) return status;
  int descriptor = gnn_open_log(log->path, !is_resumed);
  log->file = descriptor >= 0 ? fdopen(descriptor, "a") : NULL;
  if (log->file == NULL) {
    status = gnn_fail_file(error, "write", log->path, errno);
    if (descriptor >= 0) close(descriptor);
  } else {
    fseek(log->file, 0, SEEK_END); /* for ftell: fdopen leaves the position at 0; a pipe has none */
  }
  return status;
}

static int logs_begin(const gnn_log_file *log) {
  errno = 0;
  return log->file && log->errno_value == 0;
}

static void logs_end(gnn_log_file *log) {
  if (fflush(log->file) != 0 || ferror(log->file)) log->errno_value = errno ? errno : EIO;
}

/* The columns that every program has, then those of further metrics. */
static void logs_csv_head(FILE *file, const gnn_program *program) {
  fprintf(file, "run,epoch,loss,train,valid,test,lr,seconds,gpu_peak,host_peak,ssd_bytes");
  for (int i = 1; i < program->metric_count; i++)
    for (int s = 0; s < GNN_SPLIT_COUNT; s++) fprintf(file, ",%s_%s", gnn_split_names[s], program->metrics[i].name);
  fprintf(file, "\n");
}

gnn_status gnn_logs_open(gnn_logs *logs, const gnn_program *program, const char *csv_folder, const char *jsonl_folder,
                         const char *board_folder, int is_resumed, gnn_error *error) {
  memset(logs, 0, sizeof *logs);
  logs->program = program;
  memcpy(logs->shows, program->shows, sizeof logs->shows);
  gnn_status status = GNN_OK;
  if (csv_folder) {
    status = logs_open_file(csv_folder, "log.csv", is_resumed, &logs->csv, error);
    if (status == GNN_OK && ftell(logs->csv.file) <= 0) /* -1: a pipe */
      logs_csv_head(logs->csv.file, program);
  }
  if (status == GNN_OK && jsonl_folder) status = logs_open_file(jsonl_folder, "log.jsonl", is_resumed, &logs->jsonl, error);
  if (status == GNN_OK && board_folder) {
    char name[80];
    snprintf(name, sizeof name, "events.out.tfevents.%lld.gnncc", (long long)logs_wall_time());
    status = logs_open_file(board_folder, name, 0, &logs->board, error);
    if (status == GNN_OK) {
      logs_message event = {.length = 0};
      double now = logs_wall_time();
      logs_fixed(&event, 1, &now, sizeof now);
      logs_bytes(&event, 3, "brain.Event:2", 13);
      logs_record(logs->board.file, event.bytes, event.length);
    }
  }
  if (status != GNN_OK) gnn_logs_close(logs, NULL);
  return status;
}

gnn_status gnn_logs_open_page(gnn_logs *logs, const char *folder, uint64_t seed, int is_resumed, int64_t run, int64_t epoch, gnn_error *error) {
  return gnn_log_page_open(&logs->page, logs->program, folder, seed, is_resumed, run, epoch, error);
}

static void logs_page_row(gnn_logs *logs, const gnn_log_row *row, const double shown[GNN_SPLIT_COUNT], const int is_shown[GNN_SPLIT_COUNT]) {
  double numbers[3 + GNN_SPLIT_COUNT * (1 + GNN_METRIC_MAX)];
  int count = 0;
  numbers[count++] = row->loss;
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) numbers[count++] = shown[s];
  numbers[count++] = row->lr;
  numbers[count++] = row->seconds;
  for (int i = 1; i < logs->program->metric_count; i++)
    for (int s = 0; s < GNN_SPLIT_COUNT; s++) numbers[count++] = is_shown[s] ? row->result[s].metric[i] : (double)NAN;
  gnn_log_page_put(&logs->page, row->run, row->epoch, numbers, row->keeper);
}

static void logs_json_number(FILE *file, const char *key, double value) {
  if (isfinite(value)) fprintf(file, ",\"%s\":%.9g", key, value);
  else fprintf(file, ",\"%s\":null", key);
}

void gnn_logs_row(gnn_logs *logs, const gnn_log_row *row) {
  double shown[GNN_SPLIT_COUNT]; /* NaN is a measure, too */
  int is_shown[GNN_SPLIT_COUNT];
  for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
    const gnn_result *result = &row->result[s];
    is_shown[s] = row->is_evaluated && logs->shows[s] && result->count;
    shown[s] = !is_shown[s] ? (double)NAN : gnn_result_shown(logs->program, result);
  }
  logs_page_row(logs, row, shown, is_shown);
  if (logs_begin(&logs->csv)) {
    FILE *file = logs->csv.file;
    fprintf(file, "%lld,%lld,%.9g", (long long)row->run, (long long)row->epoch, gnn_shown(row->loss));
    for (int s = 0; s < GNN_SPLIT_COUNT; s++) fprintf(file, is_shown[s] ? ",%.9g" : ",", gnn_shown(shown[s]));
    fprintf(file, isnan(row->lr) ? "," : ",%.9g", row->lr);
    fprintf(file, ",%.9g,%lld,%lld,%lld", row->seconds, (long long)row->device_bytes, (long long)row->host_bytes,
            (long long)row->ssd_bytes);
    for (int i = 1; i < logs->program->metric_count; i++)
      for (int s = 0; s < GNN_SPLIT_COUNT; s++) fprintf(file, is_shown[s] ? ",%.9g" : ",", gnn_shown(row->result[s].metric[i]));
    fprintf(file, "\n");
    logs_end(&logs->csv);
  }
  if (logs_begin(&logs->jsonl)) {
    FILE *file = logs->jsonl.file;
    fprintf(file, "{\"run\":%lld,\"epoch\":%lld", (long long)row->run, (long long)row->epoch);
    logs_json_number(file, "loss", row->loss);
    for (int s = 0; s < GNN_SPLIT_COUNT; s++) logs_json_number(file, gnn_split_names[s], shown[s]);
    logs_json_number(file, "lr", row->lr);
    logs_json_number(file, "seconds", row->seconds);
    for (int i = 1; i < logs->program->metric_count; i++)
      for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
        char key[64];
        snprintf(key, sizeof key, "%s_%s", gnn_split_names[s], logs->program->metrics[i].name);
        logs_json_number(file, key, is_shown[s] ? row->result[s].metric[i] : (double)NAN);
      }
    fprintf(file, ",\"gpu_peak\":%lld,\"host_peak\":%lld,\"ssd_bytes\":%lld", (long long)row->device_bytes,
            (long long)row->host_bytes, (long long)row->ssd_bytes);
    if (row->changed_data[0]) fprintf(file, ",\"data_changed\":\"%s\"", row->changed_data);
    fprintf(file, "}\n");
    logs_end(&logs->jsonl);
  }
  if (logs_begin(&logs->board)) {
    FILE *file = logs->board.file;
    char tag[64];
    snprintf(tag, sizeof tag, "run%lld/loss", (long long)row->run);
    logs_scalar(file, tag, row->epoch, row->loss);
    for (int s = 0; s < GNN_SPLIT_COUNT; s++) {
      if (!is_shown[s]) continue;
      snprintf(tag, sizeof tag, "run%lld/%s", (long long)row->run, gnn_split_names[s]);
      logs_scalar(file, tag, row->epoch, shown[s]);
      for (int i = 1; i < logs->program->metric_count; i++) {
        snprintf(tag, sizeof tag, "run%lld/%s_%s", (long long)row->run, gnn_split_names[s], logs->program->metrics[i].name);
        logs_scalar(file, tag, row->epoch, row->result[s].metric[i]);
      }
    }
    snprintf(tag, sizeof tag, "run%lld/seconds", (long long)row->run);
    logs_scalar(file, tag, row->epoch, row->seconds);
    logs_end(&logs->board);
  }
}

gnn_status gnn_logs_close(gnn_logs *logs, gnn_error *error) {
  gnn_log_file *const all[] = {&logs->csv, &logs->jsonl, &logs->board};
  gnn_text lost = {0};
  gnn_error page_error;
  if (gnn_log_page_close(&logs->page, &page_error) != GNN_OK) gnn_text_format(&lost, "%s", page_error.message);
  for (int i = 0; i < 3; i++) {
    gnn_log_file *log = all[i];
    if (log->file && fclose(log->file) != 0 && log->errno_value == 0) log->errno_value = errno;
    if (log->errno_value)
      gnn_text_format(&lost, "%scannot write \"%s\": %s", lost.length ? "; " : "", log->path, gnn_open_reason(log->errno_value));
    free(log->path);
  }
  memset(logs, 0, sizeof *logs);
  gnn_status status = lost.is_broken ? gnn_fail_memory(error, 256) : lost.length ? gnn_fail(error, GNN_EIO, "", "%s", lost.data) : GNN_OK;
  gnn_text_free(&lost);
  return status;
}
