/* outfile.h: files that gnncc writes. Whole or not at all, and never over what it did not write. */
#ifndef GNNCC_OUTFILE_H
#define GNNCC_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "lang/arena.h"

/* What everything gnncc writes says of itself. */
extern const char outfile_mark[];

/* Nothing is there, or something that may be written again; false with a message. */
bool outfile_may_write(const char *path, bool is_forced);

typedef struct OutFile {
  const char *path;
  char *temporary; /* the name it has until it is whole: one that nobody can guess */
  FILE *out;
} OutFile;

/* NULL with a message. */
FILE *outfile_open(OutFile *file, const char *path);
/* `mode` as for open: less the umask. 0, or 4 with a message and nothing written. */
int outfile_close(OutFile *file, mode_t mode);
/* What is written so far is dropped: `status`. */
int outfile_drop(OutFile *file, int status);
/* Closes a stream; false with errno where not all of it has arrived. */
bool outfile_end(FILE *out);
/* The end of a command that has printed: `status`, or 4 with a message where not all of it could be written (a 4 has had
 * its message). */
int outfile_end_stdout(int status);
/* "cannot WHAT PATH: ...": 4; 3 where it is memory that is missing. */
int outfile_complain(const char *what, const char *path);

#endif
