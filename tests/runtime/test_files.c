/* test_files.c: the readers of single files on sound and on damaged ones. Run under the sanitizers: whatever the bytes,
 * a reader either succeeds or says what is wrong. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../runtime/base/guard.h"
#include "../../runtime/base/json.h"
#include "../../runtime/base/made.h"
#include "../../runtime/base/open.h"
#include "../../runtime/data/npy.h"
#include "../../runtime/data/safetensors.h"
#include "tap.h"

enum { ROOM = 1 << 16 };

static int json_is(const char *text, int sound) {
  gnn_json json;
  gnn_error error = {"", "", ""};
  gnn_status status = gnn_json_parse("test", (const unsigned char *)text, strlen(text), &json, &error);
  if (status == GNN_OK) gnn_json_free(&json);
  return (status == GNN_OK) == sound && (sound || error.message[0]);
}

static void test_json(void) {
  static const char *const good[] = {"{}", " [1, 2.5, -3e2, 0] ", "{\"a\": {\"b\": [null, true, false]}}", "\"\\u00e9\\ud83d\\ude00\\n\"", "0"};
  static const char *const bad[] = {"", "{", "{\"a\"}", "[1,]", "{\"a\":1,}", "01", "1.", "nul", "\"\\x\"", "\"a", "{} {}", "\"\\ud83d\"", "-", "[1 2]", "\"\\u0000\"", "{1:2}", "+1", "1e", ".5", "\"\t\""};
  int wrong = 0;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) wrong += !json_is(good[i], 1);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) wrong += !json_is(bad[i], 0);
  tap_ok(wrong == 0, "json: what is JSON and what is not");
  char deep[200];
  memset(deep, '[', 100);
  memset(deep + 100, ']', 99);
  deep[199] = 0;
  tap_ok(json_is(deep, 0), "json: nesting is limited");
  gnn_json json;
  static const char text[] = "{\"n\": 9007199254740993, \"s\": \"\\u20ac\", \"l\": [7, 8]}";
  gnn_status status = gnn_json_parse("test", (const unsigned char *)text, sizeof text - 1, &json, NULL);
  const gnn_json_node *n = status == GNN_OK ? gnn_json_member(&json, &json.nodes[0], "n") : NULL;
  const gnn_json_node *s = n ? gnn_json_member(&json, &json.nodes[0], "s") : NULL;
  tap_ok(n && n->is_integer && n->integer == INT64_C(9007199254740993) && s && strcmp(s->text, "€") == 0 &&
         gnn_json_member(&json, &json.nodes[0], "x") == NULL, "json: integers are exact, escapes are UTF-8");
  if (status == GNN_OK) gnn_json_free(&json);
}

static gnn_status npy_status(const char *path, gnn_error *error) {
  gnn_file file;
  gnn_array array;
  int is_transposed;
  gnn_status status = gnn_npy_open(path, &file, &array, &is_transposed, error);
  if (status == GNN_OK) {
    double sum = 0;
    for (int64_t i = 0; i < array.count; i++) sum += gnn_array_number(&array, i);
    (void)sum;
    gnn_file_close(&file);
  }
  return status;
}

/* A .npy file of version 1 with this header text. */
static void npy_raw(const char *path, int version, const char *header, const void *data, size_t bytes) {
  unsigned char out[4096] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  size_t length = strlen(header), at = version == 1 ? 10 : 12;
  out[6] = (unsigned char)version;
  out[8] = (unsigned char)(length & 255);
  out[9] = (unsigned char)(length >> 8);
  memcpy(out + at, header, length);
  memcpy(out + at + length, data, bytes);
  tap_write(path, out, at + length + bytes);
}

static int npy_header_refused(const char *header) {
  static const unsigned char data[64];
  gnn_error error = {"", "", ""};
  npy_raw(tap_path("h.npy"), 1, header, data, 48);
  return npy_status(tap_path("h.npy"), &error) == GNN_EDATA && error.message[0];
}

