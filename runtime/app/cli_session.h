/* cli_session.h: data, an instance with them, and weights, as the command line has them. */
#ifndef GNN_CLI_SESSION_H
#define GNN_CLI_SESSION_H

#include "cli.h"

typedef struct gnn_session {
  gnn_instance *instance;
  gnn_dataset *dataset; /* NULL: nothing comes back to it */
} gnn_session;

/* Everything for training at full speed: data, an instance with its pages touched, reset to the seed. Errors are printed; returns the exit code. */
int gnn_session_open(const gnn_cli *cli, gnn_session *session);
/* And with the weights asked for, or those that train left. */
int gnn_session_open_trained(const gnn_cli *cli, gnn_session *session);
void gnn_session_close(const gnn_session *session);

/* The rows that --split asks for; GNN_SPLIT_COUNT: all; -1, after a message: there is no such split. */
int gnn_cli_split(const gnn_cli *cli);
const char *gnn_cli_row_word(const gnn_program *program); /* what a row of the scores is */

#endif
