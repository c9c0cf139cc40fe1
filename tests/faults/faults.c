/* faults.c: one fault at a moment that can be named, for a program that knows nothing of it.
 *
 * LD_PRELOAD=faults.so, and in the environment:
 *
 *   FAULTS_ALLOCATION=N   the N-th allocation fails; N+: all from it on
 *   FAULTS_CALL=N         at the N-th system call of those below ...
 *   FAULTS_WHAT=WHAT      ... refuse: it fails with the errno of its row, or FAULTS_ERRNO (a number)
 *                             short: a read or write takes half of what it was to take (of one byte: it is refused)
 *                             interrupt: it fails with EINTR, where it may
 *                             kill: the process is killed with SIGKILL before it
 *                             truncate: FAULTS_FILE loses its second half before it
 *   FAULTS_DISK=BYTES     after so many bytes written to files there is no space on any device
 *   FAULTS_COUNTS=FILE    at its end the process writes "ALLOCATIONS CALLS" there
 *
 * Allocations are malloc, calloc, realloc, aligned_alloc, posix_memalign, anonymous mmap and pthread_create (EAGAIN), those that libc
 * makes for itself included, from main on. System calls are caught where libc makes them, those of stdio included, by a seccomp filter on the addresses of
 * libc, which the programs that this one starts have elsewhere. What is written to standard error is never refused: a message
 * must be able to arrive. Not covered: what ld.so does before main, and what io_uring does in the kernel; its setup can be refused,
 * and then plain calls are made.
 */
#ifdef __x86_64__ /* whose registers a system call has */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { CANNOT = 99 };
enum { HAS_COUNT = 1, MAY_INTERRUPT = 2, WRITES = 4 }; /* HAS_COUNT: the third argument says how many bytes */

typedef struct Row {
  int number, error, traits;
} Row;

