/* scratch.c: the SSD tier.
 *
 * The file's room is taken before anything starts, and the file has no name: nobody finds it, and it is gone when the
 * process is. Its bytes go past the page cache, which would only hold them in the memory that the plan spares.
 *
 * Blocks travel several at a time, and the oldest is finished first. Where memory is aligned as the disk wants it they
 * travel straight from and to it, which spares a processor the copying; else through aligned buffers of the port's own. A
 * count shorter than asked for is gone on from, at the last whole unit.
 *
 * A file that others cut short would read as zeros where it grew again. So its size and the blocks it occupies are looked
 * at after every move: what was taken away does not come back by itself. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#ifdef GNN_URING
#include <liburing.h>
#endif

enum { SCRATCH_FUTILE_MOST = 1000, SCRATCH_TMPFS = 0x01021994, SCRATCH_RAMFS = 0x858458f6 - (INT64_C(1) << 32) };

static int scratch_completed(int is_write, int result) {
  (void)is_write;
  return result;
}

gnn_scratch_calls gnn_scratch_system = {pread, pwrite, scratch_completed, 1};

/* ---- the file ---- */

/* Descriptor of a file without a name, or minus errno. */
static int scratch_make(const char *folder) {
  int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) return -errno;
  char path[600];
  if (snprintf(path, sizeof path, "%s/gnncc-scratch-XXXXXX", folder) >= (int)sizeof path) return -ENAMETOOLONG;
  file = mkostemp(path, O_CLOEXEC);
  if (file < 0) return -errno;
  unlink(path);
  return file;
}

static int64_t scratch_memory_align(int file) {
#ifdef STATX_DIOALIGN
  struct statx info;
  if (statx(file, "", AT_EMPTY_PATH, STATX_DIOALIGN, &info) == 0 && (info.stx_mask & STATX_DIOALIGN) && info.stx_dio_mem_align > 0)
    return info.stx_dio_mem_align;
#endif
  (void)file;
  return GNN_SCRATCH_UNIT_BYTES;
}