static void test_npy(void) {
  float numbers[6] = {1, 2, 3, 4, 5, 6};
  gnn_array array = {.dtype = GNN_F32, .rank = 2, .shape = {2, 3}, .count = 6, .data = (const unsigned char *)numbers}, back;
  gnn_file file;
  gnn_error error;
  int is_transposed;
  const char *path = tap_path("a.npy");
  gnn_status status = gnn_npy_write(path, &array, &error);
  if (status == GNN_OK) status = gnn_npy_open(path, &file, &back, &is_transposed, &error);
  tap_ok(status == GNN_OK && back.rank == 2 && back.shape[0] == 2 && back.shape[1] == 3 && back.dtype == GNN_F32 &&
         memcmp(back.data, numbers, sizeof numbers) == 0 && !is_transposed, "npy: what is written is read");
  if (status == GNN_OK) gnn_file_close(&file);

  npy_raw(path, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }\n", numbers, sizeof numbers);
  status = gnn_npy_open(path, &file, &back, &is_transposed, &error);
  float expected[6] = {1, 4, 2, 5, 3, 6};
  tap_ok(status == GNN_OK && is_transposed && memcmp(back.data, expected, sizeof expected) == 0, "npy: Fortran order is transposed");
  if (status == GNN_OK) gnn_file_close(&file);

  int wrong = 0;
  for (int version = 1; version <= 3; version++) {
    npy_raw(path, version, "{'shape': (), 'fortran_order': False, 'descr': '<i8'}", "\5\0\0\0\0\0\0\0", 8);
    status = gnn_npy_open(path, &file, &back, &is_transposed, &error);
    wrong += !(status == GNN_OK && back.rank == 0 && back.count == 1 && gnn_array_integer(&back, 0) == 5);
    if (status == GNN_OK) gnn_file_close(&file);
  }
  tap_ok(wrong == 0, "npy: versions 1 to 3, numbers without dimension");

  static const struct { const char *code; gnn_dtype dtype; unsigned char bytes[8]; double value; } kinds[] = {
    {"|b1", GNN_BOOL, {1}, 1}, {"|u1", GNN_U8, {200}, 200}, {"|i1", GNN_I8, {0xff}, -1}, {"<u2", GNN_U16, {1, 2}, 513},
    {"<i2", GNN_I16, {0xfe, 0xff}, -2}, {"<u4", GNN_U32, {0, 0, 0, 0x80}, 2147483648.0}, {"<i4", GNN_I32, {0xff, 0xff, 0xff, 0xff}, -1},
    {"<u8", GNN_U64, {3}, 3}, {"<i8", GNN_I64, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, -1}, {"<f2", GNN_F16, {0, 0xc0}, -2},
    {"<f4", GNN_F32, {0, 0, 0x80, 0x3f}, 1}, {"<f8", GNN_F64, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 1}, {"=f4", GNN_F32, {0, 0, 0x80, 0x3f}, 1}};
  wrong = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char header[100];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }", kinds[i].code);
    npy_raw(path, 1, header, kinds[i].bytes, (size_t)gnn_dtype_bytes(kinds[i].dtype));
    status = gnn_npy_open(path, &file, &back, &is_transposed, &error);
    int is_right = status == GNN_OK && back.dtype == kinds[i].dtype && gnn_array_number(&back, 0) == kinds[i].value;
    wrong += !is_right;
    if (status == GNN_OK) gnn_file_close(&file);
  }
  tap_ok(wrong == 0, "npy: every kind of number");

  npy_raw(path, 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", numbers, 4);
  status = gnn_npy_open(path, &file, &back, &is_transposed, &error);
  const unsigned char *one = (const unsigned char *)numbers;
  const unsigned char turned[4] = {one[3], one[2], one[1], one[0]};
  tap_ok(status == GNN_OK && memcmp(back.data, turned, 4) == 0 && is_transposed == GNN_NPY_SWAPPED, "npy: big-endian numbers are turned round");
  if (status == GNN_OK) gnn_file_close(&file);
  npy_raw(path, 1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", numbers, 4);
  tap_ok(npy_status(path, &error) == GNN_EDATA && strstr(error.message, "pickle"), "npy: pickles are never read");
  static const char *const bad[] = {
    "", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (12,), 'x': 1}",
    "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (12,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': 12}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-12,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (12, 1",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,12)}",
    "{'descr': '<c8', 'fortran_order': False, 'shape': (6,)}", "{'descr': [('a','<f4')], 'fortran_order': False, 'shape': (12,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (12,)} x", "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (12,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (11,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (13,)}"};
  wrong = 0;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) wrong += !npy_header_refused(bad[i]);
  tap_ok(wrong == 0, "npy: %d wrong headers are refused", (int)(sizeof bad / sizeof *bad));

  unsigned char bytes[ROOM];
  gnn_npy_write(path, &array, &error);
  size_t size = tap_read(path, bytes, ROOM);
  wrong = 0;
  for (size_t n = 0; n < size; n++) {
    tap_write(path, bytes, n);
    error.message[0] = 0;
    wrong += npy_status(path, &error) == GNN_OK || !error.message[0];
  }
  tap_ok(wrong == 0, "npy: cut at each of %d lengths", (int)size);
  for (size_t n = 0; n < size * 8; n++) {
    bytes[n / 8] ^= (unsigned char)(1 << n % 8);
    tap_write(path, bytes, size);
    error.message[0] = 0;
    wrong += npy_status(path, &error) != GNN_OK && !error.message[0];
    bytes[n / 8] ^= (unsigned char)(1 << n % 8);
  }
  tap_ok(wrong == 0, "npy: each of %d bits flipped", (int)size * 8);
}

