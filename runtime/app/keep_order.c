/* keep_order.c: does the plan give the bits of the order that keeps everything? */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "keep_order.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "train.h"
#include "runtime/job/epoch.h"
#include "runtime/core/bad_value.h"
#include "runtime/core/device.h"
#include "runtime/core/weights.h"

int gnn_keeps_all(const gnn_program *program) {
  for (int s = 0; s < program->step_count + program->once_count; s++)
    if (strcmp(program->steps[s].phase, "recompute") == 0) return 0;
  return program->copy_count == 0;
}

static void keeping_takes_halos(gnn_program *program, const gnn_keep_order *order) {
  for (int h = 0; h < GNN_HALOS; h++) {
    struct gnn_halo_desc *halo = &program->graph.halo[h];
    if (order->at_halo_rows[h] < 0) continue;
    halo->is_row_on_host = 0;
    halo->row_home = (gnn_side){0};
    halo->at_row = order->at_halo_rows[h];
  }
  struct gnn_halo_desc *edges = &program->graph.halo[GNN_HALO_EDGES];
  if (order->at_edge_codes < 0) return;
  edges->is_code_on_host = 0;
  edges->code_home = (gnn_side){0};
  edges->at_code = order->at_edge_codes;
}

gnn_status gnn_keeping_create(gnn_keeping *keeping, const gnn_program *program, gnn_error *error) {
  const gnn_keep_order *order = program->keep_order;
  const size_t bytes = (size_t)program->weight_count * sizeof *keeping->weights;
  keeping->program = *program;
  gnn_program *p = &keeping->program;
  p->weights = keeping->weights = malloc(bytes + 1);
  p->device_bytes = p->data_bytes = order->device_bytes;
  p->host_bytes = p->ssd_bytes = p->ring_bytes = 0;
  p->copy_count = p->extent_count = p->is_simulated = 0;
  p->at_scores = order->at_scores;
  p->scores_tier = GNN_DEVICE;
  p->scores_copies = 0;
  p->forward_backward = order->forward_backward;
  p->update = order->update;
  p->evaluate = order->evaluate;
  p->once = order->once;
  const size_t field_bytes = (size_t)program->field_count * sizeof *keeping->fields;
  p->fields = keeping->fields = malloc(field_bytes + 1);
  const size_t set_bytes = (size_t)program->graph.set_count * sizeof *keeping->sets;
  p->graph.sets = keeping->sets = malloc(set_bytes + 1);
  if (keeping->weights == NULL || keeping->fields == NULL || keeping->sets == NULL) return gnn_fail_memory(error, (int64_t)(bytes + field_bytes + set_bytes));
  if (field_bytes) memcpy(keeping->fields, program->fields, field_bytes);
  for (int i = 0; i < order->moved_count; i++) {
    gnn_field_desc *field = &keeping->fields[order->moved[i].field];
    field->is_on_host = 0;
    field->home = (gnn_side){0};
    if (field->storage != GNN_SPARSE) field->at[0] = order->moved[i].at[0];
    if (order->moved[i].at_ptr >= 0) {
      field->is_ptr_on_host = 0;
      field->ptr_home = (gnn_side){0};
      field->at[0] = order->moved[i].at_ptr;
    }
    for (int k = 0; field->storage == GNN_SPARSE && k < 4; k++) {
      field->entries_home[k] = (gnn_side){0};
      field->at[gnn_entries_at[k]] = order->moved[i].at[k];
    }
  }
  if (set_bytes) memcpy(keeping->sets, program->graph.sets, set_bytes);
  if (order->has_moved_graph) {
    gnn_edge_set_desc *edges = &keeping->sets[GNN_EDGES];
    edges->is_idx_on_host = 0;
    edges->in_home = edges->out_home = edges->in_degree_home = edges->out_degree_home = (gnn_side){0};
    edges->at_in_idx = order->at_in_idx;
    edges->at_out_idx = order->at_out_idx;
    edges->at_in_degree = order->at_in_degree;
    edges->at_out_degree = order->at_out_degree;
  }
  if (order->has_moved_offsets) {
    gnn_edge_set_desc *edges = &keeping->sets[GNN_EDGES];
    edges->is_ptr_on_host = 0;
    edges->in_ptr_home = edges->out_ptr_home = (gnn_side){0};
    edges->at_in_ptr = order->at_in_ptr;
    edges->at_out_ptr = order->at_out_ptr;
  }
  if (order->has_moved_edges) {
    keeping->sets[GNN_EDGES].out_edge_home = (gnn_side){0};
    keeping->sets[GNN_EDGES].at_out_edge = order->at_out_edge;
  }
  if (order->has_moved_rows) {
    p->graph.are_rows_on_host = 0;
    memcpy(p->graph.at_rows, order->at_rows, sizeof p->graph.at_rows);
  }
  if (order->has_moved_ids) {
    p->graph.is_node_id_on_host = 0;
    p->graph.node_id_home = (gnn_side){0};
    p->graph.at_node_id = order->at_node_id;
  }
  if (order->has_moved_edge_ids) {
    p->graph.is_edge_id_on_host = p->graph.is_out_edge_id_on_host = 0;
    p->graph.edge_id_home = p->graph.out_edge_id_home = (gnn_side){0};
    p->graph.at_edge_id = order->at_edge_id;
    p->graph.at_out_edge_id = order->at_out_edge_id;
  }
  if (order->has_moved_halos) keeping_takes_halos(p, order);
  for (int w = 0; w < program->weight_count; w++) {
    keeping->weights[w] = program->weights[w];
    keeping->weights[w].at_gradient = -1; /* the plan's place */
    keeping->weights[w].gradient_part_count = 0;
  }
  for (int i = 0; i < order->moved_weight_count; i++) {
    const gnn_moved_weight *moved = &order->moved_weights[i];
    gnn_weight_desc *weight = &keeping->weights[moved->weight];
    weight->is_on_host = 0;
    weight->home = (gnn_side){0};
    weight->at = moved->at;
    memcpy(weight->at_state, moved->at_state, sizeof weight->at_state);
  }
  return GNN_OK;
}

