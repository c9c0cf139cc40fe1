/* ingest.c: external sorting of edges, step by step, so that it can be stopped at any moment.
 *
 * 1. read: the list in pieces that fit the memory, each sorted by (destination, source) and written as a run.
 * 2. in: the runs are merged, many at a time, then the last ones into in.ptr and in.col; on the way the edges are written as runs sorted by
 *    (source, destination), unless every edge is stored both ways.
 * 3. out: those are merged into out.ptr and out.col.
 * 4. write: the container from the four files.
 *
 * All of it happens in the folder OUTPUT.convert. Its file "manifest" says what is done: it is replaced whole when something more is on the disk, and only what
 * it names counts. A merge that takes long is noted on the way: the last pair and the lengths of the files say where it goes on. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ingest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ingest_runs.h"
#include "runtime/base/json.h"
#include "runtime/data/prepare.h"
#include "runtime/data/readers.h"

enum { INGEST_READ, INGEST_IN, INGEST_OUT, INGEST_WRITE, INGEST_VERSION = 1 };
enum { INGEST_READER_BYTES = 3 << 17 /* a list of edges that is open */, INGEST_SORT_BYTES = 1 << 17 /* what sorting counts in */, INGEST_CHUNK = 4096, INGEST_FILES_MOST = 500 /* open at once */ };

typedef struct ingest_runs {
  int64_t count, capacity;
  ingest_run *items;
} ingest_runs;

/* What the manifest holds: numbers, and the runs. */
typedef struct ingest_state {
  int64_t phase;
  gnn_edge_place place;
  int64_t next_run;
  int64_t duplicates, loops_removed, reversed, loops_added;
  int64_t nodes, edges, loops, silent, mutual;
  int64_t at, entries, rows;  /* of the merge that is going on: the last pair (-1: none), the lengths of its files */
  int64_t sums[4];            /* of in.ptr, out.ptr, in.col, out.col */
} ingest_state;

typedef struct ingest {
  const ingest_order *order;
  char *folder;
  int lock;
  gnn_text identity; /* which list, and what is to become of it */
  size_t block;      /* bytes of each file's buffer */
  ingest_state state;
  ingest_runs runs, later; /* of this phase; what step `in` makes for step `out` */
  ingest_progress progress;
  gnn_error *error;
} ingest;

/* ---- progress ---- */

static double ingest_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void ingest_progress_begin(ingest_progress *progress) {
  progress->begin = progress->last = ingest_now();
  progress->is_live = isatty(STDERR_FILENO);
  progress->is_shown = 0;
}

double ingest_progress_seconds(const ingest_progress *progress) { return ingest_now() - progress->begin; }

int ingest_progress_is_due(ingest_progress *progress) {
  const double now = ingest_now();
  if (now - progress->last < (progress->is_live ? 0.2 : 10)) return 0;
  progress->last = now;
  return 1;
}

