/* Bad input: every document of a corpus is refused with the right place, and mutated documents never crash.
 *
 *   test_planner_input [N]    N rounds of mutation (default 400)
 */
#include "compiler/planner/check.h"
#include "golden.h"
#include "suite.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HW "\"hardware\": {\"device_bytes\": 100, \"host_bytes\": 100, \"channels\": {\"d2h\": {\"bw\": 1}, \"h2d\": {\"bw\": 1}}}"
#define HEAD "{\"format\": \"gnncc-problem/1\", \"name\": \"p\", " HW ", "
#define OP(id, more) "{\"id\": \"" id "\", \"phase\": \"fwd\", \"ns\": 1" more "}"

typedef struct Bad {
  const char *what, *text, *place, *says;
} Bad;

static const Bad problems[] = {
    {"empty file", "", "1:0", "expected"},
    {"truncated", "{\"format\": \"gnncc-problem/1\", ", "1:", "end of file"},
    {"not JSON", "hello", "1:", "expected"},
    {"a list", "[]", "", "expected an object"},
    {"duplicate key", "{\"format\": 1, \"format\": 2}", "1:", "duplicate"},
    {"integer beyond 64 bits", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 99999999999999999999}], \"ops\": []}", "1:", "too big"},
    {"another format", "{\"format\": \"gnncc-problem/2\"}", "format", "gnncc-problem/1"},
    {"unknown key", HEAD "\"colour\": 1, \"data\": [], \"ops\": [" OP("A", "") "]}", "", "unknown key \"colour\""},
    {"unknown key in an op", HEAD "\"data\": [], \"ops\": [" OP("A", ", \"n\": 1") "]}", "ops[0]", "unknown key \"n\""},
    {"missing name", "{\"format\": \"gnncc-problem/1\"}", "name", "missing"},
    {"negative bytes", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": -1}], \"ops\": []}", "data[0].bytes", "out of range"},
    {"bytes with a fraction", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1.5}], \"ops\": []}", "data[0].bytes", "fraction"},
    {"bytes as text", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": \"1\"}], \"ops\": []}", "data[0].bytes", "string"},
    {"zero chunks", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1, \"chunks\": 0}], \"ops\": []}", "data[0].chunks", "out of range"},
    {"duplicate datum", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1}, {\"id\": \"x\", \"bytes\": 1}], \"ops\": []}", "data[1].id", "already data[0]"},
    {"duplicate op", HEAD "\"data\": [], \"ops\": [" OP("A", "") ", " OP("A", "") "]}", "ops[1].id", "already ops[0]"},
    {"dangling read", HEAD "\"data\": [], \"ops\": [" OP("A", ", \"reads\": [\"x\"]") "]}", "ops[0].reads[0]", "no datum \"x\""},
    {"read before written (a cycle)", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1}, {\"id\": \"y\", \"bytes\": 1}], \"ops\": ["
     OP("A", ", \"reads\": [\"y\"], \"writes\": [\"x\"]") ", " OP("B", ", \"reads\": [\"x\"], \"writes\": [\"y\"]") "]}", "ops[0].reads", "before any step"},
    {"no step", HEAD "\"data\": [], \"ops\": []}", "ops", "no step"},
    {"unknown home", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1, \"home\": \"moon\"}], \"ops\": []}", "data[0].home", "moon"},
    {"unknown fate", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1, \"fates\": [\"burn\"]}], \"ops\": []}", "data[0].fates[0]", "burn"},
    {"unknown phase", HEAD "\"data\": [], \"ops\": [{\"id\": \"A\", \"phase\": \"up\", \"ns\": 1}]}", "ops[0].phase", "up"},
    {"no time", HEAD "\"data\": [], \"ops\": [{\"id\": \"A\", \"phase\": \"fwd\"}]}", "ops[0].ns", "missing"},
    {"negative time", HEAD "\"data\": [], \"ops\": [{\"id\": \"A\", \"phase\": \"fwd\", \"ns\": -5}]}", "ops[0].ns", "out of range"},
    {"overflowing times", HEAD "\"data\": [], \"ops\": [{\"id\": \"A\", \"phase\": \"fwd\", \"ns\": 9223372036854775807}]}", "ops[0]", "2^56"},
    {"overflowing bytes", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 9223372036854775807}], \"ops\": [" OP("A", "") "]}", "data", "2^56"},
    {"mandatory access", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 9, \"chunks\": 3}], \"ops\": [" OP("A", ", \"chunks\": 2, \"writes\": [\"x\"]") "]}", "ops[0].writes[0]", "access"},
    {"row of unequal chunks", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 9, \"chunks\": 3}], \"ops\": [" OP("A", ", \"writes\": [{\"data\": \"x\", \"access\": \"row\"}]") "]}", "ops[0].writes[0]", "row"},
    {"list with a missing chunk", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 9, \"chunks\": 3}], \"ops\": [" OP("A", ", \"writes\": [{\"data\": \"x\", \"access\": [[3]]}]") "]}", "ops[0].writes[0].access[0][0]", "chunk 3"},
    {"order incomplete", HEAD "\"data\": [], \"ops\": [" OP("A", "") ", " OP("B", "") "], \"order\": [[\"A\", 0]]}", "order", "missing"},
    {"order twice", HEAD "\"data\": [], \"ops\": [" OP("A", "") "], \"order\": [[\"A\", 0], [\"A\", 0]]}", "order[1]", "second time"},
    {"order of nothing", HEAD "\"data\": [], \"ops\": [" OP("A", "") "], \"order\": [[\"Z\", 0]]}", "order[0]", "no op \"Z\""},
    {"compute beside a channel", HEAD "\"data\": [], \"ops\": [{\"id\": \"A\", \"phase\": \"fwd\", \"variants\": [{\"name\": \"v\", \"stages\": [{\"ch\": \"compute\", \"ns\": 1}, {\"ch\": \"d2h\", \"ns\": 1}]}]}]}", "ops[0].variants[0].stages[0]", "S6"},
    {"unknown channel", HEAD "\"data\": [], \"ops\": [{\"id\": \"A\", \"phase\": \"fwd\", \"variants\": [{\"name\": \"v\", \"stages\": [{\"ch\": \"tube\", \"ns\": 1}]}]}]}", "ops[0].variants[0].stages[0]", "tube"},
    {"no SSD channel for an SSD home", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1, \"home\": \"ssd\"}], \"ops\": [" OP("A", "") "]}", "data[0]", "ssdr"},
    {"a million chunks", HEAD "\"data\": [], \"ops\": [" OP("A", ", \"chunks\": 1000000") "]}", "ops[0].chunks", "out of range"},
    {"zero bandwidth", "{\"format\": \"gnncc-problem/1\", \"name\": \"p\", \"hardware\": {\"device_bytes\": 1, \"channels\": {\"d2h\": {\"bw\": 0}}}}", "hardware.channels.d2h.bw", "out of range"},
};

