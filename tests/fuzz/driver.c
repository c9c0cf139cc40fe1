/* driver: runs a target where there is no libFuzzer: first the inputs of the corpus as they are, then as many mutated ones as fit into a time,
 * always the same ones in the same order.
 *
 *   TARGET [SECONDS [DICTIONARY]] CORPUS...     folders or files
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 16, LIMIT_SECONDS = 10 };

typedef struct Input {
  uint8_t *data;
  size_t size;
} Input;

static Input *inputs, *words, current;
static int input_count, word_count;
static uint64_t state = 20260101;

static uint32_t below(size_t limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return limit ? (uint32_t)((state >> 33) % limit) : 0;
}

static void add(Input **list, int *count, const uint8_t *data, size_t size) {
  *list = realloc(*list, (size_t)(*count + 1) * sizeof **list);
  Input input = {malloc(size + 1), size};
  HOLDS(*list && input.data);
  if (size) memcpy(input.data, data, size);
  (*list)[(*count)++] = input;
}

static void add_path(const char *path) {
  struct stat status;
  HOLDS(stat(path, &status) == 0);
  if (S_ISDIR(status.st_mode)) {
    struct dirent **names;
    int count = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
      char inner[4096];
      snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name);
      if (names[i]->d_name[0] != '.') add_path(inner);
      free(names[i]);
    }
    if (count >= 0) free(names);
    return;
  }
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(MOST);
  HOLDS(file && data);
  add(&inputs, &input_count, data, fread(data, 1, MOST, file));
  fclose(file);
  free(data);
}

/* Lines of "word", with \xHH, \\ and \" as libFuzzer's dictionaries have them. */
static void add_words(const char *path) {
  FILE *file = fopen(path, "r");
  char line[512];
  HOLDS(file);
  while (fgets(line, sizeof line, file)) {
    uint8_t word[256];
    size_t size = 0;
    const char *at = line[0] == '#' ? NULL : strchr(line, '"');
    if (!at) continue;
    for (at++; *at && *at != '"' && size < sizeof word; at++) {
      unsigned byte;
      if (at[0] == '\\' && at[1] == 'x' && sscanf(at + 2, "%2x", &byte) == 1) word[size++] = (uint8_t)byte, at += 3;
      else word[size++] = (uint8_t)(*at == '\\' ? *++at : *at);
    }
    add(&words, &word_count, word, size);
  }
  fclose(file);
}

static size_t replace(uint8_t *data, size_t size, size_t at, size_t cut, const uint8_t *with, size_t length) {
  if (size - cut + length > MOST) return size;
  memmove(data + at + length, data + at + cut, size - at - cut);
  if (length) memcpy(data + at, with, length);
  return size - cut + length;
}

static size_t mutate(uint8_t *data, size_t size) {
  static const uint64_t numbers[] = {0, 1, UINT64_MAX, INT64_MAX, 1u << 31, UINT32_MAX, 255, 1ull << 40};
  const Input *other = &inputs[below((size_t)input_count)];
  size_t at = below(size + 1), rest = size - at;
  switch (below(9)) {
  case 0: if (rest) data[at] ^= (uint8_t)(1u << below(8)); return size;
  case 1: if (rest) data[at] = (uint8_t)below(256); return size;
  case 2: return replace(data, size, at, below(rest < 16 ? rest + 1 : 16), NULL, 0);
  case 3: return below(8) ? size : at; /* cut short */
  case 4: {
    const size_t bytes = (size_t)1 << below(4);
    return replace(data, size, at, rest < bytes ? rest : bytes, (const uint8_t *)&numbers[below(8)], bytes);
  }
  case 5: { /* a piece of another input */
    size_t from = below(other->size + 1), length = below(other->size - from + 1);
    return replace(data, size, at, below(2) ? 0 : below(rest + 1), other->data + from, length);
  }
  case 6: { /* a piece once more */
    uint8_t piece[64];
    size_t length = rest < sizeof piece ? rest : sizeof piece;
    memcpy(piece, data + at, length);
    return replace(data, size, below(size + 1), 0, piece, length);
  }
  default:
    if (word_count == 0) return size;
    other = &words[below((size_t)word_count)];
    return replace(data, size, at, below(2) ? 0 : rest < other->size ? rest : other->size, other->data, other->size);
  }
}

/* What a reader did not survive, or for too long, is kept. */
static void keep(int signal_number) {
  static const char told[] = "the input is in crash-input\n";
  FILE *file = fopen("crash-input", "wb");
  if (file) fwrite(current.data, 1, current.size, file), fclose(file);
  if (write(2, told, sizeof told - 1) < 0) _exit(99);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void run(const uint8_t *data, size_t size) {
  uint8_t *exact = malloc(size ? size : 1); /* reading beyond it is noticed */
  HOLDS(exact);
  if (size) memcpy(exact, data, size);
  current = (Input){exact, size};
  alarm(LIMIT_SECONDS);
  LLVMFuzzerTestOneInput(exact, size);
  alarm(0);
  free(exact);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 0, start = now();
  long rounds = 0;
  if (argc > 2 && *argv[2]) add_words(argv[2]);
  for (int i = 3; i < argc; i++) add_path(argv[i]);
  HOLDS(input_count > 0);
  signal(SIGALRM, keep);
  signal(SIGABRT, keep);
  for (int i = 0; i < input_count; i++) run(inputs[i].data, inputs[i].size);
  uint8_t *data = malloc(MOST + 64);
  HOLDS(data);
  for (; now() - start < seconds; rounds++) {
    const Input *input = &inputs[below((size_t)input_count)];
    size_t size = input->size;
    memcpy(data, input->data, size);
    for (uint32_t k = 1 + below(5); k > 0; k--) size = mutate(data, size);
    run(data, size);
  }
  printf("%d inputs, %ld mutated\n", input_count, rounds);
  free(data);
  for (int i = 0; i < input_count; i++) free(inputs[i].data);
  for (int i = 0; i < word_count; i++) free(words[i].data);
  free(inputs);
  free(words);
  return 0;
}
