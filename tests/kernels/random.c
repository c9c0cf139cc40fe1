/* The generator by statistics: bits of dropout over columns, rows, epochs and sites; moments of initial weights.
 *
 * All is reproducible, so the bounds are fixed: 5 standard deviations for one figure, and for the largest of many what
 * their number makes likely. */
#include "../../kernels/cpu/random.h"
#include "tap.h"

enum { ROWS = 2048, COLUMNS = 512, COUNT = ROWS * COLUMNS };

typedef struct Kind {
  const char *name;
  uint64_t row_step;
  uint32_t column_step;
} Kind;

static uint32_t draw(uint64_t key, const Kind *kind, int64_t i) {
  return gnn_bits(key, (uint64_t)(i / COLUMNS) * kind->row_step, (uint32_t)(i % COLUMNS) * kind->column_step);
}

static void test_bits(Tap *tap, uint64_t key, const Kind *kind) {
  int64_t ones[32] = {0}, bytes[4][256] = {{0}};
  for (int64_t i = 0; i < COUNT; i++) {
    const uint32_t x = draw(key, kind, i);
    for (int b = 0; b < 32; b++) ones[b] += x >> b & 1;
    for (int b = 0; b < 4; b++) bytes[b][x >> 8 * b & 255]++;
  }
  double worst = 0;
  for (int b = 0; b < 32; b++) worst = fmax(worst, fabs((double)ones[b] - COUNT / 2.0) / sqrt(COUNT / 4.0));
  tap_ok(tap, worst < 5, "%s: every bit is one half of the time, off by %.2f deviations", kind->name, worst);
  worst = 0;
  for (int b = 0; b < 4; b++) {
    double chi = 0;
    for (int v = 0; v < 256; v++) chi += pow((double)bytes[b][v] - COUNT / 256.0, 2) / (COUNT / 256.0);
    worst = fmax(worst, fabs(chi - 255) / sqrt(2 * 255.0));
  }
  tap_ok(tap, worst < 5, "%s: every byte is even, chi-square off by %.2f deviations", kind->name, worst);
}

/* Correlation of a bit pattern with another draw's: the share of equal bits, for each bit. */
static double disagreement(const uint32_t *a, const uint32_t *b) {
  int64_t equal[32] = {0};
  for (int64_t i = 0; i < COUNT; i++) {
    const uint32_t same = ~(a[i] ^ b[i]);
    for (int bit = 0; bit < 32; bit++) equal[bit] += same >> bit & 1;
  }
  double worst = 0;
  for (int bit = 0; bit < 32; bit++) worst = fmax(worst, fabs((double)equal[bit] - COUNT / 2.0) / sqrt(COUNT / 4.0));
  return worst;
}

static void test_pairs(Tap *tap) {
  uint32_t *a = must(malloc(COUNT * sizeof *a)), *b = must(malloc(COUNT * sizeof *b));
  const uint64_t key = gnn_dropout_key(7, 3, 1);
  static const struct {
    const char *name;
    uint64_t seed;
    int64_t epoch;
    uint32_t site;
    uint64_t row;
    uint32_t column;
  } others[] = {
      {"the next column", 7, 3, 1, 0, 1},      {"16 columns on", 7, 3, 1, 0, 16},
      {"half the bits on", 7, 3, 1, 0, 65536}, {"the next row", 7, 3, 1, 1, 0},
      {"16 rows on", 7, 3, 1, 16, 0},          {"row and column on", 7, 3, 1, 1, 1},
      {"row 2^32 on", 7, 3, 1, (uint64_t)1 << 32, 0}, {"the next epoch", 7, 4, 1, 0, 0},
      {"the next site", 7, 3, 2, 0, 0},        {"the next seed", 8, 3, 1, 0, 0},
  };
  for (int64_t i = 0; i < COUNT; i++) a[i] = gnn_bits(key, (uint64_t)(i / COLUMNS), (uint32_t)(i % COLUMNS));
  for (size_t o = 0; o < sizeof others / sizeof *others; o++) {
    const uint64_t other = gnn_dropout_key(others[o].seed, others[o].epoch, others[o].site);
    for (int64_t i = 0; i < COUNT; i++)
      b[i] = gnn_bits(other, (uint64_t)(i / COLUMNS) + others[o].row, (uint32_t)(i % COLUMNS) + others[o].column);
    const double worst = disagreement(a, b);
    tap_ok(tap, worst < 5, "independent of %s, off by %.2f deviations", others[o].name, worst);
  }
  free(a), free(b);
}

