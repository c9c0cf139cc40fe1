/* report.h: the plan as text and as JSON. Views of Schedule and Layout; they decide nothing. */
#ifndef GNNCC_REPORT_H
#define GNNCC_REPORT_H

#include "emit.h"

/* The explanation of `--plan`. is_verbose: every value and every step. */
void report_plan_text(const Emission *emission, bool is_verbose, FILE *out);
/* report_json.c: the document of `--plan=json`, which the program carries too; the text is the arena's. */
const char *report_plan_json(const Emission *emission);
/* "fits - peak 21.7 of 24.0 GiB device, ..." */
const char *report_verdict(const Emission *emission);

#endif
