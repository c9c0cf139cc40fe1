/* cut.c: for LD_PRELOAD. A file whose path ends in $CUT_FILE is cut to $CUT_SIZE bytes right after it has been mapped (or, where
 * $CUT_READ is set, read for the first time): its length and its beginning were as they should be. $CUT_BYTE: nothing is lost, one
 * byte of it becomes another. */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void cut(int file) {
  char link[64], path[PATH_MAX];
  const char *wanted = getenv("CUT_FILE"), *size = getenv("CUT_SIZE"), *byte = getenv("CUT_BYTE");
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  size_t tail = wanted ? strlen(wanted) : 0;
  if (tail == 0 || length < (ssize_t)tail) return;
  path[length] = 0;
  if (strcmp(path + length - tail, wanted) != 0) return;
  if (size && truncate(path, atol(size)) != 0) perror("cut");
  int other = byte ? open(path, O_WRONLY) : -1;
  if (byte && pwrite(other, "\xff", 1, atol(byte)) != 1) perror("cut");
  if (other >= 0) close(other);
}

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
  void *(*next)(void *, size_t, int, int, int, off_t) = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
  void *memory = next(at, size, protection, flags, file, offset);
  if (file >= 0 && !getenv("CUT_READ")) cut(file);
  return memory;
}

ssize_t read(int file, void *to, size_t size) {
  ssize_t (*next)(int, void *, size_t) = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
  ssize_t done = next(file, to, size);
  if (getenv("CUT_READ")) cut(file);
  return done;
}
