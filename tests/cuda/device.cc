/* The device headers, in the emulation, against their definitions in double: products of odd sizes, sums, transposes,
 * losses, optimisers; and dropout against the CPU's generator, bit for bit (cpu_random.c). */
#include "emulate.h"

#include "gnndevice.cuh"
#include "../kernels/optimisers.h"

#include <stdarg.h>

#include <algorithm>
#include <vector>

extern "C" uint32_t cpu_random_bits(uint64_t seed, int64_t epoch, uint32_t site, uint64_t row, uint32_t column);
extern "C" float cpu_dropout_factor(uint64_t seed, int64_t epoch, uint32_t site, double p, uint64_t row, uint32_t column);

static int count, failed;

__attribute__((format(printf, 2, 3))) static void ok(bool is_good, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("%sok %d - ", is_good ? "" : "not ", ++count);
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
  failed += !is_good;
}

static uint64_t state = 88172645463325252u;

static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static std::vector<float> numbers(int64_t size) {
  std::vector<float> x((size_t)size);
  for (float &value : x) value = (float)((double)(next() >> 11) * 0x1p-52 - 1);
  return x;
}

/* Runs under three orders of threads and blocks; false where they leave other bits. */
template <class Job> static bool runs_alike(Job *job, void (*kernel)(const void *), std::vector<float> *result, int64_t blocks) {
  const std::vector<float> before = *result;
  std::vector<float> first;
  bool is_alike = true;
  for (emulate::order = 0; emulate::order < 3; emulate::order++) {
    *result = before;
    job->to = result->data();
    emulate::launch(__func__, kernel, job, blocks, GNN_THREADS);
    if (emulate::order == 0) first = *result;
    else is_alike = is_alike && memcmp(first.data(), result->data(), first.size() * sizeof(float)) == 0;
  }
  return is_alike;
}

/* ---- products ---- */

struct Product {
  const float *a, *b;
  float *to;
  int64_t rows, depth, width;
};

template <int COLUMNS, bool by_j> static void product_kernel(const void *argument) {
  const Product *p = (const Product *)argument;
  __shared__ gnn_gemm_tile<128, COLUMNS> tile;
  const int64_t across = (p->width + COLUMNS - 1) / COLUMNS, row = blockIdx.x / across * 128, column = blockIdx.x % across * COLUMNS;
  gnn_gemm<128, COLUMNS, false, by_j>(p->a, p->depth, p->b, by_j ? p->depth : p->width, p->rows, p->width, row, column, 0, p->depth, &tile);
  for (int n = (int)threadIdx.x; n < 128 * COLUMNS; n += GNN_THREADS) {
    const int64_t i = row + n / COLUMNS, j = column + n % COLUMNS;
    if (i < p->rows && j < p->width) p->to[i * p->width + j] = tile.c[n / COLUMNS][n % COLUMNS];
  }
}

/* The sum of `depth` fused products of numbers below 1: each step rounds by half a unit of a sum below depth. */
static bool is_close(double got, double want, int64_t depth) { return fabs(got - want) <= 0x1p-24 * (double)depth * sqrt((double)depth); }

template <int COLUMNS, bool by_j> static void test_product(int64_t rows, int64_t depth, int64_t width) {
  const std::vector<float> a = numbers(rows * depth), b = numbers(depth * width);
  std::vector<float> to((size_t)(rows * width));
  Product p = {a.data(), b.data(), nullptr, rows, depth, width};
  bool is_good = runs_alike(&p, product_kernel<COLUMNS, by_j>, &to, (rows + 127) / 128 * ((width + COLUMNS - 1) / COLUMNS));
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < width; j++) {
      double sum = 0;
      for (int64_t k = 0; k < depth; k++) sum += (double)a[i * depth + k] * (double)b[by_j ? j * depth + k : k * width + j];
      is_good = is_good && is_close((double)to[i * width + j], sum, depth + 1);
    }
  ok(is_good, "product %lld x %lld x %lld, tiles of %d columns%s", (long long)rows, (long long)depth, (long long)width, COLUMNS, by_j ? ", transposed" : "");
}

/* ---- sums over runs of rows ---- */

/* 2^levels blocks that are cut anywhere, each into 2^below runs. */
struct Cut {
  std::vector<int64_t> first;
  gnn_view view;

  Cut(int64_t rows, int levels, int below) : first((size_t)(1 << levels) + 1), view() {
    for (size_t b = 1; b + 1 < first.size(); b++) first[b] = (int64_t)(next() % (uint64_t)(rows + 1));
    first.back() = rows;
    std::sort(first.begin(), first.end());
    view.blocks = {levels, levels + below, first.data()};
  }
};

/* Rows of `width` numbers `stride` apart, with what is no number between them: whatever counts it in is found out. */
static std::vector<float> padded(const std::vector<float> &x, int64_t width, int64_t stride) {
  std::vector<float> result(x.size() / (size_t)width * (size_t)stride, NAN);
  for (size_t i = 0; i < x.size(); i++) result[i / (size_t)width * (size_t)stride + i % (size_t)width] = x[i];
  return result;
}

struct Outer {
  Product product;
  const float *a, *b; /* the factors, padded */
  int64_t a_stride, b_stride;
  const gnn_view *view;
  int most_levels, part, part_levels; /* part 0: all runs */
  float *sums, *to, *open;

  gnn_runs runs() const { return view->own_parts ? gnn_runs_of_finer(view, part) : part ? gnn_runs_of_part(view, part, part_levels) : gnn_all_runs(view); }
};

static void outer_kernel(const void *argument) {
  const Outer *o = (const Outer *)argument;
  const Product *p = &o->product;
  const int64_t across = (p->width + 63) / 64, down = (p->depth + 63) / 64;
  for (gnn_walk walk = gnn_walk_begin(o->runs(), blockIdx.x / (across * down), o->most_levels, o->sums, p->depth * p->width); walk.run < walk.end; gnn_walk_on(&walk))
    gnn_outer_run<64>(o->a, o->a_stride, o->b, o->b_stride, p->depth, p->width, blockIdx.x / across % down * 64, blockIdx.x % across * 64, gnn_run_first(&o->view->blocks, walk.run),
                      gnn_run_first(&o->view->blocks, walk.run + 1), &walk);
}

