/* Bad input: every document of a corpus is refused with the right place, and mutated documents never crash.
 *
 *   test_planner_input [N]    N rounds of mutation (default 400)
 */
#include "compiler/planner/judge.h"
#include "golden.h"
#include "suite.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HW "\"hardware\": {\"device_bytes\": 100, \"host_bytes\": 100, \"channels\": {\"d2h\": {\"bw\": 1}, \"h2d\": {\"bw\": 1}}}"
#define HEAD "{\"format\": \"gnncc-problem/1\", \"name\": \"p\", " HW ", "
#define OP(id, more) "{\"id\": \"" id "\", \"phase\": \"fwd\", \"ns\": 1" more "}"

/* x, then y of it. */
#define PLACES(x, y, more, writes)                                                                                                            \
  HEAD "\"data\": [{\"id\": \"x\", " x "}, {\"id\": \"y\", " y "}, {\"id\": \"z\", \"bytes\": 100}], \"ops\": [" OP("A", ", \"writes\": [\"x\"]") ", " OP( \
      "B", ", " more "\"writes\": [" writes "]") "]}"
#define OVER(of, under) "{\"data\": \"" of "\", \"over\": \"" under "\"}"

#define CHANNEL(of) "{\"format\": \"gnncc-problem/1\", \"name\": \"p\", \"hardware\": {\"device_bytes\": 1, \"channels\": {" of "}}, \"data\": [], \"ops\": [" OP("A", "") "]}"
#define CHUNKED(ns, chunks) "{\"id\": \"A\", \"phase\": \"fwd\", \"ns\": " ns ", \"chunks\": " chunks "}"
#define VARIANT(ns) "{\"name\": \"v\", \"stages\": [{\"ch\": \"compute\", \"ns\": " ns "}]}"

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
    {"sizes for fewer chunks", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": [1, 2], \"chunks\": 3}], \"ops\": []}", "data[0].bytes", "2 entries and the datum 3 chunks"},
    {"sizes without chunks", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": [1, 2]}], \"ops\": []}", "data[0].bytes", "2 entries"},
    {"a negative size of a chunk", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": [1, -2], \"chunks\": 2}], \"ops\": []}", "data[0].bytes[1]", "out of range"},
    {"a size of a chunk as text", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": [1, \"2\"], \"chunks\": 2}], \"ops\": []}", "data[0].bytes[1]", "string"},
    {"sizes of chunks that overflow", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": [72057594037927936, 72057594037927936], \"chunks\": 2}], \"ops\": [" OP("A", "") "]}", "data", "2^56"},
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
    {"times for fewer chunks", HEAD "\"data\": [], \"ops\": [" CHUNKED("[1, 2]", "3") "]}", "ops[0].ns", "2 entries and the op 3 chunks"},
    {"times for an op in one chunk", HEAD "\"data\": [], \"ops\": [" CHUNKED("[1, 2]", "1") "]}", "ops[0].ns", "2 entries"},
    {"a negative time of a chunk", HEAD "\"data\": [], \"ops\": [" CHUNKED("[1, -2]", "2") "]}", "ops[0].ns[1]", "out of range"},
    {"a time of a chunk with a fraction", HEAD "\"data\": [], \"ops\": [" CHUNKED("[1.5, 2]", "2") "]}", "ops[0].ns[0]", "fraction"},
    {"times of chunks that overflow", HEAD "\"data\": [], \"ops\": [" CHUNKED("[36028797018963968, 36028797018963968]", "2") "]}", "ops[0].ns[1]", "2^56"},
    {"bytes for fewer chunks", HEAD "\"data\": [], \"ops\": [{\"id\": \"A\", \"phase\": \"fwd\", \"chunks\": 2, \"variants\": [{\"name\": \"v\", \"stages\": [{\"ch\": \"d2h\", \"bytes\": [1]}]}]}]}",
     "ops[0].variants[0].stages[0].bytes", "1 entries and the op 2 chunks"},
    {"overflowing times", HEAD "\"data\": [], \"ops\": [{\"id\": \"A\", \"phase\": \"fwd\", \"ns\": 9223372036854775807}]}", "ops[0]", "2^56"},
    {"overflowing bytes", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 9223372036854775807}], \"ops\": [" OP("A", "") "]}", "data", "2^56"},
    {"mandatory access", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 9, \"chunks\": 3}], \"ops\": [" OP("A", ", \"chunks\": 2, \"writes\": [\"x\"]") "]}", "ops[0].writes[0]", "access"},
    {"row of unequal chunks", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 9, \"chunks\": 3}], \"ops\": [" OP("A", ", \"writes\": [{\"data\": \"x\", \"access\": \"row\"}]") "]}", "ops[0].writes[0]", "row"},
    {"list with a missing chunk", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 9, \"chunks\": 3}], \"ops\": [" OP("A", ", \"writes\": [{\"data\": \"x\", \"access\": [[3]]}]") "]}", "ops[0].writes[0].access[0][0]", "chunk 3"},
    {"order incomplete", HEAD "\"data\": [], \"ops\": [" OP("A", "") ", " OP("B", "") "], \"order\": [[\"A\", 0]]}", "order", "missing"},
    {"order twice", HEAD "\"data\": [], \"ops\": [" OP("A", "") "], \"order\": [[\"A\", 0], [\"A\", 0]]}", "order[1]", "second time"},
    {"order of nothing", HEAD "\"data\": [], \"ops\": [" OP("A", "") "], \"order\": [[\"Z\", 0]]}", "order[0]", "no op \"Z\""},
    {"compute behind a channel", HEAD "\"data\": [], \"ops\": [{\"id\": \"A\", \"phase\": \"fwd\", \"variants\": [{\"name\": \"v\", \"stages\": [{\"ch\": \"d2h\", \"ns\": 1}, {\"ch\": \"compute\", \"ns\": 1}]}]}]}", "ops[0].variants[0].stages[1]", "S6"},
    {"unknown channel", HEAD "\"data\": [], \"ops\": [{\"id\": \"A\", \"phase\": \"fwd\", \"variants\": [{\"name\": \"v\", \"stages\": [{\"ch\": \"tube\", \"ns\": 1}]}]}]}", "ops[0].variants[0].stages[0]", "tube"},
    {"no SSD channel for an SSD home", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1, \"home\": \"ssd\"}], \"ops\": [" OP("A", "") "]}", "data[0]", "ssdr"},
    {"a place of nothing", PLACES("\"bytes\": 100", "\"bytes\": 100", "\"reads\": [\"x\"], ", OVER("y", "w")), "ops[1].writes[0].over", "no datum \"w\""},
    {"a place in what is read", PLACES("\"bytes\": 100", "\"bytes\": 100", "\"reads\": [" OVER("x", "y") "], ", "\"y\""), "ops[1].reads[0]", "unknown key \"over\""},
    {"the place of what is not read", PLACES("\"bytes\": 100", "\"bytes\": 100", "", OVER("y", "x")), "ops[1].writes[0]", "which the op does not read"},
    {"the place of what is written", PLACES("\"bytes\": 100", "\"bytes\": 100", "\"reads\": [\"x\"], ", OVER("y", "x") ", \"x\""), "ops[1].writes[0]", "which the op writes"},
    {"one place for two", PLACES("\"bytes\": 100", "\"bytes\": 100", "\"reads\": [\"x\"], ", OVER("y", "x") ", " OVER("z", "x")), "ops[1].writes[0]", "over which another is written"},
    {"a place of another size", PLACES("\"bytes\": 99", "\"bytes\": 100", "\"reads\": [\"x\"], ", OVER("y", "x")), "ops[1].writes[0]", "whose chunks have other sizes"},
    {"a place of other chunks", PLACES("\"bytes\": 100, \"chunks\": 2", "\"bytes\": 100", "\"reads\": [\"x\"], ", OVER("y", "x")), "ops[1].writes[0]", "another number of chunks"},
    {"the place of what has a home", PLACES("\"bytes\": 100, \"home\": \"device\"", "\"bytes\": 100", "\"reads\": [\"x\"], ", OVER("y", "x")), "ops[1].writes[0]", "a home"},
    {"the place of what is final", PLACES("\"bytes\": 100, \"final\": true", "\"bytes\": 100", "\"reads\": [\"x\"], ", OVER("y", "x")), "ops[1].writes[0]", "which is final"},
    {"a place for an update", PLACES("\"bytes\": 100", "\"bytes\": 100", "\"reads\": [\"x\"], \"chunks\": 2, ", OVER("y", "x")), "ops[1].writes", "does not make \"y\" piece 0 of the piece whose place"},
    {"a million chunks", HEAD "\"data\": [], \"ops\": [" OP("A", ", \"chunks\": 1000000") "]}", "ops[0].chunks", "out of range"},
    {"a channel for computing", CHANNEL("\"compute\": {\"bw\": 1}"), "hardware.channels.compute", "not a transfer channel"},
    {"a latency of two years", CHANNEL("\"d2h\": {\"bw\": 1, \"lat_ns\": 72057594037927936}"), "hardware.channels.d2h.lat_ns", "out of range"},
    {"no device", "{\"format\": \"gnncc-problem/1\", \"name\": \"p\", \"hardware\": {\"device_bytes\": 1, \"devices\": 0}, \"data\": [], \"ops\": [" OP("A", "") "]}", "hardware.devices", "out of range"},
    {"a final datum without a way to the host", "{\"format\": \"gnncc-problem/1\", \"name\": \"p\", \"hardware\": {\"device_bytes\": 1}, \"data\": [{\"id\": \"x\", \"bytes\": 0, \"final\": true}], \"ops\": [" OP("A", "") "]}", "data[0]", "d2h"},
    {"a final datum at home on the SSD without a way to it", "{\"format\": \"gnncc-problem/1\", \"name\": \"p\", \"hardware\": {\"device_bytes\": 1, \"channels\": {\"d2h\": {\"bw\": 1}, \"h2d\": {\"bw\": 1}, \"ssdr\": {\"bw\": 1}}}, \"data\": [{\"id\": \"x\", \"bytes\": 0, \"home\": \"ssd\", \"final\": true}], \"ops\": [" OP("A", "") "]}", "data[0]", "ssdw"},
    {"an unknown role", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1, \"role\": \"output\"}], \"ops\": [" OP("A", "") "]}", "data[0].role", "\"output\" is not a role; expected other, input or aggregate"},
    {"a role that is no word", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1, \"role\": 1}], \"ops\": [" OP("A", "") "]}", "data[0].role", "expected a string, found an integer"},
    {"an unknown home", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1, \"home\": \"disk\"}], \"ops\": [" OP("A", "") "]}", "data[0].home", "\"disk\" is not a home; expected device, host or ssd"},
    {"homes for fewer chunks", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 3, \"chunks\": 3, \"home\": [\"host\", \"ssd\"]}], \"ops\": [" OP("A", "") "]}", "data[0].home", "2 entries and the datum 3 chunks"},
    {"homes without chunks", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 3, \"home\": []}], \"ops\": [" OP("A", "") "]}", "data[0].home", "0 entries"},
    {"an unknown home of a chunk", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 2, \"chunks\": 2, \"home\": [\"host\", \"none\"]}], \"ops\": [" OP("A", "") "]}", "data[0].home[1]", "\"none\" is not a home; expected device, host or ssd"},
    {"a home of a chunk that is no word", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 2, \"chunks\": 2, \"home\": [\"host\", null]}], \"ops\": [" OP("A", "") "]}", "data[0].home[1]", "expected a string"},
    {"no SSD channel for one chunk at home there", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 2, \"chunks\": 2, \"home\": [\"device\", \"ssd\"]}], \"ops\": [" OP("A", "") "]}", "data[0]", "needs the channel"},
    {"an unknown end", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1, \"final\": \"device\"}], \"ops\": [" OP("A", "") "]}", "data[0].final", "\"device\" is not where it can end; expected host or ssd"},
    {"an end of what has a home", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1, \"home\": \"host\", \"final\": \"ssd\"}], \"ops\": [" OP("A", "") "]}", "data[0].final", "what has a home ends there"},
    {"ends for fewer chunks", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 3, \"chunks\": 3, \"final\": [\"host\", \"ssd\"]}], \"ops\": [" OP("A", "") "]}", "data[0].final", "2 entries and the datum 3 chunks"},
    {"an unknown end of a chunk", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 2, \"chunks\": 2, \"final\": [\"host\", \"device\"]}], \"ops\": [" OP("A", "") "]}", "data[0].final[1]", "not where it can end"},
    {"no SSD channel for what ends there", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 2, \"final\": \"ssd\"}], \"ops\": [" OP("A", "") "]}", "data[0]", "needs the channel"},
    {"a place for what has homes", PLACES("\"bytes\": 100, \"home\": [\"device\"]", "\"bytes\": 100", "\"reads\": [\"x\"], ", OVER("y", "x")), "ops[1].writes[0]", "a home"},
    {"an empty name", HEAD "\"data\": [], \"ops\": [" OP("", "") "]}", "ops[0].id", "is empty"},
    {"two variants of one name", HEAD "\"data\": [], \"ops\": [{\"id\": \"A\", \"phase\": \"fwd\", \"variants\": [" VARIANT("1") ", " VARIANT("2") "]}]}", "ops[0].variants[1]", "already variants[0]"},
    {"overflowing times of what nobody chooses", HEAD "\"data\": [], \"ops\": [{\"id\": \"A\", \"phase\": \"fwd\", \"variants\": [" VARIANT("1") ", {\"name\": \"w\", \"stages\": [{\"ch\": \"compute\", \"ns\": 72057594037927936}]}]}]}", "ops[0]", "2^56"},
    {"overflowing work", HEAD "\"data\": [], \"ops\": [" OP("A", ", \"work\": 72057594037927936") "]}", "ops[0]", "2^56"},
    {"many pieces", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 0, \"chunks\": 200001}, {\"id\": \"y\", \"bytes\": 0, \"chunks\": 200000}], \"ops\": [" OP("A", "") "]}", "data[1].chunks", "more than 400000 pieces"},
    {"no pieces of a place that is not read", PLACES("\"bytes\": 100", "\"bytes\": 100", "", "{\"data\": \"y\", \"access\": [[]], \"over\": \"x\"}"), "ops[1].writes[0]", "which the op does not read"},
    {"zero bandwidth", "{\"format\": \"gnncc-problem/1\", \"name\": \"p\", \"hardware\": {\"device_bytes\": 1, \"channels\": {\"d2h\": {\"bw\": 0}}}}", "hardware.channels.d2h.bw", "out of range"},
};

