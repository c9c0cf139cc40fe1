/* emit_arguments.h: what the function of a step is told when it is called: where things of the plan lie, and numbers.
 *
 * A step that runs again, a part, and the same step of the order that keeps everything differ in nothing else, so they share one
 * function. Places are constants where the function is called.
 */
#ifndef GNNCC_EMIT_ARGUMENTS_H
#define GNNCC_EMIT_ARGUMENTS_H

#include "emit.h"

typedef enum ArgumentKind {
  ARGUMENT_VALUE,    /* a value, or the part of it of the step */
  ARGUMENT_PIECES,   /* of a value in halos, those that the step touches, or all of one that it gathers from: a place for each part */
  ARGUMENT_RESIDENT, /* a block that always stays and is no value: the state of an optimiser */
  ARGUMENT_SCRATCH,  /* of the step */
  ARGUMENT_SUMS,     /* to which the parts of a kernel add */
  ARGUMENT_NUMBER,
  ARGUMENT_ORDER     /* 0 in the plan, 1 in the order that keeps everything */
} ArgumentKind;

typedef enum ElementKind { ELEMENTS_REAL, ELEMENTS_HALF, ELEMENTS_BITS, ELEMENTS_DOUBLE, ELEMENTS_LABELS, ELEMENTS_OFFSETS, ELEMENT_KIND_COUNT } ElementKind;

typedef struct Argument {
  ArgumentKind kind;
  const char *name;     /* of the parameter */
  ElementKind elements; /* of a place */
  bool is_written;
  ValueId value;
  int block;            /* ARGUMENT_RESIDENT */
  int64_t number;
} Argument;

typedef struct Arguments {
  const Emission *emission;
  const Step *step;
  const Kernel *stage; /* of the step's kernel, as a kernel of its own; NULL where there are no stages */
  int count;
  Argument *list;
  int fetched_count;
  ValueId *fetched;      /* whose rows at far ends of edges are fetched early (emit_rows.c) */
  int64_t fetched_bytes; /* of the widest of those rows */
} Arguments;

/* What a text mentions, so that only that is declared before it. */
enum {
  USES_RUN = 1,   /* g */
  USES_STEP = 2,  /* s, the step's struct */
  USES_ACC = 4,
  USES_ROW = 8, USES_SRC = 16, USES_DST = 32, USES_EDGE = 64, USES_CODE = 128, USES_EDGE_CODE = 256, USES_FAR_PART = 512, USES_AHEAD = 1024
};

/* A place as a pointer in the functions of a step: "s->h"; for CUDA "P_HALF(h)". Adds to *uses. */
const char *argument_at_value(Arguments *a, ValueId value, bool is_written, unsigned *uses);
const char *argument_at_labels(Arguments *a, ValueId field, unsigned *uses);
const char *argument_at_node_ids(Arguments *a, unsigned *uses); /* what the data call each node, which have an order of their own: "g->node_id", or where it lies apart "s->node_ids" */
const char *argument_at_offsets(Arguments *a, ValueId offsets, unsigned *uses);
const char *argument_at_scratch(Arguments *a, ElementKind elements, unsigned *uses);
const char *argument_at_sums(Arguments *a, ElementKind elements, unsigned *uses);
/* Of halos: offsets in the arena, for each part that of the rows that it has for the step's or gets from it: "s->h_halo", for CUDA "place_h_halo". Of what is gathered from
 * pieces: where row 0 would be, "s->h_pieces". */
const char *argument_at_pieces(Arguments *a, ValueId value, bool is_written, unsigned *uses);
bool step_gathers(const Step *step, ValueId value); /* it is a step of a part and reads any rows of the value, from its pieces */
/* The argument's name alone: "h"; and as an offset, for CUDA: "place_h". */
const char *argument_name_of_value(Arguments *a, ValueId value, bool is_written);
const char *argument_name_of_pieces(Arguments *a, ValueId value, bool is_written);
const char *argument_offset_of_value(Arguments *a, ValueId value, bool is_written);
const char *argument_offset_of_scratch(Arguments *a);
const char *argument_offset_of_sums(Arguments *a);
/* What steps of other values share has names by its part in the step, wherever it lies. A number is "s->part". */
const char *argument_named_value(Arguments *a, const char *name, ValueId value, bool is_written, unsigned *uses);
const char *argument_named_block(Arguments *a, const char *name, int block, unsigned *uses);
const char *argument_number(Arguments *a, const char *name, int64_t number, unsigned *uses);
const char *argument_order(Arguments *a, unsigned *uses);

/* ---- the parameters, and what is passed ---- */

int argument_count(const Emission *emission, const Argument *argument); /* so many places */
bool argument_is_place(const Argument *argument);          /* and no number */
const char *argument_type(const Argument *argument);       /* "const gnn_real *", "int64_t " */
/* Where pieces lie, as lists of the function of C that is being printed: "static const int64_t pieces_1[] = {..};". */
typedef struct PieceLists {
  int count;
  const char **texts;
} PieceLists;

/* ", V(h), 2", ", AT_h, 2" at a step of a schedule; `layout` is that of the order that keeps everything, or the plan's. Lists of pieces that are new are printed. */
const char *arguments_passed(const Emission *emission, const Arguments *a, const Schedule *schedule, const Layout *layout, const Step *step, PieceLists *lists, FILE *out);

const char *argument_before_rows(const Emission *emission, const Block *block); /* " - 640": of a piece, from its address to where row 0 would lie */
void emit_place(const char *table, const Block *block, FILE *out); /* "#define AT_h INT64_C(64)", without the line's end */

#endif