static void walkers_kernel(const void *argument) {
  const Outer *o = (const Outer *)argument;
  const int64_t count = o->product.depth * o->product.width;
  if (o->view->own_parts) gnn_sum_finer_parts(o->view, o->part, o->most_levels, o->sums, count, o->to);
  else if (o->part) gnn_sum_part(o->runs(), o->most_levels, o->sums, count, o->part - 1, o->open, o->part == 1 << o->part_levels ? o->to : nullptr);
  else gnn_sum_walkers(o->runs(), o->most_levels, o->sums, count, o->to);
}

static float outer_sum(const Outer *o, int64_t i, int64_t j, int64_t begin, int64_t end) {
  const Product *p = &o->product;
  if (end - begin > 1) return outer_sum(o, i, j, begin, (begin + end) / 2) + outer_sum(o, i, j, (begin + end) / 2, end);
  float sum = 0;
  for (int64_t r = gnn_run_first(&o->view->blocks, begin); r < gnn_run_first(&o->view->blocks, end); r++) sum = fmaf(p->a[r * p->depth + i], p->b[r * p->width + j], sum);
  return sum;
}

static void sum_outer(const Outer *o, int64_t tiles) {
  const int levels = (int)o->runs().levels, shared = o->most_levels < levels ? o->most_levels : levels;
  const int64_t at_once = o->view->own_parts ? gnn_parts_before(o->view, o->part) - gnn_parts_before(o->view, o->part - 1) : 1;
  emulate::launch("outer", outer_kernel, o, at_once * tiles << shared, GNN_THREADS);
  emulate::launch("walkers", walkers_kernel, o, (o->product.depth * o->product.width + GNN_SUM_NUMBERS - 1) / GNN_SUM_NUMBERS, GNN_THREADS);
}

/* The bits are those of the definition, however many walkers and parts there are. */
static void test_outer(int64_t rows, int64_t depth, int64_t width, int levels, int below) {
  const int64_t a_stride = (depth + 3) / 4 * 4, b_stride = (width + 3) / 4 * 4;
  const std::vector<float> a = numbers(rows * depth), b = numbers(rows * width), wide_a = padded(a, depth, a_stride), wide_b = padded(b, width, b_stride);
  std::vector<float> to((size_t)(depth * width));
  const Cut cut(rows, levels, below);
  const int64_t tiles = (depth + 63) / 64 * ((width + 63) / 64), runs = INT64_C(1) << (levels + below);
  bool is_good = true;
  for (int most = 0; most <= levels + below + 1; most++) {
    const int shared = most < levels + below ? most : levels + below;
    std::vector<float> sums((size_t)(((levels + below - shared + 1) << shared) * depth * width));
    std::vector<float> open((size_t)((levels + 1) * depth * width));
    Outer o = {{a.data(), b.data(), nullptr, rows, depth, width}, wide_a.data(), wide_b.data(), a_stride, b_stride, &cut.view, most, 0, most % (levels + 1), sums.data(), to.data(), open.data()};
    emulate::order = most;
    if (o.part_levels == 0) sum_outer(&o, tiles);
    for (o.part = 1; o.part_levels > 0 && o.part <= 1 << o.part_levels; o.part++) sum_outer(&o, tiles);
    for (int64_t n = 0; n < depth * width; n++) is_good = is_good && to[(size_t)n] == outer_sum(&o, n / width, n % width, 0, runs);
  }
  ok(is_good, "gradient of %lld x %lld over %lld rows in %lld runs: the bits of their tree", (long long)depth, (long long)width, (long long)rows, (long long)runs);
}

/* Of a rank that has three of four parts, each of two finer ones: its rows are in two parts, of three finer ones each, or in four, of one or two. */
static void test_outer_of_rank(int64_t rows, int64_t depth, int64_t width, int cut_levels) {
  enum { LEVELS = 4, BELOW = 1, PARTS = 2, FIRST = 1, OWN = 3, FINER = 1 };
  const std::vector<float> a = numbers(rows * depth), b = numbers(rows * width);
  const int64_t tiles = (depth + 63) / 64 * ((width + 63) / 64), count = depth * width, below = LEVELS + BELOW - PARTS;
  Cut cut(rows, LEVELS, BELOW);
  cut.view.part_levels = PARTS, cut.view.first_part = FIRST, cut.view.own_parts = OWN, cut.view.finer_levels = FINER, cut.view.cut_levels = cut_levels;
  bool is_good = true;
  for (int most = 0; most <= below; most++) {
    const int64_t levels = below - FINER, shared = most < levels ? most : levels;
    std::vector<float> walks((size_t)((OWN << FINER) * ((levels - shared + 1) << shared) * count)), sums((size_t)(((1 << PARTS) + FINER + 1) * count));
    Outer o = {{a.data(), b.data(), nullptr, rows, depth, width}, a.data(), b.data(), depth, width, &cut.view, most, 0, 0, walks.data(), sums.data(), nullptr};
    emulate::order = most;
    for (o.part = 1; o.part <= 1 << cut_levels; o.part++) sum_outer(&o, tiles);
    for (int64_t p = 0; p < OWN; p++)
      for (int64_t n = 0; n < count; n++) is_good = is_good && sums[(size_t)((FIRST + p) * count + n)] == outer_sum(&o, n / width, n % width, p << below, (p + 1) << below);
  }
  ok(is_good, "gradient of %lld x %lld of a rank's rows in %d parts: the bits of each of its parts", (long long)depth, (long long)width, 1 << cut_levels);
}

/* ---- transposes ---- */

struct Matrix {
  const float *from;
  float *to;
  int64_t rows, columns;
};

static void transpose_kernel(const void *argument) {
  const Matrix *m = (const Matrix *)argument;
  gnn_transpose(m->from, m->rows, m->columns, m->to);
}

static void test_matrix(int64_t rows, int64_t columns) {
  const std::vector<float> x = numbers(rows * columns);
  std::vector<float> turned((size_t)(rows * columns));
  Matrix m = {x.data(), nullptr, rows, columns};
  bool is_turned = runs_alike(&m, transpose_kernel, &turned, (rows + 31) / 32 * ((columns + 31) / 32));
  for (int64_t c = 0; c < columns; c++)
    for (int64_t r = 0; r < rows; r++) is_turned = is_turned && turned[c * rows + r] == x[r * columns + c];
  ok(is_turned, "transpose, %lld x %lld", (long long)rows, (long long)columns);
}

/* ---- loss ---- */

