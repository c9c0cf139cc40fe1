/* guard.h: files in memory by mapping, which others may cut short at any time. */
#ifndef GNN_GUARD_H
#define GNN_GUARD_H

#include <stddef.h>

typedef struct gnn_guard gnn_guard;

/* Maps a file that is not empty, to be read; the descriptor is the guard's from now on. NULL with errno. */
gnn_guard *gnn_guard_map(int descriptor);
unsigned char *gnn_guard_data(const gnn_guard *guard);
size_t gnn_guard_size(const gnn_guard *guard);
/* Bytes [from, to) were read and are not needed for a while: where they are of a mapped file their pages are let go, and come back from the file when they are
 * read again. Of other memory nothing happens. */
void gnn_guard_pass(const void *from, const void *to);
/* `count` bytes from `from` on are read next, from first to last: of a mapped file they are asked for, and what is missing nevertheless comes a page at a time. Elsewhere a page that is missing
 * brings as much of the file as the kernel reads ahead (`blockdev --getra`, 128 KiB or many MiB), which nothing can take back before it has come. */
void gnn_guard_expect(const void *from, size_t count);
/* What happened to the file since, "was cut short": what was read may be something else, or zeros. NULL: nothing. */
const char *gnn_guard_fault(const gnn_guard *guard);
struct stat;
int gnn_guard_shows(const gnn_guard *guard, const struct stat *info); /* this file, as it was when it was mapped */
void gnn_guard_unmap(gnn_guard *guard);
/* What is mapped, and the most that was mapped at once since gnn_guard_restart, in bytes. */
size_t gnn_guard_bytes(void);
size_t gnn_guard_most(void);
void gnn_guard_restart(void);

#endif
