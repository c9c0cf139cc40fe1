/* open.c: opening files so that nothing waits, and nothing of others is followed. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_TRIES = 100 };

static int open_failed(int descriptor, int errno_value) {
  close(descriptor);
  errno = errno_value;
  return -1;
}

/* Opening a pipe waits for its other end, opening some devices for much else: O_NONBLOCK keeps either from it. */
static int open_at_once(const char *path, int flags) {
  int descriptor;
  do descriptor = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

static int open_let_wait(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) != 0) return open_failed(descriptor, errno);
  return descriptor;
}

int gnn_open_plain(const char *path) {
  struct stat info;
  int descriptor = open_at_once(path, O_RDONLY);
  if (descriptor < 0) {
    if (errno == ENXIO) errno = ESPIPE; /* a socket, or a device without a driver */
    return -1;
  }
  if (fstat(descriptor, &info) != 0) return open_failed(descriptor, errno);
  if (!S_ISREG(info.st_mode)) return open_failed(descriptor, S_ISDIR(info.st_mode) ? EISDIR : ESPIPE);
  return open_let_wait(descriptor);
}

static int open_to_write(const char *path, int flags) {
  int descriptor = open_at_once(path, O_WRONLY | flags);
  return descriptor < 0 ? -1 : open_let_wait(descriptor);
}

int gnn_open_into(const char *path) { return open_to_write(path, 0); }

int gnn_open_log(const char *path, int is_anew) { return open_to_write(path, O_CREAT | O_APPEND | (is_anew ? O_TRUNC : 0)); }

int gnn_open_beside(const char *path, char **name) {
  size_t room = strlen(path) + 48;
  int descriptor = -1;
  *name = malloc(room);
  if (*name == NULL) {
    errno = ENOMEM;
    return -1;
  }
  for (int i = 0; i < OPEN_TRIES; i++) {
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) break;
    snprintf(*name, room, "%s.tmp-%ld-%016llx", path, (long)getpid(), (unsigned long long)number);
    descriptor = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor >= 0 || (errno != EEXIST && errno != EINTR)) break;
  }
  if (descriptor >= 0) return descriptor;
  int code = errno;
  free(*name);
  *name = NULL;
  errno = code;
  return -1;
}

const char *gnn_open_reason(int errno_value) {
  if (errno_value == ESPIPE) return "it is a pipe or a device, not a file";
  if (errno_value == ENXIO) return "nobody reads what is written into it";
  return strerror(errno_value);
}

void gnn_open_standard(void) {
  int descriptor;
  do descriptor = open("/dev/null", O_RDWR);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) close(descriptor);
}