struct Loss {
  const float *scores;
  const int32_t *labels, *rows;
  float *to; /* the gradient */
  double *losses, *sums, *mean;
  int64_t classes, count, stride, gradient_stride;
  const gnn_view *view;
  double *split_losses, *split_sums, *split_results;
};

template <int LANES, int EACH> static void loss_kernel(const void *argument) {
  const Loss *l = (const Loss *)argument;
  gnn_cross_entropy_rows<LANES, EACH>(l->scores, l->stride, l->classes, l->labels, l->rows, l->count, l->losses);
}
static void loss_block_kernel(const void *argument) {
  const Loss *l = (const Loss *)argument;
  gnn_cross_entropy_block(l->losses, l->rows, l->count, &l->view->blocks, 0, l->sums);
}
static void mean_kernel(const void *argument) {
  const Loss *l = (const Loss *)argument;
  gnn_cross_entropy_mean(l->sums, &l->view->blocks, l->count, l->mean);
}
template <int LANES, int EACH> static void measure_kernel(const void *argument) {
  const Loss *l = (const Loss *)argument;
  gnn_measure_rows<LANES, EACH>(l->scores, l->stride, l->classes, l->labels, l->view, l->split_losses);
}
static void measure_block_kernel(const void *argument) {
  const Loss *l = (const Loss *)argument;
  gnn_measure_block(l->split_losses, l->view, l->split_sums);
}
static void splits_kernel(const void *argument) {
  const Loss *l = (const Loss *)argument;
  gnn_measure_split(l->split_sums, &l->view->blocks, l->split_results);
}
template <int LANES> static void gradient_kernel(const void *argument) {
  const Loss *l = (const Loss *)argument;
  gnn_cross_entropy_gradient<LANES>(l->scores, l->stride, l->classes, l->labels, l->rows, l->count, l->count, l->to, l->gradient_stride);
}

static double tree_of(const double *sums, int64_t count) { return count == 1 ? sums[0] : tree_of(sums, count / 2) + tree_of(sums + count / 2, count / 2); }

/* -log p(label), in double. */
static double loss_of(const float *row, int64_t classes, int32_t label) {
  double maximum = -INFINITY, sum = 0;
  for (int64_t c = 0; c < classes; c++) maximum = fmax(maximum, (double)row[c]);
  for (int64_t c = 0; c < classes; c++) sum += exp((double)row[c] - maximum);
  return log(sum) + maximum - (double)row[label];
}

/* A list of nodes with labels, its losses as a training finds them, and as an evaluation does of three splits: the list, none, and the list. */
struct Listed {
  std::vector<float> scores;
  std::vector<int32_t> labels, rows;
  std::vector<double> losses, sums, split_losses, split_sums;
  double mean, results[6];
};

template <int LANES, int EACH> static void run_losses(Listed *x, Cut *cut, int64_t classes, int64_t blocks) {
  const int64_t count = (int64_t)x->rows.size(), canonical = INT64_C(1) << cut->view.blocks.levels;
  const double none = NAN; /* what is not written must not be read */
  x->losses.assign((size_t)count, none);
  x->sums.assign((size_t)canonical, none);
  x->split_losses.assign((size_t)(2 * count), none);
  x->split_sums.assign((size_t)(6 * canonical), none);
  x->mean = none;
  std::fill(x->results, x->results + 6, none);
  for (int s = 0; s < 3; s++) {
    cut->view.rows[s] = s == 1 ? nullptr : x->rows.data();
    cut->view.row_count[s] = s == 1 ? 0 : count;
  }
  const int64_t stride = classes + 1;
  const std::vector<float> wide = padded(x->scores, classes, stride);
  Loss l = {wide.data(), x->labels.data(), x->rows.data(), nullptr, x->losses.data(), x->sums.data(), &x->mean, classes, count, stride, stride, &cut->view,
            x->split_losses.data(), x->split_sums.data(), x->results};
  emulate::launch("loss", loss_kernel<LANES, EACH>, &l, blocks, GNN_THREADS);
  emulate::launch("loss blocks", loss_block_kernel, &l, canonical, GNN_THREADS);
  emulate::launch("mean", mean_kernel, &l, 1, GNN_THREADS);
  emulate::launch("measure", measure_kernel<LANES, EACH>, &l, blocks, GNN_THREADS);
  emulate::launch("measure blocks", measure_block_kernel, &l, 3 * canonical, GNN_THREADS);
  emulate::launch("splits", splits_kernel, &l, 3, GNN_THREADS);
}

enum Listing { SOME, CLUSTERED, ONE, ALL };

/* Against the definition in double; in three orders of threads, by few and by many of them, by one row after the other and not: the same bits,
 * which are those of each canonical block alone, folded over the tree. */