void gnn_keeping_destroy(gnn_keeping *keeping) {
  free(keeping->weights);
  free(keeping->fields);
  free(keeping->sets);
}

/* ---- what epochs leave behind ---- */

gnn_status gnn_trail_create(gnn_trail *trail, const gnn_program *program, int64_t epochs, gnn_error *error) {
  *trail = (gnn_trail){.epochs = epochs};
  for (int w = 0; w < program->weight_count; w++) trail->sum_count += 1 + program->weights[w].state_count;
  trail->loss = calloc((size_t)epochs + 1, sizeof *trail->loss);
  trail->sums = calloc((size_t)trail->sum_count + 1, sizeof *trail->sums);
  return trail->loss && trail->sums ? GNN_OK : gnn_fail_memory(error, 4 * trail->sum_count + 8 * epochs);
}

void gnn_trail_destroy(gnn_trail *trail) {
  free(trail->loss);
  free(trail->sums);
}

gnn_status gnn_trail_epoch(gnn_instance *instance, gnn_error *error) {
  gnn_status status = gnn_train_epoch(instance);
  if (status == GNN_OK) return status;
  return gnn_epoch_failed(instance, status, error);
}

typedef struct trail_sum {
  uint32_t *sum;
  int real_bytes;
} trail_sum;

static gnn_status trail_add(void *context, void *numbers, int64_t first, int64_t count) {
  const trail_sum *adding = context;
  (void)first;
  *adding->sum = (uint32_t)crc32_z(*adding->sum, numbers, (size_t)(count * adding->real_bytes));
  return GNN_OK;
}

gnn_status gnn_trail_take(gnn_trail *trail, const gnn_instance *instance, gnn_error *error) {
  const gnn_program *program = instance->run.program;
  uint32_t *sum = trail->sums;
  gnn_status status = gnn_download_weights(instance, 1, error);
  for (int w = 0; w < program->weight_count; w++) {
    const gnn_weight_desc *weight = &program->weights[w];
    for (int s = GNN_WEIGHT_ITSELF; s < weight->state_count; s++, sum++) {
      trail_sum adding = {sum, program->real_bytes};
      *sum = 0;
      if (status == GNN_OK) status = gnn_weight_walk(instance, weight, s, GNN_WEIGHT_READ, trail_add, &adding, error);
    }
  }
  return status;
}

gnn_status gnn_trail_run(gnn_trail *trail, gnn_instance *instance, gnn_error *error) {
  gnn_status status = GNN_OK;
  for (int64_t e = 0; e < trail->epochs && status == GNN_OK; e++) {
    status = gnn_trail_epoch(instance, error);
    trail->loss[e] = instance->run.loss;
  }
  if (status == GNN_OK && (status = gnn_evaluate(instance, trail->result)) != GNN_OK)
    gnn_step_failed(instance, status, error, "", "the evaluation failed");
  return status;
}

static gnn_status trail_differs(gnn_error *error, const char *what, const char *which) {
  gnn_status status = gnn_fail(error, GNN_EVERSION, "", "%s%s differ from those of the keep-everything order", what, which);
  gnn_fail_help(error, "every plan must give the same bits: this is a bug in gnncc, or memory of this machine that does not keep what is written");
  return status;
}

gnn_status gnn_trail_agrees(const gnn_trail *planned, const gnn_trail *kept, const gnn_program *program, gnn_error *error) {
  for (int64_t e = 0; e < planned->epochs; e++) {
    if (memcmp(&planned->loss[e], &kept->loss[e], sizeof *planned->loss) == 0) continue;
    gnn_text text = {0};
    gnn_text_format(&text, " of epoch %lld (%.17g and %.17g)", (long long)e + 1, gnn_shown(planned->loss[e]), gnn_shown(kept->loss[e]));
    gnn_status status = trail_differs(error, "the losses", text.data ? text.data : "");
    gnn_text_free(&text);
    return status;
  }
  for (int64_t w = 0, at = 0; w < program->weight_count; at += 1 + program->weights[w].state_count, w++)
    if (memcmp(planned->sums + at, kept->sums + at, (size_t)(1 + program->weights[w].state_count) * sizeof *kept->sums) != 0)
      return trail_differs(error, "the bits of the weight ", program->weights[w].name);
  for (int s = 0; s < GNN_SPLIT_COUNT; s++)
    if (memcmp(&planned->result[s], &kept->result[s], sizeof planned->result[s]) != 0)
      return trail_differs(error, "the scores of split ", gnn_split_names[s]);
  return GNN_OK;
}
