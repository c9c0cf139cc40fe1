/* gnndata.c: the command line of the data tool. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "gnndata.h"
#include "runtime/app/train.h"

#include "runtime/base/open.h"
#include "runtime/base/partial.h"
#include "runtime/data/dgl.h"
#include "yaml_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, EXIT_IO = 4, TAKES_RECIPE = 1, TAKES_SIZES = 2, TAKES_FORCE = 4, TAKES_ORDER = 8, TAKES_METHOD = 16, TAKES_MEMORY = 32, TAKES_LIST = 64, TAKES_REORDER = 128 };

static const struct gnndata_command {
  const char *name, *words, *help;
  int least, most, takes;
  int (*run)(const gnndata_options *);
} gnndata_commands[] = {
  {"info", "PATH", "what is in it, its memory, what parts of it share, and the data block to paste", 1, 1, TAKES_RECIPE | TAKES_ORDER, gnndata_info},
  {"check", "PATH", "one pass: ranges, NaN, duplicates, one-way edges, silent nodes, splits, classes", 1, 1, TAKES_RECIPE,
   gnndata_check},
  {"convert", "IN OUT.safetensors", "any readable form to one file, with the changes asked for", 2, 2,
   TAKES_RECIPE | TAKES_FORCE | TAKES_MEMORY | TAKES_LIST | TAKES_REORDER, gnndata_convert},
  {"synth", "KIND OUT.safetensors", "make up data: sbm, rmat, er, grid, molecules; or write karate", 2, 2, TAKES_SIZES | TAKES_FORCE,
   gnndata_synth},
  {"head", "PATH FIELD [N]", "the first rows of a field, or of \"edges\"", 2, 3, TAKES_RECIPE, gnndata_head},
  {"diff", "A B", "what differs; exit 1 if anything does", 2, 2, TAKES_RECIPE, gnndata_diff},
  {"split", "IN OUT.safetensors", "the same as convert; give it --split", 2, 2, TAKES_RECIPE | TAKES_FORCE | TAKES_REORDER, gnndata_convert},
  {"order", "DATA", "an order of the nodes with few edges between its parts, for order = \"FILE\"", 1, 1, TAKES_RECIPE | TAKES_FORCE | TAKES_METHOD | TAKES_MEMORY,
   gnndata_order},
  {"list", "", "data sets that are built in", 0, 0, 0, gnndata_list},
};
enum { GNNDATA_COMMANDS = sizeof gnndata_commands / sizeof *gnndata_commands };

static const struct gnndata_row { const char *name, *value, *help; int takes; } gnndata_rows[] = {
  {"undirected", NULL, "store the reverse of every edge too", TAKES_RECIPE},
  {"self-loops", "add|remove|keep", "a loop at every node, or at none", TAKES_RECIPE},
  {"duplicates", "drop|keep", "edges between the same two nodes, the same way, are one or several (drop)", TAKES_RECIPE},
  {"dedup", NULL, "the same as --duplicates=drop", TAKES_RECIPE},
  {"normalize", "FIELD", "scale its rows to sum 1; repeatable", TAKES_RECIPE},
  {"split", "random:0.6,0.2,0.2@0 | index:K", "a random split with a seed, or one of those stored", TAKES_RECIPE},
  {"reorder", "degree|rcm", "convert: give nodes other numbers: most neighbours first, or reverse Cuthill-McKee", TAKES_REORDER},
  {"memory", "SIZE", "convert: sort edges on disk with so much, the same command goes on after a stop; order: read them from disk", TAKES_MEMORY},
  {"base", "0|1", "convert: what the first node of a list of edges is called (0)", TAKES_LIST},
  {"nodes", "N", "synth: how many (1000); convert: of a list of edges (greatest id + 1)", TAKES_SIZES | TAKES_LIST},
  {"degree", "D", "synth: mean number of neighbours (8)", TAKES_SIZES},
  {"edges", "N", "synth: so many different ones, as stored, not by degree", TAKES_SIZES},
  {"features", "N", "synth: columns of x (32)", TAKES_SIZES},
  {"classes", "N", "synth: labels (4)", TAKES_SIZES},
  {"seed", "N", "synth: another graph for another number (0)", TAKES_SIZES},
  {"sparse", NULL, "synth: few non-zeros a row", TAKES_SIZES},
  {"order", "given|nested|FILE", "info: its parts in this order, too", TAKES_ORDER},
  {"output", "FILE", "order: what to write (DATA.order); -o FILE", TAKES_METHOD},
  {"method", "nested|metis|given|degree|rcm|FILE", "order: nested bisection, by METIS, as they are, most neighbours first, reverse Cuthill-McKee, by part numbers (nested)", TAKES_METHOD},
  {"force", NULL, "overwrite a file that gnndata did not write", TAKES_FORCE},
};
enum { GNNDATA_ROWS = sizeof gnndata_rows / sizeof *gnndata_rows };

int gnndata_fail(gnn_status status, const gnn_error *error) {
  fflush(stdout);
  if (error->code[0]) fprintf(stderr, "gnndata: error[%s]: %s\n", error->code, error->message);
  else fprintf(stderr, "gnndata: error: %s\n", error->message);
  if (error->help[0]) fprintf(stderr, "  help: %s\n", error->help);
  return gnn_exit_code(status);
}

static void gnndata_usage(FILE *to) {
  fprintf(to, "usage: gnndata COMMAND ... [options]\n\n");
  for (int i = 0; i < GNNDATA_COMMANDS; i++)
    fprintf(to, "  %-8s %-22s %s\n", gnndata_commands[i].name, gnndata_commands[i].words, gnndata_commands[i].help);
  fprintf(to, "\noptions:\n");
  for (int i = 0; i < GNNDATA_ROWS; i++) {
    char left[64];
    snprintf(left, sizeof left, "--%s%s%s", gnndata_rows[i].name, gnndata_rows[i].value ? "=" : "",
             gnndata_rows[i].value ? gnndata_rows[i].value : "");
    fprintf(to, "  %-40s %s\n", left, gnndata_rows[i].help);
  }
  fprintf(to, "\nreads: a file or folder of any form that gnncc --list sources names, karate, or a source as a data block has it: 'csv(edges = \"e.csv\")'\n"
              "exit codes: 0 fine, 1 the data are wrong (or differ), 2 bad command line, 3 not enough memory, 4 file error\n");
}

static int gnndata_complain(const char *what, const char *word, const char *near) {
  fprintf(stderr, "gnndata: error: %s \"%s\"", what, word);
  if (near) fprintf(stderr, "; did you mean %s%s?", strncmp(word, "--", 2) == 0 && strncmp(near, "--", 2) != 0 ? "--" : "", near);
  fprintf(stderr, "\n  more: gnndata --help\n");
  return EXIT_USAGE;
}

/* random:0.6,0.2,0.2@0 or index:3 */
static int gnndata_split(gnn_recipe *recipe, const char *value) {
  int64_t index;
  if (strncmp(value, "index:", 6) == 0 && gnn_parse_integer(value + 6, &index) && index >= 0 && index < INT32_MAX) {
    recipe->split_index = (int)index;
    return 0;
  }
  if (strncmp(value, "random:", 7) == 0) {
    char copy[128], *part = copy;
    if (strlen(value + 7) >= sizeof copy) return gnndata_complain("--split does not take", value, NULL);
    memcpy(copy, value + 7, strlen(value + 7) + 1);
    char *seed = strchr(copy, '@');
    int64_t number = 0;
    if (seed) *seed++ = 0;
    int is_good = !seed || (gnn_parse_integer(seed, &number) && number >= 0);
    for (int i = 0; is_good && i < 3; i++) {
      char *comma = part ? strchr(part, ',') : NULL;
      if (comma) *comma++ = 0;
      is_good = part && (i < 2 ? comma != NULL : comma == NULL) && gnn_parse_number(part, &recipe->split_fraction[i]);
      part = comma;
    }
    recipe->has_random_split = 1;
    recipe->split_seed = (uint64_t)number;
    if (is_good) return 0;
  }
  return gnndata_complain("--split takes random:0.6,0.2,0.2@0 or index:K, not", value, NULL);
}

