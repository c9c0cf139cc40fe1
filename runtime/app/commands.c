/* commands.c: what a produced program does, a function a command. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_session.h"
#include "runtime/core/device.h"
#include "runtime/core/scores.h"
#include "runtime/base/processor.h"
#include "runtime/core/builds.h"
#include "runtime/core/lanes.h"
#include "runtime/core/ranks.h"
#include "runtime/data/batches.h"
#include "runtime/job/epoch.h"

int gnn_command_train(const gnn_cli *cli) {
  gnn_session session;
  int code = gnn_session_open(cli, &session);
  if (code != GNN_EXIT_OK) return code;
  gnn_train_options options = {
    .epochs = cli->epochs >= 0 ? cli->epochs : cli->program->epochs,
    .runs = cli->runs >= 0 ? cli->runs : cli->fold < 0 && cli->program->runs > 0 ? cli->program->runs : 1, .dataset = session.dataset,
    .name = cli->name, .every = cli->every, .seed = cli->seed + (cli->fold > 0 ? (uint64_t)cli->fold : 0), /* as in the run of that fold */ .has_seed = cli->has_seed, .out = cli->out, .default_out = cli->default_out, .weights = cli->weights,
    .resume = cli->resume, .resumes_newest = cli->resumes_newest, .logs_csv = cli->logs_csv,
    .logs_jsonl = cli->logs_jsonl, .logs_page = cli->logs_page, .board = cli->board, .progress = cli->progress, .time_limit = cli->time_limit,
    .continues_after_nan = cli->continues_after_nan, .accepts_changed_data = cli->accepts_changed_data, .is_quiet = cli->is_quiet, .is_verbose = cli->is_verbose,
    .ranks = cli->ranks, .command_line = cli->command_line};
  if (!gnn_ranks_is_first(cli->ranks)) options.logs_csv = options.logs_jsonl = options.logs_page = 0, options.board = NULL;
  code = gnn_train(session.instance, &options);
  gnn_session_close(&session);
  return code;
}

/* ---- eval ---- */

/* Rows: the classes that are right; columns: those predicted. */
static int commands_confusion(const gnn_cli *cli, const gnn_instance *instance, gnn_split split) {
  const gnn_scored m = gnn_scored_rows(instance, split);
  const int64_t n = m.class_count;
  int64_t *table = calloc((size_t)(n * (n + 1)), sizeof *table); /* the last column: no number was largest */
  if (table == NULL) {
    gnn_error error;
    return gnn_cli_fail(cli, gnn_fail_memory(&error, n * n * (int64_t)sizeof *table), &error);
  }
  for (int64_t k = 0; k < m.count; k++) {
    const int64_t predicted = gnn_predicted_class(&m, m.rows[k]);
    table[m.classes[m.rows[k]] * (n + 1) + (predicted < 0 ? n : predicted)]++;
  }
  gnn_ranks_add(m.ranks, table, n * (n + 1));
  printf("%s, class by predicted class\n%6s", gnn_split_names[split], "");
  for (int64_t c = 0; c < n; c++) printf(" %7lld", (long long)c);
  printf("\n");
  for (int64_t c = 0; c < n; c++) {
    printf("%6lld", (long long)c);
    for (int64_t p = 0; p < n; p++) printf(" %7lld", (long long)table[c * (n + 1) + p]);
    printf("\n");
  }
  free(table);
  gnn_error error;
  const gnn_status status = gnn_scores_status(instance);
  if (status != GNN_OK) gnn_step_failed(instance, status, &error, "", "the scores did not come back");
  return status == GNN_OK ? GNN_EXIT_OK : gnn_cli_fail(cli, status, &error);
}

