/* document.h: a gnncc-report/1 read and judged; every view is a function of it. docs/formats.md has the schema. */
#ifndef GNNCC_VIEWS_DOCUMENT_H
#define GNNCC_VIEWS_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "compiler/base/time_unit.h"
#include "compiler/lowering/measured.h"
#include "lang/vocabulary.h"

typedef struct DocNames {
  int count;
  const char **list;
} DocNames;

/* Which piece of a value that is cut, or step of a kernel that runs by parts; group NULL: it is whole. */
typedef struct DocPiece {
  const char *group;   /* the value, or what the kernel does; common to all slices */
  int64_t part, slice; /* from 1; 0: all rows, all columns */
} DocPiece;

typedef struct DocStep {
  int64_t step, line, decided_by, waits_for; /* decided_by, waits_for 0: none */
  const char *lane, *phase, *kernel, *what, *value, *to, *from; /* value, to, from: NULL for kernels */
  double start, seconds, flops;
  int64_t bytes, device_bytes, host_bytes, ssd_bytes;
  DocNames reads, writes, frees;
  int after_count;
  int64_t after[2];
  DocPiece piece;   /* of the kernel; of a move and a wait, of the value */
  const char *layer; /* of a kernel the call that it stems from, of one in a loop with its turn from 0, "conv.2"; NULL: none */
  const char *code; /* what it became, or NULL */
  bool is_measured; /* where the document is, every step of the training epoch */
  double measured_start, measured_seconds;
} DocStep;

typedef struct DocAlternative {
  Fate fate;
  bool fits;
  double adds;
  int64_t over_bytes;
} DocAlternative;

typedef struct DocValue {
  const char *value, *what;
  Fate fate;
  int64_t line, bytes;
  double adds;
  bool is_pinned;
  DocPiece piece;
  int alternative_count;
  DocAlternative alternatives[FATE_COUNT];
} DocValue;

typedef struct DocBlock {
  const char *name, *kind, *value, *how; /* value, how: NULL for what is no value */
  int64_t offset, bytes, first_step, last_step;
} DocBlock;

typedef struct DocSlot {
  const char *value;
  Tier tier;
  int64_t bytes, first_step, last_step;
} DocSlot;

typedef struct DocLane {
  const char *lane;
  int64_t steps;
  double busy, waiting, idle;
} DocLane;

typedef struct DocLink {
  const char *lane;
  double bandwidth, latency;
} DocLink;

enum { DOC_KINDS = 7 };
extern const char *const doc_kinds[DOC_KINDS]; /* graph, features, ... */

/* From the end of one kernel to the end of the next. */
typedef struct DocMemory {
  int64_t first_step, step, device_bytes, host_bytes, ssd_bytes, kinds[DOC_KINDS], gaps; /* gaps: below the highest block */
  double start, end;
} DocMemory;

typedef struct DocTier {
  int64_t peak_bytes, budget_bytes;
} DocTier;

typedef struct DocEpoch {
  double seconds, compute, recompute, wait, transfer, evaluation, slowed;
} DocEpoch;

/* Of a program of ranks, the times of one of them. */
typedef struct DocRank {
  int64_t rank;
  const char *name;        /* first, slowest, last */
  double *start, *seconds; /* per step */
  int64_t count;
} DocRank;

typedef struct Document {
  Arena *arena;
  json_t *json;   /* owned by the document */
  const char *generator, *model, *data, *target, *fingerprint, *device;
  DocTier tiers[3]; /* device, host, ssd */
  int64_t lower_bound_bytes, training_steps, peak_step;
  DocEpoch epoch;
  const Measured *measured; /* NULL: nothing was */
  const char *file;
  DocNames source, notes;
  int step_count, value_count, block_count, slot_count, lane_count, link_count, memory_count;
  DocStep *steps;
  int once_count;
  DocStep *once; /* before the first epoch, whose numbers follow those of the evaluation */
  DocValue *values;
  DocBlock *blocks;
  DocSlot *slots;
  DocLane *lanes;
  int rank_count;
  DocRank *ranks;
  DocLink *links;
  DocMemory *memory;
} Document;

/* NULL with *fault set, "steps[3].lane: a text is needed", when the text is not a gnncc-report/1. */
Document *document_read(Arena *arena, const char *text, size_t length, const char **fault);
void document_free(Document *document);
/* The measured steps and peaks of another document of the same program; false where it has none, or is of another. */
bool document_add_measured(Document *document, const Document *run, const char **fault);

/* Takes the member `code` over; NULL: there is none. */
void document_add_code(Document *document, json_t *code);

/* The steps that views show by default: those of the epoch, or of the evaluation where nothing is trained. */
int document_shown_steps(const Document *document, const DocStep **first);
/* Seconds of these. */
double document_shown_seconds(const Document *document);
/* Those steps were measured; and how many seconds they took then. */
bool document_has_run(const Document *document);
double document_run_seconds(const Document *document);
/* Some step says of which layer it is. */
bool document_has_layers(const Document *document);
/* When a step began and what it took, as estimated or as measured. */
static inline double step_start(const DocStep *step, bool is_measured) { return is_measured ? step->measured_start : step->start; }
static inline double step_seconds(const DocStep *step, bool is_measured) { return is_measured ? step->measured_seconds : step->seconds; }
/* It took time; of a run, a wait of at least a thousandth of the epoch: asking whether a copy is done takes time, too. */
bool document_shows(const Document *document, const DocStep *step, bool is_measured);
/* What it does, as all pieces do it. */
const char *document_what(const Document *document, const DocStep *step);
const DocStep *document_step(const Document *document, int64_t number);

/* The shown steps at the times of a rank, and "rank 2, the slowest: computes 3.1 of 3.5 ms". */
const DocStep *document_rank_steps(const Document *document, const DocRank *rank);
const char *document_rank_title(const Document *document, const DocRank *rank);

/* Of each shown step the index of the first that does the same for some piece, in the same phase: often its own. */
const int *document_first_of(const Document *document);

/* Kernels that run in turns, part by part. */
typedef struct DocTurn {
  int first, last; /* indices of steps, with the copies and waits between them */
  const char *phase;
  int part_count, slice_count, kernel_count;
  int *slices;             /* the steps at which slices begin that follow each other; without slices, the first alone */
  const DocStep **kernels; /* the first step of each */
} DocTurn;

typedef struct DocTurns {
  int count;
  DocTurn *list;
} DocTurns;

/* turns.c: of the shown steps; none where nothing is cut. */
DocTurns document_turns(const Document *document);
/* "h, m_slice x4", with `times` for the x; "m_slice 4/4" where the others are elsewhere. */
const char *document_turn_names(const Document *document, const DocTurn *turn, const char *times);

/* Kernels of one layer that follow each other on the compute lane, in one direction. */
typedef struct DocBracket {
  const char *text; /* "conv1"; of a loop with its turn and how many there are, "conv 2/3" */
  const char *turn; /* "2/3", or "" */
  double from, to;  /* seconds */
} DocBracket;

typedef struct DocBrackets {
  int count;
  DocBracket *list;
} DocBrackets;

/* brackets.c: of the shown steps; none where the document says of no layers. */
DocBrackets document_brackets(const Document *document, bool is_measured);
/* What of its text has room in so many columns: all, the turn, the beginning followed by an ellipsis, or nothing; and how many columns that is. */
const char *bracket_label(const Document *document, const DocBracket *bracket, int room, bool is_utf8, int *columns);

/* Of one epoch, and of all that is told of it. */
TimeUnit document_time_unit(const Document *document);

#endif
