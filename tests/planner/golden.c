#include "golden.h"

#define HARDWARE(device, extra)                                                                                     \
  "{\"format\": \"gnncc-problem/1\", \"name\": \"golden\", \"hardware\": {\"device_bytes\": " #device               \
  ", \"host_bytes\": 1000, \"ssd_bytes\": 1000, \"ring_bytes\": 100, \"channels\": {"                              \
  "\"d2h\": {\"bw\": 4000000000, \"lat_ns\": 0}, \"h2d\": {\"bw\": 5000000000, \"lat_ns\": 0},"                   \
  "\"ssdw\": {\"bw\": 2000000000, \"lat_ns\": 0}, \"ssdr\": {\"bw\": 2500000000, \"lat_ns\": 0}" extra "}},"

#define PROBLEM_A(fixed, final)                                                                                     \
  HARDWARE(260, "")                                                                                                 \
  "\"data\": [{\"id\": \"x0\", \"bytes\": 20, \"home\": \"device\"}, {\"id\": \"x1\", \"bytes\": 100},"            \
  "{\"id\": \"x2\", \"bytes\": 100}, {\"id\": \"x3\", \"bytes\": 100}, {\"id\": \"g3\", \"bytes\": 20},"           \
  "{\"id\": \"g2\", \"bytes\": 20}, {\"id\": \"g1\", \"bytes\": 20},"                                              \
  "{\"id\": \"w\", \"bytes\": 10, \"final\": " final "}], \"ops\": ["                                                \
  "{\"id\": \"F1\", \"phase\": \"fwd\"" fixed ", \"reads\": [\"x0\"], \"writes\": [\"x1\"], \"ns\": 10},"          \
  "{\"id\": \"F2\", \"phase\": \"fwd\"" fixed ", \"reads\": [\"x1\"], \"writes\": [\"x2\"], \"ns\": 10},"          \
  "{\"id\": \"F3\", \"phase\": \"fwd\"" fixed ", \"reads\": [\"x2\"], \"writes\": [\"x3\"], \"ns\": 10},"          \
  "{\"id\": \"L\", \"phase\": \"fwd\", \"recompute\": false, \"reads\": [\"x3\"], \"writes\": [\"g3\"], \"ns\": 10},"\
  "{\"id\": \"B3\", \"phase\": \"bwd\", \"reads\": [\"g3\", \"x2\"], \"writes\": [\"g2\"], \"ns\": 10},"           \
  "{\"id\": \"B2\", \"phase\": \"bwd\", \"reads\": [\"g2\", \"x1\"], \"writes\": [\"g1\"], \"ns\": 10},"           \
  "{\"id\": \"B1\", \"phase\": \"bwd\", \"reads\": [\"g1\", \"x0\"], \"writes\": [\"w\"], \"ns\": 10}]}"

const char golden_problem_a[] = PROBLEM_A("", "true");
const char golden_problem_a_fixed[] = PROBLEM_A(", \"recompute\": false", "true");

/* What has no home ends on the SSD, or a chunk of it does. */
static const char golden_problem_f[] = PROBLEM_A("", "\"ssd\""), golden_problem_g[] = PROBLEM_A("", "[\"host\", \"ssd\"], \"chunks\": 2");

const char golden_problem_c[] = HARDWARE(450, ", \"nvlink\": {\"bw\": 10000000000, \"lat_ns\": 0}")
    "\"data\": [{\"id\": \"h\", \"bytes\": 100, \"home\": \"device\"}, {\"id\": \"r\", \"bytes\": 40},"
    "{\"id\": \"k\", \"bytes\": 60, \"chunks\": 2}, {\"id\": \"z\", \"bytes\": 100, \"chunks\": 2},"
    "{\"id\": \"s\", \"bytes\": 30, \"chunks\": 2}], \"ops\": ["
    "{\"id\": \"X\", \"phase\": \"fwd\", \"reads\": [\"h\"], \"writes\": [\"r\"], \"variants\": ["
    "{\"name\": \"g2g\", \"stages\": [{\"ch\": \"nvlink\", \"bytes\": 400}], \"work\": 80},"
    "{\"name\": \"g2h\", \"stages\": [{\"ch\": \"d2h\", \"bytes\": 40}, {\"ch\": \"h2d\", \"bytes\": 40}],"
    " \"host_work\": 40}]},"
    "{\"id\": \"K\", \"phase\": \"fwd\", \"reads\": [\"h\"], \"writes\": [{\"data\": \"k\", \"access\": \"all\"}],"
    " \"ns\": 30},"
    "{\"id\": \"A\", \"phase\": \"fwd\", \"chunks\": 2, \"reads\": [\"h\", {\"data\": \"r\", \"access\": \"all\"}, "
    "\"k\"], \"writes\": [\"z\"], \"ns\": 21, \"work\": 10},"
    "{\"id\": \"T\", \"phase\": \"fwd\", \"chunks\": 2, \"reads\": [{\"data\": \"z\", \"access\": \"row\"}, \"k\"],"
    " \"writes\": [\"s\"], \"ns\": 11}],"
    "\"order\": [[\"X\", 0], [\"K\", 0], [\"A\", 0], [\"A\", 1], [\"T\", 1], [\"T\", 0]]}";

