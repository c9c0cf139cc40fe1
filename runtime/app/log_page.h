/* log_page.h: DIR/log.html, the curves of a training as one page that needs nothing else and no network. */
#ifndef GNN_LOG_PAGE_H
#define GNN_LOG_PAGE_H

#include "runtime/job/metrics.h"

typedef struct gnn_log_page_row gnn_log_page_row;
typedef struct gnn_log_page_run gnn_log_page_run;

/* Zeroed: none is written. The rows are those of log.csv, without the three peaks; of very many the page has every second, every
 * fourth and so on. */
typedef struct gnn_log_page {
  const gnn_program *program;
  char *path;            /* NULL: none is written */
  uint64_t seed;         /* of run 0 */
  gnn_log_page_row *rows;
  double *numbers;       /* [capacity, width]: of each row what stands behind run and epoch */
  gnn_log_page_run *runs;
  int64_t row_count, capacity, seen, stride, run_count;
  int width;
  double due;            /* when the page is written next */
  gnn_error error;       /* of the first write that failed; nothing is written after it */
  gnn_status status;
} gnn_log_page;

/* Writes a page without rows. is_resumed: the one that is there goes on, with its rows up to that epoch of that run. */
gnn_status gnn_log_page_open(gnn_log_page *page, const gnn_program *program, const char *folder, uint64_t seed, int is_resumed, int64_t run, int64_t epoch,
                             gnn_error *error);
/* numbers[width]: loss, first metric of train, valid and test, lr, seconds, then three of each further metric; NaN where there is none.
 * The best is the keeper's, or where the program keeps none that of the first metric on valid (on train without that). Written as a whole
 * under another name, at most once a second and a fiftieth of the time. */
void gnn_log_page_put(gnn_log_page *page, int64_t run, int64_t epoch, const double *numbers, const gnn_keeper *keeper);
/* Another epoch, without a row, was the best. */
void gnn_log_page_finish_run(gnn_log_page *page, int64_t run, const gnn_keeper *keeper);
/* Writes what is not written yet. */
gnn_status gnn_log_page_close(gnn_log_page *page, gnn_error *error);

#endif
