/* learned.c: what a host program sees of learned values, which depends on no plan: trained, changed by the host, saved, reset and restored. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "learned4.h"

static int fail(const learned4 *it, const char *what) {
  fprintf(stderr, "%s: %s\n", what, learned4_error(it));
  return 1;
}

static void print(const char *when, const float *e, int64_t count) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < count; i++) {
    uint32_t one;
    memcpy(&one, &e[i], sizeof one);
    bits = bits * 1099511628211u + one;
  }
  printf("%s %016llx\n", when, (unsigned long long)bits);
}

int main(void) {
  learned4 *it = NULL;
  learned4_result result = {0};
  float *e = NULL, *same = NULL;
  const int64_t *shape = NULL;
  int rank = 0;
  if (learned4_create(NULL, &it) || learned4_load(it, "graph.safetensors")) return fail(it, "create");
  if (learned4_epoch(it, &result) || learned4_weight(it, "e", &e, &shape, &rank)) return fail(it, "train");
  const int64_t count = shape[0] * shape[1];
  print("after an epoch", e, count);
  if (learned4_epoch(it, &result)) return fail(it, "train on");
  print("after another", e, count);
  for (int64_t i = 0; i < count; i += 7) e[i] += 0.5f;
  if (learned4_epoch(it, &result)) return fail(it, "train what was changed");
  print("changed and trained", e, count);
  e[3] = 2;
  if (learned4_save(it, "learned.safetensors") || learned4_reset(it, 5)) return fail(it, "save");
  print("drawn again", e, count);
  if (learned4_restore(it, "learned.safetensors") || learned4_weight(it, "e", &same, NULL, NULL)) return fail(it, "restore");
  print("restored", e, count);
  if (same != e || e[3] != 2) return fail(it, "the pointer is another");
  if (learned4_eval(it, LEARNED4_VALID, &result)) return fail(it, "eval");
  printf("%d rows, loss %.17g, rank %d\n", (int)result.count, result.loss, rank);
  learned4_destroy(it);
  return 0;
}
