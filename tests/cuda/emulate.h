/* emulate.h: CUDA device code as C++ of the host, for tests without a GPU.
 *
 * The threads of a block are fibers of one thread, switched where they wait for each other; blocks run one after the
 * other. The order in which fibers and blocks run is chosen by the test, so that a missing barrier shows as other bits.
 * Threads that wait at different barriers, or for one that has ended, are an error that names the lines.
 */
#ifndef EMULATE_H
#define EMULATE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernels/cuda/places.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

/* What schedules is not what is tested: without sanitizers, and optimised where the kernels are not. */
#ifdef __clang__
#define EMULATE_FAST
#else
#define EMULATE_FAST __attribute__((optimize("O2"), no_sanitize("address", "undefined")))
#endif

struct uint3 { unsigned x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
#define __restrict__ __restrict

/* ---- contexts: a stack each ---- */

#ifdef __x86_64__
/* What a function must keep is on the stack; the rest of a context is where that is. (swapcontext asks the system.) */
struct Context {
  void *stack_pointer;
};

extern "C" void emulate_switch(Context *from, const Context *to);
__asm__(".pushsection .text\nemulate_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n  movq (%rsi), %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n.popsection\n");

static inline void context_start(Context *context, void *stack, size_t bytes, void (*function)(void)) {
  void **top = (void **)((char *)stack + bytes) - 2; /* at its entry a function is 8 bytes past a multiple of 16 */
  memcpy(top, &function, sizeof function);
  context->stack_pointer = top - 6;
}
#else
#include <ucontext.h>
typedef ucontext_t Context;

static inline void emulate_switch(Context *from, const Context *to) { swapcontext(from, to); }
static inline void context_start(Context *context, void *stack, size_t bytes, void (*function)(void)) {
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = bytes;
  context->uc_link = nullptr;
  makecontext(context, function, 0);
}
#endif

static uint3 threadIdx, blockIdx, blockDim = {1, 1, 1}, gridDim = {1, 1, 1};

namespace emulate {

enum { WARP = 32, MOST_THREADS = 1024, STACK_BYTES = 256 * 1024 };
enum Wait : unsigned char { NOT_BEGUN, READY, AT_BLOCK, AT_WARP, ENDED };
typedef void Kernel(const void *argument);
typedef void StepKernel(const void *argument, gnn_places at);

struct Fiber {
  Context context;
  char *stack;
  void *fake_stack;
  int line;               /* of the barrier */
  unsigned mask;          /* AT_WARP: who takes part */
  uint64_t given;         /* AT_WARP: this thread's value */
  uint64_t seen[WARP];    /* after it: everybody's who takes part */
};

static Fiber fibers[MOST_THREADS];
static Wait waits[MOST_THREADS];           /* what each waits for: the scheduler reads all of them */
static char *spare_stacks[MOST_THREADS];   /* a thread that never waits has the stack of the one before, which is in the cache */
static unsigned spare_count, stack_count;
static Context scheduler;
static void *scheduler_fake_stack;
static const void *scheduler_stack;
static size_t scheduler_stack_bytes;
static Kernel *kernel;
static StepKernel *step_kernel; /* nullptr: `kernel` */
static const void *argument;
static gnn_places places;
static const char *kernel_name = "";
static int order; /* 0 ascending, 1 descending, others: ascending from there */

[[noreturn]] static inline void fail(const char *what, int line, int other) {
  fprintf(stderr, "emulate: %s: %s (lines %d and %d; block %u, thread %u)\n", kernel_name, what, line, other, blockIdx.x, threadIdx.x);
  abort();
}

static inline void start_switch(void **save, const void *stack, size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(save, stack, bytes);
#else
  (void)save, (void)stack, (void)bytes;
#endif
}

static inline void finish_switch(void *save, const void **stack, size_t *bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(save, stack, bytes);
#else
  (void)save, (void)stack, (void)bytes;
#endif
}

static void fiber_main(void) {
  finish_switch(nullptr, &scheduler_stack, &scheduler_stack_bytes);
  if (step_kernel) step_kernel(argument, places);
  else kernel(argument);
  waits[threadIdx.x] = ENDED;
  start_switch(nullptr, scheduler_stack, scheduler_stack_bytes);
  emulate_switch(&fibers[threadIdx.x].context, &scheduler);
}

/* Back to the scheduler until what is waited for has come. */
EMULATE_FAST static inline void pause(Fiber *fiber) {
  start_switch(&fiber->fake_stack, scheduler_stack, scheduler_stack_bytes);
  emulate_switch(&fiber->context, &scheduler);
  finish_switch(fiber->fake_stack, &scheduler_stack, &scheduler_stack_bytes);
}

static inline void barrier(int line) {
  Fiber *fiber = &fibers[threadIdx.x];
  waits[threadIdx.x] = AT_BLOCK;
  fiber->line = line;
  pause(fiber);
}

static inline int barrier_or(int predicate, int line) {
  int any = 0;
  fibers[threadIdx.x].given = predicate != 0;
  barrier(line);
  for (unsigned i = 0; i < blockDim.x; i++) any |= fibers[i].given != 0;
  barrier(line);
  return any;
}

static inline const uint64_t *exchange(unsigned mask, uint64_t value, int line) {
  Fiber *fiber = &fibers[threadIdx.x];
  if (!(mask >> threadIdx.x % WARP & 1)) fail("a thread is not in its own mask", line, line);
  waits[threadIdx.x] = AT_WARP;
  fiber->line = line;
  fiber->mask = mask;
  fiber->given = value;
  pause(fiber);
  return fiber->seen;
}

/* Not all begin at the same place of a cache. */
EMULATE_FAST static inline void begin(Fiber *fiber) {
  if (spare_count > 0) fiber->stack = spare_stacks[--spare_count];
  else fiber->stack = (char *)malloc(STACK_BYTES + MOST_THREADS * 64) + stack_count++ * 13 % MOST_THREADS * 64;
  context_start(&fiber->context, fiber->stack, STACK_BYTES, fiber_main);
}

EMULATE_FAST static inline void resume(unsigned thread) {
  Fiber *fiber = &fibers[thread];
  threadIdx = {thread, 0, 0};
  start_switch(&scheduler_fake_stack, fiber->stack, STACK_BYTES);
  emulate_switch(&scheduler, &fiber->context);
  finish_switch(scheduler_fake_stack, nullptr, nullptr);
  if (waits[thread] == ENDED) spare_stacks[spare_count++] = fiber->stack;
}

/* All that take part have come: each sees what all gave. */
EMULATE_FAST static inline bool release_warp(unsigned thread) {
  Fiber *first = &fibers[thread];
  Fiber *warp = &fibers[thread / WARP * WARP];
  Wait *wait = &waits[thread / WARP * WARP];
  for (unsigned lane = 0; lane < WARP; lane++) {
    if (!(first->mask >> lane & 1)) continue;
    if (thread / WARP * WARP + lane >= blockDim.x) fail("a mask names threads that the block does not have", first->line, 0);
    if (wait[lane] == ENDED) fail("a thread of the mask has ended", first->line, 0);
    if (wait[lane] != AT_WARP) return false;
    if (warp[lane].line != first->line || warp[lane].mask != first->mask) fail("threads of a warp diverge", first->line, warp[lane].line);
  }
  uint64_t given[WARP];
  for (unsigned lane = 0; lane < WARP; lane++) given[lane] = warp[lane].given;
  for (unsigned lane = 0; lane < WARP; lane++)
    if (first->mask >> lane & 1) memcpy(warp[lane].seen, given, sizeof given);
  const unsigned mask = first->mask;
  for (unsigned lane = 0; lane < WARP; lane++)
    if (mask >> lane & 1) wait[lane] = READY;
  return true;
}

EMULATE_FAST static inline bool release_block(void) {
  for (unsigned i = 0; i < blockDim.x; i++) {
    if (waits[i] == ENDED) fail("a thread ended before a barrier that others wait at", fibers[0].line, 0);
    if (waits[i] != AT_BLOCK) return false;
    if (fibers[i].line != fibers[0].line) fail("threads wait at different barriers", fibers[0].line, fibers[i].line);
  }
  for (unsigned i = 0; i < blockDim.x; i++) waits[i] = READY;
  return true;
}

EMULATE_FAST static inline unsigned place(unsigned i, unsigned count) { /* a permutation of 0 .. count - 1 */
  return order == 0 ? i : order == 1 ? count - 1 - i : (i + (unsigned)order) % count;
}

EMULATE_FAST static inline void run_block(void) {
  memset(waits, NOT_BEGUN, blockDim.x * sizeof *waits);
  for (;;) {
    unsigned ended = 0;
    bool has_moved = false;
    for (unsigned i = 0; i < blockDim.x; i++) {
      const unsigned thread = place(i, blockDim.x);
      if (waits[thread] <= READY) {
        if (waits[thread] == NOT_BEGUN) begin(&fibers[thread]);
        resume(thread);
        has_moved = true;
      }
      if (waits[thread] == AT_WARP) has_moved = release_warp(thread) || has_moved;
      ended += waits[thread] == ENDED;
    }
    if (ended == blockDim.x) return;
    if (has_moved) continue;
    if (!release_block()) fail("deadlock", fibers[0].line, 0);
  }
}

static inline void launch(const char *name, const void *with, int64_t blocks, int threads) {
  if (blocks < 1 || threads < 1 || threads > MOST_THREADS) fail("the launch's sizes are wrong", (int)blocks, threads);
  kernel_name = name;
  argument = with;
  blockDim = {(unsigned)threads, 1, 1};
  gridDim = {(unsigned)blocks, 1, 1};
  for (int64_t b = 0; b < blocks; b++) {
    blockIdx = {place((unsigned)b, (unsigned)blocks), 0, 0};
    run_block();
  }
}

/* kernel<<<blocks, threads>>>(argument) */
static inline void launch(const char *name, Kernel *what, const void *with, int64_t blocks, int threads) {
  kernel = what;
  step_kernel = nullptr;
  launch(name, with, blocks, threads);
}

/* kernel<<<blocks, threads>>>(argument, places) */
static inline void launch(const char *name, StepKernel *what, const void *with, const gnn_places &at, int64_t blocks, int threads) {
  step_kernel = what;
  places = at;
  launch(name, with, blocks, threads);
}

template <class T> static inline uint64_t packed(T value) {
  uint64_t bits = 0;
  static_assert(sizeof value <= sizeof bits, "");
  memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T> static inline T unpacked(uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T> static inline T shuffle(unsigned mask, T value, unsigned lane, int line) {
  const uint64_t *seen = exchange(mask, packed(value), line);
  if (!(mask >> lane & 1)) fail("a shuffle reads a thread outside its mask", line, line);
  return unpacked<T>(seen[lane]);
}

static inline unsigned ballot(unsigned mask, int predicate, int line) {
  const uint64_t *seen = exchange(mask, predicate != 0, line);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < WARP; lane++)
    if (mask >> lane & 1 && seen[lane]) bits |= 1u << lane;
  return bits;
}

} // namespace emulate

#define __syncthreads() emulate::barrier(__LINE__)
#define __syncthreads_or(predicate) emulate::barrier_or(predicate, __LINE__)
#define __syncwarp(...) ((void)emulate::exchange(~0u, 0, __LINE__))
#define __shfl_sync(mask, value, lane) emulate::shuffle(mask, value, (unsigned)(lane), __LINE__)
#define __shfl_xor_sync(mask, value, bits) emulate::shuffle(mask, value, (threadIdx.x % 32) ^ (unsigned)(bits), __LINE__)
#define __ballot_sync(mask, predicate) emulate::ballot(mask, predicate, __LINE__)
#define __uint_as_float(bits) emulate::unpacked<float>(bits)
#define __float_as_uint(number) ((uint32_t)emulate::packed<float>(number))
#define __double_as_longlong(number) ((int64_t)emulate::packed<double>(number))
#define __longlong_as_double(bits) emulate::unpacked<double>((uint64_t)(bits))
#define __popc(bits) __builtin_popcount(bits)
#define __popcll(bits) __builtin_popcountll(bits)
#define __ldg(pointer) (*(pointer))

#endif
