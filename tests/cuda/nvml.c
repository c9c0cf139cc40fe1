/* nvml.c: what the runtime asks of NVML, for tests: one process, the one that asks. */
#include <string.h>
#include <unistd.h>

typedef struct Process {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
} Process;

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
  static int one;
  *device = &one;
  return strcmp(bus, "0000:00:00.0") != 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, Process *processes) {
  if (device == 0 || *count < 1) return 1;
  *count = 1;
  processes[0] = (Process){(unsigned)getpid(), 21ull << 30, 0, 0};
  return 0;
}
