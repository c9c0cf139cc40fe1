/* process: the host's memory that a program takes.
 *
 * Arenas, staging and what data take are counted: the readers of data are the program's own, so reading them here has shown what they need there
 * (DataInfo.loading). Code is not there yet. What is assumed of it was measured with glibc 2.36 on x86-64 (docs/design.md, "The process"). */
#include "process.h"
#include "compiler/graph/learned.h"

#include "runtime/core/blocks.h"
#include "runtime/core/scratch.h"
#include "runtime/gnnrt.h"

enum {
  CODE_BYTES = 15 << 18,       /* of a program without steps: what it and libc and libm have in memory, stacks, what it prints */
  MAPPED_BYTES = 2 << 20,      /* of these and two threads that are addresses only */
  STEP_BYTES = 1 << 9,         /* of the code of each step, that is in memory, */
  IDLE_STEP_BYTES = 1 << 8,    /* and before it runs; */
  STEP_TEXT_BYTES = 1 << 11,   /* beyond these, as addresses */
  WINDOW_BYTES = 1 << 18,      /* of plain files, that are in memory at a time (GNN_READING_BYTES) */
  RANKED_BYTES = 16,           /* of a row, where a metric sorts (runtime/job/scored.h) */
  TURNING_SHARES = 16,         /* numbers go to the SSD turned around, so many at a time: of a share, */
  TURNING_LEAST = 1 << 18      /* or of so many (fill_home_out, fill_columns_home in runtime/data/fill.c) */
};

/* Of the weights on the device, a copy. */
static int64_t best_bytes(const TypedProgram *program, const Residents *residents) {
  int64_t bytes = 0;
  for (int p = 0; p < program->param_count; p++) {
    if (residents->best_away[p] != NO_INDEX) continue;
    const Type *type = &program->params[p].type;
    int64_t numbers = 1;
    for (int d = 0; d < type->rank; d++) numbers *= type->dim[d].size;
    bytes += 4 * numbers;
  }
  return bytes;
}

static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t less(int64_t a, int64_t b) { return a < b ? a : b; }

/* Of data to the SSD or from there: a block of the file and a way to it. */
static int64_t ways_bytes(int ways) { return ways * (GNN_SCRATCH_BLOCK_BYTES + gnn_scratch_buffer_bytes(GNN_SCRATCH_BLOCK_BYTES)); }

enum { COUNTED_BYTES = 16 /* of a canonical block, by an evaluation on a GPU */ };

/* What of the device arena is filled with data: blocks that nothing computes. */
static int64_t filled_bytes(const Residents *residents, BlockKind kind) {
  int64_t bytes = 0;
  for (int b = 0; b < residents->count; b++)
    if (residents->blocks[b].kind == kind && !residents->blocks[b].is_made_before) bytes += residents->blocks[b].bytes;
  return bytes;
}

/* Of the host arena. */
static int64_t loaded_bytes(const Residents *residents) {
  int64_t bytes = residents->away_bytes;
  for (int i = 0; i < residents->away_count; i++)
    if (residents->away[i].tier == TIER_HOST && resident_is_once(residents, i)) bytes -= round_up(residents->away[i].bytes, residents->alignment);
  return bytes;
}

static const Away *away_on_ssd(const Residents *residents, int away) {
  return away != NO_INDEX && residents->away[away].tier == TIER_SSD ? &residents->away[away] : NULL;
}

/* While it is found which rows parts gather of each other: a number for each node, and on their way to the SSD all rows of one direction, and the codes of a part. */
static int64_t halo_filling_bytes(const TypedProgram *program, const Residents *residents) {
  int64_t rows = 0, codes = 0;
  for (int kind = 0; kind < HALO_KINDS; kind++) {
    const Away *away = away_on_ssd(residents, residents->halo_rows_away[kind]);
    if (away) rows = greater(rows, away->bytes);
  }
  const int coded[] = {residents->neighbours_away[END_SRC], residents->neighbours_away[END_DST], residents->edge_codes_away};
  for (int k = 0; k < 3; k++) {
    const Away *away = away_on_ssd(residents, coded[k]);
    if (away) codes = greater(codes, away->bytes >> residents->halo_levels);
  }
  return residents->halo_levels ? 4 * program->info->nodes + rows + codes : 0;
}