static void refuse(Tap *tap, const Bad *bad) {
  Arena *arena = arena_new();
  ProblemError error = {{0}, {0}};
  bool is_refused = !problem_read_json(arena, bad->text, strlen(bad->text), &error);
  bool is_right = is_refused && !strncmp(error.place, bad->place, strlen(bad->place)) && strstr(error.text, bad->says) && !strchr(error.text, '\n');
  if (!tap_ok(tap, is_right, "%s", bad->what)) tap_note("%s: %s", error.place, error.text);
  const char *plan = "{\"format\": \"gnncc-plan/1\", \"problem\": \"p\"}";
  tap_ok(tap, planner_check_json(bad->text, strlen(bad->text), plan, strlen(plan), NULL, NULL) == PLANNER_CHECK_BAD_INPUT, "%s: so says the judge", bad->what);
  arena_free(arena);
}

#define PLAN(more) "{\"format\": \"gnncc-plan/1\", \"problem\": \"golden\"" more "}"
#define MOVE(more) PLAN(", \"moves\": [{\"data\": \"x1\", \"after\": 1, " more "}]")
#define RERUN(more) PLAN(", \"recompute\": [{\"op\": \"F1\", " more "}]")
#define CLAIM(more) PLAN(", \"recompute\": [{\"op\": \"F1\", \"before\": 5}], " more)
#define CERTIFIED(more) CLAIM("\"certificate\": {" more "}")

