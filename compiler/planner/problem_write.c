/* Writes gnncc-problem/1. What has its default is left out, as a person would. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"

static json_t *integer(int64_t number) { return json_integer((json_int_t)number); }

/* Of all chunks, or the list of each, where there is one. */
static json_t *amounts(int64_t all, const int64_t *each, int chunks) {
  if (!each) return integer(all);
  json_t *list = json_array();
  for (int k = 0; k < chunks; k++) json_array_append_new(list, integer(each[k]));
  return list;
}

static json_t *hardware(const Problem *p) {
  json_t *lanes = json_object();
  for (int c = 0; c < p->lane_count; c++) {
    const ProblemLane *lane = &p->lanes[c];
    if (lane->is_present) json_object_set_new(lanes, lane->name, json_pack("{s:I, s:I}", "bw", (json_int_t)lane->bandwidth, "lat_ns", (json_int_t)lane->latency_ns));
  }
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "device_bytes", (json_int_t)p->device_bytes, "host_bytes", (json_int_t)p->host_bytes, "ssd_bytes",
                   (json_int_t)p->ssd_bytes, "ring_bytes", (json_int_t)p->ring_bytes, "devices", (json_int_t)p->devices, "channels", lanes);
}

static json_t *fates_list(unsigned fates) {
  json_t *list = json_array();
  for (int f = 0; f < FATE_COUNT; f++)
    if (fates & FATE_BIT(f)) json_array_append_new(list, json_string(fate_keys[f]));
  return list;
}

static json_t *datum(const ProblemDatum *d) {
  json_t *item = json_pack("{s:s, s:o}", "id", d->id, "bytes", amounts(d->bytes, d->chunk_bytes, d->chunks)), *homes = d->chunk_home ? json_array() : NULL;
  if (d->chunks != 1) json_object_set_new(item, "chunks", integer(d->chunks));
  for (int k = 0; homes && k < d->chunks; k++) json_array_append_new(homes, json_string(tier_names[d->chunk_home[k]]));
  if (homes) json_object_set_new(item, "home", homes);
  else if (d->home != TIER_NONE) json_object_set_new(item, "home", json_string(tier_names[d->home]));
  json_t *ends = d->is_final && d->chunk_end ? json_array() : NULL;
  for (int k = 0; ends && k < d->chunks; k++) json_array_append_new(ends, json_string(tier_names[d->chunk_end[k]]));
  if (d->is_final) json_object_set_new(item, "final", ends ? ends : d->home == TIER_NONE && d->end == TIER_SSD ? json_string(tier_names[TIER_SSD]) : json_true());
  if (d->fates != FATE_ALL) json_object_set_new(item, "fates", fates_list(d->fates));
  if (d->role != ROLE_OTHER) json_object_set_new(item, "role", json_string(role_names[d->role]));
  return item;
}

static json_t *chunk_lists(const ProblemAccess *access, int chunks) {
  json_t *lists = json_array();
  for (int k = 0; k < chunks; k++) {
    json_t *list = json_array();
    for (int i = access->list_start[k]; i < access->list_start[k + 1]; i++) json_array_append_new(list, integer(access->list[i]));
    json_array_append_new(lists, list);
  }
  return lists;
}

static json_t *accesses(const Problem *p, const ProblemOp *op, const ProblemAccess *list, int count) {
  json_t *items = json_array();
  for (int i = 0; i < count; i++) {
    const char *id = p->data[list[i].datum].id;
    json_t *how = NULL;
    switch (list[i].kind) {
    case PROBLEM_ACCESS_DEFAULT: break;
    case PROBLEM_ACCESS_ROW: how = json_string("row"); break;
    case PROBLEM_ACCESS_ALL: how = json_string("all"); break;
    case PROBLEM_ACCESS_LIST: how = chunk_lists(&list[i], op->chunks); break;
    }
    if (!how && !list[i].over) {
      json_array_append_new(items, json_string(id));
      continue;
    }
    json_t *item = json_pack("{s:s}", "data", id);
    if (how) json_object_set_new(item, "access", how);
    if (list[i].over) json_object_set_new(item, "over", json_string(p->data[list[i].over - 1].id));
    json_array_append_new(items, item);
  }
  return items;
}

