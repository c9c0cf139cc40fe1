#define _POSIX_C_SOURCE 200809L

#include "generate_parts.h"

#include "compiler/planner/geometry.h"
#include "generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* About one large GPU. */
#define FLOPS_PER_NS 60000.0
#define BYTES_PER_NS 2500.0

typedef struct Parts {
  const PartsOptions *o;
  FILE *out;
  int items; /* of the list that is being written */
} Parts;

static int width(const PartsOptions *o, int layer) { return layer == 0 ? o->features : layer == o->layers ? o->classes : o->hidden; }

/* Slices have at least 16 columns. */
static int slices(const PartsOptions *o, int layer) {
  if (o->mode != PARTS_SLICES || layer == 0) return 1;
  int most = width(o, layer) / 16;
  return o->slices < most ? o->slices : most < 1 ? 1 : most;
}

static int64_t bytes(const PartsOptions *o, int layer) { return 4 * o->nodes * width(o, layer); }

static int64_t product_ns(const PartsOptions *o, int layer) {
  return (int64_t)(2.0 * (double)o->nodes * width(o, layer - 1) * width(o, layer) / FLOPS_PER_NS + (double)(bytes(o, layer - 1) + bytes(o, layer)) / BYTES_PER_NS);
}

static int64_t sum_ns(const PartsOptions *o, int layer) { return (int64_t)(4.0 * (double)o->edges * width(o, layer) / BYTES_PER_NS); }

static void separate(Parts *p) { fputs(p->items++ ? ",\n  " : "\n  ", p->out); }

static void datum(Parts *p, const char *name, int layer, int64_t size, int chunks, const char *extra) {
  separate(p);
  fprintf(p->out, "{\"id\": \"%s%d\", \"bytes\": %lld, \"chunks\": %d%s}", name, layer, (long long)size, chunks, extra);
}

static void op_begin(Parts *p, const char *name, int layer, const char *phase, int chunks) {
  separate(p);
  fprintf(p->out, "{\"id\": \"%s%d\", \"phase\": \"%s\", \"chunks\": %d, ", name, layer, phase, chunks);
}

static void op_end(Parts *p, int64_t ns) { fprintf(p->out, ", \"ns\": %lld}", (long long)ns); }

static void plain(Parts *p, const char *name, int layer, const char *access) {
  fprintf(p->out, "{\"data\": \"%s%d\", \"access\": \"%s\"}", name, layer, access);
}

/* Part k with all its slices. */
static void of_part(Parts *p, const char *name, int layer) {
  int s = slices(p->o, layer);
  if (s == 1) {
    plain(p, name, layer, "row");
    return;
  }
  fprintf(p->out, "{\"data\": \"%s%d\", \"access\": [", name, layer);
  for (int k = 0; k < p->o->parts; k++)
    for (int i = 0; i < s; i++) fprintf(p->out, "%s%d%s", i ? ", " : k ? ", [" : "[", k * s + i, i + 1 == s ? "]" : "");
  fputs("]}", p->out);
}

/* Slice i of all parts. */
static void of_slice(Parts *p, const char *name, int layer) {
  int s = slices(p->o, layer);
  fprintf(p->out, "{\"data\": \"%s%d\", \"access\": [", name, layer);
  for (int i = 0; i < s; i++)
    for (int k = 0; k < p->o->parts; k++) fprintf(p->out, "%s%d%s", k ? ", " : i ? ", [" : "[", k * s + i, k + 1 == p->o->parts ? "]" : "");
  fputs("]}", p->out);
}

/* The parts that part k gathers from: those beside it, and those of the hubs. */
static void of_neighbours(Parts *p, const char *name, int layer) {
  int parts = p->o->parts;
  fprintf(p->out, "{\"data\": \"%s%d\", \"access\": [", name, layer);
  for (int k = 0; k < parts; k++) {
    fprintf(p->out, "%s[0", k ? ", " : "");
    for (int i = k - 2; i <= k + 2; i++)
      if (i > 0 && i < parts) fprintf(p->out, ", %d", i);
    fputs("]", p->out);
  }
  fputs("]}", p->out);
}

/* A sum over neighbours of `from` into `to`. */
static void sum(Parts *p, const char *name, const char *from, const char *to, int layer, const char *phase) {
  const PartsOptions *o = p->o;
  bool is_sliced = o->mode == PARTS_SLICES && slices(o, layer) > 1;
  op_begin(p, name, layer, phase, is_sliced ? slices(o, layer) : o->parts);
  fputs("\"reads\": [", p->out);
  if (is_sliced) of_slice(p, from, layer);
  else if (o->mode == PARTS_ROWS) of_neighbours(p, from, layer);
  else plain(p, from, layer, "all");
  fputs(", ", p->out);
  plain(p, "graph", 0, is_sliced ? "all" : "row");
  fputs("], \"writes\": [", p->out);
  if (is_sliced) of_slice(p, to, layer);
  else of_part(p, to, layer);
  fputs("]", p->out);
  op_end(p, sum_ns(o, layer));
}

/* What sums gather from: in one piece where they need it so. */
static int gathered_chunks(const PartsOptions *o, int layer) { return o->mode == PARTS_WHOLE ? 1 : o->parts * slices(o, layer); }