int gnn_command_eval(const gnn_cli *cli) {
  gnn_session session;
  gnn_error error;
  gnn_result result[GNN_SPLIT_COUNT];
  int split = gnn_cli_split(cli);
  if (split < 0) return GNN_EXIT_USAGE;
  int code = gnn_session_open_trained(cli, &session);
  if (code != GNN_EXIT_OK) return code;
  gnn_instance *instance = session.instance;
  gnn_status status = gnn_evaluate(instance, result);
  if (status != GNN_OK) {
    gnn_step_failed(instance, status, &error, "", "evaluation failed");
    code = gnn_cli_fail(cli, status, &error);
  }
  if (code == GNN_EXIT_OK && split < GNN_SPLIT_COUNT && result[split].count == 0) {
    code = gnn_cli_refuse(cli, GNN_EXIT_FAILED, "error: the data have no split \"%s\"", gnn_split_names[split]);
  }
  for (int s = 0; code == GNN_EXIT_OK && !cli->continues_after_nan && s < GNN_SPLIT_COUNT; s++) {
    if ((split != GNN_SPLIT_COUNT && split != s) || isfinite(result[s].loss)) continue;
    status = gnn_fail(&error, GNN_ENUMERIC, "R0803", "the loss of split %s is %s", gnn_split_names[s], isnan(result[s].loss) ? "NaN" : "infinite");
    gnn_fail_help(&error, "--nan=continue shows it all the same");
    code = gnn_cli_fail(cli, status, &error);
  }
  for (int s = 0; code == GNN_EXIT_OK && s < GNN_SPLIT_COUNT; s++) {
    if (result[s].count == 0 || (split != GNN_SPLIT_COUNT && split != s)) continue;
    printf("%-5s  %8s %ss  loss %.4f", gnn_split_names[s], gnn_count_text(result[s].count).text, gnn_cli_row_word(cli->program), gnn_shown(result[s].loss));
    for (int i = 0; i < cli->program->metric_count; i++) printf("  %s %.4f", cli->program->metrics[i].name, gnn_shown(result[s].metric[i]));
    printf("\n");
  }
  for (int s = 0; code == GNN_EXIT_OK && cli->program->has_confusion && s < GNN_SPLIT_COUNT; s++)
    if (result[s].count && (split == GNN_SPLIT_COUNT || split == s)) code = commands_confusion(cli, instance, (gnn_split)s);
  gnn_session_close(&session);
  return code;
}

/* ---- gradients ---- */

int gnn_command_gradients(const gnn_cli *cli) {
  gnn_session session;
  gnn_error error;
  if (cli->output == NULL) return gnn_cli_refuse(cli, GNN_EXIT_USAGE, "gradients needs a file to write: -o gradients.safetensors");
  int code = gnn_session_open(cli, &session);
  if (code != GNN_EXIT_OK) return code;
  gnn_instance *instance = session.instance;
  gnn_status status = cli->weights ? gnn_weights_load(instance, cli->weights, &error) : GNN_OK;
  if (status == GNN_OK) {
    instance->run.epoch = instance->run.update = 1;
    if (instance->batches) status = gnn_batches_load(instance, GNN_BATCHES_TRAIN, 0, NULL); /* the first */
    if (status == GNN_OK) status = gnn_do(instance, GNN_WORK_GRADIENTS);
    if (status != GNN_OK) gnn_step_failed(instance, status, &error, "", "the gradients could not be computed");
  }
  if (status == GNN_OK && !isfinite(instance->run.loss) && !cli->continues_after_nan) {
    status = gnn_fail(&error, GNN_ENUMERIC, "R0803", "the loss is %s", isnan(instance->run.loss) ? "NaN" : "infinite");
    gnn_fail_help(&error, "--nan=continue writes the gradients all the same");
  }
  if (status == GNN_OK) status = gnn_gradients_save(instance, cli->output, &error);
  if (status == GNN_OK && !cli->is_quiet && strcmp(cli->output, "-") != 0) printf("wrote %s: loss %.9g\n", cli->output, gnn_shown(instance->run.loss));
  gnn_session_close(&session);
  return status == GNN_OK ? GNN_EXIT_OK : gnn_cli_fail(cli, status, &error);
}

/* ---- info ---- */

