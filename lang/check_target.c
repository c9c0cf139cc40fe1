/* check_target: machines: target blocks. */
#include <string.h>

#include "check.h"
#include "rates.h"
#include "syntax.h"

/* What may stand in a block of a target. Facts that no pass reads yet (lanes, fp16) are checked and kept to the text. */
typedef enum SettingKind { SETTING_QUANTITY, SETTING_COUNT, SETTING_WORD, SETTING_TEXT, SETTING_FLAG } SettingKind;

typedef struct Setting {
  const char *key;
  SettingKind kind;
  UnitKind unit;
} Setting;

static const Setting device_settings[] = {
    {"kind", SETTING_WORD, 0},      {"count", SETTING_COUNT, 0},
    {"memory", SETTING_QUANTITY, UNIT_BYTES},    {"reserve", SETTING_QUANTITY, UNIT_BYTES},
    {"bandwidth", SETTING_QUANTITY, UNIT_BYTES_PER_SECOND}, {"fp32", SETTING_QUANTITY, UNIT_FLOP_PER_SECOND},
    {"tf32", SETTING_QUANTITY, UNIT_FLOP_PER_SECOND},       {"bf16", SETTING_QUANTITY, UNIT_FLOP_PER_SECOND},
    {"fp16", SETTING_QUANTITY, UNIT_FLOP_PER_SECOND},       {"fp64", SETTING_QUANTITY, UNIT_FLOP_PER_SECOND},
    {"threads", SETTING_COUNT, 0},
};
static const Setting tier_settings[] = {
    {"capacity", SETTING_QUANTITY, UNIT_BYTES}, {"budget", SETTING_QUANTITY, UNIT_BYTES}, {"pinned", SETTING_QUANTITY, UNIT_BYTES},
    {"path", SETTING_TEXT, 0},
};
static const Setting link_settings[] = {
    {"bandwidth", SETTING_QUANTITY, UNIT_BYTES_PER_SECOND}, {"read", SETTING_QUANTITY, UNIT_BYTES_PER_SECOND},
    {"write", SETTING_QUANTITY, UNIT_BYTES_PER_SECOND},     {"latency", SETTING_QUANTITY, UNIT_SECONDS},
    {"both", SETTING_QUANTITY, UNIT_BYTES_PER_SECOND},      {"slowdown", SETTING_QUANTITY, UNIT_SHARE},
    {"lanes", SETTING_WORD, 0}, {"duplex", SETTING_FLAG, 0}, {"kind", SETTING_WORD, 0},
};
#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

typedef struct SettingValue {
  double number;
  const char *text;
} SettingValue;

static const char *unit_suffix(UnitKind kind) {
  static const char *const suffixes[] = {"GiB", "GB/s", "us", "TFLOP/s", "%"};
  return suffixes[kind];
}

bool check_quantity(Checker *checker, const Expr *expr, const char *key, UnitKind kind, double *number) {
  const Unit *unit = expr->kind == EXPR_QUANTITY ? unit_find(expr->text) : NULL;
  if (unit && unit->kind == kind) {
    *number = expr->number * unit->factor;
    if (*number < 9.2e18) return true;
    diags_error(checker->diags, "E0113", expr->span.place, "%s is too large", ast_expr_text(checker->arena, expr));
    return false;
  }
  if (expr->kind == EXPR_NUMBER && expr->number == 0) {
    *number = 0;
    return true;
  }
  if (expr->kind == EXPR_NUMBER)
    diags_error(checker->diags, "E0508", expr->span.place, "%s = %s has no unit; did you mean %s%s?", key, expr->text, expr->text, unit_suffix(kind));
  else
    diags_error(checker->diags, "E0508", expr->span.place, "%s must be %s; %s is not", key, unit_kind_name(kind), ast_expr_text(checker->arena, expr));
  return false;
}

static const Setting *find_setting(Checker *checker, const ConfStmt *stmt, const Setting *table, int count, const char *where) {
  const char *names[16];
  for (int i = 0; i < count; i++) {
    names[i] = table[i].key;
    if (strcmp(table[i].key, stmt->key) != 0) continue;
    if (stmt->value && !stmt->word) return &table[i];
    diags_error(checker->diags, "E0217", stmt->key_place, "\"%s\" takes a value: %s = ...", stmt->key, stmt->key);
    return NULL;
  }
  diags_error(checker->diags, "E0217", stmt->key_place, "unknown %s setting \"%s\"%s", where, stmt->key, check_nearest(checker, stmt->key, names, count, "\""));
  check_fix_nearest(checker, stmt->key_place, stmt->key, names, count);
  return NULL;
}