static void made_of_part(Parts *p, const char *name, int layer) {
  if (gathered_chunks(p->o, layer) == 1) plain(p, name, layer, "all");
  else of_part(p, name, layer);
}

static void write_data(Parts *p) {
  const PartsOptions *o = p->o;
  const char *home = !o->is_data_away ? ", \"home\": \"device\"" : o->has_host ? ", \"home\": \"host\"" : ", \"home\": \"ssd\"";
  const char *backward = ", \"fates\": [\"retain\", \"host\", \"ssd\"]";
  datum(p, "graph", 0, 8 * o->nodes + 4 * o->edges, o->parts, home);
  datum(p, "h", 0, bytes(o, 0), o->parts, home);
  for (int l = 1; l <= o->layers; l++) {
    datum(p, "z", l, bytes(o, l), gathered_chunks(o, l), "");
    datum(p, "h", l, bytes(o, l), o->parts * slices(o, l), ", \"role\": \"input\"");
    datum(p, "g", l, bytes(o, l), gathered_chunks(o, l), backward);
    datum(p, "dz", l, bytes(o, l), o->parts * slices(o, l), backward);
    datum(p, "dw", l, 4 * width(o, l - 1) * width(o, l), 1, ", \"home\": \"device\"");
  }
}

static void write_ops(Parts *p) {
  const PartsOptions *o = p->o;
  for (int l = 1; l <= o->layers; l++) {
    op_begin(p, "product", l, "fwd", o->parts);
    fputs("\"reads\": [", p->out);
    of_part(p, "h", l - 1);
    fputs("], \"writes\": [", p->out);
    made_of_part(p, "z", l);
    fputs("]", p->out);
    op_end(p, product_ns(o, l));
    sum(p, "sum", "z", "h", l, "fwd");
  }
  op_begin(p, "loss", o->layers, "bwd", o->parts);
  fputs("\"reads\": [", p->out);
  of_part(p, "h", o->layers);
  fputs("], \"writes\": [", p->out);
  made_of_part(p, "g", o->layers);
  fputs("]", p->out);
  op_end(p, (int64_t)(3.0 * (double)bytes(o, o->layers) / BYTES_PER_NS));
  for (int l = o->layers; l >= 1; l--) {
    sum(p, "dsum", "g", "dz", l, "bwd");
    op_begin(p, "dproduct", l, "bwd", o->parts);
    fputs("\"reads\": [", p->out);
    of_part(p, "dz", l);
    fputs(", ", p->out);
    of_part(p, "h", l - 1);
    fputs("], \"writes\": [", p->out);
    plain(p, "dw", l, "all");
    if (l > 1) {
      fputs(", ", p->out);
      made_of_part(p, "g", l - 1);
    }
    fputs("]", p->out);
    op_end(p, (l > 1 ? 2 : 1) * product_ns(o, l));
  }
}

static char *write_problem(Arena *arena, const PartsOptions *o, int64_t device_bytes) {
  char *text;
  size_t length;
  Parts parts = {.o = o, .out = open_memstream(&text, &length)}, *p = &parts;
  const long long ample = 1LL << 42;
  fprintf(p->out, "{\"format\": \"gnncc-problem/1\", \"name\": \"%s\",\n \"hardware\": {\"device_bytes\": %lld, \"host_bytes\": %lld, \"ssd_bytes\": %lld, \"ring_bytes\": %lld, \"channels\": {\n"
          "  \"d2h\": {\"bw\": 50000000000, \"lat_ns\": 10000}, \"h2d\": {\"bw\": 50000000000, \"lat_ns\": 10000},\n"
          "  \"ssdw\": {\"bw\": 6000000000, \"lat_ns\": 80000}, \"ssdr\": {\"bw\": 12000000000, \"lat_ns\": 80000}}},\n \"data\": [",
          o->name, (long long)device_bytes, o->has_host ? ample : 0, o->has_ssd ? ample : 0, (long long)(o->has_ssd ? 2 * bytes(o, 1) : 0));
  write_data(p);
  p->items = 0;
  fputs("],\n \"ops\": [", p->out);
  write_ops(p);
  fputs("]}\n", p->out);
  fclose(p->out);
  char *copy = arena_strdup(arena, text);
  free(text);
  return copy;
}

char *generate_parts(Arena *arena, const PartsOptions *options) {
  Arena *scratch = arena_new();
  char *text = write_problem(arena, options, (int64_t)1 << 50);
  ProblemError error;
  Problem *problem = problem_read_json(scratch, text, strlen(text), &error);
  if (!problem) {
    fprintf(stderr, "generator: %s: %s: %s\n", options->name, error.place, error.text);
    exit(70);
  }
  const Geometry *geometry = geometry_make(problem, scratch);
  int64_t low = 0, high = 0;
  for (int s = 0; s < problem->step_count; s++) {
    if (geometry->base_bytes[s] > low) low = geometry->base_bytes[s];
    if (geometry->retain_bytes[s] > high) high = geometry->retain_bytes[s];
  }
  arena_free(scratch);
  return generate_with_device(arena, text, low + (int64_t)(options->budget * (double)(high - low)));
}