/* On their way to the SSD by rows of the other end: of each number that goes together `each` bytes, and where the next one of each row stands. */
static int64_t turning_bytes(int64_t numbers, int64_t each, int64_t rows) {
  const int64_t room = greater(numbers / TURNING_SHARES, TURNING_LEAST);
  return each * less(numbers, room) + 8 * less(rows, room);
}

static int64_t graph_turning_bytes(const TypedProgram *program, const Residents *residents) {
  const int turned[] = {residents->neighbours_away[END_SRC], residents->out_edges_away, residents->edge_ids_away[END_SRC]};
  int64_t bytes = 0;
  for (int k = 0; k < 3; k++) {
    const Away *away = away_on_ssd(residents, turned[k]);
    const int64_t each = k == 0 ? 4 : 8;
    if (away) bytes = greater(bytes, turning_bytes(away->bytes / each, each, program->info->nodes));
  }
  return bytes;
}

/* Beside the data, while the graph goes into the arenas. */
static int64_t graph_filling_bytes(const TypedProgram *program, const Residents *residents) {
  const int64_t of_nodes = 8 * (program->info->nodes + 1); /* what is counted of each node, */
  const bool has_offsets = away_on_ssd(residents, residents->offsets_away[END_SRC]); /* and where the edges of each begin, until all of them are there */
  return (has_offsets ? 2 : 1) * of_nodes + greater(halo_filling_bytes(program, residents), graph_turning_bytes(program, residents));
}

/* While those of sparse features do: where the rows begin, and the entries turned around. */
static int64_t entries_filling_bytes(const Residents *residents, int field) {
  const Away *begins = away_on_ssd(residents, residents->entry_offsets_away[field]);
  const int by_column = residents->sparse[field][5], away = residents->entries_away[field][1][0];
  const Away *on_ssd = away_on_ssd(residents, away);
  int64_t bytes = begins ? begins->bytes : 0;
  if (on_ssd) return bytes + turning_bytes(on_ssd->bytes / 4, 16, residents->blocks[residents->sparse[field][4]].bytes / 8);
  if (by_column != NO_INDEX) bytes += 2 * residents->blocks[by_column].bytes; /* 8 an entry */
  else if (away != NO_INDEX) bytes += 2 * residents->away[away].bytes;
  return bytes;
}

/* Of data that are at home on the SSD; sparse features go two ways there, where entries stand and the numbers. */
static int64_t home_bytes(const Residents *residents) {
  int ways = 0;
  for (int i = 0; i < residents->away_count; i++) {
    const Away *away = &residents->away[i];
    if (away->tier != TIER_SSD || away->is_learned || away->file || i == residents->scores_away || resident_is_once(residents, i)) continue;
    const int needed = away->of == AWAY_ENTRIES ? 2 : 1;
    if (needed > ways) ways = needed;
  }
  return ways_bytes(ways);
}

/* Beside the data, with what of the device arena they have filled: the graph goes there, then the fields as they are read. */
static int64_t filling_bytes(const TypedProgram *program, const Residents *residents, int64_t windows, bool has_arena) {
  int64_t fields = 0;
  for (int f = 0; f < program->field_count; f++) fields = greater(fields, entries_filling_bytes(residents, f));
  const int64_t graph = graph_filling_bytes(program, residents), filled = has_arena ? filled_bytes(residents, BLOCK_GRAPH) : 0;
  return home_bytes(residents) + filled + greater(graph, windows + fields + (has_arena ? filled_bytes(residents, BLOCK_FEATURES) : 0));
}

/* Before there are any data: buffers of the lanes of the SSD; for a GPU all memory of the host that copies touch. */
static int64_t ready_bytes(const Layout *layout, bool is_apart) {
  return layout->staging_bytes + (is_apart ? layout->host_bytes : -2 * layout->ring_bytes);
}

/* Between epochs, of weights that are at home on the SSD: what is read, and what is written (gnn_weight_copy; a checkpoint is only read). */
static int64_t moving_bytes(const Residents *residents) {
  int ways = 0;
  for (int i = 0; i < residents->away_count; i++) {
    const Away *away = &residents->away[i];
    const int needed = away->tier != TIER_SSD || !away->is_learned ? 0 : away->is_copy ? 2 : 1;
    if (needed > ways) ways = needed;
  }
  return ways_bytes(ways);
}

typedef struct RelatedEdges {
  int64_t all, most; /* of all relations at once, and of the one with most */
} RelatedEdges;