static bool read_setting(Checker *checker, const Setting *setting, const Expr *expr, SettingValue *value) {
  *value = (SettingValue){.text = ""};
  switch (setting->kind) {
  case SETTING_QUANTITY: return check_quantity(checker, expr, setting->key, setting->unit, &value->number);
  case SETTING_WORD:
    value->text = ast_expr_text(checker->arena, expr);
    return true;
  case SETTING_TEXT:
    value->text = expr->text;
    if (expr->kind == EXPR_STRING) return true;
    break;
  case SETTING_FLAG:
    if (expr->kind == EXPR_BOOL) return true;
    break;
  case SETTING_COUNT: {
    Value number = check_const_expr(checker, expr);
    value->number = number.number;
    if (number.kind == VALUE_NONE) return false;
    if (number.kind == VALUE_NUMBER && check_is_whole(number.number) && number.number >= 1 && number.number < 1e6) return true;
    break;
  }
  }
  static const char *const wanted[] = {"", "a whole number of at least 1", "", "a text in quotes", "true or false"};
  diags_error(checker->diags, "E0508", expr->span.place, "%s must be %s", setting->key, wanted[setting->kind]);
  return false;
}

/* ---- measured rates ---- */

static const RateSetting *find_rate(Checker *checker, const ConfStmt *stmt) {
  Suggest suggest = {.wanted = stmt->key};
  const RateSetting *setting;
  for (int i = 0; (setting = rate_setting(i)); i++) {
    suggest_offer(&suggest, setting->name);
    if (strcmp(setting->name, stmt->key) != 0) continue;
    if (stmt->value && !stmt->word) return setting;
    diags_error(checker->diags, "E0217", stmt->key_place, "\"%s\" takes a value: %s = ...", stmt->key, stmt->key);
    return NULL;
  }
  diags_error(checker->diags, "E0217", stmt->key_place, "unknown rate \"%s\"%s", stmt->key, suggest_text(checker->arena, &suggest, "\""));
  return NULL;
}

static bool positive_quantity(Checker *checker, const Expr *expr, const RateSetting *setting, double *number) {
  if (!check_quantity(checker, expr, setting->name, setting->unit, number)) return false;
  if (*number > 0) return true;
  diags_error(checker->diags, "E0508", expr->span.place, "%s must be more than 0", setting->name);
  return false;
}

static void check_rate_list(Checker *checker, const ConfStmt *stmt, const RateSetting *setting, DeviceRates *rates) {
  const Expr *list = stmt->value;
  double *numbers = rate_numbers(rates, setting);
  bool is_sizes = numbers == rates->sizes;
  int count = list->kind == EXPR_LIST ? list->arg_count : 0;
  if (count < 1 || count > RATE_SIZES_MAX || (!is_sizes && count != rates->size_count)) {
    if (is_sizes) diags_error(checker->diags, "E0509", list->span.place, "sizes must be a list of 1 to %d sizes", RATE_SIZES_MAX);
    else diags_error(checker->diags, "E0509", list->span.place, "%s must be a list of as many numbers as sizes before it has (%d)", stmt->key, rates->size_count);
    return;
  }
  for (int i = 0; i < count; i++) {
    if (!positive_quantity(checker, list->args[i].value, setting, &numbers[i])) return;
    if (!is_sizes || i == 0 || numbers[i] > numbers[i - 1]) continue;
    diags_error(checker->diags, "E0508", list->args[i].value->span.place, "sizes must ascend");
    return;
  }
  if (is_sizes) rates->size_count = count;
}

static void check_rates(Checker *checker, const Conf *body, DeviceRates *rates) {
  for (int i = 0; i < body->count; i++) {
    const ConfStmt *stmt = body->stmts[i];
    const RateSetting *setting = *stmt->key ? find_rate(checker, stmt) : NULL;
    if (!setting) continue;
    if (setting->is_list) check_rate_list(checker, stmt, setting, rates);
    else positive_quantity(checker, stmt->value, setting, rate_numbers(rates, setting));
  }
}

/* ---- device, tiers, links ---- */