typedef struct BadPlan {
  const char *what, *text, *says;
  int verdict;
} BadPlan;

/* Plans for problem A. What a plan cannot say is bad input; what it says and may not is invalid. */
static const BadPlan plans[] = {
    {"one that is valid", RERUN("\"before\": 5"), "valid: makespan 83 ns", 0},
    {"one that is valid, with all it may claim", PLAN(", \"recompute\": [{\"before\": 5, \"op\": \"F1\"}], \"makespan_ns\": 83, \"peak_bytes\": 240, \"lower_bound_ns\": 73, \"certificate\": {\"kind\": \"stallfree\"}"), "valid", 0},
    {"a truncated plan", "{\"format\": \"gnncc-plan/1\", ", "plan:1:", 2},
    {"a list for a plan", "[]", "plan: expected an object", 2},
    {"a problem for a plan", "{\"format\": \"gnncc-problem/1\"}", "plan.format", 2},
    {"a plan for another problem", "{\"format\": \"gnncc-plan/1\", \"problem\": \"B\"}", "the plan is for \"B\"", 1},
    {"an unknown key in a plan", PLAN(", \"colour\": 1"), "unknown key \"colour\"", 2},
    {"an unknown key in a move", MOVE("\"to\": \"host\", \"g\": 5, \"why\": 1"), "moves[0]: unknown key \"why\"", 2},
    {"an unknown key in a re-run", RERUN("\"before\": 5, \"after\": 1"), "recompute[0]: unknown key \"after\"", 2},
    {"an unknown tier", MOVE("\"to\": \"moon\", \"g\": 5"), "moves[0].to: \"moon\" is not a tier", 2},
    {"a tier that is a number", MOVE("\"to\": 1, \"g\": 5"), "moves[0].to: of the wrong type", 2},
    {"a move without a tier", MOVE("\"g\": 5"), "moves[0].to: missing", 2},
    {"a boundary that is text", MOVE("\"to\": \"host\", \"g\": \"5\""), "moves[0].g: of the wrong type", 2},
    {"a boundary with a fraction", MOVE("\"to\": \"host\", \"g\": 4.5"), "moves[0].g: of the wrong type", 2},
    {"a boundary beyond the steps", MOVE("\"to\": \"host\", \"g\": 4294967300"), "moves[0]", 1},
    {"moves that are no list", PLAN(", \"moves\": {}"), "plan.moves: of the wrong type", 2},
    {"a move that is no object", PLAN(", \"moves\": [1]"), "moves[0]: expected an object", 2},
    {"a move of nothing", PLAN(", \"moves\": [{\"data\": \"y\", \"after\": 1, \"to\": \"host\", \"g\": 5}]"), "no datum \"y\"", 1},
    {"a re-run of nothing", PLAN(", \"recompute\": [{\"op\": \"Z\", \"before\": 5}]"), "no op \"Z\"", 1},
    {"a re-run of a chunk that is not", RERUN("\"before\": 5, \"k\": 1"), "no chunk 1", 1},
    {"a re-run with an output that is no pair", RERUN("\"before\": 5, \"out\": [\"x1\"]"), "recompute[0].out[0]: expected", 2},
    {"a variant of nothing", PLAN(", \"variants\": {\"Z\": \"v\"}"), "no op \"Z\"", 1},
    {"a variant that is not", PLAN(", \"variants\": {\"F1\": \"v\"}"), "no variant \"v\"", 1},
    {"a variant that is a number", PLAN(", \"variants\": {\"F1\": 1}"), "variants.F1: expected a string", 2},
    {"an unknown certificate", CERTIFIED("\"kind\": \"oath\""), "certificate.kind: \"oath\"", 2},
    {"a certificate without a kind", CERTIFIED("\"split\": 1"), "certificate.kind: missing", 2},
    {"a stall-free certificate with weights", CERTIFIED("\"kind\": \"stallfree\", \"lam\": 1"), "certificate: unknown key \"lam\"", 2},
    {"a weight that is text", CERTIFIED("\"kind\": \"dual\", \"split\": 3, \"lam\": \"1\""), "certificate.lam: expected a number", 2},
    {"a negative weight", CERTIFIED("\"kind\": \"dual\", \"split\": 3, \"lam\": -1"), "certificate.lam: -1 is not a weight", 1},
    {"a split beyond the steps", CERTIFIED("\"kind\": \"dual\", \"split\": 7"), "no step 7", 1},
    {"a negative makespan", CLAIM("\"makespan_ns\": -83"), "plan.makespan_ns: -83 is too small", 2},
    {"a negative peak", CLAIM("\"peak_bytes\": -1"), "plan.peak_bytes: -1 is too small", 2},
    {"a negative lower bound", CLAIM("\"lower_bound_ns\": -1"), "plan.lower_bound_ns: -1 is too small", 2},
    {"a makespan of nothing", CLAIM("\"makespan_ns\": 0"), "claims 0, the pass gives 83 (S19)", 1},
    {"a peak that is too low", CLAIM("\"peak_bytes\": 239"), "claims 239, the pass gives 240 (S19)", 1},
    {"a lower bound above the makespan", CLAIM("\"lower_bound_ns\": 84"), "84 exceeds the makespan 83 (S19)", 1},
    {"a lower bound without a certificate", CLAIM("\"lower_bound_ns\": 1"), "the certificate proves 0 (S20)", 1},
    {"a claim with a fraction", CLAIM("\"makespan_ns\": 83.0"), "plan.makespan_ns: of the wrong type", 2},
    {"a claim beyond 64 bits", CLAIM("\"makespan_ns\": 18446744073709551699"), "too big", 2},
    {"a work area of a step 2^32 too far", CLAIM("\"offsets\": [{\"work\": 4294967296, \"offset\": 0}]"), "no step 4294967296", 1},
    {"a work area of a piece", CLAIM("\"offsets\": [{\"work\": 0, \"data\": \"x1\", \"offset\": 0}]"), "\"work\" and \"data\" exclude each other", 2},
    {"an address of no interval", CLAIM("\"offsets\": [{\"data\": \"x1\", \"from\": 3, \"offset\": 0}]"), "no residency that starts", 1},
    {"a page-mapped layout", CLAIM("\"pages\": {\"page_bytes\": 4096, \"map\": []}"), "plan.pages: there are no page-mapped layouts", 2},
};

