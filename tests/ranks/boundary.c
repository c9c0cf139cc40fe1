/* boundary.c FOLDER KIND NUMBER EPOCHS FIRST...: the losses of a training of two sums over neighbours on ranks that begin with these rows, the last FIRST being all of them, by plain loops over
 * all edges: KIND exact; stale, with averages where NUMBER > 0; sample, of a share NUMBER. What the model is says tests/ranks/standin.sh. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/random.h"

enum { WIDTH = 32, HIDDEN = 2, CLASSES = 4, MOST = 16 };
typedef double (*rows)[HIDDEN];

static int nodes, edges, ranks, first[MOST + 1], *from, *to;
static char *kind;
static double number;
static double *share; /* [ranks, nodes]: how many times rank r counts a row; 0: its edges are not there */

static void *read_array(const char *folder, const char *name, size_t *bytes) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.npy", folder, name);
  FILE *in = fopen(path, "rb");
  unsigned char head[10];
  if (!in || fread(head, 1, 10, in) != 10) exit(2);
  fseek(in, 0, SEEK_END);
  const long begin = 10 + head[8] + 256 * head[9], length = ftell(in) - begin;
  void *data = malloc((size_t)length);
  fseek(in, begin, SEEK_SET);
  if (fread(data, 1, (size_t)length, in) != (size_t)length) exit(2);
  fclose(in);
  *bytes = (size_t)length;
  return data;
}

static int rank_of(int row) {
  int r = 0;
  while (row >= first[r + 1]) r++;
  return r;
}

static void draw(int epoch) {
  const uint64_t key = gnn_mix64(gnn_random_key(0, 0xb0d4) ^ (uint64_t)epoch);
  char *gathers = calloc((size_t)(ranks * nodes), 1);
  for (int e = 0; e < edges; e++) gathers[rank_of(to[e]) * nodes + from[e]] = 1;
  for (int r = 0; r < ranks; r++)
    for (int q = 0; q < ranks; q++) {
      int n = 0, left, i = 0;
      for (int u = first[q]; u < first[q + 1]; u++) n += q != r && gathers[r * nodes + u];
      const int drawn = left = (int)ceil(number * n);
      for (int u = first[q]; u < first[q + 1]; u++) {
        share[r * nodes + u] = 1;
        if (q == r || !gathers[r * nodes + u]) continue;
        const int is = gnn_random_uniform(gnn_mix64(key ^ (uint64_t)(q * 64 + r)), (uint64_t)i) * (n - i) < left;
        share[r * nodes + u] = is ? (double)n / drawn : 0;
        left -= is;
        i++;
      }
    }
  free(gathers);
}

/* Of an epoch, what others have of these rows. */
static void seen(rows now, rows before, rows average, rows others, int epoch) {
  for (int v = 0; v < nodes; v++)
    for (int c = 0; c < HIDDEN; c++) {
      if (epoch == 1) average[v][c] = before[v][c] = now[v][c];
      else if (epoch > 2) average[v][c] = number * average[v][c] + (1 - number) * before[v][c];
      others[v][c] = strcmp(kind, "stale") == 0 ? (number > 0 ? average : before)[v][c] : now[v][c];
      before[v][c] = now[v][c];
    }
}

/* Of its sources, or for gradients of its destinations: own rows as they are, those of other ranks as they are seen. */
static void sum(rows now, rows others, int is_back, rows sums) {
  memset(sums, 0, (size_t)nodes * sizeof *sums);
  for (int e = 0; e < edges; e++) {
    const int into = is_back ? from[e] : to[e], of = is_back ? to[e] : from[e];
    const int is_own = rank_of(into) == rank_of(of);
    const double times = strcmp(kind, "sample") == 0 ? share[rank_of(to[e]) * nodes + from[e]] : 1;
    for (int c = 0; c < HIDDEN; c++) sums[into][c] += is_own ? now[of][c] : times * others[of][c];
  }
}

static rows room(void) { return calloc((size_t)nodes, sizeof(double[HIDDEN])); }