void ingest_progress_say(ingest_progress *progress, int is_final, const char *format, ...) {
  va_list arguments;
  if (progress->is_live) fputs("\r\033[K", stderr);
  fputs("gnndata: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  if (is_final || !progress->is_live) fputc('\n', stderr);
  fflush(stderr);
}

/* ---- the manifest ---- */

static const struct { const char *name; size_t at; } ingest_numbers[] = {
  {"phase", offsetof(ingest_state, phase)}, {"bytes", offsetof(ingest_state, place.bytes)}, {"lines", offsetof(ingest_state, place.lines)},
  {"read", offsetof(ingest_state, place.edges)}, {"least", offsetof(ingest_state, place.least)}, {"greatest", offsetof(ingest_state, place.greatest)},
  {"header_line", offsetof(ingest_state, place.header_line)}, {"wide_lines", offsetof(ingest_state, place.wide_lines)}, {"next_run", offsetof(ingest_state, next_run)},
  {"duplicates", offsetof(ingest_state, duplicates)}, {"loops_removed", offsetof(ingest_state, loops_removed)}, {"reversed", offsetof(ingest_state, reversed)},
  {"loops_added", offsetof(ingest_state, loops_added)}, {"nodes", offsetof(ingest_state, nodes)}, {"edges", offsetof(ingest_state, edges)},
  {"loops", offsetof(ingest_state, loops)}, {"silent", offsetof(ingest_state, silent)}, {"mutual", offsetof(ingest_state, mutual)}, {"at", offsetof(ingest_state, at)},
  {"entries", offsetof(ingest_state, entries)}, {"rows", offsetof(ingest_state, rows)}, {"sum_in_ptr", offsetof(ingest_state, sums)},
  {"sum_out_ptr", offsetof(ingest_state, sums) + sizeof(int64_t)}, {"sum_in_col", offsetof(ingest_state, sums) + 2 * sizeof(int64_t)},
  {"sum_out_col", offsetof(ingest_state, sums) + 3 * sizeof(int64_t)},
};
enum { INGEST_NUMBERS = sizeof ingest_numbers / sizeof *ingest_numbers };

static int64_t *ingest_number(ingest_state *state, int i) { return (int64_t *)((char *)state + ingest_numbers[i].at); }

static gnn_status ingest_push(ingest *in, ingest_runs *runs, ingest_run run) {
  if (runs->count == runs->capacity) {
    const int64_t capacity = runs->capacity ? 2 * runs->capacity : 64;
    ingest_run *more = realloc(runs->items, (size_t)capacity * sizeof *more);
    if (more == NULL) return gnn_fail_memory(in->error, capacity * (int64_t)sizeof *more);
    runs->items = more;
    runs->capacity = capacity;
  }
  runs->items[runs->count++] = run;
  return GNN_OK;
}

static void ingest_put_runs(gnn_text *text, const char *name, const ingest_runs *runs) {
  gnn_text_format(text, ",\n\"%s\": [", name);
  for (int64_t i = 0; i < runs->count; i++) gnn_text_format(text, "%s%lld, %lld", i ? ", " : "", (long long)runs->items[i].number, (long long)runs->items[i].entries);
  gnn_text_format(text, "]");
}

static gnn_status ingest_note(ingest *in) {
  gnn_text text = {0};
  char *path = ingest_path(in->folder, "manifest");
  gnn_text_format(&text, "{\"version\": %d,\n\"identity\": ", INGEST_VERSION);
  gnn_text_json(&text, in->identity.data);
  for (int i = 0; i < INGEST_NUMBERS; i++) gnn_text_format(&text, ",\n\"%s\": %lld", ingest_numbers[i].name, (long long)*ingest_number(&in->state, i));
  ingest_put_runs(&text, "runs", &in->runs);
  ingest_put_runs(&text, "later", &in->later);
  gnn_text_format(&text, "}\n");
  if (path == NULL) gnn_text_free(&text);
  const gnn_status status = path ? gnn_text_write(&text, path, in->error) : gnn_fail_memory(in->error, 256);
  free(path);
  return status;
}

static gnn_status ingest_take_runs(ingest *in, const gnn_json *json, const char *name, ingest_runs *runs, int *is_sound) {
  const gnn_json_node *list = gnn_json_member(json, &json->nodes[0], name);
  *is_sound = *is_sound && list && list->kind == GNN_JSON_ARRAY;
  for (int32_t i = *is_sound ? list->first : -1; i >= 0 && *is_sound; i = json->nodes[i].next) {
    const int32_t next = json->nodes[i].next;
    *is_sound = next >= 0 && json->nodes[i].is_integer && json->nodes[next].is_integer && json->nodes[next].integer >= 0;
    if (!*is_sound) break;
    const gnn_status status = ingest_push(in, runs, (ingest_run){json->nodes[i].integer, json->nodes[next].integer});
    if (status != GNN_OK) return status;
    i = next;
  }
  return GNN_OK;
}

/* What an earlier process noted; *is_there 0: nothing. */
static gnn_status ingest_recall(ingest *in, int *is_there) {
  char *path = ingest_path(in->folder, "manifest");
  gnn_file file;
  gnn_json json = {0};
  if (path == NULL) return gnn_fail_memory(in->error, 256);
  *is_there = gnn_path_exists(path);
  gnn_status status = *is_there ? gnn_file_open(path, gnn_file_text, &file, in->error) : GNN_OK;
  if (status != GNN_OK || !*is_there) {
    free(path);
    return status;
  }
  status = gnn_file_check(&file, gnn_json_parse(path, file.data, file.size, &json, in->error), in->error);
  if (status == GNN_OK) {
    const gnn_json_node *identity = gnn_json_member(&json, &json.nodes[0], "identity");
    int is_sound = json.nodes[0].kind == GNN_JSON_OBJECT && identity && identity->kind == GNN_JSON_STRING;
    if (is_sound && strcmp(identity->text, in->identity.data) != 0) {
      status = gnn_fail(in->error, GNN_EINVAL, "", "\"%s\" is of another conversion, which is not finished: of %s", in->folder, identity->text);
      gnn_fail_help(in->error, "the same command goes on with it; --force begins anew");
    }
    for (int i = 0; i < INGEST_NUMBERS && is_sound; i++) {
      const gnn_json_node *number = gnn_json_member(&json, &json.nodes[0], ingest_numbers[i].name);
      is_sound = number && number->is_integer;
      if (is_sound) *ingest_number(&in->state, i) = number->integer;
    }
    if (status == GNN_OK) status = ingest_take_runs(in, &json, "runs", &in->runs, &is_sound);
    if (status == GNN_OK) status = ingest_take_runs(in, &json, "later", &in->later, &is_sound);
    if (status == GNN_OK && !is_sound) {
      status = gnn_fail(in->error, GNN_EDATA, "", "\"%s\" is damaged", path);
      gnn_fail_help(in->error, "--force begins anew");
    }
  }
  gnn_json_free(&json);
  gnn_file_close(&file);
  free(path);
  return status;
}

/* ---- the folder ---- */

static int ingest_is_run(const ingest_runs *runs, const char *name) {
  int64_t number;
  if (strncmp(name, "run-", 4) != 0 || !gnn_parse_integer(name + 4, &number)) return 0;
  for (int64_t i = 0; i < runs->count; i++)
    if (runs->items[i].number == number) return 1;
  return 0;
}

/* Files that a conversion makes. */
static int ingest_is_ours(const char *name) {
  static const char *const names[] = {"lock", "manifest", "in.ptr", "in.col", "out.ptr", "out.col", "whole", "run-", "manifest.tmp-", "whole.tmp-"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(name, names[i], strlen(names[i])) == 0) return 1;
  return 0;
}

/* Removes what the manifest does not name; `all`: everything. What nobody here has made is an error, and nothing is removed. */
static gnn_status ingest_clear(ingest *in, int all) {
  for (int is_removing = 0; is_removing < 2; is_removing++) {
    DIR *handle = opendir(in->folder);
    if (handle == NULL) return gnn_fail_file(in->error, "open", in->folder, errno);
    const struct dirent *entry;
    while ((entry = readdir(handle)) != NULL) {
      const char *name = entry->d_name;
      const int is_file = strncmp(name, "in.", 3) == 0 || strncmp(name, "out.", 4) == 0 || strcmp(name, "manifest") == 0 || strcmp(name, "lock") == 0;
      if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
      if (!ingest_is_ours(name)) {
        const gnn_status status = gnn_fail(in->error, GNN_EIO, "", "\"%s\" has a file \"%.80s\", which gnndata did not write", in->folder, name);
        closedir(handle);
        return status;
      }
      if (!is_removing || (!all && (is_file || ingest_is_run(&in->runs, name) || ingest_is_run(&in->later, name)))) continue;
      unlinkat(dirfd(handle), name, 0);
    }
    closedir(handle);
  }
  return GNN_OK;
}

static gnn_status ingest_lock(ingest *in) {
  char *path = ingest_path(in->folder, "lock");
  if (path == NULL) return gnn_fail_memory(in->error, 256);
  in->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  gnn_status status = in->lock < 0 ? gnn_fail_file(in->error, "write", path, errno) : GNN_OK;
  if (status == GNN_OK && flock(in->lock, LOCK_EX | LOCK_NB) != 0) status = gnn_fail(in->error, GNN_EIO, "", "another gnndata is working in \"%s\"", in->folder);
  free(path);
  return status;
}

static void ingest_remove_runs(ingest *in, const ingest_run *runs, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    char *path = ingest_run_path(in->folder, runs[i].number);
    if (path) unlink(path);
    free(path);
  }
}