static void test_gzip(void) {
  char command[700];
  float numbers[6] = {1, 2, 3, 4, 5, 6};
  gnn_array array = {.dtype = GNN_F32, .rank = 1, .shape = {6}, .count = 6, .data = (const unsigned char *)numbers};
  gnn_error error;
  const char *path = tap_path("z.npy"), *packed = tap_path("z.npy.gz");
  gnn_npy_write(path, &array, &error);
  snprintf(command, sizeof command, "gzip -9n %s", path);
  if (system(command) != 0) {
    tap_skip("gzip", "no gzip here");
    return;
  }
  tap_ok(npy_status(path, &error) == GNN_OK, "gzip: x.npy is found as x.npy.gz");
  unsigned char bytes[ROOM];
  size_t size = tap_read(packed, bytes, ROOM);
  int wrong = 0;
  for (size_t n = 0; n < size; n++) {
    tap_write(packed, bytes, n);
    wrong += npy_status(path, &error) == GNN_OK;
  }
  tap_ok(wrong == 0, "gzip: cut at each of %d lengths", (int)size);
  for (size_t n = 10; n < size; n++) { /* the ten bytes before hold a date and such */
    bytes[n] ^= 0x10;
    tap_write(packed, bytes, size);
    error.message[0] = 0;
    wrong += npy_status(path, &error) == GNN_OK || !error.message[0];
    bytes[n] ^= 0x10;
  }
  tap_ok(wrong == 0, "gzip: no damaged byte goes unseen");
}

/* ---- files that change under a reader, what is no file, names that others took ---- */

static void *sum_bytes(void *file) {
  const gnn_file *read = file;
  int64_t sum = 0;
  for (size_t i = 0; i < read->size; i++) sum += read->data[i];
  return (void *)(intptr_t)sum;
}

static void test_cut(void) {
  enum { BYTES = 1 << 20, THREADS = 4 };
  static unsigned char ones[BYTES];
  const char *path = tap_path("shrinks"), *other = tap_path("stays");
  gnn_file file, beside;
  gnn_error error;
  struct sigaction before, within, after;
  memset(ones, 1, sizeof ones);
  tap_write(path, ones, BYTES);
  tap_write(other, ones, BYTES);
  sigaction(SIGBUS, NULL, &before);
  int is_open = gnn_file_open(path, gnn_file_text, &file, &error) == GNN_OK && gnn_file_open(other, gnn_file_text, &beside, &error) == GNN_OK;
  sigaction(SIGBUS, NULL, &within);
  tap_ok(is_open && gnn_file_check(&file, GNN_OK, &error) == GNN_OK && gnn_file_check(&file, GNN_EDATA, &error) == GNN_EDATA, "file: one that stays as it is");
  if (!is_open || truncate(path, 5000) != 0) return;
  pthread_t threads[THREADS];
  void *sums[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, sum_bytes, &file);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], &sums[i]);
  int wrong = 0;
  for (int i = 0; i < THREADS; i++) wrong += (intptr_t)sums[i] != 5000;
  tap_ok(wrong == 0, "file: what was cut off reads as zeros, in %d threads at once", THREADS);
  error.message[0] = 0;
  tap_ok(gnn_file_check(&file, GNN_OK, &error) == GNN_EIO && strstr(error.message, "was cut short"), "file: that it was cut short is an error");
  tap_ok((intptr_t)sum_bytes(&beside) == BYTES && gnn_file_check(&beside, GNN_OK, &error) == GNN_OK, "file: the one beside it is as it was");
  gnn_file_close(&file);
  gnn_file_close(&beside);
  sigaction(SIGBUS, NULL, &after);
  tap_ok(within.sa_handler != before.sa_handler && after.sa_handler == before.sa_handler, "file: the handler of before is back");
}