static void judge_plan(Tap *tap, const BadPlan *bad) {
  char *says = NULL;
  size_t length;
  FILE *out = open_memstream(&says, &length);
  int verdict = planner_check_json(golden_problem_a, strlen(golden_problem_a), bad->text, strlen(bad->text), out, NULL);
  fclose(out);
  if (!tap_ok(tap, verdict == bad->verdict && strstr(says, bad->says), "%s: exit %d", bad->what, bad->verdict)) tap_note("exit %d: %s", verdict, says);
  free(says);
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

/* What is odd and may be: the tiers as large as numbers get, no data at all, data that nobody uses. */
static const struct {
  const char *what, *text;
  bool fits;
} extremes[] = {
    {"no data", HEAD "\"data\": [], \"ops\": [" OP("A", "") "]}", true},
    {"data of no use and of no bytes", HEAD "\"data\": [{\"id\": \"x\", \"bytes\": 1000}, {\"id\": \"y\", \"bytes\": 0, \"home\": \"host\", \"final\": true}], \"ops\": [" OP("A", "") "]}", true},
    {"an infeasible problem with all the host and SSD that a number can say",
     "{\"format\": \"gnncc-problem/1\", \"name\": \"p\", \"hardware\": {\"device_bytes\": 1, \"host_bytes\": 9223372036854775807, \"ssd_bytes\": 9223372036854775807}, "
     "\"data\": [{\"id\": \"x\", \"bytes\": 2}], \"ops\": [" OP("A", ", \"writes\": [\"x\"]") "]}", false},
    {"a result in the place of an operand", PLACES("\"bytes\": 100", "\"bytes\": 100", "\"reads\": [\"x\"], ", OVER("y", "x")), true},
    {"a result beside an operand", PLACES("\"bytes\": 100", "\"bytes\": 100", "\"reads\": [\"x\"], ", "\"y\""), false},
    {"all the device that a number can say",
     "{\"format\": \"gnncc-problem/1\", \"name\": \"p\", \"hardware\": {\"device_bytes\": 9223372036854775807}, "
     "\"data\": [{\"id\": \"x\", \"bytes\": 36028797018963968}], \"ops\": [" OP("A", ", \"writes\": [\"x\"]") "]}", true},
};

static void plan_extremes(Tap *tap) {
  for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
    Arena *arena = arena_new();
    ProblemError error;
    PlannerOptions options;
    PlannerReport report;
    PlannerText made = {0};
    planner_default_options(&options);
    Problem *problem = problem_read_json(arena, extremes[i].text, strlen(extremes[i].text), &error);
    PlannerPlan *plan = problem ? planner_plan_checked(extremes[i].text, strlen(extremes[i].text), problem, &options, arena, &report, &made) : NULL;
    tap_ok(tap, problem && (plan != NULL) == extremes[i].fits && made.is_valid == extremes[i].fits, "%s", extremes[i].what);
    arena_free(arena);
  }
}

/* Few steps and many pieces: the effort counts them. */
static void plan_many_pieces(Tap *tap) {
  Arena *arena = arena_new();
  const char *at = strstr(golden_problem_a, "{\"id\": \"x1\", ");
  char *text = arena_printf(arena, "%.*s{\"id\": \"x1\", \"chunks\": 20000, %s", (int)(at - golden_problem_a), golden_problem_a, at + strlen("{\"id\": \"x1\", "));
  ProblemError error;
  PlannerOptions options;
  PlannerReport report;
  planner_default_options(&options);
  options.effort = PLANNER_FAST;
  bool ok = planner_plan(problem_read_json(arena, text, strlen(text), &error), &options, arena, &report) && report.evaluations < 40000;
  if (!tap_ok(tap, ok, "twenty thousand pieces and seven steps")) tap_note("%lld evaluations", (long long)report.evaluations);
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
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) judge_plan(&tap, &plans[i]);
  refuse_size(&tap);
  plan_extremes(&tap);
  plan_many_pieces(&tap);
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
