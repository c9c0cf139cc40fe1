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

/* What the kernel can take back from the group before it kills: pages of files that nobody used lately. */
static int64_t room_reclaimable(const char *folder, const char *key) {
  char path[700], line[128], name[64];
  long long value, found = 0;
  snprintf(path, sizeof path, "%s/memory.stat", folder);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "%63s %lld", name, &value) == 2 && strcmp(name, key) == 0) found = value;
  fclose(file);
  return found;
}

/* What is left of a control group and of those above it, which limit it too. In a container the path may be the host's: what of
 * it is not there says nothing, and the root is asked in any case. */
static int64_t room_group(const char *root, char *group, const char *limit, const char *usage, const char *reclaimable) {
  int64_t room = INT64_MAX;
  char folder[600], path[700];
  for (;;) {
    snprintf(folder, sizeof folder, "%s%s", root, group);
    snprintf(path, sizeof path, "%s/%s", folder, limit);
    int64_t most = room_number(path);
    snprintf(path, sizeof path, "%s/%s", folder, usage);
    int64_t used = room_number(path);
    if (most != INT64_MAX && used != INT64_MAX) {
      used -= room_least(used, room_reclaimable(folder, reclaimable));
      room = room_least(room, most > used ? most - used : 0);
    }
    char *slash = strrchr(group, '/');
    if (slash == NULL) return room;
    *slash = 0;
  }
}

/* Is the controller in the list "cpu,memory"? */
static int room_lists_memory(const char *controllers, size_t length) {
  for (const char *c = controllers, *end = controllers + length; c < end; c += strcspn(c, ",:") + 1)
    if (strcspn(c, ",:") == 6 && strncmp(c, "memory", 6) == 0) return 1;
  return 0;
}

/* Control groups, version 2 ("0::/path") and version 1 ("4:memory:/path"). */
static int64_t room_cgroup(void) {
  char line[512], second[512] = "", first[512] = "";
  FILE *file = fopen("/proc/self/cgroup", "re");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    const char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL) continue;
    if (strncmp(line, "0::", 3) == 0) snprintf(second, sizeof second, "%s", path + 1);
    else if (room_lists_memory(controllers + 1, (size_t)(path - controllers - 1))) snprintf(first, sizeof first, "%s", path + 1);
  }
  if (file) fclose(file);
  int64_t room = room_group("/sys/fs/cgroup", second, "memory.max", "memory.current", "inactive_file");
  return room_least(room, room_group("/sys/fs/cgroup/memory", first, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"));
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

int64_t gnn_process_most_bytes(void) {
  FILE *file = fopen("/proc/self/status", "re");
  if (file == NULL) return -1;
  char line[128];
  long long kilobytes;
  int64_t value = -1;
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %lld kB", &kilobytes) == 1) value = (int64_t)kilobytes * 1024;
  fclose(file);
  return value;
}

int64_t gnn_available_bytes(void) { return room_least(room_least(room_meminfo(), room_cgroup()), room_limits()); }

gnn_status gnn_check_room(int64_t bytes, int64_t beside, gnn_error *error) {
  int64_t free_bytes = gnn_available_bytes();
  if (bytes <= free_bytes) return GNN_OK;
  gnn_status status = gnn_fail(error, GNN_ENOMEM, "R0801", "memory has %s free, the plan needs %s",
                               gnn_bytes_text(free_bytes).text, gnn_bytes_text(bytes).text);
  int64_t device_mib = (free_bytes - beside) >> 20;
  if (device_mib > 0) gnn_fail_help(error, "gnncc --budget device=%lldMiB …", (long long)device_mib);
  else if (beside > 0) gnn_fail_help(error, "%s of it is not the device's: host tier, what goes to and from the SSD; gnncc --budget host=SIZE, or ssd=0, …", gnn_bytes_text(beside).text);
  return status;
}
