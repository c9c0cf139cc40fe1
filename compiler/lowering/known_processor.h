/* known_processor.h: what is known of this computer's processor by its name alone, before anybody measured it. */
#ifndef GNNCC_KNOWN_PROCESSOR_H
#define GNNCC_KNOWN_PROCESSOR_H

#include <stdbool.h>

#include "lang/typed.h"

/* What a processor says of itself. */
typedef struct ProcessorFacts {
  char maker;              /* 'A': AMD, 'I': Intel */
  int family, model;       /* of CPUID, with their extensions */
  bool is_virtual;         /* other systems may run beside this one */
  int threads, siblings;   /* online; of a core */
  double core_cache, last_cache; /* bytes: the second level, the last one */
  int last_cache_threads;  /* of ours that share a last cache */
  double most_hertz;       /* 0: not said */
} ProcessorFacts;

/* Of all cores together. */
typedef struct KnownProcessor {
  const char *name;
  double bandwidth, flops;
  DeviceRates rates; /* 0: as modelled from the two */
} KnownProcessor;

/* False: it does not say what it is. */
bool processor_facts(ProcessorFacts *facts);
/* False: no such processor is known. */
bool processor_known(const ProcessorFacts *facts, KnownProcessor *known);
/* This one. */
bool processor_here(KnownProcessor *known);

#endif