static void check_device(Checker *checker, TargetSpec *target, const ConfStmt *stmt) {
  target->device = stmt->word;
  for (int i = 0; i < stmt->body->count; i++) {
    const ConfStmt *s = stmt->body->stmts[i];
    if (strcmp(s->key, "rates") == 0 && s->body && !s->word) {
      check_rates(checker, s->body, &target->rates);
      continue;
    }
    const Setting *setting = find_setting(checker, s, device_settings, COUNT(device_settings), "device");
    SettingValue value;
    if (!setting || !read_setting(checker, setting, s->value, &value)) continue;
    if (strcmp(s->key, "kind") == 0) {
      bool is_cuda = strncmp(value.text, "cuda(", 5) == 0;
      if (!is_cuda && strcmp(value.text, "cpu") != 0 && strcmp(value.text, "cuda") != 0)
        diags_error(checker->diags, "E0508", s->value->span.place, "the kind of a device is cpu or cuda(sm_80), not %s", value.text);
      target->kind = value.text;
    }
    if (strcmp(s->key, "count") == 0) target->count = (int)value.number;
    if (strcmp(s->key, "memory") == 0) target->device_bytes = (int64_t)value.number;
    if (strcmp(s->key, "reserve") == 0) target->reserve_bytes = (int64_t)value.number;
    if (strcmp(s->key, "bandwidth") == 0) target->device_bandwidth = value.number;
    if (strcmp(s->key, "fp32") == 0) target->fp32_flops = value.number;
    if (strcmp(s->key, "tf32") == 0) target->tf32_flops = value.number;
    if (strcmp(s->key, "bf16") == 0) target->bf16_flops = value.number;
    if (strcmp(s->key, "threads") == 0) target->threads = (int)value.number;
  }
}

static void check_tier(Checker *checker, TargetSpec *target, const ConfStmt *stmt) {
  int tier = vocabulary_find(tier_names, stmt->word);
  if (tier != TIER_HOST && tier != TIER_SSD) {
    diags_error(checker->diags, "E0217", stmt->word_place, "unknown tier \"%s\"%s (known: host, ssd)", stmt->word, check_nearest(checker, stmt->word, tier_names + TIER_HOST, 2, ""));
    check_fix_nearest(checker, stmt->word_place, stmt->word, tier_names + TIER_HOST, 2);
    return;
  }
  double capacity = -1, budget = -1;
  for (int i = 0; i < stmt->body->count; i++) {
    const ConfStmt *s = stmt->body->stmts[i];
    const Setting *setting = find_setting(checker, s, tier_settings, COUNT(tier_settings), "tier");
    SettingValue value;
    if (!setting || !read_setting(checker, setting, s->value, &value)) continue;
    if (strcmp(s->key, "capacity") == 0) capacity = value.number;
    if (strcmp(s->key, "budget") == 0) budget = value.number;
    if (strcmp(s->key, "path") == 0 && tier == TIER_SSD) target->ssd_path = value.text;
  }
  if (budget < 0) budget = capacity;
  if (budget < 0) {
    diags_error(checker->diags, "E0509", stmt->word_place, "tier %s does not say how large it is: budget = 20GiB", stmt->word);
    return;
  }
  *(tier == TIER_HOST ? &target->host_bytes : &target->ssd_bytes) = (int64_t)budget;
  if (capacity > 0) *(tier == TIER_HOST ? &target->host_capacity : &target->ssd_capacity) = (int64_t)capacity;
}

/* ---- several devices, several machines ---- */

static const char node_end[] = "node"; /* of a link: a machine */

static void check_nodes(Checker *checker, TargetSpec *target, const ConfStmt *stmt) {
  static const Setting nodes = {"nodes", SETTING_COUNT, 0};
  SettingValue value;
  if (read_setting(checker, &nodes, stmt->value, &value)) target->nodes = (int)value.number;
}

