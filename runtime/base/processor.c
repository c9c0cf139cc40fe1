/* processor.c: the processor is asked, and of what the system has to save for it, the system. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "processor.h"

#include <stddef.h>
#include <string.h>

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

/* What is asked once, for all instructions: under a hypervisor CPUID alone takes microseconds. */
#if defined __x86_64__

static const struct { unsigned leaf, part; } processor_leaves[] = {{1, 0}, {7, 0}, {7, 1}, {0x80000001, 0}};
enum { PROCESSOR_LEAVES = sizeof processor_leaves / sizeof *processor_leaves };

typedef struct processor_facts {
  unsigned word[PROCESSOR_LEAVES][4];
  uint64_t saved; /* the registers that the system saves when it goes from process to process (XCR0) */
} processor_facts;

static const struct { unsigned leaf, part; int word, bit, state; } processor_places[] = {
#define PROCESSOR_PLACE(macro, name, leaf, part, word, bit, state) {leaf, part, word, bit, state},
  GNN_EACH_INSTRUCTION(PROCESSOR_PLACE)
};

static processor_facts processor_look(void) {
  enum { OSXSAVE = 27 };
  processor_facts facts = {0};
  unsigned low, high;
  for (int i = 0; i < PROCESSOR_LEAVES; i++) {
    unsigned *word = facts.word[i];
    if (!__get_cpuid_count(processor_leaves[i].leaf, processor_leaves[i].part, &word[0], &word[1], &word[2], &word[3])) memset(word, 0, sizeof facts.word[i]);
  }
  if (!(facts.word[0][2] >> OSXSAVE & 1)) return facts;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  facts.saved = (uint64_t)high << 32 | low;
  return facts;
}

static int processor_has(const processor_facts *facts, int number) {
  static const uint64_t states[] = {0, 0x06, 0xe6, 0x60000};
  const uint64_t state = states[processor_places[number].state];
  int is_there = 0;
  for (int i = 0; i < PROCESSOR_LEAVES; i++)
    if (processor_leaves[i].leaf == processor_places[number].leaf && processor_leaves[i].part == processor_places[number].part)
      is_there = facts->word[i][processor_places[number].word] >> processor_places[number].bit & 1;
  return is_there && (facts->saved & state) == state;
}

#elif defined __aarch64__ && defined __linux__

typedef struct processor_facts {
  unsigned long word[2];
} processor_facts;

static const struct { int word, bit; } processor_places[] = {
#define PROCESSOR_PLACE(macro, name, word, bit) {word, bit},
  GNN_EACH_INSTRUCTION(PROCESSOR_PLACE)
};

static processor_facts processor_look(void) { return (processor_facts){{getauxval(AT_HWCAP), getauxval(AT_HWCAP2)}}; }

static int processor_has(const processor_facts *facts, int number) { return facts->word[processor_places[number].word] >> processor_places[number].bit & 1; }

#else

typedef int processor_facts;

static processor_facts processor_look(void) { return 0; }

static int processor_has(const processor_facts *facts, int number) { return (void)facts, (void)number, 1; }

#endif

const char *gnn_processor_lacks(uint64_t instructions, int sve_bits) {
  const processor_facts facts = processor_look();
  for (int number = 0; number < GNN_INSTRUCTION_COUNT; number++)
    if (instructions >> number & 1 && !processor_has(&facts, number)) return instruction_names[number];
#if defined __aarch64__ && defined __linux__ && defined PR_SVE_GET_VL
  if (sve_bits && (prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK) * 8 != sve_bits) return "vectors of SVE as long as those it is compiled for";
#else
  (void)sve_bits;
#endif
  return NULL;
}