/* Where the scratch file would lie and how it would be reached. Broken or empty text: the program has none. */
static void commands_try_scratch(const gnn_cli *cli, gnn_text *text) {
  gnn_error error;
  gnn_instance_options options = gnn_cli_options(cli);
  const gnn_scratch_folders folders = gnn_instance_folders(cli->program, &options);
  if (!gnn_lanes_use_scratch(cli->program, GNN_LANE_COUNT)) return;
  if (gnn_scratch_try(&folders, text, &error) != GNN_OK) gnn_text_format(text, "none: %s", error.message);
}

static void commands_info_json_tiers(const gnn_cli *cli, gnn_text *text) {
  const gnn_program *program = cli->program;
  const char *between = "";
  gnn_text_format(text, ",\"reserve_bytes\":%lld,\"staging_bytes\":%lld,\"loading_bytes\":%lld,\"process_bytes\":%lld,\"address_bytes\":%lld,\"copies\":%d,\"lanes\":[",
                  (long long)program->reserve_bytes, (long long)gnn_staging_bytes(program), (long long)program->loading_bytes, (long long)program->process_bytes, (long long)program->address_bytes,
                  program->copy_count);
  for (int l = 0; l < GNN_LANE_COUNT; l++) {
    if (!gnn_lanes_uses(program, (gnn_lane)l)) continue;
    gnn_text_format(text, "%s\"%s\"", between, gnn_lane_names[l]);
    between = ",";
  }
  gnn_text scratch = {0};
  commands_try_scratch(cli, &scratch);
  gnn_text_format(text, "],\"scratch\":");
  if (scratch.data) gnn_text_json(text, scratch.data);
  else gnn_text_format(text, "null");
  gnn_text_free(&scratch);
  gnn_text_format(text, ",\"simulated\":%s,\"slowdown\":%.9g", program->is_simulated ? "true" : "false",
                  program->is_simulated ? program->slowdown : 1.0);
}

static void commands_info_tiers(const gnn_cli *cli) {
  const gnn_program *program = cli->program;
  gnn_text scratch = {0};
  if (program->copy_count) {
    printf("lanes        compute");
    for (int l = 0; l < GNN_LANE_COUNT; l++)
      if (gnn_lanes_uses(program, (gnn_lane)l)) printf(", %s", gnn_lane_names[l]);
    printf("; %d copies; staging %s\n", program->copy_count, gnn_bytes_text(gnn_staging_bytes(program)).text);
  }
  commands_try_scratch(cli, &scratch);
  if (scratch.data) printf("scratch      %s\n", scratch.data);
  gnn_text_free(&scratch);
  if (program->is_simulated)
    printf("simulated    no step takes less than its estimated time, times %g\n", program->slowdown);
}

/* Of each build what it is compiled for, and by which instructions. */
static void commands_info_json_builds(const gnn_cli *cli, gnn_text *text) {
  gnn_text_format(text, ",\"builds\":[");
  for (const gnn_program *build = cli->builds; build; build = build->also) {
    const char *between = "";
    gnn_text_format(text, "%s{\"cpu\":", build == cli->builds ? "" : ",");
    gnn_text_json(text, build->cpu ? build->cpu : "");
    gnn_text_format(text, ",\"runs\":%s,\"instructions\":[", build == cli->program && !gnn_processor_lacks(build->instructions, build->sve_bits) ? "true" : "false");
    for (int i = 0; i < GNN_INSTRUCTION_COUNT; i++) {
      if (!(build->instructions >> i & 1)) continue;
      gnn_text_format(text, "%s\"%s\"", between, gnn_instruction_name(i));
      between = ",";
    }
    gnn_text_format(text, "]}");
  }
  gnn_text_format(text, "]");
}

static void commands_info_builds(const gnn_cli *cli) {
  for (const gnn_program *build = cli->builds; build; build = build->also) {
    const char *lacks = gnn_processor_lacks(build->instructions, build->sve_bits);
    if (!build->cpu && !lacks) continue; /* of no source of gnncc's */
    printf("%-12s %s", build == cli->builds ? "processor" : "", gnn_build_cpu(build));
    if (lacks) printf("; the one here has no %s", lacks);
    else if (cli->builds->also && build == cli->program) printf(", which runs here");
    printf("\n");
  }
}

