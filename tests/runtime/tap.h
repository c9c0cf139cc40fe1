/* tap.h: tests print the Test Anything Protocol; one file, one plan. */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int tap_count, tap_failed;

static inline int tap_ok(int condition, const char *format, ...) {
  va_list args;
  printf("%sok %d - ", condition ? "" : "not ", ++tap_count);
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  printf("\n");
  fflush(stdout); /* a program that dies has said so much */
  tap_failed += !condition;
  return condition;
}

static inline void tap_skip(const char *what, const char *why) { printf("ok %d - %s # SKIP %s\n", ++tap_count, what, why); }

static inline int tap_done(void) {
  printf("1..%d\n", tap_count);
  return tap_failed != 0;
}

/* A fresh folder for this process; its name stays valid. */
static inline const char *tap_folder(void) {
  static char name[] = "/dev/shm/gnnrt-test-XXXXXX"; /* many small files: better not on a disk */
  static int is_made;
  if (!is_made && mkdtemp(name) == NULL && mkdtemp(memcpy(name, "/tmp/gnnrt-test-XXXXXX", 23)) == NULL) exit(99);
  is_made = 1;
  return name;
}

/* tap_folder()/name; eight of them are valid at a time. */
static inline const char *tap_path(const char *name) {
  static char paths[8][256];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", tap_folder(), name);
  return path;
}

static inline void tap_write(const char *path, const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) exit(99);
}

static inline size_t tap_read(const char *path, unsigned char *bytes, size_t room) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) exit(99);
  size_t count = fread(bytes, 1, room, file);
  fclose(file);
  return count;
}

static inline int tap_remove_folder(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", tap_folder());
  return system(command);
}

#endif
