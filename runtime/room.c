/* room.c: does the machine have the memory a plan needs? */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "room.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static int64_t room_least(int64_t a, int64_t b) { return a < b ? a : b; }

/* A file that holds one number; INT64_MAX where it is absent or says "max". */
static int64_t room_number(const char *path) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return INT64_MAX;
  char line[64];
  int64_t value = INT64_MAX;
  if (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    if (!gnn_parse_integer(line, &value) || value < 0) value = INT64_MAX;
  }
  fclose(file);
  return value;
}

static int64_t room_meminfo(void) {
  FILE *file = fopen("/proc/meminfo", "re");
  if (file == NULL) return INT64_MAX;
  char line[128];
  long long kilobytes;
  int64_t value = INT64_MAX;
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1) value = (int64_t)kilobytes * 1024;
  fclose(file);
  return value;
}

/* Control groups, version 2 (memory.max of the own group and those above it) and version 1. */
static int64_t room_cgroup(void) {
  int64_t room = INT64_MAX;
  char line[512], path[700], group[512] = "";
  FILE *file = fopen("/proc/self/cgroup", "re");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "0::", 3) == 0) snprintf(group, sizeof group, "%s", line + 3);
  }
  if (file) fclose(file);
  while (group[0]) {
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    int64_t most = room_number(path);
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", group);
    int64_t used = room_number(path);
    if (most != INT64_MAX && used != INT64_MAX) room = room_least(room, most > used ? most - used : 0);
    char *slash = strrchr(group, '/');
    if (slash == NULL) break;
    *slash = 0;
  }
  int64_t most = room_number("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  int64_t used = room_number("/sys/fs/cgroup/memory/memory.usage_in_bytes");
  if (most != INT64_MAX && used != INT64_MAX) room = room_least(room, most > used ? most - used : 0);
  return room;
}

/* What a limit on address space or data leaves beside what is in use. */
static int64_t room_limits(void) {
  long long pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (file) {
    if (fscanf(file, "%lld", &pages) != 1) pages = 0;
    fclose(file);
  }
  int64_t used = (int64_t)pages * 4096, room = INT64_MAX;
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    room = (int64_t)limit.rlim_cur > used ? (int64_t)limit.rlim_cur - used : 0;
  if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    room = room_least(room, (int64_t)limit.rlim_cur);
  return room;
}

int64_t gnn_available_bytes(void) { return room_least(room_least(room_meminfo(), room_cgroup()), room_limits()); }

gnn_status gnn_check_room(int64_t bytes, gnn_error *error) {
  int64_t free_bytes = gnn_available_bytes();
  if (bytes <= free_bytes) return GNN_OK;
  gnn_status status = gnn_fail(error, GNN_ENOMEM, "R0801", "memory has %s free, the plan needs %s",
                               gnn_bytes_text(free_bytes).text, gnn_bytes_text(bytes).text);
  if (free_bytes >= 1 << 20) gnn_fail_help(error, "gnncc --budget device=%lldMiB …", (long long)(free_bytes >> 20));
  return status;
}