/* How often an element is kept: overall, and spread over rows and over columns as a binomial is. */
static void test_dropout(Tap *tap, double p) {
  const gnn_dropout drop = gnn_dropout_make(1, 2, 3, p);
  static int64_t by_row[ROWS], by_column[COLUMNS];
  memset(by_row, 0, sizeof by_row), memset(by_column, 0, sizeof by_column);
  int64_t kept = 0;
  for (int64_t r = 0; r < ROWS; r++) {
    const gnn_row_bits bits = gnn_random_row(drop.key, (uint64_t)r);
    for (int64_t c = 0; c < COLUMNS; c++) {
      const gnn_real factor = gnn_dropout_factor(&drop, bits, (uint32_t)c);
      kept += factor != 0, by_row[r] += factor != 0, by_column[c] += factor != 0;
    }
  }
  if (p == 0 || p == 1) {
    tap_ok(tap, kept == (p == 0 ? COUNT : 0), "p = %g %s", p, p == 0 ? "keeps all" : "drops all");
    tap_ok(tap, drop.scale == (p == 0 ? 1 : 0), "p = %g scales by %g", p, (double)drop.scale);
    return;
  }
  const double variance = p * (1 - p);
  const double off = fabs((double)kept - COUNT * (1 - p)) / sqrt(COUNT * variance);
  double chi_rows = 0, chi_columns = 0;
  for (int64_t r = 0; r < ROWS; r++) chi_rows += pow((double)by_row[r] - COLUMNS * (1 - p), 2) / (COLUMNS * variance);
  for (int64_t c = 0; c < COLUMNS; c++) chi_columns += pow((double)by_column[c] - ROWS * (1 - p), 2) / (ROWS * variance);
  tap_ok(tap, off < 5, "p = %g: drops that share, off by %.2f deviations", p, off);
  tap_ok(tap, fabs(chi_rows - ROWS) / sqrt(2.0 * ROWS) < 5, "p = %g: even over rows, %.2f deviations", p,
         (chi_rows - ROWS) / sqrt(2.0 * ROWS));
  tap_ok(tap, fabs(chi_columns - COLUMNS) / sqrt(2.0 * COLUMNS) < 5, "p = %g: even over columns, %.2f deviations", p,
         (chi_columns - COLUMNS) / sqrt(2.0 * COLUMNS));
  tap_ok(tap, fabs((double)drop.scale * (1 - p) - 1) < 1e-6, "p = %g: scaled to the same mean", p);
}

static void test_rows_differ(Tap *tap) {
  enum { MANY = 1 << 20 };
  uint8_t *seen = must(calloc((size_t)1 << 29, 1));
  int64_t same = 0;
  for (uint64_t r = 0; r < MANY; r++) {
    const uint32_t a = gnn_random_row(gnn_dropout_key(1, 1, 1), r).a;
    same += seen[a >> 3] >> (a & 7) & 1;
    seen[a >> 3] |= (uint8_t)(1 << (a & 7));
  }
  tap_ok(tap, same == 0, "no two of %d rows share their bits", MANY);
  free(seen);
}

static void test_weights(Tap *tap) {
  enum { MANY = 1 << 20, CELLS = 256 };
  const uint64_t key = gnn_random_key(0, 5);
  double sum = 0, square = 0, product = 0, low = 1, high = 0, cells[CELLS] = {0}, chi = 0;
  for (int64_t i = 0; i < MANY; i++) {
    const double u = gnn_random_uniform(key, (uint64_t)i), next = gnn_random_uniform(key, (uint64_t)i + 1);
    sum += u, square += u * u, product += (u - 0.5) * (next - 0.5);
    low = fmin(low, u), high = fmax(high, u);
    cells[(int)(u * CELLS)]++;
  }
  for (int c = 0; c < CELLS; c++) chi += pow(cells[c] - MANY / (double)CELLS, 2) / (MANY / (double)CELLS);
  tap_ok(tap, low >= 0 && high < 1, "uniform is of [0, 1)");
  tap_ok(tap, fabs(sum / MANY - 0.5) < 5 * sqrt(1.0 / 12 / MANY), "uniform: mean %.6f", sum / MANY);
  tap_ok(tap, fabs(square / MANY - 1.0 / 3) < 5 * sqrt(4.0 / 45 / MANY), "uniform: square %.6f", square / MANY);
  tap_ok(tap, fabs(product / MANY) < 5.0 / 12 / sqrt(MANY), "uniform: neighbours are independent");
  tap_ok(tap, fabs(chi - CELLS + 1) < 5 * sqrt(2.0 * CELLS), "uniform: chi-square %.1f of %d", chi, CELLS - 1);
  double moment[5] = {0}, neighbours = 0;
  for (int64_t i = 0; i < MANY; i++) {
    const double z = gnn_random_normal(key, (uint64_t)i), next = gnn_random_normal(key, (uint64_t)i + 1);
    for (int m = 1; m < 5; m++) moment[m] += pow(z, m) / MANY;
    neighbours += z * next / MANY;
  }
  const double deviation = 1 / sqrt(MANY);
  tap_ok(tap, fabs(moment[1]) < 5 * deviation, "normal: mean %.6f", moment[1]);
  tap_ok(tap, fabs(moment[2] - 1) < 5 * deviation * sqrt(2), "normal: variance %.6f", moment[2]);
  tap_ok(tap, fabs(moment[3]) < 5 * deviation * sqrt(15), "normal: third moment %.6f", moment[3]);
  tap_ok(tap, fabs(moment[4] - 3) < 5 * deviation * sqrt(96), "normal: fourth moment %.6f", moment[4]);
  tap_ok(tap, fabs(neighbours) < 5 * deviation, "normal: neighbours are independent");
}

int main(void) {
  Tap tap = {0, 0};
  static const Kind kinds[] = {{"rows and columns", 1, 1}, {"every 1024th row and 64th column", 1024, 64}, {"far rows", (uint64_t)1 << 33, 1}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (uint64_t key = 0; key < 2; key++) test_bits(&tap, key ? gnn_dropout_key(42, 10, 0) : 0, &kinds[i]);
  test_pairs(&tap);
  static const double rates[] = {0, 0.1, 0.5, 0.6, 0.999, 1};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) test_dropout(&tap, rates[i]);
  test_rows_differ(&tap);
  test_weights(&tap);
  return tap_end(&tap);
}
