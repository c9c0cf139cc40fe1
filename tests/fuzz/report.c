/* Reports, measured runs, profiles and tunings: the JSON that gnncc reads again. */
#include "fuzz.h"

#include "compiler/base/json_file.h"
#include "compiler/explain/views/document.h"
#include "compiler/lowering/tuning.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *arena = arena_new();
  const char *fault = NULL;
  Document *document = document_read(arena, (const char *)data, size, &fault);
  HOLDS(!document == !!fault);
  if (document) {
    const DocStep *steps;
    document_shown_steps(document, &steps);
    document_add_measured(document, document, &fault);
    document_time_unit(document);
  }
  document_free(document);
  fault = NULL;
  Tuning *tuning = tuning_read(arena, fuzz_file("tuning.json", data, size), "compute_75", &fault);
  HOLDS(tuning || fault);
  arena_free(arena);
  return 0;
}
