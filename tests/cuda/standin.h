/* standin.h: how tests steer the stand-in for CUDA (standin.c).
 *
 * Everything that the API leaves open is decided against the program. Streams are threads. A seed chooses how they meet: seeds
 * 0 to 5 rank the streams (by number modulo 3, in each of the six orders), and a stream goes on only while no stream of higher
 * rank could; so each gets as far ahead of the others, and as far behind, as events allow, and only when the host has stopped
 * queueing; the SSD of a program does its part before streams go on (even), or when none can (odd). Seed 6 lets them run as they like, with delays; seed 7 and above draw whose turn it is. */
#ifndef STANDIN_H
#define STANDIN_H

#include <stddef.h>
#include <stdint.h>

enum { STANDIN_RANKED = 6, STANDIN_FREE = 6, STANDIN_WAITS = 1 << 14, STANDIN_HOST = -1 };

typedef enum standin_fault {
  STANDIN_FINE, STANDIN_NO_DRIVER, STANDIN_OLD_DRIVER, STANDIN_NO_DEVICE, STANDIN_NO_MEMORY, STANDIN_NO_PINNED, STANDIN_NO_CAPTURE, STANDIN_NO_GRAPH,
  STANDIN_BAD_LAUNCH,  /* the launch is refused; in a capture, too */
  STANDIN_BAD_KERNEL,  /* the kernel does what it must not: told by the next call that waits */
  STANDIN_BAD_COPY, STANDIN_BAD_IMAGE,
  STANDIN_BAD_PTX,     /* it is PTX of a newer toolkit */
  STANDIN_ANY,         /* that one call, whichever it is; those that give something back succeed always */
  STANDIN_NO_ENTRIES   /* the driver knows none of the functions that it is asked for */
} standin_fault;

/* A wait of a stream, or of the host (STANDIN_HOST), for an event; both by number, from 0 in the order they were made. */
typedef struct standin_wait {
  int stream, event;
  int is_implied;  /* without it every piece of work comes after the same others; unknown of the host's */
} standin_wait;

/* A fresh device: counts begin anew. `after`: calls that succeed before the fault. Also by STANDIN_SEED and STANDIN_FAULT, STANDIN_AFTER
 * (by number), read by the first call of a program that does not call this; STANDIN_IGNORE=stream,event is a wait that is not kept,
 * STANDIN_WAITS a file for those that no other implies, one a line. STANDIN_MEBIBYTES or STANDIN_KIBIBYTES: of the
 * device, 16 GiB without them. STANDIN_SPMM_BYTES: of the buffer that cuSPARSE says it wants. STANDIN_WORKSPACE: of theirs that products use.
 * STANDIN_NO_ALGORITHM: cuBLASLt has none for results of so many columns (0: for any). STANDIN_CHOICES: a file for what algorithms are chosen by, a line each. */
void standin_reset(unsigned seed, standin_fault fault, int after);
void standin_ignore(int stream, int event);                       /* that wait is not kept; STANDIN_HOST - 1: keep all */
void standin_hold(long nanoseconds);                              /* how long the host must have asked for nothing before streams go on */
int standin_waits(standin_wait waits[STANDIN_WAITS]);              /* that were asked for since the reset */
int64_t standin_allocated(void);                                  /* bytes of the device and pinned that are not free */
int standin_allocations(void);                                    /* since the reset, given back or not */
int standin_has_struck(void);                                     /* STANDIN_ANY */
void standin_calm(void);                                          /* no fault from now on */
int standin_graph_launches(void);
int standin_is_on_device(const void *memory, size_t bytes);       /* all of it in one allocation there */

#endif