static void test_open(void) {
  gnn_error error;
  gnn_file file;
  const char *path = tap_path("fifo");
  error.message[0] = 0;
  if (mkfifo(path, 0600) != 0) return;
  tap_ok(gnn_file_open(path, gnn_file_text, &file, &error) == GNN_EIO && strstr(error.message, "a pipe or a device") && gnn_open_into(path) < 0 &&
         gnn_file_open("/dev/zero", gnn_file_text, &file, &error) == GNN_EIO && gnn_file_open("/", gnn_file_text, &file, &error) == GNN_EIO,
         "open: pipes, devices and folders are no files, and nothing waits");
  char *names[2] = {NULL, NULL};
  int first = gnn_open_beside(tap_path("out"), &names[0]), second = gnn_open_beside(tap_path("out"), &names[1]);
  tap_ok(first >= 0 && second >= 0 && strcmp(names[0], names[1]) != 0 && (fcntl(first, F_GETFL) & O_NONBLOCK) == 0, "open: no two temporary names are the same");
  for (int i = 0; i < 2; i++) {
    close(i == 0 ? first : second);
    if (names[i]) unlink(names[i]);
    free(names[i]);
  }
}

static int64_t promise_ten(const unsigned char *head, size_t size) {
  return size < 4 ? 4 : memcmp(head, "none", 4) == 0 ? -1 : 10;
}

static void test_promise(void) {
  static const struct { const char *text; gnn_status status; size_t size; } cases[] = {
    {"0123456789", GNN_OK, 10}, {"01234", GNN_OK, 5}, {"01", GNN_OK, 2}, {"", GNN_OK, 0}, {"0123456789a", GNN_EDATA, 0}, {"none of the form", GNN_OK, 4}};
  int wrong = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[700];
    gnn_file file;
    gnn_error error;
    tap_write(tap_path("promise"), cases[i].text, strlen(cases[i].text));
    snprintf(command, sizeof command, "gzip -nf %s", tap_path("promise"));
    if (system(command) != 0) return;
    gnn_status status = gnn_file_open(tap_path("promise.gz"), promise_ten, &file, &error);
    wrong += status != cases[i].status || (status == GNN_OK && (file.size != cases[i].size || memcmp(file.data, cases[i].text, file.size) != 0));
    if (status == GNN_OK) gnn_file_close(&file);
  }
  tap_ok(wrong == 0, "gzip: unpacked as far as promised; more is an error, less is for the reader to say");
}

/* Three quarters of a MiB at a time, each of another letter. */
static int made_holds(const gnn_file *file, int puts, size_t each) {
  int is_same = file->size == (size_t)puts * each && file->is_made;
  for (int p = 0; is_same && p < puts; p++)
    for (size_t i = 0; is_same && i < each; i++) is_same = file->data[(size_t)p * each + i] == (p == 4 ? 'e' : 0);
  return is_same;
}

static void test_made(void) {
  enum { EACH = 3 << 18, PUTS = 5 };
  gnn_error error;
  struct rlimit none, limit;
  unsigned char *bytes = calloc(EACH, 1);
  int wrong = 0, full = open("/dev/full", O_RDWR | O_CLOEXEC); /* reads as zeros */
  getrlimit(RLIMIT_FSIZE, &none);
  for (int turn = 0; bytes && turn < 3; turn++) { /* on a disk, on one that is full in the end, on none */
    gnn_file file = {0};
    gnn_made made;
    gnn_made_begin(&made);
    gnn_status status = GNN_OK;
    limit = none;
    limit.rlim_cur = turn == 2 ? PUTS * EACH : none.rlim_cur;
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int p = 0; status == GNN_OK && p < PUTS; p++) {
      memset(bytes, p == 4 ? 'e' : 0, EACH);
      if (turn == 1 && p == 4 && made.descriptor >= 0) dup2(full, made.descriptor);
      status = gnn_made_put(&made, bytes, EACH, &error);
      if (p == 1 && turn == 2) wrong += made.descriptor >= 0;
      if (p == 1 && turn < 2 && made.descriptor < 0) printf("# no disk has room: in memory\n");
    }
    if (status == GNN_OK) status = gnn_made_end(&made, &file, &error);
    wrong += status != GNN_OK || !made_holds(&file, PUTS, EACH) || (turn > 0 && file.guard);
    gnn_file_close(&file);
  }
  setrlimit(RLIMIT_FSIZE, &none);
  close(full);
  free(bytes);
  tap_ok(wrong == 0, "made: what is unpacked, in a file, on a disk that is full, and where there is none");
}