static int gnndata_set(gnndata_options *options, const char *name, const char *value) {
  if (strcmp(name, "undirected") == 0) { options->recipe.is_undirected = 1; return 0; }
  if (strcmp(name, "dedup") == 0) return gnndata_set(options, "duplicates", "drop");
  if (strcmp(name, "duplicates") == 0) {
    options->recipe.keeps_duplicates = strcmp(value, "keep") == 0;
    options->drops_duplicates = !options->recipe.keeps_duplicates;
    return options->recipe.keeps_duplicates || strcmp(value, "drop") == 0 ? 0 : gnndata_complain("--duplicates takes drop or keep, not", value, NULL);
  }
  if (strcmp(name, "sparse") == 0) { options->is_sparse = 1; return 0; }
  if (strcmp(name, "force") == 0) { options->is_forced = 1; return 0; }
  if (strcmp(name, "split") == 0) {
    options->has_split = 1;
    return gnndata_split(&options->recipe, value);
  }
  if (strcmp(name, "memory") == 0)
    return gnn_parse_bytes(value, &options->memory_bytes) && options->memory_bytes > 0 ? 0 : gnndata_complain("--memory takes a size like 512MiB, not", value, NULL);
  if (strcmp(name, "base") == 0) {
    options->base = value[0] == '1';
    return strcmp(value, "0") == 0 || strcmp(value, "1") == 0 ? 0 : gnndata_complain("--base takes 0 or 1, not", value, NULL);
  }
  if (strcmp(name, "order") == 0) { options->order = value; return 0; }
  if (strcmp(name, "output") == 0) { options->output = value; return 0; }
  if (strcmp(name, "method") == 0) {
    static const char *const words[] = {"nested", "metis", "given", "degree", "rcm"};
    options->method = value;
    for (int i = 0; i < 5; i++)
      if (strcmp(value, words[i]) == 0) return 0;
    if (strchr(value, '.') || strchr(value, '/') || gnn_path_exists(value)) return 0;
    return gnndata_complain("--method takes nested, metis, given, degree, rcm or a file of part numbers, not", value, gnn_nearest(value, words, 5));
  }
  if (strcmp(name, "reorder") == 0) {
    static const char *const words[] = {"degree", "rcm"};
    options->reorder = value;
    return strcmp(value, "degree") == 0 || strcmp(value, "rcm") == 0 ? 0 : gnndata_complain("--reorder takes degree or rcm, not", value, gnn_nearest(value, words, 2));
  }
  if (strcmp(name, "normalize") == 0) {
    if (options->normalised_count == 8) return gnndata_complain("too many --normalize", value, NULL);
    options->normalised[options->normalised_count++] = value;
    return 0;
  }
  if (strcmp(name, "self-loops") == 0) {
    static const char *const words[] = {"keep", "add", "remove"};
    for (int i = 0; i < 3; i++) {
      if (strcmp(value, words[i]) != 0) continue;
      options->recipe.self_loops = (gnn_self_loops)i;
      return 0;
    }
    return gnndata_complain("--self-loops takes add, remove or keep, not", value, NULL);
  }
  double number;
  if (!gnn_parse_number(value, &number) || number < 0) return gnndata_complain("a number is needed, not", value, NULL);
  if (strcmp(name, "nodes") == 0) {
    options->nodes = number;
    options->has_nodes = 1;
  }
  else if (strcmp(name, "degree") == 0) options->degree = number;
  else if (strcmp(name, "edges") == 0) options->edges = number;
  else if (strcmp(name, "features") == 0) options->features = number;
  else if (strcmp(name, "classes") == 0) options->classes = number;
  else options->seed = number;
  return 0;
}

