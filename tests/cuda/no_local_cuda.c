/* no_local_cuda.c: preloaded, it hides /usr/local/cuda from whoever asks whether it is there (tests/cuda/home.sh). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int access(const char *path, int mode) {
  static const char hidden[] = "/usr/local/cuda";
  const char *rest = path + strlen(hidden);
  if (strncmp(path, hidden, strlen(hidden)) == 0 && (*rest == 0 || *rest == '/')) {
    errno = ENOENT;
    return -1;
  }
  return faccessat(AT_FDCWD, path, mode, 0);
}
