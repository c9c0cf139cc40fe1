/* The emulation itself: it does what CUDA does with a block, and notices what CUDA would not. */
#include "emulate.h"

#include <sys/wait.h>
#include <unistd.h>

static int count, failed;

static void ok(bool is_good, const char *what) {
  printf("%sok %d - %s\n", is_good ? "" : "not ", ++count, what);
  failed += !is_good;
}

static int results[1024];

static void reversed(const void *) {
  __shared__ int numbers[256];
  numbers[threadIdx.x] = (int)threadIdx.x;
  __syncthreads();
  results[blockIdx.x * 256 + threadIdx.x] = numbers[255 - threadIdx.x];
}

static void without_barrier(const void *) {
  __shared__ int numbers[256];
  numbers[threadIdx.x] = (int)threadIdx.x + 1;
  results[threadIdx.x] = numbers[255 - threadIdx.x];
}

static void warp_operations(const void *) {
  const unsigned lane = threadIdx.x % 32, ballot = __ballot_sync(~0u, lane % 3 == 0);
  int sum = (int)threadIdx.x;
  for (int bits = 1; bits < 8; bits *= 2) sum += __shfl_xor_sync(0xffu << lane / 8 * 8, sum, bits);
  results[threadIdx.x] = ballot == 0x49249249u && __popc(ballot) == 11 ? sum : -1;
}

static void halves(const void *) {
  if (threadIdx.x < 128) __syncthreads();
  else __syncthreads();
}
static void early_end(const void *) {
  if (threadIdx.x == 7) return;
  __syncthreads();
}
static void foreign_lane(const void *) { results[threadIdx.x] = __shfl_xor_sync(0xffu << threadIdx.x % 32 / 8 * 8, 1, 16); }
static void diverging_warp(const void *) {
  if (threadIdx.x % 32 < 16) results[0] += (int)__ballot_sync(~0u, 1);
  else results[0] -= (int)__ballot_sync(~0u, 1);
}

static void launch(emulate::Kernel *kernel, int order, int64_t blocks = 1) {
  emulate::order = order;
  emulate::launch("test", kernel, nullptr, blocks, 256);
}

static bool aborts(emulate::Kernel *kernel) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stderr)) _exit(1);
    launch(kernel, 0);
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
  bool is_good = true;
  for (int order = 0; order < 3; order++) {
    launch(reversed, order, 4);
    for (int i = 0; i < 1024; i++) is_good = is_good && results[i] == 255 - i % 256;
  }
  ok(is_good, "threads see what others wrote before a barrier, in every order");
  launch(warp_operations, 1);
  is_good = true;
  for (int i = 0; i < 256; i++) is_good = is_good && results[i] == i / 8 * 64 + 28;
  ok(is_good, "ballots and shuffles within groups");
  int first[256];
  launch(without_barrier, 0);
  memcpy(first, results, sizeof first);
  launch(without_barrier, 1);
  ok(memcmp(first, results, sizeof first) != 0, "a missing barrier shows as other bits");
  ok(aborts(halves), "a barrier that only half of the threads reach");
  ok(aborts(early_end), "a thread that ends before a barrier");
  ok(aborts(foreign_lane), "a shuffle from a lane outside the mask");
  ok(aborts(diverging_warp), "a warp that diverges");
  printf("1..%d\n", count);
  return failed != 0;
}