template <int LANES> static void test_listed(const char *what, Listing which, int64_t nodes, int levels, int64_t classes, float size) {
  Cut cut(nodes, levels, 0);
  Listed x;
  x.scores = numbers(nodes * classes);
  x.labels.resize((size_t)nodes);
  for (float &score : x.scores) score *= size;
  const int64_t canonical = INT64_C(1) << levels, *first = cut.view.blocks.first, crowded = canonical - 1;
  for (int64_t r = 0; r < nodes; r++) {
    x.labels[(size_t)r] = (int32_t)(next() % (uint64_t)classes);
    const bool is_crowded = r >= first[crowded] && r < first[crowded + 1];
    if (which == ALL || (which == SOME && next() % 3) || (which == CLUSTERED && is_crowded) || (which == ONE && r == nodes / 2)) x.rows.push_back((int32_t)r);
  }
  const int64_t count = (int64_t)x.rows.size();
  emulate::order = 0;
  run_losses<LANES, 1>(&x, &cut, classes, 3);
  bool is_alike = true;
  for (emulate::order = 0; emulate::order < 3; emulate::order++) {
    Listed again = x;
    if (emulate::order == 1) run_losses<LANES, LANES>(&again, &cut, classes, 1);
    else run_losses<LANES, 2>(&again, &cut, classes, emulate::order ? 2 : (count + 255) / 256 + 1);
    is_alike = is_alike && again.losses == x.losses && again.sums == x.sums && again.mean == x.mean && memcmp(again.results, x.results, sizeof x.results) == 0;
  }
  double want = 0, hits = 0;
  bool is_good = true;
  for (int64_t i = 0; i < count; i++) {
    const float *row = &x.scores[(size_t)(x.rows[(size_t)i] * classes)];
    const int32_t label = x.labels[(size_t)x.rows[(size_t)i]];
    const double loss = loss_of(row, classes, label);
    is_good = is_good && fabs(x.losses[(size_t)i] - loss) <= 4 * 0x1p-23 * (fabs(loss) + 1);
    want += loss;
    hits += std::max_element(row, row + classes) - row == label;
  }
  const double sum = tree_of(x.sums.data(), canonical);
  ok(is_good && fabs(x.mean * (double)count - want) <= 4 * 0x1p-23 * (want + (double)count), "%s, %lld of %lld x %lld: losses as in double", what, (long long)count, (long long)nodes,
     (long long)classes);
  ok(is_alike && x.mean == sum / (double)count, "%s, %lld of %lld x %lld: the bits of the tree, for any threads", what, (long long)count, (long long)nodes, (long long)classes);
  ok(x.results[0] == sum && x.results[4] == sum && x.results[1] == hits && x.results[5] == hits && x.results[2] == 0 && x.results[3] == 0,
     "%s, %lld of %lld x %lld: splits have the same bits, and %g hits; an empty one nothing", what, (long long)count, (long long)nodes, (long long)classes, hits);
  /* A part of the rows that is whole canonical blocks leaves their sums. */
  Listed part = x;
  const int64_t half = first[canonical / 2];
  part.rows.erase(std::remove_if(part.rows.begin(), part.rows.end(), [&](int32_t r) { return r < half; }), part.rows.end());
  emulate::order = 0;
  if (levels > 0 && !part.rows.empty()) run_losses<LANES, 1>(&part, &cut, classes, 2);
  ok(levels == 0 || part.rows.empty() || std::equal(part.sums.begin() + canonical / 2, part.sums.end(), x.sums.begin() + canonical / 2),
     "%s, %lld of %lld x %lld: a part's canonical blocks have the bits of the whole", what, (long long)count, (long long)nodes, (long long)classes);
}

static void test_tree(int64_t count) {
  std::vector<double> sums((size_t)(2 * count));
  for (double &sum : sums) sum = (double)(next() >> 11) * 0x1p-52 - 1;
  std::vector<double> own((size_t)count);
  for (int64_t i = 0; i < count; i++) own[(size_t)i] = sums[(size_t)(2 * i)];
  static double got;
  struct Tree { const double *sums; int64_t count; } tree = {sums.data(), count};
  bool is_good = true;
  for (emulate::order = 0; emulate::order < 3; emulate::order++) {
    emulate::launch("tree", [](const void *argument) {
      const Tree *t = (const Tree *)argument;
      const double sum = gnn_sum_tree(t->sums, t->count, 2);
      if (threadIdx.x == 0) got = sum;
    }, &tree, 1, GNN_THREADS);
    is_good = is_good && got == tree_of(own.data(), count);
  }
  emulate::order = 0;
  ok(is_good, "the tree over %lld numbers", (long long)count);
}

template <int LANES> static void test_gradient(int64_t nodes, int64_t classes, float size) {
  const int64_t stride = classes + 1, gradient_stride = classes + 2;
  std::vector<float> scores = numbers(nodes * classes), gradient((size_t)(nodes * gradient_stride));
  std::vector<int32_t> labels((size_t)nodes), rows;
  for (float &score : scores) score *= size;
  const std::vector<float> wide = padded(scores, classes, stride);
  for (int64_t r = 0; r < nodes; r++) {
    labels[(size_t)r] = (int32_t)(next() % (uint64_t)classes);
    if (next() % 3) rows.push_back((int32_t)r);
  }
  Loss l = {};
  l.scores = wide.data(), l.labels = labels.data(), l.rows = rows.data(), l.to = gradient.data(), l.classes = classes, l.count = (int64_t)rows.size();
  l.stride = stride, l.gradient_stride = gradient_stride;
  bool is_good = runs_alike(&l, gradient_kernel<LANES>, &gradient, 3);
  emulate::order = 0;
  std::vector<char> is_listed((size_t)nodes);
  for (int32_t r : rows) is_listed[(size_t)r] = 1;
  for (int64_t r = 0; r < nodes; r++) {
    double maximum = -INFINITY, sum = 0;
    for (int64_t c = 0; c < classes; c++) maximum = fmax(maximum, (double)scores[r * classes + c]);
    for (int64_t c = 0; c < classes; c++) sum += exp((double)scores[r * classes + c] - maximum);
    for (int64_t c = 0; c < classes; c++) {
      const double slope = (exp((double)scores[r * classes + c] - maximum) / sum - (c == labels[(size_t)r])) / (double)rows.size();
      is_good = is_good && fabs((double)gradient[r * gradient_stride + c] - (is_listed[(size_t)r] ? slope : 0)) <= 8 * 0x1p-23 / (double)rows.size();
    }
    for (int64_t c = classes; c < gradient_stride; c++) is_good = is_good && gradient[r * gradient_stride + c] == 0;
  }
  ok(is_good, "gradient of the loss of %lld x %lld by %d threads a row, scores of %g", (long long)nodes, (long long)classes, LANES, (double)size);
}

/* ---- optimisers ---- */

struct Update {
  const Optimiser *o;
  float *w, *m, *v;
  const float *g;
  int64_t step, count;
};

static void update_kernel(const void *argument) {
  const Update *u = (const Update *)argument;
  const Optimiser *o = u->o;
  const gnn_clip clip = {(gnn_real)o->clip_factor, (gnn_real)o->clip_limit};
  const int64_t begin = (int64_t)blockIdx.x * GNN_UPDATE_EACH, end = gnn_min(begin + GNN_UPDATE_EACH, u->count);
  if (o->kind == 0) gnn_sgd(u->w, u->g, clip, o->a != 0 ? u->m : nullptr, o->lr, o->a, o->decay, o->nesterov, u->step, begin, end);
  else if (o->kind == 1) gnn_adam(u->w, u->g, clip, u->m, u->v, o->lr, o->a, o->b, o->epsilon, o->decay, u->step, begin, end);
  else if (o->kind == 3) gnn_rmsprop(u->w, u->g, clip, u->m, o->b != 0 || o->nesterov ? u->v : nullptr, o->lr, o->a, o->epsilon, o->decay, o->b, o->nesterov, u->step, begin, end);
  else if (o->kind == 4) gnn_adagrad(u->w, u->g, clip, u->m, o->lr, o->a, o->decay, o->b, o->epsilon, u->step, begin, end);
  else gnn_adamw(u->w, u->g, clip, u->m, u->v, o->lr, o->a, o->b, o->epsilon, o->decay, u->step, begin, end);
}

