/* format_command.h: gnncc --format: programs in canonical layout. */
#ifndef GNNCC_FORMAT_COMMAND_H
#define GNNCC_FORMAT_COMMAND_H

#include "compiler/driver/options.h"

/* The exit status; for --format=check 1 where a program is laid out otherwise. */
int format_command(const Options *options);
/* A program as text, to stdout or where -o says: 0, or 4 after a message. */
int format_write(const Options *options, const char *text);

#endif
