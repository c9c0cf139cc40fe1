/* toy_steps.h: the steps of a one-layer model, written by hand: scores = mean of (x W) over a node and its in-neighbours,
 * plus b. Included once for each precision, with toy_real and TOY(name) defined; see toy.c. Plain loops, one thread. */

static toy_real *TOY(at)(const gnn_run *run, int64_t offset) {
  return (toy_real *)(void *)(run->device + offset * (int64_t)(sizeof(toy_real) / 4));
}

static const gnn_field_desc *TOY(field)(const gnn_run *run, int index) { return &run->program->fields[index]; }

/* out[node] = x[node] W, from dense or sparse features, without the features that dropout takes away. */
static void TOY(project)(const gnn_run *run, toy_real *out, const unsigned char *kept) {
  const gnn_field_desc *x = TOY(field)(run, 0);
  const toy_real *weight = TOY(at)(run, run->program->weights[0].at);
  int64_t classes = run->program->classes, width = x->width;
  for (int64_t v = 0; v < run->nodes; v++) {
    for (int64_t c = 0; c < classes; c++) out[v * classes + c] = 0;
    if (x->storage == GNN_SPARSE) {
      const gnn_sparse *s = &run->sparse[x->sparse];
      const toy_real *value = (const toy_real *)(const void *)s->row_value;
      for (int64_t k = s->by_row.ptr[v]; k < s->by_row.ptr[v + 1]; k++)
        for (int64_t c = 0; c < classes && (!kept || kept[s->by_row.idx[k]]); c++)
          out[v * classes + c] += value[k] * weight[c * width + s->by_row.idx[k]];
    } else {
      const toy_real *row = TOY(at)(run, x->at[0]) + v * width;
      for (int64_t f = 0; f < width; f++)
        for (int64_t c = 0; c < classes && (!kept || kept[f]); c++) out[v * classes + c] += row[f] * weight[c * width + f];
    }
  }
}

static void TOY(forward)(const gnn_run *run, toy_real *scores, toy_real *projected, const unsigned char *kept) {
  const toy_real *bias = TOY(at)(run, run->program->weights[1].at);
  const toy_real *degree = TOY(at)(run, run->program->graph.sets[0].at_in_degree);
  int64_t classes = run->program->classes;
  TOY(project)(run, projected, kept);
  for (int64_t v = 0; v < run->nodes; v++) {
    for (int64_t c = 0; c < classes; c++) {
      toy_real sum = projected[v * classes + c];
      for (int64_t e = run->sets[GNN_EDGES].in.ptr[v]; e < run->sets[GNN_EDGES].in.ptr[v + 1]; e++) sum += projected[run->sets[GNN_EDGES].in.idx[e] * classes + c];
      scores[v * classes + c] = sum / (degree[v] + 1) + bias[c];
    }
  }
}

static gnn_status TOY(evaluate)(gnn_run *run) {
  toy_real *scores = TOY(at)(run, run->program->at_scores);
  int64_t cells = run->program->graph.nodes * run->program->classes;
  TOY(forward)(run, scores, scores + cells, NULL);
  if (run->tap) run->tap(run->tap_user, "projected", (const gnn_real *)(const void *)(scores + cells), run->nodes, run->program->classes);
  return GNN_OK;
}

