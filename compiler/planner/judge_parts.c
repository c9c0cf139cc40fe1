/* What the judge and its reading of certificates share: the end of a judgement, members of documents, times of links and of steps. */
#include "judge_parts.h"

#include <stdarg.h>
#include <string.h>

#include "compiler/base/shown.h"

enum { MAX_NAME = 4096 }; /* S1 */

_Noreturn void judge_stop(Judge *j, int verdict, const char *format, ...) {
  j->verdict = verdict;
  if (j->out) {
    va_list args;
    char reason[sizeof(Shown)];
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    fprintf(j->out, "%s: %s\n", verdict == PLANNER_CHECK_INVALID ? "invalid" : "bad input", shown(reason).text);
  }
  longjmp(j->stop, 1);
}

json_t *judge_member(Judge *j, json_t *object, const char *key, json_type type, bool needed, const char *where) {
  json_t *value = json_object_get(object, key);
  if (!value && needed) BAD("%s.%s: missing", where, key);
  if (value && json_typeof(value) != type) BAD("%s.%s: of the wrong type", where, key);
  return value;
}

int64_t judge_number(Judge *j, json_t *object, const char *key, int64_t low, int64_t absent, const char *where) {
  bool needed = absent == INT64_MIN;
  json_t *value = judge_member(j, object, key, JSON_INTEGER, needed, where);
  if (!value) return absent;
  if (json_integer_value(value) < low) BAD("%s.%s: %lld is too small", where, key, (long long)json_integer_value(value));
  return json_integer_value(value);
}

const char *judge_text(Judge *j, json_t *object, const char *key, const char *where) {
  json_t *text = judge_member(j, object, key, JSON_STRING, true, where);
  if (json_string_length(text) == 0 || json_string_length(text) > MAX_NAME) BAD("%s.%s: not 1 to %d bytes (S1)", where, key, MAX_NAME);
  return json_string_value(text);
}

void judge_only_keys(Judge *j, json_t *object, const char *where, const char *keys) {
  const char *key;
  json_t *value;
  if (!json_is_object(object)) BAD("%s: expected an object", where);
  json_object_foreach(object, key, value) {
    char padded[72];
    snprintf(padded, sizeof padded, " %.64s ", key);
    if (strchr(key, ' ') || !strstr(keys, padded)) BAD("%s: unknown key \"%.60s\"", where, key);
  }
}

int64_t judge_ride(Judge *j, int link, int64_t n) {
  Big ns = (Big)j->link[link].lat + ((Big)n * 1000000000 + j->link[link].bw - 1) / j->link[link].bw;
  if (ns >> 56) BAD("a transfer takes 2^56 ns or more");
  return (int64_t)ns;
}

int64_t judge_leg_time(Judge *j, const Job *job, int k, const Leg *leg) {
  Big a = leg->amount;
  int64_t part = leg->each ? leg->each[k] : (int64_t)(a * (k + 1) / job->chunks - a * k / job->chunks);
  return leg->by_bytes ? judge_ride(j, leg->link, part) : part;
}

int64_t judge_way_time(Judge *j, const Job *job, int k, const Way *way) {
  Big sum = 0;
  for (int i = 0; i < way->legs; i++) sum += judge_leg_time(j, job, k, &way->leg[i]);
  if (sum >> 56) BAD("op \"%.80s\" takes 2^56 ns or more", job->id);
  return (int64_t)sum;
}
