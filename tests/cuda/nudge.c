/* nudge FROM TO SEED: weights (safetensors of fp32), each moved to one of its two neighbours; a 0 by the smallest step of numbers near 1. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void complain(const char *path) {
  perror(path);
  exit(1);
}

int main(int argc, char **argv) {
  uint64_t header = 0, state = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
  FILE *from = argc == 4 ? fopen(argv[1], "rb") : NULL, *to = from ? fopen(argv[2], "wb") : NULL;
  float number;
  if (!from || !to) complain(argc == 4 ? argv[1] : "usage: nudge FROM TO SEED");
  if (fread(&header, sizeof header, 1, from) != 1 || fwrite(&header, sizeof header, 1, to) != 1) complain(argv[1]);
  char *text = malloc(header + 1);
  if (!text || fread(text, 1, header, from) != header) complain(argv[1]);
  text[header] = 0;
  for (char *at = text; (at = strstr(at, "gnncc.crc32")); at++) at[6] = '-'; /* what is nudged has no checksums */
  if (fwrite(text, 1, header, to) != header) complain(argv[2]);
  free(text);
  while (fread(&number, sizeof number, 1, from) == 1) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const float towards = state >> 63 ? INFINITY : -INFINITY;
    number = number == 0 ? copysignf(0x1p-24f, towards) : nextafterf(number, towards);
    if (fwrite(&number, sizeof number, 1, to) != 1) complain(argv[2]);
  }
  if (fclose(to) != 0) complain(argv[2]);
  return fclose(from) != 0;
}
