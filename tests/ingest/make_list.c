/* make_list.c: make_list FORM NODES EDGES SEED FILE: edges with a hub, loops and duplicates, as text, as csv, or as NumPy arrays: rows [2, E] of int32, pairs [E, 2] of
 * int64, fortran [2, E] of uint16 by columns. The edges are the same in every form. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static uint64_t draw(void) { /* splitmix64 */
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static void edge(int64_t nodes, int64_t *source, int64_t *destination) {
  const uint64_t kind = draw() % 16;
  *source = (int64_t)(draw() % (uint64_t)nodes);
  *destination = kind == 0 ? 0 : kind == 1 ? *source : kind < 4 ? (int64_t)(draw() % (uint64_t)(nodes / 100 + 1)) : (int64_t)(draw() % (uint64_t)nodes);
}

static void header(FILE *file, const char *type, int is_fortran, long long rows, long long columns) {
  char text[118];
  const int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (%lld, %lld), }", type, is_fortran ? "True" : "False", rows, columns);
  memset(text + length, ' ', sizeof text - (size_t)length);
  text[sizeof text - 1] = '\n';
  fwrite("\223NUMPY\1\0v\0", 1, 10, file);
  fwrite(text, 1, sizeof text, file);
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  const char *form = argv[1];
  const int64_t nodes = atoll(argv[2]), edges = atoll(argv[3]);
  FILE *file = fopen(argv[5], "wb");
  if (file == NULL) return 1;
  const int is_csv = strcmp(form, "csv") == 0, is_text = is_csv || strcmp(form, "text") == 0, is_rows = strcmp(form, "rows") == 0, is_fortran = strcmp(form, "fortran") == 0;
  if (is_csv) fprintf(file, "source,destination,weight\r\n");
  else if (is_text) fprintf(file, "# edges\n%% of nobody\n\n");
  else header(file, is_rows ? "<i4" : is_fortran ? "<u2" : "<i8", is_fortran, is_rows || is_fortran ? 2 : edges, is_rows || is_fortran ? edges : 2);
  for (int turn = 0; turn < (is_rows ? 2 : 1); turn++) {
    state = (uint64_t)atoll(argv[4]);
    for (int64_t e = 0; e < edges; e++) {
      int64_t ends[2];
      edge(nodes, &ends[0], &ends[1]);
      if (is_csv) fprintf(file, "%lld, %lld, 0.5\r\n", (long long)ends[0], (long long)ends[1]);
      else if (is_text) fprintf(file, "%lld\t%lld%s", (long long)ends[0], (long long)ends[1], e + 1 < edges ? "\n" : "");
      else if (is_rows) fwrite(&(int32_t){(int32_t)ends[turn]}, 4, 1, file);
      else if (is_fortran) fwrite((uint16_t[2]){(uint16_t)ends[0], (uint16_t)ends[1]}, 2, 2, file);
      else fwrite(ends, 8, 2, file);
    }
  }
  return fclose(file) == 0 ? 0 : 1;
}
