#include "calibrate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "measurement.h"
#include "compiler/base/cache.h"
#include "compiler/base/outfile.h"
#include "compiler/driver/build.h"
#include "compiler/driver/native.h"
#include "compiler/lowering/cost.h"
#include "lang/rates.h"
#include "runtime/cuda/late.h"

/* ---- this computer ---- */

/* Of a GPU its name; the text stands in quotes. */
static const char *measured_name(Arena *arena, const Measurement *m) {
  return m->gpu.name ? arena_printf(arena, "%s beside %s", m->gpu.name, native_description(arena)) : native_description(arena);
}

static const char *scratch_directory(void) {
  const char *directory = getenv("TMPDIR");
  return directory && *directory ? directory : "/var/tmp";
}

/* ---- measuring ---- */

static int measure_here(Arena *arena, const Options *options, const char *share_dir, Workplace *place, Measurement *m) {
  const char *program = workplace_file(place, "measure");
  int status = build_tool(arena, options, share_dir, NULL, arena_printf(arena, "%s/measure.c", share_dir), program);
  if (status != 0 || options->is_dry_run) return status;
  bool is_cuda = m->gpu.name != NULL;
  return measurement_run(arena_printf(arena, "'%s' '%s'%s", program, scratch_directory(), is_cuda ? " host" : ""), m);
}

static int measure(Arena *arena, const Options *options, const char *share_dir, bool is_cuda, Measurement *m) {
  Workplace *place = workplace_new(arena);
  if (!place) return 4;
  int status = is_cuda ? measure_gpu(arena, options, share_dir, place, m) : 0;
  if (status == 0) status = measure_here(arena, options, share_dir, place, m);
  workplace_end(place, false);
  bool is_complete = m->rates.size_count > 0 && m->fp32 > 0 && (!is_cuda || (m->host_write > 0 && m->host_read > 0));
  if (status != 0 || options->is_dry_run || is_complete) return status;
  fprintf(stderr, "gnncc: error: measuring left something out\n");
  return 70;
}

/* ---- writing ---- */

static const char *quantity_text(Arena *arena, UnitKind unit, double number) {
  switch (unit) {
  case UNIT_BYTES: return number >= 1048576 ? arena_printf(arena, "%.0fMiB", number / 1048576) : arena_printf(arena, "%.0fKiB", number / 1024);
  case UNIT_BYTES_PER_SECOND: return arena_printf(arena, "%.*fGB/s", number < 1e9 ? 6 : number < 1e11 ? 2 : 1, number / 1e9);
  case UNIT_FLOP_PER_SECOND: return arena_printf(arena, "%.*fGFLOP/s", number < 1e9 ? 6 : 1, number / 1e9);
  case UNIT_SECONDS: return number >= 1e-6 ? arena_printf(arena, "%.4gus", 1e6 * number) : arena_printf(arena, "%.4gns", 1e9 * number);
  case UNIT_SHARE: return arena_printf(arena, "%.1f%%", 100 * number);
  }
  return "";
}

static void write_rates(Arena *arena, Measurement *m, FILE *out) {
  const RateSetting *setting;
  fprintf(out, "    rates {\n");
  for (int i = 0; (setting = rate_setting(i)); i++) {
    const double *numbers = rate_numbers(&m->rates, setting);
    int count = setting->is_list ? m->rates.size_count : 1;
    if (numbers[0] <= 0) continue;
    fprintf(out, "      %-12s = %s", setting->name, setting->is_list ? "[" : "");
    for (int k = 0; k < count; k++) fprintf(out, "%s%s", k ? ", " : "", quantity_text(arena, setting->unit, numbers[k]));
    fprintf(out, "%s\n", setting->is_list ? "]" : "");
  }
  fprintf(out, "    }\n");
}

static void write_link(Arena *arena, FILE *out, const char *from, const char *to, double bandwidth, double latency, double both, double slowdown) {
  fprintf(out, "  link %s -> %s { bandwidth = %s; latency = %s; both = %s; slowdown = %s }\n", from, to,
          quantity_text(arena, UNIT_BYTES_PER_SECOND, bandwidth), quantity_text(arena, UNIT_SECONDS, latency),
          quantity_text(arena, UNIT_BYTES_PER_SECOND, both), quantity_text(arena, UNIT_SHARE, fmax(0, slowdown - 1)));
}