/* The pages of a file that are in memory, in bytes. */
static size_t bytes_in_memory(unsigned char *data, size_t size) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char *is_in = malloc(size / page + 1);
  size_t bytes = 0;
  if (is_in && mincore(data, size, is_in) == 0)
    for (size_t p = 0; p < (size + page - 1) / page; p++) bytes += is_in[p] & 1 ? page : 0;
  free(is_in);
  return bytes;
}

/* Whatever the disk is set to read ahead: from a place within the file on, a mebibyte of it. */
static void test_reading(void) {
  enum { MIB = 1 << 20, SIZE = 48 * MIB };
  const char *path = "/var/tmp"; /* on a disk; a file in memory never leaves it */
  int descriptor = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), wrong = 0;
  unsigned char *bytes = calloc(MIB, 1);
  for (int i = 0; bytes && descriptor >= 0 && i < SIZE / MIB; i++) wrong += memset(bytes, 'a' + i % 16, MIB) == NULL || write(descriptor, bytes, MIB) != MIB;
  free(bytes);
  int is_out = descriptor >= 0 && fsync(descriptor) == 0 && posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0;
  gnn_guard *guard = is_out ? gnn_guard_map(descriptor) : NULL;
  unsigned char *data = guard ? gnn_guard_data(guard) : NULL;
  if (data && bytes_in_memory(data, SIZE) == 0) {
    gnn_reading window = gnn_reading_begin(data + 16 * MIB);
    for (size_t at = 16 * MIB; at < 17 * MIB; at += 4096) {
      wrong += data[at] != 'a';
      gnn_reading_pass(&window, data + at + 4096);
    }
    gnn_reading_end(&window, data + 17 * MIB);
    const size_t held = bytes_in_memory(data, SIZE);
    printf("# %zu bytes are in memory\n", held);
    tap_ok(wrong == 0 && held >= MIB / 4 && held <= 2 * MIB, "reading: what is read ahead of a window is the next one");
  } else tap_skip("reading: what is read ahead of a window is the next one", "/var/tmp is not on a disk");
  if (guard) gnn_guard_unmap(guard);
  else if (descriptor >= 0) close(descriptor);
}

static gnn_status st_status(const char *path, gnn_error *error) {
  gnn_safetensors file;
  gnn_status status = gnn_safetensors_open(path, &file, error);
  if (status != GNN_OK) return status;
  double sum = 0;
  for (int t = 0; t < file.tensor_count; t++)
    for (int64_t i = 0; i < file.tensors[t].array.count; i++) sum += gnn_array_number(&file.tensors[t].array, i);
  (void)sum;
  gnn_safetensors_close(&file);
  return status;
}

static int st_accepts(const char *header, size_t data_bytes) {
  unsigned char bytes[2048] = {0};
  size_t length = strlen(header);
  gnn_error error = {"", "", ""};
  const char *path = tap_path("bad.safetensors");
  bytes[0] = (unsigned char)(length & 255);
  bytes[1] = (unsigned char)(length >> 8);
  memcpy(bytes + 8, header, length);
  tap_write(path, bytes, 8 + length + data_bytes);
  gnn_status status = st_status(path, &error);
  if (status != GNN_OK && (status != GNN_EDATA || !error.message[0])) printf("# without a reason: %s\n", header);
  return status == GNN_OK || status != GNN_EDATA || !error.message[0];
}