/* From each to each of its kind: link gpu <-> gpu, link node <-> node. */
static void check_peer_link(Checker *checker, TargetSpec *target, const ConfStmt *stmt) {
  const bool is_of_nodes = strcmp(stmt->word, node_end) == 0;
  PeerLink *link = is_of_nodes ? &target->node_link : &target->device_link;
  if (link->bandwidth > 0) diags_error(checker->diags, "E0509", stmt->key_place, "link %s %s %s is there twice", stmt->word, stmt->arrow, stmt->far_word);
  if (strcmp(stmt->arrow, "<->") != 0) diags_error(checker->diags, "E0509", stmt->key_place, "link %s <-> %s: what joins ends of one kind goes both ways", stmt->word, stmt->far_word);
  for (int i = 0; i < stmt->body->count; i++) {
    const ConfStmt *s = stmt->body->stmts[i];
    const Setting *setting = find_setting(checker, s, link_settings, COUNT(link_settings), "link");
    SettingValue value;
    if (!setting || !read_setting(checker, setting, s->value, &value)) continue;
    if (strcmp(s->key, "latency") == 0) link->latency = value.number;
    if (strcmp(s->key, "bandwidth") == 0) link->bandwidth = value.number;
    if (strcmp(s->key, "bandwidth") == 0 && is_of_nodes && value.number > 1e12)
      diags_warning(checker->diags, "W0504", "target", s->value->span.place, "link node <-> node %s: eight ports of 400 Gbit/s give 400; a zero too many?", ast_expr_text(checker->arena, s->value));
    if (strcmp(s->key, "latency") == 0 && value.number > 1) diags_warning(checker->diags, "W0504", "target", s->value->span.place, "link %s <-> %s: a latency of %s; us, or ms?", stmt->word, stmt->far_word, ast_expr_text(checker->arena, s->value));
  }
  if (link->bandwidth <= 0) diags_error(checker->diags, "E0509", stmt->key_place, "link %s %s %s has no bandwidth", stmt->word, stmt->arrow, stmt->far_word);
}

static bool is_peer_link(const TargetSpec *target, const ConfStmt *stmt) {
  Tier tier;
  if (strcmp(stmt->word, node_end) == 0) return strcmp(stmt->far_word, node_end) == 0;
  return strcmp(stmt->word, stmt->far_word) == 0 && tier_named(target->device ? target->device : tier_names[TIER_DEVICE], stmt->word, &tier) && tier == TIER_DEVICE;
}

static void check_peers(Checker *checker, const Item *item, const TargetSpec *target) {
  if ((int64_t)target->count * target->nodes > TARGET_DEVICES_MOST)
    diags_error(checker->diags, "E0509", item->name_place, "target %s has %d x %d devices; there may be %d", item->name, target->nodes, target->count, TARGET_DEVICES_MOST);
  if (target->count > 1 && target->device_link.bandwidth <= 0) {
    diags_error(checker->diags, "E0509", item->name_place, "target %s has %d devices and no link between them", item->name, target->count);
    diags_help(checker->diags, "with the numbers of the machine: link %s <-> %s { bandwidth = 300GB/s; latency = 5us }", target->device, target->device);
  }
  if (target->nodes > 1 && target->node_link.bandwidth <= 0) {
    diags_error(checker->diags, "E0509", item->name_place, "target %s has %d nodes and no link between them", item->name, target->nodes);
    diags_help(checker->diags, "with the numbers of the network: link node <-> node { bandwidth = 25GB/s; latency = 2us }");
  }
}

static bool link_end(Checker *checker, const TargetSpec *target, const char *name, Place place, Tier *tier) {
  const char *known[] = {target->device ? target->device : tier_names[TIER_DEVICE], tier_names[TIER_HOST], tier_names[TIER_SSD]};
  if (tier_named(known[TIER_DEVICE], name, tier)) return true;
  diags_error(checker->diags, "E0217", place, "unknown end of a link \"%s\"%s (known: %s, host, ssd; node <-> node)", name, check_nearest(checker, name, known, 3, ""), known[0]);
  check_fix_nearest(checker, place, name, known, 3);
  return false;
}

static void add_link(Checker *checker, TargetSpec *target, TargetLink link, double bandwidth) {
  link.bandwidth = bandwidth;
  if (bandwidth > 0) ARENA_PUSH(checker->arena, target->links, target->link_count, link);
}

static void doubt_bandwidth(Checker *checker, const TargetSpec *target, const ConfStmt *link, Tier from, Tier to, const ConfStmt *stmt, double bandwidth) {
  bool is_device_host = (from == TIER_HOST) != (to == TIER_HOST), is_ssd = from == TIER_SSD || to == TIER_SSD;
  bool is_cuda = target->kind && strncmp(target->kind, "cuda", 4) == 0;
  const char *text = ast_expr_text(checker->arena, stmt->value);
  if (is_ssd && bandwidth > 60e9)
    diags_warning(checker->diags, "W0504", "target", stmt->value->span.place, "link %s %s %s %s: one NVMe drive gives about 7GB/s; a zero too many?", link->word, link->arrow, link->far_word, text);
  else if (!is_ssd && is_device_host && is_cuda && bandwidth > 150e9)
    diags_warning(checker->diags, "W0504", "target", stmt->value->span.place, "link %s %s %s %s: PCIe 4 x16 gives about 25; a zero too many?", link->word, link->arrow, link->far_word, text);
}

