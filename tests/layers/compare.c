/* compare.c: what a compiled program made of the stored cases, against PyTorch Geometric's numbers.
 *
 * usage: compare EXPECTED.safetensors GRADIENTS.safetensors TRAINED.safetensors OUTPUT_FOLDER TOLERANCE
 *
 * EXPECTED holds `loss`, `out.CASE` (what OUTPUT_FOLDER/CASE.npy must hold) `grad.WEIGHT` (WEIGHT of GRADIENTS)
 * and `after.BUFFER` (BUFFER of TRAINED, the weights after one epoch). Entries may differ by TOLERANCE times
 * the largest of the array, and by 1e-8; where all entries are 0, or 0 but for rounding, by 1e-7, which is what float32 leaves of sums of numbers of size 1.
 * Of an input the expected gradient has the rows of the graph's nodes; those of other nodes must be 0. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/data/npy.h"
#include "runtime/data/safetensors.h"

static int failed, passed;

static double entry(const gnn_array *array, int64_t i) { return (double)((const float *)(const void *)array->data)[i]; }

/* rest: entries of `got` that are not expected must be 0. */
static void compare(const char *name, const gnn_array *want, const gnn_array *got, double tolerance, int has_rest) {
  double largest = 0, worst = 0;
  int64_t at = 0;
  if (got == NULL || got->dtype != GNN_F32 || want->dtype != GNN_F32 || (has_rest ? got->count < want->count : got->count != want->count)) {
    printf("%s: %s\n", name, got == NULL ? "is missing" : "is of another shape");
    failed++;
    return;
  }
  for (int64_t i = 0; i < want->count; i++) largest = fmax(largest, fabs(entry(want, i)));
  for (int64_t i = 0; i < got->count; i++) {
    const double difference = fabs(entry(got, i) - (i < want->count ? entry(want, i) : 0));
    if (difference <= worst) continue;
    worst = difference;
    at = i;
    if (isnan(worst)) break;
  }
  if (worst <= tolerance * largest + (largest < 1e-7 ? 1e-7 : 1e-8)) {
    passed++;
    return;
  }
  failed++;
  printf("%s: %.9g where %.9g is expected, at %lld; off by %.2g of the largest, %.3g\n", name, entry(got, at), at < want->count ? entry(want, at) : 0.0,
         (long long)at, worst / largest, largest);
}

static void die(const char *path, const gnn_error *error) {
  fprintf(stderr, "%s: %s\n", path, error->message);
  exit(1);
}

static void compare_output(const char *name, const gnn_array *want, const char *folder, double tolerance) {
  char path[4096];
  gnn_file file;
  gnn_array got;
  gnn_error error;
  snprintf(path, sizeof path, "%s/%s.npy", folder, name + strlen("out."));
  int is_transposed;
  if (gnn_npy_open(path, &file, &got, &is_transposed, &error) != GNN_OK) die(path, &error);
  compare(name, want, &got, tolerance, 0);
  gnn_file_close(&file);
}

int main(int argc, char **argv) {
  gnn_safetensors expected, gradients, trained;
  gnn_error error;
  if (argc != 6) return 2;
  const double tolerance = atof(argv[5]);
  if (gnn_safetensors_open(argv[1], &expected, &error) != GNN_OK) die(argv[1], &error);
  if (gnn_safetensors_open(argv[2], &gradients, &error) != GNN_OK) die(argv[2], &error);
  if (gnn_safetensors_open(argv[3], &trained, &error) != GNN_OK) die(argv[3], &error);
  for (int t = 0; t < expected.tensor_count; t++) /* first: a wrong output spoils gradients of others */
    if (strncmp(expected.tensors[t].name, "out.", 4) == 0) compare_output(expected.tensors[t].name, &expected.tensors[t].array, argv[4], tolerance);
  for (int t = 0; t < expected.tensor_count; t++) {
    const char *name = expected.tensors[t].name;
    const gnn_array *want = &expected.tensors[t].array;
    if (strncmp(name, "grad.", 5) == 0) compare(name, want, gnn_safetensors_find(&gradients, name + 5), tolerance, strncmp(name, "grad.x_", 7) == 0);
    else if (strncmp(name, "after.", 6) == 0) compare(name, want, gnn_safetensors_find(&trained, name + 6), tolerance, 0);
    else if (strcmp(name, "loss") == 0) {
      const char *text = gnn_safetensors_text(&gradients, "gnncc.loss");
      const float loss = text ? strtof(text, NULL) : NAN;
      compare(name, want, &(gnn_array){.dtype = GNN_F32, .rank = 1, .shape = {1}, .count = 1, .data = (const unsigned char *)(const void *)&loss}, tolerance, 0);
    }
  }
  printf("%d of %d arrays agree\n", passed, passed + failed);
  return failed || passed == 0;
}