static void test_safetensors(void) {
  float f[6] = {1, 2, 3, 4, 5, 6};
  int64_t n[3] = {7, -8, 9};
  unsigned char b[5] = {1, 0, 1, 1, 0};
  gnn_tensor tensors[] = {
    {.name = "mask", .array = {.dtype = GNN_BOOL, .rank = 1, .shape = {5}, .count = 5, .data = b}},
    {.name = "w\"eird\\ näme", .array = {.dtype = GNN_F32, .rank = 2, .shape = {2, 3}, .count = 6, .data = (const unsigned char *)f}},
    {.name = "ids", .array = {.dtype = GNN_I64, .rank = 1, .shape = {3}, .count = 3, .data = (const unsigned char *)n}},
    {.name = "none", .array = {.dtype = GNN_F32, .rank = 2, .shape = {0, 4}, .count = 0, .data = (const unsigned char *)f}},
    {.name = "one", .array = {.dtype = GNN_F32, .rank = 0, .count = 1, .data = (const unsigned char *)f}}};
  gnn_pair pairs[] = {{"key", "value\nof two lines"}, {"empty", ""}};
  gnn_error error;
  gnn_safetensors file;
  const char *path = tap_path("t.safetensors");
  gnn_status status = gnn_safetensors_write(path, tensors, 5, pairs, 2, &error);
  if (status == GNN_OK) status = gnn_safetensors_open(path, &file, &error);
  int is_same = status == GNN_OK && file.tensor_count == 5 && file.pair_count == 4 && file.has_sums &&
                strcmp(gnn_safetensors_text(&file, "key"), pairs[0].value) == 0;
  for (int t = 0; is_same && t < 5; t++) {
    const gnn_array *array = gnn_safetensors_find(&file, tensors[t].name);
    is_same = array && array->dtype == tensors[t].array.dtype && array->rank == tensors[t].array.rank &&
              array->count == tensors[t].array.count &&
              memcmp(array->data, tensors[t].array.data, (size_t)(array->count * gnn_dtype_bytes(array->dtype))) == 0 &&
              (uintptr_t)array->data % (uintptr_t)gnn_dtype_bytes(array->dtype) == 0;
  }
  tap_ok(is_same, "safetensors: what is written is read, aligned");
  if (status == GNN_OK) gnn_safetensors_close(&file);

  tap_ok(st_accepts("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}   ", 8), "safetensors: a padded header is sound");
  static const struct { const char *header; size_t bytes; } bad[] = {
    {"", 0}, {"x", 0}, {"[]", 0}, {"{", 0}, {"{} x", 0}, {"{}", 1}, {"{\"a\":1}", 0}, {"{\"a\":{}}", 0},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 7},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 9},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 8},
    {"{\"a\":{\"dtype\":\"Q9\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", 8},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[-8,0]}}", 8},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,8]}}", 8},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}", 8},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]}}", 0},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", 12},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}}", 12},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[0,4611686018427387904],\"data_offsets\":[0,0]}}", 0},
    {"{\"__metadata__\":{\"gnncc.crc32.data\":\"\"}}", 0}, {"{\"__metadata__\":{\"gnncc.crc32\":\"00000000\"}}", 0},
    {"{\"a\\u001b[2J\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8},
    {"{\"a\\n\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8},
    {"{\"__metadata__\":{\"a\":1}}", 0}, {"{\"__metadata__\":[]}", 0},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[18446744073709551608,18446744073709551616]}}", 8}};
  int wrong = 0;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) wrong += st_accepts(bad[i].header, bad[i].bytes);
  tap_ok(wrong == 0, "safetensors: %d unsound headers are refused", (int)(sizeof bad / sizeof *bad));
  static const unsigned char huge[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, '{', '}'};
  tap_write(path, huge, sizeof huge);
  tap_ok(st_status(path, &error) == GNN_EDATA, "safetensors: a header longer than the file");

  gnn_safetensors_write(path, tensors, 5, pairs, 2, &error);
  unsigned char bytes[ROOM];
  size_t size = tap_read(path, bytes, ROOM);
  wrong = 0;
  for (size_t cut = 0; cut < size; cut++) {
    tap_write(path, bytes, cut);
    error.message[0] = 0;
    wrong += st_status(path, &error) == GNN_OK || !error.message[0];
  }
  tap_ok(wrong == 0, "safetensors: cut at each of %d lengths", (int)size);
  for (size_t k = 0; k < size * 8; k++) {
    bytes[k / 8] ^= (unsigned char)(1 << k % 8);
    tap_write(path, bytes, size);
    error.message[0] = 0;
    wrong += st_status(path, &error) == GNN_OK || !error.message[0];
    bytes[k / 8] ^= (unsigned char)(1 << k % 8);
  }
  tap_ok(wrong == 0, "safetensors: each of %d bits flipped is seen", (int)size * 8);
}

