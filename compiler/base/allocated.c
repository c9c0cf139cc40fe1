#include "allocated.h"

#include <stdatomic.h>

static _Atomic int64_t in_use, most;

void allocated_add(int64_t bytes) {
  const int64_t now = atomic_fetch_add(&in_use, bytes) + bytes;
  int64_t before = atomic_load(&most);
  while (now > before && !atomic_compare_exchange_weak(&most, &before, now)) {}
}

int64_t allocated_bytes(void) { return atomic_load(&in_use); }
int64_t allocated_most(void) { return atomic_load(&most); }
void allocated_restart(void) { atomic_store(&most, atomic_load(&in_use)); }