/* Of the rank with most. */
static RelatedEdges related_edges(const DataInfo *info) {
  RelatedEdges edges = {0, 0};
  for (int r = 0; r < info->relation_count - info->has_all; r++) { /* the whole graph is not shared out */
    edges.all += info->ranks->most_related[r];
    if (info->ranks->most_related[r] > edges.most) edges.most = info->ranks->most_related[r];
  }
  return edges;
}

/* Where rows of others are drawn: for each row that is sent or gathered whether it is, for each edge that leaves where it leads (runtime/core/boundary.c). */
static int64_t drawing_bytes(const TypedProgram *program) {
  const RankInfo *ranks = program->info->is_of_rank ? program->info->ranks : NULL;
  if (!ranks || program->train.boundary != BOUNDARY_SAMPLE) return 0;
  const int64_t edges = ranks->most_edges + related_edges(program->info).all;
  return ranks->sent[HALO_FOR_SRC] + ranks->sent[HALO_FOR_DST] + ranks->table[HALO_FOR_SRC] + ranks->table[HALO_FOR_DST] + 8 * edges;
}

/* Of a program of ranks: learned values of all nodes, with what the optimiser keeps of them, while they are written. */
static int64_t written_bytes(const TypedProgram *program) {
  int64_t bytes = 0;
  for (int p = 0; program->info->is_of_rank && p < program->param_count; p++) {
    const TypedParam *param = &program->params[p];
    if (param->rows_of == DOMAIN_NONE) continue;
    int64_t own = 4 * typed_rows(program->info->of_all, param->rows_of), copies = 1;
    for (int d = 1; d < param->type.rank; d++) own *= param->type.dim[d].size;
    for (int s = 0; s < MAX_STATES; s++) copies += weight_has_state(program, p, s);
    bytes += own * (copies + (program->has_train && program->train.has_keep));
  }
  return bytes;
}

/* Whether each rank measures the rows of all (gnn_ranks_measure_all). */
static bool ranks_measure_all(const TypedProgram *program) {
  bool is_so = program->has_train && program->exprs[program->result].type.domain != DOMAIN_NODE;
  for (int m = 0; m < program->train.metric_count; m++) is_so |= !gnn_metric_counts(program->train.metrics[m].kind);
  return is_so;
}

/* Of a program of ranks: scores, labels and rows of the splits of all of them, where each measures these. */
static int64_t measured_bytes(const TypedProgram *program) {
  if (!program->info->is_of_rank || !ranks_measure_all(program)) return 0;
  const Type *scores = &program->exprs[program->result].type, *label = &program->fields[program->train.label_field].type;
  int64_t columns = 1, labels = 1;
  for (int d = 0; d < scores->rank; d++) columns *= scores->dim[d].size;
  for (int d = 0; d < label->rank && label->dtype != DTYPE_CLASS; d++) labels *= label->dim[d].size;
  return 4 * typed_rows(program->info->of_all, program->exprs[program->result].type.domain) * (columns + labels + 1);
}

/* Whether a rank keeps edges of its nodes alone (gnn_ranks_own_edges). */
static bool ranks_own_edges(const TypedProgram *program, const Residents *residents) {
  const DataInfo *info = program->info;
  if (program->data->recipe.order != ORDER_GIVEN && residents->edge_id != NO_INDEX) return false;
  return info->is_of_rank && info->loading_of_rank.is_known && !info->has_all && residents->halo[HALO_OF_EDGES].row == NO_INDEX && residents->sets[EDGES_OF_GRAPH].out_edge == NO_INDEX;
}

/* While it finds which rows go to whom. */
static int64_t sharing_bytes(const TypedProgram *program, const Residents *residents) {
  const RankInfo *ranks = program->info->is_of_rank ? program->info->ranks : NULL;
  if (!ranks) return 0;
  if (ranks_own_edges(program, residents)) return ranks->nodes * 3 / 8 + 16 * ranks->most_nodes;
  const RelatedEdges of_relations = related_edges(program->info);
  int64_t rows = ranks->nodes * 3 / 8 + 16 * ranks->most_nodes;
  for (int g = 1; ranks->groups && g < typed_row_groups(program->info) - program->info->has_all; g++) rows += ranks->groups[g].rows * 3 / 8 + 16 * ranks->groups[g].most;
  return rows + 16 * ranks->most_nodes + 28 * (ranks->most_edges + of_relations.most);
}

