/* users.c: which processes hold a device's memory, from NVML where the driver has brought it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"

enum { USERS_MOST = 64, USERS_NAMED = 6 };

/* nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v3 (NVML API reference, "Structs"). */
typedef struct UsersProcess {
  unsigned pid;
  unsigned long long bytes; /* all ones: not told */
  unsigned gpu_instance, compute_instance;
} UsersProcess;

typedef struct UsersLibrary {
  int (*init)(void), (*shutdown)(void);
  int (*by_bus)(const char *bus, void **device);
  int (*processes)(void *device, unsigned *count, UsersProcess *processes);
} UsersLibrary;

static int users_find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static void users_name(unsigned pid, char *name, size_t room) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/comm", pid);
  FILE *file = fopen(path, "re");
  if (file == NULL || fgets(name, (int)room, file) == NULL) snprintf(name, room, "?");
  name[strcspn(name, "\n")] = 0;
  if (file) fclose(file);
}

static void users_list(const UsersLibrary *nvml, const char *bus, gnn_text *text) {
  UsersProcess process[USERS_MOST];
  unsigned count = USERS_MOST;
  void *device;
  char name[32];
  if (nvml->by_bus(bus, &device) != 0 || nvml->processes(device, &count, process) != 0) return;
  for (unsigned p = 0; p < count && p < USERS_NAMED; p++) {
    users_name(process[p].pid, name, sizeof name);
    gnn_text_format(text, "%spid %u (%s)", p ? ", " : "", process[p].pid, name);
    if (process[p].bytes != ~0ull) gnn_text_format(text, " %s", gnn_bytes_text((int64_t)process[p].bytes).text);
  }
  if (count > USERS_NAMED) gnn_text_format(text, " and %u more", count - USERS_NAMED);
}

void gnn_cuda_users_text(int device, gnn_text *text) {
  char bus[32];
  UsersLibrary nvml;
  void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) return;
  if (users_find(library, "nvmlInit_v2", &nvml.init) && users_find(library, "nvmlShutdown", &nvml.shutdown) &&
      users_find(library, "nvmlDeviceGetHandleByPciBusId_v2", &nvml.by_bus) &&
      users_find(library, "nvmlDeviceGetComputeRunningProcesses_v3", &nvml.processes) &&
      cudaDeviceGetPCIBusId(bus, sizeof bus, device) == cudaSuccess && nvml.init() == 0) {
    users_list(&nvml, bus, text);
    nvml.shutdown();
  }
  dlclose(library);
}