/* At home elsewhere, updated, and there again in the end. */
#define PROBLEM_D(home) \
    HARDWARE(260, "") \
    "\"data\": [{\"id\": \"w\", \"bytes\": 200, \"chunks\": 2, \"home\": " home ", \"final\": true}, {\"id\": \"g\", \"bytes\": 40, \"chunks\": 2}], \"ops\": [" \
    "{\"id\": \"F\", \"phase\": \"fwd\", \"chunks\": 2, \"reads\": [\"w\"], \"writes\": [\"g\"], \"ns\": 20}," \
    "{\"id\": \"U\", \"phase\": \"opt\", \"chunks\": 2, \"reads\": [\"g\", \"w\"], \"writes\": [\"w\"], \"ns\": 20}]}"

static const char golden_problem_d[] = PROBLEM_D("\"ssd\""), golden_problem_e[] = PROBLEM_D("[\"host\", \"ssd\"]");

#define A golden_problem_a
#define C golden_problem_c
#define D golden_problem_d
#define E golden_problem_e
#define F golden_problem_f
#define G golden_problem_g
#define MOVE(data, chunk, after, to, g)                                                                             \
  "{\"data\": \"" data "\", \"chunk\": " #chunk ", \"after\": " #after ", \"to\": \"" to "\", \"g\": " #g "}"
#define RERUN(before, op) "{\"before\": " #before ", \"op\": \"" op "\", \"k\": 0}"

const Golden golden_plans[] = {
    {"A, no moves", A, "{}", "[]", "[]", -1, 0, 0, {0}, {0}},
    {"A, x1 to host, g 5", A, "{}", "[]", "[" MOVE("x1", 0, 1, "host", 5) "]", 118, 240, 7,
     {120, 220, 220, 240, 160, 160, 50}, {0, 10, 45, 55, 65, 75, 105}},
    {"A, x1 to host, g 4", A, "{}", "[]", "[" MOVE("x1", 0, 1, "host", 4) "]", 108, 260, 7,
     {120, 220, 220, 240, 260, 160, 50}, {0, 10, 45, 55, 65, 75, 95}},
    {"A, x1 to ssd, g 4", A, "{}", "[]", "[" MOVE("x1", 0, 1, "ssd", 4) "]", 178, 260, 7,
     {120, 220, 220, 240, 260, 160, 50}, {0, 10, 45, 55, 65, 75, 165}},
    {"A, F1 again before 5", A, "{}", "[" RERUN(5, "F1") "]", "[]", 83, 240, 8,
     {120, 220, 220, 240, 160, 140, 160, 50}, {0, 10, 20, 30, 40, 50, 60, 70}},
    {"A, F1 and F2 again before 4", A, "{}", "[" RERUN(4, "F1") ", " RERUN(4, "F2") "]", "[]", 93, 260, 9,
     {120, 220, 220, 140, 140, 240, 260, 160, 50}, {0, 10, 20, 30, 40, 50, 60, 70, 80}},
    {"A, x1 and x2 to host", A, "{}", "[]", "[" MOVE("x1", 0, 1, "host", 5) ", " MOVE("x2", 0, 2, "host", 4) "]", 153,
     240, 7, {120, 220, 220, 240, 160, 160, 50}, {0, 10, 45, 55, 80, 110, 140}},
    {"A, x1 and x2 to ssd", A, "{}", "[]", "[" MOVE("x1", 0, 1, "ssd", 5) ", " MOVE("x2", 0, 2, "ssd", 4) "]", 313,
     240, 7, {120, 220, 220, 240, 160, 160, 50}, {0, 10, 45, 55, 120, 240, 300}},
    {"A, x1 to host for F2 again before 4", A, "{}", "[" RERUN(4, "F2") "]", "[" MOVE("x1", 0, 1, "host", 4) "]", 128,
     260, 8, {120, 220, 220, 140, 240, 260, 160, 50}, {0, 10, 45, 55, 65, 95, 105, 115}},
    {"C, g2g", C, "{\"X\": \"g2g\"}", "[]", "[]", 72, 340, 6, {220, 280, 340, 310, 275, 195}, {0, 0, 30, 50, 61, 67}},
    {"C, g2h", C, "{\"X\": \"g2h\"}", "[]", "[]", 62, 310, 6, {140, 200, 260, 310, 275, 195}, {0, 0, 30, 40, 51, 57}},
    {"C, g2h, z[0] to host", C, "{\"X\": \"g2h\"}", "[]", "[" MOVE("z", 0, 2, "host", 5) "]", 72, 310, 6,
     {140, 200, 260, 310, 275, 195}, {0, 0, 30, 40, 51, 57}},
    {"D, both pieces at once", D, "{}", "[]", "[" MOVE("w", 0, -1, "ssd", 0) ", " MOVE("w", 1, -1, "ssd", 0) "]", 290, 240, 4, {220, 240, 240, 220}, {0, 70, 130, 140}},
    {"E, one piece comes from the host and goes back there", E, "{}", "[]", "[" MOVE("w", 0, -1, "host", 0) ", " MOVE("w", 1, -1, "ssd", 0) "]", 180, 240, 4, {220, 240, 240, 220}, {0, 30, 70, 80}},
    {"F, the result ends on the SSD", F, "{}", "[]", "[" MOVE("x1", 0, 1, "host", 4) "]", 113, 260, 7, {120, 220, 220, 240, 260, 160, 50}, {0, 10, 45, 55, 65, 75, 95}},
    {"G, one piece of it does", G, "{}", "[]", "[" MOVE("x1", 0, 1, "host", 4) "]", 112, 260, 7, {120, 220, 220, 240, 260, 160, 50}, {0, 10, 45, 55, 65, 75, 95}},
};
const int golden_plan_count = sizeof golden_plans / sizeof *golden_plans;