static json_t *variant(const Problem *p, const ProblemVariant *v, int chunks) {
  json_t *stages = json_array();
  for (int i = 0; i < v->stage_count; i++) {
    const ProblemStage *s = &v->stages[i];
    json_array_append_new(stages, json_pack("{s:s, s:o}", "ch", p->lanes[s->lane].name, s->is_bytes ? "bytes" : "ns", amounts(s->amount, s->chunk_amounts, chunks)));
  }
  json_t *item = json_pack("{s:s, s:o}", "name", v->name, "stages", stages);
  if (v->work_bytes) json_object_set_new(item, "work", integer(v->work_bytes));
  if (v->host_work_bytes) json_object_set_new(item, "host_work", integer(v->host_work_bytes));
  return item;
}

/* What "ns" and "work" say without a list of variants. */
static bool is_plain(const ProblemOp *op) {
  const ProblemVariant *v = &op->variants[0];
  return op->variant_count == 1 && v->stage_count == 1 && v->stages[0].lane == LANE_COMPUTE && v->host_work_bytes == 0 && strcmp(v->name, "default") == 0;
}

static json_t *operation(const Problem *p, const ProblemOp *op) {
  static const char *const phases[] = {"fwd", "bwd", "opt"};
  json_t *item = json_pack("{s:s, s:s}", "id", op->id, "phase", phases[op->phase]);
  if (op->chunks != 1) json_object_set_new(item, "chunks", integer(op->chunks));
  json_object_set_new(item, "reads", accesses(p, op, op->reads, op->read_count));
  json_object_set_new(item, "writes", accesses(p, op, op->writes, op->write_count));
  if (op->can_recompute != (op->phase == PROBLEM_PHASE_FORWARD)) json_object_set_new(item, "recompute", json_boolean(op->can_recompute));
  if (is_plain(op)) {
    json_object_set_new(item, "ns", amounts(op->variants[0].stages[0].amount, op->variants[0].stages[0].chunk_amounts, op->chunks));
    json_object_set_new(item, "work", integer(op->variants[0].work_bytes));
    return item;
  }
  json_t *variants = json_array();
  for (int v = 0; v < op->variant_count; v++) json_array_append_new(variants, variant(p, &op->variants[v], op->chunks));
  json_object_set_new(item, "variants", variants);
  return item;
}

char *problem_write_json(const Problem *p, const ProblemMeta *meta, Arena *arena, size_t *length) {
  json_t *data = json_array(), *ops = json_array(), *order = json_array(), *notes = json_object();
  for (int i = 0; i < p->datum_count; i++) json_array_append_new(data, datum(&p->data[i]));
  for (int i = 0; i < p->op_count; i++) json_array_append_new(ops, operation(p, &p->ops[i]));
  for (int i = 0; i < p->order_count; i++) json_array_append_new(order, json_pack("[s, i]", p->ops[p->order[2 * i]].id, p->order[2 * i + 1]));
  for (int i = 0; i < meta->count; i++) json_object_set_new(notes, meta->pairs[i].key, json_string(meta->pairs[i].text));
  json_t *root = json_pack("{s:s, s:s, s:o, s:o, s:o}", "format", "gnncc-problem/1", "name", p->name, "hardware", hardware(p), "data", data, "ops", ops);
  if (root && p->order_count) json_object_set(root, "order", order);
  if (root && meta->count) json_object_set(root, "meta", notes);
  char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL, *kept = text ? arena_printf(arena, "%s\n", text) : NULL;
  *length = kept ? strlen(kept) : 0;
  free(text);
  json_decref(order);
  json_decref(notes);
  json_decref(root);
  return kept;
}
