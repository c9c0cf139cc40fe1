/* no_local_cuda.c: preloaded, it hides /usr/local/cuda from whoever asks whether it is there (tests/cuda/home.sh). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int faccessat(int folder, const char *path, int mode, int flags) {
  static const char hidden[] = "/usr/local/cuda";
  const char *rest = path + strlen(hidden);
  (void)flags;
  if (strncmp(path, hidden, strlen(hidden)) == 0 && (*rest == 0 || *rest == '/')) {
    errno = ENOENT;
    return -1;
  }
  return (int)syscall(SYS_faccessat, folder, path, mode);
}

int access(const char *path, int mode) { return faccessat(AT_FDCWD, path, mode, 0); }
int eaccess(const char *path, int mode) { return faccessat(AT_FDCWD, path, mode, 0); }