static void test_optimiser(const Optimiser *o) {
  enum { WEIGHTS = 2 * GNN_UPDATE_EACH + 1, STEPS = 5 };
  std::vector<float> w = numbers(WEIGHTS), m(WEIGHTS), v(WEIGHTS);
  std::vector<double> want(w.begin(), w.end()), mean(WEIGHTS), square(WEIGHTS);
  bool is_good = true;
  for (int64_t step = 1; step <= STEPS; step++) {
    const std::vector<float> g = numbers(WEIGHTS);
    const Update u = {o, w.data(), m.data(), v.data(), g.data(), step, WEIGHTS};
    emulate::order = (int)step;
    emulate::launch(o->name, update_kernel, &u, 3, GNN_THREADS);
    for (int i = 0; i < WEIGHTS; i++) {
      reference_step(o, &want[i], (double)g[i], &mean[i], &square[i], step);
      is_good = is_good && fabs((double)w[i] - want[i]) <= 16 * 0x1p-23 * (double)step;
    }
  }
  ok(is_good, "%s", o->name);
}

/* ---- rows ---- */

/* The rows of more than GNN_LONG_ROW entries. */
static std::vector<int32_t> hubs_of(const std::vector<int64_t> &ptr) {
  std::vector<int32_t> hubs;
  for (size_t r = 0; r + 1 < ptr.size(); r++)
    if (ptr[r + 1] - ptr[r] > GNN_LONG_ROW) hubs.push_back((int32_t)r);
  return hubs;
}

struct Walk {
  gnn_view_csr edges;
  float *to;
};

/* Each visit of an entry adds an odd number, from which the group can be told. */
template <int LANES, int SLOTS, bool is_run> static void walk_kernel(const void *argument) {
  const Walk *w = (const Walk *)argument;
  const int group = (int)gnn_group<LANES * SLOTS>(), lane = (int)threadIdx.x % LANES;
  const auto visit = [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += SLOTS) w->to[i * LANES + lane] += (float)(1 + 2 * group);
  };
  if (!is_run) gnn_walk_edges<LANES, SLOTS>(&w->edges, 0, w->edges.rows, visit);
  else if (blockIdx.x == 1) gnn_walk_run<LANES, SLOTS>(w->edges.ptr, 0, w->edges.rows, visit);
}

template <int LANES, int SLOTS, bool is_run> static void test_walk(void) {
  enum { GROUPS = GNN_THREADS / (LANES * SLOTS), BLOCKS = 3, ALL = BLOCKS * GROUPS };
  std::vector<int64_t> ptr(1), lengths = {3, 0, 5000, GNN_LONG_ROW, GNN_LONG_ROW + 1, 1, 3000, 0, 2};
  for (int i = 0; i < 2 * (GNN_LONG_ROWS + 2) * GROUPS; i++) lengths.push_back(GROUPS > 8 ? 0 : GNN_LONG_ROW + 1); /* more than a group puts off */
  const int64_t count = (int64_t)lengths.size();
  for (int64_t length : lengths) ptr.push_back(ptr.back() + length);
  const std::vector<int32_t> hubs = hubs_of(ptr);
  std::vector<float> to((size_t)(ptr.back() * LANES));
  Walk w = {{count, ptr.back(), ptr.data(), nullptr, nullptr, hubs.data(), (int64_t)hubs.size(), GNN_LONG_ROW}, nullptr};
  bool is_once = runs_alike(&w, walk_kernel<LANES, SLOTS, is_run>, &to, BLOCKS), is_shared = true;
  for (int64_t r = 0; r < count; r++) {
    std::vector<bool> has_worked(ALL);
    int workers = 0;
    for (int64_t n = ptr[(size_t)r] * LANES; n < ptr[(size_t)r + 1] * LANES; n++) {
      const int visits = (int)to[(size_t)n], group = visits / 2;
      is_once = is_once && visits % 2 == 1 && group < ALL;
      if (!is_once || has_worked[(size_t)group]) continue;
      has_worked[(size_t)group] = true;
      workers++;
    }
    is_shared = is_shared && workers == (lengths[(size_t)r] > GNN_LONG_ROW ? (is_run ? (int)GROUPS : (int)ALL) : (int)(lengths[(size_t)r] > 0));
  }
  ok(is_once, "%d lanes, %d slots%s: every entry of every row is taken once", LANES, SLOTS, is_run ? ", a run of rows" : "");
  ok(is_shared, is_run ? "  a long row by all groups of the block, others by one" : "  a long row by all groups of all blocks, others by one");
}

/* Sums over the entries of rows or of columns of x: [any, width], the columns [column, column + LANES * SUMS). */
struct Gather {
  gnn_view_csr csr;
  const gnn_view *view;
  const float *x, *weight;
  float *to;
  int64_t width, column, first_row, end_row;
};

template <int SLOTS, int LANES> struct GatherSum {
  const Gather *s;
  __device__ void operator()(int64_t, int64_t begin, int64_t end, int first, int blocks, gnn_real *acc) const {
    for (int64_t i = begin; i < end; i += SLOTS)
      for (int b = 0; b < blocks; b++) acc[b] = gnn_fma(s->weight[i], s->x[s->csr.idx[i] * s->width + s->column + (first + b) * LANES + threadIdx.x % LANES], acc[b]);
  }
};

template <int LANES, int SLOTS, int SUMS, int PIECES, bool by_column> static void gather_kernel(const void *argument) {
  const Gather *s = (const Gather *)argument;
  const GatherSum<SLOTS, LANES> sum = {s};
  const auto done = [&](int64_t r, int first, int blocks, const gnn_real *acc) {
    if (threadIdx.x % (LANES * SLOTS) >= LANES) return;
    for (int b = 0; b < blocks; b++) s->to[r * s->width + s->column + (first + b) * LANES + threadIdx.x % LANES] = acc[b];
  };
  if (by_column) gnn_sum_columns<LANES, SLOTS, SUMS>(&s->csr, s->first_row, s->end_row, &s->view->blocks, sum, done);
  else gnn_sum_rows<LANES, SLOTS, SUMS, 1, PIECES>(&s->csr, s->first_row, s->end_row, sum, done);
}