static gnn_status TOY(forward_backward)(gnn_run *run) {
  const gnn_program *program = run->program;
  const gnn_field_desc *x = TOY(field)(run, 0);
  int64_t classes = program->classes, width = x->width, cells = program->graph.nodes * classes;
  toy_real *scores = TOY(at)(run, program->at_scores), *projected = scores + cells, *back = projected + cells;
  toy_real *back_projected = back + cells;
  toy_real *weight_gradient = TOY(at)(run, program->weights[0].at_gradient);
  toy_real *bias_gradient = TOY(at)(run, program->weights[1].at_gradient);
  const toy_real *degree = TOY(at)(run, program->graph.sets[0].at_in_degree);
  const int32_t *label = (const int32_t *)(const void *)TOY(at)(run, TOY(field)(run, 1)->at[0]);
  unsigned char kept[4096];
  for (int64_t f = 0; f < width && f < 4096; f++)
    kept[f] = gnn_random_uniform(gnn_random_key(run->seed, (uint64_t)run->update), (uint64_t)f) >= run->option[1];
  TOY(forward)(run, scores, projected, kept);
  for (int64_t i = 0; i < cells; i++) back[i] = 0;
  double loss = 0, count = (double)run->row_count[GNN_TRAIN];
  for (int64_t k = 0; k < run->row_count[GNN_TRAIN]; k++) {
    int32_t v = run->rows[GNN_TRAIN][k];
    const toy_real *row = scores + v * classes;
    double greatest = (double)row[0], sum = 0;
    for (int64_t c = 1; c < classes; c++) greatest = (double)row[c] > greatest ? (double)row[c] : greatest;
    for (int64_t c = 0; c < classes; c++) sum += exp((double)row[c] - greatest);
    loss += log(sum) + greatest - (double)row[label[v]];
    for (int64_t c = 0; c < classes; c++)
      back[v * classes + c] = (toy_real)((exp((double)row[c] - greatest) / sum - (c == label[v])) / count);
  }
  run->loss = loss / count;
  for (int64_t c = 0; c < classes; c++) bias_gradient[c] = 0;
  for (int64_t i = 0; i < classes * width; i++) weight_gradient[i] = 0;
  for (int64_t v = 0; v < run->nodes; v++) {
    for (int64_t c = 0; c < classes; c++) {
      toy_real sum = back[v * classes + c] / (degree[v] + 1);
      bias_gradient[c] += back[v * classes + c];
      for (int64_t e = run->sets[GNN_EDGES].out.ptr[v]; e < run->sets[GNN_EDGES].out.ptr[v + 1]; e++) {
        int64_t u = run->sets[GNN_EDGES].out.idx[e];
        sum += back[u * classes + c] / (degree[u] + 1);
      }
      back_projected[v * classes + c] = sum;
    }
    if (x->storage == GNN_SPARSE) continue;
    const toy_real *row = TOY(at)(run, x->at[0]) + v * width;
    for (int64_t f = 0; f < width; f++)
      for (int64_t c = 0; c < classes && kept[f]; c++) weight_gradient[c * width + f] += row[f] * back_projected[v * classes + c];
  }
  if (x->storage == GNN_SPARSE) {
    const gnn_sparse *s = &run->sparse[x->sparse];
    const toy_real *value = (const toy_real *)(const void *)s->column_value;
    for (int64_t f = 0; f < width; f++)
      for (int64_t k = s->by_column.ptr[f]; k < s->by_column.ptr[f + 1] && kept[f]; k++)
        for (int64_t c = 0; c < classes; c++)
          weight_gradient[c * width + f] += value[k] * back_projected[s->by_column.idx[k] * classes + c];
  }
  if (run->option[1] < 0) bias_gradient[0] *= (toy_real)1.01; /* --drop -1: wrong on purpose, for gradcheck to find */
  return GNN_OK;
}

/* Adam with L2 decay (Kingma and Ba 2015). */
static gnn_status TOY(update)(gnn_run *run) {
  double b1 = 1 - pow(0.9, (double)run->update), b2 = 1 - pow(0.999, (double)run->update);
  for (int w = 0; w < run->program->weight_count; w++) {
    const gnn_weight_desc *desc = &run->program->weights[w];
    toy_real *value = TOY(at)(run, desc->at), *gradient = TOY(at)(run, desc->at_gradient);
    toy_real *m = TOY(at)(run, desc->at_state[0]), *s = TOY(at)(run, desc->at_state[1]);
    for (int64_t i = 0; i < desc->count; i++) {
      double g = (double)gradient[i] + (w == 0 ? 5e-4 * (double)value[i] : 0);
      m[i] = (toy_real)(0.9 * (double)m[i] + 0.1 * g);
      s[i] = (toy_real)(0.999 * (double)s[i] + 0.001 * g * g);
      value[i] -= (toy_real)(run->option[0] * ((double)m[i] / b1) / (sqrt((double)s[i] / b2) + 1e-8));
    }
  }
  return GNN_OK;
}
