/* partial.h: what is not finished when a process is stopped from outside: files under temporary names, folders of scratch. */
#ifndef GNN_PARTIAL_H
#define GNN_PARTIAL_H

/* The name is the caller's, who drops it before it goes. Of very many at once the last ones would be left behind. */
void gnn_partial_add(const char *path);
void gnn_partial_drop(const char *path);
/* All of it goes. Allocates nothing. */
void gnn_partial_remove(void);

/* For programs alone, never in a host's process. INT, TERM, HUP, XCPU and, where `is_piped`, PIPE remove what is partial and end
 * the process with 128 + the signal, after a call of `first` (NULL: none); a HUP that is ignored stays so (nohup). A file that may not
 * grow is an error of the write. */
void gnn_partial_on_signals(int is_piped, void (*first)(void));
/* That end. In a handler, too. */
_Noreturn void gnn_partial_stop(int number);

#endif