/* Short rows and long ones, whose entries are among 0 .. places - 1, in order. */
struct Rows {
  std::vector<int64_t> ptr;
  std::vector<int32_t> idx;
  std::vector<float> weight;
  std::vector<int32_t> hubs;

  Rows(const std::vector<int64_t> &lengths, int64_t places) : ptr(1) {
    for (int64_t length : lengths) {
      for (int64_t i = 0; i < length; i++) idx.push_back((int32_t)(next() % (uint64_t)places));
      std::sort(idx.begin() + ptr.back(), idx.end());
      ptr.push_back(ptr.back() + length);
    }
    weight = numbers(ptr.back() + 1);
    hubs = hubs_of(ptr);
  }
  gnn_view_csr csr() const { return {(int64_t)ptr.size() - 1, ptr.back(), ptr.data(), idx.data(), nullptr, hubs.data(), (int64_t)hubs.size(), GNN_LONG_ROW}; }
};

/* A slice of 16 columns, with the slots and pieces of a value of 64; by parts of the rows. */
static void test_slices(void) {
  enum { WHOLE = 64, SLICE = 16, PLACES = 100, PART = 3 };
  const Rows rows({0, 1, 5, GNN_LONG_ROW, 40, 3 * GNN_LONG_ROW, GNN_LONG_ROW + 1, 2}, PLACES);
  const std::vector<float> x = numbers(PLACES * WHOLE);
  std::vector<float> whole((rows.ptr.size() - 1) * WHOLE), slices(whole.size());
  Gather s = {rows.csr(), nullptr, x.data(), rows.weight.data(), whole.data(), WHOLE, 0, 0, rows.csr().rows};
  emulate::launch("whole", gather_kernel<32, 1, 2, 8, false>, &s, 2, GNN_THREADS);
  s.to = slices.data();
  for (s.column = 0; s.column < WHOLE; s.column += SLICE)
    for (s.first_row = 0; s.first_row < s.csr.rows; s.first_row += PART) {
      s.end_row = std::min(s.first_row + PART, s.csr.rows);
      emulate::launch("slice", gather_kernel<SLICE, 1, 1, 8, false>, &s, 3, GNN_THREADS);
    }
  ok(whole == slices, "slices of %d columns by parts of the rows have the bits of all %d, in long rows too", (int)SLICE, (int)WHOLE);
}

/* The bits of the tree of blocks, where a group sums the entries of a block by slots. */
template <int LANES, int SLOTS, int SUMS> static float column_sum(const Gather *s, int64_t c, int64_t j, int64_t begin, int64_t end) {
  if (end - begin > 1) return column_sum<LANES, SLOTS, SUMS>(s, c, j, begin, (begin + end) / 2) + column_sum<LANES, SLOTS, SUMS>(s, c, j, (begin + end) / 2, end);
  float slot[SLOTS] = {};
  int64_t e = gnn_entry_of(s->csr.idx, s->csr.ptr[c], s->csr.ptr[c + 1], s->view->blocks.first[begin]);
  for (int n = 0; e < s->csr.ptr[c + 1] && s->csr.idx[e] < s->view->blocks.first[end]; e++, n++)
    slot[n % SLOTS] = fmaf(s->weight[e], s->x[s->csr.idx[e] * s->width + j], slot[n % SLOTS]);
  for (int apart = 1; apart < SLOTS; apart *= 2)
    for (int n = 0; n < SLOTS; n += 2 * apart) slot[n] += slot[n + apart];
  return slot[0];
}

template <int LANES, int SLOTS, int SUMS> static void test_columns(int64_t nodes, int levels) {
  const Rows columns({0, 1, 2, 5, 30, 3000, 3, 700}, nodes);
  const Cut cut(nodes, levels, 0);
  enum { WIDTH = LANES * SUMS };
  const std::vector<float> x = numbers(nodes * WIDTH);
  std::vector<float> to((columns.ptr.size() - 1) * WIDTH);
  Gather s = {columns.csr(), &cut.view, x.data(), columns.weight.data(), to.data(), WIDTH, 0, 0, columns.csr().rows};
  emulate::order = levels;
  emulate::launch("columns", gather_kernel<LANES, SLOTS, SUMS, 1, true>, &s, 3, GNN_THREADS);
  bool is_good = true;
  for (int64_t c = 0; c < s.csr.rows; c++)
    for (int64_t j = 0; j < WIDTH; j++) is_good = is_good && to[(size_t)(c * WIDTH + j)] == column_sum<LANES, SLOTS, SUMS>(&s, c, j, 0, INT64_C(1) << levels);
  ok(is_good, "columns by %d lanes and %d slots: the bits of the tree of %d blocks", LANES, SLOTS, 1 << levels);
  std::vector<float> of_parts(to.size());
  s.to = of_parts.data();
  for (s.first_row = 0; s.first_row < s.csr.rows; s.first_row = s.end_row) { /* whose entries lie elsewhere */
    s.end_row = std::min(s.first_row + 3, s.csr.rows);
    const std::vector<int32_t> idx(columns.idx.begin() + columns.ptr[(size_t)s.first_row], columns.idx.begin() + columns.ptr[(size_t)s.end_row]);
    const gnn_view_csr all = columns.csr();
    s.csr = gnn_csr_with(&all, idx.data() - columns.ptr[(size_t)s.first_row]);
    emulate::launch("part", gather_kernel<LANES, SLOTS, SUMS, 1, true>, &s, 2, GNN_THREADS);
  }
  ok(to == of_parts, "  by parts of the columns, too");
}

/* ---- dropout ---- */

static void test_random(void) {
  bool is_same = true;
  for (int i = 0; i < 20000; i++) {
    const uint64_t seed = next(), row = next() >> next() % 60;
    const int64_t epoch = (int64_t)(next() >> 40);
    const uint32_t site = (uint32_t)(next() >> 60), column = (uint32_t)next();
    const double p = i % 16 == 0 ? (double)(i / 16 % 2) : (double)(next() >> 11) * 0x1p-53; /* now and then 0 or 1 */
    const gnn_dropout drop = gnn_dropout_make(seed, epoch, site, p);
    const gnn_row_bits bits = gnn_random_row(drop.key, row);
    is_same = is_same && gnn_random_column(bits, column) == cpu_random_bits(seed, epoch, site, row, column) &&
              gnn_dropout_factor(&drop, bits, column) == cpu_dropout_factor(seed, epoch, site, p, row, column);
  }
  ok(is_same, "dropout has the CPU's bits");
}

