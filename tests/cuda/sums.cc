/* Kernels of sums over neighbours as they are emitted (KERNELS), against their pattern of additions in plain C, bit for bit, in three orders of
 * threads: rows of every length, hubs among them, of elements of every width; what lies between padded rows is neither used nor written.
 *
 * The pattern of an element of a row (docs/cuda.md): LANES are as many as it has elements, a power of two up to a warp, or as tuned; SLOTS
 * groups of lanes, as an average row has entries for, take every SLOTS-th entry, and their sums come together by a butterfly, neighbours first. A row
 * of more than 1024 entries is cut into as many equal pieces as there are such groups in a block, a chain for each slot of each, and the chains come
 * together by halving, the most distant first. */
#include "emulate.h"

#include KERNELS

#include <math.h>

#include <vector>

struct Sum {
  const char *name;
  void (*kernel)(const gnn_view *, gnn_places);
  int from, to;                     /* places of the operand and of the sum */
  int width, stride, stride_to;
  bool is_half, is_out;
};

static const Sum sums[] = {
#include "sums.inc"
};

enum { SOURCES = 100, WARP = 32, LONG = 1024, LONGEST = 3000 };
static const int64_t lengths[] = {3, 0, 1025, 1, 17, 1024, 5, 2, LONGEST, 0, 31, 1500, 7, 64, 1026, 9};
enum { ROWS = sizeof lengths / sizeof *lengths };

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static float rounded(float x) { return gnn_number(gnn_rounded(x)); }

/* The sum of entries begin .. end - 1 by `slots` chains; chain[s] has every slots-th from s on. */
EMULATE_FAST static void sum_chains(const float *x, int64_t begin, int64_t end, int slots, float *chain) {
  for (int s = 0; s < slots; s++) chain[s] = 0;
  for (int64_t i = begin; i < end; i++) chain[(i - begin) % slots] += x[i];
}

EMULATE_FAST static float pattern(const float *x, int64_t count, int lanes, int slots) {
  float chain[GNN_THREADS];
  if (count <= LONG) {
    sum_chains(x, 0, count, slots, chain);
    for (int apart = 1; apart < slots; apart *= 2)
      for (int s = 0; s < slots; s += 2 * apart) chain[s] += chain[s + apart];
    return chain[0];
  }
  const int pieces = GNN_THREADS / (lanes * slots);
  const int64_t length = (count + pieces - 1) / pieces;
  for (int p = 0; p < pieces; p++) sum_chains(x, gnn_min(p * length, count), gnn_min((p + 1) * length, count), slots, chain + p * slots);
  for (int half = pieces * slots / 2; half > 0; half /= 2)
    for (int c = 0; c < half; c++) chain[c] += chain[c + half];
  return chain[0];
}

struct Memory {
  std::vector<unsigned char> bytes;
  int64_t from, to;

  explicit Memory(const Sum *s) : bytes((size_t)(SOURCES * s->stride + ROWS * s->stride_to) * 4 + 512, 0xff), from(0), to((SOURCES * s->stride * 4 + 255) / 256 * 256) {}
  float get(int64_t at, int64_t i, bool is_half) const { return number(bytes.data() + at, i, is_half); }
  EMULATE_FAST static float number(const unsigned char *base, int64_t i, bool is_half) {
    return is_half ? gnn_number(((const gnn_half *)(const void *)base)[i]) : ((const float *)(const void *)base)[i];
  }
};

static const Sum *running;
static void run(const void *view, gnn_places at) { running->kernel((const gnn_view *)view, at); }

static int64_t count, failed;

static void ok(bool is_good, const Sum *s, int64_t blocks) {
  printf("%sok %lld - %s: %d wide, %d apart%s, by %lld blocks: the bits of its pattern\n", is_good ? "" : "not ", (long long)++count, s->name, s->width, s->stride,
         s->is_half ? ", bf16" : "", (long long)blocks);
  failed += !is_good;
}

EMULATE_FAST static bool is_right(const Sum *s, const gnn_view_csr *csr, const Memory *m, int lanes, int slots) {
  static float x[LONGEST];
  const unsigned char *from = m->bytes.data() + m->from;
  for (int64_t r = 0; r < ROWS; r++) {
    for (int64_t j = 0; j < s->width; j++) {
      int64_t count = 0;
      for (int64_t e = csr->ptr[r]; e < csr->ptr[r + 1]; e++) x[count++] = Memory::number(from, csr->idx[e] * s->stride + j, s->is_half);
      const float wanted = pattern(x, count, lanes, slots), got = m->get(m->to, r * s->stride_to + j, s->is_half);
      if (got != (s->is_half ? rounded(wanted) : wanted)) {
        printf("# row %lld of %lld entries, element %lld: %.9g, not %.9g\n", (long long)r, (long long)lengths[r], (long long)j, (double)got, (double)wanted);
        return false;
      }
    }
    for (int64_t j = s->width; j < s->stride_to; j++)
      if (!isnan(m->get(m->to, r * s->stride_to + j, s->is_half))) return false;
  }
  return true;
}

/* TUNED: the lanes that the kernels were told to have, or 0. */
static void test(const Sum *s, int64_t blocks) {
  int lanes = 1, slots = 1;
  while (lanes < WARP && lanes < s->width) lanes *= 2;
  if (TUNED && TUNED < lanes) lanes = TUNED;
  while (lanes * slots < WARP && 2 * slots * (int64_t)NODES <= EDGES) slots *= 2;
  std::vector<int64_t> ptr(1);
  std::vector<int32_t> idx;
  for (int64_t length : lengths) {
    for (int64_t i = 0; i < length; i++) idx.push_back((int32_t)(next() % SOURCES));
    ptr.push_back(ptr.back() + length);
  }
  const int32_t hubs[] = {8, 11, 14, 2};
  const gnn_view_csr csr = {ROWS, ptr.back(), ptr.data(), idx.data(), nullptr, hubs, sizeof hubs / sizeof *hubs, LONG}, none = {};
  Memory before(s);
  for (int64_t r = 0; r < SOURCES; r++) /* what is beside the rows is no number */
    for (int64_t j = 0; j < s->width; j++) {
      const float x = (float)((double)(next() >> 11) * 0x1p-52 - 1);
      if (s->is_half) ((gnn_half *)(void *)before.bytes.data())[r * s->stride + j] = gnn_rounded(x);
      else ((float *)(void *)before.bytes.data())[r * s->stride + j] = x;
    }
  bool is_good = true;
  for (emulate::order = 0; emulate::order < 3; emulate::order++) {
    Memory m = before;
    gnn_view view = {};
    view.device = m.bytes.data();
    view.nodes = ROWS;
    view.edges = csr.entries;
    view.sets[GNN_EDGES].in = s->is_out ? none : csr;
    view.sets[GNN_EDGES].out = s->is_out ? csr : none;
    gnn_places at = {};
    at.at[s->from] = m.from;
    at.at[s->to] = m.to;
    running = s;
    emulate::launch(s->name, run, &view, at, blocks, GNN_THREADS);
    is_good = is_right(s, &csr, &m, lanes, slots) && is_good;
  }
  ok(is_good, s, blocks);
}

int main(void) {
  for (const Sum &s : sums)
    for (const int64_t blocks : {2, 40}) test(&s, blocks);
  printf("1..%lld\n", (long long)count);
  return failed != 0 || count == 0;
}
