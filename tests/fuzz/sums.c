/* sums: the checksums of a safetensors container made right again, so that a mutated file comes further than their comparison. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <zlib.h>

#include "fuzz.h"

static const char lead[] = "{\"__metadata__\":{\"gnncc.crc32\":\"", list[] = "\"gnncc.crc32.data\":\"", offsets[] = "\"data_offsets\":[";
enum { LEAD = sizeof lead - 1, DIGITS = 8 };

static void put(uint8_t *at, uLong sum) {
  char digits[DIGITS + 1];
  snprintf(digits, sizeof digits, "%08lx", sum & 0xffffffff);
  memcpy(at, digits, DIGITS);
}

void fuzz_repair_sums(uint8_t *file, size_t size) {
  uint64_t length = 0;
  for (int i = 7; i >= 0 && size >= 8; i--) length = length << 8 | file[i];
  if (size < 8 + LEAD + DIGITS || length > size - 8 || length < LEAD + DIGITS || memcmp(file + 8, lead, LEAD) != 0) return;
  uint8_t *header = file + 8, *end = header + length, *data = end;
  uint8_t *sum = memmem(header, (size_t)length, list, sizeof list - 1), *tensor = header;
  if (sum) sum += sizeof list - 1;
  while (sum && end - sum >= DIGITS && (tensor = memmem(tensor, (size_t)(end - tensor), offsets, sizeof offsets - 1))) {
    unsigned long long first, last;
    char text[64] = {0};
    tensor += sizeof offsets - 1;
    memcpy(text, tensor, (size_t)(end - tensor) < sizeof text - 1 ? (size_t)(end - tensor) : sizeof text - 1);
    if (sscanf(text, "%llu,%llu", &first, &last) != 2 || first > last || last > (unsigned long long)(size - 8 - length)) break;
    put(sum, crc32_z(0, data + first, (size_t)(last - first)));
    sum += DIGITS + 1;
  }
  uLong own = crc32_z(0, file, 8 + LEAD);
  own = crc32_z(own, (const unsigned char *)"00000000", DIGITS);
  put(header + LEAD, crc32_z(own, header + LEAD + DIGITS, (size_t)length - LEAD - DIGITS));
}