/* ---- bf16 ---- */

static float left_of(float x) { return gnn_number(gnn_rounded(x)); }

/* Of the neighbours with 8 bits of mantissa no other is nearer; of two as near, the even one. */
static void test_half() {
  bool is_nearest = true;
  for (const float x : numbers(10000)) {
    int exponent;
    const double unit = ldexp(1, (frexp((double)x, &exponent), exponent) - 8);
    is_nearest = is_nearest && (double)left_of(x) == unit * nearbyint((double)x / unit);
  }
  ok(is_nearest, "bf16: to the nearest");
  ok(left_of(0x1.01p0f) == 1 && left_of(0x1.03p0f) == 0x1.04p0f && left_of(-0x1.05p0f) == -0x1.04p0f, "bf16: halfway, to even");
  ok(left_of(0) == 0 && left_of(INFINITY) == INFINITY && left_of(-INFINITY) == -INFINITY && left_of(0x1.fffffep127f) == INFINITY && isnan(left_of(NAN)),
     "bf16: infinities, what is beyond, and no number");
}

/* ---- numbers that lie together ---- */

struct Together {
  const float *from;
  float *to;
  int count;
};

template <int N, int BYTES, class T> static void together_kernel(const void *argument) {
  const Together *t = (const Together *)argument;
  alignas(16) static T halfway[GNN_THREADS * N], back[GNN_THREADS * N];
  const int own = (int)threadIdx.x * N;
  for (int i = 0; i < N; i++) gnn_put(&halfway[own + i], t->from[own + i]);
  gnn_real whole[N], some[N];
  gnn_load<BYTES>(&halfway[own], whole);
  gnn_load<BYTES>(&halfway[own], some, t->count);
  for (int i = 0; i < N; i++) some[i] += i < t->count ? 0 : 1000;
  gnn_store<BYTES>(&back[own], whole);
  gnn_store<BYTES>(&back[own], some, t->count);
  for (int i = 0; i < N; i++) t->to[own + i] = gnn_number(back[own + i]);
}

/* Of N numbers of a thread as many as are wanted; and bits, where a lane has VECTOR neighbours. */
template <int N, int BYTES, class T> static void test_pieces_together(const char *what) {
  const std::vector<float> from = numbers(GNN_THREADS * N);
  bool is_good = true;
  for (int count = 0; count <= N; count++) {
    std::vector<float> to((size_t)(GNN_THREADS * N));
    Together t = {from.data(), to.data(), count};
    emulate::launch(what, together_kernel<N, BYTES, T>, &t, 1, GNN_THREADS);
    for (size_t i = 0; i < to.size(); i++) is_good = is_good && to[i] == (sizeof(T) == 2 ? left_of(from[i]) : from[i]);
  }
  ok(is_good, "%d %s that lie together, by %d bytes", N, what, BYTES);
}

static uint32_t words[8];

template <int VECTOR> static void word_kernel(const void *) {
  const int lane = (int)threadIdx.x % 32;
  uint32_t bits = 0;
  for (int n = 0; n < VECTOR; n++) bits |= (uint32_t)((lane * VECTOR + n) % 3 == 0) << (lane * VECTOR + n) % 32;
  bits = gnn_word<VECTOR>(bits);
  if (lane % (32 / VECTOR) == 0) words[lane * VECTOR / 32] = bits;
}

template <int VECTOR> static void test_word(void) {
  emulate::launch("word", word_kernel<VECTOR>, nullptr, 1, 32);
  bool is_good = true;
  for (int j = 0; j < 32 * VECTOR; j++) is_good = is_good && (words[j / 32] >> j % 32 & 1) == (j % 3 == 0);
  ok(is_good, "bits of elements that a lane has %d of in a row", VECTOR);
}

static void test_together(void) {
  test_pieces_together<4, 16, float>("numbers");
  test_pieces_together<4, 8, float>("numbers");
  test_pieces_together<2, 4, float>("numbers");
  test_pieces_together<8, 16, gnn_half>("bf16");
  test_pieces_together<8, 4, gnn_half>("bf16");
  test_pieces_together<2, 2, gnn_half>("bf16");
  test_word<1>();
  test_word<2>();
  test_word<4>();
  test_word<8>();
}

/* ---- numbers that are not finite ---- */

struct Special {
  const char *name;
  float (*function)(float);
  double expected[5]; /* at NaN, the infinities, and zeros of both signs */
};

static const Special specials[] = {
    {"exp", gnn_exp, {NAN, INFINITY, 0, 1, 1}},
    {"log", gnn_log, {NAN, INFINITY, NAN, -INFINITY, -INFINITY}},
    {"tanh", gnn_tanh, {NAN, 1, -1, 0, -0.0}},
    {"sqrt", gnn_sqrt, {NAN, INFINITY, NAN, 0, -0.0}},
    {"abs", gnn_abs, {NAN, INFINITY, INFINITY, 0, 0}},
    {"clamp", [](float x) { return gnn_clamp(x, 2); }, {NAN, 2, -2, 0, -0.0}},
    {"sigmoid", gnn_sigmoid, {NAN, 1, 0, 0.5, 0.5}},
    {"silu", gnn_silu, {NAN, INFINITY, 0, 0, -0.0}},
    {"silu_slope", gnn_silu_slope, {NAN, 1, 0, 0.5, 0.5}},
    {"gelu", gnn_gelu, {NAN, INFINITY, 0, 0, -0.0}},
    {"gelu_slope", gnn_gelu_slope, {NAN, 1, 0, 0.5, 0.5}},
    {"elu", [](float x) { return gnn_elu(x, 2); }, {NAN, INFINITY, -2, 0, -0.0}},
    {"elu_slope", [](float x) { return gnn_elu_slope(x, 2); }, {NAN, 1, 0, 2, 2}},
    {"softplus", gnn_softplus, {NAN, INFINITY, 0, 0.69314718055994531, 0.69314718055994531}},
    {"x ^ 3", [](float x) { return gnn_pow(x, 3); }, {NAN, INFINITY, -INFINITY, 0, -0.0}},
    {"max(x, 0)", [](float x) { return GNN_MAX(x, 0); }, {NAN, INFINITY, 0, 0, 0}},
    {"max(2, x)", [](float x) { return GNN_MAX(2.0f, x); }, {NAN, INFINITY, 2, 2, 2}},
    {"min(x, 0)", [](float x) { return GNN_MIN(x, 0); }, {NAN, 0, -INFINITY, 0, 0}},
    {"min(2, x)", [](float x) { return GNN_MIN(2.0f, x); }, {NAN, 2, -INFINITY, 0, -0.0}},
};