static void check_link(Checker *checker, TargetSpec *target, const ConfStmt *stmt) {
  Tier from, to;
  double bandwidth = 0, read = 0, write = 0, latency = 0, slowdown = 0;
  if (!link_end(checker, target, stmt->word, stmt->word_place, &from) || !link_end(checker, target, stmt->far_word, stmt->far_place, &to)) return;
  for (int i = 0; i < stmt->body->count; i++) {
    const ConfStmt *s = stmt->body->stmts[i];
    const Setting *setting = find_setting(checker, s, link_settings, COUNT(link_settings), "link");
    SettingValue value;
    if (!setting || !read_setting(checker, setting, s->value, &value)) continue;
    if (strcmp(s->key, "latency") == 0) latency = value.number;
    if (strcmp(s->key, "slowdown") == 0) slowdown = value.number;
    if (strcmp(s->key, "bandwidth") == 0) bandwidth = value.number;
    if (strcmp(s->key, "read") == 0) read = value.number;
    if (strcmp(s->key, "write") == 0) write = value.number;
    if (setting->unit == UNIT_BYTES_PER_SECOND && setting->kind == SETTING_QUANTITY) doubt_bandwidth(checker, target, stmt, from, to, s, value.number);
  }
  bool is_two_way = strcmp(stmt->arrow, "<->") == 0;
  if (from == to) {
    diags_error(checker->diags, "E0509", stmt->key_place, "link %s %s %s leads from a tier to itself", stmt->word, stmt->arrow, stmt->far_word);
    return;
  }
  /* Reading is from the slower tier to the faster one. */
  double forth = to > from ? write : read, back = to > from ? read : write;
  add_link(checker, target, (TargetLink){from, to, 0, latency, slowdown}, forth > 0 ? forth : bandwidth);
  if (is_two_way) add_link(checker, target, (TargetLink){to, from, 0, latency, slowdown}, back > 0 ? back : bandwidth);
  if (bandwidth <= 0 && read <= 0 && write <= 0)
    diags_error(checker->diags, "E0509", stmt->key_place, "link %s %s %s has no bandwidth", stmt->word, stmt->arrow, stmt->far_word);
}

static bool is_linked(const TargetSpec *target, Tier tier) {
  for (int i = 0; i < target->link_count; i++)
    if (target->links[i].from == tier || target->links[i].to == tier) return true;
  return false;
}

void lang_unreachable(Diags *diags, Place place, const char *from, Tier tier) {
  static const char *const examples[TIER_COUNT] = {"", "bandwidth = 20GB/s; latency = 10us", "read = 2GB/s; write = 1GB/s; latency = 100us"};
  diags_error(diags, "E0503", place, "%s can be reached from nowhere: add link %s <-> %s { \xE2\x80\xA6 }", tier_names[tier], from, tier_names[tier]);
  diags_help(diags, "in the target, with the numbers of the machine: link %s <-> %s { %s }", from, tier_names[tier], examples[tier]);
}