/* That a metric sorts at a time: of a split. */
static int64_t ranked_rows(const TypedProgram *program) {
  const DataInfo *info = program->info;
  if (info->is_of_rank) return ranks_measure_all(program) ? typed_rows(info->of_all, program->exprs[program->result].type.domain) : info->ranks->most_nodes;
  int64_t rows = 0;
  for (int s = 0; s < SPLIT_COUNT; s++) rows = greater(rows, info->split_count[s]);
  return rows;
}

/* What leaves a rank and what comes; where sums pass so, too, those of all parts, and what an evaluation counts of the canonical blocks. */
int64_t passing_bytes(const TypedProgram *program, const Schedule *schedule, const Machine *machine) {
  const RankInfo *ranks = program->info->is_of_rank ? program->info->ranks : NULL;
  if (!ranks) return 0;
  const bool have_sums = !schedule_passes_directly(schedule, machine);
  int64_t most = have_sums ? COUNTED_BYTES << gnn_block_levels(ranks->nodes) : 0;
  for (int i = 0; i < schedule_step_count(schedule); i++) {
    const Step *step = &schedule->steps[i];
    if (step->kind == STEP_COPY && copy_is_exchange(&schedule->copies[step->copy])) {
      const Copy *copy = &schedule->copies[step->copy];
      if (copy->exchange.passes_host) most = greater(most, copy->bytes + exchange_most_received(copy->kernels, copy_kernel(copy)));
    }
    const Kernel *kernel = step->kind == STEP_KERNEL ? &step->kernels->kernels[step->kernel] : NULL;
    if (have_sums && kernel && kernel_gathers_parts(kernel)) most = greater(most, 4 * shape_width(&step->kernels->graph->values[kernel->anchor].shape) << ranks->part_levels);
  }
  return most;
}

Process process_of(const TypedProgram *program, const Schedule *schedule, const Layout *layout, const Machine *machine, bool is_apart) {
  const DataInfo *info = program->info;
  const Residents *residents = layout->residents;
  const Loading *loading = ranks_own_edges(program, residents) ? &info->loading_of_rank : &info->loading;
  const TrainSpec *train = &program->train;
  const bool stays = program->has_train && (train->batch_graphs || info->fold_count || info->has_pairs);
  const int64_t steps = schedule_step_count(schedule);
  Process p = {.code = CODE_BYTES + steps * STEP_BYTES, .data = train->batch_graphs ? layout->bytes : residents->bytes + residents->early_bytes};
  if (p.data > layout->bytes) p.data = layout->bytes;
  bool is_sorting = false;
  for (int m = 0; m < train->metric_count; m++) is_sorting |= gnn_metric_sorts(train->metrics[m].kind);
  p.running = layout->host_bytes + layout->staging_bytes + (is_apart ? 0 : layout->bytes) + (program->has_train && train->has_keep ? best_bytes(program, residents) : 0) + moving_bytes(residents) +
              (is_sorting ? RANKED_BYTES * ranked_rows(program) : 0) + measured_bytes(program) + drawing_bytes(program) + written_bytes(program) +
              passing_bytes(program, schedule, machine);
  const int64_t windows = less(loading->mapped, WINDOW_BYTES), mapped = stays ? loading->stays : 0;
  const int64_t read_anew = train->batch_graphs ? mapped : less(mapped, WINDOW_BYTES); /* rows of batches anywhere */
  if (stays) p.running += loading->held + read_anew;
  const int64_t ready = ready_bytes(layout, is_apart), loaded = is_apart ? 0 : loaded_bytes(residents);
  const int64_t beside = ready + loading->held + loaded + sharing_bytes(program, residents) + measured_bytes(program) + drawing_bytes(program);
  if (loading->is_known) p.loading = greater(ready + windows + loading->most, beside + filling_bytes(program, residents, windows, true));
  p.addresses = p.code + MAPPED_BYTES + steps * STEP_TEXT_BYTES +
                greater(p.running + mapped - read_anew, p.loading ? greater(p.loading, beside + filling_bytes(program, residents, windows, false) + p.data) + loading->mapped : 0);
  if (p.loading + IDLE_STEP_BYTES * steps > p.running + STEP_BYTES * steps) p.code = CODE_BYTES + IDLE_STEP_BYTES * steps;
  p.resident = p.code + greater(p.running, p.loading);
  return p;
}