static void refuse(Tap *tap, const Bad *bad) {
  Arena *arena = arena_new();
  ProblemError error = {{0}, {0}};
  bool is_refused = !problem_read_json(arena, bad->text, strlen(bad->text), &error);
  bool is_right = is_refused && !strncmp(error.place, bad->place, strlen(bad->place)) && strstr(error.text, bad->says) && !strchr(error.text, '\n');
  if (!tap_ok(tap, is_right, "%s", bad->what)) tap_note("%s: %s", error.place, error.text);
  arena_free(arena);
}

static void refuse_size(Tap *tap) {
  Arena *arena = arena_new();
  ProblemError error = {{0}, {0}};
  size_t length = 10000000;
  char *text = arena_alloc(arena, length);
  memset(text, '[', length);
  tap_ok(tap, !problem_read_json(arena, text, length, &error) && strstr(error.text, "nested"), "ten million brackets");
  memset(text, ',', length);
  text[0] = '[';
  tap_ok(tap, !problem_read_json(arena, text, length, &error) && strstr(error.text, "values"), "ten million values");
  arena_free(arena);
}

/* A few random edits: bytes flipped, ranges dropped, doubled, numbers replaced. */
static char *mutate(Arena *arena, const char *text, uint64_t *random) {
  static const char *const numbers[] = {"0", "-1", "1", "9223372036854775807", "-9223372036854775808", "1e9", "0.5", "null", "\"\"", "[]", "{}"};
  size_t length = strlen(text);
  char *result = arena_strdup(arena, text);
  for (int edits = 1 + generate_below(random, 3); edits > 0 && length > 8; edits--) {
    size_t at = (size_t)generate_below(random, (int)length), span = (size_t)generate_below(random, 12);
    if (at + span > length) span = length - at;
    switch (generate_below(random, 4)) {
      case 0: result[at] = (char)(32 + generate_below(random, 95)); break;
      case 1: result = arena_printf(arena, "%.*s%s", (int)at, result, result + at + span); break;
      case 2: result = arena_printf(arena, "%.*s%.*s%s", (int)at, result, (int)span, result + at, result + at); break;
      default: {
        size_t digit = at + strcspn(result + at, "0123456789");
        result = arena_printf(arena, "%.*s%s%s", (int)digit, result, numbers[generate_below(random, 11)],
                              result + digit + strspn(result + digit, "0123456789"));
      }
    }
    length = strlen(result);
  }
  return result;
}

