/* guard.c: reading a page that a mapped file has no more is SIGBUS, the end of the process. While files are mapped a handler
 * puts zeros where such a page was; who reads asks what became of the file before believing what was read.
 *
 * The handler is a guest where the run-time library is one: it is there only while something is mapped, what is not about our
 * files goes to the handler that was there before, and that one is put back. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A page that is read comes with others of its neighbourhood: those that the kernel has at hand (fault_around_bytes, 64 KiB), or all of a larger piece
 * of the page cache, of 2 MiB at most, as this file happened to get them. Some of what was let go before would come back so with the page behind it. None
 * comes from another mapping: so files are mapped in pieces of 256 KiB and, where these were too many, of more. A flag that every other one has (not to be
 * in a dump of core) keeps them apart. */
enum { GUARD_PIECE_BYTES = 1 << 18, GUARD_AROUND_BYTES = 1 << 21, GUARD_PIECES = 512 };

/* What the handler walks along; nodes are used again and never freed, and `next` stays as it is. */
struct gnn_guard {
  atomic_uintptr_t begin, end; /* end 0: free */
  atomic_uintptr_t around; /* of a piece */
  atomic_int is_torn;
  int descriptor;
  struct stat info; /* when it was mapped */
  gnn_guard *next;
};

static pthread_mutex_t guard_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(gnn_guard *) guard_first;
static int guard_mapped, guard_is_installed;
static atomic_size_t guard_bytes, guard_most;
static uintptr_t guard_page_bytes;
static struct sigaction guard_before;

static void guard_pass_on(int number, siginfo_t *info, void *context) {
  if (guard_before.sa_flags & SA_SIGINFO) {
    guard_before.sa_sigaction(number, info, context);
  } else if (guard_before.sa_handler == SIG_DFL || (guard_before.sa_handler == SIG_IGN && info->si_code > 0)) {
    signal(number, SIG_DFL); /* what faults does so again, what was sent is sent again */
    if (info->si_code <= 0) raise(number);
  } else if (guard_before.sa_handler != SIG_IGN) {
    guard_before.sa_handler(number);
  }
}