/* Half of what is free, in whole GiB; 0 where it cannot be told. */
static int64_t scratch_gib(void) {
  struct statvfs info;
  if (statvfs(scratch_directory(), &info) != 0) return 0;
  return (int64_t)((double)info.f_bavail * (double)info.f_frsize / 2 / 1073741824.0);
}

/* What the driver and its contexts hold already stays free, and what libraries load once they are called. */
static double gpu_reserve(const Gpu *gpu) {
  return (double)(gpu->memory_bytes - gpu->free_bytes) + fmax((double)gpu->memory_bytes / 64, (double)gnn_cuda_late_bytes(gpu->memory_bytes));
}

static void write_device(Arena *arena, const Measurement *m, double memory, FILE *out) {
  if (m->gpu.name)
    fprintf(out, "  device gpu {\n    kind = cuda(%s); count = 1; memory = %s; reserve = %s\n", m->gpu.architecture,
            quantity_text(arena, UNIT_BYTES, (double)m->gpu.memory_bytes), quantity_text(arena, UNIT_BYTES, gpu_reserve(&m->gpu)));
  else
    fprintf(out, "  device cpu {\n    memory = %s; threads = %.0f\n", quantity_text(arena, UNIT_BYTES, memory), m->threads);
  fprintf(out, "    bandwidth = %s; fp32 = %s", quantity_text(arena, UNIT_BYTES_PER_SECOND, m->rates.stream[m->rates.size_count - 1]),
          quantity_text(arena, UNIT_FLOP_PER_SECOND, m->fp32));
  if (m->tf32 > 0) fprintf(out, "; tf32 = %s", quantity_text(arena, UNIT_FLOP_PER_SECOND, m->tf32));
  if (m->bf16 > 0) fprintf(out, "; bf16 = %s", quantity_text(arena, UNIT_FLOP_PER_SECOND, m->bf16));
  fprintf(out, "\n");
}

static void write_host(Arena *arena, const Measurement *m, double memory, FILE *out) {
  const char *whole = quantity_text(arena, UNIT_BYTES, memory), *half = quantity_text(arena, UNIT_BYTES, memory / 2);
  if (m->gpu.name)
    fprintf(out, "  tier host { capacity = %s; budget = %s; pinned = %s } # read and written at %s by %.0f threads\n", whole, half, half,
            quantity_text(arena, UNIT_BYTES_PER_SECOND, m->host_memory), m->threads);
  else
    fprintf(out, "  # A host tier would be the same memory. These links serve where --budget host=SIZE asks for one all the same.\n");
}

#define DISTURBED_LINE "# measured by gnncc --calibrate, %.0f %% of the measurements disturbed"
static const double disturbed_most = 0.3; /* of the measurements, for their figures to be believed */

static void write_target(Arena *arena, const char *name, Measurement *m, FILE *out) {
  double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  const char *device = m->gpu.name ? "gpu" : "cpu", *near_ssd = m->gpu.name ? "host" : "cpu";
  fprintf(out, DISTURBED_LINE "; docs/calibration.md says what the numbers are. generated by gnncc\n", 100 * m->disturbed);
  fprintf(out, "target %s \"%s\" {\n", name, measured_name(arena, m));
  write_device(arena, m, memory, out);
  write_rates(arena, m, out);
  fprintf(out, "  }\n");
  write_host(arena, m, memory, out);
  write_link(arena, out, device, "host", m->host_write, m->host_latency, m->host_both, m->host_slowdown);
  write_link(arena, out, "host", device, m->host_read, m->host_latency, m->host_both, m->host_slowdown);
  if (m->ssd_write > 0 && m->ssd_read > 0 && scratch_gib() > 0) {
    fprintf(out, "  tier ssd { path = \"%s\"; budget = %" PRId64 "GiB }\n", scratch_directory(), scratch_gib());
    write_link(arena, out, near_ssd, "ssd", m->ssd_write, m->ssd_latency, m->ssd_both, m->ssd_write_slowdown);
    write_link(arena, out, "ssd", near_ssd, m->ssd_read, m->ssd_latency, m->ssd_both, m->ssd_read_slowdown);
  }
  fprintf(out, "}\n");
}