int main(int argc, char **argv) {
  size_t bytes;
  kind = argv[2];
  number = atof(argv[3]);
  const int epochs = atoi(argv[4]);
  for (ranks = -1; ranks + 6 < argc; ranks++) first[ranks + 1] = atoi(argv[ranks + 6]);
  nodes = first[ranks];
  const long long *ends = read_array(argv[1], "edge_index", &bytes);
  edges = (int)(bytes / 16);
  const float *x = read_array(argv[1], "x", &bytes);
  const long long *y = read_array(argv[1], "y", &bytes);
  const char *is_trained = read_array(argv[1], "train_mask", &bytes);
  from = malloc((size_t)edges * sizeof *from);
  to = malloc((size_t)edges * sizeof *to);
  for (int e = 0; e < edges; e++) from[e] = (int)ends[e], to[e] = (int)ends[edges + e];
  share = calloc((size_t)(ranks * nodes), sizeof *share);
  double w1[WIDTH][HIDDEN], w2[HIDDEN][CLASSES], trained = 0;
  for (int c = 0; c < HIDDEN; c++) {
    for (int f = 0; f < WIDTH; f++) w1[f][c] = 1;
    for (int k = 0; k < CLASSES; k++) w2[c][k] = 1;
  }
  for (int v = 0; v < nodes; v++) trained += is_trained[v];
  rows z = room(), h = room(), o = room(), s = room(), others = room(), before[4], average[4], dh = room(), dz = room(), g = room();
  for (int k = 0; k < 4; k++) before[k] = room(), average[k] = room();
  for (int epoch = 1; epoch <= epochs; epoch++) {
    double loss = 0, dw1[WIDTH][HIDDEN] = {{0}}, dw2[HIDDEN][CLASSES] = {{0}};
    if (strcmp(kind, "sample") == 0) draw(epoch);
    for (int v = 0; v < nodes; v++)
      for (int c = 0; c < HIDDEN; c++) {
        double a = 0;
        for (int f = 0; f < WIDTH; f++) a += x[v * WIDTH + f] * w1[f][c];
        z[v][c] = tanh(0.1 * a);
      }
    seen(z, before[0], average[0], others, epoch);
    sum(z, others, 0, s);
    for (int v = 0; v < nodes; v++)
      for (int c = 0; c < HIDDEN; c++) h[v][c] = tanh(z[v][c] + 0.3 * s[v][c]);
    seen(h, before[1], average[1], others, epoch);
    sum(h, others, 0, s);
    for (int v = 0; v < nodes; v++) {
      double score[CLASSES] = {0}, all = 0;
      for (int c = 0; c < HIDDEN; c++) {
        o[v][c] = tanh(h[v][c] + 0.3 * s[v][c]);
        for (int k = 0; k < CLASSES; k++) score[k] += o[v][c] * w2[c][k];
      }
      for (int k = 0; k < CLASSES; k++) all += exp(score[k]);
      if (is_trained[v]) loss += (log(all) - score[y[v]]) / trained;
      for (int c = 0; c < HIDDEN; c++) {
        double back = 0;
        for (int k = 0; k < CLASSES && is_trained[v]; k++) {
          const double d = (exp(score[k]) / all - (k == y[v])) / trained;
          dw2[c][k] += o[v][c] * d;
          back += d * w2[c][k];
        }
        g[v][c] = back * (1 - o[v][c] * o[v][c]);
      }
    }
    seen(g, before[2], average[2], others, epoch);
    sum(g, others, 1, s);
    for (int v = 0; v < nodes; v++)
      for (int c = 0; c < HIDDEN; c++) dh[v][c] = (g[v][c] + 0.3 * s[v][c]) * (1 - h[v][c] * h[v][c]);
    seen(dh, before[3], average[3], others, epoch);
    sum(dh, others, 1, s);
    for (int v = 0; v < nodes; v++)
      for (int c = 0; c < HIDDEN; c++) {
        dz[v][c] = (dh[v][c] + 0.3 * s[v][c]) * (1 - z[v][c] * z[v][c]) * 0.1;
        for (int f = 0; f < WIDTH; f++) dw1[f][c] += x[v * WIDTH + f] * dz[v][c];
      }
    for (int c = 0; c < HIDDEN; c++) {
      for (int f = 0; f < WIDTH; f++) w1[f][c] -= 100 * dw1[f][c];
      for (int k = 0; k < CLASSES; k++) w2[c][k] -= 100 * dw2[c][k];
    }
    printf("%.9g\n", loss);
  }
  return 0;
}
