/* emit_rows.h: a kernel's body as C, computed for one row at a time. */
#ifndef GNNCC_EMIT_ROWS_H
#define GNNCC_EMIT_ROWS_H

#include "emit_arguments.h"

/* Lines of C by how often they run: once for a row, once for an edge of the row, once for each turn of all loops over dimensions but the
 * innermost (on a processor), once for an element; and in the loop of a sum within the row, which is being written. */
typedef enum Level { LEVEL_ROW, LEVEL_EDGE, LEVEL_OUTER, LEVEL_ELEMENT, LEVEL_INNER, LEVEL_COUNT = LEVEL_INNER } Level;

typedef enum RowKind { ROWS_NONE, ROWS_SELF, ROWS_SRC, ROWS_DST, ROWS_EDGE } RowKind;

/* Where an element of a value is: its row, and for each of its dimensions which loop runs over it. */
typedef struct Index {
  RowKind row;
  int rank;
  int loop[MAX_RANK];     /* NO_INDEX: the dimension has size 1 or is not there */
  int64_t begin[MAX_RANK]; /* that the loop's first turn is at */
} Index;

/* The loop of a sum or an extreme within a row, inside of those over the elements. */
typedef struct InnerLoop {
  const char *name;
  int64_t size;
} InnerLoop;

enum { INNER_DEPTH = 8 };

typedef struct Temporary {
  ValueId value;
  Index index;
  const char *name;
  bool is_acc; /* what the anchor leaves */
} Temporary;

/* Who has which elements of a row. lanes 0: one thread all of them, one after the other (in C). Else lane l of a group of threads has the
 * elements vector * (lanes * block + l) + n, n < vector: those of a block lie together and are loaded together. */
typedef struct Spread {
  int lanes, vector;
} Spread;

typedef struct Pointer {
  const char *at; /* the place that it is counted from */
  ValueId value;
  RowKind row;
  Level level;
  bool is_output;
  bool is_own;    /* it is to the lane's own elements */
  const char *name;
  const char *numbers; /* those of a block, where they are loaded or stored together; NULL: they are not */
} Pointer;

/* What stands for the rows of a value that the kernel has at hand and does not load: an array of its numbers, with an offset where it holds several rows. */
typedef struct Local {
  ValueId value;
  const char *array;
} Local;

/* The dropouts of a kernel's rows: site and probability, a double expression. */
typedef struct RowDropout {
  int site;
  const char *probability;
  unsigned drawn; /* 1 << RowKind: for which rows the bits are at hand */
} RowDropout;

/* 32 bits that are computed together: the word and where it is stored. */
typedef struct BitWord {
  const char *name, *pointer;
} BitWord;

typedef struct RowWriter {
  const Emission *emission;
  Arguments *arguments;         /* of the step: where things lie */
  const Kernels *kernels;
  const Kernel *kernel;
  Arena *arena;
  char *text[LEVEL_COUNT];      /* what is to be printed at each level, one statement a line */
  unsigned uses;                /* what the text mentions */
  int dropout_count;
  RowDropout *dropouts;
  int inner_depth;              /* sums within the row that are being written, one in the other */
  char *inner_text[INNER_DEPTH];
  int inner_count;              /* their loops, and those of others before: numbers loop_count and on */
  InnerLoop *inner;
  int loop_count;               /* loops over the dimensions of the element loop nest */
  int64_t loop_size[MAX_RANK];
  bool is_flat;                 /* all dimensions run as one loop */
  bool has_bits;                /* reads or writes packed bits: the loop runs in blocks of 32 */
  bool has_long[LEVEL_COUNT];   /* exponentials and the like, draws of dropout */
  bool has_lanes;               /* sums everything into 16 lanes, so that the sum can be a vector's */
  int temporary_count, pointer_count, name_count, local_count;
  Local *locals;
  Temporary *temporaries;
  Pointer *pointers;
  Spread spread;
  char *vector_reads;           /* statements before a lane's elements of a block, which are loaded together */
  char *vector_writes;          /* and after them */
  bool is_in_place;             /* stores go where something is read from: no pointer is the only one */
  bool has_or;                  /* elements add their bits to words in memory: turns of the loop depend on each other */
  bool has_shared_places;       /* some pointers may be equal: an element is stored where one of its own operands was read */
  char *bit_reads;              /* statements before a block of 32 elements */
  int bit_word_count;
  BitWord *bit_words;           /* cleared before it, stored after it */
  char *after_loops;            /* statements after the loops over the elements of a row */
} RowWriter;