static int save(Arena *arena, const char *name, const char *path, Measurement *m) {
  OutFile file;
  if (!outfile_open(&file, path)) return 4;
  write_target(arena, name, m, file.out);
  return outfile_close(&file, 0666);
}

/* A measurement of the same machine that is there already and was disturbed less. */
static bool is_better_there(Arena *arena, const char *path, const char *name, const Measurement *m, double *disturbed) {
  char line[512];
  int percent;
  FILE *file = fopen(path, "r");
  if (!file) return false;
  bool is_better = fgets(line, sizeof line, file) && sscanf(line, "# measured by gnncc --calibrate, %d %% of", &percent) == 1 && percent < (int)(100 * m->disturbed + 0.5);
  is_better = is_better && fgets(line, sizeof line, file) && strcmp(line, arena_printf(arena, "target %s \"%s\" {\n", name, measured_name(arena, m))) == 0;
  fclose(file);
  if (is_better) *disturbed = percent / 100.0;
  return is_better;
}

/* ---- showing ---- */

static void show(Arena *arena, const char *name, UnitKind unit, double asked, double measured, const char *what) {
  const char *expected = asked > 0 ? quantity_text(arena, unit, asked) : "-";
  printf("%-26s %14s %14s  %s\n", name, expected, measured > 0 ? quantity_text(arena, unit, measured) : "-", what);
}

static void show_rates(Arena *arena, const Machine *model, Measurement *m) {
  DeviceRates modelled = model->rates;
  const RateSetting *setting;
  show(arena, "fp32", UNIT_FLOP_PER_SECOND, model->flops, m->fp32, "products of matrices");
  if (m->tf32 > 0) show(arena, "tf32", UNIT_FLOP_PER_SECOND, 0, m->tf32, "products whose factors are rounded so");
  if (m->bf16 > 0) show(arena, "bf16", UNIT_FLOP_PER_SECOND, 0, m->bf16, "");
  for (int i = 1; (setting = rate_setting(i)); i++) {
    const double *asked = rate_numbers(&modelled, setting), *measured = rate_numbers(&m->rates, setting);
    for (int k = 0; k < (setting->is_list ? m->rates.size_count : 1); k++) {
      if (asked[k] <= 0 && measured[k] <= 0) continue;
      const char *size = setting->is_list ? arena_printf(arena, " %s", quantity_text(arena, UNIT_BYTES, m->rates.sizes[k])) : "";
      show(arena, arena_printf(arena, "%s%s", setting->name, size), setting->unit, asked[k], measured[k], k == 0 ? setting->what : "");
    }
  }
}

static void show_way(Arena *arena, const char *from, const char *arrow, const char *to, double asked, double measured, const char *what) {
  show(arena, arena_printf(arena, "%s %s %s", from, arrow, to), UNIT_BYTES_PER_SECOND, asked, measured, what);
}

static void show_links(Arena *arena, const Machine *model, const Measurement *m) {
  const Link *links = model->links;
  bool is_cuda = m->gpu.name != NULL;
  const char *device = is_cuda ? "gpu" : "cpu", *near_ssd = is_cuda ? "host" : "cpu";
  show_way(arena, device, "->", "host", is_cuda ? 0 : links[LANE_D2H].bandwidth, m->host_write,
           is_cuda ? "copies between its memory and pinned memory of the host" : "a copy in memory by a thread beside the others");
  show_way(arena, "host", "->", device, is_cuda ? 0 : links[LANE_H2D].bandwidth, m->host_read, "");
  show_way(arena, device, "<->", "host", 0, m->host_both, "both ways at once, together");
  show(arena, "  compute beside it", UNIT_SHARE, is_cuda ? 1 : model->overlap_slowdown[LANE_D2H], m->host_slowdown, "time, of that without the copy");
  if (is_cuda) show(arena, "memory of the host", UNIT_BYTES_PER_SECOND, 0, m->host_memory, "arrays read and written in order by all threads");
  show_way(arena, near_ssd, "->", "ssd", links[LANE_SSD_WRITE].bandwidth, m->ssd_write, "copies of 4 MiB as a program makes them, past the page cache");
  show_way(arena, "ssd", "->", near_ssd, links[LANE_SSD_READ].bandwidth, m->ssd_read, "");
  show_way(arena, near_ssd, "<->", "ssd", 0, m->ssd_both, "both ways at once, together");
  show(arena, "  latency", UNIT_SECONDS, links[LANE_SSD_READ].latency, m->ssd_latency, "of reading 4 KiB");
  if (is_cuda) return;
  show(arena, "  compute beside writing", UNIT_SHARE, 1, m->ssd_write_slowdown, "");
  show(arena, "  compute beside reading", UNIT_SHARE, 1, m->ssd_read_slowdown, "");
}