static int gnndata_option(gnndata_options *options, int takes, int argc, char **argv, int *at) {
  char name[40];
  const char *word = argv[*at][1] == 'o' ? "output" : argv[*at] + 2, *equals = strchr(word, '='), *names[GNNDATA_ROWS];
  size_t length = equals ? (size_t)(equals - word) : strlen(word);
  for (int i = 0; i < GNNDATA_ROWS; i++) names[i] = gnndata_rows[i].name;
  if (length >= sizeof name) return gnndata_complain("unknown option", argv[*at], NULL);
  memcpy(name, word, length);
  name[length] = 0;
  for (int i = 0; i < GNNDATA_ROWS; i++) {
    if (strcmp(gnndata_rows[i].name, name) != 0) continue;
    if (!(gnndata_rows[i].takes & takes)) return gnndata_complain("this command has no use for", argv[*at], NULL);
    const char *value = equals ? equals + 1 : NULL;
    if (gnndata_rows[i].value == NULL && value) return gnndata_complain("there is no value for", argv[*at], NULL);
    if (gnndata_rows[i].value && value == NULL) {
      if (*at + 1 >= argc) return gnndata_complain("a value is missing for", argv[*at], NULL);
      value = argv[++*at];
    }
    return gnndata_set(options, name, value);
  }
  return gnndata_complain("unknown option", argv[*at], gnn_nearest(name, names, GNNDATA_ROWS));
}

