#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static char folder[64];

static void remove_folder(void) {
  DIR *open = opendir(folder);
  const struct dirent *entry;
  while (open && (entry = readdir(open))) unlinkat(dirfd(open), entry->d_name, 0);
  if (open) closedir(open);
  rmdir(folder);
}

const char *fuzz_folder(void) {
  if (*folder) return folder;
  snprintf(folder, sizeof folder, "%s/gnncc-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  HOLDS(mkdtemp(folder));
  atexit(remove_folder);
  return folder;
}

const char *fuzz_file(const char *name, const uint8_t *data, size_t size) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  HOLDS(file >= 0 && write(file, data, size) == (ssize_t)size && close(file) == 0);
  return path;
}

void fuzz_remove(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
  unlink(path);
}

/* The header "\n@NAME\n" at or after `at`, of any of the names; NULL without one. */
static const uint8_t *find_header(const char *const *names, const uint8_t *at, const uint8_t *end, int *which, size_t *length) {
  for (; at < end && (at = memmem(at, (size_t)(end - at), "\n@", 2)); at++)
    for (int i = 0; names[i]; i++) {
      char header[80];
      *length = (size_t)snprintf(header, sizeof header, "\n@%s\n", names[i]);
      *which = i;
      if ((size_t)(end - at) >= *length && memcmp(at, header, *length) == 0) return at;
    }
  return NULL;
}

void fuzz_files(const char *const *names, const uint8_t *data, size_t size) {
  const uint8_t *end = data + size;
  int which, next;
  size_t length, next_length;
  for (int i = 0; names[i]; i++) fuzz_remove(names[i]);
  for (const uint8_t *at = find_header(names, data, end, &which, &length), *after; at; at = after, which = next, length = next_length) {
    after = find_header(names, at + length, end, &next, &next_length);
    fuzz_file(names[which], at + length, (size_t)((after ? after : end) - at) - length);
  }
}