static void test_special(const Special *s) {
  static const float at[5] = {NAN, INFINITY, -INFINITY, 0, -0.0f};
  bool is_good = true;
  for (int i = 0; i < 5; i++) {
    const double got = (double)s->function(at[i]), want = s->expected[i];
    if (isnan(want) || isinf(want)) is_good = is_good && (isnan(want) ? isnan(got) : got == want);
    else is_good = is_good && fabs(got - want) <= 0x1p-23 && (at[i] != 0 || want != 0 || signbit(got) == signbit(want));
  }
  ok(is_good, "%s of NaN, infinities and zeros", s->name);
}

/* In every lane of the warp that a row is divided among. */
template <int LANES> static void test_nan_scores(int64_t classes) {
  const int32_t label = 0, row = 1;
  bool is_nan = true, is_wrong = true;
  for (int64_t c = 0; c < classes; c++) {
    std::vector<float> scores((size_t)(3 * classes)), gradient((size_t)(3 * classes));
    scores[(size_t)classes] = 1;
    scores[(size_t)(classes + c)] = NAN;
    const int32_t labels[3] = {label, label, label};
    double loss = 0, part = 0, mean = 0, sums[6] = {0, 1}, results[6] = {0, 1};
    Cut cut(3, 0, 0);
    cut.view.rows[0] = &row;
    cut.view.row_count[0] = 1;
    Loss l = {scores.data(), labels, &row, gradient.data(), &loss, &part, &mean, classes, 1, classes, classes, &cut.view, &loss, sums, results};
    emulate::launch("loss", loss_kernel<LANES, 1>, &l, 1, GNN_THREADS);
    emulate::launch("loss blocks", loss_block_kernel, &l, 1, GNN_THREADS);
    emulate::launch("mean", mean_kernel, &l, 1, GNN_THREADS);
    emulate::launch("gradient", gradient_kernel<LANES>, &l, 1, GNN_THREADS);
    is_nan = is_nan && isnan(mean);
    for (int64_t i = 0; i < 3 * classes; i++) is_nan = is_nan && isnan(gradient[(size_t)i]) == (i / classes == 1);
    emulate::launch("measure", measure_kernel<LANES, 1>, &l, 1, GNN_THREADS);
    emulate::launch("measure blocks", measure_block_kernel, &l, 3, GNN_THREADS);
    emulate::launch("splits", splits_kernel, &l, 3, GNN_THREADS);
    is_wrong = is_wrong && isnan(results[0]) && results[1] == 0;
  }
  ok(is_nan, "loss and gradient of a row with NaN, %lld classes", (long long)classes);
  ok(is_wrong, "a row with NaN is never right, %lld classes", (long long)classes);
}

static void test_nan_update(const Optimiser *o) {
  enum { WEIGHTS = GNN_UPDATE_EACH + 1 };
  bool is_good = true;
  for (int place = 0; place < WEIGHTS; place += 341) {
    std::vector<float> w = numbers(WEIGHTS), g = numbers(WEIGHTS), m(WEIGHTS), v(WEIGHTS);
    g[(size_t)place] = NAN;
    const Update u = {o, w.data(), m.data(), v.data(), g.data(), 1, WEIGHTS};
    emulate::launch(o->name, update_kernel, &u, 2, GNN_THREADS);
    for (int i = 0; i < WEIGHTS; i++) is_good = is_good && isnan(w[(size_t)i]) == (i == place);
  }
  ok(is_good, "%s: a NaN gradient leaves a NaN weight, and no other", o->name);
}

int main(void) {
  for (const Special &s : specials) test_special(&s);
  test_nan_scores<8>(1);
  test_nan_scores<8>(7);
  test_nan_scores<16>(33);
  test_nan_scores<32>(33);
  for (const Optimiser &o : optimisers) test_nan_update(&o);
  test_half();
  test_walk<32, 1, false>();
  test_walk<32, 1, true>();
  test_walk<4, 2, false>();
  test_walk<4, 2, true>();
  test_together();
  test_product<64, false>(1, 1, 1);
  test_product<64, false>(129, 17, 65);
  test_product<64, true>(128, 16, 64);
  test_product<64, true>(130, 33, 100);
  test_product<32, false>(127, 15, 31);
  test_product<32, true>(5, 40, 7);
  test_product<32, true>(1, 100, 32);
  test_outer(1, 1, 1, 0, 0);
  test_outer(100, 7, 16, 0, 3);
  test_outer(300, 7, 16, 3, 2);
  test_outer(17, 65, 130, 1, 1);
  test_outer_of_rank(300, 7, 16, 1);
  test_outer_of_rank(300, 65, 3, 2);
  test_slices();
  for (int levels = 0; levels <= 6; levels += 2) {
    test_columns<32, 1, 2>(1000, levels);
    test_columns<4, 4, 1>(1000, levels);
  }
  test_matrix(1, 1);
  test_matrix(33, 70);
  test_matrix(100, 5);
  for (const int64_t numbers : {1, 2, 128, 256, 512, 4096}) test_tree(numbers);
  test_listed<8>("some rows", SOME, 1000, 3, 1, 1);
  test_listed<8>("some rows", SOME, 300, 3, 7, 1);
  test_listed<16>("some rows", SOME, 1000, 2, 47, 1);
  test_listed<32>("some rows", SOME, 100, 3, 70, 50);
  test_listed<16>("rows of one canonical block", CLUSTERED, 1500, 1, 20, 1);
  test_listed<8>("all rows, one canonical block", ALL, 800, 0, 4, 1);
  test_listed<16>("one row", ONE, 90, 2, 20, 1);
  test_gradient<8>(1000, 1, 1);
  test_gradient<8>(300, 7, 1);
  test_gradient<16>(100, 33, 50);
  test_gradient<32>(100, 70, 1);
  for (const Optimiser &o : optimisers) test_optimiser(&o);
  test_random();
  printf("1..%d\n", count);
  return failed != 0;
}