static void check_target(Checker *checker, const Item *item, TargetSpec *target) {
  static const char *const known[] = {"device", "tier", "link", "nodes"};
  *target = (TargetSpec){.name = item->name, .description = item->text ? item->text : "", .device_bytes = -1, .count = 1, .nodes = 1, .place = item->name_place};
  int errors = diags_error_count(checker->diags);
  for (int i = 0; i < item->conf->count; i++) { /* the device first: links speak of it */
    const ConfStmt *stmt = item->conf->stmts[i];
    if (strcmp(stmt->key, "device") != 0 || !stmt->word || !stmt->body || stmt->arrow) continue;
    if (target->device) check_unsupported(checker, stmt->key_place, "several kinds of device are");
    else check_device(checker, target, stmt);
  }
  for (int i = 0; i < item->conf->count; i++) {
    const ConfStmt *stmt = item->conf->stmts[i];
    bool is_block = stmt->word && stmt->body;
    if (!*stmt->key || (strcmp(stmt->key, "device") == 0 && is_block)) continue;
    if (strcmp(stmt->key, "tier") == 0 && is_block && !stmt->arrow) check_tier(checker, target, stmt);
    else if (strcmp(stmt->key, "link") == 0 && is_block && stmt->arrow && is_peer_link(target, stmt)) check_peer_link(checker, target, stmt);
    else if (strcmp(stmt->key, "link") == 0 && is_block && stmt->arrow) check_link(checker, target, stmt);
    else if (strcmp(stmt->key, "nodes") == 0 && stmt->value && !stmt->word) check_nodes(checker, target, stmt);
    else {
      diags_error(checker->diags, "E0217", stmt->key_place, "a target holds device NAME {...}, tier NAME {...}, link A <-> B {...} and nodes = N, not \"%s\"%s", stmt->key,
                  check_nearest(checker, stmt->key, known, COUNT(known), "\""));
      check_fix_nearest(checker, stmt->key_place, stmt->key, known, COUNT(known));
    }
  }
  if (diags_error_count(checker->diags) > errors) return;
  if (!target->device) diags_error(checker->diags, "E0509", item->name_place, "target %s has no device", item->name);
  if (!target->kind) target->kind = "cpu";
  if (target->device) check_peers(checker, item, target);
  if (target->host_bytes > 0 && !is_linked(target, TIER_HOST)) lang_unreachable(checker->diags, item->name_place, target->device, TIER_HOST);
  if (target->ssd_bytes > 0 && !is_linked(target, TIER_SSD))
    lang_unreachable(checker->diags, item->name_place, target->host_bytes > 0 ? tier_names[TIER_HOST] : target->device, TIER_SSD);
}

/* ---- which target ---- */

static void offer_target(Arena *arena, const LangOptions *options, const char *path, void *suggest) {
  (void)options;
  suggest_offer(suggest, arena_strndup(arena, path + strlen("targets/"), strlen(path) - strlen("targets/.gnn")));
}

static bool is_called(const Checker *checker, const char *name) {
  for (int i = 0; i < checker->ast->item_count; i++)
    if (checker->ast->items[i]->kind == ITEM_TARGET && strcmp(checker->ast->items[i]->name, name) == 0) return true;
  return false;
}

static const Item *chosen_target(Checker *checker) {
  const char *asked = checker->options->target, *name = !asked || is_called(checker, asked) ? asked : lang_target_name(checker->arena, asked);
  const Item *only = NULL;
  int count = 0;
  bool is_path = asked && (strchr(asked, '/') || (strlen(asked) > 4 && strcmp(asked + strlen(asked) - 4, ".gnn") == 0));
  if (asked && strcmp(asked, "native") == 0) return NULL;
  for (int i = 0; i < checker->ast->item_count; i++) {
    const Item *item = checker->ast->items[i];
    if (item->kind != ITEM_TARGET) continue;
    if (is_path && strcmp(diags_source_path(checker->diags, item->place.file), asked) != 0) continue;
    if (name && !is_path && strcmp(item->name, name) != 0) continue;
    only = item;
    count++;
  }
  if (count == 1 || (name && count > 0)) return only;
  if (!name) return NULL;
  Suggest suggest = {.wanted = asked};
  for (int i = 0; i < checker->ast->item_count; i++)
    if (checker->ast->items[i]->kind == ITEM_TARGET) suggest_offer(&suggest, checker->ast->items[i]->name);
  syntax_each_shared(checker->arena, checker->options, "targets", offer_target, &suggest);
  diags_error(checker->diags, "E0207", diags_no_place(), "no target \"%s\"%s (gnncc --list targets)", asked, suggest_text(checker->arena, &suggest, ""));
  return NULL;
}

void check_targets(Checker *checker) {
  const Item *item = chosen_target(checker);
  if (!item) return;
  int errors = diags_error_count(checker->diags);
  check_target(checker, item, &checker->program->target);
  checker->program->has_target = diags_error_count(checker->diags) == errors;
}

bool lang_target(Arena *arena, Diags *diags, const char *path, const char *text, size_t length, const LangOptions *options, TargetSpec *target) {
  int errors = diags_error_count(diags);
  const Ast *ast = lang_parse(arena, diags, path, text, length, options);
  const Item *item = NULL;
  for (int i = 0; ast && i < ast->item_count; i++)
    if (ast->items[i]->kind == ITEM_TARGET) item = ast->items[i];
  if (!item) return false;
  Checker checker = {.arena = arena, .diags = diags, .ast = ast, .options = options};
  checker.program = arena_alloc(arena, sizeof *checker.program);
  check_target(&checker, item, target);
  return diags_error_count(diags) == errors;
}