typedef struct commands_counts {
  int64_t nodes, edges; /* of all types and relations, as planned */
  const int64_t *rows;  /* of each split */
} commands_counts;

/* Of a rank the most that one has. */
static commands_counts commands_planned(const gnn_program *program) {
  const gnn_graph_desc *graph = &program->graph;
  commands_counts counts = {graph->nodes, graph->edges, graph->row_count};
  for (int t = 0; t < gnn_data_types(program); t++) counts.nodes += graph->types[t].nodes;
  for (int set = GNN_RELATIONS; gnn_data_types(program) && set < gnn_data_sets(program); set++) counts.edges += graph->sets[set].edges;
  return counts;
}

static commands_counts commands_of_data(const gnn_program *program) {
  const gnn_ranks_desc *ranks = program->ranks;
  return ranks ? (commands_counts){ranks->all_nodes, ranks->all_edges, ranks->all_rows} : commands_planned(program);
}

static int commands_info_json(const gnn_cli *cli) {
  const gnn_program *program = cli->program;
  const commands_counts data = commands_of_data(program), planned = commands_planned(program);
  gnn_text text = {0};
  gnn_text_format(&text, "{\"model\":");
  gnn_text_json(&text, program->name);
  gnn_text_format(&text, ",\"data\":");
  gnn_text_json(&text, program->data_name);
  gnn_text_format(&text, ",\"source\":");
  gnn_text_json(&text, program->source_name);
  gnn_text_format(&text, ",\"fingerprint\":");
  gnn_text_json(&text, program->fingerprint);
  gnn_text_format(&text, ",\"abi\":%d,\"nodes\":%lld,\"edges\":%lld,\"classes\":%lld,\"split\":[%lld,%lld,%lld],"
                  "\"device_bytes\":%lld,\"host_bytes\":%lld,\"ssd_bytes\":%lld,\"epoch_seconds_estimated\":%.9g",
                  program->abi, (long long)data.nodes, (long long)data.edges,
                  (long long)program->classes, (long long)data.rows[0], (long long)data.rows[1], (long long)data.rows[2],
                  (long long)program->device_bytes, (long long)program->host_bytes, (long long)program->ssd_bytes,
                  program->estimated_epoch_seconds);
  if (program->ranks) gnn_text_format(&text, ",\"ranks\":%d,\"rank_nodes\":%lld,\"rank_edges\":%lld", program->ranks->count, (long long)planned.nodes, (long long)planned.edges);
  commands_info_json_tiers(cli, &text);
  commands_info_json_builds(cli, &text);
  if (program->approximation) {
    gnn_text_format(&text, ",\"approximation\":");
    gnn_text_json(&text, program->approximation);
    gnn_text_format(&text, ",\"is_exact\":%s", program->ranks ? "false" : "true");
  }
  gnn_text_format(&text, ",\"epochs\":%lld,\"runs\":%lld,\"seed\":%lld,\"steps\":%d,\"options\":[",
                  (long long)program->epochs, (long long)program->runs, (long long)program->seed, program->step_count);
  for (int i = 0; i < program->option_count; i++) {
    gnn_text_format(&text, "%s{\"name\":", i ? "," : "");
    gnn_text_json(&text, program->options[i].name);
    gnn_text_format(&text, ",\"value\":%.9g,\"help\":", program->options[i].value);
    gnn_text_json(&text, program->options[i].help ? program->options[i].help : "");
    gnn_text_append(&text, "}", 1);
  }
  gnn_text_format(&text, "],\"weights\":[");
  for (int w = 0; w < program->weight_count; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    gnn_text_format(&text, "%s{\"name\":", w ? "," : "");
    gnn_text_json(&text, weight->name);
    gnn_text_format(&text, ",\"shape\":[");
    for (int i = 0; i < weight->rank; i++) gnn_text_format(&text, "%s%lld", i ? "," : "", (long long)weight->shape[i]);
    gnn_text_format(&text, "],\"trained\":%s}", weight->is_trained ? "true" : "false");
  }
  gnn_text_format(&text, "]}\n");
  gnn_error error;
  int code = text.is_broken ? gnn_cli_fail(cli, gnn_fail_memory(&error, 0), &error) : GNN_EXIT_OK;
  if (code == GNN_EXIT_OK) fputs(text.data, stdout);
  gnn_text_free(&text);
  return code;
}