/* Loops over the dimensions of `loops`; every access of the kernel decides whether they can run as one. */
RowWriter *rows_new(Arguments *arguments, const Shape *loops);

/* The elements of a row at `pointer`, which has the lane's offset, rows `stride` apart (0: there is one row): the one at hand as a number,
 * and where it is put. `numbers`: what those of a block are called. */
typedef struct OwnElements {
  const char *pointer, *numbers;
  int64_t stride;
  bool is_half;
} OwnElements;
const char *rows_own_number(RowWriter *w, const OwnElements *own, bool is_first); /* is_first: the block's are not loaded yet */
void rows_own_store(RowWriter *w, const OwnElements *own, const char *text);
int64_t rows_alignment(int64_t stride, bool is_half); /* bytes, at most 16, of which everything that begins with a row is a multiple */
int64_t rows_width(const RowWriter *w);               /* of the loops together */

const char *rows_function(const RowWriter *w, int function, const char *a, const char *b); /* of numbers or names: "gnn_exp(x)" */
bool rows_mention(const char *text, const char *name);
bool rows_is_long(int function); /* worth a loop of its own, which can be one of vectors */

/* The name or literal of the element of `value` at `index`, after writing what it takes to have it. */
const char *rows_value(RowWriter *w, ValueId value, Index index);
const char *rows_inner_sum(RowWriter *w, ValueId reduce, Index index); /* likewise, of a sum within the row at an element of it: computed here */
const char *rows_load(RowWriter *w, ValueId id, Index index); /* from where it is stored */
Index rows_full_index(const RowWriter *w, RowKind row); /* an element of a value with the loops' own dimensions */
Index rows_outer_index(const RowWriter *w, const Shape *shape, RowKind row); /* of a value with the outer ones of them */
Level rows_level(const RowWriter *w, const Shape *shape, Index index); /* at which it is known */
const char *rows_offset(const RowWriter *w, const Shape *shape, Index index); /* "j", "h * 8 + o", "0" */
void rows_name(RowWriter *w, ValueId value, Index index, const char *name);
void rows_name_acc(RowWriter *w, ValueId value, Index index, const char *name); /* what the anchor leaves */
void rows_name_local(RowWriter *w, ValueId value, const char *array); /* what earlier stages of the kernel have left for this row, or is kept of an edge */
void rows_write(RowWriter *w, Level level, const char *format, ...) __attribute__((format(printf, 3, 4)));
void rows_store(RowWriter *w, ValueId value, const char *text, RowKind row);
void rows_store_tile(RowWriter *w, ValueId tile, const char *text, RowKind row); /* where the element of its operand, `text`, is one of its columns */

/* What a value is in memory: the type of its elements, and an element as a number and back. */
const char *rows_type(const Kernels *kernels, ValueId value);                        /* "gnn_half" */
const char *rows_loaded(const Kernels *kernels, ValueId value, const char *element); /* "gnn_number(x[j])" */
const char *rows_rounded(const Kernels *kernels, ValueId value, const char *number); /* "gnn_rounded(sum)" */

/* Print the element loops around LEVEL_ELEMENT, indented. */
void rows_print_loops(const RowWriter *w, FILE *out, const char *indent);
char *rows_loops_text(const RowWriter *w, const char *indent);

Index rows_reduced_index(const RowWriter *w, ValueId reduce, Index index);

#endif