static gnn_status ingest_identify(ingest *in) {
  struct stat info;
  const ingest_order *order = in->order;
  if (stat(order->input, &info) != 0) return gnn_fail_file(in->error, "open", order->input, errno);
  const char *slash = strrchr(order->input, '/');
  gnn_text_format(&in->identity, "%s, %lld bytes of %lld.%09ld s; %s", slash ? slash + 1 : order->input, (long long)info.st_size, (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                  *order->changes ? order->changes : "as it is");
  return in->identity.is_broken ? gnn_fail_memory(in->error, 256) : GNN_OK;
}

/* ---- 1. read ---- */

static gnn_status ingest_flush(ingest *in, ingest_runs *runs, uint64_t *keys, uint64_t *room, int64_t count) {
  ingest_run run = {.number = in->state.next_run};
  if (count == 0) return GNN_OK;
  gnn_status status = ingest_run_write(in->folder, keys, room, count, in->block, &run, &in->state.duplicates, in->error);
  in->state.next_run++;
  return status == GNN_OK ? ingest_push(in, runs, run) : status;
}

static gnn_status ingest_read_list(ingest *in, gnn_edge_list *list, gnn_edge *chunk, uint64_t *keys, uint64_t *room, int64_t most) {
  const gnn_recipe *recipe = &in->order->recipe;
  int64_t count = INGEST_CHUNK, have = 0;
  gnn_status status = GNN_OK;
  while (status == GNN_OK && count == INGEST_CHUNK) {
    status = gnn_edge_list_next(list, chunk, INGEST_CHUNK, &count, in->error);
    if (status != GNN_OK) break;
    for (int64_t k = 0; k < count; k++) {
      const int64_t s = chunk[k].source, d = chunk[k].destination;
      if (s == d && recipe->self_loops == GNN_LOOPS_REMOVE) {
        in->state.loops_removed++;
        continue;
      }
      keys[have++] = ingest_key(d, s, 0);
      if (recipe->is_undirected && s != d) keys[have++] = ingest_key(s, d, 1);
    }
    if (have + 2 * INGEST_CHUNK > most || count < INGEST_CHUNK) {
      status = ingest_flush(in, &in->runs, keys, room, have);
      in->state.place = *gnn_edge_list_place(list);
      if (status == GNN_OK && count == INGEST_CHUNK) status = ingest_note(in);
      have = 0;
    }
    if (ingest_progress_is_due(&in->progress))
      ingest_progress_say(&in->progress, 0, "reading: %.0f %%, %s edges, %lld runs", 100 * gnn_edge_list_share(list), gnn_count_text(gnn_edge_list_place(list)->edges).text, (long long)in->runs.count);
  }
  return status;
}

static gnn_status ingest_read(ingest *in) {
  const int64_t most = (in->order->memory_bytes - INGEST_READER_BYTES - INGEST_SORT_BYTES - INGEST_CHUNK * (int64_t)sizeof(gnn_edge) - (int64_t)in->block) / 16;
  gnn_edge_list *list = NULL;
  uint64_t *keys = malloc((size_t)most * sizeof *keys), *room = malloc((size_t)most * sizeof *room);
  gnn_edge *chunk = malloc(INGEST_CHUNK * sizeof *chunk);
  gnn_status status = keys && room && chunk ? gnn_edge_list_open(in->order->input, &in->order->rules, &list, in->error) : gnn_fail_memory(in->error, most * 16);
  if (status == GNN_OK && in->state.place.bytes + in->state.place.edges > 0) status = gnn_edge_list_seek(list, &in->state.place, in->error);
  if (status == GNN_OK) status = ingest_read_list(in, list, chunk, keys, room, most);
  gnn_edge_list_close(list);
  free(keys);
  free(room);
  free(chunk);
  if (status != GNN_OK) return status;
  const double seconds = ingest_progress_seconds(&in->progress);
  ingest_progress_say(&in->progress, 1, "read %s edges into %lld runs in %s", gnn_count_text(in->state.place.edges).text, (long long)in->runs.count, gnn_seconds_text(seconds).text);
  in->state.nodes = in->order->rules.nodes >= 0 ? in->order->rules.nodes : in->state.place.greatest + 1;
  if (in->state.nodes == 0) return gnn_fail(in->error, GNN_EDATA, "", "%s has no nodes", in->order->input);
  in->state.phase = INGEST_IN;
  return ingest_note(in);
}

/* ---- 2. and 3. merge ---- */

/* The first of the runs become one, so that at most `most` are left or another such step is needed. */
static gnn_status ingest_merge_some(ingest *in, int most) {
  ingest_runs *runs = &in->runs;
  const int64_t above = runs->count - most + 1;
  const int count = (int)(above < most ? above : most);
  ingest_run made = {.number = in->state.next_run++};
  ingest_merge merge;
  ingest_file file;
  char name[40];
  snprintf(name, sizeof name, "run-%lld", (long long)made.number);
  gnn_status status = ingest_merge_open(&merge, in->folder, runs->items, count, 0, -1, in->block, in->error);
  if (status != GNN_OK) return status;
  status = ingest_file_open(&file, in->folder, name, 0, 0, 0, in->block, in->error);
  for (int is_there = 1; status == GNN_OK;) {
    uint64_t pair;
    int64_t of_data;
    status = ingest_merge_next(&merge, &pair, &of_data, &is_there, in->error);
    if (status != GNN_OK || !is_there) break;
    const uint64_t key = pair << 1 | (of_data == 0);
    if (of_data > 1) in->state.duplicates += of_data - 1;
    ingest_file_put(&file, &key, sizeof key);
    if ((++made.entries & 0xfffff) == 0 && ingest_progress_is_due(&in->progress))
      ingest_progress_say(&in->progress, 0, "merging %d of %lld runs: %s edges", count, (long long)runs->count, gnn_count_text(made.entries).text);
  }
  if (status == GNN_OK) status = ingest_file_sync(&file, in->error);
  ingest_file_close(&file);
  ingest_merge_close(&merge);
  ingest_run *merged = status == GNN_OK ? malloc((size_t)count * sizeof *merged) : NULL;
  if (status == GNN_OK && merged == NULL) status = gnn_fail_memory(in->error, count * (int64_t)sizeof *merged);
  if (status != GNN_OK) return status;
  memcpy(merged, runs->items, (size_t)count * sizeof *merged);
  memmove(runs->items, runs->items + count, (size_t)(runs->count - count) * sizeof *runs->items);
  runs->count -= count;
  status = ingest_push(in, runs, made);
  if (status == GNN_OK) status = ingest_note(in);
  if (status == GNN_OK) ingest_remove_runs(in, merged, count);
  free(merged);
  return status;
}

/* A file of numbers that are asked for with ever greater indices. */
typedef struct ingest_window {
  int descriptor;
  int64_t first, have, width;
  size_t room;
  unsigned char *buffer;
} ingest_window;

static gnn_status ingest_window_open(ingest *in, const char *name, int64_t width, ingest_window *window) {
  char *path = ingest_path(in->folder, name);
  *window = (ingest_window){.descriptor = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1, .width = width, .room = in->block, .buffer = malloc(in->block)};
  const gnn_status status = !path || !window->buffer ? gnn_fail_memory(in->error, (int64_t)in->block) : window->descriptor < 0 ? gnn_fail_file(in->error, "read", path, errno) : GNN_OK;
  free(path);
  return status;
}

static void ingest_window_close(ingest_window *window) {
  if (window->descriptor >= 0) close(window->descriptor);
  free(window->buffer);
}

static gnn_status ingest_window_get(ingest *in, ingest_window *window, int64_t index, int64_t *value) {
  if (index < window->first || index >= window->first + window->have) {
    ssize_t got;
    do got = pread(window->descriptor, window->buffer, window->room / (size_t)window->width * (size_t)window->width, (off_t)(index * window->width));
    while (got < 0 && errno == EINTR);
    if (got < (ssize_t)window->width) return gnn_fail(in->error, GNN_EIO, "", "a file in \"%s\" is shorter than it was", in->folder);
    window->first = index;
    window->have = got / window->width;
  }
  const unsigned char *at = window->buffer + (index - window->first) * window->width;
  int32_t narrow;
  if (window->width == 8) memcpy(value, at, sizeof *value);
  else {
    memcpy(&narrow, at, sizeof narrow);
    *value = narrow;
  }
  return GNN_OK;
}

/* The last merge of a direction: into rows. */
typedef struct ingest_final {
  ingest *in;
  int is_out;          /* by source */
  ingest_file ptr, column;
  uint64_t *keys, *room; /* of the other direction; NULL: it is the same, or done */
  int64_t have, most;
  ingest_window in_ptr, in_column; /* is_out */
  int64_t row, next, end;          /* of in_column: where the row of the same node is looked at */
} ingest_final;

static void final_close_rows(ingest_final *final, int64_t row) { /* those before it */
  ingest_state *state = &final->in->state;
  for (; state->rows < row + 1; state->rows++) ingest_file_put(&final->ptr, &state->entries, sizeof state->entries);
}

/* Whether the edge that was met from its source has its reverse. */
static gnn_status final_look_back(ingest_final *final, int64_t source, int64_t destination) {
  ingest *in = final->in;
  gnn_status status = GNN_OK;
  int64_t other = -1;
  if (final->row != source) {
    final->row = source;
    status = ingest_window_get(in, &final->in_ptr, source, &final->next);
    if (status == GNN_OK) status = ingest_window_get(in, &final->in_ptr, source + 1, &final->end);
  }
  while (status == GNN_OK && final->next < final->end) {
    status = ingest_window_get(in, &final->in_column, final->next, &other);
    if (other >= destination) break;
    final->next++;
  }
  in->state.mutual += other == destination && source != destination;
  return status;
}

/* All that was made so far is on the disk, and noted. */
static gnn_status final_settle(ingest_final *final) {
  ingest *in = final->in;
  gnn_status status = final->keys ? ingest_flush(in, &in->later, final->keys, final->room, final->have) : GNN_OK;
  final->have = 0;
  if (status == GNN_OK) status = ingest_file_sync(&final->ptr, in->error);
  if (status == GNN_OK) status = ingest_file_sync(&final->column, in->error);
  in->state.sums[final->is_out] = final->ptr.sum;
  in->state.sums[2 + final->is_out] = final->column.sum;
  return status == GNN_OK ? ingest_note(in) : status;
}

static gnn_status final_pair(ingest_final *final, uint64_t pair, int64_t of_data) {
  ingest *in = final->in;
  ingest_state *state = &in->state;
  const int64_t major = ingest_major(pair), minor = ingest_minor(pair);
  const int32_t id = (int32_t)minor;
  if (major >= state->nodes || minor >= state->nodes)
    return gnn_fail(in->error, GNN_EIO, "", "a run in \"%s\" is damaged: it names node %lld", in->folder, (long long)(major > minor ? major : minor));
  if (!final->is_out) {
    if (state->rows <= major) state->silent += major - state->rows; /* see ingest_final_merge for the rows after the last */
    if (of_data > 1) state->duplicates += of_data - 1;
    if (of_data == 0 && major != minor) state->reversed++;
    if (of_data == 0 && major == minor) state->loops_added++;
    state->loops += major == minor;
    if (final->keys) final->keys[final->have++] = ingest_key(minor, major, 0);
  }
  final_close_rows(final, major);
  ingest_file_put(&final->column, &id, sizeof id);
  state->entries++;
  state->at = (int64_t)pair;
  return final->is_out ? final_look_back(final, major, minor) : GNN_OK;
}

static gnn_status final_run(ingest_final *final) {
  ingest *in = final->in;
  ingest_state *state = &in->state;
  const int64_t loops = !final->is_out && in->order->recipe.self_loops == GNN_LOOPS_ADD ? state->nodes : 0;
  const int64_t often = final->keys ? final->most : in->order->memory_bytes / 8;
  ingest_merge merge;
  /* A command with more memory may have left more runs. */
  const size_t share = (size_t)(in->order->memory_bytes / 2 / (in->runs.count + 1)) / 8 * 8;
  gnn_status status = ingest_merge_open(&merge, in->folder, in->runs.items, (int)in->runs.count, loops, state->at, share < in->block && in->runs.count > in->order->memory_bytes / (int64_t)in->block / 2 ? share : in->block, in->error);
  if (status != GNN_OK) return status;
  for (int64_t since = 0; status == GNN_OK;) {
    uint64_t pair;
    int64_t of_data;
    int is_there;
    status = ingest_merge_next(&merge, &pair, &of_data, &is_there, in->error);
    if (status != GNN_OK || !is_there) break;
    status = final_pair(final, pair, of_data);
    if (status == GNN_OK && ++since == often) {
      status = final_settle(final);
      since = 0;
    }
    if ((state->entries & 0xfffff) == 0 && ingest_progress_is_due(&in->progress)) {
      if (final->is_out) ingest_progress_say(&in->progress, 0, "by source: %.0f %% of %s edges", 100.0 * (double)state->entries / (double)state->edges, gnn_count_text(state->edges).text);
      else ingest_progress_say(&in->progress, 0, "by destination: node %s of %s, %s edges", gnn_count_text(ingest_major(pair)).text, gnn_count_text(state->nodes).text, gnn_count_text(state->entries).text);
    }
  }
  ingest_merge_close(&merge);
  return status;
}

static gnn_status ingest_final_merge(ingest *in, int is_out) {
  ingest_state *state = &in->state;
  ingest_final final = {.in = in, .is_out = is_out, .row = -1, .ptr = {.descriptor = -1}, .column = {.descriptor = -1}, .in_ptr = {.descriptor = -1}, .in_column = {.descriptor = -1}};
  gnn_status status = ingest_file_open(&final.ptr, in->folder, is_out ? "out.ptr" : "in.ptr", state->rows * 8, 1, (uint32_t)state->sums[is_out], in->block, in->error);
  if (status == GNN_OK) status = ingest_file_open(&final.column, in->folder, is_out ? "out.col" : "in.col", state->entries * 4, 1, (uint32_t)state->sums[2 + is_out], in->block, in->error);
  if (status == GNN_OK && is_out) status = ingest_window_open(in, "in.ptr", 8, &final.in_ptr);
  if (status == GNN_OK && is_out) status = ingest_window_open(in, "in.col", 4, &final.in_column);
  if (status == GNN_OK && !is_out && !in->order->recipe.is_undirected) {
    final.most = (in->order->memory_bytes / 2 - INGEST_SORT_BYTES) / 16;
    final.keys = malloc((size_t)final.most * sizeof *final.keys);
    final.room = malloc((size_t)final.most * sizeof *final.room);
    if (final.keys == NULL || final.room == NULL) status = gnn_fail_memory(in->error, final.most * 16);
  }
  if (status == GNN_OK) status = final_run(&final);
  if (status == GNN_OK) {
    if (!is_out) state->silent += state->nodes - (state->rows > 0 ? state->rows : 0);
    final_close_rows(&final, state->nodes);
    if (!is_out) state->edges = state->entries;
    const ingest_runs spent = in->runs;
    in->runs = in->later;
    in->later = (ingest_runs){0};
    if (final.keys) status = ingest_flush(in, &in->runs, final.keys, final.room, final.have);
    free(final.keys);
    final.keys = NULL;
    state->phase = is_out || in->order->recipe.is_undirected ? INGEST_WRITE : INGEST_OUT;
    state->at = -1;
    if (status == GNN_OK) {
      state->entries = state->rows = 0;
      status = final_settle(&final);
    }
    if (status == GNN_OK) ingest_remove_runs(in, spent.items, spent.count);
    free(spent.items);
  }
  ingest_file_close(&final.ptr);
  ingest_file_close(&final.column);
  ingest_window_close(&final.in_ptr);
  ingest_window_close(&final.in_column);
  free(final.keys);
  free(final.room);
  return status;
}

static gnn_status ingest_sort_direction(ingest *in, int is_out) {
  const int64_t blocks = in->order->memory_bytes / (int64_t)in->block;
  const int64_t fit = is_out || in->order->recipe.is_undirected ? blocks - 8 : blocks / 2 - 8;
  const int most = (int)(fit < INGEST_FILES_MOST ? fit : INGEST_FILES_MOST);
  gnn_status status = GNN_OK;
  while (status == GNN_OK && in->state.at < 0 && in->runs.count > most) status = ingest_merge_some(in, most);
  if (status == GNN_OK) status = ingest_final_merge(in, is_out);
  if (status == GNN_OK)
    ingest_progress_say(&in->progress, 1, "sorted by %s, %s edges, %s since the beginning", is_out ? "source" : "destination", gnn_count_text(in->state.edges).text,
                        gnn_seconds_text(ingest_progress_seconds(&in->progress)).text);
  return status;
}

/* ---- 4. write ---- */

static gnn_status ingest_describe(ingest *in, gnn_dataset **out) {
  const ingest_state *state = &in->state;
  gnn_dataset *dataset = gnn_dataset_new(in->order->input);
  if (dataset == NULL) return gnn_fail_memory(in->error, (int64_t)sizeof *dataset);
  *out = dataset;
  gnn_status status = gnn_edge_list_name(in->order->input, dataset, in->error);
  if (status != GNN_OK) return status;
  gnn_edge_list_notes(&state->place, dataset);
  status = gnn_prepare_nodes(dataset, state->nodes, in->order->rules.nodes < 0, in->error);
  if (status != GNN_OK) return status;
  dataset->edges = state->edges;
  dataset->self_loops = state->loops;
  dataset->silent_nodes = state->silent;
  dataset->mutual_edges = in->order->recipe.is_undirected ? state->edges - state->loops : state->mutual;
  dataset->is_symmetric = dataset->mutual_edges + dataset->self_loops == dataset->edges;
  const gnn_edge_counts counts = {state->duplicates, state->reversed, state->loops_added, state->loops_removed};
  gnn_prepare_report(dataset, &in->order->recipe, &counts);
  gnn_prepare_no_split(dataset);
  return dataset->is_note_lost ? gnn_fail_memory(in->error, 0) : GNN_OK;
}

static gnn_status ingest_append(ingest *in, gnn_writer *writer, const char *name, int64_t bytes) {
  char *path = ingest_path(in->folder, name);
  unsigned char *buffer = malloc(in->block);
  const int descriptor = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
  gnn_status status = !path || !buffer ? gnn_fail_memory(in->error, (int64_t)in->block) : descriptor < 0 ? gnn_fail_file(in->error, "read", path, errno) : GNN_OK;
  for (int64_t at = 0; status == GNN_OK && at < bytes;) {
    const ssize_t got = read(descriptor, buffer, bytes - at < (int64_t)in->block ? (size_t)(bytes - at) : in->block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) status = gnn_fail_file(in->error, "read", path, errno);
    else if (got == 0) status = gnn_fail(in->error, GNN_EIO, "", "\"%s\" is shorter than it was", path);
    else gnn_writer_put(writer, buffer, (size_t)got);
    at += got;
    if (ingest_progress_is_due(&in->progress)) ingest_progress_say(&in->progress, 0, "writing: %s, %.0f %%", name, 100.0 * (double)at / (double)bytes);
  }
  if (descriptor >= 0) close(descriptor);
  free(buffer);
  free(path);
  return status;
}

static gnn_status ingest_write(ingest *in, gnn_dataset **dataset) {
  static const char *const names[4] = {"in.ptr", "out.ptr", "in.col", "out.col"};
  const ingest_state *state = &in->state;
  gnn_text changes = {0}, head = {0};
  gnn_writer writer;
  uint32_t sums[4];
  for (int i = 0; i < 4; i++) sums[i] = (uint32_t)state->sums[i];
  gnn_status status = ingest_describe(in, dataset);
  if (status != GNN_OK) return status;
  gnndata_changes(*dataset, in->order->changes, &changes);
  status = changes.is_broken ? gnn_fail_memory(in->error, 4096) : gnn_container_head(*dataset, changes.data, sums, &head, in->error);
  gnn_text_free(&changes);
  char *whole = ingest_path(in->folder, "whole");
  if (status == GNN_OK) status = whole ? gnn_writer_open(&writer, whole, in->error) : gnn_fail_memory(in->error, 256);
  if (status == GNN_OK) {
    gnn_writer_put(&writer, head.data, head.length);
    for (int i = 0; status == GNN_OK && i < 4; i++)
      if (!(i % 2 && (*dataset)->is_symmetric)) status = ingest_append(in, &writer, names[i], i < 2 ? (state->nodes + 1) * 8 : state->edges * 4);
    gnn_error unused;
    const gnn_status closed = gnn_writer_close(&writer, status == GNN_OK ? in->error : &unused);
    if (status == GNN_OK) status = closed;
  }
  if (status == GNN_OK && rename(whole, in->order->output) != 0) status = gnn_fail_file(in->error, "write", in->order->output, errno);
  gnn_text_free(&head);
  free(whole);
  return status;
}

/* ---- all of it ---- */

static gnn_status ingest_begin(ingest *in) {
  int is_there = 0;
  in->state = (ingest_state){.at = -1, .place = {.greatest = -1}};
  in->folder = malloc(strlen(in->order->output) + 16);
  if (in->folder == NULL) return gnn_fail_memory(in->error, 256);
  sprintf(in->folder, "%s.convert", in->order->output);
  gnn_status status = ingest_identify(in);
  if (status != GNN_OK) return status;
  if (mkdir(in->folder, 0777) != 0 && errno != EEXIST) return gnn_fail_file(in->error, "make the folder", in->folder, errno);
  status = ingest_lock(in);
  if (status == GNN_OK && in->order->is_forced) status = ingest_clear(in, 1);
  if (status == GNN_OK && in->order->is_forced) {
    close(in->lock);
    status = ingest_lock(in);
  }
  if (status == GNN_OK) status = ingest_recall(in, &is_there);
  if (status == GNN_OK) status = ingest_clear(in, 0);
  if (status == GNN_OK && is_there)
    ingest_progress_say(&in->progress, 1, "going on in \"%s\": %s edges were read, %lld runs are there", in->folder, gnn_count_text(in->state.place.edges).text, (long long)(in->runs.count + in->later.count));
  return status;
}

static gnn_status ingest_end(ingest *in, gnn_status status) {
  const int is_read = in->state.phase > INGEST_READ;
  /* A list that is wrong has to be changed, and then nothing of it can be used. */
  if (in->lock >= 0 && (status == GNN_OK || (status == GNN_EDATA && !is_read && in->identity.length))) {
    gnn_error other, *error = in->error;
    if (status != GNN_OK) in->error = &other;
    gnn_status cleared = ingest_clear(in, 1);
    if (cleared == GNN_OK && rmdir(in->folder) != 0) cleared = gnn_fail_file(in->error, "remove", in->folder, errno);
    in->error = error;
    if (status == GNN_OK) status = cleared;
  }
  if (in->lock >= 0) close(in->lock);
  free(in->runs.items);
  free(in->later.items);
  gnn_text_free(&in->identity);
  free(in->folder);
  return status;
}

gnn_status gnndata_ingest(const ingest_order *order, gnn_dataset **dataset, gnn_error *error) {
  ingest in = {.order = order, .lock = -1, .error = error};
  *dataset = NULL;
  in.block = (size_t)order->memory_bytes / 64;
  if (in.block > 1 << 20) in.block = 1 << 20;
  in.block -= in.block % 4096;
  ingest_progress_begin(&in.progress);
  gnn_status status = ingest_begin(&in);
  while (status == GNN_OK && in.state.phase < INGEST_WRITE) status = in.state.phase == INGEST_READ ? ingest_read(&in) : ingest_sort_direction(&in, in.state.phase == INGEST_OUT);
  if (status == GNN_OK) status = ingest_write(&in, dataset);
  if (status == GNN_EIO && !error->help[0] && in.state.place.edges > 0) gnn_fail_help(error, "what is done lies in \"%s\": the same command goes on from there", in.folder);
  return ingest_end(&in, status);
}