int gnn_command_info(const gnn_cli *cli) {
  const gnn_program *program = cli->program;
  if (cli->is_json) return commands_info_json(cli);
  int64_t count = 0;
  const commands_counts data = commands_of_data(program), planned = commands_planned(program);
  for (int w = 0; w < program->weight_count; w++) count += program->weights[w].is_trained ? program->weights[w].count : 0;
  printf("model        %s, from %s\n", program->name, program->source_name);
  printf("fingerprint  %s\n", program->fingerprint);
  printf("data         %s: %s nodes  %s edges  %lld classes  train/valid/test %s/%s/%s\n", program->data_name,
         gnn_count_text(data.nodes).text, gnn_count_text(data.edges).text, (long long)program->classes,
         gnn_count_text(data.rows[0]).text, gnn_count_text(data.rows[1]).text, gnn_count_text(data.rows[2]).text);
  if (program->batch_graphs) printf("             that is the largest batch of %lld graphs\n", (long long)program->batch_graphs);
  for (int i = 0; i < program->field_count; i++) {
    const gnn_field_desc *field = &program->fields[i];
    printf("             %s %s : ", field->domain == GNN_NODE ? "node" : field->domain == GNN_GRAPH ? "graph" : "edge", field->name);
    if (field->storage == GNN_LABEL) printf("class[%lld]\n", (long long)field->classes);
    else printf("%s[%lld]%s%s\n", field->is_half ? "bf16" : "f32", (long long)field->width, field->storage == GNN_SPARSE ? ", sparse" : "",
                field->is_row_normalised ? ", rows scaled to sum 1" : "");
  }
  if (program->ranks) printf("ranks        %d, of which one has at most %s nodes and %s edges\n", program->ranks->count, gnn_count_text(planned.nodes).text, gnn_count_text(planned.edges).text);
  printf("training     %lld epochs, %lld runs, seed %lld\n", (long long)program->epochs, (long long)program->runs,
         (long long)program->seed);
  if (program->approximation) printf("             %s%s\n", program->approximation, program->ranks ? ", which is not exact" : ": one process has no boundary, this is exact");
  printf("plan         device %s  host %s  ssd %s; %d steps; about %s an epoch (estimated)\n",
         gnn_bytes_text(program->device_bytes).text, gnn_bytes_text(program->host_bytes).text,
         gnn_bytes_text(program->ssd_bytes).text, program->step_count, gnn_seconds_text(program->estimated_epoch_seconds).text);
  if (program->process_bytes) printf("process      %s of memory, %s of addresses\n", gnn_bytes_above_text(program->process_bytes).text, gnn_bytes_above_text(program->address_bytes).text);
  commands_info_builds(cli);
  commands_info_tiers(cli);
  printf("parameters   %s\n", gnn_count_text(count).text);
  for (int w = 0; w < program->weight_count; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    gnn_array shape = {.rank = weight->rank};
    for (int i = 0; i < weight->rank; i++) shape.shape[i] = weight->shape[i];
    printf("             %-32s %s%s\n", weight->name, gnn_shape_text(&shape).text, weight->is_trained ? "" : "  fixed");
  }
  if (program->option_count) printf("options\n");
  for (int i = 0; i < program->option_count; i++)
    printf("             --%s %.9g  %s\n", program->options[i].name, program->options[i].value,
           program->options[i].help ? program->options[i].help : "");
  if (cli->is_verbose) {
    printf("steps\n");
    for (int i = 0; i < program->step_count; i++) {
      const gnn_step_desc *step = &program->steps[i];
      printf("%5d  %-8s %-9s line %-4d %10s  %s\n", step->number, step->lane, step->phase, step->line,
             gnn_bytes_text(step->bytes).text, step->what);
    }
  }
  return GNN_EXIT_OK;
}