static void guard_on_fault(int number, siginfo_t *info, void *context) {
  int code = errno, is_ours = 0;
  uintptr_t at = (uintptr_t)info->si_addr;
  for (gnn_guard *guard = info->si_code == BUS_ADRERR ? atomic_load(&guard_first) : NULL; guard && !is_ours; guard = guard->next) {
    uintptr_t end = atomic_load(&guard->end), page = at & ~(guard_page_bytes - 1);
    if (at < atomic_load(&guard->begin) || at >= end) continue;
    atomic_store(&guard->is_torn, 1);
    is_ours = mmap((void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
  }
  if (!is_ours) guard_pass_on(number, info, context);
  errno = code;
}

static void guard_install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = guard_on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  guard_page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
  guard_is_installed = sigaction(SIGBUS, NULL, &guard_before) == 0 && sigaction(SIGBUS, &action, NULL) == 0;
}

/* Where the host has put another handler over this one, that one may still call it: it stays. */
static void guard_remove(void) {
  struct sigaction now;
  int is_on_top = sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == guard_on_fault;
  if (is_on_top && sigaction(SIGBUS, &guard_before, NULL) == 0) guard_is_installed = 0;
}

static gnn_guard *guard_node(void) {
  for (gnn_guard *guard = atomic_load(&guard_first); guard; guard = guard->next)
    if (atomic_load(&guard->end) == 0) return guard;
  gnn_guard *guard = calloc(1, sizeof *guard);
  if (guard == NULL) return NULL;
  guard->next = atomic_load(&guard_first);
  atomic_store(&guard_first, guard);
  return guard;
}

/* The bytes of a piece; those of files that are too large for so many are one mapping. */
static size_t guard_cut(unsigned char *data, size_t size) {
  size_t piece = GUARD_PIECE_BYTES;
  while (piece < GUARD_AROUND_BYTES && size / piece > GUARD_PIECES) piece *= 2;
  int is_cut = size / piece <= GUARD_PIECES;
  for (size_t at = piece; is_cut && at < size; at += 2 * piece) is_cut = madvise(data + at, size - at < piece ? size - at : piece, MADV_DONTDUMP) == 0;
  return is_cut ? piece : GUARD_AROUND_BYTES;
}

gnn_guard *gnn_guard_map(int descriptor) {
  struct stat info;
  if (fstat(descriptor, &info) != 0) return NULL;
  pthread_mutex_lock(&guard_lock);
  gnn_guard *guard = guard_node();
  void *data = guard ? mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  int code = guard ? errno : ENOMEM;
  if (data != MAP_FAILED) {
    if (!guard_is_installed) guard_install();
    guard_mapped++;
    atomic_fetch_add(&guard_bytes, (size_t)info.st_size);
    if (atomic_load(&guard_bytes) > atomic_load(&guard_most)) atomic_store(&guard_most, atomic_load(&guard_bytes));
    guard->descriptor = descriptor;
    guard->info = info;
    atomic_store(&guard->is_torn, 0);
    atomic_store(&guard->around, guard_cut(data, (size_t)info.st_size));
    atomic_store(&guard->begin, (uintptr_t)data);
    atomic_store(&guard->end, (uintptr_t)data + (size_t)info.st_size);
  }
  pthread_mutex_unlock(&guard_lock);
  errno = code;
  return data == MAP_FAILED ? NULL : guard;
}

unsigned char *gnn_guard_data(const gnn_guard *guard) { return (unsigned char *)atomic_load(&guard->begin); }

size_t gnn_guard_size(const gnn_guard *guard) { return (size_t)guard->info.st_size; }

const char *gnn_guard_fault(const gnn_guard *guard) {
  struct stat now;
  const struct stat *before = &guard->info;
  int is_known = fstat(guard->descriptor, &now) == 0;
  if (is_known && now.st_size < before->st_size) return "was cut short";
  if (is_known && (now.st_size > before->st_size || now.st_mtim.tv_sec != before->st_mtim.tv_sec || now.st_mtim.tv_nsec != before->st_mtim.tv_nsec))
    return "was changed";
  return atomic_load(&guard->is_torn) ? "could not be read" : NULL;
}

int gnn_guard_shows(const gnn_guard *guard, const struct stat *info) {
  const struct stat *mapped = &guard->info;
  return info->st_dev == mapped->st_dev && info->st_ino == mapped->st_ino && info->st_size == mapped->st_size && info->st_mtim.tv_sec == mapped->st_mtim.tv_sec && info->st_mtim.tv_nsec == mapped->st_mtim.tv_nsec;
}

/* The pieces of the mapped file that have bytes [from, from + count), as far as there are any. */
typedef struct guard_range {
  const gnn_guard *guard; /* NULL: memory of another kind */
  uintptr_t at, end;      /* in the file */
  void *pieces;
  size_t pieces_bytes;
} guard_range;

static guard_range guard_find(const void *from, size_t count) {
  const uintptr_t first = (uintptr_t)from;
  for (const gnn_guard *guard = count ? atomic_load(&guard_first) : NULL; guard; guard = guard->next) {
    const uintptr_t begin = atomic_load(&guard->begin), end = atomic_load(&guard->end), around = atomic_load(&guard->around) - 1;
    if (first < begin || first >= end) continue;
    const uintptr_t last = count < end - first ? first + count : end, piece = begin + ((first - begin) & ~around), up_to = begin + ((last - begin + around) & ~around);
    return (guard_range){.guard = guard, .at = first - begin, .end = last - begin, .pieces = (void *)piece, .pieces_bytes = (up_to < end ? up_to : end) - piece};
  }
  return (guard_range){0};
}

static void guard_advise(const guard_range *range, int advice) {
  int is_advice_only = madvise(range->pieces, range->pieces_bytes, advice);
  (void)is_advice_only;
}

void gnn_guard_expect(const void *from, size_t count) {
  const guard_range range = guard_find(from, count);
  if (range.guard == NULL) return;
  guard_advise(&range, MADV_RANDOM);
  int is_advice_only = posix_fadvise(range.guard->descriptor, (off_t)range.at, (off_t)(range.end - range.at), POSIX_FADV_WILLNEED);
  (void)is_advice_only;
}

void gnn_guard_pass(const void *from, const void *to) {
  const guard_range range = guard_find(from, (uintptr_t)from < (uintptr_t)to ? (uintptr_t)to - (uintptr_t)from : 0);
  if (range.guard == NULL) return;
  guard_advise(&range, MADV_DONTNEED);
  guard_advise(&range, MADV_NORMAL);
}

void gnn_guard_unmap(gnn_guard *guard) {
  pthread_mutex_lock(&guard_lock);
  uintptr_t begin = atomic_load(&guard->begin), end = atomic_load(&guard->end);
  munmap((void *)begin, end - begin);
  atomic_fetch_sub(&guard_bytes, (size_t)guard->info.st_size);
  close(guard->descriptor);
  atomic_store(&guard->end, 0);
  if (--guard_mapped == 0 && guard_is_installed) guard_remove();
  pthread_mutex_unlock(&guard_lock);
}

size_t gnn_guard_bytes(void) { return atomic_load(&guard_bytes); }

size_t gnn_guard_most(void) { return atomic_load(&guard_most); }

void gnn_guard_restart(void) { atomic_store(&guard_most, atomic_load(&guard_bytes)); }
