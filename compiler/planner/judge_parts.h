/* judge_parts.h: what the files of the judge share: the two documents as they were read, and what stops the judge. */
#ifndef GNNCC_PLANNER_JUDGE_PARTS_H
#define GNNCC_PLANNER_JUDGE_PARTS_H

#include "judge.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdbool.h>

#include "lang/arena.h"

__extension__ typedef __int128 Big;

enum { HOME_OF_NONE, HOME_OF_DEVICE, HOME_OF_HOST, HOME_OF_SSD };
enum { MAY_RETAIN = 1, MAY_HOST = 2, MAY_SSD = 4, MAY_RECOMPUTE = 8 };
enum { READS = 1, WRITES = 2 };

typedef struct Link {
  bool exists;
  int64_t bw, lat;
} Link;

typedef struct Thing {
  const char *id;
  int64_t bytes, *each; /* each: of its chunks, where they are listed */
  int chunks, home, *homes, first; /* homes: likewise */
  bool final;
  int end, *ends; /* of what is final: where it ends, likewise */
  unsigned may;
} Thing;

typedef struct Bit {
  int thing, chunk;
  int64_t n;
  int home;
  bool final, ends_on_ssd;
  unsigned may;
  int first_write, last_write, writes; /* base steps */
} Bit;

typedef struct Leg {
  int link; /* -1: compute */
  bool by_bytes;
  int64_t amount, *each; /* each: of the job's chunks, where they are listed */
} Leg;

typedef struct Way {
  const char *name;
  int legs;
  Leg *leg;
  int64_t work, host_work;
} Way;

typedef struct Job {
  const char *id;
  int chunks, first_slot;
  bool can_rerun;
  int ways, chosen;
  Way *way;
  json_t *reads, *writes;
} Job;

typedef struct Touch {
  int bit, how;
  int over; /* of what is written: the bit whose place it may take, or -1 */
} Touch;

typedef struct Base {
  int job, k;
  int touches;
  Touch *touch; /* by bit, one entry a bit */
} Base;

typedef struct Ext {
  int base;
  bool again;
  int outs;
  int *out; /* bits a re-run produces */
  int64_t scratch;
  int join; /* J for communication, else -1 */
} Ext;

typedef struct Visit {
  int step;
  bool produces;
} Visit;

typedef struct Trip {
  int bit, after, g, f, to; /* f: -1 when the plan leaves it open */
  bool clean, used;
  int v, index;
  int64_t read_done;
} Trip;

typedef struct Stay { /* one residency */
  int bit, from, until; /* until: last step it is needed; the release of a moved piece may come later */
  int trip; /* leaves by this trip, or -1 */
  bool leaves_for_good; /* a final piece waiting for its copy */
  int released; /* first step it no longer occupies */
  int taken_by; /* the bit that step `until` makes in its place, or -1 */
} Stay;

typedef struct Judge {
  jmp_buf stop;
  FILE *out;
  int verdict;
  Arena *arena;
  json_t *problem, *plan;
  json_t *thing_index, *job_index, *link_index;

  const char *name;
  int64_t device, host, ssd, ring;
  Link *link;
  int links;
  Thing *thing;
  int things;
  Bit *bit;
  int bits;
  Job *job;
  int jobs;
  Base *base;
  int bases;
  int *slot; /* base step of (job, k) */

  Ext *ext;
  int exts;
  int *ext_of; /* base step -> extended step */
  Visit **visit;
  int *visits;
  int *last_use; /* by bit: base step */
  bool *near_talk;
  Trip *trip;
  int trips;
  Stay *stay;
  int stays;
  int64_t *need, *on_host, *on_ssd; /* by extended step */
  int64_t *occupied, *beta;
  int64_t makespan, peak, bound;
} Judge;

#define BAD(...) judge_stop(j, PLANNER_CHECK_BAD_INPUT, __VA_ARGS__)
#define INVALID(...) judge_stop(j, PLANNER_CHECK_INVALID, __VA_ARGS__)

#define NEW(count, type) ((type *)arena_alloc(j->arena, (size_t)(count) * sizeof(type)))

/* The verdict, with a line that says why, goes to planner_check_json. */
_Noreturn void judge_stop(Judge *j, int verdict, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Members of a document; what is of another type, missing or below `low` is bad input. `absent`: what an absent member means, INT64_MIN: it must be there. */
json_t *judge_member(Judge *j, json_t *object, const char *key, json_type type, bool needed, const char *where);
int64_t judge_number(Judge *j, json_t *object, const char *key, int64_t low, int64_t absent, const char *where);
const char *judge_text(Judge *j, json_t *object, const char *key, const char *where);
void judge_only_keys(Judge *j, json_t *object, const char *where, const char *keys); /* keys: a space around each */

/* ns of n bytes on a link (S1), and of a leg of step k of a job, and of all of it (S5). */
int64_t judge_ride(Judge *j, int link, int64_t n);
int64_t judge_leg_time(Judge *j, const Job *job, int k, const Leg *leg);
int64_t judge_way_time(Judge *j, const Job *job, int k, const Way *way);

static inline bool talks(const Way *way) { return way->leg[way->legs - 1].link >= 0; }
static inline int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* S20: what the certificate of the plan proves, to `bound`. */
void judge_certificate(Judge *j);

#endif
