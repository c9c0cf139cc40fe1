/* memory_csv: what lies on each tier at every step, as CSV for spreadsheets. */
#include <inttypes.h>

#include "views.h"

static const char view_memory_header[] = "step,tier,bytes,start_seconds,end_seconds,graph,features,weights,optimizer,activation,gradient,scratch,gaps\n";

void view_memory(const Document *d, FILE *out) {
  fputs(view_memory_header, out);
  for (int i = 0; i < d->memory_count; i++) {
    const DocMemory *m = &d->memory[i];
    fprintf(out, "%" PRId64 ",device,%" PRId64 ",%.12g,%.12g", m->step, m->device_bytes, m->start, m->end);
    for (int k = 0; k < DOC_KINDS; k++) fprintf(out, ",%" PRId64, m->kinds[k]);
    fprintf(out, ",%" PRId64 "\n%" PRId64 ",host,%" PRId64 ",%.12g,%.12g,,,,,,,,\n", m->gaps, m->step, m->host_bytes, m->start, m->end);
    fprintf(out, "%" PRId64 ",ssd,%" PRId64 ",%.12g,%.12g,,,,,,,,\n", m->step, m->ssd_bytes, m->start, m->end);
  }
}