static void scratch_set_direct(gnn_scratch *scratch, int is_direct) {
  int flags = fcntl(scratch->file, F_GETFL);
  int is_set = flags >= 0 && fcntl(scratch->file, F_SETFL, is_direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
  scratch->is_direct = is_direct && is_set;
  if (!scratch->is_direct && !scratch->why_buffered[0])
    snprintf(scratch->why_buffered, sizeof scratch->why_buffered, "O_DIRECT is refused there: %s", strerror(errno));
}

gnn_status gnn_scratch_open(gnn_scratch *scratch, const gnn_scratch_folders *folders, gnn_error *error) {
  const char *const given[] = {folders->wanted, folders->planned, folders->temporary, "/var/tmp", "/tmp"};
  gnn_status status = GNN_OK;
  memset(scratch, 0, sizeof *scratch);
  scratch->file = -1;
  for (int i = 0; i < 5 && scratch->file < 0; i++) {
    if (given[i] == NULL || given[i][0] == 0) continue;
    int file = strlen(given[i]) < sizeof scratch->folder ? scratch_make(given[i]) : -ENAMETOOLONG;
    if (file < 0) {
      status = gnn_fail_file(error, "make a scratch file in", given[i], -file);
      if (i == 0) return status;
      if (i == 1) snprintf(scratch->why_folder, sizeof scratch->why_folder, "not in the plan's %.80s: %s", given[i], strerror(-file));
      continue;
    }
    scratch->file = file;
    snprintf(scratch->folder, sizeof scratch->folder, "%s", given[i]);
  }
  if (scratch->file < 0) return status;
  struct statfs system;
  if (fstatfs(scratch->file, &system) == 0)
    scratch->is_in_memory = (int32_t)system.f_type == SCRATCH_TMPFS || (int32_t)system.f_type == SCRATCH_RAMFS;
  scratch_set_direct(scratch, 1);
  scratch->memory_align = scratch_memory_align(scratch->file);
  return GNN_OK;
}

void gnn_scratch_close(gnn_scratch *scratch) {
  for (int i = 0; i < scratch->window_count; i++) {
    if (scratch->window[i].path) close(scratch->window[i].file);
    free(scratch->window[i].path);
  }
  scratch->window_count = 0;
  if (scratch->file >= 0) close(scratch->file);
  scratch->file = -1;
}

static gnn_status scratch_full(gnn_scratch *scratch, int64_t bytes, int64_t room, gnn_error *error) {
  struct statvfs disk;
  if (ftruncate(scratch->file, 0) == 0 && room < 0 && fstatvfs(scratch->file, &disk) == 0)
    room = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
  gnn_status status = gnn_fail(error, GNN_EIO, "R0805", "the scratch disk is full: \"%s\" has %s free, the plan needs %s", scratch->folder,
                               room < 0 ? "less" : gnn_bytes_text(room).text, gnn_bytes_text(bytes).text);
  gnn_fail_help(error, "a folder on a disk with more room: --scratch DIR");
  return status;
}

/* For file systems that do not reserve: room is taken by writing. Returns 0 or errno. */
static int scratch_write_zeros(gnn_scratch *scratch, int64_t bytes) {
  void *zeros = mmap(NULL, GNN_SCRATCH_BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (zeros == MAP_FAILED) return ENOMEM;
  int64_t at = 0;
  int problem = 0;
  while (at < bytes && problem == 0) {
    int64_t length = bytes - at < GNN_SCRATCH_BLOCK_BYTES ? bytes - at : GNN_SCRATCH_BLOCK_BYTES;
    ssize_t done = pwrite(scratch->file, zeros, (size_t)length, (off_t)at);
    if (done > 0) at += done - done % GNN_SCRATCH_UNIT_BYTES;
    else if (done == 0 || errno != EINTR) problem = done == 0 ? ENOSPC : errno;
  }
  munmap(zeros, GNN_SCRATCH_BLOCK_BYTES);
  return problem;
}

/* Some file systems take the flag and refuse the work. */
static void scratch_try_direct(gnn_scratch *scratch) {
  _Alignas(GNN_SCRATCH_UNIT_BYTES) unsigned char unit[GNN_SCRATCH_UNIT_BYTES];
  if (!scratch->is_direct || pread(scratch->file, unit, sizeof unit, 0) >= 0 || errno != EINVAL) return;
  snprintf(scratch->why_buffered, sizeof scratch->why_buffered, "O_DIRECT does not work there: %s", strerror(errno));
  scratch_set_direct(scratch, 0);
}

gnn_status gnn_scratch_reserve(gnn_scratch *scratch, int64_t bytes, gnn_error *error) {
  struct rlimit limit;
  struct stat info;
  bytes = gnn_scratch_round(bytes);
  if (bytes == 0) return GNN_OK; /* all that is read lies in other files */
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < (rlim_t)bytes)
    return scratch_full(scratch, bytes, (int64_t)limit.rlim_cur, error);
  int problem;
  do problem = fallocate(scratch->file, 0, 0, (off_t)bytes) == 0 ? 0 : errno;
  while (problem == EINTR);
  if (problem == EOPNOTSUPP || problem == ENOSYS) problem = scratch_write_zeros(scratch, bytes);
  if (problem == ENOSPC || problem == EDQUOT || problem == EFBIG) return scratch_full(scratch, bytes, -1, error);
  if (problem != 0) return gnn_fail_file(error, "reserve room for the scratch file in", scratch->folder, problem);
  scratch->bytes = bytes;
  scratch->reserved_blocks = fstat(scratch->file, &info) == 0 && (int64_t)info.st_blocks * 512 >= bytes ? bytes / 512 : 0;
  scratch_try_direct(scratch);
  return GNN_OK;
}

/* ---- moving ---- */

typedef struct Block {
  unsigned char *buffer;
  unsigned char *data;     /* the buffer, or the memory itself */
  gnn_spans memory;        /* from where the block begins */
  int file, is_direct;
  const gnn_window *window; /* that it is read from, or NULL */
  int64_t at, bytes, done; /* in the file, in whole units */
  int64_t skipped, used;   /* bytes of the copy, and before them, of a window; the rest fills the last unit */
  int is_complete;
} Block;

struct gnn_scratch_port {
  gnn_scratch *scratch;
  int is_write, is_uring, is_registered;
  int64_t block_bytes, block_count, depth, travelling, futile; /* calls in a row that moved nothing */
  unsigned char *buffers;
  char why[160]; /* what is in the way of io_uring or of registered buffers; "" where nothing is */
  Block block[GNN_SCRATCH_DEPTH];
#ifdef GNN_URING
  struct io_uring ring;
#endif
};

static gnn_status scratch_failed(const gnn_scratch_port *port, const Block *block, int problem, gnn_error *error) {
  if (block->window && block->window->path) return gnn_fail_file(error, "read", block->window->path, problem);
  return gnn_fail(error, GNN_EIO, problem == ENOSPC || problem == EDQUOT ? "R0805" : "",
                  "could not %s %s at %s of the scratch file in \"%.200s\": %s", port->is_write ? "write" : "read",
                  gnn_bytes_text(block->bytes - block->done).text, gnn_bytes_text(block->at + block->done).text,
                  port->scratch->folder, strerror(problem));
}

/* A file of the user's is to be what it was. */
static gnn_status scratch_check_windows(const gnn_scratch *scratch, gnn_error *error) {
  for (int i = 0; i < scratch->window_count; i++) {
    const gnn_window *window = &scratch->window[i];
    struct stat info;
    if (window->path == NULL) continue;
    if (fstat(window->file, &info) != 0) return gnn_fail_file(error, "look at", window->path, errno);
    if ((int64_t)info.st_size == window->file_bytes && info.st_mtim.tv_sec == window->changed.tv_sec && info.st_mtim.tv_nsec == window->changed.tv_nsec) continue;
    gnn_fail(error, GNN_EIO, "E0001", "\"%.300s\" was changed while a program reads data where they lie there", window->path);
    gnn_fail_help(error, "leave it as it is until the program ends, then run again");
    return GNN_EIO;
  }
  return GNN_OK;
}

static gnn_status scratch_check_whole(const gnn_scratch *scratch, gnn_error *error) {
  struct stat info;
  if (fstat(scratch->file, &info) != 0) return gnn_fail_file(error, "look at the scratch file in", scratch->folder, errno);
  int64_t held = (int64_t)info.st_size;
  if (held >= scratch->bytes && scratch->reserved_blocks > (int64_t)info.st_blocks) held = (int64_t)info.st_blocks * 512;
  if (held >= scratch->bytes) return GNN_OK;
  return gnn_fail(error, GNN_EIO, "", "the scratch file in \"%.200s\" was truncated: it holds %s of %s", scratch->folder,
                  gnn_bytes_text(held).text, gnn_bytes_text(scratch->bytes).text);
}

/* Takes down what a call moved: a count, or minus errno. */
static gnn_status scratch_account(gnn_scratch_port *port, Block *block, int64_t result, gnn_error *error) {
  if (result == -EINTR || result == -EAGAIN) result = 0;
  if (result < 0) return scratch_failed(port, block, (int)-result, error);
  int64_t before = block->done;
  block->done += result;
  block->is_complete = block->done >= (block->window ? block->skipped + block->used : block->bytes); /* a file may end within a unit */
  if (block->is_complete) return GNN_OK;
  block->done -= block->done % GNN_SCRATCH_UNIT_BYTES;
  gnn_status status = scratch_check_whole(port->scratch, error);
  if (status != GNN_OK) return status;
  port->futile = block->done > before ? 0 : port->futile + 1;
  return port->futile < SCRATCH_FUTILE_MOST ? GNN_OK : scratch_failed(port, block, EIO, error);
}

#ifdef GNN_URING

static gnn_status scratch_submit(gnn_scratch_port *port, Block *block, gnn_error *error) {
  struct io_uring_sqe *entry = io_uring_get_sqe(&port->ring);
  int number = (int)(block - port->block), file = block->file;
  if (entry == NULL) return scratch_failed(port, block, EBUSY, error);
  unsigned char *memory = block->data + block->done;
  unsigned length = (unsigned)(block->bytes - block->done);
  uint64_t at = (uint64_t)(block->at + block->done);
  int is_fixed = port->is_registered && block->data == block->buffer;
  if (port->is_write && is_fixed) io_uring_prep_write_fixed(entry, file, memory, length, at, number);
  else if (port->is_write) io_uring_prep_write(entry, file, memory, length, at);
  else if (is_fixed) io_uring_prep_read_fixed(entry, file, memory, length, at, number);
  else io_uring_prep_read(entry, file, memory, length, at);
  io_uring_sqe_set_data64(entry, (uint64_t)number);
  int result;
  do result = io_uring_submit(&port->ring);
  while (result == -EINTR || result == -EAGAIN);
  if (result < 0) return scratch_failed(port, block, -result, error);
  port->travelling++;
  return GNN_OK;
}

/* Waits for whichever block is first. NULL: waiting failed. */
static Block *scratch_arrived(gnn_scratch_port *port, int *result) {
  struct io_uring_cqe *entry;
  int status;
  do status = io_uring_wait_cqe(&port->ring, &entry);
  while (status == -EINTR || status == -EAGAIN);
  *result = status;
  if (status < 0) return NULL;
  Block *block = &port->block[io_uring_cqe_get_data64(entry)];
  *result = gnn_scratch_system.completed(port->is_write, entry->res);
  io_uring_cqe_seen(&port->ring, entry);
  port->travelling--;
  return block;
}

static gnn_status scratch_await_uring(gnn_scratch_port *port, Block *wanted, gnn_error *error) {
  while (!wanted->is_complete) {
    int result;
    Block *block = scratch_arrived(port, &result);
    if (block == NULL) return scratch_failed(port, wanted, -result, error);
    gnn_status status = scratch_account(port, block, result, error);
    if (status == GNN_OK && !block->is_complete) status = scratch_submit(port, block, error);
    if (status != GNN_OK) return status;
  }
  return GNN_OK;
}

/* The kernel may still be at work on the buffers. */
static void scratch_drain(gnn_scratch_port *port) {
  int result;
  while (port->travelling > 0 && scratch_arrived(port, &result)) {}
}

static void scratch_open_ring(gnn_scratch_port *port) {
  unsigned best = 0;
#if defined IORING_SETUP_SINGLE_ISSUER && defined IORING_SETUP_DEFER_TASKRUN
  best = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
#endif
  int result = io_uring_queue_init(GNN_SCRATCH_DEPTH, &port->ring, best);
  if (result == -EINVAL && best) result = io_uring_queue_init(GNN_SCRATCH_DEPTH, &port->ring, 0); /* before Linux 6.1 */
  port->is_uring = result == 0;
  if (!port->is_uring) snprintf(port->why, sizeof port->why, "io_uring is refused: %s", strerror(-result));
}

static void scratch_register(gnn_scratch_port *port) {
  struct iovec buffers[GNN_SCRATCH_DEPTH];
  for (int b = 0; b < port->block_count; b++) buffers[b] = (struct iovec){port->block[b].buffer, (size_t)port->block_bytes};
  int result = io_uring_register_buffers(&port->ring, buffers, (unsigned)port->block_count);
  port->is_registered = result == 0;
  if (!port->is_registered) snprintf(port->why, sizeof port->why, "its buffers are not registered: %s", strerror(-result));
}

#else

static gnn_status scratch_submit(gnn_scratch_port *port, Block *block, gnn_error *error) { return scratch_failed(port, block, ENOSYS, error); }
static gnn_status scratch_await_uring(gnn_scratch_port *port, Block *block, gnn_error *error) { return scratch_failed(port, block, ENOSYS, error); }
static void scratch_drain(gnn_scratch_port *port) { (void)port; }
static void scratch_open_ring(gnn_scratch_port *port) {
  snprintf(port->why, sizeof port->why, "the runtime was built without io_uring");
}
static void scratch_register(gnn_scratch_port *port) { (void)port; }

#endif

static gnn_status scratch_await_calls(gnn_scratch_port *port, Block *block, gnn_error *error) {
  while (!block->is_complete) {
    unsigned char *memory = block->data + block->done;
    size_t length = (size_t)(block->bytes - block->done);
    off_t at = (off_t)(block->at + block->done);
    ssize_t result = port->is_write ? gnn_scratch_system.pwrite(block->file, memory, length, at)
                                    : gnn_scratch_system.pread(block->file, memory, length, at);
    gnn_status status = scratch_account(port, block, result < 0 ? -errno : result, error);
    if (status != GNN_OK) return status;
  }
  return GNN_OK;
}

/* Where the bytes travel: whole units of memory in one place, aligned, need no buffer. */
static unsigned char *scratch_find_data(const gnn_scratch_port *port, const Block *block) {
  const gnn_scratch *scratch = port->scratch;
  gnn_spans memory = block->memory;
  int64_t at, length = gnn_spans_next(&memory, block->used, &at);
  unsigned char *data = memory.base + at;
  int is_aligned = !block->is_direct || (uintptr_t)data % (uintptr_t)scratch->memory_align == 0;
  return is_aligned && length == block->bytes && block->skipped == 0 ? data : block->buffer;
}

/* A block's bytes between its buffer and the memory they belong to. */
static void scratch_exchange(const gnn_scratch_port *port, Block *block) {
  gnn_spans memory = block->memory;
  int64_t at, length;
  for (int64_t done = 0; done < block->used; done += length) {
    length = gnn_spans_next(&memory, block->used - done, &at);
    if (port->is_write) memcpy(block->buffer + done, memory.base + at, (size_t)length);
    else memcpy(memory.base + at, block->buffer + block->skipped + done, (size_t)length);
  }
  if (port->is_write && block->bytes > block->used) memset(block->buffer + block->used, 0, (size_t)(block->bytes - block->used));
}

/* Which file a block is of, and which units of it. False: there is no such window. */
static int scratch_locate(const gnn_scratch *scratch, Block *block, int64_t at) {
  block->file = scratch->file;
  block->is_direct = scratch->is_direct;
  block->window = NULL;
  for (int i = 0; i < scratch->window_count && at >= GNN_WINDOWS_AT; i++)
    if (at >= scratch->window[i].first && at - scratch->window[i].first < scratch->window[i].bytes) block->window = &scratch->window[i];
  if (block->window) {
    block->file = block->window->file;
    block->is_direct = block->window->is_direct;
    at += block->window->at - block->window->first;
  }
  block->skipped = block->window ? at % GNN_SCRATCH_UNIT_BYTES : 0;
  block->at = at - block->skipped;
  block->bytes = gnn_scratch_round(block->skipped + block->used);
  return at < GNN_WINDOWS_AT;
}

/* The next block of the file sets out. */
static gnn_status scratch_begin(gnn_scratch_port *port, Block *block, gnn_spans *memory, gnn_spans *file, int64_t most, gnn_error *error) {
  int64_t at;
  block->memory = *memory;
  block->used = gnn_spans_next(file, most, &at);
  block->done = block->is_complete = 0;
  if (!scratch_locate(port->scratch, block, at)) return gnn_fail(error, GNN_EINVAL, "", "internal: nothing lies at %lld of the scratch file", (long long)at);
  block->data = scratch_find_data(port, block);
  for (int64_t left = block->used; left > 0;) left -= gnn_spans_next(memory, left, &at);
  if (port->is_write && block->data == block->buffer) scratch_exchange(port, block);
  return port->is_uring ? scratch_submit(port, block, error) : GNN_OK;
}

static gnn_status scratch_end(gnn_scratch_port *port, Block *block, gnn_error *error) {
  gnn_status status = port->is_uring ? scratch_await_uring(port, block, error) : scratch_await_calls(port, block, error);
  if (status != GNN_OK) return status;
  int64_t end = block->at + block->bytes;
  if (!port->is_write && block->data == block->buffer) scratch_exchange(port, block);
  if (port->is_write && end > atomic_load(&port->scratch->peak)) atomic_store(&port->scratch->peak, end);
  return GNN_OK;
}

gnn_status gnn_scratch_move(gnn_scratch_port *port, gnn_spans memory, gnn_spans file, int64_t bytes, gnn_error *error) {
  int64_t begun = 0, ended = 0, left = bytes, most = gnn_scratch_block_bytes(bytes);
  gnn_status status = GNN_OK;
  if (most > port->block_bytes) most = port->block_bytes;
  if (port->scratch->window_count && most > port->block_bytes - GNN_SCRATCH_UNIT_BYTES) most = port->block_bytes - GNN_SCRATCH_UNIT_BYTES; /* a block of a window may begin within a unit */
  while (status == GNN_OK && (left > 0 || ended < begun)) {
    if (left > 0 && begun - ended < port->depth) {
      Block *block = &port->block[begun++ % port->depth];
      status = scratch_begin(port, block, &memory, &file, left < most ? left : most, error);
      left -= block->used;
    } else {
      status = scratch_end(port, &port->block[ended++ % port->depth], error);
    }
  }
  scratch_drain(port);
  if (status == GNN_OK && !port->is_write) status = scratch_check_windows(port->scratch, error);
  return status == GNN_OK ? scratch_check_whole(port->scratch, error) : status;
}

/* A mapping at a multiple of 2 MiB: of huge pages a disk takes a block in few pieces. */
static unsigned char *scratch_huge_pages(size_t bytes) {
  enum { HUGE_BYTES = 1 << 21 };
  unsigned char *at = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return NULL;
  size_t before = (HUGE_BYTES - (uintptr_t)at % HUGE_BYTES) % HUGE_BYTES;
  if (before) munmap(at, before);
  munmap(at + before + bytes, HUGE_BYTES - before);
#ifdef MADV_HUGEPAGE
  int is_advice_only = madvise(at + before, bytes, MADV_HUGEPAGE);
  (void)is_advice_only;
#endif
  return at + before;
}

gnn_status gnn_scratch_port_create(gnn_scratch *scratch, int is_write, int64_t most, gnn_scratch_port **out, gnn_error *error) {
  gnn_scratch_port *port = calloc(1, sizeof *port);
  *out = port;
  if (port == NULL) return gnn_fail_memory(error, (int64_t)sizeof *port);
  port->scratch = scratch;
  port->is_write = is_write;
  port->block_bytes = gnn_scratch_port_block_bytes(most);
  port->block_count = gnn_scratch_port_blocks(most);
  unsigned char *buffers = scratch_huge_pages((size_t)(port->block_count * port->block_bytes));
  if (buffers == NULL) {
    gnn_scratch_port_destroy(port);
    *out = NULL;
    return gnn_fail_memory(error, gnn_scratch_buffer_bytes(most));
  }
  port->buffers = buffers;
  for (int b = 0; b < port->block_count; b++) port->block[b].buffer = port->buffers + b * port->block_bytes;
  if (gnn_scratch_system.has_uring) scratch_open_ring(port);
  if (port->is_uring) scratch_register(port);
  port->depth = port->is_uring ? port->block_count : 1;
  memset(buffers, 0, (size_t)(port->depth * port->block_bytes)); /* its pages come now */
  return GNN_OK;
}

void gnn_scratch_port_destroy(gnn_scratch_port *port) {
  if (port == NULL) return;
#ifdef GNN_URING
  if (port->is_uring) io_uring_queue_exit(&port->ring);
#endif
  if (port->buffers) munmap(port->buffers, (size_t)(port->block_count * port->block_bytes));
  free(port);
}

int gnn_scratch_port_lacks(const gnn_scratch_port *port) { return port->why[0] != 0; }

void gnn_scratch_text(const gnn_scratch_port *port, gnn_text *text) {
  const gnn_scratch *scratch = port->scratch;
  gnn_text_format(text, "%s: %s by %s", scratch->folder, scratch->is_direct ? "O_DIRECT" : "through the page cache",
                  port->is_uring ? "io_uring" : "pread and pwrite");
  if (scratch->is_in_memory) gnn_text_format(text, "; that folder lies in memory");
  if (scratch->why_folder[0]) gnn_text_format(text, "; %s", scratch->why_folder);
  if (scratch->why_buffered[0]) gnn_text_format(text, "; %s", scratch->why_buffered);
  if (port->why[0]) gnn_text_format(text, "; %s", port->why);
}

gnn_status gnn_scratch_try(const gnn_scratch_folders *folders, gnn_text *text, gnn_error *error) {
  gnn_scratch scratch;
  gnn_scratch_port *port = NULL;
  gnn_status status = gnn_scratch_open(&scratch, folders, error);
  if (status == GNN_OK) status = gnn_scratch_port_create(&scratch, 1, 0, &port, error);
  if (status == GNN_OK) gnn_scratch_text(port, text);
  gnn_scratch_port_destroy(port);
  gnn_scratch_close(&scratch);
  return status;
}
