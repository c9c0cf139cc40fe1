/* language_server.h: gnncc --lsp: the language server protocol 3.17 on standard input and output. */
#ifndef GNNCC_LANGUAGE_SERVER_H
#define GNNCC_LANGUAGE_SERVER_H

#include "options.h"

/* Until the client says exit: 0; 1 where it did not say shutdown before, or its messages are none. */
int language_server(const Options *options, const char *share_dir);

#endif
