/* known_processor: rates of this computer's processor from a table of microarchitectures, and from the caches that it says it has: by CPUID, which no system refuses.
 *
 * A core adds so many bytes of rows a cycle from each of its caches, and so many a second from memory. A table of d bytes of which a cache holds c is found
 * there with c / d of its rows. All that is rounded: what a neighbour does to a shared cache or to the clock nobody can know before measuring.
 */
#include "known_processor.h"

#include <math.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

/* Sources. Vectors and multiply-adds a cycle, widths of the ways to the caches, cores of a last cache: Software Optimization Guides for AMD Family 17h, 19h and 1Ah
 * (55723, 56305, 56665, 57647, 58455), Intel 64 and IA-32 Architectures Optimization Reference Manual (248966); models: the same makers' revision guides and the
 * Software Developer's Manual, volume 4. Memory of a socket: data sheets of EPYC 7001 to 9005 and Xeon Scalable, of desktops two channels. Zen 5 was measured
 * (gnncc --calibrate on two cores of an EPYC 9005), so were the clock and the caches of Sapphire and Emerald Rapids; of the others a core is taken to add from
 * a cache 0.8 of the bytes a cycle that its way to it could carry, and from memory what one core of their time gets. Clocks: all cores at work with vectors, by the
 * data sheets' base and largest ones, two thirds of the way up. */
/* What was measured of loops, in numbers of fp32 operations that take as long; a step is in seconds. Others have those of cost.c's model. */
typedef struct Loops {
  double element, random, exp, update, loss_class, step;
} Loops;
static const Loops zen5 = {17, 8, 40, 42, 210, 0.8e-6};

typedef struct Microarchitecture {
  const char *name;
  char maker;
  int family, first, last; /* models */
  double gigahertz;
  int fma_bytes;           /* of operands multiplied and added a cycle */
  double core_cache, last_cache; /* bytes a cycle */
  double memory;           /* GB/s of a core */
  double socket;           /* of all */
  int sharers;             /* cores of a last cache */
  const Loops *loops;      /* or NULL */
} Microarchitecture;

