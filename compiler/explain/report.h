/* report.h: the plan as text and as JSON. Views of Schedule and Layout; they decide nothing. */
#ifndef GNNCC_REPORT_H
#define GNNCC_REPORT_H

#include <jansson.h>

#include "explanation.h"
#include "compiler/base/text_table.h"
#include "compiler/lowering/measured.h"

/* The explanation of `--plan`, with what a run measured (or NULL). is_verbose: every value and every step. */
void report_plan_text(const Explanation *explanation, const Measured *run, bool is_verbose, const Screen *screen);
/* The step that makes a value, in words; of a field "given". */
const char *report_made_by(const Kernels *kernels, ValueId value);
/* report_json.c: the document of `--plan=json`, which the program carries too; the text is the arena's. */
const char *report_plan_json(const Explanation *explanation);
/* The emitted code of each kernel of the epoch, the member `code` of pages and annotated sources; NULL where it is too much
 * to carry about. */
json_t *report_code(const Emission *emission);
/* "fits - peak 21.7 of 24.0 GiB device, ..." */
const char *report_verdict(const Emission *emission);

#endif