static void test_numbers(void) {
  tap_ok(strcmp(gnn_count_text(-1234567).text, "-1,234,567") == 0 && strcmp(gnn_count_text(999).text, "999") == 0 &&
         strcmp(gnn_bytes_text(1536).text, "1.5 KiB") == 0 && strcmp(gnn_bytes_above_text(1536).text, "1.5 KiB") == 0 &&
             strcmp(gnn_bytes_text(1537).text, "1.5 KiB") == 0 && strcmp(gnn_bytes_above_text(1537).text, "1.6 KiB") == 0 && strcmp(gnn_seconds_text(73).text, "1 m 13 s") == 0,
         "text: numbers as people read them");
  static const char *const names[] = {"epochs", "seed", "learning_rate"}, *const letters[] = {"h", "z"};
  tap_ok(gnn_nearest("epohcs", names, 3) == names[0] && gnn_nearest("seeed", names, 3) == names[1] &&
         gnn_nearest("colour", names, 3) == NULL && gnn_nearest("y", letters, 2) == NULL && gnn_nearest("hh", letters, 2) == letters[0], "text: did you mean");
  double v;
  int64_t n;
  tap_ok(gnn_parse_number("1e-3", &v) && v == 1e-3 && gnn_parse_number("-.5", &v) && v == -.5 && !gnn_parse_number("1x", &v) &&
         !gnn_parse_number("", &v) && !gnn_parse_number("nan", &v) && !gnn_parse_number("1e999", &v), "text: numbers are read strictly");
  tap_ok(gnn_parse_integer("9223372036854775807", &n) && n == INT64_MAX && !gnn_parse_integer("9223372036854775808", &n) &&
         gnn_parse_integer("2_449_029", &n) && n == 2449029 && !gnn_parse_integer("-", &n), "text: integers do not overflow");
  gnn_array half = {.dtype = GNN_F16, .rank = 1, .shape = {4}, .count = 4, .data = (const unsigned char *)"\x01\x00\x00\x7c\xff\x7b\x00\xfe"};
  tap_ok(gnn_array_number(&half, 0) == 0x1p-24 && isinf(gnn_array_number(&half, 1)) && gnn_array_number(&half, 2) == 65504 &&
         isnan(gnn_array_number(&half, 3)), "array: half precision, subnormal and infinite");
  gnn_array brain = {.dtype = GNN_BF16, .rank = 1, .shape = {1}, .count = 1, .data = (const unsigned char *)"\x49\x40"};
  tap_ok(fabs(gnn_array_number(&brain, 0) - 3.140625) < 1e-9, "array: bfloat16");
}

static void test_writer(void) {
  gnn_error error;
  gnn_writer writer;
  gnn_status status = gnn_writer_open(&writer, tap_path("no/such/folder/x"), &error);
  tap_ok(status == GNN_EIO && error.message[0], "file: a folder that is not there");
  status = gnn_writer_open(&writer, tap_path("w.txt"), &error);
  gnn_writer_put(&writer, "abc", 3);
  int is_absent = !gnn_path_exists(tap_path("w.txt"));
  if (status == GNN_OK) status = gnn_writer_close(&writer, &error);
  tap_ok(status == GNN_OK && is_absent && gnn_path_exists(tap_path("w.txt")), "file: it appears only when complete");
  tap_ok(gnn_make_directories(tap_path("a/b/c"), &error) == GNN_OK && gnn_path_is_directory(tap_path("a/b/c")) &&
         gnn_make_directories(tap_path("w.txt/x"), &error) == GNN_EIO, "file: folders are made, but not below a file");
}

int main(void) {
  test_numbers();
  test_json();
  test_npy();
  test_gzip();
  test_safetensors();
  test_writer();
  test_cut();
  test_open();
  test_promise();
  test_made();
  test_reading();
  if (tap_remove_folder() != 0) return 99;
  return tap_done();
}