static const Microarchitecture table[] = {
    {"AMD Zen", 'A', 0x17, 0x00, 0x2f, 2.9, 32, 24, 20, 15, 150, 4, NULL},
    {"AMD Zen 2, server", 'A', 0x17, 0x30, 0x3f, 3.1, 64, 25, 22, 18, 180, 4, NULL},
    {"AMD Zen 2", 'A', 0x17, 0x40, 0xaf, 3.9, 64, 25, 22, 20, 40, 4, NULL},
    {"AMD Zen 3, server", 'A', 0x19, 0x00, 0x0f, 3.3, 64, 26, 22, 20, 180, 8, NULL},
    {"AMD Zen 4, server", 'A', 0x19, 0x10, 0x1f, 3.6, 64, 28, 24, 28, 400, 8, NULL},
    {"AMD Zen 3", 'A', 0x19, 0x20, 0x5f, 4.3, 64, 26, 22, 25, 42, 8, NULL},
    {"AMD Zen 4", 'A', 0x19, 0x60, 0x7f, 4.7, 64, 28, 24, 32, 60, 8, NULL},
    {"AMD Zen 4c, server", 'A', 0x19, 0xa0, 0xaf, 3.0, 64, 28, 22, 24, 400, 8, NULL},
    {"AMD Zen 5, server", 'A', 0x1a, 0x00, 0x0f, 4.2, 128, 51, 27, 22, 500, 8, &zen5},
    {"AMD Zen 5c, server", 'A', 0x1a, 0x10, 0x1f, 3.5, 128, 51, 24, 28, 500, 16, &zen5},
    {"AMD Zen 5, mobile", 'A', 0x1a, 0x20, 0x3f, 4.0, 64, 40, 24, 35, 90, 4, &zen5},
    {"AMD Zen 5", 'A', 0x1a, 0x40, 0x4f, 5.0, 128, 51, 27, 38, 65, 8, &zen5},
    {"AMD Zen 5, mobile", 'A', 0x1a, 0x60, 0x7f, 4.0, 64, 40, 24, 35, 90, 4, &zen5},
    {"Intel Haswell", 'I', 6, 0x3c, 0x3c, 3.4, 64, 25, 14, 14, 20, 4, NULL},
    {"Intel Haswell, server", 'I', 6, 0x3f, 0x3f, 2.7, 64, 25, 8, 10, 50, 12, NULL},
    {"Intel Broadwell, server", 'I', 6, 0x4f, 0x4f, 2.7, 64, 25, 8, 11, 60, 16, NULL},
    {"Intel Skylake or Cascade Lake, server", 'I', 6, 0x55, 0x55, 2.7, 128, 36, 8, 11, 105, 24, NULL},
    {"Intel Skylake", 'I', 6, 0x4e, 0x4e, 3.3, 64, 28, 15, 16, 28, 4, NULL},
    {"Intel Skylake", 'I', 6, 0x5e, 0x5e, 3.8, 64, 28, 15, 17, 30, 4, NULL},
    {"Intel Kaby Lake or Coffee Lake", 'I', 6, 0x8e, 0x8e, 3.3, 64, 28, 15, 16, 28, 4, NULL},
    {"Intel Kaby Lake or Coffee Lake", 'I', 6, 0x9e, 0x9e, 4.1, 64, 28, 15, 18, 34, 8, NULL},
    {"Intel Comet Lake", 'I', 6, 0xa5, 0xa6, 4.3, 64, 28, 15, 18, 36, 10, NULL},
    {"Intel Ice Lake, server", 'I', 6, 0x6a, 0x6c, 2.9, 128, 40, 9, 12, 160, 32, NULL},
    {"Intel Ice Lake or Tiger Lake", 'I', 6, 0x7d, 0x7e, 3.0, 64, 40, 14, 18, 45, 4, NULL},
    {"Intel Ice Lake or Tiger Lake", 'I', 6, 0x8c, 0x8d, 3.6, 64, 40, 14, 18, 50, 4, NULL},
    {"Intel Rocket Lake", 'I', 6, 0xa7, 0xa7, 4.3, 64, 40, 14, 20, 40, 8, NULL},
    {"Intel Sapphire Rapids", 'I', 6, 0x8f, 0x8f, 2.9, 128, 44, 9, 13, 220, 48, NULL},
    {"Intel Emerald Rapids", 'I', 6, 0xcf, 0xcf, 3.0, 128, 44, 9, 13, 260, 60, NULL},
    {"Intel Granite Rapids", 'I', 6, 0xad, 0xae, 3.2, 128, 44, 9, 14, 400, 64, NULL},
};

enum { SIZES = 8 };
#define GIGA 1e9
#define EXCHANGE 0.35    /* of what a core gets from the last cache: from another's, in it or through it */
static const double sizes[SIZES] = {1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30};
/* Of what rows of 512 bytes get: those of 64 and 256 bytes, and arrays in order, which are written, too. */
static const double narrower[GATHER_WIDTHS][3] = {{0.6, 0.8, 0.52}, {1, 1, 1}, {1, 1, 1}};
static const double in_order[3] = {0.75, 0.85, 1};
#define FMA_SHARE 0.97   /* of the peak that products reach */
#define CLOCK_SHARE 0.88 /* of the largest clock, with vectors on all cores */

/* Bytes a second of an array of so many bytes, of which the caches hold so many. */
static double mixed(const double rate[3], const double factor[3], double core_cache, double last_cache, double bytes) {
  const double near = fmin(1, core_cache / bytes), within = fmin(1, fmax(near, last_cache / bytes));
  return 1 / (near / (rate[0] * factor[0]) + (within - near) / (rate[1] * factor[1]) + (1 - within) / (rate[2] * factor[2]));
}

static const Microarchitecture *find(const ProcessorFacts *f) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].maker == f->maker && table[i].family == f->family && table[i].first <= f->model && f->model <= table[i].last) return &table[i];
  return NULL;
}

