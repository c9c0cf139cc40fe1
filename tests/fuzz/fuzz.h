/* fuzz.h: what the targets share. A target is LLVMFuzzerTestOneInput (libFuzzer's) for one reader: whatever the bytes, it reads them or says
 * what is wrong with them, and gives back what it took. driver.c runs targets where there is no libFuzzer. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold of any input. */
#define HOLDS(condition) ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition), abort()))

/* A folder of this process alone, gone when it ends. */
const char *fuzz_folder(void);
/* A file in it of these bytes; its path lives until the next call. */
const char *fuzz_file(const char *name, const uint8_t *data, size_t size);
void fuzz_remove(const char *name);

/* Makes the checksums of a safetensors container right, where it has any (sums.c). */
void fuzz_repair_sums(uint8_t *file, size_t size);

/* Several files from one input: after each "\n@NAME\n" those bytes up to the next, of names among `names` (NULL after the last); the
 * others are removed. */
void fuzz_files(const char *const *names, const uint8_t *data, size_t size);

#endif