static const Row rows[] = {
    {SYS_open, EMFILE, MAY_INTERRUPT}, {SYS_openat, EMFILE, MAY_INTERRUPT}, {SYS_read, EIO, HAS_COUNT | MAY_INTERRUPT},
    {SYS_pread64, EIO, HAS_COUNT | MAY_INTERRUPT}, {SYS_write, ENOSPC, HAS_COUNT | MAY_INTERRUPT | WRITES},
    {SYS_pwrite64, ENOSPC, HAS_COUNT | MAY_INTERRUPT | WRITES}, {SYS_writev, ENOSPC, MAY_INTERRUPT | WRITES},
    {SYS_close, EIO, 0}, {SYS_fstat, EIO, 0}, {SYS_newfstatat, EACCES, 0}, {SYS_lseek, EIO, 0}, {SYS_fsync, EIO, 0},
    {SYS_fdatasync, EIO, 0}, {SYS_rename, EACCES, 0}, {SYS_renameat2, EACCES, 0}, {SYS_ftruncate, ENOSPC, 0},
    {SYS_fallocate, ENOSPC, MAY_INTERRUPT}, {SYS_mkdir, EACCES, 0}, {SYS_unlink, EACCES, 0}, {SYS_mmap, ENOMEM, 0},
    {SYS_fchmod, EACCES, 0}, {SYS_getdents64, EIO, 0}, {SYS_io_uring_setup, ENOSYS, 0},
    {SYS_io_uring_enter, EIO, MAY_INTERRUPT},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static struct {
  long allocation, call, disk; /* 0: none; disk -1: none */
  int is_every, error;
  char what;
  const char *file, *counts;
} wanted = {.disk = -1};
static atomic_long allocations, calls, written;
static atomic_int is_counting;

/* ---- system calls ---- */

static long really(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return result;
}

static void truncate_file(void) {
  struct stat info;
  if (really(SYS_stat, (long)wanted.file, (long)&info, 0, 0, 0, 0) == 0) really(SYS_truncate, (long)wanted.file, info.st_size / 2, 0, 0, 0, 0);
}

/* A file, not a stream that others read. */
static int is_file(long descriptor) {
  struct stat info;
  return really(SYS_fstat, descriptor, (long)&info, 0, 0, 0, 0) == 0 && S_ISREG(info.st_mode);
}

/* What is left of the disk for `count` bytes more, at most `count`; -1: nothing. */
static long granted(long count) {
  long before = atomic_fetch_add(&written, count), room = wanted.disk - before;
  return room <= 0 ? -1 : room < count ? room : count;
}

static void on_call(int signal, siginfo_t *info, void *context) {
  (void)signal;
  greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
  long a = r[REG_RDI], count = r[REG_RDX];
  const Row *row = rows;
  while (row->number != info->si_syscall) row++;
  int is_message = (row->traits & WRITES) && a == 2;
  int is_now = !is_message && atomic_load(&is_counting) && atomic_fetch_add(&calls, 1) + 1 == wanted.call;
  long result = 0;
  if (is_now && wanted.what == 'k') really(SYS_kill, really(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGKILL, 0, 0, 0, 0);
  if (is_now && wanted.what == 't') truncate_file();
  if (is_now && wanted.what == 'i' && (row->traits & MAY_INTERRUPT)) result = -EINTR;
  if (is_now && wanted.what == 's' && (row->traits & HAS_COUNT)) {
    if (count < 2) result = -row->error;
    else count /= 2;
  }
  if (is_now && wanted.what == 'r') result = wanted.error ? -wanted.error : -row->error;
  if (result == 0 && wanted.disk >= 0 && !is_message && (row->traits & WRITES) && (row->traits & HAS_COUNT) && is_file(a)) {
    count = granted(count);
    if (count < 0) result = -ENOSPC;
  }
  /* A descriptor is closed even where close says that something went wrong. */
  if (result == 0 || row->number == SYS_close) {
    long done = really(info->si_syscall, a, r[REG_RSI], count, r[REG_R10], r[REG_R8], r[REG_R9]);
    if (result == 0) result = done;
  }
  r[REG_RAX] = result;
}

/* Where libc's instructions are. */
static int find_libc(struct dl_phdr_info *info, size_t size, void *range) {
  (void)size;
  const char *slash = strrchr(info->dlpi_name, '/');
  if (!slash || strncmp(slash, "/libc.so", 8) != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
      ((uint64_t *)range)[0] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      ((uint64_t *)range)[1] = ((uint64_t *)range)[0] + info->dlpi_phdr[i].p_memsz;
    }
  return 1;
}

/* Calls of the table that come from libc are trapped. Its instructions lie within 4 GiB of each other, and where they cross a border of
 * 4 GiB nothing is caught: the driver sees no calls and says so. */
static int filter(void) {
  uint64_t range[2] = {0};
  dl_iterate_phdr(find_libc, range);
  struct sock_filter code[ROWS + 8];
  int at = 0;
  code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4);
  code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(range[0] >> 32), 0, ROWS + 4);
  code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer));
  code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)range[0], 0, ROWS + 2);
  code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)range[1], ROWS + 1, 0);
  code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < ROWS; i++) code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rows[i].number, (uint8_t)(ROWS - i), 0);
  code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  struct sock_fprog program = {(unsigned short)at, code};
  struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
  if (range[0] == 0 || sigaction(SIGSYS, &action, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Nobody blocks SIGSYS: a call trapped meanwhile would end the process. libc's wrappers do the same thing for a thread. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *before) {
  sigset_t without;
  if (set) {
    without = *set;
    if (how != SIG_UNBLOCK) sigdelset(&without, SIGSYS);
  }
  return (int)-really(SYS_rt_sigprocmask, how, (long)(set ? &without : NULL), (long)before, _NSIG / 8, 0, 0);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before) {
  errno = pthread_sigmask(how, set, before);
  return errno ? -1 : 0;
}

/* ---- allocations ---- */

/* libc's own, by the names that need no dlsym, which allocates. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static int is_refused(void) {
  if (!atomic_load(&is_counting)) return 0;
  long n = atomic_fetch_add(&allocations, 1) + 1;
  if (wanted.allocation == 0 || (wanted.is_every ? n < wanted.allocation : n != wanted.allocation)) return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t bytes) { return is_refused() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return is_refused() ? NULL : __libc_calloc(count, bytes); }
void *realloc(void *memory, size_t bytes) { return is_refused() ? NULL : __libc_realloc(memory, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return is_refused() ? NULL : __libc_memalign(alignment, bytes); }
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  void *got = is_refused() ? NULL : __libc_memalign(alignment, bytes);
  if (got) *memory = got;
  return got ? 0 : ENOMEM;
}
void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  if ((flags & MAP_ANONYMOUS) && is_refused()) return MAP_FAILED;
  long result = syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
  return (void *)result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!create) create = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
  return is_refused() ? EAGAIN : create(thread, attributes, run, argument);
}

/* ---- the order of things ---- */

static long number_of(const char *name, long otherwise) { return getenv(name) ? atol(getenv(name)) : otherwise; }

__attribute__((constructor)) static void begin(void) {
  const char *allocation = getenv("FAULTS_ALLOCATION"), *what = getenv("FAULTS_WHAT");
  wanted.allocation = number_of("FAULTS_ALLOCATION", 0);
  wanted.is_every = allocation && strchr(allocation, '+');
  wanted.call = number_of("FAULTS_CALL", 0);
  wanted.what = what ? *what : 'r';
  wanted.error = (int)number_of("FAULTS_ERRNO", 0);
  wanted.disk = number_of("FAULTS_DISK", -1);
  wanted.file = getenv("FAULTS_FILE");
  wanted.counts = getenv("FAULTS_COUNTS");
  unsetenv("LD_PRELOAD"); /* of what it starts, nothing fails */
  int needs_filter = wanted.call || wanted.disk >= 0 || (wanted.counts && !wanted.allocation);
  if (needs_filter && filter() != 0) {
    fprintf(stderr, "faults: this system takes no filter of system calls\n");
    _exit(CANNOT);
  }
  atomic_store(&is_counting, 1);
}

__attribute__((destructor)) static void end(void) {
  atomic_store(&is_counting, 0);
  FILE *out = wanted.counts ? fopen(wanted.counts, "w") : NULL;
  if (!out) return;
  fprintf(out, "%ld %ld\n", atomic_load(&allocations), atomic_load(&calls));
  fclose(out);
}
#else
typedef int faults_are_for_x86_64_alone;
#endif
