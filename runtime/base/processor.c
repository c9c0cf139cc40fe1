/* processor.c: the processor is asked, and of what the system has to save for it, the system. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "processor.h"

#include <stddef.h>

#if defined __x86_64__
#include <cpuid.h>
#elif defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

static const char *const instruction_names[GNN_INSTRUCTION_COUNT + 1] = {
#define PROCESSOR_NAME(macro, name, ...) name,
  GNN_EACH_INSTRUCTION(PROCESSOR_NAME)
};

const char *gnn_instruction_name(int number) { return instruction_names[number]; }

#if defined __x86_64__

typedef struct processor_place {
  unsigned leaf, part;
  int word, bit, state;
} processor_place;

static const processor_place processor_places[] = {
#define PROCESSOR_PLACE(macro, name, leaf, part, word, bit, state) {leaf, part, word, bit, state},
  GNN_EACH_INSTRUCTION(PROCESSOR_PLACE)
};

/* The registers that the system saves when it goes from process to process (XCR0). */
static uint64_t processor_saved(void) {
  unsigned a, b, c, d, low, high;
  enum { OSXSAVE = 27 };
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> OSXSAVE & 1)) return 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

static int processor_has(int number) {
  static const uint64_t states[] = {0, 0x06, 0xe6, 0x60000};
  const processor_place *place = &processor_places[number];
  unsigned words[4];
  if (!__get_cpuid_count(place->leaf, place->part, &words[0], &words[1], &words[2], &words[3])) return 0;
  const uint64_t state = states[place->state];
  return (words[place->word] >> place->bit & 1) && (state == 0 || (processor_saved() & state) == state);
}

#elif defined __aarch64__ && defined __linux__

static const struct { int word, bit; } processor_places[] = {
#define PROCESSOR_PLACE(macro, name, word, bit) {word, bit},
  GNN_EACH_INSTRUCTION(PROCESSOR_PLACE)
};

static int processor_has(int number) { return getauxval(processor_places[number].word ? AT_HWCAP2 : AT_HWCAP) >> processor_places[number].bit & 1; }

#else

static int processor_has(int number) { return (void)number, 1; }

#endif

const char *gnn_processor_lacks(uint64_t instructions, int sve_bits) {
  for (int number = 0; number < GNN_INSTRUCTION_COUNT; number++)
    if (instructions >> number & 1 && !processor_has(number)) return instruction_names[number];
#if defined __aarch64__ && defined __linux__ && defined PR_SVE_GET_VL
  if (sve_bits && (prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK) * 8 != sve_bits) return "vectors of SVE as long as those it is compiled for";
#else
  (void)sve_bits;
#endif
  return NULL;
}