/* Returns true unless a plan the planner made of a mutated problem is rejected. */
static bool try_mutant(const char *text, uint64_t *random, int *parsed) {
  Arena *arena = arena_new();
  ProblemError error;
  char *mutant = mutate(arena, text, random);
  Problem *problem = problem_read_json(arena, mutant, strlen(mutant), &error);
  bool ok = true;
  if (problem && problem->step_count < 2000) {
    PlannerOptions options;
    PlannerReport report;
    planner_default_options(&options);
    options.effort = PLANNER_FAST;
    (*parsed)++;
    PlannerPlan *plan = planner_plan(problem, &options, arena, &report);
    size_t length = 0;
    char *json = plan ? plan_write_json(plan, arena, &length) : NULL;
    if (json && planner_check_json(mutant, strlen(mutant), json, length, NULL, NULL) != PLANNER_CHECK_VALID) {
      tap_note("the checker rejects the plan of: %s", mutant);
      planner_check_json(mutant, strlen(mutant), json, length, stdout, NULL);
      ok = false;
    }
    for (int k = 0; json && k < 8; k++) { /* hand-edited plans */
      char *edited = mutate(arena, json, random);
      planner_check_json(mutant, strlen(mutant), edited, strlen(edited), NULL, NULL);
      plan_read_json(problem, arena, edited, strlen(edited), &error);
    }
  } else {
    planner_check_json(mutant, strlen(mutant), "{}", 2, NULL, NULL);
  }
  arena_free(arena);
  return ok;
}

int main(int argc, char **argv) {
  Tap tap = {0};
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) refuse(&tap, &problems[i]);
  refuse_size(&tap);
  int rounds = argc > 1 ? atoi(argv[1]) : tap_scale(400), parsed = 0, wrong = 0;
  uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  Arena *arena = arena_new();
  for (int i = 0; i < rounds; i++) {
    GenerateOptions options = suite_small(i % 24);
    const char *text = i % 3 == 0 ? golden_problem_a : i % 3 == 1 ? generate_odd(arena, (uint64_t)(i % 50)) : generate_problem(arena, &options);
    wrong += !try_mutant(text, &random, &parsed);
  }
  arena_free(arena);
  tap_ok(&tap, wrong == 0, "%d mutated problems, %d of them still problems: no crash, every plan judged valid", rounds, parsed);
  return tap_end(&tap);
}
