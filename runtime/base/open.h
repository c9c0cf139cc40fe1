/* open.h: opening files so that nothing waits, and nothing of others is followed. */
#ifndef GNN_OPEN_H
#define GNN_OPEN_H

/* Each gives a descriptor, or -1 with errno; gnn_open_reason has the words for it. */

/* To read. A pipe, a socket or a device is no file: ESPIPE, at once. */
int gnn_open_plain(const char *path);
/* To write into what is there: a device, or a pipe that somebody reads (ENXIO: nobody does). */
int gnn_open_into(const char *path);
/* To write at the end of a file, which is made or, where `is_anew`, emptied; or into what is there, as above. */
int gnn_open_log(const char *path, int is_anew);
/* To write: a new file beside PATH under a name that nobody can guess, malloc'ed: PATH.tmp-PROCESS-NUMBER. */
int gnn_open_beside(const char *path, char **name);

const char *gnn_open_reason(int errno_value);

/* Opens those of descriptors 0 to 2 that are closed on /dev/null: the next file would get their numbers, and what is printed. */
void gnn_open_standard(void);

#endif