bool processor_known(const ProcessorFacts *f, KnownProcessor *known) {
  const Microarchitecture *m = find(f);
  if (!m || f->threads < 1 || f->siblings < 1 || f->core_cache <= 0 || f->last_cache <= 0 || f->last_cache_threads < 1) return false;
  const double cores = fmax(1, floor((double)f->threads / f->siblings)), clusters = fmax(1, floor((double)f->threads / f->last_cache_threads));
  const double hertz = f->most_hertz > 0 ? CLOCK_SHARE * f->most_hertz : GIGA * m->gigahertz, memory = fmin(cores * m->memory, m->socket) * GIGA;
  const double rate[3] = {cores * hertz * m->core_cache, cores * hertz * m->last_cache, memory};
  *known = (KnownProcessor){.name = m->name, .bandwidth = memory, .flops = FMA_SHARE * cores * hertz * 2 * m->fma_bytes / 4, .rates.size_count = SIZES};
  DeviceRates *r = &known->rates;
  for (int i = 0; i < SIZES; i++) {
    r->sizes[i] = sizes[i];
    r->stream[i] = mixed(rate, in_order, cores * f->core_cache, clusters * f->last_cache, sizes[i]); /* each core its own part, */
    for (int w = 0; w < GATHER_WIDTHS; w++) r->gather[w][i] = mixed(rate, narrower[w], f->core_cache, f->last_cache, sizes[i]); /* each core from all of a table */
  }
  if (m->loops) {
    const double operation = 1 / known->flops;
    r->element = m->loops->element * operation, r->random = m->loops->random * operation, r->exp = m->loops->exp * operation;
    r->update = m->loops->update * operation, r->loss_class = m->loops->loss_class * operation, r->step = m->loops->step;
  }
  r->exchange = EXCHANGE * rate[1];
  const double strangers = f->is_virtual ? fmax(0, m->sharers - (double)f->last_cache_threads / f->siblings) : 0;
  r->others = clusters * fmin(strangers * m->memory, m->socket) * GIGA;
  return true;
}

/* ---- what it says ---- */

#if defined(__x86_64__) || defined(__i386__)
static void ask_caches(ProcessorFacts *f) {
  const unsigned leaf = f->maker == 'A' ? 0x8000001d : 4;
  unsigned a, b, c, d;
  int deepest = 2;
  for (unsigned i = 0; __get_cpuid_count(leaf, i, &a, &b, &c, &d) && (a & 31); i++) {
    enum { INSTRUCTIONS = 2 };
    const int level = (int)(a >> 5 & 7);
    const double bytes = ((b >> 22) + 1.0) * ((b >> 12 & 0x3ff) + 1.0) * ((b & 0xfff) + 1.0) * (c + 1.0);
    if ((a & 31) == INSTRUCTIONS) continue;
    if (level == 2) f->core_cache = bytes;
    if (level <= deepest) continue;
    deepest = level;
    f->last_cache = bytes;
    const int sharers = (int)(a >> 14 & 0xfff) + 1; /* at most */
    f->last_cache_threads = sharers < f->threads ? sharers : f->threads;
  }
}

bool processor_facts(ProcessorFacts *f) {
  unsigned a, b, c, d;
  *f = (ProcessorFacts){.threads = (int)sysconf(_SC_NPROCESSORS_ONLN), .siblings = 1};
  if (!__get_cpuid(0, &a, &b, &c, &d)) return false;
  f->maker = b == signature_AMD_ebx ? 'A' : b == signature_INTEL_ebx ? 'I' : 0;
  if (!f->maker || !__get_cpuid(1, &a, &b, &c, &d)) return false;
  f->family = (int)(a >> 8 & 15), f->model = (int)(a >> 4 & 15);
  if (f->family == 6 || f->family == 15) f->model += (int)(a >> 12 & 0xf0);
  if (f->family == 15) f->family += (int)(a >> 20 & 0xff);
  f->is_virtual = c >> 31 & 1;
  ask_caches(f);
  if (f->maker == 'A' && __get_cpuid(0x8000001e, &a, &b, &c, &d)) f->siblings = (int)(b >> 8 & 0xff) + 1;
  if (f->maker == 'I' && __get_cpuid_count(0xb, 0, &a, &b, &c, &d) && (c >> 8 & 0xff) == 1 && (b & 0xffff)) f->siblings = (int)(b & 0xffff);
  if (f->siblings > f->threads) f->siblings = 1;
  if (f->maker == 'I' && __get_cpuid(0x16, &a, &b, &c, &d)) f->most_hertz = 1e6 * (b & 0xffff);
  return true;
}
#else
bool processor_facts(ProcessorFacts *f) {
  *f = (ProcessorFacts){.threads = 1};
  return false;
}
#endif

bool processor_here(KnownProcessor *known) {
  ProcessorFacts facts;
  return processor_facts(&facts) && processor_known(&facts, known);
}
