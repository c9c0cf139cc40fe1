/* emit_source.h: the parts of PREFIX.c, each printed by a file of its own. */
#ifndef GNNCC_EMIT_SOURCE_H
#define GNNCC_EMIT_SOURCE_H

#include "emit.h"
#include "lang/name_table.h"

/* emit_arena.c: where everything lies, and the copies. */
void emit_arena(const Emission *emission, FILE *out);
const char *emit_at(const Emission *emission, int block); /* "AT_h"; "-1" for NO_INDEX */
const char *emit_slot(const Emission *emission, int slot); /* as a gnn_side */
int emit_scores_copies(const Emission *emission); /* how many bring the scores back from the SSD; 0: none */
const char *emit_scores_tier(const Layout *layout); /* where those who ask after an evaluation find scores that ended away: "GNN_HOST" */
bool emit_keeps_half(const Emission *emission); /* a program for the processor whose values are kept in bf16 */
const char *emit_bytes_text(Arena *arena, int64_t bytes); /* "1.5 MiB" */

/* emit_taps.c: values that somebody may ask for by name (--layer). */
typedef struct Taps {
  NameTable told;
  int count, scores_count, untold_count; /* of the first, names of scores that end away from the device */
} Taps;
void emit_tap_calls(const Emission *emission, int step, FILE *out); /* after a step, of what it stores */
Taps emit_taps(const Emission *emission, FILE *out); /* their names */

/* emit_description.c: what the runtime is told. */
void emit_parts(const Emission *emission, FILE *out);    /* of values that are cut */
void emit_measures(const Emission *emission, FILE *out); /* loss and metrics */
void emit_rates(const Emission *emission, FILE *out);    /* learning rates by epoch */
void emit_description(const Emission *emission, FILE *out); /* gnn_program, with what it points to */

#endif