static int gnndata_run(const struct gnndata_command *command, int argc, char **argv) {
  gnndata_options options = {.nodes = 1000, .degree = 8, .features = 32, .classes = 4};
  gnn_text changes = {0};
  for (int i = 2; i < argc; i++) {
    int begin = i, code = 0;
    if (strncmp(argv[i], "--", 2) == 0 || strcmp(argv[i], "-o") == 0) code = gnndata_option(&options, command->takes, argc, argv, &i);
    else if (argv[i][0] == '-' && argv[i][1]) code = gnndata_complain("unknown option", argv[i], NULL);
    else if (options.word_count == 4) code = gnndata_complain("unexpected", argv[i], NULL);
    else options.words[options.word_count++] = argv[i];
    if (code != 0) {
      gnn_text_free(&changes);
      return code;
    }
    const int changes_data = strncmp(argv[begin], "--memory", 8) != 0 && strcmp(argv[begin], "--force") != 0;
    for (int k = begin; k <= i && changes_data && strncmp(argv[begin], "--", 2) == 0; k++)
      gnn_text_format(&changes, "%s%s", changes.length ? " " : "", argv[k]);
  }
  int code;
  if (options.word_count < command->least || options.word_count > command->most) {
    if (strcmp(command->name, "convert") == 0 && options.word_count > 2)
      fprintf(stderr, "gnndata: error: convert takes one input; data in several files are a folder, a .npz or csv(edges = \"...\", nodes = \"...\")\n");
    fprintf(stderr, "usage: gnndata %s %s\n", command->name, command->words);
    code = EXIT_USAGE;
  } else if (changes.is_broken) {
    gnn_error error;
    code = gnndata_fail(gnn_fail_memory(&error, 0), &error);
  } else {
    options.recipe.normalised = options.normalised;
    options.recipe.normalised_count = options.normalised_count;
    options.changes = changes.data ? changes.data : "";
    code = command->run(&options);
  }
  gnn_text_free(&changes);
  return code;
}

int main(int argc, char **argv) {
  const char *names[GNNDATA_COMMANDS];
  gnn_read_yaml = gnn_yaml_text;
  gnn_open_standard();
  gnn_partial_on_signals(1, NULL);
  if (argc < 2) {
    gnndata_usage(stderr);
    return EXIT_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
    gnndata_usage(stdout);
    return 0;
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("gnndata (gnncc runtime, version %d of its interface)\n", GNN_ABI);
    return 0;
  }
  for (int i = 0; i < GNNDATA_COMMANDS; i++) {
    names[i] = gnndata_commands[i].name;
    if (strcmp(argv[1], names[i]) != 0) continue;
    int code = gnndata_run(&gnndata_commands[i], argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "gnndata: error: cannot write to standard output\n");
    return code == 0 ? EXIT_IO : code;
  }
  return gnndata_complain("unknown command", argv[1], gnn_nearest(argv[1], names, GNNDATA_COMMANDS));
}