/* ---- the command ---- */

static bool is_name(const char *text) {
  bool starts = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || *text == '_';
  return starts && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == strlen(text);
}

static bool asks_for_gpu(const Options *options) { return options->backend && strcmp(options->backend, "cuda") == 0; }

/* Where the target goes; NULL after a message. */
static const char *target_path(Arena *arena, const Options *options, int *status) {
  const char *name = options->calibrate, *cache = cache_directory(arena);
  if (!*name && asks_for_gpu(options)) name = "gpu";
  *status = 2;
  if (options->input) {
    fprintf(stderr, "gnncc: error: --calibrate measures this machine and takes no model (%s)\n", options->input);
    return NULL;
  }
  if (*name && !is_name(name)) {
    fprintf(stderr, "gnncc: error: --calibrate=%s: a name is needed, of letters, digits and _\n", name);
    return NULL;
  }
  *status = 4;
  if (!*name && !cache) {
    fprintf(stderr, "gnncc: error: there is no HOME to keep the measurement in; --calibrate=NAME writes NAME.gnn\n");
    return NULL;
  }
  const char *path = *name ? arena_printf(arena, "%s.gnn", name) : arena_printf(arena, "%s/native.gnn", cache);
  if (!outfile_may_write(path, options->is_forced)) return NULL;
  *status = 0;
  return path;
}

/* What the model would have taken, at the sizes that were measured; of a GPU, from its bandwidth and its products. */
static Machine model_of(const Measurement *m) {
  TargetSpec target = {.name = "native", .kind = "cpu", .device_bytes = -1, .rates.size_count = m->rates.size_count};
  if (m->gpu.name) {
    target.kind = "cuda";
    target.device_bandwidth = m->rates.stream[m->rates.size_count - 1];
    target.fp32_flops = m->fp32;
  }
  memcpy(target.rates.sizes, m->rates.sizes, sizeof target.rates.sizes);
  return machine_of_target(&target);
}

static void report(Arena *arena, Measurement *m) {
  Machine model = model_of(m), native = machine_of_target(NULL);
  printf("%-26s %14s %14s\n", measured_name(arena, m), "asked", "measured");
  show_rates(arena, &model, m);
  show_links(arena, &native, m);
  if (m->disturbed > disturbed_most)
    printf("other programs were running (%.0f %% of the measurements were disturbed): do it again when it is quiet\n", 100 * m->disturbed);
}

int calibrate(const Options *options, const char *share_dir) {
  Arena *arena = arena_new();
  bool is_cuda = asks_for_gpu(options), is_native = !*options->calibrate && !is_cuda;
  const char *name = is_native ? "native" : *options->calibrate ? options->calibrate : "gpu";
  Measurement m = {.threads = 1};
  int status;
  const char *path = target_path(arena, options, &status);
  if (status == 0) status = measure(arena, options, share_dir, is_cuda, &m);
  if (!is_cuda) m.rates.others = machine_of_target(NULL).rates.others; /* whom nobody can measure */
  if (status == 0 && !options->is_dry_run) {
    if (is_native) cache_make(arena);
    double disturbed = 0;
    const bool keeps = !options->is_forced && m.disturbed > disturbed_most && is_better_there(arena, path, name, &m, &disturbed);
    if (!keeps) status = save(arena, name, path, &m);
    if (status == 0 && !options->is_quiet) report(arena, &m);
    if (keeps) printf("%s is left as it is: it was measured with %.0f %% disturbed; --force takes these figures\n", path, 100 * disturbed);
    else if (status == 0 && !options->is_quiet) printf("wrote %s%s\n", path, is_native ? ", from now on the native target" : "");
  }
  arena_free(arena);
  return status;
}
